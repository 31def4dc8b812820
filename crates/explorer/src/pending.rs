//! Connections that have not shown the token yet (strangers), and those that have (guests).
//!
//! *Promises.* Strangers take no room from guests, and idle ones none from those who come after them: if there are too
//! many, the one that has waited longest loses its connection. So a client that sends the token at once is admitted,
//! however many connections others hold open.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The greatest number of strangers at once. Chosen by feel: it bounds the threads that connections without a token
/// can hold.
const MAX_STRANGERS: usize = 100;
/// The greatest number of guests at once; more are turned away. Chosen by feel: every open page holds a thread.
const MAX_GUESTS: usize = 100;

/// The connections of strangers, and the number of guests.
#[derive(Default)]
pub(crate) struct PendingConnections {
    waiting: Mutex<VecDeque<(u64, TcpStream)>>,
    next: Mutex<u64>,
    guests: Arc<AtomicUsize>,
}

/// A stranger's place, until it is dropped.
pub(crate) struct PendingPermit {
    pending: Arc<PendingConnections>,
    id: u64,
}

/// The permit of a client that may send its request, until it is dropped.
pub(crate) struct RequestPermit(Arc<AtomicUsize>);

impl PendingConnections {
    /// Admits a stranger; if there are too many, the one that has waited longest loses its connection.
    pub(crate) fn admit_stranger(self: &Arc<Self>, stream: &TcpStream) -> io::Result<PendingPermit> {
        let stream = stream.try_clone()?;
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next += 1;
        let mut waiting = self.lock_waiting();
        waiting.push_back((*next, stream));
        if waiting.len() > MAX_STRANGERS
            && let Some((_, oldest)) = waiting.pop_front()
        {
            // Its thread sees the end of the stream and goes.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        Ok(PendingPermit { pending: Arc::clone(self), id: *next })
    }

    /// Returns a permit for a client; `None` if all are taken.
    pub(crate) fn take_guest_slot(&self) -> Option<RequestPermit> {
        let slot = RequestPermit(Arc::clone(&self.guests));
        // The slot counts itself out again if there is no room.
        (self.guests.fetch_add(1, Ordering::SeqCst) < MAX_GUESTS).then_some(slot)
    }

    fn lock_waiting(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PendingPermit {
    fn drop(&mut self) {
        self.pending.lock_waiting().retain(|(id, _)| *id != self.id);
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;
    use std::time::Duration;

    #[test]
    fn the_one_who_has_waited_longest_makes_room() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let pending = Arc::new(PendingConnections::default());
        let mut seats = Vec::new();
        let mut clients = Vec::new();
        for _ in 0..=MAX_STRANGERS {
            clients.push(TcpStream::connect(address).expect("it listens"));
            seats.push(pending.admit_stranger(&listener.accept().expect("a client").0).expect("a seat"));
        }
        assert_eq!(clients[0].read(&mut [0]).expect("the end"), 0);
        clients[1].set_read_timeout(Some(Duration::from_millis(50))).expect("a time-out");
        assert!(clients[1].read(&mut [0]).is_err(), "the others are still connected");
        seats.clear();
        assert!(pending.lock_waiting().is_empty());
    }

    #[test]
    fn guests_are_counted_in_and_out() {
        let pending = PendingConnections::default();
        for _ in 0..3 {
            let guests: Vec<RequestPermit> =
                (0..MAX_GUESTS).filter_map(|_| pending.take_guest_slot()).collect();
            assert_eq!(guests.len(), MAX_GUESTS);
            assert!(pending.take_guest_slot().is_none());
        }
    }
}
