"""The system under test: a login over HTTP that locks after three wrong PINs.

Replace it by your own service: `ioxide.toml` says how it is started and what its requests and answers are.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

BUG = os.environ.get("BUG") == "1"  # the bug: the third wrong PIN does not lock


class Login(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    left = 3

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/reset":
            Login.left = 3
            self.answer(204)
        elif self.path == "/logout":
            self.answer(200, {"result": "bye"})
        else:
            self.log_in(json.loads(body)["pin"])

    def log_in(self, pin):
        if Login.left == 0:
            self.answer(423, {"result": "locked"})
        elif pin == 1234:
            Login.left = 3
            self.answer(200, {"result": "welcome"})
        else:
            Login.left -= 1
            if Login.left == 0 and not BUG:
                self.answer(423, {"result": "locked"})
            else:
                self.answer(401, {"result": "wrong", "left": Login.left})

    def answer(self, status, content=None):
        text = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        if status != 204:
            self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        """The record of ioxide has the requests."""


HTTPServer(("127.0.0.1", int(sys.argv[1])), Login).serve_forever()
