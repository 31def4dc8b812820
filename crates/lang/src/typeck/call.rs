//! Typing of calls, record values, fields and the functions of strings.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{DataField, DataId, DataKind, Sort};
use ioxide_model::source::Span;
use ioxide_model::term::{FnId, Substitution, Term, TermOp, WHOLE_NUMBER};
use rustc_hash::FxHashMap;

use super::collection::collection_functions;
use super::{CallDescent, Checker, DescentKind, ObligationCause, SortRole};
use crate::ast::{ArgExpr, Expr, ExprKind, Name};
use crate::builtin::{INT_FUNCTIONS, STRING_FUNCTIONS, builtin_names};
use crate::sink::Reported;
use crate::suggest;

impl Checker<'_, '_> {
    /// `f(a, b)`, or `Point(x: 1, y: 2)`.
    pub(super) fn check_call(&mut self, name: &Name, args: &[ArgExpr], span: Span) -> Result<Term, Reported> {
        let is_compared = self.takes_comparison();
        // Functions, then records, then cases of enums, and in goals the words that only goals have: what the
        // model declares comes before what the language brings.
        if let Some(entry) = self.functions.use_name(&name.text) {
            let (function, declared) = (entry.item.clone(), entry.span);
            let function = self.resolve_definition(function, &name.text, name.span)?;
            return self.apply_function(&function, declared, name, args, span);
        }
        if let Some(entry) = self.types.use_name(&name.text) {
            let (item, declared) = (entry.item, entry.span);
            if let Sort::Data(data) = self.resolve_definition(item, &name.text, name.span)?
                && self.pool.data(data).kind == DataKind::Record
            {
                return self.record_value((data, 0), declared, name, args, is_compared);
            }
        }
        if let Some(entry) = self.values.use_name(&name.text)
            && let super::ValueItem::Variant(data, ctor) = entry.item
        {
            let declared = entry.span;
            return self.record_value((data, ctor), declared, name, args, is_compared);
        }
        if let Some(term) = self.check_frame_call(name, args) {
            return term;
        }
        Err(self.unknown_function(name))
    }

    fn unknown_function(&mut self, name: &Name) -> Reported {
        let Self { functions, types, sink, .. } = self;
        sink.missing(&name.text, || {
            let diagnostic = Diagnostic::new(
                Code::UnknownFunction,
                name.span,
                format!("there is no function `{}`", name.text),
            );
            if builtin_names(STRING_FUNCTIONS).contains(&name.text.as_str()) {
                return diagnostic.help(format!("it belongs to strings: `text.{}(...)`", name.text));
            }
            suggest::suggest_nearest(diagnostic, name, functions.names().chain(types.names()))
        })
    }

    /// Returns the body of a defined function with the arguments put in.
    fn apply_function(
        &mut self,
        function: &super::FnItem,
        declared: Span,
        name: &Name,
        args: &[ArgExpr],
        span: Span,
    ) -> Result<Term, Reported> {
        if let Some(named) = args.iter().find_map(|arg| arg.name.as_ref()) {
            return Err(self.sink.error(|| {
                Diagnostic::new(Code::UnexpectedToken, named.span, "arguments of functions have no names")
                    .help(format!("write `{}(value, ...)`", name.text))
            }));
        }
        if args.len() != function.params.len() {
            let (wanted, found) = (function.params.len(), args.len());
            return Err(self.argument_count(name, span, wanted, found, Some(declared)));
        }
        let mut substitution = Substitution::new();
        let mut complete = Ok(());
        // All arguments are checked, also behind one that is wrong, so that each error is reported.
        for ((param, var), arg) in function.params.iter().zip(args) {
            let sort = self.pool.var_info(*var).sort;
            match self.check(&arg.value, sort, SortRole::Parameter(param)) {
                Ok(term) => substitution.set(*var, term),
                Err(why) => complete = Err(why),
            }
        }
        complete?;
        // What the body demands of its parameters is demanded of these arguments, where the call is
        // evaluated.
        for &obligation in &function.obligations {
            let obligation = self.pool.substitute(obligation, &substitution);
            self.oblige(obligation, ObligationCause::Call(name.text.clone(), name.span));
        }
        let term = match function.recursive {
            Some(id) => {
                // With the arguments as they are written: that an argument is a part of a parameter shows in
                // the text, no more in the term.
                self.note_descent(id, name, args);
                let args = function.params.iter().filter_map(|(_, var)| substitution.get(*var)).collect();
                self.pool.call(id, args)
            }
            None => self.pool.substitute(function.body, &substitution),
        };
        self.check_term_size(term, span)
    }

    /// Records the parameters on which a call of the function being defined descends; reports it if there are none.
    fn note_descent(&mut self, id: FnId, name: &Name, args: &[ArgExpr]) {
        // Only calls of a function by itself have to descend: others are defined before, and end.
        let Some(defining) = self.defining.clone().filter(|defining| defining.id == id) else { return };
        let on_numbers = defining.on_numbers.get(&name.span).map_or(&[][..], Vec::as_slice);
        let descends = |way: &CallDescent| match way.kind {
            DescentKind::Part => {
                args.get(way.param).is_some_and(|arg| self.proper_part(&arg.value) == Some(way.param))
            }
            _ => on_numbers.contains(way),
        };
        // The ways that all calls so far have in common. A way that one call breaks is gone for good.
        let kept: Vec<CallDescent> = defining.descends.iter().copied().filter(descends).collect();
        let params = &self.pool.function(id).params;
        let counts = params.iter().all(|&param| self.pool.var_info(param).sort.base() == Sort::Int);
        if kept.is_empty() {
            self.sink.error(|| {
                let message = format!("this call of `{}` may not end", name.text);
                Diagnostic::new(Code::MayNotEnd, name.span, message)
                    .note(
                        "every call must make the same parameter smaller: a part of it, that is, a name from a \
                         `match` on it, or a number that moves towards a bound that the call is behind",
                    )
                    .help(if counts {
                        "stop at a bound, as in `if n <= 0 then 1 else n * f(n - 1)`; `n == 0` does not stop \
                         a negative number"
                    } else {
                        "write `match xs { [] => ..., [first, ..rest] => ... }` and call it with `rest`"
                    })
            });
        }
        // An error was reported, and the ways stay as they were, so that the next call is not blamed for it.
        if let Some(defining) = &mut self.defining {
            defining.may_end &= !kept.is_empty();
            defining.descends = if kept.is_empty() { defining.descends.clone() } else { kept };
        }
    }

    /// A value of an enum without fields.
    pub(super) fn plain_variant(&mut self, data: DataId, ctor: u32, span: Span) -> Result<Term, Reported> {
        let case = &self.pool.data(data).ctors[ctor as usize];
        if case.fields.is_empty() {
            return Ok(self.pool.construct(data, ctor, []));
        }
        let fields: Vec<String> = case.fields.iter().map(|field| format!("{}: ...", field.name)).collect();
        let name = case.name.to_string();
        Err(self.sink.error(|| {
            Diagnostic::new(Code::MissingRecordField, span, format!("the case `{name}` has fields"))
                .help(format!("write `{name}({})`", fields.join(", ")))
        }))
    }

    pub(super) fn argument_count(
        &mut self,
        name: &Name,
        span: Span,
        wanted: usize,
        found: usize,
        declared: Option<Span>,
    ) -> Reported {
        self.sink.error(|| {
            let arguments = if wanted == 1 { "argument" } else { "arguments" };
            let message = format!("`{}` takes {wanted} {arguments}, here are {found}", name.text);
            let diagnostic = Diagnostic::new(Code::ArgumentCount, span, message);
            match declared {
                Some(declared) => diagnostic.label(declared, "declared here"),
                None => diagnostic,
            }
        })
    }

    fn record_value(
        &mut self,
        (data, ctor): (DataId, u32),
        declared: Span,
        name: &Name,
        args: &[ArgExpr],
        is_compared: bool,
    ) -> Result<Term, Reported> {
        let fields = self.pool.data(data).ctors[ctor as usize].fields.clone();
        let positions: FxHashMap<&str, usize> =
            fields.iter().enumerate().map(|(at, field)| (&*field.name, at)).collect();
        let mut values: Vec<Option<Result<Term, Reported>>> = vec![None; fields.len()];
        let unnamed = args.iter().find(|arg| arg.name.is_none());
        let mut complete = match unnamed {
            Some(arg) => Err(self.unnamed_field(arg, name, &fields, declared)),
            None => Ok(()),
        };
        // Named fields are checked also if some have no name, for errors of their own.
        for arg in args {
            let Some(given) = &arg.name else { continue };
            match self.record_field(given, &positions, name, declared) {
                Ok(at) => {
                    if values[at].is_some() {
                        self.given_twice(given);
                    }
                    let role = SortRole::Field(&fields[at].name);
                    values[at] = Some(self.literal_part(is_compared, &arg.value, fields[at].sort, role));
                }
                Err(why) => complete = Err(why),
            }
        }
        complete?;
        let is_missing = fields.iter().zip(&values).filter(|(_, value)| value.is_none());
        let missing: Vec<&str> = is_missing.map(|(field, _)| &*field.name).collect();
        if !missing.is_empty() {
            let what = if self.pool.data(data).kind == DataKind::Enum { "case" } else { "record" };
            let message = format!("{what} `{}` lacks the field `{}`", name.text, missing.join("`, `"));
            return Err(self.sink.error(|| {
                Diagnostic::new(Code::MissingRecordField, name.span, message).label(declared, "declared here")
            }));
        }
        let values = values.into_iter().flatten().collect::<Result<Vec<Term>, Reported>>()?;
        Ok(self.pool.construct(data, ctor, values))
    }

    /// Reports a value without the name of its field, once for all of them.
    fn unnamed_field(
        &mut self,
        arg: &ArgExpr,
        record: &Name,
        fields: &[DataField],
        declared: Span,
    ) -> Reported {
        self.sink.error(|| {
            let named: Vec<String> = fields.iter().map(|field| format!("{}: ...", field.name)).collect();
            let message = "the fields of a record are given by name";
            Diagnostic::new(Code::UnexpectedToken, arg.value.span, message)
                .label(declared, "declared here")
                .help(format!("write `{}({})`", record.text, named.join(", ")))
        })
    }

    /// The position of the field `name`.
    fn record_field(
        &mut self,
        name: &Name,
        positions: &FxHashMap<&str, usize>,
        record: &Name,
        declared: Span,
    ) -> Result<usize, Reported> {
        if let Some(&position) = positions.get(name.text.as_str()) {
            return Ok(position);
        }
        let mut names: Vec<&str> = positions.keys().copied().collect();
        names.sort_unstable();
        Err(self.unknown_field(name, &format!("record `{}`", record.text), &names, Some(declared)))
    }

    fn given_twice(&mut self, name: &Name) {
        self.sink.error(|| Diagnostic::new(Code::PinnedTwice, name.span, "this field is given twice"));
    }

    /// Reports that `owner` has no field `name`.
    pub(crate) fn unknown_field(
        &mut self,
        name: &Name,
        owner: &str,
        names: &[&str],
        declared: Option<Span>,
    ) -> Reported {
        self.sink.error(|| {
            let message = format!("{owner} has no field `{}`", name.text);
            let mut diagnostic = Diagnostic::new(Code::UnknownField, name.span, message);
            if let Some(declared) = declared {
                diagnostic = diagnostic.label(declared, "declared here");
            }
            diagnostic = suggest::suggest_nearest(diagnostic, name, names.iter().copied());
            match names {
                [] => diagnostic.note("it has no fields"),
                _ if diagnostic.fix.is_some() => diagnostic,
                _ => diagnostic.note(format!("its fields are `{}`", names.join("`, `"))),
            }
        })
    }

    /// `p.x`.
    pub(super) fn check_field(&mut self, receiver: &Expr, name: &Name) -> Result<Term, Reported> {
        // In the goals of a system `server.n` is a variable of a part, unless there is no such part.
        if !self.parts.is_empty()
            && let Some(of_part) = self.part_field(receiver, name)
        {
            return of_part;
        }
        let term = self.infer(receiver, None)?;
        let sort = self.pool.sort(term);
        if let Sort::Data(data) = sort
            && self.pool.data(data).kind == DataKind::Record
        {
            let record = self.pool.data(data);
            let names: Vec<String> =
                record.ctors[0].fields.iter().map(|field| field.name.to_string()).collect();
            if let Some(at) = names.iter().position(|field| *field == name.text) {
                return Ok(self.pool.select(0, u32::try_from(at).unwrap_or(0), term));
            }
            let owner = format!("record `{}`", record.name);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(self.unknown_field(name, &owner, &names, None));
        }
        let shown = self.pool.show_sort(sort);
        let functions = match (self.pool.collection_of(sort), sort.base()) {
            (Some(of), _) => collection_functions(of.kind),
            (None, Sort::Str) => builtin_names(STRING_FUNCTIONS),
            (None, Sort::Int) => builtin_names(INT_FUNCTIONS),
            (None, _) => Vec::new(),
        };
        let sizes = ["length", "size"];
        let meant = functions.iter().find(|function| match name.text.as_str() {
            // Every type has one word for this, and people try the others.
            "len" | "length" | "size" | "count" => sizes.contains(function),
            other => other == **function,
        });
        Err(self.sink.error(|| {
            let message = format!("{shown} has no fields");
            let diagnostic = Diagnostic::new(Code::NotARecord, name.span, message)
                .label(receiver.span, format!("this is {shown}"));
            if let Some(function) = meant {
                return diagnostic.help(format!("call it: `.{function}()`"));
            }
            if shown.ends_with('?') {
                return diagnostic.help("look inside with `match value { none => ..., some(x) => ... }`");
            }
            diagnostic
        }))
    }

    /// `s.contains(t)` and its like.
    pub(super) fn check_method(
        &mut self,
        receiver: &Expr,
        name: &Name,
        args: &[Expr],
        span: Span,
    ) -> Result<Term, Reported> {
        if !self.parts.is_empty()
            && let Some(of_part) = self.part_at(receiver, name, args)
        {
            return of_part;
        }
        let term = self.infer(receiver, None)?;
        let sort = self.pool.sort(term);
        if let Some(of) = self.pool.collection_of(sort) {
            return self.collection_method(term, of, name, args, span);
        }
        if sort.base() == Sort::Int && name.text == "to_string" {
            if !args.is_empty() {
                return Err(self.argument_count(name, span, 0, args.len(), None));
            }
            return Ok(self.pool.operate(TermOp::FromInt, vec![term]));
        }
        let known = builtin_names(STRING_FUNCTIONS);
        if !known.contains(&name.text.as_str()) {
            return Err(self.sink.error(|| {
                let message = format!("there is no function `{}` of strings", name.text);
                let diagnostic = Diagnostic::new(Code::UnknownFunction, name.span, message);
                let diagnostic = match name.text.as_str() {
                    "len" | "size" => diagnostic.help("did you mean `length`?").fix(name.span, "length"),
                    "startsWith" => {
                        diagnostic.help("did you mean `starts_with`?").fix(name.span, "starts_with")
                    }
                    "endsWith" => diagnostic.help("did you mean `ends_with`?").fix(name.span, "ends_with"),
                    "take" => diagnostic.help("the first `n` characters are `text.substring(0, n)`"),
                    "drop" => {
                        diagnostic.help("the characters from `n` on are `text.substring(n, text.length())`")
                    }
                    "substr" | "slice" => diagnostic
                        .help("`text.substring(from, count)` has `count` characters, from `from` on"),
                    _ => suggest::suggest_nearest(diagnostic, name, known.iter().copied()),
                };
                diagnostic.note(format!("strings have `{}`", known.join("`, `")))
            }));
        }
        // The receiver's error waits until the arguments are checked, too.
        let text = self.coerce(term, receiver.span, Sort::Str, SortRole::Operand(&format!(".{}", name.text)));
        let wanted: &[Sort] = match name.text.as_str() {
            "length" | "to_int" | "upper" | "lower" => &[],
            "substring" => &[Sort::Int, Sort::Int],
            "pad_left" => &[Sort::Int, Sort::Str],
            _ => &[Sort::Str],
        };
        if args.len() != wanted.len() {
            return Err(self.argument_count(name, span, wanted.len(), args.len(), None));
        }
        // Before the arguments are typed: a pattern is read as text and is no expression.
        if name.text == "matches" {
            return self.check_regex(text, &args[0]);
        }
        let args: Vec<Result<Term, Reported>> = args
            .iter()
            .zip(wanted)
            .map(|(arg, sort)| self.check(arg, *sort, SortRole::Argument(&name.text)))
            .collect();
        let (text, args) = (text?, args.into_iter().collect::<Result<Vec<Term>, _>>()?);
        Ok(self.string_term(text, &name.text, &args))
    }

    fn string_term(&mut self, text: Term, name: &str, args: &[Term]) -> Term {
        let op = match name {
            "length" => return self.pool.length(text),
            "contains" => return self.pool.contains(text, args[0]),
            "starts_with" => return self.pool.prefix(args[0], text),
            "ends_with" => return self.pool.suffix(args[0], text),
            "index_of" => {
                let at = self.pool.operate(TermOp::Find, vec![text, args[0]]);
                // `Find` has a value for texts that do not occur. The option hides it.
                let there = self.pool.contains(text, args[0]);
                return self.option_if(there, at, Sort::Int);
            }
            "to_int" => {
                let number = self.pool.operate(TermOp::ToInt, vec![text]);
                let digits = self.pool.pattern(WHOLE_NUMBER).expect("a regular expression");
                let is_number = self.pool.matches(text, digits);
                return self.option_if(is_number, number, Sort::Int);
            }
            "substring" => TermOp::Substring,
            "upper" => TermOp::Upper,
            "lower" => TermOp::Lower,
            "pad_left" => TermOp::PadLeft,
            _ => TermOp::Split,
        };
        self.pool.operate(op, [&[text], args].concat())
    }

    /// Returns the term of `text.matches(pattern)`; the pattern must be a literal.
    fn check_regex(&mut self, text: Result<Term, Reported>, arg: &Expr) -> Result<Term, Reported> {
        let ExprKind::Str(pattern) = &arg.kind else {
            return Err(self.sink.error(|| {
                Diagnostic::new(Code::BadRegex, arg.span, "a regular expression is a literal string")
                    .help("write `text.matches(\"[a-z]+\")`")
            }));
        };
        match self.pool.pattern(pattern) {
            Ok(pattern) => text.map(|text| self.pool.matches(text, pattern)),
            Err(reason) => {
                // The last line of the message has the reason; those before it draw the pattern.
                let reason =
                    reason.0.lines().last().unwrap_or("").trim().trim_start_matches("error: ").to_owned();
                Err(self.sink.error(|| {
                    Diagnostic::new(Code::BadRegex, arg.span, "this regular expression cannot be read")
                        .note(reason)
                }))
            }
        }
    }
}
