//! A model simulated for every client that connects, each with its own player.

use std::io::{self, BufReader};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use ioxide_model::sts::Model;

use super::{NewSolver, ServeEnd, serve};

/// An event of a listening system, for people.
#[derive(Debug)]
pub enum ListenerEvent {
    /// A tool connected.
    Connected(SocketAddr),
    /// The conversation with a tool is over.
    Left(SocketAddr, io::Result<ServeEnd>),
    /// A connection could not be accepted.
    NotAccepted(io::Error),
}

/// Plays `model` to everyone who connects to `listener`, until the process ends.
///
/// The n-th connection plays with `seed + n` unless its tool asks for a seed. `tell` is
/// called from the thread of the connection it is about.
///
/// # Errors
/// If the listener is of no more use.
pub fn serve_tcp(
    listener: &TcpListener,
    model: &Arc<Model>,
    new_solver: &Arc<NewSolver>,
    seed: u64,
    tell: impl Fn(ListenerEvent) + Send + Sync + 'static,
) -> io::Result<()> {
    let tell = Arc::new(tell);
    for n in 0u64.. {
        let (stream, peer) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) if is_passing(&error) => {
                tell(ListenerEvent::NotAccepted(error));
                continue;
            }
            Err(error) => return Err(error),
        };
        let (model, new_solver, tell) = (Arc::clone(model), Arc::clone(new_solver), Arc::clone(&tell));
        std::thread::spawn(move || {
            tell(ListenerEvent::Connected(peer));
            let ended = converse(&model, &*new_solver, seed.wrapping_add(n), &stream);
            // The reading thread still waits for a line; this ends its wait.
            stream.shutdown(Shutdown::Both).ok();
            tell(ListenerEvent::Left(peer, ended));
        });
    }
    Ok(())
}

/// Returns whether the error concerns one connection only, so that the next may be accepted.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

/// Plays the model on one connection, until it ends.
fn converse(model: &Model, new_solver: &NewSolver, seed: u64, stream: &TcpStream) -> io::Result<ServeEnd> {
    stream.set_nodelay(true)?;
    let reader = BufReader::new(stream.try_clone()?);
    serve(model, new_solver, seed, reader, stream)
}
