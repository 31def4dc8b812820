"""Systems that are coroutines, and web applications in process."""

import asyncio
import io
import json
import unittest
from typing import Any, Dict, List

from ioxide_adapter import Adapter, AsgiApp, WsgiApp


def conversation(adapter: Adapter, *messages: Dict[str, Any]) -> List[Dict[str, Any]]:
    """What the adapter says to these messages."""
    lines = [json.dumps({"type": "configure", "seed": 1}), *map(json.dumps, messages), json.dumps({"type": "bye"})]
    writer = io.StringIO()
    adapter.talk(io.StringIO("\n".join(lines) + "\n"), writer)
    return [json.loads(line) for line in writer.getvalue().splitlines()]


def ask(label: str, number: int = 1, **args: Any) -> Dict[str, Any]:
    return {"type": "input", "id": number, "label": label, "args": args}


class Counter(Adapter):
    """Methods by the names of their inputs, some of them coroutines."""

    outputs = {"total": {"sum": "int"}}

    async def reset(self) -> None:
        await asyncio.sleep(0)
        self.sum, self.closed = 0, False

    async def add(self, n: int) -> None:
        await asyncio.sleep(0)
        self.sum += n
        self.emit("total", sum=self.sum)

    def later(self) -> None:
        self._loop.run(self._start())

    async def _start(self) -> None:
        asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        self.emit("total", sum=-1)
        await asyncio.sleep(3600)

    async def fail(self) -> None:
        raise ValueError("no")

    async def close(self) -> None:
        self.closed = True


class Greeter(Adapter):
    """Its reset is a coroutine that emits."""

    outputs = {"hello": {}}

    async def reset(self) -> None:
        await asyncio.sleep(0)
        self.emit("hello")


class Coroutines(unittest.TestCase):
    def test_what_a_reset_emits_comes_after_ready(self) -> None:
        told = conversation(Greeter(), {"type": "reset"})
        self.assertEqual([message["type"] for message in told], ["hello", "ready", "output", "ready", "output", "bye"])

    def test_methods_are_inputs_by_name(self) -> None:
        hello = conversation(Counter())[0]
        inputs = [label["label"] for label in hello["labels"] if label["direction"] == "input"]
        self.assertEqual(inputs, ["add", "fail", "later"])

    def test_coroutines_are_awaited(self) -> None:
        said = conversation(Counter(), ask("add", 1, n=3), ask("add", 2, n=4))
        self.assertEqual([line["args"]["sum"] for line in said if line["type"] == "output"], [3, 7])
        self.assertEqual([line["id"] for line in said if line["type"] == "sent"], [1, 2])

    def test_an_exception_in_one_is_told(self) -> None:
        said = conversation(Counter(), ask("fail", 5))
        errors = [line for line in said if line["type"] == "error"]
        self.assertEqual([(line["id"], line["kind"]) for line in errors], [(5, "exception")])

    def test_what_is_left_running_ends_with_the_reset(self) -> None:
        adapter = Counter()
        said = conversation(adapter, ask("later"), {"type": "reset"}, ask("add", 2, n=1))
        self.assertEqual([line["type"] for line in said if line["type"] in ("ready", "error")], ["ready", "ready"])
        self.assertTrue(adapter.closed)


def wsgi(environ: Dict[str, Any], start: Any) -> List[bytes]:
    body = environ["wsgi.input"].read()
    seen = [
        environ["REQUEST_METHOD"],
        environ["PATH_INFO"],
        environ["QUERY_STRING"],
        environ.get("HTTP_COOKIE", ""),
        body.decode(),
    ]
    start("201 Created", [("Content-Type", "application/json"), ("Set-Cookie", "sid=7; Path=/")])
    return [json.dumps(seen).encode()]


class AsgiEcho:
    """An ASGI app with a lifespan."""

    def __init__(self) -> None:
        self.log: List[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                assert (await receive())["type"] == f"lifespan.{word}"
                self.log.append(word)
                await send({"type": f"lifespan.{word}.complete"})
            return
        event = await receive()
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        seen = [
            scope["method"],
            scope["path"],
            scope["query_string"].decode(),
            headers.get("cookie", ""),
            event["body"].decode(),
        ]
        answer = [(b"set-cookie", b"sid=7; Path=/")]
        await send({"type": "http.response.start", "status": 201, "headers": answer})
        await send({"type": "http.response.body", "body": json.dumps(seen).encode(), "more_body": True})
        await send({"type": "http.response.body"})


class Apps(unittest.TestCase):
    def check(self, app: Any) -> None:
        first = app.request("post", "/a%20b?x=1", json={"n": 1})
        self.assertEqual((first.status, first.json()), (201, ["POST", "/a b", "x=1", "", '{"n": 1}']))
        self.assertEqual(first.header("SET-COOKIE"), "sid=7; Path=/")
        self.assertEqual(app.request("GET", "/").json(), ["GET", "/", "", "sid=7", ""])

    def test_wsgi(self) -> None:
        self.check(WsgiApp(wsgi))

    def test_asgi(self) -> None:
        app = AsgiEcho()
        asked = AsgiApp(app)
        self.check(asked)
        asked.close()
        self.assertEqual(app.log, ["startup", "shutdown"])

    def test_an_app_that_raises_has_no_answer(self) -> None:
        async def broken(scope: Any, receive: Any, send: Any) -> None:
            raise KeyError("oops")

        with self.assertRaises(KeyError):
            AsgiApp(broken).request("GET", "/")


if __name__ == "__main__":
    unittest.main()
