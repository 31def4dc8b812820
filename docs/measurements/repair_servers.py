"""Models of real servers, damaged at random, and repaired by runs against the servers.

    python3 docs/measurements/repair_servers.py target/release/ioxide --seed 1 --each 10

Needs the servers: redis-server, memcached, mosquitto, beanstalkd, nats-server, etcd, dnsmasq, ngircd. For every server,
damages are taken in the random order of the seed (`repair_damages.py`; `--by-hand` takes those that are written down
below). Default campaigns with different seeds are recorded against the server; a damage that no campaign notices does
not count, nor do runs that the undamaged model forbids: a busy machine makes servers seem silent. `ioxide repair` then
gets three proposals. A proposal counts if its text is that of the undamaged model, up to labels, the order of
transitions and of updates, which happen at once, and to `m[k] = v` for `m = m.with(k, v)`; or if `ioxide conform`
proves that each of the two models allows what the other does, within ten seconds. With `--keep FOLDER`, the recorded
runs are kept there, and taken from there by another measurement. `--simulated` plays the undamaged model as the
system. """

import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import repair_damages

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CAMPAIGNS = range(1, 6)
CAMPAIGN_SECONDS = 300
# The exit code of `ioxide repair` where the model allows every run.
NOTHING_FAILS = 4

# Per server: the folder of the example, the model, the system, and the damages by hand: what stands there, and what is
# wrong.
SERVERS = {
    "redis": ("redis", "redis.iox", "redis", [
        ("none => 1,", "none => 0,"),
        ("set1: on SET(key: k1) { one = some(value) }", "set1: on SET(key: k1) { two = some(value) }"),
        ("{ number = count(one), one = none }", "{ number = count(one) }"),
        ("then 0 else 1", "then 1 else 0"),
        ("del2: on DEL(key: k2) { number = count(two),", "del2: on DEL(key: k2) { number = count(one),"),
    ]),
    "memcached": ("memcached", "memcached.iox", "memcached", [
        ("reply = stored_if(!held.has(key))", "reply = stored_if(held.has(key))"),
        ("{ held = held.without(key), reply =", "{ reply ="),
        ('joined(held, key, value, "")', 'joined(held, key, "", value)'),
        ("held = counted(held, key, -by)", "held = counted(held, key, by)"),
        ("{ held[key] = value, reply = stored }", "{ reply = stored }"),
    ]),
    "mqtt": ("mqtt", "mqtt.iox", "mqtt", [
        ("has_session = !is_clean,", "has_session = is_clean,"),
        ("on SUBSCRIBE when sub_on { subscribed = true }", "on SUBSCRIBE when sub_on"),
        ("on UNSUBSCRIBE when sub_on { subscribed = false }", "on UNSUBSCRIBE when sub_on"),
        ("emit MESSAGE(dup: true, id: id)", "emit MESSAGE(dup: false, id: id)"),
        ("{ due = due.drop(1), unacked = unacked + [next] }", "{ due = due.drop(1) }"),
    ]),
    "beanstalkd": ("beanstalkd", "beanstalkd.iox", "beanstalkd", []),
    "nats": ("nats", "nats.iox", "nats", []),
    "etcd": ("etcd", "etcd.iox", "etcd", []),
    "irc": ("irc", "irc.iox", "irc", []),
    "dns": ("dns", "dns.iox", "dns", []),
    "store": ("redis", "store.iox", "store", []),
}


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


def canonical(text):
    """Returns the transitions of each state in one order and without their labels, and the rest of the text."""
    read = repair_damages.Text(text)
    transitions, rest, end = [], [], 0
    for one in read.transitions:
        first = one.first + (2 if read.word(one.first + 1) == ":" else 0)
        transitions.append((one.state, meaning(read.slice(first, one.last))))
        rest += meaning(text[end:read.all[one.first].start])
        end = read.all[one.last - 1].end
    return sorted(transitions), rest + meaning(text[end:])


def is_proved_equal(ioxide, one, other):
    """Returns whether `ioxide conform` proves, in both directions, that two models allow the same."""

    def conforms(imp, spec):
        args = [ioxide, "conform", imp, spec, "--time-limit", "10s"]
        return subprocess.run(args, capture_output=True).returncode == 0

    return conforms(one, other) and conforms(other, one)


def is_equal(ioxide, one, original):
    """Returns whether the model at one path is the one at the other."""
    if canonical(one.read_text()) == canonical(original.read_text()):
        return True
    return is_proved_equal(ioxide, str(one), str(original))


def compiles(ioxide, place, model):
    """Returns whether the damaged model has no errors; warnings are no errors."""
    return subprocess.run([ioxide, "show", model], cwd=place, capture_output=True).returncode == 0


def is_undisturbed(ioxide, place, original):
    """Returns whether the undamaged model allows all recorded runs: a busy machine makes servers seem silent."""
    code = subprocess.run([ioxide, "repair", original, "runs", "--json"], cwd=place, capture_output=True).returncode
    return code == NOTHING_FAILS


def record(ioxide, place, server, text):
    """Puts a damaged model in the new folder `place`, and records campaigns; returns what came of it."""
    folder, model, sut, _ = server
    original = ROOT / "examples" / folder / model
    if place.exists():
        shutil.rmtree(place)
    shutil.copytree(ROOT / "examples" / folder, place)
    (place / model).write_text(text)
    if not compiles(ioxide, place, model):
        return "invalid"
    failed = 0
    for seed in CAMPAIGNS:
        args = ["test", model, "--sut", sut, "--report", "runs", "--no-regressions", "--seed", str(seed)]
        try:
            done = subprocess.run([ioxide, *args], cwd=place, capture_output=True, timeout=CAMPAIGN_SECONDS)
        except subprocess.TimeoutExpired:
            return "slow"
        failed += done.returncode == 1
        if seed == CAMPAIGNS[1] and not failed:
            return "unnoticed"
    return "failed" if is_undisturbed(ioxide, place, original) else "disturbed"


def recorded(ioxide, place, server, text):
    """Records campaigns unless they are there; returns what came of it."""
    outcome = place / "outcome"
    if outcome.exists() and (place / "damaged").read_text() == text:
        return outcome.read_text()
    came = record(ioxide, place, server, text)
    (place / "damaged").write_text(text)
    outcome.write_text(came)
    return came


def measure(ioxide, place, server, limit):
    """Returns the rank of the original among the proposals, the seconds of the repair, and what was proposed."""
    folder, model, *_ = server
    original = ROOT / "examples" / folder / model
    begun = time.monotonic()
    args = ["repair", model, "runs", "--max", "3", "--json", *limit]
    answer = subprocess.run([ioxide, *args], cwd=place, capture_output=True, text=True)
    seconds = time.monotonic() - begun
    if not answer.stdout:
        return "error", seconds, answer.stderr.strip()[:100]
    said = json.loads(answer.stdout)
    reasons = " | ".join(proposal["reason"] for proposal in said["proposals"])
    told = f"{said['tried']} tried, {said['halted'] or 'complete'}: {reasons}"
    for rank, proposal in enumerate(said["proposals"], 1):
        with tempfile.TemporaryDirectory() as copy:
            copy = pathlib.Path(copy)
            shutil.copy(place / model, copy)
            subprocess.run(["patch", "-s", model], cwd=copy, input=proposal["diff"], text=True, check=True)
            subprocess.run([ioxide, "fmt", model], cwd=copy, capture_output=True)
            if is_equal(ioxide, copy / model, original):
                return str(rank), seconds, told
    return "missed", seconds, told


def difference(original, damaged):
    """Returns the lines that differ, on one line."""
    old, new = original.splitlines(), damaged.splitlines()
    lost = [" ".join(line.split()) for line in old if line not in new]
    got = [" ".join(line.split()) for line in new if line not in old]
    return f"`{' '.join(lost)}`", f"`{' '.join(got)}`"


def wanted(ioxide, name, args):
    """Yields the damages of a server that campaigns notice: their folders, kinds and texts."""
    folder, model, _, by_hand = SERVERS[name]
    original = (ROOT / "examples" / folder / model).read_text()
    if args.by_hand:
        found = [("by hand", original.replace(old, new, 1)) for old, new in by_hand]
        count = len(found)
    else:
        found, count = repair_damages.damages(original, args.seed), args.each
    for number, (kind, text) in enumerate(found, 1):
        if count <= 0:
            return
        place = args.keep / f"{name}-{'hand' if args.by_hand else args.seed}-{number}"
        if recorded(ioxide, place, SERVERS[name], text) == "failed":
            count -= 1
            yield place, kind, text


def measure_server(ioxide, name, args):
    """Measures one server; returns how many of how many were among the first three."""
    folder, model, *_ = SERVERS[name]
    original = (ROOT / "examples" / folder / model).read_text()
    found = [0, 0]
    for place, kind, text in wanted(ioxide, name, args):
        if args.record_only or not re.search(args.case, place.name):
            continue
        rank, seconds, said = measure(ioxide, place, SERVERS[name], args.limit)
        found = [found[0] + rank.isdigit(), found[1] + 1]
        old, new = difference(original, text)
        print(f"| {name} | {kind} | {new} | {old} | {rank} | {seconds:.1f} |", flush=True)
        print(f"{place.name} {rank} {seconds:.1f} {said}", file=sys.stderr, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ioxide", type=lambda it: str(pathlib.Path(it).resolve()))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=10, help="damages per server")
    parser.add_argument("--only", default="", help="names of servers, with commas between them")
    parser.add_argument("--case", default="", help="a pattern for the names of damages, such as `redis-1-4$`")
    parser.add_argument("--by-hand", action="store_true")
    parser.add_argument("--simulated", action="store_true", help="the undamaged model is played as the system")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--record-only", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="servers that are measured at once")
    parser.add_argument("--time-limit", dest="limit", default="")
    args = parser.parse_args()
    args.keep = (args.keep or pathlib.Path(tempfile.mkdtemp())).resolve()
    args.limit = ["--time-limit", args.limit] if args.limit else []
    if args.simulated:
        for name, (folder, model, _, by_hand) in SERVERS.items():
            SERVERS[name] = (folder, model, f"model:{ROOT / 'examples' / folder / model}", by_hand)
    names = args.only.split(",") if args.only else list(SERVERS)
    print("| server | kind | damage | original | rank | seconds |\n|---|---|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        all_found = list(pool.map(lambda name: measure_server(args.ioxide, name, args), names))
    for name, (among, of) in zip(names, all_found):
        print(f"{name}: {among} of {of} among the first three")
    among, of = (sum(it) for it in zip(*all_found))
    print(f"all: {among} of {of} among the first three")


if __name__ == "__main__":
    main()
