"""Measures how soon each tool finds the faults: `python3 measure.py [SEEDS]`; needs pytest, hypothesis and ioxide."""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = range(1, 1 + int(sys.argv[1] if len(sys.argv) > 1 else 10))
CLASSES = ("Queue", "Cache", "Account")


def run(command, **environment):
    began = time.monotonic()
    environment = {**os.environ, "FAULT": "1", "COLUMNS": "300", **environment}
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, env=environment)
    return time.monotonic() - began, done.returncode, done.stdout + done.stderr


def with_pytest(file, name, seed):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{file}.py", "-k", f"Test{name}"]
    if file == "test_ioxide":
        command.append(f"--ioxide-seed={seed}")
        length = re.compile(r"minimal failing run: (\d+) step")
    else:
        length = re.compile(r"^E?\s+state\.(?!teardown)\w+\(", re.M)
    seconds, code, text = run(command, SEED=str(seed))
    found = length.search(text)
    if file == "test_ioxide":
        # Every call is an input and its answer.
        calls = int(found[1]) // 2 if found else None
    else:
        calls = len(length.findall(text)) or None
    return seconds, code == 1, calls


def main():
    tools = [
        ("ioxide with pytest", lambda name, seed: with_pytest("test_ioxide", name, seed)),
        ("Hypothesis", lambda name, seed: with_pytest("test_hypothesis", name, seed)),
    ]
    print("| class | tool | found | median s | slowest s | calls of the smallest run, median (range) |")
    print("|---|---|---|---|---|---|")
    for name in CLASSES:
        for tool, measure in tools:
            rows = [measure(name, seed) for seed in SEEDS]
            found = [row for row in rows if row[1]]
            times = [row[0] for row in found] or [float("nan")]
            calls = [row[2] for row in found if row[2]] or [0]
            size = f"{statistics.median(calls):g} ({min(calls)} to {max(calls)})"
            shown = f"{statistics.median(times):.1f} | {max(times):.1f} | {size}"
            print(f"| {name} | {tool} | {len(found)} of {len(rows)} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
