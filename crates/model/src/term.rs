//! Terms: hash-consed expressions over variables.
//!
//! A [`TermPool`] owns the terms, the variables and the data types of one model; a
//! [`Term`] is an id into it. Equal terms are equal ids. Terms are made only by the
//! builder methods in [`build`](self), which simplify on construction, one named rule
//! per function.
//!
//! *Invariant.* Children have smaller ids than their parent, so a walk in id order
//! meets children first and needs no recursion: deep terms cannot overflow the stack.
//!
//! *Bound variables* are numbered by the height of their quantifier and are never free
//! in a term a caller can hold, so substitution cannot capture, and terms that differ
//! only in the names of bound variables are the same term.

mod build;
mod eval;
mod print;
mod subst;
mod walk;
mod weight;

#[cfg(test)]
pub(crate) mod arbitrary;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

pub use self::eval::EvalError;
pub use self::print::Shown;
pub use self::subst::Substitution;
pub use self::weight::MAX_WEIGHT;

use crate::index::{Idx, IndexVec};
use crate::sort::{Ctor, Data, DataField, DataId, DataKind, Sort};
use crate::value::{DataValue, Value};

crate::index! { /// A term of a [`TermPool`]; equal terms of one pool are equal ids.
pub struct Term; }
crate::index! { /// A variable of a [`TermPool`].
pub struct VarId; }
crate::index! { /// A regular expression of a [`TermPool`].
pub struct RegexId; }

/// What a term is made of.
///
/// *Normal form.* `And`, `Or`, `Add`, `Mul` have at least two children, sorted by id,
/// never one of their own kind; a constant is the first child of `Add` and `Mul`;
/// `Eq` has the smaller id first. There is no `>`, `!=`, `-`, `=>`, `forall`: they are
/// written with these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A constant.
    Value(Value),
    /// A variable.
    Var(VarId),
    /// Negation.
    Not(Term),
    /// Conjunction.
    And(Box<[Term]>),
    /// Disjunction.
    Or(Box<[Term]>),
    /// Equality of terms of one base sort.
    Eq(Term, Term),
    /// Strictly below, for numbers.
    Lt(Term, Term),
    /// At most, for numbers.
    Le(Term, Term),
    /// If the first holds the second, else the third.
    Ite(Term, Term, Term),
    /// Sum.
    Add(Box<[Term]>),
    /// Product.
    Mul(Box<[Term]>),
    /// Euclidean integer quotient; `x / 0 = 0`.
    Div(Term, Term),
    /// Euclidean integer remainder; `x % 0 = x`.
    Rem(Term, Term),
    /// Quotient of reals; `x / 0 = 0`.
    RealDiv(Term, Term),
    /// An integer as a real.
    ToReal(Term),
    /// The greatest integer not above a real.
    Floor(Term),
    /// Strings one after the other.
    Concat(Box<[Term]>),
    /// Number of characters of a string.
    Length(Term),
    /// Whether the first string holds the second.
    Contains(Term, Term),
    /// Whether the second string starts with the first.
    Prefix(Term, Term),
    /// Whether the second string ends with the first.
    Suffix(Term, Term),
    /// Whether the whole string matches.
    Matches(Term, RegexId),
    /// A constructor applied to terms.
    Construct(DataId, u32, Box<[Term]>),
    /// Whether a data term was made by this constructor.
    Is(u32, Term),
    /// A field of a data term, meaningful under [`Is`](Self::Is); else the field's default value.
    Select {
        /// The constructor, by position.
        ctor: u32,
        /// The field, by position.
        field: u32,
        /// The data term.
        arg: Term,
    },
    /// Some values of the bound variables (within their sorts) satisfy the body.
    Exists(Box<[VarId]>, Term),
}

impl Node {
    /// The direct subterms, the body of a quantifier included.
    pub fn children(&self) -> impl Iterator<Item = Term> + '_ {
        let (fixed, list): ([Option<Term>; 3], &[Term]) = match self {
            Self::Value(_) | Self::Var(_) => ([None; 3], &[]),
            Self::Not(a) | Self::ToReal(a) | Self::Floor(a) | Self::Length(a) => {
                ([Some(*a), None, None], &[])
            }
            Self::Matches(a, _) | Self::Is(_, a) | Self::Exists(_, a) => ([Some(*a), None, None], &[]),
            Self::Select { arg, .. } => ([Some(*arg), None, None], &[]),
            Self::Eq(a, b) | Self::Lt(a, b) | Self::Le(a, b) => ([Some(*a), Some(*b), None], &[]),
            Self::Div(a, b) | Self::Rem(a, b) | Self::RealDiv(a, b) => ([Some(*a), Some(*b), None], &[]),
            Self::Contains(a, b) | Self::Prefix(a, b) | Self::Suffix(a, b) => {
                ([Some(*a), Some(*b), None], &[])
            }
            Self::Ite(a, b, c) => ([Some(*a), Some(*b), Some(*c)], &[]),
            Self::And(list) | Self::Or(list) | Self::Add(list) | Self::Mul(list) => ([None; 3], list),
            Self::Concat(list) | Self::Construct(_, _, list) => ([None; 3], list),
        };
        fixed.into_iter().flatten().chain(list.iter().copied())
    }
}

/// A variable: a name for people, and the sort of its values.
#[derive(Clone, Debug)]
pub struct Var {
    /// The name shown to people; need not be unique.
    pub name: Arc<str>,
    /// The sort of its values.
    pub sort: Sort,
    bound: bool,
}

/// A regular expression that matches whole strings.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The text as written.
    pub text: Arc<str>,
    whole: regex::Regex,
}

impl Pattern {
    /// Whether all of `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }
}

/// The text is not a regular expression; the reason is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(pub String);

/// What is known of a term without looking inside.
#[derive(Clone, Copy, Debug)]
struct Facts {
    sort: Sort,
    /// No variable occurs free.
    ground: bool,
    /// One more than the greatest number of a variable bound inside; 0 without quantifier.
    binders: u32,
    /// How heavy its values may become.
    weight: u32,
}

/// Tells pools apart: no two pools of a program have the same, a pool and its clone neither.
///
/// Who remembers terms (a solver does) remembers whose they are.
#[derive(Debug)]
struct PoolId(u64);

impl PoolId {
    fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for PoolId {
    fn default() -> Self {
        Self::fresh()
    }
}

/// A cloned pool goes its own way, so it is another pool.
impl Clone for PoolId {
    fn clone(&self) -> Self {
        Self::fresh()
    }
}

/// The owner of terms, variables, data types and patterns.
///
/// A clone has the same ids, so a worker clones the pool of a model and goes on alone.
#[derive(Clone, Debug, Default)]
pub struct TermPool {
    id: PoolId,
    nodes: IndexSet<Node, FxBuildHasher>,
    facts: Vec<Facts>,
    vars: IndexVec<VarId, Var>,
    /// The variables of engines, by name.
    reserved: Vec<(&'static str, VarId)>,
    indexed: FxHashMap<(VarId, u32), VarId>,
    bound: FxHashMap<(Sort, u32), VarId>,
    data: IndexVec<DataId, Data>,
    patterns: IndexVec<RegexId, Pattern>,
}

impl TermPool {
    /// A pool without terms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Which pool this is; its clones are others.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id.0
    }

    /// What `term` is made of.
    #[must_use]
    pub fn node(&self, term: Term) -> &Node {
        self.nodes.get_index(term.index()).expect("a term of this pool")
    }

    /// The sort of `term`; a variable of a range sort has that range, sums of it do not.
    #[must_use]
    pub fn sort(&self, term: Term) -> Sort {
        self.facts[term.index()].sort
    }

    /// Whether no variable occurs free in `term`.
    #[must_use]
    pub fn is_ground(&self, term: Term) -> bool {
        self.facts[term.index()].ground
    }

    /// Whether a quantifier occurs in `term`.
    #[must_use]
    pub fn has_quantifier(&self, term: Term) -> bool {
        self.facts[term.index()].binders > 0
    }

    /// The constant `term` is, if it is one.
    #[must_use]
    pub fn as_value(&self, term: Term) -> Option<&Value> {
        if let Node::Value(value) = self.node(term) { Some(value) } else { None }
    }

    /// Whether `term` is the constant true.
    #[must_use]
    pub fn is_true(&self, term: Term) -> bool {
        self.as_value(term) == Some(&Value::Bool(true))
    }

    /// Whether `term` is the constant false.
    #[must_use]
    pub fn is_false(&self, term: Term) -> bool {
        self.as_value(term) == Some(&Value::Bool(false))
    }

    /// How many terms there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no term yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Makes a new variable, different from every other even if the name is used already.
    pub fn declare(&mut self, name: &str, sort: Sort) -> VarId {
        self.vars.push(Var { name: name.into(), sort, bound: false })
    }

    /// The variable that engines use under this name: always the same, and none of the model's.
    pub fn reserved(&mut self, name: &'static str, sort: Sort) -> VarId {
        if let Some(&(_, var)) = self.reserved.iter().find(|(known, _)| *known == name) {
            return var;
        }
        let var = self.declare(name, sort);
        self.reserved.push((name, var));
        var
    }

    /// The variable that stands for `base` at step `n` of a path: the papers' indexed or
    /// primed parameters (003 sec. 2.3, 000 Def. 10). The same pair gives the same variable.
    pub fn indexed(&mut self, base: VarId, n: u32) -> VarId {
        if let Some(&var) = self.indexed.get(&(base, n)) {
            return var;
        }
        let Var { name, sort, .. } = self.vars[base].clone();
        let var = self.vars.push(Var { name: format!("{name}@{n}").into(), sort, bound: false });
        self.indexed.insert((base, n), var);
        var
    }

    /// The variable with number `n` among those bound with `sort`.
    fn bound_var(&mut self, sort: Sort, n: u32) -> VarId {
        if let Some(&var) = self.bound.get(&(sort, n)) {
            return var;
        }
        let var = self.vars.push(Var { name: format!("_{n}").into(), sort, bound: true });
        self.bound.insert((sort, n), var);
        var
    }

    /// A variable's name and sort.
    #[must_use]
    pub fn var_info(&self, var: VarId) -> &Var {
        &self.vars[var]
    }

    /// How many variables there are.
    #[must_use]
    pub fn n_vars(&self) -> usize {
        self.vars.len()
    }

    /// Declares a data type.
    ///
    /// # Panics
    /// If it has no constructor.
    pub fn declare_data(&mut self, data: Data) -> DataId {
        assert!(!data.ctors.is_empty(), "a data type has a constructor");
        self.data.push(data)
    }

    /// The option type over `sort`: `none` is constructor 0, `some` is constructor 1.
    pub fn option_of(&mut self, sort: Sort) -> DataId {
        let is_it = |data: &Data| data.kind == DataKind::Option && data.ctors[1].fields[0].sort == sort;
        if let Some((id, _)) = self.data.iter_enumerated().find(|(_, data)| is_it(data)) {
            return id;
        }
        let value = DataField { name: "value".into(), sort };
        let none = Ctor { name: "none".into(), fields: Vec::new() };
        let some = Ctor { name: "some".into(), fields: vec![value] };
        let name = format!("{}?", self.show_sort(sort)).into();
        self.data.push(Data { name, kind: DataKind::Option, ctors: vec![none, some] })
    }

    /// A declared data type.
    #[must_use]
    pub fn data(&self, id: DataId) -> &Data {
        &self.data[id]
    }

    /// The declared data types, in order.
    pub fn data_types(&self) -> impl Iterator<Item = (DataId, &Data)> {
        self.data.iter_enumerated()
    }

    /// A pattern that matches whole strings.
    ///
    /// # Errors
    /// If `text` is not a regular expression of the `regex` crate's syntax, or too big.
    pub fn pattern(&mut self, text: &str) -> Result<RegexId, BadPattern> {
        if let Some((id, _)) = self.patterns.iter_enumerated().find(|(_, pattern)| &*pattern.text == text) {
            return Ok(id);
        }
        // Checked alone first, so that text such as `a)(b` cannot escape the group below.
        regex::Regex::new(text).map_err(|error| BadPattern(error.to_string()))?;
        let whole =
            regex::Regex::new(&format!("^(?s:{text})$")).map_err(|error| BadPattern(error.to_string()))?;
        Ok(self.patterns.push(Pattern { text: text.into(), whole }))
    }

    /// A pattern made by [`pattern`](Self::pattern).
    #[must_use]
    pub fn pattern_info(&self, id: RegexId) -> &Pattern {
        &self.patterns[id]
    }

    /// Whether `value` belongs to `sort`, ranges included.
    #[must_use]
    pub fn has_sort(&self, value: &Value, sort: Sort) -> bool {
        match (value, sort) {
            (Value::Bool(_), Sort::Bool) | (Value::Int(_), Sort::Int) => true,
            (Value::Real(_), Sort::Real) | (Value::Str(_), Sort::Str) => true,
            (Value::Int(n), Sort::Range { lo, hi }) => n.to_i64().is_some_and(|n| lo <= n && n <= hi),
            (Value::Data(value), Sort::Data(id)) => value.data == id && self.has_fields(value),
            _ => false,
        }
    }

    fn has_fields(&self, value: &DataValue) -> bool {
        let Some(ctor) = self.data[value.data].ctors.get(value.ctor as usize) else { return false };
        ctor.fields.len() == value.args.len()
            && ctor.fields.iter().zip(&*value.args).all(|(field, arg)| self.has_sort(arg, field.sort))
    }

    /// A plain value of `sort`: false, 0 (or the nearest value of the range), `""`, the first constructor.
    #[must_use]
    pub fn default_value(&self, sort: Sort) -> Value {
        match sort {
            Sort::Bool => Value::Bool(false),
            Sort::Int => Value::int(0),
            Sort::Range { lo, hi } => Value::int(0.clamp(lo, hi.max(lo))),
            Sort::Real => Value::Real(0.into()),
            Sort::Str => Value::str(""),
            Sort::Data(data) => {
                let fields = &self.data[data].ctors[0].fields;
                let args = fields.iter().map(|field| self.default_value(field.sort)).collect();
                Value::Data(DataValue { data, ctor: 0, args })
            }
        }
    }

    /// Returns the one [`Term`] for `node`, adding it if it is new.
    fn intern(&mut self, node: Node) -> Term {
        if let Some(index) = self.nodes.get_index_of(&node) {
            return Term::new(index);
        }
        debug_assert!(node.children().all(|child| child.index() < self.nodes.len()));
        let facts = self.facts_of(&node);
        self.facts.push(facts);
        let (index, _) = self.nodes.insert_full(node);
        Term::new(index)
    }

    fn facts_of(&self, node: &Node) -> Facts {
        let ground = match node {
            Node::Var(_) => false,
            Node::Exists(vars, body) => self.free_vars(*body).iter().all(|var| vars.contains(var)),
            _ => node.children().all(|child| self.is_ground(child)),
        };
        let inside = node.children().map(|child| self.facts[child.index()].binders).max().unwrap_or(0);
        let binders = match node {
            Node::Exists(vars, _) => inside + vars.len() as u32,
            _ => inside,
        };
        Facts { sort: self.sort_of(node), ground, binders, weight: self.weight_of(node) }
    }

    fn sort_of(&self, node: &Node) -> Sort {
        match node {
            Node::Value(value) => value.base_sort(),
            Node::Var(var) => self.vars[*var].sort,
            Node::Not(_) | Node::And(_) | Node::Or(_) | Node::Eq(..) | Node::Lt(..) | Node::Le(..) => {
                Sort::Bool
            }
            Node::Contains(..) | Node::Prefix(..) | Node::Suffix(..) | Node::Matches(..) => Sort::Bool,
            Node::Is(..) | Node::Exists(..) => Sort::Bool,
            Node::Ite(_, a, b) if self.sort(*a) == self.sort(*b) => self.sort(*a),
            Node::Ite(_, a, _) => self.sort(*a).base(),
            Node::Add(list) | Node::Mul(list) => self.sort(list[0]).base(),
            Node::Div(..) | Node::Rem(..) | Node::Floor(_) | Node::Length(_) => Sort::Int,
            Node::RealDiv(..) | Node::ToReal(_) => Sort::Real,
            Node::Concat(_) => Sort::Str,
            Node::Construct(data, ..) => Sort::Data(*data),
            Node::Select { ctor, field, arg } => match self.sort(*arg) {
                Sort::Data(data) => self.data[data].ctors[*ctor as usize].fields[*field as usize].sort,
                _ => unreachable!("select is built on data terms only"),
            },
        }
    }
}
