//! The types of expressions and of the names that they bind, as far as they show.

use ioxide_lang::ast::{Expr, ExprKind, Name, PatternExpr, PatternKind, TransitionDecl};
use ioxide_model::name::source_name;

use super::{ModelScope, TypedName};

impl ModelScope<'_> {
    /// Returns the names that the updates of a transition may use beside those of the model: the fields of its message,
    /// and what its guard binds, as far as the type of that shows.
    pub(crate) fn names_of(&self, transition: &TransitionDecl) -> Vec<TypedName> {
        let mut names = self.fields_of(transition).to_vec();
        for binding in &transition.lets {
            let Some(ty) = self.type_of(&binding.value, &names) else { continue };
            names.extend(self.bound_by(&binding.pattern, &ty));
        }
        names
    }

    /// Returns the names that a pattern binds in a value of type `ty`.
    pub(crate) fn bound_by(&self, pattern: &PatternExpr, ty: &str) -> Vec<TypedName> {
        let typed = |name: &Name, ty: &str| TypedName { name: name.text.clone(), ty: ty.to_owned() };
        match (&pattern.kind, ty.strip_suffix('?'), item_type(ty)) {
            (PatternKind::Some(name), Some(inner), _) => vec![typed(name, inner)],
            (PatternKind::List(items, rest), _, Some(item)) => {
                let items = items.iter().map(|name| typed(name, item));
                items.chain(rest.iter().map(|name| typed(name, ty))).collect()
            }
            (PatternKind::Case(case, names), ..) => {
                let known = self.constructors.iter().find(|it| it.name == *case);
                let params = known.map_or(&[][..], |it| &it.params);
                names.iter().zip(params).map(|(name, param)| typed(name, &param.ty)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the type of an expression, as far as it shows; `fields` are names beside those of the model.
    pub(crate) fn type_of(&self, expr: &Expr, fields: &[TypedName]) -> Option<String> {
        Some(match &expr.kind {
            ExprKind::Bool(_)
            | ExprKind::Not(_)
            | ExprKind::Compare(..)
            | ExprKind::Is(..)
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Implies(_)
            | ExprKind::Quantified { .. } => "bool".into(),
            // A number with a unit is a time, which has the type of clocks.
            ExprKind::Number(text) if text.ends_with(|c: char| c.is_ascii_digit()) && !text.contains('.') => {
                "int".into()
            }
            ExprKind::Number(_) => "real".into(),
            ExprKind::Str(_) => "string".into(),
            ExprKind::Name(name) => return self.type_of_name(name, fields),
            ExprKind::Some(inner) => format!("{}?", self.type_of(inner, fields)?),
            ExprKind::Paren(inner) | ExprKind::Neg(inner) => return self.type_of(inner, fields),
            // Both sides have the same type, and so do all branches of `if` and `match`: one of them tells it. What
            // has no known type costs candidates only.
            ExprKind::Sum(first, rest) => {
                let mut parts = std::iter::once(&**first).chain(rest.iter().map(|(_, part)| part));
                return parts.find_map(|part| self.type_of(part, fields));
            }
            ExprKind::Product(first, _) => return self.type_of(first, fields),
            ExprKind::If(arms, otherwise) => {
                let mut values = std::iter::once(&**otherwise).chain(arms.iter().map(|(_, value)| value));
                return values.find_map(|value| self.type_of(value, fields));
            }
            ExprKind::Match(value, arms) => {
                let of = self.type_of(value, fields).unwrap_or_default();
                return arms.iter().find_map(|arm| {
                    let bound = self.bound_by(&arm.pattern, &of);
                    self.type_of(&arm.value, &[&bound, fields].concat())
                });
            }
            ExprKind::Call(name, _) => {
                let known =
                    self.functions.iter().chain(&self.constructors).find(|it| it.name == name.text)?;
                known.result.clone()
            }
            ExprKind::Field(value, name) => {
                let of = self.type_of(value, fields)?;
                let record = self.constructors.iter().find(|it| it.name == of && it.result == of)?;
                record.params.iter().find(|field| field.name == name.text)?.ty.clone()
            }
            ExprKind::List(items) => {
                format!("list<{}>", items.iter().find_map(|item| self.type_of(item, fields))?)
            }
            ExprKind::Set(items) => {
                format!("set<{}>", items.iter().find_map(|item| self.type_of(item, fields))?)
            }
            ExprKind::Comprehension { set, item, var, of, .. } => {
                let of = self.type_of(of, fields)?;
                let var = TypedName { name: var.text.clone(), ty: item_type(&of)?.to_owned() };
                let kind = if *set { "set" } else { "list" };
                format!("{kind}<{}>", self.type_of(item, &[&[var], fields].concat())?)
            }
            ExprKind::Method(receiver, name, _) => return self.type_of_method(receiver, &name.text, fields),
            // `list<T>` gives `T`, `map<K, V>` gives `V`.
            ExprKind::Index(of, _) => {
                let of = self.type_of(of, fields)?;
                map_types(&of).map(|(_, value)| value).or(item_type(&of))?.to_owned()
            }
            _ => return None,
        })
    }

    fn type_of_method(&self, receiver: &Expr, name: &str, fields: &[TypedName]) -> Option<String> {
        Some(match name {
            "length" | "size" => "int".into(),
            "has" | "contains" | "starts_with" | "ends_with" | "matches" | "is_empty" => "bool".into(),
            "with" | "without" | "drop" | "take" | "reverse" | "remove_at" | "union" | "minus" | "common" => {
                return self.type_of(receiver, fields);
            }
            "first" | "last" => format!("{}?", item_type(&self.type_of(receiver, fields)?)?),
            "get" => {
                let of = self.type_of(receiver, fields)?;
                format!("{}?", map_types(&of).map(|(_, value)| value).or(item_type(&of))?)
            }
            "sorted" => format!("list<{}>", item_type(&self.type_of(receiver, fields)?)?),
            "to_set" => format!("set<{}>", item_type(&self.type_of(receiver, fields)?)?),
            "to_int" => "int?".into(),
            "to_string" | "lower" | "upper" | "pad_left" | "pad_right" | "trim" => "string".into(),
            "split" => "list<string>".into(),
            _ => return None,
        })
    }

    /// Returns the type of a name.
    pub(crate) fn type_of_name(&self, name: &str, fields: &[TypedName]) -> Option<String> {
        if self.clocks.iter().any(|clock| clock == name) {
            return Some("real".into());
        }
        // The fields of the message come first: they hide what the model calls by the same name.
        let mut all = fields.iter().chain(&self.vars).chain(&self.consts).chain(&self.variants);
        all.find(|known| known.name == name).map(|known| known.ty.clone())
    }

    /// The names of this type that an expression beside `fields` may use, as they are written.
    pub(crate) fn names_of_type(&self, ty: &str, fields: &[TypedName]) -> Vec<String> {
        let all = fields.iter().chain(&self.vars).chain(&self.consts).chain(&self.variants);
        all.filter(|known| known.ty == ty).map(|known| source_name(&known.name).into_owned()).collect()
    }
}

/// Returns the names that a pattern binds.
pub(crate) fn names_bound(pattern: &PatternExpr) -> Vec<String> {
    let texts = |names: &[Name]| names.iter().map(|name| name.text.clone()).collect::<Vec<_>>();
    match &pattern.kind {
        PatternKind::Some(name) => vec![name.text.clone()],
        PatternKind::Case(_, names) => texts(names),
        PatternKind::List(names, rest) => {
            texts(names).into_iter().chain(rest.iter().map(|name| name.text.clone())).collect()
        }
        PatternKind::Any | PatternKind::Name(_) | PatternKind::None | PatternKind::Literal(_) => Vec::new(),
    }
}

/// Returns the type of the items of a list or set; that of the keys of a map.
pub(crate) fn item_type(ty: &str) -> Option<&str> {
    if let Some((key, _)) = map_types(ty) {
        return Some(key);
    }
    let rest = ty.strip_prefix("list<").or_else(|| ty.strip_prefix("set<"))?;
    rest.strip_suffix('>')
}

/// Returns the types of the keys and of the values of a map.
pub(crate) fn map_types(ty: &str) -> Option<(&str, &str)> {
    let of = ty.strip_prefix("map<")?.strip_suffix('>')?;
    let mut depth = 0_usize;
    for (at, c) in of.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return Some((&of[..at], of[at + 1..].trim_start())),
            _ => (),
        }
    }
    None
}
