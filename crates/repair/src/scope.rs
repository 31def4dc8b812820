//! The names of a model by their types, as far as candidates need them: expressions are put only where they may fit.
//!
//! The types here are texts, with ranges and other names of types resolved. They only save work: the front end checks
//! every candidate.

mod types;

use ioxide_lang::ast::{
    DirectionDecl, Expr, ExprKind, FieldDecl, FnDecl, ItemKind, ModelDecl, ModelItem, StateDecl,
    TransitionDecl, Type, TypeKind, UpdateKind, Verb,
};
use ioxide_model::name::source_name;
use ioxide_model::source::{FileId, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use self::types::{item_type, map_types, names_bound};

/// The bits that a candidate costs less that uses a name which nothing else uses. Chosen by feel: nobody declares what
/// is not needed.
pub(crate) const UNUSED_BITS: f64 = 2.0;

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

/// A function, record or value of an enum with parts: what it makes of what.
#[derive(Clone, Debug)]
pub(crate) struct FunctionInfo {
    pub(crate) name: String,
    pub(crate) params: Vec<TypedName>,
    pub(crate) result: String,
}

/// An expression that is written somewhere in the model, with the place that its value goes to.
#[derive(Clone, Debug)]
pub(crate) struct WrittenExpr {
    pub(crate) text: String,
    /// The names in it that it does not bind itself.
    pub(crate) names: Vec<String>,
    /// Those of them that have a type where it stands.
    pub(crate) typed: Vec<TypedName>,
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
    pub(crate) functions: Vec<FunctionInfo>,
    /// The functions that make values of parts: records and the values of enums that have parts.
    pub(crate) constructors: Vec<FunctionInfo>,
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
    /// Names that are declared and not used: variables, constants and functions that nothing reads, values of enums
    /// that nothing makes, messages that are not sent, states that nothing leads to. What uses them may be what is
    /// wrong.
    pub(crate) unused: FxHashSet<String>,
    /// The variables that no transition assigns.
    pub(crate) unassigned: FxHashSet<String>,
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
            constructors: Vec::new(),
            messages: Vec::new(),
            states: Vec::new(),
            literals: FxHashMap::default(),
            atoms: Vec::new(),
            compared: Vec::new(),
            numbers: Vec::new(),
            assigned: FxHashMap::default(),
            pinned: FxHashMap::default(),
            unused: FxHashSet::default(),
            unassigned: FxHashSet::default(),
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
        scope.collect_unused();
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
                let ty = decl.name.text.clone();
                for variant in &decl.variants {
                    let name = variant.name.text.clone();
                    if variant.fields.is_empty() {
                        self.variants.push(TypedName { name, ty: ty.clone() });
                    } else {
                        self.constructors.push(self.function(&name, &variant.fields, ty.clone()));
                    }
                }
            }
            ItemKind::Fn(decl) => {
                let result = self.type_text(&decl.result);
                self.functions.push(self.function(&decl.name.text, &decl.params, result));
            }
            ItemKind::Record(decl) => {
                let name = &decl.name.text;
                self.constructors.push(self.function(name, &decl.fields, name.clone()));
            }
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

    fn function(&self, name: &str, params: &[FieldDecl], result: String) -> FunctionInfo {
        let params = params.iter().map(|param| self.typed(&param.name.text, &param.ty)).collect();
        FunctionInfo { name: name.to_owned(), params, result }
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

    /// The bytes of `span`.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Returns whether every name in `expr` is one of the model or of `fields`.
    pub(crate) fn is_in_scope(&self, expr: &WrittenExpr, fields: &[TypedName]) -> bool {
        let is_known = |name: &String| {
            self.type_of_name(name, fields).is_some()
                || self.functions.iter().chain(&self.constructors).any(|known| known.name == *name)
        };
        expr.names.iter().all(is_known)
    }

    /// Collects the expressions that transitions are made of.
    fn collect_expressions(&mut self) {
        let mut seen = FxHashSet::default();
        // In the order of the text, so that lists which are cut off keep the same entries in every run of the
        // program.
        for TransitionPlace { transition, .. } in self.transitions() {
            let fields = self.names_of(transition);
            if let Some(guard) = &transition.guard {
                self.collect_atoms(guard, &fields, &mut seen);
                self.collect_literals(guard);
            }
            for pin in &transition.pins {
                self.collect_literals(&pin.value);
                let gate = transition.gate.as_ref().map(|gate| gate.text.clone()).unwrap_or_default();
                let written = self.written(&pin.value, &fields);
                push_new(self.pinned.entry((gate, pin.field.text.clone())).or_default(), written);
            }
            for update in &transition.updates {
                if let UpdateKind::Assign(name, value) = &update.kind {
                    self.collect_literals(value);
                    let written = self.written(value, &fields);
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

    /// Collects the names that are declared and not used.
    fn collect_unused(&mut self) {
        let (mut made, mut read, mut assigned) =
            (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        let (mut sent, mut reached) = (FxHashSet::default(), FxHashSet::default());
        for TransitionPlace { transition, .. } in self.transitions() {
            let updates = transition.updates.iter();
            for value in updates.flat_map(|update| match &update.kind {
                UpdateKind::Assign(name, value) => {
                    assigned.insert(name.text.clone());
                    vec![value]
                }
                UpdateKind::Put(name, key, value) => {
                    assigned.insert(name.text.clone());
                    vec![key, value]
                }
                UpdateKind::Reset(_) => Vec::new(),
            }) {
                note_names(value, &mut made);
            }
            transition.pins.iter().for_each(|pin| note_names(&pin.value, &mut made));
            transition.guard.iter().for_each(|guard| note_names(guard, &mut read));
            transition.lets.iter().for_each(|binding| note_names(&binding.value, &mut read));
            sent.extend(transition.gate.iter().map(|gate| gate.text.clone()));
            reached.extend(transition.target.iter().map(|target| target.text.clone()));
        }
        for item in &self.model.items {
            match &item.kind {
                ItemKind::Fn(FnDecl { body, .. }) => note_names(body, &mut made),
                ItemKind::Var(decl) => decl.init.iter().for_each(|init| note_names(init, &mut made)),
                _ => (),
            }
        }
        let unmade =
            self.variants.iter().map(|it| &it.name).chain(self.constructors.iter().map(|it| &it.name));
        let unmade = unmade.filter(|name| !made.contains(*name));
        let values = self.vars.iter().chain(&self.consts).map(|it| &it.name);
        let unread = values.chain(self.functions.iter().map(|it| &it.name));
        let unread = unread.filter(|name| !made.contains(*name) && !read.contains(*name));
        let unsent = self.messages.iter().map(|it| &it.name).filter(|name| !sent.contains(*name));
        let unreached = self.states.iter().skip(1).map(|state| &state.name.text);
        let unreached = unreached.filter(|name| !reached.contains(*name));
        self.unused = unmade.chain(unread).chain(unsent).chain(unreached).cloned().collect();
        let unassigned = self.vars.iter().map(|it| &it.name).filter(|name| !assigned.contains(*name));
        self.unassigned = unassigned.cloned().collect();
    }

    /// Returns the number of names that are declared for nothing: in the model, and the fields of messages and
    /// parameters of functions that what they belong to does not mention.
    pub(crate) fn count_unused(&self) -> usize {
        let unmentioned = |names: &[TypedName], expressions: &[&Expr]| {
            let mut used = FxHashSet::default();
            expressions.iter().for_each(|expr| note_names(expr, &mut used));
            names.iter().filter(|name| !used.contains(&name.name)).count()
        };
        let of_transitions = self.transitions().map(|place| {
            let transition = place.transition;
            let is_input = transition.verb == Verb::On;
            let names = if is_input { self.names_of(transition) } else { Vec::new() };
            let pinned = |name: &TypedName| transition.pins.iter().any(|pin| pin.field.text == name.name);
            let names: Vec<TypedName> = names.into_iter().filter(|name| !pinned(name)).collect();
            unmentioned(&names, &expressions_of(transition))
        });
        let of_functions = self.model.items.iter().map(|item| match &item.kind {
            ItemKind::Fn(decl) => {
                let known = self.functions.iter().find(|it| it.name == decl.name.text);
                unmentioned(known.map_or(&[][..], |it| &it.params), &[&decl.body])
            }
            _ => 0,
        });
        self.unused.len() + self.unassigned.len() + of_transitions.chain(of_functions).sum::<usize>()
    }

    /// Returns the bits that a candidate costs less that uses a name which nothing uses.
    pub(crate) fn unused_bits(&self, name: &str) -> f64 {
        if self.unused.contains(name) { UNUSED_BITS } else { 0.0 }
    }

    /// Returns an expression as it is written beside `fields`.
    pub(crate) fn written(&self, expr: &Expr, fields: &[TypedName]) -> WrittenExpr {
        let (mut names, mut bound) = (Vec::new(), FxHashSet::default());
        walk(expr, &mut |part| match &part.kind {
            ExprKind::Name(name) => names.push(name.clone()),
            ExprKind::Call(name, _) => names.push(name.text.clone()),
            ExprKind::Over { var, .. }
            | ExprKind::Comprehension { var, .. }
            | ExprKind::Quantified { var, .. } => _ = bound.insert(var.text.clone()),
            ExprKind::Match(_, arms) => {
                arms.iter().for_each(|arm| bound.extend(names_bound(&arm.pattern)));
            }
            _ => (),
        });
        names.retain(|name| !bound.contains(name));
        let typed = names
            .iter()
            .filter_map(|name| Some(TypedName { name: name.clone(), ty: self.type_of_name(name, fields)? }));
        let mut typed: Vec<TypedName> = typed.collect();
        typed.dedup();
        WrittenExpr { text: self.slice(expr.span).to_owned(), typed, names }
    }

    fn collect_atoms(&mut self, expr: &Expr, fields: &[TypedName], seen: &mut FxHashSet<String>) {
        match &expr.kind {
            // Connectives are taken apart. Candidates join the parts anew, so a condition that was combined
            // with another one is offered alone too.
            ExprKind::And(list) | ExprKind::Or(list) | ExprKind::Implies(list) => {
                list.iter().for_each(|part| self.collect_atoms(part, fields, seen));
            }
            ExprKind::Not(inner) | ExprKind::Paren(inner) => self.collect_atoms(inner, fields, seen),
            ExprKind::Bool(_) | ExprKind::Error(_) => (),
            _ => {
                let written = self.written(expr, fields);
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

/// Returns the expressions of a transition.
pub(crate) fn expressions_of(transition: &TransitionDecl) -> Vec<&Expr> {
    let lets = transition.lets.iter().map(|binding| &binding.value);
    let pins = transition.pins.iter().map(|pin| &pin.value);
    let values = transition.updates.iter().flat_map(|update| match &update.kind {
        UpdateKind::Assign(_, value) => vec![value],
        UpdateKind::Put(_, key, value) => vec![key, value],
        UpdateKind::Reset(_) => Vec::new(),
    });
    lets.chain(pins).chain(&transition.guard).chain(values).collect()
}

/// Adds the names in an expression, those of functions too.
pub(crate) fn note_names(expr: &Expr, names: &mut FxHashSet<String>) {
    walk(expr, &mut |part| match &part.kind {
        ExprKind::Name(name) => _ = names.insert(name.clone()),
        ExprKind::Call(name, _) => _ = names.insert(name.text.clone()),
        _ => (),
    });
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
