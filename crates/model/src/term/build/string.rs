//! Strings. Lengths count characters (Unicode scalar values).

use crate::number::Int;
use crate::term::{RegexId, Term, TermNode, TermOp, TermPool};
use crate::value::Value;

/// The greatest length of a chain of choices between texts that is simplified. Chosen by feel: it bounds the time.
const MAX_CHOICES: usize = 32;

/// The bytes up to which neighbouring constants become one text: more than evaluation computes.
const MAX_FOLDED: usize = 4 << 20;

/// The pattern of a whole number, as the text of every number has it.
pub const WHOLE_NUMBER: &str = "-?[0-9]+";

impl TermPool {
    /// Strings one after the other; of none it is `""`.
    pub fn concat(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let parts = self.concat_parts(terms.into_iter().collect());
        match *parts {
            [] => self.value(Value::str("")),
            [only] => only,
            _ => self.intern(TermNode::Concat(parts.into())),
        }
    }

    /// Number of characters.
    pub fn length(&mut self, a: Term) -> Term {
        None.or_else(|| self.length_value(a))
            .or_else(|| self.length_concat(a))
            .unwrap_or_else(|| self.intern(TermNode::Length(a)))
    }

    /// Returns the formula that `a` contains `b`.
    pub fn contains(&mut self, a: Term, b: Term) -> Term {
        None.or_else(|| self.trivial_part(b, a))
            .or_else(|| self.string_values(a, b, |a, b| a.contains(b)))
            .unwrap_or_else(|| self.intern(TermNode::Contains(a, b)))
    }

    /// Returns the formula that `b` starts with `a`.
    pub fn prefix(&mut self, a: Term, b: Term) -> Term {
        None.or_else(|| self.trivial_part(a, b))
            .or_else(|| self.string_values(a, b, |a, b| b.starts_with(a)))
            .unwrap_or_else(|| self.intern(TermNode::Prefix(a, b)))
    }

    /// Returns the formula that `b` ends with `a`.
    pub fn suffix(&mut self, a: Term, b: Term) -> Term {
        None.or_else(|| self.trivial_part(a, b))
            .or_else(|| self.string_values(a, b, |a, b| b.ends_with(a)))
            .unwrap_or_else(|| self.intern(TermNode::Suffix(a, b)))
    }

    /// Returns the formula that `a` is `b` or comes before it, by the code points of their characters.
    pub fn text_le(&mut self, a: Term, b: Term) -> Term {
        let is_empty = |pool: &Self, text| pool.as_value(text).and_then(Value::as_str) == Some("");
        if a == b || is_empty(self, a) {
            return self.tt();
        }
        // Nothing comes before the empty text.
        if is_empty(self, b) {
            return self.eq(a, b);
        }
        self.string_values(a, b, |a, b| a <= b).unwrap_or_else(|| self.intern(TermNode::TextLe(a, b)))
    }

    /// Returns the formula that `a` comes before `b`.
    pub fn text_lt(&mut self, a: Term, b: Term) -> Term {
        let not_before = self.text_le(b, a);
        self.not(not_before)
    }

    /// Returns the formula that all of `a` matches `pattern`.
    pub fn matches(&mut self, a: Term, pattern: RegexId) -> Term {
        None.or_else(|| self.matches_value(a, pattern))
            .or_else(|| self.matches_number(a, pattern))
            .or_else(|| self.matches_choice(a, pattern))
            .unwrap_or_else(|| self.intern(TermNode::Matches(a, pattern)))
    }

    /// Returns the integer term that `a` is the decimal text of.
    pub(in crate::term) fn written_number(&self, a: Term) -> Option<Term> {
        if let TermNode::Apply(TermOp::FromInt, args) = self.node(a) { args.first().copied() } else { None }
    }

    /// A choice between texts of which one is known: a constant, or the text of a number.
    pub(super) fn choice_of_texts(&self, a: Term) -> Option<(Term, Term, Term)> {
        let is_known = |text| self.as_value(text).is_some() || self.written_number(text).is_some();
        let mut rest = a;
        // A chain in which every choice has a known side: pushing an operation into it does not multiply terms.
        for _ in 0..MAX_CHOICES {
            match *self.node(rest) {
                TermNode::Ite(_, then, other) if is_known(then) => rest = other,
                TermNode::Ite(_, then, other) if is_known(other) => rest = then,
                _ => break,
            }
        }
        match *self.node(a) {
            TermNode::Ite(cond, then, other)
                if rest != a && !matches!(self.node(rest), TermNode::Ite(..)) =>
            {
                Some((cond, then, other))
            }
            _ => None,
        }
    }

    /// A choice matches if what is chosen does.
    fn matches_choice(&mut self, a: Term, pattern: RegexId) -> Option<Term> {
        let (cond, then, other) = self.choice_of_texts(a)?;
        let (then, other) = (self.matches(then, pattern), self.matches(other, pattern));
        Some(self.ite(cond, then, other))
    }

    /// Two choices by one condition are equal if in both cases the texts are.
    pub(super) fn eq_choices(&mut self, a: Term, b: Term) -> Option<Term> {
        let (cond, a_then, a_other) = self.choice_of_texts(a)?;
        let (b_cond, b_then, b_other) = self.choice_of_texts(b)?;
        // Two conditions would make four cases.
        if cond != b_cond {
            return None;
        }
        let (then, other) = (self.eq(a_then, b_then), self.eq(a_other, b_other));
        Some(self.ite(cond, then, other))
    }

    /// A number written as a text is a number.
    fn matches_number(&mut self, a: Term, pattern: RegexId) -> Option<Term> {
        self.written_number(a)?;
        (*self.pattern_info(pattern).text == *WHOLE_NUMBER).then(|| self.bool(true))
    }

    /// Texts of two numbers are equal if the numbers are; another text is that of the number it writes, or of none.
    pub(super) fn eq_written(&mut self, a: Term, b: Term) -> Option<Term> {
        let (number, other) = match (self.written_number(a), self.written_number(b)) {
            (Some(one), Some(other)) => return Some(self.eq(one, other)),
            (Some(number), None) => (number, b),
            (None, Some(number)) => (number, a),
            (None, None) => return None,
        };
        let text = self.as_value(other)?.as_str()?;
        // `007` and `+7` parse as numbers, but no number is written like that.
        match text.parse::<Int>().ok().filter(|n| n.to_string() == text) {
            Some(n) => {
                let n = self.value(Value::Int(n));
                Some(self.eq(number, n))
            }
            None => Some(self.bool(false)),
        }
    }

    /// `(a ++ b) ++ c = a ++ b ++ c`; neighbouring constants become one; `""` vanishes.
    fn concat_parts(&mut self, terms: Vec<Term>) -> Vec<Term> {
        let mut parts: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            let pieces =
                if let TermNode::Concat(list) = self.node(term) { list.to_vec() } else { vec![term] };
            for piece in pieces {
                self.push_piece(&mut parts, piece);
            }
        }
        parts
    }

    fn push_piece(&mut self, parts: &mut Vec<Term>, piece: Term) {
        let text = |pool: &Self, term| pool.as_value(term).and_then(Value::as_str).map(str::to_owned);
        let Some(new) = text(self, piece) else { return parts.push(piece) };
        if new.is_empty() {
            return;
        }
        match parts.last().and_then(|&last| text(self, last)) {
            Some(before) if before.len() + new.len() <= MAX_FOLDED => {
                parts.pop();
                parts.push(self.value(Value::str(&(before + &new))));
            }
            Some(_) | None => parts.push(piece),
        }
    }

    /// `len("abc") = 3`.
    fn length_value(&mut self, a: Term) -> Option<Term> {
        let n = self.as_value(a)?.as_str()?.chars().count();
        Some(self.int(i64::try_from(n).expect("a string fits in memory")))
    }

    /// `len(a ++ b) = len(a) + len(b)`.
    fn length_concat(&mut self, a: Term) -> Option<Term> {
        let TermNode::Concat(list) = self.node(a).clone() else { return None };
        let lengths: Vec<Term> = list.iter().map(|&part| self.length(part)).collect();
        Some(self.add(lengths))
    }

    /// `""` and the string itself are part of every string.
    fn trivial_part(&mut self, part: Term, whole: Term) -> Option<Term> {
        let empty = self.as_value(part).and_then(Value::as_str) == Some("");
        (empty || part == whole).then(|| self.tt())
    }

    /// Both sides constant.
    fn string_values(&mut self, a: Term, b: Term, f: fn(&str, &str) -> bool) -> Option<Term> {
        let result = f(self.as_value(a)?.as_str()?, self.as_value(b)?.as_str()?);
        Some(self.bool(result))
    }

    /// A constant matches or not.
    fn matches_value(&mut self, a: Term, pattern: RegexId) -> Option<Term> {
        let result = self.pattern_info(pattern).matches(self.as_value(a)?.as_str()?);
        Some(self.bool(result))
    }
}
