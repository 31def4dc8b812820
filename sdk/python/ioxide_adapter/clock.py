"""Calls that are due later, on the clock of this machine or in virtual time.

Time is counted in whole nanoseconds from the start of a life, which is when the system has been reset. On the
clock of this machine a thread makes the calls when they are due; virtual time passes in `step` and
`move` and nowhere else.

A call is made by whoever holds the turn, which handlers and resets of the system hold as well: one at a time.
The end of a life forgets its calls, so that none of them is heard of in the next one.
"""

import heapq
import itertools
import math
import threading
import time
import weakref
from decimal import Decimal
from fractions import Fraction
from typing import Callable, List, Optional, Tuple, Union

Seconds = Union[int, float, str, Decimal, Fraction]
"""A length of time: any number, or the text of one such as `1/3`."""

SECOND = 10**9

LONGEST_WAIT = 3600.0
"""Longer waits are made in parts."""


def nanoseconds(seconds: Seconds) -> int:
    """A length of time in nanoseconds; ValueError if it is none."""
    try:
        exact = Fraction(seconds)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise ValueError(f"{seconds!r} is not a time in seconds") from None
    if exact < 0:
        raise ValueError(f"a call cannot be made in the past: {seconds!r} s")
    return math.floor(exact * SECOND + Fraction(1, 2))


class Clock:
    """The time of one system, and what is due in it."""

    def __init__(self, turn: "threading.RLock", failed: Callable[[Exception], None]) -> None:
        self._turn, self._failed = turn, failed
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._calls: List[Tuple[int, int, Callable[[], object]]] = []
        self._life = 0
        self._under_way = 0
        self._threads: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()
        self._thread: Optional[threading.Thread] = None
        self._started: Optional[int] = None
        self._now = 0
        self.is_virtual = False

    def stop(self) -> None:
        """Ends the life: its calls are forgotten, and the clock stands at 0. The caller has the turn."""
        with self._changed:
            self._life += 1
            self._calls.clear()
            self._thread, self._started, self._now = None, None, 0
            self._changed.notify_all()

    def start(self) -> None:
        """Lets time begin."""
        with self._changed:
            self._started = time.monotonic_ns()
            self._changed.notify_all()

    def now(self) -> int:
        """How late it is."""
        if self.is_virtual or self._started is None:
            return self._now
        return time.monotonic_ns() - self._started

    def after(self, wait: int, call: Callable[[], object]) -> None:
        """Makes the call that much later; calls due at the same instant are made in the order given."""
        with self._changed:
            heapq.heappush(self._calls, (self.now() + wait, next(self._numbers), call))
            if self._thread is None and not self.is_virtual:
                self._thread = threading.Thread(target=self._serve, args=(self._life,), daemon=True)
                self._threads.add(self._thread)
                self._thread.start()
            self._changed.notify_all()

    def next(self) -> Optional[int]:
        """When the next call is due, if there is one."""
        with self._changed:
            return self._calls[0][0] if self._calls else None

    def is_idle(self) -> bool:
        """Whether no call is due later, and none is being made or waits for its turn."""
        with self._changed:
            return not self._calls and self._under_way == 0

    def is_served_by(self, thread: threading.Thread) -> bool:
        """Whether `thread` does nothing but make the calls that are due, in this life or in one that is over."""
        return thread in self._threads

    def step(self, to: int) -> bool:
        """Makes the next call if virtual time comes to it before `to`. The caller has the turn."""
        with self._changed:
            if not self._calls or self._calls[0][0] > to:
                return False
            due, _, call = heapq.heappop(self._calls)
            self._now = max(self._now, due)
        call()
        return True

    def move(self, to: int) -> None:
        """Lets virtual time pass in which nothing is due."""
        self._now = max(self._now, to)

    def _serve(self, life: int) -> None:
        """Makes the calls of one life as the clock of this machine says."""
        while True:
            call = self._due(life)
            if call is None:
                return
            try:
                with self._turn:
                    if life != self._life:
                        return
                    try:
                        call()
                    except Exception as error:
                        self._failed(error)
            finally:
                with self._changed:
                    self._under_way -= 1

    def _due(self, life: int) -> Optional[Callable[[], object]]:
        """Waits for the next call of a life; nothing once the life is over."""
        with self._changed:
            while life == self._life:
                left = self._left()
                if left is not None and left <= 0:
                    # It may have to wait for its turn, and is not over before it had it.
                    self._under_way += 1
                    return heapq.heappop(self._calls)[2]
                self._changed.wait(LONGEST_WAIT if left is None else min(left, LONGEST_WAIT))
        return None

    def _left(self) -> Optional[float]:
        """Seconds until the next call, if time has begun and something is due."""
        if self._started is None or not self._calls:
            return None
        return (self._calls[0][0] - self.now()) / SECOND
