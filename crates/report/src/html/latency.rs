//! Latencies of the system by message: a fold over steps.
//!
//! An answer takes the time since the step before it in the same run. Times are counted in classes
//! that grow by a factor of √2, so that microseconds and minutes fit one axis.

use std::collections::BTreeMap;

use ioxide_record::event::{LabelKind, LabelRecord};
use ioxide_record::line::cut;
use serde::Serialize;

/// The number of messages counted; further ones are left out. Chosen by feel: a chart with more rows is not read.
const MAX_GATES: usize = 100;

/// The number of answers by message and class.
#[derive(Clone, Debug, Default)]
pub(super) struct LatencyPage {
    gates: BTreeMap<String, BTreeMap<u32, u64>>,
}

/// The latencies of one message.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct LatencyView<'l> {
    label: &'l String,
    /// The shortest time of each class, in nanoseconds, and its number of answers.
    classes: Vec<(u64, u64)>,
}

impl LatencyPage {
    /// Counts an answer that took `ns`; labels other than outputs, and times of 0, do not count.
    pub(super) fn add_answer(&mut self, label: &LabelRecord, ns: u64) {
        if label.kind != LabelKind::Output || ns == 0 {
            return;
        }
        let gate = cut(&label.label, 200);
        if self.gates.len() < MAX_GATES || self.gates.contains_key(&gate) {
            *self.gates.entry(gate).or_default().entry(time_class(ns)).or_default() += 1;
        }
    }

    /// Returns every message with its classes.
    pub(super) fn view(&self) -> Vec<LatencyView<'_>> {
        let classes =
            |counts: &BTreeMap<u32, u64>| counts.iter().map(|(&class, &n)| (class_start(class), n)).collect();
        let view = |(label, counts)| LatencyView { label, classes: classes(counts) };
        self.gates.iter().map(view).collect()
    }
}

/// The class of a time: two for every power of two.
fn time_class(ns: u64) -> u32 {
    let power = ns.max(1).ilog2();
    2 * power + u32::from(ns >= class_start(2 * power + 1))
}

/// The shortest time of a class, in nanoseconds.
fn class_start(class: u32) -> u64 {
    let power = 1u64 << (class / 2).min(62);
    if class.is_multiple_of(2) { power } else { power + power / 2 - power / 12 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_class_that_begins_below_it() {
        for ns in (1..5000).chain([1_000_000, 999_999_999, u64::MAX]) {
            let class = time_class(ns);
            assert!(
                class_start(class) <= ns && (class >= 124 || ns < class_start(class + 1)),
                "{ns} in {class}"
            );
        }
    }
}
