//! The stepper as a screen of panels.
//!
//! `draw` is a function of the `ScreenState`, `update` takes one key to the next state and perhaps a
//! question for the model, which the `WalkEngine` answers. Only this room touches the terminal.
//!
//! *Promises.* The terminal is put back as it was: at the end, on a panic, on Ctrl-C and when the program
//! is asked to end.

mod draw;
mod editor;
mod engine;
mod keys;
mod moves;
mod scene;
mod state;
#[cfg(test)]
mod tests;
mod theme;
mod update;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};

use ioxide_explorer::walk::ModelWalk;
use ratatui::DefaultTerminal;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;

use self::draw::draw_screen;
use self::engine::WalkEngine;
use self::state::{ModelQuery, QueryWork, ScreenState};
use self::theme::Theme;
use self::update::handle_key;
use crate::{OpenedRecord, ProgramEnd, StepEnd, StepError};

/// Walks on the terminal until the user quits.
///
/// # Errors
/// If the terminal cannot be used.
pub fn step_on_screen(
    walk: ModelWalk<'_>,
    opened: Option<OpenedRecord>,
    program: ProgramEnd,
) -> Result<StepEnd, StepError> {
    let mut engine = WalkEngine::new(walk, opened);
    let mut state = ScreenState::new(engine.scene());
    // It also puts the terminal back on a panic.
    let mut terminal = ratatui::try_init().map_err(StepError::NoTerminal)?;
    restore_when_ended(program);
    let ended = serve_screen(&mut terminal, &mut engine, &mut state, program);
    ratatui::restore();
    ended.map_err(StepError::BrokenTerminal)
}

/// Draws the screen and answers keys until the user quits.
fn serve_screen(
    terminal: &mut DefaultTerminal,
    engine: &mut WalkEngine<'_>,
    state: &mut ScreenState,
    program: ProgramEnd,
) -> io::Result<StepEnd> {
    let theme = choose_theme();
    let events = read_events(program);
    loop {
        state.width = terminal.draw(|frame| draw_screen(frame, state, theme))?.area.width;
        let Ok(event) = events.recv() else { return Ok(StepEnd::Quit) };
        // Anything but a key, such as a new size, is answered by drawing again.
        let Event::Key(key) = event? else { continue };
        match handle_key(state, key) {
            None => (),
            Some(ModelQuery::Quit) => return Ok(StepEnd::Quit),
            Some(ModelQuery::Interrupt) => return Ok(StepEnd::Interrupted),
            Some(ask) => {
                state.work = QueryWork::Asked;
                terminal.draw(|frame| draw_screen(frame, state, theme))?;
                BUSY.store(true, Ordering::Relaxed);
                let reply = engine.answer_query(ask);
                BUSY.store(false, Ordering::Relaxed);
                state.absorb(reply);
            }
        }
    }
}

/// True while a question to the model is answered and keys wait.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Returns a channel of keys and sizes. Ctrl-C ends the program at once while the model answers a question.
fn read_events(program: ProgramEnd) -> Receiver<io::Result<Event>> {
    let (sender, events) = mpsc::channel();
    std::thread::spawn(move || {
        loop {
            let event = event::read();
            if BUSY.load(Ordering::Relaxed) && event.as_ref().is_ok_and(is_interrupt) {
                end_now(program);
            }
            let is_broken = event.is_err();
            if sender.send(event).is_err() || is_broken {
                return;
            }
        }
    });
    events
}

fn is_interrupt(event: &Event) -> bool {
    matches!(event, Event::Key(key) if update::is_interrupt(*key))
}

/// Returns the plain theme if `NO_COLOR` is not empty or `TERM` is `dumb`, else the one with colours.
fn choose_theme() -> Theme {
    let has_none = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
    if has_none || is_dumb { Theme::Plain } else { Theme::Colour }
}

/// In raw mode Ctrl-C is a key; a signal from elsewhere still ends the program, in good order.
fn restore_when_ended(program: ProgramEnd) {
    (program.on_request)(Box::new(move || end_now(program)));
}

/// Puts the terminal back and ends the program.
fn end_now(program: ProgramEnd) -> ! {
    ratatui::restore();
    // The terminal shows its cursor again when it is dropped, which does not happen here.
    let _ = execute!(io::stdout(), Show);
    (program.end_at_once)()
}
