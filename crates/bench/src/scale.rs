//! Exploration of the BRP family: the effect of merging as chunks and retransmissions grow.
//!
//! The unmerged execution tree is counted, not built: nodes up to the longest purpose,
//! 2N + 2·MAX_RN + 2, by counting paths through the merged graph.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::solver;
use ioxide_model::sts::Model;
use ioxide_smt::solver::Solver;
use ioxide_smt::tally::SolverTally;
use ioxide_symex::{Ctx, Exploration, ExploreConfig, ExploredId, IgnoreDead, StopReason, explore};
use serde_json::{Value as Json, json};

use super::embedded::load_text_with;

/// The family, embedded so that the measurement runs anywhere.
const FAMILY: &str = include_str!("../../../examples/brp/scaled.iox");
/// The members of the family, as numbers of chunks and of repetitions; chosen by feel, the last one has a tree of
/// 10^18 nodes.
const SIZES: [(u32, u32); 4] = [(3, 5), (3, 10), (8, 10), (16, 20)];

/// The figures of one member of the family.
struct ScaleRow {
    chunks: u32,
    max_rn: u32,
    exploration: Exploration,
    tree: f64,
    seconds: f64,
    tally: SolverTally,
}

/// Explores every member and shows the figures.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let rows = SIZES.iter().map(|&size| measure(args, size)).collect::<Result<Vec<_>, _>>()?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(
            out,
            "{}",
            json!({ "version": 1, "bench": "scale", "rows": rows.iter().map(row_json).collect::<Vec<_>>() })
        )?;
        return Ok(ExitStatus::Success);
    }
    writeln!(
        out,
        "{:>6} {:>6} {:>8} {:>10} {:>12} {:>10} {:>9}",
        "chunks", "max_rn", "states", "merged", "tree nodes", "questions", "seconds"
    )?;
    for row in &rows {
        let stats = &row.exploration.stats;
        writeln!(
            out,
            "{:>6} {:>6} {:>8} {:>10} {:>12.1e} {:>10} {:>9.3}",
            row.chunks,
            row.max_rn,
            stats.states,
            stats.merged + stats.subsumed,
            row.tree,
            row.tally.questions,
            row.seconds
        )?;
    }
    Ok(ExitStatus::Success)
}

/// Explores one member of the family and measures it; fails if the exploration does not end.
fn measure(args: &BenchArgs, (chunks, max_rn): (u32, u32)) -> Result<ScaleRow, CliError> {
    let mut model = member(chunks, max_rn)?;
    let mut solver = solver::make(&args.solver)?;
    let mut progress = ProgressLine::start();
    let config = ExploreConfig { ignore_dead: IgnoreDead::No, ..ExploreConfig::default() };
    let exploration = explore(&mut Ctx::new(&mut model, &mut *solver), &config, &mut |stats| {
        progress.tick(|| format!("BRP({chunks}, {max_rn}): {} states", stats.states));
        ControlFlow::Continue(())
    });
    let seconds = progress.elapsed().as_secs_f64();
    if exploration.stop != StopReason::Exhausted {
        return Err(CliError::new(
            ExitStatus::Inconclusive,
            format!("BRP({chunks}, {max_rn}) has no fixed point in reach"),
        ));
    }
    let mut tally = SolverTally::default();
    solver.add_to_tally(&mut tally);
    let tree = tree_nodes(&exploration, 2 * chunks + 2 * max_rn + 2);
    Ok(ScaleRow { chunks, max_rn, exploration, tree, seconds, tally })
}

/// Returns the member of the family with these numbers of chunks and of repetitions.
fn member(chunks: u32, max_rn: u32) -> Result<Model, CliError> {
    let overrides = vec![("N".to_owned(), chunks.to_string()), ("MAX_RN".to_owned(), max_rn.to_string())];
    load_text_with("scaled.iox", FAMILY, overrides)
}

/// Returns the number of nodes of the unmerged tree up to `depth`.
fn tree_nodes(exploration: &Exploration, depth: u32) -> f64 {
    let mut level: BTreeMap<ExploredId, f64> =
        exploration.graph.nodes.ids().take(1).map(|root| (root, 1.0)).collect();
    let mut total = 1.0;
    for _ in 0..depth {
        let mut next = BTreeMap::new();
        for edge in &exploration.graph.edges {
            if let Some(paths) = level.get(&edge.from) {
                *next.entry(edge.to).or_insert(0.0) += paths;
            }
        }
        total += next.values().sum::<f64>();
        level = next;
    }
    total
}

fn row_json(row: &ScaleRow) -> Json {
    let stats = &row.exploration.stats;
    json!({
        "chunks": row.chunks,
        "max_rn": row.max_rn,
        "states": stats.states,
        "merged": stats.merged,
        "subsumed": stats.subsumed,
        "refuted": stats.refuted,
        "tree_nodes": row.tree,
        "questions": row.tally.questions,
        "answers": row.tally.lines.iter().map(|line| json!({
            "who": line.who, "sat": line.answers.sat, "unsat": line.answers.unsat, "unknown": line.answers.unknown,
        })).collect::<Vec<_>>(),
        "seconds": row.seconds,
    })
}
