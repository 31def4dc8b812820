#!/bin/sh
# Installs a wheel into a fresh environment without a compiler, and runs the tests of the adapter package and its
# plug-in there: sh sdk/wheel/check.sh target/wheel/ioxide-*.whl
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install -q "$wheel" pytest pytest-xdist
# The tests and what they read, but not the sources of the package.
mkdir -p "$place/sdk/python" "$place/examples" "$place/home"
cp -r "$root/sdk/python/tests" "$place/sdk/python/"
cp -r "$root/examples/." "$place/examples/"
cd "$place/sdk/python"
exec env -i HOME="$place/home" LANG=C.UTF-8 PATH="$place/venv/bin:/usr/bin:/bin" \
    CC=/bin/false CXX=/bin/false CARGO=/bin/false \
    PYTHONDONTWRITEBYTECODE=1 sh -c 'ioxide doctor --json | python -c "
import json, sys
found = {check[\"name\"]: check[\"found\"] for check in json.load(sys.stdin)[\"checks\"]}
print(\"solver:\", found[\"solver\"])
" && python -m unittest -q'
