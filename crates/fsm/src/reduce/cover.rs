//! Deterministic state cover: words after which the machine is in one known
//! state, whatever it answered \[Sachtleben18, Def. 2.3.2].
//!
//! The search runs breadth first over the sets of states a word may lead to,
//! and gives up on words whose sets are new once it has met very many sets; a
//! state it misses only makes state counting extend words further.

use ioxide_model::index::Idx;
use rustc_hash::FxHashSet;

use crate::mealy::StateId;
use crate::nfsm::Observable;
use crate::word::Word;

/// The greatest number of sets of states that the search for a cover visits. Chosen by feel: it bounds time and
/// memory; without a word for some state the cover is smaller, and the suite larger.
const MAX_SETS: usize = 1 << 16;

/// For each deterministically reachable state a shortest word that reaches it,
/// the initial state with the empty word first.
#[must_use]
pub fn deterministic_cover(machine: &Observable) -> Vec<(StateId, Word)> {
    let start = vec![machine.initial()];
    let mut seen: FxHashSet<Vec<StateId>> = [start.clone()].into_iter().collect();
    let mut reached = vec![false; machine.n_states()];
    reached[machine.initial().index()] = true;
    let mut cover = vec![(machine.initial(), Word::new())];
    let mut queue = vec![(start, Word::new())];
    let mut done = 0;
    while done < queue.len() && queue.len() < MAX_SETS {
        let (set, word) = queue[done].clone();
        done += 1;
        for input in machine.inputs() {
            // All states that the machine may be in after the input, whatever it answers; a single one is reached for
            // certain.
            let mut next: Vec<StateId> =
                set.iter().flat_map(|&state| machine.answers(state, input)).map(|&(_, next)| next).collect();
            next.sort_unstable();
            next.dedup();
            if next.is_empty() || !seen.insert(next.clone()) {
                continue;
            }
            let word = [word.as_slice(), &[input]].concat();
            if let [only] = next[..]
                && !std::mem::replace(&mut reached[only.index()], true)
            {
                cover.push((only, word.clone()));
            }
            queue.push((next, word));
        }
    }
    cover
}
