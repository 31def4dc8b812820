"""Carries the batches of ``ioxide campaign --on ray`` to a Ray cluster.

The program talks to this module over stdin and stdout, one JSON value per line::

    {"hello": 1, "address": null, "program": "ioxide", "cwd": ..., "workers": 4, ...}   -> {"ready": "3 nodes, 6 CPUs"}
    {"submit": 7, "args": [...], "env": {...}, "part": DIR, "log": FILE, "files": {}}   -> {"ended": 7, "code": 0}
    {"stop": true}

A task runs the program on some node, in a folder of its own where the files are that its arguments name, and gives back
the files of its part. They are written here,
aside first, so a part is there whole or not at all. Ray tries nothing again by itself: the program knows which units
are left when a worker or a node is lost.
"""

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading

#: Seconds between two looks at what has ended.
LOOK = 0.05


def run_batch(program, args, env, cwd, given):
    """On a node: runs the program for one batch; its exit code, the files of its part, and what it said."""
    folder = tempfile.mkdtemp(prefix="ioxide-")
    try:
        part, log = os.path.join(folder, "part"), os.path.join(folder, "log")
        for number, (name, content) in enumerate(sorted(given.items())):
            copy = os.path.join(folder, f"given-{number}")
            with open(copy, "w", encoding="utf-8") as file:
                file.write(content)
            args = [copy if word == name else word for word in args]
        with open(log, "wb") as said:
            # On a leash: when this worker is killed, its end of the pipe is closed, and the program ends too.
            process = subprocess.Popen(
                [program, *args, "--part", part],
                cwd=cwd,
                env={**os.environ, **env, "IOXIDE_LEASH": "stdin", "IOXIDE_PROGRESS": "off"},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=said,
            )
            try:
                code = process.wait()
            finally:
                process.stdin.close()
                process.wait()
        files = {}
        if os.path.isdir(part):
            for name in sorted(os.listdir(part)):
                with open(os.path.join(part, name), "rb") as file:
                    files[name] = file.read()
        with open(log, "rb") as file:
            return code, files, file.read()[-20_000:]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def keep(part, files):
    """Puts the files of a part in their place, all at once."""
    if not files:
        return
    folder = tempfile.mkdtemp(prefix=".ioxide-", dir=os.path.dirname(part))
    for name, content in files.items():
        if os.path.basename(name) != name:
            raise ValueError(f"a part has no file {name!r}")
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    os.chmod(folder, 0o700)
    os.rename(folder, part)


class Engine:
    """Tasks under way in a cluster."""

    def __init__(self, ray, hello):
        self.ray = ray
        self.hello = hello
        self.running = {}
        options = {"max_retries": 0, "num_cpus": hello.get("cpus") or 1, "scheduling_strategy": "SPREAD"}
        self.task = ray.remote(**options)(run_batch)
        # Where a folder is sent along, tasks are in it already.
        self.cwd = None if hello.get("working_dir") else hello["cwd"]

    def submit(self, order):
        """Sends a batch to the cluster."""
        reference = self.task.remote(
            self.hello["program"], order["args"], order["env"], self.cwd, order.get("files") or {}
        )
        self.running[reference] = order

    def ended(self):
        """What has ended since the last look."""
        if not self.running:
            return
        done, _ = self.ray.wait(list(self.running), num_returns=1, timeout=LOOK)
        for reference in done:
            order = self.running.pop(reference)
            yield self.end_of(reference, order)

    def end_of(self, reference, order):
        """How a batch ended; its files are in their place."""
        try:
            code, files, said = self.ray.get(reference)
        except Exception as error:  # a worker or a node is lost, or the task was cancelled
            return {"ended": order["submit"], "died": f"{type(error).__name__}: {first_line(error)}"}
        with open(order["log"], "wb") as log:
            log.write(said)
        keep(order["part"], files)
        if code < 0:
            return {"ended": order["submit"], "died": f"signal {-code}"}
        return {"ended": order["submit"], "code": code}

    def stop(self, force):
        """Ends what is under way."""
        for reference in list(self.running):
            self.ray.cancel(reference, force=force)


def first_line(error):
    """The first line of what an error says."""
    return next(iter(str(error).strip().splitlines()), "")


def say(told):
    """Tells the program something."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def join(hello):
    """Joins the cluster, or starts one on this machine."""
    import ray

    settings = {"log_to_driver": False, "logging_level": "ERROR"}
    if hello.get("working_dir"):
        settings["runtime_env"] = {"working_dir": hello["working_dir"]}
    if hello.get("address"):
        ray.init(address=hello["address"], **settings)
    else:
        cpus = hello["workers"] * (hello.get("cpus") or 1)
        ray.init(num_cpus=cpus, include_dashboard=False, _node_ip_address="127.0.0.1", **settings)
    nodes = sum(1 for node in ray.nodes() if node["Alive"])
    return ray, f"{nodes} node{'' if nodes == 1 else 's'}, {ray.cluster_resources().get('CPU', 0):.0f} CPUs"


def main():
    """Speaks with the program until it hangs up."""
    orders = queue.Queue()

    def listen():
        for line in sys.stdin:
            orders.put(json.loads(line))
        orders.put(None)

    threading.Thread(target=listen, daemon=True).start()
    hello = orders.get()
    if hello is None:
        return
    try:
        ray, cluster = join(hello)
    except ImportError:
        say({"error": "this Python has no Ray: `pip install ray`, or name another one by `python` under [ray]"})
        return
    except Exception as error:
        say({"error": f"no cluster: {first_line(error)}"})
        return
    engine = Engine(ray, hello)
    say({"ready": cluster})
    try:
        while True:
            try:
                order = orders.get(block=not engine.running)
            except queue.Empty:
                order = {}
            if order is None:
                return
            if "submit" in order:
                engine.submit(order)
                continue
            if "stop" in order or "kill" in order:
                engine.stop(force="kill" in order)
            for told in engine.ended():
                say(told)
    finally:
        engine.stop(force=True)
        ray.shutdown()


if __name__ == "__main__":
    main()
