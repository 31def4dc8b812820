//! The execution of a suite: every test is one run.
//!
//! A suite made from a finite state machine (\[Sachtleben18]) is a set of input words. In the transition system an
//! input and its answer are separate labels, so the tester sends an input, observes the answer and only then goes on.
//! [`AnswerWait`] defines the whole answer. A test that states itself where to look is a plan and is followed as it
//! is. Inputs that the specification does not mention at their turn are left out and counted: a word through them
//! belongs to a completed machine, not to the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Sts};
use ioxide_model::trace::Trace;
use ioxide_symex::{Belief, Ctx, Monitor, Quiescence, is_quiescent};

use super::replay::PlannedMove;
use super::{Tester, TesterMove, TesterStop};

/// The number of outputs after one input above which a run ends. Chosen by feel: it ends a run whose system never
/// becomes silent.
const MAX_ANSWERS: usize = 10_000;

/// The condition under which the answer to an input is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerWait {
    /// After the first output, or silence: the system answers every input once.
    Output,
    /// After silence: any number of outputs is an answer.
    Quiescence,
}

/// Tests, stored compactly: every different label once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelTests {
    labels: Vec<Label>,
    ids: BTreeMap<Label, u32>,
    symbols: Vec<u32>,
    ends: Vec<TestEnd>,
}

/// The end of a test among the symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TestEnd {
    at: usize,
    kind: WaitKind,
}

/// The origin of the looks of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitKind {
    /// The tester looks after every input.
    Word,
    /// The test states where to look.
    Plan,
}

/// The symbol of a look.
const LOOK_SYMBOL: u32 = u32::MAX;

impl LabelTests {
    /// Adds inputs to give one after the other, each followed by looks.
    pub fn push_word(&mut self, word: impl IntoIterator<Item = Label>) {
        for label in word {
            self.push(label);
        }
        self.ends.push(TestEnd { at: self.symbols.len(), kind: WaitKind::Word });
    }

    /// Adds moves to make as they are, without their instants: suites have none.
    pub fn push_plan(&mut self, plan: impl IntoIterator<Item = PlannedMove>) {
        for planned in plan {
            match planned {
                PlannedMove::Send(input) | PlannedMove::SendAfter(_, input) => self.push(input.label),
                PlannedMove::Observe | PlannedMove::ObserveFor(_) => self.symbols.push(LOOK_SYMBOL),
            }
        }
        self.ends.push(TestEnd { at: self.symbols.len(), kind: WaitKind::Plan });
    }

    /// Appends a label; equal ones are stored once.
    fn push(&mut self, label: Label) {
        let labels = &mut self.labels;
        // A label whose number does not fit becomes a look. That takes four billion different labels.
        let id = *self.ids.entry(label).or_insert_with_key(|label| {
            labels.push(label.clone());
            u32::try_from(labels.len() - 1).unwrap_or(LOOK_SYMBOL)
        });
        self.symbols.push(id);
    }

    /// Returns the number of tests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there is no test.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns move number `at` of test `test`: an input, or `Some(None)` for a look; `None` after its end.
    fn planned_label(&self, test: usize, at: usize) -> Option<Option<&Label>> {
        let start = test.checked_sub(1).map_or(0, |before| self.ends[before].at);
        let symbols = self.symbols.get(start..self.ends.get(test)?.at)?;
        // `LOOK_SYMBOL` is beyond every label, so it gives `Some(None)`.
        symbols.get(at).map(|&id| self.labels.get(id as usize))
    }

    /// Returns how the end of a test is waited for.
    fn kind(&self, test: usize) -> WaitKind {
        self.ends.get(test).map_or(WaitKind::Word, |end| end.kind)
    }
}

/// The progress of a suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuiteProgress {
    /// The number of runs that came to the end of their test.
    pub finished: usize,
    /// The number of inputs left out because the specification did not mention them at their turn.
    pub left_out: usize,
}

/// Runs the tests of a suite one after the other.
#[derive(Clone, Debug)]
pub struct SuiteTester {
    tests: Arc<LabelTests>,
    wait: AnswerWait,
    rounds: usize,
    /// The first run, and the distance from one run to the next.
    share: (usize, usize),
    started: usize,
    progress: SuiteProgress,
    run: SuiteRun,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default)]
struct SuiteRun {
    /// The number of labels of the history taken into account.
    seen: usize,
    /// Position in the test.
    at: usize,
    /// The number of outputs and observed inputs since the last input.
    answers: usize,
    /// True if silence followed them.
    quiet: bool,
}

impl SuiteTester {
    /// Makes a tester for every test, the whole suite `rounds` times: under the complete testing assumption that is the
    /// number of times a choice of the system must be tried to observe all of it.
    #[must_use]
    pub fn new(tests: Arc<LabelTests>, wait: AnswerWait, rounds: usize) -> Self {
        let (started, progress, run) = (0, SuiteProgress::default(), SuiteRun::default());
        Self { tests, wait, rounds: rounds.max(1), share: (0, 1), started, progress, run }
    }

    /// Adds the results of another worker.
    pub fn absorb(&mut self, other: &Self) {
        self.progress.finished += other.progress.finished;
        self.progress.left_out += other.progress.left_out;
    }

    /// Returns the number of runs of the suite, those of other workers included.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.tests.len().saturating_mul(self.rounds)
    }

    /// Returns the progress so far.
    #[must_use]
    pub fn progress(&self) -> SuiteProgress {
        self.progress
    }

    /// The number of the current test.
    fn test_number(&self) -> usize {
        let (first, step) = self.share;
        // `started` counts the current run. Rounds follow one another, hence the remainder.
        (first + self.started.saturating_sub(1) * step) % self.tests.len().max(1)
    }

    /// Returns whether the answer to the last input, or to the reset, is complete.
    fn is_settled(&self, cx: &mut Ctx<'_>, monitor: &Monitor) -> bool {
        match self.wait {
            _ if self.run.quiet => true,
            // Nothing was given yet: where the model is certainly quiescent at the start, a wait is saved.
            _ if self.run.seen == 0 => is_silent(cx, monitor),
            AnswerWait::Output => self.run.answers > 0,
            AnswerWait::Quiescence => false,
        }
    }

    /// Returns the next move of the test. Inputs that the specification does not mention are left out, those of a word
    /// only once the system is silent, since it may be about to accept them.
    fn plan_move(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor) -> Option<PlannedMove> {
        let test = self.test_number();
        while let Some(planned) = self.tests.planned_label(test, self.run.at) {
            match planned {
                None => return Some(PlannedMove::Observe),
                Some(label) if monitor.accepts(cx, label) => {
                    return Some(PlannedMove::Send(label.clone().into()));
                }
                Some(_) if self.tests.kind(test) == WaitKind::Word && !self.run.quiet => {
                    return Some(PlannedMove::Observe);
                }
                Some(_) => (),
            }
            self.run.at += 1;
            self.progress.left_out += 1;
        }
        None
    }

    /// Returns the move of a test that states itself where to look.
    fn next_stated_move(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor) -> TesterMove {
        match self.plan_move(cx, monitor) {
            Some(PlannedMove::Send(input) | PlannedMove::SendAfter(_, input)) => {
                TesterMove::Stimulate(input.label)
            }
            Some(PlannedMove::Observe | PlannedMove::ObserveFor(_)) => {
                self.run.at += 1;
                TesterMove::Observe
            }
            None => self.finish(),
        }
    }

    /// Returns the move of a word: an input once the answer to the last one is complete.
    fn next_word_move(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor) -> TesterMove {
        if self.run.answers > MAX_ANSWERS {
            let text = format!("more than {MAX_ANSWERS} outputs came after one input");
            return TesterMove::Stop(TesterStop::Inconclusive(text));
        }
        if !self.is_settled(cx, monitor) {
            return TesterMove::Observe;
        }
        match self.plan_move(cx, monitor) {
            Some(PlannedMove::Send(input) | PlannedMove::SendAfter(_, input)) => {
                TesterMove::Stimulate(input.label)
            }
            // Whoever answers once must be silent at the end.
            Some(PlannedMove::Observe | PlannedMove::ObserveFor(_)) | None if !self.run.quiet => {
                TesterMove::Observe
            }
            Some(PlannedMove::Observe | PlannedMove::ObserveFor(_)) | None => self.finish(),
        }
    }

    /// Ends a run in which the test was carried out.
    fn finish(&mut self) -> TesterMove {
        self.progress.finished += 1;
        TesterMove::Stop(TesterStop::GoalMet("the test was carried out".into()))
    }
}

impl SuiteRun {
    /// Takes the labels since the last move into account.
    fn catch_up(&mut self, sts: &Sts, trace: &Trace) {
        for label in trace.labels.iter().skip(self.seen) {
            match label {
                Label::Input(gate, _) if sts.gates[*gate].kind == GateKind::Input => {
                    // The position moves when the input is in the trace, not when it was planned: an output may have
                    // come before it, and then it is planned again.
                    *self = Self { seen: self.seen, at: self.at + 1, answers: 0, quiet: false };
                }
                Label::Input(..) | Label::Output(..) => {
                    (self.answers, self.quiet) = (self.answers + 1, false)
                }
                Label::Quiescence => self.quiet = true,
                Label::Delay(_) => (),
            }
            self.seen += 1;
        }
    }
}

impl Tester for SuiteTester {
    fn start(&mut self, _seed: u64) {
        self.started += 1;
        self.run = SuiteRun::default();
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        self.share = (worker, jobs.max(1));
    }

    fn is_memoryless(&self) -> bool {
        true
    }

    fn goal(&self) -> Option<String> {
        Some(format!("test {}", self.test_number() + 1))
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        self.run.catch_up(cx.sts, trace);
        match self.tests.kind(self.test_number()) {
            WaitKind::Word => self.next_word_move(cx, monitor),
            WaitKind::Plan => self.next_stated_move(cx, monitor),
        }
    }

    fn is_done(&self) -> bool {
        let (first, step) = self.share;
        first + self.started * step >= self.runs()
    }
}

/// Returns whether the specification is certainly quiescent; false for a symbolic belief.
fn is_silent(cx: &mut Ctx<'_>, monitor: &Monitor) -> bool {
    let Belief::Concrete(states) = monitor.belief() else { return false };
    states.iter().all(|state| is_quiescent(cx, state) == Quiescence::Quiet)
}
