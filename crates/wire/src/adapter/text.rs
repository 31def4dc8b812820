//! A system that speaks a protocol of its own, text or binary, over a socket, datagrams or a child's standard streams.
//!
//! There is no adapter in between: inputs are written by templates and outputs read by patterns, or both by layouts. An
//! input counts as taken once it is written; a process that has not read anything of its first input is still starting,
//! and that is awaited. A reset connects (or starts) afresh and then, where the state outlives a connection, goes
//! through the steps of the reset; if the answer to one is not what it must be, all of it is tried again, from a new
//! connection on ([`ResetStep`]).

mod connecting;
mod transport;

use std::collections::VecDeque;
use std::io::Write;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_record::line::cut;
use regex::Regex;

use self::connecting::Absence;
pub use self::connecting::{ConnectionInput, Disconnection};
use self::transport::{MessageSource, StreamRules, Transport};
use super::ended::SystemEnds;
use super::frames::{undecodable, write_frame};
use super::notation::{BinaryNotation, TextNotation, WireNotation};
use super::reset::{reads_like_error, until_accepted};
use super::udp::MAX_DATAGRAM;
use super::unsolicited_log::UnsolicitedLog;
use super::{
    Adapter, AdapterError, ArrivedOutput, AwaitedPart, Framing, InputReceipt, Interrupt, MessageLimits,
    Observation, RefusedReset, RemoteConnection, ResetMismatch, ResetStep, SentInput, StartProblem, SutSpec,
    UnsolicitedMessage,
};
use crate::codec::binary::{BinaryCodec, BinaryConfig};
use crate::codec::layout::{hex, unhex};
use crate::codec::text::{FrameJoining, TextCodec, TextConfig};
use crate::codec::unsolicited::{UnsolicitedConfig, UnsolicitedRules, UnsolicitedTreatment};
use crate::codec::{BadProtocol, UnwritableMessage};

/// Between the end of its frames and the end of a process. Chosen by feel: a process that dies closes its output a
/// moment before it is gone.
const EXIT_GRACE: Duration = Duration::from_millis(100);
/// Between two looks at a process that is starting. Chosen by feel: it delays a run by this much at most.
const START_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Messages that the model does not see, read when the time is over, in search of one that it sees. Chosen by feel: it
/// ends a system that sends nothing else.
const MAX_LATE: usize = 1000;

/// The description of a system that speaks a text or binary protocol of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextProtocol {
    /// The format of its messages.
    pub words: MessageFormat,
    /// The rule that says where a frame ends.
    pub framing: Framing,
    /// The text at the end of an input, if it is not the one that ends a frame.
    pub input_end: Option<String>,
    /// The steps taken after connecting, to bring the system to its initial state; each is answered by one message.
    pub reset: Vec<ResetStep>,
    /// The steps taken after every connection, before those of the reset.
    pub on_connect: Vec<ResetStep>,
    /// The inputs that open or close the connection.
    pub connection_inputs: Vec<ConnectionInput>,
    /// True if a run begins without a connection.
    pub starts_disconnected: bool,
    /// The messages that the model does not see.
    pub unsolicited: UnsolicitedConfig,
}

/// The format of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageFormat {
    /// Templates and patterns.
    Text(TextConfig),
    /// Layouts; the texts and patterns of reset steps are those of hexadecimal digits.
    Binary(BinaryConfig),
}

impl Default for MessageFormat {
    fn default() -> Self {
        Self::Text(TextConfig::default())
    }
}

impl MessageFormat {
    /// Checks that the messages described are those of the model.
    ///
    /// # Errors
    /// Returns the first mismatch, with its place.
    pub fn check(&self, model: &Model) -> Result<(), BadProtocol> {
        self.codec(model).map(drop)
    }

    /// Makes the codec of this format for the messages of `model`.
    fn codec(&self, model: &Model) -> Result<TextAdapterCodec, BadProtocol> {
        match self {
            Self::Text(text) => TextCodec::new(text, model).map(TextAdapterCodec::Text),
            Self::Binary(binary) => BinaryCodec::new(binary, model).map(TextAdapterCodec::Binary),
        }
    }
}

/// A system that speaks a protocol of its own.
pub struct TextAdapter {
    link: Transport,
    model: Arc<Model>,
    codec: TextAdapterCodec,
    protocol: TextProtocol,
    /// The messages that the model does not see.
    rules: UnsolicitedRules,
    /// Those that came since the run last asked for them.
    unsolicited: UnsolicitedLog,
    /// The patterns of the answers to the steps after connecting and of the reset.
    step_answers: [Vec<Option<Regex>>; 2],
    limit: Duration,
    /// The time limits for a message that has begun.
    limits: MessageLimits,
    interrupt: Interrupt,
    live: Option<TextConnection>,
    /// The reason why there is no connection, if there is none.
    absence: Absence,
    /// The messages of a connection that was closed which were not returned yet.
    left: VecDeque<ArrivedFrame>,
    /// True if there was a connection, or somebody listened.
    was_reached: bool,
    ends: SystemEnds,
}

enum TextAdapterCodec {
    Text(TextCodec),
    Binary(BinaryCodec),
}

impl TextAdapterCodec {
    /// Bytes as records show them.
    fn bytes_text(&self, bytes: &[u8]) -> String {
        match self {
            Self::Binary(_) => hex(bytes),
            Self::Text(_) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// The steps of a conversation without the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepsOf {
    /// Those after every connection.
    Connection,
    /// Those that reset the system.
    Reset,
}

/// A message with the instants at which its first and its last byte arrived.
struct ArrivedFrame {
    bytes: Vec<u8>,
    begun: Instant,
    at: Instant,
}

/// A connection.
struct TextConnection {
    messages: MessageSource,
    writer: Box<dyn Write + Send>,
    started: Instant,
    /// True once a message has come.
    has_spoken: bool,
}

impl TextAdapter {
    /// The system at `spec`, which is reached at the first reset.
    ///
    /// # Errors
    /// If templates and patterns do not fit the model.
    pub fn new(
        spec: &SutSpec,
        protocol: TextProtocol,
        model: Arc<Model>,
        connection: &RemoteConnection,
    ) -> Result<Self, AdapterError> {
        let RemoteConnection { limit, interrupt, .. } = *connection;
        let link = Transport::new(spec, connection, model.sts.is_timed())?;
        let wrong = |bad: BadProtocol| AdapterError::Start {
            what: "the codec".into(),
            reason: StartProblem::Description(bad.to_string()),
        };
        // Inputs that only open or close the connection send nothing, and need no template.
        let sending = protocol.sending_model(&model).map_err(wrong)?;
        let codec = protocol.words.codec(&sending).map_err(wrong)?;
        let bad_step = |error: regex::Error| AdapterError::Start {
            what: "the reset".into(),
            reason: StartProblem::Description(error.to_string()),
        };
        let patterns =
            |steps: &[ResetStep]| steps.iter().map(ResetStep::pattern).collect::<Result<Vec<_>, _>>();
        let step_answers =
            [patterns(&protocol.on_connect).map_err(bad_step)?, patterns(&protocol.reset).map_err(bad_step)?];
        if protocol.has_connection_inputs() && !link.can_be_closed() {
            let reason = "a serial line, a terminal or an error stream cannot be opened and closed by inputs";
            let reason = StartProblem::Description(reason.into());
            return Err(AdapterError::Start { what: "the connection".into(), reason });
        }
        if protocol.is_abrupt() && model.sts.is_timed() {
            let reason =
                "an abrupt `disconnect` may lose messages unseen, which a model with clocks does not allow";
            let reason = StartProblem::Description(reason.into());
            return Err(AdapterError::Start { what: "the connection".into(), reason });
        }
        let rules =
            UnsolicitedRules::new(&protocol.unsolicited).map_err(|(key, _, bad)| AdapterError::Start {
                what: format!("`{key}`"),
                reason: StartProblem::Description(bad.to_string()),
            })?;
        let (limits, ends) = (connection.message_limits(), SystemEnds::default());
        Ok(Self {
            link,
            model,
            codec,
            protocol,
            rules,
            unsolicited: UnsolicitedLog::default(),
            step_answers,
            limit,
            limits,
            interrupt,
            live: None,
            absence: Absence::NotRunning,
            left: VecDeque::new(),
            was_reached: false,
            ends,
        })
    }

    fn open_connection(&mut self) -> Result<TextConnection, AdapterError> {
        let joining = match &self.codec {
            TextAdapterCodec::Text(codec) => codec.joining(),
            TextAdapterCodec::Binary(_) => FrameJoining::default(),
        };
        let (framing, limits, interrupt) = (self.protocol.framing.clone(), self.limits, self.interrupt);
        let (messages, writer) = self.link.open(StreamRules { framing, joining, limits, interrupt })?;
        Ok(TextConnection { messages, writer, started: Instant::now(), has_spoken: false })
    }

    /// Returns the connection; fails if there is none.
    fn live(&mut self) -> Result<&mut TextConnection, AdapterError> {
        self.live.as_mut().ok_or_else(|| AdapterError::Ended { status: "it is not running".into() })
    }

    /// Writes a text as a frame.
    fn write(&mut self, text: &str) -> Result<(), AdapterError> {
        let bytes = write_frame(&self.protocol.framing, text)?;
        self.write_and_flush(&bytes)
    }

    /// Returns an input as a frame, and as records show it.
    fn encode_input(&self, input: &Label) -> Result<(Vec<u8>, String), AdapterError> {
        Ok(match &self.codec {
            TextAdapterCodec::Text(codec) => {
                let breaks = |text: &str| self.protocol.framing.is_broken_by(text);
                let text = self.append_end_mark(&codec.encode(&self.model, input, breaks)?);
                (write_frame(&self.protocol.framing, &text)?, text)
            }
            TextAdapterCodec::Binary(codec) => {
                let bytes = codec.encode(&self.model, input)?;
                (self.protocol.framing.framed_bytes(&bytes)?, hex(&bytes))
            }
        })
    }

    /// Returns the text with the mark that ends an input.
    fn append_end_mark(&self, text: &str) -> String {
        self.protocol.framing.append_end_mark(text, self.protocol.input_end.as_deref())
    }

    /// Returns whether a process has read nothing of what it was given and its time limit to start is not over.
    fn is_starting(&self) -> bool {
        let has_time = |live: &TextConnection| live.started.elapsed() < self.limit;
        self.link.has_read_nothing() && self.live.as_ref().is_some_and(has_time)
    }

    /// Waits until a process has begun to read, or says something.
    fn await_start(&mut self) -> Result<(), AdapterError> {
        while self.is_starting() {
            self.interrupt.check()?;
            if self.live()?.messages.has_news(START_POLL_INTERVAL) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn write_and_flush(&mut self, bytes: &[u8]) -> Result<(), AdapterError> {
        if self.protocol.framing == Framing::Datagram && bytes.len() > MAX_DATAGRAM {
            return Err(UnwritableMessage::DatagramTooLong(bytes.len()).into());
        }
        let writer = &mut self.live()?.writer;
        let written = writer.write_all(bytes).and_then(|()| writer.flush());
        written.map_err(|error| AdapterError::Ended {
            status: format!("it does not accept input any more ({error})"),
        })
    }

    /// Writes bytes as a frame.
    fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), AdapterError> {
        let bytes = self.protocol.framing.framed_bytes(bytes)?;
        self.write_and_flush(&bytes)
    }

    /// Returns the next message: of a connection that was closed, then of the one that is open.
    fn next_frame(&mut self, deadline: Instant) -> Result<Option<ArrivedFrame>, AdapterError> {
        // What arrived before a connection was closed was said, and is judged first.
        if let Some(frame) = self.left.pop_front() {
            return Ok(Some(frame));
        }
        if let Some(live) = &mut self.live {
            let next = match live.messages.next_bytes(deadline) {
                // A program may close its error stream; the connection of its process shows its end.
                Err(AdapterError::Closed) if self.link.is_error_stream() => None,
                next => next?,
            };
            let Some(bytes) = next else { return Ok(None) };
            let (begun, at) = live.messages.arrival();
            return Ok(Some(ArrivedFrame { bytes, begun, at }));
        }
        let closed = Absence::Disconnected { is_unsettled: true };
        match std::mem::replace(&mut self.absence, closed) {
            Absence::NotRunning => {
                self.absence = Absence::NotRunning;
                self.live().map(|_| None)
            }
            disconnected @ Absence::Disconnected { .. } => {
                self.absence = disconnected;
                Ok(None)
            }
            Absence::Failed(error) => Err(error),
        }
    }

    /// Returns the next message that the model sees, as [`next_output`](Self::next_output) does.
    fn next_modelled(&mut self, deadline: Instant) -> Result<Option<ArrivedFrame>, AdapterError> {
        let mut n_late = 0;
        loop {
            let Some(frame) = self.next_frame(deadline)? else { return Ok(None) };
            if !self.take_unsolicited_message(&frame.bytes)? {
                return Ok(Some(frame));
            }
            // To the model the system is silent meanwhile, however much it sends.
            n_late += usize::from(Instant::now() >= deadline);
            if n_late >= MAX_LATE {
                return Ok(None);
            }
        }
    }

    /// Ignores or answers a message that the model does not see; returns false for every other message.
    fn take_unsolicited_message(&mut self, bytes: &[u8]) -> Result<bool, AdapterError> {
        let Some(fate) = self.rules.treatment_of(bytes) else { return Ok(false) };
        let (written, answer) = match fate {
            UnsolicitedTreatment::Ignored => (Ok(()), None),
            UnsolicitedTreatment::Answered(text) => (self.write(&self.append_end_mark(&text)), Some(text)),
            UnsolicitedTreatment::AnsweredBytes(bytes) => (self.write_bytes(&bytes), Some(hex(&bytes))),
            UnsolicitedTreatment::Unanswerable(unfit) => {
                let message = cut(&self.codec.bytes_text(bytes), 200);
                return Err(AdapterError::Mistake(format!("`answer` to {message}: {unfit}")));
            }
        };
        // A system that takes no answer has ended or is ending: what it sent before is read first, then its end.
        let answer = answer.filter(|_| written.is_ok());
        let text = self.codec.bytes_text(bytes);
        self.unsolicited.add(UnsolicitedMessage { text, answer, connection: None });
        Ok(true)
    }

    /// Returns the next message, or `None` if none has begun at `deadline`. After the deadline it only polls.
    fn next_output(&mut self, deadline: Instant) -> Result<Option<ArrivedOutput>, AdapterError> {
        let Some(ArrivedFrame { bytes, begun, at }) = self.next_modelled(deadline)? else { return Ok(None) };
        let (begun, at) = (Some(begun), Some(at));
        let live = self.live.as_mut();
        let is_first = live.is_some_and(|live| !std::mem::replace(&mut live.has_spoken, true));
        let decoded = match &self.codec {
            TextAdapterCodec::Binary(codec) => codec.decode(&self.model, &bytes),
            TextAdapterCodec::Text(codec) => match std::str::from_utf8(&bytes) {
                Ok(text) => codec.decode(&self.model, text),
                Err(_) => Err("it is not UTF-8".into()),
            },
        };
        let shown = self.codec.bytes_text(&bytes);
        let label = decoded.map_err(|bad| match &self.codec {
            TextAdapterCodec::Binary(_) => {
                AdapterError::Protocol { line: cut(&format!("0x{shown}"), 200), reason: bad.to_string() }
            }
            TextAdapterCodec::Text(_) => undecodable(&bytes, &bad),
        })?;
        Ok(Some(ArrivedOutput { at, begun, raw: Some(shown), is_first, ..label.into() }))
    }

    /// Returns the exit status of the process, if there is one and it has ended or ends within `patience`; `None` for a
    /// socket.
    fn status(&mut self, patience: Duration) -> Option<ExitStatus> {
        self.link.status(patience)
    }

    /// `error`, with the exit status if the system has ended.
    fn explain_error(&mut self, error: AdapterError) -> AdapterError {
        match error {
            AdapterError::Ended { .. } | AdapterError::Closed => {
                self.status(EXIT_GRACE).map_or(error, AdapterError::from)
            }
            AdapterError::HalfMessage { line, cut } => {
                // Half a message is no matter of the connection: the system said something that nobody can read.
                let status = self.status(EXIT_GRACE).map(|status| format!(" ({status})"));
                let reason = format!("incomplete message: {cut}{}", status.unwrap_or_default());
                AdapterError::Unreadable { line, reason }
            }
            error => error.of_system(),
        }
    }

    /// Notes that the process has ended with an error since the last look of the run before.
    fn note_end(&mut self) {
        if self.live.is_none() {
            return;
        }
        // A program that ends well after its conversation has done what it should.
        if let Some(status) = self.status(Duration::ZERO).filter(|status| !status.success()) {
            self.ends.count_end(&format!("the system ended by itself after a run: {status}"));
        }
    }

    /// Adds the exit status to an error, and notes whether the caller gets one, so that an end is not reported twice.
    fn remember_error<T>(&mut self, result: Result<T, AdapterError>) -> Result<T, AdapterError> {
        let result = result.map_err(|error| self.explain_error(error));
        if let Err(error) = &result {
            self.note_closed(error);
        }
        self.ends.record_result(&result);
        result
    }

    /// Waits for an output, or for the end of the process; silence if neither comes.
    fn receive(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        match self.next_output(Instant::now() + patience)? {
            Some(arrived) => Ok(Observation::Output(arrived)),
            None if self.is_disconnected() => self.wait_disconnected(patience).map(|()| Observation::Quiet),
            None => self.link.check_alive().map(|()| Observation::Quiet),
        }
    }

    /// Connects or starts afresh, and takes the steps of the reset.
    fn begin_run(&mut self) -> Result<(), AdapterError> {
        (self.live, self.absence) = (None, Absence::NotRunning);
        self.left.clear();
        // Without a reset there is nothing to connect for.
        if self.protocol.starts_disconnected && self.protocol.reset.is_empty() {
            return self.begin_disconnected();
        }
        self.live = Some(self.open_connection()?);
        self.was_reached = true;
        self.take_steps(StepsOf::Connection)?;
        self.take_steps(StepsOf::Reset)?;
        if self.protocol.starts_disconnected {
            // The reset needed a connection, but the run begins without one.
            self.disconnect(Disconnection::Clean)?;
            self.left.clear();
            self.absence = Absence::Disconnected { is_unsettled: true };
        }
        Ok(())
    }

    /// Takes the steps of a conversation without the model.
    fn take_steps(&mut self, of: StepsOf) -> Result<(), AdapterError> {
        (0..self.conversation_steps(of).len()).try_for_each(|at| self.take_step(of, at))
    }

    fn conversation_steps(&self, of: StepsOf) -> &[ResetStep] {
        match of {
            StepsOf::Connection => &self.protocol.on_connect,
            StepsOf::Reset => &self.protocol.reset,
        }
    }

    /// Returns the pattern of the answer to a step, if it has one.
    fn step_answer(&self, of: StepsOf, at: usize) -> Option<&Regex> {
        let [on_connect, reset] = &self.step_answers;
        match of {
            StepsOf::Connection => on_connect[at].as_ref(),
            StepsOf::Reset => reset[at].as_ref(),
        }
    }

    /// Waits for the answer to a step. A message that the step expects is its answer, even if the model would not see
    /// it.
    fn wait_for_answer(&mut self, of: StepsOf, at: usize) -> Result<String, AdapterError> {
        let limit = self.limit;
        let deadline = Instant::now() + limit;
        loop {
            let bytes = self.live()?.messages.next_bytes(deadline)?;
            let late = AdapterError::Late { awaited: AwaitedPart::ResetAnswer, limit };
            let Some(bytes) = bytes else { return Err(late) };
            let answer = self.codec.bytes_text(&bytes);
            let is_expected = self.step_answer(of, at).is_some_and(|pattern| pattern.is_match(&answer));
            if is_expected || !self.take_unsolicited_message(&bytes)? {
                return Ok(answer);
            }
            if Instant::now() >= deadline {
                return Err(late);
            }
        }
    }

    /// Sends the text of a step, if it has one, and waits for its answer, which must be the one expected.
    fn take_step(&mut self, of: StepsOf, at: usize) -> Result<(), AdapterError> {
        let ResetStep { send, expect } = self.conversation_steps(of)[at].clone();
        match (&send, &self.codec) {
            (None, _) => (),
            (Some(text), TextAdapterCodec::Text(_)) => self.write(&self.append_end_mark(text))?,
            (Some(digits), TextAdapterCodec::Binary(_)) => {
                self.write_bytes(&unhex(digits).unwrap_or_default())?
            }
        }
        let answer = self.wait_for_answer(of, at)?;
        self.live()?.has_spoken = true;
        let is_accepted = match (self.step_answer(of, at), &self.codec) {
            (Some(pattern), _) => pattern.is_match(&answer),
            // Without an expectation anything is right but what is an error in most protocols.
            (None, TextAdapterCodec::Text(_)) => !reads_like_error(&answer),
            (None, TextAdapterCodec::Binary(_)) => true,
        };
        if is_accepted {
            return Ok(());
        }
        let expected = |expect| ResetMismatch::Expected(format!("`{expect}`"));
        let mismatch = expect.map_or(ResetMismatch::ReadsLikeError, expected);
        let refused = RefusedReset::new(at + 1, send.as_deref().unwrap_or("(nothing)"), &answer, mismatch);
        Err(AdapterError::ResetRefused(Box::new(refused)))
    }
}

impl Adapter for TextAdapter {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.note_end();
        let reset = until_accepted(self.interrupt, || self.begin_run());
        let reset = reset.map_err(|error| self.explain_error(error));
        self.ends.begin_run(&reset);
        reset
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let effect = self.connection_input(input);
        // Written down first: an input that cannot be is not sent at all.
        let outgoing = match &effect {
            Some(ConnectionInput { sends: false, .. }) => None,
            _ => Some(self.encode_input(input)?),
        };
        match &effect {
            Some(ConnectionInput { connects: true, .. }) => {
                let connected = self.connect_in_run();
                self.remember_error(connected)?;
            }
            _ if self.live.is_none() => return Err(UnwritableMessage::NotConnected.into()),
            _ => (),
        }
        let mut raw = None;
        // A system that has refused the connection is sent nothing; that it has is seen next.
        if let (Some((bytes, text)), true) = (outgoing, self.live.is_some()) {
            // The first input may lie in the pipe while the program still starts: waiting here keeps that time out
            // of the latency.
            let written = self.write_and_flush(&bytes).and_then(|()| self.await_start());
            self.remember_error(written)?;
            raw = Some(text);
        }
        if let Some(ConnectionInput { disconnects: Some(how), .. }) = effect {
            self.disconnect(how)?;
        }
        Ok(SentInput { raw, ..SentInput::default() })
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        let found = self.next_output(Instant::now());
        self.remember_error(found)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        let seen = self.receive(patience);
        self.remember_error(seen)
    }

    fn ended_by_itself(&mut self) -> Option<String> {
        self.ends.take_text()
    }

    fn take_unsolicited(&mut self) -> Vec<UnsolicitedMessage> {
        self.unsolicited.take()
    }

    fn notation(&self) -> Option<Box<dyn WireNotation + '_>> {
        // A script reads one reply after the other and would take an unsolicited message for one.
        // It has no step for a connection, either.
        let has_steps = self.protocol.has_connection_inputs() || !self.protocol.on_connect.is_empty();
        if !self.rules.is_empty() || has_steps {
            return None;
        }
        let (place, tls) = self.link.script_place()?;
        let (model, protocol) = (&*self.model, &self.protocol);
        Some(match &self.codec {
            TextAdapterCodec::Text(codec) => Box::new(TextNotation { tls, place, model, codec, protocol }),
            TextAdapterCodec::Binary(codec) => {
                Box::new(BinaryNotation { tls, place, model, codec, protocol })
            }
        })
    }

    fn receipt(&self) -> InputReceipt {
        InputReceipt::Written
    }

    fn needs_silence(&self, input: &Label) -> bool {
        let Some(effect) = self.connection_input(input) else { return false };
        let loses = match effect.disconnects {
            Some(Disconnection::Abrupt) => true,
            // A clean end loses nothing unless the system hung up first.
            Some(Disconnection::Clean) => !self.link.is_connected(),
            None => false,
        };
        loses && self.live.is_some() || effect.connects && self.is_unsettled()
    }

    fn can_reconnect(&self) -> bool {
        self.protocol.can_connect()
    }

    fn is_connected(&self) -> bool {
        self.live.is_some() && self.link.is_connected()
    }

    /// Where there is no connection, nothing can come.
    fn knows_silence(&self) -> bool {
        self.is_disconnected() && !self.is_unsettled()
    }

    /// Nothing is expected by what the description promises; that there is no connection now says nothing about later.
    fn expects_silence(&self) -> bool {
        false
    }

    fn first_reply_limit(&self) -> Option<Duration> {
        let is_cold = self.live.as_ref().is_some_and(|live| !live.has_spoken);
        // Nobody is answered on an error stream.
        (is_cold && !self.link.is_error_stream()).then_some(self.limit)
    }

    /// A message that has begun is given its time: an incomplete message is not silence.
    fn awaits(&self, patience: Duration) -> Duration {
        let has_begun = self.live.as_ref().is_some_and(|live| live.messages.has_begun());
        if has_begun { patience.max(self.limits.total) } else { patience }
    }

    fn exit_status(&mut self) -> Option<i32> {
        self.link.exit_status()
    }

    fn last_words(&self) -> String {
        self.link.last_words()
    }
}

impl Drop for TextAdapter {
    fn drop(&mut self) {
        self.link.end();
    }
}

#[cfg(test)]
mod tests;
