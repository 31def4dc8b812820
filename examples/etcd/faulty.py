"""A proxy before an etcd that plants one fault: python3 faulty.py PORT FAULT SERVER...

forgets-lease   a key that exists already is not added to the lease it is put with
keeps-lease     a key that is put without a lease stays with the lease it had
counts-on       the version of a key goes on where it was, if the key is deleted and made again
"""

import http.client
import json
import socket
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULT = sys.argv[2]
# The number of times that each key was put.
PUTS = {}


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def ask(self, path, body):
        """The status and the body of the server's reply."""
        server = http.client.HTTPConnection("127.0.0.1", SERVER_PORT)
        try:
            server.request(self.command, path, body, {"Content-Type": "application/json"})
            reply = server.getresponse()
            return reply.status, reply.read()
        finally:
            server.close()

    def put(self, put):
        has_key = b'"kvs"' in self.ask("/v3/kv/range", json.dumps({"key": put["key"]}))[1]
        if FAULT == "forgets-lease" and "lease" in put and has_key:
            del put["lease"]
        elif FAULT == "keeps-lease" and "lease" not in put and has_key:
            put["ignore_lease"] = True
        status, body = self.ask(self.path, json.dumps(put))
        if status == 200:
            PUTS[put["key"]] = PUTS.get(put["key"], 0) + 1
        return status, body

    def get(self, query):
        status, body = self.ask(self.path, json.dumps(query))
        reply = json.loads(body)
        for entry in reply.get("kvs", []) if FAULT == "counts-on" else []:
            entry["version"] = str(PUTS.get(entry["key"], 0))
        return status, json.dumps(reply, separators=(",", ":")).encode()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/v3/kv/put":
            reply = self.put(json.loads(body))
        elif self.path == "/v3/kv/range":
            reply = self.get(json.loads(body))
        else:
            reply = self.ask(self.path, body)
        self.answer(*reply)

    def do_GET(self):
        self.answer(*self.ask(self.path, None))

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def started(command):
    """The port at which the server that `command` starts listens; `{port}` in it is a free one."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = subprocess.Popen([word.replace("{port}", str(port)) for word in command])
        # It ends if somebody else has taken the port meanwhile.
        while server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return port
            except OSError:
                time.sleep(0.01)


SERVER_PORT = started(sys.argv[3:])
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Proxy).serve_forever()
