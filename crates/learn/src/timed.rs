//! Learning a system with time-outs: what comes without an input, and after how long.
//!
//! Beside its inputs the system is given `wait`: nothing, for as long as it takes until something comes. What comes
//! then is an answer like any other, with its delay; delays that differ by no more than the tolerance are the same. So
//! a system with a timer is a machine, as in \[VEB23]. Afterwards every move that leads from one state with a running
//! timer to another is made once more when half of the delay is over: what is left then says whether the move starts
//! the timer again.

mod machine;
mod text;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Duration;

use ioxide_fsm::mealy::{InputId, Mealy, StateId};
use ioxide_fsm::word::Word;
use ioxide_model::counted::count_noun;
use ioxide_model::index::Idx;
use thiserror::Error;

use self::machine::TimedMachine;
pub use self::machine::{TimedAnswer, TimedAnswers, TimedError, TimedSettings, TimedSystem};
use crate::drawing::{draw_machine, show_surprise};
use crate::messages::Messages;
use crate::observer::{LearnError, LearningEffort, SystemObserver};
use crate::oracle::{HypothesisTest, LearnedGuarantee, LearnedMachine, learn};
use crate::session::{MAX_VOTES, MajorityVote, describe_votes, hold_vote, show_two_runs, watch_machine};
use crate::watch::{LearningEvent, LearningWatcher, ReportedOnce};

/// A system with time-outs that is learned.
pub struct TimedSession<'s, E> {
    /// The system.
    pub system: &'s mut dyn TimedSystem<Error = E>,
    /// Watches the progress.
    pub watcher: &'s mut dyn LearningWatcher,
    /// The messages behind names, and the outputs before the first input.
    pub messages: &'s Messages,
    /// The times.
    pub settings: TimedSettings,
    /// The suites and walks that test hypotheses.
    pub test: HypothesisTest,
    /// The vote on answers that contradict each other; `None` if they end the session.
    pub vote: Option<MajorityVote>,
}

/// The reason why no machine with time-outs is learned.
#[derive(Clone, Debug, Error)]
pub enum TimedSessionError<E> {
    /// The system cannot be asked.
    #[error(transparent)]
    System(TimedError<E>),
    /// The same inputs are answered in two ways.
    #[error("the system gives two different replies to the same inputs\n{0}")]
    TwoWays(String),
}

/// A machine with time-outs that was learned.
#[derive(Debug)]
pub struct TimedResult {
    /// The machine; its last input is to wait.
    pub learned: LearnedMachine,
    /// The answers.
    pub seen: TimedAnswers,
    /// The times under which it was learned.
    pub settings: TimedSettings,
    /// The effort.
    pub effort: LearningEffort,
    /// The moves that start a timer.
    starts: TimerStarts,
    /// The confidence of each vote, between 0 and 1.
    votes: Vec<f64>,
}

impl<E> TimedSession<'_, E> {
    /// Learns which answers come without an input, and after how long.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn learn_timeouts(self) -> Result<TimedResult, TimedSessionError<E>> {
        let Self { system, watcher, messages, settings, test, vote } = self;
        let n_inputs = messages.inputs.len();
        let machine = TimedMachine::new(messages, system, settings);
        watcher.notify(LearningEvent::Begun { inputs: n_inputs, most_extra: test.extra.unwrap_or(0) });
        // One more input than there are messages: the last one is to wait.
        let mut observer = SystemObserver::new(machine, n_inputs + 1, Vec::new());
        let mut votes = Vec::new();
        let learned = learn_until_consistent(&mut observer, &test, watcher, vote, &mut votes)?;
        watcher.notify(LearningEvent::FindsTimers);
        if watcher.wants_details() {
            let names = &observer.live.seen.names;
            let drawing = draw_machine(learned.hypotheses, &learned.machine, names);
            watcher.notify(LearningEvent::Drawn(drawing));
            watcher.notify(LearningEvent::Guaranteed(describe_guarantee(settings, learned.guarantee)));
        }
        // The machine is final, so the timers do not change what was learned; they only say how to draw it with
        // clocks.
        let starts = TimerStarts::find_timers(&learned.machine, &mut observer, vote.is_some())
            .map_err(TimedSessionError::System)?;
        let SystemObserver { live, effort, .. } = observer;
        Ok(TimedResult { learned, seen: live.seen, settings, effort, starts, votes })
    }
}

/// Learns the machine; starts again with what is known after each contradiction that was voted on.
fn learn_until_consistent<E>(
    observer: &mut SystemObserver<TimedMachine<'_, E>>,
    test: &HypothesisTest,
    watcher: &mut dyn LearningWatcher,
    vote: Option<MajorityVote>,
    votes: &mut Vec<f64>,
) -> Result<LearnedMachine, TimedSessionError<E>> {
    let mut number = 0;
    loop {
        let found = match learn_watched(observer, test, watcher, &mut number) {
            Ok(learned) => return Ok(LearnedMachine { hypotheses: number, ..learned }),
            Err(LearnError::System(error)) => return Err(TimedSessionError::System(error)),
            Err(LearnError::Disagrees(found)) => found,
        };
        let runs = show_two_runs(&observer.live.seen.names, &found);
        let Some(vote) = vote.filter(|_| votes.len() < MAX_VOTES) else {
            return Err(TimedSessionError::TwoWays(runs));
        };
        watcher.notify(LearningEvent::Contradicted(TimedSessionError::<E>::TwoWays(runs).to_string()));
        let usual = hold_vote(observer, &found, vote).map_err(TimedSessionError::System)?;
        votes.push(usual.confidence());
        let names = &observer.live.seen.names;
        watcher.notify(LearningEvent::Noted(usual.note(names)));
        let memory = usual.memory_after(observer);
        observer.restart(memory);
    }
}

/// Learns the machine, and reports every stage to `watcher`.
fn learn_watched<E>(
    observer: &mut SystemObserver<TimedMachine<'_, E>>,
    test: &HypothesisTest,
    watcher: &mut dyn LearningWatcher,
    number: &mut usize,
) -> Result<LearnedMachine, LearnError<TimedError<E>>> {
    let settings = observer.live.settings;
    let mut told = ReportedOnce::new();
    learn(observer, test, &mut |stage, learner, observer| {
        let names = &observer.live.seen.names;
        let describe = |guarantee| describe_guarantee(settings, guarantee);
        watch_machine(watcher, number, stage, observer.effort, describe);
        let number = *number;
        told.tell(watcher, number, learner.last_surprise(), |found| show_surprise(found, names));
        if watcher.wants_drawing(number) {
            let drawing = draw_machine(number, &learner.machine(&observer.tree), names);
            watcher.notify(LearningEvent::Drawn(drawing));
        }
        if watcher.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// The moves that start the timer of the state they lead to.
#[derive(Clone, Debug, Default)]
struct TimerStarts {
    /// For each state and each input in turn, true if the move starts the timer.
    moves: Vec<bool>,
    /// The number of moves whose measured delay fits neither a new timer nor the old one, or both.
    unclear: usize,
}

impl TimerStarts {
    /// Finds out for every move whether it starts the timer of the state it leads to.
    fn find_timers<E>(
        machine: &Mealy,
        observer: &mut SystemObserver<TimedMachine<'_, E>>,
        is_repeated: bool,
    ) -> Result<Self, TimedError<E>> {
        let wait = InputId::new(machine.n_inputs() - 1);
        let ways = find_access_words(machine);
        let mut starts = Self::default();
        for state in machine.states() {
            for input in machine.inputs() {
                // The delay after which something comes if the state was entered just now; `None` if nothing comes.
                let due = |state: StateId| {
                    let edge = machine.edge(state, wait)?;
                    observer.live.seen.delay(edge.output)
                };
                let next = machine.edge(state, input).map(|edge| edge.next);
                let does = match (due(state), next.and_then(due)) {
                    (Some(before), Some(after)) if input != wait => {
                        let way = &ways[state.index()];
                        starts.decide_move(observer, way, input, (before, after), is_repeated)?
                    }
                    // Without a timer before the move there is none to go on; after a wait it has run out.
                    (_, after) => after.is_some(),
                };
                starts.moves.push(does);
            }
        }
        debug_assert_eq!(
            starts.moves.len(),
            machine.n_states() * machine.n_inputs(),
            "one entry for every move"
        );
        Ok(starts)
    }

    /// Returns whether a move starts the timer of the state it leads to: what one measurement says or, where late
    /// messages are expected, two of three.
    fn decide_move<E>(
        &mut self,
        observer: &mut SystemObserver<TimedMachine<'_, E>>,
        way: &[InputId],
        input: InputId,
        delays: (Duration, Duration),
        is_repeated: bool,
    ) -> Result<bool, TimedError<E>> {
        let mut found = measure_move(observer, way, input, delays)?;
        if is_repeated {
            let again = measure_move(observer, way, input, delays)?;
            if again != found {
                let third = measure_move(observer, way, input, delays)?;
                // Three measurements of which no two agree decide nothing.
                found = if third == found || third == again { third } else { None };
            }
        }
        // Where the measurement does not decide, the move counts as one that starts the timer; `unclear` says how
        // often.
        self.unclear += usize::from(found.is_none());
        Ok(found.unwrap_or(true))
    }
}

/// Makes a move when half of the delay `before` it is over; returns whether the whole delay `after` it is left
/// then; `None` if that fits neither a new timer nor the old one, or both.
fn measure_move<E>(
    observer: &mut SystemObserver<TimedMachine<'_, E>>,
    way: &[InputId],
    input: InputId,
    (before, after): (Duration, Duration),
) -> Result<Option<bool>, TimedError<E>> {
    // At half of the delay both answers are as far apart as they can be: a new timer has all of `after` left,
    // an old one half less.
    let half = before / 2;
    // The way, the move, and the wait behind it.
    observer.effort = observer.effort.plus(LearningEffort { resets: 1, symbols: way.len() as u64 + 2 });
    let left = observer.live.measure_delay(way, half, input)?;
    let tolerance = observer.live.settings.tolerance;
    let is_about = |due: Duration| left.is_some_and(|left| left.abs_diff(due) <= tolerance);
    let (is_new, is_old) = (is_about(after), is_about(after.saturating_sub(half)));
    Ok((is_new != is_old).then_some(is_new))
}

/// Returns a shortest word to every state.
fn find_access_words(machine: &Mealy) -> Vec<Word> {
    let mut ways: Vec<Option<Word>> = vec![None; machine.n_states()];
    ways[machine.initial().index()] = Some(Word::new());
    // Broadest first, so the first word that reaches a state is a shortest one.
    let mut queue = VecDeque::from([machine.initial()]);
    while let Some(state) = queue.pop_front() {
        let way = ways[state.index()].clone().unwrap_or_default();
        for input in machine.inputs() {
            let Some(edge) = machine.edge(state, input) else { continue };
            if ways[edge.next.index()].is_none() {
                ways[edge.next.index()] = Some([&way[..], &[input]].concat());
                queue.push_back(edge.next);
            }
        }
    }
    ways.into_iter().map(Option::unwrap_or_default).collect()
}

/// Returns the guarantee in words, as far as it holds for a system with time.
fn describe_guarantee(settings: TimedSettings, guarantee: LearnedGuarantee) -> String {
    let (wait, words) = (settings.wait.as_millis(), guarantee.description());
    format!("judging by inputs sent at once and waits of {wait} ms: {words}")
}

impl TimedResult {
    /// Returns the guarantee in words.
    #[must_use]
    pub fn guarantee(&self) -> String {
        describe_guarantee(self.settings, self.learned.guarantee)
    }

    /// Returns the number of moves of which it is not clear whether they start the timer again.
    #[must_use]
    pub fn n_unclear(&self) -> usize {
        self.starts.unclear
    }

    /// Returns the origin of the machine, one sentence for each fact.
    #[must_use]
    pub fn facts(&self) -> Vec<String> {
        let LearningEffort { resets, symbols } = self.effort;
        // The last input is to wait.
        let inputs = self.seen.names.inputs.len().saturating_sub(1);
        let mut facts = vec![
            format!(
                "{} with {}: {}, {}, {}",
                count_noun(self.learned.machine.n_states() as u64, "state"),
                count_noun(inputs as u64, "input"),
                count_noun(self.learned.hypotheses, "hypothesis"),
                count_noun(resets, "reset"),
                count_noun(symbols, "message"),
            ),
            format!(
                "{}, each {} ms more or less",
                count_noun(self.seen.timeout_names().len() as u64, "time-out"),
                self.settings.tolerance.as_millis()
            ),
            self.guarantee(),
        ];
        if self.n_unclear() > 0 {
            facts.push(format!(
                "unclear whether the timer restarts: {}",
                count_noun(self.n_unclear() as u64, "move")
            ));
        }
        if self.learned.is_stopped {
            facts.push("stopped before everything was tested".into());
        }
        facts.extend(describe_votes(&self.votes));
        facts
    }
}
