"""A long campaign against a quick server with a late reply now and then: speed, memory and the size of the record,
minute by minute.

    soak.py IOXIDE MINUTES [ARGUMENT ...]

IOXIDE is the program; further arguments go to `ioxide test`. The server is a store behind lines of text that
answers at once, but every LATE_EVERY-th reply LATE seconds late.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

LATE_EVERY = 20_000
LATE = 0.045

MODEL = """model Store {
    type Key = 0..15
    type Number = 0..99
    input PUT(k: Key, v: Number)
    input GET(k: Key)
    input DEL(k: Key)
    output DONE
    output VALUE(v: Number)
    output NONE
    output GONE
    var store: map<Key, Number> = {}
    var wanted: Key = 0
    state ready {
        on PUT { store = store.with(k, v) } -> done
        on GET { wanted = k } -> asked
        on DEL when store.has(k) { store = store.without(k) } -> done
        on DEL when !store.has(k) -> gone
    }
    state done { emit DONE -> ready }
    state gone { emit GONE -> ready }
    state asked {
        emit VALUE(v: held) when let some(held) = store.get(wanted) -> ready
        emit NONE when !store.has(wanted) -> ready
    }
}
"""

PROJECT = """[sut.s]
kind = "text"
address = "127.0.0.1:{port}"
reset = "reconnect"
[sut.s.inputs]
PUT = "PUT {{k}} {{v}}"
GET = "GET {{k}}"
DEL = "DEL {{k}}"
[sut.s.outputs]
DONE = 'DONE'
GONE = 'GONE'
VALUE = 'VALUE (?P<v>[0-9]+)'
NONE = 'NONE'
"""


class Server:
    """Answers connections one after the other, and counts its replies."""

    def __init__(self):
        self.replies = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.talk(connection)

    def talk(self, connection):
        values = {}
        try:
            with connection, connection.makefile("r") as lines:
                for line in lines:
                    answer = self.answer(values, *line.split())
                    self.replies += 1
                    if self.replies % LATE_EVERY == 0:
                        time.sleep(LATE)
                    connection.sendall(answer.encode() + b"\n")
        except OSError:
            pass

    @staticmethod
    def answer(values, word, key, value=None):
        if word == "PUT":
            values[key] = value
            return "DONE"
        if word == "GET":
            return f"VALUE {values[key]}" if key in values else "NONE"
        return "DONE" if values.pop(key, None) is not None else "GONE"


def memory_mb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main():
    program, minutes, more = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "store.iox").write_text(MODEL)
        Path(folder, "ioxide.toml").write_text(PROJECT.format(port=server.port))
        command = [program, "test", "store.iox", "--sut", "s", "--seed", "1", "--report", "runs"]
        command += ["--for", f"{minutes}min"]
        record = Path(folder, "runs", "campaign.jsonl")
        with open(Path(folder, "output"), "w+", encoding="utf-8") as output:
            child = subprocess.Popen([*command, *more], cwd=folder, stdout=output, stderr=subprocess.STDOUT)
            print("minute  replies/s  memory MB  record MB", flush=True)
            for minute in range(1, minutes + 1):
                before, began = server.replies, time.monotonic()
                time.sleep(58 if minute == minutes else 60)
                if child.poll() is not None:
                    break
                speed = (server.replies - before) / (time.monotonic() - began)
                size = record.stat().st_size / 1e6
                print(f"{minute:>6} {speed:>10.0f} {memory_mb(child.pid):>10.1f} {size:>10.1f}", flush=True)
            code, began = child.wait(), time.monotonic()
            output.seek(0)
            print(output.read())
            pages = ", ".join(
                f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in sorted(record.parent.iterdir())
            )
            print(f"exit code {code}; {server.replies} replies; {pages}")


if __name__ == "__main__":
    main()
