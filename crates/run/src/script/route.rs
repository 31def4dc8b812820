//! The way of every step of a script: its connection, and for answers by HTTP the request.

use ioxide_model::label::Label;
use ioxide_record::event::{ScriptMessage, ScriptStep, StepRoute};
use ioxide_wire::adapter::notation::ReplySource;

use super::{ScriptMaker, ScriptObstacle};

/// A request by HTTP.
struct SentRequest {
    /// The position of its step.
    at: usize,
    connection: usize,
    /// The name of its input; empty for a reset.
    name: String,
}

/// The requests that were sent so far.
#[derive(Default)]
struct SentRequests {
    /// Those that were not answered yet.
    pending: Vec<SentRequest>,
    /// Those that opened a WebSocket.
    websockets: Vec<SentRequest>,
}

impl ScriptMaker<'_> {
    /// Returns the way of every step; `resets` are the connections of the messages of the reset.
    pub(super) fn find_routes(
        &self,
        steps: &[ScriptStep],
        resets: &[usize],
    ) -> Result<Vec<StepRoute>, ScriptObstacle> {
        let mut sent = SentRequests::default();
        let mut routes: Vec<StepRoute> = Vec::new();
        // Each message of the reset is followed by its answer.
        for (number, connection) in resets.iter().copied().enumerate() {
            let is_request = matches!(
                steps.get(2 * number),
                Some(ScriptStep::Send { message: ScriptMessage::Request { .. }, .. })
            );
            routes.push(StepRoute { connection, request: None });
            routes.push(StepRoute { connection, request: is_request.then_some(2 * number) });
        }
        let first = routes.len();
        for (at, step) in steps.iter().enumerate().skip(first) {
            let label = self.trace.labels.get(at - first);
            let gate = match label {
                Some(Label::Input(gate, _) | Label::Output(gate, _)) => Some(*gate),
                _ => None,
            };
            let connection = gate.map_or(0, |gate| self.notation.connection_of(gate));
            let name = gate.map_or_else(String::new, |gate| self.sts.gates[gate].name.to_string());
            let request = match (step, gate) {
                (ScriptStep::Send { message, .. }, _) => {
                    sent.add_request(message, SentRequest { at, connection, name });
                    None
                }
                (ScriptStep::Receive { reply, .. }, Some(gate)) => match self.notation.source_of(gate) {
                    ReplySource::Stream => None,
                    ReplySource::Answer(to) => Some(
                        sent.take_answered(connection, &to)
                            .ok_or_else(|| ScriptObstacle::Answer(reply.shown.clone()))?,
                    ),
                    ReplySource::Event(to) => Some(
                        sent.find_websocket(connection, &to)
                            .ok_or_else(|| ScriptObstacle::Event(reply.shown.clone()))?,
                    ),
                },
                _ => None,
            };
            routes.push(StepRoute { connection, request });
        }
        Ok(routes)
    }
}

impl SentRequests {
    fn add_request(&mut self, message: &ScriptMessage, request: SentRequest) {
        match message {
            ScriptMessage::Request { .. } => self.pending.push(request),
            ScriptMessage::Open { name, .. } => {
                let (at, connection) = (request.at, request.connection);
                // One that is opened again takes the place of the former.
                self.websockets.retain(|other| (other.connection, &other.name) != (connection, name));
                self.websockets.push(SentRequest { at, connection, name: name.clone() });
                self.pending.push(request);
            }
            ScriptMessage::Frame { .. }
            | ScriptMessage::Text(_)
            | ScriptMessage::Bytes(_)
            | ScriptMessage::Json(_) => (),
        }
    }

    /// Takes the first pending request of a connection that one of the inputs `to` sent, any input if there are none.
    fn take_answered(&mut self, connection: usize, to: &[String]) -> Option<usize> {
        let is_it =
            |sent: &SentRequest| sent.connection == connection && (to.is_empty() || to.contains(&sent.name));
        let at = self.pending.iter().position(is_it)?;
        Some(self.pending.remove(at).at)
    }

    /// Returns the request that opened the WebSocket of a connection; `None` if there is none, or more than one.
    fn find_websocket(&self, connection: usize, to: &[String]) -> Option<usize> {
        let is_it =
            |sent: &&SentRequest| sent.connection == connection && (to.is_empty() || to.contains(&sent.name));
        let mut found = self.websockets.iter().filter(is_it);
        let first = found.next()?;
        found.next().is_none().then_some(first.at)
    }
}
