//! Exact evaluation: total on ground terms without unbounded quantifiers.

mod budget;
mod quick;

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use self::budget::EvalScope;
pub use self::budget::MAX_EVALUATION_STEPS;
pub(super) use self::budget::count_step;
use self::quick::{BUDGET, QuickGivenUp};
use super::weight::MAX_WEIGHT;
use super::{Term, TermNode, TermOp, TermPool, VarId};
use crate::collection::CollectionValue;
use crate::sort::{CollectionId, CollectionKind, Sort};
use crate::valuation::{Assignment, Valuation};
use crate::value::{DataValue, Value};

/// The greatest number of combinations of values tried for a quantifier. Chosen by feel: it bounds the time.
const MAX_INSTANCES: u64 = 1 << 16;

/// The reason why a term has no value under an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// The variable has no value.
    Unassigned(VarId),
    /// The variable of a quantifier has too many values to try them all.
    Unbounded(VarId),
    /// A number or a text grows beyond what is computed (see [`MAX_WEIGHT`]).
    TooLarge,
    /// The value takes more steps than are made (see [`MAX_EVALUATION_STEPS`]).
    TooLong,
}

impl TermPool {
    /// The value of `term` under `assignment`.
    ///
    /// # Errors
    /// If a free variable has no value, a quantifier ranges over too many values, a value becomes too large, or it
    /// takes too many steps.
    pub fn eval(&self, term: Term, assignment: &impl Assignment) -> Result<Value, EvalError> {
        self.eval_dyn(term, assignment)
    }

    /// Returns whether the formula `term` holds under `assignment`.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// # Panics
    /// If `term` is not of sort bool.
    pub fn holds(&self, term: Term, assignment: &impl Assignment) -> Result<bool, EvalError> {
        let value = self.eval_dyn(term, assignment)?;
        Ok(value.as_bool().expect("a formula has a truth value"))
    }

    fn eval_dyn(&self, term: Term, assignment: &dyn Assignment) -> Result<Value, EvalError> {
        if let TermNode::Value(value) = self.node(term) {
            return Ok(value.clone());
        }
        if self.calls(term) {
            let _scope = EvalScope::enter();
            return self.eval_on_demand(term, assignment);
        }
        // Most terms are small; only if this gives up is the general way taken, from the beginning.
        match self.quick(term, assignment, &mut BUDGET.clone()) {
            Ok(value) => return Ok(value.into_owned()),
            Err(QuickGivenUp::Failed(error)) => return Err(error),
            Err(QuickGivenUp::General) => {}
        }
        let _scope = EvalScope::enter();
        // Children before parents, without recursion. What is bound inside is evaluated where its values are
        // chosen.
        let order = self.subterms(&[term], |sub| self.node(sub).binds().is_empty());
        let mut values: FxHashMap<Term, Value> = FxHashMap::default();
        values.reserve(order.len());
        for sub in order {
            let value = self.evaluate_node(sub, assignment, &values)?;
            values.insert(sub, value);
        }
        Ok(values.remove(&term).expect("the root is the last of its subterms"))
    }

    /// The value of `term`, whose children have theirs in `values`.
    fn evaluate_node(
        &self,
        term: Term,
        assignment: &dyn Assignment,
        values: &FxHashMap<Term, Value>,
    ) -> Result<Value, EvalError> {
        let bool = |t: &Term| values[t].as_bool().expect("sort bool");
        let str = |t: &Term| values[t].as_str().expect("sort string");
        let int = |t: &Term| values[t].as_int().expect("sort int");
        Ok(match self.node(term) {
            TermNode::Value(value) => value.clone(),
            TermNode::Var(var) => assignment.value_of(*var).ok_or(EvalError::Unassigned(*var))?.clone(),
            TermNode::Not(a) => Value::Bool(!bool(a)),
            TermNode::And(list) => Value::Bool(list.iter().all(bool)),
            TermNode::Or(list) => Value::Bool(list.iter().any(bool)),
            TermNode::Eq(a, b) => Value::Bool(values[a] == values[b]),
            // Both sides have one sort, and the order of values is that of their numbers.
            TermNode::Lt(a, b) => Value::Bool(values[a] < values[b]),
            TermNode::Le(a, b) => Value::Bool(values[a] <= values[b]),
            TermNode::Ite(c, a, b) => values[if bool(c) { a } else { b }].clone(),
            TermNode::Add(list) => {
                let sum = |sum: Value, t| bearable(add_values(&sum, &values[t]));
                list[1..].iter().try_fold(values[&list[0]].clone(), sum)?
            }
            TermNode::Mul(list) => {
                let product = |product: Value, t| bearable(multiply_values(&product, &values[t]));
                list[1..].iter().try_fold(values[&list[0]].clone(), product)?
            }
            TermNode::Div(a, b) => Value::Int(int(a).div(int(b))),
            TermNode::Rem(a, b) => Value::Int(int(a).rem(int(b))),
            TermNode::RealDiv(a, b) => {
                let real = |t: &Term| values[t].as_real().expect("sort real");
                bearable(Value::Real(real(a).div(real(b))))?
            }
            TermNode::ToReal(a) => Value::Real(int(a).clone().into()),
            TermNode::Floor(a) => Value::Int(values[a].as_real().expect("sort real").floor()),
            TermNode::Concat(list) => bearable(Value::Str(list.iter().map(str).collect::<String>().into()))?,
            TermNode::Length(a) => Value::int(i64::try_from(str(a).chars().count()).expect("fits in memory")),
            TermNode::Contains(a, b) => Value::Bool(str(a).contains(str(b))),
            TermNode::Prefix(a, b) => Value::Bool(str(b).starts_with(str(a))),
            TermNode::Suffix(a, b) => Value::Bool(str(b).ends_with(str(a))),
            // UTF-8 bytes are ordered as the code points they stand for.
            TermNode::TextLe(a, b) => Value::Bool(str(a) <= str(b)),
            TermNode::Matches(a, pattern) => Value::Bool(self.pattern_info(*pattern).matches(str(a))),
            TermNode::Construct(data, ctor, args) => {
                let args = args.iter().map(|arg| values[arg].clone()).collect();
                with_bearable_parts(Value::Data(DataValue { data: *data, ctor: *ctor, args }))?
            }
            TermNode::Is(ctor, a) => Value::Bool(values[a].as_data().expect("sort data").ctor == *ctor),
            TermNode::Select { ctor, field, arg } => {
                let value = values[arg].as_data().expect("sort data");
                if value.ctor == *ctor {
                    value.args[*field as usize].clone()
                } else {
                    self.default_value(self.sort(term))
                }
            }
            TermNode::Exists(vars, body) => Value::Bool(self.eval_exists(vars, *body, assignment)?),
            TermNode::Elements(sort, parts) => {
                let parts: Vec<Cow<'_, Value>> =
                    parts.iter().map(|part| Cow::Borrowed(&values[part])).collect();
                self.made_of(*sort, &parts)
            }
            TermNode::Apply(TermOp::Any, args) => self.eval_any(args, &values[&args[0]], assignment)?,
            TermNode::Apply(TermOp::Collect(into), args) => {
                self.eval_collect(*into, args, &values[&args[0]], assignment)?
            }
            TermNode::Apply(op, args) => {
                let args: Vec<&Value> = args.iter().map(|arg| &values[arg]).collect();
                self.apply_op(*op, &args, self.sort(term))?
            }
            // Evaluated by whom it is an argument of, once per item.
            TermNode::Lambda(..) => Value::Bool(false),
            TermNode::Call(function, args) => {
                let args: Vec<Value> = args.iter().map(|arg| values[arg].clone()).collect();
                self.eval_call(*function, args)?
            }
        })
    }

    /// Evaluates only what is needed, so that a function that calls itself ends: of a choice the branch
    /// that is taken, of a conjunction or disjunction what no part without calls decides.
    fn eval_on_demand(&self, term: Term, assignment: &dyn Assignment) -> Result<Value, EvalError> {
        let mut values: FxHashMap<Term, Value> = FxHashMap::default();
        let mut open = vec![term];
        while let Some(&top) = open.last() {
            if values.contains_key(&top) {
                open.pop();
                continue;
            }
            // The stack has the terms that are being evaluated: `missing` is the next one that the top needs, if there
            // is one. So deep terms need no recursion.
            let missing = match self.node(top) {
                TermNode::Ite(cond, a, b) => {
                    match values.get(cond).map(|value| value.as_bool() == Some(true)) {
                        None => Some(*cond),
                        Some(taken) => {
                            let branch = if taken { *a } else { *b };
                            match values.get(&branch).cloned() {
                                Some(value) => {
                                    values.insert(top, value);
                                    continue;
                                }
                                None => Some(branch),
                            }
                        }
                    }
                }
                TermNode::And(list) | TermNode::Or(list) => {
                    let absorbing = Value::Bool(matches!(self.node(top), TermNode::Or(_)));
                    if list.iter().any(|part| values.get(part) == Some(&absorbing)) {
                        values.insert(top, absorbing);
                        continue;
                    }
                    // Parts without calls first: they may decide, and then a call that would not end is never made.
                    self.plain_first(list).find(|part| !values.contains_key(part))
                }
                TermNode::Exists(..) | TermNode::Lambda(..) => None,
                node => node.children().find(|child| !values.contains_key(child)),
            };
            match missing {
                Some(child) => open.push(child),
                None => {
                    let value = self.evaluate_node(top, assignment, &values)?;
                    values.insert(top, value);
                }
            }
        }
        Ok(values.remove(&term).expect("the root was evaluated last"))
    }

    /// The collection whose entries have these values, in order.
    fn made_of(&self, sort: CollectionId, parts: &[Cow<'_, Value>]) -> Value {
        let kind = self.collection(sort).kind;
        let entries = parts.chunks(kind.entry_size()).filter(|entry| entry[0].as_bool() == Some(true));
        let item = |value: &Cow<'_, Value>| (**value).clone();
        Value::Collection(match kind {
            CollectionKind::List => CollectionValue::list(sort, entries.map(|entry| item(&entry[1]))),
            CollectionKind::Set => CollectionValue::set(sort, entries.map(|entry| item(&entry[1]))),
            CollectionKind::Map => {
                CollectionValue::map(sort, entries.map(|entry| (item(&entry[1]), item(&entry[2]))))
            }
        })
    }

    /// The variable and the body of a function of one variable.
    pub(super) fn lambda_parts(&self, lambda: Term) -> (VarId, Term) {
        match self.node(lambda) {
            TermNode::Lambda(var, body) => (*var, *body),
            _ => unreachable!("operations that bind a name have functions as arguments"),
        }
    }

    fn eval_any(&self, args: &[Term], over: &Value, outer: &dyn Assignment) -> Result<Value, EvalError> {
        let (var, body) = self.lambda_parts(args[1]);
        for member in over.as_collection().expect("a collection").members() {
            count_step()?;
            let inner = Valuation::from_iter([(var, member.clone())]);
            if self.eval_dyn(body, &(&inner, outer))? == Value::Bool(true) {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }

    fn eval_collect(
        &self,
        into: CollectionId,
        args: &[Term],
        over: &Value,
        outer: &dyn Assignment,
    ) -> Result<Value, EvalError> {
        let ((keep_var, keep), (item_var, item)) = (self.lambda_parts(args[1]), self.lambda_parts(args[2]));
        let mut found = Vec::new();
        for member in over.as_collection().expect("a collection").members() {
            count_step()?;
            // Both functions have a variable of their own, for the same member.
            let inner = Valuation::from_iter([(keep_var, member.clone()), (item_var, member.clone())]);
            if self.eval_dyn(keep, &(&inner, outer))? == Value::Bool(true) {
                found.push(self.eval_dyn(item, &(&inner, outer))?);
            }
        }
        Ok(Value::Collection(match self.collection(into).kind {
            CollectionKind::Set => CollectionValue::set(into, found),
            CollectionKind::List | CollectionKind::Map => CollectionValue::list(into, found),
        }))
    }

    /// Tries every combination of values of the bound variables.
    fn eval_exists(&self, vars: &[VarId], body: Term, outer: &dyn Assignment) -> Result<bool, EvalError> {
        let mut instances = 1u64;
        let mut domains = Vec::with_capacity(vars.len());
        for &var in vars {
            let domain = self.finite_domain(self.var_info(var).sort).ok_or(EvalError::Unbounded(var))?;
            instances = instances.saturating_mul(domain.len() as u64);
            if instances > MAX_INSTANCES {
                return Err(EvalError::Unbounded(var));
            }
            domains.push(domain);
        }
        for instance in 0..instances {
            count_step()?;
            let inner = pick(vars, &domains, instance);
            if self.eval_dyn(body, &(&inner, outer))?.as_bool().expect("sort bool") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the greatest number of items of a set or map of `sort`; `None` for other sorts or if there is no bound.
    #[must_use]
    pub fn most_members(&self, sort: Sort) -> Option<usize> {
        let Sort::Collection(id) = sort else { return None };
        let of = self.collection(id);
        match (of.kind, of.member()) {
            (CollectionKind::List, _) => None,
            (_, Sort::Range { lo, hi }) => usize::try_from(hi.checked_sub(lo)?.checked_add(1)?).ok(),
            (_, member) => self.finite_domain(member).map(|domain| domain.len()),
        }
    }

    /// All values of `sort`, in order, if there are not too many.
    #[must_use]
    pub fn finite_domain(&self, sort: Sort) -> Option<Vec<Value>> {
        match sort {
            Sort::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
            Sort::Range { lo, hi } => {
                let size = hi.checked_sub(lo)?.checked_add(1)?;
                (u64::try_from(size).ok()? <= MAX_INSTANCES).then(|| (lo..=hi).map(Value::int).collect())
            }
            Sort::Int | Sort::Real | Sort::Str | Sort::Collection(_) => None,
            Sort::Data(_) if self.has_shape(sort) => None,
            Sort::Data(data) => {
                let mut all = Vec::new();
                for (ctor, fields) in (0..).zip(self.data(data).ctors.iter().map(|ctor| &ctor.fields)) {
                    let domains: Vec<_> =
                        fields.iter().map(|field| self.finite_domain(field.sort)).collect::<Option<_>>()?;
                    let combos = combinations(&domains)?;
                    all.extend(
                        combos
                            .into_iter()
                            .map(|args| Value::Data(DataValue { data, ctor, args: args.into() })),
                    );
                    if all.len() as u64 > MAX_INSTANCES {
                        return None;
                    }
                }
                Some(all)
            }
        }
    }
}

/// The `instance`-th combination, counting with the first variable fastest.
fn pick(vars: &[VarId], domains: &[Vec<Value>], mut instance: u64) -> Valuation {
    vars.iter()
        .zip(domains)
        .map(|(&var, domain)| {
            let n = domain.len() as u64;
            let value = domain[(instance % n) as usize].clone();
            instance /= n;
            (var, value)
        })
        .collect()
}

/// The product of the domains, unless it is too big.
fn combinations(domains: &[Vec<Value>]) -> Option<Vec<Vec<Value>>> {
    let mut combos = vec![Vec::new()];
    for domain in domains {
        if combos.len().saturating_mul(domain.len()) as u64 > MAX_INSTANCES {
            return None;
        }
        let extend =
            |combo: &Vec<Value>, value: &Value| [combo.as_slice(), std::slice::from_ref(value)].concat();
        combos =
            combos.iter().flat_map(|combo| domain.iter().map(move |value| extend(combo, value))).collect();
    }
    Some(combos)
}

/// `value`, unless it is too large.
pub(super) fn bearable(value: Value) -> Result<Value, EvalError> {
    if value.weight() > MAX_WEIGHT { Err(EvalError::TooLarge) } else { Ok(value) }
}

/// `value`, unless it has too many parts.
pub(super) fn with_bearable_parts(value: Value) -> Result<Value, EvalError> {
    if value.has_bearable_parts() { Ok(value) } else { Err(EvalError::TooLarge) }
}

/// The sum of two numbers, unless it is too large.
pub(super) fn sum_of(a: &Value, b: &Value) -> Result<Value, EvalError> {
    bearable(add_values(a, b))
}

/// Returns the sum of two numbers of one sort.
fn add_values(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a + b),
        (Value::Real(a), Value::Real(b)) => Value::Real(a + b),
        _ => unreachable!("sums are built of numbers of one sort"),
    }
}

/// Returns the product of two numbers of one sort.
fn multiply_values(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a * b),
        (Value::Real(a), Value::Real(b)) => Value::Real(a * b),
        _ => unreachable!("products are built of numbers of one sort"),
    }
}
