//! Messages that the model does not see, as the project file describes them: `ignore` and `answer`.

use ioxide_wire::codec::binary::BinaryConfig;
use ioxide_wire::codec::http::answer::{AnswerConfig, AnswerReader};
use ioxide_wire::codec::layout::{Endian, MessageLayout};
use ioxide_wire::codec::overlap::{self, Overlap};
use ioxide_wire::codec::text::TextConfig;
use ioxide_wire::codec::unsolicited::{AnswerRule, UnsolicitedConfig, UnsolicitedPattern, UnsolicitedRules};

use super::protocol;
use super::table::{ProjectTable, TableItem};
use crate::error::ProjectError;

/// Returns the texts that the model does not see.
pub(super) fn of_text(system: &ProjectTable<'_>) -> Result<UnsolicitedConfig, ProjectError> {
    let ignore = system.words("ignore")?.into_iter().map(UnsolicitedPattern::Text).collect();
    check_config(system, UnsolicitedConfig { ignore, answer: text_answers(system)? })
}

/// Returns the binary messages that the model does not see; numbers without an order of their own have `endian`.
pub(super) fn of_binary(
    system: &ProjectTable<'_>,
    endian: Endian,
) -> Result<UnsolicitedConfig, ProjectError> {
    let ignored = |text: String| {
        let layout = MessageLayout::parse(&text, endian);
        layout
            .map(UnsolicitedPattern::Layout)
            .map_err(|bad| system.wrong_value("ignore", &format!("`{text}`: {bad}")))
    };
    let ignore = system.words("ignore")?.into_iter().map(ignored).collect::<Result<_, _>>()?;
    let mut answer = Vec::new();
    if let Some(table) = system.table("answer")? {
        for (key, text) in system.texts("answer")? {
            let layout = |text: &str| {
                let layout = MessageLayout::parse(&system.fill_index(text), endian);
                layout.map_err(|bad| table.wrong_value(&key, &bad.to_string()))
            };
            answer.push(AnswerRule::Layout { pattern: layout(&key)?, answer: layout(&text)? });
        }
    }
    check_config(system, UnsolicitedConfig { ignore, answer })
}

/// Returns the messages of streams that the model does not see, by their data.
pub(super) fn of_streams(system: &ProjectTable<'_>) -> Result<UnsolicitedConfig, ProjectError> {
    let text = |item| match item {
        TableItem::Text(text) => Some(UnsolicitedPattern::Text(text)),
        TableItem::Table(_) => None,
    };
    let ignore = system.items("ignore")?.into_iter().filter_map(text).collect();
    check_config(system, UnsolicitedConfig { ignore, answer: text_answers(system)? })
}

/// Returns the messages of streams that the model does not see, by other conditions than their data.
pub(super) fn ignored_events(system: &ProjectTable<'_>) -> Result<Vec<AnswerConfig>, ProjectError> {
    let mut found = Vec::new();
    for item in system.items("ignore")? {
        let TableItem::Table(table) = item else { continue };
        let event = protocol::event(&table)?;
        if event.event.is_none() {
            return Err(system.wrong_value(
                "ignore",
                "only messages of a stream can be ignored: `{ event = \"NAME\" }`, where messages of a WebSocket \
                 are called `message` or `binary`",
            ));
        }
        AnswerReader::new(&event).map_err(|bad| system.wrong_value("ignore", &bad.to_string()))?;
        found.push(event);
    }
    Ok(found)
}

/// Returns the texts that are answered at once.
fn text_answers(system: &ProjectTable<'_>) -> Result<Vec<AnswerRule>, ProjectError> {
    let rule = |(pattern, answer): (String, String)| AnswerRule::Text {
        pattern: system.fill_index(&pattern),
        answer: protocol::template(&answer),
    };
    Ok(system.texts("answer")?.into_iter().map(rule).collect())
}

/// Returns the rules if they can be used.
fn check_config(
    system: &ProjectTable<'_>,
    config: UnsolicitedConfig,
) -> Result<UnsolicitedConfig, ProjectError> {
    match UnsolicitedRules::new(&config) {
        Ok(_) => Ok(config),
        Err((key, at, bad)) => {
            let table = if system.is_table(key) { system.table(key)? } else { None };
            let name = table.as_ref().and_then(|table| table.keys().get(at).copied());
            Err(match (&table, name) {
                (Some(table), Some(name)) => table.wrong_value(name, &bad.to_string()),
                _ => system.wrong_value(key, &bad.to_string()),
            })
        }
    }
}

/// Returns the outputs of a text protocol that the rules hide, all of them or some of their messages.
pub(super) fn hidden_texts(rules: &UnsolicitedConfig, text: &TextConfig) -> Vec<Overlap> {
    let answer = rules.answer.iter().filter_map(|rule| match rule {
        AnswerRule::Text { pattern, .. } => Some(("answer".to_owned(), pattern.clone())),
        AnswerRule::Layout { .. } => None,
    });
    let ignore = rules.ignore.iter().filter_map(|pattern| match pattern {
        UnsolicitedPattern::Text(pattern) => Some(("ignore".to_owned(), pattern.clone())),
        UnsolicitedPattern::Layout(_) => None,
    });
    let first: Vec<(String, String)> = answer.chain(ignore).collect();
    let outputs = first.iter().chain(&text.outputs).cloned().collect();
    hides(overlap::of_texts(&TextConfig { outputs, ..TextConfig::default() }), &text.outputs)
}

/// Returns the outputs of a binary protocol that the rules may hide.
pub(super) fn hidden_layouts(rules: &UnsolicitedConfig, binary: &BinaryConfig) -> Vec<Overlap> {
    let answer = rules.answer.iter().filter_map(|rule| match rule {
        AnswerRule::Layout { pattern, .. } => Some(("answer".to_owned(), pattern.clone())),
        AnswerRule::Text { .. } => None,
    });
    let ignore = rules.ignore.iter().filter_map(|pattern| match pattern {
        UnsolicitedPattern::Layout(layout) => Some(("ignore".to_owned(), layout.clone())),
        UnsolicitedPattern::Text(_) => None,
    });
    let first: Vec<(String, MessageLayout)> = answer.chain(ignore).collect();
    let outputs = first.iter().chain(&binary.outputs).cloned().collect();
    hides(overlap::of_layouts(&BinaryConfig { outputs, ..BinaryConfig::default() }), &binary.outputs)
}

/// Returns those of the overlaps in which a rule comes before an output.
fn hides<T>(overlaps: Vec<Overlap>, outputs: &[(String, T)]) -> Vec<Overlap> {
    let is_output = |name: &str| outputs.iter().any(|(other, _)| other == name);
    overlaps.into_iter().filter(|found| !is_output(&found.earlier) && is_output(&found.later)).collect()
}

/// Returns the patterns that begin with `^` and match a single text, which is seldom meant.
pub(super) fn half_anchored(rules: &UnsolicitedConfig) -> Vec<&str> {
    let ignore = rules.ignore.iter().filter_map(|pattern| match pattern {
        UnsolicitedPattern::Text(pattern) => Some(pattern.as_str()),
        UnsolicitedPattern::Layout(_) => None,
    });
    let answer = rules.answer.iter().filter_map(|rule| match rule {
        AnswerRule::Text { pattern, .. } => Some(pattern.as_str()),
        AnswerRule::Layout { .. } => None,
    });
    let is_literal = |text: &str| !text.contains(['.', '*', '+', '?', '(', '[', '|', '\\', '$']);
    ignore.chain(answer).filter(|text| text.strip_prefix('^').is_some_and(is_literal)).collect()
}
