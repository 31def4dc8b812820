//! Models for the tests of this crate.

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::solver::Solver;
use ioxide_symex::Ctx;

/// The model `text` writes.
#[track_caller]
pub(crate) fn model(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// A small vending machine: pays back too much money, serves tea or coffee as it likes.
pub(crate) const VENDING: &str = "
model Vending {
    input  coin(n: int)
    output tea
    output coffee(sugar: 0..3)
    output change(n: int)

    var paid: int = 0

    state idle {
        pay: on coin when 0 < n < 10 { paid = n } -> paid_up
    }
    state paid_up {
        change: emit change(n: paid - 2) when paid > 2 -> serving
        exact: internal when paid <= 2 -> serving
    }
    state serving {
        tea: emit tea { paid = 0 } -> idle
        coffee: emit coffee { paid = 0 } -> idle
    }
}";

/// The message `gate(values)`.
#[track_caller]
pub(crate) fn message(model: &Model, gate: &str, values: &[i64]) -> Label {
    let gate = model.sts.gate_named(gate).unwrap_or_else(|| panic!("no gate {gate}"));
    let values = values.iter().copied().map(Value::int).collect();
    Label::message(&model.sts, gate, values).expect("not internal")
}

/// Calls `body` with a context over `model`.
pub(crate) fn with_cx<T>(mut model: Model, body: impl FnOnce(Ctx<'_>) -> T) -> T {
    let mut solver = BruteSolver::new();
    body(Ctx::new(&mut model, &mut solver))
}

/// The solver of tests.
pub(crate) fn new_solver() -> Box<dyn Solver> {
    Box::new(BruteSolver::new())
}
