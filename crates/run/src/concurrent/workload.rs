//! Operations that get into each other's way: few keys, written values that occur once, reads in between.
//!
//! A value that occurs once tells which write a read saw. Values that a guard compares, as the expected one of a
//! compare-and-swap, are mostly values that were seen lately. Inputs that the model does not accept in any state that
//! is possible at the last cut are drawn again, and at last chosen by the solver.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ioxide_history::{HistoryPartition, SequentialModel, WorkloadBurst};
use ioxide_model::collection::Items;
use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::GateId;
use ioxide_model::term::{TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_symex::{Ctx, list_offers};
use ioxide_testgen::data::{ModelLexicon, PickedValues, ValueRequest, any_value, pick};
use ioxide_wire::adapter::shared::FaultKind;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::faults::{PlannedFault, plan_fault};

/// The greatest number of keys of a run. Chosen by feel: with more, clients rarely meet.
const MAX_KEYS: usize = 3;

/// The greatest number of operations of a client in a burst. Chosen by feel: the search for an order is quick as long
/// as nothing is under way between bursts.
const MAX_BURST: usize = 3;

/// The number of values that count as seen lately. Chosen by feel: about one for each client.
const MAX_RECENT: usize = 6;

/// The number of draws before the solver is asked for an input, and of inputs that are tried at all. Chosen by feel.
const MAX_DRAWS: usize = 16;

/// The distance of numbers that are used once. Chosen by feel: counting from one of them does not lead to the next.
const FRESH_STEP: i64 = 100;

/// The greatest number of values of the model that inputs are compared with. Chosen by feel.
const MAX_HELD: usize = 16;

/// The states of a belief in which an input is tried. Chosen by feel.
pub(super) const MAX_STATES: usize = 4;

/// Operations that start together: one list for every client, and perhaps a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedBurst {
    pub(super) inputs: Vec<Vec<Label>>,
    pub(super) fault: Option<PlannedFault>,
}

impl PlannedBurst {
    /// Returns the burst as it is shown.
    pub(super) fn describe(self) -> WorkloadBurst {
        WorkloadBurst { inputs: self.inputs, fault: self.fault.map(|fault| fault.kind.to_string().into()) }
    }
}

/// The use of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldRole {
    /// It says which entry of a map an operation is about.
    Key,
    /// A condition of the model depends on it.
    Compared,
    /// It is stored.
    Stored,
}

/// An input of the model.
struct WorkloadInput {
    gate: GateId,
    fields: Vec<(FieldRole, Sort)>,
    /// True if no operation with this input changes anything.
    is_reader: bool,
}

/// The choice of operations.
pub(super) struct Workload {
    inputs: Vec<WorkloadInput>,
    accepts_all: bool,
}

/// The choices of one run.
pub(super) struct RunWorkload<'w> {
    workload: &'w Workload,
    rng: ChaCha8Rng,
    n_keys: usize,
    keys: BTreeMap<Sort, Vec<Value>>,
    /// The values that the model holds at the last cut.
    current: Vec<Value>,
    recent: VecDeque<Value>,
    fresh: i64,
}

impl Workload {
    /// Finds the inputs of a model and the use of their fields.
    pub(super) fn new(cx: &mut Ctx<'_>, model: &SequentialModel, partition: &HistoryPartition) -> Self {
        let gates: BTreeSet<GateId> = model.paths.iter().map(|path| path.input).collect();
        let names = key_names(cx, &gates, partition);
        let mut inputs = Vec::new();
        for &gate in &gates {
            let mut fields = Vec::new();
            for &field in &cx.sts.gates[gate].fields {
                let role = if names.contains(&name_of(cx, field)) {
                    FieldRole::Key
                } else if model.compares(cx, gate, field) {
                    FieldRole::Compared
                } else {
                    FieldRole::Stored
                };
                fields.push((role, cx.pool.var_info(field).sort));
            }
            let mut paths = model.paths.iter().filter(|path| path.input == gate);
            let is_reader = paths.all(|path| model.is_pure(path.input, path.output));
            inputs.push(WorkloadInput { gate, fields, is_reader });
        }
        Self { inputs, accepts_all: model.accepts_all_inputs }
    }

    /// Begins the choices of a run.
    pub(super) fn begin(&self, seed: u64) -> RunWorkload<'_> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // A number of keys for each run: with one every operation conflicts, with three some do not.
        let n_keys = rng.random_range(1..=MAX_KEYS);
        let (keys, current, recent) = (BTreeMap::new(), Vec::new(), VecDeque::new());
        RunWorkload { workload: self, rng, n_keys, keys, current, recent, fresh: 0 }
    }
}

fn name_of(cx: &Ctx<'_>, field: VarId) -> (String, Sort) {
    let info = cx.pool.var_info(field);
    (info.name.to_string(), info.sort.base())
}

/// Returns the names and sorts of fields that are keys. A field that an operation keeps in a variable before it is
/// looked up is recognised by its name, which other operations use for the same thing.
fn key_names(
    cx: &mut Ctx<'_>,
    gates: &BTreeSet<GateId>,
    partition: &HistoryPartition,
) -> BTreeSet<(String, Sort)> {
    let mut lexicon = ModelLexicon::collect(cx);
    let sts = cx.sts;
    let mut fields: BTreeSet<VarId> = BTreeSet::new();
    for (id, _) in sts.switches.iter_enumerated().filter(|(_, switch)| gates.contains(&switch.gate)) {
        fields.extend(lexicon.keys(cx, id).iter().map(|key| key.field()));
    }
    for &gate in gates {
        fields.extend(partition.key_field(gate).and_then(|at| sts.gates[gate].fields.get(at)));
    }
    fields.into_iter().map(|field| name_of(cx, field)).collect()
}

impl RunWorkload<'_> {
    /// Plans a burst of at most `most` operations for so many clients.
    ///
    /// `states` are those possible at the last cut, [`MAX_STATES`] of them at most.
    pub(super) fn plan_burst(
        &mut self,
        cx: &mut Ctx<'_>,
        states: &[ConcreteState],
        clients: usize,
        most: usize,
        faults: &[FaultKind],
    ) -> PlannedBurst {
        self.current = held_values(cx, states);
        let fault = plan_fault(&mut self.rng, faults);
        let mut left = most;
        let mut inputs = Vec::new();
        for _ in 0..clients {
            let wanted = self.rng.random_range(1..=MAX_BURST).min(left);
            let drawn: Vec<Label> = (0..wanted).filter_map(|_| self.draw_input(cx, states)).collect();
            // Draws that found nothing count as well, so a burst may have fewer operations than it could.
            left -= wanted;
            inputs.push(drawn);
        }
        PlannedBurst { inputs, fault }
    }

    /// Plans the last burst: one client reads everything, so that a difference that nobody noticed is seen.
    pub(super) fn plan_last_look(&mut self, pool: &TermPool, clients: usize) -> PlannedBurst {
        let mut looks = Vec::new();
        let readers =
            self.workload.inputs.iter().filter(|input| input.is_reader && self.workload.accepts_all);
        for input in readers {
            let n =
                if input.fields.iter().any(|(role, _)| *role == FieldRole::Key) { self.n_keys } else { 1 };
            for at in 0..n {
                let values = input.fields.iter().map(|&(role, sort)| match role {
                    FieldRole::Key => {
                        let keys = keys_of(&mut self.keys, &mut self.rng, pool, sort, self.n_keys);
                        keys[at % keys.len()].clone()
                    }
                    _ => any_value(pool, &mut self.rng, sort, &[]),
                });
                looks.push(Label::Input(input.gate, values.collect()));
            }
        }
        let inputs = std::iter::once(looks).chain(std::iter::repeat_n(Vec::new(), clients - 1)).collect();
        PlannedBurst { inputs, fault: None }
    }

    /// Remembers the values of an answer.
    pub(super) fn note_answer(&mut self, answer: &Label) {
        if let Label::Output(_, values) | Label::Input(_, values) = answer {
            values.iter().for_each(|value| self.note_value(value));
        }
    }

    fn note_value(&mut self, value: &Value) {
        match value {
            // The value inside an option, which is what an input has.
            Value::Data(data) => data.args.iter().for_each(|inner| self.note_value(inner)),
            Value::Bool(_) => (),
            value => {
                self.recent.retain(|known| known != value);
                self.recent.push_back(value.clone());
                if self.recent.len() > MAX_RECENT {
                    self.recent.pop_front();
                }
            }
        }
    }

    /// Draws an input that the model accepts in one of `states`; `None` if none was found.
    fn draw_input(&mut self, cx: &mut Ctx<'_>, states: &[ConcreteState]) -> Option<Label> {
        for _ in 0..MAX_DRAWS {
            let input = self.draw_gate()?;
            let label = self.draw_values(cx, input);
            // Tried in the states at the last cut only: in the middle of a burst nobody knows the state.
            if self.workload.accepts_all || is_accepted(cx, states, &label) {
                self.note_stored(input, &label);
                return Some(label);
            }
        }
        self.solve_input(cx, states)
    }

    /// Draws the input of the next operation: reads and writes take turns.
    fn draw_gate(&mut self) -> Option<usize> {
        let inputs = &self.workload.inputs;
        // Two reads for three writes, chosen by feel: reads show what writes did, but only writes conflict.
        let wants_reader = self.rng.random_ratio(2, 5);
        let of_kind: Vec<usize> =
            (0..inputs.len()).filter(|&at| inputs[at].is_reader == wants_reader).collect();
        let all: Vec<usize> = (0..inputs.len()).collect();
        let from = if of_kind.is_empty() { &all } else { &of_kind };
        (!from.is_empty()).then(|| from[self.rng.random_range(0..from.len())])
    }

    fn draw_values(&mut self, cx: &Ctx<'_>, input: usize) -> Label {
        let WorkloadInput { gate, fields, .. } = &self.workload.inputs[input];
        let values = fields.iter().map(|&(role, sort)| self.draw_value(cx, role, sort)).collect();
        Label::Input(*gate, values)
    }

    fn draw_value(&mut self, cx: &Ctx<'_>, role: FieldRole, sort: Sort) -> Value {
        let pool = &*cx.pool;
        match role {
            FieldRole::Key => {
                let keys = keys_of(&mut self.keys, &mut self.rng, pool, sort, self.n_keys);
                keys[self.rng.random_range(0..keys.len())].clone()
            }
            // One time in eight a value that nobody has: the comparison must be able to fail, too.
            FieldRole::Compared if self.rng.random_ratio(7, 8) => {
                let of_sort = |value: &&Value| pool.has_sort(value, sort);
                let current: Vec<&Value> = self.current.iter().filter(of_sort).collect();
                let recent: Vec<&Value> = self.recent.iter().filter(of_sort).collect();
                // The value held now makes the operation succeed; a recent one succeeds only in some orders, which
                // tells them apart.
                let takes_current = recent.is_empty() || self.rng.random_ratio(2, 3);
                let fits = if takes_current && !current.is_empty() { current } else { recent };
                match fits.len() {
                    0 => self.draw_fresh(cx, sort),
                    n => fits[self.rng.random_range(0..n)].clone(),
                }
            }
            FieldRole::Compared | FieldRole::Stored => self.draw_fresh(cx, sort),
        }
    }

    /// Draws a value that was not used in this run yet, where the sort has enough of them.
    fn draw_fresh(&mut self, cx: &Ctx<'_>, sort: Sort) -> Value {
        self.fresh += 1;
        let n = self.fresh;
        match sort {
            Sort::Int => Value::int(n.saturating_mul(FRESH_STEP)),
            Sort::Range { lo, hi } => {
                let width = hi.saturating_sub(lo).saturating_add(1).max(1);
                // A narrow range repeats after a while; it has no more values.
                Value::int(lo.saturating_add(n % width))
            }
            Sort::Str => Value::str(&format!("v{n}")),
            Sort::Bool | Sort::Real | Sort::Data(_) | Sort::Collection(_) => {
                any_value(cx.pool, &mut self.rng, sort, &[])
            }
        }
    }

    /// Remembers the values that an input stores, as values that a later one may be compared with.
    fn note_stored(&mut self, input: usize, label: &Label) {
        let Label::Input(_, values) = label else { return };
        for ((role, _), value) in self.workload.inputs[input].fields.iter().zip(values) {
            if *role != FieldRole::Key {
                self.note_value(value);
            }
        }
    }

    /// Asks the solver for an input that the model accepts.
    fn solve_input(&mut self, cx: &mut Ctx<'_>, states: &[ConcreteState]) -> Option<Label> {
        for state in states {
            let offers = list_offers(cx, state, |kind| kind.is_input());
            if offers.is_empty() {
                continue;
            }
            let offer = &offers[self.rng.random_range(0..offers.len())];
            let request = ValueRequest { gate: offer.gate, guard: offer.when, state: &state.values };
            if let PickedValues::Values(values) = pick(cx, &mut self.rng, &request) {
                return Some(Label::Input(offer.gate, values));
            }
        }
        None
    }
}

/// Returns the keys of a sort in this run, which are drawn when they are first needed.
fn keys_of<'k>(
    keys: &'k mut BTreeMap<Sort, Vec<Value>>,
    rng: &mut ChaCha8Rng,
    pool: &TermPool,
    sort: Sort,
    n: usize,
) -> &'k [Value] {
    let mut draw = |at: usize| match sort {
        Sort::Int => Value::int(at as i64 + 1),
        Sort::Range { lo, hi } => Value::int(lo.saturating_add(at as i64).min(hi)),
        Sort::Str => Value::str(["a", "b", "c"][at % MAX_KEYS]),
        Sort::Bool | Sort::Real | Sort::Data(_) | Sort::Collection(_) => any_value(pool, rng, sort, &[]),
    };
    keys.entry(sort).or_insert_with(|| (0..n.max(1)).map(&mut draw).collect())
}

/// Returns the values that variables hold in `states`, those inside of options and collections too, but no keys.
fn held_values(cx: &Ctx<'_>, states: &[ConcreteState]) -> Vec<Value> {
    let vars = cx.sts.vars.iter();
    let mut todo: Vec<&Value> =
        vars.flat_map(|var| states.iter().filter_map(|state| state.values.get(var.var))).collect();
    let mut found = Vec::new();
    while let Some(value) = todo.pop() {
        match value {
            Value::Data(data) => todo.extend(data.args.iter()),
            Value::Collection(collection) => match &collection.items {
                Items::List(items) | Items::Set(items) => todo.extend(items.iter()),
                Items::Map(items) => todo.extend(items.iter().map(|(_, value)| value)),
            },
            value if found.len() < MAX_HELD && !found.contains(value) => found.push(value.clone()),
            _ => (),
        }
    }
    found
}

/// Returns whether the model accepts an input in one of `states`.
fn is_accepted(cx: &Ctx<'_>, states: &[ConcreteState], label: &Label) -> bool {
    states
        .iter()
        .any(|state| concrete::successors(cx.pool, cx.sts, state, label).is_ok_and(|steps| !steps.is_empty()))
}
