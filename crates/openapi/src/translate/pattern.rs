//! A text that matches a pattern: the shortest that its first alternatives and first characters give.

use std::iter::Peekable;
use std::str::Chars;

/// The number of repetitions that are written out. Chosen by feel, against `{1000000}`.
const MAX_REPEATS: usize = 100;
/// The depth of groups. Recursion follows it, so it bounds the stack; chosen by feel.
const MAX_DEPTH: usize = 20;

/// Returns a text that matches `pattern`; `None` if the pattern has something that is not known here.
pub fn sample_of_pattern(pattern: &str) -> Option<String> {
    let mut reader = PatternReader { rest: pattern.chars().peekable() };
    let text = reader.read_alternatives(0)?;
    reader.rest.next().is_none().then_some(text)
}

/// A pattern that is being read.
struct PatternReader<'p> {
    rest: Peekable<Chars<'p>>,
}

impl PatternReader<'_> {
    /// Reads alternatives up to the end of the group, and returns a text of the first one.
    fn read_alternatives(&mut self, depth: usize) -> Option<String> {
        let first = self.read_sequence(depth)?;
        while self.rest.next_if_eq(&'|').is_some() {
            self.read_sequence(depth)?;
        }
        Some(first)
    }

    fn read_sequence(&mut self, depth: usize) -> Option<String> {
        let mut text = String::new();
        while let Some(letter) = self.rest.next_if(|letter| !matches!(letter, '|' | ')')) {
            let atom = match letter {
                '[' => self.read_class()?,
                '(' if depth < MAX_DEPTH => {
                    if self.rest.next_if_eq(&'?').is_some() {
                        // Groups without a number are read, conditions on what follows are not.
                        self.rest.next_if_eq(&':')?;
                    }
                    let inner = self.read_alternatives(depth + 1)?;
                    self.rest.next_if_eq(&')')?;
                    inner
                }
                '\\' => self.read_escape()?.to_string(),
                '.' => "a".to_owned(),
                '^' | '$' => continue,
                '(' | '*' | '+' | '?' | '{' => return None,
                plain => plain.to_string(),
            };
            text.push_str(&atom.repeat(self.read_repeats()?.min(MAX_REPEATS)));
        }
        Some(text)
    }

    /// Returns the first character of a class.
    fn read_class(&mut self) -> Option<String> {
        let is_negated = self.rest.next_if_eq(&'^').is_some();
        let mut first = None;
        loop {
            let letter = match self.rest.next()? {
                ']' if first.is_some() => break,
                '[' => return None,
                '\\' => self.read_escape()?,
                plain => plain,
            };
            first.get_or_insert(letter);
        }
        // No class of descriptions excludes small letters and includes a space.
        first.map(|letter| if is_negated { 'q'.to_string() } else { letter.to_string() })
    }

    fn read_escape(&mut self) -> Option<char> {
        match self.rest.next()? {
            'd' => Some('1'),
            'w' => Some('a'),
            's' => Some(' '),
            letter if letter.is_ascii_alphanumeric() => None,
            sign => Some(sign),
        }
    }

    /// Returns the least number of repetitions.
    fn read_repeats(&mut self) -> Option<usize> {
        let count = match self.rest.peek() {
            Some('*' | '?') => 0,
            Some('{') => {
                self.rest.next();
                let mut digits = String::new();
                while let Some(letter) = self.rest.next_if(|letter| *letter != '}') {
                    digits.push(letter);
                }
                digits.split(',').next()?.parse().ok()?
            }
            Some('+') => 1,
            _ => return Some(1),
        };
        self.rest.next();
        self.rest.next_if(|letter| matches!(letter, '?' | '+'));
        Some(count)
    }
}
