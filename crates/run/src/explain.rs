//! A forbidden observation in words: observed against allowed, state by state.

use std::collections::BTreeSet;

use ioxide_model::label::{Label, readable};
use ioxide_model::number::Rational;
use ioxide_model::sts::{LocId, Sts, SwitchId};
use ioxide_model::term::{Term, TermNode, VarId};
use ioxide_model::trace::{Breakdown, Trace};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_symex::{Belief, Ctx, Forbidden, SwitchBlock, SwitchOffer, SwitchRefusal, SymState};

use ioxide_record::event::{Allowed, Explanation, FieldDifference, FindingRecord, StateRecord, WhyNot};

/// The number of states that are listed; of more, only the number is given. Chosen by feel: more are not read.
const MAX_LISTED_STATES: usize = 20;

/// Returns the explanation of `forbidden`.
#[must_use]
pub fn explanation(cx: &mut Ctx<'_>, forbidden: &Forbidden) -> Explanation {
    let offers = cx.explain_within(|cx| solve_offers(cx, forbidden));
    let cx = &*cx;
    let refusals = forbidden.refusals.iter().filter(|refusal| refusal.state < MAX_LISTED_STATES);
    Explanation {
        observed: forbidden.label.show(cx.pool, cx.sts),
        allowed: list_allowed(cx, forbidden, &offers),
        states: list_states(cx, &forbidden.before),
        n_states: forbidden.before.count_states().unwrap_or(0),
        why_not: refusals.map(|refusal| why_not(cx, forbidden, refusal)).collect(),
        orders: (forbidden.courses > 1).then_some(forbidden.courses),
    }
}

/// Returns the text that is the same for failures of one kind: the label, the locations, and the conjuncts of guards
/// that it violates. Values are left out, so that the same fault gives the same text.
#[must_use]
pub fn signature(cx: &Ctx<'_>, forbidden: &Forbidden) -> String {
    let seen = match &forbidden.label {
        Label::Input(gate, _) => format!("?{}", cx.sts.gates[*gate].name),
        Label::Output(gate, _) => format!("!{}", cx.sts.gates[*gate].name),
        Label::Quiescence | Label::Delay(_) => "silence".to_owned(),
    };
    let locations = locations(cx, &forbidden.before);
    // Sorted and each once: the order of states must not make another kind of failure of the same one.
    let against: BTreeSet<String> =
        forbidden.refusals.iter().map(|refusal| refusal_text(cx, refusal)).collect();
    let against: Vec<String> = against.into_iter().collect();
    let part = |lead: &str, words: String| if words.is_empty() { words } else { format!("{lead}{words}") };
    format!("{seen}{}{}", part(" in ", locations.join(", ")), part(" against ", against.join(", ")))
}

/// The way in which a system broke down.
#[derive(Clone, Copy, Debug)]
pub struct BreakdownDetail<'e> {
    /// The kind of breakdown.
    pub how: Breakdown,
    /// The exit status of a system that ended, if it had one.
    pub status: Option<i32>,
    /// The name of the type of an exception, if it has one.
    pub exception: Option<&'e str>,
}

/// Returns the text that is the same for breakdowns of one kind: how the system broke down, after which message, and in
/// which locations.
#[must_use]
pub fn breakdown_signature(
    cx: &Ctx<'_>,
    detail: BreakdownDetail<'_>,
    trace: &Trace,
    expected: &Forbidden,
) -> String {
    let how = match (detail.how, detail.status, detail.exception) {
        (Breakdown::Ended, Some(status), _) => format!("crash (exit status {status})"),
        (Breakdown::Ended, None, _) => "crash (ended)".into(),
        (Breakdown::Closed, _, _) => "crash (closed)".into(),
        (Breakdown::Exception, _, Some(name)) => format!("exception {name}"),
        (Breakdown::Hung | Breakdown::Unreadable | Breakdown::Exception, _, _) => detail.how.kind().into(),
    };
    let last = trace.labels.iter().rev().find_map(|label| match label {
        Label::Input(gate, _) => Some(format!(" after ?{}", cx.sts.gates[*gate].name)),
        Label::Output(gate, _) => Some(format!(" after !{}", cx.sts.gates[*gate].name)),
        Label::Quiescence | Label::Delay(_) => None,
    });
    let locations = locations(cx, &expected.before).join(", ");
    format!("{how}{} in {locations}", last.unwrap_or_default())
}

/// Returns the verdict of timed testing (\[BLLN23]) on a forbidden observation of a timed model: the locations of the
/// specification, the label and its delay, and the first conjunct of a guard that it violates. `None` for a model
/// without clocks.
#[must_use]
pub fn timed_finding(cx: &Ctx<'_>, forbidden: &Forbidden, trace: &Trace) -> Option<FindingRecord> {
    if !cx.sts.is_timed() {
        return None;
    }
    let is_delay = |label: &&Label| matches!(label, Label::Delay(_));
    let is_message = |label: &Label| !matches!(label, Label::Delay(_));
    let is_it = |label: &Label| is_message(label) && *label == forbidden.label;
    // A message that might have been explained by one still under way is forbidden some time after it came.
    let before = match (trace.labels.split_last(), trace.labels.iter().rposition(is_it)) {
        (Some((last, before)), _) if is_message(last) => before,
        (_, Some(at)) => &trace.labels[..at],
        (_, None) => &trace.labels[..],
    };
    let waited = before.iter().rev().take_while(is_delay).fold(Rational::ZERO, |sum, label| match label {
        Label::Delay(time) => &sum + time,
        _ => sum,
    });
    let (word, event) = match &forbidden.label {
        // The silence may have been seen in parts: it has lasted since the last message.
        Label::Delay(by) => ("FAIL_dur", format!("silence for {} s", readable((&waited).max(by)))),
        // Quiescence has no duration of its own: nothing comes any more.
        Label::Quiescence if waited.is_zero() => ("FAIL_dur", "silence without end".to_owned()),
        Label::Quiescence => ("FAIL_dur", format!("after {} s silence without end", readable(&waited))),
        label => ("FAIL_out", format!("after {} s {}", readable(&waited), label.show(cx.pool, cx.sts))),
    };
    let guard = |refusal: &SwitchRefusal| match &refusal.blocked {
        SwitchBlock::Guard { conjunct } => Some(*conjunct),
        SwitchBlock::Overdue => find_deadline(cx, refusal.switch),
        _ => None,
    };
    Some(FindingRecord {
        word: word.into(),
        rule: String::new(),
        state: locations(cx, &forbidden.before).join(", "),
        event,
        because: forbidden.refusals.iter().find_map(guard).map(|part| cx.pool.show(part).to_string()),
    })
}

/// Returns the first conjunct of a guard that bounds a clock from above.
fn find_deadline(cx: &Ctx<'_>, switch: SwitchId) -> Option<Term> {
    let is_clock = |var: &VarId| cx.sts.clocks.iter().any(|clock| clock.var == *var);
    let parts = cx.pool.conjuncts(cx.sts.switches[switch].guard);
    parts.into_iter().find(|&part| match cx.pool.node(part) {
        // A clock on the lesser side has an upper bound, which is a deadline.
        TermNode::Lt(low, _) | TermNode::Le(low, _) => cx.pool.free_vars(*low).iter().any(is_clock),
        _ => false,
    })
}

/// The names of the locations of a belief, each once.
fn locations(cx: &Ctx<'_>, belief: &Belief) -> Vec<String> {
    let locations: BTreeSet<(LocId, String)> = match belief {
        Belief::Concrete(states) => {
            states.iter().map(|state| (state.loc, state.place_text(cx.sts))).collect()
        }
        Belief::Symbolic(states) => states.iter().map(|state| (state.loc, state.location_text(cx))).collect(),
        Belief::Unspecified => BTreeSet::new(),
    };
    locations.into_iter().map(|(_, place)| place).collect()
}

/// Returns the switch of a refusal with what blocks it, without values.
fn refusal_text(cx: &Ctx<'_>, refusal: &SwitchRefusal) -> String {
    let switch = &cx.sts.switches[refusal.switch].label;
    match &refusal.blocked {
        SwitchBlock::Guard { conjunct } => format!("{switch} `{}`", cx.pool.show(*conjunct)),
        SwitchBlock::Sort { field, .. } => format!("{switch} `{}`", cx.pool.var_info(*field).name),
        SwitchBlock::Path | SwitchBlock::Arity | SwitchBlock::Enabled | SwitchBlock::Overdue => {
            switch.to_string()
        }
    }
}

fn list_allowed(cx: &Ctx<'_>, forbidden: &Forbidden, offers: &[SwitchOffer]) -> Vec<Allowed> {
    let mut told: Vec<Allowed> = Vec::new();
    for offer in offers {
        let switch = cx.sts.switches[offer.switch].label.to_string();
        let differences = differences(cx, &forbidden.label, offer);
        let allowed = Allowed { label: offer_text(cx, offer), switch: Some(switch), differences };
        // Several states may offer the same message.
        if !told.contains(&allowed) {
            told.push(allowed);
        }
    }
    if forbidden.silence_allowed {
        let label = Label::Quiescence.show(cx.pool, cx.sts);
        told.push(Allowed { label, switch: None, differences: Vec::new() });
    }
    told
}

/// Returns the fields in which the observed message differs from an offer of the same message with fixed values.
fn differences(cx: &Ctx<'_>, observed: &Label, offer: &SwitchOffer) -> Vec<FieldDifference> {
    let (Label::Output(gate, got), Some(Label::Output(other, expected))) = (observed, fixed_label(cx, offer))
    else {
        return Vec::new();
    };
    if *gate != other {
        return Vec::new();
    }
    let fields = cx.sts.gates[*gate].fields.iter().zip(got.iter().zip(&expected));
    let different = fields.filter(|(_, (got, expected))| got != expected);
    let told = |(field, (got, expected)): (&VarId, (&Value, &Value))| FieldDifference {
        field: cx.pool.var_info(*field).name.to_string(),
        got: cx.pool.show_value(got).to_string(),
        expected: cx.pool.show_value(expected).to_string(),
    };
    different.map(told).collect()
}

/// Returns the conditions of an offer, without those that say nothing.
fn offer_conjuncts(cx: &Ctx<'_>, offer: &SwitchOffer) -> Vec<Term> {
    cx.pool.conjuncts(offer.when).into_iter().filter(|&part| !is_forward(cx, part)).collect()
}

/// Returns the message of an offer, if all its values are fixed.
pub(crate) fn fixed_label(cx: &Ctx<'_>, offer: &SwitchOffer) -> Option<Label> {
    let (fields, conjuncts) = (&cx.sts.gates[offer.gate].fields, offer_conjuncts(cx, offer));
    let value = |&field: &VarId| conjuncts.iter().find_map(|&part| cx.pool.value_given(part, field));
    let values: Option<Vec<Value>> = fields.iter().map(value).collect();
    // Every conjunct fixes one field. With another condition left the message would not be the whole offer.
    values.filter(|_| conjuncts.len() == fields.len()).map(|values| Label::Output(offer.gate, values))
}

/// The message of an offer: with the values that are fixed, and with the condition on the others.
pub(crate) fn offer_text(cx: &Ctx<'_>, offer: &SwitchOffer) -> String {
    if let Some(label) = fixed_label(cx, offer) {
        return label.show(cx.pool, cx.sts);
    }
    let conjuncts = offer_conjuncts(cx, offer);
    let mut given: Vec<Term> = Vec::new();
    let mut field_text = |&field: &VarId| {
        let name = &cx.pool.var_info(field).name;
        let fact = conjuncts.iter().find_map(|&part| Some((part, cx.pool.value_given(part, field)?)));
        match fact {
            Some((part, value)) => {
                given.push(part);
                format!("{name}: {}", cx.pool.show_value(&value))
            }
            None => name.to_string(),
        }
    };
    // Made before the conditions: what stands in the fields is taken out of them.
    let fields: Vec<String> = cx.sts.gates[offer.gate].fields.iter().map(&mut field_text).collect();
    let fields = if fields.is_empty() { String::new() } else { format!("({})", fields.join(", ")) };
    let gate = &cx.sts.gates[offer.gate].name;
    let shown = |&part: &Term| match cx.pool.node(part) {
        TermNode::Or(_) => format!("({})", cx.pool.show(part)),
        _ => cx.pool.show(part).to_string(),
    };
    let when: Vec<String> = conjuncts.iter().filter(|part| !given.contains(part)).map(shown).collect();
    if when.is_empty() {
        format!("!{gate}{fields}")
    } else {
        format!("!{gate}{fields} when {}", when.join(" && "))
    }
}

/// Returns whether `part` is a bound that every delay keeps, such as `0 <= delay`, and so says nothing.
fn is_forward(cx: &Ctx<'_>, part: Term) -> bool {
    let TermNode::Le(bound, delay) = *cx.pool.node(part) else { return false };
    let bound = cx.pool.as_value(bound).and_then(Value::as_real);
    let is_kept = bound.is_some_and(|bound| bound.is_zero() || bound.is_negative());
    is_kept && *cx.pool.node(delay) == TermNode::Var(cx.delay)
}

/// Returns the first states of a belief, at most [`MAX_LISTED_STATES`], for the explanation.
fn list_states(cx: &Ctx<'_>, belief: &Belief) -> Vec<StateRecord> {
    match belief {
        Belief::Concrete(states) => {
            let told = |state: &ioxide_model::concrete::ConcreteState| StateRecord {
                location: state.place_text(cx.sts),
                values: shown_values(cx, &state.values, |var| cx.sts.is_data(var)),
                path: Vec::new(),
            };
            states.iter().take(MAX_LISTED_STATES).map(told).collect()
        }
        Belief::Symbolic(states) => {
            states.iter().take(MAX_LISTED_STATES).map(|state| symbolic(cx, state)).collect()
        }
        Belief::Unspecified => Vec::new(),
    }
}

/// Returns a symbolic state for the explanation: location, store and path condition.
fn symbolic(cx: &Ctx<'_>, state: &SymState) -> StateRecord {
    StateRecord {
        location: state.location_text(cx),
        values: state.value_texts(cx),
        path: state.path.facts().iter().map(|&fact| cx.pool.show(fact).to_string()).collect(),
    }
}

fn shown_values(cx: &Ctx<'_>, values: &Valuation, wanted: impl Fn(VarId) -> bool) -> Vec<String> {
    let shown = |(var, value)| format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show_value(value));
    values.iter().filter(|(var, _)| wanted(*var)).map(shown).collect()
}

fn why_not(cx: &Ctx<'_>, forbidden: &Forbidden, refusal: &SwitchRefusal) -> WhyNot {
    let reason = match &refusal.blocked {
        SwitchBlock::Guard { conjunct } => {
            let free = cx.pool.free_vars(*conjunct);
            let mut values =
                shown_values(cx, &message_values(cx.sts, &forbidden.label), |var| free.contains(&var));
            values.extend(state_values(cx, forbidden, refusal.state, &free));
            let with = if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
            format!("`{}` does not hold{with}", cx.pool.show_condition(*conjunct))
        }
        SwitchBlock::Path => "its guard does not hold for any values that fit the messages so far".into(),
        SwitchBlock::Sort { field, value } => {
            let info = cx.pool.var_info(*field);
            let (value, sort) = (cx.pool.show_value(value), cx.pool.show_sort(info.sort));
            format!("`{}` is {value}, which is not of type {sort}", info.name)
        }
        SwitchBlock::Arity => "the message has a different number of fields".into(),
        SwitchBlock::Enabled => "the system can take it without an input, so it must not stay silent".into(),
        SwitchBlock::Overdue => "its deadline has passed".into(),
    };
    let switch = &cx.sts.switches[refusal.switch];
    WhyNot { state: refusal.state, switch: switch.label.to_string(), reason, doc: switch.doc.clone() }
}

/// The field values of a message.
fn message_values(sts: &Sts, label: &Label) -> Valuation {
    match label {
        Label::Input(gate, values) | Label::Output(gate, values) => {
            sts.gates[*gate].fields.iter().copied().zip(values.iter().cloned()).collect()
        }
        Label::Quiescence | Label::Delay(_) => Valuation::new(),
    }
}

/// The values of the variables in `free`, in the state at this position of the belief.
fn state_values(cx: &Ctx<'_>, forbidden: &Forbidden, position: usize, free: &[VarId]) -> Vec<String> {
    match &forbidden.before {
        Belief::Concrete(states) => match states.iter().nth(position) {
            Some(state) => shown_values(cx, &state.values, |var| free.contains(&var)),
            None => Vec::new(),
        },
        Belief::Symbolic(states) => match states.get(position) {
            Some(state) => {
                let wanted = state.store.iter(cx.sts).filter(|(var, _)| free.contains(var));
                let shown = |(var, term)| format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show(term));
                wanted.map(shown).collect()
            }
            None => Vec::new(),
        },
        Belief::Unspecified => Vec::new(),
    }
}

mod solve;

pub(crate) use self::solve::solve_offers;

#[cfg(test)]
mod tests {
    use ioxide_smt::stack::{SolverConfig, build_stack};
    use ioxide_symex::Ctx;

    use crate::judge::{JudgeConfig, judge, plain_trace};
    use crate::samples::{model, with_cx};

    /// Returns the labels that were allowed instead of the last one of `trace`.
    fn allowed_instead(text: &str, trace: &str) -> Vec<String> {
        let spec = model(text);
        let trace = plain_trace(&spec, trace).unwrap();
        let judged = with_cx(spec, |mut cx| judge(&mut cx, &trace, &JudgeConfig::default()));
        judged.forbidden.unwrap().allowed.into_iter().map(|allowed| allowed.label).collect()
    }

    /// Returns the reasons why the last label of `trace` was not allowed.
    fn reasons(text: &str, trace: &str) -> Vec<String> {
        let spec = model(text);
        let trace = plain_trace(&spec, trace).unwrap();
        let judged = with_cx(spec, |mut cx| judge(&mut cx, &trace, &JudgeConfig::default()));
        judged.forbidden.unwrap().why_not.into_iter().map(|why| why.reason).collect()
    }

    #[test]
    fn a_condition_is_quoted_as_it_was_written() {
        let model = "model M { input ask(k: 0..9) output value(v: int) var vals: map<int, int> = {1: 5} var \
                     asked: int = 0
            state idle { on ask { asked = k } -> busy }
            state busy { emit value when vals.get(asked) == some(v) -> idle } }";
        let trace = r#"{"label": "ask", "args": {"k": 1}}
            {"label": "value", "args": {"v": 6}}"#;
        let told = reasons(model, trace);
        assert!(told.iter().any(|reason| reason.contains("`vals.get(asked) == some(v)`")), "{told:?}");
    }

    /// The expected reply has values, however the model says them.
    #[test]
    fn expected_values_are_solved() {
        let allowed = |guard: &str| -> Vec<String> {
            let text = format!(
                "model M {{ input ask(k: 0..9) output value(s: int, v: int) var kept: list<int> = [3, 7] var n: int = 2
                state idle {{ on ask {{ n = k }} -> busy }} state busy {{ emit value when {guard} -> idle }} }}"
            );
            let trace = r#"{"label": "ask", "args": {"k": 4}}
                {"label": "value", "args": {"s": 0, "v": 0}}"#;
            let trace = plain_trace(&model(&text), trace).unwrap();
            let (mut model, mut solver) = (model(&text), build_stack(&SolverConfig::default()));
            let judged = judge(&mut Ctx::new(&mut model, &mut solver), &trace, &JudgeConfig::default());
            judged.forbidden.unwrap().allowed.into_iter().map(|allowed| allowed.label).collect()
        };
        assert_eq!(allowed("s == 1 && v + 1000 == n"), ["!value(s: 1, v: -996)"]);
        assert_eq!(allowed("v == 10 - s && s == n + 3"), ["!value(s: 7, v: 3)"]);
        assert_eq!(allowed("s >= n && s < n + 1 && v == kept[1] && v > 0"), ["!value(s: 4, v: 7)"]);
        // One of two is solved; the other is free, or has a condition.
        assert_eq!(allowed("2 * s == n && v >= s"), ["!value(s: 2, v) when v >= 2"]);
        assert_eq!(allowed("s == 1 && (v == 5 || v == n)"), ["!value(s: 1, v) when (v == 5 || v == 4)"]);
    }

    #[test]
    fn a_lower_bound_of_the_delay_is_told_unless_it_says_nothing() {
        let model = |guard: &str| {
            format!(
                "model M {{ input go output done output no clock w
                state a {{ on go {{ reset w }} -> b }}
                state b {{ emit done {guard} -> a }} state c {{ emit no -> c }} }}"
            )
        };
        let trace = "{\"label\": \"go\", \"after\": 1}\n{\"label\": \"no\", \"after\": 1}";
        assert_eq!(allowed_instead(&model(""), trace), ["!done"]);
        assert_eq!(allowed_instead(&model("when w >= 5s"), trace), ["!done when delay >= 5.0"]);
    }

    /// Defect: quiescence where something had to come was told as "silence for 0 s".
    #[test]
    fn no_silence_of_no_length_is_told() {
        let text = "model M { input go output done clock w
            state a { on go { reset w } -> b } state b { emit done when w <= 2s -> a } }";
        let finding = |trace: &str| {
            let trace = plain_trace(&model(text), trace).unwrap();
            let (mut model, mut solver) = (model(text), build_stack(&SolverConfig::default()));
            let judged = judge(&mut Ctx::new(&mut model, &mut solver), &trace, &JudgeConfig::default());
            judged.finding.unwrap().event
        };
        assert_eq!(finding("{\"label\": \"go\"}\n{\"quiescence\": true}"), "silence without end");
        let later = "{\"label\": \"go\"}\n{\"quiescence\": true, \"after\": 1}";
        assert_eq!(finding(later), "after 1 s silence without end");
        assert_eq!(finding("{\"label\": \"go\"}\n{\"after\": 1}\n{\"after\": 2}"), "silence for 3 s");
        // A wait of no time is no label.
        let trace = plain_trace(&model(text), "{\"label\": \"go\"}\n{\"after\": 0}\n{\"time\": 0}").unwrap();
        assert_eq!(trace.len(), 1);
    }
}
