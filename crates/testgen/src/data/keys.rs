//! Keys: fields that name something which the state holds, such as the key of a map or the identifier of an item.
//!
//! A request for an item that does not exist exercises one refusal, whatever its key is; the behaviour of a system is
//! behind the keys that it knows. Identifiers drawn from a wide sort hardly ever hit one, so keys are read off the
//! state: mostly one that is there now, then one used before, which may have been removed since, and a miss as the
//! exception. Which fields are keys is read off the model: a field that an operation looks up in a collection.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::sort::{CollectionKind, Sort};

use ioxide_model::term::{Term, TermNode, TermOp, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

use super::collection;
use super::hints::{Hints, is_wide};

/// The greatest number of keys of one collection to choose from. Chosen by feel: those between them are like them.
const MAX_MEMBERS: usize = 64;
/// The greatest number of keys that are remembered as used. Chosen by feel: systems forget, and so do walks.
const MAX_USED: usize = 16;
/// The percentages of keys that are there, and of keys used before, for a message that asks for something. The rest is
/// drawn like any other value, mostly a miss.
const ASKING: (u32, u32) = (60, 25);
/// The same for a message that may create something: half of its keys are new, or nothing would grow.
const CREATING: (u32, u32) = (30, 20);
/// The same for a message that removes something: most of its keys miss, or nothing would stay.
const REMOVING: (u32, u32) = (25, 15);
/// The percentages of messages about the one key that a walk keeps to: while it is there or can be created, and else.
const HELD_PERCENT: (u32, u32) = (95, 25);

/// A field that is looked up in a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    field: VarId,
    /// A term over variables of the state: the collection, or a recursive value.
    source: Term,
    kind: KeyKind,
    role: KeyRole,
}

/// The use that a message makes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyRole {
    /// It asks for what is there.
    Asks,
    /// It creates something, if the key is new.
    Creates,
    /// It removes something.
    Removes,
}

impl KeyRole {
    /// Returns the role of a message that uses a key in two ways.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            // A message that removes something, whatever else it does, must mostly miss: see `REMOVING`.
            (Self::Removes, _) | (_, Self::Removes) => Self::Removes,
            (Self::Creates, Self::Creates) => Self::Creates,
            _ => Self::Asks,
        }
    }
}

/// The values of a source that its keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyKind {
    /// The keys of a map, the items of a list or set.
    Member,
    /// The positions of a list.
    Position,
    /// This term, for every member that the variable stands for.
    Selected(VarId, Term),
    /// The parts of a recursive value.
    Part,
    /// This field of every member, where a key is a record of several fields.
    Component(usize),
}

/// Returns the uses of `fields` as keys in `terms`; `held` are the variables of the state.
pub(super) fn find_key_uses(
    pool: &TermPool,
    terms: &[Term],
    fields: &[VarId],
    is_held: impl Fn(&VarId) -> bool,
) -> Vec<KeyUse> {
    let field = |term: Term| match *pool.node(term) {
        // A narrow field hits a key by chance often enough.
        TermNode::Var(var) if fields.contains(&var) && is_wide(pool.var_info(var).sort) => Some(var),
        _ => None,
    };
    let is_known = |source: Term| !pool.is_ground(source) && pool.free_vars(source).iter().all(&is_held);
    let mut found: Vec<KeyUse> = Vec::new();
    for term in pool.subterms(terms, |term| !pool.is_ground(term)) {
        let uses = match pool.node(term) {
            TermNode::Apply(op, args) => uses_of_operation(pool, *op, args, &field),
            TermNode::Call(_, args) => uses_of_call(pool, args, &field),
            _ => continue,
        };
        for key in uses.into_iter().filter(|key| is_known(key.source)) {
            let same = |other: &&mut KeyUse| {
                (other.field, other.source, other.kind) == (key.field, key.source, key.kind)
            };
            match found.iter_mut().find(same) {
                // One use for each field, collection and kind, however often the model looks it up.
                Some(other) => other.role = other.role.and(key.role),
                None => found.push(key),
            }
        }
    }
    found
}

fn uses_of_operation(
    pool: &TermPool,
    op: TermOp,
    args: &[Term],
    field: &impl Fn(Term) -> Option<VarId>,
) -> Vec<KeyUse> {
    let &[source, key, ..] = args else { return Vec::new() };
    if let (TermNode::Construct(_, _, parts), TermOp::Has | TermOp::At) = (pool.node(key), op) {
        let part = |(at, &part): (usize, &Term)| {
            let kind = KeyKind::Component(at);
            field(part).map(|field| KeyUse { field, source, kind, role: KeyRole::Asks })
        };
        return parts.iter().enumerate().filter_map(part).collect();
    }
    let is_list = matches!(pool.sort(source), Sort::Collection(id)
        if pool.collection(id).kind == CollectionKind::List);
    let by = |kind: KeyKind, role: KeyRole| {
        field(key).map(|field| KeyUse { field, source, kind, role }).into_iter().collect()
    };
    match op {
        TermOp::At | TermOp::Put if is_list => by(KeyKind::Position, KeyRole::Asks),
        TermOp::Put => by(KeyKind::Member, KeyRole::Creates),
        TermOp::Without => by(KeyKind::Member, KeyRole::Removes),
        TermOp::Has | TermOp::At | TermOp::IndexOf => by(KeyKind::Member, KeyRole::Asks),
        TermOp::Union | TermOp::Minus | TermOp::Within => {
            // Another collection, written out as a literal: its members are the keys.
            let TermNode::Elements(_, parts) = pool.node(key) else { return Vec::new() };
            let role = match op {
                TermOp::Union => KeyRole::Creates,
                TermOp::Minus => KeyRole::Removes,
                _ => KeyRole::Asks,
            };
            let part =
                |&part: &Term| field(part).map(|field| KeyUse { field, source, kind: KeyKind::Member, role });
            parts.iter().filter_map(part).collect()
        }
        TermOp::Any | TermOp::Collect(_) => {
            let TermNode::Lambda(member, body) = *pool.node(key) else { return Vec::new() };
            compared_parts(pool, member, body, field)
                .into_iter()
                .map(|(field, part)| KeyUse {
                    field,
                    source,
                    kind: KeyKind::Selected(member, part),
                    role: KeyRole::Asks,
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the parts of `member` that `body` compares with a field.
fn compared_parts(
    pool: &TermPool,
    member: VarId,
    body: Term,
    field: &impl Fn(Term) -> Option<VarId>,
) -> Vec<(VarId, Term)> {
    let mut found = Vec::new();
    for term in pool.subterms(&[body], |term| !pool.is_ground(term)) {
        let TermNode::Eq(a, b) = *pool.node(term) else { continue };
        for (side, other) in [(a, b), (b, a)] {
            if let Some(field) = field(side).filter(|_| pool.free_vars(other) == [member]) {
                found.push((field, other));
            }
        }
    }
    found
}

/// A recursive function that looks a field up in a recursive value: any part of the value may be meant.
fn uses_of_call(pool: &TermPool, args: &[Term], field: &impl Fn(Term) -> Option<VarId>) -> Vec<KeyUse> {
    let is_recursive = |&&arg: &&Term| matches!(pool.sort(arg), Sort::Data(data) if pool.is_recursive(data));
    let Some(&source) = args.iter().find(is_recursive) else { return Vec::new() };
    let by = |field| KeyUse { field, source, kind: KeyKind::Part, role: KeyRole::Asks };
    args.iter().filter_map(|&arg| field(arg)).map(by).collect()
}

impl KeyUse {
    /// The field.
    #[must_use]
    pub fn field(&self) -> VarId {
        self.field
    }

    /// Returns whether a message with this key is about something that is there, or creates it.
    #[must_use]
    pub fn is_hit(&self, pool: &TermPool, state: &Valuation, key: &Value) -> bool {
        self.role == KeyRole::Creates || self.keys(pool, state).contains(key)
    }

    /// Returns the keys that `state` has.
    fn keys(&self, pool: &TermPool, state: &Valuation) -> Vec<Value> {
        let Ok(source) = pool.eval(self.source, state) else { return Vec::new() };
        let sort = pool.var_info(self.field).sort;
        let fits = |value: &Value| pool.has_sort(value, sort);
        match (self.kind, &source) {
            (KeyKind::Position, Value::Collection(items)) => {
                // The first, a middle and the last position stand for the others; positions beyond the end are the
                // tester's edges.
                let ends = [0, items.len() / 2, items.len().saturating_sub(1)];
                let positions = ends.into_iter().filter(|&at| at < items.len());
                positions.filter_map(|at| i64::try_from(at).ok()).map(Value::int).filter(fits).collect()
            }
            (KeyKind::Member, Value::Collection(items)) => sample(items).into_iter().filter(fits).collect(),
            (KeyKind::Selected(member, part), Value::Collection(items)) => {
                let of = |item: Value| pool.eval(part, &[(member, item)].into_iter().collect::<Valuation>());
                sample(items).into_iter().filter_map(|item| of(item).ok()).filter(fits).collect()
            }
            (KeyKind::Component(at), Value::Collection(items)) => {
                let of = |member: &Value| match member {
                    Value::Data(made) => made.args.get(at).cloned(),
                    _ => None,
                };
                sample(items).iter().filter_map(of).filter(fits).collect()
            }
            (KeyKind::Part, value) => {
                let mut parts = Vec::new();
                collection::with_parts(value, &mut parts);
                parts.retain(fits);
                parts.truncate(MAX_MEMBERS);
                parts
            }
            _ => Vec::new(),
        }
    }
}

/// Returns members of `items`, evenly spread, the last one included.
pub(super) fn sample(items: &CollectionValue) -> Vec<Value> {
    let step = items.len().div_ceil(MAX_MEMBERS).max(1);
    let mut found: Vec<Value> = items.members().step_by(step).cloned().collect();
    if let Items::List(list) = &items.items
        && let Some(last) = list.len().checked_sub(1).and_then(|last| list.get(last))
        && found.last() != Some(last)
    {
        found.push(last.clone());
    }
    found
}

/// The keys of a run: those used so far, and the one of every sort that the walk keeps to for a while.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedKeys {
    /// The keys used, the latest last, each once.
    used: Vec<Value>,
    held: Vec<Value>,
    is_holding: bool,
}

impl UsedKeys {
    /// Lets go of the keys it kept to; with `hold`, keeps to the next one of each sort.
    pub fn hold(&mut self, hold: bool) {
        self.held.clear();
        self.is_holding = hold;
    }

    /// Returns whether the walk keeps to this key.
    pub(super) fn is_held(&self, key: &Value) -> bool {
        self.held.contains(key)
    }

    /// Returns how recently a key was used, greater for later; `None` if it was not.
    pub(super) fn recency(&self, key: &Value) -> Option<usize> {
        self.used.iter().position(|used| used == key)
    }

    /// Adds a key that was sent; one that `is_hit` returns true for may be kept to.
    pub fn record(&mut self, key: &Value, is_hit: impl FnOnce() -> bool) {
        self.used.retain(|other| other != key);
        self.used.push(key.clone());
        if self.used.len() > MAX_USED {
            self.used.remove(0);
        }
        if self.is_holding && self.held.iter().all(|held| held.base_sort() != key.base_sort()) && is_hit() {
            self.held.push(key.clone());
        }
    }
}

/// Draws keys for those of `fields` that are keys; `known` are the values of the state that are known.
pub(crate) fn draw_keys(
    pool: &TermPool,
    rng: &mut ChaCha8Rng,
    fields: &[VarId],
    hints: &Hints<'_>,
    known: &Valuation,
) -> Vec<(VarId, Value)> {
    let keys = FieldKeys::collect(pool, fields, hints.keys, hints.used_keys, known);
    keys.iter().filter_map(|keys| Some((keys.field, keys.draw(rng)?.clone()))).collect()
}

/// The keys to choose from for one field.
#[derive(Clone, Debug)]
pub(super) struct FieldKeys {
    pub(super) field: VarId,
    present: Vec<Value>,
    used: Vec<Value>,
    held: Option<Value>,
    role: KeyRole,
}

impl FieldKeys {
    /// Returns the keys for every field of `open` that is one.
    pub(super) fn collect(
        pool: &TermPool,
        open: &[VarId],
        uses: &[KeyUse],
        used: Option<&UsedKeys>,
        state: &Valuation,
    ) -> Vec<Self> {
        let Some(used) = used else { return Vec::new() };
        let mut found: Vec<Self> = Vec::new();
        for key in uses.iter().filter(|key| open.contains(&key.field)) {
            let present = key.keys(pool, state);
            if let Some(same) = found.iter_mut().find(|other| other.field == key.field) {
                same.present.extend(present);
                same.role = same.role.and(key.role);
                continue;
            }
            let sort = pool.var_info(key.field).sort;
            let fits = |value: &&Value| pool.has_sort(value, sort);
            found.push(Self {
                field: key.field,
                present,
                used: used.used.iter().filter(fits).cloned().collect(),
                held: used.held.iter().find(fits).cloned(),
                role: key.role,
            });
        }
        found
    }

    /// Draws a key; `None` if any value of the sort may come.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> Option<&Value> {
        if let Some(held) = &self.held {
            // While the kept key misses, another is mostly taken, or the walk would only be refused.
            let is_hit = self.role == KeyRole::Creates || self.present.contains(held);
            let percent = if is_hit { HELD_PERCENT.0 } else { HELD_PERCENT.1 };
            if rng.random_range(0..100) < percent {
                return Some(held);
            }
        }
        let (present, used) = match self.role {
            KeyRole::Asks => ASKING,
            KeyRole::Creates => CREATING,
            KeyRole::Removes => REMOVING,
        };
        match rng.random_range(0..100u32) {
            // An empty collection leaves the key used last, which is the likeliest to come back.
            drawn if drawn < present => self.present.choose(rng).or_else(|| self.used.last()),
            drawn if drawn < present + used => {
                // The latest is the likeliest: it may just have been removed.
                let mut back = 0;
                while back + 1 < self.used.len() && rng.random_ratio(1, 2) {
                    back += 1;
                }
                self.used.get(self.used.len().checked_sub(1 + back)?)
            }
            _ => None,
        }
    }
}
