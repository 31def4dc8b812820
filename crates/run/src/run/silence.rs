//! Silence: confirmed before the system is blamed for it, and retracted if it was declared too early.
//!
//! Quiescence is a time-out (\[BT19], \[FTW05]), and no time-out fits a machine that is busy. So silence that the
//! specification forbids becomes a failure only after the run has listened on for
//! [`RunConfig::confirm`](super::RunConfig::confirm) times as long, and for as long as a first reply may take where
//! none has come; and a message that is forbidden only because silence was seen shortly before it shows that the
//! silence was none. Both raise the quiescence time of the campaign.
//!
//! *Promises.* What the specification allows without the silence taken back is not a failure. Nothing is taken
//! back from systems whose silence is known.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_record::event::{EventKind, PatienceRecord};
use ioxide_symex::{Arrival, Forbidden, Monitor};
use ioxide_testgen::tester::TesterStop;
use ioxide_wire::adapter::{ArrivedOutput, Observation};

use super::{LoopEnd, LoopStep, RunLoop};

/// Silences that a late message may still take back.
#[derive(Clone, Debug, Default)]
pub(super) struct Silences(Vec<CalledSilence>);

#[derive(Clone, Debug)]
struct CalledSilence {
    /// The monitor before the silence.
    before: Monitor,
    /// The inputs given and the messages seen since.
    since: Vec<AfterSilence>,
    /// The instant at which the run began to wait; for silence after silence, that of the first.
    from: Instant,
    /// The instant up to which a message may show that there was no silence, on an idle machine.
    until: Instant,
    /// The lag of this machine in the run before it was called.
    lag: Duration,
    /// True if the system was cold: it had said nothing since it was started or connected to.
    is_cold: bool,
    patience: Duration,
    /// Its position in the trace.
    at: usize,
}

/// A message given or seen after a silence.
#[derive(Clone, Debug)]
enum AfterSilence {
    Given(Label, u32),
    Seen(Label, Arrival),
}

impl CalledSilence {
    /// Returns whether a message at `now`, when the lag of the run is `lag`, may show that there was no silence.
    fn is_open(&self, now: Instant, lag: Duration) -> bool {
        // Only the lag since the silence was called extends its time; what was before it is in it already.
        let late = lag.saturating_sub(self.lag);
        self.until.checked_add(late).is_none_or(|until| until >= now)
    }
}

impl Silences {
    /// Notes that an input was given after them.
    pub(super) fn record_input(&mut self, label: &Label, lane: u32) {
        self.0.iter_mut().for_each(|silence| silence.since.push(AfterSilence::Given(label.clone(), lane)));
    }

    /// Notes that a message was seen after them, and allowed.
    pub(super) fn record_output(&mut self, label: &Label, arrival: Arrival) {
        self.0.iter_mut().for_each(|silence| silence.since.push(AfterSilence::Seen(label.clone(), arrival)));
    }
}

impl RunLoop<'_, '_, '_> {
    /// Observes the system; silence must last for the quiescence time here, and at least for `at_least`.
    pub(super) fn wait_and_judge(&mut self, at_least: Duration) -> io::Result<LoopStep> {
        if self.knowledge.is_gone {
            return self.judge_label(&Label::Quiescence);
        }
        // Where a silence is only promised, nothing is waited for; if the specification forbids it, it is confirmed.
        let usual = if self.setup.adapter.expects_silence() { Duration::ZERO } else { self.patience() };
        let (patience, from) = (usual.max(at_least), Instant::now());
        match self.wait_for_message(patience).map(|wait| wait.seen) {
            Ok(Observation::Output(output)) => self.judge_output(output),
            Ok(Observation::Quiet) if self.setup.adapter.knows_silence() => {
                self.judge_label(&Label::Quiescence)
            }
            Ok(Observation::Quiet) if self.allows_silence() => self.accept_silence(from, patience),
            Ok(Observation::Quiet) => self.listen_on(from, patience),
            Err(error) => self.handle_adapter_error(error),
        }
    }

    fn allows_silence(&mut self) -> bool {
        self.knowledge.monitor.clone().observe(self.setup.cx, &Label::Quiescence).is_ok()
    }

    /// Judges silence that is allowed; a message may still show that it was none.
    fn accept_silence(&mut self, from: Instant, patience: Duration) -> io::Result<LoopStep> {
        let until = self.confirmed_at(from, patience);
        let (lag, is_cold) = (self.timing.lag_so_far(), self.setup.adapter.first_reply_limit().is_some());
        // Kept, since a late message is judged from here as if there had been no silence.
        let (before, at) = (self.knowledge.monitor.clone(), self.knowledge.trace.len());
        let step = self.judge_label(&Label::Quiescence)?;
        self.timing.asked = None;
        self.pending.silences.0.retain(|silence| silence.is_open(Instant::now(), lag));
        // Silence after silence is one.
        let continued = self.pending.silences.0.last().filter(|last| last.since.is_empty());
        let from = continued.map_or(from, |last| last.from);
        let since = Vec::new();
        let silence = CalledSilence { before, since, from, until, lag, is_cold, patience, at };
        self.pending.silences.0.push(silence);
        Ok(step)
    }

    /// Listens on after silence that is not allowed, before it is a failure.
    fn listen_on(&mut self, from: Instant, patience: Duration) -> io::Result<LoopStep> {
        // From the beginning of the silence: what has passed already counts.
        let confirming = self.confirming_patience().max(patience).saturating_mul(self.config.confirm);
        let confirming = confirming.saturating_sub(patience);
        let left = confirming.max(self.first_reply_wait().saturating_sub(from.elapsed()));
        let wait = match self.wait_for_message(left) {
            Ok(wait) => wait,
            Err(error) => return self.handle_adapter_error(error),
        };
        match wait.seen {
            Observation::Quiet if wait.is_starved => {
                let reason = "this machine was too busy to decide whether the system is silent".to_owned();
                Ok(ControlFlow::Break(LoopEnd::Stopped(TesterStop::Inconclusive(reason))))
            }
            Observation::Quiet => match self.judge_label(&Label::Quiescence)? {
                ControlFlow::Break(LoopEnd::Forbidden(forbidden)) => {
                    self.fail_or_retract(&Label::Quiescence, Arrival::Direct, from, forbidden)
                }
                step => Ok(step),
            },
            Observation::Output(output) => {
                let at = output.times();
                let took = at.begun.saturating_duration_since(from);
                self.tell_late(&output.label, took, patience, Vec::new(), output.is_first)?;
                self.timing.asked = None;
                self.judge_output(ArrivedOutput { at: Some(at.complete), ..output })
            }
        }
    }

    /// Ends the run with a failure, unless the observation at `arrived` only shows that silence was reported too early:
    /// a message was under way, or an input was.
    pub(super) fn fail_or_retract(
        &mut self,
        label: &Label,
        arrival: Arrival,
        arrived: Instant,
        forbidden: Box<Forbidden>,
    ) -> io::Result<LoopStep> {
        let open: Vec<CalledSilence> = std::mem::take(&mut self.pending.silences.0);
        let lag = self.timing.lag_so_far();
        let mut open: Vec<CalledSilence> =
            open.into_iter().filter(|silence| silence.is_open(arrived, lag)).collect();
        // As few as possible are taken back: the last one, the last two, and so on.
        while let Some(silence) = open.pop() {
            let Some(after) = self.monitor_without(&silence, label, arrival) else { continue };
            self.knowledge.monitor = after;
            // Those before it may still be taken back, by what comes later.
            self.pending.silences = Silences(open);
            if *label != Label::Quiescence {
                self.pending.silences.record_output(label, arrival);
            }
            return self.retract_silences(&silence, label, arrived);
        }
        Ok(ControlFlow::Break(LoopEnd::Forbidden(forbidden)))
    }

    /// Returns whether `label` is allowed if some silence that a message may still take back is left out.
    pub(super) fn is_late(&mut self, label: &Label, arrival: Arrival) -> bool {
        let (open, now) = (self.pending.silences.0.clone(), Instant::now());
        let lag = self.timing.lag_so_far();
        open.iter().any(|silence| {
            silence.is_open(now, lag) && self.monitor_without(silence, label, arrival).is_some()
        })
    }

    /// Returns the monitor as if there had been no silence from `silence` on, after `label`; `None` if `label` is
    /// forbidden there too.
    fn monitor_without(
        &mut self,
        silence: &CalledSilence,
        label: &Label,
        arrival: Arrival,
    ) -> Option<Monitor> {
        let mut after = silence.before.clone();
        for heard in &silence.since {
            match heard {
                AfterSilence::Given(label, lane) => drop(after.record_sent(self.setup.cx, label, *lane)),
                AfterSilence::Seen(label, arrival) => {
                    after.observe_arrival(self.setup.cx, label, *arrival).ok()?;
                }
            }
        }
        match label {
            Label::Quiescence => after.observe(self.setup.cx, label).ok()?,
            _ => after.observe_arrival(self.setup.cx, label, arrival).ok()?,
        };
        Some(after)
    }

    /// Removes the silences from `silence` on from the trace.
    fn retract_silences(
        &mut self,
        silence: &CalledSilence,
        label: &Label,
        arrived: Instant,
    ) -> io::Result<LoopStep> {
        self.reporter.keep_tester_trace(&self.knowledge.trace);
        let labels = std::mem::take(&mut self.knowledge.trace.labels);
        let mut not_silent = Vec::new();
        let last = labels.len().saturating_sub(1);
        let happened = std::mem::take(&mut self.knowledge.happened);
        for (place, (label, how)) in labels.into_iter().zip(happened).enumerate() {
            if (silence.at..last).contains(&place) && label == Label::Quiescence {
                not_silent.push(how.step);
            } else {
                self.knowledge.trace.labels.push(label);
                self.knowledge.happened.push(how);
            }
        }
        let took = arrived.saturating_duration_since(silence.from);
        self.tell_late(label, took, silence.patience, not_silent, silence.is_cold)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Raises the quiescence time of the campaign because a message came after it, and says so. A first reply says
    /// nothing about later ones: it raises nothing.
    fn tell_late(
        &mut self,
        label: &Label,
        took: Duration,
        from: Duration,
        not_silent: Vec<usize>,
        first_reply: bool,
    ) -> io::Result<()> {
        let to = if first_reply {
            self.config.patience.note_first_reply(took);
            from
        } else {
            self.config.patience.raise(self.last_input(), took)
        };
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let label = label.show(self.setup.cx.pool, self.setup.cx.sts);
        let (took_ms, from_ms, to_ms) = (ms(took), ms(from), ms(to));
        let told = PatienceRecord { label, took_ms, from_ms, to_ms, not_silent, first_reply };
        self.reporter.sink.tell(EventKind::Patience(told))?;
        Ok(())
    }
}
