//! Automata: each state becomes a process, with the variables as parameters behind those of the automaton.
//!
//! `s -> offer { x := e } -> t` is an alternative `offer >-> t[...](..., e, ...)` of `s`: updates happen at once.
//!
//! TorXakis has two more names for an automaton: `stdi_name` starts it as `name` does, and `std_name` starts it in a
//! state, by number, with values of its variables.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;

use super::super::tree::{
    BehaviourId, BehaviourKind, ChanDef, ChannelOffer, ExitDef, FormulaKind, OfferedValue, ProcDef,
    SharedNames, TxsExpr, TxsOperator, VarDef,
};
use super::{TxsRead, TxsReader};
use crate::ast::Name;

/// The name of the parameter for the number of a state, as TorXakis has it; a text cannot mention it.
const STATE_NUMBER: &str = "$s";

/// `s -> offer { updates } -> t`
struct AutomatonEdge {
    from: Name,
    offer: ChannelOffer,
    updates: Vec<(Name, TxsExpr)>,
    to: Name,
    span: Span,
}

/// The part of an automaton between `::=` and `ENDDEF`.
#[derive(Default)]
struct Automaton {
    states: Vec<Name>,
    vars: Vec<VarDef>,
    init: Option<(Name, Vec<(Name, TxsExpr)>)>,
    edges: Vec<AutomatonEdge>,
}

/// The heading that the states of an automaton share.
struct Heading {
    name: Name,
    /// The number of the process that starts the automaton.
    first: usize,
    channels: Vec<ChanDef>,
    params: Vec<VarDef>,
    exit: ExitDef,
}

impl TxsReader<'_> {
    pub(super) fn automaton_def(&mut self) -> TxsRead<()> {
        let (name, channels, params, exit) = self.process_heading()?;
        let heading = Heading { name, first: self.spec.processes.len(), channels, params, exit };
        let mut automaton = Automaton::default();
        while !self.at_word("ENDDEF") {
            self.automaton_item(&mut automaton)?;
        }
        self.bump();
        self.add_automaton(&heading, automaton)
    }

    fn automaton_item(&mut self, automaton: &mut Automaton) -> TxsRead<()> {
        if self.eat_word("STATE") {
            automaton.states.extend(self.parse_names("the name of a state")?);
        } else if self.eat_word("VAR") {
            while self.at_name() {
                self.var_group(&mut automaton.vars)?;
                if !self.eat(";") {
                    break;
                }
            }
        } else if self.at_word("INIT") {
            if automaton.init.is_some() {
                return self.report_expected("only one `INIT`");
            }
            self.bump();
            let state = self.expect_name("the name of a state")?;
            automaton.init = Some((state, self.parse_updates()?));
        } else if self.eat_word("TRANS") {
            while self.at_name() {
                automaton.edges.push(self.parse_edge()?);
                self.eat(";");
            }
        } else {
            return self.report_expected("`STATE`, `VAR`, `INIT` or `TRANS`");
        }
        Ok(())
    }

    /// Parses one transition of a `STAUTDEF`.
    fn parse_edge(&mut self) -> TxsRead<AutomatonEdge> {
        let start = self.span();
        let from = self.expect_name("the name of a state")?;
        self.expect_sign("->")?;
        let offer = self.parse_offer()?;
        let updates = self.parse_updates()?;
        self.expect_sign("->")?;
        let to = self.expect_name("the name of a state")?;
        Ok(AutomatonEdge { from, offer, updates, to, span: self.span_since(start) })
    }

    /// `{ x := 1; y, z := 2 }`
    fn parse_updates(&mut self) -> TxsRead<Vec<(Name, TxsExpr)>> {
        let mut updates = Vec::new();
        if !self.eat("{") {
            return Ok(updates);
        }
        while self.at_name() {
            let names = self.parse_names("the name of a variable")?;
            self.expect_sign(":=")?;
            let value = self.parse_formula()?;
            updates.extend(names.into_iter().map(|name| (name, value.clone())));
            if !self.eat(";") {
                break;
            }
        }
        self.expect_sign("}")?;
        Ok(updates)
    }

    fn report_error<T>(&mut self, code: Code, span: Span, message: String) -> TxsRead<T> {
        Err(self.sink.error(|| Diagnostic::new(code, span, message)))
    }

    /// The processes of an automaton: one that starts it, and one for each state.
    fn add_automaton(&mut self, heading: &Heading, automaton: Automaton) -> TxsRead<()> {
        let Some((state, updates)) = &automaton.init else {
            let message = format!("automaton `{}` has no `INIT`", heading.name.text);
            return self.report_error(Code::TxsSyntax, heading.name.span, message);
        };
        // Before any process is added: half of an automaton would give errors about states that nobody wrote.
        self.check_automaton(heading, &automaton)?;
        self.owner = Some(heading.first);
        let states = StateNumbers::of(heading, &automaton);
        let unset = read_unset(&automaton);
        self.spec.has_any |= !unset.is_empty();
        let call = self.enter(heading, &automaton, &states, (state, updates), Some(&unset))?;
        let start = heading.make_process(&heading.name, &heading.name.text, call, &[]);
        self.spec.processes.push(ProcDef { is_automaton: true, ..start });
        let Automaton { states: names, vars, edges, .. } = &automaton;
        let mut edges_from: BTreeMap<&str, Vec<&AutomatonEdge>> = BTreeMap::new();
        edges.iter().for_each(|edge| edges_from.entry(&edge.from.text).or_default().push(edge));
        for state in names {
            self.owner = Some(self.spec.processes.len());
            let mut all = Vec::new();
            for edge in edges_from.get(&*state.text).into_iter().flatten() {
                let next = self.enter(heading, &automaton, &states, (&edge.to, &edge.updates), None)?;
                all.push(self.add_behaviour(BehaviourKind::Prefix(edge.offer.clone(), next), edge.span)?);
            }
            // A state without edges is a choice of nothing: it stops.
            let body = self.add_behaviour(BehaviourKind::Choice(all), state.span)?;
            let name = Name { text: state_name(heading, state), span: state.span };
            self.spec.processes.push(heading.make_process(&name, &state.text, body, vars));
        }
        if self.spec.has_automaton_entries { self.add_entry(heading, &automaton, &states) } else { Ok(()) }
    }

    /// Adds the process `std_name`: its parameters are those of the automaton, the number of a state, and the values of
    /// the variables. With a number that no state has it stops.
    fn add_entry(&mut self, heading: &Heading, automaton: &Automaton, states: &StateNumbers) -> TxsRead<()> {
        let span = heading.name.span;
        self.owner = Some(self.spec.processes.len());
        let formula = |kind| TxsExpr { kind, span };
        let named = |text: &str| Name { text: text.into(), span };
        let mut all = Vec::with_capacity(automaton.states.len());
        for (at, state) in automaton.states.iter().enumerate() {
            let next = self.enter(heading, automaton, states, (state, &[]), None)?;
            let is_here = (TxsOperator { sign: "==", span }, formula(FormulaKind::Number(at.to_string())));
            let chosen = formula(FormulaKind::Apply(named(STATE_NUMBER), Vec::new()));
            let guard = formula(FormulaKind::Chain(Box::new(chosen), vec![is_here]));
            all.push(self.add_behaviour(BehaviourKind::Guard(guard, next), span)?);
        }
        let body = self.add_behaviour(BehaviourKind::Choice(all), span)?;
        let name = Name { text: format!("std_{}", heading.name.text), span };
        let chosen = VarDef { name: named(STATE_NUMBER), sort: Some(named("Int")) };
        let more: Vec<VarDef> = std::iter::once(&chosen).chain(&automaton.vars).cloned().collect();
        self.spec.processes.push(heading.make_process(&name, &name.text, body, &more));
        Ok(())
    }

    /// Makes the call that enters a state with these new values. At the start, `unset` are the variables that may be
    /// read before they have a value.
    fn enter(
        &mut self,
        heading: &Heading,
        automaton: &Automaton,
        states: &StateNumbers,
        (state, updates): (&Name, &[(Name, TxsExpr)]),
        unset: Option<&BTreeSet<&str>>,
    ) -> TxsRead<BehaviourId> {
        let kept = |var: &VarDef| TxsExpr {
            kind: FormulaKind::Apply(Name { text: var.name.text.clone(), span: state.span }, Vec::new()),
            span: state.span,
        };
        // Parameters of the automaton go on unchanged: only variables are assigned.
        let mut args: Vec<TxsExpr> = heading.params.iter().map(kept).collect();
        for var in &automaton.vars {
            let new = updates.iter().rev().find(|(name, _)| name.text == var.name.text);
            args.push(match (new, unset) {
                (Some((_, value)), _) => value.clone(),
                // At the start there is no old value to keep. One that is read before it is assigned may be any.
                (None, Some(unset)) if unset.contains(&*var.name.text) => {
                    TxsExpr { kind: FormulaKind::Any, span: var.name.span }
                }
                (None, Some(_)) => TxsExpr { kind: FormulaKind::Unset(var.sort.clone()), span: state.span },
                (None, None) => kept(var),
            });
        }
        let process = states.process_of.get(&state.text).copied().unwrap_or(heading.first);
        let channels = states.channels.clone();
        self.add_behaviour(BehaviourKind::Enter { process, channels, args }, state.span)
    }

    fn check_automaton(&mut self, heading: &Heading, automaton: &Automaton) -> TxsRead<()> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        for state in &automaton.states {
            if !names.insert(state.text.clone()) {
                return self.report_error(
                    Code::DuplicateName,
                    state.span,
                    format!("state `{}` is declared twice", state.text),
                );
            }
        }
        let init = automaton.init.iter().map(|(state, updates)| (state, updates));
        let targets = init.chain(automaton.edges.iter().map(|edge| (&edge.to, &edge.updates)));
        for (state, updates) in targets {
            self.check_state(&names, state)?;
            for (at, (name, _)) in updates.iter().enumerate() {
                if !automaton.vars.iter().any(|var| var.name.text == name.text) {
                    let message = format!("the automaton has no variable `{}`", name.text);
                    return self.report_error(Code::NotAssignable, name.span, message);
                }
                if updates[..at].iter().any(|(other, _)| other.text == name.text) {
                    let message = format!("`{}` is assigned twice at once", name.text);
                    return self.report_error(Code::AssignedTwice, name.span, message);
                }
            }
        }
        for edge in &automaton.edges {
            self.check_state(&names, &edge.from)?;
            self.check_taken(heading, automaton, edge)?;
        }
        Ok(())
    }

    fn check_state(&mut self, names: &BTreeSet<String>, state: &Name) -> TxsRead<()> {
        if names.contains(&state.text) {
            return Ok(());
        }
        self.report_error(
            Code::UnknownState,
            state.span,
            format!("the automaton has no state `{}`", state.text),
        )
    }

    /// Checks that received variables have names of their own: a variable of the automaton changes only by assignment.
    fn check_taken(&mut self, heading: &Heading, automaton: &Automaton, edge: &AutomatonEdge) -> TxsRead<()> {
        for value in &edge.offer.values {
            let OfferedValue::Take(taken) = value else { continue };
            if heading.params.iter().chain(&automaton.vars).any(|var| var.name.text == taken.name.text) {
                let message = format!("`{}` is a variable of the automaton already", taken.name.text);
                return self.report_error(Code::DuplicateName, taken.name.span, message);
            }
        }
        Ok(())
    }
}

impl Heading {
    /// Returns a process with the channels and parameters of this heading, and `more` parameters.
    fn make_process(&self, name: &Name, shown: &str, body: BehaviourId, more: &[VarDef]) -> ProcDef {
        ProcDef {
            name: name.clone(),
            shown: shown.to_owned(),
            channels: self.channels.clone(),
            params: self.params.iter().chain(more).cloned().collect(),
            exit: self.exit.clone(),
            body,
            is_automaton: false,
        }
    }
}

/// The processes of the states of an automaton, and the channels that all of them have.
struct StateNumbers {
    process_of: BTreeMap<String, usize>,
    channels: SharedNames,
}

impl StateNumbers {
    /// The states are processes in the order of their declaration, behind the one that starts the automaton.
    fn of(heading: &Heading, automaton: &Automaton) -> Self {
        let states = automaton.states.iter().map(|state| state.text.clone());
        let channels: BTreeSet<String> =
            heading.channels.iter().map(|channel| channel.name.text.clone()).collect();
        Self { process_of: states.zip(heading.first + 1..).collect(), channels: channels.into() }
    }
}

/// Returns the variables that may be read before they have a value, by a forward analysis from `INIT` of those that
/// surely have one.
fn read_unset(automaton: &Automaton) -> BTreeSet<&str> {
    let known = surely_set(automaton);
    let mut unset = BTreeSet::new();
    for edge in &automaton.edges {
        let Some(known) = known.get(&*edge.from.text) else { continue };
        let read = read_by(edge);
        let names = automaton.vars.iter().map(|var| var.name.text.as_str());
        unset.extend(names.filter(|name| read.contains(*name) && !known.contains(name)));
    }
    unset
}

/// Returns for every state that can be reached the variables that surely have a value there.
fn surely_set(automaton: &Automaton) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let Some((start, updates)) = &automaton.init else { return known };
    let mut edges_from: BTreeMap<&str, Vec<&AutomatonEdge>> = BTreeMap::new();
    automaton.edges.iter().for_each(|edge| edges_from.entry(&edge.from.text).or_default().push(edge));
    known.insert(&start.text, updates.iter().map(|(name, _)| name.text.as_str()).collect());
    // A state is looked at again only when its set has become smaller, so at most once for each variable.
    let mut changed: BTreeSet<&str> = [start.text.as_str()].into();
    while let Some(state) = changed.pop_first() {
        let before = known.get(state).cloned().unwrap_or_default();
        for edge in edges_from.get(state).into_iter().flatten() {
            let mut after = before.clone();
            after.extend(edge.updates.iter().map(|(name, _)| name.text.as_str()));
            let joined = match known.get(&*edge.to.text) {
                None => after,
                Some(known) => known.intersection(&after).copied().collect(),
            };
            if known.get(&*edge.to.text) != Some(&joined) {
                known.insert(&edge.to.text, joined);
                changed.insert(&edge.to.text);
            }
        }
    }
    known
}

/// Returns the name of a state among the processes; it contains a point, which no written name does, and a number, as
/// several automata may have one name.
fn state_name(heading: &Heading, state: &Name) -> String {
    format!("{}.{}.{}", heading.name.text, heading.first, state.text)
}

/// Returns the names that an edge reads, without those that its offer binds.
fn read_by(edge: &AutomatonEdge) -> BTreeSet<String> {
    let mut read = BTreeSet::new();
    edge.updates.iter().for_each(|(_, value)| value.names(&mut read));
    if let Some(guard) = &edge.offer.guard {
        guard.names(&mut read);
    }
    // Before sent values are added: they are read before the offer binds its names.
    super::without_taken(&mut read, &edge.offer.values);
    for value in &edge.offer.values {
        if let OfferedValue::Give(value) = value {
            value.names(&mut read);
        }
    }
    read
}
