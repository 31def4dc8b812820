"""A proxy before a CoAP server that plants one fault: python3 faulty.py PORT FAULT SERVER...

always-created   a resource that exists is created again, by the words of the reply
cuts-payloads    a payload of more than eight bytes loses the rest
keeps-room       a resource that was deleted still takes its room
"""

import socket
import subprocess
import sys
import threading

CREATED, CHANGED, DELETED, NOT_ACCEPTABLE = 0x41, 0x44, 0x42, 0x86
PUT = 3


class Client:
    """The way of one client to the server."""

    def __init__(self, proxy, client, server, fault):
        self.proxy, self.client, self.fault = proxy, client, fault
        self.taken = set()
        self.names = {}
        self.server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.server.connect(server)
        threading.Thread(target=self.answer, daemon=True).start()

    def ask(self, request):
        """Passes on a request: version and type, method, number, 0xb1, name, and a payload behind 0xff."""
        head, payload = request[:6], request[7:]
        name = request[5]
        self.names[request[2:4]] = name
        if self.fault == "cuts-payloads" and len(payload) > 8:
            request = head + b"\xff" + payload[:8]
        if self.fault == "keeps-room" and request[1] == PUT and name not in self.taken and len(self.taken) == 2:
            self.proxy.sendto(bytes([0x60, NOT_ACCEPTABLE]) + request[2:4], self.client)
            return
        self.server.send(request)

    def answer(self):
        while reply := self.server.recv(4096):
            if reply[1] == CREATED:
                self.taken.add(self.names.get(reply[2:4]))
            if reply[1] == CHANGED and self.fault == "always-created":
                reply = reply[:1] + bytes([CREATED]) + reply[2:]
            self.proxy.sendto(reply, self.client)


def is_answered(port):
    """Returns whether a CoAP server answers a ping at this port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.settimeout(0.05)
        try:
            probe.connect(("127.0.0.1", port))
            probe.send(b"\x40\x00\x00\x01")
            return bool(probe.recv(100))
        except OSError:
            return False


def started(command):
    """The address of the server that `command` starts; `{port}` in it is a free port."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            address = free.getsockname()
        server = subprocess.Popen([word.replace("{port}", str(address[1])) for word in command])
        # It ends if somebody else has taken the port meanwhile.
        while server.poll() is None:
            if is_answered(address[1]):
                return address


def main():
    port, fault = int(sys.argv[1]), sys.argv[2]
    server = started(sys.argv[3:])
    proxy = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    proxy.bind(("127.0.0.1", port))
    clients = {}
    while True:
        request, client = proxy.recvfrom(4096)
        if client not in clients:
            clients[client] = Client(proxy, client, server, fault)
        clients[client].ask(request)


main()
