"""The pytest plug-in, run as users run it; needs pytest and the ioxide program (IOXIDE)."""

import importlib.metadata
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE / "../../../examples/adder.iox"

TESTS = '''
import os
import pytest
from ioxide_adapter import Adapter, on_input


@pytest.mark.ioxide("adder.iox", seeds=2, args=["--runs", "1", "--no-shrink"])
class Adder(Adapter):
    outputs = {"outX": {"p": "int"}, "done": {}}

    def reset(self):
        self.sum = 0

    @on_input("inX")
    def add(self, p: int):
        if not (os.environ.get("ADDER_FAULT") and self.sum + p > 12):
            self.sum += p
        self.emit("outX", p=self.sum)
        if self.sum > 15:
            self.emit("done")


def test_beside_it():
    pass
'''

COUNTER = """model Counter {
    input add
    output total(n: int)
    var sum: int = 0
    state idle { on add { sum = sum + 1 } -> busy }
    state busy { emit total(n: sum) -> idle }
}
"""

CLIENTS = '''
import os
import threading
import pytest
from ioxide_adapter import Adapter, on_input

FEW = ["--runs", "2", "--steps", "20", "--no-shrink"]


class Counter:
    """With the race, the first two additions both read before either writes."""

    def __init__(self):
        self.n, self.calls, self.lock, self.both = 0, 0, threading.Lock(), threading.Barrier(2)

    def add(self):
        with self.lock:
            self.calls += 1
            is_early = "COUNTER_RACE" in os.environ and self.calls <= 2
            if not is_early:
                self.n += 1
                return self.n
            n = self.n + 1
        self.both.wait()
        with self.lock:
            self.n = n
        return n


@pytest.mark.ioxide("counter.iox", clients=3, args=FEW)
class Client(Adapter):
    concurrent_clients = True
    outputs = {"total": {"n": "int"}}
    counter = Counter()

    def reset(self):
        Client.counter = Counter()

    @on_input("add")
    def add(self):
        self.emit("total", n=Client.counter.add())


def test_in_a_function(ioxide_check):
    ioxide_check("counter.iox", Client, clients=2, args=FEW)
'''

PROGRAM = os.environ.get("IOXIDE") or shutil.which("ioxide")
INSTALLED = "ioxide_adapter.pytest_plugin" in [
    point.value for distribution in importlib.metadata.distributions() for point in distribution.entry_points
]
READY = PROGRAM is not None and importlib.util.find_spec("pytest") is not None


FULL = os.environ.get("IOXIDE_TESTS") == "full"
"""Whether the tests that take half a minute run too."""


class PytestRun(unittest.TestCase):
    """Runs pytest on files of a folder."""

    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        (self.folder / "test_adder.py").write_text(TESTS)
        shutil.copy(MODEL, self.folder)

    def pytest(self, *args: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        # Where the package is installed pytest finds the plug-in by itself.
        plugin = [] if INSTALLED else ["-p", "ioxide_adapter.pytest_plugin"]
        command = [sys.executable, "-m", "pytest", *plugin, "-q", *args]
        paths = {"PYTHONPATH": str(HERE.parent), "IOXIDE": str(PROGRAM)}
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, env={**os.environ, **paths, **environment}
        )


@unittest.skipUnless(READY, "needs pytest and the ioxide program (IOXIDE)")
class Plugin(PytestRun):
    def test_goals_tests_and_seeds_are_items(self) -> None:
        listed = self.pytest("--collect-only").stdout
        for item in ["test[three and four make seven]", "purpose[stops]", "purpose[large_sum]", "seed[1]", "seed[2]"]:
            self.assertIn(f"test_adder.py::Adder::{item}", listed)

    def test_a_correct_system_passes(self) -> None:
        done = self.pytest()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # The system stops as soon as it may, so it may never come to the large sum: that is no verdict on it.
        self.assertRegex(done.stdout, "[1-6] passed")

    @unittest.skipUnless(FULL, "needs IOXIDE_TESTS=full")
    def test_a_fault_is_shown_with_its_chart_and_comes_back(self) -> None:
        done = self.pytest(ADDER_FAULT="1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for words in ["FAIL at step", "expected [r1]", "ioxide replay", "E   smallest failing run", "E   expected: "]:
            self.assertIn(words, done.stdout)
        again = self.pytest("-k", "seed and 1", ADDER_FAULT="1")
        self.assertIn("failed before", again.stdout)
        # The replay command works as it stands.
        line = next(line for line in done.stdout.splitlines() if line.startswith("replay:  "))
        command = line.removeprefix("replay:  ").replace("ioxide replay", f"{PROGRAM} replay", 1)
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "ADDER_FAULT": "1"}
        replayed = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True, env=environment)
        self.assertEqual(replayed.returncode, 1, replayed.stdout + replayed.stderr)

    def test_it_needs_no_cache(self) -> None:
        done = self.pytest("-p", "no:cacheprovider", "-k", "seed", ADDER_FAULT="yes")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("outX", done.stdout)
        self.assertIn("replay:", done.stdout)
        self.assertFalse((self.folder / ".pytest_cache").exists())
        # What was kept for the replay is ours to remove.
        for place in set(re.findall(r"ioxide replay (\S+)", done.stdout)):
            shutil.rmtree(pathlib.Path(place).parent, ignore_errors=True)

    def test_a_model_with_errors_is_no_verdict(self) -> None:
        (self.folder / "adder.iox").write_text("model Broken {")
        done = self.pytest()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not closed", done.stdout)

    @unittest.skipUnless(FULL, "needs IOXIDE_TESTS=full")
    def test_a_fixture_checks_within_a_test(self) -> None:
        more = """

def test_mine(ioxide_check):
    said = ioxide_check("adder.iox", Adder, purpose="stops", args=["--runs", "1", "--no-shrink"])
    assert "1 run" in said
"""
        (self.folder / "test_adder.py").write_text(TESTS + more)
        done = self.pytest("-k", "test_mine")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        failed = self.pytest("-k", "test_mine", ADDER_FAULT="1")
        self.assertIn("FAIL at step", failed.stdout)

    @unittest.skipUnless(FULL, "needs IOXIDE_TESTS=full")
    def test_several_clients_in_threads_of_this_process(self) -> None:
        for name, text in (("counter.iox", COUNTER), ("test_counter.py", CLIENTS)):
            (self.folder / name).write_text(text)
        done = self.pytest("test_counter.py")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 passed", done.stdout)
        raced = self.pytest("test_counter.py", COUNTER_RACE="1")
        self.assertIn("2 failed", raced.stdout)
        for words in ["are not linearizable", "no order explains these 2 operations", "timeline.html"]:
            self.assertIn(words, raced.stdout)

    @unittest.skipUnless(FULL, "needs IOXIDE_TESTS=full")
    @unittest.skipUnless(importlib.util.find_spec("xdist"), "needs pytest-xdist")
    def test_items_run_side_by_side(self) -> None:
        done = self.pytest("-n", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "[1-6] passed")


BUFFER = """
model Buffer {
    input put(n: 0..9)
    input get
    output ok
    output full
    output value(n: int)
    output empty
    var items: list<int> = []
    state ready {
        put: on put when items.length() < 3 { items = items + [n] } -> stored
        refuse: on put when items.length() == 3 -> refused
        get: on get -> asked
    }
    state stored { emit ok -> ready }
    state refused { emit full -> ready }
    state asked {
        emit empty when items.is_empty() -> ready
        give: emit value(n: first) when let some(first) = items.first() { items = items.drop(1) } -> ready
    }
    test "in order" { send put(n: 1) expect ok send get expect value(n: 1) }
}
"""

MACHINES = """
import os
import pathlib

import ioxide
import pytest
from hypothesis import strategies as st

QUICK = ["--steps", "80"]


class Buffer(ioxide.Machine):
    # A base without a model: it has no tests.
    def __init__(self, room=3):
        self.items, self.room = [], room

    def put(self, n: int):
        if len(self.items) == self.room:
            return "full"
        self.items.append(n)
        return "ok"

    async def get(self):
        if not self.items:
            return ["empty"]
        return ioxide.Output("value", n=self.items.pop(-1 if os.environ.get("FAULT") else 0))

    def teardown(self):
        with open("ended", "a") as file:
            file.write("x")


class TestPlain(Buffer):
    model, args = "buffer.iox", QUICK


@pytest.fixture
def touched():
    pathlib.Path("touched").touch()


@pytest.fixture
def three():
    yield 3
    pathlib.Path("released").touch()


@pytest.mark.usefixtures("touched")
class TestFixtures(Buffer):
    model, args = "buffer.iox", QUICK
    values = {"put.n": st.integers(4, 6)}

    def __init__(self, three, request):
        super().__init__(three)
        assert request.node.name in ("test[in order]", "seed[1]")

    def put(self, n: int):
        with open("values", "a") as file:
            file.write(f"{n} ")
        return super().put(n)


@pytest.mark.parametrize("room", [3, pytest.param(2, marks=pytest.mark.xfail(reason="too small", strict=True))])
class TestRooms(Buffer):
    args, purposes = QUICK, False
    model = "room.iox"

    def __init__(self, room):
        super().__init__(room)


@pytest.mark.skip(reason="later")
class TestSkipped(Buffer):
    model = "room.iox"


@pytest.mark.parametrize("seed", [1, 2])
def test_in_a_function(ioxide_check, seed):
    ioxide_check("buffer.iox", lambda: Buffer(), seed=seed, args=QUICK, values={"put.n": [1, 2]})
"""


@unittest.skipUnless(READY and importlib.util.find_spec("hypothesis"), "needs pytest, hypothesis and ioxide (IOXIDE)")
class Machines(PytestRun):
    """Classes that are systems, as users of pytest expect them to be."""

    def setUp(self) -> None:
        super().setUp()
        (self.folder / "test_adder.py").unlink()
        (self.folder / "test_machines.py").write_text(MACHINES)
        (self.folder / "buffer.iox").write_text(BUFFER)
        # Without its test, which is too short to see the size of the room.
        (self.folder / "room.iox").write_text(BUFFER.split("    test")[0] + "}")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    def test_marks_fixtures_parameters_and_strategies_work(self) -> None:
        done = self.pytest("-rA", "-p", "no:cacheprovider")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("7 passed, 1 skipped, 1 xfailed", done.stdout)
        for name in ["touched", "released"]:
            self.assertTrue((self.folder / name).exists(), name)
        # The test block of the model sends 1, whatever the strategy says.
        self.assertEqual(set(self.read("values").split()), {"1", "4", "5", "6"})
        self.assertGreater(len(self.read("ended")), 7)

    def test_a_failure_has_a_line_in_the_summary_and_a_section_like_an_assertion(self) -> None:
        done = self.pytest("-k", "TestPlain and seed", "--junitxml=junit.xml", FAULT="1", COLUMNS="200")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        summary = done.stdout.partition("short test summary")[2]
        self.assertRegex(
            summary, r"test_machines.py::TestPlain::seed\[1\] - got value\(n: \d\), expected value\(n: \d\), after put"
        )
        for line in ["smallest failing run: put(n: ", "expected: value(n: ", "why not: give: ", "failure id: "]:
            self.assertIn(f"E   {line}", done.stdout)
        self.assertRegex(done.stdout, r"test_machines.py:\d+: does not conform to its model")
        self.assertIn('message="got value(n: ', self.read("junit.xml"))
        # The commands work as they stand.
        self.assertNotIn("report DIR", done.stdout)
        script = re.findall(r"`ioxide (report \S+ --script python)`", done.stdout)[0].split()
        printed = subprocess.run([str(PROGRAM), *script], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(printed.returncode, 0, printed.stdout + printed.stderr)
        again = self.pytest("--lf", "-x", FAULT="1")
        self.assertIn("1 failed", again.stdout)
        self.assertNotIn("passed", again.stdout)
        line = next(line for line in done.stdout.splitlines() if line.startswith("replay:  "))
        command = line.removeprefix("replay:  ").replace("ioxide replay", f"{PROGRAM} replay", 1)
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "FAULT": "1"}
        replayed = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True, env=environment)
        self.assertEqual(replayed.returncode, 1, replayed.stdout + replayed.stderr)

    @unittest.skipUnless(FULL, "needs IOXIDE_TESTS=full")
    def test_failures_survive_xdist(self) -> None:
        done = self.pytest("-n", "2", "-k", "seed and not Rooms", FAULT="1", COLUMNS="200")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("TestPlain::seed[1] - got value(n: ", done.stdout)
        self.assertIn("E   smallest failing run", done.stdout)

    def test_a_method_that_returns_no_output_is_a_mistake(self) -> None:
        (self.folder / "test_machines.py").write_text(
            "import ioxide\nclass TestOdd(ioxide.Machine):\n    model = 'room.iox'\n    def put(self, n): return 7\n"
            "    def get(self): return 'empty'\n"
        )
        done = self.pytest(COLUMNS="200")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("no verdict: ", done.stdout.partition("short test summary")[2])
        self.assertIn("7 is not an output: return its name or `Output(name, field=value)`", done.stdout)


if __name__ == "__main__":
    unittest.main()
