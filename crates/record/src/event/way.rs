//! The way a message travelled, where a system has several lanes: a record cannot be judged without it.

use serde::{Deserialize, Serialize};

/// The way of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteRecord {
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
