"""A bus: every line that somebody publishes goes to everybody who listens.

    python3 bus.py PORT [--loud]

With --loud the second listener gets long lines in capitals: a fault for ioxide to find.
"""

import socketserver
import sys
import threading

LOUD = "--loud" in sys.argv
listeners = []
lock = threading.Lock()


class Connection(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write(f"{line}\n".encode())

    def handle(self):
        for line in self.rfile:
            word, _, text = line.decode().rstrip("\n").partition(" ")
            if word == "LISTEN":
                self.number = int(text)
                with lock:
                    listeners.append(self)
                self.say("LISTENING")
            elif word == "PUBLISH":
                self.publish(text)
        with lock:
            if self in listeners:
                listeners.remove(self)

    def publish(self, text):
        with lock:
            for listener in listeners:
                shout = LOUD and listener.number == 2 and len(text) > 5
                try:
                    listener.say(f"NEWS {text.upper() if shout else text}")
                except OSError:
                    pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Server(("127.0.0.1", int(sys.argv[1])), Connection) as server:
    print("the bus is there", flush=True)
    server.serve_forever()
