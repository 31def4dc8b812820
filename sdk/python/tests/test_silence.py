"""How many outputs are to come before it is silent: said where nobody could emit more, and only there."""

import io
import json
import threading
import unittest
from typing import Any, List, Optional

from ioxide_adapter import Adapter, on_input
from ioxide_adapter.waiting import _waiting, waiting


class Door(Adapter):
    @on_input("knock")
    def knock(self, times: int) -> None:
        for _ in range(times):
            self.emit("come_in")

    @on_input("ring")
    def ring(self) -> None:
        self.after(3600, self.emit, "late")

    @on_input("early")
    def early(self) -> None:
        self.sent()
        self.emit("come_in")


class Greeting(Door):
    def reset(self) -> None:
        self.emit("come_in")


class Asynchronous(Door):
    async def reset(self) -> None:
        pass


class Watched(Door):
    observed = {"passer_by": {}}


class Declared(Watched):
    synchronous = True


class Undeclared(Door):
    synchronous = False


def counts(adapter: Adapter, *inputs: Any) -> List[Optional[int]]:
    """The numbers of outputs said to come after `ready` and after each input."""
    messages = [{"type": "configure"}]
    messages += [{"type": "input", "id": n, "label": label, "args": args} for n, (label, args) in enumerate(inputs)]
    writer = io.StringIO()
    adapter.talk(io.StringIO("".join(json.dumps(message) + "\n" for message in messages)), writer)
    told = [json.loads(line) for line in writer.getvalue().splitlines()]
    return [message.get("outputs") for message in told if message["type"] in ("ready", "sent")]


class Silence(unittest.TestCase):
    def setUp(self) -> None:
        # Servers of other tests, which are never asked again.
        left = {thread.ident for thread in threading.enumerate() if thread is not threading.current_thread()}
        _waiting.update(ident for ident in left if ident is not None)
        self.addCleanup(_waiting.difference_update, left)

    def test_outputs_are_counted_where_nobody_else_could_emit(self) -> None:
        self.assertEqual(counts(Door(), ("knock", {"times": 2}), ("knock", {"times": 0})), [0, 2, 0])
        self.assertEqual(counts(Greeting()), [1])

    def test_a_call_made_later_may_emit(self) -> None:
        self.assertEqual(counts(Door(), ("ring", {}), ("knock", {"times": 1})), [0, None, None])

    def test_what_comes_after_an_early_receipt_is_not_counted(self) -> None:
        self.assertEqual(counts(Door(), ("early", {})), [0, None])

    def test_coroutines_and_passers_by_may_emit(self) -> None:
        self.assertEqual(counts(Asynchronous(), ("knock", {"times": 1})), [None, None])
        self.assertEqual(counts(Watched(), ("knock", {"times": 1})), [None, None])

    def test_another_thread_may_emit_unless_it_waits(self) -> None:
        done = threading.Event()
        other = threading.Thread(target=done.wait)
        other.start()
        try:
            self.assertEqual(counts(Door()), [None])
        finally:
            done.set()
            other.join()
        told: List[Any] = []
        talk = threading.Thread(target=lambda: told.append(counts(Door())))
        with waiting():
            talk.start()
            talk.join()
        self.assertEqual(told, [[0]])
        talk = threading.Thread(target=lambda: told.append(counts(Door())))
        talk.start()
        talk.join()
        self.assertEqual(told[1:], [[None]])

    def test_what_is_declared_counts(self) -> None:
        self.assertEqual(counts(Declared(), ("knock", {"times": 1})), [0, 1])
        self.assertEqual(counts(Undeclared(), ("knock", {"times": 1})), [None, None])
        self.assertEqual(counts(Declared(), ("ring", {})), [0, None])


if __name__ == "__main__":
    unittest.main()
