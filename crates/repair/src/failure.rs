//! The failure of a run as candidates see it: where the model may have been, what was seen, what could have mattered.

use std::collections::VecDeque;

use ioxide_model::label::{Label, readable};
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::{GateId, LocId};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use ioxide_symex::{Belief, Ctx, Monitor};
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of states of a belief that are looked at. Chosen by feel: a larger belief says little about values.
const MAX_STATES: usize = 16;
/// The number of values of one type that are tried. Chosen by feel.
const MAX_SEEN: usize = 24;
/// The number of inputs before the failure that a state may lack. Chosen by feel: what was refused long before shows
/// itself sooner.
const MAX_INPUTS: usize = 4;

/// The facts about a forbidden label.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailurePoint {
    /// The message that was seen; `None` for silence, and for time that passed.
    pub(crate) observed_gate: Option<String>,
    /// The values of its fields, as text.
    pub(crate) observed_values: Vec<String>,
    /// The names of the locations before it.
    places: FxHashSet<String>,
    /// The values that variables had before it, by name.
    held: FxHashMap<String, FxHashSet<String>>,
    /// The values that were seen or held, by type.
    seen: FxHashMap<String, Vec<String>>,
    /// The switches that the model could take or refuse on the way, with their distance from the failure in steps.
    reachable: FxHashMap<Span, usize>,
    /// The last inputs before it, the latest first.
    inputs: Vec<InputBeforeFailure>,
    /// The messages of the run, by name.
    messages: FxHashSet<String>,
    /// True if the model is made of parts, whose messages to each other were not seen.
    pub(crate) has_parts: bool,
}

/// An input on the way to a failure.
#[derive(Clone, Debug)]
pub(crate) struct InputBeforeFailure {
    pub(crate) gate: String,
    /// The names of the locations before it: a state among them may have refused it.
    places: FxHashSet<String>,
}

/// Collects a failure while a trace is judged.
#[derive(Debug, Default)]
pub(crate) struct FailureCollector {
    /// The locations before each label.
    places: Vec<FxHashSet<LocId>>,
    /// The belief before the last label.
    last: Option<Belief>,
    /// The last inputs with the beliefs before them.
    inputs: VecDeque<(GateId, Belief)>,
}

impl FailureCollector {
    /// Notes the states before `label`, which comes next.
    pub(crate) fn note(&mut self, monitor: &Monitor, label: &Label) {
        let belief = monitor.belief();
        let places = match belief {
            Belief::Concrete(states) => states.iter().map(|state| state.loc).collect(),
            Belief::Symbolic(states) => states.iter().map(|state| state.loc).collect(),
            Belief::Unspecified => FxHashSet::default(),
        };
        self.places.push(places);
        self.last = Some(belief.clone());
        if let Label::Input(gate, _) = label {
            self.inputs.push_front((*gate, belief.clone()));
            self.inputs.truncate(MAX_INPUTS);
        }
    }

    /// Returns the failure of `labels`, the last of which is forbidden.
    pub(crate) fn into_failure(self, cx: &Ctx<'_>, labels: &[Label]) -> FailurePoint {
        let mut failure = FailurePoint::default();
        let steps = self.places.len();
        for (at, places) in self.places.iter().enumerate() {
            for switch in cx.sts.switches.iter().filter(|switch| places.contains(&switch.source)) {
                let distance = steps - 1 - at;
                let known = failure.reachable.entry(switch.span).or_insert(distance);
                *known = (*known).min(distance);
            }
        }
        failure.note_observed(cx, labels);
        failure.note_states(cx, self.last.as_ref());
        let given = |(gate, belief): &(GateId, Belief)| InputBeforeFailure {
            gate: cx.sts.gates[*gate].name.to_string(),
            places: place_names(cx, belief),
        };
        failure.inputs = self.inputs.iter().map(given).collect();
        let gates = labels.iter().filter_map(|label| match label {
            Label::Input(gate, _) | Label::Output(gate, _) => Some(*gate),
            Label::Quiescence | Label::Delay(_) => None,
        });
        failure.messages = gates.map(|gate| cx.sts.gates[gate].name.to_string()).collect();
        failure.has_parts = cx.sts.composition.is_some();
        failure
    }
}

impl FailurePoint {
    /// Returns the number of steps between the failure and the last time that the model could take, or refuse, the
    /// transition at `span`; `None` if it never could.
    pub(crate) fn distance(&self, file: FileId, span: Span) -> Option<usize> {
        let is_inside =
            |other: &Span| other.file == file && other.start <= span.end && span.start <= other.end;
        self.reachable.iter().filter(|(other, _)| is_inside(other)).map(|(_, distance)| *distance).min()
    }

    /// Returns whether a message is in the run, as far as that can be known.
    pub(crate) fn may_have_seen(&self, message: &str) -> bool {
        self.has_parts || self.messages.contains(message)
    }

    /// Returns whether both failures are the same message, or silence, at the same locations.
    pub(crate) fn is_same_kind(&self, other: &Self) -> bool {
        self.observed_gate == other.observed_gate && self.places == other.places
    }

    /// Returns whether the model may have been at this location before the failure.
    pub(crate) fn is_at(&self, place: &str) -> bool {
        self.places.contains(place)
    }

    /// Returns the inputs that were given where the model may have been at this location, the latest first.
    pub(crate) fn inputs_at(&self, place: &str) -> impl Iterator<Item = &InputBeforeFailure> {
        self.inputs.iter().filter(move |input| input.places.contains(place))
    }

    /// Returns whether a variable may have had this value before the failure.
    pub(crate) fn has_value(&self, name: &str, value: &str) -> bool {
        self.held.get(name).is_some_and(|values| values.contains(value))
    }

    /// The values of a type that were seen or held, the observed ones first.
    pub(crate) fn values_of(&self, ty: &str) -> impl Iterator<Item = &String> {
        self.seen.get(ty).into_iter().flatten()
    }

    fn note_observed(&mut self, cx: &Ctx<'_>, labels: &[Label]) {
        let mut is_last = true;
        // The forbidden label first, then those before it: what came last is most likely to matter.
        // At most six labels. No reason for the number is recorded.
        for label in labels.iter().rev().take(6) {
            match label {
                Label::Input(gate, values) | Label::Output(gate, values) => {
                    if is_last && matches!(label, Label::Output(..)) {
                        self.observed_gate = Some(cx.sts.gates[*gate].name.to_string());
                        let texts = values.iter().map(|value| cx.pool.show_value(value));
                        self.observed_values = texts.collect();
                    }
                    values.iter().for_each(|value| self.note_value(cx.pool, value));
                }
                Label::Delay(time) => self.note_text("real", format!("{}s", readable(time))),
                Label::Quiescence => (),
            }
            is_last = false;
        }
    }

    fn note_states(&mut self, cx: &Ctx<'_>, belief: Option<&Belief>) {
        self.places.extend(belief.map(|belief| place_names(cx, belief)).unwrap_or_default());
        let Some(Belief::Concrete(states)) = belief else { return };
        for state in states.iter().take(MAX_STATES) {
            for (var, value) in state.values.iter() {
                let name = cx.pool.var_info(var).name.to_string();
                self.held.entry(name).or_default().insert(cx.pool.show_value(value));
                self.note_value(cx.pool, value);
            }
        }
    }

    fn note_value(&mut self, pool: &TermPool, value: &Value) {
        let text = pool.show_value(value);
        match value {
            Value::Int(n) => {
                self.note_text("int", text);
                for by in [1, -1] {
                    let near = n + ioxide_model::number::Int::from(by);
                    self.note_text("int", pool.show_value(&Value::Int(near)));
                }
            }
            Value::Real(time) => self.note_text("real", format!("{}s", readable(time))),
            Value::Bool(_) | Value::Collection(_) => (),
            Value::Str(_) => self.note_text("string", text),
            Value::Data(data) => {
                let ty = pool.data(data.data).name.to_string();
                self.note_text(&ty, text);
            }
        }
    }

    fn note_text(&mut self, ty: &str, text: String) {
        // A negative number in front of an operator needs brackets.
        let text = if text.starts_with('-') { format!("({text})") } else { text };
        let known = self.seen.entry(ty.to_owned()).or_default();
        if known.len() < MAX_SEEN && !known.contains(&text) {
            known.push(text);
        }
    }
}

/// Returns the names of the locations of a belief, and of those of its parts.
fn place_names(cx: &Ctx<'_>, belief: &Belief) -> FxHashSet<String> {
    let name = |loc: LocId| cx.sts.locations[loc].name.to_string();
    let mut names: FxHashSet<String> = match belief {
        Belief::Concrete(states) => states.iter().map(|state| name(state.loc)).collect(),
        Belief::Symbolic(states) => states.iter().map(|state| name(state.loc)).collect(),
        Belief::Unspecified => FxHashSet::default(),
    };
    if let (Some(composition), Belief::Concrete(states)) = (&cx.sts.composition, belief) {
        for state in states.iter().take(MAX_STATES) {
            let text = composition.places_text(|var| state.values.get(var).cloned());
            names.extend(text.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned));
        }
    }
    names
}
