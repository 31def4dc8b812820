//! Learning a system with time-outs: what comes without an input, and after how long.
//!
//! Beside its inputs the system is given `wait`: nothing, for as long as it takes until something comes. What comes then
//! is an answer like any other, with its delay; delays that differ by no more than the tolerance are the same. So a
//! system with a timer is a machine, as in [VEB23]. Afterwards every move that leads from one state with a running
//! timer to another is made once more when half of the delay is over: what is left then says whether the move starts
//! the timer anew.

mod live;
mod text;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use ioxide_explorer::learning::LearningPhase;
use ioxide_fsm::mealy::{InputId, Mealy, OutputId, StateId};
use ioxide_fsm::word::{IoWord, Word};
use ioxide_learn::observer::{LearnError, LearningEffort, SystemObserver};
use ioxide_learn::oracle::{HypothesisTest, LearnedGuarantee, LearnedMachine, learn};
use ioxide_model::index::Idx;
use ioxide_model::sts::Model;
use ioxide_runner::adapter::ClockKind;
use serde_json::json;

use self::live::TimedLive;
use self::text::TimedText;
use super::line::LearningLine;
use super::origin::MachineOrigin;
use super::page::LearningViewer;
use super::{DEFAULT_EXTRA_STATES, DEFAULT_TIME_LIMIT, alphabet, drawing, learning_error, suites};
use crate::args::{DraftFormat, LearnArgs, UnstableArg};
use crate::commands::fsm::live::{LiveSystem, LiveTestError};
use crate::counted::count_noun;
use crate::exit::{self, CliError, ExitStatus};
use crate::machine::Messages;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{limit, machine, seed};

/// The part of the tolerance that must pass without an output for an answer to be complete.
const SILENCE_DIVISOR: u32 = 20;

/// Learns time-outs.
pub fn run(
    args: &LearnArgs,
    sut: &str,
    mut model: Model,
    viewer: &LearningViewer,
) -> Result<ExitStatus, CliError> {
    refuse(args)?;
    let suites = suites(&args.suite)?;
    let halt = &limit::halt_within(&args.limit, DEFAULT_TIME_LIMIT);
    let inputs = alphabet::choose_inputs(args, &model)?;
    let system = SystemUnderTest::from_name(sut, args.model.spec_source())?;
    machine::know_outputs(&mut model, &system);
    let seed = args.seed.unwrap_or_else(seed::fresh_seed);
    let tolerance = Duration::from_millis(args.tolerance_ms);
    let settle = args.quiescence_ms.map_or(tolerance / SILENCE_DIVISOR, Duration::from_millis);
    let examination = HypothesisTest {
        suites,
        extra: Some(args.extra.unwrap_or(DEFAULT_EXTRA_STATES)),
        walks: args.walks,
        walk_length: args.walk_length,
        seed,
    };
    let mut messages = Messages { model, inputs, preamble: Vec::new() };
    let request = SolverRequest::new(&args.solver, halt.clone());
    let opener = SystemOpener::new(&system, Arc::new(messages.model.clone()), request).on(ClockKind::Offered);
    opener.open(0, seed, |adapter| {
        if !adapter.has_virtual_time() {
            messages.preamble =
                LiveSystem::greeting(adapter, args.greeting(settle), halt).map_err(learning_error)?;
        }
        let labels = messages.inputs.values().cloned().collect();
        let names = messages.inputs.keys().cloned();
        let wait = Duration::from_millis(args.wait_ms);
        let mut live =
            TimedLive::new(&messages, adapter, labels, names, halt).with_times(wait, tolerance, settle);
        live.meter = viewer.meter();
        viewer.begins(messages.inputs.len(), examination.extra.unwrap_or(0));
        let mut observer = SystemObserver::new(live, messages.inputs.len() + 1, Vec::new());
        let (mut watching, mut told) = (LearningLine::new(viewer), None);
        let learned = learn(&mut observer, &examination, &mut |stage, learner, observer| {
            watching.stage(stage, observer.effort, |guarantee| promise(args, guarantee));
            let names = &observer.live.names;
            if viewer.is_there() && learner.last_surprise() != told.as_ref() {
                told = learner.last_surprise().cloned();
                told.iter().for_each(|found| watching.surprise(|| drawing::surprise(found, names)));
            }
            watching.draw(|number| drawing::of_machine(number, &learner.machine(&observer.tree), names));
            if halt.halt_reason().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let learned = learned.map_err(|error| broken(error, &observer))?;
        viewer.phase(LearningPhase::Timers);
        let names = &observer.live.names;
        viewer.draw(|| drawing::of_machine(learned.hypotheses, &learned.machine, names));
        viewer.guarantee(|| promise(args, learned.guarantee));
        let starts = starts(&learned.machine, &mut observer).map_err(learning_error)?;
        let told = show_learned(args, sut, &learned, &observer, (seed, starts.unclear), &messages);
        let text = TimedText {
            machine: &learned.machine,
            live: &observer.live,
            messages: &messages,
            starts: &starts.moves,
        };
        let shown = super::write_model(args, &text.write_model(args, &told)?, &told, viewer)?;
        let partial = || limit::status(halt, ExitStatus::Inconclusive);
        exit::status_after_output(if learned.is_stopped { partial() } else { ExitStatus::Success }, shown)
    })
}

fn refuse(args: &LearnArgs) -> Result<(), CliError> {
    let not = |what: &str| Err(CliError::usage(format!("`--time` does not go with {what} yet")));
    match () {
        () if args.unstable != UnstableArg::Stop => not("`--unstable`"),
        () if args.jobs > 1 => not("`--jobs`"),
        () if !args.closed.is_empty() => not("`--closed`"),
        () if args.format == DraftFormat::Dot => not("`--format dot`: a machine has no clocks"),
        () => Ok(()),
    }
}

fn broken(error: LearnError<LiveTestError>, observer: &SystemObserver<TimedLive<'_>>) -> CliError {
    let found = match error {
        LearnError::System(trouble) => return learning_error(trouble),
        LearnError::Disagrees(found) => found,
    };
    let names = &observer.live.names;
    let show = |run: &IoWord| {
        let step = |&(input, output): &(_, _)| format!("{}/{}", names.inputs[input], names.outputs[output]);
        run.iter().map(step).collect::<Vec<_>>().join(" ")
    };
    let message = format!(
        "the system answers the same inputs in two ways\n  earlier: {}\n  now:     {}",
        show(&found.before),
        show(&found.now)
    );
    CliError::new(ExitStatus::Inconclusive, message).help(
        "do delays vary by more than `--tolerance-ms`? do answers take longer than a twentieth of it, or than \
         `--quiescence-ms`? does a reset stop all timers?",
    )
}

/// The moves that start the timer of the state they lead to.
struct TimerStarts {
    /// For each state and each input in turn, true if the move starts the timer.
    moves: Vec<bool>,
    /// The number of moves whose measured delay fits neither a new timer nor the old one, or both.
    unclear: usize,
}

/// Finds out for every move whether it starts the timer of the state it leads to.
fn starts(
    machine: &Mealy,
    observer: &mut SystemObserver<TimedLive<'_>>,
) -> Result<TimerStarts, LiveTestError> {
    let wait = InputId::new(machine.n_inputs() - 1);
    let ways = access(machine);
    let mut starts = TimerStarts { moves: Vec::new(), unclear: 0 };
    for state in machine.states() {
        for input in machine.inputs() {
            let due = |state: StateId| {
                let edge = machine.edge(state, wait)?;
                observer.live.delay(edge.output)
            };
            let next = machine.edge(state, input).map(|edge| edge.next);
            let (before, after) = (due(state), next.and_then(due));
            let does = match (before, after) {
                (Some(before), Some(after)) if input != wait => {
                    starts.measure(observer, &ways[state.index()], input, (before, after))?
                }
                (_, after) => after.is_some(),
            };
            starts.moves.push(does);
        }
    }
    Ok(starts)
}

impl TimerStarts {
    /// Makes a move when half of the delay `before` it is over; returns whether the whole delay `after` it is left
    /// then.
    fn measure(
        &mut self,
        observer: &mut SystemObserver<TimedLive<'_>>,
        way: &[InputId],
        input: InputId,
        (before, after): (Duration, Duration),
    ) -> Result<bool, LiveTestError> {
        let half = before / 2;
        observer.effort = observer.effort.plus(LearningEffort { resets: 1, symbols: way.len() as u64 + 2 });
        let left = observer.live.delay_until_output(way, half, input)?;
        let is_about = |due: Duration| left.is_some_and(|left| left.abs_diff(due) <= observer.live.tolerance);
        let (is_new, is_old) = (is_about(after), is_about(after.saturating_sub(half)));
        self.unclear += usize::from(is_new == is_old);
        Ok(is_new || !is_old)
    }
}

/// A shortest word to every state.
fn access(machine: &Mealy) -> Vec<Word> {
    let mut ways: Vec<Option<Word>> = vec![None; machine.n_states()];
    ways[machine.initial().index()] = Some(Word::new());
    let mut queue = std::collections::VecDeque::from([machine.initial()]);
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
fn promise(args: &LearnArgs, guarantee: LearnedGuarantee) -> String {
    let words = guarantee.description();
    format!("as far as inputs that come at once and waits of {} ms show: {words}", args.wait_ms)
}

fn show_learned(
    args: &LearnArgs,
    sut: &str,
    learned: &LearnedMachine,
    observer: &SystemObserver<TimedLive<'_>>,
    (seed, unclear): (u64, usize),
    messages: &Messages,
) -> MachineOrigin {
    let LearningEffort { resets, symbols } = observer.effort;
    let delays = (0..observer.live.names.outputs.len()).map(OutputId::new);
    let delays =
        delays.filter_map(|output| observer.live.delay(output).map(|_| &observer.live.names.outputs[output]));
    let delays: Vec<&String> = delays.collect();
    let guarantee = promise(args, learned.guarantee);
    let mut facts = vec![
        format!(
            "{} with {}: {}, {}, {}",
            count_noun(learned.machine.n_states() as u64, "state"),
            count_noun(messages.inputs.len() as u64, "input"),
            count_noun(learned.hypotheses, "hypothesis"),
            count_noun(resets, "reset"),
            count_noun(symbols, "message"),
        ),
        format!(
            "{}, each {} ms more or less",
            count_noun(delays.len() as u64, "time-out"),
            args.tolerance_ms
        ),
        guarantee.clone(),
    ];
    if unclear > 0 {
        facts.push(format!(
            "whether the timer starts anew is not clear for {}",
            count_noun(unclear as u64, "move")
        ));
    }
    if learned.is_stopped {
        facts.push("stopped before everything was tested".into());
    }
    let json = json!({
        "version": 1, "sut": sut, "seed": seed, "states": learned.machine.n_states(),
        "inputs": messages.inputs.keys().collect::<Vec<_>>(), "timeouts": delays, "tolerance_ms": args.tolerance_ms,
        "unclear": unclear,
        "hypotheses": learned.hypotheses, "resets": resets, "symbols": symbols, "guarantee": guarantee,
        "stopped": learned.is_stopped,
    });
    MachineOrigin::from_facts(sut, seed, facts, json)
}
