//! Replacement of data terms by scalar ones, so that back-ends see only truth values, numbers and strings.
//!
//! A variable of a data type becomes a *tag*, the position of its constructor, and one
//! variable for every field of every constructor. Equality of data is equality of the
//! tags and, under each constructor, of its fields; a choice between data is a choice
//! between their parts. Valuations are put together again on the way back.
//!
//! *Promises* facts without data terms that are satisfiable exactly if the given ones are.

use ioxide_model::sort::{DataId, Sort};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::{DataValue, Value};
use rustc_hash::FxHashMap;

use crate::solver::{Solver, SolverAnswer, SolverDecision};
use crate::tally::SolverTally;

/// The layer that makes facts scalar.
#[derive(Debug)]
pub struct ScalarLayer<S> {
    inner: S,
    images: ScalarImages,
}

impl<S: Solver> ScalarLayer<S> {
    /// Makes a layer that passes scalar facts to `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, images: ScalarImages::default() }
    }
}

impl<S: Solver> Solver for ScalarLayer<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        let scalars = self.images.rewrite_facts(pool, facts);
        // Most facts have no data: then the valuation needs no restoring either.
        if scalars == facts {
            return self.inner.check(pool, facts);
        }
        match self.inner.check(pool, &scalars) {
            SolverAnswer::Sat(valuation) => {
                SolverAnswer::Sat(self.images.restore_valuation(pool, facts, &valuation))
            }
            other => other,
        }
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        let scalars = self.images.rewrite_facts(pool, facts);
        // Without a valuation there is nothing to restore.
        self.inner.decide(pool, &scalars)
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        self.inner.add_to_tally(tally);
    }
}

/// A term without data: one scalar term, or the parts of a data term.
#[derive(Clone, Debug)]
enum ScalarImage {
    Scalar(Term),
    Data(DataParts),
}

/// A data term in parts.
#[derive(Clone, Debug)]
struct DataParts {
    data: DataId,
    /// The position of the constructor, as an integer.
    tag: Term,
    /// The fields per constructor, meaningless under another tag; `None` if the term never has this tag.
    fields: Vec<Option<Vec<ScalarImage>>>,
}

#[derive(Debug, Default)]
struct ScalarImages {
    /// A memo of the scalar images of facts, so that most facts cost one look-up.
    facts: FxHashMap<Term, Term>,
    terms: FxHashMap<Term, ScalarImage>,
    vars: FxHashMap<VarId, ScalarImage>,
}

impl ScalarImages {
    fn rewrite_facts(&mut self, pool: &mut TermPool, facts: &[Term]) -> Vec<Term> {
        facts.iter().map(|&fact| self.rewrite_fact(pool, fact)).collect()
    }

    fn rewrite_fact(&mut self, pool: &mut TermPool, fact: Term) -> Term {
        if let Some(&image) = self.facts.get(&fact) {
            return image;
        }
        let order = pool.subterms(&[fact], |_| true);
        let has_data = order.iter().any(|&term| matches!(pool.sort(term), Sort::Data(_)));
        let image = if has_data { self.rewrite_term(pool, fact, &order) } else { fact };
        self.facts.insert(fact, image);
        image
    }

    /// The image of `root`, of sort bool, whose subterms are `order`.
    fn rewrite_term(&mut self, pool: &mut TermPool, root: Term, order: &[Term]) -> Term {
        // Bound variables first, all of them: the body of a quantifier comes before the quantifier in `order`.
        for &term in order {
            self.open_binders(pool, term);
        }
        for &term in order {
            if !self.terms.contains_key(&term) {
                let image = self.build_image(pool, term);
                self.terms.insert(term, image);
            }
        }
        self.scalar_image(root)
    }

    /// Declares variables for the bound ones, until their quantifier binds them again: a quantifier that binds more
    /// variables than before must not capture any.
    fn open_binders(&mut self, pool: &mut TermPool, term: Term) {
        let TermNode::Exists(vars, _) = pool.node(term).clone() else { return };
        for &var in &vars {
            self.vars.entry(var).or_insert_with(|| {
                let info = pool.var_info(var).clone();
                fresh_image(pool, &info.name, info.sort)
            });
        }
    }

    fn scalar_image(&self, term: Term) -> Term {
        match self.terms.get(&term) {
            Some(ScalarImage::Scalar(image)) => *image,
            _ => unreachable!("a scalar term has a scalar image"),
        }
    }

    fn data_image(&self, term: Term) -> DataParts {
        match self.terms.get(&term) {
            Some(ScalarImage::Data(parts)) => parts.clone(),
            _ => unreachable!("a data term has parts"),
        }
    }

    /// The image of `term`, whose children have theirs.
    fn build_image(&mut self, pool: &mut TermPool, term: Term) -> ScalarImage {
        let is_data = |pool: &TermPool, term| matches!(pool.sort(term), Sort::Data(_));
        match pool.node(term).clone() {
            TermNode::Var(var) => self.variable_image(pool, var, term),
            TermNode::Value(value) => constant_image(pool, &value),
            TermNode::Construct(data, ctor, args) => {
                let args = args.iter().map(|arg| self.terms[arg].clone()).collect();
                ScalarImage::Data(construct_parts(pool, data, ctor, args))
            }
            TermNode::Ite(cond, a, b) if is_data(pool, a) => {
                let (a, b) = (self.terms[&a].clone(), self.terms[&b].clone());
                choose_image(pool, self.scalar_image(cond), &a, &b)
            }
            TermNode::Eq(a, b) if is_data(pool, a) => {
                let (a, b) = (self.data_image(a), self.data_image(b));
                ScalarImage::Scalar(equal_parts(pool, &a, &b))
            }
            TermNode::Is(ctor, a) => {
                let tag = self.data_image(a).tag;
                ScalarImage::Scalar(has_tag(pool, tag, ctor))
            }
            TermNode::Select { ctor, field, arg } => {
                let parts = self.data_image(arg);
                select_field(pool, &parts, ctor, field)
            }
            TermNode::Exists(vars, body) => {
                // A bound variable of a data type becomes several: its tag and the fields of every constructor.
                let parts: Vec<VarId> =
                    vars.iter().flat_map(|var| image_variables(pool, &self.vars[var])).collect();
                ScalarImage::Scalar(pool.exists(&parts, self.scalar_image(body)))
            }
            _ => ScalarImage::Scalar(pool.with_children(term, |child| self.scalar_image(child))),
        }
    }

    fn variable_image(&mut self, pool: &mut TermPool, var: VarId, term: Term) -> ScalarImage {
        if let Some(image) = self.vars.get(&var) {
            return image.clone();
        }
        let info = pool.var_info(var).clone();
        let image = match info.sort {
            Sort::Data(_) => fresh_image(pool, &info.name, info.sort),
            _ => ScalarImage::Scalar(term),
        };
        self.vars.insert(var, image.clone());
        image
    }

    /// A valuation of the free variables of `facts` from one of their scalar images.
    fn restore_valuation(&self, pool: &TermPool, facts: &[Term], scalars: &Valuation) -> Valuation {
        let value = |var: VarId| match self.vars.get(&var) {
            Some(image) => restore_value(pool, image, scalars, pool.var_info(var).sort),
            None => assigned_value(pool, scalars, var),
        };
        pool.free_vars_of(facts).into_iter().map(|var| (var, value(var))).collect()
    }
}

/// New variables for the parts of a variable of `sort`.
fn fresh_image(pool: &mut TermPool, name: &str, sort: Sort) -> ScalarImage {
    let Sort::Data(data) = sort else { return ScalarImage::Scalar(pool.declare_term(name, sort).1) };
    let ctors = pool.data(data).ctors.clone();
    let last = i64::try_from(ctors.len()).map_or(i64::MAX, |n| n - 1);
    // A type with one constructor needs no tag, which keeps records as simple as their fields.
    debug_assert!(last >= 0, "a data type has a constructor");
    let tag = match last {
        0 => pool.int(0),
        _ => pool.declare_term(&format!("{name}.tag"), Sort::Range { lo: 0, hi: last }).1,
    };
    let mut fields = Vec::with_capacity(ctors.len());
    for ctor in &ctors {
        let part = |field: &ioxide_model::sort::DataField| {
            fresh_image(pool, &format!("{name}.{}.{}", ctor.name, field.name), field.sort)
        };
        fields.push(Some(ctor.fields.iter().map(part).collect()));
    }
    ScalarImage::Data(DataParts { data, tag, fields })
}

/// The variables an image of a variable is made of.
fn image_variables(pool: &TermPool, image: &ScalarImage) -> Vec<VarId> {
    let var = |term: Term| if let TermNode::Var(var) = pool.node(term) { Some(*var) } else { None };
    match image {
        ScalarImage::Scalar(term) => var(*term).into_iter().collect(),
        ScalarImage::Data(parts) => {
            let fields = parts.fields.iter().flatten().flatten().flat_map(|part| image_variables(pool, part));
            var(parts.tag).into_iter().chain(fields).collect()
        }
    }
}

fn constant_image(pool: &mut TermPool, value: &Value) -> ScalarImage {
    match value {
        Value::Data(DataValue { data, ctor, args }) => {
            let args = args.iter().map(|arg| constant_image(pool, arg)).collect();
            ScalarImage::Data(construct_parts(pool, *data, *ctor, args))
        }
        _ => ScalarImage::Scalar(pool.value(value.clone())),
    }
}

/// The parts of a constructor application; it has no fields of other constructors.
fn construct_parts(pool: &mut TermPool, data: DataId, ctor: u32, args: Vec<ScalarImage>) -> DataParts {
    let mut fields = vec![None; pool.data(data).ctors.len()];
    fields[ctor as usize] = Some(args);
    DataParts { data, tag: pool.int(i64::from(ctor)), fields }
}

fn default_image(pool: &mut TermPool, sort: Sort) -> ScalarImage {
    let value = pool.default_value(sort);
    constant_image(pool, &value)
}

fn has_tag(pool: &mut TermPool, tag: Term, ctor: u32) -> Term {
    let ctor = pool.int(i64::from(ctor));
    pool.eq(tag, ctor)
}

/// `if cond then a else b`, part by part.
fn choose_image(pool: &mut TermPool, cond: Term, a: &ScalarImage, b: &ScalarImage) -> ScalarImage {
    match (a, b) {
        (ScalarImage::Scalar(a), ScalarImage::Scalar(b)) => ScalarImage::Scalar(pool.ite(cond, *a, *b)),
        (ScalarImage::Data(a), ScalarImage::Data(b)) => {
            let tag = pool.ite(cond, a.tag, b.tag);
            let mut fields = Vec::with_capacity(a.fields.len());
            for pair in a.fields.iter().zip(&b.fields) {
                fields.push(match pair {
                    (Some(left), Some(right)) => {
                        Some(left.iter().zip(right).map(|(l, r)| choose_image(pool, cond, l, r)).collect())
                    }
                    // Fields of a constructor that only one branch can have: under the other's tag nobody looks at
                    // them.
                    (one, other) => one.clone().or_else(|| other.clone()),
                });
            }
            ScalarImage::Data(DataParts { data: a.data, tag, fields })
        }
        _ => unreachable!("both branches of a choice have one sort"),
    }
}

fn equal_images(pool: &mut TermPool, a: &ScalarImage, b: &ScalarImage) -> Term {
    match (a, b) {
        (ScalarImage::Scalar(a), ScalarImage::Scalar(b)) => pool.eq(*a, *b),
        (ScalarImage::Data(a), ScalarImage::Data(b)) => equal_parts(pool, a, b),
        _ => unreachable!("both sides of an equation have one sort"),
    }
}

fn equal_parts(pool: &mut TermPool, a: &DataParts, b: &DataParts) -> Term {
    let mut facts = vec![pool.eq(a.tag, b.tag)];
    for (ctor, pair) in (0..).zip(a.fields.iter().zip(&b.fields)) {
        // Where one side has no fields its tag is another: equal tags say enough.
        let (Some(left), Some(right)) = pair else { continue };
        let same: Vec<Term> = left.iter().zip(right).map(|(l, r)| equal_images(pool, l, r)).collect();
        let (test, same) = (has_tag(pool, a.tag, ctor), pool.and(same));
        facts.push(pool.implies(test, same));
    }
    pool.and(facts)
}

/// The field under its constructor, else the default value of its sort.
fn select_field(pool: &mut TermPool, parts: &DataParts, ctor: u32, field: u32) -> ScalarImage {
    let sort = pool.data(parts.data).ctors[ctor as usize].fields[field as usize].sort;
    let otherwise = default_image(pool, sort);
    let test = has_tag(pool, parts.tag, ctor);
    match &parts.fields[ctor as usize] {
        Some(fields) => choose_image(pool, test, &fields[field as usize], &otherwise),
        None => otherwise,
    }
}

fn assigned_value(pool: &TermPool, scalars: &Valuation, var: VarId) -> Value {
    scalars.get(var).cloned().unwrap_or_else(|| pool.default_value(pool.var_info(var).sort))
}

/// Returns the value that the parts of a variable have under `scalars`.
fn restore_value(pool: &TermPool, image: &ScalarImage, scalars: &Valuation, sort: Sort) -> Value {
    match image {
        ScalarImage::Scalar(term) => match pool.node(*term) {
            TermNode::Var(var) => assigned_value(pool, scalars, *var),
            _ => pool.default_value(sort),
        },
        ScalarImage::Data(parts) => {
            let tag = match pool.node(parts.tag) {
                TermNode::Var(var) => assigned_value(pool, scalars, *var),
                _ => Value::int(0),
            };
            // A tag that the solver left open, or put out of range, is read as the first constructor.
            let ctor = tag.as_int().and_then(|n| n.to_i64()).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
            let fields = &pool.data(parts.data).ctors[ctor as usize].fields;
            let Some(images) = &parts.fields[ctor as usize] else { return pool.default_value(sort) };
            let args =
                fields.iter().zip(images).map(|(field, it)| restore_value(pool, it, scalars, field.sort));
            Value::Data(DataValue { data: parts.data, ctor, args: args.collect() })
        }
    }
}
