"""Test items that are made from a model: real functions of pytest, so marks, fixtures and parameters work on them."""

import contextlib
import inspect
import json
import pathlib
import re
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import pytest

from .adapter import Adapter
from .machine import Machine, MachineAdapter
from .pytest_failure import constructor_arguments
from .pytest_program import ModelTrouble, ioxide, judge
from .serving import eager_switching, served
from .strategies import write_values

PURPOSES = {"path", "reach", "observer"}
"""Kinds of goals that a tester can be sent for."""

PARAMETER = "_ioxide_run"
"""The parameter that tells the tests of one kind apart."""

_ASIDE = pytest.StashKey[pathlib.Path]()

Test = Callable[..., None]

SETTINGS = ("model", "seeds", "purposes", "args", "values", "clients")
"""The arguments of the mark, in their order."""


class GeneratedTests(pytest.Class):
    """A marked class or function. Its tests are methods of a class that is made here, so pytest does the rest."""

    marked: Any
    settings: Dict[str, Any]

    @classmethod
    def of(cls, parent: Any, name: str, marked: Any, settings: Mapping[str, Any]) -> "GeneratedTests":
        self: GeneratedTests = cls.from_parent(parent, name=name)
        self.marked, self.settings = marked, dict(settings)
        return self

    def _getobj(self) -> type:
        members = {
            "__doc__": self.marked.__doc__,
            "__module__": self.marked.__module__,
            "pytestmark": marks_of(self.marked),
        }
        return type(self.name, (), members)

    def collect(self) -> Iterator[Any]:
        kinds: Dict[str, Dict[str, Test]] = {}
        for kind, name, run in self.tests():
            kinds.setdefault(kind, {})[name] = run
        for kind, runs in kinds.items():
            # What is in brackets must be a parameter for pytest too: `--lf` looks for items by their parts.
            parameters = pytest.mark.parametrize(PARAMETER, list(runs.values()), ids=list(runs))
            setattr(self.obj, kind, parameters(self._test()))
            yield from self._genfunctions(kind, getattr(self.obj, kind))

    def tests(self) -> "Iterator[Tuple[str, str, Test]]":
        """The kinds and names of the tests, and functions that are called with the request and the fixtures by name."""
        raise NotImplementedError

    def arguments(self) -> List[str]:
        """The names of the fixtures and parameters that a test takes."""
        raise NotImplementedError

    def _test(self) -> Test:
        def test(_self: Any, request: pytest.FixtureRequest, **fixtures: Any) -> None:
            run = fixtures.pop(PARAMETER)
            run(request, **fixtures)

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = ["_self", "request", PARAMETER, *(name for name in self.arguments() if name != "request")]
        test.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, kind) for name in names]
        )
        # The line that is shown for the test.
        test.place_as = self.marked  # type: ignore[attr-defined]
        return test

    def repr_failure(self, excinfo: Any) -> Any:  # type: ignore[override]
        if isinstance(excinfo.value, ModelTrouble):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class ModelTests(GeneratedTests):
    """The items of one adapter or machine: the tests and purposes of its model, and seeds of the usual tester."""

    def arguments(self) -> List[str]:
        return constructor_arguments(self.marked)

    def tests(self) -> "Iterator[Tuple[str, str, Test]]":
        model, seeds, purposes, args, values, clients = _model(**self.settings)
        path = self.path.parent / model
        shown = ioxide(self.config, ["show", str(path), "--format", "json"])
        if shown.returncode != 0:
            raise ModelTrouble(shown.stderr.strip())
        check = ModelCheck(self.marked, path, args, values, clients)
        # Several clients follow no path together.
        for goal in json.loads(shown.stdout)["goals"] if clients is None else []:
            name = goal["name"]
            if goal["kind"] == "test":
                yield "test", name, check.tester(["--tester", f"test:{name}"])
            elif purposes and goal["kind"] in PURPOSES:
                yield "purpose", name, check.tester(["--tester", f"purpose:{name}"])
        first = self.config.getoption("--ioxide-seed")
        for seed in range(first, first + seeds):
            yield "seed", str(seed), check.tester([], seed)


class ModelCheck:
    """A system in this process, the model it is checked against, and how."""

    def __init__(
        self,
        make: Callable[..., Union[Adapter, Machine]],
        model: pathlib.Path,
        args: Sequence[str],
        values: Any = None,
        clients: Optional[int] = None,
    ) -> None:
        self.make, self.model, self.args, self.values, self.clients = make, model, list(args), values or {}, clients

    def tester(self, tester: List[str], seed: Optional[int] = None) -> Test:
        """The test that runs `tester`."""

        def run(request: pytest.FixtureRequest, **fixtures: Any) -> None:
            fixed = {"request": request} if "request" in _names(self.make) else {}
            # The values of a `test` block are written in it.
            values = {} if tester[1:] and tester[1].startswith("test:") else self.values
            check = ModelCheck(self.make, self.model, self.args, values, self.clients)
            check.run(request.node, request.config, tester, seed, {**fixtures, **fixed})

        return run

    def run(
        self,
        item: Any,
        config: pytest.Config,
        tester: List[str],
        seed: Optional[int],
        arguments: Mapping[str, Any],
        part: str = "",
    ) -> str:
        """Carries out the check, and returns what the program printed."""
        records = records_of(item, part)
        first = config.getoption("--ioxide-seed") if seed is None else seed
        with contextlib.ExitStack() as stack:
            several = [] if self.clients is None else ["--clients", str(self.clients)]
            if several:
                stack.enter_context(eager_switching())
            address = stack.enter_context(served(lambda: _connected(self.make, arguments)))
            values = stack.enter_context(write_values(self.values, first))
            more = [*tester, *several, "--seed", str(first), "--report", str(records), *values, *self.args]
            done = ioxide(config, ["test", str(self.model), "--sut", f"tcp:{address}", *more])
        judge(done, records)
        return done.stdout


def _names(make: Any) -> List[str]:
    return constructor_arguments(make) if isinstance(make, type) else []


def _connected(make: Any, arguments: Mapping[str, Any]) -> Adapter:
    if isinstance(make, type) and issubclass(make, Machine):
        return MachineAdapter(make, arguments)
    made = make(**arguments)
    return made if isinstance(made, Adapter) else MachineAdapter(type(made), make=lambda: make(**arguments))


def _model(
    model: str,
    seeds: int = 1,
    purposes: bool = True,
    args: Any = (),
    values: Optional[Mapping[str, Any]] = None,
    clients: Optional[int] = None,
) -> "Tuple[str, int, bool, List[str], Mapping[str, Any], Optional[int]]":
    """What the mark says."""
    return model, seeds, purposes, list(args), values or {}, clients


def marks_of(marked: Any) -> List[pytest.Mark]:
    """The marks of a function, or of a class and its bases."""
    places = reversed(marked.__mro__) if isinstance(marked, type) else [marked]
    found: List[pytest.Mark] = []
    for place in places:
        own = vars(place).get("pytestmark", [])
        found += [getattr(mark, "mark", mark) for mark in (own if isinstance(own, list) else [own])]
    return found


def settings_of(machine: type, mark: Optional[pytest.Mark]) -> Optional[Dict[str, Any]]:
    """What a machine says by its attributes, or else by its mark; None if it names no model."""
    named = {name: getattr(machine, name) for name in ("seeds", "purposes", "args", "values")}
    if mark is not None:
        given = dict(zip(SETTINGS, mark.args))
        named.update({**given, **mark.kwargs})
    model = named.get("model") or getattr(machine, "model", None)
    return {**named, "model": model} if model else None


def records_of(item: Any, part: str = "") -> pathlib.Path:
    """Where runs of this item, or of a part of it, are kept: what failed comes back first."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", item.nodeid + part)
    # With `-p no:cacheprovider` there is no cache: runs are kept, but nobody looks for them the next time.
    cache = getattr(item.config, "cache", None)
    return (cache.mkdir("ioxide") if cache else _aside(item.config)) / name


def _aside(config: pytest.Config) -> pathlib.Path:
    """A folder for the runs of this session."""
    if _ASIDE not in config.stash:
        config.stash[_ASIDE] = pathlib.Path(tempfile.mkdtemp(prefix="ioxide-"))
    return config.stash[_ASIDE]
