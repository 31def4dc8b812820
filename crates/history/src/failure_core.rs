//! The core of a failure: the fewest operations that already contradict each other.
//!
//! An operation is taken out of the core by *relaxing* it: all that is assumed about it is that it did not take effect
//! before it was called; not what it answered, nor when it returned, nor that it happened at all. If there is still no
//! order, the contradiction does not need it. Simply deleting operations would be wrong: a read of a value that a
//! deleted operation wrote contradicts nothing.
//!
//! *Promises.* The operations of the core contradict each other whatever the others did once they were called, and none
//! of them can be left out. A smaller core made of other operations may exist.

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;

use crate::judge::HistoryConfig;
use crate::search::{
    Consistency, FailedSearch, SearchLimits, SearchOutcome, SearchWork, SearchedOperation, find_ends,
    find_order,
};
use crate::space::{BeliefId, StateSpace};

/// The greatest number of configurations of one attempt to leave operations out. Chosen by feel: the search for the
/// failure itself rarely takes more.
const MAX_ATTEMPT: u64 = 20_000;

/// The greatest number of attempts to leave operations out. Chosen by feel: it bounds the time; a core that is left
/// when it is reached is not called minimal, and with more it would be smaller.
const MAX_ATTEMPTS: usize = 2_000;

/// The greatest number of configurations of one attempt, and of all, where values are only carried. Chosen by feel:
/// these configurations are large, and with many operations left out there are many of them.
const MAX_TOKEN_WORK: (u64, u64) = (2_000, 20_000);

/// The greatest number of operations before the last cut for which a core is sought that starts from the beginning.
/// Chosen by feel: each attempt searches all of them again; beyond it the core starts at the cut, and shows its state
/// instead of how it came about.
const MAX_PAST: usize = 400;

/// The number of operations up to which a core is easy to read. Chosen by feel: a larger one is given up for one that
/// starts at a cut, if that is smaller.
const MAX_READABLE: usize = 4;

/// The core of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureCore {
    /// The operations that contradict each other, in the order of their calls.
    pub operations: Vec<usize>,
    /// The states in which the core begins, if what happened before was forgotten at a cut; `None` if it begins with
    /// the initial states of the model.
    pub since: Option<Vec<ConcreteState>>,
    /// The longest order that works, of the core and of operations that may have happened.
    pub order: Vec<usize>,
    /// The operation that cannot be placed after it.
    pub stuck: usize,
    /// The answers that the model allows to this operation after the order.
    pub allowed: Vec<Label>,
    /// False if a limit ended the search for a smaller core.
    pub is_minimal: bool,
}

impl FailureCore {
    /// Returns the core with the operations numbered by `members`.
    pub(crate) fn with_operations(self, members: &[usize]) -> Self {
        let number = |list: Vec<usize>| list.into_iter().map(|at| members[at]).collect();
        let (operations, order) = (number(self.operations), number(self.order));
        Self { operations, order, stuck: members[self.stuck], ..self }
    }
}

/// Finds the core of `operations`, for which there is no order.
pub(crate) fn find_core(
    space: &mut StateSpace<'_, '_>,
    config: &HistoryConfig,
    operations: Vec<SearchedOperation>,
    failed: FailedSearch,
    work: &mut SearchWork,
) -> FailureCore {
    // Operations of the past that could take effect again late keep many others in the core, and then what matters is
    // the state that they led to. From the last cut on there are few operations, so this core is found quickly.
    if config.skips_core {
        let mut all = CoreSearch::new(space, config, operations, failed);
        all.is_minimal = false;
        return all.finish();
    }
    let no_limit = operations.len();
    let mut since_cut = CoreSearch::new(space, config, operations.clone(), failed.clone());
    since_cut.forget_the_future();
    since_cut.forget_the_past(0, work);
    since_cut.relax_operations(no_limit, work);
    let since_cut = since_cut.finish();
    if since_cut.since.is_none() {
        return since_cut;
    }
    // A core from the beginning shows how that state came about. It is worth it if it is easy to read, or not larger.
    let max_size = since_cut.operations.len().max(MAX_READABLE);
    let mut whole = CoreSearch::new(space, config, operations, failed);
    whole.forget_the_future();
    whole.forget_the_past(MAX_PAST, work);
    let is_small = !whole.since_cut && whole.relax_operations(max_size, work);
    if is_small { whole.finish() } else { since_cut }
}

/// The search for a core.
struct CoreSearch<'s, 'c, 'm> {
    space: &'s mut StateSpace<'c, 'm>,
    config: &'s HistoryConfig,
    /// All operations, those relaxed as they are searched.
    operations: Vec<SearchedOperation>,
    /// The operations that are still in the core.
    required: Vec<usize>,
    /// The operations that are looked at at all.
    present: Vec<usize>,
    start: BeliefId,
    since_cut: bool,
    failed: FailedSearch,
    attempts: usize,
    is_minimal: bool,
}

impl<'s, 'c, 'm> CoreSearch<'s, 'c, 'm> {
    /// Makes a search in which all `operations` are present; `failed` is the search that found no order for them.
    fn new(
        space: &'s mut StateSpace<'c, 'm>,
        config: &'s HistoryConfig,
        operations: Vec<SearchedOperation>,
        failed: FailedSearch,
    ) -> Self {
        let start = space.start();
        let present: Vec<usize> = (0..operations.len()).collect();
        let is_returned = |at: &usize| operations[*at].ret.is_some();
        let required = present.iter().copied().filter(is_returned).collect();
        Self {
            space,
            config,
            operations,
            required,
            present,
            start,
            since_cut: false,
            failed,
            attempts: 0,
            is_minimal: true,
        }
    }

    /// Drops what was called after the return that no order passes. What had not returned by then need not be placed,
    /// but if it is, its answer counts, so it stays in the core until it is relaxed.
    fn forget_the_future(&mut self) {
        // Without real time there is no future: any operation of another client may come first.
        if self.config.consistency == Consistency::Sequential {
            return;
        }
        let Some(end) = self.operations[self.failed.stuck].ret else { return };
        let operations = &self.operations;
        self.present.retain(|&at| operations[at].call < end);
        self.required.retain(|&at| operations[at].call < end);
        for &at in &self.present {
            if self.operations[at].ret.is_some_and(|ret| ret > end) {
                self.operations[at].ret = None;
            }
        }
    }

    /// Starts at the last cut before the failure, if the past has more than `max_past` operations.
    fn forget_the_past(&mut self, max_past: usize, work: &mut SearchWork) {
        let Some(cut) = self.last_cut() else { return };
        let is_past = |at: &usize| self.operations[*at].call < cut;
        let (past, rest): (Vec<usize>, Vec<usize>) = self.present.iter().copied().partition(is_past);
        if past.len() <= max_past {
            return;
        }
        let operations: Vec<SearchedOperation> = past.iter().map(|&at| self.operations[at]).collect();
        let limits = self.attempt_limits(work);
        let Ok(belief) = find_ends(self.space, &operations, self.start, &limits, work) else { return };
        if belief == BeliefId::EMPTY {
            // The search with tokens can pass a cut before it has placed everything; the past is enough then.
            return self.keep_the_past(past, work);
        }
        if belief == BeliefId::UNSPECIFIED {
            return;
        }
        self.present = rest;
        let present = &self.present;
        self.required.retain(|at| present.contains(at));
        self.start = belief;
        self.since_cut = true;
        // The order that works as long as possible has to start at the cut as well.
        if let Some(failed) = self.attempt(work) {
            self.failed = failed;
        }
    }

    /// Drops all operations but those of the `past`, which have no order either.
    fn keep_the_past(&mut self, past: Vec<usize>, work: &mut SearchWork) {
        let (present, required) = (self.present.clone(), self.required.clone());
        self.required.retain(|at| past.contains(at));
        self.present = past;
        match self.attempt(work) {
            Some(failed) => self.failed = failed,
            None => (self.present, self.required) = (present, required),
        }
    }

    /// Returns the position of the last cut before the failure: nothing runs and nothing is open there.
    fn last_cut(&self) -> Option<u32> {
        if self.config.consistency == Consistency::Sequential {
            return None;
        }
        let end = self.operations[self.failed.stuck].ret?;
        let mut latest = 0;
        let mut cut = None;
        for &at in &self.present {
            let operation = &self.operations[at];
            if operation.call > latest && latest > 0 && operation.call < end {
                cut = Some(operation.call);
            }
            latest = latest.max(operation.ret.unwrap_or(u32::MAX));
        }
        cut
    }

    /// Relaxes operations, many at once at first, until none can be relaxed any more. Returns false as soon as the core
    /// is known to have more than `max_size` operations.
    fn relax_operations(&mut self, max_size: usize, work: &mut SearchWork) -> bool {
        let begun = work.configurations;
        let mut size = self.required.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            let mut changed = false;
            // Every chunk that cannot be relaxed has an operation of the core: with fewer operations required, there
            // are more orders, so it cannot be relaxed later either.
            let mut needed_chunks = 0;
            while at < self.required.len() {
                let chunk: Vec<usize> = self.required[at..self.required.len().min(at + size)].to_vec();
                let is_long = work.prefers_tokens && work.configurations - begun > MAX_TOKEN_WORK.1;
                let is_over = self.attempts >= MAX_ATTEMPTS || is_long;
                if is_over || self.config.limits.halt.halt_reason().is_some() {
                    self.is_minimal = false;
                    return self.required.len() <= max_size;
                }
                if self.can_relax(&chunk, work) {
                    self.required.retain(|at| !chunk.contains(at));
                    changed = true;
                } else {
                    at += size;
                    needed_chunks += 1;
                    if needed_chunks > max_size {
                        return false;
                    }
                }
            }
            // Leaving one out can make another superfluous only if the search was limited; one more round is cheap.
            size = if size == 1 && changed { 1 } else { size / 2 };
        }
        self.required.len() <= max_size
    }

    /// Relaxes the operations of `chunk` if there is no order without them either.
    fn can_relax(&mut self, chunk: &[usize], work: &mut SearchWork) -> bool {
        self.attempts += 1;
        let before: Vec<SearchedOperation> = chunk.iter().map(|&at| self.operations[at]).collect();
        for &at in chunk {
            let class = self.space.open_class(self.operations[at].class);
            // A client of its own, so that no other operation has to come before or after it.
            let client = u32::MAX - u32::try_from(at).unwrap_or(0);
            self.operations[at] = SearchedOperation { class, client, ret: None, ..self.operations[at] };
        }
        match self.attempt(work) {
            Some(failed) => {
                self.failed = failed;
                true
            }
            None => {
                for (&at, operation) in chunk.iter().zip(before) {
                    self.operations[at] = operation;
                }
                false
            }
        }
    }

    /// Searches for an order of the operations as they are; `None` unless there is none.
    fn attempt(&mut self, work: &mut SearchWork) -> Option<FailedSearch> {
        let operations: Vec<SearchedOperation> = self.present.iter().map(|&at| self.operations[at]).collect();
        let limits = self.attempt_limits(work);
        let found = find_order(self.space, self.config.consistency, &operations, self.start, &limits, work);
        match found {
            SearchOutcome::NoOrder(failed) => {
                let original = |at: usize| self.present[at];
                let order = failed.order.into_iter().map(original).collect();
                Some(FailedSearch { order, stuck: original(failed.stuck), ..failed })
            }
            SearchOutcome::Unknown(_) => {
                self.is_minimal = false;
                None
            }
            SearchOutcome::Order(_) | SearchOutcome::Unspecified(_) => None,
        }
    }

    fn attempt_limits(&self, work: &SearchWork) -> SearchLimits {
        let halt = self.config.limits.halt.clone();
        let most = if work.prefers_tokens { MAX_TOKEN_WORK.0 } else { MAX_ATTEMPT };
        SearchLimits { max_configurations: work.configurations + most, halt, ..self.config.limits.clone() }
    }

    /// Returns the core: the operations that are required, and the answers that the last order would have
    /// allowed where it is stuck.
    fn finish(self) -> FailureCore {
        let FailedSearch { order, belief, stuck } = self.failed.clone();
        let input = self.space.class(self.operations[stuck].class).input.clone();
        let allowed = self.space.allowed_answers(belief, &input);
        let since = self.since_cut.then(|| self.space.states(self.start).cloned().collect());
        let is_minimal = self.is_minimal;
        FailureCore { operations: self.required, since, order, stuck, allowed, is_minimal }
    }
}
