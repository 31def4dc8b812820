//! A case as a TTCN-3 module (ETSI ES 201 873-1): one test case, one `alt` per state.
//!
//! Types are abstract; ports and codecs are the user's. PASS becomes `pass`, `INC_…` `inconc`, `FAIL_…`
//! `fail`, with rule and state as the reason. Reals are floats. Silence is a timer started at every state.
//! `LATENCY` bounds the time a message may be on its way: before a failure, other instants at which the message may
//! have been sent are tried, those at which a guard changes and their neighbours among them.

use std::fmt::Write as _;

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{Gate, GateId, GateKind};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_testgen::case::{ArcTarget, CaseArc, CaseState, CaseVerdictKind, TestCase, corners};

use super::expr::{CallName, ExprDialect, quote_with, write_expression};
use super::python::{ascii_comment, class_name, unwritable_arc};
use super::{ArcActor, CaseView, LanguageGap, Unwritable};

/// Returns the text of the module.
///
/// # Errors
/// If a guard cannot be written in TTCN-3.
pub fn write_ttcn3(view: &CaseView<'_>) -> Result<String, Unwritable> {
    refuse_branches(view)?;
    let name = class_name(&view.model.sts.name);
    let mut out = format!("// A test case made by ioxide. Path: {}.\n", ascii_comment(&view.path_text()));
    let _ = writeln!(out, "module {name}_Case {{");
    let _ = writeln!(out, "  modulepar float TM := {};", float_literal(&view.timeout()));
    out.push_str("  modulepar float LATENCY := 0.05;\n\n");
    write_types(&mut out, view);
    let _ = writeln!(out, "  testcase tc_path() runs on Tester system Tester {{");
    out.push_str("    timer silence;\n    timer wait;\n");
    write_variables(&mut out, view)?;
    out.push_str("    map(mtc:p, system:p);\n");
    for (n, state) in view.case.states.iter().enumerate() {
        write_state(&mut out, view, n, state)?;
    }
    out.push_str("  }\n\n  control { execute(tc_path()); }\n}\n");
    Ok(out)
}

/// Refuses a case whose arcs do not all lead to the next state, since a module goes through the states in order.
fn refuse_branches(view: &CaseView<'_>) -> Result<(), Unwritable> {
    for (n, state) in view.case.states.iter().enumerate() {
        let is_jump = |arc: &&CaseArc| matches!(arc.target, ArcTarget::State(next) if next != n + 1);
        if let Some(arc) = state.arcs.iter().find(is_jump) {
            return Err(unwritable_arc(n, arc, LanguageGap("jumps between states")));
        }
    }
    Ok(())
}

fn write_types(out: &mut String, view: &CaseView<'_>) {
    let sts = &view.model.sts;
    let gates: Vec<&Gate> = sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal).collect();
    for gate in &gates {
        let fields: Vec<String> = gate
            .fields
            .iter()
            .map(|&field| {
                let info = view.model.pool.var_info(field);
                format!("{} {}", type_name(info.sort), field_name(&info.name))
            })
            .collect();
        let _ = writeln!(out, "  type record {} {{ {} }}", gate_type_name(gate), fields.join(", "));
    }
    let list = |wanted: fn(GateKind) -> bool| {
        let names: Vec<String> =
            gates.iter().filter(|gate| wanted(gate.kind)).map(|gate| gate_type_name(gate)).collect();
        names.join(", ")
    };
    let (sent, seen) = (list(|kind| kind == GateKind::Input), list(|kind| kind != GateKind::Input));
    let sent = if sent.is_empty() { String::new() } else { format!(" out {sent};") };
    let seen = if seen.is_empty() { String::new() } else { format!(" in {seen};") };
    let _ = writeln!(out, "  type port Sut message {{{sent}{seen} }}");
    out.push_str("  type component Tester { port Sut p; }\n\n");
}

/// Declares every value the guards mention and a variable for every message, each once.
fn write_variables(out: &mut String, view: &CaseView<'_>) -> Result<(), Unwritable> {
    let pool = &view.model.pool;
    let mut declared: Vec<(String, Sort)> = Vec::new();
    for (n, state) in view.case.states.iter().enumerate() {
        // The variables are those of the test case as a whole: a guard may read fields of earlier steps.
        for (arc, var) in state.arcs.iter().flat_map(|arc| {
            let vars = [state.delay].into_iter().chain(arc.fields.iter().copied());
            vars.map(move |var| (arc, var))
        }) {
            let (name, sort) = (variable_name(&pool.var_info(var).name), pool.var_info(var).sort.base());
            match declared.iter().find(|(known, _)| *known == name) {
                Some((_, known)) if *known == sort => (),
                Some(_) => {
                    return Err(unwritable_arc(n, arc, LanguageGap("one name for fields of two types")));
                }
                None => {
                    let _ = writeln!(out, "    var {} {name} := {};", type_name(sort), zero_literal(sort));
                    declared.push((name, sort));
                }
            }
        }
    }
    for gate in view.model.sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal) {
        let _ = writeln!(out, "    var {} m_{};", gate_type_name(gate), info_name(gate));
    }
    Ok(())
}

fn write_state(out: &mut String, view: &CaseView<'_>, n: usize, state: &CaseState) -> Result<(), Unwritable> {
    let _ = writeln!(out, "\n    // {}", TestCase::state_name(n));
    let delay = variable_name(view.variable_name(state.delay));
    // Longer by the latency: a message that was sent in time may still be under way at the time-out.
    out.push_str("    silence.start(TM + LATENCY);\n");
    let stimulus = state.arcs.iter().find(|arc| view.actor(arc) == ArcActor::Send);
    if let Some(wait) = stimulus.and_then(|arc| arc.witness.as_ref()) {
        let _ = writeln!(out, "    wait.start({});", float_literal(&wait.delay));
    }
    out.push_str("    alt {\n");
    let mut gates: Vec<GateId> = state.arcs.iter().filter_map(|arc| arc.gate).collect();
    gates.sort_unstable();
    gates.dedup();
    for gate in gates.into_iter().filter(|&gate| view.model.sts.gates[gate].kind != GateKind::Input) {
        write_reception(out, view, n, state, gate, &delay)?;
    }
    if let Some(arc) = stimulus {
        write_stimulus(out, view, n, arc, &delay)?;
    }
    // The instant counts as the time-out itself, because that is what the guards speak of.
    let _ = writeln!(out, "      [] silence.timeout {{\n        {delay} := TM;");
    write_choice(out, view, n, state, None)?;
    out.push_str("      }\n    }\n");
    Ok(())
}

fn write_reception(
    out: &mut String,
    view: &CaseView<'_>,
    n: usize,
    state: &CaseState,
    gate: GateId,
    delay: &str,
) -> Result<(), Unwritable> {
    let info = &view.model.sts.gates[gate];
    let _ = writeln!(out, "      [] p.receive({}:?) -> value m_{} {{", gate_type_name(info), info_name(info));
    let _ = writeln!(out, "        {delay} := silence.read;");
    if let Some(arc) = state.arcs.iter().find(|arc| arc.gate == Some(gate)) {
        for (name, var) in view.fields(arc) {
            let _ = writeln!(
                out,
                "        {} := m_{}.{};",
                variable_name(view.variable_name(var)),
                info_name(info),
                field_name(name)
            );
        }
    }
    write_choice(out, view, n, state, Some(gate))?;
    out.push_str("      }\n");
    Ok(())
}

/// Writes `if`, `else if`, … over the arcs about `gate`.
fn write_choice(
    out: &mut String,
    view: &CaseView<'_>,
    n: usize,
    state: &CaseState,
    gate: Option<GateId>,
) -> Result<(), Unwritable> {
    let dialect = Ttcn3Case { tm: view.case.tm };
    let mut pool = view.model.pool.clone();
    let arcs: Vec<&CaseArc> = state.arcs.iter().filter(|arc| arc.gate == gate).collect();
    // Failures come last, behind all other instants at which the message may have been sent: a message within
    // the latency is no failure.
    let (failing, others): (Vec<&CaseArc>, Vec<&CaseArc>) = arcs.iter().partition(|arc| is_failure(arc));
    let instants = match gate {
        Some(_) => collect_instants(&mut pool, state.delay, &arcs),
        None => Vec::new(),
    };
    let choice = |pool: &TermPool, arc: &CaseArc, guard: Term| -> Result<String, Unwritable> {
        let guard = write_expression(pool, &dialect, guard).map_err(|gap| unwritable_arc(n, arc, gap))?;
        Ok(format!("if ({guard}) {{ {} }}\n        else ", outcome_statements(n, arc)))
    };
    out.push_str("        ");
    for arc in &others {
        out.push_str(&choice(&pool, arc, arc.guard)?);
    }
    for (instant, offset) in instants {
        for arc in &others {
            let guard = guard_at_instant(&mut pool, state.delay, arc.guard, instant);
            let near =
                write_expression(&pool, &dialect, instant).map_err(|gap| unwritable_arc(n, arc, gap))?;
            let delay = variable_name(view.variable_name(state.delay));
            let is_near = match offset {
                Offset::Seen => String::new(),
                Offset::Corner => format!("{near} >= {delay} - LATENCY and {near} <= {delay} + LATENCY and "),
            };
            let guard =
                write_expression(&pool, &dialect, guard).map_err(|gap| unwritable_arc(n, arc, gap))?;
            let _ = write!(out, "if ({is_near}{guard}) {{ {} }}\n        else ", outcome_statements(n, arc));
        }
    }
    for arc in &failing {
        out.push_str(&choice(&pool, arc, arc.guard)?);
    }
    let _ = writeln!(
        out,
        "{{ setverdict(inconc, \"{}: the model does not specify this\"); stop; }}",
        TestCase::state_name(n)
    );
    Ok(())
}

fn write_stimulus(
    out: &mut String,
    view: &CaseView<'_>,
    n: usize,
    arc: &CaseArc,
    delay: &str,
) -> Result<(), Unwritable> {
    let Some((stimulus, gate)) = arc.witness.as_ref().zip(arc.gate) else { return Ok(()) };
    let gate = &view.model.sts.gates[gate];
    let _ = writeln!(out, "      [] wait.timeout {{\n        {delay} := {};", float_literal(&stimulus.delay));
    let mut values = Vec::new();
    for ((name, var), value) in view.fields(arc).zip(&stimulus.values) {
        let value = match required_value(view, arc, var) {
            Some(value) => value,
            None => ttcn3_constant(value).map_err(|gap| unwritable_arc(n, arc, gap))?,
        };
        let _ = writeln!(out, "        {} := {value};", variable_name(view.variable_name(var)));
        values.push(format!("{} := {}", field_name(name), variable_name(view.variable_name(var))));
    }
    // The values were chosen when the case was made. Where they fit only after some observations, that is
    // asked again.
    if !stimulus.always {
        let dialect = Ttcn3Case { tm: view.case.tm };
        let guard = write_expression(&view.model.pool, &dialect, arc.guard);
        let guard = guard.map_err(|gap| unwritable_arc(n, arc, gap))?;
        let verdict = format!("setverdict(inconc, \"{}: no input fits\"); stop;", TestCase::state_name(n));
        let _ = writeln!(out, "        if (not {guard}) {{ {verdict} }}");
    }
    let _ = writeln!(out, "        p.send({}:{{ {} }});", gate_type_name(gate), values.join(", "));
    out.push_str("      }\n");
    Ok(())
}

/// Returns the value that an equation in the guard requires of `field`; `None` if there is no such equation, or it
/// reads other fields of the same message.
fn required_value(view: &CaseView<'_>, arc: &CaseArc, field: VarId) -> Option<String> {
    let pool = &view.model.pool;
    let asked = pool.conjuncts(arc.guard).into_iter().find_map(|fact| {
        let TermNode::Eq(a, b) = *pool.node(fact) else { return None };
        let is_field = |term: Term| matches!(pool.node(term), TermNode::Var(var) if *var == field);
        if is_field(a) { Some(b) } else { is_field(b).then_some(a) }
    })?;
    // Fields are assigned one after the other, so a value that reads another one of the same message might
    // read it too early.
    let is_known = arc.fields.iter().all(|&own| !pool.mentions(asked, own));
    is_known.then(|| write_expression(pool, &Ttcn3Case { tm: view.case.tm }, asked).ok()).flatten()
}

/// Returns the statements of an arc: on to the next state, or the verdict and the end.
fn outcome_statements(n: usize, arc: &CaseArc) -> String {
    match arc.target {
        ArcTarget::State(_) => "silence.stop;".into(),
        ArcTarget::Verdict(verdict) => {
            let word = match verdict.kind() {
                CaseVerdictKind::Pass => "pass",
                CaseVerdictKind::Fail => "fail",
                CaseVerdictKind::Inconclusive => "inconc",
            };
            let state = TestCase::state_name(n);
            format!("setverdict({word}, \"{} by {} at {state}\"); stop;", verdict.word(), arc.rule.word())
        }
    }
}

fn is_failure(arc: &CaseArc) -> bool {
    matches!(arc.target, ArcTarget::Verdict(verdict) if verdict.is_fail())
}

/// The origin of an instant that is tried in place of the measured one.
#[derive(Clone, Copy)]
enum Offset {
    /// The measured instant plus or minus the latency.
    Seen,
    /// An instant at which a guard changes, or one next to it; counts only within the latency of the measured instant.
    Corner,
}

/// Returns the instants, other than the measured one, at which a message may have been sent; empty if no guard reads
/// the delay.
fn collect_instants(pool: &mut TermPool, delay: VarId, arcs: &[&CaseArc]) -> Vec<(Term, Offset)> {
    let seen = pool.var(delay);
    if !arcs.iter().any(|arc| pool.mentions(arc.guard, delay)) {
        return Vec::new();
    }
    let latency = pool.reserved_var("LATENCY", Sort::Real);
    let latency = pool.var(latency);
    let mut found = vec![(pool.sub(seen, latency), Offset::Seen), (pool.add2(seen, latency), Offset::Seen)];
    let mut changes: Vec<Term> = Vec::new();
    for arc in arcs {
        for corner in corners(pool, delay, arc.guard) {
            if !changes.contains(&corner) {
                changes.push(corner);
            }
        }
    }
    // Guards may be strict, so the corner itself may be outside: a microsecond to either side is tried as
    // well.
    let beside = Rational::new(1.into(), 1_000_000.into()).unwrap_or(Rational::ZERO);
    let beside = pool.value(Value::Real(beside));
    for corner in changes {
        let around = [corner, pool.sub(corner, beside), pool.add2(corner, beside)];
        found.extend(around.map(|instant| (instant, Offset::Corner)));
    }
    found
}

/// Returns `guard` for a message sent at `instant`.
fn guard_at_instant(pool: &mut TermPool, delay: VarId, guard: Term, instant: Term) -> Term {
    pool.substitute(guard, &[(delay, instant)].into_iter().collect())
}

struct Ttcn3Case {
    tm: VarId,
}

impl ExprDialect for Ttcn3Case {
    fn var(&self, pool: &TermPool, var: VarId) -> Result<String, LanguageGap> {
        let name = &pool.var_info(var).name;
        Ok(match &**name {
            _ if var == self.tm => "TM".into(),
            "LATENCY" => "LATENCY".into(),
            name => variable_name(name),
        })
    }

    fn value(&self, value: &Value) -> Result<String, LanguageGap> {
        ttcn3_constant(value)
    }

    fn connective(&self) -> (&'static str, &'static str) {
        ("and", "or")
    }

    fn not(&self, inner: &str) -> String {
        format!("(not {inner})")
    }

    fn ite(&self, _: &str, _: &str, _: &str) -> Result<String, LanguageGap> {
        Err(LanguageGap("conditional expressions"))
    }

    fn call(&self, function: CallName, args: &[String]) -> Result<String, LanguageGap> {
        let all = args.join(", ");
        match function {
            CallName::ToReal => Ok(format!("int2float({all})")),
            CallName::Concat => Ok(format!("({})", args.join(" & "))),
            CallName::Length => Ok(format!("lengthof({all})")),
            // `mod` by a positive number is never negative there either.
            CallName::Rem if is_positive(&args[1]) => Ok(format!("({} mod {})", args[0], args[1])),
            CallName::Div if is_positive(&args[1]) => {
                let (a, b) = (&args[0], &args[1]);
                Ok(format!("(({a} - ({a} mod {b})) / {b})"))
            }
            CallName::Div | CallName::Rem | CallName::Quotient | CallName::Floor => {
                Err(LanguageGap("Euclidean and total division"))
            }
            CallName::Contains | CallName::Prefix | CallName::Suffix => Err(LanguageGap("search in strings")),
            CallName::TextLe => Err(LanguageGap("an order of strings")),
        }
    }
}

/// Returns whether `text` is a positive whole number.
fn is_positive(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte != b'0')
}

fn ttcn3_constant(value: &Value) -> Result<String, LanguageGap> {
    Ok(match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) if n.is_negative() => format!("({n})"),
        Value::Int(n) => n.to_string(),
        Value::Real(r) => float_literal(r),
        Value::Str(text) if text.chars().all(|c| matches!(c, ' '..='~')) => {
            quote_with(text, |c| if c == '"' { "\"\"".into() } else { c.to_string() })
        }
        Value::Str(_) => return Err(LanguageGap("characters beyond ASCII")),
        Value::Data(_) => return Err(LanguageGap("records and options")),
        Value::Collection(_) => return Err(LanguageGap("collections")),
    })
}

fn float_literal(r: &Rational) -> String {
    let text = format!("{:?}", r.to_f64());
    if r.is_negative() { format!("({text})") } else { text }
}

fn zero_literal(sort: Sort) -> &'static str {
    match sort {
        Sort::Bool => "false",
        Sort::Int | Sort::Range { .. } => "0",
        Sort::Real => "0.0",
        Sort::Str | Sort::Data(_) | Sort::Collection(_) => "\"\"",
    }
}

fn type_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Bool => "boolean",
        Sort::Int | Sort::Range { .. } => "integer",
        Sort::Real => "float",
        Sort::Str | Sort::Data(_) | Sort::Collection(_) => "charstring",
    }
}

fn gate_type_name(gate: &Gate) -> String {
    format!("T_{}", info_name(gate))
}

fn info_name(gate: &Gate) -> String {
    class_name(&gate.name)
}

/// The name of a field: never a keyword.
fn field_name(name: &str) -> String {
    format!("f_{}", class_name(name))
}

/// The name of a value of a step: `amt@1` is `v_amt_1`.
fn variable_name(name: &str) -> String {
    format!("v_{}", class_name(name))
}
