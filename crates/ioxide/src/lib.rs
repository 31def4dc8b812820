//! Rust code against a model, in an ordinary `#[test]`.
//!
//! A system is a value that takes inputs and emits outputs ([`InProcess`]). [`check`] plays the tester: it chooses
//! inputs that the model allows, and compares every output with what the model allows after the trace so far (ioco). A
//! failure is a panic with the run as a chart, the smallest run that fails, and the seed that repeats it.
//!
//! ```
//! use ioxide::{GivenInput, InProcess, ModelFile, Outputs, json};
//!
//! /// The system under test: a queue with room for two.
//! #[derive(Default)]
//! struct Queue(Vec<i64>);
//!
//! impl InProcess for Queue {
//!     fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
//!         match input.name() {
//!             "push" if self.0.len() < 2 => {
//!                 self.0.push(input.int("n"));
//!                 outputs.emit("ok", ());
//!             }
//!             "push" => outputs.emit("full", ()),
//!             "pop" if self.0.is_empty() => outputs.emit("empty", ()),
//!             "pop" => outputs.emit("value", json!({ "n": self.0.remove(0) })),
//!             _ => (),
//!         }
//!     }
//! }
//!
//! let model = ModelFile::text(
//!     "model Queue {
//!         input push(n: 0..9)
//!         input pop
//!         output ok
//!         output full
//!         output empty
//!         output value(n: int)
//!         var items: list<int> = []
//!         state ready {
//!             push: on push when items.length() < 2 { items = items + [n] } -> pushed
//!             full: on push when items.length() == 2 -> refused
//!             pop: on pop -> popped
//!         }
//!         state pushed { emit ok -> ready }
//!         state refused { emit full -> ready }
//!         state popped {
//!             emit empty when items.is_empty() -> ready
//!             emit value(n: first) when let some(first) = items.first() { items = items.drop(1) } -> ready
//!         }
//!     }",
//! );
//! let passed = ioxide::check(&model, Queue::default).steps(500).run();
//! assert!(passed.never_taken().is_empty());
//! ```
//!
//! A queue that gives out the newest first is found, and the panic says how:
//!
//! ```should_panic
//! # use ioxide::{GivenInput, InProcess, ModelFile, Outputs, json};
//! #[derive(Default)]
//! struct Stack(Vec<i64>);
//!
//! impl InProcess for Stack {
//!     fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
//!         match input.name() {
//!             "push" => self.0.push(input.int("n")),
//!             _ => outputs.emit("value", json!({ "n": self.0.pop() })),
//!         }
//!     }
//! }
//!
//! let model = ModelFile::text(
//!     "model Queue {
//!         input push(n: 0..9)
//!         input pop
//!         output value(n: int?)
//!         var items: list<int> = []
//!         state ready {
//!             on push { items = items + [n] }
//!             on pop -> popped
//!         }
//!         state popped { emit value(n: items.first()) { items = items.drop(1) } -> ready }
//!     }",
//! );
//! ioxide::check(&model, Stack::default).run();
//! ```
//!
//! - **Repeat a failure**: every run derives from one seed, 1 by default, so tests do the same every time.
//!   `IOXIDE_SEED=7` sets another default, [`ModelCheck::seed`] the seed of one check. Tests share nothing, so runners
//!   may run them in any order.
//! - **Budgets**: [`steps`](ModelCheck::steps) (10,000 by default for the default tester), [`runs`](ModelCheck::runs),
//!   [`time`](ModelCheck::time). `IOXIDE_STEPS` sets another default of the steps, for long nights.
//! - **Testers**: [`TesterChoice`]; those of files (`case:FILE`, `suite:FILE`) read what `ioxide case` and `ioxide fsm`
//!   wrote.
//! - **Time**: a model with clocks is tested in virtual time ([`InProcess::pass`]).
//! - A system that panics has broken down, which is a failure unless the model allows it.
//! - **Several threads at once**: [`concurrent`].

mod bench;
mod check;
pub mod concurrent;
mod failure;
mod message;
mod model;
mod panics;
mod system;
mod tester;

// The macros name this crate by its path; here they are used inside of it.
extern crate self as ioxide;

pub use serde_json::json;

pub use ioxide_testgen::tester::spec::TesterSpec as TesterChoice;

pub use self::check::{CheckPassed, ModelCheck, check};
pub use self::failure::{CheckFailure, TraceStep, TraceStepKind};
pub use self::message::{
    EnumField, EnumMessage, IoxInput, IoxOutput, IoxValue, TypeDeclarations, model_skeleton,
};
pub use self::model::{BadModel, ModelFile};
pub use self::system::{GivenInput, InProcess, Outputs};
