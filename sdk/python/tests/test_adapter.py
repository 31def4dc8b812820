"""Conversations with small adapters, line by line."""

import io
import json
import socket
import subprocess
import sys
import textwrap
import threading
import unittest
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, List

from ioxide_adapter import Adapter, Broken, Refused, on_input


class Colour(Enum):
    RED = 1


class Echo(Adapter):
    outputs = {"back": {"x": "int"}, "up": {}}
    closed = False

    def reset(self) -> None:
        self.emit("up")

    def close(self) -> None:
        self.closed = True

    @on_input("say")
    def say(self, x: int) -> None:
        self.emit("back", x=x)

    @on_input("fail")
    def fail(self, how: str) -> None:
        self.emit("up")
        raise {"refused": Refused, "broken": Broken}.get(how, KeyError)("no")

    @on_input("early")
    def early(self) -> None:
        self.emit("back", x=1)
        self.sent()
        self.emit("back", x=2)

    @on_input("wrong")
    def wrong(self, label: str) -> None:
        self.emit(label, x=1)

    @on_input("threaded")
    def threaded(self) -> None:
        thread = threading.Thread(target=self.emit, args=("up",))
        thread.start()
        thread.join()


class Chatty(Adapter):
    """Emits while it is started, by another thread, and when it is ready."""

    outputs = {"up": {"n": "int"}, "real": {"x": "real"}, "many": {"all": "list<int>"}}

    def reset(self) -> None:
        thread = threading.Thread(target=self.emit, args=("up",), kwargs={"n": 1})
        thread.start()
        thread.join()
        self.emit("up", n=2)

    @on_input("grow")
    def grow(self, n: int) -> None:
        self.emit("up", n=n * 1.0)

    @on_input("list")
    def list(self, n: int) -> None:
        self.emit("many", all=[1.0, {"n": n * 1.0}])

    @on_input("real")
    def real(self) -> None:
        self.emit("real", x=1e300)


CONFIGURE = {"type": "configure", "seed": 7, "instance": 2, "settings": {"a": 1}}


def lines(adapter: Adapter, *messages: Any) -> List[Any]:
    """What the adapter answers, time stamps removed, `hello` not counted."""
    text = "".join(m + "\n" if isinstance(m, str) else json.dumps(m) + "\n" for m in messages)
    writer = io.StringIO()
    adapter.talk(io.StringIO(text), writer)
    told = [json.loads(line) for line in writer.getvalue().splitlines()]
    for message in told:
        message.pop("time_ns", None)
        message.pop("outputs", None)
    return told[1:]


def after_ready(adapter: Adapter, *messages: Any) -> List[Any]:
    """What it answers once it is ready and has said what it says then."""
    return lines(adapter, CONFIGURE, *messages)[len(lines(type(adapter)(), CONFIGURE)) :]


def give(label: str, /, **args: Any) -> Any:
    return {"type": "input", "id": 5, "label": label, "args": args}


def back(x: Any) -> Any:
    return {"type": "output", "label": "back", "args": {"x": x}}


UP = {"type": "output", "label": "up", "args": {}}
SENT = {"type": "sent", "id": 5}


class NameTest(unittest.TestCase):
    def test_outputs_before_ready_are_logged(self) -> None:
        log, ready, up = lines(Chatty(), CONFIGURE)
        self.assertEqual((log["type"], ready["type"]), ("log", "ready"))
        self.assertIn("before the system was ready", log["text"])
        self.assertEqual((up["label"], up["args"]), ("up", {"n": 2}))

    def test_floats_that_lost_digits_are_mistakes(self) -> None:
        for label in ["grow", "list"]:
            error = after_ready(Chatty(), give(label, n=2**60))[-1]
            self.assertEqual((error["type"], error["kind"]), ("error", "unknown"))
            self.assertIn("give the field a range", error["text"])
        told = after_ready(Chatty(), give("grow", n=2**53))
        self.assertEqual(told[-1]["args"], {"n": 2.0**53})
        self.assertEqual(after_ready(Chatty(), give("real"))[-1]["args"], {"x": 1e300})

    """A handler called like an attribute of the base class broke the handshake."""

    def define(self, method: str, label: str) -> type:
        def handler(self: Adapter) -> None:
            pass

        return type("Named", (Adapter,), {method: on_input(label)(handler)})

    def test_a_handler_named_like_an_attribute_is_refused_with_advice(self) -> None:
        for name in ["name", "reset", "outputs", "seed", "instance", "emit", "now", "_input"]:
            with self.subTest(name), self.assertRaises(TypeError) as caught:
                self.define(name, name)
            advice = f'@on_input("{name}") def on_{name.strip("_")}(self, ...)'
            self.assertIn(advice, str(caught.exception))

    def test_the_label_may_be_any_name(self) -> None:
        hello = self.define("on_name", "name")()._hello()
        self.assertEqual((hello["name"], hello["labels"][0]["label"]), ("Named", "name"))


class Conversations(unittest.TestCase):
    def test_hello_names_the_labels(self) -> None:
        writer = io.StringIO()
        Echo().talk(io.StringIO(""), writer)
        hello = json.loads(writer.getvalue())
        self.assertEqual((hello["type"], hello["protocol"], hello["name"]), ("hello", 1, "Echo"))
        labels = {label["label"]: label for label in hello["labels"]}
        self.assertEqual(labels["say"]["fields"], [{"name": "x", "sort": "int"}])
        self.assertEqual(labels["fail"]["fields"], [{"name": "how", "sort": "string"}])
        self.assertEqual((labels["say"]["direction"], labels["up"]["direction"]), ("input", "output"))

    def test_outputs_of_a_reset_come_after_ready(self) -> None:
        told = lines(Echo(), CONFIGURE, {"type": "reset"}, {"type": "bye"})
        self.assertEqual(told, [{"type": "ready"}, UP, {"type": "ready"}, UP, {"type": "bye"}])

    def test_outputs_of_a_handler_come_after_its_receipt(self) -> None:
        self.assertEqual(after_ready(Echo(), give("say", x=10**30)), [SENT, back(10**30)])
        self.assertEqual(after_ready(Echo(), give("early")), [SENT, back(1), back(2)])
        self.assertEqual(after_ready(Echo(), give("threaded")), [SENT, UP])

    def test_errors_become_messages_of_their_kind(self) -> None:
        for how in ("refused", "broken"):
            error = {"type": "error", "kind": how, "text": "no", "id": 5}
            self.assertEqual(after_ready(Echo(), give("fail", how=how)), [UP, error])
        told = after_ready(Echo(), give("fail", how="other"), give("say", x=1))
        self.assertEqual((told[1]["kind"], told[1]["text"]), ("exception", "KeyError: 'no'"))
        self.assertIn("Traceback (most recent call last)", told[1]["traceback"])
        self.assertEqual(told[2:], [SENT, back(1)])

    def test_inputs_that_do_not_fit_are_refused(self) -> None:
        for message, says in [
            (give("sing"), "no input `sing`"),
            (give("say"), "missing a required argument"),
            (give("say", x=1, y=2), "unexpected keyword"),
            ({"type": "input", "label": "say"}, "`id`"),
            ({"type": "dance"}, "`dance`"),
            ("not JSON", "not JSON"),
            ("[1]", "`type`"),
            ('{"type": "input", "id": 5, "label": "say", "args": {"x": NaN}}', "NaN"),
        ]:
            [error] = after_ready(Echo(), message)
            self.assertEqual((error["type"], error["kind"]), ("error", "refused"))
            self.assertIn(says, error["text"])

    def test_configure_comes_first(self) -> None:
        told = lines(Echo(), give("say", x=1), {"type": "reset"})
        self.assertEqual([message["kind"] for message in told], ["refused", "refused"])

    def test_settings_and_seed_are_kept_and_choices_repeat(self) -> None:
        first, second = Echo(), Echo()
        lines(first, CONFIGURE)
        lines(second, CONFIGURE)
        self.assertEqual((first.seed, first.instance, first.settings), (7, 2, {"a": 1}))
        self.assertEqual(first.random.random(), second.random.random())
        self.assertTrue(first.closed)

    def test_an_undeclared_output_is_an_error(self) -> None:
        for label, says in [("nothing", "no output `nothing`"), ("up", "has the fields [], not ['x']")]:
            [error] = after_ready(Echo(), give("wrong", label=label))
            self.assertIn(says, error["text"])

    def test_what_is_only_seen_is_declared_so_and_emitted_like_outputs(self) -> None:
        class Witness(Adapter):
            outputs = {"up": {}}
            observed = {"seen": {"x": "int"}}

            @on_input("look")
            def look(self) -> None:
                self.emit("seen", x=1)

        writer = io.StringIO()
        Witness().talk(io.StringIO(""), writer)
        labels = {label["label"]: label["direction"] for label in json.loads(writer.getvalue())["labels"]}
        self.assertEqual(labels, {"look": "input", "seen": "observed", "up": "output"})
        seen = {"type": "output", "label": "seen", "args": {"x": 1}}
        self.assertEqual(after_ready(Witness(), give("look")), [SENT, seen])

    def test_a_reset_that_fails_is_broken(self) -> None:
        class Stuck(Adapter):
            def reset(self) -> None:
                raise OSError("no power")

        [error] = lines(Stuck(), CONFIGURE)
        self.assertEqual((error["kind"], error["text"]), ("broken", "reset: OSError: no power"))

    def test_values_are_exact(self) -> None:
        class Values(Adapter):
            @on_input("say")
            def say(self, x: Decimal) -> None:
                self.emit("back", x=[x, Fraction(1, 3), Colour.RED, None])

        told = after_ready(Values(), '{"type":"input","id":5,"label":"say","args":{"x":0.1}}')
        self.assertEqual(told, [SENT, back(["1/10", "1/3", "RED", None])])

    def test_a_value_that_cannot_be_sent_is_told(self) -> None:
        class Values(Adapter):
            @on_input("say")
            def say(self) -> None:
                self.emit("back", x=object())

        [error] = after_ready(Values(), give("say"))
        self.assertIn("cannot be sent", error["text"])

    def test_two_methods_for_one_input_are_a_mistake(self) -> None:
        class Twice(Echo):
            @on_input("say")
            def other(self) -> None:
                pass

        with self.assertRaises(TypeError):
            Twice()


PROGRAM = """
    import sys
    from ioxide_adapter import Adapter, on_input

    class Echo(Adapter):
        @on_input("say")
        def say(self, x):
            print("a stray line")
            self.emit("back", x=x)

    Echo().run(*sys.argv[1:])
"""


class Processes(unittest.TestCase):
    def start(self, *args: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(PROGRAM), *args],
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def test_stdio_keeps_stray_prints_off_the_protocol(self) -> None:
        text = "".join(json.dumps(m) + "\n" for m in [CONFIGURE, give("say", x=1), {"type": "bye"}])
        with self.start() as child:
            out, err = child.communicate(text, timeout=20)
        kinds = [json.loads(line)["type"] for line in out.splitlines()]
        self.assertEqual(kinds, ["hello", "ready", "sent", "output", "bye"])
        self.assertEqual(err.strip(), "a stray line")

    def test_tcp_serves_one_after_the_other(self) -> None:
        with self.start("127.0.0.1:0") as child:
            try:
                place = child.stderr.readline().split()[-1]
                host, port = place.rsplit(":", 1)
                for _ in range(2):
                    with socket.create_connection((host, int(port)), timeout=20) as connection:
                        stream = connection.makefile("rw")
                        stream.write(json.dumps(CONFIGURE) + "\n")
                        stream.flush()
                        kinds = [json.loads(stream.readline())["type"] for _ in range(2)]
                        self.assertEqual(kinds, ["hello", "ready"])
                        stream.close()
            finally:
                child.kill()


if __name__ == "__main__":
    unittest.main()
