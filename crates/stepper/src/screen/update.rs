//! The effect of a key: a function of the screen and the key, whose result is a query to the model, if any.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::draw;
use super::editor::Editor;
use super::scene::WalkMode;
use super::state::{
    Focus, LinePurpose, ModelQuery, MoveForm, MoveListing, MoveReport, MoveTone, Overlay, PathWitness,
    Prompt, Proposals, ScreenState,
};

/// Lines a page key moves by. Chosen by feel.
const PAGE: usize = 8;

/// Takes one key.
pub fn handle_key(state: &mut ScreenState, key: KeyEvent) -> Option<ModelQuery> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if is_interrupt(key) {
        return Some(ModelQuery::Interrupt);
    }
    match std::mem::take(&mut state.overlay) {
        Overlay::None => panels(state, key),
        Overlay::Help(top) => {
            state.overlay = scroll_help(state, key, top);
            None
        }
        Overlay::Form(form) => edit_form(state, key, form),
        Overlay::Proposals(proposals) => propose(state, key, proposals),
        Overlay::Prompt(prompt) => type_line(state, key, prompt),
        Overlay::Witness(witness) => key_at_witness(state, key, witness),
    }
}

/// Ctrl-C or Ctrl-D.
pub fn is_interrupt(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd'))
}

/// A key while nothing lies on top.
fn panels(state: &mut ScreenState, key: KeyEvent) -> Option<ModelQuery> {
    match key.code {
        KeyCode::Char('q') => return Some(ModelQuery::Quit),
        KeyCode::Char('?') | KeyCode::F(1) => state.overlay = Overlay::Help(0),
        KeyCode::Char('u') | KeyCode::Left | KeyCode::Backspace => return Some(ModelQuery::Undo),
        KeyCode::Char('r') | KeyCode::Right => return Some(ModelQuery::Redo),
        KeyCode::Char('<') => return Some(ModelQuery::GoTo(0)),
        KeyCode::Char('>') => return Some(ModelQuery::GoTo(state.n_steps() - 1)),
        KeyCode::Char('m') => return Some(ModelQuery::ChangeMode),
        KeyCode::Char('w') => return Some(ModelQuery::Witness),
        KeyCode::Char('s') if state.scene.mode == WalkMode::Concrete => return Some(ModelQuery::Silence),
        KeyCode::Char('x') => toggle_refused(state),
        KeyCode::Char('i' | ':') => open_prompt(state, LinePurpose::Message),
        KeyCode::Char('d') => open_prompt(state, LinePurpose::Delay),
        KeyCode::Char('/') if state.focus == Focus::History => open_prompt(state, LinePurpose::Search),
        KeyCode::Char('/') => open_prompt(state, LinePurpose::Filter),
        KeyCode::Char('n') if state.focus == Focus::History => find_next(state),
        KeyCode::Esc => dismiss_one(state),
        KeyCode::Tab => state.focus = next_focus(state.focus),
        KeyCode::BackTab => state.focus = next_focus(next_focus(next_focus(state.focus))),
        KeyCode::Char(digit @ '1'..='9') => choose_move(state, digit as usize - '1' as usize),
        KeyCode::Enter if state.focus == Focus::History => return Some(ModelQuery::GoTo(state.step)),
        KeyCode::Enter => return enter(state),
        KeyCode::Char(' ') => return chosen_position(state).map(|at| ModelQuery::Take(at, Vec::new())),
        KeyCode::Char('p') => return chosen_position(state).map(|at| ModelQuery::Propose(at, 0)),
        _ => scroll_panel(state, key),
    }
    None
}

/// Returns the position of the chosen move, if it is possible; else the reason is shown.
fn chosen_position(state: &mut ScreenState) -> Option<usize> {
    let (at, chosen) = state.chosen_move()?;
    if chosen.is_refused() {
        state.told = None;
        state.detail_top = 0;
        return None;
    }
    Some(at)
}

/// Gives the chosen move, after asking for values if it has fields.
fn enter(state: &mut ScreenState) -> Option<ModelQuery> {
    let at = chosen_position(state)?;
    let n_fields = state.scene.moves[at].fields.len();
    if n_fields == 0 || state.scene.mode == WalkMode::Symbolic {
        return Some(ModelQuery::Take(at, Vec::new()));
    }
    let texts = vec![Editor::default(); n_fields];
    state.overlay = Overlay::Form(MoveForm { at, texts, field: 0, problem: None });
    None
}

/// Chooses a listed move.
fn choose_move(state: &mut ScreenState, position: usize) {
    if position < state.listed_positions().len() {
        state.chosen = position;
        state.focus = Focus::Moves;
        state.told = None;
        state.detail_top = 0;
    }
}

fn toggle_refused(state: &mut ScreenState) {
    state.listing = match state.listing {
        MoveListing::Possible => MoveListing::All,
        MoveListing::All => MoveListing::Possible,
    };
    state.chosen = 0;
    state.told = None;
}

/// Opens the line to type into, or says why it makes no sense now.
fn open_prompt(state: &mut ScreenState, purpose: LinePurpose) {
    let is_possible = match purpose {
        LinePurpose::Delay => state.scene.is_timed && state.scene.mode == WalkMode::Concrete,
        LinePurpose::Message => state.scene.mode == WalkMode::Concrete,
        LinePurpose::Filter | LinePurpose::Search => true,
    };
    if !is_possible {
        let why = match (purpose, state.scene.is_timed) {
            (LinePurpose::Delay, false) => "the model has no clocks, so time does not matter",
            _ => "messages and times need the mode with messages; `m` changes the mode",
        };
        state.told = Some(MoveReport::line(MoveTone::Note, why));
        return;
    }
    let line = if purpose == LinePurpose::Filter { Editor::from(&*state.filter) } else { Editor::default() };
    state.overlay = Overlay::Prompt(Prompt { purpose, line, problem: None });
}

/// Goes to the next step with the text looked for.
fn find_next(state: &mut ScreenState) {
    if !state.find_step() {
        state.focus = Focus::Moves;
        state.told = Some(MoveReport::line(MoveTone::Note, format!("no step has “{}” in it", state.search)));
    }
}

/// Dismisses one thing at a time: the outcome of the last move, the filter, the focus elsewhere.
fn dismiss_one(state: &mut ScreenState) {
    if state.told.take().is_none() && std::mem::take(&mut state.filter).is_empty() {
        state.focus = Focus::Moves;
    }
    state.detail_top = 0;
    state.chosen = state.chosen.min(state.listed_positions().len().saturating_sub(1));
}

fn next_focus(focus: Focus) -> Focus {
    match focus {
        Focus::Moves => Focus::Belief,
        Focus::Belief => Focus::History,
        Focus::History => Focus::Detail,
        Focus::Detail => Focus::Moves,
    }
}

/// Moves in the panel that has the focus.
fn scroll_panel(state: &mut ScreenState, key: KeyEvent) {
    match state.focus {
        Focus::Moves => {
            let before = state.chosen;
            state.chosen = move_position(key, state.chosen, state.listed_positions().len());
            if before != state.chosen {
                state.told = None;
                state.detail_top = 0;
            }
        }
        Focus::Belief => state.belief_top = move_position(key, state.belief_top, draw::belief_rows(state)),
        Focus::History => state.step = move_position(key, state.step, state.n_steps()),
        Focus::Detail => state.detail_top = move_position(key, state.detail_top, draw::detail_rows(state)),
    }
}

/// Returns the position a key moves to from `at`, in a list of `n`.
fn move_position(key: KeyEvent, at: usize, n: usize) -> usize {
    let last = n.saturating_sub(1);
    let to = match key.code {
        KeyCode::Up | KeyCode::Char('k') => at.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => at + 1,
        KeyCode::PageUp => at.saturating_sub(PAGE),
        KeyCode::PageDown => at + PAGE,
        KeyCode::Home => 0,
        KeyCode::End => last,
        _ => at,
    };
    to.min(last)
}

/// Scrolls the help or closes it.
fn scroll_help(state: &ScreenState, key: KeyEvent, top: usize) -> Overlay {
    match key.code {
        KeyCode::Esc | KeyCode::Enter | KeyCode::Char('?' | 'q') | KeyCode::F(1) => Overlay::None,
        _ => Overlay::Help(move_position(key, top, draw::overlay_rows(state, &Overlay::Help(top)))),
    }
}

/// A key while values are typed.
fn edit_form(state: &mut ScreenState, key: KeyEvent, mut form: MoveForm) -> Option<ModelQuery> {
    let last = form.texts.len().saturating_sub(1);
    let mut ask = None;
    match key.code {
        KeyCode::Esc => return None,
        KeyCode::Down | KeyCode::Tab => form.field = if form.field == last { 0 } else { form.field + 1 },
        KeyCode::Up | KeyCode::BackTab => form.field = form.field.checked_sub(1).unwrap_or(last),
        KeyCode::Enter => {
            let texts = form.texts.iter().map(|text| text.text().trim().to_owned()).collect();
            ask = Some(ModelQuery::Take(form.at, texts));
        }
        KeyCode::F(2) => ask = Some(ModelQuery::Propose(form.at, 0)),
        _ => {
            if let Some(text) = form.texts.get_mut(form.field)
                && text.key(key)
            {
                form.problem = None;
            }
        }
    }
    state.overlay = Overlay::Form(form);
    ask
}

/// Handles a key while messages are proposed; returns the query that it causes, if any.
fn propose(state: &mut ScreenState, key: KeyEvent, mut proposals: Proposals) -> Option<ModelQuery> {
    let ask = match key.code {
        KeyCode::Esc | KeyCode::Char('q') => return None,
        KeyCode::Enter | KeyCode::Char(' ') => {
            return proposals.labels.get(proposals.chosen).cloned().map(ModelQuery::Give);
        }
        KeyCode::Char('p') => Some(ModelQuery::Propose(proposals.at, proposals.round + 1)),
        KeyCode::Char(digit @ '1'..='9') => {
            proposals.chosen = (digit as usize - '1' as usize).min(proposals.labels.len().saturating_sub(1));
            None
        }
        _ => {
            proposals.chosen = move_position(key, proposals.chosen, proposals.labels.len());
            None
        }
    };
    state.overlay = Overlay::Proposals(proposals);
    ask
}

/// A key while a line is typed.
fn type_line(state: &mut ScreenState, key: KeyEvent, mut prompt: Prompt) -> Option<ModelQuery> {
    match (key.code, prompt.purpose) {
        (KeyCode::Esc, LinePurpose::Filter) => {
            state.filter.clear();
            state.chosen = 0;
            return None;
        }
        (KeyCode::Esc, _) | (KeyCode::Enter, LinePurpose::Filter) => return None,
        (KeyCode::Enter, purpose) => {
            let text = prompt.line.text().trim().to_owned();
            if text.is_empty() {
                return None;
            }
            if purpose == LinePurpose::Search {
                state.search = text;
                find_next(state);
                return None;
            }
            state.overlay = Overlay::Prompt(prompt);
            return Some(if purpose == LinePurpose::Delay {
                ModelQuery::Wait(text)
            } else {
                ModelQuery::Give(text)
            });
        }
        _ => {
            if prompt.line.key(key) {
                prompt.problem = None;
            }
        }
    }
    if prompt.purpose == LinePurpose::Filter {
        state.filter = prompt.line.text();
        state.chosen = 0;
        state.told = None;
    }
    state.overlay = Overlay::Prompt(prompt);
    None
}

/// A key while a witness is shown.
fn key_at_witness(state: &mut ScreenState, key: KeyEvent, witness: PathWitness) -> Option<ModelQuery> {
    match key.code {
        KeyCode::Esc | KeyCode::Char('q' | 'w') => return None,
        KeyCode::Enter if witness.is_walk => return Some(ModelQuery::FollowWitness),
        KeyCode::Enter => return None,
        _ => (),
    }
    let shown = Overlay::Witness(witness.clone());
    let top = move_position(key, witness.top, draw::overlay_rows(state, &shown));
    state.overlay = Overlay::Witness(PathWitness { top, ..witness });
    None
}
