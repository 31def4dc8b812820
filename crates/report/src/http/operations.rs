//! The figures of a campaign by operation: requests, statuses of answers, transitions covered.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_record::event::OperationRecord;
use serde::Serialize;

use crate::control_characters::excerpt;
use crate::summary::lines::plural;

/// The number of operations up to which a table is shown without being asked for. Chosen by feel, for half a screen.
pub const MAX_OPERATIONS: usize = 12;
/// The number of columns of an operation. Chosen by eye.
const MAX_NAME: usize = 48;
/// The number of operations named that were covered least. Chosen by feel.
const MAX_WORST: usize = 3;

/// The beginning of the name of requests with methods that a path does not have.
const OTHER_METHODS: &str = "other methods of ";

/// The figures of one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OperationCounts {
    /// Method and path.
    pub operation: String,
    /// True for requests with methods that the path does not have: the method is a field of the message.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub has_other_methods: bool,
    /// Its place in the description of the service.
    pub pointer: Option<String>,
    /// The number of requests.
    pub requests: u64,
    /// The number of answers by status, such as `200` or `4xx`; `other` if it is not known.
    pub statuses: BTreeMap<String, u64>,
    /// The number of its transitions that were certainly taken.
    pub covered: usize,
    /// The number of its transitions.
    pub transitions: usize,
}

/// Counts messages by operation.
#[derive(Clone, Debug, Default)]
pub struct OperationTable {
    rows: Vec<OperationCounts>,
    /// The row of every input.
    inputs: BTreeMap<String, usize>,
    /// The rows and the status of every output.
    outputs: BTreeMap<String, (Vec<usize>, String)>,
    /// The row of the last request: an answer that several operations have is one to it.
    asked: usize,
    /// The row and the message of every switch.
    switches: BTreeMap<String, (usize, String)>,
    covered: BTreeSet<String>,
}

impl OperationTable {
    /// Returns a table without counts.
    #[must_use]
    pub fn new(operations: &[OperationRecord]) -> Self {
        let mut table = Self::default();
        for (row, operation) in operations.iter().enumerate() {
            let OperationRecord { operation: name, pointer, inputs, outputs, switches } = operation;
            // The record writes a method that is a field as `{field}`.
            let other = name.strip_prefix('{').and_then(|rest| rest.split_once("} "));
            table.rows.push(OperationCounts {
                operation: other.map_or_else(|| name.clone(), |(_, path)| format!("{OTHER_METHODS}{path}")),
                has_other_methods: other.is_some(),
                pointer: pointer.clone(),
                transitions: switches.len(),
                ..OperationCounts::default()
            });
            table.inputs.extend(inputs.iter().map(|input| (input.clone(), row)));
            for (output, statuses) in outputs {
                let status = if statuses.is_empty() { "other".to_owned() } else { statuses.join("/") };
                table.outputs.entry(output.clone()).or_insert((Vec::new(), status)).0.push(row);
            }
            for (switch, message) in switches {
                table.switches.insert(switch.clone(), (row, message.clone()));
            }
        }
        table
    }

    /// Counts a message that was sent or came `n` times.
    pub fn count_message(&mut self, message: &str, n: u64) {
        if let Some(row) = self.inputs.get(message) {
            self.rows[*row].requests += n;
            self.asked = *row;
        } else if let Some((rows, status)) = self.outputs.get(message) {
            let row = if let [only] = &rows[..] { *only } else { self.asked };
            *self.rows[row].statuses.entry(status.clone()).or_default() += n;
        }
    }

    /// Counts the messages of a switch that was taken `n` times.
    pub fn count_switch(&mut self, switch: &str, n: u64) {
        if let Some((_, message)) = self.switches.get(switch).cloned() {
            self.count_message(&message, n);
        }
    }

    /// Notes that a switch was certainly taken.
    pub fn cover(&mut self, switch: &str) {
        if let Some((row, _)) = self.switches.get(switch)
            && !self.covered.contains(switch)
        {
            self.covered.insert(switch.to_owned());
            self.rows[*row].covered += 1;
        }
    }

    /// Returns the operations in the order of the description; empty if the system is not asked by HTTP.
    #[must_use]
    pub fn rows(&self) -> &[OperationCounts] {
        &self.rows
    }

    /// Returns whether the operations are those of a description, so that the model was made from it.
    #[must_use]
    pub fn is_described(&self) -> bool {
        self.rows.iter().any(|row| row.pointer.is_some())
    }

    /// Returns the lines for people: a table, or for many operations their number and those covered least. Methods that
    /// a path does not have are shown only if the table is to be full.
    #[must_use]
    pub fn lines(&self, is_full: bool) -> Vec<String> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let is_shown = |row: &&OperationCounts| is_full || !row.has_other_methods;
        let rows: Vec<&OperationCounts> = self.rows.iter().filter(is_shown).collect();
        if rows.len() > MAX_OPERATIONS && !is_full {
            return vec![self.short_line()];
        }
        let name = |row: &OperationCounts| excerpt(&row.operation, MAX_NAME);
        let width = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0);
        let digits = rows.iter().map(|row| row.requests.to_string().len()).max().unwrap_or(0);
        let mut lines = vec!["operations: requests, answers by status, transitions covered".to_owned()];
        lines.extend(rows.iter().map(|row| {
            let statuses: Vec<String> =
                row.statuses.iter().map(|(status, n)| format!("{status}: {n}")).collect();
            let statuses = if statuses.is_empty() { "no answer".to_owned() } else { statuses.join(", ") };
            format!(
                "  {:width$}  {:>digits$}  {statuses}; {} of {}",
                name(row),
                row.requests,
                row.covered,
                row.transitions
            )
        }));
        lines
    }

    fn short_line(&self) -> String {
        let rows = || self.rows.iter().filter(|row| !row.has_other_methods);
        let asked = rows().filter(|row| row.requests > 0).count();
        let has_success =
            |row: &&OperationCounts| row.statuses.keys().any(|status| status.starts_with(['2', '3']));
        let succeeded = rows().filter(has_success).count();
        let mut worst: Vec<&OperationCounts> = rows().filter(|row| !has_success(row)).collect();
        worst.sort_by_key(|row| row.requests);
        let named: Vec<String> =
            worst.iter().take(MAX_WORST).map(|row| excerpt(&row.operation, MAX_NAME)).collect();
        let without = match worst.len() {
            0 => String::new(),
            n if n > named.len() => {
                format!("; never: {} and {} more (-v)", named.join(", "), n - named.len())
            }
            _ => format!("; never: {}", named.join(", ")),
        };
        let all = plural(rows().count() as u64, "operation");
        format!("{all}: {asked} requested, {succeeded} successful{without}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::story::samples::operation;

    #[test]
    fn messages_and_switches_are_counted_by_operation() {
        let mut table = OperationTable::new(&[operation()]);
        table.count_message("i", 2);
        table.count_message("ok", 1);
        table.count_switch("s_no", 3);
        table.count_message("unknown", 9);
        table.cover("s_ok");
        table.cover("s_ok");
        table.cover("elsewhere");
        assert_eq!(
            table.lines(false),
            [
                "operations: requests, answers by status, transitions covered",
                "  POST /loan  2  200: 1, 4xx: 3; 1 of 3"
            ]
        );
        assert!(OperationTable::new(&[]).lines(true).is_empty());
    }

    /// Defect: methods that paths do not have took the table away from a service with ten operations.
    #[test]
    fn other_methods_are_shown_only_if_the_table_is_to_be_full() {
        let named = |name: String| OperationRecord { operation: name, ..operation() };
        let many: Vec<OperationRecord> = (0..MAX_OPERATIONS)
            .flat_map(|n| [named(format!("GET /{n}")), named(format!("{{method}} /{n}"))])
            .collect();
        let table = OperationTable::new(&many);
        assert_eq!(table.lines(false).len(), MAX_OPERATIONS + 1);
        assert_eq!(table.lines(true).len(), 2 * MAX_OPERATIONS + 1);
    }

    #[test]
    fn many_operations_are_counted_and_the_worst_named() {
        let many: Vec<OperationRecord> = (0..MAX_OPERATIONS + 1)
            .map(|n| OperationRecord {
                operation: format!("GET /{n}"),
                pointer: None,
                inputs: vec![format!("i{n}")],
                outputs: vec![(format!("o{n}"), vec!["200".into()])],
                switches: Vec::new(),
            })
            .collect();
        let mut table = OperationTable::new(&many);
        for n in 0..MAX_OPERATIONS - 3 {
            table.count_message(&format!("i{n}"), 1);
            table.count_message(&format!("o{n}"), 1);
        }
        assert_eq!(
            table.lines(false),
            ["13 operations: 9 requested, 9 successful; never: GET /9, GET /10, GET /11 and 1 more (-v)"]
        );
        assert_eq!(table.lines(true).len(), MAX_OPERATIONS + 2);
    }
}
