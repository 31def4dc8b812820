//! The guards of a case in SMT-LIB: for the JSON, and as a script that asks for an example of each.

use std::fmt::Write as _;

use ioxide_model::sort::Sort;
use ioxide_model::sts::Model;
use ioxide_model::term::{Term, VarId};
use ioxide_model::value::{DataValue, Value};
use ioxide_report::case::CaseView;
use ioxide_report::case::json::{CaseSmt, SmtName};
use ioxide_smt::smtlib::{SmtInexpressible, write};
use ioxide_testgen::case::TestCase;

use crate::exit::{CliError, ExitStatus};

/// Returns every guard with the declarations that it needs.
pub fn guards(model: &Model, case: &TestCase) -> Result<CaseSmt, CliError> {
    let pool = &model.pool;
    let all: Vec<Term> = case.arcs().map(|arc| arc.guard).collect();
    let declarations = write::write_declarations(pool, &all).map_err(|error| inexpressible(&error))?;
    let declarations = declarations.lines().map(str::to_owned).collect();
    let names =
        pool.free_vars_of(&all).into_iter().map(|var| smt_name(model, var)).collect::<Result<_, _>>()?;
    let mut guards = Vec::with_capacity(case.states.len());
    for state in &case.states {
        let texts = state.arcs.iter().map(|arc| guard(model, arc.guard)).collect::<Result<Vec<_>, _>>()?;
        guards.push(texts);
    }
    Ok(CaseSmt { declarations, names, guards })
}

/// Returns the SMT-LIB symbol and sort of `var`, and the constructors if it is a plain enum; other data has no sort
/// name.
fn smt_name(model: &Model, var: VarId) -> Result<SmtName, CliError> {
    let pool = &model.pool;
    let (symbol, mut cases) = (write::var_name(pool, var), Vec::new());
    let sort = match pool.var_info(var).sort {
        Sort::Bool => "Bool",
        Sort::Int | Sort::Range { .. } => "Int",
        Sort::Real => "Real",
        Sort::Str => "String",
        Sort::Data(data) if pool.data(data).ctors.iter().all(|ctor| ctor.fields.is_empty()) => {
            for (at, ctor) in (0..).zip(&pool.data(data).ctors) {
                let value = Value::Data(DataValue { data, ctor: at, args: Vec::new().into() });
                cases.push((ctor.name.to_string(), literal(model, &value)?));
            }
            "Enum"
        }
        Sort::Data(_) | Sort::Collection(_) => "",
    };
    Ok(SmtName { var, symbol, sort, cases })
}

/// Returns a value in SMT-LIB.
fn literal(model: &Model, value: &Value) -> Result<String, CliError> {
    let mut out = String::new();
    write::write_value(&model.pool, value, &mut out)
        .map_err(|error| CliError::new(ExitStatus::Internal, error.to_string()))?;
    Ok(out)
}

/// Returns a guard in SMT-LIB; some cannot be expressed there.
fn guard(model: &Model, guard: Term) -> Result<String, CliError> {
    let mut out = String::new();
    write::write_term(&model.pool, guard, &mut out).map_err(|error| inexpressible(&error))?;
    Ok(out)
}

/// Returns the error about a guard that SMT-LIB cannot express.
fn inexpressible(error: &SmtInexpressible) -> CliError {
    CliError::new(ExitStatus::Usage, format!("a guard cannot be written in SMT-LIB: {error}"))
}

/// A script that asks, arc by arc, whether its guard can hold.
pub fn script(view: &CaseView<'_>) -> Result<String, CliError> {
    let smt = guards(view.model, view.case)?;
    let mut out = String::from("(set-logic ALL)\n");
    for line in &smt.declarations {
        let _ = writeln!(out, "{line}");
    }
    if let Some(timeout) = &view.case.timeout {
        let value = literal(view.model, &Value::Real(timeout.clone()))?;
        if let Some(tm) = smt.names.iter().find(|named| named.var == view.case.tm) {
            let _ = writeln!(out, "(assert (= {} {value}))", tm.symbol);
        }
    }
    for (n, state) in view.case.states.iter().enumerate() {
        for (arc, guard) in state.arcs.iter().zip(&smt.guards[n]) {
            let (rule, target) = (arc.rule.word(), view.target_name(arc));
            let _ = writeln!(out, "; {} {rule} {target}", TestCase::state_name(n));
            let _ = writeln!(out, "(push 1)\n(assert {guard})\n(check-sat)\n(pop 1)");
        }
    }
    Ok(out)
}
