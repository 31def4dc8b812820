//! Witnesses of killed mutants, which may kill other mutants by the same trace.
//!
//! A witness is a trace that the specification forbids at its last label. A mutant that can show the very same trace is
//! killed by it, too, without a search of its own: that the specification forbids it was shown for the first mutant.
//!
//! *Promises.* A trace that is not certain counts as not shown: the mutant is then decided as any other.

use ioxide_model::sts::Sts;
use ioxide_model::trace::Trace;
use ioxide_symex::Ctx;

use crate::conform::{InputCompletion, concrete_start, follow_label};
use crate::mutate::Mutant;

/// The greatest number of traces that are tried on one mutant. Chosen by feel: replaying a trace is cheap, but with
/// thousands of mutants most traces kill nothing new.
const MAX_TRACES: usize = 200;

/// The witnesses of mutants that are killed, to be tried on others.
#[derive(Clone, Debug, Default)]
pub struct KnownWitnesses {
    traces: Vec<Trace>,
}

impl KnownWitnesses {
    /// The different traces of `witnesses`, short ones first.
    pub fn new<'t>(witnesses: impl IntoIterator<Item = &'t Trace>) -> Self {
        let mut traces: Vec<Trace> = Vec::new();
        for trace in witnesses {
            if !traces.contains(trace) {
                traces.push(trace.clone());
            }
        }
        traces.sort_by_key(Trace::len);
        traces.truncate(MAX_TRACES);
        Self { traces }
    }

    /// Returns the first of these traces that kills `mutant` of the system of `cx`, if one does.
    pub fn killing(&self, cx: &mut Ctx<'_>, mutant: &Mutant, completion: InputCompletion) -> Option<&Trace> {
        if self.traces.is_empty() {
            return None;
        }
        let system = mutant.apply(cx.sts);
        self.traces.iter().find(|trace| shows(cx, &system, trace, completion))
    }
}

/// Returns whether `system` can certainly show `trace`, from its initial state to the last label.
pub fn shows(cx: &mut Ctx<'_>, system: &Sts, trace: &Trace, completion: InputCompletion) -> bool {
    // Which inputs are ignored after the specification was left is not followed here.
    let completion = if completion == InputCompletion::Angelic { completion } else { InputCompletion::None };
    let mut after = concrete_start(cx, system);
    for label in &trace.labels {
        if after.states.is_empty() {
            return false;
        }
        after = follow_label(cx, system, &after, label, completion);
    }
    !after.states.is_empty()
}
