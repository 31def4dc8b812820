//! The strongest suite that can be had in the time: if the whole model takes too long, a part of its runs.
//!
//! First the whole model; if the system may choose, one of its ways; else runs in which collections hold at most a few
//! elements; then fewer inputs, one more at a
//! time (and twice as many as long as that goes well). Every stage gets a part of the time that is left, so that one of
//! them ends. Each gives a suite that is complete for its [`SuiteScope`], which its claim states.

use std::time::Duration;

use ioxide_model::sts::{GateId, GateKind};
use ioxide_smt::halt::{Halt, Halted};
use ioxide_symex::Ctx;

use super::suite::{CompleteConfig, CompleteSuite, NoCompleteSuite, complete_suite_within};
use super::unfold::has_collections;
use super::{ClassLimits, NoAbstraction, SuiteScope};
use crate::kill::is_deterministic;

/// The numbers of elements that are tried in turn. Chosen by feel: two are the fewest that have an order.
const ITEM_BOUNDS: [usize; 2] = [2, 1];
/// The number of classes where only some of the inputs are given. Chosen by feel.
const COARSE_CLASSES: usize = 4;
/// The part of the time left that a stage gets. Chosen by feel: the first, which proves most, gets half of all.
const PART_OF_TIME: u32 = 2;

/// Returns the suite of the first stage that ends; `halt_after` makes a signal that stops after this time.
///
/// # Errors
/// If there is no suite for any part of the model: the reason of the first stage.
pub fn complete_suite_in_stages(
    cx: &mut Ctx<'_>,
    config: &CompleteConfig,
    halt_after: &dyn Fn(Duration) -> Halt,
) -> Result<CompleteSuite, NoCompleteSuite> {
    let stages = SuiteStages { config, halt_after };
    let whole = SuiteScope { most_items: config.most_items, ..SuiteScope::default() };
    let first = match stages.run(cx, &whole) {
        Err(reason) if reason == NoCompleteSuite::Choices || is_too_hard(&reason) => reason,
        done => return done,
    };
    // Where the system may choose, classes of all its ways are many, and a machine of them is not deterministic.
    if first == NoCompleteSuite::Choices || !is_deterministic(cx) {
        let one_way = SuiteScope { takes_one_way: true, ..whole };
        return match stages.run(cx, &one_way) {
            Err(reason) if is_too_hard(&reason) => stages.add_inputs(cx, &one_way).ok_or(first),
            Err(_) => Err(first),
            done => done,
        };
    }
    let has_bound = config.most_items.is_some() || !has_collections(cx.pool, cx.sts);
    let mut bound = config.most_items;
    for most_items in ITEM_BOUNDS.into_iter().filter(|_| !has_bound) {
        match stages.run(cx, &SuiteScope { most_items: Some(most_items), ..SuiteScope::default() }) {
            Ok(suite) => return Ok(suite),
            Err(NoCompleteSuite::NoBoundedCollections { .. }) => (),
            Err(_) => bound = Some(most_items),
        }
    }
    stages.add_inputs(cx, &SuiteScope { most_items: bound, ..SuiteScope::default() }).ok_or(first)
}

/// Returns whether less of the model may have a suite.
fn is_too_hard(reason: &NoCompleteSuite) -> bool {
    match reason {
        NoCompleteSuite::TooLarge { .. } => true,
        NoCompleteSuite::Abstraction(reason) => matches!(
            reason,
            NoAbstraction::Halted(Halted::Time)
                | NoAbstraction::Undecided { .. }
                | NoAbstraction::EndlessReactions { .. }
                | NoAbstraction::ChoiceKept { .. }
        ),
        _ => false,
    }
}

/// Returns limits with which classes are split a few times only.
fn fewer_classes(limits: &ClassLimits) -> ClassLimits {
    let most = |limit: usize| limit.min(COARSE_CLASSES);
    ClassLimits {
        states: most(limits.states),
        classes: most(limits.classes),
        strict: most(limits.strict),
        bounded: most(limits.bounded),
        reactions: limits.reactions,
    }
}

struct SuiteStages<'s> {
    config: &'s CompleteConfig,
    halt_after: &'s dyn Fn(Duration) -> Halt,
}

impl SuiteStages<'_> {
    fn run(&self, cx: &mut Ctx<'_>, scope: &SuiteScope) -> Result<CompleteSuite, NoCompleteSuite> {
        let left = cx.halt().time_left();
        let halt = left.map_or_else(Halt::default, |left| (self.halt_after)(left / PART_OF_TIME));
        cx.run_within(&halt, |cx| complete_suite_within(cx, self.config, scope))
    }

    /// Returns the suite for as many inputs as time allows, in the order of their declaration, with fewer classes, and
    /// otherwise for the runs of `scope`.
    fn add_inputs(&self, cx: &mut Ctx<'_>, scope: &SuiteScope) -> Option<CompleteSuite> {
        let config = CompleteConfig { limits: fewer_classes(&self.config.limits), ..self.config.clone() };
        let coarse = SuiteStages { config: &config, halt_after: self.halt_after };
        let gates = cx.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Input);
        let gates: Vec<GateId> = gates.map(|(gate, _)| gate).collect();
        let (mut given, mut best): (Vec<GateId>, Option<CompleteSuite>) = (Vec::new(), None);
        let (mut next, mut n_more) = (0, 1);
        while next < gates.len() && cx.halt_reason().is_none() {
            let end = gates.len().min(next + n_more);
            let tried = [&given[..], &gates[next..end]].concat();
            match coarse.run(cx, &SuiteScope { inputs: Some(tried.clone()), ..scope.clone() }) {
                Ok(suite) => {
                    (given, best) = (tried, Some(suite));
                    (next, n_more) = (end, n_more * 2);
                }
                // Alone it can never be sent; another input may lead to where it can.
                Err(NoCompleteSuite::Abstraction(NoAbstraction::NoInput)) => (given, next) = (tried, end),
                Err(_) if n_more > 1 => n_more = 1,
                Err(_) => next = end,
            }
        }
        best
    }
}
