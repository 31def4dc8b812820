"""Models of three real servers, damaged by hand, and repaired by runs against the servers.

    python3 docs/measurements/repair_servers.py target/release/ioxide

Needs redis-server, memcached and mosquitto. For every damage, default campaigns with different seeds are recorded
against the server; `ioxide repair` then gets three proposals. A proposal counts if its text is that of the undamaged
model, up to the order of updates, which happen at once, and to `m[k] = v` for `m = m.with(k, v)`; or if
`ioxide conform` proves that each of the two models allows what the other does, within ten seconds. A damage that no
campaign notices is said to be unnoticed. With a folder as the third argument, the recorded runs are kept there, and
taken from there by another measurement.
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


def is_proved_equal(ioxide, one, other):
    """Returns whether `ioxide conform` proves, in both directions, that two models allow the same."""

    def conforms(imp, spec):
        args = [ioxide, "conform", imp, spec, "--time-limit", "10s"]
        return subprocess.run(args, capture_output=True).returncode == 0

    return conforms(one, other) and conforms(other, one)


def record(ioxide, place, folder, model, sut, old, new):
    """Damages a model in the new folder `place`, and records campaigns; returns whether one of them failed."""
    shutil.copytree(ROOT / "examples" / folder, place)
    text = (place / model).read_text()
    assert old in text, old
    (place / model).write_text(text.replace(old, new, 1))
    failed = 0
    for seed in SEEDS:
        args = ["test", model, "--sut", sut, "--report", "runs", "--no-regressions", "--seed", str(seed)]
        code = subprocess.run([ioxide, *args], cwd=place, capture_output=True).returncode
        failed += code == 1
        if seed == SEEDS[1] and not failed:
            return False
    return True


def measure(ioxide, place, original, model):
    """Returns the rank of the original among the proposals, the seconds of the repair, and what was proposed."""
    begun = time.monotonic()
    args = ["repair", model, "runs", "--max", "3", "--json"]
    answer = subprocess.run([ioxide, *args], cwd=place, capture_output=True, text=True)
    seconds = time.monotonic() - begun
    if not answer.stdout:
        return "error", seconds, answer.stderr.strip()[:100]
    said = json.loads(answer.stdout)
    text = original.read_text()
    reasons = " | ".join(proposal["reason"] for proposal in said["proposals"])
    for rank, proposal in enumerate(said["proposals"], 1):
        with tempfile.TemporaryDirectory() as copy:
            copy = pathlib.Path(copy)
            shutil.copy(place / model, copy)
            subprocess.run(["patch", "-s", model], cwd=copy, input=proposal["diff"], text=True, check=True)
            subprocess.run([ioxide, "fmt", model], cwd=copy, capture_output=True)
            is_same = meaning((copy / model).read_text()) == meaning(text)
            if is_same or is_proved_equal(ioxide, str(copy / model), str(original)):
                return str(rank), seconds, f"{said['tried']} tried: {reasons}"
    return "missed", seconds, f"{said['tried']} tried: {reasons}"


def main():
    ioxide = str(pathlib.Path(sys.argv[1]).resolve())
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    kept = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp())
    print("| server | damage | original | rank | seconds |\n|---|---|---|---|---|")
    for folder, model, sut, damages in SERVERS:
        for number, (old, new) in enumerate(damages, 1):
            place = kept / f"{folder}-{number}"
            if only not in place.name:
                continue
            rank, seconds, said = "unnoticed", 0.0, ""
            if place.exists() or record(ioxide, place, folder, model, sut, old, new):
                rank, seconds, said = measure(ioxide, place, ROOT / "examples" / folder / model, model)
            print(f"| {sut} | `{new}` | `{old}` | {rank} | {seconds:.1f} |", flush=True)
            print(f"{place.name} {rank} {said}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
