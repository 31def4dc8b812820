//! The items that could be covered: every item of the model, without those that guards exclude.
//!
//! An item that was not seen is left out if the guard of every switch of its input excludes it, whatever the state, and
//! a pair if the second guard cannot hold after the first step: that is a proof. What remains is possible as far as
//! guards alone tell; whether a state is reached in which it happens is another question. A large model has too many
//! items: where they are not enumerated, nothing is said of a total.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, SwitchId};
use ioxide_model::term::{Substitution, Term, TermNode, TermPool};
use ioxide_model::value::Value;
use ioxide_smt::solver::{Solver as _, SolverDecision};
use ioxide_smt::stack::{BackendChoice, SolverConfig, SolverStack, build_stack};
use ioxide_symex::{Ctx, after_waiting};

use super::class::ValueClass;
use super::comparisons::{Comparisons, sides};
use super::item::{ComparisonSide, CoverageItem, EqualTo, Measure};
use super::notice::is_compared;

/// The number of queries to the solver. Chosen by feel: what is not decided counts as possible.
const MAX_QUESTIONS: usize = 400;
/// The number of pairs that are enumerated. Chosen by feel, for time and memory.
const MAX_PAIRS: usize = 50_000;
/// The number of input switches whose comparisons are enumerated. Chosen by feel, as for pairs.
const MAX_INPUTS: usize = 1_000;

/// The items of every measure; a measure that is too large is missing.
pub(super) type PossibleItems = BTreeMap<Measure, BTreeSet<CoverageItem>>;

/// Returns all items of the measures `wanted` that could be covered; those in `seen` certainly can.
pub(super) fn possible(
    cx: &mut Ctx<'_>,
    known: &mut Comparisons,
    wanted: &[Measure],
    seen: &dyn Fn(&CoverageItem) -> bool,
) -> PossibleItems {
    let mut all = PossibleItems::new();
    for &measure in wanted {
        let items = match measure {
            Measure::Switches => {
                Some(visible_switches(cx.sts).into_iter().map(CoverageItem::Switch).collect())
            }
            Measure::Pairs => list_pairs(cx.sts),
            Measure::Comparisons => list_comparisons(cx, known),
            Measure::Values => Some(list_classes(cx)),
            Measure::Equalities => Some(list_equalities(cx)),
        };
        all.extend(items.map(|items| (measure, items)));
    }
    // The layers alone: a report does not wait for a back-end, and says the same every time.
    let mut quick = QuickSolver {
        layers: build_stack(&SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() }),
        left: MAX_QUESTIONS,
    };
    for items in all.values_mut() {
        // What was seen needs no query, and the queries are few.
        items.retain(|item| seen(item) || !is_excluded(cx, known, item, &mut quick));
    }
    all
}

/// The visible switches of `sts`.
pub(super) fn visible_switches(sts: &Sts) -> Vec<SwitchId> {
    sts.switches.ids().filter(|&id| sts.is_seen(&sts.switches[id])).collect()
}

/// Returns the pairs that the graph of locations allows, guards aside, with internal steps between them; `None` if
/// there are too many.
fn list_pairs(sts: &Sts) -> Option<BTreeSet<CoverageItem>> {
    let mut from: BTreeMap<LocId, Vec<SwitchId>> = BTreeMap::new();
    for id in visible_switches(sts) {
        from.entry(sts.switches[id].source).or_default().push(id);
    }
    let mut found = BTreeSet::new();
    for first in visible_switches(sts) {
        for loc in silently_reached(sts, sts.switches[first].target) {
            let next = from.get(&loc).map_or(&[][..], Vec::as_slice);
            // Asked before they are added: pairs grow with the square of the switches.
            if found.len() + next.len() > MAX_PAIRS {
                return None;
            }
            found.extend(next.iter().map(|&then| CoverageItem::Pair(first, then)));
        }
    }
    Some(found)
}

/// The locations that internal steps alone may lead to from `start`.
fn silently_reached(sts: &Sts, start: LocId) -> BTreeSet<LocId> {
    let (mut reached, mut open) = (BTreeSet::from([start]), vec![start]);
    while let Some(at) = open.pop() {
        let internal = sts.switches_from(at).filter(|(_, switch)| sts.kind_of(switch) == GateKind::Internal);
        open.extend(internal.map(|(_, switch)| switch.target).filter(|&next| reached.insert(next)));
    }
    reached
}

/// The switches by which inputs are given.
fn input_switches(sts: &Sts) -> impl Iterator<Item = SwitchId> + '_ {
    visible_switches(sts).into_iter().filter(|&id| sts.kind_of(&sts.switches[id]) == GateKind::Input)
}

/// Returns the sides of every comparison in the guards of inputs: it holds, it fails, it is at its edge. `None` if the
/// model has too many inputs.
fn list_comparisons(cx: &mut Ctx<'_>, known: &mut Comparisons) -> Option<BTreeSet<CoverageItem>> {
    let inputs: Vec<SwitchId> = input_switches(cx.sts).collect();
    if inputs.len() > MAX_INPUTS {
        return None;
    }
    let mut found = BTreeSet::new();
    for id in inputs {
        for (at, comparison) in known.comparisons_of(cx, id).to_vec().into_iter().enumerate() {
            let edge = sides(cx, comparison).map(|_| ComparisonSide::Edge);
            let sides = [Some(ComparisonSide::Holds), Some(ComparisonSide::Fails), edge];
            found.extend(sides.into_iter().flatten().map(|side| CoverageItem::Side(id, at, side)));
        }
    }
    Some(found)
}

/// The gates by which inputs are given.
fn input_gates(sts: &Sts) -> BTreeSet<GateId> {
    input_switches(sts).map(|id| sts.switches[id].gate).collect()
}

/// Returns the classes of values of every field of an input.
fn list_classes(cx: &Ctx<'_>) -> BTreeSet<CoverageItem> {
    let mut found = BTreeSet::new();
    for gate in input_gates(cx.sts) {
        for (at, &field) in cx.sts.gates[gate].fields.iter().enumerate() {
            let classes = ValueClass::possible(cx.pool, cx.pool.var_info(field).sort);
            found.extend(classes.into_iter().map(|class| CoverageItem::Class(gate, at, class)));
        }
    }
    found
}

/// Returns the pairs of two fields, or a field and a variable, of one sort: those that can be equal.
fn list_equalities(cx: &Ctx<'_>) -> BTreeSet<CoverageItem> {
    let sort = |var| cx.pool.var_info(var).sort;
    let mut found = BTreeSet::new();
    for gate in input_gates(cx.sts) {
        let fields = &cx.sts.gates[gate].fields;
        for (at, &field) in fields.iter().enumerate().filter(|&(_, &field)| is_compared(cx.pool, sort(field)))
        {
            let alike = |other| sort(other).base() == sort(field).base();
            let others = (at + 1..fields.len()).filter(|&other| alike(fields[other])).map(EqualTo::Field);
            let stored =
                (0..cx.sts.vars.len()).filter(|&var| alike(cx.sts.vars[var].var)).map(EqualTo::Stored);
            found.extend(others.chain(stored).map(|to| CoverageItem::Equal(gate, at, to)));
        }
    }
    found
}

/// Returns whether the item is proved impossible: the guards of all switches of its input exclude it, or its second
/// switch cannot follow the first.
fn is_excluded(
    cx: &mut Ctx<'_>,
    known: &mut Comparisons,
    item: &CoverageItem,
    quick: &mut QuickSolver,
) -> bool {
    let switches: Vec<SwitchId> = match item {
        CoverageItem::Side(id, ..) => vec![*id],
        CoverageItem::Class(gate, ..) | CoverageItem::Equal(gate, ..) => {
            input_switches(cx.sts).filter(|&id| cx.sts.switches[id].gate == *gate).collect()
        }
        CoverageItem::Pair(first, then) => return cannot_follow(cx, *first, *then, quick),
        CoverageItem::Switch(_) => return false,
    };
    // Without a formula nothing is proved, so the item stays.
    let Some(condition) = condition(cx, known, item) else { return false };
    // Excluded only if no switch of the input lets it through.
    switches.into_iter().all(|id| quick.refutes(cx.pool, [cx.sts.switches[id].guard, condition]))
}

/// A solver for easy queries.
struct QuickSolver {
    layers: SolverStack,
    /// The number of queries that may still be asked.
    left: usize,
}

impl QuickSolver {
    /// Returns whether both formulas are proved not to hold together; false also for queries that would be expensive.
    fn refutes(&mut self, pool: &mut TermPool, facts: [Term; 2]) -> bool {
        // By the form of the terms first, which costs nothing: many guards say the opposite literally.
        if contradict(pool, facts) {
            return true;
        }
        if self.left == 0 || is_about_texts(pool, &facts) {
            return false;
        }
        self.left -= 1;
        self.layers.decide(pool, &facts) == SolverDecision::Unsat
    }
}

/// Returns whether a conjunct of `guard` is, as written, the negation of `condition`; for an equation of numbers, also
/// if it puts its sides in a strict order.
fn contradict(pool: &mut TermPool, [guard, condition]: [Term; 2]) -> bool {
    let mut opposites = vec![pool.not(condition)];
    if let TermNode::Eq(a, b) = *pool.node(condition)
        && pool.sort(a).is_numeric()
    {
        // `a == b` contradicts `a < b` and `b < a` as well.
        opposites.extend([pool.lt(a, b), pool.lt(b, a)]);
    }
    let parts = match pool.node(guard) {
        TermNode::And(parts) => parts.to_vec(),
        _ => vec![guard],
    };
    parts.iter().any(|part| opposites.contains(part))
}

/// Returns whether it is proved that `then` cannot be taken right after `first`, whatever the state before; false if
/// internal steps may lie between.
fn cannot_follow(cx: &mut Ctx<'_>, first: SwitchId, then: SwitchId, quick: &mut QuickSolver) -> bool {
    let (a, b) = (&cx.sts.switches[first], &cx.sts.switches[then]);
    let is_direct = a.target == b.source
        && cx.sts.switches_from(a.target).all(|(_, it)| cx.sts.kind_of(it) != GateKind::Internal);
    if !is_direct {
        return false;
    }
    // The fields of both messages may be the same variables: those of the first get other names.
    let mut renamed = Substitution::new();
    for &field in &cx.sts.gates[a.gate].fields {
        let other = cx.pool.indexed_var(field, 1);
        renamed.set(field, cx.pool.var(other));
    }
    let before = cx.pool.substitute(a.guard, &renamed);
    let mut update = Substitution::new();
    for &(var, term) in &a.update {
        update.set(var, cx.pool.substitute(term, &renamed));
    }
    let zero = cx.pool.value(Value::Real(Rational::ZERO));
    a.resets.iter().for_each(|&clock| update.set(clock, zero));
    // Time passes between the two: clocks go on from where the first leaves them.
    let later = after_waiting(cx, b.guard);
    let after = cx.pool.substitute(later, &update);
    quick.refutes(cx.pool, [before, after])
}

/// Returns the item as a formula over fields and variables; `None` if it has none.
fn condition(cx: &mut Ctx<'_>, known: &mut Comparisons, item: &CoverageItem) -> Option<Term> {
    match item {
        CoverageItem::Side(id, at, side) => {
            let comparison = *known.comparisons_of(cx, *id).get(*at)?;
            Some(match side {
                ComparisonSide::Holds => comparison,
                ComparisonSide::Fails => cx.pool.not(comparison),
                ComparisonSide::Edge => {
                    let (a, b) = sides(cx, comparison)?;
                    cx.pool.eq(a, b)
                }
            })
        }
        CoverageItem::Class(gate, at, class) => in_class(cx, *gate, *at, class),
        CoverageItem::Equal(gate, at, to) => {
            let other = match to {
                EqualTo::Field(other) => cx.sts.gates[*gate].fields[*other],
                EqualTo::Stored(var) => cx.sts.vars[*var].var,
            };
            let (field, other) = (cx.pool.var(cx.sts.gates[*gate].fields[*at]), cx.pool.var(other));
            Some(cx.pool.eq(field, other))
        }
        CoverageItem::Switch(_) | CoverageItem::Pair(..) => None,
    }
}

/// Returns a formula that holds for a field in `class`, for reals also between its numbers; `None` for a class of other
/// values.
fn in_class(cx: &mut Ctx<'_>, gate: GateId, at: usize, class: &ValueClass) -> Option<Term> {
    let (least, most) = class.whole_numbers()?;
    let field = cx.pool.var(cx.sts.gates[gate].fields[at]);
    let number = |n: i64| match cx.pool.sort(field).base() {
        Sort::Int => Some(Value::int(n)),
        Sort::Real => Some(Value::Real(Rational::from(n))),
        _ => None,
    };
    let (least, most) = (least.map(number), most.map(number));
    let mut facts = Vec::new();
    if let Some(least) = least {
        let least = cx.pool.value(least?);
        facts.push(cx.pool.le(least, field));
    }
    if let Some(most) = most {
        let most = cx.pool.value(most?);
        facts.push(cx.pool.le(field, most));
    }
    Some(cx.pool.and(facts))
}

/// Returns whether `facts` contain operations on strings, whose queries are expensive.
fn is_about_texts(pool: &TermPool, facts: &[Term]) -> bool {
    let is_text = |term: Term| {
        matches!(
            pool.node(term),
            TermNode::Matches(..)
                | TermNode::Contains(..)
                | TermNode::Prefix(..)
                | TermNode::Suffix(..)
                | TermNode::TextLe(..)
                | TermNode::Length(_)
        )
    };
    pool.subterms(facts, |_| true).into_iter().any(is_text)
}
