//! One line about a campaign under way: progress, speed, and the time left.

use ioxide_record::event::{Event, EventKind};

use crate::summary::lines::plural;
use crate::summary::{ENDLESS, Summary};

/// The time after which a further line of progress is due. In nanoseconds. Chosen by feel: ten lines a second look
/// alive and cost nothing.
const PAUSE_NS: u64 = 100_000_000;
/// The number of steps after which a line is due before that time, since a model played in this process takes no time.
const PAUSE_STEPS: u64 = 1000;
/// The weight of the newest speed in the moving average. Chosen by eye: more jumps, less lags behind.
const NEWEST_WEIGHT: f64 = 0.3;

/// A meter of the speed between two lines, by the times of the events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpeedMeter {
    last: Option<MeterReading>,
    steps_per_second: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct MeterReading {
    time_ns: u64,
    steps: u64,
}

impl SpeedMeter {
    /// Returns whether a line was made.
    pub(super) fn is_shown(&self) -> bool {
        self.last.is_some()
    }

    /// Returns a line if one is due.
    pub(super) fn line_if_due(&mut self, summary: &Summary, event: &Event) -> Option<String> {
        let now = MeterReading { time_ns: event.time_ns, steps: summary.steps };
        if let Some(last) = self.last {
            let (passed, steps) = (now.time_ns.saturating_sub(last.time_ns), now.steps - last.steps);
            if passed < PAUSE_NS && steps < PAUSE_STEPS {
                return None;
            }
            if passed > 0 {
                let newest = steps as f64 / seconds(passed);
                let before = self.steps_per_second.unwrap_or(newest);
                self.steps_per_second = Some(before + NEWEST_WEIGHT * (newest - before));
            }
        }
        self.last = Some(now);
        Some(self.meter_text(summary, event))
    }

    fn meter_text(&self, summary: &Summary, event: &Event) -> String {
        let counts = &summary.counts;
        let mut parts = vec![match &summary.started {
            Some(started) if started.runs < ENDLESS => format!("{} of {} runs", counts.total(), started.runs),
            Some(_) | None => format!("{} runs", counts.total()),
        }];
        parts.push(match self.steps_per_second {
            Some(speed) => format!("{} ({speed:.0}/s)", plural(summary.steps, "step")),
            None => plural(summary.steps, "step"),
        });
        if let Some(started) = &summary.started {
            parts.push(format!("{} of {} transitions", summary.certain.len(), started.switches.len()));
        }
        if let EventKind::Stimulus(step) | EventKind::Observation(step) = &event.event {
            match step.belief {
                Some(0 | 1) => (),
                Some(n) => parts.push(format!("{n} possible states")),
                None => parts.push("possible states unknown".to_owned()),
            }
        }
        let bad = [(counts.failed, "failed"), (counts.errors, "broken")];
        parts.extend(bad.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
        parts.extend(time_left_text(summary).map(|left| format!("about {left} left")));
        parts.join(", ")
    }
}

/// Returns the time the planned runs will still take at the average duration so far; `None` if there is no plan, or no
/// run has ended.
fn time_left_text(summary: &Summary) -> Option<String> {
    let done = summary.counts.total();
    let planned = summary.started.as_ref()?.runs;
    let open = planned.checked_sub(done)?;
    if planned >= ENDLESS || done == 0 || open == 0 || summary.time_ns == 0 {
        return None;
    }
    Some(duration_text(seconds(summary.time_ns) / done as f64 * open as f64))
}

/// Returns nanoseconds as seconds.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Returns a duration in a round unit.
pub(super) fn duration_text(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}
