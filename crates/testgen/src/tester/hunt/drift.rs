//! Drift: variables that one input, sent again and again, drives far away from where they begin.
//!
//! A counter that wraps round at 256 shows nothing while inputs that raise and lower it are equally likely: a random
//! walk of *n* steps gets about √*n* away. A sum of 32 bits that takes a million at a time needs two thousand equal
//! messages in a row. So some runs hold one input and the values that move one variable the farthest, until it is past
//! a [mark](NUMBER_MARKS) where machine words or buffers end. Which variables can drift is read off the model: those
//! that an input, or the answer to it, updates with a term over themselves.
//!
//! *Promises.* Decided by counting alone: how far a run drifts depends on the number of labels that are left, never on
//! the clock.

use ioxide_model::number::Int;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateKind, Sts, SwitchId};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;

/// The exponents of the powers of two at which machine words and exact floating-point numbers end.
const NUMBER_MARKS: [u32; 7] = [8, 15, 16, 31, 32, 53, 63];
/// The sizes of collections and texts that matter: of buffers, pages and blocks. Chosen by feel among the powers of
/// two; ten thousand is a limit that people write.
const SIZE_MARKS: [i64; 8] = [64, 128, 256, 512, 1_024, 4_096, 10_000, 65_536];
/// The least number of messages that make a drift: what fewer pass is passed by any walk. Chosen by feel, a little more
/// than a short walk.
const MIN_SENDS: i64 = 32;
/// The number of labels before the first drift. Chosen by feel: most faults are found sooner, and by other moves.
const WARM_UP: usize = 1_200;
/// The least number of labels of a hunt that drifts. Chosen by feel: a shorter one has better things to do.
const MIN_BUDGET: usize = 2_000;
/// The greatest share of the labels after the warm-up that drifts may take, in percent. Measured on the drift faults: a
/// sum of 32 bits takes half of the default budget.
const MAX_SHARE: usize = 60;
/// The number of labels that a hunt without a budget plans for at least (that of a hunt with the default budget), and
/// the factor by which it plans ahead. The factor is chosen by feel: a larger one drifts farther, and leaves less for
/// other walks.
const HORIZON: (usize, usize) = (10_000, 4);
/// The greatest number of plans. Chosen by feel: a model of many counters gets a share of them.
const MAX_PLANS: usize = 64;

/// A budget of labels, as a walk sees it.
#[derive(Clone, Copy, Debug)]
pub struct LabelBudget {
    /// The number of labels that the run may have.
    pub left: usize,
    /// The number of labels of the runs before.
    pub spent: usize,
    /// The number of labels of all runs; [`usize::MAX`] if there is no limit.
    pub total: usize,
}

/// The direction of a drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftWay {
    /// To greater values.
    Up,
    /// To smaller values.
    Down,
}

/// An input, and the variable that it drives.
#[derive(Clone, Copy, Debug)]
pub struct DriftPlan {
    /// The transition of the input.
    pub switch: SwitchId,
    /// The variable that it drives.
    pub var: VarId,
    /// The update of the variable by the input itself; `None` if the answer updates it.
    pub update: Option<Term>,
    /// The direction.
    pub way: DriftWay,
    /// The mark passed last.
    pub passed: i64,
    /// True if the plan led nowhere.
    pub is_idle: bool,
}

/// The plans of a hunt, and the labels spent on them.
#[derive(Clone, Debug, Default)]
pub struct DriftPlans {
    /// All plans; `None` before the model was looked at.
    plans: Option<Vec<DriftPlan>>,
    next: usize,
    spent: usize,
}

impl DriftPlans {
    /// Returns the number and the plan of the next drift, with the labels that it may take; `None` if none is due.
    pub fn next(
        &mut self,
        pool: &TermPool,
        sts: &Sts,
        budget: LabelBudget,
    ) -> Option<(usize, DriftPlan, usize)> {
        // A hunt without a budget plans for a multiple of the labels it has used, so its drifts get longer as it goes
        // on.
        let horizon = if budget.total == usize::MAX {
            HORIZON.0.max(budget.spent.saturating_mul(HORIZON.1))
        } else {
            budget.total
        };
        let warm_up = WARM_UP.min(horizon / 5);
        if horizon < MIN_BUDGET || budget.spent < warm_up {
            return None;
        }
        let share = (horizon - warm_up) / 100 * MAX_SHARE;
        let allowance = share.saturating_sub(self.spent).min(budget.left);
        let plans = self.plans.get_or_insert_with(|| find_plans(pool, sts));
        let count = plans.len();
        // In turn, without the plans that led nowhere.
        let at = (0..count).map(|k| (self.next + k) % count).find(|&at| !plans[at].is_idle)?;
        self.next = at + 1;
        Some((at, plans[at], allowance))
    }

    /// Records the labels of a drift.
    pub fn spend(&mut self, labels: usize) {
        self.spent += labels;
    }

    /// Records that plan `at` passed `mark`; `None` if it led nowhere.
    pub fn record(&mut self, at: usize, mark: Option<i64>) {
        if let Some(plan) = self.plans.as_mut().and_then(|plans| plans.get_mut(at)) {
            match mark {
                Some(mark) => plan.passed = plan.passed.max(mark),
                None => plan.is_idle = true,
            }
        }
    }
}

impl DriftPlan {
    /// Returns the amount by which a value has drifted: the number, the size, or how deep it is; larger is farther.
    pub fn amount(&self, value: &Value) -> i64 {
        let amount = amount(value);
        match self.way {
            DriftWay::Up => amount,
            DriftWay::Down => amount.saturating_neg(),
        }
    }

    /// Returns the farthest mark that `sends` messages of `gain` each can pass from `start`, and that was not passed
    /// before; `None` if there is none, or if so few messages pass it that any walk does.
    pub fn choose_mark(&self, sort: Sort, start: i64, gain: i64, sends: i64) -> Option<i64> {
        // One message more than the mark needs, so that the value is past it and the next answer shows the fault.
        let reach = start.saturating_add(gain.saturating_mul(sends));
        let within = |&mark: &i64| {
            mark > self.passed
                && mark.saturating_add(gain) <= reach
                && mark.saturating_sub(start) / gain.max(1) >= MIN_SENDS
        };
        let marks: Vec<i64> = if sort.is_numeric() {
            NUMBER_MARKS
                .iter()
                .map(|&bits| 1i64.checked_shl(bits).filter(|mark| *mark > 0).unwrap_or(i64::MAX))
                .collect()
        } else {
            SIZE_MARKS.to_vec()
        };
        marks.into_iter().filter(|&mark| mark > 0).filter(within).max()
    }
}

/// Returns a number that grows with the value: the number itself, a length, or a count of parts.
fn amount(value: &Value) -> i64 {
    let saturated = |n: &Int| n.to_i64().unwrap_or(if n.is_negative() { i64::MIN } else { i64::MAX });
    let length = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    match value {
        Value::Bool(_) => 0,
        Value::Int(n) => saturated(n),
        Value::Real(n) => saturated(&n.floor()),
        Value::Str(_) => length(value.as_str().map_or(0, str::len)),
        Value::Collection(items) => length(items.len()),
        Value::Data(_) => length(count_nodes(value)),
    }
}

/// Returns the number of constructors in a value, up to the largest size that matters.
fn count_nodes(value: &Value) -> usize {
    let most = usize::try_from(SIZE_MARKS[SIZE_MARKS.len() - 1]).unwrap_or(usize::MAX);
    let (mut open, mut count) = (vec![value], 0);
    while let Some(value) = open.pop().filter(|_| count < most) {
        if let Value::Data(data) = value {
            count += 1;
            open.extend(data.args.iter());
        }
    }
    count
}

/// Returns the inputs that can drive a variable, those with an update of their own first.
pub fn find_plans(pool: &TermPool, sts: &Sts) -> Vec<DriftPlan> {
    let (mut direct, mut by_answer) = (Vec::new(), Vec::new());
    for (switch, input) in sts.switches.iter_enumerated() {
        if sts.kind_of(input) != GateKind::Input || sts.is_completion(input) {
            continue;
        }
        for (var, update) in drifting(pool, &input.update) {
            direct.extend(plans_of(pool, switch, var, Some(update)));
        }
        let answers = sts.switches_from(input.target).filter(|(_, s)| sts.kind_of(s) != GateKind::Input);
        for (_, answer) in answers {
            // A variable that the input itself updates has a direct plan already, in which the gain can be computed.
            let of_input = |var: VarId| input.update.iter().any(|&(own, _)| own == var);
            for (var, _) in drifting(pool, &answer.update).into_iter().filter(|&(var, _)| !of_input(var)) {
                by_answer.extend(plans_of(pool, switch, var, None));
            }
        }
    }
    direct.extend(by_answer);
    direct.truncate(MAX_PLANS);
    direct
}

/// Returns the updates of a variable by a term over itself.
fn drifting(pool: &TermPool, updates: &[(VarId, Term)]) -> Vec<(VarId, Term)> {
    let is_drift = |&&(var, term): &&(VarId, Term)| {
        pool.mentions(term, var) && !matches!(pool.node(term), TermNode::Var(_))
    };
    updates.iter().filter(is_drift).copied().collect()
}

fn plans_of(pool: &TermPool, switch: SwitchId, var: VarId, update: Option<Term>) -> Vec<DriftPlan> {
    let plan = |way| DriftPlan { switch, var, update, way, passed: 0, is_idle: false };
    match pool.var_info(var).sort {
        Sort::Int | Sort::Real => vec![plan(DriftWay::Up), plan(DriftWay::Down)],
        Sort::Range { lo, hi } if hi.saturating_sub(lo) > 1 << NUMBER_MARKS[0] => {
            vec![plan(DriftWay::Up), plan(DriftWay::Down)]
        }
        // Texts, collections and trees are only driven upwards: the other way ends at nothing, which any walk reaches.
        Sort::Str | Sort::Collection(_) => vec![plan(DriftWay::Up)],
        Sort::Data(data) if pool.is_recursive(data) => vec![plan(DriftWay::Up)],
        Sort::Range { .. } | Sort::Bool | Sort::Data(_) => Vec::new(),
    }
}
