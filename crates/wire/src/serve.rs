//! The system's side of the protocol: a model, simulated over pipes or sockets.
//!
//! Speaks [`protocol`](crate::protocol): says `hello` at once, begins at `configure`,
//! writes every output as soon as the player makes it, one flushed line each. `sent` is
//! written when the player has taken the input, so what stands before it came before it.
//! Where input and output are both possible, a seeded coin decides whether the player
//! speaks or first listens for a moment, so both orders happen. A timed model speaks at the instants its
//! player plans, on the clock of this machine or, if the tool wants virtual time, when told to advance.
//!
//! *Promises.* No line makes it panic: what it does not understand is answered by `error`.
//! The end of the stream ends it in good order.

mod tcp;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, Model, Sts};
use ioxide_model::term::TermPool;
use ioxide_record::clock::{duration, seconds};
use ioxide_record::line::{LineRead, next_line};
use ioxide_record::value::{CodecError, WireMessage, label_from_json, label_to_json};
use ioxide_smt::solver::Solver;
use ioxide_symex::Ctx;
use thiserror::Error;

use crate::player::{ModelPlayer, PlayError};
use crate::protocol::{
    AdvanceMessage, AdvancedMessage, ByeMessage, ConfigureMessage, FailureKind, FieldInfo, HelloMessage,
    InputMessage, LabelInfo, LogLevel, LogMessage, MessageDirection, ProtocolMessage, ReadyMessage,
    ResetKind, SentMessage, SystemFailure, VERSION,
};

pub use self::tcp::{ListenerEvent, serve_tcp};

/// Lines read ahead of the player. Chosen by feel: enough that reading and playing do not wait for each other.
const READ_AHEAD: usize = 64;
/// The number of outputs in a row after which the player looks whether a line has arrived. Chosen by feel: a player
/// that never stops speaking must still hear.
const OUTPUTS_BETWEEN_READS: u32 = 64;
/// The time for which the player listens where it could also speak. Chosen by feel: long enough for a message on the
/// same machine, short enough not to slow a chatty model down.
const LISTEN_TIME: Duration = Duration::from_millis(2);

/// Makes a solver for one player.
pub type NewSolver = dyn Fn() -> Box<dyn Solver> + Send + Sync;

/// The orderly end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServeEnd {
    /// The tool said goodbye.
    Bye,
    /// The tool closed the stream.
    Closed,
}

/// Plays `model` to the tool that writes to `reader` and reads from `writer`.
///
/// `seed` counts unless the tool asks for another.
///
/// # Errors
/// If the model cannot be played at all, told as [`io::ErrorKind::Unsupported`], or the
/// streams fail other than by being closed.
pub fn serve(
    model: &Model,
    new_solver: &NewSolver,
    seed: u64,
    reader: impl BufRead + Send + 'static,
    writer: impl Write,
) -> io::Result<ServeEnd> {
    let mut own = model.clone();
    let mut solver = new_solver();
    let cx = Ctx::new(&mut own, &mut *solver);
    let player =
        ModelPlayer::new(cx, seed).map_err(|error| io::Error::new(io::ErrorKind::Unsupported, error))?;
    let lines = read_ahead(reader, READ_AHEAD);
    let mut talk = Conversation {
        model,
        player,
        writer,
        coin: ChaCha8Rng::seed_from_u64(seed),
        since: Instant::now(),
        time: PlayerTime::None,
        phase: PlayerPhase::Unconfigured,
        spoken: 0,
    };
    match talk.serve_lines(&lines) {
        Err(error) if is_closed(&error) => Ok(ServeEnd::Closed),
        ended => ended,
    }
}

/// Reads lines in a thread of its own, at most `n` of them ahead of the receiver.
///
/// A stream that floods us has to wait, so it cannot fill our memory.
fn read_ahead(mut reader: impl BufRead + Send + 'static, n: usize) -> Receiver<io::Result<LineRead>> {
    let (sender, receiver) = sync_channel(n);
    std::thread::spawn(move || {
        while let Some(line) = next_line(&mut reader).transpose() {
            // An error of the stream is handed over as well; nothing can be read behind it.
            let is_last = line.is_err();
            if sender.send(line).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
}

/// One conversation.
struct Conversation<'m, W> {
    model: &'m Model,
    player: ModelPlayer<'m>,
    writer: W,
    coin: ChaCha8Rng,
    since: Instant,
    time: PlayerTime,
    phase: PlayerPhase,
    /// Outputs written since a line was last heard.
    spoken: u32,
}

/// The time of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlayerTime {
    /// The model has no clocks.
    None,
    /// The clock of this machine, from this instant.
    Wall(Instant),
    /// Virtual time, which passes on request of the tool.
    Virtual,
}

/// The activity of the player while no line arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlayerPhase {
    /// It waits to be configured.
    Unconfigured,
    /// It may have something to say.
    Active,
    /// It has nothing to say until it gets an input.
    Quiet,
    /// It cannot go on until it is reset.
    Broken,
}

impl<W: Write> Conversation<'_, W> {
    fn serve_lines(&mut self, lines: &Receiver<io::Result<LineRead>>) -> io::Result<ServeEnd> {
        self.write(&ProtocolMessage::Hello(hello(&self.model.pool, &self.model.sts)))?;
        loop {
            let line = match self.next_line(lines) {
                Ok(line) => line?,
                Err(RecvTimeoutError::Timeout) => {
                    self.write_next_output()?;
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(ServeEnd::Closed),
            };
            // A line was heard, so the player may speak its full share again.
            self.spoken = 0;
            if let Some(ended) = self.handle_line(line)? {
                return Ok(ended);
            }
        }
    }

    /// The next line; [`RecvTimeoutError::Timeout`] if it is the player's turn to speak.
    fn next_line(
        &mut self,
        lines: &Receiver<io::Result<LineRead>>,
    ) -> Result<io::Result<LineRead>, RecvTimeoutError> {
        // Nothing can be said before the next line: virtual time passes only when the tool asks for it.
        if self.phase != PlayerPhase::Active || self.time == PlayerTime::Virtual {
            return lines.recv().map_err(|_| RecvTimeoutError::Disconnected);
        }
        if let PlayerTime::Wall(start) = self.time {
            return self.listen_in_time(lines, start);
        }
        // Both orders of an input and an output that race should be seen; without the coin the player would always win.
        if self.player.may_take_input() && self.coin.random() {
            return lines.recv_timeout(LISTEN_TIME);
        }
        // A model that never runs out of outputs would otherwise never read: it looks once in a while,
        // without waiting.
        if self.spoken >= OUTPUTS_BETWEEN_READS {
            self.spoken = 0;
            return lines.recv_timeout(Duration::ZERO);
        }
        Err(RecvTimeoutError::Timeout)
    }

    /// The next line before the player's next instant.
    fn listen_in_time(
        &mut self,
        lines: &Receiver<io::Result<LineRead>>,
        start: Instant,
    ) -> Result<io::Result<LineRead>, RecvTimeoutError> {
        match self.player.next_instant() {
            Ok(None) => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Ok(Some(at)) => {
                let wait = (start + duration(&at)).saturating_duration_since(Instant::now());
                lines.recv_timeout(wait)
            }
            // The player reports the error when it is asked for an output.
            Err(_) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Brings the player to the instant it is; writes what it says on the way.
    fn catch_up(&mut self) -> io::Result<()> {
        let PlayerTime::Wall(start) = self.time else { return Ok(()) };
        let until = seconds(start.elapsed());
        self.pass_until(&until).map(drop)
    }

    /// Lets time pass, and writes what the player says on the way, up to its first message if time is
    /// virtual.
    fn pass_until(&mut self, until: &Rational) -> io::Result<()> {
        loop {
            match self.player.pass_until(until) {
                Ok(None) => return Ok(()),
                Ok(Some(label)) => {
                    self.write_output(&label)?;
                    // The tool is told the instant of this message before time goes on, as it may react to it.
                    if self.time == PlayerTime::Virtual {
                        return Ok(());
                    }
                }
                Err(error) => return self.send_failure(&error),
            }
        }
    }

    /// Lets virtual time pass.
    fn advance(&mut self, advance: &AdvanceMessage) -> io::Result<()> {
        match (self.time, self.phase) {
            (PlayerTime::Virtual, PlayerPhase::Active | PlayerPhase::Quiet) => (),
            (PlayerTime::Virtual, PlayerPhase::Unconfigured | PlayerPhase::Broken) => {
                return self.refuse(None, "the model is stuck; reset it".into());
            }
            (PlayerTime::None | PlayerTime::Wall(_), _) => {
                return self.refuse(None, "this system has no virtual time".into());
            }
        }
        // Without an instant the tool asks for the next thing that happens.
        let until = match advance.to_ns {
            Some(to) => Ok(Some(seconds(Duration::from_nanos(to)))),
            None => self.player.next_instant(),
        };
        match until {
            Ok(Some(until)) => self.pass_until(&until)?,
            Ok(None) => (),
            Err(error) => return self.send_failure(&error),
        }
        // The error was the answer; the tool must not take `advanced` for a sign that all is well.
        if self.phase == PlayerPhase::Broken {
            return Ok(());
        }
        let next = if advance.foresee { self.player.next_instant() } else { Ok(None) };
        match next {
            Ok(next) => {
                let (now_ns, next_ns) = (nanoseconds(self.player.now()), next.as_ref().map(nanoseconds));
                self.write(&ProtocolMessage::Advanced(AdvancedMessage { now_ns, next_ns }))
            }
            Err(error) => self.send_failure(&error),
        }
    }

    /// Writes the next output of the player, if there is one.
    fn write_next_output(&mut self) -> io::Result<()> {
        if let PlayerTime::Wall(_) = self.time {
            return self.catch_up();
        }
        match self.player.react() {
            Ok(Some(label)) => {
                self.spoken += 1;
                self.write_output(&label)
            }
            Ok(None) => {
                self.phase = PlayerPhase::Quiet;
                Ok(())
            }
            Err(error) => self.send_failure(&error),
        }
    }

    /// Acts on one line.
    fn handle_line(&mut self, line: LineRead) -> io::Result<Option<ServeEnd>> {
        let text = match line {
            LineRead::Text(text) => text,
            LineRead::TooLong(start) => {
                // A line that cannot be read ends nothing: the next one may be fine.
                self.refuse(None, format!("the line is too long: {start}"))?;
                return Ok(None);
            }
            LineRead::NotText(shown) => {
                self.refuse(None, format!("the line is not UTF-8: {shown}"))?;
                return Ok(None);
            }
        };
        if text.trim().is_empty() {
            return Ok(None);
        }
        match ProtocolMessage::from_line(&text) {
            Ok(message) => self.obey(message),
            Err(bad) => self.refuse(None, bad.to_string()).map(|()| None),
        }
    }

    /// Does what a message asks for; returns the end if it ends the conversation.
    fn obey(&mut self, message: ProtocolMessage) -> io::Result<Option<ServeEnd>> {
        match message {
            ProtocolMessage::Configure(configure) => self.configure(&configure)?,
            ProtocolMessage::Reset(_) if self.phase != PlayerPhase::Unconfigured => {
                let started = self.player.reset();
                self.begin_run(started)?;
            }
            ProtocolMessage::Input(input) => self.input(input)?,
            ProtocolMessage::Advance(advance) => self.advance(&advance)?,
            ProtocolMessage::Log(_) => (),
            ProtocolMessage::Bye(_) => {
                self.write(&ProtocolMessage::Bye(ByeMessage {}))?;
                return Ok(Some(ServeEnd::Bye));
            }
            ProtocolMessage::Reset(_) => self.refuse(None, "`configure` must come first".into())?,
            ProtocolMessage::Hello(_)
            | ProtocolMessage::Ready(_)
            | ProtocolMessage::Sent(_)
            | ProtocolMessage::Output(_)
            | ProtocolMessage::Advanced(_)
            | ProtocolMessage::Error(_) => {
                self.refuse(None, "this message is the system's, not the tool's".into())?;
            }
        }
        Ok(None)
    }

    /// Takes over the clock and the seed, and starts a run; unknown settings are warned about.
    fn configure(&mut self, configure: &ConfigureMessage) -> io::Result<()> {
        if let Some(name) = configure.settings.keys().next() {
            let text = format!("there is no setting `{}`", ioxide_record::line::cut(name, 40));
            self.write(&ProtocolMessage::Log(LogMessage { level: LogLevel::Warn, text }))?;
        }
        self.time = match (self.player.is_timed(), configure.virtual_time) {
            (false, _) => PlayerTime::None,
            (true, true) => PlayerTime::Virtual,
            (true, false) => PlayerTime::Wall(Instant::now()),
        };
        // The first run begins as the player was made. A later `configure` without a seed is a reset.
        let started = match configure.seed {
            Some(seed) => {
                self.coin = ChaCha8Rng::seed_from_u64(seed);
                self.player.reseed(seed)
            }
            None if self.phase == PlayerPhase::Unconfigured => Ok(()),
            None => self.player.reset(),
        };
        self.begin_run(started)
    }

    fn begin_run(&mut self, started: Result<(), PlayError>) -> io::Result<()> {
        match started {
            Ok(()) => {
                self.phase = PlayerPhase::Active;
                // The time of a run begins when the tool is told that it may start.
                if let PlayerTime::Wall(start) = &mut self.time {
                    *start = Instant::now();
                }
                self.write(&ProtocolMessage::Ready(ReadyMessage::default()))
            }
            Err(error) => self.send_failure(&error),
        }
    }

    /// Gives an input to the model and confirms it.
    fn input(&mut self, input: InputMessage) -> io::Result<()> {
        let id = input.id;
        match self.phase {
            PlayerPhase::Unconfigured => return self.refuse(Some(id), "`configure` must come first".into()),
            PlayerPhase::Broken => return self.refuse(Some(id), "the model is stuck; reset it".into()),
            PlayerPhase::Active | PlayerPhase::Quiet => (),
        }
        let label = match self.decode(input) {
            Ok(label) => label,
            Err(unfit) => return self.refuse(Some(id), unfit.to_string()),
        };
        // What was due before the input must be said before it is taken: `sent` divides the two.
        self.catch_up()?;
        match self.player.input(&label) {
            Ok(_) => {
                // An input may wake a player that had nothing to say.
                self.phase = PlayerPhase::Active;
                let time_ns = self.time_ns();
                self.write(&ProtocolMessage::Sent(SentMessage { id, time_ns, raw: None, outputs: None }))
            }
            Err(error) => self.send_failure(&error),
        }
    }

    /// Returns the label of an input; values out of range are refused.
    fn decode(&self, input: InputMessage) -> Result<Label, InputUnfit> {
        let message = WireMessage { label: input.label, args: input.args };
        let label = label_from_json(self.model, &message, GateKind::is_input)?;
        match out_of_range(self.model, &label) {
            Some(field) => Err(InputUnfit::OutOfRange { label: message.label, field }),
            None => Ok(label),
        }
    }

    fn write_output(&mut self, label: &Label) -> io::Result<()> {
        let Some(message) = label_to_json(&self.model.pool, &self.model.sts, label) else { return Ok(()) };
        let mut output = crate::protocol::OutputMessage::from(message);
        output.time_ns = self.time_ns();
        self.write(&ProtocolMessage::Output(output))
    }

    fn send_failure(&mut self, error: &PlayError) -> io::Result<()> {
        self.phase = PlayerPhase::Broken;
        let failure = SystemFailure {
            kind: FailureKind::Broken,
            text: error.to_string(),
            id: None,
            traceback: String::new(),
        };
        self.write(&ProtocolMessage::Error(failure))
    }

    /// Answers that a message is refused.
    fn refuse(&mut self, id: Option<u64>, text: String) -> io::Result<()> {
        self.write(&ProtocolMessage::Error(SystemFailure {
            kind: FailureKind::Refused,
            text,
            id,
            traceback: String::new(),
        }))
    }

    fn time_ns(&self) -> Option<u64> {
        u64::try_from(self.since.elapsed().as_nanos()).ok()
    }

    /// Writes one line in one write, and flushes it.
    fn write(&mut self, message: &ProtocolMessage) -> io::Result<()> {
        let mut line = message.to_line();
        line.push('\n');
        self.writer.write_all(line.as_bytes())?;
        self.writer.flush()
    }
}

/// Returns a time in nanoseconds.
fn nanoseconds(time: &Rational) -> u64 {
    u64::try_from(duration(time).as_nanos()).unwrap_or(u64::MAX)
}

/// The reason why an input cannot be given to the model.
#[derive(Debug, Error)]
enum InputUnfit {
    #[error(transparent)]
    Codec(#[from] CodecError),
    #[error("`{label}.{field}`: outside the range of its sort")]
    OutOfRange { label: String, field: String },
}

/// The first field of `label` whose value lies outside its sort.
fn out_of_range(model: &Model, label: &Label) -> Option<String> {
    let (Label::Input(gate, values) | Label::Output(gate, values)) = label else { return None };
    let fields = model.sts.gates[*gate].fields.iter();
    let (field, _) =
        fields.zip(values).find(|(field, value)| !model.pool.has_sort(value, model.field_sort(**field)))?;
    Some(model.pool.var_info(*field).name.to_string())
}

/// Returns the greeting of a played model.
#[must_use]
pub fn hello(pool: &TermPool, sts: &Sts) -> HelloMessage {
    let direction = |kind| match kind {
        GateKind::Internal => None,
        GateKind::Input => Some(MessageDirection::Input),
        GateKind::Observed => Some(MessageDirection::Observed),
        GateKind::Output => Some(MessageDirection::Output),
    };
    let field = |&field| {
        let info = pool.var_info(field);
        FieldInfo { name: info.name.to_string(), sort: pool.show_sort(info.sort) }
    };
    let labels = sts.gates.iter().filter_map(|gate| {
        let fields = gate.fields.iter().map(field).collect();
        Some(LabelInfo { label: gate.name.to_string(), direction: direction(gate.kind)?, fields })
    });
    HelloMessage {
        protocol: VERSION,
        name: sts.name.to_string(),
        labels: labels.collect(),
        reset: ResetKind::Message,
        virtual_time: sts.is_timed(),
        foresight: sts.is_timed(),
        ..HelloMessage::default()
    }
}
