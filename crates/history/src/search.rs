//! The search for an order: which operations, one after the other, does the model allow?
//!
//! \[WG93]: a depth-first search over orders; \[Lowe17]: a memo of (operations placed, state), and placing operations
//! *just in time*, only when one returns. Four rules keep it small, and none loses an order:
//!
//! - **Open operations are placed only when something needs them.** A configuration that has used fewer of them can do
//!   whatever one that has used more can, so the memo holds only the least. Open operations with the same messages are
//!   interchangeable, so only their number counts.
//! - **An operation that changes no state is placed as soon as it fits** ([`SequentialModel::is_pure`]): nothing that
//!   follows depends on it.
//! - **An operation that overwrites the state is placed early only for one that reads it.** Two of them in a row leave
//!   what the second does alone, so the first can wait, and be put in front of the second when it returns
//!   ([`HistoryPartition::overwriting`]). So writes that run at the same time do not multiply.
//! - **Where nothing is pending, everything before is settled**: configurations there differ in the belief alone.
//!
//! Operations that store different values still multiply where their order is seen only later, as in queues. If the
//! search does not end soon, a second one decides only when a value is seen which operation stored it (`tokens.rs`).
//!
//! [`SequentialModel::is_pure`]: crate::SequentialModel::is_pure
//! [`HistoryPartition::overwriting`]: crate::HistoryPartition

mod chains;
mod instants;
mod tokens;

use std::fmt;

use ioxide_smt::halt::{Halt, Halted};

use crate::space::{BeliefId, LostCause, OperationClassId, StateSpace};

/// The consistency that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// The order respects real time: an operation that returned before another was called comes before it.
    #[default]
    Linearizable,
    /// The order respects the order of each client's own operations only.
    Sequential,
}

impl Consistency {
    /// Returns the name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linearizable => "linearizable",
            Self::Sequential => "sequential",
        }
    }
}

/// The greatest number of bytes that a search takes, if nothing else is said. Chosen by feel: it is reached within a
/// minute or not at all, and the program needs some 40 megabytes besides.
const DEFAULT_MAX_MEMORY: usize = 128 << 20;

/// The use of the search with tokens, for histories of models that carry values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenUse {
    /// If the search without tokens does not end soon.
    #[default]
    IfNeeded,
    /// At once: for comparisons.
    AtOnce,
    /// Never: for comparisons.
    Never,
}

/// The limits of a search.
#[derive(Clone)]
pub struct SearchLimits {
    /// The greatest number of configurations that are looked at; 0 for no limit.
    pub max_configurations: u64,
    /// The greatest number of bytes for what is remembered, roughly; 0 for no limit.
    pub max_memory: usize,
    /// The use of the search with tokens.
    pub tokens: TokenUse,
    /// The signal to stop.
    pub halt: Halt,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            max_configurations: 0,
            max_memory: DEFAULT_MAX_MEMORY,
            tokens: TokenUse::default(),
            halt: Halt::default(),
        }
    }
}

/// The reason why the search found neither an order nor that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownCause {
    /// This many configurations were looked at.
    Configurations(u64),
    /// So many bytes were needed to remember what was looked at.
    Memory(usize),
    /// The search was halted.
    Halted(Halted),
    /// States may be missing.
    Lost(LostCause),
    /// More operations than this run at the same time.
    TooManyRunning(usize),
}

impl fmt::Display for UnknownCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configurations(n) => write!(f, "the limit of {n} configurations was reached"),
            Self::Memory(bytes) => {
                write!(f, "the limit of {} megabytes for the search was reached", bytes >> 20)
            }
            Self::Halted(halted) => halted.fmt(f),
            Self::Lost(cause) => cause.fmt(f),
            Self::TooManyRunning(n) => write!(f, "more than {n} operations run at the same time"),
        }
    }
}

/// An operation of a search: its messages and the positions of its call and return among all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchedOperation {
    /// The messages.
    pub class: OperationClassId,
    /// The client.
    pub client: u32,
    /// The position of the call.
    pub call: u32,
    /// The position of the return; `None` if the operation is open.
    pub ret: Option<u32>,
}

/// The aim of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchGoal {
    /// An order; inputs that the model does not mention are not placed.
    Order,
    /// An order; one that meets an input the model does not mention is one.
    OrderOrUnspecified,
    /// All beliefs that are possible after all operations.
    Ends,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchOutcome {
    /// These operations in this order are allowed: all that returned, and some that are open.
    Order(Vec<usize>),
    /// After these operations the model does not mention the input of the last one: everything is allowed.
    Unspecified(Vec<usize>),
    /// There is no order.
    NoOrder(FailedSearch),
    /// Neither was found.
    Unknown(UnknownCause),
}

/// The furthest that a search came where there is no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedSearch {
    /// The longest order that works.
    pub order: Vec<usize>,
    /// The states after it.
    pub belief: BeliefId,
    /// The operation that cannot be placed.
    pub stuck: usize,
}

/// The work of a search: counted, and ended by its limits.
#[derive(Default)]
pub(crate) struct SearchWork {
    pub(crate) configurations: u64,
    /// True once a search with tokens decided what the one without did not.
    pub(crate) prefers_tokens: bool,
}

/// The number of configurations between two looks at the halt signal, a power of two. Chosen by feel: few enough that a
/// search stops at once, and enough that looking at the clock takes no noticeable time.
const HALT_INTERVAL: u64 = 256;

impl SearchWork {
    /// Counts a configuration; an error if a limit is reached.
    fn count_configuration(&mut self, limits: &SearchLimits) -> Result<(), UnknownCause> {
        self.configurations += 1;
        if limits.max_configurations != 0 && self.configurations > limits.max_configurations {
            return Err(UnknownCause::Configurations(limits.max_configurations));
        }
        if self.configurations.is_multiple_of(HALT_INTERVAL)
            && let Some(halted) = limits.halt.halt_reason()
        {
            return Err(UnknownCause::Halted(halted));
        }
        Ok(())
    }

    /// Looks at the memory from time to time; an error if it is too much.
    fn check_memory(&self, bytes: impl FnOnce() -> usize, limits: &SearchLimits) -> Result<(), UnknownCause> {
        let is_due = limits.max_memory != 0 && self.configurations.is_multiple_of(HALT_INTERVAL);
        if is_due && bytes() > limits.max_memory {
            return Err(UnknownCause::Memory(limits.max_memory));
        }
        Ok(())
    }
}

/// Looks for an order of `operations` from the belief `start`.
pub(crate) fn find_order(
    space: &mut StateSpace<'_, '_>,
    consistency: Consistency,
    operations: &[SearchedOperation],
    start: BeliefId,
    limits: &SearchLimits,
    work: &mut SearchWork,
) -> SearchOutcome {
    let problem = SearchProblem { consistency, operations, start };
    let found = match search_with_tokens(space, problem, limits, work) {
        // Only now it matters whether the model left something open. Both runs reach the same configurations, so if
        // the first met no input that the model does not mention, the second would not either.
        Ok(SearchOutcome::NoOrder(failed)) if space.saw_unspecified() => {
            match run_search(space, problem, SearchGoal::OrderOrUnspecified, limits, work) {
                Ok(SearchOutcome::NoOrder(_)) => Ok(SearchOutcome::NoOrder(failed)),
                other => other,
            }
        }
        other => other,
    };
    match (found, space.lost_cause()) {
        // Where states may be missing, a search that finds no order proves nothing; an order that it finds is right all
        // the same.
        (Ok(SearchOutcome::NoOrder(_)), Some(lost)) => SearchOutcome::Unknown(UnknownCause::Lost(lost)),
        (Ok(outcome), _) => outcome,
        (Err(cause), _) => SearchOutcome::Unknown(cause),
    }
}

/// The number of configurations up to which the search without tokens has the first try, and so many more for each
/// operation. Chosen by feel: histories without many values in no order are decided by then.
const FIRST_TRY: (u64, u64) = (1_000, 10);

/// Looks for an order, with tokens if the search without them would take long.
fn search_with_tokens(
    space: &mut StateSpace<'_, '_>,
    problem: SearchProblem<'_>,
    limits: &SearchLimits,
    work: &mut SearchWork,
) -> Result<SearchOutcome, UnknownCause> {
    let SearchProblem { consistency, operations, start } = problem;
    let is_plain = limits.tokens == TokenUse::Never || space.model().carried.is_empty();
    if consistency == Consistency::Sequential || is_plain {
        return run_search(space, problem, SearchGoal::Order, limits, work);
    }
    // Most histories are decided by the plain search within these, and its states are cheaper than those with
    // tokens.
    let first = work.configurations + FIRST_TRY.0 + FIRST_TRY.1 * operations.len() as u64;
    let is_limited = limits.max_configurations != 0 && limits.max_configurations <= first;
    if limits.tokens == TokenUse::IfNeeded && !work.prefers_tokens && !is_limited {
        let limits = SearchLimits { max_configurations: first, ..limits.clone() };
        match run_search(space, problem, SearchGoal::Order, &limits, work) {
            // Only the limit of the first try was reached: the user's own is not smaller, see `is_limited`.
            Err(UnknownCause::Configurations(_)) => (),
            decided => return decided,
        }
    }
    let found = match tokens::TokenSearch::new(space, operations, start) {
        Some(search) => search?.run(limits, work)?,
        None => None,
    };
    // Parts of one history are alike: the next ones begin with tokens.
    work.prefers_tokens |= found.is_some();
    match found {
        Some(found) => Ok(found),
        // No token claims anything, so the plain search has all of the limits.
        None => run_search(space, problem, SearchGoal::Order, limits, work),
    }
}

/// The operations to order.
#[derive(Clone, Copy)]
struct SearchProblem<'o> {
    consistency: Consistency,
    operations: &'o [SearchedOperation],
    start: BeliefId,
}

fn run_search(
    space: &mut StateSpace<'_, '_>,
    problem: SearchProblem<'_>,
    goal: SearchGoal,
    limits: &SearchLimits,
    work: &mut SearchWork,
) -> Result<SearchOutcome, UnknownCause> {
    let SearchProblem { consistency, operations, start } = problem;
    match consistency {
        Consistency::Linearizable => {
            instants::InstantSearch::new(space, operations, goal)?.run(start, limits, work)
        }
        Consistency::Sequential => chains::ChainSearch::new(space, operations, goal).run(start, limits, work),
    }
}

/// Returns every belief that is possible after all `operations`, none of which is open.
///
/// # Errors
/// If a limit is reached.
pub(crate) fn find_ends(
    space: &mut StateSpace<'_, '_>,
    operations: &[SearchedOperation],
    start: BeliefId,
    limits: &SearchLimits,
    work: &mut SearchWork,
) -> Result<BeliefId, UnknownCause> {
    let mut search = instants::InstantSearch::new(space, operations, SearchGoal::Ends)?;
    // With the goal `Ends` the search never stops at an order, so the outcome itself says nothing.
    search.run(start, limits, work)?;
    let ends = search.into_ends();
    match space.lost_cause() {
        Some(lost) => Err(UnknownCause::Lost(lost)),
        None => space.unite(ends).ok_or(UnknownCause::Lost(LostCause::States)),
    }
}
