//! Checks of an adapter, and their results: those of the self-test, and those of walks through a
//! model.

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// The adapter did as it should.
    Ok,
    /// The adapter did not do as it should.
    Failed,
    /// The check could not be made.
    Skipped,
    /// The result may be right or wrong; a person should look.
    Odd,
}

/// One check of a self-test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTestCheck {
    /// The name of the check.
    pub name: String,
    /// The result of the check.
    pub state: CheckState,
    /// The observation that was made, or the reason why the check was skipped.
    pub note: String,
}

impl SelfTestCheck {
    /// Returns the check called `name`.
    pub fn new(name: &str, state: CheckState, note: String) -> Self {
        Self { name: name.to_owned(), state, note }
    }
}
