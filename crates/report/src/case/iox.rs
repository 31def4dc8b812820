//! A case as a model: one state per state of the case and per verdict, to look at, to step through, to compare.
//!
//! Earlier values are kept in variables, `seen_amt_1` for the guard's `amt@1`. Clock `at_n` measures the time since
//! state `n` was entered, so a delay of an earlier step is a difference of two clocks. Quiescence until the time-out is
//! the message `silence`, which the tester's own timer gives.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ioxide_model::name::source_name;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{Gate, GateKind};
use ioxide_model::term::{Substitution, Term, TermPool, VarId};
use ioxide_testgen::case::{ArcTarget, CaseArc, CaseState, TestCase};

use super::CaseView;
use super::python::{ascii_comment, class_name};
use crate::text::type_lines;

/// Returns the text of the model, not yet formatted.
#[must_use]
pub fn write_iox(view: &CaseView<'_>) -> String {
    let mut writer = IoxCaseWriter::new(view);
    let mut states = String::new();
    for (n, state) in view.case.states.iter().enumerate() {
        writer.write_state(&mut states, n, state);
    }
    let verdicts: BTreeSet<&str> = view.case.arcs().filter_map(arc_verdict).collect();
    for verdict in verdicts {
        let _ = writeln!(states, "state {verdict} {{ }}");
    }
    let mut out = format!("/// A test case of the model {}.\n", ascii_comment(&view.model.sts.name));
    let _ = writeln!(out, "///\n/// Path: {}.", ascii_comment(&view.path_text()));
    let _ = writeln!(out, "model {}_case {{", class_name(&view.model.sts.name));
    writer.write_declarations(&mut out);
    out.push_str(&states);
    out.push_str("}\n");
    out
}

fn arc_verdict(arc: &CaseArc) -> Option<&'static str> {
    if let ArcTarget::Verdict(verdict) = arc.target { Some(verdict.word()) } else { None }
}

struct IoxCaseWriter<'c> {
    view: &'c CaseView<'c>,
    pool: TermPool,
    /// The fields of earlier steps that some guard reads.
    remembered: BTreeSet<VarId>,
    /// One clock per state.
    clocks: Vec<VarId>,
    silence: String,
}

impl<'c> IoxCaseWriter<'c> {
    /// Prepares a model of the case: one clock for each state, and a variable for each observation that a later guard
    /// mentions.
    fn new(view: &'c CaseView<'c>) -> Self {
        let mut pool = view.model.pool.clone();
        let clocks =
            (0..view.case.states.len()).map(|n| pool.declare(&format!("at_{n}"), Sort::Real)).collect();
        let mut remembered = BTreeSet::new();
        for state in &view.case.states {
            for arc in &state.arcs {
                let own = |var: &VarId| {
                    arc.fields.contains(var) || view.case.states.iter().any(|s| s.delay == *var)
                };
                let read = pool.free_vars(arc.guard).into_iter();
                remembered.extend(read.filter(|var| !own(var) && *var != view.case.tm));
            }
        }
        let mut silence = "silence".to_owned();
        while view.model.sts.gate_named(&silence).is_some() {
            silence.push('_');
        }
        Self { view, pool, remembered, clocks, silence }
    }

    fn write_declarations(&self, out: &mut String) {
        let (view, pool) = (self.view, &self.view.model.pool);
        for line in type_lines(view.model) {
            let _ = writeln!(out, "{line}");
        }
        for gate in view.model.sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal) {
            let _ = writeln!(out, "{}", self.message_declaration(gate));
        }
        let _ = writeln!(out, "/// Nothing until the time-out.\noutput {}", self.silence);
        if view.case.is_timed {
            let _ = writeln!(out, "/// After which nothing counts as silence, in seconds.");
            let _ = writeln!(
                out,
                "const TM: real = {}",
                pool.show_value(&ioxide_model::value::Value::Real(view.timeout()))
            );
            for &clock in &self.clocks {
                let _ = writeln!(out, "clock {}", self.pool.var_info(clock).name);
            }
        }
        for &var in &self.remembered {
            let sort = pool.var_info(var).sort;
            let start = pool.show_value(&pool.default_value(sort)).to_string();
            let _ = writeln!(
                out,
                "var {}: {} = {start}",
                memory_variable_name(view.variable_name(var)),
                pool.show_sort(sort)
            );
        }
    }

    fn message_declaration(&self, gate: &Gate) -> String {
        let model = self.view.model;
        let kind = match gate.kind {
            GateKind::Input => "input",
            GateKind::Observed => "observed input",
            GateKind::Output | GateKind::Internal => "output",
        };
        let field = |&field: &VarId| {
            let name = source_name(&model.pool.var_info(field).name);
            format!("{name}: {}", model.pool.show_sort(model.field_sort(field)))
        };
        let fields: Vec<String> = gate.fields.iter().map(field).collect();
        if fields.is_empty() {
            format!("{kind} {}", source_name(&gate.name))
        } else {
            format!("{kind} {}({})", source_name(&gate.name), fields.join(", "))
        }
    }

    fn write_state(&mut self, out: &mut String, n: usize, state: &CaseState) {
        let _ = writeln!(out, "state {} {{", TestCase::state_name(n));
        for (at, arc) in state.arcs.iter().enumerate() {
            let sts = &self.view.model.sts;
            let message = arc
                .gate
                .map_or_else(|| self.silence.clone(), |gate| source_name(&sts.gates[gate].name).into());
            let verb = match arc.gate.map(|gate| sts.gates[gate].kind) {
                Some(GateKind::Input | GateKind::Observed) => "on",
                _ => "emit",
            };
            let guard = self.guard_in_model_names(n, state, arc);
            let _ = write!(out, "{}_{n}_{at}: {verb} {message}", arc.rule.word());
            if guard != "true" {
                let _ = write!(out, " when {guard}");
            }
            let updates = self.update_lines(arc);
            if !updates.is_empty() {
                let _ = write!(out, " {{ {} }}", updates.join(", "));
            }
            let target = match arc.target {
                ArcTarget::State(next) => TestCase::state_name(next),
                ArcTarget::Verdict(verdict) => verdict.word().to_owned(),
            };
            let _ = writeln!(out, " -> {target}");
        }
        out.push_str("}\n");
    }

    /// Returns the guard in the names of the model: fields of the message, variables for earlier fields, clocks.
    fn guard_in_model_names(&mut self, n: usize, state: &CaseState, arc: &CaseArc) -> String {
        let mut names = Substitution::new();
        for (name, var) in self.view.fields(arc) {
            let term = self.named_variable(name, var);
            names.set(var, term);
        }
        for var in self.remembered.clone().into_iter().filter(|var| !arc.fields.contains(var)) {
            let term = self.named_variable(&memory_variable_name(self.view.variable_name(var)), var);
            names.set(var, term);
        }
        for (earlier, before) in self.view.case.states.iter().enumerate().take(n) {
            let since = |writer: &mut Self, at: usize| writer.pool.var(writer.clocks[at]);
            let (entered, left) = (since(self, earlier), since(self, earlier + 1));
            names.set(before.delay, self.pool.sub(entered, left));
        }
        names.set(state.delay, self.pool.var(self.clocks[n]));
        let guard = self.pool.substitute(arc.guard, &names);
        self.pool.show(guard).to_string()
    }

    fn named_variable(&mut self, name: &str, like: VarId) -> Term {
        let sort = self.pool.var_info(like).sort;
        let var = self.pool.declare(name, sort);
        self.pool.var(var)
    }

    fn update_lines(&self, arc: &CaseArc) -> Vec<String> {
        let ArcTarget::State(next) = arc.target else { return Vec::new() };
        let kept = self.view.fields(arc).filter(|(_, var)| self.remembered.contains(var));
        let mut updates: Vec<String> = kept
            .map(|(name, var)| format!("{} = {name}", memory_variable_name(self.view.variable_name(var))))
            .collect();
        if self.view.case.is_timed {
            updates.push(format!("reset {}", self.pool.var_info(self.clocks[next]).name));
        }
        updates
    }
}

/// Returns the name of the variable that keeps the field `name`, such as `seen_amt_1` for `amt@1`.
fn memory_variable_name(name: &str) -> String {
    format!("seen_{}", class_name(name))
}
