"""A proxy before a Redis server that plants one fault in what subscribers hear: python3 pubsub.py PORT SOCKET FAULT."""

import socket
import sys
import threading
import time


def answer(stream):
    """The bytes of the next answer, nothing at the end."""
    line = stream.readline()
    kind, rest = line[:1], line[1:].strip()
    if kind == b"$" and rest != b"-1":
        return line + stream.read(int(rest) + 2)
    parts = int(rest) if kind == b"*" else 0
    return line + b"".join(answer(stream) for _ in range(parts))


def told(fault, reply):
    """What the client hears instead of `reply`."""
    words = reply.split(b"\r\n")
    if len(words) < 7 or words[2] != b"message":
        return reply
    text = words[6]
    if fault == "loses-long-lines" and len(text) > 5:
        return b""
    if fault == "repeats-short-lines" and len(text) < 3:
        return reply + reply
    return reply


def connected(path):
    """A connection to the server, which may not listen yet."""
    while True:
        try:
            server = socket.socket(socket.AF_UNIX)
            server.connect(path)
            return server
        except OSError:
            time.sleep(0.01)


def forward(client, server):
    """What the client says goes to the server as it is."""
    try:
        while data := client.recv(4096):
            server.sendall(data)
    except OSError:
        pass
    server.close()


def serve(client, path, fault):
    with client, connected(path) as server:
        threading.Thread(target=forward, args=(client, server), daemon=True).start()
        answers = server.makefile("rb")
        try:
            while reply := answer(answers):
                client.sendall(told(fault, reply))
        except (OSError, ValueError):
            pass


def main():
    port, path, fault = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, path, fault), daemon=True).start()


main()
