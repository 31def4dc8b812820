//! Random bodies of actions, and a second opinion on what they mean: executed statement by statement, on values.
//!
//! The state has numbers `a` and `b` and a list `xs` of numbers, all from 0 to 3, and a truth value `f`; the action has
//! a parameter `p`. An execution gives every state it may end in; where a value does not fit or is not there it stops.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The greatest number that fits.
pub const MOST: i64 = 3;

/// A source of choices: the same seed, the same programs.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A number.
#[derive(Clone, Debug)]
pub enum Num {
    Const(i64),
    Name(String),
    Sum(Box<Num>, Box<Num>),
    Minus(Box<Num>, Box<Num>),
    If(Box<Truth>, Box<Num>, Box<Num>),
    Length,
    Item(Box<Num>),
}

/// A truth value.
#[derive(Clone, Debug)]
pub enum Truth {
    Flag,
    Less(Num, Num),
    Equal(Num, Num),
    Not(Box<Truth>),
    And(Box<Truth>, Box<Truth>),
    Or(Box<Truth>, Box<Truth>),
    Contains(Num),
}

/// An assignment.
#[derive(Clone, Debug)]
pub enum Change {
    Number(String, Num),
    Flag(Truth),
    Append(Num),
    DropFirst,
    Put(Num, Num),
}

/// The range of a loop.
#[derive(Clone, Debug)]
pub enum Over {
    Numbers(i64, i64),
    Items(Vec<Num>),
}

/// A condition, which may name the first item of the list.
#[derive(Clone, Debug)]
pub enum Asked {
    Plain(Truth),
    First(String, Truth),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    Assign(Vec<Change>),
    Choice(Vec<(Option<Asked>, Vec<Stmt>)>),
    If(Vec<(Asked, Vec<Stmt>)>, Option<Vec<Stmt>>),
    Let(String, Num),
    /// A variable; the flag is true if it is of the small type.
    Var(String, bool, Num),
    For(String, Over, Vec<Stmt>),
}

/// A program: the guard of the action, and its body.
#[derive(Clone, Debug)]
pub struct Program {
    pub guard: Truth,
    pub body: Vec<Stmt>,
}

// Making.

struct Maker<'d> {
    dice: &'d mut Dice,
    /// Names of numbers in scope; whether they may be assigned.
    names: Vec<(String, bool)>,
    n_names: usize,
    /// The number of choices that may still be made, so that paths stay few.
    budget: usize,
}

impl Program {
    pub fn random(dice: &mut Dice) -> Self {
        let names = vec![("a".to_owned(), true), ("b".to_owned(), true), ("p".to_owned(), false)];
        let mut maker = Maker { dice, names, n_names: 0, budget: 6 };
        let guard = Truth::Or(Box::new(maker.truth(1)), Box::new(maker.truth(1)));
        Self { guard, body: maker.block(3) }
    }
}

impl Maker<'_> {
    fn block(&mut self, depth: usize) -> Vec<Stmt> {
        let known = self.names.len();
        let n = 1 + self.dice.below(3);
        let mut statements = Vec::new();
        for _ in 0..n {
            statements.push(self.statement(depth));
        }
        self.names.truncate(known);
        statements
    }

    fn statement(&mut self, depth: usize) -> Stmt {
        let kind = if depth == 0 || self.budget == 0 { 4 + self.dice.below(4) } else { self.dice.below(9) };
        match kind {
            0 | 1 => {
                let n = 2 + self.dice.below(2);
                self.budget = self.budget.saturating_sub(n);
                let branch = |maker: &mut Self| {
                    let known = maker.names.len();
                    let when = if maker.dice.one_in(3) { Some(maker.asked()) } else { None };
                    let body = maker.block(depth - 1);
                    maker.names.truncate(known);
                    (when, body)
                };
                Stmt::Choice((0..n).map(|_| branch(self)).collect())
            }
            2 | 3 => {
                let n = 1 + self.dice.below(2);
                self.budget = self.budget.saturating_sub(n);
                let arm = |maker: &mut Self| {
                    let known = maker.names.len();
                    let asked = maker.asked();
                    let body = maker.block(depth - 1);
                    maker.names.truncate(known);
                    (asked, body)
                };
                let arms = (0..n).map(|_| arm(self)).collect();
                let otherwise = if self.dice.one_in(2) { Some(self.block(depth - 1)) } else { None };
                Stmt::If(arms, otherwise)
            }
            4 => {
                let value = self.num(2);
                Stmt::Let(self.name(false), value)
            }
            5 => {
                let (value, is_small) = (self.num(2), self.dice.one_in(2));
                Stmt::Var(self.name(true), is_small, value)
            }
            8 => {
                self.budget = self.budget.saturating_sub(2);
                let over = if self.dice.one_in(2) {
                    let first = self.dice.below(3) as i64;
                    Over::Numbers(first, first + self.dice.below(3) as i64 - 1)
                } else {
                    Over::Items((0..=self.dice.below(2)).map(|_| self.num(1)).collect())
                };
                let known = self.names.len();
                let name = self.name(false);
                let body = self.block(depth - 1);
                self.names.truncate(known);
                Stmt::For(name, over, body)
            }
            _ => Stmt::Assign(self.changes()),
        }
    }

    fn name(&mut self, is_variable: bool) -> String {
        self.n_names += 1;
        let name = format!("t{}", self.n_names);
        self.names.push((name.clone(), is_variable));
        name
    }

    fn asked(&mut self) -> Asked {
        if self.dice.one_in(4) {
            let name = self.name(false);
            return Asked::First(name, self.truth(1));
        }
        Asked::Plain(self.truth(2))
    }

    /// Changes of different variables.
    fn changes(&mut self) -> Vec<Change> {
        let mut targets: Vec<String> =
            self.names.iter().filter(|(_, may)| *may).map(|(name, _)| name.clone()).collect();
        let mut changes = Vec::new();
        for _ in 0..=self.dice.below(2) {
            if targets.is_empty() {
                break;
            }
            let target = targets.remove(self.dice.below(targets.len()));
            let depth = self.dice.below(3);
            changes.push(Change::Number(target, self.num(depth)));
        }
        if self.dice.one_in(4) {
            changes.push(Change::Flag(self.truth(2)));
        }
        match self.dice.below(8) {
            0 => changes.push(Change::Append(self.num(0))),
            1 => changes.push(Change::DropFirst),
            2 => changes.push(Change::Put(self.num(0), self.num(0))),
            _ => {}
        }
        changes
    }

    fn num(&mut self, depth: usize) -> Num {
        let inner = |maker: &mut Self| Box::new(maker.num(depth - 1));
        match if depth == 0 { self.dice.below(5) } else { self.dice.below(12) } {
            0 => Num::Const(self.dice.below(4) as i64),
            1..=4 => Num::Name(self.names[self.dice.below(self.names.len())].0.clone()),
            5 | 6 => Num::Sum(inner(self), inner(self)),
            7 => Num::Minus(inner(self), inner(self)),
            8 => Num::If(Box::new(self.truth(depth - 1)), inner(self), inner(self)),
            9 => Num::Item(inner(self)),
            _ => Num::Length,
        }
    }

    fn truth(&mut self, depth: usize) -> Truth {
        let inner = |maker: &mut Self| Box::new(maker.truth(depth - 1));
        match if depth == 0 { self.dice.below(5) } else { self.dice.below(8) } {
            0 => Truth::Flag,
            1 | 2 => Truth::Less(self.num(1), self.num(1)),
            3 => Truth::Equal(self.num(1), self.num(1)),
            4 => Truth::Contains(self.num(1)),
            5 => Truth::Not(inner(self)),
            6 => Truth::And(inner(self), inner(self)),
            _ => Truth::Or(inner(self), inner(self)),
        }
    }
}

// Writing.

impl Program {
    pub fn text(&self) -> String {
        let mut body = String::new();
        write_block(&mut body, &self.body);
        format!(
            "def Random {{
    types {{ Small = [0..{MOST}] }}
    state {{ a: Small  b: Small  f: Bool  xs: list<Small> }}
    init {{ a := 0  b := 0  f := False  xs := [] }}
    actions {{ ?go(p: Small) if {} then {body} }}
}}",
            truth(&self.guard)
        )
    }
}

fn write_block(out: &mut String, block: &[Stmt]) {
    out.push_str("{ ");
    for (at, statement) in block.iter().enumerate() {
        let both = |at: usize| matches!(block.get(at), Some(Stmt::Assign(_)));
        if at > 0 && both(at - 1) && both(at) {
            out.push_str("then ");
        }
        write_statement(out, statement);
    }
    out.push_str("} ");
}

fn write_statement(out: &mut String, statement: &Stmt) {
    match statement {
        Stmt::Assign(changes) => {
            let changes: Vec<String> = changes.iter().map(change).collect();
            let _ = write!(out, "{} ", changes.join(", "));
        }
        Stmt::Choice(branches) => {
            for (at, (when, body)) in branches.iter().enumerate() {
                out.push_str(if at > 0 { "[] " } else { "" });
                if let Some(when) = when {
                    let _ = write!(out, "when {} ", asked(when));
                }
                write_block(out, body);
            }
        }
        Stmt::If(arms, otherwise) => {
            for (at, (condition, body)) in arms.iter().enumerate() {
                let _ = write!(out, "{}if {} then ", if at > 0 { "else " } else { "" }, asked(condition));
                write_block(out, body);
            }
            if let Some(otherwise) = otherwise {
                out.push_str("else ");
                write_block(out, otherwise);
            }
        }
        Stmt::Let(name, value) => _ = write!(out, "let {name} = {} ", num(value)),
        Stmt::Var(name, is_small, value) => {
            let ty = if *is_small { ": Small" } else { "" };
            let _ = write!(out, "var {name}{ty} := {} ", num(value));
        }
        Stmt::For(name, over, body) => {
            let over = match over {
                Over::Numbers(lo, hi) => format!("{lo}..{hi}"),
                Over::Items(items) => format!("[{}]", items.iter().map(num).collect::<Vec<_>>().join(", ")),
            };
            let _ = write!(out, "for {name} in {over} ");
            write_block(out, body);
        }
    }
}

fn change(change: &Change) -> String {
    match change {
        Change::Number(name, value) => format!("{name} := {}", num(value)),
        Change::Flag(value) => format!("f := {}", truth(value)),
        Change::Append(item) => format!("xs := xs + [{}]", num(item)),
        Change::DropFirst => "xs := xs.drop(1)".into(),
        Change::Put(at, value) => format!("xs[{}] := {}", num(at), num(value)),
    }
}

fn asked(asked: &Asked) -> String {
    match asked {
        Asked::Plain(condition) => truth(condition),
        Asked::First(name, rest) => format!("let some({name}) = xs.first() && {}", truth(rest)),
    }
}

fn num(it: &Num) -> String {
    match it {
        Num::Const(n) => n.to_string(),
        Num::Name(name) => name.clone(),
        Num::Sum(x, y) => format!("({} + {})", num(x), num(y)),
        Num::Minus(x, y) => format!("({} - {})", num(x), num(y)),
        Num::If(c, x, y) => format!("(if {} then {} else {})", truth(c), num(x), num(y)),
        Num::Length => "xs.length()".into(),
        Num::Item(at) => format!("xs[{}]", num(at)),
    }
}

fn truth(it: &Truth) -> String {
    match it {
        Truth::Flag => "f".into(),
        Truth::Less(x, y) => format!("{} < {}", num(x), num(y)),
        Truth::Equal(x, y) => format!("{} == {}", num(x), num(y)),
        Truth::Not(x) => format!("!({})", truth(x)),
        Truth::And(x, y) => format!("({} && {})", truth(x), truth(y)),
        Truth::Or(x, y) => format!("({} || {})", truth(x), truth(y)),
        Truth::Contains(x) => format!("xs.contains({})", num(x)),
    }
}

// Executing.

/// The variables of the system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Store {
    pub a: i64,
    pub b: i64,
    pub f: bool,
    pub xs: Vec<i64>,
}

/// A point in an execution: the store, the names, and which of them are small.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    store: Store,
    names: BTreeMap<String, (i64, bool)>,
}

impl Program {
    /// Returns the stores in which the action may end from `store` with the parameter `p`; empty if it is not enabled.
    pub fn ends(&self, store: &Store, p: i64) -> BTreeSet<Store> {
        let start = Point { store: store.clone(), names: BTreeMap::from([("p".to_owned(), (p, true))]) };
        if start.truth(&self.guard) != Some(true) {
            return BTreeSet::new();
        }
        after(&self.body, BTreeSet::from([start])).into_iter().map(|point| point.store).collect()
    }
}

fn after(block: &[Stmt], points: BTreeSet<Point>) -> BTreeSet<Point> {
    block
        .iter()
        .fold(points, |points, statement| points.iter().flat_map(|point| point.step(statement)).collect())
}

impl Point {
    fn step(&self, statement: &Stmt) -> BTreeSet<Point> {
        match statement {
            Stmt::Assign(changes) => self.assigned(changes).into_iter().collect(),
            Stmt::Choice(branches) => {
                let way = |(when, body): &(Option<Asked>, Vec<Stmt>)| match when {
                    None => after(body, BTreeSet::from([self.clone()])),
                    Some(when) => match self.asked(when) {
                        Some((true, inside)) => after(body, BTreeSet::from([inside])),
                        _ => BTreeSet::new(),
                    },
                };
                branches.iter().flat_map(way).collect()
            }
            Stmt::If(arms, otherwise) => {
                for (condition, body) in arms {
                    match self.asked(condition) {
                        None => return BTreeSet::new(),
                        Some((true, inside)) => return after(body, BTreeSet::from([inside])),
                        Some((false, _)) => {}
                    }
                }
                after(otherwise.as_deref().unwrap_or_default(), BTreeSet::from([self.clone()]))
            }
            Stmt::Let(name, value) => {
                self.num(value).map(|n| self.with(name, n, false)).into_iter().collect()
            }
            Stmt::Var(name, is_small, value) => {
                let value = self.num(value).filter(|n| !is_small || fits(*n));
                value.map(|n| self.with(name, n, *is_small)).into_iter().collect()
            }
            Stmt::For(name, over, body) => {
                let items: Option<Vec<i64>> = match over {
                    Over::Numbers(lo, hi) => Some((*lo..=*hi).collect()),
                    Over::Items(items) => items.iter().map(|item| self.num(item)).collect(),
                };
                let Some(items) = items else { return BTreeSet::new() };
                items.into_iter().fold(BTreeSet::from([self.clone()]), |points, item| {
                    after(body, points.iter().map(|point| point.with(name, item, false)).collect())
                })
            }
        }
    }

    fn with(&self, name: &str, n: i64, is_small: bool) -> Self {
        let mut point = self.clone();
        point.names.insert(name.to_owned(), (n, is_small));
        point
    }

    /// Everything is read before anything changes.
    fn assigned(&self, changes: &[Change]) -> Option<Self> {
        let mut point = self.clone();
        for change in changes {
            match change {
                Change::Number(name, value) => {
                    let n = self.num(value)?;
                    let is_small = self.names.get(name).is_none_or(|(_, is_small)| *is_small);
                    if is_small && !fits(n) {
                        return None;
                    }
                    match name.as_str() {
                        "a" => point.store.a = n,
                        "b" => point.store.b = n,
                        local => _ = point.names.insert(local.to_owned(), (n, is_small)),
                    }
                }
                Change::Flag(value) => point.store.f = self.truth(value)?,
                Change::Append(item) => {
                    let item = self.num(item).filter(|n| fits(*n))?;
                    point.store.xs = self.store.xs.iter().copied().chain([item]).collect();
                }
                Change::DropFirst => point.store.xs = self.store.xs.iter().copied().skip(1).collect(),
                Change::Put(at, value) => {
                    let (at, value) = (self.num(at)?, self.num(value).filter(|n| fits(*n))?);
                    *point.store.xs.get_mut(usize::try_from(at).ok()?)? = value;
                }
            }
        }
        Some(point)
    }

    /// Returns the truth of the condition, and the point with the names it binds; `None` if it cannot be evaluated.
    fn asked(&self, asked: &Asked) -> Option<(bool, Self)> {
        match asked {
            Asked::Plain(condition) => Some((self.truth(condition)?, self.clone())),
            Asked::First(name, rest) => {
                let Some(&first) = self.store.xs.first() else { return Some((false, self.clone())) };
                let inside = self.with(name, first, false);
                Some((inside.truth(rest)?, inside))
            }
        }
    }

    fn num(&self, it: &Num) -> Option<i64> {
        Some(match it {
            Num::Const(n) => *n,
            Num::Name(name) => match name.as_str() {
                "a" => self.store.a,
                "b" => self.store.b,
                local => self.names[local].0,
            },
            Num::Sum(x, y) => self.num(x)? + self.num(y)?,
            Num::Minus(x, y) => self.num(x)? - self.num(y)?,
            Num::If(c, x, y) => self.num(if self.truth(c)? { x } else { y })?,
            Num::Length => self.store.xs.len() as i64,
            Num::Item(at) => *self.store.xs.get(usize::try_from(self.num(at)?).ok()?)?,
        })
    }

    fn truth(&self, it: &Truth) -> Option<bool> {
        Some(match it {
            Truth::Flag => self.store.f,
            Truth::Less(x, y) => self.num(x)? < self.num(y)?,
            Truth::Equal(x, y) => self.num(x)? == self.num(y)?,
            Truth::Not(x) => !self.truth(x)?,
            Truth::And(x, y) => self.truth(x)? && self.truth(y)?,
            Truth::Or(x, y) => self.truth(x)? || self.truth(y)?,
            // A number that no item can be is in no list: the question has an answer, and nothing else stops.
            Truth::Contains(x) => self.store.xs.contains(&self.num(x)?),
        })
    }
}

fn fits(n: i64) -> bool {
    (0..=MOST).contains(&n)
}
