//! Classes of values: kinds that programs tend to treat differently, whatever the model says.

use std::fmt;
use std::sync::Arc;

use ioxide_model::number::Int;
use ioxide_model::sort::Sort;
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;

/// Texts with more characters are long. Chosen by feel, as are the next ones: classes of a report, on which nothing
/// else depends.
const LONG_TEXT: usize = 20;
/// Collections with this many elements are large. Chosen by feel.
const MANY_ELEMENTS: usize = 10;
/// Numbers of this magnitude do not fit into 32 bits with a sign.
const BEYOND_32_BITS: i64 = 1 << 31;
/// The number of cases of an enum that are distinguished. Chosen by feel: further ones are counted together.
const MAX_CASES: usize = 32;

/// A kind of values of a field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueClass {
    /// A truth value.
    Truth(bool),
    /// The number 0.
    Zero,
    /// The number 1.
    One,
    /// The number -1.
    MinusOne,
    /// Above 1, within 32 bits.
    Positive,
    /// Below -1, within 32 bits.
    Negative,
    /// At least 2^31.
    HugePositive,
    /// Below -2^31.
    HugeNegative,
    /// A number that is not whole.
    Fraction,
    /// A case of an enum, with its name.
    Case(Arc<str>),
    /// A text without characters.
    EmptyText,
    /// A text of one character.
    OneCharacter,
    /// A text of up to 20 characters.
    ShortText,
    /// A longer text.
    LongText,
    /// A text with characters beyond ASCII.
    NotAscii,
    /// A text with quotes, backslashes or control characters.
    NeedsEscapes,
    /// A collection without elements.
    NoElement,
    /// A collection with one element.
    OneElement,
    /// A collection with up to nine elements.
    FewElements,
    /// A collection with ten elements or more.
    ManyElements,
}

impl fmt::Display for ValueClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truth(true) => "true",
            Self::Truth(false) => "false",
            Self::Zero => "0",
            Self::One => "1",
            Self::MinusOne => "-1",
            Self::Positive => "above 1",
            Self::Negative => "below -1",
            Self::HugePositive => "beyond 32 bits",
            Self::HugeNegative => "negative beyond 32 bits",
            Self::Fraction => "a fraction",
            Self::Case(name) => name,
            Self::EmptyText => "empty",
            Self::OneCharacter => "one character",
            Self::ShortText => "short",
            Self::LongText => "longer than 20 characters",
            Self::NotAscii => "beyond ASCII",
            Self::NeedsEscapes => "with quotes or control characters",
            Self::NoElement => "empty",
            Self::OneElement => "one element",
            Self::FewElements => "2 to 9 elements",
            Self::ManyElements => "10 elements or more",
        })
    }
}

impl ValueClass {
    /// The classes with a word for files; cases of enums have their names.
    const CODES: [(&'static str, Self); 20] = [
        ("true", Self::Truth(true)),
        ("false", Self::Truth(false)),
        ("zero", Self::Zero),
        ("one", Self::One),
        ("minus_one", Self::MinusOne),
        ("positive", Self::Positive),
        ("negative", Self::Negative),
        ("huge_positive", Self::HugePositive),
        ("huge_negative", Self::HugeNegative),
        ("fraction", Self::Fraction),
        ("empty_text", Self::EmptyText),
        ("one_character", Self::OneCharacter),
        ("short_text", Self::ShortText),
        ("long_text", Self::LongText),
        ("not_ascii", Self::NotAscii),
        ("needs_escapes", Self::NeedsEscapes),
        ("no_element", Self::NoElement),
        ("one_element", Self::OneElement),
        ("few_elements", Self::FewElements),
        ("many_elements", Self::ManyElements),
    ];

    /// Returns the word for it in files.
    pub(super) fn code(&self) -> String {
        match (self, Self::CODES.iter().find(|(_, class)| class == self)) {
            (Self::Case(name), _) => format!("case {name}"),
            (_, known) => known.map(|(code, _)| (*code).to_owned()).unwrap_or_default(),
        }
    }

    /// Returns the class with this word in files; `None` if there is none.
    pub(super) fn of_code(code: &str) -> Option<Self> {
        if let Some(name) = code.strip_prefix("case ") {
            return Some(Self::Case(name.into()));
        }
        Self::CODES.iter().find(|(known, _)| *known == code).map(|(_, class)| class.clone())
    }

    /// The classes that `value` belongs to.
    #[must_use]
    pub fn all_of(pool: &TermPool, value: &Value) -> Vec<Self> {
        match value {
            Value::Bool(truth) => vec![Self::Truth(*truth)],
            Value::Int(n) => vec![Self::of_int(n)],
            Value::Real(n) if n.is_integer() => vec![Self::of_int(&n.floor())],
            Value::Real(_) => vec![Self::Fraction],
            Value::Str(text) => Self::of_text(text),
            Value::Data(data) => {
                // `possible` lists as many, so a case beyond them belongs to no class.
                let mut ctors = pool.data(data.data).ctors.iter().take(MAX_CASES);
                let name = ctors.nth(data.ctor as usize).map(|ctor| ctor.name.clone());
                name.map(Self::Case).into_iter().collect()
            }
            Value::Collection(items) => vec![Self::of_size(items.len())],
        }
    }

    fn of_int(n: &Int) -> Self {
        match n.to_i64() {
            Some(0) => Self::Zero,
            Some(1) => Self::One,
            Some(-1) => Self::MinusOne,
            Some(n) if (2..BEYOND_32_BITS).contains(&n) => Self::Positive,
            Some(n) if (-BEYOND_32_BITS..-1).contains(&n) => Self::Negative,
            // Not within 64 bits, or beyond 32.
            _ if n.is_negative() => Self::HugeNegative,
            _ => Self::HugePositive,
        }
    }

    fn of_text(text: &str) -> Vec<Self> {
        let length = match text.chars().count() {
            0 => Self::EmptyText,
            1 => Self::OneCharacter,
            n if n <= LONG_TEXT => Self::ShortText,
            _ => Self::LongText,
        };
        let is_odd = |c: char| c.is_control() || matches!(c, '"' | '\'' | '\\');
        let not_ascii = (!text.is_ascii()).then_some(Self::NotAscii);
        let escapes = text.contains(is_odd).then_some(Self::NeedsEscapes);
        // The length is one class, the characters are two others: a text belongs to up to three.
        [Some(length), not_ascii, escapes].into_iter().flatten().collect()
    }

    fn of_size(len: usize) -> Self {
        match len {
            0 => Self::NoElement,
            1 => Self::OneElement,
            n if n < MANY_ELEMENTS => Self::FewElements,
            _ => Self::ManyElements,
        }
    }

    /// The classes that a field of `sort` can have.
    #[must_use]
    pub fn possible(pool: &TermPool, sort: Sort) -> Vec<Self> {
        use ValueClass::*;
        match sort {
            Sort::Bool => vec![Truth(false), Truth(true)],
            Sort::Int => vec![Zero, One, MinusOne, Positive, Negative, HugePositive, HugeNegative],
            Sort::Range { lo, hi } => classes_within(lo, hi),
            Sort::Real => {
                vec![Zero, One, MinusOne, Positive, Negative, HugePositive, HugeNegative, Fraction]
            }
            Sort::Str => vec![EmptyText, OneCharacter, ShortText, LongText, NotAscii, NeedsEscapes],
            Sort::Data(id) => {
                pool.data(id).ctors.iter().take(MAX_CASES).map(|ctor| Case(ctor.name.clone())).collect()
            }
            Sort::Collection(_) => {
                let mut sizes = vec![NoElement, OneElement, FewElements, ManyElements];
                let most = pool.most_members(sort).unwrap_or(usize::MAX);
                // The classes in ascending order, cut where the sort has no larger collection.
                sizes.truncate(1 + usize::from(most > 0) + usize::from(most > 1) + usize::from(most > 9));
                sizes
            }
        }
    }

    /// The least and the greatest whole number of the class, if it is one of whole numbers.
    #[must_use]
    pub fn whole_numbers(&self) -> Option<(Option<i64>, Option<i64>)> {
        Some(match self {
            Self::Zero => (Some(0), Some(0)),
            Self::One => (Some(1), Some(1)),
            Self::MinusOne => (Some(-1), Some(-1)),
            Self::Positive => (Some(2), Some(BEYOND_32_BITS - 1)),
            Self::Negative => (Some(-BEYOND_32_BITS), Some(-2)),
            Self::HugePositive => (Some(BEYOND_32_BITS), None),
            Self::HugeNegative => (None, Some(-BEYOND_32_BITS - 1)),
            _ => return None,
        })
    }
}

/// The classes with a number from `lo` to `hi`.
fn classes_within(lo: i64, hi: i64) -> Vec<ValueClass> {
    let mut classes = vec![
        ValueClass::Zero,
        ValueClass::One,
        ValueClass::MinusOne,
        ValueClass::Positive,
        ValueClass::Negative,
        ValueClass::HugePositive,
        ValueClass::HugeNegative,
    ];
    classes.retain(|class| {
        // Two intervals, either of them open at an end, overlap.
        let (least, most) = class.whole_numbers().unwrap_or_default();
        least.is_none_or(|least| least <= hi) && most.is_none_or(|most| lo <= most)
    });
    classes
}

#[cfg(test)]
mod tests {
    use ioxide_model::number::Rational;
    use ioxide_model::value::DataValue;

    use super::*;

    #[test]
    fn a_number_is_in_the_class_that_its_range_allows() {
        for n in [
            -(1i64 << 40),
            -BEYOND_32_BITS - 1,
            -BEYOND_32_BITS,
            -2,
            -1,
            0,
            1,
            2,
            BEYOND_32_BITS - 1,
            BEYOND_32_BITS,
        ] {
            assert_eq!(classes_within(n, n), [ValueClass::of_int(&Int::from(n))], "{n}");
        }
    }

    /// Every class that is seen can be seen: else more would be covered than there is.
    #[test]
    fn every_class_of_a_value_is_possible_for_its_sort() {
        let cases: String = (0..MAX_CASES + 2).map(|n| format!("c{n}, ")).collect();
        let text = format!(
            "model M {{ enum Many {{ {cases} last }} input i(m: Many, s: set<bool>, r: real, n: int) state s \
             {{ on i }} }}"
        );
        let model = crate::samples::model(&text);
        let sort_of = |at: usize| {
            let gate = model.sts.gates.iter().find(|gate| *gate.name == *"i").unwrap();
            model.pool.var_info(gate.fields[at]).sort
        };
        let Sort::Data(many) = sort_of(0) else { panic!("an enum") };
        let number = |n: i64| Value::Real(Rational::from(n));
        let numbers =
            [0, 1, -1, 2, -2, BEYOND_32_BITS, -BEYOND_32_BITS - 1, i64::MAX].map(|n| (sort_of(2), number(n)));
        let whole = [0, 7, BEYOND_32_BITS, -BEYOND_32_BITS - 1].map(|n| (sort_of(3), Value::int(n)));
        let case = |ctor| Value::Data(DataValue { data: many, ctor, args: [].into() });
        let cases = (0..MAX_CASES as u32 + 3).map(|ctor| (sort_of(0), case(ctor)));
        for (sort, value) in numbers.into_iter().chain(whole).chain(cases) {
            let possible = ValueClass::possible(&model.pool, sort);
            for class in ValueClass::all_of(&model.pool, &value) {
                assert!(possible.contains(&class), "{class} of {}", model.pool.show_value(&value));
            }
        }
    }

    #[test]
    fn a_text_has_a_length_and_what_it_contains() {
        use ValueClass::*;
        assert_eq!(ValueClass::of_text(""), [EmptyText]);
        assert_eq!(ValueClass::of_text("é"), [OneCharacter, NotAscii]);
        assert_eq!(ValueClass::of_text("a\"b"), [ShortText, NeedsEscapes]);
        assert_eq!(ValueClass::of_text(&"x".repeat(21)), [LongText]);
    }
}
