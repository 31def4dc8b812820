"""The tester's side: arcs are taken by their guards, latency excuses, systems are reached and left."""

import os
import sys
import unittest
from fractions import Fraction as F
from unittest import mock

from ioxide_adapter.case import Arc, State, Stimulus, _taken, div, floor, follow, quotient, rem

ADDER = """
from ioxide_adapter import Adapter, on_input
class Adder(Adapter):
    def reset(self):
        self.sum = 0
    @on_input("add")
    def add(self, n):
        self.sum += n
        self.emit("sum", n=self.sum + {fault})
Adder().run()
"""

STATES = [
    State(
        "ec0",
        "delay@1",
        [Arc("R1", "send", "add", [("n", "n@1", "int")], "ec1", lambda v: v["n@1"] > 0, Stimulus(F(0), {"n": 3}))],
    ),
    State(
        "ec1",
        "delay@2",
        [
            Arc("R3", "receive", "sum", [("n", "n@2", "int")], "PASS", lambda v: v["n@2"] == v["n@1"]),
            Arc("R5", "receive", "sum", [("n", "n@2", "int")], "FAIL_out", lambda v: v["n@2"] != v["n@1"]),
            Arc("R10", "silence", None, [], "FAIL_dur", lambda v: True),
        ],
    ),
]


class Numbers(unittest.TestCase):
    def test_division_is_euclidean_and_total(self) -> None:
        self.assertEqual([div(7, 2), div(-7, 2), div(7, -2), div(-7, -2), div(1, 0)], [3, -4, -3, 4, 0])
        self.assertEqual([rem(7, 2), rem(-7, 2), rem(7, -2), rem(-7, -2), rem(5, 0)], [1, 1, 1, 1, 5])
        self.assertEqual([quotient(F(1), F(0)), quotient(F(1), F(2)), floor(F(-1, 2))], [0, F(1, 2), -1])


class Latency(unittest.TestCase):
    def taken(self, delay: F) -> str:
        on_time = Arc("R3", "receive", "a", [], "PASS", lambda v: v["d"] <= 1, corners=lambda v: [F(1)])
        late = Arc("R5", "receive", "a", [], "FAIL_out", lambda v: v["d"] > 1, corners=lambda v: [F(1)])
        arc, _ = _taken(State("ec0", "d", [on_time, late]), {}, "receive", "a", {}, delay, F(1, 20))
        assert arc is not None
        return arc.target

    def test_a_message_on_its_way_is_not_late(self) -> None:
        self.assertEqual([self.taken(F(1)), self.taken(F(21, 20)), self.taken(F(11, 10))], ["PASS", "PASS", "FAIL_out"])

    def at_an_instant(self, delay: F) -> str:
        exactly = Arc("R3", "receive", "a", [], "PASS", lambda v: v["d"] == F(3, 10), corners=lambda v: [F(3, 10)])
        other = Arc("R5", "receive", "a", [], "FAIL_out", lambda v: v["d"] != F(3, 10), corners=lambda v: [F(3, 10)])
        arc, seen = _taken(State("ec0", "d", [exactly, other]), {}, "receive", "a", {}, delay, F(1, 20))
        assert arc is not None
        self.assertEqual(seen["d"], delay)
        return arc.target

    def test_one_instant_is_met_within_the_tolerance_in_both_directions(self) -> None:
        taken = [self.at_an_instant(F(n, 1000)) for n in (249, 250, 297, 300, 303, 350, 351)]
        self.assertEqual(taken, ["FAIL_out", "PASS", "PASS", "PASS", "PASS", "PASS", "FAIL_out"])


class Live(unittest.TestCase):
    def follow(self, system: str) -> None:
        with mock.patch.dict(os.environ, {"IOXIDE_SUT": system}):
            follow(self, STATES, F(2))

    def adder(self, fault: int) -> str:
        text = ADDER.format(fault=fault).replace("\n", "\\n").replace('"', '\\"')
        return f"stdio:{sys.executable} -c \"exec('{text}')\""

    def test_a_correct_system_passes(self) -> None:
        self.follow(self.adder(0))

    def test_a_faulty_system_fails(self) -> None:
        with self.assertRaisesRegex(AssertionError, "FAIL_out: R5 at ec1"):
            self.follow(self.adder(1))

    def test_a_system_that_ends_gives_no_verdict(self) -> None:
        with self.assertRaisesRegex(unittest.SkipTest, "no verdict"):
            self.follow("stdio:false")
