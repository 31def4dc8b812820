//! A test campaign on the terminal: progress while it goes, the story of every failure, a summary.
//!
//! A reader of events. Results go to one writer, progress to another, so that piped results
//! stay clean.

use std::io::{self, Write};

use ioxide_runner::event::{
    CampaignFinished, CampaignStarted, Event, EventKind, Explanation, LabelTold, Outcome, Replayed,
    ShrunkTold, StepTold, Trouble, VerdictTold,
};
use ioxide_runner::reporter::Reporter;

/// Steps of a failing run shown before the forbidden one.
const LAST_STEPS: usize = 8;
/// States and reasons shown of an explanation.
const MAX_LINES: usize = 8;

/// Writes what happened for people.
pub struct Terminal<W: Write, P: FnMut(&str)> {
    out: W,
    /// Shows one line of progress; called after every step.
    progress: P,
    runs: u64,
    run: u64,
    total_steps: usize,
    steps: Vec<String>,
    verdict: Option<VerdictTold>,
    trouble: Option<Trouble>,
}

impl<W: Write, P: FnMut(&str)> Terminal<W, P> {
    /// Results go to `out`, progress to `progress`.
    pub fn new(out: W, progress: P) -> Self {
        Self {
            out,
            progress,
            runs: 0,
            run: 0,
            total_steps: 0,
            steps: Vec::new(),
            verdict: None,
            trouble: None,
        }
    }

    fn started(&mut self, told: &CampaignStarted) -> io::Result<()> {
        self.runs = told.runs;
        let runs = plural(told.runs, "run");
        writeln!(
            self.out,
            "testing `{}` against {} ({}, {runs}, seed {})",
            told.model, told.sut, told.tester, told.seed
        )
    }

    fn step(&mut self, told: &StepTold) {
        self.steps.push(told.label.text.clone());
        self.total_steps += 1;
        let belief = told.belief.map_or("none".to_owned(), |n| n.to_string());
        (self.progress)(&format!(
            "run {} of {}: step {}, belief {belief}, {} steps in all",
            self.run + 1,
            self.runs,
            told.step,
            self.total_steps
        ));
    }

    fn finished_run(&mut self, run: u64, outcome: Outcome, steps: usize) -> io::Result<()> {
        let verdict = self.verdict.take();
        let trouble = self.trouble.take();
        match outcome {
            Outcome::Pass => Ok(()),
            Outcome::Inconclusive => {
                let reason = verdict.map(|verdict| verdict.reason).unwrap_or_default();
                writeln!(
                    self.out,
                    "run {}: inconclusive after {} ({reason})",
                    run + 1,
                    plural(steps as u64, "step")
                )
            }
            Outcome::Fail => self.failure(run, steps, verdict.as_ref()),
            Outcome::Error => self.error(run, trouble.as_ref()),
            Outcome::Interrupted => {
                writeln!(self.out, "run {}: interrupted after {}", run + 1, plural(steps as u64, "step"))
            }
        }
    }

    fn failure(&mut self, run: u64, steps: usize, verdict: Option<&VerdictTold>) -> io::Result<()> {
        writeln!(self.out, "run {}: FAIL at step {steps}", run + 1)?;
        let first = self.steps.len().saturating_sub(LAST_STEPS);
        if first > 0 {
            writeln!(self.out, "      … {} before", plural(first as u64, "step"))?;
        }
        for (i, step) in self.steps.iter().enumerate().skip(first) {
            let mark = if i + 1 == self.steps.len() { "✗" } else { " " };
            writeln!(self.out, "  {mark} {:>3}  {step}", i + 1)?;
        }
        match verdict.and_then(|verdict| verdict.explanation.as_ref()) {
            Some(told) => explanation(told, &mut self.out),
            None => Ok(()),
        }
    }

    fn error(&mut self, run: u64, trouble: Option<&Trouble>) -> io::Result<()> {
        let text = trouble.map_or("the system could not be reached", |trouble| trouble.error.as_str());
        writeln!(self.out, "run {}: ERROR, no verdict: {text}", run + 1)?;
        let words = trouble.map_or("", |trouble| trouble.last_words.trim_end());
        for line in words.lines().rev().take(MAX_LINES).collect::<Vec<_>>().into_iter().rev() {
            writeln!(self.out, "    it said   {line}")?;
        }
        Ok(())
    }

    fn replayed(&mut self, told: &Replayed) -> io::Result<()> {
        let note = match told.reproduced {
            0 => "; it did not come back, the system may be nondeterministic",
            n if n < told.of => "; the failure is flaky",
            _ => "",
        };
        writeln!(self.out, "    repeated  failed again {} of {} times{note}", told.reproduced, told.of)
    }

    fn shrunk(&mut self, told: &ShrunkTold) -> io::Result<()> {
        let size = told.trace.len();
        let kind = if told.minimal { "minimal" } else { "smaller" };
        writeln!(
            self.out,
            "    {kind} failing run: {} (of {}), {} tried",
            plural(size as u64, "step"),
            told.from,
            plural(u64::from(told.attempts), "run")
        )?;
        for (i, LabelTold { text, .. }) in told.trace.iter().enumerate() {
            let mark = if i + 1 == size { "✗" } else { " " };
            writeln!(self.out, "  {mark} {:>3}  {text}", i + 1)?;
        }
        Ok(())
    }

    fn finished(&mut self, told: &CampaignFinished) -> io::Result<()> {
        let parts = [
            (told.passed, "passed"),
            (told.failed, "failed"),
            (told.inconclusive, "inconclusive"),
            (told.errors, "without verdict"),
        ];
        let shown: Vec<String> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
        let shown = if shown.is_empty() { "none finished".to_owned() } else { shown.join(", ") };
        writeln!(
            self.out,
            "{}: {shown}; {}",
            plural(told.runs, "run"),
            plural(self.total_steps as u64, "step")
        )?;
        write!(self.out, "switches: {} certainly taken", told.covered.len())?;
        match told.never.is_empty() {
            true => writeln!(self.out, ", every one at least possibly"),
            false => writeln!(self.out, ", {} never: {}", told.never.len(), listed(&told.never)),
        }
    }
}

impl<W: Write + Send, P: FnMut(&str) + Send> Reporter for Terminal<W, P> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.event {
            EventKind::CampaignStarted(told) => self.started(told),
            EventKind::RunStarted(told) => {
                self.run = told.run;
                self.steps.clear();
                Ok(())
            }
            EventKind::Stimulus(told) | EventKind::Observation(told) => {
                self.step(told);
                Ok(())
            }
            EventKind::Verdict(told) => {
                self.verdict = Some(told.clone());
                Ok(())
            }
            EventKind::Trouble(told) => {
                self.trouble = Some(told.clone());
                Ok(())
            }
            EventKind::RunFinished(told) => self.finished_run(told.run, told.outcome, told.steps),
            EventKind::Replayed(told) => self.replayed(told),
            EventKind::Shrunk(told) => self.shrunk(told),
            EventKind::CampaignFinished(told) => self.finished(told),
        }
    }
}

/// Observed against allowed, where the model may have been, and why not what was seen.
///
/// # Errors
/// If `out` cannot be written.
pub fn explanation(told: &Explanation, out: &mut impl Write) -> io::Result<()> {
    let allowed: Vec<String> = told
        .allowed
        .iter()
        .map(|allowed| match &allowed.switch {
            Some(switch) => format!("{} [{switch}]", allowed.label),
            None => allowed.label.clone(),
        })
        .collect();
    let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", or ") };
    writeln!(out, "    observed  {}", told.observed)?;
    writeln!(out, "    allowed   {allowed}")?;
    for state in told.states.iter().take(MAX_LINES) {
        let known = state.values.iter().chain(&state.path).cloned().collect::<Vec<_>>().join(", ");
        writeln!(out, "    in state  {}  {known}", state.location)?;
    }
    for why in told.why_not.iter().take(MAX_LINES) {
        writeln!(out, "    why not   {}: {}", why.switch, why.reason)?;
    }
    Ok(())
}

/// The first names, and how many more there are.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

fn plural(n: u64, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use ioxide_runner::event::{RunFinished, RunStarted, VerdictWord};

    use super::*;

    /// What the terminal shows of these events.
    fn shown(kinds: Vec<EventKind>) -> String {
        let mut out = Vec::new();
        let mut terminal = Terminal::new(&mut out, |_: &str| ());
        for (seq, event) in (0..).zip(kinds) {
            terminal.event(&Event { seq, time_ns: 0, run: None, event }).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    fn finished(outcome: Outcome) -> EventKind {
        EventKind::RunFinished(RunFinished { run: 0, outcome, steps: 3, doubts: 0 })
    }

    #[test]
    fn a_system_that_broke_has_no_verdict_and_its_last_words() {
        let trouble =
            Trouble { error: "the system ended: signal 11".into(), last_words: "one\ntwo\n".into() };
        let text = shown(vec![
            EventKind::RunStarted(RunStarted { run: 0, seed: 1, goal: String::new() }),
            EventKind::Trouble(trouble),
            finished(Outcome::Error),
        ]);
        insta::assert_snapshot!(text, @r"
        run 1: ERROR, no verdict: the system ended: signal 11
            it said   one
            it said   two
        ");
    }

    #[test]
    fn an_inconclusive_run_says_why() {
        let verdict = VerdictTold {
            verdict: VerdictWord::Inconclusive,
            reason: "the purpose went out of reach".into(),
            explanation: None,
            signature: None,
        };
        let text = shown(vec![EventKind::Verdict(verdict), finished(Outcome::Inconclusive)]);
        insta::assert_snapshot!(text, @"run 1: inconclusive after 3 steps (the purpose went out of reach)");
    }

    #[test]
    fn a_flaky_failure_is_called_flaky() {
        let text = shown(vec![EventKind::Replayed(Replayed { run: 0, reproduced: 1, of: 3 })]);
        insta::assert_snapshot!(text, @"    repeated  failed again 1 of 3 times; the failure is flaky");
    }
}
