//! HTTP as a failure shows it: the operations of a service, and the requests and answers of a failing run.

use serde::{Deserialize, Serialize};

/// An operation of a service: a method and a path, with the messages and switches of the model that belong to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationRecord {
    /// Method and path, such as `POST /books/{id}/loan`.
    pub operation: String,
    /// Its place in the description of the service, such as `api.json#/paths/~1books/post`; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The inputs that are requests of it.
    pub inputs: Vec<String>,
    /// The outputs that answer its requests, each with its statuses: `200`, `4xx`; empty for any other one.
    pub outputs: Vec<(String, Vec<String>)>,
    /// The switches with these messages, each with its message.
    pub switches: Vec<(String, String)>,
}

/// A request and its answer, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpExchange {
    /// The input that was sent; absent for a request of the reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The request.
    pub request: HttpRequestRecord,
    /// The answer; absent if none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<HttpResponseRecord>,
    /// The times of it; absent in records without times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<ExchangeTimes>,
}

/// The times of a request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeTimes {
    /// The time at which the request was sent, in milliseconds since 1970.
    pub sent_ms: u64,
    /// The time until the first byte of the answer came, in microseconds; absent if none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_us: Option<u64>,
    /// The time from then until the whole answer was there, in microseconds; absent if it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_us: Option<u64>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpRequestRecord {
    /// Its method.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// Its headers, names in lower case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// Its body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The Unix socket that it was sent to; absent for TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// The variables of the environment that stand for secrets in address and headers, as `${NAME}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpResponseRecord {
    /// Its status.
    pub status: u16,
    /// Its headers, names in lower case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// Its body as text; bytes that are no text are replaced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}

impl HttpExchange {
    /// Calls `change` with every text that the system may have said or that was said to it.
    pub fn for_each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        let Self { input: _, request, response, times: _ } = self;
        let HttpRequestRecord { method: _, url, headers, body, socket: _, variables: _ } = request;
        change(url);
        headers.iter_mut().for_each(|(_, value)| change(value));
        body.iter_mut().for_each(&mut *change);
        if let Some(HttpResponseRecord { status: _, headers, body }) = response {
            headers.iter_mut().for_each(|(_, value)| change(value));
            change(body);
        }
    }
}
