//! A walk as the page sees it: the steps, the belief, the labels possible next, and the reasons why others are not.

use ioxide_model::compose::PartSystem;
use ioxide_model::concrete::ConcreteState;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, LocId};
use ioxide_model::term::VarId;
use ioxide_record::event::Explanation;
use ioxide_report::describe::{kind_word, term_text};
use ioxide_symex::{Belief, Ctx, SymState};
use serde::Serialize;

use super::model::FieldView;
use super::{VERSION, bounded_text};
use crate::walk::choices::SwitchChoice;
use crate::walk::refused::{RefusedSwitch, refusal_reason};
use crate::walk::symbolic::{SwitchPath, SwitchPossibility};
use crate::walk::{ModelWalk, TakenStep, read};

/// The number of states of a belief that are listed. Chosen by feel, for one screen; the number of all is shown.
const MAX_LISTED_STATES: usize = 50;
/// The number of steps that are listed; of a longer walk, the last ones. Chosen by feel: the beginning of a longer
/// walk is of little interest.
const MAX_LISTED_STEPS: usize = 500;

/// The end of a walk.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WalkView {
    /// The version of the format.
    pub version: u32,
    /// The revision of the model that was walked through.
    pub revision: u32,
    /// The steps of the path that could be taken, written out, without the recorded ones.
    pub path: Vec<String>,
    /// The recorded run the walk begins with; `None` if it begins at the initial state.
    pub base: Option<BaseView>,
    /// The number of steps taken.
    pub n_steps: usize,
    /// The last steps taken.
    pub steps: Vec<StepView>,
    /// The step that could not be read or taken; the walk ends before it.
    pub problem: Option<ProblemView>,
    /// The step that the model forbids; the walk ends before it.
    pub forbidden: Option<ForbiddenView>,
    /// The states the model may be in.
    pub belief: BeliefView,
    /// The switches that can be taken next, with their messages.
    pub choices: Vec<ChoiceView>,
    /// The switches that start here and cannot be taken, with the reasons.
    pub refused: Vec<RefusedView>,
    /// True if the model allows quiescence here; false for a walk along switches.
    pub silence: bool,
    /// The number of queries on the way that the solver left unanswered.
    pub doubts: usize,
    /// True if the belief may lack states.
    pub truncated: bool,
}

/// The recorded steps a walk begins with.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BaseView {
    /// The position of the record.
    pub record: usize,
    /// The position of the run.
    pub run: usize,
    /// The number of its steps taken.
    pub steps: usize,
}

/// A step.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StepView {
    number: usize,
    text: String,
    kind: &'static str,
    switches: Vec<usize>,
}

/// A step that cannot be read or taken.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ProblemView {
    /// Its position in the path, from 0.
    pub position: usize,
    /// The step as it was written.
    pub text: String,
    /// The reason.
    pub why: String,
}

/// A step that is forbidden.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ForbiddenView {
    /// Its position in the path, from 0.
    pub position: usize,
    /// The step as it is written in a path.
    pub step: String,
    /// The reason.
    pub explanation: ExplanationView,
}

/// An observation that is not allowed, with the labels allowed in its place and the reasons.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExplanationView {
    observed: String,
    allowed: Vec<AllowedView>,
    n_states: usize,
    why_not: Vec<WhyNotView>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct AllowedView {
    label: String,
    switch: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct WhyNotView {
    state: String,
    switch: String,
    reason: String,
}

/// The states the model may be in.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BeliefView {
    kind: BeliefForm,
    /// The number of states.
    n: usize,
    /// The first of these states.
    states: Vec<StateView>,
}

/// The form in which states are known.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
enum BeliefForm {
    /// Each state has a value for every variable.
    Concrete,
    /// Each state has a term for every variable, and a path condition.
    Symbolic,
    /// No states: the model no longer restricts the system.
    Unspecified,
}

/// A state.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StateView {
    location: usize,
    values: Vec<(String, String)>,
    path: Vec<String>,
    /// The values by part, in a system made of parts; `values` is empty then.
    parts: Vec<PartStateView>,
}

/// The location of a part, and the values of its variables.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PartStateView {
    name: String,
    place: String,
    values: Vec<(String, String)>,
}

/// A switch that can be taken next.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChoiceView {
    switch: usize,
    gate: usize,
    kind: &'static str,
    /// The message, with values where they are fixed.
    message: String,
    /// The condition on the fields; empty if it is true or the values are fixed.
    when: String,
    fields: Vec<FieldView>,
    /// The step, if the values are fixed.
    step: Option<String>,
    possible: PossibleView,
}

/// The possibility of taking a switch.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
enum PossibleView {
    Yes,
    Unknown,
    No,
}

/// A switch that cannot be taken.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RefusedView {
    switch: usize,
    why: String,
}

impl RefusedView {
    /// Makes the view of a refused switch, with its reason cut to a bounded length.
    fn new(refused: &RefusedSwitch) -> Self {
        Self { switch: refused.switch.index(), why: bounded_text(&refused.why) }
    }
}

impl WalkView {
    /// Returns the view of the end of `walk`.
    pub fn new(walk: &mut ModelWalk<'_>) -> Self {
        let belief = belief_view(&walk.cx, walk.monitor().belief());
        let choices = walk.choices();
        let choices = choices.iter().map(|choice| choice_view(&walk.cx, choice)).collect();
        let refused = walk.refused_switches().iter().map(RefusedView::new).collect();
        let past = walk.steps();
        let first = past.len().saturating_sub(MAX_LISTED_STEPS);
        let steps =
            past.iter().enumerate().skip(first).map(|(at, taken)| step_view(&walk.cx, at, taken)).collect();
        Self {
            version: VERSION,
            revision: 0,
            path: Vec::new(),
            base: None,
            n_steps: past.len(),
            steps,
            problem: None,
            forbidden: None,
            belief,
            choices,
            refused,
            silence: walk.may_be_silent(),
            doubts: walk.monitor().count_doubts(),
            truncated: walk.monitor().lost_states().is_some(),
        }
    }

    /// Returns the view of the end of `path`.
    pub fn from_switch_path(cx: &mut Ctx<'_>, path: &SwitchPath) -> Self {
        let first = path.switches.len().saturating_sub(MAX_LISTED_STEPS);
        let told_step = |(at, &switch): (usize, &ioxide_model::sts::SwitchId)| StepView {
            number: at + 1,
            text: bounded_text(&cx.sts.switches[switch].label),
            kind: kind_word(cx.sts.kind_of(&cx.sts.switches[switch])),
            switches: vec![switch.index()],
        };
        let steps = path.switches.iter().enumerate().skip(first).map(told_step).collect();
        let states = vec![symbolic_state_view(cx, path.state())];
        let open = path.open_switches(cx);
        let mut refused = Vec::new();
        for (switch, _) in open.iter().filter(|(_, possible)| *possible == SwitchPossibility::No) {
            let why = refusal_reason(cx, path.state(), *switch);
            refused.extend(why.map(|why| RefusedView { switch: switch.index(), why: bounded_text(&why) }));
        }
        let choices =
            open.iter().map(|(switch, possible)| switch_choice_view(cx, *switch, possible)).collect();
        Self {
            version: VERSION,
            revision: 0,
            path: path.switches.iter().map(|&id| cx.sts.switches[id].label.to_string()).collect(),
            base: None,
            n_steps: path.switches.len(),
            steps,
            problem: None,
            forbidden: None,
            belief: BeliefView { kind: BeliefForm::Symbolic, n: 1, states },
            choices,
            refused,
            silence: false,
            doubts: path.n_doubtful(),
            truncated: false,
        }
    }
}

impl ExplanationView {
    /// Returns the view of `explanation`.
    #[must_use]
    pub fn new(explanation: &Explanation) -> Self {
        let state = |at: usize| match explanation.states.get(at) {
            Some(state) => bounded_text(&state.location),
            None => String::new(),
        };
        let allowed = |allowed: &ioxide_record::event::Allowed| AllowedView {
            label: bounded_text(&allowed.label),
            switch: allowed.switch.as_deref().map(bounded_text),
        };
        let why_not = |why: &ioxide_record::event::WhyNot| WhyNotView {
            state: state(why.state),
            switch: bounded_text(&why.switch),
            reason: bounded_text(&why.reason),
        };
        Self {
            observed: bounded_text(&explanation.observed),
            allowed: explanation.allowed.iter().map(allowed).collect(),
            n_states: explanation.n_states,
            why_not: explanation.why_not.iter().map(why_not).collect(),
        }
    }
}

fn step_view(cx: &Ctx<'_>, at: usize, taken: &TakenStep) -> StepView {
    let kind = match &taken.label {
        Label::Input(gate, _) | Label::Output(gate, _) => kind_word(cx.sts.gates[*gate].kind),
        Label::Quiescence => "quiescence",
        Label::Delay(_) => "delay",
    };
    StepView {
        number: at + 1,
        text: bounded_text(&read::label_text(cx.pool, cx.sts, &taken.label)),
        kind,
        switches: taken.switches.iter().map(|id| id.index()).collect(),
    }
}

fn belief_view(cx: &Ctx<'_>, belief: &Belief) -> BeliefView {
    let n = belief.count_states().unwrap_or(0);
    match belief {
        Belief::Concrete(states) => {
            let states =
                states.iter().take(MAX_LISTED_STATES).map(|state| concrete_state_view(cx, state)).collect();
            BeliefView { kind: BeliefForm::Concrete, n, states }
        }
        Belief::Symbolic(states) => {
            let states =
                states.iter().take(MAX_LISTED_STATES).map(|state| symbolic_state_view(cx, state)).collect();
            BeliefView { kind: BeliefForm::Symbolic, n, states }
        }
        Belief::Unspecified => BeliefView { kind: BeliefForm::Unspecified, n, states: Vec::new() },
    }
}

fn concrete_state_view(cx: &Ctx<'_>, state: &ConcreteState) -> StateView {
    let values = state.values.iter().map(|(var, value)| (var, cx.pool.show_value(value))).collect();
    state_view(cx, state.loc, values, Vec::new())
}

/// Returns the view of a state whose variables have these values; those of a composed system go to their parts.
fn state_view(cx: &Ctx<'_>, loc: LocId, values: Vec<(VarId, String)>, path: Vec<String>) -> StateView {
    let name = |var: VarId| cx.pool.var_info(var).name.to_string();
    let Some(composition) = &cx.sts.composition else {
        let values =
            values.iter().map(|(var, value)| (bounded_text(&name(*var)), bounded_text(value))).collect();
        return StateView { location: loc.index(), values, path, parts: Vec::new() };
    };
    let part = |part: &PartSystem| {
        let own = |(var, _): &&(VarId, String)| part.vars.contains(var);
        let is_control = |var: VarId| part.control == Some(var);
        let place = values.iter().find(|(var, _)| is_control(*var)).map(|(_, place)| bounded_text(place));
        let short = |var: VarId| name(var).trim_start_matches(&format!("{}.", part.name)).to_owned();
        let values = values.iter().filter(own).filter(|(var, _)| !is_control(*var));
        PartStateView {
            name: bounded_text(&part.name),
            place: place
                .unwrap_or_else(|| part.places.first().map_or_else(String::new, |place| bounded_text(place))),
            values: values.map(|(var, value)| (bounded_text(&short(*var)), bounded_text(value))).collect(),
        }
    };
    let parts = composition.parts.iter().map(part).collect();
    StateView { location: loc.index(), values: Vec::new(), path, parts }
}

fn symbolic_state_view(cx: &Ctx<'_>, state: &SymState) -> StateView {
    let values = state.store.iter(cx.sts).map(|(var, term)| (var, term_text(cx.pool, term))).collect();
    let path = state.path.facts().iter().map(|&fact| bounded_text(&term_text(cx.pool, fact))).collect();
    state_view(cx, state.loc, values, path)
}

fn choice_view(cx: &Ctx<'_>, choice: &SwitchChoice) -> ChoiceView {
    let gate = &cx.sts.gates[choice.gate];
    let fixed = choice.fixed_label(cx);
    let message = match &fixed {
        Some(label) => label.show(cx.pool, cx.sts),
        None => {
            let names: Vec<&str> = gate.fields.iter().map(|&field| &*cx.pool.var_info(field).name).collect();
            let mark = if gate.kind == GateKind::Output { '!' } else { '?' };
            format!("{mark}{}({})", gate.name, names.join(", "))
        }
    };
    let when = choice.field_condition().filter(|&when| fixed.is_none() && !cx.pool.is_true(when));
    ChoiceView {
        switch: choice.switch.index(),
        gate: choice.gate.index() - 1,
        kind: kind_word(gate.kind),
        message: bounded_text(&message),
        when: when.map(|when| bounded_text(&term_text(cx.pool, when))).unwrap_or_default(),
        fields: gate.fields.iter().map(|&field| FieldView::new(cx.pool, field)).collect(),
        step: fixed.map(|label| read::label_text(cx.pool, cx.sts, &label)),
        possible: if choice.is_doubtful { PossibleView::Unknown } else { PossibleView::Yes },
    }
}

fn switch_choice_view(
    cx: &Ctx<'_>,
    id: ioxide_model::sts::SwitchId,
    possible: &SwitchPossibility,
) -> ChoiceView {
    let switch = &cx.sts.switches[id];
    ChoiceView {
        switch: id.index(),
        gate: switch.gate.index().saturating_sub(1),
        kind: kind_word(cx.sts.kind_of(switch)),
        message: bounded_text(&switch.label),
        when: if cx.pool.is_true(switch.guard) {
            String::new()
        } else {
            bounded_text(&term_text(cx.pool, switch.guard))
        },
        fields: Vec::new(),
        step: Some(switch.label.to_string()),
        possible: match possible {
            SwitchPossibility::Yes => PossibleView::Yes,
            SwitchPossibility::Unknown(_) => PossibleView::Unknown,
            SwitchPossibility::No => PossibleView::No,
        },
    }
}
