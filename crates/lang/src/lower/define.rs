//! Lowering of types, constants, functions, variables, clocks and messages.

use std::fmt;
use std::rc::Rc;

use indexmap::IndexMap;
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{Constructor, DataField, DataId, DataKind, DataSort, Sort};
use ioxide_model::sts::{Clock, Gate, GateKind, StateVar};
use ioxide_model::term::{FnId, RecursiveFunction, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

use super::{Lowering, doc};
use crate::ast::{
    AttrKind, ConstDecl, DirectionDecl, EnumDecl, ExprKind, FieldDecl, FnDecl, ItemKind, MessageDecl,
    ModelItem, Name, RecordDecl, VarDecl,
};
use crate::lexer::{TokenKind, lex};
use crate::parser::Parser;
use crate::resolve::{DefinitionOrder, NameTable, definition_order, each_child};
use crate::sink::{FindingSink, Reported};
use crate::typeck::{
    BoundName, CallDescent, DeclaredItem, ExprContext, FieldItem, FnItem, FunctionInProgress, GateItem,
    NumberFacts, ObligationCause, SortRole, ValueItem, number_descents,
};

/// The greatest number of values for which an obligation of a function that calls itself is evaluated. Chosen by feel:
/// it is evaluated once, when the model is read.
const MAX_OBLIGATION_CASES: i128 = 4096;

/// The reason why a text of `--set` is no value of its constant; `None` if it is no expression at all.
struct UnfitOverride(Option<String>);

impl fmt::Display for UnfitOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(reason) => f.write_str(reason),
            None => f.write_str("it is not an expression"),
        }
    }
}

impl<'a> Lowering<'a, '_> {
    /// Defines all names that transitions can mention.
    pub(super) fn define_all(&mut self, items: &'a [ModelItem]) {
        // All names first: definitions may refer to each other in any order.
        self.declare_names(items);
        let DefinitionOrder { order, circular } = definition_order(items, self.cx.sink);
        for (index, why) in circular {
            self.break_definition(&items[index], why);
        }
        for index in order {
            match &items[index].kind {
                ItemKind::Const(decl) => self.define_constant(decl),
                ItemKind::Type(decl) => {
                    let sort = self.cx.resolve_sort(&decl.ty);
                    self.set_type(&decl.name, sort.into());
                }
                ItemKind::Enum(decl) => self.define_enum(decl),
                ItemKind::Record(decl) => self.define_record(decl),
                ItemKind::Fn(decl) => self.define_function(decl),
                _ => {}
            }
        }
        // Only now every type has its constructors, which finiteness and size depend on.
        self.check_types(items);
        // Variables, clocks and messages in the order of the text. Nothing refers to them while definitions
        // are read.
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

    /// Marks the definition of `item` as broken.
    fn break_definition(&mut self, item: &ModelItem, why: Reported) {
        match &item.kind {
            ItemKind::Const(decl) => self.set_value(&decl.name, ValueItem::Broken(why)),
            ItemKind::Type(decl) => self.set_type(&decl.name, DeclaredItem::Broken(why)),
            ItemKind::Fn(decl) => self.set_function(&decl.name, DeclaredItem::Broken(why)),
            _ => {}
        }
    }

    /// Puts every name into its table, in the order of the text.
    fn declare_names(&mut self, items: &'a [ModelItem]) {
        for item in items {
            let cx = &mut self.cx;
            match &item.kind {
                ItemKind::Var(decl) => cx.values.declare(cx.sink, &decl.name, ValueItem::LaterVar),
                ItemKind::Clock(name) => cx.values.declare(cx.sink, name, ValueItem::LaterClock),
                ItemKind::Const(decl) => cx.values.declare(cx.sink, &decl.name, ValueItem::LaterConst),
                ItemKind::Type(decl) => declare_type(cx, &decl.name),
                ItemKind::Record(decl) => {
                    declare_type(cx, &decl.name);
                    self.declare_data(&decl.name, DataKind::Record);
                }
                ItemKind::Enum(decl) => {
                    declare_type(cx, &decl.name);
                    for variant in &decl.variants {
                        cx.values.declare(cx.sink, &variant.name, ValueItem::LaterConst);
                    }
                    self.declare_data(&decl.name, DataKind::Enum);
                }
                ItemKind::Fn(decl) => cx.functions.declare(cx.sink, &decl.name, DeclaredItem::Later),
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
        self.set_type(name, DeclaredItem::Defined(Sort::Data(id)));
    }

    /// Gives a declared enum or record its constructors; `None` if another type has its name.
    fn define_data(&mut self, name: &Name, ctors: Vec<Constructor>) -> Option<DataId> {
        let entry = self.cx.types.get(&name.text).filter(|entry| entry.span == name.span)?;
        let DeclaredItem::Defined(Sort::Data(id)) = entry.item else { return None };
        self.cx.pool.define_data(id, ctors);
        self.cx.undefined.remove(&id);
        Some(id)
    }

    /// Checks that every type has a finite value, and not too many parts.
    fn check_types(&mut self, items: &'a [ModelItem]) {
        for item in items {
            let name = match &item.kind {
                ItemKind::Enum(decl) => &decl.name,
                ItemKind::Record(decl) => &decl.name,
                _ => continue,
            };
            let id = match self.cx.types.get(&name.text).filter(|entry| entry.span == name.span) {
                Some(entry) => match entry.item {
                    DeclaredItem::Defined(Sort::Data(id)) => id,
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
            } else if self.cx.check_size(name, id).is_err() {
                // Types that hold this one would be reported for the same reason.
                return;
            }
        }
    }

    fn set_type(&mut self, name: &Name, sort: DeclaredItem<Sort>) {
        if let Some(entry) = self.cx.types.get_mut(&name.text)
            // Of two declarations of a name only the first is in the table. The second must not overwrite it.
            && entry.span == name.span
        {
            entry.item = sort;
        }
    }

    fn set_function(&mut self, name: &Name, item: DeclaredItem<Rc<FnItem>>) {
        if let Some(entry) = self.cx.functions.get_mut(&name.text)
            && entry.span == name.span
        {
            entry.item = item;
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
            let fields = self.check_fields(&variant.fields, "field");
            ctors.push(fields.map(|fields| Constructor { name: variant.name.text.as_str().into(), fields }));
        }
        let ctors = match ctors.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(ctors) => ctors,
            Err(why) => {
                decl.variants.iter().for_each(|it| self.set_value(&it.name, ValueItem::Broken(why)));
                return self.set_type(&decl.name, DeclaredItem::Broken(why));
            }
        };
        let Some(id) = self.define_data(&decl.name, ctors) else { return };
        for (at, variant) in decl.variants.iter().enumerate() {
            self.set_value(&variant.name, ValueItem::Variant(id, u32::try_from(at).unwrap_or(u32::MAX)));
        }
    }

    fn define_record(&mut self, decl: &RecordDecl) {
        let fields = match self.check_fields(&decl.fields, "field") {
            Ok(fields) => fields,
            Err(why) => return self.set_type(&decl.name, DeclaredItem::Broken(why)),
        };
        let ctor = Constructor { name: decl.name.text.as_str().into(), fields };
        self.define_data(&decl.name, vec![ctor]);
    }

    /// The fields of a record, all with their sorts.
    fn check_fields(&mut self, fields: &[FieldDecl], what: &'static str) -> Result<Vec<DataField>, Reported> {
        let mut names: NameTable<'_, ()> = NameTable::new(what);
        let mut found = Vec::with_capacity(fields.len());
        for field in fields {
            names.declare(self.cx.sink, &field.name, ());
            let sort = self.cx.resolve_sort(&field.ty);
            found.push(sort.map(|sort| DataField { name: field.name.text.as_str().into(), sort }));
        }
        found.into_iter().collect()
    }

    // Constants.

    fn define_constant(&mut self, decl: &ConstDecl) {
        let item = match self.constant_value(decl) {
            Ok(value) => ValueItem::Const(self.cx.pool.value(value)),
            Err(why) => ValueItem::Broken(why),
        };
        self.set_value(&decl.name, item);
    }

    fn constant_value(&mut self, decl: &ConstDecl) -> Result<Value, Reported> {
        // Also if it is overridden: the written value says what the sort is, and its errors count.
        let (value, sort) = self.written_value(decl)?;
        let Some(text) = self.overriding(&decl.name.text) else {
            return self.part_constant(&decl.name.text, sort).unwrap_or(Ok(value));
        };
        self.override_value(text, sort).map_err(|why| {
            let message = format!("`--set {}={text}` does not fit: {why}", decl.name.text);
            self.cx.sink.error(|| Diagnostic::new(Code::BadOverride, decl.name.span, message))
        })
    }

    /// The value of a constant that is not overridden, and its sort.
    fn written_value(&mut self, decl: &ConstDecl) -> Result<(Value, Sort), Reported> {
        if let Some(ty) = &decl.ty {
            let sort = self.cx.resolve_sort(ty)?;
            let value = self.cx.constant_value(&decl.value, sort, SortRole::Constant(&decl.name.text))?;
            return Ok((value, sort));
        }
        let (term, obligations) =
            self.cx.check_at(ExprContext::Constant, None, |cx| cx.infer(&decl.value, None));
        let term = term?;
        let value = self.cx.ground_value(term, &obligations, decl.value.span)?;
        Ok((value, self.cx.pool.sort(term).base()))
    }

    /// Returns the text that the command line gives for a constant, if it does; the last one counts.
    fn overriding(&self, name: &str) -> Option<&'a str> {
        let options = self.options;
        options.overrides.iter().rev().find(|(constant, _)| constant == name).map(|(_, text)| text.as_str())
    }

    /// Returns the value that the system gives for a constant of this part, if it does.
    fn part_constant(&mut self, name: &str, sort: Sort) -> Option<Result<Value, Reported>> {
        let options = self.options;
        let given = options.part_constants.iter().rev().find(|constant| constant.name == name)?;
        let before = self.cx.bound.len();
        // The expression comes from the text of the system, whose constants this model does not know. They
        // are bound as names for the time being.
        for (name, value) in &given.names {
            let term = self.cx.pool.value(value.clone());
            self.cx.bound.push(BoundName { name: name.clone(), term, part_of: None });
        }
        let value = self.cx.constant_value(&given.value, sort, SortRole::Constant(name));
        self.cx.bound.truncate(before);
        Some(value)
    }

    /// Reads an override as an expression of `sort`; a string needs no quotes.
    fn override_value(&mut self, text: &str, sort: Sort) -> Result<Value, UnfitOverride> {
        // A text on a command line has no quotes of its own.
        if sort == Sort::Str && !text.trim_start().starts_with('"') {
            return Ok(Value::str(text));
        }
        let mut findings = FindingSink::default();
        let file = self.sts.gates[ioxide_model::sts::Sts::TAU].span.file;
        let lexed = lex(text);
        let mut parser = Parser::new(text, file, &lexed, &mut findings);
        let expr = parser.parse_expr();
        let complete = parser.is_at(TokenKind::End);
        let value = match expr {
            Ok(expr) if complete && !findings.has_errors() => {
                // Findings about the override go into a sink of their own and become one message. They have
                // no place in the model's text.
                std::mem::swap(self.cx.sink, &mut findings);
                let value = self.cx.constant_value(&expr, sort, SortRole::Constant("it"));
                std::mem::swap(self.cx.sink, &mut findings);
                value.ok()
            }
            _ => None,
        };
        value
            .ok_or_else(|| UnfitOverride(findings.finish().into_iter().next().map(|finding| finding.message)))
    }

    // Functions.

    fn define_function(&mut self, decl: &'a FnDecl) {
        let signature = self.check_fields(&decl.params, "parameter").and_then(|fields| {
            let result = self.cx.resolve_sort(&decl.result)?;
            Ok((fields, result))
        });
        let (fields, result) = match signature {
            Ok(signature) => signature,
            Err(why) => return self.set_function(&decl.name, DeclaredItem::Broken(why)),
        };
        let params: Vec<_> = fields
            .iter()
            .map(|field| (field.name.to_string(), self.cx.pool.declare(&field.name, field.sort)))
            .collect();
        self.cx.params = params.iter().cloned().collect();
        self.cx.param_order = params.iter().map(|(name, _)| name.clone()).collect();
        // Declared before the body is checked, so that calls in it have something to call.
        let recursive = calls_itself(decl).then(|| self.open_function(decl, &params, result));
        self.cx.obliged_by = None;
        let (body, obligations) = self.cx.check_at(ExprContext::Function, None, |cx| {
            cx.check(&decl.body, result, SortRole::Result(&decl.name.text))
        });
        self.cx.params.clear();
        self.cx.param_order.clear();
        // One that may not end gets no body: a constant must not compute it.
        let may_end = self.cx.defining.as_ref().is_none_or(|defining| defining.may_end);
        if let (Some(id), Ok(body), true) = (recursive, body, may_end) {
            self.close_function(decl, id, body, &obligations);
        }
        self.cx.defining = None;
        // One that calls itself stays known by its signature: other calls of it are looked at all the same.
        if body.is_ok() && may_end || recursive.is_none() {
            let item = body.map(|body| Rc::new(FnItem { recursive, params, body, obligations }));
            self.set_function(&decl.name, item.into());
        }
    }

    /// Declares a function that calls itself, before its body is checked.
    fn open_function(&mut self, decl: &FnDecl, params: &[(String, VarId)], result: Sort) -> FnId {
        let name = &decl.name.text;
        let vars: Vec<VarId> = params.iter().map(|(_, var)| *var).collect();
        let declared = RecursiveFunction {
            name: name.as_str().into(),
            params: vars,
            result,
            body: None,
            descends: Vec::new(),
        };
        let id = self.cx.pool.declare_function(declared);
        let sorts: Vec<Sort> = params.iter().map(|(_, var)| self.cx.pool.var_info(*var).sort).collect();
        let is_number: Vec<bool> = sorts.iter().map(|sort| sort.base() == Sort::Int).collect();
        let known = sorts.iter().map(|sort| match *sort {
            Sort::Int => Some(NumberFacts::default()),
            Sort::Range { lo, hi } => Some(NumberFacts::between(lo, hi)),
            _ => None,
        });
        let on_numbers = number_descents(decl, known.collect(), &|name| self.constant_number(name));
        let descends = CallDescent::all(&is_number);
        // All ways are possible at first; each call in the body leaves those on which it descends.
        self.cx.defining = Some(FunctionInProgress { id, descends, on_numbers, may_end: true });
        let body = self.cx.pool.tt();
        let item = FnItem { recursive: Some(id), params: params.to_vec(), body, obligations: Vec::new() };
        self.set_function(&decl.name, DeclaredItem::Defined(Rc::new(item)));
        id
    }

    /// Returns the value of a constant of the model that is a whole number.
    fn constant_number(&self, name: &str) -> Option<i128> {
        let ValueItem::Const(term) = self.cx.values.get(name)?.item else { return None };
        self.cx.pool.as_value(term)?.as_int()?.to_i64().map(i128::from)
    }

    fn close_function(&mut self, decl: &FnDecl, id: FnId, body: Term, obligations: &[Term]) {
        // An obligation of a function that calls itself would have to hold for every call it makes. It is
        // accepted only where it holds for all values of the parameters.
        if !obligations.iter().all(|&obligation| self.holds_in_ranges(obligation)) {
            let cause = self.cx.obliged_by.take();
            self.cx.sink.error(|| obligation_finding(decl, cause));
        }
        let descends = self.cx.defining.as_ref().and_then(|defining| defining.descends.first().copied());
        // Any way that is left will do: each of them proves that the calls end.
        self.cx.pool.define_function(id, body, descends.map_or_else(Vec::new, CallDescent::deciding));
    }

    /// Returns whether an obligation holds for all values of its parameters, which must be few.
    fn holds_in_ranges(&self, obligation: Term) -> bool {
        let vars = self.cx.pool.free_vars(obligation);
        let ranges: Option<Vec<(VarId, i64, i64)>> = vars
            .iter()
            .map(|&var| match self.cx.pool.var_info(var).sort {
                Sort::Range { lo, hi } => Some((var, lo, hi)),
                _ => None,
            })
            .collect();
        let Some(ranges) = ranges else { return false };
        let size = |&(_, lo, hi): &(VarId, i64, i64)| i128::from(hi) - i128::from(lo) + 1;
        let n_cases = ranges.iter().map(size).try_fold(1i128, i128::checked_mul);
        let Some(n_cases) = n_cases.filter(|&n| n <= MAX_OBLIGATION_CASES) else { return false };
        (0..n_cases).all(|case| {
            // The number of the case in mixed radix: one digit for each parameter.
            let mut rest = case;
            let value = |range: &(VarId, i64, i64)| {
                let (at, size) = (rest % size(range), size(range));
                rest /= size;
                (range.0, Value::int(range.1 + i64::try_from(at).unwrap_or(0)))
            };
            let values: Valuation = ranges.iter().map(value).collect();
            self.cx.pool.holds(obligation, &values) == Ok(true)
        })
    }

    // Variables, clocks, messages.

    fn define_variable(&mut self, decl: &VarDecl) {
        let name = &decl.name;
        let sort = match self.cx.resolve_sort(&decl.ty) {
            Ok(sort) => sort,
            Err(why) => return self.set_value(name, ValueItem::Broken(why)),
        };
        // A value with an error leaves the variable as it is without one.
        let role = SortRole::Variable(&name.text);
        let init = decl.init.as_ref().and_then(|init| self.cx.constant_value(init, sort, role).ok());
        let init = init.map(|value| self.cx.pool.value(value));
        let var = self.cx.pool.declare(&name.text, sort);
        self.set_value(name, ValueItem::Var(var));
        self.sts.vars.push(StateVar { var, init, span: name.span });
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
            let sort = self.cx.resolve_sort(&field.ty);
            let var = sort.map(|sort| self.cx.pool.declare(&field.name.text, sort));
            vars.extend(var);
            // A field of a wrong type is kept with its error, so that uses of it are not reported as unknown.
            fields.insert(field.name.text.clone(), FieldItem { var, span: field.name.span });
        }
        let gate = self.sts.gates.next_id();
        self.cx.gates.declare(self.cx.sink, &message.name, Rc::new(GateItem { gate, kind, fields }));
        let name = message.name.text.as_str().into();
        self.sts.gates.push(Gate { name, kind, fields: vars, span: message.name.span, doc: doc(&item.meta) });
    }

    /// Reports `@weight` on anything but transitions, and `@req` on messages, variables and types.
    fn check_weights(&mut self, item: &ModelItem) {
        let is_transition = matches!(item.kind, ItemKind::Transition(_));
        let takes_req = matches!(
            item.kind,
            ItemKind::State(_)
                | ItemKind::Transition(_)
                | ItemKind::Purpose(_)
                | ItemKind::Property(_)
                | ItemKind::Response(_)
                | ItemKind::Test(_)
        );
        for attr in &item.meta.attrs {
            let fits = match attr.kind {
                AttrKind::Weight(_) => is_transition,
                AttrKind::Req(_) => takes_req,
            };
            if !fits {
                self.cx.sink.error(|| {
                    Diagnostic::new(Code::BadAttribute, attr.span, "this attribute does not fit here").help(
                        "`@weight` belongs to transitions, `@req` to states, transitions, purposes, \
                         properties and tests",
                    )
                });
            }
        }
    }
}

/// Returns the finding that a function which calls itself has an obligation, with the place that has it.
fn obligation_finding(decl: &FnDecl, cause: Option<ObligationCause>) -> Diagnostic {
    let own = &decl.name.text;
    let (message, place) = match &cause {
        Some(ObligationCause::Call(name, span)) => (
            format!("`{own}` calls itself, so it cannot call `{name}`, which has obligations"),
            Some((*span, "called here")),
        ),
        Some(ObligationCause::Item(span)) => (
            format!("`{own}` calls itself, so it cannot require that an item exists"),
            Some((*span, "this item must exist")),
        ),
        Some(ObligationCause::Range(span)) => (
            format!("`{own}` calls itself, so it cannot require that a number fits its range"),
            Some((*span, "this number must fit")),
        ),
        None => (format!("`{own}` calls itself, so it cannot have obligations"), None),
    };
    let diagnostic = Diagnostic::new(Code::MayNotEnd, decl.name.span, message).note(
        "`xs[i]`, `m[k]` and values of range types must exist and fit, in every call that the function makes",
    );
    let diagnostic = match place {
        Some((span, text)) => diagnostic.label(span, text),
        None => diagnostic,
    };
    match &cause {
        Some(ObligationCause::Call(name, _)) => {
            diagnostic.help(format!("in `{name}`, use `get` and `match`, and `int` instead of a range"))
        }
        _ => diagnostic.help("use `get` and `match`, and `int` instead of a range"),
    }
}

/// Returns whether the body of a function calls it.
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
    cx.types.declare(cx.sink, name, DeclaredItem::Later);
}
