//! The texts about a system that is learned with values: the result, and the reasons why there is none.

use ioxide_model::counted::count_noun;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;

use super::ValueResult;
use super::made_values::{MadeField, field_text};
use super::system::{DataTrouble, SeenAnswers};
use super::value_system::{MAX_SLOTS, ValueSystem};
use super::values::FieldValues;
use crate::messages::DataRun;
use crate::observer::LearningEffort;
use crate::register::learner::DataLearnError;
use crate::register::oracle::DataGuarantee;
use crate::register::place::{AnswerValue, DataAnswer, DataInput, Theory, ValuePoint};
use crate::register::tree::DataDisagreement;
use crate::session::{SessionError, describe_votes};

impl ValueSystem<'_> {
    /// Returns the error of a system for which no machine was found.
    pub(super) fn session_error<E>(&self, error: DataLearnError<DataTrouble<E>>) -> SessionError<E> {
        match error {
            DataLearnError::TooMany(most) => SessionError::TooManyRegisters(most),
            DataLearnError::System(DataTrouble::System(error)) => SessionError::System(error),
            DataLearnError::System(DataTrouble::MoreMade) => SessionError::TooManyMade(MAX_SLOTS),
            // A contradiction is dealt with before; if one were left, the answers would fit no machine either.
            DataLearnError::Stuck(_) | DataLearnError::Disagrees(_) => {
                SessionError::NoMachine { effort: self.effort }
            }
        }
    }

    fn show_run(
        &self,
        domain: &FieldValues,
        seen_answers: &SeenAnswers,
        run: &[(DataInput, DataAnswer)],
    ) -> String {
        let steps = self.show_steps(domain, seen_answers, run).into_iter();
        steps.map(|(input, answer)| format!("{input}/{answer}")).collect::<Vec<_>>().join(" ")
    }

    /// Returns inputs and answers, with names for the values that were chosen.
    pub(super) fn show_steps(
        &self,
        domain: &FieldValues,
        seen_answers: &SeenAnswers,
        run: &[(DataInput, DataAnswer)],
    ) -> Vec<(String, String)> {
        let mut points: Vec<ValuePoint> =
            run.iter().flat_map(|(input, _)| input.values.iter().copied()).collect();
        points.sort_unstable();
        points.dedup();
        // Constants keep their values, as the system may treat them in a special way.
        let constants = domain.constants();
        points.retain(|point| !constants.iter().any(|(it, _)| it == point));
        // Of values that were chosen only comparisons matter: the smallest is x1.
        let value = |point: ValuePoint| match constants.iter().find(|(it, _)| *it == point) {
            Some((_, value)) => self.messages.model.pool.show_value(value),
            None => format!("x{}", points.iter().filter(|&&it| it <= point).count()),
        };
        let step = |(input, answer): &(DataInput, DataAnswer)| {
            let gate = &self.gates[input.gate.index()];
            let fields = domain.signature.arity[input.gate.index()];
            let values: Vec<String> = input.values[..fields].iter().map(|&point| value(point)).collect();
            let shape = &seen_answers.shapes[answer.shape.index()];
            let said: Vec<&str> =
                shape.iter().map(|(gate, _)| &*self.messages.model.sts.gates[*gate].name).collect();
            let told: Vec<String> = answer
                .values
                .iter()
                .map(|said| match *said {
                    AnswerValue::Point(point) => value(point),
                    AnswerValue::Literal(at) => usize::try_from(at)
                        .ok()
                        .and_then(|at| seen_answers.literals.get(at))
                        .map_or_else(String::new, |value| self.messages.model.pool.show_value(value)),
                })
                .collect();
            let said = if said.is_empty() { "δ".to_owned() } else { said.join(", ") };
            let brackets =
                |all: &[String]| if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) };
            let given = format!("{}{}", gate.name(&self.messages.model), brackets(&values));
            (given, format!("{said}{}", brackets(&told)))
        };
        run.iter().map(step).collect()
    }

    /// Returns two runs that contradict each other, one below the other.
    pub(super) fn two_ways(
        &self,
        domain: &FieldValues,
        seen_answers: &SeenAnswers,
        disagreement: &DataDisagreement,
    ) -> String {
        format!(
            "  earlier: {}\n  now:     {}",
            self.show_run(domain, seen_answers, &disagreement.before),
            self.show_run(domain, seen_answers, &disagreement.now)
        )
    }

    /// Returns the error of a system that makes values up and compares values by order.
    pub(super) fn made_and_ordered<E>(&self, fields: &[MadeField], ways: &str) -> SessionError<E> {
        let names: Vec<String> =
            fields.iter().map(|field| format!("`{}`", field_text(&self.messages.model, *field))).collect();
        SessionError::MadeAndOrdered { fields: names.join(", "), runs: ways.to_owned() }
    }

    /// Returns the error of a system that answers the same inputs, with the same values, in two ways.
    pub(super) fn two_ways_error<E>(&self, one: &DataRun, other: &DataRun) -> SessionError<E> {
        let runs = format!("  earlier: {}\n  now:     {}", self.show_values(one), self.show_values(other));
        SessionError::TwoWaysForValues { effort: self.effort, runs }
    }

    fn show_values(&self, run: &DataRun) -> String {
        let model = &self.messages.model;
        let show =
            |label: &Label| label.show(&model.pool, &model.sts).trim_start_matches(['!', '?']).to_owned();
        let step = |(input, said): &(Label, Vec<Label>)| {
            let said: Vec<String> = said.iter().map(&show).collect();
            let said = if said.is_empty() { "δ".to_owned() } else { said.join(", ") };
            format!("{}/{said}", show(input))
        };
        run.iter().map(step).collect::<Vec<_>>().join(" ")
    }
}

impl ValueResult {
    /// Returns the guarantee in words.
    #[must_use]
    pub fn guarantee(&self) -> String {
        describe_guarantee(self.learned.guarantee, &self.plan.domain)
    }

    /// Returns the fields whose values the system makes up, as people write them.
    #[must_use]
    pub fn made_fields(&self, model: &Model) -> Vec<String> {
        self.plan.domain.made.fields.iter().map(|field| field_text(model, *field)).collect()
    }

    /// Returns the origin of the machine, one sentence for each fact.
    #[must_use]
    pub fn facts(&self, model: &Model) -> Vec<String> {
        let LearningEffort { resets, symbols } = self.effort;
        let mut facts = vec![
            format!(
                "{} with {}: {}, {}, {}",
                count_noun(self.machine.locations.len() as u64, "state"),
                count_noun(self.machine.n_registers() as u64, "variable"),
                count_noun(self.learned.hypotheses, "hypothesis"),
                count_noun(resets, "reset"),
                count_noun(symbols, "message"),
            ),
            self.guarantee(),
        ];
        let made = self.made_fields(model);
        if !made.is_empty() {
            facts.push(format!("the system makes up {}", made.join(", ")));
        }
        if self.is_voted {
            facts.push(format!(
                "every question was asked until two answers agreed; {} answered in several ways",
                count_noun(self.n_doubtful as u64, "question")
            ));
        }
        if self.learned.is_stopped {
            facts.push("stopped before everything was tested".into());
        }
        facts.extend(describe_votes(&self.votes));
        facts
    }
}

/// Returns the name of the theory by which values are compared.
#[must_use]
pub fn theory_name(domain: &FieldValues) -> &'static str {
    match domain.signature.theory {
        Theory::Equality => "equality",
        Theory::Order => "order",
    }
}

/// Returns the guarantee in words.
#[must_use]
pub fn describe_guarantee(guarantee: DataGuarantee, domain: &FieldValues) -> String {
    let (theory, makes) = (theory_name(domain), !domain.made.fields.is_empty());
    match guarantee {
        DataGuarantee::Complete { values, states, extra } => format!(
            "exact for words with up to {}{}, if the system compares values only by {theory}, uses no other constants, \
             and has at most {} on these words ({states} + {extra})",
            count_noun(values, "value"),
            if makes { format!(" and the first {values} it makes up") } else { String::new() },
            count_noun(states + extra, "state")
        ),
        DataGuarantee::Consistent => "agrees with all observations; nothing is guaranteed beyond them".into(),
    }
}
