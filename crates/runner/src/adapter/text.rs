//! A system that speaks a text protocol of its own, over TCP or a child's standard streams.
//!
//! There is no adapter in between: inputs are written by templates and outputs read by
//! patterns. An input counts as taken once it is written. A reset connects (or starts) afresh
//! and then, where the state outlives a connection, says the reset text and awaits one answer.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::Model;

use super::process::Process;
use super::tcp::Socket;
use super::{Adapter, AdapterError, Connection, Observation, Sent, SutSpec};
use crate::codec::text::{Decoded, TextCodec, TextConfig};
use crate::line::{Line, MAX_LINE, cut, next_line};

/// Frames read ahead.
const READ_AHEAD: usize = 1024;

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

/// Where a frame ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// At the end of a line.
    #[default]
    Line,
    /// At this text.
    Delimiter(String),
    /// After as many bytes as a number of this many bytes says, most significant first; inputs get one too.
    Length(usize),
}

/// A system that speaks text.
pub struct TextAdapter {
    link: Transport,
    model: Arc<Model>,
    codec: TextCodec,
    speech: Speech,
    limit: Duration,
    live: Option<Live>,
}

enum Transport {
    Process(Process),
    Socket(Socket),
}

/// A connection.
struct Live {
    frames: Receiver<io::Result<Line>>,
    writer: Box<dyn Write + Send>,
    /// The beginning of a message.
    begun: Option<String>,
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
        let limit = connection.limit;
        let link = match spec {
            SutSpec::Stdio(command) => Transport::Process(Process::new(command, &connection.environment)),
            SutSpec::Tcp(address) => Transport::Socket(Socket::new(address, limit)),
            SutSpec::Model(file) => {
                let reason = "a model speaks no text".into();
                return Err(AdapterError::Start { what: file.clone(), reason });
            }
        };
        let codec = TextCodec::new(&speech.text, &model)
            .map_err(|reason| AdapterError::Start { what: "the text codec".into(), reason })?;
        Ok(Self { link, model, codec, speech, limit, live: None })
    }

    fn open(&mut self) -> Result<Live, AdapterError> {
        let framing = self.speech.framing.clone();
        let (frames, writer): (_, Box<dyn Write + Send>) = match &mut self.link {
            Transport::Process(process) => {
                let (reader, writer) = process.streams()?;
                (read_frames(reader, framing), Box::new(writer))
            }
            Transport::Socket(socket) => {
                let (reader, writer) = socket.streams()?;
                (read_frames(reader, framing), Box::new(writer))
            }
        };
        Ok(Live { frames, writer, begun: None })
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

    /// The next message before `deadline`.
    fn next(&mut self, deadline: Instant) -> Result<Option<Label>, AdapterError> {
        loop {
            let live = self.live()?;
            let Some(frame) = live.frame(deadline)? else {
                return match &live.begun {
                    // A message that was never finished is no silence, except for a mere look.
                    Some(begun) if !deadline.elapsed().is_zero() => Err(odd(begun, "half a message")),
                    _ => Ok(None),
                };
            };
            let text = live.begun.take().map_or(frame.clone(), |begun| format!("{begun}\n{frame}"));
            match self.codec.decode(&self.model, &text) {
                Ok(Decoded::Label(label)) => return Ok(Some(label)),
                Ok(Decoded::More) if text.len() < MAX_LINE => self.live()?.begun = Some(text),
                Ok(Decoded::More) => return Err(odd(&text, "the message is too long")),
                Err(reason) => return Err(odd(&text, &reason)),
            }
        }
    }
}

impl Adapter for TextAdapter {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.live = None;
        self.live = Some(self.open()?);
        let Some(reset) = self.speech.reset.clone() else { return Ok(()) };
        self.write(&reset)?;
        let limit = self.limit;
        match self.live()?.frame(Instant::now() + limit)? {
            Some(_) => Ok(()),
            None => Err(AdapterError::Late { awaited: "answer to the reset", limit }),
        }
    }

    fn send(&mut self, input: &Label) -> Result<Sent, AdapterError> {
        let text = self.codec.encode(&self.model, input).map_err(AdapterError::Refused)?;
        self.write(&text)?;
        Ok(Sent::default())
    }

    fn poll(&mut self) -> Result<Option<Label>, AdapterError> {
        let live = self.live()?;
        match live.begun {
            None => self.next(Instant::now() + Duration::from_nanos(1)),
            Some(_) => self.next(Instant::now() + self.limit),
        }
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.next(Instant::now() + patience)?.map_or(Observation::Quiet, Observation::Output))
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

impl Live {
    /// The next frame; the end of the stream is never silence.
    fn frame(&mut self, deadline: Instant) -> Result<Option<String>, AdapterError> {
        match self.frames.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(Line::Text(text))) => Ok(Some(text)),
            Ok(Ok(Line::TooLong(start))) => Err(odd(&start, "the frame is too long")),
            Ok(Ok(Line::NotText(shown))) => Err(odd(&shown, "the frame is not UTF-8")),
            Ok(Err(error)) => Err(AdapterError::Broken(error.to_string())),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(AdapterError::Ended { status: "it closed the connection".into() })
            }
        }
    }
}

fn odd(text: &str, reason: &str) -> AdapterError {
    AdapterError::Protocol { line: format!("{:?}", cut(text, 200)), reason: reason.to_owned() }
}

fn framed(framing: &Framing, text: &str) -> Result<Vec<u8>, String> {
    let Framing::Length(width) = framing else { return Ok(text.as_bytes().to_vec()) };
    let length = (text.len() as u64).to_be_bytes();
    let (high, low) = length.split_at(length.len().saturating_sub(*width));
    if high.iter().any(|&byte| byte != 0) {
        return Err("the message is too long for its length prefix".into());
    }
    Ok([low, text.as_bytes()].concat())
}

/// Reads frames in a thread of its own; a flood has to wait.
fn read_frames(mut reader: impl BufRead + Send + 'static, framing: Framing) -> Receiver<io::Result<Line>> {
    let (sender, receiver) = sync_channel(READ_AHEAD);
    std::thread::spawn(move || {
        while let Some(frame) = next_frame(&mut reader, &framing).transpose() {
            let is_last = !matches!(frame, Ok(Line::Text(_) | Line::NotText(_)));
            if sender.send(frame).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

fn next_frame(reader: &mut impl BufRead, framing: &Framing) -> io::Result<Option<Line>> {
    match framing {
        Framing::Line => next_line(reader),
        Framing::Delimiter(mark) => up_to(reader, mark.as_bytes()),
        Framing::Length(width) => by_length(reader, *width),
    }
}

fn up_to(reader: &mut impl BufRead, mark: &[u8]) -> io::Result<Option<Line>> {
    let (mut bytes, last) = (Vec::new(), *mark.last().unwrap_or(&b'\n'));
    loop {
        let limit = (MAX_LINE + 1 - bytes.len().min(MAX_LINE)) as u64;
        let read = reader.by_ref().take(limit).read_until(last, &mut bytes)?;
        if bytes.ends_with(mark) {
            bytes.truncate(bytes.len() - mark.len());
            return Ok(Some(text_of(bytes)));
        }
        match (read, bytes.is_empty()) {
            (0, true) => return Ok(None),
            (0, false) => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if bytes.len() > MAX_LINE => {
                return Ok(Some(Line::TooLong(cut(&String::from_utf8_lossy(&bytes[..256]), 80))));
            }
            _ => (),
        }
    }
}

fn by_length(reader: &mut impl BufRead, width: usize) -> io::Result<Option<Line>> {
    if reader.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut prefix = vec![0; width];
    reader.read_exact(&mut prefix)?;
    let length = prefix.iter().fold(0u64, |sum, &byte| sum.saturating_mul(256).saturating_add(byte.into()));
    if length > MAX_LINE as u64 {
        return Ok(Some(Line::TooLong(format!("a frame of {length} bytes"))));
    }
    let mut bytes = vec![0; length as usize];
    reader.read_exact(&mut bytes)?;
    Ok(Some(text_of(bytes)))
}

fn text_of(bytes: Vec<u8>) -> Line {
    match String::from_utf8(bytes) {
        Ok(text) => Line::Text(text),
        Err(error) => Line::NotText(cut(&String::from_utf8_lossy(error.as_bytes()), 80)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_end_where_they_should() {
        let frames = |mut bytes: &[u8], framing: &Framing| {
            let mut found = Vec::new();
            while let Ok(Some(Line::Text(text))) = next_frame(&mut bytes, framing) {
                found.push(text);
            }
            found
        };
        assert_eq!(frames(b"a\r\nb\n", &Framing::Line), ["a", "b"]);
        assert_eq!(frames(b"a;b;;c;;", &Framing::Delimiter(";;".into())), ["a;b", "c"]);
        assert_eq!(frames(b"\0\x02ab\0\x01c\xff\xff", &Framing::Length(2)), ["ab", "c"]);
        assert_eq!(framed(&Framing::Length(2), "ab"), Ok(b"\0\x02ab".to_vec()));
        assert!(framed(&Framing::Length(1), &"x".repeat(256)).is_err());
    }
}
