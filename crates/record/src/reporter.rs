//! Reporters: the receivers of events.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::RunClock;
use crate::event::{Event, EventKind, ShrinkingRecord};

/// A receiver of all events, in order; runs that go on at once call it from their own threads.
pub trait Reporter: Send {
    /// Takes an event.
    ///
    /// # Errors
    /// If it cannot be written; the run ends.
    fn event(&mut self, event: &Event) -> io::Result<()>;

    /// Takes the progress of shrinking a failing run, which is no event.
    fn shrinking(&mut self, _told: &ShrinkingRecord) {}
}

/// A reporter that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct SilentReporter;

impl Reporter for SilentReporter {
    fn event(&mut self, _event: &Event) -> io::Result<()> {
        Ok(())
    }
}

/// A reporter that keeps all events.
impl Reporter for Vec<Event> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.push(event.clone());
        Ok(())
    }
}

/// A reporter that passes events on to several others.
impl Reporter for Vec<Box<dyn Reporter + '_>> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.iter_mut().try_for_each(|reporter| reporter.event(event))
    }

    fn shrinking(&mut self, shrinking: &ShrinkingRecord) {
        self.iter_mut().for_each(|reporter| reporter.shrinking(shrinking));
    }
}

/// Numbers and dates events on their way to a reporter.
///
/// A clone reports to the same reporter, so that several runs can go on at once.
#[derive(Clone)]
pub struct EventSink<'r> {
    hub: Arc<Mutex<EventHub<'r>>>,
    run: Option<u64>,
}

/// The common target of all sinks: the reporter, its clock and the number of the next event.
struct EventHub<'r> {
    reporter: &'r mut dyn Reporter,
    clock: &'r mut dyn RunClock,
    next: u64,
}

impl<'r> EventSink<'r> {
    /// Returns a sink for `reporter`, with the times of `clock`.
    pub fn new(reporter: &'r mut dyn Reporter, clock: &'r mut dyn RunClock) -> Self {
        Self { hub: Arc::new(Mutex::new(EventHub { reporter, clock, next: 0 })), run: None }
    }

    /// Returns a sink of the same reporter for the events of run `run`, where several runs go on at once.
    #[must_use]
    pub fn for_run(&self, run: u64) -> Self {
        Self { hub: Arc::clone(&self.hub), run: Some(run) }
    }

    /// Reports an event, and returns its time in nanoseconds.
    ///
    /// # Errors
    /// If the reporter cannot take it.
    pub fn tell(&self, mut kind: EventKind) -> io::Result<u64> {
        // A reporter that panicked in another thread has reported what it could.
        let mut hub = self.hub.lock().unwrap_or_else(PoisonError::into_inner);
        if hub.clock.is_stopped() {
            kind.remove_times();
        }
        let event = Event { seq: hub.next, time_ns: hub.clock.now_ns(), run: self.run, event: kind };
        hub.next += 1;
        hub.reporter.event(&event)?;
        Ok(event.time_ns)
    }

    /// Reports the progress of shrinking a failing run.
    pub fn shrinking(&self, shrinking: &ShrinkingRecord) {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner).reporter.shrinking(shrinking);
    }
}
