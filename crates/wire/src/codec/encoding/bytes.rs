//! Bytes as text: base64, hexadecimal digits, percent signs.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the digit for six bits.
fn digit(bits: usize, for_url: bool) -> char {
    match (DIGITS[bits & 63], for_url) {
        (b'+', true) => '-',
        (b'/', true) => '_',
        (digit, _) => digit.into(),
    }
}

/// Returns `bytes` in base64; `for_url` uses other digits and no padding.
pub(super) fn base64(bytes: &[u8], for_url: bool) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |place: usize| usize::from(group.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            match place <= group.len() {
                true => text.push(digit(bits >> (18 - 6 * place), for_url)),
                false if !for_url => text.push('='),
                false => {}
            }
        }
    }
    text
}

/// Returns the bytes of a base64 text; `None` if it is none. Padding may be left out; digits of the other alphabet and
/// bits behind the last byte are errors.
pub(super) fn unbase64(text: &str, for_url: bool) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let n_padding = text.len() - digits.len();
    if n_padding > 2 || n_padding > 0 && !text.len().is_multiple_of(4) || digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut n_bits) = (0u32, 0);
    for byte in digits.chars() {
        let value = (0..64).find(|&bits| digit(bits, for_url) == byte)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push(u8::try_from(bits >> n_bits & 0xff).ok()?);
        }
    }
    let is_rest_empty = bits & ((1 << n_bits) - 1) == 0;
    is_rest_empty.then_some(bytes)
}

/// Returns two digits for each byte, in lower case.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes that hexadecimal digits stand for, in upper or lower case.
pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok()).collect()
}

/// Returns the bytes of a text with percent signs.
pub(super) fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
        bytes.extend(unhex(digits)?);
        rest = &after[2..];
    }
    Some(bytes)
}
