//! Wrong updates: a system in which one transition computes another value for one variable, all else being right.
//!
//! The wrong values are those a programmer might have copied: the variable stays as it is, or gets what another
//! transition assigns to it. Each such fault is the model with one transition changed, so its guards, answers and later
//! states follow from the wrong value: it is found whether an answer shows the variable or only a guard reads it.
//!
//! *Promises.* Every fault of this kind is in one of three groups: some test fails whatever the faulty system chooses
//! (`walks`); it is proved that no test that waits for silence can find it; or it is listed as not
//! covered, with the reason.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Sts, Switch, SwitchId};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_smt::halt::Halted;
use ioxide_symex::{Ctx, quiescence_condition};

use super::walks::TestTree;
use crate::conform::{ConformAnswer, SearchBounds};
use crate::kill::{KillConfig, MutationAnalysis};
use crate::mutate::{Edit, Mutant, MutationChange, MutationOperator, control_variables, with_assignment};

/// The greatest number of faults that are looked at; the others are listed as not covered. Larger models than any of
/// the examples stay below it.
const MAX_FAULTS: usize = 10_000;
/// The greatest number of faults for which a test or a proof is searched. Chosen by feel: each search may take seconds.
const MAX_SEARCHES: usize = 400;
/// The greatest number of searches that may end without an answer: a model on which many do is beyond the search.
const MAX_UNDECIDED: usize = 50;
/// The greatest number of product states of one search. All that is decided on the examples is decided within it.
const MAX_PRODUCT_STATES: usize = 500;

/// A wrong update: what one transition does to one variable in place of the right thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WrongUpdate {
    /// The transition.
    pub switch: SwitchId,
    /// The variable.
    pub var: VarId,
    /// The value that it gets; `None` if it stays as it is.
    pub term: Option<Term>,
}

impl WrongUpdate {
    /// Returns the transition with the wrong update.
    #[must_use]
    pub fn apply(&self, cx: &mut Ctx<'_>) -> Switch {
        let sts = cx.sts;
        with_assignment(cx.pool, &sts.switches[self.switch], self.var, self.term)
    }

    /// Returns the fault in words.
    #[must_use]
    pub fn describe(&self, cx: &Ctx<'_>) -> String {
        let (label, name) = (&cx.sts.switches[self.switch].label, &cx.pool.var_info(self.var).name);
        match self.term {
            Some(term) => format!("`{label}` with `{name} = {}`", cx.pool.show(term)),
            None => format!("`{label}` without an assignment to `{name}`"),
        }
    }
}

/// The reason why a wrong update is not covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyUncovered {
    /// There are too many faults to look at all of them.
    TooMany,
    /// Neither a difference nor a proof that there is none was found.
    Undecided,
    /// The faulty system may choose its outputs such that no test fails.
    SystemChooses,
    /// The time limit was reached before it was looked at.
    OutOfTime,
}

impl fmt::Display for WhyUncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooMany => "beyond the number of faults that are checked",
            Self::Undecided => "neither a test nor a proof was found",
            Self::SystemChooses => "it shows only if the system makes certain choices",
            Self::OutOfTime => "the time limit was reached",
        })
    }
}

/// The wrong updates of a model, by what is known of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateCoverage {
    /// The number of all faults.
    pub total: usize,
    /// The number of faults for which a test fails.
    pub found: usize,
    /// The number of faults that no test can find: a proof shows that they make no difference.
    pub unobservable: usize,
    /// The others.
    pub uncovered: Vec<(WrongUpdate, WhyUncovered)>,
}

/// Returns every wrong update of the system of `cx`, in the order of transitions and variables.
///
/// A value that another transition computes from fields of its message can be assigned only where the message has
/// fields of these names and sorts.
#[must_use]
pub fn wrong_updates(cx: &mut Ctx<'_>) -> Vec<WrongUpdate> {
    let sts = cx.sts;
    let controls = control_variables(sts);
    let vars: Vec<VarId> = sts.vars.iter().map(|var| var.var).filter(|var| !controls.contains(var)).collect();
    // What all transitions assign to each variable, once.
    let mut values: Vec<BTreeSet<Term>> = vec![BTreeSet::new(); vars.len()];
    for (&var, values) in vars.iter().zip(&mut values) {
        values.extend(sts.switches.iter().filter_map(|switch| assigned_value(switch, var)));
    }
    let mut all = Vec::new();
    for (id, switch) in sts.switches.iter_enumerated() {
        for (&var, values) in vars.iter().zip(&values) {
            let (right, own) = (assigned_value(switch, var), cx.pool.var(var));
            let mut wrong: BTreeSet<Option<Term>> = BTreeSet::new();
            for &value in values {
                wrong.extend(in_message(cx, sts, switch, value).map(Some));
            }
            // To assign a variable to itself is to assign nothing.
            wrong.remove(&Some(own));
            if right.is_some_and(|right| right != own) {
                wrong.insert(None);
            }
            wrong.remove(&right);
            all.extend(wrong.into_iter().map(|term| WrongUpdate { switch: id, var, term }));
        }
    }
    all
}

/// The value that `switch` assigns to `var`.
fn assigned_value(switch: &Switch, var: VarId) -> Option<Term> {
    switch.update.iter().find(|(target, _)| *target == var).map(|&(_, term)| term)
}

/// Returns `term` with the fields of the message of `switch` in place of those of the same name and sort; `None` if it
/// needs a field that the message lacks.
fn in_message(cx: &mut Ctx<'_>, sts: &Sts, switch: &Switch, term: Term) -> Option<Term> {
    let fields = &sts.gates[switch.gate].fields;
    let mut names = Substitution::new();
    for var in cx.pool.free_vars(term) {
        if fields.contains(&var) || sts.stored_vars().any(|stored| stored == var) {
            continue;
        }
        let wanted = cx.pool.var_info(var);
        let is_it = |field: &&VarId| {
            let info = cx.pool.var_info(**field);
            info.name == wanted.name && info.sort == wanted.sort
        };
        let field = *fields.iter().find(is_it)?;
        names.set(var, cx.pool.var(field));
    }
    Some(cx.pool.substitute(term, &names))
}

/// Adds tests to `tests` until every wrong update is found, is proved to make no difference, or stays uncovered, as
/// those do that are left when the time is over.
///
/// # Errors
/// If an interrupt ends the work.
pub fn cover_updates(cx: &mut Ctx<'_>, tests: &mut Vec<Vec<Label>>) -> Result<UpdateCoverage, Halted> {
    let mut faults = wrong_updates(cx);
    let mut coverage = UpdateCoverage { total: faults.len(), ..UpdateCoverage::default() };
    let beyond = faults.split_off(faults.len().min(MAX_FAULTS));
    let mut tree = TestTree::new(cx);
    for test in tests.iter().filter(|_| !faults.is_empty()) {
        if is_time_over(cx)? {
            break;
        }
        tree.insert(cx, test);
    }
    let mut search = FaultSearch::default();
    // Wrong updates are searched in the order of transitions, so that the tree keeps the takers of one transition at a
    // time.
    for fault in faults {
        let answer = if is_time_over(cx)? {
            FaultAnswer::Open(WhyUncovered::OutOfTime)
        } else {
            search.answer(cx, &mut tree, fault)?
        };
        // An answer that was cut short by the end of the time is no answer.
        let answer = if is_time_over(cx)? { FaultAnswer::Open(WhyUncovered::OutOfTime) } else { answer };
        match answer {
            FaultAnswer::Found => coverage.found += 1,
            FaultAnswer::Test(test) => {
                tree.insert(cx, &test);
                tests.push(test);
                coverage.found += 1;
            }
            FaultAnswer::Unobservable => coverage.unobservable += 1,
            FaultAnswer::Open(why) => coverage.uncovered.push((fault, why)),
        }
    }
    coverage.uncovered.extend(beyond.into_iter().map(|fault| (fault, WhyUncovered::TooMany)));
    Ok(coverage)
}

/// Returns whether the time limit was reached.
fn is_time_over(cx: &Ctx<'_>) -> Result<bool, Halted> {
    match cx.halt_reason() {
        None => Ok(false),
        Some(Halted::Time) => Ok(true),
        Some(interrupted) => Err(interrupted),
    }
}

/// The answer of a search for a fault.
enum FaultAnswer {
    /// A test finds it already.
    Found,
    /// This test finds it.
    Test(Vec<Label>),
    /// No test can.
    Unobservable,
    /// Not known.
    Open(WhyUncovered),
}

/// Searches tests for faults; the analysis of the model is made when it is needed first.
#[derive(Default)]
struct FaultSearch {
    prepared: Option<(Sts, MutationAnalysis)>,
    n_searches: usize,
    n_undecided: usize,
}

impl FaultSearch {
    /// Returns what is known of `fault` after the tests of `tree`.
    fn answer(
        &mut self,
        cx: &mut Ctx<'_>,
        tree: &mut TestTree,
        fault: WrongUpdate,
    ) -> Result<FaultAnswer, Halted> {
        let switch = fault.apply(cx);
        match tree.kills(cx, fault.switch, &switch) {
            Ok(true) => Ok(FaultAnswer::Found),
            Ok(false) => Ok(self.decide(cx, tree, fault, switch)),
            Err(Halted::Time) => Ok(FaultAnswer::Open(WhyUncovered::OutOfTime)),
            Err(interrupted) => Err(interrupted),
        }
    }

    /// Decides one wrong update: whether a test shows it, or no test can.
    fn decide(
        &mut self,
        cx: &mut Ctx<'_>,
        tree: &mut TestTree,
        fault: WrongUpdate,
        switch: Switch,
    ) -> FaultAnswer {
        self.n_searches += 1;
        if self.n_searches > MAX_SEARCHES || self.n_undecided > MAX_UNDECIDED {
            return FaultAnswer::Open(WhyUncovered::TooMany);
        }
        // The mutation analysis compares the model with the fault where inputs are given only in silence, as the
        // tests give them; otherwise it would find differences that no test of the suite can show.
        let (spec, analysis) = self.prepared.get_or_insert_with(|| {
            let spec = waiting(cx);
            let bounds = SearchBounds { max_states: MAX_PRODUCT_STATES, max_depth: u32::MAX };
            let analysis = MutationAnalysis::new(
                &mut cx.with_system(&spec),
                &KillConfig { bounds, ..KillConfig::default() },
            );
            (spec, analysis)
        });
        let mut changed = switch.clone();
        if cx.sts.kind_of(&switch) == GateKind::Input {
            changed.guard = guarded_by_silence(cx, &switch);
        }
        let change = MutationChange::Switch(fault.switch, Box::new(changed));
        let mutant = Mutant {
            id: String::new(),
            edits: vec![Edit { operator: MutationOperator::AssignMutate, change }],
        };
        let mut watch = |_: &_| ControlFlow::Continue(());
        match analysis.decide(&mut cx.with_system(spec), &mutant, &mut watch).answer {
            // A proof: the fault makes no difference to any test.
            ConformAnswer::Conforms(_) => FaultAnswer::Unobservable,
            ConformAnswer::Unknown(_) => {
                self.n_undecided += 1;
                FaultAnswer::Open(WhyUncovered::Undecided)
            }
            ConformAnswer::Fails(witness) => {
                let is_input = |label: &Label| matches!(label, Label::Input(..));
                let test: Vec<Label> = witness.trace.labels.into_iter().filter(is_input).collect();
                // The trace shows what the faulty system *can* do; a test must fail whatever it does.
                if tree.kills_by(cx, &test, (fault.switch, &switch)) {
                    FaultAnswer::Test(test)
                } else {
                    FaultAnswer::Open(WhyUncovered::SystemChooses)
                }
            }
        }
    }
}

/// Returns the system of `cx` that takes inputs only while it is silent, as the tests of a complete suite give them.
fn waiting(cx: &mut Ctx<'_>) -> Sts {
    let mut spec = cx.sts.clone();
    for (id, switch) in cx.sts.switches.iter_enumerated() {
        if cx.sts.kind_of(switch) == GateKind::Input {
            spec.switches[id].guard = guarded_by_silence(cx, switch);
        }
    }
    spec
}

/// Returns the guard of `switch` where its source is silent.
fn guarded_by_silence(cx: &mut Ctx<'_>, switch: &Switch) -> Term {
    let silent = quiescence_condition(cx, switch.source);
    cx.pool.and2(silent, switch.guard)
}
