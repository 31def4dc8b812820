//! The reasons why two runs contradict each other, and the repetitions that distinguish them.
//!
//! Their values compare alike, and they are answered differently. Each is given once more with the *same* values. If it
//! is answered as before, the values make the difference: they are compared in some other way, or with a constant. If
//! only values of the system's own are others now, the system makes them up. If anything else is, the system
//! contradicts itself, whatever the values: that is an error, or put to the vote.

use std::collections::BTreeMap;

use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::value::Value;

use super::made_values::{MadeField, for_each_new};
use super::system::{PointPlan, SeenAnswers};
use super::value_system::GivenValueSystem;
use super::value_system::ValueSystem;
use crate::messages::DataRun;
use crate::observer::LearningEffort;
use crate::register::place::{AnswerValue, DataAnswer, DataInput, ValuePoint, ValueRegion};
use crate::session::MajorityVote;
use crate::system::CopyLost;
use crate::system::MessageSystem as _;

/// The reason why two runs are answered differently.
pub enum DisagreementReason {
    /// The values make the difference: each run is answered the same way when it is repeated.
    Values,
    /// The system makes up the values of these fields.
    Made(Vec<MadeField>),
    /// The system is not deterministic: a run, and its repetition with the same values, which is answered otherwise.
    Unstable(DataRun, DataRun),
}

impl ValueSystem<'_> {
    /// Finds out why the last run contradicts an earlier one in its answer number `length`.
    pub fn find_reason<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        length: usize,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<DisagreementReason, E> {
        let Some((before, now)) = self.contradicting(plan, length, asked.seen) else {
            return Ok(DisagreementReason::Values);
        };
        // Known from earlier sessions first: what was given back then needs no repetition now.
        let returned = [self.returned_fields(&before), self.returned_fields(&now)].concat();
        if !returned.is_empty() {
            return Ok(DisagreementReason::Made(returned));
        }
        // The later run first: it was just asked, so a system that drifts is caught sooner. If both repeat as they
        // were, the difference is in the values.
        for run in [now, before] {
            let again = match self.recall_run(&run) {
                Some(again) => again,
                None => self.ask_again(plan, &run, asked)?,
            };
            let (Some(then), Some(now)) =
                (self.number_answers(plan, asked.seen, &run), self.number_answers(plan, asked.seen, &again))
            else {
                continue;
            };
            let Some(at) = (0..then.len()).find(|&at| now.get(at) != Some(&then[at])) else { continue };
            // Values that occurred before are numbered; so what differs here is a value of the system's own, or a
            // message.
            let fields = match now.get(at) {
                Some(now) => self.own_values(asked.seen, &then[at], now),
                None => Vec::new(),
            };
            return Ok(if fields.is_empty() {
                DisagreementReason::Unstable(run[..=at].to_vec(), again[..again.len().min(at + 1)].to_vec())
            } else {
                DisagreementReason::Made(fields)
            });
        }
        Ok(DisagreementReason::Values)
    }

    /// Returns fields whose values, new when they were emitted, are given back later in the run: an earlier session
    /// knew that they are made up.
    fn returned_fields(&self, run: &DataRun) -> Vec<MadeField> {
        let (mut own, mut found): (Vec<(MadeField, Value)>, Vec<MadeField>) = (Vec::new(), Vec::new());
        for_each_new(&self.messages.model, &self.constants, run, |input, new| {
            if let Label::Input(_, values) = input {
                let back = own.iter().filter(|(_, value)| values.contains(value)).map(|(field, _)| *field);
                found.extend(back);
            }
            own.extend(new.iter().filter(|(field, _)| !self.made.contains(field)).cloned());
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns an earlier run of the inputs of `run` with the same values, one with other answers if there is one. So a
    /// session that goes on asks nothing again.
    fn recall_run(&self, run: &DataRun) -> Option<DataRun> {
        let is_alike =
            |other: &&[(Label, Vec<Label>)]| other.iter().zip(run).all(|(one, two)| one.0 == two.0);
        let alike: Vec<&[(Label, Vec<Label>)]> =
            self.runs.iter().filter_map(|other| other.get(..run.len())).filter(is_alike).collect();
        // The run itself is among them; a second one that is the same counts as a repetition.
        let other = alike.iter().find(|other| ***other != run[..]).or_else(|| alike.get(1));
        other.map(|other| other.to_vec())
    }

    /// Returns an earlier run and the last one, both up to the answer number `length` in which they differ.
    pub fn contradicting(
        &self,
        plan: &PointPlan,
        length: usize,
        seen_answers: &mut SeenAnswers,
    ) -> Option<(DataRun, DataRun)> {
        let (last, earlier) = self.runs.split_last()?;
        let now = last.get(..length)?;
        let wanted = self.regions(plan, seen_answers, now)?;
        let said = self.number_answers(plan, seen_answers, now)?;
        let is_it = |run: &&DataRun| {
            let Some(run) = run.get(..length) else { return false };
            self.regions(plan, seen_answers, run).as_ref() == Some(&wanted)
                && self.number_answers(plan, seen_answers, run).is_some_and(|it| it.last() != said.last())
        };
        let before = earlier.iter().find(is_it)?;
        Some((before[..length].to_vec(), now.to_vec()))
    }

    /// Returns a run by the comparisons of its values.
    fn regions(
        &self,
        plan: &PointPlan,
        seen_answers: &mut SeenAnswers,
        run: &[(Label, Vec<Label>)],
    ) -> Option<Vec<ValueRegion>> {
        let (word, _) = plan.read_run(&self.messages.model, seen_answers, run)?;
        let signature = &plan.domain.signature;
        let mut known = signature.constants.clone();
        let region = |it: &DataInput| (it.gate, signature.places_of(&mut known, &it.values));
        Some(word.iter().map(region).collect())
    }

    /// Returns the answers of a run, values by their number among all that occurred.
    fn number_answers(
        &self,
        plan: &PointPlan,
        seen_answers: &mut SeenAnswers,
        run: &[(Label, Vec<Label>)],
    ) -> Option<Vec<DataAnswer>> {
        let (word, answers) = plan.read_run(&self.messages.model, seen_answers, run)?;
        let mut known = plan.domain.signature.constants.clone();
        let mut number = |(input, answer): (&DataInput, &DataAnswer)| {
            plan.domain.signature.places_of(&mut known, &input.values);
            let place = |said: &AnswerValue| match *said {
                AnswerValue::Point(point) => {
                    let at = known.iter().position(|&it| it == point);
                    AnswerValue::Point(at.and_then(|at| ValuePoint::try_from(at).ok()).unwrap_or(-1))
                }
                AnswerValue::Literal(_) => *said,
            };
            DataAnswer { shape: answer.shape, values: answer.values.iter().map(place).collect() }
        };
        Some(word.iter().zip(&answers).map(&mut number).collect())
    }

    /// Returns the fields in which two answers of one shape differ by values the system emits of its own accord; none
    /// if they differ otherwise.
    fn own_values(&self, seen_answers: &SeenAnswers, one: &DataAnswer, other: &DataAnswer) -> Vec<MadeField> {
        if one.shape != other.shape {
            return Vec::new();
        }
        let shape = &seen_answers.shapes[one.shape.index()];
        let fields = shape.iter().flat_map(|(gate, fixed)| {
            let data = fixed.iter().enumerate().filter(|(_, value)| value.is_none());
            data.map(move |(at, _)| (*gate, at))
        });
        let mut found = Vec::new();
        for (field, pair) in fields.zip(one.values.iter().zip(&other.values)) {
            match pair {
                (one, other) if one == other => (),
                // A literal is a value that neither an input nor a constant explains: the system made up both.
                (AnswerValue::Literal(_), AnswerValue::Literal(_)) => found.push(field),
                _ => return Vec::new(),
            }
        }
        found
    }

    /// Sends the inputs of `run` once more: the same values, but for those that the system makes up, which are replaced
    /// by the new ones.
    fn ask_again<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        run: &DataRun,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<DataRun, E> {
        asked.kept.reset()?;
        let mut renamed: BTreeMap<Value, Value> = BTreeMap::new();
        let mut again = DataRun::new();
        for (input, said_then) in run {
            let input = match input {
                Label::Input(gate, values) => {
                    let now = |value: &Value| renamed.get(value).unwrap_or(value).clone();
                    Label::Input(*gate, values.iter().map(now).collect())
                }
                other => other.clone(),
            };
            let said = asked.kept.send_input(&input)?;
            for (then, now) in said_then.iter().zip(&said) {
                note_new_values(&mut renamed, &plan.domain.made.fields, then, now);
            }
            again.push((input, said));
        }
        self.effort = self.effort.plus(LearningEffort { resets: 1, symbols: again.len() as u64 });
        self.runs.extend(asked.kept.take_remembered());
        Ok(again)
    }

    /// Repeats a run that is answered in several ways and believes the most frequent answer. Runs that contradict it
    /// are cut off there. Returns how often it was given and the number of repetitions.
    pub fn vote<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        run: &DataRun,
        votes: MajorityVote,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<(u32, u32), E> {
        let mut counts: BTreeMap<Vec<DataAnswer>, u32> = BTreeMap::new();
        let mut n = 0;
        let (usual, count) = loop {
            let again = self.ask_again(plan, run, asked)?;
            n += 1;
            if let Some(said) = self.number_answers(plan, asked.seen, &again) {
                *counts.entry(said).or_default() += 1;
            }
            let most = counts.iter().max_by_key(|(_, count)| **count);
            let (usual, count) = most.map_or((Vec::new(), 0), |(said, count)| (said.clone(), *count));
            if votes.is_over(count, n) {
                break (usual, count);
            }
        };
        // Earlier runs that say otherwise would contradict the vote again; they are cut off before that answer.
        self.believe(plan, asked.seen, run, &usual);
        Ok((count, n))
    }

    /// Repeats every run, so that an answer that was wrong once is contradicted.
    pub fn ask_all_again<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<(), E> {
        for run in self.runs.clone() {
            self.ask_again(plan, &run, asked)?;
        }
        Ok(())
    }

    /// Cuts off whatever says otherwise than `usual` to the inputs of `run`.
    fn believe(
        &mut self,
        plan: &PointPlan,
        seen_answers: &mut SeenAnswers,
        run: &DataRun,
        usual: &[DataAnswer],
    ) {
        let Some(wanted) = self.regions(plan, seen_answers, run) else { return };
        let mut runs = std::mem::take(&mut self.runs);
        for run in &mut runs {
            let (Some(regions), Some(said)) =
                (self.regions(plan, seen_answers, run), self.number_answers(plan, seen_answers, run))
            else {
                continue;
            };
            // Only as far as the inputs compare alike do the answers have to be the same.
            let alike = regions.iter().zip(&wanted).take_while(|(one, other)| one == other).count();
            let differs = |at: &usize| usual.get(*at).is_some_and(|usual| said.get(*at) != Some(usual));
            if let Some(at) = (0..alike).find(differs) {
                run.truncate(at);
            }
        }
        runs.retain(|run| !run.is_empty());
        self.runs = runs;
    }
}

/// Notes the new value in the place of each value that the system made up in the earlier run.
fn note_new_values(renamed: &mut BTreeMap<Value, Value>, made: &[MadeField], then: &Label, now: &Label) {
    let (Label::Output(gate, then), Label::Output(other, now)) = (then, now) else { return };
    if gate != other {
        return;
    }
    for (at, (then, now)) in then.iter().zip(now).enumerate() {
        if made.contains(&(*gate, at)) {
            renamed.entry(then.clone()).or_insert_with(|| now.clone());
        }
    }
}
