//! The parts of answers that later requests repeat: named captures, and cookies (RFC 6265).

use std::collections::BTreeMap;

use ioxide_record::json;
use serde_json::Value as Json;

use super::message::HttpResponse;
use super::token::ACCESS_TOKEN;

/// Cookies that are kept. The number that RFC 6265 asks a user agent to keep is 3000 in all and 50 of one host; 300
/// by feel, as tests talk to few.
const MAX_COOKIES: usize = 300;

/// The place of a capture in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureFrom {
    /// The value of a header.
    Header(String),
    /// The value of a cookie that is set.
    Cookie(String),
    /// A member of a JSON body, by pointer.
    Json(String),
    /// None: it is the access token, which is fetched.
    AccessToken,
}

/// A value that is taken from answers, for use in later requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureConfig {
    /// The output it is taken from; any that has it if not given.
    pub output: Option<String>,
    /// The place of the value.
    pub from: CaptureFrom,
}

/// The values captured since the last reset.
#[derive(Clone, Debug, Default)]
pub struct CapturedValues {
    wanted: Vec<(String, CaptureConfig)>,
    values: BTreeMap<String, Json>,
    /// Cookies that were set, where they are kept: name, value, path.
    jar: Option<Vec<(String, String, String)>>,
}

impl CapturedValues {
    /// Returns an empty store for these captures, and for all cookies if `keeps_cookies`.
    #[must_use]
    pub fn new(wanted: &[(String, CaptureConfig)], keeps_cookies: bool) -> Self {
        Self { wanted: wanted.to_vec(), values: BTreeMap::new(), jar: keeps_cookies.then(Vec::new) }
    }

    /// Returns the same store with these values.
    pub(crate) fn with_values(self, values: impl Iterator<Item = (String, Json)>) -> Self {
        Self { values: values.collect(), ..self }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.values.clear();
        self.jar.iter_mut().for_each(Vec::clear);
    }

    /// Sets the value of the access token.
    pub(crate) fn set_access_token(&mut self, text: &str) {
        self.values.insert(ACCESS_TOKEN.to_owned(), Json::from(text));
    }

    /// Returns whether `name` is that of a capture.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.wanted.iter().any(|(other, _)| other == name)
    }

    /// Returns the value captured under `name`; `None` if there is none yet.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.values.get(name)
    }

    /// Captures values and cookies of `response`, which is the output `output`; returns their texts, so that they can
    /// be redacted.
    pub fn capture_from(&mut self, response: &HttpResponse, output: Option<&str>) -> Vec<String> {
        let mut fresh = Vec::new();
        for (name, config) in &self.wanted {
            if config.output.is_some() && config.output.as_deref() != output {
                continue;
            }
            if let Some(value) = find_capture(&config.from, response) {
                fresh.push(text_of(&value));
                self.values.insert(name.clone(), value);
            }
        }
        let Some(jar) = &mut self.jar else { return fresh };
        for cookie in set_cookies(response) {
            // A cookie that is set again goes to the end, so that the oldest are first.
            jar.retain(|(name, _, path)| *name != cookie.name || *path != cookie.path);
            if !cookie.is_gone {
                fresh.push(cookie.value.clone());
                jar.push((cookie.name, cookie.value, cookie.path));
                // The oldest go, as in browsers (RFC 6265, 6.1).
                jar.drain(..jar.len().saturating_sub(MAX_COOKIES));
            }
        }
        fresh
    }

    /// The cookies that were set for this path.
    pub fn cookies(&self, path: &str) -> impl Iterator<Item = (&str, &str)> {
        let path = path.split('?').next().unwrap_or_default().to_owned();
        let is_for = move |of: &str| {
            path.strip_prefix(of)
                .is_some_and(|rest| of.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
        };
        let all = self.jar.iter().flatten().filter(move |(_, _, of)| is_for(of));
        all.map(|(name, value, _)| (name.as_str(), value.as_str()))
    }
}

/// Text as it is, anything else as JSON.
pub(super) fn text_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn find_capture(from: &CaptureFrom, response: &HttpResponse) -> Option<Json> {
    match from {
        CaptureFrom::Header(name) => response.header(name).map(Json::from),
        CaptureFrom::Cookie(name) => {
            let set = set_cookies(response).find(|cookie| cookie.name == *name && !cookie.is_gone);
            set.map(|cookie| Json::from(cookie.value))
        }
        CaptureFrom::Json(pointer) => {
            let body: Json = json::read(&response.body).ok()?;
            body.pointer(pointer).filter(|value| !value.is_null()).cloned()
        }
        CaptureFrom::AccessToken => None,
    }
}

/// A cookie that an answer sets, or takes away.
struct SetCookie {
    name: String,
    value: String,
    path: String,
    is_gone: bool,
}

fn set_cookies(response: &HttpResponse) -> impl Iterator<Item = SetCookie> {
    let headers = response.headers.iter().filter(|(name, _)| name == "set-cookie");
    headers.filter_map(|(_, text)| set_cookie(text))
}

fn set_cookie(text: &str) -> Option<SetCookie> {
    let mut parts = text.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let mut cookie = SetCookie {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        path: "/".into(),
        is_gone: false,
    };
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "path" if value.trim().starts_with('/') => cookie.path = value.trim().to_owned(),
            "max-age" => cookie.is_gone = value.trim().parse::<i64>().is_ok_and(|seconds| seconds <= 0),
            // The day that everybody uses to take a cookie away.
            "expires" if value.contains("1970") => cookie.is_gone = true,
            _ => (),
        }
    }
    (!cookie.name.is_empty()).then_some(cookie)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(headers: &[(&str, &str)], body: &str) -> HttpResponse {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        HttpResponse { status: 200, headers, body: body.into(), ..HttpResponse::default() }
    }

    #[test]
    fn captures_come_from_headers_cookies_and_bodies() {
        let from = |output: Option<&str>, from| CaptureConfig { output: output.map(str::to_owned), from };
        let wanted = vec![
            ("tag".to_owned(), from(None, CaptureFrom::Header("etag".into()))),
            ("session".to_owned(), from(None, CaptureFrom::Cookie("sid".into()))),
            ("id".to_owned(), from(Some("MADE"), CaptureFrom::Json("/item/id".into()))),
        ];
        let mut captured = CapturedValues::new(&wanted, false);
        let answer = response(
            &[("etag", "\"7\""), ("set-cookie", "sid=abc; Path=/; HttpOnly")],
            r#"{"item": {"id": 7}}"#,
        );
        captured.capture_from(&answer, Some("OTHER"));
        assert_eq!((captured.get("tag"), captured.get("id")), (Some(&Json::from("\"7\"")), None));
        assert_eq!(captured.get("session"), Some(&Json::from("abc")));
        captured.capture_from(&answer, Some("MADE"));
        assert_eq!(captured.get("id"), Some(&Json::from(7)));
        captured.clear();
        assert_eq!(captured.get("session"), None);
    }

    #[test]
    fn a_jar_holds_the_newest_cookies() {
        let mut captured = CapturedValues::new(&[], true);
        for n in 0..MAX_COOKIES + 5 {
            captured.capture_from(&response(&[("set-cookie", &format!("c{n}=1"))], ""), None);
        }
        let names: Vec<&str> = captured.cookies("/").map(|(name, _)| name).collect();
        assert_eq!((names.len(), names[0]), (MAX_COOKIES, "c5"));
    }

    #[test]
    fn cookies_are_kept_by_name_and_path_until_they_are_taken_away() {
        let mut captured = CapturedValues::new(&[], true);
        captured.capture_from(&response(&[("set-cookie", "a=1"), ("set-cookie", "b=2; path=/in")], ""), None);
        let at = |captured: &CapturedValues, path: &str| {
            captured.cookies(path).map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>()
        };
        assert_eq!(at(&captured, "/"), ["a=1"]);
        assert_eq!(at(&captured, "/in?x=1"), ["a=1", "b=2"]);
        assert_eq!(at(&captured, "/inside"), ["a=1"]);
        captured.capture_from(
            &response(&[("set-cookie", "a=3"), ("set-cookie", "b=; path=/in; Max-Age=0")], ""),
            None,
        );
        assert_eq!(at(&captured, "/in"), ["a=3"]);
        captured.capture_from(
            &response(&[("set-cookie", "a=; expires=Thu, 01 Jan 1970 00:00:00 GMT")], ""),
            None,
        );
        assert!(at(&captured, "/in").is_empty());
    }
}
