"""The system's side of the adapter protocol.

`hello` is said at once; `configure` and `reset` bring the system to its initial state and are
answered by `ready`; an `input` calls its handler and is answered by `sent`; `advance` lets virtual
time pass and is answered by `advanced`. Whatever goes wrong becomes an `error` message: nothing is
ever passed over in silence.

Resets, handlers and calls made later take turns. Outputs have a lock of their own, so that any thread can
emit while somebody has the turn.
"""

import inspect
import random
import socket
import sys
import threading
import time
import traceback
from decimal import Decimal
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, TextIO, TypeVar

from .clock import Clock, Seconds, nanoseconds
from .codec import PROTOCOL, BadLine, Message, from_line, to_line
from .loop import Loop
from .values import sendable
from .waiting import waits

Handler = TypeVar("Handler", bound=Callable[..., object])


class Refused(Exception):
    """The input was definitely not given to the system."""


class Broken(Exception):
    """The system, or the way to it, is of no more use."""


class UnsendableOutput(ValueError):
    """An output cannot be sent as it is: a mistake of the adapter, and no fault of the system."""


def on_input(label: str) -> Callable[[Handler], Handler]:
    """Marks the method that gives messages called `label` to the system."""

    def mark(handler: Handler) -> Handler:
        setattr(handler, "_ioxide_label", label)
        return handler

    return mark


class Adapter:
    """A system under test. Subclass it: `reset`, one method per input, `emit`.

    Where no method is marked by `on_input`, every method without a leading underscore is the handler of the input
    of its name. Handlers, `reset` and `close` may be coroutines: they run in an event loop of the adapter, and
    what they leave running there goes on until the next reset.
    """

    name: str = ""
    """What it calls itself; the name of the class if empty."""
    outputs: Mapping[str, Mapping[str, str]] = {}
    """The outputs with the sorts of their fields; if given, `emit` checks against it."""
    observed: Mapping[str, Mapping[str, str]] = {}
    """Messages that somebody else sends to the system and the adapter only sees; emitted like outputs."""
    virtual_time: bool = False
    """Whether its time is only that of `after` and `now`, so that ioxide may let it pass as it likes."""
    concurrent_clients: bool = False
    """Whether several clients may use the system at the same time (`ioxide test --clients`), each by an adapter object
    and a thread of its own. Then only the object that resets the system for all of them has its `reset` called."""
    synchronous: Optional[bool] = None
    """Whether it emits nothing more once a handler or `reset` has returned, so that ioxide need not wait to see
    that it is silent. None: it is, as long as no other thread, event loop or call made later exists that could
    emit something."""

    settings: Dict[str, Any]
    """The settings ioxide asked for."""
    seed: Optional[int]
    """The seed ioxide asked for."""
    instance: int
    """Which of several systems side by side this is."""
    part: Optional[str]
    """The part of the model it stands for, where it is one of several connections."""
    index: Optional[int]
    """Which instance of that part it is, if the part is an array."""
    random: random.Random
    """Random choices, repeatable by seed."""

    _lock: threading.RLock
    _turn: threading.RLock
    _handlers: Dict[str, Callable[..., object]]
    _clock: Clock
    _loop: Loop
    _spoken: bool
    _writer: Optional[TextIO]
    _held: List[Message]
    _due: Optional[int]
    _resetting: Optional[int]
    _configured: bool
    _ready: bool

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _refuse_taken_names(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> "Adapter":
        self = super().__new__(cls)
        self.settings, self.seed, self.instance = {}, None, 0
        self.part, self.index = None, None
        self.random = random.Random(0)
        self._lock, self._turn = threading.RLock(), threading.RLock()
        self._clock = Clock(self._turn, self._late_failure)
        self._spoken = False
        self._writer, self._held = None, []
        self._due, self._resetting = None, None
        self._configured, self._ready = False, False
        self._handlers = _handlers_of(self)
        self._loop = Loop()
        return self

    def reset(self) -> Any:
        """Brings the system to its initial state; may be a coroutine."""

    def close(self) -> Any:
        """Lets go of the system; called when ioxide has left. May be a coroutine."""

    def emit(self, label: str, /, **args: Any) -> None:
        """Tells that the system sent a message; from any thread, at any time."""
        if self.outputs:
            _check_output({**self.outputs, **self.observed}, label, args)
        _check_exact({**self.outputs, **self.observed}.get(label) or {}, label, args)
        message = {"type": "output", "label": label, "args": args, "time_ns": time.monotonic_ns()}
        try:
            line = to_line(message)
        except (TypeError, ValueError) as error:
            raise UnsendableOutput(f"`{label}`: {error}") from None
        with self._lock:
            self._spoken = True
            if self._due is not None or self._is_of_reset():
                self._held.append(message)
            elif not self._ready:
                self.log(f"`{label}` was emitted before the system was ready: it belongs to no run and is not reported")
            else:
                self._write_line(line)

    def _is_of_reset(self) -> bool:
        """Whether the caller is the reset under way; what the event loop did before has ended by then."""
        is_here = self._resetting == threading.get_ident()
        return is_here or (self._resetting is not None and self._loop.is_current())

    def sent(self) -> None:
        """Says that the system has got the input being handled; later outputs come after it."""
        self._confirm({})

    def _confirm(self, more: Message) -> None:
        with self._lock:
            if self._due is not None:
                receipt, self._due = self._due, None
                self._write({"type": "sent", "id": receipt, "time_ns": time.monotonic_ns(), **more})
                self._release()

    def _outputs_to_come(self) -> Message:
        """The number of outputs after which it is certainly silent until the next input; nothing if that is not
        known."""
        if self._clock.is_virtual or not self._clock.is_idle():
            return {}
        is_known = self._is_alone() if self.synchronous is None else self.synchronous
        return {"outputs": len(self._held)} if is_known else {}

    def _is_alone(self) -> bool:
        """Whether nobody but the caller could emit something before the next message of ioxide comes."""
        if self.observed or self._loop.is_started():
            return False
        here = threading.current_thread()
        others = (thread for thread in threading.enumerate() if thread is not here)
        return all(waits(thread) or self._clock.is_served_by(thread) for thread in others)

    def after(self, seconds: Seconds, call: Callable[..., object], /, *args: Any) -> None:
        """Calls `call(*args)` that much later, unless the system is reset before.

        The time is that of this machine, or virtual. The call has the turn: no handler, reset or other such
        call runs meanwhile, so it should not wait for one.
        """
        self._clock.after(nanoseconds(seconds), lambda: call(*args))

    def now(self) -> Decimal:
        """Seconds since the system was reset, on the clock in use."""
        return Decimal(self._clock.now()).scaleb(-9)

    def log(self, text: str) -> None:
        """Tells people something; shown when a run goes wrong."""
        self._write({"type": "log", "text": text})

    def run(self, listen: Optional[str] = None) -> None:
        """Speaks on stdin and stdout, or to whoever connects to the address `HOST:PORT`."""
        if listen is None:
            self._run_stdio()
        else:
            self._run_tcp(listen)

    def talk(self, reader: TextIO, writer: TextIO) -> None:
        """One conversation, up to `bye` or the end of `reader`."""
        with self._lock:
            self._writer, self._configured, self._ready = writer, False, False
        try:
            self._write(self._hello())
            for line in reader:
                if line.strip() and not self._hear(line):
                    return
        except (BrokenPipeError, ConnectionError):
            pass
        finally:
            with self._turn:
                self._clock.stop()
            with self._lock:
                self._writer = None
            self._awaited(self.close())
            self._loop.stop()

    def _awaited(self, result: object) -> None:
        """Waits for a handler that is a coroutine."""
        if inspect.isawaitable(result):
            self._loop.run(result)

    def _run_stdio(self) -> None:
        reader, writer = sys.stdin, sys.stdout
        reader.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
        writer.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
        # What the system prints must not break the protocol.
        sys.stdout = sys.stderr
        try:
            self.talk(reader, writer)
        finally:
            sys.stdout = writer

    def _run_tcp(self, address: str) -> None:
        for connection in _connections(address):
            self._talk_on(connection)

    @classmethod
    def serve(cls, listen: str, *args: Any, **kwargs: Any) -> None:
        """Speaks to all who connect to the address `HOST:PORT` at once, to each with an adapter of its own.

        So one process has the connections of several parts; what they share is for the class to keep.
        """
        for connection in _connections(listen):
            adapter = cls(*args, **kwargs)
            threading.Thread(target=adapter._talk_on, args=(connection,), daemon=True).start()

    def _talk_on(self, connection: socket.socket) -> None:
        with connection:
            reader = connection.makefile("r", encoding="utf-8", errors="replace")
            writer = connection.makefile("w", encoding="utf-8", newline="\n")
            self.talk(reader, writer)

    def _hear(self, line: str) -> bool:
        """Acts on one line; False after `bye`."""
        try:
            message = from_line(line)
        except BadLine as bad:
            self._fail("refused", str(bad))
            return True
        kind = message["type"]
        if kind == "bye":
            self._write({"type": "bye"})
            return False
        if kind == "configure":
            self._configure(message)
        elif kind == "reset":
            self._reset()
        elif kind == "input":
            self._input(message)
        elif kind == "advance":
            self._advance(message)
        elif kind != "log":
            self._fail("refused", f"this adapter does not understand `{kind}`")
        return True

    def _configure(self, message: Message) -> None:
        is_virtual = message.get("virtual_time") is True
        if is_virtual and not self.virtual_time:
            self._fail("refused", "this adapter has no virtual time")
            return
        self.settings = message.get("settings") or {}
        self.instance = message.get("instance") or 0
        part = message.get("part") or {}
        self.part, self.index = part.get("name"), part.get("index")
        self.seed = message.get("seed")
        self.random = random.Random(self.seed)
        is_client = message.get("client") is True
        if is_client and not self.concurrent_clients:
            self._fail("refused", "this adapter has no concurrent clients")
            return
        self._configured = True
        self._reset(is_virtual, is_client)

    def _reset(self, is_virtual: Optional[bool] = None, is_client: bool = False) -> None:
        if not self._configured:
            self._fail("refused", "`configure` must come first")
            return
        with self._turn:
            self._clock.stop()
            if is_virtual is not None:
                self._clock.is_virtual = is_virtual
            with self._lock:
                self._held.clear()
                self._spoken, self._resetting = False, threading.get_ident()
            try:
                self._loop.cancel()
                # A client finds the system as it is.
                if not is_client:
                    self._awaited(self.reset())
            except Exception as error:
                traceback.print_exc()
                self._held.clear()
                self._fail("broken", f"reset: {_told(error)}")
            else:
                with self._lock:
                    self._clock.start()
                    self._write({"type": "ready", **self._outputs_to_come()})
                    self._ready = True
                    self._release()
            finally:
                self._resetting = None

    def _advance(self, message: Message) -> None:
        """Virtual time passes, up to the first instant at which something is emitted."""
        if not (self._configured and self._clock.is_virtual):
            self._fail("refused", "there is no virtual time here: `configure` did not ask for it")
            return
        now, to = self._clock.now(), message.get("to_ns")
        to = self._clock.next() or now if to is None else to
        if type(to) is not int or to < now:
            self._fail("refused", f"time cannot pass from {now} ns to {to!r} ns")
            return
        with self._turn:
            try:
                while not self._spoken and self._clock.step(to):
                    pass
            except Exception as error:
                self._late_failure(error)
                return
            with self._lock:
                if not self._spoken:
                    self._clock.move(to)
                self._spoken = False
                self._write(self._advanced(message))

    def _advanced(self, message: Message) -> Message:
        """How late it is and, if that was asked for, when something is due next."""
        told: Message = {"type": "advanced", "now_ns": self._clock.now()}
        due = self._clock.next() if message.get("foresee") is True else None
        return told if due is None else {**told, "next_ns": due}

    def _late_failure(self, error: Exception) -> None:
        """A call made later went wrong: nobody knows what the system does now."""
        traceback.print_exc()
        self._fail(_kind(error), f"a delayed call failed: {_told(error)}", error=error)

    def _input(self, message: Message) -> None:
        number = message.get("id")
        if not isinstance(number, int):
            self._fail("refused", "an `input` has an `id`")
            return
        try:
            handler, args = self._handler(message)
        except Refused as error:
            self._fail("refused", str(error), number)
            return
        with self._turn:
            with self._lock:
                self._due = number
            try:
                self._awaited(handler(**args))
            except Exception as error:
                self._failed(error, number)
            else:
                with self._lock:
                    self._confirm(self._outputs_to_come())

    def _handler(self, message: Message) -> "tuple[Callable[..., object], Dict[str, Any]]":
        if not self._configured:
            raise Refused("`configure` must come first")
        label, args = message.get("label"), message.get("args") or {}
        handler = self._handlers.get(label) if isinstance(label, str) else None
        if handler is None:
            names = ", ".join(f"`{name}`" for name in self._handlers) or "none"
            raise Refused(f"there is no input `{label}`; there is {names}")
        if not isinstance(args, dict):
            raise Refused(f"`{label}`: `args` must be an object")
        try:
            inspect.signature(handler).bind(**args)
        except TypeError as error:
            raise Refused(f"`{label}`: {error}") from None
        return handler, args

    def _failed(self, error: Exception, number: int) -> None:
        kind = _kind(error)
        if kind in ("unknown", "exception"):
            traceback.print_exc()
        with self._lock:
            self._due = None
            self._release()
            self._fail(kind, _told(error), number, error)

    def _release(self) -> None:
        held, self._held = self._held, []
        for message in held:
            self._write(message)

    def _fail(
        self, kind: str, text: str, number: Optional[int] = None, error: Optional[BaseException] = None
    ) -> None:
        message: Message = {"type": "error", "kind": kind, "text": text}
        if kind == "exception" and error is not None:
            calls = traceback.format_exception(type(error), error, error.__traceback__)
            message["traceback"] = "".join(calls).rstrip()
        if number is not None:
            message["id"] = number
        self._write(message)

    def _write(self, message: Message) -> None:
        self._write_line(to_line(message))

    def _write_line(self, line: str) -> None:
        with self._lock:
            if self._writer is not None:
                self._writer.write(line)
                self._writer.flush()

    def _hello(self) -> Message:
        inputs = [_label(name, "input", _fields(handler)) for name, handler in self._handlers.items()]
        outputs = [_label(name, "output", fields) for name, fields in self.outputs.items()]
        observed = [_label(name, "observed", fields) for name, fields in self.observed.items()]
        name, labels = self.name or type(self).__name__, inputs + observed + outputs
        hello = {"type": "hello", "protocol": PROTOCOL, "name": name, "labels": labels}
        if self.concurrent_clients:
            hello["clients"] = True
        return {**hello, "virtual_time": True, "foresight": True} if self.virtual_time else hello


def _connections(address: str) -> Iterator[socket.socket]:
    """Whoever connects to `address`, one after the other."""
    host, _, port = address.rpartition(":")
    with socket.create_server((host or "127.0.0.1", int(port))) as server:
        place = "{}:{}".format(*server.getsockname()[:2])
        print(f"listening on {place}", file=sys.stderr, flush=True)
        while True:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield connection


def _refuse_taken_names(cls: type) -> None:
    """A handler must not take the place of something that Adapter itself uses."""
    taken = {*dir(Adapter), *Adapter.__annotations__}
    for name, member in vars(cls).items():
        label = getattr(member, "_ioxide_label", None)
        if label is not None and name in taken:
            raise TypeError(
                f"the method that handles the input `{label}` is called `{name}`, which Adapter uses itself: "
                f'give the method another name, as in `@on_input("{label}") def on_{name.strip("_")}(self, ...)`'
            )


def _handlers_of(adapter: Adapter) -> Dict[str, Callable[..., object]]:
    found = _marked(adapter)
    return found if found else _named(adapter)


def _named(adapter: Adapter) -> Dict[str, Callable[..., object]]:
    """Every method that Adapter does not have, by its own name."""
    names = [name for name in dir(type(adapter)) if not name.startswith("_") and not hasattr(Adapter, name)]
    return {name: getattr(adapter, name) for name in names if inspect.isfunction(getattr(type(adapter), name))}


def _marked(adapter: Adapter) -> Dict[str, Callable[..., object]]:
    found: Dict[str, Callable[..., object]] = {}
    for name in dir(type(adapter)):
        label = getattr(getattr(type(adapter), name), "_ioxide_label", None)
        if label in found:
            raise TypeError(f"two methods handle the input `{label}`")
        if label is not None:
            found[label] = getattr(adapter, name)
    return found


def _check_output(outputs: Mapping[str, Mapping[str, str]], label: str, args: Mapping[str, Any]) -> None:
    if label not in outputs:
        raise UnsendableOutput(f"there is no output `{label}`; there is {', '.join(outputs)}")
    if set(outputs[label]) != set(args):
        raise UnsendableOutput(f"`{label}` has the fields {list(outputs[label])}, not {list(args)}")


def _check_exact(sorts: Mapping[str, str], label: str, args: Mapping[str, Any]) -> None:
    """Refuses whole floats beyond 2^53, which may have lost digits on their way here, unless the field is a real."""
    for field, value in args.items():
        for found in () if sorts.get(field) == "real" else _floats(value):
            if found.is_integer() and abs(found) > 2**53:
                raise UnsendableOutput(
                    f"`{label}.{field}`: {found} is beyond 2^53, where floats lose digits: compute with int, or give "
                    "the field a range in the model, as in `n: 0..100`"
                )


def _floats(value: Any) -> Iterator[float]:
    """The floats inside a value."""
    value = sendable(value)
    if isinstance(value, float):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _floats(inner)


def _label(name: str, direction: str, fields: Mapping[str, str]) -> Message:
    told = [{"name": field, "sort": sort} for field, sort in fields.items()]
    return {"label": name, "direction": direction, "fields": told}


_SORTS = {"int": "int", "bool": "bool", "str": "string", "Decimal": "real", "Fraction": "real"}


def _fields(handler: Callable[..., object]) -> Dict[str, str]:
    def sort(parameter: inspect.Parameter) -> str:
        hint = parameter.annotation
        name = hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))
        return "" if hint is inspect.Parameter.empty else _SORTS.get(name, name)

    return {name: sort(parameter) for name, parameter in inspect.signature(handler).parameters.items()}


def _kind(error: Exception) -> str:
    """What an exception of a handler means: any that is not one of ours is a fault of the system."""
    if isinstance(error, Refused):
        return "refused"
    if isinstance(error, Broken):
        return "broken"
    # An output that cannot be sent is a mistake of the adapter, and what the operating system reports (a connection
    # that is refused, a time-out) is trouble on the way: neither is a fault of the system.
    return "unknown" if isinstance(error, (UnsendableOutput, OSError)) else "exception"


def _told(error: Exception) -> str:
    known = isinstance(error, (Refused, Broken))
    return str(error) if known else f"{type(error).__name__}: {error}"
