//! The mutants that the tests of a suite kill.

use ioxide_model::label::Label;
use ioxide_model::sts::Sts;
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halted;
use ioxide_symex::Ctx;

use super::mutant_runner::MutantRunner;
use super::outcome::{DecidedMutants, pair_systems};

/// A test of a suite.
#[derive(Clone, Debug)]
pub enum SuiteCase {
    /// Inputs to give; the system is looked at after each.
    Inputs(Vec<Label>),
    /// A trace to follow; the system is observed where the trace has an observation, and at its end.
    Trace(Trace),
}

/// The killable mutants that each test kills; a tester is one test.
#[derive(Clone, Debug, Default)]
pub struct KillTable {
    /// The mutants that each test kills.
    pub tests: Vec<Vec<usize>>,
    /// The inputs and outputs of all tests; `None` for a tester, which has no suite.
    pub ios: Option<usize>,
    /// Mutants, each with the number of inputs and outputs until it was found.
    pub after: Vec<(usize, u64)>,
    /// The reason why some tests or mutants were left out, if some were.
    pub halted: Option<Halted>,
}

impl KillTable {
    /// Runs `tests` on every mutant in `killable`; `report_progress` is called with the number of each test.
    pub fn from_suite(
        cx: &mut Ctx<'_>,
        spec: &Sts,
        decided: &DecidedMutants,
        tests: &[SuiteCase],
        killable: &[usize],
        report_progress: &mut dyn FnMut(usize),
    ) -> Self {
        let systems = decided.systems(spec);
        let runner = MutantRunner::new(cx, spec, &pair_systems(&decided.mutants, &systems));
        let mut kills = Self { ios: Some(0), ..Self::default() };
        let mut found = vec![false; decided.mutants.len()];
        for (at, test) in tests.iter().enumerate() {
            report_progress(at);
            kills.halted = cx.halt_reason();
            if kills.halted.is_some() {
                break;
            }
            let trace = match test {
                SuiteCase::Inputs(inputs) => MutantRunner::follow_inputs(cx, inputs),
                SuiteCase::Trace(trace) => trace.clone(),
            };
            // The look at the end is one more step than the trace has.
            kills.ios = kills.ios.map(|ios| ios + trace.len() + 1);
            let killed = runner.killed_mutants(cx, &trace, killable);
            let after = kills.ios.unwrap_or(0) as u64;
            let fresh = killed.iter().filter(|&&at| !std::mem::replace(&mut found[at], true));
            kills.after.extend(fresh.map(|&at| (at, after)));
            kills.tests.push(killed);
        }
        kills
    }

    /// Returns the numbers of inputs and outputs until mutants were found, the least first.
    #[must_use]
    pub fn messages_until_found(&self) -> Vec<u64> {
        let mut after: Vec<u64> = self.after.iter().map(|&(_, after)| after).collect();
        after.sort_unstable();
        after
    }

    /// Returns for each of `n_mutants` mutants the number of tests that kill it.
    #[must_use]
    pub fn count_kills(&self, n_mutants: usize) -> Vec<usize> {
        let mut times = vec![0; n_mutants];
        self.tests.iter().flatten().for_each(|&at| times[at] += 1);
        times
    }
}
