//! `ioxide bench repair`: is the original among the first proposals, where a mutant is taken for the model?
//!
//! A mutant of an example, written into the text of the example, is the wrong model; the original is played as the
//! system. Default campaigns with different seeds are recorded. A mutant counts if one of them fails: otherwise there
//! is nothing to repair. A mutant with two changes counts if the runs show both: undoing one of them does not explain
//! every run. Otherwise no repair could know of the other. Then `repair` gets the records, and its proposals are
//! compared with the original by `conform`, in both directions; what is not proved equal is counted as different.
//!
//! `IOXIDE_REPAIR_KIND=double` measures those with two changes only, `single` the others.
//! `IOXIDE_REPAIR_DETAILS=1` prints a line for every mutant; `IOXIDE_REPAIR_RUNS=FOLDER` keeps the recorded campaigns
//! there and takes those that it finds, so that another measurement repairs the same runs. With
//! `IOXIDE_REPAIR_KEEP_GOING=1`, one more campaign of a thousand steps goes on after failures: a default campaign ends
//! at its first one, which hides all others.

mod text;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ioxide_args::BenchArgs;
use ioxide_cli::commands::repair::{compile, read_runs};
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::{limit, solver};
use ioxide_model::number::Int;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, Switch};
use ioxide_model::term::{Term, TermNode};
use ioxide_model::value::Value;
use ioxide_repair::{RepairError, RepairRequest, Repairs, find_repairs, has_failing_run};
use ioxide_symex::Ctx;
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{ConformAnswer, ConformOptions, SearchBounds, conform};
use ioxide_testgen::mutate::{
    Mutant, MutantSelection, MutationOperator, Sample, select, show_initial, show_switch,
};
use serde_json::{Value as Json, json};

use super::embedded::load_text;
use super::statistics::median;

/// The examples, by name, whose mutants are the wrong models; those with the fewest mutants first.
const MODELS: [(&str, &str); 12] = [
    ("tokens", include_str!("../../../examples/learn/tokens.iox")),
    ("ticker", include_str!("../../../examples/ticker.iox")),
    ("adder", include_str!("../../../examples/adder.iox")),
    ("slot-machine", include_str!("../../../examples/slot-machine.iox")),
    ("brp", include_str!("../../../examples/brp/spec.iox")),
    ("lamp", include_str!("../../../examples/lamp/lamp.iox")),
    ("coap", include_str!("../../../examples/coap/coap.iox")),
    ("meter", include_str!("../../../examples/fsm/meter.iox")),
    ("queue", include_str!("../../../examples/data/queue.iox")),
    ("login", include_str!("../../../examples/learn/login.iox")),
    ("lock", include_str!("../../../examples/faults/lock-not-reset/model.iox")),
    ("capacity", include_str!("../../../examples/faults/one-above-capacity/model.iox")),
];
/// The number of mutants with one change, and the divisor that gives that with two, as the aim is stated.
const SINGLE: u64 = 300;
const DOUBLE_SHARE: u64 = 5;
/// The number of default campaigns that are recorded for each mutant. Chosen by feel: each ends at its first failure.
const CAMPAIGNS: u64 = 5;
/// The number of steps of a campaign that goes on after failures. Chosen by feel: it has a hundred runs or so.
const LONG_STEPS: &str = "1000";
/// The number of campaigns without a failure after which a mutant counts as unnoticed. Chosen by feel: they take most
/// of the time.
const UNNOTICED_AFTER: u64 = 1;
/// The outcome of campaigns that is written beside their records.
const FAILED: &str = "failed";
/// The number of proposals among which the original is to be.
const PROPOSALS: usize = 3;
/// The time for one repair.
const REPAIR_TIME: Duration = Duration::from_secs(10);
/// The time for proving that a proposal is the original, which is no part of the repair. Chosen by feel.
const PROOF_TIME: Duration = Duration::from_secs(5);

/// The result for the mutants of one model.
#[derive(Default)]
struct RepairRow {
    /// The mutants that were tried, those among them that no campaign told from the original, and that no text has.
    tried: usize,
    unnoticed: usize,
    /// The mutants with two changes of which the runs show one only.
    half_shown: usize,
    failing: usize,
    first: usize,
    among: usize,
    /// The mutants without a proposal, and proposals that forbid a recorded run.
    without: usize,
    broken: usize,
    seconds: Vec<f64>,
}

/// Measures and shows.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let single = args.runs.unwrap_or(SINGLE);
    let wanted =
        MODELS.iter().filter(|(name, _)| args.only.as_ref().is_none_or(|only| name.contains(&**only)));
    let wanted: Vec<_> = wanted.collect();
    let mut rows = Vec::new();
    let only = std::env::var("IOXIDE_REPAIR_KIND").ok();
    for (kind, total) in [("single", single), ("double", single / DOUBLE_SHARE)] {
        if only.as_ref().is_some_and(|only| only != kind) {
            continue;
        }
        let mut left = total;
        for (at, (name, text)) in wanted.iter().enumerate() {
            // As equal shares as whole numbers allow; small models, which come first, may have fewer mutants.
            let share = left.div_ceil((wanted.len() - at) as u64);
            let row = measure(args, (name, text), kind == "double", share)?;
            left -= row.failing as u64;
            rows.push((kind, *name, row));
        }
    }
    let mut out = io::stdout().lock();
    if args.json {
        let rows: Vec<Json> = rows.iter().map(|(kind, name, row)| row.json(kind, name)).collect();
        writeln!(out, "{}", json!({ "version": 1, "bench": "repair", "rows": rows }))?;
    } else {
        show_rows(&mut out, &rows)?;
    }
    Ok(ExitStatus::Success)
}

/// Takes mutants of one model until `share` of them have failed a campaign, or there are no more.
fn measure(
    args: &BenchArgs,
    (name, text): (&str, &str),
    is_double: bool,
    share: u64,
) -> Result<RepairRow, CliError> {
    let mut row = RepairRow::default();
    let mut original = load_text("original.iox", text)?;
    let mut progress = ProgressLine::start();
    for mutant in sample(&mut original, is_double, args.seed.unwrap_or(1)) {
        if row.failing as u64 >= share {
            break;
        }
        progress.tick(|| format!("{name}: {} of {share} mutants", row.failing));
        let Some(wrong) = text::written(&mut original, text, &mutant) else { continue };
        row.tried += 1;
        let temporary = tempfile::tempdir()?;
        let goes_on = std::env::var_os("IOXIDE_REPAIR_KEEP_GOING").is_some();
        let folder = match std::env::var_os("IOXIDE_REPAIR_RUNS") {
            Some(kept) => Path::new(&kept).join(if goes_on { "on" } else { "" }).join(name).join(&mutant.id),
            None => temporary.path().to_owned(),
        };
        if !record_campaigns(&folder, (text, &wrong), goes_on)? {
            row.unnoticed += 1;
            continue;
        }
        if is_double && !shows_both(args, (&mut original, text), &mutant, &folder)? {
            row.half_shown += 1;
            continue;
        }
        let verdict = row.repair(args, &folder, &original, &wrong)?;
        if std::env::var_os("IOXIDE_REPAIR_DETAILS").is_some() {
            eprintln!("{name} {}: {verdict}", mutant.id);
        }
    }
    Ok(row)
}

/// Returns the mutants of a model in random order.
fn sample(model: &mut Model, is_double: bool, seed: u64) -> Vec<Mutant> {
    let all = Sample { count: 400, seed };
    let selection = MutantSelection {
        operators: MutationOperator::ALL.to_vec(),
        sample: (!is_double).then_some(all),
        second_order: is_double.then_some(all),
        ..MutantSelection::default()
    };
    let mut mutants = select(model, &selection).unwrap_or_default();
    // The sample keeps the order of the text; a stride makes any beginning of it spread over the model.
    let stride = 37;
    let n = mutants.len();
    let order: Vec<usize> = (0..stride).flat_map(|from| (from..n).step_by(stride)).collect();
    let mut slots: Vec<Option<Mutant>> = mutants.drain(..).map(Some).collect();
    order.into_iter().filter_map(|at| slots[at].take()).collect()
}

/// Records default campaigns against the original as the system, and if it `goes_on` a short one that goes on after
/// failures; returns whether one of them failed.
fn record_campaigns(folder: &Path, (original, wrong): (&str, &str), goes_on: bool) -> Result<bool, CliError> {
    let outcome = folder.join("outcome");
    let is_kept = std::fs::read_to_string(folder.join("wrong.iox")).is_ok_and(|kept| kept == wrong);
    if let Some(outcome) = std::fs::read_to_string(&outcome).ok().filter(|_| is_kept) {
        return Ok(outcome == FAILED);
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("original.iox"), original)?;
    std::fs::write(folder.join("wrong.iox"), wrong)?;
    let mut has_failed = false;
    for seed in 1..=CAMPAIGNS + u64::from(goes_on) {
        let more: &[&str] =
            if seed > CAMPAIGNS { &["--keep-going", "--no-shrink", "--steps", LONG_STEPS] } else { &[] };
        let status = Command::new(std::env::current_exe()?)
            .args([
                "test",
                "wrong.iox",
                "--sut",
                "model:original.iox",
                "--report",
                "runs",
                "--no-regressions",
            ])
            .args(["--seed", &seed.to_string()])
            .args(more)
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        has_failed |= status.code() == Some(ExitStatus::Failure as i32);
        if !has_failed && seed >= UNNOTICED_AFTER {
            break;
        }
    }
    std::fs::write(&outcome, if has_failed { FAILED } else { "passed" })?;
    Ok(has_failed)
}

/// Returns whether the runs in `folder` show both changes of a mutant: neither alone undone explains all of them.
fn shows_both(
    args: &BenchArgs,
    (model, text): (&mut Model, &str),
    mutant: &Mutant,
    folder: &Path,
) -> Result<bool, CliError> {
    let runs = read_runs(&[folder.join("runs").display().to_string()])?.runs;
    for edit in &mutant.edits {
        let one = Mutant { id: mutant.id.clone(), edits: vec![edit.clone()] };
        let Some(wrong) = text::written(model, text, &one) else { continue };
        let mut left = load_text("left.iox", &wrong)?;
        let mut solver = solver::make(&args.solver)?;
        if !has_failing_run(&mut left, &mut *solver, &runs).unwrap_or(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl RepairRow {
    /// Repairs the wrong model by the records and counts the result; returns it for people.
    fn repair(
        &mut self,
        args: &BenchArgs,
        folder: &Path,
        original: &Model,
        wrong: &str,
    ) -> Result<String, CliError> {
        let mut sources = Sources::new();
        let file = sources.add("wrong.iox", wrong);
        let runs = read_runs(&[folder.join("runs").display().to_string()])?.runs;
        let mut solver = solver::make(&args.solver)?;
        let begun = Instant::now();
        let request = RepairRequest {
            sources: &sources,
            file,
            load: &|sources, tentative| compile(sources, file, &[], tentative),
            runs: &runs,
            max_proposals: PROPOSALS,
            halt: limit::brief(REPAIR_TIME),
            search_time: Some(REPAIR_TIME * 65 / 100),
            halt_after: limit::brief,
        };
        let repairs = match find_repairs(&request, &mut *solver) {
            Ok(repairs) => repairs,
            // The system broke down, or said what the model cannot say: there is no failure of the model alone.
            Err(RepairError::NothingFails) => {
                self.unnoticed += 1;
                return Ok("nothing fails".into());
            }
            Err(error) => return Err(CliError::new(ExitStatus::Internal, error.to_string())),
        };
        let seconds = begun.elapsed().as_secs_f64();
        self.failing += 1;
        self.seconds.push(seconds);
        self.without += usize::from(repairs.proposals.is_empty());
        let rank = self.rank_of_original(args, original, &repairs, &runs, file)?;
        self.first += usize::from(rank == Some(0));
        self.among += usize::from(rank.is_some());
        let said: Vec<&str> = repairs.proposals.iter().map(|proposal| &*proposal.reason).collect();
        let halted = if repairs.halted.is_some() { ", halted" } else { "" };
        let work = format!(
            "in {seconds:.1} s{halted} ({} tried, {} compiled, {} labels replayed)",
            repairs.tried, repairs.effort.compiled, repairs.effort.replayed
        );
        Ok(match rank {
            Some(rank) => format!("{} {work}", rank + 1),
            None => format!("MISSED {work}: {}", said.join(" | ")),
        })
    }

    /// Returns the position of the first proposal that is the original, and counts proposals that break a run.
    fn rank_of_original(
        &mut self,
        args: &BenchArgs,
        original: &Model,
        repairs: &Repairs,
        runs: &[ioxide_repair::ReplayableRun],
        file: ioxide_model::source::FileId,
    ) -> Result<Option<usize>, CliError> {
        let mut found = None;
        for (at, proposal) in repairs.proposals.iter().enumerate() {
            let model = compile(&proposal.edited, file, &[], &[]);
            let Some((mut model, _)) = model else { continue };
            let mut solver = solver::make(&args.solver)?;
            let is_broken = has_failing_run(&mut model, &mut *solver, runs).unwrap_or(true);
            self.broken += usize::from(is_broken);
            if found.is_none() && is_equal(args, original, &model)? {
                found = Some(at);
            }
        }
        Ok(found)
    }

    fn json(&self, kind: &str, name: &str) -> Json {
        json!({
            "kind": kind,
            "model": name,
            "failing": self.failing,
            "first": self.first,
            "among_three": self.among,
            "without_proposal": self.without,
            "proposals_that_forbid_a_run": self.broken,
            "median_seconds": if self.seconds.is_empty() { None } else { Some(median(&self.seconds)) },
            "longest_seconds": self.seconds.iter().copied().fold(0.0, f64::max),
            "mutants_that_no_campaign_noticed": self.unnoticed,
            "mutants_of_which_one_change_shows": self.half_shown,
        })
    }
}

/// Returns whether both models are proved to behave alike: by equal transitions and initial values, or by comparison.
fn is_equal(args: &BenchArgs, one: &Model, other: &Model) -> Result<bool, CliError> {
    Ok(is_same_model(one, other) || is_conforming(args, one, other)? && is_conforming(args, other, one)?)
}

/// Returns whether both models have the same transitions, up to the order of conditions, and the same initial values.
/// No comparison of models with unbounded variables comes to an end, so this settles what was restored literally.
fn is_same_model(one: &Model, other: &Model) -> bool {
    let meaning = |model: &Model| -> Vec<String> {
        let mut model = model.clone();
        let initial = model.sts.vars.iter().map(|var| show_initial(&model, var.var, var.init));
        let mut all: Vec<String> = initial.collect();
        for switch in &model.sts.switches.clone() {
            let facts = model.pool.conjuncts(switch.guard);
            let mut guard: Vec<String> = facts.iter().map(|&fact| fact_text(&model, fact)).collect();
            guard.sort_unstable();
            let guard = guard.join(" && ");
            let mut update = switch.update.clone();
            // Assignments of one transition happen at once: their order means nothing.
            update.sort_by_key(|(var, _)| *var);
            let free = Switch { guard: model.pool.tt(), label: "".into(), update, ..switch.clone() };
            all.push(format!("{} when {guard}", show_switch(&model, &free)));
        }
        all.sort_unstable();
        all
    };
    meaning(one) == meaning(other)
}

/// Returns a condition as text; the sides of an equation in one order.
fn fact_text(model: &Model, fact: Term) -> String {
    match *model.pool.node(fact) {
        TermNode::Eq(a, b) => {
            let mut sides = [a, b].map(|side| model.pool.show(side).to_string());
            sides.sort_unstable();
            sides.join(" == ")
        }
        // Whole numbers: `n < 4` is `n <= 3`.
        TermNode::Lt(a, b) => match [a, b].map(|side| model.pool.as_value(side)) {
            [_, Some(Value::Int(most))] => {
                let most = model.pool.show_value(&Value::Int(most + Int::from(-1)));
                format!("{} <= {most}", model.pool.show(a))
            }
            [Some(Value::Int(least)), _] => {
                let least = model.pool.show_value(&Value::Int(least + Int::from(1)));
                format!("{least} <= {}", model.pool.show(b))
            }
            _ => model.pool.show(fact).to_string(),
        },
        _ => model.pool.show(fact).to_string(),
    }
}

fn is_conforming(args: &BenchArgs, imp: &Model, spec: &Model) -> Result<bool, CliError> {
    let mut spec = spec.clone();
    let Ok(imp) = join(&mut spec, imp) else { return Ok(false) };
    let mut solver = solver::make(&args.solver)?;
    let options = ConformOptions {
        relation: ConformanceRelation::usual(&spec.sts),
        bounds: SearchBounds::default(),
        ..ConformOptions::default()
    };
    let mut cx = Ctx::new(&mut spec, &mut *solver);
    let halt = limit::brief(PROOF_TIME);
    let found = cx.run_within(&halt, |cx| conform(cx, &imp, &options, &mut |_| ControlFlow::Continue(())));
    Ok(found.is_ok_and(|found| matches!(found.answer, ConformAnswer::Conforms(_))))
}

fn show_rows(out: &mut impl Write, rows: &[(&str, &str, RepairRow)]) -> io::Result<()> {
    writeln!(
        out,
        "{:8} {:14} {:>8} {:>6} {:>12} {:>12} {:>8} {:>9} {:>9} {:>10}",
        "mutants",
        "model",
        "failing",
        "first",
        "among three",
        "no proposal",
        "median",
        "longest",
        "breaking",
        "one shown"
    )?;
    for kind in ["single", "double"] {
        let mut total = RepairRow::default();
        for (_, name, row) in rows.iter().filter(|(of, ..)| *of == kind) {
            show_row(out, kind, name, row)?;
            total.failing += row.failing;
            total.first += row.first;
            total.among += row.among;
            total.without += row.without;
            total.broken += row.broken;
            total.half_shown += row.half_shown;
            total.seconds.extend(&row.seconds);
        }
        show_row(out, kind, "all", &total)?;
        let percent = 100.0 * total.among as f64 / total.failing.max(1) as f64;
        writeln!(out, "{kind}: the original is among the first three in {percent:.0} %")?;
    }
    Ok(())
}

fn show_row(out: &mut impl Write, kind: &str, name: &str, row: &RepairRow) -> io::Result<()> {
    let longest = row.seconds.iter().copied().fold(0.0, f64::max);
    let usual = if row.seconds.is_empty() { 0.0 } else { median(&row.seconds) };
    writeln!(
        out,
        "{kind:8} {name:14} {:>8} {:>6} {:>12} {:>12} {usual:>6.1} s {longest:>7.1} s {:>9} {:>10}",
        row.failing, row.first, row.among, row.without, row.broken, row.half_shown
    )
}
