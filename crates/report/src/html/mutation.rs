//! An analysis of mutants as the page shows it: score, kill matrix, survivors.

use serde::Serialize;

/// What became of the mutants of a model.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MutationPage {
    /// The model.
    pub model: String,
    /// The suite or tester that was measured; empty if the suite was made from the mutants themselves.
    pub suite: String,
    /// The mutants.
    pub mutants: Vec<MutantRow>,
    /// The tests.
    pub tests: Vec<TestRow>,
}

/// A mutant and what became of it.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MutantRow {
    /// Its name.
    pub id: String,
    /// The operators that made it.
    pub operators: String,
    /// The line it changes; 0 if it has none.
    pub line: usize,
    /// The switches before and after.
    pub diff: String,
    /// What became of it.
    pub outcome: MutantFate,
    /// Why it is equivalent or unknown.
    pub reason: String,
    /// A trace that tells it apart: for a survivor, the one the suite needs.
    pub witness: Vec<String>,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum MutantFate {
    /// A test tells it apart.
    Killed,
    /// Nothing does: a proof.
    Equivalent,
    /// Nothing is known.
    #[default]
    Unknown,
    /// Something tells it apart, and the given suite does not.
    Survived,
}

/// A test and what it kills.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TestRow {
    /// Its name.
    pub name: String,
    /// Its labels; empty for a tester.
    pub steps: Vec<String>,
    /// The mutants it kills, by position.
    pub kills: Vec<usize>,
}

impl MutationPage {
    /// Mutants that are told apart by some trace, and those of them that were killed.
    #[must_use]
    pub fn score(&self) -> (usize, usize) {
        let count = |fate| self.mutants.iter().filter(|mutant| mutant.outcome == fate).count();
        let killed = count(MutantFate::Killed);
        (killed + count(MutantFate::Survived), killed)
    }

    /// The model, and the score.
    #[must_use]
    pub fn headline(&self) -> (String, String) {
        let (killable, killed) = self.score();
        (format!("Mutants of {}", self.model), format!("{killed} of {killable} killable mutants killed"))
    }
}
