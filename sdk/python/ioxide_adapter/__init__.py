"""Connects a system to ioxide: subclass Adapter, handle inputs, emit outputs, run."""

from .adapter import Adapter, Broken, Refused, on_input
from .codec import PROTOCOL
from .values import Case

__all__ = ["Adapter", "Broken", "Case", "PROTOCOL", "Refused", "on_input"]
