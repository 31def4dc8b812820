//! The `types` of an action system, and the types of its variables and parameters.
//!
//! ```text
//! Small = [0..3]                       a range
//! Reply = [Done | Failed(code: Small)] cases, which may have fields
//! Job = { id: Small, urgent: Bool }    a record
//! Queue = list<Job>                    a collection, an option, another name
//! ```
//!
//! \[AT15] Fig. 2 has the first, and cases without fields; the others are those of the ioxide language, so that action
//! systems hold data that grows as other models do.

use super::ActionReader;
use crate::ast::{
    EnumDecl, FieldDecl, FnDecl, ItemKind, Name, RecordDecl, Type, TypeDecl, TypeKind, VariantDecl,
};
use crate::lexer::TokenKind;
use crate::parser::ParseResult;

impl ActionReader<'_> {
    /// `Name = ...`.
    pub(super) fn type_decl(&mut self) -> ParseResult<()> {
        let start = self.parser.span();
        let meta = self.parser.parse_meta()?;
        let name = self.parser.expect_name("the name of a type")?;
        self.parser.expect(TokenKind::Eq)?;
        let kind = match self.parser.kind() {
            TokenKind::OpenBracket => self.in_brackets(name)?,
            TokenKind::OpenBrace => ItemKind::Record(RecordDecl { name, fields: self.record_fields()? }),
            TokenKind::Name if !self.at_declaration() => {
                ItemKind::Type(TypeDecl { name, ty: self.parse_type()? })
            }
            _ => {
                return self.parser.unexpected_with("a type", |d| {
                    d.help(
                        "types are `[0..3]`, `[On | Off]`, `{ field: Type }`, `list<Type>`, `set<Type>` \
                         and `map<Key, Type>`",
                    )
                });
            }
        };
        let span = self.parser.span_since(start);
        self.push(meta, kind, span);
        Ok(())
    }

    /// Returns whether the next type declaration starts here, so that the type of this one is missing.
    fn at_declaration(&self) -> bool {
        self.parser.kind_after(1) == TokenKind::Eq
    }

    /// `[0..3]` or `[A | B(field: Type)]`.
    fn in_brackets(&mut self, name: Name) -> ParseResult<ItemKind> {
        let open = self.parser.span();
        self.parser.bump();
        let kind = if self.parser.is_at(TokenKind::Name) {
            ItemKind::Enum(EnumDecl { name, variants: self.parse_variants()? })
        } else {
            ItemKind::Type(TypeDecl { name, ty: self.parse_type()? })
        };
        self.parser.close(TokenKind::CloseBracket, open)?;
        Ok(kind)
    }

    /// Parses the variants of an enum, separated by `|` or commas.
    fn parse_variants(&mut self) -> ParseResult<Vec<VariantDecl>> {
        let mut variants = vec![self.parse_variant()?];
        while self.parser.eat(TokenKind::Bar) || self.parser.eat(TokenKind::Comma) {
            variants.push(self.parse_variant()?);
        }
        Ok(variants)
    }

    /// Parses a variant with its fields, if it has some.
    fn parse_variant(&mut self) -> ParseResult<VariantDecl> {
        let name = self.parser.expect_name("the name of a value")?;
        let has_fields = self.parser.is_at(TokenKind::OpenParen);
        let fields = if has_fields { self.parse_parameters()? } else { Vec::new() };
        Ok(VariantDecl { docs: Vec::new(), name, fields })
    }

    /// `(name: Type, name: Type)`.
    pub(super) fn parse_parameters(&mut self) -> ParseResult<Vec<FieldDecl>> {
        let open = self.parser.span();
        self.parser.expect(TokenKind::OpenParen)?;
        let mut fields = Vec::new();
        while !self.parser.is_at(TokenKind::CloseParen) {
            fields.push(self.parse_field()?);
            if !self.parser.eat(TokenKind::Comma) {
                break;
            }
        }
        self.parser.close(TokenKind::CloseParen, open)?;
        Ok(fields)
    }

    /// `{ name: Type name: Type }`, with or without commas as in the other sections.
    fn record_fields(&mut self) -> ParseResult<Vec<FieldDecl>> {
        let open = self.parser.span();
        self.parser.bump();
        let mut fields = Vec::new();
        while self.parser.is_at(TokenKind::Name) {
            fields.push(self.parse_field()?);
            while self.parser.eat(TokenKind::Comma) || self.parser.eat(TokenKind::Semicolon) {}
        }
        self.parser.close(TokenKind::CloseBrace, open)?;
        Ok(fields)
    }

    /// `name: Type`.
    pub(super) fn parse_field(&mut self) -> ParseResult<FieldDecl> {
        let mut field = self.parser.parse_field()?;
        plain_truth(&mut field.ty);
        Ok(field)
    }

    /// Parses a type; `Bool` is read as `bool`.
    pub(super) fn parse_type(&mut self) -> ParseResult<Type> {
        let mut ty = self.parser.parse_type()?;
        plain_truth(&mut ty);
        Ok(ty)
    }
}

/// Replaces `Bool` by `bool` in the heading of a function.
pub(super) fn plain_truths(function: &mut FnDecl) {
    function.params.iter_mut().map(|param| &mut param.ty).chain([&mut function.result]).for_each(plain_truth);
}

/// Replaces `Bool` by `bool`, its name in the ioxide language, inside collections too.
fn plain_truth(ty: &mut Type) {
    match &mut ty.kind {
        TypeKind::Named(name) if name == "Bool" => "bool".clone_into(name),
        TypeKind::Option(of) | TypeKind::Paren(of) => plain_truth(of),
        TypeKind::Collection(_, of) => of.iter_mut().for_each(plain_truth),
        TypeKind::Named(_) | TypeKind::Range(..) => {}
    }
}
