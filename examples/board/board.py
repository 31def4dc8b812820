"""A board with two clients, each on a connection of its own. Standard library only.

python3 board.py PORT [--slow-bob MILLISECONDS] [--fault]

A client says who it is: HELLO alice, HELLO bob. What alice posts goes to bob first, as NOTE, then she is told
POSTED. Bob may MUTE and UNMUTE the board, and LEAVE: then his connection is closed. Whatever bob says and is told may
take its time. The fault: a muted board still passes on what is above five.
"""

import queue
import socket
import sys
import threading
import time

FAULT = "--fault" in sys.argv
SLOW = int(sys.argv[sys.argv.index("--slow-bob") + 1]) / 1000 if "--slow-bob" in sys.argv else 0

lock = threading.Lock()
board = {"muted": False}
clients = {}


def slowly(source, sink, seconds):
    """Hands everything on, in order, each thing so much later."""
    way = queue.Queue()

    def deliver():
        while True:
            due, thing = way.get()
            time.sleep(max(0, due - time.monotonic()))
            sink(thing)
            if thing is None:
                return

    threading.Thread(target=deliver, daemon=True).start()
    for thing in source:
        way.put((time.monotonic() + seconds, thing))
    way.put((time.monotonic() + seconds, None))


class Client:
    def __init__(self, connection):
        self.connection = connection
        self.words = queue.Queue()
        self.name = ""

    def say(self, words):
        self.words.put(words)

    def write(self, words):
        try:
            if words is None:
                self.connection.shutdown(socket.SHUT_RDWR)
            else:
                self.connection.sendall(words.encode() + b"\n")
        except OSError:
            pass  # It has hung up.

    def hear(self, line):
        if line is None:
            return
        with lock:
            if self.name and clients.get(self.name) is not self:
                return  # Of an earlier conversation.
            self.act(line)

    def act(self, line):
        word, *rest = line.split()
        if word == "POST":
            if not board["muted"] or FAULT and int(rest[0]) > 5:
                clients["bob"].say(f"NOTE {rest[0]}")
            self.say("POSTED")
        elif word in ("MUTE", "UNMUTE"):
            board["muted"] = word == "MUTE"
            self.say(f"{word}D")
        elif word == "LEAVE":
            board["muted"] = True
            self.say(None)

    def greet(self, name):
        with lock:
            self.name = name
            clients[name] = self
            if name == "alice":
                board["muted"] = False
        self.say("WELCOME")

    def serve(self):
        lines = iter(self.connection.makefile().readline, "")
        self.greet(next(lines, "").split()[-1])
        seconds = SLOW if self.name == "bob" else 0
        threading.Thread(target=slowly, args=(iter(self.words.get, ""), self.write, seconds), daemon=True).start()
        slowly(lines, self.hear, seconds)


def main():
    with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
        print("the board is there", flush=True)
        while True:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=Client(connection).serve, daemon=True).start()


main()
