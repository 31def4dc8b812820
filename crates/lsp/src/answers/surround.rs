//! The syntactic context of a cursor, determined from the lexemes before it alone, so that it works in a half-written
//! line.

use ioxide_lang::lexeme::{LexemeKind, TextLexeme};

use crate::analysis::TextAnalysis;
use crate::index::expr::{functions_of, item_of, result_of};
use crate::index::{Definition, DefinitionId, DefinitionKind, ValueType};

/// The block a cursor is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorBlock {
    /// Outside of all blocks.
    Top,
    /// `model M { ... }`.
    Model,
    /// `state s { ... }` or `any { ... }` of a model.
    State,
    /// `purpose p { ... }`.
    Observer,
    /// `state s { ... }` of an observer.
    ObserverState,
    /// `test "name" { ... }`.
    Test,
    /// `system S { ... }`.
    System,
    /// The body of an `enum` or `record`.
    Data,
    /// The updates of a transition.
    Updates,
    /// The cases of a `match`.
    Cases,
    /// The members of a set or map.
    Members,
}

/// A bracket that is open at the cursor.
#[derive(Clone, Debug)]
struct OpenBracket {
    sign: char,
    block: Option<CursorBlock>,
    /// Its position among the lexemes.
    at: usize,
}

/// The syntactic context of a cursor.
#[derive(Clone, Debug)]
pub struct CursorPlace<'a> {
    analysis: &'a TextAnalysis,
    /// The lexemes before the cursor, without the word being typed.
    pub pieces: Vec<TextLexeme>,
    /// The word being typed; empty if there is none.
    pub typed: String,
    /// True if a line break lies between the last lexeme and the word.
    pub fresh_line: bool,
    open: Vec<OpenBracket>,
    offset: usize,
}

/// A call around the cursor: `name(first, second|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorCall {
    /// The name of the function, message, record or variant.
    pub callee: String,
    /// The position of the name among the lexemes.
    pub at: usize,
    /// The number of commas between the bracket and the cursor.
    pub n_before: usize,
    /// The fields that are already named.
    pub given: Vec<String>,
}

impl<'a> CursorPlace<'a> {
    /// Returns the context of the cursor at `offset`.
    #[must_use]
    pub fn new(analysis: &'a TextAnalysis, offset: usize) -> Self {
        let (pieces, typed) = analysis.lexemes_before(offset);
        let end = pieces.last().map_or(0, |last| last.end as usize);
        let gap = analysis.text.as_str().get(end..offset.saturating_sub(typed.len())).unwrap_or("");
        let fresh_line = gap.contains('\n');
        let mut place = Self { analysis, pieces, typed, fresh_line, open: Vec::new(), offset };
        place.open = place.open_brackets();
        place
    }

    /// Returns the characters of the lexeme `back` steps before the cursor, 0 being the last; empty if there is none.
    #[must_use]
    pub fn lexeme_back(&self, back: usize) -> &str {
        let at = self.pieces.len().checked_sub(back + 1);
        at.map_or("", |at| self.lexeme_at(at))
    }

    /// Returns the characters of the lexeme at `at`; empty if there is none.
    #[must_use]
    pub fn lexeme_at(&self, at: usize) -> &'a str {
        self.pieces.get(at).map_or("", |piece| self.analysis.lexeme_text(piece))
    }

    fn open_brackets(&self) -> Vec<OpenBracket> {
        let mut open: Vec<OpenBracket> = Vec::new();
        for at in 0..self.pieces.len() {
            if self.pieces[at].kind != LexemeKind::Sign {
                continue;
            }
            match self.lexeme_at(at) {
                "{" => {
                    let block = Some(self.block_opened(at, &open));
                    open.push(OpenBracket { sign: '{', block, at });
                }
                "(" => open.push(OpenBracket { sign: '(', block: None, at }),
                "[" => open.push(OpenBracket { sign: '[', block: None, at }),
                closing @ ("}" | ")" | "]") => close_bracket(&mut open, closing),
                _ => {}
            }
        }
        open
    }

    /// Returns the block that the brace at `at` opens.
    fn block_opened(&self, at: usize, open: &[OpenBracket]) -> CursorBlock {
        let back = |n: usize| at.checked_sub(n).map_or("", |at| self.lexeme_at(at));
        let outer = open.iter().rev().find_map(|bracket| bracket.block).unwrap_or(CursorBlock::Top);
        match (back(2), back(1)) {
            ("model", _) if outer == CursorBlock::Top => CursorBlock::Model,
            ("system", _) if outer == CursorBlock::Top => CursorBlock::System,
            ("state", _) | ("{" | "}", "state") if outer == CursorBlock::Observer => {
                CursorBlock::ObserverState
            }
            ("state", _) => CursorBlock::State,
            (_, "any") => CursorBlock::State,
            ("purpose", _) => CursorBlock::Observer,
            ("test", _) => CursorBlock::Test,
            ("enum" | "record", _) => CursorBlock::Data,
            _ => self.inner_block(at, outer, open),
        }
    }

    /// Returns the block that a brace within a transition or an expression opens.
    fn inner_block(&self, at: usize, outer: CursorBlock, open: &[OpenBracket]) -> CursorBlock {
        let from = open.last().map_or(0, |bracket| bracket.at);
        let matches = (from..at).filter(|&at| self.lexeme_at(at) == "match").count();
        let cases = (from..at).filter(|&at| self.lexeme_at(at) == "{").count();
        let follows_operand = at.checked_sub(1).is_some_and(|last| self.ends_operand(last));
        if matches > cases && follows_operand {
            return CursorBlock::Cases;
        }
        let in_transition =
            matches!(outer, CursorBlock::State | CursorBlock::ObserverState | CursorBlock::Model);
        let is_bare = open.last().is_none_or(|bracket| bracket.sign == '{');
        if in_transition && is_bare && follows_operand { CursorBlock::Updates } else { CursorBlock::Members }
    }

    /// Returns whether the lexeme at `at` can end an operand.
    fn ends_operand(&self, at: usize) -> bool {
        match self.pieces[at].kind {
            LexemeKind::Name | LexemeKind::Number | LexemeKind::Text => true,
            LexemeKind::Reserved => matches!(self.lexeme_at(at), "true" | "false" | "none"),
            LexemeKind::Sign => matches!(self.lexeme_at(at), ")" | "]" | "}" | "?"),
            _ => false,
        }
    }

    /// Returns whether an operand must follow: the last lexeme is an operator, an opening bracket or a word like
    /// `when`.
    #[must_use]
    pub fn wants_operand(&self) -> bool {
        self.pieces.len().checked_sub(1).is_some_and(|last| !self.ends_operand(last))
    }

    /// Returns the innermost block.
    #[must_use]
    pub fn block(&self) -> CursorBlock {
        self.open.iter().rev().find_map(|bracket| bracket.block).unwrap_or(CursorBlock::Top)
    }

    /// Returns the innermost block that holds items: not updates, cases or members.
    #[must_use]
    pub fn outer_block(&self) -> CursorBlock {
        let is_outer = |block: &CursorBlock| {
            !matches!(block, CursorBlock::Updates | CursorBlock::Cases | CursorBlock::Members)
        };
        self.open.iter().rev().filter_map(|bracket| bracket.block).find(is_outer).unwrap_or(CursorBlock::Top)
    }

    /// Returns whether the innermost open bracket is a round or square one.
    #[must_use]
    pub fn is_in_brackets(&self) -> bool {
        self.open.last().is_some_and(|bracket| bracket.sign != '{')
    }

    /// Returns the position of the first lexeme of the item that the cursor is in.
    #[must_use]
    pub fn item_start(&self) -> usize {
        let is_outer = |bracket: &&OpenBracket| {
            bracket.block.is_some_and(|block| {
                !matches!(block, CursorBlock::Updates | CursorBlock::Cases | CursorBlock::Members)
            })
        };
        let from = self.open.iter().rev().find(is_outer).map_or(0, |bracket| bracket.at + 1);
        let mut depth = 0_usize;
        let mut start = from;
        for at in from..self.pieces.len() {
            let piece = &self.pieces[at];
            let begins = matches!(piece.kind, LexemeKind::Name) || self.lexeme_at(at) == "@";
            if depth == 0 && piece.first_on_line && begins {
                start = at;
            }
            match self.lexeme_at(at) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        start
    }

    /// Returns whether the word being typed begins an item.
    #[must_use]
    pub fn begins_item(&self) -> bool {
        if self.is_in_brackets()
            || matches!(self.block(), CursorBlock::Updates | CursorBlock::Cases | CursorBlock::Members)
        {
            return false;
        }
        match self.lexeme_back(0) {
            "" | "{" | "}" | ";" => true,
            _ => self.fresh_line && !self.wants_operand(),
        }
    }

    /// Returns the message of the transition or test step that the cursor is in.
    #[must_use]
    pub fn current_message(&self) -> Option<&'a Definition> {
        let start = self.item_start();
        let verb = (start..self.pieces.len()).find(|&at| {
            matches!(self.lexeme_at(at), "on" | "emit" | "send" | "expect") && self.lexeme_at(at + 1) != ":"
        })?;
        let name = self.lexeme_at(verb + 1);
        self.analysis
            .index
            .definitions()
            .map(|(_, found)| found)
            .find(|found| found.kind.is_message() && found.name == name)
    }

    /// Returns the function whose body the cursor is in.
    #[must_use]
    pub fn current_function(&self) -> Option<&'a Definition> {
        let start = self.item_start();
        if self.lexeme_at(start) != "fn" {
            return None;
        }
        let name = self.lexeme_at(start + 1);
        self.analysis
            .index
            .definitions_named(name, &[DefinitionKind::Function])
            .next()
            .map(|(_, found)| found)
    }

    /// Returns the innermost call around the cursor.
    #[must_use]
    pub fn innermost_call(&self) -> Option<CursorCall> {
        let bracket = self.open.iter().rev().find(|bracket| bracket.sign == '(')?;
        let callee = bracket.at.checked_sub(1)?;
        if self.pieces[callee].kind != LexemeKind::Name {
            return None;
        }
        let mut depth = 0_usize;
        let (mut n_before, mut given) = (0, Vec::new());
        for at in bracket.at + 1..self.pieces.len() {
            match self.lexeme_at(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "," if depth == 0 => n_before += 1,
                ":" if depth == 0 => given.push(self.lexeme_at(at - 1).to_owned()),
                _ => {}
            }
        }
        Some(CursorCall { callee: self.lexeme_at(callee).to_owned(), at: callee, n_before, given })
    }

    /// Returns the definition that a call refers to: a message, record or variant with fields, or a function with
    /// parameters.
    #[must_use]
    pub fn called_definition(&self, call: &CursorCall) -> Option<(DefinitionId, &'a Definition)> {
        use DefinitionKind::{Function, Input, Observed, Output, Record, Variant};
        let before = call.at.checked_sub(1).map_or("", |at| self.lexeme_at(at));
        let kinds: &[DefinitionKind] = match before {
            "on" | "emit" | "send" | "expect" => &[Input, Observed, Output],
            _ => &[Function, Record, Variant],
        };
        self.analysis
            .index
            .definitions()
            .find(|(_, found)| found.name == call.callee && kinds.contains(&found.kind))
    }

    /// Returns the type of the chain of names, calls and indices that ends before the lexeme at `end`.
    #[must_use]
    pub fn chain_type(&self, end: usize) -> Option<ValueType> {
        let mut links = Vec::new();
        let mut end = end;
        loop {
            let last = end.checked_sub(1)?;
            match self.lexeme_at(last) {
                ")" => {
                    let open = self.matching_bracket(last)?;
                    let name = open.checked_sub(1)?;
                    links.push(ChainLink::Call(self.lexeme_at(name)));
                    end = name;
                }
                "]" => {
                    end = self.matching_bracket(last)?;
                    links.push(ChainLink::Index);
                    continue;
                }
                name if self.pieces[last].kind == LexemeKind::Name => {
                    links.push(ChainLink::Name(name));
                    end = last;
                }
                _ if self.pieces[last].kind == LexemeKind::Text => {
                    links.push(ChainLink::Literal);
                    end = last;
                }
                _ => return None,
            }
            match end.checked_sub(1) {
                Some(dot) if self.lexeme_at(dot) == "." => end = dot,
                _ => break,
            }
        }
        self.chain_links_type(&links)
    }

    /// Returns the name of the part before the dot at `dot`, in `part.` or `part[i].`.
    #[must_use]
    pub fn part_before(&self, dot: usize) -> Option<&'a str> {
        let last = dot.checked_sub(1)?;
        let name =
            if self.lexeme_at(last) == "]" { self.matching_bracket(last)?.checked_sub(1)? } else { last };
        Some(self.lexeme_at(name))
    }

    /// Returns the position of the bracket that the one at `closing` closes.
    fn matching_bracket(&self, closing: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (0..=closing).rev() {
            match self.lexeme_at(at) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Returns the type of a chain, whose links are given from the last to the first.
    fn chain_links_type(&self, links: &[ChainLink<'_>]) -> Option<ValueType> {
        let index = &self.analysis.index;
        let (root, rest) = links.split_last()?;
        let mut ty = match root {
            ChainLink::Name(name) => self.name_type(name)?,
            ChainLink::Call(name) => self.call_type(name)?,
            ChainLink::Literal => ValueType::Text,
            ChainLink::Index => return None,
        };
        for link in rest.iter().rev() {
            ty = index.resolve_type(&ty);
            ty = match link {
                ChainLink::Index => item_of(&ty)?,
                ChainLink::Call(name) => {
                    let function = functions_of(&ty).iter().find(|one| one.name == *name)?;
                    result_of(function, &ty)?
                }
                ChainLink::Name(name) => {
                    let fields = index.fields_of(&ty);
                    let field = fields.into_iter().find(|field| index.get(*field).name == *name)?;
                    index.get(field).ty.clone()?
                }
                ChainLink::Literal => return None,
            };
        }
        Some(index.resolve_type(&ty))
    }

    /// Returns the names bound in the item the cursor is in: before the cursor, or anywhere in its transition.
    pub fn bound_names(&self) -> impl Iterator<Item = &'a Definition> {
        let mut whole = self.analysis.index.switches.iter().map(|switch| switch.whole);
        let start = self.pieces.get(self.item_start()).map_or(0, |piece| piece.start as usize);
        let part = whole.find(|whole| whole.touches(self.offset)).map_or(start..self.offset, Into::into);
        let all = self.analysis.index.definitions().map(|(_, found)| found);
        all.filter(move |found| found.kind == DefinitionKind::Bound && part.contains(&found.at.start))
    }

    fn name_type(&self, name: &str) -> Option<ValueType> {
        let index = &self.analysis.index;
        let parts =
            self.current_message().or_else(|| self.current_function()).map(|found| found.parts.clone());
        let field = parts.unwrap_or_default().into_iter().find(|part| index.get(*part).name == name);
        if let Some(field) = field {
            return index.get(field).ty.clone();
        }
        // A bound name is the last one so called within the same part.
        let bound = self.bound_names().filter(|found| found.name == name).last();
        let kinds = [
            DefinitionKind::Variable,
            DefinitionKind::Constant,
            DefinitionKind::Clock,
            DefinitionKind::Variant,
        ];
        let value = || index.definitions_named(name, &kinds).next().map(|(_, found)| found);
        bound.or_else(value)?.ty.clone()
    }

    fn call_type(&self, name: &str) -> Option<ValueType> {
        let kinds = [DefinitionKind::Function, DefinitionKind::Record, DefinitionKind::Variant];
        let (_, found) = self.analysis.index.definitions_named(name, &kinds).next()?;
        match found.kind {
            DefinitionKind::Record => Some(ValueType::Named(found.name.clone())),
            _ => found.ty.clone(),
        }
    }
}

/// A link of a chain such as `a.b(c)[d]`.
enum ChainLink<'a> {
    Name(&'a str),
    Call(&'a str),
    Index,
    Literal,
}

/// Closes the innermost bracket of the kind, and those that were left open inside of it.
fn close_bracket(open: &mut Vec<OpenBracket>, closing: &str) {
    let sign = match closing {
        "}" => '{',
        ")" => '(',
        _ => '[',
    };
    if let Some(at) = open.iter().rposition(|bracket| bracket.sign == sign) {
        open.truncate(at);
    }
}
