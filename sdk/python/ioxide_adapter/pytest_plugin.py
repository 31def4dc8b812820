"""A pytest plug-in: a class that is a system under test, and names its model, becomes tests.

    class TestBuffer(ioxide.Machine):
        model = "buffer.iox"
        ...

    @pytest.mark.ioxide("adder.iox", seeds=3)
    class Adder(Adapter): ...

Every `test` block and purpose of the model is a test item, and so is every seed of the usual tester. The system
lives in this process; `ioxide test` drives it over a port of this machine, one port for each item, so items may
run side by side. The items are functions of pytest: marks, fixtures (the arguments of `__init__`), parameters, `-k`,
`-x`, `--lf` and JUnit files work as on other tests.

A web application needs no model: `@pytest.mark.ioxide(openapi=app)` above a function tests an ASGI or WSGI app in this
process against its OpenAPI description. The body of the function resets the app before every run, if it is not empty.

With `clients=4` several clients use the system at the same time, each in a thread of its own, and the items are judged
by the order of all their operations; the adapter says `concurrent_clients = True`.

The fixture `ioxide_check` does the same within a test: `ioxide_check("adder.iox", Adder, purpose="stops")`.

What failed is kept in pytest's cache and comes back first the next time. A failure shows the smallest failing run, what
the model expected, and the commands that repeat it. An inconclusive item is skipped, with the reason: it is neither a
pass nor a failure.
"""

import pathlib
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import pytest

from .adapter import Adapter
from .machine import Machine
from .pytest_apps import SEEN, AppTests
from .pytest_failure import represent
from .pytest_items import SETTINGS, ModelCheck, ModelTests, marks_of, settings_of
from .pytest_program import ModelFailure, ModelTrouble


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ioxide")
    group.addoption("--ioxide", default=None, metavar="PROGRAM", help="the ioxide program [IOXIDE, else ioxide]")
    group.addoption("--ioxide-seed", type=int, default=1, metavar="N", help="the first seed of items that search")
    group.addoption("--ioxide-relearn", action="store_true", help="learn models of apps again that are in the cache")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "ioxide(model, seeds=1, purposes=True, args=(), values={}, clients=None): tests this adapter or machine "
        "against a model; `model` is seen from the file of the test, `args` are more arguments of `ioxide test`, "
        "`values` are lists or strategies of Hypothesis by `input.field`, `clients` is a number of clients at the "
        "same time",
    )
    config.addinivalue_line(
        "markers",
        "ioxide(openapi=app, description=None, model=None, seeds=1, stateless=False, init=(), args=()): tests an ASGI "
        "or WSGI app in this process against its OpenAPI description; the marked function resets it before every run; "
        "the folder `model` keeps what was learned from the app, so that later faults are found",
    )


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> Union[None, pytest.Collector, list]:
    """A machine, a marked adapter, or a function marked with an app, becomes a collection of items."""
    is_marked = (isinstance(obj, type) or callable(obj)) and hasattr(obj, "__module__")
    if not is_marked or getattr(obj, "__test__", True) is False:
        return None
    if isinstance(obj, type) and issubclass(obj, (Adapter, Machine)):
        mark = next((mark for mark in reversed(marks_of(obj)) if mark.name == "ioxide"), None)
        if issubclass(obj, Machine):
            settings = settings_of(obj, mark)
            # A base of other machines has no model; pytest must not take it for a class of tests.
            return ModelTests.of(collector, name, obj, settings) if settings else []
        return ModelTests.of(collector, name, obj, _given(mark)) if mark else None
    marks = getattr(obj, "pytestmark", [])
    mark = next((it for it in marks if getattr(it, "name", "") == "ioxide" and "openapi" in it.kwargs), None)
    return AppTests.of(collector, name, obj, mark.kwargs) if mark is not None else None


def _given(mark: pytest.Mark) -> dict:
    return {**dict(zip(SETTINGS, mark.args)), **mark.kwargs}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    """A failure is shown by its run, not by the lines of this plug-in."""
    outcome: Any = yield
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, (ModelFailure, ModelTrouble)):
        outcome.get_result().longrepr = represent(item, error, call.excinfo.traceback)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for line in config.stash.get(SEEN, {}).values():
        terminalreporter.write_line(f"ioxide: {line}")


@pytest.fixture
def ioxide_check(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Checks an adapter or machine against a model: `ioxide_check(model, Adapter, seed=1, purpose=None, test=None,
    args=(), values={}, clients=None)`."""

    def check(
        model: str,
        make: Callable[[], Union[Adapter, Machine]],
        *,
        seed: Optional[int] = None,
        purpose: Optional[str] = None,
        test: Optional[str] = None,
        clients: Optional[int] = None,
        args: Sequence[str] = (),
        values: Any = None,
    ) -> str:
        tester = ["--tester", f"purpose:{purpose}"] if purpose else ["--tester", f"test:{test}"] if test else []
        path = pathlib.Path(request.path).parent / model
        # A test may check several systems: each has its records.
        part = "-".join(["", model, *tester[1:], getattr(make, "__name__", "")])
        return ModelCheck(make, path, args, values, clients).run(request.node, request.config, tester, seed, {}, part)

    return check
