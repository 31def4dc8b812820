//! Changes inside an expression: other relations, constants, names, connectives, operations.

use ioxide_lang::ast::{AddOp, CmpOp, Expr, ExprKind, MatchArm, MulOp, Name};

use ioxide_model::name::source_name;

use super::{Rewrite, choice_bits};
use crate::failure::FailurePoint;
use crate::scope::{FunctionInfo, ModelScope, TypedName, UNUSED_BITS, item_type, map_types, parts_of};

/// The depth below which nothing is changed, as in `ioxide_testgen::mutate`.
const MAX_DEPTH: usize = 48;
/// The greatest number of names or literals that are put in the place of one. Chosen by feel: a table of a hundred
/// constants would drown everything else.
const MAX_OTHERS: usize = 24;

/// The names that an expression may use, and the values that were seen.
#[derive(Clone, Copy)]
pub(super) struct RewriteContext<'a> {
    pub(super) scope: &'a ModelScope<'a>,
    pub(super) failure: &'a FailurePoint,
    /// The names beside those of the model: the fields of a message, or the parameters of a function.
    pub(super) fields: &'a [TypedName],
    /// Those among them that nothing here uses.
    pub(super) unused: &'a [String],
}

impl RewriteContext<'_> {
    /// Returns the bits that a candidate costs less that uses a name which nothing uses: one of the model, or a field
    /// or parameter that the expressions around it do not mention.
    fn unused_bits(self, name: &str) -> f64 {
        if self.unused.iter().any(|unused| unused == name) {
            UNUSED_BITS
        } else {
            self.scope.unused_bits(name)
        }
    }

    /// Calls `work` with these names known as well: they hide others of the same name.
    fn with(self, bound: &[TypedName], work: impl FnOnce(RewriteContext<'_>)) {
        let fields = [bound, self.fields].concat();
        work(RewriteContext { fields: &fields, ..self });
    }
}

/// Returns every way to change `expr`, of type `ty` if that is known, at one place.
pub(super) fn rewrites(cx: RewriteContext<'_>, expr: &Expr, ty: Option<&str>) -> Vec<Rewrite> {
    let mut found = Vec::new();
    rewrite_into(cx, expr, ty, 0, &mut found);
    found
}

fn rewrite_into(
    cx: RewriteContext<'_>,
    expr: &Expr,
    ty: Option<&str>,
    depth: usize,
    found: &mut Vec<Rewrite>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    // The type that the expression shows wins over the one its surroundings want: the latter is a guess from
    // its neighbours.
    let own = cx.scope.type_of(expr, cx.fields);
    let ty = own.as_deref().or(ty);
    rewrite_top(cx, expr, ty, found);
    // What an operand is compared with or added to says of which type it is.
    let parts = parts_of(expr);
    let shared: Option<String> = match &expr.kind {
        ExprKind::Compare(..) | ExprKind::Sum(..) | ExprKind::Product(..) => {
            parts.iter().find_map(|part| cx.scope.type_of(part, cx.fields))
        }
        ExprKind::Paren(_) | ExprKind::Neg(_) | ExprKind::If(..) => ty.map(str::to_owned),
        ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Implies(_) | ExprKind::Not(_) => Some("bool".into()),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Match(value, arms) => {
            rewrite_into(cx, value, None, depth + 1, found);
            let of = cx.scope.type_of(value, cx.fields).unwrap_or_default();
            for arm in arms {
                let bound = cx.scope.bound_by(&arm.pattern, &of);
                cx.with(&bound, |cx| rewrite_into(cx, &arm.value, ty, depth + 1, found));
            }
        }
        ExprKind::Over { var, of, body, .. } => {
            rewrite_into(cx, of, None, depth + 1, found);
            cx.with(&bound_item(cx, var, of), |cx| {
                rewrite_into(cx, body, Some("bool"), depth + 1, found);
            });
        }
        ExprKind::Comprehension { item, var, of, keep, .. } => {
            rewrite_into(cx, of, None, depth + 1, found);
            cx.with(&bound_item(cx, var, of), |cx| {
                rewrite_into(cx, item, None, depth + 1, found);
                if let Some(keep) = keep {
                    rewrite_into(cx, keep, Some("bool"), depth + 1, found);
                }
            });
        }
        _ => {
            for part in parts {
                rewrite_into(cx, part, shared.as_deref(), depth + 1, found);
            }
        }
    }
}

/// Returns the name that stands for each item of a collection.
fn bound_item(cx: RewriteContext<'_>, var: &Name, of: &Expr) -> Vec<TypedName> {
    let ty = cx.scope.type_of(of, cx.fields);
    let item = ty.as_deref().and_then(item_type);
    item.map(|ty| TypedName { name: var.text.clone(), ty: ty.to_owned() }).into_iter().collect()
}

/// Adds the changes at the top of `expr`.
fn rewrite_top(cx: RewriteContext<'_>, expr: &Expr, ty: Option<&str>, found: &mut Vec<Rewrite>) {
    match &expr.kind {
        ExprKind::Compare(first, rest) => relations(cx, first, rest, found),
        ExprKind::Number(_) | ExprKind::Str(_) => literals(cx, expr, ty, found),
        ExprKind::Bool(value) => {
            found.push(Rewrite::of(expr.span, if *value { "false" } else { "true" }, 2.0))
        }
        ExprKind::Name(name) => names(cx, expr, name, found),
        ExprKind::Field(value, name) => {
            other_fields(cx, value, name, found);
            whole_values(cx, expr, ty, found);
        }
        ExprKind::Index(..) | ExprKind::None | ExprKind::Some(_) => whole_values(cx, expr, ty, found),
        ExprKind::Match(_, arms) => other_arms(cx, arms, found),
        ExprKind::And(list) => {
            swap_signs(cx, list, "||", found);
            drop_operands(cx, list, found);
        }
        ExprKind::Or(list) => {
            swap_signs(cx, list, "&&", found);
            drop_operands(cx, list, found);
        }
        ExprKind::Not(inner) => found.push(Rewrite::of(expr.span, cx.scope.slice(inner.span), 2.0)),
        ExprKind::If(arms, otherwise) => branches(cx, expr, arms, otherwise, found),
        ExprKind::Sum(first, rest) => {
            sums(cx, expr, first, rest, found);
            offsets(cx, expr, ty, found);
        }
        ExprKind::Product(first, rest) => products(cx, expr, first, rest, found),
        ExprKind::Method(receiver, name, args) => {
            methods(cx, expr, receiver, name.text.as_str(), args, found);
            offsets(cx, expr, ty, found);
        }
        ExprKind::Call(name, args) => {
            other_functions(cx, expr, name, ty, found);
            let args: Vec<&Expr> = args.iter().map(|arg| &arg.value).collect();
            swapped_arguments(cx, &args, found);
            signs(cx, &args, found);
        }
        ExprKind::Neg(inner) => found.push(Rewrite::of(expr.span, cx.scope.slice(inner.span), 2.5)),
        ExprKind::Over { .. } | ExprKind::Quantified { .. } => quantifiers(cx, expr, found),
        ExprKind::List(items) | ExprKind::Set(items) => drop_items(expr, items, cx, found),
        _ => (),
    }
}

/// Another sign between two operands.
fn relations(cx: RewriteContext<'_>, first: &Expr, rest: &[(CmpOp, Expr)], found: &mut Vec<Rewrite>) {
    let mut before = first;
    for (sign, operand) in rest {
        // Where no type is known, all signs are tried. The front end refuses those that do not fit; a wrong
        // guess here would lose a candidate instead.
        let ty = cx.scope.type_of(before, cx.fields).or_else(|| cx.scope.type_of(operand, cx.fields));
        let is_ordered = ty.is_none_or(|ty| matches!(ty.as_str(), "int" | "real" | "string"));
        let Some((start, end)) = sign_between(cx, before, operand) else { continue };
        for other in OTHER_SIGNS {
            let is_sensible = is_ordered || matches!(other, CmpOp::Eq | CmpOp::Ne);
            if other != *sign && is_sensible {
                let bits = sign_bits(*sign, other);
                found.push(Rewrite { start, end, text: sign_text(other).to_owned(), bits });
            }
        }
        before = operand;
    }
}

const OTHER_SIGNS: [CmpOp; 6] = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];

fn sign_text(sign: CmpOp) -> &'static str {
    match sign {
        CmpOp::Eq => "==",
        CmpOp::Ne => "!=",
        CmpOp::Lt => "<",
        CmpOp::Le => "<=",
        CmpOp::Gt => ">",
        CmpOp::Ge => ">=",
    }
}

/// Returns the bits of one sign that was taken for another: by one or for the opposite is usual, and a bound is more
/// usual than one single value.
fn sign_bits(own: CmpOp, other: CmpOp) -> f64 {
    use CmpOp::{Eq, Ge, Gt, Le, Lt, Ne};
    match (own, other) {
        (Lt, Le) | (Le, Lt) | (Gt, Ge) | (Ge, Gt) | (Eq, Ne) | (Ne, Eq) => 1.5,
        (Lt, Ge) | (Ge, Lt) | (Le, Gt) | (Gt, Le) => 2.0,
        (_, Le | Ge) => 2.25,
        (_, Lt | Gt) => 2.5,
        (_, Eq) => 2.75,
        (_, Ne) => 3.0,
    }
}

/// Returns the place of the sign between two operands; `None` if a comment is there too.
fn sign_between(cx: RewriteContext<'_>, before: &Expr, behind: &Expr) -> Option<(usize, usize)> {
    let (from, to) = (before.span.end as usize, behind.span.start as usize);
    let gap = cx.scope.text.get(from..to)?;
    let sign = gap.trim();
    if sign.contains("//") || sign.is_empty() {
        return None;
    }
    let start = from + (gap.len() - gap.trim_start().len());
    Some((start, start + sign.len()))
}

/// Another number or text in the place of a literal: a neighbour, one that was seen, one of the model.
fn literals(cx: RewriteContext<'_>, expr: &Expr, ty: Option<&str>, found: &mut Vec<Rewrite>) {
    let own = cx.scope.slice(expr.span);
    let Some(kind) = cx.scope.type_of(expr, cx.fields) else { return };
    let mut known = vec![own.to_owned()];
    let mut add = |text: String, bits: f64, found: &mut Vec<Rewrite>| {
        if !known.contains(&text) {
            known.push(text.clone());
            found.push(Rewrite::of(expr.span, text, bits));
        }
    };
    for text in neighbours(own) {
        // `x + 0` reads worse than `x`, which means the same.
        let bits = if text == "0" { 3.5 } else { 2.0 };
        add(text, bits, found);
    }
    let seen: Vec<&String> = cx.failure.values_of(&kind).take(MAX_OTHERS).collect();
    let bits = 3.0 + choice_bits(seen.len()) / 2.0;
    for text in seen {
        add(text.clone(), bits, found);
    }
    let written = cx.scope.literals.get(&kind).map_or(&[][..], Vec::as_slice);
    for text in written.iter().take(MAX_OTHERS) {
        add(text.clone(), 3.0 + choice_bits(written.len()) / 2.0, found);
    }
    let names = cx.scope.names_of_type(ty.unwrap_or(&kind), cx.fields);
    for name in names.iter().take(MAX_OTHERS) {
        add(name.clone(), 4.0 + choice_bits(names.len()), found);
    }
}

/// Returns the neighbours of a number as texts, with its unit.
pub(super) fn neighbours(text: &str) -> Vec<String> {
    // The unit of a time (`5s`) is kept. Fractions and decimals have no neighbour.
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let is_plain = !unit.starts_with(['.', '/']);
    let Some(n) = number.parse::<i64>().ok().filter(|_| is_plain) else { return Vec::new() };
    [n.checked_add(1), n.checked_sub(1)]
        .into_iter()
        .flatten()
        .map(|n| if n < 0 { format!("({n}{unit})") } else { format!("{n}{unit}") })
        .collect()
}

/// Another name of the same type, its negation, or a value that was seen.
fn names(cx: RewriteContext<'_>, expr: &Expr, name: &str, found: &mut Vec<Rewrite>) {
    let Some(ty) = cx.scope.type_of_name(name, cx.fields) else { return };
    let is_clock = cx.scope.clocks.iter().any(|clock| clock == name);
    let others: Vec<String> = if is_clock {
        cx.scope.clocks.iter().filter(|other| *other != name).cloned().collect()
    } else {
        // Compared as it is written: `names_of_type` gives names in the form of the source, with quotes where
        // they need them.
        let own = cx.scope.slice(expr.span);
        cx.scope.names_of_type(&ty, cx.fields).into_iter().filter(|other| other != own).collect()
    };
    let bits = 2.0 + choice_bits(others.len());
    for other in others.into_iter().take(MAX_OTHERS) {
        let bits = bits - cx.unused_bits(&other);
        found.push(Rewrite::of(expr.span, other, bits));
    }
    if ty == "bool" {
        found.push(Rewrite::of(expr.span, format!("!{}", cx.scope.slice(expr.span)), 2.0));
    }
    seen_values(cx, expr, &ty, found);
    if !is_clock {
        offsets(cx, expr, Some(&ty), found);
        items(cx, expr, &ty, found);
    }
}

/// A collection with an item more or less.
fn items(cx: RewriteContext<'_>, expr: &Expr, ty: &str, found: &mut Vec<Rewrite>) {
    let Some(item) = item_type(ty) else { return };
    let own = cx.scope.slice(expr.span);
    let names = cx.scope.names_of_type(item, cx.fields);
    let bits = 4.0 + choice_bits(names.len()) / 2.0;
    let mut add = |text: String| found.push(Rewrite::of(expr.span, text, bits));
    if ty.starts_with("list<") {
        add(format!("{own}.drop(1)"));
        names.iter().take(MAX_OTHERS).for_each(|name| add(format!("({own} + [{name}])")));
        return;
    }
    for name in names.iter().take(MAX_OTHERS) {
        add(format!("{own}.without({name})"));
        if map_types(ty).is_none() {
            add(format!("{own}.with({name})"));
        }
    }
}

/// Another field of the same record.
fn other_fields(cx: RewriteContext<'_>, value: &Expr, name: &Name, found: &mut Vec<Rewrite>) {
    let of = cx.scope.type_of(value, cx.fields);
    let has_field = |fields: &[TypedName]| fields.iter().any(|field| field.name == name.text);
    let is_meant = |it: &&FunctionInfo| {
        it.name == it.result && of.as_ref().map_or_else(|| has_field(&it.params), |of| it.name == *of)
    };
    for record in cx.scope.constructors.iter().filter(is_meant) {
        let ty = record.params.iter().find(|field| field.name == name.text).map(|field| &field.ty);
        let others = record.params.iter().filter(|field| field.name != name.text && Some(&field.ty) == ty);
        let others: Vec<&TypedName> = others.collect();
        let bits = 2.0 + choice_bits(others.len());
        found.extend(others.iter().map(|field| Rewrite::of(name.span, source_name(&field.name), bits)));
    }
}

/// The value of another case, or those of two cases exchanged.
fn other_arms(cx: RewriteContext<'_>, arms: &[MatchArm], found: &mut Vec<Rewrite>) {
    for (at, one) in arms.iter().enumerate() {
        for other in &arms[at + 1..] {
            let [a, b] = [one, other].map(|arm| cx.scope.slice(arm.value.span));
            if a == b {
                continue;
            }
            let between = (one.value.span.end as usize, other.value.span.start as usize);
            if let Some(between) = cx.scope.text.get(between.0..between.1) {
                let both = one.value.span.to(other.value.span);
                found.push(Rewrite::of(both, format!("{b}{between}{a}"), 3.0));
            }
            found.push(Rewrite::of(one.value.span, b, 4.0));
            found.push(Rewrite::of(other.value.span, a, 4.0));
        }
    }
}

/// Another function of the same arguments, or a name of the type of its value; its negation.
fn other_functions(
    cx: RewriteContext<'_>,
    expr: &Expr,
    name: &Name,
    ty: Option<&str>,
    found: &mut Vec<Rewrite>,
) {
    let types = |it: &FunctionInfo| it.params.iter().map(|param| param.ty.clone()).collect::<Vec<_>>();
    // The arguments of a function have no names, those of a record and of a value of an enum have.
    let names = |it: &FunctionInfo| it.params.iter().map(|param| param.name.clone()).collect::<Vec<_>>();
    let all = [(&cx.scope.functions, false), (&cx.scope.constructors, true)];
    for (list, is_named) in all {
        let Some(own) = list.iter().find(|it| it.name == name.text) else { continue };
        let is_alike = |it: &&FunctionInfo| {
            it.name != own.name
                && it.result == own.result
                && types(it) == types(own)
                && (!is_named || names(it) == names(own))
        };
        let others: Vec<&FunctionInfo> = list.iter().filter(is_alike).collect();
        let bits = 2.5 + choice_bits(others.len());
        for other in others.into_iter().take(MAX_OTHERS) {
            let bits = bits - cx.scope.unused_bits(&other.name);
            found.push(Rewrite::of(name.span, source_name(&other.name), bits));
        }
    }
    let Some(ty) = ty else { return };
    if ty == "bool" {
        found.push(Rewrite::of(expr.span, format!("!{}", cx.scope.slice(expr.span)), 2.0));
    }
    let names = cx.scope.names_of_type(ty, cx.fields);
    let bits = 4.0 + choice_bits(names.len()) / 2.0;
    found.extend(names.into_iter().take(MAX_OTHERS).map(|name| Rewrite::of(expr.span, name, bits)));
}

fn whole_values(cx: RewriteContext<'_>, expr: &Expr, ty: Option<&str>, found: &mut Vec<Rewrite>) {
    let Some(ty) = ty else { return };
    if let Some(inner) = ty.strip_suffix('?') {
        let names = cx.scope.names_of_type(inner, cx.fields);
        let bits = 3.0 + choice_bits(names.len()) / 2.0;
        let some = names.into_iter().take(MAX_OTHERS).map(|name| format!("some({name})"));
        let all = some.chain(["none".to_owned()]).filter(|text| text != cx.scope.slice(expr.span));
        found.extend(all.map(|text| Rewrite::of(expr.span, text, bits)));
    }
    let names = cx.scope.names_of_type(ty, cx.fields);
    let bits = 3.0 + choice_bits(names.len());
    found.extend(names.into_iter().take(MAX_OTHERS).map(|name| Rewrite::of(expr.span, name, bits)));
    seen_values(cx, expr, ty, found);
    offsets(cx, expr, Some(ty), found);
}

fn seen_values(cx: RewriteContext<'_>, expr: &Expr, ty: &str, found: &mut Vec<Rewrite>) {
    // At most eight observed values, as in pins. No reason for the number is recorded.
    let seen: Vec<&String> = cx.failure.values_of(ty).take(8).collect();
    let bits = 6.0 + choice_bits(seen.len());
    found.extend(seen.into_iter().map(|text| Rewrite::of(expr.span, text.clone(), bits)));
}

/// One more or one less.
fn offsets(cx: RewriteContext<'_>, expr: &Expr, ty: Option<&str>, found: &mut Vec<Rewrite>) {
    if ty == Some("int") {
        let own = cx.scope.slice(expr.span);
        for sign in ["+", "-"] {
            found.push(Rewrite::of(expr.span, format!("({own} {sign} 1)"), 4.0));
        }
    }
}

/// The other connective at one place.
fn swap_signs(cx: RewriteContext<'_>, list: &[Expr], other: &str, found: &mut Vec<Rewrite>) {
    // `a && b || c` binds otherwise, so a longer chain keeps its meaning elsewhere only with brackets.
    if let [first, second] = list {
        if let Some((start, end)) = sign_between(cx, first, second) {
            found.push(Rewrite { start, end, text: other.to_owned(), bits: 2.0 });
        }
        return;
    }
    let parts: Vec<&str> = list.iter().map(|part| cx.scope.slice(part.span)).collect();
    let (Some(first), Some(last)) = (list.first(), list.last()) else { return };
    let whole = first.span.to(last.span);
    found.push(Rewrite::of(whole, format!("({})", parts.join(&format!(" {other} "))), 2.0));
}

/// One operand left out.
fn drop_operands(cx: RewriteContext<'_>, list: &[Expr], found: &mut Vec<Rewrite>) {
    for (at, part) in list.iter().enumerate() {
        let (start, end) = match list.get(at + 1) {
            Some(next) => (part.span.start as usize, next.span.start as usize),
            None if at > 0 => (list[at - 1].span.end as usize, part.span.end as usize),
            None => continue,
        };
        // A comment between them would be lost.
        if !cx.scope.text.get(start..end).unwrap_or("//").contains("//") {
            found.push(Rewrite { start, end, text: String::new(), bits: 2.0 + choice_bits(list.len()) });
        }
    }
}

/// One branch of an `if` alone, or both exchanged.
fn branches(
    cx: RewriteContext<'_>,
    expr: &Expr,
    arms: &[(Expr, Expr)],
    otherwise: &Expr,
    found: &mut Vec<Rewrite>,
) {
    let values = arms.iter().map(|(_, value)| value).chain([otherwise]);
    for value in values {
        // One branch alone, as if its condition always held.
        found.push(Rewrite::of(expr.span, format!("({})", cx.scope.slice(value.span)), 3.0));
    }
    if let [(condition, then)] = arms {
        let [condition, then, other] = [condition, then, otherwise].map(|part| cx.scope.slice(part.span));
        found.push(Rewrite::of(expr.span, format!("if {condition} then {other} else {then}"), 3.0));
    }
}

/// Another sign in a sum, one operand less, or both operands exchanged.
fn sums(cx: RewriteContext<'_>, expr: &Expr, first: &Expr, rest: &[(AddOp, Expr)], found: &mut Vec<Rewrite>) {
    let mut before = first;
    for (sign, operand) in rest {
        if let Some((start, end)) = sign_between(cx, before, operand) {
            let other = if *sign == AddOp::Add { "-" } else { "+" };
            found.push(Rewrite { start, end, text: other.to_owned(), bits: 2.0 });
        }
        let (start, end) = (before.span.end as usize, operand.span.end as usize);
        found.push(Rewrite { start, end, text: String::new(), bits: 3.0 });
        before = operand;
    }
    if let [(AddOp::Add, second)] = rest {
        let [a, b] = [first, second].map(|part| cx.scope.slice(part.span));
        found.push(Rewrite::of(expr.span, b, 3.0));
        // Lists and texts: what is put behind may belong in front.
        if cx.scope.type_of(expr, cx.fields).is_none_or(|ty| ty != "int" && ty != "real") {
            found.push(Rewrite::of(expr.span, format!("{b} + {a}"), 3.0));
        }
    }
}

/// Another operator in a product, a sum in its place, or its first operand alone.
fn products(
    cx: RewriteContext<'_>,
    expr: &Expr,
    first: &Expr,
    rest: &[(MulOp, Expr)],
    found: &mut Vec<Rewrite>,
) {
    let mut before = first;
    for (sign, operand) in rest {
        if let Some((start, end)) = sign_between(cx, before, operand) {
            let own = match sign {
                MulOp::Mul => "*",
                MulOp::Div => "/",
                MulOp::Rem => "%",
            };
            for other in ["*", "/", "%"] {
                if other != own {
                    found.push(Rewrite { start, end, text: other.to_owned(), bits: 2.5 });
                }
            }
        }
        before = operand;
    }
    if let [(MulOp::Mul, second)] = rest {
        let [a, b] = [first, second].map(|part| cx.scope.slice(part.span));
        found.push(Rewrite::of(expr.span, format!("({a} + {b})"), 3.0));
    }
    found.push(Rewrite::of(expr.span, cx.scope.slice(first.span), 3.0));
}

/// Groups of functions of which one is taken for another.
const CONFUSED: [&[&str]; 5] = [
    &["with", "without"],
    &["starts_with", "ends_with", "contains"],
    &["first", "last"],
    &["min", "max"],
    &["take", "drop"],
];

/// A function that is taken for this one, the receiver without it, or its negation.
fn methods(
    cx: RewriteContext<'_>,
    expr: &Expr,
    receiver: &Expr,
    name: &str,
    args: &[Expr],
    found: &mut Vec<Rewrite>,
) {
    let own = cx.scope.slice(receiver.span);
    let text = |args: &[Expr]| args.iter().map(|arg| cx.scope.slice(arg.span)).collect::<Vec<_>>().join(", ");
    for group in CONFUSED.iter().filter(|group| group.contains(&name)) {
        for other in group.iter().filter(|other| **other != name) {
            found.push(Rewrite::of(expr.span, format!("{own}.{other}({})", text(args)), 2.5));
        }
    }
    swapped_arguments(cx, &args.iter().collect::<Vec<_>>(), found);
    match name {
        "with" | "without" | "reverse" | "sorted" | "union" | "minus" | "common" | "take" | "drop"
        | "remove_at" => {
            found.push(Rewrite::of(expr.span, own, 3.0));
        }
        "has" | "contains" | "starts_with" | "ends_with" | "matches" | "is_empty" => {
            found.push(Rewrite::of(expr.span, format!("!{}", cx.scope.slice(expr.span)), 2.0));
        }
        _ => (),
    }
}

/// Two arguments in each other's place; the front end refuses those of other types.
fn swapped_arguments(cx: RewriteContext<'_>, args: &[&Expr], found: &mut Vec<Rewrite>) {
    for (at, first) in args.iter().enumerate() {
        for second in &args[at + 1..] {
            let [a, b] = [first, second].map(|arg| cx.scope.slice(arg.span));
            // The text between the two is kept, with the arguments that stand there and any comment.
            let between = cx.scope.text.get(first.span.end as usize..second.span.start as usize);
            if let Some(between) = between.filter(|_| a != b) {
                found.push(Rewrite::of(first.span.to(second.span), format!("{b}{between}{a}"), 3.0));
            }
        }
    }
}

/// The opposite of a number that is handed to a function.
fn signs(cx: RewriteContext<'_>, args: &[&Expr], found: &mut Vec<Rewrite>) {
    let names = args.iter().filter(|arg| matches!(arg.kind, ExprKind::Name(_)));
    for arg in names.filter(|arg| cx.scope.type_of(arg, cx.fields).as_deref() == Some("int")) {
        found.push(Rewrite::of(arg.span, format!("-{}", cx.scope.slice(arg.span)), 3.0));
    }
}

/// The other quantifier, or the negation of this one.
fn quantifiers(cx: RewriteContext<'_>, expr: &Expr, found: &mut Vec<Rewrite>) {
    let own = cx.scope.slice(expr.span);
    for (word, other) in [("exists ", "forall "), ("forall ", "exists ")] {
        if let Some(rest) = own.strip_prefix(word) {
            found.push(Rewrite::of(expr.span, format!("{other}{rest}"), 2.0));
            found.push(Rewrite::of(expr.span, format!("!({own})"), 2.5));
        }
    }
}

fn drop_items(expr: &Expr, items: &[Expr], cx: RewriteContext<'_>, found: &mut Vec<Rewrite>) {
    if items.len() < 2 {
        return;
    }
    let own = cx.scope.slice(expr.span);
    // Lists and sets differ in their brackets only, which are taken from the text.
    let (Some(open), Some(close)) = (own.chars().next(), own.chars().last()) else { return };
    for at in 0..items.len() {
        let rest = items.iter().enumerate().filter(|(other, _)| *other != at);
        let rest: Vec<&str> = rest.map(|(_, item)| cx.scope.slice(item.span)).collect();
        found.push(Rewrite::of(expr.span, format!("{open}{}{close}", rest.join(", ")), 4.0));
    }
}
