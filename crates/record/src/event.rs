//! Events: the course of a run, reported as it happens.
//!
//! One closed stream for everyone: the terminal, reports, the record on disk. An event is
//! plain data that means the same without the model, so a record read back tells the same.
//! Times are in [`Event::time_ns`] and nowhere else.

mod http;
mod lag;
mod measure;
mod script;
mod thinned;
mod time_spent;
mod tolerance;
mod way;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use ioxide_model::compose::MessageOwner;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Breakdown;
use ioxide_model::verdict::Verdict;

use crate::clock::duration;
use crate::value::label_to_json;

pub use self::http::{ExchangeTimes, HttpExchange, HttpRequestRecord, HttpResponseRecord, OperationRecord};
pub use self::lag::LagRecord;
pub use self::measure::{ExtentRecord, HistoryRecord, MeasureRecord};
pub use self::script::{
    KeptValue, ReplyForm, ScriptConnection, ScriptEndpoint, ScriptFraming, ScriptMessage, ScriptPart,
    ScriptPlace, ScriptRecord, ScriptReply, ScriptStep, ScriptTls, ScriptValuePlace, StepRoute, UsedPart,
    UsedValue, ValueSpelling,
};
pub use self::thinned::ThinnedRun;
pub use self::time_spent::TimeSpentRecord;
pub use self::tolerance::ToleranceRecord;
pub use self::way::{ConnectionRecord, RouteRecord};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its number, from 0; without gaps but for the steps of runs that are thinned.
    pub seq: u64,
    /// The time of the event, in nanoseconds since the first.
    pub time_ns: u64,
    /// The run it belongs to, where several runs go on at once; if absent, it is the run begun last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// The event.
    pub event: EventKind,
}

/// An event of a campaign, by its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Runs begin.
    CampaignStarted(CampaignStarted),
    /// A run begins.
    RunStarted(RunStarted),
    /// The system was given an input.
    Stimulus(StepRecord),
    /// An observation of the system: a message, silence, or a breakdown.
    Observation(StepRecord),
    /// A message came after its system was taken for silent: silence must last longer from now on.
    Patience(PatienceRecord),
    /// The system sent a message that the model does not see.
    Unsolicited(UnsolicitedRecord),
    /// The run has a verdict.
    Verdict(VerdictRecord),
    /// The run broke off for a reason that is not the system's behaviour.
    Trouble(SystemTrouble),
    /// The run is over.
    RunFinished(RunFinished),
    /// A failing run was done again.
    Replayed(Replayed),
    /// A failing run was made smaller.
    Shrunk(ShrunkRecord),
    /// All runs are over.
    CampaignFinished(CampaignFinished),
}

impl EventKind {
    /// Removes the times of requests, for records that must be equal byte by byte.
    pub(crate) fn remove_times(&mut self) {
        let exchanges = match self {
            Self::Verdict(verdict) => &mut verdict.exchanges,
            Self::Shrunk(shrunk) => &mut shrunk.exchanges,
            _ => return,
        };
        exchanges.iter_mut().for_each(|exchange| exchange.times = None);
    }
}

/// Runs begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignStarted {
    /// The name of the model.
    pub model: String,
    /// Its file as it was named; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Constants that were overridden, as `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// The labels of its switches, in order.
    pub switches: Vec<String>,
    /// Its parts, if it is made of parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartNote>,
    /// The name of the tester.
    pub tester: String,
    /// The system under test.
    pub sut: String,
    /// The seed all others come from.
    pub seed: u64,
    /// The number of runs that are planned.
    pub runs: u64,
    /// The number of runs that go on at once.
    #[serde(default = "one")]
    pub jobs: u64,
    /// The time after which silence counts as quiescence, in milliseconds; at first, if it is calibrated.
    pub patience_ms: u64,
    /// True if that time was not given: it is calibrated by the answers of the system.
    #[serde(default, skip_serializing_if = "is_false")]
    pub calibrated: bool,
    /// The operations of a system that is asked by HTTP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationRecord>,
    /// The requirements that the model names, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementNote>,
}

/// A requirement (`@req`), and what in the model traces to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementNote {
    /// Its name, such as `R-12`.
    pub name: String,
    /// The labels of the switches that trace to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<String>,
    /// The purposes and tests, each as the goal of a run: `test NAME`, `purpose NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<String>,
    /// The names of properties, which no run covers: `ioxide check --deep` decides them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<String>,
}

/// A part of a system, as far as it can be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartNote {
    /// Its name, such as `client[2]`.
    pub name: String,
    /// The name of its array, such as `client`; its own name if it is alone.
    pub family: String,
    /// Those of its switches that are seen, each with the labels of the switches of the system that it takes part in.
    pub switches: BTreeMap<String, Vec<String>>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero_u32(n: &u32) -> bool {
    *n == 0
}

/// The default of `jobs`, which older records do not have.
fn one() -> u64 {
    1
}

/// A run begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Its number, from 0.
    pub run: u64,
    /// Its seed.
    pub seed: u64,
    /// The goal of its tester, for people: a purpose, a test, a failure seen before; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub goal: String,
    /// The tolerance of its instants; absent if they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<ToleranceRecord>,
    /// True if inputs are only written: when the system takes them is not known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unconfirmed: bool,
    /// The connections of a system that has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionRecord>,
}

/// The quiescence time was raised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatienceRecord {
    /// The message that came late.
    pub label: String,
    /// The time that it took, in milliseconds.
    pub took_ms: u64,
    /// The quiescence time before, in milliseconds.
    pub from_ms: u64,
    /// The quiescence time from now on, in milliseconds.
    pub to_ms: u64,
    /// The steps at which quiescence was reported too early; they did not happen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_silent: Vec<usize>,
    /// True if it was the first message after the system was started or connected to; the quiescence time stays as it
    /// was.
    #[serde(default, skip_serializing_if = "is_false")]
    pub first_reply: bool,
}

/// A message of the system that the model does not see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsolicitedRecord {
    /// The message; the digits of a binary one.
    pub message: String,
    /// The answer that it got at once; absent if it was ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The connection, where the system has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Its number in the run, from 1.
    pub step: usize,
    /// The label that was sent or observed.
    pub label: LabelRecord,
    /// The number of states that the specification may be in now; absent where it says nothing any more.
    pub belief: Option<usize>,
    /// The switches the specification may have taken; one only if that is certain.
    pub switches: Vec<String>,
}

/// A label, readable without the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelRecord {
    /// The kind of the label.
    pub kind: LabelKind,
    /// The message; empty for silence and delays.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Its fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Json>,
    /// The label as people write it.
    pub text: String,
    /// The length of the delay, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// The message as it was on the wire, if the adapter keeps it; long ones are shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The way it travelled, where there are several lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<RouteRecord>,
    /// The part of a system that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// The kind of a label: a message and its sender, silence, time, or a breakdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelKind {
    /// The tester gave an input.
    Input,
    /// Another party gave an input; the tester observed it.
    Observed,
    /// The system sent an output.
    Output,
    /// The system was silent.
    Quiescence,
    /// Time passed.
    Delay,
    /// The system ended.
    Ended,
    /// The system closed the connection.
    Closed,
    /// The system did not take an input.
    Hung,
    /// The system sent something that is not a message of the model.
    Unreadable,
    /// The code of the system raised an exception.
    Exception,
}

impl LabelKind {
    /// Returns the breakdown that the kind stands for; `None` for any other label.
    #[must_use]
    pub fn breakdown(self) -> Option<Breakdown> {
        match self {
            Self::Ended => Some(Breakdown::Ended),
            Self::Closed => Some(Breakdown::Closed),
            Self::Hung => Some(Breakdown::Hung),
            Self::Unreadable => Some(Breakdown::Unreadable),
            Self::Exception => Some(Breakdown::Exception),
            Self::Input | Self::Observed | Self::Output | Self::Quiescence | Self::Delay => None,
        }
    }
}

impl From<Breakdown> for LabelKind {
    fn from(breakdown: Breakdown) -> Self {
        match breakdown {
            Breakdown::Ended => Self::Ended,
            Breakdown::Closed => Self::Closed,
            Breakdown::Hung => Self::Hung,
            Breakdown::Unreadable => Self::Unreadable,
            Breakdown::Exception => Self::Exception,
        }
    }
}

/// The run has a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictRecord {
    /// `pass`, `fail` or `inconclusive`.
    pub verdict: VerdictWord,
    /// The reason, for people.
    pub reason: String,
    /// The kind of failure: `forbidden`, `crash`, `hang`, `unreadable` or `exception`; with `fail` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The number of the forbidden step, if it is not the last one: a message that later ones did not explain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The step from which on nothing is known, if there is one; never with `pass` or `fail`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_from: Option<usize>,
    /// True if the run is inconclusive only because the system did something else that is allowed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub goal_missed: bool,
    /// The labels that the specification allowed instead; with `fail` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The text that is the same for failures of one kind; with `fail` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The end in the words of timed testing; in timed models and for test cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<FindingRecord>,
    /// The last words of the system outside the protocol; with `fail` only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_words: String,
    /// The last requests of the run by HTTP, with their answers; with `fail` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<HttpExchange>,
}

impl VerdictRecord {
    /// Returns a verdict and its reason, with everything else left empty.
    #[must_use]
    pub fn new(verdict: Verdict, reason: String) -> Self {
        Self {
            verdict: verdict.into(),
            reason,
            kind: None,
            step: None,
            unknown_from: None,
            goal_missed: false,
            explanation: None,
            signature: None,
            finding: None,
            last_words: String::new(),
            exchanges: Vec::new(),
        }
    }
}

/// The end of a timed run in the words of its method (\[BLLN23]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FindingRecord {
    /// `PASS`, `FAIL_out`, `FAIL_dur`, `INC_out`, `INC_dur`, `INC_ucIn_spec`, `INC_ucIn_uspec` or `INC_off_path`.
    pub word: String,
    /// The rule of the test case that says so; empty without a test case.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<String>"))]
    pub rule: String,
    /// The state of the test case; without one, the locations of the specification.
    pub state: String,
    /// The label observed there, and the delay before it in seconds, for people.
    pub event: String,
    /// The part of a guard that does not hold, or the guard of the arc that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub because: Option<String>,
}

/// A verdict as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    /// Everything observed is allowed, and the goal was met.
    Pass,
    /// Everything observed is allowed, but the goal was not met.
    Inconclusive,
    /// An observation is not allowed.
    Fail,
}

/// The observed label against the allowed ones, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Explanation {
    /// The label that was observed.
    pub observed: String,
    /// The labels that were allowed instead, each with the switch that allows it.
    pub allowed: Vec<Allowed>,
    /// The states the specification may have been in, the first ones if there are many.
    pub states: Vec<StateRecord>,
    /// The number of states.
    pub n_states: usize,
    /// The reason for every switch that could have matched, but did not.
    pub why_not: Vec<WhyNot>,
    /// The number of orders of crossing messages that were tried, if more than one; everything else is about the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub orders: Option<usize>,
}

/// A label that the specification allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Allowed {
    /// The message, with values or the condition on them; `δ` for silence.
    pub label: String,
    /// The switch; absent for silence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub switch: Option<String>,
    /// The fields that have other values than the observed message, if that is the same message with one value each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<FieldDifference>>"))]
    pub differences: Vec<FieldDifference>,
}

/// A field whose observed value is not the allowed one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FieldDifference {
    /// Its name.
    pub field: String,
    /// The value that was observed.
    pub got: String,
    /// The value that was allowed.
    pub expected: String,
}

/// A state the specification may have been in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StateRecord {
    /// Its location.
    pub location: String,
    /// Its variables as `name = value`.
    pub values: Vec<String>,
    /// The constraints on values that are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
    pub path: Vec<String>,
}

/// The reason why a switch did not match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WhyNot {
    /// The state, by position in [`Explanation::states`].
    pub state: usize,
    /// The switch.
    pub switch: String,
    /// The reason, with the values that count.
    pub reason: String,
    /// The documentation comment of the switch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<String>"))]
    pub doc: String,
}

/// Trouble with the system or the way to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemTrouble {
    /// The error, for people.
    pub error: String,
    /// The last words of the system outside the protocol.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_words: String,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFinished {
    /// Its number.
    pub run: u64,
    /// The outcome of the run.
    pub outcome: RunOutcome,
    /// The number of labels in the trace.
    pub steps: usize,
    /// The number of questions that the solver left open.
    pub doubts: usize,
    /// The effect of a busy machine on its waits and tolerances; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_lag: Option<LagRecord>,
    /// The figures of a run whose steps are left out: it did not fail, and the record was large enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinned: Option<ThinnedRun>,
    /// The times that every explanation of the run took each switch, and that one took it at most; absent if they are
    /// the sums over its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<BTreeMap<String, (u64, u64)>>,
}

/// The outcome of a run: a verdict, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", ts(rename = "Outcome"))]
pub enum RunOutcome {
    /// Verdict pass.
    Pass,
    /// Verdict inconclusive.
    Inconclusive,
    /// Verdict fail.
    Fail,
    /// Trouble with the system or the way to it.
    Error,
    /// The run was stopped by request.
    Interrupted,
}

/// A failing run was done again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    /// Its number.
    pub run: u64,
    /// The number of repetitions that failed again.
    pub reproduced: u32,
    /// The number of repetitions that were made.
    pub of: u32,
    /// The number of repetitions that were wanted, and why the others could not be made; absent if all were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmade: Option<UnmadeRecord>,
    /// The first time it did not fail in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<InsteadRecord>,
    /// True if it failed after resets and never after a restart: the reset leaves something behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_after_reset: bool,
}

/// The repetitions of a failing run that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UnmadeRecord {
    /// The number of repetitions that were wanted.
    pub wanted: u32,
    /// The reason why the first of them could not be made, for people.
    pub reason: String,
}

/// A run with the moves of a failing one that did not fail in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsteadRecord {
    /// The outcome of the run.
    pub outcome: RunOutcome,
    /// The observed labels.
    pub trace: Vec<LabelRecord>,
}

/// A failing run is being made smaller; this is no event, and no record keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkingRecord {
    /// Its number.
    pub run: u64,
    /// The number of runs tried.
    pub attempts: u32,
    /// The number of moves of the smallest failing run so far.
    pub steps: usize,
    /// The whole seconds that it may take; `None` if there is no limit.
    pub limit_s: Option<u64>,
    /// The whole seconds that are left; `None` if there is no limit.
    pub left_s: Option<u64>,
}

/// A failing run was made smaller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShrunkRecord {
    /// Its number.
    pub run: u64,
    /// The smaller trace, which fails with its last label unless `step` says otherwise.
    pub trace: Vec<LabelRecord>,
    /// The number of the forbidden step of the smaller trace, from 1; absent if it is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The number of labels of the original run.
    pub from: usize,
    /// The number of runs the search took.
    pub attempts: u32,
    /// True if no single move can be left out and no single value be simpler, as far as the attempts show.
    pub minimal: bool,
    /// The reason why the search ended early; absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<String>,
    /// The number of repetitions of the smaller run that failed.
    pub reproduced: u32,
    /// The number of repetitions.
    pub of: u32,
    /// The number of smaller runs that failed once and not again; if the trace is not smaller, that is why.
    #[serde(default, skip_serializing_if = "is_zero_u32")]
    pub unconfirmed: u32,
    /// The values of inputs that were taken from replies, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The forbidden step of the smaller trace against what was allowed; absent if that cannot be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The smaller run for programs that speak to the system without ioxide; absent if it cannot be written down so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptRecord>,
    /// The text that is the same for failures of the kind of the smaller run; absent if it did not fail again. It names
    /// the failure from now on: the smaller run is the one that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The reason why a program that speaks to the system without ioxide cannot repeat it; absent if one can, or the
    /// system is not reached by messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_script: Option<String>,
    /// The requests of the smaller run by HTTP, with their answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<HttpExchange>,
}

/// All runs are over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignFinished {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs with verdict pass.
    pub passed: u64,
    /// The number of runs with verdict inconclusive.
    pub inconclusive: u64,
    /// The number of runs with verdict fail.
    pub failed: u64,
    /// The number of runs without a verdict, because of an error.
    pub errors: u64,
    /// True if the campaign was stopped by request.
    pub interrupted: bool,
    /// Switches certainly taken.
    pub covered: Vec<String>,
    /// Switches never even possibly taken.
    pub never: Vec<String>,
    /// The failures by kind, in the order of their first runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureSignature>,
    /// The latencies of the system, by message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<LatencyRecord>,
    /// A quiescence time that fits these latencies, in milliseconds; only if there are enough of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_patience_ms: Option<u64>,
    /// The quiescence time at the end, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
    /// The quiescence time, in milliseconds, to which it was raised by a message that came after its system was taken
    /// for silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised_patience_ms: Option<u64>,
    /// The largest effect of a busy machine on waits and tolerances; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_lag: Option<LagRecord>,
    /// The use of the time; absent where events have no times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_spent: Option<TimeSpentRecord>,
    /// The number of steps that take as long as a reset of the system, if runs were made longer because of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset_price: Option<u64>,
    /// The number of runs in which, from some step on, nothing is known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown: u64,
    /// The number of replies, if all of them were refusals and the model has other answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<u64>,
    /// The coverage of data and history, by measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<MeasureRecord>,
    /// The extent of the runs: their length and the values of variables.
    #[serde(default)]
    pub history: HistoryRecord,
}

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureSignature {
    /// The text that is the same for failures of this kind.
    pub signature: String,
    /// The first run with one.
    pub first: u64,
    /// The number of runs with a failure of this kind.
    pub runs: u64,
}

/// The latency of a message of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LatencyRecord {
    /// The message.
    pub label: String,
    /// The number of times that it was observed.
    pub n: u64,
    /// Half of the times are no longer, in microseconds.
    pub p50_us: u64,
    /// 99 of 100 are no longer, in microseconds.
    pub p99_us: u64,
    /// The longest, in microseconds.
    pub max_us: u64,
}

impl From<Verdict> for VerdictWord {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Inconclusive => Self::Inconclusive,
            Verdict::Fail => Self::Fail,
        }
    }
}

impl From<Verdict> for RunOutcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Inconclusive => Self::Inconclusive,
            Verdict::Fail => Self::Fail,
        }
    }
}

impl LabelRecord {
    /// Returns the label of a breakdown, described by `text`.
    #[must_use]
    pub fn of_breakdown(breakdown: Breakdown, text: String, raw: Option<String>) -> Self {
        let (kind, label, args) = (breakdown.into(), String::new(), Map::new());
        Self { kind, label, args, text, delay_ns: None, raw, way: None, part: None }
    }

    /// Returns the label in the form of events.
    #[must_use]
    pub fn new(pool: &TermPool, sts: &Sts, label: &Label) -> Self {
        let kind = match label {
            Label::Input(gate, _) if sts.gates[*gate].kind == GateKind::Observed => LabelKind::Observed,
            Label::Input(..) => LabelKind::Input,
            Label::Output(..) => LabelKind::Output,
            Label::Quiescence => LabelKind::Quiescence,
            Label::Delay(_) => LabelKind::Delay,
        };
        let message = label_to_json(pool, sts, label).unwrap_or_default();
        let delay_ns = match label {
            Label::Delay(time) => u64::try_from(duration(time).as_nanos()).ok(),
            _ => None,
        };
        Self {
            kind,
            label: message.label,
            args: message.args,
            text: label.show(pool, sts),
            delay_ns,
            raw: None,
            way: None,
            part: part_of(sts, label),
        }
    }
}

/// The part of a system that a message belongs to, as people call it.
fn part_of(sts: &Sts, label: &Label) -> Option<String> {
    let (Label::Input(gate, args) | Label::Output(gate, args)) = label else { return None };
    let of = sts.composition.as_ref()?.messages.get(gate)?;
    Some(match of.owner {
        MessageOwner::Only => of.family.to_string(),
        MessageOwner::Instance(at) => format!("{}[{at}]", of.family),
        MessageOwner::FirstField => format!("{}[{}]", of.family, args.first()?.as_int()?),
    })
}
