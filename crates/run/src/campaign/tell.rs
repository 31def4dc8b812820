//! The events by which a campaign reports its start, its repetitions and its result.

use std::collections::BTreeMap;
use std::time::Duration;

use ioxide_model::compose::PartId;
use ioxide_model::index::IndexVec;
use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::sts::{GateId, Sts, SwitchId};
use ioxide_model::trace::{Breakdown, Trace};
use ioxide_record::event::{
    CampaignFinished, CampaignStarted, Explanation, ExtentRecord, FailureSignature, HistoryRecord,
    InsteadRecord, LabelRecord, LatencyRecord, MeasureRecord, PartNote, Replayed, ShrunkRecord, UnmadeRecord,
};
use ioxide_symex::Forbidden;
use ioxide_testgen::tester::replay::{ReplyFlow, references_in};

use super::{CampaignConfig, CampaignOutcome, FailureGroup};
use crate::clock::latency::{Histogram, whole_micros};
use crate::clock::patience::Patience;
use crate::explain::{explanation, solve_offers};
use crate::judge::{JudgeConfig, find_forbidden};
use crate::requirements::requirement_notes;
use crate::run::{RunConfig, RunId, RunResult, RunSetup};
use crate::script::{ScriptObstacle, script_of};
use crate::shrink::{RerunResult, ShrunkRun, UnexpectedRerun};

/// Returns the event that opens a campaign.
pub(super) fn started(sts: &Sts, config: &CampaignConfig, jobs: u64) -> CampaignStarted {
    CampaignStarted {
        model: sts.name.to_string(),
        file: config.file.clone(),
        set: config.set.clone(),
        switches: sts.switches.iter().map(|switch| switch.label.to_string()).collect(),
        parts: parts(sts),
        tester: config.tester.clone(),
        sut: config.sut.clone(),
        seed: config.seed,
        runs: config.runs.saturating_add(config.regressions.len() as u64),
        jobs,
        patience_ms: milliseconds(config.run.patience.default_time()),
        calibrated: config.run.patience.is_calibrated(),
        operations: config.operations.clone(),
        requirements: requirement_notes(sts),
    }
}

/// Returns the parts of a system, each with the switches of the system in which its own are seen.
fn parts(sts: &Sts) -> Vec<PartNote> {
    let Some(composition) = &sts.composition else { return Vec::new() };
    let mut told: IndexVec<PartId, PartNote> = composition
        .parts
        .iter()
        .map(|part| PartNote {
            name: part.name.to_string(),
            family: part.family.to_string(),
            switches: BTreeMap::new(),
        })
        .collect();
    for switch in sts.switches.iter().filter(|switch| sts.is_seen(switch)) {
        for step in composition.moves.get(&switch.label).into_iter().flatten() {
            let seen = told[step.part].switches.entry(step.switch.to_string()).or_default();
            seen.push(switch.label.to_string());
        }
    }
    told.iter().filter(|part| !part.switches.is_empty()).cloned().collect()
}

/// Returns the event that says how a failing run went when it was repeated.
pub(super) fn replayed(setup: &RunSetup<'_, '_>, id: RunId, rerun: &RerunResult) -> Replayed {
    let label = |label: &Label| LabelRecord::new(setup.cx.pool, setup.cx.sts, label);
    let told = |instead: &UnexpectedRerun| InsteadRecord {
        outcome: instead.outcome,
        trace: instead.trace.labels.iter().map(label).collect(),
    };
    Replayed {
        run: id.run,
        reproduced: rerun.failed,
        of: rerun.of,
        unmade: rerun
            .unmade
            .as_ref()
            .map(|reason| UnmadeRecord { wanted: rerun.wanted, reason: reason.to_string() }),
        instead: rerun.instead.as_ref().filter(|_| rerun.failed == 0).map(told),
        only_after_reset: rerun.fails_only_after_reset(),
    }
}

/// Returns the event with the shrunk run, explained again because its failure may be at another step.
pub(super) fn shrunk(
    setup: &mut RunSetup<'_, '_>,
    run: &RunConfig,
    id: RunId,
    result: &RunResult,
    shrunk: &ShrunkRun,
) -> ShrunkRecord {
    let forbidden = find_failure(setup, run, &shrunk.trace);
    let script = script_of(setup, run, &shrunk.trace, forbidden.as_ref());
    let no_script = match &script {
        Err(ScriptObstacle::NoMessages) | Ok(_) => None,
        Err(obstacle) => Some(obstacle.to_string()),
    };
    let explained = forbidden.as_ref().map(|forbidden| explanation(setup.cx, forbidden));
    let broken_text = shrunk.trace.breakdown.map(|breakdown| breakdown.to_string());
    let explained = explained.map(|told| match broken_text {
        Some(observed) => Explanation { observed, why_not: Vec::new(), ..told },
        None => told,
    });
    let setup = &*setup;
    let label = |label| LabelRecord::new(setup.cx.pool, setup.cx.sts, label);
    let broken = |breakdown: Breakdown| LabelRecord::of_breakdown(breakdown, breakdown.to_string(), None);
    let labels = shrunk.trace.labels.iter().map(label);
    ShrunkRecord {
        run: id.run,
        trace: labels.chain(shrunk.trace.breakdown.map(broken)).collect(),
        step: shrunk.trace.forbidden_at.map(|at| at + 1).filter(|step| *step < shrunk.trace.n_steps()),
        from: result.trace.n_steps(),
        attempts: shrunk.attempts,
        minimal: shrunk.minimal,
        early: shrunk.early.map(|early| early.to_string()),
        reproduced: shrunk.reproduced,
        of: shrunk.of,
        unconfirmed: shrunk.unconfirmed,
        references: references(setup, &shrunk.trace),
        explanation: explained,
        signature: shrunk.confirmed_signature().map(str::to_owned),
        script: script.ok(),
        no_script,
        // The run as found has its own; a search that found nothing smaller ends with it.
        exchanges: if shrunk.exchanges.is_empty() {
            result.exchanges.clone()
        } else {
            shrunk.exchanges.clone()
        },
    }
}

/// Returns the failure that a trace ends with, explained by the model; `None` if the monitor does not find it in the
/// order of the trace, as with messages that crossed.
fn find_failure(setup: &mut RunSetup<'_, '_>, run: &RunConfig, trace: &Trace) -> Option<Forbidden> {
    let config = JudgeConfig {
        tolerance: run.tolerance.clone(),
        relation: run.relation,
        connections: setup.adapter.connections(),
        ..JudgeConfig::default()
    };
    let mut forbidden = find_forbidden(setup.cx, trace, &config)?;
    forbidden.allowed = setup.cx.explain_within(|cx| solve_offers(cx, &forbidden));
    Some(forbidden)
}

/// Returns one line for each value of an input that was taken from a reply.
fn references(setup: &RunSetup<'_, '_>, trace: &Trace) -> Vec<String> {
    let (pool, sts) = (&*setup.cx.pool, setup.cx.sts);
    let found = references_in(&ReplyFlow::new(pool, sts), sts, trace);
    let shown = found.iter().flat_map(|(step, input)| {
        input.references.iter().filter_map(move |reference| {
            let Label::Input(gate, _) = input.label else { return None };
            let field = reference.field_name(pool, sts, gate);
            Some(format!("step {}: {field} is {}", step + 1, reference.show(pool, sts)))
        })
    });
    shown.collect()
}

/// Returns a time in milliseconds.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the length of the longest run, the extents of the variables, and the estimated chance of a new pair.
fn history(outcome: &CampaignOutcome) -> HistoryRecord {
    let extent = |(name, least, most): (&str, &Int, &Int)| ExtentRecord {
        variable: name.to_owned(),
        least: least.to_string(),
        most: most.to_string(),
    };
    HistoryRecord {
        longest_run: outcome.coverage.longest() as u64,
        extents: outcome.survey.extents(&outcome.coverage).map(extent).collect(),
        // A share is given in millionths: events are compared, and fractions would not be exact.
        new_pairs_per_million: outcome
            .coverage
            .chance_of_a_new_pair()
            .map(|chance| (chance * 1e6).round() as u64),
    }
}

/// Returns the event that closes a campaign: totals, coverage, response times.
pub(super) fn finished(sts: &Sts, outcome: &CampaignOutcome, patience: &Patience) -> CampaignFinished {
    let name = |id: SwitchId| sts.switches[id].label.to_string();
    // In timed models, and where nothing was timed, silence has no such time.
    let is_waited_for = !sts.is_timed() && outcome.latencies.gates().next().is_some();
    let raised = patience.raised_time().filter(|_| is_waited_for);
    let suggested = outcome.latencies.suggestion().filter(|_| is_waited_for);
    let latency = |(gate, histogram): (GateId, &Histogram)| LatencyRecord {
        label: sts.gates[gate].name.to_string(),
        n: histogram.total(),
        p50_us: histogram.quantile(1, 2).map_or(0, whole_micros),
        p99_us: histogram.quantile(99, 100).map_or(0, whole_micros),
        max_us: whole_micros(histogram.longest()),
    };
    let kind = |failure: &FailureGroup| FailureSignature {
        signature: failure.signature.clone(),
        first: failure.id.run,
        runs: failure.runs,
    };
    CampaignFinished {
        runs: outcome.counts.total(),
        passed: outcome.counts.passed,
        inconclusive: outcome.counts.inconclusive,
        failed: outcome.counts.failed,
        errors: outcome.counts.errors,
        interrupted: outcome.interrupted,
        covered: outcome.coverage.covered_switches().map(name).collect(),
        never: outcome.coverage.never().map(name).collect(),
        failures: outcome.failures.iter().map(kind).collect(),
        latencies: outcome.latencies.gates().map(latency).collect(),
        // In a timed model deadlines say what silence means.
        suggested_patience_ms: suggested.map(|time| milliseconds(time.max(raised.unwrap_or_default()))),
        patience_ms: is_waited_for.then(|| milliseconds(patience.default_time())),
        raised_patience_ms: raised.map(milliseconds),
        machine_lag: outcome.lag.to_record(),
        time_spent: outcome.spent.map(|spent| spent.to_record(outcome.elapsed)),
        reset_price: outcome.reset_price,
        unknown: outcome.unknown,
        refused: outcome.refused,
        measures: outcome.survey.counts(&outcome.coverage).iter().map(MeasureRecord::from).collect(),
        history: history(outcome),
    }
}
