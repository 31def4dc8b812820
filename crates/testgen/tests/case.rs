//! Path-guided test cases of models with known answers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "case/common.rs"]
mod common;

use common::{example, path, solver};
use ioxide_model::sts::Model;
use ioxide_symex::Ctx;
use ioxide_testgen::case::{Case, CaseConfig, Pruning, Rule, Timeout, generate};

const TOOL: CaseConfig = CaseConfig { timeout: Timeout::Free, pruning: Pruning::Tool };

fn case(model: &mut Model, labels: &str, config: &CaseConfig) -> Case {
    let path = path(&model.sts, labels);
    let mut solver = solver();
    generate(&mut Ctx::new(model, &mut solver), &path, config).unwrap()
}

/// The path of the ATM of `size` steps.
fn cash(size: usize) -> String {
    ["tr1", "tr2", "tr3", "tr4"].iter().cycle().take(size).copied().collect::<Vec<_>>().join(",")
}

/// Arcs per state, those off the path apart.
fn per_state(case: &Case) -> Vec<usize> {
    let count = |state: &ioxide_testgen::case::CaseState| {
        state.arcs.iter().filter(|arc| arc.rule != Rule::R11).count()
    };
    case.states.iter().map(count).collect()
}

#[test]
fn the_atm_has_the_arcs_of_the_sound_reading() {
    let mut model = example("atm/atm.iox");
    let four = case(&mut model, &cash(4), &CaseConfig::default());
    assert_eq!(per_state(&four), [7, 9, 7, 9]);
    assert_eq!((four.n_arcs(), four.n_off_path()), (32, 1));
    for (size, arcs) in [(50, 388), (100, 776)] {
        assert_eq!(case(&mut model, &cash(size), &CaseConfig::default()).n_arcs(), arcs);
    }
}

#[test]
fn the_published_generator_is_reproduced_on_demand() {
    let mut model = example("atm/atm.iox");
    for (size, arcs) in [(4, 31), (8, 61), (12, 91)] {
        assert_eq!(case(&mut model, &cash(size), &TOOL).n_arcs(), arcs);
    }
}
