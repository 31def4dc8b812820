"""A proxy before a beanstalkd that plants one fault: python3 faulty.py PORT FAULT SERVER..."""

import socket
import subprocess
import sys
import time


def command(stream):
    """The words of the next command and its body, if it has one; nothing at the end."""
    words = stream.readline().split()
    body = stream.read(int(words[4]) + 2) if words and words[0] == b"put" else b""
    return words, body


def answer(stream):
    """The bytes of the next answer."""
    line = stream.readline()
    words = line.split()
    has_body = words and words[0] in (b"RESERVED", b"FOUND")
    return line + (stream.read(int(words[2]) + 2) if has_body else b"")


def asked(fault, words):
    """The command the server gets."""
    if fault == "ignores-priority" and words[0] == b"put":
        return [words[0], b"0", *words[2:]]
    if fault == "kicks-all" and words[0] == b"kick":
        return [b"kick", b"1000"]
    if fault == "loses-on-release" and words[0] == b"release":
        return [b"delete", words[1]]
    return words


def told(fault, words, reply):
    """The answer the client gets."""
    if fault == "loses-on-release" and words[0] == b"release" and reply == b"DELETED\r\n":
        return b"RELEASED\r\n"
    if fault == "cuts-bodies" and reply.startswith(b"RESERVED"):
        head, _, body = reply.partition(b"\r\n")
        name, number, _ = head.split()
        body = body[:-2].decode()[:20].encode()
        return b"%s %s %d\r\n%s\r\n" % (name, number, len(body), body)
    return reply


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
        commands, answers = client.makefile("rb"), server.makefile("rb")
        while True:
            words, body = command(commands)
            if not words:
                return
            server.sendall(b" ".join(asked(fault, words)) + b"\r\n" + body)
            client.sendall(told(fault, words, answer(answers)))


def main():
    port, fault = int(sys.argv[1]), sys.argv[2]
    server_port = started(sys.argv[3:])
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        client, _ = listener.accept()
        try:
            serve(client, server_port, fault)
        except OSError:
            pass


main()
