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

PROGRAM = os.environ.get("IOXIDE") or shutil.which("ioxide")
INSTALLED = "ioxide_adapter.pytest_plugin" in [
    point.value for distribution in importlib.metadata.distributions() for point in distribution.entry_points
]
READY = PROGRAM is not None and importlib.util.find_spec("pytest") is not None


@unittest.skipUnless(READY, "needs pytest and the ioxide program (IOXIDE)")
class Plugin(unittest.TestCase):
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

    def test_goals_tests_and_seeds_are_items(self) -> None:
        listed = self.pytest("--collect-only").stdout
        for item in ["test[three and four make seven]", "purpose[stops]", "purpose[large_sum]", "seed[1]", "seed[2]"]:
            self.assertIn(f"test_adder.py::Adder::{item}", listed)

    def test_a_correct_system_passes(self) -> None:
        done = self.pytest()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # The system stops as soon as it may, so it may never come to the large sum: that is no verdict on it.
        self.assertRegex(done.stdout, "[1-6] passed")

    def test_a_fault_is_shown_with_its_chart_and_comes_back(self) -> None:
        done = self.pytest(ADDER_FAULT="1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for words in ["FAIL at step", "expected [r1]", "ioxide replay", " failed, "]:
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

    @unittest.skipUnless(importlib.util.find_spec("xdist"), "needs pytest-xdist")
    def test_items_run_side_by_side(self) -> None:
        done = self.pytest("-n", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "[1-6] passed")


if __name__ == "__main__":
    unittest.main()
