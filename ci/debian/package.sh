#!/bin/sh
# Makes a Debian package of a program that is built: sh ci/debian/package.sh target/release/ioxide OUT-FOLDER
# It contains the program, its manual pages and completions, and recommends the solver.
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
out=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
version=$("$program" --version | cut -d ' ' -f 2)
architecture=$(dpkg --print-architecture)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
install -D -m 755 "$program" "$place/usr/bin/ioxide"
strip "$place/usr/bin/ioxide"
mkdir -p "$place/usr/share/man/man1"
"$program" man --out "$place/usr/share/man/man1" >/dev/null
gzip -9n "$place"/usr/share/man/man1/*.1
complete() {
    mkdir -p "$place/usr/share/$2"
    "$program" completions "$1" >"$place/usr/share/$2/$3"
}
complete bash bash-completion/completions ioxide
complete zsh zsh/vendor-completions _ioxide
complete fish fish/vendor_completions.d ioxide.fish
install -D -m 644 "$root/LICENSE-MIT" "$place/usr/share/doc/ioxide/copyright"
# The newest C library whose symbols the program uses.
glibc=$(objdump -T "$program" | sed -n 's/.*(\?GLIBC_\([0-9.]*\))\?.*/\1/p' | sort -V | tail -n 1)
mkdir "$place/DEBIAN"
cat >"$place/DEBIAN/control" <<CONTROL
Package: ioxide
Version: $version
Architecture: $architecture
Maintainer: The ioxide developers <https://github.com/ioxide-test/ioxide>
Section: devel
Priority: optional
Depends: libc6 (>= ${glibc:-2.31}), libgcc-s1
Recommends: libz3-4
Installed-Size: $(du -sk "$place/usr" | cut -f 1)
Homepage: https://github.com/ioxide-test/ioxide
Description: tests real systems against symbolic models
 ioxide tests a running program against a model of how it should behave: a
 state machine with data and time. It generates the tests, drives the program,
 and reports every violation with the shortest failing run.
CONTROL
mkdir -p "$out"
package="$out/ioxide_${version}_$architecture.deb"
dpkg-deb --root-owner-group "-Z${IOXIDE_DEB_COMPRESSION:-xz}" --build "$place" "$package" >&2
echo "$package"
