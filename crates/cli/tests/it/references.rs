//! Servers that choose ids: their failures are repeated, made smaller, replayed and kept by meaning.

use std::fs;
use std::path::Path;

use crate::program::{command_in, printed, root};

/// Items under ids that the system makes up.
const SHOP: &str = "
model Shop {
    input create(n: 0..9)
    input get(id: string)
    input drop(id: string)
    output created(id: string)
    output item(n: int)
    output dropped
    output missing
    var items: map<string, int> = {}
    var asked: string = \"\"
    var given: int = 0
    state idle {
        on create { given = n } -> creating
        on get { asked = id } -> getting
        on drop { asked = id } -> dropping
    }
    state creating {
        emit created when !items.has(id) { items = items.with(id, given) } -> idle
    }
    state getting {
        emit item when items.has(asked) && n == items[asked] -> idle
        emit missing when !items.has(asked) -> idle
    }
    state dropping {
        emit dropped when items.has(asked) { items = items.without(asked) } -> idle
        emit missing when !items.has(asked) -> idle
    }
}
";

/// The shop. It reads a wrong number, or raises, as soon as there are as many items as its first argument says;
/// `interrupt` interrupts the program when it is wrong for the eighth time.
const SERVER: &str = r#"
import os, signal, sys, uuid
from ioxide_adapter import Adapter, on_input

LIMIT, FAULT = int(sys.argv[1]), sys.argv[2]


class Shop(Adapter):
    def reset(self):
        self.items = {}

    @on_input("create")
    def create(self, n):
        id = str(uuid.uuid4())
        self.items[id] = n
        self.emit("created", id=id)

    @on_input("get")
    def get(self, id):
        if id not in self.items:
            return self.emit("missing")
        is_full = len(self.items) >= LIMIT
        assert not (is_full and FAULT == "raise"), "too many"
        if is_full and FAULT == "interrupt":
            with open("wrong", "a") as wrong:
                wrong.write("x")
                if wrong.tell() == 8:
                    os.kill(os.getppid(), signal.SIGINT)
        self.emit("item", n=self.items[id] + (1 if is_full else 0))

    @on_input("drop")
    def drop(self, id):
        self.emit("missing" if self.items.pop(id, None) is None else "dropped")


Shop().run()
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("shop.iox"), SHOP).expect("a model");
    fs::write(folder.path().join("shop.py"), SERVER).expect("a server");
    folder
}

#[track_caller]
fn check(folder: &Path, args: &[&str], code: i32, says: &[&str]) {
    let mut command = command_in(folder, args);
    command.env("PYTHONPATH", root().join("sdk/python"));
    let (text, ended) = printed(&command.output().expect("the program runs"));
    assert_eq!(ended, code, "{text}");
    for part in says {
        assert!(text.contains(part), "should say `{part}`: {text}");
    }
}

const FIND: [&str; 9] = ["test", "shop.iox", "--seed", "2", "--runs", "300", "--steps", "60", "--sut"];

#[test]
fn a_failure_of_a_server_with_uuids_is_repeated_shrunk_kept_and_replayed() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = folder();
    let sut = "stdio:python3 shop.py 3 wrong";
    let args = [&FIND[..], &[sut, "--report", "r"]].concat();
    // Three items and one question: nothing less fails.
    let says = [
        "failed again 3 of 3 times",
        "minimal failing run: 8 steps",
        "taken from a reply: step 7: id is id of !created at step ",
    ];
    check(folder.path(), &args, 1, &says);
    let kept = fs::read_to_string(folder.path().join("r/regressions.jsonl")).expect("it is kept");
    assert!(kept.contains(r#""from":{"id":"id of !created at step "#), "{kept}");
    check(folder.path(), &["replay", "r", "--sut", sut], 1, &["FAIL"]);
    let smallest = ["replay", "r", "--smallest", "--sut", sut];
    check(folder.path(), &smallest, 1, &["replay of the smallest run", "FAIL at step 8\n"]);
    // The run that failed before comes first, and fails again with other ids.
    check(folder.path(), &args, 1, &["run 1: FAIL at step 8, failed before"]);
    // A shop without the fault does not fail with it.
    let few =
        ["test", "shop.iox", "--runs", "2", "--report", "r", "--sut", "stdio:python3 shop.py 1000 wrong"];
    check(folder.path(), &few, 0, &["passed"]);
}

/// After the failing run and its three repetitions the system is wrong only in runs that are smaller, so the program is
/// interrupted while it shrinks.
#[cfg(unix)]
#[test]
fn an_interrupted_search_shows_the_smallest_run_so_far() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = folder();
    let args = [&FIND[..], &["stdio:exec python3 shop.py 3 interrupt", "--report", "r"]].concat();
    let says = ["smaller failing run: ", "the search for a smaller one ended early: it was stopped"];
    check(folder.path(), &args, 1, &says);
    check(
        folder.path(),
        &["replay", "r", "--smallest", "--sut", "stdio:exec python3 shop.py 3 wrong"],
        1,
        &["FAIL"],
    );
}

#[test]
fn the_shortest_run_to_a_fault_of_one_transition_is_planned() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = folder();
    let args = [&FIND[..], &["stdio:python3 shop.py 1 wrong"]].concat();
    check(folder.path(), &args, 1, &["minimal failing run: 4 steps"]);
}

#[test]
fn a_failed_assertion_in_a_handler_is_a_failure_with_its_traceback() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = folder();
    let args = [&FIND[..], &["stdio:python3 shop.py 2 raise"]].concat();
    let says = [
        "FAIL",
        "the system raised an exception",
        "AssertionError: too many",
        "failed again 3 of 3 times",
        "minimal failing run: 6 steps",
    ];
    check(folder.path(), &args, 1, &says);
}

/// The shop in JavaScript, whose handler for `get` has a mistake that shows with two items.
const NODE_SERVER: &str = r#"
import { randomUUID } from 'node:crypto';
const { Adapter } = await import(process.argv[2]);

class Shop extends Adapter {
  static inputs = { create: { n: 'int' }, get: { id: 'string' }, drop: { id: 'string' } };
  static outputs = { created: { id: 'string' }, item: { n: 'int' }, dropped: {}, missing: {} };

  reset() {
    this.items = new Map();
  }

  create({ n }) {
    const id = randomUUID();
    this.items.set(id, n);
    this.emit('created', { id });
  }

  get({ id }) {
    if (!this.items.has(id)) return this.emit('missing');
    if (this.items.size >= 2) this.cache.touch(id);
    this.emit('item', { n: this.items.get(id) });
  }

  drop({ id }) {
    this.emit(this.items.delete(id) ? 'dropped' : 'missing');
  }
}

await new Shop().run();
"#;

#[test]
fn an_error_in_a_node_handler_is_a_failure_with_its_stack() {
    if !ioxide_test_support::has_program("node") {
        return;
    }
    let folder = folder();
    fs::write(folder.path().join("shop.mjs"), NODE_SERVER).expect("a server");
    let sut = format!("stdio:node shop.mjs '{}'", root().join("sdk/node/src/index.js").display());
    let args = [&FIND[..], &[&sut]].concat();
    let says = [
        "exception the system raised an exception: TypeError",
        "at Shop.get",
        "shop.mjs:",
        "failed again 3 of 3 times",
        "minimal failing run: 6 steps",
    ];
    check(folder.path(), &args, 1, &says);
}
