//! Counts the steps that one core makes in a minute, in process: a queue of numbers against its model.
//!
//! `cargo run --release -p ioxide --example speed`

use std::time::Instant;

use ioxide::{GivenInput, InProcess, ModelFile, Outputs, TesterChoice, check, json};

const MODEL: &str = "model Queue {
    input push(n: 0..9)
    input pop
    output ok
    output full
    output empty
    output value(n: int)
    var items: list<int> = []
    state ready {
        push: on push when items.length() < 4 { items = items + [n] } -> pushed
        full: on push when items.length() == 4 -> refused
        pop: on pop -> popped
    }
    state pushed { emit ok -> ready }
    state refused { emit full -> ready }
    state popped {
        emit empty when items.is_empty() -> ready
        emit value(n: first) when let some(first) = items.first() { items = items.drop(1) } -> ready
    }
}";

#[derive(Default)]
struct Queue(Vec<i64>);

impl InProcess for Queue {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        match input.name() {
            "push" if self.0.len() < 4 => {
                self.0.push(input.int("n"));
                outputs.emit("ok", ());
            }
            "push" => outputs.emit("full", ()),
            _ if self.0.is_empty() => outputs.emit("empty", ()),
            _ => outputs.emit("value", json!({ "n": self.0.remove(0) })),
        }
    }
}

fn main() {
    let model = ModelFile::text(MODEL);
    for (name, tester) in [("hunt", TesterChoice::Hunt), ("random", TesterChoice::Random)] {
        let from = Instant::now();
        let steps = if tester == TesterChoice::Hunt { 100_000 } else { 10_000 };
        let passed = check(&model, Queue::default).tester(tester).steps(steps).run();
        let took = from.elapsed().as_secs_f64();
        let rate = passed.steps() as f64 / took * 60.0;
        println!("{name}: {} steps in {took:.2} s, {rate:.0} a minute", passed.steps());
    }
}
