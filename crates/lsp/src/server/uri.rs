//! Addresses of files, and the paths behind them.

use std::fmt::Write as _;

use lsp_types::Uri;

/// The path behind a `file:` address; other addresses are their own names.
#[must_use]
pub fn uri_path(uri: &Uri) -> String {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix("file://") else { return text.to_owned() };
    let path = rest.find('/').map_or(rest, |start| &rest[start..]);
    let path = percent_decode(path);
    // `/C:/models` is `C:/models` on Windows.
    match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => path[1..].to_owned(),
        _ => path,
    }
}

/// Returns the address of the file at `path`; a path that is an address already stays as it is.
#[must_use]
pub fn file_uri(path: &str) -> Option<Uri> {
    if path.contains("://") || path.starts_with("untitled:") {
        return path.parse().ok();
    }
    let plain = path.replace('\\', "/");
    let slash = if plain.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", percent_encode(&plain)).parse().ok()
}

fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn percent_encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte))
            }
            other => _ = write!(out, "%{other:02X}"),
        }
    }
    out
}
