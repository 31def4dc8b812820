//! The operations of a service: which messages and transitions belong to the same method and path.

use ioxide_model::sts::Sts;
use ioxide_record::event::OperationRecord;

use super::{HttpConfig, RequestConfig};

impl HttpConfig {
    /// Returns the operations in the order of their first inputs.
    #[must_use]
    pub fn operations(&self, sts: &Sts) -> Vec<OperationRecord> {
        let mut found: Vec<OperationRecord> = Vec::new();
        for (name, request) in self.inputs.iter().filter(|(_, request)| request.over.is_none()) {
            let is_same = |known: &OperationRecord| match (&known.pointer, &request.operation) {
                (Some(known), Some(own)) => known == own,
                (None, None) => known.operation == title_of(request),
                _ => false,
            };
            match found.iter_mut().find(|known| is_same(known)) {
                Some(known) => known.inputs.push(name.clone()),
                None => found.push(OperationRecord {
                    operation: title_of(request),
                    pointer: request.operation.clone(),
                    inputs: vec![name.clone()],
                    outputs: Vec::new(),
                    switches: Vec::new(),
                }),
            }
        }
        for operation in &mut found {
            self.add_answers(operation, sts);
        }
        found
    }

    fn add_answers(&self, operation: &mut OperationRecord, sts: &Sts) {
        for (name, answer) in self.outputs.iter().filter(|(_, answer)| answer.event.is_none()) {
            if answer.to.is_empty() || answer.to.iter().any(|to| operation.inputs.contains(to)) {
                operation.outputs.push((name.clone(), answer.status.clone()));
            }
        }
        for switch in &sts.switches {
            let message = &sts.gates[switch.gate].name;
            let is_own = operation.inputs.iter().any(|input| **input == **message)
                || operation.outputs.iter().any(|(output, _)| **output == **message);
            if is_own {
                operation.switches.push((switch.label.to_string(), message.to_string()));
            }
        }
    }
}

/// Returns method and path of a request, without a query.
fn title_of(request: &RequestConfig) -> String {
    let path = request.path.split('?').next().unwrap_or_default();
    format!("{} {path}", request.method)
}
