//! A smaller workload that still fails: fewer keys, clients, bursts, faults and operations.
//!
//! A race is a matter of chance, so one run says little. A smaller workload is accepted if it fails twice within a few
//! runs; there are more of them, the more rarely the original failed. A single failure would be enough to be true, but
//! then every step could make the failure rarer, and the end would be a workload that almost never fails.
//!
//! *Promises.* The result failed at least twice, each time by itself. The work is bounded by the caller, who says when
//! no further run is made.

use std::collections::BTreeSet;

use ioxide_model::label::Label;

use super::workload::PlannedBurst;

/// The number of failures that make a smaller workload acceptable. The number of tries grows with it. No
/// reason for the number is recorded.
const NEEDED_FAILURES: u32 = 2;

/// The greatest number of runs of a smaller workload. Chosen by feel: a failure that comes back in one of five runs
/// is found twice within eight in half of all cases.
const MAX_TRIES: u32 = 8;

/// The result of repeating a workload, and its number of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FailureRate {
    /// The runs that failed.
    pub(super) failed: u32,
    /// The runs.
    pub(super) of: u32,
}

/// A repetition of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repetition {
    /// It failed.
    Failed,
    /// It passed, or nothing is known.
    Passed,
    /// No run was made, and none will be: the time is over, or the system cannot be reached.
    Ended,
}

/// A search for a smaller workload.
pub(super) struct WorkloadShrinker<'r, P> {
    /// Does one run.
    pub(super) repeat: &'r mut dyn FnMut(&[PlannedBurst]) -> Repetition,
    /// Returns the part of the history that an operation belongs to.
    pub(super) part_of: P,
    plan: Vec<PlannedBurst>,
    rate: FailureRate,
    max_tries: u32,
    is_over: bool,
}

impl<'r, K: Ord + Clone, P: Fn(&Label) -> K> WorkloadShrinker<'r, P> {
    /// Makes a search that begins with `plan`, which failed at this `rate` when it was repeated.
    pub(super) fn new(
        plan: Vec<PlannedBurst>,
        rate: FailureRate,
        part_of: P,
        repeat: &'r mut dyn FnMut(&[PlannedBurst]) -> Repetition,
    ) -> Self {
        // Twice the runs that two failures take on average, so that a workload that fails as often is rarely missed.
        let expected = NEEDED_FAILURES * rate.of.div_ceil(rate.failed.max(1));
        let max_tries = (expected * 2).clamp(NEEDED_FAILURES + 1, MAX_TRIES);
        let plan = plan.into_iter().filter(|burst| !is_empty(burst)).collect();
        Self { repeat, part_of, plan, rate, max_tries, is_over: false }
    }

    /// Returns the smallest workload that was found and how often it failed; `None` if none is smaller.
    pub(super) fn shrink(mut self) -> Option<(Vec<PlannedBurst>, FailureRate)> {
        let size = workload_size(&self.plan);
        if self.rate.failed == 0 {
            return None;
        }
        self.drop_parts();
        self.drop_clients();
        self.drop_bursts();
        self.drop_faults();
        self.drop_operations();
        (workload_size(&self.plan) < size).then_some((self.plan, self.rate))
    }

    /// Replaces the workload by `smaller` if that fails often enough.
    fn accept(&mut self, smaller: Vec<PlannedBurst>) -> bool {
        let smaller: Vec<PlannedBurst> = smaller.into_iter().filter(|burst| !is_empty(burst)).collect();
        if self.is_over || smaller.iter().all(|burst| burst.inputs.iter().all(Vec::is_empty)) {
            return false;
        }
        debug_assert!(
            workload_size(&smaller) < workload_size(&self.plan),
            "only smaller workloads are tried"
        );
        let mut rate = FailureRate::default();
        while rate.failed < NEEDED_FAILURES && rate.of < self.max_tries {
            match (self.repeat)(&smaller) {
                Repetition::Failed => rate.failed += 1,
                Repetition::Passed => (),
                Repetition::Ended => {
                    self.is_over = true;
                    return false;
                }
            }
            rate.of += 1;
        }
        let is_accepted = rate.failed >= NEEDED_FAILURES;
        if is_accepted {
            (self.plan, self.rate) = (smaller, rate);
        }
        is_accepted
    }

    /// Leaves out the operations of one part after the other: those on other keys.
    fn drop_parts(&mut self) {
        let inputs = self.plan.iter().flat_map(|burst| burst.inputs.iter().flatten());
        let parts: BTreeSet<K> = inputs.map(|input| (self.part_of)(input)).collect();
        for part in parts {
            let mut smaller = self.plan.clone();
            for list in smaller.iter_mut().flat_map(|burst| &mut burst.inputs) {
                list.retain(|input| (self.part_of)(input) != part);
            }
            self.accept(smaller);
        }
    }

    /// Leaves out one client after the other.
    fn drop_clients(&mut self) {
        let clients = self.plan.iter().map(|burst| burst.inputs.len()).max().unwrap_or(0);
        for client in (0..clients).rev() {
            let mut smaller = self.plan.clone();
            let lists = smaller.iter_mut().filter_map(|burst| burst.inputs.get_mut(client));
            let left_out: usize = lists.map(|list| std::mem::take(list).len()).sum();
            if left_out > 0 {
                self.accept(smaller);
            }
        }
    }

    /// Leaves out bursts, many at once at first.
    fn drop_bursts(&mut self) {
        let mut size = self.plan.len() / 2;
        while size > 0 {
            // From the end: what comes after the failure, or reads what is of no interest, goes first.
            let mut end = self.plan.len();
            while end > 0 {
                let start = end.saturating_sub(size);
                let mut smaller = self.plan.clone();
                smaller.drain(start..end);
                self.accept(smaller);
                end = start.min(self.plan.len());
            }
            size /= 2;
        }
    }

    /// Leaves out all faults, or else one after the other.
    fn drop_faults(&mut self) {
        let faults: Vec<usize> = (0..self.plan.len()).filter(|&at| self.plan[at].fault.is_some()).collect();
        let without = |plan: &[PlannedBurst], gone: &[usize]| {
            let mut smaller = plan.to_vec();
            gone.iter().for_each(|&at| smaller[at].fault = None);
            smaller
        };
        if faults.is_empty() || self.accept(without(&self.plan, &faults)) || faults.len() == 1 {
            return;
        }
        for at in faults.into_iter().rev() {
            // A burst without operations disappears with its fault, but those before it keep their places.
            self.accept(without(&self.plan, &[at]));
        }
    }

    /// Leaves out one operation after the other, the last first.
    fn drop_operations(&mut self) {
        let mut places = Vec::new();
        for (at, burst) in self.plan.iter().enumerate() {
            for (client, list) in burst.inputs.iter().enumerate() {
                places.extend((0..list.len()).map(|operation| (at, client, operation)));
            }
        }
        for (at, client, operation) in places.into_iter().rev() {
            // Burst, client and place are those at first; later ones went before, so earlier ones are where they were.
            let mut smaller = self.plan.clone();
            smaller[at].inputs[client].remove(operation);
            self.accept(smaller);
        }
    }
}

fn is_empty(burst: &PlannedBurst) -> bool {
    burst.fault.is_none() && burst.inputs.iter().all(Vec::is_empty)
}

/// Returns the size of a workload: operations and faults.
fn workload_size(plan: &[PlannedBurst]) -> usize {
    let size = |burst: &PlannedBurst| {
        burst.inputs.iter().map(Vec::len).sum::<usize>() + usize::from(burst.fault.is_some())
    };
    plan.iter().map(size).sum()
}

#[cfg(test)]
mod tests {
    use ioxide_model::index::Idx;
    use ioxide_model::sts::GateId;
    use ioxide_model::value::Value;
    use ioxide_wire::adapter::shared::FaultKind;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::concurrent::faults::{PlannedFault, plan_fault};

    fn operation(key: i64, n: i64) -> Label {
        Label::Input(GateId::new(0), vec![Value::int(key), Value::int(n)])
    }

    fn key_of(label: &Label) -> Option<Value> {
        let Label::Input(_, values) = label else { return None };
        values.first().cloned()
    }

    fn fault(rng: &mut ChaCha8Rng) -> PlannedFault {
        std::iter::repeat_with(|| plan_fault(rng, &[FaultKind::Pause])).flatten().next().expect("it is drawn")
    }

    /// A plan of 4 clients and 12 bursts on three keys, faults in some of them.
    fn plan(rng: &mut ChaCha8Rng) -> Vec<PlannedBurst> {
        let mut n = 0;
        let mut draw = |rng: &mut ChaCha8Rng| {
            n += 1;
            operation(rng.random_range(0..3), n)
        };
        let burst = |at: usize| PlannedBurst {
            inputs: (0..4).map(|_| (0..rng.random_range(1..4)).map(|_| draw(rng)).collect()).collect(),
            fault: at.is_multiple_of(4).then(|| fault(rng)),
        };
        (0..12).map(burst).collect()
    }

    /// A race of two operations of different clients in one burst, which shows in one run of three.
    fn shows_race(plan: &[PlannedBurst], pair: &[Label; 2], rng: &mut ChaCha8Rng) -> bool {
        let client = |burst: &PlannedBurst, label| burst.inputs.iter().position(|list| list.contains(label));
        let meets = |burst: &PlannedBurst| match (client(burst, &pair[0]), client(burst, &pair[1])) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        };
        plan.iter().any(meets) && rng.random_ratio(1, 3)
    }

    #[test]
    fn what_a_rare_race_needs_is_left() {
        let mut found = 0;
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let full = plan(&mut rng);
            let pair = [full[7].inputs[1][0].clone(), full[7].inputs[3][0].clone()];
            let mut runs = 0;
            let mut repeat = |plan: &[PlannedBurst]| {
                runs += 1;
                if shows_race(plan, &pair, &mut rng) { Repetition::Failed } else { Repetition::Passed }
            };
            let rate = FailureRate { failed: 1, of: 3 };
            let shrinker = WorkloadShrinker::new(full.clone(), rate, key_of, &mut repeat);
            let Some((small, rate)) = shrinker.shrink() else { continue };
            assert!(rate.failed == 2 && rate.of <= MAX_TRIES, "{rate:?}");
            let left: Vec<&Label> = small.iter().flat_map(|burst| burst.inputs.iter().flatten()).collect();
            assert!(pair.iter().all(|label| left.contains(&label)), "what is needed is never left out");
            found += usize::from(left.len() <= 4);
        }
        // A step is missed if fewer than two of eight runs fail, which is so in one of five cases.
        assert!(found >= 10, "{found} of 20");
    }

    #[test]
    fn nothing_is_tried_if_the_failure_did_not_come_back_or_the_time_is_over() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let full = plan(&mut rng);
        let mut never = |_: &[PlannedBurst]| -> Repetition { panic!("no run is made") };
        let rate = FailureRate { failed: 0, of: 5 };
        assert!(WorkloadShrinker::new(full.clone(), rate, key_of, &mut never).shrink().is_none());
        let mut ended = |_: &[PlannedBurst]| Repetition::Ended;
        let rate = FailureRate { failed: 5, of: 5 };
        assert!(WorkloadShrinker::new(full, rate, key_of, &mut ended).shrink().is_none());
    }

    #[test]
    fn a_certain_failure_shrinks_to_one_operation_without_a_fault() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let full = plan(&mut rng);
        let wrong = full[3].inputs[2][0].clone();
        let mut repeat = |plan: &[PlannedBurst]| {
            let is_there = plan.iter().any(|burst| burst.inputs.iter().flatten().any(|it| *it == wrong));
            if is_there { Repetition::Failed } else { Repetition::Passed }
        };
        let rate = FailureRate { failed: 3, of: 3 };
        let (small, _) =
            WorkloadShrinker::new(full, rate, key_of, &mut repeat).shrink().expect("it is smaller");
        assert_eq!(workload_size(&small), 1, "{small:?}");
    }
}
