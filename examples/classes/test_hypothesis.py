"""The same three classes against models in Python, with the stateful tests of Hypothesis."""

import os
from collections import OrderedDict

import classes
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

settings.register_profile("measured", deadline=None, database=None, suppress_health_check=list(HealthCheck))
settings.load_profile("measured")
SEED = int(os.environ.get("SEED", "1"))
# Few keys, so that some are equal: texts are drawn equal too seldom.
KEYS = st.sampled_from("abcdef")


class QueueMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.queue, self.items = classes.Queue(), []

    @rule(n=st.integers(0, 99))
    def put(self, n):
        has_room = len(self.items) < 4
        assert self.queue.put(n) == has_room
        if has_room:
            self.items.append(n)

    @rule()
    def get(self):
        assert self.queue.get() == (self.items.pop(0) if self.items else None)


class CacheMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.cache, self.values = classes.Cache(), OrderedDict()

    @rule(key=KEYS, n=st.integers(0, 99))
    def store(self, key, n):
        self.cache.store(key, n)
        self.values[key] = n
        self.values.move_to_end(key)
        if len(self.values) > 3:
            self.values.popitem(last=False)

    @rule(key=KEYS)
    def find(self, key):
        if key in self.values:
            self.values.move_to_end(key)
        assert self.cache.find(key) == self.values.get(key)


class AccountMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.account, self.cents, self.refusals = classes.Account(), 0, 0

    @rule(amount=st.integers(0, 100_000))
    def deposit(self, amount):
        self.cents += amount
        assert self.account.deposit(amount) == self.cents

    @rule(amount=st.integers(0, 100_000))
    def withdraw(self, amount):
        if self.refusals == 3:
            expected = "frozen"
        elif self.cents - amount < -10_000:
            expected, self.refusals = "refused", self.refusals + 1
        else:
            expected, self.refusals = "paid", 0
            self.cents -= amount
        assert self.account.withdraw(amount) == expected


TestQueue = seed(SEED)(QueueMachine.TestCase)
TestCache = seed(SEED)(CacheMachine.TestCase)
TestAccount = seed(SEED)(AccountMachine.TestCase)
