//! The leaves of stored values: the scalars in them, and the shape around those.
//!
//! A state is compared with others by the values of its variables. A number or a text is one leaf. A collection of
//! known shape, or a record that holds one, has a leaf for every element and one for its presence. Two states are
//! comparable if their shapes are equal; then they are compared leaf by leaf, and the solver sees scalars only.

use ioxide_model::sort::{CollectionKind, Sort};
use ioxide_model::term::{Term, TermNode, TermPool};
use ioxide_model::value::Value;

/// The length beyond which a constant collection is one leaf. Chosen by feel: a longer one still compares as a whole,
/// only its items are no longer compared one by one.
const MAX_ITEMS: usize = 64;

/// The leaves of some stored terms, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaves {
    /// The terms at the leaves.
    pub terms: Vec<Term>,
    /// The sorts of the leaves.
    pub sorts: Vec<Sort>,
    /// The shape around them, in order: 0 for a leaf, else the number of the value's form.
    pub shape: Vec<u32>,
}

impl Leaves {
    /// The leaves of `stored`, terms with the sorts of their variables.
    pub fn new(pool: &mut TermPool, stored: impl IntoIterator<Item = (Term, Sort)>) -> Self {
        let mut leaves = Self::default();
        for (term, sort) in stored {
            leaves.add_term(pool, term, sort);
        }
        leaves
    }

    fn add_term(&mut self, pool: &mut TermPool, term: Term, sort: Sort) {
        match known_parts(pool, term, sort) {
            Some((form, inside)) => {
                self.shape.push(form);
                inside.into_iter().for_each(|(part, sort)| self.add_term(pool, part, sort));
            }
            None => {
                self.shape.push(0);
                self.terms.push(term);
                self.sorts.push(sort);
            }
        }
    }
}

/// An undecided fact about the shape of a collection.
///
/// Searches split states by it. A row of items that may be present, or keys that may be equal, grows with every change,
/// so states would never be recognised; if each item is present or absent, and each two keys equal or not, there are
/// finitely many shapes of a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The undecided condition.
    pub condition: Term,
    /// The presence leaf of the item; if the condition is that two members are equal, that of the earlier one, which is
    /// then dropped.
    leaf: usize,
    /// The value of the leaf if the condition holds.
    becomes: bool,
}

/// Returns the first undecided fact about the shapes in `stored` under `facts`; `None` if all are decided.
pub fn find_undecided(
    pool: &mut TermPool,
    stored: impl IntoIterator<Item = (Term, Sort)>,
    facts: &[Term],
) -> Option<Undecided> {
    find_undecided_from(pool, stored.into_iter().collect(), facts, &mut 0)
}

fn find_undecided_from(
    pool: &mut TermPool,
    stored: Vec<(Term, Sort)>,
    facts: &[Term],
    leaf: &mut usize,
) -> Option<Undecided> {
    for (term, sort) in stored {
        let Some((_, inside)) = known_parts(pool, term, sort) else {
            *leaf += 1;
            continue;
        };
        if let Some(of) = pool.collection_of(sort)
            && let Some(found) = in_row(pool, of.kind, &inside, facts, *leaf)
        {
            return Some(found);
        }
        if let Some(found) = find_undecided_from(pool, inside, facts, leaf) {
            return Some(found);
        }
    }
    None
}

/// Returns the first entry whose presence is open, or the first two members of a set or map not known to differ; `None`
/// if there is neither.
fn in_row(
    pool: &mut TermPool,
    kind: CollectionKind,
    row: &[(Term, Sort)],
    facts: &[Term],
    first: usize,
) -> Option<Undecided> {
    let mut leaf = first;
    let mut members: Vec<(Term, usize)> = Vec::new();
    for entry in row.chunks(kind.entry_size()) {
        let (there, member) = (entry[0].0, entry[1].0);
        if pool.as_value(there).is_none() {
            return Some(Undecided { condition: there, leaf, becomes: true });
        }
        if kind != CollectionKind::List {
            for &(other, at) in &members {
                let same = pool.eq(other, member);
                let differs = pool.not(same);
                // Only what the facts say literally: the solver is asked once, where the state is split, and the answer
                // becomes a fact.
                let known = pool.conjuncts(differs).iter().all(|part| facts.contains(part));
                if !known {
                    // If both are equal, the later entry replaces the earlier one, as in a map: the earlier one is then
                    // absent.
                    return Some(Undecided { condition: same, leaf: at, becomes: false });
                }
            }
            members.push((member, leaf));
        }
        // Leaves are counted in the order of `Leaves::new`, so that a number found here means the same leaf there.
        leaf += Leaves::new(pool, entry.iter().copied()).terms.len();
    }
    None
}

/// Returns `stored` with the condition of `open` decided as `truth`.
pub fn apply_decision(
    pool: &mut TermPool,
    stored: impl IntoIterator<Item = (Term, Sort)>,
    open: Undecided,
    truth: bool,
) -> Vec<Term> {
    let stored: Vec<(Term, Sort)> = stored.into_iter().collect();
    let mut leaves = Leaves::new(pool, stored.iter().copied()).terms;
    leaves[open.leaf] = pool.bool(truth == open.becomes);
    with_leaves(pool, stored, &mut leaves.into_iter())
}

/// Returns `stored` with other leaves.
///
/// # Panics
/// If there are fewer leaves than [`Leaves::new`] found.
pub fn with_leaves(
    pool: &mut TermPool,
    stored: impl IntoIterator<Item = (Term, Sort)>,
    leaves: &mut impl Iterator<Item = Term>,
) -> Vec<Term> {
    stored.into_iter().map(|(term, sort)| with_leaf(pool, term, sort, leaves)).collect()
}

fn with_leaf(pool: &mut TermPool, term: Term, sort: Sort, leaves: &mut impl Iterator<Item = Term>) -> Term {
    let Some((_, inside)) = known_parts(pool, term, sort) else {
        return leaves.next().expect("a leaf for every leaf");
    };
    let parts = with_leaves(pool, inside, leaves);
    match (sort, pool.node(term).clone()) {
        (Sort::Collection(id), _) => pool.elements(id, parts),
        (_, TermNode::Construct(data, ctor, _)) => pool.construct(data, ctor, parts),
        (Sort::Data(data), TermNode::Value(Value::Data(value))) => pool.construct(data, value.ctor, parts),
        _ => term,
    }
}

/// Returns the parts of a value whose shape is known, with their sorts, and a number for its form (the number of parts,
/// or the constructor); `None` for everything else.
fn known_parts(pool: &mut TermPool, term: Term, sort: Sort) -> Option<(u32, Vec<(Term, Sort)>)> {
    if !matches!(sort, Sort::Data(_) | Sort::Collection(_)) || !pool.has_shape(sort) {
        return None;
    }
    match (sort, pool.node(term).clone()) {
        (Sort::Collection(id), TermNode::Elements(_, parts)) => {
            let sorts = entry_sorts(pool, id);
            Some((length_code(parts.len()), parts.iter().copied().zip(sorts.into_iter().cycle()).collect()))
        }
        (Sort::Collection(id), TermNode::Value(Value::Collection(value))) if value.len() <= MAX_ITEMS => {
            let sorts = entry_sorts(pool, id);
            // A constant gets the form of a row in which every entry is present, so that both compare leaf by leaf.
            let (width, there) = (sorts.len() - 1, pool.tt());
            let mut terms = Vec::new();
            for (at, part) in value.parts().cloned().collect::<Vec<_>>().into_iter().enumerate() {
                if at % width == 0 {
                    terms.push(there);
                }
                terms.push(pool.value(part));
            }
            Some((length_code(terms.len()), terms.into_iter().zip(sorts.into_iter().cycle()).collect()))
        }
        (Sort::Data(data), TermNode::Construct(_, ctor, args)) => {
            let fields = &pool.data(data).ctors[ctor as usize].fields;
            Some((ctor + 1, args.iter().copied().zip(fields.iter().map(|it| it.sort)).collect()))
        }
        (Sort::Data(data), TermNode::Value(Value::Data(value))) => {
            let sorts: Vec<Sort> =
                pool.data(data).ctors[value.ctor as usize].fields.iter().map(|it| it.sort).collect();
            let terms: Vec<Term> = value.args.iter().map(|arg| pool.value(arg.clone())).collect();
            Some((value.ctor + 1, terms.into_iter().zip(sorts).collect()))
        }
        _ => None,
    }
}

fn length_code(n: usize) -> u32 {
    u32::try_from(n).map_or(u32::MAX, |n| n.saturating_add(1))
}

/// Returns the sorts of the parts of one entry: its presence, then key and item.
fn entry_sorts(pool: &TermPool, id: ioxide_model::sort::CollectionId) -> Vec<Sort> {
    let of = pool.collection(id);
    match of.kind.entry_size() {
        2 => vec![Sort::Bool, of.item],
        _ => vec![Sort::Bool, of.key, of.item],
    }
}
