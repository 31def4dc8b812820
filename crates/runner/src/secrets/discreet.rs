//! A reporter that passes events on without the secrets.
//!
//! The value of a field that is marked as secret, or that has a secret in it, is reported as `{"secret": true}`, which
//! is no value of any sort: a reader of the record knows that something is missing and cannot judge by it. Once seen,
//! the value of a marked field is hidden in every other text as well.

use std::io;

use serde_json::{Value as Json, json};

use super::{HIDDEN, Secrets};
use crate::event::{Event, EventKind, Explanation, FindingTold, LabelTold, VerdictTold};
use crate::reporter::Reporter;

/// A reporter that passes all events on to another one, without the secrets.
pub struct Discreet<'r> {
    inner: &'r mut dyn Reporter,
    secrets: Secrets,
}

impl<'r> Discreet<'r> {
    /// Returns a reporter that passes all events on to `inner`, without `secrets`.
    pub fn new(inner: &'r mut dyn Reporter, secrets: Secrets) -> Self {
        Self { inner, secrets }
    }
}

impl Reporter for Discreet<'_> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.secrets.is_empty() {
            return self.inner.event(event);
        }
        let mut event = event.clone();
        self.secrets.learn(&event.event);
        self.secrets.hide_event(&mut event.event);
        self.inner.event(&event)
    }
}

impl Secrets {
    /// Remembers the values of marked fields.
    fn learn(&mut self, event: &EventKind) {
        if let EventKind::Stimulus(step) | EventKind::Observation(step) = event {
            for (field, value) in &step.label.args {
                if self.has_field(&step.label.label, field) {
                    self.add(&plain(value));
                }
            }
        }
    }

    /// Hides secrets in every text of an event that the system may have said or that was said to it.
    fn hide_event(&self, event: &mut EventKind) {
        match event {
            EventKind::Stimulus(step) | EventKind::Observation(step) => self.hide_label(&mut step.label),
            EventKind::Verdict(told) => self.hide_verdict(told),
            EventKind::Trouble(told) => {
                self.hide_in(&mut told.error);
                self.hide_in(&mut told.last_words);
            }
            EventKind::Replayed(told) => {
                let traces = told.instead.iter_mut().flat_map(|instead| &mut instead.trace);
                traces.for_each(|label| self.hide_label(label));
            }
            EventKind::Shrunk(told) => told.trace.iter_mut().for_each(|label| self.hide_label(label)),
            EventKind::CampaignStarted(told) => self.hide_in(&mut told.sut),
            EventKind::CampaignFinished(told) => {
                told.failures.iter_mut().for_each(|kind| self.hide_in(&mut kind.signature));
                for extent in &mut told.history.extents {
                    self.hide_in(&mut extent.least);
                    self.hide_in(&mut extent.most);
                }
            }
            EventKind::RunStarted(_) | EventKind::Patience(_) | EventKind::RunFinished(_) => (),
        }
    }

    /// Hides secrets in the text.
    fn hide_in(&self, text: &mut String) {
        *text = self.hide(text);
    }

    /// Hides secrets in a value, however deep they are.
    pub fn hide_json(&self, value: &mut Json) {
        match value {
            Json::String(text) => self.hide_in(text),
            Json::Array(values) => values.iter_mut().for_each(|value| self.hide_json(value)),
            Json::Object(members) => members.values_mut().for_each(|value| self.hide_json(value)),
            Json::Null | Json::Bool(_) | Json::Number(_) => (),
        }
    }

    fn hide_label(&self, told: &mut LabelTold) {
        let mut has_marked = false;
        for (field, value) in &mut told.args {
            let is_marked = self.has_field(&told.label, field);
            if is_marked || self.is_in(&plain(value)) {
                *value = json!({ "secret": true });
            }
            has_marked |= is_marked;
        }
        if has_marked {
            // The value may be too short to be found in a text.
            let name = told.text.split('(').next().unwrap_or_default();
            told.text = format!("{name}({HIDDEN})");
            told.raw = told.raw.take().map(|_| HIDDEN.to_owned());
        }
        self.hide_in(&mut told.text);
        told.raw.iter_mut().for_each(|raw| self.hide_in(raw));
    }

    fn hide_verdict(&self, told: &mut VerdictTold) {
        let VerdictTold { reason, kind, signature, last_words, explanation, finding, .. } = told;
        [reason, last_words].into_iter().for_each(|text| self.hide_in(text));
        [kind, signature].into_iter().flatten().for_each(|text| self.hide_in(text));
        explanation.iter_mut().for_each(|told| self.hide_explanation(told));
        if let Some(FindingTold { state, event, because, .. }) = finding {
            [state, event].into_iter().for_each(|text| self.hide_in(text));
            because.iter_mut().for_each(|text| self.hide_in(text));
        }
    }

    fn hide_explanation(&self, told: &mut Explanation) {
        self.hide_in(&mut told.observed);
        told.allowed.iter_mut().for_each(|allowed| self.hide_in(&mut allowed.label));
        told.why_not.iter_mut().for_each(|why| self.hide_in(&mut why.reason));
        for state in &mut told.states {
            state.values.iter_mut().chain(&mut state.path).for_each(|text| self.hide_in(text));
        }
    }
}

/// A value as it stands in texts.
fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{LabelKind, StepTold, SystemTrouble};
    use serde_json::Map;

    fn step(label: &str, field: &str, value: Json, raw: &str) -> EventKind {
        let text = format!("?{label}({field}: {value})");
        let args: Map<String, Json> = [(field.to_owned(), value)].into_iter().collect();
        let (kind, raw, label) = (LabelKind::Input, Some(raw.to_owned()), label.to_owned());
        let label = LabelTold { kind, label, args, text, delay_ns: None, raw, way: None, part: None };
        EventKind::Stimulus(StepTold { step: 1, label, belief: None, switches: Vec::new() })
    }

    fn told(secrets: &Secrets, events: impl IntoIterator<Item = EventKind>) -> String {
        let mut seen: Vec<Event> = Vec::new();
        let mut discreet = Discreet::new(&mut seen, secrets.clone());
        for event in events {
            discreet.event(&Event { seq: 0, time_ns: 0, run: None, event }).unwrap();
        }
        serde_json::to_string(&seen).unwrap()
    }

    #[test]
    fn nothing_that_is_told_has_the_secret() {
        let mut secrets = Secrets::none();
        secrets.add("0123456789abcdef");
        let trouble =
            SystemTrouble { error: "bad 456789ab".into(), last_words: "GET /0123456789abcdef".into() };
        let value = json!(["x", "y0123456789abcdefz"]);
        let text = told(&secrets, [step("m", "f", value, "m 0123456789abcdef"), EventKind::Trouble(trouble)]);
        assert!(!text.contains("456789ab"), "{text}");
        assert!(text.contains(r#""args":{"f":{"secret":true}}"#), "{text}");
    }

    #[test]
    fn the_value_of_a_marked_field_is_hidden_from_then_on() {
        let mut secrets = Secrets::none();
        secrets.add_field("login", "pin");
        let trouble = SystemTrouble { error: "4711 is wrong".into(), last_words: String::new() };
        let text =
            told(&secrets, [step("login", "pin", json!(4711), "LOGIN 4711"), EventKind::Trouble(trouble)]);
        assert!(!text.contains("4711") && text.contains("?login(***)"), "{text}");
        let other = told(&secrets, [step("login", "user", json!("ann"), "LOGIN ann")]);
        assert!(other.contains("LOGIN ann"), "{other}");
    }
}
