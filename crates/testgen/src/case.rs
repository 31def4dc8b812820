//! Path-guided test cases: a tree that follows one path of a model and says what every
//! deviation from it means.
//!
//! \[BLLN23] Def. 6, corrected. A state of the case is a step of the path; its arcs are what can
//! happen next, by rule:
//!
//! | rule | what happens | leads to |
//! | --- | --- | --- |
//! | R1 | the tester sends the input of the path, at an instant from which the rest can follow | next state |
//! | R2, R3, R6 | the output (R3: the last one) or observed input of the path | next state, PASS |
//! | R11 | the same, but the rest of the path cannot follow any more | `INC_off_path` |
//! | R4, R7 | another output or observed input that the model mentions | `INC_out`, `INC_ucIn_spec` |
//! | R5, R8 | an output or observed input that the model does not mention | `FAIL_out`, `INC_ucIn_uspec` |
//! | R9, R10 | silence until the time-out, allowed or not | `INC_dur`, `FAIL_dur` |
//! | R12 | silence until the time-out, where the path has it as a step | next state, PASS |
//!
//! *Differs* from the paper: silence is wrong only if no output can come at or after the instant of
//! the time-out, whatever its values (the paper asks about that very instant, and fails systems that
//! conform); the target of the path has no arcs; the clock reset by R1 is that of the next state; R11
//! is new and lets nothing be pruned that an accepted observation still allows. R12 is new too: \[BLLN23] has no
//! silence on paths. It asks that the model is quiescent; R9 allows a silence also where a message can still come.
//!
//! A model without clocks has no delays in its guards, and silence means quiescence there, as for the monitor.
//!
//! *Promises* guards over the fields and delays of the steps so far, free of unknown initial values;
//! an arc is left out only if its guard was refuted together with what is known at its state; a model
//! without internal steps and a path that is trace-deterministic (\[BLLN23] Def. 5), or an error that says why not.
//! The work grows linearly with the path where quantifiers can be eliminated: what is known at a state is
//! projected to the values that still matter.

mod build;
pub mod corner;
mod cover;
mod error;
mod front;
mod guard_solver;
pub mod naive;
mod path;
mod rest;
mod run;
mod silence;
mod timeout;
mod tree;
mod witness;

use ioxide_model::goal::PathStep;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, LocId, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::UnknownReason;

pub use self::build::generate;
pub use self::corner::corners;
pub use self::cover::{CaseGoal, CaseItem, CaseSet, CoveringCase, WhyNoCase, covering};
pub use self::error::{CaseError, CaseLint};
pub use self::path::{PathError, Waypoint, complete, waypoints};
pub use self::run::{CaseEvent, CaseExecution, CaseMoved};
pub use self::tree::of_adaptive_test;

/// The configuration by which a test case is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseConfig {
    /// The time after which silence counts as quiescence.
    pub timeout: Timeout,
    /// The arcs that are left out.
    pub pruning: Pruning,
    /// The instants at which inputs are sent.
    pub sending: SendTime,
}

impl Default for CaseConfig {
    /// A time-out above every deadline, nothing pruned that can happen, inputs as soon as they fit.
    fn default() -> Self {
        Self { timeout: Timeout::Above, pruning: Pruning::Refuted, sending: SendTime::Soonest }
    }
}

/// The border of the time allowed by the model at which an input is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SendTime {
    /// At once, or as soon as it is allowed.
    #[default]
    Soonest,
    /// As late as it is allowed; at the last instant where there is one, a millisecond before the border else.
    Latest,
}

impl SendTime {
    /// Returns the variant that files call `word`.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Soonest, Self::Latest].into_iter().find(|sending| sending.word() == word)
    }

    /// The word for it in files and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Soonest => "soonest",
            Self::Latest => "latest",
        }
    }
}

/// The time after which no message counts as silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// The least of a ladder of round numbers that lies above every deadline on the path.
    Above,
    /// This many seconds.
    Fixed(Rational),
    /// Any; the constant stays open in the guards.
    Free,
}

/// The rule by which arcs are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// The arcs whose guards contradict all that is known at the state. Sound.
    Refuted,
    /// As the published generator does, also the arcs that contradict the rest of the path, siblings first.
    /// Not sound: a sibling left out becomes a failure, although an accepted observation allows it.
    Tool,
}

/// A test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// The path, from the initial location; empty for an adaptive test.
    pub path: Vec<PathStep>,
    /// One state per step of the path.
    pub states: Vec<CaseState>,
    /// The constant the guards call `TM`.
    pub tm: VarId,
    /// The value of `TM` in seconds; `None` if it was left open.
    pub timeout: Option<Rational>,
    /// The border of the allowed time at which inputs are sent.
    pub sending: SendTime,
    /// True if the model has clocks; else the guards mention neither delays nor the time-out.
    pub is_timed: bool,
    /// The findings that the reader should know.
    pub lints: Vec<CaseLint>,
}

/// A state of a case: before step `n` of the path, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseState {
    /// The location of the model; `None` for a state of an adaptive test, at which the model may be in several.
    pub loc: Option<LocId>,
    /// The time since the state was entered, as the guards call it.
    pub delay: VarId,
    /// The arcs: what can be sent and observed there.
    pub arcs: Vec<CaseArc>,
}

/// An arc: a message or silence that is possible at a state of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseArc {
    /// The rule that made it.
    pub rule: CaseRule,
    /// The message; `None` for silence.
    pub gate: Option<GateId>,
    /// The fields of the message, as the guards call them.
    pub fields: Vec<VarId>,
    /// The switch that the model takes, if it takes one.
    pub switch: Option<SwitchId>,
    /// The condition under which the arc is taken, over the fields and delays of the steps so far, and `TM`.
    pub guard: Term,
    /// The state or verdict that it leads to.
    pub target: ArcTarget,
    /// For R1 the input to send, with its delay; `None` for other rules, or if the solver found no values.
    pub witness: Option<CaseStimulus>,
    /// The reason why the solver did not decide whether the arc can be taken; `None` if it can.
    pub doubt: Option<UnknownReason>,
}

/// An input to send: its values and its delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseStimulus {
    /// The delay before it, in seconds.
    pub delay: Rational,
    /// The values of the fields.
    pub values: Vec<Value>,
    /// True if the stimulus satisfies the guard after every observation that the steps before allow; false if only
    /// after some, or if the solver did not decide.
    pub always: bool,
}

/// The target of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArcTarget {
    /// The state before this step.
    State(usize),
    /// The end of the case with this verdict.
    Verdict(CaseVerdict),
}

/// The verdict at the end of a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseVerdict {
    /// The path was followed to its end.
    Pass,
    /// An output the model does not allow.
    FailOut,
    /// Silence the model does not allow.
    FailDur,
    /// An output that leaves the path.
    IncOut,
    /// Silence that the model allows.
    IncDur,
    /// An observed input that leaves the path.
    IncInputSpec,
    /// An observed input that the model does not mention.
    IncInputUnspec,
    /// An observation of the path after which the rest of it cannot follow.
    IncOffPath,
}

impl CaseVerdict {
    /// The word for it in files and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::FailOut => "FAIL_out",
            Self::FailDur => "FAIL_dur",
            Self::IncOut => "INC_out",
            Self::IncDur => "INC_dur",
            Self::IncInputSpec => "INC_ucIn_spec",
            Self::IncInputUnspec => "INC_ucIn_uspec",
            Self::IncOffPath => "INC_off_path",
        }
    }

    /// Returns its kind.
    #[must_use]
    pub fn kind(self) -> CaseVerdictKind {
        match self {
            Self::Pass => CaseVerdictKind::Pass,
            Self::FailOut | Self::FailDur => CaseVerdictKind::Fail,
            Self::IncOut | Self::IncDur | Self::IncInputSpec | Self::IncInputUnspec | Self::IncOffPath => {
                CaseVerdictKind::Inconclusive
            }
        }
    }

    /// Returns whether the verdict is fail.
    #[must_use]
    pub fn is_fail(self) -> bool {
        self.kind() == CaseVerdictKind::Fail
    }
}

/// The three kinds of verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseVerdictKind {
    /// The path was followed to its end.
    Pass,
    /// The system did what the model forbids.
    Fail,
    /// The run left the path.
    Inconclusive,
}

/// A rule of \[BLLN23] Def. 6; the last two are new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseRule {
    /// Sends the input of the path.
    R1,
    /// Sees the output of the path.
    R2,
    /// Sees the last output of the path.
    R3,
    /// Sees another output the model mentions.
    R4,
    /// Sees an output the model does not mention.
    R5,
    /// Sees the observed input of the path.
    R6,
    /// Sees another observed input the model mentions.
    R7,
    /// Sees an observed input the model does not mention.
    R8,
    /// Sees silence the model allows.
    R9,
    /// Sees silence the model does not allow.
    R10,
    /// Sees the message of the path, with values or at a time that the rest of the path excludes.
    R11,
    /// Sees the silence of the path.
    R12,
}

impl CaseRule {
    /// Returns the name of the rule, as the paper has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::R1 => "R1",
            Self::R2 => "R2",
            Self::R3 => "R3",
            Self::R4 => "R4",
            Self::R5 => "R5",
            Self::R6 => "R6",
            Self::R7 => "R7",
            Self::R8 => "R8",
            Self::R9 => "R9",
            Self::R10 => "R10",
            Self::R11 => "R11",
            Self::R12 => "R12",
        }
    }
}

impl TestCase {
    /// Returns the number of arcs by the rules of the paper, that is without those of R11; a silence of the path counts
    /// as one of R9.
    #[must_use]
    pub fn n_arcs(&self) -> usize {
        self.arcs().filter(|arc| arc.rule != CaseRule::R11).count()
    }

    /// Returns the number of arcs of R11, which leave the path by the message of the path.
    #[must_use]
    pub fn n_off_path(&self) -> usize {
        self.arcs().filter(|arc| arc.rule == CaseRule::R11).count()
    }

    /// Every arc, state by state.
    pub fn arcs(&self) -> impl Iterator<Item = &CaseArc> {
        self.states.iter().flat_map(|state| &state.arcs)
    }

    /// The name of the state before step `n`, as \[BLLN23] has it.
    #[must_use]
    pub fn state_name(n: usize) -> String {
        format!("ec{n}")
    }
}
