//! The knowledge about a run: the trace that was observed, and what the specification makes of it.

use ioxide_model::sts::{Sts, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_model::verdict::Verdict;
use ioxide_symex::{AllowedLabel, Forbidden, Monitor};

use super::{RunConfig, RunEnd};
use crate::objective::ObjectiveWatch;
use crate::objective::orders::LabelOrigin;

/// The observed trace of a run, and the states that the specification and the objective may be in after it.
pub(super) struct RunKnowledge {
    pub(super) monitor: Monitor,
    pub(super) watch: ObjectiveWatch,
    pub(super) trace: Trace,
    /// The origin of each label of the trace.
    pub(super) happened: Vec<TracedLabel>,
    /// The switches that explain the messages since the last move.
    pub(super) explained: Vec<Vec<SwitchId>>,
    /// The step from which on nothing is known, and why.
    pub(super) unknown: Option<(usize, String)>,
    /// The signature of a failure.
    pub(super) signature: Option<String>,
    /// The type of the exception that the system raised.
    pub(super) exception: Option<String>,
    /// True if the system has ended, and the specification allows it.
    pub(super) is_gone: bool,
    /// True if the tester gave up because the system did something else that is allowed.
    pub(super) is_goal_missed: bool,
}

/// The origin of a label of the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct TracedLabel {
    /// The way it happened, for the objective.
    pub(super) origin: LabelOrigin,
    /// The number of its step as reported.
    pub(super) step: usize,
    /// Its number in the monitor, if it may have overtaken others.
    pub(super) mark: Option<u64>,
}

/// Returns the reason why nothing is known after some question was left open; `in_general` says so of a model that is
/// there completely.
pub(crate) fn unknown_reason(sts: &Sts, in_general: String) -> String {
    match sts.unfolded_depth {
        None => in_general,
        Some(depth) => format!(
            "the model is unfolded up to {depth} nested processes only, and the run may have gone beyond \
             (a greater number than in `--set UNFOLD={depth}` unfolds more)"
        ),
    }
}

impl RunKnowledge {
    /// Returns the knowledge at the beginning of a run that is judged by `monitor`.
    pub(super) fn new(monitor: Monitor, config: &RunConfig) -> Self {
        Self {
            monitor,
            watch: ObjectiveWatch::with_tolerance(config.tolerance.clone()),
            trace: Trace::default(),
            happened: Vec::new(),
            explained: Vec::new(),
            unknown: None,
            signature: None,
            exception: None,
            is_gone: false,
            is_goal_missed: false,
        }
    }

    /// Remembers `step` as the one from which on nothing is known, if that is so after `observed`.
    pub(super) fn note_unknown(&mut self, sts: &Sts, observed: Option<&AllowedLabel>, step: usize) {
        if self.unknown.is_some() {
            return;
        }
        let why = match (observed, self.monitor.lost_states(), self.monitor.count_doubts()) {
            (Some(AllowedLabel::Unknown), Some(lost), _) => lost.to_string(),
            (Some(_), _, 1..) => unknown_reason(sts, "the solver left a question open".into()),
            _ => return,
        };
        self.unknown = Some((step, why));
    }

    /// Returns the number of questions that the solver left open.
    pub(super) fn count_doubts(&self) -> usize {
        self.monitor.count_doubts() + self.watch.doubts()
    }

    /// Returns the end of a run whose goal was met: pass, or inconclusive if something is unknown.
    pub(super) fn pass_or_inconclusive(&self, reason: String) -> RunEnd {
        match &self.unknown {
            None => RunEnd::Verdict(Verdict::Pass, reason),
            Some((step, why)) => {
                RunEnd::Verdict(Verdict::Inconclusive, format!("unknown from step {step} on, because {why}"))
            }
        }
    }

    /// Returns the position in the trace of the message that `forbidden` blames.
    pub(super) fn blamed_position(&self, forbidden: &Forbidden) -> Option<usize> {
        let held = forbidden.held.and_then(|mark| self.happened.iter().rposition(|it| it.mark == Some(mark)));
        held.or_else(|| self.trace.len().checked_sub(1))
    }
}
