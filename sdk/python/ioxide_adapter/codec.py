"""Messages as lines of JSON, exact: integers of any size, reals as Decimal or Fraction, collections and cases."""

import json
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Dict

from .values import sendable

PROTOCOL = 1
"""The version of the protocol spoken here."""

Message = Dict[str, Any]


class BadLine(Exception):
    """A line that is not a message."""


def to_line(message: Message) -> str:
    """The message as one line, end mark included."""
    return json.dumps(sendable(message), default=_plain, allow_nan=False) + "\n"


def from_line(line: str) -> Message:
    """The message of a line; BadLine says what is wrong with it."""
    try:
        message = json.loads(line, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"not JSON: {error}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise BadLine("not a message: expected a JSON object with a `type`")
    return message


def _refuse(name: str) -> Any:
    raise ValueError(f"`{name}` is not a number")


def _plain(value: object) -> Any:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (Decimal, Fraction)):
        exact = Fraction(value)
        # A whole number is one; what has no exact form in JSON is a fraction.
        return exact.numerator if exact.denominator == 1 else f"{exact.numerator}/{exact.denominator}"
    raise TypeError(f"a value of type `{type(value).__name__}` cannot be sent: {value!r}")
