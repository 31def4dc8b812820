//! Reporters: those who are told what happens.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::RunClock;
use crate::event::{Event, EventKind, ShrinkingTold};

/// Is told every event, in order; runs that go on at once tell from their own threads.
pub trait Reporter: Send {
    /// Something happened.
    ///
    /// # Errors
    /// If it cannot be written; the run ends.
    fn event(&mut self, event: &Event) -> io::Result<()>;

    /// A failing run is being made smaller, for those who wait.
    fn shrinking(&mut self, _told: &ShrinkingTold) {}
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct SilentReporter;

impl Reporter for SilentReporter {
    fn event(&mut self, _event: &Event) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps all events.
impl Reporter for Vec<Event> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.push(event.clone());
        Ok(())
    }
}

/// Tells several.
impl Reporter for Vec<Box<dyn Reporter + '_>> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.iter_mut().try_for_each(|reporter| reporter.event(event))
    }

    fn shrinking(&mut self, told: &ShrinkingTold) {
        self.iter_mut().for_each(|reporter| reporter.shrinking(told));
    }
}

/// Numbers and dates events on their way to a reporter.
///
/// A clone tells the same reporter, so that several runs can go on at once.
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
    /// Tells `reporter`, by the time of `clock`.
    pub fn new(reporter: &'r mut dyn Reporter, clock: &'r mut dyn RunClock) -> Self {
        Self { hub: Arc::new(Mutex::new(EventHub { reporter, clock, next: 0 })), run: None }
    }

    /// The same teller for the events of run `run`, which is not the only one.
    #[must_use]
    pub fn for_run(&self, run: u64) -> Self {
        Self { hub: Arc::clone(&self.hub), run: Some(run) }
    }

    /// Tells what happened, and returns when that was, in nanoseconds.
    ///
    /// # Errors
    /// If the reporter cannot take it.
    pub fn tell(&self, kind: EventKind) -> io::Result<u64> {
        // A reporter that panicked in another thread has told what it could.
        let mut hub = self.hub.lock().unwrap_or_else(PoisonError::into_inner);
        let event = Event { seq: hub.next, time_ns: hub.clock.now_ns(), run: self.run, event: kind };
        hub.next += 1;
        hub.reporter.event(&event)?;
        Ok(event.time_ns)
    }

    /// Tells those who wait how far a failing run was made smaller.
    pub fn shrinking(&self, told: &ShrinkingTold) {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner).reporter.shrinking(told);
    }
}
