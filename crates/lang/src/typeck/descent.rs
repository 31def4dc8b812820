//! Recursion over numbers: whether every call of a function by itself moves a number towards a bound.
//!
//! The walk goes through the body as it is written and keeps what the conditions on the way say about the parameters:
//! bounds, values that are excluded, and which parameter is not above which other. A call descends on a parameter if
//! these facts imply that the argument is nearer to a bound behind which no such call happens. Nothing is solved, so
//! the rules below are all there is, and the message can say them.

use ioxide_model::source::Span;
use rustc_hash::FxHashMap;

use crate::ast::{AddOp, ArgExpr, CmpOp, Expr, ExprKind, FnDecl, MatchArm, MulOp, PatternKind};
use crate::literal::{self, NumberLiteral};
use crate::resolve::each_child;

/// A way in which all calls of a function by itself descend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallDescent {
    /// The position of the parameter that gets smaller.
    pub(crate) param: usize,
    /// The measure that gets smaller.
    pub(crate) kind: DescentKind,
}

/// The measure that a call makes smaller. Calls of one function need the same one: each alone ends, but two together
/// may undo each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DescentKind {
    /// The argument is a part of the parameter.
    Part,
    /// The argument is nearer to zero.
    Magnitude,
    /// The argument is smaller, and the call happens only above a constant.
    Down,
    /// The argument is greater, and the call happens only below a constant.
    Up,
    /// The argument is smaller, and the call happens only above another parameter, which stays.
    DownTo(usize),
    /// The argument is greater, and the call happens only below another parameter, which stays.
    UpTo(usize),
}

impl CallDescent {
    /// Returns the ways that are possible for a function with these parameters; true stands for a whole number.
    pub(crate) fn all(is_number: &[bool]) -> Vec<Self> {
        let mut all: Vec<Self> =
            (0..is_number.len()).map(|param| Self { param, kind: DescentKind::Part }).collect();
        let numbers = || (0..is_number.len()).filter(|&param| is_number[param]);
        for param in numbers() {
            let alone = [DescentKind::Magnitude, DescentKind::Down, DescentKind::Up].into_iter();
            let others = numbers().filter(|&other| other != param);
            let pairs = others.flat_map(|other| [DescentKind::DownTo(other), DescentKind::UpTo(other)]);
            all.extend(alone.chain(pairs).map(|kind| Self { param, kind }));
        }
        all
    }

    /// Returns the parameters whose values decide how often the function calls itself.
    pub(crate) fn deciding(self) -> Vec<usize> {
        match self.kind {
            DescentKind::DownTo(other) | DescentKind::UpTo(other) => vec![self.param, other],
            _ => vec![self.param],
        }
    }
}

/// The facts about one number.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberFacts {
    /// The least value.
    lo: Option<i128>,
    /// The greatest value.
    hi: Option<i128>,
    excluded: Vec<i128>,
}

impl NumberFacts {
    /// The facts that the type `lo..hi` gives.
    pub(crate) fn between(lo: i64, hi: i64) -> Self {
        Self { lo: Some(lo.into()), hi: Some(hi.into()), excluded: Vec::new() }
    }

    /// Moves the bounds past values that are excluded.
    fn tighten(&mut self) {
        while let Some(lo) = self.lo
            && self.excluded.contains(&lo)
        {
            self.lo = Some(lo + 1);
        }
        while let Some(hi) = self.hi
            && self.excluded.contains(&hi)
        {
            self.hi = Some(hi - 1);
        }
    }

    /// Adds the fact that the number is in this relation to `n`.
    fn learn(&mut self, op: CmpOp, n: i128) {
        let raise = |lo: Option<i128>, n| Some(lo.map_or(n, |lo| lo.max(n)));
        let lower = |hi: Option<i128>, n| Some(hi.map_or(n, |hi| hi.min(n)));
        match op {
            CmpOp::Eq => (self.lo, self.hi) = (raise(self.lo, n), lower(self.hi, n)),
            CmpOp::Ne => self.excluded.push(n),
            CmpOp::Lt => self.hi = lower(self.hi, n - 1),
            CmpOp::Le => self.hi = lower(self.hi, n),
            CmpOp::Gt => self.lo = raise(self.lo, n + 1),
            CmpOp::Ge => self.lo = raise(self.lo, n),
        }
        self.tighten();
    }

    fn is_at_least(&self, n: i128) -> bool {
        self.lo.is_some_and(|lo| lo >= n)
    }

    fn is_at_most(&self, n: i128) -> bool {
        self.hi.is_some_and(|hi| hi <= n)
    }

    fn is_not_zero(&self) -> bool {
        self.is_at_least(1) || self.is_at_most(-1) || self.excluded.contains(&0)
    }
}

/// The facts about the parameters at one place of the body.
#[derive(Clone, Debug)]
struct PathFacts {
    /// One entry for each parameter; `None` if it is no whole number.
    numbers: Vec<Option<NumberFacts>>,
    /// Pairs of parameters of which the first is not above the second.
    not_above: Vec<(usize, usize)>,
}

/// The shape of an argument, seen from the parameter it is for.
enum ArgumentShape {
    /// The parameter plus this.
    Offset(i128),
    /// The parameter divided by this.
    Quotient(i128),
    /// The remainder of the parameter by this.
    Remainder(i128),
    /// The remainder of something by the parameter.
    RemainderOf,
    /// A constant.
    Constant(i128),
}

/// Returns how the calls of `decl` by itself descend on numbers, by the place of the function's name in the call.
/// `numbers` has what the types of the parameters say, `constant` the values of the constants of the model.
pub(crate) fn number_descents(
    decl: &FnDecl,
    numbers: Vec<Option<NumberFacts>>,
    constant: &dyn Fn(&str) -> Option<i128>,
) -> FxHashMap<Span, Vec<CallDescent>> {
    let mut walk = DescentWalk { decl, constant, hidden: Vec::new(), found: FxHashMap::default() };
    walk.visit_expr(&decl.body, &PathFacts { numbers, not_above: Vec::new() });
    walk.found
}

struct DescentWalk<'a> {
    decl: &'a FnDecl,
    constant: &'a dyn Fn(&str) -> Option<i128>,
    /// Names that patterns and quantifiers bind here.
    hidden: Vec<String>,
    found: FxHashMap<Span, Vec<CallDescent>>,
}

impl DescentWalk<'_> {
    fn visit_expr(&mut self, expr: &Expr, facts: &PathFacts) {
        match &expr.kind {
            ExprKind::If(arms, otherwise) => {
                let mut rest = facts.clone();
                for (condition, value) in arms {
                    self.visit_expr(condition, &rest);
                    let mut then = rest.clone();
                    self.learn(condition, true, &mut then);
                    self.visit_expr(value, &then);
                    self.learn(condition, false, &mut rest);
                }
                self.visit_expr(otherwise, &rest);
            }
            // Each operand is looked at only if those before it leave the result open.
            ExprKind::And(list) | ExprKind::Implies(list) => self.visit_in_turn(list, true, facts),
            ExprKind::Or(list) => self.visit_in_turn(list, false, facts),
            ExprKind::Match(scrutinee, arms) => self.visit_match(scrutinee, arms, facts),
            ExprKind::Quantified { var, lo, hi, body, .. } => {
                self.visit_expr(lo, facts);
                self.visit_expr(hi, facts);
                self.visit_hiding(&var.text, &[body], facts);
            }
            ExprKind::Over { var, of, body, .. } => {
                self.visit_expr(of, facts);
                self.visit_hiding(&var.text, &[body], facts);
            }
            ExprKind::Comprehension { item, var, of, keep, .. } => {
                self.visit_expr(of, facts);
                let inner: Vec<&Expr> = [&**item].into_iter().chain(keep.as_deref()).collect();
                self.visit_hiding(&var.text, &inner, facts);
            }
            ExprKind::Call(name, args) => {
                if name.text == self.decl.name.text {
                    let ways = self.ways_of_call(args, facts);
                    self.found.insert(name.span, ways);
                }
                args.iter().for_each(|arg| self.visit_expr(&arg.value, facts));
            }
            _ => {
                let mut children = Vec::new();
                each_child(expr, &mut |child| children.push(child));
                children.into_iter().for_each(|child| self.visit_expr(child, facts));
            }
        }
    }

    fn visit_in_turn(&mut self, list: &[Expr], passes: bool, facts: &PathFacts) {
        let mut facts = facts.clone();
        for operand in list {
            self.visit_expr(operand, &facts);
            // What holds where the next operand is looked at: those before it are true in `&&` and `=>`,
            // false in `||`.
            self.learn(operand, passes, &mut facts);
        }
    }

    fn visit_hiding(&mut self, name: &str, inner: &[&Expr], facts: &PathFacts) {
        self.hidden.push(name.to_owned());
        inner.iter().for_each(|expr| self.visit_expr(expr, facts));
        self.hidden.pop();
    }

    fn visit_match(&mut self, scrutinee: &Expr, arms: &[MatchArm], facts: &PathFacts) {
        self.visit_expr(scrutinee, facts);
        let param = self.param(scrutinee);
        let mut rest = facts.clone();
        for arm in arms {
            let mut here = rest.clone();
            let value = match &arm.pattern.kind {
                PatternKind::Literal(literal) => self.constant_number(literal),
                PatternKind::Name(name) => (self.constant)(name),
                _ => None,
            };
            // Patterns are tried in order, so behind this arm the number is another one.
            if let (Some(param), Some(n)) = (param, value) {
                here.learn_number(param, CmpOp::Eq, n);
                rest.learn_number(param, CmpOp::Ne, n);
            }
            let before = self.hidden.len();
            self.hidden.extend(arm.pattern.names().map(|name| name.text.clone()));
            self.visit_expr(&arm.value, &here);
            self.hidden.truncate(before);
        }
    }

    // Facts.

    /// Adds what follows from `condition` being `holds`.
    fn learn(&self, condition: &Expr, holds: bool, facts: &mut PathFacts) {
        match (&condition.kind, holds) {
            (ExprKind::Paren(inner), _) => self.learn(inner, holds, facts),
            (ExprKind::Not(inner), _) => self.learn(inner, !holds, facts),
            // A conjunction that is false, or a disjunction that is true, says nothing about any one of its
            // parts.
            (ExprKind::And(list), true) | (ExprKind::Or(list), false) => {
                list.iter().for_each(|part| self.learn(part, holds, facts));
            }
            (ExprKind::Compare(first, rest), true) => {
                let mut left = &**first;
                for (op, right) in rest {
                    self.learn_relation(left, *op, right, facts);
                    left = right;
                }
            }
            // Of a chain that is false, some comparison is false, but not known which.
            (ExprKind::Compare(left, rest), false) => {
                if let [(op, right)] = &rest[..] {
                    self.learn_relation(left, negate(*op), right, facts);
                }
            }
            _ => {}
        }
    }

    fn learn_relation(&self, left: &Expr, op: CmpOp, right: &Expr, facts: &mut PathFacts) {
        match (self.param(left), self.param(right)) {
            (Some(a), Some(b)) => facts.learn_order(a, op, b),
            (Some(param), None) => {
                if let Some(n) = self.constant_number(right) {
                    facts.learn_number(param, op, n);
                }
            }
            (None, Some(param)) => {
                if let Some(n) = self.constant_number(left) {
                    facts.learn_number(param, swap_sides(op), n);
                }
            }
            (None, None) => {}
        }
    }

    /// Returns the parameter that `expr` is.
    fn param(&self, expr: &Expr) -> Option<usize> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.param(inner),
            ExprKind::Name(name) if !self.hidden.contains(name) => {
                self.decl.params.iter().position(|param| param.name.text == *name)
            }
            _ => None,
        }
    }

    /// Returns the constant whole number that `expr` is.
    fn constant_number(&self, expr: &Expr) -> Option<i128> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.constant_number(inner),
            ExprKind::Neg(inner) => Some(-self.constant_number(inner)?),
            ExprKind::Number(text) => match literal::parse_number(text) {
                Ok(NumberLiteral::Int(n)) => n.to_i64().map(i128::from),
                Ok(NumberLiteral::Real(_)) | Err(_) => None,
            },
            ExprKind::Name(name) if self.param(expr).is_none() && !self.hidden.contains(name) => {
                (self.constant)(name)
            }
            ExprKind::Sum(first, rest) => {
                rest.iter().try_fold(self.constant_number(first)?, |sum, (op, next)| {
                    let next = self.constant_number(next)?;
                    if *op == AddOp::Add { sum.checked_add(next) } else { sum.checked_sub(next) }
                })
            }
            _ => None,
        }
    }

    // Calls.

    fn ways_of_call(&self, args: &[ArgExpr], facts: &PathFacts) -> Vec<CallDescent> {
        let mut ways = Vec::new();
        for (param, arg) in args.iter().enumerate() {
            let kinds = self.ways_of_argument(param, &arg.value, args, facts);
            ways.extend(kinds.into_iter().map(|kind| CallDescent { param, kind }));
        }
        ways
    }

    fn ways_of_argument(
        &self,
        param: usize,
        arg: &Expr,
        args: &[ArgExpr],
        facts: &PathFacts,
    ) -> Vec<DescentKind> {
        match &arg.kind {
            ExprKind::Paren(inner) => return self.ways_of_argument(param, inner, args, facts),
            // Whichever branch is taken.
            ExprKind::If(arms, otherwise) => {
                let mut rest = facts.clone();
                let mut common: Option<Vec<DescentKind>> = None;
                let mut keep = |ways: Vec<DescentKind>| {
                    common = Some(match common.take() {
                        Some(known) => known.into_iter().filter(|way| ways.contains(way)).collect(),
                        None => ways,
                    });
                };
                for (condition, value) in arms {
                    let mut then = rest.clone();
                    self.learn(condition, true, &mut then);
                    keep(self.ways_of_argument(param, value, args, &then));
                    self.learn(condition, false, &mut rest);
                }
                keep(self.ways_of_argument(param, otherwise, args, &rest));
                return common.unwrap_or_default();
            }
            _ => {}
        }
        let (Some(Some(known)), Some(shape)) = (facts.numbers.get(param), self.shape(param, arg)) else {
            return Vec::new();
        };
        // The bound of `DownTo` and `UpTo` is another parameter. It is a bound only if the call hands it on
        // unchanged.
        let stays = |other: usize| args.get(other).is_some_and(|arg| self.param(&arg.value) == Some(other));
        facts.ways_of_shape(param, known, &shape, stays)
    }

    /// Returns the shape of the argument for `param`, if it is one that the rules know.
    fn shape(&self, param: usize, arg: &Expr) -> Option<ArgumentShape> {
        if let Some(n) = self.constant_number(arg) {
            return Some(ArgumentShape::Constant(n));
        }
        let is_param = |expr: &Expr| self.param(expr) == Some(param);
        match &arg.kind {
            ExprKind::Sum(first, rest) => {
                let signed =
                    std::iter::once((AddOp::Add, &**first)).chain(rest.iter().map(|(op, e)| (*op, e)));
                let (mut n_params, mut offset) = (0, 0i128);
                for (op, operand) in signed {
                    match self.constant_number(operand) {
                        Some(n) if op == AddOp::Add => offset = offset.checked_add(n)?,
                        Some(n) => offset = offset.checked_sub(n)?,
                        None if op == AddOp::Add && is_param(operand) => n_params += 1,
                        None => return None,
                    }
                }
                // `p + p - 1` is no offset of `p`.
                (n_params == 1).then_some(ArgumentShape::Offset(offset))
            }
            ExprKind::Product(first, rest) => match &rest[..] {
                [(MulOp::Rem, divisor)] if is_param(divisor) => Some(ArgumentShape::RemainderOf),
                [(MulOp::Div, divisor)] if is_param(first) => {
                    self.constant_number(divisor).map(ArgumentShape::Quotient)
                }
                [(MulOp::Rem, divisor)] if is_param(first) => {
                    self.constant_number(divisor).map(ArgumentShape::Remainder)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl PathFacts {
    fn learn_number(&mut self, param: usize, op: CmpOp, n: i128) {
        if let Some(Some(facts)) = self.numbers.get_mut(param) {
            facts.learn(op, n);
        }
    }

    fn learn_order(&mut self, a: usize, op: CmpOp, b: usize) {
        match op {
            CmpOp::Lt | CmpOp::Le => self.not_above.push((a, b)),
            CmpOp::Gt | CmpOp::Ge => self.not_above.push((b, a)),
            CmpOp::Eq => self.not_above.extend([(a, b), (b, a)]),
            CmpOp::Ne => {}
        }
    }

    /// Returns the ways in which an argument of this shape descends on `param`; `stays` says which other arguments are
    /// the parameters themselves.
    fn ways_of_shape(
        &self,
        param: usize,
        known: &NumberFacts,
        shape: &ArgumentShape,
        stays: impl Fn(usize) -> bool,
    ) -> Vec<DescentKind> {
        let mut ways = Vec::new();
        // Whether the argument is nearer to zero, smaller, or greater than the parameter.
        let (nearer, smaller, greater) = match *shape {
            ArgumentShape::Offset(by) => {
                // |p + by| < |p| if p is positive and by lies between -2p and 0; likewise below zero.
                let down = by < 0 && known.lo.is_some_and(|lo| lo >= 1 && 2 * lo > -by);
                let up = by > 0 && known.hi.is_some_and(|hi| hi <= -1 && -2 * hi > by);
                (down || up, by < 0, by > 0)
            }
            // Quotients are rounded down: half of -1 is -1.
            ArgumentShape::Quotient(by) => {
                let holds = by >= 2 && known.is_at_least(1);
                (holds, holds, false)
            }
            ArgumentShape::Remainder(by) => {
                let holds = by != 0 && known.is_at_least(by.abs());
                (holds || by != 0 && known.is_at_most(-by.abs()), holds, false)
            }
            // A remainder is at least zero and below the magnitude of the divisor.
            ArgumentShape::RemainderOf => (known.is_not_zero(), known.is_at_least(1), false),
            ArgumentShape::Constant(n) => {
                let beyond = n.abs() + 1;
                let nearer = known.is_at_least(beyond) || known.is_at_most(-beyond);
                (nearer, known.is_at_least(n + 1), known.is_at_most(n - 1))
            }
        };
        ways.extend(nearer.then_some(DescentKind::Magnitude));
        // Smaller alone is not enough: without a bound that holds at the call, numbers go down for ever.
        ways.extend((smaller && known.lo.is_some()).then_some(DescentKind::Down));
        ways.extend((greater && known.hi.is_some()).then_some(DescentKind::Up));
        for &(low, high) in &self.not_above {
            if smaller && high == param && low != param && stays(low) {
                ways.push(DescentKind::DownTo(low));
            }
            if greater && low == param && high != param && stays(high) {
                ways.push(DescentKind::UpTo(high));
            }
        }
        ways
    }
}

/// Returns the relation that holds if `op` does not.
fn negate(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Le => CmpOp::Gt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Ge => CmpOp::Lt,
    }
}

/// Returns the relation between the same values the other way round.
fn swap_sides(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq | CmpOp::Ne => op,
        CmpOp::Lt => CmpOp::Gt,
        CmpOp::Le => CmpOp::Ge,
        CmpOp::Gt => CmpOp::Lt,
        CmpOp::Ge => CmpOp::Le,
    }
}
