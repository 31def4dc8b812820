//! The limit of time holds in every phase of the search, not only between candidates.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ioxide_model::source::Sources;
use ioxide_repair::{RepairError, RepairRequest, Repairs, ReplayableRun, find_repairs};
use ioxide_smt::halt::{AfterAsks, Halt, Halted, Signal};

use crate::world::{compile, run, solver};

/// Stops after a number of questions, and counts those that come later.
struct CountingSignal {
    asked: Arc<AtomicUsize>,
    until: usize,
}

impl Signal for CountingSignal {
    fn halt_reason(&self) -> Option<Halted> {
        (self.asked.fetch_add(1, Ordering::Relaxed) >= self.until).then_some(Halted::Time)
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }
}

/// Many short runs of a model that a hundred edits explain: every phase has more to do than a few questions.
const MODEL: &str = "model Counter {
    input add(by: 1..9)
    output total(n: int)
    var sum: int = 0
    var last: int = 0
    state idle {
        take: on add { sum = sum + by, last = by } -> owes
    }
    state owes {
        say: emit total(n: 3) -> idle
    }
}
";

fn runs() -> Vec<ReplayableRun> {
    let failing = (4..10).map(|n| run(&format!("add(by: {n}); total(n: {n})")));
    failing.chain((0..40).map(|_| run("add(by: 3); total(n: 3)"))).collect()
}

/// Returns the proposals of a search that is stopped after so many questions; the questions of the whole search; and
/// the texts that were compiled once it was stopped.
fn stopped_after(until: usize) -> (Result<Repairs, RepairError>, usize, usize) {
    let mut sources = Sources::new();
    let file = sources.add("model.iox", MODEL);
    let asked = Arc::new(AtomicUsize::new(0));
    let late = Cell::new(0);
    let runs = runs();
    let request = RepairRequest {
        sources: &sources,
        file,
        load: &|sources, tentative| {
            late.set(late.get() + usize::from(asked.load(Ordering::Relaxed) > until));
            compile(sources, file, tentative)
        },
        runs: &runs,
        max_proposals: 3,
        halt: Halt::new(CountingSignal { asked: Arc::clone(&asked), until }),
        search_time: None,
        halt_after: |_| Halt::new(AfterAsks::new(3_000)),
    };
    let found = find_repairs(&request, &mut solver());
    (found, asked.load(Ordering::Relaxed), late.get())
}

#[test]
fn nothing_more_is_done_once_the_time_is_over() {
    let (whole, all, _) = stopped_after(usize::MAX);
    let whole = whole.unwrap();
    assert!(whole.halted.is_none() && !whole.proposals.is_empty());
    // Stopped while the base is replayed, while candidates are judged, while they are ranked and compared.
    for part in 0..40 {
        let until = all * part / 40;
        let (found, asked, late) = stopped_after(until);
        // Runs that were not judged are not said to be allowed.
        assert_ne!(found.err(), Some(RepairError::NothingFails), "stopped after {until} of {all}");
        assert!(late <= 1, "stopped after {until} of {all}, {late} texts were compiled after it");
        // Each phase asks once or a few times before it gives up; none asks for every run or every candidate.
        assert!(asked - until < 250, "stopped after {until} of {all}, it went on for {}", asked - until);
    }
}
