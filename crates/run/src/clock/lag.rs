//! The scheduling lag of this machine: a thread that sleeps for 10 ms at a time measures how late it wakes up.
//!
//! A tester that gets no processor reads messages late, and a system beside it answers late; neither is a fault. Waits
//! for silence are extended by the lag observed during them, and the tolerance of instants is widened by it.
//!
//! *Promises.* One thread measures for the whole process, and only while somebody watches. A stall that has just ended
//! counts even if its watcher wakes up before the measuring thread does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The time for which the measuring thread sleeps. Chosen by feel: lags that matter are longer, and a hundred
/// wake-ups a second cost nothing.
const SLEEP_INTERVAL: Duration = Duration::from_millis(10);
/// Lateness that is no lag: an idle machine wakes a thread about 0.1 ms late, one with work now and then a few ms.
const USUAL_LATENESS: Duration = Duration::from_millis(5);
/// The time after which the thread ends without watches, so that short runs one after the other share it.
const IDLE_TIME: Duration = Duration::from_secs(1);

/// The meter of this process, while there is one.
static OF_PROCESS: Mutex<Weak<SharedLag>> = Mutex::new(Weak::new());

/// A source of lag measurements; by default the one of this process.
#[derive(Clone, Debug, Default)]
pub struct LagMeter(MeterSource);

#[derive(Clone, Debug, Default)]
enum MeterSource {
    /// The thread of this process.
    #[default]
    Process,
    /// A lag that tests set.
    #[cfg(test)]
    Set(Arc<SharedLag>),
}

impl LagMeter {
    /// Watches the lag from now on.
    #[must_use]
    pub fn watch(&self) -> LagWatch {
        LagWatch::new(match &self.0 {
            MeterSource::Process => of_process(),
            #[cfg(test)]
            MeterSource::Set(shared) => Arc::clone(shared),
        })
    }

    /// Returns a meter that shows the lag given to [`add`](Self::add), whatever this machine does.
    #[cfg(test)]
    pub(crate) fn set_by_hand() -> Self {
        Self(MeterSource::Set(Arc::new(SharedLag(Mutex::new(LagState::new(MeterKind::Idle))))))
    }

    /// Adds a lag, as if a thread had woken up so late.
    #[cfg(test)]
    pub(crate) fn add(&self, late: Duration) {
        if let MeterSource::Set(shared) = &self.0 {
            shared.lock().add_lag(late);
        }
    }
}

/// The lag since this was made.
#[derive(Debug)]
pub struct LagWatch {
    shared: Arc<SharedLag>,
    id: u64,
    /// The lag before it was made.
    before: Duration,
}

impl LagWatch {
    /// Registers a watch; the lag counts from now on.
    fn new(shared: Arc<SharedLag>) -> Self {
        let mut state = shared.lock();
        state.next_id += 1;
        let (id, before) = (state.next_id, state.total);
        state.watches.push((id, Duration::ZERO));
        drop(state);
        Self { shared, id, before }
    }

    /// Returns the lag of all wake-ups together, a stall that lasts or has just ended included.
    #[must_use]
    pub fn total(&self) -> Duration {
        let state = self.shared.lock();
        (state.total + state.stall(Instant::now())).saturating_sub(self.before)
    }

    /// Returns the longest lag of one wake-up, a stall that lasts or has just ended included.
    #[must_use]
    pub fn longest(&self) -> Duration {
        let state = self.shared.lock();
        let longest = state.watches.iter().find(|(id, _)| *id == self.id).map(|(_, longest)| *longest);
        longest.unwrap_or_default().max(state.stall(Instant::now()))
    }
}

impl Drop for LagWatch {
    fn drop(&mut self) {
        self.shared.lock().watches.retain(|(id, _)| *id != self.id);
    }
}

/// The lag as the measuring thread and its watchers see it.
#[derive(Debug)]
struct SharedLag(Mutex<LagState>);

impl SharedLag {
    /// Locks the state; a thread that panicked leaves it usable.
    fn lock(&self) -> MutexGuard<'_, LagState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way in which a meter gets its measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MeterKind {
    /// A thread measures.
    Running,
    /// No thread measures: it could not be started, or a test sets the lag.
    Idle,
}

#[derive(Debug)]
struct LagState {
    kind: MeterKind,
    /// The instant of the last wake-up.
    last: Instant,
    total: Duration,
    /// The watches, each with its longest lag.
    watches: Vec<(u64, Duration)>,
    next_id: u64,
}

impl LagState {
    /// Makes a meter that starts now, without watches.
    fn new(kind: MeterKind) -> Self {
        Self { kind, last: Instant::now(), total: Duration::ZERO, watches: Vec::new(), next_id: 0 }
    }

    /// Returns the time by which the next wake-up is late already; zero while that is usual.
    fn stall(&self, now: Instant) -> Duration {
        let late = now.saturating_duration_since(self.last).saturating_sub(SLEEP_INTERVAL);
        if self.kind == MeterKind::Running && late > USUAL_LATENESS { late } else { Duration::ZERO }
    }

    /// Notes that the thread woke up.
    fn wake(&mut self, now: Instant) {
        self.add_lag(self.stall(now));
        self.last = now;
    }

    fn add_lag(&mut self, late: Duration) {
        self.total += late;
        self.watches.iter_mut().for_each(|(_, longest)| *longest = late.max(*longest));
    }
}

/// Returns the meter of this process; its thread is started if it does not run.
fn of_process() -> Arc<SharedLag> {
    let mut of_process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = of_process.upgrade() {
        return running;
    }
    let shared = Arc::new(SharedLag(Mutex::new(LagState::new(MeterKind::Running))));
    let its = Arc::clone(&shared);
    match thread::Builder::new().name("lag".into()).spawn(move || measure(&its)) {
        Ok(_) => *of_process = Arc::downgrade(&shared),
        // Without a thread nothing is measured, and no wait is extended.
        Err(_) => shared.lock().kind = MeterKind::Idle,
    }
    shared
}

/// Measures until there was no watch for [`IDLE_TIME`].
fn measure(shared: &Arc<SharedLag>) {
    let mut watched = Instant::now();
    loop {
        thread::sleep(SLEEP_INTERVAL);
        let now = Instant::now();
        let mut state = shared.lock();
        state.wake(now);
        if !state.watches.is_empty() {
            watched = now;
        }
        drop(state);
        if now.saturating_duration_since(watched) > IDLE_TIME {
            // A new watch needs this lock, so it never gets a meter whose thread is about to end.
            let mut of_process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
            if Arc::strong_count(shared) == 1 {
                *of_process = Weak::new();
                return;
            }
            watched = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn lateness_is_added_up_and_the_usual_lateness_is_none() {
        let start = Instant::now();
        let mut state = LagState { last: start, ..LagState::new(MeterKind::Running) };
        state.watches.push((1, Duration::ZERO));
        state.wake(start + SLEEP_INTERVAL + ms(1));
        assert_eq!(state.total, Duration::ZERO);
        state.wake(start + SLEEP_INTERVAL * 2 + ms(301));
        state.wake(start + SLEEP_INTERVAL * 3 + ms(401));
        assert_eq!((state.total, state.watches[0].1), (ms(400), ms(300)));
    }

    #[test]
    fn a_stall_counts_before_the_thread_has_woken_up() {
        let mut state = LagState::new(MeterKind::Running);
        // Nobody measures: the last wake-up was two seconds ago.
        state.last = Instant::now().checked_sub(ms(2_000)).expect("the machine has run for some time");
        let watch = LagWatch::new(Arc::new(SharedLag(Mutex::new(state))));
        assert!(watch.longest() >= ms(1_900) && watch.total() >= ms(1_900), "{watch:?}");
    }

    #[test]
    fn a_watch_sees_its_own_time_only() {
        let meter = LagMeter::set_by_hand();
        let early = meter.watch();
        meter.add(ms(70));
        let late = meter.watch();
        meter.add(ms(30));
        assert_eq!((early.total(), early.longest()), (ms(100), ms(70)));
        assert_eq!((late.total(), late.longest()), (ms(30), ms(30)));
    }

    #[test]
    fn the_threads_of_a_process_share_one_meter() {
        let (one, other) = (LagMeter::default().watch(), LagMeter::default().watch());
        assert!(Arc::ptr_eq(&one.shared, &other.shared));
    }
}
