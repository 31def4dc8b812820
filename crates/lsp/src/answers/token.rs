//! Semantic tokens: colours by the meaning of a name.

use ioxide_lang::lexeme::LexemeKind;
use ioxide_lang::words::place_words;
use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType};
use rustc_hash::FxHashMap;

use crate::analysis::TextAnalysis;
use crate::index::{DefinitionKind, NameMeaning};
use crate::text::to_protocol_number;

/// The kinds of tokens, in the order of their numbers.
pub const TYPES: &[SemanticTokenType] = &[
    SemanticTokenType::KEYWORD,
    SemanticTokenType::NUMBER,
    SemanticTokenType::STRING,
    SemanticTokenType::COMMENT,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::EVENT,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::TYPE,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::CLASS,
    SemanticTokenType::MACRO,
];

/// The modifiers of tokens, one bit each, in the order of the bits.
pub const MODIFIERS: &[SemanticTokenModifier] = &[
    SemanticTokenModifier::DECLARATION,
    SemanticTokenModifier::READONLY,
    SemanticTokenModifier::MODIFICATION,
    SemanticTokenModifier::DOCUMENTATION,
];

/// The bits of the modifiers, in the order of the legend above, as the protocol counts them.
const DECLARATION: u32 = 1;
const READONLY: u32 = 2;
const MODIFICATION: u32 = 4;
const DOCUMENTATION: u32 = 8;

/// The names of built-in types, which have no declaration.
const BUILT_IN_TYPES: &[&str] = &["bool", "int", "real", "string", "list", "set", "map"];

/// Returns the tokens of the text, each with its distance from the one before.
#[must_use]
pub fn semantic_tokens(analysis: &TextAnalysis) -> Vec<SemanticToken> {
    let meant = token_meanings(analysis);
    let mut tokens = Vec::new();
    let (mut line, mut column) = (0, 0);
    for lexeme in &analysis.lexemes {
        let word = analysis.lexeme_text(lexeme);
        let known = meant.get(&(lexeme.start as usize)).copied();
        let Some((kind, modifiers)) = known.or_else(|| plain_token(lexeme.kind, word)) else { continue };
        let at = analysis.text.position(lexeme.start as usize);
        let delta_line = at.line - line;
        let delta_start = if delta_line == 0 { at.character - column } else { at.character };
        let length = to_protocol_number(word.encode_utf16().count());
        tokens.push(SemanticToken {
            delta_line,
            delta_start,
            length,
            token_type: kind,
            token_modifiers_bitset: modifiers,
        });
        (line, column) = (at.line, at.character);
    }
    tokens
}

/// Returns the kind and modifiers of every name with a meaning, by its first byte.
fn token_meanings(analysis: &TextAnalysis) -> FxHashMap<usize, (u32, u32)> {
    let index = &analysis.index;
    let mut meant = FxHashMap::default();
    for occurrence in &index.occurrences {
        let NameMeaning::Here(id) = &occurrence.meaning else { continue };
        let (kind, modifiers) = definition_token(index.get(*id).kind);
        let writes = if occurrence.writes { MODIFICATION } else { 0 };
        meant.insert(occurrence.at.start, (kind, modifiers | writes));
    }
    for (_, definition) in index.definitions().filter(|(_, found)| !found.name.is_empty()) {
        let (kind, modifiers) = definition_token(definition.kind);
        meant.entry(definition.at.start).or_insert((kind, modifiers | DECLARATION));
    }
    meant
}

/// Returns the kind and modifiers of a lexeme without a meaning; `None` if it gets no token.
fn plain_token(kind: LexemeKind, word: &str) -> Option<(u32, u32)> {
    Some(match kind {
        LexemeKind::Reserved => (0, 0),
        LexemeKind::Name if BUILT_IN_TYPES.contains(&word) => (9, READONLY),
        LexemeKind::Name if place_words().any(|it| it == word) => (0, 0),
        LexemeKind::Number => (1, 0),
        LexemeKind::Text => (2, 0),
        LexemeKind::Comment => (3, 0),
        LexemeKind::Doc => (3, DOCUMENTATION),
        LexemeKind::Sign if matches!(word, "{" | "}" | "(" | ")" | "[" | "]" | "," | ":" | ";" | ".") => {
            return None;
        }
        LexemeKind::Sign => (4, 0),
        LexemeKind::Name | LexemeKind::Unknown => return None,
    })
}

fn definition_token(kind: DefinitionKind) -> (u32, u32) {
    match kind {
        DefinitionKind::Model | DefinitionKind::System | DefinitionKind::UsedModel => (5, 0),
        DefinitionKind::Input | DefinitionKind::Observed | DefinitionKind::Output => (6, 0),
        DefinitionKind::Field => (7, 0),
        DefinitionKind::Variable | DefinitionKind::Clock => (8, 0),
        DefinitionKind::Constant => (8, READONLY),
        DefinitionKind::TypeName | DefinitionKind::Enum | DefinitionKind::Record => (9, 0),
        DefinitionKind::Variant => (10, 0),
        DefinitionKind::Function => (11, 0),
        DefinitionKind::Parameter | DefinitionKind::Bound => (12, 0),
        DefinitionKind::State | DefinitionKind::Part | DefinitionKind::Channel => (13, 0),
        DefinitionKind::Label | DefinitionKind::Purpose | DefinitionKind::Property => (14, 0),
        DefinitionKind::Test => (2, 0),
    }
}
