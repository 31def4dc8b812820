//! Differences far from the start: found from places reached beforehand, and confirmed by replay.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::conform::{ConformAnswer, SearchBounds};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{MutantSelection, MutationOperator, select};

/// A fault that only a dozen steps show, beside counters that make every state a new one.
fn deep() -> Model {
    let each = |text: fn(usize) -> String| (0..5).map(text).collect::<String>();
    let declared = each(|n| format!("input more{n} input ask{n} var c{n}: int = 0\n"));
    let moves = each(|n| format!("on more{n} {{ c{n} = c{n} + 1 }} on ask{n} -> a{n}\n"));
    let answers = each(|n| format!("state a{n} {{ emit told(c: c{n}) -> s }}\n"));
    let text = format!(
        "model Deep {{ input step output far output told(c: int) {declared} var d: 0..20 = 0
        state s {{ go: on step when d < 12 {{ d = d + 1 }} end: on step when d == 12 -> t\n {moves} }}
        state t {{ emit far {{ d = 0 }} -> s }}
        {answers} }}"
    );
    let mut sources = Sources::new();
    let file = sources.add("deep.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn killed(off: BTreeSet<Optimisation>) -> (usize, usize) {
    let mut model = deep();
    let places = vec!["go".to_owned(), "end".to_owned()];
    let operators = vec![MutationOperator::GuardConstant];
    let mutants = select(&mut model, &MutantSelection { operators, places, ..MutantSelection::default() })
        .expect("few enough");
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let bounds = SearchBounds { max_states: 100, ..SearchBounds::default() };
    let analysis = MutationAnalysis::new(&mut cx, &KillConfig { bounds, off, ..KillConfig::default() });
    let mut answers = mutants
        .iter()
        .map(|mutant| analysis.decide(&mut cx, mutant, &mut |_| ControlFlow::Continue(())).answer)
        .collect::<Vec<_>>();
    answers.retain(|answer| matches!(answer, ConformAnswer::Fails(_)));
    (answers.len(), mutants.len())
}

#[test]
fn a_fault_beyond_the_search_is_found_from_where_it_matters() {
    let (found, all) = killed(BTreeSet::new());
    assert!(all >= 4 && found == all, "{found} of {all}");
    let (found, all) = killed([Optimisation::ReachedPlaces].into());
    assert!(found < all, "{found} of {all}");
}
