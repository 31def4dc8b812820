//! Adaptive state counting on pairs of a model and a system.

use std::fmt;
use std::fs;
use std::time::Instant;

use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::align_names;
use ioxide_fsm::read::{self, MachineFormat};
use ioxide_fsm::reduce::{
    CountingPlan, CountingVariant, PlayedMachine, ReductionReport, ReductionVerdict, on_demand_counting,
    state_counting,
};
use serde_json::{Value as Json, json};

use super::machines::{data, files};

/// The first specification of the thesis (\[Sachtleben18]).
const MA: &str = include_str!("../../../../examples/fsm/ma.dot");
/// Its implementation.
const MA_IMPL: &str = include_str!("../../../../examples/fsm/ma-impl.dot");
/// The second specification of the thesis.
const MF: &str = include_str!("../../../../examples/fsm/mf.dot");
/// Its implementation.
const MF_IMPL: &str = include_str!("../../../../examples/fsm/mf-impl.dot");

/// One algorithm on one pair.
pub struct PairRow {
    pair: String,
    bound: usize,
    variant: &'static str,
    report: ReductionReport,
    seconds: f64,
}

impl PairRow {
    /// Returns the verdict in words.
    fn verdict(&self) -> &'static str {
        match self.report.verdict() {
            ReductionVerdict::Pass => "pass",
            ReductionVerdict::Fail => "fail",
            ReductionVerdict::Unknown => "unknown",
        }
    }

    /// The row for programs.
    pub fn json(&self) -> Json {
        json!({
            "pair": self.pair, "bound": self.bound, "variant": self.variant, "verdict": self.verdict(),
            "iterations": self.report.iterations, "sequences": self.report.sequences,
            "symbols": self.report.symbols, "seconds": self.seconds,
        })
    }
}

impl fmt::Display for PairRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReductionReport { sequences, symbols, .. } = &self.report;
        write!(
            f,
            "{} bound {} {}: {}, {sequences} answers, {symbols} symbols, {:.5} s",
            self.pair,
            self.bound,
            self.variant,
            self.verdict(),
            self.seconds
        )
    }
}

/// A model, a system, and the bounds to use.
struct BenchPair {
    name: String,
    model: Observable,
    system: Observable,
    bounds: Vec<usize>,
}

/// Measures all pairs with all complete algorithms.
pub fn measure(progress: &mut ProgressLine) -> Result<Vec<PairRow>, CliError> {
    let mut rows = Vec::new();
    for pair in pairs()? {
        for &bound in &pair.bounds {
            progress.tick(|| format!("state counting {} with bound {bound}", pair.name));
            let plan =
                CountingPlan::new(&pair.model, bound).map_err(|refusal| pair_error(&pair.name, refusal))?;
            for variant in ["refined", "io", "h"] {
                let start = Instant::now();
                let report = count(&pair, &plan, variant);
                let seconds = start.elapsed().as_secs_f64();
                rows.push(PairRow { pair: pair.name.clone(), bound, variant, report, seconds });
            }
        }
    }
    Ok(rows)
}

/// Tests a system by the named variant of state counting.
fn count(pair: &BenchPair, plan: &CountingPlan, variant: &str) -> ReductionReport {
    let mut system = PlayedMachine(&pair.system);
    let counted = match variant {
        "refined" => state_counting(&pair.model, &mut system, plan, CountingVariant::Refined),
        "io" => state_counting(&pair.model, &mut system, plan, CountingVariant::PerResponse),
        _ => on_demand_counting(&pair.model, &mut system, plan),
    };
    match counted {
        Ok(report) => report,
        Err(never) => match never {},
    }
}

/// Returns the pairs of the thesis, and those of the public collection if it is there.
fn pairs() -> Result<Vec<BenchPair>, CliError> {
    let mut pairs = vec![
        pair("thesis_MA", MachineFormat::Dot, MA, MA_IMPL, &[3, 4, 5])?,
        pair("thesis_MF", MachineFormat::Dot, MF, MF_IMPL, &[2, 3])?,
    ];
    for path in data().map(|data| files(&data.join("fsm"), "fsm")).unwrap_or_default() {
        let name = path.display().to_string();
        let Some(stem) = name.strip_suffix("_spec.fsm") else { continue };
        for kind in ["red", "mut"] {
            let text = |name: &str| fs::read_to_string(name).map_err(|error| pair_error(name, error));
            let (model, system) = (text(&name)?, text(&format!("{stem}_{kind}.fsm"))?);
            let short = stem.rsplit('/').next().unwrap_or(stem);
            pairs.push(pair(&format!("{short}:{kind}"), MachineFormat::Numbers, &model, &system, &[])?);
        }
    }
    Ok(pairs)
}

/// Returns the pair of these texts; without bounds, the number of states of the model and one more are used.
fn pair(
    name: &str,
    form: MachineFormat,
    model: &str,
    system: &str,
    bounds: &[usize],
) -> Result<BenchPair, CliError> {
    let read = |text| read::read(form, text).map_err(|error| pair_error(name, error));
    let check = |machine| Observable::check(machine).map_err(|refusal| pair_error(name, refusal));
    let model = check(Nfsm::from_listing(&read(model)?))?;
    let system = Nfsm::from_listing(&read(system)?);
    let system = check(align_names(model.names(), &system).map_err(|refusal| pair_error(name, refusal))?)?;
    let n = model.n_states();
    let bounds = if bounds.is_empty() { vec![n, n + 1] } else { bounds.to_vec() };
    Ok(BenchPair { name: name.to_owned(), model, system, bounds })
}

fn pair_error(name: &str, reason: impl fmt::Display) -> CliError {
    CliError::new(ExitStatus::Model, format!("`{name}`: {reason}"))
}
