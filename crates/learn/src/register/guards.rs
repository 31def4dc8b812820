//! A register automaton for people: few locations, and guards with the comparisons that matter.
//!
//! In the form in which it is learned ([`super::machine`]) a location says how its registers compare. *Families* of
//! such locations become one: its registers may hold equal values, or values in any order, and how they compare says
//! which location of the family it is. Locations are put together as long as that saves transitions (`families`).
//! Then the regions of an input are distinguished by a tree of comparisons that is grown only where results differ
//! (`cases`).
//!
//! *Promise.* The machine answers every word as the one it is made of.

mod cases;
mod families;

use ioxide_fsm::mealy::{InputId, OutputId};

use super::compare::DataMachine;
use super::place::{AnswerValue, DataAnswer, DataInput, InputSignature, ValuePoint};

pub use self::families::guard_machine;

/// A value that a transition can compare, say or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// A field of the input, or a slot behind its fields.
    Field(usize),
    /// A register.
    Register(usize),
    /// A constant.
    Constant(usize),
}

/// The relation between two values, as the set of orderings it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueRelation {
    /// True if the first may be smaller.
    pub less: bool,
    /// True if they may be equal.
    pub equal: bool,
    /// True if the first may be greater.
    pub greater: bool,
}

// Of two values exactly one ordering holds, so sets of orderings are closed under "and" and "not", and every guard
// that compares two operands is one of eight.
impl ValueRelation {
    // The empty set is no constant: a guard that never holds belongs to no branch.
    /// The relation that always holds.
    pub const ANY: Self = Self { less: true, equal: true, greater: true };
    /// Equality.
    pub const EQUAL: Self = Self { less: false, equal: true, greater: false };
    /// The first is smaller.
    pub const LESS: Self = Self { less: true, equal: false, greater: false };
    /// The first is greater.
    pub const GREATER: Self = Self { less: false, equal: false, greater: true };

    /// Returns whether `a` and `b` are in this relation.
    #[must_use]
    pub fn holds(self, a: ValuePoint, b: ValuePoint) -> bool {
        match a.cmp(&b) {
            std::cmp::Ordering::Less => self.less,
            std::cmp::Ordering::Equal => self.equal,
            std::cmp::Ordering::Greater => self.greater,
        }
    }

    /// Returns the relation that holds where both do.
    fn and(self, other: Self) -> Self {
        Self {
            less: self.less && other.less,
            equal: self.equal && other.equal,
            greater: self.greater && other.greater,
        }
    }

    /// Returns the relation that holds where this one does not.
    pub(crate) fn not(self) -> Self {
        Self { less: !self.less, equal: !self.equal, greater: !self.greater }
    }

    /// Returns the operator in a model; `None` for the relations that always or never hold.
    #[must_use]
    pub fn operator(self) -> Option<&'static str> {
        match (self.less, self.equal, self.greater) {
            (true, false, false) => Some("<"),
            (true, true, false) => Some("<="),
            (false, true, false) => Some("=="),
            (false, true, true) => Some(">="),
            (false, false, true) => Some(">"),
            (true, false, true) => Some("!="),
            (true, true, true) | (false, false, false) => None,
        }
    }
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuardComparison {
    /// The left operand.
    pub left: Operand,
    /// The relation that must hold.
    pub relation: ValueRelation,
    /// The right operand.
    pub right: Operand,
}

/// A value in the answer of a transition with a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuardedAnswerValue {
    /// The value of an operand.
    Operand(Operand),
    /// A constant of the answer.
    Literal(i64),
}

/// A transition with a guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedBranch {
    /// The input.
    pub gate: InputId,
    /// The guard: all of these comparisons must hold.
    pub guard: Vec<GuardComparison>,
    /// The output.
    pub shape: OutputId,
    /// The values of the output.
    pub told: Vec<GuardedAnswerValue>,
    /// The position of the target location.
    pub target: usize,
    /// The values of the registers of the target.
    pub registers: Vec<Operand>,
}

/// A location with guards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardedLocation {
    /// The number of its registers.
    pub n_registers: usize,
    /// Its transitions; if several fit an input, they agree in answer and target.
    pub branches: Vec<GuardedBranch>,
}

/// A register automaton with guards; it starts in its first location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedMachine {
    /// Inputs and constants.
    pub signature: InputSignature,
    /// Its locations.
    pub locations: Vec<GuardedLocation>,
}

impl GuardedMachine {
    /// Returns the number of transitions of all locations.
    #[must_use]
    pub fn n_branches(&self) -> usize {
        self.locations.iter().map(|location| location.branches.len()).sum()
    }

    /// The most registers that a location has.
    #[must_use]
    pub fn n_registers(&self) -> usize {
        self.locations.iter().map(|location| location.n_registers).max().unwrap_or(0)
    }
}

impl DataMachine for GuardedMachine {
    type At = (usize, Vec<ValuePoint>);

    fn start(&self) -> Self::At {
        (0, Vec::new())
    }

    fn step(&self, at: &Self::At, input: &DataInput) -> Option<(DataAnswer, Self::At)> {
        let value = |operand: Operand| match operand {
            Operand::Field(number) => input.values[number],
            Operand::Register(number) => at.1[number],
            Operand::Constant(number) => self.signature.constants[number],
        };
        let holds = |it: &GuardComparison| it.relation.holds(value(it.left), value(it.right));
        // The first branch that fits: if there are several, they agree in answer and target.
        let fits = |branch: &&GuardedBranch| branch.gate == input.gate && branch.guard.iter().all(holds);
        let branch = self.locations[at.0].branches.iter().find(fits)?;
        let tell = |told: &GuardedAnswerValue| match *told {
            GuardedAnswerValue::Operand(operand) => AnswerValue::Point(value(operand)),
            GuardedAnswerValue::Literal(literal) => AnswerValue::Literal(literal),
        };
        let answer = DataAnswer { shape: branch.shape, values: branch.told.iter().map(tell).collect() };
        Some((answer, (branch.target, branch.registers.iter().map(|&operand| value(operand)).collect())))
    }

    fn values<'a>(&self, at: &'a Self::At) -> &'a [ValuePoint] {
        &at.1
    }

    fn rename_values(&self, at: &Self::At, by: &dyn Fn(ValuePoint) -> ValuePoint) -> Self::At {
        (at.0, at.1.iter().map(|&value| by(value)).collect())
    }
}
