//! What is said about a system that is learned with values: in the end, and where it cannot be.

use ioxide_learn::observer::Effort;
use ioxide_learn::register::guards::GuardedMachine;
use ioxide_learn::register::learner::DataLearnError;
use ioxide_learn::register::oracle::{DataGuarantee, DataLearned};
use ioxide_learn::register::place::{DataAnswer, DataInput, Said, Theory};
use ioxide_learn::register::tree::DataDisagreement;
use ioxide_model::index::Idx;
use serde_json::json;

use super::super::stopped;
use super::super::told::{Told, counted, hypotheses};
use super::Class;
use super::system::Seen;
use super::values::Domain;
use crate::commands::fsm::live::Trouble;
use crate::exit::{ExitStatus, Stop};
use crate::limit;

impl Class<'_> {
    /// Why there is no machine.
    pub fn broken(&self, error: DataLearnError<Trouble>) -> Stop {
        match error {
            DataLearnError::TooMany(most) => {
                let message = format!("a state would have to remember more than {most} values");
                Stop::new(ExitStatus::Inconclusive, message)
                    .help("does the system hold arbitrarily many? then it is no register automaton")
            }
            DataLearnError::System(Trouble::Halted(halted)) => {
                let status = limit::status(self.halt, ExitStatus::Inconclusive);
                let message =
                    format!("no machine: {halted} before there was one that agrees with what was seen");
                Stop::new(status, message)
                    .help("raise `--time-limit`; with `--session FILE` the same command goes on")
            }
            DataLearnError::System(trouble) => stopped(trouble),
            DataLearnError::Disagrees(_) => Stop::new(ExitStatus::Inconclusive, error.to_string()),
        }
    }

    fn show(&self, domain: &Domain, seen: &Seen, run: &[(DataInput, DataAnswer)]) -> String {
        let mut points: Vec<i64> = run.iter().flat_map(|(input, _)| input.values.iter().copied()).collect();
        points.sort_unstable();
        points.dedup();
        let constants = domain.constants();
        points.retain(|point| !constants.iter().any(|(it, _)| it == point));
        // Of values that were chosen only comparisons matter: the smallest is x1.
        let value = |point: i64| match constants.iter().find(|(it, _)| *it == point) {
            Some((_, value)) => self.messages.model.pool.show_value(value),
            None => format!("x{}", points.iter().filter(|&&it| it <= point).count()),
        };
        let step = |(input, answer): &(DataInput, DataAnswer)| {
            let gate = &self.gates[input.gate.index()];
            let values: Vec<String> = input.values.iter().map(|&point| value(point)).collect();
            let shape = &seen.shapes[answer.shape.index()];
            let said: Vec<&str> =
                shape.iter().map(|(gate, _)| &*self.messages.model.sts.gates[*gate].name).collect();
            let told: Vec<String> = answer
                .values
                .iter()
                .map(|said| match *said {
                    Said::Point(point) => value(point),
                    Said::Literal(at) => usize::try_from(at)
                        .ok()
                        .and_then(|at| seen.literals.get(at))
                        .map_or_else(String::new, |value| self.messages.model.pool.show_value(value)),
                })
                .collect();
            let said = if said.is_empty() { "δ".to_owned() } else { said.join(", ") };
            let brackets =
                |all: &[String]| if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) };
            format!("{}{}/{said}{}", gate.name(&self.messages.model), brackets(&values), brackets(&told))
        };
        run.iter().map(step).collect::<Vec<_>>().join(" ")
    }

    /// The two runs, side by side.
    pub fn two_ways(&self, domain: &Domain, seen: &Seen, found: &DataDisagreement) -> String {
        format!(
            "  earlier: {}\n  now:     {}",
            self.show(domain, seen, &found.before),
            self.show(domain, seen, &found.now)
        )
    }

    /// Two runs that no comparison explains.
    pub fn contradiction(&self, domain: &Domain, seen: &Seen, found: &DataDisagreement) -> Stop {
        let Effort { resets, symbols } = self.effort;
        let message = format!(
            "words whose values compare alike are answered in two ways, after {resets} resets and {symbols} inputs\n{}",
            self.two_ways(domain, seen, found)
        );
        Stop::new(ExitStatus::Inconclusive, message).help(
            "does it compare with a constant? name it with `--constant`. Does it calculate with values, or does a reset \
             not bring it to its first state? Then fix the values of its inputs: leave `--data` out",
        )
    }

    /// What was learned, and how.
    pub fn told(
        &self,
        sut: &str,
        learned: &DataLearned,
        machine: &GuardedMachine,
        seed: u64,
        domain: &Domain,
    ) -> Told {
        let Effort { resets, symbols } = self.effort;
        let theory = match domain.signature.theory {
            Theory::Equality => "equality",
            Theory::Order => "order",
        };
        let guarantee = in_words(learned.guarantee, theory);
        let mut facts = vec![
            format!(
                "{} with {}: {}, {}, {}",
                counted(machine.locations.len() as u64, "state"),
                counted(machine.n_registers() as u64, "variable"),
                hypotheses(learned.hypotheses),
                counted(resets, "reset"),
                counted(symbols, "message"),
            ),
            guarantee.clone(),
        ];
        if learned.is_stopped {
            facts.push("stopped before everything was tested".into());
        }
        let inputs: Vec<String> = self.gates.iter().map(|gate| gate.name(&self.messages.model)).collect();
        let json = json!({
            "version": 1, "sut": sut, "seed": seed, "states": machine.locations.len(), "inputs": inputs,
            "constants": self.constants.iter().map(|value| self.messages.model.pool.show_value(value)).collect::<Vec<_>>(),
            "variables": machine.n_registers(), "compare": theory,
            "hypotheses": learned.hypotheses, "resets": resets, "symbols": symbols, "guarantee": guarantee,
            "stopped": learned.is_stopped,
        });
        Told::with(sut, seed, facts, json)
    }
}

fn in_words(guarantee: DataGuarantee, theory: &str) -> String {
    match guarantee {
        DataGuarantee::Complete { values, states, extra } => format!(
            "if values are compared by {theory} and with no other constants: exact on any {values} values, if the system \
             has at most {} states on them ({states} + {extra})",
            states + extra
        ),
        DataGuarantee::Consistent => {
            "agrees with everything that was seen; nothing is promised beyond".into()
        }
    }
}
