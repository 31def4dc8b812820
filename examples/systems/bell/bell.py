"""A call button and a bell, each on a connection of its own: python3 bell.py PORT

It keeps the time of this machine, or virtual time. FAULT=late has a bell that is slow when it is called again soon,
FAULT=dark a lamp that stays dark the third time.
"""

import os
import sys
import threading

from ioxide_adapter import Adapter, on_input

FAULT = os.environ.get("FAULT", "")
lock = threading.Lock()
parts = {}


class Ward(Adapter):
    virtual_time = True
    outputs = {"lit": {}, "ring": {}}

    def reset(self):
        with lock:
            parts[self.part] = self
            self.pressed, self.rang, self.is_called = 0, None, False

    @on_input("press")
    def press(self):
        if self.is_called:
            return
        self.is_called = True
        self.pressed += 1
        again = self.rang is not None and self.now() - self.rang < 1
        ring = "0.9" if FAULT == "late" and again else "0.5"
        if not (FAULT == "dark" and self.pressed == 3):
            self.after("0.6", self.light)
        self.after(ring, self.ring)

    def light(self):
        self.is_called = False
        self.emit("lit")

    def ring(self):
        self.rang = self.now()
        parts["bell"].emit("ring")


Ward.serve(f"127.0.0.1:{sys.argv[1]}")
