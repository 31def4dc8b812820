//! Names in expressions, and the types of expressions as far as the text determines them.

use ioxide_lang::ast::{ArgExpr, Expr, ExprKind, MatchArm, Name, PatternExpr, PatternKind};
use ioxide_lang::builtin::{
    BuiltIn, INT_FUNCTIONS, LIST_FUNCTIONS, MAP_FUNCTIONS, SET_FUNCTIONS, STRING_FUNCTIONS,
};
use ioxide_model::source::Span;

use super::build::Indexer;
use super::{DefinitionId, DefinitionKind, ValueType};

impl Indexer<'_> {
    /// Indexes the names of `expr`, and returns its type if it can be determined.
    pub(super) fn index_expr(&mut self, expr: &Expr) -> Option<ValueType> {
        match &expr.kind {
            ExprKind::Error(_) | ExprKind::None => None,
            ExprKind::Bool(_) => Some(ValueType::Bool),
            ExprKind::Number(text) => Some(number_type(text)),
            ExprKind::Str(_) => Some(ValueType::Text),
            ExprKind::Some(inner) => self.index_expr(inner).map(|ty| ValueType::Option(Box::new(ty))),
            ExprKind::Name(name) => {
                let id = self.find_value(name)?;
                self.add_reference(expr.span, id);
                self.index.get(id).ty.clone()
            }
            ExprKind::Paren(inner) | ExprKind::Neg(inner) => self.index_expr(inner),
            ExprKind::Not(inner) => {
                self.index_expr(inner);
                Some(ValueType::Bool)
            }
            ExprKind::Sum(first, rest) => {
                let ty = self.index_expr(first);
                rest.iter().for_each(|(_, one)| _ = self.index_expr(one));
                ty
            }
            ExprKind::Product(first, rest) => {
                let ty = self.index_expr(first);
                rest.iter().for_each(|(_, one)| _ = self.index_expr(one));
                ty
            }
            ExprKind::Compare(first, rest) => {
                self.index_expr(first);
                rest.iter().for_each(|(_, one)| _ = self.index_expr(one));
                Some(ValueType::Bool)
            }
            ExprKind::Is(value, case) => {
                self.index_expr(value);
                if let Some(id) = self.find_value(&case.text) {
                    self.add_reference(case.span, id);
                }
                Some(ValueType::Bool)
            }
            ExprKind::Range(lo, hi) => {
                self.index_expr(lo);
                self.index_expr(hi);
                Some(ValueType::List(Box::new(ValueType::Int)))
            }
            ExprKind::And(list) | ExprKind::Or(list) | ExprKind::Implies(list) => {
                list.iter().for_each(|one| _ = self.index_expr(one));
                Some(ValueType::Bool)
            }
            ExprKind::If(arms, otherwise) => {
                let mut ty = None;
                for (condition, value) in arms {
                    self.index_expr(condition);
                    let found = self.index_expr(value);
                    ty = ty.or(found);
                }
                let found = self.index_expr(otherwise);
                ty.or(found)
            }
            ExprKind::Match(of, arms) => self.index_match(of, arms),
            ExprKind::Quantified { var, lo, hi, body, .. } => {
                self.index_expr(lo);
                self.index_expr(hi);
                self.with_name_in_scope(var, Some(ValueType::Int), |this| _ = this.index_expr(body));
                Some(ValueType::Bool)
            }
            ExprKind::Over { word, var, of, body } => {
                let member =
                    self.index_expr(of).and_then(|ty| self.member_of(&ty)).or_else(|| basic_type(of));
                self.with_name_in_scope(var, member, |this| _ = this.index_expr(body));
                let counts = *word == ioxide_lang::ast::OverWord::Count;
                Some(if counts { ValueType::Int } else { ValueType::Bool })
            }
            ExprKind::Comprehension { set, item, var, of, keep } => {
                let member = self.index_expr(of).and_then(|ty| self.member_of(&ty));
                let mut value = None;
                self.with_name_in_scope(var, member, |this| {
                    value = this.index_expr(item);
                    keep.iter().for_each(|keep| _ = this.index_expr(keep));
                });
                let item = Box::new(value?);
                Some(if *set { ValueType::Set(item) } else { ValueType::List(item) })
            }
            ExprKind::List(items) => self.index_items(items).map(|ty| ValueType::List(Box::new(ty))),
            ExprKind::Set(items) => self.index_items(items).map(|ty| ValueType::Set(Box::new(ty))),
            ExprKind::Map(entries) => self.index_entries(entries),
            ExprKind::Index(of, key) => {
                let ty = self.index_expr(of);
                self.index_expr(key);
                self.item_of(&ty?)
            }
            ExprKind::Call(name, args) => self.index_call(name, args),
            ExprKind::Method(of, name, args) => {
                let ty = self.index_expr(of);
                args.iter().for_each(|arg| _ = self.index_expr(arg));
                let ty = self.index.resolve_type(&ty?);
                let function = functions_of(&ty).iter().find(|one| one.name == name.text)?;
                result_of(function, &ty)
            }
            ExprKind::Field(of, name) => {
                let ty = self.index_expr(of)?;
                let fields = self.index.fields_of(&ty);
                let field = fields.into_iter().find(|field| self.index.get(*field).name == name.text)?;
                self.add_reference(name.span, field);
                self.index.get(field).ty.clone()
            }
        }
    }

    fn find_value(&self, name: &str) -> Option<DefinitionId> {
        let local = self.locals.iter().rev().find(|(local, _)| local == name).map(|(_, id)| *id);
        local.or_else(|| self.names.values.get(name).copied())
    }

    fn index_items(&mut self, items: &[Expr]) -> Option<ValueType> {
        items.iter().map(|item| self.index_expr(item)).fold(None, |ty, found| ty.or(found))
    }

    fn index_entries(&mut self, entries: &[(Expr, Expr)]) -> Option<ValueType> {
        let mut ty = None;
        for (key, value) in entries {
            let found = self.index_expr(key).zip(self.index_expr(value));
            ty = ty.or(found);
        }
        ty.map(|(key, value)| ValueType::Map(Box::new(key), Box::new(value)))
    }

    fn index_call(&mut self, name: &Name, args: &[ArgExpr]) -> Option<ValueType> {
        let names = &self.names;
        let function = names.functions.get(&name.text).copied();
        let record = || names.types.get(&name.text).copied();
        let found = function.or_else(record).or_else(|| names.values.get(&name.text).copied());
        if let Some(id) = found {
            self.add_reference(name.span, id);
        }
        for arg in args {
            if let Some(field) = &arg.name {
                self.reference_part(field, found);
            }
            self.index_expr(&arg.value);
        }
        let definition = self.index.get(found?);
        match definition.kind {
            DefinitionKind::Record => Some(ValueType::Named(definition.name.clone())),
            _ => definition.ty.clone(),
        }
    }

    fn index_match(&mut self, of: &Expr, arms: &[MatchArm]) -> Option<ValueType> {
        let scrutinee = self.index_expr(of);
        let mut ty = None;
        for arm in arms {
            let before = self.locals.len();
            self.index_pattern(&arm.pattern, scrutinee.as_ref());
            let found = self.index_expr(&arm.value);
            ty = ty.or(found);
            self.locals.truncate(before);
        }
        ty
    }

    /// Defines the names of `pattern`, which is matched against a value of type `ty`; the caller removes them from the
    /// scope.
    pub(super) fn index_pattern(&mut self, pattern: &PatternExpr, ty: Option<&ValueType>) {
        let ty = ty.map(|ty| self.index.resolve_type(ty));
        match &pattern.kind {
            PatternKind::Any | PatternKind::None => {}
            PatternKind::Literal(expr) => _ = self.index_expr(expr),
            PatternKind::Name(name) => self.index_case_name(name, pattern.span),
            PatternKind::Some(name) => {
                let inner = match &ty {
                    Some(ValueType::Option(inner)) => Some((**inner).clone()),
                    _ => None,
                };
                self.bind_name(name, inner);
            }
            PatternKind::Case(case, names) => {
                self.index_case_name(case, pattern.span);
                let fields = self.names.values.get(case).map(|id| self.index.get(*id).parts.clone());
                let fields = fields.unwrap_or_default();
                for (at, name) in names.iter().enumerate() {
                    let ty = fields.get(at).and_then(|field| self.index.get(*field).ty.clone());
                    self.bind_name(name, ty);
                }
            }
            PatternKind::List(items, rest) => {
                let item = ty.as_ref().and_then(|ty| self.item_of(ty));
                items.iter().for_each(|name| self.bind_name(name, item.clone()));
                rest.iter().for_each(|name| self.bind_name(name, ty.clone()));
            }
        }
    }

    /// Indexes the name of a case, which stands first in its pattern.
    fn index_case_name(&mut self, case: &str, pattern: Span) {
        if let Some(id) = self.names.values.get(case).copied() {
            let end = pattern.start + crate::text::to_protocol_number(case.len());
            self.add_reference(Span { end, ..pattern }, id);
        }
    }

    fn bind_name(&mut self, name: &Name, ty: Option<ValueType>) {
        if name.text == "_" {
            return;
        }
        let id = self.define(name, DefinitionKind::Bound, name.span);
        let definition = self.definition_mut(id);
        definition.detail = name.text.clone();
        definition.ty = ty;
        self.locals.push((name.text.clone(), id));
    }

    /// Runs `inside` with `name` in scope.
    pub(super) fn with_name_in_scope(
        &mut self,
        name: &Name,
        ty: Option<ValueType>,
        inside: impl FnOnce(&mut Self),
    ) {
        let before = self.locals.len();
        self.bind_name(name, ty);
        inside(self);
        self.locals.truncate(before);
    }

    fn member_of(&self, ty: &ValueType) -> Option<ValueType> {
        match self.index.resolve_type(ty) {
            ValueType::List(of) | ValueType::Set(of) | ValueType::Map(of, _) => Some(*of),
            _ => None,
        }
    }

    fn item_of(&self, ty: &ValueType) -> Option<ValueType> {
        item_of(&self.index.resolve_type(ty))
    }
}

fn number_type(text: &str) -> ValueType {
    let whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    if whole { ValueType::Int } else { ValueType::Real }
}

/// Returns the type of `x[...]` for an `x` of type `ty`; `None` unless it is a list or a map.
#[must_use]
pub fn item_of(ty: &ValueType) -> Option<ValueType> {
    match ty {
        ValueType::List(of) | ValueType::Map(_, of) => Some((**of).clone()),
        _ => None,
    }
}

/// Returns the built-in functions of values of a type.
#[must_use]
pub fn functions_of(ty: &ValueType) -> &'static [BuiltIn] {
    match ty {
        ValueType::Text => STRING_FUNCTIONS,
        ValueType::Int => INT_FUNCTIONS,
        ValueType::List(_) => LIST_FUNCTIONS,
        ValueType::Set(_) => SET_FUNCTIONS,
        ValueType::Map(..) => MAP_FUNCTIONS,
        ValueType::Bool | ValueType::Real | ValueType::Named(_) | ValueType::Option(_) => &[],
    }
}

/// Returns the type of the result of `function`, called on a value of type `of`.
#[must_use]
pub fn result_of(function: &BuiltIn, of: &ValueType) -> Option<ValueType> {
    let (first, second) = match of {
        ValueType::List(item) | ValueType::Set(item) => ((**item).clone(), None),
        ValueType::Map(key, value) => ((**key).clone(), Some((**value).clone())),
        _ => (ValueType::Text, None),
    };
    let boxed = |ty: ValueType| Box::new(ty);
    Some(match function.result {
        "int" => ValueType::Int,
        "bool" => ValueType::Bool,
        "string" => ValueType::Text,
        "T" => first,
        "T?" => ValueType::Option(boxed(first)),
        "int?" => ValueType::Option(boxed(ValueType::Int)),
        "V?" => ValueType::Option(boxed(second?)),
        "list<T>" | "list<K>" | "list<string>" => ValueType::List(boxed(first)),
        "list<V>" => ValueType::List(boxed(second?)),
        "set<T>" => ValueType::Set(boxed(first)),
        "map<K, V>" => of.clone(),
        _ => return None,
    })
}

impl std::fmt::Display for ValueType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Real => f.write_str("real"),
            Self::Text => f.write_str("string"),
            Self::Named(name) => f.write_str(name),
            Self::Option(of) => write!(f, "{of}?"),
            Self::List(of) => write!(f, "list<{of}>"),
            Self::Set(of) => write!(f, "set<{of}>"),
            Self::Map(key, value) => write!(f, "map<{key}, {value}>"),
        }
    }
}

/// Returns the basic type that `of` names, over all of whose values a quantifier goes.
fn basic_type(of: &Expr) -> Option<ValueType> {
    let ExprKind::Name(name) = &of.kind else { return None };
    match name.as_str() {
        "bool" => Some(ValueType::Bool),
        "int" => Some(ValueType::Int),
        "real" => Some(ValueType::Real),
        "string" => Some(ValueType::Text),
        _ => None,
    }
}
