//! A constant without a `--constant`, found by bisection.
//!
//! Two runs whose values compare alike and that are answered differently differ by a comparison with something else.
//! The values half way between compare alike too, so one half of the way holds the difference; in the end it is a step
//! of one for one value, and the constant is on one of its sides.

use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::value::Value;

use super::system::{PointPlan, SeenAnswers};
use super::value_system::GivenValueSystem;
use super::value_system::ValueSystem;
use crate::messages::DataRun;
use crate::observer::LearningEffort;
use crate::register::place::{AnswerValue, DataAnswer, ValuePoint};
use crate::system::CopyLost;
use crate::system::MessageSystem as _;

/// Two runs of the same inputs, by the numbers in them: in order, each number once.
struct PairedRuns {
    inputs: Vec<Label>,
    from: Vec<i64>,
    to: Vec<i64>,
}

impl ValueSystem<'_> {
    /// Returns a constant that explains why the last run contradicts an earlier one of `length` inputs.
    pub fn find_constant<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        length: usize,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<Option<i64>, E> {
        let Some(mut way) = self.pair_last_run(plan, length, asked.seen) else { return Ok(None) };
        let Some(first) = self.ask_numbers(plan, &way.inputs, &way.from, asked)? else { return Ok(None) };
        let Some(last) = self.ask_numbers(plan, &way.inputs, &way.to, asked)? else { return Ok(None) };
        // Asked again, both must still differ: else the difference was no matter of values.
        if first == last {
            return Ok(None);
        }
        // *Invariant.* `from` is answered as `first` and `to` is not; all numbers in between keep the order of both
        // ends, so they compare alike and only the constant can make a difference.
        while way.from.iter().zip(&way.to).any(|(from, to)| from.abs_diff(*to) > 1) {
            let middle: Vec<i64> =
                way.from.iter().zip(&way.to).map(|(from, to)| from.midpoint(*to)).collect();
            let Some(said) = self.ask_numbers(plan, &way.inputs, &middle, asked)? else { return Ok(None) };
            match said == first {
                true if middle == way.from => break,
                true => way.from = middle,
                false => way.to = middle,
            }
        }
        self.find_last_step(plan, &way, &first, asked)
    }

    /// Returns the constant next to the number that makes the difference, once all numbers differ by at most one.
    fn find_last_step<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        way: &PairedRuns,
        first: &DataAnswer,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<Option<i64>, E> {
        let mut here = way.from.clone();
        // Greater ones up first, smaller ones down first: so they stay in order.
        let up = (0..here.len()).rev().filter(|&at| way.to[at] > way.from[at]);
        let down = (0..here.len()).filter(|&at| way.to[at] < way.from[at]);
        for at in up.chain(down).collect::<Vec<usize>>() {
            let before = here[at];
            here[at] = way.to[at];
            let Some(said) = self.ask_numbers(plan, &way.inputs, &here, asked)? else { return Ok(None) };
            if said != *first {
                return Ok(Some(choose_rounder(before, here[at])));
            }
        }
        Ok(None)
    }

    /// Returns the last run and an earlier one that is the same word up to its last answer.
    fn pair_last_run(
        &self,
        plan: &PointPlan,
        length: usize,
        seen_answers: &mut SeenAnswers,
    ) -> Option<PairedRuns> {
        let (before, now) = self.contradicting(plan, length, seen_answers)?;
        let (from, to) = (self.numbers(plan, &before), self.numbers(plan, &now));
        let inputs = now.iter().map(|(input, _)| input.clone()).collect();
        (from.len() == to.len() && !from.is_empty()).then_some(PairedRuns { inputs, from, to })
    }

    /// Returns the numbers that are data, in order, without constants.
    fn numbers(&self, plan: &PointPlan, run: &[(Label, Vec<Label>)]) -> Vec<i64> {
        let mut all: Vec<i64> =
            run.iter().flat_map(|(input, _)| self.data_numbers(input)).filter_map(Int::to_i64).collect();
        let constants = plan.domain.constants();
        all.retain(|number| !constants.iter().any(|(_, value)| *value == Value::int(*number)));
        all.sort_unstable();
        all.dedup();
        all
    }

    fn data_numbers<'l>(&self, input: &'l Label) -> Vec<&'l Int> {
        let Label::Input(gate, values) = input else { return Vec::new() };
        let gate = self.gates.iter().find(|it| it.gate == *gate);
        let fields = gate.map_or(&[][..], |gate| &gate.fixed).iter().zip(values);
        fields.filter(|(fixed, _)| fixed.is_none()).filter_map(|(_, value)| value.as_int()).collect()
    }

    /// Returns the last answer to `inputs`, whose numbers are replaced by `numbers` in order.
    fn ask_numbers<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        inputs: &[Label],
        numbers: &[i64],
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<Option<DataAnswer>, E> {
        let old = self.numbers(plan, &inputs.iter().map(|it| (it.clone(), Vec::new())).collect::<Vec<_>>());
        asked.kept.reset()?;
        let mut run = DataRun::new();
        for input in inputs {
            let input = self.replace_values(input, &old, numbers);
            let said = asked.kept.send_input(&input)?;
            run.push((input, said));
        }
        self.effort = self.effort.plus(LearningEffort { resets: 1, symbols: run.len() as u64 });
        self.runs.extend(asked.kept.take_remembered());
        let read = plan.read_run(&self.messages.model, asked.seen, &run);
        Ok(read.and_then(|(_, answers)| answers.last().map(|it| mark_values(Some(it)))).flatten())
    }

    fn replace_values(&self, input: &Label, old: &[i64], new: &[i64]) -> Label {
        let Label::Input(gate, values) = input else { return input.clone() };
        let number = self.gates.iter().position(|it| it.gate == *gate);
        let fixed = number.map_or(&[][..], |at| &self.gates[at].fixed);
        let value = |(fixed, value): (&Option<Value>, &Value)| {
            let at =
                value.as_int().and_then(Int::to_i64).and_then(|it| old.iter().position(|&known| known == it));
            match (fixed, at.and_then(|at| new.get(at))) {
                (None, Some(&number)) => Value::int(number),
                _ => value.clone(),
            }
        };
        Label::Input(*gate, fixed.iter().zip(values).map(value).collect())
    }
}

/// Returns an answer whose values do not matter, only where they come from.
fn mark_values(answer: Option<&DataAnswer>) -> Option<DataAnswer> {
    let answer = answer?;
    let mark = |said: &AnswerValue| match said {
        AnswerValue::Point(_) => AnswerValue::Point(ValuePoint::MAX),
        AnswerValue::Literal(_) => *said,
    };
    Some(DataAnswer { shape: answer.shape, values: answer.values.iter().map(mark).collect() })
}

/// Returns the one of two neighbours that people would rather write.
pub fn choose_rounder(a: i64, b: i64) -> i64 {
    let roundness = |n: i64| [100, 10, 5, 2].iter().filter(|&&by| n % by == 0).count();
    if roundness(a) > roundness(b) || roundness(a) == roundness(b) && a < b { a } else { b }
}
