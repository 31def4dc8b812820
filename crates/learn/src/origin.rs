//! The origin of a learned model: its source, the effort, the guarantee.

/// The origin of a learned model, as its text and the report at the end of a session say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineOrigin {
    /// The system with its seed, or the recorded runs.
    pub source: String,
    /// The effort, the guarantee and reservations, one sentence each.
    pub facts: Vec<String>,
}

impl MachineOrigin {
    /// The origin of a model that was learned from a system.
    #[must_use]
    pub fn from_system(sut: &str, seed: u64, facts: Vec<String>) -> Self {
        Self { source: format!("{sut} (seed {seed})"), facts }
    }

    /// Returns the origin for people, line by line.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let first = format!("learned from {}", self.source);
        [first].into_iter().chain(self.facts.iter().map(|fact| format!("  {fact}"))).collect()
    }
}
