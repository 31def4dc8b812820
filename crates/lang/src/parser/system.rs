//! Parsing of systems made of parts.

use super::{ParseResult, Parser};
use crate::ast::{
    ChannelDecl, ConnectionDecl, ItemKind, ModelItem, Name, PartDecl, PinDecl, PortDecl, SystemDecl,
    SystemItem, SystemItemKind, UseDecl,
};
use crate::lexer::TokenKind;
use crate::words::is_property;

impl Parser<'_> {
    /// Returns whether a system starts here, behind doc comments.
    pub(super) fn at_system(&self) -> bool {
        let docs = (0..).take_while(|&ahead| self.kind_after(ahead) == TokenKind::Doc).count();
        self.is_system(docs)
    }

    /// Returns the position of the last heading of a system behind this place.
    pub(super) fn last_system(&self) -> Option<usize> {
        let ahead = (0..self.tokens.len() - self.position).rfind(|&ahead| self.is_system(ahead))?;
        Some(self.position + ahead)
    }

    fn is_system(&self, ahead: usize) -> bool {
        self.is_heading(ahead) && self.slice_at(ahead) == "system"
    }

    /// Parses a system; after an error in an item it goes on with the next item.
    pub(super) fn parse_system(&mut self) -> ParseResult<SystemDecl> {
        let start = self.span();
        let meta = self.parse_meta()?;
        self.bump();
        let name = self.heading_name("the name of the system")?;
        let open = self.span();
        self.expect(TokenKind::OpenBrace)?;
        let level = self.braces;
        let mut items = Vec::new();
        while !self.at_block_end() {
            match self.system_item() {
                Ok(item) => items.push(item),
                Err(_) => self.recover_line(level),
            }
        }
        self.close_block(open);
        Ok(SystemDecl { meta, name, models: Vec::new(), items, span: self.span_since(start) })
    }

    /// Skips to the next line, at least past one token.
    fn recover_line(&mut self, level: usize) {
        let before = self.position();
        self.skip_to(level, |parser, inside| parser.is_heading(0) || !inside && parser.position() > before);
        if self.position() == before && !self.at_block_end() {
            self.bump();
        }
    }

    fn system_item(&mut self) -> ParseResult<SystemItem> {
        let start = self.span();
        let meta = self.parse_meta()?;
        let kind = match self.parse_goal()? {
            Some(kind) => {
                let span = self.span_since(start);
                SystemItemKind::Goal(Box::new(ModelItem { meta: meta.clone(), kind, span }))
            }
            None => self.system_item_kind()?,
        };
        Ok(SystemItem { meta, kind, span: self.span_since(start) })
    }

    /// A purpose, a property or a test, if one starts here.
    fn parse_goal(&mut self) -> ParseResult<Option<ItemKind>> {
        let next = self.kind_after(1);
        let is_claim = |text: &str| is_property(text) || text == "every";
        if self.is_at(TokenKind::Name) && next == TokenKind::Colon && is_claim(self.slice_at(2)) {
            let label = self.expect_name("a label")?;
            self.bump();
            if self.at_word("every") {
                return self.parse_response(Some(label)).map(|response| Some(ItemKind::Response(response)));
            }
            return self.parse_property(Some(label)).map(|property| Some(ItemKind::Property(property)));
        }
        let names_part = matches!(next, TokenKind::Colon | TokenKind::Dot | TokenKind::OpenBracket);
        Ok(match self.slice() {
            "purpose" if next == TokenKind::Name => Some(ItemKind::Purpose(self.parse_purpose()?)),
            "test" if next == TokenKind::Str => Some(ItemKind::Test(self.parse_test()?)),
            text if is_property(text) && !names_part => Some(ItemKind::Property(self.parse_property(None)?)),
            "every" if next == TokenKind::Name => Some(ItemKind::Response(self.parse_response(None)?)),
            _ => None,
        })
    }

    /// The name of a message: `say`, or in a system `client.say`.
    pub(super) fn message_name(&mut self) -> ParseResult<Name> {
        let mut name = self.expect_name("the name of a message")?;
        while self.is_at(TokenKind::Dot) && self.kind_after(1) == TokenKind::Name {
            self.bump();
            let next = self.expect_name("a message of the part")?;
            name = Name { text: format!("{}.{}", name.text, next.text), span: name.span.to(next.span) };
        }
        Ok(name)
    }

    /// The label of a transition: `take`, or in a system `client[2].send+server.take`.
    pub(super) fn label_name(&mut self) -> ParseResult<Name> {
        let mut name = self.expect_name("the label of a transition")?;
        while matches!(self.kind(), TokenKind::Dot | TokenKind::OpenBracket | TokenKind::Plus) {
            let open = self.span();
            let mut more = self.slice().to_owned();
            match self.bump().kind {
                TokenKind::OpenBracket => {
                    more.push_str(self.slice());
                    self.expect(TokenKind::Number)?;
                    self.close(TokenKind::CloseBracket, open)?;
                    more.push(']');
                }
                _ => more.push_str(&self.expect_name("the label of a transition")?.text),
            }
            name = Name { text: name.text + &more, span: self.span_since(name.span) };
        }
        Ok(name)
    }

    fn system_item_kind(&mut self) -> ParseResult<SystemItemKind> {
        let is_word = self.kind_after(1) == TokenKind::Name;
        match self.slice() {
            "use" if is_word => self.use_decl().map(SystemItemKind::Use),
            "const" if is_word => self.parse_constant().map(SystemItemKind::Const),
            "hide" if is_word => {
                self.bump();
                self.parse_port().map(SystemItemKind::Hide)
            }
            "expose" if is_word => {
                self.bump();
                let port = self.parse_port()?;
                if !self.eat_word("as") {
                    return self.report_unexpected("`as` and the new name");
                }
                Ok(SystemItemKind::Expose(port, self.expect_name("the new name of the message")?))
            }
            _ => self.part_or_connection(),
        }
    }

    /// `use Server from "server.iox"`.
    fn use_decl(&mut self) -> ParseResult<UseDecl> {
        self.bump();
        let model = self.expect_name("the name of a model")?;
        if !self.eat_word("from") {
            return self.report_unexpected("`from` and the file of the model");
        }
        let path_span = self.span();
        Ok(UseDecl { model, path: self.parse_string()?, path_span })
    }

    /// `name: ...`, `name[i in 1..3]: ...` or `part.message -> part.message`.
    fn part_or_connection(&mut self) -> ParseResult<SystemItemKind> {
        if self.is_at(TokenKind::Name) && self.kind_after(1) == TokenKind::Colon {
            return self.part_or_channel();
        }
        let is_array = self.is_at(TokenKind::Name)
            && self.kind_after(1) == TokenKind::OpenBracket
            && self.kind_after(3) == TokenKind::In;
        if is_array {
            return self.parse_array().map(SystemItemKind::Part);
        }
        if !self.is_at(TokenKind::Name) {
            return self.report_unexpected("a part, a connection, `use`, `hide` or `expose`");
        }
        let from = self.parse_port()?;
        self.expect(TokenKind::Arrow)?;
        let to = self.parse_port()?;
        Ok(SystemItemKind::Connect(ConnectionDecl { from, to }))
    }

    fn part_or_channel(&mut self) -> ParseResult<SystemItemKind> {
        let name = self.expect_name("the name of a part")?;
        self.bump();
        let kind = self.expect_name("a model or a channel")?;
        let settings = self.parse_pins()?;
        if !self.eat_word("between") {
            let part = PartDecl { name, index: None, model: kind, constants: settings };
            return Ok(SystemItemKind::Part(part));
        }
        let one = self.expect_name("a part")?;
        if !self.eat_word("and") {
            return self.report_unexpected("`and` and the other part");
        }
        let other = self.expect_name("a part")?;
        Ok(SystemItemKind::Channel(ChannelDecl { name, kind, settings, between: (one, other) }))
    }

    /// A channel alone: `fifo(capacity: 4)`.
    pub(crate) fn parse_channel(&mut self) -> ParseResult<(Name, Vec<PinDecl>)> {
        let kind = self.expect_name("a channel such as `fifo(capacity: 4)`")?;
        let settings = self.parse_pins()?;
        if !self.is_at(TokenKind::End) {
            return self.report_unexpected("the end of the channel");
        }
        Ok((kind, settings))
    }

    /// `client[i in 1..3]: Client(ID: i)`.
    fn parse_array(&mut self) -> ParseResult<PartDecl> {
        let name = self.expect_name("the name of a part")?;
        let open = self.span();
        self.bump();
        let index = self.expect_name("the name of the index")?;
        self.bump();
        let lo = self.parse_expr()?;
        self.expect(TokenKind::DotDot)?;
        let hi = self.parse_expr()?;
        self.close(TokenKind::CloseBracket, open)?;
        self.expect(TokenKind::Colon)?;
        let model = self.expect_name("a model")?;
        let constants = self.parse_pins()?;
        Ok(PartDecl { name, index: Some((index, lo, hi)), model, constants })
    }

    /// `part.message(pins)` or `part[index].message(pins)`.
    fn parse_port(&mut self) -> ParseResult<PortDecl> {
        let start = self.span();
        let part = self.expect_name("a part")?;
        let open = self.span();
        let index = if self.eat(TokenKind::OpenBracket) {
            let index = self.parse_expr()?;
            self.close(TokenKind::CloseBracket, open)?;
            Some(index)
        } else {
            None
        };
        self.expect(TokenKind::Dot)?;
        let message = self.expect_name("a message of the part")?;
        let pins = self.parse_pins()?;
        Ok(PortDecl { part, index, message, pins, span: self.span_since(start) })
    }
}
