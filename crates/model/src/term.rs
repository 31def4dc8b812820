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
mod function;
mod import;
mod op;
mod print;
mod subst;
mod walk;
mod weight;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

pub use self::build::WHOLE_NUMBER;
pub use self::eval::{EvalError, MAX_EVALUATION_STEPS};
pub use self::function::{FnId, RecursiveFunction};
pub use self::import::{DataClash, TermImport};
pub use self::op::{MAX_ITEMS, TermOp};
pub use self::print::{ShownTerm, string_literal};
pub use self::subst::Substitution;
pub use self::weight::MAX_WEIGHT;

use crate::collection::{CollectionValue, Items};
use crate::index::{Idx, IndexVec};
use crate::sort::{
    CollectionId, CollectionKind, CollectionSort, Constructor, DataField, DataId, DataKind, DataSort, Sort,
};
use crate::value::{DataValue, Value};

crate::index! { /// A term of a [`TermPool`]; equal terms of one pool are equal ids.
pub struct Term; }
crate::index! { /// A variable of a [`TermPool`].
pub struct VarId; }
crate::index! { /// A regular expression of a [`TermPool`].
pub struct RegexId; }

/// The structure of a term.
///
/// *Normal form.* `And`, `Or`, `Add`, `Mul` have at least two children, sorted by id,
/// never one of their own kind; a constant is the first child of `Add` and `Mul`;
/// `Eq` has the smaller id first. There is no `>`, `!=`, `-`, `=>`, `forall`: they are
/// written with these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TermNode {
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
    /// Strictly less, for numbers.
    Lt(Term, Term),
    /// Less or equal, for numbers.
    Le(Term, Term),
    /// The conditional: condition, then-branch, else-branch.
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
    /// The first string contains the second.
    Contains(Term, Term),
    /// The second string starts with the first.
    Prefix(Term, Term),
    /// The second string ends with the first.
    Suffix(Term, Term),
    /// The first string is the second or comes before it, by the code points of their characters.
    TextLe(Term, Term),
    /// The whole string matches the pattern.
    Matches(Term, RegexId),
    /// A constructor applied to terms.
    Construct(DataId, u32, Box<[Term]>),
    /// The data term was made by this constructor.
    Is(u32, Term),
    /// A field of a data term; the field's default value unless the term [was made](Self::Is) by the constructor.
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
    /// A collection of known shape: per entry the condition under which it is present, and the item, or key and value.
    ///
    /// A list has the present items in this order; a set has all present items, some perhaps equal; in a map the last
    /// present entry of a key counts.
    Elements(CollectionId, Box<[Term]>),
    /// An operation on collections or texts that is not evaluated because its arguments are not known.
    Apply(TermOp, Box<[Term]>),
    /// The body as a function of the bound variable; only as an argument of [`TermOp::Any`] and [`TermOp::Collect`].
    Lambda(VarId, Term),
    /// A recursive function applied to arguments whose shape is not known.
    Call(FnId, Box<[Term]>),
}

impl TermNode {
    /// The direct subterms, the body of a quantifier included.
    pub fn children(&self) -> impl Iterator<Item = Term> + '_ {
        let (fixed, list): ([Option<Term>; 3], &[Term]) = match self {
            Self::Value(_) | Self::Var(_) => ([None; 3], &[]),
            Self::Not(a) | Self::ToReal(a) | Self::Floor(a) | Self::Length(a) => {
                ([Some(*a), None, None], &[])
            }
            Self::Matches(a, _) | Self::Is(_, a) => ([Some(*a), None, None], &[]),
            Self::Exists(_, a) | Self::Lambda(_, a) => ([Some(*a), None, None], &[]),
            Self::Select { arg, .. } => ([Some(*arg), None, None], &[]),
            Self::Eq(a, b) | Self::Lt(a, b) | Self::Le(a, b) => ([Some(*a), Some(*b), None], &[]),
            Self::Div(a, b) | Self::Rem(a, b) | Self::RealDiv(a, b) => ([Some(*a), Some(*b), None], &[]),
            Self::Contains(a, b) | Self::Prefix(a, b) | Self::Suffix(a, b) | Self::TextLe(a, b) => {
                ([Some(*a), Some(*b), None], &[])
            }
            Self::Ite(a, b, c) => ([Some(*a), Some(*b), Some(*c)], &[]),
            Self::And(list) | Self::Or(list) | Self::Add(list) | Self::Mul(list) => ([None; 3], list),
            Self::Concat(list) | Self::Construct(_, _, list) => ([None; 3], list),
            Self::Elements(_, list) | Self::Apply(_, list) | Self::Call(_, list) => ([None; 3], list),
        };
        fixed.into_iter().flatten().chain(list.iter().copied())
    }

    /// The variables that a binder binds in its body.
    #[must_use]
    pub fn binds(&self) -> &[VarId] {
        match self {
            Self::Exists(vars, _) => vars,
            Self::Lambda(var, _) => std::slice::from_ref(var),
            _ => &[],
        }
    }
}

/// A variable: its name for reports, and the sort of its values.
#[derive(Clone, Debug)]
pub struct Var {
    /// The name for reports; need not be unique.
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
    /// Returns whether all of `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }
}

/// The number of compiled patterns that are kept. Chosen by feel: more than the largest model has, and a few megabytes.
const MAX_KEPT_PATTERNS: usize = 64;

/// Returns `text` compiled such that it matches whole strings.
///
/// What was compiled is kept for the next pool: an editor and a repair load nearly the same model many times.
fn compile_whole(text: &str) -> Result<regex::Regex, BadPattern> {
    static KEPT: Mutex<BTreeMap<String, regex::Regex>> = Mutex::new(BTreeMap::new());
    // A panic while it was locked leaves it as it was: every entry is complete.
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept().get(text) {
        return Ok(known.clone());
    }
    let compile = |text: &str| regex::Regex::new(text).map_err(|error| BadPattern(error.to_string()));
    // Checked alone first, so that text such as `a)(b` cannot escape the group below.
    compile(text)?;
    let whole = compile(&format!("^(?s:{text})$"))?;
    let mut kept = kept();
    if kept.len() >= MAX_KEPT_PATTERNS {
        kept.clear();
    }
    kept.insert(text.to_owned(), whole.clone());
    Ok(whole)
}

/// The error that a text is not a regular expression, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(pub String);

/// Properties of a term, computed when it is interned.
#[derive(Clone, Copy, Debug)]
struct TermFacts {
    sort: Sort,
    /// True if no variable occurs free.
    ground: bool,
    /// One more than the greatest number of a variable bound inside; 0 without quantifier.
    binders: u32,
    /// The weight, a bound on the growth of its values; see [`weight`](TermPool::weight).
    weight: u32,
    /// True if a recursive function is called in it.
    calls: bool,
}

/// The identity of a pool: no two pools of a program share one, not even a pool and its clone.
///
/// A cache of terms (a solver has one) is keyed by it.
#[derive(Debug)]
struct PoolId(u64);

impl PoolId {
    /// Returns an id that no pool of this process has.
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for PoolId {
    fn default() -> Self {
        Self::next()
    }
}

/// The clone gets an identity of its own, since both pools grow apart.
impl Clone for PoolId {
    fn clone(&self) -> Self {
        Self::next()
    }
}

/// The owner of terms, variables, data types and patterns.
///
/// A clone has the same ids, so a worker can clone the pool of a model and add terms of its own.
#[derive(Clone, Debug, Default)]
pub struct TermPool {
    id: PoolId,
    nodes: IndexSet<TermNode, FxBuildHasher>,
    facts: Vec<TermFacts>,
    vars: IndexVec<VarId, Var>,
    /// The reserved variables of engines, by name.
    reserved: Vec<(&'static str, VarId)>,
    indexed: FxHashMap<(VarId, u32), VarId>,
    bound: FxHashMap<(Sort, u32), VarId>,
    data: IndexVec<DataId, DataSort>,
    /// The constructor of the default value of every data type; computed at first use.
    finite: OnceLock<Vec<Option<usize>>>,
    collections: IndexSet<CollectionSort, FxBuildHasher>,
    functions: IndexVec<FnId, RecursiveFunction>,
    patterns: IndexVec<RegexId, Pattern>,
    /// The text of conditions as the author of the model wrote them; the first that was noted counts.
    written: FxHashMap<Term, Arc<str>>,
}

impl TermPool {
    /// A pool without terms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the identity of this pool; a clone has another.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id.0
    }

    /// Notes how the author of a model wrote `term`, a condition. A conjunction is not noted: explanations name its
    /// parts.
    pub fn note_written(&mut self, term: Term, text: &str) {
        if !matches!(self.node(term), TermNode::And(_) | TermNode::Value(_)) {
            self.written.entry(term).or_insert_with(|| text.into());
        }
    }

    /// Returns the text of a condition for people: as it was written if that is shorter, since a written condition may
    /// have become a long term, else as a term.
    #[must_use]
    pub fn show_condition(&self, term: Term) -> String {
        let shown = self.show(term).to_string();
        match self.written.get(&term) {
            Some(written) if written.chars().count() < shown.chars().count() => written.to_string(),
            Some(_) | None => shown,
        }
    }

    /// Returns the structure of `term`.
    #[must_use]
    pub fn node(&self, term: Term) -> &TermNode {
        self.nodes.get_index(term.index()).expect("a term of this pool")
    }

    /// The sort of `term`; a variable of a range sort has that range, sums of it do not.
    #[must_use]
    pub fn sort(&self, term: Term) -> Sort {
        self.facts[term.index()].sort
    }

    /// Returns whether no variable occurs free in `term`.
    #[must_use]
    pub fn is_ground(&self, term: Term) -> bool {
        self.facts[term.index()].ground
    }

    /// Returns whether a quantifier or another binder occurs in `term`.
    #[must_use]
    pub fn has_quantifier(&self, term: Term) -> bool {
        self.facts[term.index()].binders > 0
    }

    /// Returns whether a recursive function is called in `term`.
    #[must_use]
    pub fn calls(&self, term: Term) -> bool {
        self.facts[term.index()].calls
    }

    /// Returns the constant, if `term` is one.
    #[must_use]
    pub fn as_value(&self, term: Term) -> Option<&Value> {
        if let TermNode::Value(value) = self.node(term) { Some(value) } else { None }
    }

    /// Returns whether `term` is the constant true.
    #[must_use]
    pub fn is_true(&self, term: Term) -> bool {
        self.as_value(term) == Some(&Value::Bool(true))
    }

    /// Returns whether `term` is the constant false.
    #[must_use]
    pub fn is_false(&self, term: Term) -> bool {
        self.as_value(term) == Some(&Value::Bool(false))
    }

    /// Returns the number of terms.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there is no term yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Makes a new variable, different from every other even if the name is used already.
    pub fn declare(&mut self, name: &str, sort: Sort) -> VarId {
        self.vars.push(Var { name: name.into(), sort, bound: false })
    }

    /// The variable that engines use under this name: always the same, and none of the model's.
    pub fn reserved_var(&mut self, name: &'static str, sort: Sort) -> VarId {
        if let Some(&(_, var)) = self.reserved.iter().find(|(known, _)| *known == name) {
            return var;
        }
        let var = self.declare(name, sort);
        self.reserved.push((name, var));
        var
    }

    /// The variable that stands for `base` at step `n` of a path: the papers' indexed or
    /// primed parameters (\[AT15] sec. 2.3, \[BT19] Def. 10). The same pair gives the same variable.
    pub fn indexed_var(&mut self, base: VarId, n: u32) -> VarId {
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

    /// Returns the number of variables, reserved, indexed and bound ones included.
    #[must_use]
    pub fn n_vars(&self) -> usize {
        self.vars.len()
    }

    /// Declares a data type.
    ///
    /// # Panics
    /// If it has no constructor.
    pub fn declare_data(&mut self, data: DataSort) -> DataId {
        assert!(!data.ctors.is_empty(), "a data type has a constructor");
        // Another type may change which types are finite, so the answer is computed again.
        self.finite = OnceLock::new();
        self.data.push(data)
    }

    /// The option type over `sort`: `none` is constructor 0, `some` is constructor 1.
    pub fn option_of(&mut self, sort: Sort) -> DataId {
        let is_it = |data: &DataSort| data.kind == DataKind::Option && data.ctors[1].fields[0].sort == sort;
        if let Some((id, _)) = self.data.iter_enumerated().find(|(_, data)| is_it(data)) {
            return id;
        }
        let value = DataField { name: "value".into(), sort };
        let none = Constructor { name: "none".into(), fields: Vec::new() };
        let some = Constructor { name: "some".into(), fields: vec![value] };
        let name = format!("{}?", self.show_sort(sort)).into();
        self.declare_data(DataSort { name, kind: DataKind::Option, ctors: vec![none, some] })
    }

    /// A declared data type.
    #[must_use]
    pub fn data(&self, id: DataId) -> &DataSort {
        &self.data[id]
    }

    /// The declared data types, in order.
    pub fn data_types(&self) -> impl Iterator<Item = (DataId, &DataSort)> {
        self.data.iter_enumerated()
    }

    /// Gives a declared data type its constructors: a type that holds itself is declared first.
    pub fn define_data(&mut self, id: DataId, ctors: Vec<Constructor>) {
        assert!(!ctors.is_empty(), "a data type has a constructor");
        self.finite = OnceLock::new();
        self.data[id].ctors = ctors;
    }

    /// The sort `list<item>`.
    pub fn list_of(&mut self, item: Sort) -> CollectionId {
        self.collection_sort(CollectionSort { kind: CollectionKind::List, key: Sort::Int, item })
    }

    /// The sort `set<item>`.
    pub fn set_of(&mut self, item: Sort) -> CollectionId {
        self.collection_sort(CollectionSort { kind: CollectionKind::Set, key: item, item })
    }

    /// The sort `map<key, item>`.
    pub fn map_of(&mut self, key: Sort, item: Sort) -> CollectionId {
        self.collection_sort(CollectionSort { kind: CollectionKind::Map, key, item })
    }

    /// The id of a sort of collections; the same sort has the same id.
    pub fn collection_sort(&mut self, sort: CollectionSort) -> CollectionId {
        CollectionId::new(self.collections.insert_full(sort).0)
    }

    /// A sort of collections.
    #[must_use]
    pub fn collection(&self, id: CollectionId) -> CollectionSort {
        *self.collections.get_index(id.index()).expect("a collection sort of this pool")
    }

    /// Returns the kind, key and item sorts of `sort`; `None` if it is not a sort of collections.
    #[must_use]
    pub fn collection_of(&self, sort: Sort) -> Option<CollectionSort> {
        if let Sort::Collection(id) = sort { Some(self.collection(id)) } else { None }
    }

    fn known_collection(&self, sort: CollectionSort) -> Option<Sort> {
        self.collections.get_index_of(&sort).map(|at| Sort::Collection(CollectionId::new(at)))
    }

    /// A pattern that matches whole strings.
    ///
    /// # Errors
    /// If `text` is not a regular expression of the `regex` crate's syntax, or too big.
    pub fn pattern(&mut self, text: &str) -> Result<RegexId, BadPattern> {
        if let Some((id, _)) = self.patterns.iter_enumerated().find(|(_, pattern)| &*pattern.text == text) {
            return Ok(id);
        }
        let whole = compile_whole(text)?;
        Ok(self.patterns.push(Pattern { text: text.into(), whole }))
    }

    /// A pattern made by [`pattern`](Self::pattern).
    #[must_use]
    pub fn pattern_info(&self, id: RegexId) -> &Pattern {
        &self.patterns[id]
    }

    /// Returns the patterns made so far, in order.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.patterns.iter()
    }

    /// Returns whether `value` belongs to `sort`, ranges included.
    #[must_use]
    pub fn has_sort(&self, value: &Value, sort: Sort) -> bool {
        match (value, sort) {
            (Value::Bool(_), Sort::Bool) | (Value::Int(_), Sort::Int) => true,
            (Value::Real(_), Sort::Real) | (Value::Str(_), Sort::Str) => true,
            // A number that needs more than 64 bits is in no range: the bounds of ranges have 64 bits.
            (Value::Int(n), Sort::Range { lo, hi }) => n.to_i64().is_some_and(|n| lo <= n && n <= hi),
            (Value::Data(value), Sort::Data(id)) => value.data == id && self.has_fields(value),
            (Value::Collection(value), Sort::Collection(id)) => value.sort == id && self.has_items(value),
            _ => false,
        }
    }

    fn has_fields(&self, value: &DataValue) -> bool {
        let Some(ctor) = self.data[value.data].ctors.get(value.ctor as usize) else { return false };
        ctor.fields.len() == value.args.len()
            && ctor.fields.iter().zip(&*value.args).all(|(field, arg)| self.has_sort(arg, field.sort))
    }

    fn has_items(&self, value: &CollectionValue) -> bool {
        let CollectionSort { kind, key, item } = self.collection(value.sort);
        match (&value.items, kind) {
            (Items::List(items), CollectionKind::List) | (Items::Set(items), CollectionKind::Set) => {
                items.iter().all(|it| self.has_sort(it, item))
            }
            (Items::Map(entries), CollectionKind::Map) => {
                entries.iter().all(|(k, v)| self.has_sort(k, key) && self.has_sort(v, item))
            }
            _ => false,
        }
    }

    /// A plain value of `sort`: false, 0 (or the nearest value of the range), `""`, the first constructor
    /// that does not hold its own type, the empty collection.
    #[must_use]
    pub fn default_value(&self, sort: Sort) -> Value {
        match sort {
            Sort::Bool => Value::Bool(false),
            Sort::Int => Value::int(0),
            Sort::Range { lo, hi } => Value::int(0.clamp(lo, hi.max(lo))),
            Sort::Real => Value::Real(0.into()),
            Sort::Str => Value::str(""),
            Sort::Data(data) => {
                // This ends: the fields of this constructor are of types that were found finite before its
                // own. Front ends refuse types without finite values.
                let ctor = self.plain_ctor(data);
                let fields = &self.data[data].ctors[ctor].fields;
                let args = fields.iter().map(|field| self.default_value(field.sort)).collect();
                Value::Data(DataValue { data, ctor: u32::try_from(ctor).expect("few constructors"), args })
            }
            Sort::Collection(sort) => Value::Collection(self.empty_collection(sort)),
        }
    }

    /// The collection without items.
    #[must_use]
    pub fn empty_collection(&self, sort: CollectionId) -> CollectionValue {
        match self.collection(sort).kind {
            CollectionKind::List => CollectionValue::list(sort, []),
            CollectionKind::Set => CollectionValue::set(sort, []),
            CollectionKind::Map => CollectionValue::map(sort, []),
        }
    }

    fn plain_ctor(&self, data: DataId) -> usize {
        self.finite_ctor(data).unwrap_or(0)
    }

    /// Returns the constructor that leads to a finite value soonest; `None` if the type has no finite value.
    #[must_use]
    pub fn finite_ctor(&self, data: DataId) -> Option<usize> {
        self.finite.get_or_init(|| self.finite_ctors())[data.index()]
    }

    /// Returns for every type the constructor that leads to a finite value soonest.
    ///
    /// Types are found finite in turn: those with a constructor whose fields are of types found before.
    /// Collections may be empty, so they are finite from the start.
    fn finite_ctors(&self) -> Vec<Option<usize>> {
        let mut found: Vec<Option<usize>> = vec![None; self.data.len()];
        // Of every constructor how many fields are of types not found yet, and who waits for a type.
        let mut missing: Vec<Vec<usize>> = Vec::with_capacity(self.data.len());
        let mut waiting: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.data.len()];
        let mut open: VecDeque<(usize, usize)> = VecDeque::new();
        for (at, data) in self.data.iter().enumerate() {
            let mut counts = Vec::with_capacity(data.ctors.len());
            for (ctor, fields) in data.ctors.iter().map(|ctor| &ctor.fields).enumerate() {
                let inside = fields.iter().filter_map(|field| match field.sort {
                    Sort::Data(inner) => Some(inner.index()),
                    _ => None,
                });
                let mut count = 0;
                for inner in inside {
                    count += 1;
                    waiting[inner].push((at, ctor));
                }
                if count == 0 {
                    open.push_back((at, ctor));
                }
                counts.push(count);
            }
            missing.push(counts);
        }
        while let Some((at, ctor)) = open.pop_front() {
            // The first constructor that is complete wins: because of the queue, the one with the least
            // nesting.
            if found[at].is_some() {
                continue;
            }
            found[at] = Some(ctor);
            for (outer, ctor) in std::mem::take(&mut waiting[at]) {
                missing[outer][ctor] -= 1;
                if missing[outer][ctor] == 0 {
                    open.push_back((outer, ctor));
                }
            }
        }
        found
    }

    /// Returns whether values of `data` can contain values of `data`.
    #[must_use]
    pub fn is_recursive(&self, data: DataId) -> bool {
        let own = Sort::Data(data);
        self.held_by(own).into_iter().any(|sort| self.parts_of(sort).contains(&own))
    }

    /// Returns whether values of `sort` contain a collection or a recursive type, so that the sort alone does not
    /// determine their shape.
    #[must_use]
    pub fn has_shape(&self, sort: Sort) -> bool {
        // Depth first; a sort met again on the way down holds itself.
        let mut left: FxHashSet<Sort> = FxHashSet::default();
        let mut on_path: FxHashSet<Sort> = FxHashSet::from_iter([sort]);
        let mut path: Vec<(Sort, Vec<Sort>)> = vec![(sort, self.held_by(sort))];
        while let Some((sort, inside)) = path.last_mut() {
            // Asked for every sort that is reached, so a collection is found however deep it lies.
            if matches!(sort, Sort::Collection(_)) {
                return true;
            }
            let Some(next) = inside.pop() else {
                on_path.remove(sort);
                left.insert(*sort);
                path.pop();
                continue;
            };
            // Left before without a finding: nothing below it holds itself.
            if left.contains(&next) {
                continue;
            }
            if on_path.contains(&next) {
                return true;
            }
            on_path.insert(next);
            path.push((next, self.held_by(next)));
        }
        false
    }

    /// Returns the sorts that a value of `sort` holds directly; for a data type only data types and collections.
    fn held_by(&self, sort: Sort) -> Vec<Sort> {
        match sort {
            Sort::Data(data) => {
                let fields = self.data[data].ctors.iter().flat_map(|ctor| &ctor.fields);
                fields
                    .map(|field| field.sort)
                    .filter(|sort| matches!(sort, Sort::Data(_) | Sort::Collection(_)))
                    .collect()
            }
            Sort::Collection(id) => {
                let CollectionSort { key, item, .. } = self.collection(id);
                vec![key, item]
            }
            _ => Vec::new(),
        }
    }

    /// `sort` and the data types and collections that its values can hold, each once.
    #[must_use]
    pub fn parts_of(&self, sort: Sort) -> Vec<Sort> {
        let mut seen: FxHashSet<Sort> = FxHashSet::from_iter([sort]);
        let mut found = vec![sort];
        let mut next = 0;
        while next < found.len() {
            let inside = self.held_by(found[next]);
            found.extend(inside.into_iter().filter(|&part| seen.insert(part)));
            next += 1;
        }
        found
    }

    /// Returns the one [`Term`] for `node`, adding it if it is new.
    fn intern(&mut self, node: TermNode) -> Term {
        // Nothing is computed for a term that exists.
        if let Some(index) = self.nodes.get_index_of(&node) {
            return Term::new(index);
        }
        debug_assert!(node.children().all(|child| child.index() < self.nodes.len()));
        // From the facts of the children, so a term costs the same at every depth; only binders look into
        // their bodies.
        let facts = self.facts_of(&node);
        self.facts.push(facts);
        let (index, _) = self.nodes.insert_full(node);
        Term::new(index)
    }

    fn facts_of(&self, node: &TermNode) -> TermFacts {
        let ground = match node {
            TermNode::Var(_) => false,
            TermNode::Exists(_, body) | TermNode::Lambda(_, body) => {
                self.free_vars(*body).iter().all(|var| node.binds().contains(var))
            }
            _ => node.children().all(|child| self.is_ground(child)),
        };
        let inside = node.children().map(|child| self.facts[child.index()].binders).max().unwrap_or(0);
        // By height, not by depth: a body has the same number under whatever stands around it, so equal terms
        // stay equal.
        let binders = inside + node.binds().len() as u32;
        let calls = matches!(node, TermNode::Call(..))
            || node.children().any(|child| self.facts[child.index()].calls);
        TermFacts { sort: self.sort_of(node), ground, binders, weight: self.weight_of(node), calls }
    }

    fn sort_of(&self, node: &TermNode) -> Sort {
        match node {
            TermNode::Value(value) => value.base_sort(),
            TermNode::Var(var) => self.vars[*var].sort,
            TermNode::Not(_)
            | TermNode::And(_)
            | TermNode::Or(_)
            | TermNode::Eq(..)
            | TermNode::Lt(..)
            | TermNode::Le(..) => Sort::Bool,
            TermNode::Contains(..)
            | TermNode::Prefix(..)
            | TermNode::Suffix(..)
            | TermNode::TextLe(..)
            | TermNode::Matches(..)
            | TermNode::Is(..)
            | TermNode::Exists(..) => Sort::Bool,
            // A range survives only where both branches have it. Sums and products leave ranges, so they have
            // the base sort.
            TermNode::Ite(_, a, b) if self.sort(*a) == self.sort(*b) => self.sort(*a),
            TermNode::Ite(_, a, _) => self.sort(*a).base(),
            TermNode::Add(list) | TermNode::Mul(list) => self.sort(list[0]).base(),
            TermNode::Div(..) | TermNode::Rem(..) | TermNode::Floor(_) | TermNode::Length(_) => Sort::Int,
            TermNode::RealDiv(..) | TermNode::ToReal(_) => Sort::Real,
            TermNode::Concat(_) => Sort::Str,
            TermNode::Construct(data, ..) => Sort::Data(*data),
            TermNode::Select { ctor, field, arg } => match self.sort(*arg) {
                Sort::Data(data) => self.data[data].ctors[*ctor as usize].fields[*field as usize].sort,
                _ => unreachable!("select is built on data terms only"),
            },
            TermNode::Elements(sort, _) => Sort::Collection(*sort),
            TermNode::Apply(op, args) => {
                let sorts: Vec<Sort> = args.iter().map(|&arg| self.sort(arg)).collect();
                self.op_sort(*op, &sorts)
            }
            TermNode::Lambda(_, body) => self.sort(*body),
            TermNode::Call(function, _) => self.functions[*function].result.base(),
        }
    }
}
