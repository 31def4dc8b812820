use ioxide_explorer::walk::ModelWalk;
use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use super::draw::draw_screen;
use super::engine::WalkEngine;
use super::keys;
use super::scene::WalkMode;
use super::state::{ModelQuery, MoveTone, Overlay, ScreenState};
use super::theme::Theme;
use super::update::handle_key;
use crate::OpenedRecord;

mod any;
mod pictures;
mod walks;

const ADDER: &str = "model Adder { input inX(p: int) output outX(p: int) output done var x: int = 0
    /// Waits for a number.
    state idle { r0: on inX when 1 <= p <= 10 { x = x + p } -> busy r2: emit done when x > 15 -> finished }
    state busy { r1: emit outX(p: x) -> idle }
    state finished {} }";

const LAMP: &str = "model Lamp { input press output on output off clock c
    state dark { a: on press { reset c } -> lit }
    state lit { b: emit on when c <= 1s -> shining }
    state shining { d: emit off when c >= 2s -> dark } }";

fn model(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// A screen that is played with keys.
struct Played<'m> {
    engine: WalkEngine<'m>,
    state: ScreenState,
}

impl Played<'_> {
    /// Presses keys: names of keys (`Enter`), else the characters of each word, `_` for a space.
    fn press(&mut self, keys: &str) -> &mut Self {
        for word in keys.split_whitespace() {
            let named = match word {
                "Enter" => Some(KeyCode::Enter),
                "Esc" => Some(KeyCode::Esc),
                "Tab" => Some(KeyCode::Tab),
                "Up" => Some(KeyCode::Up),
                "Down" => Some(KeyCode::Down),
                "Left" => Some(KeyCode::Left),
                "Right" => Some(KeyCode::Right),
                "F2" => Some(KeyCode::F(2)),
                _ => None,
            };
            match named {
                Some(code) => drop(self.key(code.into())),
                None => word.chars().for_each(|c| {
                    let c = if c == '_' { ' ' } else { c };
                    self.key(KeyCode::Char(c).into());
                }),
            }
        }
        self
    }

    /// Presses one key; says how it ends, if it does.
    fn key(&mut self, key: KeyEvent) -> Option<ModelQuery> {
        match handle_key(&mut self.state, key)? {
            end @ (ModelQuery::Quit | ModelQuery::Interrupt) => Some(end),
            ask => {
                self.state.absorb(self.engine.answer_query(ask));
                None
            }
        }
    }

    /// `busy  x = 7`, for every state.
    fn belief(&self) -> Vec<String> {
        let shown =
            |place: &super::scene::SceneState| format!("{}  {}", place.location, place.values.join(", "));
        self.state.scene.places.iter().map(shown).collect()
    }

    fn told(&self) -> String {
        self.state.told.as_ref().map(|told| told.lines.join("\n")).unwrap_or_default()
    }

    /// The names of the listed moves.
    fn listed(&self) -> Vec<String> {
        let name = |at: usize| {
            format!("{}{}", self.state.scene.moves[at].kind.mark(), self.state.scene.moves[at].name)
        };
        self.state.listed_positions().into_iter().map(name).collect()
    }

    fn picture(&mut self, width: u16, height: u16) -> String {
        self.state.width = width;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test terminal");
        terminal.draw(|frame| draw_screen(frame, &self.state, Theme::Plain)).expect("it can be drawn");
        let buffer = terminal.backend().buffer().clone();
        let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
        (0..height).map(|y| row(y).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }
}

/// Plays on the model in `text`.
fn play<T>(text: &str, act: impl FnOnce(&mut Played<'_>) -> T) -> T {
    play_run(text, &[], 0, act)
}

/// Plays on a recorded run of these labels, opened after `step` of them.
fn play_run<T>(text: &str, labels: &[&str], step: usize, act: impl FnOnce(&mut Played<'_>) -> T) -> T {
    let mut model = model(text);
    let mut solver = build_stack(&SolverConfig::default());
    let mut walk = ModelWalk::new(Ctx::new(&mut model, &mut solver));
    let labels: Vec<Label> = labels.iter().map(|text| walk.parse_label(text).expect("a label")).collect();
    assert_eq!(walk.follow_labels(&labels[..step]), (step, None), "the run begins as the model allows");
    let opened = (!labels.is_empty()).then(|| OpenedRecord { name: "run 1 of runs".into(), labels, step });
    let mut engine = WalkEngine::new(walk, opened);
    let state = ScreenState::new(engine.scene());
    act(&mut Played { engine, state })
}
