//! `ioxide fsm`: complete test suites of a machine, and state counting against another one.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ioxide_fsm::mealy::{Completion, Listing, Mealy, Spec};
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::aligned;
use ioxide_fsm::read::{Form, read};
use ioxide_fsm::reduce::{Machine, Plan, Report, Variant, Verdict, on_demand_counting, state_counting};
use ioxide_fsm::suite::{Method, Size};
use ioxide_fsm::word::show_io;
use serde_json::json;

use crate::args::{Fsm, FsmVariant, Missing};
use crate::exit::{ExitStatus, Stop};
use crate::load;

/// Makes a suite, or tests another machine for reduction.
pub fn run(args: &Fsm) -> Result<ExitStatus, Stop> {
    match (&args.suite, args.reduction) {
        (Some(method), false) => suite(args, method),
        (None, true) => reduction(args),
        _ => Err(Stop::usage("say what to do: `--suite METHOD` or `--reduction`")
            .help("`ioxide fsm --help` has examples")),
    }
}

fn suite(args: &Fsm, method: &str) -> Result<ExitStatus, Stop> {
    let method: Method = method.parse().map_err(|_| {
        let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
        Stop::usage(format!("there is no method `{method}`")).help(format!("there is {}", names.join(", ")))
    })?;
    let spec = spec(args)?;
    let extra = args.extra;
    let size = match &args.out {
        Some(path) => write(path, method, &spec, extra)?,
        None => method.suite(&spec, extra).measure(),
    };
    let mut out = io::stdout().lock();
    if args.json {
        let result = json!({
            "version": 1, "method": method.name(), "extra": extra, "states": spec.n_states(),
            "tests": size.tests, "symbols": size.symbols,
        });
        writeln!(out, "{result}")?;
    } else {
        let method = method.name().to_uppercase();
        writeln!(
            out,
            "{method} suite: {} tests, {} symbols; finds every wrong machine with up to {} states",
            size.tests,
            size.symbols,
            spec.n_states() + extra
        )?;
    }
    Ok(ExitStatus::Success)
}

/// The machine as the suite methods need it: complete, connected, minimal.
fn spec(args: &Fsm) -> Result<Spec, Stop> {
    let machine =
        Mealy::from_listing(&listing(&args.file)?).map_err(|refusal| refused(&args.file, &refusal))?;
    let machine = match args.missing {
        None => machine,
        Some(missing) => machine.completed(&completion(missing)),
    };
    let spec = if args.minimise { Spec::reduced(&machine) } else { Spec::check(&machine) };
    spec.map_err(|refusal| refused(&args.file, &refusal))
}

/// Writes the suite as it is made: a header, then one test per line.
fn write(path: &str, method: Method, spec: &Spec, extra: usize) -> Result<Size, Stop> {
    let cannot = |error: io::Error| Stop::usage(format!("cannot write `{path}`: {error}"));
    let mut out = BufWriter::new(File::create(path).map_err(cannot)?);
    let header = json!({ "format": "ioxide-suite", "version": 1, "method": method.name(), "extra": extra });
    writeln!(out, "{header}").map_err(cannot)?;
    let mut size = Size { tests: 0, symbols: 0 };
    let mut suite = method.suite(spec, extra);
    while let Some(word) = suite.advance() {
        let names: Vec<&str> = word.iter().map(|&input| spec.names().inputs[input].as_str()).collect();
        size.tests += 1;
        size.symbols += names.len();
        writeln!(out, "{}", json!(names)).map_err(cannot)?;
    }
    out.flush().map_err(cannot)?;
    Ok(size)
}

fn reduction(args: &Fsm) -> Result<ExitStatus, Stop> {
    let missing = || {
        Stop::usage("`--reduction` needs `--sut FILE` and `--bound M`")
            .help("the machine to test, and how many states it may have")
    };
    let (sut, bound) = (args.sut.as_deref().ok_or_else(missing)?, args.bound.ok_or_else(missing)?);
    let model = observable(args, &args.file, &Nfsm::from_listing(&listing(&args.file)?))?;
    let system = aligned(model.names(), &Nfsm::from_listing(&listing(sut)?))
        .map_err(|refusal| refused(sut, &refusal))?;
    let system = observable(args, sut, &system)?;
    let plan = Plan::new(&model, bound).map_err(|refusal| refused(&args.file, &refusal))?;
    let plan = Plan { max_words: args.max_words, ..plan };
    let report = count(&model, &system, &plan, args.variant);
    show(args, &model, &report)
}

fn count(model: &Observable, system: &Observable, plan: &Plan, variant: FsmVariant) -> Report {
    let mut machine = Machine(system);
    let counted = match variant {
        FsmVariant::Refined => state_counting(model, &mut machine, plan, Variant::Refined),
        FsmVariant::Original => state_counting(model, &mut machine, plan, Variant::Original),
        FsmVariant::Io => state_counting(model, &mut machine, plan, Variant::PerResponse),
        FsmVariant::H => on_demand_counting(model, &mut machine, plan),
    };
    match counted {
        Ok(report) => report,
        Err(never) => match never {},
    }
}

fn show(args: &Fsm, model: &Observable, report: &Report) -> Result<ExitStatus, Stop> {
    let failures: Vec<String> =
        report.failures.iter().map(|failure| show_io(model.names(), failure)).collect();
    let (word, status) = match report.verdict() {
        Verdict::Pass => ("pass", ExitStatus::Success),
        Verdict::Fail => ("fail", ExitStatus::Failure),
        Verdict::Unknown => ("unknown", ExitStatus::Inconclusive),
    };
    let mut out = io::stdout().lock();
    if args.json {
        let result = json!({
            "version": 1, "verdict": word, "failures": failures, "tested": report.tested.len(),
            "iterations": report.iterations, "sequences": report.sequences, "symbols": report.symbols,
        });
        writeln!(out, "{result}")?;
        return Ok(status);
    }
    let tested = format!(
        "{} words tested, {} answers seen, {} symbols",
        report.tested.len(),
        report.sequences,
        report.symbols
    );
    match report.verdict() {
        Verdict::Pass => {
            writeln!(
                out,
                "pass: a reduction, if it has at most {} states ({tested})",
                args.bound.unwrap_or(0)
            )?;
            if args.variant == FsmVariant::Original {
                writeln!(
                    out,
                    "note: the original algorithm may miss failures; `--variant refined` does not"
                )?;
            }
        }
        Verdict::Unknown => {
            writeln!(out, "unknown: no failure seen before the limit of words ({tested}); raise --max-words")?
        }
        Verdict::Fail => {
            writeln!(out, "fail: not a reduction ({tested})")?;
            for failure in &failures {
                writeln!(out, "  {failure} is not allowed")?;
            }
            if args.variant == FsmVariant::Original {
                writeln!(
                    out,
                    "note: the original algorithm may miss failures; `--variant refined` does not"
                )?;
            }
        }
    }
    Ok(status)
}

fn observable(args: &Fsm, path: &str, machine: &Nfsm) -> Result<Observable, Stop> {
    let machine = match args.missing {
        None => machine.clone(),
        Some(missing) => machine.completed(&completion(missing)),
    };
    if args.minimise {
        return Ok(machine.determinised().minimised());
    }
    Observable::check(machine).map_err(|refusal| refused(path, &refusal))
}

fn completion(missing: Missing) -> Completion {
    match missing {
        Missing::Loop => Completion::SelfLoop("none".into()),
        Missing::Error => Completion::ErrorState("error".into()),
    }
}

fn listing(path: &str) -> Result<Listing, Stop> {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or("");
    let form = Form::of_extension(extension).ok_or_else(|| {
        Stop::new(ExitStatus::Model, format!("`{path}` is not a kind of machine")).help(
            "machines are `.dot`, `.kiss2`, `.txt` (state input output next) or `.fsm` (the same by number)",
        )
    })?;
    read(form, &load::read(path)?).map_err(|error| Stop::new(ExitStatus::Model, format!("`{path}`: {error}")))
}

fn refused(path: &str, refusal: &ioxide_fsm::error::Refusal) -> Stop {
    Stop::new(ExitStatus::Model, format!("`{path}`: {refusal}")).help(
        "`--minimise` makes a machine connected, minimal and observable; `--missing loop|error` completes it",
    )
}
