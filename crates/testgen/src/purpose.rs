//! Test purposes: paths of the symbolic execution graph worth executing.
//!
//! \[BT19] Def. 16: a trace of switches with its path condition. Silence is a step too (\[BT19] sec. 7): it adds the
//! condition that the state is quiescent. Purposes come from a coverage criterion ([`coverage`])
//! or from a goal that is written with the model ([`of_goal`]).
//!
//! *Promises.* A path that the solver did not decide keeps the benefit of the doubt (\[BT19] Def. 12), with the reason
//! in [`TestPurpose::doubt`].

mod any_answer;
mod coverage;
mod detour;
mod goal;
pub(crate) mod observer;
mod silence;
mod sliced;

use ioxide_model::goal::PathStep;
use ioxide_model::sts::{GateKind, Sts, SwitchId};
use ioxide_model::term::Term;
use ioxide_smt::solver::UnknownReason;
use ioxide_symex::{Ctx, SwitchStep, SymState, take_step};

pub(crate) use self::any_answer::holds_for_any_answer;
pub use self::coverage::{Criterion, PurposeItem, PurposeSet, Unreached, WhyUnreached, coverage};
pub use self::detour::with_detours;
pub use self::goal::{NoPurpose, of_goal};

/// A path to follow, with its conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPurpose {
    /// The name of the goal: the switch at the end, or a goal of the model.
    pub name: String,
    /// The steps, first to last.
    pub steps: Vec<PurposeStep>,
    /// The further facts that must hold at the end, over the fields of the steps.
    pub end: Vec<Term>,
    /// The reason why the solver did not show that the path can be taken; `None` if it can.
    pub doubt: Option<UnknownReason>,
}

/// One step of a purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurposeStep {
    /// The switch to take, or silence.
    pub step: PathStep,
    /// The facts that this step adds to the path condition; fields are numbered by step, from 1.
    pub facts: Vec<Term>,
}

impl TestPurpose {
    /// The steps of its path.
    pub fn path(&self) -> impl Iterator<Item = PathStep> + Clone + '_ {
        self.steps.iter().map(|step| step.step)
    }

    /// The switches of its path.
    pub fn switches(&self) -> impl Iterator<Item = SwitchId> + '_ {
        self.path().filter_map(PathStep::switch)
    }

    /// Returns the number of inputs and outputs on the path; internal steps and silences are none.
    #[must_use]
    pub fn n_messages(&self, sts: &Sts) -> usize {
        self.switches().filter(|&id| sts.kind_of(&sts.switches[id]) != GateKind::Internal).count()
    }

    /// Returns the purpose `name` along `path`, which starts at the initial state.
    ///
    /// # Errors
    /// Returns the position of the first step that cannot be taken; that is a proof.
    pub fn from_path(cx: &mut Ctx<'_>, name: String, path: &[PathStep]) -> Result<Self, usize> {
        let start = SymState::initial(cx);
        Ok(Self::with_state(cx, name, start, path)?.0)
    }

    /// Returns the purpose as [`from_path`](Self::from_path) does, from `start`, with the symbolic state at the end.
    /// The depth of `start` is 0: fields are numbered by steps of the purpose.
    pub(crate) fn with_state(
        cx: &mut Ctx<'_>,
        name: String,
        start: SymState,
        path: &[PathStep],
    ) -> Result<(Self, SymState), usize> {
        let mut state = start;
        let mut purpose = Self { name, steps: Vec::with_capacity(path.len()), end: Vec::new(), doubt: None };
        for (position, &step) in path.iter().enumerate() {
            let (next, doubt) = match take_step(cx, &state, step) {
                SwitchStep::Taken(next) => (next, None),
                SwitchStep::Doubtful(next, why) => (next, Some(why)),
                SwitchStep::Refuted => return Err(position),
            };
            let facts = next.path.facts()[state.path.facts().len()..].to_vec();
            purpose.steps.push(PurposeStep { step, facts });
            // What counts is whether the whole path is in doubt.
            purpose.doubt = doubt;
            state = next;
        }
        Ok((purpose, state))
    }
}
