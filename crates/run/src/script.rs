//! A run as a script: its messages as they are on the wire, with variables for the values that the system chose.
//!
//! [References](ioxide_testgen::tester::replay) say which values of inputs, and of the messages that were expected,
//! came from replies. Here each of them becomes a variable: the notation of the connection ([`WireNotation`]) says
//! where the value stands in the reply, and a marker (`message`) shows where it stands in the message.
//!
//! *Promises.* A script whose variables have the values of the recorded run sends the bytes of that run: a value for
//! which that cannot be shown stays literal, and a note says so. A [`ScriptObstacle`] says why a run cannot be
//! written down at all.

mod message;
mod route;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use ioxide_model::label::{Label, readable};
use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_symex::{Ctx, Forbidden, SwitchOffer};
use ioxide_testgen::tester::replay::{
    ReplyFlow, ReplyPart, ReplyReference, ValuePath, leaf_at, leaves_of, references_in,
    references_in_expected, with_leaf,
};
use ioxide_wire::adapter::WireNotation;
use ioxide_wire::adapter::notation::escape_pointer;
use serde_json::Value as Json;
use thiserror::Error;

use crate::explain::{fixed_label, offer_text};
use crate::run::{RunConfig, RunSetup};
use ioxide_record::event::{
    KeptValue, ReplyForm, ScriptEndpoint, ScriptMessage, ScriptPart, ScriptRecord, ScriptReply, ScriptStep,
    ScriptValuePlace, UsedPart, UsedValue, ValueSpelling,
};

/// The shortest time without a message that a script takes for silence; a process that is started needs some.
const MIN_SILENCE: Duration = Duration::from_millis(500);

/// The reason why a run is no script.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScriptObstacle {
    /// The system is not reached by messages that another program could send.
    #[error("the system is not reached by messages")]
    NoMessages,
    /// The reset of the system cannot be written down.
    #[error("its reset awaits a greeting or is not a message")]
    Reset,
    /// An input cannot be written down.
    #[error("{0} cannot be written as a message")]
    Input(String),
    /// An output cannot be recognised by its text.
    #[error("no pattern that other languages support distinguishes {0} from other replies")]
    Output(String),
    /// An output comes by a stream that is not a WebSocket, or by one of several.
    #[error("{0} is an event of a stream that is not a WebSocket, or of one of several WebSockets")]
    Event(String),
    /// An answer comes that no request asked for.
    #[error("{0} answers no request of the run")]
    Answer(String),
}

/// Returns `trace`, a failing run, as a script; `forbidden` is the failure at its end.
///
/// # Errors
/// If the run cannot be written down.
pub fn script_of(
    setup: &RunSetup<'_, '_>,
    run: &RunConfig,
    trace: &Trace,
    forbidden: Option<&Forbidden>,
) -> Result<ScriptRecord, ScriptObstacle> {
    let notation = setup.adapter.notation().ok_or(ScriptObstacle::NoMessages)?;
    let cx = &*setup.cx;
    let mut maker = ScriptMaker {
        notation: &*notation,
        pool: cx.pool,
        sts: cx.sts,
        flow: ReplyFlow::new(cx.pool, cx.sts),
        trace,
        variables: BTreeMap::new(),
        notes: Vec::new(),
    };
    // The failing label belongs to the script; what the run saw behind it does not.
    let end = trace.forbidden_at.map_or(trace.len(), |at| (at + 1).min(trace.len()));
    let (mut steps, resets) = maker.reset_steps().ok_or(ScriptObstacle::Reset)?;
    let inputs = references_in(&maker.flow, cx.sts, trace);
    let inputs: BTreeMap<usize, Vec<ReplyReference>> =
        inputs.into_iter().map(|(step, input)| (step, input.references)).collect();
    for step in 0..end {
        let references = inputs.get(&step).map_or(&[][..], |references| references);
        steps.push(maker.step(step, references)?);
    }
    if let Some(breakdown) = trace.breakdown.filter(|_| end == trace.len()) {
        steps.push(ScriptStep::Breakdown(breakdown.to_string()));
    }
    let offers = forbidden.map_or(&[][..], |forbidden| &forbidden.allowed);
    // A breakdown has no label: the whole trace is before it.
    let before = if trace.breakdown.is_some() { end } else { end.saturating_sub(1) };
    let before: Trace = trace.labels[..before].iter().cloned().collect();
    let allowed =
        offers.iter().filter_map(|offer| maker.allowed_reply(cx, offer, &before)).collect::<Vec<_>>();
    // In this order: the allowed messages and the failing reply may need further variables, and only when all
    // are known the earlier replies get to keep their values.
    maker.value_last_reply(&mut steps, &before);
    // The steps of the reset come before those of the trace.
    let first = steps.len() - end - usize::from(trace.breakdown.is_some() && end == trace.len());
    maker.keep_values(&mut steps[first..]);
    let endpoint = notation.endpoint();
    let mut connections = notation.connections();
    let mut routes = maker.find_routes(&steps, &resets)?;
    let is_plain = connections.len() == 1 && connections.iter().all(|connection| connection.tls.is_none());
    let is_http = matches!(endpoint, ScriptEndpoint::Http { .. });
    // One connection with one message at a time needs no routes.
    if is_plain && (!is_http || alternates(&steps) && !has_websocket(&steps)) {
        (connections, routes) = (Vec::new(), Vec::new());
    }
    let silence = run.patience.default_time().max(MIN_SILENCE);
    Ok(ScriptRecord {
        endpoint,
        start: setup.adapter.start_command(),
        silence_ms: u64::try_from(silence.as_millis()).unwrap_or(u64::MAX),
        steps,
        allowed,
        silence_allowed: forbidden.is_some_and(|forbidden| forbidden.silence_allowed),
        notes: maker.notes,
        connections,
        routes,
    })
}

/// Returns whether a WebSocket is opened.
fn has_websocket(steps: &[ScriptStep]) -> bool {
    let opens =
        |step: &ScriptStep| matches!(step, ScriptStep::Send { message: ScriptMessage::Open { .. }, .. });
    steps.iter().any(opens)
}

/// Returns whether every request is followed by its answer, or by none: no requests are pending side by side. Silence
/// while nothing is asked says nothing, unless it is the failure.
fn alternates(steps: &[ScriptStep]) -> bool {
    let mut is_pending = false;
    steps.iter().enumerate().all(|(at, step)| match step {
        ScriptStep::Send { .. } => !std::mem::replace(&mut is_pending, true),
        ScriptStep::Receive { .. } | ScriptStep::Breakdown(_) => std::mem::replace(&mut is_pending, false),
        ScriptStep::Silence => std::mem::replace(&mut is_pending, false) || at + 1 < steps.len(),
        ScriptStep::Wait(_) => !is_pending,
    })
}

/// A variable: its name, and the place of its value in the reply.
#[derive(Clone)]
struct ScriptVariable {
    name: String,
    place: ScriptValuePlace,
}

/// Makes a script of a trace.
struct ScriptMaker<'a> {
    notation: &'a dyn WireNotation,
    pool: &'a TermPool,
    sts: &'a Sts,
    flow: ReplyFlow,
    trace: &'a Trace,
    /// The variables, by the step of the reply and the position of the value in it; `None` if it has no place.
    variables: BTreeMap<(usize, ValuePath), Option<ScriptVariable>>,
    notes: Vec<String>,
}

impl ScriptMaker<'_> {
    /// Returns the steps of the reset, and the connections of its messages.
    fn reset_steps(&self) -> Option<(Vec<ScriptStep>, Vec<usize>)> {
        let (mut steps, mut connections) = (Vec::new(), Vec::new());
        for (connection, message) in self.notation.resets()? {
            connections.push(connection);
            steps.push(ScriptStep::Send { shown: "reset".into(), message });
            let reply = ScriptReply {
                shown: "the answer to the reset".into(),
                form: ReplyForm::default(),
                values: Vec::new(),
                is_exact: false,
            };
            steps.push(ScriptStep::Receive { reply, keep: self.notation.captures(None) });
        }
        Some((steps, connections))
    }

    /// Returns step `step` of the script.
    fn step(&mut self, step: usize, references: &[ReplyReference]) -> Result<ScriptStep, ScriptObstacle> {
        let label = &self.trace.labels[step];
        let shown = label.show(self.pool, self.sts);
        Ok(match label {
            Label::Input(gate, _) if self.sts.gates[*gate].kind == GateKind::Input => {
                let message = self.bound_message(label, references, step);
                let message = message.ok_or_else(|| ScriptObstacle::Input(shown.clone()))?;
                ScriptStep::Send { shown, message }
            }
            Label::Input(..) => return Err(ScriptObstacle::Input(shown)),
            Label::Output(gate, _) => {
                let form = self.notation.reply_form(*gate);
                let reply = ScriptReply {
                    form: form.ok_or_else(|| ScriptObstacle::Output(shown.clone()))?,
                    shown,
                    values: Vec::new(),
                    is_exact: false,
                };
                ScriptStep::Receive { reply, keep: self.notation.captures(Some(*gate)) }
            }
            Label::Quiescence => ScriptStep::Silence,
            Label::Delay(time) => ScriptStep::Wait(readable(time).to_string()),
        })
    }

    /// Gives the reply that is the failure its values: it must not come again.
    fn value_last_reply(&mut self, steps: &mut [ScriptStep], prefix: &Trace) {
        let Some(ScriptStep::Receive { reply, .. }) = steps.last_mut() else { return };
        if let Some(Label::Output(gate, values)) = self.trace.labels.get(prefix.len()) {
            let ScriptReply { shown, form, .. } = reply.clone();
            *reply = self.valued_reply(shown, form, *gate, values, prefix);
        }
    }

    /// Adds to every reply the variables that take their values from it; the first step is that of the trace.
    fn keep_values(&self, steps: &mut [ScriptStep]) {
        for ((step, _), variable) in &self.variables {
            if let (Some(ScriptStep::Receive { keep, .. }), Some(variable)) = (steps.get_mut(*step), variable)
            {
                let ScriptVariable { name, place } = variable.clone();
                keep.push(KeptValue { variable: name, place, is_optional: false });
            }
        }
    }

    /// Returns the variable with the value that a reference means; `None` if the value has no place in its reply.
    fn variable(&mut self, reference: &ReplyReference) -> Option<ScriptVariable> {
        let key = (reference.step, reference.path.clone());
        if let Some(known) = self.variables.get(&key) {
            return known.clone();
        }
        let made = self.new_variable(reference);
        // Also if it has no place, so that it is not looked for again.
        self.variables.insert(key, made.clone());
        made
    }

    fn new_variable(&self, reference: &ReplyReference) -> Option<ScriptVariable> {
        let Label::Output(gate, values) = self.trace.labels.get(reference.step)? else { return None };
        let place = self.place_of(*gate, values, &reference.path)?;
        let field = self.sts.gates[*gate].fields.get(reference.path[0])?;
        let field = &self.pool.var_info(*field).name;
        // A name that is one in all the languages that scripts are written in.
        let word: String = field.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let inside: String = reference.path[1..].iter().map(|at| format!("_{at}")).collect();
        let lead = if word.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "v" };
        Some(ScriptVariable { name: format!("{lead}{word}_{}{inside}", reference.step + 1), place })
    }

    /// Returns the place of a part of an output whose values are `values`.
    fn place_of(&self, gate: GateId, values: &[Value], path: &[usize]) -> Option<ScriptValuePlace> {
        let (field, inside) = path.split_first()?;
        let place = self.notation.place(gate, *field)?;
        let (ScriptValuePlace::Json(pointer), [_, ..]) = (&place, inside) else {
            return inside.is_empty().then_some(place);
        };
        // The notation knows how a value becomes JSON, and not where its parts land. So a value that no template is
        // likely to contain is written and looked for.
        let marker = |old: &Value| match old {
            Value::Str(_) => Some(Value::str("zqPlaceqz")),
            Value::Int(_) => Some(Value::Int(7_700_777_007.into())),
            _ => None,
        };
        let marked = with_leaf(values.get(*field)?, inside, &marker)?;
        let found = pointer_to(&self.notation.json(&marked), &|json| match json {
            Json::String(text) => text == "zqPlaceqz",
            Json::Number(n) => n.to_string() == "7700777007",
            _ => false,
        })?;
        Some(ScriptValuePlace::Json(format!("{pointer}{found}")))
    }

    /// Returns a message that was allowed in the place of the last one, after `before`; `None` if it cannot be written
    /// down.
    fn allowed_reply(&mut self, cx: &Ctx<'_>, offer: &SwitchOffer, prefix: &Trace) -> Option<ScriptReply> {
        let form = self.notation.reply_form(offer.gate)?;
        let shown = offer_text(cx, offer);
        Some(match fixed_label(cx, offer) {
            Some(Label::Output(gate, values)) => self.valued_reply(shown, form, gate, &values, prefix),
            _ => ScriptReply { shown, form, values: Vec::new(), is_exact: false },
        })
    }

    /// Returns a message with its values; those that came from replies of `before` are variables.
    fn valued_reply(
        &mut self,
        shown: String,
        form: ReplyForm,
        gate: GateId,
        values: &[Value],
        prefix: &Trace,
    ) -> ScriptReply {
        let references = references_in_expected(&self.flow, self.sts, prefix, gate, values);
        let leaves = leaves_of(values);
        let mut known = Vec::new();
        for (path, value) in &leaves {
            let Some(place) = self.place_of(gate, values, path) else { continue };
            let reference = references.iter().find(|reference| reference.place == *path);
            let used = match reference {
                None => None,
                // A text that holds a value of a reply among other words has no literal to compare with.
                Some(reference) if reference.span.is_some() => continue,
                Some(reference) => match (self.variable(reference), used_part(&reference.part)) {
                    (Some(variable), Some(part)) => Some((variable.name, part)),
                    _ => continue,
                },
            };
            let part = match (used, self.text_of(value)) {
                (Some((variable, part)), _) => {
                    ScriptPart::Value(UsedValue { variable, part, spelling: ValueSpelling::Plain })
                }
                (None, Some(text)) => ScriptPart::Literal(text),
                (None, None) => continue,
            };
            known.push((place, vec![part]));
        }
        // Only a reply of which every value is written can be compared as a whole.
        let is_exact = known.len() == leaves.len();
        ScriptReply { shown, form, values: known, is_exact }
    }

    /// Returns a value as the text that a script finds in its place; `None` if it has parts or decimals.
    fn text_of(&self, value: &Value) -> Option<String> {
        match value {
            Value::Str(text) => Some(text.to_string()),
            Value::Int(n) => Some(n.to_string()),
            Value::Bool(b) => Some(b.to_string()),
            Value::Data(_) => self.notation.json(value).as_str().map(str::to_owned),
            Value::Real(_) | Value::Collection(_) => None,
        }
    }

    /// Notes that a value that the system chose stays literal.
    fn note_literal(&mut self, reference: &ReplyReference, gate: GateId, step: usize) {
        let field = reference.field_name(self.pool, self.sts, gate);
        let source = reference.show(self.pool, self.sts);
        self.notes.push(format!(
            "step {}: `{field}` is a value of the recorded run: it is not taken from {source}",
            step + 1
        ));
    }
}

fn used_part(part: &ReplyPart) -> Option<UsedPart> {
    Some(match part {
        ReplyPart::Whole => UsedPart::Whole,
        ReplyPart::Plus(by) => UsedPart::Plus(by.to_string().parse().ok()?),
        ReplyPart::Words { first, n, .. } => UsedPart::Words(*first, *n),
    })
}

/// Returns the pointer to the first value for which `is_it` holds.
fn pointer_to(json: &Json, is_it: &dyn Fn(&Json) -> bool) -> Option<String> {
    if is_it(json) {
        return Some(String::new());
    }
    match json {
        Json::Array(items) => {
            items.iter().enumerate().find_map(|(at, item)| Some(format!("/{at}{}", pointer_to(item, is_it)?)))
        }
        Json::Object(members) => members.iter().find_map(|(name, member)| {
            Some(format!("/{}{}", escape_pointer(name), pointer_to(member, is_it)?))
        }),
        _ => None,
    }
}

/// Returns the text of the value of an input that a reference replaces: all of it, or some bytes of it.
fn replaced_text(values: &[Value], reference: &ReplyReference) -> Option<String> {
    let (field, inside) = reference.place.split_first()?;
    match (leaf_at(values.get(*field)?, inside)?, &reference.span) {
        (Value::Str(text), Some(span)) => text.get(span.clone()).map(str::to_owned),
        (Value::Str(text), None) => Some(text.to_string()),
        (Value::Int(n), None) => Some(n.to_string()),
        _ => None,
    }
}
