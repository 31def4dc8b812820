"""The system under test: a login with binary messages over TCP that locks after three wrong PINs.

A message is a byte with the length of the rest, a byte with the kind, and its fields. Replace it by your own server:
`ioxide.toml` says how it is started and what its messages are.
"""

import os
import socketserver
import sys

BUG = os.environ.get("BUG") == "1"  # the bug: the third wrong PIN does not lock


class Login(socketserver.StreamRequestHandler):
    def handle(self):
        left = 3
        while length := self.rfile.read(1):
            kind, *fields = self.rfile.read(length[0])
            if kind == 0x7F:  # a reset
                left, answer = 3, b"\xff"
            elif kind == 0x02:
                answer = b"\x84"
            elif left == 0:
                answer = b"\x83"
            elif int.from_bytes(fields, "big") == 1234:
                left, answer = 3, b"\x81"
            else:
                left -= 1
                answer = b"\x83" if left == 0 and not BUG else bytes([0x82, left])
            self.wfile.write(bytes([len(answer)]) + answer)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Login).serve_forever()
