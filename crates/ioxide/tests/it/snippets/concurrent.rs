//! The Rust block of `docs/book/src/concurrent.md`; the tests of `snippets` compare the two.

use std::collections::HashMap;
use std::sync::Mutex;

use ioxide::concurrent::{self, SharedSystem};
use ioxide::{GivenInput, ModelFile, Outputs, json};

#[derive(Default)]
struct Store(Mutex<HashMap<String, i64>>);

impl SharedSystem for Store {
    fn take(&self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        let mut store = self.0.lock().expect("no thread panics");
        let n = store.entry(input.get("key")).or_insert(0);
        *n += 1;
        outputs.emit("total", json!({ "n": *n }));
    }
}

#[test]
fn is_linearizable() {
    concurrent::check(&ModelFile::open("tests/counters.iox"), Store::default).clients(4).runs(200).run();
}
