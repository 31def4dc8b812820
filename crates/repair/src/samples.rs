//! The steps at which runs took an input, and whether the system then behaved as the model says: what separates the
//! good ones from the bad ones may be the guard that the transition lacks.

use std::cmp::Ordering;

use ioxide_model::concrete::{ConcreteState, is_enabled};
use ioxide_model::label::Label;
use ioxide_model::name::source_name;
use ioxide_model::sort::CollectionKind;
use ioxide_model::source::{FileId, Span};
use ioxide_model::term::VarId;
use ioxide_model::value::Value;
use ioxide_symex::{Belief, Ctx, Monitor};

use crate::evaluate::RunJudgement;

/// The number of samples of all transitions. Chosen by feel.
const MAX_SAMPLES: usize = 4_000;

/// The steps at which a transition of an input was taken for certain.
#[derive(Debug, Default)]
pub(crate) struct GuardSamples {
    samples: Vec<GuardSample>,
    /// The steps of the current run, whose answers are not known yet: their positions in it.
    pending: Vec<(usize, GuardSample)>,
}

#[derive(Debug)]
struct GuardSample {
    span: Span,
    /// True if what followed was allowed.
    is_good: bool,
    /// The numbers that a guard could compare: fields, variables, lengths; as they are written.
    numbers: Vec<(String, i64)>,
}

/// A condition that holds for every good sample of a transition and for no bad one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GuardSeparator {
    pub(crate) condition: String,
    /// The bits that it costs beyond the choice among all of them.
    pub(crate) bits: f64,
}

impl GuardSamples {
    /// Notes the step that the monitor is about to take.
    pub(crate) fn note(&mut self, cx: &Ctx<'_>, monitor: &Monitor, label: &Label, at: usize) {
        let Label::Input(gate, values) = label else { return };
        // Certain steps only: with a second state, the numbers below might be those of a state in which the
        // system is not.
        let Belief::Concrete(states) = monitor.belief() else { return };
        let mut only = states.iter();
        let (Some(state), None) = (only.next(), only.next()) else { return };
        // An answer of the evaluation that is missing counts as "can be taken", so that it makes the step
        // less certain, never more.
        let mut taken = cx.sts.switches_from(state.loc).filter(|(_, switch)| {
            switch.gate == *gate && is_enabled(cx.pool, cx.sts, state, switch, values).unwrap_or(true)
        });
        // Where two transitions can be taken, nobody knows which of them the answer is about.
        let (Some((_, switch)), None) = (taken.next(), taken.next()) else { return };
        let numbers = numbers_of(cx, state, cx.sts.gates[*gate].fields.iter().zip(values));
        self.pending.push((at, GuardSample { span: switch.span, is_good: true, numbers }));
    }

    /// Notes the end of a run of so many labels.
    pub(crate) fn end_run(&mut self, judged: &RunJudgement, n_labels: usize) {
        for (at, mut sample) in self.pending.drain(..) {
            // Only the label directly behind the input is its answer. A failure later in the run says nothing
            // about this guard.
            sample.is_good = judged.forbidden_at != Some(at + 1);
            // The last input of a run has no answer.
            if at + 1 < n_labels && self.samples.len() < MAX_SAMPLES {
                self.samples.push(sample);
            }
        }
    }

    /// Returns the comparisons that separate the good samples of the transition at `span` from the bad ones, with the
    /// numbers and the named constants of the model where they do as well as others.
    pub(crate) fn separators(
        &self,
        file: FileId,
        span: Span,
        constants: &[(String, i64)],
    ) -> Vec<GuardSeparator> {
        let is_inside =
            |other: Span| other.file == file && other.start <= span.end && span.start <= other.end;
        let (good, bad): (Vec<&GuardSample>, Vec<&GuardSample>) =
            self.samples.iter().filter(|sample| is_inside(sample.span)).partition(|sample| sample.is_good);
        // Without a bad sample, every condition that holds for the good ones would do.
        let Some(first) = bad.first() else { return Vec::new() };
        let mut found = Vec::new();
        // Names that some sample lacks are left out by `number`: nothing is known of them at that step.
        for (name, _) in &first.numbers {
            let values = |samples: &[&GuardSample]| -> Option<Vec<i64>> {
                samples.iter().map(|sample| sample.number(name)).collect()
            };
            if let (Some(good), Some(bad)) = (values(&good), values(&bad)) {
                bounds(name, &good, &bad, constants, &mut found);
            }
        }
        for (at, (one, _)) in first.numbers.iter().enumerate() {
            for (other, _) in &first.numbers[at + 1..] {
                relations((one, other), &good, &bad, &mut found);
            }
        }
        found
    }
}

impl GuardSample {
    /// Returns the number of this name in the sample.
    fn number(&self, name: &str) -> Option<i64> {
        self.numbers.iter().find(|(own, _)| own == name).map(|(_, number)| *number)
    }
}

/// Returns the numbers of a state and of the fields of a message.
fn numbers_of<'v>(
    cx: &Ctx<'_>,
    state: &ConcreteState,
    fields: impl Iterator<Item = (&'v VarId, &'v Value)>,
) -> Vec<(String, i64)> {
    let vars = cx.sts.vars.iter().filter_map(|var| Some((var.var, state.values.get(var.var)?)));
    let all = fields.map(|(field, value)| (*field, value)).chain(vars);
    let mut numbers = Vec::new();
    for (var, value) in all {
        let name = source_name(&cx.pool.var_info(var).name).into_owned();
        match value {
            Value::Int(number) => numbers.extend(number.to_i64().map(|number| (name, number))),
            Value::Collection(items) => {
                let kind = cx.pool.collection(items.sort).kind;
                let length = if kind == CollectionKind::List { "length" } else { "size" };
                let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
                numbers.push((format!("{name}.{length}()"), size));
            }
            _ => (),
        }
    }
    numbers
}

/// Adds the bounds on `name` that separate the values.
fn bounds(
    name: &str,
    good: &[i64],
    bad: &[i64],
    constants: &[(String, i64)],
    found: &mut Vec<GuardSeparator>,
) {
    let (Some(&least), Some(&most)) = (good.iter().min(), good.iter().max()) else { return };
    let above = bad.iter().copied().filter(|value| *value > most).min();
    let below = bad.iter().copied().filter(|value| *value < least).max();
    if bad.iter().any(|value| (least..=most).contains(value)) {
        // A single value between good ones may be the one that is left out.
        if bad.iter().all(|value| *value == bad[0]) && !good.contains(&bad[0]) {
            for text in written(bad[0], constants) {
                found.push(GuardSeparator { condition: format!("{name} != {}", text.0), bits: text.1 });
            }
        }
        return;
    }
    // Every bound between the last good value and the first bad one separates; named constants come first.
    let upper = above.map(|above| upper_bounds(most, above, constants)).unwrap_or_default();
    let lower = below.map(|below| lower_bounds(below, least, constants)).unwrap_or_default();
    match (lower.is_empty(), upper.is_empty()) {
        (true, _) => found.extend(
            upper
                .into_iter()
                .map(|(bound, bits)| GuardSeparator { condition: format!("{name} {bound}"), bits }),
        ),
        (_, true) => found.extend(
            lower
                .into_iter()
                .map(|(bound, bits)| GuardSeparator { condition: format!("{name} {bound}"), bits }),
        ),
        _ => {
            for (low, low_bits) in &lower {
                for (high, high_bits) in &upper {
                    let condition = format!("{name} {low} && {name} {high}");
                    found.push(GuardSeparator { condition, bits: low_bits + high_bits });
                }
            }
        }
    }
}

/// Returns the ways to write a number: as a constant of the model, or as it is.
fn written(number: i64, constants: &[(String, i64)]) -> Vec<(String, f64)> {
    let mut texts: Vec<(String, f64)> =
        constants.iter().filter(|(_, value)| *value == number).map(|(name, _)| (name.clone(), 0.0)).collect();
    if texts.is_empty() {
        texts.push((if number < 0 { format!("({number})") } else { number.to_string() }, 1.0));
    }
    texts
}

/// Returns the bounds that hold up to `most` and not from `above` on.
fn upper_bounds(most: i64, above: i64, constants: &[(String, i64)]) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = Vec::new();
    for (name, value) in constants {
        if (most + 1..=above).contains(value) {
            all.push((format!("< {name}"), 0.0));
        }
        if (most..above).contains(value) {
            all.push((format!("<= {name}"), 0.0));
        }
    }
    if all.is_empty() {
        all.extend(written(most, constants).into_iter().map(|(text, bits)| (format!("<= {text}"), bits)));
        all.extend(written(above, constants).into_iter().map(|(text, bits)| (format!("< {text}"), bits)));
    }
    all
}

/// Returns the bounds that hold from `least` on and not up to `below`.
fn lower_bounds(below: i64, least: i64, constants: &[(String, i64)]) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = Vec::new();
    for (name, value) in constants {
        if (below..least).contains(value) {
            all.push((format!("> {name}"), 0.0));
        }
        if (below + 1..=least).contains(value) {
            all.push((format!(">= {name}"), 0.0));
        }
    }
    if all.is_empty() {
        all.extend(written(least, constants).into_iter().map(|(text, bits)| (format!(">= {text}"), bits)));
        all.extend(written(below, constants).into_iter().map(|(text, bits)| (format!("> {text}"), bits)));
    }
    all
}

/// Adds the relations of two numbers that separate the samples.
fn relations(
    (one, other): (&str, &str),
    good: &[&GuardSample],
    bad: &[&GuardSample],
    found: &mut Vec<GuardSeparator>,
) {
    let orders = |samples: &[&GuardSample]| -> Option<Vec<Ordering>> {
        samples.iter().map(|sample| Some(sample.number(one)?.cmp(&sample.number(other)?))).collect()
    };
    let (Some(good), Some(bad)) = (orders(good), orders(bad)) else { return };
    let signs: [(&str, &[Ordering]); 6] = [
        ("==", &[Ordering::Equal]),
        ("!=", &[Ordering::Less, Ordering::Greater]),
        ("<", &[Ordering::Less]),
        ("<=", &[Ordering::Less, Ordering::Equal]),
        (">", &[Ordering::Greater]),
        (">=", &[Ordering::Greater, Ordering::Equal]),
    ];
    for (sign, allowed) in signs {
        let holds = |order: &Ordering| allowed.contains(order);
        if !good.is_empty() && good.iter().all(holds) && !bad.iter().any(holds) {
            found.push(GuardSeparator { condition: format!("{one} {sign} {other}"), bits: 1.5 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(good: &[i64], bad: &[i64], constants: &[(&str, i64)]) -> Vec<String> {
        let constants: Vec<(String, i64)> =
            constants.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut found = Vec::new();
        bounds("n", good, bad, &constants, &mut found);
        found.into_iter().map(|it| it.condition).collect()
    }

    #[test]
    fn bounds_hold_for_the_good_values_and_for_no_bad_one() {
        assert_eq!(conditions(&[0, 3], &[5, 9], &[]), ["n <= 3", "n < 5"]);
        assert_eq!(conditions(&[4], &[-1, 0], &[]), ["n >= 4", "n > 0"]);
        assert_eq!(conditions(&[0, 3], &[5], &[("MOST", 4)]), ["n < MOST", "n <= MOST"]);
        let both = conditions(&[1, 10], &[0, 11], &[]);
        assert!(both.contains(&"n >= 1 && n <= 10".to_owned()), "{both:?}");
        assert_eq!(conditions(&[1, 3], &[2, 2], &[]), ["n != 2"]);
        assert!(conditions(&[1, 3], &[2, 5], &[]).is_empty());
    }
}
