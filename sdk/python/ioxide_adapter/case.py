"""Follows a test case that `ioxide case --format pytest` wrote, on a live system.

The tester's side of the adapter protocol: the system is started by `IOXIDE_SUT=stdio:COMMAND` or reached
at `IOXIDE_SUT=tcp:HOST:PORT`. Time is that of the wall. What a message needs on its way, `IOXIDE_LATENCY_MS`
(50 if not set), never makes a failure: the message, and the one before it, may have been on their way for as long,
so an arc that is no failure and would have been taken that much earlier or later is taken. A model without time
waits for silence as long as `IOXIDE_QUIESCENCE_MS` says (500 if not set).

PASS lets the test pass, `FAIL_...` fails it, everything else skips it with the reason.
"""

import math
import os
import queue
import shlex
import socket
import subprocess
import threading
import time
import unittest
from fractions import Fraction
from typing import IO, Any, Callable, Dict, List, Optional, Sequence, TextIO, Tuple

from .codec import BadLine, Message, from_line, to_line
from .solve import Undecided
from .stimulus import Stimulus, Values, fitting

GREETING_SECONDS = 10.0
"""How long the greeting, a reset and the receipt of an input may take."""


class Arc:
    """Something that can happen at a state, and what it means."""

    def __init__(
        self,
        rule: str,
        action: str,
        message: Optional[str],
        fields: Sequence[Tuple[str, str, str]],
        target: str,
        guard: Callable[[Values], bool],
        stimulus: Optional[Stimulus] = None,
        corners: Optional[Callable[[Values], List[Fraction]]] = None,
    ) -> None:
        self.rule, self.action, self.message, self.fields = rule, action, message, list(fields)
        self.target, self.guard, self.stimulus = target, guard, stimulus
        self.corners = corners or (lambda values: [])

    def seen(self, before: Values, args: Values) -> Values:
        """The values seen before with those of this message."""
        return {**before, **{name: _exact(sort, args.get(field)) for field, name, sort in self.fields}}


class State:
    """A state of the case; `delay` is what guards call the time since it was entered."""

    def __init__(self, name: str, delay: str, arcs: Sequence[Arc]) -> None:
        self.name, self.delay, self.arcs = name, delay, list(arcs)


class Trouble(Exception):
    """The system, or the way to it, broke: no verdict."""


class Late(Exception):
    """Nobody knows when an input arrived: what comes after it cannot be judged."""


class NoInput(Exception):
    """Nothing that the tester could send would follow the path."""


class System:
    """A system reached through the adapter protocol, from the tester's side."""

    def __init__(self, address: str) -> None:
        kind, _, rest = address.partition(":")
        self._child: Optional["subprocess.Popen[str]"] = None
        self._socket: Optional[socket.socket] = None
        if kind == "stdio":
            self._child = subprocess.Popen(
                shlex.split(rest), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
            reader, writer = self._child.stdout, self._child.stdin
        elif kind == "tcp":
            host, _, port = rest.rpartition(":")
            self._socket = socket.create_connection((host or "127.0.0.1", int(port)), GREETING_SECONDS)
            self._socket.settimeout(None)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            reader = self._socket.makefile("r", encoding="utf-8")
            writer = self._socket.makefile("w", encoding="utf-8", newline="\n")
        else:
            raise Trouble(f"IOXIDE_SUT is {address!r}, not stdio:COMMAND or tcp:HOST:PORT")
        assert reader is not None and writer is not None
        self._writer: IO[str] = writer
        self._heard: "queue.Queue[Tuple[float, Optional[Message]]]" = queue.Queue()
        self._early: List[Tuple[float, Message]] = []
        self._ids = 0
        self._listener = threading.Thread(target=self._listen, args=(reader,), daemon=True)
        self._listener.start()
        try:
            self._await("hello")
            self._say({"type": "configure", "seed": 1})
            self._await("ready")
        except Trouble:
            self.close()
            raise
        self._early.clear()

    def send(self, label: str, args: Values) -> Tuple[float, float]:
        """Gives an input; when it was given, and when the system had got it at the latest."""
        self._ids += 1
        given = time.monotonic()
        self._say({"type": "input", "id": self._ids, "label": label, "args": args})
        return given, self._await("sent")

    def receive(self, until: float) -> Optional[Tuple[float, str, Values]]:
        """The next message and when it came, or nothing up to that instant."""
        while True:
            heard = self._early.pop(0) if self._early else self._next(until)
            if heard is None:
                return None
            at, message = heard
            if message.get("type") == "output":
                return at, str(message["label"]), dict(message.get("args") or {})
            self._check(message)

    def close(self) -> None:
        """An orderly end."""
        try:
            self._say({"type": "bye"})
            self._writer.close()
        except (OSError, ValueError):
            pass
        if self._socket is not None:
            self._socket.close()
        if self._child is not None:
            try:
                self._child.wait(5)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        self._listener.join(1)

    def _say(self, message: Message) -> None:
        try:
            self._writer.write(to_line(message))
            self._writer.flush()
        except (OSError, ValueError) as error:
            raise Trouble(f"the system cannot be reached: {error}") from error

    def _listen(self, reader: TextIO) -> None:
        try:
            with reader:
                for line in reader:
                    if line.strip():
                        self._heard.put((time.monotonic(), from_line(line)))
        except (OSError, ValueError, BadLine):
            pass
        self._heard.put((time.monotonic(), None))

    def _next(self, until: float) -> Optional[Tuple[float, Message]]:
        try:
            at, message = self._heard.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            return None
        if message is None:
            raise Trouble("the system ended, or sent a line that is not part of the adapter protocol")
        return at, message

    def _await(self, kind: str) -> float:
        until = time.monotonic() + GREETING_SECONDS
        while True:
            heard = self._next(until)
            if heard is None:
                raise Trouble(f"the system did not send {kind!r} within {GREETING_SECONDS:g} s")
            if heard[1].get("type") == kind:
                return heard[0]
            if heard[1].get("type") == "output":
                self._early.append(heard)
            else:
                self._check(heard[1])

    def _check(self, message: Message) -> None:
        if message.get("type") == "error":
            raise Trouble(f"the system reports: {message.get('text')}")


def follow(test: unittest.TestCase, states: Sequence[State], timeout: Optional[Fraction]) -> None:
    """Follows the case on the system of `IOXIDE_SUT` and ends the test with its verdict."""
    address = os.environ.get("IOXIDE_SUT")
    if not address:
        raise unittest.SkipTest("IOXIDE_SUT is not set; write stdio:COMMAND or tcp:HOST:PORT")
    try:
        system = System(address)
    except (Trouble, OSError) as error:
        raise unittest.SkipTest(f"no verdict: {error}")
    try:
        verdict, reason = run(system, states, timeout)
    except (Trouble, Undecided) as error:
        raise unittest.SkipTest(f"no verdict: {error}")
    finally:
        system.close()
    if verdict.startswith("FAIL"):
        test.fail(f"{verdict}: {reason}")
    if verdict != "PASS":
        raise unittest.SkipTest(f"{verdict}: {reason}")


def run(system: System, states: Sequence[State], timeout: Optional[Fraction]) -> Tuple[str, str]:
    """Follows the case on `system`: the verdict and where it came from."""
    by_name = {state.name: state for state in states}
    latency = Fraction(int(os.environ.get("IOXIDE_LATENCY_MS", "50")), 1000)
    quiet = Fraction(int(os.environ.get("IOXIDE_QUIESCENCE_MS", "500")), 1000)
    wait = quiet if timeout is None else timeout
    values: Dict[str, Any] = {}
    state, entered = states[0], time.monotonic()
    while True:
        try:
            way = None if timeout is None else latency
            at, action, label, args = _event(system, state, values, entered, wait, way)
        except Late as late:
            return "INC_late", f"at {state.name}: {late}"
        except NoInput as none:
            return "INC_no_input", f"at {state.name}: {none}"
        delay = Fraction(max(0.0, at - entered)).limit_denominator(10**9)
        if action == "silence":
            delay = wait
        arc, values = _taken(state, values, action, label, args, delay, latency)
        if arc is None:
            return "INC_no_arc", f"at {state.name} the model does not specify {action} {label} {args}"
        if arc.target not in by_name:
            return arc.target, f"{arc.rule} at {state.name}: {action} {label or ''} {args} after {float(delay):.3f} s"
        state, entered = by_name[arc.target], at


def _event(
    system: System, state: State, values: Values, entered: float, wait: Fraction, way: Optional[Fraction]
) -> Tuple[float, str, Optional[str], Values]:
    """What happens next: a message of the system, the stimulus of the state, or silence."""
    arc = next((arc for arc in state.arcs if arc.stimulus is not None), None)
    stimulus = None if arc is None else _chosen(arc, state, values)
    if arc is not None and stimulus is None:
        raise NoInput(f"no {arc.message} was found that fits what was seen")
    if arc is None or stimulus is None:
        until = entered + float(wait + (way or 0))
        heard = system.receive(until)
        if heard is None:
            return max(time.monotonic(), until), "silence", None, {}
        return heard[0], "receive", heard[1], heard[2]
    due = entered + float(stimulus.delay)
    heard = system.receive(due)
    if heard is not None:
        return heard[0], "receive", heard[1], heard[2]
    assert arc.message is not None
    given, at = system.send(arc.message, stimulus.values)
    if way is not None and Fraction(at - given) > way:
        raise Late(f"{arc.message} was confirmed {at - given:.3f} s after it was sent; IOXIDE_LATENCY_MS says less")
    return at, "send", arc.message, dict(stimulus.values)


def _chosen(arc: Arc, state: State, values: Values) -> Optional[Stimulus]:
    """What to send and when, by what was seen; nothing if nothing fits, or if it was not found."""
    made = arc.stimulus
    assert made is not None
    own = {name: _exact(sort, made.values.get(field)) for field, name, sort in arc.fields}

    def others(point: Values) -> Dict[str, List[Any]]:
        return {**made.choices(point), state.delay: list(arc.corners(point))}

    found = fitting(arc.guard, values, own, (state.delay, made.delay), others, made)
    if found is None:
        return None
    return Stimulus(found[state.delay], {field: found[name] for field, name, _ in arc.fields})


def _taken(
    state: State,
    values: Values,
    action: str,
    label: Optional[str],
    args: Values,
    delay: Fraction,
    latency: Fraction,
) -> Tuple[Optional[Arc], Values]:
    """The arc an event takes; one that is no failure if the latency explains it."""
    arcs = [
        arc
        for arc in state.arcs
        if arc.action == action and arc.message == label and all(field in args for field, _, _ in arc.fields)
    ]
    seen = [(arc, {**arc.seen(values, args), state.delay: delay}) for arc in arcs]
    instants = [delay] if action == "silence" else _instants(state, seen, delay, latency)
    failing: Optional[Tuple[Arc, Values]] = None
    for instant in instants:
        for arc, now in seen:
            if not arc.guard({**now, state.delay: instant}):
                continue
            # What was seen is remembered, not what was believed: errors do not add up.
            if not arc.target.startswith("FAIL"):
                return arc, now
            failing = failing or (arc, now)
    return failing or (None, values)


def _instants(
    state: State, seen: Sequence[Tuple[Arc, Values]], delay: Fraction, latency: Fraction
) -> List[Fraction]:
    """The instants that may have been the true one, the seen one first: the ends of what is believed, those at
    which a guard changes, and one between each two of them stand for all."""
    low, high = max(Fraction(0), delay - latency), delay + latency
    points = {low, high, delay}
    for arc, now in seen:
        points.update(corner for corner in arc.corners(now) if low <= corner <= high)
    ordered = sorted(points)
    between = [(a + b) / 2 for a, b in zip(ordered, ordered[1:])]
    return [delay, *sorted([*ordered, *between], key=lambda at: abs(at - delay))]


def _exact(sort: str, value: Any) -> Any:
    """A value of the protocol as guards compare it: reals are fractions."""
    if sort != "real" or value is None:
        return value
    try:
        return Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise Trouble(f"{value!r} is not a number: {error}") from error


def div(a: int, b: int) -> int:
    """The Euclidean quotient; 0 for division by 0."""
    return 0 if b == 0 else (a - rem(a, b)) // b


def rem(a: int, b: int) -> int:
    """The Euclidean remainder, never negative; `a` for division by 0."""
    return a if b == 0 else a % abs(b)


def quotient(a: Fraction, b: Fraction) -> Fraction:
    """The quotient; 0 for division by 0."""
    return Fraction(0) if b == 0 else Fraction(a) / Fraction(b)


def floor(a: Fraction) -> int:
    """The greatest integer not above."""
    return math.floor(a)
