//! Tests of `suite::identify`.

use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_fsm::cover::state_cover;
use ioxide_fsm::distinguish::WordCosts;
use ioxide_fsm::mealy::{Mealy, SuiteModel};
use ioxide_fsm::suite::convergence::{ConvergenceGraph, SpareGraph, TestContinuation};
use ioxide_fsm::suite::identify::{Identification, IdentifyRule, WordLibrary};

/// The words continued at a bare node are in the library, and the rows of the library agree with following every
/// word.
#[test]
fn the_library_has_what_a_bare_node_can_be_continued_with() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut tried = 0;
    while tried < 40 {
        let entry = |_| Some((rng.random_range(0..8), rng.random_range(0..2)));
        let table: Vec<_> = (0..24).map(entry).collect();
        let Ok(spec) = SuiteModel::check(&Mealy::from_table(8, 3, 2, &table).unwrap()) else { continue };
        tried += 1;
        let cover = state_cover(&spec);
        let library = WordLibrary::new(&spec, WordCosts::new(&spec, &cover, 0)).with_more_words();
        let mut identify = Identification::new(&library, IdentifyRule::OnTheFly);
        let mut graph =
            ConvergenceGraph::new(&spec, &cover, TestContinuation::InPlace, SpareGraph::default());
        for (state, input) in spec.states().flat_map(|s| spec.inputs().map(move |x| (s, x))) {
            let node = graph.add_word(graph.access_node(state), &[input]);
            let now = graph.state(node);
            if graph.is_access_node(node) || !graph.is_leaf(node) {
                continue;
            }
            identify.open = spec.states().filter(|&other| other != now).collect();
            let continued = identify.continue_tests(&graph, node);
            assert!(continued.iter().all(|word| library.words[now].contains(word)));
        }
        for (state, words) in library.words.iter_enumerated() {
            for (i, word) in words.iter().enumerate() {
                let row = library.row_start(state, i);
                for other in spec.states() {
                    let end = spec.separation_length(state, other, word).unwrap_or(0);
                    assert_eq!(usize::from(library.ends[row + other.index()]), end);
                }
            }
        }
    }
}
