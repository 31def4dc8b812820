#!/usr/bin/env python3
"""A door that shuts one second after it was opened or last held open; looking at it changes nothing.

door.py PORT [--late N]: every Nth answer comes a tenth of a second late, as on a busy machine.
"""
import argparse
import socketserver
import threading
import time

SECONDS_OPEN = 1.0


class Door(socketserver.StreamRequestHandler):
    """One connection: a door of its own."""

    def setup(self):
        super().setup()
        self.lock, self.timer = threading.Lock(), None

    def handle(self):
        for line in self.rfile:
            with self.lock:
                self.server.answers += 1
                if OPTIONS.late and self.server.answers % OPTIONS.late == 0:
                    time.sleep(0.1)
                self.say(self.answer(line.decode().strip()))

    def finish(self):
        with self.lock:
            self.stop()

    def answer(self, command):
        if command == "OPEN" or (command == "HOLD" and self.timer):
            self.stop()
            self.timer = threading.Timer(SECONDS_OPEN, self.shut)
            self.timer.start()
            return "OPENED" if command == "OPEN" else "HELD"
        return "IS OPEN" if self.timer else "IS SHUT"

    def shut(self):
        with self.lock:
            # A timer that was stopped while it waited for the lock is not the one of this door any more.
            if self.timer is threading.current_thread():
                self.timer = None
                self.say("SHUT")

    def stop(self):
        if self.timer:
            self.timer.cancel()
            self.timer = None

    def say(self, text):
        try:
            self.wfile.write(f"{text}\n".encode())
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    """All connections."""

    allow_reuse_address = True
    daemon_threads = True
    answers = 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--late", type=int, default=0)
    OPTIONS = parser.parse_args()
    Server(("127.0.0.1", OPTIONS.port), Door).serve_forever()
