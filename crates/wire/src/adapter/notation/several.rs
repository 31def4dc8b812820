//! The notation of several connections: each message has that of its own.

use ioxide_model::label::Label;
use ioxide_model::sts::GateId;
use ioxide_model::value::Value;
use ioxide_record::event::{
    KeptValue, ReplyForm, ScriptConnection, ScriptEndpoint, ScriptMessage, ScriptValuePlace,
};
use serde_json::Value as Json;

use super::{ReplySource, WireNotation};

/// The notation of several connections.
pub(in crate::adapter) struct SeveralNotation<'a> {
    /// The connections with their names; at least one.
    pub(in crate::adapter) parts: Vec<(&'a str, Box<dyn WireNotation + 'a>)>,
    /// Returns the position of the connection of a message; `None` if it depends on its values.
    pub(in crate::adapter) connection: Box<dyn Fn(GateId) -> Option<usize> + 'a>,
}

impl SeveralNotation<'_> {
    fn part_of(&self, gate: GateId) -> Option<&dyn WireNotation> {
        self.parts.get((self.connection)(gate)?).map(|(_, part)| &**part)
    }
}

impl WireNotation for SeveralNotation<'_> {
    fn endpoint(&self) -> ScriptEndpoint {
        self.parts[0].1.endpoint()
    }

    fn connections(&self) -> Vec<ScriptConnection> {
        let named = |(name, part): &(&str, Box<dyn WireNotation + '_>)| {
            let all = part.connections().into_iter().take(1);
            all.map(|connection| ScriptConnection { name: (*name).to_owned(), ..connection })
                .collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(named).collect()
    }

    fn connection_of(&self, gate: GateId) -> usize {
        (self.connection)(gate).unwrap_or(0)
    }

    fn source_of(&self, gate: GateId) -> ReplySource {
        self.part_of(gate).map_or(ReplySource::Stream, |part| part.source_of(gate))
    }

    fn resets(&self) -> Option<Vec<(usize, ScriptMessage)>> {
        let mut all = Vec::new();
        for (at, (_, part)) in self.parts.iter().enumerate() {
            all.extend(part.resets()?.into_iter().map(|(_, message)| (at, message)));
        }
        Some(all)
    }

    fn write(&self, input: &Label) -> Option<ScriptMessage> {
        let Label::Input(gate, _) = input else { return None };
        self.part_of(*gate)?.write(input)
    }

    fn reply_form(&self, gate: GateId) -> Option<ReplyForm> {
        self.part_of(gate)?.reply_form(gate)
    }

    fn place(&self, gate: GateId, field: usize) -> Option<ScriptValuePlace> {
        self.part_of(gate)?.place(gate, field)
    }

    fn json(&self, value: &Value) -> Json {
        self.parts[0].1.json(value)
    }

    fn captures(&self, gate: Option<GateId>) -> Vec<KeptValue> {
        match gate {
            Some(gate) => self.part_of(gate).map_or_else(Vec::new, |part| part.captures(Some(gate))),
            None => self.parts.iter().flat_map(|(_, part)| part.captures(None)).collect(),
        }
    }
}
