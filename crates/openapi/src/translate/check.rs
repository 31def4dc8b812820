//! Conditions on values: the constraints of a schema beyond its sort.

use std::collections::BTreeMap;

use ioxide_model::term::string_literal;

/// The side that writes the value of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ValueWriter {
    /// The tester, in a request.
    Sent,
    /// The service, in an answer.
    Told,
}

/// A condition on a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum ValueCondition {
    /// No condition.
    #[default]
    Anything,
    /// A conjunction.
    All(Vec<Self>),
    /// A condition as text, in which `@` stands for the value.
    Says(String),
    /// The whole value matches this pattern.
    Matches(String),
    /// A condition that holds only for values this side writes.
    Only(ValueWriter, Box<Self>),
    /// A condition on every item of a list (`@`), or every value of a map (`@.values()`).
    Each(&'static str, Box<Self>),
    /// A condition on the value inside an option.
    Inside(Box<Self>),
    /// A condition on a field.
    Field(String, Box<Self>),
    /// The condition on all values of this type.
    Named(String),
    /// The condition on the value in each case of an enum; `None` for a case without a value.
    Cases(Vec<(String, Option<Self>)>),
}

impl ValueCondition {
    /// Returns the condition with another pattern in the place of `old`.
    pub(crate) fn with_other_pattern(self, old: &str, new: &str) -> Self {
        match self {
            Self::All(all) => {
                Self::All(all.into_iter().map(|one| one.with_other_pattern(old, new)).collect())
            }
            Self::Matches(pattern) if pattern == old => Self::Matches(new.to_owned()),
            other => other,
        }
    }

    /// Returns the conjunction of two conditions.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anything, other) | (other, Self::Anything) => other,
            (Self::All(mut all), Self::All(more)) => {
                all.extend(more);
                Self::All(all)
            }
            (Self::All(mut all), other) => {
                all.push(other);
                Self::All(all)
            }
            (one, other) => Self::All(vec![one, other]),
        }
    }

    /// Returns the condition for the value inside an option.
    pub(crate) fn inside_option(self) -> Self {
        match self {
            Self::Anything => Self::Anything,
            check => Self::Inside(Box::new(check)),
        }
    }

    /// Returns the condition for the value inside an option, without the option.
    pub(crate) fn without_option(self) -> Self {
        match self {
            Self::Inside(check) => *check,
            check => check,
        }
    }
}

/// The conditions of types by name, and the functions that express them.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeConditions {
    types: BTreeMap<String, ValueCondition>,
    /// The functions needed, in the order in which they were requested.
    wanted: Vec<(String, ValueWriter)>,
    /// The types in a cycle of more than one type, whose conditions are left out at the place that closes it.
    pub(crate) cut: Vec<String>,
}

impl TypeConditions {
    /// Sets the condition on all values of a type.
    pub(crate) fn define_type(&mut self, name: &str, check: ValueCondition) {
        self.types.insert(name.to_owned(), check);
    }

    /// Returns the condition on `value` as an expression; `None` if it is trivial.
    pub(crate) fn condition_text(
        &mut self,
        check: &ValueCondition,
        value: &str,
        direction: ValueWriter,
    ) -> Option<String> {
        self.render_condition(check, value, direction, &mut Vec::new(), 0)
    }

    /// Returns the declarations of the functions that were used.
    pub(crate) fn function_declarations(&mut self) -> Vec<String> {
        let mut declared = Vec::new();
        let mut at = 0;
        // A queue by index: the text of one function may ask for more.
        while let Some((name, direction)) = self.wanted.get(at).cloned() {
            at += 1;
            let check = self.types.get(&name).cloned().unwrap_or_default();
            let body = self.render_condition(&check, "x", direction, &mut vec![name.clone()], 0);
            let body = body.unwrap_or_else(|| "true".into());
            declared.push(format!("fn {}(x: {name}) -> bool = {body}\n", function_name(&name, direction)));
        }
        declared
    }

    /// Returns whether a condition on values written by one side is not trivial.
    fn has_condition(&self, check: &ValueCondition, direction: ValueWriter, seen: &mut Vec<String>) -> bool {
        match check {
            ValueCondition::Anything => false,
            ValueCondition::Says(_) | ValueCondition::Matches(_) => true,
            ValueCondition::Only(side, inner) => {
                direction == *side && self.has_condition(inner, direction, seen)
            }
            ValueCondition::All(all) => all.iter().any(|check| self.has_condition(check, direction, seen)),
            ValueCondition::Each(_, inner)
            | ValueCondition::Inside(inner)
            | ValueCondition::Field(_, inner) => self.has_condition(inner, direction, seen),
            // A least fixpoint: a type that has a condition only through itself has none.
            ValueCondition::Named(name) if seen.contains(name) => false,
            ValueCondition::Named(name) => {
                seen.push(name.clone());
                self.types.get(name).is_some_and(|check| self.has_condition(check, direction, seen))
            }
            ValueCondition::Cases(cases) => cases
                .iter()
                .filter_map(|(_, check)| check.as_ref())
                .any(|check| self.has_condition(check, direction, seen)),
        }
    }

    /// Returns whether the condition of the type `from` depends on that of `to`.
    fn depends_on(&self, from: &str, to: &str, seen: &mut Vec<String>) -> bool {
        let Some(check) = self.types.get(from) else { return false };
        let mut names = Vec::new();
        collect_type_names(check, &mut names);
        names.iter().any(|name| {
            name == to
                || !seen.contains(name) && {
                    seen.push(name.clone());
                    self.depends_on(name, to, seen)
                }
        })
    }

    /// Returns whether a condition depends on the type whose function it is a part of.
    fn closes_circle(&self, check: &ValueCondition, within: &[String]) -> bool {
        let Some(last) = within.last() else { return false };
        let mut names = Vec::new();
        collect_type_names(check, &mut names);
        names.iter().any(|name| name == last || self.depends_on(name, last, &mut Vec::new()))
    }

    /// Returns the condition as an expression; `within` are the types whose functions it is a part of.
    fn render_condition(
        &mut self,
        check: &ValueCondition,
        value: &str,
        direction: ValueWriter,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Option<String> {
        if !self.has_condition(check, direction, &mut Vec::new()) {
            return None;
        }
        let bound = ["y", "z", "u", "v", "w"]
            .get(depth)
            .map_or_else(|| format!("y{depth}"), |name| (*name).to_owned());
        match check {
            ValueCondition::Anything => None,
            ValueCondition::Says(text) => Some(text.replace('@', value)),
            ValueCondition::Matches(pattern) => Some(format!("{value}.matches({})", string_literal(pattern))),
            ValueCondition::Only(_, inner) => self.render_condition(inner, value, direction, within, depth),
            ValueCondition::All(all) => {
                let parts: Vec<String> = all
                    .iter()
                    .filter_map(|check| self.render_condition(check, value, direction, within, depth))
                    .collect();
                (!parts.is_empty()).then(|| parts.join(" && "))
            }
            ValueCondition::Each(of, inner) => {
                // A function may call itself on parts of its value, and the values of a map do not count as such.
                if *of == "@.values()" && self.closes_circle(inner, within) {
                    self.cut.extend(within.last().cloned());
                    return None;
                }
                let inner = self.render_condition(inner, &bound, direction, within, depth + 1)?;
                Some(format!("(forall {bound} in {}: {inner})", of.replace('@', value)))
            }
            ValueCondition::Inside(inner) => {
                let inner = self.render_condition(inner, &bound, direction, within, depth + 1)?;
                Some(format!("(match {value} {{ none => true, some({bound}) => {inner} }})"))
            }
            ValueCondition::Field(name, inner) => {
                self.render_condition(inner, &format!("{value}.{name}"), direction, within, depth)
            }
            ValueCondition::Named(name) => {
                // The language allows a function to call itself, but not two to call each other: where a cycle of types
                // closes, the condition is left out, which allows more and never forbids what is right.
                let is_self = within.last() == Some(name);
                let closes = within
                    .last()
                    .is_some_and(|last| last != name && self.depends_on(name, last, &mut Vec::new()));
                if closes && !is_self {
                    self.cut.push(name.clone());
                    return None;
                }
                let key = (name.clone(), direction);
                if !self.wanted.contains(&key) {
                    self.wanted.push(key);
                }
                Some(format!("{}({value})", function_name(name, direction)))
            }
            ValueCondition::Cases(cases) => {
                let case = |(name, check): &(String, Option<ValueCondition>)| {
                    let Some(check) = check else { return format!("{name} => true") };
                    match self.render_condition(check, &bound, direction, within, depth + 1) {
                        Some(text) => format!("{name}({bound}) => {text}"),
                        None => format!("{name}({bound}) => true"),
                    }
                };
                let cases: Vec<String> = cases.iter().map(case).collect();
                Some(format!("(match {value} {{ {} }})", cases.join(", ")))
            }
        }
    }
}

/// Collects the types that a condition refers to.
fn collect_type_names(check: &ValueCondition, names: &mut Vec<String>) {
    match check {
        ValueCondition::Anything | ValueCondition::Says(_) | ValueCondition::Matches(_) => (),
        ValueCondition::Named(name) => names.push(name.clone()),
        ValueCondition::All(all) => all.iter().for_each(|check| collect_type_names(check, names)),
        ValueCondition::Only(_, inner)
        | ValueCondition::Each(_, inner)
        | ValueCondition::Inside(inner)
        | ValueCondition::Field(_, inner) => {
            collect_type_names(inner, names);
        }
        ValueCondition::Cases(cases) => cases
            .iter()
            .filter_map(|(_, check)| check.as_ref())
            .for_each(|check| collect_type_names(check, names)),
    }
}

fn function_name(name: &str, direction: ValueWriter) -> String {
    let name = crate::name::snake_case(name);
    match direction {
        ValueWriter::Sent => format!("may_send_{name}"),
        ValueWriter::Told => format!("is_{name}"),
    }
}
