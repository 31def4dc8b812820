//! The sorts and functions of a TorXakis text, and those of its library.
//!
//! Functions may share a name if their parameters or results differ. Every type brings its constructors, `isCtor` for
//! each, and its fields as functions. A function that calls itself must do so on a part of a parameter; others are
//! written into their calls.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{Constructor, DataField, DataId, DataKind, DataSort, Sort};
use ioxide_model::term::{FnId, RecursiveFunction, Term, TermPool, VarId};
use ioxide_model::value::Value;

use super::circles::CallGraph;
use super::ends;
use super::tree::{FuncDef, Specification, TypeDef, VarDef};
use super::typing::{Scope, Typing, mentions_any};
use crate::LoadOptions;
use crate::ast::Name;
use crate::sink::{FindingSink, Reported};
use crate::suggest;

/// A constructor, constructor test, field or function, with its signature.
#[derive(Clone, Debug)]
pub(super) struct Callable {
    pub(super) params: Vec<Sort>,
    pub(super) result: Sort,
    pub(super) kind: CallableKind,
}

/// The kinds of callables.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallableKind {
    Construct(DataId, u32),
    Is(u32),
    Select(u32, u32),
    /// A function of the text, by number.
    Defined(usize),
    Library(LibraryFn),
}

/// The predefined functions.
#[derive(Clone, Copy, Debug)]
pub(super) enum LibraryFn {
    Not,
    Abs,
    Len,
    At,
    Take,
    Drop,
    IntToString,
    BoolToString,
    Same,
    EnumToString(DataId),
    IntFromString,
    BoolFromString,
    EnumFromString(DataId),
}

/// The meaning of a function of the text.
#[derive(Clone, Debug)]
pub(super) enum FunctionMeaning {
    /// The body over its parameters.
    Plain(Vec<VarId>, Term),
    Recursive(FnId),
    /// Not defined yet.
    Later,
    /// Defined with an error.
    Broken(Reported),
}

/// Sorts and functions by name.
#[derive(Default)]
pub(super) struct Vocabulary {
    pub(super) sorts: BTreeMap<String, Sort>,
    pub(super) callables: BTreeMap<String, Vec<Callable>>,
    pub(super) meanings: Vec<FunctionMeaning>,
}

/// The vocabulary of `spec`, and a pool with its types and functions.
pub(super) fn vocabulary(
    spec: &Specification,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> (Vocabulary, TermPool) {
    let mut pool = TermPool::new();
    let mut vocabulary = Vocabulary::default();
    for (name, sort) in [("Int", Sort::Int), ("Bool", Sort::Bool), ("String", Sort::Str)] {
        vocabulary.sorts.insert(name.into(), sort);
    }
    vocabulary.add_library();
    vocabulary.declare_types(&spec.types, &mut pool, sink);
    vocabulary.declare_functions(&spec.functions, options, &mut pool, sink);
    (vocabulary, pool)
}

impl Vocabulary {
    /// Returns the sort called `name`.
    pub(super) fn sort(&self, name: &Name, sink: &mut FindingSink) -> Result<Sort, Reported> {
        let found = self.sorts.get(&name.text).copied();
        found.ok_or_else(|| {
            let names = self.sorts.keys().map(String::as_str);
            sink.missing(&name.text, || {
                let message = format!("there is no type `{}`", name.text);
                suggest::suggest_nearest(Diagnostic::new(Code::UnknownType, name.span, message), name, names)
            })
        })
    }

    /// Adds a function that may be called `name`; one name may have several signatures.
    fn add_callable(&mut self, name: &str, params: Vec<Sort>, result: Sort, kind: CallableKind) {
        self.callables.entry(name.to_owned()).or_default().push(Callable { params, result, kind });
    }

    /// Adds the functions that every specification has.
    fn add_library(&mut self) {
        use LibraryFn as F;
        use Sort::{Bool, Int, Str};
        let all: [(&str, &[Sort], Sort, LibraryFn); 13] = [
            ("not", &[Bool], Bool, F::Not),
            ("abs", &[Int], Int, F::Abs),
            ("len", &[Str], Int, F::Len),
            ("at", &[Str, Int], Str, F::At),
            ("take", &[Int, Str], Str, F::Take),
            ("take", &[Str, Int], Str, F::Take),
            ("drop", &[Int, Str], Str, F::Drop),
            ("drop", &[Str, Int], Str, F::Drop),
            ("toString", &[Int], Str, F::IntToString),
            ("toString", &[Bool], Str, F::BoolToString),
            ("toString", &[Str], Str, F::Same),
            ("fromString", &[Str], Int, F::IntFromString),
            ("fromString", &[Str], Bool, F::BoolFromString),
        ];
        for (name, params, result, function) in all {
            self.add_callable(name, params.to_vec(), result, CallableKind::Library(function));
        }
        self.add_callable("fromString", vec![Str], Str, CallableKind::Library(F::Same));
    }

    // Types.

    /// Declares the types, first by name and then with their constructors, so that they may refer to each other.
    fn declare_types(&mut self, types: &[TypeDef], pool: &mut TermPool, sink: &mut FindingSink) {
        let mut declared = Vec::with_capacity(types.len());
        for def in types {
            // A type needs a constructor to be declared. It is replaced when the fields can be resolved.
            let unknown = Constructor { name: "?".into(), fields: Vec::new() };
            let data =
                DataSort { name: def.name.text.as_str().into(), kind: DataKind::Enum, ctors: vec![unknown] };
            let id = pool.declare_data(data);
            if self.sorts.insert(def.name.text.clone(), Sort::Data(id)).is_some() {
                report_twice(sink, "type", &def.name);
            }
            declared.push(id);
        }
        for (def, &id) in types.iter().zip(&declared) {
            self.type_def(def, id, pool, sink);
        }
        for (def, &id) in types.iter().zip(&declared) {
            // Only where all types were read: fields of unknown types were read as `Int`, and `never ends`
            // would be a guess.
            if !sink.has_errors() && pool.finite_ctor(id).is_none() {
                sink.error(|| {
                    let message = format!("a value of `{}` would never end", def.name.text);
                    Diagnostic::new(Code::CyclicDefinition, def.name.span, message)
                        .help("add a constructor that does not hold it")
                });
            }
        }
    }

    fn type_def(&mut self, def: &TypeDef, id: DataId, pool: &mut TermPool, sink: &mut FindingSink) {
        let mut names = BTreeSet::new();
        let mut ctors = Vec::with_capacity(def.ctors.len());
        let own = Sort::Data(id);
        for (at, (name, fields)) in (0u32..).zip(&def.ctors) {
            if !names.insert(&name.text) {
                report_twice(sink, "constructor", name);
            }
            let mut sorts = Vec::with_capacity(fields.len());
            for (position, field) in (0u32..).zip(fields) {
                if !names.insert(&field.name.text) {
                    report_twice(sink, "field", &field.name);
                }
                // A field of a wrong type is reported. With `Int` in its place, expressions that use the
                // field are checked all the same.
                let sort = self.var_sort(field, sink).unwrap_or(Sort::Int);
                self.add_callable(&field.name.text, vec![own], sort, CallableKind::Select(at, position));
                sorts.push(sort);
            }
            let named = fields.iter().zip(&sorts);
            let fields =
                named.map(|(field, &sort)| DataField { name: field.name.text.as_str().into(), sort });
            ctors.push(Constructor { name: name.text.as_str().into(), fields: fields.collect() });
            self.add_callable(&name.text, sorts, own, CallableKind::Construct(id, at));
            self.add_callable(&format!("is{}", name.text), vec![own], Sort::Bool, CallableKind::Is(at));
        }
        let is_enumeration = ctors.iter().all(|ctor| ctor.fields.is_empty());
        pool.define_data(id, ctors);
        if is_enumeration {
            self.add_callable(
                "toString",
                vec![own],
                Sort::Str,
                CallableKind::Library(LibraryFn::EnumToString(id)),
            );
            self.add_callable(
                "fromString",
                vec![Sort::Str],
                own,
                CallableKind::Library(LibraryFn::EnumFromString(id)),
            );
        }
    }

    /// Returns the sort written with a variable; `None` if none is written.
    pub(super) fn written_sort(
        &self,
        var: &VarDef,
        sink: &mut FindingSink,
    ) -> Result<Option<Sort>, Reported> {
        var.sort.as_ref().map(|sort| self.sort(sort, sink)).transpose()
    }

    /// Returns the sort of a variable, which must be written.
    pub(super) fn var_sort(&self, var: &VarDef, sink: &mut FindingSink) -> Result<Sort, Reported> {
        self.written_sort(var, sink)?.ok_or_else(|| {
            sink.error(|| {
                let message = format!("the type of `{}` is not known", var.name.text);
                Diagnostic::new(Code::CannotInfer, var.name.span, message)
                    .help(format!("write it: `{} :: Int`", var.name.text))
            })
        })
    }

    // Functions.

    /// Declares the functions with their signatures, then gives them their meanings.
    fn declare_functions(
        &mut self,
        defs: &[FuncDef],
        options: &LoadOptions,
        pool: &mut TermPool,
        sink: &mut FindingSink,
    ) {
        for (at, def) in defs.iter().enumerate() {
            self.meanings.push(FunctionMeaning::Later);
            let params: Result<Vec<Sort>, Reported> =
                def.params.iter().map(|param| self.var_sort(param, sink)).collect();
            let result = self.sort(&def.result, sink);
            let (params, result) = match params.and_then(|params| Ok((params, result?))) {
                Ok(signature) => signature,
                Err(why) => {
                    self.meanings[at] = FunctionMeaning::Broken(why);
                    continue;
                }
            };
            let known = self.callables.get(&def.name.text).into_iter().flatten();
            if known
                .into_iter()
                // Functions may differ in their result alone, constants may not.
                .any(|other| other.params == params && (other.result == result || params.is_empty()))
            {
                self.meanings[at] = FunctionMeaning::Broken(report_twice(sink, "function", &def.name));
                continue;
            }
            self.add_callable(&def.name.text, params, result, CallableKind::Defined(at));
        }
        check_overrides(defs, options, sink);
        for at in self.definition_order(defs, sink) {
            if matches!(self.meanings[at], FunctionMeaning::Later) {
                self.meanings[at] = self.define_function(defs, at, options, pool, sink);
            }
        }
    }

    /// Returns every function behind those it calls. Functions in a circle are reported and left out; those that only
    /// call one are left out with it.
    fn definition_order(&mut self, defs: &[FuncDef], sink: &mut FindingSink) -> Vec<usize> {
        let graph = CallGraph::new(defs.iter().map(|def| self.called_by(def)).collect());
        let order = graph.order();
        let mut told = None;
        for at in graph.in_circles() {
            let def = &defs[at];
            let why = sink.error(|| {
                let message = format!("`{}` calls itself by way of other functions", def.name.text);
                Diagnostic::new(Code::CyclicDefinition, def.name.span, message)
                    .help("write the functions as one that calls itself")
            });
            self.meanings[at] = FunctionMeaning::Broken(why);
            told = Some(why);
        }
        // A function that is left and in no cycle calls one, so an error was reported.
        let mut is_left = vec![told.is_some(); defs.len()];
        order.iter().for_each(|&at| is_left[at] = false);
        for at in (0..defs.len()).filter(|&at| is_left[at]) {
            if let (Some(why), FunctionMeaning::Later) = (told, &self.meanings[at]) {
                self.meanings[at] = FunctionMeaning::Broken(why);
            }
        }
        order
    }

    /// Returns the functions of the text that `def` calls, by their names and the sorts of values.
    fn called_by(&self, def: &FuncDef) -> BTreeSet<usize> {
        let sort = |name: &Name| self.sorts.get(&name.text).copied();
        let param = |param: &VarDef| {
            let sort = param.sort.as_ref().and_then(sort);
            (param.name.text.clone(), sort.map(|sort| [sort].into()))
        };
        let scope = def.params.iter().map(param).collect();
        let mut found = BTreeSet::new();
        self.add_calls(&def.body, sort(&def.result), &scope, &mut found);
        found
    }

    /// Returns the meaning of function `at`: a body to put in for calls, or a recursive function if its calls surely
    /// end.
    fn define_function(
        &mut self,
        defs: &[FuncDef],
        at: usize,
        options: &LoadOptions,
        pool: &mut TermPool,
        sink: &mut FindingSink,
    ) -> FunctionMeaning {
        let def = &defs[at];
        let mine = self.callables.get(&def.name.text).into_iter().flatten();
        let mine =
            mine.into_iter().find(|callable| matches!(callable.kind, CallableKind::Defined(n) if n == at));
        let Some(Callable { params, result, .. }) = mine.cloned() else { return FunctionMeaning::Later };
        // One that does not fit is reported, and what is written is checked all the same.
        if let Ok(Some(value)) = overriding(def, result, options, sink) {
            return FunctionMeaning::Plain(Vec::new(), pool.value(value));
        }
        let named = def.params.iter().zip(&params);
        let vars: Vec<VarId> = named.map(|(param, &sort)| pool.declare(&param.name.text, sort)).collect();
        let mut scope = Scope::new();
        for (param, &var) in def.params.iter().zip(&vars) {
            if scope.insert(param.name.text.clone(), pool.var(var)).is_some() {
                report_twice(sink, "parameter", &param.name);
            }
        }
        // By name this may be a call of another function. Typing decides, and then the body is asked again.
        let is_recursive = self.called_by(def).contains(&at);
        if !is_recursive {
            let body = Typing { words: self, pool, sink }.check(&def.body, result, &scope);
            let body = body.and_then(|body| known_value(pool, body, def, sink));
            return body.map_or_else(FunctionMeaning::Broken, |body| FunctionMeaning::Plain(vars, body));
        }
        let function = RecursiveFunction {
            name: def.name.text.as_str().into(),
            params: vars.clone(),
            result,
            body: None,
            descends: Vec::new(),
        };
        let id = pool.declare_function(function);
        // Before its body is typed: the calls in it need something to call.
        self.meanings[at] = FunctionMeaning::Recursive(id);
        let body = (Typing { words: self, pool, sink }).check(&def.body, result, &scope);
        let body = match body.and_then(|body| known_value(pool, body, def, sink)) {
            Ok(body) => body,
            Err(why) => return FunctionMeaning::Broken(why),
        };
        if !ends::is_called(pool, body, id) {
            return FunctionMeaning::Plain(vars, body);
        }
        // On a part first: that allows any number of calls on one way, a counted number only one.
        let counted = || ends::counted_parameter(pool, body, id, &vars);
        match ends::descends(pool, body, id, &vars).or_else(counted) {
            Some(position) => {
                pool.define_function(id, body, vec![position]);
                FunctionMeaning::Recursive(id)
            }
            None => FunctionMeaning::Broken(sink.error(|| may_not_end(def))),
        }
    }
}

/// Returns `body` if it does not use `ANY`: a function has one value for the same arguments.
fn known_value(pool: &TermPool, body: Term, def: &FuncDef, sink: &mut FindingSink) -> Result<Term, Reported> {
    if !mentions_any(pool, body) {
        return Ok(body);
    }
    Err(sink.error(|| {
        let message = format!("the value of `{}` depends on `ANY`", def.name.text);
        Diagnostic::new(Code::TxsNotRead, def.name.span, message)
            .help("`ANY` is a value of a process: a parameter, or a value that is sent")
    }))
}

fn may_not_end(def: &FuncDef) -> Diagnostic {
    let message = format!("function `{}` may not end", def.name.text);
    Diagnostic::new(Code::MayNotEnd, def.name.span, message)
        .note("it calls itself more than once on one way, and not always on a part of the same parameter, \
               behind the test that the part is there")
        .help("as in `IF isNode(t) THEN size(left(t)) + size(right(t)) ELSE 1 FI`; along a number, call it once")
}

/// Reports a second declaration of a name.
fn report_twice(sink: &mut FindingSink, what: &str, name: &Name) -> Reported {
    sink.error(|| {
        Diagnostic::new(Code::DuplicateName, name.span, format!("{what} `{}` is declared twice", name.text))
    })
}

/// Reports overrides that name no constant.
fn check_overrides(defs: &[FuncDef], options: &LoadOptions, sink: &mut FindingSink) {
    let constants = || defs.iter().filter(|def| def.is_constant).map(|def| def.name.text.as_str());
    for (name, _) in &options.overrides {
        if ![super::MODEL, super::MAPPER, super::UNFOLD].contains(&name.as_str())
            && !constants().any(|constant| constant == name)
        {
            let place = defs.first().map(|def| def.name.span);
            let place = place
                .unwrap_or_else(|| ioxide_model::source::Span::new(ioxide_model::index::Idx::new(0), 0, 0));
            sink.error(|| crate::lower::unknown_constant(name, place, constants()));
        }
    }
}

/// Returns the value that replaces a constant; `None` if it is not overridden.
fn overriding(
    def: &FuncDef,
    sort: Sort,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Option<Value>, Reported> {
    let is_own = |(name, _): &&(String, String)| def.is_constant && *name == def.name.text;
    let Some((name, text)) = options.overrides.iter().rev().find(is_own) else { return Ok(None) };
    let value = match (sort, text.as_str()) {
        (Sort::Int, text) => text.parse().ok().map(Value::Int),
        (Sort::Bool, "True" | "true") => Some(Value::Bool(true)),
        (Sort::Bool, "False" | "false") => Some(Value::Bool(false)),
        (Sort::Str, text) => Some(Value::str(text)),
        _ => None,
    };
    value.map(Some).ok_or_else(|| {
        sink.error(|| {
            let message = format!("`--set {name}={text}` does not fit: it is `{}`", def.result.text);
            Diagnostic::new(Code::BadOverride, def.name.span, message)
        })
    })
}
