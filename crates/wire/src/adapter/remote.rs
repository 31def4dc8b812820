//! The common part of the adapters for pipes and sockets: greeting, reset, inputs with receipts, outputs.

use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json};

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};
use ioxide_record::event::ScriptPlace;
use ioxide_record::line::cut;
use ioxide_record::value::{JsonProblem, WireMessage, label_from_json, label_to_json};

use super::ended::SystemEnds;
use super::notation::{ProtocolNotation, WireNotation};
use super::tls::Tls;
use super::wire::ProtocolWire;
use super::{
    Adapter, AdapterError, ArrivedOutput, AwaitedPart, ErrorStreamHub, Interrupt, MessageLimits, Observation,
    SentInput, VirtualDelay,
};
use crate::protocol::{
    AdvanceMessage, AdvancedMessage, ConfigureMessage, HelloMessage, InputMessage, OutputMessage, PartPlace,
    ProtocolMessage, ReadyMessage, ResetKind, ResetMessage, VERSION,
};

/// The number of outputs before a receipt above which the adapter is considered broken. Chosen by feel: it ends an
/// adapter that never sends the receipt.
const MAX_EARLIER: usize = 10_000;

/// Between the end of its lines and the end of a process. Chosen by feel: a process that dies closes its output a
/// moment before it is gone.
const EXIT_GRACE: Duration = Duration::from_millis(100);

/// The role of a connection among those to the same system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionRole {
    /// Nobody else uses the system.
    #[default]
    Sole,
    /// It resets the system, which others use.
    Control,
    /// It is one of several clients, and finds the system as it is.
    Client,
}

/// The settings of a connection to a system behind a pipe or a socket.
#[derive(Clone, Debug)]
pub struct RemoteConnection {
    /// The seed it is asked to use.
    pub seed: Option<u64>,
    /// The number of the system, where several run side by side.
    pub instance: u32,
    /// Variables added to its environment, if it is started here.
    pub environment: Vec<(String, String)>,
    /// The part of the model that it stands for, where it is one of several connections.
    pub part: Option<PartPlace>,
    /// Its role, where several clients use the system.
    pub role: ConnectionRole,
    /// Its settings.
    pub settings: Map<String, Json>,
    /// The clock that measures delays in a timed model.
    pub clock: ClockKind,
    /// The time limit for the greeting, for a reset and for the receipt of an input.
    pub limit: Duration,
    /// The longest time of a message from its first byte to its last; `None` for the default. Its longest pause is
    /// `limit`.
    pub message_limit: Option<Duration>,
    /// The encryption of connections to an address; `None` for plain TCP.
    pub tls: Option<Tls>,
    /// The place for the error stream of a process, where another connection reads it.
    pub error_stream: Option<ErrorStreamHub>,
    /// The time for which a refused connection is tried again while the system starts.
    pub reach: Duration,
    /// The flag that ends every wait.
    pub interrupt: Interrupt,
}

impl Default for RemoteConnection {
    /// No seed, no settings, limits of ten seconds; somebody must be listening already.
    fn default() -> Self {
        Self {
            seed: None,
            instance: 0,
            part: None,
            role: ConnectionRole::Sole,
            environment: Vec::new(),
            settings: Map::new(),
            clock: ClockKind::default(),
            limit: Duration::from_secs(10),
            message_limit: None,
            tls: None,
            error_stream: None,
            reach: Duration::ZERO,
            interrupt: Interrupt::never(),
        }
    }
}

impl RemoteConnection {
    /// Returns the time limits of a message that has begun.
    pub(super) fn message_limits(&self) -> MessageLimits {
        MessageLimits::new(self.limit, self.message_limit)
    }
}

/// The clock that measures delays in a timed model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// Virtual time if the system offers it, else that of this machine.
    #[default]
    Offered,
    /// The clock of this machine.
    Wall,
    /// Virtual time; a system that does not offer it cannot be tested.
    Virtual,
}

/// A way to reach a system.
pub trait SystemLink {
    /// Starts or reaches it afresh, ending what was there.
    fn open(&mut self) -> Result<ProtocolWire, AdapterError>;
    /// Returns the exit status if the system has ended or ends within `patience`; `None` for a socket.
    fn status(&mut self, patience: Duration) -> Option<ExitStatus>;
    /// Ends it; `wire` is the connection to it.
    fn close(&mut self, wire: ProtocolWire);
    /// Returns what the system wrote outside the protocol.
    fn last_words(&self) -> String;
    /// Returns the other end, as a script reaches it; `None` if it cannot.
    fn place(&self) -> Option<ScriptPlace>;
    /// Returns whether [`open`](Self::open) starts the system, and does not only connect to it.
    fn starts_system(&self) -> bool;
    /// Returns its exit status, if it is a process that has ended.
    fn exit_status(&mut self) -> Option<i32> {
        None
    }
}

/// A system behind a [`SystemLink`].
pub struct RemoteAdapter<L: SystemLink> {
    link: L,
    model: Arc<Model>,
    connection: RemoteConnection,
    live: Option<GreetedConnection>,
    /// True if the run before broke the system down, or a restart was asked for: it is not asked to reset.
    is_broken: bool,
    ends: SystemEnds,
}

/// A connection past its greeting.
struct GreetedConnection {
    wire: ProtocolWire,
    reset: ResetKind,
    /// True if nothing was sent since the system was last in its initial state.
    fresh: bool,
    next_id: u64,
    /// Outputs read while something else was awaited.
    waiting: VecDeque<ArrivedOutput>,
    /// The virtual time since the reset; `None` for a system on the clock of this machine.
    now: Option<Duration>,
    /// True if the system says when something is due next.
    foresight: bool,
    /// True once an output has come; the greeting is that of the adapter.
    has_spoken: bool,
    /// The number of outputs after which the system is silent until the next input; `None` if it does not say.
    to_come: Option<u64>,
}

/// The agreement reached at the greeting.
struct Greeting {
    reset: ResetKind,
    is_virtual: bool,
    foresight: bool,
    ready: ReadyMessage,
}

impl GreetedConnection {
    /// Returns an output that was just read, with the instant of its arrival.
    fn heard(&mut self, model: &Model, mut output: OutputMessage) -> Result<ArrivedOutput, AdapterError> {
        let (raw, at) = (output.raw.take(), Some(self.wire.last_arrival()));
        let begun = Some(self.wire.begun_at());
        let is_first = !std::mem::replace(&mut self.has_spoken, true);
        // The adapter promised silence, and the run may already have judged it as such.
        if self.to_come == Some(0) {
            return Err(AdapterError::Protocol {
                line: cut(&output.label, 200),
                reason: "an output, although the adapter declared that it is silent until the next input: it is not \
                         synchronous"
                    .into(),
            });
        }
        self.to_come = self.to_come.map(|n| n - 1);
        Ok(ArrivedOutput { at, begun, raw, is_first, ..decode_output(model, output)?.into() })
    }

    /// Returns the virtual time since the reset.
    fn virtual_now(&self) -> Result<Duration, AdapterError> {
        self.now.ok_or_else(|| AdapterError::Refused("the system has no virtual time".into()))
    }
}

impl<L: SystemLink> RemoteAdapter<L> {
    /// Reaches the system and greets it.
    pub(super) fn new(
        link: L,
        model: Arc<Model>,
        connection: RemoteConnection,
    ) -> Result<Self, AdapterError> {
        let mut remote =
            Self { link, model, connection, live: None, is_broken: false, ends: SystemEnds::default() };
        remote.open().map_err(|error| remote.with_last_words(error))?;
        Ok(remote)
    }

    /// Returns `error` with what the system wrote outside the protocol; once the greeting is over, the run reports that
    /// by itself.
    fn with_last_words(&self, error: AdapterError) -> AdapterError {
        let status = match error {
            AdapterError::Ended { status } => status,
            AdapterError::Closed => "it closed the connection".into(),
            other => return other,
        };
        // Its error stream is read by another thread, which may be a moment behind.
        let deadline = Instant::now() + EXIT_GRACE * 2;
        let mut words = self.link.last_words();
        while words.trim().is_empty() && Instant::now() < deadline {
            // 5 ms, so that the loop does not keep a processor busy. No reason for the number is recorded.
            std::thread::sleep(Duration::from_millis(5));
            words = self.link.last_words();
        }
        match words.trim() {
            "" => AdapterError::Ended { status },
            words => AdapterError::Ended { status: format!("{status}; it printed: {words}") },
        }
    }

    /// Opens a new connection and greets the system; an earlier one is closed.
    fn open(&mut self) -> Result<(), AdapterError> {
        self.close();
        let mut wire = self.link.open()?;
        match greet(&mut wire, &self.connection, self.model.sts.is_timed()) {
            Ok(Greeting { reset, is_virtual, foresight, ready }) => {
                let now = is_virtual.then_some(Duration::ZERO);
                let to_come = ready.outputs.filter(|_| !self.model.sts.is_timed());
                self.live = Some(GreetedConnection {
                    wire,
                    reset,
                    fresh: true,
                    next_id: 0,
                    waiting: VecDeque::new(),
                    now,
                    foresight,
                    has_spoken: false,
                    to_come,
                });
                Ok(())
            }
            Err(error) => {
                // Before the link is closed, which would end the process and hide how it ended itself.
                let error = self.explain_error(error);
                self.link.close(wire);
                Err(error)
            }
        }
    }

    /// Says goodbye and closes the connection, if there is one.
    fn close(&mut self) {
        if let Some(mut live) = self.live.take() {
            live.wire.write(&ProtocolMessage::Bye(crate::protocol::ByeMessage {})).ok();
            self.link.close(live.wire);
        }
    }

    /// Returns the connection; a system that has ended is not started again before the next reset.
    fn live(&mut self) -> Result<&mut GreetedConnection, AdapterError> {
        self.live.as_mut().ok_or_else(|| AdapterError::Ended { status: "it is not running".into() })
    }

    /// `error`, with the exit status if the system has ended.
    fn explain_error(&mut self, error: AdapterError) -> AdapterError {
        let patience = match error {
            AdapterError::Ended { .. } | AdapterError::Closed => EXIT_GRACE,
            AdapterError::Late { .. } => Duration::ZERO,
            _ => return error,
        };
        self.link.status(patience).map_or(error, AdapterError::from)
    }

    /// Starts a system again that has ended at its reset, or before; fails if it does so at every reset.
    fn reopen(&mut self, error: AdapterError) -> Result<(), AdapterError> {
        let how = match self.explain_error(error) {
            AdapterError::Ended { status } => format!("the system ended by itself at its reset: {status}"),
            other => format!("{other}, at its reset"),
        };
        if self.ends.count_end(&how) {
            self.close();
            return Err(AdapterError::Ended {
                status: format!(
                    "{how}, as it did before; a system that resets by exiting sends \"reset\": \"restart\" in its hello"
                ),
            });
        }
        self.open()
    }

    /// Resets the system by message; outputs of the previous run are dropped.
    fn reset_by_message(&mut self) -> Result<(), AdapterError> {
        let (limit, is_timed) = (self.connection.limit, self.model.sts.is_timed());
        let live = self.live()?;
        // They belong to the run before.
        live.waiting.clear();
        live.wire.write(&ProtocolMessage::Reset(ResetMessage {}))?;
        let ready = await_ready(&mut live.wire, limit, EarlyOutput::OfLastRun)?;
        live.to_come = ready.outputs.filter(|_| !is_timed);
        live.now = live.now.map(|_| Duration::ZERO);
        live.fresh = true;
        Ok(())
    }

    /// Reads up to the receipt of input `id`.
    fn await_receipt(&mut self, id: u64) -> Result<SentInput, AdapterError> {
        let limit = self.connection.limit;
        let deadline = Instant::now() + limit;
        let model = Arc::clone(&self.model);
        let live = self.live()?;
        // What came before the receipt may have been said before the input was taken; the run judges all orders.
        let mut earlier: Vec<ArrivedOutput> = live.waiting.drain(..).collect();
        // Until the receipt says otherwise it may answer as it likes.
        live.to_come = None;
        while earlier.len() <= MAX_EARLIER {
            match live.wire.next_message(deadline)? {
                Some(ProtocolMessage::Sent(sent)) if sent.id == id => {
                    // In a timed model silence has a length, which must pass.
                    live.to_come = sent.outputs.filter(|_| !model.sts.is_timed());
                    return Ok(SentInput { earlier, raw: sent.raw, lane: 0 });
                }
                Some(ProtocolMessage::Output(output)) => {
                    earlier.push(live.heard(&model, output)?);
                }
                Some(other) => return Err(out_of_place(&other)),
                None => return Err(AdapterError::Late { awaited: AwaitedPart::Sent, limit }),
            }
        }
        Err(AdapterError::Protocol {
            line: format!("{MAX_EARLIER} outputs"),
            reason: "a flood of outputs before the receipt of an input".into(),
        })
    }

    /// Lets virtual time pass, and waits until the system confirms it.
    fn let_pass(&mut self, until: Duration) -> Result<VirtualDelay, AdapterError> {
        let live = self.live()?;
        let now = live.virtual_now()?;
        // One message at an instant: time goes on only when all of them are told.
        if let Some(heard) = live.waiting.pop_front() {
            return Ok(VirtualDelay { now, message: Some(heard) });
        }
        let advanced =
            self.advance_time(AdvanceMessage { to_ns: Some(nanoseconds(until)), foresee: false })?;
        let then = Duration::from_nanos(advanced.now_ns);
        let live = self.live()?;
        let message = live.waiting.pop_front();
        // A clock that is wrong would make every delay after it wrong.
        check_passage(now, then, until, message.is_some())?;
        live.now = Some(then);
        Ok(VirtualDelay { now: then, message })
    }

    /// Returns the virtual time at which the system acts next; now if an output is already there, `None` if nothing is
    /// due.
    fn next_due(&mut self) -> Result<Option<Duration>, AdapterError> {
        let now = self.live()?.virtual_now()?;
        if !self.live()?.waiting.is_empty() {
            return Ok(Some(now));
        }
        let advanced = self.advance_time(AdvanceMessage { to_ns: Some(nanoseconds(now)), foresee: true })?;
        check_passage(now, Duration::from_nanos(advanced.now_ns), now, true)?;
        if self.live()?.waiting.is_empty() {
            Ok(advanced.next_ns.map(|next| Duration::from_nanos(next).max(now)))
        } else {
            Ok(Some(now))
        }
    }

    /// Asks the system to let virtual time pass, and reads up to its answer; outputs on the way are queued.
    fn advance_time(&mut self, advance: AdvanceMessage) -> Result<AdvancedMessage, AdapterError> {
        let limit = self.connection.limit;
        let deadline = Instant::now() + limit;
        let model = Arc::clone(&self.model);
        let live = self.live()?;
        live.wire.write(&ProtocolMessage::Advance(advance))?;
        while live.waiting.len() <= MAX_EARLIER {
            match live.wire.next_message(deadline)? {
                Some(ProtocolMessage::Output(output)) => {
                    let heard = live.heard(&model, output)?;
                    live.waiting.push_back(heard);
                }
                Some(ProtocolMessage::Advanced(advanced)) => return Ok(advanced),
                Some(other) => return Err(out_of_place(&other)),
                None => return Err(AdapterError::Late { awaited: AwaitedPart::Advanced, limit }),
            }
        }
        Err(AdapterError::Protocol {
            line: format!("{MAX_EARLIER} outputs"),
            reason: "a flood of outputs at one instant".into(),
        })
    }

    /// The next output before `deadline`.
    fn next_output(&mut self, deadline: Instant) -> Result<Option<ArrivedOutput>, AdapterError> {
        let model = Arc::clone(&self.model);
        let live = self.live()?;
        if let Some(heard) = live.waiting.pop_front() {
            return Ok(Some(heard));
        }
        match live.wire.next_message(deadline)? {
            Some(ProtocolMessage::Output(output)) => Ok(Some(live.heard(&model, output)?)),
            Some(other) => Err(out_of_place(&other)),
            None => Ok(None),
        }
    }
}

impl<L: SystemLink> RemoteAdapter<L> {
    /// Brings the system back to its initial state, in the way it offers.
    fn reset_system(&mut self) -> Result<(), AdapterError> {
        if std::mem::take(&mut self.is_broken) {
            return self.open();
        }
        let Some(live) = &self.live else { return self.open() };
        // The time of a timed system runs on from its reset, and what others did to the system is not known here.
        let is_initial = live.fresh && self.connection.role != ConnectionRole::Control;
        if is_initial && (!self.model.sts.is_timed() || live.reset == ResetKind::None) {
            return Ok(());
        }
        match live.reset {
            ResetKind::None => Err(AdapterError::NoReset),
            ResetKind::Restart => self.open(),
            ResetKind::Message => match self.reset_by_message() {
                // A system that hangs at its reset is started again as one that ends at it is.
                Err(
                    error @ (AdapterError::Ended { .. }
                    | AdapterError::Closed
                    | AdapterError::Broken(_)
                    | AdapterError::Late { .. }),
                ) => self.reopen(error),
                Err(error) => {
                    // Whoever does not reset is not in a state to go on with.
                    self.close();
                    Err(error)
                }
                Ok(()) => {
                    self.ends.record_survival();
                    Ok(())
                }
            },
        }
    }

    /// Notes whether the caller gets an error, so that an end is not reported twice.
    fn remember_error<T>(&mut self, result: Result<T, AdapterError>) -> Result<T, AdapterError> {
        self.ends.record_result(&result);
        result
    }
}

impl<L: SystemLink> Adapter for RemoteAdapter<L> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        let result = self.reset_system();
        self.ends.begin_run(&result);
        result
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let message = label_to_json(&self.model.pool, &self.model.sts, input)
            .ok_or_else(|| AdapterError::Refused("only messages can be sent".into()))?;
        let live = self.live()?;
        (live.fresh, live.next_id) = (false, live.next_id + 1);
        let id = live.next_id;
        let line = ProtocolMessage::Input(InputMessage { id, label: message.label, args: message.args });
        let sent = live.wire.write(&line).and_then(|()| self.await_receipt(id));
        let sent = sent.map_err(|error| self.explain_error(error));
        self.remember_error(sent)
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        let found = self.next_output(Instant::now()).map_err(|error| self.explain_error(error));
        let found = self.remember_error(found)?;
        if found.is_some() {
            // What is said without an input changes the system too.
            self.live()?.fresh = false;
        }
        Ok(found)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        self.live()?.fresh = false;
        // The system has said all that was to come, so there is nothing to wait for.
        let patience = if self.knows_silence() { Duration::ZERO } else { patience };
        let seen = match self.next_output(Instant::now() + patience) {
            Ok(Some(heard)) => Ok(Observation::Output(heard)),
            Ok(None) => match self.link.status(Duration::ZERO) {
                Some(status) => Err(status.into()),
                None => Ok(Observation::Quiet),
            },
            Err(error) => Err(self.explain_error(error)),
        };
        self.remember_error(seen)
    }

    fn knows_silence(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.to_come == Some(0) && live.waiting.is_empty())
    }

    fn ended_by_itself(&mut self) -> Option<String> {
        self.ends.take_text()
    }

    fn first_reply_limit(&self) -> Option<Duration> {
        self.live.as_ref().is_some_and(|live| !live.has_spoken).then_some(self.connection.limit)
    }

    fn needs_restart(&self) -> bool {
        let is_used =
            |live: &GreetedConnection| !live.fresh || self.connection.role == ConnectionRole::Control;
        let is_spent = |live: &GreetedConnection| live.reset != ResetKind::Message && is_used(live);
        !self.link.starts_system() && self.live.as_ref().is_some_and(is_spent)
    }

    fn note_breakdown(&mut self) {
        self.is_broken = true;
    }

    fn restart_at_next_reset(&mut self) -> bool {
        let has_other_reset = self.live.as_ref().is_some_and(|live| live.reset == ResetKind::Message);
        let restarts = self.link.starts_system() && has_other_reset;
        self.is_broken |= restarts;
        restarts
    }

    /// A line that has begun is given its time: half a line is no silence.
    fn awaits(&self, patience: Duration) -> Duration {
        let has_begun = self.live.as_ref().is_some_and(|live| live.wire.has_begun());
        if has_begun { patience.max(self.connection.message_limits().total) } else { patience }
    }

    fn exit_status(&mut self) -> Option<i32> {
        self.link.exit_status()
    }

    fn notation(&self) -> Option<Box<dyn WireNotation + '_>> {
        // A script has no part, and no clock of its own.
        let is_plain = self.connection.part.is_none() && !self.has_virtual_time();
        let notation = ProtocolNotation { tls: None, place: self.link.place()?, model: &self.model };
        is_plain.then(|| Box::new(notation) as Box<dyn WireNotation + '_>)
    }

    fn has_virtual_time(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.now.is_some())
    }

    fn advance(&mut self, until: Duration) -> Result<VirtualDelay, AdapterError> {
        self.live()?.fresh = false;
        let passed = self.let_pass(until).map_err(|error| self.explain_error(error));
        self.remember_error(passed)
    }

    fn has_foresight(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.now.is_some() && live.foresight)
    }

    fn foresee(&mut self) -> Result<Option<Duration>, AdapterError> {
        self.live()?.fresh = false;
        let due = self.next_due().map_err(|error| self.explain_error(error));
        self.remember_error(due)
    }

    fn last_words(&self) -> String {
        let log = self.live.as_ref().map(|live| live.wire.log()).unwrap_or_default();
        format!("{log}{}", self.link.last_words())
    }
}

impl<L: SystemLink> Drop for RemoteAdapter<L> {
    fn drop(&mut self) {
        self.close();
    }
}

/// Performs the greeting: reads the hello, sends the settings and waits until the system is ready.
fn greet(
    wire: &mut ProtocolWire,
    connection: &RemoteConnection,
    is_timed: bool,
) -> Result<Greeting, AdapterError> {
    let hello = hear_hello(wire, connection.limit)?;
    let is_virtual = is_timed && hello.virtual_time && connection.clock != ClockKind::Wall;
    if is_timed && !is_virtual && connection.clock == ClockKind::Virtual {
        let reason = "virtual time was requested, but the system does not offer it".into();
        return Err(AdapterError::Protocol { line: "hello".into(), reason });
    }
    // An adapter that does not know of clients would take each connection for a new run.
    if connection.role != ConnectionRole::Sole && !hello.clients {
        let reason = "several clients were requested, but its `hello` has no `\"clients\": true`".into();
        return Err(AdapterError::Protocol { line: "hello".into(), reason });
    }
    let configure = ConfigureMessage {
        settings: connection.settings.clone(),
        instance: connection.instance,
        seed: connection.seed,
        virtual_time: is_virtual,
        work_dir: None,
        part: connection.part.clone(),
        client: connection.role == ConnectionRole::Client,
    };
    wire.write(&ProtocolMessage::Configure(configure))?;
    let ready = await_ready(wire, connection.limit, EarlyOutput::OutOfPlace)?;
    Ok(Greeting { reset: hello.reset, is_virtual, foresight: hello.foresight, ready })
}

/// Reads the hello of the system, which must speak our version.
pub(super) fn hear_hello(wire: &mut ProtocolWire, limit: Duration) -> Result<HelloMessage, AdapterError> {
    let hello = match wire.next_message(Instant::now() + limit)? {
        Some(ProtocolMessage::Hello(hello)) => hello,
        Some(other) => return Err(out_of_place(&other)),
        None => return Err(AdapterError::Late { awaited: AwaitedPart::Hello, limit }),
    };
    if hello.protocol != VERSION {
        let reason = format!(
            "it uses version {} of the protocol, this program uses version {VERSION}",
            hello.protocol
        );
        return Err(AdapterError::Protocol { line: "hello".into(), reason });
    }
    Ok(hello)
}

/// Checks that virtual time goes forward, not beyond the instant asked for, and stops earlier only for a message.
fn check_passage(
    before: Duration,
    then: Duration,
    until: Duration,
    has_spoken: bool,
) -> Result<(), AdapterError> {
    let reason = if then < before {
        "its clock goes back"
    } else if then > until {
        "its clock went further than it was asked to"
    } else if then < until && !has_spoken {
        "its clock stopped early, but it sent no message"
    } else {
        return Ok(());
    };
    let line = format!("advanced to {} ns", then.as_nanos());
    Err(AdapterError::Protocol { line, reason: reason.into() })
}

/// Returns a time in nanoseconds.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The meaning of an output or a receipt that comes while `ready` is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EarlyOutput {
    /// The adapter has just been started: there was no run to which it could belong.
    OutOfPlace,
    /// The adapter was told to reset: it was under way in the run before, and is dropped.
    OfLastRun,
}

/// Waits for `ready`.
pub(super) fn await_ready(
    wire: &mut ProtocolWire,
    limit: Duration,
    early: EarlyOutput,
) -> Result<ReadyMessage, AdapterError> {
    let deadline = Instant::now() + limit;
    loop {
        match (wire.next_message(deadline)?, early) {
            (Some(ProtocolMessage::Ready(ready)), _) => return Ok(ready),
            (Some(message @ ProtocolMessage::Output(_)), EarlyOutput::OutOfPlace) => {
                return Err(AdapterError::Protocol {
                    line: cut(&message.to_line(), 200),
                    reason:
                        "an output before the first `ready` belongs to no run; send it after `ready`, which \
                         means that the system is in its initial state"
                            .into(),
                });
            }
            (Some(ProtocolMessage::Output(_) | ProtocolMessage::Sent(_)), EarlyOutput::OfLastRun)
                // A flood of old outputs must not keep the reset from ending.
                if Instant::now() < deadline => {}
            (Some(ProtocolMessage::Output(_) | ProtocolMessage::Sent(_)), EarlyOutput::OfLastRun)
            | (None, _) => return Err(AdapterError::Late { awaited: AwaitedPart::Ready, limit }),
            (Some(other), _) => return Err(out_of_place(&other)),
        }
    }
}

pub(super) fn decode_output(model: &Model, output: OutputMessage) -> Result<Label, AdapterError> {
    let is_seen = |kind| matches!(kind, GateKind::Output | GateKind::Observed);
    let message = WireMessage { label: output.label, args: output.args };
    label_from_json(model, &message, is_seen).map_err(|error| {
        let line = cut(&serde_json::to_string(&message).unwrap_or_default(), 200);
        let reason = error.to_string();
        match error.problem {
            JsonProblem::Excess(_) => AdapterError::TooLarge { line, reason },
            _ => AdapterError::Unreadable { line, reason },
        }
    })
}

pub(super) fn out_of_place(message: &ProtocolMessage) -> AdapterError {
    AdapterError::Protocol {
        line: cut(&message.to_line(), 200),
        reason: "this message is not expected here".into(),
    }
}
