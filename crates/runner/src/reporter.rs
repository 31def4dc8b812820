//! Reporters: those who are told what happens.

use std::io;

use crate::clock::Clock;
use crate::event::{Event, EventKind};

/// Is told every event, in order.
pub trait Reporter {
    /// Something happened.
    ///
    /// # Errors
    /// If it cannot be written; the run ends.
    fn event(&mut self, event: &Event) -> io::Result<()>;
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
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
}

/// Numbers and dates events on their way to a reporter.
pub struct Teller<'r> {
    reporter: &'r mut dyn Reporter,
    clock: &'r mut dyn Clock,
    next: u64,
}

impl<'r> Teller<'r> {
    /// Tells `reporter`, by the time of `clock`.
    pub fn new(reporter: &'r mut dyn Reporter, clock: &'r mut dyn Clock) -> Self {
        Self { reporter, clock, next: 0 }
    }

    /// Tells what happened.
    ///
    /// # Errors
    /// If the reporter cannot take it.
    pub fn tell(&mut self, kind: EventKind) -> io::Result<()> {
        let event = Event { seq: self.next, time_ns: self.clock.now_ns(), run: None, event: kind };
        self.next += 1;
        self.reporter.event(&event)
    }
}
