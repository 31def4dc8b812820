//! Silence, confirmed before anybody is blamed for it, and taken back if it was called too early.
//!
//! Quiescence is a time-out ([BT19], [FTW05]), and no time-out fits a machine that is busy. So silence that the
//! specification forbids becomes a failure only after the run has listened on for
//! [`RunConfig::confirm`](super::RunConfig::confirm) times as long; and a message that is forbidden only because
//! silence was seen shortly before it shows that the silence was none. Both raise the quiescence time of the campaign.
//!
//! *Promises.* What the specification allows without the silence taken back is not a failure. Nothing is taken
//! back from systems whose silence is known.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_symex::{Arrival, Forbidden, Monitor};

use super::{LoopEnd, LoopStep, RunLoop};
use crate::adapter::{ArrivedOutput, Observation};
use crate::event::{EventKind, PatienceTold};

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
    /// The instant up to which a message may show that there was no silence.
    until: Instant,
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

impl Silences {
    /// Notes that an input was given after them.
    pub(super) fn given(&mut self, label: &Label, lane: u32) {
        self.0.iter_mut().for_each(|silence| silence.since.push(AfterSilence::Given(label.clone(), lane)));
    }

    /// Notes that a message was seen after them, and allowed.
    pub(super) fn seen(&mut self, label: &Label, arrival: Arrival) {
        self.0.iter_mut().for_each(|silence| silence.since.push(AfterSilence::Seen(label.clone(), arrival)));
    }
}

impl RunLoop<'_, '_, '_, '_> {
    /// Observes the system; silence must last for the quiescence time here, and at least for `at_least`.
    pub(super) fn observe(&mut self, at_least: Duration) -> io::Result<LoopStep> {
        if self.is_gone {
            return self.judge(&Label::Quiescence);
        }
        let (patience, from) = (self.patience().max(at_least), Instant::now());
        match self.bench.adapter.observe(patience) {
            Ok(Observation::Output(output)) => self.seen(output),
            Ok(Observation::Quiet) if self.bench.adapter.knows_silence() => self.judge(&Label::Quiescence),
            Ok(Observation::Quiet) if self.allows_silence() => self.silent(from, patience),
            Ok(Observation::Quiet) => self.listen_on(from, patience),
            Err(error) => self.broke(error),
        }
    }

    fn allows_silence(&mut self) -> bool {
        self.after.clone().observe(self.bench.cx, &Label::Quiescence).is_ok()
    }

    /// Judges silence that is allowed; a message may still show that it was none.
    fn silent(&mut self, from: Instant, patience: Duration) -> io::Result<LoopStep> {
        let until = from + patience.saturating_mul(self.config.confirm);
        let (before, at) = (self.after.clone(), self.trace.len());
        let step = self.judge(&Label::Quiescence)?;
        self.asked = None;
        self.silences.0.retain(|silence| silence.until > Instant::now());
        // Silence after silence is one.
        let continued = self.silences.0.last().filter(|last| last.since.is_empty());
        let from = continued.map_or(from, |last| last.from);
        let silence = CalledSilence { before, since: Vec::new(), from, until, patience, at };
        self.silences.0.push(silence);
        Ok(step)
    }

    /// Listens on after silence that is not allowed, before it is a failure.
    fn listen_on(&mut self, from: Instant, patience: Duration) -> io::Result<LoopStep> {
        let left = patience.saturating_mul(self.config.confirm.saturating_sub(1));
        match self.bench.adapter.observe(left) {
            Ok(Observation::Quiet) => match self.judge(&Label::Quiescence)? {
                ControlFlow::Break(LoopEnd::Forbidden(forbidden)) => {
                    self.unless_late(&Label::Quiescence, Arrival::Direct, from, forbidden)
                }
                step => Ok(step),
            },
            Ok(Observation::Output(output)) => {
                let at = output.at.unwrap_or_else(Instant::now);
                self.raise(&output.label, at.saturating_duration_since(from), patience, Vec::new())?;
                self.asked = None;
                self.seen(ArrivedOutput { at: Some(at), ..output })
            }
            Err(error) => self.broke(error),
        }
    }

    /// Ends the run with a failure, unless the observation at `arrived` only shows that silence was reported too early:
    /// a message was under way, or an input was.
    pub(super) fn unless_late(
        &mut self,
        label: &Label,
        arrival: Arrival,
        arrived: Instant,
        forbidden: Box<Forbidden>,
    ) -> io::Result<LoopStep> {
        let open: Vec<CalledSilence> = std::mem::take(&mut self.silences.0);
        let mut open: Vec<CalledSilence> =
            open.into_iter().filter(|silence| silence.until >= arrived).collect();
        // As few as possible are taken back: the last one, the last two, and so on.
        while let Some(silence) = open.pop() {
            let Some(after) = self.without(&silence, label, arrival) else { continue };
            self.after = after;
            // Those before it may still be taken back, by what comes later.
            self.silences = Silences(open);
            if *label != Label::Quiescence {
                self.silences.seen(label, arrival);
            }
            return self.take_back(&silence, label, arrived);
        }
        Ok(ControlFlow::Break(LoopEnd::Forbidden(forbidden)))
    }

    /// Returns whether `label` is allowed if some silence that a message may still take back is left out.
    pub(super) fn is_late(&mut self, label: &Label, arrival: Arrival) -> bool {
        let (open, now) = (self.silences.0.clone(), Instant::now());
        open.iter().any(|silence| silence.until >= now && self.without(silence, label, arrival).is_some())
    }

    /// Returns the monitor as if there had been no silence from `silence` on, after `label`; `None` if `label` is
    /// forbidden there too.
    fn without(&mut self, silence: &CalledSilence, label: &Label, arrival: Arrival) -> Option<Monitor> {
        let mut after = silence.before.clone();
        for heard in &silence.since {
            match heard {
                AfterSilence::Given(label, lane) => drop(after.send(self.bench.cx, label, *lane)),
                AfterSilence::Seen(label, arrival) => {
                    after.see(self.bench.cx, label, *arrival).ok()?;
                }
            }
        }
        match label {
            Label::Quiescence => after.observe(self.bench.cx, label).ok()?,
            _ => after.see(self.bench.cx, label, arrival).ok()?,
        };
        Some(after)
    }

    /// Removes the silences from `silence` on from the trace.
    fn take_back(
        &mut self,
        silence: &CalledSilence,
        label: &Label,
        arrived: Instant,
    ) -> io::Result<LoopStep> {
        let labels = std::mem::take(&mut self.trace.labels);
        let mut not_silent = Vec::new();
        let last = labels.len().saturating_sub(1);
        let happened = std::mem::take(&mut self.happened);
        for (place, (label, how)) in labels.into_iter().zip(happened).enumerate() {
            if (silence.at..last).contains(&place) && label == Label::Quiescence {
                not_silent.push(how.step);
            } else {
                self.trace.labels.push(label);
                self.happened.push(how);
            }
        }
        self.raise(label, arrived.saturating_duration_since(silence.from), silence.patience, not_silent)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Raises the quiescence time of the campaign, and says so.
    fn raise(
        &mut self,
        label: &Label,
        took: Duration,
        from: Duration,
        not_silent: Vec<usize>,
    ) -> io::Result<()> {
        let to = self.config.patience.raise(took);
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let label = label.show(self.bench.cx.pool, self.bench.cx.sts);
        let told = PatienceTold { label, took_ms: ms(took), from_ms: ms(from), to_ms: ms(to), not_silent };
        self.teller.tell(EventKind::Patience(told))?;
        Ok(())
    }
}
