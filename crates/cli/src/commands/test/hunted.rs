//! The transitions that a hunt has not covered, why it stopped, and its coverage for programs.

use std::io::{self, Write};

use ioxide_model::sts::{Sts, SwitchId};
use ioxide_run::campaign::CampaignOutcome;
use ioxide_run::coverage::MeasureCount;
use ioxide_run::coverage::item::Measure;
use ioxide_testgen::purpose::Unreached;
use ioxide_testgen::tester::hunt::HuntTester;
use serde_json::{Value as Json, json};

/// The number of transitions that are named with a reason why they were not reached. Chosen by feel: more is not read,
/// and the JSON has them all.
const MAX_NAMED: usize = 8;

/// Writes which transitions cannot be reached, as far as that is proved, and that the hunt stopped because its steps
/// were used.
pub fn show_hunt(
    out: &mut impl Write,
    sts: &Sts,
    hunt: &HuntTester,
    outcome: &CampaignOutcome,
) -> io::Result<()> {
    if outcome.counts.failed == 0 && !missing(sts, outcome).is_empty() {
        write_unreached(out, sts, hunt)?;
    }
    if outcome.counts.failed == 0 && !outcome.interrupted && hunt.n_steps_used() >= hunt.budget() {
        writeln!(
            out,
            "stopped: all {} steps were used; `--steps N` or `--for TIME` tests longer",
            hunt.n_steps_used()
        )
    } else {
        Ok(())
    }
}

/// Writes the switches that were proved unreachable. That a search ended early says nothing about them.
fn write_unreached(out: &mut impl Write, sts: &Sts, hunt: &HuntTester) -> io::Result<()> {
    let Some(set) = hunt.purposes() else { return Ok(()) };
    let is_proved = |unreached: &&Unreached| unreached.why.is_proof();
    for unreached in set.unreached.iter().filter(is_proved).take(MAX_NAMED) {
        writeln!(out, "  `{}`: {}", unreached.item.name(sts), unreached.why)?;
    }
    Ok(())
}

/// The visible switches that were not certainly taken.
fn missing(sts: &Sts, outcome: &CampaignOutcome) -> Vec<SwitchId> {
    let visible = sts.switches.ids().filter(|&id| sts.is_seen(&sts.switches[id]));
    visible.filter(|&id| outcome.coverage.count_of(id).certain == 0).collect()
}

/// Returns the coverage of a hunt for programs.
pub fn hunt_json(sts: &Sts, hunt: &HuntTester, outcome: &CampaignOutcome, was_late: bool) -> Json {
    let missing: Vec<&str> = missing(sts, outcome).into_iter().map(|id| &*sts.switches[id].label).collect();
    let counts = outcome.survey.counts(&outcome.coverage);
    let count = |measure| counts.iter().find(|count: &&MeasureCount| count.measure == measure);
    let seen = |measure| count(measure).map_or(0, |count| count.seen);
    let total = |measure| count(measure).and_then(|count| count.total);
    json!({
        "steps": hunt.n_steps_used(),
        "switches": { "taken": seen(Measure::Switches), "total": total(Measure::Switches), "missing": missing },
        "pairs": { "taken": seen(Measure::Pairs), "total": total(Measure::Pairs) },
        "longest_run": outcome.coverage.longest(),
        "chance_of_a_new_pair": outcome.coverage.chance_of_a_new_pair(),
        "ended_by_the_clock": was_late,
    })
}
