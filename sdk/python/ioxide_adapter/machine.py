"""A class that is a system under test: its methods are the inputs, what they return are the outputs.

    class TestBuffer(ioxide.Machine):
        model = "buffer.iox"

        def __init__(self):
            self.items = []

        def put(self, n: int):
            self.items.append(n)
            return "ok"

        def get(self):
            return ioxide.Output("value", n=self.items.pop(0)) if self.items else "empty"

Every run begins with a new object. In pytest, the arguments of `__init__` are fixtures and parameters.
"""

import functools
import inspect
from decimal import Decimal
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Type

from .adapter import Adapter, UnsendableOutput
from .clock import Seconds


class Output:
    """An output with its fields: `Output("value", n=3)`."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, /, **fields: Any) -> None:
        self.name = name
        self.fields: Dict[str, Any] = fields

    def __repr__(self) -> str:
        return f"Output({', '.join([repr(self.name)] + [f'{key}={value!r}' for key, value in self.fields.items()])})"


class Machine:
    """A system under test. Subclass it: `__init__`, one method for every input.

    A method returns the outputs it causes: the name of one without fields, an `Output`, a list of them, or None. It may
    be a coroutine. `emit` tells outputs at any time, from any thread.
    """

    model: str
    """The model, a path that is relative to the file of the test."""
    seeds: int = 1
    """The number of seeds of the usual tester; each is a test item."""
    purposes: bool = True
    """Whether the purposes of the model are test items."""
    args: "tuple[str, ...] | List[str]" = ()
    """More arguments of `ioxide test`."""
    values: Mapping[str, Any] = {}
    """The values of fields of inputs, by `input.field`: lists, or strategies of Hypothesis."""
    outputs: Mapping[str, Mapping[str, str]] = {}
    """As in `Adapter`."""
    observed: Mapping[str, Mapping[str, str]] = {}
    """As in `Adapter`."""
    virtual_time: bool = False
    """As in `Adapter`."""
    synchronous: Optional[bool] = None
    """As in `Adapter`."""

    _adapter: "Optional[MachineAdapter]" = None

    def emit(self, label: str, /, **args: Any) -> None:
        """Tells that the system sent a message; from any thread, at any time."""
        self._connection().emit(label, **args)

    def after(self, seconds: Seconds, call: Callable[..., object], /, *args: Any) -> None:
        """Calls `call(*args)` that much later, unless the run ends before."""
        self._connection().after(seconds, call, *args)

    def now(self) -> Decimal:
        """Seconds since the run began, on the clock in use."""
        return self._connection().now()

    def teardown(self) -> Any:
        """Lets go of what the object holds; called at the end of every run. May be a coroutine."""

    def _connection(self) -> "MachineAdapter":
        if self._adapter is None:
            raise RuntimeError(f"{type(self).__name__} is not connected: ioxide makes its objects")
        return self._adapter


class MachineAdapter(Adapter):
    """Speaks for a class that is a machine, with a new object in every run."""

    def __init__(
        self,
        machine: Type[Machine],
        arguments: Optional[Mapping[str, Any]] = None,
        make: Optional[Callable[[], Machine]] = None,
    ) -> None:
        """Speaks for objects of `machine`, made with `arguments` or by `make`."""
        self.name, self._machine, self._arguments, self._make = machine.__name__, machine, dict(arguments or {}), make
        self.outputs, self.observed = machine.outputs, machine.observed
        self.virtual_time, self.synchronous = machine.virtual_time, machine.synchronous
        self._object: Optional[Machine] = None
        self._handlers = {label: self._handler_of(method) for label, method in inputs_of(machine)}

    def reset(self) -> Any:
        ended, self._object = self._object, None
        result = ended.teardown() if ended is not None else None
        if inspect.isawaitable(result):
            return self._begin_after(result)
        self._begin()
        return None

    def close(self) -> Any:
        ended, self._object = self._object, None
        return ended.teardown() if ended is not None else None

    async def _begin_after(self, end: Any) -> None:
        await end
        self._begin()

    def _begin(self) -> None:
        if self._make is not None:
            self._object = self._make()
            self._object._adapter = self
            return
        machine = self._machine.__new__(self._machine)
        # The object may tell outputs as soon as it begins.
        machine._adapter = self
        machine.__init__(**self._arguments)  # type: ignore[misc]
        self._object = machine

    def _handler_of(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def handle(**args: Any) -> Any:
            result = method(self._object, **args)
            return self._tell_later(result) if inspect.isawaitable(result) else self._tell(result)

        parameters = list(inspect.signature(method).parameters.values())[1:]
        handle.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return handle

    async def _tell_later(self, result: Any) -> None:
        self._tell(await result)

    def _tell(self, result: Any) -> None:
        """Emits what a method returned."""
        for output in result if isinstance(result, (list, tuple)) else [result]:
            if isinstance(output, str):
                self.emit(output)
            elif isinstance(output, Output):
                self.emit(output.name, **output.fields)
            elif output is not None:
                raise UnsendableOutput(f"{output!r} is not an output: return its name or `Output(name, field=value)`")


def inputs_of(machine: Type[Machine]) -> "Iterator[tuple[str, Callable[..., Any]]]":
    """The methods that handle inputs: those marked by `on_input` and, without a leading underscore, all others."""
    for name in dir(machine):
        member = inspect.getattr_static(machine, name)
        if name.startswith("_") or hasattr(Machine, name) or not inspect.isfunction(member):
            continue
        yield getattr(member, "_ioxide_label", name), member
