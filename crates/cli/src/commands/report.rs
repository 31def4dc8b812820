//! `ioxide report`: shows a recorded campaign, for people and for other programs.
//!
//! The record is read event by event: its size does not matter. Files are written once all of it
//! has been read, so a damaged record leaves none behind.

use std::fs::File;
use std::io::{self, BufWriter, Cursor, Write};
use std::path::Path;

use ioxide_args::{CliCommand, ReportArgs, ScriptArg};
use ioxide_campaign::gather::GatheredParts;

use ioxide_record::event::{Event, EventKind, HttpExchange, ShrunkRecord};
use ioxide_record::format::Recorder;
use ioxide_record::reporter::Reporter;
use ioxide_report::html::campaign::CampaignPage;
use ioxide_report::http::har::write_har;
use ioxide_report::junit::JunitReport;
use ioxide_report::markdown;
use ioxide_report::run_number::number_from_one;
use ioxide_report::script::{ScriptLanguage, write_script};
use ioxide_report::summary::Summary;
use ioxide_report::terminal::TerminalReporter;
use tempfile::TempDir;

use super::test::parts::{PreparedCampaign, WholeCampaign};
use super::{merge, rounds};
use crate::exit::{CliError, ExitStatus};
use crate::progress::ProgressLine;
use crate::{html, limit, record, write};

/// Writes the reports asked for, or the one of the terminal if none is.
pub fn run(args: &ReportArgs) -> Result<ExitStatus, CliError> {
    if let Some(so_far) = merge_finished_parts(args)? {
        let run = so_far.path().display().to_string();
        return run_report(&ReportArgs { run, ..args.clone() });
    }
    run_report(args)
}

/// The record of a campaign in parts, as far as it has come, in a folder of its own.
fn merge_finished_parts(args: &ReportArgs) -> Result<Option<TempDir>, CliError> {
    let dir = Path::new(&args.run);
    if !dir.join("part.json").exists() && !dir.join("campaign.json").exists() {
        return Ok(None);
    }
    let mut parts = limit::reading(|| GatheredParts::new(&[dir.to_path_buf()]))?;
    let what = merge::command(&parts)?;
    rounds::remove_settled(&what, &mut parts, &args.solver)?;
    let CliCommand::Test(test) = what else {
        return Err(CliError::usage(format!("`{}` has no runs to report on", args.run))
            .help("`ioxide merge` shows its results"));
    };
    eprintln!("{} of {} units are done", parts.n_done(), parts.manifest.count);
    let folder = tempfile::tempdir()?;
    let file = File::create(folder.path().join("campaign.jsonl"))?;
    let mut recorder = Recorder::new(BufWriter::new(file))?;
    let prepared = PreparedCampaign::nowhere(&test, &args.solver)?;
    WholeCampaign::merge(prepared, &mut parts, &mut recorder, &args.solver)?;
    Ok(Some(folder))
}

fn run_report(args: &ReportArgs) -> Result<ExitStatus, CliError> {
    if let Some(script) = args.script {
        return print_script(args, script_language(script));
    }
    if args.number.is_some() && args.har.is_none() {
        return Err(CliError::usage("`--number` needs `--script` or `--har`"));
    }
    let is_stdout = |file: &Option<String>| file.as_deref() == Some("-");
    let to_stdout = [
        is_stdout(&args.junit),
        is_stdout(&args.markdown),
        is_stdout(&args.html),
        is_stdout(&args.har),
        args.json,
    ];
    if to_stdout.iter().filter(|&&is_there| is_there).count() > 1 {
        return Err(
            CliError::usage("two reports cannot both go to stdout").help("name a file for one of them")
        );
    }
    let files = [&args.junit, &args.markdown, &args.html, &args.har];
    if files.iter().all(|file| file.is_none()) && !args.json {
        return print_report(args);
    }
    let mut evidence = Vec::new();
    if args.junit.is_some() || args.markdown.is_some() {
        let mut known = Summary::default();
        record::each_event(&args.run, |event: &Event| known.event(event))?;
        let (started, failed) = (known.started.as_ref(), known.counts.failed);
        evidence = html::evidence_of(&args.run, started, args.model.as_deref(), failed);
    }
    let mut junit = args.junit.as_ref().map(|_| JunitReport::new(Cursor::new(Vec::new())));
    let mut campaign = args.html.as_ref().map(|_| CampaignPage::default());
    junit.iter_mut().for_each(|junit| junit.set_evidence(evidence.clone()));
    let mut summary = Summary::default();
    summary.evidence = evidence;
    let mut archived = ArchivedRun::default();
    record::each_event(&args.run, |event: &Event| {
        junit.iter_mut().try_for_each(|junit| junit.event(event))?;
        campaign.iter_mut().try_for_each(|campaign| campaign.event(event))?;
        archived.add_event(event, args.number);
        summary.event(event)
    })?;
    if let (Some(file), Some(mut junit)) = (&args.junit, junit) {
        junit.finish()?;
        write::write_named(file, |out| out.write_all(junit.into_inner().get_ref()))?;
    }
    if let Some(file) = &args.markdown {
        write::write_named(file, |out| {
            out.write_all(markdown::markdown_page(&summary, &args.run).as_bytes())
        })?;
    }
    if let (Some(file), Some(campaign)) = (&args.html, campaign) {
        let page = html::page(campaign, &args.run, args.model.as_deref(), &args.solver);
        write::write_named(file, |out| page.write(out))?;
    }
    if let Some(file) = &args.har {
        let archive = archived.archive(&args.run)?;
        write::write_named(file, |out| writeln!(out, "{archive:#}"))?;
    }
    if args.json {
        writeln!(io::stdout(), "{}", summary.to_json())?;
    }
    Ok(ExitStatus::Success)
}

/// The requests of the failing run that an HTTP Archive shows.
#[derive(Default)]
struct ArchivedRun {
    /// The run, from 0, and whether it was made smaller.
    run: Option<(u64, bool)>,
    exchanges: Vec<HttpExchange>,
}

impl ArchivedRun {
    /// Takes the requests of the first failing run, or of the one with this number; those of its smaller run instead,
    /// if there is one.
    fn add_event(&mut self, event: &Event, number: Option<u64>) {
        let is_wanted = |run: u64| number.is_none_or(|number| number_from_one(run) == number);
        match &event.event {
            EventKind::RunStarted(told) if self.exchanges.is_empty() => self.run = Some((told.run, false)),
            EventKind::Verdict(told) if self.exchanges.is_empty() => {
                let run = event.run.or(self.run.map(|(run, _)| run)).unwrap_or_default();
                if is_wanted(run) && !told.exchanges.is_empty() {
                    (self.run, self.exchanges) = (Some((run, false)), told.exchanges.clone());
                }
            }
            // The first that was made smaller comes before one that was not.
            EventKind::Shrunk(told)
                if is_wanted(told.run)
                    && !told.exchanges.is_empty()
                    && self.run.is_none_or(|(run, is_smaller)| !is_smaller || run == told.run) =>
            {
                (self.run, self.exchanges) = (Some((told.run, true)), told.exchanges.clone());
            }
            _ => (),
        }
    }

    /// Returns the requests of the failing run as an HTTP archive; fails if it has none.
    fn archive(&self, record: &str) -> Result<serde_json::Value, CliError> {
        let Some((run, _)) = self.run.filter(|_| !self.exchanges.is_empty()) else {
            return Err(CliError::new(
                ExitStatus::Nothing,
                format!("no failing run of `{record}` has requests by HTTP"),
            ));
        };
        Ok(write_har(&self.exchanges, &format!("failing run {}", number_from_one(run))))
    }
}

/// The report of the terminal, as if the campaign went on now.
fn print_report(args: &ReportArgs) -> Result<ExitStatus, CliError> {
    let mut progress = ProgressLine::start();
    let mut terminal = TerminalReporter::new(io::stdout().lock(), |line: &str| progress.show_line(line));
    record::each_event(&args.run, |event: &Event| terminal.add_event(event))?;
    terminal.finish()?;
    Ok(ExitStatus::Success)
}

fn script_language(arg: ScriptArg) -> ScriptLanguage {
    match arg {
        ScriptArg::Curl => ScriptLanguage::Curl,
        ScriptArg::Nc => ScriptLanguage::Netcat,
        ScriptArg::Python | ScriptArg::Pytest => ScriptLanguage::Python,
        ScriptArg::Rust => ScriptLanguage::Rust,
    }
}

/// Prints a program that repeats a failing run without ioxide.
fn print_script(args: &ReportArgs, language: ScriptLanguage) -> Result<ExitStatus, CliError> {
    let (mut model, mut smaller) = (String::new(), None);
    record::each_event(&args.run, |event: &Event| {
        match &event.event {
            EventKind::CampaignStarted(told) => model.clone_from(&told.model),
            EventKind::Shrunk(told) => {
                let is_it = args.number.is_none_or(|number| number_from_one(told.run) == number);
                // A later one of the same run is smaller.
                let is_newer = smaller.as_ref().is_none_or(|old: &ShrunkRecord| old.run == told.run);
                if is_it && is_newer {
                    smaller = Some(told.clone());
                }
            }
            _ => (),
        }
        Ok(())
    })?;
    let nothing = |why: String| CliError::new(ExitStatus::Nothing, why);
    let Some(smaller) = smaller else {
        return Err(nothing(format!("no failing run of `{}` was made smaller", args.run))
            .help("`ioxide shrink` makes one smaller; without `--no-shrink`, `ioxide test` does"));
    };
    let run = number_from_one(smaller.run);
    let Some(script) = &smaller.script else {
        let why = smaller.no_script.as_deref().unwrap_or("the system is not reached by messages");
        let text = format!("run {run} of `{}` cannot be repeated without ioxide: {why}", args.run);
        return Err(nothing(text).help(
            "a script needs connections by HTTP, TCP or the standard streams of a command, and no secret fields",
        ));
    };
    let Some(text) = write_script(script, language, &model) else {
        let can = |other: &ScriptLanguage| write_script(script, *other, &model).is_some();
        let others: Vec<&str> =
            ScriptLanguage::ALL.iter().filter(|other| can(other)).map(|other| other.word()).collect();
        return Err(nothing(format!("run {run} cannot be written in {}", language.title()))
            .help(format!("`--script {}` can", others.join("`, `--script "))));
    };
    write!(io::stdout(), "{text}")?;
    Ok(ExitStatus::Success)
}
