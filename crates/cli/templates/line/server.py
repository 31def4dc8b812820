"""The system under test: a login over TCP, one line for each message, that locks after three wrong PINs.

Replace it by your own server: `ioxide.toml` says how it is started and what its lines are.
"""

import os
import socketserver
import sys

BUG = os.environ.get("BUG") == "1"  # the bug: the third wrong PIN does not lock


class Login(socketserver.StreamRequestHandler):
    def handle(self):
        left = 3
        for line in self.rfile:
            words = line.decode().split()
            if words[0] == "RESET":
                left, answer = 3, "OK"
            elif words[0] == "LOGOUT":
                answer = "BYE"
            elif left == 0:
                answer = "LOCKED"
            elif words[1] == "1234":
                left, answer = 3, "WELCOME"
            else:
                left -= 1
                answer = "LOCKED" if left == 0 and not BUG else f"WRONG {left}"
            self.wfile.write(answer.encode() + b"\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Login).serve_forever()
