//! What the tests of cases share.

use std::path::Path;

use ioxide_lang::{Options, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, Sts, SwitchId};
use ioxide_smt::stack::{Config, Stack, stack};

/// The model in `text`, which must have no error.
pub fn named(name: &str, text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let loaded = load(&sources, file, &Options::default());
    loaded.model.unwrap_or_else(|| panic!("{name}: {:?}\n{text}", loaded.diagnostics))
}

/// A model that ships with the project.
pub fn example(name: &str) -> Model {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    named(name, &text)
}

/// The switches with these labels.
pub fn path(sts: &Sts, labels: &str) -> Vec<SwitchId> {
    labels.split(',').map(|label| sts.switch_named(label).unwrap_or_else(|| panic!("{label}"))).collect()
}

/// The solver people have.
pub fn solver() -> Stack {
    stack(&Config::default())
}
