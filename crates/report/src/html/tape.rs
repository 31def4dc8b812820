//! The steps of one run in columns: what was said once is kept once.
//!
//! A run of a hundred thousand steps has few different labels and fewer sets of switches. Each is kept in a
//! table, and a step is four small numbers: its label, the time since the step before, the size of the
//! belief, its set of switches.
//!
//! *Promises.* A tape has at most [`MAX_STEPS`] steps, the last ones, and texts of about
//! [`MAX_BYTES`]; what was cut off is counted.

use std::collections::BTreeMap;

use ioxide_runner::event::{LabelKind, LabelTold, StepTold};
use ioxide_runner::line::cut;
use serde_json::{Value as Json, json};

/// Steps kept of one run.
pub const MAX_STEPS: usize = 300_000;
/// Bytes of texts kept of one run before they are cut short.
pub const MAX_BYTES: usize = 8 << 20;
/// Characters kept of one label.
const MAX_TEXT: usize = 100_000;
/// Characters kept of one label once a run has said a lot.
const SHORT_TEXT: usize = 200;

/// The steps of one run.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    labels: Vec<Entry>,
    by_text: BTreeMap<(u8, String, Option<String>), u32>,
    sets: Vec<Vec<String>>,
    by_set: BTreeMap<Vec<String>, u32>,
    steps: Vec<Step>,
    before: usize,
    bytes: usize,
    began_ns: u64,
    /// How long all delays together were.
    passed_ns: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    kind: u8,
    gate: String,
    text: String,
    args: Json,
    /// Characters there were, if some are missing.
    of: Option<usize>,
    /// What was on the wire, if it is known.
    raw: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    label: u32,
    set: u32,
    belief: i64,
    time_ns: u64,
    passed_ns: u64,
}

impl Tape {
    /// A tape that begins now.
    #[must_use]
    pub fn new(began_ns: u64) -> Self {
        Self { began_ns, ..Self::default() }
    }

    /// A trace without times, beliefs or switches, such as one that was made smaller.
    #[must_use]
    pub fn of(labels: &[LabelTold]) -> Self {
        let mut tape = Self::default();
        for label in labels {
            tape.push(label, &[], None, 0);
        }
        tape
    }

    /// Adds a step.
    pub fn add(&mut self, told: &StepTold, time_ns: u64) {
        self.push(&told.label, &told.switches, told.belief, time_ns.saturating_sub(self.began_ns));
    }

    /// Steps there were.
    #[must_use]
    pub fn len(&self) -> usize {
        self.before + self.steps.len()
    }

    /// Whether there were none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how much of a page it takes.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.bytes + 16 * self.steps.len()
    }

    fn push(&mut self, label: &LabelTold, switches: &[String], belief: Option<usize>, time_ns: u64) {
        if self.steps.len() == MAX_STEPS {
            // Rarely, and a quarter at once.
            let gone = MAX_STEPS / 4;
            self.steps.drain(..gone);
            self.before += gone;
        }
        self.passed_ns = self.passed_ns.saturating_add(label.delay_ns.unwrap_or(0));
        let belief = belief.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
        let (label, set) = (self.label(label), self.set(switches));
        self.steps.push(Step { label, set, belief, time_ns, passed_ns: self.passed_ns });
    }

    /// The place of a label in the table.
    fn label(&mut self, label: &LabelTold) -> u32 {
        let most = if self.bytes < MAX_BYTES { MAX_TEXT } else { SHORT_TEXT };
        let chars = label.text.chars().count();
        let text = cut(&label.text, most);
        let raw = label.raw.as_ref().map(|raw| cut(raw, most));
        let key = (kind_code(label.kind), text, raw);
        if let Some(&at) = self.by_text.get(&key) {
            return at;
        }
        let args =
            if label.args.is_empty() { String::new() } else { Json::Object(label.args.clone()).to_string() };
        let is_short = args.len() <= most && !args.is_empty();
        let entry = Entry {
            kind: key.0,
            gate: cut(&label.label, SHORT_TEXT),
            text: key.1.clone(),
            args: if is_short { Json::Object(label.args.clone()) } else { Json::Null },
            of: (chars > most).then_some(chars),
            raw: key.2.clone(),
        };
        self.bytes += entry.raw.as_ref().map_or(0, String::len);
        self.bytes += entry.text.len() + if is_short { args.len() } else { 0 } + 24;
        let at = u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
        self.labels.push(entry);
        self.by_text.insert(key, at);
        at
    }

    /// The place of a set of switches in the table.
    fn set(&mut self, switches: &[String]) -> u32 {
        if let Some(&at) = self.by_set.get(switches) {
            return at;
        }
        let at = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        self.bytes += switches.iter().map(|switch| switch.len() + 3).sum::<usize>();
        self.sets.push(switches.to_vec());
        self.by_set.insert(switches.to_vec(), at);
        at
    }

    /// The tape for the page.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let column = |of: &dyn Fn(&Step) -> Json| self.steps.iter().map(of).collect::<Vec<Json>>();
        let times = self.times();
        let label = |it: &Entry| json!([it.kind, it.gate, it.text, it.args, it.of, it.raw]);
        json!({
            "before": self.before,
            "labels": self.labels.iter().map(label).collect::<Vec<_>>(),
            "sets": self.sets,
            "label": column(&|step| step.label.into()),
            "set": column(&|step| step.set.into()),
            "belief": column(&|step| step.belief.into()),
            "time": times,
        })
    }

    /// The time from step to step: that of the model where it has delays, else that of the clock; `None` where
    /// no time passed.
    fn times(&self) -> Option<Vec<u64>> {
        let time = |step: &Step| if self.passed_ns > 0 { step.passed_ns } else { step.time_ns };
        let mut last = 0;
        let mut deltas = Vec::with_capacity(self.steps.len());
        for now in self.steps.iter().map(time) {
            deltas.push(now.saturating_sub(last));
            last = now;
        }
        deltas.iter().any(|&delta| delta > 0).then_some(deltas)
    }
}

/// Who moved, as a number.
fn kind_code(kind: LabelKind) -> u8 {
    match kind {
        LabelKind::Input => 0,
        LabelKind::Output => 1,
        LabelKind::Quiescence => 2,
        LabelKind::Delay => 3,
        LabelKind::Observed => 4,
        LabelKind::Ended | LabelKind::Closed | LabelKind::Hung | LabelKind::Unreadable => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn told(kind: LabelKind, text: &str) -> LabelTold {
        LabelTold {
            kind,
            label: "m".into(),
            args: Map::new(),
            text: text.into(),
            delay_ns: None,
            raw: None,
            way: None,
        }
    }

    fn step(step: usize, text: &str) -> StepTold {
        let label = told(LabelKind::Input, text);
        StepTold { step, label, belief: Some(1), switches: vec!["r0".into()] }
    }

    #[test]
    fn what_is_said_twice_is_kept_once() {
        let mut tape = Tape::new(100);
        for (n, text) in ["a", "b", "a"].into_iter().enumerate() {
            tape.add(&step(n + 1, text), 100 + 10 * n as u64);
        }
        let json = tape.to_json();
        assert_eq!(json["label"], json!([0, 1, 0]));
        assert_eq!(json["labels"], json!([[0, "m", "a", null, null, null], [0, "m", "b", null, null, null]]));
        assert_eq!(json["time"], json!([0, 10, 10]));
        assert_eq!((&json["sets"], &json["set"]), (&json!([["r0"]]), &json!([0, 0, 0])));
    }

    #[test]
    fn what_was_on_the_wire_is_kept_with_its_label() {
        let mut tape = Tape::new(0);
        for raw in ["A 1", "A 01", "A 1"] {
            let label = LabelTold { raw: Some(raw.into()), ..told(LabelKind::Input, "?a(n: 1)") };
            tape.add(&StepTold { label, ..step(1, "a") }, 0);
        }
        let json = tape.to_json();
        assert_eq!(json["label"], json!([0, 1, 0]));
        assert_eq!((&json["labels"][0][5], &json["labels"][1][5]), (&json!("A 1"), &json!("A 01")));
    }

    #[test]
    fn delays_of_the_model_are_its_time() {
        let delay = |ns| LabelTold { delay_ns: Some(ns), ..told(LabelKind::Delay, "1 s") };
        let tape = Tape::of(&[delay(5), told(LabelKind::Input, "a"), delay(7)]);
        assert_eq!(tape.to_json()["time"], json!([5, 0, 7]));
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let mut tape = Tape::default();
        tape.add(&step(1, &"x".repeat(1 << 20)), 0);
        let json = tape.to_json();
        assert_eq!(json["labels"][0][4], 1 << 20);
        assert!(json["labels"][0][2].as_str().unwrap().chars().count() <= MAX_TEXT + 1);
        assert_eq!(json["time"], Json::Null, "no time passed");
    }

    #[test]
    fn the_last_steps_of_an_endless_run_are_kept() {
        let mut tape = Tape::default();
        for n in 0..=MAX_STEPS {
            tape.add(&step(n + 1, "a"), 0);
        }
        assert_eq!(tape.len(), MAX_STEPS + 1);
        let json = tape.to_json();
        let before = json["before"].as_u64().unwrap() as usize;
        assert_eq!(before + json["label"].as_array().unwrap().len(), MAX_STEPS + 1);
        assert!(before > 0);
    }
}
