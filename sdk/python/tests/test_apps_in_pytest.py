"""Web applications in this process: asked by HTTP, and tested by the pytest plug-in; needs no web framework.

The tests with pytest need pytest and the ioxide program (IOXIDE).
"""

import gc
import http.client
import importlib.util
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from typing import Any, Dict, List, Optional

from ioxide_adapter import AsgiApp, WsgiApp
from ioxide_adapter.app_server import RESET_PATH, NoDescription, app_served, find_description, is_asgi

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("IOXIDE") or shutil.which("ioxide")
FULL = os.environ.get("IOXIDE_TESTS") == "full"
READY = PROGRAM is not None and importlib.util.find_spec("pytest") is not None

APPS = '''
import json
import os
import pytest

NOTE = {"type": "object", "required": ["text"], "additionalProperties": False,
        "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 20}}}
SHOWN = {"type": "object", "required": ["id", "text"], "properties": {"id": {"type": "integer"},
         "text": {"type": "string"}}}


def answers(of):
    return {"description": "it", "content": {"application/json": {"schema": of}}}


DESCRIPTION = {
    "openapi": "3.1.0", "info": {"title": "Notes", "version": "1"},
    "paths": {
        "/notes": {
            "post": {"operationId": "add", "requestBody": {"required": True, "content": {
                "application/json": {"schema": NOTE}}},
                "responses": {"201": answers(SHOWN), "400": {"description": "wrong"}}},
            "get": {"operationId": "list", "responses": {"200": answers({"type": "array", "items": SHOWN})}},
        },
        "/notes/{id}": {"get": {"operationId": "get", "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "responses": {"200": answers(SHOWN), "404": {"description": "none"}}}},
    },
}
notes = {}


def answer(method, path, body):
    if path == "/openapi.json":
        return 200, DESCRIPTION
    if (method, path) == ("POST", "/notes"):
        try:
            sent = json.loads(body)
        except ValueError:
            return 400, {}
        text = sent.get("text") if isinstance(sent, dict) and set(sent) == {"text"} else None
        if not isinstance(text, str) or not 1 <= len(text) <= 20:
            return 400, {}
        notes[len(notes) + 1] = text
        return 201, {"id": len(notes), "text": text}
    if (method, path) == ("GET", "/notes"):
        shown = [{"id": id, "text": text} for id, text in notes.items()]
        return 200, shown[1:] if os.environ.get("NOTES_FAULT") else shown
    last = path.rpartition("/")[2]
    if path.startswith("/notes/") and last.isdigit() and int(last) in notes:
        return 200, {"id": int(last), "text": notes[int(last)]}
    return 404, {}


def wsgi(environ, start):
    size = int(environ.get("CONTENT_LENGTH") or 0)
    status, told = answer(environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["wsgi.input"].read(size))
    start(f"{status} it", [("content-type", "application/json")])
    return [json.dumps(told).encode()]


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        raise RuntimeError("no lifespan")
    body = (await receive())["body"]
    status, told = answer(scope["method"], scope["path"], body)
    await send({"type": "http.response.start", "status": status,
                "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(told).encode()})


QUICK = ["--for", "4s"]


@pytest.mark.ioxide(openapi=wsgi, model="api", args=QUICK)
def test_wsgi():
    notes.clear()


@pytest.mark.ioxide(openapi=asgi, description=DESCRIPTION, stateless=True, args=QUICK)
def test_asgi():
    notes.clear()


@pytest.mark.skip(reason="not today")
@pytest.mark.ioxide(openapi=wsgi)
def test_skipped():
    raise AssertionError("never")


@pytest.mark.xfail(reason="known")
@pytest.mark.ioxide(openapi=lambda environ, start: (start("500 no", []), [b""])[1], description=DESCRIPTION,
                    stateless=True, args=["--for", "2s", "--no-shrink"])
def test_expected_to_fail():
    pass
'''

PARAMETERS = """
import json, pathlib, pytest

def describe(status):
    return {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/ping": {"get": {
        "responses": {"200": {"description": "ok"}}}}}}

def app(environ, start):
    start("200 OK" if environ["PATH_INFO"] == "/ping" else "404 Not Found", [])
    return [b""]

@pytest.fixture
def database():
    yield []
    pathlib.Path("closed").touch()

@pytest.mark.parametrize("x", ["a", "b"])
@pytest.mark.ioxide(openapi=app, description=describe(200), stateless=True, args=["--runs", "1", "--steps", "3"])
def test_small(database, x):
    with open("resets", "a") as file:
        file.write(x)
    database.clear()
"""


SMALL = """
import json, pytest

DESCRIPTION = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/ping": {"get": {
    "responses": {"200": {"description": "ok"}}}}}}

def app(environ, start):
    start("200 OK" if environ["PATH_INFO"] == "/ping" else "404 Not Found", [])
    return [b""]

@pytest.mark.ioxide(openapi=app, description=DESCRIPTION, stateless=True, args=["--runs", "1", "--steps", "3"])
def test_small():
    pass
"""


def small_app(environ: Dict[str, Any], start: Any) -> List[bytes]:
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    if environ["PATH_INFO"] == "/raise":
        raise ValueError("on purpose")
    start("200 OK", [("content-type", "text/plain"), ("x-method", environ["REQUEST_METHOD"])])
    return [environ["QUERY_STRING"].encode(), b"|", body]


def connect(url: str) -> http.client.HTTPConnection:
    """A client of the app at an address of `app_served`."""
    if not url.startswith("http://unix:"):
        return http.client.HTTPConnection(url.partition("://")[2])
    client = http.client.HTTPConnection("localhost")
    client.sock = socket.socket(socket.AF_UNIX)
    client.sock.connect(url.split(":")[2])
    return client


class Serving(unittest.TestCase):
    def test_requests_of_any_method_reach_the_app(self) -> None:
        with tempfile.TemporaryDirectory(prefix="ioxide-") as place:
            for folder in (None, pathlib.Path(place)):
                with self.subTest(folder=folder):
                    self.check_methods(folder)

    def check_methods(self, folder: Optional[pathlib.Path]) -> None:
        resets: List[int] = []
        with app_served(WsgiApp(small_app), lambda: resets.append(1), folder) as url:
            self.assertEqual(url.startswith("http://unix:"), folder is not None and hasattr(socket, "AF_UNIX"))
            client = connect(url)
            for method, body in [("POST", b"abc"), ("GET", b""), ("PURGE", b"x")]:
                client.request(method, "/a?q=1", body)
                answer = client.getresponse()
                self.assertEqual((answer.status, answer.getheader("x-method")), (200, method))
                self.assertEqual(answer.read(), b"q=1|" + body)
            client.request("POST", "/chunks", iter([b"ab", b"c"]), encode_chunked=True,
                           headers={"transfer-encoding": "chunked"})
            self.assertEqual(client.getresponse().read(), b"|abc")
            client.request("POST", RESET_PATH)
            self.assertEqual(client.getresponse().read(), b"")
            self.assertEqual(resets, [1])
            client.close()

    def test_an_exception_of_the_app_is_a_500(self) -> None:
        import contextlib
        import io

        said = io.StringIO()
        with contextlib.redirect_stderr(said), app_served(WsgiApp(small_app)) as url:
            client = connect(url)
            client.request("GET", "/raise")
            self.assertEqual(client.getresponse().status, 500)
            client.close()
        self.assertIn("on purpose", said.getvalue())

    def test_a_description_comes_from_the_app(self) -> None:
        class Framework:
            def openapi(self) -> Dict[str, str]:
                return {"openapi": "3.1.0"}

        asked = WsgiApp(small_app)
        self.assertEqual(json.loads(find_description(Framework(), asked)), {"openapi": "3.1.0"})
        with self.assertRaises(NoDescription):
            find_description(small_app, asked)
        self.assertFalse(is_asgi(small_app))

    def test_an_answer_in_pieces_is_whole(self) -> None:
        """Defect: the client went away after its request, so frameworks cut off what they sent in pieces."""
        import asyncio

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                raise RuntimeError("no lifespan")
            await receive()

            async def write() -> None:
                await send({"type": "http.response.start", "status": 200, "headers": []})
                for piece in (b"a", b"b", b"c"):
                    await asyncio.sleep(0)
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b""})

            # As Starlette does it: the first of both that ends cancels the other.
            tasks = [asyncio.ensure_future(write()), asyncio.ensure_future(receive())]
            _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()

        with AsgiApp(app) as asked:
            self.assertEqual(asked.request("GET", "/").body, b"abc")

    def test_an_asgi_app_that_nobody_uses_ends_its_thread(self) -> None:
        """Defect: every AsgiApp left a thread behind, and a task that complained at the end."""
        told: List[str] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                for what in ("startup", "shutdown"):
                    await receive()
                    told.append(what)
                    await send({"type": f"lifespan.{what}.complete"})

        self.assertTrue(is_asgi(app))
        before = threading.active_count()
        for _ in range(3):
            AsgiApp(app)
        gc.collect()
        self.assertEqual(threading.active_count(), before)
        self.assertEqual(told, ["startup", "shutdown"] * 3)
        with AsgiApp(app) as asked:
            asked.close()
        self.assertEqual(threading.active_count(), before)


@unittest.skipUnless(READY, "needs pytest and the ioxide program (IOXIDE)")
class InPytest(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def pytest(
        self, text: str, *args: str, cache: bool = False, **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        (self.folder / "test_it.py").write_text(text)
        command = [sys.executable, "-m", "pytest", *([] if cache else ["-p", "no:cacheprovider"]), *args, "test_it.py"]
        if importlib.util.find_spec("ioxide_adapter") and not _is_installed():
            command[3:3] = ["-p", "ioxide_adapter.pytest_plugin"]
        path = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, "PYTHONPATH": path, "IOXIDE": str(PROGRAM), **environment}
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True)

    @unittest.skipUnless(FULL, "needs IOXIDE_TESTS=full")
    def test_correct_apps_pass_and_a_later_fault_is_shown_as_requests(self) -> None:
        """Defect: marks beside `ioxide` were dropped."""
        done = self.pytest(APPS, "-rA")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 passed, 1 skipped, 1 xfailed", done.stdout)
        done = self.pytest(APPS, "-k", "wsgi", NOTES_FAULT="1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("GET /notes", done.stdout)
        self.assertIn("curl --unix-socket ", done.stdout)
        self.assertIn("run again, failed runs first:  pytest", done.stdout)
        self.assertIn("E   GET /notes answered 200, but with wrong content", done.stdout)

    @unittest.skipUnless(FULL, "needs IOXIDE_TESTS=full")
    def test_a_model_is_learned_once_and_again_when_told(self) -> None:
        def lines(*args: str) -> "List[str]":
            done = self.pytest(SMALL, *args, cache=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return [line for line in done.stdout.splitlines() if line.startswith("ioxide: ")]

        [first] = lines()
        self.assertIn("test_small: the model was learned, and is kept in ", first)
        kept = pathlib.Path(first.rsplit(" ", 1)[1])
        model = (kept / "api.iox").read_text()
        (kept / "api.iox").write_text(model + "// kept\n")
        self.assertEqual(
            lines(), ["ioxide: test_small: the model was learned before; learn it again with --ioxide-relearn"]
        )
        self.assertIn("// kept", (kept / "api.iox").read_text())
        self.assertEqual(lines("--ioxide-relearn"), [first])
        self.assertEqual((kept / "api.iox").read_text(), model)

    def test_parameters_and_fixtures_reach_the_function(self) -> None:
        """Defect: `parametrize` and `usefixtures` were refused."""
        done = self.pytest(PARAMETERS, "-v")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("test_small::seed[1-a] PASSED", done.stdout)
        self.assertEqual(set((self.folder / "resets").read_text()), {"a", "b"})
        self.assertTrue((self.folder / "closed").exists())


def _is_installed() -> bool:
    import importlib.metadata

    points = [point.value for it in importlib.metadata.distributions() for point in it.entry_points]
    return "ioxide_adapter.pytest_plugin" in points


if __name__ == "__main__":
    unittest.main()
