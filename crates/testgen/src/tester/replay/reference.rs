//! References: the values of an input that came from replies of the system, as "the field `id` of the first `created`
//! after the third input", so that another run with other replies can have the same meaning.
//!
//! A value is a reference if an earlier reply held it, or an integer next to it, or a text with it as a part, and the
//! tester is unlikely to have chosen it itself: either it is distinctive (long texts, large numbers) and did not occur
//! in an input before, or the model [compares](ReplyFlow) the two fields. Everything else stays a literal.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_model::value::{DataValue, Value};

use super::flow::{FlowKind, ReplyFlow};

/// The least size of a number that a tester is unlikely to choose itself; chosen by feel.
const DISTINCTIVE_NUMBER: i64 = 1_000;
/// The least number of characters of a text that a tester is unlikely to choose itself; chosen by feel.
const DISTINCTIVE_LENGTH: usize = 5;
/// The greatest distance of an integer from the reply it is taken for a neighbour of. Chosen by feel: the next
/// number, or the one after that; larger distances meet by chance.
const MAX_DISTANCE: i64 = 2;

/// The position of a part of a message: the field, then the position in each record, list, set or map.
pub type ValuePath = Vec<usize>;

/// A reply of a run, named by the input before it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplyId {
    /// The [number](super::PlannedInput::number) of the last input before the reply; `None` if there is none.
    pub after: Option<usize>,
    /// The message.
    pub gate: GateId,
    /// The number of replies with the same message between that input and this reply.
    pub nth: usize,
}

/// The part of a value of a reply that is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReplyPart {
    /// The value itself.
    Whole,
    /// The integer plus this one.
    Plus(Int),
    /// Some words of a text with `of` words.
    Words {
        /// The position of the first one.
        first: usize,
        /// The number of words that are used.
        n: usize,
        /// The number of words of the whole text.
        of: usize,
    },
}

/// A value of an input that is taken from a reply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReplyReference {
    /// The position of the value in the input.
    pub place: ValuePath,
    /// The bytes of a text that are replaced; `None` for the whole value.
    pub span: Option<Range<usize>>,
    /// The reply.
    pub reply: ReplyId,
    /// The position of the value in the reply.
    pub path: ValuePath,
    /// The part of it that is used.
    pub part: ReplyPart,
    /// The position of the reply in the trace that the reference was found in.
    pub step: usize,
}

/// A value that a reply of a trace held.
#[derive(Clone, Debug)]
struct ReplyValue {
    reply: ReplyId,
    path: ValuePath,
    value: Value,
    step: usize,
    /// True if an input before it held the same value: the reply repeats what the tester chose.
    is_echo: bool,
    /// True if it is in a list, set or map, whose other items may be others in another run.
    is_item: bool,
}

/// Finds the references of the inputs of a trace, walking along it.
#[derive(Debug)]
pub(super) struct ReferenceFinder<'f> {
    flow: &'f ReplyFlow,
    replies: Vec<ReplyValue>,
    /// Values and words that the tester chose.
    chosen: BTreeSet<Value>,
    n_inputs: usize,
    counts: BTreeMap<GateId, usize>,
}

impl<'f> ReferenceFinder<'f> {
    /// Makes a finder at the start of a trace, before any reply.
    pub(super) fn new(flow: &'f ReplyFlow) -> Self {
        Self { flow, replies: Vec::new(), chosen: BTreeSet::new(), n_inputs: 0, counts: BTreeMap::new() }
    }

    /// Returns the finder at the end of `trace`.
    pub(super) fn of_trace(flow: &'f ReplyFlow, sts: &Sts, trace: &Trace) -> Self {
        let mut finder = Self::new(flow);
        for (step, label) in trace.labels.iter().enumerate() {
            match label {
                Label::Input(gate, values) if sts.gates[*gate].kind == GateKind::Input => {
                    finder.input(*gate, values);
                }
                Label::Input(gate, values) | Label::Output(gate, values) => finder.reply(*gate, values, step),
                Label::Quiescence | Label::Delay(_) => (),
            }
        }
        finder
    }

    /// Returns references for the integers of input `number` to the latest reply before it that the model compares them
    /// with and that is near.
    pub(super) fn distances(&self, gate: GateId, values: &[Value], number: usize) -> Vec<ReplyReference> {
        let is_before = |source: &&ReplyValue| source.reply.after.is_none_or(|after| after < number);
        let reference = |place: ValuePath, value: Value| {
            let is_linked = |source: &ReplyValue| {
                let from = (source.reply.gate, source.path[0]);
                self.flow.link_between(from, (gate, place[0])).is_some()
            };
            let replies = self.replies.iter().rev().filter(is_before);
            let (source, part) = replies
                .filter(|source| is_linked(source) && matches!(source.value, Value::Int(_)))
                .find_map(|source| Some((source, part_of(&source.value, &value)?)))?;
            let ReplyValue { reply, path, step, .. } = source.clone();
            Some(ReplyReference { place, span: None, reply, path, part, step })
        };
        let integers = leaves_of(values).into_iter().filter(|(_, value)| matches!(value, Value::Int(_)));
        integers.filter_map(|(place, value)| reference(place, value)).collect()
    }

    /// Notes a message of the system, the label at position `step` of the trace.
    pub(super) fn reply(&mut self, gate: GateId, values: &[Value], step: usize) {
        let nth = self.counts.entry(gate).or_default();
        let reply = ReplyId { after: self.n_inputs.checked_sub(1), gate, nth: *nth };
        *nth += 1;
        for (path, value) in leaves_of(values) {
            let is_echo = self.chosen.contains(&value);
            let is_item = is_in_collection(values, &path);
            self.replies.push(ReplyValue { reply: reply.clone(), path, value, step, is_echo, is_item });
        }
    }

    /// Returns the references of the next input.
    pub(super) fn input(&mut self, gate: GateId, values: &[Value]) -> Vec<ReplyReference> {
        let mut references = Vec::new();
        for (place, value) in leaves_of(values) {
            let found = self.references_of(gate, &place, &value);
            if found.is_empty() {
                if let Value::Str(text) = &value {
                    // A reply that repeats one word of the text is an echo as much as one that repeats all of it.
                    self.chosen.extend(word_ranges(text).into_iter().map(|span| Value::str(&text[span])));
                }
                self.chosen.insert(value);
            }
            references.extend(found);
        }
        // Replies are counted from the last input on, so a reply keeps its name when an input before that is removed.
        self.n_inputs += 1;
        self.counts.clear();
        references
    }

    fn references_of(&self, gate: GateId, place: &[usize], value: &Value) -> Vec<ReplyReference> {
        let made = |(source, part): (&ReplyValue, ReplyPart), span: Option<Range<usize>>| {
            let ReplyValue { reply, path, step, .. } = source.clone();
            ReplyReference { place: place.to_vec(), span, reply, path, part, step }
        };
        let field = (gate, place[0]);
        if let Some(found) = self.best_source(field, value) {
            return vec![made(found, None)];
        }
        let Value::Str(text) = value else { return Vec::new() };
        // The text holds what the system said among other things: `Bearer TOKEN`, `/orders/ID`.
        let mut found: Vec<ReplyReference> = Vec::new();
        let spans = word_ranges(text);
        for first in 0..spans.len() {
            // Longer parts first: a token may consist of several words.
            for last in (first..spans.len()).rev() {
                let span = spans[first].start..spans[last].end;
                let is_free =
                    |one: &ReplyReference| one.span.as_ref().is_none_or(|old| old.end <= span.start);
                if !found.iter().all(is_free) {
                    continue;
                }
                let part = Value::str(&text[span.clone()]);
                let number = text[span.clone()].parse().ok().map(Value::Int);
                let source = self
                    .best_source(field, &part)
                    .or_else(|| number.and_then(|number| self.best_source(field, &number)));
                if let Some(source) = source.filter(|(source, _)| is_distinctive(self.flow, &source.value)) {
                    found.push(made(source, Some(span)));
                }
            }
        }
        found
    }

    /// Returns the reply that most likely gave `value` to this field, and the part of it; `None` if none did.
    fn best_source(&self, field: (GateId, usize), value: &Value) -> Option<(&ReplyValue, ReplyPart)> {
        let rank = |source: &ReplyValue| {
            let link = self.flow.link_between((source.reply.gate, source.path[0]), field);
            let part = part_of(&source.value, value)?;
            let is_whole = part == ReplyPart::Whole;
            let is_distinctive = is_distinctive(self.flow, value) && !source.is_echo;
            let is_likely = match (&part, link) {
                // The system chose the value and the model compares the two: even a small number is no accident.
                (_, Some(FlowKind::Stored)) => true,
                // Small integers are near each other by chance.
                (ReplyPart::Plus(_), _) => is_distinctive,
                (_, Some(FlowKind::Determined)) => !source.is_echo,
                (ReplyPart::Whole | ReplyPart::Words { .. }, None) => is_distinctive,
            };
            // A part of a text is no accident only if it is distinctive itself.
            let is_likely = is_likely && (is_distinctive || !matches!(part, ReplyPart::Words { .. }));
            let is_near = matches!(part, ReplyPart::Plus(_));
            // A system that was not reset has more items in the next run, so the first of them is another one.
            is_likely.then_some(((is_whole, link, !is_near, !source.is_item, source.step), part))
        };
        let ranked = self.replies.iter().filter_map(|source| Some((source, rank(source)?)));
        let best = ranked.max_by(|(_, (a, _)), (_, (b, _))| a.cmp(b));
        best.map(|(source, (_, part))| (source, part))
    }
}

/// Returns the part of `source`, a value of a reply, that `value` is; `None` if it is none.
fn part_of(source: &Value, value: &Value) -> Option<ReplyPart> {
    match (source, value) {
        (source, value) if source == value => Some(ReplyPart::Whole),
        (Value::Int(base), Value::Int(n)) => {
            let distance = n - base;
            (distance.abs() <= Int::from(MAX_DISTANCE)).then_some(ReplyPart::Plus(distance))
        }
        (Value::Str(text), Value::Str(part)) => words_at(text, part),
        (Value::Str(text), Value::Int(n)) => words_at(text, &n.to_string()),
        _ => None,
    }
}

/// Returns the words of `text` that `part` is made of.
fn words_at(text: &str, part: &str) -> Option<ReplyPart> {
    if part.is_empty() {
        return None;
    }
    let spans = word_ranges(text);
    let start = text.find(part)?;
    let first = spans.iter().position(|span| span.start == start)?;
    let last = spans.iter().position(|span| span.end == start + part.len())?;
    (first <= last).then(|| ReplyPart::Words { first, n: last + 1 - first, of: spans.len() })
}

/// Returns the words of a text: letters, digits, `-` and `_`, so that a UUID is one word.
fn word_ranges(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices() {
        if !(c.is_alphanumeric() || c == '-' || c == '_') {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == at => last.end = at + c.len_utf8(),
            _ => found.push(at..at + c.len_utf8()),
        }
    }
    found
}

/// Returns whether a tester is unlikely to choose this value by itself.
pub(super) fn is_distinctive(flow: &ReplyFlow, value: &Value) -> bool {
    let is_telling = match value {
        Value::Bool(_) | Value::Data(_) | Value::Collection(_) => false,
        Value::Int(n) => n.abs() >= Int::from(DISTINCTIVE_NUMBER),
        Value::Real(r) => !r.is_integer() || r.numer().abs() >= Int::from(DISTINCTIVE_NUMBER),
        Value::Str(text) => text.chars().count() >= DISTINCTIVE_LENGTH,
    };
    is_telling && !flow.is_constant(value)
}

/// Returns the values that have no parts, with their positions.
#[must_use]
pub fn leaves_of(values: &[Value]) -> Vec<(ValuePath, Value)> {
    fn collect_parts(value: &Value, path: &mut ValuePath, found: &mut Vec<(ValuePath, Value)>) {
        let parts: Vec<&Value> = match value {
            Value::Data(data) => data.args.iter().collect(),
            Value::Collection(items) => items.parts().collect(),
            Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::Str(_) => Vec::new(),
        };
        if parts.is_empty() {
            found.push((path.clone(), value.clone()));
        }
        for (at, part) in parts.into_iter().enumerate() {
            path.push(at);
            collect_parts(part, path, found);
            path.pop();
        }
    }
    let mut found = Vec::new();
    for (at, value) in values.iter().enumerate() {
        collect_parts(value, &mut vec![at], &mut found);
    }
    found
}

/// Returns whether the part of a message at this position is in a collection.
fn is_in_collection(values: &[Value], path: &[usize]) -> bool {
    let outside = |length: usize| values.get(path[0]).and_then(|value| leaf_at(value, &path[1..length]));
    (1..path.len()).any(|length| matches!(outside(length), Some(Value::Collection(_))))
}

/// Points `reference`, whose reply is lost, to another reply that is not; returns whether there is one.
pub(super) fn repoint(
    finder: &ReferenceFinder<'_>,
    reference: &mut ReplyReference,
    label: &Label,
    is_lost: &dyn Fn(&ReplyId) -> bool,
    renamed: &mut BTreeMap<(ReplyId, ValuePath), (ReplyId, usize)>,
) -> bool {
    let old = (reference.reply.clone(), reference.path.clone());
    // All uses of one reply become uses of one other.
    if let Some((reply, step)) = renamed.get(&old) {
        (reference.reply, reference.step) = (reply.clone(), *step);
        return true;
    }
    let left = || finder.replies.iter().rev().filter(|source| !is_lost(&source.reply));
    let Label::Input(gate, values) = label else { return false };
    let used = values.get(reference.place[0]).and_then(|value| leaf_at(value, &reference.place[1..]));
    // A distance from a reply is kept, whatever other reply has the same value: the revision before the current one.
    let may_be_equal = reference.span.is_none() && !matches!(reference.part, ReplyPart::Plus(_));
    let equal = left().find(|source| may_be_equal && Some(&source.value) == used);
    if let Some(source) = equal {
        let ReplyValue { reply, path, step, .. } = source.clone();
        *reference = ReplyReference { reply, path, step, part: ReplyPart::Whole, ..reference.clone() };
        return true;
    }
    let is_alike = |source: &&ReplyValue| (source.reply.gate, &source.path) == (old.0.gate, &old.1);
    if let Some(source) = left().find(is_alike) {
        (reference.reply, reference.step) = (source.reply.clone(), source.step);
        renamed.insert(old, (source.reply.clone(), source.step));
        return true;
    }
    // A revision that was stored and one that was read are the same to the field that they are compared with.
    let is_linked = |source: &&ReplyValue| {
        let from = (source.reply.gate, source.path[0]);
        finder.flow.link_between(from, (*gate, reference.place[0])).is_some()
    };
    let Some(source) = left().find(is_linked) else { return false };
    let ReplyValue { reply, path, step, .. } = source.clone();
    (reference.reply, reference.path, reference.step) = (reply, path, step);
    true
}

/// The positions in a trace at which the inputs of a plan were given, by their numbers.
pub type GivenInputs = BTreeMap<usize, usize>;

/// The rule for which reply a reference means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyOrder {
    /// The reply after the input that it followed in the recorded run.
    AsRecorded,
    /// The reply after that input, else the last such reply before it: what happened at once has no order.
    Any,
}

/// Returns `label` with the values that its references have after `history`; `None` if a reply is missing, or its value
/// does not fit.
pub fn bind_references(
    pool: &TermPool,
    sts: &Sts,
    label: &Label,
    references: &[ReplyReference],
    given: &GivenInputs,
    history: &Trace,
    order: ReplyOrder,
) -> Option<Label> {
    let Label::Input(gate, values) = label else { return Some(label.clone()) };
    let mut values = values.clone();
    // From the last to the first, so that the bytes of earlier parts of a text stay where they are.
    for reference in references.iter().rev() {
        let source = value_in_reply(reference, given, history, order)?;
        let (at, rest) = reference.place.split_first()?;
        let old = values.get(*at)?;
        let new = with_leaf(old, rest, &|old| reference.value(old, &source))?;
        let sort = pool.var_info(*sts.gates[*gate].fields.get(*at)?).sort;
        if reference.span.is_none() && !pool.has_sort(&new, sort) {
            return None;
        }
        values[*at] = new;
    }
    Some(Label::Input(*gate, values))
}

/// Returns the value of a reply that a reference means.
fn value_in_reply(
    reference: &ReplyReference,
    given: &GivenInputs,
    history: &Trace,
    order: ReplyOrder,
) -> Option<Value> {
    let from = match reference.reply.after {
        Some(number) => *given.get(&number)?,
        None => 0,
    };
    let gate = reference.reply.gate;
    let mut after = history.labels.get(from..)?.iter().filter_map(|label| values_at(label, gate));
    let mut before = history.labels[..from].iter().rev().filter_map(|label| values_at(label, gate));
    let found = match order {
        ReplyOrder::AsRecorded => after.nth(reference.reply.nth),
        ReplyOrder::Any => after.nth(reference.reply.nth).or_else(|| before.next()),
    };
    let (at, rest) = reference.path.split_first()?;
    leaf_at(found?.get(*at)?, rest).cloned()
}

/// Returns the values of a message, if it is at `gate`.
fn values_at(label: &Label, gate: GateId) -> Option<&[Value]> {
    match label {
        Label::Output(of, values) | Label::Input(of, values) if *of == gate => Some(values),
        _ => None,
    }
}

/// Returns the part of a value at this position; `None` if there is none.
#[must_use]
pub fn leaf_at<'v>(value: &'v Value, path: &[usize]) -> Option<&'v Value> {
    let Some((at, rest)) = path.split_first() else { return Some(value) };
    let part = match value {
        Value::Data(data) => data.args.get(*at),
        Value::Collection(items) => items.parts().nth(*at),
        Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::Str(_) => None,
    };
    leaf_at(part?, rest)
}

/// Returns `value` with the value at `path` replaced; `None` if there is none, or `new` gives none.
pub fn with_leaf(value: &Value, path: &[usize], new: &dyn Fn(&Value) -> Option<Value>) -> Option<Value> {
    let Some((at, rest)) = path.split_first() else { return new(value) };
    match value {
        Value::Data(data) => {
            let mut args = data.args.to_vec();
            args[*at] = with_leaf(args.get(*at)?, rest, new)?;
            Some(Value::Data(DataValue { args: args.into(), ..data.clone() }))
        }
        Value::Collection(items) => {
            let mut parts: Vec<Value> = items.parts().cloned().collect();
            parts[*at] = with_leaf(parts.get(*at)?, rest, new)?;
            Some(Value::Collection(match &items.items {
                Items::List(_) => CollectionValue::list(items.sort, parts),
                // The items are sorted again, so that a second reference into the same set may miss its place: what it
                // makes then is another set of the same sort, and the replay fails or not like any other.
                Items::Set(_) => CollectionValue::set(items.sort, parts),
                Items::Map(_) => {
                    let pairs = parts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
                    CollectionValue::map(items.sort, pairs)
                }
            }))
        }
        Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::Str(_) => None,
    }
}

impl ReplyReference {
    /// Returns the value that takes the place of `old` if the reply has `source`.
    fn value(&self, old: &Value, source: &Value) -> Option<Value> {
        let new = match (&self.part, source) {
            (ReplyPart::Whole, source) => source.clone(),
            (ReplyPart::Plus(by), Value::Int(n)) => Value::Int(n + by),
            (ReplyPart::Words { first, n, of }, Value::Str(text)) => {
                let spans = word_ranges(text);
                let span = spans.get(*first)?.start..spans.get(first + n - 1)?.end;
                // Another number of words is another kind of text.
                (spans.len() == *of).then(|| Value::str(&text[span]))?
            }
            _ => return None,
        };
        match (&self.span, old, &new) {
            (Some(span), Value::Str(text), _) => {
                let new = match &new {
                    Value::Str(new) => new.to_string(),
                    Value::Int(n) => n.to_string(),
                    _ => return None,
                };
                Some(Value::str(&format!("{}{new}{}", text.get(..span.start)?, text.get(span.end..)?)))
            }
            (Some(_), _, _) => None,
            (None, Value::Int(_), Value::Str(text)) => text.parse().ok().map(Value::Int),
            (None, old, new) => (old.base_sort() == new.base_sort()).then(|| new.clone()),
        }
    }

    /// Returns the name of the field of the input, whose gate is `gate`, that the value stands in.
    #[must_use]
    pub fn field_name<'p>(&self, pool: &'p TermPool, sts: &Sts, gate: GateId) -> &'p str {
        sts.gates[gate].fields.get(self.place[0]).map_or("", |var| &*pool.var_info(*var).name)
    }

    /// Returns the reference as text: `id of !created at step 2`.
    #[must_use]
    pub fn show(&self, pool: &TermPool, sts: &Sts) -> String {
        let gate = &sts.gates[self.reply.gate];
        let field = gate.fields.get(self.path[0]).map_or("", |var| &*pool.var_info(*var).name);
        let inside: String = self.path[1..].iter().map(|at| format!("[{at}]")).collect();
        let part = match &self.part {
            ReplyPart::Whole => String::new(),
            ReplyPart::Plus(by) if by.is_negative() => format!(" - {}", by.abs()),
            ReplyPart::Plus(by) => format!(" + {by}"),
            ReplyPart::Words { first, n: 1, .. } => format!(", word {}", first + 1),
            ReplyPart::Words { first, n, .. } => format!(", words {} to {}", first + 1, first + n),
        };
        format!("{field}{inside}{part} of !{} at step {}", gate.name, self.step + 1)
    }
}

/// Returns whether two runs are the same but for values that the system chose: the same messages in the same order, and
/// wherever the values of replies differ, one name consistently for another.
///
/// Values of inputs are not compared: a replay made them from what the system said. Neither are the times between
/// messages: a clock never repeats them.
#[must_use]
pub fn is_same_by_meaning(flow: &ReplyFlow, sts: &Sts, a: &Trace, b: &Trace) -> bool {
    let failed_at = |trace: &Trace| trace.forbidden_at.map(|at| n_without_delays(&trace.labels, at));
    let n_seen = |trace: &Trace| n_without_delays(&trace.labels, trace.len());
    if (n_seen(a), a.breakdown, failed_at(a)) != (n_seen(b), b.breakdown, failed_at(b)) {
        return false;
    }
    let mut names = ReplayNames::default();
    without_delays(&a.labels).zip(without_delays(&b.labels)).all(|(a, b)| match (a, b) {
        (Label::Input(gate, _), Label::Input(other, _)) if sts.gates[*gate].kind == GateKind::Input => {
            gate == other
        }
        (Label::Input(gate, values), Label::Input(other, others))
        | (Label::Output(gate, values), Label::Output(other, others)) => {
            let (ours, theirs) = (leaves_of(values), leaves_of(others));
            gate == other
                && ours.len() == theirs.len()
                && ours.into_iter().zip(theirs).all(|((path, a), (other_path, b))| {
                    let is_chosen = flow.is_chosen_by_system((*gate, path[0]));
                    let is_distinctive = is_distinctive(flow, &a) && is_distinctive(flow, &b);
                    path == other_path && names.is_same(a, b, is_chosen, is_distinctive)
                })
        }
        (a, b) => a == b,
    })
}

/// Returns the labels but for the time that passes between them.
pub fn without_delays(labels: &[Label]) -> impl Iterator<Item = &Label> {
    labels.iter().filter(|label| !matches!(label, Label::Delay(_)))
}

/// Returns the number of the first `n` labels that are no delays.
fn n_without_delays(labels: &[Label], n: usize) -> usize {
    without_delays(&labels[..n.min(labels.len())]).count()
}

/// The values of one run that stand for those of another.
#[derive(Debug, Default)]
struct ReplayNames {
    forth: BTreeMap<Value, Value>,
    back: BTreeMap<Value, Value>,
    /// Small numbers that the system chose; different fields may use the same ones for different things.
    small: BTreeSet<(Value, Value)>,
}

impl ReplayNames {
    fn is_same(&mut self, a: Value, b: Value, is_chosen: bool, is_distinctive: bool) -> bool {
        match (is_distinctive, is_chosen) {
            (true, _) => {
                *self.forth.entry(a.clone()).or_insert_with(|| b.clone()) == b
                    && *self.back.entry(b).or_insert_with(|| a.clone()) == a
            }
            (false, true) => {
                self.small.insert((a, b));
                true
            }
            (false, false) => a == b || self.small.contains(&(a, b)),
        }
    }
}
