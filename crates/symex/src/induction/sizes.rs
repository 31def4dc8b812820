//! Formulas about collections as formulas about their sizes.
//!
//! The solver decides facts about collections up to a length only, which proves nothing about longer ones. Here a
//! collection becomes a number, its size, computed through the operations that made it; everything else that depends on
//! the contents of a collection becomes a value about which nothing is known.
//!
//! *Promises.* Every valuation that satisfies the facts satisfies what they become, with some values for the new
//! variables. So `Unsat` about the result is `Unsat` about the facts; the converse does not hold.

use rustc_hash::FxHashMap;

use ioxide_model::sort::{CollectionKind, Sort};
use ioxide_model::term::{Term, TermNode, TermOp};
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};

use crate::cx::Ctx;

/// Terms without collections.
pub(super) struct SizedTerms {
    /// The images of the terms, in order.
    pub terms: Vec<Term>,
    /// Facts about the new variables.
    pub facts: Vec<Term>,
    /// True if a term mentioned a collection.
    pub has_collections: bool,
}

/// Returns `terms` with collections as their sizes.
pub(super) fn sized_terms(cx: &mut Ctx<'_>, terms: &[Term]) -> SizedTerms {
    // Parts before what is made of them, so every image is built from images.
    let order = cx.pool.subterms(terms, |_| true);
    if !order.iter().any(|&term| holds_collection(cx, cx.pool.sort(term))) {
        return SizedTerms { terms: terms.to_vec(), facts: Vec::new(), has_collections: false };
    }
    let mut rewriting =
        SizeRewriting { images: FxHashMap::default(), sizes: FxHashMap::default(), facts: Vec::new() };
    for term in order {
        if !holds_collection(cx, cx.pool.sort(term)) {
            let image = rewriting.image_of(cx, term);
            rewriting.images.insert(term, image);
        }
    }
    let images = terms.iter().map(|term| rewriting.images[term]).collect();
    SizedTerms { terms: images, facts: rewriting.facts, has_collections: true }
}

/// Decides `facts` by the sizes of their collections first: an `Unsat` found that way holds for collections of any
/// size.
pub fn decide_by_sizes(cx: &mut Ctx<'_>, facts: &[Term]) -> SolverDecision {
    let sized = sized_terms(cx, facts);
    if sized.has_collections {
        let all: Vec<Term> = sized.terms.into_iter().chain(sized.facts).collect();
        // `Unsat` is sound by the promise above. Anything else says nothing, and the facts themselves are asked.
        if matches!(cx.decide(&all), SolverDecision::Unsat) {
            return SolverDecision::Unsat;
        }
    }
    cx.decide(facts)
}

/// Decides `facts` as [`decide_by_sizes`] does, with a valuation if they can hold.
pub(super) fn check_with_sizes(cx: &mut Ctx<'_>, facts: &[Term]) -> SolverAnswer {
    let sized = sized_terms(cx, facts);
    if sized.has_collections {
        let all: Vec<Term> = sized.terms.into_iter().chain(sized.facts).collect();
        if matches!(cx.decide(&all), SolverDecision::Unsat) {
            return SolverAnswer::Unsat;
        }
    }
    cx.check(facts)
}

/// Returns whether values of `sort` are collections or contain some.
fn holds_collection(cx: &Ctx<'_>, sort: Sort) -> bool {
    match sort {
        Sort::Collection(_) => true,
        Sort::Data(_) => cx.pool.parts_of(sort).iter().any(|part| matches!(part, Sort::Collection(_))),
        _ => false,
    }
}

struct SizeRewriting {
    images: FxHashMap<Term, Term>,
    sizes: FxHashMap<Term, Term>,
    facts: Vec<Term>,
}

impl SizeRewriting {
    /// Returns the image of a term whose sort has no collections; its parts have theirs.
    fn image_of(&mut self, cx: &mut Ctx<'_>, term: Term) -> Term {
        let node = cx.pool.node(term).clone();
        if let TermNode::Apply(TermOp::Size, args) = &node {
            return self.size_of(cx, args[0]);
        }
        let children: Vec<Term> = node.children().collect();
        let is_opaque = |&child: &Term| {
            holds_collection(cx, cx.pool.sort(child)) || matches!(cx.pool.node(child), TermNode::Lambda(..))
        };
        if children.iter().any(is_opaque) {
            // The same term gets the same variable, so equal contents stay equal.
            let unknown = cx.stand_in(term);
            self.add_membership_facts(cx, &node, unknown);
            return unknown;
        }
        let changes = |child: &Term| self.images.get(child).is_some_and(|image| image != child);
        if matches!(node, TermNode::Exists(..) | TermNode::Lambda(..)) {
            // A new variable inside would be another value for every value of the bound one.
            return if children.iter().any(changes) { cx.stand_in(term) } else { term };
        }
        let images = &self.images;
        cx.pool.with_children(term, |child| images.get(&child).copied().unwrap_or(child))
    }

    /// Adds that a collection with a member is not empty.
    fn add_membership_facts(&mut self, cx: &mut Ctx<'_>, node: &TermNode, unknown: Term) {
        if let TermNode::Apply(TermOp::Has, args) = node {
            let size = self.size_of(cx, args[0]);
            let one = cx.pool.int(1);
            let is_there = cx.pool.le(one, size);
            self.facts.push(cx.pool.implies(unknown, is_there));
        }
    }

    /// Returns the size of a collection as a number without collections.
    fn size_of(&mut self, cx: &mut Ctx<'_>, collection: Term) -> Term {
        if let Some(&size) = self.sizes.get(&collection) {
            return size;
        }
        let size = self.computed_size(cx, collection).unwrap_or_else(|| self.unknown_size(cx, collection));
        self.sizes.insert(collection, size);
        size
    }

    /// Returns the size as the operation that made the collection determines it; `None` if it does not.
    fn computed_size(&mut self, cx: &mut Ctx<'_>, collection: Term) -> Option<Term> {
        let kind = cx.pool.collection_of(cx.pool.sort(collection))?.kind;
        match cx.pool.node(collection).clone() {
            TermNode::Value(Value::Collection(value)) => Some(cx.pool.int(i64::try_from(value.len()).ok()?)),
            TermNode::Ite(condition, then, other) => {
                let condition = self.images.get(&condition).copied()?;
                let (then, other) = (self.size_of(cx, then), self.size_of(cx, other));
                Some(cx.pool.ite(condition, then, other))
            }
            TermNode::Elements(_, parts) => {
                let width = kind.entry_size();
                let count = parts.len() / width;
                // Items of a set and keys of a map may be equal to each other, so their number is only bounded.
                if kind != CollectionKind::List && count > 1 {
                    return None;
                }
                let (one, zero) = (cx.pool.int(1), cx.pool.int(0));
                let mut present = vec![zero];
                for entry in parts.chunks(width) {
                    let is_there = self.images.get(&entry[0]).copied()?;
                    present.push(cx.pool.ite(is_there, one, zero));
                }
                Some(cx.pool.add(present))
            }
            TermNode::Apply(op, args) => self.size_after(cx, collection, op, kind, &args),
            _ => None,
        }
    }

    /// Returns the size of what an operation makes, exactly or within bounds.
    fn size_after(
        &mut self,
        cx: &mut Ctx<'_>,
        made: Term,
        op: TermOp,
        kind: CollectionKind,
        args: &[Term],
    ) -> Option<Term> {
        let zero = cx.pool.int(0);
        match op {
            TermOp::Append => {
                let (first, second) = (self.size_of(cx, args[0]), self.size_of(cx, args[1]));
                Some(cx.pool.add([first, second]))
            }
            TermOp::Reverse | TermOp::Sorted | TermOp::Keys | TermOp::Values => {
                Some(self.size_of(cx, args[0]))
            }
            TermOp::Slice => {
                let size = self.size_of(cx, args[0]);
                let (from, to) = (*self.images.get(&args[1])?, *self.images.get(&args[2])?);
                // As the language defines a slice: positions are cut to the list, and an empty range gives no
                // items.
                let is_negative = cx.pool.lt(from, zero);
                let from = cx.pool.ite(is_negative, zero, from);
                let is_beyond = cx.pool.lt(size, to);
                let to = cx.pool.ite(is_beyond, size, to);
                let length = cx.pool.sub(to, from);
                let is_empty = cx.pool.lt(length, zero);
                Some(cx.pool.ite(is_empty, zero, length))
            }
            TermOp::Put | TermOp::Without if kind != CollectionKind::List => {
                Some(self.size_with_key(cx, args[0], args[1], op == TermOp::Put))
            }
            TermOp::Put | TermOp::Without | TermOp::Common | TermOp::Minus | TermOp::Collect(_) => {
                // Not more than before; a list may keep an item that has no position.
                let before = self.size_of(cx, args[0]);
                let extra = cx.pool.int(i64::from(op == TermOp::Put));
                let most = cx.pool.add([before, extra]);
                Some(self.bounded_size(cx, made, zero, most))
            }
            TermOp::Union => {
                let (first, second) = (self.size_of(cx, args[0]), self.size_of(cx, args[1]));
                // `set + {x}`, the usual way to add an item, has an exact size.
                if let Some(item) = only_item(cx, args[1]) {
                    return Some(self.size_with_key(cx, args[0], item, true));
                }
                let most = cx.pool.add([first, second]);
                Some(self.bounded_size(cx, made, first, most))
            }
            TermOp::ToSet => {
                let before = self.size_of(cx, args[0]);
                Some(self.bounded_size(cx, made, zero, before))
            }
            _ => None,
        }
    }

    /// Returns the size of a set or map with a key added, or removed: it changes only if the key was not there, or was.
    fn size_with_key(&mut self, cx: &mut Ctx<'_>, of: Term, key: Term, is_added: bool) -> Term {
        let before = self.size_of(cx, of);
        let has = cx.pool.operate(TermOp::Has, vec![of, key]);
        let has = match cx.pool.as_value(has) {
            // The pool computed it: whether the key is there is known.
            Some(_) => has,
            None => {
                let unknown = cx.stand_in(has);
                let node = cx.pool.node(has).clone();
                self.add_membership_facts(cx, &node, unknown);
                unknown
            }
        };
        let step = cx.pool.int(if is_added { 1 } else { -1 });
        let changed = cx.pool.add([before, step]);
        if is_added { cx.pool.ite(has, before, changed) } else { cx.pool.ite(has, changed, before) }
    }

    fn bounded_size(&mut self, cx: &mut Ctx<'_>, of: Term, least: Term, most: Term) -> Term {
        let size = self.unknown_size(cx, of);
        self.facts.push(cx.pool.le(least, size));
        self.facts.push(cx.pool.le(size, most));
        size
    }

    /// Returns a number for the size of a collection about which nothing is known.
    fn unknown_size(&mut self, cx: &mut Ctx<'_>, collection: Term) -> Term {
        let size = cx.pool.operate(TermOp::Size, vec![collection]);
        let unknown = cx.stand_in(size);
        let zero = cx.pool.int(0);
        self.facts.push(cx.pool.le(zero, unknown));
        unknown
    }
}

/// Returns the item of a set that has exactly one.
fn only_item(cx: &mut Ctx<'_>, set: Term) -> Option<Term> {
    match cx.pool.node(set).clone() {
        TermNode::Elements(_, parts) if parts.len() == 2 && cx.pool.is_true(parts[0]) => Some(parts[1]),
        TermNode::Value(Value::Collection(value)) if value.len() == 1 => {
            let item = value.parts().next().cloned()?;
            Some(cx.pool.value(item))
        }
        _ => None,
    }
}
