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

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use ioxide_model::label::Label;
use ioxide_model::value::Value;

use super::instants::{OpenOperations, ReturnEvent, list_open, list_returns};
use super::{FailedSearch, SearchLimits, SearchOutcome, SearchWork, SearchedOperation, UnknownCause};
use crate::space::{BeliefId, OperationClass, OperationClassId, StateSpace};
use crate::token::{
    MAX_FIELDS, ShownValues, has_token, match_values, replace_tokens, token_value, tokens_of,
};

/// The position after all events.
const END: u32 = u32::MAX;

/// An operation that stores carried values.
struct Storer {
    operation: usize,
    call: u32,
    /// [`END`] if it is open.
    ret: u32,
    /// Its carried values.
    values: Vec<Value>,
}

/// The operations that tokens stand for: those with the same messages but for the carried values.
struct StorerClass {
    input: Label,
    output: Option<Label>,
    /// The positions of the carried fields.
    fields: Vec<usize>,
    /// The operations, by their calls.
    storers: Vec<Storer>,
}

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

/// A choice: what is placed next, how, and which tokens are then bound.
struct TokenChoice {
    placed: NextElement,
    outcome: usize,
    bindings: Vec<(u32, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NextElement {
    Running(usize, u8),
    Open(usize),
    Token,
}

/// A result of an operation in a canonical state.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Outcome {
    state: u32,
    /// For every token of the new state the one of the old state that it was; the new token of a storer is the number
    /// of tokens of the old state.
    kept: Vec<u32>,
    /// The values that were shown of tokens of the old state, by token and field.
    shown: Vec<((u32, usize), Value)>,
}

/// Remembers whether a token that comes directly before an operation can come directly after it.
#[derive(Clone, Copy)]
struct Commuting {
    /// Whatever happens with the token first happens with the operation first too.
    always: bool,
    /// Some of it does.
    ever: bool,
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
                work.count(limits)?;
                work.check_memory(|| self.space.memory() + self.memory(), limits)?;
                let assigned = self.assign(&configuration);
                if let Some(assigned) = assigned
                    && self.is_new(&configuration)
                {
                    if self.is_complete(&configuration, &assigned) {
                        match self.checked_order(&configuration, &assigned) {
                            Some(order) => return Ok(Some(order)),
                            None => self.is_doubtful = true,
                        }
                    } else {
                        self.note_progress(&configuration);
                        let choices = self.list_choices(&configuration);
                        stack.push(TokenFrame { configuration, choices });
                    }
                }
            }
            let Some(frame) = stack.last_mut() else { return Ok(None) };
            match frame.choices.pop() {
                None => drop(stack.pop()),
                Some(choice) => {
                    let configuration = frame.configuration.clone();
                    next = Some(self.place(configuration, &choice));
                }
            }
        }
    }

    /// Returns roughly the number of bytes that the memo takes.
    fn memory(&self) -> usize {
        // Each entry has the lists of its key besides; their lengths are about those of the free tokens.
        let entry = 128 + self.class.storers.len().min(64) * 4;
        self.seen.len() * entry + (self.outcomes.len() + self.storing.len() + self.commuting.len()) * 128
    }

    /// Returns the position of an event; that after all of them is [`END`].
    fn position(&self, event: usize) -> u32 {
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
    fn place(&mut self, mut configuration: TokenConfiguration, choice: &TokenChoice) -> TokenConfiguration {
        let hi = self.position(configuration.event);
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
        let old: Vec<u32> = configuration.named.iter().copied().chain(new_token).collect();
        configuration.state = outcome.state;
        configuration.named = outcome.kept.iter().map(|&token| old[token as usize]).collect();
        for &(serial, storer) in &choice.bindings {
            self.bind(&mut configuration, serial, storer);
        }
        configuration
    }

    /// Binds a token to a storer: the values of the storer take its place in the state.
    fn bind(&mut self, configuration: &mut TokenConfiguration, serial: u32, storer: usize) {
        let Storer { call, ret, .. } = self.class.storers[storer];
        configuration.bound[storer / 64] |= 1 << (storer % 64);
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

    /// Assigns a storer to every free token, those that return first in front; `None` if that is not possible, or a
    /// storer is left that no later token can be.
    fn assign(&self, configuration: &TokenConfiguration) -> Option<Vec<usize>> {
        let now = self.position(configuration.event);
        let mut waiting: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::new();
        let storers = self.class.storers.iter().enumerate().skip(configuration.first);
        let mut storers = storers.peekable();
        let mut release = |waiting: &mut BinaryHeap<Reverse<(u32, usize)>>, until: u32| {
            while let Some((at, storer)) = storers.next_if(|(_, storer)| storer.call < until) {
                if !is_bound(configuration, at) {
                    waiting.push(Reverse((storer.ret, at)));
                }
            }
        };
        let mut assigned = Vec::with_capacity(configuration.free.len());
        for token in &configuration.free {
            release(&mut waiting, token.hi);
            let Reverse((ret, at)) = waiting.pop()?;
            // What returns first has missed its tokens, and all later ones begin later.
            if ret <= token.lo {
                return None;
            }
            assigned.push(at);
        }
        release(&mut waiting, now);
        let is_lost = waiting.peek().is_some_and(|Reverse((ret, _))| *ret <= configuration.next_lo);
        (!is_lost).then_some(assigned)
    }

    /// Returns whether all operations that returned are placed.
    fn is_complete(&self, configuration: &TokenConfiguration, assigned: &[usize]) -> bool {
        configuration.event == self.returns.len()
            && (0..self.class.storers.len()).all(|at| {
                self.class.storers[at].ret == END || is_bound(configuration, at) || assigned.contains(&at)
            })
    }

    /// Records a configuration; false if one that can do at least as much was seen.
    fn is_new(&mut self, configuration: &TokenConfiguration) -> bool {
        let now = self.position(configuration.event);
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
        let known = self.seen.entry(key).or_default();
        let used = &configuration.used;
        let is_less = |one: &[u32], other: &[u32]| one.iter().zip(other).all(|(one, other)| one <= other);
        if known.iter().any(|other| is_less(other, used)) {
            return false;
        }
        known.retain(|other| !is_less(used, other));
        known.push(used.clone());
        true
    }

    /// Returns what can be placed next, the best last.
    fn list_choices(&mut self, configuration: &TokenConfiguration) -> Vec<TokenChoice> {
        let now = self.position(configuration.event);
        let mine = self.returns.get(configuration.event).map(|returned| (returned.operation, returned.slot));
        let mut candidates: Vec<(NextElement, OperationClassId)> = Vec::new();
        if let Some(returned) = self.returns.get(configuration.event) {
            for &(operation, slot) in &returned.running {
                if configuration.placed & 1 << slot == 0 {
                    candidates
                        .push((NextElement::Running(operation, slot), self.operations[operation].class));
                }
            }
        }
        for (at, open) in self.open.iter().enumerate() {
            if open.calls.get(configuration.used[at] as usize).is_some_and(|call| call.0 < now) {
                candidates.push((NextElement::Open(at), open.class));
            }
        }
        let mine_class = mine.map(|(operation, _)| self.operations[operation].class);
        let token_state = token_before(configuration);
        let (mut helpful, mut others) = (Vec::new(), Vec::new());
        for (candidate, class) in candidates {
            // The order with the token after it is tried as well.
            if token_state.is_some_and(|state| self.commuting(state, class).always) {
                continue;
            }
            let is_open = matches!(candidate, NextElement::Open(_));
            for (outcome, after) in self.outcomes_of(configuration.state, class).iter().enumerate() {
                // An open operation without effect needs no place.
                if is_open
                    && after.state == configuration.state
                    && after.kept.len() == configuration.named.len()
                {
                    continue;
                }
                let helps = mine_class.is_some_and(|mine| !self.outcomes_of(after.state, mine).is_empty());
                for bindings in self.list_bindings(configuration, after) {
                    let choice = TokenChoice { placed: candidate, outcome, bindings };
                    if helps { helpful.push(choice) } else { others.push(choice) }
                }
            }
        }
        // The stack of choices is read from its end.
        others.reverse();
        helpful.reverse();
        if configuration.free.len() < self.list_pending(configuration, now).count() {
            for (outcome, after) in self.storing_outcomes(configuration.state).iter().enumerate() {
                let helps = mine_class.is_none_or(|mine| !self.outcomes_of(after.state, mine).is_empty());
                let choice = TokenChoice { placed: NextElement::Token, outcome, bindings: Vec::new() };
                if helps { helpful.push(choice) } else { others.push(choice) }
            }
        }
        others.append(&mut helpful);
        if let (Some((operation, slot)), Some(class)) = (mine, mine_class)
            && !token_state.is_some_and(|state| self.commuting(state, class).always)
        {
            for (outcome, after) in self.outcomes_of(configuration.state, class).iter().enumerate() {
                for bindings in self.list_bindings(configuration, after) {
                    others.push(TokenChoice {
                        placed: NextElement::Running(operation, slot),
                        outcome,
                        bindings,
                    });
                }
            }
        }
        others
    }

    /// Returns the storers that were called before `until` and are not bound.
    fn list_pending<'a>(
        &'a self,
        configuration: &'a TokenConfiguration,
        until: u32,
    ) -> impl Iterator<Item = usize> + 'a {
        let called = configuration.first..self.class.storers.len();
        let called = called.take_while(move |&at| self.class.storers[at].call < until);
        called.filter(|&at| !is_bound(configuration, at))
    }

    /// Returns every way to bind the tokens whose values are shown.
    fn list_bindings(&self, configuration: &TokenConfiguration, outcome: &Outcome) -> Vec<Vec<(u32, usize)>> {
        let mut shown: BTreeMap<u32, Vec<(usize, &Value)>> = BTreeMap::new();
        for ((token, field), value) in &outcome.shown {
            shown.entry(configuration.named[*token as usize]).or_default().push((*field, value));
        }
        let mut ways: Vec<Vec<(u32, usize)>> = vec![Vec::new()];
        for (serial, values) in shown {
            let token = configuration.free.iter().find(|token| token.serial == serial);
            let fits = |at: &usize| {
                let storer = &self.class.storers[*at];
                token.is_some_and(|token| storer.call < token.hi && token.lo < storer.ret)
                    && values.iter().all(|&(field, value)| storer.values[field] == *value)
            };
            let fitting: Vec<usize> = self.list_pending(configuration, END).filter(fits).collect();
            let extended = |way: Vec<(u32, usize)>| {
                let left = fitting.iter().filter(|at| way.iter().all(|(_, other)| other != *at));
                left.map(|&at| [&way[..], &[(serial, at)]].concat()).collect::<Vec<_>>()
            };
            ways = ways.into_iter().flat_map(extended).collect();
        }
        ways
    }

    /// Returns the results of an operation of this class in a canonical state.
    fn outcomes_of(&mut self, state: u32, class: OperationClassId) -> Rc<[Outcome]> {
        if let Some(known) = self.outcomes.get(&(state, class)) {
            return Rc::clone(known);
        }
        let OperationClass { input, output } = self.space.class(class).clone();
        let mut found = Vec::new();
        for (answer, states) in self.space.answered_steps(state, &input) {
            let shown = match &output {
                None => Some(ShownValues::default()),
                Some(output) => match_labels(&answer, output),
            };
            let Some(shown) = shown else { continue };
            let mut shown: Vec<((u32, usize), Value)> = shown.into_iter().collect();
            shown.sort();
            for number in states {
                let after = self.space.state_of(number).clone();
                let (state, kept) = self.canonical(after);
                found.push(Outcome { state, kept, shown: shown.clone() });
            }
        }
        found.sort();
        found.dedup();
        let found: Rc<[Outcome]> = found.into();
        self.outcomes.insert((state, class), Rc::clone(&found));
        found
    }

    /// Returns the results of storing a new token in a canonical state.
    fn storing_outcomes(&mut self, state: u32) -> Rc<[Outcome]> {
        if let Some(known) = self.storing.get(&state) {
            return Rc::clone(known);
        }
        let count = tokens_of(self.space.sts(), self.space.state_of(state)).len();
        let number = u32::try_from(count).unwrap_or(END);
        let mut found = Vec::new();
        if let Some(input) = self.class.token_input(number, self.space) {
            let class = self.space.intern_class(OperationClass { input, output: self.class.output.clone() });
            for after in self.space.states_after(state, class) {
                let after = self.space.state_of(after).clone();
                let (state, kept) = self.canonical(after);
                found.push(Outcome { state, kept, shown: Vec::new() });
            }
        }
        found.sort();
        found.dedup();
        let found: Rc<[Outcome]> = found.into();
        self.storing.insert(state, Rc::clone(&found));
        found
    }

    /// Returns the number of the canonical form of a state, and which of its tokens those of that form are.
    fn canonical(&mut self, state: ioxide_model::concrete::ConcreteState) -> (u32, Vec<u32>) {
        let kept = tokens_of(self.space.sts(), &state);
        if kept.iter().enumerate().all(|(at, &token)| at == token as usize) {
            return (self.space.number_of(state), kept);
        }
        let numbers: FxHashMap<u32, u32> = kept.iter().copied().zip(0..).collect();
        let renamed = replace_tokens(self.space.sts(), &state, &|token, field, held| {
            token_value(held.base_sort(), numbers[&token], field).unwrap_or_else(|| held.clone())
        });
        (self.space.number_of(renamed), kept)
    }

    /// Returns whether a token that comes before an operation of this class in a state can come after it.
    fn commuting(&mut self, state: u32, class: OperationClassId) -> Commuting {
        if let Some(&known) = self.commuting.get(&(state, class)) {
            return known;
        }
        let through = |kept: &[u32], token: u32| kept[token as usize];
        let mut first = Vec::new();
        for stored in self.storing_outcomes(state).iter() {
            for after in self.outcomes_of(stored.state, class).iter() {
                let kept = after.kept.iter().map(|&token| through(&stored.kept, token)).collect();
                let shown = after.shown.iter();
                let shown = shown
                    .map(|((token, field), value)| ((through(&stored.kept, *token), *field), value.clone()));
                first.push(Outcome { state: after.state, kept, shown: shown.collect() });
            }
        }
        let count = tokens_of(self.space.sts(), self.space.state_of(state)).len();
        let new = u32::try_from(count).unwrap_or(END);
        let mut second = Vec::new();
        for after in self.outcomes_of(state, class).iter() {
            for stored in self.storing_outcomes(after.state).iter() {
                let old = |&token: &u32| after.kept.get(token as usize).copied().unwrap_or(new);
                let kept = stored.kept.iter().map(old).collect();
                second.push(Outcome { state: stored.state, kept, shown: after.shown.clone() });
            }
        }
        first.iter_mut().chain(&mut second).for_each(|outcome| outcome.shown.sort());
        let always = first.iter().all(|outcome| second.contains(outcome));
        let ever = first.iter().any(|outcome| second.contains(outcome));
        let commuting = Commuting { always: always && ever, ever };
        self.commuting.insert((state, class), commuting);
        commuting
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

    /// Returns the order of a configuration if the model allows it and it respects time.
    fn checked_order(
        &mut self,
        configuration: &TokenConfiguration,
        assigned: &[usize],
    ) -> Option<Vec<usize>> {
        let order = self.list_order(configuration, assigned);
        let mut latest = 0;
        for &at in &order {
            let SearchedOperation { call, ret, .. } = self.operations[at];
            if ret.is_some_and(|ret| ret < latest) {
                return None;
            }
            latest = latest.max(call);
        }
        self.follow(&order).map(|_| order)
    }

    /// Returns the belief after an order, if the model allows it.
    fn follow(&mut self, order: &[usize]) -> Option<BeliefId> {
        let mut belief = self.start;
        for &at in order {
            belief = self.space.step(belief, self.operations[at].class);
            if matches!(belief, BeliefId::EMPTY | BeliefId::UNSPECIFIED) {
                return None;
            }
        }
        Some(belief)
    }

    /// Returns the operations of a configuration in order, with storers for its tokens.
    fn list_order(&self, configuration: &TokenConfiguration, assigned: &[usize]) -> Vec<usize> {
        let free = configuration.free.iter().map(|token| token.serial);
        let mut storer_of: FxHashMap<u32, usize> = free.zip(assigned.iter().copied()).collect();
        let mut elements = Vec::new();
        let mut next = configuration.last.as_ref();
        while let Some(element) = next {
            match element.placed {
                PlacedElement::Binding { serial, storer } => drop(storer_of.insert(serial, storer)),
                placed => elements.push(placed),
            }
            next = element.before.as_ref();
        }
        elements.reverse();
        let mut used = vec![0; self.open.len()];
        let mut others: Vec<usize> = Vec::new();
        // The storers, each with the number of other operations in front of it.
        let mut stored: Vec<(usize, usize)> = Vec::new();
        for placed in elements {
            match placed {
                PlacedElement::Operation(operation) => others.push(operation),
                PlacedElement::Open(at) => {
                    others.push(self.open[at].calls[used[at]].1);
                    used[at] += 1;
                }
                PlacedElement::Token { serial, .. } => {
                    stored.extend(storer_of.get(&serial).map(|&storer| (storer, others.len())));
                }
                PlacedElement::Binding { .. } => (),
            }
        }
        // A token commutes with what was called after it had returned; those in front of it move with it.
        let mut limit = others.len();
        for (storer, place) in stored.iter_mut().rev() {
            let ret = self.class.storers[*storer].ret;
            let later = others.iter().position(|&at| self.operations[at].call >= ret);
            *place = later.unwrap_or(*place).min(*place).min(limit);
            limit = *place;
        }
        let mut order = Vec::with_capacity(others.len() + stored.len());
        let mut stored = stored.into_iter().peekable();
        for (at, operation) in others.iter().enumerate() {
            while let Some((storer, _)) = stored.next_if(|(_, place)| *place <= at) {
                order.push(self.class.storers[storer].operation);
            }
            order.push(*operation);
        }
        order.extend(stored.map(|(storer, _)| self.class.storers[storer].operation));
        order
    }
}

impl StorerClass {
    /// Returns the input of the storers with a token for the carried values.
    fn token_input(&self, number: u32, space: &StateSpace<'_, '_>) -> Option<Label> {
        let Label::Input(gate, values) = &self.input else { return None };
        let mut values = values.clone();
        for (field, &at) in self.fields.iter().enumerate() {
            values[at] = token_value(space.field_sort(*gate, at), number, field)?;
        }
        Some(Label::Input(*gate, values))
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

/// Returns the values that an answer shows of tokens in what the model answers; `None` if they are different answers.
fn match_labels(allowed: &Label, seen: &Label) -> Option<ShownValues> {
    match (allowed, seen) {
        (Label::Output(gate, allowed), Label::Output(other, seen)) if gate == other => {
            match_values(allowed, seen)
        }
        _ => None,
    }
}

/// Returns whether a message has values that are tokens.
fn has_tokens(label: &Label) -> bool {
    match label {
        Label::Input(_, values) | Label::Output(_, values) => values.iter().any(has_token),
        Label::Quiescence | Label::Delay(_) => false,
    }
}

/// Returns the largest class of operations that differ in carried values alone; `None` if there is none, or if values
/// of the history look like tokens.
fn find_storers(space: &mut StateSpace<'_, '_>, operations: &[SearchedOperation]) -> Option<StorerClass> {
    let carried = &space.model().carried;
    if carried.is_empty() {
        return None;
    }
    let mut classes: BTreeMap<(Label, Option<Label>), Vec<usize>> = BTreeMap::new();
    for (at, operation) in operations.iter().enumerate() {
        let OperationClass { input, output } = space.class(operation.class);
        if [Some(input), output.as_ref()].into_iter().flatten().any(has_tokens) {
            return None;
        }
        let Label::Input(gate, values) = input else { continue };
        let fields = carried.of(*gate);
        if fields.is_empty() || fields.len() > MAX_FIELDS {
            continue;
        }
        let mut values = values.clone();
        // The first of the values stands for all of them.
        fields.iter().for_each(|&field| values[field] = Value::Bool(false));
        let acknowledged = || carried.acknowledgement(*gate).map(|output| Label::Output(output, Vec::new()));
        let output = output.clone().or_else(acknowledged);
        classes.entry((Label::Input(*gate, values), output)).or_default().push(at);
    }
    let ((input, output), members) = classes.into_iter().max_by_key(|(_, members)| members.len())?;
    let Label::Input(gate, _) = &input else { return None };
    let fields = carried.of(*gate).to_vec();
    if members.len() < 2 {
        return None;
    }
    let mut storers: Vec<Storer> = Vec::new();
    for at in members {
        let SearchedOperation { class, call, ret, .. } = operations[at];
        let Label::Input(_, values) = &space.class(class).input else { continue };
        let values = fields.iter().map(|&field| values[field].clone()).collect();
        storers.push(Storer { operation: at, call, ret: ret.unwrap_or(END), values });
    }
    storers.sort_by_key(|storer| storer.call);
    Some(StorerClass { input, output, fields, storers })
}
