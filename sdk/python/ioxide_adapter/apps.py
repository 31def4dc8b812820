"""Web applications in process: requests to an ASGI or WSGI app without a server, a port or a client library.

    class Shop(Adapter):
        def reset(self):
            self.app = AsgiApp(make_app())

        def ADD(self, article: int):
            answer = self.app.request("POST", "/basket", json={"article": article})
            self.emit("ADDED" if answer.status == 201 else "SOLD_OUT")

An app that raises has no answer: the exception goes on to the handler, where it becomes an error of the adapter.
"""

import io
import json as json_module
import sys
import threading
import urllib.parse
import weakref
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Dict, Iterable, List, Mapping, MutableMapping, Optional, Tuple

from .loop import Loop

Headers = List[Tuple[str, str]]
Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
AsgiCallable = Callable[[Any, Any, Any], Awaitable[None]]
WsgiCallable = Callable[[Dict[str, Any], Any], Iterable[bytes]]


@dataclass
class AppAnswer:
    """What an app answered."""

    status: int
    headers: Headers = field(default_factory=list)
    body: bytes = b""

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8")

    def json(self) -> Any:
        """The body as JSON."""
        return json_module.loads(self.body)

    def header(self, name: str) -> Optional[str]:
        """The value of a header, whatever the case of its name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class _App:
    """What both kinds have in common: requests, and the cookies that were set."""

    def __init__(self) -> None:
        self.cookies: Dict[str, str] = {}

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        body: bytes = b"",
        headers: Optional[Mapping[str, str]] = None,
    ) -> AppAnswer:
        """Makes a request; `json` is a body in JSON, with its content type. Cookies that were set are sent again."""
        sent: Headers = [(name, value) for name, value in (headers or {}).items()]
        if json is not None:
            body = json_module.dumps(json).encode()
            sent.append(("content-type", "application/json"))
        if self.cookies:
            sent.append(("cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items())))
        sent += [("host", "app"), ("content-length", str(len(body)))]
        path, _, query = path.partition("?")
        answer = self._ask(method.upper(), path, query, sent, body)
        for name, value in answer.headers:
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key.strip()] = rest.partition(";")[0].strip()
        return answer

    def _ask(self, method: str, path: str, query: str, headers: Headers, body: bytes) -> AppAnswer:
        raise NotImplementedError


class WsgiApp(_App):
    """A WSGI app (PEP 3333)."""

    def __init__(self, app: WsgiCallable) -> None:
        super().__init__()
        self.app = app

    def _ask(self, method: str, path: str, query: str, headers: Headers, body: bytes) -> AppAnswer:
        answer = AppAnswer(500)

        def start(status: str, headers: Headers, error: Any = None) -> Callable[[bytes], None]:
            answer.status, answer.headers = int(status.split()[0]), list(headers)
            return written.append

        written: List[bytes] = []
        parts = self.app(self._environ(method, path, query, headers, body), start)
        try:
            written.extend(parts)
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                close()
        answer.body = b"".join(written)
        return answer

    @staticmethod
    def _environ(method: str, path: str, query: str, headers: Headers, body: bytes) -> Dict[str, Any]:
        environ: Dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": urllib.parse.unquote(path, "latin-1"),
            "QUERY_STRING": query,
            "SERVER_NAME": "app",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": False,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in headers:
            key = name.upper().replace("-", "_")
            environ[key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"] = value
        return environ


class AsgiApp(_App):
    """An ASGI app (version 3); its start-up runs at once, its shut-down in `close`, or when nobody uses it any more."""

    def __init__(self, app: AsgiCallable) -> None:
        super().__init__()
        self.app, self._loop, self._lifespan = app, Loop(), _Lifespan(app)
        # Without a reference to this object, which would keep it alive.
        self._close = weakref.finalize(self, _close, self._loop, self._lifespan)
        self._loop.run(self._lifespan.start())

    def close(self) -> None:
        """Lets the app shut down, and ends what it left running."""
        self._close()

    def __enter__(self) -> "AsgiApp":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ask(self, method: str, path: str, query: str, headers: Headers, body: bytes) -> AppAnswer:
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": urllib.parse.unquote(path),
            "raw_path": path.encode("ascii", "replace"),
            "query_string": query.encode("ascii", "replace"),
            "root_path": "",
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
            "client": ("127.0.0.1", 1),
            "server": ("app", 80),
            "state": dict(self._lifespan.state),
        }
        return self._loop.run(_asked(self.app, scope, body))


def _close(loop: Loop, lifespan: "_Lifespan") -> None:
    """Shuts an app down, and ends the thread of its loop."""

    def end() -> None:
        try:
            loop.run(lifespan.stop())
        finally:
            loop.stop()

    if loop.is_current():
        # The garbage collector came by in the thread that is to end.
        threading.Thread(target=end, daemon=True).start()
    else:
        end()


async def _asked(app: AsgiCallable, scope: Scope, body: bytes) -> AppAnswer:
    import asyncio

    answer = AppAnswer(500)
    events: List[Event] = [{"type": "http.request", "body": body, "more_body": False}]
    answered = asyncio.Event()

    async def receive() -> Event:
        if events:
            return events.pop(0)
        # A client that goes away at once would end answers that are sent in pieces.
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(event: Event) -> None:
        if event["type"] == "http.response.start":
            answer.status = event["status"]
            answer.headers = [
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in event.get("headers", [])
            ]
        elif event["type"] == "http.response.body":
            answer.body += event.get("body", b"")
            if not event.get("more_body", False):
                answered.set()

    await app(scope, receive, send)
    return answer


class _Lifespan:
    """Start-up and shut-down of an app, for those that know of them."""

    def __init__(self, app: AsgiCallable) -> None:
        self.app = app
        self.state: Dict[str, Any] = {}
        self._task: Any = None

    async def start(self) -> None:
        import asyncio

        self._events: "asyncio.Queue[Event]" = asyncio.Queue()
        self._told: "asyncio.Queue[Event]" = asyncio.Queue()
        scope: Scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": self.state}
        self._task = asyncio.ensure_future(self.app(scope, self._events.get, self._told.put))
        await self._say("startup")

    async def stop(self) -> None:
        if self._task is not None and not self._task.done():
            await self._say("shutdown")
        if self._task is not None and not self._task.done():
            # An app that goes on after its shut-down is not waited for.
            self._task.cancel()

    async def _say(self, what: str) -> None:
        import asyncio

        await self._events.put({"type": f"lifespan.{what}"})
        told = asyncio.ensure_future(self._told.get())
        await asyncio.wait({told, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not told.done():
            # An app without a lifespan says so by an exception, or by ending.
            told.cancel()
            if self._task.done() and not self._task.cancelled():
                self._task.exception()
        elif told.result()["type"] == f"lifespan.{what}.failed":
            raise RuntimeError(f"{what} of the app failed: {told.result().get('message', '')}")
