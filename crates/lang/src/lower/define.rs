//! Types, constants, functions, variables, clocks and messages.

use std::rc::Rc;

use indexmap::IndexMap;
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{Ctor, Data, DataField, DataKind, Sort};
use ioxide_model::sts::{Clock, Gate, GateKind, StateVar};
use ioxide_model::term::Term;
use ioxide_model::value::Value;

use super::{Lowering, doc};
use crate::ast::{
    AttrKind, ConstDecl, Direction, EnumDecl, Field, FnDecl, Item, ItemKind, Message, Name, RecordDecl,
    VarDecl,
};
use crate::lexer::{TokenKind, lex};
use crate::parser::Parser;
use crate::resolve::{Table, definition_order};
use crate::sink::Sink;
use crate::typeck::{FieldItem, FnItem, GateItem, Place, Role, ValueItem};

impl<'a> Lowering<'a, '_> {
    /// Everything that transitions can mention.
    pub(super) fn define_all(&mut self, items: &'a [Item]) {
        self.declare_names(items);
        for index in definition_order(items, self.cx.sink) {
            match &items[index].kind {
                ItemKind::Const(decl) => self.define_constant(decl),
                ItemKind::Type(decl) => {
                    let sort = self.cx.sort(&decl.ty);
                    self.set_type(&decl.name, sort);
                }
                ItemKind::Enum(decl) => self.define_enum(decl),
                ItemKind::Record(decl) => self.define_record(decl),
                ItemKind::Fn(decl) => self.define_function(decl),
                _ => {}
            }
        }
        for item in items {
            self.check_weights(item);
            match &item.kind {
                ItemKind::Var(decl) => self.define_variable(decl),
                ItemKind::Clock(name) => self.define_clock(name),
                ItemKind::Message(message) => self.define_message(message, item),
                _ => {}
            }
        }
    }

    /// Puts every name into its table, in the order of the text.
    fn declare_names(&mut self, items: &'a [Item]) {
        for item in items {
            let cx = &mut self.cx;
            match &item.kind {
                ItemKind::Var(decl) => cx.values.declare(cx.sink, &decl.name, ValueItem::LaterVar),
                ItemKind::Clock(name) => cx.values.declare(cx.sink, name, ValueItem::LaterClock),
                ItemKind::Const(decl) => cx.values.declare(cx.sink, &decl.name, ValueItem::Broken),
                ItemKind::Type(decl) => declare_type(cx, &decl.name),
                ItemKind::Record(decl) => declare_type(cx, &decl.name),
                ItemKind::Enum(decl) => {
                    declare_type(cx, &decl.name);
                    for variant in &decl.variants {
                        cx.values.declare(cx.sink, variant, ValueItem::Broken);
                    }
                }
                ItemKind::Fn(decl) => cx.functions.declare(cx.sink, &decl.name, None),
                _ => {}
            }
        }
    }

    fn set_type(&mut self, name: &Name, sort: Option<Sort>) {
        if let Some(entry) = self.cx.types.get_mut(&name.text)
            && entry.span == name.span
        {
            entry.item = sort;
        }
    }

    fn set_value(&mut self, name: &Name, item: ValueItem) {
        if let Some(entry) = self.cx.values.get_mut(&name.text)
            && entry.span == name.span
        {
            entry.item = item;
        }
    }

    fn define_enum(&mut self, decl: &EnumDecl) {
        let ctors =
            decl.variants.iter().map(|name| Ctor { name: name.text.as_str().into(), fields: Vec::new() });
        let data =
            Data { name: decl.name.text.as_str().into(), kind: DataKind::Enum, ctors: ctors.collect() };
        let id = self.cx.pool.declare_data(data);
        for (at, variant) in decl.variants.iter().enumerate() {
            self.set_value(variant, ValueItem::Variant(id, u32::try_from(at).unwrap_or(u32::MAX)));
        }
        self.set_type(&decl.name, Some(Sort::Data(id)));
    }

    fn define_record(&mut self, decl: &RecordDecl) {
        let Some(fields) = self.fields(&decl.fields, "field") else { return };
        let sorts: Vec<Sort> = fields.iter().map(|field| field.sort).collect();
        if !self.cx.check_size(&decl.name, &sorts) {
            return;
        }
        let ctor = Ctor { name: decl.name.text.as_str().into(), fields };
        let data = Data { name: decl.name.text.as_str().into(), kind: DataKind::Record, ctors: vec![ctor] };
        let id = self.cx.pool.declare_data(data);
        self.set_type(&decl.name, Some(Sort::Data(id)));
    }

    /// The fields of a record, all with their sorts.
    fn fields(&mut self, fields: &[Field], what: &'static str) -> Option<Vec<DataField>> {
        let mut names: Table<'_, ()> = Table::new(what);
        let mut found = Vec::with_capacity(fields.len());
        for field in fields {
            names.declare(self.cx.sink, &field.name, ());
            let sort = self.cx.sort(&field.ty);
            found.push(sort.map(|sort| DataField { name: field.name.text.as_str().into(), sort }));
        }
        found.into_iter().collect()
    }

    // Constants.

    fn define_constant(&mut self, decl: &ConstDecl) {
        let written = match &decl.ty {
            Some(ty) => {
                let Some(sort) = self.cx.sort(ty) else { return };
                self.cx
                    .constant(&decl.value, sort, Role::Constant(&decl.name.text))
                    .map(|value| (value, sort))
            }
            None => {
                let (term, obligations) = self.cx.at(Place::Constant, None, |cx| cx.infer(&decl.value, None));
                term.and_then(|term| {
                    let value = self.cx.ground_value(term, &obligations, decl.value.span)?;
                    Some((value, self.cx.pool.sort(term).base()))
                })
            }
        };
        let Some((mut value, sort)) = written else { return };
        if let Some(text) = self.overriding(&decl.name.text) {
            match self.override_value(text, sort) {
                Ok(other) => value = other,
                Err(why) => {
                    let message = format!("`--set {}={text}` does not fit: {why}", decl.name.text);
                    self.cx.sink.error(|| Diagnostic::new(Code::BadOverride, decl.name.span, message));
                    return;
                }
            }
        }
        let term = self.cx.pool.value(value);
        self.set_value(&decl.name, ValueItem::Const(term));
    }

    fn overriding(&self, name: &str) -> Option<&'a str> {
        let options = self.options;
        options.overrides.iter().rev().find(|(constant, _)| constant == name).map(|(_, text)| text.as_str())
    }

    /// Reads an override as an expression of `sort`; a string needs no quotes.
    fn override_value(&mut self, text: &str, sort: Sort) -> Result<Value, String> {
        if sort == Sort::Str && !text.trim_start().starts_with('"') {
            return Ok(Value::str(text));
        }
        let mut findings = Sink::default();
        let file = self.sts.gates[ioxide_model::sts::Sts::TAU].span.file;
        let lexed = lex(text);
        let mut parser = Parser::new(text, file, &lexed, &mut findings);
        let expr = parser.expr();
        let complete = parser.at(TokenKind::End);
        let value = match expr {
            Ok(expr) if complete && !findings.has_errors() => {
                std::mem::swap(self.cx.sink, &mut findings);
                let value = self.cx.constant(&expr, sort, Role::Constant("it"));
                std::mem::swap(self.cx.sink, &mut findings);
                value
            }
            _ => None,
        };
        let why = findings.finish().into_iter().next();
        value.ok_or_else(|| why.map_or("it is not an expression".into(), |finding| finding.message))
    }

    // Functions.

    fn define_function(&mut self, decl: &'a FnDecl) {
        let Some(fields) = self.fields(&decl.params, "parameter") else { return };
        let Some(result) = self.cx.sort(&decl.result) else { return };
        let params: Vec<_> = fields
            .iter()
            .map(|field| (field.name.to_string(), self.cx.pool.declare(&field.name, field.sort)))
            .collect();
        self.cx.params = params.iter().cloned().collect();
        let (body, obligations) = self
            .cx
            .at(Place::Function, None, |cx| cx.check(&decl.body, result, Role::Result(&decl.name.text)));
        self.cx.params.clear();
        if let (Some(body), Some(entry)) = (body, self.cx.functions.get_mut(&decl.name.text))
            && entry.span == decl.name.span
        {
            entry.item = Some(Rc::new(FnItem { params, body, obligations }));
        }
    }

    // Variables, clocks, messages.

    fn define_variable(&mut self, decl: &VarDecl) {
        let sort = self.cx.sort(&decl.ty);
        let name = &decl.name;
        let init: Option<Option<Term>> = match (&decl.init, sort) {
            (None, _) => Some(None),
            (Some(init), Some(sort)) => {
                let value = self.cx.constant(init, sort, Role::Variable(&name.text));
                value.map(|value| Some(self.cx.pool.value(value)))
            }
            (Some(_), None) => None,
        };
        let Some(sort) = sort else { return self.set_value(name, ValueItem::Broken) };
        let var = self.cx.pool.declare(&name.text, sort);
        self.set_value(name, ValueItem::Var(var));
        self.sts.vars.push(StateVar { var, init: init.flatten(), span: name.span });
    }

    fn define_clock(&mut self, name: &Name) {
        let var = self.cx.pool.declare(&name.text, Sort::Real);
        self.set_value(name, ValueItem::Clock(var));
        self.sts.clocks.push(Clock { var, span: name.span });
    }

    fn define_message(&mut self, message: &'a Message, item: &Item) {
        let kind = match message.direction {
            Direction::Input => GateKind::Input,
            Direction::Observed => GateKind::Observed,
            Direction::Output => GateKind::Output,
        };
        let mut names: Table<'_, ()> = Table::new("field");
        let mut fields: IndexMap<String, FieldItem, rustc_hash::FxBuildHasher> = IndexMap::default();
        let mut vars = Vec::with_capacity(message.fields.len());
        for field in &message.fields {
            names.declare(self.cx.sink, &field.name, ());
            let sort = self.cx.sort(&field.ty);
            let var = sort.map(|sort| self.cx.pool.declare(&field.name.text, sort));
            vars.extend(var);
            fields.insert(field.name.text.clone(), FieldItem { var, span: field.name.span });
        }
        let gate = self.sts.gates.next_id();
        self.cx.gates.declare(self.cx.sink, &message.name, Rc::new(GateItem { gate, kind, fields }));
        let name = message.name.text.as_str().into();
        self.sts.gates.push(Gate { name, kind, fields: vars, span: message.name.span, doc: doc(&item.meta) });
    }

    /// `@weight` belongs to transitions only; messages, variables and types have no `@req` either.
    fn check_weights(&mut self, item: &Item) {
        let is_transition = matches!(item.kind, ItemKind::Transition(_));
        let takes_req = matches!(
            item.kind,
            ItemKind::State(_)
                | ItemKind::Transition(_)
                | ItemKind::Purpose(_)
                | ItemKind::Property(_)
                | ItemKind::Test(_)
        );
        for attr in &item.meta.attrs {
            let fits = match attr.kind {
                AttrKind::Weight(_) => is_transition,
                AttrKind::Req(_) => takes_req,
            };
            if !fits {
                self.cx.sink.error(|| {
                    Diagnostic::new(Code::BadAttribute, attr.span, "this attribute does not fit here")
                        .help("`@weight` belongs to transitions, `@req` to states, transitions, purposes, properties and tests")
                });
            }
        }
    }
}

fn declare_type<'a>(cx: &mut crate::typeck::Checker<'a, '_>, name: &'a Name) {
    if matches!(name.text.as_str(), "bool" | "int" | "real" | "string") {
        cx.sink.error(|| {
            Diagnostic::new(Code::DuplicateName, name.span, format!("type `{}` exists already", name.text))
                .help("pick another name")
        });
    }
    cx.types.declare(cx.sink, name, None);
}
