"""The three classes against their models."""

import classes
import ioxide


class TestQueue(ioxide.Machine):
    model = "queue.iox"

    def __init__(self):
        self.queue = classes.Queue()

    def put(self, n: int):
        return ioxide.Output("stored", done=self.queue.put(n))

    def get(self):
        return ioxide.Output("got", n=self.queue.get())


class TestCache(ioxide.Machine):
    model = "cache.iox"

    def __init__(self):
        self.cache = classes.Cache()

    def store(self, key: str, n: int):
        self.cache.store(key, n)
        return "stored"

    def find(self, key: str):
        return ioxide.Output("found", n=self.cache.find(key))


class TestAccount(ioxide.Machine):
    model = "account.iox"

    def __init__(self):
        self.account = classes.Account()

    def deposit(self, amount: int):
        return ioxide.Output("balance", now=self.account.deposit(amount))

    def withdraw(self, amount: int):
        return ioxide.Output("answer", word=self.account.withdraw(amount))
