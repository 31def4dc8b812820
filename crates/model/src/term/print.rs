//! The text of terms, values and sorts.
//!
//! The text follows the modelling language, so that a guard in a report reads like the
//! guard in the model. Shared subterms are written out each time, so long terms are cut
//! after [`MAX_PIECES`] pieces with an ellipsis.

use std::borrow::Cow;
use std::fmt;

use super::{Term, TermNode, TermOp, TermPool, VarId};
use crate::collection::{CollectionValue, Items};
use crate::name::shown_name;
use crate::sort::{CollectionId, CollectionKind, CollectionSort, DataKind, Sort};
use crate::value::Value;

/// The number of pieces of text after which a term is cut. Chosen by feel: it bounds the time.
const MAX_PIECES: usize = 20_000;

/// The number of items of a collection that are shown. Chosen by feel: more is not read.
const MAX_SHOWN: usize = 40;

/// The binding strength of an operator; a looser operator inside a tighter one needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BindingStrength {
    Loose,
    Or,
    And,
    Compare,
    Sum,
    Product,
    Unary,
    Atom,
}

/// An item on the stack of text and terms still to be written.
enum PrintPiece {
    Text(String),
    Term(Term, BindingStrength),
}

/// A term together with its pool, to be shown.
pub struct ShownTerm<'p> {
    pool: &'p TermPool,
    term: Term,
}

impl fmt::Display for ShownTerm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut todo = vec![PrintPiece::Term(self.term, BindingStrength::Loose)];
        let mut written = 0;
        while let Some(piece) = todo.pop() {
            written += 1;
            if written > MAX_PIECES {
                return f.write_str(" …");
            }
            match piece {
                PrintPiece::Text(text) => f.write_str(&text)?,
                PrintPiece::Term(term, outer) => {
                    // A stack instead of recursion, as terms may be deeper than the stack of a thread; filled from the
                    // last piece on.
                    let pieces = self.pool.pieces(term, outer);
                    todo.extend(pieces.into_iter().rev());
                }
            }
        }
        Ok(())
    }
}

impl TermPool {
    /// Returns `term` in a form that displays as text of the modelling language.
    #[must_use]
    pub fn show(&self, term: Term) -> ShownTerm<'_> {
        ShownTerm { pool: self, term }
    }

    /// Returns `value` as text of the modelling language.
    #[must_use]
    pub fn show_value(&self, value: &Value) -> String {
        match value {
            Value::Bool(b) => b.to_string(),
            Value::Int(n) => n.to_string(),
            Value::Real(r) => r.to_string(),
            Value::Str(s) => string_literal(s),
            Value::Collection(value) => self.show_collection(value),
            Value::Data(value) => {
                let args: Vec<String> = value.args.iter().map(|arg| self.show_value(arg)).collect();
                let ctor = &self.data(value.data).ctors[value.ctor as usize];
                match self.data(value.data).kind {
                    _ if args.is_empty() => case_name(self.data(value.data).kind, &ctor.name).into_owned(),
                    DataKind::Record | DataKind::Enum => {
                        let fields = ctor
                            .fields
                            .iter()
                            .zip(args)
                            .map(|(field, arg)| format!("{}: {arg}", shown_name(&field.name)));
                        format!("{}({})", shown_name(&ctor.name), fields.collect::<Vec<_>>().join(", "))
                    }
                    DataKind::Option => format!("{}({})", ctor.name, args.join(", ")),
                }
            }
        }
    }

    /// Returns `sort` as text of the modelling language.
    #[must_use]
    pub fn show_sort(&self, sort: Sort) -> String {
        match sort {
            Sort::Bool => "bool".into(),
            Sort::Int => "int".into(),
            Sort::Range { lo, hi } => format!("{lo}..{hi}"),
            Sort::Real => "real".into(),
            Sort::Str => "string".into(),
            Sort::Data(data) if self.data(data).kind == DataKind::Option => self.data(data).name.to_string(),
            Sort::Data(data) => shown_name(&self.data(data).name).into_owned(),
            Sort::Collection(id) => {
                let CollectionSort { kind, key, item } = self.collection(id);
                match kind {
                    CollectionKind::List => format!("list<{}>", self.show_sort(item)),
                    CollectionKind::Set => format!("set<{}>", self.show_sort(item)),
                    CollectionKind::Map => format!("map<{}, {}>", self.show_sort(key), self.show_sort(item)),
                }
            }
        }
    }

    /// `[1, 2]`, `{1, 2}` or `{"a": 1}`; long ones are folded.
    fn show_collection(&self, value: &CollectionValue) -> String {
        let (open, close) = brackets(self.collection(value.sort).kind);
        let mut shown: Vec<String> = match &value.items {
            Items::List(items) | Items::Set(items) => {
                items.iter().take(MAX_SHOWN).map(|item| self.show_value(item)).collect()
            }
            Items::Map(entries) => {
                let entry = |(key, item)| format!("{}: {}", self.show_value(key), self.show_value(item));
                entries.iter().take(MAX_SHOWN).map(|(key, item)| entry((key, item))).collect()
            }
        };
        // The rest is counted, so that two long collections do not look the same because their beginnings are.
        if value.len() > MAX_SHOWN {
            shown.push(format!("… {} more", value.len() - MAX_SHOWN));
        }
        format!("{open}{}{close}", shown.join(", "))
    }

    /// `term` one level down, in parentheses where `outer` binds tighter.
    fn pieces(&self, term: Term, outer: BindingStrength) -> Vec<PrintPiece> {
        let (binding, mut pieces) = self.pieces_of_node(term);
        if binding < outer {
            pieces.insert(0, text_piece("("));
            pieces.push(text_piece(")"));
        }
        pieces
    }

    fn pieces_of_node(&self, term: Term) -> (BindingStrength, Vec<PrintPiece>) {
        let one = |t: &Term, binding| PrintPiece::Term(*t, binding);
        let infix = |a: &Term, op: &str, b: &Term| {
            (
                BindingStrength::Compare,
                vec![one(a, BindingStrength::Sum), text_piece(op), one(b, BindingStrength::Sum)],
            )
        };
        match self.node(term) {
            TermNode::Value(value) => {
                (self.value_binding(value), vec![PrintPiece::Text(self.show_value(value))])
            }
            TermNode::Var(var) => {
                (BindingStrength::Atom, vec![text_piece(&shown_name(&self.var_info(*var).name))])
            }
            TermNode::Not(a) => self.negation_pieces(*a),
            TermNode::And(list) => (BindingStrength::And, join_terms(list, " && ", BindingStrength::Compare)),
            TermNode::Or(list) => (BindingStrength::Or, join_terms(list, " || ", BindingStrength::And)),
            // Equalities are sorted by id, which means nothing to people. A constant reads better on the
            // right.
            TermNode::Eq(a, b) => {
                let (a, b) = self.constant_last(*a, *b);
                infix(&a, " == ", &b)
            }
            TermNode::Lt(a, b) => self.show_order(*a, *b, " < ", " > "),
            TermNode::Le(a, b) | TermNode::TextLe(a, b) => self.show_order(*a, *b, " <= ", " >= "),
            TermNode::Ite(c, a, b) => {
                let parts = [("if ", c), (" then ", a), (" else ", b)];
                (
                    BindingStrength::Loose,
                    parts
                        .iter()
                        .flat_map(|(word, t)| [text_piece(word), one(t, BindingStrength::Or)])
                        .collect(),
                )
            }
            TermNode::Add(list) => (BindingStrength::Sum, self.sum(list)),
            // `-1 * x` is how `-x` is built.
            TermNode::Mul(list) => match self.print_negated(term) {
                Some(positive) => {
                    (BindingStrength::Product, std::iter::once(text_piece("-")).chain(positive).collect())
                }
                None => (BindingStrength::Product, join_terms(list, " * ", BindingStrength::Unary)),
            },
            // Grouped from the left: the left side may be a product of the same strength, the right side must
            // bind tighter.
            TermNode::Div(a, b) | TermNode::RealDiv(a, b) => (
                BindingStrength::Product,
                vec![one(a, BindingStrength::Product), text_piece(" / "), one(b, BindingStrength::Unary)],
            ),
            TermNode::Rem(a, b) => (
                BindingStrength::Product,
                vec![one(a, BindingStrength::Product), text_piece(" % "), one(b, BindingStrength::Unary)],
            ),
            TermNode::ToReal(a) => call_pieces("real", &[*a]),
            TermNode::Floor(a) => call_pieces("floor", &[*a]),
            TermNode::Concat(list) => {
                (BindingStrength::Sum, join_terms(list, " + ", BindingStrength::Product))
            }
            TermNode::Length(a) => {
                (BindingStrength::Atom, vec![one(a, BindingStrength::Atom), text_piece(".length()")])
            }
            TermNode::Contains(a, b) => method_pieces(*a, "contains", *b),
            // In the term the part comes first, in the text it is the argument.
            TermNode::Prefix(a, b) => method_pieces(*b, "starts_with", *a),
            TermNode::Suffix(a, b) => method_pieces(*b, "ends_with", *a),
            TermNode::Matches(a, pattern) => {
                let pattern = string_literal(&self.pattern_info(*pattern).text);
                (
                    BindingStrength::Atom,
                    vec![one(a, BindingStrength::Atom), text_piece(&format!(".matches({pattern})"))],
                )
            }
            TermNode::Construct(data, ctor, args) => {
                let ctor = &self.data(*data).ctors[*ctor as usize];
                match self.data(*data).kind {
                    DataKind::Record | DataKind::Enum if !args.is_empty() => {
                        let mut pieces = vec![text_piece(&format!("{}(", shown_name(&ctor.name)))];
                        for (i, (field, arg)) in ctor.fields.iter().zip(args).enumerate() {
                            let comma = if i > 0 { ", " } else { "" };
                            pieces.extend([
                                text_piece(&format!("{comma}{}: ", shown_name(&field.name))),
                                one(arg, BindingStrength::Loose),
                            ]);
                        }
                        pieces.push(text_piece(")"));
                        (BindingStrength::Atom, pieces)
                    }
                    _ if args.is_empty() => {
                        let name = case_name(self.data(*data).kind, &ctor.name);
                        (BindingStrength::Atom, vec![text_piece(&name)])
                    }
                    _ => call_pieces(&ctor.name, args),
                }
            }
            TermNode::Is(ctor, a) => {
                let Sort::Data(data) = self.sort(*a) else { unreachable!("a test is built on data terms") };
                let data = self.data(data);
                let name = case_name(data.kind, &data.ctors[*ctor as usize].name);
                (
                    BindingStrength::Compare,
                    vec![one(a, BindingStrength::Sum), text_piece(&format!(" is {name}"))],
                )
            }
            TermNode::Select { ctor, field, arg } => {
                let Sort::Data(data) = self.sort(*arg) else { unreachable!("select is built on data terms") };
                let name = &self.data(data).ctors[*ctor as usize].fields[*field as usize].name;
                (
                    BindingStrength::Atom,
                    vec![one(arg, BindingStrength::Atom), text_piece(&format!(".{}", shown_name(name)))],
                )
            }
            TermNode::Exists(vars, body) => self.print_quantifier("exists", vars, *body),
            TermNode::Elements(sort, parts) => {
                (BindingStrength::Atom, self.collection_pieces(self.collection(*sort).kind, parts))
            }
            TermNode::Apply(op, args) => self.operation_pieces(*op, args),
            TermNode::Lambda(var, body) => {
                let name = format!("{} => ", self.var_info(*var).name);
                // Everything to the right belongs to the body.
                (BindingStrength::Loose, vec![PrintPiece::Text(name), one(body, BindingStrength::Loose)])
            }
            TermNode::Call(function, args) => call_pieces(&shown_name(&self.function(*function).name), args),
        }
    }

    /// `[a, b if c]`, `{a, b}`, `{k: v}`.
    fn collection_pieces(&self, kind: CollectionKind, parts: &[Term]) -> Vec<PrintPiece> {
        let (open, close) = brackets(kind);
        let mut pieces = vec![text_piece(open)];
        for (at, entry) in parts.chunks(kind.entry_size()).enumerate() {
            if at > 0 {
                pieces.push(text_piece(", "));
            }
            pieces.push(PrintPiece::Term(entry[1], BindingStrength::Loose));
            if let Some(&value) = entry.get(2) {
                pieces.extend([text_piece(": "), PrintPiece::Term(value, BindingStrength::Loose)]);
            }
            if !self.is_true(entry[0]) {
                pieces.extend([text_piece(" if "), PrintPiece::Term(entry[0], BindingStrength::Or)]);
            }
        }
        pieces.push(text_piece(close));
        pieces
    }

    /// Returns the text of an operation on collections, texts or numbers, with how strongly it binds.
    fn operation_pieces(&self, op: TermOp, args: &[Term]) -> (BindingStrength, Vec<PrintPiece>) {
        let piece = |term: Term, binding| PrintPiece::Term(term, binding);
        match op {
            TermOp::Append => (BindingStrength::Sum, join_terms(args, " + ", BindingStrength::Product)),
            TermOp::At => {
                let pieces = vec![
                    piece(args[0], BindingStrength::Atom),
                    text_piece("["),
                    piece(args[1], BindingStrength::Loose),
                    text_piece("]"),
                ];
                (BindingStrength::Atom, pieces)
            }
            TermOp::Any => {
                let (var, body) = self.lambda_parts(args[1]);
                let name = format!("exists {} in ", self.var_info(var).name);
                let pieces = vec![
                    PrintPiece::Text(name),
                    piece(args[0], BindingStrength::Atom),
                    text_piece(": "),
                    piece(body, BindingStrength::Loose),
                ];
                (BindingStrength::Loose, pieces)
            }
            TermOp::Collect(into) => (BindingStrength::Atom, self.comprehension(into, args)),
            _ => {
                let mut pieces =
                    vec![piece(args[0], BindingStrength::Atom), text_piece(&format!(".{}(", op.word()))];
                pieces.extend(join_terms(&args[1..], ", ", BindingStrength::Loose));
                pieces.push(text_piece(")"));
                (BindingStrength::Atom, pieces)
            }
        }
    }

    /// `[e for x in xs if p]`.
    fn comprehension(&self, into: CollectionId, args: &[Term]) -> Vec<PrintPiece> {
        let (open, close) = brackets(self.collection(into).kind);
        let ((_, keep), (var, item)) = (self.lambda_parts(args[1]), self.lambda_parts(args[2]));
        let name = format!(" for {} in ", self.var_info(var).name);
        let mut pieces = vec![
            text_piece(open),
            PrintPiece::Term(item, BindingStrength::Or),
            PrintPiece::Text(name),
            PrintPiece::Term(args[0], BindingStrength::Atom),
        ];
        if !self.is_true(keep) {
            pieces.extend([text_piece(" if "), PrintPiece::Term(keep, BindingStrength::Or)]);
        }
        pieces.push(text_piece(close));
        pieces
    }

    /// Returns the text of a negation; `!(a == b)` is printed as `a != b`.
    fn negation_pieces(&self, a: Term) -> (BindingStrength, Vec<PrintPiece>) {
        match self.node(a) {
            TermNode::Eq(x, y) => {
                let (x, y) = self.constant_last(*x, *y);
                let sides = vec![
                    PrintPiece::Term(x, BindingStrength::Sum),
                    text_piece(" != "),
                    PrintPiece::Term(y, BindingStrength::Sum),
                ];
                (BindingStrength::Compare, sides)
            }
            // Only one order of texts is a node; the other is its negation.
            TermNode::TextLe(x, y) => self.show_order(*y, *x, " < ", " > "),
            // There is no `forall` in terms: it is the negation of `exists` with a negated body.
            TermNode::Exists(vars, body) => match self.node(*body) {
                TermNode::Not(inner) => self.print_quantifier("forall", vars, *inner),
                _ => (
                    BindingStrength::Unary,
                    vec![text_piece("!"), PrintPiece::Term(a, BindingStrength::Unary)],
                ),
            },
            _ => (BindingStrength::Unary, vec![text_piece("!"), PrintPiece::Term(a, BindingStrength::Unary)]),
        }
    }

    fn print_quantifier(&self, word: &str, vars: &[VarId], body: Term) -> (BindingStrength, Vec<PrintPiece>) {
        let bound = |var: &VarId| {
            let info = self.var_info(*var);
            match info.sort {
                Sort::Range { .. } => format!("{} in {}", info.name, self.show_sort(info.sort)),
                sort => format!("{}: {}", info.name, self.show_sort(sort)),
            }
        };
        let names = vars.iter().map(bound).collect::<Vec<_>>().join(", ");
        (
            BindingStrength::Loose,
            vec![text_piece(&format!("{word} {names}: ")), PrintPiece::Term(body, BindingStrength::Loose)],
        )
    }

    /// `0 < x` reads better as `x > 0`.
    fn show_order(&self, a: Term, b: Term, op: &str, swapped: &str) -> (BindingStrength, Vec<PrintPiece>) {
        let (left, op, right) = if self.as_value(a).is_some() { (b, swapped, a) } else { (a, op, b) };
        (
            BindingStrength::Compare,
            vec![
                PrintPiece::Term(left, BindingStrength::Sum),
                text_piece(op),
                PrintPiece::Term(right, BindingStrength::Sum),
            ],
        )
    }

    fn constant_last(&self, a: Term, b: Term) -> (Term, Term) {
        if self.as_value(a).is_some() { (b, a) } else { (a, b) }
    }

    /// Monomials with a minus sign are subtracted; the constant comes last unless all others are.
    fn sum(&self, list: &[Term]) -> Vec<PrintPiece> {
        // By the normal form the constant is the first child; people write it last.
        let (constants, rest): (Vec<Term>, Vec<Term>) =
            list.iter().partition(|&&t| self.as_value(t).is_some());
        let (minus, plus): (Vec<Term>, Vec<Term>) =
            rest.into_iter().partition(|&t| self.print_negated(t).is_some());
        let order = if plus.is_empty() { [constants, minus, plus] } else { [plus, minus, constants] };
        let mut pieces = Vec::new();
        for part in order.into_iter().flatten() {
            let (sign, shown) = match self.print_negated(part) {
                Some(positive) => ("-", positive),
                None => ("+", vec![PrintPiece::Term(part, BindingStrength::Product)]),
            };
            match (pieces.is_empty(), sign) {
                (true, "+") => (),
                (true, _) => pieces.push(text_piece("-")),
                (false, _) => pieces.push(text_piece(&format!(" {sign} "))),
            }
            pieces.extend(shown);
        }
        pieces
    }

    /// The text of `-term`, if `term` is a negative constant or has a negative factor.
    fn print_negated(&self, term: Term) -> Option<Vec<PrintPiece>> {
        let flipped = |value: &Value| match value {
            Value::Int(n) if n.is_negative() => Some(Value::Int(-n)),
            Value::Real(r) if r.is_negative() => Some(Value::Real(-r)),
            _ => None,
        };
        match self.node(term) {
            TermNode::Value(value) => Some(vec![PrintPiece::Text(self.show_value(&flipped(value)?))]),
            TermNode::Mul(list) => {
                // By the normal form, only the first child can be a constant factor.
                let factor = flipped(self.as_value(list[0])?)?;
                let rest = join_terms(&list[1..], " * ", BindingStrength::Unary);
                if factor == Value::int(1) || factor == Value::Real(1.into()) {
                    return Some(rest);
                }
                let factor = text_piece(&format!("{} * ", self.show_value(&factor)));
                Some(std::iter::once(factor).chain(rest).collect())
            }
            _ => None,
        }
    }

    fn value_binding(&self, value: &Value) -> BindingStrength {
        match value {
            Value::Int(n) if n.is_negative() => BindingStrength::Unary,
            Value::Real(r) if r.is_negative() => BindingStrength::Unary,
            _ => BindingStrength::Atom,
        }
    }
}

/// Returns the name of a case without fields; `none` is a word of options, and a name in backquotes elsewhere.
fn case_name(kind: DataKind, name: &str) -> Cow<'_, str> {
    if kind == DataKind::Option { Cow::Borrowed(name) } else { shown_name(name) }
}

/// Returns the opening and closing bracket of a collection.
fn brackets(kind: CollectionKind) -> (&'static str, &'static str) {
    match kind {
        CollectionKind::List => ("[", "]"),
        CollectionKind::Set | CollectionKind::Map => ("{", "}"),
    }
}

/// Returns a piece that is printed as it is.
fn text_piece(text: &str) -> PrintPiece {
    PrintPiece::Text(text.to_owned())
}

fn join_terms(list: &[Term], separator: &str, binding: BindingStrength) -> Vec<PrintPiece> {
    let mut pieces = Vec::with_capacity(list.len() * 2);
    for (i, &term) in list.iter().enumerate() {
        if i > 0 {
            pieces.push(text_piece(separator));
        }
        pieces.push(PrintPiece::Term(term, binding));
    }
    pieces
}

/// Returns `name(args)`.
fn call_pieces(name: &str, args: &[Term]) -> (BindingStrength, Vec<PrintPiece>) {
    let mut pieces = vec![text_piece(&format!("{name}("))];
    pieces.extend(join_terms(args, ", ", BindingStrength::Loose));
    pieces.push(text_piece(")"));
    (BindingStrength::Atom, pieces)
}

/// Returns `on.name(arg)`.
fn method_pieces(on: Term, name: &str, arg: Term) -> (BindingStrength, Vec<PrintPiece>) {
    let pieces = vec![
        PrintPiece::Term(on, BindingStrength::Atom),
        text_piece(&format!(".{name}(")),
        PrintPiece::Term(arg, BindingStrength::Loose),
        text_piece(")"),
    ];
    (BindingStrength::Atom, pieces)
}

/// `text` as a string literal of the modelling language; the lexer reads it back.
#[must_use]
pub fn string_literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0' => out.push_str("\\0"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
