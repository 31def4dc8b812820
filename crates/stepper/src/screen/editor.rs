//! One line of text that is being typed.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The greatest number of characters of a line. Chosen by feel: nobody types longer ones, and a paste by mistake is
/// cut.
const MAX_CHARS: usize = 4_000;

/// A text and a cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Editor {
    chars: Vec<char>,
    cursor: usize,
}

impl Editor {
    /// Returns the text typed so far.
    pub fn text(&self) -> String {
        self.chars.iter().collect()
    }

    /// The text before the cursor, the character under it, and the rest.
    pub fn parts(&self) -> (String, String, String) {
        let part = |from: usize, to: usize| self.chars[from.min(self.chars.len())..to].iter().collect();
        let after = (self.cursor + 1).min(self.chars.len());
        (part(0, self.cursor), part(self.cursor, after), part(after, self.chars.len()))
    }

    /// Takes a key; returns whether it was one that edits.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if is_control => *self = Self::default(),
            KeyCode::Char(_) if is_control || key.modifiers.contains(KeyModifiers::ALT) => return false,
            KeyCode::Char(c) => self.insert(c),
            KeyCode::Backspace => self.delete_before(),
            KeyCode::Delete if self.cursor < self.chars.len() => drop(self.chars.remove(self.cursor)),
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(self.chars.len()),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.chars.len(),
            _ => return false,
        }
        true
    }

    /// Inserts a character at the cursor; control characters and text beyond the limit are dropped.
    fn insert(&mut self, c: char) {
        if self.chars.len() < MAX_CHARS && !c.is_control() {
            self.chars.insert(self.cursor, c);
            self.cursor += 1;
        }
    }

    fn delete_before(&mut self) {
        if self.cursor > 0 {
            self.cursor -= 1;
            self.chars.remove(self.cursor);
        }
    }
}

impl From<&str> for Editor {
    /// The text with the cursor behind it.
    fn from(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        Self { cursor: chars.len(), chars }
    }
}
