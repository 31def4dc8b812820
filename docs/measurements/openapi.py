"""Tests every service of FastAPI's tutorial from its own description, unchanged, and prints what came of it.

`python3 docs/measurements/openapi.py IOXIDE PYTHON FOLDER [WORD]`: the program, a Python with fastapi, uvicorn and
what the services import, the folder that holds `docs_src` (from the source package of FastAPI on PyPI), and a word
in the names of those to be tested.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

IOXIDE, PYTHON, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
WORD = sys.argv[4] if len(sys.argv) > 4 else ""
VARIANT = re.compile(r"_?(an)?_?(py3\d+)?$")


def services():
    """One module for every service: of its spellings for several versions of Python the last."""
    found = {}
    for path in sorted(FOLDER.glob("docs_src/**/*.py")):
        if path.name == "main.py" or path.name.startswith("tutorial"):
            if "app = FastAPI" in path.read_text():
                parts = path.relative_to(FOLDER).with_suffix("").parts
                found[tuple(VARIANT.sub("", part) for part in parts)] = ".".join(parts)
    return found.values()


def run(folder, *args):
    done = subprocess.run([IOXIDE, *args], cwd=folder, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def tested(module):
    """What came of the two commands."""
    uvicorn = f"exec {PYTHON} -m uvicorn --app-dir {FOLDER}"
    start = f"{uvicorn} --host 127.0.0.1 --port {{port}} --log-level warning {module}:app"
    with tempfile.TemporaryDirectory() as folder:
        code, said = run(folder, "init", "--openapi", "http://127.0.0.1:{port}/openapi.json", "--start", start)
        if code != 0:
            return "no description", said.strip().splitlines()[0]
        test = ["test", "api.iox", "--sut", "api", "--seed", "1", "--steps", "150", "--no-shrink"]
        code, said = run(folder, *test)
        reason = re.search(r"^    unreadable (.*)$", said, re.MULTILINE)
        word = {0: "passed", 1: "failed"}.get(code, f"exit code {code}")
        return word, reason.group(1) if reason else ""


def main():
    counts = collections.Counter()
    for module in (module for module in services() if WORD in module):
        word, reason = tested(module)
        counts[word] += 1
        print(module, word, reason[:200], flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
