//! The ways to a system that speaks text or binary messages: a process, a socket, datagrams.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use ioxide_record::event::{ScriptPlace, ScriptTls};

use crate::adapter::frames::Frames;
use crate::adapter::ports::{ListenAddress, PortState};
use crate::adapter::process::{PatientWriter, SystemProcess};
use crate::adapter::remote::SystemLink;
use crate::adapter::source::ByteSource;
use crate::adapter::tcp::TcpConnection;
#[cfg(unix)]
use crate::adapter::terminal::{TerminalSource, open_device};
use crate::adapter::udp::{Datagrams, UdpConnection};
use crate::adapter::{
    AdapterError, ErrorStreamHub, Framing, Interrupt, MessageLimits, RemoteConnection, StartProblem, SutSpec,
};
use crate::codec::text::FrameJoining;

/// The way to a system.
pub(super) enum Transport {
    Process(SystemProcess),
    Socket(TcpConnection),
    Datagrams(UdpConnection),
    /// A serial line.
    Device {
        path: String,
        baud: Option<u32>,
    },
    /// The error stream of a process that another connection starts.
    ErrorStream(ErrorStreamHub),
}

/// The messages that arrive: cut out of a stream, or one in each datagram.
pub(super) enum MessageSource {
    Stream(Box<Frames>),
    Datagrams(Datagrams),
}

/// The rules by which messages are cut out of a stream.
pub(super) struct StreamRules {
    pub(super) framing: Framing,
    pub(super) joining: FrameJoining,
    pub(super) limits: MessageLimits,
    pub(super) interrupt: Interrupt,
}

impl Transport {
    /// The way to the system at `spec`, which is not used yet.
    pub(super) fn new(
        spec: &SutSpec,
        connection: &RemoteConnection,
        is_timed: bool,
    ) -> Result<Self, AdapterError> {
        Ok(match spec {
            SutSpec::Stdio(command) => Self::Process(SystemProcess::new(command, connection)),
            SutSpec::Tcp(address) => {
                Self::Socket(TcpConnection::new(address, connection).with_timing(is_timed))
            }
            SutSpec::Unix(path) => {
                let place = ListenAddress::Unix(path.clone());
                Self::Socket(TcpConnection::at(place, connection).with_timing(is_timed))
            }
            SutSpec::Terminal(command) => {
                Self::Process(SystemProcess::new(command, connection).on_terminal())
            }
            SutSpec::Serial { device, baud } => Self::Device { path: device.clone(), baud: *baud },
            // Without a hub from the other connection, an empty one: opening it then reports that there is no
            // process.
            SutSpec::ErrorStream(_) => Self::ErrorStream(connection.error_stream.clone().unwrap_or_default()),
            SutSpec::Udp(address) => Self::Datagrams(UdpConnection::new(address, connection, is_timed)),
            SutSpec::Model(file) => {
                let reason = StartProblem::Description("a simulated model has no text protocol".into());
                return Err(AdapterError::Start { what: file.clone(), reason });
            }
        })
    }

    /// Connects or starts afresh.
    pub(super) fn open(
        &mut self,
        rules: StreamRules,
    ) -> Result<(MessageSource, Box<dyn Write + Send>), AdapterError> {
        let StreamRules { framing, joining, limits, interrupt } = rules;
        let (frames, writer): (Frames, Box<dyn Write + Send>) = match self {
            Self::Process(process) => {
                let (reader, writer) = process.streams()?;
                (Frames::new(reader, framing, limits, interrupt), Box::new(writer))
            }
            Self::Socket(socket) => {
                let (reader, writer) = socket.streams()?;
                (Frames::new(reader, framing, limits, interrupt), Box::new(writer))
            }
            Self::Device { path, baud } => {
                let (reader, writer) = open_line(path, *baud)?;
                (Frames::new(reader, framing, limits, interrupt), writer)
            }
            Self::ErrorStream(hub) => {
                let missing = || AdapterError::Ended { status: "its process is not running".into() };
                // Taken out of the hub: two readers would share the bytes of the stream.
                let reader = hub.take().ok_or_else(missing)?;
                (Frames::new(reader, framing, limits, interrupt), Box::new(io::sink()))
            }
            Self::Datagrams(udp) => {
                let (datagrams, writer) = udp.open()?;
                return Ok((MessageSource::Datagrams(datagrams), Box::new(writer)));
            }
        };
        Ok((MessageSource::Stream(Box::new(frames.with_joining(joining))), writer))
    }

    /// Returns whether a process has read nothing of what it was given.
    pub(super) fn has_read_nothing(&self) -> bool {
        matches!(self, Self::Process(process) if process.has_read_nothing())
    }

    /// Returns the exit status of the process, if there is one and it has ended or ends within `patience`.
    pub(super) fn status(&mut self, patience: Duration) -> Option<ExitStatus> {
        match self {
            Self::Process(process) => process.status(patience),
            Self::Socket(_) | Self::Datagrams(_) | Self::Device { .. } | Self::ErrorStream(_) => None,
        }
    }

    /// Fails if the system is certainly not there any more, although nothing on the connection says so: its process has
    /// ended and a grandchild holds its streams open, or nobody holds the port that its datagrams come from.
    pub(super) fn check_alive(&mut self) -> Result<(), AdapterError> {
        match self {
            // No waiting here: the question is asked between two messages.
            Self::Process(process) => {
                process.status(Duration::ZERO).map_or(Ok(()), |ended| Err(ended.into()))
            }
            Self::Datagrams(udp) if udp.is_gone() => Err(udp.gone_error()),
            Self::Socket(_) | Self::Datagrams(_) | Self::Device { .. } | Self::ErrorStream(_) => Ok(()),
        }
    }

    /// Returns whether the end of the system would be seen on the connection.
    pub(super) fn is_connected(&self) -> bool {
        // Datagrams have no connection that could end.
        !matches!(self, Self::Datagrams(_))
    }

    /// Returns whether the connection can be closed and opened by inputs: a terminal has no end that could be sent, and
    /// an error stream belongs to another connection.
    pub(super) fn can_be_closed(&self) -> bool {
        match self {
            Self::Process(process) => !process.is_on_terminal(),
            Self::Socket(_) | Self::Datagrams(_) => true,
            Self::Device { .. } | Self::ErrorStream(_) => false,
        }
    }

    /// Returns whether it is the error stream of another connection's process, whose end that connection reports.
    pub(super) fn is_error_stream(&self) -> bool {
        matches!(self, Self::ErrorStream(_))
    }

    /// Returns the exit code of a process that has ended.
    pub(super) fn exit_status(&mut self) -> Option<i32> {
        match self {
            Self::Process(process) => process.exit_status(),
            Self::Socket(_) | Self::Datagrams(_) | Self::Device { .. } | Self::ErrorStream(_) => None,
        }
    }

    /// Returns the end of the error stream of a process.
    pub(super) fn last_words(&self) -> String {
        match self {
            Self::Process(process) => process.last_words(),
            Self::Socket(_) | Self::Datagrams(_) | Self::Device { .. } | Self::ErrorStream(_) => {
                String::new()
            }
        }
    }

    /// Returns the place and the encryption, as a script needs them; `None` if no script can reach the system.
    pub(super) fn script_place(&self) -> Option<(ScriptPlace, Option<ScriptTls>)> {
        match self {
            Self::Process(process) if process.is_on_terminal() => None,
            Self::Process(process) => Some((process.script_place(), None)),
            Self::Socket(socket) => Some((socket.script_place()?, socket.script_tls())),
            Self::Datagrams(_) | Self::Device { .. } | Self::ErrorStream(_) => None,
        }
    }

    /// Tells the system that nothing more is sent. A process is told by the end of its input, which is dropped.
    pub(super) fn end_writing(&self) {
        if let Self::Socket(socket) = self {
            socket.end_writing();
        }
    }

    /// Ends the process or the connection as if the client had crashed.
    pub(super) fn abort(&mut self) {
        match self {
            Self::Process(process) => process.kill(),
            Self::Socket(socket) => socket.abort(),
            Self::Datagrams(_) | Self::Device { .. } | Self::ErrorStream(_) => (),
        }
    }

    /// Returns whether somebody listens at the address of the system; unknown for a process.
    pub(super) fn listen_state(&self) -> PortState {
        match self {
            Self::Process(_) | Self::Device { .. } | Self::ErrorStream(_) => PortState::Unknown,
            Self::Socket(socket) => socket.listen_address().state(),
            Self::Datagrams(udp) => udp.listen_address().state(),
        }
    }

    /// Ends the process or the connection.
    pub(super) fn end(&mut self) {
        match self {
            Self::Process(process) => process.kill(),
            Self::Socket(socket) => socket.hang_up(),
            Self::Datagrams(_) | Self::Device { .. } | Self::ErrorStream(_) => (),
        }
    }
}

/// The bytes that come from a serial line, and the writer to it.
type LineEnds = (Box<dyn ByteSource>, Box<dyn Write + Send>);

/// Opens a serial line.
#[cfg(unix)]
fn open_line(path: &str, baud: Option<u32>) -> Result<LineEnds, AdapterError> {
    let wrong = |error: io::Error| AdapterError::Start { what: path.to_owned(), reason: (&error).into() };
    let line = open_device(path, baud).map_err(wrong)?;
    let writer = PatientWriter::from_writer(line.try_clone().map_err(wrong)?);
    Ok((Box::new(TerminalSource::new(line)), Box::new(writer)))
}

/// Fails: there are no serial lines on this platform.
#[cfg(not(unix))]
fn open_line(path: &str, _baud: Option<u32>) -> Result<LineEnds, AdapterError> {
    let error = io::Error::from(io::ErrorKind::Unsupported);
    Err(AdapterError::Start { what: path.to_owned(), reason: (&error).into() })
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(process) => f.write_str(process.command()),
            Self::Socket(socket) => write!(f, "{}", socket.listen_address()),
            Self::Datagrams(udp) => write!(f, "{}", udp.listen_address()),
            Self::Device { path, .. } => f.write_str(path),
            Self::ErrorStream(_) => f.write_str("the error stream"),
        }
    }
}

impl MessageSource {
    /// Returns the next message, or `None` if none has begun at `deadline`. After the deadline it only polls.
    pub(super) fn next_bytes(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, AdapterError> {
        match self {
            Self::Stream(frames) => frames.next_bytes(deadline),
            Self::Datagrams(datagrams) => datagrams.next_bytes(deadline),
        }
    }

    /// Returns the instants at which the first and the last byte of the last message arrived.
    pub(super) fn arrival(&self) -> (Instant, Instant) {
        match self {
            Self::Stream(frames) => (frames.begun_at(), frames.last_arrival()),
            // A datagram arrives whole: its first and last byte at one instant.
            Self::Datagrams(datagrams) => (datagrams.last_arrival(), datagrams.last_arrival()),
        }
    }

    /// Returns whether a part of a message has arrived and the rest is missing.
    pub(super) fn has_begun(&self) -> bool {
        match self {
            Self::Stream(frames) => frames.has_begun(),
            Self::Datagrams(_) => false,
        }
    }

    /// Returns whether something has arrived that was not returned yet; waits up to `wait` for it.
    pub(super) fn has_news(&mut self, wait: Duration) -> bool {
        match self {
            Self::Stream(frames) => frames.has_news(wait),
            // Whether a datagram waits is not known without reading it, so the caller looks.
            Self::Datagrams(_) => true,
        }
    }
}
