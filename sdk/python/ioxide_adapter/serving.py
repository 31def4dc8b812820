"""A system in this process, reached over a port of this machine: what the pytest plug-in tests."""

import contextlib
import socket
import sys
import threading
from typing import Callable, Iterator, List

from .adapter import Adapter
from .waiting import waiting

SWITCH_INTERVAL = 1e-5
"""The time, in seconds, after which Python lets another thread run while several clients use a system. Chosen by feel:
with the usual 5 ms an operation is hardly ever interrupted, so that races do not show."""


@contextlib.contextmanager
def eager_switching() -> Iterator[None]:
    """Threads take turns often until the end of the block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextlib.contextmanager
def served(make: Callable[[], Adapter]) -> Iterator[str]:
    """The address at which systems made by `make` are spoken to, one for every connection, until the end of the
    block."""
    server = socket.create_server(("127.0.0.1", 0))
    talks: List[threading.Thread] = []
    connections: List[socket.socket] = []

    def talk(connection: socket.socket) -> None:
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            reader = connection.makefile("r", encoding="utf-8", errors="replace")
            writer = connection.makefile("w", encoding="utf-8", newline="\n")
            # Whoever has gone away is not written to.
            with contextlib.suppress(OSError, ValueError):
                make().talk(reader, writer)

    def accept() -> None:
        # Closing the socket ends this.
        with contextlib.suppress(OSError), waiting():
            while True:
                connection, _ = server.accept()
                connections.append(connection)
                talks.append(threading.Thread(target=talk, args=(connection,), daemon=True))
                talks[-1].start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield "{}:{}".format(*server.getsockname())
    finally:
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in talks:
            thread.join(timeout=10)
