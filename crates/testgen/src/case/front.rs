//! The execution context before a step of the path.
//!
//! \[BLLN23]'s execution context with the path condition in two parts: facts over what was observed, and
//! facts that mention values unknown at start. A value that an observed equation fixes is replaced
//! by its solution everywhere, so it is gone for all later steps. So is an older observation that a newer one fixes:
//! the rounds of a loop then look alike.
//!
//! *Promises.* The context is the existential projection of the whole path condition to the fields and
//! delays that can still matter (those in the terms of live variables and in the hidden facts), or the
//! path condition itself where the projection has no form without quantifiers.

use ioxide_model::sts::{Sts, Switch};
use ioxide_model::term::{Substitution, Term, TermNode, VarId};
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::{Ctx, LiveVars, PathCondition, Store, SymState, after_silence, successor};

/// The execution context before a step: a state, and the facts about the observations and the initial values.
#[derive(Clone, Debug)]
pub(super) struct CaseFront {
    /// The location and the terms of the variables; its path condition is empty, dead variables hold default values.
    pub(super) state: SymState,
    /// The facts that mention observations only.
    context: Vec<Term>,
    /// The facts that mention values unknown at start.
    hidden: Vec<Term>,
    /// The variables for the values unknown at start that no equation has fixed yet.
    unknowns: Vec<VarId>,
    /// The time-out, which facts about silence mention.
    tm: VarId,
}

/// A switch taken from a context.
pub(super) struct FrontSwitch {
    /// The state after the switch; its path condition holds the facts that the switch adds.
    pub(super) state: SymState,
    /// The variables that the switch observes: the delay and the fields.
    observed: Vec<VarId>,
}

impl CaseFront {
    /// The context before the first step.
    pub(super) fn initial(cx: &mut Ctx<'_>, live: &LiveVars, tm: VarId) -> Self {
        let state = SymState::initial(cx);
        let unknowns = unknowns(cx);
        let mut front = Self { state, context: Vec::new(), hidden: Vec::new(), unknowns, tm };
        front.forget_dead(cx, live);
        front
    }

    /// Returns the effect of taking `switch` in this context.
    pub(super) fn take_switch(&self, cx: &mut Ctx<'_>, switch: &Switch) -> FrontSwitch {
        let state = successor(cx, &self.state, switch);
        let bases = [cx.delay].into_iter().chain(cx.sts.gates[switch.gate].fields.iter().copied());
        let observed = bases.map(|base| cx.pool.indexed_var(base, state.depth)).collect();
        FrontSwitch { state, observed }
    }

    /// Returns the effect of silence in this context: the state is quiescent, and the time-out has passed.
    pub(super) fn observe_silence(&self, cx: &mut Ctx<'_>) -> FrontSwitch {
        let mut state = after_silence(cx, &self.state);
        let delay = cx.pool.indexed_var(cx.delay, state.depth);
        if cx.sts.is_timed() {
            let (waited, limit) = (cx.pool.var(delay), cx.pool.var(self.tm));
            let late = cx.pool.le(limit, waited);
            state.path = state.path.with_fact(cx, late);
        }
        FrontSwitch { state, observed: vec![delay] }
    }

    /// Returns the facts that the observations so far satisfy for some values at start: `∃ini. π`, projected.
    pub(super) fn known_facts(&self, cx: &mut Ctx<'_>) -> Vec<Term> {
        let mut known = self.context.clone();
        known.push(self.for_some(cx, &[]));
        known
    }

    /// `∃ini: hidden ∧ facts`: some values at start fit the observations so far and `facts`.
    pub(super) fn for_some(&self, cx: &mut Ctx<'_>, facts: &[Term]) -> Term {
        let all = cx.pool.and(self.hidden.iter().chain(facts).copied());
        let some = cx.pool.exists(&self.unknowns, all);
        eliminate(cx.pool, some)
    }

    /// Returns `term` over variables and clocks as a term over observations and unknown initial values.
    pub(super) fn over_observations(&self, cx: &mut Ctx<'_>, term: Term) -> Term {
        let store = self.state.store.substitution(cx.sts);
        cx.pool.substitute(term, &store)
    }

    /// The unknown initial values that facts still mention.
    pub(super) fn unrevealed_variables(&self, cx: &Ctx<'_>) -> Vec<VarId> {
        let used = cx.pool.free_vars_of(&self.hidden);
        self.unknowns.iter().copied().filter(|var| used.contains(var)).collect()
    }

    /// Returns the context after the switch that was taken.
    pub(super) fn advance(&self, cx: &mut Ctx<'_>, live: &LiveVars, taken: &FrontSwitch) -> Self {
        let mut next = self.clone();
        next.state = taken.state.clone();
        next.hidden.extend(taken.state.path.facts());
        next.state.path = PathCondition::default();
        // Before anything is solved: terms of dead variables would keep observations alive that no guard reads again.
        next.forget_dead(cx, live);
        // Each round removes one unknown value for good, so this ends.
        while let Some((unknown, solution)) = next.solve_initial_value(cx) {
            next.replace(cx, unknown, solution);
        }
        next.sort_out(cx);
        next.refresh(cx, &taken.observed);
        next.project(cx);
        next
    }

    /// Returns an unknown initial value that some fact fixes, with its solution.
    fn solve_initial_value(&self, cx: &mut Ctx<'_>) -> Option<(VarId, Term)> {
        for &fact in &self.hidden {
            let free = cx.pool.free_vars(fact);
            for &unknown in self.unknowns.iter().filter(|var| free.contains(var)) {
                if let Some(solution) = cx.pool.solved_for(unknown, fact) {
                    return Some((unknown, solution));
                }
            }
        }
        None
    }

    /// Replaces `unknown` by `solution` in the hidden facts and the store.
    fn replace(&mut self, cx: &mut Ctx<'_>, unknown: VarId, solution: Term) {
        let known: Substitution = [(unknown, solution)].into_iter().collect();
        let sort = cx.pool.var_info(unknown).sort;
        // The unknown value was within its sort; now its solution has to be.
        let in_sort = cx.pool.domain_fact(sort, solution);
        let mut facts = Vec::new();
        for fact in self.hidden.iter().copied().chain([in_sort]) {
            let fact = cx.pool.substitute(fact, &known);
            push_conjuncts(cx, &mut facts, fact);
        }
        self.hidden = facts;
        self.unknowns.retain(|&var| var != unknown);
        let terms = self.state.store.terms().iter().map(|&term| cx.pool.substitute(term, &known)).collect();
        self.state.store = Store::new(terms);
    }

    /// Moves the hidden facts without unknown values to the context.
    fn sort_out(&mut self, cx: &Ctx<'_>) {
        let mentions = |fact: &Term| cx.pool.free_vars(*fact).iter().any(|var| self.unknowns.contains(var));
        let (hidden, plain): (Vec<Term>, Vec<Term>) = self.hidden.iter().copied().partition(mentions);
        self.hidden = hidden;
        for fact in plain {
            if !self.context.contains(&fact) && !cx.pool.is_true(fact) {
                self.context.push(fact);
            }
        }
    }

    /// Rewrites older observations as terms over those just `observed`, where an equation of the path allows: else the
    /// number of a request would be that of the first request plus seven.
    fn refresh(&mut self, cx: &mut Ctx<'_>, observed: &[VarId]) {
        // Each round removes one older observation from all facts and terms, so this ends.
        while let Some((old, renewed)) = self.renewable(cx, observed) {
            let known: Substitution = [(old, renewed)].into_iter().collect();
            let in_sort = cx.pool.domain_fact(cx.pool.var_info(old).sort, renewed);
            let facts = std::mem::take(&mut self.context);
            for fact in facts.into_iter().chain([in_sort]) {
                let fact = cx.pool.substitute(fact, &known);
                push_conjuncts(cx, &mut self.context, fact);
            }
            self.hidden = self.hidden.iter().map(|&fact| cx.pool.substitute(fact, &known)).collect();
            let terms =
                self.state.store.terms().iter().map(|&term| cx.pool.substitute(term, &known)).collect();
            self.state.store = Store::new(terms);
        }
    }

    /// Returns an older observation that an equation fixes by those just `observed`, and its solution; `None` if there
    /// is none.
    fn renewable(&self, cx: &mut Ctx<'_>, observed: &[VarId]) -> Option<(VarId, Term)> {
        for &fact in &self.context {
            if !matches!(cx.pool.node(fact), TermNode::Eq(..)) {
                continue;
            }
            let (now, before): (Vec<VarId>, Vec<VarId>) =
                cx.pool.free_vars(fact).into_iter().partition(|var| observed.contains(var));
            // An equation among older observations alone was there before; solving it again would go round in
            // circles.
            if now.is_empty() {
                continue;
            }
            if let Some(found) = before.iter().find_map(|&old| Some((old, cx.pool.solved_for(old, fact)?))) {
                return Some(found);
            }
        }
        None
    }

    /// Drops from the context what no later guard can mention.
    fn project(&mut self, cx: &mut Ctx<'_>) {
        let mut relevant = self.state.store.terms().to_vec();
        relevant.extend(&self.hidden);
        let kept = cx.pool.free_vars_of(&relevant);
        let mut gone = cx.pool.free_vars_of(&self.context);
        gone.retain(|var| !kept.contains(var) && *var != self.tm);
        if gone.is_empty() {
            return;
        }
        let all = cx.pool.and(self.context.iter().copied());
        let some = cx.pool.exists(&gone, all);
        let some = eliminate(cx.pool, some);
        // If a quantifier is left, the facts stay as they are: longer, but a guard over them can be evaluated.
        if !cx.pool.has_quantifier(some) {
            self.context = Vec::new();
            push_conjuncts(cx, &mut self.context, some);
        }
    }

    /// Gives dead variables their default values: no guard reads them before they are written.
    fn forget_dead(&mut self, cx: &mut Ctx<'_>, live: &LiveVars) {
        let loc = self.state.loc;
        let terms: Vec<(VarId, Term)> = self.state.store.iter(cx.sts).collect();
        let plain = terms.into_iter().map(|(var, term)| {
            if live.is_live(loc, var) {
                return term;
            }
            let value = cx.pool.default_value(cx.pool.var_info(var).sort);
            cx.pool.value(value)
        });
        let terms = plain.collect();
        self.state.store = Store::new(terms);
    }
}

/// Adds the conjuncts of `fact` that are new and not trivially true.
fn push_conjuncts(cx: &Ctx<'_>, facts: &mut Vec<Term>, fact: Term) {
    for conjunct in cx.pool.conjuncts(fact) {
        if !cx.pool.is_true(conjunct) && !facts.contains(&conjunct) {
            facts.push(conjunct);
        }
    }
}

/// The variables that stand for values unknown at start.
pub(super) fn unknowns(cx: &mut Ctx<'_>) -> Vec<VarId> {
    let sts: &Sts = cx.sts;
    let unknown = sts.vars.iter().filter(|var| var.init.is_none());
    unknown.map(|var| cx.pool.indexed_var(var.var, 0)).collect()
}
