//! Hover texts for the name or transition under the cursor.

use std::fmt::{self, Write};
use std::sync::Arc;

use ioxide_model::sts::Model;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

use super::definition::{FoundDefinition, resolve_meaning};
use crate::analysis::{TextAnalysis, TextLibrary};
use crate::index::{Bytes, Definition, DefinitionKind, NameMeaning, SwitchPlace};

/// The number of characters of a condition; longer ones are cut. Chosen by eye.
const MAX_CONDITION_CHARS: usize = 2_000;

/// Returns the hover text at `offset`; `model` gives the compiled model of the text, if it compiles.
#[must_use]
pub fn hover(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    library: &dyn TextLibrary,
    model: &mut dyn FnMut() -> Option<Arc<Model>>,
) -> Option<Hover> {
    let switch = switch_at(analysis, offset);
    if let Some((at, meaning)) = analysis.index.name_at(offset) {
        let found = resolve_meaning(analysis, &meaning, library);
        let mut words = match &found {
            Some(found) => describe_definition(found, analysis),
            None => describe_unknown(&meaning)?,
        };
        if let Some(switch) = switch.filter(|switch| switch.heading == at) {
            words.push_str(&condition_text(switch, model().as_deref()));
        }
        return Some(hover_at(analysis, at, words));
    }
    let switch = switch?;
    let heading = format!("transition `{}`", switch.labels.join("`, `"));
    Some(hover_at(analysis, switch.verb, format!("{heading}{}", condition_text(switch, model().as_deref()))))
}

fn hover_at(analysis: &TextAnalysis, at: Bytes, value: String) -> Hover {
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Hover { contents, range: Some(analysis.text.range(at.start, at.end)) }
}

/// Returns the transition whose label or verb is at `offset`.
fn switch_at(analysis: &TextAnalysis, offset: usize) -> Option<&SwitchPlace> {
    let touches = |switch: &&SwitchPlace| switch.heading.touches(offset) || switch.verb.touches(offset);
    analysis.index.switches.iter().find(touches)
}

/// Returns declaration, sort and doc comment of a definition, and its place.
fn describe_definition(found: &FoundDefinition, seen_from: &TextAnalysis) -> String {
    let definition = found.analysis.index.get(found.id);
    let mut words = format!("```ioxide\n{}\n```\n", definition.detail);
    let what = match (&definition.ty, definition.kind) {
        (_, DefinitionKind::TypeName) | (None, _) => definition.kind.word().to_owned(),
        (Some(ty), _) => format!("{} of sort `{ty}`", definition.kind.word()),
    };
    words.push_str(&format!("\n{what}{}\n", describe_source(found, definition, seen_from)));
    if !definition.docs.is_empty() {
        words.push_str(&format!("\n{}\n", definition.docs));
    }
    words
}

/// Returns the owner and the place of a definition, as seen from another text.
fn describe_source(found: &FoundDefinition, definition: &Definition, seen_from: &TextAnalysis) -> String {
    let of = definition.owner.map(|owner| {
        let owner = found.analysis.index.get(owner);
        format!(" of {} `{}`", owner.kind.word(), owner.name)
    });
    let line = found.analysis.text.position(definition.at.start).line + 1;
    let file = if found.analysis.path == seen_from.path {
        format!(", line {line}")
    } else {
        format!(", `{}` line {line}", found.analysis.path)
    };
    format!("{}{file}", of.unwrap_or_default())
}

fn describe_unknown(meaning: &NameMeaning) -> Option<String> {
    match meaning {
        NameMeaning::There(name) => {
            Some(format!("from `{}`, which cannot be read or does not have it\n", name.file))
        }
        NameMeaning::Here(_) => None,
    }
}

/// Returns the condition under which a transition can be taken: the compiled guard, else the one in the text.
fn condition_text(switch: &SwitchPlace, model: Option<&Model>) -> String {
    let compiled = model.and_then(|model| {
        let found = model
            .sts
            .switches
            .iter()
            .find(|found| switch.labels.iter().any(|label| **label == *found.label))?;
        let mut shown = ShownCondition { text: String::new(), room: MAX_CONDITION_CHARS };
        if write!(shown, "{}", model.pool.show(found.guard)).is_err() {
            shown.text.push_str(" ...");
        }
        Some(shown.text)
    });
    match (compiled, switch.condition.as_str()) {
        (Some(guard), _) if guard == "true" => "\n\ncan always be taken\n".to_owned(),
        (Some(guard), _) => format!("\n\ncan be taken when\n```ioxide\n{guard}\n```\n"),
        (None, "") => String::new(),
        (None, written) => format!("\n\nas written, when\n```ioxide\n{}\n```\n", cut_text(written)),
    }
}

/// A writer that refuses text beyond its room, since shared subterms could make the text of a term very long.
struct ShownCondition {
    text: String,
    room: usize,
}

impl Write for ShownCondition {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let n_chars = piece.chars().count();
        self.text.extend(piece.chars().take(self.room));
        self.room = self.room.checked_sub(n_chars).ok_or(fmt::Error)?;
        Ok(())
    }
}

fn cut_text(text: &str) -> String {
    match text.char_indices().nth(MAX_CONDITION_CHARS) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}
