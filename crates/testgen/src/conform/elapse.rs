//! Time that passes between two messages, for the members of one side.
//!
//! \[BLLN23] sec. 4: a state may let time pass as long as an output, an observed input or an internal step can still
//! happen, or if it was quiescent when it was entered. Internal steps may be taken at any instants within the delay;
//! they cannot be observed, so their instants are variables of the member's own.

use ioxide_model::number::Rational;
use ioxide_model::term::Term;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::Ctx;

use super::branch::TooMany;
use super::side::{SideMember, SideSystem};

/// The greatest number of members that internal steps make while time passes. Chosen by feel: each has a delay of its
/// own, and the product with the other side multiplies them.
const MAX_ON_THE_WAY: usize = 64;

/// A member after a delay.
pub(crate) struct MemberAfterDelay {
    pub member: SideMember,
    /// The condition, over its own variables too, under which it may have sent nothing until then.
    pub excuse: Term,
    /// The condition under which it was quiescent when it was entered, by the last message or by an internal step
    /// within the delay.
    pub quiet: Term,
}

/// A delay: its length, and the number of the message after it, which numbers the instants within it.
#[derive(Clone, Copy)]
pub(crate) struct MemberDelay {
    pub by: Term,
    pub number: u32,
}

impl MemberDelay {
    /// The delay before message number `number` of a path.
    pub fn before_message(cx: &mut Ctx<'_>, number: u32) -> Self {
        let by = cx.pool.indexed_var(cx.delay, number);
        Self { by: cx.pool.var(by), number }
    }

    /// The fact that the delay is not negative.
    pub fn fact(self, cx: &mut Ctx<'_>) -> Term {
        let zero = zero(cx);
        cx.pool.le(zero, self.by)
    }

    /// The fact that the delay is positive.
    pub fn is_some(self, cx: &mut Ctx<'_>) -> Term {
        let zero = zero(cx);
        cx.pool.lt(zero, self.by)
    }
}

/// The term of no time.
fn zero(cx: &mut Ctx<'_>) -> Term {
    cx.pool.value(Value::Real(Rational::ZERO))
}

/// Returns the members after `delay`, under the facts of `path`.
///
/// # Errors
/// If internal steps do not end while time passes.
pub(crate) fn elapse_members(
    cx: &mut Ctx<'_>,
    side: &SideSystem<'_>,
    path: &[Term],
    members: &[SideMember],
    delay: MemberDelay,
) -> Result<Vec<MemberAfterDelay>, TooMany> {
    let mut found = Vec::with_capacity(members.len());
    let since = zero(cx);
    let at_start = |member: &SideMember| EnteredMember { member: member.clone(), since };
    let mut open: Vec<EnteredMember> = members.iter().rev().map(at_start).collect();
    let mut walk = DelayWalk { side, path, delay, on_the_way: 0 };
    while let Some(entered) = open.pop() {
        found.push(walk.member_at_end(cx, &entered));
        if side.sts.is_timed() {
            open.extend(walk.internal(cx, &entered)?);
        }
    }
    Ok(found)
}

/// A member with the instant at which it was entered: the beginning of the delay, or an internal step within it, which
/// other internal steps may follow.
struct EnteredMember {
    member: SideMember,
    since: Term,
}

/// One side while a delay passes.
struct DelayWalk<'w, 's> {
    side: &'w SideSystem<'s>,
    path: &'w [Term],
    delay: MemberDelay,
    /// The number of internal steps taken so far.
    on_the_way: usize,
}

impl DelayWalk<'_, '_> {
    /// `entered` at the end of the delay.
    fn member_at_end(&self, cx: &mut Ctx<'_>, entered: &EnteredMember) -> MemberAfterDelay {
        let (side, delay) = (self.side, self.delay);
        let EnteredMember { member: entered, since } = entered;
        if !side.sts.is_timed() {
            let values = side.values(entered);
            let quiet = side.quiet(cx, entered, &values);
            return MemberAfterDelay { member: entered.clone(), excuse: cx.pool.tt(), quiet };
        }
        // A member that an internal step entered has waited for the rest of the delay only.
        let waited = cx.pool.sub(delay.by, *since);
        let member = side.advance_clocks(cx, entered, waited);
        let (before, after) = (side.values(entered), side.values(&member));
        let quiet = side.quiet(cx, entered, &before);
        let later = side.later(cx, &member, &after);
        // [BLLN23] Def. 3: it did not wait at all, or was quiescent when it was entered, or something can still come.
        let at_once = cx.pool.le(delay.by, *since);
        let excuse = cx.pool.or([at_once, quiet, later]);
        MemberAfterDelay { member, excuse, quiet }
    }

    /// The members entered by internal steps from `entered` within the delay.
    fn internal(&mut self, cx: &mut Ctx<'_>, entered: &EnteredMember) -> Result<Vec<EnteredMember>, TooMany> {
        let (side, delay) = (self.side, self.delay);
        let EnteredMember { member: entered, since } = entered;
        let mut found = Vec::new();
        for &switch in side.internal(entered.loc) {
            // Every instant within a delay has a number that no other delay of the path uses: each delay owns a
            // block of them, twice as large as the limit, because the last member may go beyond it before the
            // limit is noticed.
            let number = delay.number.saturating_mul(2 * MAX_ON_THE_WAY as u32);
            let number = number.saturating_add(1 + (self.on_the_way + found.len()) as u32);
            let var = cx.pool.indexed_var(cx.instant, number);
            let at = cx.pool.var(var);
            let waited = cx.pool.sub(at, *since);
            let mut there = side.advance_clocks(cx, entered, waited);
            there.own.push(var);
            let bounds = [cx.pool.le(*since, at), cx.pool.le(at, delay.by)];
            let bounds = cx.pool.and(bounds);
            let there = there.with_condition(cx, bounds);
            let values = side.values(&there);
            let guard = cx.pool.substitute(side.sts.switches[switch].guard, &values);
            let next = side.successor(cx, &there, (switch, guard), &values);
            let facts: Vec<Term> = self.path.iter().chain(&next.facts).copied().collect();
            // Undecided members stay: dropping one would hide behaviour, keeping one only costs time.
            if cx.decide(&facts) != SolverDecision::Unsat {
                found.push(EnteredMember { member: next, since: at });
            }
        }
        self.on_the_way += found.len();
        if self.on_the_way > MAX_ON_THE_WAY { Err(TooMany) } else { Ok(found) }
    }
}
