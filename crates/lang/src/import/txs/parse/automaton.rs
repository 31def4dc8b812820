//! Automata: each state becomes a process, with the variables as parameters behind those of the automaton.
//!
//! `s -> offer { x := e } -> t` is an alternative `offer >-> t[...](..., e, ...)` of `s`: updates happen at once.

use std::collections::BTreeSet;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;

use super::super::tree::{
    BehaviourId, BehaviourKind, ChanDef, ChannelOffer, ExitDef, FormulaKind, OfferedValue, ProcDef, TxsExpr,
    VarDef,
};
use super::{TxsRead, TxsReader};
use crate::ast::Name;

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
    channels: Vec<ChanDef>,
    params: Vec<VarDef>,
    exit: ExitDef,
}

impl TxsReader<'_> {
    pub(super) fn automaton_def(&mut self) -> TxsRead<()> {
        let (name, channels, params, exit) = self.process_heading()?;
        let heading = Heading { name, channels, params, exit };
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
        let first = self.spec.processes.len();
        self.owner = Some(first);
        let call = self.enter(heading, &automaton, state, updates, true)?;
        self.spec.processes.push(heading.make_process(&heading.name, &heading.name.text, call, &[]));
        for state in &automaton.states {
            self.owner = Some(self.spec.processes.len());
            let mut all = Vec::new();
            for edge in automaton.edges.iter().filter(|edge| edge.from.text == state.text) {
                let next = self.enter(heading, &automaton, &edge.to, &edge.updates, false)?;
                all.push(self.add_behaviour(BehaviourKind::Prefix(edge.offer.clone(), next), edge.span)?);
            }
            // A state without edges is a choice of nothing: it stops.
            let body = self.add_behaviour(BehaviourKind::Choice(all), state.span)?;
            let name = Name { text: state_name(heading, state), span: state.span };
            self.spec.processes.push(heading.make_process(&name, &state.text, body, &automaton.vars));
        }
        Ok(())
    }

    /// Makes the call that enters `state` with these new values.
    fn enter(
        &mut self,
        heading: &Heading,
        automaton: &Automaton,
        state: &Name,
        updates: &[(Name, TxsExpr)],
        is_start: bool,
    ) -> TxsRead<BehaviourId> {
        let process = Name { text: state_name(heading, state), span: state.span };
        let channels = heading.channels.iter().map(|channel| channel.name.clone()).collect();
        let kept = |var: &VarDef| TxsExpr {
            kind: FormulaKind::Apply(Name { text: var.name.text.clone(), span: state.span }, Vec::new()),
            span: state.span,
        };
        // Parameters of the automaton go on unchanged: only variables are assigned.
        let mut args: Vec<TxsExpr> = heading.params.iter().map(kept).collect();
        for var in &automaton.vars {
            let new = updates.iter().rev().find(|(name, _)| name.text == var.name.text);
            args.push(match new {
                Some((_, value)) => value.clone(),
                // At the start there is no old value to keep. `check_values` has made sure that nobody reads
                // it before it is assigned.
                None if is_start => TxsExpr { kind: FormulaKind::Unset(var.sort.clone()), span: state.span },
                None => kept(var),
            });
        }
        self.add_behaviour(BehaviourKind::Call { process, channels, args }, state.span)
    }

    fn check_automaton(&mut self, heading: &Heading, automaton: &Automaton) -> TxsRead<()> {
        for (at, state) in automaton.states.iter().enumerate() {
            if automaton.states[..at].iter().any(|other| other.text == state.text) {
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
            self.check_state(automaton, state)?;
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
            self.check_state(automaton, &edge.from)?;
            self.check_taken(heading, automaton, edge)?;
        }
        self.check_values(automaton)
    }

    fn check_state(&mut self, automaton: &Automaton, state: &Name) -> TxsRead<()> {
        if automaton.states.iter().any(|known| known.text == state.text) {
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

    /// Checks that no variable is read before it has a value, by a forward analysis from `INIT` of those that surely
    /// have one.
    fn check_values(&mut self, automaton: &Automaton) -> TxsRead<()> {
        let Some((start, updates)) = &automaton.init else { return Ok(()) };
        let index = |name: &Name| automaton.states.iter().position(|state| state.text == name.text);
        // What surely has a value in each state; `None` where no way leads yet. Sets only get smaller, so the
        // loop ends.
        let mut known: Vec<Option<BTreeSet<&str>>> = vec![None; automaton.states.len()];
        let Some(start) = index(start) else { return Ok(()) };
        known[start] = Some(updates.iter().map(|(name, _)| name.text.as_str()).collect());
        let mut changed = true;
        while changed {
            changed = false;
            for edge in &automaton.edges {
                let (Some(from), Some(to)) = (index(&edge.from), index(&edge.to)) else { continue };
                let Some(before) = known[from].clone() else { continue };
                let mut after = before;
                after.extend(edge.updates.iter().map(|(name, _)| name.text.as_str()));
                let joined = match &known[to] {
                    None => after,
                    // By every way: what is set on one of them only may be unset.
                    Some(known) => known.intersection(&after).copied().collect(),
                };
                if known[to].as_ref() != Some(&joined) {
                    known[to] = Some(joined);
                    changed = true;
                }
            }
        }
        for edge in &automaton.edges {
            // An edge that no way leads to reads nothing.
            let Some(known) = index(&edge.from).and_then(|from| known[from].as_ref()) else { continue };
            let read = read_by(edge);
            let unset =
                |var: &&VarDef| read.contains(&var.name.text) && !known.contains(var.name.text.as_str());
            if let Some(var) = automaton.vars.iter().find(unset) {
                let message = format!("variable `{}` may be read here before it has a value", var.name.text);
                return self.report_error(Code::TxsNotRead, edge.span, message);
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
        }
    }
}

/// Returns the name of a state among the processes; it contains a point, which no written name does.
fn state_name(heading: &Heading, state: &Name) -> String {
    format!("{}.{}", heading.name.text, state.text)
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
