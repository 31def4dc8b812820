//! Elimination of collections and recursive data types, before the other layers see them.
//!
//! With a known shape every operation is a term over elements already (the builders of [`TermPool`] see to it), and
//! nothing is left to do. There remain variables whose shape is not known (a field that the tester chooses, a variable
//! unknown at start) and operations on them. A variable that an equation fixes is replaced by the term it equals. For
//! the rest two questions are asked, the first one always:
//!
//! 1. *Anything goes.* Every term over an unknown shape becomes a variable of its own. More
//!    valuations satisfy such facts than the given ones, so a refutation is a proof.
//! 2. *Small shapes.* The variables get lengths 0, 1, 2, ... (and those around the constants of
//!    the facts), their elements become variables, and the facts scalar. A valuation found is one
//!    of the given facts, and is evaluated on them before it is handed out.
//!
//! *Promises* [`SolverAnswer::Unsat`] only from the first question, or where the small shapes are all there are (a set
//! of few possible items). If no small shape fits, the answer is [`UnknownReason::Beyond`] with the length up to which
//! every shape was refuted: nothing is known of longer ones.

use std::collections::BTreeSet;

use ioxide_model::sort::{CollectionKind, Sort};
use ioxide_model::term::{Substitution, Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use rustc_hash::FxHashMap;

use crate::layers::normalise::complete_valuation;
use crate::solver::{Solver, SolverAnswer, SolverDecision, UnknownReason};
use crate::tally::SolverTally;

/// The lengths that are tried, beside those that the facts mention. These limits were chosen by feel: they bound the
/// number of questions behind one, and the answer names the length up to which nothing fits.
const SMALL_LENGTHS: [usize; 4] = [0, 1, 2, 3];
/// The greatest length that is tried even if a constant suggests more. Chosen by feel: it bounds the time.
const MAX_LENGTH: usize = 40;
/// The greatest size of a set or map sort that is looked at in full. Chosen by feel: it bounds the time.
const MAX_FULL_SIZE: usize = 8;
/// The greatest number of combinations of shapes tried for one question. Chosen by feel: it bounds the time.
const MAX_SHAPES: usize = 24;
/// The greatest number of combinations that are listed and sorted. Chosen by feel: it bounds the time.
const MAX_LISTED_CHOICES: usize = 1_000;
/// The nesting depth of recursive values that are tried. Chosen by feel: it bounds the time.
const MAX_NESTING: usize = 2;

/// The layer that gives collections a known shape.
#[derive(Debug)]
pub struct ShapeLayer<S> {
    inner: S,
    /// A memo of whether a fact is free of collections, so that most facts cost one look-up.
    plain: FxHashMap<Term, bool>,
    stand_ins: FxHashMap<Term, Term>,
    shapes: FxHashMap<(VarId, usize), Term>,
}

impl<S: Solver> ShapeLayer<S> {
    /// Makes a layer that passes facts of known shape to `inner`.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            plain: FxHashMap::default(),
            stand_ins: FxHashMap::default(),
            shapes: FxHashMap::default(),
        }
    }

    fn is_plain(&mut self, pool: &TermPool, facts: &[Term]) -> bool {
        facts.iter().all(|&fact| {
            *self.plain.entry(fact).or_insert_with(|| {
                !pool.subterms(&[fact], |_| true).iter().any(|&sub| needs_shape(pool, sub))
            })
        })
    }

    /// Answers for facts with collections, after replacing the variables that equations fix.
    fn answer_collections(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        let (rest, fixed) = eliminate_fixed(pool, facts);
        if fixed.is_empty() {
            return self.answer_without_fixed(pool, facts);
        }
        let answer = if self.is_plain(pool, &rest) {
            self.inner.check(pool, &rest)
        } else {
            self.answer_without_fixed(pool, &rest)
        };
        // Replacing equals by equals keeps satisfiability, so "unsatisfiable" is the answer for the given facts as
        // well.
        let SolverAnswer::Sat(valuation) = answer else { return answer };
        let terms: Vec<Term> = fixed.iter().map(|(_, term)| *term).chain(facts.iter().copied()).collect();
        let mut all = complete_valuation(pool, &pool.free_vars_of(&terms), &valuation);
        // Later equations may speak of variables that earlier ones fix, so they go first.
        for &(var, term) in fixed.iter().rev() {
            if let Ok(value) = pool.eval(term, &all) {
                all.set(var, value);
            }
        }
        match confirm_valuation(pool, facts, &all) {
            Some(found) => SolverAnswer::Sat(found),
            None => SolverAnswer::Unknown(UnknownReason::Incomplete),
        }
    }

    fn answer_without_fixed(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        let loose = self.relax_facts(pool, facts);
        let vars: Vec<VarId> = pool
            .free_vars_of(facts)
            .into_iter()
            .filter(|&var| pool.has_shape(pool.var_info(var).sort))
            .collect();
        match self.inner.check(pool, &loose) {
            // The first question of the module: it has more solutions than the facts, so that none is a proof.
            SolverAnswer::Unsat => return SolverAnswer::Unsat,
            // By luck the solution may fit; it is evaluated on the facts themselves.
            SolverAnswer::Sat(valuation) => {
                if let Some(found) = confirm_valuation(pool, facts, &valuation) {
                    return SolverAnswer::Sat(found);
                }
            }
            SolverAnswer::Unknown(_) => {}
        }
        if vars.is_empty() {
            return SolverAnswer::Unknown(UnknownReason::Incomplete);
        }
        self.try_small_shapes(pool, facts, &vars)
    }

    fn try_small_shapes(&mut self, pool: &mut TermPool, facts: &[Term], vars: &[VarId]) -> SolverAnswer {
        let lengths = lengths_to_try(pool, facts, vars);
        let mut seen = ShapesSeen::default();
        for choice in enumerate_choices(vars.len(), lengths.len()).take(MAX_SHAPES) {
            let chosen: Vec<usize> = choice.into_iter().map(|at| lengths[at]).collect();
            let shapes: Vec<(VarId, Term)> = vars
                .iter()
                .zip(&chosen)
                .map(|(&var, &length)| (var, self.shape_variable(pool, var, length)))
                .collect();
            // With shapes put in, the builders of the pool rewrite operations to terms over items. What remains opaque,
            // such as a call of a recursive function, is relaxed again, so a solution has to be confirmed here too.
            let known: Substitution = shapes.iter().copied().collect();
            let shaped: Vec<Term> = facts.iter().map(|&fact| pool.substitute(fact, &known)).collect();
            let loose = self.relax_facts(pool, &shaped);
            match self.inner.check(pool, &loose) {
                SolverAnswer::Sat(valuation) => {
                    let valuation = add_shaped_values(pool, &shapes, &shaped, valuation);
                    if let Some(found) = confirm_valuation(pool, facts, &valuation) {
                        return SolverAnswer::Sat(found);
                    }
                }
                SolverAnswer::Unsat => drop(seen.refuted.insert(chosen)),
                SolverAnswer::Unknown(why) => seen.why = seen.why.or(Some(why)),
            }
        }
        seen.into_answer(pool, vars)
    }

    /// Returns `var` as a value of this length whose elements are variables.
    fn shape_variable(&mut self, pool: &mut TermPool, var: VarId, length: usize) -> Term {
        if let Some(&shape) = self.shapes.get(&(var, length)) {
            return shape;
        }
        let info = pool.var_info(var).clone();
        let shape = build_shaped_term(pool, &info.name, info.sort, length, MAX_NESTING);
        self.shapes.insert((var, length), shape);
        shape
    }

    /// Returns the facts with a variable in the place of every term over an unknown shape.
    fn relax_facts(&mut self, pool: &mut TermPool, facts: &[Term]) -> Vec<Term> {
        let mut images: FxHashMap<Term, Option<Term>> = FxHashMap::default();
        for sub in pool.subterms(facts, |_| true) {
            let image = self.relaxed_image(pool, sub, &images);
            images.insert(sub, image);
        }
        facts.iter().map(|fact| images[fact].unwrap_or(*fact)).collect()
    }

    /// Returns `term` without collections; `None` if its own sort has a shape that is not known.
    fn relaxed_image(
        &mut self,
        pool: &mut TermPool,
        term: Term,
        images: &FxHashMap<Term, Option<Term>>,
    ) -> Option<Term> {
        let sort = pool.sort(term);
        let opaque = match pool.node(term) {
            TermNode::Var(_) => pool.has_shape(sort),
            TermNode::Value(value) => holds_collection(value),
            TermNode::Apply(..) | TermNode::Call(..) | TermNode::Elements(..) | TermNode::Lambda(..) => true,
            TermNode::Exists(vars, _) => vars.iter().any(|&var| pool.has_shape(pool.var_info(var).sort)),
            _ => false,
        };
        let opaque = opaque || pool.node(term).children().any(|child| images[&child].is_none());
        if !opaque {
            return Some(pool.with_children(term, |child| images[&child].unwrap_or(child)));
        }
        // A term that mentions a bound variable has another value for each of its values: one variable
        // cannot stand for all of them, so the whole quantifier is replaced.
        let is_lambda = matches!(pool.node(term), TermNode::Lambda(..));
        if is_lambda || pool.has_shape(sort) || pool.is_open(term) {
            return None;
        }
        Some(*self.stand_ins.entry(term).or_insert_with(|| pool.declare_term("unknown", sort).1))
    }
}

impl<S: Solver> Solver for ShapeLayer<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        if self.is_plain(pool, facts) {
            return self.inner.check(pool, facts);
        }
        self.answer_collections(pool, facts)
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        if self.is_plain(pool, facts) {
            return self.inner.decide(pool, facts);
        }
        self.answer_collections(pool, facts).decision()
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        self.inner.add_to_tally(tally);
    }
}

/// Returns the facts without the variables of unknown shape that equations among them fix, and the terms of those
/// variables in the order of replacement.
fn eliminate_fixed(pool: &mut TermPool, facts: &[Term]) -> (Vec<Term>, Vec<(VarId, Term)>) {
    let mut rest: Vec<Term> = facts.iter().flat_map(|&fact| pool.conjuncts(fact)).collect();
    let mut fixed = Vec::new();
    loop {
        let found = rest.iter().enumerate().find_map(|(at, &fact)| {
            let TermNode::Eq(a, b) = *pool.node(fact) else { return None };
            [(a, b), (b, a)].into_iter().find_map(|(side, other)| match *pool.node(side) {
                TermNode::Var(var) if pool.has_shape(pool.sort(side)) && !pool.mentions(other, var) => {
                    Some((at, var, other))
                }
                _ => None,
            })
        });
        let Some((at, var, term)) = found else { return (rest, fixed) };
        // `var = term` is used up. The term must also lie in the sort of the variable, which the equation implied.
        rest.remove(at);
        let known = Substitution::from_iter([(var, term)]);
        rest = rest.into_iter().map(|fact| pool.substitute(fact, &known)).collect();
        let in_sort = pool.domain_fact(pool.var_info(var).sort, term);
        rest.push(in_sort);
        fixed.push((var, term));
    }
}

/// The shapes that were tried.
#[derive(Default)]
struct ShapesSeen {
    /// The refuted combinations of lengths, one length per variable.
    refuted: BTreeSet<Vec<usize>>,
    /// The reason why the first undecided shape was not decided; `None` if the solver decided all.
    why: Option<UnknownReason>,
}

impl ShapesSeen {
    /// Returns the answer if no shape fits: a refutation only if the shapes tried stand for all.
    fn into_answer(self, pool: &TermPool, vars: &[VarId]) -> SolverAnswer {
        let sorts = || vars.iter().map(|&var| pool.var_info(var).sort);
        // Of nested collections only some shapes of each length were tried, so nothing follows from their refutation.
        if !sorts().all(|sort| is_flat(pool, sort)) {
            return SolverAnswer::Unknown(UnknownReason::Nested);
        }
        if let Some(most) = sorts().map(|sort| most_items(pool, sort)).collect::<Option<Vec<_>>>()
            && self.are_extremes_refuted(&most)
        {
            return SolverAnswer::Unsat;
        }
        match (0..=MAX_LENGTH).take_while(|&length| self.are_all_refuted(vars.len(), length)).last() {
            Some(length) => SolverAnswer::Unknown(UnknownReason::Beyond(length)),
            None => SolverAnswer::Unknown(self.why.unwrap_or(UnknownReason::Incomplete)),
        }
    }

    /// Returns whether all combinations were refuted in which each variable has no items or the most it can have. As
    /// items of a set, and keys, may be equal, these stand for all shapes.
    fn are_extremes_refuted(&self, most: &[usize]) -> bool {
        let is_end = |lengths: &&Vec<usize>| lengths.iter().zip(most).all(|(n, most)| *n == 0 || n == most);
        let all = u32::try_from(most.len()).ok().and_then(|n| 2usize.checked_pow(n));
        all == Some(self.refuted.iter().filter(is_end).count())
    }

    /// Returns whether all shapes of `n` variables with at most `length` items each were refuted.
    fn are_all_refuted(&self, n: usize, length: usize) -> bool {
        let all = u32::try_from(n).ok().and_then(|n| (length + 1).checked_pow(n));
        let found = self.refuted.iter().filter(|lengths| lengths.iter().all(|&own| own <= length)).count();
        all == Some(found)
    }
}

/// Returns whether a value of this sort is a collection of plain values, so that its length is its whole shape.
fn is_flat(pool: &TermPool, sort: Sort) -> bool {
    let Sort::Collection(id) = sort else { return false };
    let of = pool.collection(id);
    !pool.has_shape(of.item) && !pool.has_shape(of.key)
}

/// Returns the greatest number of items of a collection of this sort; `None` if it is above [`MAX_FULL_SIZE`] or
/// unbounded.
fn most_items(pool: &TermPool, sort: Sort) -> Option<usize> {
    pool.most_members(sort).filter(|&most| most <= MAX_FULL_SIZE)
}

/// Returns whether `term` needs this layer: a collection, a recursive value, or an operation on one.
fn needs_shape(pool: &TermPool, term: Term) -> bool {
    match pool.node(term) {
        TermNode::Apply(..) | TermNode::Call(..) | TermNode::Elements(..) | TermNode::Lambda(..) => true,
        TermNode::Value(value) => holds_collection(value),
        TermNode::Var(_) => match pool.sort(term) {
            sort @ (Sort::Data(_) | Sort::Collection(_)) => pool.has_shape(sort),
            _ => false,
        },
        _ => false,
    }
}

fn holds_collection(value: &Value) -> bool {
    match value {
        Value::Collection(_) => true,
        Value::Data(data) => data.args.iter().any(holds_collection),
        Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::Str(_) => false,
    }
}

/// Returns the valuation of the free variables of `facts`; `None` unless all of them hold under it.
fn confirm_valuation(pool: &TermPool, facts: &[Term], valuation: &Valuation) -> Option<Valuation> {
    let valuation = complete_valuation(pool, &pool.free_vars_of(facts), valuation);
    let in_sorts = valuation.iter().all(|(var, value)| pool.has_sort(value, pool.var_info(var).sort));
    let holds = facts.iter().all(|&fact| pool.holds(fact, &valuation) == Ok(true));
    (in_sorts && holds).then_some(valuation)
}

/// Returns `valuation` with the values of the variables whose elements it has.
fn add_shaped_values(
    pool: &TermPool,
    shapes: &[(VarId, Term)],
    shaped: &[Term],
    valuation: Valuation,
) -> Valuation {
    let terms: Vec<Term> = shapes.iter().map(|(_, term)| *term).chain(shaped.iter().copied()).collect();
    let mut all = complete_valuation(pool, &pool.free_vars_of(&terms), &valuation);
    for &(var, shape) in shapes {
        if let Ok(value) = pool.eval(shape, &all) {
            all.set(var, value);
        }
    }
    all
}

/// Returns the lengths worth trying: small ones, those around the whole numbers that the facts mention, and the
/// greatest ones of collections that cannot be long.
fn lengths_to_try(pool: &TermPool, facts: &[Term], vars: &[VarId]) -> Vec<usize> {
    let mut lengths = SMALL_LENGTHS.to_vec();
    lengths.extend(vars.iter().filter_map(|&var| most_items(pool, pool.var_info(var).sort)));
    for sub in pool.subterms(facts, |_| true) {
        let n = pool.as_value(sub).and_then(Value::as_int).and_then(|n| n.to_i64());
        if let Some(n) = n.and_then(|n| usize::try_from(n).ok())
            && n < MAX_LENGTH
        {
            lengths.extend([n, n + 1]);
        }
    }
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Every way to choose one of `options` for each of `n`, those with small numbers first.
fn enumerate_choices(n: usize, options: usize) -> impl Iterator<Item = Vec<usize>> {
    // Listed before they are sorted, hence the bound; only the first few are used.
    let all = (0..n).try_fold(1usize, |product, _| product.checked_mul(options)).unwrap_or(usize::MAX);
    let mut listed: Vec<Vec<usize>> = (0..all.min(MAX_LISTED_CHOICES))
        .map(|mut number| {
            let digit = |_| {
                let digit = number % options;
                number /= options;
                digit
            };
            (0..n).map(digit).collect()
        })
        .collect();
    listed.sort_by_key(|choice: &Vec<usize>| choice.iter().sum::<usize>());
    listed.into_iter()
}

/// A term of `sort` made of new variables: collections of this length, other values nested this deep.
fn build_shaped_term(pool: &mut TermPool, name: &str, sort: Sort, length: usize, depth: usize) -> Term {
    match sort {
        Sort::Collection(id) => {
            let of = pool.collection(id);
            // What is inside may be as long as one item; deeper shapes multiply.
            let inner = length.min(1);
            let mut parts = Vec::new();
            for at in 0..length {
                parts.push(pool.tt());
                if of.kind == CollectionKind::Map {
                    parts.push(build_shaped_term(pool, &format!("{name}.key{at}"), of.key, inner, depth));
                }
                parts.push(build_shaped_term(pool, &format!("{name}[{at}]"), of.item, inner, depth));
            }
            pool.elements(id, parts)
        }
        Sort::Data(data) if pool.has_shape(sort) => {
            let recursive = pool.is_recursive(data);
            if recursive && depth == 0 {
                let plain = pool.default_value(sort);
                return pool.value(plain);
            }
            let depth = if recursive { depth - 1 } else { depth };
            let ctors = pool.data(data).ctors.clone();
            let mut cases = Vec::with_capacity(ctors.len());
            for (ctor, fields) in (0..).zip(ctors.iter().map(|ctor| &ctor.fields)) {
                let args: Vec<Term> = fields
                    .iter()
                    .map(|field| {
                        build_shaped_term(pool, &format!("{name}.{}", field.name), field.sort, length, depth)
                    })
                    .collect();
                cases.push(pool.construct(data, ctor, args));
            }
            let last = i64::try_from(cases.len()).map_or(0, |n| n - 1);
            let mut chosen = cases.pop().expect("a data type has a constructor");
            if cases.is_empty() {
                return chosen;
            }
            let (_, tag) = pool.declare_term(&format!("{name}.tag"), Sort::Range { lo: 0, hi: last });
            for (at, case) in (0..).zip(cases).collect::<Vec<_>>().into_iter().rev() {
                let at = pool.int(at);
                let is_it = pool.eq(tag, at);
                chosen = pool.ite(is_it, case, chosen);
            }
            chosen
        }
        _ => pool.declare_term(name, sort).1,
    }
}
