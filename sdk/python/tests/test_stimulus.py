"""Stimuli chosen by what was seen."""

import importlib.util
import unittest
from fractions import Fraction as F

from ioxide_adapter.solve import Questions, literal
from ioxide_adapter.stimulus import Stimulus, fitting


def found(guard, seen, own, choices, ask=None):
    """The fitting values of fields called as in `own`."""
    made = Stimulus(F(0), {}, choices, ask)
    return fitting(guard, seen, own, ("d", F(0)), made.choices, made)


class Fitting(unittest.TestCase):
    def test_what_was_chosen_before_is_kept_where_it_fits(self) -> None:
        self.assertEqual(found(lambda v: v["m"] > 1, {}, {"m": 5}, lambda v: {"m": [9]}), {"m": 5, "d": F(0)})

    def test_corners_and_what_is_beside_them_are_tried(self) -> None:
        above = found(lambda v: v["m"] > v["n"], {"n": 40}, {"m": 1}, lambda v: {"m": [v["n"]]})
        self.assertEqual(above, {"m": 41, "d": F(0)})

    def test_fields_that_depend_on_each_other(self) -> None:
        def guard(v):
            return v["a"] == v["n"] and v["b"] == v["a"] + 7 and v["c"] == (v["b"] > 10)

        def choices(v):
            return {"a": [v["n"]], "b": [v["a"] + 7], "c": [False, True]}

        answer = found(guard, {"n": 30}, {"a": 0, "b": 0, "c": False}, choices)
        self.assertEqual(answer, {"a": 30, "b": 37, "c": True, "d": F(0)})

    def test_remainders_are_met_near_by(self) -> None:
        answer = found(lambda v: v["m"] > v["n"] and v["m"] % 97 == 5, {"n": 1000}, {"m": 0}, lambda v: {"m": [v["n"]]})
        self.assertIsNotNone(answer)
        self.assertTrue(answer["m"] > 1000 and answer["m"] % 97 == 5)

    def test_nothing_fits(self) -> None:
        self.assertIsNone(found(lambda v: False, {}, {"m": 0}, lambda v: {"m": [1]}))

    def test_an_answer_that_does_not_fit_is_none(self) -> None:
        wrong = found(lambda v: False, {}, {"m": 0}, lambda v: {}, lambda seen, free: {"m": 1, "d": F(0)})
        self.assertIsNone(wrong)


class Literals(unittest.TestCase):
    def test_values_in_smt_lib(self) -> None:
        rows = [
            ("Int", -3, "(- 3)"),
            ("Real", F(-1, 2), "(- (/ 1.0 2.0))"),
            ("Bool", True, "true"),
            ("String", 'a"\u00e9', '"a\\u{22}\\u{e9}"'),
            ("Enum", "On", "On!3!0"),
        ]
        for sort, value, text in rows:
            self.assertEqual(literal(sort, {"On": "On!3!0"}, value), text)


@unittest.skipUnless(importlib.util.find_spec("z3"), "the package z3-solver is not installed")
class Solver(unittest.TestCase):
    QUESTIONS = Questions(
        ["(declare-const n!1 Int)", "(declare-const m!2 Int)", "(declare-const r!3 Real)"],
        {"n": ("n!1", "Int", {}), "m": ("m!2", "Int", {}), "r": ("r!3", "Real", {})},
        None,
    )

    def test_guards_with_quantifiers(self) -> None:
        square = "(exists ((k Int)) (and (< 2 k) (= n!1 (* k k))))"
        self.assertTrue(self.QUESTIONS.holds(square, {"n": 16}))
        self.assertFalse(self.QUESTIONS.holds(square, {"n": 17}))

    def test_values_for_what_is_free(self) -> None:
        answer = self.QUESTIONS.values("(and (= m!2 (* 2 n!1)) (= r!3 1.5))", {"n": 21}, ["m", "r"])
        self.assertEqual(answer, {"m": 42, "r": F(3, 2)})
        self.assertIsNone(self.QUESTIONS.values("(< m!2 m!2)", {"n": 1}, ["m"]))


if __name__ == "__main__":
    unittest.main()
