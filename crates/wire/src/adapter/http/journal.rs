//! The last requests of a run with their answers, as a failure shows them.

use std::collections::VecDeque;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ioxide_record::event::{ExchangeTimes, HttpExchange, HttpRequestRecord, HttpResponseRecord};
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
pub(in crate::adapter) const MIN_VARIABLE_BYTES: usize = 4;

/// The length in bytes below which the value of a variable is named only if the name of the variable says that it is a
/// secret: a user may be called like a path.
const MIN_UNNAMED_BYTES: usize = 8;

/// The variable that stands for access tokens that were fetched.
pub(in crate::adapter) const TOKEN_VARIABLE: &str = "ACCESS_TOKEN";

/// The last requests since the reset, with their answers.
#[derive(Default)]
pub(super) struct ExchangeJournal(VecDeque<JournalEntry>);

struct JournalEntry {
    lane: u32,
    input: Option<String>,
    request: HttpRequest,
    response: Option<HttpResponse>,
    sent: Instant,
    times: ExchangeTimes,
}

impl ExchangeJournal {
    /// Forgets all exchanges.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a request that was sent by this lane.
    pub(super) fn add_request(&mut self, lane: u32, input: Option<&str>, request: &HttpRequest) {
        if self.0.len() == MAX_EXCHANGES {
            self.0.pop_front();
        }
        let request = HttpRequest { body: request.body.as_deref().map(shorten), ..request.clone() };
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let sent_ms = u64::try_from(since_1970.as_millis()).unwrap_or_default();
        let times = ExchangeTimes { sent_ms, wait_us: None, receive_us: None };
        let (input, sent) = (input.map(str::to_owned), Instant::now());
        self.0.push_back(JournalEntry { lane, input, request, response: None, sent, times });
    }

    /// Adds the answer to the request of this lane, of which the first byte came at `begun`; an answer to none of them
    /// is not kept.
    pub(super) fn add_answer(&mut self, lane: u32, begun: Option<Instant>, response: &HttpResponse) {
        // A lane has one request at a time, so the last one is that which is answered.
        let Some(entry) = self.0.iter_mut().rev().find(|entry| entry.lane == lane) else { return };
        let mut body = response.body.clone();
        body.truncate(MAX_BODY_BYTES);
        entry.response = Some(HttpResponse { body, ..response.clone() });
        let now = Instant::now();
        let begun = begun.unwrap_or(now);
        let micros = |from: Instant, to: Instant| {
            u64::try_from(to.saturating_duration_since(from).as_micros()).unwrap_or(u64::MAX)
        };
        entry.times.wait_us = Some(micros(entry.sent, begun));
        entry.times.receive_us = Some(micros(begun, now));
    }

    /// Returns the exchanges without secrets: a variable of the environment stands for what came from it.
    ///
    /// `tokens` are the access tokens that were fetched; one variable stands for all of them.
    pub(super) fn exchanges(
        &self,
        url: &Url,
        http: &HttpConfig,
        tokens: &[String],
        secrets: &Secrets,
    ) -> Vec<HttpExchange> {
        let fetched = tokens.iter().map(|token| (token.clone(), TOKEN_VARIABLE.to_owned()));
        let is_named = |(value, name): &&(String, String)| {
            is_secret(name) || name.contains(':') || value.len() >= MIN_UNNAMED_BYTES
        };
        let own = http.variables.iter().filter(is_named).cloned();
        let variables: Vec<(String, String)> = own.chain(fetched).collect();
        self.0.iter().map(|entry| entry.to_record(url, &variables, secrets)).collect()
    }
}

impl JournalEntry {
    fn to_record(&self, url: &Url, known: &[(String, String)], secrets: &Secrets) -> HttpExchange {
        let Self { lane: _, input, request, response, sent: _, times } = self;
        let scheme = if url.is_encrypted { "https" } else { "http" };
        let mut variables = Vec::new();
        let address = format!("{scheme}://{}{}", url.address, request.path);
        let address = secrets.hide(&name_variables(&address, known, &mut variables));
        let header = |(name, value): &(String, String), variables: &mut Vec<String>| {
            let named = name_variables(value, known, variables);
            // A header whose value a variable stands for can be shown: the variable says nothing of the secret.
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
                socket: url.socket.clone(),
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
            times: Some(*times),
        }
    }
}

/// Returns `text` with `${NAME}` in the places of values that came from the environment; their names are added.
fn name_variables(text: &str, known: &[(String, String)], variables: &mut Vec<String>) -> String {
    let mut named = text.to_owned();
    for (value, name) in known.iter().filter(|(value, _)| value.len() >= MIN_VARIABLE_BYTES) {
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

/// Returns the beginning of a body.
fn shorten(body: &str) -> String {
    cut(body, MAX_BODY_BYTES)
}
