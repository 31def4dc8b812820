//! The symbolic product of an implementation and a specification (003 Def. 3.4).
//!
//! A product state is a pair of sets of symbolic states over one path. It is kept *split*:
//! under every valuation of the path, each side may be in all of its members. Then a set of
//! members is a belief, and the non-conformance condition (003 Def. 3.5) is a case of the
//! split in which the implementation does what no member of the specification does.

use ioxide_model::relation::Relation;
use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_model::term::{Substitution, Term};
use ioxide_symex::Ctx;

use super::branch::{Case, TooMany, cases};
use super::ports::Port;
use super::side::{Member, Side};

/// At most this many states are kept of one side; more is a divergence, or too much.
const MAX_MEMBERS: usize = 1024;

/// What an implementation does with an input no switch of it accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// It cannot happen: nothing is known after it.
    None,
    /// It is ignored where no internal step is possible (003's `exec_neg`).
    #[default]
    Angelic,
    /// As angelic, but only where the implementation has left the specification, or the specification
    /// would accept the input in the very same state (003 sec. 4.3).
    Restricted,
}

/// A step of a product: a message of a port, or silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A message, by position among the ports.
    Port(usize),
    /// Quiescence.
    Delta,
}

/// A product state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pair {
    pub imp: Vec<Member>,
    pub spec: Vec<Member>,
    /// What is assumed of the values.
    pub path: Vec<Term>,
    /// The number of the next message: those of smaller numbers occur in the state.
    pub fresh: u32,
}

impl Pair {
    /// Whether both sides are in the same states, seen by their terms.
    pub fn is_diagonal(&self) -> bool {
        self.imp == self.spec
    }
}

/// Two systems, ready to be stepped together.
pub(crate) struct Product<'s> {
    pub imp: Side<'s>,
    pub spec: Side<'s>,
    pub ports: Vec<Port>,
    pub completion: Completion,
    pub relation: Relation,
}

/// What a step leads to.
pub(crate) enum Next {
    /// Both sides do it.
    Pair { pair: Pair, doubt: bool },
    /// The implementation does it and the specification does not allow it.
    Fail { doubt: bool },
}

/// One side with the values of its members, fields of all messages included.
struct Scene<'p> {
    side: &'p Side<'p>,
    members: &'p [Member],
    values: Vec<Substitution>,
}

impl Product<'_> {
    /// The product state at start; several if internal steps depend on unknown values.
    pub fn initial(&self, cx: &mut Ctx<'_>) -> Result<Vec<(Pair, bool)>, TooMany> {
        let (imp, spec) = (self.imp.initial(cx), self.spec.initial(cx));
        let case = Case { path: Vec::new(), doubt: false };
        let mut found = Vec::new();
        for (case, imp) in close(cx, &self.imp, case, vec![imp])? {
            for (case, spec) in close(cx, &self.spec, case, vec![spec.clone()])? {
                found.push((Pair { imp: imp.clone(), spec, path: case.path, fresh: 0 }, case.doubt));
            }
        }
        Ok(found)
    }

    /// The steps the system alone decides: outputs and silence.
    pub fn observations(&self) -> Vec<Step> {
        let output = |(at, port): (usize, &Port)| (!port.kind.is_input()).then_some(Step::Port(at));
        self.ports.iter().enumerate().filter_map(output).chain([Step::Delta]).collect()
    }

    /// Every step there is, observations first.
    pub fn steps(&self) -> Vec<Step> {
        let ports = |wanted: bool| {
            let fits = move |port: &Port| port.kind.is_input() == wanted;
            self.ports.iter().enumerate().filter(move |(_, port)| fits(port)).map(|(at, _)| Step::Port(at))
        };
        ports(false).chain([Step::Delta]).chain(ports(true)).collect()
    }

    /// What `step` leads to from `pair`.
    ///
    /// # Errors
    /// If there are too many cases or too many states.
    pub fn after(&self, cx: &mut Ctx<'_>, pair: &Pair, step: Step) -> Result<Vec<Next>, TooMany> {
        let fresh = pair.fresh;
        let (imp, spec) = (scene(&self.imp, &pair.imp), scene(&self.spec, &pair.spec));
        match step {
            Step::Delta => self.silence(cx, pair, &imp, &spec),
            Step::Port(at) => {
                let port = &self.ports[at];
                let message = port.message(cx, fresh);
                match port.kind {
                    GateKind::Output | GateKind::Internal => self.output(cx, pair, port, &message, imp, spec),
                    GateKind::Input | GateKind::Observed => self.input(cx, pair, port, &message, imp, spec),
                }
            }
        }
    }

    fn silence(
        &self,
        cx: &mut Ctx<'_>,
        pair: &Pair,
        imp: &Scene<'_>,
        spec: &Scene<'_>,
    ) -> Result<Vec<Next>, TooMany> {
        let (quiet_imp, quiet_spec) = (imp.quiet(cx), spec.quiet(cx));
        let mut found = Vec::new();
        for (case, quiet) in cases(cx, &pair.case(), &quiet_imp)? {
            if !quiet.contains(&true) {
                continue;
            }
            let kept = kept(imp.members, &quiet);
            for (case, quiet) in cases(cx, &case, &quiet_spec)? {
                if !quiet.contains(&true) {
                    found.push(Next::Fail { doubt: case.doubt });
                    continue;
                }
                let spec = self::kept(spec.members, &quiet);
                let next = Pair { imp: kept.clone(), spec, path: case.path, fresh: pair.fresh };
                found.push(Next::Pair { pair: next, doubt: case.doubt });
            }
        }
        Ok(found)
    }

    fn output(
        &self,
        cx: &mut Ctx<'_>,
        pair: &Pair,
        port: &Port,
        message: &[Term],
        mut imp: Scene<'_>,
        mut spec: Scene<'_>,
    ) -> Result<Vec<Next>, TooMany> {
        let imp_moves = imp.moves(cx, port, port.imp, message);
        if imp_moves.is_empty() {
            return Ok(Vec::new());
        }
        let spec_moves = spec.moves(cx, port, Some(port.spec), message);
        let mut found = Vec::new();
        for (case, truths) in cases(cx, &pair.case(), &guards(&imp_moves))? {
            if !truths.contains(&true) {
                continue;
            }
            let imp_next = imp.reached(cx, &imp_moves, &truths);
            for (case, truths) in cases(cx, &case, &guards(&spec_moves))? {
                if !truths.contains(&true) {
                    found.push(Next::Fail { doubt: case.doubt });
                    continue;
                }
                let spec_next = spec.reached(cx, &spec_moves, &truths);
                self.closed(cx, case, imp_next.clone(), spec_next, pair.fresh + 1, &mut found)?;
            }
        }
        Ok(found)
    }

    fn input(
        &self,
        cx: &mut Ctx<'_>,
        pair: &Pair,
        port: &Port,
        message: &[Term],
        mut imp: Scene<'_>,
        mut spec: Scene<'_>,
    ) -> Result<Vec<Next>, TooMany> {
        let spec_moves = spec.moves(cx, port, Some(port.spec), message);
        if spec_moves.is_empty() {
            return Ok(Vec::new());
        }
        let imp_moves = imp.moves(cx, port, port.imp, message);
        let mut found = Vec::new();
        for (case, spec_truths) in cases(cx, &pair.case(), &guards(&spec_moves))? {
            if !spec_truths.contains(&true) {
                continue;
            }
            let spec_next = spec.reached(cx, &spec_moves, &spec_truths);
            for case in self.specified(cx, case, &spec, &spec_moves, &spec_truths)? {
                for (case, truths) in cases(cx, &case, &guards(&imp_moves))? {
                    let ignoring = self.may_ignore(pair, &imp_moves, &truths, &spec_moves, &spec_truths);
                    for (case, ignored) in imp.stable(cx, &case, &ignoring)? {
                        let mut imp_next = imp.reached(cx, &imp_moves, &truths);
                        for member in ignored {
                            include(&mut imp_next, member);
                        }
                        if !imp_next.is_empty() {
                            self.closed(cx, case, imp_next, spec_next.clone(), pair.fresh + 1, &mut found)?;
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// The cases within `case` in which an input that some member takes is specified: always under ioco, under
    /// uioco where no member that stays refuses it. Elsewhere everything is allowed, so nothing is followed.
    fn specified(
        &self,
        cx: &mut Ctx<'_>,
        case: Case,
        spec: &Scene<'_>,
        moves: &[Taken],
        truths: &[bool],
    ) -> Result<Vec<Case>, TooMany> {
        let takes =
            |member: usize| moves.iter().zip(truths).any(|(taken, &truth)| truth && taken.member == member);
        let refusing: Vec<usize> = match self.relation {
            Relation::Ioco => return Ok(vec![case]),
            Relation::Uioco => (0..spec.members.len()).filter(|&member| !takes(member)).collect(),
        };
        let split = spec.stable(cx, &case, &refusing)?;
        Ok(split.into_iter().filter(|(_, refused)| refused.is_empty()).map(|(case, _)| case).collect())
    }

    /// The members of the implementation that accept nothing and may ignore the input.
    fn may_ignore(
        &self,
        pair: &Pair,
        moves: &[Taken],
        truths: &[bool],
        spec_moves: &[Taken],
        spec_truths: &[bool],
    ) -> Vec<usize> {
        let acts = |moves: &[Taken], truths: &[bool], member: usize| {
            moves.iter().zip(truths).any(|(taken, &truth)| truth && taken.member == member)
        };
        let restricted = self.completion == Completion::Restricted && pair.is_diagonal();
        let may = |&member: &usize| {
            self.completion != Completion::None
                && !acts(moves, truths, member)
                && (!restricted || acts(spec_moves, spec_truths, member))
        };
        (0..pair.imp.len()).filter(may).collect()
    }

    /// Closes both sides under internal steps and adds the states reached.
    fn closed(
        &self,
        cx: &mut Ctx<'_>,
        case: Case,
        imp: Vec<Member>,
        spec: Vec<Member>,
        fresh: u32,
        found: &mut Vec<Next>,
    ) -> Result<(), TooMany> {
        for (case, imp) in close(cx, &self.imp, case, imp)? {
            for (case, spec) in close(cx, &self.spec, case, spec.clone())? {
                let pair = Pair { imp: imp.clone(), spec, path: case.path, fresh };
                found.push(Next::Pair { pair, doubt: case.doubt });
            }
        }
        Ok(())
    }
}

impl Pair {
    fn case(&self) -> Case {
        Case { path: self.path.clone(), doubt: false }
    }
}

/// A switch a member may take, and its guard there.
pub(crate) struct Taken {
    pub member: usize,
    pub switch: SwitchId,
    pub guard: Term,
}

fn guards(moves: &[Taken]) -> Vec<Term> {
    moves.iter().map(|taken| taken.guard).collect()
}

fn kept(members: &[Member], truths: &[bool]) -> Vec<Member> {
    members.iter().zip(truths).filter(|(_, truth)| **truth).map(|(member, _)| member.clone()).collect()
}

fn include(members: &mut Vec<Member>, member: Member) {
    if !members.contains(&member) {
        members.push(member);
    }
}

fn scene<'p>(side: &'p Side<'p>, members: &'p [Member]) -> Scene<'p> {
    Scene { side, members, values: members.iter().map(|member| side.values(member)).collect() }
}

impl Scene<'_> {
    fn quiet(&self, cx: &mut Ctx<'_>) -> Vec<Term> {
        let quiet = |(member, values)| self.side.quiet(cx, member, values);
        self.members.iter().zip(&self.values).map(quiet).collect()
    }

    /// The switches of `port` that are not refuted at once, with their guards.
    fn moves(
        &mut self,
        cx: &mut Ctx<'_>,
        port: &Port,
        gate: Option<ioxide_model::sts::GateId>,
        message: &[Term],
    ) -> Vec<Taken> {
        let Some(gate) = gate else { return Vec::new() };
        let mut found = Vec::new();
        for (at, (member, values)) in self.members.iter().zip(&mut self.values).enumerate() {
            if self.side.at(member.loc, gate).next().is_none() {
                continue;
            }
            let demand = port.bind(cx, &self.side.sts.gates[gate], message, values);
            for switch in self.side.at(member.loc, gate) {
                let guard = cx.pool.substitute(self.side.sts.switches[switch].guard, values);
                let guard = cx.pool.and2(demand, guard);
                if !cx.pool.is_false(guard) {
                    found.push(Taken { member: at, switch, guard });
                }
            }
        }
        found
    }

    /// The members after the moves that are true.
    fn reached(&self, cx: &mut Ctx<'_>, moves: &[Taken], truths: &[bool]) -> Vec<Member> {
        let mut next = Vec::new();
        for (taken, _) in moves.iter().zip(truths).filter(|(_, truth)| **truth) {
            let (member, values) = (&self.members[taken.member], &self.values[taken.member]);
            let member = self.side.successor(cx, member, taken.switch, values);
            include(&mut next, member);
        }
        next
    }

    /// Those of `members` that no internal step can leave, case by case.
    fn stable(
        &self,
        cx: &mut Ctx<'_>,
        case: &Case,
        members: &[usize],
    ) -> Result<Vec<(Case, Vec<Member>)>, TooMany> {
        let mut leaving = Vec::with_capacity(members.len());
        for &at in members {
            let member = &self.members[at];
            let guard = |cx: &mut Ctx<'_>, switch: &SwitchId| {
                cx.pool.substitute(self.side.sts.switches[*switch].guard, &self.values[at])
            };
            let any: Vec<Term> =
                self.side.internal(member.loc).iter().map(|switch| guard(cx, switch)).collect();
            leaving.push(cx.pool.or(any));
        }
        let found = cases(cx, case, &leaving)?;
        let stays = |truths: &[bool]| {
            let stay = members.iter().zip(truths).filter(|(_, leaves)| !**leaves);
            stay.map(|(&at, _)| self.members[at].clone()).collect()
        };
        Ok(found.into_iter().map(|(case, truths)| (case, stays(&truths))).collect())
    }
}

/// The closure under internal steps (003 Def. 3.1), case by case.
pub(crate) fn close(
    cx: &mut Ctx<'_>,
    side: &Side<'_>,
    case: Case,
    members: Vec<Member>,
) -> Result<Vec<(Case, Vec<Member>)>, TooMany> {
    if side.is_visible() {
        return Ok(vec![(case, members)]);
    }
    let mut done = Vec::new();
    let mut open = vec![(case, members, 0)];
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
        for (case, truths) in cases(cx, &case, &guards)?.into_iter().rev() {
            let mut members = members.clone();
            for (&id, _) in internal.iter().zip(&truths).filter(|(_, truth)| **truth) {
                include(&mut members, side.successor(cx, &member, id, &values));
            }
            if members.len() > MAX_MEMBERS {
                return Err(TooMany);
            }
            open.push((case, members, at + 1));
        }
    }
    Ok(done)
}
