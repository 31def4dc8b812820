"""Connects a system to ioxide: subclass Adapter, handle inputs, emit outputs, run."""

from .adapter import Adapter, Broken, Refused, on_input
from .apps import AppAnswer, AsgiApp, WsgiApp
from .codec import PROTOCOL

__all__ = ["Adapter", "AppAnswer", "AsgiApp", "Broken", "PROTOCOL", "Refused", "WsgiApp", "on_input"]
