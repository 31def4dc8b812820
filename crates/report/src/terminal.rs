//! A test campaign on the terminal: progress, every kind of failure, a summary.
//!
//! A reader of events. Results go to one writer, progress to another, so that piped results
//! stay clean. Runs may go on at once.
//!
//! *Promises.* A kind of failure has its story told once: that of its smallest run, or of the run as found if none
//! became smaller. Further runs of that kind take a line each, and after [`MAX_REPEATS`] none. Inconclusive runs take a
//! few lines, however many there are. What a system says cannot drive the terminal. Same events, same bytes; and short
//! campaigns tell no times, so that they print the same whenever they are run.

mod closing;
pub mod colours;
mod meter;

use std::io::{self, Write};

use ioxide_record::event::{
    CampaignStarted, Event, EventKind, Explanation, Replayed, RunOutcome, ShrinkingRecord,
};
use ioxide_record::reporter::Reporter;

use self::meter::SpeedMeter;
use crate::control_characters::excerpt;
use crate::run_number::number_from_one;
use crate::summary::lines::{self, plural};
use crate::summary::{ENDLESS, EndedRun, Novelty, RunSummary, Summary};

/// The number of lines about failures of one kind, or about errors with one reason. Chosen by feel: more is not read.
pub const MAX_REPEATS: u64 = 20;
/// The number of inconclusive runs with a line of their own; the summary has one line about the others. Chosen by feel:
/// the first ones show what goes wrong, and a failure must not be lost among them.
const MAX_INCONCLUSIVE: u64 = 3;
/// The number of characters of a text in a line. Chosen by feel, for a few lines of a terminal; the record has the
/// whole text.
const MAX_TEXT: usize = 300;

/// The amount of detail at the end of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosingDetail {
    /// The outcome and, if nothing failed, the transitions covered.
    Short,
    /// Also inputs, other coverage, response times and the time for silence.
    Full,
}

/// A reporter that writes a campaign for people: progress, stories of failures, a summary.
pub struct TerminalReporter<W: Write, P: FnMut(&str)> {
    out: W,
    /// Shows one line of progress, and takes it away when given an empty one.
    progress: P,
    meter: SpeedMeter,
    summary: Summary,
    pending: Vec<PendingStory>,
    detail: ClosingDetail,
    is_closed: bool,
}

/// A failure of a new kind, which is shown when it is known whether a smaller run takes its place.
struct PendingStory {
    /// The number of the run.
    run: u64,
    /// The position of its kind.
    kind: usize,
    /// The lines about its repetitions.
    replayed: Vec<String>,
    /// True if other runs may be reported between its lines.
    is_among_others: bool,
}

impl<W: Write, P: FnMut(&str)> TerminalReporter<W, P> {
    /// Returns a reporter that writes results to `out`, and progress to `progress` some ten times a second.
    pub fn new(out: W, progress: P) -> Self {
        Self {
            out,
            progress,
            meter: SpeedMeter::default(),
            summary: Summary::default(),
            pending: Vec::new(),
            detail: ClosingDetail::Full,
            is_closed: false,
        }
    }

    /// Sets how much the end of the campaign says; everything if it is not set.
    #[must_use]
    pub fn with_detail(self, detail: ClosingDetail) -> Self {
        Self { detail, ..self }
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
        self.write_pending_stories()?;
        self.write_lines(&closing::closing_lines(&self.summary, self.detail))
    }

    /// Returns whether the model was generated and its names are not wanted: failures are then told in the words of
    /// HTTP alone, and goals that were not reached are only counted, since valid requests cannot reach many refusals.
    fn is_quiet(&self) -> bool {
        self.detail == ClosingDetail::Short && self.summary.operations.is_described()
    }

    fn write_lines(&mut self, lines: &[String]) -> io::Result<()> {
        if self.meter.is_shown() && !lines.is_empty() {
            (self.progress)("");
        }
        lines.iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    fn write_start(&mut self, started: &CampaignStarted) -> io::Result<()> {
        let short = |text: &str| excerpt(text, MAX_TEXT);
        let runs =
            if started.runs < ENDLESS { format!(", {}", plural(started.runs, "run")) } else { String::new() };
        let jobs = if started.jobs > 1 { format!(", {} at once", started.jobs) } else { String::new() };
        self.write_lines(&[format!(
            "testing `{}` against {} ({}{runs}{jobs}, seed {})",
            short(&started.model),
            short(&started.sut),
            short(&started.tester),
            started.seed
        )])
    }

    fn write_ended_run(&mut self, event: &Event, ended_run: &EndedRun) -> io::Result<()> {
        if let (RunOutcome::Fail, Novelty::New(kind)) = (ended_run.outcome, ended_run.novelty) {
            let (run, is_among_others) = (ended_run.run.number, event.run.is_some());
            self.pending.push(PendingStory { run, kind, replayed: Vec::new(), is_among_others });
        }
        let lines = if self.is_quiet() && ended_run.run.has_missed_goal() {
            Vec::new()
        } else {
            ended_lines(ended_run, &self.summary)
        };
        self.write_lines(&lines)
    }

    fn write_replay(&mut self, event: &Event, replayed: &Replayed) -> io::Result<()> {
        let lead = line_lead(event, replayed.run);
        let mut lines = vec![format!("{lead}{}", lines::replay_line(replayed))];
        lines.extend(lines::other_outcome_lines(replayed));
        let Some(at) = self.pending.iter().position(|story| story.run == replayed.run) else {
            return self.write_lines(&lines);
        };
        self.pending[at].replayed.extend(lines);
        // Only a failure that came back is made smaller.
        if replayed.reproduced == 0 {
            let story = self.pending.remove(at);
            self.write_story(&story)?;
        }
        Ok(())
    }

    fn write_shrunk(&mut self, event: &Event, run: u64) -> io::Result<()> {
        let at = self.pending.iter().position(|story| story.run == run);
        let story = at.map(|at| self.pending.remove(at));
        let Some((kind, smaller)) = self.summary.kinds.iter().find_map(|kind| {
            let smaller = kind.smaller.as_ref().filter(|smaller| smaller.run == run)?;
            Some((kind, smaller))
        }) else {
            return story.map_or(Ok(()), |story| self.write_story(&story));
        };
        let as_found = Some(&kind.run).filter(|found| found.number == run);
        let nothing_shown = RunSummary::default();
        let shown = as_found.unwrap_or(&nothing_shown);
        let takes_its_place = lines::is_smaller_than(smaller, shown);
        let http = lines::http_lines(kind);
        // The names of a generated model are for those who ask for them.
        let is_short = self.is_quiet() && !http.is_empty();
        let mut lines = match (is_short, takes_its_place) {
            (true, true) => lines::smaller_size_lines(smaller),
            (false, true) => lines::smallest_run_lines(smaller, as_found),
            (_, false) => lines::smaller_run_lines(smaller, shown),
        };
        lines.push(lines::id_line(&kind.id));
        if let (Some(_), Some(first)) = (event.run, lines.first_mut()) {
            *first = format!("run {}: {}", number_from_one(run), first.trim_start());
        }
        match story {
            Some(story) if takes_its_place => {
                self.write_lines(&http)?;
                self.write_lines(&story.replayed)?;
            }
            Some(story) => self.write_story(&story)?,
            None => (),
        }
        self.write_lines(&lines)
    }

    /// Writes the run as found, and its repetitions.
    fn write_story(&mut self, story: &PendingStory) -> io::Result<()> {
        let kind = &self.summary.kinds[story.kind];
        let lead = format!("run {}: the run as found", number_from_one(story.run));
        let mut lines: Vec<String> = story.is_among_others.then_some(lead).into_iter().collect();
        let http = lines::http_lines(kind);
        let is_short = self.is_quiet() && !http.is_empty();
        lines.extend(http);
        if !is_short {
            lines.extend(lines::ending_lines(&kind.run));
        }
        lines.extend(story.replayed.iter().cloned());
        // Below a smaller run, the id stands at the end of that one.
        if kind.smaller.is_none() {
            lines.push(lines::id_line(&kind.id));
        }
        self.write_lines(&lines)
    }

    /// Writes the stories of runs that did not become smaller.
    fn write_pending_stories(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        pending.iter().try_for_each(|story| self.write_story(story))
    }

    fn update_progress(&mut self, event: &Event) {
        if let Some(line) = self.meter.line_if_due(&self.summary, event) {
            (self.progress)(&line);
        }
    }
}

impl<W: Write + Send, P: FnMut(&str) + Send> Reporter for TerminalReporter<W, P> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.add_event(event)
    }

    fn shrinking(&mut self, shrinking: &ShrinkingRecord) {
        (self.progress)(&lines::shrinking_line(shrinking));
    }
}

impl<W: Write, P: FnMut(&str)> TerminalReporter<W, P> {
    /// Adds an event; for writers that cannot be sent between threads.
    ///
    /// # Errors
    /// If the results cannot be written.
    pub fn add_event(&mut self, event: &Event) -> io::Result<()> {
        let ended = self.summary.add_event(event);
        match &event.event {
            EventKind::CampaignStarted(told) => self.write_start(told),
            EventKind::Stimulus(_) | EventKind::Observation(_) => {
                self.update_progress(event);
                Ok(())
            }
            EventKind::RunFinished(_) => ended.map_or(Ok(()), |ended| self.write_ended_run(event, &ended)),
            EventKind::Replayed(told) => self.write_replay(event, told),
            EventKind::Shrunk(told) => {
                (self.progress)("");
                self.write_shrunk(event, told.run)
            }
            EventKind::CampaignFinished(_) => self.finish(),
            // Runs that go one after the other are repeated and made smaller before the next one begins.
            EventKind::RunStarted(_) if event.run.is_none() => self.write_pending_stories(),
            EventKind::RunStarted(_)
            | EventKind::Patience(_)
            | EventKind::Unsolicited(_)
            | EventKind::Verdict(_)
            | EventKind::Trouble(_) => Ok(()),
        }
    }
}

/// Returns the beginning of a line: the number of its run, unless the line stands below that run anyway.
fn line_lead(event: &Event, run: u64) -> String {
    if event.run.is_some() { format!("run {}: ", number_from_one(run)) } else { "    ".to_owned() }
}

fn ended_lines(ended_run: &EndedRun, summary: &Summary) -> Vec<String> {
    let lead = format!("run {}:", number_from_one(ended_run.run.number));
    let steps = plural(ended_run.steps as u64, "step");
    match ended_run.outcome {
        RunOutcome::Pass => Vec::new(),
        RunOutcome::Inconclusive => {
            let reason = excerpt(ended_run.run.reason(), MAX_TEXT);
            let line = || format!("{lead} inconclusive after {steps} ({reason})");
            (summary.counts.inconclusive <= MAX_INCONCLUSIVE).then(line).into_iter().collect()
        }
        RunOutcome::Fail => failure_lines(&lead, ended_run, summary),
        RunOutcome::Error => error_lines(&lead, &ended_run.run, summary),
        RunOutcome::Interrupted => vec![format!("{lead} interrupted after {steps}")],
    }
}

fn failure_lines(lead: &str, ended_run: &EndedRun, summary: &Summary) -> Vec<String> {
    match ended_run.novelty {
        Novelty::New(_) => {
            let goal = match &*ended_run.run.goal {
                "" => String::new(),
                goal => format!(", {}", excerpt(goal, MAX_TEXT)),
            };
            vec![format!("{lead} FAIL at step {}{goal}", ended_run.steps)]
        }
        Novelty::Known(at) => {
            let kind = &summary.kinds[at];
            let line = format!("{lead} FAIL as in run {}", number_from_one(kind.run.number));
            limit_repeats(line, kind.runs - 1)
        }
        Novelty::Unlisted | Novelty::None => {
            let line = format!("{lead} FAIL at step {}: {}", ended_run.steps, ended_run.run.failure_id);
            limit_repeats(line, summary.unlisted)
        }
    }
}

fn error_lines(lead: &str, run: &RunSummary, summary: &Summary) -> Vec<String> {
    let Some(trouble) = &run.trouble else {
        return vec![format!("{lead} ERROR, no verdict: the system could not be reached")];
    };
    let line = format!("{lead} ERROR, no verdict: {}", excerpt(&trouble.error, MAX_TEXT));
    let n = summary.errors.count_of(&trouble.error);
    let mut lines = limit_repeats(line, n);
    if n <= MAX_REPEATS {
        lines.extend(lines::trouble_lines(trouble));
    }
    lines
}

/// Returns `line`, the `n`-th of its kind: with a remark if it is number [`MAX_REPEATS`], nothing beyond that.
fn limit_repeats(line: String, n: u64) -> Vec<String> {
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
pub fn write_explanation(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    let lines = lines::observed_lines(explanation).into_iter().chain(lines::reason_lines(explanation));
    lines.into_iter().try_for_each(|line| writeln!(out, "{line}"))
}

#[cfg(test)]
mod tests;
