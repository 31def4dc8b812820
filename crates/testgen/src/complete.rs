//! Complete suites for models with data.
//!
//! A model with data has no finite machine that its values make, but often one that its *conditions* make. The
//! bridge is a finite abstraction \[HP13, KP21]:
//!
//! - an **input class** is a message and a condition over its fields and the variables (`withdraw` with
//!   `amount <= balance`): inputs of one class do the same in every state of the abstraction;
//! - a **condition class** is a location and a condition over the variables: every store of one class takes the
//!   same input classes, gives the same answers and leads to the same classes;
//! - an **answer** is the sequence of outputs until the model is silent, in terms over variables and fields.
//!
//! No value is enumerated: classes are split where a solver shows that some of their members behave differently and
//! others do not (`refine`), until nothing is left to split, as in the minimisation of reachable states \[LY92].
//! Where that does not come to an end, condition classes may hold stores for which an input class is empty (nothing
//! can be taken from an empty account): then a word can be executed in some stores only. Where that does not come to
//! an end either, there is no finite abstraction, and the bounded one leaves out the pairs of classes whose members do
//! not all behave alike: the rest holds for all members.
//!
//! The abstraction is a Mealy machine, so the complete suites of `ioxide-fsm` apply. Their words become messages
//! ([`concretise`]) whose values are chosen such that another answer of the model in place of the right one shows.
//!
//! *Promises.* Unless the abstraction is conditional, every word of the machine can be executed; a system that follows
//! the model gives the answers of the machine. Steps that depend on a query without an answer are left out and counted.

mod boundary;
pub mod claim;
pub mod concretise;
mod error;
mod names;
pub mod react;
mod refine;
pub mod rivals;
pub mod stages;
pub mod suite;
pub mod unfold;
pub mod updates;
mod walks;

use ioxide_fsm::mealy::{MachineListing, TransitionRow};
use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, LocId, SwitchId};
use ioxide_model::term::Term;
use ioxide_symex::{Ctx, Store};

pub use self::error::NoAbstraction;
use self::react::OutputTerms;
use self::rivals::ClassAnswers;

/// The limits of an abstraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassLimits {
    /// The number of condition classes above which the abstraction is taken not to be finite; locations come on top.
    pub states: usize,
    /// The same limit for the classes of one message.
    pub classes: usize,
    /// The number of condition classes, and of classes of one message, tried before an input class may be empty for
    /// some stores.
    pub strict: usize,
    /// The number of condition classes, and of classes of one message, of the bounded abstraction.
    pub bounded: usize,
    /// The number of switches from an input to silence.
    pub reactions: usize,
}

impl Default for ClassLimits {
    /// 40 condition classes, 64 classes of a message; 20 of each where all stores of a class must have the same inputs,
    /// 8 for the bounded abstraction; 40 switches to silence.
    fn default() -> Self {
        Self { states: 40, classes: 64, strict: 20, bounded: 8, reactions: 40 }
    }
}

/// The runs that a suite is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteScope {
    /// The number of elements that every collection of the model holds at most; without a limit if `None`.
    pub most_items: Option<usize>,
    /// The messages that the tester sends; all inputs of the model if `None`.
    pub inputs: Option<Vec<GateId>>,
    /// True if the system takes one of the ways that the model leaves it, the same in every run.
    pub takes_one_way: bool,
}

/// The part of a system that its abstraction is about.
#[derive(Clone, Debug, Default)]
pub struct AbstractionScope {
    /// The location behind which nothing is looked at: an input that may lead there is not given.
    pub beyond: Option<LocId>,
    /// The messages that are given; all inputs if `None`.
    pub inputs: Option<Vec<GateId>>,
    /// True if only one of the reactions between which the model leaves a choice is looked at, if its outputs tell it
    /// from the others.
    pub takes_one_way: bool,
}

impl AbstractionScope {
    /// Returns whether messages of `gate` are given.
    #[must_use]
    pub fn gives(&self, gate: GateId) -> bool {
        self.inputs.as_ref().is_none_or(|inputs| inputs.contains(&gate))
    }
}

/// A class of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputClass {
    /// The message.
    pub gate: GateId,
    /// The condition on the fields and the variables under which an input of the gate belongs to the class.
    pub when: Term,
    /// Its name in the machine.
    pub name: String,
}

/// A class of stores at a location, in all of which the model is silent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionClass {
    /// The location.
    pub loc: LocId,
    /// The conditions on the variables, all of which hold.
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
    /// The members of the classes behave differently, or the solver did not decide: left out.
    LeftOut(WhyLeftOut),
    /// The model takes the input, with one of these outcomes.
    Taken(Vec<ClassOutcome>),
}

/// The reason why a pair of classes is not in the abstraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyLeftOut {
    /// The limit of classes does not allow the split that it needs.
    Bounded,
    /// The system may choose between reactions that its outputs do not tell apart.
    HiddenChoice,
    /// The solver did not answer a query.
    Undecided,
}

/// One possible outcome of an input class in a condition class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassOutcome {
    /// The switches, the input first.
    pub switches: Vec<SwitchId>,
    /// The outputs of the system, in order.
    pub outputs: Vec<OutputTerms>,
    /// The variables afterwards, in terms over those before and the fields.
    pub store: Store,
    /// The condition class afterwards.
    pub target: usize,
}

/// A model as a machine over classes.
#[derive(Clone, Debug)]
pub struct Abstraction {
    /// The input classes.
    pub inputs: Vec<InputClass>,
    /// The condition classes that can be reached.
    pub states: Vec<ConditionClass>,
    /// The reactions, by condition class and input class.
    pub steps: Vec<Vec<ClassStep>>,
    /// The condition class at start.
    pub initial: usize,
    /// The concrete state after the preamble.
    pub start: ConcreteState,
    /// The outputs of the model before the first input.
    pub preamble: Vec<Label>,
    /// True if no class reached a limit and no query was left open: the abstraction is then exact.
    pub is_exact: bool,
    /// True if some stores of a condition class may have no input of a class that other stores have: not every word can
    /// then be executed.
    pub is_conditional: bool,
    /// The answers to each input class.
    pub answers: Vec<ClassAnswers>,
    /// The answers that are looked at where the model leaves the system a choice, each with the message that it
    /// answers; empty unless only one way is looked at.
    pub chosen: Vec<(GateId, Vec<OutputTerms>)>,
}

/// The naming of answers in a machine of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerNames {
    /// Every answer has its own name.
    Each,
    /// Answers that are not surely different share one name.
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
    abstraction_within(cx, boundary, limits, &AbstractionScope::default())
}

/// The abstraction as [`abstraction`] makes it, as far as `scope` goes.
///
/// # Errors
/// If the model has none, with the reason.
pub fn abstraction_within(
    cx: &mut Ctx<'_>,
    boundary: u32,
    limits: &ClassLimits,
    scope: &AbstractionScope,
) -> Result<Abstraction, NoAbstraction> {
    let mut found = refine::refine_abstraction(cx, boundary, limits, scope)?;
    found.answers = rivals::group_answers(cx, &found);
    Ok(found)
}

impl Abstraction {
    /// Returns the machine in names; pairs that are unspecified, impossible or left out have no row.
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
                        output: self.answer_name(cx, input, &outcome.outputs, which),
                        to: name(outcome.target),
                    };
                    // Outcomes that differ in the switches alone are one row of the machine.
                    if !rows.contains(&row) {
                        rows.push(row);
                    }
                }
            }
        }
        let states = self.states.iter().map(|state| state.name.clone()).collect();
        MachineListing { initial: name(self.initial), states, rows }
    }

    /// The name of the answer `outputs` to `input`.
    #[must_use]
    pub fn answer_name(
        &self,
        cx: &Ctx<'_>,
        input: usize,
        outputs: &[OutputTerms],
        which: AnswerNames,
    ) -> String {
        let answers = &self.answers[input];
        match (which, answers.answer_number(outputs)) {
            (AnswerNames::Grouped, Some(number)) => rivals::group_name(cx, answers, answers.groups[number]),
            _ => names::answer_name(cx, outputs),
        }
    }

    /// Returns whether some pair of classes has outcomes that differ in the target or the store.
    #[must_use]
    pub fn has_choices(&self) -> bool {
        let chooses = |step: &ClassStep| matches!(step, ClassStep::Taken(outcomes) if !is_settled(outcomes));
        self.steps.iter().flatten().any(chooses)
    }

    /// Returns whether the model may take an input before it is silent, on some way from an input to silence.
    #[must_use]
    pub fn takes_early_inputs(&self, cx: &Ctx<'_>) -> bool {
        let sts = cx.sts;
        let takes =
            |loc: LocId| sts.switches_from(loc).any(|(_, switch)| sts.kind_of(switch) == GateKind::Input);
        let outcomes = self.steps.iter().flatten().filter_map(|step| match step {
            ClassStep::Taken(outcomes) => Some(outcomes),
            _ => None,
        });
        // Before the last switch the model is not silent yet; an input there can be given while it answers.
        let is_early = |outcome: &ClassOutcome| {
            let before_last = outcome.switches.split_last().map_or(&[][..], |(_, before)| before);
            before_last.iter().any(|&id| takes(sts.switches[id].target))
        };
        outcomes.flatten().any(is_early)
    }

    /// Returns the number of pairs of condition and input class that are left out.
    #[must_use]
    pub fn n_left_out(&self) -> usize {
        self.steps.iter().flatten().filter(|step| matches!(step, ClassStep::LeftOut(_))).count()
    }

    /// Returns the number of pairs of condition and input class that the model does not mention.
    #[must_use]
    pub fn n_unspecified(&self) -> usize {
        self.steps.iter().flatten().filter(|step| matches!(step, ClassStep::Unspecified)).count()
    }

    /// The outcomes of `input` in `state`; empty if it is not taken there.
    #[must_use]
    pub fn outcomes(&self, state: usize, input: usize) -> &[ClassOutcome] {
        match &self.steps[state][input] {
            ClassStep::Taken(outcomes) => outcomes,
            _ => &[],
        }
    }
}

/// Returns whether all outcomes have the same target and the same store; their outputs may differ.
fn is_settled(outcomes: &[ClassOutcome]) -> bool {
    let same = |other: &ClassOutcome| other.target == outcomes[0].target && other.store == outcomes[0].store;
    outcomes.iter().all(same)
}
