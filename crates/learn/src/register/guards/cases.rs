//! Guards from cases: comparisons are added only where results differ.
//!
//! A *case* is one way in which the available values compare, and what happens then. Values that are equal in a case
//! can stand for each other in what is said and stored, so a result is a choice for every place, and cases agree if
//! there is a choice that does for all of them. Cases that do not are split by the comparison that leaves fewest groups
//! of cases that agree: a decision tree \[Quinlan86].

use ioxide_fsm::mealy::{InputId, OutputId};

use super::{GuardComparison, GuardedAnswerValue, GuardedBranch, Operand, ValueRelation};
use crate::register::place::{Theory, ValuePoint};

/// A place in a result: the operands that have the value, or a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ResultPlace {
    Operands(Vec<Operand>),
    Literal(i64),
}

/// The answer and the target of a case.
#[derive(Clone, Debug)]
pub(super) struct CaseResult {
    pub shape: OutputId,
    pub target: usize,
    pub told: Vec<ResultPlace>,
    pub registers: Vec<ResultPlace>,
}

/// One way in which values compare, and its result.
#[derive(Clone, Debug)]
pub(super) struct ComparisonCase {
    /// All operands, with their values in the case.
    pub values: Vec<(Operand, ValuePoint)>,
    pub result: CaseResult,
}

impl ComparisonCase {
    fn operand_value(&self, operand: Operand) -> ValuePoint {
        self.values.iter().find(|(it, _)| *it == operand).map_or(0, |(_, value)| *value)
    }

    /// Returns whether the values of this case satisfy `comparison`.
    fn holds(&self, comparison: &GuardComparison) -> bool {
        comparison.relation.holds(self.operand_value(comparison.left), self.operand_value(comparison.right))
    }
}

/// Returns the result that fits both cases, its places being the operands they share; `None` if there is none.
fn common_result(a: &CaseResult, b: &CaseResult) -> Option<CaseResult> {
    if a.shape != b.shape || a.target != b.target || a.told.len() != b.told.len() {
        return None;
    }
    let both = |a: &[ResultPlace], b: &[ResultPlace]| {
        a.iter().zip(b).map(|(a, b)| common_place(a, b)).collect::<Option<_>>()
    };
    Some(CaseResult {
        shape: a.shape,
        target: a.target,
        told: both(&a.told, &b.told)?,
        registers: both(&a.registers, &b.registers)?,
    })
}

fn common_place(a: &ResultPlace, b: &ResultPlace) -> Option<ResultPlace> {
    match (a, b) {
        (ResultPlace::Literal(a), ResultPlace::Literal(b)) => (a == b).then_some(ResultPlace::Literal(*a)),
        (ResultPlace::Operands(a), ResultPlace::Operands(b)) => {
            let both: Vec<Operand> = a.iter().copied().filter(|it| b.contains(it)).collect();
            (!both.is_empty()).then_some(ResultPlace::Operands(both))
        }
        _ => None,
    }
}

/// Returns the number of groups of cases that agree, each case joining the first group it agrees with.
fn count_groups(cases: &[&ComparisonCase]) -> usize {
    let mut groups: Vec<CaseResult> = Vec::new();
    for case in cases {
        // A measure, not a partition: agreement is not transitive, but fewer groups make smaller trees in practice.
        let found =
            groups.iter_mut().find_map(|group| common_result(group, &case.result).map(|both| (group, both)));
        match found {
            Some((group, both)) => *group = both,
            None => groups.push(case.result.clone()),
        }
    }
    groups.len()
}

/// The transitions of one input at one location.
pub(super) fn build_branches(theory: Theory, gate: InputId, cases: &[ComparisonCase]) -> Vec<GuardedBranch> {
    let mut found = Vec::new();
    let mut open: Vec<(Vec<GuardComparison>, Vec<&ComparisonCase>)> =
        vec![(Vec::new(), cases.iter().collect())];
    while let Some((guard, cases)) = open.pop() {
        let Some((first, rest)) = cases.split_first() else { continue };
        let all = rest.iter().try_fold(first.result.clone(), |all, case| common_result(&all, &case.result));
        if let Some(result) = all {
            found.push(build_branch(gate, &guard, &result));
            continue;
        }
        // Two cases that compare alike in every way are the same case, so there always is a split.
        let Some((comparison, yes, no)) = best_split(theory, &cases) else { continue };
        let with = |relation: ValueRelation| {
            let mut longer = guard.clone();
            longer.push(GuardComparison { relation, ..comparison });
            longer
        };
        open.push((with(comparison.relation.not()), no));
        open.push((with(comparison.relation), yes));
    }
    widen_branches(cases, found)
}

/// Leaves out comparisons that keep no other case away, then branches whose cases others have too.
fn widen_branches(cases: &[ComparisonCase], mut branches: Vec<GuardedBranch>) -> Vec<GuardedBranch> {
    let fits = |branch: &GuardedBranch, case: &ComparisonCase| branch.guard.iter().all(|it| case.holds(it));
    let same = |a: &GuardedBranch, b: &GuardedBranch| {
        (a.shape, &a.told, a.target, &a.registers) == (b.shape, &b.told, b.target, &b.registers)
    };
    let first: Vec<usize> = cases
        .iter()
        .map(|case| branches.iter().position(|it| fits(it, case)).unwrap_or(usize::MAX))
        .collect();
    let before = branches.clone();
    for branch in &mut branches {
        let mut literal = 0;
        while literal < branch.guard.len() {
            let mut wider = branch.clone();
            wider.guard.remove(literal);
            // Without the literal the branch takes further cases; that is right if they would have the same result
            // anyway.
            let mut covered = cases.iter().zip(&first).filter(|(case, _)| fits(&wider, case));
            if covered.all(|(_, &own)| before.get(own).is_some_and(|own| same(own, &wider))) {
                *branch = wider
            } else {
                literal += 1
            }
        }
    }
    let mut at = 0;
    while at < branches.len() {
        let others = || branches.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, it)| it);
        let is_spare =
            |case: &ComparisonCase| !fits(&branches[at], case) || others().any(|other| fits(other, case));
        if branches.len() > 1 && cases.iter().all(is_spare) {
            branches.remove(at);
        } else {
            at += 1
        }
    }
    branches
}

type CaseSplit<'c> = (GuardComparison, Vec<&'c ComparisonCase>, Vec<&'c ComparisonCase>);

/// The comparison that leaves fewest groups; of equals the first: fields before registers, equality before order.
fn best_split<'c>(theory: Theory, cases: &[&'c ComparisonCase]) -> Option<CaseSplit<'c>> {
    let mut best: Option<(usize, CaseSplit<'c>)> = None;
    for comparison in possible_comparisons(theory, cases.first()?) {
        let (yes, no): (Vec<&ComparisonCase>, Vec<&ComparisonCase>) =
            cases.iter().partition(|case| case.holds(&comparison));
        if yes.is_empty() || no.is_empty() {
            continue;
        }
        let groups = count_groups(&yes) + count_groups(&no);
        if best.as_ref().is_none_or(|(fewest, _)| groups < *fewest) {
            best = Some((groups, (comparison, yes, no)));
        }
    }
    best.map(|(_, split)| split)
}

/// All comparisons of available values.
fn possible_comparisons(theory: Theory, case: &ComparisonCase) -> Vec<GuardComparison> {
    let relations: &[ValueRelation] = match theory {
        Theory::Equality => &[ValueRelation::EQUAL],
        Theory::Order => &[ValueRelation::EQUAL, ValueRelation::LESS, ValueRelation::GREATER],
    };
    let mut all = Vec::new();
    for &relation in relations {
        for (at, &(left, _)) in case.values.iter().enumerate() {
            for &(right, _) in &case.values[at + 1..] {
                if !matches!((left, right), (Operand::Constant(_), Operand::Constant(_))) {
                    all.push(GuardComparison { left, relation, right });
                }
            }
        }
    }
    // A field with anything, then registers among themselves.
    all.sort_by_key(|it| (!matches!(it.left, Operand::Field(_)), it.relation != ValueRelation::EQUAL));
    all
}

fn build_branch(gate: InputId, guard: &[GuardComparison], result: &CaseResult) -> GuardedBranch {
    let operand = |choice: &ResultPlace| match choice {
        // What stays at hand longest: constants, registers, fields.
        ResultPlace::Operands(operands) => {
            operands.last().map_or(GuardedAnswerValue::Literal(0), |&it| GuardedAnswerValue::Operand(it))
        }
        ResultPlace::Literal(value) => GuardedAnswerValue::Literal(*value),
    };
    let register = |(number, choice): (usize, &ResultPlace)| match choice {
        // A register that can stay as it is does.
        ResultPlace::Operands(operands) if operands.contains(&Operand::Register(number)) => {
            Operand::Register(number)
        }
        ResultPlace::Operands(operands) => operands.first().copied().unwrap_or(Operand::Register(number)),
        ResultPlace::Literal(_) => Operand::Register(number),
    };
    GuardedBranch {
        gate,
        guard: merge_comparisons(guard),
        shape: result.shape,
        told: result.told.iter().map(operand).collect(),
        target: result.target,
        registers: result.registers.iter().enumerate().map(register).collect(),
    }
}

/// Comparisons of the same two values as one.
fn merge_comparisons(guard: &[GuardComparison]) -> Vec<GuardComparison> {
    let mut all: Vec<GuardComparison> = Vec::new();
    for comparison in guard {
        match all.iter_mut().find(|it| (it.left, it.right) == (comparison.left, comparison.right)) {
            Some(known) => known.relation = known.relation.and(comparison.relation),
            None => all.push(*comparison),
        }
    }
    all.retain(|it| it.relation != ValueRelation::ANY);
    all
}
