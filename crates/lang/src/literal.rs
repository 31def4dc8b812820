//! The text of numbers, durations and strings.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::number::{Int, Rational};
use ioxide_model::source::Span;

/// The greatest number of digits of a number; reading more takes time that grows with the square. Chosen by feel: no
/// model needs more.
const MAX_DIGITS: usize = 1000;

/// The value of a number as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberLiteral {
    Int(Int),
    Real(Rational),
}

/// The reason why a text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNumber {
    TooLong,
    Suffix,
    Unit(&'static [&'static str]),
}

/// The units of durations, in seconds: `(name, numerator, denominator)`.
const UNITS: [(&str, i64, i64); 4] = [("ms", 1, 1000), ("s", 1, 1), ("min", 60, 1), ("h", 3600, 1)];
const UNIT_NAMES: &[&str] = &["ms", "s", "min", "h"];

/// Reads `12`, `1_000`, `0.5`, `250ms`, `1.5s`, `2min` or `1h`; durations are seconds.
pub fn parse_number(text: &str) -> Result<NumberLiteral, BadNumber> {
    let digits_end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(digits_end);
    if digits.len() > MAX_DIGITS {
        return Err(BadNumber::TooLong);
    }
    let digits = digits.replace('_', "");
    let value: Rational = digits.parse().map_err(|_| BadNumber::Suffix)?;
    if suffix.is_empty() {
        let is_decimal = digits.contains('.');
        return Ok(if is_decimal {
            NumberLiteral::Real(value)
        } else {
            NumberLiteral::Int(value.numer().clone())
        });
    }
    let unit = UNITS.iter().find(|(name, ..)| *name == suffix);
    let Some(&(_, numer, denom)) = unit else {
        let looks_like_unit =
            suffix.chars().all(|c| c.is_ascii_alphabetic()) && !suffix.starts_with(['e', 'x']);
        return Err(if looks_like_unit { BadNumber::Unit(UNIT_NAMES) } else { BadNumber::Suffix });
    };
    let scale = Rational::new(Int::from(numer), Int::from(denom)).unwrap_or(Rational::ONE);
    Ok(NumberLiteral::Real(&value * &scale))
}

impl BadNumber {
    /// Returns the finding about the number `text`.
    pub(crate) fn diagnostic(self, text: &str, span: Span) -> Diagnostic {
        let shown: String = text.chars().take(24).collect();
        match self {
            Self::TooLong => {
                let message = format!("a number has at most {MAX_DIGITS} digits");
                Diagnostic::new(Code::BadNumber, span, message)
            }
            Self::Suffix => Diagnostic::new(Code::BadNumber, span, format!("`{shown}` is not a number"))
                .help("numbers are decimal, such as `31`, `0.25` or `1_000`; durations have a unit, such as `1.5s`"),
            Self::Unit(units) => {
                let suffix = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
                let digits = &text[..text.len() - suffix.len()];
                let diagnostic =
                    Diagnostic::new(Code::UnknownUnit, span, format!("there is no unit `{suffix}`"));
                let meant = match suffix {
                    "sec" | "secs" | "seconds" => Some("s"),
                    "m" | "mins" | "minutes" => Some("min"),
                    "hours" | "hrs" => Some("h"),
                    _ => ioxide_model::suggest::nearest_name(suffix, units.iter().copied()),
                };
                match meant {
                    Some(unit) => {
                        diagnostic.help(format!("did you mean `{digits}{unit}`?")).fix(span, format!("{digits}{unit}"))
                    }
                    None => diagnostic.help("durations are written in `ms`, `s`, `min` or `h`"),
                }
            }
        }
    }
}

/// Returns the text of a quoted literal, and the position and length of wrong escapes.
pub fn unescape(quoted: &str) -> (String, Vec<(usize, usize)>) {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("");
    let mut text = String::with_capacity(inner.len());
    let mut bad = Vec::new();
    let mut chars = inner.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let Some((next_at, escape)) = chars.next() else { break };
        let plain = match escape {
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            '0' => Some('\0'),
            '\\' | '"' => Some(escape),
            'u' => {
                let rest = &inner[next_at + 1..];
                let hex = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(hex, _)| hex);
                let code = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
                if let (Some(hex), Some(_)) = (hex, code) {
                    for _ in 0..hex.len() + 2 {
                        chars.next();
                    }
                }
                code
            }
            _ => None,
        };
        match plain {
            Some(c) => text.push(c),
            None => bad.push((at + 1, 1 + escape.len_utf8())),
        }
    }
    (text, bad)
}
