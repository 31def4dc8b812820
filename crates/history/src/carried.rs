//! Fields whose values are only carried: stored, moved and answered, never compared or computed with.
//!
//! Operations that differ in such values alone lead to states that differ in these values alone, so the search can put
//! a *token* into the state for "the value of one of these operations", and find out which one when an answer shows it
//! (`search/tokens.rs`). The analysis reads the paths of the model: it begins with all fields and variables that could
//! carry a value, and removes those that some condition or computation depends on, until none is left to remove.
//!
//! *Promises.* No condition, and no value that is not carried itself, depends on a carried value.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::sort::{CollectionKind, Sort};
use ioxide_model::sts::{GateId, GateKind};
use ioxide_model::term::{Term, TermNode, TermOp, VarId};
use ioxide_model::value::Value;
use ioxide_symex::Ctx;

use crate::sequential::{OperationPath, SequentialModel};
use crate::token::has_token;

/// The greatest number of a message on a path. An operation has an input, an output and internal steps around them
/// (`sequential.rs`).
const MAX_DEPTH: u32 = 40;

/// The inputs of a model with fields whose values are only carried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CarriedFields {
    /// For each input that has some, and whose answers do not show what the model holds, their positions.
    by_input: BTreeMap<GateId, Vec<usize>>,
    /// The output of an input that has only one, without fields.
    acknowledgements: BTreeMap<GateId, GateId>,
}

impl CarriedFields {
    /// Finds the carried fields of a model.
    pub(crate) fn find(cx: &mut Ctx<'_>, model: &SequentialModel) -> Self {
        let analysis = CarryAnalysis::new(cx);
        // Where an answer is not determined by the state, no one label stands for all that the model allows.
        if !model.accepts_all_inputs || !model.paths.iter().all(|path| analysis.has_fixed_output(cx, path)) {
            return Self::default();
        }
        let mut carried = Carried::all(cx, model);
        let find = |cx: &Ctx<'_>, carried: &Carried| {
            model.paths.iter().find_map(|path| analysis.find_compared(cx, model, carried, path))
        };
        // The greatest set that is closed: every turn removes something. Where nothing is left to remove, a constant of
        // the model looks like a token.
        while !carried.is_empty()
            && let Some(compared) = find(cx, &carried)
        {
            debug_assert!(compared.iter().any(|&var| carried.has(var)), "something is removed");
            carried.remove(&compared);
        }
        let mut by_input: BTreeMap<GateId, Vec<usize>> = BTreeMap::new();
        for gate in model.paths.iter().map(|path| path.input).collect::<BTreeSet<GateId>>() {
            let fields = &cx.sts.gates[gate].fields;
            let positions: Vec<usize> = (0..fields.len())
                .filter(|&at| {
                    let field = cx.pool.indexed_var(fields[at], 1);
                    carried.fields.contains(&field)
                })
                .collect();
            let mut paths = model.paths.iter().filter(|path| path.input == gate);
            let is_silent = paths.all(|path| !analysis.shows_carried(cx, &carried, path));
            // An answer that shows a carried value would show which operation a token is as soon as the operation
            // is placed.
            if !positions.is_empty() && is_silent {
                by_input.insert(gate, positions);
            }
        }
        Self { by_input, acknowledgements: find_acknowledgements(cx, model) }
    }

    /// Returns the positions of the carried fields of an input; none if its operations cannot wait for a value.
    pub(crate) fn slots_of(&self, input: GateId) -> &[usize] {
        self.by_input.get(&input).map_or(&[], Vec::as_slice)
    }

    /// Returns the only output that ever answers this input, if it has no fields.
    pub(crate) fn acknowledgement(&self, input: GateId) -> Option<GateId> {
        self.acknowledgements.get(&input).copied()
    }

    /// Returns whether no input has carried fields.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_input.is_empty()
    }
}

fn find_acknowledgements(cx: &Ctx<'_>, model: &SequentialModel) -> BTreeMap<GateId, GateId> {
    let mut outputs: BTreeMap<GateId, BTreeSet<GateId>> = BTreeMap::new();
    for path in &model.paths {
        outputs.entry(path.input).or_default().insert(path.output);
    }
    let only = |(input, outputs): (GateId, BTreeSet<GateId>)| {
        let mut outputs = outputs.into_iter();
        let output = outputs.next()?;
        let is_bare = outputs.next().is_none() && cx.sts.gates[output].fields.is_empty();
        is_bare.then_some((input, output))
    };
    outputs.into_iter().filter_map(only).collect()
}

/// The variables, as they are named before an operation, and fields of inputs that carry values.
struct Carried {
    vars: FxHashSet<VarId>,
    fields: FxHashSet<VarId>,
}

impl Carried {
    /// Returns all that could carry values: whole numbers and texts of any size, also inside of options, records, lists
    /// and the values of maps.
    fn all(cx: &mut Ctx<'_>, model: &SequentialModel) -> Self {
        let mut vars = FxHashSet::default();
        for &before in model.start.terms() {
            if let TermNode::Var(var) = *cx.pool.node(before)
                && can_hold(cx, cx.pool.sort(before))
            {
                vars.insert(var);
            }
        }
        let mut fields = FxHashSet::default();
        for gate in model.paths.iter().map(|path| path.input).collect::<BTreeSet<GateId>>() {
            for &field in &cx.sts.gates[gate].fields {
                if matches!(cx.pool.var_info(field).sort, Sort::Int | Sort::Str) {
                    // The input is the first message of a path, so its fields have the number 1.
                    fields.insert(cx.pool.indexed_var(field, 1));
                }
            }
        }
        Self { vars, fields }
    }

    fn is_empty(&self) -> bool {
        self.vars.is_empty() && self.fields.is_empty()
    }

    /// Returns whether `var` is still taken for a carrier of tokens.
    fn has(&self, var: VarId) -> bool {
        self.vars.contains(&var) || self.fields.contains(&var)
    }

    /// Takes back that these variables carry tokens: their values are compared with others.
    fn remove(&mut self, compared: &[VarId]) {
        for var in compared {
            self.vars.remove(var);
            self.fields.remove(var);
        }
    }
}

/// Returns whether tokens may be inside of values of this sort: nothing in it is limited to a range or is a set, where
/// values are compared.
fn can_hold(cx: &Ctx<'_>, sort: Sort) -> bool {
    let parts = cx.pool.parts_of(sort);
    let is_limited = |part: &Sort| match part {
        Sort::Range { .. } => true,
        Sort::Collection(_) => {
            cx.pool.collection_of(*part).is_none_or(|collection| collection.kind == CollectionKind::Set)
        }
        _ => false,
    };
    parts.iter().any(|part| matches!(part, Sort::Int | Sort::Str)) && !parts.iter().any(is_limited)
}

/// A fact about a field of an output: it has one of these values, as the conditions decide.
#[derive(Default)]
struct OutputFact {
    conditions: Vec<Term>,
    values: Vec<Term>,
}

/// The analysis of the paths of a model.
struct CarryAnalysis {
    /// The fields of every output, as they may be named on a path.
    outputs: FxHashMap<GateId, Vec<FxHashSet<VarId>>>,
}

impl CarryAnalysis {
    fn new(cx: &mut Ctx<'_>) -> Self {
        let mut outputs = FxHashMap::default();
        let is_output = |gate: &GateId| cx.sts.gates[*gate].kind == GateKind::Output;
        let gates: Vec<GateId> = cx.sts.gates.ids().filter(is_output).collect();
        for gate in gates {
            let fields = cx.sts.gates[gate].fields.clone();
            let names = fields.into_iter().map(|field| {
                // The output has a later number on a path, which depends on the internal steps before it.
                (2..=MAX_DEPTH).map(|depth| cx.pool.indexed_var(field, depth)).collect::<FxHashSet<VarId>>()
            });
            outputs.insert(gate, names.collect::<Vec<_>>());
        }
        Self { outputs }
    }

    /// Returns what a fact says a field of the output is, if it says that.
    fn output_value(cx: &Ctx<'_>, names: &FxHashSet<VarId>, fact: Term) -> Option<OutputFact> {
        let is_name = |term: Term| matches!(cx.pool.node(term), TermNode::Var(var) if names.contains(var));
        let only = |value: Term| Some(OutputFact { conditions: Vec::new(), values: vec![value] });
        match *cx.pool.node(fact) {
            TermNode::Eq(one, other) if is_name(one) => only(other),
            TermNode::Eq(one, other) if is_name(other) => only(one),
            // A truth value that is given.
            TermNode::Var(var) if names.contains(&var) => Some(OutputFact::default()),
            TermNode::Not(inner) if is_name(inner) => Some(OutputFact::default()),
            TermNode::Ite(condition, then, other) => {
                let mut both = Self::output_value(cx, names, then)?;
                let other = Self::output_value(cx, names, other)?;
                both.conditions.push(condition);
                both.conditions.extend(other.conditions);
                both.values.extend(other.values);
                Some(both)
            }
            _ => None,
        }
    }

    fn path_facts(cx: &Ctx<'_>, path: &OperationPath) -> Vec<Term> {
        path.facts.iter().flat_map(|&fact| cx.pool.conjuncts(fact)).collect()
    }

    /// Returns whether every field of the output has one value, given the state and the input.
    fn has_fixed_output(&self, cx: &Ctx<'_>, path: &OperationPath) -> bool {
        let facts = Self::path_facts(cx, path);
        self.outputs[&path.output].iter().all(|names| {
            facts.iter().filter_map(|&fact| Self::output_value(cx, names, fact)).any(|given| {
                let mut terms = given.conditions.iter().chain(&given.values);
                terms.all(|&term| names.iter().all(|&name| !cx.pool.mentions(term, name)))
            })
        })
    }

    /// Returns whether the output shows a carried value.
    fn shows_carried(&self, cx: &Ctx<'_>, carried: &Carried, path: &OperationPath) -> bool {
        let facts = Self::path_facts(cx, path);
        let mut values = Vec::new();
        for names in &self.outputs[&path.output] {
            let given = facts.iter().filter_map(|&fact| Self::output_value(cx, names, fact));
            values.extend(given.flat_map(|given| given.values));
        }
        let flows = Flows { cx, carried };
        values.iter().any(|&value| !flows.carried_in(value).is_empty())
    }

    /// Returns variables and fields on which something depends that is not only carried; `None` if there are none.
    fn find_compared(
        &self,
        cx: &Ctx<'_>,
        model: &SequentialModel,
        carried: &Carried,
        path: &OperationPath,
    ) -> Option<Vec<VarId>> {
        let flows = Flows { cx, carried };
        let names = &self.outputs[&path.output];
        let fields = &cx.sts.gates[path.output].fields;
        for fact in Self::path_facts(cx, path) {
            let shown = names.iter().zip(fields).find_map(|(names, &field)| {
                Some((Self::output_value(cx, names, fact)?, cx.pool.var_info(field).sort))
            });
            let found = match shown {
                // What is answered may be carried, unless the range of the field limits it.
                Some((given, sort)) => {
                    let conditions = flows.check_all(&given.conditions);
                    let values = flows.check_all(&given.values).map(|holds| holds && !can_hold(cx, sort));
                    conditions.and_then(|holds| Ok(holds | values?))
                }
                None => flows.holds_carried(fact),
            };
            match found {
                Err(compared) => return Some(compared),
                Ok(true) => return Some(flows.carried_in(fact)),
                Ok(false) => (),
            }
        }
        for ((var, after), &before) in path.store.iter(cx.sts).zip(model.start.terms()) {
            // What nobody reads any more may depend on anything.
            if !model.live.is_live(path.end, var) {
                continue;
            }
            let is_carried = matches!(cx.pool.node(before), TermNode::Var(var) if carried.vars.contains(var));
            match flows.holds_carried(after) {
                Err(compared) => return Some(compared),
                // A carried value moves into a variable that is not carried, and would be compared there.
                Ok(true) if !is_carried => return Some(flows.carried_in(after)),
                Ok(_) => (),
            }
        }
        None
    }
}

/// The ways of carried values through terms.
struct Flows<'a, 'm> {
    cx: &'a Ctx<'m>,
    carried: &'a Carried,
}

impl Flows<'_, '_> {
    /// Returns the variables and fields in a term that carry values.
    fn carried_in(&self, term: Term) -> Vec<VarId> {
        let mut vars = self.cx.pool.free_vars_of(&[term]);
        vars.retain(|&var| self.carried.has(var));
        vars
    }

    /// Returns whether one of `terms` holds carried values.
    ///
    /// # Errors
    /// As for [`holds_carried`](Self::holds_carried).
    fn check_all(&self, terms: &[Term]) -> Result<bool, Vec<VarId>> {
        terms.iter().try_fold(false, |holds, &term| Ok(holds | self.holds_carried(term)?))
    }

    /// Returns whether the value of `term` holds carried values.
    ///
    /// # Errors
    /// If a part of it depends on such values in another way: those it depends on.
    fn holds_carried(&self, term: Term) -> Result<bool, Vec<VarId>> {
        let mut holds: FxHashMap<Term, bool> = FxHashMap::default();
        // Parts come before the terms that are made of them.
        for part in self.cx.pool.subterms(&[term], |_| true) {
            let node = self.cx.pool.node(part);
            let is_held = match node {
                TermNode::Var(var) => self.carried.has(*var),
                // A constant that looks like a token could be taken for one: then nothing is carried.
                TermNode::Value(value) if has_token(value) => return Err(self.all()),
                node if !node.children().any(|child| holds[&child]) => false,
                node => match self.passes_on(node, &holds) {
                    Some(is_held) => is_held,
                    None => return Err(self.carried_in(part)),
                },
            };
            holds.insert(part, is_held);
        }
        Ok(holds[&term])
    }

    /// Returns all variables and fields that carry values.
    fn all(&self) -> Vec<VarId> {
        self.carried.vars.iter().chain(&self.carried.fields).copied().collect()
    }

    /// Returns whether a term with carried values inside holds them as well; `None` if it depends on them in another
    /// way.
    fn passes_on(&self, node: &TermNode, holds: &FxHashMap<Term, bool>) -> Option<bool> {
        let is_plain = |term: &Term| !holds[term];
        let kind = |term: Term| self.cx.pool.collection_of(self.cx.pool.sort(term)).map(|it| it.kind);
        match node {
            TermNode::Ite(condition, ..) => is_plain(condition).then_some(true),
            // Values are put into a record or an option, or taken out of it, and stay what they are.
            TermNode::Construct(..) | TermNode::Select { .. } => Some(true),
            // The case depends on the shape only, and a token is no shape.
            TermNode::Is(..) => Some(false),
            TermNode::Eq(one, other) => {
                let is_shape =
                    |term: Term| matches!(self.cx.pool.node(term), TermNode::Value(value) if is_bare(value));
                // `x == none` and `items == []` ask for the shape. Any other comparison would tell two carried
                // values apart.
                (is_shape(*one) || is_shape(*other)).then_some(false)
            }
            TermNode::Elements(sort, parts) => match self.cx.pool.collection(*sort).kind {
                // A condition and an item; a condition, a key and a value.
                CollectionKind::List => parts.chunks(2).all(|entry| is_plain(&entry[0])).then_some(true),
                CollectionKind::Map => {
                    parts.chunks(3).all(|entry| entry[..2].iter().all(is_plain)).then_some(true)
                }
                CollectionKind::Set => None,
            },
            TermNode::Apply(operation, args) => match (operation, kind(args[0])) {
                (_, None | Some(CollectionKind::Set)) => None,
                // Operations on lists and maps may depend on the number of items, on positions and on keys, none of
                // them carried.
                (TermOp::Size, _) => Some(false),
                (TermOp::Has, Some(CollectionKind::Map)) => is_plain(&args[1]).then_some(false),
                (TermOp::At | TermOp::Put, _) => is_plain(&args[1]).then_some(true),
                (TermOp::Without, Some(CollectionKind::Map)) => is_plain(&args[1]).then_some(true),
                (TermOp::Append | TermOp::Reverse, Some(CollectionKind::List)) => Some(true),
                (TermOp::Slice, Some(CollectionKind::List)) => args[1..].iter().all(is_plain).then_some(true),
                (TermOp::Keys, Some(CollectionKind::Map)) => Some(false),
                (TermOp::Values, Some(CollectionKind::Map)) => Some(true),
                _ => None,
            },
            // The bodies of `all`, `map` and so on could compare the items.
            _ => None,
        }
    }
}

/// Returns whether a value has no value inside that could be carried, as `none` and `[]`.
fn is_bare(value: &Value) -> bool {
    match value {
        Value::Data(data) => data.args.is_empty(),
        Value::Collection(collection) => collection.is_empty(),
        _ => false,
    }
}
