//! Random well-sorted terms over a few small variables, the same for the same seed.

use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::{Constructor, DataField, DataKind, DataSort, Sort};
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::{Solver, SolverAnswer, SolverDecision};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The sorts that random terms may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Truth values and small ranges: enumeration decides everything.
    Small,
    /// Also enums, options and records with finite fields.
    Data,
    /// Also quantifiers over finite sorts.
    Quantified,
    /// Also unbounded integers, reals, and quantifiers over them: enumeration only finds.
    Infinite,
}

/// Builds terms in its own pool.
pub struct Terms {
    pub pool: TermPool,
    theme: Theme,
    rng: ChaCha8Rng,
    vars: Vec<(Term, Sort)>,
    scratch: Vec<VarId>,
}

impl Terms {
    pub fn new(theme: Theme, seed: u64) -> Self {
        let mut pool = TermPool::new();
        let plain = |name: &str| Constructor { name: name.into(), fields: Vec::new() };
        let colour = DataSort {
            name: "Colour".into(),
            kind: DataKind::Enum,
            ctors: ["red", "green", "blue"].map(plain).into(),
        };
        let colour = Sort::Data(pool.declare_data(colour));
        let maybe = Sort::Data(pool.option_of(Sort::Range { lo: 1, hi: 3 }));
        let field = |name: &str, sort| DataField { name: name.into(), sort };
        let fields = vec![field("hue", colour), field("on", Sort::Bool)];
        let lamp = DataSort {
            name: "Lamp".into(),
            kind: DataKind::Record,
            ctors: vec![Constructor { name: "Lamp".into(), fields }],
        };
        let lamp = Sort::Data(pool.declare_data(lamp));
        let mut sorts =
            vec![Sort::Bool, Sort::Range { lo: -2, hi: 3 }, Sort::Range { lo: 0, hi: 4 }, Sort::Bool];
        if theme != Theme::Small {
            sorts.extend([colour, maybe, lamp, colour]);
        }
        if theme == Theme::Infinite {
            sorts.extend([Sort::Int, Sort::Real, Sort::Int, Sort::Real]);
        }
        let scratch = vec![
            pool.declare("q", Sort::Range { lo: -1, hi: 2 }),
            pool.declare("k", if theme == Theme::Infinite { Sort::Int } else { Sort::Bool }),
            pool.declare("s", if theme == Theme::Infinite { Sort::Real } else { maybe }),
        ];
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let vars =
            sorts.iter().zip(names).map(|(&sort, name)| (pool.declare_term(name, sort).1, sort)).collect();
        Self { pool, theme, rng: ChaCha8Rng::seed_from_u64(seed), vars, scratch }
    }

    /// A few facts.
    pub fn facts(&mut self, depth: u32) -> Vec<Term> {
        (0..self.pick(1, 4)).map(|_| self.bool(depth)).collect()
    }

    fn pick(&mut self, lo: i64, hi: i64) -> i64 {
        self.rng.random_range(lo..=hi)
    }

    fn var_of(&mut self, fits: impl Fn(Sort) -> bool) -> Option<Term> {
        let all: Vec<Term> =
            self.vars.iter().filter(|(_, sort)| fits(*sort)).map(|(term, _)| *term).collect();
        if all.is_empty() {
            return None;
        }
        let at = self.rng.random_range(0..all.len());
        Some(all[at])
    }

    pub fn bool(&mut self, depth: u32) -> Term {
        if depth == 0 {
            return match self.pick(0, 5) {
                0 => {
                    let b = self.pick(0, 1) == 1;
                    self.pool.bool(b)
                }
                _ => self.var_of(|sort| sort == Sort::Bool).expect("there is a bool"),
            };
        }
        let top = match self.theme {
            Theme::Small => 6,
            Theme::Data => 9,
            Theme::Quantified => 11,
            Theme::Infinite => 13,
        };
        match self.pick(0, top) {
            0 => {
                let a = self.bool(depth - 1);
                self.pool.not(a)
            }
            1 => {
                let (a, b) = (self.bool(depth - 1), self.bool(depth - 1));
                self.pool.and2(a, b)
            }
            2 => {
                let (a, b) = (self.bool(depth - 1), self.bool(depth - 1));
                self.pool.or2(a, b)
            }
            3 => {
                let (a, b) = (self.int(depth - 1), self.int(depth - 1));
                self.pool.eq(a, b)
            }
            4 => {
                let (a, b) = (self.int(depth - 1), self.int(depth - 1));
                self.pool.lt(a, b)
            }
            5 => {
                let (a, b) = (self.int(depth - 1), self.int(depth - 1));
                self.pool.le(a, b)
            }
            6 => {
                let (c, a, b) = (self.bool(depth - 1), self.bool(depth - 1), self.bool(depth - 1));
                self.pool.ite(c, a, b)
            }
            7 => {
                let a = self.data(depth - 1);
                let b = self.data_like(a, depth - 1);
                self.pool.eq(a, b)
            }
            8 => {
                let a = self.data(depth - 1);
                let ctor = self.ctor_of(a);
                self.pool.is(ctor, a)
            }
            9 => {
                let (a, b) = (self.bool(depth - 1), self.bool(depth - 1));
                self.pool.eq(a, b)
            }
            10 | 11 => self.quantified(depth - 1),
            12 => {
                let (a, b) = (self.real(depth - 1), self.real(depth - 1));
                self.pool.le(a, b)
            }
            _ => {
                let (a, b) = (self.real(depth - 1), self.real(depth - 1));
                self.pool.eq(a, b)
            }
        }
    }

    fn quantified(&mut self, depth: u32) -> Term {
        let at = self.rng.random_range(0..self.scratch.len());
        let var = self.scratch[at];
        let sort = self.pool.var_info(var).sort;
        let term = self.pool.var(var);
        self.vars.push((term, sort));
        self.vars.push((term, sort));
        let body = self.bool(depth);
        self.vars.truncate(self.vars.len() - 2);
        if self.pick(0, 1) == 0 { self.pool.exists(&[var], body) } else { self.pool.forall(&[var], body) }
    }

    fn int(&mut self, depth: u32) -> Term {
        if depth == 0 {
            let fits = |sort: Sort| sort.base() == Sort::Int;
            return if self.pick(0, 2) == 0 {
                let n = self.pick(-3, 5);
                self.pool.int(n)
            } else {
                self.var_of(fits).expect("there is an int")
            };
        }
        match self.pick(0, if self.theme == Theme::Small { 6 } else { 7 }) {
            0 | 1 => {
                let (a, b) = (self.int(depth - 1), self.int(depth - 1));
                self.pool.add2(a, b)
            }
            2 => {
                let (a, b) = (self.int(depth - 1), self.int(depth - 1));
                self.pool.sub(a, b)
            }
            3 => {
                let (n, b) = (self.pick(-2, 3), self.int(depth - 1));
                let n = self.pool.int(n);
                self.pool.mul2(n, b)
            }
            4 => {
                let (a, n) = (self.int(depth - 1), self.pick(-3, 3));
                let b = self.pool.int(n);
                self.pool.div(a, b)
            }
            5 => {
                let (a, n) = (self.int(depth - 1), self.pick(-3, 3));
                let b = self.pool.int(n);
                self.pool.rem(a, b)
            }
            6 => {
                let (c, a, b) = (self.bool(depth - 1), self.int(depth - 1), self.int(depth - 1));
                self.pool.ite(c, a, b)
            }
            _ => {
                let option = self.var_of(|sort| matches!(sort, Sort::Data(_))).expect("there is data");
                let sort = self.pool.sort(option);
                let has_int = matches!(sort, Sort::Data(id) if self.pool.data(id).kind == DataKind::Option);
                if has_int { self.pool.select(1, 0, option) } else { self.int(depth - 1) }
            }
        }
    }

    fn real(&mut self, depth: u32) -> Term {
        if depth == 0 {
            return if self.pick(0, 2) == 0 {
                let (n, d) = (self.pick(-3, 5), self.pick(1, 3));
                let value = Rational::new(Int::from(n), Int::from(d)).expect("not zero");
                self.pool.value(Value::Real(value))
            } else {
                self.var_of(|sort| sort == Sort::Real).expect("there is a real")
            };
        }
        match self.pick(0, 3) {
            0 => {
                let (a, b) = (self.real(depth - 1), self.real(depth - 1));
                self.pool.add2(a, b)
            }
            1 => {
                let (a, b) = (self.real(0), self.real(depth - 1));
                let half =
                    self.pool.value(Value::Real(Rational::new(Int::ONE, Int::from(2)).expect("not zero")));
                let b = self.pool.mul2(half, b);
                self.pool.sub(a, b)
            }
            2 => {
                let a = self.int(depth - 1);
                self.pool.to_real(a)
            }
            _ => {
                let (c, a, b) = (self.bool(depth - 1), self.real(depth - 1), self.real(depth - 1));
                self.pool.ite(c, a, b)
            }
        }
    }

    fn data(&mut self, depth: u32) -> Term {
        let a = self.var_of(|sort| matches!(sort, Sort::Data(_))).expect("there is data");
        if depth > 0 && self.pick(0, 3) == 0 {
            let (c, b) = (self.bool(depth - 1), self.data_like(a, depth - 1));
            return self.pool.ite(c, a, b);
        }
        a
    }

    /// Another term of the sort of `a`.
    fn data_like(&mut self, a: Term, depth: u32) -> Term {
        let sort = self.pool.sort(a);
        let Sort::Data(id) = sort else { return a };
        if self.pick(0, 1) == 0 {
            return self.var_of(|other| other == sort).expect("it is one itself");
        }
        let ctor = self.ctor_of(a);
        let sorts: Vec<Sort> =
            self.pool.data(id).ctors[ctor as usize].fields.iter().map(|field| field.sort).collect();
        let args: Vec<Term> = sorts.into_iter().map(|sort| self.any(sort, depth)).collect();
        self.pool.construct(id, ctor, args)
    }

    /// A term whose value lies in `sort` whatever the valuation.
    fn any(&mut self, sort: Sort, depth: u32) -> Term {
        match sort {
            Sort::Bool => self.bool(depth.min(1)),
            Sort::Data(_) => self.var_of(|other| other == sort).expect("there is one"),
            _ => {
                let default = self.pool.default_value(sort);
                self.pool.value(default)
            }
        }
    }

    fn ctor_of(&mut self, a: Term) -> u32 {
        let Sort::Data(id) = self.pool.sort(a) else { return 0 };
        let n = self.pool.data(id).ctors.len();
        self.rng.random_range(0..n) as u32
    }
}

/// Holds `solver` against enumeration on `facts`, and its valuation against evaluation.
#[track_caller]
pub fn agree(
    who: &str,
    solver: &mut dyn Solver,
    truth: &SolverAnswer,
    terms: &mut Terms,
    facts: &[Term],
    complete: bool,
) {
    let shown: Vec<String> = facts.iter().map(|&fact| terms.pool.show(fact).to_string()).collect();
    let answer = solver.check(&mut terms.pool, facts);
    let decision = solver.decide(&mut terms.pool, facts);
    match (&answer, truth) {
        (SolverAnswer::Sat(_), SolverAnswer::Unsat) | (SolverAnswer::Unsat, SolverAnswer::Sat(_)) => {
            panic!("{who} says {answer:?}, enumeration {truth:?}: {shown:#?}")
        }
        (SolverAnswer::Unknown(why), _) if complete => panic!("{who} does not know ({why}): {shown:#?}"),
        (SolverAnswer::Sat(valuation), _) => {
            for var in terms.pool.free_vars_of(facts) {
                let value = valuation.get(var).unwrap_or_else(|| panic!("{who} forgot {var:?}: {shown:#?}"));
                assert!(
                    terms.pool.has_sort(value, terms.pool.var_info(var).sort),
                    "{who}: {value:?}: {shown:#?}"
                );
            }
            for &fact in facts {
                let holds = terms.pool.holds(fact, valuation);
                assert!(
                    holds != Ok(false),
                    "{who}: {} fails under {valuation:?}: {shown:#?}",
                    terms.pool.show(fact)
                );
            }
        }
        (SolverAnswer::Unsat | SolverAnswer::Unknown(_), _) => (),
    }
    let contradicts = matches!(
        (&decision, &answer),
        (SolverDecision::Sat, SolverAnswer::Unsat) | (SolverDecision::Unsat, SolverAnswer::Sat(_))
    );
    assert!(!contradicts, "{who} decides {decision:?} and answers {answer:?}: {shown:#?}");
}
