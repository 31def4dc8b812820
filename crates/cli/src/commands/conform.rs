//! `ioxide conform`: does one model do only what another allows?

pub mod set;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use ioxide_args::{CompletionArg, ConformArgs};
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{Model, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_record::value::{label_to_json, value_to_json};
use ioxide_report::terminal::write_explanation;
use ioxide_run::judge::{JudgeConfig, judge};
use ioxide_smt::solver::Solver;
use ioxide_symex::{AllowedLabel, Ctx, Monitor};
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{
    ConformAnswer, ConformDoubt, ConformOptions, ConformWitness, Conformance, ModelDifferences, PortMismatch,
    SearchBounds, SearchEffort, conform, differences,
};
use serde_json::{Value as Json, json};

use crate::exit::{self, CliError, ExitStatus};
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;
use crate::{limit, load};

/// Compares the models and shows the answer.
pub fn run(args: &ConformArgs) -> Result<ExitStatus, CliError> {
    if !args.part.is_planned() {
        crate::unit_command::whole(&args.part)?;
    }
    if args.part.is_planned() || Path::new(&args.implementation).is_dir() {
        return set::compare_set(args);
    }
    let settings = args.settings();
    let (_, imp) = load::load_model(&args.implementation, &settings)?;
    let (_, mut spec) = load::load_model(&args.specification, &settings)?;
    let imp = join(&mut spec, &imp).map_err(mismatch)?;
    let options = options(&spec, args);
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    if let Some(most) = args.all {
        return everywhere(&mut spec, &imp, &options, most, (&request, args));
    }
    let verdict = compare_models(&mut spec, &imp, &options, &request)?;
    let status = answer_status(&verdict.answer, &request);
    let mut solver = request.make()?;
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", verdict_json(&spec, &verdict, args))
    } else {
        show_conformance(&mut out, &mut spec, &mut *solver, &verdict, args)
    };
    exit::status_after_output(status, told)
}

/// Returns the options of the comparison that the arguments ask for.
fn options(spec: &Model, args: &ConformArgs) -> ConformOptions {
    let bounds = SearchBounds { max_states: args.max_states, max_depth: args.depth.unwrap_or(u32::MAX) };
    let (relation, completion) = (relation(spec, args), args.completion.into());
    ConformOptions { relation, completion, bounds, ..ConformOptions::default() }
}

/// The exit status of an answer.
pub fn answer_status(answer: &ConformAnswer, request: &SolverRequest<'_>) -> ExitStatus {
    match answer {
        ConformAnswer::Conforms(_) => ExitStatus::Success,
        ConformAnswer::Fails(_) => ExitStatus::Failure,
        ConformAnswer::Unknown(_) => limit::halted_status(&request.halt, ExitStatus::Inconclusive),
    }
}

/// Returns whether `imp` conforms to `spec`; shows progress on the terminal.
pub fn compare_models(
    spec: &mut Model,
    imp: &Sts,
    options: &ConformOptions,
    request: &SolverRequest<'_>,
) -> Result<Conformance, CliError> {
    let mut solver = request.make()?;
    conform(&mut Ctx::new(spec, &mut *solver), imp, options, &mut watch_progress()).map_err(mismatch)
}

fn watch_progress() -> impl FnMut(&SearchEffort) -> ControlFlow<()> {
    let mut progress = ProgressLine::start();
    move |effort| {
        progress.tick(|| format!("comparing: {} pairs of states, depth {}", effort.states, effort.depth));
        ControlFlow::Continue(())
    }
}

/// Lists every place where the models differ.
fn everywhere(
    spec: &mut Model,
    imp: &Sts,
    options: &ConformOptions,
    most: usize,
    (wanted, args): (&SolverRequest<'_>, &ConformArgs),
) -> Result<ExitStatus, CliError> {
    let mut solver = wanted.make()?;
    let found =
        differences(&mut Ctx::new(spec, &mut *solver), imp, options, most.max(1), &mut watch_progress());
    let found = found.map_err(mismatch)?;
    let status = match (found.witnesses.is_empty(), &found.rest) {
        (false, _) => ExitStatus::Failure,
        (true, None) => ExitStatus::Success,
        (true, Some(_)) => limit::halted_status(&wanted.halt, ExitStatus::Inconclusive),
    };
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", differences_json(spec, &found, args))
    } else {
        show_all(&mut out, spec, &mut *solver, &found, args)
    };
    exit::status_after_output(status, told)
}

fn show_all(
    out: &mut impl Write,
    spec: &mut Model,
    solver: &mut dyn Solver,
    found: &ModelDifferences,
    args: &ConformArgs,
) -> io::Result<()> {
    let (imp, name) = (&args.implementation, &args.specification);
    let total = found.witnesses.len();
    match (total, &found.rest) {
        (0, None) => writeln!(out, "CONFORMS: `{imp}` does only what `{name}` allows")?,
        (0, Some(doubt)) => writeln!(out, "UNKNOWN: {doubt}")?,
        _ => writeln!(out, "FAILS: `{imp}` does what `{name}` forbids in {}", places(total))?,
    }
    for (at, witness) in found.witnesses.iter().enumerate() {
        writeln!(out, "{} of {total}:", at + 1)?;
        show_witness(out, spec, solver, witness)?;
    }
    match &found.rest {
        Some(doubt) if total > 0 => writeln!(out, "there may be more: {doubt}")?,
        None if total > 0 => writeln!(out, "these are all")?,
        _ => (),
    }
    let SearchEffort { states, depth, .. } = found.effort;
    writeln!(out, "{states} pairs of states, depth {depth}{}", relation_text(spec, args))
}

/// Returns a number of places in words.
fn places(n: usize) -> String {
    if n == 1 { "1 place".into() } else { format!("{n} places") }
}

fn differences_json(spec: &Model, found: &ModelDifferences, args: &ConformArgs) -> Json {
    let conforms = match (found.witnesses.is_empty(), &found.rest) {
        (false, _) => json!(false),
        (true, None) => json!(true),
        (true, Some(_)) => json!("unknown"),
    };
    let one = |witness: &ConformWitness| {
        json!({
            "witness": trace_lines(spec, &witness.trace),
            "trace": wire(&spec.pool, &spec.sts, &witness.trace),
            "condition": spec.pool.show(witness.condition).to_string(),
        })
    };
    json!({
        "version": 1,
        "conforms": conforms,
        "relation": relation(spec, args).word(),
        "completion": args.completion.word(),
        "complete": found.rest.is_none(),
        "reason": found.rest.as_ref().map(ToString::to_string),
        "differences": found.witnesses.iter().map(one).collect::<Vec<_>>(),
        "states": found.effort.states,
        "depth": found.effort.depth,
    })
}

/// The error of two models that have nothing in common to compare.
pub fn mismatch(why: PortMismatch) -> CliError {
    CliError::usage(format!("the models cannot be compared: {}", why.0))
        .help("messages are matched by name; give both models the same interface")
}

/// Shows the answer with its witness or the reason why there is none.
fn show_conformance(
    out: &mut impl Write,
    spec: &mut Model,
    solver: &mut dyn Solver,
    verdict: &Conformance,
    args: &ConformArgs,
) -> io::Result<()> {
    let (imp, name) = (&args.implementation, &args.specification);
    match &verdict.answer {
        ConformAnswer::Conforms(proof) => {
            writeln!(out, "CONFORMS: `{imp}` does only what `{name}` allows: {proof}")?
        }
        ConformAnswer::Unknown(doubt) => writeln!(out, "UNKNOWN: {doubt}")?,
        ConformAnswer::Fails(witness) => {
            writeln!(out, "FAILS: `{imp}` does something `{name}` forbids")?;
            show_witness(out, spec, solver, witness)?;
            if let Some(step) = refused_step(spec, solver, witness)
                .filter(|_| relation(spec, args) == ConformanceRelation::Ioco)
            {
                writeln!(
                    out,
                    "    help      `{name}` may be in several states at step {step}, and only some of them \
                     take this input;\n              \
                     under `--relation uioco` anything may follow it, so this is not a difference"
                )?;
            }
        }
    }
    let SearchEffort { states, depth, .. } = verdict.effort;
    writeln!(out, "{states} pairs of states, depth {depth}{}", relation_text(spec, args))
}

/// Returns the relation that the flag names, or the usual one of the model.
fn relation(spec: &Model, args: &ConformArgs) -> ConformanceRelation {
    args.relation.unwrap_or_else(|| ConformanceRelation::usual(&spec.sts))
}

/// Returns the relation and the completion in words where they are not the defaults, since they change the meaning of
/// the answer.
fn relation_text(spec: &Model, args: &ConformArgs) -> String {
    let relation = relation(spec, args);
    let relation = (relation != ConformanceRelation::default()).then(|| format!(", under {relation}"));
    let completion = match args.completion {
        CompletionArg::Angelic => None,
        other => Some(format!(", under completion {}", other.word())),
    };
    relation.into_iter().chain(completion).collect()
}

/// The number of the step from which on uioco leaves the end of the trace open, if it does.
fn refused_step(spec: &mut Model, solver: &mut dyn Solver, witness: &ConformWitness) -> Option<usize> {
    let mut cx = Ctx::new(spec, solver);
    let mut monitor = Monitor::new(&mut cx).with_relation(ConformanceRelation::Uioco);
    let is_open = |label: &Label| matches!(monitor.observe(&mut cx, label), Ok(AllowedLabel::Unspecified));
    witness.trace.labels.iter().position(is_open).map(|at| at + 1)
}

/// Writes the trace, and the explanation of why the specification forbids its end.
pub fn show_witness(
    out: &mut impl Write,
    spec: &mut Model,
    solver: &mut dyn Solver,
    witness: &ConformWitness,
) -> io::Result<()> {
    for (at, label) in witness.trace.labels.iter().enumerate() {
        let mark = if at + 1 == witness.trace.len() { "✗" } else { " " };
        writeln!(out, "  {mark} {:>3}  {}", at + 1, label.show(&spec.pool, &spec.sts))?;
    }
    let judged = judge(&mut Ctx::new(spec, solver), &witness.trace, &JudgeConfig::default());
    judged.forbidden.as_ref().map_or(Ok(()), |told| write_explanation(told, out))
}

fn verdict_json(spec: &Model, verdict: &Conformance, args: &ConformArgs) -> Json {
    let (conforms, reason, witness) = match &verdict.answer {
        ConformAnswer::Conforms(proof) => (json!(true), Some(proof.to_string()), None),
        ConformAnswer::Fails(witness) => (json!(false), None, Some(witness)),
        ConformAnswer::Unknown(doubt) => (json!("unknown"), Some(doubt.to_string()), None),
    };
    let shown = |witness: &ConformWitness| trace_lines(spec, &witness.trace);
    json!({
        "version": 1,
        "conforms": conforms,
        "relation": relation(spec, args).word(),
        "completion": args.completion.word(),
        "reason": reason,
        "up_to_items": up_to_items(&verdict.answer),
        "witness": witness.map(|witness| shown(witness)),
        "trace": witness.map(|witness| wire(&spec.pool, &spec.sts, &witness.trace)),
        "condition": witness.map(|witness| spec.pool.show(witness.condition).to_string()),
        "states": verdict.effort.states,
        "depth": verdict.effort.depth,
    })
}

/// Returns the length of collections up to which the answer holds, if it holds only up to a length.
fn up_to_items(answer: &ConformAnswer) -> Option<usize> {
    if let ConformAnswer::Unknown(ConformDoubt::Length(items)) = answer { Some(*items) } else { None }
}

/// The labels of a trace as people write them.
pub fn trace_lines(model: &Model, trace: &Trace) -> Vec<String> {
    trace.labels.iter().map(|label| label.show(&model.pool, &model.sts)).collect()
}

/// The labels of a trace as `ioxide judge` reads them.
pub fn wire(pool: &TermPool, sts: &Sts, trace: &Trace) -> Vec<Json> {
    let line = |label: &Label| match (label_to_json(pool, sts, label), label) {
        (Some(message), _) => json!({ "label": message.label, "args": message.args }),
        (None, Label::Delay(by)) => json!({ "after": value_to_json(pool, &Value::Real(by.clone())) }),
        (None, _) => json!({ "quiescence": true }),
    };
    trace.labels.iter().map(line).collect()
}
