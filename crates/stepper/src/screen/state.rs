//! The state of the screen besides the model: the focus, the choice, the overlay.

use super::editor::Editor;
use super::scene::{SceneMove, WalkScene};

/// The number of columns of a terminal before it is drawn on: the usual width since the first terminals.
const USUAL_WIDTH: u16 = 80;

/// The whole screen.
#[derive(Clone, Debug, Default)]
pub struct ScreenState {
    /// The state of the walk.
    pub scene: WalkScene,
    /// The columns of the terminal when it was drawn last: texts are wrapped, so it says how far they scroll.
    pub width: u16,
    /// The panel that arrow keys move in.
    pub focus: Focus,
    /// The chosen move, among the listed ones.
    pub chosen: usize,
    /// Only moves with this text are listed.
    pub filter: String,
    /// The text last searched for in the history.
    pub search: String,
    /// The moves that are listed: the possible ones, or all.
    pub listing: MoveListing,
    /// The first line shown of the belief.
    pub belief_top: usize,
    /// The first line shown of the details.
    pub detail_top: usize,
    /// The step chosen in the history.
    pub step: usize,
    /// The overlay of the panels.
    pub overlay: Overlay,
    /// The outcome of the last move; `None` once it is dismissed.
    pub told: Option<MoveReport>,
    /// The state of the query to the model.
    pub work: QueryWork,
}

/// The state of the query to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryWork {
    /// No query; a key is awaited.
    #[default]
    Idle,
    /// A query is being answered.
    Asked,
}

/// A panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// The moves.
    #[default]
    Moves,
    /// The belief: the states the model may be in.
    Belief,
    /// The history: the steps taken.
    History,
    /// More about the chosen move, or about the last one.
    Detail,
}

/// The moves that are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MoveListing {
    /// Those that are possible now.
    #[default]
    Possible,
    /// Also those that are not, with the reason.
    All,
}

/// The overlays of the panels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Overlay {
    /// No overlay.
    #[default]
    None,
    /// The keys, from this line on.
    Help(usize),
    /// Values for the fields of a move.
    Form(MoveForm),
    /// Messages with values the solver found.
    Proposals(Proposals),
    /// A line that is being typed.
    Prompt(Prompt),
    /// Values that satisfy the path condition.
    Witness(PathWitness),
}

/// Values for the fields of a move; the solver fills in empty ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveForm {
    /// The move, by position in the scene.
    pub at: usize,
    /// One text per field.
    pub texts: Vec<Editor>,
    /// The field that is being typed.
    pub field: usize,
    /// The reason why the values were refused.
    pub problem: Option<String>,
}

/// Messages to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposals {
    /// The move, by position in the scene.
    pub at: usize,
    /// The messages.
    pub labels: Vec<String>,
    /// The chosen one.
    pub chosen: usize,
    /// The number of times other proposals were asked for.
    pub round: u64,
}

/// A line that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The purpose of the line.
    pub purpose: LinePurpose,
    /// The line.
    pub line: Editor,
    /// The reason why the line was refused.
    pub problem: Option<String>,
}

/// The purposes for which a line is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePurpose {
    /// Any message.
    Message,
    /// A time that passes.
    Delay,
    /// A filter of the moves.
    Filter,
    /// A text to look for in the history.
    Search,
}

/// Values that satisfy the path condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathWitness {
    /// The lines to show.
    pub lines: Vec<String>,
    /// The first line shown.
    pub top: usize,
    /// True if the lines are the steps of a walk that can be taken.
    pub is_walk: bool,
}

/// The outcome of the last move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveReport {
    /// The kind of outcome.
    pub tone: MoveTone,
    /// The report, line by line.
    pub lines: Vec<String>,
}

/// The kinds of outcomes of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveTone {
    /// The move is allowed.
    Good,
    /// The move is allowed, with a remark.
    Note,
    /// The move is forbidden.
    Bad,
}

impl MoveReport {
    /// One line.
    pub fn line(tone: MoveTone, line: impl Into<String>) -> Self {
        Self { tone, lines: vec![line.into()] }
    }
}

/// The queries to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelQuery {
    /// The move at this position, with these values; a field without text gets one that fits.
    Take(usize, Vec<String>),
    /// Messages with different values for the move at this position.
    Propose(usize, u64),
    /// A message as typed.
    Give(String),
    /// A time as typed.
    Wait(String),
    /// Silence.
    Silence,
    /// One step back.
    Undo,
    /// One step forward again, or along the recorded run.
    Redo,
    /// To this many steps after the start.
    GoTo(usize),
    /// From messages to switches, or back.
    ChangeMode,
    /// Values that satisfy the path condition.
    Witness,
    /// The walk of the witness, message by message.
    FollowWitness,
    /// The end.
    Quit,
    /// The end, at once.
    Interrupt,
}

/// The replies of the model.
#[derive(Clone, Debug)]
pub enum ModelReply {
    /// A new state of the walk, and a report.
    Moved(WalkScene, Option<MoveReport>),
    /// No move; a report.
    Told(MoveReport),
    /// The typed text is refused, for this reason.
    Problem(String),
    /// An overlay to show.
    Show(Overlay),
}

impl ScreenState {
    /// The screen at the start.
    pub fn new(scene: WalkScene) -> Self {
        let step = scene.past().len();
        Self { scene, step, width: USUAL_WIDTH, ..Self::default() }
    }

    /// The positions of the moves that are listed.
    pub fn listed_positions(&self) -> Vec<usize> {
        let wanted = |it: &SceneMove| {
            (self.listing == MoveListing::All || !it.is_refused()) && it.matches(&self.filter)
        };
        (0..self.scene.moves.len()).filter(|&at| wanted(&self.scene.moves[at])).collect()
    }

    /// The chosen move and its position in the scene.
    pub fn chosen_move(&self) -> Option<(usize, &SceneMove)> {
        let at = *self.listed_positions().get(self.chosen)?;
        Some((at, &self.scene.moves[at]))
    }

    /// Returns the number of rows of the history; the first is the start.
    pub fn n_steps(&self) -> usize {
        1 + self.scene.steps.len()
    }

    /// The row of the history at `step`.
    pub fn step_text(&self, step: usize) -> &str {
        match step.checked_sub(1) {
            None => "start",
            Some(i) => self.scene.steps.get(i).map_or("", String::as_str),
        }
    }

    /// Chooses the next step after the chosen one that has the text looked for, from the start again after
    /// the end; says whether there is one.
    pub fn find_step(&mut self) -> bool {
        let (n, wanted) = (self.n_steps(), self.search.to_lowercase());
        let mut steps = (1..=n).map(|ahead| (self.step + ahead) % n);
        let found = steps.find(|&step| self.step_text(step).to_lowercase().contains(&wanted));
        self.step = found.unwrap_or(self.step);
        found.is_some()
    }

    /// Updates the screen with a reply of the model.
    pub fn absorb(&mut self, reply: ModelReply) {
        self.work = QueryWork::Idle;
        match reply {
            ModelReply::Moved(scene, told) => self.show_scene(scene, told),
            ModelReply::Told(told) => {
                self.overlay = Overlay::None;
                self.detail_top = 0;
                self.told = Some(told);
            }
            ModelReply::Problem(why) => self.problem(why),
            ModelReply::Show(overlay) => self.overlay = overlay,
        }
    }

    fn show_scene(&mut self, scene: WalkScene, told: Option<MoveReport>) {
        let is_other_mode = scene.mode != self.scene.mode;
        self.scene = scene;
        self.overlay = Overlay::None;
        self.told = told;
        (self.chosen, self.belief_top, self.detail_top) = (0, 0, 0);
        self.step = self.scene.past().len();
        if is_other_mode || self.listed_positions().is_empty() {
            self.filter.clear();
        }
    }

    /// Shows `why` in the form or prompt that was refused, else as the outcome of the move.
    fn problem(&mut self, why: String) {
        match &mut self.overlay {
            Overlay::Form(form) => form.problem = Some(why),
            Overlay::Prompt(prompt) => prompt.problem = Some(why),
            _ => {
                self.overlay = Overlay::None;
                self.detail_top = 0;
                self.told = Some(MoveReport::line(MoveTone::Bad, why));
            }
        }
    }
}
