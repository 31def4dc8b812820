//! All answers seen so far, in one prefix tree.
//!
//! A node is a trace of the system. As long as the model allows the trace the
//! node knows the model's state after it. What a case has shown after a node
//! is read off the tree below it.

use ioxide_model::index;
use ioxide_model::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use super::AdaptiveCase;
use crate::mealy::{InputId, OutputId, StateId};
use crate::nfsm::Observable;
use crate::word::IoWord;

index! { /// A trace that was seen.
pub struct ObservationId; }
index! { /// A set of answers to the characterising set.
pub struct ClassId; }

struct ObservationNode {
    parent: ObservationId,
    step: Option<(InputId, OutputId)>,
    /// The state of the model, if it allows the trace.
    state: Option<StateId>,
    /// Steps seen here, sorted.
    kids: Vec<(InputId, OutputId, ObservationId)>,
    /// True if a test ended with this trace.
    end: bool,
}

/// The tree of observations.
pub(super) struct ResponseTree<'m> {
    model: &'m Observable,
    nodes: IndexVec<ObservationId, ObservationNode>,
    classes: FxHashMap<Vec<u32>, ClassId>,
}

impl<'m> ResponseTree<'m> {
    /// Makes a tree of the empty word, at the initial state of `model`.
    pub(super) fn new(model: &'m Observable) -> Self {
        let state = Some(model.initial());
        let root = ObservationNode {
            parent: ObservationId::new(0),
            step: None,
            state,
            kids: Vec::new(),
            end: false,
        };
        let nodes = [root].into_iter().collect();
        Self { model, nodes, classes: FxHashMap::default() }
    }

    /// The observation of nothing.
    pub(super) fn root(&self) -> ObservationId {
        ObservationId::new(0)
    }

    /// Adds a trace; returns whether the model allows it.
    pub(super) fn insert(&mut self, trace: &[(InputId, OutputId)]) -> bool {
        let mut at = self.root();
        for &(input, output) in trace {
            at = match self.child_position(at, input, output) {
                Ok(place) => self.nodes[at].kids[place].2,
                // Once the model forbids a trace it forbids every longer one, so the state stays `None` from there
                // on.
                Err(place) => {
                    let state =
                        self.nodes[at].state.and_then(|state| self.model.state_after(state, input, output));
                    let step = Some((input, output));
                    let fresh = self.nodes.push(ObservationNode {
                        parent: at,
                        step,
                        state,
                        kids: Vec::new(),
                        end: false,
                    });
                    self.nodes[at].kids.insert(place, (input, output, fresh));
                    fresh
                }
            };
        }
        self.nodes[at].end = true;
        debug_assert!(
            self.nodes[at].state.is_none() || self.nodes[self.nodes[at].parent].state.is_some(),
            "the model allows every prefix of a trace that it allows"
        );
        self.nodes[at].state.is_some()
    }

    /// Returns the position of a child, or where it belongs.
    fn child_position(&self, at: ObservationId, input: InputId, output: OutputId) -> Result<usize, usize> {
        self.nodes[at].kids.binary_search_by_key(&(input, output), |&(x, y, _)| (x, y))
    }

    /// The nodes one `input` after `at`, by output.
    pub(super) fn nodes_after(
        &self,
        at: ObservationId,
        input: InputId,
    ) -> impl Iterator<Item = ObservationId> {
        self.nodes[at].kids.iter().filter(move |&&(x, _, _)| x == input).map(|&(_, _, node)| node)
    }

    /// The state of the model after the trace of `at`, if it allows it.
    pub(super) fn state(&self, at: ObservationId) -> Option<StateId> {
        self.nodes[at].state
    }

    /// The node before `at`; the root is before itself.
    pub(super) fn parent(&self, at: ObservationId) -> ObservationId {
        self.nodes[at].parent
    }

    /// The trace of `at`.
    pub(super) fn trace(&self, at: ObservationId) -> IoWord {
        let mut trace = IoWord::new();
        let mut at = at;
        while let Some(step) = self.nodes[at].step {
            trace.push(step);
            at = self.nodes[at].parent;
        }
        trace.reverse();
        trace
    }

    /// `B`: the class of the answers to `cases` seen after `at`.
    pub(super) fn classify(&mut self, at: ObservationId, cases: &[AdaptiveCase]) -> ClassId {
        let mut key = Vec::new();
        for case in cases {
            self.write_answers(at, case, &mut key);
            // The two greatest numbers are brackets and no outputs: one behind every case, one behind the answers
            // below an output. So different trees of answers never have the same key.
            key.push(u32::MAX);
        }
        // Equal keys are one class: two traces with different classes led to different states of the system.
        let fresh = ClassId::new(self.classes.len());
        *self.classes.entry(key).or_insert(fresh)
    }

    /// The answers to `case` below `at`, depth first, as numbers.
    fn write_answers(&self, at: ObservationId, case: &AdaptiveCase, key: &mut Vec<u32>) {
        let Some(input) = case.input() else { return };
        for &(x, output, kid) in &self.nodes[at].kids {
            if x == input {
                key.push(output.index() as u32);
                self.write_answers(kid, case.case_after(output), key);
                key.push(u32::MAX - 1);
            }
        }
    }

    /// Returns the number of different traces in which a test ended, and the sum of their lengths; the empty trace is
    /// not counted.
    pub(super) fn measure(&self) -> (usize, usize) {
        let mut depth = vec![0; self.nodes.len()];
        let (mut ends, mut symbols) = (0, 0);
        // A parent is older than its children, so its depth is known when a child needs it.
        for (id, node) in self.nodes.iter_enumerated().skip(1) {
            depth[id.index()] = depth[node.parent.index()] + 1;
            if node.end {
                ends += 1;
                symbols += depth[id.index()];
            }
        }
        (ends, symbols)
    }
}
