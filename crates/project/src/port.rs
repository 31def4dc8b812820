//! Free ports of this machine; this process gives none of them out twice.

use std::io;
use std::net::{TcpListener, UdpSocket};
use std::sync::{Mutex, PoisonError};

use crate::error::ProjectError;

/// The ports given away. A port is free again as soon as it was looked for, so the next look could find it.
static GIVEN: Mutex<Vec<u16>> = Mutex::new(Vec::new());

/// The number of searches for a new port before one may be given again. Chosen by feel.
const LOOKS: usize = 100;

/// Takes a free port of this machine: no other caller is given it.
///
/// # Errors
/// If there is none.
pub fn take() -> Result<u16, ProjectError> {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut port = find_free_port()?;
    for _ in 0..LOOKS {
        if !given.contains(&port) {
            break;
        }
        port = find_free_port()?;
    }
    given.push(port);
    Ok(port)
}

fn find_free_port() -> Result<u16, ProjectError> {
    // A system may listen at both: DNS does.
    let port_of_both = || {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let place = listener.local_addr()?;
        UdpSocket::bind(place).map(|_| place.port())
    };
    let mut found = port_of_both();
    for _ in 0..LOOKS {
        if found.is_ok() {
            break;
        }
        found = port_of_both();
    }
    found.map_err(|error: io::Error| ProjectError::new(format!("there is no free port: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_twice() {
        let mut ports: Vec<u16> = (0..200).map(|_| take().expect("there are free ports")).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 200);
    }
}
