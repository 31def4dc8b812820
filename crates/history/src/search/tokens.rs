//! The search with tokens: which operation stored a value is decided when an answer shows the value.
//!
//! Where a model only carries the values of a field ([`CarriedFields`]), operations that store such values differ in
//! nothing else. So the search places *tokens*: "one of these operations", and binds a token to an operation when an
//! answer shows its value. A queue to which ten clients push at the same time is then in one state, not in 10!, and
//! which of two pushes came first is settled by the take that tells.
//!
//! A token may be any operation that was called before the token was placed and had not returned before the operations
//! in front of it were called: `lo < ret` and `call < hi`. Tokens keep their order, so the question whether there are
//! operations for all tokens is one of unit jobs with releases and deadlines, which the earliest deadline answers.
//! Operations with tokens need no place when they return. They only have to be placed before an operation that was
//! called later, unless the two commute: a token that comes directly after an operation with which it commutes could
//! have come before it. So a token is placed only in front of an operation that does not commute with it.
//!
//! *Promises.* An order that is found was checked against the model without tokens. If none is found, there is none.
//! Whether several tokens together could have come before an operation is not examined, so an order may turn out to be
//! none; if no other is found then, nothing is claimed.
//!
//! [`CarriedFields`]: crate::carried::CarriedFields

mod choices;
mod order;
mod outcomes;
mod storers;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use self::choices::{NextElement, TokenChoice};
use self::outcomes::{Commuting, Outcome};
use self::storers::{Storer, StorerClass, find_storers};
use super::instants::{OpenOperations, ReturnEvent, list_open, list_returns};
use super::{FailedSearch, SearchLimits, SearchOutcome, SearchWork, SearchedOperation, UnknownCause};
use crate::space::{BeliefId, OperationClassId, StateSpace};
use crate::token::replace_tokens;

/// The position after all events.
const END: u32 = u32::MAX;

/// The bytes of an entry of a table of configurations without what its lists hold: a key and a list in a table that is
/// half full, and the blocks of three lists. Measured with queues of 1,000 operations.
const ENTRY_BYTES: usize = 2 * (size_of::<TokenConfigurationKey>() + size_of::<Vec<Box<[u32]>>>()) + 48;
/// The bytes of a list of used operations without what it holds: its place in a list that grows by doubling, its block.
const USED_BYTES: usize = 4 * size_of::<Box<[u32]>>() + 16;

/// A token that is bound to no operation yet.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FreeToken {
    /// Its number among all tokens of the order.
    serial: u32,
    /// Its operation must return after this position.
    lo: u32,
    /// Its operation must be called before this position.
    hi: u32,
}

/// A configuration of the search.
#[derive(Clone)]
struct TokenConfiguration {
    event: usize,
    /// The slots of running operations that are placed.
    placed: u128,
    state: u32,
    /// The tokens of the state, by their serial numbers.
    named: Vec<u32>,
    /// All free tokens in their order, also those whose value is in the state no more.
    free: Vec<FreeToken>,
    /// The storers that are bound, as a bit set.
    bound: Box<[u64]>,
    /// The first storer that is not bound.
    first: usize,
    /// The number of each of the open operations that are placed.
    used: Box<[u32]>,
    /// The latest call of the placed operations.
    floor: u32,
    /// The operation of a token that is placed next must return after this position.
    next_lo: u32,
    tokens: u32,
    last: Option<Rc<Element>>,
}

/// An element of the order, with what comes before it.
struct Element {
    before: Option<Rc<Element>>,
    placed: PlacedElement,
}

/// The kinds of elements.
#[derive(Clone, Copy)]
enum PlacedElement {
    Operation(usize),
    /// The next of the open operations with this number.
    Open(usize),
    /// A token that was placed in this state.
    Token {
        serial: u32,
        state: u32,
    },
    /// The token with this serial number is this storer; it is no element of its own.
    Binding {
        serial: u32,
        storer: usize,
    },
}

/// Everything that the future depends on, apart from the open operations that are used.
#[derive(PartialEq, Eq, Hash)]
struct TokenConfigurationKey {
    event: u32,
    placed: u128,
    state: u32,
    next_lo: u32,
    free: Box<[(u32, u32, u32)]>,
    pending: Box<[u32]>,
    /// The last element, if it is a token: the state before it.
    after_token: Option<u32>,
}

/// A choice point.
struct TokenFrame {
    configuration: TokenConfiguration,
    choices: Vec<TokenChoice>,
}

/// The search.
pub(super) struct TokenSearch<'s, 'c, 'm> {
    space: &'s mut StateSpace<'c, 'm>,
    operations: &'s [SearchedOperation],
    class: StorerClass,
    returns: Vec<ReturnEvent>,
    open: Vec<OpenOperations>,
    outcomes: FxHashMap<(u32, OperationClassId), Rc<[Outcome]>>,
    storing: FxHashMap<u32, Rc<[Outcome]>>,
    commuting: FxHashMap<(u32, OperationClassId), Commuting>,
    seen: FxHashMap<TokenConfigurationKey, Vec<Box<[u32]>>>,
    /// Roughly the number of bytes that `seen` and the results of operations take.
    memo_bytes: usize,
    furthest: Option<TokenConfiguration>,
    start: BeliefId,
    /// True if an order was found that turned out to be none.
    is_doubtful: bool,
}

impl<'s, 'c, 'm> TokenSearch<'s, 'c, 'm> {
    /// Makes a search; `None` if no operations store carried values, or values of the history look like tokens.
    pub(super) fn new(
        space: &'s mut StateSpace<'c, 'm>,
        operations: &'s [SearchedOperation],
        start: BeliefId,
    ) -> Option<Result<Self, UnknownCause>> {
        let class = find_storers(space, operations)?;
        let mut others = operations.to_vec();
        // A storer neither runs nor returns as others do: it is known by its token alone.
        for storer in &class.storers {
            others[storer.operation] = SearchedOperation { call: END, ret: None, ..others[storer.operation] };
        }
        let is_storer: Vec<bool> = others.iter().map(|operation| operation.call == END).collect();
        let open = list_open(&others, |at| !is_storer[at]);
        let returns = match list_returns(&others) {
            Ok(returns) => returns,
            Err(cause) => return Some(Err(cause)),
        };
        Some(Ok(Self {
            space,
            operations,
            class,
            returns,
            open,
            outcomes: FxHashMap::default(),
            storing: FxHashMap::default(),
            commuting: FxHashMap::default(),
            seen: FxHashMap::default(),
            memo_bytes: 0,
            furthest: None,
            start,
            is_doubtful: false,
        }))
    }

    /// Returns an order, or that there is none; `None` if neither can be claimed.
    pub(super) fn run(
        mut self,
        limits: &SearchLimits,
        work: &mut SearchWork,
    ) -> Result<Option<SearchOutcome>, UnknownCause> {
        // The belief before the first operation may have several states; an order from any of them is one.
        for state in self.space.state_numbers(self.start) {
            if let Some(order) = self.run_from(state, limits, work)? {
                return Ok(Some(SearchOutcome::Order(order)));
            }
        }
        Ok((!self.is_doubtful).then(|| self.report_failure()))
    }

    /// Searches from one state; returns an order if there is one.
    fn run_from(
        &mut self,
        state: u32,
        limits: &SearchLimits,
        work: &mut SearchWork,
    ) -> Result<Option<Vec<usize>>, UnknownCause> {
        let first = TokenConfiguration {
            event: 0,
            placed: 0,
            state,
            named: Vec::new(),
            free: Vec::new(),
            bound: vec![0; self.class.storers.len().div_ceil(64)].into(),
            first: 0,
            used: vec![0; self.open.len()].into(),
            floor: 0,
            next_lo: 0,
            tokens: 0,
            last: None,
        };
        let mut stack: Vec<TokenFrame> = Vec::new();
        let mut next = Some(first);
        loop {
            if let Some(configuration) = next.take().map(|configuration| self.pass_returns(configuration)) {
                work.count_configuration(limits)?;
                work.check_memory(|| self.space.memory() + self.memo_bytes, limits)?;
                // Without operations for all tokens, nothing that comes later can help: what is bound stays bound, and
                // the limits of tokens only get narrower.
                let assigned = self.assign(&configuration);
                if let Some(assigned) = assigned
                    && self.is_new(&configuration)
                {
                    if self.is_complete(&configuration, &assigned) {
                        match self.checked_order(&configuration, &assigned) {
                            Some(order) => return Ok(Some(order)),
                            // Several tokens together did not fit (see the promises); another order may.
                            None => self.is_doubtful = true,
                        }
                    } else {
                        self.note_progress(&configuration);
                        let choices = self.list_choices(&configuration);
                        stack.push(TokenFrame { configuration, choices });
                    }
                }
            }
            // Depth first: the last choice point that has choices left.
            let Some(frame) = stack.last_mut() else { return Ok(None) };
            match frame.choices.pop() {
                None => drop(stack.pop()),
                Some(choice) => {
                    let configuration = frame.configuration.clone();
                    next = Some(self.place_choice(configuration, &choice));
                }
            }
        }
    }

    /// Returns the position of an event; that after all of them is [`END`].
    fn return_position(&self, event: usize) -> u32 {
        self.returns.get(event).map_or(END, |returned| returned.position)
    }

    /// Passes every return whose operation is placed, and places operations that change nothing.
    fn pass_returns(&mut self, mut configuration: TokenConfiguration) -> TokenConfiguration {
        loop {
            let Some(returned) = self.returns.get(configuration.event) else { return configuration };
            let bit = 1 << returned.slot;
            if configuration.placed & bit != 0 {
                // Its slot is free for the operations called from here on.
                configuration.placed &= !bit;
                configuration.event += 1;
                continue;
            }
            let mine = (returned.operation, returned.slot);
            let running: Vec<(usize, u8)> = returned.running.iter().copied().chain([mine]).collect();
            let before = configuration.placed;
            for (operation, slot) in running {
                if configuration.placed & 1 << slot == 0 && self.changes_nothing(&configuration, operation) {
                    configuration.placed |= 1 << slot;
                    self.note_placed(&mut configuration, PlacedElement::Operation(operation));
                }
            }
            if configuration.placed == before {
                return configuration;
            }
        }
    }

    /// Returns whether an operation can be placed now without loss: it fits, changes nothing, and no storer that
    /// returned before its call, or before that of one in front of it, could still get a later place.
    fn changes_nothing(&mut self, configuration: &TokenConfiguration, operation: usize) -> bool {
        let SearchedOperation { class, call, .. } = self.operations[operation];
        if !self.space.is_pure(class) {
            return false;
        }
        // A token after it may have to come after everything that is placed.
        let floor = configuration.floor.max(call);
        let is_late = |at: usize| {
            let Storer { ret, .. } = self.class.storers[at];
            configuration.next_lo < ret && ret < floor
        };
        if self.list_pending(configuration, floor).any(is_late) {
            return false;
        }
        let outcomes = self.outcomes_of(configuration.state, class);
        outcomes.iter().any(|outcome| {
            outcome.shown.is_empty()
                && outcome.state == configuration.state
                && outcome.kept.iter().enumerate().all(|(at, &old)| at == old as usize)
        })
    }

    /// Adds an element to the order, in front of which the state is that of the configuration.
    fn note_placed(&mut self, configuration: &mut TokenConfiguration, placed: PlacedElement) {
        let (class, call) = match placed {
            PlacedElement::Operation(operation) => {
                let SearchedOperation { class, call, .. } = self.operations[operation];
                (Some(class), call)
            }
            PlacedElement::Open(at) => {
                let open = &self.open[at];
                let (call, _) = open.calls[configuration.used[at] as usize];
                configuration.used[at] += 1;
                (Some(open.class), call)
            }
            PlacedElement::Token { .. } | PlacedElement::Binding { .. } => (None, 0),
        };
        configuration.floor = configuration.floor.max(call);
        // A token after it could come before it only if the two commute.
        if class.is_some_and(|class| !self.commuting(configuration.state, class).ever) {
            configuration.next_lo = configuration.next_lo.max(configuration.floor);
        }
        let before = configuration.last.take();
        configuration.last = Some(Rc::new(Element { before, placed }));
    }

    /// Places what was chosen.
    fn place_choice(
        &mut self,
        mut configuration: TokenConfiguration,
        choice: &TokenChoice,
    ) -> TokenConfiguration {
        let hi = self.return_position(configuration.event);
        let (outcomes, new_token) = match choice.placed {
            NextElement::Token => {
                let serial = configuration.tokens;
                let state = configuration.state;
                self.note_placed(&mut configuration, PlacedElement::Token { serial, state });
                configuration.tokens += 1;
                let lo = configuration.next_lo;
                configuration.free.push(FreeToken { serial, lo, hi });
                (self.storing_outcomes(state), Some(serial))
            }
            NextElement::Running(operation, slot) => {
                self.note_placed(&mut configuration, PlacedElement::Operation(operation));
                configuration.placed |= 1 << slot;
                (self.outcomes_of(configuration.state, self.operations[operation].class), None)
            }
            NextElement::Open(at) => {
                self.note_placed(&mut configuration, PlacedElement::Open(at));
                (self.outcomes_of(configuration.state, self.open[at].class), None)
            }
        };
        let outcome = &outcomes[choice.outcome];
        // An outcome numbers tokens by their place in the state before it, a new token last; these are their
        // serials.
        let old: Vec<u32> = configuration.named.iter().copied().chain(new_token).collect();
        configuration.state = outcome.state;
        configuration.named = outcome.kept.iter().map(|&token| old[token as usize]).collect();
        for &(serial, storer) in &choice.bindings {
            self.bind_token(&mut configuration, serial, storer);
        }
        configuration
    }

    /// Binds a token to a storer: the values of the storer take its place in the state.
    fn bind_token(&mut self, configuration: &mut TokenConfiguration, serial: u32, storer: usize) {
        let Storer { call, ret, .. } = self.class.storers[storer];
        configuration.bound[storer / 64] |= 1 << (storer % 64);
        debug_assert!(configuration.free.iter().any(|token| token.serial == serial), "a free token is bound");
        // Everything before `first` is bound, so the search for pending storers begins there.
        while configuration.first < self.class.storers.len() && is_bound(configuration, configuration.first) {
            configuration.first += 1;
        }
        configuration.free.retain(|token| token.serial != serial);
        for token in &mut configuration.free {
            // The tokens keep their order, so their operations cannot contradict it.
            if token.serial < serial {
                token.hi = token.hi.min(ret);
            } else {
                token.lo = token.lo.max(call);
            }
        }
        configuration.next_lo = configuration.next_lo.max(call);
        let before = configuration.last.take();
        let placed = PlacedElement::Binding { serial, storer };
        configuration.last = Some(Rc::new(Element { before, placed }));
        let Some(name) = configuration.named.iter().position(|&named| named == serial) else { return };
        let values = &self.class.storers[storer].values;
        let state = self.space.state_of(configuration.state).clone();
        let replaced = replace_tokens(self.space.sts(), &state, &|token, field, held| {
            if token as usize == name { values[field].clone() } else { held.clone() }
        });
        let (state, kept) = self.canonical(replaced);
        configuration.state = state;
        configuration.named = kept.iter().map(|&token| configuration.named[token as usize]).collect();
    }

    /// Returns whether all operations that returned are placed.
    fn is_complete(&self, configuration: &TokenConfiguration, assigned: &[usize]) -> bool {
        configuration.event == self.returns.len()
            && (0..self.class.storers.len()).all(|at| {
                // An open operation needs no place.
                self.class.storers[at].ret == END || is_bound(configuration, at) || assigned.contains(&at)
            })
    }

    /// Records a configuration; false if one that can do at least as much was seen.
    fn is_new(&mut self, configuration: &TokenConfiguration) -> bool {
        let now = self.return_position(configuration.event);
        let pending: Vec<usize> = self.list_pending(configuration, now).collect();
        let calls: Vec<u32> = pending.iter().map(|&at| self.class.storers[at].call).collect();
        let mut rets: Vec<u32> = pending.iter().map(|&at| self.class.storers[at].ret).collect();
        rets.sort_unstable();
        // Of the limits it only matters which storers they let through.
        let lo = |limit: u32| match rets.partition_point(|ret| *ret <= limit) {
            0 => 0,
            n => rets[n - 1],
        };
        let hi = |limit: u32| calls.get(calls.partition_point(|call| *call < limit)).copied().unwrap_or(END);
        let names: FxHashMap<u32, u32> = configuration.named.iter().copied().zip(0..).collect();
        let name = |serial: u32| names.get(&serial).copied().unwrap_or(END);
        let free = configuration.free.iter().map(|token| (lo(token.lo), hi(token.hi), name(token.serial)));
        let key = TokenConfigurationKey {
            event: u32::try_from(configuration.event).unwrap_or(END),
            placed: configuration.placed,
            state: configuration.state,
            next_lo: lo(configuration.next_lo),
            free: free.collect(),
            pending: pending.iter().filter_map(|&at| u32::try_from(at).ok()).collect(),
            after_token: token_before(configuration),
        };
        let key_bytes = ENTRY_BYTES + size_of_val(&*key.free) + size_of_val(&*key.pending);
        let known = self.seen.entry(key).or_insert_with(|| {
            self.memo_bytes += key_bytes;
            Vec::new()
        });
        let used = &configuration.used;
        let is_less = |one: &[u32], other: &[u32]| one.iter().zip(other).all(|(one, other)| one <= other);
        if known.iter().any(|other| is_less(other, used)) {
            return false;
        }
        known.retain(|other| !is_less(used, other));
        self.memo_bytes += USED_BYTES + size_of_val(&**used);
        known.push(used.clone());
        true
    }

    fn note_progress(&mut self, configuration: &TokenConfiguration) {
        let is_further = self.furthest.as_ref().is_none_or(|furthest| configuration.event > furthest.event);
        if is_further {
            self.furthest = Some(configuration.clone());
        }
    }

    fn report_failure(&mut self) -> SearchOutcome {
        let Some(furthest) = self.furthest.take() else { return SearchOutcome::Order(Vec::new()) };
        let assigned = self.assign(&furthest).unwrap_or_default();
        let order = self.list_order(&furthest, &assigned);
        let last = || {
            let returned = (0..self.operations.len()).filter(|&at| self.operations[at].ret.is_some());
            returned.max_by_key(|&at| self.operations[at].ret)
        };
        let stuck = self.returns.get(furthest.event).map(|returned| returned.operation).or_else(last);
        let (order, belief) = match self.follow(&order) {
            Some(belief) => (order, belief),
            None => (Vec::new(), self.start),
        };
        match stuck {
            Some(stuck) => SearchOutcome::NoOrder(FailedSearch { order, belief, stuck }),
            None => SearchOutcome::Order(Vec::new()),
        }
    }
}

/// Returns the state before the last element of the order, if it is a token.
fn token_before(configuration: &TokenConfiguration) -> Option<u32> {
    match configuration.last.as_ref()?.placed {
        PlacedElement::Token { state, .. } => Some(state),
        _ => None,
    }
}

fn is_bound(configuration: &TokenConfiguration, storer: usize) -> bool {
    configuration.bound[storer / 64] & 1 << (storer % 64) != 0
}
