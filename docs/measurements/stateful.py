"""The time to a shrunk failure: ioxide through pytest beside the stateful testing of Hypothesis, on the same class.

    stateful.py IOXIDE [SEEDS] [FAULT ...]

IOXIDE is the program; without FAULT all are measured. The Python that runs this needs `pytest` and `hypothesis`
from PyPI; the package of `sdk/python` is found by itself. Both testers run in pytest, in a process of their own
for every seed, so the start of Python counts for both; with the same seed they run at the same time, so that a
busy machine slows down both.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The seconds after which a tester is ended; the failure counts as not found then.
LIMIT = 120

SDK = Path(__file__).resolve().parents[2] / "sdk" / "python"

# A store with one of these faults: a value comes back from the dead (set, delete, set again, get); the ninth key
# is lost; the largest value is cut; a key that is set to the value it has is deleted.
FAULTS = ("stale", "full", "cut", "same")
STORE = '''
class Store:
    def __init__(self, fault):
        self.fault, self.values, self.old = fault, {}, {}

    def put(self, k, v):
        if self.fault == "full" and len(self.values) >= 8 and k not in self.values:
            return
        if self.fault == "same" and self.values.get(k) == v:
            del self.values[k]
            return
        if self.fault == "cut" and v == 99:
            v = 98
        self.values[k] = self.old.get(k, v) if self.fault == "stale" else v

    def get(self, k):
        return self.values.get(k)

    def delete(self, k):
        if k in self.values:
            self.old[k] = self.values.pop(k)
            return True
        return False
'''

MODEL = """model Store {
    type Key = 0..15
    type Number = 0..99
    input put(k: Key, v: Number)
    input get(k: Key)
    input delete(k: Key)
    output done
    output value(v: Number)
    output nothing
    var store: map<Key, Number> = {}
    var wanted: Key = 0
    state ready {
        on put { store = store.with(k, v) } -> changed
        on get { wanted = k } -> asked
        on delete when store.has(k) { store = store.without(k) } -> changed
        on delete when !store.has(k) -> missing
    }
    state changed { emit done -> ready }
    state missing { emit nothing -> ready }
    state asked {
        emit value(v: held) when let some(held) = store.get(wanted) -> ready
        emit nothing when !store.has(wanted) -> ready
    }
}
"""

WITH_IOXIDE = '''
from ioxide_adapter import Adapter, on_input
from store import Store


class StoreAdapter(Adapter):
    synchronous = True

    def reset(self):
        self.store = Store("{fault}")

    @on_input("put")
    def put(self, k, v):
        self.store.put(k, v)
        self.emit("done")

    @on_input("get")
    def get(self, k):
        found = self.store.get(k)
        self.emit("nothing") if found is None else self.emit("value", v=found)

    @on_input("delete")
    def delete(self, k):
        self.emit("done" if self.store.delete(k) else "nothing")


def test_store(ioxide_check):
    ioxide_check("store.iox", StoreAdapter, seed={seed})
'''

WITH_HYPOTHESIS = '''
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from store import Store

KEYS, NUMBERS = st.integers(0, 15), st.integers(0, 99)


class StoreMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.store, self.model = Store("{fault}"), {{}}

    @rule(k=KEYS, v=NUMBERS)
    def put(self, k, v):
        self.store.put(k, v)
        self.model[k] = v

    @rule(k=KEYS)
    def get(self, k):
        assert self.store.get(k) == self.model.get(k)

    @rule(k=KEYS)
    def delete(self, k):
        assert self.store.delete(k) == (self.model.pop(k, None) is not None)


TestStore = StoreMachine.TestCase
TestStore.settings = settings(
    max_examples=10_000, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
'''


def run(name: str, text: str, fault: str, seed: int, more: list, program: str):
    """Returns the seconds that pytest took, whether it showed a shrunk failure, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "store.py").write_text(STORE)
        (Path(folder) / "store.iox").write_text(MODEL)
        (Path(folder) / name).write_text(text.format(fault=fault, seed=seed))
        environment = {**os.environ, "PYTHONPATH": str(SDK), "IOXIDE": program}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more, name]
        began = time.monotonic()
        try:
            ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return LIMIT, False, "it took too long"
        is_found = ended.returncode == 1 and (
            "minimal failing run" in ended.stdout or "Failing test case" in ended.stdout
        )
        return time.monotonic() - began, is_found, ended.stdout


def run_seed(fault: str, seed: int, program: str) -> dict:
    """Runs both testers at the same time; returns what `run` returns, by tester."""
    testers = {
        "ioxide": (WITH_IOXIDE, ["-p", "ioxide_adapter.pytest_plugin"]),
        "hypothesis": (WITH_HYPOTHESIS, [f"--hypothesis-seed={seed}"]),
    }
    with ThreadPoolExecutor(len(testers)) as threads:
        begun = {
            tester: threads.submit(run, f"test_{tester}.py", text, fault, seed, more, program)
            for tester, (text, more) in testers.items()
        }
        return {tester: future.result() for tester, future in begun.items()}


def main() -> None:
    program = os.path.abspath(sys.argv[1])
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    print("fault   tester      found  median s  slowest s", flush=True)
    for fault in sys.argv[3:] or FAULTS:
        rows = [run_seed(fault, seed, program) for seed in range(1, seeds + 1)]
        for tester in rows[0]:
            times = [row[tester][0] for row in rows]
            found = sum(row[tester][1] for row in rows)
            figures = f"{found:>2}/{seeds:<3} {statistics.median(times):>8.2f} {max(times):>10.2f}"
            print(f"{fault:<7} {tester:<11} {figures}", flush=True)


if __name__ == "__main__":
    main()
