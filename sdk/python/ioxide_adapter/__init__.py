"""Connects a system to ioxide: subclass Machine or Adapter, handle inputs, emit outputs."""

from .adapter import Adapter, Broken, Refused, on_input
from .apps import AppAnswer, AsgiApp, WsgiApp
from .codec import PROTOCOL
from .machine import Machine, MachineAdapter, Output
from .values import Case

__all__ = [
    "Adapter",
    "AppAnswer",
    "AsgiApp",
    "Broken",
    "Case",
    "Machine",
    "MachineAdapter",
    "Output",
    "PROTOCOL",
    "Refused",
    "WsgiApp",
    "on_input",
]
