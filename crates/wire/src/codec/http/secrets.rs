//! The secrets in what is sent by HTTP: headers, parameters, cookies and members of bodies whose names say so.

use ioxide_record::secrets::{HIDDEN_WINDOW_BYTES, Secrets, unescape};

use crate::adapter::HttpResetStep;
use crate::codec::http::HttpConfig;
use crate::codec::http::token::TokenConfig;
use crate::codec::template_texts;

/// The place of a field in a text of which only the rest is known.
const HOLE: char = '\u{0}';

/// Hides the values in requests whose names are secret by `is_secret`; the values of fields are none of them.
pub fn add_request_secrets(
    secrets: &mut Secrets,
    http: &HttpConfig,
    resets: &[HttpResetStep],
    is_secret: &dyn Fn(&str) -> bool,
) {
    add_named_headers(secrets, &http.headers, is_secret);
    http.token.iter().flat_map(TokenConfig::secrets).for_each(|text| secrets.add(text));
    for request in
        http.inputs.iter().map(|(_, request)| request).chain(resets.iter().map(|step| &step.request))
    {
        add_named_headers(secrets, &request.headers, is_secret);
        for (_, value) in request.query.iter().chain(&request.cookies).filter(|(name, _)| is_secret(name)) {
            template_texts(value).iter().for_each(|text| secrets.add(text));
        }
        // Most cookies are secrets whatever their names are; `theme=dark` is none.
        let values = request.cookies.iter().flat_map(|(_, value)| template_texts(value));
        values.filter(|text| text.len() >= HIDDEN_WINDOW_BYTES).for_each(|text| secrets.add(&text));
        let texts = [Some(&request.path), request.body.as_ref()].into_iter().flatten();
        for text in texts.flat_map(|text| secret_members(text, is_secret)) {
            secrets.add(&text);
        }
    }
}

fn add_named_headers(secrets: &mut Secrets, headers: &[(String, String)], is_secret: &dyn Fn(&str) -> bool) {
    for (_, value) in headers.iter().filter(|(name, _)| is_secret(name)) {
        template_texts(value).iter().for_each(|text| secrets.add_header(text));
    }
}

/// Returns the names of the members of a path or body, whether they are secret or not.
#[must_use]
pub fn member_names(template: &str) -> Vec<String> {
    named_values(template).into_iter().map(|(name, _)| name).collect()
}

/// Returns the values of the members of a path or body whose names are secret, as they are meant and as they are
/// written: a system may put either into base64.
fn secret_members(template: &str, is_secret: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (_, written) in named_values(template).into_iter().filter(|(name, _)| is_secret(name)) {
        for part in written.split(HOLE) {
            let meant = unescape(part);
            if meant != part {
                found.push(part.to_owned());
            }
            found.push(meant);
        }
    }
    found
}

/// Returns names and values, the latter as they are written, in a path or body: `name=value` of queries and forms,
/// `"name": "value"` of JSON.
fn named_values(template: &str) -> Vec<(String, String)> {
    let text = template_texts(template).join(&HOLE.to_string());
    let mut found = Vec::new();
    for part in text.split(['?', '&', '\n']) {
        if let Some((name, value)) = part.split_once('=').filter(|(name, _)| is_form_name(name)) {
            found.push((unescape(name), value.to_owned()));
        }
    }
    let mut rest = text.as_str();
    while let Some((name, after)) = split_quoted(rest) {
        let value = after.trim_start().strip_prefix(':').and_then(quoted_here);
        rest = match value {
            Some((value, after)) => {
                found.push((unescape(name), value.to_owned()));
                after
            }
            None => after,
        };
    }
    found
}

/// Returns whether a text can be the name of a member of a form; a piece of JSON cannot.
fn is_form_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.[]%+".contains(&byte))
}

/// Returns the text between the first quotes in `text`, and what follows it.
fn split_quoted(text: &str) -> Option<(&str, &str)> {
    quoted_here(&text[text.find('"')?..])
}

/// Returns the text between quotes with which `text` begins, spaces aside, and what follows it.
fn quoted_here(text: &str) -> Option<(&str, &str)> {
    let inside = text.trim_start().strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.find(|letter| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    })?;
    Some((&inside[..end], &inside[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_with_secret_names_are_found_in_paths_forms_and_json() {
        let is_secret = |name: &str| name.contains("password") || name == "token";
        for (template, expected) in [
            ("/login?user=ann&token=abc%2Fdef&x=1", &["abc%2Fdef", "abc/def"][..]),
            ("user=ann&password=hun+ter", &["hun+ter", "hun ter"]),
            (r#"{{"user": "ann", "password": "hun\"ter", "n": {n}}}"#, &["hun\\\"ter", "hun\"ter"]),
            (r#"{{"password": "a{x}b"}}"#, &["a", "b"]),
            (r#"{{"password": {p}}}"#, &[]),
            (r#"{{"token": "abcd", "y": "a=bcdefgh"}}"#, &["abcd"]),
            ("plain", &[]),
        ] {
            assert_eq!(secret_members(template, &is_secret), expected, "{template}");
        }
    }
}
