//! Arithmetic in linear normal form.
//!
//! A sum is a constant and monomials, each a coefficient times an atom (a term that is
//! neither sum nor constant; a product of atoms counts as one). Atoms are ordered by
//! id and occur once, so that sums equal by the laws of addition are equal ids.
//!
//! Constants are computed as long as they are of bearable size: a number that is squared fifty times does not fit
//! anywhere. What would be larger stays a product or a sum of its parts, which evaluation refuses too.

use crate::number::{Int, Rational};
use crate::sort::Sort;
use crate::term::weight::MAX_WEIGHT;
use crate::term::{Term, TermNode, TermPool};
use crate::value::Value;

/// The weight up to which constants are computed here. Above that of evaluation, so that folding never refuses what
/// evaluation would compute.
const MAX_FOLDED: u32 = 4 * MAX_WEIGHT;

/// `constant + Σ coefficient · atom`, atoms ordered and coefficients not zero.
struct Linear {
    constant: Rational,
    monomials: Vec<(Term, Rational)>,
}

impl TermPool {
    /// Sum of one or more numbers of one base sort.
    ///
    /// # Panics
    /// If there is no term: an empty sum has no sort.
    pub fn add(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let terms: Vec<Term> = terms.into_iter().collect();
        let sort = self.sort(*terms.first().expect("a sum has a term")).base();
        debug_assert!(terms.iter().all(|&term| self.sort(term).base() == sort));
        if let [only] = *terms {
            return only;
        }
        // Kept as it was written: without the normal form it is equal to fewer terms, never to wrong ones.
        if !self.is_sum_bearable(&terms) {
            return self.intern(TermNode::Add(terms.into()));
        }
        let linear = self.combine(terms.iter().map(|&term| (term, Rational::ONE)));
        self.sum_of(linear, sort)
    }

    /// Sum of two.
    pub fn add2(&mut self, a: Term, b: Term) -> Term {
        self.add([a, b])
    }

    /// Difference.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        let sort = self.sort(a).base();
        if !self.is_sum_bearable(&[a, b]) {
            let minus_b = self.neg(b);
            return self.intern(TermNode::Add([a, minus_b].into()));
        }
        let linear = self.combine([(a, Rational::ONE), (b, Rational::from(-1))]);
        self.sum_of(linear, sort)
    }

    /// Minus `a`.
    pub fn neg(&mut self, a: Term) -> Term {
        let sort = self.sort(a).base();
        let linear = self.combine([(a, Rational::from(-1))]);
        self.sum_of(linear, sort)
    }

    /// Product of one or more numbers of one base sort.
    ///
    /// # Panics
    /// If there is no term: an empty product has no sort.
    pub fn mul(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let terms: Vec<Term> = terms.into_iter().collect();
        let sort = self.sort(*terms.first().expect("a product has a term")).base();
        if !self.is_product_bearable(&terms) {
            return self.intern(TermNode::Mul(terms.into()));
        }
        let (factor, mut atoms) = self.factors(terms);
        if factor.is_zero() || atoms.is_empty() {
            return self.number(factor, sort);
        }
        if let [only] = *atoms {
            let linear = self.combine([(only, factor)]);
            return self.sum_of(linear, sort);
        }
        // By id, so that `x * y` and `y * x` are one term.
        atoms.sort_unstable();
        self.monomial(factor, atoms, sort)
    }

    /// Product of two.
    pub fn mul2(&mut self, a: Term, b: Term) -> Term {
        self.mul([a, b])
    }

    /// Euclidean integer quotient; `x / 0 = 0`.
    pub fn div(&mut self, a: Term, b: Term) -> Term {
        None.or_else(|| self.int_values(a, b, Int::div))
            .or_else(|| self.div_trivial(a, b))
            .unwrap_or_else(|| self.intern(TermNode::Div(a, b)))
    }

    /// Euclidean integer remainder; `x % 0 = x`.
    pub fn rem(&mut self, a: Term, b: Term) -> Term {
        None.or_else(|| self.int_values(a, b, Int::rem))
            .or_else(|| self.rem_trivial(a, b))
            .unwrap_or_else(|| self.intern(TermNode::Rem(a, b)))
    }

    /// Quotient of reals; `x / 0 = 0`.
    pub fn real_div(&mut self, a: Term, b: Term) -> Term {
        self.real_div_by_constant(a, b).unwrap_or_else(|| self.intern(TermNode::RealDiv(a, b)))
    }

    /// An integer as a real.
    pub fn to_real(&mut self, a: Term) -> Term {
        None.or_else(|| self.real_of_value(a))
            .or_else(|| self.real_of_linear(a))
            .unwrap_or_else(|| self.intern(TermNode::ToReal(a)))
    }

    /// The greatest integer not above `a`.
    pub fn floor(&mut self, a: Term) -> Term {
        None.or_else(|| self.floor_value(a))
            .or_else(|| self.floor_to_real(a))
            .unwrap_or_else(|| self.intern(TermNode::Floor(a)))
    }

    /// The constant `n` as a number of `sort` (which is whole if `sort` is).
    pub fn number(&mut self, n: Rational, sort: Sort) -> Term {
        match sort.base() {
            Sort::Real => self.value(Value::Real(n)),
            _ => self.value(Value::Int(n.floor())),
        }
    }

    /// `a - b`, where it is the same under every valuation.
    pub(super) fn constant_difference(&mut self, a: Term, b: Term) -> Option<Rational> {
        let is_sum = |pool: &Self, term| matches!(pool.node(term), TermNode::Add(_) | TermNode::Mul(_));
        if !self.sort(a).is_numeric() || !(is_sum(self, a) || is_sum(self, b)) {
            // Anything else is one atom, and differs from another by a constant only if it is the same.
            return (a == b).then_some(Rational::ZERO);
        }
        // A sum in normal form is no constant, so it is not a constant away from one either.
        if self.as_value(a).is_some() != self.as_value(b).is_some() {
            return None;
        }
        if !self.is_sum_bearable(&[a, b]) {
            return (a == b).then_some(Rational::ZERO);
        }
        let linear = self.combine([(a, Rational::ONE), (b, Rational::from(-1))]);
        linear.monomials.is_empty().then_some(linear.constant)
    }

    /// The two sides of a relation with the constant of a sum moved to a side that is constant.
    pub(super) fn shift_constant(&mut self, a: Term, b: Term) -> Option<(Term, Term)> {
        let constant = |pool: &Self, sum| match pool.node(sum) {
            // The normal form puts the constant of a sum first.
            TermNode::Add(list) if pool.as_value(list[0]).is_some() => Some(list[0]),
            _ => None,
        };
        let moved = match (self.as_value(a).is_some(), self.as_value(b).is_some()) {
            (false, true) => constant(self, a)?,
            (true, false) => constant(self, b)?,
            _ => return None,
        };
        Some((self.sub(a, moved), self.sub(b, moved)))
    }

    /// Returns whether the constants of a product of `terms` are of bearable size.
    fn is_product_bearable(&self, terms: &[Term]) -> bool {
        let weights = terms.iter().map(|&term| self.weight(term));
        terms.len() < 2 || weights.fold(0, u32::saturating_add) <= MAX_FOLDED
    }

    /// Returns whether the constants of a sum of `terms` are of bearable size. The denominator of a sum of fractions is
    /// as large as all of theirs together.
    fn is_sum_bearable(&self, terms: &[Term]) -> bool {
        let constants = terms.iter().flat_map(|term| match self.node(*term) {
            TermNode::Add(list) => &**list,
            _ => std::slice::from_ref(term),
        });
        let weights =
            constants.filter(|&&term| self.sort(term) == Sort::Real).map(|&term| self.weight(term) - 1);
        weights.fold(0, u32::saturating_add) <= MAX_FOLDED
    }

    /// `Σ coefficient · term`, like atoms collected.
    fn combine(&mut self, parts: impl IntoIterator<Item = (Term, Rational)>) -> Linear {
        let mut linear = Linear { constant: Rational::ZERO, monomials: Vec::new() };
        for (term, coefficient) in parts {
            match self.node(term).clone() {
                TermNode::Add(list) => {
                    for &child in &*list {
                        self.add_scaled(child, &coefficient, &mut linear);
                    }
                }
                _ => self.add_scaled(term, &coefficient, &mut linear),
            }
        }
        // Like atoms become neighbours and are added up; those that cancel out are dropped.
        linear.monomials.sort_by_key(|monomial| monomial.0);
        linear.monomials.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = &kept.1 + &next.1;
            }
            same
        });
        linear.monomials.retain(|monomial| !monomial.1.is_zero());
        linear
    }

    /// Adds `coefficient · term` for a term that is not a sum.
    fn add_scaled(&mut self, term: Term, coefficient: &Rational, linear: &mut Linear) {
        if let Some(value) = self.as_value(term).and_then(Value::to_rational) {
            linear.constant = &linear.constant + &value * coefficient;
            return;
        }
        let (factor, atom) = self.split_monomial(term);
        let factor = if factor == Rational::ONE { coefficient.clone() } else { &factor * coefficient };
        linear.monomials.push((atom, factor));
    }

    /// `3 * x * y` is the factor 3 and the atom `x * y`.
    fn split_monomial(&mut self, term: Term) -> (Rational, Term) {
        let TermNode::Mul(list) = self.node(term) else { return (Rational::ONE, term) };
        let Some(factor) = self.as_value(list[0]).and_then(Value::to_rational) else {
            return (Rational::ONE, term);
        };
        match list[1..] {
            [atom] => (factor, atom),
            _ => {
                let atoms = list[1..].into();
                (factor, self.intern(TermNode::Mul(atoms)))
            }
        }
    }

    fn sum_of(&mut self, linear: Linear, sort: Sort) -> Term {
        let Linear { constant, monomials } = linear;
        let mut children = Vec::with_capacity(monomials.len() + 1);
        if !constant.is_zero() || monomials.is_empty() {
            children.push(self.number(constant, sort));
        }
        for (atom, coefficient) in monomials {
            let factors = match self.node(atom) {
                TermNode::Mul(list) => list.to_vec(),
                _ => vec![atom],
            };
            children.push(self.monomial(coefficient, factors, sort));
        }
        match *children {
            [only] => only,
            _ => self.intern(TermNode::Add(children.into())),
        }
    }

    /// `factor · Π atoms` for ordered atoms and a factor that is not zero.
    fn monomial(&mut self, factor: Rational, mut atoms: Vec<Term>, sort: Sort) -> Term {
        if factor != Rational::ONE {
            atoms.insert(0, self.number(factor, sort));
        }
        match *atoms {
            [only] => only,
            _ => self.intern(TermNode::Mul(atoms.into())),
        }
    }

    /// Constants multiplied together, and the other factors, products opened.
    fn factors(&self, terms: Vec<Term>) -> (Rational, Vec<Term>) {
        let mut factor = Rational::ONE;
        let mut atoms = Vec::with_capacity(terms.len());
        for term in terms {
            let parts =
                if let TermNode::Mul(list) = self.node(term) { list } else { std::slice::from_ref(&term) };
            for &part in parts {
                match self.as_value(part).and_then(Value::to_rational) {
                    Some(value) => factor = &factor * &value,
                    None => atoms.push(part),
                }
            }
        }
        (factor, atoms)
    }

    /// `7 / 2 = 3`, `7 % 2 = 1`.
    fn int_values(&mut self, a: Term, b: Term, f: fn(&Int, &Int) -> Int) -> Option<Term> {
        let result = f(self.as_value(a)?.as_int()?, self.as_value(b)?.as_int()?);
        Some(self.value(Value::Int(result)))
    }

    /// `x / 1 = x`, `x / 0 = 0`.
    fn div_trivial(&mut self, a: Term, b: Term) -> Option<Term> {
        match self.as_value(b)?.as_int()?.to_i64()? {
            0 => Some(self.int(0)),
            1 => Some(a),
            _ => None,
        }
    }

    /// `x % 1 = 0`, `x % 0 = x`.
    fn rem_trivial(&mut self, a: Term, b: Term) -> Option<Term> {
        match self.as_value(b)?.as_int()?.to_i64()? {
            0 => Some(a),
            1 | -1 => Some(self.int(0)),
            _ => None,
        }
    }

    /// `x / 4 = 0.25 * x`, `x / 0 = 0`.
    fn real_div_by_constant(&mut self, a: Term, b: Term) -> Option<Term> {
        // `1 / 0 = 0` for rationals here, so `x / 0` becomes `0 * x`, as it should.
        let inverse = Rational::ONE.div(self.as_value(b)?.as_real()?);
        let inverse = self.value(Value::Real(inverse));
        Some(self.mul([inverse, a]))
    }

    /// `real(3) = 3.0`.
    fn real_of_value(&mut self, a: Term) -> Option<Term> {
        let n = Rational::from(self.as_value(a)?.as_int()?.clone());
        Some(self.value(Value::Real(n)))
    }

    /// `real(2 * x + 1) = 2.0 * real(x) + 1.0`, so that sums keep their normal form.
    fn real_of_linear(&mut self, a: Term) -> Option<Term> {
        match self.node(a).clone() {
            TermNode::Add(list) => {
                let parts: Vec<Term> = list.iter().map(|&part| self.to_real(part)).collect();
                Some(self.add(parts))
            }
            TermNode::Mul(list) => {
                let parts: Vec<Term> = list.iter().map(|&part| self.to_real(part)).collect();
                Some(self.mul(parts))
            }
            _ => None,
        }
    }

    /// `floor(1.5) = 1`.
    fn floor_value(&mut self, a: Term) -> Option<Term> {
        let n = self.as_value(a)?.as_real()?.floor();
        Some(self.value(Value::Int(n)))
    }

    /// `floor(real(x)) = x`.
    fn floor_to_real(&mut self, a: Term) -> Option<Term> {
        if let TermNode::ToReal(inner) = *self.node(a) { Some(inner) } else { None }
    }
}
