//! The keys, in words: the hints of every screen, and the help.

use super::scene::WalkMode;
use super::state::{Focus, LinePurpose, Overlay, ScreenState};

/// A key and its effect, in few words.
pub type Hint = (&'static str, &'static str);

/// All keys, as the help shows them; a line without a key is a heading or a remark.
pub const HELP: &[Hint] = &[
    ("", "Moves"),
    ("↑ ↓ 1-9", "choose a move"),
    ("Enter", "send or observe it; asks for values if it has fields"),
    ("Space", "send it with values that the solver chooses"),
    ("p", "several proposals with different values"),
    ("i", "type any message, as in inX(p: 3)"),
    ("s", "observe silence (δ)"),
    ("d", "let time pass, as in 1.5s or 600ms (models with clocks)"),
    ("x", "also list moves that are impossible now, with the reason"),
    ("/", "list only moves with a text in them"),
    ("", ""),
    ("", "History"),
    ("u ←", "undo: one step back"),
    ("r →", "redo, or the next step of the recorded run"),
    ("< >", "to the start, to the end"),
    ("Tab Enter", "in the history: to the chosen step"),
    ("Tab / n", "in the history: search for a text, search again"),
    ("", ""),
    ("", "Symbolic"),
    ("m", "step along transitions with formulas for values, or back"),
    ("w", "values that satisfy the path condition"),
    ("", ""),
    ("", "Screen"),
    ("Tab", "the next panel; arrows and page keys scroll in it"),
    ("Esc", "close messages, the filter, this help"),
    ("q Ctrl-C", "quit"),
    ("", ""),
    ("", "Marks"),
    ("?", "input: the tester sends it, or another sender does"),
    ("!", "output: the system sends it"),
    ("δ", "silence: the system waits for an input"),
    ("τ", "internal: a step that cannot be seen"),
    ("~", "the solver did not decide whether it is possible"),
    ("✗", "it is impossible now"),
];

/// The keys that are hinted at where there is little room.
pub const MAIN: &[&str] = &["Enter", "u", "r", "Tab", "Esc", "?", "q"];

/// Returns the keys of this screen, for its hints.
pub fn hints(state: &ScreenState) -> Vec<Hint> {
    match &state.overlay {
        Overlay::None => panels(state),
        Overlay::Help(_) => vec![("↑ ↓", "scroll"), ("Esc", "back")],
        Overlay::Form(_) => {
            vec![
                ("↑ ↓", "field"),
                ("Enter", "send; the solver fills in empty fields"),
                ("F2", "proposals"),
                ("Esc", "back"),
            ]
        }
        Overlay::Proposals(_) => {
            vec![("↑ ↓ 1-9", "choose"), ("Enter", "give"), ("p", "others"), ("Esc", "back")]
        }
        Overlay::Prompt(prompt) => match prompt.purpose {
            LinePurpose::Filter => vec![("Enter", "keep"), ("Esc", "all moves")],
            LinePurpose::Search => vec![("Enter", "look"), ("Esc", "back")],
            LinePurpose::Message | LinePurpose::Delay => {
                vec![("Enter", "give"), ("Ctrl-U", "empty"), ("Esc", "back")]
            }
        },
        Overlay::Witness(witness) if witness.is_walk => {
            vec![("↑ ↓", "scroll"), ("Enter", "step through it, message by message"), ("Esc", "back")]
        }
        Overlay::Witness(_) => vec![("↑ ↓", "scroll"), ("Esc", "back")],
    }
}

/// Returns the keys of the panel that has the focus.
fn panels(state: &ScreenState) -> Vec<Hint> {
    let mut hints: Vec<Hint> = match (state.focus, state.scene.mode) {
        (Focus::History, _) => vec![("↑ ↓", "choose"), ("Enter", "go there"), ("n", "next match")],
        (Focus::Belief | Focus::Detail, _) => vec![("↑ ↓", "scroll")],
        (Focus::Moves, WalkMode::Concrete) => {
            vec![("↑ ↓", "choose"), ("Enter", "give"), ("Space", "any values"), ("p", "proposals")]
        }
        (Focus::Moves, WalkMode::Symbolic) => vec![("↑ ↓", "choose"), ("Enter", "take")],
    };
    hints.push(("u", "undo"));
    hints.push(("r", if state.scene.run.is_some() { "next step" } else { "redo" }));
    if state.scene.mode == WalkMode::Concrete {
        hints.extend([("i", "type"), ("s", "silence")]);
    }
    if state.scene.is_timed && state.scene.mode == WalkMode::Concrete {
        hints.push(("d", "delay"));
    }
    hints.push(("x", "why not"));
    hints.push(("/", if state.focus == Focus::History { "search" } else { "filter" }));
    hints.push(("m", if state.scene.mode == WalkMode::Concrete { "symbolic" } else { "concrete" }));
    if state.scene.mode == WalkMode::Symbolic
        || state.scene.places.iter().any(|place| !place.facts.is_empty())
    {
        hints.push(("w", "witness"));
    }
    hints.extend([("Tab", "panel"), ("?", "help"), ("q", "quit")]);
    hints
}
