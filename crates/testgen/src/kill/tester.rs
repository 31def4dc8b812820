//! The tester that runs a killing suite.
//!
//! \[AT15] sec. 3: where the system may choose, a trace is a purpose rather than a test. A run follows a test as long
//! as the system does what the trace has; if it does something else that is allowed, another test that begins with the
//! trace so far takes over. Where none does, and where a test has ended, the run goes on with the nearest experiment
//! that distinguishes the model from a mutant that the system may still be (see [`Suspects`]); without suspects it
//! ends, and the test is tried again later, a few times.

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::trace::Trace;
use ioxide_symex::{Ctx, Monitor};

use super::suite::KillTest;
use super::suspects::Suspects;
use crate::tester::{Tester, TesterMove, TesterStop};

/// The greatest number of runs that begin with a test. Chosen by feel: a test that the system leads astray so often
/// is left.
const MAX_TRIES: u32 = 5;
/// The number of labels of a run after which no new experiment begins. Chosen by feel: a long run can be lost by one
/// choice of the system, a short one wastes resets.
const MAX_RUN: usize = 200;

/// Runs the tests of a suite, one after the other.
#[derive(Clone, Debug)]
pub struct KillTester {
    tests: Vec<KillAim>,
    suspects: Option<Suspects>,
    /// The route that is followed; `None` before it is chosen or if there is none.
    route: Option<KillRoute>,
    /// The number of tests and experiments carried out in this run.
    carried_out: usize,
}

#[derive(Clone, Debug)]
struct KillAim {
    trace: Trace,
    /// The mutants it kills.
    kills: Vec<usize>,
    done: bool,
    tries: u32,
}

/// Labels to follow from a position of a run, before one more look.
#[derive(Clone, Debug)]
struct KillRoute {
    from: usize,
    labels: Vec<Label>,
    aim: RouteTarget,
}

/// The test or experiment that a route belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RouteTarget {
    Test(usize),
    Suspect(usize),
}

/// The progress of a run along a route.
enum RouteStanding {
    /// The next label is due this many seconds after the last message; the tester looks unless it is an input.
    On(Rational, Option<Label>),
    Off,
    Done,
}

impl KillRoute {
    /// Compares the labels seen since the start of the route with those of the route.
    fn standing(&self, trace: &Trace) -> RouteStanding {
        let seen = &trace.labels[self.from.min(trace.len())..];
        // A system chooses its instants: what came at another one is followed as long as it is what is wanted.
        // A run of a timed model shows time that passes and no silence: where nothing is due, silence is time without
        // a message.
        let is_timed = seen.iter().any(|label| matches!(label, Label::Delay(_)));
        let is_time = |label: &Label| match label {
            Label::Delay(_) => true,
            Label::Quiescence => is_timed,
            Label::Input(..) | Label::Output(..) => false,
        };
        let (seen, passed) = messages(seen);
        let mut wanted = self.labels.iter();
        for label in seen {
            match wanted.by_ref().find(|label| !is_time(label)) {
                Some(next) if next == label => (),
                Some(_) => return RouteStanding::Off,
                // The run went beyond the route: its last look has happened.
                None => return RouteStanding::Done,
            }
        }
        let (next, wait) = messages_until_first(wanted, is_time);
        // After the last label of the route one more look is made, and time has passed in it.
        let is_over = next.is_none() && !passed.is_zero();
        if is_over {
            RouteStanding::Done
        } else {
            RouteStanding::On((&wait - &passed).max(Rational::ZERO), next)
        }
    }
}

/// The messages and silences of `labels`, and the time that passed after the last of them.
fn messages(labels: &[Label]) -> (Vec<&Label>, Rational) {
    let (mut found, mut passed) = (Vec::new(), Rational::ZERO);
    for label in labels {
        match label {
            Label::Delay(by) => passed = &passed + by,
            _ => {
                found.push(label);
                passed = Rational::ZERO;
            }
        }
    }
    (found, passed)
}

/// Returns the next message of `labels`, and the time before it: the sum of its delays, and a second for silence. The
/// second is what one look of virtual time takes.
fn messages_until_first<'l>(
    labels: impl Iterator<Item = &'l Label>,
    is_time: impl Fn(&Label) -> bool,
) -> (Option<Label>, Rational) {
    let mut wait = Rational::ZERO;
    for label in labels {
        match label {
            Label::Delay(by) => wait = &wait + by,
            Label::Quiescence if is_time(label) => wait = &wait + &Rational::from(1),
            _ => return (Some(label.clone()), wait),
        }
    }
    (None, wait)
}

impl KillTester {
    /// Makes a tester for these tests; after each the system is observed once more.
    #[must_use]
    pub fn new(tests: impl IntoIterator<Item = KillTest>) -> Self {
        let aim = |test: KillTest| KillAim { trace: test.trace, kills: test.kills, done: false, tries: 0 };
        Self { tests: tests.into_iter().map(aim).collect(), suspects: None, route: None, carried_out: 0 }
    }

    /// Adds experiments with `suspects` after the tests.
    #[must_use]
    pub fn suspecting(mut self, suspects: Suspects) -> Self {
        self.suspects = Some(suspects);
        self
    }

    /// The number of tests completed.
    #[must_use]
    pub fn n_done(&self) -> usize {
        self.tests.iter().filter(|test| test.done).count()
    }

    /// The number of all tests.
    #[must_use]
    pub fn n_tests(&self) -> usize {
        self.tests.len()
    }

    /// The mutants that the system may still be; `None` if they are not followed.
    #[must_use]
    pub fn suspects(&self) -> Option<&Suspects> {
        self.suspects.as_ref()
    }

    /// Returns the greatest number of runs: every test, and an experiment with every suspect, as often as each is
    /// tried.
    #[must_use]
    pub fn max_runs(&self) -> usize {
        let suspects = self.suspects.as_ref().map_or(0, |suspects| suspects.ruled_out().1);
        (self.tests.len() + suspects) * MAX_TRIES as usize
    }

    /// Adopts the results of another worker with the same suite.
    pub fn absorb(&mut self, other: &Self) {
        for (mine, theirs) in self.tests.iter_mut().zip(&other.tests) {
            // What one worker has carried out need not be done again by another.
            mine.done |= theirs.done;
        }
        if let (Some(mine), Some(theirs)) = (&mut self.suspects, &other.suspects) {
            mine.absorb(theirs);
        }
    }

    /// Returns whether the test is still to be carried out; it is not if all mutants that it kills are ruled out or
    /// tried often enough.
    fn open(&self, at: usize) -> bool {
        let test = &self.tests[at];
        let is_wanted =
            self.suspects.as_ref().is_none_or(|suspects| test.kills.iter().any(|&it| suspects.is_open(it)));
        !test.done && test.tries < MAX_TRIES && is_wanted
    }

    /// Returns the route of the first open test that `trace` follows so far, if there is one.
    fn fitting(&self, trace: &Trace) -> Option<KillRoute> {
        let route = |at: usize| KillRoute {
            from: 0,
            labels: self.tests[at].trace.labels.clone(),
            aim: RouteTarget::Test(at),
        };
        // The first in the order of the suite, so that a seed gives the same run.
        let open = (0..self.tests.len()).filter(|&at| self.open(at));
        open.map(route).find(|route| matches!(route.standing(trace), RouteStanding::On(..)))
    }

    /// Returns the route of the nearest experiment from here; `None` if none is found, or the run is long enough.
    fn experiment(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> Option<KillRoute> {
        let suspects = self.suspects.as_mut().filter(|_| trace.len() <= MAX_RUN)?;
        let (at, labels) = suspects.route(cx, monitor)?;
        Some(KillRoute { from: trace.len(), labels, aim: RouteTarget::Suspect(at) })
    }

    /// Notes that a test or an experiment was carried out.
    fn finish(&mut self, target: RouteTarget) {
        self.carried_out += 1;
        match target {
            RouteTarget::Test(at) => self.tests[at].done = true,
            RouteTarget::Suspect(at) => {
                self.suspects.iter_mut().for_each(|suspects| suspects.count_experiment(at));
            }
        }
    }

    /// Returns the end of a run from which no test goes on.
    fn end(&self) -> TesterMove {
        TesterMove::Stop(match self.carried_out {
            0 => TesterStop::Inconclusive(
                "the system took another allowed path; no test continues from here".into(),
            ),
            1 => TesterStop::GoalMet("a test was carried out".into()),
            n => TesterStop::GoalMet(format!("{n} tests were carried out")),
        })
    }
}

impl Tester for KillTester {
    fn start(&mut self, _seed: u64) {
        self.carried_out = 0;
        self.suspects.iter_mut().for_each(Suspects::start_run);
        self.route = self.fitting(&Trace::default());
        if let Some(KillRoute { aim: RouteTarget::Test(at), .. }) = self.route {
            self.tests[at].tries += 1;
        }
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        self.suspects.iter_mut().for_each(|suspects| suspects.follow_trace(cx, monitor, trace));
        loop {
            if let Some(route) = &self.route {
                let aim = route.aim;
                match route.standing(trace) {
                    RouteStanding::On(_, Some(label @ Label::Input(..))) if !cx.sts.is_timed() => {
                        return TesterMove::Stimulate(label);
                    }
                    RouteStanding::On(wait, Some(label @ Label::Input(..))) => {
                        return TesterMove::StimulateAfter(wait, label);
                    }
                    RouteStanding::On(..) => return TesterMove::Observe,
                    RouteStanding::Off => (),
                    RouteStanding::Done => self.finish(aim),
                }
            }
            // The route has ended, or the system has left it: another one is looked for from here, so that the rest of
            // the run is not wasted. Without suspects a run is one test.
            let is_over = self.carried_out > 0 && self.suspects.is_none();
            let fitting = if is_over { None } else { self.fitting(trace) };
            self.route = fitting.or_else(|| self.experiment(cx, monitor, trace));
            if self.route.is_none() {
                return self.end();
            }
        }
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        if let Some(suspects) = &mut self.suspects {
            // Only suspects are divided: a test is open as long as one of the suspects it kills is.
            suspects.keep_share(worker, jobs);
            return;
        }
        for (at, test) in self.tests.iter_mut().enumerate() {
            if at % jobs.max(1) != worker {
                // As if it had been tried often enough: another worker runs it.
                test.tries = MAX_TRIES;
            }
        }
    }

    fn is_done(&self) -> bool {
        let is_any_open = self.suspects.as_ref().is_some_and(Suspects::is_any_open);
        !is_any_open && (0..self.tests.len()).all(|at| !self.open(at))
    }
}
