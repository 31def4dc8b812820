#!/bin/sh
# The checklist of a release: sh ci/release/check.sh [STEP...]
# Without steps, all of them, in this order; the first that fails ends it.
#   versions   every file names the version of Cargo.toml
#   changelog  CHANGELOG.md has an entry for this version, with a date, and nothing unreleased
#   tree       everything is committed, and the tag is not taken
#   lint       format, clippy, house rules, pages
#   tests      all tests, those of the measurements too
#   package    the packages of the crates and of the editor extension
#   program    the program: under 20 MB, `--version` under 5 ms, `check` under 20 ms
#   install    `cargo install`, Debian package, wheel, static program: made and tried
#   checksums  SHA256SUMS of what was made, in target/release-VERSION
set -eu
cd "${IOXIDE_RELEASE_ROOT:-$(dirname "$0")/../..}"
target=${CARGO_TARGET_DIR:-target}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
out=$target/release-$version

say() { printf '%s\n' "release: $*" >&2; }
fail() { say "$*"; exit 1; }

# The versions that files name, each behind its file.
named_versions() {
    sed -n 's/^\(ioxide-[a-z-]*\) = .* version = "\([^"]*\)".*/Cargo.toml:\1 \2/p' Cargo.toml
    sed -n 's/^version: \(.*\)/CITATION.cff \1/p' CITATION.cff
    sed -n 's/^version = "\(.*\)"/sdk\/python\/pyproject.toml \1/p' sdk/python/pyproject.toml
    for file in sdk/node/package.json web/package.json editors/vscode/package.json \
        editors/tree-sitter-ioxide/package.json editors/tree-sitter-ioxide/tree-sitter.json; do
        sed -n "s|^ *\"version\": \"\\(.*\\)\".*|$file \\1|p" "$file" | head -n 1
    done
    awk '/^name = "ioxide/ { name = $3 } /^version = / && name { print "Cargo.lock:" name, $3; name = "" }' Cargo.lock |
        tr -d '"'
}

check_versions() {
    [ -n "$version" ] || fail "Cargo.toml has no version"
    named=$(named_versions)
    wrong=$(printf '%s\n' "$named" | awk -v version="$version" '$2 != version')
    [ -z "$wrong" ] || fail "these do not name version $version:
$wrong"
    say "$(printf '%s\n' "$named" | wc -l) places name version $version"
}

check_changelog() {
    grep -Eq "^## $(printf '%s' "$version" | sed 's/\./\\./g') - [0-9]{4}-[0-9]{2}-[0-9]{2}\$" CHANGELOG.md ||
        fail "CHANGELOG.md has no entry \`## $version - YEAR-MONTH-DAY\`"
    ! sed -n '/^## Unreleased/,/^## [0-9]/p' CHANGELOG.md | grep -q '^- ' ||
        fail "CHANGELOG.md has unreleased changes: move them to $version"
}

check_tree() {
    [ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
    ! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "the tag v$version is taken"
}

# The fastest of twenty starts, in milliseconds: other programs only slow them down.
start_time() {
    python3 -c 'import subprocess, sys, time
def start():
    began = time.perf_counter()
    subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began
print(f"{min(start() for _ in range(20)) * 1000:.1f}")' "$@"
}

under() {
    awk -v measured="$2" -v limit="$3" 'BEGIN { exit !(measured < limit) }' || fail "$1: $2, the limit is $3"
    say "$1: $2 (limit $3)"
}

check_program() {
    cargo build --release --locked --bin ioxide
    mkdir -p "$out"
    program=$out/ioxide
    cp "$target/release/ioxide" "$program"
    # Not every linker removes the symbols, as the profile asks.
    strip "$program"
    under "megabytes" "$(wc -c <"$program" | awk '{ printf "%.1f", $1 / 1000000 }')" 20
    under "milliseconds of --version" "$(start_time "$program" --version)" 5
    under "milliseconds of check" "$(start_time "$program" check examples/adder.iox)" 20
}

check_install() {
    mkdir -p "$out"
    installed=$(mktemp -d)
    cargo install --locked --path crates/cli --root "$installed" && "$installed/bin/ioxide" demo
    rm -rf "$installed"
    cp "$(./x deb | tail -n 1)" "$out"
    ./x wheel --locked
    wheel=$(ls -t "$target"/wheel/ioxide-"$version"-*.whl | head -n 1)
    sh sdk/wheel/check.sh "$wheel"
    cp "$wheel" "$out"
    static=$(./x musl | tail -n 1)
    sh ci/musl/check.sh "$static"
    cp "$static" "$out/ioxide-static"
    if docker info >/dev/null 2>&1; then
        docker build --tag ioxide . && docker run --rm ioxide doctor --report /tmp/runs
    else
        say "no docker here: the image is not tried"
    fi
}

check_checksums() {
    [ -d "$out" ] || fail "nothing was made: run the steps \`program\` and \`install\`"
    (cd "$out" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort | xargs sha256sum >SHA256SUMS)
    cat "$out/SHA256SUMS"
    say "next: git tag v$version && git push origin v$version"
}

[ $# -gt 0 ] || set -- versions changelog tree lint tests package program install checksums
for step; do
    say "$step"
    case $step in
        versions) check_versions ;;
        changelog) check_changelog ;;
        tree) check_tree ;;
        lint) ./x lint ;;
        tests) ./x test --measurements ;;
        package) ./x package ;;
        program) check_program ;;
        install) check_install ;;
        checksums) check_checksums ;;
        *) fail "there is no step \`$step\`: see the head of this file" ;;
    esac
done
say "all of it is done: $*"
