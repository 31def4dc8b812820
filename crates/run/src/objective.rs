//! Observation objectives: the traces after which an observation is judged.
//!
//! \[FTW05]'s ioco_F asks of a set F of suspension traces that, after each of them, the system does
//! only what the specification allows. F is all traces unless a goal of the model narrows it:
//!
//! | goal | a trace is in F while |
//! | --- | --- |
//! | observer | the observer has not said miss; once it has said hit, whatever follows is in F |
//! | path | some run of the model with this trace is before the start of the path, or follows it; then all |
//! | reach | the specification may be where the goal wants it |
//!
//! An observer sees what the tester sees (messages, silence, time) and nothing else, so a trace says
//! where it is and what its variables hold. A path is about switches, and internal ones are not
//! seen: a second monitor walks the specification unrolled (`path`) along the path, so internal steps, silence,
//! unknown values and time mean there what they mean everywhere.
//!
//! Where messages may have crossed, a trace is in F only if it is in [every order](orders) that is believed. (In a
//! timed model an input counts as taken where it was sent.)
//!
//! *Promises.* Outside F nothing is a failure. Where it cannot be decided whether a trace is in F,
//! it is not, and that is [counted](ObjectiveWatch::doubts).

#[cfg(test)]
mod definition_tests;
pub mod orders;
mod path;

use std::sync::Arc;

use ioxide_model::goal::{Goal, GoalKind, ObservedEvent, Observer, ObserverRule, ObserverTarget, PathStep};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::LocId;
use ioxide_model::term::{Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{Belief, Ctx, SymState, Tolerance};

use self::path::PathWatch;

/// A set of traces.
#[derive(Clone, Debug)]
pub struct Objective {
    /// Its name in the model.
    pub name: Arc<str>,
    kind: ObjectiveKind,
}

#[derive(Clone, Debug)]
enum ObjectiveKind {
    Observer(Observer),
    Path(Vec<PathStep>),
    Reach { location: Option<LocId>, when: Term },
}

impl Objective {
    /// Returns the set of traces that `goal` is about; `None` for an invariant or a written test.
    #[must_use]
    pub fn from_goal(goal: &Goal) -> Option<Self> {
        let kind = match &goal.kind {
            GoalKind::Observer(observer) => ObjectiveKind::Observer(observer.clone()),
            GoalKind::Path(path) => ObjectiveKind::Path(path.clone()),
            GoalKind::Reach { location, when } => ObjectiveKind::Reach { location: *location, when: *when },
            GoalKind::Always(_)
            | GoalKind::Sometimes(_)
            | GoalKind::Assume(_)
            | GoalKind::Response(_)
            | GoalKind::Test(_) => return None,
        };
        Some(Self { name: Arc::clone(&goal.name), kind })
    }
}

/// Watches a trace grow.
#[derive(Clone, Debug, Default)]
pub struct ObjectiveWatch {
    tolerance: Tolerance,
    /// The stage of an observer.
    stage: usize,
    /// The variables and clocks of an observer, once it has seen something.
    values: Option<Valuation>,
    /// The watch over a path, once something was seen.
    path: Option<Box<PathWatch>>,
    end: Option<ObjectiveEnd>,
    doubts: usize,
}

/// The final state of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObjectiveEnd {
    /// Every continuation is inside.
    Inside,
    /// Every continuation is outside.
    Outside,
}

impl ObjectiveWatch {
    /// A watch over traces whose instants are observed within `tolerance`.
    #[must_use]
    pub fn with_tolerance(tolerance: Tolerance) -> Self {
        Self { tolerance, ..Self::default() }
    }

    /// Returns the number of times that it was not decided whether a trace is inside; it was taken to be outside.
    #[must_use]
    pub fn doubts(&self) -> usize {
        self.doubts
    }

    /// Adds a number of times that it was not decided elsewhere.
    pub fn doubt(&mut self, times: usize) {
        self.doubts += times;
    }

    /// Returns whether the trace so far is in `objective`; `belief` holds the states that the specification may be in.
    /// False, and counted as a doubt, if it cannot be decided.
    #[must_use]
    pub fn is_inside(&mut self, cx: &mut Ctx<'_>, objective: &Objective, belief: &Belief) -> bool {
        // Decided for good: the objective says the same of every continuation.
        if let Some(end) = self.end {
            return end == ObjectiveEnd::Inside;
        }
        let inside = match &objective.kind {
            ObjectiveKind::Observer(_) => Some(true),
            ObjectiveKind::Path(_) => self.path.as_ref().map_or(Some(true), |path| path.is_on(cx)),
            ObjectiveKind::Reach { location, when } => is_there(cx, *location, *when, belief),
        };
        self.doubts += usize::from(inside.is_none());
        inside.unwrap_or(false)
    }

    /// Notes that the trace grows by `label`.
    pub fn advance(&mut self, cx: &mut Ctx<'_>, objective: &Objective, label: &Label) {
        if self.end.is_some() {
            return;
        }
        match &objective.kind {
            ObjectiveKind::Observer(observer) => self.observe(cx, observer, label),
            ObjectiveKind::Path(path) => self.follow_path(cx, path, label),
            ObjectiveKind::Reach { .. } => (),
        }
    }

    /// Returns whether both watches will say the same of every continuation.
    fn is_same(&self, other: &Self) -> bool {
        let is_same_path = match (&self.path, &other.path) {
            (Some(one), Some(other)) => one.watch_state() == other.watch_state(),
            (one, other) => one.is_none() && other.is_none(),
        };
        (self.stage, self.end, &self.values) == (other.stage, other.end, &other.values) && is_same_path
    }

    /// Moves an observer on by one label.
    fn observe(&mut self, cx: &Ctx<'_>, observer: &Observer, label: &Label) {
        // Made at the first label: the watch is created without the objective, which comes with each call.
        let mut values = self.values.take().unwrap_or_else(|| at_start(cx, observer));
        if let Label::Delay(time) = label {
            advance_clocks(&mut values, &observer.clocks, time);
        }
        let (seen, fields) = observed_event(cx, label);
        let scope: Valuation = values.iter().map(|(var, value)| (var, value.clone())).chain(fields).collect();
        let rules = observer.rules.iter().filter(|rule| rule.from == self.stage && rule.on == seen);
        // The first rule that holds is taken, in the order of the model. Guards and updates both read the values
        // before the rule, with the fields of the message.
        for rule in rules {
            match cx.pool.holds(rule.when, &scope) {
                Ok(true) => return self.apply_rule(cx, rule, &scope, values),
                Ok(false) => (),
                Err(_) => return self.give_up(),
            }
        }
        self.values = Some(values);
    }

    /// Moves the observer by `rule`.
    fn apply_rule(&mut self, cx: &Ctx<'_>, rule: &ObserverRule, scope: &Valuation, mut values: Valuation) {
        for &(var, term) in &rule.update {
            match cx.pool.eval(term, scope) {
                Ok(value) => values.set(var, value),
                Err(_) => return self.give_up(),
            }
        }
        for &clock in &rule.resets {
            values.set(clock, Value::Real(Rational::ZERO));
        }
        self.values = Some(values);
        match rule.to {
            ObserverTarget::Stage(stage) => self.stage = stage,
            ObserverTarget::Hit => self.end = Some(ObjectiveEnd::Inside),
            ObserverTarget::Miss => self.end = Some(ObjectiveEnd::Outside),
        }
    }

    /// Ends the observation as outside, because an update or a guard of the observer cannot be evaluated.
    fn give_up(&mut self) {
        self.doubts += 1;
        self.end = Some(ObjectiveEnd::Outside);
    }

    fn follow_path(&mut self, cx: &mut Ctx<'_>, path: &[PathStep], label: &Label) {
        let tolerance = &self.tolerance;
        let watch = self.path.get_or_insert_with(|| Box::new(PathWatch::new(cx, path, tolerance.clone())));
        // At its end everything that follows is inside, and further labels have no place on the path.
        if !watch.is_at_end(cx) {
            watch.advance(cx, label);
        }
        if watch.has_left() {
            self.end = Some(ObjectiveEnd::Outside);
        } else if watch.is_at_end(cx) {
            self.end = Some(ObjectiveEnd::Inside);
        }
    }
}

/// The variables of an observer before anything was seen.
fn at_start(cx: &Ctx<'_>, observer: &Observer) -> Valuation {
    let nothing = Valuation::default();
    let vars =
        observer.vars.iter().filter_map(|&(var, init)| Some((var, cx.pool.eval(init, &nothing).ok()?)));
    vars.chain(observer.clocks.iter().map(|&clock| (clock, Value::Real(Rational::ZERO)))).collect()
}

fn advance_clocks(values: &mut Valuation, clocks: &[VarId], time: &Rational) {
    for &clock in clocks {
        let now = values.get(clock).and_then(Value::to_rational).unwrap_or(Rational::ZERO);
        values.set(clock, Value::Real(&now + time));
    }
}

/// Returns the event that an observer sees in `label`, with the fields of a message.
fn observed_event(cx: &Ctx<'_>, label: &Label) -> (ObservedEvent, Vec<(VarId, Value)>) {
    match label {
        Label::Input(gate, values) | Label::Output(gate, values) => {
            let fields = cx.sts.gates[*gate].fields.iter().copied();
            (ObservedEvent::Message(*gate), fields.zip(values.iter().cloned()).collect())
        }
        Label::Quiescence | Label::Delay(_) => (ObservedEvent::Quiet, Vec::new()),
    }
}

/// Returns whether the specification may be at `location` with `when`; `None` if that is not known.
fn is_there(cx: &mut Ctx<'_>, location: Option<LocId>, when: Term, belief: &Belief) -> Option<bool> {
    let is_right = |loc: LocId| location.is_none_or(|wanted| wanted == loc);
    match belief {
        Belief::Concrete(states) => Some(
            states
                .iter()
                .any(|state| is_right(state.loc) && cx.pool.holds(when, &state.values).unwrap_or(false)),
        ),
        Belief::Symbolic(states) => {
            any_sat(states.iter().filter(|state| is_right(state.loc)).map(|state| may_hold(cx, state, when)))
        }
        Belief::Unspecified => Some(false),
    }
}

/// Returns whether `when` may hold in `state`.
fn may_hold(cx: &mut Ctx<'_>, state: &SymState, when: Term) -> SolverDecision {
    let store = state.store.substitution(cx.sts);
    let mut facts = state.path.facts().to_vec();
    facts.push(cx.pool.substitute(when, &store));
    cx.decide(&facts)
}

/// Returns whether one of the answers is Sat; `None` if none is and one is unknown.
fn any_sat(answers: impl Iterator<Item = SolverDecision>) -> Option<bool> {
    let mut found = Some(false);
    for answer in answers {
        match answer {
            SolverDecision::Sat => return Some(true),
            SolverDecision::Unsat => (),
            // Later states may still be Sat, so the search goes on.
            SolverDecision::Unknown(_) => found = None,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{CampaignConfig, OnFailure, RunCounts};
    use crate::judge::{Inputs, JudgeConfig, judge};
    use crate::run::RunConfig;
    use crate::samples::{VENDING, model, test};

    const GOALS: &str = "
        purpose big { state start { on coin when n > 5 -> miss } }
        purpose serving: reach serving
        purpose sweet: pay, change, coffee
        state idle {";

    /// The runs by outcome, judged within the objective `name`, of a system that gives too much change.
    fn counts(name: Option<&str>, sut: &str) -> RunCounts {
        let spec = model(&VENDING.replace("state idle {", GOALS));
        let goal = name.map(|name| spec.sts.goals.iter().find(|goal| *goal.name == *name).unwrap());
        let objective = goal.map(|goal| Arc::new(Objective::from_goal(goal).unwrap()));
        let config = CampaignConfig {
            runs: 60,
            on_failure: OnFailure::GoOn,
            shrink: None,
            run: RunConfig { objective, ..RunConfig::default() },
            ..CampaignConfig::default()
        };
        test(&spec, &model(sut), 30, &config).1.counts
    }

    #[test]
    fn outside_the_objective_nothing_is_a_failure() {
        let generous = VENDING.replace("paid - 2", "paid - 1");
        assert_eq!(counts(None, &generous).failed, 60);
        // Wrong only where more than 5 was paid: there the observer says miss, nothing is judged.
        let only_big = VENDING.replace("paid - 2", "if paid > 5 then paid - 1 else paid - 2");
        let all = counts(None, &only_big);
        assert!(all.failed > 40, "{all:?}");
        let within = counts(Some("big"), &only_big);
        assert_eq!(within.failed, 0);
        assert!(within.inconclusive > 40, "{within:?}");
        assert!(counts(Some("big"), &generous).failed > 0);
    }

    #[test]
    fn a_place_to_reach_judges_what_happens_there() {
        // Too much change is given before `serving`; what is served there is right.
        let generous = VENDING.replace("paid - 2", "paid - 1");
        assert_eq!(counts(Some("serving"), &generous).failed, 0);
        let sweet = VENDING.replace("coffee: emit coffee {", "coffee: emit change(n: 7) {");
        assert!(counts(Some("serving"), &sweet).failed > 0);
    }

    #[test]
    fn a_path_judges_its_beginnings_and_what_follows() {
        let generous = VENDING.replace("paid - 2", "paid - 1");
        assert!(counts(Some("sweet"), &generous).failed > 0, "after `pay` only change is allowed");
        // Wrong in the second round only: on the path if coffee was served in the first.
        let spoiled = VENDING
            .replace("var paid: int = 0", "var paid: int = 0 var served: int = 0")
            .replace(
                "emit tea { paid = 0 }",
                "emit tea { paid = 0, served = if served == 0 then 1 else served }",
            )
            .replace(
                "emit coffee { paid = 0 }",
                "emit coffee { paid = 0, served = if served == 0 then 2 else served }",
            )
            .replace("paid - 2)", "if served == 1 then paid - 1 else paid - 2)");
        assert!(counts(None, &spoiled).failed > 0);
        assert_eq!(counts(Some("sweet"), &spoiled).failed, 0);
    }

    /// Returns the judgement on the lines of `trace` within the objective `name` of `text`: fail or outside; `None` if
    /// nothing is forbidden.
    #[track_caller]
    fn verdict(text: &str, name: &str, trace: &str) -> Option<&'static str> {
        verdict_on(text, name, trace, Inputs::Taken)
    }

    #[track_caller]
    fn verdict_on(text: &str, name: &str, trace: &str, inputs: Inputs) -> Option<&'static str> {
        let mut spec = model(text);
        let trace = crate::judge::plain_trace(&spec, trace).unwrap();
        let goal = spec.sts.goals.iter().find(|goal| *goal.name == *name).unwrap();
        let objective = Objective::from_goal(goal).unwrap();
        let mut solver = ioxide_smt::brute::BruteSolver::new();
        let mut cx = Ctx::new(&mut spec, &mut solver);
        let config = JudgeConfig { objective: Some(&objective), inputs, ..JudgeConfig::default() };
        let judged = judge(&mut cx, &trace, &config);
        judged.forbidden.map(|_| if judged.is_outside { "outside" } else { "fail" })
    }

    #[test]
    fn a_path_was_left_at_an_internal_step() {
        let text = include_str!("../../../examples/slot-machine.iox");
        let coin = "{\"label\":\"coin\"}\n";
        let tray = |n: i64| format!("{{\"label\":\"tray\",\"args\":{{\"coins\":{n}}}}}\n");
        let quiet = "{\"quiescence\":true}\n";
        let check =
            |trace: String, expected| assert_eq!(verdict(text, "first_win", &trace), expected, "{trace}");
        check([coin, &tray(1), coin, &tray(1)].concat(), None);
        check([coin, &tray(1), coin, &tray(5)].concat(), Some("fail"));
        check([coin, &tray(2)].concat(), Some("fail"));
        // The first player lost: this is another story.
        check([coin, quiet, coin, &tray(5)].concat(), Some("outside"));
    }

    const UNKNOWN: &str = "model M {
        input go  output got(n: int)  output bad
        var stock: 0..9
        state shop { sell: on go -> selling }
        state selling { sold: emit got(n: stock) when stock > 0 { stock = stock - 1 } -> shop }
        purpose rich: reach selling when stock >= 5
        purpose never: reach selling when stock > 9
    }";

    #[test]
    fn a_place_to_reach_never_judged_where_values_are_unknown() {
        let go = "{\"label\":\"go\"}\n";
        let got = |n: i64| format!("{{\"label\":\"got\",\"args\":{{\"n\":{n}}}}}\n");
        let bad = "{\"label\":\"bad\"}\n";
        let check = |name: &str, trace: String, expected| {
            assert_eq!(verdict(UNKNOWN, name, &trace), expected, "{name}: {trace}");
        };
        check("rich", [go, bad].concat(), Some("fail"));
        check("never", [go, bad].concat(), Some("outside"));
        check("rich", [go, &got(6), go, &got(6)].concat(), Some("fail"));
        check("rich", [go, &got(5), go, bad].concat(), Some("outside"));
    }

    const COUNTED: &str = "model M {
        input go  output tick  output bad
        state idle { start: on go -> ticking }
        state ticking { tick: emit tick }
        purpose few {
            var seen: int = 0
            state counting {
                emit tick when seen < 2 { seen = seen + 1 }
                emit tick -> miss
            }
        }
        purpose silent {
            state waiting { quiet -> miss  on go -> hit }
        }
    }";

    #[test]
    fn an_observer_counts_and_hears_silence() {
        let line = |word: &str| match word {
            "quiet" => "{\"quiescence\":true}\n".to_owned(),
            label => format!("{{\"label\":\"{label}\"}}\n"),
        };
        let check = |name: &str, trace: &str, expected| {
            let lines: String = trace.split(' ').map(line).collect();
            assert_eq!(verdict(COUNTED, name, &lines), expected, "{name}: {trace}");
        };
        check("few", "go tick tick bad", Some("fail"));
        check("few", "go tick tick tick bad", Some("outside"));
        check("silent", "quiet go bad", Some("outside"));
        check("silent", "go bad", Some("fail"));
        check("silent", "go quiet", Some("fail"));
    }

    const CROSSING: &str = "model M {
        input stop  output tick  output stopped  output bad
        state running { tick: emit tick  stop: on stop -> stopping }
        state stopping { told: emit stopped -> over }
        state over {}
        purpose stop_first { state s { on stop -> hit  emit tick -> miss } }
        purpose tick_first { state s { on stop -> miss  emit tick -> hit } }
        purpose both: stop, told
    }";

    #[test]
    fn an_input_under_way_counts_where_it_can_have_been_taken() {
        let lines = |trace: &str| -> String {
            trace.split(' ').map(|label| format!("{{\"label\":\"{label}\"}}\n")).collect()
        };
        let check = |name: &str, trace: &str, expected| {
            let found = verdict_on(CROSSING, name, &lines(trace), Inputs::Sent);
            assert_eq!(found, expected, "{name}: {trace}");
        };
        // It ticked before it was stopped, whatever was sent first.
        check("stop_first", "stop tick stopped bad", Some("outside"));
        check("tick_first", "stop tick stopped bad", Some("fail"));
        check("stop_first", "stop stopped bad", Some("fail"));
        check("tick_first", "stop stopped bad", Some("outside"));
        // Nobody knows yet whether it was stopped: every order must be inside.
        check("stop_first", "stop bad", Some("fail"));
        check("tick_first", "stop bad", Some("outside"));
        check("tick_first", "tick stop bad", Some("fail"));
        check("both", "stop tick stopped bad", Some("outside"));
        check("both", "stop stopped bad", Some("fail"));
    }

    const TIMED: &str = "model M {
        input go  output done  output bad
        clock c
        state idle { start: on go { reset c } -> busy }
        state busy { done: emit done when c <= 10s -> idle }
        purpose quick {
            clock w
            state start { on go { reset w } -> running }
            state running { quiet when w > 2s -> miss  emit done when w <= 2s -> hit }
        }
    }";

    #[test]
    fn an_observer_measures_time() {
        let check = |trace: &str, expected| {
            let line = |word: &str| {
                let (after, label) = word.split_once(' ').unwrap();
                format!("{{\"after\":{after},\"label\":\"{label}\"}}\n")
            };
            let lines: String = trace.split(", ").map(line).collect();
            assert_eq!(verdict(TIMED, "quick", &lines), expected, "{trace}");
        };
        check("1 go, 1 done", None);
        check("1 go, 1 bad", Some("fail"));
        check("5 go, 3 bad", Some("outside"));
        check("1 go, 1 done, 20 go, 3 bad", Some("fail"));
    }
}
