//! The runs under way: their last steps and verdicts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ioxide_model::label::certain_switch;
use ioxide_record::event::{
    Event, Explanation, RunOutcome, RunStarted, StepRecord, SystemTrouble, VerdictRecord, VerdictWord,
};
use ioxide_record::failure_id::failure_id;
use ioxide_record::line::cut;

use crate::chart::ChartStep;
use crate::requirements::RequirementRun;

/// The number of steps kept of a run. Chosen by feel, as are the limits below: they bound the memory of a campaign of
/// any length, and the record has everything.
pub const LAST_STEPS: usize = 12;
/// The number of runs under way; beyond it the one with the lowest number is given up. Chosen by feel: far more than
/// any campaign has at once, so it only bounds the memory for a damaged record.
const MAX_OPEN: usize = 1000;
/// The number of characters kept of a text. Chosen by feel: it bounds the memory.
const MAX_TEXT: usize = 500;
/// The number of characters kept of the last words of a system, from the end. Chosen by feel: it bounds the memory.
const MAX_WORDS: usize = 2000;
/// The number of items kept of each list of an explanation. Chosen by feel: more is not read.
const MAX_ITEMS: usize = 20;

/// The facts kept of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Its number, from 0.
    pub number: u64,
    /// Its seed.
    pub seed: u64,
    /// The goal of the run; may be empty.
    pub goal: String,
    /// The time at which the run began, in nanoseconds since the campaign began.
    pub began_ns: u64,
    /// The number of steps so far.
    pub steps: usize,
    /// The last steps, at most `LAST_STEPS`.
    pub last: VecDeque<ChartStep>,
    /// The number of states the specification may be in; `None` where it no longer restricts the system.
    pub belief: Option<usize>,
    /// The verdict; `None` before it.
    pub verdict: Option<VerdictRecord>,
    /// The trouble that ended the run; `None` if there was none.
    pub trouble: Option<SystemTrouble>,
    /// The id of the failure; empty if the run has no verdict.
    pub failure_id: String,
    /// The switches taken, as far as its steps tell.
    pub(super) switches: TakenSwitches,
}

/// The labels of the switches that were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TakenSwitches {
    /// Those certainly taken.
    pub(super) certain: BTreeSet<String>,
    /// Those possibly taken, the certain ones included.
    pub(super) possible: BTreeSet<String>,
}

impl TakenSwitches {
    /// Returns the switches that were taken at least once, by the certain and the possible times.
    pub(super) fn from_counts(counts: &BTreeMap<String, (u64, u64)>) -> Self {
        let names = |is_counted: fn(&(u64, u64)) -> bool| {
            counts.iter().filter(|(_, times)| is_counted(times)).map(|(name, _)| name.clone()).collect()
        };
        Self { certain: names(|times| times.0 > 0), possible: names(|times| times.0 > 0 || times.1 > 0) }
    }

    /// Adds those of `other`.
    pub(super) fn add(&mut self, other: &Self) {
        other.certain.iter().for_each(|name| insert_name(&mut self.certain, name));
        other.possible.iter().for_each(|name| insert_name(&mut self.possible, name));
    }

    /// Adds the switches that explain one step.
    fn add_step(&mut self, switches: &[String]) {
        switches.iter().for_each(|name| insert_name(&mut self.possible, name));
        if let Some(switch) = certain_switch(switches) {
            insert_name(&mut self.certain, switch);
        }
    }
}

/// Adds a name; a name that is there already is not copied.
pub(super) fn insert_name(set: &mut BTreeSet<String>, name: &str) {
    if !set.contains(name) {
        set.insert(name.to_owned());
    }
}

impl RunSummary {
    /// Returns the reason of the trouble or, without trouble, of the verdict; empty if there is neither.
    #[must_use]
    pub fn reason(&self) -> &str {
        match (&self.trouble, &self.verdict) {
            (Some(trouble), _) => &trouble.error,
            (None, Some(verdict)) => &verdict.reason,
            (None, None) => "",
        }
    }

    /// Returns the signature of the failure, which it shares with failures of the same kind; the reason if it has none.
    #[must_use]
    pub fn signature(&self) -> &str {
        let told = self.verdict.as_ref().and_then(|verdict| verdict.signature.as_deref());
        told.unwrap_or_else(|| self.reason())
    }

    /// Returns the explanation of a failure, the observation and the labels allowed in its place; `None` without one.
    #[must_use]
    pub fn explanation(&self) -> Option<&Explanation> {
        self.verdict.as_ref().and_then(|verdict| verdict.explanation.as_ref())
    }

    /// Returns the number of the forbidden step of a failing run, from 1; `None` if the run did not fail.
    #[must_use]
    pub fn forbidden_step(&self) -> Option<usize> {
        let failed = self.verdict.as_ref().filter(|told| told.verdict == VerdictWord::Fail)?;
        Some(failed.step.unwrap_or(self.steps).min(self.steps))
    }

    /// Returns what matters of the run for requirements.
    #[must_use]
    pub fn for_requirements(&self, outcome: RunOutcome) -> RequirementRun<'_> {
        RequirementRun {
            number: self.number,
            certain: &self.switches.certain,
            possible: &self.switches.possible,
            goal: &self.goal,
            outcome,
            explanation: self.explanation(),
        }
    }

    /// Returns whether the run is inconclusive only because the system did something else that is allowed.
    #[must_use]
    pub fn has_missed_goal(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.goal_missed)
    }

    pub(super) fn apply_step(&mut self, step: &StepRecord) {
        self.steps += 1;
        self.belief = step.belief;
        if self.last.len() == LAST_STEPS {
            self.last.pop_front();
        }
        self.last.push_back(ChartStep::new(&step.label));
        self.switches.add_step(&step.switches);
    }

    pub(super) fn apply_verdict(&mut self, verdict: &VerdictRecord) {
        // From the whole signature, which is cut below: the id is the same in every file.
        self.failure_id = failure_id(verdict.signature.as_deref().unwrap_or(&verdict.reason));
        self.verdict = Some(VerdictRecord {
            verdict: verdict.verdict,
            reason: cut(&verdict.reason, MAX_TEXT),
            kind: verdict.kind.clone(),
            step: verdict.step,
            unknown_from: verdict.unknown_from,
            goal_missed: verdict.goal_missed,
            explanation: verdict.explanation.as_ref().map(trim_explanation),
            signature: verdict.signature.as_ref().map(|signature| cut(signature, MAX_TEXT)),
            finding: verdict.finding.clone(),
            last_words: end_of_text(&verdict.last_words),
            exchanges: verdict.exchanges.clone(),
        });
    }

    pub(super) fn apply_trouble(&mut self, trouble: &SystemTrouble) {
        let last_words = end_of_text(&trouble.last_words);
        self.trouble = Some(SystemTrouble { error: cut(&trouble.error, MAX_TEXT), last_words });
    }

    /// Returns the last words of the system before its failure or trouble; empty if there are none.
    #[must_use]
    pub fn last_words(&self) -> &str {
        match (&self.trouble, &self.verdict) {
            (Some(trouble), _) => &trouble.last_words,
            (None, Some(verdict)) => &verdict.last_words,
            (None, None) => "",
        }
    }
}

/// Returns the end of the text that a system wrote outside its protocol.
fn end_of_text(words: &str) -> String {
    let words = words.trim_end();
    let from = words.char_indices().rev().nth(MAX_WORDS - 1).map_or(0, |(at, _)| at);
    words[from..].to_owned()
}

/// Returns the explanation with long texts cut and long lists shortened.
fn trim_explanation(explanation: &Explanation) -> Explanation {
    let short = |text: &String| cut(text, MAX_TEXT);
    let mut told = Explanation {
        observed: short(&explanation.observed),
        allowed: explanation.allowed.iter().take(MAX_ITEMS).cloned().collect(),
        states: explanation.states.iter().take(MAX_ITEMS).cloned().collect(),
        n_states: explanation.n_states,
        why_not: explanation.why_not.iter().take(MAX_ITEMS).cloned().collect(),
        orders: explanation.orders,
    };
    for allowed in &mut told.allowed {
        allowed.label = short(&allowed.label);
        allowed.switch = allowed.switch.as_ref().map(short);
    }
    for state in &mut told.states {
        state.location = short(&state.location);
        state.values = state.values.iter().take(MAX_ITEMS).map(short).collect();
        state.path = state.path.iter().take(MAX_ITEMS).map(short).collect();
    }
    for why in &mut told.why_not {
        why.switch = short(&why.switch);
        why.reason = short(&why.reason);
    }
    told
}

/// The runs under way.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenRuns {
    open: BTreeMap<u64, RunSummary>,
    begun_last: u64,
    /// The number of runs given up.
    given_up: u64,
}

impl OpenRuns {
    pub(super) fn n_open(&self) -> usize {
        self.open.len()
    }

    /// Returns the runs under way.
    pub(super) fn open_runs(&self) -> impl Iterator<Item = &RunSummary> {
        self.open.values()
    }

    /// Returns the number of runs given up: too many were under way, or one of the same number began.
    pub(super) fn n_given_up(&self) -> u64 {
        self.given_up
    }

    /// Adds a run.
    pub(super) fn start_run(&mut self, started: &RunStarted, time_ns: u64) {
        self.begun_last = started.run;
        let run = RunSummary {
            number: started.run,
            seed: started.seed,
            goal: cut(&started.goal, MAX_TEXT),
            began_ns: time_ns,
            ..RunSummary::default()
        };
        // A run of this number that has not ended never will.
        self.given_up += u64::from(self.open.remove(&started.run).is_some());
        self.give_up_oldest();
        self.open.insert(started.run, run);
    }

    /// Gives up the run with the lowest number if there are as many as can be.
    fn give_up_oldest(&mut self) {
        if self.open.len() >= MAX_OPEN {
            self.open.pop_first();
            self.given_up += 1;
        }
    }

    /// Returns the run an event belongs to: the one it names, else the one that began last.
    pub(super) fn run_of_event(&mut self, event: &Event) -> &mut RunSummary {
        self.run_or_new(event.run.unwrap_or(self.begun_last))
    }

    /// Removes the run `number` and returns it; an empty one if it never began.
    pub(super) fn end_run(&mut self, number: u64) -> RunSummary {
        self.open.remove(&number).unwrap_or(RunSummary { number, ..RunSummary::default() })
    }

    fn run_or_new(&mut self, number: u64) -> &mut RunSummary {
        if !self.open.contains_key(&number) {
            self.give_up_oldest();
        }
        self.open.entry(number).or_insert_with(|| RunSummary { number, ..RunSummary::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::samples::{run_started, sent};
    use ioxide_record::event::EventKind;

    #[test]
    fn last_words_are_kept_from_the_end() {
        let said = format!("{}end", "é".repeat(MAX_WORDS));
        let kept = end_of_text(&said);
        assert_eq!(kept.chars().count(), MAX_WORDS);
        assert!(kept.ends_with("éend"));
        assert_eq!((end_of_text("all of it\n"), end_of_text("")), ("all of it".to_owned(), String::new()));
    }

    /// Events of runs that never began take no more room than those that did.
    #[test]
    fn runs_under_way_are_bounded_however_they_are_named() {
        let mut open = OpenRuns::default();
        for run in 0..MAX_OPEN as u64 + 5 {
            let event = Event { seq: 0, time_ns: 0, run: Some(run), event: sent(1, "a") };
            let EventKind::Stimulus(told) = &event.event else { panic!("it is an input") };
            open.run_of_event(&event).apply_step(told);
        }
        assert_eq!((open.n_open(), open.n_given_up()), (MAX_OPEN, 5));
        let EventKind::RunStarted(told) = run_started(7) else { panic!("it begins") };
        open.start_run(&told, 0);
        open.start_run(&told, 0);
        assert_eq!((open.n_open(), open.n_given_up()), (MAX_OPEN, 7));
    }
}
