#!/usr/bin/env python3
"""A server that hands out a token for a name; who gives it back may read and log out.

tokens.py PORT [--many N] [--renew] [--number] [--flaky N]: N sessions at a time, one if not said; with --renew, reading
hands out a new token; with --number, tokens are numbers that begin again with every connection; with --flaky N,
every Nth message is denied, whatever it is.
"""
import argparse
import secrets
import socketserver


class Session(socketserver.StreamRequestHandler):
    """One connection: its own users by their tokens."""

    def setup(self):
        super().setup()
        self.users, self.made = {}, 0

    def handle(self):
        for line in self.rfile:
            command, _, value = line.decode().rstrip("\r\n").partition(" ")
            self.server.messages += 1
            is_flaky = OPTIONS.flaky and self.server.messages % OPTIONS.flaky == 0
            answer = "DENIED" if is_flaky else self.answer(command, value)
            self.wfile.write(f"{answer}\n".encode())

    def answer(self, command, value):
        if command == "LOGIN" and len(self.users) < OPTIONS.many:
            return self.new(value)
        if command == "READ" and value in self.users:
            return self.new(self.users.pop(value)) if OPTIONS.renew else f"PAGE {self.users[value]}"
        if command == "LOGOUT" and value in self.users:
            del self.users[value]
            return "BYE"
        return "DENIED"

    def new(self, user):
        self.made += 1
        token = f"s{self.made}" if OPTIONS.number else secrets.token_hex(8)
        self.users[token] = user
        return f"SESSION {token}"


class Server(socketserver.ThreadingTCPServer):
    """All connections."""

    allow_reuse_address = True
    daemon_threads = True
    messages = 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--many", type=int, default=1)
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--number", action="store_true")
    parser.add_argument("--flaky", type=int, default=0)
    OPTIONS = parser.parse_args()
    with Server(("127.0.0.1", OPTIONS.port), Session) as server:
        server.serve_forever()
