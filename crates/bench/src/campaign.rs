//! `ioxide bench campaign`: the cost of a campaign in addition to its units.
//!
//! Three things: 100,000 units that do nothing, driven as any others, for the cost of one; parts put together, in
//! growing numbers; and a thousand machines that do not exist, with faults, by the rules that drive real ones.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ioxide_args::BenchArgs;
use ioxide_campaign::drive::{CampaignDrive, CampaignObserver, ObserverRequest};
use ioxide_campaign::engine::{CampaignEngine, EngineError, WorkOrder, WorkerEnd};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::part::{EndOfPart, Manifest, PartError, PartWriter};
use ioxide_campaign::plan::{CampaignPlan, UnitNames};
use ioxide_campaign::rounds::UnitRounds;
use ioxide_campaign::scan::ScannedPart;
use ioxide_campaign::schedule::{CampaignTally, ScheduleConfig};
use ioxide_campaign::simulate::{Cluster, Simulated, simulate};
use ioxide_campaign::units::UnitSet;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use serde_json::{Value as Json, json};

use super::memory;

/// The number of units of one part where parts are merged; chosen by feel.
const UNITS_PER_PART: u64 = 100;
/// The number of workers; chosen by feel, they do nothing, so the cores do not limit them.
const WORKERS: usize = 4;

/// Measures and shows.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let dir = tempfile::tempdir()?;
    let mut progress = ProgressLine::start();
    let mut driven = Vec::new();
    for units in [1_000, 10_000, 100_000] {
        progress.tick(|| format!("{units} units"));
        driven.push(drive(&dir.path().join(units.to_string()), units)?);
    }
    let mut merged = Vec::new();
    for parts in [125, 250, 500, 1_000] {
        progress.tick(|| format!("{parts} parts"));
        merged.push(merge(&dir.path().join(format!("parts{parts}")), parts)?);
    }
    let mut clusters = Vec::new();
    for (name, cluster) in clusters_to_try() {
        progress.tick(|| format!("{} machines", cluster.machines));
        clusters.push((name, cluster.clone(), simulate(&cluster)));
    }
    drop(progress);
    let mut out = io::stdout().lock();
    if args.json {
        let row = |(name, cluster, told): &(&str, Cluster, Simulated)| simulated_json(name, cluster, told);
        let rows: Vec<Json> = clusters.iter().map(row).collect();
        let result = json!({
            "version": 1, "bench": "campaign", "driven": driven, "merged": merged, "simulated": rows,
        });
        writeln!(out, "{result}")?;
    } else {
        show_campaign(&mut out, &driven, &merged, &clusters)?
    }
    Ok(ExitStatus::Success)
}

/// An engine whose workers do nothing, in this process: the time measured is the cost of everything else.
struct IdleEngine {
    manifest: Manifest,
    ended: Vec<(u64, WorkerEnd)>,
}

impl CampaignEngine for IdleEngine {
    fn submit(&mut self, order: WorkOrder) -> Result<(), EngineError> {
        let units: UnitSet = order.args.last().and_then(|units| units.parse().ok()).unwrap_or_default();
        let manifest = Manifest { asked: units.to_string(), ..self.manifest.clone() };
        let refused = |error: PartError| EngineError::Refused(error.to_string());
        write_part(&order.part, &manifest, &units).map_err(refused)?;
        self.ended.push((order.id, WorkerEnd::Exit(0)));
        Ok(())
    }

    fn poll(&mut self, _wait: Duration) -> Result<Vec<(u64, WorkerEnd)>, EngineError> {
        Ok(std::mem::take(&mut self.ended))
    }

    fn stop(&mut self) {}

    fn kill(&mut self) {}
}

/// Writes a part whose units report as much as a short run does.
fn write_part(dir: &Path, manifest: &Manifest, units: &UnitSet) -> Result<(), PartError> {
    let mut part = PartWriter::open(dir, manifest)?;
    let result =
        json!({ "passed": 1, "inconclusive": 0, "failed": 0, "steps": 10, "coverage": { "longest": 10 } });
    for unit in units.iter() {
        let name = format!("run-{}", unit + 1);
        part.begin_unit(unit, &name)?;
        (0..10).for_each(|step| {
            part.add_line(&json!({ "seq": step, "time_ns": 0, "event": "step" }).to_string())
        });
        part.write_done(unit, &name, false, &result)?;
    }
    part.end_part(EndOfPart::All)
}

/// An observer that ignores everything.
struct NoObserver;

impl CampaignObserver for NoObserver {
    fn progress(&mut self, _tally: &CampaignTally, _elapsed: Duration) -> ObserverRequest {
        ObserverRequest::GoOn
    }

    fn report_part(&mut self, _part: &ScannedPart) -> ObserverRequest {
        ObserverRequest::GoOn
    }
}

/// Returns the plan of a campaign of `count` units that do nothing.
fn plan(count: u64) -> Manifest {
    let units = UnitNames::Numbered { word: "run", count };
    let (model, tool, rounds) = (String::new(), String::new(), UnitRounds::ONE);
    let plan = CampaignPlan { args: vec!["test".into()], model, tool, units, rounds, system: None };
    Manifest::new(&plan, &UnitSet::range(0, count))
}

/// Drives a campaign of this many units.
fn drive(dir: &Path, units: u64) -> Result<Json, CliError> {
    let manifest = plan(units);
    let refused = |error: &dyn std::fmt::Display| CliError::usage(error.to_string());
    let config = ScheduleConfig { workers: WORKERS, ..ScheduleConfig::default() };
    let before = memory::peak_kb();
    let begun = Instant::now();
    let mut drive =
        CampaignDrive::open(dir, &manifest, config, Vec::new()).map_err(|error| refused(&error))?;
    drive.request_units(&UnitSet::range(0, units), None);
    let mut engine = IdleEngine { manifest, ended: Vec::new() };
    let driven = drive.run(&mut engine, &mut NoObserver).map_err(|error| refused(&error))?;
    let seconds = begun.elapsed().as_secs_f64();
    let batches = fs::read_dir(dir.join("parts"))?.count();
    let kept = fs::metadata(dir.join("journal.jsonl"))?.len();
    Ok(json!({
        "units": driven.tally.done, "batches": batches, "seconds": seconds,
        "microseconds_per_unit": seconds * 1e6 / units as f64,
        "journal_bytes": kept, "bytes_per_unit": bytes(&dir.join("parts"))? as f64 / units as f64,
        "peak_memory_kb": memory::peak_kb(),
        "grown_kb": memory::peak_kb().zip(before).map(|(now, before)| now - before),
    }))
}

/// Returns the bytes of all files in the folders of `dir`.
fn bytes(dir: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for folder in fs::read_dir(dir)?.flatten().filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(folder.path())?.flatten() {
            sum += file.metadata()?.len();
        }
    }
    Ok(sum)
}

/// Writes this many parts, and measures merging them.
fn merge(dir: &Path, parts: u64) -> Result<Json, CliError> {
    let manifest = plan(parts * UNITS_PER_PART);
    for part in 0..parts {
        let units: UnitSet = (part..parts * UNITS_PER_PART).step_by(parts as usize).collect();
        let manifest = Manifest { asked: units.to_string(), ..manifest.clone() };
        write_part(&dir.join(format!("{part:06}")), &manifest, &units)?;
    }
    let begun = Instant::now();
    let mut gathered = GatheredParts::new(&[PathBuf::from(dir)])?;
    let mut told = 0;
    for unit in 0..manifest.count {
        told += gathered.unit(unit)?.map_or(0, |text| text.lines.len());
    }
    let seconds = begun.elapsed().as_secs_f64();
    Ok(json!({
        "parts": parts, "units": manifest.count, "lines": told, "seconds": seconds,
        "milliseconds_per_part": seconds * 1e3 / parts as f64,
    }))
}

/// Returns the clusters to simulate: a night of a million units of half a second; a worker starts in a quarter of a
/// second, and the driver takes in a batch in two milliseconds over a line of 100 megabytes a second.
fn clusters_to_try() -> Vec<(&'static str, Cluster)> {
    let cluster = |machines: usize| Cluster {
        machines,
        units: 1_000_000,
        unit_seconds: 0.5,
        start_seconds: 0.25,
        driver_seconds: 0.002,
        unit_bytes: 3_000.0,
        line_bytes: 1e8,
        life_seconds: None,
        repair_seconds: 120.0,
        killers: BTreeSet::new(),
        is_shared: true,
        batch: Duration::from_secs(10),
        seed: 1,
    };
    let faulty = |machines: usize, is_shared| Cluster {
        life_seconds: Some(3_600.0),
        killers: [17, 400_000, 999_999].into(),
        is_shared,
        ..cluster(machines)
    };
    let plain = [1, 10, 100, 1_000, 3_000, 10_000].map(|machines| ("no faults", cluster(machines)));
    let faults = [100, 1_000, 3_000].map(|machines| ("faults", faulty(machines, true)));
    let apart = [("faults, nothing shared", faulty(1_000, false))];
    plain.into_iter().chain(faults).chain(apart).collect()
}

fn simulated_json(name: &str, cluster: &Cluster, told: &Simulated) -> Json {
    json!({
        "faults": name, "machines": cluster.machines, "seconds": told.seconds, "ideal_seconds": told.ideal_seconds,
        "driver_load": told.driver_load, "batches": told.batches, "deaths": told.deaths, "done": told.tally.done,
        "aside": told.quarantined, "twice": told.twice,
    })
}

/// Shows the measured campaigns, merges and simulated clusters.
fn show_campaign(
    out: &mut impl Write,
    driven: &[Json],
    merged: &[Json],
    clusters: &[(&str, Cluster, Simulated)],
) -> io::Result<()> {
    writeln!(out, "units that do nothing, {WORKERS} workers:")?;
    writeln!(
        out,
        "{:>9} {:>8} {:>9} {:>9} {:>11} {:>10}",
        "units", "batches", "seconds", "µs/unit", "bytes/unit", "peak kB"
    )?;
    for row in driven {
        writeln!(
            out,
            "{:>9} {:>8} {:>9.2} {:>9.1} {:>11.0} {:>10}",
            as_number(&row["units"]),
            as_number(&row["batches"]),
            as_number(&row["seconds"]),
            as_number(&row["microseconds_per_unit"]),
            as_number(&row["bytes_per_unit"]),
            as_number(&row["peak_memory_kb"])
        )?;
    }
    writeln!(out, "parts of {UNITS_PER_PART} units put together:")?;
    writeln!(out, "{:>9} {:>9} {:>9} {:>9}", "parts", "units", "seconds", "ms/part")?;
    for row in merged {
        let (seconds, each) = (as_number(&row["seconds"]), as_number(&row["milliseconds_per_part"]));
        let (parts, units) = (as_number(&row["parts"]), as_number(&row["units"]));
        writeln!(out, "{parts:>9} {units:>9} {seconds:>9.2} {each:>9.2}")?;
    }
    writeln!(out, "a million units of half a second, simulated:")?;
    writeln!(
        out,
        "{:>9} {:>9} {:>9} {:>8} {:>8} {:>7} {:>9} {:>6} {:>6}  ",
        "machines", "seconds", "ideal", "driver", "batches", "deaths", "done", "aside", "twice"
    )?;
    for (name, cluster, told) in clusters {
        writeln!(
            out,
            "{:>9} {:>9.0} {:>9.0} {:>7.1}% {:>8} {:>7} {:>9} {:>6} {:>6}  {name}",
            cluster.machines,
            told.seconds,
            told.ideal_seconds,
            100.0 * told.driver_load,
            told.batches,
            told.deaths,
            told.tally.done,
            told.quarantined.len(),
            told.twice
        )?;
    }
    Ok(())
}

fn as_number(value: &Json) -> f64 {
    value.as_f64().unwrap_or_default()
}
