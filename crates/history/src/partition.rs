//! The parts of a history that can be judged separately, found by what operations read and write.
//!
//! \[HK15]: a history is linearizable if its parts are, where no operation of one part can notice one of another. Two
//! operations are in different parts if they use different variables, or different entries of the same maps. The
//! variables an operation uses are read off the guards and updates along its paths
//! ([`OperationPath`](crate::OperationPath)); values that only pass from the input to the output of one operation do
//! not count, since they do not live beyond it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use ioxide_model::label::Label;
use ioxide_model::sort::{CollectionKind, Sort};
use ioxide_model::sts::{GateId, LocId, Sts};
use ioxide_model::term::{Term, TermNode, TermOp, VarId};
use ioxide_model::value::Value;
use ioxide_symex::Ctx;

use crate::sequential::{OperationPath, SequentialModel};

/// The division of the operations of a model into parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryPartition {
    groups: Vec<VariableGroup>,
    /// The group of the operations with this input; operations that use no variable have none.
    group_of: BTreeMap<GateId, usize>,
    /// The operations that leave nothing of the state of their part, by their messages.
    overwriting: BTreeSet<(GateId, GateId)>,
    /// The reason why there is one part only, if there is.
    pub obstacle: Option<PartitionObstacle>,
}

/// Variables that some operations use together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct VariableGroup {
    names: Vec<Arc<str>>,
    /// The positions of the variables in the store.
    vars: BTreeSet<usize>,
    /// For every input, the position of the field that is the key of all maps; `None` if the group has no key.
    keys: Option<BTreeMap<GateId, usize>>,
}

/// The reason why a history is judged as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartitionObstacle {
    /// Sequential consistency of the parts does not imply that of the whole.
    Consistency,
    /// Operations move the model between several idle locations.
    Locations(Vec<Arc<str>>),
    /// Some input is not accepted in some state, which would leave all parts open.
    UnspecifiedInputs,
    /// All operations share these variables, which are not maps with one key.
    Shared(Vec<Arc<str>>),
}

impl fmt::Display for PartitionObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |names: &[Arc<str>]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match self {
            Self::Consistency => f.write_str("sequential consistency has to be judged over all operations"),
            Self::Locations(names) => write!(f, "operations move between the states {}", list(names)),
            Self::UnspecifiedInputs => {
                f.write_str("the model does not accept every input in every idle state")
            }
            Self::Shared(names) if names.len() == 1 => {
                write!(f, "all operations share the variable {}", list(names))
            }
            Self::Shared(names) => write!(f, "all operations share the variables {}", list(names)),
        }
    }
}

/// The part that an operation belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartKey {
    group: Option<usize>,
    /// The value of the key, in a group that has one.
    pub key: Option<Value>,
}

impl HistoryPartition {
    /// Returns the partition that judges everything together, for this reason.
    #[must_use]
    pub fn whole(obstacle: PartitionObstacle) -> Self {
        let (groups, group_of, overwriting) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
        Self { groups, group_of, overwriting, obstacle: Some(obstacle) }
    }

    /// Finds the partition of a model.
    #[must_use]
    pub fn derive(cx: &mut Ctx<'_>, model: &SequentialModel) -> Self {
        if model.idle.len() > 1 {
            let name = |loc: LocId| cx.sts.locations[loc].name.clone();
            return Self::whole(PartitionObstacle::Locations(model.idle.iter().copied().map(name).collect()));
        }
        if !model.accepts_all_inputs {
            let overwriting = find_overwriting(cx, model, &[], &BTreeMap::new());
            return Self { overwriting, ..Self::whole(PartitionObstacle::UnspecifiedInputs) };
        }
        let uses = OperationUses::collect(cx, model);
        let (groups, group_of) = uses.group(cx, model);
        let obstacle = match &groups[..] {
            [only] if only.keys.is_none() => Some(PartitionObstacle::Shared(only.names.clone())),
            _ => None,
        };
        let overwriting = find_overwriting(cx, model, &groups, &group_of);
        Self { groups, group_of, overwriting, obstacle }
    }

    /// Returns the operations, by their messages, after which the state of their part is always the same, whatever it
    /// was before; they are possible in every state or in none.
    pub(crate) fn overwriting(&self) -> &BTreeSet<(GateId, GateId)> {
        &self.overwriting
    }

    /// Returns the part of an operation with this input.
    #[must_use]
    pub fn part_of(&self, input: &Label) -> PartKey {
        let Label::Input(gate, values) = input else { return PartKey { group: None, key: None } };
        let Some(&group) = self.group_of.get(gate) else { return PartKey { group: None, key: None } };
        let field = self.groups[group].keys.as_ref().and_then(|keys| keys.get(gate));
        PartKey { group: Some(group), key: field.and_then(|&field| values.get(field)).cloned() }
    }

    /// Returns the position of the field of this input that is a key, if parts are distinguished by it.
    #[must_use]
    pub fn key_field(&self, input: GateId) -> Option<usize> {
        let group = self.group_of.get(&input)?;
        self.groups[*group].keys.as_ref()?.get(&input).copied()
    }

    /// Returns whether there is one part only.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.obstacle.is_some() || self.groups.is_empty()
    }

    /// Returns the partition as a phrase: by which fields and variables operations are distinguished.
    #[must_use]
    pub fn describe(&self, cx: &Ctx<'_>) -> String {
        if let Some(obstacle) = &self.obstacle {
            return format!("as a whole, because {obstacle}");
        }
        let group = |group: &VariableGroup| {
            let names = group.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            match &group.keys {
                None => names,
                Some(keys) => {
                    let field = |(gate, field): (&GateId, &usize)| {
                        let gate = &cx.sts.gates[*gate];
                        cx.pool.var_info(gate.fields[*field]).name.to_string()
                    };
                    let fields: BTreeSet<String> = keys.iter().map(field).collect();
                    let fields = fields.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
                    format!("the entry of {names} at {}", fields.join(" or "))
                }
            }
        };
        if self.groups.is_empty() {
            return "as a whole, because no operation uses a variable".to_owned();
        }
        format!("by {}", self.groups.iter().map(group).collect::<Vec<_>>().join(" and by "))
    }
}

/// The variables that each kind of operation uses.
struct OperationUses {
    by_input: BTreeMap<GateId, BTreeSet<usize>>,
}

impl OperationUses {
    /// Collects the positions of the variables, in the order of the store, that the paths of each input use.
    fn collect(cx: &mut Ctx<'_>, model: &SequentialModel) -> Self {
        let mut by_input: BTreeMap<GateId, BTreeSet<usize>> = BTreeMap::new();
        for path in &model.paths {
            // A variable counts as used if a path changes it for good, or if a condition or a new value reads it.
            let used = by_input.entry(path.input).or_default();
            let mut read = path.facts.clone();
            for (at, ((var, after), &before)) in path.store.iter(cx.sts).zip(model.start.terms()).enumerate()
            {
                if after != before && model.live.is_live(path.end, var) {
                    used.insert(at);
                    read.push(after);
                }
            }
            let free: BTreeSet<VarId> = cx.pool.free_vars_of(&read).into_iter().collect();
            for (at, &before) in model.start.terms().iter().enumerate() {
                if matches!(cx.pool.node(before), TermNode::Var(var) if free.contains(var)) {
                    used.insert(at);
                }
            }
        }
        Self { by_input }
    }

    /// Joins the variables that some operation uses together, and finds the keys of every group.
    fn group(
        &self,
        cx: &mut Ctx<'_>,
        model: &SequentialModel,
    ) -> (Vec<VariableGroup>, BTreeMap<GateId, usize>) {
        let mut groups: Vec<(BTreeSet<usize>, BTreeSet<GateId>)> = Vec::new();
        for (&gate, used) in self.by_input.iter().filter(|(_, used)| !used.is_empty()) {
            let (mut vars, mut gates) = (used.clone(), BTreeSet::from([gate]));
            // The gates so far form disjoint groups; the new one joins all groups that it shares a variable with into
            // one.
            let (joined, apart): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|(others, _)| !others.is_disjoint(used));
            for (others, with) in joined {
                vars.extend(others);
                gates.extend(with);
            }
            groups = apart;
            groups.push((vars, gates));
        }
        let mut made = Vec::new();
        let mut group_of = BTreeMap::new();
        for (vars, gates) in groups {
            group_of.extend(gates.iter().map(|&gate| (gate, made.len())));
            let names = vars.iter().map(|&at| cx.pool.var_info(cx.sts.vars[at].var).name.clone()).collect();
            let keys = gates.iter().map(|&gate| Some((gate, find_key(cx, model, gate, &vars)?)));
            let keys = keys.collect::<Option<BTreeMap<_, _>>>();
            made.push(VariableGroup { names, vars, keys });
        }
        (made, group_of)
    }
}

/// Finds the operations that leave nothing of the state of their part, by the messages of their paths.
fn find_overwriting(
    cx: &mut Ctx<'_>,
    model: &SequentialModel,
    groups: &[VariableGroup],
    group_of: &BTreeMap<GateId, usize>,
) -> BTreeSet<(GateId, GateId)> {
    // With several idle locations an operation is not possible in all states.
    if model.idle.len() != 1 {
        return BTreeSet::new();
    }
    let all: BTreeSet<usize> = (0..model.start.terms().len()).collect();
    let mut found: BTreeMap<(GateId, GateId), bool> = BTreeMap::new();
    for path in &model.paths {
        let group = group_of.get(&path.input).map(|&group| &groups[group]);
        let key = group.and_then(|group| group.keys.as_ref()?.get(&path.input)).map(|&field| {
            let name = cx.pool.indexed_var(cx.sts.gates[path.input].fields[field], 1);
            cx.pool.var(name)
        });
        let vars = group.map_or(&all, |group| &group.vars);
        *found.entry((path.input, path.output)).or_insert(true) &= overwrites(cx, model, path, vars, key);
    }
    found.into_iter().filter(|(_, overwrites)| *overwrites).map(|(pair, _)| pair).collect()
}

/// Returns whether a path is possible whatever the state is, and leaves nothing of it in the variables `vars`, or in
/// their entries at `key`.
fn overwrites(
    cx: &Ctx<'_>,
    model: &SequentialModel,
    path: &OperationPath,
    vars: &BTreeSet<usize>,
    key: Option<Term>,
) -> bool {
    let reads_state = |term: Term| {
        let is_mentioned = |before: &Term| match *cx.pool.node(*before) {
            TermNode::Var(var) => cx.pool.mentions(term, var),
            _ => false,
        };
        model.start.terms().iter().any(is_mentioned)
    };
    if path.facts.iter().any(|&fact| reads_state(fact)) {
        return false;
    }
    let mut stored = path.store.iter(cx.sts).enumerate().filter(|(at, _)| vars.contains(at));
    stored.all(|(at, (var, after))| {
        if !model.live.is_live(path.end, var) || !reads_state(after) {
            return true;
        }
        // A map whose entry at the key is written last; its other entries are those that it had.
        match (key, cx.pool.node(after)) {
            (Some(key), TermNode::Apply(TermOp::Put, args)) => {
                args[1] == key
                    && !reads_state(args[2])
                    && is_own_map(cx, args[0], model.start.terms()[at], key)
            }
            (Some(key), TermNode::Apply(TermOp::Without, args)) => {
                args[1] == key && is_own_map(cx, args[0], model.start.terms()[at], key)
            }
            _ => false,
        }
    })
}

/// Returns whether `term` is the map `own`, changed at `key` at most.
fn is_own_map(cx: &Ctx<'_>, mut term: Term, own: Term, key: Term) -> bool {
    while term != own {
        match cx.pool.node(term) {
            TermNode::Apply(TermOp::Put | TermOp::Without, args) if args[1] == key => term = args[0],
            _ => return false,
        }
    }
    true
}

/// Returns the position of the field of `gate` that is the only key at which all `vars` are accessed by its operations.
fn find_key(
    cx: &mut Ctx<'_>,
    model: &SequentialModel,
    gate: GateId,
    vars: &BTreeSet<usize>,
) -> Option<usize> {
    let sts: &Sts = cx.sts;
    let is_map = |&at: &usize| {
        let sort = cx.pool.var_info(sts.vars[at].var).sort;
        cx.pool.collection_of(sort).is_some_and(|of| of.kind == CollectionKind::Map)
    };
    if !vars.iter().all(is_map) {
        return None;
    }
    let key_sort =
        |at: usize| cx.pool.collection_of(cx.pool.var_info(sts.vars[at].var).sort).map(|of| of.key.base());
    let sorts: Vec<Option<Sort>> = vars.iter().map(|&at| key_sort(at)).collect();
    // Keys of different sorts are never equal, so no one key could stand for all maps.
    let is_same = sorts.windows(2).all(|pair| pair[0] == pair[1]);
    let maps: Vec<Term> = vars.iter().map(|&at| model.start.terms()[at]).collect();
    is_same.then_some(())?;
    (0..sts.gates[gate].fields.len()).find(|&field| {
        // The input is the first message of a path, so its fields have the number 1.
        let name = cx.pool.indexed_var(sts.gates[gate].fields[field], 1);
        let key = cx.pool.var(name);
        let access = KeyedAccess { cx, maps: &maps, key };
        let mut paths = model.paths.iter().filter(|path| path.input == gate);
        paths.all(|path| access.holds_on(path, vars))
    })
}

/// The question whether maps are accessed at one key only.
struct KeyedAccess<'a, 'm> {
    cx: &'a Ctx<'m>,
    maps: &'a [Term],
    key: Term,
}

/// The way in which a term must use the maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum MapUse {
    /// The term is one of the maps, changed at the key at most.
    EntryUpdate,
    /// The term looks at the maps at the key only.
    EntryRead,
}

impl KeyedAccess<'_, '_> {
    fn holds_on(&self, path: &OperationPath, vars: &BTreeSet<usize>) -> bool {
        // Other variables that the path assigns are dead after it, or they would be in the group.
        let updates = vars.iter().map(|&at| (path.store.terms()[at], MapUse::EntryUpdate));
        let reads = path.facts.iter().map(|&fact| (fact, MapUse::EntryRead));
        let mut todo: Vec<(Term, MapUse)> = updates.chain(reads).collect();
        let mut seen: FxHashSet<(Term, MapUse)> = todo.iter().copied().collect();
        // Terms can be deep, so this is no recursion.
        while let Some((term, wanted)) = todo.pop() {
            let Some(parts) = self.split(term, wanted) else { return false };
            todo.extend(parts.into_iter().filter(|part| seen.insert(*part)));
        }
        true
    }

    /// Returns what must hold of the subterms so that `term` is used as wanted; `None` if it is not.
    fn split(&self, term: Term, wanted: MapUse) -> Option<Vec<(Term, MapUse)>> {
        use MapUse::{EntryRead, EntryUpdate};
        if self.maps.contains(&term) {
            return (wanted == EntryUpdate).then(Vec::new);
        }
        let node = self.cx.pool.node(term);
        match (wanted, node) {
            (EntryUpdate, TermNode::Apply(TermOp::Put, args)) if args[1] == self.key => {
                Some(vec![(args[0], EntryUpdate), (args[2], EntryRead)])
            }
            (EntryUpdate, TermNode::Apply(TermOp::Without, args)) if args[1] == self.key => {
                Some(vec![(args[0], EntryUpdate)])
            }
            (EntryUpdate, TermNode::Ite(condition, yes, no)) => {
                Some(vec![(*condition, EntryRead), (*yes, EntryUpdate), (*no, EntryUpdate)])
            }
            // Anything else could change other entries of the map, or all of it.
            (EntryUpdate, _) => None,
            (EntryRead, TermNode::Apply(TermOp::At | TermOp::Has, args))
                if args[1] == self.key && self.is_map_sorted(args[0]) =>
            {
                Some(vec![(args[0], EntryUpdate)])
            }
            (EntryRead, node) => Some(node.children().map(|child| (child, EntryRead)).collect()),
        }
    }

    /// Returns whether `term` has the sort of one of the maps and mentions one.
    fn is_map_sorted(&self, term: Term) -> bool {
        let pool = &*self.cx.pool;
        let mentions =
            |map: &Term| matches!(*pool.node(*map), TermNode::Var(var) if pool.mentions(term, var));
        self.maps.iter().any(|&map| pool.sort(map) == pool.sort(term)) && self.maps.iter().any(mentions)
    }
}
