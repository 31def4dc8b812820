#!/bin/sh
# Writes the Homebrew formula of a release: sh ci/homebrew/formula.sh VERSION SHA256SUMS > ioxide.rb
# SHA256SUMS has the checksums of the archives, as `sha256sum ioxide-*` prints them (.github/workflows/release.yml).
set -eu
version=$1
sums=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
homepage=$(sed -n 's/^repository = "\(.*\)"/\1/p' "$root/Cargo.toml")

# The archive for a target, as the formula names it.
archive() {
    name="ioxide-v$version-$1.tar.gz"
    sum=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\$/\1/p" "$sums")
    [ -n "$sum" ] || { echo "$sums has no checksum of $name" >&2; exit 1; }
    printf '      url "%s/releases/download/v%s/%s"\n      sha256 "%s"\n' "$homepage" "$version" "$name" "$sum"
}

mac_arm=$(archive aarch64-apple-darwin)
linux_arm=$(archive aarch64-unknown-linux-gnu)
linux_intel=$(archive x86_64-unknown-linux-gnu)
cat <<FORMULA
# Written by ci/homebrew/formula.sh.
class Ioxide < Formula
  desc "Tests a running program against a model of how it should behave"
  homepage "$homepage"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "z3"

  on_macos do
    on_arm do
$mac_arm
    end
  end

  on_linux do
    on_arm do
$linux_arm
    end
    on_intel do
$linux_intel
    end
  end

  def install
    bin.install "ioxide"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/ioxide.bash" => "ioxide"
    zsh_completion.install "completions/ioxide.zsh" => "_ioxide"
    fish_completion.install "completions/ioxide.fish"
  end

  test do
    system bin/"ioxide", "init", "shop"
    system bin/"ioxide", "check", "shop/login.iox"
  end
end
FORMULA
