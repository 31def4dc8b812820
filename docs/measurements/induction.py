"""Invariants proved or refuted by `ioxide check --deep`, beside Spacer, the fixed-point engine of Z3.

    python3 docs/measurements/induction.py target/release/ioxide [z3]

Every model is written once, as data, and translated to both: the text of a model, and constrained Horn clauses.
A queue is its length, which is all that the invariants speak of. Prints a table in Markdown. Needs Python 3.9 and Z3
with Spacer.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

LIMIT = 60


class Model:
    """Variables with initial values, transitions (from, name, fields, guard, updates, to), and invariants."""

    def __init__(self, name, vars, transitions, invariants, file=None, set=()):
        self.name, self.vars, self.transitions = name, vars, transitions
        self.invariants, self.file, self.set = invariants, file, set


def conj(parts):
    parts = [part for part in parts if part]
    return " && ".join(f"({part})" for part in parts)


def text_of(model):
    """The model as text; a message per transition, so that both sides have the same steps."""
    lines = [f"model {model.name} {{"]
    states = []
    for source, name, fields, guard, updates, target in model.transitions:
        fields_text = "(" + ", ".join(f"{field}: int" for field in fields) + ")" if fields else ""
        lines.append(f"    input {name}{fields_text}")
        for state in (source, target):
            if state not in states:
                states.append(state)
    for name, init in model.vars.items():
        lines.append(f"    var {name}: {'bool' if init in ('true', 'false') else 'int'} = {init}")
    for state in states:
        lines.append(f"    state {state} {{")
        for source, name, fields, guard, updates, target in model.transitions:
            if source == state:
                when = f" when {guard}" if guard else ""
                body = " { " + ", ".join(f"{var} = {value}" for var, value in updates.items()) + " }" if updates else ""
                arrow = f" -> {target}" if target != source else ""
                lines.append(f"        {name}: on {name}{when}{body}{arrow}")
        lines.append("    }")
    for number, (formula, _) in enumerate(model.invariants):
        lines.append(f"    i{number}: always {formula}")
    lines.append("}")
    return "\n".join(lines) + "\n"


TOKEN = re.compile(r"\s*(at\(\w+\)|=>|==|!=|<=|>=|&&|\|\||[-+*%<>!()]|\d+|\w+)")
BINARY = [["=>"], ["||"], ["&&"], ["==", "!=", "<=", ">=", "<", ">"], ["+", "-"], ["*", "%"]]
NAMES = {"==": "=", "&&": "and", "||": "or", "%": "mod"}


def smt(text, states, suffix=""):
    """A formula of the language as an S-expression; `x` becomes `x` with the suffix."""
    tokens = TOKEN.findall(text) + [""]

    def parse(level):
        if level == len(BINARY):
            return unary()
        left = parse(level + 1)
        while tokens[0] in BINARY[level]:
            sign = tokens.pop(0)
            right = parse(level if sign == "=>" else level + 1)
            left = f"(not (= {left} {right}))" if sign == "!=" else f"({NAMES.get(sign, sign)} {left} {right})"
        return left

    def unary():
        token = tokens.pop(0)
        if token == "!":
            return f"(not {unary()})"
        if token == "-":
            return f"(- {unary()})"
        if token == "(":
            inner = parse(0)
            assert tokens.pop(0) == ")", text
            return inner
        if token.startswith("at("):
            return f"(= loc{suffix} {states.index(token[3:-1])})"
        return token if token.isdigit() or token in ("true", "false") else token + suffix

    formula = parse(0)
    assert tokens == [""], (text, tokens)
    return formula


def clauses_of(model, formula):
    """The model as constrained Horn clauses that are satisfiable exactly if the formula is an invariant."""
    states = []
    for source, _, _, _, _, target in model.transitions:
        states += [state for state in (source, target) if state not in states]
    sorts = {name: "Bool" if init in ("true", "false") else "Int" for name, init in model.vars.items()}
    names = ["loc"] + list(model.vars)
    sort_of = {"loc": "Int", **sorts}
    lines = ["(set-logic HORN)", f"(declare-fun Inv ({' '.join(sort_of[name] for name in names)}) Bool)"]
    lines.append(f"(assert (Inv {' '.join(['0'] + list(model.vars.values()))}))")
    for source, _, fields, guard, updates, target in model.transitions:
        bound = [f"({name} {sort_of[name]})" for name in names] + [f"({field} Int)" for field in fields]
        after = [str(states.index(target))]
        after += [smt(updates[name], states) if name in updates else name for name in model.vars]
        pre = f"(and (Inv {' '.join(names)}) (= loc {states.index(source)}) {smt(guard, states) if guard else 'true'})"
        lines.append(f"(assert (forall ({' '.join(bound)}) (=> {pre} (Inv {' '.join(after)}))))")
    bound = [f"({name} {sort_of[name]})" for name in names]
    lines.append(
        f"(assert (forall ({' '.join(bound)}) (=> (and (Inv {' '.join(names)}) (not {smt(formula, states)})) false)))"
    )
    lines.append("(check-sat)")
    return "\n".join(lines) + "\n"


MODELS = [
    Model("Adder", {"x": "0"}, [
        ("idle", "r0", ["p"], "1 <= p && p <= 10", {"x": "x + p"}, "busy"),
        ("busy", "r1", [], "", {}, "idle"),
        ("idle", "r2", [], "x > 15", {}, "finished"),
    ], [("x >= 0", True)], file="examples/adder.iox"),
    Model("Buffer", {"n": "0", "sent": "0", "received": "0"}, [
        ("s", "put", [], "n < 3", {"n": "n + 1", "sent": "sent + 1"}, "s"),
        ("s", "get", [], "n > 0", {"n": "n - 1", "received": "received + 1"}, "s"),
    ], [("sent == received + n", True), ("received <= sent", True), ("sent <= received + 3", True),
        ("received < 10", False)]),
    Model("TicketLock", {"next": "0", "serving": "0", "holders": "0"}, [
        ("s", "take", [], "", {"next": "next + 1"}, "s"),
        ("s", "enter", [], "serving < next && holders == 0", {"holders": "1"}, "s"),
        ("s", "leave", [], "holders == 1", {"holders": "0", "serving": "serving + 1"}, "s"),
    ], [("serving <= next", True), ("holders <= 1", True), ("holders == 1 => serving < next", True)]),
    Model("Account", {"balance": "0", "held": "0", "open": "true"}, [
        ("s", "pay", ["m"], "open && m > 0", {"balance": "balance + m"}, "s"),
        ("s", "hold", ["m"], "open && m > 0 && m <= balance", {"balance": "balance - m", "held": "held + m"}, "s"),
        ("s", "settle", ["m"], "m > 0 && m <= held", {"held": "held - m"}, "s"),
        ("s", "free", ["m"], "m > 0 && m <= held", {"held": "held - m", "balance": "balance + m"}, "s"),
        ("s", "close", [], "open && balance == 0 && held == 0", {"open": "false"}, "s"),
    ], [("balance >= 0", True), ("held >= 0", True), ("!open => balance == 0 && held == 0", True),
        ("balance <= 1000", False)]),
    Model("Lift", {"floor": "0", "target": "0", "trips": "0"}, [
        ("idle", "call", ["f"], "0 <= f && f <= 9", {"target": "f"}, "moving"),
        ("moving", "up", [], "floor < target", {"floor": "floor + 1"}, "moving"),
        ("moving", "down", [], "floor > target", {"floor": "floor - 1"}, "moving"),
        ("moving", "arrive", [], "floor == target", {"trips": "trips + 1"}, "idle"),
    ], [("0 <= floor && floor <= 9", True), ("at(idle) => floor == target", True), ("trips >= 0", True)]),
    Model("Retry", {"tries": "0", "failed": "0", "done": "0"}, [
        ("idle", "start", [], "", {"tries": "0"}, "trying"),
        ("trying", "fail", [], "tries < 5", {"tries": "tries + 1", "failed": "failed + 1"}, "trying"),
        ("trying", "succeed", [], "", {"done": "done + 1"}, "idle"),
        ("trying", "stop", [], "tries == 5", {}, "idle"),
    ], [("tries <= 5", True), ("tries <= failed", True)]),
    Model("TwoCounters", {"x": "0", "y": "0"}, [
        ("s", "a", [], "", {"x": "x + 2", "y": "y + 1"}, "s"),
        ("s", "b", [], "y > 0", {"x": "x - 2", "y": "y - 1"}, "s"),
    ], [("x == 2 * y", True), ("x != 7", True)]),
    Model("Window", {"base": "0", "next": "0"}, [
        ("s", "send", [], "next < base + 4", {"next": "next + 1"}, "s"),
        ("s", "ack", ["n"], "base < n && n <= next", {"base": "n"}, "s"),
        ("s", "again", [], "", {"next": "base"}, "s"),
    ], [("base <= next && next <= base + 4", True)]),
]


def run_ioxide(program, path, name):
    start = time.monotonic()
    command = [program, "check", "--deep", "--json", "--time-limit", f"{LIMIT}s", path]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    seconds = time.monotonic() - start
    properties = json.loads(output)["files"][0]["deep"]["properties"]
    status = next(found["status"] for found in properties if found["name"] == name)
    return status, seconds


def run_spacer(z3, clauses, folder):
    path = os.path.join(folder, "clauses.smt2")
    with open(path, "w", encoding="utf-8") as file:
        file.write(clauses)
    start = time.monotonic()
    command = [z3, f"-T:{LIMIT}", "fp.engine=spacer", path]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return {"sat": "proved", "unsat": "refuted"}.get(output, "open"), time.monotonic() - start


def main():
    program, z3 = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "z3"
    print("| model | invariant | true | ioxide | seconds | Spacer | seconds |\n|---|---|---|---|---|---|---|")
    rows, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            for number, (formula, truth) in enumerate(model.invariants):
                single = Model(model.name, model.vars, model.transitions, [(formula, truth)])
                path = os.path.join(folder, "model.iox")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text_of(single))
                ours, our_time = run_ioxide(program, path, "i0")
                theirs, their_time = run_spacer(z3, clauses_of(model, formula), folder)
                expected = "proved" if truth else "refuted"
                wrong += any(status not in (expected, "open") for status in (ours, theirs))
                rows += 1
                shown = formula.replace("|", "\\|")
                print(f"| {model.name} | `{shown}` | {'yes' if truth else 'no'} | {ours} | {our_time:.2f} |"
                      f" {theirs} | {their_time:.2f} |", flush=True)
    print(f"\n{rows} invariants, {wrong} wrong answers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
