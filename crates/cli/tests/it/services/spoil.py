"""Stands before a service and spoils one member of its JSON answers: `spoil.py PORT MEMBER COMMAND`.

`@PORT@` in COMMAND is the port of the service behind. A number becomes a text, anything else a number.
"""

import http.client
import http.server
import json
import socket
import subprocess
import sys
import time

LISTEN, MEMBER, COMMAND = int(sys.argv[1]), sys.argv[2], sys.argv[3]


def spoiled(value):
    """`value` with every MEMBER in it changed."""
    if isinstance(value, list):
        return [spoiled(item) for item in value]
    if isinstance(value, dict):
        return {key: wrong(item) if key == MEMBER else spoiled(item) for key, item in value.items()}
    return value


def wrong(value):
    return "seven" if isinstance(value, (int, float)) and not isinstance(value, bool) else 7


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length) if length else None
        headers = {key: value for key, value in self.headers.items() if key.lower() != "connection"}
        upstream = http.client.HTTPConnection("127.0.0.1", BEHIND, timeout=60)
        upstream.request(self.command, self.path, body, headers)
        answer = upstream.getresponse()
        text = answer.read()
        kind = answer.getheader("content-type") or ""
        if "json" in kind and text and not self.path.endswith("openapi.json"):
            text = json.dumps(spoiled(json.loads(text))).encode()
        self.send_response(answer.status)
        if kind:
            self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)
        upstream.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = forward

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def is_up(port):
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0


BEHIND = free_port()
service = subprocess.Popen(["sh", "-c", "exec " + COMMAND.replace("@PORT@", str(BEHIND))])
while not is_up(BEHIND):
    if service.poll() is not None:
        sys.exit("the service behind has ended")
    time.sleep(0.05)
try:
    http.server.ThreadingHTTPServer(("127.0.0.1", LISTEN), Proxy).serve_forever()
finally:
    service.terminate()
