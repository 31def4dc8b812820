"""A lamp with a binary protocol. Standard library only.

python3 lamp.py PORT [--fault]

A message is: b"L", its kind, the length of what follows (two bytes, least significant first), its content, and
a CRC-16 of all that (two bytes, least significant first). The fault: a name of eight bytes or more loses its last.
"""

import binascii
import socketserver
import struct
import sys

FAULT = "--fault" in sys.argv
DIM, SWITCH, NAME, ASK, RESET = 0x01, 0x02, 0x03, 0x04, 0x0F
DONE, TOO_BRIGHT, STATE = 0x81, 0x82, 0x83
MOST = 100

lamp = {}


def reset():
    lamp.update(level=0, on=False, name=b"")


def message(kind, content=b""):
    head = b"L" + struct.pack("<BH", kind, len(content) + 2) + content
    return head + struct.pack("<H", binascii.crc_hqx(head, 0xFFFF))


def answer(kind, content):
    if kind == DIM:
        if content[0] > MOST:
            return message(TOO_BRIGHT, bytes([MOST]))
        lamp["level"] = content[0]
    elif kind == SWITCH:
        lamp["on"] = content[0] == 1
    elif kind == NAME:
        name = content[1 : 1 + content[0]]
        lamp["name"] = name[:-1] if FAULT and len(name) >= 8 else name
    elif kind == RESET:
        reset()
    elif kind == ASK:
        mood = 2 if lamp["level"] > 50 else 1
        # One bit, seven bits, then the mood and the name with its length.
        state = bytes([lamp["on"] << 7 | lamp["level"], mood, len(lamp["name"])])
        return message(STATE, state + lamp["name"])
    return message(DONE)


class Connection(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        while head := self.rfile.read(4):
            magic, kind, length = struct.unpack("<cBH", head)
            rest = self.rfile.read(length)
            content, check = rest[:-2], struct.unpack("<H", rest[-2:])[0]
            if magic != b"L" or check != binascii.crc_hqx(head + content, 0xFFFF):
                return
            self.wfile.write(answer(kind, content))


if __name__ == "__main__":
    reset()
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Connection) as server:
        print("the lamp is there", flush=True)
        server.serve_forever()
