"""PostgreSQL as numbers by key: starts a server of its own and answers one command on a line.

    python3 postgres.py PORT [--no-wait]

With --no-wait a commit is acknowledged before it is on disk (synchronous_commit = off). The data stay in a folder of
the temporary directory, so that they survive `kill`. Needs the server programs of PostgreSQL (Debian: `postgresql`).
"""

import glob
import os
import pwd
import shutil
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import time

PORT = int(sys.argv[1])
FOLDER = os.path.join(tempfile.gettempdir(), f"ioxide-postgres-{PORT}")
DATA = os.path.join(FOLDER, "data")
TABLE = "CREATE TABLE IF NOT EXISTS numbers (key text PRIMARY KEY, v bigint NOT NULL)"


def program(name):
    """The newest server program of this name."""
    found = shutil.which(name) or max(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), default=None)
    return found or sys.exit(f"{name} is not installed")


def as_user(command):
    """PostgreSQL does not run as root."""
    if os.getuid() != 0:
        return command
    user = pwd.getpwnam("postgres")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *command]


def start_server():
    """Starts the server on a socket in its folder; its predecessor may not have ended completely yet."""
    if not os.path.exists(os.path.join(DATA, "PG_VERSION")):
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)
        if os.getuid() == 0:
            shutil.chown(FOLDER, "postgres")
        making = os.path.join(FOLDER, "making")
        command = [program("initdb"), "-D", making, "-U", "ioxide", "-A", "trust", "--no-sync", "--no-locale"]
        subprocess.run(as_user(command), check=True, stdout=subprocess.DEVNULL, cwd=FOLDER)
        os.rename(making, DATA)
    options = {"listen_addresses": "", "unix_socket_directories": FOLDER, "synchronous_commit": "on"}
    options |= {"max_connections": "50", "shared_buffers": "16MB", "log_min_messages": "fatal"}
    if "--no-wait" in sys.argv:
        # The log is written in the background, at most this much later.
        options |= {"synchronous_commit": "off", "wal_writer_delay": "10s"}
    command = [program("postgres"), "-D", DATA]
    for key, value in options.items():
        command += ["-c", f"{key}={value}"]
    while True:
        server = subprocess.Popen(as_user(command), cwd=FOLDER, stderr=subprocess.DEVNULL)
        while server.poll() is None:
            try:
                Database().query(TABLE)
                return
            except (OSError, EOFError, RuntimeError):
                time.sleep(0.02)
        time.sleep(0.05)


class Database:
    """A connection in PostgreSQL's own protocol, simple queries only."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(FOLDER, ".s.PGSQL.5432"))
        self.stream = self.socket.makefile("rb")
        start = struct.pack("!i", 196608) + b"user\0ioxide\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!i", len(start) + 4) + start)
        self.read_rows()

    def query(self, text):
        """Returns the first column of the rows; a statement is a transaction of its own."""
        body = text.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(body) + 4) + body)
        return self.read_rows()

    def read_rows(self):
        rows = []
        while True:
            head = self.stream.read(5)
            if len(head) < 5:
                raise EOFError("the server has ended")
            kind, size = head[:1], struct.unpack("!i", head[1:])[0]
            body = self.stream.read(size - 4)
            if kind == b"E":
                raise RuntimeError(body.decode(errors="replace"))
            if kind == b"D":
                length = struct.unpack("!i", body[2:6])[0]
                rows.append(body[6 : 6 + length].decode())
            if kind == b"Z":
                return rows


def answer(database, words):
    """Does one command as one statement."""
    key = "'" + "".join(words[1:2]).replace("'", "''") + "'"
    match words:
        case ["reset"]:
            database.query("TRUNCATE numbers")
            return "done"
        case ["get", _]:
            rows = database.query(f"SELECT v FROM numbers WHERE key = {key}")
            return f"value {rows[0]}" if rows else "none"
        case ["set", _, v]:
            write = "ON CONFLICT (key) DO UPDATE SET v = excluded.v"
            database.query(f"INSERT INTO numbers VALUES ({key}, {int(v)}) {write}")
            return "stored"
        case ["incr", _]:
            write = "ON CONFLICT (key) DO UPDATE SET v = numbers.v + 1 RETURNING v"
            return f"number {database.query(f'INSERT INTO numbers VALUES ({key}, 1) {write}')[0]}"
        case ["del", _]:
            return "deleted" if database.query(f"DELETE FROM numbers WHERE key = {key} RETURNING v") else "missing"
    return "unknown command"


class Client(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            database = Database()
            for line in self.rfile:
                self.wfile.write((answer(database, line.decode().split()) + "\n").encode())
        except (OSError, EOFError, RuntimeError):
            # A command that was not confirmed gets no answer: it may have taken effect.
            return


class Gateway(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    start_server()
    with Gateway(("127.0.0.1", PORT), Client) as gateway:
        gateway.serve_forever()
