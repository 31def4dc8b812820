//! The HTML page of a campaign: the record, the model it names, and what is known of that a priori.

use std::time::Duration;

use ioxide_args::SolverArgs;
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_model::index::IndexVec;
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, SwitchId};
use ioxide_record::event::CampaignStarted;
use ioxide_record::reporter::Reporter;
use ioxide_repair::TriageFact;
use ioxide_report::html::ReportPage;
use ioxide_report::html::campaign::CampaignPage;
use ioxide_report::html::evidence::EvidencePage;
use ioxide_report::html::model::{ModelPart, SwitchReach};
use ioxide_smt::halt::Halted;
use ioxide_testgen::purpose::Criterion;
use thiserror::Error;

use crate::commands::test::hint::facts_of_record;
use crate::exit::CliError;
use crate::purpose_search;
use crate::record_folder::RecordFolder;
use crate::solver::SolverRequest;
use crate::write;
use crate::{limit, load, record};

/// The page next to a record.
const NAME: &str = "report.html";
/// Symbolic states looked at to know which switches can be taken at all. Chosen by feel: it bounds the time.
const MAX_REACHABILITY_STATES: usize = 2_000;
/// The time limit of that search after a campaign. Chosen by feel.
const SEARCH_TIME_LIMIT: Duration = Duration::from_secs(1);

/// The page of `campaign`, which was read from `path`; without the model if that cannot be had.
pub fn page(campaign: CampaignPage, path: &str, model: Option<&str>, solver_args: &SolverArgs) -> ReportPage {
    let mut page = ReportPage { record: path.to_owned(), ..ReportPage::default() };
    match load_named_model(campaign.summary.started.as_ref(), model) {
        Ok((file, sources, spec)) => add_model(&mut page, &campaign, &file, &sources, &spec, solver_args),
        Err(note) => page.notes.push(note.to_string()),
    }
    page.campaign = Some(campaign);
    page
}

/// Writes the page of the record in `folder` next to it; a page that cannot be written is no failure.
pub fn write_beside(
    folder: &RecordFolder,
    (sources, spec): (&Sources, &Model),
    evidence: Option<EvidencePage>,
    solver_args: &SolverArgs,
) {
    match write_page(folder, (sources, spec), evidence, solver_args) {
        Ok(file) => eprintln!("report: {file}"),
        Err(stop) => eprintln!("note: no HTML report: {}", stop.message()),
    }
}

fn write_page(
    folder: &RecordFolder,
    (sources, spec): (&Sources, &Model),
    evidence: Option<EvidencePage>,
    solver_args: &SolverArgs,
) -> Result<String, CliError> {
    let mut page = of_record(&folder.record().display().to_string(), sources, spec, solver_args)?;
    page.evidence = evidence.or(page.evidence);
    let file = folder.path().join(NAME);
    let written = write_whole(&file, FileReaders::Owner, |out| page.write(out));
    written.map_err(|error| write::write_error(&file, &error))?;
    Ok(file.display().to_string())
}

/// The page of the record at `path`, made with `spec`.
pub fn of_record(
    path: &str,
    sources: &Sources,
    spec: &Model,
    solver_args: &SolverArgs,
) -> Result<ReportPage, CliError> {
    let mut campaign = CampaignPage::default();
    record::each_event(path, |event| campaign.event(event))?;
    let file = campaign.summary.started.as_ref().map_or_else(String::new, |told| told.file.clone());
    let mut page = ReportPage { record: path.to_owned(), ..ReportPage::default() };
    add_model(&mut page, &campaign, &file, sources, spec, solver_args);
    page.campaign = Some(campaign);
    Ok(page)
}

/// The reason why a page has no picture of the model.
#[derive(Debug, Error)]
enum ModelNotShown {
    /// The record has no start of a campaign.
    #[error("the record does not name the model that was tested")]
    NoStart,
    /// The campaign was started from no file.
    #[error("the record names no model file; `--model FILE` adds its picture")]
    NoFile,
    /// The file is gone or has errors now.
    #[error("the model is not shown: {0}; `--model FILE` names its new place")]
    Unreadable(String),
}

/// Returns the model of `--model`, else the one that the record names.
fn load_named_model(
    started: Option<&CampaignStarted>,
    typed: Option<&str>,
) -> Result<(String, Sources, Model), ModelNotShown> {
    let started = started.ok_or(ModelNotShown::NoStart)?;
    let file = typed.unwrap_or(&started.file).to_owned();
    if file.is_empty() {
        return Err(ModelNotShown::NoFile);
    }
    match load::load_model(&file, &started.set) {
        Ok((sources, model)) => Ok((file, sources, model)),
        Err(stop) => Err(ModelNotShown::Unreadable(stop.message().to_owned())),
    }
}

/// Returns the evidence about the first failure of the record at `path`; none if nothing failed, or the model cannot
/// be had any more as it was.
pub fn evidence_of(
    path: &str,
    started: Option<&CampaignStarted>,
    model: Option<&str>,
    failed: u64,
) -> Vec<String> {
    if failed == 0 {
        return Vec::new();
    }
    let Ok((_, _, spec)) = load_named_model(started, model) else { return Vec::new() };
    let labels = spec.sts.switches.iter().map(|switch| switch.label.to_string());
    if started.is_some_and(|told| !labels.eq(told.switches.iter().cloned())) {
        return Vec::new();
    }
    facts_of_record(path, &spec).iter().map(TriageFact::text).collect()
}

fn add_model(
    page: &mut ReportPage,
    campaign: &CampaignPage,
    file: &str,
    sources: &Sources,
    spec: &Model,
    solver_args: &SolverArgs,
) {
    let labels = spec.sts.switches.iter().map(|switch| switch.label.to_string());
    if campaign.summary.started.as_ref().is_some_and(|told| !labels.eq(told.switches.iter().cloned())) {
        page.notes.push(format!("the model is not shown: `{file}` has changed since the record was made"));
        return;
    }
    let facts = match campaign.summary.counts.failed {
        0 => Vec::new(),
        _ => facts_of_record(&page.record, spec),
    };
    if !facts.is_empty() {
        let facts = facts.iter().map(TriageFact::text).collect();
        page.evidence = Some(EvidencePage { facts, ..EvidencePage::default() });
    }
    // The page must not keep people waiting for what they did not ask.
    let halt = limit::brief(SEARCH_TIME_LIMIT);
    let reach = a_priori(spec, &SolverRequest::new(solver_args, halt.clone()));
    if halt.halt_reason() == Some(Halted::Time) {
        page.notes.push(format!(
            "ioxide searched only {} s for transitions that can never be taken; `ioxide purposes {file}` \
             searches longer",
            SEARCH_TIME_LIMIT.as_secs()
        ));
    }
    if let Err(stop) = &reach {
        let why = stop.message();
        page.notes.push(format!("transitions that can never be taken are not known: {why}"));
    }
    page.model = Some(ModelPart::new(spec, sources, file, reach.ok().as_ref()));
}

/// Returns for every switch whether a path takes it, as far as the search for purposes knows.
pub fn a_priori(
    spec: &Model,
    request: &SolverRequest<'_>,
) -> Result<IndexVec<SwitchId, SwitchReach>, CliError> {
    let set = purpose_search::find_purposes(
        &mut spec.clone(),
        Criterion::Switches,
        request,
        MAX_REACHABILITY_STATES,
    )?;
    Ok(SwitchReach::from_purposes(&spec.sts, &set))
}
