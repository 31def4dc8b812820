"""Values of models that plain JSON has no word for: cases with fields, sets, maps with any keys."""

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Dict


class Case:
    """A case of an enum: `Case("error", code=3)`, or `Case("ok")` without fields."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, /, **fields: Any) -> None:
        self.name = name
        self.fields: Dict[str, Any] = fields

    @classmethod
    def of(cls, value: Any) -> "Case":
        """The case that came as `value`: a word, or an object with one key; ValueError for anything else."""
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, dict) and len(value) == 1:
            ((name, inner),) = value.items()
            if isinstance(inner, dict):
                case = cls(name)
                case.fields = inner
                return case
        raise ValueError(f"not a case of an enum: {value!r}")

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Case) and (self.name, self.fields) == (other.name, other.fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Case({', '.join([repr(self.name)] + [f'{key}={value!r}' for key, value in self.fields.items()])})"


def sendable(value: Any) -> Any:
    """The value with nothing in it but what JSON has, or what is a scalar.

    Sets and tuples become lists, dataclasses objects, cases words or objects with one key, and a dictionary whose keys
    are not all texts or values of an `Enum` a list of pairs.
    """
    if isinstance(value, Case):
        return {value.name: sendable(value.fields)} if value.fields else value.name
    if isinstance(value, dict):
        if all(isinstance(key, (str, Enum)) for key in value):
            return {key.name if isinstance(key, Enum) else key: sendable(item) for key, item in value.items()}
        return [[sendable(key), sendable(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [sendable(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: sendable(getattr(value, field.name)) for field in fields(value)}
    return value
