//! The verdict on a history: parts, the search in each, and the core of a failure.

use std::collections::BTreeMap;

use ioxide_symex::Ctx;

use crate::failure_core::{FailureCore, find_core};
use crate::history::History;
use crate::partition::{HistoryPartition, PartKey, PartitionObstacle};
use crate::search::{
    Consistency, SearchLimits, SearchOutcome, SearchWork, SearchedOperation, UnknownCause, find_order,
};
use crate::sequential::SequentialModel;
use crate::space::{OperationClass, StateSpace};

/// The settings of a judgement.
#[derive(Clone, Default)]
pub struct HistoryConfig {
    /// The consistency that is asked for.
    pub consistency: Consistency,
    /// The limits of the search.
    pub limits: SearchLimits,
    /// True if the core of a failure need not be small, because only the verdict matters.
    pub skips_core: bool,
}

/// The judgement of a history.
#[derive(Clone, Debug)]
pub struct HistoryJudgement {
    /// The verdict.
    pub verdict: HistoryVerdict,
    /// The division of the history.
    pub partition: HistoryPartition,
    /// The number of parts.
    pub parts: usize,
    /// The number of configurations that were looked at.
    pub configurations: u64,
}

/// The verdict on a history.
#[derive(Clone, Debug)]
pub enum HistoryVerdict {
    /// There is an order that the model allows; one for each part.
    Consistent(Vec<Vec<usize>>),
    /// There is an order after which the model does not mention an input, so nothing after it can be wrong. The
    /// operations up to this input.
    Unspecified(Vec<usize>),
    /// There is no order.
    Inconsistent(Box<FailureCore>),
    /// The search did not decide it.
    Unknown(UnknownCause),
}

/// Judges a history.
pub fn judge_history(
    cx: &mut Ctx<'_>,
    model: &SequentialModel,
    history: &History,
    config: &HistoryConfig,
) -> HistoryJudgement {
    let partition = match config.consistency {
        Consistency::Linearizable => HistoryPartition::derive(cx, model),
        Consistency::Sequential => HistoryPartition::whole(PartitionObstacle::Consistency),
    };
    let mut parts: BTreeMap<PartKey, Vec<usize>> = BTreeMap::new();
    for (at, operation) in history.operations.iter().enumerate() {
        parts.entry(partition.part_of(&operation.input)).or_default().push(at);
    }
    let mut space = StateSpace::new(cx, model).with_overwriting(partition.overwriting().clone());
    let mut work = SearchWork::default();
    let judged = judge_parts(&mut space, history, &parts, config, &mut work);
    HistoryJudgement { verdict: judged, partition, parts: parts.len(), configurations: work.configurations }
}

fn judge_parts(
    space: &mut StateSpace<'_, '_>,
    history: &History,
    parts: &BTreeMap<PartKey, Vec<usize>>,
    config: &HistoryConfig,
    work: &mut SearchWork,
) -> HistoryVerdict {
    let (mut orders, mut unknown) = (Vec::new(), None);
    for members in parts.values() {
        let operations = searched_operations(space, history, members);
        let start = space.start();
        let original = |order: Vec<usize>| order.into_iter().map(|at| members[at]).collect::<Vec<usize>>();
        match find_order(space, config.consistency, &operations, start, &config.limits, work) {
            SearchOutcome::Order(order) => orders.push(original(order)),
            // Only a history that is judged as a whole can get here: see `PartitionObstacle::UnspecifiedInputs`.
            SearchOutcome::Unspecified(order) => return HistoryVerdict::Unspecified(original(order)),
            SearchOutcome::NoOrder(failed) => {
                // One part that fails is enough, whatever the others are.
                let core = find_core(space, config, operations, failed, work);
                return HistoryVerdict::Inconsistent(Box::new(core.with_operations(members)));
            }
            // Another part may still fail.
            SearchOutcome::Unknown(cause) => unknown = unknown.or(Some(cause)),
        }
    }
    unknown.map_or(HistoryVerdict::Consistent(orders), HistoryVerdict::Unknown)
}

/// Returns the operations at `members`, with their classes.
pub(crate) fn searched_operations(
    space: &mut StateSpace<'_, '_>,
    history: &History,
    members: &[usize],
) -> Vec<SearchedOperation> {
    let searched = members.iter().map(|&at| {
        let operation = &history.operations[at];
        let output = operation.answer.as_ref().map(|answer| answer.output.clone());
        let class = space.intern_class(OperationClass { input: operation.input.clone(), output });
        let ret = operation.answer.as_ref().map(|answer| answer.ret);
        SearchedOperation { class, client: operation.client, call: operation.call, ret }
    });
    searched.collect()
}
