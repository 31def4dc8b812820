//! The symbolic product of an implementation and a specification (\[AT15] Def. 3.4).
//!
//! A product state is a pair of sets of symbolic states over one path. It is kept *split*:
//! under every valuation of the path, each side may be in all of its members. Then a set of members is a belief, and
//! the non-conformance condition (\[AT15] Def. 3.5) is a case of the split in which the implementation makes a step
//! that no member of the specification makes.

use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::SwitchId;
use ioxide_model::term::{Substitution, Term};
use ioxide_symex::Ctx;

use super::InputRule;
use super::beyond::ClockLimits;
use super::branch::{BranchCase, TooMany, assume, cases};
use super::elapse::{MemberAfterDelay, MemberDelay, elapse_members};
use super::ports::ProductPort;
use super::private::SpecCover;
use super::side::{SideMember, SideSystem, Unknowns};

/// The greatest number of members of one side; more is a divergence, or too expensive. Chosen by feel.
const MAX_MEMBERS: usize = 1024;

/// The treatment of an input that no switch of the implementation accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputCompletion {
    /// The input cannot be given: no trace continues with it.
    None,
    /// The input is ignored where no internal step is possible (\[AT15]'s `exec_neg`).
    #[default]
    Angelic,
    /// As angelic, but only where the implementation has left the specification, or the specification
    /// would accept the input in the very same state (\[AT15] sec. 4.3).
    Restricted,
}

/// A step of a product: a message of a port, or silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ProductStep {
    /// A message, by position among the ports; in a timed product, a delay precedes it.
    Port(usize),
    /// Quiescence.
    Delta,
    /// A delay without a message.
    Wait,
}

/// A product state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProductState {
    pub imp: Vec<SideMember>,
    pub spec: Vec<SideMember>,
    /// The path condition.
    pub path: Vec<Term>,
    /// The number of the next message; the variables of the state have smaller numbers.
    pub fresh: u32,
}

impl ProductState {
    /// Returns whether both sides have equal members, compared as terms.
    pub fn is_diagonal(&self) -> bool {
        self.imp == self.spec
    }
}

/// Two systems as one product.
pub(crate) struct ModelProduct<'s> {
    pub imp: SideSystem<'s>,
    pub spec: SideSystem<'s>,
    pub ports: Vec<ProductPort>,
    pub completion: InputCompletion,
    pub relation: ConformanceRelation,
    pub inputs: InputRule,
    pub limits: ClockLimits,
}

/// The result of a step.
pub(crate) enum ProductNext {
    /// Both sides make the step.
    Pair { state: ProductState, doubt: bool },
    /// The implementation makes the step, and the specification forbids it.
    Fail { doubt: bool },
}

/// One side with the terms of its members' variables and of the fields of the message.
#[derive(Clone)]
struct SideScene<'p> {
    side: &'p SideSystem<'p>,
    members: Vec<SideMember>,
    values: Vec<Substitution>,
}

impl ModelProduct<'_> {
    /// Returns the initial product states, each with its doubt; several if internal steps depend on unknown values.
    pub fn initial(&self, cx: &mut Ctx<'_>) -> Result<Vec<(ProductState, bool)>, TooMany> {
        let imp = self.imp.initial(cx, Unknowns::Known);
        let spec = self.spec.initial(cx, Unknowns::Believed);
        let case = BranchCase { path: Vec::new(), doubt: false };
        let mut found = Vec::new();
        // The sides are closed one after the other, under one path: what splits one side splits the pair.
        for (case, imp) in close_members(cx, &self.imp, case, vec![imp])? {
            for (case, spec) in close_members(cx, &self.spec, case, vec![spec.clone()])? {
                found.push((ProductState { imp: imp.clone(), spec, path: case.path, fresh: 0 }, case.doubt));
            }
        }
        Ok(found)
    }

    /// Returns which sets of states of the specification stand for one of them.
    pub fn spec_cover(&self) -> SpecCover {
        let leaves_no_input_out = self.relation == ConformanceRelation::Uioco
            || self.inputs == InputRule::Compared
            || self.spec.takes_all_inputs();
        // Under the restricted completion the implementation may do more where the specification takes an input.
        if leaves_no_input_out && self.completion != InputCompletion::Restricted {
            SpecCover::Subset
        } else {
            SpecCover::Same
        }
    }

    /// Returns whether one of the systems has clocks.
    pub fn is_timed(&self) -> bool {
        self.imp.sts.is_timed() || self.spec.sts.is_timed()
    }

    /// The steps that the system alone decides: outputs, silence and, with clocks, waiting.
    pub fn observations(&self) -> Vec<ProductStep> {
        let output =
            |(at, port): (usize, &ProductPort)| (!port.kind.is_input()).then_some(ProductStep::Port(at));
        let outputs = self.ports.iter().enumerate().filter_map(output);
        outputs.chain([ProductStep::Delta]).chain(self.is_timed().then_some(ProductStep::Wait)).collect()
    }

    /// All steps, observations first.
    pub fn steps(&self) -> Vec<ProductStep> {
        let input = |(at, port): (usize, &ProductPort)| port.kind.is_input().then_some(ProductStep::Port(at));
        let inputs = self.ports.iter().enumerate().filter_map(input);
        self.observations().into_iter().chain(inputs).collect()
    }

    /// Returns the results of `step` from `state`, case by case.
    ///
    /// # Errors
    /// If there are too many cases or too many states.
    pub fn after_step(
        &self,
        cx: &mut Ctx<'_>,
        state: &ProductState,
        step: ProductStep,
    ) -> Result<Vec<ProductNext>, TooMany> {
        match step {
            ProductStep::Delta => self.step_silence(cx, state),
            ProductStep::Wait => self.check_silence(cx, state),
            ProductStep::Port(at) => {
                let port = &self.ports[at];
                let message = port.message(cx, state.fresh);
                if port.kind.is_input() && self.inputs == InputRule::Free {
                    self.step_input(cx, state, port, &message)
                } else {
                    self.step_output(cx, state, port, &message)
                }
            }
        }
    }

    /// Returns both sides just before the next message of `state`, after some delay in a timed product; `None` if no
    /// delay is possible.
    fn sides_before_message(
        &self,
        cx: &mut Ctx<'_>,
        state: &ProductState,
    ) -> Result<Option<PairBeforeMessage<'_>>, TooMany> {
        if !self.is_timed() {
            let (imp, spec) =
                (make_scene(&self.imp, state.imp.clone()), make_scene(&self.spec, state.spec.clone()));
            let (excuses, spec_excuses) = (Vec::new(), Vec::new());
            return Ok(Some(PairBeforeMessage { case: state.to_case(), imp, spec, excuses, spec_excuses }));
        }
        let delay = MemberDelay::before_message(cx, state.fresh);
        let forward = delay.fact(cx);
        let Some(case) = assume(cx, &state.to_case(), forward) else { return Ok(None) };
        let imp = elapse_members(cx, &self.imp, &case.path, &state.imp, delay)?;
        let spec = elapse_members(cx, &self.spec, &case.path, &state.spec, delay)?;
        let excuses = |members: &[MemberAfterDelay]| members.iter().map(|it| it.excuse).collect();
        let (excuses, spec_excuses) = (excuses(&imp), excuses(&spec));
        let members = |all: Vec<MemberAfterDelay>| all.into_iter().map(|it| it.member).collect();
        let (imp, spec) = (make_scene(&self.imp, members(imp)), make_scene(&self.spec, members(spec)));
        Ok(Some(PairBeforeMessage { case, imp, spec, excuses, spec_excuses }))
    }

    /// Returns whether a delay may precede `step`.
    pub fn waits_before(&self, step: ProductStep) -> bool {
        match step {
            ProductStep::Delta => self.has_unseen_instants(),
            ProductStep::Port(_) | ProductStep::Wait => self.is_timed(),
        }
    }

    /// Returns whether internal steps may happen while time passes. Then quiescence comes after a delay of its own: an
    /// internal step on the way may enter a quiescent state. Otherwise no state is entered while time passes, so the
    /// delay tells nothing; later steps have delays of their own.
    pub fn has_unseen_instants(&self) -> bool {
        let has_unseen = |side: &SideSystem<'_>| side.sts.is_timed() && !side.is_visible();
        has_unseen(&self.imp) || has_unseen(&self.spec)
    }

    /// Returns the results of quiescence: no output or internal step is possible any more without an input.
    fn step_silence(&self, cx: &mut Ctx<'_>, state: &ProductState) -> Result<Vec<ProductNext>, TooMany> {
        let Some((case, imp, spec)) = self.at_rest(cx, state)? else { return Ok(Vec::new()) };
        let ((imp, quiet_imp), (spec, quiet_spec)) = (imp, spec);
        let fresh = state.fresh + u32::from(self.has_unseen_instants());
        let mut found = Vec::new();
        for (case, quiet) in imp.cases(cx, &case, &quiet_imp)? {
            // Not quiescent in this case: nothing is observed, so nothing can be forbidden.
            if quiet.is_empty() {
                continue;
            }
            for (case, spec) in spec.cases(cx, &case, &quiet_spec)? {
                if spec.is_empty() {
                    found.push(ProductNext::Fail { doubt: case.doubt });
                    continue;
                }
                let next = ProductState { imp: quiet.clone(), spec, path: case.path, fresh };
                found.push(ProductNext::Pair { state: next, doubt: case.doubt });
            }
        }
        Ok(found)
    }

    /// Returns both sides at the instant of quiescence, each with the conditions under which its members are quiescent;
    /// `None` if no delay is possible.
    fn at_rest(&self, cx: &mut Ctx<'_>, state: &ProductState) -> Result<Option<PairAtRest<'_>>, TooMany> {
        if !self.has_unseen_instants() {
            let (imp, spec) =
                (make_scene(&self.imp, state.imp.clone()), make_scene(&self.spec, state.spec.clone()));
            let (quiet_imp, quiet_spec) = (imp.quiescence_conditions(cx), spec.quiescence_conditions(cx));
            return Ok(Some((state.to_case(), (imp, quiet_imp), (spec, quiet_spec))));
        }
        let delay = MemberDelay::before_message(cx, state.fresh);
        let forward = delay.fact(cx);
        let Some(case) = assume(cx, &state.to_case(), forward) else { return Ok(None) };
        let imp = elapse_members(cx, &self.imp, &case.path, &state.imp, delay)?;
        let spec = elapse_members(cx, &self.spec, &case.path, &state.spec, delay)?;
        let rested = |all: Vec<MemberAfterDelay>| -> (Vec<SideMember>, Vec<Term>) {
            all.into_iter().map(|it| (it.member, it.quiet)).unzip()
        };
        let ((imp, quiet_imp), (spec, quiet_spec)) = (rested(imp), rested(spec));
        Ok(Some((case, (make_scene(&self.imp, imp), quiet_imp), (make_scene(&self.spec, spec), quiet_spec))))
    }

    /// Returns a failure if the implementation may send nothing for longer than the specification allows. There is no
    /// product state after waiting: later steps have delays of their own.
    fn check_silence(&self, cx: &mut Ctx<'_>, state: &ProductState) -> Result<Vec<ProductNext>, TooMany> {
        let delay = MemberDelay::before_message(cx, state.fresh);
        // A delay of 0 is always allowed; only a positive one tells something.
        let mut facts = state.path.clone();
        facts.push(delay.is_some(cx));
        let may = |cx: &mut Ctx<'_>, side: &SideSystem<'_>, members: &[SideMember]| {
            let all = elapse_members(cx, side, &facts, members, delay)?;
            let some: Vec<Term> = all.iter().map(|it| it.member.for_some_member(cx, it.excuse)).collect();
            Ok(cx.pool.or(some))
        };
        let (does, allows) = (may(cx, &self.imp, &state.imp)?, may(cx, &self.spec, &state.spec)?);
        let forbidden = cx.pool.not(allows);
        let Some(case) = assume(cx, &BranchCase { path: facts, doubt: false }, does) else {
            return Ok(Vec::new());
        };
        let case = assume(cx, &case, forbidden);
        Ok(case.map(|case| ProductNext::Fail { doubt: case.doubt }).into_iter().collect())
    }

    /// Returns the results of an output, or of an input where inputs are compared too.
    fn step_output(
        &self,
        cx: &mut Ctx<'_>,
        state: &ProductState,
        port: &ProductPort,
        message: &[Term],
    ) -> Result<Vec<ProductNext>, TooMany> {
        // What the implementation never says cannot be forbidden; most ports are done with here, before any term is
        // made.
        if !port.imp.is_some_and(|gate| state.imp.iter().any(|it| self.imp.may_reach(it.loc, gate))) {
            return Ok(Vec::new());
        }
        let Some(PairBeforeMessage { case, mut imp, mut spec, .. }) = self.sides_before_message(cx, state)?
        else {
            return Ok(Vec::new());
        };
        let imp_moves = imp.moves(cx, port, port.imp, message);
        if imp_moves.is_empty() {
            return Ok(Vec::new());
        }
        let spec_moves = spec.moves(cx, port, Some(port.spec), message);
        let mut found = Vec::new();
        // *Invariant.* Each case decides the guards of all members, so every member of the next state is reached
        // under every valuation of its path: the pair stays split.
        for (case, truths) in cases(cx, &case, &guards_of(&imp_moves))? {
            if !truths.contains(&true) {
                continue;
            }
            let imp_next = imp.members_after(cx, &imp_moves, &truths);
            for (case, truths) in cases(cx, &case, &guards_of(&spec_moves))? {
                // [AT15] Def. 3.5: under the facts of this case the implementation says it, and no member of the
                // specification does.
                if !truths.contains(&true) {
                    found.push(ProductNext::Fail { doubt: case.doubt });
                    continue;
                }
                let spec_next = spec.members_after(cx, &spec_moves, &truths);
                found.extend(self.close_internally(
                    cx,
                    case,
                    imp_next.clone(),
                    spec_next,
                    state.fresh + 1,
                )?);
            }
        }
        Ok(found)
    }

    /// Returns the results of an input at any instant at which both sides may have waited for it.
    fn step_input(
        &self,
        cx: &mut Ctx<'_>,
        state: &ProductState,
        port: &ProductPort,
        message: &[Term],
    ) -> Result<Vec<ProductNext>, TooMany> {
        if !state.spec.iter().any(|it| self.spec.may_reach(it.loc, port.spec)) {
            return Ok(Vec::new());
        }
        let Some(PairBeforeMessage { case, imp, spec, excuses, spec_excuses }) =
            self.sides_before_message(cx, state)?
        else {
            return Ok(Vec::new());
        };
        // The silence before an input rules states out, on either side: one that had to speak by then is in no trace
        // that goes on with the input. Where the specification has no other, the silence is forbidden, and that is
        // found by `ProductStep::Wait`.
        let mut found = Vec::new();
        for (case, spec) in spec.waiting(cx, case, &spec_excuses)? {
            for (case, imp) in imp.waiting(cx, case, &excuses)? {
                found.extend(self.input_at(cx, case, state, (imp, spec.clone()), (port, message))?);
            }
        }
        Ok(found)
    }

    /// Returns the results of an input at the instant at which both sides are.
    fn input_at(
        &self,
        cx: &mut Ctx<'_>,
        case: BranchCase,
        state: &ProductState,
        (mut imp, mut spec): (SideScene<'_>, SideScene<'_>),
        (port, message): (&ProductPort, &[Term]),
    ) -> Result<Vec<ProductNext>, TooMany> {
        let spec_moves = spec.moves(cx, port, Some(port.spec), message);
        if spec_moves.is_empty() {
            return Ok(Vec::new());
        }
        // The specification first: an input that it does not mention leads out of its suspension traces, where
        // everything is allowed. Then the implementation, which may ignore it.
        let imp_moves = imp.moves(cx, port, port.imp, message);
        let mut found = Vec::new();
        for (case, spec_truths) in cases(cx, &case, &guards_of(&spec_moves))? {
            if !spec_truths.contains(&true) {
                continue;
            }
            let spec_next = spec.members_after(cx, &spec_moves, &spec_truths);
            let taken = AcceptedMoves { moves: &spec_moves, truths: &spec_truths };
            for case in self.specified_cases(cx, case, &spec, &spec_moves)? {
                for (case, imp_next) in self.accept_input(cx, case, state, &imp, &imp_moves, &taken)? {
                    if !imp_next.is_empty() {
                        let spec_next = spec_next.clone();
                        found.extend(self.close_internally(
                            cx,
                            case,
                            imp_next,
                            spec_next,
                            state.fresh + 1,
                        )?);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Returns the members of the implementation after an input, those that ignore it included, case by case.
    fn accept_input(
        &self,
        cx: &mut Ctx<'_>,
        case: BranchCase,
        state: &ProductState,
        imp: &SideScene<'_>,
        moves: &[MemberSwitch],
        by_spec: &AcceptedMoves<'_>,
    ) -> Result<Vec<(BranchCase, Vec<SideMember>)>, TooMany> {
        let mut found = Vec::new();
        for (case, truths) in cases(cx, &case, &guards_of(moves))? {
            let ignoring = self.may_ignore(state, imp, &AcceptedMoves { moves, truths: &truths }, by_spec);
            for (case, ignored) in imp.refusing(cx, &case, moves, &ignoring)? {
                let mut next = imp.members_after(cx, moves, &truths);
                for member in ignored {
                    add_unless_known(&mut next, member);
                }
                found.push((case, next));
            }
        }
        Ok(found)
    }

    /// Returns the cases within `case` in which an input that some member takes is specified: all of them under ioco,
    /// under uioco those in which no member without internal steps refuses it. Elsewhere everything is allowed, so
    /// nothing is followed.
    fn specified_cases(
        &self,
        cx: &mut Ctx<'_>,
        case: BranchCase,
        spec: &SideScene<'_>,
        moves: &[MemberSwitch],
    ) -> Result<Vec<BranchCase>, TooMany> {
        if self.relation == ConformanceRelation::Ioco {
            return Ok(vec![case]);
        }
        let all: Vec<usize> = (0..spec.members.len()).collect();
        let split = spec.refusing(cx, &case, moves, &all)?;
        Ok(split.into_iter().filter(|(_, refused)| refused.is_empty()).map(|(case, _)| case).collect())
    }

    /// The members of the implementation that may ignore the input.
    fn may_ignore(
        &self,
        state: &ProductState,
        imp: &SideScene<'_>,
        by_imp: &AcceptedMoves<'_>,
        by_spec: &AcceptedMoves<'_>,
    ) -> Vec<usize> {
        // Who waited too long is not among the members any more, so they are not side by side in time.
        let is_restricted = self.completion == InputCompletion::Restricted && !self.is_timed();
        let restricted = is_restricted && state.is_diagonal();
        let may = |&at: &usize| {
            // A member that is one state takes the input or ignores it. One that is a set of states may do both: some
            // of them take it, and `refusing` says which of the others ignore it.
            let is_single = imp.members[at].own.is_empty();
            self.completion != InputCompletion::None
                && !(is_single && by_imp.is_taken_by(at))
                && (!restricted || by_spec.is_taken_by(at))
        };
        (0..imp.members.len()).filter(may).collect()
    }

    /// Returns the pair closed under internal steps, case by case.
    fn close_internally(
        &self,
        cx: &mut Ctx<'_>,
        case: BranchCase,
        imp: Vec<SideMember>,
        spec: Vec<SideMember>,
        fresh: u32,
    ) -> Result<Vec<ProductNext>, TooMany> {
        let mut found = Vec::new();
        for (case, imp) in close_members(cx, &self.imp, case, imp)? {
            for (case, spec) in close_members(cx, &self.spec, case, spec.clone())? {
                let pair = ProductState { imp: imp.clone(), spec, path: case.path, fresh };
                found.push(ProductNext::Pair { state: pair, doubt: case.doubt });
            }
        }
        Ok(found)
    }
}

impl ProductState {
    /// Returns the path as a case without doubt.
    fn to_case(&self) -> BranchCase {
        BranchCase { path: self.path.clone(), doubt: false }
    }
}

/// Both sides at the instant of quiescence, under a case, each with the conditions of its members.
type PairAtRest<'p> = (BranchCase, (SideScene<'p>, Vec<Term>), (SideScene<'p>, Vec<Term>));

/// Both sides just before a message.
struct PairBeforeMessage<'p> {
    case: BranchCase,
    imp: SideScene<'p>,
    spec: SideScene<'p>,
    /// The conditions under which the members of the implementation may have sent nothing until now; none if
    /// no time passes.
    excuses: Vec<Term>,
    /// Those of the members of the specification.
    spec_excuses: Vec<Term>,
}

/// A switch that a member may take, with its guard there.
struct MemberSwitch {
    member: usize,
    switch: SwitchId,
    /// The guard, which may mention the member's own variables.
    guard: Term,
    /// The condition under which some state of the member takes it.
    some: Term,
}

/// The moves of a side, with their truth in a case.
struct AcceptedMoves<'m> {
    moves: &'m [MemberSwitch],
    truths: &'m [bool],
}

impl AcceptedMoves<'_> {
    /// Returns whether the member takes one of the moves.
    fn is_taken_by(&self, member: usize) -> bool {
        self.moves.iter().zip(self.truths).any(|(taken, &truth)| truth && taken.member == member)
    }
}

/// Returns the conditions under which the moves are taken by some state of their member.
fn guards_of(moves: &[MemberSwitch]) -> Vec<Term> {
    moves.iter().map(|taken| taken.some).collect()
}

/// Adds `member`, unless it is there already.
fn add_unless_known(members: &mut Vec<SideMember>, member: SideMember) {
    if !members.contains(&member) {
        members.push(member);
    }
}

/// Returns the side with the values of its members' variables at hand.
fn make_scene<'p>(side: &'p SideSystem<'p>, members: Vec<SideMember>) -> SideScene<'p> {
    let values = members.iter().map(|member| side.values(member)).collect();
    SideScene { side, members, values }
}

impl<'p> SideScene<'p> {
    /// Returns, for each member, the condition under which it is quiescent.
    fn quiescence_conditions(&self, cx: &mut Ctx<'_>) -> Vec<Term> {
        let quiet = |(member, values)| self.side.quiet(cx, member, values);
        self.members.iter().zip(&self.values).map(quiet).collect()
    }

    /// Returns the members in which their condition holds, case by case.
    fn cases(
        &self,
        cx: &mut Ctx<'_>,
        case: &BranchCase,
        conditions: &[Term],
    ) -> Result<Vec<(BranchCase, Vec<SideMember>)>, TooMany> {
        let some: Vec<Term> =
            self.members.iter().zip(conditions).map(|(member, &it)| member.for_some_member(cx, it)).collect();
        let mut found = Vec::new();
        for (case, truths) in cases(cx, case, &some)? {
            let mut kept = Vec::new();
            for ((member, &condition), _) in
                self.members.iter().zip(conditions).zip(&truths).filter(|(_, truth)| **truth)
            {
                kept.push(member.clone().with_condition(cx, condition));
            }
            found.push((case, kept));
        }
        Ok(found)
    }

    /// Returns the side with the members that may have waited by `excuses`, case by case; unchanged where no time
    /// passes.
    fn waiting(
        &self,
        cx: &mut Ctx<'_>,
        case: BranchCase,
        excuses: &[Term],
    ) -> Result<Vec<(BranchCase, SideScene<'p>)>, TooMany> {
        if excuses.is_empty() {
            return Ok(vec![(case, make_scene(self.side, self.members.clone()))]);
        }
        let waiting = self.cases(cx, &case, excuses)?.into_iter();
        let some = waiting.filter(|(_, members)| !members.is_empty());
        Ok(some.map(|(case, members)| (case, make_scene(self.side, members))).collect())
    }

    /// Returns the switches of `port` whose guards are not trivially false.
    fn moves(
        &mut self,
        cx: &mut Ctx<'_>,
        port: &ProductPort,
        gate: Option<ioxide_model::sts::GateId>,
        message: &[Term],
    ) -> Vec<MemberSwitch> {
        let Some(gate) = gate else { return Vec::new() };
        let mut found = Vec::new();
        for (at, (member, values)) in self.members.iter().zip(&mut self.values).enumerate() {
            if self.side.switches_at(member.loc, gate).next().is_none() {
                continue;
            }
            let demand = port.bind(cx, &self.side.sts.gates[gate], message, values);
            for switch in self.side.switches_at(member.loc, gate) {
                let guard = cx.pool.substitute(self.side.sts.switches[switch].guard, values);
                let guard = cx.pool.and2(demand, guard);
                let some = member.for_some_member(cx, guard);
                if !cx.pool.is_false(some) {
                    found.push(MemberSwitch { member: at, switch, guard, some });
                }
            }
        }
        found
    }

    /// Returns the members after the moves that are true.
    fn members_after(&self, cx: &mut Ctx<'_>, moves: &[MemberSwitch], truths: &[bool]) -> Vec<SideMember> {
        let mut next = Vec::new();
        for (taken, _) in moves.iter().zip(truths).filter(|(_, truth)| **truth) {
            let (member, values) = (&self.members[taken.member], &self.values[taken.member]);
            let member = self.side.successor(cx, member, (taken.switch, taken.guard), values);
            add_unless_known(&mut next, member);
        }
        next
    }

    /// Returns those of `members` that take none of `moves` and have no internal step, case by case.
    fn refusing(
        &self,
        cx: &mut Ctx<'_>,
        case: &BranchCase,
        moves: &[MemberSwitch],
        members: &[usize],
    ) -> Result<Vec<(BranchCase, Vec<SideMember>)>, TooMany> {
        let mut conditions = Vec::with_capacity(members.len());
        for &at in members {
            let own = moves.iter().filter(|taken| taken.member == at).map(|taken| taken.guard);
            let mut leaving: Vec<Term> = own.collect();
            for &switch in self.side.internal(self.members[at].loc) {
                let guard = self.side.sts.switches[switch].guard;
                leaving.push(cx.pool.substitute(guard, &self.values[at]));
            }
            let leaving = cx.pool.or(leaving);
            conditions.push(cx.pool.not(leaving));
        }
        let chosen = members.iter().map(|&at| self.members[at].clone()).collect();
        make_scene(self.side, chosen).cases(cx, case, &conditions)
    }
}

/// The closure under internal steps (\[AT15] Def. 3.1), case by case.
pub(crate) fn close_members(
    cx: &mut Ctx<'_>,
    side: &SideSystem<'_>,
    case: BranchCase,
    members: Vec<SideMember>,
) -> Result<Vec<(BranchCase, Vec<SideMember>)>, TooMany> {
    if side.is_visible() {
        return Ok(vec![(case, members)]);
    }
    // Every case has its own list of members, looked at from the front while what is new is added at the end. A case
    // may be split at any member; the parts go on from there, each with the truth it was split by.
    let mut done = Vec::new();
    let mut settled = Vec::new();
    members.into_iter().for_each(|member| add_unless_known(&mut settled, side.settle(cx, member)));
    let mut open = vec![(case, settled, 0)];
    while let Some((case, members, at)) = open.pop() {
        let Some(member) = members.get(at).cloned() else {
            done.push((case, members));
            continue;
        };
        let values = side.values(&member);
        let internal = side.internal(member.loc);
        let guard =
            |cx: &mut Ctx<'_>, id: &SwitchId| cx.pool.substitute(side.sts.switches[*id].guard, &values);
        let guards: Vec<Term> = internal.iter().map(|id| guard(cx, id)).collect();
        let some: Vec<Term> = guards.iter().map(|&guard| member.for_some_member(cx, guard)).collect();
        for (case, truths) in cases(cx, &case, &some)?.into_iter().rev() {
            let mut members = members.clone();
            let taken = internal.iter().zip(&guards).zip(&truths).filter(|(_, truth)| **truth);
            for ((&id, &guard), _) in taken {
                let next = side.successor(cx, &member, (id, guard), &values);
                add_unless_known(&mut members, side.settle(cx, next));
            }
            debug_assert!(at < members.len(), "members are only added");
            if members.len() > MAX_MEMBERS {
                return Err(TooMany);
            }
            open.push((case, members, at + 1));
        }
    }
    Ok(done)
}
