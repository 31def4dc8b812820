//! `ioxide judge`: the monitor on a recorded trace, or a history of concurrent clients.

pub mod history;

use std::io::{self, Write};

use ioxide_args::{JudgeArgs, settings};
use ioxide_history::read::HistoryForm;
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_report::summary::lines;
use ioxide_report::terminal::write_explanation;
use ioxide_run::judge::{Inputs, JudgeConfig, JudgedTrace, judge, plain_trace};
use ioxide_symex::Ctx;
use serde_json::{Value as Json, json};

use super::test::objective;
use crate::exit::{self, CliError, ExitStatus};
use crate::record::{self, RunFile};
use crate::solver::SolverRequest;
use crate::{limit, load, timing};

/// Steps shown before the forbidden one. Chosen by feel: more is not read.
const LAST_STEPS: usize = 20;

/// Judges the trace and says why.
pub fn run(args: &JudgeArgs) -> Result<ExitStatus, CliError> {
    if args.clients {
        return history::judge_client_history(args);
    }
    let (_, mut model) = load::load_model(&args.file, &settings(&args.set, args.through.as_deref()))?;
    let ReadTrace { trace, config } = read_trace(args, &model)?;
    if trace.is_empty() {
        return Err(CliError::new(ExitStatus::Nothing, format!("`{}` has no steps", args.trace)));
    }
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let mut solver = request.make()?;
    let _stage = limit::stage("judging the trace");
    let objective = args.objective.as_deref().map(|name| objective(&model, name)).transpose()?;
    let relation = args.relation.unwrap_or_else(|| ConformanceRelation::usual(&model.sts));
    let judged = judge(
        &mut Ctx::new(&mut model, &mut *solver),
        &trace,
        &JudgeConfig {
            objective: objective.as_ref(),
            tolerance: timing::stated_tolerance(&args.time, config.tolerance.clone()),
            relation,
            inputs: if args.in_flight { Inputs::Sent } else { config.inputs },
            ..config
        },
    );
    let status = match judged.forbidden {
        None if judged.unknown.is_some() => limit::halted_status(&request.halt, ExitStatus::Inconclusive),
        None => ExitStatus::Success,
        Some(_) if judged.is_outside => ExitStatus::Inconclusive,
        Some(_) => ExitStatus::Failure,
    };
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", as_json(&judged)?)
    } else {
        show_judged_trace(&mut out, &model, &trace, &judged, relation)
    };
    exit::status_after_output(status, told)
}

/// A trace, and the settings under which it is judged.
struct ReadTrace {
    trace: Trace,
    config: JudgeConfig<'static>,
}

/// Returns the trace of a record or of plain lines, with the inputs, instants and connections that a record states.
fn read_trace(args: &JudgeArgs, model: &Model) -> Result<ReadTrace, CliError> {
    let misfit = |error: String| {
        CliError::usage(format!("`{}` does not fit the model: {error}", args.trace)).help(
            "a line is {\"label\": \"...\", \"args\": {...}} or {\"silence\": true}, in timed models \
             with \"time\" or \"after\"",
        )
    };
    let is_history = || {
        CliError::usage(format!("`{}` is a history of several clients", args.trace)).help("add `--clients`")
    };
    let runs = record::read_runs(&args.trace).map_err(|error| {
        // A directory of `test --clients --report` has no record.
        if history::find_history(&args.trace) == args.trace { error } else { is_history() }
    })?;
    match runs {
        RunFile::Record(recorded) => {
            let run = record::choose_run(&recorded, args.number)?;
            record::require_steps(&recorded, run)?;
            let read = recorded.trace_and_ways(model, run);
            let (trace, ways) = read.map_err(|error| misfit(error.to_string()))?;
            Ok(ReadTrace { trace, config: JudgeConfig::for_recorded_run(&recorded, run, ways) })
        }
        RunFile::Text(text) => {
            let trace = plain_trace(model, &text).map_err(|error| {
                let is_client_history = HistoryForm::recognise_start(text.lines().next().unwrap_or_default());
                if is_client_history { is_history() } else { misfit(error.to_string()) }
            })?;
            Ok(ReadTrace { trace, config: JudgeConfig::default() })
        }
    }
}

/// Shows the verdict on a trace, and the reasons for it.
fn show_judged_trace(
    out: &mut impl Write,
    model: &Model,
    trace: &Trace,
    judged: &JudgedTrace,
    relation: ConformanceRelation,
) -> io::Result<()> {
    if let Some(told) = &judged.forbidden {
        let forbidden = judged.forbidden_at.map_or(judged.steps, |at| at + 1);
        if judged.is_outside {
            writeln!(out, "INCONCLUSIVE: forbidden at step {forbidden}, but outside the objective")?
        } else {
            writeln!(out, "FAIL at step {forbidden}")?
        }
        let from = forbidden.saturating_sub(LAST_STEPS);
        for (at, label) in trace.labels[..judged.steps].iter().enumerate().skip(from) {
            let mark = if at + 1 == forbidden { "✗" } else { " " };
            let shown = match label {
                Label::Quiescence => "silence".to_owned(),
                label => label.show(&model.pool, &model.sts),
            };
            writeln!(out, "  {mark} {:>3}  {shown}", at + 1)?;
        }
        if let Some(finding) = &judged.finding {
            writeln!(out, "{}", lines::finding_text(finding))?;
        }
        return write_explanation(told, out);
    }
    if let Some((at, why)) = &judged.unknown {
        writeln!(out, "INCONCLUSIVE: unknown from step {at} on, because {why}")?;
        return Ok(());
    }
    let steps = if judged.steps == 1 { "1 step is".into() } else { format!("{} steps are", judged.steps) };
    writeln!(out, "PASS: {steps} allowed")?;
    if let Some(at) = judged.unspecified {
        let reason = match relation {
            ConformanceRelation::Ioco => format!("the model has no transition for the input at step {at}"),
            ConformanceRelation::Uioco => {
                format!("not every possible state of the model accepts the input at step {at}")
            }
        };
        writeln!(out, "{reason}, so everything after it is allowed")?;
    }
    Ok(())
}

fn as_json(judged: &JudgedTrace) -> Result<Json, CliError> {
    let verdict = match judged.forbidden {
        None if judged.unknown.is_some() => "inconclusive",
        None => "pass",
        Some(_) if judged.is_outside => "inconclusive",
        Some(_) => "fail",
    };
    let told = judged.forbidden.as_ref().map(serde_json::to_value).transpose();
    let told = told.map_err(|error| CliError::new(ExitStatus::Internal, error.to_string()))?;
    let finding = judged.finding.as_ref().map(serde_json::to_value).transpose();
    let finding = finding.map_err(|error| CliError::new(ExitStatus::Internal, error.to_string()))?;
    Ok(json!({
        "version": 1,
        "verdict": verdict,
        "steps": judged.steps,
        "forbidden_step": judged.forbidden_at.map(|at| at + 1),
        "explanation": told,
        "finding": finding,
        "unspecified_at": judged.unspecified,
        "unknown_from": judged.unknown.as_ref().map(|(at, _)| at),
        "unknown_because": judged.unknown.as_ref().map(|(_, why)| why),
        "belief": judged.belief,
        "doubts": judged.doubts,
    }))
}
