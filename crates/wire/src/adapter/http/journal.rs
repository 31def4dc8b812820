//! The last requests of a run with their answers, as a failure shows them.

use std::collections::VecDeque;

use ioxide_record::event::{HttpExchange, HttpRequestRecord, HttpResponseRecord};
use ioxide_record::line::cut;
use ioxide_record::secrets::{HIDDEN, Secrets, percent_encode};

use crate::codec::http::message::{HttpRequest, HttpResponse};
use crate::codec::http::{HttpConfig, Url, is_secret};

/// The number of exchanges kept. Chosen by feel: smallest runs are shorter, and of longer ones the end is read.
const MAX_EXCHANGES: usize = 60;
/// The number of bytes kept of a body. Chosen by feel: it bounds the memory.
const MAX_BODY_BYTES: usize = 64 << 10;
/// The length in bytes from which on a text can be the value of a variable that is a secret; shorter ones occur
/// everywhere.
const MIN_VARIABLE_BYTES: usize = 4;

/// The last requests since the reset, with their answers.
#[derive(Default)]
pub(super) struct ExchangeJournal(VecDeque<JournalEntry>);

struct JournalEntry {
    lane: u32,
    input: Option<String>,
    request: HttpRequest,
    response: Option<HttpResponse>,
}

impl ExchangeJournal {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a request that was sent by this lane.
    pub(super) fn add_request(&mut self, lane: u32, input: Option<&str>, request: &HttpRequest) {
        if self.0.len() == MAX_EXCHANGES {
            self.0.pop_front();
        }
        let request = HttpRequest { body: request.body.as_deref().map(shorten), ..request.clone() };
        self.0.push_back(JournalEntry { lane, input: input.map(str::to_owned), request, response: None });
    }

    /// Adds the answer to the request of this lane; an answer to none of them is not kept.
    pub(super) fn add_answer(&mut self, lane: u32, response: &HttpResponse) {
        let Some(entry) = self.0.iter_mut().rev().find(|entry| entry.lane == lane) else { return };
        let mut body = response.body.clone();
        body.truncate(MAX_BODY_BYTES);
        entry.response = Some(HttpResponse { body, ..response.clone() });
    }

    /// Returns the exchanges without secrets: a variable of the environment stands for what came from it.
    pub(super) fn exchanges(&self, url: &Url, http: &HttpConfig, secrets: &Secrets) -> Vec<HttpExchange> {
        self.0.iter().map(|entry| entry.to_record(url, http, secrets)).collect()
    }
}

impl JournalEntry {
    fn to_record(&self, url: &Url, http: &HttpConfig, secrets: &Secrets) -> HttpExchange {
        let Self { lane: _, input, request, response } = self;
        let scheme = if url.is_encrypted { "https" } else { "http" };
        let mut variables = Vec::new();
        let address = format!("{scheme}://{}{}", url.address, request.path);
        let address = secrets.hide(&name_variables(&address, http, &mut variables));
        let header = |(name, value): &(String, String), variables: &mut Vec<String>| {
            let named = name_variables(value, http, variables);
            let is_hidden = named == *value && is_secret(name);
            (name.clone(), if is_hidden { HIDDEN.to_owned() } else { secrets.hide(&named) })
        };
        let headers = request.headers.iter().map(|pair| header(pair, &mut variables)).collect();
        HttpExchange {
            input: input.clone(),
            request: HttpRequestRecord {
                method: request.method.clone(),
                url: address,
                headers,
                body: request.body.as_deref().map(|body| secrets.hide(body)),
                variables,
            },
            response: response.as_ref().map(|response| HttpResponseRecord {
                status: response.status,
                headers: response
                    .headers
                    .iter()
                    .map(|(name, value)| {
                        let value = if is_secret(name) { HIDDEN.to_owned() } else { secrets.hide(value) };
                        (name.clone(), value)
                    })
                    .collect(),
                body: secrets.hide(&String::from_utf8_lossy(&response.body)),
            }),
        }
    }
}

/// Returns `text` with `${NAME}` in the places of values that came from the environment; their names are added.
fn name_variables(text: &str, http: &HttpConfig, variables: &mut Vec<String>) -> String {
    let mut named = text.to_owned();
    for (value, name) in http.variables.iter().filter(|(value, _)| value.len() >= MIN_VARIABLE_BYTES) {
        for spelling in [value.clone(), percent_encode(value)] {
            if named.contains(&spelling) {
                named = named.replace(&spelling, &format!("${{{name}}}"));
                if !variables.contains(name) {
                    variables.push(name.clone());
                }
            }
        }
    }
    named
}

fn shorten(body: &str) -> String {
    cut(body, MAX_BODY_BYTES)
}
