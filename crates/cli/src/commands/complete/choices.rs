//! Models that leave the system a choice: state counting on the machine of classes, against a live system.

use std::io::{self, Write};
use std::sync::Arc;

use ioxide_args::CompleteCommand;
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::reduce::{
    CountingPlan, CountingVariant, ReductionReport, ReductionVerdict, Repeated, state_counting,
};
use ioxide_fsm::word::show_io;
use ioxide_model::sts::Model;
use ioxide_run::answers::ClassSystem;
use ioxide_symex::Ctx;
use ioxide_testgen::complete::{Abstraction, AnswerNames, abstraction};
use serde_json::json;

use super::{config, no_suite_error};
use crate::commands::fsm::live::answer_error;
use crate::counted::count_noun;
use crate::exit::{self, CliError, ExitStatus};
use crate::session::patience;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{limit, machine, redaction};

/// Tests the system by counting states.
pub fn test_choices(
    args: &CompleteCommand,
    sut: &str,
    mut model: Model,
    request: &SolverRequest<'_>,
) -> Result<ExitStatus, CliError> {
    let config = config(&args.suite, args.seed)?;
    let system = SystemUnderTest::from_name(sut, args.model.spec_source())?;
    machine::declare_outputs(&mut model, &system);
    let patience = patience(&system, args.quiescence_ms)?.default_time();
    let opener = SystemOpener::new(&system, Arc::new(model.clone()), request.clone());
    let mut solver = request.make()?;
    let shown = model.clone();
    let mut cx = Ctx::new(&mut model, &mut *solver);
    let _stage = limit::stage("making the classes, and counting states");
    let found = abstraction(&mut cx, config.boundary, &config.limits)
        .map_err(|reason| no_suite_error(&args.model.file, request, &reason.into()))?;
    let counted = observable(args, &cx, &found)?;
    let bound = counted.n_states() + config.extra;
    let plan =
        CountingPlan::new(&counted, bound).map_err(|refusal| refusal_error(args, &refusal.to_string()))?;
    let repetitions = args.repeat.max(1);
    opener.open(0, args.seed, |adapter| {
        let live = ClassSystem::new(
            (&shown, &mut cx),
            &found,
            counted.names(),
            (adapter, patience),
            &request.halt,
            args.seed,
        );
        let mut repeated = Repeated::new(live, repetitions);
        let report = state_counting(&counted, &mut repeated, &plan, CountingVariant::Refined)
            .map_err(|trouble| answer_error(trouble, |said| preamble(&said)))?;
        choices_text(args, &found, repeated.live(), bound, &report)
    })
}

/// The machine of classes as state counting needs it.
fn observable(
    args: &CompleteCommand,
    cx: &Ctx<'_>,
    abstraction: &Abstraction,
) -> Result<Observable, CliError> {
    let machine = Nfsm::from_listing(&abstraction.listing(cx, AnswerNames::Each));
    let observable =
        Observable::check(machine).map_err(|refusal| refusal_error(args, &refusal.to_string()))?;
    observable.check_complete().map_err(|refusal| refusal_error(args, &refusal.to_string()))?;
    Ok(observable.merge_equivalent_states())
}

fn refusal_error(args: &CompleteCommand, why: &str) -> CliError {
    CliError::new(
        ExitStatus::Model,
        format!("`{}` cannot be tested by counting states: {why}", args.model.file),
    )
    .help(
        "state counting needs an answer to every input class in every state, and answers that say where \
         they lead",
    )
}

/// Returns the failure of a system that speaks before its first input.
fn preamble(said: &str) -> CliError {
    CliError::new(ExitStatus::Failure, format!("fail: before its first input the system sends {said}"))
}

fn choices_text(
    args: &CompleteCommand,
    abstraction: &Abstraction,
    live: &ClassSystem<'_, '_>,
    bound: usize,
    report: &ReductionReport,
) -> Result<ExitStatus, CliError> {
    let failures: Vec<String> =
        report.failures.iter().map(|failure| show_io(live.names(), failure)).collect();
    let (word, status) = match report.verdict() {
        ReductionVerdict::Pass => ("pass", ExitStatus::Success),
        ReductionVerdict::Fail => ("fail", ExitStatus::Failure),
        ReductionVerdict::Unknown => ("unknown", ExitStatus::Inconclusive),
    };
    let mut out = redaction::stdout();
    let shown = if args.json {
        writeln!(
            out,
            "{}",
            json!({
                "version": 1, "verdict": word, "bound": bound, "input_classes": abstraction.inputs.len(),
                "exact": abstraction.is_exact, "left_out": abstraction.n_left_out(), "failures": failures,
                "tested": report.tested.len(), "repeat": args.repeat, "resets": live.n_resets, "inputs": live.n_inputs,
            })
        )
    } else {
        show_choices(&mut out, args, abstraction, live, (word, bound), report, &failures)
    };
    exit::status_after_output(status, shown)
}

/// Shows the result of testing a system that may choose its answers.
fn show_choices(
    out: &mut impl Write,
    args: &CompleteCommand,
    abstraction: &Abstraction,
    live: &ClassSystem<'_, '_>,
    (word, bound): (&str, usize),
    report: &ReductionReport,
    failures: &[String],
) -> io::Result<()> {
    let tested = count_noun(report.tested.len(), "word");
    match word {
        "pass" => writeln!(
            out,
            "pass: only answers that the model allows, if the system has at most {} over {}, treats inputs of \
             one class alike, has guards made of the model's conditions, and updates variables as the model \
             does ({tested} tested)",
            count_noun(bound, "state"),
            count_noun(abstraction.inputs.len(), "input class")
        )?,
        "fail" => writeln!(out, "fail: answers that the model does not allow ({tested} tested)")?,
        _ => writeln!(out, "unknown: not all words were tested (only {})", report.tested.len())?,
    }
    for failure in failures {
        writeln!(out, "  {failure} is not allowed")?;
    }
    if !abstraction.is_exact {
        writeln!(
            out,
            "  no finite abstraction: {} of classes left out",
            count_noun(abstraction.n_left_out(), "pair")
        )?;
    }
    writeln!(
        out,
        "live: every test {}, {}, {} (seed {}); assumes that this shows every answer",
        count_noun(args.repeat, "time"),
        count_noun(live.n_resets, "reset"),
        count_noun(live.n_inputs, "input"),
        args.seed
    )
}
