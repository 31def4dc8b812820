//! What is said about a session: while it runs, and at its end.

use ioxide_fsm::suite::Method;
use ioxide_learn::observer::Effort;
use ioxide_learn::oracle::{Guarantee, Learned, Stage};
use serde_json::{Value as Json, json};

use crate::args::Learn;
use crate::machine::Messages;

/// How a machine was made.
pub struct Told {
    /// From what.
    pub source: String,
    /// What was done, and what is promised.
    pub facts: Vec<String>,
    json: Json,
}

impl Told {
    /// Of a machine that was learned from a system.
    pub fn of(
        sut: &str,
        args: &Learn,
        learned: &Learned,
        effort: Effort,
        seed: u64,
        messages: &Messages,
    ) -> Self {
        let Effort { resets, symbols } = effort;
        let states = learned.machine.n_states();
        let inputs: Vec<&String> = messages.inputs.keys().collect();
        let mut facts = vec![
            format!(
                "{} with {}: {} hypotheses, {}, {}",
                counted(states as u64, "state"),
                counted(inputs.len() as u64, "input"),
                learned.hypotheses,
                counted(resets, "reset"),
                counted(symbols, "message"),
            ),
            learned.guarantee.in_words(),
        ];
        if learned.is_stopped {
            facts.push("stopped before everything was tested".into());
        }
        let promise = match learned.guarantee {
            Guarantee::Complete { states, extra } => json!(states + extra),
            Guarantee::Consistent => Json::Null,
        };
        let json = json!({
            "version": 1, "sut": sut, "seed": seed, "states": states, "inputs": inputs,
            "hypotheses": learned.hypotheses, "resets": resets, "symbols": symbols,
            "suite": args.suite.parse::<Method>().map_or("", Method::name),
            "exact_up_to": promise, "stopped": learned.is_stopped,
        });
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
    pub fn json(&self, path: &str) -> Json {
        let mut told = self.json.clone();
        told["out"] = json!(path);
        told
    }
}

/// `1 reset`, `2 resets`.
pub fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// What is being done, for the one who waits.
pub fn stage(stage: Stage, effort: Effort) -> String {
    let Effort { resets, symbols } = effort;
    let done = match stage {
        Stage::Hypothesis { states } => format!("a machine with {}", counted(states as u64, "state")),
        Stage::Testing { states, extra, done, of } => {
            format!("{} states: test {done} of {of} for {extra} extra states", states)
        }
        Stage::Walking { states, done, of } => format!("{states} states: walk {done} of {of}"),
    };
    format!("{done}; {resets} resets, {symbols} messages")
}
