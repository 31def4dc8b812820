//! Messages that a system sends unasked and that the model does not see: ignored, or answered at once.
//!
//! A text is held against patterns for the whole message; an answer is a text in which `{1}` and `{name}` stand for
//! groups of the pattern, `{0}` for the whole message, and `{{`, `}}` for braces. Bytes are held against layouts; an
//! answer is a layout whose fields are those of the message.
//!
//! *Promises.* A rule never takes a part of a message: what it does not match whole goes to the model. The same message
//! always has the same fate: answers first, in the order of the file.

use regex::Regex;
use thiserror::Error;

use super::layout::{FieldShape, LayoutUnfit, LayoutValue, MessageLayout};
use super::text::full_regex;

/// The unsolicited messages of a system, as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnsolicitedConfig {
    /// The messages that are ignored.
    pub ignore: Vec<UnsolicitedPattern>,
    /// The messages that are answered at once.
    pub answer: Vec<AnswerRule>,
}

/// The form of messages that a rule is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsolicitedPattern {
    /// A regular expression for the whole text.
    Text(String),
    /// A layout of all bytes.
    Layout(MessageLayout),
}

/// Messages and the answer they get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerRule {
    /// A regular expression for the whole text, and a text with its groups.
    Text {
        /// The pattern.
        pattern: String,
        /// The answer.
        answer: String,
    },
    /// A layout of all bytes, and one with its fields.
    Layout {
        /// The layout of the message.
        pattern: MessageLayout,
        /// The layout of the answer.
        answer: MessageLayout,
    },
}

/// The reason why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BadRule {
    /// A pattern is no regular expression.
    #[error(transparent)]
    Pattern(#[from] regex::Error),
    /// A brace opens or closes nothing.
    #[error("a brace alone; write `{{{{` or `}}}}` for one")]
    LoneBrace,
    /// The answer uses a group that the pattern does not have.
    #[error("the pattern has no group `{0}`; `{{1}}` is its first group, `{{name}}` is `(?P<name>...)`")]
    NoGroup(String),
    /// The answer uses a field that the layout of the message does not have.
    #[error("the message has no field `{0}`")]
    NoField(String),
    /// A field is a number in the message and bytes in the answer, or the other way round.
    #[error("the field `{0}` is a number in one and bytes in the other")]
    OtherShape(String),
}

/// The treatment of an unsolicited message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsolicitedTreatment {
    /// Nothing.
    Ignored,
    /// It is answered by this text.
    Answered(String),
    /// It is answered by these bytes.
    AnsweredBytes(Vec<u8>),
    /// It should be answered, but its values do not fit into the answer.
    Unanswerable(LayoutUnfit),
}

/// The rules of an [`UnsolicitedConfig`], prepared.
#[derive(Debug, Default)]
pub struct UnsolicitedRules {
    answer: Vec<PreparedAnswer>,
    ignore: Vec<PreparedPattern>,
}

#[derive(Debug)]
enum PreparedPattern {
    Text(Regex),
    Layout(MessageLayout),
}

#[derive(Debug)]
enum PreparedAnswer {
    Text(Regex, Vec<AnswerPiece>),
    Layout(MessageLayout, MessageLayout),
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum AnswerPiece {
    Text(String),
    /// A group by its number.
    Number(usize),
    /// A group by its name.
    Name(String),
}

impl UnsolicitedRules {
    /// Reads patterns and answers.
    ///
    /// # Errors
    /// Returns the first rule that cannot be used: the key, its position there, and the problem.
    pub fn new(config: &UnsolicitedConfig) -> Result<Self, (&'static str, usize, BadRule)> {
        let mut rules = Self::default();
        for (at, rule) in config.answer.iter().enumerate() {
            rules.answer.push(PreparedAnswer::new(rule).map_err(|bad| ("answer", at, bad))?);
        }
        for (at, pattern) in config.ignore.iter().enumerate() {
            rules.ignore.push(PreparedPattern::new(pattern).map_err(|bad| ("ignore", at, bad))?);
        }
        Ok(rules)
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.answer.is_empty() && self.ignore.is_empty()
    }

    /// Returns what is done with a message if the model does not see it; `None` if the model sees it.
    #[must_use]
    pub fn treatment_of(&self, bytes: &[u8]) -> Option<UnsolicitedTreatment> {
        // Answers go before what is ignored: a heartbeat that must be answered may also fit a broad pattern such as
        // `INFO .*`, and the system ends the connection if nobody answers it.
        let answered = self.answer.iter().find_map(|rule| rule.answer_to(bytes));
        answered.or_else(|| {
            self.ignore
                .iter()
                .any(|pattern| pattern.matches_message(bytes))
                .then_some(UnsolicitedTreatment::Ignored)
        })
    }
}

impl PreparedPattern {
    fn new(pattern: &UnsolicitedPattern) -> Result<Self, BadRule> {
        Ok(match pattern {
            UnsolicitedPattern::Text(text) => Self::Text(full_regex(text)?),
            UnsolicitedPattern::Layout(layout) => Self::Layout(layout.clone()),
        })
    }

    fn matches_message(&self, bytes: &[u8]) -> bool {
        match self {
            // Bytes that are no text fit no pattern for texts: the model sees them, and the error names them.
            Self::Text(pattern) => std::str::from_utf8(bytes).is_ok_and(|text| pattern.is_match(text)),
            Self::Layout(layout) => layout.decode(bytes).is_ok(),
        }
    }
}

impl PreparedAnswer {
    fn new(rule: &AnswerRule) -> Result<Self, BadRule> {
        match rule {
            AnswerRule::Text { pattern, answer } => {
                let pattern = full_regex(pattern)?;
                let pieces = parse_answer(answer)?;
                // Checked here rather than when a message comes: a group that does not exist would be an empty text
                // in the answer, and the system would be blamed for what it makes of it.
                match pieces.iter().find(|piece| !piece.is_in(&pattern)) {
                    Some(AnswerPiece::Number(number)) => Err(BadRule::NoGroup(number.to_string())),
                    Some(AnswerPiece::Name(name)) => Err(BadRule::NoGroup(name.clone())),
                    Some(AnswerPiece::Text(_)) | None => Ok(Self::Text(pattern, pieces)),
                }
            }
            AnswerRule::Layout { pattern, answer } => {
                // Every field of the answer must come from the message, in the same form: nothing else could fill
                // it.
                for (name, shape) in answer.fields() {
                    let found = pattern.fields().find(|(other, _)| *other == name);
                    let (_, other) = found.ok_or_else(|| BadRule::NoField(name.to_owned()))?;
                    let is_number = |shape| matches!(shape, FieldShape::Number(_));
                    if is_number(shape) != is_number(other) {
                        return Err(BadRule::OtherShape(name.to_owned()));
                    }
                }
                Ok(Self::Layout(pattern.clone(), answer.clone()))
            }
        }
    }

    /// Returns the answer to a message; `None` if the rule is not for it.
    fn answer_to(&self, bytes: &[u8]) -> Option<UnsolicitedTreatment> {
        match self {
            Self::Text(pattern, pieces) => {
                let groups = pattern.captures(std::str::from_utf8(bytes).ok()?)?;
                let group = |found: Option<regex::Match<'_>>| {
                    // A group that took no part in the match is empty: `PING(?: (.*))?` is for a bare PING too.
                    found.map_or_else(String::new, |found| found.as_str().to_owned())
                };
                let piece = |piece: &AnswerPiece| match piece {
                    AnswerPiece::Text(text) => text.clone(),
                    AnswerPiece::Number(number) => group(groups.get(*number)),
                    AnswerPiece::Name(name) => group(groups.name(name)),
                };
                Some(UnsolicitedTreatment::Answered(pieces.iter().map(piece).collect()))
            }
            Self::Layout(pattern, answer) => {
                let found = pattern.decode(bytes).ok()?;
                let value = |name: &str| found.iter().find(|(other, _)| *other == name).cloned();
                let fields: Vec<(&str, LayoutValue)> =
                    answer.fields().filter_map(|(name, _)| value(name)).collect();
                // The forms agree, see `new`; a value can still be too large for its place in the answer.
                Some(match answer.encode(&fields) {
                    Ok(bytes) => UnsolicitedTreatment::AnsweredBytes(bytes),
                    Err(unfit) => UnsolicitedTreatment::Unanswerable(unfit),
                })
            }
        }
    }
}

impl AnswerPiece {
    /// Returns whether the pattern has the group that the piece stands for; true for a text.
    fn is_in(&self, pattern: &Regex) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Number(number) => *number < pattern.captures_len(),
            Self::Name(name) => pattern.capture_names().flatten().any(|other| other == name),
        }
    }
}

/// Reads an answer with its groups in braces.
fn parse_answer(text: &str) -> Result<Vec<AnswerPiece>, BadRule> {
    let (mut pieces, mut plain) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            plain.push_str(brace);
            rest = after;
            continue;
        }
        // The brace is not doubled, so it must open a hole: a closing one alone or `{}` is a mistake.
        let Some((name, after)) = rest.split_once('}').filter(|(name, _)| brace == "{" && !name.is_empty())
        else {
            return Err(BadRule::LoneBrace);
        };
        pieces.push(AnswerPiece::Text(std::mem::take(&mut plain)));
        pieces.push(match name.parse() {
            Ok(number) => AnswerPiece::Number(number),
            Err(_) => AnswerPiece::Name(name.to_owned()),
        });
        rest = after;
    }
    plain.push_str(rest);
    pieces.push(AnswerPiece::Text(plain));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::layout::Endian;

    fn text_rules(ignore: &[&str], answer: &[(&str, &str)]) -> Result<UnsolicitedRules, String> {
        let rule = |(pattern, answer): &(&str, &str)| AnswerRule::Text {
            pattern: (*pattern).to_owned(),
            answer: (*answer).to_owned(),
        };
        let config = UnsolicitedConfig {
            ignore: ignore.iter().map(|text| UnsolicitedPattern::Text((*text).to_owned())).collect(),
            answer: answer.iter().map(rule).collect(),
        };
        UnsolicitedRules::new(&config).map_err(|(key, at, bad)| format!("{key} {at}: {bad}"))
    }

    fn layout(text: &str) -> MessageLayout {
        MessageLayout::parse(text, Endian::Big).expect("a layout")
    }

    #[test]
    fn only_whole_messages_are_taken_and_answers_use_groups() {
        let rules = text_rules(
            &["INFO .*"],
            &[("PING(?: (?P<token>.*))?", "PONG {token}{{}}"), ("(A)(B)", "{2}{1}{0}")],
        );
        let rules = rules.expect("rules");
        assert_eq!(rules.treatment_of(b"INFO {}"), Some(UnsolicitedTreatment::Ignored));
        assert_eq!(rules.treatment_of(b"+INFO {}"), None, "the model sees what only contains the pattern");
        assert_eq!(rules.treatment_of(b"PING x"), Some(UnsolicitedTreatment::Answered("PONG x{}".into())));
        assert_eq!(rules.treatment_of(b"PING"), Some(UnsolicitedTreatment::Answered("PONG {}".into())));
        assert_eq!(rules.treatment_of(b"AB"), Some(UnsolicitedTreatment::Answered("BAAB".into())));
        assert_eq!(rules.treatment_of(&[0xff]), None);
    }

    #[test]
    fn a_rule_that_cannot_be_used_is_refused_with_its_place() {
        let refused = |ignore: &[&str], answer: &[(&str, &str)]| {
            text_rules(ignore, answer).map(drop).expect_err("it cannot be used")
        };
        assert!(refused(&["a", "("], &[]).starts_with("ignore 1: "));
        assert!(refused(&[], &[("(a)", "{2}")]).contains("no group `2`"));
        assert!(refused(&[], &[("a", "{x}")]).contains("no group `x`"));
        assert!(refused(&[], &[("a", "{")]).contains("brace"));
        assert!(refused(&[], &[("a", "}")]).contains("brace"));
        assert!(refused(&[], &[("a", "{}")]).contains("brace"));
    }

    #[test]
    fn fields_of_a_binary_message_return_in_its_answer() {
        let pattern = layout("0x32, u8 len(rest), u8 len(topic), text topic, u16 id, hex payload");
        let answer = layout("0x4002, u16 id");
        let config = UnsolicitedConfig {
            ignore: vec![UnsolicitedPattern::Layout(layout("0xd000"))],
            answer: vec![AnswerRule::Layout { pattern, answer: answer.clone() }],
        };
        let rules = UnsolicitedRules::new(&config).expect("rules");
        let publish = [0x32, 6, 1, b'a', 0x12, 0x34, 0xff, 0xfe];
        assert_eq!(
            rules.treatment_of(&publish),
            Some(UnsolicitedTreatment::AnsweredBytes(vec![0x40, 0x02, 0x12, 0x34]))
        );
        assert_eq!(rules.treatment_of(&publish[..7]), None, "its length is wrong");
        assert_eq!(rules.treatment_of(&[0xd0, 0]), Some(UnsolicitedTreatment::Ignored));
        let wrong = AnswerRule::Layout { pattern: layout("0x01, text id"), answer: answer.clone() };
        let wrong = UnsolicitedConfig { ignore: Vec::new(), answer: vec![wrong] };
        assert!(matches!(UnsolicitedRules::new(&wrong), Err((_, 0, BadRule::OtherShape(_)))));
        let missing = AnswerRule::Layout { pattern: layout("0x01"), answer };
        let missing = UnsolicitedConfig { ignore: Vec::new(), answer: vec![missing] };
        assert!(matches!(UnsolicitedRules::new(&missing), Err((_, 0, BadRule::NoField(_)))));
    }
}
