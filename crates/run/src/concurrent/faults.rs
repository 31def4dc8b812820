//! Faults of a run: planned with the operations, begun and ended while clients wait for answers.

use std::time::{Duration, Instant};

use ioxide_history::HistoryFault;
use ioxide_wire::adapter::AdapterError;
use ioxide_wire::adapter::shared::{FaultKind, SystemControl};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// One burst in so many begins with a fault. Chosen by feel: several in a run, and enough bursts without one.
const BURSTS_PER_FAULT: u32 = 5;

/// The longest time between the begin of a burst and its fault, in microseconds. Chosen by feel: a few operations of a
/// fast system.
const MAX_OFFSET_MICROSECONDS: u64 = 4_000;

/// A fault that is planned within a burst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedFault {
    pub(super) kind: FaultKind,
    /// The time from the begin of the burst to the begin of the fault.
    pub(super) offset: Duration,
    /// The time from its begin to its end.
    pub(super) length: Duration,
}

/// Plans the fault of a burst, if it has one.
pub(super) fn plan_fault(rng: &mut ChaCha8Rng, kinds: &[FaultKind]) -> Option<PlannedFault> {
    if kinds.is_empty() || !rng.random_ratio(1, BURSTS_PER_FAULT) {
        return None;
    }
    let kind = kinds[rng.random_range(0..kinds.len())].clone();
    let offset = Duration::from_micros(rng.random_range(0..MAX_OFFSET_MICROSECONDS));
    // Chosen by feel: shorter than the time limit for an answer, so that most operations survive a fault.
    let milliseconds = match kind {
        FaultKind::Kill => 0..30,
        FaultKind::Pause => 10..150,
        FaultKind::Delay => 50..300,
        FaultKind::Drop | FaultKind::Cut => 10..120,
        FaultKind::Command(_) => 100..400,
    };
    let length = Duration::from_millis(rng.random_range(milliseconds));
    Some(PlannedFault { kind, offset, length })
}

/// Begins and ends the faults of one run. A fault that is left is ended when this is dropped.
pub(super) struct FaultInjector<'c> {
    control: &'c mut dyn SystemControl,
    start: Instant,
    due: Option<(PlannedFault, Instant)>,
    active: Option<ActiveFault>,
    done: Vec<HistoryFault>,
}

/// A fault that was begun.
struct ActiveFault {
    kind: FaultKind,
    began: Instant,
    end: Instant,
}

impl<'c> FaultInjector<'c> {
    /// Injects faults into the system under `control`, in a run that began at `start`.
    pub(super) fn new(control: &'c mut dyn SystemControl, start: Instant) -> Self {
        Self { control, start, due: None, active: None, done: Vec::new() }
    }

    /// Plans a fault of the burst that begins at `burst`. One at a time: it is left out if another one is active.
    pub(super) fn plan_fault(&mut self, fault: Option<&PlannedFault>, burst: Instant) {
        if let (Some(fault), None) = (fault, &self.active) {
            self.due = Some((fault.clone(), burst + fault.offset));
        }
    }

    /// Returns the instant at which something is to be done.
    pub(super) fn next_instant(&self) -> Option<Instant> {
        let due = self.due.as_ref().map(|(_, at)| *at);
        self.active.as_ref().map(|active| active.end).or(due)
    }

    /// Does what is to be done by `now`.
    ///
    /// # Errors
    /// If a fault cannot be begun or ended.
    pub(super) fn act(&mut self, now: Instant) -> Result<(), AdapterError> {
        if self.active.as_ref().is_some_and(|active| active.end <= now) {
            self.end_active()?;
        }
        if self.active.is_none()
            && let Some((fault, at)) = self.due.take()
        {
            if at > now {
                self.due = Some((fault, at));
                return Ok(());
            }
            let began = Instant::now();
            // Noted first: what was begun in part has to be ended too.
            self.active = Some(ActiveFault { kind: fault.kind.clone(), began, end: began + fault.length });
            self.control.begin_fault(&fault.kind)?;
        }
        Ok(())
    }

    /// Ends the fault that is active, if there is one, and forgets the one that is due.
    ///
    /// # Errors
    /// If it cannot be ended.
    pub(super) fn finish(&mut self) -> Result<(), AdapterError> {
        self.due = None;
        self.end_active()
    }

    fn end_active(&mut self) -> Result<(), AdapterError> {
        let Some(ActiveFault { kind, began, .. }) = self.active.take() else { return Ok(()) };
        let ended = self.control.end_fault(&kind);
        let (from_ns, to_ns) = (self.nanoseconds(began), self.nanoseconds(Instant::now()));
        self.done.push(HistoryFault { name: kind.to_string().into(), from_ns, to_ns });
        ended
    }

    /// Returns an instant in nanoseconds since the start of the run.
    fn nanoseconds(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns how the system ended, if it has ended without a fault.
    pub(super) fn find_end(&mut self) -> Option<String> {
        if self.active.is_some() { None } else { self.control.find_end() }
    }

    /// Returns the faults that have ended since the last call.
    pub(super) fn take_done(&mut self) -> Vec<HistoryFault> {
        std::mem::take(&mut self.done)
    }
}

impl Drop for FaultInjector<'_> {
    fn drop(&mut self) {
        // Whoever drops it early is reporting an error already.
        self.finish().ok();
    }
}
