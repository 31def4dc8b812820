//! Symbolic states: a location, terms for the variables, and what was assumed on the way.
//!
//! [BT19] Def. 11, [AT15] Def. 2.3, and for clocks [BLLN23] Def. 2: the value of a variable is a term
//! over what was received, sent, waited and unknown at start. A symbolic state stands for
//! the set of concrete states its store takes under the valuations that satisfy its path.

use ioxide_model::concrete::ConcreteState;
use ioxide_model::number::Rational;
use ioxide_model::sts::{LocId, Sts};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::value::Value;

use crate::cx::Ctx;

/// A symbolic state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymState {
    /// Where control is.
    pub loc: LocId,
    /// The values of variables and clocks.
    pub store: Store,
    /// What was assumed on the way.
    pub path: PathCondition,
    /// How many steps were taken; numbers the fields of the next message.
    pub depth: u32,
}

/// A term for every variable and clock.
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
    /// The state at start: initial terms, fresh variables where the value is unknown, clocks at 0.
    pub fn initial(cx: &mut Ctx<'_>) -> Self {
        let mut terms = Vec::with_capacity(cx.sts.vars.len() + cx.sts.clocks.len());
        for var in &cx.sts.vars {
            terms.push(match var.init {
                Some(term) => term,
                None => {
                    let unknown = cx.pool.indexed(var.var, 0);
                    cx.pool.var(unknown)
                }
            });
        }
        for _ in &cx.sts.clocks {
            terms.push(cx.pool.value(Value::Real(Rational::ZERO)));
        }
        Self { loc: cx.sts.initial, store: Store { terms }, path: PathCondition::default(), depth: 0 }
    }

    /// Where it is, as people read it.
    #[must_use]
    pub fn place(&self, cx: &Ctx<'_>) -> String {
        let value = |var| cx.pool.as_value(self.store.get(cx.sts, var)?).cloned();
        cx.sts.place(self.loc, value)
    }

    /// The symbolic state that stands for `state` alone; nothing was assumed on the way.
    ///
    /// `None` if `state` lacks the value of a variable or clock.
    pub fn at(cx: &mut Ctx<'_>, state: &ConcreteState) -> Option<Self> {
        let sts = cx.sts;
        let vars = sts.vars.iter().map(|var| var.var).chain(sts.clocks.iter().map(|clock| clock.var));
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

    /// Variables (then clocks) with their terms.
    pub fn iter<'s>(&'s self, sts: &'s Sts) -> impl Iterator<Item = (VarId, Term)> + 's {
        let vars = sts.vars.iter().map(|var| var.var).chain(sts.clocks.iter().map(|clock| clock.var));
        vars.zip(self.terms.iter().copied())
    }

    /// The terms alone.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The term of `var`.
    #[must_use]
    pub fn get(&self, sts: &Sts, var: VarId) -> Option<Term> {
        self.iter(sts).find(|(other, _)| *other == var).map(|(_, term)| term)
    }

    /// The store as what replaces variables in guards and updates.
    #[must_use]
    pub fn substitution(&self, sts: &Sts) -> Substitution {
        self.iter(sts).collect()
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
    pub fn with(&self, cx: &Ctx<'_>, fact: Term) -> Self {
        let mut facts = self.facts.clone();
        for conjunct in cx.pool.conjuncts(fact) {
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
