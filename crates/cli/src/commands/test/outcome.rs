//! The end of a campaign of `ioxide test`: what it tells people, programs and its record.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use ioxide_args::{TestArgs, TestFormat};
use ioxide_campaign::engine::quote_for_shell;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_record::event::MeasureRecord;
use ioxide_record::failure_id::failure_id;
use ioxide_record::secrets::Secrets;
use ioxide_report::http::operations::OperationTable;
use ioxide_report::summary::refused_text;
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome};
use ioxide_smt::halt::Halted;
use serde_json::{Value as Json, json};

use super::hint::FailureEvidence;
use super::plan::{self, PlanProgress};
use super::tester_choice::ChosenTester;
use crate::exit::{self, CliError, ExitStatus};
use crate::record_folder::RecordFolder;
use crate::session::campaign_status;
use crate::{html, limit, redaction, regressions};

/// A campaign that has ended, with what is needed to tell about it.
pub struct EndedCampaign<'a> {
    pub args: &'a TestArgs,
    pub sources: &'a Sources,
    pub spec: &'a Model,
    pub config: &'a CampaignConfig,
    pub secrets: &'a Secrets,
    /// The tester, with what all workers have covered.
    pub tester: ChosenTester,
    pub outcome: CampaignOutcome,
    /// The limit that ended the tester, if one did.
    pub ended_after: Option<Duration>,
    /// True if the time of the whole command was over.
    pub is_cut: bool,
    /// The requirements with the runs that cover them, if they are told.
    pub requirements: Option<Json>,
    /// The evidence for the model and for the system, if there was a failure.
    pub evidence: Option<FailureEvidence>,
}

impl EndedCampaign<'_> {
    /// Shows the outcome, writes what belongs beside its record in `folder`, and returns the verdict.
    pub fn show_and_keep(&self, folder: Option<RecordFolder>) -> Result<ExitStatus, CliError> {
        if self.is_cut {
            eprintln!("{}", limit::partial(Halted::Time));
        }
        if let (true, Some(error)) = (self.outcome.counts.errors > 0, &self.outcome.error) {
            eprintln!("error: no verdict: {}", self.secrets.hide(&error.to_string()));
        }
        if let Some(folder) = &folder {
            self.keep_failures(folder);
        }
        let told = match self.args.output_format() {
            TestFormat::Json => writeln!(redaction::stdout(), "{}", self.to_json()),
            TestFormat::Text => self.show(&mut redaction::stdout()),
            TestFormat::Junit | TestFormat::Tap => Ok(()),
        };
        match &folder {
            Some(folder) if folder.trouble().is_none() => self.write_page(folder),
            Some(_) => {}
            None => self.show_next_step(),
        }
        let found = if self.is_cut { cut_short(&self.outcome) } else { verdict(&self.tester, &self.outcome) };
        let status = exit::status_after_output(found, told)?;
        folder.map_or(Ok(status), |folder| folder.end(status))
    }

    /// Writes the failing runs into the folder, where later campaigns try them first.
    fn keep_failures(&self, folder: &RecordFolder) {
        let added = regressions::add_failures(
            folder.path(),
            self.spec,
            &self.config.regressions,
            &self.outcome.failures,
            self.secrets,
        );
        added.unwrap_or_else(|error| {
            folder.mark_incomplete(&format!("the failing runs could not be saved: {error}"))
        });
    }

    /// Returns the outcome for programs.
    fn to_json(&self) -> Json {
        let Self { tester, outcome, .. } = self;
        let sts = &self.spec.sts;
        let mut result = outcome_json(self.spec, self.config, outcome, self.secrets);
        result["cover"] = tester.json(sts);
        result["suite"] = tester.suite_json(&outcome.counts);
        result["game"] = tester.game_json();
        result["partial"] = json!(self.is_cut.then(|| Halted::Time.to_string()));
        result["hunt"] = tester.hunt_json(sts, outcome, self.ended_after.is_some());
        result["plan"] = plan::plan_json(PlanProgress::of(tester, outcome), self.ended_after);
        result["evidence"] = json!(self.evidence.as_ref().map(FailureEvidence::to_json));
        result["requirements"] = json!(self.requirements);
        if let Some(suite) = &self.args.suite {
            result["suite_name"] = json!(suite);
        }
        self.secrets.hide_json(&mut result);
        result
    }

    /// Shows people what was covered, and what speaks for which side if there was a failure.
    fn show(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { tester, outcome, .. } = self;
        // A failure is looked at first; what was covered until then is for `-v`.
        if self.args.verbose || outcome.counts.failed == 0 || !tester.is_about_coverage() {
            tester.show(out, &self.spec.sts, &outcome.counts)?;
        }
        tester.show_end(out, &self.spec.sts, outcome, self.ended_after)?;
        let lines = self.evidence.as_ref().map(FailureEvidence::lines);
        lines.into_iter().flatten().try_for_each(|line| writeln!(out, "{}", self.secrets.hide(&line)))
    }

    /// Writes the page beside the record, and says where both are.
    fn write_page(&self, folder: &RecordFolder) {
        if self.args.output_format() == TestFormat::Text {
            eprintln!("record: {}", folder.record().display());
            if self.outcome.counts.failed > 0 {
                eprintln!("replay: {}", self.replay_command(folder));
            }
        }
        let evidence = self.evidence.as_ref().map(FailureEvidence::for_page);
        let evidence = evidence.map(|evidence| evidence.map_texts(|text| self.secrets.hide(text)));
        html::write_beside(folder, (self.sources, self.spec), evidence, &self.args.solver);
    }

    /// Returns the command that repeats the first failure of the record.
    fn replay_command(&self, folder: &RecordFolder) -> String {
        let path = quote_for_shell(&folder.path().display().to_string());
        // What is written down has no secrets in it, so the id must not be made of any.
        let failure = self.outcome.failures.first();
        let id = failure.map(|failure| failure_id(&self.secrets.hide(failure.naming_signature())));
        let name = id.map(|id| format!(" --name {}", quote_for_shell(&id))).unwrap_or_default();
        format!("ioxide replay {path}{name} --sut {}", quote_for_shell(&self.args.sut))
    }

    /// Shows people the next useful command after a campaign that is not recorded.
    fn show_next_step(&self) {
        let next = next_step(self.args, &self.outcome)
            .or_else(|| next_after_pass(self.args, self.spec, &self.outcome));
        if let (TestFormat::Text, Some(next)) = (self.args.output_format(), next) {
            eprintln!("{next}");
        }
    }
}

/// Returns a line with the next useful command after a campaign that is not recorded.
fn next_step(args: &TestArgs, outcome: &CampaignOutcome) -> Option<String> {
    (outcome.counts.failed > 0).then(|| {
        let sut = quote_for_shell(&args.sut);
        format!(
            "next: add `--report runs` to record the run; `ioxide replay runs --sut {sut}` then repeats it"
        )
    })
}

/// Returns a line with the next useful command after a campaign that passed, for people at a terminal.
fn next_after_pass(args: &TestArgs, spec: &Model, outcome: &CampaignOutcome) -> Option<String> {
    if campaign_status(outcome) != ExitStatus::Success || !io::stderr().is_terminal() {
        return None;
    }
    let file = quote_for_shell(&args.model.file);
    let n_never = outcome.coverage.never().count();
    Some(if n_never > 0 && !spec.sts.is_timed() {
        format!(
            "next: `ioxide purposes {file}` says which of the {n_never} transitions never taken can be reached"
        )
    } else {
        "next: `--for 10min` tests longer; `--report runs` writes a page with what was tested".to_owned()
    })
}

/// Returns the exit status of an outcome: inconclusive also if the goal of `--until`, or of the tester, is not met.
pub fn verdict(chosen: &ChosenTester, outcome: &CampaignOutcome) -> ExitStatus {
    match campaign_status(outcome) {
        ExitStatus::Success if !outcome.is_enough => ExitStatus::Inconclusive,
        // A goal to which no path is known counts as not met.
        ExitStatus::Success if !chosen.is_settled() => {
            eprintln!(
                "goal not reached: the items marked unknown or partial above are neither covered nor proven unreachable"
            );
            ExitStatus::Inconclusive
        }
        status => status,
    }
}

/// Returns the exit status of a campaign that its time limit ended: a failure counts, else it is inconclusive.
fn cut_short(outcome: &CampaignOutcome) -> ExitStatus {
    if outcome.counts.failed > 0 { ExitStatus::Failure } else { ExitStatus::Inconclusive }
}

/// The outcome for programs.
pub fn outcome_json(
    spec: &Model,
    config: &CampaignConfig,
    outcome: &CampaignOutcome,
    secrets: &Secrets,
) -> Json {
    let labels = |trace: &ioxide_model::trace::Trace| {
        trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect::<Vec<_>>()
    };
    let failures: Vec<Json> = outcome
        .failures
        .iter()
        .map(|failure| {
            json!({
                "run": failure.id.run,
                "id": failure_id(&secrets.hide(failure.naming_signature())),
                "signature": failure.signature,
                "runs": failure.runs,
                "seed": failure.id.seed,
                "trace": labels(&failure.trace),
                "forbidden_step": failure.trace.forbidden_at.map(|at| at + 1),
                "reproduced": failure.reproduced,
                "of": failure.of,
                "wanted": failure.wanted,
                "shrunk": failure.shrunk.as_ref().map(|shrunk| labels(&shrunk.trace)),
                "exchanges": failure.shrunk.as_ref().map(|shrunk| &shrunk.exchanges).filter(|all| !all.is_empty()),
            })
        })
        .collect();
    let names = |ids: Vec<ioxide_model::sts::SwitchId>| {
        ids.into_iter().map(|id| spec.sts.switches[id].label.to_string()).collect::<Vec<_>>()
    };
    let measures: Vec<MeasureRecord> =
        outcome.survey.counts(&outcome.coverage).iter().map(MeasureRecord::from).collect();
    let mut operations = OperationTable::new(&config.operations);
    for (id, switch) in spec.sts.switches.iter_enumerated() {
        operations.count_switch(&switch.label, outcome.coverage.count_of(id).certain);
    }
    outcome.coverage.covered_switches().for_each(|id| operations.cover(&spec.sts.switches[id].label));
    json!({
        "version": 1,
        "reason": outcome.refused.filter(|_| outcome.counts.failed == 0).map(refused_text),
        "refused": outcome.refused,
        "seed": config.seed,
        "runs": outcome.counts.total(),
        "passed": outcome.counts.passed,
        "failed": outcome.counts.failed,
        "inconclusive": outcome.counts.inconclusive,
        "errors": outcome.counts.errors,
        "error": outcome.error.as_ref().map(ToString::to_string),
        "interrupted": outcome.interrupted,
        "steps": outcome.steps,
        "machine_lag": outcome.lag.to_record(),
        "time_spent": outcome.spent.map(|spent| spent.to_record(outcome.elapsed)),
        "failures": failures,
        "covered": names(outcome.coverage.covered_switches().collect()),
        "never": names(outcome.coverage.never().collect()),
        "measures": measures,
        "longest_run": outcome.coverage.longest(),
        "operations": operations.rows(),
    })
}
