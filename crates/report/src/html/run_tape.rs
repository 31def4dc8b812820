//! The steps of one run in columns, with each different label and set of switches stored once.
//!
//! A run of a hundred thousand steps has few different labels and fewer sets of switches. Each is kept in a
//! table, and a step is four small numbers: its label, the time since the step before, the size of the
//! belief, its set of switches.
//!
//! *Promises.* A tape has at most [`MAX_TAPE_STEPS`] steps, the last ones, and texts of about [`MAX_BYTES`]; steps cut
//! off are counted.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ioxide_record::event::{LabelRecord, StepRecord};
use ioxide_record::line::cut;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::step_kind::ShownStepKind;

/// The number of steps kept of one run. Chosen by feel, as are the limits below: a page must stay small enough for a
/// browser to open.
pub const MAX_TAPE_STEPS: usize = 300_000;
/// The number of bytes of texts that are kept of one run; beyond it its first steps are dropped. Chosen by feel: it
/// bounds the size of the page.
pub const MAX_BYTES: usize = 8 << 20;
/// The number of characters kept of one label. Chosen by feel: it bounds the memory.
const MAX_TEXT: usize = 100_000;
/// The number of characters kept of the name of a message. Chosen by feel: it bounds the memory.
const MAX_NAME: usize = 200;

/// The steps of one run.
#[derive(Clone, Debug, Default)]
pub struct RunTape {
    labels: Vec<TapeEntry>,
    /// The positions of labels by their hash.
    by_text: BTreeMap<u64, u32>,
    sets: Vec<Vec<String>>,
    by_set: BTreeMap<Vec<String>, u32>,
    steps: Vec<TapeStep>,
    before: usize,
    bytes: usize,
    began_ns: u64,
    /// The sum of all delays so far, in nanoseconds of model time.
    passed_ns: u64,
}

#[derive(Clone, Debug)]
struct TapeEntry {
    kind: u8,
    gate: String,
    text: String,
    /// The fields as JSON; empty if there are none, or the text is too long.
    args: String,
    /// The number of characters of the full text; `None` if it was not cut.
    of: Option<usize>,
    /// The bytes on the wire, as text; `None` if the adapter does not provide them.
    raw: Option<String>,
    /// The part of a composed system that the label belongs to.
    part: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct TapeStep {
    label: u32,
    set: u32,
    belief: i64,
    time_ns: u64,
    passed_ns: u64,
}

impl RunTape {
    /// Returns an empty tape of a run that begins at `began_ns`.
    #[must_use]
    pub fn new(began_ns: u64) -> Self {
        Self { began_ns, ..Self::default() }
    }

    /// Returns a tape of a trace without times, beliefs or switches, such as one that was made smaller.
    #[must_use]
    pub fn from_labels(labels: &[LabelRecord]) -> Self {
        let mut tape = Self::default();
        for label in labels {
            tape.push_step(label, &[], None, 0);
        }
        tape
    }

    /// Adds a step.
    pub fn add_step(&mut self, step: &StepRecord, time_ns: u64) {
        self.push_step(&step.label, &step.switches, step.belief, time_ns.saturating_sub(self.began_ns));
    }

    /// Returns the number of steps, those dropped included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.before + self.steps.len()
    }

    /// Returns whether the run has had no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the approximate size on the page, in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.bytes + 16 * self.steps.len()
    }

    fn push_step(&mut self, label: &LabelRecord, switches: &[String], belief: Option<usize>, time_ns: u64) {
        if self.steps.len() == MAX_TAPE_STEPS || self.bytes > MAX_BYTES {
            self.drop_first_quarter();
        }
        self.passed_ns = self.passed_ns.saturating_add(label.delay_ns.unwrap_or(0));
        let belief = belief.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
        let (label, set) = (self.label_index(label), self.set_index(switches));
        self.steps.push(TapeStep { label, set, belief, time_ns, passed_ns: self.passed_ns });
    }

    /// Drops the first quarter of the steps, and the labels and sets that no other step refers to.
    fn drop_first_quarter(&mut self) {
        let gone = self.steps.len().div_ceil(4);
        self.steps.drain(..gone);
        self.before += gone;
        let (labels, sets) = (std::mem::take(&mut self.labels), std::mem::take(&mut self.sets));
        (self.by_text, self.by_set, self.bytes) = (BTreeMap::new(), BTreeMap::new(), 0);
        let mut labels: Vec<(Option<TapeEntry>, u32)> = labels.into_iter().map(|it| (Some(it), 0)).collect();
        for at in 0..self.steps.len() {
            let TapeStep { label, set, .. } = self.steps[at];
            let (entry, place) = &mut labels[label as usize];
            if let Some(entry) = entry.take() {
                *place = self.keep_entry(entry);
            }
            self.steps[at].label = *place;
            self.steps[at].set = self.set_index(&sets[set as usize]);
        }
    }

    /// Adds an entry to the table and returns its position.
    fn keep_entry(&mut self, entry: TapeEntry) -> u32 {
        let at = u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
        self.bytes += entry.weight();
        // Where two have the same number, the first is found.
        self.by_text.entry(entry.hash_shown()).or_insert(at);
        self.labels.push(entry);
        at
    }

    /// Returns the position of a label in the table, and adds it if it is new.
    fn label_index(&mut self, label: &LabelRecord) -> u32 {
        let chars = label.text.chars().count();
        let text = cut(&label.text, MAX_TEXT);
        let raw = label.raw.as_ref().map(|raw| cut(raw, MAX_TEXT));
        let of = (chars > MAX_TEXT).then_some(chars);
        let gate = cut(&label.label, MAX_NAME);
        let part = label.part.as_ref().map(|part| cut(part, MAX_NAME));
        let entry = TapeEntry {
            kind: ShownStepKind::from_label_kind(label.kind).code(),
            gate,
            text,
            args: String::new(),
            of,
            raw,
            part,
        };
        if let Some(&at) = self.by_text.get(&entry.hash_shown())
            && self.labels.get(at as usize).is_some_and(|old| old.is_shown_alike(&entry))
        {
            return at;
        }
        let args =
            if label.args.is_empty() { String::new() } else { Json::Object(label.args.clone()).to_string() };
        self.keep_entry(TapeEntry {
            args: if args.len() <= MAX_TEXT { args } else { String::new() },
            ..entry
        })
    }

    /// Returns the position of a set of switches in the table, and adds it if it is new.
    fn set_index(&mut self, switches: &[String]) -> u32 {
        if let Some(&at) = self.by_set.get(switches) {
            return at;
        }
        let at = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        self.bytes += set_weight(switches);
        self.sets.push(switches.to_vec());
        self.by_set.insert(switches.to_vec(), at);
        at
    }

    /// Returns the times between steps, in nanoseconds: model time if the run has delays, else wall-clock time; `None`
    /// if no time passed.
    fn step_times(&self) -> Option<Vec<u64>> {
        let time = |step: &TapeStep| if self.passed_ns > 0 { step.passed_ns } else { step.time_ns };
        let mut last = 0;
        let mut deltas = Vec::with_capacity(self.steps.len());
        for now in self.steps.iter().map(time) {
            deltas.push(now.saturating_sub(last));
            last = now;
        }
        deltas.iter().any(|&delta| delta > 0).then_some(deltas)
    }
}

/// Returns the approximate size of a set of switches on the page, in bytes.
fn set_weight(switches: &[String]) -> usize {
    switches.iter().map(|switch| switch.len() + 3).sum()
}

impl TapeEntry {
    /// Returns a hash of the shown parts of the entry.
    fn hash_shown(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.kind, &self.text, &self.raw).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns whether kind, text and wire text of both entries are the same.
    fn is_shown_alike(&self, other: &Self) -> bool {
        (self.kind, &self.text, &self.raw) == (other.kind, &other.text, &other.raw)
    }

    /// Returns the approximate size on the page, in bytes.
    fn weight(&self) -> usize {
        self.raw.as_ref().map_or(0, String::len) + self.text.len() + self.args.len() + 24
    }
}

/// The steps of a run in the JSON document: tables of different labels and sets of switches, and columns of positions
/// in them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TapeView<'t> {
    /// The number of steps dropped from the beginning.
    before: usize,
    labels: Vec<LabelView<'t>>,
    sets: &'t [Vec<String>],
    label: Vec<u32>,
    set: Vec<u32>,
    /// The number of states the specification may have been in; -1 where it no longer restricts the system.
    belief: Vec<i64>,
    /// Nanoseconds since the step before; `None` if no time passed.
    time: Option<Vec<u64>>,
}

/// A label: the code of its kind, gate, text, fields, the number of characters if the text was cut, the text on the
/// wire, the part it belongs to.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct LabelView<'t>(
    u8,
    &'t str,
    &'t str,
    #[cfg_attr(test, ts(type = "Record<string, unknown> | null"))] Json,
    Option<usize>,
    Option<&'t str>,
    Option<&'t str>,
);

impl<'t> LabelView<'t> {
    /// Makes the view of a label of a tape.
    fn new(entry: &'t TapeEntry) -> Self {
        let args = serde_json::from_str(&entry.args).unwrap_or(Json::Null);
        let (raw, part) = (entry.raw.as_deref(), entry.part.as_deref());
        Self(entry.kind, &entry.gate, &entry.text, args, entry.of, raw, part)
    }
}

impl Serialize for RunTape {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let tape = TapeView {
            before: self.before,
            labels: self.labels.iter().map(LabelView::new).collect(),
            sets: &self.sets,
            label: self.steps.iter().map(|step| step.label).collect(),
            set: self.steps.iter().map(|step| step.set).collect(),
            belief: self.steps.iter().map(|step| step.belief).collect(),
            time: self.step_times(),
        };
        tape.serialize(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioxide_record::event::LabelKind;
    use serde_json::{Map, json};

    fn shown_parts(tape: &RunTape) -> Json {
        serde_json::to_value(tape).unwrap()
    }

    fn label_told(kind: LabelKind, text: &str) -> LabelRecord {
        LabelRecord {
            kind,
            label: "m".into(),
            args: Map::new(),
            text: text.into(),
            delay_ns: None,
            raw: None,
            way: None,
            part: None,
        }
    }

    fn step(step: usize, text: &str) -> StepRecord {
        let label = label_told(LabelKind::Input, text);
        StepRecord { step, label, belief: Some(1), switches: vec!["r0".into()] }
    }

    #[test]
    fn what_is_said_twice_is_kept_once() {
        let mut tape = RunTape::new(100);
        for (n, text) in ["a", "b", "a"].into_iter().enumerate() {
            tape.add_step(&step(n + 1, text), 100 + 10 * n as u64);
        }
        let json = shown_parts(&tape);
        assert_eq!(json["label"], json!([0, 1, 0]));
        assert_eq!(
            json["labels"],
            json!([[0, "m", "a", null, null, null, null], [0, "m", "b", null, null, null, null]])
        );
        assert_eq!(json["time"], json!([0, 10, 10]));
        assert_eq!((&json["sets"], &json["set"]), (&json!([["r0"]]), &json!([0, 0, 0])));
    }

    #[test]
    fn what_was_on_the_wire_is_kept_with_its_label() {
        let mut tape = RunTape::new(0);
        for raw in ["A 1", "A 01", "A 1"] {
            let label = LabelRecord { raw: Some(raw.into()), ..label_told(LabelKind::Input, "?a(n: 1)") };
            tape.add_step(&StepRecord { label, ..step(1, "a") }, 0);
        }
        let json = shown_parts(&tape);
        assert_eq!(json["label"], json!([0, 1, 0]));
        assert_eq!((&json["labels"][0][5], &json["labels"][1][5]), (&json!("A 1"), &json!("A 01")));
    }

    #[test]
    fn a_label_says_whose_it_is() {
        let mut tape = RunTape::new(0);
        let label = LabelRecord { part: Some("client[2]".into()), ..label_told(LabelKind::Output, "!a") };
        tape.add_step(&StepRecord { label, ..step(1, "a") }, 0);
        assert_eq!(shown_parts(&tape)["labels"][0][6], json!("client[2]"));
    }

    #[test]
    fn delays_of_the_model_are_its_time() {
        let delay = |ns| LabelRecord { delay_ns: Some(ns), ..label_told(LabelKind::Delay, "1 s") };
        let tape = RunTape::from_labels(&[delay(5), label_told(LabelKind::Input, "a"), delay(7)]);
        assert_eq!(shown_parts(&tape)["time"], json!([5, 0, 7]));
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let mut tape = RunTape::default();
        tape.add_step(&step(1, &"x".repeat(1 << 20)), 0);
        let json = shown_parts(&tape);
        assert_eq!(json["labels"][0][4], 1 << 20);
        assert!(json["labels"][0][2].as_str().unwrap().chars().count() <= MAX_TEXT + 1);
        assert_eq!(json["time"], Json::Null, "no time passed");
    }

    #[test]
    fn the_last_steps_of_an_endless_run_are_kept() {
        let mut tape = RunTape::default();
        for n in 0..=MAX_TAPE_STEPS {
            tape.add_step(&step(n + 1, "a"), 0);
        }
        assert_eq!(tape.len(), MAX_TAPE_STEPS + 1);
        let json = shown_parts(&tape);
        let before = json["before"].as_u64().unwrap() as usize;
        assert_eq!(before + json["label"].as_array().unwrap().len(), MAX_TAPE_STEPS + 1);
        assert!(before > 0);
    }

    /// Defect: a run of a million different messages took gigabytes, and a page of hundreds of megabytes.
    #[test]
    fn messages_that_never_repeat_take_no_more_room_than_others() {
        let mut tape = RunTape::default();
        let long = "x".repeat(1000);
        for n in 0..60_000 {
            tape.add_step(&step(n + 1, &format!("{n} {long}")), 0);
            assert!(tape.bytes <= MAX_BYTES + 2000, "{n}");
        }
        assert_eq!(tape.len(), 60_000);
        assert!(tape.labels.len() == tape.steps.len() && tape.by_text.len() == tape.steps.len());
        let json = shown_parts(&tape);
        let last = json["label"].as_array().unwrap().last().unwrap().as_u64().unwrap() as usize;
        assert!(json["labels"][last][2].as_str().unwrap().starts_with("59999 "), "the last steps are kept");
    }
}
