"""Values for the fields of inputs, from lists or from strategies of Hypothesis, written to a file for `ioxide test`."""

import contextlib
import json
import os
import pathlib
import tempfile
from typing import Any, Iterator, List, Mapping

from .codec import to_line
from .values import sendable

N_EXAMPLES = 40
"""The number of values that are drawn from a strategy; chosen by feel: enough for equal and for unlike ones."""


@contextlib.contextmanager
def write_values(values: Mapping[str, Any], seed: int) -> Iterator[List[str]]:
    """The arguments of `ioxide test` that say which values are sent; the file is there until the end of the block."""
    if not values:
        yield []
        return
    drawn = {field: draw(source, seed) for field, source in values.items()}
    handle, name = tempfile.mkstemp(prefix="ioxide-values-", suffix=".json")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(to_line(drawn))
        yield ["--values", name]
    finally:
        pathlib.Path(name).unlink()


def draw(source: Any, seed: int) -> List[Any]:
    """The values of a list, or different ones of a strategy: the same for the same seed."""
    if not hasattr(source, "example"):
        return [sendable(value) for value in source]
    import hypothesis

    found: List[Any] = []
    seen = set()

    def take(value: Any) -> None:
        value = sendable(value)
        text = json.dumps(value, default=str, sort_keys=True)
        if text not in seen:
            seen.add(text)
            found.append(value)

    settings = hypothesis.settings(
        database=None, max_examples=N_EXAMPLES, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    hypothesis.seed(seed)(settings(hypothesis.given(source)(take)))()
    return found
