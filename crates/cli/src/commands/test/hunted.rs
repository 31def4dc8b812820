//! What a hunt has covered and what it has not.

use std::io::{self, Write};

use ioxide_model::sts::{Sts, SwitchId};
use ioxide_testgen::tester::hunt::{Hunt, Insight};
use serde_json::{Value as Json, json};

/// Switches named as never taken.
const MAX_NAMED: usize = 8;

/// Writes what was seen in a few lines.
pub fn show(out: &mut impl Write, sts: &Sts, hunt: &Hunt, was_late: bool) -> io::Result<()> {
    let insight = hunt.insight();
    let (edges, n_edges) = insight.edges();
    let switches = (insight.taken().len(), visible(sts).len());
    let pairs = (insight.pairs().len(), Insight::possible_pairs(sts));
    let mut parts = vec![
        format!("{} of {} switches", switches.0, switches.1),
        format!("{} of {} pairs of them", pairs.0, pairs.1),
    ];
    if n_edges > 0 {
        parts.push(format!("{edges} of {n_edges} edges of comparisons"));
    }
    writeln!(out, "hunt: {}; the longest run had {} steps", parts.join(", "), insight.longest())?;
    let missing = missing(sts, hunt);
    if !missing.is_empty() {
        let more = missing.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named: Vec<&str> = missing.iter().take(MAX_NAMED).map(|&id| &*sts.switches[id].label).collect();
        writeln!(out, "  not certainly taken: {}{more}", named.join(", "))?;
        unreached(out, sts, hunt)?;
    }
    if let Some(chance) = insight.unseen() {
        let percent = 100.0 * chance;
        writeln!(
            out,
            "  a pair not seen yet would come about {percent:.1} times in 100 steps, if it went on like this"
        )?;
    }
    match was_late {
        true => writeln!(out, "  ended by the clock after {} steps; `--for` gives it longer", hunt.spent()),
        false => Ok(()),
    }
}

/// Why switches were not reached, as far as the search for purposes knows.
fn unreached(out: &mut impl Write, sts: &Sts, hunt: &Hunt) -> io::Result<()> {
    let Some(set) = hunt.purposes() else { return Ok(()) };
    for unreached in set.unreached.iter().take(MAX_NAMED) {
        writeln!(out, "  `{}`: {}", unreached.item.name(sts), unreached.why)?;
    }
    Ok(())
}

fn visible(sts: &Sts) -> Vec<SwitchId> {
    sts.switches.ids().filter(|&id| sts.is_seen(&sts.switches[id])).collect()
}

/// The visible switches that were not certainly taken.
fn missing(sts: &Sts, hunt: &Hunt) -> Vec<SwitchId> {
    visible(sts).into_iter().filter(|id| !hunt.insight().taken().contains_key(id)).collect()
}

/// The same for programs.
pub fn json(sts: &Sts, hunt: &Hunt, was_late: bool) -> Json {
    let insight = hunt.insight();
    let (edges, n_edges) = insight.edges();
    let missing: Vec<&str> = missing(sts, hunt).into_iter().map(|id| &*sts.switches[id].label).collect();
    json!({
        "steps": hunt.spent(),
        "switches": { "taken": insight.taken().len(), "total": visible(sts).len(), "missing": missing },
        "pairs": { "taken": insight.pairs().len(), "total": Insight::possible_pairs(sts) },
        "edges": { "met": edges, "total": n_edges },
        "longest_run": insight.longest(),
        "chance_of_a_new_pair": insight.unseen(),
        "ended_by_the_clock": was_late,
    })
}
