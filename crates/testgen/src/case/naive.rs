//! The rules with the whole path condition in every query: an oracle for the fast generator, and the baseline of its
//! measurements.
//!
//! By the letter of \[BLLN23] Def. 6 with the corrections of [`case`](super), arc by arc: initial values
//! stay quantified, nothing is projected, nothing is carried from one question to the next. Arcs of R11
//! are not asked for.

use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, GateKind, SwitchId};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{Ctx, SymState, successor};

use super::{CaseRule, front};

/// An arc that can happen: state, rule, message, switch.
pub type NaiveArc = (usize, CaseRule, Option<GateId>, Option<SwitchId>);

/// The arcs along `path` with a time-out of this many seconds; silence counts as in a timed model.
pub fn arcs(cx: &mut Ctx<'_>, path: &[SwitchId], timeout: &Rational) -> Vec<NaiveArc> {
    let sts = cx.sts;
    let mut state = SymState::initial(cx);
    // The state at the end of the path: its condition tells whether the rest can still be followed.
    let mut whole = state.clone();
    for &id in path {
        whole = successor(cx, &whole, &sts.switches[id]);
    }
    let mut found = Vec::new();
    for (n, &id) in path.iter().enumerate() {
        let letter = RuleAnswers::evaluate_at(cx, &state, timeout);
        let is_last = n + 1 == path.len();
        for (rule, gate, switch, guard) in letter.questions(cx, id, is_last, &whole) {
            let facts = [letter.known, guard];
            // An arc that is not refuted is kept, as in the fast generator.
            if cx.decide(&facts) != SolverDecision::Unsat {
                found.push((n, rule, gate, switch));
            }
        }
        state = successor(cx, &state, &sts.switches[id]);
    }
    found
}

/// A query: the rule, its message and switch, its guard.
type RuleQuestion = (CaseRule, Option<GateId>, Option<SwitchId>, Term);

/// The rules at one state.
struct RuleAnswers {
    state: SymState,
    unknowns: Vec<VarId>,
    delay: VarId,
    /// `∃ini. π(ec)`.
    known: Term,
    /// The time waited is at least zero and below the time-out.
    in_time: Term,
    /// The time waited is the time-out or more.
    late: Term,
    /// The successors, each with `∃ini. π(ec')`.
    successors: Vec<(SwitchId, GateId, GateKind, Term)>,
}

impl RuleAnswers {
    fn evaluate_at(cx: &mut Ctx<'_>, state: &SymState, timeout: &Rational) -> Self {
        let sts = cx.sts;
        let unknowns = front::unknowns(cx);
        let delay = cx.pool.indexed_var(cx.delay, state.depth + 1);
        let known = for_some_start(cx, &unknowns, state.path.facts());
        let mut successors = Vec::new();
        for (id, switch) in sts.switches_from(state.loc) {
            let next = successor(cx, state, switch);
            let when = for_some_start(cx, &unknowns, next.path.facts());
            successors.push((id, switch.gate, sts.kind_of(switch), when));
        }
        let (waited, zero) = (cx.pool.var(delay), cx.pool.value(Value::Real(Rational::ZERO)));
        let limit = cx.pool.value(Value::Real(timeout.clone()));
        let (started, early) = (cx.pool.le(zero, waited), cx.pool.lt(waited, limit));
        let in_time = cx.pool.and([started, early]);
        let late = cx.pool.le(limit, waited);
        Self { state: state.clone(), unknowns, delay, known, in_time, late, successors }
    }

    /// Returns the questions about the message of one step.
    fn questions(
        &self,
        cx: &mut Ctx<'_>,
        id: SwitchId,
        is_last: bool,
        whole: &SymState,
    ) -> Vec<RuleQuestion> {
        let mut questions = Vec::new();
        let path = self.successors.iter().filter(|(switch, ..)| *switch == id);
        let others = self.successors.iter().filter(|(switch, ..)| *switch != id);
        for &(switch, gate, kind, when) in path.chain(others) {
            let on_path = switch == id;
            let rule = match kind {
                GateKind::Input if on_path => CaseRule::R1,
                GateKind::Input | GateKind::Internal => continue,
                GateKind::Output if on_path && is_last => CaseRule::R3,
                GateKind::Output if on_path => CaseRule::R2,
                GateKind::Output => CaseRule::R4,
                GateKind::Observed if on_path => CaseRule::R6,
                GateKind::Observed => CaseRule::R7,
            };
            // An input is sent only if the rest of the path can still be followed with it; every other
            // message has its own step alone.
            let guard = match rule {
                CaseRule::R1 => for_some_start(cx, &self.unknowns, whole.path.facts()),
                _ => cx.pool.and([self.in_time, when]),
            };
            questions.push((rule, Some(gate), Some(switch), guard));
        }
        questions.extend(self.unspecified_questions(cx));
        questions.extend(self.silence(cx));
        questions
    }

    fn unspecified_questions(&self, cx: &mut Ctx<'_>) -> Vec<RuleQuestion> {
        let mut questions = Vec::new();
        for (gate, info) in cx.sts.gates.iter_enumerated() {
            let rule = match info.kind {
                GateKind::Output => CaseRule::R5,
                GateKind::Observed => CaseRule::R8,
                GateKind::Input | GateKind::Internal => continue,
            };
            let mentioned = self.successors.iter().filter(|(_, other, ..)| *other == gate);
            let mut facts: Vec<Term> = mentioned.map(|(.., when)| cx.pool.not(*when)).collect();
            facts.push(self.in_time);
            questions.push((rule, Some(gate), None, cx.pool.and(facts)));
        }
        questions
    }

    /// R9, R10: silence is allowed if a message can come later, or no output can come at all.
    fn silence(&self, cx: &mut Ctx<'_>) -> Vec<RuleQuestion> {
        let sts = cx.sts;
        // The later instant is a variable of its own; no step has this number.
        let instant = cx.pool.indexed_var(cx.delay, u32::MAX);
        let (waited, at) = (cx.pool.var(self.delay), cx.pool.var(instant));
        let not_before = cx.pool.le(waited, at);
        let then: Substitution = [(self.delay, at)].into_iter().collect();
        let (mut later, mut outputs) = (Vec::new(), Vec::new());
        for &(id, gate, kind, _) in self.successors.iter().filter(|(.., kind, _)| *kind != GateKind::Input) {
            let next = successor(cx, &self.state, &sts.switches[id]);
            let fact = cx.pool.and(next.path.facts().iter().copied());
            let fact = cx.pool.substitute(fact, &then);
            let depth = self.state.depth + 1;
            let mut bound: Vec<VarId> =
                sts.gates[gate].fields.iter().map(|&field| cx.pool.indexed_var(field, depth)).collect();
            bound.push(instant);
            let since = cx.pool.and([not_before, fact]);
            later.push(cx.pool.exists(&bound, since));
            if kind == GateKind::Output {
                outputs.push(cx.pool.exists(&bound, fact));
            }
        }
        let active = cx.pool.or(outputs);
        let quiet = cx.pool.not(active);
        let quiet: Vec<Term> = self.state.path.facts().iter().copied().chain([quiet]).collect();
        let mut excuses = vec![for_some_start(cx, &self.unknowns, &quiet)];
        for fact in later {
            excuses.push(for_some_start(cx, &self.unknowns, &[fact]));
        }
        let excused = cx.pool.or(excuses);
        let forbidden = cx.pool.not(excused);
        let (allowed, wrong) = (cx.pool.and([self.late, excused]), cx.pool.and([self.late, forbidden]));
        vec![(CaseRule::R9, None, None, allowed), (CaseRule::R10, None, None, wrong)]
    }
}

/// The condition that some values at start satisfy `facts`.
fn for_some_start(cx: &mut Ctx<'_>, unknowns: &[VarId], facts: &[Term]) -> Term {
    let all = cx.pool.and(facts.iter().copied());
    cx.pool.exists(unknowns, all)
}
