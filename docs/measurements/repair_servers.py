"""Models of three real servers, damaged by hand, and repaired by runs against the servers.

    python3 docs/measurements/repair_servers.py target/release/ioxide

Needs redis-server, memcached and mosquitto. For every damage, default campaigns with different seeds are recorded
against the server; `ioxide repair` then gets three proposals. A proposal counts if its text is that of the undamaged
model, up to the order of updates, which happen at once, and to `m[k] = v` for `m = m.with(k, v)`. A damage that no
campaign notices is said to be unnoticed.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SEEDS = range(1, 6)

# Per server: the folder of the example, the model, the system, and the damages: what stands there, and what is wrong.
SERVERS = [
    ("redis", "redis.iox", "redis", [
        ("none => 1,", "none => 0,"),
        ("set1: on SET(key: k1) { one = some(value) }", "set1: on SET(key: k1) { two = some(value) }"),
        ("{ number = count(one), one = none }", "{ number = count(one) }"),
        ("then 0 else 1", "then 1 else 0"),
        ("del2: on DEL(key: k2) { number = count(two),", "del2: on DEL(key: k2) { number = count(one),"),
    ]),
    ("memcached", "memcached.iox", "memcached", [
        ("reply = stored_if(!held.has(key))", "reply = stored_if(held.has(key))"),
        ("{ held = held.without(key), reply =", "{ reply ="),
        ('joined(held, key, value, "")', 'joined(held, key, "", value)'),
        ("held = counted(held, key, -by)", "held = counted(held, key, by)"),
        ("{ held[key] = value, reply = stored }", "{ reply = stored }"),
    ]),
    ("mqtt", "mqtt.iox", "mqtt", [
        ("has_session = !is_clean,", "has_session = is_clean,"),
        ("on SUBSCRIBE when sub_on { subscribed = true }", "on SUBSCRIBE when sub_on"),
        ("on UNSUBSCRIBE when sub_on { subscribed = false }", "on UNSUBSCRIBE when sub_on"),
        ("emit MESSAGE(dup: true, id: id)", "emit MESSAGE(dup: false, id: id)"),
        ("{ due = due.drop(1), unacked = unacked + [next] }", "{ due = due.drop(1) }"),
    ]),
]


def parts_at_commas(text):
    """Returns the parts of a text between the commas that stand in no brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [" ".join(part.split()) for part in parts if part.strip()]


def meaning(text):
    """Returns a text in which the updates of each transition have one order and one form."""

    def in_order(block):
        updates = [re.sub(r"^(\w+)\[(\w+)\] = (.*)$", r"\1 = \1.with(\2, \3)", it) for it in parts_at_commas(block[1])]
        return "{ " + ", ".join(sorted(updates)) + " }"

    return re.sub(r"\{(\s*\w+(?:\[\w+\])? = [^{}]*)\}", in_order, text).split()


def measure(ioxide, folder, model, sut, old, new):
    """Returns the rank of the original among the proposals, or why there is none, and the seconds of the repair."""
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        shutil.copytree(ROOT / "examples" / folder, place, dirs_exist_ok=True)
        text = (place / model).read_text()
        assert old in text, old
        (place / model).write_text(text.replace(old, new, 1))
        failed = 0
        for seed in SEEDS:
            args = ["test", model, "--sut", sut, "--report", "runs", "--no-regressions", "--seed", str(seed)]
            code = subprocess.run([ioxide, *args], cwd=place, capture_output=True).returncode
            failed += code == 1
            if seed == SEEDS[1] and not failed:
                return "unnoticed", 0.0, ""
        begun = time.monotonic()
        args = ["repair", model, "runs", "--max", "3", "--json"]
        answer = subprocess.run([ioxide, *args], cwd=place, capture_output=True, text=True)
        seconds = time.monotonic() - begun
        if not answer.stdout:
            return "error", seconds, answer.stderr.strip()[:100]
        proposals = json.loads(answer.stdout)["proposals"]
        for rank, proposal in enumerate(proposals, 1):
            copy = place / f"copy{rank}"
            copy.mkdir()
            shutil.copy(place / model, copy)
            subprocess.run(["patch", "-s", model], cwd=copy, input=proposal["diff"], text=True, check=True)
            subprocess.run([ioxide, "fmt", model], cwd=copy, capture_output=True)
            if meaning((copy / model).read_text()) == meaning(text):
                return str(rank), seconds, proposal["reason"]
        return "missed", seconds, " | ".join(proposal["reason"] for proposal in proposals)


def main():
    ioxide = str(pathlib.Path(sys.argv[1]).resolve())
    print("| server | damage | original | rank | seconds |\n|---|---|---|---|---|")
    for folder, model, sut, damages in SERVERS:
        if len(sys.argv) > 2 and sys.argv[2] not in folder:
            continue
        for old, new in damages:
            rank, seconds, said = measure(ioxide, folder, model, sut, old, new)
            print(f"| {sut} | `{new}` | `{old}` | {rank} | {seconds:.1f} |", flush=True)
            print(f"{sut} {rank} {said}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
