"""What to send, chosen when it is due by what was seen before.

A case comes with values that were chosen when it was made. Where they do not fit what the system said since, the
values at which the guard changes, and numbers beside them, are tried; then numbers near by, for guards with
remainders; then the solver, if the case came with a question for one.
"""

from fractions import Fraction
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

Values = Dict[str, Any]
Guard = Callable[[Values], bool]

MAX_TRIED = 20_000
"""How many choices are tried before the solver is asked."""

NEAR = 1_000
"""How far beside what fits else a number is looked for."""


class Stimulus:
    """What to send, and how many seconds after the state was entered.

    `choices` tells, for what was seen and tried, further values of fields by the names guards use; `ask` asks a
    solver for values of the names it is given, at once if the guard itself is a question for one (`asks`).
    """

    def __init__(
        self,
        delay: Fraction,
        values: Values,
        choices: Optional[Callable[[Values], Dict[str, List[Any]]]] = None,
        ask: Optional[Callable[[Values, Sequence[str]], Optional[Values]]] = None,
        asks: bool = False,
    ) -> None:
        self.delay, self.values = delay, values
        self.choices = choices or (lambda values: {})
        self.ask, self.asks = ask, asks


def fitting(
    guard: Guard,
    seen: Values,
    own: Values,
    delay: Tuple[str, Fraction],
    others: Callable[[Values], Dict[str, List[Any]]],
    made: Stimulus,
) -> Optional[Values]:
    """Values of the fields and the delay with which `guard` holds after `seen`: those given, if they do."""
    most = 0 if made.asks else MAX_TRIED
    start = {**seen, **own, delay[0]: delay[1]}
    free = [*own, delay[0]]
    for tried, point in enumerate(_points(start, free, others)):
        if tried > most:
            break
        if point[delay[0]] >= 0 and guard(point):
            return {name: point[name] for name in free}
    answer = made.ask(seen, free) if made.ask is not None else None
    if answer is None or not guard({**seen, **answer}):
        return None
    return answer


def _points(start: Values, free: Sequence[str], others: Callable[[Values], Dict[str, List[Any]]]) -> Iterator[Values]:
    """The given values; what one, two, ... changes lead to; then numbers near what changes led to."""
    yield start
    known: Set[Tuple[Any, ...]] = {_key(start, free)}
    reached, layer = [start], [start]
    for _ in free:
        later = []
        for point in layer:
            for name, values in others(point).items():
                for value in _beside(values):
                    other = {**point, name: value}
                    key = _key(other, free)
                    if key not in known:
                        known.add(key)
                        yield other
                        later.append(other)
        reached, layer = reached + later, later
    whole = [name for name in free if isinstance(start[name], int) and not isinstance(start[name], bool)]
    for distance in range(1, NEAR + 1):
        for point in reached[:20]:
            for name in whole:
                yield {**point, name: point[name] + distance}
                yield {**point, name: point[name] - distance}


def _beside(values: Sequence[Any]) -> List[Any]:
    """Values, and for numbers those just beside and between them."""
    found = list(values)
    whole = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    found += [value + step for value in whole for step in (-1, 1)]
    parts = sorted({value for value in values if isinstance(value, Fraction)})
    found += [(a + b) / 2 for a, b in zip(parts, parts[1:])]
    found += [value + step for value in parts for step in (Fraction(-1, 1000), Fraction(1, 1000))]
    return found


def _key(point: Values, free: Sequence[str]) -> Tuple[Any, ...]:
    return tuple(repr(point[name]) for name in free)
