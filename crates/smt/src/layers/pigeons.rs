//! Refutation by counting: more values that must all differ than there are numbers for them.
//!
//! The pigeonhole principle says, for example, that a ninth key of a map with eight possible ones equals one of them. A
//! search that learns clauses needs exponentially many steps for it (A. Haken, "The intractability of resolution",
//! 1985). Here a set of slots that differ pairwise is grown greedily, and by Hall's theorem there is no way to give
//! them different numbers if more of them lie within an interval than it has whole numbers.
//!
//! *Promises* that a refutation is a proof. Facts that it does not refute may still be unsatisfiable.

use rustc_hash::{FxHashMap, FxHashSet};

use super::interval::SlotBounds;
use crate::form::{LinearAtom, LinearForm, SumRelation};
use crate::small_fraction::SmallFraction;

/// The number of vertices beyond which nothing is tried; it bounds the time, which grows with the square. Chosen by
/// feel, as is the next.
const MAX_VERTICES: usize = 160;
/// The number of vertices from which sets of pairwise different values are grown, those with the most neighbours first.
/// A set that proves something has many neighbours in common, so one of the first finds it.
const MAX_STARTS: usize = 8;

/// A vertex with a number: a slot within bounds, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum NumberVertex {
    Slot(usize),
    Number(i64),
}

/// The graph of vertices that are known to differ.
#[derive(Debug, Default)]
struct VertexDifferences {
    vertices: Vec<NumberVertex>,
    by_vertex: FxHashMap<NumberVertex, usize>,
    /// The least and the greatest whole number of each vertex.
    ranges: Vec<(i64, i64)>,
    neighbours: Vec<FxHashSet<usize>>,
}

/// Returns whether more values must differ than there are numbers for them.
pub(super) fn is_refuted_by_counting(bounds: &SlotBounds) -> bool {
    let mut graph = VertexDifferences::default();
    for level in &bounds.levels {
        graph.read_form(bounds, &level.fact.form);
    }
    // Two different values in an interval of one are refuted by the bounds already.
    if graph.vertices.len() < 3 || graph.vertices.len() > MAX_VERTICES {
        return false;
    }
    let mut starts: Vec<usize> = (0..graph.vertices.len()).collect();
    starts.sort_by_key(|&at| std::cmp::Reverse(graph.neighbours[at].len()));
    starts.into_iter().take(MAX_STARTS).any(|start| graph.has_no_room(&graph.find_clique(start)))
}

impl VertexDifferences {
    /// Adds the disequations among the conjuncts of `form`.
    fn read_form(&mut self, bounds: &SlotBounds, form: &LinearForm) {
        match form {
            LinearForm::All(parts) => parts.iter().for_each(|part| self.read_form(bounds, part)),
            LinearForm::Atom(atom) if atom.relation == SumRelation::Ne => self.add_disequation(bounds, atom),
            LinearForm::Atom(_) | LinearForm::Any(_) | LinearForm::Opaque(..) => (),
        }
    }

    fn add_disequation(&mut self, bounds: &SlotBounds, atom: &LinearAtom) {
        let sides = match atom.terms[..] {
            [(slot, by)] => {
                exact_quotient(atom.constant, by).map(|n| (NumberVertex::Slot(slot), NumberVertex::Number(n)))
            }
            [(a, by), (b, other)] if atom.constant == SmallFraction::ZERO && are_opposite(by, other) => {
                Some((NumberVertex::Slot(a), NumberVertex::Slot(b)))
            }
            _ => None,
        };
        let Some((a, b)) = sides else { return };
        if let (Some(a), Some(b)) = (self.vertex_index(bounds, a), self.vertex_index(bounds, b)) {
            self.neighbours[a].insert(b);
            self.neighbours[b].insert(a);
        }
    }

    /// Returns the position of `vertex`; `None` unless it can have finitely many numbers only.
    fn vertex_index(&mut self, bounds: &SlotBounds, vertex: NumberVertex) -> Option<usize> {
        if let Some(&known) = self.by_vertex.get(&vertex) {
            return Some(known);
        }
        let range = match vertex {
            NumberVertex::Number(n) => (n, n),
            NumberVertex::Slot(slot) if bounds.forms.slots[slot].is_integer => {
                bounds.interval(slot).whole_numbers()?
            }
            NumberVertex::Slot(_) => return None,
        };
        let at = self.vertices.len();
        self.vertices.push(vertex);
        self.by_vertex.insert(vertex, at);
        self.ranges.push(range);
        self.neighbours.push(FxHashSet::default());
        Some(at)
    }

    /// Returns whether two vertices differ; two constants do so without a fact.
    fn are_different(&self, a: usize, b: usize) -> bool {
        let is_number = |at: usize| matches!(self.vertices[at], NumberVertex::Number(_));
        a != b && (self.neighbours[a].contains(&b) || is_number(a) && is_number(b))
    }

    /// Returns vertices that differ pairwise, `start` among them.
    fn find_clique(&self, start: usize) -> Vec<usize> {
        // Greedy, by degree: finding a largest clique is NP-hard, and the facts at hand are mostly one clique. Ties are
        // broken by position, so that the answer does not depend on the order of a hash table.
        let mut others: Vec<usize> = self.neighbours[start].iter().copied().collect();
        others.sort_by_key(|&at| (std::cmp::Reverse(self.neighbours[at].len()), at));
        let mut chosen = vec![start];
        for other in others {
            if chosen.iter().all(|&at| self.are_different(at, other)) {
                chosen.push(other);
            }
        }
        chosen
    }

    /// Returns whether more of `different` lie within an interval than it has numbers.
    fn has_no_room(&self, different: &[usize]) -> bool {
        let mut ranges: Vec<(i64, i64)> = different.iter().map(|&at| self.ranges[at]).collect();
        // Hall's condition only has to be checked for intervals that begin at some first number and end at some last
        // one: going through the ranges by their ends, count those inside `from..=to`.
        ranges.sort_unstable_by_key(|&(_, last)| last);
        let firsts: FxHashSet<i64> = ranges.iter().map(|range| range.0).collect();
        firsts.into_iter().any(|from| {
            let mut n_inside = 0_i128;
            ranges.iter().filter(|range| range.0 >= from).any(|&(_, to)| {
                n_inside += 1;
                n_inside > i128::from(to) - i128::from(from) + 1
            })
        })
    }
}

/// Returns whether `a` and `b` add up to zero.
fn are_opposite(a: SmallFraction, b: SmallFraction) -> bool {
    a.add(b) == Some(SmallFraction::ZERO)
}

/// Returns the whole number `n` with `by · n + constant = 0`; `None` unless `by` is 1 or -1.
fn exact_quotient(constant: SmallFraction, by: SmallFraction) -> Option<i64> {
    let n = constant.to_i64()?;
    match by.to_i64()? {
        1 => n.checked_neg(),
        -1 => Some(n),
        _ => None,
    }
}
