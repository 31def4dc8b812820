//! Complete suites: made and written, read and run.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

use ioxide_args::FsmArgs;
use ioxide_campaign::whole_file::{AsideFile, FileReaders};
use ioxide_fsm::mealy::{Mealy, SuiteModel};
use ioxide_fsm::suite::{SuiteMethod, SuiteSize};
use ioxide_fsm::word::show_word;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_report::guarantee::CompleteGuarantee;
use ioxide_report::html::suite::SuiteView;
use ioxide_run::suite::runnable::{ANSWERS_FIELD, REPEAT_FIELD, RunnableSuite, answers_word};
use ioxide_run::suite::{SuiteLabel, SuiteTest, SuiteWriter, TraceTest};
use ioxide_smt::halt::Halt;
use ioxide_testgen::tester::suite::SuiteTester;
use serde_json::{Map, Value as Json, json};

use super::{completion, page, refusal_error};
use crate::exit::{CliError, ExitStatus};
use crate::limit;
use crate::machine::{Messages, NamedMachine};
use crate::solver::SolverRequest;
use crate::write;

/// Makes the suite of the machine, writes it if wanted, and says how large it is.
pub fn make_suite(args: &FsmArgs, method: &str) -> Result<ExitStatus, CliError> {
    let method: SuiteMethod = method.parse().map_err(|_| {
        let names: Vec<&str> = SuiteMethod::ALL.iter().map(|method| method.name()).collect();
        CliError::usage(format!("there is no method `{method}`"))
            .help(format!("there is {}", names.join(", ")))
    })?;
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let machine = NamedMachine::load(&args.file, &args.set, &request)?;
    let spec = limit::run_within(&request.halt, || spec(args, &machine))?;
    let job = SuiteJob { args, method, machine: &machine, spec: &spec };
    let size = match &args.out {
        Some(path) => job.write_suite(path, &request.halt)?,
        None => job.measure_suite(&request.halt)?,
    };
    if let Some(path) = &args.html {
        page::save(path, &args.file, &machine.listing, suite_for_page(args, method, &spec, &size))?;
    }
    let mut out = io::stdout().lock();
    if args.json {
        let result = json!({
            "version": 1, "method": method.name(), "extra": args.extra, "states": spec.n_states(),
            "inputs": spec.n_inputs(), "tests": size.tests, "symbols": size.symbols,
        });
        writeln!(out, "{result}")?;
        return Ok(ExitStatus::Success);
    }
    let (name, bound) = (method.name().to_uppercase(), spec.n_states() + args.extra);
    writeln!(
        out,
        "{name} suite: {} tests, {} symbols; finds every wrong machine with up to {bound} states",
        size.tests, size.symbols
    )?;
    Ok(ExitStatus::Success)
}

/// The making of a suite.
struct SuiteJob<'a> {
    args: &'a FsmArgs,
    method: SuiteMethod,
    /// The machine as its file has it.
    machine: &'a NamedMachine,
    /// The machine as the method needs it.
    spec: &'a SuiteModel,
}

impl SuiteJob<'_> {
    /// Makes the suite and returns its size.
    fn measure_suite(&self, halt: &Halt) -> Result<SuiteSize, CliError> {
        let _stage = limit::stage("making the suite");
        let mut size = SuiteSize { tests: 0, symbols: 0 };
        let mut suite = limit::run_within(halt, || self.method.suite(self.spec, self.args.extra));
        while let Some(word) = suite.advance() {
            size.tests += 1;
            size.symbols += word.len();
            reject_partial(halt, &size)?;
        }
        Ok(size)
    }

    /// Writes the suite as it is made.
    fn write_suite(&self, path: &str, halt: &Halt) -> Result<SuiteSize, CliError> {
        let Self { args, method, machine, spec } = *self;
        let _stage = limit::stage("making the suite");
        let cannot = |error: io::Error| write::write_error(path, &error);
        let mut suite = limit::run_within(halt, || method.suite(spec, args.extra));
        let aside = AsideFile::new(Path::new(path), FileReaders::Usual).map_err(cannot)?;
        let mut out = SuiteWriter::new(aside, self.suite_header()).map_err(cannot)?;
        let mut size = SuiteSize { tests: 0, symbols: 0 };
        while let Some(word) = suite.advance() {
            size.tests += 1;
            size.symbols += word.len();
            let names = word.iter().map(|&input| spec.names().inputs[input].as_str());
            out.add(&suite_test(machine.flat(), names)).map_err(cannot)?;
            reject_partial(halt, &size)?;
        }
        out.finish().and_then(AsideFile::keep).map_err(cannot)?;
        Ok(size)
    }

    /// Returns the header of the suite file: method, extra states, states, model, repetitions, end of an answer.
    fn suite_header(&self) -> Map<String, Json> {
        let Self { args, method, machine, spec } = *self;
        let about = json!({
            "method": method.name(), "extra": args.extra, "states": spec.n_states(),
            "model": args.file, REPEAT_FIELD: args.repeat.unwrap_or(1),
            ANSWERS_FIELD: answers_word(machine.wait),
        });
        match about {
            Json::Object(about) => about,
            _ => Map::new(),
        }
    }
}

/// A part of a complete suite proves nothing, so none is handed out.
fn reject_partial(halt: &Halt, size: &SuiteSize) -> Result<(), CliError> {
    let Some(halted) = halt.halt_reason() else { return Ok(()) };
    let status = limit::halted_status(halt, ExitStatus::Inconclusive);
    let SuiteSize { tests, symbols } = size;
    Err(CliError::new(
        status,
        format!("{halted} after {tests} tests with {symbols} symbols; no suite is written"),
    )
    .help("raise `--time-limit`, or use fewer `--extra` states or the method `s`"))
}

/// The suite for the page.
fn suite_for_page(args: &FsmArgs, method: SuiteMethod, spec: &SuiteModel, size: &SuiteSize) -> SuiteView {
    let bound = spec.n_states() + args.extra;
    let mut view = SuiteView {
        method: format!("{} suite", method.name().to_uppercase()),
        promise: format!("A system that passes all tests and has up to {bound} states is correct."),
        figures: vec![
            ("states".into(), spec.n_states() as u64),
            ("inputs".into(), spec.n_inputs() as u64),
            ("tests".into(), size.tests as u64),
            ("symbols".into(), size.symbols as u64),
        ],
        ..SuiteView::default()
    };
    let mut suite = method.suite(spec, args.extra);
    while let Some(word) = suite.advance() {
        page::add_word(&mut view, || show_word(spec.names(), word));
    }
    view
}

/// The machine as the suite methods need it: complete, connected, minimal.
pub fn spec(args: &FsmArgs, machine: &NamedMachine) -> Result<SuiteModel, CliError> {
    let mealy =
        Mealy::from_listing(&machine.listing).map_err(|refusal| refusal_error(&args.file, &refusal))?;
    let mealy = match args.missing {
        None => mealy,
        Some(missing) => mealy.complete_with(&completion(machine, missing)),
    };
    let spec = if args.minimise { SuiteModel::from_reduced(&mealy) } else { SuiteModel::check(&mealy) };
    spec.map_err(|refusal| refusal_error(&args.file, &refusal))
}

/// The names of the inputs, or the inputs with their data.
fn suite_test<'n>(flat: Option<&Messages>, names: impl Iterator<Item = &'n str>) -> SuiteTest {
    let Some(Messages { model, inputs, .. }) = flat else {
        return SuiteTest::Word(names.map(str::to_owned).collect());
    };
    let labels: Vec<&Label> = names.filter_map(|name| inputs.get(name)).collect();
    let gate = |label: &&Label| match label {
        Label::Input(gate, values) if values.is_empty() => Some(model.sts.gates[*gate].name.to_string()),
        _ => None,
    };
    if let Some(word) = labels.iter().map(gate).collect() {
        return SuiteTest::Word(word);
    }
    let trace = labels.iter().filter_map(|label| SuiteLabel::new(&model.pool, &model.sts, label)).collect();
    SuiteTest::Trace(TraceTest { name: String::new(), trace })
}

/// The tester that runs the suite at `path`.
pub fn tester(path: &str, spec: &Model) -> Result<(SuiteTester, Option<CompleteGuarantee>), CliError> {
    let wrong = |error: String| CliError::usage(format!("`{path}`: {error}")).help(HELP);
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let suite = RunnableSuite::read(BufReader::new(file), spec).map_err(|error| wrong(error.to_string()))?;
    if suite.is_empty() {
        return Err(CliError::new(ExitStatus::Nothing, format!("nothing to run: `{path}` has no tests")));
    }
    let guarantee = CompleteGuarantee::from_header(&suite.about);
    Ok((suite.into_tester(), guarantee))
}

/// Writes the progress of the suite for people.
pub fn show_suite_progress(out: &mut impl Write, tester: &SuiteTester) -> io::Result<()> {
    let progress = tester.progress();
    writeln!(out, "suite: {} of {} tests carried out", progress.finished, tester.runs())?;
    match progress.left_out {
        0 => Ok(()),
        n => writeln!(out, "  {n} inputs left out: the model does not mention them where they were due"),
    }
}

/// Returns the progress of the suite for programs.
pub fn progress_json(tester: &SuiteTester) -> Json {
    let progress = tester.progress();
    json!({ "tests": tester.runs(), "carried_out": progress.finished, "left_out": progress.left_out })
}

/// The help on a file that is no suite of the model.
const HELP: &str = "`ioxide fsm MODEL --suite METHOD --out FILE` makes one; give `test` the same model";
