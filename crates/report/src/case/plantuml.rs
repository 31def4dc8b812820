//! A case as a PlantUML state diagram.
//!
//! Texts of transitions run to the end of their line, where PlantUML reads markup: backslashes, tildes and
//! angle brackets are written so that they show as they are (PlantUML language reference, "Creole").

use std::fmt::Write as _;

use ioxide_testgen::case::{ArcTarget, CaseVerdict, CaseVerdictKind, TestCase};

use super::CaseView;
use crate::control_characters::show_control_characters;

/// The diagram.
#[must_use]
pub fn write_plantuml(view: &CaseView<'_>) -> String {
    let mut out = String::from("@startuml\nhide empty description\n");
    let _ = writeln!(out, "title {}", escape(&view.title()));
    let _ = writeln!(out, "[*] --> {}", TestCase::state_name(0));
    for (n, state) in view.case.states.iter().enumerate() {
        let name = TestCase::state_name(n);
        if let Some(loc) = state.loc {
            let _ = writeln!(out, "{name} : {}", escape(&view.model.sts.locations[loc].name));
        }
        for arc in &state.arcs {
            let target = match arc.target {
                ArcTarget::State(next) => TestCase::state_name(next),
                ArcTarget::Verdict(verdict) => format!("{name}_{}", verdict.word()),
            };
            let text =
                format!("{} {} [{}]", arc.rule.word(), view.message_text(arc), view.guard_text(arc.guard));
            let _ = writeln!(out, "{name} --> {target} : {}", escape(&text));
        }
        for verdict in state_verdicts(state) {
            let word = verdict.word();
            let colour = match verdict.kind() {
                CaseVerdictKind::Fail => "#pink",
                CaseVerdictKind::Pass => "#palegreen",
                CaseVerdictKind::Inconclusive => "#lightyellow",
            };
            let _ = writeln!(out, "state \"{word}\" as {name}_{word} {colour}");
        }
    }
    out.push_str("@enduml\n");
    out
}

/// The verdicts of a state, each once.
fn state_verdicts(state: &ioxide_testgen::case::CaseState) -> Vec<CaseVerdict> {
    let mut verdicts = Vec::new();
    for arc in &state.arcs {
        if let ArcTarget::Verdict(verdict) = arc.target
            && !verdicts.contains(&verdict)
        {
            verdicts.push(verdict);
        }
    }
    verdicts
}

/// Returns `text` without characters that PlantUML reads as markup.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in show_control_characters(text).chars() {
        match c {
            '\\' => out.push_str("<U+005C>"),
            '~' => out.push_str("<U+007E>"),
            '<' => out.push_str("<U+003C>"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
