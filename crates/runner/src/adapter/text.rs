//! A system that speaks a text protocol of its own, over TCP or a child's standard streams.
//!
//! There is no adapter in between: inputs are written by templates and outputs read by
//! patterns. An input counts as taken once it is written. A reset connects (or starts) afresh
//! and then, where the state outlives a connection, says the reset text and awaits one answer.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::Model;

use super::frames::{Frames, framed, odd};
use super::process::Process;
use super::remote::Link;
use super::tcp::Socket;
use super::{Adapter, AdapterError, Connection, Framing, Interrupt, Observation, Receipt, Sent, SutSpec};
use crate::codec::text::{Decoded, TextCodec, TextConfig};
use crate::line::MAX_LINE;

/// Between the end of its frames and the end of a process.
const LAST_BREATH: Duration = Duration::from_millis(100);
/// How long the rest of a message may take whose beginning came in time.
const REST: Duration = Duration::from_secs(2);

/// How a system speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speech {
    /// Templates and patterns.
    pub text: TextConfig,
    /// Where a frame ends.
    pub framing: Framing,
    /// Said after connecting, to bring the system to its initial state; answered by one frame.
    pub reset: Option<String>,
}

/// A system that speaks text.
pub struct TextAdapter {
    link: Transport,
    model: Arc<Model>,
    codec: TextCodec,
    speech: Speech,
    limit: Duration,
    interrupt: Interrupt,
    live: Option<Live>,
}

enum Transport {
    Process(Process),
    Socket(Socket),
}

/// A connection.
struct Live {
    frames: Frames,
    writer: Box<dyn Write + Send>,
    /// The beginning of a message.
    begun: Option<String>,
    /// The last message as it came.
    raw: Option<String>,
}

impl TextAdapter {
    /// The system at `spec`, which is reached at the first reset.
    ///
    /// # Errors
    /// If templates and patterns do not fit the model.
    pub fn new(
        spec: &SutSpec,
        speech: Speech,
        model: Arc<Model>,
        connection: &Connection,
    ) -> Result<Self, AdapterError> {
        let Connection { limit, interrupt, .. } = *connection;
        let link = match spec {
            SutSpec::Stdio(command) => Transport::Process(Process::new(command, connection)),
            SutSpec::Tcp(address) => {
                Transport::Socket(Socket::new(address, connection).timed(model.sts.is_timed()))
            }
            SutSpec::Model(file) => {
                let reason = "a model speaks no text".into();
                return Err(AdapterError::Start { what: file.clone(), reason });
            }
        };
        let codec = TextCodec::new(&speech.text, &model)
            .map_err(|reason| AdapterError::Start { what: "the text codec".into(), reason })?;
        Ok(Self { link, model, codec, speech, limit, interrupt, live: None })
    }

    fn open(&mut self) -> Result<Live, AdapterError> {
        let framing = self.speech.framing.clone();
        let (frames, writer): (_, Box<dyn Write + Send>) = match &mut self.link {
            Transport::Process(process) => {
                let (reader, writer) = process.streams()?;
                (Frames::new(reader, framing, self.interrupt), Box::new(writer))
            }
            Transport::Socket(socket) => {
                let (reader, writer) = socket.streams()?;
                (Frames::new(reader, framing, self.interrupt), Box::new(writer))
            }
        };
        Ok(Live { frames, writer, begun: None, raw: None })
    }

    fn live(&mut self) -> Result<&mut Live, AdapterError> {
        self.live.as_mut().ok_or_else(|| AdapterError::Ended { status: "it is not running".into() })
    }

    fn write(&mut self, text: &str) -> Result<(), AdapterError> {
        let bytes = framed(&self.speech.framing, text).map_err(AdapterError::Refused)?;
        let writer = &mut self.live()?.writer;
        let written = writer.write_all(&bytes).and_then(|()| writer.flush());
        written.map_err(|error| AdapterError::Ended { status: format!("it takes no more input ({error})") })
    }

    /// The next message, or `None` if none has begun at `deadline`. A deadline that has passed is a mere look.
    fn next(&mut self, deadline: Instant) -> Result<Option<Label>, AdapterError> {
        let is_look = deadline <= Instant::now();
        let mut deadline = deadline;
        loop {
            let live = self.live()?;
            let Some(frame) = live.frames.next(deadline)? else {
                return match &live.begun {
                    // A message that was never finished is no silence.
                    Some(begun) if !is_look => Err(odd(begun.as_bytes(), "half a message")),
                    _ => Ok(None),
                };
            };
            let text = live.begun.take().map_or(frame.clone(), |begun| format!("{begun}\n{frame}"));
            match self.codec.decode(&self.model, &text) {
                Ok(Decoded::Label(label)) => {
                    self.live()?.raw = Some(text);
                    return Ok(Some(label));
                }
                Ok(Decoded::More) if text.len() < MAX_LINE => self.live()?.begun = Some(text),
                Ok(Decoded::More) => return Err(odd(text.as_bytes(), "the message is too long")),
                Err(reason) => return Err(odd(text.as_bytes(), &reason)),
            }
            if !is_look {
                deadline = deadline.max(Instant::now() + REST);
            }
        }
    }

    /// How the process ended, if there is one and it has.
    fn status(&mut self, patience: Duration) -> Option<String> {
        match &mut self.link {
            Transport::Process(process) => process.status(patience),
            Transport::Socket(_) => None,
        }
    }

    /// `error`, with the exit status if the system has ended.
    fn explained(&mut self, error: AdapterError) -> AdapterError {
        if !matches!(error, AdapterError::Ended { .. } | AdapterError::Closed) {
            return error.of_system();
        }
        self.status(LAST_BREATH).map_or(error, |status| AdapterError::Ended { status })
    }

    /// Says the reset text and waits for its answer.
    fn say_reset(&mut self) -> Result<(), AdapterError> {
        let Some(reset) = self.speech.reset.clone() else { return Ok(()) };
        self.write(&reset)?;
        let limit = self.limit;
        match self.live()?.frames.next(Instant::now() + limit)? {
            Some(_) => Ok(()),
            None => Err(AdapterError::Late { awaited: "answer to the reset", limit }),
        }
    }
}

impl Adapter for TextAdapter {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.live = None;
        self.live = Some(self.open()?);
        self.say_reset().map_err(|error| self.explained(error))
    }

    fn send(&mut self, input: &Label) -> Result<Sent, AdapterError> {
        let text = self.codec.encode(&self.model, input).map_err(AdapterError::Refused)?;
        self.write(&text).map_err(|error| self.explained(error))?;
        Ok(Sent { raw: Some(text), ..Sent::default() })
    }

    fn poll(&mut self) -> Result<Option<Label>, AdapterError> {
        self.next(Instant::now()).map_err(|error| self.explained(error))
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        match self.next(Instant::now() + patience).map_err(|error| self.explained(error))? {
            Some(label) => Ok(Observation::Output(label)),
            // A grandchild may hold its streams open.
            None => match self.status(Duration::ZERO) {
                Some(status) => Err(AdapterError::Ended { status }),
                None => Ok(Observation::Quiet),
            },
        }
    }

    fn receipt(&self) -> Receipt {
        Receipt::Written
    }

    fn exit_status(&mut self) -> Option<i32> {
        match &mut self.link {
            Transport::Process(process) => process.exit_status(),
            Transport::Socket(_) => None,
        }
    }

    fn arrived(&self) -> Option<Instant> {
        self.live.as_ref().map(|live| live.frames.arrived())
    }

    fn raw(&self) -> Option<&str> {
        self.live.as_ref().and_then(|live| live.raw.as_deref())
    }

    fn last_words(&self) -> String {
        match &self.link {
            Transport::Process(process) => process.last_words(),
            Transport::Socket(_) => String::new(),
        }
    }
}

impl Drop for TextAdapter {
    fn drop(&mut self) {
        match &mut self.link {
            Transport::Process(process) => process.kill(),
            Transport::Socket(socket) => socket.hang_up(),
        }
    }
}
