"""A proxy before a Redis server that plants one fault: python3 faulty.py PORT FAULT SERVER..."""

import socket
import sys

from behind import started


def words(stream):
    """The words of the next command, an array of bulk strings or a line; nothing at the end."""
    line = stream.readline().rstrip(b"\r\n")
    if not line.startswith(b"*"):
        return line.split()
    found = []
    for _ in range(int(line[1:])):
        length = int(stream.readline()[1:])
        found.append(stream.read(length + 2)[:-2])
    return found


def answer(stream):
    """The bytes of the next answer."""
    line = stream.readline()
    kind, rest = line[:1], line[1:].strip()
    if kind == b"$" and rest != b"-1":
        return line + stream.read(int(rest) + 2)
    parts = {b"*": 1, b"~": 1, b"%": 2}.get(kind, 0) * int(rest or b"0") if kind in b"*~%" else 0
    return line + b"".join(answer(stream) for _ in range(parts))


def asked(fault, command):
    """The command the server gets."""
    name = command[0].upper() if command else b""
    if fault == "pops-the-tail" and name == b"LPOP":
        return [b"RPOP", *command[1:]]
    if fault == "keeps-expiry" and name == b"SET" and len(command) == 3:
        return [*command, b"KEEPTTL"]
    if fault == "removes-two" and name == b"HDEL":
        return [*command, b"f1" if command[2] != b"f1" else b"f2"]
    if fault == "drops-the-last" and name == b"EXEC":
        return [b"DISCARD"]
    if fault == "no-expiry" and name in (b"EXPIRE", b"PEXPIRE"):
        return [b"EXISTS", command[1]]
    if fault == "expires-late" and name == b"PEXPIRE" and int(command[2]) > 0:
        return [*command[:2], b"%d" % (int(command[2]) + 1000)]
    if fault == "seconds-for-milliseconds" and name == b"PEXPIRE":
        return [b"EXPIRE", *command[1:]]
    if fault == "append-persists" and name == b"APPEND":
        return script(b"redis.call('PERSIST', KEYS[1]) return redis.call('APPEND', KEYS[1], ARGV[1])", command)
    if fault == "persist-forgets" and name == b"PERSIST":
        return script(b"return redis.call('PTTL', KEYS[1]) >= 0 and 1 or 0", command)
    if fault == "ttl-rounds-down" and name == b"TTL":
        return script(
            b"local left = redis.call('PTTL', KEYS[1]) return left < 0 and left or math.floor(left / 1000)", command
        )
    return command


def script(text, command):
    """A command that runs a script with the key and the values of another one."""
    return [b"EVAL", text, b"1", *command[1:]]


def told(fault, command, reply):
    """The answer the client gets."""
    name = command[0].upper() if command else b""
    if fault == "counts-duplicates" and name == b"SADD" and reply.startswith(b":"):
        return b":%d\r\n" % (len(command) - 2)
    if fault == "removes-two" and name == b"HDEL" and reply == b":2\r\n":
        return b":1\r\n"
    if fault == "nil-for-wrong-type" and name == b"HGET" and reply.startswith(b"-WRONGTYPE"):
        return b"_\r\n"
    return reply


def serve(client, server_port, fault):
    with client, socket.create_connection(("127.0.0.1", server_port)) as server:
        commands, answers = client.makefile("rb"), server.makefile("rb")
        while True:
            command = words(commands)
            if not command:
                return
            sent = asked(fault, command)
            parts = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in sent)
            server.sendall(b"*%d\r\n%s" % (len(sent), parts))
            client.sendall(told(fault, command, answer(answers)))


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
