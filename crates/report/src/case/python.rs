//! A case as a Python test, for pytest or unittest, over the package in `sdk/python`.
//!
//! The file holds the tree with its guards as Python expressions; following it on a live system is the
//! work of `ioxide_adapter.case`. Reals are fractions, so guards are decided exactly.

use std::fmt::Write as _;

use ioxide_model::number::Rational;
use ioxide_model::term::{TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_testgen::case::{Arc, Case};

use super::corner::corners;
use super::expr::{Dialect, Function, expression, quoted};
use super::{CaseView, Unwritable};

/// The test file.
///
/// # Errors
/// If a guard cannot be written in Python.
pub fn python(view: &CaseView<'_>) -> Result<String, Unwritable> {
    let name = identifier(&view.model.sts.name);
    let mut out = format!("\"\"\"A test case made by ioxide from the model {name}.\n\n");
    let _ = writeln!(out, "Path: {}.", ascii(&view.path().join(" ")));
    out.push_str("Run: IOXIDE_SUT='stdio:COMMAND' (or 'tcp:HOST:PORT') python3 -m pytest FILE, or python3 FILE.\n\"\"\"\n\n");
    out.push_str("import unittest\nfrom fractions import Fraction as F\n\n");
    out.push_str(
        "from ioxide_adapter.case import Arc, State, Stimulus, div, floor, follow, quotient, rem\n\n",
    );
    let timeout = view.case.timeout.as_ref().map_or_else(|| "None".to_owned(), fraction);
    let _ = writeln!(out, "TM = {timeout}\n\nSTATES = [");
    let mut pool = view.model.pool.clone();
    let dialect = Python { tm: view.case.tm };
    for (n, state) in view.case.states.iter().enumerate() {
        let delay = string(view.name(state.delay));
        let _ = writeln!(out, "    State({}, {delay}, [", string(&Case::state_name(n)));
        for arc in &state.arcs {
            let corners = corners(&mut pool, state.delay, arc.guard);
            let write = |term| expression(&pool, &dialect, term).map_err(|lacks| unwritable(n, arc, lacks));
            let corners = corners.into_iter().map(write).collect::<Result<Vec<_>, _>>()?;
            write_arc(&mut out, view, arc, &write(arc.guard)?, &corners);
        }
        out.push_str("    ]),\n");
    }
    out.push_str("]\n\n\n");
    let _ = writeln!(out, "class {name}Case(unittest.TestCase):\n    def test_path(self):");
    out.push_str("        follow(self, STATES, TM)\n\n\n");
    out.push_str("if __name__ == \"__main__\":\n    unittest.main()\n");
    Ok(out)
}

pub(super) fn unwritable(n: usize, arc: &Arc, lacks: &'static str) -> Unwritable {
    Unwritable { state: Case::state_name(n), rule: arc.rule.word(), lacks }
}

fn write_arc(out: &mut String, view: &CaseView<'_>, arc: &Arc, guard: &str, corners: &[String]) {
    let message = arc.gate.map_or("None".to_owned(), |gate| string(&view.model.sts.gates[gate].name));
    let pool = &view.model.pool;
    let fields = view.fields(arc).map(|(name, var)| {
        let sort = pool.show_sort(pool.var_info(var).sort.base());
        format!("({}, {}, {})", string(name), string(view.name(var)), string(&sort))
    });
    let fields: Vec<String> = fields.collect();
    let (rule, action) = (string(arc.rule.word()), string(view.action(arc).word()));
    let target = string(&view.target(arc));
    let _ = writeln!(out, "        Arc({rule}, {action}, {message}, [{}], {target},", fields.join(", "));
    let _ = write!(out, "            lambda v: {guard}");
    if let Some(stimulus) = &arc.witness {
        let values: Vec<String> = view
            .fields(arc)
            .zip(&stimulus.values)
            .map(|((name, _), value)| format!("{}: {}", string(name), constant(&view.model.pool, value)))
            .collect();
        let delay = fraction(&stimulus.delay);
        let _ = write!(out, ",\n            Stimulus({delay}, {{{}}})", values.join(", "));
    }
    if !corners.is_empty() {
        let _ = write!(out, ",\n            corners=lambda v: [{}]", corners.join(", "));
    }
    out.push_str("),\n");
}

struct Python {
    tm: VarId,
}

impl Dialect for Python {
    fn var(&self, pool: &TermPool, var: VarId) -> Result<String, &'static str> {
        if var == self.tm {
            return Ok("TM".into());
        }
        Ok(format!("v[{}]", string(&pool.var_info(var).name)))
    }

    fn value(&self, value: &Value) -> Result<String, &'static str> {
        match value {
            Value::Bool(b) => Ok(if *b { "True".into() } else { "False".into() }),
            Value::Int(n) => Ok(n.to_string()),
            Value::Real(r) => Ok(fraction(r)),
            Value::Str(text) => Ok(string(text)),
            Value::Data(_) => Err("records and options"),
            Value::Collection(_) => Err("collections"),
        }
    }

    fn connective(&self) -> (&'static str, &'static str) {
        ("and", "or")
    }

    fn not(&self, inner: &str) -> String {
        format!("(not {inner})")
    }

    fn ite(&self, cond: &str, then: &str, other: &str) -> Result<String, &'static str> {
        Ok(format!("({then} if {cond} else {other})"))
    }

    fn call(&self, function: Function, args: &[String]) -> Result<String, &'static str> {
        let all = args.join(", ");
        Ok(match function {
            Function::Div => format!("div({all})"),
            Function::Rem => format!("rem({all})"),
            Function::Quotient => format!("quotient({all})"),
            Function::ToReal => format!("F({all})"),
            Function::Floor => format!("floor({all})"),
            Function::Concat => format!("({})", args.join(" + ")),
            Function::Length => format!("len({all})"),
            Function::Contains => format!("({} in {})", args[1], args[0]),
            Function::Prefix => format!("{}.startswith({})", args[1], args[0]),
            Function::Suffix => format!("{}.endswith({})", args[1], args[0]),
        })
    }
}

/// A value as the adapter protocol has it, in Python.
fn constant(pool: &TermPool, value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Real(r) => fraction(r),
        Value::Str(text) => string(text),
        Value::Int(n) => n.to_string(),
        // JSON without booleans inside an enum, record or option reads as Python, null aside.
        Value::Data(_) | Value::Collection(_) => match ioxide_runner::codec::value_to_json(pool, value) {
            serde_json::Value::Null => "None".into(),
            json => format!("__import__(\"json\").loads({})", string(&json.to_string())),
        },
    }
}

fn fraction(r: &Rational) -> String {
    if r.is_integer() { format!("F({})", r.numer()) } else { format!("F({}, {})", r.numer(), r.denom()) }
}

fn string(text: &str) -> String {
    quoted(text, |c| format!("\\U{:08x}", u32::from(c)))
}

/// `name` as the name of a class.
pub(super) fn identifier(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("M{plain}") }
}

/// `text` with only plain characters, for comments.
pub(super) fn ascii(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='~') && c != '"' && c != '\\' { c } else { '?' }).collect()
}
