//! Colours, and what stands for them where there are none.
//!
//! No meaning is in a colour alone: every message has its mark, every panel its title. With `NO_COLOR`
//! set to anything (<https://no-color.org>) only bold, dim, reversed and underlined text is left.

use ratatui::style::{Color, Modifier, Style};

use super::scene::MoveKind;
use super::state::MoveTone;

/// The styles of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// With the sixteen colours every terminal has, so that its own palette counts.
    Colour,
    /// Without colours.
    Plain,
}

impl Theme {
    /// Returns a style with this colour, if colours are wanted.
    fn colour(self, colour: Color) -> Style {
        match self {
            Self::Colour => Style::new().fg(colour),
            Self::Plain => Style::new(),
        }
    }

    /// Returns the style of a message, by the party that makes the move.
    pub fn kind_style(self, kind: MoveKind) -> Style {
        match kind {
            MoveKind::Input | MoveKind::Observed => self.colour(Color::Cyan).add_modifier(Modifier::BOLD),
            MoveKind::Output => self.colour(Color::Green).add_modifier(Modifier::BOLD),
            MoveKind::Silence => self.colour(Color::Magenta).add_modifier(Modifier::BOLD),
            MoveKind::Internal => Style::new().add_modifier(Modifier::BOLD),
        }
    }

    /// Returns the style of the outcome of a move.
    pub fn tone(self, tone: MoveTone) -> Style {
        match tone {
            MoveTone::Good => self.colour(Color::Green),
            MoveTone::Note => self.colour(Color::Yellow),
            MoveTone::Bad => self.colour(Color::Red).add_modifier(Modifier::BOLD),
        }
    }

    /// Names of locations.
    pub fn location(self) -> Style {
        self.colour(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// Returns the style of less important text.
    pub fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// The chosen line.
    pub fn chosen_style(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The frame of a panel.
    pub fn frame(self, has_focus: bool) -> Style {
        if has_focus { self.colour(Color::Cyan) } else { self.quiet() }
    }

    /// The title of a panel; the one with the focus is underlined too.
    pub fn title(self, has_focus: bool) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        if has_focus { style.add_modifier(Modifier::UNDERLINED) } else { style }
    }

    /// Keys in hints.
    pub fn key(self) -> Style {
        self.colour(Color::Cyan).add_modifier(Modifier::BOLD)
    }
}
