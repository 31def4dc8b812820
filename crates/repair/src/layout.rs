//! Places between the parts of a transition: where a guard, an update or another transition goes.

use ioxide_lang::ast::{ItemKind, StateDecl, TransitionDecl};
use ioxide_lang::lexeme::{LexemeKind, TextLexeme, lexemes};

use crate::scope::ModelScope;

impl ModelScope<'_> {
    /// Returns the lexemes of the transition, without comments.
    fn lexemes_of(&self, transition: &TransitionDecl) -> Vec<TextLexeme> {
        let (start, end) = (transition.span.start as usize, transition.span.end as usize);
        let moved = |lexeme: TextLexeme| {
            let shift = transition.span.start;
            TextLexeme { start: lexeme.start + shift, end: lexeme.end + shift, ..lexeme }
        };
        let found = lexemes(self.text.get(start..end).unwrap_or("")).into_iter().map(moved);
        found.filter(|lexeme| !matches!(lexeme.kind, LexemeKind::Comment | LexemeKind::Doc)).collect()
    }

    /// Returns the end of the message with its pins: a guard goes there.
    pub(crate) fn head_end(&self, transition: &TransitionDecl) -> usize {
        let Some(gate) = &transition.gate else { return transition.verb_span.end as usize };
        let mut behind =
            self.lexemes_of(transition).into_iter().filter(|it| it.start >= gate.span.end).peekable();
        let text = |it: &TextLexeme| self.text.get(it.start as usize..it.end as usize).unwrap_or("");
        if behind.peek().map(text) != Some("(") {
            return gate.span.end as usize;
        }
        let mut depth = 0_usize;
        for lexeme in behind {
            match text(&lexeme) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => (),
            }
            if depth == 0 {
                return lexeme.end as usize;
            }
        }
        gate.span.end as usize
    }

    /// Returns the end of the guard, or of what stands in its place: updates go behind it.
    pub(crate) fn guard_end(&self, transition: &TransitionDecl) -> usize {
        let guard = transition.guard.as_ref().map(|guard| guard.span.end as usize);
        let binding = transition.lets.last().map(|binding| binding.value.span.end as usize);
        guard.or(binding).unwrap_or_else(|| self.head_end(transition))
    }

    /// Returns the place of the updates with their braces and the space in front of them.
    pub(crate) fn update_block(&self, transition: &TransitionDecl) -> (usize, usize) {
        let start = self.guard_end(transition);
        let last = transition.updates.last().map_or(start, |update| update.span.end as usize);
        let close = self.lexemes_of(transition).into_iter().find(|lexeme| {
            lexeme.start as usize >= last
                && self.text.get(lexeme.start as usize..lexeme.end as usize) == Some("}")
        });
        (start, close.map_or(last, |lexeme| lexeme.end as usize))
    }

    /// Returns the place of a transition with its line, if it has lines of its own.
    pub(crate) fn line_of(&self, transition: &TransitionDecl) -> (usize, usize) {
        let attributes = transition.meta.attrs.first().map(|attr| attr.span.start);
        let start = attributes.unwrap_or(transition.span.start).min(transition.span.start) as usize;
        let end = transition.span.end as usize;
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = self.text[end..].find('\n').map_or(self.text.len(), |at| end + at + 1);
        let is_alone =
            self.text[line_start..start].trim().is_empty() && self.text[end..line_end].trim().is_empty();
        if is_alone { (line_start, line_end) } else { (start, end) }
    }

    /// Returns the insertion of a transition at the end of a state.
    pub(crate) fn insertion_at(&self, state: &StateDecl) -> Option<(usize, String)> {
        match state.transitions.last() {
            Some(last) => {
                let end = last.span.end as usize;
                let line_start = self.text[..last.span.start as usize].rfind('\n').map_or(0, |at| at + 1);
                let indent: String =
                    self.text[line_start..].chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
                // A comment behind the last transition stays with it.
                let rest = self.text[end..].split('\n').next().unwrap_or("");
                let at = if rest.trim_start().starts_with("//") { end + rest.trim_end().len() } else { end };
                Some((at, format!("\n{indent}")))
            }
            None => {
                let from = state.name.span.end as usize;
                let open = self.text.get(from..)?.find('{')? + from + 1;
                Some((open, " ".to_owned()))
            }
        }
    }

    /// Returns the value that a variable has at the start, as it is written.
    pub(crate) fn initial_of(&self, name: &str) -> Option<String> {
        let declared = self.model.items.iter().find_map(|item| match &item.kind {
            ItemKind::Var(decl) if decl.name.text == name => decl.init.as_ref(),
            _ => None,
        });
        declared.map(|init| self.slice(init.span).to_owned())
    }
}
