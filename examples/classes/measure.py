"""Measures how soon each tool finds the faults: `python3 measure.py [SEEDS] [--language python|rust]`.

Python needs pytest, hypothesis and ioxide (IOXIDE), Rust needs cargo. It prints the tables of
`docs/measurements/classes.md`.
"""

import argparse
import ast
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = ("queue", "cache", "account")


def run(command, folder=HERE, **environment):
    """Runs a test of a class with its fault; returns the seconds of the clock and of the processor, the exit code, and
    what it printed."""
    began, spent = time.monotonic(), processor_time()
    environment = {**os.environ, "FAULT": "1", "COLUMNS": "300", "RUST_BACKTRACE": "0", **environment}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    seconds = (time.monotonic() - began, processor_time() - spent)
    return seconds, done.returncode, done.stdout + done.stderr


def processor_time():
    """Returns the seconds that all programs which have ended took of a processor: other programs do not change them."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def steps_of_ioxide(text):
    """Returns the calls of the smallest run: every call is an input and its answer."""
    found = re.search(r"minimal failing run: (\d+) step", text)
    return int(found[1]) // 2 if found else 0


def result(seconds, code, text, calls):
    """Returns a row; a test that failed without a smallest run did not find the fault, but is broken."""
    if code != 0 and calls == 0:
        sys.exit(f"a test failed in another way than meant:\n{text}")
    return seconds, code != 0, calls


def pytest_command(file, name):
    chosen = f"Test{name.capitalize()}"
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{file}.py", "-k", chosen]


def ioxide_with_pytest(name, seed):
    seconds, code, text = run([*pytest_command("test_ioxide", name), f"--ioxide-seed={seed}"])
    return result(seconds, code, text, steps_of_ioxide(text))


def hypothesis(name, seed):
    seconds, code, text = run(pytest_command("test_hypothesis", name), SEED=str(seed))
    return result(seconds, code, text, len(re.findall(r"^E?\s+state\.(?!teardown)\w+\(", text, re.M)))


def build_rust():
    """Builds the tests in Rust, and returns their programs by name."""
    command = ["cargo", "test", "--no-run", "--quiet", "--message-format=json"]
    built = subprocess.run(command, cwd=HERE / "rust", check=True, capture_output=True, text=True).stdout
    messages = [json.loads(line) for line in built.splitlines()]
    return {message["target"]["name"]: message["executable"] for message in messages if message.get("executable")}


def rust_tools():
    programs = build_rust()

    def test(program, name, **environment):
        command = [programs[program], "--exact", f"{name}::test_{name}"]
        return run(command, HERE / "rust", **environment)

    def ioxide_with_cargo(name, seed):
        seconds, code, text = test("with_ioxide", name, IOXIDE_SEED=str(seed))
        return result(seconds, code, text, steps_of_ioxide(text))

    def proptest(name, seed):
        seconds, code, text = test("with_proptest", name, PROPTEST_RNG_SEED=str(seed))
        smallest = text.partition("minimal failing input")[2]
        return result(seconds, code, text, len(re.findall(r"^        [A-Z]\w*", smallest, re.M)))

    return [("ioxide with cargo test", ioxide_with_cargo), ("proptest-state-machine", proptest)]


def print_times(tools, classes, n_seeds):
    print("| class | tool | found | processor s, median (slowest) | wall s, median | calls of the smallest run |")
    print("|---|---|---|---|---|---|")
    for name in classes:
        for tool, measure in tools:
            rows = [measure(name, seed) for seed in range(1, 1 + n_seeds)]
            found = [row for row in rows if row[1]]
            wall, processor = zip(*(row[0] for row in found)) if found else ([float("nan")],) * 2
            calls = [row[2] for row in found] or [0]
            size = f"{statistics.median(calls):g} ({min(calls)} to {max(calls)})"
            times = f"{statistics.median(processor):.2f} ({max(processor):.2f}) | {statistics.median(wall):.2f}"
            shown = f"{times} | {size}"
            print(f"| {name} | {tool} | {len(found)} of {len(rows)} | {shown} |", flush=True)


def count_lines(text):
    """Counts the lines that are neither empty, nor a comment, nor an import."""
    skipped = ("//", "#!", "# ", '"""', "use ", "import ", "from ")
    return sum(bool(line.strip()) and not line.strip().startswith(skipped) for line in text.splitlines())


def python_lines(file, name):
    """Counts the lines of a class in a test file, with the line that makes a test of it."""
    text = (HERE / file).read_text()
    chosen = [node for node in ast.parse(text).body if f"{name.capitalize()}" in ast.unparse(node).split("\n")[0]]
    return sum(count_lines(ast.get_source_segment(text, node)) for node in chosen)


def print_lines():
    print("| class | model | ioxide, Python | Hypothesis | ioxide, Rust | proptest-state-machine |")
    print("|---|---|---|---|---|---|")
    for name in CLASSES:
        counts = [
            count_lines((HERE / f"{name}.iox").read_text()),
            python_lines("test_ioxide.py", name),
            python_lines("test_hypothesis.py", name),
            count_lines((HERE / f"rust/tests/with_ioxide/{name}.rs").read_text()),
            count_lines((HERE / f"rust/tests/with_proptest/{name}.rs").read_text()),
        ]
        print(f"| {name} | {' | '.join(map(str, counts))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="?", type=int, default=10, help="the number of seeds; 10 if it is missing")
    parser.add_argument("--language", choices=("python", "rust"), help="the tests of this language only")
    parser.add_argument("--only", choices=CLASSES, help="the tests of this class only")
    options = parser.parse_args()
    tools = []
    if options.language != "rust":
        tools += [("ioxide with pytest", ioxide_with_pytest), ("Hypothesis", hypothesis)]
    if options.language != "python":
        tools += rust_tools()
    print_times(tools, [options.only] if options.only else CLASSES, options.seeds)
    print()
    print_lines()


if __name__ == "__main__":
    main()
