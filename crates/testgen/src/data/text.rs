//! Texts for fields: of many lengths and alphabets, related to known texts, or from a pattern.
//!
//! Control characters are left out unless a pattern demands them: most adapters cannot carry them, and a message that
//! cannot be sent finds nothing.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The alphabets, from plain to odd; a text has one of them.
const ALPHABETS: [&str; 7] = [
    "ab",
    "abcA01 é",
    "abcdefghijklmnopqrstuvwxyz",
    "0123456789",
    "AaBbZz09-_.",
    "\"'\\%<>&{}[]();$#|`~",
    "éßñ日本語😀 ",
];
/// Texts that some systems treat specially.
const ODD: [&str; 20] = [
    "", "", " ", "0", "-1", "1.0", "null", "true", "a", "A", "é", "日本", "😀", "\"", "\\", "'", "%s", "<b>",
    "{}", " a ",
];
/// The greatest number of repetitions, beyond the least, of a part without an upper bound. Chosen by feel: longer
/// texts are slower to send and seldom treated otherwise.
const MAX_REPEAT: u32 = 40;

/// Draws a text of up to six characters.
pub(super) fn short(rng: &mut ChaCha8Rng) -> String {
    let length = rng.random_range(0..=6usize);
    let alphabet = if rng.random_ratio(1, 2) { ALPHABETS[1] } else { any_alphabet(rng) };
    of_length(rng, alphabet, length)
}

/// Draws a text that some systems treat specially.
pub(super) fn odd(rng: &mut ChaCha8Rng) -> String {
    ODD[rng.random_range(0..ODD.len())].to_owned()
}

/// Draws a text of 7 to 1000 characters; longer ones are rarer.
pub(super) fn long(rng: &mut ChaCha8Rng) -> String {
    let length = match rng.random_range(0..8u32) {
        0..=2 => rng.random_range(7..=20),
        3..=5 => rng.random_range(21..=40),
        6 => [31, 32, 33, 63, 64, 65, 100, 127, 128, 129][rng.random_range(0..10usize)],
        _ => [255, 256, 257, 300, 1000][rng.random_range(0..5usize)],
    };
    let alphabet = any_alphabet(rng);
    of_length(rng, alphabet, length)
}

fn any_alphabet(rng: &mut ChaCha8Rng) -> &'static str {
    ALPHABETS[rng.random_range(0..ALPHABETS.len())]
}

fn of_length(rng: &mut ChaCha8Rng, alphabet: &str, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    (0..length).filter_map(|_| letters.choose(rng)).collect()
}

/// Returns `text` cut or lengthened to this number of characters.
pub(super) fn with_length(rng: &mut ChaCha8Rng, text: &str, length: usize) -> String {
    let kept: String = text.chars().take(length).collect();
    let missing = length.saturating_sub(kept.chars().count());
    // Words of small letters most of the time: what a service normalises is compared less strictly.
    let alphabet = if rng.random_ratio(3, 4) { ALPHABETS[2] } else { any_alphabet(rng) };
    kept + &of_length(rng, alphabet, missing)
}

/// Draws `base` itself, a slight change of it, or both texts joined.
pub(super) fn draw_neighbour(rng: &mut ChaCha8Rng, base: &str, other: Option<&str>) -> String {
    // A byte position at a border of characters, so that cutting there cannot panic.
    let last = base.char_indices().next_back().map(|(at, _)| at);
    match (rng.random_range(0..14u32), other) {
        (0, _) => format!("{base}{}", of_length(rng, ALPHABETS[1], 1)),
        (1, _) => base[..last.unwrap_or(0)].to_owned(),
        (2 | 6, _) => other_case(base),
        (3, Some(other)) => format!("{base}{other}"),
        (4, _) => format!(" {base}"),
        (5, _) => base.chars().rev().collect(),
        _ => base.to_owned(),
    }
}

/// Swaps the case of ASCII letters.
fn other_case(text: &str) -> String {
    let swap = |letter: char| {
        if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    text.chars().map(swap).collect()
}

/// Draws a text that matches `pattern` as a whole, by a random walk through it; `None` if the pattern cannot be parsed
/// or walked.
///
/// Anchors and word boundaries are ignored, so the caller checks the result.
pub(super) fn matching(rng: &mut ChaCha8Rng, pattern: &str) -> Option<String> {
    // `.` matches line feeds, as in the semantics of the model.
    let hir = regex_syntax::parse(&format!("(?s:{pattern})")).ok()?;
    let (mut text, generous) = (String::new(), rng.random_range(0..4u32));
    append_match(rng, &hir, generous, &mut text)?;
    Some(text)
}

/// Appends a text that matches `hir`; `None` if there is none that can be written. Recursion is bounded: the parser
/// refuses deep patterns.
fn append_match(rng: &mut ChaCha8Rng, hir: &Hir, generous: u32, text: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(()),
        HirKind::Literal(literal) => {
            text.push_str(std::str::from_utf8(&literal.0).ok()?);
            Some(())
        }
        HirKind::Class(class) => {
            text.push(draw_letter(rng, class)?);
            Some(())
        }
        HirKind::Capture(group) => append_match(rng, &group.sub, generous, text),
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| append_match(rng, part, generous, text)),
        HirKind::Alternation(ways) => {
            let way = ways.choose(rng)?;
            append_match(rng, way, generous, text)
        }
        HirKind::Repetition(repetition) => {
            let times = draw_times(rng, repetition.min, repetition.max, generous);
            (0..times).try_for_each(|_| append_match(rng, &repetition.sub, generous, text))
        }
    }
}

/// Draws the number of repetitions of a part: the least, the most, or a number between; the most grows with `generous`.
fn draw_times(rng: &mut ChaCha8Rng, min: u32, max: Option<u32>, generous: u32) -> u32 {
    let most = match generous {
        0 => min.saturating_add(2),
        1 | 2 => min.saturating_add(8),
        _ => min.saturating_add(MAX_REPEAT),
    };
    let most = max.unwrap_or(u32::MAX).min(most).max(min);
    match rng.random_range(0..6u32) {
        0 => min,
        1 => most,
        _ => rng.random_range(min..=most),
    }
}

/// Draws a letter of a class: mostly one that is easy to read, no control character if that is possible.
fn draw_letter(rng: &mut ChaCha8Rng, class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.ranges().iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect()
        }
    };
    let is_in = |letter: char| ranges.iter().any(|&(low, high)| low <= letter && letter <= high);
    let alphabet = if rng.random_ratio(1, 2) { "abcxyzABC0123789_-. é" } else { any_alphabet(rng) };
    let plain: Vec<char> = alphabet.chars().filter(|&letter| is_in(letter)).collect();
    if rng.random_ratio(2, 3)
        && let Some(&letter) = plain.choose(rng)
    {
        return Some(letter);
    }
    for _ in 0..16 {
        let &(low, high) = ranges.choose(rng)?;
        // Classes such as `.` reach far beyond what anybody reads.
        let high = high.min(char::from_u32((low as u32).saturating_add(500)).unwrap_or(high));
        let drawn = char::from_u32(rng.random_range(low as u32..=high as u32));
        if let Some(letter) = drawn.filter(|letter| !letter.is_control()) {
            return Some(letter);
        }
    }
    ranges.first().map(|&(low, _)| low)
}
