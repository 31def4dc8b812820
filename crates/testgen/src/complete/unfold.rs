//! Bounded collections: a model as far as its collections hold at most a few elements.
//!
//! How many elements the lists, sets and maps of a model hold becomes part of its location, and every element becomes a
//! variable. Terms over collections then are terms over elements, which a solver decides; and there are finitely many
//! locations. A step after which a collection would hold more leads to a location of its own, `beyond`, without
//! switches. Where a reaction ends there, the input is outside the scope of the suite (see
//! [`SuiteScope`](super::SuiteScope)).
//!
//! *Promises.* A run of the model in which no collection holds more elements is a run of the unfolded model, with the
//! same messages, and the other way round.

use std::collections::BTreeMap;

use ioxide_model::index::Idx;
use ioxide_model::sort::{CollectionId, CollectionKind, Sort};
use ioxide_model::source::Span;
use ioxide_model::sts::{LocId, Location, StateVar, Sts, Switch};
use ioxide_model::term::{Substitution, Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::Ctx;
use ioxide_symex::leaves::{apply_decision, find_undecided};

/// The number of locations of an unfolded model. Chosen by feel: a machine of more states has no small suite.
const MAX_PLACES: usize = 200;
/// The number of cases of one switch at one location. Chosen by feel.
const MAX_CASES: usize = 64;

/// A model with the sizes of its collections as locations.
#[derive(Clone, Debug)]
pub struct UnfoldedModel {
    /// The system; its messages are those of the model.
    pub sts: Sts,
    /// The location in which a collection holds more elements.
    pub beyond: LocId,
    /// The names of the collections.
    pub names: Vec<String>,
    /// The number of elements that they hold at most.
    pub most_items: usize,
}

/// A collection and the variables for its elements.
struct UnfoldedVar {
    var: VarId,
    id: CollectionId,
    kind: CollectionKind,
    /// The parts of each element: the item, for a map the key before it.
    elements: Vec<Vec<VarId>>,
}

/// A location of the model with the size of each collection.
type SizedPlace = (LocId, Vec<usize>);

/// A case of a switch in which the collections after it have known elements.
struct UnfoldedCase {
    facts: Vec<Term>,
    stored: Vec<(Term, Sort)>,
}

struct ModelUnfolder<'s> {
    spec: &'s Sts,
    most_items: usize,
    vars: Vec<UnfoldedVar>,
    places: BTreeMap<SizedPlace, LocId>,
    open: Vec<SizedPlace>,
    sts: Sts,
    beyond: LocId,
}

/// Returns the system of `cx` with collections of at most `most_items` elements; `None` if it has none, or if the size
/// of one does not depend on messages alone.
pub fn unfold_collections(cx: &mut Ctx<'_>, most_items: usize) -> Option<UnfoldedModel> {
    let mut unfolder = ModelUnfolder::new(cx, most_items)?;
    let start = unfolder.enter_start(cx.pool)?;
    unfolder.sts.initial = start;
    // A place is a location with the size of every collection. Each is entered once, and only those are built to which
    // a switch leads.
    while let Some(place) = unfolder.open.pop() {
        unfolder.add_switches(cx, &place)?;
    }
    let names = unfolder.vars.iter().map(|it| cx.pool.var_info(it.var).name.to_string()).collect();
    Some(UnfoldedModel { sts: unfolder.sts, beyond: unfolder.beyond, names, most_items })
}

/// Returns whether the model keeps a collection that [`unfold_collections`] can bound.
pub fn has_collections(pool: &TermPool, sts: &Sts) -> bool {
    sts.vars.iter().any(|var| unfoldable_sort(pool, var.var).is_some())
}

fn unfoldable_sort(pool: &TermPool, var: VarId) -> Option<CollectionId> {
    match pool.var_info(var).sort {
        Sort::Collection(id) if pool.has_shape(Sort::Collection(id)) => Some(id),
        _ => None,
    }
}

impl<'s> ModelUnfolder<'s> {
    fn new(cx: &mut Ctx<'s>, most_items: usize) -> Option<Self> {
        let spec = cx.sts;
        let mut vars = Vec::new();
        for var in &spec.vars {
            if let Some(id) = unfoldable_sort(cx.pool, var.var) {
                vars.push(UnfoldedVar::new(cx.pool, var.var, id, most_items));
            }
        }
        if vars.is_empty() || spec.is_timed() {
            return None;
        }
        let span = spec.locations[spec.initial].span;
        let mut sts =
            Sts { switches: Default::default(), goals: Vec::new(), composition: None, ..spec.clone() };
        sts.locations = [new_location("beyond", span)].into_iter().collect();
        sts.vars.retain(|var| unfoldable_sort(cx.pool, var.var).is_none());
        let (places, open) = (BTreeMap::new(), Vec::new());
        Some(Self { spec, most_items, vars, places, open, sts, beyond: LocId::new(0) })
    }

    /// Adds the variables for elements with their initial values, and enters the initial location.
    fn enter_start(&mut self, pool: &mut TermPool) -> Option<LocId> {
        let mut sizes = Vec::new();
        for unfolded in &self.vars {
            let declared = self.spec.vars.iter().find(|var| var.var == unfolded.var)?;
            let Value::Collection(value) = pool.eval(declared.init?, &Valuation::new()).ok()? else {
                return None;
            };
            let parts: Vec<Value> = value.parts().cloned().collect();
            sizes.push(value.len());
            if value.len() > self.most_items {
                return None;
            }
            // Slots behind the end have the default value, as in `add_case`: equal states must have equal values.
            let mut parts = parts.into_iter();
            for &var in unfolded.elements.iter().flatten() {
                let value = parts.next().unwrap_or_else(|| pool.default_value(pool.var_info(var).sort));
                self.sts.vars.push(StateVar { var, init: Some(pool.value(value)), span: declared.span });
            }
        }
        self.place(pool, (self.spec.initial, sizes))
    }

    /// Returns the location for a location of the model and these sizes, a new one where it was not met before; `None`
    /// if there are too many.
    fn place(&mut self, pool: &TermPool, place: SizedPlace) -> Option<LocId> {
        if let Some(&known) = self.places.get(&place) {
            return Some(known);
        }
        if self.places.len() == MAX_PLACES {
            return None;
        }
        let of = &self.spec.locations[place.0];
        let sized = self.vars.iter().zip(&place.1);
        let sizes: Vec<String> =
            sized.map(|(it, size)| format!("{}: {size}", pool.var_info(it.var).name)).collect();
        let id =
            self.sts.locations.push(new_location(&format!("{} [{}]", of.name, sizes.join(", ")), of.span));
        self.places.insert(place.clone(), id);
        self.open.push(place);
        Some(id)
    }

    fn add_switches(&mut self, cx: &mut Ctx<'_>, place: &SizedPlace) -> Option<()> {
        let (spec, source) = (self.spec, self.places[place]);
        let (names, distinct) = self.elements_at(cx.pool, &place.1);
        for (_, switch) in spec.switches_from(place.0) {
            let guard = cx.pool.substitute(switch.guard, &names);
            let guard = cx.pool.and(distinct.iter().copied().chain([guard]));
            // Folding alone refutes guards about sizes, such as `xs.length() > 2`; the solver is not asked.
            if cx.pool.is_false(guard) {
                continue;
            }
            let value = |pool: &mut TermPool, var: VarId| {
                let assigned = switch.update.iter().find(|(target, _)| *target == var);
                let term = assigned.map_or_else(|| pool.var(var), |(_, term)| *term);
                pool.substitute(term, &names)
            };
            let mut stored = Vec::new();
            for unfolded in &self.vars {
                stored.push((value(cx.pool, unfolded.var), Sort::Collection(unfolded.id)));
            }
            let case = UnfoldedCase { facts: cx.pool.conjuncts(guard), stored };
            for case in split_cases(cx, case)? {
                self.add_case(cx.pool, (source, switch), &names, case)?;
            }
        }
        Some(())
    }

    /// Returns the collections of these sizes as terms over their elements, and the facts that members differ.
    fn elements_at(&self, pool: &mut TermPool, sizes: &[usize]) -> (Substitution, Vec<Term>) {
        let (mut names, mut distinct) = (Substitution::new(), Vec::new());
        for (unfolded, &size) in self.vars.iter().zip(sizes) {
            let mut parts = Vec::new();
            for element in &unfolded.elements[..size] {
                parts.push(pool.tt());
                parts.extend(element.iter().map(|&var| pool.var(var)));
            }
            let row = pool.elements(unfolded.id, parts);
            names.set(unfolded.var, row);
            if unfolded.kind == CollectionKind::List {
                continue;
            }
            let members: Vec<Term> = unfolded.elements[..size].iter().map(|it| pool.var(it[0])).collect();
            // Members of a set and keys of a map differ. The pool does not know that of single variables, so it is a
            // fact of every guard.
            for (at, &one) in members.iter().enumerate() {
                for &other in &members[..at] {
                    distinct.push(pool.ne(other, one));
                }
            }
        }
        (names, distinct)
    }

    /// Adds a switch for one case.
    fn add_case(
        &mut self,
        pool: &mut TermPool,
        (source, switch): (LocId, &Switch),
        names: &Substitution,
        case: UnfoldedCase,
    ) -> Option<()> {
        let mut update: Vec<(VarId, Term)> = Vec::new();
        for &(var, term) in &switch.update {
            if self.vars.iter().all(|unfolded| unfolded.var != var) {
                update.push((var, pool.substitute(term, names)));
            }
        }
        let mut sizes = Vec::new();
        for (unfolded, (term, _)) in self.vars.iter().zip(&case.stored) {
            let elements = elements_of(pool, *term, unfolded.kind)?;
            sizes.push(elements.len());
            // What is beyond an end has a value of its own, so that equal states are equal.
            let parts = elements.into_iter().flatten().map(Some).chain(std::iter::repeat(None));
            for (&var, part) in unfolded.elements.iter().flatten().zip(parts) {
                let term = part.unwrap_or_else(|| {
                    let value = pool.default_value(pool.var_info(var).sort);
                    pool.value(value)
                });
                if term != pool.var(var) {
                    update.push((var, term));
                }
            }
        }
        // All larger sizes share one location. What happens there is outside of the scope, so no update matters.
        let is_beyond = sizes.iter().any(|&size| size > self.most_items);
        let target = if is_beyond { self.beyond } else { self.place(pool, (switch.target, sizes))? };
        let update = if is_beyond { Vec::new() } else { update };
        let guard = pool.and(case.facts);
        self.sts.switches.push(Switch { source, target, guard, update, range_check: None, ..switch.clone() });
        Some(())
    }
}

impl UnfoldedVar {
    fn new(pool: &mut TermPool, var: VarId, id: CollectionId, most_items: usize) -> Self {
        let of = pool.collection(id);
        let name = pool.var_info(var).name.clone();
        let sorts = match of.kind {
            CollectionKind::Map => vec![("key", of.key), ("value", of.item)],
            CollectionKind::List | CollectionKind::Set => vec![("item", of.item)],
        };
        let mut element = |at: usize| -> Vec<VarId> {
            sorts.iter().map(|(part, sort)| pool.declare(&format!("{name}.{part}{at}"), *sort)).collect()
        };
        let elements = (0..most_items).map(&mut element).collect();
        Self { var, id, kind: of.kind, elements }
    }
}

fn new_location(name: &str, span: Span) -> Location {
    Location { name: name.into(), span, doc: String::new() }
}

/// Splits a case until it is decided which elements its collections have; `None` if there are too many cases.
fn split_cases(cx: &mut Ctx<'_>, case: UnfoldedCase) -> Option<Vec<UnfoldedCase>> {
    let (mut done, mut open) = (Vec::new(), vec![case]);
    while let Some(case) = open.pop() {
        if done.len() + open.len() >= MAX_CASES {
            return None;
        }
        // Which elements a term keeps may depend on conditions inside it, such as a filter. They are decided one by
        // one.
        let Some(question) = find_undecided(cx.pool, case.stored.iter().copied(), &case.facts) else {
            done.push(case);
            continue;
        };
        for truth in [false, true] {
            let fact = if truth { question.condition } else { cx.pool.not(question.condition) };
            let mut facts = case.facts.clone();
            facts.extend(cx.pool.conjuncts(fact));
            // A case that may not exist is kept: its guard says so.
            if cx.decide(&facts) == SolverDecision::Unsat {
                continue;
            }
            let stored = apply_decision(cx.pool, case.stored.iter().copied(), question, truth);
            let sorts = case.stored.iter().map(|(_, sort)| *sort);
            open.push(UnfoldedCase { facts, stored: stored.into_iter().zip(sorts).collect() });
        }
    }
    Some(done)
}

/// Returns the elements of a collection, each with its parts; `None` if they are not known.
fn elements_of(pool: &mut TermPool, term: Term, kind: CollectionKind) -> Option<Vec<Vec<Term>>> {
    match pool.node(term).clone() {
        TermNode::Value(Value::Collection(value)) => {
            let parts: Vec<Value> = value.parts().cloned().collect();
            let parts: Vec<Term> = parts.into_iter().map(|part| pool.value(part)).collect();
            Some(parts.chunks(kind.entry_size() - 1).map(<[Term]>::to_vec).collect())
        }
        TermNode::Elements(_, parts) => {
            let entries = parts.chunks(kind.entry_size());
            entries.map(|entry| pool.is_true(entry[0]).then(|| entry[1..].to_vec())).collect()
        }
        _ => None,
    }
}
