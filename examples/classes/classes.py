"""Three classes to test. With FAULT=1 in the environment each has one fault."""

import os
from typing import Dict, List, Optional

FAULT = os.environ.get("FAULT") == "1"


class Queue:
    """A queue with room for four numbers, in a ring."""

    def __init__(self) -> None:
        self.cells: List[int] = [0] * 4
        self.head = self.size = 0

    def put(self, n: int) -> bool:
        if self.size == 4:
            return False
        self.cells[(self.head + self.size) % 4] = n
        self.size += 1
        return True

    def get(self) -> Optional[int]:
        if self.size == 0:
            return None
        n = self.cells[self.head]
        # The fault: the ring is taken to be one cell shorter once it was full.
        self.head = (self.head + 1) % (3 if FAULT and self.size == 4 else 4)
        self.size -= 1
        return n


class Cache:
    """A cache with room for three keys, which forgets the one that was not used for the longest time."""

    def __init__(self) -> None:
        self.values: Dict[str, int] = {}

    def store(self, key: str, n: int) -> None:
        # The fault: writing a key again does not count as using it.
        if not (FAULT and key in self.values):
            self.values.pop(key, None)
        self.values[key] = n
        if len(self.values) > 3:
            del self.values[next(iter(self.values))]

    def find(self, key: str) -> Optional[int]:
        if key not in self.values:
            return None
        n = self.values.pop(key)
        self.values[key] = n
        return n


class Account:
    """An account in cents that may be overdrawn by 10,000, and is frozen after three refusals in a row."""

    def __init__(self) -> None:
        self.balance, self.refusals = 0, 0

    def deposit(self, amount: int) -> int:
        self.balance += amount
        return self.balance

    def withdraw(self, amount: int) -> str:
        if self.refusals == 3:
            return "frozen"
        if self.balance - amount < -10_000:
            self.refusals += 1
            return "refused"
        self.balance -= amount
        # The fault: an account that is overdrawn keeps its count of refusals.
        if not (FAULT and self.balance < 0):
            self.refusals = 0
        return "paid"
