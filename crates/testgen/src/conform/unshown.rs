//! Suspected differences: unsafe steps for which no trace was found.
//!
//! A search that leaves a suspicion behind proves nothing, and it must not claim anything about traces that are as long
//! as the suspected one: the difference may be there. What it knows is that shorter traces show none, since searches go
//! breadth first.

use super::ConformDoubt;
use super::witness::NoWitness;

/// The suspected differences of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct UnshownDifferences {
    /// Their number.
    pub count: usize,
    /// The number of steps of the shortest; `None` if there are none.
    shortest: Option<u32>,
    /// The length of collections in messages up to which none is a difference, if that is all that was not decided.
    within: Option<usize>,
    /// The last reason of another kind.
    why: Option<String>,
}

impl UnshownDifferences {
    /// Adds a suspected difference after `steps` steps.
    pub fn add(&mut self, why: NoWitness, steps: usize) {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.count += 1;
        self.shortest = Some(self.shortest.map_or(steps, |shortest| shortest.min(steps)));
        match why {
            // Only lengths were left open: the answer can say up to which length there is no difference, which is more
            // than unknown.
            NoWitness::Beyond(length) => {
                self.within = Some(self.within.map_or(length, |within| within.min(length)));
            }
            NoWitness::Impossible => {
                self.why = Some("a difference was found only under assumptions that do not hold".into());
            }
            NoWitness::Doubtful(text) => self.why = Some(text),
        }
    }

    /// Returns the part of `depth` up to which there is certainly no difference: below the shortest suspected one.
    pub fn sure_depth(&self, depth: u32) -> u32 {
        self.shortest.map_or(depth, |shortest| depth.min(shortest.saturating_sub(1)))
    }

    /// Returns the doubt that remains after a search that looked at everything; `None` if there is none.
    pub fn doubt(&self) -> Option<ConformDoubt> {
        // A search that looked at everything is limited by the suspected differences alone.
        let depth = self.sure_depth(u32::MAX);
        match (self.shortest, &self.why, self.within) {
            (None, ..) => None,
            (_, None, Some(within)) => Some(ConformDoubt::Length(within)),
            (_, why, _) => Some(ConformDoubt::Undecided { why: why.clone().unwrap_or_default(), depth }),
        }
    }

    /// Returns the doubt that remains after a search that looked at traces of up to `depth` steps, or at less.
    pub fn doubt_within(&self, depth: u32) -> Option<ConformDoubt> {
        let doubt = self.doubt()?;
        let why = match doubt {
            ConformDoubt::Undecided { why, .. } => why,
            other => other.to_string(),
        };
        Some(ConformDoubt::Undecided { why, depth: self.sure_depth(depth) })
    }
}
