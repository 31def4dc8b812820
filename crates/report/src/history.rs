//! The verdict on a history of concurrent clients, for people and for programs.

use std::io::{self, Write};

use ioxide_history::{Consistency, FailureCore, History, HistoryJudgement, HistoryVerdict, UnknownCause};
use ioxide_model::concrete::ConcreteState;
use ioxide_model::counted::count_noun;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_record::value::label_to_json;
use serde_json::{Map, Value as Json, json};

/// Operations of the longest order that are shown before the one that cannot be placed: about half a screen.
pub(crate) const LAST_OPERATIONS: usize = 12;

/// The width of a column of the timeline: room for the number of an operation and the ends of its bar.
const COLUMN_WIDTH: usize = 6;

/// Returns the name and the fields of a message.
#[must_use]
pub fn message_fields(model: &Model, label: &Label) -> (String, Map<String, Json>) {
    label_to_json(&model.pool, &model.sts, label).map(|it| (it.label, it.args)).unwrap_or_default()
}

/// A judgement and what is needed to show it.
#[derive(Clone, Copy, Debug)]
pub struct HistoryView<'a> {
    /// The model.
    pub model: &'a Model,
    /// The history.
    pub history: &'a History,
    /// The verdict, with its evidence.
    pub judged: &'a HistoryJudgement,
    /// The division of the history, in words.
    pub parts: &'a str,
    /// The order that was asked for.
    pub consistency: Consistency,
}

impl HistoryView<'_> {
    /// Writes the verdict for people, with the operations that contradict each other.
    ///
    /// # Errors
    /// If `out` does not take the text.
    pub fn show(&self, out: &mut impl Write) -> io::Result<()> {
        let consistency = self.consistency.name();
        let is = match self.consistency {
            Consistency::Linearizable => "linearizable",
            Consistency::Sequential => "sequentially consistent",
        };
        match &self.judged.verdict {
            HistoryVerdict::Consistent(_) => {
                writeln!(out, "PASS: {} of {} are {is}", self.count_operations(), self.count_clients())?
            }
            HistoryVerdict::Unspecified(order) => {
                writeln!(out, "PASS: {} of {} are {is}", self.count_operations(), self.count_clients())?;
                writeln!(
                    out,
                    "the model does not mention the input of an operation: nothing after it can be wrong"
                )?;
                if let Some(last) = order.last() {
                    writeln!(out, "  {}", self.show_operation(*last))?;
                }
            }
            HistoryVerdict::Inconsistent(core) => {
                writeln!(out, "FAIL: {} of {} are not {is}", self.count_operations(), self.count_clients())?;
                self.show_core(out, core)?;
            }
            HistoryVerdict::Unknown(cause) => {
                writeln!(out, "INCONCLUSIVE: unknown whether the history is {consistency}, because {cause}")?;
                if let UnknownCause::Configurations(_) = cause {
                    writeln!(out, "raise --max-configurations to search longer")?;
                }
            }
        }
        let parts = count_noun(self.judged.parts, "part");
        writeln!(out, "judged {}: {parts}", self.parts)
    }

    fn count_operations(&self) -> String {
        let open = match self.history.count_open() {
            0 => String::new(),
            n => format!(" ({n} without an answer)"),
        };
        format!("{}{open}", count_noun(self.history.operations.len(), "operation"))
    }

    fn count_clients(&self) -> String {
        count_noun(self.history.clients.len(), "client")
    }

    pub(crate) fn show_operation(&self, at: usize) -> String {
        let text = self.history.show_operation(&self.model.pool, &self.model.sts, at);
        format!("#{} {text}", at + 1)
    }

    fn show_core(&self, out: &mut impl Write, core: &FailureCore) -> io::Result<()> {
        match &core.operations[..] {
            [_] => writeln!(out, "no order explains this operation:")?,
            many => writeln!(out, "no order explains these {}:", count_noun(many.len(), "operation"))?,
        }
        for &at in &core.operations {
            writeln!(out, "  {}{}", self.show_operation(at), self.show_precedence(core, at))?;
        }
        self.show_timeline(out, core)?;
        if let Some(states) = &core.since {
            match states.len() {
                1 => writeln!(out, "before them nothing runs, and the model is in this state:")?,
                n => writeln!(out, "before them nothing runs, and the model is in one of these {n} states:")?,
            }
            for state in states.iter().take(LAST_OPERATIONS) {
                writeln!(out, "  {}", self.show_state(state))?;
            }
        }
        self.show_order(out, core)
    }

    /// Returns the variables of a state with their values.
    pub(crate) fn show_state(&self, state: &ConcreteState) -> String {
        let value = |var| state.values.get(var).map(|value| self.model.pool.show_value(value));
        let vars = self.model.sts.vars.iter();
        let shown = vars.filter_map(|var| {
            Some(format!("{} = {}", self.model.pool.var_info(var.var).name, value(var.var)?))
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Returns what lanes are sorted by: numbers as numbers, then other names.
    pub(crate) fn lane_key(&self, client: u32) -> (u64, &str) {
        let name = &self.history.clients[client as usize];
        (name.parse().unwrap_or(u64::MAX), &**name)
    }

    /// Writes when the operations of the core ran: a lane for each client, whose columns are the calls and returns in
    /// their order. With one operation, or none that overlaps another, the list says it all.
    fn show_timeline(&self, out: &mut impl Write, core: &FailureCore) -> io::Result<()> {
        let operations: Vec<_> =
            core.operations.iter().map(|&at| (at, &self.history.operations[at])).collect();
        let ends =
            |at: usize| self.history.operations[at].answer.as_ref().map_or(u32::MAX, |answer| answer.ret);
        let overlaps = operations.iter().any(|(at, one)| {
            operations
                .iter()
                .any(|(other, two)| at != other && one.call < ends(*other) && two.call < ends(*at))
        });
        if !overlaps {
            return Ok(());
        }
        let mut events: Vec<u32> = operations.iter().map(|(_, operation)| operation.call).collect();
        events.extend(operations.iter().filter_map(|(_, it)| it.answer.as_ref().map(|answer| answer.ret)));
        events.sort_unstable();
        let column = |event: u32| events.iter().position(|&other| other == event).unwrap_or(0) * COLUMN_WIDTH;
        let mut clients: Vec<u32> = operations.iter().map(|(_, operation)| operation.client).collect();
        clients.sort_by_key(|&client| self.lane_key(client));
        clients.dedup();
        let name = |client: u32| format!("client {}", self.history.clients[client as usize]);
        let width = clients.iter().map(|&client| name(client).len()).max().unwrap_or(0);
        for client in clients {
            let mut lane = String::new();
            let mut length = 0;
            for (at, operation) in operations.iter().filter(|(_, operation)| operation.client == client) {
                let from = column(operation.call);
                let (to, end) = match &operation.answer {
                    Some(answer) => (column(answer.ret), '┤'),
                    None => (events.len() * COLUMN_WIDTH, '╌'),
                };
                lane.extend(std::iter::repeat_n(' ', from.saturating_sub(length)));
                let bar = format!("├#{}", at + 1);
                lane.push_str(&bar);
                length = length.max(from) + bar.chars().count();
                lane.extend(std::iter::repeat_n('─', to.saturating_sub(length)));
                lane.push(end);
                length = length.max(to) + 1;
            }
            writeln!(out, "  {:width$}  {lane}", name(client))?;
        }
        Ok(())
    }

    /// Returns which operations of the core were called only after this one had returned.
    pub(crate) fn show_precedence(&self, core: &FailureCore, at: usize) -> String {
        let Some(answer) = &self.history.operations[at].answer else { return String::new() };
        let is_later = |other: &&usize| self.history.operations[**other].call > answer.ret;
        let later: Vec<String> =
            core.operations.iter().filter(is_later).map(|other| format!("#{}", other + 1)).collect();
        match &later[..] {
            [] => String::new(),
            [one] => format!("  (returned before {one} was called)"),
            [before @ .., last] => {
                format!("  (returned before {} and {last} were called)", before.join(", "))
            }
        }
    }

    fn show_order(&self, out: &mut impl Write, core: &FailureCore) -> io::Result<()> {
        match core.order.len() {
            0 => writeln!(out, "nothing can be placed before the operation that fails:")?,
            n => writeln!(out, "the longest order that works, {}:", count_noun(n, "operation"))?,
        }
        for &at in core.order.iter().skip(core.order.len().saturating_sub(LAST_OPERATIONS)) {
            let is_needed = core.operations.contains(&at);
            writeln!(
                out,
                "    {}{}",
                self.show_operation(at),
                if is_needed { "" } else { "  (may have happened)" }
            )?;
        }
        writeln!(out, "  ✗ {}", self.show_operation(core.stuck))?;
        let allowed: Vec<String> = core.allowed.iter().map(|label| self.show_label(label)).collect();
        if allowed.is_empty() {
            return Ok(());
        }
        writeln!(out, "after this order the model allows {}", allowed.join(" or "))
    }

    pub(crate) fn show_label(&self, label: &Label) -> String {
        label.show(&self.model.pool, &self.model.sts)
    }

    /// Returns the verdict for programs.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let (verdict, core, cause) = match &self.judged.verdict {
            HistoryVerdict::Consistent(_) => ("pass", None, None),
            HistoryVerdict::Unspecified(_) => ("pass", None, None),
            HistoryVerdict::Inconsistent(core) => ("fail", Some(core), None),
            HistoryVerdict::Unknown(cause) => ("inconclusive", None, Some(cause.to_string())),
        };
        let orders = match &self.judged.verdict {
            HistoryVerdict::Consistent(orders) => Some(orders),
            _ => None,
        };
        let is_consistent = match &self.judged.verdict {
            HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_) => json!(true),
            HistoryVerdict::Inconsistent(_) => json!(false),
            HistoryVerdict::Unknown(_) => json!("unknown"),
        };
        let is_whole = self.judged.partition.is_whole();
        json!({
            "version": 1,
            "verdict": verdict,
            "consistency": self.consistency.name(),
            (self.consistency.name()): is_consistent,
            "operations": self.history.operations.len(),
            "open": self.history.count_open(),
            "void": self.history.void,
            "clients": self.history.clients.len(),
            "partition": (!is_whole).then_some(self.parts),
            "not_divided": is_whole.then_some(self.parts),
            "parts": self.judged.parts,
            "configurations": self.judged.configurations,
            "orders": orders.map(|orders| orders.iter().map(|order| number_operations(order)).collect::<Vec<_>>()),
            "core": core.map_or_else(Vec::new, |core| self.core_json(core)),
            "failure": core.map(|core| self.failure_json(core)),
            "unspecified_at": match &self.judged.verdict {
                HistoryVerdict::Unspecified(order) => order.last().map(|last| last + 1),
                _ => None,
            },
            "unknown_because": cause,
        })
    }

    /// Returns the operations of the core.
    fn core_json(&self, core: &FailureCore) -> Vec<Json> {
        let operation = |&at: &usize| {
            let operation = &self.history.operations[at];
            let message = |label: &Label| {
                let (label, args) = message_fields(self.model, label);
                json!({ "label": label, "args": args })
            };
            json!({
                "number": at + 1,
                "client": &*self.history.clients[operation.client as usize],
                "call": message(&operation.input),
                "return": operation.answer.as_ref().map(|answer| message(&answer.output)),
                "called_ns": operation.called_ns,
                "returned_ns": operation.answer.as_ref().and_then(|answer| answer.returned_ns),
            })
        };
        core.operations.iter().map(operation).collect()
    }

    /// Returns what explains why the operations of the core contradict each other.
    fn failure_json(&self, core: &FailureCore) -> Json {
        json!({
            "is_minimal": core.is_minimal,
            "order": number_operations(&core.order),
            "stuck": core.stuck + 1,
            "allowed": core.allowed.iter().map(|label| self.show_label(label)).collect::<Vec<_>>(),
        })
    }
}

/// Returns operations by their numbers from 1.
fn number_operations(operations: &[usize]) -> Vec<usize> {
    operations.iter().map(|at| at + 1).collect()
}
