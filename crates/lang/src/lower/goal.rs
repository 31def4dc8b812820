//! Lowering of purposes, properties and tests.

use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::goal::{
    Goal, GoalKind, ObservedEvent, Observer, ObserverRule, ObserverTarget, PathStep, ResponseGoal, TestStep,
    TestStepKind,
};
use ioxide_model::index::Idx;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_model::term::{Term, VarId};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{Lowering, doc, reqs};
use crate::ast::{
    self, Expr, ItemKind, MessagePattern, ModelItem, Name, Property, PropertyKind, PurposeDecl, PurposeGoal,
    ResponseDecl, StateDecl, StepDecl, StepKind, TestDecl, TransitionDecl, Update, UpdateKind, VarDecl, Verb,
};
use crate::resolve::NameTable;
use crate::sink::Reported;
use crate::typeck::{ExprContext, GateItem, SortRole};

/// The variables and clocks of an observer, by name.
#[derive(Default)]
struct ObserverMemory<'a> {
    vars: IndexMap<&'a str, (VarId, Term), FxBuildHasher>,
    clocks: IndexMap<&'a str, VarId, FxBuildHasher>,
}

impl ObserverMemory<'_> {
    /// The names that expressions of the observer may read.
    fn names(&self) -> FxHashMap<String, VarId> {
        let vars = self.vars.iter().map(|(name, &(var, _))| ((*name).to_owned(), var));
        vars.chain(self.clocks.iter().map(|(name, &clock)| ((*name).to_owned(), clock))).collect()
    }
}

impl<'a> Lowering<'a, '_> {
    /// Adds all goals, in the order of the text.
    pub(super) fn lower_goals(&mut self, items: &'a [ModelItem]) {
        let mut names: NameTable<'a, ()> = NameTable::new("purpose");
        let mut tests: NameTable<'a, ()> = NameTable::new("test");
        let mut n_properties = 0;
        for item in items {
            let (name, kind): (Arc<str>, _) = match &item.kind {
                ItemKind::Purpose(purpose) => {
                    names.declare(self.cx.sink, &purpose.name, ());
                    (purpose.name.text.as_str().into(), self.lower_purpose(purpose))
                }
                ItemKind::Property(property) => {
                    n_properties += 1;
                    if let Some(label) = &property.label {
                        names.declare(self.cx.sink, label, ());
                    }
                    (property_name(property, n_properties), self.lower_property(property))
                }
                ItemKind::Response(response) => {
                    n_properties += 1;
                    if let Some(label) = &response.label {
                        names.declare(self.cx.sink, label, ());
                    }
                    let name = goal_name(response.label.as_ref(), "every", n_properties);
                    (name, self.lower_response(response).map(GoalKind::Response))
                }
                ItemKind::Test(test) => {
                    tests.declare_as(self.cx.sink, Code::DuplicateName, &test.name, test.name_span, ());
                    (test.name.as_str().into(), self.lower_test(test))
                }
                _ => continue,
            };
            // A goal with an error is left out; the others are lowered all the same.
            if let Ok(kind) = kind {
                self.sts.goals.push(Goal {
                    name,
                    kind,
                    span: item.span,
                    doc: doc(&item.meta),
                    reqs: reqs(&item.meta),
                    // The frame belongs to the goal that was just checked; the next one starts with an empty
                    // one.
                    frame: std::mem::take(&mut self.cx.frame),
                });
            }
        }
    }

    /// Lowers a purpose by its kind.
    fn lower_purpose(&mut self, purpose: &'a PurposeDecl) -> Result<GoalKind, Reported> {
        match &purpose.goal {
            PurposeGoal::Path(labels) => self.lower_path(labels).map(GoalKind::Path),
            PurposeGoal::Reach { state, when } => {
                // Looked up before the condition is checked, and asked behind it, so that both errors are
                // reported.
                let location = state.as_ref().map(|name| self.reached_state(name)).transpose();
                let when = self.check_formula(when.as_ref(), ExprContext::Reach)?;
                Ok(GoalKind::Reach { location: location?, when })
            }
            PurposeGoal::Observer(observer) => {
                self.lower_observer(&purpose.name, observer).map(GoalKind::Observer)
            }
        }
    }

    fn reached_state(&mut self, name: &Name) -> Result<ioxide_model::sts::LocId, Reported> {
        let found = self.cx.states.get(&name.text).map(|entry| entry.item);
        found.ok_or_else(|| self.cx.states.report_unknown(self.cx.sink, Code::UnknownState, name))
    }

    /// Returns a condition with the obligations of its parts; true if there is none.
    fn check_formula(&mut self, condition: Option<&'a Expr>, place: ExprContext) -> Result<Term, Reported> {
        let Some(condition) = condition else { return Ok(self.cx.pool.tt()) };
        let (term, obligations) =
            self.cx.check_at(place, None, |cx| cx.check(condition, Sort::Bool, SortRole::Condition));
        let term = term?;
        Ok(self.cx.pool.and(obligations.into_iter().chain([term])))
    }

    // Paths.

    /// Returns the steps that a path of labels means; each switch must start where the one before it ends. `quiet` is
    /// silence, unless a transition has this label.
    fn lower_path(&mut self, labels: &'a [Name]) -> Result<Vec<PathStep>, Reported> {
        let mut path: Vec<PathStep> = Vec::with_capacity(labels.len());
        let mut last: Option<SwitchId> = None;
        let mut before: Option<&Name> = None;
        for label in labels {
            let Some(entry) = self.labels.get(&label.text) else {
                if label.text == "quiet" {
                    path.push(PathStep::Quiet);
                    continue;
                }
                return Err(self.labels.report_unknown(self.cx.sink, Code::UnknownLabel, label));
            };
            let (first, declared) = (entry.item?, entry.span);
            let at = last.map(|switch| self.sts.switches[switch].target);
            let here = at.unwrap_or(self.sts.initial);
            // Copies of an `any` transition stand in the order of the states.
            let next = match self.any_labels.get(label.text.as_str()) {
                Some(copies) => copies.get(here.index()).copied(),
                // The first switch may start anywhere: the tester has to get there before the path begins.
                None => Some(first).filter(|&first| at.is_none() || self.sts.switches[first].source == here),
            };
            let Some(next) = next else {
                return Err(self.broken_path(label, before, first, declared, at));
            };
            path.push(PathStep::Take(next));
            last = Some(next);
            before = Some(label);
        }
        Ok(path)
    }

    fn broken_path(
        &mut self,
        label: &Name,
        before: Option<&Name>,
        switch: SwitchId,
        declared: Span,
        at: Option<ioxide_model::sts::LocId>,
    ) -> Reported {
        let source = self.sts.locations[self.sts.switches[switch].source].name.clone();
        let at = at.map_or_else(String::new, |at| self.sts.locations[at].name.to_string());
        self.cx.sink.error(|| {
            let message = format!("`{}` starts in `{source}`, but the path is in `{at}`", label.text);
            let diagnostic =
                Diagnostic::new(Code::BrokenPath, label.span, message).label(declared, "this transition");
            match before {
                Some(before) => diagnostic.label(before.span, format!("leads to `{at}`")),
                None => diagnostic,
            }
        })
    }

    // Observers.

    /// Lowers an observer: its states become stages, its transitions rules.
    fn lower_observer(
        &mut self,
        purpose: &'a Name,
        written: &'a ast::ObserverDecl,
    ) -> Result<Observer, Reported> {
        let states = &written.states;
        let mut stages: NameTable<'a, usize> = NameTable::new("observer state");
        for (index, state) in states.iter().enumerate() {
            stages.declare(self.cx.sink, &state.name, index);
        }
        if states.is_empty() {
            return Err(self.cx.sink.error(|| {
                Diagnostic::new(
                    Code::MisplacedItem,
                    purpose.span,
                    format!("observer `{}` has no state", purpose.text),
                )
                .help("give it at least one: `state start { on message -> hit }`")
            }));
        }
        let memory = self.memory(&written.items)?;
        // The memory is in scope for this observer only, like the parameters of a function.
        let outer = std::mem::replace(&mut self.cx.params, memory.names());
        // The names come back before an error leaves, hence no `?` here.
        let rules = self.observer_rules(states, &stages, &memory);
        self.cx.params = outer;
        let stages = states.iter().map(|state| state.name.text.as_str().into()).collect();
        let vars = memory.vars.values().copied().collect();
        let clocks = memory.clocks.values().copied().collect();
        Ok(Observer { stages, vars, clocks, rules: rules? })
    }

    fn observer_rules(
        &mut self,
        states: &'a [StateDecl],
        stages: &NameTable<'a, usize>,
        memory: &ObserverMemory<'a>,
    ) -> Result<Vec<ObserverRule>, Reported> {
        let rules: Vec<Result<ObserverRule, Reported>> = states
            .iter()
            .enumerate()
            .flat_map(|(from, state)| state.transitions.iter().map(move |transition| (from, transition)))
            .filter(|(_, transition)| transition.broken.is_none())
            .map(|(from, transition)| self.observer_rule(transition, from, stages, memory))
            .collect();
        rules.into_iter().collect()
    }

    /// The variables and clocks of an observer.
    fn memory(&mut self, items: &'a [ModelItem]) -> Result<ObserverMemory<'a>, Reported> {
        let mut memory = ObserverMemory::default();
        let mut complete = Ok(());
        for item in items {
            let name = match &item.kind {
                ItemKind::Var(decl) => &decl.name,
                ItemKind::Clock(name) => name,
                _ => continue,
            };
            // The names of an observer must be new: its conditions also read fields and constants, and hiding
            // one would go unnoticed.
            if let Err(why) = self.check_new(name, &memory) {
                complete = Err(why);
                continue;
            }
            match &item.kind {
                ItemKind::Var(decl) => match self.observer_var(decl) {
                    Ok(var) => _ = memory.vars.insert(&name.text, var),
                    Err(why) => complete = Err(why),
                },
                _ if self.sts.clocks.is_empty() => {
                    complete = Err(self.cx.sink.error(|| {
                        let message = format!("clock `{}` has no time to measure", name.text);
                        Diagnostic::new(Code::MisplacedItem, name.span, message)
                            .note("the model has no clock, so its traces have no times")
                            .help("count messages in a variable, or give the model a clock")
                    }));
                }
                _ => {
                    let clock = self.cx.pool.declare(&name.text, Sort::Real);
                    memory.clocks.insert(&name.text, clock);
                }
            }
        }
        complete.map(|()| memory)
    }

    /// Reports `name` if an observer can read another value of that name.
    fn check_new(&mut self, name: &Name, memory: &ObserverMemory<'a>) -> Result<(), Reported> {
        let text = name.text.as_str();
        let value = self.cx.values.get(text).map(|entry| entry.span);
        let field =
            self.cx.gates.iter().find_map(|(_, gate)| gate.item.fields.get(text).map(|field| field.span));
        let own = memory.vars.contains_key(text) || memory.clocks.contains_key(text);
        let Some(other) = value.or(field).or(own.then_some(name.span)) else { return Ok(()) };
        Err(self.cx.sink.error(|| {
            let message = format!("`{text}` is the name of something else that can be read here");
            let diagnostic =
                Diagnostic::new(Code::DuplicateName, name.span, message).help("choose another name");
            if other == name.span { diagnostic } else { diagnostic.label(other, "declared here") }
        }))
    }

    fn observer_var(&mut self, decl: &'a VarDecl) -> Result<(VarId, Term), Reported> {
        let sort = self.cx.resolve_sort(&decl.ty)?;
        let name = &decl.name;
        let Some(init) = &decl.init else {
            return Err(self.cx.sink.error(|| {
                let message = format!("variable `{}` of the observer has no value at start", name.text);
                Diagnostic::new(Code::MisplacedItem, name.span, message)
                    .help(format!("give it one: `var {}: int = 0`", name.text))
            }));
        };
        let value = self.cx.constant_value(init, sort, SortRole::Variable(&name.text))?;
        Ok((self.cx.pool.declare(&name.text, sort), self.cx.pool.value(value)))
    }

    fn observer_rule(
        &mut self,
        transition: &'a TransitionDecl,
        from: usize,
        stages: &NameTable<'a, usize>,
        memory: &ObserverMemory<'a>,
    ) -> Result<ObserverRule, Reported> {
        let to = self.observer_target(transition, from, stages);
        let message = match (&transition.gate, transition.verb) {
            (Some(gate), _) => Some(self.seen_gate(gate)?),
            (None, Verb::Quiet) => None,
            (None, _) => {
                return Err(self.cx.sink.error(|| {
                    Diagnostic::new(
                        Code::MisplacedItem,
                        transition.span,
                        "an observer sees messages and silence only",
                    )
                    .help("remove this transition, or write `quiet` if it waits for silence")
                }));
            }
        };
        let bound = self.cx.bound.len();
        let when = self.lower_condition(message.clone(), transition, ExprContext::Message);
        let changes = self.observer_updates(&transition.updates, message.as_ref(), memory);
        self.cx.bound.truncate(bound);
        let (when, (update, resets, checks)) = (when?, changes?);
        // Values that do not fit their range disable the rule, as they disable a switch.
        let when = self.cx.pool.and(checks.into_iter().chain([when]));
        let on = message.map_or(ObservedEvent::Quiet, |message| ObservedEvent::Message(message.gate));
        Ok(ObserverRule { from, on, when, update, resets, to: to?, span: transition.span })
    }

    /// Returns the updates, the resets, and the conditions that keep values in their ranges.
    #[expect(clippy::type_complexity, reason = "three results of one walk, taken apart at once")]
    fn observer_updates(
        &mut self,
        updates: &'a [Update],
        message: Option<&Rc<GateItem>>,
        memory: &ObserverMemory<'a>,
    ) -> Result<(Vec<(VarId, Term)>, Vec<VarId>, Vec<Term>), Reported> {
        let (mut assigned, mut resets, mut checks) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen: FxHashMap<VarId, Span> = FxHashMap::default();
        for update in updates {
            match &update.kind {
                UpdateKind::Reset(name) => match memory.clocks.get(name.text.as_str()) {
                    Some(&clock) => resets.push(clock),
                    None => return Err(self.no_memory(name, "clock", memory.clocks.keys().copied())),
                },
                UpdateKind::Put(name, key, value) => {
                    let Some(&(var, _)) = memory.vars.get(name.text.as_str()) else {
                        return Err(self.no_memory(name, "variable", memory.vars.keys().copied()));
                    };
                    let before = assigned.iter().position(|(other, _)| *other == var);
                    // Several items of one collection change one after the other in one term, and the
                    // variable has one update.
                    let before = before.map(|at| assigned.remove(at).1);
                    let (term, more) = self.cx.check_at(ExprContext::Message, message.cloned(), |cx| {
                        cx.check_put(var, before, name, (key, value))
                    });
                    assigned.push((var, term?));
                    checks.extend(more);
                }
                UpdateKind::Assign(name, value) => {
                    let Some(&(var, _)) = memory.vars.get(name.text.as_str()) else {
                        return Err(self.no_memory(name, "variable", memory.vars.keys().copied()));
                    };
                    if let Some(first) = seen.insert(var, name.span) {
                        return Err(self.assigned_twice(name, first));
                    }
                    let sort = self.cx.pool.var_info(var).sort;
                    let (term, more) = self.cx.check_at(ExprContext::Message, message.cloned(), |cx| {
                        cx.check(value, sort, SortRole::Variable(&name.text))
                    });
                    assigned.push((var, term?));
                    checks.extend(more);
                }
            }
        }
        Ok((assigned, resets, checks))
    }

    /// Reports an update of a variable or clock that the observer does not declare.
    fn no_memory<'n>(&mut self, name: &Name, what: &str, names: impl Iterator<Item = &'n str>) -> Reported {
        let names: Vec<&str> = names.collect();
        self.cx.sink.error(|| {
            let message = format!("the observer has no {what} `{}`", name.text);
            let diagnostic = Diagnostic::new(Code::NotAssignable, name.span, message)
                .note("an observer changes only its own variables");
            crate::suggest::suggest_nearest(diagnostic, name, names.into_iter())
        })
    }

    fn observer_target(
        &mut self,
        transition: &'a TransitionDecl,
        from: usize,
        stages: &NameTable<'a, usize>,
    ) -> Result<ObserverTarget, Reported> {
        let Some(name) = &transition.target else { return Ok(ObserverTarget::Stage(from)) };
        // An observer's own state called `hit` comes before the word.
        if let Some(entry) = stages.get(&name.text) {
            return Ok(ObserverTarget::Stage(entry.item));
        }
        match name.text.as_str() {
            "hit" => Ok(ObserverTarget::Hit),
            "miss" => Ok(ObserverTarget::Miss),
            _ => Err(self.cx.sink.error(|| {
                let message = format!("the observer has no state `{}`", name.text);
                let diagnostic = Diagnostic::new(Code::UnknownState, name.span, message);
                let names = stages.names().chain(["hit", "miss"]);
                crate::suggest::suggest_nearest(diagnostic, name, names)
                    .note("`hit` and `miss` end the observation")
            })),
        }
    }

    /// Returns a message that a goal mentions; this does not count as use by the model.
    fn seen_gate(&mut self, name: &Name) -> Result<Rc<GateItem>, Reported> {
        // `get`, not `use_name`: a message that only goals mention is still one that the model never uses.
        let found = self.cx.gates.get(&name.text).map(|entry| entry.item.clone());
        found.ok_or_else(|| self.unknown_gate(name))
    }

    // Properties and tests.

    /// Lowers a property of states.
    fn lower_property(&mut self, property: &'a Property) -> Result<GoalKind, Reported> {
        let condition = self.check_formula(Some(&property.condition), ExprContext::Property)?;
        Ok(match property.kind {
            PropertyKind::Always => GoalKind::Always(condition),
            PropertyKind::Sometimes => GoalKind::Sometimes(condition),
            PropertyKind::Assume => GoalKind::Assume(condition),
        })
    }

    /// Lowers a response: both messages with the conditions on their fields, and the time.
    fn lower_response(&mut self, response: &'a ResponseDecl) -> Result<ResponseGoal, Reported> {
        let mut message = |pattern: &'a MessagePattern| {
            let message = self.seen_gate(&pattern.gate)?;
            let gate = message.gate;
            let condition = self.pattern_condition(
                Some(message),
                &pattern.pins,
                pattern.guard.as_ref(),
                ExprContext::Message,
            )?;
            Ok::<_, Reported>((gate, condition))
        };
        // Both are checked before either error leaves.
        let (trigger, answer) = (message(&response.trigger), message(&response.answer));
        let within = response.within.as_ref().map(|time| self.response_time(time)).transpose()?;
        Ok(ResponseGoal { trigger: trigger?, answer: answer?, within })
    }

    /// Returns the time limit of a response; only a model with clocks has times.
    fn response_time(&mut self, time: &Expr) -> Result<Rational, Reported> {
        if self.sts.clocks.is_empty() {
            return Err(self.cx.sink.error(|| {
                Diagnostic::new(Code::MisplacedItem, time.span, "`within` has no time to measure")
                    .note("the model has no clock, so its traces have no times")
                    .help("leave `within` out, or give the model a clock")
            }));
        }
        self.constant_duration(time)
    }

    /// Lowers a test; the steps are all checked, even after an error.
    fn lower_test(&mut self, test: &'a TestDecl) -> Result<GoalKind, Reported> {
        let steps: Vec<Result<TestStep, Reported>> =
            test.steps.iter().map(|step| self.lower_step(step)).collect();
        steps.into_iter().collect::<Result<Vec<_>, _>>().map(GoalKind::Test)
    }

    fn lower_step(&mut self, step: &'a StepDecl) -> Result<TestStep, Reported> {
        let kind = match &step.kind {
            StepKind::Send(pattern) => {
                let (message, when) =
                    self.resolve_pattern(pattern, "send", |kind| kind == GateKind::Input)?;
                TestStepKind::Send(message.gate, when)
            }
            StepKind::Expect(pattern) => {
                let (message, when) =
                    self.resolve_pattern(pattern, "expect", |kind| kind != GateKind::Input)?;
                TestStepKind::Expect(message.gate, when)
            }
            StepKind::Quiet(None) => TestStepKind::Quiet(None),
            StepKind::Quiet(Some(duration)) => TestStepKind::Quiet(Some(self.constant_duration(duration)?)),
        };
        Ok(TestStep { kind, span: step.span })
    }

    /// Returns the value of a constant duration, in seconds and not negative.
    fn constant_duration(&mut self, expr: &Expr) -> Result<Rational, Reported> {
        let value = self.cx.constant_value(expr, Sort::Real, SortRole::Duration)?;
        let Some(seconds) = value.to_rational() else {
            return Err(self
                .cx
                .sink
                .error(|| Diagnostic::new(Code::TypeMismatch, expr.span, "a duration is a number")));
        };
        if seconds.is_negative() {
            return Err(self.cx.sink.error(|| {
                Diagnostic::new(Code::ConstOutOfRange, expr.span, "a duration is not negative")
                    .help("write `quiet 1s`")
            }));
        }
        Ok(seconds)
    }

    /// Resolves a message of a test or an observer, whose direction must fit `word`, and returns its condition.
    fn resolve_pattern(
        &mut self,
        pattern: &'a MessagePattern,
        word: &str,
        fits: impl Fn(GateKind) -> bool,
    ) -> Result<(Rc<GateItem>, Term), Reported> {
        let message = self.seen_gate(&pattern.gate)?;
        if !fits(message.kind) {
            let name = &pattern.gate;
            let declared = self.cx.gates.get(&name.text).map(|entry| entry.span);
            return Err(self.cx.sink.error(|| {
                let (direction, help) = match message.kind {
                    GateKind::Input => ("an input", "the tester sends inputs: write `send`"),
                    GateKind::Observed => ("an observed input", "the tester only sees it: write `expect`"),
                    _ => ("an output", "the system sends outputs: write `expect`"),
                };
                let text = format!("`{}` is {direction}, so `{word}` does not fit", name.text);
                let diagnostic = Diagnostic::new(Code::TestDirection, name.span, text).help(help);
                match declared {
                    Some(declared) => diagnostic.label(declared, "declared here"),
                    None => diagnostic,
                }
            }));
        }
        let when = self.pattern_condition(
            Some(message.clone()),
            &pattern.pins,
            pattern.guard.as_ref(),
            ExprContext::Message,
        )?;
        Ok((message, when))
    }
}

fn property_name(property: &Property, number: usize) -> Arc<str> {
    let word = match property.kind {
        PropertyKind::Always => "always",
        PropertyKind::Sometimes => "sometimes",
        PropertyKind::Assume => "assume",
    };
    goal_name(property.label.as_ref(), word, number)
}

/// Returns the label of a goal, or a name made of its word and its number.
fn goal_name(label: Option<&Name>, word: &str, number: usize) -> Arc<str> {
    match label {
        Some(label) => label.text.as_str().into(),
        None => format!("{word}#{number}").into(),
    }
}
