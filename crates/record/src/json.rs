//! JSON from outside; duplicate keys are refused.
//!
//! RFC 8259 says of an object with the same name twice that what comes of it is unpredictable: most readers take
//! the last value, some the first. A message of which two readers see different things is not a message, so it is
//! refused. Whoever reads JSON that another program wrote reads it here.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use thiserror::Error;

use crate::limits::{Excess, MAX_DEPTH};

/// The reason why a text could not be read.
#[derive(Debug, Error)]
pub enum JsonError {
    /// The text is not JSON, or of another form.
    #[error("{0}")]
    Wrong(#[from] serde_json::Error),
    /// An object has this key twice.
    #[error("the key `{0}` occurs twice in one object")]
    Twice(String),
    /// Its objects and arrays are nested too deeply.
    #[error(transparent)]
    Excess(Excess),
}

/// Reads `text` as a value.
///
/// # Errors
/// If it is not JSON, of another form, too deep, or has a key twice.
pub fn read<T: DeserializeOwned>(text: impl AsRef<[u8]>) -> Result<T, JsonError> {
    let text = text.as_ref();
    let stopped = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(text);
    match (UniqueKeys { stopped: &stopped, depth: 0 }).deserialize(&mut reader) {
        Err(error) => Err(stopped.take().unwrap_or(JsonError::Wrong(error))),
        Ok(()) => Ok(serde_json::from_slice(text)?),
    }
}

/// A visitor that stops at an object with the same key twice, or at too deep a nesting, and leaves the reason behind.
#[derive(Clone, Copy)]
struct UniqueKeys<'t> {
    stopped: &'t RefCell<Option<JsonError>>,
    /// Objects and arrays around this value.
    depth: usize,
}

impl UniqueKeys<'_> {
    /// Returns the visitor for values inside this one; an error if the nesting is too deep.
    fn nested<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            *self.stopped.borrow_mut() = Some(JsonError::Excess(Excess::Depth));
            return Err(E::custom("it is too deep"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

/// A key, taken from the text where it has no escapes.
struct ObjectKey;

impl<'de> DeserializeSeed<'de> for ObjectKey {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for ObjectKey {
    type Value = Cow<'de, str>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

impl<'de> DeserializeSeed<'de> for UniqueKeys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let inside = self.nested()?;
        while list.next_element_seed(inside)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let inside = self.nested()?;
        let mut keys: BTreeSet<Cow<'de, str>> = BTreeSet::new();
        while let Some(key) = object.next_key_seed(ObjectKey)? {
            if keys.contains(&key) {
                *self.stopped.borrow_mut() = Some(JsonError::Twice(key.into_owned()));
                return Err(A::Error::custom("a key occurs twice"));
            }
            keys.insert(key);
            object.next_value_seed(inside)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value as Json;

    #[test]
    fn a_key_that_stands_twice_is_named() {
        let twice = |text: &str| match read::<Json>(text) {
            Err(JsonError::Twice(key)) => key,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(twice(r#"{"a": 1, "a": 1}"#), "a");
        assert_eq!(twice(r#"[{"a": 1}, {"b": {"c": [], "c": {}}}]"#), "c");
        assert_eq!(twice(r#"{"a": 1, "\u0061": 2}"#), "a", "escapes do not hide it");
        assert!(read::<Json>(r#"{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}"#).is_ok());
    }

    #[test]
    fn what_is_too_deep_is_told_apart_from_what_is_wrong() {
        let nested = |n: usize| format!("{}{}", "[{\"a\":".repeat(n), "1".to_owned() + &"}]".repeat(n));
        assert!(read::<Json>(nested(MAX_DEPTH / 2)).is_ok());
        for n in [MAX_DEPTH / 2 + 1, 60, 1000, 100_000] {
            assert!(matches!(read::<Json>(nested(n)), Err(JsonError::Excess(Excess::Depth))), "{n}");
        }
        assert!(matches!(read::<Json>("[".repeat(1_000_000)), Err(JsonError::Excess(Excess::Depth))));
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for text in ["", "{", "nul", "{\"a\": 1,}", "1 2", "{\"a\": \u{1}}"] {
            assert!(matches!(read::<Json>(text), Err(JsonError::Wrong(_))), "{text}");
        }
        assert!(matches!(read::<Json>([b'"', 0xff, b'"']), Err(JsonError::Wrong(_))));
    }

    proptest! {
        /// Second opinion: what has no key twice is read as `serde_json` reads it.
        #[test]
        fn nothing_else_is_changed(text in "[\\[\\]{}:,\"ab0-9. ]{0,24}") {
            match read::<Json>(&text) {
                Ok(value) => prop_assert_eq!(value, serde_json::from_str::<Json>(&text).expect("JSON")),
                Err(JsonError::Wrong(_)) => prop_assert!(serde_json::from_str::<Json>(&text).is_err()),
                Err(JsonError::Twice(_) | JsonError::Excess(_)) => (),
            }
        }
    }
}
