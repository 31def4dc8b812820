//! One run: the bursts of all clients, their faults, and the verdict.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ioxide_history::{
    Consistency, History, HistoryBuilder, HistoryConfig, HistoryError, HistoryVerdict, LiveHistory,
    LiveVerdict, StateSpace, judge_history,
};
use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_wire::adapter::AdapterError;

use super::client::{CallResult, ClientCall, ClientPool, ClientReport, ProcessNames};
use super::faults::FaultInjector;
use super::workload::{MAX_STATES, PlannedBurst, RunWorkload, Workload};
use super::{ConcurrentConfig, ConcurrentSetup, FailureCause, InconclusiveCause, is_over};

/// The time between the plan of a burst and its begin, so that all clients are awake by then. Chosen by feel.
const START_DELAY: Duration = Duration::from_micros(200);

/// The longest wait for a client before the flag to stop is looked at. Chosen by feel.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The origin of the bursts of a run.
pub(super) enum BurstSource<'p> {
    /// They are drawn.
    Drawn { seed: u64 },
    /// They are those of an earlier run.
    Repeated(&'p [PlannedBurst]),
}

/// A run that has ended.
pub(super) struct ClientRound {
    pub(super) verdict: RoundVerdict,
    pub(super) history: History,
    /// The bursts, so that the run can be repeated.
    pub(super) plan: Vec<PlannedBurst>,
}

/// The end of a run.
pub(super) enum RoundVerdict {
    Passed,
    Failed(FailureCause),
    Unknown(InconclusiveCause),
    Trouble(AdapterError),
}

/// The reason why a run ends before its operations are used up.
enum RoundEnd {
    /// There is no order: the core is still to be found.
    Inconsistent,
    /// Nothing from here on can be wrong.
    Unspecified,
    Failed(Box<FailureCause>),
    Trouble(AdapterError),
    /// The user or the time ended it.
    Stopped,
}

impl From<AdapterError> for RoundEnd {
    fn from(error: AdapterError) -> Self {
        Self::Trouble(error)
    }
}

impl From<HistoryError> for RoundEnd {
    fn from(error: HistoryError) -> Self {
        Self::Trouble(AdapterError::Broken(error.to_string()))
    }
}

/// Does one run.
pub(super) fn run_round(
    setup: &mut ConcurrentSetup<'_, '_>,
    config: &ConcurrentConfig,
    pool: &mut ClientPool,
    workload: &mut Workload,
    source: BurstSource<'_>,
    deadline: Option<Instant>,
) -> ClientRound {
    let trouble = |error| ClientRound {
        verdict: RoundVerdict::Trouble(error),
        history: History::default(),
        plan: Vec::new(),
    };
    if let Err(error) = setup.control.reset().and_then(|()| pool.connect()) {
        return trouble(error);
    }
    let start = Instant::now();
    let mut builder = HistoryBuilder::default();
    let (end, plan) = {
        let mut recorder = RoundRecorder {
            live: LiveHistory::new(StateSpace::new(setup.cx, setup.model)),
            builder: &mut builder,
            names: ProcessNames::new(config.clients),
            config,
            start,
            has_faults: !config.faults.is_empty(),
        };
        let mut injector = FaultInjector::new(setup.control, start);
        let mut plan = Vec::new();
        let mut run =
            RoundRun { recorder: &mut recorder, injector: &mut injector, pool, deadline, stop: setup.stop };
        let end = match source {
            BurstSource::Drawn { seed } => run.draw_bursts(workload.begin(seed), &mut plan),
            BurstSource::Repeated(bursts) => bursts.iter().try_for_each(|burst| run.do_burst(burst, None)),
        };
        // Faults end before the verdict, and even if the run was broken off: the next run begins with a sound
        // system.
        let ended = injector.finish();
        for fault in injector.take_done() {
            builder.add_fault(fault);
        }
        (end.and(ended.map_err(RoundEnd::from)), plan)
    };
    let history = builder.finish();
    let verdict = judge_round(setup, config, &history, end);
    ClientRound { verdict, history, plan }
}

/// Returns the verdict on a run that ended like this.
fn judge_round(
    setup: &mut ConcurrentSetup<'_, '_>,
    config: &ConcurrentConfig,
    history: &History,
    end: Result<(), RoundEnd>,
) -> RoundVerdict {
    match end {
        Err(RoundEnd::Trouble(error)) => return RoundVerdict::Trouble(error),
        Err(RoundEnd::Failed(cause)) => return RoundVerdict::Failed(*cause),
        // The model allows everything from here on.
        Err(RoundEnd::Unspecified) => return RoundVerdict::Passed,
        // Judged once more as a whole: live judging finds no core, and nothing at all where sequential consistency
        // is asked.
        Ok(()) | Err(RoundEnd::Inconsistent | RoundEnd::Stopped) => (),
    }
    if history.operations.iter().all(|operation| operation.answer.is_none()) {
        return RoundVerdict::Unknown(InconclusiveCause::NoAnswer);
    }
    let settings =
        HistoryConfig { consistency: config.consistency, limits: config.limits.clone(), skips_core: false };
    let judged = judge_history(setup.cx, setup.model, history, &settings);
    match &judged.verdict {
        HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_) => RoundVerdict::Passed,
        HistoryVerdict::Inconsistent(_) => RoundVerdict::Failed(FailureCause::Inconsistent(Box::new(judged))),
        HistoryVerdict::Unknown(cause) => RoundVerdict::Unknown(InconclusiveCause::Search(*cause)),
    }
}

/// A run that is going on.
struct RoundRun<'r, 'b, 'c, 'm, 'f> {
    recorder: &'r mut RoundRecorder<'b, 'c, 'm>,
    injector: &'r mut FaultInjector<'f>,
    pool: &'r mut ClientPool,
    deadline: Option<Instant>,
    stop: &'r std::sync::atomic::AtomicBool,
}

impl RoundRun<'_, '_, '_, '_, '_> {
    /// Draws bursts and does them until the operations or the time are used up.
    fn draw_bursts(
        &mut self,
        mut choices: RunWorkload<'_>,
        plan: &mut Vec<PlannedBurst>,
    ) -> Result<(), RoundEnd> {
        let config = self.recorder.config;
        let clients = self.pool.len();
        let mut planned = 0;
        while planned < config.operations {
            self.check_stop()?;
            let left = config.operations - planned;
            let live = &mut self.recorder.live;
            let states: Vec<ConcreteState> = live.states().take(MAX_STATES).cloned().collect();
            let burst = choices.plan_burst(live.cx(), &states, clients, left, &config.faults);
            let size: usize = burst.inputs.iter().map(Vec::len).sum();
            if size == 0 {
                // The model accepts nothing that could be sent.
                break;
            }
            planned += size;
            plan.push(burst.clone());
            self.do_burst(&burst, Some(&mut choices))?;
        }
        self.check_stop()?;
        let last = choices.plan_last_look(self.recorder.live.cx().pool, clients);
        plan.push(last.clone());
        self.do_burst(&last, None)
    }

    fn check_stop(&self) -> Result<(), RoundEnd> {
        if self.stop.load(Ordering::Relaxed) || is_over(self.deadline) {
            Err(RoundEnd::Stopped)
        } else {
            Ok(())
        }
    }

    /// Does a burst, and judges it.
    fn do_burst(
        &mut self,
        burst: &PlannedBurst,
        choices: Option<&mut RunWorkload<'_>>,
    ) -> Result<(), RoundEnd> {
        let start = Instant::now() + START_DELAY;
        self.pool.begin_burst(&burst.inputs, start);
        self.injector.plan_fault(burst.fault.as_ref(), start);
        let mut calls: Vec<ClientCall> = Vec::new();
        let mut done = 0;
        // An error must not leave clients at work, so the burst is always waited for.
        let mut trouble = Ok(());
        while done < self.pool.len() {
            let now = Instant::now();
            trouble = trouble.and(self.injector.act(now));
            let next = self.injector.next_instant();
            let wait = next.map_or(POLL_INTERVAL, |at| at.saturating_duration_since(Instant::now()));
            match self.pool.next_report(wait.min(POLL_INTERVAL))? {
                Some(ClientReport::Operation(call)) => calls.push(call),
                Some(ClientReport::BurstDone) => done += 1,
                Some(ClientReport::Connected(_)) | None => (),
            }
        }
        trouble?;
        if let Some(choices) = choices {
            for call in &calls {
                if let CallResult::Answered(answer) = &call.result {
                    choices.note_answer(answer);
                }
            }
        }
        let answered = calls.iter().filter(|call| matches!(call.result, CallResult::Answered(_))).count();
        // A system that ended is found by answers that are missing; with faults that is what they are for.
        let has_lost = answered < burst.inputs.iter().map(Vec::len).sum();
        self.recorder.add_burst(calls)?;
        if has_lost
            && !self.recorder.has_faults
            && let Some(how) = self.injector.find_end()
        {
            return Err(RoundEnd::Failed(Box::new(FailureCause::Ended(how))));
        }
        Ok(())
    }
}

/// The history of a run as it grows, and its judgement at cuts.
struct RoundRecorder<'b, 'c, 'm> {
    live: LiveHistory<'c, 'm>,
    builder: &'b mut HistoryBuilder,
    names: ProcessNames,
    config: &'b ConcurrentConfig,
    start: Instant,
    has_faults: bool,
}

impl RoundRecorder<'_, '_, '_> {
    /// Adds the operations of a burst in the order of their calls and returns.
    fn add_burst(&mut self, calls: Vec<ClientCall>) -> Result<(), RoundEnd> {
        let mut events: Vec<(Instant, bool, usize)> = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            match &call.result {
                CallResult::Answered(_) => {
                    events.push((call.called, false, at));
                    events.push((call.ended, true, at));
                }
                CallResult::Open => events.push((call.called, false, at)),
                CallResult::Misbehaved(_) if self.has_faults => events.push((call.called, false, at)),
                CallResult::Unasked(_) | CallResult::Misbehaved(_) | CallResult::Trouble(_) => (),
            }
        }
        // At the same instant a call comes first: the operations overlap, which allows more orders.
        events.sort_by_key(|&(at, is_return, _)| (at, is_return));
        // A client with an open operation gets a new name after it, and an operation after it may be in this burst.
        for (_, is_return, at) in events {
            self.add_event(&calls[at], is_return)?;
        }
        calls.into_iter().try_for_each(|call| self.check_conduct(call))
    }

    fn add_event(&mut self, call: &ClientCall, is_return: bool) -> Result<(), RoundEnd> {
        let name = self.names.client_name(call.client);
        let process = u32::try_from(self.names.process(call.client)).unwrap_or(u32::MAX);
        let ns = |at: Instant| {
            u64::try_from(at.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX)
        };
        if is_return {
            let CallResult::Answered(output) = &call.result else { return Ok(()) };
            self.builder.answer(&name, output.clone(), Some(ns(call.ended)))?;
            return self.judge_answer(process, output.clone());
        }
        self.builder.call(&name, call.input.clone(), Some(ns(call.called)))?;
        if self.is_live() {
            self.live.call(process, call.input.clone())?;
        }
        if !matches!(call.result, CallResult::Answered(_)) {
            self.builder.leave_open(&name)?;
            if self.is_live() {
                self.live.leave_open(process)?;
            }
            self.names.renew(call.client);
        }
        Ok(())
    }

    /// Returns whether bursts are judged as they end; else the run is judged when it is over.
    fn is_live(&self) -> bool {
        self.config.consistency == Consistency::Linearizable
    }

    fn judge_answer(&mut self, process: u32, output: Label) -> Result<(), RoundEnd> {
        if !self.is_live() {
            return Ok(());
        }
        match self.live.answer(process, output, &self.config.limits)? {
            LiveVerdict::Inconsistent => Err(RoundEnd::Inconsistent),
            LiveVerdict::Unspecified => Err(RoundEnd::Unspecified),
            LiveVerdict::Settled | LiveVerdict::Pending | LiveVerdict::Unknown(_) => Ok(()),
        }
    }

    /// Ends the run if a client met something that no order can explain.
    fn check_conduct(&self, call: ClientCall) -> Result<(), RoundEnd> {
        let client = self.names.client_name(call.client).to_string();
        match call.result {
            CallResult::Answered(_) | CallResult::Open => Ok(()),
            CallResult::Unasked(output) => {
                Err(RoundEnd::Failed(Box::new(FailureCause::Unasked { client, output })))
            }
            // What a killed or cut-off system says is not its fault; the operation is open.
            CallResult::Misbehaved(_) if self.has_faults => Ok(()),
            CallResult::Misbehaved(error) => {
                Err(RoundEnd::Failed(Box::new(FailureCause::Misbehaved { client, error })))
            }
            CallResult::Trouble(error) => Err(RoundEnd::Trouble(error)),
        }
    }
}
