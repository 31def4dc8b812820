//! The sections of the page.

use ioxide_record::event::MeasureRecord;

use super::escape::{code_span, fenced_block, shell_word, table_cell};
use crate::control_characters::show_control_characters;
use crate::run_number::number_from_one;
use crate::summary::lines::{self, plural};
use crate::summary::parts::PartFamily;
use crate::summary::{FailureSummary, Reasons, Summary};

/// The number of kinds of failures shown in full. Chosen by feel, as are the next two: reports in this form are
/// comments on changes, which have a limit of their own.
const MAX_KINDS: usize = 10;
/// The number of uncovered items named for each measure. Chosen by feel: more is not read.
const MAX_MISSING: usize = 8;
/// The number of switches, fields and messages named. Chosen by feel: more is not read.
const MAX_NAMED: usize = 50;

pub(super) fn verdict_section(summary: &Summary) -> String {
    let (verdict, counts) = (summary.verdict(), &summary.counts);
    let mark = match verdict {
        "passed" => "✅",
        "failed" => "❌",
        _ => "⚠️",
    };
    let told = match verdict {
        "failed" => format!("{} of {} failed", counts.failed, plural(counts.total(), "run")),
        "passed" => format!("{} of {} passed", counts.passed, plural(counts.total(), "run")),
        "without verdict" => format!("{} of {} had no verdict", counts.errors, plural(counts.total(), "run")),
        other => summary.reason().map_or_else(|| other.to_owned(), |why| format!("{other}: {why}")),
    };
    let Some(started) = &summary.started else { return format!("## {mark} {told}\n") };
    let set = if started.set.is_empty() {
        String::new()
    } else {
        format!(" with {}", code_span(&started.set.join(" ")))
    };
    format!(
        "## {mark} {}: {told}\n\n{} tested against {}{set}; {}, seed {}{}.\n",
        code_span(&started.model),
        code_span(&started.sut),
        code_span(if started.file.is_empty() { &started.model } else { &started.file }),
        code_span(&started.tester),
        started.seed,
        if summary.finished.is_none() { "; the record ends before the campaign did" } else { "" },
    )
}

pub(super) fn outcomes_section(summary: &Summary) -> String {
    let mut text = "| outcome | runs |\n| --- | ---: |\n".to_owned();
    for (n, word) in summary.counts.counts_in_words() {
        text.push_str(&format!("| {word} | {n} |\n"));
    }
    if summary.count_open_runs() > 0 {
        text.push_str(&format!("| not ended | {} |\n", summary.count_open_runs()));
    }
    text.push_str(&format!("\n{}", plural(summary.steps, "step")));
    if summary.time_ns > 0 {
        let (testing, repeating) = summary.split_time();
        let (testing, repeating) = (testing as f64 / 1e9, repeating as f64 / 1e9);
        text.push_str(&format!(" in {testing:.1} s"));
        if repeating > 0.0 {
            text.push_str(&format!("; {repeating:.1} s to repeat and shrink failures"));
        } else {
            text.push_str(&format!(", {:.0} a second", summary.steps as f64 / testing));
        }
    }
    if summary.doubts > 0 {
        text.push_str(&format!("; solver queries left unanswered: {}", summary.doubts));
    }
    text + ".\n"
}

pub(super) fn failures_section(summary: &Summary, record: &str) -> String {
    if summary.counts.failed == 0 {
        return String::new();
    }
    let mut text = "### Failures\n".to_owned();
    for kind in summary.kinds.iter().take(MAX_KINDS) {
        text.push_str(&failure_section(summary, kind, record));
    }
    for kind in summary.kinds.iter().skip(MAX_KINDS) {
        text.push_str(&format!("\n{}\n", failure_heading(kind)));
    }
    if summary.unlisted > 0 {
        text.push_str(&format!("\nAnd {} of further kinds.\n", plural(summary.unlisted, "run")));
    }
    text
}

fn failure_heading(kind: &FailureSummary) -> String {
    let goal =
        if kind.run.goal.is_empty() { String::new() } else { format!(" ({})", code_span(&kind.run.goal)) };
    format!(
        "**{}**: {}, first run {}{goal}.",
        code_span(&kind.id),
        plural(kind.runs, "run"),
        number_from_one(kind.run.number)
    )
}

fn failure_section(summary: &Summary, kind: &FailureSummary, record: &str) -> String {
    let again = match &kind.replayed {
        Some(told) if told.of == 0 => " It could not be repeated.".to_owned(),
        Some(told) => {
            let after_reset = if told.only_after_reset { ", never after a restart" } else { "" };
            format!(" Repeated, it failed again {} of {} times{after_reset}.", told.reproduced, told.of)
        }
        None => String::new(),
    };
    let smaller = match &kind.smaller {
        Some(smaller) if smaller.minimal => format!("; minimal: {}", smaller.size()),
        Some(smaller) => format!("; smaller: {}", smaller.size()),
        None => String::new(),
    };
    let sut = summary.started.as_ref().map_or("SUT", |started| &started.sut);
    let sut = shell_word(&show_control_characters(sut));
    // The smaller run may be that of a later run of this kind.
    let (run, smallest) = match &kind.smaller {
        Some(smaller) => (smaller.run, " --smallest"),
        None => (kind.run.number, ""),
    };
    let command = format!(
        "ioxide replay {} --number {}{smallest} --sut {sut}",
        shell_word(&show_control_characters(record)),
        number_from_one(run)
    );
    format!(
        "\n{}{again}\n\n<details><summary>Failing run: {}{smaller}</summary>\n\n{}\n</details>\n\n{}",
        failure_heading(kind),
        plural(kind.steps as u64, "step"),
        fenced_block("text", &lines::failure_lines(kind)),
        fenced_block("sh", &[command]),
    )
}

/// Returns the facts that speak for the model or for the system; empty if there are none.
pub(super) fn evidence_section(summary: &Summary) -> String {
    if summary.evidence.is_empty() {
        return String::new();
    }
    let facts: Vec<String> = summary.evidence.iter().map(|fact| show_control_characters(fact)).collect();
    format!(
        "### Evidence\n\nIt does not decide whether the system or the model is wrong.\n\n{}",
        fenced_block("text", &facts)
    )
}

/// Returns a table of the reasons why runs ended without a result; empty if there are none.
pub(super) fn reasons_table(title: &str, reasons: &Reasons) -> String {
    let mut rows: Vec<String> =
        reasons.iter().map(|(why, n)| format!("| {} | {n} |", table_cell(why))).collect();
    if rows.is_empty() {
        return String::new();
    }
    if reasons.count_beyond() > 0 {
        rows.push(format!("| other reasons | {} |", reasons.count_beyond()));
    }
    format!("### {title}\n\n| reason | runs |\n| --- | ---: |\n{}\n", rows.join("\n"))
}

pub(super) fn coverage_section(summary: &Summary) -> String {
    let Some(started) = &summary.started else { return String::new() };
    let never = summary.never_taken();
    let named: Vec<String> = never.iter().take(MAX_NAMED).map(|name| code_span(name)).collect();
    let more = match never.len() {
        n if n > MAX_NAMED => format!(" and {} more", n - MAX_NAMED),
        _ => String::new(),
    };
    let never =
        if named.is_empty() { "none never".to_owned() } else { format!("never: {}{more}", named.join(", ")) };
    let switches = format!(
        "### Transitions\n\n{} of {} covered, {} possibly covered; {never}.\n",
        summary.certain.len(),
        started.switches.len(),
        summary.possible.len() - summary.certain.len(),
    );
    switches + &parts_table(summary) + &measures_table(summary)
}

/// Returns a table of the requirements, and the transitions that trace to none; empty if the model names none.
pub(super) fn requirements_section(summary: &Summary) -> String {
    let table = &summary.requirements;
    if table.rows().is_empty() {
        return String::new();
    }
    let mut text =
        "### Requirements\n\n| requirement | result | covered | runs |\n| --- | --- | ---: | --- |\n"
            .to_owned();
    for row in table.rows().iter().take(MAX_NAMED) {
        let covered = match row.n_items() {
            0 => String::new(),
            items => format!("{} of {items}", row.n_covered()),
        };
        let (name, runs) = (table_cell(&row.note.name), row.runs_text());
        text.push_str(&format!("| {name} | {} | {covered} | {runs} |\n", row.status().word()));
    }
    if table.rows().len() > MAX_NAMED {
        text.push_str(&format!("\nAnd {} more requirements.\n", table.rows().len() - MAX_NAMED));
    }
    let untraced: Vec<String> =
        table.list_untraced().iter().take(MAX_NAMED).map(|name| code_span(name)).collect();
    if !untraced.is_empty() {
        let more = table.list_untraced().len() - untraced.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&format!("\nTransitions without a requirement: {}{more}.\n", untraced.join(", ")));
    }
    text
}

/// Returns a table of the measures of data and history coverage; empty if none was recorded.
fn measures_table(summary: &Summary) -> String {
    let row = |measure: &MeasureRecord| {
        let seen =
            measure.total.map_or(measure.seen.to_string(), |total| format!("{} of {total}", measure.seen));
        let missing: Vec<String> =
            measure.missing.iter().take(MAX_MISSING).map(|name| table_cell(name)).collect();
        let left = lines::count_unseen(measure);
        let more = left.saturating_sub(missing.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let name = if measure.measure == "switches" { "transitions" } else { &*measure.measure };
        format!("| {name} | {seen} | {}{more} |", missing.join(", "))
    };
    let rows: Vec<String> = summary.measures().iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n| measure | seen | not seen |\n| --- | ---: | --- |\n{}\n", rows.join("\n"))
}

/// Returns a table of the switches taken in each part of a composed system; empty if there are no parts.
fn parts_table(summary: &Summary) -> String {
    let row = |family: PartFamily| {
        let PartFamily { name, instances, total, some, each } = family;
        format!("| {} | {instances} | {total} | {some} | {each} |", code_span(&name))
    };
    let rows: Vec<String> = summary.part_families().into_iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = "| part | instances | transitions | covered in some | covered in all |\n\
                | --- | ---: | ---: | ---: | ---: |";
    format!("\n{head}\n{}\n", rows.join("\n"))
}

pub(super) fn values_section(summary: &Summary) -> String {
    let rows = summary.values.rows();
    if rows.is_empty() {
        return String::new();
    }
    let mut text =
        "### Inputs\n\n| input | sent | distinct values | values |\n| --- | ---: | ---: | --- |\n".to_owned();
    for row in rows.iter().take(MAX_NAMED) {
        let distinct = match (&row.field, row.is_more) {
            (None, _) => String::new(),
            (Some(_), false) => row.distinct.to_string(),
            (Some(_), true) => format!("over {}", row.distinct),
        };
        let told = if row.field.is_some() { table_cell(&row.values_text()) } else { String::new() };
        text.push_str(&format!("| {} | {} | {distinct} | {told} |\n", table_cell(&row.name()), row.sent));
    }
    if rows.len() > MAX_NAMED {
        text.push_str(&format!("\nAnd {} more fields.\n", rows.len() - MAX_NAMED));
    }
    if summary.values.is_full() {
        text.push_str("\nFurther messages or fields were not counted.\n");
    }
    text
}

pub(super) fn latencies_section(summary: &Summary) -> String {
    let told = summary.latencies();
    let mut text = String::new();
    if !told.is_empty() {
        text.push_str("### Response times\n\n| message | count | median | p99 | max |\n");
        text.push_str("| --- | ---: | ---: | ---: | ---: |\n");
    }
    for row in told.iter().take(MAX_NAMED) {
        let ms = |us: u64| format!("{:.1} ms", us as f64 / 1e3);
        let (half, most, max) = (ms(row.p50_us), ms(row.p99_us), ms(row.max_us));
        text.push_str(&format!("| {} | {} | {half} | {most} | {max} |\n", table_cell(&row.label), row.n));
    }
    if let Some(line) = lines::time_line(summary) {
        text.push_str(&format!("\nWhere the time went: {line}.\n"));
    }
    for line in lines::silence_lines(summary) {
        text.push_str(&format!("\n{}{}.\n", line[..1].to_uppercase(), &line[1..]));
    }
    text
}
