//! Shortcuts through the run itself: the moves between two similar states of the model are left out.
//!
//! Before every input of the run the model is in some state. Two states are alike if they are in the same place and
//! their data have the same shape, on one of three [levels](ShapeLevel). So the run is a walk through a small graph of
//! shapes, and the shortest way through that graph to the state before the failing input is a candidate; so is the
//! shortest one through each kind of input, since a fault often needs one (an item that was dropped, a lock that was
//! taken). Clocks are no part of a shape, and parts of a system have their places in it: this works for every model.
//!
//! Mostly a few variables decide what was expected in the end ([`slices`](super::slices)). With only these in the
//! shapes more states are alike and the ways shorter; and the inputs that change none of them are left out at once. The
//! inputs that share a value with the failing one ([`related`](super::related)) are a candidate too.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::label::Label;
use ioxide_model::sts::GateId;
use ioxide_model::term::VarId;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_symex::{Belief, Ctx, Monitor, Tolerance};
use ioxide_testgen::tester::replay::PlannedMove;

use super::edit::{EditClass, PlanEdit, QueuedEdit};
use super::failure_sign::FailureSign;
use super::planning::FailureSituation;
use super::related::{self, is_own_input};
use super::slices;
use super::steps::segments;

/// The least number that is taken for a name that the system chose. Chosen by feel: counts and amounts are mostly
/// smaller; a name that is missed only costs a shortcut.
const LEAST_NAME: i64 = 1_000;
/// The least number of letters of a text that is taken for a name that the system chose. Chosen by feel: words of a
/// protocol are mostly shorter.
const LEAST_NAME_LENGTH: usize = 5;
/// The number of inputs up to which ways through each kind of input are looked for: that takes the cube of it.
const MAX_WAYPOINTS: usize = 200;

/// The detail in which states are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShapeLevel {
    /// The place alone.
    Place,
    /// Also truth values, members of enumerations and sizes of collections.
    Sizes,
    /// Also numbers and texts, but for names that the system chose.
    Values,
    /// All values as they are.
    Exact,
}

/// A value as far as it counts in a shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ShapeValue {
    Exact(Value),
    Size(usize),
    Parts(Vec<ShapeValue>),
    Any,
}

/// The shape of the states that the model may be in.
type StateShape = Vec<(String, Vec<ShapeValue>)>;

/// Returns the shortcuts through `plan`, which the run with `trace` carried out and which failed with `sign`.
pub(super) fn edits(
    cx: &mut Ctx<'_>,
    tolerance: &Tolerance,
    trace: &Trace,
    plan: &[PlannedMove],
    sign: FailureSign,
) -> Vec<QueuedEdit> {
    let segments = segments(plan);
    let Some(beliefs) = beliefs_at_inputs(cx, tolerance, trace) else { return Vec::new() };
    // Belief number `at` must be the one before segment number `at`; otherwise the run did not carry out the plan.
    if beliefs.len() != segments.len() || segments.len() < 2 {
        return Vec::new();
    }
    let lengths: Vec<usize> = segments.iter().map(ExactSizeIterator::len).collect();
    let all: BTreeSet<VarId> = cx.sts.vars.iter().map(|var| var.var).collect();
    let walk_of = |cx: &Ctx<'_>, vars: &BTreeSet<VarId>, level: ShapeLevel| {
        let shapes: Vec<StateShape> = beliefs.iter().map(|belief| shape(cx, belief, vars, level)).collect();
        ShapeWalk::new(&shapes, lengths.clone())
    };
    let mut paths: Vec<Vec<usize>> = Vec::new();
    // Coarse shapes join more states and give shorter ways, which lead to the failing state less often; all are
    // candidates, and the system decides.
    for level in [ShapeLevel::Place, ShapeLevel::Sizes, ShapeLevel::Values] {
        paths.extend(walk_of(cx, &all, level).short_paths(&gates_of(plan)));
    }
    let situation = FailureSituation::of(cx, tolerance.clone(), trace, sign);
    for vars in situation.map_or_else(Vec::new, |situation| slices::find_levels(cx, &situation)) {
        for level in [ShapeLevel::Sizes, ShapeLevel::Values] {
            paths.extend(walk_of(cx, &vars, level).shortest_path());
        }
        paths.push(changing_segments(cx, &beliefs, &vars));
    }
    let mut seen = BTreeSet::new();
    // Levels often agree; a path is a run, and is not tried twice.
    paths.retain(|path| seen.insert(path.clone()));
    let related = related::segments(&related::values_by_input(cx.sts, trace));
    let related = related.into_iter().map(|path| (EditClass::Related, path));
    let paths = paths.into_iter().map(|path| (EditClass::Shortcut, path)).chain(related);
    let mut edits: Vec<QueuedEdit> = Vec::new();
    for (class, path) in paths {
        let head = &plan[..segments[0].start];
        // The last segment has the failing input and stays; the way leads to the state before it.
        let path = path.into_iter().chain([segments.len() - 1]);
        let moves = path.map(|at| &plan[segments[at].clone()]);
        let short: Vec<PlannedMove> = std::iter::once(head).chain(moves).flatten().cloned().collect();
        if short.len() < plan.len() {
            edits.push(QueuedEdit { class, place: short.len(), edit: PlanEdit::Replace(short) });
        }
    }
    edits
}

/// Returns the segments before the last one after which one of `vars` has another value, or the model is in another
/// place.
fn changing_segments(cx: &Ctx<'_>, beliefs: &[Belief], vars: &BTreeSet<VarId>) -> Vec<usize> {
    let shapes: Vec<StateShape> =
        beliefs.iter().map(|belief| shape(cx, belief, vars, ShapeLevel::Exact)).collect();
    (0..shapes.len() - 1).filter(|at| shapes[*at] != shapes[at + 1]).collect()
}

/// Returns the kinds of the inputs of a plan.
fn gates_of(plan: &[PlannedMove]) -> Vec<GateId> {
    let gate = |planned: &PlannedMove| match planned.input()?.label {
        Label::Input(gate, _) => Some(gate),
        _ => None,
    };
    plan.iter().filter_map(gate).collect()
}

/// Returns what the model believed before each input of `trace`; `None` if the trace cannot be followed label by label.
fn beliefs_at_inputs(cx: &mut Ctx<'_>, tolerance: &Tolerance, trace: &Trace) -> Option<Vec<Belief>> {
    let mut monitor = Monitor::with_tolerance(cx, tolerance.clone());
    let mut beliefs = Vec::new();
    let last_input = trace.labels.iter().rposition(|label| is_own_input(cx.sts, label))?;
    for label in &trace.labels[..=last_input] {
        if is_own_input(cx.sts, label) {
            beliefs.push(monitor.belief().clone());
        }
        monitor.observe(cx, label).ok()?;
    }
    Some(beliefs)
}

/// Returns the shape of what the model believes, as far as `vars` go.
fn shape(cx: &Ctx<'_>, belief: &Belief, vars: &BTreeSet<VarId>, level: ShapeLevel) -> StateShape {
    let values = |value_of: &dyn Fn(VarId) -> Option<Value>| {
        let vars = cx.sts.vars.iter().filter(|var| level != ShapeLevel::Place && vars.contains(&var.var));
        vars.map(|var| value_of(var.var).map_or(ShapeValue::Any, |value| shape_of_value(&value, level)))
            .collect()
    };
    let mut shape: StateShape = match belief {
        Belief::Concrete(states) => states
            .iter()
            .map(|state| (state.place_text(cx.sts), values(&|var| state.values.get(var).cloned())))
            .collect(),
        Belief::Symbolic(states) => states
            .iter()
            .map(|state| {
                let value = |var| cx.pool.as_value(state.store.get(cx.sts, var)?).cloned();
                (state.location_text(cx), values(&value))
            })
            .collect(),
        Belief::Unspecified => Vec::new(),
    };
    shape.sort();
    shape.dedup();
    shape
}

fn shape_of_value(value: &Value, level: ShapeLevel) -> ShapeValue {
    if level == ShapeLevel::Exact {
        return ShapeValue::Exact(value.clone());
    }
    let is_values = level == ShapeLevel::Values;
    match value {
        Value::Bool(_) => ShapeValue::Exact(value.clone()),
        Value::Int(n) if is_values && n.abs() < LEAST_NAME.into() => ShapeValue::Exact(value.clone()),
        Value::Str(text) if is_values && text.chars().count() < LEAST_NAME_LENGTH => {
            ShapeValue::Exact(value.clone())
        }
        Value::Real(_) if is_values => ShapeValue::Exact(value.clone()),
        Value::Int(_) | Value::Str(_) | Value::Real(_) => ShapeValue::Any,
        Value::Data(data) => {
            let args = data.args.iter().map(|arg| shape_of_value(arg, level));
            ShapeValue::Parts(std::iter::once(ShapeValue::Size(data.ctor as usize)).chain(args).collect())
        }
        Value::Collection(items) if is_values => {
            let mut parts: Vec<ShapeValue> = items.parts().map(|part| shape_of_value(part, level)).collect();
            // Items go by the names that the system chose for them: their order says nothing.
            parts.sort();
            ShapeValue::Parts(parts)
        }
        Value::Collection(items) => ShapeValue::Size(items.len()),
    }
}

/// The walk of a run through the shapes of its states.
struct ShapeWalk {
    /// The shape before each input, by number.
    nodes: Vec<usize>,
    n_nodes: usize,
    /// The number of moves of each input with its answers.
    lengths: Vec<usize>,
}

/// The shortest ways from one shape to all others: the length, and the last segment of the way.
type Reached = Vec<Option<(usize, Option<usize>)>>;

impl ShapeWalk {
    /// Numbers the different shapes in the order in which the run meets them.
    fn new(shapes: &[StateShape], lengths: Vec<usize>) -> Self {
        let mut numbers: BTreeMap<&StateShape, usize> = BTreeMap::new();
        let mut nodes = Vec::new();
        for shape in shapes {
            let next = numbers.len();
            nodes.push(*numbers.entry(shape).or_insert(next));
        }
        Self { nodes, n_nodes: numbers.len(), lengths }
    }

    /// Returns the shortest way from the first shape to that before the last input: segments of the run in order.
    fn shortest_path(&self) -> Option<Vec<usize>> {
        let last = *self.nodes.last()?;
        self.path_to(&self.reach_from(self.nodes[0]), last)
    }

    /// Returns the shortest way from the first shape to that before the last input, then the shortest through each
    /// kind of input before it: segments of the run in order.
    fn short_paths(&self, gates: &[GateId]) -> Vec<Vec<usize>> {
        let last = self.nodes.len() - 1;
        let reached = self.reach_from(self.nodes[0]);
        let mut paths: Vec<Vec<usize>> = self.path_to(&reached, self.nodes[last]).into_iter().collect();
        let mut through: BTreeMap<GateId, Vec<usize>> = BTreeMap::new();
        let length = |path: &[usize]| path.iter().map(|at| self.lengths[*at]).sum::<usize>();
        for at in 0..if last <= MAX_WAYPOINTS { last } else { 0 } {
            let after = self.reach_from(self.nodes[at + 1]);
            let (Some(there), Some(back)) =
                (self.path_to(&reached, self.nodes[at]), self.path_to(&after, self.nodes[last]))
            else {
                continue;
            };
            // From the start to the state before this input, the input itself, and on from the state after it.
            let path: Vec<usize> = there.into_iter().chain([at]).chain(back).collect();
            let Some(gate) = gates.get(at) else { continue };
            if through.get(gate).is_none_or(|known| length(&path) < length(known)) {
                through.insert(*gate, path);
            }
        }
        paths.extend(through.into_values());
        paths
    }

    /// Returns the shortest ways from `from` along the segments of the run (Dijkstra, without a heap: runs are short).
    fn reach_from(&self, from: usize) -> Reached {
        let mut reached: Reached = vec![None; self.n_nodes];
        let mut is_settled = vec![false; self.n_nodes];
        reached[from] = Some((0, None));
        loop {
            let open = (0..self.n_nodes).filter(|node| !is_settled[*node]);
            // Lengths are not negative, so the nearest open shape is settled for good.
            let nearest = open.filter_map(|node| Some((reached[node]?.0, node))).min();
            let Some((length, node)) = nearest else { return reached };
            is_settled[node] = true;
            for at in (0..self.nodes.len() - 1).filter(|at| self.nodes[*at] == node) {
                let (to, length) = (self.nodes[at + 1], length + self.lengths[at]);
                if reached[to].is_none_or(|(known, _)| length < known) {
                    reached[to] = Some((length, Some(at)));
                }
            }
        }
    }

    /// Returns the segments of the way to `to`; `None` if there is none.
    fn path_to(&self, reached: &Reached, to: usize) -> Option<Vec<usize>> {
        let mut path = Vec::new();
        let mut node = to;
        while let Some(at) = reached[node]?.1 {
            path.push(at);
            node = self.nodes[at];
        }
        path.reverse();
        Some(path)
    }
}
