//! The answers of solvers: expressions, and values of variables.

use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::Sort;
use ioxide_model::value::Value;

/// The depth beyond which answers are refused. Values are nested as deep as their types, which people write by hand; an
/// answer that is deeper is noise, and would fill the stack of its reader.
const MAX_DEPTH: usize = 200;

/// An S-expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sexp {
    /// A name or a number, as written.
    Atom(String),
    /// A string, its quotes removed, still escaped.
    Text(String),
    /// `( … )`
    List(Vec<Sexp>),
}

/// Reads `text` as one expression; `None` if it is malformed, too deep, or more than one.
#[must_use]
pub fn parse_sexp(text: &str) -> Option<Sexp> {
    // A stack of open lists instead of recursion; the first one holds the whole expressions.
    let mut open: Vec<Vec<Sexp>> = vec![Vec::new()];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        match first {
            '(' => {
                if open.len() > MAX_DEPTH {
                    return None;
                }
                open.push(Vec::new());
                rest = &rest[1..];
            }
            ')' => {
                // A parenthesis too many pops the outermost list, and then there is no list left to push to.
                let list = Sexp::List(open.pop()?);
                open.last_mut()?.push(list);
                rest = &rest[1..];
            }
            '"' => {
                let (string, after) = split_quoted(&rest[1..])?;
                open.last_mut()?.push(Sexp::Text(string));
                rest = after;
            }
            '|' => {
                let end = rest[1..].find('|')?;
                open.last_mut()?.push(Sexp::Atom(rest[1..=end].to_owned()));
                rest = &rest[end + 2..];
            }
            _ => {
                let end =
                    rest.find(|c: char| c.is_whitespace() || "()\"|;".contains(c)).unwrap_or(rest.len());
                // A comment, or something unheard of.
                if end == 0 {
                    return None;
                }
                open.last_mut()?.push(Sexp::Atom(rest[..end].to_owned()));
                rest = &rest[end..];
            }
        }
        rest = rest.trim_start();
    }
    let mut outer = open.pop().filter(|_| open.is_empty())?;
    if outer.len() == 1 { outer.pop() } else { None }
}

/// A string up to its closing quote (`""` is a quote inside), and what follows it.
fn split_quoted(text: &str) -> Option<(String, &str)> {
    let mut string = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"')?;
        string.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                string.push('"');
                rest = after;
            }
            None => return Some((string, rest)),
        }
    }
}

/// Returns `expression` as a value of `sort`; `None` if it is not a plain value.
#[must_use]
pub fn parse_value(expression: &Sexp, sort: Sort) -> Option<Value> {
    match (sort, expression) {
        (Sort::Bool, Sexp::Atom(atom)) => match &**atom {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        (Sort::Int | Sort::Range { .. }, _) => to_whole(&parse_number(expression)?).map(Value::Int),
        (Sort::Real, _) => parse_number(expression).map(Value::Real),
        (Sort::Str, Sexp::Text(text)) => unescape(text).map(|text| Value::str(&text)),
        (Sort::Bool | Sort::Str | Sort::Data(_) | Sort::Collection(_), _) => None,
    }
}

fn to_whole(n: &Rational) -> Option<Int> {
    n.is_integer().then(|| n.numer().clone())
}

/// `12`, `1.5`, `1/3`, `(- e)`, `(/ e e)`, `(to_real e)`; depth is bounded by [`parse_sexp`].
fn parse_number(expression: &Sexp) -> Option<Rational> {
    match expression {
        Sexp::Atom(atom) => atom.parse().ok(),
        Sexp::Text(_) => None,
        Sexp::List(list) => match &**list {
            [Sexp::Atom(op), a] if op == "-" => Some(-parse_number(a)?),
            [Sexp::Atom(op), a] if op == "to_real" => parse_number(a),
            [Sexp::Atom(op), a, b] if op == "/" => {
                let (a, b) = (parse_number(a)?, parse_number(b)?);
                (!b.is_zero()).then(|| a.div(&b))
            }
            _ => None,
        },
    }
}

/// Returns a string without its escapes `\u{…}` and `\uXXXX`; `None` if one is no character.
#[must_use]
pub fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        out.push_str(&rest[..at]);
        match parse_escape(&rest[at + 2..]) {
            // A surrogate is no character of ours; the answer as a whole is refused.
            Some((code, after)) => {
                out.push(char::from_u32(code)?);
                rest = after;
            }
            None => {
                out.push_str("\\u");
                rest = &rest[at + 2..];
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Returns the code after `\u`, and the text behind it; `None` if it is not an escape.
fn parse_escape(text: &str) -> Option<(u32, &str)> {
    let (digits, after) = match text.strip_prefix('{') {
        Some(inner) => inner.split_once('}').filter(|(digits, _)| (1..=5).contains(&digits.len()))?,
        None => text.split_at_checked(4)?,
    };
    let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some((u32::from_str_radix(digits, 16).ok().filter(|_| hex)?, after))
}
