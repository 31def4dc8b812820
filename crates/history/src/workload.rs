//! Workloads: what clients were told to do.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioxide_model::label::Label;

/// A workload that fails, made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShrunkWorkload {
    /// The bursts, in order.
    pub bursts: Vec<WorkloadBurst>,
    /// The size before it was made smaller.
    pub before: WorkloadSize,
    /// The number of runs with it that failed.
    pub reproduced: u32,
    /// The number of runs with it.
    pub of: u32,
}

/// Operations that begin together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadBurst {
    /// The inputs of each client, in order.
    pub inputs: Vec<Vec<Label>>,
    /// The name of the fault that begins meanwhile.
    pub fault: Option<Arc<str>>,
}

/// The size of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkloadSize {
    /// The number of operations.
    pub operations: usize,
    /// The number of clients that do some of them.
    pub clients: usize,
}

impl WorkloadSize {
    /// Measures bursts, each with the inputs of every client.
    #[must_use]
    pub fn measure<'b>(bursts: impl IntoIterator<Item = &'b [Vec<Label>]>) -> Self {
        let mut operations = 0;
        let mut clients = BTreeSet::new();
        for inputs in bursts {
            for (client, list) in inputs.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
                operations += list.len();
                clients.insert(client);
            }
        }
        Self { operations, clients: clients.len() }
    }
}

impl ShrunkWorkload {
    /// Returns the size.
    #[must_use]
    pub fn size(&self) -> WorkloadSize {
        WorkloadSize::measure(self.bursts.iter().map(|burst| &burst.inputs[..]))
    }
}
