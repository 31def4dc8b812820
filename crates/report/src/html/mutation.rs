//! An analysis of mutants as the page shows it: score, kill matrix, survivors.

use serde::Serialize;

/// A mutation analysis of a model.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MutationPage {
    /// The name of the model.
    pub model: String,
    /// The suite or tester that was measured; empty if the suite was made from the mutants themselves.
    pub suite: String,
    /// The mutants.
    pub mutants: Vec<MutantRow>,
    /// The tests.
    pub tests: Vec<TestRow>,
}

/// A mutant and its outcome.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MutantRow {
    /// Its name.
    pub id: String,
    /// The operators that made it.
    pub operators: String,
    /// The line of the source that the mutant changes; 0 if there is none.
    pub line: usize,
    /// The switches before and after the mutation.
    pub diff: String,
    /// The outcome.
    pub outcome: MutantResult,
    /// The reason why the mutant is equivalent or unknown; may be empty.
    pub reason: String,
    /// A trace that distinguishes the mutant: for a survivor, the one the suite lacks.
    pub witness: Vec<String>,
}

/// The outcome of a mutant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum MutantResult {
    /// A test distinguishes it from the model.
    Killed,
    /// It was proved that no test distinguishes it.
    Equivalent,
    /// Neither a distinguishing trace nor a proof was found.
    #[default]
    Unknown,
    /// Some trace distinguishes it, but the given suite does not.
    Survived,
}

/// A test and the mutants it kills.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TestRow {
    /// Its name.
    pub name: String,
    /// The labels of the test; empty for a tester.
    pub steps: Vec<String>,
    /// The positions of the mutants it kills.
    pub kills: Vec<usize>,
}

impl MutationPage {
    /// Returns the number of mutants that some trace distinguishes, and the number of them that were killed.
    #[must_use]
    pub fn score(&self) -> (usize, usize) {
        let count = |fate| self.mutants.iter().filter(|mutant| mutant.outcome == fate).count();
        let killed = count(MutantResult::Killed);
        (killed + count(MutantResult::Survived), killed)
    }

    /// Returns the title with the name of the model, and the score.
    #[must_use]
    pub fn headline(&self) -> (String, String) {
        let (killable, killed) = self.score();
        (format!("Mutants of {}", self.model), format!("{killed} of {killable} killable mutants killed"))
    }
}
