//! The names of a model by their types, as far as candidates need them: expressions are put only where they may fit.
//!
//! The types here are texts, with ranges and other names of types resolved. They only save work: the front end checks
//! every candidate.

use ioxide_lang::ast::{
    DirectionDecl, Expr, ExprKind, FnDecl, ItemKind, ModelDecl, ModelItem, Name, PatternKind, StateDecl,
    TransitionDecl, Type, TypeKind, UpdateKind,
};
use ioxide_model::name::source_name;
use ioxide_model::source::{FileId, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// A name with its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedName {
    pub(crate) name: String,
    pub(crate) ty: String,
}

/// A message of a model.
#[derive(Clone, Debug)]
pub(crate) struct MessageInfo {
    pub(crate) name: String,
    pub(crate) direction: DirectionDecl,
    pub(crate) fields: Vec<TypedName>,
}

/// An expression that is written somewhere in the model, with the place that its value goes to.
#[derive(Clone, Debug)]
pub(crate) struct WrittenExpr {
    pub(crate) text: String,
    /// The names in it.
    pub(crate) names: Vec<String>,
}

/// The names and expressions of one model.
#[derive(Debug)]
pub(crate) struct ModelScope<'a> {
    pub(crate) file: FileId,
    pub(crate) text: &'a str,
    pub(crate) model: &'a ModelDecl,
    pub(crate) vars: Vec<TypedName>,
    pub(crate) clocks: Vec<String>,
    pub(crate) consts: Vec<TypedName>,
    /// The values of enums, by their type.
    pub(crate) variants: Vec<TypedName>,
    pub(crate) functions: Vec<String>,
    pub(crate) messages: Vec<MessageInfo>,
    pub(crate) states: Vec<&'a StateDecl>,
    /// The literals of the model, by their type: numbers in guards, texts.
    pub(crate) literals: FxHashMap<String, Vec<String>>,
    /// The conditions in guards, each a comparison or another question.
    pub(crate) atoms: Vec<WrittenExpr>,
    /// The comparisons among them: both sides, the sign between them, and the whole.
    pub(crate) compared: Vec<(String, String, String, WrittenExpr)>,
    /// The values of constants that are whole numbers.
    pub(crate) numbers: Vec<(String, i64)>,
    /// The values that updates assign, by variable.
    pub(crate) assigned: FxHashMap<String, Vec<WrittenExpr>>,
    /// The values that pins demand, by message and field.
    pub(crate) pinned: FxHashMap<(String, String), Vec<WrittenExpr>>,
    aliases: FxHashMap<String, &'a Type>,
}

/// A transition, with the state it stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransitionPlace<'a> {
    pub(crate) transition: &'a TransitionDecl,
    /// The state; `None` in `any`, and if the model has no states.
    pub(crate) state: Option<&'a StateDecl>,
}

impl<'a> ModelScope<'a> {
    /// Returns the names of `model`, which stands in `file`, with the declarations that it shares with others.
    pub(crate) fn new(
        sources: &'a Sources,
        file: FileId,
        model: &'a ModelDecl,
        shared: impl Iterator<Item = &'a ModelItem> + Clone,
    ) -> Self {
        let mut scope = Self {
            file,
            text: &sources.file(file).text,
            model,
            vars: Vec::new(),
            clocks: Vec::new(),
            consts: Vec::new(),
            variants: Vec::new(),
            functions: Vec::new(),
            messages: Vec::new(),
            states: Vec::new(),
            literals: FxHashMap::default(),
            atoms: Vec::new(),
            compared: Vec::new(),
            numbers: Vec::new(),
            assigned: FxHashMap::default(),
            pinned: FxHashMap::default(),
            aliases: FxHashMap::default(),
        };
        // Aliases first: the types of all other declarations are resolved by them, and a declaration may use
        // an alias that stands behind it.
        let items = shared.chain(&model.items);
        for item in items.clone() {
            if let ItemKind::Type(decl) = &item.kind {
                scope.aliases.insert(decl.name.text.clone(), &decl.ty);
            }
        }
        items.for_each(|item| scope.declare(item));
        scope.collect_expressions();
        scope
    }

    /// Adds the names that `item` declares.
    fn declare(&mut self, item: &'a ModelItem) {
        match &item.kind {
            ItemKind::Message(decl) => {
                let fields =
                    decl.fields.iter().map(|field| self.typed(&field.name.text, &field.ty)).collect();
                let (name, direction) = (decl.name.text.clone(), decl.direction);
                self.messages.push(MessageInfo { name, direction, fields });
            }
            ItemKind::Var(decl) => self.vars.push(self.typed(&decl.name.text, &decl.ty)),
            ItemKind::Clock(name) => self.clocks.push(name.text.clone()),
            ItemKind::Const(decl) => {
                let ty = match &decl.ty {
                    Some(ty) => self.type_text(ty),
                    // Only literals and names declared before have a type here. A constant without one is
                    // never offered, which costs candidates but is never wrong.
                    None => self.type_of(&decl.value, &[]).unwrap_or_default(),
                };
                if let Ok(number) = self.slice(decl.value.span).parse() {
                    self.numbers.push((source_name(&decl.name.text).into_owned(), number));
                }
                self.consts.push(TypedName { name: decl.name.text.clone(), ty });
            }
            ItemKind::Enum(decl) => {
                // A variant with fields is a value only with expressions for them.
                let plain = decl.variants.iter().filter(|variant| variant.fields.is_empty());
                let ty = decl.name.text.clone();
                let named =
                    plain.map(|variant| TypedName { name: variant.name.text.clone(), ty: ty.clone() });
                self.variants.extend(named);
            }
            ItemKind::Fn(FnDecl { name, .. }) => self.functions.push(name.text.clone()),
            // Its name makes a value out of others, as a function does.
            ItemKind::Record(decl) => self.functions.push(decl.name.text.clone()),
            ItemKind::State(decl) => self.states.push(decl),
            ItemKind::Type(_)
            | ItemKind::Any(_)
            | ItemKind::Transition(_)
            | ItemKind::Purpose(_)
            | ItemKind::Property(_)
            | ItemKind::Response(_)
            | ItemKind::Test(_) => (),
        }
    }

    /// Returns a name with its type as text.
    fn typed(&self, name: &str, ty: &Type) -> TypedName {
        TypedName { name: name.to_owned(), ty: self.type_text(ty) }
    }

    /// Returns a type as text: ranges are `int`, other names of types are resolved.
    pub(crate) fn type_text(&self, ty: &Type) -> String {
        match &ty.kind {
            TypeKind::Named(name) => match self.aliases.get(name) {
                // A type that leads back to itself is an error that the front end reports.
                Some(alias) if !matches!(&alias.kind, TypeKind::Named(other) if other == name) => {
                    self.type_text(alias)
                }
                _ => name.clone(),
            },
            TypeKind::Range(..) => "int".into(),
            TypeKind::Option(inner) => format!("{}?", self.type_text(inner)),
            TypeKind::Paren(inner) => self.type_text(inner),
            TypeKind::Collection(name, of) => {
                let of: Vec<String> = of.iter().map(|ty| self.type_text(ty)).collect();
                format!("{}<{}>", name.text, of.join(", "))
            }
        }
    }

    /// All transitions of the model.
    pub(crate) fn transitions(&self) -> impl Iterator<Item = TransitionPlace<'a>> + use<'a> {
        self.model.items.iter().flat_map(|item| {
            let (state, list): (Option<&StateDecl>, Vec<&TransitionDecl>) = match &item.kind {
                ItemKind::State(decl) => (Some(decl), decl.transitions.iter().collect()),
                ItemKind::Any(list) => (None, list.iter().collect()),
                ItemKind::Transition(transition) => (None, vec![transition]),
                _ => (None, Vec::new()),
            };
            list.into_iter().map(move |transition| TransitionPlace { transition, state })
        })
    }

    /// Returns the message with this name.
    pub(crate) fn message(&self, name: &str) -> Option<&MessageInfo> {
        self.messages.iter().find(|message| message.name == name)
    }

    /// Returns the fields of the message of a transition.
    pub(crate) fn fields_of(&self, transition: &TransitionDecl) -> &[TypedName] {
        let gate = transition.gate.as_ref();
        gate.and_then(|gate| self.message(&gate.text)).map_or(&[], |message| &message.fields)
    }

    /// Returns the names that the updates of a transition may use beside those of the model: the fields of its message,
    /// and what its guard binds, as far as the type of that shows.
    pub(crate) fn names_of(&self, transition: &TransitionDecl) -> Vec<TypedName> {
        let mut names = self.fields_of(transition).to_vec();
        for binding in &transition.lets {
            let Some(ty) = self.type_of(&binding.value, &names) else { continue };
            let item = ty.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>'));
            let mut bind = |name: &Name, ty: &str| {
                names.push(TypedName { name: name.text.clone(), ty: ty.to_owned() });
            };
            match (&binding.pattern.kind, ty.strip_suffix('?'), item) {
                (PatternKind::Some(name), Some(inner), _) => bind(name, inner),
                (PatternKind::List(items, rest), _, Some(item)) => {
                    items.iter().for_each(|name| bind(name, item));
                    rest.iter().for_each(|name| bind(name, &ty));
                }
                _ => (),
            }
        }
        names
    }

    /// The bytes of `span`.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
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
            ExprKind::Paren(inner) | ExprKind::Neg(inner) => return self.type_of(inner, fields),
            // Both sides have the same type, and so do all branches of `if`: one of them tells it. With a
            // first operand of no known type the others are not asked; that costs candidates only.
            ExprKind::Sum(first, _) | ExprKind::Product(first, _) => return self.type_of(first, fields),
            ExprKind::If(_, otherwise) => return self.type_of(otherwise, fields),
            ExprKind::Method(receiver, name, _) => match name.text.as_str() {
                "length" | "size" => "int".into(),
                "has" | "contains" | "starts_with" | "ends_with" | "matches" | "is_empty" => "bool".into(),
                "with" | "without" => return self.type_of(receiver, fields),
                "first" | "last" => {
                    let of = self.type_of(receiver, fields)?;
                    format!("{}?", of.split_once('<')?.1.strip_suffix('>')?)
                }
                _ => return None,
            },
            // `list<T>` gives `T`, `map<K, V>` gives `V`. A value type with a comma of its own comes out
            // wrong, and the front end refuses the candidates.
            ExprKind::Index(of, _) => {
                let of = self.type_of(of, fields)?;
                let inner = of.split_once('<')?.1.strip_suffix('>')?;
                inner.rsplit(", ").next()?.to_owned()
            }
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

    /// Returns whether every name in `expr` is one of the model or of `fields`.
    pub(crate) fn is_in_scope(&self, expr: &WrittenExpr, fields: &[TypedName]) -> bool {
        let is_known = |name: &String| {
            self.type_of_name(name, fields).is_some()
                || self.functions.iter().any(|function| function == name)
        };
        expr.names.iter().all(is_known)
    }

    /// Collects the expressions that transitions are made of.
    fn collect_expressions(&mut self) {
        let mut seen = FxHashSet::default();
        // In the order of the text, so that lists which are cut off keep the same entries in every run of the
        // program.
        for TransitionPlace { transition, .. } in self.transitions() {
            if let Some(guard) = &transition.guard {
                self.collect_atoms(guard, &mut seen);
                self.collect_literals(guard);
            }
            for pin in &transition.pins {
                self.collect_literals(&pin.value);
                let gate = transition.gate.as_ref().map(|gate| gate.text.clone()).unwrap_or_default();
                let written = self.written(&pin.value);
                push_new(self.pinned.entry((gate, pin.field.text.clone())).or_default(), written);
            }
            for update in &transition.updates {
                if let UpdateKind::Assign(name, value) = &update.kind {
                    self.collect_literals(value);
                    let written = self.written(value);
                    push_new(self.assigned.entry(name.text.clone()).or_default(), written);
                }
            }
        }
        // The bodies of functions give literals, but no atoms: their parameters are not in scope anywhere
        // else.
        for item in &self.model.items {
            if let ItemKind::Fn(FnDecl { body, .. }) = &item.kind {
                self.collect_literals(body);
            }
        }
    }

    /// Returns an expression as it is written.
    pub(crate) fn written(&self, expr: &Expr) -> WrittenExpr {
        let mut names = Vec::new();
        walk(expr, &mut |part| match &part.kind {
            ExprKind::Name(name) => names.push(name.clone()),
            ExprKind::Call(name, _) => names.push(name.text.clone()),
            _ => (),
        });
        WrittenExpr { text: self.slice(expr.span).to_owned(), names }
    }

    fn collect_atoms(&mut self, expr: &Expr, seen: &mut FxHashSet<String>) {
        match &expr.kind {
            // Connectives are taken apart. Candidates join the parts anew, so a condition that was combined
            // with another one is offered alone too.
            ExprKind::And(list) | ExprKind::Or(list) | ExprKind::Implies(list) => {
                list.iter().for_each(|part| self.collect_atoms(part, seen));
            }
            ExprKind::Not(inner) | ExprKind::Paren(inner) => self.collect_atoms(inner, seen),
            ExprKind::Bool(_) | ExprKind::Error(_) => (),
            _ => {
                let written = self.written(expr);
                if !seen.insert(written.text.clone()) {
                    return;
                }
                // Chains such as `0 < n < 5` have more than one sign and stay whole.
                if let ExprKind::Compare(first, rest) = &expr.kind
                    && let [(_, second)] = &rest[..]
                    && let Some(sign) = self.text.get(first.span.end as usize..second.span.start as usize)
                {
                    let [left, right] = [first.span, second.span].map(|span| self.slice(span).to_owned());
                    self.compared.push((left, sign.trim().to_owned(), right, written.clone()));
                }
                self.atoms.push(written);
            }
        }
    }

    fn collect_literals(&mut self, expr: &Expr) {
        let mut found = Vec::new();
        walk(expr, &mut |part| match &part.kind {
            ExprKind::Number(_) | ExprKind::Str(_) => {
                found.push((part.clone(), self.slice(part.span).to_owned()))
            }
            _ => (),
        });
        for (part, text) in found {
            let Some(ty) = self.type_of(&part, &[]) else { continue };
            let of = self.literals.entry(ty).or_default();
            if !of.contains(&text) {
                of.push(text);
            }
        }
    }
}

fn push_new(list: &mut Vec<WrittenExpr>, written: WrittenExpr) {
    if !list.iter().any(|other| other.text == written.text) {
        list.push(written);
    }
}

/// Calls `visit` with `expr` and every expression in it.
pub(crate) fn walk(expr: &Expr, visit: &mut impl FnMut(&Expr)) {
    visit(expr);
    for part in parts_of(expr) {
        walk(part, visit);
    }
}

/// Returns the expressions that `expr` is made of, in order.
pub(crate) fn parts_of(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Error(_)
        | ExprKind::Bool(_)
        | ExprKind::Number(_)
        | ExprKind::Str(_)
        | ExprKind::None
        | ExprKind::Name(_) => Vec::new(),
        ExprKind::Some(inner) | ExprKind::Paren(inner) | ExprKind::Not(inner) | ExprKind::Neg(inner) => {
            vec![inner]
        }
        ExprKind::Is(value, _) | ExprKind::Field(value, _) => vec![value],
        ExprKind::Sum(first, rest) => {
            std::iter::once(&**first).chain(rest.iter().map(|(_, part)| part)).collect()
        }
        ExprKind::Product(first, rest) => {
            std::iter::once(&**first).chain(rest.iter().map(|(_, part)| part)).collect()
        }
        ExprKind::Compare(first, rest) => {
            std::iter::once(&**first).chain(rest.iter().map(|(_, part)| part)).collect()
        }
        ExprKind::Range(lo, hi) | ExprKind::Index(lo, hi) => vec![lo, hi],
        ExprKind::And(list)
        | ExprKind::Or(list)
        | ExprKind::Implies(list)
        | ExprKind::List(list)
        | ExprKind::Set(list) => list.iter().collect(),
        ExprKind::If(arms, otherwise) => {
            let arms = arms.iter().flat_map(|(condition, value)| [condition, value]);
            arms.chain(std::iter::once(&**otherwise)).collect()
        }
        ExprKind::Match(scrutinee, arms) => {
            std::iter::once(&**scrutinee).chain(arms.iter().map(|arm| &arm.value)).collect()
        }
        ExprKind::Quantified { lo, hi, body, .. } => vec![lo, hi, body],
        ExprKind::Over { of, body, .. } => vec![of, body],
        ExprKind::Comprehension { item, of, keep, .. } => {
            let keep = keep.as_deref();
            [&**item, &**of].into_iter().chain(keep).collect()
        }
        ExprKind::Map(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
        ExprKind::Call(_, args) => args.iter().map(|arg| &arg.value).collect(),
        ExprKind::Method(receiver, _, args) => std::iter::once(&**receiver).chain(args).collect(),
    }
}
