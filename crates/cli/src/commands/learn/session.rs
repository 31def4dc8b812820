//! A session on disk: every reset and every answer, a line each, as they come.
//!
//! The first line says what is learned with which inputs, from which system, and when that began. A session of another
//! system is refused, and some of its answers are asked again before it goes on. Later lines are only ever added, so a
//! session that is killed has lost nothing but the line it was writing. A session that goes on asks the same questions
//! in the same order and has the old answers from the file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use ioxide_args::LearnArgs;
use ioxide_campaign::part::{SystemFacts, system_difference};
use ioxide_explorer::learning::LearningMeter;
use ioxide_learn::messages::DataRun;
use ioxide_learn::system::AnswerStore;
use ioxide_model::label::{Label, input_name};
use ioxide_model::sts::Model;
use ioxide_record::json;
use ioxide_record::value::{WireMessage, label_from_json, label_to_json};
use serde_json::{Value as Json, json};

use crate::commands::fsm::live::LiveTestError;
use crate::exit::CliError;
use crate::{identity, redaction, timing, write};

/// The name of the format.
const FORMAT: &str = "ioxide-learn-session";
/// The version written here.
const VERSION: u32 = 1;
/// The line of a reset.
const RESET: &str = "{\"reset\":true}\n";

/// A session being written, if there is a file for it.
pub struct SessionFile<'m> {
    out: Option<File>,
    path: String,
    model: &'m Model,
    /// The meter that counts resets and inputs for the page.
    meter: LearningMeter,
}

/// The lines of a session that was begun before.
#[derive(Default)]
pub struct EarlierLines {
    /// The lines behind the header.
    text: String,
    /// The time at which the session began; `None` if it begins now, or an earlier version wrote it.
    pub started: Option<String>,
    /// True if the header says of which system it is.
    pub is_identified: bool,
}

impl EarlierLines {
    /// Returns the time of `n` earlier runs in words; `None` if there are none.
    pub fn date_text(&self, n: usize) -> Option<String> {
        let started = self.started.as_deref().unwrap_or("an unknown date");
        (n > 0).then(|| format!("{n} of these runs are from a session of {started}"))
    }

    /// Reads the runs; `read_input` reads an input. A line that was cut off ends its run.
    pub fn read_runs(&self, model: &Model, read_input: impl Fn(&str) -> Option<Label>) -> Vec<DataRun> {
        split_runs(&self.text, |line| {
            Some((read_input(line.get("input")?.as_str()?)?, parse_outputs(line, model)?))
        })
    }
}

impl<'m> SessionFile<'m> {
    /// Opens the session file of `--session`, if there is one, for messages of `model` and these inputs; returns also
    /// the lines behind its header.
    pub fn open(
        args: &LearnArgs,
        model: &'m Model,
        inputs: &[String],
        meter: LearningMeter,
    ) -> Result<(Self, EarlierLines), CliError> {
        let Some(path) = args.session.clone() else {
            return Ok((Self { out: None, path: String::new(), model, meter }, EarlierLines::default()));
        };
        let system = identity::all_facts(args.sut.as_deref().unwrap_or_default(), &args.model.settings())?;
        let header = json!({
            "format": FORMAT, "version": VERSION, "model": model.sts.name.to_string(), "inputs": inputs,
            "system": system, "started": timing::current_date(),
        });
        let cannot = |error: io::Error| write::write_error(&path, &error);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(cannot)?;
        write::lock_for_writing(&file, &path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(|error| CliError::usage(format!("cannot read `{path}`: {error}")))?;
        let no_session =
            || CliError::usage(format!("`{path}` is not a session of this model with these inputs"));
        let rest = match text.split_once('\n') {
            // A first line that was cut off has no answer after it; anything else is not ours.
            None if !is_start_of_header(&text) => {
                return Err(no_session().help("name another file; this one stays as it is"));
            }
            None => {
                let begun = file.set_len(0).and_then(|()| file.write_all(format!("{header}\n").as_bytes()));
                begun.map_err(cannot)?;
                EarlierLines::default()
            }
            Some((first, rest)) => {
                let there: Json = json::read(first).unwrap_or_default();
                let is_same = |name: &str| there[name] == header[name];
                if !["format", "model", "inputs"].into_iter().all(is_same) {
                    return Err(no_session().help("name another file; this session stays as it is"));
                }
                let is_identified = is_of_system(&there, &system, &path)?;
                if !text.ends_with('\n') {
                    // What was cut off does not spoil the next line.
                    writeln!(file).map_err(cannot)?;
                }
                let started = there["started"].as_str().map(str::to_owned);
                EarlierLines { text: rest.to_owned(), started, is_identified }
            }
        };
        Ok((Self { out: Some(file), path, model, meter }, rest))
    }

    /// Adds whole lines in one write, so that a reader between two writes sees whole lines.
    fn add(&mut self, lines: impl FnOnce(&Model) -> String) -> Result<(), LiveTestError> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let lines = lines(self.model);
        // A later session would take what stands in place of the secret for the answer.
        if redaction::is_in(&lines) {
            eprintln!(
                "note: the session `{}` is not saved from here on: a reply contains a secret",
                self.path
            );
            self.out = None;
            return Ok(());
        }
        let written = out.write_all(lines.as_bytes());
        written.map_err(|error| LiveTestError::Stop(Box::new(write::write_error(&self.path, &error))))
    }
}

impl AnswerStore<LiveTestError> for SessionFile<'_> {
    fn keep_reset(&mut self) -> Result<(), LiveTestError> {
        self.meter.count(1, 0);
        self.add(|_| RESET.to_owned())
    }

    fn keep_step(&mut self, input: &Label, outputs: &[Label]) -> Result<(), LiveTestError> {
        self.meter.count(0, 1);
        self.add(|model| step_line(model, input, outputs))
    }

    fn keep_run(&mut self, run: &DataRun) -> Result<(), LiveTestError> {
        self.meter.count(1, run.len() as u64);
        self.add(|model| {
            let steps = run.iter().map(|(input, said)| step_line(model, input, said));
            [RESET.to_owned()].into_iter().chain(steps).collect()
        })
    }
}

/// Returns whether `text` is the beginning of the first line of a session.
fn is_start_of_header(text: &str) -> bool {
    let start = format!("{{\"format\":\"{FORMAT}\"");
    text.starts_with(&start) || start.starts_with(text)
}

/// Checks that a session is of this system; returns whether its header says so. One of an earlier version does not, and
/// one of another system is an error.
fn is_of_system(header: &Json, system: &SystemFacts, path: &str) -> Result<bool, CliError> {
    let Ok(before) = serde_json::from_value::<SystemFacts>(header["system"].clone()) else {
        eprintln!(
            "note: `{path}` was made by an earlier version of ioxide, which did not record the system: more \
             of its queries are repeated"
        );
        return Ok(false);
    };
    match system_difference(&before, system) {
        None => Ok(true),
        Some(why) => Err(CliError::usage(format!("`{path}` is a session of another system: {why}"))
            .help("name another file to learn this system from the start; this session stays as it is")),
    }
}

/// Returns the line of an input and the outputs that answered it.
fn step_line(model: &Model, input: &Label, said: &[Label]) -> String {
    let input = input_name(&model.pool, &model.sts, input);
    let said: Vec<Json> = said
        .iter()
        .filter_map(|label| label_to_json(&model.pool, &model.sts, label))
        .map(|message| json!({ "label": message.label, "args": message.args }))
        .collect();
    format!("{}\n", json!({ "input": input, "said": said }))
}

/// Returns the runs of a session, step by step; a line that was cut off ends its run.
fn split_runs<T>(text: &str, mut step: impl FnMut(&Json) -> Option<T>) -> Vec<Vec<T>> {
    let mut runs: Vec<Vec<T>> = Vec::new();
    let mut is_whole = false;
    for line in text.lines().filter(|line| !line.is_empty()) {
        let Ok(line) = json::read::<Json>(line) else {
            is_whole = false;
            continue;
        };
        if line.get("reset").is_some() {
            runs.push(Vec::new());
            is_whole = true;
            continue;
        }
        match (step(&line), runs.last_mut()) {
            (Some(step), Some(run)) if is_whole => run.push(step),
            _ => is_whole = false,
        }
    }
    runs
}

fn parse_outputs(line: &Json, model: &Model) -> Option<Vec<Label>> {
    let said = line.get("said")?.as_array()?.iter().map(|message| {
        let label = message.get("label")?.as_str()?.to_owned();
        let args = message.get("args").and_then(Json::as_object).cloned().unwrap_or_default();
        label_from_json(model, &WireMessage { label, args }, |_| true).ok()
    });
    said.collect()
}
