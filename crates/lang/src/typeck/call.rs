//! Calls, record values, fields and the functions of strings.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{DataId, DataKind, Sort};
use ioxide_model::source::Span;
use ioxide_model::term::{Substitution, Term};
use rustc_hash::FxHashMap;

use super::{Checker, Role};
use crate::ast::{Arg, Expr, ExprKind, Name};
use crate::suggest;

/// The functions of strings.
const STRING_FUNCTIONS: [&str; 5] = ["length", "contains", "starts_with", "ends_with", "matches"];

impl Checker<'_, '_> {
    /// `f(a, b)`, or `Point(x: 1, y: 2)`.
    pub(super) fn call(&mut self, name: &Name, args: &[Arg], span: Span) -> Option<Term> {
        if let Some(entry) = self.functions.use_name(&name.text) {
            let function = entry.item.clone();
            let declared = entry.span;
            return self.apply(function?, declared, name, args, span);
        }
        if let Some(entry) = self.types.use_name(&name.text) {
            let declared = entry.span;
            if let Sort::Data(data) = entry.item?
                && self.pool.data(data).kind == DataKind::Record
            {
                return self.record_value(data, declared, name, args);
            }
        }
        self.unknown_function(name);
        None
    }

    fn unknown_function(&mut self, name: &Name) {
        let Self { functions, types, sink, .. } = self;
        sink.missing(&name.text, || {
            let diagnostic = Diagnostic::new(
                Code::UnknownFunction,
                name.span,
                format!("there is no function `{}`", name.text),
            );
            if STRING_FUNCTIONS.contains(&name.text.as_str()) {
                return diagnostic.help(format!("it belongs to strings: `text.{}(...)`", name.text));
            }
            suggest::nearest(diagnostic, name, functions.names().chain(types.names()))
        });
    }

    fn apply(
        &mut self,
        function: std::rc::Rc<super::FnItem>,
        declared: Span,
        name: &Name,
        args: &[Arg],
        span: Span,
    ) -> Option<Term> {
        if let Some(named) = args.iter().find_map(|arg| arg.name.as_ref()) {
            self.sink.error(|| {
                Diagnostic::new(Code::UnexpectedToken, named.span, "arguments of functions have no names")
                    .help(format!("write `{}(value, ...)`", name.text))
            });
            return None;
        }
        if args.len() != function.params.len() {
            let (wanted, found) = (function.params.len(), args.len());
            self.argument_count(name, span, wanted, found, Some(declared));
            return None;
        }
        let mut substitution = Substitution::new();
        let mut complete = true;
        for ((param, var), arg) in function.params.iter().zip(args) {
            let sort = self.pool.var_info(*var).sort;
            match self.check(&arg.value, sort, Role::Parameter(param)) {
                Some(term) => substitution.set(*var, term),
                None => complete = false,
            }
        }
        if !complete {
            return None;
        }
        for &obligation in &function.obligations {
            let obligation = self.pool.substitute(obligation, &substitution);
            self.oblige(obligation);
        }
        let term = self.pool.substitute(function.body, &substitution);
        self.sane(term, span)
    }

    fn argument_count(
        &mut self,
        name: &Name,
        span: Span,
        wanted: usize,
        found: usize,
        declared: Option<Span>,
    ) {
        self.sink.error(|| {
            let arguments = if wanted == 1 { "argument" } else { "arguments" };
            let message = format!("`{}` takes {wanted} {arguments}, here are {found}", name.text);
            let diagnostic = Diagnostic::new(Code::ArgumentCount, span, message);
            match declared {
                Some(declared) => diagnostic.label(declared, "declared here"),
                None => diagnostic,
            }
        });
    }

    fn record_value(&mut self, data: DataId, declared: Span, name: &Name, args: &[Arg]) -> Option<Term> {
        let fields = self.pool.data(data).ctors[0].fields.clone();
        let positions: FxHashMap<&str, usize> =
            fields.iter().enumerate().map(|(at, field)| (&*field.name, at)).collect();
        let mut values: Vec<Option<Term>> = vec![None; fields.len()];
        let mut given = vec![false; fields.len()];
        let mut complete = true;
        for arg in args {
            let at = self.record_field(arg, &positions, name, declared);
            let Some(at) = at else {
                complete = false;
                continue;
            };
            if given[at] {
                self.given_twice(arg);
            }
            given[at] = true;
            values[at] = self.check(&arg.value, fields[at].sort, Role::Field(&fields[at].name));
        }
        let missing: Vec<&str> =
            fields.iter().zip(&given).filter(|(_, given)| !**given).map(|(field, _)| &*field.name).collect();
        if !missing.is_empty() && complete {
            let missing = missing.join("`, `");
            self.sink.error(|| {
                let message = format!("record `{}` lacks the field `{missing}`", name.text);
                Diagnostic::new(Code::MissingRecordField, name.span, message).label(declared, "declared here")
            });
            return None;
        }
        let values: Vec<Term> = values.into_iter().collect::<Option<_>>()?;
        complete.then(|| self.pool.construct(data, 0, values))
    }

    fn record_field(
        &mut self,
        arg: &Arg,
        positions: &FxHashMap<&str, usize>,
        record: &Name,
        declared: Span,
    ) -> Option<usize> {
        let Some(name) = &arg.name else {
            self.sink.error(|| {
                Diagnostic::new(
                    Code::UnexpectedToken,
                    arg.value.span,
                    "the fields of a record are given by name",
                )
                .label(declared, "declared here")
                .help(format!("write `{}(field: value, ...)`", record.text))
            });
            return None;
        };
        let position = positions.get(name.text.as_str()).copied();
        if position.is_none() {
            let mut names: Vec<&str> = positions.keys().copied().collect();
            names.sort_unstable();
            self.unknown_field(name, &format!("record `{}`", record.text), &names, Some(declared));
        }
        position
    }

    fn given_twice(&mut self, arg: &Arg) {
        let span = arg.name.as_ref().map_or(arg.value.span, |name| name.span);
        self.sink.error(|| Diagnostic::new(Code::PinnedTwice, span, "this field is given twice"));
    }

    /// Reports that `owner` has no field `name`.
    pub(crate) fn unknown_field(&mut self, name: &Name, owner: &str, names: &[&str], declared: Option<Span>) {
        self.sink.error(|| {
            let message = format!("{owner} has no field `{}`", name.text);
            let mut diagnostic = Diagnostic::new(Code::UnknownField, name.span, message);
            if let Some(declared) = declared {
                diagnostic = diagnostic.label(declared, "declared here");
            }
            diagnostic = suggest::nearest(diagnostic, name, names.iter().copied());
            match names {
                [] => diagnostic.note("it has no fields"),
                _ if diagnostic.fix.is_some() => diagnostic,
                _ => diagnostic.note(format!("its fields are `{}`", names.join("`, `"))),
            }
        });
    }

    /// `p.x`.
    pub(super) fn field(&mut self, receiver: &Expr, name: &Name) -> Option<Term> {
        let term = self.infer(receiver, None)?;
        let sort = self.pool.sort(term);
        if let Sort::Data(data) = sort
            && self.pool.data(data).kind == DataKind::Record
        {
            let record = self.pool.data(data);
            let names: Vec<String> =
                record.ctors[0].fields.iter().map(|field| field.name.to_string()).collect();
            if let Some(at) = names.iter().position(|field| *field == name.text) {
                return Some(self.pool.select(0, u32::try_from(at).unwrap_or(0), term));
            }
            let owner = format!("record `{}`", record.name);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.unknown_field(name, &owner, &names, None);
            return None;
        }
        let shown = self.pool.show_sort(sort);
        let is_function = STRING_FUNCTIONS.contains(&name.text.as_str());
        self.sink.error(|| {
            let message = format!("{shown} has no fields");
            let diagnostic = Diagnostic::new(Code::NotARecord, name.span, message)
                .label(receiver.span, format!("this is {shown}"));
            if is_function || name.text == "len" {
                let function = if is_function { &name.text } else { "length" };
                return diagnostic.help(format!("call it: `.{function}()`"));
            }
            if shown.ends_with('?') {
                return diagnostic.help("look inside with `match value { none => ..., some(x) => ... }`");
            }
            diagnostic
        });
        None
    }

    /// `s.contains(t)` and its like.
    pub(super) fn method(&mut self, receiver: &Expr, name: &Name, args: &[Expr], span: Span) -> Option<Term> {
        if !STRING_FUNCTIONS.contains(&name.text.as_str()) {
            self.sink.error(|| {
                let message = format!("there is no function `{}` of strings", name.text);
                let diagnostic = Diagnostic::new(Code::UnknownFunction, name.span, message);
                let diagnostic = match name.text.as_str() {
                    "len" | "size" => diagnostic.help("did you mean `length`?").fix(name.span, "length"),
                    "startsWith" => {
                        diagnostic.help("did you mean `starts_with`?").fix(name.span, "starts_with")
                    }
                    "endsWith" => diagnostic.help("did you mean `ends_with`?").fix(name.span, "ends_with"),
                    _ => suggest::nearest(diagnostic, name, STRING_FUNCTIONS.into_iter()),
                };
                diagnostic.note("strings have `length`, `contains`, `starts_with`, `ends_with` and `matches`")
            });
            return None;
        }
        let text = self.check(receiver, Sort::Str, Role::Operand(&format!(".{}", name.text)));
        let wanted = usize::from(name.text != "length");
        if args.len() != wanted {
            self.argument_count(name, span, wanted, args.len(), None);
            return None;
        }
        let Some(arg) = args.first() else { return text.map(|text| self.pool.length(text)) };
        if name.text == "matches" {
            return self.regex(text, arg);
        }
        let arg = self.check(arg, Sort::Str, Role::Parameter("text"));
        let (text, arg) = (text?, arg?);
        Some(match name.text.as_str() {
            "contains" => self.pool.contains(text, arg),
            "starts_with" => self.pool.prefix(arg, text),
            _ => self.pool.suffix(arg, text),
        })
    }

    fn regex(&mut self, text: Option<Term>, arg: &Expr) -> Option<Term> {
        let ExprKind::Str(pattern) = &arg.kind else {
            self.sink.error(|| {
                Diagnostic::new(Code::BadRegex, arg.span, "a regular expression is a literal string")
                    .help("write `text.matches(\"[a-z]+\")`")
            });
            return None;
        };
        match self.pool.pattern(pattern) {
            Ok(pattern) => text.map(|text| self.pool.matches(text, pattern)),
            Err(reason) => {
                let reason =
                    reason.0.lines().last().unwrap_or("").trim().trim_start_matches("error: ").to_owned();
                self.sink.error(|| {
                    Diagnostic::new(Code::BadRegex, arg.span, "this regular expression cannot be read")
                        .note(reason)
                });
                None
            }
        }
    }
}
