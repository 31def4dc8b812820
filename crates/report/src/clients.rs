//! A campaign with concurrent clients, for people and for programs.

use std::io::{self, Write};

use ioxide_history::{Consistency, History, HistoryJudgement, ShrunkWorkload, WorkloadBurst};
use ioxide_model::counted::count_noun;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use serde_json::{Value as Json, json};

use crate::history::{HistoryView, message_fields};
use crate::reported_case::{ReportedCase, ReportedResult};

/// A campaign and what is needed to show it.
#[derive(Clone, Copy, Debug)]
pub struct ClientCampaignView<'a> {
    /// The model.
    pub model: &'a Model,
    /// The file of the model.
    pub file: &'a str,
    /// The system, as it was named.
    pub sut: &'a str,
    /// The seed of all choices.
    pub seed: u64,
    /// The number of clients.
    pub clients: usize,
    /// The consistency that was asked for.
    pub consistency: Consistency,
    /// The runs.
    pub runs: &'a [ClientRunView],
    /// The failure.
    pub failure: Option<ClientFailureView<'a>>,
    /// The trouble that ended the campaign.
    pub error: Option<&'a str>,
    /// True if the campaign was stopped.
    pub is_interrupted: bool,
    /// The time that it took.
    pub time_ns: u64,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRunView {
    /// The number, from 1.
    pub number: u64,
    /// The result.
    pub result: ClientRunResult,
    /// The number of operations.
    pub operations: usize,
    /// The number of operations without an answer.
    pub open: usize,
    /// The number of faults.
    pub faults: usize,
    /// The time that it took.
    pub time_ns: u64,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientRunResult {
    /// Some order explains it.
    Passed,
    /// It failed.
    Failed,
    /// Neither is known, for this reason.
    Inconclusive(String),
}

/// A failure.
#[derive(Clone, Copy, Debug)]
pub struct ClientFailureView<'a> {
    /// The number of the run, from 1.
    pub run: u64,
    /// The operations.
    pub history: &'a History,
    /// The cause.
    pub cause: ClientFailureCause<'a>,
    /// The number of repetitions that failed as well.
    pub reproduced: u32,
    /// The number of repetitions.
    pub of: u32,
    /// A smaller workload that fails as well.
    pub workload: Option<&'a ShrunkWorkload>,
}

/// The cause of a failure.
#[derive(Clone, Copy, Debug)]
pub enum ClientFailureCause<'a> {
    /// No order explains the operations.
    Inconsistent {
        /// The verdict, with the core.
        judged: &'a HistoryJudgement,
        /// The division of the history, in words.
        parts: &'a str,
    },
    /// The system broke down, as this sentence says.
    Breakdown(&'a str),
}

impl ClientCampaignView<'_> {
    /// Returns the name of the model.
    #[must_use]
    pub fn model_name(&self) -> &str {
        &self.model.sts.name
    }

    /// Writes the result for people.
    ///
    /// # Errors
    /// If `out` does not take the text.
    pub fn show(&self, out: &mut impl Write) -> io::Result<()> {
        let total = |count: fn(&ClientRunView) -> usize| self.runs.iter().map(count).sum::<usize>();
        let (operations, open, faults) =
            (total(|run| run.operations), total(|run| run.open), total(|run| run.faults));
        let is = match self.consistency {
            Consistency::Linearizable => "linearizable",
            Consistency::Sequential => "sequentially consistent",
        };
        let undecided = self.find_undecided();
        match (&self.failure, undecided, self.runs.is_empty()) {
            (Some(failure), _, _) => self.show_failure(out, failure)?,
            (None, Some(why), _) => {
                writeln!(out, "INCONCLUSIVE: unknown whether every run is {is}, because {why}")?
            }
            (None, None, true) => writeln!(out, "INCONCLUSIVE: no run was completed")?,
            (None, None, false) => writeln!(
                out,
                "PASS: {} of {} in {} are {is}",
                count_noun(operations, "operation"),
                count_noun(self.clients, "client"),
                count_noun(self.runs.len(), "run"),
            )?,
        }
        let mut told = vec![count_noun(self.runs.len(), "run"), count_noun(operations, "operation")];
        if open > 0 {
            told.push(format!("{open} without an answer"));
        }
        if faults > 0 {
            told.push(count_noun(faults, "fault"));
        }
        let seconds = self.time_ns as f64 / 1e9;
        writeln!(out, "{}, {} clients, seed {}, {seconds:.1} s", told.join(", "), self.clients, self.seed)
    }

    /// Returns the reason of a run that is inconclusive.
    fn find_undecided(&self) -> Option<&str> {
        self.runs.iter().find_map(|run| match &run.result {
            ClientRunResult::Inconclusive(why) => Some(why.as_str()),
            ClientRunResult::Passed | ClientRunResult::Failed => None,
        })
    }

    fn show_failure(&self, out: &mut impl Write, failure: &ClientFailureView<'_>) -> io::Result<()> {
        match failure.cause {
            ClientFailureCause::Inconsistent { judged, parts } => {
                self.history_view(failure, judged, parts).show(out)?;
            }
            ClientFailureCause::Breakdown(what) => writeln!(out, "FAIL: {what}")?,
        }
        for fault in &failure.history.faults {
            let (from, to) = (fault.from_ns / 1_000_000, fault.to_ns / 1_000_000);
            writeln!(out, "fault: {} from {from} ms to {to} ms of the run", fault.name)?;
        }
        match failure.of {
            0 => writeln!(out, "found in run {}; it was not repeated", failure.run)?,
            of => writeln!(
                out,
                "found in run {}; {} of {of} repetitions of the same operations failed",
                failure.run, failure.reproduced
            )?,
        }
        failure.workload.map_or(Ok(()), |workload| self.show_workload(out, workload))
    }

    fn show_workload(&self, out: &mut impl Write, workload: &ShrunkWorkload) -> io::Result<()> {
        let size = workload.size();
        writeln!(
            out,
            "a smaller workload failed too, {} of {} times: {} of {} (at first {} of {})",
            workload.reproduced,
            workload.of,
            count_noun(size.operations, "operation"),
            count_noun(size.clients, "client"),
            workload.before.operations,
            workload.before.clients,
        )?;
        for (number, burst) in workload.bursts.iter().enumerate() {
            let list = |(client, inputs): (usize, &Vec<Label>)| {
                let inputs: Vec<String> =
                    inputs.iter().map(|input| input.show(&self.model.pool, &self.model.sts)).collect();
                (!inputs.is_empty()).then(|| format!("client {}: {}", client + 1, inputs.join(", ")))
            };
            let lists = burst.inputs.iter().enumerate().filter_map(list);
            let fault = burst.fault.iter().map(|fault| format!("fault: {fault}"));
            writeln!(out, "  burst {}: {}", number + 1, lists.chain(fault).collect::<Vec<_>>().join("; "))?;
        }
        Ok(())
    }

    fn workload_json(&self, workload: &ShrunkWorkload) -> Json {
        let message = |label: &Label| {
            let (label, args) = message_fields(self.model, label);
            json!({ "label": label, "args": args })
        };
        let burst = |burst: &WorkloadBurst| {
            let clients = burst.inputs.iter().map(|list| list.iter().map(message).collect::<Vec<_>>());
            json!({ "clients": clients.collect::<Vec<_>>(), "fault": burst.fault.as_deref() })
        };
        json!({
            "bursts": workload.bursts.iter().map(burst).collect::<Vec<_>>(),
            "operations": workload.size().operations,
            "operations_before": workload.before.operations,
            "clients": workload.size().clients,
            "clients_before": workload.before.clients,
            "reproduced": workload.reproduced,
            "of": workload.of,
        })
    }

    fn history_view<'v>(
        &'v self,
        failure: &'v ClientFailureView<'_>,
        judged: &'v HistoryJudgement,
        parts: &'v str,
    ) -> HistoryView<'v> {
        let (model, consistency) = (self.model, self.consistency);
        HistoryView { model, history: failure.history, judged, parts, consistency }
    }

    /// Returns the failure as lines; none if there is none.
    #[must_use]
    pub fn failure_lines(&self) -> Vec<String> {
        let Some(failure) = &self.failure else { return Vec::new() };
        let mut text = Vec::new();
        // A vector takes any text.
        self.show_failure(&mut text, failure).ok();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// Returns the runs as test cases.
    #[must_use]
    pub fn test_cases(&self) -> Vec<ReportedCase> {
        let lines = self.failure_lines();
        let describe_run = |run: &ClientRunView| {
            let (result, details) = match &run.result {
                ClientRunResult::Passed => (ReportedResult::Passed, Vec::new()),
                ClientRunResult::Failed => {
                    (ReportedResult::Failed(lines.first().cloned().unwrap_or_default()), lines.clone())
                }
                ClientRunResult::Inconclusive(why) => (ReportedResult::Skipped(why.clone()), Vec::new()),
            };
            ReportedCase {
                name: format!("run {}", run.number),
                time_ns: run.time_ns,
                result,
                details,
                requirements: Vec::new(),
            }
        };
        let error = self.error.map(|error| {
            let result = ReportedResult::Error(error.to_owned());
            ReportedCase {
                name: "the campaign".to_owned(),
                time_ns: 0,
                result,
                details: Vec::new(),
                requirements: Vec::new(),
            }
        });
        self.runs.iter().map(describe_run).chain(error).collect()
    }

    /// Returns the result for programs.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let count =
            |wanted: fn(&ClientRunResult) -> bool| self.runs.iter().filter(|run| wanted(&run.result)).count();
        let undecided = self.find_undecided();
        let verdict = match (&self.failure, undecided, self.runs.is_empty()) {
            (Some(_), _, _) => "fail",
            (None, Some(_), _) | (None, None, true) => "inconclusive",
            (None, None, false) => "pass",
        };
        let failure = self.failure.as_ref().map(|failure| {
            let (history, breakdown) = match failure.cause {
                ClientFailureCause::Inconsistent { judged, parts } => {
                    (Some(self.history_view(failure, judged, parts).to_json()), None)
                }
                ClientFailureCause::Breakdown(what) => (None, Some(what)),
            };
            let faults = failure.history.faults.iter();
            let faults =
                faults.map(|it| json!({ "fault": &*it.name, "from_ns": it.from_ns, "to_ns": it.to_ns }));
            json!({
                "run": failure.run,
                "breakdown": breakdown,
                "history": history,
                "faults": faults.collect::<Vec<_>>(),
                "reproduced": failure.reproduced,
                "of": failure.of,
                "workload": failure.workload.map(|workload| self.workload_json(workload)),
            })
        });
        json!({
            "version": 1,
            "verdict": verdict,
            "consistency": self.consistency.name(),
            "seed": self.seed,
            "clients": self.clients,
            "runs": self.runs.len(),
            "passed": count(|result| *result == ClientRunResult::Passed),
            "failed": count(|result| *result == ClientRunResult::Failed),
            "inconclusive": count(|result| matches!(result, ClientRunResult::Inconclusive(_))),
            "operations": self.runs.iter().map(|run| run.operations).sum::<usize>(),
            "open": self.runs.iter().map(|run| run.open).sum::<usize>(),
            "faults": self.runs.iter().map(|run| run.faults).sum::<usize>(),
            "failure": failure,
            "unknown_because": undecided,
            "error": self.error,
            "interrupted": self.is_interrupted,
        })
    }
}
