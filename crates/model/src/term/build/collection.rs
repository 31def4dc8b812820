//! Collections of known shape: every operation becomes a term over the elements.
//!
//! A collection whose entries can be seen is a row of entries, each with the condition under
//! which it is there (Rosette calls such values guarded unions). Nothing is split into cases: an
//! item that is taken away under a condition stays in the row with a stronger condition of its
//! own, and a choice between two collections is one row. A position is the number of entries
//! there before it. The solver then sees scalars only.
//!
//! Where the shape is not known the operation stays in the term ([`TermNode::Apply`]); a
//! substitution that tells the shape brings it here again.

use crate::sort::{CollectionId, CollectionKind, CollectionSort, Sort};
use crate::term::{Substitution, Term, TermNode, TermOp, TermPool, VarId};
use crate::valuation::Valuation;
use crate::value::Value;

/// Rows longer than this are left as they are: their terms would grow with the square.
const MAX_ENTRIES: usize = 300;

/// Rows longer than this are not sorted: the network has as many comparisons as half the square.
const MAX_SORTED: usize = 32;

/// Rows of texts longer than this are not sorted: a solver needs much longer for the order of texts than for that of
/// numbers.
const MAX_SORTED_TEXTS: usize = 6;

/// Lists that are appended to each other are one row up to this many: each may be such a row itself, so a list that is
/// appended to itself again and again would double it every time.
const MAX_APPENDED: usize = 4_096;

/// An entry of a collection of known shape.
#[derive(Clone, Copy, Debug)]
struct CollectionEntry {
    /// The condition under which the entry is present.
    there: Term,
    /// The item, or the key of a map.
    member: Term,
    /// The value of a map; else the item again.
    item: Term,
}

impl TermPool {
    /// The collection with these parts; see [`TermNode::Elements`]. Entries that are never there are dropped.
    pub fn elements(&mut self, sort: CollectionId, parts: Vec<Term>) -> Term {
        let size = self.collection(sort).kind.entry_size();
        let parts: Vec<Term> =
            parts.chunks(size).filter(|entry| !self.is_false(entry[0])).flatten().copied().collect();
        self.elements_value(sort, &parts)
            .unwrap_or_else(|| self.intern(TermNode::Elements(sort, parts.into())))
    }

    /// The list of `items`.
    pub fn list(&mut self, sort: CollectionId, items: impl IntoIterator<Item = Term>) -> Term {
        let there = self.tt();
        let parts = items.into_iter().flat_map(|item| [there, item]).collect();
        self.elements(sort, parts)
    }

    /// The set of `items`, some of them perhaps equal.
    pub fn set(&mut self, sort: CollectionId, items: impl IntoIterator<Item = Term>) -> Term {
        self.list(sort, items)
    }

    /// The map with these keys and values; the last value of a key counts.
    pub fn map(&mut self, sort: CollectionId, entries: impl IntoIterator<Item = (Term, Term)>) -> Term {
        let there = self.tt();
        let parts = entries.into_iter().flat_map(|(key, value)| [there, key, value]).collect();
        self.elements(sort, parts)
    }

    /// `body` as a function of `var`, for [`TermOp::Any`] and [`TermOp::Collect`].
    pub fn lambda(&mut self, var: VarId, body: Term) -> Term {
        // The variable is numbered by the height of the body, so that no name bound inside or outside of it is
        // captured.
        let number = self.facts[crate::index::Idx::index(body)].binders;
        let bound = self.bound_var(self.var_info(var).sort, number);
        let renamed = self.var(bound);
        let body = self.substitute(body, &Substitution::from_iter([(var, renamed)]));
        self.intern(TermNode::Lambda(bound, body))
    }

    /// Returns the formula that `body` holds for some member `var` of `of`.
    pub fn for_some_member(&mut self, var: VarId, of: Term, body: Term) -> Term {
        let body = self.lambda(var, body);
        self.operate(TermOp::Any, vec![of, body])
    }

    /// Returns the formula that `body` holds for every member `var` of `of`.
    pub fn for_all_members(&mut self, var: VarId, of: Term, body: Term) -> Term {
        let counter = self.not(body);
        let any = self.for_some_member(var, of, counter);
        self.not(any)
    }

    /// Returns the collection of `item` for every member `var` of `of` that satisfies `keep`.
    pub fn collect_from(&mut self, into: CollectionId, var: VarId, of: Term, keep: Term, item: Term) -> Term {
        let (keep, item) = (self.lambda(var, keep), self.lambda(var, item));
        self.operate(TermOp::Collect(into), vec![of, keep, item])
    }

    /// `op` applied to `args`.
    pub fn operate(&mut self, op: TermOp, args: Vec<Term>) -> Term {
        let sorts: Vec<Sort> = args.iter().map(|&arg| self.sort(arg)).collect();
        self.prepare_op(op, &sorts);
        // Constants first: the evaluator decides them in one step. Then the rules that need no shape, because
        // they also hold for rows that are too long to be opened.
        None.or_else(|| self.apply_values(op, &args))
            .or_else(|| self.apply_trivial(op, &args))
            .or_else(|| self.apply_known(op, &args))
            .unwrap_or_else(|| self.intern(TermNode::Apply(op, args.into())))
    }

    /// Entries that are all there and constant are a constant.
    fn elements_value(&mut self, sort: CollectionId, parts: &[Term]) -> Option<Term> {
        if !parts.iter().all(|&part| self.as_value(part).is_some()) {
            return None;
        }
        // The evaluator knows about members that are equal and keys that occur twice.
        let node = TermNode::Elements(sort, parts.into());
        let term = self.intern(node);
        let value = self.eval(term, &Valuation::new()).ok()?;
        Some(self.value(value))
    }

    /// An operation on constants is a constant.
    fn apply_values(&mut self, op: TermOp, args: &[Term]) -> Option<Term> {
        let known = |pool: &Self, &arg: &Term| match pool.node(arg) {
            TermNode::Value(_) => true,
            TermNode::Lambda(..) => pool.is_ground(arg),
            _ => false,
        };
        if !args.iter().all(|arg| known(self, arg)) {
            return None;
        }
        let term = self.intern(TermNode::Apply(op, args.into()));
        let value = self.eval(term, &Valuation::new()).ok()?;
        Some(self.value(value))
    }

    fn operate_on_choice(&mut self, op: TermOp, cond: Term, then: Term, other: Term) -> Term {
        let (then, other) = (self.operate(op, vec![then]), self.operate(op, vec![other]));
        self.ite(cond, then, other)
    }

    /// Rules that need no shape: of one list appended to nothing, of nested appending.
    fn apply_trivial(&mut self, op: TermOp, args: &[Term]) -> Option<Term> {
        match op {
            TermOp::Append if args.len() == 1 => Some(args[0]),
            TermOp::Append => {
                let is_empty = |pool: &Self, arg: Term| {
                    pool.as_value(arg).and_then(Value::as_collection).is_some_and(|c| c.is_empty())
                };
                let nested =
                    args.iter().any(|&arg| matches!(self.node(arg), TermNode::Apply(TermOp::Append, _)));
                if !nested && !args.iter().any(|&arg| is_empty(self, arg)) {
                    return None;
                }
                let lists = args.iter().map(|&arg| match self.node(arg) {
                    TermNode::Apply(TermOp::Append, inner) => inner.len(),
                    _ => 1,
                });
                if lists.sum::<usize>() > MAX_APPENDED {
                    return None;
                }
                let mut flat: Vec<Term> = Vec::with_capacity(args.len());
                for &arg in args {
                    match self.node(arg) {
                        TermNode::Apply(TermOp::Append, inner) => flat.extend(&**inner),
                        _ if is_empty(self, arg) => {}
                        _ => flat.push(arg),
                    }
                }
                if flat.is_empty() {
                    return Some(args[0]);
                }
                Some(self.operate(TermOp::Append, flat))
            }
            TermOp::Size => match self.node(args[0]).clone() {
                TermNode::Apply(TermOp::Append, parts) => {
                    let sizes: Vec<Term> =
                        parts.iter().map(|&part| self.operate(TermOp::Size, vec![part])).collect();
                    Some(self.add(sizes))
                }
                _ => None,
            },
            TermOp::ToInt => self.written_number(args[0]).or_else(|| {
                let (cond, then, other) = self.choice_of_texts(args[0])?;
                Some(self.operate_on_choice(op, cond, then, other))
            }),
            TermOp::FromInt => match *self.node(args[0]) {
                TermNode::Ite(cond, then, other)
                    if self.as_value(then).or(self.as_value(other)).is_some() =>
                {
                    Some(self.operate_on_choice(op, cond, then, other))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The entries of a collection, if its shape is known and not too long.
    fn entries(&mut self, term: Term) -> Option<Vec<CollectionEntry>> {
        let sort = self.collection_of(self.sort(term))?;
        let parts: Vec<Term> = match self.node(term).clone() {
            TermNode::Elements(_, parts) => parts.to_vec(),
            TermNode::Value(Value::Collection(value)) if value.len() <= MAX_ENTRIES => {
                let there = self.tt();
                let width = sort.kind.entry_size() - 1;
                let values: Vec<Value> = value.parts().cloned().collect();
                let mut parts = Vec::new();
                for entry in values.chunks(width) {
                    parts.push(there);
                    parts.extend(entry.iter().map(|part| self.value(part.clone())));
                }
                parts
            }
            _ => return None,
        };
        let size = sort.kind.entry_size();
        let entry =
            |parts: &[Term]| CollectionEntry { there: parts[0], member: parts[1], item: parts[size - 1] };
        let entries: Vec<CollectionEntry> = parts.chunks(size).map(entry).collect();
        // Also for rows that were made elsewhere: most operations below look at all pairs of entries.
        (entries.len() <= MAX_ENTRIES).then_some(entries)
    }

    fn made_of_entries(&mut self, sort: Sort, entries: Vec<CollectionEntry>) -> Term {
        let Sort::Collection(id) = sort else { unreachable!("entries make a collection") };
        let is_map = self.collection(id).kind == CollectionKind::Map;
        let parts = |entry: CollectionEntry| {
            if is_map { vec![entry.there, entry.member, entry.item] } else { vec![entry.there, entry.member] }
        };
        let parts = entries.into_iter().flat_map(parts).collect();
        self.elements(id, parts)
    }

    /// Returns the result of an operation on collections whose entries are known; `None` if the shape is not known or
    /// not handled.
    fn apply_known(&mut self, op: TermOp, args: &[Term]) -> Option<Term> {
        let first = *args.first()?;
        let sort = self.sort(first);
        let arg = |at: usize| args[at];
        match op {
            TermOp::Substring
            | TermOp::Find
            | TermOp::ToInt
            | TermOp::FromInt
            | TermOp::Upper
            | TermOp::Lower => None,
            TermOp::PadLeft | TermOp::Split => None,
            TermOp::Append => self.append_known(sort, args),
            TermOp::Union => {
                let (a, b) = (self.entries(first)?, self.entries(arg(1))?);
                // A member that may be missing on the left is listed twice. That is harmless: members of sets
                // count once.
                let known = |entry: &CollectionEntry| {
                    a.iter().any(|old| old.member == entry.member && self.is_true(old.there))
                };
                let new: Vec<CollectionEntry> = b.into_iter().filter(|entry| !known(entry)).collect();
                Some(self.made_of_entries(sort, [a, new].concat()))
            }
            TermOp::Common | TermOp::Minus => {
                let (mut a, b) = (self.entries(first)?, self.entries(arg(1))?);
                for entry in &mut a {
                    let there = self.has_entry(&b, entry.member);
                    let there = if op == TermOp::Common { there } else { self.not(there) };
                    entry.there = self.and([entry.there, there]);
                }
                Some(self.made_of_entries(sort, a))
            }
            TermOp::Within => {
                let (a, b) = (self.entries(first)?, self.entries(arg(1))?);
                Some(self.includes_entries(&a, &b))
            }
            TermOp::JoinTexts => {
                let entries = self.entries(first)?;
                Some(self.joined_texts(&entries, arg(1)))
            }
            _ => {
                let entries = self.entries(first)?;
                self.apply_entries(op, sort, &entries, args)
            }
        }
    }

    /// Operations on one collection.
    fn apply_entries(
        &mut self,
        op: TermOp,
        sort: Sort,
        entries: &[CollectionEntry],
        args: &[Term],
    ) -> Option<Term> {
        let CollectionSort { kind, item, .. } = self.collection_of(sort)?;
        Some(match op {
            TermOp::Size => self.size_of(kind, entries),
            TermOp::Has => self.has_entry(entries, args[1]),
            TermOp::At if kind == CollectionKind::Map => self.at_key(item, entries, args[1]),
            TermOp::At => self.at_position(item, entries, args[1]),
            TermOp::Put if kind == CollectionKind::Map => self.put_key(sort, entries, args[1], args[2]),
            TermOp::Put => self.put_position(sort, entries, args[1], args[2]),
            TermOp::Without => {
                let mut entries = entries.to_vec();
                for entry in &mut entries {
                    // All entries, not just the first that fits: in a list every occurrence goes, and in a
                    // map an earlier entry of the key would show again.
                    let other = self.ne(entry.member, args[1]);
                    entry.there = self.and([entry.there, other]);
                }
                self.made_of_entries(sort, entries)
            }
            TermOp::Slice => self.slice_of(sort, entries, args[1], args[2]),
            TermOp::Reverse => {
                let reversed = entries.iter().rev().copied().collect();
                self.made_of_entries(sort, reversed)
            }
            TermOp::IndexOf => {
                let positions = self.positions(entries);
                let none = self.int(-1);
                let mut found = none;
                // From the last to the first, so that the condition of the first one is outermost and wins.
                for (entry, at) in entries.iter().zip(positions).rev() {
                    let same = self.eq(entry.member, args[1]);
                    let here = self.and([entry.there, same]);
                    found = self.ite(here, at, found);
                }
                found
            }
            TermOp::Sum => {
                let zero = self.default_value(item.base());
                let zero = self.value(zero);
                let parts: Vec<Term> =
                    entries.iter().map(|entry| self.ite(entry.there, entry.item, zero)).collect();
                if parts.is_empty() { zero } else { self.add(parts) }
            }
            TermOp::Min | TermOp::Max => self.extreme(op, item, entries),
            TermOp::ToSet => {
                let Sort::Collection(id) = self.op_sort(op, &[sort]) else { return None };
                self.made_of_entries(Sort::Collection(id), entries.to_vec())
            }
            TermOp::Sorted => return self.sorted_list(sort, entries.to_vec()),
            TermOp::Keys | TermOp::Values => return self.members_in_order(op, sort, entries),
            TermOp::Any => self.any_entry(entries, args[1]),
            TermOp::Collect(into) => self.collect_entries(into, entries, args[1], args[2]),
            _ => return None,
        })
    }

    fn append_known(&mut self, sort: Sort, args: &[Term]) -> Option<Term> {
        let mut entries = Vec::new();
        for &arg in args {
            entries.extend(self.entries(arg)?);
        }
        (entries.len() <= MAX_ENTRIES).then(|| self.made_of_entries(sort, entries))
    }

    /// 1 where the condition holds, else 0.
    fn indicator(&mut self, cond: Term) -> Term {
        let (one, zero) = (self.int(1), self.int(0));
        self.ite(cond, one, zero)
    }

    /// Returns for each entry the number of present entries before it.
    fn positions(&mut self, entries: &[CollectionEntry]) -> Vec<Term> {
        let mut before = self.int(0);
        let mut positions = Vec::with_capacity(entries.len());
        for entry in entries {
            positions.push(before);
            let here = self.indicator(entry.there);
            before = self.add([before, here]);
        }
        positions
    }

    /// The number of items; in sets and maps equal members count once.
    fn size_of(&mut self, kind: CollectionKind, entries: &[CollectionEntry]) -> Term {
        let counted = match kind {
            CollectionKind::List => entries.iter().map(|entry| entry.there).collect(),
            CollectionKind::Set | CollectionKind::Map => self.counted_once(entries),
        };
        let parts: Vec<Term> = counted.into_iter().map(|there| self.indicator(there)).collect();
        if parts.is_empty() { self.int(0) } else { self.add(parts) }
    }

    /// Returns for each entry the condition that it is present and no later entry has its member: the last one of a key
    /// counts.
    fn counted_once(&mut self, entries: &[CollectionEntry]) -> Vec<Term> {
        let mut counted = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            let again = self.has_entry(&entries[at + 1..], entry.member);
            let last = self.not(again);
            counted.push(self.and([entry.there, last]));
        }
        counted
    }

    fn has_entry(&mut self, entries: &[CollectionEntry], member: Term) -> Term {
        let mut found = Vec::with_capacity(entries.len());
        for entry in entries {
            let same = self.eq(entry.member, member);
            found.push(self.and([entry.there, same]));
        }
        self.or(found)
    }

    fn includes_entries(&mut self, a: &[CollectionEntry], b: &[CollectionEntry]) -> Term {
        let mut parts = Vec::with_capacity(a.len());
        for entry in a {
            let there = self.has_entry(b, entry.member);
            parts.push(self.implies(entry.there, there));
        }
        self.and(parts)
    }

    fn default_of(&mut self, sort: Sort) -> Term {
        let value = self.default_value(sort);
        self.value(value)
    }

    fn at_position(&mut self, item: Sort, entries: &[CollectionEntry], at: Term) -> Term {
        let positions = self.positions(entries);
        let mut found = self.default_of(item);
        // At most one present entry has a position, so the order of the tests does not matter.
        for (entry, position) in entries.iter().zip(positions).rev() {
            let same = self.eq(position, at);
            let here = self.and([entry.there, same]);
            found = self.ite(here, entry.item, found);
        }
        found
    }

    /// Later entries of a key hide earlier ones.
    fn at_key(&mut self, item: Sort, entries: &[CollectionEntry], key: Term) -> Term {
        let mut found = self.default_of(item);
        // From the first to the last: the condition of the last entry is outermost and wins.
        for entry in entries {
            let same = self.eq(entry.member, key);
            let here = self.and([entry.there, same]);
            found = self.ite(here, entry.item, found);
        }
        found
    }

    fn put_position(&mut self, sort: Sort, entries: &[CollectionEntry], at: Term, value: Term) -> Term {
        let positions = self.positions(entries);
        let mut changed = entries.to_vec();
        for (entry, position) in changed.iter_mut().zip(positions) {
            // An entry that is not there may have the same position as the next one. It changes too, which
            // nobody sees.
            let here = self.eq(position, at);
            let item = self.ite(here, value, entry.item);
            (entry.member, entry.item) = (item, item);
        }
        self.made_of_entries(sort, changed)
    }

    /// An entry with the same key is replaced; one that may have it stays and is hidden if it has.
    fn put_key(&mut self, sort: Sort, entries: &[CollectionEntry], key: Term, value: Term) -> Term {
        let there = self.tt();
        let mut entries: Vec<CollectionEntry> =
            entries.iter().filter(|entry| entry.member != key).copied().collect();
        entries.push(CollectionEntry { there, member: key, item: value });
        self.made_of_entries(sort, entries)
    }

    fn slice_of(&mut self, sort: Sort, entries: &[CollectionEntry], from: Term, to: Term) -> Term {
        // Entries that certainly lie behind the end are dropped: a queue that only hands out its first items stays
        // short.
        let mut kept = self.within_reach(entries, to).to_vec();
        let positions = self.positions(&kept);
        for (entry, position) in kept.iter_mut().zip(positions) {
            let (behind, before) = (self.le(from, position), self.lt(position, to));
            entry.there = self.and([entry.there, behind, before]);
        }
        self.made_of_entries(sort, kept)
    }

    /// Returns the entries without those that have so many certain ones before them that they lie behind position `to`.
    fn within_reach<'e>(&self, entries: &'e [CollectionEntry], to: Term) -> &'e [CollectionEntry] {
        let most = self.as_value(to).and_then(Value::as_int).and_then(|n| n.to_i64());
        let Some(most) = most.and_then(|most| usize::try_from(most.max(0)).ok()) else { return entries };
        let mut certain = 0;
        let is_behind = |entry: &CollectionEntry| {
            let behind = certain >= most;
            certain += usize::from(self.is_true(entry.there));
            behind
        };
        let reach = entries.iter().position(is_behind).unwrap_or(entries.len());
        &entries[..reach]
    }

    /// Returns the least or greatest item that is in; the default value of the sort if none is.
    fn extreme(&mut self, op: TermOp, item: Sort, entries: &[CollectionEntry]) -> Term {
        let mut best = self.default_of(item);
        let mut some = self.ff();
        for entry in entries {
            let better =
                if op == TermOp::Min { self.lt(entry.item, best) } else { self.lt(best, entry.item) };
            let first = self.not(some);
            let take = self.or([first, better]);
            let take = self.and([entry.there, take]);
            best = self.ite(take, entry.item, best);
            some = self.or([some, entry.there]);
        }
        best
    }

    fn sorted_list(&mut self, sort: Sort, entries: Vec<CollectionEntry>) -> Option<Term> {
        let entries = self.sorted_entries(entries)?;
        Some(self.made_of_entries(sort, entries))
    }

    /// Entries whose members are numbers or texts, sorted by comparing neighbours (odd-even transposition); what is
    /// not there goes last.
    fn sorted_entries(&mut self, mut entries: Vec<CollectionEntry>) -> Option<Vec<CollectionEntry>> {
        let sort = entries.first().map(|entry| self.sort(entry.member));
        let most = match sort {
            Some(Sort::Str) => MAX_SORTED_TEXTS,
            Some(sort) if !sort.is_numeric() => 0,
            _ => MAX_SORTED,
        };
        if entries.len() > most {
            return None;
        }
        // As many rounds as entries sort any row; which neighbours are compared does not depend on the values, so
        // terms can do it.
        for round in 0..entries.len() {
            for at in (round % 2..entries.len().saturating_sub(1)).step_by(2) {
                let (a, b) = (entries[at], entries[at + 1]);
                let less = match sort {
                    Some(Sort::Str) => self.text_lt(b.member, a.member),
                    _ => self.lt(b.member, a.member),
                };
                let gone = self.not(a.there);
                let first = self.or([gone, less]);
                let swap = self.and([b.there, first]);
                entries[at] = self.choice_of(swap, b, a);
                entries[at + 1] = self.choice_of(swap, a, b);
            }
        }
        Some(entries)
    }

    fn choice_of(&mut self, cond: Term, a: CollectionEntry, b: CollectionEntry) -> CollectionEntry {
        CollectionEntry {
            there: self.ite(cond, a.there, b.there),
            member: self.ite(cond, a.member, b.member),
            item: self.ite(cond, a.item, b.item),
        }
    }

    /// The keys or values in the order of the keys: plain where the keys are constants, else for numbers and texts.
    fn members_in_order(&mut self, op: TermOp, sort: Sort, entries: &[CollectionEntry]) -> Option<Term> {
        let result = self.op_sort(op, &[sort]);
        let counted = self.counted_once(entries);
        let mut entries = entries.to_vec();
        for (entry, there) in entries.iter_mut().zip(counted) {
            entry.there = there;
        }
        // Constants are compared as values, which gives an order for every sort of keys.
        if entries.iter().all(|entry| self.as_value(entry.member).is_some()) {
            entries.sort_by(|a, b| self.as_value(a.member).cmp(&self.as_value(b.member)));
        } else {
            entries = self.sorted_entries(entries)?;
        }
        let list = if op == TermOp::Keys { members_only(&entries) } else { items_only(&entries) };
        Some(self.made_of_entries(result, list))
    }

    fn any_entry(&mut self, entries: &[CollectionEntry], lambda: Term) -> Term {
        let mut parts = Vec::with_capacity(entries.len());
        for entry in entries {
            let holds = self.apply_lambda(lambda, entry.member);
            parts.push(self.and([entry.there, holds]));
        }
        self.or(parts)
    }

    fn collect_entries(
        &mut self,
        into: CollectionId,
        entries: &[CollectionEntry],
        keep: Term,
        item: Term,
    ) -> Term {
        let mut found = Vec::with_capacity(entries.len());
        for entry in entries {
            let (keep, item) = (self.apply_lambda(keep, entry.member), self.apply_lambda(item, entry.member));
            found.push(CollectionEntry { there: self.and([entry.there, keep]), member: item, item });
        }
        self.made_of_entries(Sort::Collection(into), found)
    }

    /// The body of `lambda` with `arg` for its variable.
    fn apply_lambda(&mut self, lambda: Term, arg: Term) -> Term {
        let (var, body) = self.lambda_parts(lambda);
        self.substitute(body, &Substitution::from_iter([(var, arg)]))
    }

    fn joined_texts(&mut self, entries: &[CollectionEntry], separator: Term) -> Term {
        let empty = self.value(Value::str(""));
        let mut parts = Vec::new();
        let mut started = self.ff();
        for entry in entries {
            let between = self.ite(started, separator, empty);
            let piece = self.concat([between, entry.item]);
            parts.push(self.ite(entry.there, piece, empty));
            started = self.or([started, entry.there]);
        }
        self.concat(parts)
    }

    /// Two collections of known shape are equal if their elements say so.
    pub(super) fn eq_collection(&mut self, a: Term, b: Term) -> Option<Term> {
        let sort = self.collection_of(self.sort(a))?;
        let (left, right) = (self.entries(a)?, self.entries(b)?);
        Some(match sort.kind {
            CollectionKind::List => self.equal_lists(sort.item, &left, &right),
            CollectionKind::Set => {
                let parts = [self.includes_entries(&left, &right), self.includes_entries(&right, &left)];
                self.and(parts)
            }
            CollectionKind::Map => self.equal_maps(sort.item, &left, &right),
        })
    }

    fn equal_lists(&mut self, item: Sort, a: &[CollectionEntry], b: &[CollectionEntry]) -> Term {
        let all_there =
            |pool: &Self, entries: &[CollectionEntry]| entries.iter().all(|entry| pool.is_true(entry.there));
        if all_there(self, a) && all_there(self, b) {
            if a.len() != b.len() {
                return self.ff();
            }
            let parts: Vec<Term> = a.iter().zip(b).map(|(x, y)| self.eq(x.item, y.item)).collect();
            return self.and(parts);
        }
        // Which entries are there is open, so the lists are compared by position and not entry by entry.
        let sizes = [self.size_of(CollectionKind::List, a), self.size_of(CollectionKind::List, b)];
        let mut parts = vec![self.eq(sizes[0], sizes[1])];
        for at in 0..a.len().min(b.len()) {
            let at = self.int(i64::try_from(at).unwrap_or(i64::MAX));
            let (x, y) = (self.at_position(item, a, at), self.at_position(item, b, at));
            let (inside, same) = (self.lt(at, sizes[0]), self.eq(x, y));
            parts.push(self.implies(inside, same));
        }
        self.and(parts)
    }

    fn equal_maps(&mut self, item: Sort, a: &[CollectionEntry], b: &[CollectionEntry]) -> Term {
        let mut parts = vec![self.includes_entries(a, b), self.includes_entries(b, a)];
        for entry in a {
            let (x, y) = (self.at_key(item, a, entry.member), self.at_key(item, b, entry.member));
            let same = self.eq(x, y);
            parts.push(self.implies(entry.there, same));
        }
        self.and(parts)
    }

    /// A choice between two collections of known shape is one row: entry by entry the one or the other.
    pub(super) fn ite_collection(&mut self, cond: Term, then: Term, other: Term) -> Option<Term> {
        let sort = self.sort(then);
        self.collection_of(sort)?;
        let (a, b) = (self.entries(then)?, self.entries(other)?);
        // Position by position, not one row behind the other: where both rows have the same entry, the choice
        // between them folds to it.
        let not = self.not(cond);
        let mut row = Vec::with_capacity(a.len().max(b.len()));
        for at in 0..a.len().max(b.len()) {
            row.push(match (a.get(at), b.get(at)) {
                (Some(&x), Some(&y)) => self.choice_of(cond, x, y),
                (Some(&x), None) => CollectionEntry { there: self.and([cond, x.there]), ..x },
                (None, Some(&y)) => CollectionEntry { there: self.and([not, y.there]), ..y },
                (None, None) => unreachable!("one of the rows is as long"),
            });
        }
        Some(self.made_of_entries(sort, row))
    }
}

fn members_only(entries: &[CollectionEntry]) -> Vec<CollectionEntry> {
    entries.iter().map(|entry| CollectionEntry { item: entry.member, ..*entry }).collect()
}

fn items_only(entries: &[CollectionEntry]) -> Vec<CollectionEntry> {
    entries.iter().map(|entry| CollectionEntry { member: entry.item, ..*entry }).collect()
}
