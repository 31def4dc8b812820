//! Terminals: a serial line, and a pseudo terminal that a program runs on.
//!
//! A terminal is set to pass bytes on as they are: no echo, no lines, no translation of their ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{ControlModes, OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr};

use super::source::{ByteSource, ReadResult};
use super::tls::is_wait;

/// Bytes read at once. Chosen by feel: a terminal buffers less.
const CHUNK: usize = 16 << 10;

/// Opens a serial line; `baud` is its speed, which stays as it is if none is given.
pub(super) fn open_device(path: &str, baud: Option<u32>) -> io::Result<File> {
    // Without waiting for a carrier, and without becoming the terminal of this process.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file =
        OpenOptions::new().read(true).write(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    make_raw(&file, baud)?;
    // What is left of the run before belongs to nobody.
    tcflush(&file, QueueSelector::IOFlush)?;
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Opens a pseudo terminal; returns our end and that of a program.
pub(super) fn open_pseudo_terminal() -> io::Result<(File, File)> {
    let ours: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let path = name.to_str().map_err(io::Error::other)?;
    let flags = OFlags::NOCTTY.bits().cast_signed();
    let theirs = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
    make_raw(&theirs, None)?;
    Ok((File::from(ours), theirs))
}

fn make_raw(file: &File, baud: Option<u32>) -> io::Result<()> {
    let mut settings = tcgetattr(file)?;
    settings.make_raw();
    settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
    if let Some(baud) = baud {
        settings.set_speed(baud)?;
    }
    Ok(tcsetattr(file, OptionalActions::Now, &settings)?)
}

/// The bytes that come from a terminal.
pub(super) struct TerminalSource {
    file: File,
    room: Vec<u8>,
}

impl TerminalSource {
    /// Reads from `file`.
    pub(super) fn new(file: File) -> Self {
        Self { file, room: vec![0; CHUNK] }
    }
}

impl ByteSource for TerminalSource {
    fn read(&mut self, buffer: &mut Vec<u8>, wait: Duration) -> io::Result<ReadResult> {
        let mut awaited = [PollFd::new(&self.file, PollFlags::IN)];
        let limit = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        match poll(&mut awaited, Some(&limit)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(ReadResult::Nothing),
            Ok(_) => (),
            Err(error) => return Err(error.into()),
        }
        // What was sent before the other end was closed is read first.
        if !awaited[0].revents().contains(PollFlags::IN) {
            return Ok(ReadResult::End);
        }
        match self.file.read(&mut self.room) {
            Ok(0) => Ok(ReadResult::End),
            Ok(n) => {
                buffer.extend_from_slice(&self.room[..n]);
                Ok(ReadResult::Some(Instant::now()))
            }
            // The kernel says so where nobody has the other end of a pseudo terminal.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                Ok(ReadResult::End)
            }
            Err(error) if is_wait(&error) => Ok(ReadResult::Nothing),
            Err(error) => Err(error),
        }
    }
}
