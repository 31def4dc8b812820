"""A proxy before a chat server that plants one fault: python3 faulty.py PORT FAULT CONFIGURATION

remembers-op    who was an operator is one again after coming back
loses-topic     who comes back a second time is not told the topic
hides-drops     nobody is told that a connection was cut
"""

import socket
import struct
import subprocess
import sys
import threading
import time

# The people who were made operators, and the number of times that each has joined.
OPERATORS = set()
JOINS = {}


def to_server(line):
    """The line that the server gets, as it is; operators are noted. With bert a new channel begins."""
    if line.startswith(b"NICK bert"):
        OPERATORS.clear()
        JOINS.clear()
    if line.startswith(b"MODE #x +o "):
        OPERATORS.add(line.split()[3])
    return line


def to_client(fault, line):
    """The line that the client gets; nothing if it gets none."""
    words = line.split()
    if fault == "remembers-op" and words[1] == b"353" and words[2] in OPERATORS:
        return line.replace(b":" + words[2] + b" ", b":@" + words[2] + b" ")
    if words[1] == b"332":
        JOINS[words[2]] = JOINS.get(words[2], 0) + 1
        if fault == "loses-topic" and JOINS[words[2]] > 1:
            return b""
    if fault == "hides-drops" and words[1] == b"QUIT" and b"error" in line:
        return b""
    return line


def forward(source, target, change):
    """Passes on lines until one side closes; a connection that is cut is cut on the other side as well."""
    is_cut = False
    try:
        for line in source.makefile("rb"):
            target.sendall(change(line))
    except OSError:
        is_cut = True
    if is_cut:
        target.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for end in (source, target) if is_cut else (target,):
        try:
            end.close() if is_cut else end.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def started(path):
    """The port of a server with a configuration at `path`."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with open("ngircd.conf") as template, open(path, "w") as configuration:
            configuration.write(template.read().replace("PORT", str(port)))
        server = subprocess.Popen(["ngircd", "-n", "-f", path])
        # It ends if somebody else has taken the port meanwhile.
        while server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return port
            except OSError:
                time.sleep(0.01)


def main():
    port, fault = int(sys.argv[1]), sys.argv[2]
    server_port = started(sys.argv[3])
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", server_port))
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for ends in [
            (client, server, to_server),
            (server, client, lambda line: to_client(fault, line)),
        ]:
            threading.Thread(target=forward, args=ends, daemon=True).start()


main()
