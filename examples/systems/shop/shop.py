"""A small restaurant on three connections: python3 shop.py PORT. With FAULT set, a full kitchen cooks the newest
order first."""

import os
import sys
import threading

from ioxide_adapter import Adapter, on_input

lock = threading.Lock()
tickets, waiting = [], []
parts = {}


def note():
    """Orders become tickets as long as there is room."""
    while waiting and len(tickets) < 3:
        tickets.append(waiting.pop(0))
        parts["desk"].emit("accepted", n=tickets[-1])


class Shop(Adapter):
    def reset(self):
        with lock:
            tickets.clear()
            waiting.clear()
            parts[self.part] = self

    @on_input("order")
    def order(self, n):
        with lock:
            waiting.append(n)
            note()

    @on_input("ring")
    def ring(self):
        with lock:
            if not tickets:
                self.emit("idle")
                return
            newest = "FAULT" in os.environ and len(tickets) > 2
            n = tickets.pop(-1 if newest else 0)
            self.emit("cooked", n=n)
            parts["counter"].emit("call", n=n)
            note()


Shop.serve(f"127.0.0.1:{sys.argv[1]}")
