//! A session on disk: every reset and every answer, a line each, as they come.
//!
//! The first line says what is learned with which inputs, from which system, and when that began. A session of another
//! system is refused, and some of its answers are asked again before it goes on. Later lines are only ever added, so a session that is
//! killed has lost nothing but the line it was writing. A session that goes on asks the same questions in the same
//! order and has the old answers from the file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use ioxide_campaign::part::{SystemFacts, system_difference};
use ioxide_explorer::learning::LearningMeter;
use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::word::{IoWord, Word};
use ioxide_learn::observer::LearningEffort;
use ioxide_learn::tree::ObservationTree;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_runner::codec::{WireMessage, label_from_json, label_to_json, typed};
use ioxide_runner::json;
use ioxide_testgen::abstraction::input_name;
use serde_json::{Value as Json, json};

use super::again::{self, AnswerDetail};
use super::copies::{AnsweredRun, WorkerPool};
use crate::args::LearnArgs;
use crate::commands::fsm::live::{LiveSystem, LiveTestError};
use crate::exit::CliError;
use crate::machine::Messages;
use crate::{date, identity, redaction, write};

/// The name of the format.
const FORMAT: &str = "ioxide-learn-session";
/// The version written here.
const VERSION: u32 = 1;

/// A session being written.
pub struct SessionFile {
    out: Option<File>,
    path: String,
    /// Runs with values since [`take_remembered`](Self::take_remembered) was last called.
    recent: Vec<DataRun>,
    /// The meter that counts resets and inputs for the page.
    pub meter: LearningMeter,
}

/// A run: inputs with values, each with the outputs that answered it.
pub type DataRun = Vec<(Label, Vec<Label>)>;

/// The runs of earlier sessions, and those recorded elsewhere.
#[derive(Default)]
pub struct EarlierSessions {
    runs: Vec<IoWord>,
    recorded: Vec<IoWord>,
    /// The time and the number of runs of earlier sessions, in words; `None` if there are none.
    pub dated: Option<String>,
}

/// The lines of a session that was begun before.
#[derive(Default)]
pub struct EarlierLines {
    /// The lines behind the header.
    pub text: String,
    /// The time at which the session began; `None` if it begins now, or an earlier version wrote it.
    pub started: Option<String>,
    /// True if the header says of which system it is.
    pub is_identified: bool,
}

impl EarlierLines {
    /// Returns the time of `n` earlier runs in words; `None` if there are none.
    pub fn date_text(&self, n: usize) -> Option<String> {
        let started = self.started.as_deref().unwrap_or("an unknown date");
        (n > 0).then(|| format!("{} of these runs were not made now: they are of a session of {started}", n))
    }
}

impl EarlierSessions {
    /// Returns all runs as a tree; of runs that contradict each other, the first counts.
    pub fn tree(&self, n_inputs: usize) -> ObservationTree {
        let mut tree = ObservationTree::new(n_inputs);
        for run in self.runs.iter().chain(&self.recorded) {
            // A contradiction was told when it was seen, and will be again.
            let _ = tree.insert_run(run);
        }
        tree
    }

    /// Adds runs that were recorded elsewhere: known, and not asked in any session.
    pub fn add_recorded(&mut self, runs: Vec<IoWord>) {
        self.recorded = runs;
    }

    /// Returns the effort of all sessions together; recorded runs cost nothing.
    pub fn effort(&self, now: LearningEffort) -> LearningEffort {
        let symbols = self.runs.iter().map(|run| run.len() as u64).sum();
        now.plus(LearningEffort { resets: self.runs.len() as u64, symbols })
    }
}

impl SessionFile {
    /// Opens the session file of `--session`, if there is one, and reads its runs.
    pub fn open(
        args: &LearnArgs,
        messages: &Messages,
        live: &mut LiveSystem<'_>,
    ) -> Result<(Self, EarlierSessions), CliError> {
        let inputs: Vec<&String> = messages.inputs.keys().collect();
        let (file, lines) = Self::open_session(args, messages, &inputs)?;
        let label = |line: &Json| {
            let (input, said) = parse_step(line, messages)?;
            Some((messages.inputs.values().nth(input.index())?.clone(), said))
        };
        again::check(args, &lines, split_runs(&lines.text, label), AnswerDetail::Values, live)?;
        let runs = runs(&lines.text, messages, live);
        let dated = lines.date_text(runs.len());
        Ok((file, EarlierSessions { runs, recorded: Vec::new(), dated }))
    }

    /// Opens the session of these inputs; returns also the lines behind its header.
    pub fn open_session(
        args: &LearnArgs,
        messages: &Messages,
        inputs: &[&String],
    ) -> Result<(Self, EarlierLines), CliError> {
        let Some(path) = args.session.clone() else {
            return Ok((Self::without_file(), EarlierLines::default()));
        };
        let system = identity::all_facts(args.sut.as_deref().unwrap_or_default(), &args.model.settings())?;
        let header = json!({
            "format": FORMAT, "version": VERSION, "model": messages.model.sts.name.to_string(), "inputs": inputs,
            "system": system, "started": date::current_date(),
        });
        let cannot = |error: io::Error| write::write_error(&path, &error);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(cannot)?;
        write::lock_for_writing(&file, &path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(|error| CliError::usage(format!("cannot read `{path}`: {error}")))?;
        let no_session =
            || CliError::usage(format!("`{path}` is no session of this model with these inputs"));
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
                    return Err(no_session().help("name another file; the session keeps what it has"));
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
        Ok((Self { out: Some(file), path, ..Self::without_file() }, rest))
    }

    /// Returns and forgets the runs with values since the last call.
    pub fn take_remembered(&mut self) -> Vec<DataRun> {
        std::mem::take(&mut self.recent)
    }

    /// Forgets the last `n` runs with values except number `at` of them, from 0.
    pub fn keep_only(&mut self, n: usize, at: usize) {
        let mut last = self.recent.split_off(self.recent.len().saturating_sub(n));
        if at < last.len() {
            self.recent.push(last.swap_remove(at));
        }
    }

    /// Adds a reset before inputs with values.
    pub fn reset(&mut self) -> Result<(), LiveTestError> {
        self.meter.count(1, 0);
        self.recent.push(DataRun::new());
        self.add(RESET)
    }

    /// Adds an input with its values, and the outputs that answered it.
    pub fn add_message(
        &mut self,
        live: &LiveSystem<'_>,
        input: &Label,
        said: &[Label],
    ) -> Result<(), LiveTestError> {
        self.meter.count(0, 1);
        if let Some(run) = self.recent.last_mut() {
            run.push((input.clone(), said.to_vec()));
        }
        if self.out.is_none() {
            return Ok(());
        }
        let model = live.model();
        self.add(&session_line(model, &input_name(&model.pool, &model.sts, input), said))
    }

    /// Adds a run with values that is over.
    pub fn add_whole_run(&mut self, model: &Model, run: &DataRun) -> Result<(), LiveTestError> {
        self.meter.count(1, run.len() as u64);
        self.recent.push(run.clone());
        let step = |(input, said): &(Label, Vec<Label>)| {
            session_line(model, &input_name(&model.pool, &model.sts, input), said)
        };
        let lines: String = [RESET.to_owned()].into_iter().chain(run.iter().map(step)).collect();
        self.add(&lines)
    }

    /// Returns a session without a file: runs with values are remembered all the same.
    pub fn without_file() -> Self {
        Self { out: None, path: String::new(), recent: Vec::new(), meter: LearningMeter::default() }
    }

    /// Adds whole lines in one write, so that a reader between two writes sees whole lines.
    fn add(&mut self, lines: &str) -> Result<(), LiveTestError> {
        let Some(out) = &mut self.out else { return Ok(()) };
        // A later session would take what stands in place of the secret for the answer.
        if redaction::is_in(lines) {
            eprintln!(
                "note: the session `{}` is not kept from here on: there is a secret in an answer",
                self.path
            );
            self.out = None;
            return Ok(());
        }
        let written = out.write_all(lines.as_bytes());
        written.map_err(|error| LiveTestError::Stop(Box::new(write::write_error(&self.path, &error))))
    }

    /// Adds a run that is over.
    fn add_run(&mut self, live: &LiveSystem<'_>, run: &AnsweredRun) -> Result<(), LiveTestError> {
        self.meter.count(1, run.len() as u64);
        let steps = run.iter().map(|(input, said)| step_line(live, *input, said));
        let lines: String = [RESET.to_owned()].into_iter().chain(steps).collect();
        self.add(&lines)
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
            "note: `{path}` is of an earlier version, which does not say of which system it is: more of its answers \
             are asked again"
        );
        return Ok(false);
    };
    match system_difference(&before, system) {
        None => Ok(true),
        Some(why) => Err(CliError::usage(format!("`{path}` is a session of another system: {why}"))
            .help("name another file, and learn this system from the start; the session keeps what it has")),
    }
}

/// The line of a reset.
const RESET: &str = "{\"reset\":true}\n";

/// Returns the line of an input and the outputs that answered it.
fn step_line(live: &LiveSystem<'_>, input: InputId, said: &[Label]) -> String {
    session_line(live.model(), &live.names().inputs[input], said)
}

fn session_line(model: &Model, input: &str, said: &[Label]) -> String {
    let said: Vec<Json> = said
        .iter()
        .filter_map(|label| label_to_json(&model.pool, &model.sts, label))
        .map(|message| json!({ "label": message.label, "args": message.args }))
        .collect();
    format!("{}\n", json!({ "input": input, "said": said }))
}

/// The runs of a session whose inputs have any values.
pub fn data_runs(text: &str, model: &Model) -> Vec<DataRun> {
    let step = |line: &Json| {
        let typed = typed::read_message(&model.pool, &model.sts, line.get("input")?.as_str()?).ok()?;
        Some((typed.label(&model.sts)?, parse_outputs(line, model)?))
    };
    split_runs(text, step)
}

/// The runs of a session.
fn runs(text: &str, messages: &Messages, live: &mut LiveSystem<'_>) -> Vec<IoWord> {
    split_runs(text, |line| parse_step(line, messages).map(|(input, said)| (input, live.intern_answer(said))))
}

/// The runs of a session, step by step; a line that was cut off ends its run.
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

fn parse_step(line: &Json, messages: &Messages) -> Option<(InputId, Vec<Label>)> {
    let name = line.get("input")?.as_str()?;
    let input = messages.inputs.keys().position(|known| known == name)?;
    Some((InputId::new(input), parse_outputs(line, &messages.model)?))
}

fn parse_outputs(line: &Json, model: &Model) -> Option<Vec<Label>> {
    let said = line.get("said")?.as_array()?.iter().map(|message| {
        let label = message.get("label")?.as_str()?.to_owned();
        let args = message.get("args").and_then(Json::as_object).cloned().unwrap_or_default();
        label_from_json(model, &WireMessage { label, args }, |_| true).ok()
    });
    said.collect()
}

/// A system whose every answer is kept.
pub struct KeptAnswers<'a> {
    /// The system.
    pub live: LiveSystem<'a>,
    /// The session file that keeps the answers.
    pub file: SessionFile,
    /// Copies of the system.
    pub crew: Option<WorkerPool<'a, Word>>,
}

impl LiveMachine for KeptAnswers<'_> {
    type Error = LiveTestError;

    fn reset(&mut self) -> Result<(), LiveTestError> {
        self.live.reset()?;
        self.file.meter.count(1, 0);
        self.file.add(RESET)
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, LiveTestError> {
        let output = self.live.step(input)?;
        self.file.meter.count(0, 1);
        if self.file.out.is_some() {
            let said = self.live.answers().get(&output).map_or(&[][..], Vec::as_slice);
            self.file.add(&step_line(&self.live, input, said))?;
        }
        Ok(output)
    }

    fn width(&self) -> usize {
        1 + self.crew.as_ref().map_or(0, WorkerPool::size)
    }

    fn ask_all(&mut self, words: &[Word]) -> Result<Vec<IoWord>, LiveTestError> {
        let Self { live, file, crew } = self;
        let Some(crew) = crew else { return Ok(Vec::new()) };
        let heard = crew.ask_all(words, live, |live, run| file.add_run(live, run))?;
        let noted = |run: AnsweredRun| {
            run.into_iter().map(|(input, said)| (input, live.intern_answer(said))).collect()
        };
        Ok(heard.into_iter().map(noted).collect())
    }
}
