//! Complete suites for models with data.
//!
//! A model with data has no finite machine that its values make, but often one that its *conditions* make. The
//! bridge is a finite abstraction [HP13, KP21]:
//!
//! - an **input class** is a message and a condition over its fields and the variables (`withdraw` with
//!   `amount <= balance`): inputs of one class do the same in every state of the abstraction;
//! - a **condition class** is a location and a condition over the variables: every store of one class takes the
//!   same input classes, gives the same answers and leads to the same classes;
//! - an **answer** is what the model says until it is silent, in terms over variables and fields.
//!
//! No value is enumerated: classes are split where a solver shows that some of their members behave differently and
//! others do not ([`refine`]), until nothing is left to split, as in the minimisation of reachable states [LY92]. Where that
//! does not come to an end, condition classes may hold stores for which an input class is empty (nothing can be taken
//! from an empty account): then a word can be executed in some stores only. Where that does not come to an end either
//! there is no finite abstraction, and the bounded one leaves out what is not the same for all members of a class:
//! what is left holds for all of them.
//!
//! The abstraction is a Mealy machine, so the complete suites of `ioxide-fsm` apply. Their words become messages
//! ([`concretise`]) whose values are chosen such that another answer of the model in place of the right one shows.
//!
//! *Promises.* Unless the abstraction says otherwise every word of the machine can be executed, and a system that follows the model gives the answers of the
//! machine. What a question left open would decide is left out, and told.

mod boundary;
pub mod concretise;
mod error;
mod expose;
mod names;
pub mod react;
mod refine;
pub mod rivals;
pub mod suite;
#[cfg(test)]
mod tests;
mod updates;

use ioxide_fsm::mealy::{MachineListing, TransitionRow};
use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, LocId, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_symex::Ctx;

pub use self::error::NoAbstraction;
use self::react::SaidMessage;
use self::rivals::ClassAnswers;

/// The limits of an abstraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassLimits {
    /// Condition classes before the abstraction is taken not to be finite.
    pub states: usize,
    /// Classes of one message, likewise.
    pub classes: usize,
    /// Condition classes, and classes of one message, tried before an input class may be empty for some stores.
    pub strict: usize,
    /// Condition classes, and classes of one message, of the bounded abstraction.
    pub bounded: usize,
    /// Switches from an input to silence.
    pub reactions: usize,
}

impl Default for ClassLimits {
    /// 40 condition classes, 64 classes of a message, half of that for stores that all have the same inputs, 8 if that does not suffice, 40 switches to silence.
    fn default() -> Self {
        Self { states: 40, classes: 64, strict: 20, bounded: 8, reactions: 40 }
    }
}

/// A class of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputClass {
    /// The message.
    pub gate: GateId,
    /// Which of its values, in which store.
    pub when: Term,
    /// Its name in the machine.
    pub name: String,
}

/// A class of stores at a location, in which the model is silent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionClass {
    /// Where control is.
    pub loc: LocId,
    /// What holds of the variables, all together.
    pub facts: Vec<Term>,
    /// Its name in the machine.
    pub name: String,
}

/// The reaction to an input class in a condition class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassStep {
    /// No input of the class exists there.
    Impossible,
    /// The model does not mention the input there.
    Unspecified,
    /// It is not the same for all stores, or nobody knows: left out.
    LeftOut(WhyLeftOut),
    /// It leads on, in one way or another.
    Taken(Vec<ClassOutcome>),
}

/// The reason why something is not in the abstraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyLeftOut {
    /// Splitting further would be endless, or too much.
    Bounded,
    /// A question had no answer.
    Undecided,
}

/// One way in which an input class leads on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassOutcome {
    /// The switches, the input first.
    pub switches: Vec<SwitchId>,
    /// What the system says.
    pub said: Vec<SaidMessage>,
    /// The variables afterwards, in terms over those before and the fields.
    pub store: Vec<(VarId, Term)>,
    /// The condition class afterwards.
    pub target: usize,
}

/// A model as a machine of classes.
#[derive(Clone, Debug)]
pub struct Abstraction {
    /// The input classes.
    pub inputs: Vec<InputClass>,
    /// The condition classes that can be reached.
    pub states: Vec<ConditionClass>,
    /// By condition class and input class.
    pub steps: Vec<Vec<ClassStep>>,
    /// The condition class at start.
    pub initial: usize,
    /// The state at start, after the preamble.
    pub start: ConcreteState,
    /// What the model says before the first input.
    pub preamble: Vec<Label>,
    /// Whether splitting came to its end: then the abstraction is exact.
    pub is_exact: bool,
    /// Whether some stores of a condition class may have no input of a class that others have: then not every word
    /// can be executed.
    pub is_conditional: bool,
    /// By input class the answers to it.
    pub answers: Vec<ClassAnswers>,
}

/// Which answers have names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerNames {
    /// Every one.
    Each,
    /// Those that are surely different.
    Grouped,
}

/// The abstraction of the model of `cx`, its input classes refined by the `boundary` values around every
/// comparison.
///
/// # Errors
/// If the model has none, with the reason.
pub fn abstraction(
    cx: &mut Ctx<'_>,
    boundary: u32,
    limits: &ClassLimits,
) -> Result<Abstraction, NoAbstraction> {
    let mut found = refine::refined(cx, boundary, limits)?;
    found.answers = rivals::grouped(cx, &found);
    Ok(found)
}

impl Abstraction {
    /// The machine in names; what is not specified, impossible or left out has no row.
    #[must_use]
    pub fn listing(&self, cx: &Ctx<'_>, which: AnswerNames) -> MachineListing {
        let name = |state: usize| self.states[state].name.clone();
        let mut rows: Vec<TransitionRow> = Vec::new();
        for (from, steps) in self.steps.iter().enumerate() {
            for (input, step) in steps.iter().enumerate() {
                let ClassStep::Taken(outcomes) = step else { continue };
                for outcome in outcomes {
                    let row = TransitionRow {
                        from: name(from),
                        input: self.inputs[input].name.clone(),
                        output: self.answer(cx, input, &outcome.said, which),
                        to: name(outcome.target),
                    };
                    if !rows.contains(&row) {
                        rows.push(row);
                    }
                }
            }
        }
        let states = self.states.iter().map(|state| state.name.clone()).collect();
        MachineListing { initial: name(self.initial), states, rows }
    }

    /// The name of the answer `said` to `input`.
    #[must_use]
    pub fn answer(&self, cx: &Ctx<'_>, input: usize, said: &[SaidMessage], which: AnswerNames) -> String {
        let answers = &self.answers[input];
        match (which, answers.number(said)) {
            (AnswerNames::Grouped, Some(number)) => rivals::group_name(cx, answers, answers.groups[number]),
            _ => names::answer(cx, said),
        }
    }

    /// Whether the system has a choice that matters for what follows.
    #[must_use]
    pub fn has_choices(&self) -> bool {
        let chooses = |step: &ClassStep| matches!(step, ClassStep::Taken(outcomes) if !is_settled(outcomes));
        self.steps.iter().flatten().any(chooses)
    }

    /// How many pairs of condition and input class are left out.
    #[must_use]
    pub fn n_left_out(&self) -> usize {
        self.steps.iter().flatten().filter(|step| matches!(step, ClassStep::LeftOut(_))).count()
    }

    /// How many pairs of condition and input class the model does not mention.
    #[must_use]
    pub fn n_unspecified(&self) -> usize {
        self.steps.iter().flatten().filter(|step| matches!(step, ClassStep::Unspecified)).count()
    }

    /// The outcomes of `input` in `state`.
    #[must_use]
    pub fn outcomes(&self, state: usize, input: usize) -> &[ClassOutcome] {
        match &self.steps[state][input] {
            ClassStep::Taken(outcomes) => outcomes,
            _ => &[],
        }
    }
}

/// Whether all ways lead to the same store of the same class, whatever is said on the way.
fn is_settled(outcomes: &[ClassOutcome]) -> bool {
    let same = |other: &ClassOutcome| other.target == outcomes[0].target && other.store == outcomes[0].store;
    outcomes.iter().all(same)
}
