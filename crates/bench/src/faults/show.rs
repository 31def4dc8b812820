//! The figures of the corpus, for people and for programs.

use std::io::{self, Write};

use ioxide_args::BenchArgs;
use serde_json::{Map, Value as Json, json};

use super::corpus::FaultGroup;
use super::{BUDGET, FaultRow, FaultsMode, Rows};

/// Writes the head of the table.
pub fn head(args: &BenchArgs, modes: &[FaultsMode]) -> io::Result<()> {
    if args.json {
        return Ok(());
    }
    let (mut out, seeds) = (io::stdout().lock(), args.seeds);
    writeln!(out, "steps until a fault is found: median of {seeds} seeds (found of {seeds}, if not all)")?;
    write!(out, "{:<26}", "")?;
    modes.iter().try_for_each(|mode| write!(out, " {:>12}", mode.name()))?;
    writeln!(out, " {:>8} {:>8}", "worst", "twin")
}

/// Writes the line of one fault.
pub fn row(args: &BenchArgs, rows: &Rows) -> io::Result<()> {
    if args.json {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    write!(out, "{:<26}", rows.fault.name)?;
    rows.rows.iter().try_for_each(|row| write!(out, " {:>12}", cell(row)))?;
    let worst =
        rows.rows.first().filter(|row| row.count_found() == row.steps.len()).and_then(FaultRow::worst);
    let worst = worst.map_or_else(|| "-".to_owned(), |steps| steps.to_string());
    let twin =
        if rows.correct_fails == 0 { "passes".into() } else { format!("FAILS {}", rows.correct_fails) };
    writeln!(out, " {worst:>8} {twin:>8}")
}

/// Writes the end of the table, or all of it for programs.
pub fn foot(args: &BenchArgs, modes: &[FaultsMode], all: &[Rows]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if args.json {
        return writeln!(out, "{}", figures(args, modes, all));
    }
    for group in FaultGroup::ALL.into_iter().filter(|&group| all.iter().any(|rows| rows.fault.group == group))
    {
        write!(out, "{:<26}", format!("geometric mean, {}", group.name()))?;
        modes.iter().try_for_each(|&mode| write!(out, " {:>12.0}", geomean(all, group, mode)))?;
        writeln!(out)?;
    }
    Ok(())
}

impl FaultRow {
    fn count_found(&self) -> usize {
        self.steps.iter().flatten().count()
    }

    /// Returns the median of the steps; `None` unless more than half of the campaigns found the fault.
    fn median(&self) -> Option<usize> {
        let mut steps: Vec<usize> = self.steps.iter().map(|steps| steps.unwrap_or(usize::MAX)).collect();
        steps.sort_unstable();
        steps.get(steps.len() / 2).copied().filter(|&steps| steps < usize::MAX)
    }

    /// Returns the most steps that a seed needed, `None` if one did not find the fault.
    fn worst(&self) -> Option<usize> {
        self.steps.iter().copied().max_by_key(|steps| steps.unwrap_or(usize::MAX)).flatten()
    }
}

/// Returns all rows for `--json`.
fn figures(args: &BenchArgs, modes: &[FaultsMode], all: &[Rows]) -> Json {
    let tester = |row: &FaultRow| {
        json!({
            "found": row.count_found(), "seeds": row.steps.len(), "median_steps": row.median(),
            "worst_steps": row.worst().filter(|_| row.count_found() == row.steps.len()), "seconds": row.seconds,
            "steps": row.steps,
        })
    };
    let fault = |rows: &Rows| {
        let testers: Map<String, Json> =
            rows.rows.iter().map(|row| (row.mode.name().to_owned(), tester(row))).collect();
        json!({
            "name": rows.fault.name, "group": rows.fault.group.name(), "kind": rows.fault.kind,
            "testers": testers, "correct_fails": rows.correct_fails,
        })
    };
    let means = |group: FaultGroup| -> Map<String, Json> {
        modes.iter().map(|&mode| (mode.name().to_owned(), json!(geomean(all, group, mode)))).collect()
    };
    let groups: Map<String, Json> = FaultGroup::ALL
        .into_iter()
        .map(|group| (group.name().to_owned(), Json::Object(means(group))))
        .collect();
    json!({
        "version": 1, "bench": "faults", "seeds": args.seeds, "budget": BUDGET,
        "faults": all.iter().map(fault).collect::<Vec<_>>(), "geomean_steps": groups,
    })
}

/// Returns the geometric mean of the medians of a group; a fault not found counts with the whole budget.
fn geomean(all: &[Rows], group: FaultGroup, mode: FaultsMode) -> f64 {
    let median = |rows: &Rows| {
        let row = rows.rows.iter().find(|row| row.mode == mode);
        row.and_then(FaultRow::median).unwrap_or(BUDGET) as f64
    };
    let logs: Vec<f64> =
        all.iter().filter(|rows| rows.fault.group == group).map(|rows| median(rows).max(1.0).ln()).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
}

/// Returns the median, with the number of seeds that found the fault if not all did.
fn cell(row: &FaultRow) -> String {
    let median = row.median().map_or_else(|| "-".to_owned(), |steps| steps.to_string());
    if row.count_found() == row.steps.len() { median } else { format!("{median} ({})", row.count_found()) }
}
