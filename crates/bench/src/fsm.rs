//! Complete suites and adaptive state counting: sizes, time and memory (\[Sachtleben18]).
//!
//! Machines are those of the folder in `IOXIDE_DATA` (`mealy/**/*.dot` for suites, pairs
//! `fsm/*_spec.fsm` with `_red` and `_mut` for state counting), if it is set, and generated ones
//! with up to 1,000 states; the pairs of the thesis are built in. Every method runs with 0, 1
//! and 2 extra states unless the suite would be out of proportion, which the row then says.

pub mod machines;

mod pairs;

use std::io::{self, Write};
use std::time::Instant;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_fsm::mealy::SuiteModel;
use ioxide_fsm::suite::{SuiteMethod, SuiteSize};
use serde_json::{Value as Json, json};

use super::memory;

/// The numbers of extra states measured; each more multiplies a suite by the number of inputs, so two is where it
/// ends.
const EXTRA: [usize; 3] = [0, 1, 2];
/// The number of words of inputs after every state above which a suite that is kept in memory is not made; chosen by
/// feel, to bound time and memory.
const MAX_KEPT: usize = 2_000_000;
/// The same number for suites that are walked and never kept; chosen by feel, to bound the time.
const MAX_WALKED: usize = 30_000_000;
/// The seconds after which a cell is not measured again for a better mean; chosen by feel, far above the resolution
/// of the clock.
const MIN_MEASURED_SECONDS: f64 = 0.02;

/// The figures of one suite.
struct SuiteCell {
    method: SuiteMethod,
    extra: usize,
    /// Size, time and memory; `None` if the suite would be out of proportion and was not made.
    measured: Option<MeasuredSuite>,
}

struct MeasuredSuite {
    size: SuiteSize,
    seconds: f64,
    peak_kb: Option<u64>,
}

/// Measures and shows everything, row by row.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut progress = ProgressLine::start();
    let mut out = io::stdout().lock();
    let mut rows = Vec::new();
    for machine in machines::all_machines()? {
        if !args.json {
            let spec = &machine.spec;
            writeln!(out, "{}: {} states, {} inputs", machine.name, spec.n_states(), spec.n_inputs())?;
        }
        for (extra, method) in EXTRA.iter().flat_map(|&extra| SuiteMethod::ALL.map(|method| (extra, method)))
        {
            progress.tick(|| format!("{} {} with {extra} extra states", machine.name, method.name()));
            let cell = measure(&machine.spec, method, extra);
            if args.json { rows.push(cell_json(&machine, &cell)) } else { show_cell(&mut out, &cell)? }
        }
    }
    let pairs = pairs::measure(&mut progress)?;
    if args.json {
        let pairs: Vec<Json> = pairs.iter().map(pairs::PairRow::json).collect();
        let result = json!({ "version": 1, "bench": "fsm", "suites": rows, "state_counting": pairs });
        writeln!(out, "{result}")?;
        return Ok(ExitStatus::Success);
    }
    for row in &pairs {
        writeln!(out, "{row}")?;
    }
    Ok(ExitStatus::Success)
}

/// Builds a suite and measures time and memory; one that would be too large is left out.
fn measure(spec: &SuiteModel, method: SuiteMethod, extra: usize) -> SuiteCell {
    let words = spec.n_inputs().saturating_pow(u32::try_from(extra + 1).unwrap_or(u32::MAX));
    let is_walked = matches!(method, SuiteMethod::W | SuiteMethod::Wp | SuiteMethod::Hsi);
    let max = if is_walked { MAX_WALKED } else { MAX_KEPT };
    if words.saturating_mul(spec.n_states()) > max {
        return SuiteCell { method, extra, measured: None };
    }
    memory::forget_peak();
    let start = Instant::now();
    let size = method.suite(spec, extra).measure();
    let mut runs = 1;
    while start.elapsed().as_secs_f64() < MIN_MEASURED_SECONDS {
        // The suite is the same; only the time is of interest.
        let _ = method.suite(spec, extra).measure();
        runs += 1;
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(runs);
    SuiteCell { method, extra, measured: Some(MeasuredSuite { size, seconds, peak_kb: memory::peak_kb() }) }
}

/// Shows one cell of the table.
fn show_cell(out: &mut impl Write, cell: &SuiteCell) -> io::Result<()> {
    let (extra, method) = (cell.extra, cell.method.name());
    let Some(MeasuredSuite { size, seconds, peak_kb }) = &cell.measured else {
        return writeln!(out, "  {extra} {method:5} left out: too large");
    };
    let peak = peak_kb.map_or(String::new(), |kb| format!(", peak {} MB", kb / 1024));
    let SuiteSize { tests, symbols } = size;
    writeln!(out, "  {extra} {method:5} {tests:>9} tests {symbols:>10} symbols {seconds:>10.5} s{peak}")
}

fn cell_json(machine: &machines::BenchMachine, cell: &SuiteCell) -> Json {
    let mut row = json!({
        "machine": machine.name, "states": machine.spec.n_states(), "inputs": machine.spec.n_inputs(),
        "extra": cell.extra, "method": cell.method.name(),
    });
    match &cell.measured {
        None => row["left_out"] = json!("too large"),
        Some(MeasuredSuite { size, seconds, peak_kb }) => {
            row["tests"] = json!(size.tests);
            row["symbols"] = json!(size.symbols);
            row["seconds"] = json!(seconds);
            row["peak_kb"] = json!(peak_kb);
        }
    }
    row
}
