//! A reporter that passes events on without the secrets.
//!
//! The value of a field that is marked as secret, or that has a secret in it, is reported as `{"secret": true}`, which
//! is no value of any sort: a reader of the record knows that something is missing and cannot judge by it. Once seen,
//! the value of a marked field is hidden in every other text as well.

use std::io;

use serde_json::{Value as Json, json};

use super::{HIDDEN, Secrets};
use crate::event::{
    Allowed, CampaignFinished, CampaignStarted, Event, EventKind, Explanation, ExtentRecord,
    FailureSignature, FieldDifference, FindingRecord, HistoryRecord, InsteadRecord, LabelKind, LabelRecord,
    MeasureRecord, PatienceRecord, Replayed, RunFinished, RunStarted, ShrinkingRecord, ShrunkRecord,
    StateRecord, StepRecord, SystemTrouble, UnmadeRecord, UnsolicitedRecord, VerdictRecord, WhyNot,
};
use crate::reporter::Reporter;

/// A reporter that passes all events on to another one, without the secrets.
pub struct RedactingReporter<'r> {
    inner: &'r mut dyn Reporter,
    secrets: Secrets,
}

impl<'r> RedactingReporter<'r> {
    /// Returns a reporter that passes all events on to `inner`, without `secrets`.
    pub fn new(inner: &'r mut dyn Reporter, secrets: Secrets) -> Self {
        Self { inner, secrets }
    }
}

impl Reporter for RedactingReporter<'_> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.secrets.is_empty() {
            return self.inner.event(event);
        }
        let mut event = event.clone();
        self.secrets.add_from_event(&event.event);
        self.secrets.hide_event(&mut event.event);
        self.inner.event(&event)
    }

    fn shrinking(&mut self, shrinking: &ShrinkingRecord) {
        self.inner.shrinking(shrinking);
    }
}

/// Hiding in events. Every event and every part of one is taken apart without `..`: whoever adds a text has to
/// decide here. Names of the model and settings of the user stay, since records are read by them.
impl Secrets {
    /// Remembers the values of marked fields, and halves of secrets that a system may say in two messages, as long as
    /// there is room: a system must not fill the memory with them.
    fn add_from_event(&mut self, event: &EventKind) {
        for label in labels_of(event) {
            // A number is no half of a secret.
            let said = label.args.values().filter_map(Json::as_str).chain(label.raw.as_deref());
            said.filter(|_| label.kind == LabelKind::Output).for_each(|said| self.learn_halves(said));
            for (field, value) in &label.args {
                if self.has_field(&label.label, field) {
                    self.add_told(&plain_text(value));
                }
            }
        }
    }

    /// Hides secrets in every text of an event that the system may have said or that was said to it.
    fn hide_event(&self, event: &mut EventKind) {
        match event {
            EventKind::Stimulus(step) | EventKind::Observation(step) => {
                let StepRecord { step: _, label, belief: _, switches: _ } = step;
                self.hide_label(label);
            }
            EventKind::Patience(told) => {
                let PatienceRecord { label, took_ms: _, from_ms: _, to_ms: _, not_silent: _, first_reply: _ } =
                    told;
                self.hide_in(label);
            }
            EventKind::Unsolicited(UnsolicitedRecord { message, answer, connection: _ }) => {
                self.hide_in(message);
                answer.iter_mut().for_each(|answer| self.hide_in(answer));
            }
            EventKind::Verdict(told) => self.hide_verdict(told),
            EventKind::Trouble(SystemTrouble { error, last_words }) => self.hide_all([error, last_words]),
            EventKind::Replayed(Replayed {
                run: _,
                reproduced: _,
                of: _,
                unmade,
                instead,
                only_after_reset: _,
            }) => {
                if let Some(UnmadeRecord { wanted: _, reason }) = unmade {
                    self.hide_in(reason);
                }
                if let Some(InsteadRecord { outcome: _, trace }) = instead {
                    trace.iter_mut().for_each(|label| self.hide_label(label));
                }
            }
            EventKind::Shrunk(told) => self.hide_shrunk(told),
            EventKind::CampaignStarted(told) => self.hide_started(told),
            EventKind::CampaignFinished(told) => self.hide_finished(told),
            EventKind::RunStarted(told) => {
                let RunStarted { run: _, seed: _, goal, tolerance: _, unconfirmed: _, connections: _ } = told;
                self.hide_in(goal);
            }
            EventKind::RunFinished(RunFinished {
                run: _,
                outcome: _,
                steps: _,
                doubts: _,
                machine_lag: _,
                thinned: _,
                taken: _,
            }) => (),
        }
    }

    /// Hides secrets in the text.
    fn hide_in(&self, text: &mut String) {
        *text = self.hide(text);
    }

    fn hide_all<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        texts.into_iter().for_each(|text| self.hide_in(text));
    }

    /// Hides secrets in a value, however deep they are.
    pub fn hide_json(&self, value: &mut Json) {
        match value {
            Json::String(text) => self.hide_in(text),
            Json::Array(values) => values.iter_mut().for_each(|value| self.hide_json(value)),
            Json::Object(members) => {
                members.values_mut().for_each(|value| self.hide_json(value));
                // A map with texts as keys has what the system said on both sides.
                if members.keys().any(|key| self.is_in(key)) {
                    *members = std::mem::take(members)
                        .into_iter()
                        .map(|(key, value)| (self.hide(&key), value))
                        .collect();
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => (),
        }
    }

    fn hide_label(&self, told: &mut LabelRecord) {
        let LabelRecord { kind: _, label, args, text, delay_ns: _, raw, way: _, part: _ } = told;
        let mut has_marked = false;
        for (field, value) in args {
            let is_marked = self.has_field(label, field);
            if is_marked || self.is_in(&plain_text(value)) {
                *value = json!({ "secret": true });
            }
            has_marked |= is_marked;
        }
        if has_marked {
            // The value may be too short to be found in the bytes.
            *raw = raw.take().map(|_| HIDDEN.to_owned());
        }
        self.hide_in(text);
        self.hide_all(raw);
    }

    fn hide_verdict(&self, verdict: &mut VerdictRecord) {
        let VerdictRecord {
            verdict: _,
            reason,
            kind,
            step: _,
            unknown_from: _,
            goal_missed: _,
            explanation,
            signature,
            finding,
            last_words,
            exchanges,
        } = verdict;
        self.hide_all([reason, last_words]);
        exchanges.iter_mut().for_each(|exchange| exchange.for_each_text(&mut |text| self.hide_in(text)));
        self.hide_all([kind, signature].into_iter().flatten());
        explanation.iter_mut().for_each(|told| self.hide_explanation(told));
        if let Some(FindingRecord { word: _, rule: _, state, event, because }) = finding {
            self.hide_all([state, event]);
            self.hide_all(because);
        }
    }

    fn hide_explanation(&self, explanation: &mut Explanation) {
        let Explanation { observed, allowed, states, n_states: _, why_not, orders: _ } = explanation;
        self.hide_in(observed);
        for Allowed { label, switch: _, differences } in allowed {
            self.hide_in(label);
            for FieldDifference { field: _, got, expected } in differences {
                self.hide_all([got, expected]);
            }
        }
        why_not.iter_mut().for_each(|WhyNot { state: _, switch: _, reason, doc: _ }| self.hide_in(reason));
        for StateRecord { location, values, path } in states {
            self.hide_in(location);
            self.hide_all(values.iter_mut().chain(path));
        }
    }

    fn hide_shrunk(&self, shrunk: &mut ShrunkRecord) {
        let ShrunkRecord {
            run: _,
            trace,
            step: _,
            from: _,
            attempts: _,
            minimal: _,
            early,
            reproduced: _,
            of: _,
            unconfirmed: _,
            references,
            explanation,
            script,
            signature,
            no_script,
            exchanges,
        } = shrunk;
        // A marked value may be too short to be found in a message.
        let has_marked =
            |label: &LabelRecord| label.args.keys().any(|field| self.has_field(&label.label, field));
        if trace.iter().any(has_marked) {
            *script = None;
            *no_script = Some("the run has a field that `secrets` names".into());
            exchanges.clear();
        }
        explanation.iter_mut().for_each(|told| self.hide_explanation(told));
        exchanges.iter_mut().for_each(|exchange| exchange.for_each_text(&mut |text| self.hide_in(text)));
        script.iter_mut().for_each(|script| script.for_each_text(&mut |text| self.hide_in(text)));
        trace.iter_mut().for_each(|label| self.hide_label(label));
        self.hide_all(early.iter_mut().chain(references).chain(signature).chain(no_script));
    }

    fn hide_started(&self, started: &mut CampaignStarted) {
        let CampaignStarted {
            model: _,
            file: _,
            set,
            switches: _,
            parts: _,
            tester: _,
            sut,
            seed: _,
            runs: _,
            jobs: _,
            patience_ms: _,
            calibrated: _,
            operations: _,
            requirements: _,
        } = started;
        self.hide_in(sut);
        self.hide_all(set);
    }

    fn hide_finished(&self, finished: &mut CampaignFinished) {
        let CampaignFinished {
            runs: _,
            passed: _,
            inconclusive: _,
            failed: _,
            errors: _,
            interrupted: _,
            covered: _,
            never: _,
            failures,
            latencies: _,
            suggested_patience_ms: _,
            patience_ms: _,
            raised_patience_ms: _,
            machine_lag: _,
            time_spent: _,
            reset_price: _,
            unknown: _,
            refused: _,
            measures,
            history,
        } = finished;
        failures
            .iter_mut()
            .for_each(|FailureSignature { signature, first: _, runs: _ }| self.hide_in(signature));
        for MeasureRecord { measure: _, seen: _, total: _, missing } in measures {
            self.hide_all(missing);
        }
        let HistoryRecord { longest_run: _, extents, new_pairs_per_million: _ } = history;
        for ExtentRecord { variable: _, least, most } in extents {
            self.hide_all([least, most]);
        }
    }
}

/// The labels of an event.
fn labels_of(event: &EventKind) -> &[LabelRecord] {
    match event {
        EventKind::Stimulus(step) | EventKind::Observation(step) => std::slice::from_ref(&step.label),
        EventKind::Replayed(told) => told.instead.as_ref().map_or(&[], |instead| &instead.trace),
        EventKind::Shrunk(told) => &told.trace,
        EventKind::CampaignStarted(_)
        | EventKind::RunStarted(_)
        | EventKind::Patience(_)
        | EventKind::Unsolicited(_)
        | EventKind::Verdict(_)
        | EventKind::Trouble(_)
        | EventKind::RunFinished(_)
        | EventKind::CampaignFinished(_) => &[],
    }
}

/// A value as it stands in texts.
fn plain_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
