"""A proxy before a memcached that plants one fault: python3 faulty.py PORT FAULT SERVER..."""

import socket
import subprocess
import sys
import time

STORING = (b"set", b"add", b"replace", b"append", b"prepend")


def command(stream):
    """The words of the next command and its data, if it has some; nothing at the end."""
    words = stream.readline().split()
    data = stream.read(int(words[4]) + 2) if words and words[0] in STORING else b""
    return words, data


def answer(stream):
    """The bytes of the next answer."""
    found = line = stream.readline()
    while line.startswith(b"VALUE "):
        found += stream.read(int(line.split()[3]) + 2)
        line = stream.readline()
        found += line
    return found


def asked(fault, words):
    """The command the server gets."""
    if fault == "replaces-on-add" and words[0] == b"add":
        return [b"set", *words[1:]]
    if fault == "appends-in-front" and words[0] == b"append":
        return [b"prepend", *words[1:]]
    return words


def told(fault, words, reply):
    """The answer the client gets."""
    if fault == "keeps-the-first" and words[0] == b"get" and reply.count(b"VALUE ") > 1:
        _, _, length = reply.split(b"\r\n")[0].rpartition(b" ")
        end = reply.index(b"\r\n") + 2 + int(length) + 2
        return reply[:end] + b"END\r\n"
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
            words, data = command(commands)
            if not words:
                return
            server.sendall(b" ".join(asked(fault, words)) + b"\r\n" + data)
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
