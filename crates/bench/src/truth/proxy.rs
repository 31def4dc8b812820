//! A slow connection: bytes written at one end come out at the other later, in order.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::server::Listener;

/// The delay of a connection: this long and up to half as long again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag(pub Duration);

impl Lag {
    /// Draws a delay between the given one and one and a half times it.
    fn draw(self, choices: &mut StdRng) -> Duration {
        let most = u64::try_from(self.0.as_micros() / 2).unwrap_or(u64::MAX);
        self.0 + Duration::from_micros(choices.random_range(0..=most))
    }
}

/// Starts a proxy in front of `target`, on a port of its own, that delays both directions.
pub fn start(target: SocketAddr, lag: Lag, seed: u64) -> io::Result<Listener> {
    Listener::start(move |near, number| {
        let Ok(far) = TcpStream::connect(target) else { return };
        // A connection that cannot be shared is closed, as any broken one.
        let _ = join(&near, &far, lag, seed.wrapping_add(number));
    })
}

/// Relays both directions between two connections.
fn join(near: &TcpStream, far: &TcpStream, lag: Lag, seed: u64) -> io::Result<()> {
    far.set_nodelay(true)?;
    let there = (near.try_clone()?, far.try_clone()?);
    let back = (far.try_clone()?, near.try_clone()?);
    let way = thread::spawn(move || relay(there.0, &there.1, lag, seed));
    relay(back.0, &back.1, lag, seed ^ u64::MAX);
    // The other way ends when both ends have hung up.
    let _ = way.join();
    Ok(())
}

/// Relays bytes to a socket until they end, then shuts its writing side down.
pub fn relay(from: impl Read + Send + 'static, to: &TcpStream, lag: Lag, seed: u64) {
    deliver(&under_way(from, lag, seed), to);
    // Nobody there to be told.
    let _ = to.shutdown(Shutdown::Write);
}

/// Writes each part when it is due, until they end.
pub fn deliver(parts: &Receiver<(Instant, Vec<u8>)>, mut to: impl Write) {
    for (due, bytes) in parts {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

/// Returns the parts read from `from`, each with the instant at which it arrives.
pub fn under_way(mut from: impl Read + Send + 'static, lag: Lag, seed: u64) -> Receiver<(Instant, Vec<u8>)> {
    let (sender, parts) = channel();
    thread::spawn(move || {
        let mut choices = StdRng::seed_from_u64(seed);
        let (mut buffer, mut last) = ([0; 4096], Instant::now());
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            // Nothing overtakes what went before.
            last = last.max(Instant::now() + lag.draw(&mut choices));
            if sender.send((last, buffer[..n].to_vec())).is_err() {
                return;
            }
        }
    });
    parts
}
