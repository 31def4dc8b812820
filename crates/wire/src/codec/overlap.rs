//! Texts that two patterns both match, found by walking their automata side by side.
//!
//! The order of patterns decides, so a special case before a general one is as it should be. What is told
//! is a pattern that can never be taken, and two patterns that share some texts and not others.
//!
//! *Promises.* What is told is true, with a shortest text where there is one. Patterns whose automata are too
//! large to decide are passed over.

use std::collections::VecDeque;
use std::fmt;

use indexmap::IndexMap;
use ioxide_record::line::cut;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input};

use super::binary::BinaryConfig;
use super::http::HttpConfig;
use super::http::answer::AnswerConfig;
use super::text::TextConfig;

/// Pairs of states looked at before two patterns are passed over. Chosen by feel: a warning too few, never a wrong
/// one.
const MAX_PAIRS: usize = 10_000;
/// Bytes an automaton may take. Chosen by feel, as for the pairs.
const MAX_SIZE: usize = 1 << 20;

/// An output that shares messages with something asked before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The pattern tried before it: the name of an output, or `more`.
    pub earlier: String,
    /// The output.
    pub later: String,
    /// The texts that they share.
    pub shared: SharedTexts,
}

/// The texts that two patterns share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedTexts {
    /// All texts that the later one matches.
    All,
    /// This text and maybe others, but not all.
    Text(String),
    /// Unknown: constants and sizes of the layouts do not distinguish them.
    Unknown,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { earlier, later, shared } = self;
        match shared {
            SharedTexts::All if earlier == "more" => {
                write!(f, "`{later}` never matches: `more` takes every text that it would match")
            }
            SharedTexts::All => {
                write!(
                    f,
                    "`{later}` never matches: `{earlier}`, which comes first, takes every text that it \
                           would match"
                )
            }
            SharedTexts::Text(text) => {
                let text = cut(&text.escape_debug().to_string(), 60);
                write!(
                    f,
                    "\"{text}\" is `{earlier}` and `{later}`; ioxide takes it as `{earlier}`, which comes first"
                )
            }
            SharedTexts::Unknown => {
                write!(
                    f,
                    "no constant distinguishes `{earlier}` from `{later}`; where both match, ioxide takes \
                     `{earlier}`, which comes first"
                )
            }
        }
    }
}

/// Returns the outputs that share texts with others, or that `more` hides.
#[must_use]
pub fn of_texts(config: &TextConfig) -> Vec<Overlap> {
    let more = config.more.iter().map(|more| ("more", build_automaton(more)));
    let outputs = config.outputs.iter().map(|(name, pattern)| (name.as_str(), build_automaton(pattern)));
    let all: Vec<_> = more.chain(outputs).collect();
    let mut found = Vec::new();
    for (n, (later, second)) in all.iter().enumerate() {
        for (earlier, first) in &all[..n] {
            // `None` if one automaton is too large: nothing is known then, and nothing is reported.
            let relation = first
                .as_ref()
                .zip(second.as_ref())
                .and_then(|(first, second)| compare_patterns(first, second));
            let shared = match relation {
                Some(PatternRelation { both: Some(_), only_second: false, .. }) => SharedTexts::All,
                // What `more` hides of an output in part is how multi-line answers are written.
                Some(PatternRelation { both: Some(text), only_first: true, only_second: true })
                    if *earlier != "more" =>
                {
                    SharedTexts::Text(text)
                }
                _ => continue,
            };
            found.push(Overlap { earlier: (*earlier).into(), later: (*later).into(), shared });
        }
    }
    found
}

/// Returns the outputs whose layouts could be those of the same bytes.
#[must_use]
pub fn of_layouts(config: &BinaryConfig) -> Vec<Overlap> {
    let mut found = Vec::new();
    for (n, (later, second)) in config.outputs.iter().enumerate() {
        for (earlier, first) in &config.outputs[..n] {
            if first.is_ambiguous_before(second) {
                let (earlier, later) = (earlier.clone(), later.clone());
                found.push(Overlap { earlier, later, shared: SharedTexts::Unknown });
            }
        }
    }
    found
}

type PatternMachine = dense::DFA<Vec<u32>>;

/// Returns the automaton of a whole-text pattern, `None` if it is too large.
fn build_automaton(pattern: &str) -> Option<PatternMachine> {
    let config = dense::Config::new()
        .start_kind(StartKind::Anchored)
        // Acceleration serves searches; this automaton is walked byte by byte.
        .accelerate(false)
        .dfa_size_limit(Some(MAX_SIZE))
        .determinize_size_limit(Some(MAX_SIZE));
    dense::Builder::new().configure(config).build(&format!("\\A(?:{pattern})\\z")).ok()
}

/// The relation between the sets of texts of two patterns.
#[derive(Debug, Default, PartialEq, Eq)]
struct PatternRelation {
    both: Option<String>,
    only_first: bool,
    only_second: bool,
}

/// Computes the relation of two patterns; `None` if it cannot be decided within bounds.
fn compare_patterns(first: &PatternMachine, second: &PatternMachine) -> Option<PatternRelation> {
    let input = Input::new("").anchored(Anchored::Yes);
    let start = (first.start_state_forward(&input).ok()?, second.start_state_forward(&input).ok()?);
    // Bytes of one class lead to the same states in both automata, so one of each class is enough.
    let bytes = representatives(first, second);
    let mut relation = PatternRelation::default();
    // Every pair with the pair and byte it was reached by; broadest first, so a text is a shortest one.
    let mut seen: IndexMap<(StateID, StateID), Option<(usize, u8)>> = IndexMap::from([(start, None)]);
    let mut queue = VecDeque::from([0]);
    while let Some(at) = queue.pop_front() {
        let ((a, b), _) = seen.get_index(at)?;
        let (a, b) = (*a, *b);
        match (is_end(first, a), is_end(second, b)) {
            (true, true) if relation.both.is_none() => relation.both = Some(shortest_text(&seen, at)),
            // Exact only when all reachable pairs were seen, which is when the loop ends by itself.
            (true, false) => relation.only_first = true,
            (false, true) => relation.only_second = true,
            (true, true) | (false, false) => (),
        }
        for &byte in &bytes {
            let next = (first.next_state(a, byte), second.next_state(b, byte));
            if first.is_quit_state(next.0) || second.is_quit_state(next.1) || seen.len() > MAX_PAIRS {
                return None;
            }
            // No text that goes on here is in either set. If one of the two lives, texts of that one alone are
            // still found.
            if first.is_dead_state(next.0) && second.is_dead_state(next.1) {
                continue;
            }
            let (index, was_there) = match seen.get_index_of(&next) {
                Some(index) => (index, true),
                None => (seen.insert_full(next, Some((at, byte))).0, false),
            };
            if !was_there {
                queue.push_back(index);
            }
        }
    }
    Some(relation)
}

fn is_end(machine: &PatternMachine, state: StateID) -> bool {
    // A match is reported one step late, by the step for the end of the text.
    machine.is_match_state(machine.next_eoi_state(state))
}

/// Returns one byte of every class that the two automata distinguish, plain ones first.
fn representatives(first: &PatternMachine, second: &PatternMachine) -> Vec<u8> {
    // Letters before signs before control characters: the text of a warning is to be readable.
    let plain = (b'a'..=b'z').chain(b'0'..=b'9').chain(b' '..=b'~');
    let mut kinds = IndexMap::new();
    for byte in plain.chain(0..=255) {
        kinds.entry((first.byte_classes().get(byte), second.byte_classes().get(byte))).or_insert(byte);
    }
    kinds.into_values().collect()
}

fn shortest_text(seen: &IndexMap<(StateID, StateID), Option<(usize, u8)>>, mut at: usize) -> String {
    let mut bytes = Vec::new();
    while let Some((_, Some((before, byte)))) = seen.get_index(at) {
        bytes.push(*byte);
        at = *before;
    }
    bytes.reverse();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the HTTP outputs that are never taken, because one before them takes every answer that they would.
#[must_use]
pub fn of_answers(config: &HttpConfig) -> Vec<Overlap> {
    let mut found = Vec::new();
    for (at, (later, answer)) in config.outputs.iter().enumerate() {
        let before = &config.outputs[..at];
        if let Some((earlier, _)) = before.iter().find(|(_, other)| takes_all_of(other, answer)) {
            let (earlier, later) = (earlier.clone(), later.clone());
            found.push(Overlap { earlier, later, shared: SharedTexts::All });
        }
    }
    found
}

/// Returns whether every answer that fits `other` certainly fits `answer` too.
fn takes_all_of(answer: &AnswerConfig, other: &AnswerConfig) -> bool {
    let has_all = |all: &[String], some: &[String]| {
        all.is_empty()
            || !some.is_empty() && some.iter().all(|one| all.iter().any(|own| own.eq_ignore_ascii_case(one)))
    };
    let asks_no_more =
        |own: &[(String, String)], others: &[(String, String)]| own.iter().all(|one| others.contains(one));
    // Each condition separately asks no more than the one of `other`. This is sufficient, not necessary: `2xx` and
    // `200` are compared as texts, patterns are not compared at all unless they are equal.
    has_all(&answer.to, &other.to)
        && has_all(&answer.status, &other.status)
        && answer.except.iter().all(|status| other.except.contains(status))
        && (answer.body.is_none() || answer.body == other.body)
        && asks_no_more(&answer.headers, &other.headers)
        && asks_no_more(&answer.json, &other.json)
        && answer.event == other.event
        && answer.closed == other.closed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap_texts(more: Option<&str>, outputs: &[(&str, &str)]) -> Vec<String> {
        let outputs = outputs.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        let config = TextConfig { outputs, more: more.map(Into::into), ..TextConfig::default() };
        of_texts(&config).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn patterns_that_share_texts_are_told_with_one() {
        let none: [String; 0] = [];
        assert_eq!(overlap_texts(None, &[("A", "a+"), ("B", "b+"), ("REST", "(?s).*")]), none);
        assert_eq!(
            overlap_texts(None, &[("A", "[ab]+"), ("B", "[bc]+")]),
            ["\"b\" is `A` and `B`; ioxide takes it as `A`, which comes first"]
        );
        assert_eq!(
            overlap_texts(None, &[("REST", ".*"), ("OK", "ok")]),
            ["`OK` never matches: `REST`, which comes first, takes every text that it would match"]
        );
        assert_eq!(
            overlap_texts(Some("[0-9]+-.*"), &[("OK", "250-.*"), ("TEXT", r"(250-.*\n)*250 .*")]),
            ["`OK` never matches: `more` takes every text that it would match"]
        );
        assert_eq!(overlap_texts(None, &[("A", r"ok (?P<n>\d+)"), ("B", "ok 7")]).len(), 1);
    }

    /// The second opinion: all texts of up to four letters.
    #[test]
    fn relations_agree_with_enumeration() {
        let patterns = ["a*", "(ab)*", "a|b|", "b.*", ".*b", "[^a]{2}", "", "a{2,3}"];
        let mut texts = vec![String::new()];
        for n in 0..40 {
            for letter in ["a", "b", "c"] {
                texts.push(format!("{}{letter}", texts[n]));
            }
        }
        for first in patterns {
            for second in patterns {
                let (a, b) = (build_automaton(first).unwrap(), build_automaton(second).unwrap());
                let found = compare_patterns(&a, &b).unwrap();
                let regex = |text: &str| regex::Regex::new(&format!("\\A(?:{text})\\z")).unwrap();
                let (a, b) = (regex(first), regex(second));
                let any = |wanted: (bool, bool)| {
                    texts.iter().any(|text| (a.is_match(text), b.is_match(text)) == wanted)
                };
                assert_eq!(found.both.is_some(), any((true, true)), "{first} {second}");
                assert_eq!(
                    (found.only_first, found.only_second),
                    (any((true, false)), any((false, true))),
                    "{first} {second}"
                );
                if let Some(text) = found.both {
                    assert!(a.is_match(&text) && b.is_match(&text), "{first} {second} {text}");
                }
            }
        }
    }
}
