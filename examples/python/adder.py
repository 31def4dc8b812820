"""The adder of examples/adder.iox in Python, with a bug that can be switched on.

    ioxide test examples/adder.iox --sut 'stdio:python3 examples/python/adder.py'
    ioxide test examples/adder.iox --sut 'stdio:python3 examples/python/adder.py --fault'
"""

import sys

from ioxide_adapter import Adapter, on_input


class Adder(Adapter):
    """Answers the sum so far; stops once it is above 15."""

    outputs = {"outX": {"p": "int"}, "done": {}}

    def __init__(self, faulty: bool) -> None:
        self.faulty = faulty

    def reset(self) -> None:
        self.sum = 0
        self.is_done = False

    @on_input("inX")
    def add(self, p: int) -> None:
        if self.is_done or not 1 <= p <= 10:
            return
        self.sum += p
        # The bug: the carry into the tens is lost.
        self.emit("outX", p=self.sum % 10 if self.faulty else self.sum)
        if self.sum > 15:
            self.is_done = True
            self.emit("done")


if __name__ == "__main__":
    Adder("--fault" in sys.argv).run()
