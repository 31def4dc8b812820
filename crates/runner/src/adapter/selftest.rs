//! The self-test of an adapter: one conversation by the book, before any model is judged.
//!
//! Greeting, initial state, one input of every kind it declares, two resets, an orderly
//! end; each is a [`Check`] with what was seen.
//!
//! *Promises.* Nothing here is a verdict about the system: an adapter that passes can be
//! tested through. Whatever it does, the self-test ends within the limits given.

mod allowed;
mod plain;
mod sample;

use std::time::{Duration, Instant};

use ioxide_model::sts::{GateKind, Model};

use super::managed::{Tried, patiently};
use super::process::Process;
use super::remote::{Connection, Link, decoded, hear_hello, out_of_place};
use super::tcp::Socket;
use super::wire::Wire;
use super::{AdapterError, SutSpec};
use crate::protocol::{
    Bye, Configure, Direction, Hello, Input, LabelInfo, Message, Output, Reset, ResetKind,
};

use self::sample::args_of;

pub use self::allowed::AllowedInputs;
pub use self::plain::selftest_plain;

/// How long outputs are listened for after an input.
const LISTEN: Duration = Duration::from_millis(50);
/// Between the end of its lines and the end of a process.
const LAST_BREATH: Duration = Duration::from_millis(500);
/// Outputs after one input that are looked at.
const MAX_OUTPUTS: usize = 100;

/// How one thing went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should.
    Ok,
    /// Not as it should.
    Failed,
    /// It could not be tried.
    Skipped,
    /// It may be as it should, and may not: somebody should look.
    Odd,
}

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was tried.
    pub name: String,
    /// How it went.
    pub state: State,
    /// What was seen, or why it was not tried.
    pub note: String,
}

/// Tries the adapter that `spec` names; its messages are compared with those of `model`, and its inputs have the values of
/// `allowed` where there are some.
///
/// The last words of the adapter come with the checks. A model as system has no adapter: nothing is tried.
#[must_use]
pub fn selftest(
    spec: &SutSpec,
    model: Option<&Model>,
    allowed: &AllowedInputs,
    connection: &Connection,
) -> (Vec<Check>, String) {
    let model = Known { model, allowed };
    match spec {
        SutSpec::Stdio(command) => talk(Process::new(command, connection), model, connection),
        SutSpec::Tcp(address) => talk(Socket::new(address, connection), model, connection),
        SutSpec::Model(_) => (Vec::new(), String::new()),
    }
}

/// What is known of the system: its model, and inputs that it allows.
#[derive(Clone, Copy)]
struct Known<'k> {
    model: Option<&'k Model>,
    allowed: &'k AllowedInputs,
}

fn talk(mut link: impl Link, known: Known<'_>, connection: &Connection) -> (Vec<Check>, String) {
    let mut checks = Checks::default();
    let opened = patiently(connection.reach, connection.interrupt, || link.open().map_err(Tried::from));
    if let Some(mut wire) = checks.take("start", opened, |_| String::new()) {
        let mut talk = Talk { wire: &mut wire, known, connection, checks: &mut checks, next_id: 0 };
        if talk.all().is_some() {
            let end = goodbye(&mut wire, &mut link, connection.limit);
            checks.take("bye", end, Clone::clone);
        } else if checks.ended {
            checks.explain(link.status(LAST_BREATH));
        }
        link.close(wire);
    }
    (checks.tried, link.last_words())
}

/// What was tried so far.
#[derive(Default)]
struct Checks {
    tried: Vec<Check>,
    /// The last one failed because the system ended.
    ended: bool,
}

impl Checks {
    fn add(&mut self, name: &str, state: State, note: String) {
        self.tried.push(Check { name: name.to_owned(), state, note });
    }

    /// Adds how the system ended to the last check.
    fn explain(&mut self, status: Option<String>) {
        if let (Some(last), Some(status)) = (self.tried.last_mut(), status) {
            last.note = AdapterError::Ended { status }.to_string();
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
                self.add(name, State::Ok, note(&value));
                Some(value)
            }
            Err(error) => {
                self.ended = matches!(error, AdapterError::Ended { .. } | AdapterError::Closed);
                self.add(name, State::Failed, error.to_string());
                None
            }
        }
    }
}

/// A self-test under way.
struct Talk<'t> {
    wire: &'t mut Wire,
    known: Known<'t>,
    connection: &'t Connection,
    checks: &'t mut Checks,
    next_id: u64,
}

impl Talk<'_> {
    /// Everything but the end; `None` if the connection is of no more use.
    fn all(&mut self) -> Option<()> {
        let hello = hear_hello(self.wire, self.connection.limit);
        let hello = self.checks.take("hello", hello, described)?;
        self.compare(&hello);
        let configure = Message::Configure(Configure { seed: self.connection.seed, ..Configure::default() });
        let ready = self.until_ready(&configure);
        self.checks.take("ready", ready, |took| format!("after {}", shown(*took)))?;
        self.inputs(&hello)?;
        self.resets(hello.reset)
    }

    /// Whether the messages declared are those of the model.
    fn compare(&mut self, hello: &Hello) {
        let Some(model) = self.known.model else { return };
        if hello.labels.is_empty() {
            return self.checks.add("labels", State::Skipped, "it declares no messages".into());
        }
        let declared = |gate: &str, kind: GateKind| {
            let is_it = |info: &LabelInfo| info.label == gate && fits(info.direction, kind);
            kind == GateKind::Internal || hello.labels.iter().any(is_it)
        };
        let gates = model.sts.gates.iter().filter(|gate| !declared(&gate.name, gate.kind));
        let missing: Vec<String> = gates.map(|gate| format!("`{}`", gate.name)).collect();
        if missing.is_empty() {
            self.checks.add("labels", State::Ok, "every message of the model is declared".into())
        } else {
            let note = format!("not declared, or in another direction: {}", missing.join(", "));
            self.checks.add("labels", State::Failed, note);
        }
    }

    /// Gives one input of every kind.
    fn inputs(&mut self, hello: &Hello) -> Option<()> {
        let mut times = Vec::new();
        for info in hello.labels.iter().filter(|info| info.direction == Direction::Input) {
            let name = format!("input {}", info.label);
            let Some(args) = args_of(info, self.known) else {
                self.checks.add(&name, State::Skipped, "no value is known for its fields".into());
                continue;
            };
            match self.input(info, args) {
                Ok((took, outputs)) => {
                    times.push(took);
                    let note = format!("sent after {}, then {outputs} outputs", shown(took));
                    self.checks.add(&name, State::Ok, note);
                }
                Err(AdapterError::Refused(reason)) => {
                    self.checks.add(&name, State::Ok, format!("refused: {reason}"));
                }
                Err(error) => return self.checks.take(&name, Err(error), |()| String::new()),
            }
        }
        match times.iter().max() {
            Some(most) => {
                let note = format!("{} inputs, the slowest after {}", times.len(), shown(*most));
                self.checks.add("receipts", State::Ok, note);
            }
            None => self.checks.add("receipts", State::Skipped, "no input could be given".into()),
        }
        Some(())
    }

    /// How long the receipt took, and how many outputs came.
    fn input(
        &mut self,
        info: &LabelInfo,
        args: serde_json::Map<String, serde_json::Value>,
    ) -> Result<(Duration, usize), AdapterError> {
        self.next_id += 1;
        let (id, start) = (self.next_id, Instant::now());
        self.wire.write(&Message::Input(Input { id, label: info.label.clone(), args }))?;
        let mut outputs = 0;
        let limit = self.connection.limit;
        let took = loop {
            match self.wire.read(start + limit)? {
                Some(Message::Sent(sent)) if sent.id == id => break start.elapsed(),
                Some(Message::Output(output)) if outputs < MAX_OUTPUTS => {
                    self.output(output)?;
                    outputs += 1;
                }
                Some(other) => return Err(out_of_place(&other)),
                None => return Err(AdapterError::Late { awaited: "sent", limit }),
            }
        };
        while outputs < MAX_OUTPUTS {
            match self.wire.read(Instant::now() + LISTEN)? {
                Some(Message::Output(output)) => self.output(output)?,
                Some(other) => return Err(out_of_place(&other)),
                None => break,
            }
            outputs += 1;
        }
        Ok((took, outputs))
    }

    /// An output must be one of the model.
    fn output(&self, output: Output) -> Result<(), AdapterError> {
        self.known.model.map_or(Ok(()), |model| decoded(model, output).map(|_| ()))
    }

    fn resets(&mut self, kind: ResetKind) -> Option<()> {
        match kind {
            ResetKind::Message => (),
            ResetKind::Restart => {
                self.checks.add("reset", State::Skipped, "it is reset by a restart".into());
                return Some(());
            }
            ResetKind::None => {
                self.checks.add("reset", State::Skipped, "it cannot be reset".into());
                return Some(());
            }
        }
        for name in ["reset", "reset again"] {
            let ready = self.until_ready(&Message::Reset(Reset {}));
            self.checks.take(name, ready, |took| format!("ready after {}", shown(*took)))?;
        }
        Some(())
    }

    fn until_ready(&mut self, message: &Message) -> Result<Duration, AdapterError> {
        let start = Instant::now();
        self.wire.write(message)?;
        super::remote::await_ready(self.wire, self.connection.limit)?;
        Ok(start.elapsed())
    }
}

/// Says goodbye and waits for the end.
fn goodbye(wire: &mut Wire, link: &mut impl Link, limit: Duration) -> Result<String, AdapterError> {
    wire.write(&Message::Bye(Bye {}))?;
    let deadline = Instant::now() + limit;
    loop {
        match wire.read(deadline) {
            Err(AdapterError::Ended { .. } | AdapterError::Closed) => break,
            Err(error) => return Err(error),
            Ok(Some(Message::Output(_))) if Instant::now() < deadline => (),
            Ok(Some(other)) => return Err(out_of_place(&other)),
            Ok(None) => return Err(AdapterError::Late { awaited: "bye", limit }),
        }
    }
    match link.status(limit) {
        Some(status) if status.ends_with(": 0") => Ok(status),
        Some(status) => Err(AdapterError::Ended { status }),
        None => Ok("the connection was closed".into()),
    }
}

fn fits(direction: Direction, kind: GateKind) -> bool {
    match kind {
        GateKind::Internal => true,
        GateKind::Input => direction == Direction::Input,
        GateKind::Observed => direction == Direction::Observed,
        GateKind::Output => direction == Direction::Output,
    }
}

fn described(hello: &Hello) -> String {
    let reset = match hello.reset {
        ResetKind::Message => "by message",
        ResetKind::Restart => "by restart",
        ResetKind::None => "not possible",
    };
    let (name, labels) = (crate::line::cut(&hello.name, 40), hello.labels.len());
    format!("`{name}`, protocol {}, {labels} messages, reset {reset}", hello.protocol)
}

fn shown(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests;
