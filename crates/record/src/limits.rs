//! The limits for what is read of a message. A system that says more is not wrong: what is beyond a limit is never a
//! Fail.
//!
//! A system must not fill the memory of the tester, so there are limits; environment variables raise them.

use std::sync::OnceLock;

use thiserror::Error;

/// Bytes of one message that are read unless more is asked for. Chosen by feel: larger than messages of common
/// protocols, and small enough that a broken system does not fill the memory.
const BYTES: usize = 1 << 20;
/// Bytes of the body of one answer over HTTP: services list much at once.
const BODY: usize = 12 << 20;
/// Items of one collection. Chosen by feel, as for the bytes.
const ITEMS: usize = 100_000;
/// Digits of one number: reading them takes time that grows with the square.
const DIGITS: usize = 10_000;

/// Objects and arrays inside each other; the reader of JSON goes no deeper.
pub const MAX_DEPTH: usize = 100;

/// A part of a message that exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Excess {
    /// The message has too many bytes.
    #[error("the message is too long, more than {limit} bytes; set IOXIDE_MAX_MESSAGE to read more")]
    Bytes {
        /// The number of bytes that are read.
        limit: usize,
    },
    /// The head of the message has too many bytes.
    #[error("the head of the message is too long, more than {limit} bytes")]
    Head {
        /// The number of bytes that are read.
        limit: usize,
    },
    /// A collection has too many items.
    #[error("{found} items, more than the {limit} that are read; set IOXIDE_MAX_ITEMS to read more")]
    Items {
        /// The number of items there are.
        found: usize,
        /// The number of items that are read.
        limit: usize,
    },
    /// A number has too many digits, or an exponent that stands for too many.
    #[error("a number of more than {limit} digits; set IOXIDE_MAX_DIGITS to read more")]
    Digits {
        /// The number of digits that are read.
        limit: usize,
    },
    /// The body has an encoding that is not read here.
    #[error("a body encoded as `{name}`, which is not read; `gzip`, `deflate` and `br` are")]
    Coding {
        /// The name of the encoding.
        name: String,
    },
    /// A stream of events has an encoding, and none is read there.
    #[error("a stream of events encoded as `{name}`; they are read only as they are")]
    StreamCoding {
        /// The name of the encoding.
        name: String,
    },
    /// There are too many ways to read the message.
    #[error("more than {limit} ways to read it: cases without a name are nested")]
    Tries {
        /// The number of attempts.
        limit: usize,
    },
    /// Its objects and arrays are too deep inside each other.
    #[error("values more than {MAX_DEPTH} deep inside each other")]
    Depth,
}

impl Excess {
    /// Returns the excess of a message with too many bytes.
    #[must_use]
    pub fn bytes() -> Self {
        Self::Bytes { limit: max_message() }
    }

    /// Returns the excess of a body with too many bytes.
    #[must_use]
    pub fn body() -> Self {
        Self::Bytes { limit: max_body() }
    }

    /// Returns the excess of a number with too many digits.
    #[must_use]
    pub fn digits() -> Self {
        Self::Digits { limit: max_digits() }
    }
}

/// Returns the number of bytes of one message that are read: `IOXIDE_MAX_MESSAGE`, or 1 MiB.
#[must_use]
pub fn max_message() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| limit_from_env("IOXIDE_MAX_MESSAGE").unwrap_or(BYTES))
}

/// Returns the number of bytes of the body of an HTTP answer that are read: `IOXIDE_MAX_MESSAGE`, or 12 MiB.
#[must_use]
pub fn max_body() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| limit_from_env("IOXIDE_MAX_MESSAGE").unwrap_or(BODY))
}

/// Returns the number of items of one collection that are read: `IOXIDE_MAX_ITEMS`, or 100,000.
#[must_use]
pub fn max_items() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| limit_from_env("IOXIDE_MAX_ITEMS").unwrap_or(ITEMS))
}

/// Returns the number of digits of one number that are read: `IOXIDE_MAX_DIGITS`, or 10,000.
#[must_use]
pub fn max_digits() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| limit_from_env("IOXIDE_MAX_DIGITS").unwrap_or(DIGITS))
}

fn limit_from_env(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok().filter(|limit| *limit > 0)
}
