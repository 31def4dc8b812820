//! Doubts of searches, which are no proof: states that were not explored, and differences that no replay shows.

use std::ops::ControlFlow;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::stack::{SolverConfig, stack};
use ioxide_symex::Ctx;
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{ConformDoubt, ConformOptions, ModelDifferences, differences};

fn model(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("model.iox", text.to_owned());
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{text}: {:?}", loaded.diagnostics))
}

fn differing(imp: &str, spec: &str) -> ModelDifferences {
    let mut spec = model(spec);
    let imp = join(&mut spec, &model(imp)).expect("the messages agree");
    let mut solver = stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let watch = &mut |_: &_| ControlFlow::Continue(());
    differences(&mut cx, &imp, &ConformOptions::default(), 50, watch).expect("the messages agree")
}

/// A place that a symbolic search cannot look into: its internal steps are too many.
fn deep(last: &str) -> String {
    format!(
        "model Deep {{ input put(x: int) input go output ok output bad var n: int = 0 var held: int = 0
            state idle {{ on put {{ held = x }} -> full on go -> busy }}
            state full {{ emit ok when held != 7 -> full }}
            state busy {{ {last} emit ok -> idle }} }}"
    )
}

#[test]
fn a_state_that_could_not_be_explored_leaves_differences_open() {
    let imp = deep(
        "count: internal when n < 2000 { n = n + 1 } -> busy
         wrong: emit bad when n == 2000 -> idle",
    );
    let found = differing(&imp, &deep(""));
    assert_eq!(found.rest, Some(ConformDoubt::Cases), "{found:?}");
}
