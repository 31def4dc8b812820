//! Random well-sorted terms, as recipes that can be built twice: once with the
//! simplifying builders, once by plain evaluation of the recipe.

use proptest::prelude::*;

use super::{Term, TermPool, VarId};
use crate::number::Rational;
use crate::sort::{Ctor, Data, DataField, DataId, DataKind, Sort};
use crate::value::{DataValue, Value};

/// A recipe for an integer term over the variables of a [`World`].
#[derive(Clone, Debug)]
pub(crate) enum Num {
    Const(i64),
    Var(usize),
    Add(Box<Num>, Box<Num>),
    Sub(Box<Num>, Box<Num>),
    Mul(Box<Num>, Box<Num>),
    Div(Box<Num>, Box<Num>),
    Rem(Box<Num>, Box<Num>),
    Ite(Box<Formula>, Box<Num>, Box<Num>),
    FloorHalf(Box<Num>),
    OrZero(Opt),
}

/// A recipe for an option term.
#[derive(Clone, Debug)]
pub(crate) enum Opt {
    Var,
    None,
    Some(Box<Num>),
}

/// A recipe for a formula.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    Const(bool),
    Var(usize),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Eq(Num, Num),
    Lt(Num, Num),
    Le(Num, Num),
    EqOpt(Opt, Opt),
    IsSome(Opt),
    Exists(Box<Formula>),
}

/// Two ints, two bools, an option, and a small range to quantify over.
pub(crate) struct World {
    pub pool: TermPool,
    pub ints: [VarId; 2],
    pub bools: [VarId; 2],
    pub option: VarId,
    pub range: VarId,
    pub option_data: DataId,
}

impl World {
    pub fn new() -> Self {
        let mut pool = TermPool::new();
        let ints = [pool.declare("x", Sort::Int), pool.declare("y", Sort::Int)];
        let bools = [pool.declare("a", Sort::Bool), pool.declare("b", Sort::Bool)];
        let option_data = pool.option_of(Sort::Int);
        let option = pool.declare("o", Sort::Data(option_data));
        let range = pool.declare("i", Sort::Range { lo: -1, hi: 2 });
        Self { pool, ints, bools, option, range, option_data }
    }

    pub fn num(&mut self, recipe: &Num) -> Term {
        let mut two = |a: &Num, b: &Num| (self.num(a), self.num(b));
        match recipe {
            Num::Const(n) => self.pool.int(*n),
            Num::Var(i) => {
                let var = self.ints.iter().chain([&self.range]).nth(*i).copied().expect("three numbers");
                self.pool.var(var)
            }
            Num::Add(a, b) => {
                let (a, b) = two(a, b);
                self.pool.add([a, b])
            }
            Num::Sub(a, b) => {
                let (a, b) = two(a, b);
                self.pool.sub(a, b)
            }
            Num::Mul(a, b) => {
                let (a, b) = two(a, b);
                self.pool.mul([a, b])
            }
            Num::Div(a, b) => {
                let (a, b) = two(a, b);
                self.pool.div(a, b)
            }
            Num::Rem(a, b) => {
                let (a, b) = two(a, b);
                self.pool.rem(a, b)
            }
            Num::Ite(c, a, b) => {
                let (a, b) = two(a, b);
                let c = self.formula(c);
                self.pool.ite(c, a, b)
            }
            Num::FloorHalf(a) => {
                let a = self.num(a);
                let real = self.pool.to_real(a);
                let two = self.pool.value(Value::Real(2.into()));
                let half = self.pool.real_div(real, two);
                self.pool.floor(half)
            }
            Num::OrZero(o) => {
                let o = self.opt(o);
                let (is, value, zero) = (self.pool.is(1, o), self.pool.select(1, 0, o), self.pool.int(0));
                self.pool.ite(is, value, zero)
            }
        }
    }

    fn opt(&mut self, recipe: &Opt) -> Term {
        match recipe {
            Opt::Var => self.pool.var(self.option),
            Opt::None => self.pool.construct(self.option_data, 0, []),
            Opt::Some(n) => {
                let n = self.num(n);
                self.pool.construct(self.option_data, 1, [n])
            }
        }
    }

    pub fn formula(&mut self, recipe: &Formula) -> Term {
        match recipe {
            Formula::Const(b) => self.pool.bool(*b),
            Formula::Var(i) => self.pool.var(self.bools[*i]),
            Formula::Not(a) => {
                let a = self.formula(a);
                self.pool.not(a)
            }
            Formula::And(list) => {
                let list: Vec<Term> = list.iter().map(|part| self.formula(part)).collect();
                self.pool.and(list)
            }
            Formula::Or(list) => {
                let list: Vec<Term> = list.iter().map(|part| self.formula(part)).collect();
                self.pool.or(list)
            }
            Formula::Eq(a, b) => {
                let (a, b) = (self.num(a), self.num(b));
                self.pool.eq(a, b)
            }
            Formula::Lt(a, b) => {
                let (a, b) = (self.num(a), self.num(b));
                self.pool.lt(a, b)
            }
            Formula::Le(a, b) => {
                let (a, b) = (self.num(a), self.num(b));
                self.pool.le(a, b)
            }
            Formula::EqOpt(a, b) => {
                let (a, b) = (self.opt(a), self.opt(b));
                self.pool.eq(a, b)
            }
            Formula::IsSome(o) => {
                let o = self.opt(o);
                self.pool.is(1, o)
            }
            Formula::Exists(body) => {
                let body = self.formula(body);
                self.pool.exists(&[self.range], body)
            }
        }
    }
}

/// Values for the variables of a [`World`], in order of declaration.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    pub ints: [i64; 2],
    pub bools: [bool; 2],
    pub option: Option<i64>,
    pub range: i64,
}

impl Values {
    /// The same values as an assignment.
    pub fn valuation(&self, world: &World) -> crate::valuation::Valuation {
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
    pub fn num(&self, recipe: &Num) -> i128 {
        match recipe {
            Num::Const(n) => i128::from(*n),
            Num::Var(i) => i128::from([self.ints[0], self.ints[1], self.range][*i]),
            Num::Add(a, b) => self.num(a) + self.num(b),
            Num::Sub(a, b) => self.num(a) - self.num(b),
            Num::Mul(a, b) => self.num(a) * self.num(b),
            Num::Div(a, b) => self.num(a).checked_div_euclid(self.num(b)).unwrap_or(0),
            Num::Rem(a, b) => {
                let a = self.num(a);
                a.checked_rem_euclid(self.num(b)).unwrap_or(a)
            }
            Num::Ite(c, a, b) => self.num(if self.formula(c) { a } else { b }),
            Num::FloorHalf(a) => self.num(a).div_euclid(2),
            Num::OrZero(o) => self.opt(o).unwrap_or(0),
        }
    }

    fn opt(&self, recipe: &Opt) -> Option<i128> {
        match recipe {
            Opt::Var => self.option.map(i128::from),
            Opt::None => None,
            Opt::Some(n) => Some(self.num(n)),
        }
    }

    pub fn formula(&self, recipe: &Formula) -> bool {
        match recipe {
            Formula::Const(b) => *b,
            Formula::Var(i) => self.bools[*i],
            Formula::Not(a) => !self.formula(a),
            Formula::And(list) => list.iter().all(|part| self.formula(part)),
            Formula::Or(list) => list.iter().any(|part| self.formula(part)),
            Formula::Eq(a, b) => self.num(a) == self.num(b),
            Formula::Lt(a, b) => self.num(a) < self.num(b),
            Formula::Le(a, b) => self.num(a) <= self.num(b),
            Formula::EqOpt(a, b) => self.opt(a) == self.opt(b),
            Formula::IsSome(o) => self.opt(o).is_some(),
            Formula::Exists(body) => (-1..=2).any(|range| Self { range, ..self.clone() }.formula(body)),
        }
    }
}

pub(crate) fn values() -> impl Strategy<Value = Values> {
    let n = || -4i64..5;
    (n(), n(), any::<bool>(), any::<bool>(), proptest::option::of(n()), -1i64..3)
        .prop_map(|(x, y, a, b, option, range)| Values { ints: [x, y], bools: [a, b], option, range })
}

pub(crate) fn formula() -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Formula::Const),
        (0usize..2).prop_map(Formula::Var),
        (num(), num()).prop_map(|(a, b)| Formula::Eq(a, b)),
        (num(), num()).prop_map(|(a, b)| Formula::Lt(a, b)),
        (num(), num()).prop_map(|(a, b)| Formula::Le(a, b)),
        (opt(), opt()).prop_map(|(a, b)| Formula::EqOpt(a, b)),
        opt().prop_map(Formula::IsSome),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| Formula::Not(Box::new(a))),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Formula::And),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Formula::Or),
            inner.prop_map(|a| Formula::Exists(Box::new(a))),
        ]
    })
}

fn opt() -> impl Strategy<Value = Opt> {
    prop_oneof![Just(Opt::Var), Just(Opt::None), num().prop_map(|n| Opt::Some(Box::new(n)))]
}

pub(crate) fn num() -> BoxedStrategy<Num> {
    let leaf = prop_oneof![
        (-3i64..4).prop_map(Num::Const),
        (0usize..3).prop_map(Num::Var),
        Just(Num::OrZero(Opt::Var))
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let pair = (inner.clone(), inner.clone()).prop_map(|(a, b)| (Box::new(a), Box::new(b)));
        prop_oneof![
            pair.clone().prop_map(|(a, b)| Num::Add(a, b)),
            pair.clone().prop_map(|(a, b)| Num::Sub(a, b)),
            pair.clone().prop_map(|(a, b)| Num::Mul(a, b)),
            pair.clone().prop_map(|(a, b)| Num::Div(a, b)),
            pair.clone().prop_map(|(a, b)| Num::Rem(a, b)),
            (any::<bool>(), pair).prop_map(|(c, (a, b))| Num::Ite(Box::new(Formula::Var(c.into())), a, b)),
            inner.prop_map(|a| Num::FloorHalf(Box::new(a))),
        ]
    })
    .boxed()
}

/// A record of two ints, for tests of data terms.
pub(crate) fn point(pool: &mut TermPool) -> DataId {
    let field = |name: &str| DataField { name: name.into(), sort: Sort::Int };
    let ctor = Ctor { name: "Point".into(), fields: vec![field("x"), field("y")] };
    pool.declare_data(Data { name: "Point".into(), kind: DataKind::Record, ctors: vec![ctor] })
}

/// Half of `n` as a real value.
pub(crate) fn half(n: i64) -> Value {
    Value::Real(Rational::new(n.into(), 2.into()).expect("2 is not 0"))
}
