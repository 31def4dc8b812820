//! `ioxide refine` and `ioxide equiv`: are the traces of one model among those of another?

use std::io::{self, Write};

use ioxide_args::TraceComparison;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_smt::solver::Solver;
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{
    ConformAnswer, ConformOptions, Conformance, InputCompletion, InputRule, SearchBounds,
};
use serde_json::{Value as Json, json};

use super::conform::{answer_status, compare_models, mismatch, show_witness, trace_lines, wire};
use crate::exit::{self, CliError, ExitStatus};
use crate::solver::SolverRequest;
use crate::{limit, load};

/// One model against another: the verdict, in the words of the model whose traces are the larger set.
struct TraceInclusion<'a> {
    one: &'a str,
    other: &'a str,
    model: Model,
    verdict: Conformance,
}

/// Says whether every trace of the first model is one of the second.
pub fn refine(args: &TraceComparison) -> Result<ExitStatus, CliError> {
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let mut found = compare_traces(&args.one, &args.other, args, &request)?;
    let status = answer_status(&found.verdict.answer, &request);
    let mut solver = request.make()?;
    let mut out = io::stdout().lock();
    let told = if args.json {
        let mut told = json!({ "version": 1, "refines": answer_json(&found.verdict.answer) });
        merge(&mut told, inclusion_json(&found));
        writeln!(out, "{told}")
    } else {
        let (one, other) = (&args.one, &args.other);
        let head = match &found.verdict.answer {
            ConformAnswer::Conforms(proof) => {
                format!("REFINES: every trace of `{one}` is one of `{other}`: {proof}")
            }
            ConformAnswer::Fails(_) => format!("DIFFERS: `{one}` has a trace that `{other}` does not have"),
            ConformAnswer::Unknown(doubt) => format!("UNKNOWN: {doubt}"),
        };
        writeln!(out, "{head}").and_then(|()| show_inclusion(&mut out, &mut found, &mut *solver))
    };
    exit::status_after_output(status, told)
}

/// Says whether two models have the same traces.
pub fn equiv(args: &TraceComparison) -> Result<ExitStatus, CliError> {
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let mut there = compare_traces(&args.one, &args.other, args, &request)?;
    let mut back = compare_traces(&args.other, &args.one, args, &request)?;
    let both = [&there.verdict.answer, &back.verdict.answer];
    let differs = both.iter().any(|answer| matches!(answer, ConformAnswer::Fails(_)));
    let worst = both.into_iter().find(|answer| !matches!(answer, ConformAnswer::Conforms(_)));
    let ended = match worst {
        _ if differs => ExitStatus::Failure,
        None => ExitStatus::Success,
        Some(answer) => answer_status(answer, &request),
    };
    let equal = match (differs, worst) {
        (true, _) => json!(false),
        (false, None) => json!(true),
        (false, Some(_)) => json!("unknown"),
    };
    let mut out = io::stdout().lock();
    let told = if args.json {
        let told = json!({
            "version": 1,
            "equal": equal,
            "only_one": inclusion_json(&there),
            "only_other": inclusion_json(&back),
        });
        writeln!(out, "{told}")
    } else {
        show_both(&mut out, [&mut there, &mut back], &mut *request.make()?)
    };
    exit::status_after_output(ended, told)
}

fn compare_traces<'a>(
    one: &'a str,
    other: &'a str,
    args: &TraceComparison,
    request: &SolverRequest<'_>,
) -> Result<TraceInclusion<'a>, CliError> {
    let (_, imp) = load::load_model(one, &args.set)?;
    let (_, mut model) = load::load_model(other, &args.set)?;
    let imp = join(&mut model, &imp).map_err(mismatch)?;
    let bounds = SearchBounds { max_states: args.max_states, max_depth: args.depth.unwrap_or(u32::MAX) };
    let (completion, inputs) = (InputCompletion::None, InputRule::Compared);
    let options = ConformOptions { completion, inputs, bounds, ..ConformOptions::default() };
    let verdict = compare_models(&mut model, &imp, &options, request)?;
    Ok(TraceInclusion { one, other, model, verdict })
}

fn show_both(
    out: &mut impl Write,
    both: [&mut TraceInclusion<'_>; 2],
    solver: &mut dyn Solver,
) -> io::Result<()> {
    let [there, back] = &both;
    let (one, other) = (there.one, there.other);
    match (&there.verdict.answer, &back.verdict.answer) {
        (ConformAnswer::Conforms(_), ConformAnswer::Conforms(_)) => {
            writeln!(out, "EQUAL: `{one}` and `{other}` have the same traces")?;
        }
        (ConformAnswer::Fails(_), _) | (_, ConformAnswer::Fails(_)) => {
            writeln!(out, "DIFFERENT: `{one}` and `{other}` do not have the same traces")?;
        }
        (ConformAnswer::Unknown(doubt), _) | (_, ConformAnswer::Unknown(doubt)) => {
            writeln!(out, "UNKNOWN: {doubt}")?
        }
    }
    for found in both {
        let (one, other) = (found.one, found.other);
        match &found.verdict.answer {
            ConformAnswer::Conforms(proof) => {
                writeln!(out, "every trace of `{one}` is one of `{other}`: {proof}")?
            }
            ConformAnswer::Fails(_) => writeln!(out, "only `{one}`:")?,
            ConformAnswer::Unknown(doubt) => {
                writeln!(out, "whether `{other}` has all traces of `{one}`: {doubt}")?
            }
        }
        show_inclusion(out, found, solver)?;
    }
    Ok(())
}

/// Writes the trace that only one of the models has, if there is one, and the effort of the search.
fn show_inclusion(
    out: &mut impl Write,
    found: &mut TraceInclusion<'_>,
    solver: &mut dyn Solver,
) -> io::Result<()> {
    if let ConformAnswer::Fails(witness) = &found.verdict.answer {
        show_witness(out, &mut found.model, solver, witness)?;
        if let Some(Label::Input(..)) = witness.trace.labels.last() {
            writeln!(out, "    `{}` does not take this input there", found.other)?;
        }
    }
    let effort = found.verdict.effort;
    writeln!(out, "{} pairs of states, depth {}", effort.states, effort.depth)
}

fn answer_json(answer: &ConformAnswer) -> Json {
    match answer {
        ConformAnswer::Conforms(_) => json!(true),
        ConformAnswer::Fails(_) => json!(false),
        ConformAnswer::Unknown(_) => json!("unknown"),
    }
}

fn inclusion_json(found: &TraceInclusion<'_>) -> Json {
    let (reason, witness) = match &found.verdict.answer {
        ConformAnswer::Conforms(proof) => (Some(proof.to_string()), None),
        ConformAnswer::Fails(witness) => (None, Some(witness)),
        ConformAnswer::Unknown(doubt) => (Some(doubt.to_string()), None),
    };
    let model = &found.model;
    json!({
        "reason": reason,
        "witness": witness.map(|witness| trace_lines(model, &witness.trace)),
        "trace": witness.map(|witness| wire(&model.pool, &model.sts, &witness.trace)),
        "states": found.verdict.effort.states,
        "depth": found.verdict.effort.depth,
    })
}

/// Adds the members of an object to another one.
fn merge(into: &mut Json, from: Json) {
    if let (Some(into), Json::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}
