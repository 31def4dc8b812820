//! Helpers of the tests of cases.

#![allow(dead_code, reason = "not every test uses everything here")]

use std::path::Path;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::number::{Int, Rational};
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, Sts, SwitchId};
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, SolverStack, build_stack};

/// The model in `text`, which must have no error.
pub fn named(name: &str, text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{name}: {:?}\n{text}", loaded.diagnostics))
}

/// The text of a model that ships with the project.
pub fn text_of(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A model that ships with the project.
pub fn example(name: &str) -> Model {
    named(name, &text_of(name))
}

/// The ATM that takes the answer of the bank only as long as it waits for it.
pub fn atm_guarded() -> Model {
    let text = text_of("atm/atm.iox");
    let guarded = text.replacen("tr3: on Auth", "tr3: on Auth when wclock < patience", 1);
    assert_ne!(text, guarded);
    named("guarded.iox", &guarded)
}

/// The switches with these labels.
pub fn path(sts: &Sts, labels: &str) -> Vec<SwitchId> {
    labels.split(',').map(|label| sts.switch_named(label).unwrap_or_else(|| panic!("{label}"))).collect()
}

/// The solver of the default configuration.
pub fn solver() -> SolverStack {
    build_stack(&SolverConfig::default())
}

/// Returns tenths of a second in seconds.
pub fn seconds(tenths: i64) -> Rational {
    Rational::new(Int::from(tenths), Int::from(10)).unwrap_or(Rational::ZERO)
}

/// Integer values.
pub fn integers(numbers: &[i64]) -> Vec<Value> {
    numbers.iter().map(|&n| Value::int(n)).collect()
}
