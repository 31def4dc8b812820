//! The last lines of a campaign: outcomes, kinds of failures, transitions covered; in full also values and times.

use ioxide_record::event::{LatencyRecord, MeasureRecord};

use super::meter::{duration_text, seconds};
use super::{ClosingDetail, MAX_INCONCLUSIVE};
use crate::control_characters::excerpt;
use crate::requirements::RequirementRow;
use crate::run_number::number_from_one;
use crate::summary::lines::{self, list_names, plural};
use crate::summary::parts::PartFamily;
use crate::summary::{OutcomeCounts, Summary};
use crate::values::ValueRow;

/// The duration from which on the speed is shown: below it, it would say little and differ every time.
const TOLD_FROM_NS: u64 = 5_000_000_000;
/// The number of fields shown one by one. Chosen by eye, as are the next three: the end of a campaign should fit on
/// one screen.
const MAX_ROWS: usize = 16;
/// The number of uncovered items named for each measure. Chosen by feel: more is not read.
const MAX_MISSING: usize = 3;
/// The number of requirements shown one by one. Chosen by eye, as above.
const MAX_REQUIREMENTS: usize = 30;
/// The number of variables whose extent is shown. Chosen by feel: more is not read.
const MAX_EXTENTS: usize = 6;
/// The number of characters of the reason of inconclusive runs. Chosen by eye.
const MAX_REASON: usize = 120;
/// The number of columns for names. Chosen by eye.
const MAX_NAME: usize = 32;

/// Returns the last lines.
pub(super) fn closing_lines(summary: &Summary, detail: ClosingDetail) -> Vec<String> {
    let mut lines: Vec<String> =
        summary.reason().map(|why| format!("INCONCLUSIVE: {why}")).into_iter().collect();
    let is_full = detail == ClosingDetail::Full;
    let is_quiet = !is_full && summary.operations.is_described();
    lines.push(outcomes_line(summary, is_quiet));
    if is_full || summary.counts.failed == 0 {
        lines.extend(lines::time_line(summary));
    }
    if summary.thinned > 0 {
        lines.push(format!(
            "the record has no steps of {} without a failure; the same seed repeats them, and `--keep all` \
             records them",
            plural(summary.thinned, "run")
        ));
    }
    if summary.finished.is_none() {
        lines.push(
            "the record ends before the campaign did; these figures cover the recorded part".to_owned(),
        );
    }
    lines.extend(failure_kind_lines(summary));
    lines.extend(inconclusive_line(summary, is_quiet));
    if summary.doubts > 0 {
        lines.push(format!("solver queries left unanswered: {}", summary.doubts));
    }
    // Whoever has a failure to look at is not helped by what was covered.
    if summary.started.is_some() && (is_full || summary.counts.failed == 0) {
        lines.extend(summary.operations.lines(is_full));
        lines.push(transitions_line(summary, is_full));
        lines.extend(summary.requirements.line());
    }
    if is_full {
        lines.extend(requirement_lines(summary));
        lines.extend(part_lines(summary));
        lines.extend(value_lines(summary));
        lines.extend(measure_lines(summary));
        lines.extend(latency_lines(summary));
    }
    lines.extend(lines::lateness_lines(summary));
    if is_full {
        lines.extend(lines::silence_time_line(summary));
    }
    lines
}

/// Returns the numbers of runs and steps; `is_quiet` counts runs that only missed their goal as runs without a failure.
fn outcomes_line(summary: &Summary, is_quiet: bool) -> String {
    let missed = if is_quiet { summary.missed.min(summary.counts.inconclusive) } else { 0 };
    let counts = OutcomeCounts { inconclusive: summary.counts.inconclusive - missed, ..summary.counts };
    let mut shown: Vec<String> = counts.counts_in_words().map(|(n, word)| format!("{n} {word}")).collect();
    if missed > 0 {
        shown.push(format!("{missed} without a failure that did not reach their goal"));
    }
    if summary.count_open_runs() > 0 {
        shown.push(format!("{} not ended", summary.count_open_runs()));
    }
    let shown = if shown.is_empty() { "none finished".to_owned() } else { shown.join(", ") };
    let mut line =
        format!("{}: {shown}; {}", plural(summary.counts.total(), "run"), plural(summary.steps, "step"));
    if summary.time_ns >= TOLD_FROM_NS {
        line.push_str(&speed_text(summary));
    }
    line
}

/// Returns the time in which the steps were made, their number per second, and the time that failures took besides.
fn speed_text(summary: &Summary) -> String {
    let (testing_ns, repeating_ns) = summary.split_time();
    let time = seconds(testing_ns);
    // Of a short time the speed would say little.
    let speed = match testing_ns {
        TOLD_FROM_NS.. => format!(", {:.0} a second", summary.steps as f64 / time),
        _ => String::new(),
    };
    let repeating = match repeating_ns {
        0 => String::new(),
        _ => format!("; {} to repeat and shrink {}", short_duration(repeating_ns), failures_word(summary)),
    };
    let spent = if repeating_ns == 0 { duration_text(time) } else { short_duration(testing_ns) };
    format!(" in {spent}{speed}{repeating}")
}

/// Returns a duration with a tenth of a second where that matters.
fn short_duration(ns: u64) -> String {
    let time = seconds(ns);
    if time < 10.0 { format!("{time:.1} s") } else { duration_text(time) }
}

fn failures_word(summary: &Summary) -> &'static str {
    if summary.counts.failed == 1 { "the failure" } else { "failures" }
}

/// Returns the kinds of failures; empty for fewer than two failures, which are shown already.
fn failure_kind_lines(summary: &Summary) -> Vec<String> {
    if summary.counts.failed < 2 {
        return Vec::new();
    }
    // Runs that failed in different states may turn out to be the same failure: their smallest runs have one id.
    let mut kinds: Vec<(&str, u64, u64)> = Vec::new();
    for kind in &summary.kinds {
        match kinds.iter_mut().find(|(id, ..)| *id == kind.id) {
            Some((_, runs, _)) => *runs += kind.runs,
            None => kinds.push((&kind.id, kind.runs, number_from_one(kind.run.number))),
        }
    }
    let mut lines = vec![format!("failures: {}", plural(kinds.len() as u64, "kind"))];
    lines.extend(
        kinds.iter().map(|(id, runs, first)| format!("  {id}: {}, first run {first}", plural(*runs, "run"))),
    );
    if summary.unlisted > 0 {
        lines.push(format!("  {} of further kinds", plural(summary.unlisted, "run")));
    }
    lines
}

/// Returns the most frequent reason of inconclusive runs; `None` if every one of them had a line of its own.
fn inconclusive_line(summary: &Summary, is_quiet: bool) -> Option<String> {
    let runs = summary.counts.inconclusive;
    if runs <= MAX_INCONCLUSIVE || is_quiet && runs == summary.missed {
        return None;
    }
    // The first of equally frequent reasons, so that the line does not depend on the order of the others.
    let most = summary.inconclusive.iter().reduce(|one, other| if other.1 > one.1 { other } else { one });
    let (reason, times) = most?;
    let share = if times == runs { String::new() } else { format!(" ({times} of them)") };
    Some(format!("inconclusive: {}{share}: {}", plural(runs, "run"), excerpt(reason, MAX_REASON)))
}

fn transitions_line(summary: &Summary, is_full: bool) -> String {
    let never = summary.never_taken();
    let maybe = summary.possible.len() - summary.certain.len();
    let total = summary.possible.len() + never.len();
    let mut line = format!("transitions: {} of {total} covered", summary.certain.len());
    if maybe > 0 {
        line.push_str(&format!(", {maybe} possibly covered"));
    }
    // By operation the table says it, and the names of a generated model are long.
    let is_by_operation = summary.operations.is_described() && !is_full;
    if !never.is_empty() && is_by_operation {
        line.push_str(&format!("; never taken: {}", never.len()));
    } else if !never.is_empty() {
        line.push_str(&format!("; never taken: {}", list_names(&never)));
    }
    line
}

/// Returns a table of the requirements, and the transitions that trace to none.
fn requirement_lines(summary: &Summary) -> Vec<String> {
    let rows = summary.requirements.rows();
    let shown = &rows[..rows.len().min(MAX_REQUIREMENTS)];
    let name = |row: &RequirementRow| excerpt(&row.note.name, MAX_NAME - 1);
    let width = shown.iter().map(|row| name(row).chars().count()).max().unwrap_or(0);
    let mut lines: Vec<String> = shown
        .iter()
        .map(|row| {
            let runs = if row.runs == 0 { String::new() } else { format!(": {}", row.runs_text()) };
            format!("  {:width$}  {}{runs}", name(row), row.status_text())
        })
        .collect();
    if rows.len() > MAX_REQUIREMENTS {
        lines.push(format!("  and {} more requirements", rows.len() - MAX_REQUIREMENTS));
    }
    let untraced = summary.requirements.list_untraced();
    if !untraced.is_empty() {
        lines.push(format!("  transitions without a requirement: {}", list_names(untraced)));
    }
    lines
}

/// Returns lines with the transitions taken in each part of a composed system; for an array, in some instance and in
/// each.
fn part_lines(summary: &Summary) -> Vec<String> {
    let families = summary.part_families();
    let width = families.iter().map(|family| family.name.chars().count()).max().unwrap_or(0);
    let line = |family: &PartFamily| {
        let PartFamily { name, instances, total, some, each } = family;
        let some = format!("  {name:width$}  {some} of {total} transitions");
        if *instances == 1 {
            some
        } else {
            format!("{some} covered in one of {instances} instances or more, {each} in all")
        }
    };
    let lines: Vec<String> = families.iter().map(line).collect();
    if lines.is_empty() { lines } else { [vec!["parts:".to_owned()], lines].concat() }
}

fn value_lines(summary: &Summary) -> Vec<String> {
    let rows = summary.values.rows();
    let shown = &rows[..rows.len().min(MAX_ROWS)];
    let name = |row: &ValueRow| excerpt(&row.name(), MAX_NAME - 1);
    let width = shown.iter().map(|row| name(row).chars().count()).max().unwrap_or(0);
    let digits = shown.iter().map(|row| row.sent.to_string().len()).max().unwrap_or(0);
    let mut lines: Vec<String> = shown
        .iter()
        .map(|row| match row.field {
            Some(_) => format!(
                "  {:width$}  {:>digits$} sent, {}: {}",
                name(row),
                row.sent,
                row.distinct_text(),
                row.values_text()
            ),
            None => format!("  {:width$}  {:>digits$} sent", name(row), row.sent),
        })
        .collect();
    if !lines.is_empty() {
        lines.insert(0, "inputs:".to_owned());
    }
    if rows.len() > MAX_ROWS {
        lines.push(format!("  and {} more fields", rows.len() - MAX_ROWS));
    }
    if summary.values.is_full() {
        lines.push("  more messages or fields are not listed".to_owned());
    }
    lines
}

/// Returns lines with the measures of coverage other than switches, each with the first items not covered.
fn measure_lines(summary: &Summary) -> Vec<String> {
    let beside = |told: &&MeasureRecord| told.measure != "switches";
    let mut lines: Vec<String> = summary.measures().iter().filter(beside).map(measure_line).collect();
    if lines.is_empty() {
        return lines;
    }
    lines.insert(0, "other coverage (infeasible items excluded):".to_owned());
    let Some(history) = summary.finished.as_ref().map(|told| &told.history) else { return lines };
    let far: Vec<String> = history
        .extents
        .iter()
        .take(MAX_EXTENTS)
        .map(|it| format!("{} {} to {}", it.variable, it.least, it.most))
        .collect();
    let far = if far.is_empty() { String::new() } else { format!("; {}", far.join(", ")) };
    lines.push(format!("  longest run: {}{far}", plural(history.longest_run, "step")));
    if let Some(chance) = history.new_pairs_per_million {
        let percent = chance as f64 / 1e4;
        let percent = if percent < 0.1 { "under 0.1".to_owned() } else { format!("{percent:.1}") };
        lines.push(format!("  estimated chance that the next step covers a new pair: {percent} %"));
    }
    lines
}

fn measure_line(measure: &MeasureRecord) -> String {
    let seen = measure.total.map_or(measure.seen.to_string(), |total| format!("{} of {total}", measure.seen));
    let mut line = format!("  {:<11}  {seen}", measure.measure);
    let left = lines::count_unseen(measure);
    if left > 0 {
        let named: Vec<String> = measure.missing.iter().take(MAX_MISSING).map(|it| excerpt(it, 60)).collect();
        let more = left.saturating_sub(named.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        line.push_str(&format!("; missing: {}{more}", named.join(", ")));
    }
    line
}

fn latency_lines(summary: &Summary) -> Vec<String> {
    let told = summary.latencies();
    let shown = &told[..told.len().min(MAX_ROWS)];
    let mut lines: Vec<String> = shown.iter().map(latency_line).collect();
    if !lines.is_empty() {
        lines.insert(0, "response times (median, p99, max):".to_owned());
    }
    if told.len() > MAX_ROWS {
        lines.push(format!("  and {} more messages", told.len() - MAX_ROWS));
    }
    lines
}

fn latency_line(told: &LatencyRecord) -> String {
    let ms = |us: u64| us as f64 / 1e3;
    let label = excerpt(&told.label, MAX_NAME);
    let (half, most, max) = (ms(told.p50_us), ms(told.p99_us), ms(told.max_us));
    format!("  {label}  {half:.1} ms, {most:.1} ms, {max:.1} ms ({} messages)", told.n)
}
