//! The sources of the bytes of a system: a pipe, read by a thread, or a socket, read where its bytes are needed.
//!
//! *Promises.* A read waits no longer than it is told to. A system that floods us has to wait:
//! never more than a few megabytes are held.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::channel::AdapterChannel;
use super::tls::is_wait;

/// Bytes read at once. Chosen by feel: the size of a pipe on Linux.
const CHUNK: usize = 64 << 10;
/// Chunks of a pipe read ahead. Chosen by feel: a megabyte, then the system waits.
const READ_AHEAD: usize = 16;

/// The result of a read.
#[derive(Debug)]
pub(super) enum ReadResult {
    /// Bytes were added to the buffer; they arrived at this instant.
    Some(Instant),
    /// No bytes arrived in time.
    Nothing,
    /// The stream has ended.
    End,
}

/// A stream of bytes that can be waited for.
pub(super) trait ByteSource: Send {
    /// Adds what comes within `wait` to `buffer`; with no wait, only what is there.
    fn read(&mut self, buffer: &mut Vec<u8>, wait: Duration) -> io::Result<ReadResult>;
}

impl ByteSource for Box<dyn ByteSource> {
    fn read(&mut self, buffer: &mut Vec<u8>, wait: Duration) -> io::Result<ReadResult> {
        (**self).read(buffer, wait)
    }
}

/// A pipe. It cannot be read with a time limit, so a thread reads it.
pub(super) struct PipeSource(Receiver<io::Result<TimedBytes>>);

/// Bytes with the instant of their arrival.
type TimedBytes = (Instant, Vec<u8>);

impl PipeSource {
    /// Starts the thread that reads `stream`.
    pub(super) fn new(stream: impl Read + Send + 'static) -> Self {
        let (sender, chunks) = sync_channel(READ_AHEAD);
        std::thread::spawn(move || pump(stream, &sender));
        Self(chunks)
    }
}

/// Reads the stream until it ends and sends every piece with the instant at which it came.
fn pump(mut stream: impl Read, chunks: &SyncSender<io::Result<TimedBytes>>) {
    let mut room = vec![0; CHUNK];
    loop {
        let chunk = match stream.read(&mut room) {
            Ok(0) => return,
            Ok(n) => Ok((Instant::now(), room[..n].to_vec())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = chunk.is_err();
        if chunks.send(chunk).is_err() || is_last {
            return;
        }
    }
}

impl ByteSource for PipeSource {
    fn read(&mut self, buffer: &mut Vec<u8>, wait: Duration) -> io::Result<ReadResult> {
        match self.0.recv_timeout(wait) {
            Ok(chunk) => {
                let (arrived, bytes) = chunk?;
                buffer.extend_from_slice(&bytes);
                Ok(ReadResult::Some(arrived))
            }
            Err(RecvTimeoutError::Timeout) => Ok(ReadResult::Nothing),
            Err(RecvTimeoutError::Disconnected) => Ok(ReadResult::End),
        }
    }
}

/// A socket, read where its bytes are needed: no other thread has to wake up for them.
pub(super) struct SocketSource {
    stream: AdapterChannel,
    room: Vec<u8>,
    /// The time limit that is set.
    set: Option<Duration>,
}

impl SocketSource {
    /// Makes a source without a read time limit so far.
    pub(super) fn new(stream: AdapterChannel) -> Self {
        Self { stream, room: vec![0; CHUNK], set: None }
    }

    fn read_now(&mut self) -> io::Result<usize> {
        self.stream.set_nonblocking(true)?;
        let read = self.stream.read(&mut self.room);
        // The writer is the same socket, and it waits.
        self.stream.set_nonblocking(false)?;
        read
    }

    fn read_within(&mut self, wait: Duration) -> io::Result<usize> {
        if self.set != Some(wait) {
            self.stream.set_read_timeout(Some(wait))?;
            self.set = Some(wait);
        }
        self.stream.read(&mut self.room)
    }
}

impl ByteSource for SocketSource {
    fn read(&mut self, buffer: &mut Vec<u8>, wait: Duration) -> io::Result<ReadResult> {
        let read = if wait.is_zero() { self.read_now() } else { self.read_within(wait) };
        match read {
            Ok(0) => Ok(ReadResult::End),
            Ok(n) => {
                buffer.extend_from_slice(&self.room[..n]);
                Ok(ReadResult::Some(Instant::now()))
            }
            Err(error) if is_wait(&error) => Ok(ReadResult::Nothing),
            Err(error) => Err(error),
        }
    }
}
