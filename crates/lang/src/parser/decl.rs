//! Parsing of the model and its declarations.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;

use super::{ParseResult, Parser};
use crate::ast::{
    ConstDecl, DeclMeta, DirectionDecl, EnumDecl, FnDecl, ItemKind, MessageDecl, ModelDecl, ModelItem, Name,
    PreambleItem, RecordDecl, SharedUse, SystemDecl, TypeDecl, VarDecl, VariantDecl,
};
use crate::lexer::TokenKind;
use crate::suggest;
use crate::words::{beginnings, is_property};

impl Parser<'_> {
    /// A whole file: one model, or a system and the models it is made of; nothing behind it.
    /// A file with declarations that others use needs no model.
    pub(crate) fn parse_file(&mut self, has_preamble: bool) -> (Option<ModelDecl>, Option<SystemDecl>) {
        if has_preamble && self.is_at(TokenKind::End) {
            return (None, None);
        }
        let mut models = Vec::new();
        let mut system: Option<SystemDecl> = None;
        let last_system = self.last_system();
        while system.is_none() {
            if self.at_system() {
                system = self.parse_system().ok();
                break;
            }
            // The first model may be all there is; another one is only read where a system follows.
            if !models.is_empty() && last_system.is_none_or(|last| last < self.position) {
                break;
            }
            match self.parse_model() {
                Ok(model) => models.push(model),
                // Without a model yet, reading goes on at the next heading: an error in front of it must not
                // hide the model.
                Err(_) if models.is_empty() && self.skip_to_heading() => {}
                Err(_) => break,
            }
        }
        match system {
            Some(system) => {
                self.end_of_file(&system.name, "the system of this file");
                (None, Some(SystemDecl { models, ..system }))
            }
            None => {
                let first = models.into_iter().next();
                if let Some(model) = &first {
                    self.end_of_file(&model.name, "the model of this file");
                }
                (first, None)
            }
        }
    }

    /// Reads the declarations in front of the models.
    pub(crate) fn parse_preamble(&mut self) -> Vec<PreambleItem> {
        let mut preamble = Vec::new();
        while self.at_shared() {
            match self.parse_shared() {
                Ok(item) => preamble.push(item),
                Err(_) => {
                    // Nothing takes the half of a shared declaration here, and the model must not take it for
                    // one of its own.
                    self.half = None;
                    self.skip_to(0, |parser, _| parser.at_shared() || parser.is_heading(parser.docs_ahead()));
                }
            }
        }
        preamble
    }

    /// Returns whether a declaration that models share starts here, behind doc comments.
    fn at_shared(&self) -> bool {
        let docs = self.docs_ahead();
        let is_word = matches!(self.slice_at(docs), "use" | "const" | "type" | "enum" | "record" | "fn");
        is_word && self.kind_after(docs + 1) == TokenKind::Name
    }

    fn parse_shared(&mut self) -> ParseResult<PreambleItem> {
        if !self.at_word("use") {
            return self.parse_item().map(|item| PreambleItem::Item(Box::new(item)));
        }
        let start = self.span();
        self.bump();
        let mut names = vec![self.expect_name("the name of a type, constant or function")?];
        while self.eat(TokenKind::Comma) {
            names.push(self.expect_name("the name of a type, constant or function")?);
        }
        if !self.eat_word("from") {
            return self.report_unexpected("`from` and the file of the declarations");
        }
        let path_span = self.span();
        let path = self.parse_string()?;
        Ok(PreambleItem::Use(SharedUse { names, path, path_span, span: self.span_since(start) }))
    }

    /// Skips to the next heading of a model or system, if there is one behind this place.
    fn skip_to_heading(&mut self) -> bool {
        while !self.is_at(TokenKind::End) && !self.is_heading(0) {
            self.bump();
        }
        // A heading is outside of all blocks, whatever was left open before it.
        self.braces = 0;
        !self.is_at(TokenKind::End)
    }

    /// Returns whether `model Name {` or `system Name {` begins a line here, `ahead` tokens further.
    pub(super) fn is_heading(&self, ahead: usize) -> bool {
        let token = self.token(ahead);
        token.kind == TokenKind::Name
            && token.first_on_line
            && matches!(self.slice_at(ahead), "model" | "system")
            && self.kind_after(ahead + 1) == TokenKind::Name
            && self.kind_after(ahead + 2) == TokenKind::OpenBrace
    }

    /// Returns whether a block ends here: with its brace, with the text, or because another model or system begins,
    /// perhaps behind doc comments.
    pub(super) fn at_block_end(&self) -> bool {
        matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End) || self.is_heading(self.docs_ahead())
    }

    /// Returns the number of doc comments here; 0 behind another one, so that work stays linear where they are skipped
    /// one by one.
    fn docs_ahead(&self) -> usize {
        let is_first =
            self.position.checked_sub(1).is_none_or(|last| self.tokens[last].kind != TokenKind::Doc);
        if is_first { (0..).take_while(|&ahead| self.kind_after(ahead) == TokenKind::Doc).count() } else { 0 }
    }

    /// Closes the block that `open` opened. A missing brace is reported once for all blocks that lack it, at the
    /// innermost, and the block is complete all the same.
    pub(super) fn close_block(&mut self, open: Span) {
        let docs = self.docs_ahead();
        if !self.is_heading(docs) {
            let _ = self.close(TokenKind::CloseBrace, open);
            return;
        }
        // An error at doc comments that were skipped since is about the same brace.
        if let Some((place, told)) = self.last_error
            && self.tokens[place..self.position].iter().all(|token| token.kind == TokenKind::Doc)
        {
            self.last_error = Some((self.position, told));
        }
        let (word, next) = (self.slice_at(docs), self.span_of(self.token(docs)));
        let (n_open, fix) = (self.braces, self.span_behind());
        self.report(
            Diagnostic::new(
                Code::UnclosedDelimiter,
                open,
                format!("`{{` is not closed before the next `{word}`"),
            )
            .caret("opened here")
            .label(next, format!("another {word} begins here"))
            .help("close it with `}`")
            .fix(fix, "\n}".repeat(n_open)),
        );
        self.braces = n_open.saturating_sub(1);
    }

    /// Reads the name of a block; if it is missing before `{`, the block is read all the same.
    pub(super) fn heading_name(&mut self, what: &str) -> ParseResult<Name> {
        let place = self.span();
        match self.expect_name(what) {
            Err(_) if self.is_at(TokenKind::OpenBrace) => {
                Ok(Name { text: String::new(), span: Span { end: place.start, ..place } })
            }
            name => name,
        }
    }

    fn end_of_file(&mut self, name: &Name, what: &str) {
        if self.is_at(TokenKind::End) || self.has_error_here() {
            return;
        }
        let word = if self.at_word("model") {
            "a file holds one model, or models followed by a system"
        } else {
            "expected the end of the text"
        };
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, self.span(), word)
            .label(name.span, what)
            .help("a `}` too many above may have closed it early");
        self.report(diagnostic);
    }

    /// Parses a model; after an error in an item it goes on with the next item.
    pub(super) fn parse_model(&mut self) -> ParseResult<ModelDecl> {
        let start = self.span();
        let meta = self.parse_meta()?;
        if !self.eat_word("model") {
            return self.missing_model();
        }
        let name = self.heading_name("the name of the model")?;
        let open = self.span();
        self.expect(TokenKind::OpenBrace)?;
        let level = self.braces;
        let (mut items, mut broken) = (Vec::new(), Vec::new());
        while !self.at_block_end() {
            // Where the item begins: if it cannot be read, its name is looked for from here on.
            let (start, place) = (self.position, self.span());
            match self.parse_item() {
                Ok(item) => items.push(item),
                Err(why) => {
                    broken.extend(self.name_declared_at(start).map(|name| (name, why)));
                    items.extend(self.half_item(place));
                    self.recover_here(level);
                }
            }
        }
        self.close_block(open);
        Ok(ModelDecl { meta, name, items, broken, span: self.span_since(start) })
    }

    /// Like [`recover`](Self::recover), but moves at least past a token that starts
    /// nothing, so that a block's loop ends.
    pub(crate) fn recover_here(&mut self, level: usize) {
        let before = self.position;
        self.recover(level);
        if self.position == before && self.has_error_here() && !self.at_block_end() {
            self.bump();
            self.recover(level);
        }
    }

    /// Returns the declaration, started at `start`, of which only the value could not be read.
    fn half_item(&mut self, start: Span) -> Option<ModelItem> {
        let kind = self.half.take()?;
        let span = match &kind {
            ItemKind::Transition(transition) => transition.span,
            _ => self.span_since(start),
        };
        Some(ModelItem { meta: DeclMeta::default(), span, kind })
    }

    fn missing_model<T>(&mut self) -> ParseResult<T> {
        let place = self.span();
        let diagnostic = match self.kind() {
            TokenKind::Unknown | TokenKind::OpenStr => self.unexpected_diagnostic("`model`"),
            _ => Diagnostic::new(
                Code::MissingModel,
                place,
                format!("expected `model`, found {}", self.describe_next_token()),
            ),
        };
        Err(self.report(diagnostic.help("a file holds one model: `model Name { ... }`")))
    }

    /// Parses an item with its docs and attributes.
    fn parse_item(&mut self) -> ParseResult<ModelItem> {
        let start = self.span();
        let mut meta = self.parse_meta()?;
        let kind = self.item_kind(&mut meta)?;
        let span = self.span_since(start);
        Ok(ModelItem { meta, kind, span })
    }

    fn item_kind(&mut self, meta: &mut DeclMeta) -> ParseResult<ItemKind> {
        // Asked before the words, because a label may be one of them.
        if self.is_at(TokenKind::Name) && self.kind_after(1) == TokenKind::Colon {
            return self.parse_labelled();
        }
        if !self.is_at(TokenKind::Name) {
            return self.report_unexpected("a declaration");
        }
        match self.slice() {
            "input" | "observed" | "output" => self.parse_message().map(ItemKind::Message),
            "var" => self.parse_var().map(ItemKind::Var),
            "clock" => {
                self.bump();
                self.expect_name("the name of a clock").map(ItemKind::Clock)
            }
            "const" => self.parse_constant().map(ItemKind::Const),
            "type" => self.type_decl().map(ItemKind::Type),
            "enum" => self.enum_decl().map(ItemKind::Enum),
            "record" => self.parse_record().map(ItemKind::Record),
            "fn" => self.parse_function().map(ItemKind::Fn),
            "state" => self.parse_state(DeclMeta::default()).map(ItemKind::State),
            "any" => self.parse_any().map(ItemKind::Any),
            "on" | "emit" | "internal" => {
                self.parse_transition(DeclMeta::default()).map(ItemKind::Transition)
            }
            "purpose" => self.parse_purpose().map(ItemKind::Purpose),
            word if is_property(word) => self.parse_property(None).map(ItemKind::Property),
            "every" => self.parse_response(None).map(ItemKind::Response),
            "test" => self.parse_test().map(ItemKind::Test),
            _ => {
                meta.docs.clear();
                self.unknown_declaration()
            }
        }
    }

    /// `label: on ...` or `label: always ...`.
    fn parse_labelled(&mut self) -> ParseResult<ItemKind> {
        if is_property(self.slice_at(2)) || self.slice_at(2) == "every" {
            let label = self.expect_name("a label")?;
            self.expect(TokenKind::Colon)?;
            return match self.slice() {
                "every" => self.parse_response(Some(label)).map(ItemKind::Response),
                _ => self.parse_property(Some(label)).map(ItemKind::Property),
            };
        }
        self.parse_transition(DeclMeta::default()).map(ItemKind::Transition)
    }

    fn unknown_declaration<T>(&mut self) -> ParseResult<T> {
        let name = Name { text: self.slice().to_owned(), span: self.span() };
        let message = format!("expected a declaration, found `{}`", name.text);
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, name.span, message);
        let diagnostic = match name.text.as_str() {
            "let" => diagnostic.help("variables are declared with `var`").fix(name.span, "var"),
            "function" | "def" | "func" => {
                diagnostic.help("functions are declared with `fn`").fix(name.span, "fn")
            }
            "struct" => diagnostic.help("records are declared with `record`").fix(name.span, "record"),
            _ => suggest::suggest_nearest(diagnostic, &name, beginnings()),
        };
        Err(self.report(diagnostic))
    }

    /// Parses the declaration of an input, an observed input or an output.
    fn parse_message(&mut self) -> ParseResult<MessageDecl> {
        let direction = if self.eat_word("output") {
            DirectionDecl::Output
        } else if self.eat_word("observed") {
            if !self.eat_word("input") {
                return self.report_unexpected("`input`, as in `observed input name`");
            }
            DirectionDecl::Observed
        } else {
            self.bump();
            DirectionDecl::Input
        };
        let name = self.expect_name("the name of a message")?;
        let open = self.span();
        let fields = if self.eat(TokenKind::OpenParen) {
            self.parse_list(TokenKind::CloseParen, open, Self::documented_field)?
        } else {
            Vec::new()
        };
        Ok(MessageDecl { direction, name, fields })
    }

    /// Parses the declaration of a variable.
    pub(crate) fn parse_var(&mut self) -> ParseResult<VarDecl> {
        self.bump();
        let name = self.expect_name("the name of a variable")?;
        if !self.is_at(TokenKind::Colon) {
            return self
                .unexpected_with("`:` and a type", |d| d.help("a variable is declared as `var n: int = 0`"));
        }
        self.bump();
        let ty = self.parse_type()?;
        // Without a value, the model leaves open how the variable starts.
        if !self.eat(TokenKind::Eq) {
            return Ok(VarDecl { name, ty, init: None });
        }
        match self.parse_expr() {
            // A value that cannot be read leaves the name and the type, so that uses of the variable are
            // still checked.
            Ok(value) => Ok(VarDecl { name, ty, init: Some(value) }),
            Err(why) => self.keep_half(why, |value| ItemKind::Var(VarDecl { name, ty, init: Some(value) })),
        }
    }

    /// Parses the declaration of a constant; one without a value is kept for the editor.
    pub(super) fn parse_constant(&mut self) -> ParseResult<ConstDecl> {
        self.bump();
        let name = self.expect_name("the name of a constant")?;
        let ty = if self.eat(TokenKind::Colon) { Some(self.parse_type()?) } else { None };
        self.expect(TokenKind::Eq)?;
        match self.parse_expr() {
            Ok(value) => Ok(ConstDecl { name, ty, value }),
            Err(why) => self.keep_half(why, |value| ItemKind::Const(ConstDecl { name, ty, value })),
        }
    }

    fn type_decl(&mut self) -> ParseResult<TypeDecl> {
        self.bump();
        let name = self.expect_name("the name of a type")?;
        self.expect(TokenKind::Eq)?;
        Ok(TypeDecl { name, ty: self.parse_type()? })
    }

    fn enum_decl(&mut self) -> ParseResult<EnumDecl> {
        self.bump();
        let name = self.expect_name("the name of an enum")?;
        let open = self.open_body()?;
        let variants = self.parse_list(TokenKind::CloseBrace, open, Self::parse_variant)?;
        // Refused here, because the pool takes no type without a constructor.
        if variants.is_empty() {
            let message = format!("enum `{}` has no values", name.text);
            return Err(self.report(
                Diagnostic::new(Code::UnexpectedToken, name.span, message).help("name at least one value"),
            ));
        }
        Ok(EnumDecl { name, variants })
    }

    /// Parses a variant of an enum with its docs and fields.
    fn parse_variant(&mut self) -> ParseResult<VariantDecl> {
        let docs = self.parse_docs()?;
        let name = self.expect_name("the name of a value")?;
        let open = self.span();
        let fields = if self.eat(TokenKind::OpenParen) {
            self.parse_list(TokenKind::CloseParen, open, Self::parse_field)?
        } else {
            Vec::new()
        };
        Ok(VariantDecl { docs, name, fields })
    }

    /// Parses the declaration of a record.
    fn parse_record(&mut self) -> ParseResult<RecordDecl> {
        self.bump();
        let name = self.expect_name("the name of a record")?;
        let open = self.open_body()?;
        Ok(RecordDecl { name, fields: self.parse_list(TokenKind::CloseBrace, open, Self::documented_field)? })
    }

    fn open_body(&mut self) -> ParseResult<Span> {
        let open = self.span();
        self.expect(TokenKind::OpenBrace)?;
        Ok(open)
    }

    /// Parses the declaration of a function.
    pub(crate) fn parse_function(&mut self) -> ParseResult<FnDecl> {
        self.bump();
        let name = self.expect_name("the name of a function")?;
        let open = self.span();
        self.expect(TokenKind::OpenParen)?;
        let params = self.parse_list(TokenKind::CloseParen, open, Self::parse_field)?;
        if !self.is_at(TokenKind::Arrow) {
            return self.unexpected_with("`->` and the type of the value", |d| {
                d.help("a function is declared as `fn max(a: int, b: int) -> int = if a > b then a else b`")
            });
        }
        self.bump();
        let result = self.parse_type()?;
        self.expect(TokenKind::Eq)?;
        match self.parse_expr() {
            Ok(body) => Ok(FnDecl { name, params, result, body }),
            Err(why) => self.keep_half(why, |body| ItemKind::Fn(FnDecl { name, params, result, body })),
        }
    }
}
