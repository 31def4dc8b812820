"""A proxy before a Redis server that plants one fault in what subscribers hear: python3 pubsub.py PORT FAULT
SERVER..."""

import socket
import sys
import threading

from behind import started


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


def forward(client, server):
    """What the client says goes to the server as it is."""
    try:
        while data := client.recv(4096):
            server.sendall(data)
    except OSError:
        pass
    server.close()


def serve(client, server_port, fault):
    with client, socket.create_connection(("127.0.0.1", server_port)) as server:
        threading.Thread(target=forward, args=(client, server), daemon=True).start()
        answers = server.makefile("rb")
        try:
            while reply := answer(answers):
                client.sendall(told(fault, reply))
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
