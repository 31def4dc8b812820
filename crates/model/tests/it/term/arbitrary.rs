//! Random well-sorted terms, as recipes that can be built twice: once with the
//! simplifying builders, once by plain evaluation of the recipe.

use proptest::prelude::*;

use ioxide_model::number::Rational;
use ioxide_model::sort::{Constructor, DataField, DataId, DataKind, DataSort, Sort};
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::value::{DataValue, Value};

/// A recipe for an integer term over the variables of a [`World`].
#[derive(Clone, Debug)]
pub enum NumberRecipe {
    Const(i64),
    Var(usize),
    Add(Box<NumberRecipe>, Box<NumberRecipe>),
    Sub(Box<NumberRecipe>, Box<NumberRecipe>),
    Mul(Box<NumberRecipe>, Box<NumberRecipe>),
    Div(Box<NumberRecipe>, Box<NumberRecipe>),
    Rem(Box<NumberRecipe>, Box<NumberRecipe>),
    Ite(Box<FormulaRecipe>, Box<NumberRecipe>, Box<NumberRecipe>),
    FloorHalf(Box<NumberRecipe>),
    OrZero(OptionRecipe),
}

/// A recipe for an option term.
#[derive(Clone, Debug)]
pub enum OptionRecipe {
    Var,
    None,
    Some(Box<NumberRecipe>),
}

/// A recipe for a formula.
#[derive(Clone, Debug)]
pub enum FormulaRecipe {
    Const(bool),
    Var(usize),
    Not(Box<FormulaRecipe>),
    And(Vec<FormulaRecipe>),
    Or(Vec<FormulaRecipe>),
    Eq(NumberRecipe, NumberRecipe),
    Lt(NumberRecipe, NumberRecipe),
    Le(NumberRecipe, NumberRecipe),
    EqOpt(OptionRecipe, OptionRecipe),
    IsSome(OptionRecipe),
    Exists(Box<FormulaRecipe>),
}

/// Two ints, two bools, an option, and a small range to quantify over.
pub struct World {
    pub pool: TermPool,
    pub ints: [VarId; 2],
    pub bools: [VarId; 2],
    pub option: VarId,
    pub range: VarId,
    pub option_data: DataId,
}

impl World {
    /// Declares the variables in a new pool.
    pub fn new() -> Self {
        let mut pool = TermPool::new();
        let ints = [pool.declare("x", Sort::Int), pool.declare("y", Sort::Int)];
        let bools = [pool.declare("a", Sort::Bool), pool.declare("b", Sort::Bool)];
        let option_data = pool.option_of(Sort::Int);
        let option = pool.declare("o", Sort::Data(option_data));
        let range = pool.declare("i", Sort::Range { lo: -1, hi: 2 });
        Self { pool, ints, bools, option, range, option_data }
    }

    /// Builds the term of a number.
    pub fn num(&mut self, recipe: &NumberRecipe) -> Term {
        let mut two = |a: &NumberRecipe, b: &NumberRecipe| (self.num(a), self.num(b));
        match recipe {
            NumberRecipe::Const(n) => self.pool.int(*n),
            NumberRecipe::Var(i) => {
                let var = self.ints.iter().chain([&self.range]).nth(*i).copied().expect("three numbers");
                self.pool.var(var)
            }
            NumberRecipe::Add(a, b) => {
                let (a, b) = two(a, b);
                self.pool.add([a, b])
            }
            NumberRecipe::Sub(a, b) => {
                let (a, b) = two(a, b);
                self.pool.sub(a, b)
            }
            NumberRecipe::Mul(a, b) => {
                let (a, b) = two(a, b);
                self.pool.mul([a, b])
            }
            NumberRecipe::Div(a, b) => {
                let (a, b) = two(a, b);
                self.pool.div(a, b)
            }
            NumberRecipe::Rem(a, b) => {
                let (a, b) = two(a, b);
                self.pool.rem(a, b)
            }
            NumberRecipe::Ite(c, a, b) => {
                let (a, b) = two(a, b);
                let c = self.formula(c);
                self.pool.ite(c, a, b)
            }
            NumberRecipe::FloorHalf(a) => {
                let a = self.num(a);
                let real = self.pool.to_real(a);
                let two = self.pool.value(Value::Real(2.into()));
                let half = self.pool.real_div(real, two);
                self.pool.floor(half)
            }
            NumberRecipe::OrZero(o) => {
                let o = self.opt(o);
                let (is, value, zero) = (self.pool.is(1, o), self.pool.select(1, 0, o), self.pool.int(0));
                self.pool.ite(is, value, zero)
            }
        }
    }

    /// Builds the term of an option.
    fn opt(&mut self, recipe: &OptionRecipe) -> Term {
        match recipe {
            OptionRecipe::Var => self.pool.var(self.option),
            OptionRecipe::None => self.pool.construct(self.option_data, 0, []),
            OptionRecipe::Some(n) => {
                let n = self.num(n);
                self.pool.construct(self.option_data, 1, [n])
            }
        }
    }

    /// Builds the term of a formula.
    pub fn formula(&mut self, recipe: &FormulaRecipe) -> Term {
        match recipe {
            FormulaRecipe::Const(b) => self.pool.bool(*b),
            FormulaRecipe::Var(i) => self.pool.var(self.bools[*i]),
            FormulaRecipe::Not(a) => {
                let a = self.formula(a);
                self.pool.not(a)
            }
            FormulaRecipe::And(list) => {
                let list: Vec<Term> = list.iter().map(|part| self.formula(part)).collect();
                self.pool.and(list)
            }
            FormulaRecipe::Or(list) => {
                let list: Vec<Term> = list.iter().map(|part| self.formula(part)).collect();
                self.pool.or(list)
            }
            FormulaRecipe::Eq(a, b) => {
                let (a, b) = (self.num(a), self.num(b));
                self.pool.eq(a, b)
            }
            FormulaRecipe::Lt(a, b) => {
                let (a, b) = (self.num(a), self.num(b));
                self.pool.lt(a, b)
            }
            FormulaRecipe::Le(a, b) => {
                let (a, b) = (self.num(a), self.num(b));
                self.pool.le(a, b)
            }
            FormulaRecipe::EqOpt(a, b) => {
                let (a, b) = (self.opt(a), self.opt(b));
                self.pool.eq(a, b)
            }
            FormulaRecipe::IsSome(o) => {
                let o = self.opt(o);
                self.pool.is(1, o)
            }
            FormulaRecipe::Exists(body) => {
                let body = self.formula(body);
                self.pool.exists(&[self.range], body)
            }
        }
    }
}

/// Values for the variables of a [`World`], in order of declaration.
#[derive(Clone, Debug)]
pub struct WorldValues {
    pub ints: [i64; 2],
    pub bools: [bool; 2],
    pub option: Option<i64>,
    pub range: i64,
}

impl WorldValues {
    /// The same values as an assignment.
    pub fn valuation(&self, world: &World) -> ioxide_model::valuation::Valuation {
        let option = DataValue {
            data: world.option_data,
            ctor: u32::from(self.option.is_some()),
            args: self.option.iter().map(|&n| Value::int(n)).collect(),
        };
        [
            (world.ints[0], Value::int(self.ints[0])),
            (world.ints[1], Value::int(self.ints[1])),
            (world.bools[0], Value::Bool(self.bools[0])),
            (world.bools[1], Value::Bool(self.bools[1])),
            (world.option, Value::Data(option)),
            (world.range, Value::int(self.range)),
        ]
        .into_iter()
        .collect()
    }

    /// The meaning of a recipe, computed without any term.
    pub fn num(&self, recipe: &NumberRecipe) -> i128 {
        match recipe {
            NumberRecipe::Const(n) => i128::from(*n),
            NumberRecipe::Var(i) => i128::from([self.ints[0], self.ints[1], self.range][*i]),
            NumberRecipe::Add(a, b) => self.num(a) + self.num(b),
            NumberRecipe::Sub(a, b) => self.num(a) - self.num(b),
            NumberRecipe::Mul(a, b) => self.num(a) * self.num(b),
            NumberRecipe::Div(a, b) => self.num(a).checked_div_euclid(self.num(b)).unwrap_or(0),
            NumberRecipe::Rem(a, b) => {
                let a = self.num(a);
                a.checked_rem_euclid(self.num(b)).unwrap_or(a)
            }
            NumberRecipe::Ite(c, a, b) => self.num(if self.formula(c) { a } else { b }),
            NumberRecipe::FloorHalf(a) => self.num(a).div_euclid(2),
            NumberRecipe::OrZero(o) => self.opt(o).unwrap_or(0),
        }
    }

    /// Computes an option directly, without terms.
    fn opt(&self, recipe: &OptionRecipe) -> Option<i128> {
        match recipe {
            OptionRecipe::Var => self.option.map(i128::from),
            OptionRecipe::None => None,
            OptionRecipe::Some(n) => Some(self.num(n)),
        }
    }

    /// Computes a formula directly, without terms.
    pub fn formula(&self, recipe: &FormulaRecipe) -> bool {
        match recipe {
            FormulaRecipe::Const(b) => *b,
            FormulaRecipe::Var(i) => self.bools[*i],
            FormulaRecipe::Not(a) => !self.formula(a),
            FormulaRecipe::And(list) => list.iter().all(|part| self.formula(part)),
            FormulaRecipe::Or(list) => list.iter().any(|part| self.formula(part)),
            FormulaRecipe::Eq(a, b) => self.num(a) == self.num(b),
            FormulaRecipe::Lt(a, b) => self.num(a) < self.num(b),
            FormulaRecipe::Le(a, b) => self.num(a) <= self.num(b),
            FormulaRecipe::EqOpt(a, b) => self.opt(a) == self.opt(b),
            FormulaRecipe::IsSome(o) => self.opt(o).is_some(),
            FormulaRecipe::Exists(body) => (-1..=2).any(|range| Self { range, ..self.clone() }.formula(body)),
        }
    }
}

/// Returns the strategy for values of the variables, small enough to meet often.
pub fn values() -> impl Strategy<Value = WorldValues> {
    let n = || -4i64..5;
    (n(), n(), any::<bool>(), any::<bool>(), proptest::option::of(n()), -1i64..3)
        .prop_map(|(x, y, a, b, option, range)| WorldValues { ints: [x, y], bools: [a, b], option, range })
}

/// Returns the strategy for formulas.
pub fn formula() -> impl Strategy<Value = FormulaRecipe> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(FormulaRecipe::Const),
        (0usize..2).prop_map(FormulaRecipe::Var),
        (num(), num()).prop_map(|(a, b)| FormulaRecipe::Eq(a, b)),
        (num(), num()).prop_map(|(a, b)| FormulaRecipe::Lt(a, b)),
        (num(), num()).prop_map(|(a, b)| FormulaRecipe::Le(a, b)),
        (opt(), opt()).prop_map(|(a, b)| FormulaRecipe::EqOpt(a, b)),
        opt().prop_map(FormulaRecipe::IsSome),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| FormulaRecipe::Not(Box::new(a))),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(FormulaRecipe::And),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(FormulaRecipe::Or),
            inner.prop_map(|a| FormulaRecipe::Exists(Box::new(a))),
        ]
    })
}

/// Returns the strategy for options.
fn opt() -> impl Strategy<Value = OptionRecipe> {
    prop_oneof![
        Just(OptionRecipe::Var),
        Just(OptionRecipe::None),
        num().prop_map(|n| OptionRecipe::Some(Box::new(n)))
    ]
}

/// Returns the strategy for numbers.
pub fn num() -> BoxedStrategy<NumberRecipe> {
    let leaf = prop_oneof![
        (-3i64..4).prop_map(NumberRecipe::Const),
        (0usize..3).prop_map(NumberRecipe::Var),
        Just(NumberRecipe::OrZero(OptionRecipe::Var))
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let pair = (inner.clone(), inner.clone()).prop_map(|(a, b)| (Box::new(a), Box::new(b)));
        prop_oneof![
            pair.clone().prop_map(|(a, b)| NumberRecipe::Add(a, b)),
            pair.clone().prop_map(|(a, b)| NumberRecipe::Sub(a, b)),
            pair.clone().prop_map(|(a, b)| NumberRecipe::Mul(a, b)),
            pair.clone().prop_map(|(a, b)| NumberRecipe::Div(a, b)),
            pair.clone().prop_map(|(a, b)| NumberRecipe::Rem(a, b)),
            (any::<bool>(), pair).prop_map(|(c, (a, b))| NumberRecipe::Ite(
                Box::new(FormulaRecipe::Var(c.into())),
                a,
                b
            )),
            inner.prop_map(|a| NumberRecipe::FloorHalf(Box::new(a))),
        ]
    })
    .boxed()
}

/// A record of two ints, for tests of data terms.
pub fn point(pool: &mut TermPool) -> DataId {
    let field = |name: &str| DataField { name: name.into(), sort: Sort::Int };
    let ctor = Constructor { name: "Point".into(), fields: vec![field("x"), field("y")] };
    pool.declare_data(DataSort { name: "Point".into(), kind: DataKind::Record, ctors: vec![ctor] })
}

/// Half of `n` as a real value.
pub fn half(n: i64) -> Value {
    Value::Real(Rational::new(n.into(), 2.into()).expect("2 is not 0"))
}
