//! Operators for faults in the handling of collections: of queues, stores and tables.
//!
//! An item is taken from the wrong end or one off, put at the wrong end, put twice, not put, not removed, put only if
//! the key is new, or put under the next key; a filter lets everything pass; `exists` becomes `forall`.

use ioxide_model::sort::{CollectionKind, CollectionSort, Sort};
use ioxide_model::term::{Term, TermNode, TermOp, TermPool};

/// Returns the faulty variants of the operation at the top of `term`.
pub(super) fn faulty_variants(pool: &mut TermPool, term: Term) -> Vec<Term> {
    match pool.node(term).clone() {
        TermNode::Apply(op, args) => mutate_operation(pool, op, &args),
        TermNode::Elements(sort, parts) => {
            let size = pool.collection(sort).kind.entry_size();
            if parts.len() < 2 * size {
                return Vec::new();
            }
            let without = |at: usize| {
                let kept = parts.chunks(size).enumerate().filter(|(other, _)| *other != at);
                kept.flat_map(|(_, entry)| entry.iter().copied()).collect::<Vec<_>>()
            };
            let shorter: Vec<Vec<Term>> = (0..parts.len() / size).map(without).collect();
            shorter.into_iter().map(|parts| pool.elements(sort, parts)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the changes of an operation on a collection.
fn mutate_operation(pool: &mut TermPool, op: TermOp, args: &[Term]) -> Vec<Term> {
    let Some(of) = pool.collection_of(pool.sort(args[0])) else { return Vec::new() };
    let own = args[0];
    match op {
        TermOp::At if of.kind == CollectionKind::List => {
            let (size, one) = (pool.operate(TermOp::Size, vec![own]), pool.int(1));
            let from_end = pool.sub(size, one);
            let from_end = pool.sub(from_end, args[1]);
            let beside = [from_end, add_offset(pool, args[1], 1), add_offset(pool, args[1], -1)];
            beside.into_iter().map(|at| pool.operate(TermOp::At, vec![own, at])).collect()
        }
        TermOp::At => next_key(pool, of, args[1])
            .into_iter()
            .map(|key| pool.operate(TermOp::At, vec![own, key]))
            .collect(),
        TermOp::Append => faulty_appends(pool, args),
        TermOp::Slice => faulty_slices(pool, args),
        TermOp::Put => {
            let mut found = vec![own];
            if of.kind == CollectionKind::Map {
                let (known, put) =
                    (pool.operate(TermOp::Has, vec![own, args[1]]), pool.operate(TermOp::Put, args.to_vec()));
                found.push(pool.ite(known, own, put));
                found.extend(
                    next_key(pool, of, args[1]).map(|key| pool.operate(TermOp::Put, vec![own, key, args[2]])),
                );
            } else {
                let next = add_offset(pool, args[1], 1);
                found.push(pool.operate(TermOp::Put, vec![own, next, args[2]]));
            }
            found
        }
        TermOp::Without => {
            let mut found = vec![own];
            if let Some(key) = next_key(pool, of, args[1]) {
                let removed = pool.operate(TermOp::Without, args.to_vec());
                found.push(pool.operate(TermOp::Without, vec![removed, key]));
            }
            found
        }
        TermOp::Union => vec![own, args[1]],
        TermOp::Minus => vec![own],
        TermOp::Common => vec![own, pool.operate(TermOp::Union, args.to_vec())],
        TermOp::Reverse | TermOp::Sorted => vec![own],
        TermOp::Size => vec![moved_size(pool, own, 1), moved_size(pool, own, -1)],
        TermOp::Any => {
            let (var, body) = lambda_parts(pool, args[1]);
            vec![pool.for_all_members(var, own, body)]
        }
        TermOp::Collect(into) => {
            let ((_, keep), (var, item)) = (lambda_parts(pool, args[1]), lambda_parts(pool, args[2]));
            let (all, others) = (pool.tt(), pool.not(keep));
            [all, others].into_iter().map(|keep| pool.collect_from(into, var, own, keep, item)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the list with the parts in reverse order, without the last part, and with the last part twice.
fn faulty_appends(pool: &mut TermPool, args: &[Term]) -> Vec<Term> {
    let reversed: Vec<Term> = args.iter().rev().copied().collect();
    let twice: Vec<Term> = args.iter().copied().chain(args.last().copied()).collect();
    let most = args[..args.len() - 1].to_vec();
    [reversed, most, twice].into_iter().map(|args| pool.operate(TermOp::Append, args)).collect()
}

/// Returns the slice from the other end, with bounds one off, and the whole list.
fn faulty_slices(pool: &mut TermPool, args: &[Term]) -> Vec<Term> {
    let (own, from, to) = (args[0], args[1], args[2]);
    let size = pool.operate(TermOp::Size, vec![own]);
    let (other_from, other_to) = (pool.sub(size, to), pool.sub(size, from));
    let ends = [
        [other_from, other_to],
        [add_offset(pool, from, 1), to],
        [add_offset(pool, from, -1), to],
        [from, add_offset(pool, to, -1)],
    ];
    let mut found: Vec<Term> =
        ends.into_iter().map(|[from, to]| pool.operate(TermOp::Slice, vec![own, from, to])).collect();
    found.push(own);
    found
}

fn add_offset(pool: &mut TermPool, number: Term, by: i64) -> Term {
    let by = pool.int(by);
    pool.add2(number, by)
}

fn moved_size(pool: &mut TermPool, collection: Term, by: i64) -> Term {
    let size = pool.operate(TermOp::Size, vec![collection]);
    add_offset(pool, size, by)
}

/// The key after `key`, if keys are whole numbers.
fn next_key(pool: &mut TermPool, of: CollectionSort, key: Term) -> Option<Term> {
    (of.member().base() == Sort::Int).then(|| add_offset(pool, key, 1))
}

/// Returns the variable and the body of a function that is an argument.
fn lambda_parts(pool: &TermPool, term: Term) -> (ioxide_model::term::VarId, Term) {
    match pool.node(term) {
        TermNode::Lambda(var, body) => (*var, *body),
        _ => unreachable!("operations over all items have functions as arguments"),
    }
}
