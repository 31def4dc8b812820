//! A small suite that kills every killable mutant.
//!
//! Every killed mutant has a shortest trace; the trace without its last label is a test. A test that another one passes
//! through, looking at the same point, is left out. The rest is covered greedily, by number of mutants and by mutants
//! per input and output, whichever suite is smaller; tests whose mutants are all killed by others are dropped at the
//! end.

use ioxide_model::label::Label;
use ioxide_model::trace::Trace;

/// A test: a trace to follow, and the mutants it kills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KillTest {
    /// Labels the specification allows; after them the test looks once more.
    pub trace: Trace,
    /// The observation of a correct system after the trace, if only one is possible.
    pub look: Option<Label>,
    /// The mutants it kills, by number.
    pub kills: Vec<usize>,
}

impl KillTest {
    /// The trace with the observation of the last look; quiescence where several are possible.
    #[must_use]
    pub fn shown_trace(&self) -> Trace {
        let look = self.look.clone().unwrap_or(Label::Quiescence);
        self.trace.labels.iter().cloned().chain([look]).collect()
    }

    /// The number of inputs, outputs and quiescences, the last look included.
    #[must_use]
    pub fn n_ios(&self) -> usize {
        self.trace.labels.iter().filter(|label| !matches!(label, Label::Delay(_))).count() + 1
    }
}

/// Returns the different tests of `witnesses`, without those that another one passes through.
#[must_use]
pub fn candidates(witnesses: &[&Trace]) -> Vec<Trace> {
    let without_last = |trace: &&Trace| {
        let mut labels = trace.labels.clone();
        labels.pop();
        // The last look lasts as long as anything can come, so no wait is needed before it.
        while matches!(labels.last(), Some(Label::Delay(_))) {
            labels.pop();
        }
        labels.into_iter().collect::<Trace>()
    };
    let mut all: Vec<Trace> = Vec::new();
    for test in witnesses.iter().map(without_last) {
        if !all.contains(&test) {
            all.push(test);
        }
    }
    let passes = |long: &Trace, short: &Trace| {
        long.len() > short.len()
            && long.labels[..short.len()] == short.labels[..]
            && !matches!(long.labels[short.len()], Label::Input(..))
    };
    all.iter().filter(|short| !all.iter().any(|long| passes(long, short))).cloned().collect()
}

/// Returns a small selection of `tests` that kills all that they kill together.
#[must_use]
pub fn cover(tests: &[KillTest], n_mutants: usize) -> Vec<KillTest> {
    let weights: [TestWorth; 3] =
        [|kills, _| (kills, 1), |kills, ios| (kills, ios), |kills, ios| (kills, ios + 8)];
    let size = |suite: &Vec<usize>| (suite.len(), suite.iter().map(|&at| tests[at].n_ios()).sum::<usize>());
    let suites = weights.map(|weight| trim_suite(tests, n_mutants, greedy(tests, n_mutants, weight)));
    let best = suites.into_iter().min_by_key(size).unwrap_or_default();
    best.into_iter().map(|at| tests[at].clone()).collect()
}

/// The worth of a test as a fraction, by the mutants it kills and its inputs and outputs.
type TestWorth = fn(usize, usize) -> (usize, usize);

/// Takes the test with the greatest worth until no mutant is left; of equal worth, the test with fewer inputs and
/// outputs.
fn greedy(tests: &[KillTest], n_mutants: usize, weight: TestWorth) -> Vec<usize> {
    let mut killed = vec![false; n_mutants];
    let mut suite = Vec::new();
    loop {
        let new = |test: &KillTest| test.kills.iter().filter(|&&mutant| !killed[mutant]).count();
        let mut best: Option<(usize, (usize, usize))> = None;
        for (at, test) in tests.iter().enumerate() {
            let worth = weight(new(test), test.n_ios());
            let better = best.is_none_or(|(other, (top, bottom))| {
                let (mine, theirs) = (worth.0 * bottom, top * worth.1);
                mine > theirs || (mine == theirs && test.n_ios() < tests[other].n_ios())
            });
            if worth.0 > 0 && better {
                best = Some((at, worth));
            }
        }
        let Some((at, _)) = best else { return suite };
        tests[at].kills.iter().for_each(|&mutant| killed[mutant] = true);
        suite.push(at);
    }
}

/// Drops tests whose mutants the others kill, the longest first.
fn trim_suite(tests: &[KillTest], n_mutants: usize, mut suite: Vec<usize>) -> Vec<usize> {
    let mut times = vec![0usize; n_mutants];
    for &at in &suite {
        tests[at].kills.iter().for_each(|&mutant| times[mutant] += 1);
    }
    let mut order = suite.clone();
    order.sort_by_key(|&at| std::cmp::Reverse(tests[at].n_ios()));
    for at in order {
        if tests[at].kills.iter().all(|&mutant| times[mutant] > 1) {
            tests[at].kills.iter().for_each(|&mutant| times[mutant] -= 1);
            suite.retain(|&other| other != at);
        }
    }
    suite
}
