"""A proxy before a name server that plants one fault: python3 faulty.py PORT FAULT SERVER...

lowers-names    the answer repeats the name in small letters
no-such-kind    a name without data of the kind that was asked for does not exist
small-numbers   the number of a question has fifteen bits
"""

import socket
import subprocess
import sys
import threading
import time


def change(fault, reply):
    """The bytes that the client gets."""
    host = slice(13, 13 + reply[12])
    if fault == "lowers-names":
        return reply[: host.start] + reply[host].lower() + reply[host.stop :]
    if fault == "no-such-kind" and reply[3] & 15 == 0 and reply[6:8] == b"\0\0":
        return reply[:3] + bytes([reply[3] | 3]) + reply[4:]
    if fault == "small-numbers":
        return bytes([reply[0] & 0x7F]) + reply[1:]
    return reply


def started(command):
    """The address of the server that `command` starts; `{port}` in it is a free port."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            address = free.getsockname()
        server = subprocess.Popen([word.replace("{port}", str(address[1])) for word in command])
        # It ends if somebody else has taken the port meanwhile, and has TCP at the same port.
        while server.poll() is None:
            try:
                socket.create_connection(address).close()
                return address
            except OSError:
                time.sleep(0.01)


def main():
    port, fault = int(sys.argv[1]), sys.argv[2]
    server = started(sys.argv[3:])
    proxy = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    proxy.bind(("127.0.0.1", port))
    # Every client has a socket to the server, so that replies find their way.
    ways = {}

    def answer(way, client):
        while reply := way.recv(4096):
            proxy.sendto(change(fault, reply), client)

    while True:
        question, client = proxy.recvfrom(4096)
        if client not in ways:
            ways[client] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            ways[client].connect(server)
            threading.Thread(target=answer, args=(ways[client], client), daemon=True).start()
        ways[client].send(question)


main()
