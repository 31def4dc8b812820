//! The spellings of a secret that are no escapes: as it is, in hexadecimal, in base64 (RFC 4648).

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Reads every base64 that some client may have written: with and without padding, whatever the last bits are.
const LENIENT_BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Names of ways to authenticate, which stand before the secret in a header and are none (IANA's registry, and two that
/// everybody uses).
const SCHEMES: [&str; 16] = [
    "apikey",
    "basic",
    "bearer",
    "concealed",
    "digest",
    "dpop",
    "gnap",
    "hoba",
    "mutual",
    "negotiate",
    "oauth",
    "privatetoken",
    "scram-sha-1",
    "scram-sha-256",
    "token",
    "vapid",
];

/// Every spelling that is looked for: the secret itself, and the secret as it is sent in a body, in a path or in JSON,
/// each in hexadecimal and in base64.
pub(super) fn all_spellings(secret: &str) -> Vec<Vec<u8>> {
    let in_json = serde_json::to_string(secret).unwrap_or_default();
    let in_json =
        in_json.strip_prefix('"').unwrap_or_default().strip_suffix('"').unwrap_or_default().to_owned();
    let (escaped, lower) = (percent_encode(secret), lower_escapes(&percent_encode(secret)));
    let sent: BTreeSet<String> = [secret.to_owned(), escaped, lower, in_json].into_iter().collect();
    let mut spellings = vec![secret.to_owned()];
    for text in &sent {
        let bytes = text.as_bytes();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        spellings.extend([hex.to_uppercase(), hex]);
        for base in (0..3).map(|before| inner_base64(bytes, before)) {
            spellings.push(base.replace('+', "-").replace('/', "_"));
            spellings.push(base);
        }
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
    let text = BASE64.encode(&padded);
    let first = [0, 2, 3][before];
    let last = text.trim_end_matches('=').len() - usize::from(!padded.len().is_multiple_of(3));
    text.get(first..last).unwrap_or_default().to_owned()
}

/// Returns the secrets in the value of a header: all of it without the name of a scheme, the values of its parameters,
/// and what the base64 of `Basic` says.
pub(super) fn of_header(value: &str) -> Vec<String> {
    let value = value.trim();
    let is_scheme = |word: &str| SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    let (scheme, secret) = match value.split_once(' ').filter(|(word, _)| is_scheme(word)) {
        Some((scheme, rest)) => (scheme, rest.trim_start()),
        None if is_scheme(value) => return Vec::new(),
        None => ("", value),
    };
    let mut found = vec![secret.to_owned()];
    // Where the value has parameters, a system may say the value of one without its name.
    for word in secret.split([' ', ';', ',']) {
        // `name=value`, but not the padding of base64.
        let value = word.trim_end_matches('=').split_once('=').map(|(_, value)| value);
        found.extend(value.map(|value| value.trim_matches('"').to_owned()));
    }
    if scheme.eq_ignore_ascii_case("basic") {
        let both = LENIENT_BASE64.decode(secret).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let password =
            both.as_deref().and_then(|both| both.split_once(':')).map(|(_, password)| password.to_owned());
        found.extend(both.into_iter().chain(password));
    }
    found
}

/// Returns `text` with all but unreserved characters percent-encoded (RFC 3986, 2.3).
#[must_use]
pub fn percent_encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
