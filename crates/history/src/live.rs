//! Judging while events arrive: everything before a cut is settled, so only one burst is kept.

use std::collections::BTreeMap;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_symex::Ctx;

use crate::history::HistoryError;
use crate::search::{
    Consistency, SearchLimits, SearchOutcome, SearchWork, SearchedOperation, UnknownCause, find_ends,
    find_order,
};
use crate::space::{BeliefId, OperationClass, StateSpace};

/// The greatest number of configurations that are looked at to find all states that are possible at a cut. Chosen by
/// feel: for a burst of a few clients there are fewer, and if there are more, the burst goes on.
const MAX_SETTLING: u64 = 20_000;

/// The verdict on the events so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveVerdict {
    /// Nothing runs and nothing is open; there is an order, and all operations so far are settled.
    Settled,
    /// Operations are running or open: it is looked at again at the next cut, or at the end.
    Pending,
    /// There is no order.
    Inconsistent,
    /// The model does not mention an input: nothing from here on can be wrong.
    Unspecified,
    /// A limit was reached; the burst is kept and looked at again.
    Unknown(UnknownCause),
}

/// A history that is judged for linearizability while it happens.
///
/// A client is a number of the caller. Memory is needed for the operations since the last cut only. An operation that
/// stays open prevents cuts from there on.
pub struct LiveHistory<'c, 'm> {
    space: StateSpace<'c, 'm>,
    /// The states possible at the last cut.
    start: BeliefId,
    burst: Vec<SearchedOperation>,
    running: BTreeMap<u32, usize>,
    open: usize,
    events: u32,
}

impl<'c, 'm> LiveHistory<'c, 'm> {
    /// Starts in the initial states.
    pub fn new(space: StateSpace<'c, 'm>) -> Self {
        let start = space.start();
        Self { space, start, burst: Vec::new(), running: BTreeMap::new(), open: 0, events: 0 }
    }

    /// Adds a call.
    ///
    /// # Errors
    /// If the client has not finished its operation.
    pub fn call(&mut self, client: u32, input: Label) -> Result<(), HistoryError> {
        if self.running.contains_key(&client) {
            return Err(HistoryError::StillRunning(client.to_string()));
        }
        // Without an answer until it returns: the class changes then.
        let class = self.space.intern_class(OperationClass { input, output: None });
        let call = self.next_position()?;
        self.running.insert(client, self.burst.len());
        self.burst.push(SearchedOperation { class, client, call, ret: None });
        Ok(())
    }

    /// Adds the return of the client's operation, and judges if this is a cut.
    ///
    /// # Errors
    /// If the client has no operation.
    pub fn answer(
        &mut self,
        client: u32,
        output: Label,
        limits: &SearchLimits,
    ) -> Result<LiveVerdict, HistoryError> {
        let at = self.running.remove(&client).ok_or_else(|| HistoryError::NotRunning(client.to_string()))?;
        let ret = self.next_position()?;
        let input = self.space.class(self.burst[at].class).input.clone();
        let class = self.space.intern_class(OperationClass { input, output: Some(output) });
        // Operations stay in the order of their calls, whatever the order of their returns.
        self.burst[at] = SearchedOperation { class, ret: Some(ret), ..self.burst[at] };
        let is_cut = self.running.is_empty() && self.open == 0;
        Ok(if is_cut { self.settle(limits) } else { LiveVerdict::Pending })
    }

    /// Says that the client's operation will have no answer.
    ///
    /// # Errors
    /// If the client has no operation.
    pub fn leave_open(&mut self, client: u32) -> Result<(), HistoryError> {
        self.running.remove(&client).ok_or_else(|| HistoryError::NotRunning(client.to_string()))?;
        self.open += 1;
        Ok(())
    }

    /// Returns the states that were possible at the last cut.
    pub fn states(&self) -> impl Iterator<Item = &ConcreteState> {
        self.space.states(self.start)
    }

    /// Returns the context of the model.
    pub fn cx(&mut self) -> &mut Ctx<'m> {
        self.space.cx()
    }

    /// Returns the number of operations since the last cut.
    #[must_use]
    pub fn count_unsettled(&self) -> usize {
        self.burst.len()
    }

    /// Judges what has happened since the last cut; operations still running count as open.
    pub fn judge(&mut self, limits: &SearchLimits) -> LiveVerdict {
        let mut work = SearchWork::default();
        let found = find_order(
            &mut self.space,
            Consistency::Linearizable,
            &self.burst,
            self.start,
            limits,
            &mut work,
        );
        match found {
            SearchOutcome::Order(_) => LiveVerdict::Pending,
            SearchOutcome::Unspecified(_) => LiveVerdict::Unspecified,
            SearchOutcome::NoOrder(_) => LiveVerdict::Inconsistent,
            SearchOutcome::Unknown(cause) => LiveVerdict::Unknown(cause),
        }
    }

    /// Keeps only the states that are possible now.
    fn settle(&mut self, limits: &SearchLimits) -> LiveVerdict {
        let judged = self.judge(limits);
        if judged != LiveVerdict::Pending {
            return judged;
        }
        // All states possible here can be many more than one order needs. If they are too many, the burst goes on.
        let most = match limits.max_configurations {
            0 => MAX_SETTLING,
            limit => limit.min(MAX_SETTLING),
        };
        let limits = SearchLimits { max_configurations: most, ..limits.clone() };
        let mut work = SearchWork::default();
        match find_ends(&mut self.space, &self.burst, self.start, &limits, &mut work) {
            Err(_) => LiveVerdict::Pending,
            Ok(belief) => {
                debug_assert_ne!(belief, BeliefId::EMPTY, "there is an order");
                self.start = belief;
                self.burst.clear();
                LiveVerdict::Settled
            }
        }
    }

    fn next_position(&mut self) -> Result<u32, HistoryError> {
        self.events = self.events.checked_add(1).ok_or(HistoryError::TooLong)?;
        Ok(self.events)
    }
}
