//! A case as a Rust module without dependencies: the tree, the code that follows it, a test to complete.
//!
//! The user implements `System` for the system under test. Integers have 128 bits, reals are `f64`. The values of a
//! stimulus are chosen when it is due, by the observations so far.

use std::fmt::Write as _;

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_testgen::case::{CaseArc, TestCase, corners};

use super::choice::candidate_values;
use super::expr::{CallName, ExprDialect, quote_with, write_expression};
use super::python::{ascii_comment, unwritable_arc};
use super::{ArcActor, CaseView, LanguageGap, Unwritable};

/// The beginning of every module: values, the system's interface, the run.
const RUNTIME: &str = include_str!("rust/runtime.rs.txt");

/// Returns the text of the module.
///
/// # Errors
/// If a guard cannot be written in Rust.
pub fn write_rust(view: &CaseView<'_>) -> Result<String, Unwritable> {
    let mut out =
        format!("//! A test case made by ioxide from the model {}.\n", ascii_comment(&view.model.sts.name));
    let _ = writeln!(out, "//!\n//! Path: {}.\n", ascii_comment(&view.path_text()));
    out.push_str(RUNTIME);
    let _ = writeln!(out, "\n/// Seconds after which nothing counts as silence.");
    let _ = writeln!(out, "pub const TM: f64 = {};\n", float_literal(&view.timeout()));
    out.push_str(
        "/// The tree: one state per step of the path.\npub fn states() -> Vec<State> {\n    vec![\n",
    );
    let mut pool = view.model.pool.clone();
    let dialect = RustCase { tm: view.case.tm };
    for (n, state) in view.case.states.iter().enumerate() {
        let (name, delay) =
            (string_literal(&TestCase::state_name(n)), string_literal(view.variable_name(state.delay)));
        let _ = writeln!(out, "        State {{ name: {name}, delay: {delay}, arcs: vec![");
        for arc in &state.arcs {
            let corners = corners(&mut pool, state.delay, arc.guard);
            let tried: Vec<Vec<Term>> =
                arc.fields.iter().map(|&field| candidate_values(&mut pool, field, arc.guard)).collect();
            let write = |term| write_expression(&pool, &dialect, term);
            let guard = write(arc.guard).map_err(|gap| unwritable_arc(n, arc, gap))?;
            let mut written = WrittenArc { guard, ..WrittenArc::default() };
            written.corners = corners.into_iter().filter_map(|term| write(term).ok()).collect();
            if arc.witness.as_ref().is_some_and(|stimulus| !stimulus.always) {
                written.choices = arc
                    .fields
                    .iter()
                    .zip(tried)
                    .map(|(&field, terms)| {
                        let make = value_variant(pool.var_info(field).sort);
                        terms
                            .into_iter()
                            .filter_map(|term| Some(format!("Value::{make}({})", write(term).ok()?)))
                            .collect()
                    })
                    .collect();
            }
            write_arc(&mut out, view, arc, &written).map_err(|gap| unwritable_arc(n, arc, gap))?;
        }
        out.push_str("        ] },\n");
    }
    out.push_str("    ]\n}\n");
    Ok(out)
}

/// The expressions of an arc.
#[derive(Default)]
struct WrittenArc {
    guard: String,
    corners: Vec<String>,
    /// Values to try, by field.
    choices: Vec<Vec<String>>,
}

fn write_arc(
    out: &mut String,
    view: &CaseView<'_>,
    arc: &CaseArc,
    written: &WrittenArc,
) -> Result<(), LanguageGap> {
    let action = match view.actor(arc) {
        ArcActor::Send => "Action::Send",
        ArcActor::Receive => "Action::Receive",
        ArcActor::Silence => "Action::Silence",
    };
    let message = arc.gate.map_or("", |gate| &view.model.sts.gates[gate].name);
    let fields: Vec<String> =
        arc.fields.iter().map(|&field| string_literal(view.variable_name(field))).collect();
    let stimulus = match &arc.witness {
        None => "None".to_owned(),
        Some(stimulus) => {
            let values: Vec<String> = stimulus.values.iter().map(rust_constant).collect::<Result<_, _>>()?;
            format!("Some(({}, vec![{}]))", float_literal(&stimulus.delay), values.join(", "))
        }
    };
    let _ = writeln!(
        out,
        "            Arc {{ rule: {}, action: {action}, message: {}, fields: &[{}], target: {},",
        string_literal(arc.rule.word()),
        string_literal(message),
        fields.join(", "),
        string_literal(&view.target_name(arc))
    );
    let _ = writeln!(out, "                guard: |v| {}, stimulus: {stimulus},", written.guard);
    let seen = |list: &[String]| if list.iter().any(|text| text.contains("v.")) { "v" } else { "_" };
    let tried: Vec<String> =
        written.choices.iter().map(|list| format!("vec![{}]", list.join(", "))).collect();
    let _ = writeln!(out, "                choices: |{}| vec![{}],", seen(&tried), tried.join(", "));
    let corners = &written.corners;
    let _ = writeln!(out, "                corners: |{}| vec![{}] }},", seen(corners), corners.join(", "));
    Ok(())
}

/// Returns the variant of `Value` in the runtime that holds values of `sort`.
fn value_variant(sort: Sort) -> &'static str {
    match sort {
        Sort::Bool => "Bool",
        Sort::Int | Sort::Range { .. } => "Int",
        Sort::Real => "Real",
        Sort::Str | Sort::Data(_) | Sort::Collection(_) => "Text",
    }
}

struct RustCase {
    tm: VarId,
}

impl ExprDialect for RustCase {
    fn var(&self, pool: &TermPool, var: VarId) -> Result<String, LanguageGap> {
        if var == self.tm {
            return Ok("TM".into());
        }
        let info = pool.var_info(var);
        let reader = match info.sort {
            Sort::Bool => "bool",
            Sort::Int | Sort::Range { .. } => "int",
            Sort::Real => "real",
            Sort::Str | Sort::Data(_) | Sort::Collection(_) => "text",
        };
        Ok(format!("v.{reader}({})", string_literal(&info.name)))
    }

    fn value(&self, value: &Value) -> Result<String, LanguageGap> {
        match value {
            Value::Bool(b) => Ok(b.to_string()),
            Value::Int(n) => integer_literal(n),
            Value::Real(r) => Ok(float_literal(r)),
            Value::Str(text) => Ok(format!("{}.to_owned()", string_literal(text))),
            Value::Data(_) => Err(LanguageGap("records and options")),
            Value::Collection(_) => Err(LanguageGap("collections")),
        }
    }

    fn connective(&self) -> (&'static str, &'static str) {
        ("&&", "||")
    }

    fn not(&self, inner: &str) -> String {
        format!("!{inner}")
    }

    fn ite(&self, cond: &str, then: &str, other: &str) -> Result<String, LanguageGap> {
        Ok(format!("(if {cond} {{ {then} }} else {{ {other} }})"))
    }

    fn call(&self, function: CallName, args: &[String]) -> Result<String, LanguageGap> {
        let all = args.join(", ");
        Ok(match function {
            CallName::Div => format!("div({all})"),
            CallName::Rem => format!("rem({all})"),
            CallName::Quotient => format!("quotient({all})"),
            CallName::ToReal => format!("({all} as f64)"),
            CallName::Floor => format!("({all}.floor() as i128)"),
            CallName::Concat => format!("[{all}].concat()"),
            CallName::Length => format!("({all}.chars().count() as i128)"),
            CallName::Contains => format!("{}.contains(&{})", args[0], args[1]),
            CallName::Prefix => format!("{}.starts_with(&{})", args[1], args[0]),
            CallName::Suffix => format!("{}.ends_with(&{})", args[1], args[0]),
            CallName::TextLe => format!("({} <= {})", args[0], args[1]),
        })
    }
}

fn rust_constant(value: &Value) -> Result<String, LanguageGap> {
    Ok(match value {
        Value::Bool(b) => format!("Value::Bool({b})"),
        Value::Int(n) => format!("Value::Int({})", integer_literal(n)?),
        Value::Real(r) => format!("Value::Real({})", float_literal(r)),
        Value::Str(text) => format!("Value::Text({}.to_owned())", string_literal(text)),
        Value::Data(_) => return Err(LanguageGap("records and options")),
        Value::Collection(_) => return Err(LanguageGap("collections")),
    })
}

fn integer_literal(n: &ioxide_model::number::Int) -> Result<String, LanguageGap> {
    let text = n.to_string();
    match text.parse::<i128>() {
        Ok(_) if n.is_negative() => Ok(format!("({text}_i128)")),
        Ok(_) => Ok(format!("{text}_i128")),
        Err(_) => Err(LanguageGap("integers beyond 128 bits")),
    }
}

fn float_literal(r: &Rational) -> String {
    let text = format!("{:?}_f64", r.to_f64());
    if r.is_negative() { format!("({text})") } else { text }
}

fn string_literal(text: &str) -> String {
    quote_with(text, |c| format!("\\u{{{:x}}}", u32::from(c)))
}
