"""A lock that asks for a number that fits the one it said; with --deaf it opens to whatever is loud."""

import random
import sys

from ioxide_adapter import Adapter, on_input


class Lock(Adapter):
    outputs = {"challenge": {"n": "int"}, "open": {}, "shut": {}}

    @on_input("knock")
    def knock(self):
        self.n = random.randrange(1_000_001)
        self.emit("challenge", n=self.n)

    @on_input("answer")
    def answer(self, m, loud):
        fits = m > self.n and m % 7 == self.n % 7 and loud == (self.n > 500)
        self.emit("open" if fits and "--deaf" not in sys.argv else "shut")


Lock().run()
