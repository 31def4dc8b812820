//! Clocks beyond every constant they are compared with.
//!
//! A clock that is compared with constants only, none of them above `m`, makes no difference once it is above `m`: all
//! such values allow the same from there on, whatever the other clocks are. So product states are split where a clock
//! may be above its limit, and there it gets one and the same value. With constant bounds this leaves finitely many
//! states (Alur and Dill's regions, merged to zones by inclusion); a clock that is compared with data of unbounded
//! range has no limit.

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::Sts;
use ioxide_model::term::{Term, TermNode, VarId};
use ioxide_model::value::Value;
use ioxide_symex::Ctx;

use super::branch::{BranchCase, convex, fork};
use super::product::ProductState;
use super::side::SideMember;

/// The number of cases of one member above which further clocks are not split. Chosen by feel: a clock that is not
/// split keeps its exact value, so fewer states are recognised.
const MAX_SPLIT: usize = 64;

/// The greatest number that each clock of the two systems is compared with; `None` for a clock without a limit.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct ClockLimits {
    imp: Vec<Option<Rational>>,
    spec: Vec<Option<Rational>>,
}

impl ClockLimits {
    /// The limits of the clocks of `imp` and `spec`; where they are the same clocks, the greater ones.
    pub fn new(cx: &mut Ctx<'_>, imp: &Sts, spec: &Sts) -> Self {
        let (mut left, mut right) = (limits(cx, imp), limits(cx, spec));
        let clocks = |sts: &Sts| sts.clocks.iter().map(|clock| clock.var).collect::<Vec<_>>();
        if clocks(imp) == clocks(spec) {
            // The same clock gets the same limit on both sides, so values that are equal on both stay equal beyond it.
            let both: Vec<Option<Rational>> =
                left.iter().zip(&right).map(|(a, b)| Some(a.clone()?.max(b.clone()?))).collect();
            (left, right) = (both.clone(), both);
        }
        Self { imp: left, spec: right }
    }

    /// The limits of the clocks of the implementation and of those of the specification; `None` if a clock has none.
    pub fn all(&self) -> Option<[Vec<Rational>; 2]> {
        let known = |limits: &[Option<Rational>]| limits.iter().cloned().collect::<Option<Vec<_>>>();
        Some([known(&self.imp)?, known(&self.spec)?])
    }

    /// Returns the cases of `state` in which every clock is within its limit or has its value beyond.
    pub fn split(&self, cx: &mut Ctx<'_>, state: ProductState, doubt: bool) -> Vec<(ProductState, bool)> {
        if self.imp.is_empty() && self.spec.is_empty() {
            return vec![(state, doubt)];
        }
        let case = BranchCase { path: state.path.clone(), doubt };
        let mut found = Vec::new();
        for (case, imp) in split_side(cx, &self.imp, case, state.imp.clone()) {
            for (case, spec) in split_side(cx, &self.spec, case, state.spec.clone()) {
                found.push((
                    ProductState { imp: imp.clone(), spec, path: case.path, fresh: state.fresh },
                    case.doubt,
                ));
            }
        }
        found
    }
}

fn split_side(
    cx: &mut Ctx<'_>,
    limits: &[Option<Rational>],
    case: BranchCase,
    members: Vec<SideMember>,
) -> Vec<(BranchCase, Vec<SideMember>)> {
    let mut open = vec![(case, Vec::new())];
    for member in members {
        let mut next = Vec::new();
        for (case, done) in open {
            for (case, members) in split_member(cx, limits, case, member.clone()) {
                let mut all: Vec<SideMember> = done.clone();
                for member in members {
                    if !all.contains(&member) {
                        all.push(member);
                    }
                }
                next.push((case, all));
            }
        }
        open = next;
    }
    open
}

/// Returns the cases of one member: a set of states may have some within a limit and some beyond.
fn split_member(
    cx: &mut Ctx<'_>,
    limits: &[Option<Rational>],
    case: BranchCase,
    member: SideMember,
) -> Vec<(BranchCase, Vec<SideMember>)> {
    let first = member.store.terms().len().saturating_sub(limits.len());
    let mut open = vec![(case, vec![member])];
    for (at, limit) in limits.iter().enumerate() {
        let Some(limit) = limit else { continue };
        let mut next = Vec::new();
        for (case, members) in open {
            let mut partial = vec![(case, Vec::new())];
            for member in members {
                let mut more = Vec::new();
                for (case, done) in partial {
                    for (case, split) in split_clock(cx, case, &member, first + at, limit) {
                        more.push((case, [&done[..], &split].concat()));
                    }
                }
                partial = more;
            }
            next.extend(partial);
        }
        open = next;
        // The clocks that are left keep their exact values, which is sound.
        if open.len() > MAX_SPLIT {
            break;
        }
    }
    open
}

/// Returns the cases of `member` with the clock at position `at` within `limit`, or with its value beyond.
fn split_clock(
    cx: &mut Ctx<'_>,
    case: BranchCase,
    member: &SideMember,
    at: usize,
    limit: &Rational,
) -> Vec<(BranchCase, Vec<SideMember>)> {
    let clock = member.store.terms()[at];
    let most = cx.pool.value(Value::Real(limit.clone()));
    let beyond = cx.pool.lt(most, clock);
    let mut above = member.clone();
    // Any value above the limit will do, as long as it is always the same one.
    above.store.terms_mut()[at] = cx.pool.value(Value::Real(limit + &Rational::ONE));
    if let Some(is_beyond) = cx.pool.as_value(beyond).and_then(Value::as_bool) {
        return vec![(case, vec![if is_beyond { above } else { member.clone() }])];
    }
    let vars = cx.pool.free_vars(clock);
    // The clock does not depend on the own variables of the member: within a case it is beyond for all of its states or
    // for none.
    if !member.own.iter().any(|own| vars.contains(own)) {
        let (yes, no) = fork(cx, case, beyond);
        let yes = yes.map(|case| (case, vec![above]));
        return yes.into_iter().chain(no.map(|case| (case, vec![member.clone()]))).collect();
    }
    // Otherwise the member is a set of states with different values of the clock. Three cases: some beyond and some
    // within, all beyond, all within.
    let within = cx.pool.not(beyond);
    let (above, below) = (above.with_condition(cx, beyond), member.clone().with_condition(cx, within));
    let (some_above, some_below) = (member.for_some_member(cx, beyond), member.for_some_member(cx, within));
    let mut found = Vec::new();
    for case in convex(cx, &case, some_above, true) {
        let both = convex(cx, &case, some_below, true);
        found.extend(both.into_iter().map(|case| (case, vec![above.clone(), below.clone()])));
        let only = convex(cx, &case, some_below, false);
        found.extend(only.into_iter().map(|case| (case, vec![above.clone()])));
    }
    // Some state there is, so it is within.
    let within = convex(cx, &case, some_above, false);
    found.extend(within.into_iter().map(|case| (case, vec![below.clone()])));
    found
}

/// The greatest number that each clock of `sts` is compared with; `None` for a clock without a limit.
fn limits(cx: &mut Ctx<'_>, sts: &Sts) -> Vec<Option<Rational>> {
    sts.clocks.iter().map(|clock| greatest_limit(cx, sts, clock.var)).collect()
}

/// Returns the greatest number that a guard compares `clock` with; `None` if it is used otherwise.
fn greatest_limit(cx: &mut Ctx<'_>, sts: &Sts, clock: VarId) -> Option<Rational> {
    let mut greatest = Rational::ZERO;
    for switch in &sts.switches {
        // A value that is copied from the clock lives on in a variable, where it may be compared with anything.
        if switch.update.iter().any(|(_, term)| cx.pool.mentions(*term, clock)) {
            return None;
        }
        greatest = greatest.max(limit_in(cx, switch.guard, clock)?);
    }
    Some(greatest)
}

/// The greatest number that comparisons in `guard` compare `clock` with.
fn limit_in(cx: &mut Ctx<'_>, guard: Term, clock: VarId) -> Option<Rational> {
    if !cx.pool.mentions(guard, clock) {
        return Some(Rational::ZERO);
    }
    match cx.pool.node(guard).clone() {
        TermNode::Not(inner) => limit_in(cx, inner, clock),
        TermNode::And(parts) | TermNode::Or(parts) => {
            let mut greatest = Rational::ZERO;
            for &part in &parts {
                greatest = greatest.max(limit_in(cx, part, clock)?);
            }
            Some(greatest)
        }
        TermNode::Le(a, b) | TermNode::Lt(a, b) | TermNode::Eq(a, b) if cx.pool.sort(a).is_numeric() => {
            greatest_crossing(cx, a, b, clock)
        }
        TermNode::Exists(_, body) => limit_in(cx, body, clock),
        _ => None,
    }
}

/// The greatest value of `clock` at which `a` and `b` are equal.
fn greatest_crossing(cx: &mut Ctx<'_>, a: Term, b: Term, clock: VarId) -> Option<Rational> {
    let difference = cx.pool.sub(a, b);
    let (low, high, factor) = span(cx, difference, clock)?;
    // The clock cancels out of the difference, so this comparison is not one that can be judged here; no limit is the
    // safe answer.
    if factor.is_zero() {
        return None;
    }
    // The rest of the difference is between `low` and `high`, so its sign can change only between these two values of
    // the clock; both are taken, since the factor may be negative.
    let ends = [(-&low).div(&factor), (-&high).div(&factor)];
    Some(ends.into_iter().fold(Rational::ZERO, Rational::max))
}

/// Returns the least and the greatest value of `term` without `clock`, and the factor of `clock`; `None` if the term is
/// not linear, or has a variable without bounds.
pub(super) fn span(cx: &Ctx<'_>, term: Term, clock: VarId) -> Option<(Rational, Rational, Rational)> {
    let constant = |value: Rational| Some((value.clone(), value, Rational::ZERO));
    match cx.pool.node(term) {
        TermNode::Value(value) => constant(value.to_rational()?),
        TermNode::Var(var) if *var == clock => Some((Rational::ZERO, Rational::ZERO, Rational::ONE)),
        TermNode::Var(var) => match cx.pool.var_info(*var).sort {
            Sort::Range { lo, hi } => Some((Rational::from(lo), Rational::from(hi), Rational::ZERO)),
            _ => None,
        },
        TermNode::ToReal(inner) => span(cx, *inner, clock),
        TermNode::Add(parts) => {
            let mut sum = (Rational::ZERO, Rational::ZERO, Rational::ZERO);
            for &part in parts {
                let (low, high, factor) = span(cx, part, clock)?;
                sum = (&sum.0 + &low, &sum.1 + &high, &sum.2 + &factor);
            }
            Some(sum)
        }
        TermNode::Mul(parts) if parts.len() == 2 => {
            let by = cx.pool.as_value(parts[0]).and_then(Value::to_rational)?;
            let (low, high, factor) = span(cx, parts[1], clock)?;
            let (low, high) = (&low * &by, &high * &by);
            let (low, high) = if by.is_negative() { (high, low) } else { (low, high) };
            Some((low, high, &factor * &by))
        }
        _ => None,
    }
}
