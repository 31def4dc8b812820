//! Names: tables that keep the order of declaration, and the order of definitions.
//!
//! Values (variables, clocks, constants, enum values) share one table; types, functions, messages and states have their
//! own. Constants, types and functions may be declared in any order; [`definition_order`] puts each behind those it
//! uses and finds circles, with a stack of its own, so that long chains cannot overflow it.

use indexmap::IndexMap;
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::ast::{Expr, ExprKind, ItemKind, ModelItem, Name, PatternKind, Type, TypeKind};
use crate::sink::{FindingSink, Reported};
use crate::suggest;

/// The entries of one kind, by name, in order of declaration.
#[derive(Debug)]
pub(crate) struct NameTable<'a, T> {
    what: &'static str,
    entries: IndexMap<&'a str, NameEntry<T>, FxBuildHasher>,
}

/// A named entry.
#[derive(Debug)]
pub(crate) struct NameEntry<T> {
    pub(crate) item: T,
    pub(crate) span: Span,
    /// True once it is used; goals that mention a message, and a variable's own update, do not count.
    pub(crate) used: bool,
}

impl<'a, T> NameTable<'a, T> {
    /// Makes an empty table of entries described as `what`.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, entries: IndexMap::default() }
    }

    /// Adds `item`, or reports that its name is taken.
    pub(crate) fn declare(&mut self, sink: &mut FindingSink, name: &'a Name, item: T) {
        self.declare_as(sink, Code::DuplicateName, &name.text, name.span, item);
    }

    pub(crate) fn declare_as(
        &mut self,
        sink: &mut FindingSink,
        code: Code,
        name: &'a str,
        span: Span,
        item: T,
    ) {
        // The first declaration counts, so that one mistake does not change the meaning of everything that
        // refers to it.
        if let Some(first) = self.entries.get(name) {
            let first = first.span;
            sink.error(|| {
                Diagnostic::new(code, span, format!("{} `{name}` is declared twice", self.what))
                    .caret("declared again here")
                    .label(first, "first declared here")
                    .help("rename or remove one of them")
            });
            return;
        }
        self.entries.insert(name, NameEntry { item, span, used: false });
    }

    /// Returns the entry of a name, if there is one, without counting this as a use.
    pub(crate) fn get(&self, name: &str) -> Option<&NameEntry<T>> {
        self.entries.get(name)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut NameEntry<T>> {
        self.entries.get_mut(name)
    }

    /// Returns the entry, marked as used.
    pub(crate) fn use_name(&mut self, name: &str) -> Option<&mut NameEntry<T>> {
        let entry = self.entries.get_mut(name)?;
        entry.used = true;
        Some(entry)
    }

    /// Returns the declared names, for proposals.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.entries.keys().copied()
    }

    /// Returns the names with their entries.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, &NameEntry<T>)> {
        self.entries.iter().map(|(name, entry)| (*name, entry))
    }

    /// Reports that `name` is in no table, with the nearest name of this one.
    pub(crate) fn report_unknown(&self, sink: &mut FindingSink, code: Code, name: &Name) -> Reported {
        sink.missing(&name.text, || {
            let diagnostic =
                Diagnostic::new(code, name.span, format!("there is no {} `{}`", self.what, name.text));
            suggest::suggest_nearest(diagnostic, name, self.names())
        })
    }
}

/// The definitions of constants, types and functions, as positions of items.
#[derive(Debug, Default)]
pub(crate) struct DefinitionOrder {
    /// The definitions, each behind those it uses.
    pub(crate) order: Vec<usize>,
    /// The definitions that use themselves, with the reported error.
    pub(crate) circular: Vec<(usize, Reported)>,
}

/// Returns the order of the definitions among `items`. Circles are reported and left out, but an enum or record may
/// hold itself, and a function may call itself.
pub(crate) fn definition_order(items: &[ModelItem], sink: &mut FindingSink) -> DefinitionOrder {
    let names = Definitions::collect(items);
    let mut states = vec![VisitMark::New; items.len()];
    let mut found = DefinitionOrder::default();
    // Types first: a constant may use a type through another name for it.
    let is_type =
        |item: &ModelItem| matches!(item.kind, ItemKind::Type(_) | ItemKind::Enum(_) | ItemKind::Record(_));
    let (types, others): (Vec<usize>, Vec<usize>) = (0..items.len()).partition(|&at| is_type(&items[at]));
    for root in types.into_iter().chain(others) {
        names.visit(items, root, &mut states, &mut found, sink);
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitMark {
    New,
    Open,
    Done,
    Circular,
}

/// The items that define names.
struct Definitions<'a> {
    constants: FxHashMap<&'a str, usize>,
    types: FxHashMap<&'a str, usize>,
    functions: FxHashMap<&'a str, usize>,
    /// The enums, by the names of their values.
    variants: FxHashMap<&'a str, usize>,
    /// The enums and records.
    data: FxHashSet<usize>,
}

impl<'a> Definitions<'a> {
    /// Collects the items that definitions can refer to, by name.
    fn collect(items: &'a [ModelItem]) -> Self {
        let mut names = Self {
            constants: FxHashMap::default(),
            types: FxHashMap::default(),
            functions: FxHashMap::default(),
            variants: FxHashMap::default(),
            data: FxHashSet::default(),
        };
        for (index, item) in items.iter().enumerate() {
            let (table, name) = match &item.kind {
                ItemKind::Const(decl) => (&mut names.constants, &decl.name),
                ItemKind::Type(decl) => (&mut names.types, &decl.name),
                ItemKind::Enum(decl) => (&mut names.types, &decl.name),
                ItemKind::Record(decl) => (&mut names.types, &decl.name),
                ItemKind::Fn(decl) => (&mut names.functions, &decl.name),
                _ => continue,
            };
            // As in the tables: of two declarations the first counts.
            table.entry(&name.text).or_insert(index);
            if let ItemKind::Enum(decl) = &item.kind {
                for variant in &decl.variants {
                    names.variants.entry(&variant.name.text).or_insert(index);
                }
            }
            if matches!(item.kind, ItemKind::Enum(_) | ItemKind::Record(_)) {
                names.data.insert(index);
            }
        }
        names
    }

    /// Depth-first from `root`, with an explicit stack of (item, its uses, next use).
    fn visit(
        &self,
        items: &[ModelItem],
        root: usize,
        states: &mut [VisitMark],
        found: &mut DefinitionOrder,
        sink: &mut FindingSink,
    ) {
        if states[root] != VisitMark::New || defined_name(&items[root]).is_none() {
            // Variables, states and messages define nothing that others are computed from.
            return;
        }
        states[root] = VisitMark::Open;
        let mut stack = vec![(root, self.uses(&items[root]), 0)];
        // Depth first. Open items are those on the stack, so an open one that is used again closes a circle.
        while let Some((index, uses, next)) = stack.last_mut() {
            let index = *index;
            let Some(&used) = uses.get(*next) else {
                // An item of a circle has no order. It was reported and is left out.
                if states[index] == VisitMark::Open {
                    states[index] = VisitMark::Done;
                    found.order.push(index);
                }
                stack.pop();
                continue;
            };
            *next += 1;
            match states[used] {
                VisitMark::New => {
                    states[used] = VisitMark::Open;
                    stack.push((used, self.uses(&items[used]), 0));
                }
                VisitMark::Open => {
                    let from = stack.iter().position(|(open, ..)| *open == used).unwrap_or(0);
                    let circle: Vec<usize> = stack[from..].iter().map(|(open, ..)| *open).collect();
                    let why = report_circle(items, &circle, sink);
                    // All of them at once: the rest of the walk takes them for done and reports no part of
                    // this circle again.
                    for index in circle {
                        states[index] = VisitMark::Circular;
                        found.circular.push((index, why));
                    }
                }
                VisitMark::Done | VisitMark::Circular => {}
            }
        }
    }

    /// The definitions that `item` uses and that must stand before it.
    fn uses<'i>(&'i self, item: &'i ModelItem) -> Vec<usize> {
        let mut found = self.mentions(item);
        let is_type = !matches!(item.kind, ItemKind::Const(_) | ItemKind::Fn(_));
        // The ids of enums and records are known before they are defined.
        found.retain(|used| !(is_type && self.data.contains(used)));
        if let ItemKind::Fn(decl) = &item.kind {
            let own = self.functions.get(decl.name.text.as_str()).copied();
            // A call of itself is no circle here; that it ends is checked when the body is typed.
            found.retain(|used| Some(*used) != own);
        }
        found
    }

    /// The definitions that `item` mentions.
    fn mentions<'i>(&'i self, item: &'i ModelItem) -> Vec<usize> {
        let mut uses = DefinitionUses {
            names: self,
            params: FxHashSet::default(),
            bound: Vec::new(),
            found: Vec::new(),
        };
        match &item.kind {
            ItemKind::Const(decl) => {
                decl.ty.iter().for_each(|ty| uses.visit_type(ty));
                uses.visit_expr(&decl.value);
            }
            ItemKind::Enum(decl) => {
                decl.variants
                    .iter()
                    .flat_map(|variant| &variant.fields)
                    .for_each(|field| uses.visit_type(&field.ty));
            }
            ItemKind::Type(decl) => uses.visit_type(&decl.ty),
            ItemKind::Record(decl) => decl.fields.iter().for_each(|field| uses.visit_type(&field.ty)),
            ItemKind::Fn(decl) => {
                for param in &decl.params {
                    uses.visit_type(&param.ty);
                }
                uses.visit_type(&decl.result);
                uses.params = decl.params.iter().map(|param| param.name.text.as_str()).collect();
                uses.visit_expr(&decl.body);
            }
            _ => {}
        }
        uses.found
    }
}

/// Returns the names that `items` declare, without the values of enums.
pub(crate) fn declared_names(items: &[ModelItem]) -> impl Iterator<Item = &str> {
    items.iter().filter_map(defined_name).map(|name| name.text.as_str())
}

/// Returns the positions of the items that declare `names`, and of those that their declarations use, in order.
pub(crate) fn needed_items(items: &[ModelItem], names: &[&str]) -> Vec<usize> {
    let definitions = Definitions::collect(items);
    let is_named =
        |at: &usize| defined_name(&items[*at]).is_some_and(|name| names.contains(&name.text.as_str()));
    let mut open: Vec<usize> = (0..items.len()).filter(is_named).collect();
    let mut needed = std::collections::BTreeSet::new();
    // The closure over everything that is mentioned, also where the order does not matter, as between types.
    while let Some(at) = open.pop() {
        if needed.insert(at) {
            open.extend(definitions.mentions(&items[at]));
        }
    }
    needed.into_iter().collect()
}

/// Returns the name that a constant, type or function declares.
fn defined_name(item: &ModelItem) -> Option<&Name> {
    match &item.kind {
        ItemKind::Const(decl) => Some(&decl.name),
        ItemKind::Type(decl) => Some(&decl.name),
        ItemKind::Enum(decl) => Some(&decl.name),
        ItemKind::Record(decl) => Some(&decl.name),
        ItemKind::Fn(decl) => Some(&decl.name),
        _ => None,
    }
}

fn report_circle(items: &[ModelItem], circle: &[usize], sink: &mut FindingSink) -> Reported {
    let names: Vec<&Name> = circle.iter().filter_map(|&index| defined_name(&items[index])).collect();
    let (first, others) = names.split_first().expect("a circle holds definitions, and these have names");
    sink.error(|| {
        let message = if others.is_empty() {
            format!("`{}` is defined by itself", first.text)
        } else {
            format!("`{}` is defined by itself, in a circle of {}", first.text, names.len())
        };
        let diagnostic = Diagnostic::new(Code::CyclicDefinition, first.span, message);
        let diagnostic = others.iter().take(5).fold(diagnostic, |diagnostic, name| {
            diagnostic.label(name.span, format!("`{}` is part of the circle", name.text))
        });
        diagnostic.help(
            "a definition cannot use itself; use `exists` or `forall` over a range, or several transitions",
        )
    })
}

/// Collects the definitions that a piece of syntax mentions.
struct DefinitionUses<'a> {
    names: &'a Definitions<'a>,
    params: FxHashSet<&'a str>,
    bound: Vec<String>,
    found: Vec<usize>,
}

impl DefinitionUses<'_> {
    /// Finds the definitions that a type refers to.
    fn visit_type(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Named(name) => self.found.extend(self.names.types.get(name.as_str())),
            TypeKind::Range(lo, hi) => {
                self.visit_expr(lo);
                self.visit_expr(hi);
            }
            TypeKind::Option(inner) | TypeKind::Paren(inner) => self.visit_type(inner),
            TypeKind::Collection(_, of) => of.iter().for_each(|ty| self.visit_type(ty)),
        }
    }

    /// Finds the definitions that an expression refers to, without names that it binds itself.
    fn visit_expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => {
                // A name that is bound here is no use of a declaration, even if one has the same name.
                if !self.params.contains(name.as_str()) && !self.bound.contains(name) {
                    self.found.extend(self.names.constants.get(name.as_str()));
                    self.found.extend(self.names.variants.get(name.as_str()));
                }
            }
            ExprKind::Call(name, args) => {
                self.found.extend(self.names.functions.get(name.text.as_str()));
                // A call may be a function, a record or a case with fields. Which one it is shows only when
                // it is typed, so all count.
                self.found.extend(self.names.types.get(name.text.as_str()));
                self.found.extend(self.names.variants.get(name.text.as_str()));
                args.iter().for_each(|arg| self.visit_expr(&arg.value));
            }
            ExprKind::Is(value, case) => {
                self.visit_expr(value);
                self.found.extend(self.names.variants.get(case.text.as_str()));
            }
            ExprKind::Quantified { var, lo, hi, body, .. } => {
                self.visit_expr(lo);
                self.visit_expr(hi);
                self.with_bound_name(&var.text, body);
            }
            ExprKind::Match(scrutinee, arms) => {
                self.visit_expr(scrutinee);
                for arm in arms {
                    let before = self.bound.len();
                    self.bound.extend(arm.pattern.names().map(|name| name.text.clone()));
                    if let PatternKind::Case(name, _) | PatternKind::Name(name) = &arm.pattern.kind {
                        self.found.extend(self.names.variants.get(name.as_str()));
                    }
                    self.visit_expr(&arm.value);
                    self.bound.truncate(before);
                }
            }
            ExprKind::Over { var, of, body, .. } => {
                self.visit_expr(of);
                self.with_bound_name(&var.text, body);
            }
            ExprKind::Comprehension { item, var, of, keep, .. } => {
                self.visit_expr(of);
                self.with_bound_name(&var.text, item);
                if let Some(keep) = keep {
                    self.with_bound_name(&var.text, keep);
                }
            }
            _ => each_child(expr, &mut |child| self.visit_expr(child)),
        }
    }

    fn with_bound_name(&mut self, name: &str, body: &Expr) {
        self.bound.push(name.to_owned());
        self.visit_expr(body);
        self.bound.pop();
    }
}

/// Calls `visit` with each direct part of `expr`.
pub(crate) fn each_child<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match &expr.kind {
        ExprKind::Error(_) | ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::Str(_) => {}
        ExprKind::None | ExprKind::Name(_) => {}
        ExprKind::Some(e)
        | ExprKind::Paren(e)
        | ExprKind::Not(e)
        | ExprKind::Neg(e)
        | ExprKind::Is(e, _)
        | ExprKind::Field(e, _) => visit(e),
        ExprKind::Range(lo, hi) => {
            visit(lo);
            visit(hi);
        }
        ExprKind::Sum(first, rest) => {
            visit(first);
            rest.iter().for_each(|(_, e)| visit(e));
        }
        ExprKind::Product(first, rest) => {
            visit(first);
            rest.iter().for_each(|(_, e)| visit(e));
        }
        ExprKind::Compare(first, rest) => {
            visit(first);
            rest.iter().for_each(|(_, e)| visit(e));
        }
        ExprKind::And(list) | ExprKind::Or(list) | ExprKind::Implies(list) => list.iter().for_each(visit),
        ExprKind::If(arms, otherwise) => {
            for (condition, value) in arms {
                visit(condition);
                visit(value);
            }
            visit(otherwise);
        }
        ExprKind::Match(scrutinee, arms) => {
            visit(scrutinee);
            arms.iter().for_each(|arm| visit(&arm.value));
        }
        ExprKind::Quantified { lo, hi, body, .. } => {
            visit(lo);
            visit(hi);
            visit(body);
        }
        ExprKind::Over { of, body, .. } => {
            visit(of);
            visit(body);
        }
        ExprKind::Comprehension { item, of, keep, .. } => {
            visit(of);
            visit(item);
            keep.iter().for_each(|keep| visit(keep));
        }
        ExprKind::List(items) | ExprKind::Set(items) => items.iter().for_each(visit),
        ExprKind::Map(entries) => {
            for (key, value) in entries {
                visit(key);
                visit(value);
            }
        }
        ExprKind::Index(receiver, key) => {
            visit(receiver);
            visit(key);
        }
        ExprKind::Call(_, args) => args.iter().for_each(|arg| visit(&arg.value)),
        ExprKind::Method(receiver, _, args) => {
            visit(receiver);
            args.iter().for_each(visit);
        }
    }
}
