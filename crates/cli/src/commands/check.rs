//! `ioxide check`: finds mistakes in a model.

use std::io::{self, Write};
use std::ops::ControlFlow;

use ioxide_args::{CheckArgs, CheckFormat};
use ioxide_history::prove_sequential;
use ioxide_model::diag::{Diagnostic, Severity};
use ioxide_model::source::{Sources, Span};
use ioxide_model::sts::Model;
use ioxide_report::{annotation, sarif};
use ioxide_smt::halt::{Halt, Halted};
use ioxide_symex::{
    ClaimKind, ConcreteRun, Ctx, ExploreConfig, ExploreLimits, LintResult, ProofBasis, PropertyResult,
    PropertyStatus, StopReason, lint,
};
use serde_json::json;

use crate::counted::count_noun;
use crate::exit::{self, CliError, ExitStatus};
use crate::progress::ProgressLine;
use crate::{annotations, limit, load, render, solver};

/// The findings in one file.
struct CheckedFile {
    file: String,
    diagnostics: Vec<Diagnostic>,
    deep: Option<DeepFindings>,
    /// The proof that the model is sequential, or the reason why there is none; `None` if it was not asked for.
    sequential: Option<Result<(), String>>,
}

/// The exploration that the deep lints rest on.
struct DeepFindings {
    states: usize,
    stop: StopReason,
    open: usize,
    /// The reason why the solver left formulas open, if it did.
    doubt: Option<String>,
    /// The reason why the lints ended early, if they did.
    halted: Option<Halted>,
    /// The properties: proved, refuted or open.
    properties: Vec<PropertyRecord>,
}

/// A property as it is shown.
struct PropertyRecord {
    name: String,
    kind: ClaimKind,
    span: Span,
    status: PropertyStatus,
    /// The run that shows the result, if there is one.
    trace: Option<Vec<String>>,
}

/// Checks every file; all are checked even if one is wrong.
pub fn run(args: &CheckArgs) -> Result<ExitStatus, CliError> {
    let halt = limit::halt(&args.limit);
    let mut sources = Sources::new();
    let mut results = Vec::new();
    let mut trouble = None;
    let models = models_of(&args.files);
    for path in &models {
        match check_file(args, &halt, &mut sources, path) {
            Ok(checked) => results.push(checked),
            Err(stop) if models.len() == 1 => return Err(stop),
            Err(stop) => {
                exit::print_error(&stop);
                trouble = Some(stop);
            }
        }
    }
    let told = match args.output_format() {
        CheckFormat::Text => show_checked_files(&sources, &results),
        CheckFormat::Json => show_json(&sources, &results),
        CheckFormat::Sarif => show_sarif(&sources, &results),
    };
    if annotations::are_wanted() {
        let write_file = |checked: &CheckedFile| {
            annotation::write_findings(&mut io::stderr(), &sources, &checked.diagnostics)
        };
        results.iter().try_for_each(write_file).unwrap_or_else(|error| exit::unheard(&error));
    }
    exit::status_after_output(overall_status(args, &halt, &results, trouble), told)
}

/// Returns the models to check. TorXakis files without a model belong to each of those that have one.
fn models_of(files: &[String]) -> Vec<String> {
    let is_shared = |file: &&String| {
        ioxide_lang::is_torxakis(file)
            && load::regular(file).is_ok_and(|text| ioxide_lang::only_declares(file, &text))
    };
    let (shared, models): (Vec<&String>, Vec<&String>) = files.iter().partition(is_shared);
    if shared.is_empty() || !models.iter().any(|file| ioxide_lang::is_torxakis(file)) {
        return files.to_vec();
    }
    let with_shared = |file: &String| {
        let others = shared.iter().filter(|_| ioxide_lang::is_torxakis(file)).map(|other| other.as_str());
        std::iter::once(file.as_str()).chain(others).collect::<Vec<&str>>().join("+")
    };
    models.into_iter().map(with_shared).collect()
}

/// Returns the exit status of the findings in all files.
fn overall_status(
    args: &CheckArgs,
    halt: &Halt,
    results: &[CheckedFile],
    trouble: Option<CliError>,
) -> ExitStatus {
    if let Some(stop) = trouble {
        return stop.status();
    }
    let worst = results.iter().flat_map(|checked| &checked.diagnostics).map(|found| found.severity).max();
    let is_refused = results.iter().any(|checked| matches!(checked.sequential, Some(Err(_))));
    let status = match worst {
        _ if is_refused => ExitStatus::Model,
        Some(Severity::Error) => ExitStatus::Model,
        Some(Severity::Warning) if args.deny_warnings => ExitStatus::Model,
        _ => ExitStatus::Success,
    };
    let halted = results.iter().filter_map(|checked| checked.deep.as_ref()).any(|deep| deep.halted.is_some());
    if halted { limit::halted_status(halt, status) } else { status }
}

/// Checks one file: its text, and with `--deep` its behaviour.
fn check_file(
    args: &CheckArgs,
    halt: &Halt,
    sources: &mut Sources,
    path: &str,
) -> Result<CheckedFile, CliError> {
    let file = load::add_source(sources, path)?;
    let loaded = load::load(sources, file, &args.set)?;
    let mut diagnostics = loaded.diagnostics;
    let mut deep = None;
    let sequential = match &loaded.model {
        Some(model) if args.sequential => Some(check_sequential(args, halt, model)?),
        _ => None,
    };
    if let (true, Some(mut model)) = (args.deep, loaded.model) {
        let found = look_deep(args, halt, &mut model)?;
        deep = Some(DeepFindings {
            states: found.exploration.stats.states,
            stop: found.exploration.stop,
            open: found.open,
            doubt: found.doubt.map(|why| why.to_string()),
            halted: found.halted,
            properties: found.properties.into_iter().map(property_record).collect(),
        });
        diagnostics.extend(found.findings);
    }
    diagnostics.retain(|found| !args.allow.contains(&found.code));
    Ok(CheckedFile { file: path.to_owned(), diagnostics, deep, sequential })
}

/// Returns a property with its run as text.
fn property_record(result: PropertyResult) -> PropertyRecord {
    let run = match &result.status {
        PropertyStatus::Refuted(run) => run.as_ref(),
        PropertyStatus::Proved { basis: ProofBasis::Example(run), .. } => Some(run),
        PropertyStatus::Proved { .. } | PropertyStatus::Open { .. } => None,
    };
    PropertyRecord {
        name: result.name.to_string(),
        kind: result.kind,
        span: result.span,
        trace: run.map(ConcreteRun::texts),
        status: result.status,
    }
}

/// Proves that the model is sequential; the reason as text if it is not.
fn check_sequential(args: &CheckArgs, halt: &Halt, model: &Model) -> Result<Result<(), String>, CliError> {
    let mut solver = solver::SolverRequest::new(&args.solver, halt.clone()).make()?;
    let mut model = model.clone();
    let mut cx = Ctx::new(&mut model, &mut *solver);
    Ok(prove_sequential(&mut cx).map(drop).map_err(|why| why.describe(&cx)))
}

fn look_deep(args: &CheckArgs, halt: &Halt, model: &mut Model) -> Result<LintResult, CliError> {
    let mut solver = solver::SolverRequest::new(&args.solver, halt.clone()).make()?;
    let _stage = limit::stage("checking the states for faults");
    let limits = ExploreLimits { max_states: args.max_states, max_depth: u32::MAX };
    let config = ExploreConfig { limits, ..ExploreConfig::default() };
    let mut progress = ProgressLine::start();
    let mut cx = Ctx::new(model, &mut *solver);
    Ok(lint(&mut cx, &config, &mut |stats| {
        progress.tick(|| format!("exploring: {} states, {} explored", stats.states, stats.expanded));
        ControlFlow::Continue(())
    }))
}

/// Shows the findings of every file and a line of totals.
fn show_checked_files(sources: &Sources, results: &[CheckedFile]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for checked in results {
        eprint!("{}", render::render_findings(sources, &checked.diagnostics));
        let count = |severity| checked.diagnostics.iter().filter(|found| found.severity == severity).count();
        let summary = match (count(Severity::Error), count(Severity::Warning), count(Severity::Hint)) {
            (0, 0, 0) => "ok".to_owned(),
            (errors, warnings, hints) => {
                let parts = [(errors, "error"), (warnings, "warning"), (hints, "hint")];
                let shown = parts.iter().filter(|(n, _)| *n > 0);
                shown.map(|(n, word)| count_noun(*n, word)).collect::<Vec<_>>().join(", ")
            }
        };
        writeln!(
            out,
            "{}: {summary}{}",
            checked.file,
            checked.deep.as_ref().map(deep_text).unwrap_or_default()
        )?;
        for property in checked.deep.iter().flat_map(|deep| &deep.properties) {
            if let Some(line) = property_line(property) {
                writeln!(out, "  {line}")?;
            }
        }
        match &checked.sequential {
            Some(Ok(())) => writeln!(out, "{}: sequential", checked.file)?,
            Some(Err(why)) => writeln!(out, "{}: not sequential: {why}", checked.file)?,
            None => {}
        }
    }
    Ok(())
}

/// Returns the line about a property; `None` for claims that nobody wrote and that are not proved.
fn property_line(property: &PropertyRecord) -> Option<String> {
    let name = &property.name;
    let subject = match property.kind {
        ClaimKind::Unreachable => format!("`{name}` is unreachable"),
        ClaimKind::Divisor => format!("{name} is not zero"),
        _ => format!("`{name}`"),
    };
    let is_written = !matches!(property.kind, ClaimKind::Unreachable | ClaimKind::Divisor);
    Some(match &property.status {
        PropertyStatus::Proved { basis, assumptions } => {
            let how = match basis {
                ProofBasis::Exploration { .. } => "all states explored".to_owned(),
                ProofBasis::Induction { steps: 1, invariants } => induction_text("induction", invariants),
                ProofBasis::Induction { steps, invariants } => {
                    induction_text(&format!("induction over {steps} steps"), invariants)
                }
                ProofBasis::Example(_) => "a run shows it".to_owned(),
            };
            let assuming = if assumptions.is_empty() {
                String::new()
            } else {
                format!("; it assumes that {}", assumptions.join(" and that "))
            };
            format!("{subject}: proved ({how}{assuming})")
        }
        PropertyStatus::Refuted(_) if is_written => format!("{subject}: refuted"),
        PropertyStatus::Open { why, .. } if is_written => format!("{subject}: open ({why})"),
        PropertyStatus::Refuted(_) | PropertyStatus::Open { .. } => return None,
    })
}

/// Returns the way of a proof with the invariants that it needs, a few of them.
fn induction_text(how: &str, invariants: &[String]) -> String {
    // The number of invariants that are shown; the others are counted. No reason for the number is recorded.
    const SHOWN: usize = 3;
    let shown = invariants.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    match invariants.len() {
        0 => how.to_owned(),
        n if n <= SHOWN => format!("{how}, with {shown}"),
        n => format!("{how}, with {shown} and {} more", n - SHOWN),
    }
}

/// Returns a property for scripts.
fn property_json(sources: &Sources, property: &PropertyRecord) -> serde_json::Value {
    let mut value = json!({
        "name": property.name,
        "kind": property.kind.name(),
        "status": property.status.name(),
        "text": sources.slice(property.span),
        "place": render::place(sources, property.span),
        "trace": property.trace,
    });
    match &property.status {
        PropertyStatus::Proved { basis, assumptions } => {
            value["assumptions"] = json!(assumptions);
            value["basis"] = match basis {
                ProofBasis::Exploration { states } => json!({ "by": "exploration", "states": states }),
                ProofBasis::Induction { steps, invariants } => {
                    json!({ "by": "induction", "steps": steps, "invariants": invariants })
                }
                ProofBasis::Example(_) => json!({ "by": "example" }),
            };
        }
        PropertyStatus::Open { why, counterexample } => {
            value["open_because"] = json!(why);
            value["counterexample_to_induction"] = json!(counterexample.as_ref().map(|found| json!({
                "states": found.states.iter().map(|state| json!({
                    "label": state.label, "place": state.place, "values": state.values,
                })).collect::<Vec<_>>(),
                "lemma": found.lemma,
            })));
        }
        PropertyStatus::Refuted(_) => {}
    }
    value
}

fn deep_text(deep: &DeepFindings) -> String {
    let states = count_noun(deep.states, "symbolic state");
    let how = match deep.halted.map_or(deep.stop, StopReason::Halted) {
        StopReason::Exhausted => "all explored".to_owned(),
        StopReason::MaxStates => "limit reached; raise --max-states to see more".to_owned(),
        StopReason::Halted(Halted::Time) => {
            "partial: the time limit was reached; raise --time-limit to see more".to_owned()
        }
        StopReason::Halted(Halted::Interrupted) => "partial: interrupted".to_owned(),
        stop @ (StopReason::MaxDepth | StopReason::TooLarge | StopReason::Stopped) => stop.to_string(),
    };
    let open = match deep.open {
        0 => String::new(),
        n => {
            let why = deep.doubt.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("; {} left unanswered by the solver{why}", count_noun(n, "question"))
        }
    };
    format!(" ({states}, {how}{open})")
}

fn show_json(sources: &Sources, results: &[CheckedFile]) -> io::Result<()> {
    let files: Vec<_> = results
        .iter()
        .map(|checked| {
            let list: Vec<_> =
                checked.diagnostics.iter().map(|found| render::finding_json(sources, found)).collect();
            json!({
                "file": checked.file,
                "diagnostics": list,
                "sequential": checked.sequential.as_ref().map(Result::is_ok),
                "not_sequential_because": checked.sequential.as_ref().and_then(|it| it.as_ref().err()),
                "deep": checked.deep.as_ref().map(|deep| json!({
                    "states": deep.states,
                    "complete": deep.stop == StopReason::Exhausted && deep.halted.is_none(),
                    "partial": deep.halted.map(|halted| halted.to_string()),
                    "open": deep.open,
                    "open_because": deep.doubt,
                    "properties": deep.properties.iter()
                        .map(|property| property_json(sources, property)).collect::<Vec<_>>(),
                })),
            })
        })
        .collect();
    writeln!(io::stdout().lock(), "{}", json!({ "version": 1, "files": files }))
}

fn show_sarif(sources: &Sources, results: &[CheckedFile]) -> io::Result<()> {
    let findings: Vec<&Diagnostic> = results.iter().flat_map(|checked| &checked.diagnostics).collect();
    let log = sarif::sarif_log(sources, &findings, env!("CARGO_PKG_VERSION"));
    writeln!(io::stdout().lock(), "{log:#}")
}
