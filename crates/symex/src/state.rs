//! Symbolic states: a location, terms for the variables, and the path condition.
//!
//! \[BT19] Def. 11, \[AT15] Def. 2.3, and for clocks \[BLLN23] Def. 2: the value of a variable is a term
//! over what was received, sent, waited and unknown at start. A symbolic state stands for
//! the set of concrete states its store takes under the valuations that satisfy its path.

use ioxide_model::concrete::ConcreteState;
use ioxide_model::number::Rational;
use ioxide_model::sts::{LocId, Sts, Switch};
use ioxide_model::term::{Substitution, Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;

use crate::cx::Ctx;

/// A symbolic state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymState {
    /// The location of control.
    pub loc: LocId,
    /// The values of variables and clocks.
    pub store: Store,
    /// The path condition.
    pub path: PathCondition,
    /// The number of steps so far; it numbers the fields of the next message.
    pub depth: u32,
}

/// A term for every variable and clock: the one algebra of values under every symbolic engine.
///
/// Symbolic execution, the monitor, the product of two models and the reactions of a complete suite differ in their
/// assumptions and in merging; the initial values, the passing of time and the effect of a switch are defined here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// Variables in order of declaration, then clocks.
    terms: Vec<Term>,
}

/// A conjunction of facts, in the order they were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathCondition {
    facts: Vec<Term>,
}

impl SymState {
    /// Returns the initial state: initial terms, fresh variables for unknown values, clocks at 0.
    pub fn initial(cx: &mut Ctx<'_>) -> Self {
        let (store, _) = Store::initial(cx.pool, cx.sts, 0);
        Self { loc: cx.sts.initial, store, path: PathCondition::default(), depth: 0 }
    }

    /// Returns the location, or the locations of the parts of a composed system, as text.
    #[must_use]
    pub fn location_text(&self, cx: &Ctx<'_>) -> String {
        let value = |var| cx.pool.as_value(self.store.get(cx.sts, var)?).cloned();
        cx.sts.place_text(self.loc, value)
    }

    /// Returns the values of the variables and clocks as people read them, `name = value`. A variable whose initial
    /// value is not known, and of which nothing else is known either, is `unknown`.
    #[must_use]
    pub fn value_texts(&self, cx: &Ctx<'_>) -> Vec<String> {
        let is_mentioned = |symbol: VarId, of: VarId| {
            let facts = self.path.facts().iter().copied();
            let others = self.store.iter(cx.sts).filter(|(var, _)| *var != of).map(|(_, term)| term);
            facts.chain(others).any(|term| cx.pool.free_vars(term).contains(&symbol))
        };
        let data = self.store.iter(cx.sts).filter(|(var, _)| cx.sts.is_data(*var));
        let text = |(var, term): (VarId, Term)| {
            let name = &cx.pool.var_info(var).name;
            let shown = cx.pool.show(term).to_string();
            match cx.pool.node(term) {
                // Symbols of initial values have the number 0.
                TermNode::Var(symbol) if shown == format!("{name}@0") && !is_mentioned(*symbol, var) => {
                    format!("{name} = unknown")
                }
                _ => format!("{name} = {shown}"),
            }
        };
        data.map(text).collect()
    }

    /// Returns the symbolic state that stands for `state` alone, with an empty path.
    ///
    /// `None` if `state` lacks the value of a variable or clock.
    pub fn from_concrete(cx: &mut Ctx<'_>, state: &ConcreteState) -> Option<Self> {
        let vars = cx.sts.stored_vars();
        let value = |var| state.values.get(var).map(|value| cx.pool.value(value.clone()));
        let terms = vars.map(value).collect::<Option<Vec<_>>>()?;
        Some(Self { loc: state.loc, store: Store { terms }, path: PathCondition::default(), depth: 0 })
    }
}

impl Store {
    /// A store of these terms: variables in order of declaration, then clocks.
    #[must_use]
    pub fn new(terms: Vec<Term>) -> Self {
        Self { terms }
    }

    /// Returns the initial store and the variables in it: one, with this number, for every value that the model leaves
    /// open. Clocks are at 0.
    pub fn initial(pool: &mut TermPool, sts: &Sts, number: u32) -> (Self, Vec<VarId>) {
        let mut terms = Vec::with_capacity(sts.vars.len() + sts.clocks.len());
        let mut unknown = Vec::new();
        for var in &sts.vars {
            terms.push(var.init.unwrap_or_else(|| {
                let fresh = pool.indexed_var(var.var, number);
                unknown.push(fresh);
                pool.var(fresh)
            }));
        }
        let zero = pool.value(Value::Real(Rational::ZERO));
        terms.extend(sts.clocks.iter().map(|_| zero));
        (Self { terms }, unknown)
    }

    /// Returns the store in which every variable and clock is its own term: values before a step, whatever they are.
    pub fn identity(pool: &mut TermPool, sts: &Sts) -> Self {
        Self { terms: sts.stored_vars().map(|var| pool.var(var)).collect() }
    }

    /// Returns the store after `switch`. `names` gives the terms for the right-hand sides: the values before the
    /// switch, of the clocks too, and the fields of the message.
    #[must_use]
    pub fn after_switch(
        &self,
        pool: &mut TermPool,
        sts: &Sts,
        switch: &Switch,
        names: &Substitution,
    ) -> Self {
        // All right-hand sides are read before anything is written: `names` has the values before the switch, so `x =
        // y, y = x` swaps.
        let effect = switch_effect(pool, switch);
        let value = |(var, old): (VarId, Term)| match effect.get(var) {
            Some(term) => pool.substitute(term, names),
            // From `names` and not from the store: with clocks, time may have passed since the store was made.
            None => names.get(var).unwrap_or(old),
        };
        Self { terms: self.iter(sts).map(value).collect() }
    }

    /// Returns the store after `time` has passed: clocks have advanced by it.
    #[must_use]
    pub fn advance_clocks(mut self, pool: &mut TermPool, sts: &Sts, time: Term) -> Self {
        for clock in &mut self.terms[sts.vars.len()..] {
            *clock = pool.add([*clock, time]);
        }
        self
    }

    /// Variables (then clocks) with their terms.
    pub fn iter<'s>(&'s self, sts: &'s Sts) -> impl Iterator<Item = (VarId, Term)> + 's {
        sts.stored_vars().zip(self.terms.iter().copied())
    }

    /// Returns the terms, variables first, then clocks.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The terms alone, to be replaced by others of their sorts.
    pub fn terms_mut(&mut self) -> &mut [Term] {
        &mut self.terms
    }

    /// Returns the term of `var`; `None` if the system does not store it.
    #[must_use]
    pub fn get(&self, sts: &Sts, var: VarId) -> Option<Term> {
        self.iter(sts).find(|(other, _)| *other == var).map(|(_, term)| term)
    }

    /// Returns the substitution of variables by their terms, for guards and updates.
    #[must_use]
    pub fn substitution(&self, sts: &Sts) -> Substitution {
        self.iter(sts).collect()
    }
}

/// Returns the assignments of `switch`: the terms of its update, and 0 for the clocks it resets.
pub fn switch_effect(pool: &mut TermPool, switch: &Switch) -> Substitution {
    let zero = pool.value(Value::Real(Rational::ZERO));
    let resets = switch.resets.iter().map(|&clock| (clock, zero));
    switch.update.iter().copied().chain(resets).collect()
}

/// Advances every clock in `names` by `time`; a clock without a term in `names` starts from its own variable.
pub fn advance_substitution(pool: &mut TermPool, sts: &Sts, names: &mut Substitution, time: Term) {
    for clock in &sts.clocks {
        let now = names.get(clock.var).unwrap_or_else(|| pool.var(clock.var));
        names.set(clock.var, pool.add([now, time]));
    }
}

impl PathCondition {
    /// The facts, oldest first.
    #[must_use]
    pub fn facts(&self) -> &[Term] {
        &self.facts
    }

    /// The path with the conjuncts of `fact` added, those it has already left out.
    #[must_use]
    pub fn with_fact(&self, cx: &Ctx<'_>, fact: Term) -> Self {
        let mut facts = self.facts.clone();
        for conjunct in cx.pool.conjuncts(fact) {
            // Terms are unique in their pool, so a fact that is there already has the same id.
            if !facts.contains(&conjunct) {
                facts.push(conjunct);
            }
        }
        Self { facts }
    }
}

impl FromIterator<Term> for PathCondition {
    fn from_iter<I: IntoIterator<Item = Term>>(facts: I) -> Self {
        Self { facts: facts.into_iter().collect() }
    }
}
