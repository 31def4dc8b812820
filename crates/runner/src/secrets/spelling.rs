//! The spellings of a secret: as it is, percent-encoded, in hexadecimal, in base64 (RFC 4648).

use crate::codec::http::percent;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Every spelling that is looked for.
pub(super) fn all(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let encoded = percent(secret);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut spellings = vec![secret.to_owned(), lower_escapes(&encoded), encoded, hex.to_uppercase(), hex];
    for base in (0..3).map(|before| inner_base64(bytes, before)) {
        spellings.push(base.replace('+', "-").replace('/', "_"));
        spellings.push(base);
    }
    spellings.into_iter().map(String::into_bytes).collect()
}

/// Returns the text with its escapes in lower case: `%2F` as `%2f`.
fn lower_escapes(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (escape, rest) = part.split_at(part.len().min(2));
        format!("{text}%{}{rest}", escape.to_lowercase())
    })
}

/// Returns the base64 digits that `bytes` alone decide when `before` bytes stand before them in a group of three.
fn inner_base64(bytes: &[u8], before: usize) -> String {
    let padded: Vec<u8> = std::iter::repeat_n(0, before).chain(bytes.iter().copied()).collect();
    let text = base64(&padded);
    let first = [0, 2, 3][before];
    let last = text.trim_end_matches('=').len() - usize::from(!padded.len().is_multiple_of(3));
    text.get(first..last).unwrap_or_default().to_owned()
}

/// `bytes` in base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let padded = [group[0], group.get(1).copied().unwrap_or(0), group.get(2).copied().unwrap_or(0)];
        let bits = padded.iter().fold(0_usize, |bits, &byte| bits << 8 | usize::from(byte));
        for place in 0..4 {
            if place <= group.len() {
                text.push(DIGITS[bits >> (18 - 6 * place) & 63].into())
            } else {
                text.push('=')
            }
        }
    }
    text
}

/// Returns the bytes of a base64 text; `None` if it is none.
fn unbase64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut n) = (0_usize, 0);
    for byte in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | DIGITS.iter().position(|&digit| digit == byte)?;
        n += 6;
        if n >= 8 {
            n -= 8;
            bytes.push(u8::try_from(bits >> n & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// Returns the secrets in the value of a header: its words and the values of its parameters, without the scheme, and
/// the password of `Basic`.
pub(super) fn of_header(value: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let words: Vec<&str> = value.split([' ', ';', ',']).filter(|word| !word.is_empty()).collect();
    for (at, word) in words.iter().enumerate() {
        let is_scheme = at == 0 && words.len() > 1 && !word.contains('=');
        // `name=value`, but not the padding of base64.
        let value = word.trim_end_matches('=').split_once('=').map_or(*word, |(_, value)| value);
        if !is_scheme {
            parts.push(value.trim_matches('"').to_owned());
        }
    }
    if words.first().is_some_and(|word| word.eq_ignore_ascii_case("basic")) {
        let decoded = words.get(1).and_then(|text| unbase64(text)).and_then(|it| String::from_utf8(it).ok());
        parts.extend(decoded.and_then(|text| text.split_once(':').map(|(_, password)| password.to_owned())));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10.
    #[test]
    fn the_examples_of_the_standard_hold() {
        let known = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (n, text) in known.into_iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..n]), text);
            assert_eq!(unbase64(text).unwrap(), b"foobar"[..n]);
        }
        assert_eq!(unbase64("?"), None);
    }
}
