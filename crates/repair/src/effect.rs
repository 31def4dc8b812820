//! The effect of a proposal: what the edited model allows and forbids beyond the runs, and whether two proposals mean
//! the same.

use std::ops::ControlFlow;

use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{Model, Sts};
use ioxide_model::term::{Term, VarId};
use ioxide_model::trace::Trace;
use ioxide_run::judge::{JudgeConfig, judge};
use ioxide_smt::halt::Halt;
use ioxide_smt::solver::{Solver, SolverAnswer};
use ioxide_symex::Ctx;
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{
    ConformAnswer, ConformOptions, ConformWitness, SearchBounds, conform, differences,
};

use crate::ProposalEffect;
use crate::evaluate::judge_run;
use crate::runs::DecodedRun;

/// The number of product states of a comparison. Chosen by feel: small models are decided by far fewer.
const MAX_PAIRS: usize = 3_000;
/// The number of differences that are looked at for one that no run has shown. Chosen by feel.
const MAX_DIFFERENCES: usize = 6;
/// The number of other values that are tried for one difference. Chosen by feel.
const MAX_OTHER_VALUES: usize = 4;

/// Returns the options of a comparison that ends soon enough for somebody who waits.
fn options(model: &Model) -> ConformOptions {
    let bounds = SearchBounds { max_states: MAX_PAIRS, ..SearchBounds::default() };
    ConformOptions { relation: ConformanceRelation::usual(&model.sts), bounds, ..ConformOptions::default() }
}

/// Returns whether both models allow the same, as far as that is proved under `halt`.
pub(crate) fn is_same_behaviour(one: &Model, other: &Model, solver: &mut dyn Solver, halt: &Halt) -> bool {
    conforms(one, other, solver, halt) && conforms(other, one, solver, halt)
}

/// Returns whether `imp` was proved to conform to `spec`; false also if that is open.
fn conforms(imp: &Model, spec: &Model, solver: &mut dyn Solver, halt: &Halt) -> bool {
    let mut spec = spec.clone();
    let Ok(imp) = join(&mut spec, imp) else { return false };
    let options = options(&spec);
    let mut cx = Ctx::new(&mut spec, solver);
    let decided = cx.run_within(halt, |cx| conform(cx, &imp, &options, &mut |_| ControlFlow::Continue(())));
    decided.is_ok_and(|found| matches!(found.answer, ConformAnswer::Conforms(_)))
}

/// Returns the effect of replacing `old` by `new`.
pub(crate) fn effect_of(
    old: &Model,
    new: &Model,
    failing: &[&DecodedRun<'_>],
    solver: &mut dyn Solver,
    halt: &Halt,
) -> ProposalEffect {
    let (also_allows, allows_all) = first_new_trace(old, new, failing, solver, halt);
    let (now_forbids, forbids_all) = first_new_trace(new, old, &[], solver, halt);
    let leaves_open = failing.iter().find_map(|run| opened_input(old, new, run, solver, halt));
    ProposalEffect { also_allows, now_forbids, leaves_open, is_complete: allows_all && forbids_all }
}

/// Returns the input of `run` about which `new` says nothing, while `old` does.
fn opened_input(
    old: &Model,
    new: &Model,
    run: &DecodedRun<'_>,
    solver: &mut dyn Solver,
    halt: &Halt,
) -> Option<String> {
    let mut new = new.clone();
    let at = judge_run(&mut new, solver, run, halt).ok()?.unspecified_at?;
    if judge_run(&mut old.clone(), solver, run, halt).ok()?.unspecified_at == Some(at) {
        return None;
    }
    let read = run.labels_for(&new).ok()?;
    // Nothing is said from there on, so the input is the label before.
    Some(read.trace.labels.get(at.checked_sub(1)?)?.show(&new.pool, &new.sts).to_string())
}

/// Returns a shortest trace that `imp` has, `spec` forbids and no run has shown; and whether the search came to an end.
fn first_new_trace(
    spec: &Model,
    imp: &Model,
    failing: &[&DecodedRun<'_>],
    solver: &mut dyn Solver,
    halt: &Halt,
) -> (Option<Vec<String>>, bool) {
    let mut spec = spec.clone();
    let Ok(joined) = join(&mut spec, imp) else { return (None, false) };
    // In the numbers of the specification: a recorded run says what is no news.
    let shown: Vec<Trace> =
        failing.iter().filter_map(|run| run.labels_for(&spec).ok()).map(|read| read.trace.clone()).collect();
    let options = options(&spec);
    let mut cx = Ctx::new(&mut spec, solver);
    cx.run_within(halt, |cx| {
        let watch = &mut |_: &_| ControlFlow::Continue(());
        let Ok(found) = differences(cx, &joined, &options, MAX_DIFFERENCES, watch) else {
            return (None, false);
        };
        let is_all = found.rest.is_none();
        for witness in &found.witnesses {
            if let Some(trace) = unseen_trace(cx, &joined, witness, &shown) {
                let text = trace.labels.iter().map(|label| label.show(cx.pool, cx.sts)).collect();
                return (Some(text), true);
            }
        }
        (None, is_all)
    })
}

/// Returns the trace of `witness`, with other values if a run has shown these already.
fn unseen_trace(cx: &mut Ctx<'_>, imp: &Sts, witness: &ConformWitness, shown: &[Trace]) -> Option<Trace> {
    let mut trace = witness.trace.clone();
    let mut condition = witness.condition;
    for _ in 0..MAX_OTHER_VALUES {
        if !is_shown(&trace, shown) {
            return Some(trace);
        }
        let (next, narrower) = with_other_values(cx, &trace, condition)?;
        (trace, condition) = (next, narrower);
        // Both models have the last word: values of a condition are no trace yet.
        let relation = ConformanceRelation::usual(cx.sts);
        let config = JudgeConfig { relation, ..JudgeConfig::default() };
        let is_new = judge(cx, &trace, &config).forbidden.is_some();
        let is_allowed = judge(&mut cx.with_system(imp), &trace, &config).forbidden.is_none();
        if !(is_new && is_allowed) {
            return None;
        }
    }
    None
}

/// Returns whether a run has shown the last label of `trace` after the same input, with the same values.
fn is_shown(trace: &Trace, shown: &[Trace]) -> bool {
    let tail = |labels: &[Label]| -> Vec<Label> {
        let from = labels.len().saturating_sub(2);
        labels[from..].iter().filter(|label| !matches!(label, Label::Delay(_))).cloned().collect()
    };
    shown.iter().any(|run| tail(&run.labels) == tail(&trace.labels))
}

/// Returns the same messages with other values, and the condition without the values of `trace`.
fn with_other_values(cx: &mut Ctx<'_>, trace: &Trace, condition: Term) -> Option<(Trace, Term)> {
    // With clocks, delays stand between the messages and the steps are numbered otherwise.
    if cx.sts.is_timed() {
        return None;
    }
    let mut fields: Vec<(usize, usize, VarId)> = Vec::new();
    for (at, label) in trace.labels.iter().enumerate() {
        let (Label::Input(gate, _) | Label::Output(gate, _)) = label else { continue };
        for (position, field) in cx.sts.gates[*gate].fields.clone().into_iter().enumerate() {
            let var = cx.pool.indexed_var(field, u32::try_from(at + 1).ok()?);
            fields.push((at, position, var));
        }
    }
    let values_of = |label: &Label| match label {
        Label::Input(_, values) | Label::Output(_, values) => values.clone(),
        Label::Quiescence | Label::Delay(_) => Vec::new(),
    };
    // The last two messages are to differ: earlier ones only lead there.
    let from = trace.labels.len().saturating_sub(2);
    let mut others = Vec::new();
    for &(at, position, var) in fields.iter().filter(|(at, ..)| *at >= from) {
        let (name, value) = (cx.pool.var(var), cx.pool.value(values_of(&trace.labels[at])[position].clone()));
        others.push(cx.pool.ne(name, value));
    }
    let differs = cx.pool.or(others);
    let narrower = cx.pool.and2(condition, differs);
    let SolverAnswer::Sat(valuation) = cx.check(&[narrower]) else { return None };
    let mut labels = trace.labels.clone();
    for (at, position, var) in fields {
        let Some(value) = valuation.get(var) else { continue };
        if let Label::Input(_, values) | Label::Output(_, values) = &mut labels[at] {
            values[position] = value.clone();
        }
    }
    Some((labels.into_iter().collect(), narrower))
}
