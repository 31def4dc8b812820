//! The self-test of an adapter: one complete conversation by the protocol, before any test.
//!
//! Greeting, initial state, one input of every kind it declares, two resets, an orderly
//! end; each is a [`SelfTestCheck`] with what was seen. With a model, no input is sent: only a walk through the model
//! finds states that accept them.
//!
//! *Promises.* Nothing here is a verdict about the system: an adapter that passes can be
//! tested through. Whatever it does, the self-test ends within the limits given.

mod sample;

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use ioxide_model::sts::{GateKind, Model};

use super::check::{CheckState, SelfTestCheck};
use super::managed::{TryResult, patiently};
use super::process::SystemProcess;
use super::remote::{
    EarlyOutput, RemoteConnection, SystemLink, await_ready, decode_output, hear_hello, out_of_place,
};
use super::tcp::TcpConnection;
use super::wire::ProtocolWire;
use super::{AdapterError, AwaitedPart, ListenAddress, SutSpec};
use crate::protocol::{
    ByeMessage, ConfigureMessage, HelloMessage, InputMessage, LabelInfo, MessageDirection, OutputMessage,
    ProtocolMessage, ResetKind, ResetMessage,
};

use self::sample::declared_args;

pub use self::sample::plain_inputs;

/// The time after an input, or after an output, during which further outputs are awaited. Chosen by feel: an adapter
/// on the same machine answers sooner.
const LISTEN: Duration = Duration::from_millis(50);
/// Between the end of its lines and the end of a process. Chosen by feel, longer than in a run: the check reports the
/// exit code.
const LAST_BREATH: Duration = Duration::from_millis(500);
/// Outputs after one input that are looked at. Chosen by feel: it ends an adapter that never stops speaking.
const MAX_OUTPUTS: usize = 100;

/// Tests the adapter that `spec` names. Its messages are compared with those of `model`; without one, it gets an input
/// of every kind it declares.
///
/// Returns the checks, and what the adapter wrote last outside the protocol. A model as system has no adapter: nothing
/// is checked.
#[must_use]
pub fn selftest(
    spec: &SutSpec,
    model: Option<&Model>,
    connection: &RemoteConnection,
) -> (Vec<SelfTestCheck>, String) {
    match spec {
        SutSpec::Stdio(command) => talk(SystemProcess::new(command, connection), model, connection),
        SutSpec::Tcp(address) => talk(TcpConnection::new(address, connection), model, connection),
        SutSpec::Unix(path) => {
            talk(TcpConnection::at(ListenAddress::Unix(path.clone()), connection), model, connection)
        }
        SutSpec::Model(_)
        | SutSpec::Udp(_)
        | SutSpec::Serial { .. }
        | SutSpec::Terminal(_)
        | SutSpec::ErrorStream(_) => (Vec::new(), String::new()),
    }
}

/// Opens the connection, makes all checks, and closes it.
fn talk(
    mut link: impl SystemLink,
    model: Option<&Model>,
    connection: &RemoteConnection,
) -> (Vec<SelfTestCheck>, String) {
    let mut checks = SelfTestChecks::default();
    let opened = patiently(connection.reach, connection.interrupt, || link.open().map_err(TryResult::from));
    if let Some(mut wire) = checks.take("start", opened, |_| String::new()) {
        let mut talk = SelfTest { wire: &mut wire, model, connection, checks: &mut checks, next_id: 0 };
        if talk.all().is_some() {
            let end = goodbye(&mut wire, &mut link, connection.limit);
            checks.take("bye", end, Clone::clone);
        } else if checks.ended {
            // The end of the connection says nothing; the exit status of the process often does.
            checks.explain(link.status(LAST_BREATH));
        }
        link.close(wire);
    }
    (checks.tried, link.last_words())
}

/// The checks made so far.
#[derive(Default)]
struct SelfTestChecks {
    tried: Vec<SelfTestCheck>,
    /// True if the last check failed because the system ended.
    ended: bool,
}

impl SelfTestChecks {
    fn add(&mut self, name: &str, state: CheckState, note: String) {
        self.tried.push(SelfTestCheck::new(name, state, note));
    }

    /// Adds how the system ended to the last check.
    fn explain(&mut self, status: Option<ExitStatus>) {
        if let (Some(last), Some(status)) = (self.tried.last_mut(), status) {
            last.note = AdapterError::from(status).to_string();
        }
    }

    /// Notes a result; `None` if it is an error.
    fn take<T>(
        &mut self,
        name: &str,
        result: Result<T, AdapterError>,
        note: impl Fn(&T) -> String,
    ) -> Option<T> {
        match result {
            Ok(value) => {
                self.add(name, CheckState::Ok, note(&value));
                Some(value)
            }
            Err(error) => {
                self.ended = matches!(error, AdapterError::Ended { .. } | AdapterError::Closed);
                self.add(name, CheckState::Failed, error.to_string());
                None
            }
        }
    }
}

/// A self-test under way.
struct SelfTest<'t> {
    wire: &'t mut ProtocolWire,
    model: Option<&'t Model>,
    connection: &'t RemoteConnection,
    checks: &'t mut SelfTestChecks,
    next_id: u64,
}

impl SelfTest<'_> {
    /// Makes all checks but that of the end; `None` if the connection is of no more use.
    fn all(&mut self) -> Option<()> {
        let hello = hear_hello(self.wire, self.connection.limit);
        let hello = self.checks.take("hello", hello, described)?;
        self.compare(&hello);
        let configure = ProtocolMessage::Configure(ConfigureMessage {
            seed: self.connection.seed,
            ..ConfigureMessage::default()
        });
        let ready = self.until_ready(&configure, EarlyOutput::OutOfPlace);
        self.checks.take("ready", ready, |took| format!("after {}", shown(*took)))?;
        // With a model, made-up inputs would be refused or lead to nonsense; a walk through the model sends
        // the right ones.
        if self.model.is_none() {
            self.inputs(&hello)?;
        }
        self.resets(hello.reset)
    }

    /// Compares the messages that the adapter declares with those of the model.
    fn compare(&mut self, hello: &HelloMessage) {
        let Some(model) = self.model else { return };
        if hello.labels.is_empty() {
            return self.checks.add("labels", CheckState::Skipped, "it declares no messages".into());
        }
        let declared = |gate: &str, kind: GateKind| {
            let is_it = |info: &LabelInfo| info.label == gate && fits(info.direction, kind);
            kind == GateKind::Internal || hello.labels.iter().any(is_it)
        };
        let gates = model.sts.gates.iter().filter(|gate| !declared(&gate.name, gate.kind));
        let missing: Vec<String> = gates.map(|gate| format!("`{}`", gate.name)).collect();
        if missing.is_empty() {
            self.checks.add("labels", CheckState::Ok, "every message of the model is declared".into())
        } else {
            let note = format!("not declared, or in another direction: {}", missing.join(", "));
            self.checks.add("labels", CheckState::Failed, note);
        }
    }

    /// Gives one input of every kind.
    fn inputs(&mut self, hello: &HelloMessage) -> Option<()> {
        let mut times = Vec::new();
        for info in hello.labels.iter().filter(|info| info.direction == MessageDirection::Input) {
            let name = format!("input {}", info.label);
            let Some(args) = declared_args(info) else {
                self.checks.add(&name, CheckState::Skipped, "no value is known for its fields".into());
                continue;
            };
            match self.input(info, args) {
                Ok((took, outputs)) => {
                    times.push(took);
                    let note = format!("sent after {}, then {outputs} outputs", shown(took));
                    self.checks.add(&name, CheckState::Ok, note);
                }
                // A made-up input may well be refused in the initial state: refusing it properly is what is checked.
                Err(AdapterError::Refused(reason)) => {
                    self.checks.add(&name, CheckState::Ok, format!("refused: {reason}"));
                }
                Err(error) => return self.checks.take(&name, Err(error), |()| String::new()),
            }
        }
        match times.iter().max() {
            Some(most) => {
                let note = format!("{} inputs, the slowest after {}", times.len(), shown(*most));
                self.checks.add("receipts", CheckState::Ok, note);
            }
            None => self.checks.add("receipts", CheckState::Skipped, "no input could be given".into()),
        }
        Some(())
    }

    /// Sends one input; returns the time until its receipt and the number of outputs, at most [`MAX_OUTPUTS`].
    fn input(
        &mut self,
        info: &LabelInfo,
        args: serde_json::Map<String, serde_json::Value>,
    ) -> Result<(Duration, usize), AdapterError> {
        self.next_id += 1;
        let (id, start) = (self.next_id, Instant::now());
        self.wire.write(&ProtocolMessage::Input(InputMessage { id, label: info.label.clone(), args }))?;
        let mut outputs = 0;
        let limit = self.connection.limit;
        let took = loop {
            match self.wire.next_message(start + limit)? {
                Some(ProtocolMessage::Sent(sent)) if sent.id == id => break start.elapsed(),
                // Outputs may come before the receipt: the system reacts while it confirms.
                Some(ProtocolMessage::Output(output)) if outputs < MAX_OUTPUTS => {
                    self.output(output)?;
                    outputs += 1;
                }
                Some(other) => return Err(out_of_place(&other)),
                None => return Err(AdapterError::Late { awaited: AwaitedPart::Sent, limit }),
            }
        };
        while outputs < MAX_OUTPUTS {
            // Each output may be followed by another, so the wait begins again.
            match self.wire.next_message(Instant::now() + LISTEN)? {
                Some(ProtocolMessage::Output(output)) => self.output(output)?,
                Some(other) => return Err(out_of_place(&other)),
                None => break,
            }
            outputs += 1;
        }
        Ok((took, outputs))
    }

    /// Checks that an output is one of the model.
    fn output(&self, output: OutputMessage) -> Result<(), AdapterError> {
        self.model.map_or(Ok(()), |model| decode_output(model, output).map(|_| ()))
    }

    /// Resets twice, if the adapter is reset by messages.
    fn resets(&mut self, kind: ResetKind) -> Option<()> {
        match kind {
            ResetKind::Message => (),
            ResetKind::Restart => {
                self.checks.add("reset", CheckState::Skipped, "it is reset by a restart".into());
                return Some(());
            }
            ResetKind::None => {
                self.checks.add("reset", CheckState::Skipped, "it cannot be reset".into());
                return Some(());
            }
        }
        // Twice, because the second reset meets a system that was only reset and got no input since.
        for name in ["reset", "reset again"] {
            let reset = ProtocolMessage::Reset(ResetMessage {});
            let ready = self.until_ready(&reset, EarlyOutput::OfLastRun);
            self.checks.take(name, ready, |took| format!("ready after {}", shown(*took)))?;
        }
        Some(())
    }

    fn until_ready(
        &mut self,
        message: &ProtocolMessage,
        early: EarlyOutput,
    ) -> Result<Duration, AdapterError> {
        let start = Instant::now();
        self.wire.write(message)?;
        await_ready(self.wire, self.connection.limit, early)?;
        Ok(start.elapsed())
    }
}

/// Says goodbye and waits for the end of the connection.
fn goodbye(
    wire: &mut ProtocolWire,
    link: &mut impl SystemLink,
    limit: Duration,
) -> Result<String, AdapterError> {
    wire.write(&ProtocolMessage::Bye(ByeMessage {}))?;
    let deadline = Instant::now() + limit;
    loop {
        match wire.next_message(deadline) {
            Err(AdapterError::Ended { .. } | AdapterError::Closed) => break,
            Err(error) => return Err(error),
            // What was on its way when goodbye was said.
            Ok(Some(ProtocolMessage::Output(_))) if Instant::now() < deadline => (),
            Ok(Some(other)) => return Err(out_of_place(&other)),
            Ok(None) => return Err(AdapterError::Late { awaited: AwaitedPart::Bye, limit }),
        }
    }
    // What counts is that it ends by itself: a process without an orderly exit would be killed in every run.
    match link.status(limit) {
        Some(status) if status.success() => Ok(status.to_string()),
        Some(status) => Err(status.into()),
        None => Ok("the connection was closed".into()),
    }
}

/// Returns whether a message declared in this direction can be one of this kind.
fn fits(direction: MessageDirection, kind: GateKind) -> bool {
    match kind {
        GateKind::Internal => true,
        GateKind::Input => direction == MessageDirection::Input,
        GateKind::Observed => direction == MessageDirection::Observed,
        GateKind::Output => direction == MessageDirection::Output,
    }
}

/// Returns a greeting in a few words.
fn described(hello: &HelloMessage) -> String {
    let reset = match hello.reset {
        ResetKind::Message => "by message",
        ResetKind::Restart => "by restart",
        ResetKind::None => "not possible",
    };
    let (name, labels) = (ioxide_record::line::cut(&hello.name, 40), hello.labels.len());
    format!("`{name}`, protocol {}, {labels} messages, reset {reset}", hello.protocol)
}

/// Returns a time in milliseconds.
fn shown(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests;
