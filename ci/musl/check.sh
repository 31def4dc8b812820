#!/bin/sh
# Checks a static program: sh ci/musl/check.sh target/x86_64-unknown-linux-musl/release/ioxide
# It needs no library, and tests a model in an empty environment.
set -eu
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
libraries=$(ldd "$program" 2>&1) || :
case $libraries in
    *'statically linked'* | *'not a dynamic executable'*) ;;
    *) echo "$program needs libraries: $libraries" >&2; exit 1 ;;
esac
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
env -i "$program" --version
env -i "$program" init --adapter none shop >/dev/null
cd shop
env -i "$program" test login.iox --sut login --runs 5 --seed 1
code=0
env -i "$program" test login.iox --sut buggy --seed 1 >/dev/null || code=$?
[ $code = 1 ] || { echo "the bug was not found: exit code $code" >&2; exit 1; }
echo "static, and it finds the bug"
