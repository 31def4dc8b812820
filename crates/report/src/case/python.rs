//! A case as a Python test, for pytest or unittest, over the package in `sdk/python`.
//!
//! The file holds the tree with its guards as Python expressions; `ioxide_adapter.case` follows it on a live system.
//! Reals are fractions, so guards are decided exactly. The values of a stimulus are chosen when it is due, by the
//! observations so far; a guard that Python cannot express (quantifiers) is SMT-LIB, for the package `z3-solver`.

use std::fmt::Write as _;

use ioxide_model::number::Rational;
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_testgen::case::{CaseArc, CaseState, TestCase, corners};

use super::choice::candidate_values;
use super::expr::{CallName, ExprDialect, quote_with, write_expression};
use super::json::CaseSmt;
use super::{CaseView, LanguageGap, Unwritable};

/// The test file.
///
/// # Errors
/// If a guard can be written neither in Python nor for a solver.
pub fn write_python(view: &CaseView<'_>, smt: &CaseSmt) -> Result<String, Unwritable> {
    let name = class_name(&view.model.sts.name);
    let mut out = format!("\"\"\"A test case made by ioxide from the model {name}.\n\n");
    let _ = writeln!(out, "Path: {}.", ascii_comment(&view.path_text()));
    out.push_str(
        "Run: IOXIDE_SUT='stdio:COMMAND' (or 'tcp:HOST:PORT') python3 -m pytest FILE, or python3 \
         FILE.\n\"\"\"\n\n",
    );
    out.push_str("import unittest\nfrom fractions import Fraction as F\n\n");
    out.push_str("from ioxide_adapter.case import Arc, State, Stimulus, div, floor, follow, quotient, rem\n");
    let mut writer = PythonCaseWriter { view, smt, pool: view.model.pool.clone(), asks: false };
    let mut states = String::new();
    for (n, state) in view.case.states.iter().enumerate() {
        writer.write_state(&mut states, n, state)?;
    }
    if writer.asks {
        out.push_str("from ioxide_adapter.solve import Questions\n");
    }
    let timeout = view.case.timeout.as_ref().map_or_else(|| "None".to_owned(), fraction_text);
    let _ = writeln!(out, "\nTM = {timeout}\n");
    if writer.asks {
        writer.write_queries(&mut out);
    }
    let _ = writeln!(out, "STATES = [\n{states}]\n\n");
    let _ = writeln!(out, "class {name}Case(unittest.TestCase):\n    def test_path(self):");
    out.push_str("        follow(self, STATES, TM)\n\n\n");
    out.push_str("if __name__ == \"__main__\":\n    unittest.main()\n");
    Ok(out)
}

/// The beginning of a guard that is a query to the solver.
const ASKED: &str = "QUESTIONS.holds(";

/// A writer of the states.
struct PythonCaseWriter<'c> {
    view: &'c CaseView<'c>,
    smt: &'c CaseSmt,
    pool: TermPool,
    /// True if the test needs a solver at run time.
    asks: bool,
}

impl PythonCaseWriter<'_> {
    fn write_state(&mut self, out: &mut String, n: usize, state: &CaseState) -> Result<(), Unwritable> {
        let delay = string_literal(self.view.variable_name(state.delay));
        let _ = writeln!(out, "    State({}, {delay}, [", string_literal(&TestCase::state_name(n)));
        for (at, arc) in state.arcs.iter().enumerate() {
            let guard = match self.write_guard(arc.guard) {
                Ok(guard) => guard,
                Err(gap) => {
                    let question = self.guard_query(n, at, arc).ok_or_else(|| unwritable_arc(n, arc, gap))?;
                    format!("{ASKED}{question}, v)")
                }
            };
            self.write_arc(out, arc, &guard);
            self.write_stimulus(out, (n, at), arc, guard.starts_with(ASKED));
            self.write_corners(out, state, arc);
            out.push_str("),\n");
        }
        out.push_str("    ]),\n");
        Ok(())
    }

    fn write_guard(&self, term: Term) -> Result<String, LanguageGap> {
        write_expression(&self.pool, &PythonCase { tm: self.view.case.tm }, term)
    }

    /// Returns the guard as a query to the solver; `None` if a variable in it has a sort without literals.
    fn guard_query(&mut self, n: usize, at: usize, arc: &CaseArc) -> Option<String> {
        let text = self.smt.guards.get(n)?.get(at)?;
        let plain = |var: VarId| self.smt.names.iter().any(|named| named.var == var && named.is_plain());
        let vars = self.pool.free_vars_of(&[arc.guard]);
        vars.into_iter().all(plain).then(|| string_literal(text)).inspect(|_| self.asks = true)
    }

    fn write_arc(&self, out: &mut String, arc: &CaseArc, guard: &str) {
        let view = self.view;
        let message =
            arc.gate.map_or("None".to_owned(), |gate| string_literal(&view.model.sts.gates[gate].name));
        let pool = &view.model.pool;
        let fields = view.fields(arc).map(|(name, var)| {
            let sort = pool.show_sort(pool.var_info(var).sort.base());
            format!(
                "({}, {}, {})",
                string_literal(name),
                string_literal(view.variable_name(var)),
                string_literal(&sort)
            )
        });
        let fields: Vec<String> = fields.collect();
        let (rule, action) =
            (string_literal(arc.rule.word()), string_literal(view.actor(arc).variable_name()));
        let target = string_literal(&view.target_name(arc));
        let _ = writeln!(out, "        Arc({rule}, {action}, {message}, [{}], {target},", fields.join(", "));
        let _ = write!(out, "            lambda v: {guard}");
    }

    /// Writes the stimulus: the values of the witness and, where these do not fit every observation, candidates for
    /// others.
    fn write_stimulus(&mut self, out: &mut String, (n, at): (usize, usize), arc: &CaseArc, is_asked: bool) {
        let Some(stimulus) = &arc.witness else { return };
        let view = self.view;
        let values: Vec<String> = view
            .fields(arc)
            .zip(&stimulus.values)
            .map(|((name, _), value)| {
                format!("{}: {}", string_literal(name), python_constant(&view.model.pool, value))
            })
            .collect();
        let delay = fraction_text(&stimulus.delay);
        let _ = write!(out, ",\n            Stimulus({delay}, {{{}}}", values.join(", "));
        if !stimulus.always {
            let fields: Vec<String> =
                arc.fields.iter().filter_map(|&field| self.choice_expressions(field, arc.guard)).collect();
            let _ = write!(out, ",\n                choices=lambda v: {{{}}}", fields.join(", "));
            if let Some(question) = self.guard_query(n, at, arc) {
                let _ = write!(
                    out,
                    ",\n                ask=lambda v, free: QUESTIONS.values({question}, v, free)"
                );
                if is_asked {
                    out.push_str(", asks=True");
                }
            }
        }
        out.push(')');
    }

    fn choice_expressions(&mut self, field: VarId, guard: Term) -> Option<String> {
        let terms = candidate_values(&mut self.pool, field, guard);
        let list: Vec<String> = terms.into_iter().filter_map(|term| self.write_guard(term).ok()).collect();
        (!list.is_empty())
            .then(|| format!("{}: [{}]", string_literal(self.view.variable_name(field)), list.join(", ")))
    }

    fn write_corners(&mut self, out: &mut String, state: &CaseState, arc: &CaseArc) {
        let corners = corners(&mut self.pool, state.delay, arc.guard);
        let corners: Vec<String> =
            corners.into_iter().filter_map(|term| self.write_guard(term).ok()).collect();
        if !corners.is_empty() {
            let _ = write!(out, ",\n            corners=lambda v: [{}]", corners.join(", "));
        }
    }

    /// Writes the constant `QUESTIONS`: the declarations for the solver, the symbol and sort of each value, the
    /// time-out.
    fn write_queries(&self, out: &mut String) {
        out.push_str("QUESTIONS = Questions(\n    [\n");
        for line in &self.smt.declarations {
            let _ = writeln!(out, "        {},", string_literal(line));
        }
        out.push_str("    ],\n    {\n");
        for named in self.smt.names.iter().filter(|named| named.is_plain()) {
            let cases: Vec<String> = named
                .cases
                .iter()
                .map(|(name, symbol)| format!("{}: {}", string_literal(name), string_literal(symbol)))
                .collect();
            let name = if named.var == self.view.case.tm { "TM" } else { self.view.variable_name(named.var) };
            let _ = writeln!(
                out,
                "        {}: ({}, {}, {{{}}}),",
                string_literal(name),
                string_literal(&named.symbol),
                string_literal(named.sort),
                cases.join(", ")
            );
        }
        out.push_str("    },\n    TM,\n)\n\n");
    }
}

pub(super) fn unwritable_arc(n: usize, arc: &CaseArc, gap: LanguageGap) -> Unwritable {
    Unwritable { state: TestCase::state_name(n), rule: arc.rule.word(), gap }
}

struct PythonCase {
    tm: VarId,
}

impl ExprDialect for PythonCase {
    fn var(&self, pool: &TermPool, var: VarId) -> Result<String, LanguageGap> {
        if var == self.tm {
            return Ok("TM".into());
        }
        Ok(format!("v[{}]", string_literal(&pool.var_info(var).name)))
    }

    fn value(&self, value: &Value) -> Result<String, LanguageGap> {
        match value {
            Value::Bool(b) => Ok(if *b { "True".into() } else { "False".into() }),
            Value::Int(n) => Ok(n.to_string()),
            Value::Real(r) => Ok(fraction_text(r)),
            Value::Str(text) => Ok(string_literal(text)),
            Value::Data(_) => Err(LanguageGap("records and options")),
            Value::Collection(_) => Err(LanguageGap("collections")),
        }
    }

    fn connective(&self) -> (&'static str, &'static str) {
        ("and", "or")
    }

    fn not(&self, inner: &str) -> String {
        format!("(not {inner})")
    }

    fn ite(&self, cond: &str, then: &str, other: &str) -> Result<String, LanguageGap> {
        Ok(format!("({then} if {cond} else {other})"))
    }

    fn call(&self, function: CallName, args: &[String]) -> Result<String, LanguageGap> {
        let all = args.join(", ");
        Ok(match function {
            CallName::Div => format!("div({all})"),
            CallName::Rem => format!("rem({all})"),
            CallName::Quotient => format!("quotient({all})"),
            CallName::ToReal => format!("F({all})"),
            CallName::Floor => format!("floor({all})"),
            CallName::Concat => format!("({})", args.join(" + ")),
            CallName::Length => format!("len({all})"),
            CallName::Contains => format!("({} in {})", args[1], args[0]),
            CallName::Prefix => format!("{}.startswith({})", args[1], args[0]),
            CallName::Suffix => format!("{}.endswith({})", args[1], args[0]),
            CallName::TextLe => format!("({} <= {})", args[0], args[1]),
        })
    }
}

/// Returns a Python expression for the value as the adapter protocol carries it.
fn python_constant(pool: &TermPool, value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Real(r) => fraction_text(r),
        Value::Str(text) => string_literal(text),
        Value::Int(n) => n.to_string(),
        // JSON without booleans inside an enum, record or option reads as Python, null aside.
        Value::Data(_) | Value::Collection(_) => match ioxide_record::value::value_to_json(pool, value) {
            serde_json::Value::Null => "None".into(),
            json => format!("__import__(\"json\").loads({})", string_literal(&json.to_string())),
        },
    }
}

fn fraction_text(r: &Rational) -> String {
    if r.is_integer() { format!("F({})", r.numer()) } else { format!("F({}, {})", r.numer(), r.denom()) }
}

fn string_literal(text: &str) -> String {
    quote_with(text, |c| format!("\\U{:08x}", u32::from(c)))
}

/// `name` as the name of a class.
pub(super) fn class_name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("M{plain}") }
}

/// Returns `text` with `?` for every character that is not harmless in a comment.
pub(super) fn ascii_comment(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='~') && c != '"' && c != '\\' { c } else { '?' }).collect()
}
