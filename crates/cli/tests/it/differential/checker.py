#!/usr/bin/env python3
"""A second opinion on ioxide from outside: random models through the command line, checked by enumeration.

This file shares nothing with the engine. It knows what a model means (docs/book/src/language.md, verdicts.md and
mutation.md): a state is a location and the values of the variables, a message has every value of its fields, and all of
them are enumerated. It needs Python 3 and its standard library.

    checker.py IOXIDE [--models N] [--seed S] [--only ROUND,ROUND...]

Models have numbers, some of them a list or a clock, and some are systems of two parts that speak to each other. In
some the fields of messages are numbers without bounds, so that lists are asked for what they cannot hold; in some
an input has two effects, one of which has to be heard of before a deadline. For every model it compares
  judge     traces at random: the verdict and the step it falls at, under ioco and uioco;
  conform   another model as the implementation: whether it conforms, and that the witness is one;
  kill      every mutant: killed or equivalent;
  purposes  every switch: reached or proved unreachable.
What ioxide leaves open ("unknown") is counted and is no disagreement. Exit code 1 if there is one; the model is
printed.
"""

import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

HI = 2  # every range is 0..HI
VALUES = range(HI + 1)
# The values of a field without bounds. Variables and constants are in 0..HI and the values that guards compute in
# 0..HI + 1, so this range has two values on either side that no guard distinguishes from all others there.
WINDOW = range(-2, HI + 4)
INPUTS = {"a": ["n"], "b": []}
OUTPUTS = {"x": ["m"], "y": []}
PARTS = {"a": ["n"], "b": []}, {"x": ["n"], "y": []}  # of a part of a system: what is connected has the same fields
VARS = ["u", "v"]
LIST = "q"  # a variable that some models have besides: a list of at most two numbers
DELTA = "delta"


class List(tuple):
    """A list as models know it."""

    __hash__ = tuple.__hash__

    def __eq__(self, other):
        return tuple(self) == tuple(other)

    def __ne__(self, other):
        return not self == other

    def __add__(self, other):
        return List(tuple(self) + tuple(other))

    def length(self):
        return len(self)

    def is_empty(self):
        return not self

    def contains(self, item):
        return item in self

    def take(self, n):
        return List(self[: max(n, 0)])

    def drop(self, n):
        return List(self[max(n, 0) :])

    def reverse(self):
        return List(self[::-1])

    def sorted(self):
        return List(sorted(self))

    def without(self, item):
        return List(it for it in self if it != item)

    def sum(self):
        return sum(self)


def in_range(value):
    """Whether a value is one of its sort: items obey theirs."""
    return all(item in VALUES for item in (value if isinstance(value, (tuple, list)) else [value]))


class Switch:
    """One transition: where from, its message, when, what it changes, where to."""

    LINE = re.compile(
        r"state (\w+): (\w+): (on|emit|internal)(?: (\w+))?(?: when (.*?))?(?: \{ (.*?) \})? -> (\w+)$"
    )

    def __init__(self, source, name, kind, gate, guard, updates, target):
        self.source, self.name, self.kind, self.gate = source, name, kind, gate
        self.guard, self.updates, self.target = guard, updates, target
        python = guard.replace("&&", " and ").replace("||", " or ")
        python = re.sub(r"!(?!=)", " not ", python).replace("true", "True").replace("false", "False")
        self.holds = compile(python.strip(), guard, "eval")
        self.changes = [(var, compile(term, term, "eval")) for var, term in updates]

    @classmethod
    def read(cls, text):
        """The switch that ioxide shows as `text`."""
        match = cls.LINE.match(text)
        if not match:
            raise ValueError(f"cannot read {text!r}")
        source, name, kind, gate, guard, updates, target = match.groups()
        pairs = [part.split(" = ") for part in re.split(r"[;,] ", updates)] if updates else []
        return cls(source, name, kind, gate, guard or "true", [tuple(pair) for pair in pairs], target)

    def text(self):
        gate = f" {self.gate}" if self.gate else ""
        guard = f" when {self.guard}" if self.guard != "true" else ""
        updates = " { " + ", ".join(f"{var} = {term}" for var, term in self.updates) + " }" if self.updates else ""
        return f"{self.name}: {self.kind}{gate}{guard}{updates} -> {self.target}"

    def step(self, values, fields):
        """The values after it, or None where it cannot be taken: an update that leaves its range disables it, and
        so does an item that is not there."""
        names = [*VARS, LIST][: len(values)]
        known = dict(zip(names, values)) | fields
        after = dict(zip(names, values))
        try:
            if not eval(self.holds, {}, known):
                return None
            for var, term in self.changes:
                after[var] = eval(term, {}, known)
        except IndexError:
            return None
        if not all(in_range(after[var]) for var in names):
            return None
        return tuple(List(after[var]) if var == LIST else after[var] for var in names)


def messages(gates, values=VALUES):
    """Every message: its name and the values of its fields."""
    for gate, fields in gates.items():
        for chosen in itertools.product(values, repeat=len(fields)):
            yield gate, chosen


class Model:
    """Switches by location; the first location is the initial one."""

    values, sort = VALUES, f"0..{HI}"  # of the fields of messages

    def __init__(self, locations, initial, switches, gates=(INPUTS, OUTPUTS)):
        self.locations, self.initial, self.switches = locations, initial, switches
        self.inputs, self.outputs = gates

    def text(self, name="M"):
        lines = [f"model {name} {{"]
        for word, gates in (("input", self.inputs), ("output", self.outputs)):
            for gate, fields in gates.items():
                shown = ", ".join(f"{field}: {self.sort}" for field in fields)
                lines.append(f"    {word} {gate}" + (f"({shown})" if fields else ""))
        for var, value in zip(VARS, self.initial):
            lines.append(f"    var {var}: 0..{HI}" + ("" if value is None else f" = {value}"))
        for value in self.initial[len(VARS) :]:
            lines.append(f"    var {LIST}: list<0..{HI}> = {list(value)}")
        for location in self.locations:
            lines.append(f"\n    state {location} {{")
            lines += [f"        {it.text()}" for it in self.switches if it.source == location]
            lines.append("    }")
        return "\n".join(lines + ["}"]) + "\n"

    def start(self):
        values = [VALUES if value is None else [value] for value in self.initial]
        return {(self.locations[0], choice) for choice in itertools.product(*values)}

    def takes(self, state, gate, fields):
        """The states after a message of `gate`, or after an internal step if it is None."""
        location, values = state
        names = (self.inputs | self.outputs).get(gate, [])
        for it in self.switches:
            if it.source == location and it.gate == gate:
                after = it.step(values, dict(zip(names, fields)))
                if after is not None:
                    yield (it.target, after)

    def closure(self, states):
        found, new = set(states), list(states)
        while new:
            for after in self.takes(new.pop(), None, ()):
                if after not in found:
                    found.add(after)
                    new.append(after)
        return found

    def is_stable(self, state):
        return not any(True for _ in self.takes(state, None, ()))

    def is_quiescent(self, state):
        every = messages(self.outputs, self.values)
        outputs = (True for gate, fields in every for _ in self.takes(state, gate, fields))
        return self.is_stable(state) and not any(outputs)

    def after(self, belief, label, ignoring=False):
        """The closed belief after a label; with `ignoring`, inputs that a stable state does not mention are ignored."""
        if label == DELTA:
            return {state for state in belief if self.is_quiescent(state)}
        gate, fields = label
        found = set()
        for state in belief:
            taken = set(self.takes(state, gate, fields))
            if ignoring and not taken and gate in self.inputs and self.is_stable(state):
                taken = {state}
            found |= taken
        return self.closure(found)

    def specifies(self, belief, label, relation):
        """Whether something is said about an input after which `belief` goes on."""
        accepting = [state for state in belief if any(True for _ in self.takes(state, *label))]
        if relation == "ioco":
            return bool(accepting)
        return bool(accepting) and all(state in accepting or not self.is_stable(state) for state in belief)


class Free(Model):
    """A model whose messages carry numbers without bounds."""

    values, sort = WINDOW, "int"


class System(Model):
    """Two parts: what the left one says with `x` the right one hears as `a`, in one step of both."""

    def __init__(self, left, right, is_hidden):
        self.parts, self.is_hidden = (left, right), is_hidden
        sides = {"left": left, "right": right}
        own = {
            direction: {
                f"{side}.{gate}": fields for side, part in sides.items() for gate, fields in gates(part).items()
            }
            for direction, gates in (("inputs", lambda part: part.inputs), ("outputs", lambda part: part.outputs))
        }
        del own["inputs"]["right.a"]
        if is_hidden:
            del own["outputs"]["left.x"]
        self.inputs, self.outputs = own["inputs"], own["outputs"]

    def text(self):
        hide = "    hide left.x\n" if self.is_hidden else ""
        parts = [part.text(name) for part, name in zip(self.parts, ("Left", "Right"))]
        wiring = f"system S {{\n    left: Left\n    right: Right\n    left.x -> right.a\n{hide}}}\n"
        return "\n".join([*parts, wiring])

    def start(self):
        return set(itertools.product(*(part.start() for part in self.parts)))

    def together(self, state, fields):
        """The left part says `x`, and the right one, if it listens, hears it."""
        left, right = (part.takes(one, gate, fields) for part, one, gate in zip(self.parts, state, "xa"))
        yield from itertools.product(list(left), list(right))

    def takes(self, state, gate, fields):
        (left, right), (one, other) = self.parts, state
        if gate is None:
            yield from ((after, other) for after in left.takes(one, None, ()))
            yield from ((one, after) for after in right.takes(other, None, ()))
            for value in VALUES if self.is_hidden else ():
                yield from self.together(state, (value,))
        elif gate == "left.x":
            yield from self.together(state, fields)
        elif gate.startswith("left."):
            yield from ((after, other) for after in left.takes(one, gate[5:], fields))
        else:
            yield from ((one, after) for after in right.takes(other, gate[6:], fields))


class TimedSwitch(Switch):
    """A switch that may ask for the time, and may set the clock back."""

    def __init__(self, it, window, resets):
        guard_ = " && ".join(part for part in (it.guard if it.guard != "true" else "", window) if part) or "true"
        if window and "||" in it.guard:
            guard_ = f"({it.guard}) && {window}"
        super().__init__(it.source, it.name, it.kind, it.gate, guard_, it.updates, it.target)
        self.resets = resets

    def text(self):
        plain = super().text()
        if not self.resets:
            return plain
        body, target = plain.rsplit(" -> ", 1)
        return (f"{body[:-2]}, reset c }}" if self.updates else f"{body} {{ reset c }}") + f" -> {target}"


class Timed(Model):
    """A model with a clock, without internal steps. Guards compare the clock with whole numbers, so between two of
    them all instants are alike."""

    def text(self):
        return super().text().replace("model M {", "model M {\n    clock c")

    def start(self):
        return {(*state, Fraction(0)) for state in super().start()}

    def takes(self, state, gate, fields):
        location, values, now = state
        names = (self.inputs | self.outputs).get(gate, [])
        for it in self.switches:
            if it.source == location and it.gate == gate:
                after = it.step(values, dict(zip(names, fields)) | {"c": now})
                if after is not None:
                    yield (it.target, after, Fraction(0) if it.resets else now)

    def speaks(self, state):
        """Whether an output can come now."""
        return any(True for gate, fields in messages(self.outputs) for _ in self.takes(state, gate, fields))

    def may_speak(self, state):
        """Whether an output can come now or later."""
        location, values, now = state
        whole = [Fraction(number) for number in range(6) if number >= now]
        between = [number + Fraction(1, 2) for number in whole]
        soon = [(now + min(whole)) / 2] if whole else []
        return any(self.speaks((location, values, instant)) for instant in [now, *soon, *whole, *between, now + 1000])

    def is_quiescent(self, state):
        return not self.may_speak(state)

    def after(self, belief, label, ignoring=False):
        if label == DELTA or label[0] != "after":
            return super().after(belief, label, ignoring)
        # Silence for so long is allowed if something may still come, or nothing can come at all.
        found = set()
        for state in belief:
            location, values, now = state
            later = (location, values, now + Fraction(label[1]))
            if self.may_speak(later) or self.is_quiescent(state):
                found.add(later)
        return found


def timed(rng):
    def window():
        low, high = sorted([rng.randint(0, 3), rng.randint(0, 3)])
        return rng.choice(
            ["", "", f"c >= {low}", f"c <= {high}", f"c >= {low} && c <= {high}", f"c == {high}", f"c < {high + 1}"]
        )

    plain = model(rng, internal=False)
    switches = [TimedSwitch(it, window(), rng.random() < 0.5) for it in plain.switches]
    return Timed(plain.locations, plain.initial, switches)


def forked(rng):
    """A timed model in which `b` leads to two places: one has to speak before a deadline, the other need not. Both
    take `a`, and what follows it differs."""
    base = timed(rng)
    locations = [*base.locations, "due", "free"]

    def made(source, name, kind, gate, guard_, target, resets):
        return TimedSwitch(Switch(source, name, kind, gate, "true", [], target), guard_, resets)

    first = locations[0]
    switches = [it for it in base.switches if it.gate != "b"] + [
        made(first, "loud", "on", "b", "", "due", True),
        made(first, "mute", "on", "b", "", "free", True),
        made(
            "due",
            "speak",
            "emit",
            rng.choice(["x", "y"]),
            f"c <= {rng.randint(0, 2)}",
            rng.choice(locations),
            rng.random() < 0.5,
        ),
        made(
            "due",
            "in_due",
            "on",
            "a",
            rng.choice(["", "c >= 1", "n == 1"]),
            rng.choice(locations),
            rng.random() < 0.5,
        ),
        made(
            "free",
            "in_free",
            "on",
            "a",
            rng.choice(["", "c >= 1", "n != 1"]),
            rng.choice(locations),
            rng.random() < 0.5,
        ),
    ]
    if rng.random() < 0.3:
        switches.append(made("free", "later", "emit", "y", f"c >= {rng.randint(1, 3)}", first, True))
    return Timed(locations, base.initial, switches)


def timed_trace(rng, spec):
    """Messages, and times that pass between them."""
    belief, labels = spec.start(), []
    every = [*messages(spec.inputs), *messages(spec.outputs)]
    for _ in range(rng.randint(1, 8)):
        waits = [("after", wait) for wait in (0.5, 1.0, 2.0, 4.5)] if not labels or labels[-1][0] != "after" else []
        possible = [label for label in every + waits if spec.after(belief, label)]
        label = rng.choice(possible if possible and rng.random() < 0.85 else every + waits)
        labels.append(label)
        belief = spec.after(belief, label)
        if not belief:
            break
    return labels


def judge(model, trace, relation):
    """The verdict on a trace, and the step it falls at."""
    belief = model.closure(model.start())
    for at, label in enumerate(trace, 1):
        is_input = label != DELTA and label[0] in model.inputs
        if is_input and not model.specifies(belief, label, relation):
            return "pass", None
        belief = model.after(belief, label)
        if not belief:
            return "fail", at
    return "pass", None


def conforms(imp, spec, relation="ioco"):
    """Whether the implementation, which ignores what it does not mention, does only what is allowed."""
    first = (frozenset(imp.closure(imp.start())), frozenset(spec.closure(spec.start())))
    seen, new = {first}, [first]
    while new:
        mine, allowed = new.pop()
        for label in [*messages(spec.inputs, spec.values), *messages(spec.outputs, spec.values), DELTA]:
            if label != DELTA and label[0] in spec.inputs and not spec.specifies(allowed, label, relation):
                continue
            doing = imp.after(mine, label, ignoring=True)
            if not doing:
                continue
            left = spec.after(allowed, label)
            if not left:
                return False
            pair = (frozenset(doing), frozenset(left))
            if pair not in seen:
                seen.add(pair)
                new.append(pair)
    return True


def reached(model):
    """The names of the switches that some path takes."""
    seen, new, names = set(model.start()), list(model.start()), set()
    while new:
        location, values = new.pop()
        for it in model.switches:
            if it.source != location:
                continue
            fields = (model.inputs | model.outputs).get(it.gate, [])
            for choice in itertools.product(VALUES, repeat=len(fields)):
                after = it.step(values, dict(zip(fields, choice)))
                if after is not None:
                    names.add(it.name)
                    if (it.target, after) not in seen:
                        seen.add((it.target, after))
                        new.append((it.target, after))
    return names


# Random models and traces.


def term(rng, fields):
    return rng.choice(VARS + fields * 2 + [str(rng.choice(VALUES))])


def guard(rng, fields, lists=False):
    def atom():
        if lists and rng.random() < 0.5:
            return rng.choice(LIST_ATOMS).format(term(rng, fields))
        return f"{rng.choice(VARS + fields)} {rng.choice(['==', '!=', '<', '<=', '>', '>='])} {term(rng, fields)}"

    shape = rng.random()
    if shape < 0.3:
        return "true"
    if shape < 0.7:
        return atom()
    if shape < 0.8:
        return f"!({atom()})"
    return f"{atom()} {rng.choice(['&&', '||'])} {atom()}"


LIST_ATOMS = [
    "q.contains({})",
    "!q.contains({})",
    "q.length() == {}",
    "q.is_empty()",
    "q.sum() > {}",
    "q.take(1).contains({})",
    "q == [{}]",
    "q != [{}]",
    "q.without({}) == q",
]
LIST_CHANGES = ["[{}]", "q.drop(1)", "q.reverse()", "q.without({})", "q.sorted()", "q.take({})", "[]"]


def listed(rng, it, fields):
    """The switch with something about the list besides."""
    how = rng.random()
    if how < 0.35:
        # What grows has room to grow.
        room = "q.length() < 2"
        guard_ = room if it.guard == "true" else f"({it.guard}) && {room}"
        return Switch(
            it.source,
            it.name,
            it.kind,
            it.gate,
            guard_,
            [*it.updates, (LIST, f"q + [{term(rng, fields)}]")],
            it.target,
        )
    if how < 0.6:
        change = rng.choice(LIST_CHANGES).format(term(rng, fields))
        return Switch(it.source, it.name, it.kind, it.gate, it.guard, [*it.updates, (LIST, change)], it.target)
    if how < 0.75 and not any(var == "u" for var, _ in it.updates):
        updates = [*it.updates, ("u", f"q[{rng.choice([0, 1])}]")]
        return Switch(it.source, it.name, it.kind, it.gate, it.guard, updates, it.target)
    return it


def switch(rng, number, locations, internal, lists=False, gates=(INPUTS, OUTPUTS)):
    kind = rng.choice(["on", "on", "emit", "emit"] + (["internal"] if internal else []))
    gates = {"on": gates[0], "emit": gates[1], "internal": {None: []}}[kind]
    gate = rng.choice(list(gates))
    fields = gates[gate]
    updates = []
    for var in VARS:
        if rng.random() < 0.3:
            change = rng.choice([term(rng, fields), f"{rng.choice(VARS)} + 1"])
            updates.append((var, change))
    made = guard(rng, fields, lists)
    it = Switch(rng.choice(locations), f"t{number}", kind, gate, made, updates, rng.choice(locations))
    return listed(rng, it, fields) if lists else it


def model(rng, internal=True, unknown=False, lists=False, gates=(INPUTS, OUTPUTS), kind=Model):
    locations = [f"s{n}" for n in range(rng.randint(1, 3))]
    switches = [switch(rng, n + 1, locations, internal, lists, gates) for n in range(rng.randint(3, 8))]
    initial = [None if unknown and rng.random() < 0.4 else rng.choice(VALUES) for _ in VARS]
    if lists:
        initial.append(List(rng.choice([[], [1], [0, 2]])))
    return kind(locations, initial, switches, gates)


def system(rng):
    return System(model(rng, gates=PARTS), model(rng, gates=PARTS), rng.random() < 0.5)


def trace(rng, spec):
    """A trace that mostly follows the model."""
    belief, labels = spec.closure(spec.start()), []
    every = [*messages(spec.inputs, spec.values), *messages(spec.outputs, spec.values), DELTA]
    for _ in range(rng.randint(1, 8)):
        possible = [label for label in every if spec.after(belief, label)]
        label = rng.choice(possible if possible and rng.random() < 0.85 else every)
        labels.append(label)
        belief = spec.after(belief, label)
        if not belief:
            break
    return labels


def wire(spec, label):
    if label == DELTA:
        return {"quiescence": True}
    if label[0] == "after":
        return {"after": label[1]}
    gate, values = label
    return {"label": gate, "args": dict(zip((spec.inputs | spec.outputs)[gate], values))}


def unwire(spec, line):
    if line.get("quiescence"):
        return DELTA
    if "after" in line:
        return "after", Fraction(str(line["after"]))
    return line["label"], tuple(line["args"][field] for field in (spec.inputs | spec.outputs)[line["label"]])


class Session:
    """Runs ioxide, compares, counts."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.compared, self.open, self.wrong = 0, 0, 0

    def rounds(self):
        return (
            self.judged,
            self.conformed,
            self.killed,
            self.purposed,
            self.listed,
            self.composed,
            self.clocked,
            self.freed,
            self.asked,
            self.split,
        )

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def ask(self, *args):
        done = subprocess.run([self.program, *args, "--json"], capture_output=True, text=True, check=False)
        if done.returncode == 4:
            return None  # there is nothing to do
        if done.returncode not in (0, 1, 5):
            raise RuntimeError(f"ioxide {' '.join(args)}: exit {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout)

    def compare(self, what, mine, theirs, *models):
        self.compared += 1
        if mine != theirs:
            self.wrong += 1
            print(f"DISAGREEMENT: {what}: expected {mine}, ioxide says {theirs}")
            for it in models:
                print(it.text() if isinstance(it, Model) else it)

    def judged(self, rng):
        self.judges(rng, model(rng, unknown=True))

    def listed(self, rng):
        spec = model(rng, lists=True)
        self.judges(rng, spec)
        self.conforming(rng, changed(rng, spec, lists=True), spec)

    def freed(self, rng):
        """Fields without bounds."""
        spec = model(rng, kind=Free)
        self.judges(rng, spec)
        self.conforming(rng, changed(rng, spec), spec)
        self.kills(rng, spec)

    def asked(self, rng):
        """Fields without bounds, and a list that is asked for them."""
        spec = model(rng, lists=True, kind=Free)
        self.judges(rng, spec)
        self.conforming(rng, changed(rng, spec, lists=True), spec)

    def split(self, rng):
        """Silence that tells two effects of one input apart."""
        spec = forked(rng)
        self.judges_in_time(rng, spec, 6)
        self.conforming_in_time(rng, spec)

    def composed(self, rng):
        spec = system(rng)
        self.judges(rng, spec)
        left, right = spec.parts
        other = (changed(rng, left), right) if rng.random() < 0.5 else (left, changed(rng, right))
        self.conforming(rng, System(*other, spec.is_hidden), spec)

    def clocked(self, rng):
        self.judges_in_time(rng, timed(rng), 3)

    def conforming_in_time(self, rng, spec):
        """A model with one transition less against the whole: a witness is one, and where none is told, traces at
        random show none."""
        imp = Timed(spec.locations, spec.initial, list(spec.switches))
        del imp.switches[rng.randrange(len(imp.switches))]
        told = self.ask(
            "conform", self.write("imp.iox", imp.text()), self.write("spec.iox", spec.text()), "--max-states", "300"
        )
        if told["conforms"] == "unknown":
            self.open += 1
        elif told["conforms"] is False:
            self.witnessed([unwire(spec, line) for line in told["trace"]], imp, spec, "ioco")
        else:
            for _ in range(8):
                labels = timed_trace(rng, imp)
                verdict, at = judge(spec, labels, "ioco")
                done = imp.start()
                for label in labels[: at or 0]:
                    done = imp.after(done, label, ignoring=True)
                is_shown = verdict == "fail" and bool(done)
                self.compare("conform in time", False, is_shown, imp, spec, labels)

    def judges_in_time(self, rng, spec, traces):
        path = self.write("clocked.iox", spec.text())
        for _ in range(traces):
            labels = timed_trace(rng, spec)
            lines = "".join(json.dumps(wire(spec, label)) + "\n" for label in labels)
            told = self.ask("judge", path, self.write("times.jsonl", lines), "--relation", "ioco")
            if told["verdict"] == "inconclusive":
                self.open += 1
                continue
            verdict, at = judge(spec, labels, "ioco")
            # A time that was too long is told with the output that ends it.
            is_ended = (
                at is not None and labels[at - 1][0] == "after" and at < len(labels) and labels[at][0] in spec.outputs
            )
            theirs = (told["verdict"], told["steps"] if told["verdict"] == "fail" else None)
            self.compare("judge in time", (verdict, at + 1 if is_ended else at), theirs, spec, lines)

    def judges(self, rng, spec):
        path = self.write("judged.iox", spec.text())
        for _ in range(3):
            labels, relation = trace(rng, spec), rng.choice(["ioco", "uioco"])
            lines = "".join(json.dumps(wire(spec, label)) + "\n" for label in labels)
            told = self.ask("judge", path, self.write("trace.jsonl", lines), "--relation", relation)
            if told["verdict"] == "inconclusive":
                self.open += 1
                continue
            theirs = (told["verdict"], told["steps"] if told["verdict"] == "fail" else None)
            self.compare(f"judge under {relation}", judge(spec, labels, relation), theirs, spec, lines)

    def conformed(self, rng):
        spec = model(rng)
        self.conforming(rng, changed(rng, spec) if rng.random() < 0.7 else model(rng), spec)

    def conforming(self, rng, imp, spec):
        relation = rng.choice(["ioco", "uioco"])
        paths = self.write("imp.iox", imp.text()), self.write("spec.iox", spec.text())
        told = self.ask("conform", *paths, "--relation", relation)
        if told["conforms"] == "unknown":
            self.open += 1
            return
        mine = conforms(imp, spec, relation)
        self.compare(f"conform under {relation}", mine, told["conforms"], imp, spec)
        if told["conforms"] is False:
            self.witnessed([unwire(spec, line) for line in told["trace"]], imp, spec, relation)

    def witnessed(self, labels, imp, spec, relation):
        """A witness is done by the implementation, and its last step is the first that is forbidden."""
        belief = imp.closure(imp.start())
        for label in labels:
            belief = imp.after(belief, label, ignoring=True)
        self.compare("the witness can happen", True, bool(belief), imp, spec, labels)
        self.compare(
            "the witness is forbidden", ("fail", len(labels)), judge(spec, labels, relation), imp, spec, labels
        )

    def killed(self, rng):
        self.kills(rng, model(rng))

    def kills(self, rng, spec):
        path = self.write("killed.iox", spec.text())
        folder = os.path.join(self.folder, "mutants")
        ops = ",".join(rng.sample(["guard-rel", "guard-neg", "target", "source", "delete", "assign-del"], 2))
        if self.ask("mutate", path, "--ops", ops, "--out", folder) is None:
            return
        with open(os.path.join(folder, "mutants.json"), encoding="utf-8") as catalogue:
            mutants = {it["id"]: it["edits"] for it in json.load(catalogue)["mutants"]}
        told = self.ask("kill", path, "--ops", ops, "--jobs", "1")
        for result in told["results"]:
            edits = mutants[result["id"]]
            switches = spec.switches
            for edit in edits:
                new = [Switch.read(edit["after"])] if edit["after"] else []
                switches = [new_ for it in switches for new_ in (new if it.name == edit["switch"] else [it])]
            mutant = type(spec)(spec.locations, spec.initial, switches)
            if result["outcome"] == "unknown":
                self.open += 1
                continue
            mine = "equivalent" if conforms(mutant, spec) else "killed"
            self.compare(f"kill {result['id']}", mine, result["outcome"], spec, mutant)

    def purposed(self, rng):
        spec = model(rng)
        told = self.ask("purposes", self.write("purposed.iox", spec.text()))
        covered = {name for purpose in told["purposes"] for name in purpose["switches"]}
        proved = {it["name"] for it in told["unreachable"] if it["proof"]}
        self.open += len(told["unreachable"]) - len(proved)
        there = reached(spec)
        for it in spec.switches:
            if it.name in covered or it.name in proved:
                theirs = "both" if it.name in covered & proved else "reached" if it.name in covered else "unreachable"
                mine = "reached" if it.name in there else "unreachable"
                self.compare(f"purposes {it.name}", mine, theirs, spec)


def changed(rng, spec, lists=False):
    """The model with one switch replaced, left out or added."""
    switches = list(spec.switches)
    at = rng.randrange(len(switches))
    new = switch(rng, 99, spec.locations, True, lists, (spec.inputs, spec.outputs))
    how = rng.random()
    if how < 0.3:
        del switches[at]
    elif how < 0.6:
        switches.append(new)
    else:
        switches[at] = new
    return type(spec)(spec.locations, spec.initial, switches, (spec.inputs, spec.outputs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ioxide")
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="the rounds to do, by name, with commas between them")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = Session(os.path.abspath(args.ioxide), folder)
        done = 0
        try:
            for number in range(args.models):
                rng = random.Random(args.seed * 1_000_003 + number)
                for part in session.rounds():
                    if args.only and part.__name__ not in args.only.split(","):
                        continue
                    before = session.wrong
                    part(rng)
                    if session.wrong > before:
                        print(f"(model {number} of seed {args.seed})")
                done += 1
        except KeyboardInterrupt:
            pass  # What was compared until then counts.
    print(f"{done} rounds, {session.compared} answers compared, {session.open} left open, {session.wrong} wrong")
    return 1 if session.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
