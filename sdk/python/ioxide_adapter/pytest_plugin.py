"""A pytest plug-in: a class that is an adapter and is marked with a model becomes tests.

    @pytest.mark.ioxide("adder.iox", seeds=3)
    class Adder(Adapter): ...

Every `test` block and purpose of the model is a test item, and so is every seed of the usual tester. The system
lives in this process; `ioxide test` drives it over a port of this machine, one port for each item, so items may
run side by side.

A web application needs no model: `@pytest.mark.ioxide(openapi=app)` above a function tests an ASGI or WSGI app in this
process against its OpenAPI description. The body of the function resets the app before every run, if it is not empty.

The fixture `ioxide_check` does the same within a test: `ioxide_check("adder.iox", Adder, purpose="stops")`.

What failed is kept in pytest's cache and comes back first the next time. A failure shows the chart of the run and the
commands that repeat it. An inconclusive item is skipped, with the reason: it is neither a pass nor a failure.
"""

import inspect
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Callable, Iterator, List, Optional, Sequence, Type, Union

import pytest

from .adapter import Adapter
from .app_server import RESET_PATH, NoDescription, app_served, find_description, open_app
from .apps import AsgiApp, WsgiApp
from .serving import served
from .waiting import waiting

PURPOSES = {"path", "reach", "observer"}
"""Kinds of goals that a tester can be sent for."""

UNSUPPORTED = ("parametrize", "usefixtures")
"""Marks that only functions with arguments have."""

_ASIDE = pytest.StashKey[pathlib.Path]()


class ModelFailure(Exception):
    """The system does what the model does not allow."""


class ModelTrouble(Exception):
    """Nothing can be said: the model, the program or the adapter is broken."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ioxide")
    group.addoption("--ioxide", default=None, metavar="PROGRAM", help="the ioxide program [IOXIDE, else ioxide]")
    group.addoption("--ioxide-seed", type=int, default=1, metavar="N", help="the first seed of items that search")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "ioxide(model, seeds=1, purposes=True, args=()): tests this adapter against a model; `model` is seen from the "
        "file of the test, `args` are more arguments of `ioxide test`",
    )
    config.addinivalue_line(
        "markers",
        "ioxide(openapi=app, description=None, model=None, seeds=1, stateless=False, init=(), args=()): tests an ASGI "
        "or WSGI app in this process against its OpenAPI description; the marked function resets it before every run; "
        "the folder `model` keeps what was learned from the app, so that later faults are found",
    )


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> Optional[pytest.Collector]:
    """A marked adapter, or a function marked with an app, becomes a collection of items."""
    marks = [mark for mark in getattr(obj, "pytestmark", []) if isinstance(mark, pytest.Mark)]
    app_mark = next((mark for mark in marks if mark.name == "ioxide" and "openapi" in mark.kwargs), None)
    if app_mark is not None:
        return AppTests.of(collector, name, obj, app_mark, marks)
    if not (isinstance(obj, type) and issubclass(obj, Adapter) and obj is not Adapter):
        return None
    mark = next((mark for mark in marks if mark.name == "ioxide"), None)
    return ModelTests.of(collector, name, obj, mark, marks) if mark else None


def _add_marks(node: Any, marks: Sequence[pytest.Mark]) -> None:
    """Gives the items of `node` the marks beside `ioxide`: `skip`, `skipif`, `xfail` and those of other plug-ins."""
    for mark in marks:
        if mark.name in UNSUPPORTED:
            raise ModelTrouble(
                f"`@pytest.mark.{mark.name}` does nothing beside `@pytest.mark.ioxide`; "
                "write a test function that uses the fixture `ioxide_check`"
            )
        node.own_markers.append(mark)
        node.keywords[mark.name] = mark


def _model(path: str, *, seeds: int = 1, purposes: bool = True, args: Any = ()) -> "tuple[str, int, bool, List[str]]":
    """What the marker says."""
    return path, seeds, purposes, list(args)


class ModelTests(pytest.Collector):
    """The items of one adapter."""

    adapter: Type[Adapter]
    model: pathlib.Path
    seeds: int
    purposes: bool
    args: List[str]
    marks: Sequence[pytest.Mark]

    @classmethod
    def of(
        cls, parent: Any, name: str, adapter: Type[Adapter], mark: Any, marks: Sequence[pytest.Mark]
    ) -> "ModelTests":
        self: ModelTests = cls.from_parent(parent, name=name)
        path, self.seeds, self.purposes, self.args = _model(*mark.args, **mark.kwargs)
        self.adapter, self.model, self.marks = adapter, parent.path.parent / path, marks
        return self

    def collect(self) -> Iterator["ModelItem"]:
        _add_marks(self, self.marks)
        shown = ioxide(self.config, ["show", str(self.model), "--format", "json"])
        if shown.returncode != 0:
            raise ModelTrouble(shown.stderr.strip())
        goals = json.loads(shown.stdout)["goals"]
        for goal in goals:
            name = goal["name"]
            if goal["kind"] == "test":
                yield ModelItem.of(self, f"test[{name}]", ["--tester", f"test:{name}"])
            elif self.purposes and goal["kind"] in PURPOSES:
                yield ModelItem.of(self, f"purpose[{name}]", ["--tester", f"purpose:{name}"])
        first = self.config.getoption("--ioxide-seed")
        for seed in range(first, first + self.seeds):
            yield ModelItem.of(self, f"seed[{seed}]", [], seed)

    def repr_failure(self, excinfo: Any) -> Any:  # type: ignore[override]
        if isinstance(excinfo.value, ModelTrouble):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class ModelItem(pytest.Item):
    """One tester on one adapter."""

    parent: ModelTests
    tester: List[str]
    seed: Optional[int]

    @classmethod
    def of(cls, parent: ModelTests, name: str, tester: List[str], seed: Optional[int] = None) -> "ModelItem":
        self: ModelItem = cls.from_parent(parent, name=name)
        self.tester, self.seed = tester, seed
        return self

    def runtest(self) -> None:
        first = self.config.getoption("--ioxide-seed")
        seed = first if self.seed is None else self.seed
        more = [*self.tester, "--seed", str(seed), "--report", str(self.records()), *self.parent.args]
        with served(self.parent.adapter) as address:
            done = ioxide(self.config, ["test", str(self.parent.model), "--sut", f"tcp:{address}", *more])
        _judge(done)

    def records(self) -> pathlib.Path:
        """Where runs of this item are kept: what failed comes back first."""
        return _records_of(self)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, ModelTrouble):
            return f"no verdict: {excinfo.value}"
        if isinstance(excinfo.value, ModelFailure):
            return f"{excinfo.value}\n{self._again()}"
        return super().repr_failure(excinfo, style)

    def _again(self) -> str:
        system = f"stdio:{sys.executable} -m ioxide_adapter {self.path} {self.parent.name}"
        replay = ["ioxide", "replay", str(self.records()), "--sut", system]
        again = ["pytest", self.nodeid]
        return f"run again, failed runs first:  {shlex.join(again)}\nreplay:  {shlex.join(replay)}"

    def reportinfo(self) -> "tuple[os.PathLike[str], Optional[int], str]":
        return self.path, _line_of(self.parent.adapter), f"{self.parent.name}: {self.name}"


class AppTests(pytest.Collector):
    """The items of one app."""

    app: Any
    reset: Callable[[], object]
    description: Any
    model: Optional[str]
    seeds: int
    init: List[str]
    args: List[str]
    marks: Sequence[pytest.Mark]

    @classmethod
    def of(cls, parent: Any, name: str, function: Any, mark: Any, marks: Sequence[pytest.Mark]) -> "AppTests":
        self: AppTests = cls.from_parent(parent, name=name)
        self.marks, self.reset = marks, function
        if not callable(function) or isinstance(function, type) or inspect.signature(function).parameters:
            raise ModelTrouble(f"`{name}` is marked with an app: it must be a function without arguments")
        self._read(**mark.kwargs)
        return self

    def _read(
        self,
        *,
        openapi: Any,
        description: Any = None,
        model: Optional[str] = None,
        seeds: int = 1,
        stateless: bool = False,
        init: Any = (),
        args: Any = (),
    ) -> None:
        """What the marker says."""
        self.app, self.description, self.seeds, self.args = openapi, description, seeds, list(args)
        self.model = model
        self.init = [*init, *(["--stateless"] if stateless else [])]

    def collect(self) -> Iterator["AppItem"]:
        _add_marks(self, self.marks)
        first = self.config.getoption("--ioxide-seed")
        for seed in range(first, first + self.seeds):
            item: AppItem = AppItem.from_parent(self, name=f"seed[{seed}]")
            item.seed = seed
            yield item

    def repr_failure(self, excinfo: Any) -> Any:  # type: ignore[override]
        if isinstance(excinfo.value, ModelTrouble):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class AppItem(pytest.Item):
    """One seed on one app."""

    parent: AppTests
    seed: int

    def runtest(self) -> None:
        asked = open_app(self.parent.app)
        try:
            with tempfile.TemporaryDirectory(prefix="ioxide-") as place, app_served(asked, self.parent.reset) as port:
                folder = pathlib.Path(place)
                self._make_model(folder, asked, port)
                model, more = str(folder / "api.iox"), ["--seed", str(self.seed), "--report", str(self._records())]
                _judge(ioxide(self.config, ["test", model, "--sut", "api", *more, *self.parent.args], folder))
        finally:
            if isinstance(asked, AsgiApp):
                asked.close()

    def _describe(self, asked: "Union[AsgiApp, WsgiApp]", folder: pathlib.Path) -> str:
        """The file with the description of the app."""
        given = self.parent.description
        if isinstance(given, (str, os.PathLike)):
            return str(self.path.parent / given)
        try:
            text = json.dumps(given) if given is not None else find_description(self.parent.app, asked)
        except NoDescription as error:
            raise ModelTrouble(str(error)) from None
        file = folder / "openapi.json"
        file.write_text(text, encoding="utf-8")
        return str(file)

    def _make_model(self, folder: pathlib.Path, asked: "Union[AsgiApp, WsgiApp]", port: int) -> None:
        """Writes model and project file to `folder`: those that are kept, or new ones."""
        kept = None if self.parent.model is None else self.path.parent / self.parent.model
        source = kept or folder
        url = f"http://127.0.0.1:{port}"
        if not (source / "api.iox").exists():
            described = ["--openapi", self._describe(asked, folder), "--url", url]
            made = ioxide(self.config, ["init", *described, *self.parent.init, str(source)])
            if made.returncode != 0:
                raise ModelTrouble((made.stderr or made.stdout).strip())
        text = (source / "ioxide.toml").read_text(encoding="utf-8")
        text = re.sub(r'(?m)^url = "http://127\.0\.0\.1:[0-9]+', f'url = "{url}', text)
        # Every run begins with the function that is marked.
        reset = f'reset = {{ method = "POST", path = "{RESET_PATH}" }}'
        (folder / "ioxide.toml").write_text(text.replace('reset = "none"', reset, 1), encoding="utf-8")
        if kept is not None:
            shutil.copy(kept / "api.iox", folder)

    def _records(self) -> pathlib.Path:
        return _records_of(self)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, ModelTrouble):
            return f"no verdict: {excinfo.value}"
        if isinstance(excinfo.value, ModelFailure):
            again = shlex.join(["pytest", self.nodeid])
            records = shlex.quote(str(self._records()))
            return f"{excinfo.value}\nrun again:  {again}\nrecord:  {records}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> "tuple[os.PathLike[str], Optional[int], str]":
        return self.path, _line_of(self.parent.reset), f"{self.parent.name}: {self.name}"


@pytest.fixture
def ioxide_check(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Checks an adapter against a model: `ioxide_check(model, Adapter, seed=1, purpose=None, test=None, args=())`."""

    def check(
        model: str,
        make: Callable[[], Adapter],
        *,
        seed: Optional[int] = None,
        purpose: Optional[str] = None,
        test: Optional[str] = None,
        args: Sequence[str] = (),
    ) -> str:
        config: pytest.Config = request.config
        tester = ["--tester", f"purpose:{purpose}"] if purpose else ["--tester", f"test:{test}"] if test else []
        first = config.getoption("--ioxide-seed") if seed is None else seed
        path = pathlib.Path(request.path).parent / model
        with served(make) as address:
            said = ["test", str(path), "--sut", f"tcp:{address}", *tester, "--seed", str(first), *args]
            done = ioxide(config, said)
        _judge(done)
        return done.stdout

    return check


def _judge(done: "subprocess.CompletedProcess[str]") -> None:
    if done.returncode == 1:
        raise ModelFailure(done.stdout)
    if done.returncode == 5:
        pytest.skip(f"inconclusive: {_last_words(done.stdout)}")
    if done.returncode != 0:
        raise ModelTrouble((done.stderr or done.stdout).strip())


def _line_of(marked: Any) -> int:
    """The line of a class or function in its file, from 0; pytest needs one for items that are skipped."""
    try:
        return max(0, inspect.getsourcelines(marked)[1] - 1)
    except (OSError, TypeError):
        return 0


def _records_of(item: pytest.Item) -> pathlib.Path:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", item.nodeid)
    # With `-p no:cacheprovider` there is no cache: runs are kept, but nobody looks for them the next time.
    cache = getattr(item.config, "cache", None)
    return (cache.mkdir("ioxide") if cache else _aside(item.config)) / name


def _aside(config: pytest.Config) -> pathlib.Path:
    """A folder for the runs of this session."""
    if _ASIDE not in config.stash:
        config.stash[_ASIDE] = pathlib.Path(tempfile.mkdtemp(prefix="ioxide-"))
    return config.stash[_ASIDE]


def ioxide(
    config: pytest.Config, args: List[str], folder: Optional[pathlib.Path] = None
) -> "subprocess.CompletedProcess[str]":
    """Runs the program, in `folder` if it is given."""
    program = config.getoption("--ioxide") or os.environ.get("IOXIDE") or _beside() or "ioxide"
    environment = {**os.environ, "IOXIDE_PROGRESS": "off", "NO_COLOR": "1"}
    try:
        with waiting():
            return subprocess.run(
                [program, *args], capture_output=True, text=True, env=environment, encoding="utf-8", cwd=folder
            )
    except OSError as error:
        raise ModelTrouble(f"cannot start `{program}`: {error}; install ioxide, or set IOXIDE to its path") from None


def _beside() -> Optional[str]:
    """The program that came with this Python, in a wheel."""
    folder = pathlib.Path(sys.executable).parent
    return shutil.which("ioxide", path=str(folder))


def _last_words(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if "inconclusive" in line), lines[-1] if lines else "nothing was said")
