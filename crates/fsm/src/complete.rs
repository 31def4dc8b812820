//! Is a given suite complete? An answer that does not depend on how it was made.
//!
//! A suite is complete for machines with at most `bound` states if no such
//! machine passes it without being equivalent to the specification. The search
//! runs the tests on a machine that does not exist yet: where a test needs a
//! transition that is still open, every possible target is tried in turn. Once
//! all tests have run, the machine found so far passes; it is a counterexample
//! if it can be distinguished from the specification, or if a transition that can be
//! reached is still open and so may give any output.
//!
//! *Promises* an exact answer or [`CompletenessAnswer::Unknown`]; the search is exponential
//! and meant for small machines.

mod certify;
#[doc(hidden)]
pub mod converge;
mod near;

pub use self::certify::{Certificate, CertificateRule, certify};
pub use self::near::find_passing_neighbour;

use ioxide_model::index::Idx;

use self::converge::certify_by_convergence;
use crate::mealy::{InputId, Mealy, OutputId, StateId, SuiteModel};
use crate::product;
use crate::word::Word;

/// The judgement on a suite that was not made by a method of this crate.
#[must_use = "an unanswered question proves nothing"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The suite is complete, by a certificate; `None` if the search among all machines proved it instead.
    Complete(Option<Certificate>),
    /// The suite is incomplete: this machine passes it and is not equivalent to the specification.
    Incomplete(Mealy),
    /// Completeness was neither proved nor refuted; the number is that of the steps of the search among all machines.
    Unknown(usize),
}

/// Judges `suite` for machines with `extra` more states than `spec`: certificates first, then machines near the
/// specification, then all machines, the last two in at most `max_steps` steps each.
pub fn judge(spec: &SuiteModel, suite: &[Word], extra: usize, max_steps: usize) -> Judgement {
    // Cheapest first. They are independent, so the order changes the time and never the answer.
    if let Some(certificate) = certify(spec, suite, extra) {
        return Judgement::Complete(Some(certificate));
    }
    if let Some(access) = certify_by_convergence(spec, suite, extra) {
        return Judgement::Complete(Some(Certificate { access, rule: CertificateRule::Convergence }));
    }
    if let Some(machine) = find_passing_neighbour(spec, suite, extra, max_steps) {
        return Judgement::Incomplete(machine);
    }
    match check_suite(spec, suite, spec.n_states() + extra, max_steps) {
        CompletenessAnswer::Complete => Judgement::Complete(None),
        CompletenessAnswer::Incomplete(machine) => Judgement::Incomplete(machine),
        CompletenessAnswer::Unknown(steps) => Judgement::Unknown(steps),
    }
}

/// The answer of [`check_suite`].
#[must_use = "an unanswered question proves nothing"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletenessAnswer {
    /// No wrong machine of the fault domain passes.
    Complete,
    /// This machine passes and is not equivalent to the specification; its
    /// last output is one the specification never gives.
    Incomplete(Mealy),
    /// The search was given up after this many steps.
    Unknown(usize),
}

/// Decides whether `suite` is complete for `spec` and machines with at most
/// `bound` states, in at most `max_steps` steps of search.
pub fn check_suite<W: AsRef<[InputId]>>(
    spec: &SuiteModel,
    suite: impl IntoIterator<Item = W>,
    bound: usize,
    max_steps: usize,
) -> CompletenessAnswer {
    if bound == 0 {
        return CompletenessAnswer::Complete;
    }
    let mut search = CompletenessSearch::new(spec, bound, max_steps);
    for word in suite {
        search.insert_test(word.as_ref());
    }
    match search.run_tests(0) {
        // A search that was cut short closes its branches too, so the steps tell whether "closed" is a proof.
        CompleteOutcome::Closed if search.steps > max_steps => CompletenessAnswer::Unknown(search.steps),
        CompleteOutcome::Closed => CompletenessAnswer::Complete,
        CompleteOutcome::Found(machine) => CompletenessAnswer::Incomplete(machine),
    }
}

enum CompleteOutcome {
    Closed,
    Found(Mealy),
}

/// One symbol of a test: the node it leaves, its input and the output expected.
struct SuiteStep {
    from: usize,
    input: InputId,
    output: OutputId,
}

struct CompletenessSearch<'s> {
    spec: &'s SuiteModel,
    bound: usize,
    max_steps: usize,
    steps: usize,
    /// The tree of tests; step `i` enters node `i + 1`.
    tree: Vec<SuiteStep>,
    kids: Vec<Vec<(InputId, usize)>>,
    spec_state: Vec<StateId>,
    /// For each node of the tree, the state of the machine under construction.
    place: Vec<usize>,
    table: Vec<Option<(usize, OutputId)>>,
    used: usize,
}

impl<'s> CompletenessSearch<'s> {
    /// Makes a search over systems of at most `bound` states that has read no test yet; it gives up after `max_steps`
    /// steps.
    pub fn new(spec: &'s SuiteModel, bound: usize, max_steps: usize) -> Self {
        Self {
            spec,
            bound,
            max_steps,
            steps: 0,
            tree: Vec::new(),
            kids: vec![Vec::new()],
            spec_state: vec![spec.initial()],
            place: vec![0],
            table: vec![None; bound * spec.n_inputs()],
            used: 1,
        }
    }

    fn insert_test(&mut self, word: &[InputId]) {
        let mut at = 0;
        for &input in word {
            at = match self.kids[at].iter().find(|&&(x, _)| x == input) {
                Some(&(_, kid)) => kid,
                None => self.push_step(at, input),
            };
        }
    }

    fn push_step(&mut self, from: usize, input: InputId) -> usize {
        let state = self.spec_state[from];
        self.tree.push(SuiteStep { from, input, output: self.spec.output(state, input) });
        self.spec_state.push(self.spec.next(state, input));
        self.place.push(0);
        self.kids.push(Vec::new());
        let fresh = self.kids.len() - 1;
        self.kids[from].push((input, fresh));
        fresh
    }

    /// Runs the tests from step `first` on, branching at open transitions.
    fn run_tests(&mut self, first: usize) -> CompleteOutcome {
        for i in first..self.tree.len() {
            self.steps += 1;
            if self.steps > self.max_steps {
                return CompleteOutcome::Closed;
            }
            let SuiteStep { from, input, output } = self.tree[i];
            let slot = self.place[from] * self.spec.n_inputs() + input.index();
            // The machine under construction answers here, contradicts the test, so that no completion of it passes, or
            // is still open and every target has to be tried.
            match self.table[slot] {
                Some((next, given)) if given == output => self.place[i + 1] = next,
                Some(_) => return CompleteOutcome::Closed,
                None => return self.try_every_target(i, slot, output),
            }
        }
        // Every test has passed. What is open now no test can see.
        self.wrong_machine().map_or(CompleteOutcome::Closed, CompleteOutcome::Found)
    }

    fn try_every_target(&mut self, i: usize, slot: usize, output: OutputId) -> CompleteOutcome {
        // The output is not a choice: any other than the expected one fails the test. Of the states not used yet only
        // the first is tried, since they are interchangeable: without that the search would look at every renaming.
        let used = self.used;
        debug_assert!(self.table[slot].is_none() && used <= self.bound);
        for next in 0..(used + 1).min(self.bound) {
            self.table[slot] = Some((next, output));
            self.used = used.max(next + 1);
            self.place[i + 1] = next;
            let outcome = self.run_tests(i + 1);
            if let CompleteOutcome::Found(_) = outcome {
                return outcome;
            }
        }
        self.table[slot] = None;
        self.used = used;
        CompleteOutcome::Closed
    }

    /// Returns the machine found, its open transitions giving an output that the specification never gives; `None` if
    /// it is equivalent to the specification.
    fn wrong_machine(&self) -> Option<Mealy> {
        let n_outputs = self.spec.names().outputs.len();
        // An open transition may do anything, so it does what is certainly wrong: a new output.
        let fill =
            |entry: &Option<(usize, OutputId)>| Some(entry.map_or((0, n_outputs), |(q, y)| (q, y.index())));
        let table: Vec<_> = self.table.iter().map(fill).collect();
        let machine = Mealy::from_table(self.bound, self.spec.n_inputs(), n_outputs + 1, &table)?;
        product::difference(&self.spec.to_mealy(), &machine).map(|_| machine)
    }
}
