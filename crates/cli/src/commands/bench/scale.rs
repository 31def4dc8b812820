//! Exploration of the BRP family: how merging copes with chunks and retransmissions.
//!
//! The unmerged execution tree is counted, not built: nodes up to the longest purpose,
//! 2N + 2·MAX_RN + 2, by counting paths through the merged graph.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;

use ioxide_lang::{Options, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::solver::Solver;
use ioxide_smt::tally::Tally;
use ioxide_symex::{Ctx, Exploration, ExploreConfig, IgnoreDead, NodeId, StopReason, explore};
use serde_json::{Value as Json, json};

use crate::args::Bench;
use crate::exit::{ExitStatus, Stop};
use crate::progress::Progress;
use crate::solver;

/// The family, embedded so that the measurement runs anywhere.
const FAMILY: &str = include_str!("../../../models/brp/scaled.iox");
const SIZES: [(u32, u32); 4] = [(3, 5), (3, 10), (8, 10), (16, 20)];

/// One member of the family, explored.
struct Row {
    chunks: u32,
    max_rn: u32,
    exploration: Exploration,
    tree: f64,
    seconds: f64,
    tally: Tally,
}

/// Explores every member and shows the figures.
pub fn run(args: &Bench) -> Result<ExitStatus, Stop> {
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

fn measure(args: &Bench, (chunks, max_rn): (u32, u32)) -> Result<Row, Stop> {
    let mut model = member(chunks, max_rn)?;
    let mut solver = solver::make(&args.solver)?;
    let mut progress = Progress::new();
    let config = ExploreConfig { ignore_dead: IgnoreDead::No, ..ExploreConfig::default() };
    let exploration = explore(&mut Ctx::new(&mut model, &mut *solver), &config, &mut |stats| {
        progress.tick(|| format!("BRP({chunks}, {max_rn}): {} states", stats.states));
        ControlFlow::Continue(())
    });
    let seconds = progress.elapsed().as_secs_f64();
    if exploration.stop != StopReason::Exhausted {
        return Err(Stop::new(
            ExitStatus::Inconclusive,
            format!("BRP({chunks}, {max_rn}) has no fixed point in reach"),
        ));
    }
    let mut tally = Tally::default();
    solver.tally(&mut tally);
    let tree = tree_nodes(&exploration, 2 * chunks + 2 * max_rn + 2);
    Ok(Row { chunks, max_rn, exploration, tree, seconds, tally })
}

fn member(chunks: u32, max_rn: u32) -> Result<Model, Stop> {
    let mut sources = Sources::new();
    let file = sources.add("scaled.iox", FAMILY);
    let overrides = vec![("N".to_owned(), chunks.to_string()), ("MAX_RN".to_owned(), max_rn.to_string())];
    let loaded = load(&sources, file, &Options { overrides });
    loaded.model.ok_or_else(|| Stop::new(ExitStatus::Internal, "the embedded BRP family does not load"))
}

/// How many nodes the unmerged tree has up to `depth`.
fn tree_nodes(exploration: &Exploration, depth: u32) -> f64 {
    let mut level: BTreeMap<NodeId, f64> =
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

fn row_json(row: &Row) -> Json {
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
