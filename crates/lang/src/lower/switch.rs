//! Lowering of transitions to switches.

use std::rc::Rc;
use std::sync::Arc;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::index::Idx;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, Switch, SwitchId};
use ioxide_model::term::{Term, VarId};
use rustc_hash::FxHashMap;

use super::{Lowering, doc, reqs};
use crate::ast::{
    AttrKind, DeclMeta, Expr, ItemKind, ModelItem, Name, PinDecl, TransitionDecl, Update, UpdateKind, Verb,
};
use crate::sink::Reported;
use crate::typeck::{ExprContext, GateItem, SortRole, ValueItem};

/// A checked transition, before it is given a source location.
pub(super) struct CheckedSwitch {
    pub(super) gate: GateId,
    pub(super) guard: Term,
    pub(super) update: Vec<(VarId, Term)>,
    pub(super) resets: Vec<VarId>,
    pub(super) target: Option<LocId>,
    pub(super) range_check: Option<Term>,
}

impl<'a> Lowering<'a, '_> {
    /// Adds the switches of all states, in the order of the text; then the copies of `any` transitions.
    pub(super) fn lower_transitions(&mut self, items: &'a [ModelItem]) {
        // With states, a transition outside of them has no source. Without any, the model has one location,
        // and all transitions are loose.
        let first_state = items.iter().find_map(|item| match &item.kind {
            ItemKind::State(state) => Some(state.name.span),
            _ => None,
        });
        let mut n_loose = 0;
        for item in items {
            match &item.kind {
                ItemKind::State(state) => {
                    let first = self.sts.switches.len();
                    self.state_transitions(&state.name, &state.transitions);
                    // After the transitions were added, because only then their switches are known by number.
                    let own = reqs(&item.meta);
                    self.sts.switches.iter_mut().skip(first).for_each(|switch| add_reqs(switch, &own));
                }
                ItemKind::Transition(transition) => {
                    n_loose += 1;
                    match first_state {
                        None => self.lower_transition(transition, &item.meta, LocId::new(0), n_loose),
                        Some(state) => _ = self.loose_transition(transition, state),
                    }
                }
                _ => {}
            }
        }
        // After all states: a copy is made for each location, and the numbers of the other switches do not
        // depend on where `any` is written.
        let mut n_any = 0;
        for item in items {
            let ItemKind::Any(transitions) = &item.kind else { continue };
            for transition in transitions {
                n_any += 1;
                self.lower_any_transition(transition, n_any);
            }
        }
        self.trace_ends(items);
    }

    /// Gives the requirements of states without transitions to the transitions that lead there: else nothing would
    /// trace to them.
    fn trace_ends(&mut self, items: &'a [ModelItem]) {
        // By state first, then one walk through the transitions: both may be very many.
        let mut of_ends: FxHashMap<LocId, Vec<Arc<str>>> = FxHashMap::default();
        for item in items {
            let ItemKind::State(state) = &item.kind else { continue };
            let Some(entry) = self.cx.states.get(&state.name.text) else { continue };
            let own = reqs(&item.meta);
            if !own.is_empty() && state.transitions.is_empty() && entry.span == state.name.span {
                of_ends.insert(entry.item, own);
            }
        }
        if of_ends.is_empty() {
            return;
        }
        for switch in self.sts.switches.iter_mut() {
            if let Some(own) = of_ends.get(&switch.target) {
                add_reqs(switch, own);
            }
        }
    }

    fn loose_transition(&mut self, transition: &TransitionDecl, state: Span) -> Reported {
        self.cx.sink.error(|| {
            Diagnostic::new(Code::MisplacedItem, transition.span, "this transition belongs to no state")
                .label(state, "the model has states")
                .help("put it into a state, or into `any { ... }` if it can be taken in every state")
        })
    }

    fn state_transitions(&mut self, name: &'a Name, transitions: &'a [TransitionDecl]) {
        let Some(entry) = self.cx.states.get(&name.text) else { return };
        // A second state of that name was reported. Its transitions belong to no location.
        if entry.span != name.span {
            return;
        }
        let loc = entry.item;
        for (index, transition) in transitions.iter().enumerate() {
            self.lower_transition(transition, &transition.meta, loc, index + 1);
        }
    }

    /// Adds the `number`th transition of one state.
    fn lower_transition(
        &mut self,
        transition: &'a TransitionDecl,
        meta: &DeclMeta,
        source: LocId,
        number: usize,
    ) {
        let label: Arc<str> = match &transition.label {
            Some(label) => label.text.as_str().into(),
            None => format!("{}#{number}", self.sts.locations[source].name).into(),
        };
        self.declare_label(transition);
        match self.placeable(transition, 1) {
            Ok(checked) => _ = self.push_switch(&checked, transition, meta, source, label),
            Err(why) => self.break_label(transition, why),
        }
    }

    /// Checks `transition`, and that there is room for `copies` of it.
    fn placeable(
        &mut self,
        transition: &'a TransitionDecl,
        copies: usize,
    ) -> Result<CheckedSwitch, Reported> {
        let checked = self.check_transition(transition)?;
        // Errors of the transition come first: that there is no room would hide them.
        self.room_for(copies, transition.span)?;
        Ok(checked)
    }

    /// Adds the copies of the `number`th `any` transition.
    fn lower_any_transition(&mut self, transition: &'a TransitionDecl, number: usize) {
        self.declare_label(transition);
        let n_states = self.sts.locations.len();
        let checked = match self.placeable(transition, n_states) {
            Ok(checked) => checked,
            Err(why) => return self.break_label(transition, why),
        };
        let base =
            transition.label.as_ref().map_or_else(|| format!("any#{number}"), |label| label.text.clone());
        let mut copies = Vec::with_capacity(n_states);
        for source in self.sts.locations.ids() {
            let label = if n_states == 1 {
                base.clone()
            } else {
                format!("{base}@{}", self.sts.locations[source].name)
            };
            copies.push(self.push_switch(&checked, transition, &transition.meta, source, label.into()));
        }
        if let Some(label) = &transition.label {
            self.any_labels.insert(&label.text, copies);
        }
    }

    fn declare_label(&mut self, transition: &'a TransitionDecl) {
        if let Some(label) = &transition.label {
            // The number that the switch is about to get, so that goals can refer to it. If it is not added
            // after all, `break_label` withdraws it.
            let switch = self.sts.switches.next_id();
            self.labels.declare_as(self.cx.sink, Code::DuplicateLabel, &label.text, label.span, Ok(switch));
        }
    }

    /// Records that the switch labelled by `transition` could not be built.
    fn break_label(&mut self, transition: &'a TransitionDecl, why: Reported) {
        if let Some(label) = &transition.label
            && let Some(entry) = self.labels.get_mut(&label.text)
            && entry.span == label.span
        {
            entry.item = Err(why);
        }
    }

    /// Adds a checked transition as a switch from `source`, with its weight and requirements.
    pub(super) fn push_switch(
        &mut self,
        checked: &CheckedSwitch,
        transition: &TransitionDecl,
        meta: &DeclMeta,
        source: LocId,
        label: Arc<str>,
    ) -> SwitchId {
        let weight = meta.attrs.iter().rev().find_map(|attr| match attr.kind {
            AttrKind::Weight(weight) => Some(weight),
            AttrKind::Req(_) => None,
        });
        self.sts.switches.push(Switch {
            label,
            source,
            gate: checked.gate,
            guard: checked.guard,
            update: checked.update.clone(),
            resets: checked.resets.clone(),
            target: checked.target.unwrap_or(source),
            span: transition.span,
            doc: doc(meta),
            reqs: reqs(meta),
            weight: weight.unwrap_or(1),
            range_check: checked.range_check,
        })
    }

    /// Checks every part of `transition`, so that all its errors are reported.
    pub(super) fn check_transition(
        &mut self,
        transition: &'a TransitionDecl,
    ) -> Result<CheckedSwitch, Reported> {
        if let Some(why) = transition.broken {
            return Err(why);
        }
        if transition.verb == Verb::Quiet {
            return Err(self.cx.sink.error(|| {
                let message = "a model does not wait for silence";
                Diagnostic::new(Code::MisplacedItem, transition.verb_span, message)
                    .note("only an observer of a `purpose` can use silence")
                    .help("write `internal when c >= 5s`, with a clock, for a step that happens after some time")
            }));
        }
        let gate = transition.gate.as_ref();
        // Errors leave as late as possible, so that one round reports many of them. A wrong target does not
        // keep the condition and the updates from being checked. A wrong message does: its fields would be
        // unknown in them.
        let message =
            gate.map(|gate| self.resolve_gate(gate, transition.verb, transition.verb_span)).transpose();
        let target = transition.target.as_ref().map(|name| self.resolve_target(name)).transpose();
        let message = message?;
        let gate = message.as_ref().map_or(Sts::TAU, |message| message.gate);
        // The names that `let`s bind are for the condition and the updates, and gone behind them.
        let bound = self.cx.bound.len();
        let condition = self.lower_condition(message.clone(), transition, ExprContext::Guard);
        let changes = self.check_updates(&transition.updates, message);
        self.cx.bound.truncate(bound);
        let (condition, (update, resets, range_check)) = (condition?, changes?);
        let (guard, range_check) = self.guard_with_check(condition, range_check);
        Ok(CheckedSwitch { gate, guard, update, resets, target: target?, range_check })
    }

    /// Returns the guard of a switch with this condition whose values fit if `check` holds, and the conjuncts of
    /// `check` that the condition lacks; `None` if there are none.
    pub(super) fn guard_with_check(&mut self, condition: Term, check: Option<Term>) -> (Term, Option<Term>) {
        // What the guard says already is no further demand of the ranges.
        let check = check.map(|check| self.cx.pool.conjuncts_beyond(check, condition));
        let check = check.filter(|&check| !self.cx.pool.is_true(check));
        match check {
            Some(demand) => (self.cx.pool.and([condition, demand]), check),
            None => (condition, None),
        }
    }

    /// Returns the message of a transition, whose direction must fit the verb.
    pub(super) fn resolve_gate(
        &mut self,
        name: &Name,
        verb: Verb,
        verb_span: Span,
    ) -> Result<Rc<GateItem>, Reported> {
        let Some(entry) = self.cx.gates.use_name(&name.text) else {
            return Err(self.unknown_gate(name));
        };
        let (item, declared) = (entry.item.clone(), entry.span);
        let fits = match verb {
            Verb::On => item.kind.is_input(),
            Verb::Emit => item.kind == GateKind::Output,
            Verb::Internal | Verb::Quiet => false,
        };
        if !fits {
            let right = if verb == Verb::On { Verb::Emit } else { Verb::On };
            return Err(self.cx.sink.error(|| {
                let direction = if item.kind == GateKind::Output { "an output" } else { "an input" };
                let message = format!("`{}` is {direction}, so `{}` does not fit", name.text, verb.word());
                Diagnostic::new(Code::WrongVerb, verb_span, message)
                    .label(declared, format!("declared as {direction} here"))
                    .help(format!("directions are the system's: write `{} {}`", right.word(), name.text))
                    .fix(verb_span, right.word())
            }));
        }
        Ok(item)
    }

    pub(super) fn unknown_gate(&mut self, name: &Name) -> Reported {
        self.cx.gates.report_unknown(self.cx.sink, Code::UnknownGate, name)
    }

    /// Returns the location of the state that a transition leads to.
    fn resolve_target(&mut self, name: &Name) -> Result<LocId, Reported> {
        if let Some(entry) = self.cx.states.use_name(&name.text) {
            return Ok(entry.item);
        }
        Err(self.cx.states.report_unknown(self.cx.sink, Code::UnknownState, name))
    }

    /// `let`s, pins and guard of a transition as one formula. The names of the `let`s stay bound.
    pub(super) fn lower_condition(
        &mut self,
        message: Option<Rc<GateItem>>,
        transition: &'a TransitionDecl,
        place: ExprContext,
    ) -> Result<Term, Reported> {
        let (lets, obligations) =
            self.cx.check_at(place, message.clone(), |cx| cx.check_lets(&transition.lets));
        let rest = self.pattern_condition(message, &transition.pins, transition.guard.as_ref(), place);
        let (lets, rest) = (lets?, rest?);
        // What a `let` has to find goes first: the obligations of the rest count only where it fits.
        Ok(self.cx.pool.and(lets.into_iter().chain(obligations).chain([rest])))
    }

    /// Pins and guard as one formula.
    pub(super) fn pattern_condition(
        &mut self,
        message: Option<Rc<GateItem>>,
        pins: &'a [PinDecl],
        guard: Option<&'a Expr>,
        place: ExprContext,
    ) -> Result<Term, Reported> {
        // Errors in a pin are explained as such; in a goal the place stays what it is.
        let pin_place = if place == ExprContext::Guard { ExprContext::Pin } else { place };
        let (equations, mut obligations) =
            self.cx.check_at(pin_place, message.clone(), |cx| pins_of(cx, message.as_deref(), pins));
        let (guard, more) = self.cx.check_at(place, message, |cx| match guard {
            Some(guard) => {
                let term = cx.check(guard, Sort::Bool, SortRole::Guard)?;
                cx.pool.note_written(term, &crate::format::expr::expr_text(guard));
                Ok(term)
            }
            None => Ok(cx.pool.tt()),
        });
        obligations.extend(more);
        let (equations, guard) = (equations?, guard?);
        Ok(self.cx.pool.and(equations.into_iter().chain([guard]).chain(obligations)))
    }

    /// The simultaneous update, the resets, and the condition that keeps values in range.
    #[expect(clippy::type_complexity, reason = "three results of one walk, taken apart at once")]
    pub(super) fn check_updates(
        &mut self,
        updates: &'a [Update],
        message: Option<Rc<GateItem>>,
    ) -> Result<(Vec<(VarId, Term)>, Vec<VarId>, Option<Term>), Reported> {
        let mut seen: FxHashMap<&str, (Span, bool)> = FxHashMap::default();
        let (mut assigned, mut resets, mut checks): (Vec<(VarId, Term)>, _, _) =
            (Vec::new(), Vec::new(), Vec::new());
        let mut complete = Ok(());
        for update in updates {
            let (UpdateKind::Assign(name, _) | UpdateKind::Put(name, ..) | UpdateKind::Reset(name)) =
                &update.kind;
            // Several items of one collection may change at once.
            let put = matches!(update.kind, UpdateKind::Put(..));
            if let Some((first, _)) =
                seen.insert(&name.text, (name.span, put)).filter(|(_, before)| !(*before && put))
            {
                self.assigned_twice(name, first);
            }
            match &update.kind {
                UpdateKind::Reset(name) => match self.resolve_clock(name) {
                    Ok(clock) => resets.push(clock),
                    Err(why) => complete = Err(why),
                },
                UpdateKind::Put(name, key, value) => {
                    let var = self.assignable(name, message.as_deref());
                    // Items of one collection are put one into the result of the other: the term so far, if
                    // there is one, takes the place of the variable.
                    let (term, obligations) = self.cx.check_at(ExprContext::Update, message.clone(), |cx| {
                        let var = var?;
                        let before = assigned.iter().position(|(other, _)| *other == var);
                        cx.check_put(var, before.map(|at| assigned[at].1), name, (key, value))
                    });
                    checks.extend(obligations);
                    match var.and_then(|var| Ok((var, term?))) {
                        Ok((var, term)) => {
                            assigned.retain(|(other, _)| *other != var);
                            assigned.push((var, term));
                        }
                        Err(why) => complete = Err(why),
                    }
                }
                UpdateKind::Assign(name, value) => {
                    let var = self.assignable(name, message.as_deref());
                    self.cx.assigned = Some(name.text.clone());
                    let (term, obligations) =
                        self.cx.check_at(ExprContext::Update, message.clone(), |cx| match var {
                            Ok(var) => {
                                let sort = cx.pool.var_info(var).sort;
                                cx.check(value, sort, SortRole::Variable(&name.text))
                            }
                            // The target is wrong and its sort not known. The value is looked at all the
                            // same, for its own errors.
                            Err(_) => cx.infer(value, None),
                        });
                    self.cx.assigned = None;
                    checks.extend(obligations);
                    match var.and_then(|var| Ok((var, term?))) {
                        Ok(pair) => assigned.push(pair),
                        Err(why) => complete = Err(why),
                    }
                }
            }
        }
        // The ranges of the new values are one condition, which joins the guard: a switch whose values do not
        // fit cannot be taken.
        let check = (!checks.is_empty()).then(|| self.cx.pool.and(checks));
        complete.map(|()| (assigned, resets, check))
    }

    pub(super) fn assigned_twice(&mut self, name: &Name, first: Span) -> Reported {
        let in_order = self.is_action_system;
        self.cx.sink.error(|| {
            let message = format!("`{}` is changed twice", name.text);
            let finding = Diagnostic::new(Code::AssignedTwice, name.span, message)
                .label(first, "changed here already")
                .note("all updates happen at once and read the old values");
            if in_order { finding.help("write `then` between the two to change it again") } else { finding }
        })
    }

    /// Returns the clock of a `reset`; anything else of that name is reported.
    fn resolve_clock(&mut self, name: &Name) -> Result<VarId, Reported> {
        let entry = self.cx.values.get(&name.text).map(|entry| (entry.item, entry.span));
        match entry {
            Some((ValueItem::Clock(var), _)) => Ok(var),
            Some((ValueItem::Broken(why), _)) => Err(why),
            Some((ValueItem::LaterVar | ValueItem::LaterClock | ValueItem::LaterConst, _)) => {
                Err(self.cx.used_too_early(&name.text, name.span))
            }
            Some((_, declared)) => Err(self.cx.sink.error(|| {
                Diagnostic::new(Code::NotAClock, name.span, format!("`{}` is not a clock", name.text))
                    .label(declared, "declared here")
                    .help(format!("give a variable a value: `{} = 0`", name.text))
            })),
            None => {
                let Self { cx, .. } = self;
                let (values, sink) = (&cx.values, &mut *cx.sink);
                Err(sink.missing(&name.text, || {
                    let clocks = values.iter().filter(|(_, entry)| matches!(entry.item, ValueItem::Clock(_)));
                    let message = format!("there is no clock `{}`", name.text);
                    let diagnostic = Diagnostic::new(Code::UnknownName, name.span, message);
                    crate::suggest::suggest_nearest(diagnostic, name, clocks.map(|(name, _)| name))
                }))
            }
        }
    }

    /// Returns the variable that an update may change: a local or a state variable, no field and no constant.
    fn assignable(&mut self, name: &Name, message: Option<&GateItem>) -> Result<VarId, Reported> {
        // The innermost local of that name hides the others and all state variables.
        if let Some(local) = self.locals.iter().rev().find(|local| local.name == name.text) {
            let var = local.var;
            return var.ok_or_else(|| self.unchangeable(name));
        }
        let entry = self.cx.values.get(&name.text).map(|entry| (entry.item, entry.span));
        let field = message.and_then(|message| message.fields.get(&name.text)).map(|field| field.span);
        let (what, declared, help) = match (entry, field) {
            (Some((ValueItem::Var(var), _)), _) => return Ok(var),
            (Some((ValueItem::Broken(why), _)), _) => return Err(why),
            (Some((ValueItem::LaterVar | ValueItem::LaterClock | ValueItem::LaterConst, _)), _) => {
                return Err(self.cx.used_too_early(&name.text, name.span));
            }
            (Some((ValueItem::Clock(_), declared)), _) => {
                ("a clock", declared, format!("write `reset {}`", name.text))
            }
            (Some((ValueItem::Const(_), declared)), _) => {
                ("a constant", declared, "declare it with `var`".into())
            }
            (Some((ValueItem::Variant(..), declared)), _) => {
                ("a value of an enum", declared, "name a variable".into())
            }
            (None, Some(declared)) => (
                "a field of the message",
                declared,
                format!("pin it, `({0}: value)`, or write `{0} == value` in the guard", name.text),
            ),
            (None, None) => {
                return Err(self.unknown_variable(name));
            }
        };
        Err(self.cx.sink.error(|| {
            let message = format!("`{}` is {what} and cannot be assigned", name.text);
            Diagnostic::new(Code::NotAssignable, name.span, message)
                .label(declared, "declared here")
                .help(help)
        }))
    }

    fn unknown_variable(&mut self, name: &Name) -> Reported {
        let (values, sink) = (&self.cx.values, &mut *self.cx.sink);
        sink.missing(&name.text, || {
            let variables = values.iter().filter(|(_, entry)| matches!(entry.item, ValueItem::Var(_)));
            let message = format!("there is no variable `{}`", name.text);
            let diagnostic = Diagnostic::new(Code::UnknownName, name.span, message);
            crate::suggest::suggest_nearest(diagnostic, name, variables.map(|(name, _)| name))
        })
    }
}

/// The equations that `pins` stand for.
fn pins_of(
    cx: &mut crate::typeck::Checker<'_, '_>,
    message: Option<&GateItem>,
    pins: &[PinDecl],
) -> Result<Vec<Term>, Reported> {
    let message = message.filter(|_| !pins.is_empty());
    let Some(message) = message else { return Ok(Vec::new()) };
    let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
    let mut equations = Vec::with_capacity(pins.len());
    let mut complete = Ok(());
    for pin in pins {
        if let Some(first) = seen.insert(&pin.field.text, pin.field.span) {
            cx.sink.error(|| {
                let message = format!("field `{}` is pinned twice", pin.field.text);
                Diagnostic::new(Code::PinnedTwice, pin.field.span, message)
                    .label(first, "pinned here already")
            });
        }
        match pin_equation(cx, message, pin) {
            Ok(equation) => equations.push(equation),
            Err(why) => complete = Err(why),
        }
    }
    complete.map(|()| equations)
}

fn pin_equation(
    cx: &mut crate::typeck::Checker<'_, '_>,
    message: &GateItem,
    pin: &PinDecl,
) -> Result<Term, Reported> {
    let Some(field) = message.fields.get(&pin.field.text) else {
        let names: Vec<&str> = message.fields.keys().map(String::as_str).collect();
        return Err(cx.unknown_field(&pin.field, "the message", &names, None));
    };
    let var = field.var?;
    let sort = cx.pool.var_info(var).sort;
    // The field lies in its range anyway, so a pinned term has no obligation; a constant must fit.
    let pinned = cx.pinned.replace(pin.field.text.clone());
    let value = cx.check(&pin.value, sort.base(), SortRole::Field(&pin.field.text));
    cx.pinned = pinned;
    let value = value?;
    cx.check_constant_range(value, pin.value.span, sort, SortRole::Field(&pin.field.text))?;
    let field = cx.pool.var(var);
    let equation = cx.pool.eq(field, value);
    let written = format!("{} == {}", pin.field.text, crate::format::expr::expr_text(&pin.value));
    cx.pool.note_written(equation, &written);
    Ok(equation)
}

/// Adds requirements that a switch does not have yet.
fn add_reqs(switch: &mut Switch, more: &[Arc<str>]) {
    // Only the requirements that were there before are compared: those of one declaration are added as they
    // are written.
    let known = switch.reqs.len();
    for req in more {
        if !switch.reqs[..known].contains(req) {
            switch.reqs.push(Arc::clone(req));
        }
    }
}
