"""A proxy before a mail server that plants one fault: python3 faulty.py PORT FAULT SERVER...

The faults are mistakes that servers make with pipelined commands:

flushes-input       a refused recipient empties the input buffer: commands that came with it are lost
trusts-the-first    every recipient after an accepted one is accepted
keeps-recipients    RSET forgets the sender only: the next message also goes to the old recipients
"""

import socket
import subprocess
import sys
import threading
import time


def read_reply(stream):
    """The bytes of the next reply, which may have several lines; nothing at the end."""
    reply = line = stream.readline()
    while line[3:4] == b"-":
        line = stream.readline()
        reply += line
    return reply


class Session:
    """One connection: commands go to the server one by one, each with its reply back."""

    def __init__(self, client, server, fault):
        self.client, self.server, self.fault = client, server, fault
        self.commands, self.replies = client.makefile("rb"), server.makefile("rb")
        self.accepted = self.kept = 0

    def ask(self, line):
        self.server.sendall(line)
        return read_reply(self.replies)

    def reply_to(self, line):
        """The reply that the client gets."""
        verb = line[:4].upper()
        if verb == b"RSET":
            if self.fault == "keeps-recipients":
                self.kept += self.accepted
            self.accepted = 0
        reply = self.ask(line)
        if verb == b"RCPT":
            if reply.startswith(b"550") and self.accepted and self.fault == "trusts-the-first":
                return b"250 OK\r\n"
            if reply.startswith(b"550") and self.fault == "flushes-input":
                self.flush_input()
            self.accepted += reply.startswith(b"250")
        return reply

    def flush_input(self):
        """Throws away the commands that have arrived."""
        self.client.setblocking(False)
        try:
            while self.commands.read1():
                pass
        except OSError:
            pass
        finally:
            self.client.setblocking(True)

    def deliver(self):
        """Passes on the text of a message."""
        line = b""
        while line not in (b".\r\n", b".\n"):
            line = self.commands.readline()
            if not line:
                return b""
            self.server.sendall(line)
        reply = read_reply(self.replies)
        if reply.startswith(b"250 delivered to"):
            reply = b"250 delivered to %d\r\n" % (int(reply.split()[-1]) + self.kept)
        self.accepted = self.kept = 0
        return reply

    def run(self):
        self.client.sendall(read_reply(self.replies))
        while line := self.commands.readline():
            reply = self.reply_to(line)
            self.client.sendall(reply)
            if reply.startswith(b"354"):
                self.client.sendall(self.deliver())


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


def serve(client, server_port, fault):
    with client, socket.create_connection(("127.0.0.1", server_port)) as server:
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            Session(client, server, fault).run()
        except (OSError, ValueError):
            pass


def main():
    port, fault = int(sys.argv[1]), sys.argv[2]
    server_port = started(sys.argv[3:])
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, server_port, fault), daemon=True).start()


main()
