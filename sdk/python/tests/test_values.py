"""Collections and cases on their way to ioxide and back."""

import json
import unittest
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, List

from ioxide_adapter import Case
from ioxide_adapter.codec import from_line, to_line


class Colour(Enum):
    RED = 1


@dataclass
class Job:
    id: int
    tags: List[str]


def sent(value: Any) -> Any:
    return json.loads(to_line({"type": "output", "x": value}))["x"]


class Values(unittest.TestCase):
    def test_collections_are_sent_as_models_have_them(self) -> None:
        self.assertEqual(sent([1, (2, 3)]), [1, [2, 3]])
        self.assertEqual(sent({"a", "a"}), ["a"])
        self.assertEqual(sent(frozenset()), [])
        self.assertEqual(sent({"k": {1}}), {"k": [1]})
        self.assertEqual(sent({Colour.RED: Decimal("0.5")}), {"RED": "1/2"})
        self.assertEqual(sent({1: "a", 2: {3: "b"}}), [[1, "a"], [2, [[3, "b"]]]])
        self.assertEqual(sent([Job(1, ["x"])]), [{"id": 1, "tags": ["x"]}])

    def test_cases_are_sent_and_read(self) -> None:
        for case in [Case("ok"), Case("error", code=3), Case("node", left="leaf", key=1, right="leaf")]:
            self.assertEqual(Case.of(sent(case)), case)
        self.assertEqual(sent([Case("some_of", all={1})]), [{"some_of": {"all": [1]}}])
        read = Case.of(from_line('{"type": "input", "x": {"error": {"code": 3}}}')["x"])
        self.assertEqual((read.name, read["code"], repr(read)), ("error", 3, "Case('error', code=3)"))

    def test_what_is_no_case_is_refused(self) -> None:
        for value in [3, None, {}, {"a": 1}, {"a": {}, "b": {}}, ["ok"]]:
            with self.assertRaises(ValueError):
                Case.of(value)

    def test_what_no_model_has_is_refused(self) -> None:
        with self.assertRaises(TypeError):
            sent([object()])


if __name__ == "__main__":
    unittest.main()
