//! The lines that a summary is shown as: of a failure the last steps, the expected ones, the reasons, the repetitions
//! and the smaller run.

use ioxide_model::label::SILENCE;
use ioxide_record::event::{
    Allowed, Explanation, FieldDifference, FindingRecord, LagRecord, MeasureRecord, PatienceRecord, Replayed,
    RunOutcome, ShrinkingRecord, SystemTrouble, VerdictRecord, WhyNot,
};

use super::{FailureSummary, LateMessages, RunSummary, ShrunkSummary, Summary, UnsolicitedCounts};
use crate::chart::{ChartStep, SequenceChart, StepNote, WIDTH, draw_chart};
use crate::control_characters::{excerpt, show_control_characters};
use crate::run_number::number_from_one;
use crate::script::ScriptLanguage;
use crate::summary::states::compare_states;

/// The number of states, reasons and last words shown. Chosen by feel: more is not read.
const MAX_LINES: usize = 8;
/// The number of steps of a smaller run that are drawn. Chosen by feel, for a few screens.
const MAX_DRAWN_STEPS: usize = 60;
/// The number of characters of a line. Chosen by feel, for a few lines.
const MAX_TEXT: usize = 300;
/// The shortest extension of a wait that is shown, in milliseconds: less happens on every machine.
const MIN_LAG_SHOWN: u64 = 10;

/// Returns everything known of a kind of failure.
#[must_use]
pub fn failure_lines(kind: &FailureSummary) -> Vec<String> {
    let mut lines = http_lines(kind);
    lines.extend(ending_lines(&kind.run));
    lines.extend(kind.replayed.iter().map(|told| format!("    {}", replay_line(told))));
    lines.extend(kind.replayed.iter().flat_map(other_outcome_lines));
    lines.extend(kind.smaller.iter().flat_map(|told| smaller_run_lines(told, &kind.run)));
    lines
}

/// Returns the failure in the words of HTTP; empty if the system is not asked by HTTP.
#[must_use]
pub fn http_lines(kind: &FailureSummary) -> Vec<String> {
    kind.http.iter().map(|line| format!("    {line}")).collect()
}

/// Returns the lines about a smaller run that need not be drawn: its size, and how it is repeated without ioxide.
#[must_use]
pub fn smaller_size_lines(shrunk: &ShrunkSummary) -> Vec<String> {
    let mut lines = size_lines(shrunk);
    lines.extend(script_line(&shrunk.languages).filter(|_| !shrunk.references.is_empty()));
    lines
}

/// Returns the chart of the end of a failing run, and the reasons of the failure.
#[must_use]
pub fn ending_lines(run: &RunSummary) -> Vec<String> {
    let steps: Vec<ChartStep> = run.last.iter().cloned().collect();
    let before = run.steps - steps.len();
    let forbidden = run.forbidden_step().unwrap_or(run.steps);
    let note = match (forbidden.checked_sub(before + 1), run.explanation()) {
        (Some(at), Some(told)) => StepNote::Instead(at, &told.allowed),
        (Some(at), None) => StepNote::Forbidden(at),
        (None, _) => StepNote::Fine,
    };
    let mut lines = if steps.is_empty() { Vec::new() } else { draw_steps(&steps, before, note) };
    lines.extend(
        run.verdict.iter().filter(|_| !steps.is_empty()).flat_map(|told| found_late(told, run.steps)),
    );
    if let (StepNote::Fine, Some(told)) = (note, run.explanation()) {
        lines.extend(observed_lines(told));
    }
    lines.extend(run.verdict.iter().filter_map(|told| told.finding.as_ref()).map(finding_text));
    lines.extend(run.verdict.iter().flat_map(breakdown_lines));
    lines.extend(run.explanation().into_iter().flat_map(reason_lines));
    lines
}

/// Returns a line that says which step is forbidden, if it is not the last one.
fn found_late(verdict: &VerdictRecord, steps: usize) -> Option<String> {
    let step = verdict.step.filter(|step| *step < steps)?;
    Some(format!("    forbidden step {step}; no later step explains it"))
}

/// Returns the kind of a breakdown of the system and its last words; empty for a forbidden observation.
fn breakdown_lines(verdict: &VerdictRecord) -> Vec<String> {
    let (Some(kind), Some(explanation)) = (&verdict.kind, &verdict.explanation) else { return Vec::new() };
    if kind == "forbidden" {
        return Vec::new();
    }
    let mut lines = vec![format!("    {kind:<9} {}", excerpt(&explanation.observed, MAX_TEXT))];
    lines.extend(last_lines(&verdict.last_words));
    lines
}

/// Returns the last lines that a system wrote outside its protocol.
fn last_lines(words: &str) -> impl Iterator<Item = String> + '_ {
    let n_lines = words.lines().count();
    let shown = words.lines().skip(n_lines.saturating_sub(MAX_LINES));
    shown.map(|line| format!("    printed   {}", excerpt(line, MAX_TEXT)))
}

/// Returns lines about the time-out for silence: late messages, the time-out used, and one that would fit. Empty
/// until the campaign has ended.
#[must_use]
pub fn silence_lines(summary: &Summary) -> Vec<String> {
    let mut lines = lateness_lines(summary);
    lines.extend(silence_time_line(summary));
    lines
}

/// Returns lines about messages that came late and about a busy machine. Empty until the campaign has ended.
#[must_use]
pub fn lateness_lines(summary: &Summary) -> Vec<String> {
    let Some(finished) = &summary.finished else { return Vec::new() };
    let mut lines = first_replies(&summary.first_replies);
    lines.extend(unsolicited_line(summary.unsolicited));
    lines.extend(finished.machine_lag.iter().flat_map(machine_lag));
    lines.extend(finished.reset_price.map(|steps| {
        format!("a reset takes as long as about {} steps, so runs were made longer", group_digits(steps))
    }));
    if let (Some(late), Some(_)) = (&summary.late.longest, finished.patience_ms) {
        lines.push(format!(
            "late: {} arrived after silence was assumed; the slowest, {}, took {} ms. ioxide then waited up to {} ms.",
            plural(summary.late.n, "message"),
            excerpt(&late.label, MAX_TEXT),
            late.took_ms,
            late.to_ms
        ));
    }
    lines
}

/// Returns the line about the time after which silence counted, and a time that would fit. Empty until the campaign has
/// ended.
#[must_use]
pub fn silence_time_line(summary: &Summary) -> Option<String> {
    let finished = summary.finished.as_ref()?;
    let used = finished.patience_ms?;
    let started = summary.started.as_ref();
    let calibrated = if started.is_some_and(|started| started.calibrated) { " (measured)" } else { "" };
    let n = finished.latencies.iter().fold(0_u64, |n, told| n.saturating_add(told.n));
    let longest = finished.latencies.iter().map(|told| told.max_us).max().unwrap_or(0) as f64 / 1e3;
    Some(match finished.suggested_patience_ms {
        Some(fits) if fits < used || longest * 2.0 > used as f64 => format!(
            "silence: assumed after {used} ms{calibrated}; {fits} ms would be enough for these {n} replies, \
             the slowest of which took {longest:.1} ms"
        ),
        Some(_) | None => format!("silence: assumed after {used} ms{calibrated}"),
    })
}

/// Returns the line that says what the time of the campaign was used for; `None` until it has ended, and where its
/// events have no times.
#[must_use]
pub fn time_line(summary: &Summary) -> Option<String> {
    let spent = summary.finished.as_ref()?.time_spent?;
    let shares: Vec<String> =
        spent.shares().into_iter().map(|(share, word)| format!("{share} % {word}")).collect();
    if shares.is_empty() {
        return None;
    }
    let seconds = spent.elapsed_ms as f64 / 1e3;
    let steps = if summary.steps == 1 { "step" } else { "steps" };
    Some(format!("{seconds:.1} s: {}; {} {steps}", shares.join(", "), group_digits(summary.steps)))
}

/// Returns the digits of `n` in groups of three.
#[must_use]
pub fn group_digits(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a line about messages that the model does not see; `None` if there were none.
fn unsolicited_line(counts: UnsolicitedCounts) -> Option<String> {
    let UnsolicitedCounts { answered, ignored } = counts;
    let n = answered + ignored;
    (n > 0).then(|| {
        format!("outside the model: {}, {answered} answered and {ignored} ignored", plural(n, "message"))
    })
}

/// Returns a line about the slowest first reply after a start; empty if none came late.
fn first_replies(late: &LateMessages) -> Vec<String> {
    let slowest = late.longest.iter();
    let line = |told: &PatienceRecord| {
        format!(
            "the first reply after a start took up to {} ms ({}); ioxide waits for it up to `limit_ms`",
            told.took_ms,
            excerpt(&told.label, MAX_TEXT)
        )
    };
    slowest.map(line).collect()
}

/// Returns lines about waits and tolerances that were extended because this machine was busy; extensions below
/// [`MIN_LAG_SHOWN`] are in the record alone.
fn machine_lag(lag: &LagRecord) -> Vec<String> {
    let mut lines = Vec::new();
    if lag.waits_ms >= MIN_LAG_SHOWN {
        lines.push(format!("this machine was busy: ioxide waited up to {} ms longer", lag.waits_ms));
    }
    if lag.tolerance_ms > 0 {
        lines.push(format!(
            "this machine was busy: times were judged up to {} ms more loosely; runs that needed this are inconclusive",
            lag.tolerance_ms
        ));
    }
    lines
}

/// Returns the end of a run in the terms of timed testing.
#[must_use]
pub fn finding_text(finding: &FindingRecord) -> String {
    finding_line(finding, "")
}

fn finding_line(finding: &FindingRecord, ending: &str) -> String {
    let rule = if finding.rule.is_empty() { String::new() } else { format!(" by {}", finding.rule) };
    let because = finding.because.as_ref().map(|because| format!(", `{because}`")).unwrap_or_default();
    let meaning = verdict_meaning(&finding.word).map(|meaning| format!(" ({meaning})")).unwrap_or_default();
    let line = format!("{}{rule} at {}: {}{because}{meaning}", finding.word, finding.state, finding.event);
    format!("    verdict   {}{ending}", excerpt(&line, MAX_TEXT))
}

/// Returns the meaning of a verdict of timed testing; `None` for a word that is not one.
fn verdict_meaning(word: &str) -> Option<&'static str> {
    Some(match word {
        "FAIL_out" => "a forbidden message",
        "FAIL_dur" => "a forbidden silence",
        "INC_out" => "another allowed message",
        "INC_dur" => "an allowed silence",
        "INC_ucIn_spec" | "INC_ucIn_uspec" => "an input from another sender",
        "INC_off_path" => "the rest of the path became impossible",
        _ => return None,
    })
}

/// Returns the reasons why no transition allows the observation.
fn why_not_lines(explanation: &Explanation) -> Vec<String> {
    let line = |why: &WhyNot| {
        let (switch, reason) = (excerpt(&why.switch, MAX_TEXT), excerpt(&why.reason, MAX_TEXT));
        format!("    why not   {switch}: {reason}")
    };
    // Several states may refuse a message for the same reason.
    let mut lines: Vec<String> = Vec::new();
    for why in explanation.why_not.iter().map(line) {
        if lines.len() < MAX_LINES && !lines.contains(&why) {
            lines.push(why);
        }
    }
    lines
}

/// Returns the states the specification may have been in, and the reasons why none allows the observation.
#[must_use]
pub fn reason_lines(explanation: &Explanation) -> Vec<String> {
    let mut lines = state_lines(explanation);
    lines.extend(why_not_lines(explanation));
    if let Some(orders) = explanation.orders {
        lines.push(format!(
            "    crossing  also forbidden in every other of the {orders} possible orders of messages"
        ));
    }
    lines
}

/// Returns the states the model may have been in: the first in full, the others by how they differ from it.
fn state_lines(explanation: &Explanation) -> Vec<String> {
    let states = &explanation.states[..explanation.states.len().min(MAX_LINES)];
    let leads = ["    in state  "].into_iter().chain(std::iter::repeat("              "));
    let shown = compare_states(states);
    let mut lines: Vec<String> =
        shown.iter().zip(leads).map(|(line, lead)| format!("{lead}{}", excerpt(line, MAX_TEXT))).collect();
    if explanation.n_states > MAX_LINES {
        lines.push(format!("              or one of {} more", explanation.n_states - MAX_LINES));
    }
    lines
}

/// Returns the observation and the labels allowed in its place.
#[must_use]
pub fn observed_lines(explanation: &Explanation) -> Vec<String> {
    let named = |allowed: &Allowed| match &allowed.switch {
        Some(switch) => format!("{} [{}]", excerpt(&allowed.label, MAX_TEXT), excerpt(switch, MAX_TEXT)),
        None => show_control_characters(label_text(&allowed.label)),
    };
    let mut allowed: Vec<String> = explanation.allowed.iter().take(MAX_LINES).map(named).collect();
    if explanation.allowed.len() > MAX_LINES {
        allowed.push(format!("one of {} more", explanation.allowed.len() - MAX_LINES));
    }
    let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", or ") };
    vec![
        format!("    observed  {}", excerpt(label_text(&explanation.observed), MAX_TEXT)),
        format!("    allowed   {allowed}"),
    ]
}

/// Returns the text of a label for people: silence has a sign in records, which only the theory knows.
fn label_text(label: &str) -> &str {
    if label == SILENCE { "silence" } else { label }
}

/// Returns a line with the number of repetitions of a failing run that failed again.
#[must_use]
pub fn replay_line(replayed: &Replayed) -> String {
    let unmade = replayed.unmade.as_ref().map_or_else(String::new, |unmade| {
        let left = unmade.wanted.saturating_sub(replayed.of);
        let reason = excerpt(&unmade.reason, MAX_TEXT);
        format!("; {left} of {} repetitions could not be made: {reason}", unmade.wanted)
    });
    if replayed.of == 0 {
        return format!("repeated  it could not be repeated, so it was not made smaller{unmade}");
    }
    let note = match replayed.reproduced {
        0 => "; it did not happen again, so it was not made smaller",
        _ if replayed.only_after_reset => {
            "; never after a restart: the reset leaves something behind (try `reset = \"restart\"`)"
        }
        n if n < replayed.of => "; the failure is flaky",
        _ => "",
    };
    format!("repeated  failed again {} of {} times{note}{unmade}", replayed.reproduced, replayed.of)
}

/// Returns the chart of the first repetition that did not fail in the same way; empty if some repetition did.
#[must_use]
pub fn other_outcome_lines(replayed: &Replayed) -> Vec<String> {
    let Some(seen) = &replayed.instead else { return Vec::new() };
    let how = match seen.outcome {
        RunOutcome::Pass => "passed",
        RunOutcome::Inconclusive => "was inconclusive",
        RunOutcome::Fail => "failed in another way",
        RunOutcome::Error => "broke off",
        RunOutcome::Interrupted => "was interrupted",
    };
    let steps: Vec<ChartStep> = seen.trace.iter().map(ChartStep::new).collect();
    let hidden = steps.len().saturating_sub(MAX_DRAWN_STEPS);
    let mut lines =
        vec![format!("    instead   the same moves again: {}, it {how}", plural(steps.len() as u64, "step"))];
    lines.extend(draw_steps(&steps[hidden..], hidden, StepNote::Fine));
    lines
}

/// The number of references to replies that are shown. Chosen by feel, for a few lines.
const MAX_REFERENCES: usize = 12;

/// Returns a line on the progress of the search for a smaller run.
#[must_use]
pub fn shrinking_line(shrinking: &ShrinkingRecord) -> String {
    let (moves, tried) =
        (plural(shrinking.steps as u64, "step"), plural(u64::from(shrinking.attempts), "run"));
    let limit = shrinking.limit_s.map(|limit| format!(" (for {limit} s at most)")).unwrap_or_default();
    let left = shrinking.left_s.map(|left| format!(", {left} s left")).unwrap_or_default();
    format!("shrinking run {}{limit}: {moves} now, {tried} tried{left}", number_from_one(shrinking.run))
}

/// Returns the line that says how a run is repeated without ioxide; `None` if it cannot be.
fn script_line(languages: &[ScriptLanguage]) -> Option<String> {
    let names: Vec<&str> = languages.iter().map(|language| language.title()).collect();
    let word = languages.first()?.word();
    Some(format!(
        "    script    repeats it without ioxide ({}): `ioxide report DIR --script {word}`",
        names.join(", ")
    ))
}

/// Returns the fields in which the observation differs from what was allowed.
fn difference_lines(explanation: &Explanation) -> Vec<String> {
    let differences = explanation.allowed.iter().flat_map(|allowed| &allowed.differences).take(MAX_LINES);
    let line = |it: &FieldDifference| {
        let (got, expected) = (excerpt(&it.got, MAX_TEXT), excerpt(&it.expected, MAX_TEXT));
        format!("    differs   {}: got {got}, expected {expected}", excerpt(&it.field, MAX_TEXT))
    };
    differences.map(line).collect()
}

/// Returns whether the smaller run has other steps than `run`, and is not the run as found.
#[must_use]
pub fn is_smaller_than(shrunk: &ShrunkSummary, run: &RunSummary) -> bool {
    let is_shown_already = shrunk.size() == run.steps && run.last.iter().eq(&shrunk.steps);
    !shrunk.is_original() && !is_shown_already
}

/// Returns the chart of a smaller run that takes the place of the run as found, which is `run` if it is available: with
/// the reasons of the failure, and where the run as found is.
#[must_use]
pub fn smallest_run_lines(shrunk: &ShrunkSummary, run: Option<&RunSummary>) -> Vec<String> {
    let mut lines = smaller_chart_lines(shrunk);
    // The finding of a timed test names the times of the run as found; those of the smaller one can be others.
    let verdict = run.and_then(|run| run.verdict.as_ref());
    lines.extend(
        verdict
            .and_then(|shrunk| shrunk.finding.as_ref())
            .map(|shrunk| finding_line(shrunk, ", in the run as found")),
    );
    lines.extend(verdict.into_iter().flat_map(breakdown_lines));
    let reasons = shrunk.explanation.as_ref().or_else(|| run?.explanation());
    lines.extend(reasons.into_iter().flat_map(reason_lines));
    lines.extend(repeating_lines(shrunk));
    lines
}

/// Returns the line with the id of a failure.
#[must_use]
pub fn id_line(id: &str) -> String {
    format!("    id        {}", excerpt(id, MAX_TEXT))
}

/// Returns the chart of the smaller run, with what was allowed at its end and why not what came; it is not drawn if it
/// equals `run`, of which [`ending_lines`] shows all.
#[must_use]
pub fn smaller_run_lines(shrunk: &ShrunkSummary, run: &RunSummary) -> Vec<String> {
    if shrunk.is_original() {
        let once = plural(u64::from(shrunk.unconfirmed), "smaller run");
        let tried = plural(u64::from(shrunk.attempts), "run");
        return vec![format!(
            "    no smaller run: {once} failed once and not again, {tried} tried; this is the run as found"
        )];
    }
    let mut lines = if is_smaller_than(shrunk, run) {
        let why_not = shrunk.explanation.iter().flat_map(why_not_lines);
        smaller_chart_lines(shrunk).into_iter().chain(why_not).collect()
    } else {
        size_lines(shrunk)
    };
    lines.extend(repeating_lines(shrunk));
    lines
}

/// Returns the number of steps of the smaller run, and why the search for it ended.
fn size_lines(shrunk: &ShrunkSummary) -> Vec<String> {
    let kind = if shrunk.minimal { "minimal" } else { "smaller" };
    let (size, tried) = (plural(shrunk.size() as u64, "step"), plural(u64::from(shrunk.attempts), "run"));
    let rate = match shrunk.reproduced {
        (failed, of) if failed < of => format!(", failed again {failed} of {of} times: flaky"),
        (_, _) => String::new(),
    };
    let found =
        if shrunk.from > shrunk.size() { format!(" ({} as found)", shrunk.from) } else { String::new() };
    let mut lines = vec![format!("    {kind} failing run: {size}{found}, {tried} tried{rate}")];
    if let (Some(why), false) = (&shrunk.early, shrunk.minimal) {
        lines.push(format!("    the search for a smaller one ended early: {why}"));
    }
    lines
}

/// Returns the chart of the smaller run, and the fields in which the observation differs from what was allowed.
fn smaller_chart_lines(shrunk: &ShrunkSummary) -> Vec<String> {
    let mut lines = size_lines(shrunk);
    let hidden = shrunk.steps.len().saturating_sub(MAX_DRAWN_STEPS);
    let before = shrunk.before + hidden;
    let note = match (shrunk.forbidden.checked_sub(before + 1), &shrunk.explanation) {
        (Some(at), Some(explanation)) => StepNote::Instead(at, &explanation.allowed),
        (Some(at), None) => StepNote::Forbidden(at),
        (None, _) => StepNote::Fine,
    };
    lines.extend(draw_steps(&shrunk.steps[hidden..], before, note));
    lines.extend(shrunk.explanation.iter().flat_map(difference_lines));
    lines
}

/// Returns the values of the smaller run that come from replies, and how it is repeated without ioxide.
fn repeating_lines(shrunk: &ShrunkSummary) -> Vec<String> {
    let references = shrunk.references.iter().take(MAX_REFERENCES);
    let mut lines: Vec<String> = references.map(|from| format!("    taken from a reply: {from}")).collect();
    lines.extend(script_line(&shrunk.languages));
    lines
        .extend(shrunk.no_script.iter().map(|why| format!("    script    none: {}", excerpt(why, MAX_TEXT))));
    lines
}

/// Returns the last words of a system that ended in trouble.
#[must_use]
pub fn trouble_lines(trouble: &SystemTrouble) -> Vec<String> {
    last_lines(&trouble.last_words).collect()
}

/// Returns the number of items of a measure that were not seen; 0 if their total is not known. A record from elsewhere
/// may have seen more than there are.
#[must_use]
pub fn count_unseen(measure: &MeasureRecord) -> u64 {
    measure.total.map_or(0, |total| total.saturating_sub(measure.seen))
}

/// Returns the number with the word, in the plural unless `n` is 1.
#[must_use]
pub fn plural(n: u64, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// Returns the first names, and the number of further ones.
#[must_use]
pub fn list_names(names: &[String]) -> String {
    // Chosen by feel: more is not read.
    const SHOWN: usize = 20;
    let shown = names.iter().take(SHOWN).map(|name| excerpt(name, 60)).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

fn draw_steps(steps: &[ChartStep], before: usize, note: StepNote<'_>) -> Vec<String> {
    draw_chart(&SequenceChart { steps, before, note, width: WIDTH })
}
