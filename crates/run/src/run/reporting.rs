//! Reports during a run: steps to the reporter, the trace to the tester.

use ioxide_model::label::Label;
use ioxide_model::trace::Trace;
use ioxide_record::event::RouteRecord;
use ioxide_record::line::cut;
use ioxide_record::reporter::EventSink;

use super::MAX_RAW;

/// The steps of a run as they are reported.
pub(super) struct StepReporter<'w, 'r> {
    pub(super) sink: &'w EventSink<'r>,
    /// The number of steps reported, those taken back included.
    pub(super) steps: usize,
    /// The trace as the tester saw it, where silence was retracted: it stays in this one. `None` as long as the tester
    /// saw what was observed: a long run keeps one trace then and not two.
    unretracted: Option<Trace>,
    /// The next message to report, as it was on the wire.
    pub(super) raw: Option<String>,
    /// The way that message travelled, where there are several lanes.
    pub(super) way: Option<RouteRecord>,
}

impl<'w, 'r> StepReporter<'w, 'r> {
    /// Returns the beginning of a run that is reported to `sink`.
    pub(super) fn new(sink: &'w EventSink<'r>) -> Self {
        Self { sink, steps: 0, unretracted: None, raw: None, way: None }
    }

    /// Returns the trace as the tester saw it, in a run with the trace `observed`.
    pub(super) fn tester_trace<'t>(&'t self, observed: &'t Trace) -> &'t Trace {
        self.unretracted.as_ref().unwrap_or(observed)
    }

    /// Adds a label to the trace that the tester saw.
    pub(super) fn add_label(&mut self, label: &Label) {
        if let Some(trace) = &mut self.unretracted {
            trace.labels.push(label.clone());
        }
    }

    /// Keeps the trace that the tester saw, before labels of the trace `observed` are taken back.
    pub(super) fn keep_tester_trace(&mut self, observed: &Trace) {
        self.unretracted.get_or_insert_with(|| observed.clone());
    }

    /// Returns the bytes and the way of `label`, which is reported now; both are kept until a message is reported.
    pub(super) fn take_wire(&mut self, label: &Label) -> (Option<String>, Option<RouteRecord>) {
        match label {
            Label::Input(..) | Label::Output(..) => {
                (self.raw.take().map(|raw| cut(&raw, MAX_RAW)), self.way.take())
            }
            Label::Quiescence | Label::Delay(_) => (None, None),
        }
    }
}
