//! A system that is asked by HTTP/1.1, encrypted or not; and its streams of events, and WebSockets.
//!
//! An input is a request, taken once it is written; its answer is an output. An input given while
//! another one is unanswered goes over a connection of its own. Connections are kept where the
//! system allows it. What comes without a request, or beyond the answer to one, is an output like any
//! other if it is an answer, and an error if not; it is never dropped. (Only 408 on a connection that
//! nobody uses is the usual word for closing it.)
//!
//! *Promises.* No answer is silence only while the connection is open: one that is closed
//! without an answer, an answer that is cut off, too long or no HTTP, and a system that takes no
//! connections any more are errors. Where nothing was asked, nothing can come: that is silence
//! at once, if the system is still there and no stream is open. Secrets in headers are never shown, nor is what was
//! captured from answers.

mod exchange;
mod fetch;
mod journal;
mod streams;
mod token;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_record::event::HttpExchange;
use ioxide_record::line::cut;
use ioxide_record::secrets::Secrets;
use ioxide_symex::{Arrival, Crossing};

use self::exchange::{AnswerRest, ConnectionState, IdleConnection, PendingRequest};
pub use self::fetch::fetch;
pub(super) use self::fetch::is_up;
use self::journal::ExchangeJournal;
pub(super) use self::journal::{MIN_VARIABLE_BYTES, TOKEN_VARIABLE};
use self::streams::OpenStream;
use self::token::TokenStore;
use super::notation::{HttpNotation, WireNotation};
use super::reset::until_accepted;
use super::tcp::TcpConnection;
use super::unsolicited_log::UnsolicitedLog;
use super::{
    Adapter, AdapterError, ArrivedOutput, AwaitedPart, HttpResetStep, InputReceipt, Interrupt, MessageLimits,
    Observation, RefusedReset, RemoteConnection, ResetMismatch, SentInput, StartProblem, TokenProblem,
    UnsolicitedMessage,
};
use crate::codec::http::answer::AnswerReader;
use crate::codec::http::capture::CapturedValues;
use crate::codec::http::message::{HttpRequest, HttpResponse, ResponsePart, StreamKind};
use crate::codec::http::secrets::add_request_secrets;
use crate::codec::http::{HttpCodec, HttpConfig, ON_CONNECT, OutgoingRequest, Url, is_refusal, is_secret};
use crate::codec::unsolicited::{UnsolicitedRules, UnsolicitedTreatment};
use crate::codec::{BadProtocol, Undecodable, UnwritableMessage};

/// Requests that may be unanswered at the same time. Chosen by feel: every one is a connection.
const MAX_UNANSWERED: usize = 32;
/// Lines of the conversation remembered. Chosen by feel, for one screen of an error.
const MAX_LOG: usize = 40;
/// The status by which a server may close an idle connection (RFC 9110, 15.5.9).
const CLOSING: u16 = 408;
/// The status of a request whose token is not valid, or not valid any more (RFC 6750, 3.1).
const UNAUTHORISED: u16 = 401;
/// The wait for one of several pending answers before the next is polled. Chosen by feel: it delays an answer by this
/// much at most.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Messages of a stream that the model does not see, read at a look in search of one that it sees. Chosen by feel: it
/// ends a system that sends nothing else.
const MAX_UNSOLICITED: usize = 1000;

/// The description of a system that speaks HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpProtocol {
    /// The address of the system.
    pub url: Url,
    /// Requests and answers.
    pub http: HttpConfig,
    /// The requests that bring it to its initial state.
    pub reset: Vec<HttpResetStep>,
    /// The requests that follow, before the first input of every run; a WebSocket that one of them opens stays open.
    pub on_connect: Vec<HttpResetStep>,
}

/// An answer and the input it answers, where that is known.
struct HttpOutput {
    response: HttpResponse,
    to: Option<String>,
    way: Arrival,
    /// True if it is the first since the system was connected to, or the first of its stream.
    is_first: bool,
    /// The arrival of the first byte; `None` if it is not known.
    begun: Option<Instant>,
}

/// A system that is asked by HTTP.
pub struct HttpAdapter {
    socket: TcpConnection,
    host: String,
    model: Arc<Model>,
    codec: HttpCodec,
    protocol: HttpProtocol,
    /// The messages of streams that the model does not see, by their data.
    rules: UnsolicitedRules,
    /// Such messages by other conditions.
    ignored_events: Vec<AnswerReader>,
    /// Those that came since the run last asked for them.
    unsolicited: UnsolicitedLog,
    /// The conditions on the answers to the steps of the reset, and then to those after connecting.
    step_answers: Vec<AnswerReader>,
    limit: Duration,
    /// The time limits for a message that has begun.
    limits: MessageLimits,
    interrupt: Interrupt,
    /// Connections that wait for a request.
    idle: Vec<IdleConnection>,
    /// Requests that wait for an answer, oldest first.
    asked: Vec<PendingRequest>,
    /// Streams that the system opened.
    streams: Vec<OpenStream>,
    /// The values captured from answers, to be inserted into later requests.
    captured: CapturedValues,
    /// The access token of requests, if one is fetched.
    token: Option<TokenStore>,
    secrets: Secrets,
    log: VecDeque<String>,
    journal: ExchangeJournal,
    /// The lane of the last request: every one has its own, since they may overtake each other.
    lane: u32,
    /// True once an answer has come since the system was connected to.
    has_spoken: bool,
}

impl HttpProtocol {
    /// Checks that requests and answers are those of the model.
    ///
    /// # Errors
    /// Returns the first mismatch, with its place.
    pub fn check(&self, model: &Model) -> Result<(), BadProtocol> {
        HttpCodec::new(&self.http, &self.url.base, model).map(drop)
    }
}

impl HttpAdapter {
    /// The system of `speech`, which is reached at the first reset.
    ///
    /// # Errors
    /// If requests and answers do not fit the model.
    pub fn new(
        protocol: &HttpProtocol,
        model: Arc<Model>,
        connection: &RemoteConnection,
    ) -> Result<Self, AdapterError> {
        let HttpProtocol { url, http, reset, on_connect } = protocol;
        let wrong = |reason: String| AdapterError::Start {
            what: "the HTTP codec".into(),
            reason: StartProblem::Description(reason),
        };
        let mut secrets = Secrets::none();
        // Before anything else: every message below, also of errors, is shown without them.
        add_request_secrets(&mut secrets, http, reset, &is_secret);
        add_request_secrets(&mut secrets, http, on_connect, &is_secret);
        let codec = HttpCodec::new(http, &url.base, &model).map_err(|bad| wrong(bad.to_string()))?;
        let mut step_answers = Vec::new();
        for (key, steps) in [("reset", reset), (ON_CONNECT, on_connect)] {
            let bad_step = |problem: &dyn std::fmt::Display| wrong(format!("{key}: {problem}"));
            for step in steps {
                step.request.check_plain(http).map_err(|problem| bad_step(&problem))?;
                step_answers.push(AnswerReader::new(&step.expect).map_err(|problem| bad_step(&problem))?);
            }
        }
        let rules = UnsolicitedRules::new(&http.unsolicited);
        let rules = rules.map_err(|(key, _, bad)| wrong(format!("{key}: {bad}")))?;
        let ignored_events = http.ignored_events.iter().map(AnswerReader::new).collect::<Result<_, _>>();
        let ignored_events = ignored_events.map_err(|bad| wrong(format!("ignore: {bad}")))?;
        Ok(Self {
            rules,
            ignored_events,
            unsolicited: UnsolicitedLog::default(),
            socket: TcpConnection::of_url(url, connection),
            host: url.address.clone(),
            secrets,
            model,
            codec,
            protocol: protocol.clone(),
            step_answers,
            limit: connection.limit,
            limits: connection.message_limits(),
            interrupt: connection.interrupt,
            idle: Vec::new(),
            asked: Vec::new(),
            streams: Vec::new(),
            captured: CapturedValues::new(&http.captures, http.keeps_cookies),
            token: http
                .token
                .clone()
                .map(|token| TokenStore::new(token, connection.limit, connection.interrupt)),
            log: VecDeque::new(),
            journal: ExchangeJournal::default(),
            lane: 0,
            has_spoken: false,
        })
    }

    /// Returns an open idle connection, as far as is known, or a new one.
    fn link(&mut self) -> Result<IdleConnection, AdapterError> {
        // First those that the system has closed meanwhile are sorted out.
        self.heed();
        self.idle.pop().map_or_else(|| self.connect(), Ok)
    }

    /// Returns a new connection and drops an idle one: a request that may be made only once must not cross the end of a
    /// connection.
    fn open_connection(&mut self) -> Result<IdleConnection, AdapterError> {
        self.heed();
        drop(self.idle.pop());
        self.connect()
    }

    /// Looks at the connections on which nothing is asked: some are closed, on some the system speaks.
    fn heed(&mut self) {
        for link in std::mem::take(&mut self.idle) {
            match link.check_state() {
                ConnectionState::Open(link) => self.idle.push(link),
                ConnectionState::Closed => (),
                ConnectionState::Speaks(unasked) => self.asked.push(unasked),
            }
        }
    }

    /// Opens a new connection.
    fn connect(&self) -> Result<IdleConnection, AdapterError> {
        Ok(IdleConnection::new(self.socket.channel()?))
    }

    /// Writes a request; over a new connection if the old one turns out to be closed.
    fn send_request(&mut self, request: &HttpRequest, input: Option<&str>) -> Result<(), AdapterError> {
        if self.asked.len() >= MAX_UNANSWERED {
            return Err(AdapterError::Refused(format!(
                "{MAX_UNANSWERED} requests are still waiting for a reply"
            )));
        }
        self.note_request(request);
        let bytes = request.to_bytes(&self.host);
        // Methods that may be repeated (RFC 9110, 9.2.2): only these go over a used connection, which the system
        // may be closing.
        let is_safe = matches!(&*request.method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS");
        let is_safe = is_safe && !request.opens;
        let mut link = if is_safe { self.link()? } else { self.open_connection()? };
        if let Err(error) = link.write(&bytes) {
            // A new connection that takes nothing is no matter of timing.
            if !link.was_used() {
                return Err(ended_error(&format!("it does not accept input any more ({error})")));
            }
            link = self.connect()?;
            link.write(&bytes)
                .map_err(|error| ended_error(&format!("it does not accept input any more ({error})")))?;
        }
        self.lane = self.lane.wrapping_add(1);
        self.journal.add_request(self.lane, input, request);
        let again = is_safe.then_some(bytes);
        let asked = PendingRequest::new(link, request.asks_for(), self.lane).repeatable(again);
        self.asked.push(asked.with_input(input.map(str::to_owned)));
        Ok(())
    }

    /// Returns an answer, or a message of a stream, that begins before `deadline`. After the deadline it only polls.
    fn next_answer(&mut self, deadline: Instant) -> Result<Option<HttpOutput>, AdapterError> {
        // A poll asks every connection once and waits for none.
        let is_look = deadline <= Instant::now();
        let (mut deadline, mut limits) = (deadline, self.limits.until(deadline));
        loop {
            self.interrupt.check()?;
            self.heed();
            let wait = match self.asked.len() + self.streams.len() {
                0 => return Ok(None),
                // With one connection it can be waited for; with several each is looked at in turn.
                1 => Interrupt::next_wait(deadline),
                _ => Interrupt::next_wait(deadline).min(POLL_INTERVAL),
            };
            // An answer that has begun is no silence.
            let has_begun = self.has_begun();
            let wait = if has_begun && !is_look { wait.max(POLL_INTERVAL) } else { wait };
            for at in 0..self.asked.len() {
                let look = self.asked[at].read_answer(wait, limits);
                // The connection was closed without an answer, see `ask_again`.
                if matches!(look, Err(AdapterError::Unknown(_))) && self.ask_again(at)? {
                    break;
                }
                if let Some(response) = look? {
                    if self.ask_with_new_token(at, &response)? {
                        // The answer to the same request is given its whole time again.
                        deadline = deadline.max(Instant::now() + self.limit);
                        limits = self.limits.until(deadline);
                        break;
                    }
                    match self.take_answer(at, response) {
                        Some(heard) => return Ok(Some(heard)),
                        // The others have other places now.
                        None => break,
                    }
                }
            }
            if let Some(heard) = self.next_streamed(wait, limits)? {
                return Ok(Some(heard));
            }
            let is_over = is_look || Instant::now() >= deadline;
            if is_over && (is_look || !self.has_begun()) {
                return Ok(None);
            }
        }
    }

    /// Returns whether an answer, or a message of a stream, has begun and is incomplete.
    fn has_begun(&self) -> bool {
        self.asked.iter().any(PendingRequest::has_begun) || self.streams.iter().any(OpenStream::has_begun)
    }

    /// Returns the time within which a message must begin if there is one.
    fn beginning_awaited(&self, patience: Duration) -> Duration {
        let left = self.asked.iter().map(|asked| self.limit.saturating_sub(asked.age()));
        left.fold(patience, Duration::max)
    }

    /// Returns the next message of a stream; the end of a stream that is no output is an error.
    fn next_streamed(
        &mut self,
        wait: Duration,
        limits: MessageLimits,
    ) -> Result<Option<HttpOutput>, AdapterError> {
        for at in 0..self.streams.len() {
            let Some(response) = self.next_modelled(at, wait, limits)? else { continue };
            let (to, lane) = (self.streams[at].input.clone(), self.streams[at].lane());
            let is_end = response.part == ResponsePart::Closed;
            let is_first = self.streams[at].note_message();
            // What else is open may have spoken before or after this message: nobody knows the order between
            // connections.
            let others = self.asked.len() + self.streams.len() - 1;
            let way = match others {
                0 => Arrival::Direct,
                _ => Arrival::Crossing(Crossing { connection: 0, lane, is_answer: false, others, is_end }),
            };
            self.streams.retain(|stream| !stream.is_over());
            // The model has no message for the end of a stream, so the end is that of the system.
            if is_end && !self.codec.tells_closing() {
                return Err(AdapterError::Closed);
            }
            return Ok(Some(HttpOutput { response, to, way, is_first, begun: None }));
        }
        Ok(None)
    }

    /// Returns the next message of a stream that the model sees, if it is there within `wait`.
    fn next_modelled(
        &mut self,
        at: usize,
        wait: Duration,
        limits: MessageLimits,
    ) -> Result<Option<HttpResponse>, AdapterError> {
        let mut wait = wait;
        for _ in 0..MAX_UNSOLICITED {
            let Some(response) = self.streams[at].next_message(wait, limits)? else { return Ok(None) };
            self.add_log_line(format!("< {}", response.summary_line()));
            if !self.take_unsolicited_message(at, &response) {
                return Ok(Some(response));
            }
            // What has arrived behind it is looked at before the time is over.
            wait = Duration::ZERO;
        }
        Ok(None)
    }

    /// Ignores or answers a message of a stream that the model does not see; returns false for every other message.
    fn take_unsolicited_message(&mut self, at: usize, response: &HttpResponse) -> bool {
        if !matches!(response.part, ResponsePart::Event(_)) {
            return false;
        }
        let to = self.streams[at].input.as_deref();
        let is_ignored = self.ignored_events.iter().any(|reader| reader.fits_event(response, to));
        let text = String::from_utf8_lossy(&response.body).trim_end().to_owned();
        let fate =
            self.rules.treatment_of(text.as_bytes()).or(is_ignored.then_some(UnsolicitedTreatment::Ignored));
        let answer = match fate {
            None => return false,
            // Only a WebSocket can be answered; a system that takes no answer is ending, which the next read shows.
            Some(UnsolicitedTreatment::Answered(answer)) if self.streams[at].is_websocket() => {
                self.streams[at].send(&answer).is_ok().then_some(answer)
            }
            Some(_) => None,
        };
        if let Some(answer) = &answer {
            self.add_log_line(format!("> {answer}"));
        }
        let (text, answer) = (self.redact(&text), answer.map(|answer| self.redact(&answer)));
        self.unsolicited.add(UnsolicitedMessage { text, answer, connection: None });
        true
    }

    /// Sends `text` over the WebSocket that `input` opened.
    fn send_text(&mut self, input: &str, text: &str) -> Result<SentInput, AdapterError> {
        let is_it =
            |stream: &&mut OpenStream| stream.is_websocket() && stream.input.as_deref() == Some(input);
        let Some(stream) = self.streams.iter_mut().rev().find(is_it) else {
            return Err(UnwritableMessage::NoOpenWebSocket(input.to_owned()).into());
        };
        let lane = stream.lane();
        stream
            .send(text)
            .map_err(|error| ended_error(&format!("it does not accept input any more ({error})")))?;
        self.add_log_line(format!("> [{input}] {text}"));
        Ok(SentInput { lane, ..SentInput::default() })
    }

    /// Returns the next output as [`next_answer`](Self::next_answer) does; bytes that are no HTTP are an unreadable
    /// output of the system, shown without secrets.
    fn heard(&mut self, deadline: Instant) -> Result<Option<HttpOutput>, AdapterError> {
        self.next_answer(deadline).map_err(|error| match error.of_system() {
            AdapterError::Unreadable { line, reason } => {
                AdapterError::Unreadable { line: self.redact(&line), reason: self.redact(&reason) }
            }
            AdapterError::TooLarge { line, reason } => {
                AdapterError::TooLarge { line: self.redact(&line), reason: self.redact(&reason) }
            }
            other => other,
        })
    }

    /// Asks once more, over a connection of its own, where a connection that was used before was closed without an
    /// answer and the request does the same however often it is made. Says whether it could.
    fn ask_again(&mut self, at: usize) -> Result<bool, AdapterError> {
        let connected = self.connect();
        let mut link = connected.map_err(|_| ended_error("it accepts no connections any more"))?;
        let Some(bytes) = self.asked[at].take_request() else { return Ok(false) };
        link.write(&bytes)
            .map_err(|error| ended_error(&format!("it does not accept input any more ({error})")))?;
        self.asked[at].go_on(link);
        Ok(true)
    }

    /// Fetches an access token and inserts it into the requests from now on.
    fn renew_token(&mut self) -> Result<(), AdapterError> {
        let Some(token) = &mut self.token else { return Ok(()) };
        let renewed = token.renew();
        let fresh = renewed.map_err(|error| match error {
            AdapterError::Token { url, problem: TokenProblem::Refused { status, text } } => {
                let text = cut(&self.secrets.hide(&text), 200);
                AdapterError::Token { url, problem: TokenProblem::Refused { status, text } }
            }
            other => other,
        })?;
        fresh.iter().for_each(|secret| self.secrets.add_told(secret));
        if let Some(text) = token.current() {
            self.captured.set_access_token(text);
        }
        Ok(())
    }

    /// Makes a request again that was refused with 401, once and with another token; returns whether it did. In a model
    /// with clocks the answer would be late by the time of the exchange, so there a 401 is the answer.
    fn ask_with_new_token(&mut self, at: usize, response: &HttpResponse) -> Result<bool, AdapterError> {
        if response.status != UNAUTHORISED || self.model.sts.is_timed() {
            return Ok(false);
        }
        // Taken: a second 401 is the answer.
        let Some((message, sent)) = self.asked[at].take_renewal() else { return Ok(false) };
        // Another request may have had the same answer before.
        if self.token.as_ref().is_some_and(|token| token.current() == Some(&sent)) {
            self.renew_token()?;
        }
        let OutgoingRequest::Request(request) = self.codec.encode(&self.model, &message, &self.captured)?
        else {
            return Ok(false);
        };
        let connected = self.connect();
        let mut link = connected.map_err(|_| ended_error("it accepts no connections any more"))?;
        let bytes = request.to_bytes(&self.host);
        link.write(&bytes)
            .map_err(|error| ended_error(&format!("it does not accept input any more ({error})")))?;
        let (lane, input) = (self.asked[at].lane(), self.asked[at].input().map(str::to_owned));
        self.add_log_line(format!("< {}", response.summary_line()));
        self.note_request(&request);
        let begun = self.asked[at].begun_at();
        self.journal.add_answer(lane, begun, response);
        self.journal.add_request(lane, input.as_deref(), &request);
        self.asked[at].go_on(link);
        Ok(true)
    }

    /// Takes back the connection of an answered request, and what else came on it.
    fn take_answer(&mut self, at: usize, response: HttpResponse) -> Option<HttpOutput> {
        let asked = self.asked.remove(at);
        let (lane, others) = (asked.lane(), self.asked.len() + self.streams.len());
        let way = if self.streams.is_empty() {
            Arrival::Answer { lane, others }
        } else {
            Arrival::Crossing(Crossing { connection: 0, lane, is_answer: true, others, is_end: false })
        };
        let (to, begun) = (asked.input().map(str::to_owned), asked.begun_at());
        self.add_log_line(format!("< {}", response.summary_line()));
        self.journal.add_answer(lane, begun, &response);
        // The server closes an idle connection; nobody asked for that, and it says nothing about the model.
        if asked.is_unasked() && response.status == CLOSING {
            return None;
        }
        match asked.connection_after(&response) {
            AnswerRest::Idle(link) => self.idle.push(link),
            AnswerRest::More(unasked) => self.asked.push(unasked),
            AnswerRest::Stream(stream) => self.streams.push(stream),
            AnswerRest::Nothing => (),
        }
        let is_first = !std::mem::replace(&mut self.has_spoken, true);
        Some(HttpOutput { response, to, way, is_first, begun })
    }

    fn decode_output(&mut self, heard: &HttpOutput) -> Result<ArrivedOutput, AdapterError> {
        let label = self.codec.decode(&self.model, &heard.response, heard.to.as_deref());
        let name = label.as_ref().ok().and_then(|label| match label {
            Label::Output(gate, _) => Some(self.model.sts.gates[*gate].name.to_string()),
            _ => None,
        });
        // Also from an answer that is no output: it may contain secrets, which the error must not show.
        let fresh = self.captured.capture_from(&heard.response, name.as_deref());
        fresh.iter().for_each(|secret| self.secrets.add_told(secret));
        let label = label.map_err(|bad| {
            let line = self.redact(&heard.response.summary_line());
            let reason = self.redact(&bad.to_string());
            match bad {
                Undecodable::Wrong(_) => AdapterError::Unreadable { line, reason },
                Undecodable::TooLarge(_) => AdapterError::TooLarge { line, reason },
            }
        })?;
        let is_refusal = is_refusal(heard.response.status);
        let HttpOutput { way, is_first, begun, .. } = *heard;
        Ok(ArrivedOutput { way, begun, is_first, is_refusal, ..label.into() })
    }

    /// Fails if the system takes no connections any more: that is not silence.
    fn is_there(&mut self) -> Result<(), AdapterError> {
        let link = self.link().map_err(|error| match error {
            AdapterError::Start { reason, .. } => {
                ended_error(&format!("it does not accept connections ({reason})"))
            }
            other => other,
        })?;
        self.idle.push(link);
        Ok(())
    }

    /// Forgets the run before, and takes the steps of the reset.
    fn reset_run(&mut self) -> Result<(), AdapterError> {
        (self.idle, self.asked, self.streams) = (Vec::new(), Vec::new(), Vec::new());
        self.captured.clear();
        self.journal.clear();
        self.has_spoken = false;
        self.token.iter_mut().for_each(TokenStore::clear);
        self.renew_token()?;
        let HttpProtocol { reset, on_connect, .. } = self.protocol.clone();
        // Without steps the connection alone shows that the system is there.
        if reset.is_empty() && on_connect.is_empty() {
            let link = self.connect()?;
            self.idle.push(link);
        }
        for (at, step) in reset.iter().enumerate() {
            self.take_step(step, at, None)?;
            // A stream that the reset opened is no part of the run.
            self.streams.clear();
        }
        for (at, step) in on_connect.iter().enumerate() {
            let number = reset.len() + at;
            self.take_step(step, number, Some(ON_CONNECT))?;
        }
        Ok(())
    }

    /// Makes the request of a step, and checks its answer or, where it opens a WebSocket, the message that answers the
    /// text of the step. The WebSocket stays open under `name`; `number` is that of the step among all steps.
    fn take_step(
        &mut self,
        step: &HttpResetStep,
        number: usize,
        name: Option<&str>,
    ) -> Result<(), AdapterError> {
        let request = step.request.plain_request(
            &self.protocol.http,
            &self.protocol.url.base,
            &self.model,
            &self.captured,
        );
        let request = request.map_err(|problem| AdapterError::Start {
            what: "the reset".into(),
            reason: StartProblem::Description(problem.to_string()),
        })?;
        self.send_request(&request, name)?;
        let mut response = self.answer_to_reset()?;
        let is_opened = response.stream == Some(StreamKind::WebSocket);
        if let (true, Some(text), Some(stream)) = (is_opened, &step.send, self.streams.last_mut()) {
            stream
                .send(text)
                .map_err(|error| ended_error(&format!("it does not accept input any more ({error})")))?;
            response = self.answer_to_reset()?;
        }
        let mismatch = match self.step_answers[number].mismatch(&response) {
            // A text was to be sent, and there is no connection to send it on.
            Ok(None) if step.send.is_some() && !is_opened => Some("it opens no WebSocket".to_owned()),
            Ok(mismatch) => mismatch,
            Err(bad) => Some(bad.to_string()),
        };
        let Some(reason) = mismatch else {
            let fresh = self.captured.capture_from(&response, None);
            fresh.iter().for_each(|secret| self.secrets.add_told(secret));
            return Ok(());
        };
        let sent = format!("{} {}", request.method, request.path);
        let mismatch = ResetMismatch::Unmet(self.redact(&reason));
        let refused = RefusedReset::new(number + 1, "", &self.redact(&response.summary_line()), mismatch);
        Err(AdapterError::ResetRefused(Box::new(RefusedReset { sent: self.redact(&sent), ..refused })))
    }

    /// Waits for the answer to a step of the reset.
    fn answer_to_reset(&mut self) -> Result<HttpResponse, AdapterError> {
        let limit = self.limit;
        match self.next_answer(Instant::now() + limit)? {
            Some(heard) => Ok(heard.response),
            None => Err(AdapterError::Late { awaited: AwaitedPart::ResetAnswer, limit }),
        }
    }

    fn note_request(&mut self, request: &HttpRequest) {
        self.add_log_line(format!("> {} {}", request.method, request.path));
        for (name, value) in &request.headers {
            let value = if is_secret(name) { "***" } else { value };
            self.add_log_line(format!("> {name}: {value}"));
        }
        if let Some(body) = &request.body {
            self.add_log_line(format!("> {body}"));
        }
    }

    fn add_log_line(&mut self, line: String) {
        // What is cut in the middle is no secret any more that could be found.
        self.log.push_back(cut(&self.redact(&line), 300));
        if self.log.len() > MAX_LOG {
            self.log.pop_front();
        }
    }

    /// Returns `text` without secrets.
    fn redact(&self, text: &str) -> String {
        self.secrets.hide(text)
    }
}

impl Adapter for HttpAdapter {
    fn reset(&mut self) -> Result<(), AdapterError> {
        let interrupt = self.interrupt;
        until_accepted(interrupt, || self.reset_run())
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        if self.token.as_ref().is_some_and(TokenStore::is_due) && !self.model.sts.is_timed() {
            self.renew_token()?;
        }
        let outgoing = self.codec.encode(&self.model, input, &self.captured);
        let request = match outgoing? {
            OutgoingRequest::Request(request) => request,
            OutgoingRequest::Message(over, text) => return self.send_text(&over, &text),
        };
        let name = match input {
            Label::Input(gate, _) => Some(self.model.sts.gates[*gate].name.to_string()),
            _ => None,
        };
        self.send_request(&request, name.as_deref()).map_err(AdapterError::of_system)?;
        let token = self.token.as_ref().and_then(TokenStore::current).filter(|token| request.contains(token));
        if let (Some(token), Some(asked)) = (token, self.asked.last_mut()) {
            asked.allow_renewal(input.clone(), token.to_owned());
        }
        Ok(SentInput { lane: self.lane, ..SentInput::default() })
    }

    fn take_unsolicited(&mut self) -> Vec<UnsolicitedMessage> {
        self.unsolicited.take()
    }

    fn notation(&self) -> Option<Box<dyn WireNotation + '_>> {
        // A script reads one reply after the other and would take an unsolicited message for one; and it takes no
        // steps after connecting.
        let has_more = !self.ignored_events.is_empty() || !self.protocol.on_connect.is_empty();
        if !self.rules.is_empty() || has_more || self.protocol.url.socket.is_some() {
            return None;
        }
        let Self { model, codec, protocol, .. } = self;
        Some(Box::new(HttpNotation { tls: self.socket.script_tls(), model, codec, protocol }))
    }

    fn receipt(&self) -> InputReceipt {
        InputReceipt::Written
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        let answer = self.heard(Instant::now())?;
        answer.map(|heard| self.decode_output(&heard)).transpose()
    }

    /// A request must be answered: it is given all the time it may take, however short silence is elsewhere. A message
    /// that has begun is given even more: an incomplete message is not silence.
    fn awaits(&self, patience: Duration) -> Duration {
        let patience = self.beginning_awaited(patience);
        if self.has_begun() { patience.max(self.limits.total) } else { patience }
    }

    /// Without a request under way and without an open stream nothing can come.
    fn knows_silence(&self) -> bool {
        self.asked.is_empty() && self.streams.is_empty()
    }

    fn first_reply_limit(&self) -> Option<Duration> {
        let is_cold = !self.has_spoken || self.streams.iter().any(|stream| !stream.has_spoken());
        is_cold.then_some(self.limit)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        let patience = self.beginning_awaited(patience);
        match self.heard(Instant::now() + patience)? {
            Some(heard) => self.decode_output(&heard).map(Observation::Output),
            None => {
                if self.asked.is_empty() && self.streams.is_empty() {
                    self.is_there()?;
                }
                Ok(Observation::Quiet)
            }
        }
    }

    fn exchanges(&self) -> Vec<HttpExchange> {
        let tokens = self.token.as_ref().map(TokenStore::all).unwrap_or_default();
        self.journal.exchanges(&self.protocol.url, &self.protocol.http, tokens, &self.secrets)
    }

    fn last_words(&self) -> String {
        self.redact(&self.log.iter().map(|line| format!("{line}\n")).collect::<String>())
    }
}

fn ended_error(status: &str) -> AdapterError {
    AdapterError::Ended { status: status.to_owned() }
}

#[cfg(test)]
mod tests;
