//! The monitor on a recorded trace: what was seen elsewhere, judged here.
//!
//! A trace is a record of ours, or plain JSON lines, one label each:
//! `{"label": "coin", "args": {"n": 3}}` or `{"quiescence": true}`. The direction of a message
//! is the one the model gives it; further members of a line are ignored.

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_symex::{After, Ctx, Observed};

use crate::codec::{Message, label_from_json};
use crate::event::Explanation;
use crate::explain::explanation;
use crate::objective::{Objective, Watch};

/// What the monitor says about a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Labels judged; the last one is the forbidden one if there is one.
    pub steps: usize,
    /// Why the last label is forbidden.
    pub forbidden: Option<Explanation>,
    /// The trace had left the objective when the forbidden label came: it is no failure.
    pub is_outside: bool,
    /// The first input the specification does not mention: it says nothing from there on.
    pub unspecified: Option<usize>,
    /// How many states the specification may be in at the end.
    pub belief: Option<usize>,
    /// How many answers the solver owed; states were kept in doubt.
    pub doubts: usize,
}

/// Judges `trace` up to its first forbidden label, within `objective` if there is one.
pub fn judge(cx: &mut Ctx<'_>, trace: &Trace, objective: Option<&Objective>) -> Judged {
    let mut after = After::new(cx);
    let mut watch = Watch::default();
    let mut unspecified = None;
    for (at, label) in trace.labels.iter().enumerate() {
        let is_outside = objective.is_some_and(|objective| {
            let is_inside = watch.is_inside(cx, objective, after.belief());
            watch.advance(cx, objective, after.belief(), label);
            !is_inside
        });
        match after.observe(cx, label) {
            Ok(Observed::Allowed) => (),
            Ok(Observed::Unspecified) => unspecified = unspecified.or(Some(at + 1)),
            Err(forbidden) => {
                let forbidden = Some(explanation(cx, &forbidden));
                let (belief, doubts) = (after.belief().size(), after.doubts());
                return Judged { steps: at + 1, forbidden, is_outside, unspecified, belief, doubts };
            }
        }
    }
    let (belief, doubts) = (after.belief().size(), after.doubts());
    Judged { steps: trace.len(), forbidden: None, is_outside: false, unspecified, belief, doubts }
}

/// A line of a trace that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

#[derive(Deserialize)]
struct PlainLine {
    label: Option<String>,
    #[serde(default)]
    args: Map<String, Json>,
    #[serde(default)]
    quiescence: bool,
}

/// The trace that plain JSON lines write; empty lines are skipped.
///
/// # Errors
/// If a line is no label, or the model does not know it.
pub fn plain_trace(model: &Model, text: &str) -> Result<Trace, BadLine> {
    let mut labels = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let bad = |reason: String| BadLine { line: at + 1, reason };
        let line: PlainLine = serde_json::from_str(line).map_err(|error| bad(error.to_string()))?;
        labels.push(match (line.label, line.quiescence) {
            (None, true) => Label::Quiescence,
            (Some(label), false) => {
                let message = Message { label, args: line.args };
                label_from_json(model, &message, |_| true).map_err(|error| bad(error.to_string()))?
            }
            (Some(_), true) => return Err(bad("a message and silence in one line".into())),
            (None, false) => return Err(bad("neither `label` nor `quiescence`".into())),
        });
    }
    Ok(Trace { labels })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{VENDING, model, with_cx};

    fn judged(text: &str) -> Judged {
        let trace = plain_trace(&model(VENDING), text).unwrap();
        with_cx(model(VENDING), |mut cx| judge(&mut cx, &trace, None))
    }

    #[test]
    fn an_allowed_trace_passes() {
        let text = "{\"quiescence\": true}\n{\"label\": \"coin\", \"args\": {\"n\": 5}, \"time\": 3}\n\n\
            {\"label\": \"change\", \"args\": {\"n\": 3}}\n{\"label\": \"tea\"}\n";
        let found = judged(text);
        assert_eq!((found.steps, found.forbidden, found.unspecified, found.belief), (4, None, None, Some(1)));
    }

    #[test]
    fn the_first_forbidden_label_is_explained() {
        let text = "{\"label\": \"coin\", \"args\": {\"n\": 5}}\n{\"label\": \"change\", \"args\": {\"n\": 4}}\n\
            {\"label\": \"tea\"}\n";
        let found = judged(text);
        assert_eq!(found.steps, 2);
        let told = found.forbidden.unwrap();
        assert_eq!(
            (told.observed.as_str(), told.allowed[0].label.as_str()),
            ("!change(n: 4)", "!change(n: 3)")
        );
    }

    #[test]
    fn silence_where_something_must_come_is_forbidden() {
        let found = judged("{\"label\": \"coin\", \"args\": {\"n\": 1}}\n{\"quiescence\": true}");
        assert!(found.forbidden.is_some());
    }

    #[test]
    fn after_an_input_nobody_mentions_everything_is_allowed() {
        let found = judged("{\"label\": \"coin\", \"args\": {\"n\": 50}}\n{\"label\": \"tea\"}");
        assert_eq!((found.unspecified, found.forbidden, found.belief), (Some(1), None, None));
    }

    #[test]
    fn lines_that_are_no_labels_are_named() {
        let problem = |text: &str| plain_trace(&model(VENDING), text).unwrap_err().to_string();
        insta::assert_snapshot!(problem("{}"), @"line 1: neither `label` nor `quiescence`");
        insta::assert_snapshot!(problem("\n{\"label\": \"tea\", \"quiescence\": true}"), @"line 2: a message and silence in one line");
        assert!(problem("hello").starts_with("line 1: expected value"));
        assert!(problem("{\"label\": \"soup\"}").contains("soup"));
    }
}
