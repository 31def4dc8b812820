"""Questions of a test case for the solver Z3, from the package `z3-solver`: guards that Python cannot say.

An answer is a proof or none at all: where the solver does not know, there is no verdict.
"""

from fractions import Fraction
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

Values = Dict[str, Any]
Named = Tuple[str, str, Mapping[str, str]]

TIMEOUT_MS = 10_000
"""How long the solver may think about one question."""


class Undecided(Exception):
    """The solver is not there, or does not know."""


class Questions:
    """What the guards of one case are about: declarations, and per value its symbol, sort and cases."""

    def __init__(self, declarations: Sequence[str], names: Mapping[str, Named], timeout: Optional[Fraction]) -> None:
        self._declarations, self._names = "\n".join(declarations), dict(names)
        self._known = {} if timeout is None else {"TM": timeout}

    def holds(self, guard: str, values: Values) -> bool:
        """Whether `guard` holds for `values`."""
        return self._model(guard, values) is not None

    def values(self, guard: str, seen: Values, free: Sequence[str]) -> Optional[Values]:
        """Values of the `free` names with which `guard` holds after `seen`, if there are any."""
        known = {name: value for name, value in seen.items() if name not in free}
        model = self._model(guard, known, [name for name in free if name in self._names])
        if model is None:
            return None
        return {name: model.get(name, self._plain(name)) for name in free}

    def _plain(self, name: str) -> Any:
        """The value of something the guard does not mention."""
        _, sort, cases = self._names.get(name, ("", "Real", {}))
        plain = {"Bool": False, "Int": 0, "Real": Fraction(0), "String": ""}
        return plain[sort] if sort in plain else next(iter(cases))

    def _model(self, guard: str, values: Values, free: Sequence[str] = ()) -> Optional[Values]:
        try:
            import z3  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError as error:
            raise Undecided("this test needs a solver: pip install z3-solver") from error
        facts = [f"(assert {guard})"]
        for name, value in {**values, **self._known}.items():
            if name in self._names:
                symbol, sort, cases = self._names[name]
                facts.append(f"(assert (= {symbol} {literal(sort, cases, value)}))")
        # A fresh constant for every wanted value: found again by name whatever the solver made of the others.
        wanted = {
            name: z3.Const(f"wanted!{at}", _sort(z3, self._names[name][1]))
            for at, name in enumerate(free)
            if self._names[name][1] != "Enum"
        }
        links = [
            f"(declare-const {const} {const.sort().sexpr()})\n(assert (= {const} {self._names[name][0]}))"
            for name, const in wanted.items()
        ]
        tests = {
            (name, case): z3.Bool(f"case!{at}!{n}")
            for at, name in enumerate(free)
            for n, case in enumerate(self._names[name][2])
        }
        links += [
            f"(declare-const {const} Bool)\n"
            f"(assert (= {const} (= {self._names[name][0]} {self._names[name][2][case]})))"
            for (name, case), const in tests.items()
        ]
        solver = z3.Solver()
        solver.set("timeout", TIMEOUT_MS)
        solver.add(z3.parse_smt2_string("\n".join([self._declarations, *links, *facts])))
        answer = solver.check()
        if answer == z3.unknown:
            raise Undecided(f"the solver does not know: {solver.reason_unknown()}")
        if answer == z3.unsat:
            return None
        model = solver.model()
        found = {name: _value(z3, model.eval(const, model_completion=True)) for name, const in wanted.items()}
        for (name, case), const in tests.items():
            if z3.is_true(model.eval(const, model_completion=True)):
                found[name] = case
        return found


def literal(sort: str, cases: Mapping[str, str], value: Any) -> str:
    """A value in SMT-LIB."""
    if sort == "Enum":
        return cases[value]
    if sort == "Bool":
        return "true" if value else "false"
    if sort == "String":
        plain = [c if " " <= c <= "~" and c not in '"\\' else f"\\u{{{ord(c):x}}}" for c in value]
        return '"' + "".join(plain) + '"'
    if sort == "Int":
        return _signed(str(abs(int(value))), value < 0)
    exact = Fraction(value)
    size = f"(/ {abs(exact.numerator)}.0 {exact.denominator}.0)"
    return _signed(size, exact < 0)


def _signed(size: str, negative: bool) -> str:
    return f"(- {size})" if negative else size


def _sort(z3: Any, sort: str) -> Any:
    makers: Dict[str, Any] = {"Bool": z3.BoolSort, "Int": z3.IntSort, "Real": z3.RealSort, "String": z3.StringSort}
    return makers[sort]()


def _value(z3: Any, value: Any) -> Any:
    """A value of the solver as guards compare it."""
    if z3.is_int_value(value):
        return value.as_long()
    if z3.is_rational_value(value):
        return Fraction(value.numerator_as_long(), value.denominator_as_long())
    if z3.is_string_value(value):
        return value.as_string()
    if z3.is_true(value) or z3.is_false(value):
        return z3.is_true(value)
    raise Undecided(f"the solver answers with {value}, which is not a plain value")
