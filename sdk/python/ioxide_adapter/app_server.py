"""A web application in this process, asked by HTTP over a socket file: no web server has to be installed, and no port
is used. Where there are no socket files (Windows), it is a port of this machine.

Every request is passed to the app and answered before the next one is: an app needs no locks here, and a run is
repeatable. A path of its own resets the app.
"""

import contextlib
import http.server
import inspect
import json
import pathlib
import re
import socket
import socketserver
import threading
import traceback
import urllib.parse
from typing import Any, Callable, Iterator, Optional, Union

from .apps import AppAnswer, AsgiApp, WsgiApp

RESET_PATH = "/__ioxide_reset__"
"""The path whose request calls the reset of the user."""

DESCRIPTIONS = ("/openapi.json", "/openapi.yaml", "/swagger.json", "/api/openapi.json", "/api/schema", "/api-docs")
"""The paths at which frameworks have descriptions."""


MAX_SOCKET_PATH = 100
"""The length of the path of a socket file: the least of all systems is 104 bytes with the zero at the end (macOS)."""


class NoDescription(Exception):
    """The app has no OpenAPI description in a usual place."""


def is_asgi(app: Any) -> bool:
    """Whether `app` is called with scope, receive and send."""
    return inspect.iscoroutinefunction(app) or inspect.iscoroutinefunction(getattr(app, "__call__", None))


def open_app(app: Any) -> Union[AsgiApp, WsgiApp]:
    """The app as something that can be asked."""
    return AsgiApp(app) if is_asgi(app) else WsgiApp(app)


def find_description(app: Any, asked: Union[AsgiApp, WsgiApp]) -> str:
    """The text of the OpenAPI description: from the method `openapi` of FastAPI, else from a usual path."""
    own = getattr(app, "openapi", None)
    if callable(own):
        described = own()
        if isinstance(described, dict):
            return json.dumps(described)
    for path in DESCRIPTIONS:
        with contextlib.suppress(Exception):
            answer = asked.request("GET", path)
            if answer.status == 200 and ("openapi" in answer.text or "swagger" in answer.text):
                return answer.text
    raise NoDescription(f"the app has no OpenAPI description at {', '.join(DESCRIPTIONS)}; give `description`")


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    # Connections that were closed by the tester must not keep the port from the next one.
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A tester that goes away is no news."""


class _FileServer(_Server):
    """The same at a socket file."""

    address_family = getattr(socket, "AF_UNIX", socket.AF_INET)

    def __init__(self, path: str, handler: Any) -> None:
        super().__init__(path, handler)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", 0

    def get_request(self) -> Any:
        request, _ = super().get_request()
        # A socket file has no addresses of clients.
        return request, ("127.0.0.1", 0)


def _socket_path(folder: Optional[pathlib.Path]) -> Optional[str]:
    """The path of a socket file in `folder`; none where there are no such files, or an address cannot name it."""
    if folder is None or not hasattr(socket, "AF_UNIX"):
        return None
    path = str(folder / "app")
    return path if len(path) <= MAX_SOCKET_PATH and re.fullmatch(r"[A-Za-z0-9/._-]+", path) else None


@contextlib.contextmanager
def app_served(
    asked: Union[AsgiApp, WsgiApp],
    reset: Optional[Callable[[], object]] = None,
    folder: Optional[pathlib.Path] = None,
) -> Iterator[str]:
    """The address at which `asked` is reached by HTTP, until the end of the block; over a socket file in `folder`, if
    that can have one.
    """
    turn = threading.Lock()
    path = _socket_path(folder)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Small answers must not wait for each other; a socket file has no such option.
        disable_nagle_algorithm = path is None
        wbufsize = -1

        def handle_any(self) -> None:
            body = self._body()
            with turn:
                answer = self._answer(body)
            self._write(answer)

        def _body(self) -> bytes:
            if "chunked" in self.headers.get("transfer-encoding", ""):
                parts = []
                while True:
                    size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                    if size == 0:
                        return b"".join(parts)
            return self.rfile.read(int(self.headers.get("content-length") or 0))

        def _answer(self, body: bytes) -> AppAnswer:
            if reset is not None and urllib.parse.urlsplit(self.path).path == RESET_PATH:
                reset()
                asked.cookies.clear()
                return AppAnswer(204)
            dropped = ("content-length", "transfer-encoding", "connection")
            headers = [(name.lower(), value) for name, value in self.headers.items() if name.lower() not in dropped]
            headers.append(("content-length", str(len(body))))
            path, _, query = self.path.partition("?")
            try:
                return asked._ask(self.command, path, query, headers, body)
            except Exception:
                # A web server answers so; what went wrong is shown with the captured output of the test.
                traceback.print_exc()
                return AppAnswer(500, [("content-type", "text/plain")], b"the app raised an exception")

        def _write(self, answer: AppAnswer) -> None:
            self.send_response_only(answer.status)
            for name, value in answer.headers:
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            has_body = self.command != "HEAD" and answer.status not in (204, 304) and answer.status >= 200
            if has_body or self.command == "HEAD":
                self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            if has_body:
                self.wfile.write(answer.body)
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            """The record has the requests."""

        def __getattr__(self, name: str) -> Any:
            # Any method is passed to the app, also one that it does not have.
            if name.startswith("do_"):
                return self.handle_any
            raise AttributeError(name)

    server = _Server(("127.0.0.1", 0), Handler) if path is None else _FileServer(path, Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}" if path is None else f"http://unix:{path}:"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
