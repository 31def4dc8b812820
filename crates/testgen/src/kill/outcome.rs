//! All mutants of a model and their outcomes, decided on several cores, and the small suite that kills them.
//!
//! Every worker has its own pool and solver. What was computed once is cloned with the pool it belongs to; what comes
//! back are traces and texts, never terms.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use ioxide_model::sts::{Model, Sts};
use ioxide_model::trace::Trace;
use ioxide_smt::halt::{Halt, Halted};
use ioxide_smt::solver::Solver;
use ioxide_symex::Ctx;

use super::MutationAnalysis;
use super::mutant_runner::{MutantRunner, MutantSystem};
use super::suite::KillTest;
use crate::conform::{ConformAnswer, ConformDoubt, SearchEffort};
use crate::mutate::Mutant;

/// The outcome of the analysis of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantOutcome {
    /// A trace distinguishes it from the model: allowed labels, then a forbidden one.
    Killed(Trace),
    /// No trace can; the text says why.
    Equivalent(String),
    /// The analysis decided neither; the text says why.
    Unknown(String),
    /// The time limit was reached before the mutant was looked at.
    OutOfTime,
}

impl MutantOutcome {
    /// Returns the trace that kills it; `None` if it was not killed.
    #[must_use]
    pub fn trace(&self) -> Option<&Trace> {
        if let Self::Killed(trace) = self { Some(trace) } else { None }
    }

    /// Returns why it was decided so; `None` if a trace says it.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Killed(_) => None,
            Self::Equivalent(reason) | Self::Unknown(reason) => Some(reason.clone()),
            Self::OutOfTime => Some(Halted::Time.to_string()),
        }
    }

    /// Returns whether it was not decided.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::OutOfTime)
    }
}

/// The mutants of a model and their outcomes.
#[derive(Clone, Debug)]
pub struct DecidedMutants {
    /// The mutants.
    pub mutants: Vec<Mutant>,
    /// The outcome of each mutant; `None` where the analysis was interrupted.
    pub outcomes: Vec<Option<MutantOutcome>>,
    /// The reason why the analysis ended early, if it left a mutant undecided.
    pub halted: Option<Halted>,
}

/// A suite that kills mutants.
#[derive(Clone, Debug)]
pub struct KillSuite {
    /// The tests of the suite.
    pub tests: Vec<KillTest>,
    /// The reason why minimising the suite ended early, if it did.
    pub halted: Option<Halted>,
}

/// The numbers of mutants by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MutantCounts {
    /// The number of mutants that a trace kills.
    pub killed: usize,
    /// The number of mutants that no trace can kill.
    pub equivalent: usize,
    /// The number of mutants of which neither is known.
    pub unknown: usize,
}

impl MutantCounts {
    /// Counts the outcome of a mutant; without time it counts as unknown.
    fn add(&mut self, outcome: &MutantOutcome) {
        match outcome {
            MutantOutcome::Killed(_) => self.killed += 1,
            MutantOutcome::Equivalent(_) => self.equivalent += 1,
            MutantOutcome::Unknown(_) | MutantOutcome::OutOfTime => self.unknown += 1,
        }
    }

    /// Returns the number of all mutants.
    #[must_use]
    pub fn total(&self) -> usize {
        self.killed + self.equivalent + self.unknown
    }
}

impl DecidedMutants {
    /// Returns whether the analysis was interrupted before all mutants were decided.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.outcomes.contains(&None)
    }

    /// Returns the systems of the killed mutants; the others are never run, and a large model has no room for all.
    #[must_use]
    pub fn systems(&self, spec: &Sts) -> Vec<Option<Sts>> {
        let system = |(mutant, outcome): (&Mutant, &Option<MutantOutcome>)| {
            outcome.as_ref().and_then(MutantOutcome::trace).map(|_| mutant.apply(spec))
        };
        self.mutants.iter().zip(&self.outcomes).map(system).collect()
    }

    /// Makes a small suite that kills every killed mutant of the model of `cx`.
    pub fn make_suite(&self, cx: &mut Ctx<'_>) -> KillSuite {
        let spec = cx.sts.clone();
        let systems = self.systems(&spec);
        let specimens = pair_systems(&self.mutants, &systems);
        let witnesses: Vec<Option<&Trace>> =
            self.outcomes.iter().map(|outcome| outcome.as_ref().and_then(MutantOutcome::trace)).collect();
        let tests = MutantRunner::new(cx, &spec, &specimens).suite(cx, &witnesses);
        KillSuite { tests, halted: cx.halt_reason() }
    }

    /// Counts the outcomes of each operator, by its name, and of all mutants.
    #[must_use]
    pub fn count_by_operator(&self) -> (BTreeMap<String, MutantCounts>, MutantCounts) {
        let mut rows: BTreeMap<String, MutantCounts> = BTreeMap::new();
        let mut all = MutantCounts::default();
        for (mutant, outcome) in self.mutants.iter().zip(self.outcomes.iter().flatten()) {
            let names: Vec<&str> = mutant.edits.iter().map(|edit| edit.operator.name()).collect();
            rows.entry(names.join("+")).or_default().add(outcome);
            all.add(outcome);
        }
        (rows, all)
    }
}

impl KillSuite {
    /// Returns for each of `n` mutants the number of tests that kill it.
    #[must_use]
    pub fn count_kills(&self, n: usize) -> Vec<usize> {
        let mut times = vec![0; n];
        self.tests.iter().flat_map(|test| &test.kills).for_each(|&at| times[at] += 1);
        times
    }
}

/// Returns the mutants with their systems.
#[must_use]
pub fn pair_systems<'m>(mutants: &'m [Mutant], systems: &'m [Option<Sts>]) -> Vec<MutantSystem<'m>> {
    let specimen =
        |(mutant, system): (&'m Mutant, &'m Option<Sts>)| MutantSystem { mutant, system: system.as_ref() };
    mutants.iter().zip(systems).map(specimen).collect()
}

/// The mutants to decide, with all that every worker needs.
pub struct MutantWork<'a, S, E> {
    /// The model that the analysis was made of.
    pub base: &'a Model,
    /// The analysis.
    pub analysis: &'a MutationAnalysis,
    /// The mutants.
    pub mutants: &'a [Mutant],
    /// Makes the solver of a worker.
    pub make: &'a (dyn Fn() -> Result<Box<S>, E> + Sync),
    /// Returns whether the user has interrupted.
    pub is_interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Makes the signal that ends the analysis of one mutant, from now on.
    pub halt_mutant: &'a (dyn Fn() -> Halt + Sync),
}

impl<S: Solver, E: Send> MutantWork<'_, S, E> {
    /// Adds to `known` the outcomes of the other mutants, which `jobs` workers decide; `told` is called with each.
    /// Those left at an interrupt stay `None`.
    ///
    /// # Errors
    /// If `told` fails, or if mutants are left because workers have no solver. A worker without one leaves its mutants
    /// to the others.
    pub fn decide_in_parallel(
        &self,
        jobs: usize,
        known: Vec<Option<MutantOutcome>>,
        told: &mut dyn FnMut(usize, &MutantOutcome) -> Result<(), E>,
    ) -> Result<Vec<Option<MutantOutcome>>, E> {
        let open: Vec<usize> = (0..self.mutants.len()).filter(|&at| known[at].is_none()).collect();
        let next = AtomicUsize::new(0);
        let (mut outcomes, mut refused) = (known, None);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..jobs.min(open.len()) {
                let (sender, open, next) = (sender.clone(), &open, &next);
                scope.spawn(move || {
                    if let Err(error) = self.run_worker(open, next, &sender) {
                        // Nobody listens any more if this fails.
                        let _ = sender.send(Err(error));
                    }
                });
            }
            // The loop below ends when the last worker has dropped its own.
            drop(sender);
            for message in receiver {
                match message {
                    Ok((at, outcome)) => {
                        // Leaving here drops the receiver, at which the workers stop after their current mutant.
                        told(at, &outcome)?;
                        outcomes[at] = Some(outcome);
                    }
                    Err(error) => refused = Some(error),
                }
            }
            match refused {
                Some(error) if !(self.is_interrupted)() && outcomes.iter().any(Option::is_none) => Err(error),
                _ => Ok(outcomes),
            }
        })
    }

    /// Decides mutants of `open` from `next` on until none is left, the receiver is gone, or the user interrupts.
    fn run_worker(
        &self,
        open: &[usize],
        next: &AtomicUsize,
        sender: &Sender<Result<(usize, MutantOutcome), E>>,
    ) -> Result<(), E> {
        let mut solver = (self.make)()?;
        // Terms stay with their pool: the analysis is cloned together with the model whose terms it holds.
        let (mut model, analysis) = (self.base.clone(), self.analysis.clone());
        let mut cx = Ctx::new(&mut model, &mut *solver);
        // One mutant at a time, as some take a thousand times longer than others.
        while let Some(&at) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(outcome) = self.decide_mutant(&mut cx, &analysis, &self.mutants[at]) else { break };
            if sender.send(Ok((at, outcome))).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Decides one mutant; `None` if the user interrupts.
    fn decide_mutant(
        &self,
        cx: &mut Ctx<'_>,
        analysis: &MutationAnalysis,
        mutant: &Mutant,
    ) -> Option<MutantOutcome> {
        if let Some(Halted::Time) = cx.halt_reason() {
            return Some(MutantOutcome::OutOfTime);
        }
        let mut watch = |_: &SearchEffort| {
            if (self.is_interrupted)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let verdict = loop {
            let n_shared = analysis.count_shared();
            let verdict = cx.run_within(&(self.halt_mutant)(), |cx| analysis.decide(cx, mutant, &mut watch));
            let is_cut = matches!(&verdict.answer, ConformAnswer::Unknown(ConformDoubt::Halted(..)));
            // What all mutants share is no part of the time of the first that needs it; it is computed once, so this
            // ends.
            let has_waited = is_cut && analysis.count_shared() > n_shared && cx.halt_reason().is_none();
            if !has_waited {
                break verdict;
            }
        };
        // An answer that an interrupt cut short is none.
        if (self.is_interrupted)() {
            return None;
        }
        Some(match verdict.answer {
            ConformAnswer::Fails(witness) => MutantOutcome::Killed(witness.trace),
            ConformAnswer::Conforms(proof) => MutantOutcome::Equivalent(proof.to_string()),
            ConformAnswer::Unknown(doubt) => MutantOutcome::Unknown(doubt.to_string()),
        })
    }
}
