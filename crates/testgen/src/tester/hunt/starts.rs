//! Rare states as starting points: a way to each, and the number of its visits.
//!
//! A state that is rarely reached by chance is reached again by repeating the way to it, and explored from there.
//! States are identified by their outline; the way kept is the first one, which tends to be short. If the system goes
//! another way this time, the walk goes on from wherever it is.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

use ioxide_model::label::Label;
use ioxide_model::trace::Trace;

/// The greatest number of labels of a way that is kept. Chosen by feel: replaying a longer way takes longer than
/// walking on.
const MAX_LABELS: usize = 32;
/// The greatest number of ways kept. Chosen by feel: it bounds the memory; the ways kept first stay.
const MAX_WAYS: usize = 1_024;
/// The number of ways drawn, of which the one to the rarest state is taken. Chosen by feel: the rarest of few is rare
/// enough, and not always the same one.
const DRAWN_WAYS: usize = 6;

/// The states met, by outline.
#[derive(Clone, Debug, Default)]
pub struct StartStates {
    /// The position in the list by outline; looked up, never iterated.
    known: FxHashMap<u64, usize>,
    ways: Vec<StartWay>,
    /// The outline at the last visit.
    last: Option<u64>,
}

/// A way to a state, and the number of visits.
#[derive(Clone, Debug)]
struct StartWay {
    labels: Vec<Label>,
    visits: u32,
}

impl StartStates {
    /// Counts a visit to a state of this outline after `trace`, unless it is that of the last visit.
    pub fn visit(&mut self, about: u64, trace: &Trace) {
        // A state that is only stayed in is not visited again: otherwise looks would make it seem frequent.
        if self.last.replace(about) == Some(about) {
            return;
        }
        match self.known.get(&about) {
            Some(&at) => self.ways[at].visits += 1,
            None if trace.len() <= MAX_LABELS && self.ways.len() < MAX_WAYS => {
                self.known.insert(about, self.ways.len());
                self.ways.push(StartWay { labels: trace.labels.clone(), visits: 1 });
                debug_assert_eq!(self.known.len(), self.ways.len(), "every way is known by its outline");
            }
            None => (),
        }
    }

    /// Draws a way to a state that was visited rarely; empty if none is known.
    pub fn rare(&self, rng: &mut ChaCha8Rng) -> Vec<Label> {
        if self.ways.is_empty() {
            return Vec::new();
        }
        let drawn = (0..DRAWN_WAYS).map(|_| &self.ways[rng.random_range(0..self.ways.len())]);
        // Of equally rare states the one with the shorter way.
        drawn.min_by_key(|way| (way.visits, way.labels.len())).map_or_else(Vec::new, |way| way.labels.clone())
    }
}
