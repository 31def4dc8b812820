//! The model's side of the screen, as plain data.

use std::rc::Rc;

/// The state of a walk, as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkScene {
    /// The name of the model.
    pub model: String,
    /// The kind of walk: along messages or along switches.
    pub mode: WalkMode,
    /// True if the model has clocks.
    pub is_timed: bool,
    /// States the model may be in; the first of them, if there are many.
    pub places: Vec<SceneState>,
    /// The number of states the model may be in; `None` where the model specifies nothing any more.
    pub n_places: Option<usize>,
    /// The moves that are possible now, then those that are not.
    pub moves: Vec<SceneMove>,
    /// The steps taken, then those that were undone or that the recorded run goes on with.
    pub steps: Rc<Vec<String>>,
    /// The number of steps taken.
    pub now: usize,
    /// The recorded run that is stepped through.
    pub run: Option<String>,
    /// Remarks on what the solver left open.
    pub doubts: Vec<String>,
}

impl WalkScene {
    /// The steps taken.
    pub fn past(&self) -> &[String] {
        &self.steps[..self.now.min(self.steps.len())]
    }

    /// The steps that were undone, or that the recorded run goes on with; the next one first.
    pub fn future(&self) -> &[String] {
        &self.steps[self.now.min(self.steps.len())..]
    }
}

/// The kinds of walks through a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WalkMode {
    /// Message by message, as the monitor does.
    #[default]
    Concrete,
    /// Switch by switch, with terms for values.
    Symbolic,
}

/// A state the model may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneState {
    /// The name of the location.
    pub location: String,
    /// `x = 3`, for every variable and clock.
    pub values: Vec<String>,
    /// The path condition, conjunct by conjunct.
    pub facts: Vec<String>,
    /// The documentation of the location.
    pub doc: String,
    /// For a system made of parts, the location of each part and its values; else empty.
    pub parts: Vec<(String, Vec<String>)>,
}

/// A move: a message, a switch or silence, possible now or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneMove {
    /// The party that makes the move.
    pub kind: MoveKind,
    /// The message with the names of its fields: `inX(p)`.
    pub name: String,
    /// The fields that can be given.
    pub fields: Vec<MoveField>,
    /// The guard on the values of the fields.
    pub when: Option<String>,
    /// The switch and where it leads: `r0 → busy`.
    pub leads: String,
    /// More about it: its documentation, its update.
    pub about: Vec<String>,
    /// The possibility of the move in the current state.
    pub now: Readiness,
}

/// The party that makes a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveKind {
    /// The tester.
    Input,
    /// The environment; the tester sees it.
    Observed,
    /// The system.
    Output,
    /// The system, unseen.
    Internal,
    /// No party.
    Silence,
}

impl MoveKind {
    /// The mark in front of a message of this kind.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Input | Self::Observed => "?",
            Self::Output => "!",
            Self::Internal => "τ",
            Self::Silence => "δ",
        }
    }
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveField {
    /// The name of the field.
    pub name: String,
    /// The sort of the field, as models write it.
    pub sort: String,
}

/// The possibility of a move in the current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The move is possible.
    Possible,
    /// The solver did not decide it.
    Doubtful,
    /// The move is not possible, with the reason.
    Refused(String),
}

impl SceneMove {
    /// Returns whether the move is not possible now.
    pub fn is_refused(&self) -> bool {
        matches!(self.now, Readiness::Refused(_))
    }

    /// Returns whether `filter` occurs in the name, target or guard, in upper or lower case.
    pub fn matches(&self, filter: &str) -> bool {
        let filter = filter.to_lowercase();
        let texts = [&self.name, &self.leads].into_iter().chain(&self.when);
        let mut texts = texts.map(|text| text.to_lowercase());
        filter.is_empty() || texts.any(|text| text.contains(&filter))
    }
}

/// `text`, cut where it is longer than anybody reads on a screen.
pub fn clip(text: impl Into<String>) -> String {
    // Characters; chosen by feel, more than fit on any screen.
    const MAX: usize = 2_000;
    let text = text.into();
    match text.char_indices().nth(MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
