//! Hints for values: the values of the run, the constants of the model, and the edges of its comparisons.
//!
//! A fault often needs a value in a relation to another: to a value sent or seen before, to a constant, to the edge of
//! a comparison; or it needs a key that the state has. [`SeenValues`] and [`UsedKeys`] remember the run, a
//! [`ModelLexicon`] the model, and [`Hints`] is all of that for one input.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_model::term::{Substitution, Term, TermNode, TermPool, VarId};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_symex::Ctx;

use super::collection;
use super::keys::{KeyUse, UsedKeys, find_key_uses};

/// The number of values of a run that are remembered; older ones are forgotten. Chosen by feel: recent values are the
/// ones a system is likely to compare with.
const MAX_SEEN: usize = 48;
/// The number of parts of one value that are remembered. Chosen by feel: a large document must not push out
/// everything else.
const MAX_PARTS: usize = 16;
/// The number of constants of a model that are tried. Chosen by feel: with more, each is drawn too seldom to matter.
const MAX_CONSTANTS: usize = 256;

/// The number of comparisons of clocks that are waited for. Chosen by feel: with more, each is waited for too seldom.
const MAX_CLOCK_BOUNDS: usize = 64;

/// The values of the messages of a run, the latest last, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenValues {
    values: Vec<Value>,
    labels: usize,
}

impl SeenValues {
    /// Adds the values of the labels of `trace` since the last call; of all labels if `trace` is shorter than then.
    pub fn catch_up(&mut self, trace: &Trace) {
        // A shorter trace is that of another run, of which nothing was seen yet.
        let from = if trace.len() < self.labels { 0 } else { self.labels };
        for label in &trace.labels[from..] {
            if let Label::Input(_, values) | Label::Output(_, values) = label {
                values.iter().for_each(|value| self.note_parts(value));
            }
        }
        self.labels = trace.len();
    }

    /// The values, the latest last.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Adds a value and its parts: an identifier that a server assigns may be a field of its answer.
    fn note_parts(&mut self, value: &Value) {
        let mut parts = Vec::new();
        collection::with_parts(value, &mut parts);
        parts.truncate(MAX_PARTS);
        // The value itself comes first among its parts, so it is recorded last and counts as the latest.
        parts.iter().rev().for_each(|part| self.record_value(part));
    }

    fn record_value(&mut self, value: &Value) {
        // Both truth values are drawn often enough.
        if matches!(value, Value::Bool(_)) {
            return;
        }
        // A value that comes again moves to the end.
        self.values.retain(|other| other != value);
        self.values.push(value.clone());
        if self.values.len() > MAX_SEEN {
            self.values.remove(0);
        }
    }
}

/// The constants of a model, the bounds of its clocks, and for every input the comparisons whose truth depends on its
/// fields, and those of its fields that are keys.
///
/// The comparisons of most models are found at once. In a model with tens of thousands of switches that would take
/// longer than a campaign: there those of an input are found when they are first needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelLexicon {
    constants: Vec<Value>,
    clock_bounds: Vec<Term>,
    inputs: BTreeMap<SwitchId, InputLexicon>,
}

/// The words of one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct InputLexicon {
    atoms: Vec<Term>,
    keys: Vec<KeyUse>,
}

impl ModelLexicon {
    /// Collects the constants and comparisons of the model of `cx`.
    pub fn collect(cx: &mut Ctx<'_>) -> Self {
        let mut roots: Vec<Term> = Vec::new();
        for switch in &cx.sts.switches {
            roots.push(switch.guard);
            roots.extend(switch.update.iter().map(|&(_, term)| term));
        }
        let mut constants = constants(cx.pool, &roots);
        constants.truncate(MAX_CONSTANTS);
        let sts = cx.sts;
        let inputs: Vec<SwitchId> = sts
            .switches
            .iter_enumerated()
            .filter(|(_, switch)| sts.kind_of(switch) == GateKind::Input)
            .map(|(id, _)| id)
            .collect();
        let clock_bounds = clock_bounds(cx);
        let mut lexicon = Self { constants, clock_bounds, inputs: BTreeMap::new() };
        let mut looked_at = 0;
        for id in inputs {
            looked_at += roots_of(cx, id).len();
            // The other inputs are looked at when they are first sent, see `input`.
            if looked_at > MAX_LOOKED_AT {
                break;
            }
            lexicon.input(cx, id);
        }
        lexicon
    }

    /// The constants, without truth values.
    #[must_use]
    pub fn constants(&self) -> &[Value] {
        &self.constants
    }

    /// Returns the number of comparisons found so far, for all inputs together.
    #[must_use]
    pub fn n_atoms(&self) -> usize {
        self.inputs.values().map(|input| input.atoms.len()).sum()
    }

    /// Returns whether a field of some input looked at so far is a key.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.inputs.values().any(|input| !input.keys.is_empty())
    }

    /// The comparisons of guards that mention nothing but clocks.
    #[must_use]
    pub fn clock_bounds(&self) -> &[Term] {
        &self.clock_bounds
    }

    /// Returns the comparisons whose truth depends on the fields of an input by `switch`.
    pub fn atoms(&mut self, cx: &mut Ctx<'_>, switch: SwitchId) -> &[Term] {
        &self.input(cx, switch).atoms
    }

    /// Returns the fields of an input by `switch` that are keys, with where they are looked up.
    pub fn keys(&mut self, cx: &mut Ctx<'_>, switch: SwitchId) -> &[KeyUse] {
        &self.input(cx, switch).keys
    }

    /// Returns the comparisons and keys that an input can reach, collected at first use.
    fn input(&mut self, cx: &mut Ctx<'_>, switch: SwitchId) -> &InputLexicon {
        self.inputs.entry(switch).or_insert_with(|| {
            let roots = roots_of(cx, switch);
            InputLexicon { atoms: comparisons_in(cx, switch, &roots), keys: keys_in(cx, switch, &roots) }
        })
    }
}

/// The hints for the choice of values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'h> {
    /// Values of the run, the latest last.
    pub recent: &'h [Value],
    /// Constants of the model.
    pub constants: &'h [Value],
    /// Comparisons whose edges are worth trying, over fields and variables.
    pub atoms: &'h [Term],
    /// The fields that are keys.
    pub keys: &'h [KeyUse],
    /// The keys of the run; `None` if keys are drawn like other values.
    pub used_keys: Option<&'h UsedKeys>,
    /// Comparisons of clocks whose instants are worth waiting for, whatever else a guard asks for.
    pub clock_bounds: &'h [Term],
    /// The weights of the kinds of values.
    pub weights: ValueWeights,
}

/// The number of values from which on a range is wide. Chosen by feel: of ten keys, a few are there after a while
/// anyway.
const MIN_WIDTH: i64 = 32;

/// Returns whether a sort has so many values that one drawn from all of them is hardly ever a given one.
#[must_use]
pub fn is_wide(sort: Sort) -> bool {
    match sort {
        Sort::Range { lo, hi } => hi.saturating_sub(lo) >= MIN_WIDTH,
        Sort::Int | Sort::Real | Sort::Str => true,
        Sort::Bool | Sort::Data(_) | Sort::Collection(_) => false,
    }
}

/// The weights of the kinds of values: each is drawn in proportion to its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueWeights {
    /// In a relation to something known: equal, one off, a sum, a difference.
    pub near: u32,
    /// Unlike everything known: a mix-up of two values shows only if they differ.
    pub fresh: u32,
    /// Small: -4 to 12, short texts.
    pub small: u32,
    /// At the edges: powers of two or ten and their neighbours, empty and odd texts.
    pub edge: u32,
    /// Of any magnitude, or long.
    pub wide: u32,
    /// The percentage of draws in which one field is moved to the edge of a comparison.
    pub onto_edges: u32,
}

impl Default for ValueWeights {
    fn default() -> Self {
        Self { near: 5, fresh: 3, small: 3, edge: 2, wide: 2, onto_edges: 25 }
    }
}

impl ValueWeights {
    /// The weights of plain draws: no edges of machine words, and no moves to the edge of a comparison.
    pub const PLAIN: Self = Self { near: 4, fresh: 4, small: 3, edge: 0, wide: 1, onto_edges: 0 };
}

/// The constants that occur in `terms`, truth values left out.
pub(super) fn constants(pool: &TermPool, terms: &[Term]) -> Vec<Value> {
    let constant = |term| match pool.node(term) {
        TermNode::Value(value) if !matches!(value, Value::Bool(_)) => Some(value.clone()),
        _ => None,
    };
    let mut found: Vec<Value> = pool.subterms(terms, |_| true).into_iter().filter_map(constant).collect();
    found.sort();
    found.dedup();
    found
}

/// The number of switches beside a switch, and after it, whose guards are searched: at a location with thousands of
/// switches the table of all comparisons would grow without bound.
const MAX_NEIGHBOURS: usize = 200;

/// The number of guards and updates searched before the first step. Chosen by feel: so that the first step of a large
/// model does not wait; guards beyond it give no hints.
const MAX_LOOKED_AT: usize = 100_000;

/// Returns the comparisons about fields of `id`: in guards of its message at its location, in its updates, and in the
/// guards and updates that can follow it. A division or remainder counts as the comparison of its operands: it wraps
/// round where they are equal.
pub fn comparisons_of(cx: &mut Ctx<'_>, id: SwitchId) -> Vec<Term> {
    let roots = roots_of(cx, id);
    comparisons_in(cx, id, &roots)
}

/// Returns the fields of `id` that are looked up in `roots`.
fn keys_in(cx: &Ctx<'_>, id: SwitchId, roots: &[Term]) -> Vec<KeyUse> {
    let fields = &cx.sts.gates[cx.sts.switches[id].gate].fields;
    let held: FxHashSet<VarId> = cx.sts.vars.iter().map(|held| held.var).collect();
    find_key_uses(cx.pool, roots, fields, |var| held.contains(var))
}

/// Returns the comparisons in guards that mention clocks alone.
fn clock_bounds(cx: &Ctx<'_>) -> Vec<Term> {
    let clocks: FxHashSet<VarId> = cx.sts.clocks.iter().map(|clock| clock.var).collect();
    if clocks.is_empty() {
        return Vec::new();
    }
    let guards: Vec<Term> = cx.sts.switches.iter().map(|switch| switch.guard).collect();
    let is_bound = |&term: &Term| {
        is_comparison(cx.pool, term) && cx.pool.free_vars(term).iter().all(|var| clocks.contains(var))
    };
    let mut found: Vec<Term> =
        cx.pool.subterms(&guards, |term| !cx.pool.is_ground(term)).into_iter().filter(is_bound).collect();
    found.truncate(MAX_CLOCK_BOUNDS);
    found
}

fn comparisons_in(cx: &mut Ctx<'_>, id: SwitchId, roots: &[Term]) -> Vec<Term> {
    let sts = cx.sts;
    let fields = &sts.gates[sts.switches[id].gate].fields;
    let held: FxHashSet<VarId> = sts.vars.iter().map(|held| held.var).collect();
    // A comparison with anything else, such as a field of another message, cannot be moved to its edge here.
    let own = |var: &VarId| fields.contains(var) || held.contains(var);
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    for term in cx.pool.subterms(roots, |term| !cx.pool.is_ground(term)) {
        let term = wraps(cx.pool, term).unwrap_or(term);
        let is_new = is_comparison(cx.pool, term) && seen.insert(term);
        let vars = if is_new { cx.pool.free_vars(term) } else { continue };
        if vars.iter().any(|var| fields.contains(var)) && vars.iter().all(own) {
            found.push(term);
        }
    }
    found
}

/// Returns the terms in which comparisons about fields of `id` may occur.
fn roots_of(cx: &mut Ctx<'_>, id: SwitchId) -> Vec<Term> {
    let sts = cx.sts;
    let switch = &sts.switches[id];
    let mut roots: Vec<Term> = switch.update.iter().map(|&(_, term)| term).collect();
    let same = sts.switches_from(switch.source).filter(|(_, other)| other.gate == switch.gate);
    roots.extend(same.map(|(_, other)| other.guard).take(MAX_NEIGHBOURS));
    if !roots.contains(&switch.guard) {
        roots.push(switch.guard);
    }
    // What follows compares the values after the update; put in terms of those before, it compares the fields.
    let update: Substitution = switch.update.iter().copied().collect();
    for (_, next) in sts.switches_from(switch.target).take(MAX_NEIGHBOURS) {
        roots.push(cx.pool.substitute(next.guard, &update));
        for &(_, term) in &next.update {
            roots.push(cx.pool.substitute(term, &update));
        }
    }
    roots
}

/// Returns the equation of the operands of a division or remainder, which wraps round there; `None` for other terms.
fn wraps(pool: &mut TermPool, term: Term) -> Option<Term> {
    match *pool.node(term) {
        TermNode::Div(a, b) | TermNode::Rem(a, b) => Some(pool.eq(a, b)),
        _ => None,
    }
}

/// Returns whether `term` is a formula other than a connective, a constant or a quantifier.
#[must_use]
pub fn is_comparison(pool: &TermPool, term: Term) -> bool {
    let node = pool.node(term);
    let is_connective =
        matches!(node, TermNode::Not(_) | TermNode::And(_) | TermNode::Or(_) | TermNode::Ite(..));
    let is_formula = pool.sort(term) == Sort::Bool
        && !matches!(node, TermNode::Value(_) | TermNode::Exists(..) | TermNode::Lambda(..));
    is_formula && !is_connective
}
