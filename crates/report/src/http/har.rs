//! The requests of a run as a file of HTTP Archive 1.2, which browsers and proxies read.
//!
//! Values that the service chose are those of the run. Secrets are `***`. In a record without times (`--no-times`) all
//! times are 0, and the dates count from the beginning of time, one second for each request.

use ioxide_record::calendar::{SECONDS_PER_DAY, date_of_day};
use ioxide_record::event::{ExchangeTimes, HttpExchange, HttpRequestRecord, HttpResponseRecord};
use ioxide_record::secrets::HIDDEN;
use serde_json::{Value as Json, json};

/// Returns the archive of the requests; `about` names the run.
#[must_use]
pub fn write_har(exchanges: &[HttpExchange], about: &str) -> Json {
    let entries: Vec<Json> = exchanges.iter().enumerate().map(|(at, exchange)| entry(at, exchange)).collect();
    let has_times = exchanges.iter().all(|exchange| exchange.times.is_some());
    json!({
        "log": {
            "version": "1.2",
            "creator": { "name": "ioxide", "version": env!("CARGO_PKG_VERSION") },
            "comment": if has_times { about.to_owned() } else { format!("{about}; times are not recorded") },
            "entries": entries,
        }
    })
}

/// Returns the entry of the exchange at position `at`. Without times, exchanges follow each other by one
/// second.
fn entry(at: usize, exchange: &HttpExchange) -> Json {
    let told = exchange.times;
    let after_start = 1000 * u64::try_from(at).unwrap_or_default();
    let sent_ms = told.map_or(after_start, |times| times.sent_ms);
    let milliseconds =
        |of: fn(ExchangeTimes) -> Option<u64>| told.and_then(of).map_or(0.0, |micros| micros as f64 / 1000.0);
    let (wait, receive) = (milliseconds(|times| times.wait_us), milliseconds(|times| times.receive_us));
    let comment = exchange.input.as_deref().unwrap_or("reset");
    json!({
        "startedDateTime": date_time(sent_ms),
        "time": wait + receive,
        "request": request(&exchange.request),
        "response": response(exchange.response.as_ref()),
        "cache": {},
        "timings": { "send": 0, "wait": wait, "receive": receive },
        "comment": comment,
    })
}

/// Returns a time in milliseconds since 1970 as RFC 3339 has it.
fn date_time(sent_ms: u64) -> String {
    let seconds = i64::try_from(sent_ms / 1000).unwrap_or_default();
    let (year, month, day) = date_of_day(seconds / SECONDS_PER_DAY);
    let second = seconds % SECONDS_PER_DAY;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", sent_ms % 1000)
}

/// Returns a request as HAR has it; values from the environment are hidden.
fn request(request: &HttpRequestRecord) -> Json {
    let hidden = |text: &str| {
        let hide = |text: String, name: &String| text.replace(&format!("${{{name}}}"), HIDDEN);
        request.variables.iter().fold(text.to_owned(), hide)
    };
    let url = hidden(&request.url);
    let query = url.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let query: Vec<Json> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            json!({ "name": decode(name), "value": decode(value) })
        })
        .collect();
    let headers: Vec<(String, String)> =
        request.headers.iter().map(|(name, value)| (name.clone(), hidden(value))).collect();
    let mut told = json!({
        "method": request.method,
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": cookies(&headers, "cookie"),
        "headers": pairs(&headers),
        "queryString": query,
        "headersSize": -1,
        "bodySize": request.body.as_ref().map_or(0, String::len),
    });
    if let Some(body) = &request.body {
        told["postData"] = json!({ "mimeType": content_type(&headers), "params": [], "text": body });
    }
    told
}

/// Returns a response as HAR has it; a missing one has the status 0.
fn response(response: Option<&HttpResponseRecord>) -> Json {
    let none = HttpResponseRecord { status: 0, headers: Vec::new(), body: String::new() };
    let response_record = response.unwrap_or(&none);
    let HttpResponseRecord { status, headers, body } = response_record;
    let location = headers.iter().find(|(name, _)| name == "location").map_or("", |(_, value)| value);
    json!({
        "status": status,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": cookies(headers, "set-cookie"),
        "headers": pairs(headers),
        "content": { "size": body.len(), "mimeType": content_type(headers), "text": body },
        "redirectURL": location,
        "headersSize": -1,
        "bodySize": -1,
    })
}

/// Returns headers as HAR has them.
fn pairs(headers: &[(String, String)]) -> Vec<Json> {
    headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

/// Returns the cookies of a header as far as their names are known; values are secrets.
fn cookies(headers: &[(String, String)], header: &str) -> Vec<Json> {
    let values = headers.iter().filter(|(name, _)| name == header);
    let names =
        values.flat_map(|(_, value)| value.split(';').take(if header == "cookie" { usize::MAX } else { 1 }));
    names
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| json!({ "name": name.trim(), "value": value.trim() }))
        .collect()
}

fn content_type(headers: &[(String, String)]) -> &str {
    headers.iter().find(|(name, _)| name == "content-type").map_or("", |(_, value)| value)
}

/// Returns a part of a query without its escapes.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::story::samples::exchange;

    /// A reader of HTTP Archive 1.2 as its specification has it: what is not optional is needed, and nothing else is
    /// there (http://www.softwareishard.com/blog/har-12-spec/).
    mod reader {
        #![allow(dead_code, reason = "the types are read, not used")]
        use serde::Deserialize;

        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Archive {
            pub log: Log,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Log {
            pub version: String,
            pub creator: Creator,
            pub browser: Option<Creator>,
            pub pages: Option<Vec<serde_json::Value>>,
            pub entries: Vec<Entry>,
            pub comment: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Creator {
            pub name: String,
            pub version: String,
            pub comment: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        pub struct Entry {
            pub pageref: Option<String>,
            pub started_date_time: String,
            pub time: f64,
            pub request: Request,
            pub response: Response,
            pub cache: std::collections::BTreeMap<String, serde_json::Value>,
            pub timings: Timings,
            #[serde(rename = "serverIPAddress")]
            pub server: Option<String>,
            pub connection: Option<String>,
            pub comment: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        pub struct Request {
            pub method: String,
            pub url: String,
            pub http_version: String,
            pub cookies: Vec<Pair>,
            pub headers: Vec<Pair>,
            pub query_string: Vec<Pair>,
            pub post_data: Option<PostData>,
            pub headers_size: i64,
            pub body_size: i64,
            pub comment: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        pub struct PostData {
            pub mime_type: String,
            pub params: Vec<Pair>,
            pub text: String,
            pub comment: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        pub struct Response {
            pub status: u16,
            pub status_text: String,
            pub http_version: String,
            pub cookies: Vec<Pair>,
            pub headers: Vec<Pair>,
            pub content: Content,
            #[serde(rename = "redirectURL")]
            pub redirect_url: String,
            pub headers_size: i64,
            pub body_size: i64,
            pub comment: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        pub struct Content {
            pub size: u64,
            pub compression: Option<u64>,
            pub mime_type: String,
            pub text: Option<String>,
            pub encoding: Option<String>,
            pub comment: Option<String>,
        }
        #[derive(Deserialize, Debug, PartialEq)]
        #[serde(deny_unknown_fields)]
        pub struct Pair {
            pub name: String,
            pub value: String,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Timings {
            pub blocked: Option<f64>,
            pub dns: Option<f64>,
            pub connect: Option<f64>,
            pub send: f64,
            pub wait: f64,
            pub receive: f64,
            pub ssl: Option<f64>,
            pub comment: Option<String>,
        }
    }

    #[test]
    fn an_archive_can_be_read_and_has_no_secrets() {
        let mut made = exchange("POST", "http://h:1/a?q=a%20b&key=${KEY}", Some("{}"), 201, "{\"id\": 58}");
        made.request.variables = vec!["KEY".into()];
        made.request.headers = vec![("cookie".into(), "session=***".into())];
        let silent =
            HttpExchange { input: None, response: None, ..exchange("GET", "http://h:1/", None, 200, "") };
        let text = write_har(&[made, silent], "a run").to_string();
        assert!(!text.contains("KEY"), "{text}");
        let archive: reader::Archive = serde_json::from_str(&text).expect("it is an archive");
        assert_eq!(archive.log.version, "1.2");
        let [first, second] = &archive.log.entries[..] else { panic!("two requests") };
        assert_eq!(first.started_date_time, "1970-01-01T00:00:00.000Z");
        assert_eq!(first.request.url, "http://h:1/a?q=a%20b&key=***");
        let pair = |name: &str, value: &str| reader::Pair { name: name.into(), value: value.into() };
        assert_eq!(first.request.query_string, [pair("q", "a b"), pair("key", "***")]);
        assert_eq!(first.request.cookies, [pair("session", "***")]);
        assert_eq!(first.response.content.text.as_deref(), Some("{\"id\": 58}"));
        assert_eq!((first.time, first.timings.wait), (0.0, 0.0));
        assert_eq!((second.response.status, second.request.post_data.is_none()), (0, true));
        assert!(i64::try_from(first.response.content.size).is_ok());
    }

    #[test]
    fn an_archive_has_the_times_of_the_record() {
        let sent_ms = 1_763_496_591_042;
        let times = ExchangeTimes { sent_ms, wait_us: Some(2500), receive_us: Some(250) };
        let made = HttpExchange { times: Some(times), ..exchange("GET", "http://h:1/", None, 200, "") };
        let text = write_har(&[made], "a run").to_string();
        let archive: reader::Archive = serde_json::from_str(&text).expect("it is an archive");
        assert_eq!(archive.log.comment.as_deref(), Some("a run"));
        let entry = &archive.log.entries[0];
        // `date -u -d @1763496591` says so.
        assert_eq!(entry.started_date_time, "2025-11-18T20:09:51.042Z");
        assert_eq!((entry.time, entry.timings.wait, entry.timings.receive), (2.75, 2.5, 0.25));
    }

    #[test]
    fn escapes_of_a_query_are_read() {
        for (text, expected) in [("a%2", "a%2"), ("%41+%zz", "A %zz"), ("", ""), ("%", "%")] {
            assert_eq!(decode(text), expected);
        }
    }
}
