//! Literals of other languages: whatever a text holds, it stays one.

/// Returns a text as one word of a shell; `None` if no word can hold it.
pub(super) fn shell(text: &str) -> Option<String> {
    // A word of a shell ends at a NUL.
    if text.contains('\0') {
        return None;
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Some(text.to_owned());
    }
    Some(format!("'{}'", text.replace('\'', "'\\''")))
}

/// Returns a text as the first argument of `printf`, which writes these bytes.
pub(super) fn printf(text: &str) -> String {
    let mut quoted = String::from("'");
    for byte in text.bytes() {
        match byte {
            b'%' => quoted.push_str("%%"),
            b'\\' => quoted.push_str("\\\\"),
            b'\'' => quoted.push_str("'\\''"),
            b'\n' => quoted.push_str("\\n"),
            b'\r' => quoted.push_str("\\r"),
            b' '..=b'~' => quoted.push(byte.into()),
            _ => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted + "'"
}

/// Returns a text as a string literal of Python.
pub(super) fn python(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            ' '..='~' => quoted.push(c),
            // What can be read stays readable; everything else is written out, so that nothing is hidden.
            c if c.is_alphanumeric() => quoted.push(c),
            c => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    quoted + "\""
}

/// Returns a text as a string literal of Rust.
pub(super) fn rust(text: &str) -> String {
    format!("{text:?}")
}
