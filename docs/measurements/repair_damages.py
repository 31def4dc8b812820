"""Damages of models as people make them: one mistake each, in random order, the same for the same seed.

Every kind of mistake is as likely as any other, and so is every place of a kind: a kind with many places, such as a
wrong name, does not drown the others. The text is only cut into lexemes and transitions here; what does not compile
is left out by the caller.
"""

import random
import re

LEXEME = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<number>[0-9]+(?:\.[0-9]+)?[a-z]*)
    |(?P<name>[A-Za-z_][A-Za-z_0-9]*)
    |(?P<sign>->|=>|==|!=|<=|>=|&&|\|\||\.\.|[-+*/%<>=!(){}\[\],.:;?@])""",
    re.X,
)
VERBS = ("on", "emit", "internal", "quiet")
OPEN, CLOSE = "([{", ")]}"
RELATIONS = ("==", "!=", "<", "<=", ">", ">=")
# Functions of which one is taken for another.
CONFUSED = [("with", "without"), ("first", "last"), ("drop", "take"), ("min", "max")]
# Functions that take something away.
REMOVALS = ("without", "drop", "remove_at", "minus")


class Lexeme:
    """A piece of the text with its place."""

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


class Transition:
    """A transition: where its parts stand, each as a range of lexemes; `None` for a part that it does not have."""

    def __init__(self):
        self.verb = self.gate = self.pins = self.guard = self.updates = self.target = None
        self.first = self.last = 0


class Text:
    """The text of a model, cut into lexemes, with its transitions, functions and names."""

    def __init__(self, text):
        self.text = text
        found = [Lexeme(it.lastgroup, it.group(), it.start()) for it in LEXEME.finditer(text)]
        self.all = [it for it in found if it.kind != "space"]
        self.types, self.fields, self.variants, self.records, self.directions = {}, {}, {}, {}, {}
        self.vars, self.states, self.functions = {}, [], []
        self.read_declarations()
        self.transitions = self.read_transitions()

    def word(self, at):
        return self.all[at].text if 0 <= at < len(self.all) else ""

    def closing(self, at):
        """Returns the lexeme that closes the bracket at `at`."""
        depth = 0
        for here in range(at, len(self.all)):
            depth += (self.word(here) in OPEN and self.all[here].kind == "sign")
            depth -= (self.word(here) in CLOSE and self.all[here].kind == "sign")
            if depth == 0:
                return here
        return len(self.all) - 1

    def parts(self, first, last, sign=","):
        """Returns the ranges between the signs of this kind that stand in no brackets of their own."""
        parts, start, at = [], first, first
        while at < last:
            if self.word(at) in OPEN and self.all[at].kind == "sign":
                at = self.closing(at)
            elif self.word(at) == sign:
                parts.append((start, at))
                start = at + 1
            at += 1
        return [it for it in parts + [(start, last)] if it[0] < it[1]]

    def slice(self, first, last):
        return self.text[self.all[first].start:self.all[last - 1].end]

    def typed(self, first, last):
        """Returns the names with their types of a list such as `key: Key, n: int`."""
        return {self.word(a): self.slice(a + 2, b) for a, b in self.parts(first, last) if b > a + 2}

    def read_declarations(self):
        for at in range(len(self.all)):
            word, name = self.word(at), self.word(at + 1)
            if word == "type":
                end = at + 3
                while self.all[end].start < self.text.index("\n", self.all[at].start):
                    end += 1
                self.types[name] = self.slice(at + 3, end)
            elif word in ("input", "output") and self.all[at + 1].kind == "name":
                self.directions[name] = word
                self.fields[name] = self.typed(at + 3, self.closing(at + 2)) if self.word(at + 2) == "(" else {}
            elif word == "record":
                self.records[name] = self.typed(at + 3, self.closing(at + 2))
            elif word == "enum":
                for a, b in self.parts(at + 3, self.closing(at + 2)):
                    if b == a + 1:
                        self.variants[self.word(a)] = name
            elif word == "var":
                end = at + 3
                while self.word(end) != "=":
                    end += 1
                self.vars[name] = (self.slice(at + 3, end), end + 1)
            elif word == "state" and self.word(at + 2) == "{":
                self.states.append((name, at + 2, self.closing(at + 2)))
            elif word == "fn":
                close = self.closing(at + 2)
                start = close
                while self.word(start) != "=":
                    start += 1
                end = self.end_of_expression(start + 1)
                self.functions.append((self.typed(at + 3, close), start + 1, end))

    def end_of_expression(self, at):
        """Returns the end of the body of a function: where a declaration or a transition begins."""
        words = ("fn", "state", "var", "const", "any", "test", "purpose", "enum", "record", "type", "input", "output")
        while at < len(self.all):
            if self.word(at) in words or self.word(at) == "@" or self.word(at) == "}":
                return at
            at = self.closing(at) + 1 if self.word(at) in OPEN else at + 1
        return at

    def read_transitions(self):
        found = []
        blocks = list(self.states)
        for name, start, end in blocks:
            at = start + 1
            while at < end:
                one = Transition()
                one.first = at
                one.state = name
                if self.word(at + 1) == ":":
                    at += 2
                one.verb, at = self.word(at), at + 1
                if one.verb not in VERBS:
                    break
                if self.word(at) not in ("when", "{", "->"):
                    one.gate, at = at, at + 1
                if self.word(at) == "(":
                    one.pins, at = (at + 1, self.closing(at)), self.closing(at) + 1
                if self.word(at) == "when":
                    start_of_guard, at = at + 1, at + 1
                    while at < end and not self.ends_guard(at):
                        at = self.closing(at) + 1 if self.word(at) in OPEN else at + 1
                    one.guard = (start_of_guard, at)
                if self.word(at) == "{":
                    one.updates, at = (at + 1, self.closing(at)), self.closing(at) + 1
                if self.word(at) == "->":
                    one.target, at = at + 1, at + 2
                one.last = at
                found.append(one)
        return found

    def ends_guard(self, at):
        word = self.word(at)
        if word == "{":
            return self.all[at - 1].kind != "sign" or self.word(at - 1) in CLOSE
        is_start = word in VERBS or (self.word(at + 1) == ":" and self.word(at + 2) in VERBS)
        return word == "->" or is_start

    def plain_type(self, ty):
        """Returns a type without names that stand for others; ranges are whole numbers."""
        ty = self.types.get(ty, ty)
        return "int" if re.fullmatch(r"-?[0-9]+\s*\.\.\s*-?[0-9]+", ty) else ty


class Damages:
    """All damages of a text, by kind: each a list of replacements of bytes, and what they are for people."""

    def __init__(self, text):
        self.it = Text(text)
        self.found = {}
        for transition in self.it.transitions:
            self.of_transition(transition)
        for params, first, last in self.it.functions:
            self.of_expression(first, last, params)
        for name, (ty, at) in self.it.vars.items():
            self.of_initial(name, self.it.plain_type(ty), at)

    def add(self, kind, *replacements):
        self.found.setdefault(kind, []).append(replacements)

    def replace(self, kind, first, last, new):
        lexemes = self.it.all
        self.add(kind, (lexemes[first].start, lexemes[last - 1].end, new))

    def names(self, extra):
        """The names that an expression may use, with their types."""
        vars = {name: ty for name, (ty, _) in self.it.vars.items()}
        return {name: self.it.plain_type(ty) for name, ty in {**vars, **extra}.items()}

    def of_transition(self, one):
        it = self.it
        fields = it.fields.get(it.word(one.gate), {}) if one.gate is not None else {}
        for region in (one.pins, one.guard, one.updates):
            if region:
                self.of_expression(*region, fields)
        self.of_guard(one)
        self.of_updates(one, fields)
        self.of_pins(one)
        start, end = it.all[one.first].start, it.all[one.last - 1].end
        self.add("transition-forgotten", (start, end, ""))
        here = it.word(one.target) if one.target else one.state
        for other, *_ in it.states:
            if other != here and one.target:
                self.replace("target", one.target, one.target + 1, other)
        if one.target and here != one.state:
            self.add("target-forgotten", (it.all[one.target - 1].start, end, ""))
        if one.verb == "emit":
            own = it.fields.get(it.word(one.gate), {})
            for other, others in it.fields.items():
                is_alike = list(own.items()) == list(others.items()) and it.directions[other] == "output"
                if other != it.word(one.gate) and is_alike:
                    self.replace("output", one.gate, one.gate + 1, other)

    def of_guard(self, one):
        if not one.guard:
            return
        it, (first, last) = self.it, one.guard
        if it.word(first) != "let":
            self.add("guard-forgotten", (it.all[first - 1].start, it.all[last - 1].end, ""))
        parts = it.parts(first, last, "&&")
        for at, (a, b) in enumerate(parts):
            if len(parts) > 1 and it.word(a) != "let":
                end = it.all[parts[at + 1][0]].start if at == 0 else it.all[b - 1].end
                start = it.all[a].start if at == 0 else it.all[parts[at - 1][1] - 1].end
                self.add("conjunct-forgotten", (start, end, ""))
            if it.word(a) == "!":
                self.replace("negation", a, b, it.slice(a + 1, b))
            elif not any(it.word(k) in RELATIONS + ("||", "let", "exists") for k in range(a, b)):
                self.replace("negation", a, b, "!" + it.slice(a, b))

    def of_updates(self, one, fields):
        if not one.updates:
            return
        it, parts = self.it, self.it.parts(*one.updates)
        assigned = [it.word(a) for a, _ in parts]
        for at, (a, b) in enumerate(parts):
            if len(parts) == 1:
                self.add("assignment-forgotten", (it.all[a - 1].start, it.all[one.updates[1]].end, ""))
            else:
                # With the comma on one side.
                start = it.all[a].start if at == 0 else it.all[parts[at - 1][1] - 1].end
                end = it.all[parts[1][0]].start if at == 0 else it.all[b - 1].end
                self.add("assignment-forgotten", (start, end, ""))
            own = it.plain_type(it.vars.get(it.word(a), ("", 0))[0])
            for other, (ty, _) in it.vars.items():
                if it.plain_type(ty) == own and other not in assigned:
                    self.replace("assignment-to-another", a, a + 1, other)

    def of_pins(self, one):
        if not one.pins:
            return
        it, parts = self.it, self.it.parts(*one.pins)
        for at, (a, b) in enumerate(parts):
            if len(parts) == 1:
                self.add("pin-forgotten", (it.all[a - 1].start, it.all[one.pins[1]].end, ""))
            else:
                start = it.all[a].start if at == 0 else it.all[parts[at - 1][1] - 1].end
                end = it.all[parts[1][0]].start if at == 0 else it.all[b - 1].end
                self.add("pin-forgotten", (start, end, ""))
            for c, d in parts[at + 1:]:
                one_value, other = it.slice(a + 2, b), it.slice(c + 2, d)
                if one_value != other:
                    lexemes = it.all
                    self.add(
                        "pins-exchanged",
                        (lexemes[a + 2].start, lexemes[b - 1].end, other),
                        (lexemes[c + 2].start, lexemes[d - 1].end, one_value),
                    )

    def of_initial(self, name, ty, at):
        word = self.it.word(at)
        if word in ("true", "false"):
            self.replace("initial", at, at + 1, "false" if word == "true" else "true")
        elif word.isdigit():
            self.replace("initial", at, at + 1, str(int(word) + 1))
            if int(word) > 0:
                self.replace("initial", at, at + 1, str(int(word) - 1))
        elif word in self.it.variants:
            for other, of in self.it.variants.items():
                if of == self.it.variants[word] and other != word:
                    self.replace("initial", at, at + 1, other)

    def of_expression(self, first, last, extra):
        names = self.names(extra)
        for at in range(first, last):
            self.of_lexeme(at, names)
            word = self.it.word(at)
            if word == "if":
                self.of_branches(at, last)
            elif word == "match":
                self.of_arms(at)
            elif word == "(":
                self.of_call(at)
            elif word == "+":
                self.of_sum(at, first, last)

    def of_lexeme(self, at, names):
        it, word, kind = self.it, self.it.word(at), self.it.all[at].kind
        if word in RELATIONS:
            for other in RELATIONS:
                is_order = word not in ("==", "!=")
                if other != word and (is_order or other in ("==", "!=")):
                    self.replace("relation", at, at + 1, other)
        elif word in ("&&", "||"):
            self.replace("connective", at, at + 1, "||" if word == "&&" else "&&")
        elif word in ("true", "false"):
            self.replace("truth-value", at, at + 1, "false" if word == "true" else "true")
        elif kind == "number" and word.isdigit():
            for other in (int(word) + 1, int(word) - 1):
                if other >= 0:
                    self.replace("off-by-one", at, at + 1, str(other))
        elif word == "-" and it.word(at - 1) in ("(", ",", "="):
            self.replace("sign", at, at + 1, "")
        elif kind == "name" and it.word(at + 1) not in ("(", ":") and it.word(at - 1) != ".":
            self.of_name(at, names)
        elif kind == "name" and it.word(at - 1) == "." and it.word(at + 1) != "(":
            for fields in it.records.values():
                if word in fields:
                    for other in fields:
                        if other != word:
                            self.replace("field", at, at + 1, other)
        elif kind == "name" and it.word(at - 1) == ".":
            self.of_method(at)

    def of_name(self, at, names):
        it, word = self.it, self.it.word(at)
        # What an assignment is to is another kind.
        if it.word(at + 1) == "=" or it.word(at + 1) == "=>":
            return
        if word in names:
            for other, ty in names.items():
                if other != word and ty == names[word]:
                    self.replace("name", at, at + 1, other)
        elif word in it.variants:
            for other, of in it.variants.items():
                if other != word and of == it.variants[word]:
                    self.replace("value", at, at + 1, other)

    def of_method(self, at):
        it, word, close = self.it, self.it.word(at), self.it.closing(at + 1)
        for one, other in CONFUSED:
            if word in (one, other):
                self.replace("method", at, at + 1, other if word == one else one)
        if word in REMOVALS:
            self.add("removal-forgotten", (it.all[at - 1].start, it.all[close].end, ""))

    def of_branches(self, at, last):
        """Exchanges the branches of an `if`."""
        it, depth, then, other = self.it, 0, None, None
        here = at + 1
        while here < last:
            word = it.word(here)
            if word in OPEN and it.all[here].kind == "sign":
                here = it.closing(here)
            elif word == "if":
                depth += 1
            elif word == "then" and depth == 0:
                then = here
            elif word == "else" and depth == 0:
                other = here
            elif word == "else":
                depth -= 1
            elif (word == "," or word in CLOSE) and it.all[here].kind == "sign":
                break
            here += 1
        if then and other and "else" not in [it.word(k) for k in range(other + 1, here)]:
            one_value, other_value = it.slice(then + 1, other), it.slice(other + 1, here)
            lexemes = it.all
            self.add(
                "branches-exchanged",
                (lexemes[then + 1].start, lexemes[other - 1].end, other_value),
                (lexemes[other + 1].start, lexemes[here - 1].end, one_value),
            )

    def of_arms(self, at):
        """Exchanges the values of two arms of a `match`."""
        it = self.it
        while it.word(at) != "{":
            at += 1
        arms = []
        for a, b in it.parts(at + 1, it.closing(at)):
            arrow = next((k for k in range(a, b) if it.word(k) == "=>"), None)
            if arrow:
                arms.append((arrow + 1, b))
        for one, other in zip(arms, arms[1:]):
            (a, b), (c, d) = one, other
            if it.slice(a, b) != it.slice(c, d):
                lexemes = it.all
                self.add(
                    "arms-exchanged",
                    (lexemes[a].start, lexemes[b - 1].end, it.slice(c, d)),
                    (lexemes[c].start, lexemes[d - 1].end, it.slice(a, b)),
                )

    def of_call(self, at):
        """Exchanges two neighbouring arguments of a call."""
        it = self.it
        if it.all[at - 1].kind != "name" or it.word(at - 1) in VERBS + ("when",):
            return
        args = it.parts(at + 1, it.closing(at))
        for (a, b), (c, d) in zip(args, args[1:]):
            one, other = it.slice(a, b), it.slice(c, d)
            if one != other and ":" not in one:
                lexemes = it.all
                self.add(
                    "arguments-exchanged",
                    (lexemes[a].start, lexemes[b - 1].end, other),
                    (lexemes[c].start, lexemes[d - 1].end, one),
                )

    def of_sum(self, at, first, last):
        """`list + [item]` becomes `[item] + list`: the wrong end; a number stays as it is."""
        it = self.it
        if it.word(at + 1) == "[" and it.all[at - 1].kind == "name":
            close = it.closing(at + 1)
            new = f"{it.slice(at + 1, close + 1)} + {it.word(at - 1)}"
            self.replace("list-end", at - 1, close + 1, new)
        elif it.all[at + 1].kind == "number" and it.all[at - 1].kind == "name":
            self.replace("step-forgotten", at - 1, at + 2, it.word(at - 1))


def damages(text, seed):
    """Returns the damages of a text in random order: the kind, and the damaged text."""
    found = Damages(text).found
    chance = random.Random(seed)
    kinds = {kind: chance.sample(found[kind], len(found[kind])) for kind in sorted(found)}
    while kinds:
        kind = chance.choice(sorted(kinds))
        replacements = kinds[kind].pop()
        if not kinds[kind]:
            del kinds[kind]
        new = text
        for start, end, part in sorted(replacements, reverse=True):
            new = new[:start] + part + new[end:]
        # Nobody writes `due = due`: that is a forgotten assignment, which is a kind of its own.
        if not re.search(r"\b(\w+) = \1\s*[,}]", new):
            yield kind, new
