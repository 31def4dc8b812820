//! What a key does: a function of the screen and the key, with a question for the model as its result.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::editor::Editor;
use super::scene::Mode;
use super::state::{
    Ask, Focus, Form, Listing, Overlay, Prompt, Proposals, Purpose, State, Told, Tone, Witness,
};

/// Lines a page key moves by.
const PAGE: usize = 8;

/// Lines the help has; it scrolls no further.
pub const HELP_LINES: usize = super::keys::HELP.len();

/// Takes one key.
pub fn update(state: &mut State, key: KeyEvent) -> Option<Ask> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if is_interrupt(key) {
        return Some(Ask::Interrupt);
    }
    match std::mem::take(&mut state.overlay) {
        Overlay::None => panels(state, key),
        Overlay::Help(top) => {
            state.overlay = help(key, top);
            None
        }
        Overlay::Form(form) => fill(state, key, form),
        Overlay::Proposals(proposals) => propose(state, key, proposals),
        Overlay::Prompt(prompt) => type_line(state, key, prompt),
        Overlay::Witness(witness) => look(state, key, witness),
    }
}

/// Ctrl-C or Ctrl-D.
pub fn is_interrupt(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd'))
}

/// A key while nothing lies on top.
fn panels(state: &mut State, key: KeyEvent) -> Option<Ask> {
    match key.code {
        KeyCode::Char('q') => return Some(Ask::Quit),
        KeyCode::Char('?') | KeyCode::F(1) => state.overlay = Overlay::Help(0),
        KeyCode::Char('u') | KeyCode::Left | KeyCode::Backspace => return Some(Ask::Undo),
        KeyCode::Char('r') | KeyCode::Right => return Some(Ask::Redo),
        KeyCode::Char('<') => return Some(Ask::GoTo(0)),
        KeyCode::Char('>') => return Some(Ask::GoTo(state.n_steps() - 1)),
        KeyCode::Char('m') => return Some(Ask::ChangeMode),
        KeyCode::Char('w') => return Some(Ask::Witness),
        KeyCode::Char('s') if state.scene.mode == Mode::Concrete => return Some(Ask::Silence),
        KeyCode::Char('x') => toggle_refused(state),
        KeyCode::Char('i' | ':') => prompt(state, Purpose::Message),
        KeyCode::Char('d') => prompt(state, Purpose::Delay),
        KeyCode::Char('/') if state.focus == Focus::History => prompt(state, Purpose::Search),
        KeyCode::Char('/') => prompt(state, Purpose::Filter),
        KeyCode::Char('n') if state.focus == Focus::History => search(state),
        KeyCode::Esc => escape(state),
        KeyCode::Tab => state.focus = next_focus(state.focus),
        KeyCode::BackTab => state.focus = next_focus(next_focus(next_focus(state.focus))),
        KeyCode::Char(digit @ '1'..='9') => choose(state, digit as usize - '1' as usize),
        KeyCode::Enter if state.focus == Focus::History => return Some(Ask::GoTo(state.step)),
        KeyCode::Enter => return enter(state),
        KeyCode::Char(' ') => return chosen(state).map(|at| Ask::Take(at, Vec::new())),
        KeyCode::Char('p') => return chosen(state).map(|at| Ask::Propose(at, 0)),
        _ => scroll(state, key),
    }
    None
}

/// The chosen move, if it can come; the reason is told if not.
fn chosen(state: &mut State) -> Option<usize> {
    let (at, chosen) = state.chosen_move()?;
    if chosen.is_refused() {
        state.told = None;
        state.detail_top = 0;
        return None;
    }
    Some(at)
}

/// Gives the chosen move, after asking for values if it has fields.
fn enter(state: &mut State) -> Option<Ask> {
    let at = chosen(state)?;
    let n_fields = state.scene.moves[at].fields.len();
    if n_fields == 0 || state.scene.mode == Mode::Symbolic {
        return Some(Ask::Take(at, Vec::new()));
    }
    let texts = vec![Editor::default(); n_fields];
    state.overlay = Overlay::Form(Form { at, texts, field: 0, problem: None });
    None
}

fn choose(state: &mut State, position: usize) {
    if position < state.listed().len() {
        state.chosen = position;
        state.focus = Focus::Moves;
        state.told = None;
        state.detail_top = 0;
    }
}

fn toggle_refused(state: &mut State) {
    state.listing = match state.listing {
        Listing::Possible => Listing::All,
        Listing::All => Listing::Possible,
    };
    state.chosen = 0;
    state.told = None;
}

fn prompt(state: &mut State, purpose: Purpose) {
    let is_possible = match purpose {
        Purpose::Delay => state.scene.is_timed && state.scene.mode == Mode::Concrete,
        Purpose::Message => state.scene.mode == Mode::Concrete,
        Purpose::Filter | Purpose::Search => true,
    };
    if !is_possible {
        let why = match (purpose, state.scene.is_timed) {
            (Purpose::Delay, false) => "the model has no clocks, so time does not matter",
            _ => "messages and times are for the walk along messages; `m` goes there",
        };
        state.told = Some(Told::line(Tone::Note, why));
        return;
    }
    let line = if purpose == Purpose::Filter { Editor::from(&*state.filter) } else { Editor::default() };
    state.overlay = Overlay::Prompt(Prompt { purpose, line, problem: None });
}

/// Goes to the next step with the text looked for.
fn search(state: &mut State) {
    if !state.find_step() {
        state.focus = Focus::Moves;
        state.told = Some(Told::line(Tone::Note, format!("no step has “{}” in it", state.search)));
    }
}

/// Puts away, one after the other: what was told, the filter, the focus elsewhere.
fn escape(state: &mut State) {
    if state.told.take().is_none() && std::mem::take(&mut state.filter).is_empty() {
        state.focus = Focus::Moves;
    }
    state.detail_top = 0;
    state.chosen = state.chosen.min(state.listed().len().saturating_sub(1));
}

fn next_focus(focus: Focus) -> Focus {
    match focus {
        Focus::Moves => Focus::Belief,
        Focus::Belief => Focus::History,
        Focus::History => Focus::Detail,
        Focus::Detail => Focus::Moves,
    }
}

fn scroll(state: &mut State, key: KeyEvent) {
    match state.focus {
        Focus::Moves => {
            let before = state.chosen;
            state.chosen = moved(key, state.chosen, state.listed().len());
            if before != state.chosen {
                state.told = None;
                state.detail_top = 0;
            }
        }
        Focus::Belief => state.belief_top = moved(key, state.belief_top, state.n_belief_lines()),
        Focus::History => state.step = moved(key, state.step, state.n_steps()),
        Focus::Detail => state.detail_top = moved(key, state.detail_top, super::draw::detail_lines(state)),
    }
}

/// Where a key moves to from `at`, in a list of `n`.
fn moved(key: KeyEvent, at: usize, n: usize) -> usize {
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

fn help(key: KeyEvent, top: usize) -> Overlay {
    match key.code {
        KeyCode::Esc | KeyCode::Enter | KeyCode::Char('?' | 'q') | KeyCode::F(1) => Overlay::None,
        _ => Overlay::Help(moved(key, top, HELP_LINES)),
    }
}

/// A key while values are typed.
fn fill(state: &mut State, key: KeyEvent, mut form: Form) -> Option<Ask> {
    let last = form.texts.len().saturating_sub(1);
    let mut ask = None;
    match key.code {
        KeyCode::Esc => return None,
        KeyCode::Down | KeyCode::Tab => form.field = if form.field == last { 0 } else { form.field + 1 },
        KeyCode::Up | KeyCode::BackTab => form.field = form.field.checked_sub(1).unwrap_or(last),
        KeyCode::Enter => {
            let texts = form.texts.iter().map(|text| text.text().trim().to_owned()).collect();
            ask = Some(Ask::Take(form.at, texts));
        }
        KeyCode::F(2) => ask = Some(Ask::Propose(form.at, 0)),
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

/// A key while messages are proposed.
fn propose(state: &mut State, key: KeyEvent, mut proposals: Proposals) -> Option<Ask> {
    let ask = match key.code {
        KeyCode::Esc | KeyCode::Char('q') => return None,
        KeyCode::Enter | KeyCode::Char(' ') => {
            return proposals.labels.get(proposals.chosen).cloned().map(Ask::Give);
        }
        KeyCode::Char('p') => Some(Ask::Propose(proposals.at, proposals.round + 1)),
        KeyCode::Char(digit @ '1'..='9') => {
            proposals.chosen = (digit as usize - '1' as usize).min(proposals.labels.len().saturating_sub(1));
            None
        }
        _ => {
            proposals.chosen = moved(key, proposals.chosen, proposals.labels.len());
            None
        }
    };
    state.overlay = Overlay::Proposals(proposals);
    ask
}

/// A key while a line is typed.
fn type_line(state: &mut State, key: KeyEvent, mut prompt: Prompt) -> Option<Ask> {
    match (key.code, prompt.purpose) {
        (KeyCode::Esc, Purpose::Filter) => {
            state.filter.clear();
            state.chosen = 0;
            return None;
        }
        (KeyCode::Esc, _) | (KeyCode::Enter, Purpose::Filter) => return None,
        (KeyCode::Enter, purpose) => {
            let text = prompt.line.text().trim().to_owned();
            if text.is_empty() {
                return None;
            }
            if purpose == Purpose::Search {
                state.search = text;
                search(state);
                return None;
            }
            state.overlay = Overlay::Prompt(prompt);
            return Some(if purpose == Purpose::Delay { Ask::Wait(text) } else { Ask::Give(text) });
        }
        _ => {
            if prompt.line.key(key) {
                prompt.problem = None;
            }
        }
    }
    if prompt.purpose == Purpose::Filter {
        state.filter = prompt.line.text();
        state.chosen = 0;
        state.told = None;
    }
    state.overlay = Overlay::Prompt(prompt);
    None
}

/// A key while a witness is shown.
fn look(state: &mut State, key: KeyEvent, mut witness: Witness) -> Option<Ask> {
    match key.code {
        KeyCode::Esc | KeyCode::Char('q' | 'w') => return None,
        KeyCode::Enter if witness.is_walk => return Some(Ask::FollowWitness),
        KeyCode::Enter => return None,
        _ => witness.top = moved(key, witness.top, witness.lines.len()),
    }
    state.overlay = Overlay::Witness(witness);
    None
}
