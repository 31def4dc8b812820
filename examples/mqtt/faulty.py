"""A proxy before an MQTT broker that plants one fault: python3 faulty.py PORT FAULT SERVER...

loses-will      a client that disappears is taken for one that said goodbye: its will is not published
forgets-all     a session that is there, as the broker says, has forgotten its messages and subscriptions
acks-early      messages are acknowledged before the subscriber does it: they are never sent again
"""

import socket
import struct
import subprocess
import sys
import threading
import time

CONNECT, CONNACK, PUBLISH, PUBACK, DISCONNECT = 1, 2, 3, 4, 14
# The names of the clients that have a session.
SESSIONS = set()


def read_packet(stream):
    """The kind of the next packet and its bytes; no bytes at the end."""
    head = stream.read(1)
    length = shift = 0
    size = b""
    while head:
        byte = stream.read(1)
        size += byte
        length |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return head[0] >> 4, head + size + stream.read(length)
    return 0, b""



class Session:
    """One connection of a client."""

    def __init__(self, client, server, fault):
        self.client, self.server, self.fault = client, server, fault
        self.has_session = False
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def to_server(self):
        stream = self.client.makefile("rb")
        said_goodbye = False
        try:
            while True:
                kind, packet = read_packet(stream)
                if not packet:
                    break
                if kind == CONNECT and self.fault == "forgets-all":
                    packet = self.connect(packet)
                said_goodbye |= kind == DISCONNECT
                if kind == PUBACK and self.fault == "acks-early":
                    continue
                self.server.sendall(packet)
        except OSError:
            pass
        if not said_goodbye and self.fault == "loses-will":
            self.server.sendall(b"\xe0\x00")
        elif not said_goodbye:
            # A connection that was cut is cut here as well.
            self.server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close(self.server)

    def connect(self, packet):
        """Makes every session a new one: the flags are the tenth byte, `clean` is the second bit; then the name."""
        is_clean, name = packet[9] & 2, packet[14 : 14 + int.from_bytes(packet[12:14], "big")]
        self.has_session = not is_clean and name in SESSIONS
        SESSIONS.discard(name)
        if not is_clean:
            SESSIONS.add(name)
        return packet[:9] + bytes([packet[9] | 2]) + packet[10:]

    def to_client(self):
        stream = self.server.makefile("rb")
        try:
            while True:
                kind, packet = read_packet(stream)
                if not packet:
                    break
                if kind == PUBLISH and self.fault == "acks-early":
                    self.server.sendall(b"\x40\x02" + packet[8:10])
                if kind == CONNACK and self.has_session:
                    packet = packet[:2] + b"\x01" + packet[3:]
                self.client.sendall(packet)
        except OSError:
            pass
        self.close(self.client)

    @staticmethod
    def close(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        end.close()


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
        session = Session(client, server, fault)
        for work in (session.to_server, session.to_client):
            threading.Thread(target=work, daemon=True).start()


main()
