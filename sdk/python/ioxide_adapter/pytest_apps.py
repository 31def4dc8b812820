"""A function that is marked with a web application: its tests ask the app by HTTP, in this process."""

import contextlib
import hashlib
import inspect
import os
import json
import pathlib
import re
import shutil
import tempfile
from typing import Any, Dict, Iterator, List, Tuple, Union

import pytest

from .app_server import RESET_PATH, NoDescription, app_served, find_description, open_app
from .apps import AsgiApp, WsgiApp
from .pytest_items import GeneratedTests, Test, records_of
from .pytest_program import ModelTrouble, ioxide, judge

SEEN = pytest.StashKey[Dict[pathlib.Path, str]]()
"""The models of the cache that were used in this session, each with a line about it."""


class AppTests(GeneratedTests):
    """The items of one app; the body of the marked function resets the app before every run."""

    app: Any
    description: Any
    model: "str | None"
    seeds: int
    init: List[str]
    args: List[str]

    def arguments(self) -> List[str]:
        parameters = inspect.signature(self.marked).parameters.values()
        return [it.name for it in parameters if it.default is inspect.Parameter.empty]

    def _read(
        self,
        *,
        openapi: Any,
        description: Any = None,
        model: "str | None" = None,
        seeds: int = 1,
        stateless: bool = False,
        init: Any = (),
        args: Any = (),
    ) -> None:
        """What the mark says."""
        self.app, self.description, self.seeds, self.args = openapi, description, seeds, list(args)
        self.model = model
        self.init = [*init, *(["--stateless"] if stateless else [])]

    def tests(self) -> "Iterator[Tuple[str, str, Test]]":
        if not inspect.isfunction(self.marked):
            raise ModelTrouble(f"`{self.name}` is marked with an app: it must be a function")
        self._read(**self.settings)
        first = self.config.getoption("--ioxide-seed")
        for seed in range(first, first + self.seeds):
            yield "seed", str(seed), self._seed(seed)

    def _seed(self, seed: int) -> Test:
        def run(request: pytest.FixtureRequest, **fixtures: Any) -> None:
            if "request" in self.arguments():
                fixtures["request"] = request
            self._run(request.node, seed, fixtures)

        return run

    def _run(self, item: Any, seed: int, fixtures: Dict[str, Any]) -> None:
        asked, records = open_app(self.app), records_of(item)
        try:
            with contextlib.ExitStack() as stack:
                folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ioxide-")))
                url = stack.enter_context(app_served(asked, lambda: self.marked(**fixtures), folder))
                self._make_model(folder, asked, url)
                more = ["--sut", "api", "--seed", str(seed), "--report", str(records), *self.args]
                judge(ioxide(self.config, ["test", str(folder / "api.iox"), *more], folder), records)
        finally:
            if isinstance(asked, AsgiApp):
                asked.close()

    def _describe(self, asked: "Union[AsgiApp, WsgiApp]", folder: pathlib.Path) -> str:
        """The file with the description of the app."""
        given = self.description
        if isinstance(given, (str, os.PathLike)):
            return str(self.path.parent / given)
        try:
            text = json.dumps(given) if given is not None else find_description(self.app, asked)
        except NoDescription as error:
            raise ModelTrouble(str(error)) from None
        file = folder / "openapi.json"
        file.write_text(text, encoding="utf-8")
        return str(file)

    def _make_model(self, folder: pathlib.Path, asked: "Union[AsgiApp, WsgiApp]", url: str) -> None:
        """Writes model and project file to `folder`: those that are kept, or new ones."""
        if self.model is not None:
            source = self.path.parent / self.model
            if not (source / "api.iox").exists():
                self._learn(self._describe(asked, folder), url, source)
        else:
            source = self._cached_model(self._describe(asked, folder), url, folder)
        text = (source / "ioxide.toml").read_text(encoding="utf-8")
        text = re.sub(r'(?m)^url = "http://(127\.0\.0\.1:[0-9]+|unix:[^:"]+:)', f'url = "{url}', text)
        # Every run begins with the function that is marked.
        reset = f'reset = {{ method = "POST", path = "{RESET_PATH}" }}'
        (folder / "ioxide.toml").write_text(text.replace('reset = "none"', reset, 1), encoding="utf-8")
        shutil.copy(source / "api.iox", folder)

    def _learn(self, description: str, url: str, folder: pathlib.Path) -> None:
        """Learns the app, and writes model and project file to `folder`."""
        made = ioxide(self.config, ["init", "--openapi", description, "--url", url, *self.init, str(folder)])
        if made.returncode != 0:
            raise ModelTrouble((made.stderr or made.stdout).strip())

    def _cached_model(self, description: str, url: str, folder: pathlib.Path) -> pathlib.Path:
        """The folder of the model that was learned by this program from an app with this description; learns it if
        there is none, or where pytest has no cache.
        """
        cache, learned = getattr(self.config, "cache", None), folder / "learned"
        if cache is None:
            self._learn(description, url, learned)
            return learned
        version = ioxide(self.config, ["--version"]).stdout
        text = pathlib.Path(description).read_text(encoding="utf-8")
        parts = [self.nodeid, text, version, *self.init]
        kept = pathlib.Path(cache.mkdir("ioxide")) / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        seen = self.config.stash.setdefault(SEEN, {})
        if self.config.getoption("--ioxide-relearn") and kept not in seen:
            shutil.rmtree(kept, ignore_errors=True)
        if (kept / "api.iox").exists():
            again = "the model was learned before; learn it again with --ioxide-relearn"
            seen.setdefault(kept, f"{self.name}: {again}")
            return kept
        self._learn(description, url, learned)
        # Another process may learn the same model: only a whole one gets the name.
        with contextlib.suppress(OSError):
            shutil.move(str(learned), str(kept))
        seen[kept] = f"{self.name}: the model was learned, and is kept in {kept}"
        return kept if (kept / "api.iox").exists() else learned
