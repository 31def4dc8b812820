//! The texts about a system that is learned with values: the result, and the reasons why there is none.

use ioxide_learn::observer::LearningEffort;
use ioxide_learn::register::guards::GuardedMachine;
use ioxide_learn::register::learner::DataLearnError;
use ioxide_learn::register::oracle::{DataGuarantee, DataLearned};
use ioxide_learn::register::place::{AnswerValue, DataAnswer, DataInput, Theory, ValuePoint};
use ioxide_learn::register::tree::DataDisagreement;
use ioxide_learn::votes::confidence;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use serde_json::json;

use super::super::learning_error;
use super::super::origin::MachineOrigin;
use super::super::session::DataRun;
use super::made_values::{MadeField, field_text};
use super::system::{DataTrouble, SeenAnswers};
use super::value_system::{MAX_SLOTS, ValueSystem};
use super::values::FieldValues;
use crate::commands::fsm::live::LiveTestError;
use crate::counted::count_noun;
use crate::exit::{CliError, ExitStatus};
use crate::limit;

impl ValueSystem<'_> {
    /// Returns the error of a system for which no machine was found.
    pub fn broken(&self, error: DataLearnError<DataTrouble>) -> CliError {
        match error {
            DataLearnError::TooMany(most) => {
                let message = format!("a state would have to remember more than {most} values");
                CliError::new(ExitStatus::Inconclusive, message)
                    .help("does the system hold arbitrarily many? then it is no register automaton")
            }
            DataLearnError::System(DataTrouble::System(LiveTestError::Halted(halted))) => {
                let status = limit::status(self.halt, ExitStatus::Inconclusive);
                let message =
                    format!("no machine: {halted} before there was one that agrees with what was seen");
                CliError::new(status, message)
                    .help("raise `--time-limit`; with `--session FILE` the same command goes on")
            }
            DataLearnError::System(DataTrouble::System(trouble)) => learning_error(trouble),
            DataLearnError::System(DataTrouble::MoreMade) => {
                let message = format!("an answer makes up more than {MAX_SLOTS} values");
                CliError::new(ExitStatus::Inconclusive, message)
                    .help("does it answer with a list? Then fix the values of its inputs: leave `--data` out")
            }
            DataLearnError::Stuck(_) => {
                let LearningEffort { resets, symbols } = self.effort;
                let message = format!(
                    "what was answered fits no machine that stores and compares values, after {resets} resets and {symbols} \
                     inputs"
                );
                CliError::new(ExitStatus::Inconclusive, message).help(
                    "does the system always answer alike? `--unstable majority` asks again. Does it calculate with values? \
                     Then fix the values of its inputs: leave `--data` out",
                )
            }
            DataLearnError::Disagrees(_) => CliError::new(ExitStatus::Inconclusive, error.to_string()),
        }
    }

    fn run_text(&self, domain: &FieldValues, seen: &SeenAnswers, run: &[(DataInput, DataAnswer)]) -> String {
        let steps = self.steps(domain, seen, run).into_iter();
        steps.map(|(input, answer)| format!("{input}/{answer}")).collect::<Vec<_>>().join(" ")
    }

    /// Inputs and answers, with names for the values that were chosen.
    pub fn steps(
        &self,
        domain: &FieldValues,
        seen: &SeenAnswers,
        run: &[(DataInput, DataAnswer)],
    ) -> Vec<(String, String)> {
        let mut points: Vec<ValuePoint> =
            run.iter().flat_map(|(input, _)| input.values.iter().copied()).collect();
        points.sort_unstable();
        points.dedup();
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
            let shape = &seen.shapes[answer.shape.index()];
            let said: Vec<&str> =
                shape.iter().map(|(gate, _)| &*self.messages.model.sts.gates[*gate].name).collect();
            let told: Vec<String> = answer
                .values
                .iter()
                .map(|said| match *said {
                    AnswerValue::Point(point) => value(point),
                    AnswerValue::Literal(at) => usize::try_from(at)
                        .ok()
                        .and_then(|at| seen.literals.get(at))
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

    /// The two runs, side by side.
    pub fn two_ways(
        &self,
        domain: &FieldValues,
        seen: &SeenAnswers,
        disagreement: &DataDisagreement,
    ) -> String {
        format!(
            "  earlier: {}\n  now:     {}",
            self.run_text(domain, seen, &disagreement.before),
            self.run_text(domain, seen, &disagreement.now)
        )
    }

    /// Two runs that no comparison explains.
    pub fn contradiction(
        &self,
        domain: &FieldValues,
        seen: &SeenAnswers,
        disagreement: &DataDisagreement,
    ) -> CliError {
        let LearningEffort { resets, symbols } = self.effort;
        let message = format!(
            "words whose values compare alike are answered in two ways, after {} and {}\n{}",
            count_noun(resets, "reset"),
            count_noun(symbols, "input"),
            self.two_ways(domain, seen, disagreement)
        );
        CliError::new(ExitStatus::Inconclusive, message).help(
            "does it compare with a constant? name it with `--constant`. Does it hand out values that inputs give back? name \
             their field with `--made`. Does it calculate with values, or does a reset not bring it to its first state? \
             Then fix the values of its inputs: leave `--data` out",
        )
    }

    /// Values are both made up and compared by order.
    pub fn not_both(&self, fields: &[MadeField], ways: &str) -> CliError {
        let names: Vec<String> =
            fields.iter().map(|field| format!("`{}`", field_text(&self.messages.model, *field))).collect();
        let message = format!(
            "the system makes up the values of {}, and values are compared by order: where a value that nobody has \
             seen yet stands among others cannot be chosen\n{ways}",
            names.join(", ")
        );
        CliError::new(ExitStatus::Inconclusive, message).help(
            "leave messages whose values are ordered out with `--input`, or try `--compare equality`; or fix the values of \
             its inputs: leave `--data` out",
        )
    }

    /// Returns the error of a system that answers the same inputs, with the same values, in two ways.
    pub fn unstable(&self, one: &DataRun, other: &DataRun) -> CliError {
        let LearningEffort { resets, symbols } = self.effort;
        let message = format!(
            "the system answers the same inputs, with the same values, in two ways, after {} and {}\n  \
             earlier: {}\n  now:     {}",
            count_noun(resets, "reset"),
            count_noun(symbols, "input"),
            self.concrete(one),
            self.concrete(other)
        );
        CliError::new(ExitStatus::Inconclusive, message).help(
            "does a reset bring it to its first state? are answers later than the quiescence time? `--unstable majority` \
             believes the usual answer",
        )
    }

    fn concrete(&self, run: &DataRun) -> String {
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

    /// Prints the result of a vote on a run that was answered in several ways.
    pub fn print_vote(&self, length: usize, count: u32, n: u32) {
        self.print_note(&format!(
            "after {} the system answers the same values in several ways; {count} of {n} times alike, which is \
             believed (confidence {:.1}% that it is the usual one)",
            count_noun(length, "input"),
            confidence(count, n) * 100.0
        ));
    }

    /// Prints a note and shows it on the page, unless a reference is being learned.
    pub fn print_note(&self, text: &str) {
        if !self.is_quiet {
            eprintln!("note: {text}");
            self.viewer.show_note(text);
        }
    }

    /// Returns the report of what was learned: effort, guarantee, made-up values.
    pub fn show_learned(
        &self,
        sut: &str,
        learned: &DataLearned,
        machine: &GuardedMachine,
        seed: u64,
        domain: &FieldValues,
    ) -> MachineOrigin {
        let LearningEffort { resets, symbols } = self.effort;
        let theory = theory_name(domain);
        let guarantee = in_words(learned.guarantee, domain);
        let mut facts = vec![
            format!(
                "{} with {}: {}, {}, {}",
                count_noun(machine.locations.len() as u64, "state"),
                count_noun(machine.n_registers() as u64, "variable"),
                count_noun(learned.hypotheses, "hypothesis"),
                count_noun(resets, "reset"),
                count_noun(symbols, "message"),
            ),
            guarantee.clone(),
        ];
        let made: Vec<String> =
            domain.made.fields.iter().map(|field| field_text(&self.messages.model, *field)).collect();
        if !made.is_empty() {
            facts.push(format!("the system makes up {}", made.join(", ")));
        }
        if self.votes.is_some() {
            facts.push(format!(
                "every question was asked until two answers agreed; {} answered in several ways",
                count_noun(self.n_doubtful as u64, "question")
            ));
        }
        if learned.is_stopped {
            facts.push("stopped before everything was tested".into());
        }
        let inputs: Vec<String> = self.gates.iter().map(|gate| gate.name(&self.messages.model)).collect();
        let json = json!({
            "version": 1, "sut": sut, "seed": seed, "states": machine.locations.len(), "inputs": inputs,
            "constants": self.constants.iter().map(|value| self.messages.model.pool.show_value(value)).collect::<Vec<_>>(),
            "variables": machine.n_registers(), "compare": theory, "made": made, "doubtful": self.n_doubtful,
            "hypotheses": learned.hypotheses, "resets": resets, "symbols": symbols, "guarantee": guarantee,
            "stopped": learned.is_stopped,
        });
        MachineOrigin::from_facts(sut, seed, facts, json).with_votes(&self.votes_held)
    }
}

fn theory_name(domain: &FieldValues) -> &'static str {
    match domain.signature.theory {
        Theory::Equality => "equality",
        Theory::Order => "order",
    }
}

/// The guarantee in words.
pub fn in_words(guarantee: DataGuarantee, domain: &FieldValues) -> String {
    let (theory, makes) = (theory_name(domain), !domain.made.fields.is_empty());
    match guarantee {
        DataGuarantee::Complete { values, states, extra } => format!(
            "if values are compared by {theory} and with no other constants: exact on any {}{}, if the system has at \
             most {} on them ({states} + {extra})",
            count_noun(values, "value"),
            if makes { format!(" and the first {values} it makes up") } else { String::new() },
            count_noun(states + extra, "state")
        ),
        DataGuarantee::Consistent => {
            "agrees with everything that was seen; nothing is promised beyond".into()
        }
    }
}
