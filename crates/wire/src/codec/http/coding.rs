//! Encoded bodies (RFC 9110, 8.4.1): `gzip`, `deflate` and `br`, which some servers send although no request accepts
//! them.
//!
//! *Promises.* A decoded body is bounded like a plain one, however small its encoded form is. A body that is cut off or
//! damaged is an error, never a shorter body.

use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};
use ioxide_record::limits::{Excess, max_body};
use ioxide_record::line::cut;
use thiserror::Error;

use crate::codec::Undecodable;

/// Bytes that are decoded at once. Chosen by feel: small beside the limit of a message, large beside the cost of a
/// call.
const CHUNK: usize = 16 << 10;
/// The number of encodings that may lie over each other. Chosen by feel: nobody sends more, and each may multiply the
/// size.
const MAX_CODINGS: usize = 4;

/// An encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyCoding {
    /// RFC 1952.
    Gzip,
    /// The format of zlib (RFC 1950) or, as some servers understand the name, the bare one inside it (RFC 1951).
    Deflate,
    /// RFC 7932.
    Brotli,
}

/// The reason why a body cannot be decoded.
#[derive(Debug, Error)]
pub(super) enum BadCoding {
    /// The body is longer than is read.
    #[error(transparent)]
    Excess(#[from] Excess),
    /// The body is damaged or cut off.
    #[error("the body is not `{name}`, but its header says so: {reason}")]
    Damaged {
        /// The name of the encoding.
        name: &'static str,
        /// The problem that the decoder found.
        reason: String,
    },
    /// There are more encodings over each other than are read.
    #[error("{0} encodings of one body, more than the {MAX_CODINGS} that are read")]
    Many(usize),
}

impl From<BadCoding> for Undecodable {
    fn from(bad: BadCoding) -> Self {
        match bad {
            BadCoding::Excess(excess) => excess.into(),
            BadCoding::Damaged { .. } => Self::Wrong(bad.to_string()),
            // Nobody is known to be wrong who packs a body five times.
            BadCoding::Many(_) => Self::TooLarge(bad.to_string()),
        }
    }
}

impl BodyCoding {
    /// Returns the encoding called `name`; `None` if it is not read here.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "deflate" => Some(Self::Deflate),
            "br" => Some(Self::Brotli),
            _ => None,
        }
    }

    /// Returns the name in `Content-Encoding`.
    const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
        }
    }

    /// Returns the body that is encoded as `bytes`.
    fn decode(self, bytes: &[u8]) -> Result<Vec<u8>, BadCoding> {
        match self {
            Self::Gzip => self.read_all(flate2::bufread::MultiGzDecoder::new(bytes)),
            Self::Brotli => self.read_all(brotli_decompressor::Decompressor::new(bytes, CHUNK)),
            Self::Deflate => match inflate(bytes, true) {
                // Only without the header: a damaged body of zlib must not be read as noise that happens to end well.
                Err(BadCoding::Damaged { .. }) if !has_zlib_header(bytes) => inflate(bytes, false),
                decoded => decoded,
            },
        }
    }

    /// Returns all that `decoder` gives, if that is no more than a body may have.
    fn read_all(self, decoder: impl Read) -> Result<Vec<u8>, BadCoding> {
        let mut body = Vec::new();
        let limit = max_body();
        // One byte more than is allowed tells a body that fills the limit from one that exceeds it.
        let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        match decoder.take(bound).read_to_end(&mut body) {
            Ok(_) if body.len() > limit => Err(Excess::body().into()),
            Ok(_) => Ok(body),
            Err(error) => Err(self.damaged_error(&error)),
        }
    }

    fn damaged_error(self, error: &io::Error) -> BadCoding {
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => "it is cut off".into(),
            _ => error.to_string(),
        };
        BadCoding::Damaged { name: self.name(), reason }
    }
}

/// Returns whether `bytes` begin as the format of zlib does (RFC 1950, 2.2).
fn has_zlib_header(bytes: &[u8]) -> bool {
    let [method, flags, ..] = bytes else { return false };
    method & 0x0f == 8 && (u16::from(*method) * 256 + u16::from(*flags)) % 31 == 0
}

/// Returns the body that is deflated as `bytes`, with the header and the checksum of zlib or without.
///
/// The readers of `flate2` take a stream that is cut off for one that ends, so its end is asked for here.
fn inflate(bytes: &[u8], has_header: bool) -> Result<Vec<u8>, BadCoding> {
    let damaged =
        |reason: &str| BadCoding::Damaged { name: BodyCoding::Deflate.name(), reason: reason.into() };
    let mut inflater = Decompress::new(has_header);
    let mut body: Vec<u8> = Vec::new();
    loop {
        let used = usize::try_from(inflater.total_in()).unwrap_or(bytes.len());
        let (input, before) = (bytes.get(used..).unwrap_or_default(), inflater.total_out());
        body.reserve(CHUNK);
        let status = inflater.decompress_vec(input, &mut body, FlushDecompress::None);
        if body.len() > max_body() {
            return Err(Excess::body().into());
        }
        let is_stuck = inflater.total_out() == before
            && usize::try_from(inflater.total_in()).unwrap_or(bytes.len()) == used;
        match status {
            Ok(Status::StreamEnd) => return Ok(body),
            Ok(Status::Ok | Status::BufError) if is_stuck => return Err(damaged("it is cut off")),
            Ok(Status::Ok | Status::BufError) => (),
            Err(error) => return Err(damaged(&error.to_string())),
        }
    }
}

/// Returns the names of encodings in the values of a header, outermost last; `identity` is none.
pub(super) fn coding_names<'v>(values: impl Iterator<Item = &'v str>) -> Vec<&'v str> {
    let names = values.flat_map(|value| value.split(',')).map(str::trim);
    names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity")).collect()
}

/// Returns the body that lies under the encodings called `names`, of which the last was applied last.
///
/// # Errors
/// If it is damaged or too long, or an encoding is not read here.
pub(super) fn decode_body(names: &[&str], body: Vec<u8>) -> Result<Vec<u8>, BadCoding> {
    // An answer to HEAD and one without content name the encoding that a body would have.
    if body.is_empty() || names.is_empty() {
        return Ok(body);
    }
    if names.len() > MAX_CODINGS {
        return Err(BadCoding::Many(names.len()));
    }
    names.iter().rev().try_fold(body, |body, name| match BodyCoding::from_name(name) {
        Some(coding) => coding.decode(&body),
        None => Err(Excess::Coding { name: cut(name, 40) }.into()),
    })
}

#[cfg(test)]
mod tests;
