//! What a schema says beyond its sort, as a condition on a value.

use std::collections::BTreeMap;

/// Who wrote the value that a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Direction {
    /// The tester, in a request.
    Sent,
    /// The service, in an answer.
    Told,
}

/// A condition on a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Check {
    /// Anything will do.
    #[default]
    Anything,
    /// All of these hold.
    All(Vec<Self>),
    /// A text in which `@` stands for the value.
    Says(String),
    /// All of it matches this pattern.
    Matches(String),
    /// It holds where this side wrote the value.
    Only(Direction, Box<Self>),
    /// It holds of every item of a list, or every value of a map (`@.values()`).
    Each(&'static str, Box<Self>),
    /// It holds of what is inside an option.
    Inside(Box<Self>),
    /// It holds of a field.
    Field(String, Box<Self>),
    /// What is said of every value of this type.
    Named(String),
    /// What holds of the value in every case of an enum.
    Cases(Vec<(String, Option<Self>)>),
}

impl Check {
    /// Both.
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

    /// The same of what is inside an option.
    pub(crate) fn inside(self) -> Self {
        match self {
            Self::Anything => Self::Anything,
            check => Self::Inside(Box::new(check)),
        }
    }
}

/// The conditions of types, by name, and the functions that they become.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    types: BTreeMap<String, Check>,
    /// Functions that are needed, in the order they were asked for.
    wanted: Vec<(String, Direction)>,
    /// Types in a circle of more than one, whose conditions are left out at the place that closes it.
    pub(crate) cut: Vec<String>,
}

impl Checks {
    /// Says what holds of every value of a type.
    pub(crate) fn define(&mut self, name: &str, check: Check) {
        self.types.insert(name.to_owned(), check);
    }

    /// The condition on `value` as an expression, if there is anything to say.
    pub(crate) fn shown(&mut self, check: &Check, value: &str, direction: Direction) -> Option<String> {
        self.render(check, value, direction, &mut Vec::new(), 0)
    }

    /// The functions that were used, as declarations.
    pub(crate) fn functions(&mut self) -> Vec<String> {
        let mut declared = Vec::new();
        let mut at = 0;
        while let Some((name, direction)) = self.wanted.get(at).cloned() {
            at += 1;
            let check = self.types.get(&name).cloned().unwrap_or_default();
            let body = self.render(&check, "x", direction, &mut vec![name.clone()], 0);
            let body = body.unwrap_or_else(|| "true".into());
            declared.push(format!("fn {}(x: {name}) -> bool = {body}\n", function(&name, direction)));
        }
        declared
    }

    /// Whether anything is said of the values of a type.
    fn is_said(&self, check: &Check, direction: Direction, seen: &mut Vec<String>) -> bool {
        match check {
            Check::Anything => false,
            Check::Says(_) | Check::Matches(_) => true,
            Check::Only(side, inner) => direction == *side && self.is_said(inner, direction, seen),
            Check::All(all) => all.iter().any(|check| self.is_said(check, direction, seen)),
            Check::Each(_, inner) | Check::Inside(inner) | Check::Field(_, inner) => {
                self.is_said(inner, direction, seen)
            }
            Check::Named(name) if seen.contains(name) => false,
            Check::Named(name) => {
                seen.push(name.clone());
                self.types.get(name).is_some_and(|check| self.is_said(check, direction, seen))
            }
            Check::Cases(cases) => cases
                .iter()
                .filter_map(|(_, check)| check.as_ref())
                .any(|check| self.is_said(check, direction, seen)),
        }
    }

    /// Whether the condition of the type `from` needs that of `to`.
    fn leads_to(&self, from: &str, to: &str, seen: &mut Vec<String>) -> bool {
        let Some(check) = self.types.get(from) else { return false };
        let mut names = Vec::new();
        named(check, &mut names);
        names.iter().any(|name| {
            name == to
                || !seen.contains(name) && {
                    seen.push(name.clone());
                    self.leads_to(name, to, seen)
                }
        })
    }

    /// `within` are the types whose functions this is a part of.
    fn render(
        &mut self,
        check: &Check,
        value: &str,
        direction: Direction,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Option<String> {
        if !self.is_said(check, direction, &mut Vec::new()) {
            return None;
        }
        let bound = ["y", "z", "u", "v", "w"]
            .get(depth)
            .map_or_else(|| format!("y{depth}"), |name| (*name).to_owned());
        match check {
            Check::Anything => None,
            Check::Says(text) => Some(text.replace('@', value)),
            Check::Matches(pattern) => Some(format!("{value}.matches({})", super::text::quoted(pattern))),
            Check::Only(_, inner) => self.render(inner, value, direction, within, depth),
            Check::All(all) => {
                let parts: Vec<String> = all
                    .iter()
                    .filter_map(|check| self.render(check, value, direction, within, depth))
                    .collect();
                (!parts.is_empty()).then(|| parts.join(" && "))
            }
            Check::Each(of, inner) => {
                let inner = self.render(inner, &bound, direction, within, depth + 1)?;
                Some(format!("(forall {bound} in {}: {inner})", of.replace('@', value)))
            }
            Check::Inside(inner) => {
                let inner = self.render(inner, &bound, direction, within, depth + 1)?;
                Some(format!("(match {value} {{ none => true, some({bound}) => {inner} }})"))
            }
            Check::Field(name, inner) => {
                self.render(inner, &format!("{value}.{name}"), direction, within, depth)
            }
            Check::Named(name) => {
                let is_self = within.last() == Some(name);
                let closes = within
                    .last()
                    .is_some_and(|last| last != name && self.leads_to(name, last, &mut Vec::new()));
                if closes && !is_self {
                    self.cut.push(name.clone());
                    return None;
                }
                let key = (name.clone(), direction);
                if !self.wanted.contains(&key) {
                    self.wanted.push(key);
                }
                Some(format!("{}({value})", function(name, direction)))
            }
            Check::Cases(cases) => {
                let case = |(name, check): &(String, Option<Check>)| {
                    let Some(check) = check else { return format!("{name} => true") };
                    match self.render(check, &bound, direction, within, depth + 1) {
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

/// The types that a condition speaks of.
fn named(check: &Check, names: &mut Vec<String>) {
    match check {
        Check::Anything | Check::Says(_) | Check::Matches(_) => (),
        Check::Named(name) => names.push(name.clone()),
        Check::All(all) => all.iter().for_each(|check| named(check, names)),
        Check::Only(_, inner) | Check::Each(_, inner) | Check::Inside(inner) | Check::Field(_, inner) => {
            named(inner, names);
        }
        Check::Cases(cases) => {
            cases.iter().filter_map(|(_, check)| check.as_ref()).for_each(|check| named(check, names))
        }
    }
}

fn function(name: &str, direction: Direction) -> String {
    let name = crate::name::snake(name);
    match direction {
        Direction::Sent => format!("may_send_{name}"),
        Direction::Told => format!("is_{name}"),
    }
}
