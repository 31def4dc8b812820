//! A small suite from decided mutants: candidate tests, the mutants each kills, a cover, and tests joined.
//!
//! Two tests become one where the system, after one more look at the end of the first, is in a state that the second
//! passes through: the rest of the second follows without a reset. A joined test counts only if it still kills the
//! mutants that its parts were kept for. If the time limit ends this early, the suite is larger than it could be, but
//! kills no less.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, LocId, Sts};
use ioxide_model::term::Term;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{Ctx, LiveVars, Quiescence, is_quiescent, list_offers};

use super::matrix::{MatrixMutant, TraceWalk, walk};
use super::suite::{KillTest, candidates, cover};
use crate::mutate::Mutant;

/// The greatest number of outputs followed after one input. Chosen by feel: it ends a mutant that answers for ever.
const MAX_ANSWERS: usize = 16;

/// A mutant with its system.
pub struct MutantSystem<'m> {
    /// The mutant.
    pub mutant: &'m Mutant,
    /// The mutated system; `None` for a mutant that is not run.
    pub system: Option<&'m Sts>,
}

/// Runs tests on mutants.
pub struct MutantRunner<'m> {
    runners: Vec<Option<MatrixMutant<'m>>>,
    live: LiveVars,
}

/// Two tests of a suite joined, with the positions of both.
struct JoinedTests {
    first: usize,
    second: usize,
    trace: Trace,
}

impl<'m> MutantRunner<'m> {
    /// Prepares the mutants of `spec`, the system of `cx`.
    pub fn new(cx: &mut Ctx<'_>, spec: &'m Sts, specimens: &[MutantSystem<'m>]) -> Self {
        let runner = |it: &MutantSystem<'m>| {
            it.system.and_then(|system| MatrixMutant::new(cx, spec, system, it.mutant))
        };
        let runners = specimens.iter().map(runner).collect();
        Self { runners, live: LiveVars::compute(cx.pool, spec, &[]) }
    }

    /// Returns those of `mutants` that the test along `trace` kills; empty if the specification does not have the
    /// trace.
    pub fn killed_mutants(&self, cx: &mut Ctx<'_>, trace: &Trace, mutants: &[usize]) -> Vec<usize> {
        let Some(walk) = walk(cx, trace) else { return Vec::new() };
        self.killed_along(cx, &walk, mutants)
    }

    fn killed_along(&self, cx: &mut Ctx<'_>, walk: &TraceWalk, mutants: &[usize]) -> Vec<usize> {
        let dies =
            |cx: &mut Ctx<'_>, at: usize| self.runners[at].as_ref().is_some_and(|it| it.kills(cx, walk));
        mutants.iter().copied().filter(|&at| dies(cx, at)).collect()
    }

    /// Returns a small suite that kills every mutant with a witness; `witnesses` are in the order of the mutants.
    pub fn suite(&self, cx: &mut Ctx<'_>, witnesses: &[Option<&Trace>]) -> Vec<KillTest> {
        let killable: Vec<usize> = (0..witnesses.len()).filter(|&at| witnesses[at].is_some()).collect();
        let traces: Vec<&Trace> = witnesses.iter().copied().flatten().collect();
        let mut tests = Vec::new();
        for trace in candidates(&traces) {
            let kills = if cx.halt_reason().is_some() {
                Vec::new()
            } else {
                self.killed_mutants(cx, &trace, &killable)
            };
            tests.push(KillTest { trace, look: None, kills });
        }
        // What is left open at start, or the end of the time, leaves kills unknown that the witnesses show.
        add_missing(&mut tests, witnesses);
        let suite = cover(&tests, witnesses.len());
        // Joining drops kills that another test has as well; `complete` runs every test that is left once more for
        // all of them.
        let joined = self.join_tests(cx, suite);
        self.complete(cx, joined, &killable)
    }

    /// Returns the suite with all mutants that each test kills, and the label that its last look expects.
    fn complete(&self, cx: &mut Ctx<'_>, suite: Vec<KillTest>, killable: &[usize]) -> Vec<KillTest> {
        let mut complete = Vec::with_capacity(suite.len());
        for test in suite {
            let mut kills = self.killed_mutants(cx, &test.trace, killable);
            kills.extend(test.kills.iter().copied().filter(|kill| !kills.contains(kill)).collect::<Vec<_>>());
            kills.sort_unstable();
            let look = walk(cx, &test.trace).and_then(|walk| Self::shows(cx, &walk));
            complete.push(KillTest { kills, look, ..test });
        }
        complete
    }

    /// Joins tests as long as two can be joined.
    fn join_tests(&self, cx: &mut Ctx<'_>, mut suite: Vec<KillTest>) -> Vec<KillTest> {
        // What each test is kept for: the mutants no earlier test kills.
        let mut seen = BTreeSet::new();
        for test in &mut suite {
            test.kills.retain(|&mutant| seen.insert(mutant));
        }
        while let Some(JoinedTests { first, second, trace }) = self.joint(cx, &suite) {
            let kills = [&suite[first].kills[..], &suite[second].kills[..]].concat();
            suite[first] = KillTest { trace, look: None, kills };
            suite.remove(second);
        }
        suite
    }

    /// Returns the first test that can be joined with another, and of those the one that saves most labels; `None` if
    /// there is no such pair, or the time is over.
    fn joint(&self, cx: &mut Ctx<'_>, suite: &[KillTest]) -> Option<JoinedTests> {
        let walks: Vec<Option<TraceWalk>> = suite.iter().map(|test| walk(cx, &test.trace)).collect();
        for (first, test) in suite.iter().enumerate() {
            if cx.halt_reason().is_some() {
                return None;
            }
            // A test that cannot be walked stays as it is; the others are joined.
            let Some(walked) = &walks[first] else { continue };
            let Some(longer) = self.add_last_observation(cx, &test.trace, walked) else { continue };
            let Some(end) = walk(cx, &longer).and_then(|walk| walk.last_belief().cloned()) else { continue };
            // Live variables only: states that differ in dead ones go on alike.
            let end = self.project_belief(cx, &end);
            let mut found: Vec<(usize, usize)> = Vec::new();
            for (second, other) in walks.iter().enumerate().filter(|(second, _)| *second != first) {
                let alike = |belief: &BTreeSet<ConcreteState>| self.project_belief(cx, belief) == end;
                // The last such place: the most labels of the second test are saved.
                let at = other.as_ref().and_then(|other| other.beliefs().iter().rposition(alike));
                if let Some(at) = at {
                    found.push((at, second));
                }
            }
            found.sort_unstable_by_key(|&(at, second)| (std::cmp::Reverse(at), second));
            for (at, second) in found {
                let rest = &suite[second].trace.labels[at..];
                let trace: Trace = longer.labels.iter().chain(rest).cloned().collect();
                let needed = [&test.kills[..], &suite[second].kills[..]].concat();
                // The mutants may be in other states than the model where the tests are joined, so it is tried
                // rather than concluded.
                if self.killed_mutants(cx, &trace, &needed).len() == needed.len() {
                    return Some(JoinedTests { first, second, trace });
                }
            }
        }
        None
    }

    /// Returns the locations of a belief with the values of their live variables.
    fn project_belief(
        &self,
        cx: &Ctx<'_>,
        belief: &BTreeSet<ConcreteState>,
    ) -> BTreeSet<(LocId, Vec<Option<Value>>)> {
        let state = |state: &ConcreteState| {
            let live = cx.sts.vars.iter().filter(|var| self.live.is_live(state.loc, var.var));
            (state.loc, live.map(|var| state.values.get(var.var).cloned()).collect())
        };
        belief.iter().map(state).collect()
    }

    /// Returns the trace with the only observation of a correct system at its end; `None` if several are possible.
    fn add_last_observation(&self, cx: &mut Ctx<'_>, trace: &Trace, walk: &TraceWalk) -> Option<Trace> {
        let label = Self::shows(cx, walk)?;
        Some(trace.labels.iter().cloned().chain([label]).collect())
    }

    /// Returns the only observation of a correct system at the end of `walk`; `None` if several are possible.
    fn shows(cx: &mut Ctx<'_>, walk: &TraceWalk) -> Option<Label> {
        let belief = walk.last_belief()?;
        let (Some(state), 1) = (belief.first(), belief.len()) else { return None };
        only_observation(cx, state)
    }

    /// Returns the trace of a correct system that is given `inputs` one after the other and observed until it is
    /// silent; the trace ends where several observations are possible, or an input is not mentioned.
    pub fn follow_inputs(cx: &mut Ctx<'_>, inputs: &[Label]) -> Trace {
        let mut trace = Trace::default();
        for input in inputs {
            let longer: Trace = trace.labels.iter().chain([input]).cloned().collect();
            if walk(cx, &longer).is_none() {
                return trace;
            }
            trace = longer;
            for _ in 0..MAX_ANSWERS {
                let seen = walk(cx, &trace).and_then(|walk| Self::shows(cx, &walk));
                let Some(seen) = seen else { return trace };
                let silent = seen == Label::Quiescence;
                trace.labels.push(seen);
                if silent {
                    break;
                }
            }
        }
        trace
    }
}

/// Adds the trace of every mutant that no test is known to kill; its replay showed that it does.
fn add_missing(tests: &mut Vec<KillTest>, witnesses: &[Option<&Trace>]) {
    let known: BTreeSet<usize> = tests.iter().flat_map(|test| test.kills.iter().copied()).collect();
    for (at, witness) in witnesses.iter().enumerate().filter(|(at, _)| !known.contains(at)) {
        let Some((_, labels)) = witness.and_then(|witness| witness.labels.split_last()) else { continue };
        let labels = before_last_wait(labels);
        let looks = |test: &KillTest| {
            let longer = &test.trace.labels;
            longer == labels
                || longer.starts_with(labels) && !matches!(longer[labels.len()], Label::Input(..))
        };
        match tests.iter_mut().find(|test| looks(test)) {
            Some(test) => test.kills.push(at),
            None => {
                tests.push(KillTest { trace: labels.iter().cloned().collect(), look: None, kills: vec![at] })
            }
        }
    }
}

/// Returns the labels without the delays at the end: the last look waits for any observation.
fn before_last_wait(labels: &[Label]) -> &[Label] {
    let waits = labels.iter().rev().take_while(|label| matches!(label, Label::Delay(_))).count();
    &labels[..labels.len() - waits]
}

/// The one output with the one value, or the silence, that `state` allows.
fn only_observation(cx: &mut Ctx<'_>, state: &ConcreteState) -> Option<Label> {
    let offers = list_offers(cx, state, |kind| kind == GateKind::Output);
    match &offers[..] {
        [] => (is_quiescent(cx, state) == Quiescence::Quiet).then_some(Label::Quiescence),
        [offer] => {
            let values = offer.any_values(cx).ok()?;
            let fields = &cx.sts.gates[offer.gate].fields;
            let mut same: Vec<Term> = Vec::with_capacity(fields.len());
            for (&field, value) in fields.iter().zip(&values) {
                let (var, value) = (cx.pool.var(field), cx.pool.value(value.clone()));
                same.push(cx.pool.eq(var, value));
            }
            let same = cx.pool.and(same);
            let other = cx.pool.not(same);
            // Only a proof counts: with a second possible value the look would fail a correct system.
            let only = cx.decide(&[offer.when, other]) == SolverDecision::Unsat;
            only.then_some(Label::Output(offer.gate, values))
        }
        _ => None,
    }
}
