//! What there is to show: the model's side of the screen, as plain data.

use std::rc::Rc;

/// Everything known about one moment of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkScene {
    /// The name of the model.
    pub model: String,
    /// How it is walked.
    pub mode: WalkMode,
    /// Whether the model speaks of time.
    pub is_timed: bool,
    /// States the model may be in; the first of them, if there are many.
    pub places: Vec<SceneState>,
    /// How many there are; `None` where the model says nothing any more.
    pub n_places: Option<usize>,
    /// What can come now, then what cannot.
    pub moves: Vec<SceneMove>,
    /// The steps taken, then those that were undone or that the recorded run goes on with.
    pub steps: Rc<Vec<String>>,
    /// How many of them were taken.
    pub now: usize,
    /// The recorded run that is stepped through.
    pub run: Option<String>,
    /// What limits the certainty of all this.
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

/// How a model is walked.
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
    /// Where control is.
    pub location: String,
    /// `x = 3`, for every variable and clock.
    pub values: Vec<String>,
    /// What was assumed on the way.
    pub facts: Vec<String>,
    /// What its author wrote about the location.
    pub doc: String,
    /// Of a system made of parts where each part is, and its values.
    pub parts: Vec<(String, Vec<String>)>,
}

/// Something that can come next, or cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneMove {
    /// Who moves.
    pub kind: MoveKind,
    /// The message with the names of its fields: `inX(p)`.
    pub name: String,
    /// The fields that can be given.
    pub fields: Vec<MoveField>,
    /// What the values have to satisfy.
    pub when: Option<String>,
    /// The switch and where it leads: `r0 → busy`.
    pub leads: String,
    /// More about it: its documentation, its update.
    pub about: Vec<String>,
    /// Whether it can come now.
    pub now: Readiness,
}

/// Who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveKind {
    /// The tester.
    Input,
    /// Somebody else; the tester sees it.
    Observed,
    /// The system.
    Output,
    /// The system, unseen.
    Internal,
    /// Nobody.
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
    /// Its name.
    pub name: String,
    /// Its sort, as models write it.
    pub sort: String,
}

/// Whether a move can come now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Possible,
    /// The solver did not say.
    Doubtful,
    /// It cannot, for this reason.
    Refused(String),
}

impl SceneMove {
    /// Whether it cannot come now.
    pub fn is_refused(&self) -> bool {
        matches!(self.now, Readiness::Refused(_))
    }

    /// Whether `filter` occurs in what is shown of it, in any case.
    pub fn matches(&self, filter: &str) -> bool {
        let filter = filter.to_lowercase();
        let texts = [&self.name, &self.leads].into_iter().chain(&self.when);
        let mut texts = texts.map(|text| text.to_lowercase());
        filter.is_empty() || texts.any(|text| text.contains(&filter))
    }
}

/// `text`, cut where it is longer than anybody reads on a screen.
pub fn clip(text: impl Into<String>) -> String {
    const MAX: usize = 2_000;
    let text = text.into();
    match text.char_indices().nth(MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
