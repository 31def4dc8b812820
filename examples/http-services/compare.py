"""Tests every service and every fault of this folder with ioxide and with Schemathesis, and prints a table.

    python3 compare.py --ioxide ../../target/release/ioxide --schemathesis VENV/bin/st --results results.json

Both tools get the service, its description, its credentials and the same time, and nothing else. ioxide runs
`init --openapi` and `test`, without an edit, in two ways:

- `ioxide`: `init` and `test` see the faulty service, as Schemathesis does. The time limit is for both together.
- `ioxide-before`: `init` saw the service before it became faulty. The time limit is for `test`.

A fault counts as found if a tool reports something that it does not report for the correct service. What a tool
reports for the correct service is a false alarm; `alarms` in `service.json` has those that do not come in every run
(checked by hand: the correct service replies in the same way); `unrelated` has those that belong to one fault and not
to another. Results are kept in a file, so that one tool or one
service can be measured again (`--tool`, `--only`).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
CORRECT = "correct"
STARTING_SECONDS = 60
INIT_SECONDS = 300
TOOLS = ["ioxide", "ioxide-before", "schemathesis"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ioxide", default="ioxide", help="the program ioxide")
    parser.add_argument("--schemathesis", default="st", help="the program st")
    parser.add_argument("--services", default=[HERE], type=pathlib.Path, nargs="+", help="folders with services")
    parser.add_argument("--results", default="results.json", type=pathlib.Path, help="the file that keeps results")
    parser.add_argument("--tool", action="append", choices=TOOLS, help="only this tool")
    parser.add_argument("--only", action="append", help="only this SERVICE or SERVICE/FAULT; can be repeated")
    parser.add_argument("--seconds", type=int, default=30, help="the time limit of each tool")
    parser.add_argument("--repeat", type=int, default=2, help="how often the correct service is tested")
    parser.add_argument("--jobs", type=int, default=1, help="services that are tested at the same time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="measure nothing, only print the table")
    return parser.parse_args()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def stop(process):
    """Stops a process with everything that it started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(5)
            return
        except ProcessLookupError:
            process.wait(5)
            return
        except subprocess.TimeoutExpired:
            continue


def run(command, folder, environment, seconds):
    """Returns exit code and output; the exit code is None if the time was not enough."""
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        stop(process)
        return None, process.communicate()[0]


def start_service(folder, port, path, environment):
    """Starts a service and waits until it gives its description."""
    process = subprocess.Popen([folder / "start", str(port)], env=environment, start_new_session=True)
    for _ in range(STARTING_SECONDS * 10):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).read()
            return process
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    stop(process)
    raise RuntimeError(f"{folder.name} does not start")


def count_lines(path):
    return len(path.read_text().splitlines()) if path.exists() else 0


def run_init(arguments, folder, config, fault, work):
    """Runs `init` in the folder `work`; returns what came of it."""
    log = work / "requests.log"
    environment = {**os.environ, **config["environment"], "IOX_FAULT": fault, "SERVICE_LOG": str(log)}
    description = f"http://127.0.0.1:{{port}}{config['description']}"
    command = ["init", "--openapi", description, "--start", f"exec {folder / 'start'} {{port}}", "api"]
    started = time.monotonic()
    code, output = run([arguments.ioxide, *command], work, environment, INIT_SECONDS)
    seconds = round(time.monotonic() - started, 1)
    reports = {line.strip(): [seconds, count_lines(log)] for line in output.splitlines() if "contradict" in line}
    result = {"seconds": seconds, "requests": count_lines(log), "init": output[-6000:], "reports": reports}
    return result if code == 0 else {**result, "verdict": "error"}


def run_test(arguments, config, fault, seed, project, seconds):
    """Runs `test` in the folder of a project that `init` made; a report is the reason of the failure."""
    with tempfile.TemporaryDirectory() as work:
        log = pathlib.Path(work) / "requests.log"
        environment = {**os.environ, **config["environment"], "IOX_FAULT": fault, "SERVICE_LOG": str(log)}
        command = ["test", "api.iox", "--sut", "api", "--for", f"{seconds}s", "--no-shrink", "--seed", seed]
        started = time.monotonic()
        code, output = run([arguments.ioxide, *command], project, environment, seconds + 60)
        seconds = round(time.monotonic() - started, 1)
        # 5: a limit was reached, or every reply was a refusal.
        verdict = {0: "passed", 1: "failed", 5: "inconclusive"}.get(code, "error")
        reports = {summarise_failure(output): [seconds, count_lines(log)]} if verdict == "failed" else {}
        return {"verdict": verdict, "code": code, "reports": reports, "seconds": seconds,
                "requests": count_lines(log), "output": output[-6000:]}


def measure_ioxide(arguments, folder, config, fault, seed):
    """Runs `init` and `test` against the same service."""
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        learned = run_init(arguments, folder, config, fault, work)
        if learned.get("verdict") == "error":
            return learned
        left = max(1, round(arguments.seconds - learned["seconds"]))
        result = run_test(arguments, config, fault, seed, work / "api", left)
        for times in result["reports"].values():
            times[0] = round(times[0] + learned["seconds"], 1)
            times[1] += learned["requests"]
        result["reports"].update(learned["reports"])
        return {**result, "init": learned["init"], "init_seconds": learned["seconds"],
                "init_requests": learned["requests"], "seconds": round(result["seconds"] + learned["seconds"], 1)}


PROJECTS = {}
PROJECTS_LOCK = threading.Lock()


def measure_ioxide_before(arguments, folder, config, fault, seed):
    """Runs `test` with the model that `init` made once from the correct service."""
    with PROJECTS_LOCK:
        if folder.name not in PROJECTS:
            work = pathlib.Path(tempfile.mkdtemp(prefix=f"compare-{folder.name}-"))
            PROJECTS[folder.name] = work, run_init(arguments, folder, config, "", work)
    work, learned = PROJECTS[folder.name]
    if learned.get("verdict") == "error":
        return learned
    with tempfile.TemporaryDirectory() as copy:
        # `test` writes what it finds beside the model, and the next measurement must not know it.
        project = shutil.copytree(work / "api", pathlib.Path(copy) / "api")
        result = run_test(arguments, config, fault, seed, project, arguments.seconds)
    return {**result, "init": learned["init"], "init_seconds": learned["seconds"]}


def summarise_failure(output):
    """Returns the line that names the failure: the reply that cannot be read, or the id of the failure."""
    lines = [line.strip() for line in output.splitlines()]
    for word in ("unreadable ", "id "):
        for line in lines:
            if line.startswith(word):
                return re.sub(r"\s+", " ", line)[:160]
    return "failed"


def measure_schemathesis(arguments, folder, config, fault, seed):
    """Runs `st run` with default settings; a report is a kind of failure of an operation."""
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        log = work / "requests.log"
        environment = {**os.environ, "IOX_FAULT": fault, "SERVICE_LOG": str(log)}
        port = free_port()
        service = start_service(folder, port, config["description"], environment)
        if "configuration" in config:
            (work / "schemathesis.toml").write_text(config["configuration"])
        events = work / "events.ndjson"
        try:
            started, wall = time.monotonic(), time.time()
            url = f"http://127.0.0.1:{port}{config['description']}"
            options = ["--max-time", arguments.seconds, "--report", "ndjson", "--report-ndjson-path", events]
            command = [arguments.schemathesis, "run", url, *config["schemathesis"], *options, "--seed", seed]
            code, output = run(command, work, environment, arguments.seconds + 60)
            seconds = round(time.monotonic() - started, 1)
        finally:
            stop(service)
        verdict = {0: "passed", 1: "failed"}.get(code, "error")
        return {"verdict": verdict, "reports": read_events(events, wall), "seconds": seconds,
                "requests": count_lines(log), "output": output[-6000:]}


def read_events(path, started):
    """Returns kind and operation of every failure with the seconds and the requests before it."""
    failures, times = {}, []
    for line in path.read_text().splitlines() if path.exists() else []:
        (kind, event), = json.loads(line).items()
        if kind != "ScenarioFinished":
            continue
        recorder = event["recorder"]
        interactions = recorder.get("interactions", {})
        times += [interaction["timestamp"] for interaction in interactions.values()]
        for case, checks in recorder.get("checks", {}).items():
            for check in checks:
                if check["status"] == "failure":
                    failure = check["failure_info"]["failure"]
                    name = f"{failure['type']} {failure['operation']}"
                    at = interactions[case]["timestamp"]
                    failures[name] = min(at, failures.get(name, at))
    return {name: [round(at - started, 1), sum(time <= at for time in times)] for name, at in failures.items()}


MEASURES = dict(zip(TOOLS, (measure_ioxide, measure_ioxide_before, measure_schemathesis)))


def list_services(roots):
    folders = sorted((path.parent for root in roots for path in root.resolve().glob("*/service.json")),
                     key=lambda folder: folder.name)
    return {folder.name: (folder, json.loads((folder / "service.json").read_text())) for folder in folders}


def list_work(arguments, services):
    """Returns tool, service, fault and number of every measurement."""
    work = []
    for name, (_, config) in services.items():
        for fault in [CORRECT] * arguments.repeat + config["stateful"] + config["contract"]:
            if arguments.only and name not in arguments.only and f"{name}/{fault}" not in arguments.only:
                continue
            number = sum(1 for item in work if item[1:3] == (name, fault) and item[0] == "ioxide")
            work += [(tool, name, fault, number) for tool in TOOLS]
    return [item for item in work if not arguments.tool or item[0] in arguments.tool]


def measure(arguments, services, results):
    lock = threading.Lock()

    def measure_one(item):
        tool, name, fault, number = item
        folder, config = services[name]
        planted = "" if fault == CORRECT else fault
        result = MEASURES[tool](arguments, folder, config, planted, arguments.seed + number)
        with lock:
            results[f"{tool} {name} {fault} {number}"] = result
            arguments.results.write_text(json.dumps(results, indent=1))
        reports = ", ".join(result["reports"]) or "nothing"
        print(f"{tool} {name} {fault}: {result['verdict']} in {result.get('seconds')} s: {reports}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(measure_one, list_work(arguments, services)))


def false_alarms(results, tool, name, config):
    """Returns what a tool reports for the correct service; None if it was not measured."""
    runs = {key: set(result["reports"]) for key, result in results.items() if key.startswith(f"{tool} {name} ")}
    correct = [reports for key, reports in runs.items() if key.split()[2] == CORRECT]
    known = set(config.get("alarms", [])) & set().union(*runs.values())
    return sorted(known.union(*correct)) if correct else None


def cell(results, tool, name, config, fault):
    """Returns seconds and requests to the first failure that the correct service does not have."""
    result = results.get(f"{tool} {name} {fault} 0")
    if result is None:
        return "", False
    if result["verdict"] == "error":
        return "error", False
    alarms = false_alarms(results, tool, name, config) or []
    others = [*alarms, *config.get("unrelated", {}).get(fault, [])]
    found = [times for report, times in result["reports"].items() if report not in others]
    if not found:
        return "–", False
    seconds, requests = min(found)
    return f"{seconds} s, {requests}", True


def print_table(results, services):
    names = "ioxide | ioxide, model from before | Schemathesis"
    print(f"| service | fault | kind | {names} |\n|---|---|---|---|---|---|")
    totals = {}
    for name, (_, config) in services.items():
        for kind in ("stateful", "contract"):
            for fault in config[kind]:
                cells = []
                for tool in MEASURES:
                    text, is_found = cell(results, tool, name, config, fault)
                    cells.append(text)
                    totals.setdefault((tool, name, kind), []).append(is_found)
                print(f"| {name} | {fault} | {kind} | {' | '.join(cells)} |")
    print(f"\n| service | {names} | false alarms of each |\n|---|---|---|---|---|")
    for name, (_, config) in services.items():
        found = []
        for tool in MEASURES:
            both = [totals[(tool, name, kind)] for kind in ("stateful", "contract")]
            found.append(" + ".join(f"{sum(one)} of {len(one)}" for one in both))
        alarms = [false_alarms(results, tool, name, config) for tool in MEASURES]
        alarms = ["?" if reports is None else str(len(reports)) for reports in alarms]
        print(f"| {name} | {' | '.join(found)} | {', '.join(alarms)} |")
    print()
    for tool in MEASURES:
        for name, (_, config) in services.items():
            for alarm in false_alarms(results, tool, name, config) or []:
                print(f"- {tool}, {name}: {alarm}")


def main():
    arguments = parse_arguments()
    # A program named by a path is found from every folder.
    for tool in ("ioxide", "schemathesis"):
        path = shutil.which(getattr(arguments, tool))
        if path:
            setattr(arguments, tool, str(pathlib.Path(path).absolute()))
    services = list_services(arguments.services)
    results = json.loads(arguments.results.read_text()) if arguments.results.exists() else {}
    if not arguments.table:
        measure(arguments, services, results)
    print_table(results, services)


if __name__ == "__main__":
    main()
