"""Writes a record of about MB megabytes: runs of STEPS steps whose messages never repeat.

    large_record.py MB STEPS FILE
"""

import json
import sys


class Record:
    def __init__(self, path):
        self.out = open(path, "w", encoding="utf-8")
        self.size, self.seq, self.time = 0, 0, 0
        self.out.write('{"format":"ioxide-record","version":1}\n')

    def tell(self, name, **told):
        event = {"seq": self.seq, "time_ns": self.time, "event": {name: told}}
        line = json.dumps(event, separators=(",", ":")) + "\n"
        self.out.write(line)
        self.size += len(line)
        self.seq += 1


def step(record, number):
    value = record.seq * 7919
    name, kind, mark = ("stimulus", "input", "?") if number % 2 == 0 else ("observation", "output", "!")
    args = {"d1": value, "d2": value + 1, "d3": value + 2}
    shown = ", ".join(f"{field}: {it}" for field, it in args.items())
    raw = " ".join(["IREQ", *map(str, args.values())]) + "\\r\\n"
    label = {"kind": kind, "label": "IREQ", "args": args, "text": f"{mark}IREQ({shown})", "raw": raw}
    record.time += 1000
    record.tell(name, step=number + 1, label=label, belief=1, switches=["r1"])


def main():
    size, steps, path = int(sys.argv[1]) * 1_000_000, int(sys.argv[2]), sys.argv[3]
    record = Record(path)
    start = {"model": "Brp", "file": "", "switches": ["r1", "r2"], "tester": "t", "sut": "s", "seed": 1}
    record.tell("campaign_started", **start, runs=1, jobs=1, patience_ms=0, calibrated=False)
    run = 0
    while record.size < size:
        record.tell("run_started", run=run, seed=run, goal="g")
        for number in range(steps):
            step(record, number)
            if record.size > size:
                break
        record.tell("verdict", verdict="pass", reason="ok")
        record.tell("run_finished", run=run, outcome="pass", steps=steps, doubts=0)
        run += 1
    counts = {"runs": run, "passed": run, "inconclusive": 0, "failed": 0, "errors": 0, "interrupted": False}
    record.tell("campaign_finished", **counts, covered=["r1"], never=["r2"], failures=[], latencies=[])


if __name__ == "__main__":
    main()
