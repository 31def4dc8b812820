//! A test campaign on the terminal: progress while it goes, the story of every failure, a summary.
//!
//! A reader of events. Results go to one writer, progress to another, so that piped results
//! stay clean. Runs may go on at once.
//!
//! *Promises.* A kind of failure has its story told once; further runs of that kind take a line each,
//! and after [`MAX_REPEATS`] none. What a system says cannot drive the terminal. Same events, same
//! bytes; and short campaigns tell no times, so that they print the same whenever they are run.

mod closing;
mod meter;

use std::io::{self, Write};

use ioxide_runner::event::{
    CampaignStarted, Event, EventKind, Explanation, Replayed, RunOutcome, ShrinkingTold,
};
use ioxide_runner::reporter::Reporter;

use self::meter::SpeedMeter;
use crate::control_characters::excerpt;
use crate::run_number::from_one;
use crate::summary::story::{self, plural};
use crate::summary::{ENDLESS, EndedRun, Novelty, RunSummary, Summary};

/// The number of lines about failures of one kind, or about inconclusive runs for one reason.
pub const MAX_REPEATS: u64 = 20;
/// The number of characters of a text in a line.
const MAX_TEXT: usize = 300;

/// A reporter that writes a campaign for people: progress, stories of failures, a summary.
pub struct TerminalReporter<W: Write, P: FnMut(&str)> {
    out: W,
    /// Shows one line of progress, and takes it away when given an empty one.
    progress: P,
    meter: SpeedMeter,
    summary: Summary,
    is_closed: bool,
}

impl<W: Write, P: FnMut(&str)> TerminalReporter<W, P> {
    /// Returns a reporter that writes results to `out`, and progress to `progress` some ten times a second.
    pub fn new(out: W, progress: P) -> Self {
        Self { out, progress, meter: SpeedMeter::default(), summary: Summary::default(), is_closed: false }
    }

    /// Writes the summary of a campaign without a final event; does nothing if it was written already.
    ///
    /// # Errors
    /// If the results cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        self.is_closed = true;
        self.lines(&closing::lines(&self.summary))
    }

    fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        if self.meter.is_shown() && !lines.is_empty() {
            (self.progress)("");
        }
        lines.iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    fn started(&mut self, told: &CampaignStarted) -> io::Result<()> {
        let short = |text: &str| excerpt(text, MAX_TEXT);
        let runs =
            if told.runs < ENDLESS { format!(", {}", plural(told.runs, "run")) } else { String::new() };
        let jobs = if told.jobs > 1 { format!(", {} at once", told.jobs) } else { String::new() };
        self.lines(&[format!(
            "testing `{}` against {} ({}{runs}{jobs}, seed {})",
            short(&told.model),
            short(&told.sut),
            short(&told.tester),
            told.seed
        )])
    }

    fn ended(&mut self, ended: &EndedRun) -> io::Result<()> {
        let lines = ended_lines(ended, &self.summary);
        self.lines(&lines)
    }

    fn replayed(&mut self, event: &Event, told: &Replayed) -> io::Result<()> {
        let lead = lead(event, told.run);
        self.lines(&[format!("{lead}{}", story::replayed(told))])?;
        self.lines(&story::instead(told))
    }

    fn shrunk(&mut self, event: &Event, run: u64) -> io::Result<()> {
        let kinds = &self.summary.kinds;
        let found = kinds.iter().find_map(|kind| {
            let smaller = kind.smaller.as_ref().filter(|smaller| smaller.run == run)?;
            let is_told = kind.run.number == run && event.run.is_none();
            // The steps of another run, or of one told long ago, are not above.
            let above = if is_told { kind.run.clone() } else { RunSummary::default() };
            Some(story::smaller(smaller, &above))
        });
        let mut lines = found.unwrap_or_default();
        if let (Some(_), Some(first)) = (event.run, lines.first_mut()) {
            *first = format!("run {}: {}", from_one(run), first.trim_start());
        }
        self.lines(&lines)
    }

    fn tick(&mut self, event: &Event) {
        if let Some(line) = self.meter.line(&self.summary, event) {
            (self.progress)(&line);
        }
    }
}

impl<W: Write + Send, P: FnMut(&str) + Send> Reporter for TerminalReporter<W, P> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.tell(event)
    }

    fn shrinking(&mut self, told: &ShrinkingTold) {
        (self.progress)(&story::shrinking(told));
    }
}

impl<W: Write, P: FnMut(&str)> TerminalReporter<W, P> {
    /// Adds an event; for writers that cannot be sent between threads.
    ///
    /// # Errors
    /// If the results cannot be written.
    pub fn tell(&mut self, event: &Event) -> io::Result<()> {
        let ended = self.summary.add(event);
        match &event.event {
            EventKind::CampaignStarted(told) => self.started(told),
            EventKind::Stimulus(_) | EventKind::Observation(_) => {
                self.tick(event);
                Ok(())
            }
            EventKind::RunFinished(_) => ended.map_or(Ok(()), |ended| self.ended(&ended)),
            EventKind::Replayed(told) => self.replayed(event, told),
            EventKind::Shrunk(told) => {
                (self.progress)("");
                self.shrunk(event, told.run)
            }
            EventKind::CampaignFinished(_) => self.finish(),
            EventKind::RunStarted(_)
            | EventKind::Patience(_)
            | EventKind::Verdict(_)
            | EventKind::Trouble(_) => Ok(()),
        }
    }
}

/// Returns the beginning of a line: the number of its run, unless the line stands below that run anyway.
fn lead(event: &Event, run: u64) -> String {
    if event.run.is_some() { format!("run {}: ", from_one(run)) } else { "    ".to_owned() }
}

fn ended_lines(ended: &EndedRun, summary: &Summary) -> Vec<String> {
    let lead = format!("run {}:", from_one(ended.run.number));
    let steps = plural(ended.steps as u64, "step");
    match ended.outcome {
        RunOutcome::Pass => Vec::new(),
        RunOutcome::Inconclusive => {
            let reason = excerpt(ended.run.reason(), MAX_TEXT);
            let n = summary.inconclusive.of(ended.run.reason());
            repeated(format!("{lead} inconclusive after {steps} ({reason})"), n)
        }
        RunOutcome::Fail => failure(&lead, ended, summary),
        RunOutcome::Error => error(&lead, &ended.run, summary),
        RunOutcome::Interrupted => vec![format!("{lead} interrupted after {steps}")],
    }
}

fn failure(lead: &str, ended: &EndedRun, summary: &Summary) -> Vec<String> {
    match ended.novelty {
        Novelty::New(at) => {
            let goal = match &*ended.run.goal {
                "" => String::new(),
                goal => format!(", {}", excerpt(goal, MAX_TEXT)),
            };
            let mut lines = vec![format!("{lead} FAIL at step {}{goal}", ended.steps)];
            lines.extend(story::ending(&summary.kinds[at].run));
            lines
        }
        Novelty::Known(at) => {
            let kind = &summary.kinds[at];
            let line = format!("{lead} FAIL as in run {}: {}", from_one(kind.run.number), kind.signature);
            repeated(line, kind.runs - 1)
        }
        Novelty::Unlisted | Novelty::None => {
            let signature = excerpt(ended.run.signature(), MAX_TEXT);
            repeated(format!("{lead} FAIL at step {}: {signature}", ended.steps), summary.unlisted)
        }
    }
}

fn error(lead: &str, run: &RunSummary, summary: &Summary) -> Vec<String> {
    let Some(trouble) = &run.trouble else {
        return vec![format!("{lead} ERROR, no verdict: the system could not be reached")];
    };
    let line = format!("{lead} ERROR, no verdict: {}", excerpt(&trouble.error, MAX_TEXT));
    let n = summary.errors.of(&trouble.error);
    let mut lines = repeated(line, n);
    if n <= MAX_REPEATS {
        lines.extend(story::trouble(trouble));
    }
    lines
}

/// Returns `line`, the `n`-th of its kind: with a remark if it is number [`MAX_REPEATS`], nothing beyond that.
fn repeated(line: String, n: u64) -> Vec<String> {
    match n {
        n if n > MAX_REPEATS => Vec::new(),
        MAX_REPEATS => vec![format!("{line}; more of these are only counted")],
        _ => vec![line],
    }
}

/// Writes the observation, the labels allowed in its place, the states the model may have been in, and the reasons.
///
/// # Errors
/// If `out` cannot be written.
pub fn explanation(told: &Explanation, out: &mut impl Write) -> io::Result<()> {
    let lines = story::observed(told).into_iter().chain(story::reasons(told));
    lines.into_iter().try_for_each(|line| writeln!(out, "{line}"))
}

#[cfg(test)]
mod tests;
