"""Threads that are known to wait for ioxide, and so do nothing to a system meanwhile."""

import contextlib
import threading
from typing import Iterator, Set

_waiting: Set[int] = set()


def waits(thread: threading.Thread) -> bool:
    """Whether `thread` is known to wait."""
    return thread.ident in _waiting


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """The caller does nothing to any system until the end of the block."""
    ident = threading.get_ident()
    is_new = ident not in _waiting
    _waiting.add(ident)
    try:
        yield
    finally:
        if is_new:
            _waiting.discard(ident)
