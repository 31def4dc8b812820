//! Fields that cannot be listed, such as an `int`, tried by representatives.
//!
//! A search state by state tries every message. Where a field has no finite source, a few values stand for all others,
//! chosen again for every pair of state sets, and from both systems together: what one of them cannot distinguish the
//! other may. There are two kinds of such fields.
//!
//! *Separated fields* are kept nowhere: the guards of their message compare them (`==`, `<`, `<=`) with terms over
//! variables, and no update reads them. In a concrete state such a term is a number `c`, so the values fall into cells:
//! each `c` by itself, and the open intervals between them. Values of one cell make every comparison of every state of
//! the pair come out the same. So they enable the same switches and lead to the same states, and one value of each cell
//! stands for it. A field that nothing reads has one cell. Where a switch equates the field with a term, it may read it
//! elsewhere too: it accepts one value only, and that is a cell.
//!
//! *Named fields* are kept: updates copy them to variables, which are copied on, and guards compare them for equality
//! with each other and with constants, and by order with constants only. Then nothing but the names of values is used
//! (data independence: Wolper 1986; Lazić 1999). Let π be a permutation of the values that moves no constant of the two
//! systems, and no value across a constant that an order compares with. Applied to both state sets, π commutes with
//! every step: `after(π(pair), π(label)) = π(after(pair, label))`, since guards have the same truth and updates copy.
//! So a difference can be reached from a pair exactly if it can be reached from its image. Now take any value `v` that
//! is no constant and is not stored in any state of the pair, and another such value `f` of the same interval. The
//! permutation that swaps them leaves the pair as it is, so what follows a message with `v` is the image of what
//! follows one with `f`. Hence the constants, the stored values, and for every interval as many unused values as the
//! message has named fields stand for all messages, and the search is a proof when it comes to an end. Unused values
//! are the first that are free, so names are used again once they are forgotten, and the states can be finitely many.
//!
//! *Promises.* If [`FreeFields::find`] returns something, the representatives of every pair stand for all values. Where
//! an operation is none of these (a sum, an order between stored values, a length), it returns nothing, and the systems
//! are not enumerated.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, Sts, Switch, SwitchId};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

use super::EnumerationGivenUp;
use super::offer::{FieldSource, MessageList, source};

/// The number of values above which a field is tried by representatives, if its message has too many values
/// otherwise. Chosen by feel: representatives are fewer, but have to be found again for every pair.
const MAX_LISTED_VALUES: usize = 64;
/// The number of representatives of one field above which a search gives up. Chosen by feel: the messages of a field
/// multiply with those of the others.
const MAX_REPRESENTATIVES: usize = 1_000;

/// One of the two systems, with its gate for each gate of the specification that it has.
#[derive(Clone, Copy)]
pub struct FreeSide<'w> {
    pub sts: &'w Sts,
    pub gates: &'w BTreeMap<GateId, GateId>,
}

/// A field of a message, by gate of the specification and position.
type FieldPosition = (GateId, usize);

/// The kind of a field that is tried by representatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FreeKind {
    Separated,
    Named,
}

/// The fields of two systems that are tried by representatives.
#[derive(Clone, Debug, Default)]
pub struct FreeFields {
    kinds: BTreeMap<FieldPosition, FreeKind>,
    /// The terms that each side compares a separated field with, by switch.
    compared: [BTreeMap<SwitchId, Vec<(FieldPosition, Term)>>; 2],
    /// The bounds of the sorts of separated fields, which distinguish values where the two sorts differ.
    bounds: BTreeMap<FieldPosition, BTreeSet<Value>>,
    /// The variables of each side that hold named values.
    holders: [Vec<VarId>; 2],
    /// The constants that named values are compared with or replaced by.
    constants: BTreeSet<Value>,
    /// Those of them that an order compares with.
    ordered: BTreeSet<Value>,
    /// The greatest number of named fields of one message.
    width: usize,
    /// True if the named values are texts, false if they are numbers.
    has_texts: bool,
}

/// The representatives of a pair of state sets, by field.
pub(super) type FreeValues = BTreeMap<FieldPosition, Vec<Value>>;

/// A value that belongs to the names: a variable of one side, or a field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum NameHolder {
    Var(usize, VarId),
    Field(FieldPosition),
}

impl FreeFields {
    /// Returns the fields of the messages of `sides`, the implementation first, that need representatives; `None` if
    /// some cannot be represented.
    pub fn find(pool: &TermPool, sides: [FreeSide<'_>; 2]) -> Option<Self> {
        let open = open_fields(pool, &sides);
        if open.is_empty() {
            return Some(Self::default());
        }
        let listed = listed_fields(pool, &sides);
        let analysis = FieldAnalysis { pool, sides: &sides, open: &open, listed: &listed };
        let names = analysis.names()?;
        let mut free = Self::default();
        // What is kept, or compared with what is kept, is named. Every other open field has to be separated, which
        // `note_comparisons` checks.
        for &field in &open {
            let is_named = names.contains(&NameHolder::Field(field));
            let kind = if is_named { FreeKind::Named } else { FreeKind::Separated };
            free.kinds.insert(field, kind);
        }
        free.note_names(&analysis, &names)?;
        debug_assert_eq!(free.kinds.len(), open.len(), "every open field has one kind");
        free.note_comparisons(&analysis, &names)?;
        Some(free)
    }

    /// Returns whether every field is listed.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns, for each of `n` fields of a gate of the specification, whether it is tried by representatives.
    pub fn open_flags(&self, gate: GateId, n: usize) -> Vec<bool> {
        (0..n).map(|at| self.kinds.contains_key(&(gate, at))).collect()
    }

    /// The representatives of the pair of these states of the implementation and of the specification.
    pub fn values(
        &self,
        pool: &TermPool,
        sides: [&Sts; 2],
        states: [&[&ConcreteState]; 2],
    ) -> Result<FreeValues, EnumerationGivenUp> {
        let mut cuts: BTreeMap<FieldPosition, BTreeSet<Value>> = self.bounds.clone();
        // The comparisons of all states of both sides cut together: two values may share a representative only if
        // neither side of the pair distinguishes them.
        for side in 0..2 {
            for state in states[side] {
                for (id, _) in sides[side].switches_from(state.loc) {
                    for &(field, term) in self.compared[side].get(&id).into_iter().flatten() {
                        let value = pool.eval(term, &state.values).map_err(|_| EnumerationGivenUp)?;
                        cuts.entry(field).or_default().insert(value);
                    }
                }
            }
        }
        let named = self.named_values(states);
        let mut found = FreeValues::new();
        for (&(gate, at), &kind) in &self.kinds {
            let field = sides[1].gates[gate].fields[at];
            let sort = pool.var_info(field).sort;
            let values = match kind {
                FreeKind::Separated => {
                    cell_representatives(pool, sort, &cuts.remove(&(gate, at)).unwrap_or_default())
                }
                FreeKind::Named => named.clone(),
            };
            if values.len() > MAX_REPRESENTATIVES {
                return Err(EnumerationGivenUp);
            }
            found.insert((gate, at), values);
        }
        Ok(found)
    }

    /// The constants, the stored values, and unused values of every interval.
    fn named_values(&self, states: [&[&ConcreteState]; 2]) -> Vec<Value> {
        let mut known = self.constants.clone();
        for (states, holders) in states.into_iter().zip(&self.holders) {
            for state in states {
                known.extend(holders.iter().filter_map(|&var| state.values.get(var).cloned()));
            }
        }
        let unused = if self.has_texts {
            unused_texts(&known, self.width)
        } else {
            unused_numbers(&known, &self.ordered, self.width)
        };
        known.into_iter().chain(unused).collect()
    }

    /// Records the holders and constants of named values; `None` if something else is done with them.
    fn note_names(&mut self, analysis: &FieldAnalysis<'_>, names: &BTreeSet<NameHolder>) -> Option<()> {
        let pool = analysis.pool;
        let fields = names.iter().filter_map(|name| match name {
            NameHolder::Field((gate, _)) => Some(*gate),
            NameHolder::Var(..) => None,
        });
        let fields: Vec<GateId> = fields.collect();
        // All named fields of a message may bring a new value each, so that many unused ones are needed side by side.
        let count = |gate: &GateId| fields.iter().filter(|it| *it == gate).count();
        self.width = fields.iter().map(count).max().unwrap_or(0);
        let mut sorts = BTreeSet::new();
        for (side, FreeSide { sts, .. }) in analysis.sides.iter().enumerate() {
            for var in &sts.vars {
                if names.contains(&NameHolder::Var(side, var.var)) {
                    self.holders[side].push(var.var);
                    let init = pool.eval(var.init?, &Valuation::new()).ok()?;
                    self.constants.insert(init);
                }
            }
        }
        for &name in names {
            for var in analysis.variables_of(name) {
                let sort = pool.var_info(var).sort;
                sorts.insert(sort.base());
                // A value outside its range is refused: the bounds distinguish values.
                if let Sort::Range { lo, hi } = sort {
                    self.order_by([Value::int(lo), Value::int(hi)]);
                }
            }
        }
        // One family of names: values of different sorts are never equal, but their permutations would be two.
        if sorts.len() > 1 || !sorts.iter().all(|sort| matches!(sort, Sort::Int | Sort::Str)) {
            return None;
        }
        self.has_texts = sorts.contains(&Sort::Str);
        for use_ in analysis.uses(names)? {
            match use_ {
                ConstantUse::Equal(value) => drop(self.constants.insert(value)),
                ConstantUse::Ordered(value) => self.order_by([value]),
            }
        }
        Some(())
    }

    fn order_by(&mut self, values: impl IntoIterator<Item = Value>) {
        for value in values {
            self.constants.insert(value.clone());
            self.ordered.insert(value);
        }
    }

    /// Records the terms that separated fields are compared with; `None` if something else is done with such a field.
    fn note_comparisons(&mut self, analysis: &FieldAnalysis<'_>, names: &BTreeSet<NameHolder>) -> Option<()> {
        let pool = analysis.pool;
        for (side, FreeSide { sts, .. }) in analysis.sides.iter().enumerate() {
            for (id, switch) in sts.switches.iter_enumerated() {
                for (field, var) in analysis.open_of(side, switch) {
                    if names.contains(&NameHolder::Field(field)) {
                        continue;
                    }
                    let sort = pool.var_info(var).sort;
                    if let Sort::Range { lo, hi } = sort {
                        self.bounds.entry(field).or_default().extend([Value::int(lo), Value::int(hi)]);
                    }
                    let terms = separating(pool, sts, switch, var)?;
                    // Other sorts have no value that is surely none of these.
                    if !terms.is_empty() && !matches!(sort.base(), Sort::Int | Sort::Real | Sort::Str) {
                        return None;
                    }
                    let compared = self.compared[side].entry(id).or_default();
                    compared.extend(terms.into_iter().map(|term| (field, term)));
                }
            }
        }
        Some(())
    }
}

/// The fields that a switch of one of `sides` cannot list.
fn open_fields(pool: &TermPool, sides: &[FreeSide<'_>; 2]) -> BTreeSet<FieldPosition> {
    let mut open = BTreeSet::new();
    for FreeSide { sts, gates } in sides {
        for (&gate, &own) in *gates {
            for switch in sts.switches.iter().filter(|switch| switch.gate == own) {
                let is_listed = MessageList::new(pool, sts, switch, &[]).is_some();
                for (at, &field) in sts.gates[own].fields.iter().enumerate() {
                    let is_open = match source(pool, sts, switch, field) {
                        None => true,
                        Some(FieldSource::Listed(values)) => !is_listed && values.len() > MAX_LISTED_VALUES,
                        Some(FieldSource::Computed(_) | FieldSource::Open(_)) => false,
                    };
                    if is_open {
                        open.insert((gate, at));
                    }
                }
            }
        }
    }
    open
}

/// The fields that some switch lists: their values are no names, since a name stands for any value.
fn listed_fields(pool: &TermPool, sides: &[FreeSide<'_>; 2]) -> BTreeSet<FieldPosition> {
    let mut listed = BTreeSet::new();
    for FreeSide { sts, gates } in sides {
        for (&gate, &own) in *gates {
            for switch in sts.switches.iter().filter(|switch| switch.gate == own) {
                for (at, &field) in sts.gates[own].fields.iter().enumerate() {
                    if let Some(FieldSource::Listed(_)) = source(pool, sts, switch, field) {
                        listed.insert((gate, at));
                    }
                }
            }
        }
    }
    listed
}

/// A comparison of a named value with a constant.
enum ConstantUse {
    Equal(Value),
    Ordered(Value),
}

/// The question which fields and variables hold named values.
struct FieldAnalysis<'a> {
    pool: &'a TermPool,
    sides: &'a [FreeSide<'a>; 2],
    open: &'a BTreeSet<FieldPosition>,
    listed: &'a BTreeSet<FieldPosition>,
}

impl FieldAnalysis<'_> {
    /// The fields of the message of a switch, with their variables.
    fn fields_of(&self, side: usize, switch: &Switch) -> Vec<(FieldPosition, VarId)> {
        let FreeSide { sts, gates } = self.sides[side];
        let Some((&gate, _)) = gates.iter().find(|(_, own)| **own == switch.gate) else { return Vec::new() };
        let fields = sts.gates[switch.gate].fields.iter().enumerate();
        fields.map(|(at, &var)| ((gate, at), var)).collect()
    }

    /// The open fields of the message of a switch, with their variables.
    fn open_of(&self, side: usize, switch: &Switch) -> Vec<(FieldPosition, VarId)> {
        let mut fields = self.fields_of(side, switch);
        fields.retain(|(field, _)| self.open.contains(field));
        fields
    }

    /// The variables of a holder: a field has one on each side.
    fn variables_of(&self, name: NameHolder) -> Vec<VarId> {
        match name {
            NameHolder::Var(_, var) => vec![var],
            NameHolder::Field((gate, at)) => {
                let side = |it: &FreeSide<'_>| Some(it.sts.gates[*it.gates.get(&gate)?].fields[at]);
                self.sides.iter().filter_map(side).collect()
            }
        }
    }

    /// Returns the holder that `term` is in a switch of `side`: a variable, or a field of its message that is open or
    /// not listed; `None` for any other term.
    fn holder(&self, side: usize, switch: &Switch, term: Term) -> Option<NameHolder> {
        let TermNode::Var(var) = *self.pool.node(term) else { return None };
        if self.sides[side].sts.vars.iter().any(|it| it.var == var) {
            return Some(NameHolder::Var(side, var));
        }
        let mut fields = self.fields_of(side, switch).into_iter();
        let (field, _) = fields.find(|(_, it)| *it == var)?;
        let is_free = self.open.contains(&field) || !self.listed.contains(&field);
        is_free.then_some(NameHolder::Field(field))
    }

    /// Returns the holders of named values: what open fields are copied to, and what is compared with those for
    /// equality; `None` if a value is computed from an open field.
    fn names(&self) -> Option<BTreeSet<NameHolder>> {
        // A least fixed point: copies and comparisons only ever add holders, and there are finitely many.
        let mut names = BTreeSet::new();
        loop {
            let before = names.len();
            for (side, FreeSide { sts, .. }) in self.sides.iter().enumerate() {
                for switch in &sts.switches {
                    self.note_copies(side, switch, &mut names)?;
                    self.note_equalities(side, switch, &mut names);
                }
            }
            if names.len() == before {
                return Some(names);
            }
        }
    }

    fn note_copies(&self, side: usize, switch: &Switch, names: &mut BTreeSet<NameHolder>) -> Option<()> {
        let open = self.open_of(side, switch);
        let sts = self.sides[side].sts;
        for &(target, term) in &switch.update {
            // A field that the guard equates with a term is as good as the term.
            let term = match *self.pool.node(term) {
                TermNode::Var(var) => match source(self.pool, sts, switch, var) {
                    Some(FieldSource::Computed(equal)) => equal,
                    _ => term,
                },
                _ => term,
            };
            match self.holder(side, switch, term) {
                Some(holder @ NameHolder::Field(_)) => {
                    names.insert(holder);
                    names.insert(NameHolder::Var(side, target));
                }
                Some(holder) if names.contains(&holder) => {
                    names.insert(NameHolder::Var(side, target));
                }
                _ => {
                    // A sum or another function of an open field: neither cells nor names survive that, unless the
                    // guard fixes the field.
                    let reads = self.pool.free_vars(term);
                    let is_computed =
                        |var| matches!(source(self.pool, sts, switch, var), Some(FieldSource::Computed(_)));
                    if open.iter().any(|(_, var)| reads.contains(var) && !is_computed(*var)) {
                        return None;
                    }
                }
            }
        }
        Some(())
    }

    fn note_equalities(&self, side: usize, switch: &Switch, names: &mut BTreeSet<NameHolder>) {
        let is_field = |holder| matches!(holder, NameHolder::Field(_));
        for term in self.terms_of(switch) {
            if let TermNode::Eq(a, b) = *self.pool.node(term)
                && let (Some(a), Some(b)) = (self.holder(side, switch, a), self.holder(side, switch, b))
                && (names.contains(&a) || names.contains(&b) || is_field(a) && is_field(b))
            {
                names.extend([a, b]);
            }
        }
    }

    /// All subterms of the guard and the updates of `switch`.
    fn terms_of(&self, switch: &Switch) -> Vec<Term> {
        let updates = switch.update.iter().map(|(_, term)| *term);
        let roots: Vec<Term> = [switch.guard].into_iter().chain(updates).collect();
        self.pool.subterms(&roots, |_| true)
    }

    /// Returns the comparisons of named values with constants; `None` if anything is done with a named value but
    /// copying, comparing for equality, and comparing with constants.
    fn uses(&self, names: &BTreeSet<NameHolder>) -> Option<Vec<ConstantUse>> {
        let mut found = Vec::new();
        for (side, FreeSide { sts, .. }) in self.sides.iter().enumerate() {
            for switch in &sts.switches {
                let is_named =
                    |term: Term| self.holder(side, switch, term).is_some_and(|it| names.contains(&it));
                for (target, term) in &switch.update {
                    if names.contains(&NameHolder::Var(side, *target)) && !is_named(*term) {
                        found.push(ConstantUse::Equal(self.pool.as_value(*term)?.clone()));
                    }
                }
                for term in self.terms_of(switch) {
                    let node = self.pool.node(term);
                    if !node.children().into_iter().any(is_named) {
                        continue;
                    }
                    match *node {
                        TermNode::Eq(a, b) => {
                            for other in [a, b].into_iter().filter(|it| !is_named(*it)) {
                                found.push(ConstantUse::Equal(self.pool.as_value(other)?.clone()));
                            }
                        }
                        TermNode::Lt(a, b) | TermNode::Le(a, b) => {
                            let other = if is_named(a) { b } else { a };
                            found.push(ConstantUse::Ordered(self.pool.as_value(other)?.clone()));
                        }
                        // A sum, a length, a pattern: it may distinguish values that the permutation swaps.
                        _ => return None,
                    }
                }
            }
        }
        Some(found)
    }
}

/// Returns the terms that the guard of `switch` compares the separated field `var` with; `None` if it does anything
/// else with it, unless it accepts one value only.
fn separating(pool: &TermPool, sts: &Sts, switch: &Switch, var: VarId) -> Option<Vec<Term>> {
    if let Some(FieldSource::Computed(term)) = source(pool, sts, switch, var) {
        return Some(vec![term]);
    }
    let fields: FxHashSet<VarId> = sts.gates[switch.gate].fields.iter().copied().collect();
    let is_it = |term: Term| *pool.node(term) == TermNode::Var(var);
    let mut found = Vec::new();
    for term in pool.subterms(&[switch.guard], |_| true) {
        let node = pool.node(term);
        if !node.children().into_iter().any(is_it) {
            continue;
        }
        let (TermNode::Eq(a, b) | TermNode::Lt(a, b) | TermNode::Le(a, b)) = *node else { return None };
        let other = if is_it(a) { b } else { a };
        // Compared with another field, the cells of this one would depend on the value of that one.
        if pool.free_vars(other).iter().any(|it| fields.contains(it)) {
            return None;
        }
        found.push(other);
    }
    Some(found)
}

/// One value of each cell that `cuts` make of the values of `sort`.
fn cell_representatives(pool: &TermPool, sort: Sort, cuts: &BTreeSet<Value>) -> Vec<Value> {
    if cuts.is_empty() {
        return vec![pool.default_value(sort)];
    }
    let mut found: BTreeSet<Value> = cuts.clone();
    match sort.base() {
        // An interval between whole numbers that has any has the one above its lower end.
        Sort::Int => {
            let numbers = || cuts.iter().filter_map(Value::as_int);
            found.extend(numbers().map(|n| Value::Int(n + &Int::from(1))));
            found.extend(numbers().min().map(|n| Value::Int(n - &Int::from(1))));
        }
        Sort::Real => {
            // Reals are dense: the middle between two neighbours, and one value beyond either end.
            let numbers: Vec<&Rational> = cuts.iter().filter_map(Value::as_real).collect();
            let half = Rational::new(Int::from(1), Int::from(2)).unwrap_or(Rational::ONE);
            found.extend(numbers.windows(2).map(|pair| Value::Real(&(pair[0] + pair[1]) * &half)));
            found.extend(numbers.first().map(|n| Value::Real(*n - &Rational::ONE)));
            found.extend(numbers.last().map(|n| Value::Real(*n + &Rational::ONE)));
        }
        _ => found.extend(unused_texts(cuts, 1)),
    }
    found.into_iter().collect()
}

/// The first `n` texts that are not `known`.
fn unused_texts(known: &BTreeSet<Value>, n: usize) -> Vec<Value> {
    let texts = (1..).map(|number: usize| Value::str(&format!("t{number}")));
    texts.filter(|text| !known.contains(text)).take(n).collect()
}

/// The first `n` numbers that are not `known`, of every interval between those of `ordered`.
fn unused_numbers(known: &BTreeSet<Value>, ordered: &BTreeSet<Value>, n: usize) -> Vec<Value> {
    let ends: Vec<&Int> = ordered.iter().filter_map(Value::as_int).collect();
    let one = Int::from(1);
    let unused = |number: &Int| !known.contains(&Value::Int(number.clone()));
    let upwards = |from: Int| std::iter::successors(Some(from), |number| Some(number + &Int::from(1)));
    let mut found: Vec<Int> = Vec::new();
    let Some((first, last)) = ends.first().zip(ends.last()) else {
        return upwards(Int::from(1)).filter(unused).take(n).map(Value::Int).collect();
    };
    let below = std::iter::successors(Some(*first - &one), |number| Some(number - &Int::from(1)));
    found.extend(below.filter(unused).take(n));
    // Between two ends there may be fewer than `n` unused numbers; then these are all there are, and no value is
    // missing.
    for pair in ends.windows(2) {
        found.extend(upwards(pair[0] + &one).take_while(|number| number < pair[1]).filter(unused).take(n));
    }
    found.extend(upwards(*last + &one).filter(unused).take(n));
    found.into_iter().map(Value::Int).collect()
}
