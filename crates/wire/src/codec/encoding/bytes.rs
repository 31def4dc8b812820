//! Bytes as text: hexadecimal digits, percent signs.

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
