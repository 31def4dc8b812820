"""Connects a system to ioxide: subclass Adapter, handle inputs, emit outputs, run."""

from .adapter import Adapter, Broken, Refused, on_input
from .apps import AppAnswer, AsgiApp, WsgiApp
from .codec import PROTOCOL
from .values import Case

__all__ = ["Adapter", "AppAnswer", "AsgiApp", "Broken", "Case", "PROTOCOL", "Refused", "WsgiApp", "on_input"]
