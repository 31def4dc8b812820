"""The short name of the package: `import ioxide`, then `class TestBuffer(ioxide.Machine)`."""

from ioxide_adapter import Adapter, AppAnswer, AsgiApp, Broken, Case, Machine, Output, Refused, WsgiApp, on_input

__all__ = [
    "Adapter",
    "AppAnswer",
    "AsgiApp",
    "Broken",
    "Case",
    "Machine",
    "Output",
    "Refused",
    "WsgiApp",
    "on_input",
]
