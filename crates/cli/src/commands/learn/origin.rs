//! The report on a session at its end.

use ioxide_learn::observer::LearningEffort;
use ioxide_learn::oracle::{LearnedGuarantee, LearnedMachine};
use ioxide_learn::several::SeveralDraft;
use serde_json::{Value as Json, json};

use crate::args::LearnArgs;
use crate::counted::count_noun;
use crate::machine::Messages;

/// The origin of a learned machine: its source, the effort, the guarantee.
pub struct MachineOrigin {
    /// The system with its seed, or the recorded runs.
    pub source: String,
    /// The effort, the guarantee and reservations, one sentence each.
    pub facts: Vec<String>,
    json: Json,
}

impl MachineOrigin {
    /// Of a machine that was learned from a system.
    pub fn from_machine(
        sut: &str,
        args: &LearnArgs,
        learned: &LearnedMachine,
        effort: LearningEffort,
        seed: u64,
        messages: &Messages,
    ) -> Self {
        let LearningEffort { resets, symbols } = effort;
        let states = learned.machine.n_states();
        let inputs: Vec<&String> = messages.inputs.keys().collect();
        let mut facts = vec![
            format!(
                "{} with {}: {}, {}, {}",
                count_noun(states, "state"),
                count_noun(inputs.len(), "input"),
                count_noun(learned.hypotheses, "hypothesis"),
                count_noun(resets, "reset"),
                count_noun(symbols, "message"),
            ),
            learned.guarantee.description(),
        ];
        if learned.is_stopped {
            facts.push("stopped before everything was tested".into());
        }
        let promise = match learned.guarantee {
            LearnedGuarantee::Complete { states, extra } => json!(states + extra),
            LearnedGuarantee::Consistent => Json::Null,
        };
        let json = json!({
            "version": 1, "sut": sut, "seed": seed, "states": states, "inputs": inputs,
            "hypotheses": learned.hypotheses, "resets": resets, "symbols": symbols,
            "suite": args.suite,
            "exact_up_to": promise, "guarantee": learned.guarantee.description(), "stopped": learned.is_stopped,
        });
        Self { source: format!("{sut} (seed {seed})"), facts, json }
    }

    /// Adds the number of votes about contradictions and the least confidence among them.
    pub fn with_votes(mut self, votes: &[f64]) -> Self {
        let Some(least) = votes.iter().copied().reduce(f64::min) else { return self };
        self.facts.push(format!(
            "{} by majority, the least sure with confidence {:.1}%; an answer that was seen once may be wrong",
            count_noun(votes.len(), "answer"),
            least * 100.0
        ));
        self.json["votes"] = json!({ "answers": votes.len(), "least_confidence": least });
        self
    }

    /// Adds the time of answers that were not given now.
    pub fn with_date(mut self, dated: Option<&String>) -> Self {
        self.facts.extend(dated.cloned());
        self.json["dated"] = json!(dated);
        self
    }

    /// Of a machine that answers in several ways.
    pub fn of_several(
        sut: &str,
        args: &LearnArgs,
        draft: &SeveralDraft,
        effort: LearningEffort,
        seed: u64,
        messages: &Messages,
    ) -> Self {
        let LearningEffort { resets, symbols } = effort;
        let inputs: Vec<&String> = messages.inputs.keys().collect();
        let missed = 0.9_f64.powi(i32::try_from(args.votes).unwrap_or(i32::MAX)) * 100.0;
        let guarantee = format!(
            "has every run that was seen; an answer that comes once in ten times is missed with probability {missed:.1}% \
             wherever it may come"
        );
        let choices = count_noun(draft.n_choices(), "input");
        let states = count_noun(draft.n_states, "state");
        let mut facts = vec![
            format!(
                "{states} with {}: {choices} answered in several ways, {}, {}",
                count_noun(inputs.len(), "input"),
                count_noun(resets, "reset"),
                count_noun(symbols, "message"),
            ),
            guarantee.clone(),
        ];
        if draft.is_stopped {
            facts.push("stopped before all walks were made".into());
        }
        let json = json!({
            "version": 1, "sut": sut, "seed": seed, "states": draft.n_states, "inputs": inputs,
            "choices": draft.n_choices(), "resets": resets, "symbols": symbols,
            "exact_up_to": Json::Null, "guarantee": guarantee, "stopped": draft.is_stopped,
        });
        Self { source: format!("{sut} (seed {seed})"), facts, json }
    }

    /// Of whatever was learned from a system.
    pub fn from_facts(sut: &str, seed: u64, facts: Vec<String>, json: Json) -> Self {
        Self { source: format!("{sut} (seed {seed})"), facts, json }
    }

    /// Of a machine that was made from recorded runs.
    pub fn of_runs(files: &str, facts: Vec<String>, json: Json) -> Self {
        Self { source: files.to_owned(), facts, json }
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let first = format!("learned from {}", self.source);
        [first].into_iter().chain(self.facts.iter().map(|fact| format!("  {fact}"))).collect()
    }

    /// For programs.
    pub fn to_json(&self, path: &str) -> Json {
        let mut told = self.json.clone();
        told["out"] = json!(path);
        told
    }
}
