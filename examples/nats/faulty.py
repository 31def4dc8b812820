"""A proxy before a NATS server that plants one fault: python3 faulty.py PORT FAULT SERVER...

forgets-group   workers are subscribed without their group: each of them gets every job
ignores-limit   a worker that wants a number of jobs gets more
cuts-jobs       a job of more than 20 bytes loses the rest
"""

import socket
import subprocess
import sys
import threading
import time


def read_message(stream):
    """The words of the next line, and its payload if it has one; no words at the end."""
    words = stream.readline().split()
    has_payload = words and words[0] in (b"PUB", b"MSG")
    return words, stream.read(int(words[-1]) + 2)[:-2] if has_payload else None


def to_server(fault, words, payload):
    """The message that the server gets; no words if it gets none."""
    if fault == "forgets-group" and words[0] == b"SUB" and len(words) == 4:
        return [words[0], words[1], words[3]], payload
    if fault == "ignores-limit" and words[0] == b"UNSUB" and len(words) == 3:
        return [], None
    if fault == "cuts-jobs" and words[0] == b"PUB" and len(payload) > 20:
        return [*words[:-1], b"20"], payload[:20]
    return words, payload


def forward(source, target, change):
    """Passes on messages until one side closes."""
    try:
        stream = source.makefile("rb")
        while True:
            words, payload = read_message(stream)
            if not words:
                break
            words, payload = change(words, payload)
            if words:
                target.sendall(b" ".join(words) + b"\r\n" + (b"" if payload is None else payload + b"\r\n"))
    except (OSError, ValueError):
        pass
    for one in (source, target):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
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


def main():
    port, fault = int(sys.argv[1]), sys.argv[2]
    server_port = started(sys.argv[3:])
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", server_port))
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for ends in [
            (client, server, lambda words, payload: to_server(fault, words, payload)),
            (server, client, lambda words, payload: (words, payload)),
        ]:
            threading.Thread(target=forward, args=ends, daemon=True).start()


main()
