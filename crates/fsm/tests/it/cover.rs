//! Tests of `cover`.

use ioxide_model::index::Idx;

use ioxide_fsm::cover::state_cover;
use ioxide_fsm::mealy::{Mealy, StateId, SuiteModel};

#[test]
fn access_words_reach_their_states() {
    let table = [(1, 0), (0, 1), (2, 0), (0, 0), (0, 1), (2, 1)];
    let machine = Mealy::from_table(3, 2, 2, &table.map(Some)).unwrap();
    let spec = SuiteModel::check(&machine).unwrap();
    let cover = state_cover(&spec);
    assert_eq!(cover.access_words().map(|word| word.len()).collect::<Vec<_>>(), [0, 1, 2]);
    for state in spec.states() {
        assert_eq!(spec.state_after(spec.initial(), &cover.access_word(state)), state);
    }
}

#[test]
fn the_cover_is_prefix_closed() {
    let table = [(1, 0), (0, 1), (2, 0), (0, 0), (0, 1), (2, 1)];
    let spec = SuiteModel::check(&Mealy::from_table(3, 2, 2, &table.map(Some)).unwrap()).unwrap();
    let cover = state_cover(&spec);
    let n_edges = spec.states().flat_map(|s| spec.inputs().map(move |x| (s, x)));
    assert_eq!(n_edges.filter(|&(s, x)| cover.has_edge(&spec, s, x)).count(), spec.n_states() - 1);
    assert_eq!(cover.order()[0], StateId::new(0));
}
