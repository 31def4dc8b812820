//! Requirements (`@req`) against runs: which are covered, by which runs, and which transitions trace to none.
//!
//! A transition is covered by a run that took it for certain; a test or purpose by a run that had it as its goal and
//! passed. A requirement is in a failure if one of its transitions is what a failing run should have done, or was
//! refused where it failed. Properties are no matter of runs: `ioxide check --deep` decides them.

use std::collections::BTreeSet;

use ioxide_record::event::{Explanation, RequirementNote, RunOutcome};
use serde::Serialize;

use crate::run_number::number_from_one;
use crate::summary::lines::plural;

/// The number of stretches of runs that are kept for each requirement, unless all are wanted. Chosen by feel: it bounds
/// the memory of a campaign of any length.
const MAX_STRETCHES: usize = 20;

/// The requirements of a model, against the runs so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequirementTable {
    /// The requirements, in the order in which the model names them.
    rows: Vec<RequirementRow>,
    /// The transitions that trace to no requirement.
    untraced: Vec<String>,
    /// True if every run number is kept.
    keeps_all: bool,
}

/// A requirement against the runs so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequirementRow {
    /// Its name and what traces to it.
    pub note: RequirementNote,
    /// Those of its transitions that were taken for certain, and of its tests and purposes that were passed.
    pub covered: BTreeSet<String>,
    /// Those of its transitions that may have been taken, the certain ones included.
    pub possible: BTreeSet<String>,
    /// The number of runs that covered one of them.
    pub runs: u64,
    /// The numbers of these runs, from 1, in stretches of runs that follow each other; the first ones.
    pub stretches: Vec<(u64, u64)>,
    /// The number of failing runs that should have done one of its transitions, or refused it where they failed.
    pub failures: u64,
}

/// The result of the runs for one requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum RequirementStatus {
    /// A failing run contradicts one of its transitions.
    InFailure,
    /// Everything that traces to it is covered.
    Covered,
    /// Some of it is covered.
    Partly,
    /// Nothing of it is covered for certain, but some of it may be.
    Possibly,
    /// Nothing of it is covered.
    NotCovered,
    /// Only properties trace to it, which no run covers.
    PropertyOnly,
}

impl RequirementStatus {
    /// Returns the status in words.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::InFailure => "in a failure",
            Self::Covered => "covered",
            Self::Partly => "partly covered",
            Self::Possibly => "possibly covered",
            Self::NotCovered => "not covered",
            Self::PropertyOnly => "a property",
        }
    }
}

/// One run, as far as it matters for requirements.
#[derive(Clone, Copy, Debug)]
pub struct RequirementRun<'r> {
    /// Its number, from 0.
    pub number: u64,
    /// The switches that it took for certain, and those that it may have taken, the certain ones included.
    pub certain: &'r BTreeSet<String>,
    /// The second set.
    pub possible: &'r BTreeSet<String>,
    /// Its goal; may be empty.
    pub goal: &'r str,
    /// Its outcome.
    pub outcome: RunOutcome,
    /// The explanation of its failure; `None` if it has none.
    pub explanation: Option<&'r Explanation>,
}

impl RequirementTable {
    /// Makes the table of a model with these requirements and transitions, before the first run.
    #[must_use]
    pub fn new(notes: &[RequirementNote], switches: &[String]) -> Self {
        let is_traced = |switch: &&String| notes.iter().any(|note| note.switches.contains(switch));
        let untraced = match notes {
            // A model without requirements does not lack them.
            [] => Vec::new(),
            _ => switches.iter().filter(|switch| !is_traced(switch)).cloned().collect(),
        };
        let row = |note: &RequirementNote| RequirementRow { note: note.clone(), ..RequirementRow::default() };
        Self { rows: notes.iter().map(row).collect(), untraced, keeps_all: false }
    }

    /// Keeps the number of every run.
    #[must_use]
    pub fn with_all_runs(self) -> Self {
        Self { keeps_all: true, ..self }
    }

    /// The requirements, in the order in which the model names them.
    #[must_use]
    pub fn rows(&self) -> &[RequirementRow] {
        &self.rows
    }

    /// The transitions that trace to no requirement; empty if the model names none at all.
    #[must_use]
    pub fn list_untraced(&self) -> &[String] {
        &self.untraced
    }

    /// Adds a run that ended.
    pub fn add_run(&mut self, run: &RequirementRun<'_>) {
        let limit = if self.keeps_all { usize::MAX } else { MAX_STRETCHES };
        for row in &mut self.rows {
            let covers = row.cover(run);
            row.failures += u64::from(run.outcome == RunOutcome::Fail && row.is_in_failure(run.explanation));
            if covers {
                row.runs += 1;
                row.keep_number(number_from_one(run.number), limit);
            }
        }
    }

    /// Takes back transitions that no explanation of a whole run takes.
    pub fn retract(&mut self, never: &[String]) {
        for row in &mut self.rows {
            row.covered.retain(|name| !never.contains(name));
            row.possible.retain(|name| !never.contains(name));
        }
    }

    /// Adds what the runs of another record covered; the numbers of its runs are left out.
    pub fn add_table(&mut self, other: &Self) {
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            row.covered.extend(other.covered.iter().cloned());
            row.possible.extend(other.possible.iter().cloned());
            row.runs += other.runs;
            row.failures += other.failures;
        }
    }

    /// Returns the names of the requirements that a run covers.
    #[must_use]
    pub fn names_covered_by(&self, run: &RequirementRun<'_>) -> Vec<String> {
        let covers = |row: &&RequirementRow| row.covered_by(run).next().is_some();
        self.rows.iter().filter(covers).map(|row| row.note.name.clone()).collect()
    }

    /// Returns one line: the number of requirements covered, and the names of the others; `None` if there are none.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let counted = self.rows.iter().filter(|row| row.status() != RequirementStatus::PropertyOnly);
        let (covered, open): (Vec<&RequirementRow>, Vec<&RequirementRow>) =
            counted.partition(|row| row.is_covered());
        let total = covered.len() + open.len();
        if total == 0 {
            return None;
        }
        let mut line = format!("requirements: {} of {total} covered", covered.len());
        if !open.is_empty() {
            let names: Vec<String> = open.iter().map(|row| row.note.name.clone()).collect();
            line.push_str(&format!("; not fully covered: {}", crate::summary::lines::list_names(&names)));
        }
        Some(line)
    }
}

impl RequirementRow {
    /// Returns the result of the runs.
    #[must_use]
    pub fn status(&self) -> RequirementStatus {
        match (self.n_covered(), self.n_items()) {
            _ if self.failures > 0 => RequirementStatus::InFailure,
            (_, 0) => RequirementStatus::PropertyOnly,
            (covered, items) if covered == items => RequirementStatus::Covered,
            (0, _) if self.possible.is_empty() => RequirementStatus::NotCovered,
            (0, _) => RequirementStatus::Possibly,
            _ => RequirementStatus::Partly,
        }
    }

    /// Returns whether everything that traces to it is covered, whatever failed.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        self.n_covered() == self.n_items()
    }

    /// The number of its transitions, tests and purposes that are covered.
    #[must_use]
    pub fn n_covered(&self) -> usize {
        self.covered.len()
    }

    /// The number of its transitions, tests and purposes.
    #[must_use]
    pub fn n_items(&self) -> usize {
        self.note.switches.len() + self.note.goals.len()
    }

    /// Returns the numbers of its runs, such as `1-4, 7`; the first ones if there are many.
    #[must_use]
    pub fn runs_text(&self) -> String {
        let stretch = |&(from, to): &(u64, u64)| {
            if from == to { from.to_string() } else { format!("{from}-{to}") }
        };
        let mut texts: Vec<String> = self.stretches.iter().map(stretch).collect();
        let kept: u64 = self.stretches.iter().map(|(from, to)| to - from + 1).sum();
        if kept < self.runs {
            texts.push("...".to_owned());
        }
        texts.join(", ")
    }

    /// Returns the status with its figures, such as `partly covered (1 of 2), 4 runs`.
    #[must_use]
    pub fn status_text(&self) -> String {
        let of = format!("{} of {}", self.n_covered(), self.n_items());
        match self.status() {
            RequirementStatus::PropertyOnly | RequirementStatus::NotCovered => {
                self.status().word().to_owned()
            }
            status => format!("{} ({of}), {}", status.word(), plural(self.runs, "run")),
        }
    }

    /// Returns those of its transitions and goals that a run covers.
    fn covered_by<'a>(&'a self, run: &'a RequirementRun<'_>) -> impl Iterator<Item = &'a String> {
        let switches = self.note.switches.iter().filter(|switch| run.certain.contains(*switch));
        let is_met = |goal: &&String| run.outcome == RunOutcome::Pass && is_goal(goal, run.goal);
        switches.chain(self.note.goals.iter().filter(is_met))
    }

    /// Counts what a run covers; returns whether it covers anything.
    fn cover(&mut self, run: &RequirementRun<'_>) -> bool {
        let covered: Vec<String> = self.covered_by(run).cloned().collect();
        let possible = self.note.switches.iter().filter(|switch| run.possible.contains(*switch));
        self.possible.extend(possible.cloned());
        let covers = !covered.is_empty();
        self.covered.extend(covered);
        covers
    }

    fn is_in_failure(&self, explanation: Option<&Explanation>) -> bool {
        let is_own = |switch: &String| self.note.switches.contains(switch);
        explanation.is_some_and(|told| {
            let refused = told.why_not.iter().map(|why| &why.switch);
            told.allowed.iter().filter_map(|allowed| allowed.switch.as_ref()).chain(refused).any(is_own)
        })
    }

    /// Keeps the number of a run, from 1; runs that end in another order than they began make more stretches.
    fn keep_number(&mut self, number: u64, limit: usize) {
        let n_kept = self.stretches.len();
        match self.stretches.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ if n_kept < limit => self.stretches.push((number, number)),
            _ => (),
        }
    }
}

/// The requirements for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequirementTableJson<'t> {
    rows: Vec<RequirementJson<'t>>,
    /// The transitions that trace to no requirement.
    untraced: &'t [String],
}

/// A requirement for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct RequirementJson<'t> {
    requirement: &'t str,
    status: RequirementStatus,
    transitions: &'t [String],
    /// The tests and purposes that trace to it, as the goal of a run.
    goals: &'t [String],
    properties: &'t [String],
    covered: &'t BTreeSet<String>,
    /// The number of runs that covered some of it.
    runs: u64,
    /// The numbers of the first ones, from 1, in stretches: the first and the last of each.
    run_numbers: &'t [(u64, u64)],
    /// The number of failing runs that contradict it.
    failures: u64,
}

impl RequirementTable {
    /// Returns the table for programs; `None` if the model names no requirement.
    #[must_use]
    pub fn to_json(&self) -> Option<RequirementTableJson<'_>> {
        if self.rows.is_empty() {
            return None;
        }
        let rows = self.rows.iter().map(RequirementJson::new).collect();
        Some(RequirementTableJson { rows, untraced: &self.untraced })
    }
}

impl<'t> RequirementJson<'t> {
    fn new(row: &'t RequirementRow) -> Self {
        Self {
            requirement: &row.note.name,
            status: row.status(),
            transitions: &row.note.switches,
            goals: &row.note.goals,
            properties: &row.note.properties,
            covered: &row.covered,
            runs: row.runs,
            run_numbers: &row.stretches,
            failures: row.failures,
        }
    }
}

/// Returns whether a run with the goal `own` is one for `goal`: a purpose is also reached by the tester that forces it.
fn is_goal(goal: &str, own: &str) -> bool {
    own == goal
        || goal
            .strip_prefix("purpose ")
            .is_some_and(|name| own.strip_prefix("goal ").is_some_and(|it| it == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn table() -> RequirementTable {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let note = |name: &str, switches: &[&str], goals: &[&str], properties: &[&str]| RequirementNote {
            name: name.to_owned(),
            switches: names(switches),
            goals: names(goals),
            properties: names(properties),
        };
        let notes = [
            note("R-1", &["a", "b"], &[], &[]),
            note("R-2", &["b"], &["test t"], &[]),
            note("R-3", &[], &["purpose p"], &[]),
            note("R-4", &[], &[], &["bounded"]),
        ];
        RequirementTable::new(&notes, &names(&["a", "b", "c"]))
    }

    fn add(
        table: &mut RequirementTable,
        number: u64,
        certain: &[&str],
        possible: &[&str],
        goal: (&str, RunOutcome),
    ) {
        let (certain, possible) = (set(certain), set(&[certain, possible].concat()));
        let (goal, outcome) = goal;
        let run = RequirementRun {
            number,
            certain: &certain,
            possible: &possible,
            goal,
            outcome,
            explanation: None,
        };
        table.add_run(&run);
    }

    fn statuses(table: &RequirementTable) -> Vec<&'static str> {
        table.rows().iter().map(|row| row.status().word()).collect()
    }

    #[test]
    fn a_requirement_is_covered_when_all_that_traces_to_it_is() {
        let mut table = table();
        assert_eq!(table.list_untraced(), ["c"]);
        assert_eq!(statuses(&table), ["not covered", "not covered", "not covered", "a property"]);
        add(&mut table, 0, &["a"], &["b"], ("", RunOutcome::Pass));
        assert_eq!(statuses(&table), ["partly covered", "possibly covered", "not covered", "a property"]);
        add(&mut table, 1, &["b"], &[], ("test t", RunOutcome::Inconclusive));
        assert_eq!(statuses(&table), ["covered", "partly covered", "not covered", "a property"]);
        add(&mut table, 3, &["b", "c"], &[], ("test t", RunOutcome::Pass));
        add(&mut table, 4, &[], &[], ("goal p", RunOutcome::Pass));
        assert_eq!(statuses(&table), ["covered", "covered", "covered", "a property"]);
        let runs: Vec<String> = table.rows().iter().map(RequirementRow::runs_text).collect();
        assert_eq!(runs, ["1-2, 4", "2, 4", "5", ""]);
        assert_eq!(table.line().as_deref(), Some("requirements: 3 of 3 covered"));
        table.retract(&["b".to_owned()]);
        assert_eq!(
            table.line().as_deref(),
            Some("requirements: 1 of 3 covered; not fully covered: R-1, R-2")
        );
    }

    #[test]
    fn the_numbers_kept_are_bounded_and_the_count_is_not() {
        for (keeps_all, kept) in [(false, MAX_STRETCHES), (true, 50)] {
            let mut table = if keeps_all { table().with_all_runs() } else { table() };
            (0..50).for_each(|n| add(&mut table, 2 * n, &["a"], &[], ("", RunOutcome::Pass)));
            let row = &table.rows()[0];
            assert_eq!((row.runs, row.stretches.len()), (50, kept));
            assert_eq!(row.runs_text().ends_with("..."), !keeps_all);
        }
    }

    #[test]
    fn a_model_without_requirements_lacks_none() {
        let table = RequirementTable::new(&[], &["a".to_owned()]);
        assert!(table.list_untraced().is_empty() && table.line().is_none());
    }
}
