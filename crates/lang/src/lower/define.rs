//! Types, constants, functions, variables, clocks and messages.

use std::rc::Rc;

use indexmap::IndexMap;
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{Constructor, DataField, DataId, DataKind, DataSort, Sort};
use ioxide_model::sts::{Clock, Gate, GateKind, StateVar};
use ioxide_model::term::{FnId, RecursiveFunction, Term, VarId};
use ioxide_model::value::Value;

use super::{Lowering, doc};
use crate::ast::{
    AttrKind, ConstDecl, DirectionDecl, EnumDecl, ExprKind, FieldDecl, FnDecl, ItemKind, MessageDecl,
    ModelItem, Name, RecordDecl, VarDecl,
};
use crate::lexer::{TokenKind, lex};
use crate::parser::Parser;
use crate::resolve::{NameTable, definition_order, each_child};
use crate::sink::FindingSink;
use crate::typeck::{ExprContext, FieldItem, FnItem, FunctionInProgress, GateItem, SortRole, ValueItem};

impl<'a> Lowering<'a, '_> {
    /// Everything that transitions can mention.
    pub(super) fn define_all(&mut self, items: &'a [ModelItem]) {
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
        self.check_types(items);
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
    fn declare_names(&mut self, items: &'a [ModelItem]) {
        for item in items {
            let cx = &mut self.cx;
            match &item.kind {
                ItemKind::Var(decl) => cx.values.declare(cx.sink, &decl.name, ValueItem::LaterVar),
                ItemKind::Clock(name) => cx.values.declare(cx.sink, name, ValueItem::LaterClock),
                ItemKind::Const(decl) => cx.values.declare(cx.sink, &decl.name, ValueItem::Broken),
                ItemKind::Type(decl) => declare_type(cx, &decl.name),
                ItemKind::Record(decl) => {
                    declare_type(cx, &decl.name);
                    self.declare_data(&decl.name, DataKind::Record);
                }
                ItemKind::Enum(decl) => {
                    declare_type(cx, &decl.name);
                    for variant in &decl.variants {
                        cx.values.declare(cx.sink, &variant.name, ValueItem::Broken);
                    }
                    self.declare_data(&decl.name, DataKind::Enum);
                }
                ItemKind::Fn(decl) => cx.functions.declare(cx.sink, &decl.name, None),
                _ => {}
            }
        }
    }

    /// Makes an enum or record known before it is defined, so that it can hold itself.
    fn declare_data(&mut self, name: &Name, kind: DataKind) {
        let unknown = Constructor { name: "?".into(), fields: Vec::new() };
        let data = DataSort { name: name.text.as_str().into(), kind, ctors: vec![unknown] };
        let id = self.cx.pool.declare_data(data);
        self.cx.undefined.insert(id);
        self.set_type(name, Some(Sort::Data(id)));
    }

    /// Gives a declared enum or record its constructors.
    fn define_data(&mut self, name: &Name, ctors: Vec<Constructor>) -> Option<DataId> {
        let entry = self.cx.types.get(&name.text).filter(|entry| entry.span == name.span)?;
        let Some(Sort::Data(id)) = entry.item else { return None };
        self.cx.pool.define_data(id, ctors);
        self.cx.undefined.remove(&id);
        Some(id)
    }

    /// Every type has a finite value, and not too many parts.
    fn check_types(&mut self, items: &'a [ModelItem]) {
        for item in items {
            let name = match &item.kind {
                ItemKind::Enum(decl) => &decl.name,
                ItemKind::Record(decl) => &decl.name,
                _ => continue,
            };
            let id = match self.cx.types.get(&name.text).filter(|entry| entry.span == name.span) {
                Some(entry) => match entry.item {
                    Some(Sort::Data(id)) => id,
                    _ => continue,
                },
                None => continue,
            };
            if self.cx.pool.finite_ctor(id).is_none() {
                self.cx.sink.error(|| {
                    let message = format!("a value of `{}` would never end", name.text);
                    Diagnostic::new(Code::CyclicDefinition, name.span, message)
                        .note("every value of it holds another one")
                        .help("hold it in an option or a list, or add a case that does not hold it")
                });
            } else if !self.cx.check_size(name, id) {
                // Types that hold this one would be reported for the same reason.
                return;
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
        let mut ctors = Vec::with_capacity(decl.variants.len());
        for variant in &decl.variants {
            let fields = self.fields(&variant.fields, "field");
            ctors.push(fields.map(|fields| Constructor { name: variant.name.text.as_str().into(), fields }));
        }
        let Some(ctors) = ctors.into_iter().collect::<Option<Vec<_>>>() else {
            return self.set_type(&decl.name, None);
        };
        let Some(id) = self.define_data(&decl.name, ctors) else { return };
        for (at, variant) in decl.variants.iter().enumerate() {
            self.set_value(&variant.name, ValueItem::Variant(id, u32::try_from(at).unwrap_or(u32::MAX)));
        }
    }

    fn define_record(&mut self, decl: &RecordDecl) {
        let Some(fields) = self.fields(&decl.fields, "field") else {
            return self.set_type(&decl.name, None);
        };
        let ctor = Constructor { name: decl.name.text.as_str().into(), fields };
        self.define_data(&decl.name, vec![ctor]);
    }

    /// The fields of a record, all with their sorts.
    fn fields(&mut self, fields: &[FieldDecl], what: &'static str) -> Option<Vec<DataField>> {
        let mut names: NameTable<'_, ()> = NameTable::new(what);
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
                    .constant(&decl.value, sort, SortRole::Constant(&decl.name.text))
                    .map(|value| (value, sort))
            }
            None => {
                let (term, obligations) =
                    self.cx.at(ExprContext::Constant, None, |cx| cx.infer(&decl.value, None));
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
        let mut findings = FindingSink::default();
        let file = self.sts.gates[ioxide_model::sts::Sts::TAU].span.file;
        let lexed = lex(text);
        let mut parser = Parser::new(text, file, &lexed, &mut findings);
        let expr = parser.expr();
        let complete = parser.at(TokenKind::End);
        let value = match expr {
            Ok(expr) if complete && !findings.has_errors() => {
                std::mem::swap(self.cx.sink, &mut findings);
                let value = self.cx.constant(&expr, sort, SortRole::Constant("it"));
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
        self.cx.param_order = params.iter().map(|(name, _)| name.clone()).collect();
        let recursive = calls_itself(decl).then(|| self.open_function(decl, &params, result));
        let (body, obligations) = self.cx.at(ExprContext::Function, None, |cx| {
            cx.check(&decl.body, result, SortRole::Result(&decl.name.text))
        });
        self.cx.params.clear();
        self.cx.param_order.clear();
        if let (Some(id), Some(body)) = (recursive, body) {
            self.close_function(decl, id, body, &obligations);
        }
        self.cx.defining = None;
        if let (Some(body), Some(entry)) = (body, self.cx.functions.get_mut(&decl.name.text))
            && entry.span == decl.name.span
        {
            entry.item = Some(Rc::new(FnItem { recursive, params, body, obligations }));
        }
    }

    /// Makes a function known that calls itself, before its body is looked at.
    fn open_function(&mut self, decl: &FnDecl, params: &[(String, VarId)], result: Sort) -> FnId {
        let name = &decl.name.text;
        let vars: Vec<VarId> = params.iter().map(|(_, var)| *var).collect();
        let declared =
            RecursiveFunction { name: name.as_str().into(), params: vars, result, body: None, descends: 0 };
        let id = self.cx.pool.declare_function(declared);
        let descends = (0..params.len()).collect();
        self.cx.defining = Some(FunctionInProgress { id, descends });
        let body = self.cx.pool.tt();
        let item = FnItem { recursive: Some(id), params: params.to_vec(), body, obligations: Vec::new() };
        if let Some(entry) = self.cx.functions.get_mut(name)
            && entry.span == decl.name.span
        {
            entry.item = Some(Rc::new(item));
        }
        id
    }

    fn close_function(&mut self, decl: &FnDecl, id: FnId, body: Term, obligations: &[Term]) {
        if !obligations.is_empty() {
            self.cx.sink.error(|| {
                let message = format!("`{}` calls itself, so it cannot have obligations", decl.name.text);
                Diagnostic::new(Code::MayNotEnd, decl.name.span, message)
                    .note("`xs[i]`, `m[k]` and values of range types must be there or fit wherever the function is called")
                    .help("use `get` and `match`, and `int` instead of a range")
            });
        }
        let descends = self.cx.defining.as_ref().and_then(|defining| defining.descends.first().copied());
        self.cx.pool.define_function(id, body, descends.unwrap_or(0));
    }

    // Variables, clocks, messages.

    fn define_variable(&mut self, decl: &VarDecl) {
        let sort = self.cx.sort(&decl.ty);
        let name = &decl.name;
        let init: Option<Option<Term>> = match (&decl.init, sort) {
            (None, _) => Some(None),
            (Some(init), Some(sort)) => {
                let value = self.cx.constant(init, sort, SortRole::Variable(&name.text));
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

    fn define_message(&mut self, message: &'a MessageDecl, item: &ModelItem) {
        let kind = match message.direction {
            DirectionDecl::Input => GateKind::Input,
            DirectionDecl::Observed => GateKind::Observed,
            DirectionDecl::Output => GateKind::Output,
        };
        let mut names: NameTable<'_, ()> = NameTable::new("field");
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
    fn check_weights(&mut self, item: &ModelItem) {
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

/// Whether the body of a function calls it.
fn calls_itself(decl: &FnDecl) -> bool {
    let mut open = vec![&decl.body];
    while let Some(expr) = open.pop() {
        if matches!(&expr.kind, ExprKind::Call(name, _) if name.text == decl.name.text) {
            return true;
        }
        each_child(expr, &mut |child| open.push(child));
    }
    false
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
