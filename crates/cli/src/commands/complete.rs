//! `ioxide complete`: complete suites of models with data, and what they prove.

mod choices;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use ioxide_args::{CompleteArgs, CompleteCommand};
use ioxide_campaign::whole_file::{AsideFile, FileReaders};
use ioxide_fsm::suite::SuiteMethod;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_report::guarantee::{CLAIM, CompleteGuarantee, claim_json};
use ioxide_run::suite::{SuiteLabel, SuiteTest, SuiteWriter, TraceTest};
use ioxide_symex::Ctx;
use ioxide_testgen::complete::stages::complete_suite_in_stages;
use ioxide_testgen::complete::suite::{CompleteConfig, CompleteSuite, NoCompleteSuite};
use ioxide_testgen::complete::{ClassLimits, NoAbstraction};
use ioxide_testgen::tester::spec::CompleteOption;
use ioxide_testgen::tester::suite::{AnswerWait, LabelTests, SuiteTester};
use serde_json::{Map, Value as Json, json};

use crate::counted::count_noun;
use crate::exit::{self, CliError, ExitStatus};
use crate::solver::SolverRequest;
use crate::write;
use crate::{limit, load};

/// Makes the suite, writes it if wanted, and says what it proves.
pub fn run(args: &CompleteCommand) -> Result<ExitStatus, CliError> {
    let (_, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    if let Some(sut) = &args.sut {
        return choices::test_choices(args, sut, model, &request);
    }
    let config = config(&args.suite, args.seed)?;
    let suite = make_suite(&mut model, &config, &request, &args.model.file)?;
    if let Some(path) = &args.out {
        write_suite(path, args, &model, &suite)?;
    }
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", suite_json(&model, &suite))
    } else {
        show_complete_suite(&mut out, args, &model, &suite)
    };
    let claim = &suite.claim;
    exit::status_after_output(
        if claim.is_whole() { ExitStatus::Success } else { ExitStatus::Inconclusive },
        told,
    )
}

/// Returns the checked configuration of the arguments.
pub fn config(args: &CompleteArgs, seed: u64) -> Result<CompleteConfig, CliError> {
    let method: SuiteMethod = args.method.parse().map_err(|_| {
        let names: Vec<&str> = SuiteMethod::ALL.iter().map(|method| method.name()).collect();
        CliError::usage(format!("there is no method `{}`", args.method))
            .help(format!("there is {}", names.join(", ")))
    })?;
    let limits = ClassLimits { states: args.max_states, bounded: args.bounded, ..ClassLimits::default() };
    Ok(CompleteConfig {
        extra: args.extra,
        boundary: args.refine,
        values: args.values,
        method,
        only: args.only.clone(),
        limits,
        max_symbols: args.max_symbols,
        seed,
        most_items: args.max_items,
    })
}

/// Returns the tester that `complete` or `complete:extra=1,refine=1` names, with the guarantee of its suite.
pub fn make_tester(
    options: &[CompleteOption],
    model: &mut Model,
    request: &SolverRequest<'_>,
    seed: u64,
    path: &str,
) -> Result<(SuiteTester, CompleteGuarantee), CliError> {
    let suite = make_suite(model, &CompleteConfig::from_options(options, seed), request, path)?;
    let mut tests = LabelTests::default();
    suite.tests.iter().for_each(|test| tests.push_word(test.iter().cloned()));
    Ok((SuiteTester::new(Arc::new(tests), AnswerWait::Quiescence, 1), CompleteGuarantee::new(&suite.claim)))
}

/// The suite of `model`.
pub fn make_suite(
    model: &mut Model,
    config: &CompleteConfig,
    request: &SolverRequest<'_>,
    path: &str,
) -> Result<CompleteSuite, CliError> {
    let mut solver = request.make()?;
    let _stage = limit::stage("making the classes and the suite");
    complete_suite_in_stages(&mut Ctx::new(model, &mut *solver), config, &limit::brief)
        .map_err(|reason| no_suite_error(path, request, &reason))
}

/// The end of the command where there is no suite.
fn no_suite_error(path: &str, request: &SolverRequest<'_>, reason: &NoCompleteSuite) -> CliError {
    let status = match reason {
        NoCompleteSuite::Abstraction(NoAbstraction::Halted(_)) => {
            limit::halted_status(&request.halt, ExitStatus::Inconclusive)
        }
        NoCompleteSuite::TooLarge { .. } | NoCompleteSuite::Abstraction(NoAbstraction::Undecided { .. }) => {
            ExitStatus::Inconclusive
        }
        NoCompleteSuite::UnknownRequirement(_) => ExitStatus::Usage,
        _ => ExitStatus::Model,
    };
    CliError::new(status, format!("`{path}` has no complete suite: {reason}")).help(reason.help())
}

/// Shows the size of the suite and the guarantee that it gives.
fn show_complete_suite(
    out: &mut impl Write,
    args: &CompleteCommand,
    model: &Model,
    suite: &CompleteSuite,
) -> io::Result<()> {
    let claim = &suite.claim;
    writeln!(
        out,
        "{} suite: {}, {}; {}, {}, systems of up to {}",
        claim.method.to_uppercase(),
        count_noun(claim.tests, "test"),
        count_noun(claim.symbols, "input"),
        count_noun(claim.states, "state"),
        count_noun(claim.inputs, "input class"),
        count_noun(claim.bound, "state")
    )?;
    for line in claim.sentences() {
        writeln!(out, "  {line}")?;
    }
    if args.classes {
        show_classes(out, model, suite)?;
    }
    Ok(())
}

fn show_classes(out: &mut impl Write, model: &Model, suite: &CompleteSuite) -> io::Result<()> {
    let _ = model;
    writeln!(out, "input classes:")?;
    for input in &suite.abstraction.inputs {
        writeln!(out, "  {}", input.name)?;
    }
    writeln!(out, "states:")?;
    for state in &suite.abstraction.states {
        writeln!(out, "  {}", state.name)?;
    }
    writeln!(out, "answers:")?;
    for answer in &suite.claim.answers {
        writeln!(out, "  {answer}")?;
    }
    Ok(())
}

fn suite_json(model: &Model, suite: &CompleteSuite) -> Json {
    let abstraction = &suite.abstraction;
    let inputs: Vec<Json> = abstraction
        .inputs
        .iter()
        .map(|input| {
            let message = model.sts.gates[input.gate].name.to_string();
            json!({ "name": input.name, "message": message, "when": model.pool.show(input.when).to_string() })
        })
        .collect();
    let states: Vec<Json> = abstraction
        .states
        .iter()
        .map(|state| {
            let location = suite.system(&model.sts).locations[state.loc].name.to_string();
            let facts: Vec<String> =
                state.facts.iter().map(|&fact| model.pool.show(fact).to_string()).collect();
            json!({ "name": state.name, "location": location, "when": facts })
        })
        .collect();
    json!({
        "version": 1, "method": suite.claim.method, "words": suite.claim.words, "tests": suite.claim.tests,
        "inputs": suite.claim.symbols, "claim": claim_json(&suite.claim), "input_classes": inputs,
        "states": states,
    })
}

/// Writes the suite with its claim.
fn write_suite(
    path: &str,
    args: &CompleteCommand,
    model: &Model,
    suite: &CompleteSuite,
) -> Result<(), CliError> {
    let cannot = |error: io::Error| write::write_error(path, &error);
    let aside = AsideFile::new(Path::new(path), FileReaders::Usual).map_err(cannot)?;
    let mut out = SuiteWriter::new(aside, suite_header(args, suite)).map_err(cannot)?;
    for test in &suite.tests {
        out.add(&as_test(model, test)).map_err(cannot)?;
    }
    out.finish().and_then(AsideFile::keep).map_err(cannot)
}

/// Returns the header of the suite file: method, extra states, model, claim.
fn suite_header(args: &CompleteCommand, suite: &CompleteSuite) -> Map<String, Json> {
    let about = json!({
        "method": suite.claim.method, "extra": args.suite.extra, "states": suite.claim.states,
        "model": args.model.file, CLAIM: claim_json(&suite.claim),
    });
    match about {
        Json::Object(about) => about,
        _ => Map::new(),
    }
}

fn as_test(model: &Model, test: &[Label]) -> SuiteTest {
    let trace = test.iter().filter_map(|label| SuiteLabel::new(&model.pool, &model.sts, label)).collect();
    SuiteTest::Trace(TraceTest { name: String::new(), trace })
}
