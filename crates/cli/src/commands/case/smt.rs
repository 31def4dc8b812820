//! The guards of a case in SMT-LIB: for the JSON, and as a script that asks for an example of each.

use std::fmt::Write as _;

use ioxide_model::sts::Model;
use ioxide_model::term::Term;
use ioxide_report::case::CaseView;
use ioxide_report::case::json::Smt;
use ioxide_smt::smtlib::write;
use ioxide_testgen::case::Case;

use crate::exit::{ExitStatus, Stop};

/// Every guard with what it needs declared.
pub fn guards(model: &Model, case: &Case) -> Result<Smt, Stop> {
    let pool = &model.pool;
    let all: Vec<Term> = case.arcs().map(|arc| arc.guard).collect();
    let declarations = write::declarations(pool, &all).lines().map(str::to_owned).collect();
    let names = pool.free_vars_of(&all).into_iter().map(|var| (var, write::var_name(pool, var))).collect();
    let mut guards = Vec::with_capacity(case.states.len());
    for state in &case.states {
        let texts = state.arcs.iter().map(|arc| guard(model, arc.guard)).collect::<Result<Vec<_>, _>>()?;
        guards.push(texts);
    }
    Ok(Smt { declarations, names, guards })
}

fn guard(model: &Model, guard: Term) -> Result<String, Stop> {
    let mut out = String::new();
    write::term(&model.pool, guard, &mut out).map_err(|reason| {
        Stop::new(ExitStatus::Usage, format!("a guard cannot be written in SMT-LIB: {reason}"))
    })?;
    Ok(out)
}

/// A script that asks, arc by arc, whether its guard can hold.
pub fn script(view: &CaseView<'_>) -> Result<String, Stop> {
    let smt = guards(view.model, view.case)?;
    let mut out = String::from("(set-logic ALL)\n");
    for line in &smt.declarations {
        let _ = writeln!(out, "{line}");
    }
    if let Some(timeout) = &view.case.timeout {
        let mut value = String::new();
        write::value(&view.model.pool, &ioxide_model::value::Value::Real(timeout.clone()), &mut value)
            .map_err(|reason| Stop::new(ExitStatus::Internal, reason))?;
        if let Some((_, tm)) = smt.names.iter().find(|(var, _)| *var == view.case.tm) {
            let _ = writeln!(out, "(assert (= {tm} {value}))");
        }
    }
    for (n, state) in view.case.states.iter().enumerate() {
        for (arc, guard) in state.arcs.iter().zip(&smt.guards[n]) {
            let (rule, target) = (arc.rule.word(), view.target(arc));
            let _ = writeln!(out, "; {} {rule} {target}", Case::state_name(n));
            let _ = writeln!(out, "(push 1)\n(assert {guard})\n(check-sat)\n(pop 1)");
        }
    }
    Ok(out)
}
