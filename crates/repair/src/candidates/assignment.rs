//! Assignments that a transition may lack, and the values that they may have: what is assigned elsewhere, as it is or
//! with one name changed; what has the type of the variable; functions of what is there.

use ioxide_lang::ast::{TransitionDecl, UpdateKind};
use ioxide_lang::lexeme::{LexemeKind, lexemes};
use ioxide_model::name::source_name;

use super::choice_bits;
use crate::failure::FailurePoint;
use crate::scope::{FunctionInfo, ModelScope, TypedName, UNUSED_BITS, WrittenExpr, item_type, map_types};

/// The greatest number of values that are tried for one assignment. Chosen by feel.
const MAX_VALUES: usize = 48;
/// The greatest number of ways in which one name of an expression is changed. Chosen by feel.
const MAX_RENAMED: usize = 8;
/// The greatest number of calls of one function. Chosen by feel.
const MAX_CALLS: usize = 6;
/// The bits of an assignment that is missing, beyond those of the variable and the value. Chosen by feel.
const MISSING_BITS: f64 = 3.0;

/// A value that may be assigned.
#[derive(Clone, Debug)]
pub(super) struct AssignableValue {
    pub(super) text: String,
    /// The bits of the choice among all values.
    pub(super) bits: f64,
}

/// Returns the assignments that a transition may lack, each with its cost.
pub(super) fn new_assignments(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    transition: &TransitionDecl,
    fields: &[TypedName],
) -> Vec<(String, String, f64)> {
    let is_assigned = |name: &str| {
        transition.updates.iter().any(|update| match &update.kind {
            UpdateKind::Assign(other, _) | UpdateKind::Put(other, ..) => other.text == name,
            UpdateKind::Reset(_) => false,
        })
    };
    let free: Vec<&TypedName> = scope.vars.iter().filter(|var| !is_assigned(&var.name)).collect();
    let of_choice = MISSING_BITS + choice_bits(free.len()) / 2.0;
    let mut all = Vec::new();
    for var in free {
        // A variable that nothing assigns has lost its assignment.
        let bits = if scope.unassigned.contains(&var.name) { of_choice - UNUSED_BITS } else { of_choice };
        let values = values_for(scope, failure, &var.name, fields).into_iter();
        all.extend(values.map(|value| (var.name.clone(), value.text, bits + value.bits)));
    }
    all
}

/// Returns the values that may be assigned to a variable, the likeliest first.
pub(super) fn values_for(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    name: &str,
    fields: &[TypedName],
) -> Vec<AssignableValue> {
    let Some(ty) = scope.type_of_name(name, &[]) else { return Vec::new() };
    let mut list = ValueList { own: source_name(name).into_owned(), all: Vec::new() };
    let elsewhere: Vec<&WrittenExpr> = scope.assigned.get(name).into_iter().flatten().collect();
    // The order of the sources decides what is kept, because the list has an end.
    elsewhere.iter().filter(|it| scope.is_in_scope(it, fields)).for_each(|it| list.add(&it.text, 0.0));
    scope.initial_of(name).into_iter().for_each(|initial| list.add(&initial, 0.0));
    if ty == "bool" {
        ["true", "false"].into_iter().for_each(|text| list.add(text, 0.0));
    }
    scope.names_of_type(&ty, fields).iter().for_each(|it| list.add(it, 0.5 - scope.unused_bits(it)));
    of_type(scope, &ty, fields, &mut list);
    let alike = scope.vars.iter().filter(|other| other.ty == ty && other.name != name);
    for other in alike {
        for written in scope.assigned.get(&other.name).into_iter().flatten() {
            let moved = written.renamed(&other.name, name);
            if scope.is_in_scope(&moved, fields) {
                list.add(&moved.text, 1.0);
            }
        }
    }
    for written in elsewhere {
        scope.renamings(written, fields).iter().for_each(|it| list.add(it, 1.0));
    }
    let calls = scope.functions.iter().filter(|it| it.result == ty);
    calls.for_each(|it| scope.calls_of(it, fields).iter().for_each(|call| list.add(call, 1.5)));
    if ty == "int" {
        // At most six observed values. No reason for the number is recorded.
        failure.values_of("int").take(6).for_each(|text| list.add(text, 1.0));
    }
    list.all
}

/// Adds what can be made of a value by its type.
fn of_type(scope: &ModelScope<'_>, ty: &str, fields: &[TypedName], list: &mut ValueList) {
    let own = list.own.clone();
    if let Some((key, item)) = map_types(ty) {
        for one in scope.names_of_type(key, fields) {
            list.add(&format!("{own}.without({one})"), 0.5);
            for value in scope.names_of_type(item, fields) {
                list.add(&format!("{own}.with({one}, {value})"), 0.5);
            }
        }
        list.add("{}", 1.0);
    } else if let Some(item) = item_type(ty) {
        let is_list = ty.starts_with("list<");
        let makers = scope.constructors.iter().filter(|it| it.result == item);
        let made = makers.flat_map(|it| scope.calls_of(it, fields));
        for one in scope.names_of_type(item, fields).into_iter().chain(made) {
            if is_list {
                list.add(&format!("{own} + [{one}]"), 0.5);
            } else {
                list.add(&format!("{own}.with({one})"), 0.5);
                list.add(&format!("{own}.without({one})"), 0.5);
            }
        }
        if is_list {
            list.add(&format!("{own}.drop(1)"), 0.5);
        }
        list.add(if is_list { "[]" } else { "{}" }, 0.5);
    } else if let Some(inner) = ty.strip_suffix('?') {
        list.add("none", 0.0);
        let names = scope.names_of_type(inner, fields);
        names.iter().for_each(|name| list.add(&format!("some({name})"), 0.5));
    } else if ty == "bool" {
        list.add(&format!("!{own}"), 1.0);
    } else if ty == "int" {
        list.add(&format!("{own} + 1"), 0.5);
        list.add(&format!("{own} - 1"), 0.5);
        for field in fields.iter().filter(|field| field.ty == "int") {
            let field = source_name(&field.name);
            list.add(&format!("{own} + {field}"), 0.5);
            list.add(&format!("{own} - {field}"), 0.5);
        }
    }
    let makers = scope.constructors.iter().filter(|it| it.result == ty);
    for maker in makers {
        let bits = 0.5 - scope.unused_bits(&maker.name);
        scope.calls_of(maker, fields).iter().for_each(|call| list.add(call, bits));
    }
}

/// Values of one variable, each once.
struct ValueList {
    /// The variable as it is written.
    own: String,
    all: Vec<AssignableValue>,
}

impl ValueList {
    /// Adds a value with the bits that it costs beyond its place in the list.
    fn add(&mut self, text: &str, bits: f64) {
        let is_known = text == self.own || self.all.iter().any(|known| known.text == text);
        if self.all.len() < MAX_VALUES && !is_known {
            let bits = bits + choice_bits(self.all.len() + 1) / 2.0;
            self.all.push(AssignableValue { text: text.to_owned(), bits });
        }
    }
}

impl WrittenExpr {
    /// Returns the expression with another name in the place of one.
    fn renamed(&self, old: &str, new: &str) -> Self {
        let swap = |name: &String| if name == old { new.to_owned() } else { name.clone() };
        let typed = self.typed.iter().map(|it| TypedName { name: swap(&it.name), ty: it.ty.clone() });
        Self {
            text: with_name(&self.text, old, &source_name(new)),
            names: self.names.iter().map(swap).collect(),
            typed: typed.collect(),
        }
    }
}

impl ModelScope<'_> {
    /// Returns an expression with one name changed to another of its type, so that all of them are in scope.
    fn renamings(&self, written: &WrittenExpr, fields: &[TypedName]) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for old in &written.typed {
            let others = fields.iter().chain(&self.vars).filter(|it| it.ty == old.ty && it.name != old.name);
            let renamed = others.map(|other| written.renamed(&old.name, &other.name));
            let renamed = renamed.filter(|it| self.is_in_scope(it, fields));
            found.extend(renamed.map(|it| it.text).take(MAX_RENAMED));
        }
        found
    }

    /// Returns calls of a function, or values that a constructor makes, of names that are there: those that are called
    /// like the parameter first.
    fn calls_of(&self, function: &FunctionInfo, fields: &[TypedName]) -> Vec<String> {
        let is_named = self.constructors.iter().any(|it| it.name == function.name);
        let mut all: Vec<Vec<String>> = vec![Vec::new()];
        for param in &function.params {
            let mut names = self.names_of_type(&param.ty, fields);
            names.sort_by_key(|name| *name != source_name(&param.name));
            names.truncate(MAX_CALLS);
            let mut next = Vec::new();
            for args in &all {
                for name in &names {
                    let arg =
                        if is_named { format!("{}: {name}", source_name(&param.name)) } else { name.clone() };
                    next.push(args.iter().cloned().chain([arg]).collect());
                }
            }
            next.truncate(MAX_CALLS * 2);
            all = next;
        }
        let name = source_name(&function.name);
        all.iter()
            .filter(|args| !args.is_empty())
            .map(|args| format!("{name}({})", args.join(", ")))
            .collect()
    }
}

/// Returns a text with `new` in the place of the name `old`.
fn with_name(text: &str, old: &str, new: &str) -> String {
    let all: Vec<_> = lexemes(text).into_iter().filter(|it| it.kind != LexemeKind::Comment).collect();
    let slice =
        |at: usize| all.get(at).map_or("", |it| text.get(it.start as usize..it.end as usize).unwrap_or(""));
    let (mut out, mut from) = (String::new(), 0);
    for (at, lexeme) in all.iter().enumerate() {
        // Fields and methods of the same name are others.
        let is_other = (at > 0 && slice(at - 1) == ".") || matches!(slice(at + 1), ":" | "(");
        if slice(at) == old && !is_other {
            out.push_str(text.get(from..lexeme.start as usize).unwrap_or(""));
            out.push_str(new);
            from = lexeme.end as usize;
        }
    }
    out.push_str(text.get(from..).unwrap_or(""));
    out
}
