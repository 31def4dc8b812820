//! Test purposes: paths of the symbolic execution graph worth executing.
//!
//! [BT19] Def. 16: a trace of switches with its path condition. They come from a coverage
//! criterion ([`coverage`]) or from a goal somebody wrote ([`of_goal`]).
//!
//! *Promises.* A path the solver could not decide keeps the benefit of the doubt ([BT19]
//! Def. 12) and says so in [`TestPurpose::doubt`].

mod coverage;
mod detour;
mod goal;
pub(crate) mod observer;
mod sliced;

use ioxide_model::sts::{GateKind, Sts, SwitchId};
use ioxide_model::term::Term;
use ioxide_smt::solver::UnknownReason;
use ioxide_symex::{Ctx, SwitchStep, SymState, step};

pub use self::coverage::{Criterion, PurposeItem, PurposeSet, Unreached, WhyUnreached, coverage};
pub use self::detour::with_detours;
pub use self::goal::{NoPurpose, of_goal};

/// A path to follow, with what must hold on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPurpose {
    /// The name of its goal: the switch at its end, or a goal of the model.
    pub name: String,
    /// Its steps, first to last.
    pub steps: Vec<PurposeStep>,
    /// The facts that must hold at the end besides, over the fields of the steps.
    pub end: Vec<Term>,
    /// The solver did not show that the path can be taken.
    pub doubt: Option<UnknownReason>,
}

/// One step of a purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurposeStep {
    /// The switch to take.
    pub switch: SwitchId,
    /// The facts that this step adds to the path condition; fields are numbered by step, from 1.
    pub facts: Vec<Term>,
}

impl TestPurpose {
    /// The switches of its path.
    pub fn path(&self) -> impl Iterator<Item = SwitchId> + '_ {
        self.steps.iter().map(|step| step.switch)
    }

    /// Returns the number of inputs and outputs on the path; internal steps are none.
    #[must_use]
    pub fn n_messages(&self, sts: &Sts) -> usize {
        self.path().filter(|&id| sts.kind_of(&sts.switches[id]) != GateKind::Internal).count()
    }

    /// The purpose `name` along `path`, which starts at the initial state.
    ///
    /// # Errors
    /// If a step cannot be taken: its position. That is a proof.
    pub fn along(cx: &mut Ctx<'_>, name: String, path: &[SwitchId]) -> Result<Self, usize> {
        let start = SymState::initial(cx);
        Ok(Self::with_state(cx, name, start, path)?.0)
    }

    /// As [`along`](Self::along), from `start`, with the symbolic state at the end. The depth of `start` is 0:
    /// fields are numbered by steps of the purpose.
    pub(crate) fn with_state(
        cx: &mut Ctx<'_>,
        name: String,
        start: SymState,
        path: &[SwitchId],
    ) -> Result<(Self, SymState), usize> {
        let mut state = start;
        let mut purpose = Self { name, steps: Vec::with_capacity(path.len()), end: Vec::new(), doubt: None };
        for (position, &switch) in path.iter().enumerate() {
            let (next, doubt) = match step(cx, &state, switch) {
                SwitchStep::Taken(next) => (next, None),
                SwitchStep::Doubtful(next, why) => (next, Some(why)),
                SwitchStep::Refuted => return Err(position),
            };
            let facts = next.path.facts()[state.path.facts().len()..].to_vec();
            purpose.steps.push(PurposeStep { switch, facts });
            // What counts is whether the whole path is in doubt.
            purpose.doubt = doubt;
            state = next;
        }
        Ok((purpose, state))
    }
}
