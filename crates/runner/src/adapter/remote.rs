//! What pipes and sockets have in common: greeting, reset, inputs with receipts, outputs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json};

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};

use super::wire::Wire;
use super::{Adapter, AdapterError, Interrupt, Observation, Sent};
use crate::codec::{self, label_from_json, label_to_json};
use crate::line::cut;
use crate::protocol::{Configure, Hello, Input, Message, Output, Reset, ResetKind, VERSION};

/// More messages than this before a receipt, and the system is taken for mad.
const MAX_EARLIER: usize = 10_000;

/// Between the end of its lines and the end of a process.
const LAST_BREATH: Duration = Duration::from_millis(100);

/// How to talk to a system behind a pipe or a socket.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The seed it is asked to use.
    pub seed: Option<u64>,
    /// Which of several systems side by side it is.
    pub instance: u32,
    /// Variables added to its environment, if it is started here.
    pub environment: Vec<(String, String)>,
    /// Its settings.
    pub settings: Map<String, Json>,
    /// How long it may take to greet, to reset, to confirm an input.
    pub limit: Duration,
    /// Ends every wait.
    pub interrupt: Interrupt,
}

impl Default for Connection {
    /// No seed, no settings, ten seconds.
    fn default() -> Self {
        Self {
            seed: None,
            instance: 0,
            environment: Vec::new(),
            settings: Map::new(),
            limit: Duration::from_secs(10),
            interrupt: Interrupt::never(),
        }
    }
}

/// A way to reach a system.
pub(super) trait Link {
    /// Starts or reaches it afresh, ending what was there.
    fn open(&mut self) -> Result<Wire, AdapterError>;
    /// How it ended, if it has or does so within `patience`.
    fn status(&mut self, patience: Duration) -> Option<String>;
    /// Ends it; `wire` is the connection to it.
    fn close(&mut self, wire: Wire);
    /// What it said outside the protocol.
    fn last_words(&self) -> String;
}

/// A system behind a [`Link`].
pub(super) struct Remote<L: Link> {
    link: L,
    model: Arc<Model>,
    connection: Connection,
    live: Option<Live>,
}

/// A connection past its greeting.
struct Live {
    wire: Wire,
    reset: ResetKind,
    /// Nothing was sent since the system was last in its initial state.
    fresh: bool,
    next_id: u64,
    /// Outputs read while something else was awaited.
    waiting: VecDeque<Label>,
}

impl<L: Link> Remote<L> {
    /// Reaches the system and greets it.
    pub(super) fn new(link: L, model: Arc<Model>, connection: Connection) -> Result<Self, AdapterError> {
        let mut remote = Self { link, model, connection, live: None };
        remote.open().map_err(|error| remote.with_last_words(error))?;
        Ok(remote)
    }

    /// `error` with what the system said outside the protocol; later the run tells that by itself.
    fn with_last_words(&self, error: AdapterError) -> AdapterError {
        let AdapterError::Ended { status } = error else { return error };
        // Its error stream is read by another thread, which may be a moment behind.
        let deadline = Instant::now() + LAST_BREATH * 2;
        let mut words = self.link.last_words();
        while words.trim().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
            words = self.link.last_words();
        }
        match words.trim() {
            "" => AdapterError::Ended { status },
            words => AdapterError::Ended { status: format!("{status}; it said: {words}") },
        }
    }

    fn open(&mut self) -> Result<(), AdapterError> {
        self.close();
        let mut wire = self.link.open()?;
        match greet(&mut wire, &self.connection) {
            Ok(reset) => {
                self.live = Some(Live { wire, reset, fresh: true, next_id: 0, waiting: VecDeque::new() });
                Ok(())
            }
            Err(error) => {
                let error = self.explained(error);
                self.link.close(wire);
                Err(error)
            }
        }
    }

    fn close(&mut self) {
        if let Some(mut live) = self.live.take() {
            live.wire.write(&Message::Bye(crate::protocol::Bye {})).ok();
            self.link.close(live.wire);
        }
    }

    /// The connection; a system that ended is not started again before the next reset.
    fn live(&mut self) -> Result<&mut Live, AdapterError> {
        self.live.as_mut().ok_or_else(|| AdapterError::Ended { status: "it is not running".into() })
    }

    /// `error`, with the exit status if the system has ended.
    fn explained(&mut self, error: AdapterError) -> AdapterError {
        let patience = match error {
            AdapterError::Ended { .. } => LAST_BREATH,
            AdapterError::Late { .. } => Duration::ZERO,
            _ => return error,
        };
        self.link.status(patience).map_or(error, |status| AdapterError::Ended { status })
    }

    /// Goes back by message; what is still said of the old life is dropped.
    fn reset_by_message(&mut self) -> Result<(), AdapterError> {
        let limit = self.connection.limit;
        let live = self.live()?;
        live.waiting.clear();
        live.wire.write(&Message::Reset(Reset {}))?;
        await_ready(&mut live.wire, limit)?;
        live.fresh = true;
        Ok(())
    }

    /// Reads up to the receipt of input `id`.
    fn await_receipt(&mut self, id: u64) -> Result<Sent, AdapterError> {
        let limit = self.connection.limit;
        let deadline = Instant::now() + limit;
        let model = Arc::clone(&self.model);
        let live = self.live()?;
        let mut earlier: Vec<Label> = live.waiting.drain(..).collect();
        while earlier.len() <= MAX_EARLIER {
            match live.wire.read(deadline)? {
                Some(Message::Sent(sent)) if sent.id == id => return Ok(Sent { earlier }),
                Some(Message::Output(output)) => earlier.push(decoded(&model, output)?),
                Some(other) => return Err(out_of_place(&other)),
                None => return Err(AdapterError::Late { awaited: "sent", limit }),
            }
        }
        Err(AdapterError::Protocol {
            line: format!("{MAX_EARLIER} outputs"),
            reason: "a flood of outputs before the receipt of an input".into(),
        })
    }

    /// The next output before `deadline`.
    fn next_output(&mut self, deadline: Instant) -> Result<Option<Label>, AdapterError> {
        let model = Arc::clone(&self.model);
        let live = self.live()?;
        if let Some(label) = live.waiting.pop_front() {
            return Ok(Some(label));
        }
        match live.wire.read(deadline)? {
            Some(Message::Output(output)) => decoded(&model, output).map(Some),
            Some(other) => Err(out_of_place(&other)),
            None => Ok(None),
        }
    }
}

impl<L: Link> Adapter for Remote<L> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        let Some(live) = &self.live else { return self.open() };
        if live.fresh {
            return Ok(());
        }
        match live.reset {
            ResetKind::None => Err(AdapterError::NoReset),
            ResetKind::Restart => self.open(),
            ResetKind::Message => match self.reset_by_message() {
                // It ended in the run before, or now: a new one is in its initial state.
                Err(AdapterError::Ended { .. } | AdapterError::Broken(_)) => self.open(),
                Err(error) => {
                    // Whoever does not reset is not in a state to go on with.
                    self.close();
                    Err(error)
                }
                Ok(()) => Ok(()),
            },
        }
    }

    fn send(&mut self, input: &Label) -> Result<Sent, AdapterError> {
        let message = label_to_json(&self.model.pool, &self.model.sts, input)
            .ok_or_else(|| AdapterError::Refused("only messages can be sent".into()))?;
        let live = self.live()?;
        (live.fresh, live.next_id) = (false, live.next_id + 1);
        let id = live.next_id;
        let line = Message::Input(Input { id, label: message.label, args: message.args });
        let sent = live.wire.write(&line).and_then(|()| self.await_receipt(id));
        sent.map_err(|error| self.explained(error))
    }

    fn poll(&mut self) -> Result<Option<Label>, AdapterError> {
        let found = self.next_output(Instant::now()).map_err(|error| self.explained(error))?;
        if found.is_some() {
            self.live()?.fresh = false;
        }
        Ok(found)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        self.live()?.fresh = false;
        match self.next_output(Instant::now() + patience) {
            Ok(Some(label)) => Ok(Observation::Output(label)),
            Ok(None) => match self.link.status(Duration::ZERO) {
                Some(status) => Err(AdapterError::Ended { status }),
                None => Ok(Observation::Quiet),
            },
            Err(error) => Err(self.explained(error)),
        }
    }

    fn last_words(&self) -> String {
        let log = self.live.as_ref().map(|live| live.wire.log()).unwrap_or_default();
        format!("{log}{}", self.link.last_words())
    }
}

impl<L: Link> Drop for Remote<L> {
    fn drop(&mut self) {
        self.close();
    }
}

/// Hears who is there, says how it is wanted, waits until it is ready.
fn greet(wire: &mut Wire, connection: &Connection) -> Result<ResetKind, AdapterError> {
    let hello = hear_hello(wire, connection.limit)?;
    let configure = Configure {
        settings: connection.settings.clone(),
        instance: connection.instance,
        seed: connection.seed,
        work_dir: None,
    };
    wire.write(&Message::Configure(configure))?;
    await_ready(wire, connection.limit)?;
    Ok(hello.reset)
}

/// Hears who is there; it must speak our version.
pub(super) fn hear_hello(wire: &mut Wire, limit: Duration) -> Result<Hello, AdapterError> {
    let hello = match wire.read(Instant::now() + limit)? {
        Some(Message::Hello(hello)) => hello,
        Some(other) => return Err(out_of_place(&other)),
        None => return Err(AdapterError::Late { awaited: "hello", limit }),
    };
    if hello.protocol != VERSION {
        let reason = format!("it speaks version {}, this tool speaks version {VERSION}", hello.protocol);
        return Err(AdapterError::Protocol { line: "hello".into(), reason });
    }
    Ok(hello)
}

pub(super) fn await_ready(wire: &mut Wire, limit: Duration) -> Result<(), AdapterError> {
    let deadline = Instant::now() + limit;
    loop {
        match wire.read(deadline)? {
            Some(Message::Ready(_)) => return Ok(()),
            Some(Message::Output(_) | Message::Sent(_)) if Instant::now() < deadline => (),
            Some(Message::Output(_) | Message::Sent(_)) | None => {
                return Err(AdapterError::Late { awaited: "ready", limit });
            }
            Some(other) => return Err(out_of_place(&other)),
        }
    }
}

pub(super) fn decoded(model: &Model, output: Output) -> Result<Label, AdapterError> {
    let is_seen = |kind| matches!(kind, GateKind::Output | GateKind::Observed);
    let message = codec::Message { label: output.label, args: output.args };
    label_from_json(model, &message, is_seen).map_err(|error| AdapterError::Protocol {
        line: cut(&serde_json::to_string(&message).unwrap_or_default(), 200),
        reason: error.to_string(),
    })
}

pub(super) fn out_of_place(message: &Message) -> AdapterError {
    AdapterError::Protocol {
        line: cut(&message.to_line(), 200),
        reason: "this message is out of place".into(),
    }
}
