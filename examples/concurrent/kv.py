"""A key-value server with a lock. KV_RACE names the race that it has; without it the server is correct.

Every change is appended to a log before it is acknowledged, so that a server that is killed and started again has
everything that it acknowledged. Small sleeps make the races likely.
"""

import os
import socketserver
import sys
import tempfile
import threading
import time

PORT = int(sys.argv[1])
RACE = os.environ.get("KV_RACE", "")
RACES = [
    "lost-update",
    "stale-cache",
    "torn-swap",
    "dirty-read",
    "early-answer",
    "double-retry",
    "lagging-copy",
    "shared-lock",
]
if RACE and RACE not in RACES:
    sys.exit(f"there is no race `{RACE}`; there are {', '.join(RACES)}")

# The time for which a race is open.
GAP = 0.002


class Store:
    """The data, the log that survives the process, and the lock."""

    def __init__(self, path):
        self.path = path
        self.mutex = threading.Lock()
        self.data = {}
        self.owner = None
        self.cache = {}
        self.copy = {}
        self.load()
        self.log = open(path, "a", encoding="ascii")

    def load(self):
        try:
            with open(self.path, encoding="ascii") as log:
                lines = log.read().split("\n")[:-1]  # The last line may be torn; it was not acknowledged.
        except FileNotFoundError:
            return
        for line in lines:
            word, *rest = line.split()
            if word == "set":
                self.data[rest[0]] = int(rest[1])
            elif word == "owner":
                self.owner = rest[0] if rest else None
        self.copy = dict(self.data)

    def write(self, line):
        self.log.write(line + "\n")
        self.log.flush()

    def set(self, key, value):
        if RACE == "early-answer":
            threading.Timer(0.05, self.write, [f"set {key} {value}"]).start()
        else:
            self.write(f"set {key} {value}")
        self.data[key] = value
        if RACE == "lagging-copy":
            threading.Timer(5 * GAP, self.copy.__setitem__, [key, value]).start()

    def set_owner(self, owner):
        self.write(f"owner {owner or ''}")
        self.owner = owner

    def reset(self):
        with self.mutex:
            time.sleep(6 * GAP if RACE == "lagging-copy" else 0)
            time.sleep(0.06 if RACE == "early-answer" else 0)
            self.log.close()
            self.log = open(self.path, "w", encoding="ascii")
            self.data, self.owner, self.cache, self.copy = {}, None, {}, {}
        return "done"

    def get(self, key):
        if RACE == "lagging-copy":
            return show(self.copy.get(key))
        if RACE == "dirty-read":
            return show(self.data.get(key))
        if RACE == "stale-cache":
            if key not in self.cache:
                value = self.data.get(key)
                time.sleep(GAP)
                self.cache[key] = value
            return show(self.cache[key])
        with self.mutex:
            return show(self.data.get(key))

    def put(self, key, value):
        with self.mutex:
            self.cache.pop(key, None)
            self.set(key, int(value))
        return "done"

    def cas(self, key, expected, new):
        if RACE == "torn-swap":
            if self.data.get(key) != int(expected):
                return "refused"
            time.sleep(GAP)
            return self.put(key, new).replace("done", "swapped")
        with self.mutex:
            before = self.data.get(key)
            if RACE == "dirty-read":
                self.data[key] = int(new)
                time.sleep(GAP)
                if before is None:
                    del self.data[key]
                else:
                    self.data[key] = before
            if before != int(expected):
                return "refused"
            self.cache.pop(key, None)
            self.set(key, int(new))
        return "swapped"

    def add(self, key):
        if RACE == "lost-update":
            total = self.data.get(key, 0) + 1
            time.sleep(GAP)
            self.put(key, total)
            return f"total {total}"
        with self.mutex:
            total = self.data.get(key, 0) + 1
            self.cache.pop(key, None)
            self.set(key, total)
        if RACE == "double-retry" and total % 5 == 3:
            # The first attempt seemed to be lost, and is made again.
            with self.mutex:
                self.set(key, self.data.get(key, 0) + 1)
        return f"total {total}"

    def acquire(self, owner):
        if RACE == "shared-lock":
            if self.owner is not None:
                return "busy"
            time.sleep(GAP)
            with self.mutex:
                self.set_owner(owner)
            return "granted"
        with self.mutex:
            if self.owner is not None:
                return "busy"
            self.set_owner(owner)
        return "granted"

    def release(self, owner):
        with self.mutex:
            if self.owner != owner:
                return "not yours"
            self.set_owner(None)
        return "released"


def show(value):
    return "none" if value is None else f"value {value}"


class Client(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            word, *rest = line.decode("ascii").split()
            self.wfile.write(getattr(STORE, word)(*rest).encode("ascii") + b"\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


STORE = Store(os.path.join(tempfile.gettempdir(), f"ioxide-kv-{PORT}.log"))
with Server(("127.0.0.1", PORT), Client) as server:
    server.serve_forever()
