//! The way a message travelled, where a system has several lanes: a record cannot be judged without it.

use ioxide_symex::{Arrival, Crossing};
use serde::{Deserialize, Serialize};

/// The way of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WayRecord {
    /// Its lane.
    pub lane: u32,
    /// The connection it came by, from 0, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<u32>,
    /// True if it answers the input of its lane.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub is_answer: bool,
    /// The number of answers still pending, which may have been sent before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: usize,
    /// True if it is the end of the connection.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub is_end: bool,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl WayRecord {
    /// Returns the way of an input; `None` on the first lane.
    #[must_use]
    pub fn for_input(lane: u32) -> Option<Self> {
        (lane > 0).then(|| Self { lane, ..Self::default() })
    }

    /// Returns the way of a message that was seen; `None` if it came directly.
    #[must_use]
    pub fn for_arrival(arrival: Arrival) -> Option<Self> {
        match arrival {
            Arrival::Direct => None,
            Arrival::Answer { lane, others } => {
                Some(Self { lane, is_answer: true, others, ..Self::default() })
            }
            Arrival::Crossing(Crossing { connection, lane, is_answer, others, is_end }) => {
                Some(Self { lane, connection: Some(connection), is_answer, others, is_end })
            }
        }
    }

    /// Returns the way as the monitor takes it.
    #[must_use]
    pub fn arrival(self) -> Arrival {
        let Self { lane, connection, is_answer, others, is_end } = self;
        match connection {
            Some(connection) => Arrival::Crossing(Crossing { connection, lane, is_answer, others, is_end }),
            None => Arrival::Answer { lane, others },
        }
    }
}

/// One of several connections of a system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionRecord {
    /// Its name.
    pub name: String,
    /// The messages that travel by it.
    pub messages: Vec<String>,
    /// The instance of an array of parts whose messages travel by it; absent if all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<i64>,
}
