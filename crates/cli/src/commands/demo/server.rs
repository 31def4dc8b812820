//! The server of the demo: a box office with ten seats, which speaks text over TCP.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of seats.
pub const SEATS: i64 = 10;

/// The server with its bug, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfficeServer {
    /// Refused reservations change nothing.
    Correct,
    /// A reservation that is refused takes seats all the same: they are subtracted before they are compared.
    Faulty,
}

/// Serves on `port` of this machine until the process is ended.
pub fn serve(port: u16, server: OfficeServer) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let free = Arc::new(Mutex::new(SEATS));
    for stream in listener.incoming() {
        let (stream, free) = (stream?, Arc::clone(&free));
        // A client that leaves in the middle of a line ends its own thread only.
        std::thread::spawn(move || talk(stream, &free, server));
    }
    Ok(())
}

/// Answers the lines of one client until it closes the connection.
fn talk(stream: TcpStream, free: &Mutex<i64>, server: OfficeServer) -> io::Result<()> {
    let mut writer = stream.try_clone()?;
    for line in BufReader::new(stream).lines() {
        let reply = {
            let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
            server.reply(&line?, &mut free)
        };
        writeln!(writer, "{reply}")?;
    }
    Ok(())
}

impl OfficeServer {
    /// Returns the reply to a line, and changes the number of free seats.
    pub fn reply(self, line: &str, free: &mut i64) -> String {
        let (command, n) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match (command, n.parse::<i64>()) {
            ("RESET", _) => {
                *free = SEATS;
                "READY".to_owned()
            }
            ("RESERVE", Ok(n)) => self.reserve(n, free),
            ("CANCEL", Ok(n)) if n <= SEATS - *free => {
                *free += n;
                format!("OK {free}")
            }
            ("CANCEL", Ok(_)) => "NOTHING".to_owned(),
            _ => "ERROR".to_owned(),
        }
    }

    /// Takes `n` seats if there are as many; the faulty server takes them in any case.
    fn reserve(self, n: i64, free: &mut i64) -> String {
        let left = free.saturating_sub(n);
        if left >= 0 || self == Self::Faulty {
            *free = left;
        }
        if left >= 0 { format!("OK {left}") } else { "FULL".to_owned() }
    }
}
