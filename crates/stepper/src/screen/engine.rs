//! The model behind the screen: the two walks, along messages and along switches.

mod tell;
mod witness;

use std::rc::Rc;

use ioxide_explorer::walk::choices::SwitchChoice;
use ioxide_explorer::walk::error::WalkError;
use ioxide_explorer::walk::symbolic::SwitchPath;
use ioxide_explorer::walk::{LabelJudgement, ModelWalk};
use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::SwitchId;
use ioxide_model::value::Value;
use ioxide_record::typed;

use self::tell::report_forbidden;
use super::moves::{self, RowSource};
use super::scene::{WalkMode, WalkScene};
use super::state::{ModelQuery, ModelReply, MoveReport, MoveTone, Overlay, Proposals};
use crate::OpenedRecord;

/// The number of states of a belief that are shown; the others are counted. Chosen by feel: more than fit on a screen.
const MAX_PLACES: usize = 50;
/// Proposals at a time. One for each digit key.
const N_PROPOSALS: usize = 9;

/// The walks.
pub struct WalkEngine<'m> {
    walk: ModelWalk<'m>,
    /// Undone labels, or those the recorded run goes on with; the next one last.
    future: Vec<Label>,
    /// All labels of the walk, past and future, as the history shows them.
    steps: Rc<Vec<String>>,
    /// The name of the recorded run, until it is left.
    run: Option<String>,
    along: SwitchPath,
    /// Undone switches, the next one last.
    undone: Vec<SwitchId>,
    mode: WalkMode,
    /// The switch, message or silence that each row of moves stands for.
    sources: Vec<RowSource>,
    /// The labels of the last witness.
    witness: Vec<Label>,
}

impl<'m> WalkEngine<'m> {
    /// The walks at the start of the model, or where `opened` was opened, which `walk` has reached.
    pub fn new(mut walk: ModelWalk<'m>, opened: Option<OpenedRecord>) -> Self {
        let path = SwitchPath::new(&mut walk.cx);
        let cx = &walk.cx;
        let (run, steps, future) = match opened {
            Some(mut opened) => {
                let steps: Vec<String> =
                    opened.labels.iter().map(|label| moves::label_text(cx, label)).collect();
                (Some(opened.name), steps, opened.labels.drain(opened.step..).rev().collect())
            }
            None => (None, Vec::new(), Vec::new()),
        };
        Self {
            walk,
            future,
            steps: Rc::new(steps),
            run,
            along: path,
            undone: Vec::new(),
            mode: WalkMode::Concrete,
            sources: Vec::new(),
            witness: Vec::new(),
        }
    }

    /// Returns the scene of the current state of the walk.
    pub fn scene(&mut self) -> WalkScene {
        let rows = match self.mode {
            WalkMode::Concrete => moves::concrete(&mut self.walk),
            WalkMode::Symbolic => moves::symbolic_rows(&mut self.walk.cx, &self.along),
        };
        let (sources, moves) = rows.into_iter().unzip();
        self.sources = sources;
        let cx = &self.walk.cx;
        let mut scene = WalkScene {
            model: cx.sts.name.to_string(),
            mode: self.mode,
            is_timed: cx.sts.is_timed(),
            moves,
            ..WalkScene::default()
        };
        match self.mode {
            WalkMode::Concrete => self.tell_walk(&mut scene),
            WalkMode::Symbolic => self.tell_along(&mut scene),
        }
        scene
    }

    /// Answers a query of the screen.
    pub fn answer_query(&mut self, ask: ModelQuery) -> ModelReply {
        match ask {
            ModelQuery::Take(at, texts) => match self.sources.get(at).cloned() {
                Some(RowSource::Choice(choice)) => self.take_choice(&choice, &texts),
                Some(RowSource::Switch(switch)) => self.take_switch(switch),
                Some(RowSource::Silence) => self.take_step(Label::Quiescence),
                Some(RowSource::Nothing) | None => ModelReply::Problem("this cannot come now".into()),
            },
            ModelQuery::Propose(at, round) => self.propose(at, round),
            ModelQuery::Give(text) => self.give_text(&text),
            ModelQuery::Wait(text) => self.give_text(&format!("wait {text}")),
            ModelQuery::Silence => self.take_step(Label::Quiescence),
            ModelQuery::Undo => self.go_by(-1),
            ModelQuery::Redo => self.go_by(1),
            ModelQuery::GoTo(step) => self.go_to(step),
            ModelQuery::ChangeMode => {
                self.mode =
                    if self.mode == WalkMode::Concrete { WalkMode::Symbolic } else { WalkMode::Concrete };
                ModelReply::Moved(self.scene(), None)
            }
            ModelQuery::Witness => self.solve(),
            ModelQuery::FollowWitness => self.follow_witness(),
            ModelQuery::Quit | ModelQuery::Interrupt => {
                ModelReply::Told(MoveReport::line(MoveTone::Note, "the end"))
            }
        }
    }

    /// Takes a switch with the values typed for its fields.
    fn take_choice(&mut self, choice: &SwitchChoice, texts: &[String]) -> ModelReply {
        let label = self.parse_values(choice, texts).and_then(|values| {
            // With every value typed, the monitor says what it thinks of the message.
            let all: Option<Vec<Value>> = values.iter().cloned().collect();
            let typed = all.filter(|_| !values.is_empty());
            match typed.and_then(|values| Label::message(self.walk.cx.sts, choice.gate, values)) {
                Some(label) => Ok(label),
                None => choice.label_with(&mut self.walk.cx, &values),
            }
        });
        match label {
            Ok(label) => self.take_step(label),
            Err(problem) => ModelReply::Problem(problem.to_string()),
        }
    }

    /// The values of the texts, none for a text that is empty.
    fn parse_values(&self, choice: &SwitchChoice, texts: &[String]) -> Result<Vec<Option<Value>>, WalkError> {
        let cx = &self.walk.cx;
        let gate = &cx.sts.gates[choice.gate];
        let mut written = Vec::new();
        for (&field, text) in gate.fields.iter().zip(texts).filter(|(_, text)| !text.is_empty()) {
            let info = cx.pool.var_info(field);
            // Nobody types quotes around a text in a field for texts.
            let is_bare = info.sort == Sort::Str && !text.starts_with('"');
            let text = if is_bare { serde_json::Value::from(&**text).to_string() } else { text.clone() };
            written.push(format!("{}: {text}", info.name));
        }
        let message = format!("{}({})", gate.name, written.join(", "));
        Ok(typed::read_message(cx.pool, cx.sts, &message)?.values)
    }

    /// A message or a time as typed.
    fn give_text(&mut self, text: &str) -> ModelReply {
        match self.walk.parse_label(text) {
            Ok(label) => self.take_step(label),
            Err(problem) => ModelReply::Problem(problem.to_string()),
        }
    }

    /// Takes a step and returns what the screen says about it.
    fn take_step(&mut self, label: Label) -> ModelReply {
        let shown = moves::label_text(&self.walk.cx, &label);
        let is_next = self.future.last() == Some(&label);
        let told = match self.walk.observe(label) {
            LabelJudgement::Forbidden(why) => return ModelReply::Told(report_forbidden(&shown, &why)),
            LabelJudgement::Allowed => MoveReport::line(MoveTone::Good, shown.clone()),
            LabelJudgement::Unspecified => MoveReport::line(
                MoveTone::Note,
                format!("{shown}: the model does not specify what happens after it"),
            ),
        };
        if is_next {
            self.future.pop();
        } else {
            self.future.clear();
            self.run = None;
            let steps = Rc::make_mut(&mut self.steps);
            steps.truncate(self.walk.steps().len() - 1);
            steps.push(shown);
        }
        ModelReply::Moved(self.scene(), Some(told))
    }

    /// Takes a switch symbolically.
    fn take_switch(&mut self, switch: SwitchId) -> ModelReply {
        if !self.along.take_switch(&mut self.walk.cx, switch) {
            return ModelReply::Problem("this transition cannot be taken now".into());
        }
        if self.undone.pop_if(|next| *next == switch).is_none() {
            self.undone.clear();
        }
        let label = &self.walk.cx.sts.switches[switch].label;
        let told = MoveReport::line(MoveTone::Good, format!("took {label}"));
        ModelReply::Moved(self.scene(), Some(told))
    }

    fn n_past(&self) -> usize {
        match self.mode {
            WalkMode::Concrete => self.walk.steps().len(),
            WalkMode::Symbolic => self.along.switches.len(),
        }
    }

    /// One step back or forward.
    fn go_by(&mut self, by: isize) -> ModelReply {
        let n_future = if self.mode == WalkMode::Concrete { self.future.len() } else { self.undone.len() };
        match self.n_past().checked_add_signed(by) {
            Some(step) if step <= self.n_past() + n_future => self.go_to(step),
            Some(_) => ModelReply::Told(MoveReport::line(MoveTone::Note, "nothing to redo")),
            None => ModelReply::Told(MoveReport::line(MoveTone::Note, "nothing to undo")),
        }
    }

    /// To `step` steps after the start, as far as the model allows.
    fn go_to(&mut self, step: usize) -> ModelReply {
        let told = match self.mode {
            WalkMode::Concrete => self.go_to_label(step),
            WalkMode::Symbolic => {
                self.go_to_switch(step);
                None
            }
        };
        ModelReply::Moved(self.scene(), told)
    }

    fn go_to_label(&mut self, step: usize) -> Option<MoveReport> {
        while self.walk.steps().len() > step {
            self.future.extend(self.walk.undo());
        }
        while self.walk.steps().len() < step {
            let next = self.future.last()?.clone();
            let shown = moves::label_text(&self.walk.cx, &next);
            match self.walk.observe(next) {
                LabelJudgement::Forbidden(why) => return Some(report_forbidden(&shown, &why)),
                LabelJudgement::Allowed | LabelJudgement::Unspecified => drop(self.future.pop()),
            }
        }
        None
    }

    fn go_to_switch(&mut self, step: usize) {
        while self.along.switches.len() > step {
            self.undone.extend(self.along.undo());
        }
        while self.along.switches.len() < step {
            let Some(&next) = self.undone.last() else { return };
            if !self.along.take_switch(&mut self.walk.cx, next) {
                return;
            }
            self.undone.pop();
        }
    }

    /// Messages with different values.
    fn propose(&mut self, at: usize, round: u64) -> ModelReply {
        let Some(RowSource::Choice(choice)) = self.sources.get(at).cloned() else {
            return ModelReply::Told(MoveReport::line(
                MoveTone::Note,
                "proposals are for messages; Enter takes this",
            ));
        };
        let labels = choice.examples(&mut self.walk.cx, N_PROPOSALS, round);
        let labels: Vec<String> =
            labels.iter().map(|label| moves::label_text(&self.walk.cx, label)).collect();
        if labels.is_empty() {
            ModelReply::Problem("the solver found no values; type them with Enter".into())
        } else {
            ModelReply::Show(Overlay::Proposals(Proposals { at, labels, chosen: 0, round }))
        }
    }

    /// Walks the witness, message by message.
    fn follow_witness(&mut self) -> ModelReply {
        self.mode = WalkMode::Concrete;
        self.walk.rewind(0);
        self.run = None;
        self.future = self.witness.iter().rev().cloned().collect();
        self.steps =
            Rc::new(self.witness.iter().map(|label| moves::label_text(&self.walk.cx, label)).collect());
        self.go_to(self.witness.len())
    }
}
