"""What pytest shows of a failure: the smallest failing run, what was expected and why not, as of an assertion."""

import inspect
import itertools
import json
import os
import pathlib
import shlex
import sys
from typing import Any, Dict, List, Optional, Tuple

import pytest
from _pytest._code.code import ReprEntry, ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from .machine import Machine
from .pytest_program import ModelFailure, ModelTrouble, ioxide

MAX_INPUTS_IN_SUMMARY = 6
"""The number of inputs in the line of the short summary; chosen by feel, for one line of a terminal."""

SILENCE = "δ"
"""The sign of silence in records."""


def represent(item: pytest.Item, error: Exception, traceback: Any) -> ReprExceptionInfo:
    """The report of `error`, which a test ended with; a report of this type survives pytest-xdist."""
    path, line = _place(item, traceback)
    if isinstance(error, ModelFailure):
        message, reasons = _reasons(item.config, error)
        entries: List[Any] = [ReprEntryNative([_story(error), _again(item, error), "\n"])]
        at = ReprFileLocation(path, line, "does not conform to its model")
        entries.append(ReprEntry([f"E   {text}" for text in reasons], None, None, at, "long"))
    else:
        message = f"no verdict: {error}"
        entries = [ReprEntryNative([message + "\n"])]
    first = message.splitlines()[0] if message else ""
    crash, shown = ReprFileLocation(path, line, first), ReprTraceback(entries, None, "native")
    return ReprExceptionInfo(reprtraceback=shown, reprcrash=crash)


def _story(error: ModelFailure) -> str:
    """The failure as ioxide tells it, with the folder of the record in its commands, so that they can be copied."""
    folder = "DIR" if error.records is None else shlex.quote(str(error.records))
    return error.story.rstrip().replace("`ioxide report DIR ", f"`ioxide report {folder} ") + "\n"


def _reasons(config: pytest.Config, error: ModelFailure) -> Tuple[str, List[str]]:
    """The failure in one line, and in some."""
    kind = _first_kind(config, error.records)
    if kind is None:
        line = next((line.strip() for line in error.story.splitlines() if "FAIL" in line), "does not conform")
        return line, [line]
    if kind.get("http"):
        return kind["http"][0], [*_until_curl(kind["http"]), f"failure id: {kind['id']}"]
    shrunk = kind.get("shrunk") or kind
    steps = [_step(text) for text in shrunk["last"]]
    told = (kind.get("shrunk") or {}).get("explanation") or kind.get("explanation") or {}
    allowed = [_step(it["label"]) for it in told.get("allowed", [])]
    # What was sent says how to come there; the summary of pytest cuts the end of the line off.
    inputs = [step for step in steps if not step.startswith("->")]
    before = ["..."] if len(inputs) > MAX_INPUTS_IN_SUMMARY else []
    run = ", ".join([*before, *inputs[-MAX_INPUTS_IN_SUMMARY:]]) or "the start"
    expected = " or ".join(it.removeprefix("-> ") for it in allowed[:3]) or "nothing"
    # A breakdown of the system has a reason of its own.
    is_forbidden = bool(steps and told.get("allowed"))
    got = steps[-1].removeprefix("-> ") if is_forbidden else kind["reason"]
    message = f"got {got}, expected {expected}, after {run}" if is_forbidden else f"{got}, after {run}"
    lines = [f"smallest failing run: {', '.join(steps)}"]
    lines += [f"got: {got}", f"expected: {expected}"] if is_forbidden else [got]
    lines += [f"why not: {why['switch']}: {why['reason']}" for why in told.get("why_not", [])[:3]]
    lines.append(f"failure id: {kind['id']}")
    return message, lines


def _first_kind(config: pytest.Config, records: Optional[pathlib.Path]) -> Optional[Dict[str, Any]]:
    """The first kind of failure in the record; None if there is no record to read."""
    if records is None:
        return None
    try:
        shown = ioxide(config, ["report", str(records), "--json"])
        failures = json.loads(shown.stdout)["failures"]
    except (ModelTrouble, ValueError, KeyError):
        return None
    return failures[0] if failures else None


def _until_curl(lines: List[str]) -> List[str]:
    """The lines of a failure of an HTTP system that say what is wrong; the run itself stands above."""
    return list(itertools.takewhile(lambda line: "as lines of curl" not in line, lines))


def _step(text: str) -> str:
    """A step for people: `put(n: 0)` goes to the system, `-> ok` comes from it."""
    if text == SILENCE:
        return "-> silence"
    return f"-> {text[1:]}" if text.startswith("!") else text.removeprefix("?")


def _again(item: pytest.Item, error: ModelFailure) -> str:
    """The commands that repeat a failure."""
    lines = [f"run again, failed runs first:  {shlex.join(['pytest', item.nodeid])}"]
    marked = getattr(item.parent, "marked", None)
    if error.records is None:
        return lines[0] + "\n"
    timeline = error.records / "timeline.html"
    if timeline.exists():
        # A race does not come back because the same inputs are sent: there is nothing to replay.
        return "\n".join([f"run again:  {shlex.join(['pytest', item.nodeid])}", f"timeline:  {timeline}", ""])
    if isinstance(marked, type) and not _needs_arguments(marked):
        module = ["-m", "ioxide_adapter", str(item.path), marked.__name__]
        replay = ["ioxide", "replay", str(error.records), "--sut", f"stdio:{shlex.join([sys.executable, *module])}"]
        lines.append(f"replay:  {shlex.join(replay)}")
    else:
        lines.append(f"record:  {shlex.quote(str(error.records))}")
    return "\n".join(lines) + "\n"


def _needs_arguments(marked: type) -> bool:
    return bool(constructor_arguments(marked))


def constructor_arguments(marked: type) -> List[str]:
    """The arguments of `__init__` without a default: names of fixtures and parameters."""
    if marked.__init__ in (object.__init__, Machine.__init__):
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = list(inspect.signature(marked.__init__).parameters.values())[1:]
    return [it.name for it in parameters if it.kind in kinds and it.default is inspect.Parameter.empty]


def _place(item: pytest.Item, traceback: Any) -> Tuple[str, int]:
    """The line of the user's test that failed: that of the marked class or function, or of the call of a fixture."""
    path, line, _ = item.reportinfo()
    own = pathlib.Path(__file__).parent
    for entry in traceback or ():
        if not hasattr(item.parent, "marked") and own not in pathlib.Path(str(entry.path)).parents:
            if pathlib.Path(str(entry.path)) == item.path:
                path, line = entry.path, entry.lineno
    shown = os.path.relpath(str(path), str(item.config.invocation_params.dir))
    return shown, (line or 0) + 1
