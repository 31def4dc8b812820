"""Learns machines with AALpy and an oracle that knows them: a line of JSON in for each, a line with the counts out."""

import json
import sys
import time
from collections import deque

from aalpy.base import Oracle, SUL
from aalpy.learning_algs import run_KV


class Played(SUL):
    """A machine played as a system; counts what it is asked."""

    def __init__(self, table):
        super().__init__()
        self.table, self.at, self.resets, self.symbols = table, 0, 0, 0

    def pre(self):
        self.at = 0
        self.resets += 1

    def post(self):
        pass

    def step(self, letter):
        self.symbols += 1
        self.at, said = self.table[self.at][letter]
        return said


class Knowing(Oracle):
    """Finds a shortest word on which a hypothesis differs; asking it is a run that counts."""

    def find_cex(self, hypothesis):
        self.num_queries += 1
        start = (hypothesis.initial_state, 0)
        seen, queue = {start}, deque([(start, ())])
        while queue:
            (state, at), word = queue.popleft()
            for letter in self.alphabet:
                following, said = self.sul.table[at][letter]
                longer = word + (letter,)
                if state.output_fun[letter] != said:
                    self.sul.pre()
                    for each in longer:
                        self.sul.step(each)
                    return longer
                pair = (state.transitions[letter], following)
                if pair not in seen:
                    seen.add(pair)
                    queue.append((pair, longer))
        return None


for line in sys.stdin:
    table = json.loads(line)
    system, alphabet = Played(table), list(range(len(table[0])))
    begun = time.process_time()
    oracle = Knowing(alphabet, system)
    machine = run_KV(alphabet, system, oracle, "mealy", print_level=0)
    print(
        json.dumps(
            {
                "resets": system.resets,
                "symbols": system.symbols,
                "seconds": time.process_time() - begun,
                "correct": len(machine.states) == len(table),
            }
        ),
        flush=True,
    )
