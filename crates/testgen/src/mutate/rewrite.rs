//! Rewriting of terms: every way to apply a rule at one place of a term.

use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::number::{Int, Rational};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::{DataValue, Value};

/// The depth below which no place is changed. Chosen by feel: guards that people write are far less deep; it bounds
/// the recursion on generated ones.
const MAX_DEPTH: usize = 48;
/// The greatest number of changes of one term. Chosen by feel: a term of generated text would otherwise have more
/// mutants than all others together.
const MAX_CHANGES: usize = 200;

/// The rule of a change.
#[derive(Clone, Copy)]
pub(super) enum RewriteRule<'r> {
    Relation,
    Constant,
    /// Another of these variables of the same base sort.
    Variable(&'r [VarId]),
    AndOr,
    Drop,
    /// One branch of an if-then-else in its place.
    Branch,
    /// An operation on a collection that is faulty.
    Collection,
    /// Another operation on the same numbers.
    Arithmetic,
    /// Another of these clocks.
    Clock(&'r [VarId]),
}

/// The terms that `rule`, applied once, makes of `term`.
pub(super) fn rewritten(pool: &mut TermPool, term: Term, rule: RewriteRule<'_>) -> Vec<Term> {
    let mut found = rewrite_everywhere(pool, term, rule, 0);
    found.retain(|&other| other != term);
    found
}

fn rewrite_everywhere(pool: &mut TermPool, term: Term, rule: RewriteRule<'_>, depth: usize) -> Vec<Term> {
    let (mut found, whole) = changes_at_top(pool, term, rule);
    let node = pool.node(term).clone();
    // Inside a quantifier the bound variables would have to be renamed, and people do not write them.
    if depth > MAX_DEPTH || whole || matches!(node, TermNode::Exists(..)) {
        return found;
    }
    for child in node.children() {
        for other in rewrite_everywhere(pool, child, rule, depth + 1) {
            if found.len() >= MAX_CHANGES {
                return found;
            }
            found.push(pool.with_children(term, |it| if it == child { other } else { it }));
        }
    }
    found
}

/// Returns the changes at the top of `term`, and whether the rule does not descend into it.
fn changes_at_top(pool: &mut TermPool, term: Term, rule: RewriteRule<'_>) -> (Vec<Term>, bool) {
    match rule {
        RewriteRule::Relation => relations(pool, term),
        RewriteRule::Constant => (neighbours(pool, term), false),
        RewriteRule::Variable(vars) => (other_variables(pool, term, vars), false),
        RewriteRule::AndOr => (swap_connective(pool, term), false),
        RewriteRule::Drop => (drop_operands(pool, term), false),
        RewriteRule::Branch => (list_branches(pool, term), false),
        RewriteRule::Arithmetic => (other_operations(pool, term), false),
        RewriteRule::Clock(clocks) => (confuse_clocks(pool, term, clocks), false),
        RewriteRule::Collection => (super::collection::faulty_variants(pool, term), false),
    }
}

/// Returns the other relations between the same terms, or the negation, and whether the rule does not descend.
fn relations(pool: &mut TermPool, term: Term) -> (Vec<Term>, bool) {
    let (atom, negated) = match *pool.node(term) {
        TermNode::Not(inner) => (inner, true),
        _ => (term, false),
    };
    let (a, b) = match *pool.node(atom) {
        TermNode::Eq(a, b) | TermNode::Lt(a, b) | TermNode::Le(a, b) => (a, b),
        TermNode::TextLe(a, b) => return (other_text_orders(pool, term, a, b), true),
        TermNode::Var(_) | TermNode::Is(..) if negated => return (vec![atom], true),
        TermNode::Var(_) | TermNode::Is(..) if pool.sort(atom) == ioxide_model::sort::Sort::Bool => {
            return (vec![pool.not(atom)], true);
        }
        _ => return (Vec::new(), false),
    };
    // Without an order only equality and its negation are left.
    if !pool.sort(a).is_numeric() {
        return (vec![pool.not(term)], false);
    }
    // All six relations: a negated one is among them, as the pool writes `a != b` as a negation.
    let all = [pool.eq(a, b), pool.ne(a, b), pool.lt(a, b), pool.le(a, b), pool.gt(a, b), pool.ge(a, b)];
    (all.into_iter().filter(|&other| other != term).collect(), true)
}

/// Returns the other relations between two texts that are compared by order.
fn other_text_orders(pool: &mut TermPool, term: Term, a: Term, b: Term) -> Vec<Term> {
    let all = [
        pool.eq(a, b),
        pool.ne(a, b),
        pool.text_lt(a, b),
        pool.text_le(a, b),
        pool.text_lt(b, a),
        pool.text_le(b, a),
    ];
    all.into_iter().filter(|&other| other != term).collect()
}

/// Returns the neighbours of a constant.
fn neighbours(pool: &mut TermPool, term: Term) -> Vec<Term> {
    let Some(value) = pool.as_value(term).cloned() else { return Vec::new() };
    let one = || Int::from(1);
    let values = match value {
        Value::Bool(_) => Vec::new(),
        Value::Int(n) => vec![Value::Int(&n + one()), Value::Int(&n + Int::from(-1))],
        Value::Real(r) => {
            let step = |n: i64| Value::Real(&r + Rational::from(Int::from(n)));
            vec![step(1), step(-1)]
        }
        Value::Str(text) if text.is_empty() => vec![Value::str("x")],
        Value::Str(text) => vec![Value::str(""), Value::str(&format!("{text}x"))],
        Value::Collection(items) => smaller(&items).into_iter().map(Value::Collection).collect(),
        Value::Data(data) => {
            let ctors = &pool.data(data.data).ctors;
            if !pool.data(data.data).is_enumeration() || ctors.len() < 2 {
                return Vec::new();
            }
            let n = u32::try_from(ctors.len()).unwrap_or(u32::MAX);
            let with = |ctor: u32| Value::Data(DataValue { ctor, ..data.clone() });
            // The next case of the enum and the one before it, round the ends.
            let mut near = vec![with((data.ctor + 1) % n)];
            if n > 2 {
                near.push(with((data.ctor + n - 1) % n));
            }
            near
        }
    };
    values.into_iter().map(|value| pool.value(value)).collect()
}

/// Returns the collection without its last member, and without its first if there are several.
fn smaller(items: &CollectionValue) -> Vec<CollectionValue> {
    let members: Vec<&Value> = items.members().collect();
    let (Some(first), Some(last)) = (members.first(), members.last()) else { return Vec::new() };
    let Items::List(list) = &items.items else {
        let mut found = vec![items.without(last)];
        found.extend((members.len() > 1).then(|| items.without(first)));
        return found;
    };
    let part = |from, to| {
        let some = list.iter().skip(from).take(to).cloned();
        CollectionValue::list(items.sort, some)
    };
    let mut found = vec![part(0, list.len() - 1)];
    found.extend((list.len() > 1).then(|| part(1, list.len())));
    found
}

fn other_variables(pool: &mut TermPool, term: Term, vars: &[VarId]) -> Vec<Term> {
    let TermNode::Var(var) = *pool.node(term) else { return Vec::new() };
    let sort = pool.var_info(var).sort.base();
    let fits = |other: &&VarId| **other != var && pool.var_info(**other).sort.base() == sort;
    let fitting: Vec<VarId> = vars.iter().filter(fits).copied().collect();
    fitting.into_iter().map(|other| pool.var(other)).collect()
}

fn confuse_clocks(pool: &mut TermPool, term: Term, clocks: &[VarId]) -> Vec<Term> {
    match *pool.node(term) {
        TermNode::Var(var) if clocks.contains(&var) => other_variables(pool, term, clocks),
        _ => Vec::new(),
    }
}

/// Other operations on the same numbers: a part of a sum negated or left out, a sum for a product of two, quotient for
/// remainder and the other way round.
fn other_operations(pool: &mut TermPool, term: Term) -> Vec<Term> {
    match pool.node(term).clone() {
        TermNode::Add(parts) => {
            let mut found = Vec::new();
            for at in 0..parts.len() {
                // `a + b` where `a - b` is right, and one operand forgotten.
                let opposite = pool.neg(parts[at]);
                let flipped =
                    parts.iter().enumerate().map(|(i, &part)| if i == at { opposite } else { part });
                found.push(pool.add(flipped));
                let rest = parts.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &part)| part);
                found.push(pool.add(rest));
            }
            found
        }
        TermNode::Mul(parts) if parts.len() == 2 => vec![pool.add(parts.iter().copied())],
        TermNode::Div(a, b) => vec![pool.rem(a, b)],
        TermNode::Rem(a, b) => vec![pool.div(a, b)],
        _ => Vec::new(),
    }
}

fn swap_connective(pool: &mut TermPool, term: Term) -> Vec<Term> {
    match pool.node(term).clone() {
        TermNode::And(list) => vec![pool.or(list.iter().copied())],
        TermNode::Or(list) => vec![pool.and(list.iter().copied())],
        _ => Vec::new(),
    }
}

fn drop_operands(pool: &mut TermPool, term: Term) -> Vec<Term> {
    let (list, conjunction) = match pool.node(term).clone() {
        TermNode::And(list) => (list, true),
        TermNode::Or(list) => (list, false),
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    // The pool keeps operands sorted and once each, so leaving one out is one mutant.
    for &left_out in &*list {
        let rest = list.iter().copied().filter(|&part| part != left_out);
        found.push(if conjunction { pool.and(rest) } else { pool.or(rest) });
    }
    found
}

/// Returns both branches of a conditional; nothing for other terms.
fn list_branches(pool: &mut TermPool, term: Term) -> Vec<Term> {
    match *pool.node(term) {
        TermNode::Ite(_, then, other) => vec![then, other],
        _ => Vec::new(),
    }
}
