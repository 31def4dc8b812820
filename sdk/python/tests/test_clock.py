"""Calls made later: in virtual time line by line, on the clock of this machine by what comes in the end."""

import io
import json
import queue
import threading
import unittest
from decimal import Decimal
from fractions import Fraction
from typing import Any, List

from ioxide_adapter import Adapter, on_input
from ioxide_adapter.clock import Clock, nanoseconds

SECOND = 10**9


class Alarm(Adapter):
    """Says `ring` when told to, `tick` one second after a reset."""

    virtual_time = True

    def reset(self) -> None:
        self.after(1, self.emit, "tick")

    @on_input("ring")
    def ring(self, wait: Any, times: int = 1) -> None:
        for n in range(times):
            self.after(wait, self.say, n)

    @on_input("now")
    def at_once(self) -> None:
        self.emit("ring", n=0, at=self.now())

    @on_input("chain")
    def chain(self) -> None:
        self.after(2, lambda: self.after(2, self.say, 9))

    @on_input("threaded")
    def threaded(self) -> None:
        """A call that needs another thread to emit."""

        def call() -> None:
            thread = threading.Thread(target=self.emit, args=("tick",))
            thread.start()
            thread.join()

        self.after(0, call)

    @on_input("wrong")
    def wrong(self) -> None:
        self.after(2, {}.pop, "nothing")

    def say(self, n: int) -> None:
        self.emit("ring", n=n, at=self.now())


def talk(adapter: Adapter, *messages: Any) -> List[Any]:
    """What the adapter answers after its greeting, time stamps removed."""
    writer = io.StringIO()
    adapter.talk(io.StringIO("".join(json.dumps(message) + "\n" for message in messages)), writer)
    told = [json.loads(line) for line in writer.getvalue().splitlines()]
    for message in told:
        message.pop("time_ns", None)
        message.pop("outputs", None)
    return told[1:]


def virtually(*messages: Any) -> List[Any]:
    """What it answers in virtual time, once it is ready."""
    return talk(Alarm(), {"type": "configure", "virtual_time": True}, *messages)[1:]


def give(label: str, /, **args: Any) -> Any:
    return {"type": "input", "id": 5, "label": label, "args": args}


def to(seconds: Any) -> Any:
    return {"type": "advance", "to_ns": int(seconds * SECOND)}


def advanced(seconds: Any) -> Any:
    return {"type": "advanced", "now_ns": int(seconds * SECOND)}


def ring(n: int, at: Any) -> Any:
    return {"type": "output", "label": "ring", "args": {"n": n, "at": at}}


SENT = {"type": "sent", "id": 5}
TICK = {"type": "output", "label": "tick", "args": {}}
READY = {"type": "ready"}
RESET = {"type": "reset"}
NEXT = {"type": "advance"}


class VirtualTime(unittest.TestCase):
    def test_it_says_what_is_due_if_it_is_asked(self) -> None:
        foresee = {**to(0), "foresee": True}
        self.assertEqual(virtually(foresee), [{**advanced(0), "next_ns": SECOND}])
        *_, told = virtually(to(1), {**to(1), "foresee": True})
        self.assertEqual(told, advanced(1))

    def test_it_is_offered_and_asked_for(self) -> None:
        writer = io.StringIO()
        Alarm().talk(io.StringIO(""), writer)
        self.assertIs(json.loads(writer.getvalue())["virtual_time"], True)
        [refused] = talk(Adapter(), {"type": "configure", "virtual_time": True})
        self.assertEqual((refused["kind"], refused["text"]), ("refused", "this adapter has no virtual time"))
        [_, refused] = talk(Alarm(), {"type": "configure"}, to(1))
        self.assertIn("no virtual time", refused["text"])
        [refused] = talk(Alarm(), to(1))
        self.assertEqual(refused["kind"], "refused")

    def test_time_stops_at_the_first_output(self) -> None:
        told = virtually(to(0.5), to(3), to(3), to(3))
        self.assertEqual(told, [advanced(0.5), TICK, advanced(1), advanced(3), advanced(3)])

    def test_without_an_instant_it_passes_to_what_is_due_next(self) -> None:
        self.assertEqual(virtually(NEXT, NEXT), [TICK, advanced(1), advanced(1)])

    def test_calls_are_made_in_the_order_of_their_instants(self) -> None:
        told = virtually(give("ring", wait=3), give("ring", wait="1/2", times=2), *[to(4)] * 5)
        first, second = [ring(0, "1/2"), advanced(0.5)], [ring(1, "1/2"), advanced(0.5)]
        rest = [TICK, advanced(1), ring(0, 3), advanced(3), advanced(4)]
        self.assertEqual(told, [SENT, SENT, *first, *second, *rest])

    def test_a_call_may_make_another(self) -> None:
        told = virtually(to(1), give("chain"), to(9))
        self.assertEqual(told, [TICK, advanced(1), SENT, ring(9, 5), advanced(5)])

    def test_what_a_handler_emits_comes_before_time_passes(self) -> None:
        told = virtually(to(0.5), give("now"), to(9), to(9))
        self.assertEqual(told, [advanced(0.5), SENT, ring(0, "1/2"), advanced(0.5), TICK, advanced(1)])

    def test_a_reset_puts_time_back_and_forgets_what_was_due(self) -> None:
        told = virtually(give("ring", wait=2), to(0.5), RESET, to(3), to(3))
        self.assertEqual(told, [SENT, advanced(0.5), READY, TICK, advanced(1), advanced(3)])

    def test_any_thread_may_emit_for_a_call(self) -> None:
        self.assertEqual(virtually(give("threaded"), to(0.5)), [SENT, TICK, advanced(0)])

    def test_a_call_that_goes_wrong_is_told(self) -> None:
        *_, error = virtually(to(1), give("wrong"), to(9))
        self.assertEqual((error["kind"], error["text"]), ("exception", "a delayed call failed: KeyError: 'nothing'"))

    def test_instants_that_are_none_are_refused(self) -> None:
        for wrong in (-1, "soon", True, 0.5):
            [_, refused] = virtually(to(0.5), {"type": "advance", "to_ns": wrong})
            self.assertEqual(refused["kind"], "refused")
        [*_, refused] = virtually(to(0.5), to(0.25))
        self.assertIn("time cannot pass from 500000000 ns to 250000000 ns", refused["text"])

    def test_delays_that_are_none_are_mistakes(self) -> None:
        for wrong in (-1, "soon", None, float("nan"), float("inf"), "1/0"):
            with self.assertRaises(ValueError):
                Adapter().after(wrong, print)
        exact = [nanoseconds(wait) for wait in (2, 0.1, "1/4", Decimal("0.3"), Fraction(1, 3))]
        self.assertEqual(exact, [2 * SECOND, 10**8, 25 * 10**7, 3 * 10**8, 333333333])


class Lines(io.TextIOBase):
    """Lines written by one thread and read by another."""

    def __init__(self) -> None:
        self.lines: "queue.Queue[str]" = queue.Queue()

    def write(self, text: str) -> int:
        self.lines.put(text)
        return len(text)

    def readline(self, _size: Any = -1) -> str:
        return self.lines.get(timeout=20)

    def __next__(self) -> str:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


class Quick(Adapter):
    """Answers later, on the clock of this machine."""

    def __init__(self) -> None:
        self.calling, self.go_on = threading.Event(), threading.Event()

    def reset(self) -> None:
        self.after(0, self.emit, "up")

    @on_input("later")
    def later(self, wait: Any, n: int) -> None:
        self.after(wait, self.emit, "done", n)

    @on_input("twice")
    def twice(self, wait: Any) -> None:
        self.after(wait, self.emit, "done", 1)
        self.after(0, self.emit, "done", 2)

    @on_input("slow")
    def slow(self) -> None:
        self.after(0, self.work)

    @on_input("wrong")
    def wrong(self) -> None:
        self.after(0, {}.pop, "nothing")

    def work(self) -> None:
        self.calling.set()
        self.go_on.wait(20)
        self.emit("done", n=99)

    def emit(self, label: str, /, *args: Any, **more: Any) -> None:
        super().emit(label, **({"n": args[0]} if args else more))


class WallClock(unittest.TestCase):
    def setUp(self) -> None:
        self.adapter, self.heard, self.said = Quick(), Lines(), Lines()
        self.thread = threading.Thread(target=self.adapter.talk, args=(self.heard, self.said))
        self.thread.start()
        self.expect("hello")
        self.tell({"type": "configure"})
        self.expect("ready")
        self.expect("output", "up")

    def tearDown(self) -> None:
        self.heard.write("")
        self.thread.join(20)

    def tell(self, message: Any) -> None:
        self.heard.write(json.dumps(message) + "\n")

    def expect(self, kind: str, label: Any = None, n: Any = None) -> Any:
        message = json.loads(self.said.readline())
        args = message.get("args", {})
        self.assertEqual((message["type"], message.get("label"), args.get("n")), (kind, label, n), message)
        return message

    def test_calls_come_after_the_receipt_and_in_order(self) -> None:
        self.tell(give("twice", wait=0.05))
        self.expect("sent")
        self.expect("output", "done", 2)
        self.expect("output", "done", 1)

    def test_a_reset_forgets_what_was_due(self) -> None:
        self.tell(give("later", wait=1000, n=1))
        self.expect("sent")
        self.tell(RESET)
        self.expect("ready")
        self.expect("output", "up")
        self.assertIsNone(self.adapter._clock.next())

    def test_a_call_under_way_is_over_before_the_reset(self) -> None:
        self.tell(give("slow"))
        self.expect("sent")
        self.assertTrue(self.adapter.calling.wait(20))
        self.tell(RESET)
        self.adapter.go_on.set()
        self.expect("output", "done", 99)
        self.expect("ready")
        self.expect("output", "up")

    def test_a_call_that_goes_wrong_is_told(self) -> None:
        self.tell(give("wrong"))
        self.expect("sent")
        error = self.expect("error")
        self.assertEqual((error["kind"], error["text"]), ("exception", "a delayed call failed: KeyError: 'nothing'"))

    def test_the_end_of_a_conversation_ends_the_thread(self) -> None:
        self.tell(give("later", wait=1000, n=1))
        self.expect("sent")
        server = self.adapter._clock._thread
        assert server is not None
        self.tell({"type": "bye"})
        self.expect("bye")
        server.join(20)
        self.assertFalse(server.is_alive())


class Lives(unittest.TestCase):
    def test_a_call_taken_up_before_the_end_of_its_life_is_not_made(self) -> None:
        turn, made = threading.RLock(), []
        clock = Clock(turn, made.append)
        with turn:
            clock.after(0, lambda: made.append("old"))
            clock.start()
            while clock.next() is not None:
                pass
            thread = clock._thread
            clock.stop()
        assert thread is not None
        thread.join(20)
        self.assertEqual(made, [])


if __name__ == "__main__":
    unittest.main()
