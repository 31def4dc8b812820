//! The refinement of classes until all members of each behave alike.
//!
//! Condition classes partition the stores of every location, input classes the inputs of every message. A pair of
//! them that can be reached is looked at until one of these holds: no input of the class exists in any store of the
//! condition class, or one exists in every store and every path from there is certain or impossible and ends in one
//! condition class. Whatever is undecided is a condition that is true for some members and false for others: if it
//! mentions a field it divides the input classes of the message, else it splits the condition class. Only classes
//! that are reached are split, so a counter that starts at 0 is not split below 0.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, LocId};
use ioxide_model::term::{Substitution, Term};
use ioxide_model::valuation::Valuation;
use ioxide_smt::halt::Halted;
use ioxide_smt::layers::forall::eliminate;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{Ctx, quiescence_condition};

use super::react::{OutputTerms, ReactionPath, paths_after, paths_at_start};
use super::rivals::difference;
use super::{
    Abstraction, AbstractionScope, ClassLimits, ClassOutcome, ClassStep, ConditionClass, InputClass,
    NoAbstraction, WhyLeftOut, boundary, names,
};

/// Returns the first of these abstractions that is exact, or the bounded one.
///
/// Condition classes whose stores all have inputs of the same classes, input classes speaking of the fields alone
/// where the stores allow it, else relative to the store; condition classes in which an input class may be empty for
/// some stores; a bounded one.
pub(super) fn refine_abstraction(
    cx: &mut Ctx<'_>,
    boundary: u32,
    limits: &ClassLimits,
    scope: &AbstractionScope,
) -> Result<Abstraction, NoAbstraction> {
    refuse_unsupported(cx)?;
    let (start, preamble) = find_start(cx, limits.reactions)?;
    let mut loose = ClassRefiner::new(cx, boundary, (limits, scope), (limits.states, limits.classes));
    loose.is_loose = true;
    let loose_order = loose.split_until_stable(cx, &start)?;
    let is_enough = loose.is_exact && !loose.is_conditional;
    let most = if loose.is_exact { (limits.strict, limits.strict) } else { (limits.states, limits.classes) };
    let (mut refiner, mut order) = if is_enough {
        (loose.clone(), loose_order.clone())
    } else {
        let mut strict = ClassRefiner::new(cx, boundary, (limits, scope), most);
        let order = strict.split_until_stable(cx, &start)?;
        (strict, order)
    };
    if refiner.is_exact {
        let mut absolute = ClassRefiner::new(cx, boundary, (limits, scope), (limits.states, limits.classes));
        absolute.blocks.clone_from(&refiner.blocks);
        absolute.is_absolute = true;
        let found = match absolute.split_until_stable(cx, &start) {
            // The classes that are known already are as exact; only their conditions are longer.
            Err(NoAbstraction::Halted(Halted::Time)) => None,
            found => Some(found?),
        };
        if let Some(found) = found.filter(|_| absolute.is_exact) {
            (refiner, order) = (absolute, found);
        }
    } else if loose.is_exact {
        (refiner, order) = (loose, loose_order);
    } else {
        refiner = ClassRefiner::new(cx, boundary, (limits, scope), (limits.bounded, limits.bounded));
        order = refiner.split_until_stable(cx, &start)?;
    }
    let found = refiner.gather_classes(cx, &order, start, preamble);
    if found.inputs.is_empty() { Err(NoAbstraction::NoInput) } else { Ok(found) }
}

/// Refuses models with clocks, with variables that have no initial value, or with observed inputs.
fn refuse_unsupported(cx: &Ctx<'_>) -> Result<(), NoAbstraction> {
    if cx.sts.is_timed() {
        return Err(NoAbstraction::Timed);
    }
    if let Some(var) = cx.sts.vars.iter().find(|var| var.init.is_none()) {
        return Err(NoAbstraction::UnknownAtStart { var: cx.pool.var_info(var.var).name.to_string() });
    }
    match cx.sts.gates.iter().find(|gate| gate.kind == GateKind::Observed) {
        Some(gate) => Err(NoAbstraction::ObservedInput { gate: gate.name.to_string() }),
        None => Ok(()),
    }
}

/// Returns the first silent state, and the outputs before it.
fn find_start(cx: &mut Ctx<'_>, limit: usize) -> Result<(ConcreteState, Vec<Label>), NoAbstraction> {
    let mut paths = paths_at_start(cx, limit)?;
    // Tests begin in one state: a model that can settle in several has no initial class.
    let path = match (paths.pop(), paths.is_empty()) {
        (Some(path), true) => path,
        (None, _) => return Err(NoAbstraction::NoInput),
        (Some(_), false) => return Err(NoAbstraction::SeveralStarts),
    };
    let nothing = Valuation::new();
    let undecided = || NoAbstraction::Undecided { what: "the start".into() };
    let value = |(var, term)| Some((var, cx.pool.eval(term, &nothing).ok()?));
    let values: Option<Valuation> = path.store.iter(cx.sts).map(value).collect();
    let label = |outputs: &OutputTerms| {
        let values = outputs.values.iter().map(|&term| cx.pool.eval(term, &nothing).ok());
        Some(Label::Output(outputs.gate, values.collect::<Option<_>>()?))
    };
    let preamble: Option<Vec<Label>> = path.outputs.iter().map(label).collect();
    let state = ConcreteState { loc: path.loc, values: values.ok_or_else(undecided)? };
    Ok((state, preamble.ok_or(NoAbstraction::SeveralStarts)?))
}

/// A condition class while it may still be split.
#[derive(Clone)]
struct ConditionBlock {
    loc: LocId,
    facts: Vec<Term>,
    is_alive: bool,
}

/// Input classes of one message with the same reactions: the message, their conditions, and the reaction of every
/// condition class.
type ClassColumn = (GateId, Vec<Term>, Vec<ClassStep>);

/// An input class while it may still be divided.
#[derive(Clone)]
struct InputPart {
    gate: GateId,
    facts: Vec<Term>,
    is_alive: bool,
    /// No switch takes an input of it, in any store.
    is_idle: bool,
}

/// The condition that would decide the reaction to a pair of classes.
enum ClassCut {
    Split(usize, Term),
    Divide(GateId, Term),
    /// No such condition is known.
    Nothing,
}

/// The truth of a formula in a class: for all members, for none, for some, or undecided.
pub(super) enum ClassTruth {
    All,
    None,
    Some,
    Unknown,
}

#[derive(Clone)]
struct ClassRefiner<'l> {
    boundary: u32,
    limits: &'l ClassLimits,
    scope: &'l AbstractionScope,
    max_states: usize,
    max_classes: usize,
    blocks: Vec<ConditionBlock>,
    parts: Vec<InputPart>,
    paths: BTreeMap<usize, Rc<[ReactionPath]>>,
    steps: BTreeMap<(usize, usize), ClassStep>,
    /// The pairs of a condition class and a message with a path that the solver did not decide.
    unknown: BTreeSet<(usize, GateId)>,
    /// True if an input class may be empty for some stores of a condition class.
    is_loose: bool,
    /// True if an input class is empty for some stores of a condition class.
    is_conditional: bool,
    /// True if conditions of input classes have the values of the variables that a condition class fixes.
    is_absolute: bool,
    fixed: BTreeMap<usize, Substitution>,
    is_exact: bool,
    /// The facts about silence at every location, if they are used.
    silent: Vec<Vec<Term>>,
    /// The answers chosen for pairs of classes.
    chosen: BTreeMap<(usize, usize), Vec<OutputTerms>>,
}

impl<'l> ClassRefiner<'l> {
    /// One condition class per location, one input class per message.
    fn new(
        cx: &mut Ctx<'_>,
        boundary: u32,
        (limits, scope): (&'l ClassLimits, &'l AbstractionScope),
        (states, classes): (usize, usize),
    ) -> Self {
        let block = |loc| ConditionBlock { loc, facts: Vec::new(), is_alive: true };
        let gates = cx.sts.gates.iter_enumerated();
        let gates = gates.filter(|(id, gate)| gate.kind == GateKind::Input && scope.gives(*id));
        let parts = gates
            .map(|(gate, _)| InputPart { gate, facts: Vec::new(), is_alive: true, is_idle: false })
            .collect();
        let blocks = (0..cx.sts.locations.len()).map(|loc| block(LocId::new(loc))).collect();
        Self {
            boundary,
            limits,
            scope,
            max_states: states,
            max_classes: classes,
            blocks,
            parts,
            paths: BTreeMap::new(),
            steps: BTreeMap::new(),
            unknown: BTreeSet::new(),
            is_loose: false,
            is_conditional: false,
            is_absolute: false,
            fixed: BTreeMap::new(),
            is_exact: true,
            silent: silent_facts(cx, scope),
            chosen: BTreeMap::new(),
        }
    }

    /// The facts about the stores of a condition class in which the model is silent, as it is when an input is given.
    fn facts_of(&self, block: usize) -> Vec<Term> {
        let ConditionBlock { loc, facts, .. } = &self.blocks[block];
        facts.iter().chain(&self.silent[loc.index()]).copied().collect()
    }

    /// Splits until nothing is left to split; returns the condition classes that are reached, in order.
    fn split_until_stable(
        &mut self,
        cx: &mut Ctx<'_>,
        start: &ConcreteState,
    ) -> Result<Vec<usize>, NoAbstraction> {
        loop {
            // A split invalidates what was visited, so the walk starts again. The limits bound the number of
            // classes, so this ends.
            if let Some(order) = self.walk(cx, start)? {
                return Ok(order);
            }
        }
    }

    /// Visits all classes that can be reached; `None` if a class was split on the way.
    fn walk(&mut self, cx: &mut Ctx<'_>, start: &ConcreteState) -> Result<Option<Vec<usize>>, NoAbstraction> {
        // Breadth first from the class of the start; `order` is queue and result in one.
        let mut order = vec![self.block_of(cx, start)];
        let mut next = 0;
        while let Some(&block) = order.get(next) {
            next += 1;
            // Boundaries come first: they divide input classes for all condition classes at once.
            if self.know_paths(cx, block)? {
                return Ok(None);
            }
            for part in 0..self.parts.len() {
                if !self.parts[part].is_alive || self.parts[part].is_idle {
                    continue;
                }
                if let Some(halted) = cx.halt_reason() {
                    return Err(NoAbstraction::Halted(halted));
                }
                if self.split_pair(cx, block, part)? {
                    return Ok(None);
                }
                let Some(ClassStep::Taken(outcomes)) = self.steps.get(&(block, part)) else { continue };
                for outcome in outcomes {
                    debug_assert!(
                        self.blocks[outcome.target].is_alive,
                        "steps into split classes are recomputed"
                    );
                    if !order.contains(&outcome.target) {
                        order.push(outcome.target);
                    }
                }
            }
        }
        Ok(Some(order))
    }

    /// Computes the reaction to a pair of classes; returns whether that split a class.
    fn split_pair(&mut self, cx: &mut Ctx<'_>, block: usize, part: usize) -> Result<bool, NoAbstraction> {
        let is_fresh = match self.steps.get(&(block, part)) {
            // A step into a class that was split since must be computed again.
            Some(ClassStep::Taken(outcomes)) => outcomes.iter().all(|to| self.blocks[to.target].is_alive),
            Some(_) => true,
            None => false,
        };
        if is_fresh {
            return Ok(false);
        }
        let step = match self.step_of_class(cx, block, part) {
            Ok(step) => step,
            Err(ClassCut::Nothing) => ClassStep::LeftOut(WhyLeftOut::Undecided),
            Err(ClassCut::Divide(gate, fact)) => {
                // Where the class fixes the variables, a condition on both becomes one on fields alone.
                let fact = self.absolute(cx, block, fact);
                if self.divide(cx, gate, fact) {
                    return Ok(true);
                } else {
                    ClassStep::LeftOut(WhyLeftOut::Bounded)
                }
            }
            Err(ClassCut::Split(block, fact)) => {
                if self.split(cx, block, fact) {
                    return Ok(true);
                } else {
                    ClassStep::LeftOut(WhyLeftOut::Bounded)
                }
            }
        };
        if let ClassStep::LeftOut(WhyLeftOut::Bounded | WhyLeftOut::Undecided) = step {
            self.is_exact = false;
        }
        self.steps.insert((block, part), step);
        Ok(false)
    }

    /// The condition class of a concrete state; the classes of one location cover all stores.
    fn block_of(&self, cx: &Ctx<'_>, state: &ConcreteState) -> usize {
        let holds = |&fact: &Term| cx.pool.holds(fact, &state.values) == Ok(true);
        let is_it = |block: &ConditionBlock| {
            block.is_alive && block.loc == state.loc && block.facts.iter().all(holds)
        };
        // The first classes are one per location, in order, so the fallback is the class of the location.
        self.blocks.iter().position(is_it).unwrap_or(state.loc.index())
    }

    /// Computes the paths of `block` once, and divides input classes at their boundaries; returns whether one was
    /// divided.
    fn know_paths(&mut self, cx: &mut Ctx<'_>, block: usize) -> Result<bool, NoAbstraction> {
        if self.paths.contains_key(&block) {
            return Ok(false);
        }
        let mut was_divided = false;
        let sts = cx.sts;
        let context = self.facts_of(block);
        let mut found = Vec::new();
        for (id, switch) in sts.switches_from(self.blocks[block].loc) {
            if sts.kind_of(switch) == GateKind::Input && self.scope.gives(switch.gate) {
                match paths_after(cx, &context, id, self.limits.reactions) {
                    Ok(paths) => found.extend(paths),
                    // Only this message is lost, not the abstraction: its steps are left out.
                    Err(NoAbstraction::Undecided { .. }) => drop(self.unknown.insert((block, switch.gate))),
                    Err(reason) => return Err(reason),
                }
            }
        }
        self.leave_out_beyond(cx, block, &mut found);
        for path in &found {
            let gate = sts.switches[path.switches[0]].gate;
            for atom in boundary::move_comparisons(cx, path.when, &sts.gates[gate].fields, self.boundary) {
                let atom = self.absolute(cx, block, atom);
                was_divided |= self.divide(cx, gate, atom);
            }
        }
        self.paths.insert(block, found.into());
        Ok(was_divided)
    }

    /// Removes the paths that lead out of the scope, and the inputs with which they may be taken from the other paths:
    /// a system that takes such an input is right whatever it does then.
    fn leave_out_beyond(&self, cx: &mut Ctx<'_>, block: usize, paths: &mut Vec<ReactionPath>) {
        let Some(beyond) = self.scope.beyond else { return };
        let (out, mut within): (Vec<ReactionPath>, Vec<ReactionPath>) =
            paths.drain(..).partition(|path| path.loc == beyond);
        let sts = cx.sts;
        let gate = |path: &ReactionPath| sts.switches[path.switches[0]].gate;
        for path in &mut within {
            let of = gate(path);
            for left in out.iter().filter(|left| gate(left) == of) {
                let both = [&self.blocks[block].facts[..], &[path.when, left.when]].concat();
                if cx.decide(&both) != SolverDecision::Unsat {
                    let stays = cx.pool.not(left.when);
                    path.when = cx.pool.and2(path.when, stays);
                }
            }
        }
        *paths = within;
    }

    /// Returns the reaction to an input class in a condition class, or the cut that is needed to decide it.
    fn step_of_class(&mut self, cx: &mut Ctx<'_>, block: usize, part: usize) -> Result<ClassStep, ClassCut> {
        let gate = self.parts[part].gate;
        let sts = cx.sts;
        let facts = [self.facts_of(block), self.parts[part].facts.clone()].concat();
        match cx.decide(&facts) {
            // No store of this class has such an input. This is exact: nothing is left out.
            SolverDecision::Unsat => return Ok(ClassStep::Impossible),
            SolverDecision::Unknown(_) => return Err(ClassCut::Nothing),
            SolverDecision::Sat if self.unknown.contains(&(block, gate)) => return Err(ClassCut::Nothing),
            SolverDecision::Sat => (),
        }
        let of_gate = |path: &&ReactionPath| sts.switches[path.switches[0]].gate == gate;
        let paths = Rc::clone(&self.paths[&block]);
        let known: Vec<(&ReactionPath, ClassTruth)> = paths
            .iter()
            .filter(of_gate)
            .map(|path| (path, holds(cx, &facts, path.when)))
            // Paths that no member takes do not matter; those that only some take call for a cut below.
            .filter(|(_, holds)| !matches!(holds, ClassTruth::None))
            .collect();
        // What the model does not mention need not be the same for all stores.
        if known.is_empty() {
            return Ok(ClassStep::Unspecified);
        }
        // Otherwise a test of this class could not be executed from every store in which it should be.
        self.exists_everywhere(cx, block, part)?;
        let known = match self.scope.takes_one_way.then(|| find_way(cx, &facts, &known)) {
            Some(TakenWay::Only(at)) => {
                self.chosen.insert((block, part), known[at].0.outputs.clone());
                vec![known.into_iter().nth(at).expect("it is the position of a path")]
            }
            Some(TakenWay::Hidden) => return Ok(ClassStep::LeftOut(WhyLeftOut::HiddenChoice)),
            Some(TakenWay::NoChoice) | None => known,
        };
        let mut outcomes = Vec::new();
        for (path, holds) in known {
            match holds {
                ClassTruth::All => (),
                ClassTruth::Some => {
                    // The condition of the path parts the members: cut along its first conjunct that does.
                    let conjuncts = cx.pool.conjuncts(path.when);
                    return Err(self.find_cut(cx, block, gate, &facts, &conjuncts));
                }
                ClassTruth::None | ClassTruth::Unknown => return Err(ClassCut::Nothing),
            }
            // All members of the pair take this path; they must also end in one condition class, or the pair is cut
            // by where they end.
            let target = self.target(cx, block, gate, &facts, path)?;
            outcomes.push(ClassOutcome {
                switches: path.switches.clone(),
                outputs: path.outputs.clone(),
                store: path.store.clone(),
                target,
            });
        }
        Ok(ClassStep::Taken(outcomes))
    }

    /// Checks that every store of the condition class has an input of the input class, or notes that some have none.
    fn exists_everywhere(&mut self, cx: &mut Ctx<'_>, block: usize, part: usize) -> Result<(), ClassCut> {
        let (gate, facts) = (self.parts[part].gate, self.parts[part].facts.clone());
        let sts = cx.sts;
        let all = cx.pool.and(facts);
        let some = cx.pool.exists(&sts.gates[gate].fields, all);
        let some = eliminate(cx.pool, some);
        match holds(cx, &self.facts_of(block), some) {
            ClassTruth::All => Ok(()),
            ClassTruth::Some if self.is_loose => {
                self.is_conditional = true;
                Ok(())
            }
            ClassTruth::Some => Err(ClassCut::Split(block, some)),
            ClassTruth::None | ClassTruth::Unknown => Err(ClassCut::Nothing),
        }
    }

    /// Returns the condition class in which `path` ends, whatever the store; otherwise the cut that would separate the
    /// stores which end in different classes.
    fn target(
        &self,
        cx: &mut Ctx<'_>,
        block: usize,
        gate: GateId,
        facts: &[Term],
        path: &ReactionPath,
    ) -> Result<usize, ClassCut> {
        let names = path.store.substitution(cx.sts);
        for (id, target) in self.blocks.iter().enumerate() {
            if !target.is_alive || target.loc != path.loc {
                continue;
            }
            // Weakest precondition: the facts of the target over the stores before the path.
            let then: Vec<Term> = target.facts.iter().map(|&fact| cx.pool.substitute(fact, &names)).collect();
            let all = cx.pool.and(then.iter().copied());
            match holds(cx, facts, all) {
                ClassTruth::All => return Ok(id),
                ClassTruth::None => (),
                // The members end in several classes: split or divide until each pair of classes has one target.
                ClassTruth::Some => return Err(self.find_cut(cx, block, gate, facts, &then)),
                ClassTruth::Unknown => return Err(ClassCut::Nothing),
            }
        }
        Err(ClassCut::Nothing)
    }

    /// Returns the cut by the first of `conjuncts` that holds for some members only.
    fn find_cut(
        &self,
        cx: &mut Ctx<'_>,
        block: usize,
        gate: GateId,
        facts: &[Term],
        conjuncts: &[Term],
    ) -> ClassCut {
        let fields = &cx.sts.gates[gate].fields;
        for &fact in conjuncts {
            match holds(cx, facts, fact) {
                ClassTruth::All => (),
                // About the message: divide the input class. About the store alone: split the condition class.
                ClassTruth::Some if cx.pool.free_vars(fact).iter().any(|var| fields.contains(var)) => {
                    return ClassCut::Divide(gate, fact);
                }
                ClassTruth::Some => return ClassCut::Split(block, fact),
                ClassTruth::None | ClassTruth::Unknown => return ClassCut::Nothing,
            }
        }
        ClassCut::Nothing
    }

    /// Returns `fact` with the values of the variables that `block` fixes, if conditions are to be absolute.
    fn absolute(&mut self, cx: &mut Ctx<'_>, block: usize, fact: Term) -> Term {
        if !self.is_absolute {
            return fact;
        }
        let facts = self.blocks[block].facts.clone();
        let fixed = self.fixed.entry(block).or_insert_with(|| names::fixed_values(cx, &facts));
        cx.pool.substitute(fact, fixed)
    }

    /// Splits a condition class by `fact`; false if there are as many classes as allowed.
    fn split(&mut self, cx: &mut Ctx<'_>, block: usize, fact: Term) -> bool {
        let spare = cx.sts.locations.len();
        if self.blocks.iter().filter(|block| block.is_alive).count() >= self.max_states + spare {
            return false;
        }
        let other = cx.pool.not(fact);
        for side in [fact, other] {
            let mut facts = self.blocks[block].facts.clone();
            facts.extend(cx.pool.conjuncts(side));
            self.blocks.push(ConditionBlock { loc: self.blocks[block].loc, facts, is_alive: true });
        }
        self.blocks[block].is_alive = false;
        true
    }

    /// Divides every class of `gate` that `fact` cuts; returns whether one was divided.
    fn divide(&mut self, cx: &mut Ctx<'_>, gate: GateId, fact: Term) -> bool {
        let mut was_cut = false;
        for part in 0..self.parts.len() {
            if !self.parts[part].is_alive || self.parts[part].is_idle || self.parts[part].gate != gate {
                continue;
            }
            if let ClassTruth::Some = holds(cx, &self.parts[part].facts.clone(), fact) {
                let counts = |part: &&InputPart| part.is_alive && !part.is_idle && part.gate == gate;
                let n_classes = self.parts.iter().filter(counts).count();
                if n_classes >= self.max_classes {
                    self.is_exact = false;
                    return was_cut;
                }
                let other = cx.pool.not(fact);
                for side in [fact, other] {
                    let mut facts = self.parts[part].facts.clone();
                    facts.push(side);
                    let is_idle = is_idle(cx, gate, &facts);
                    self.parts.push(InputPart { gate, facts, is_alive: true, is_idle });
                }
                self.parts[part].is_alive = false;
                was_cut = true;
            }
        }
        was_cut
    }

    /// Returns the reaction of every condition class of `order` to one input class, with targets by their number in
    /// `order`.
    fn column_of(&self, order: &[usize], part: usize) -> Vec<ClassStep> {
        let number = |block: usize| order.iter().position(|&id| id == block).unwrap_or(0);
        let step = |&block: &usize| match self.steps.get(&(block, part)) {
            Some(ClassStep::Taken(outcomes)) => {
                let moved = |to: &ClassOutcome| ClassOutcome { target: number(to.target), ..to.clone() };
                ClassStep::Taken(outcomes.iter().map(moved).collect())
            }
            Some(other) => other.clone(),
            None => ClassStep::LeftOut(WhyLeftOut::Undecided),
        };
        order.iter().map(step).collect()
    }

    /// Returns the columns of the input classes that are taken somewhere, with the conditions of their inputs.
    fn group_columns(&self, cx: &mut Ctx<'_>, order: &[usize]) -> Vec<ClassColumn> {
        let is_live = |part: &InputPart| part.is_alive && !part.is_idle;
        let alive = (0..self.parts.len()).filter(|&part| is_live(&self.parts[part]));
        let mut columns: Vec<ClassColumn> = Vec::new();
        for part in alive {
            let InputPart { gate, facts, .. } = &self.parts[part];
            let (steps, when) = (self.column_of(order, part), cx.pool.and(facts.iter().copied()));
            let is_taken = |step: &ClassStep| matches!(step, ClassStep::Taken(_) | ClassStep::LeftOut(_));
            if !steps.iter().any(is_taken) {
                continue;
            }
            // Input classes with the same column need no separate tests. With boundaries they stay apart, since each of
            // them has to be tried.
            let twin = columns.iter_mut().find(|(other, _, same)| other == gate && *same == steps);
            match twin {
                Some((_, conditions, _)) if self.boundary == 0 => conditions.push(when),
                _ => columns.push((*gate, vec![when], steps)),
            }
        }
        columns
    }

    /// Returns the abstraction of the classes that are reached; input classes with equal reactions are merged, unless
    /// boundaries are to be tested.
    fn gather_classes(
        &self,
        cx: &mut Ctx<'_>,
        order: &[usize],
        start: ConcreteState,
        preamble: Vec<Label>,
    ) -> Abstraction {
        let mut inputs = Vec::new();
        let mut steps = vec![Vec::new(); order.len()];
        for (gate, conditions, column) in self.group_columns(cx, order) {
            let when = cx.pool.or(conditions);
            inputs.push(InputClass { gate, when, name: String::new() });
            steps.iter_mut().zip(column).for_each(|(row, step)| row.push(step));
        }
        let state = |&block: &usize| ConditionClass {
            loc: self.blocks[block].loc,
            facts: self.blocks[block].facts.clone(),
            name: String::new(),
        };
        let states = order.iter().map(state).collect();
        let (is_exact, is_conditional) = (self.is_exact, self.is_conditional);
        let answers = Vec::new();
        let mut chosen: Vec<(GateId, Vec<OutputTerms>)> = Vec::new();
        for (&(block, part), said) in &self.chosen {
            let choice = (self.parts[part].gate, said.clone());
            let is_taken = matches!(self.steps.get(&(block, part)), Some(ClassStep::Taken(_)));
            if is_taken && self.parts[part].is_alive && order.contains(&block) && !chosen.contains(&choice) {
                chosen.push(choice);
            }
        }
        let mut found = Abstraction {
            inputs,
            states,
            steps,
            initial: 0,
            start,
            preamble,
            is_exact,
            is_conditional,
            answers,
            chosen,
        };
        names::name_classes(cx, &mut found);
        found
    }
}

/// The way that is taken where the model leaves the system a choice.
enum TakenWay {
    /// All ways end alike.
    NoChoice,
    /// Only the path at this position, whose outputs tell it from the others.
    Only(usize),
    /// The outputs do not tell the ways apart.
    Hidden,
}

/// Returns the way to take among paths that are possible where `facts` hold.
fn find_way(cx: &mut Ctx<'_>, facts: &[Term], known: &[(&ReactionPath, ClassTruth)]) -> TakenWay {
    // Paths that only some members take call for a cut before there is a choice.
    if known.iter().any(|(_, holds)| !matches!(holds, ClassTruth::All)) {
        return TakenWay::NoChoice;
    }
    let ends_alike = |a: &ReactionPath, b: &ReactionPath| a.loc == b.loc && a.store == b.store;
    if known.iter().all(|(path, _)| ends_alike(path, known[0].0)) {
        return TakenWay::NoChoice;
    }
    let mut is_told = |at: usize| {
        let one = known[at].0;
        known.iter().enumerate().all(|(other_at, (other, _))| {
            other_at == at || ends_alike(one, other) && one.outputs == other.outputs || {
                let differs = difference(cx, &one.outputs, &other.outputs);
                matches!(holds(cx, facts, differs), ClassTruth::All)
            }
        })
    };
    (0..known.len()).find(|&at| is_told(at)).map_or(TakenWay::Hidden, TakenWay::Only)
}

/// Returns the facts about silence at every location, as far as they have no quantifiers, which a solver seldom decides
/// as a context; none unless only one way is taken.
///
/// Without them reactions are computed for stores in which the model is about to send something, and where it may
/// choose there are very many.
fn silent_facts(cx: &mut Ctx<'_>, scope: &AbstractionScope) -> Vec<Vec<Term>> {
    let mut all = vec![Vec::new(); cx.sts.locations.len()];
    if scope.takes_one_way {
        for loc in cx.sts.locations.ids() {
            let quiet = quiescence_condition(cx, loc);
            let facts = cx.pool.conjuncts(quiet).into_iter();
            all[loc.index()] = facts.filter(|&fact| !cx.pool.has_quantifier(fact)).collect();
        }
    }
    all
}

/// Returns whether no switch takes an input of `gate` for which `facts` hold; false if the solver does not decide.
fn is_idle(cx: &mut Ctx<'_>, gate: GateId, facts: &[Term]) -> bool {
    let sts = cx.sts;
    sts.switches.iter().filter(|switch| switch.gate == gate).all(|switch| {
        let mut all = facts.to_vec();
        all.push(switch.guard);
        cx.decide(&all) == SolverDecision::Unsat
    })
}

/// Returns whether `formula` holds for all valuations that satisfy `facts`, for none, or for some; unknown if the
/// solver decides neither.
pub(super) fn holds(cx: &mut Ctx<'_>, facts: &[Term], formula: Term) -> ClassTruth {
    if cx.pool.is_true(formula) {
        return ClassTruth::All;
    }
    let mut all = facts.to_vec();
    all.push(formula);
    let with = cx.decide(&all);
    let other = cx.pool.not(formula);
    all.pop();
    all.push(other);
    match (with, cx.decide(&all)) {
        (_, SolverDecision::Unsat) => ClassTruth::All,
        (SolverDecision::Unsat, _) => ClassTruth::None,
        (SolverDecision::Sat, SolverDecision::Sat) => ClassTruth::Some,
        _ => ClassTruth::Unknown,
    }
}
