//! Construction of an index from a syntax tree: first declarations, then references.

use ioxide_lang::ast::{
    DeclMeta, FieldDecl, ItemKind, MessagePattern, ModelDecl, ModelItem, Name, ObserverDecl, PinDecl,
    PurposeDecl, PurposeGoal, StateDecl, StepKind, SyntaxFile, TestDecl, TransitionDecl, Type, TypeKind,
    UpdateKind,
};
use ioxide_model::source::Span;
use rustc_hash::FxHashMap;

use super::{
    Bytes, Definition, DefinitionId, DefinitionKind, GoalPlace, NameMeaning, Occurrence, SourceIndex,
    SwitchPlace, ValueType,
};

/// The number of characters of a declaration in one line; longer ones are cut.
const MAX_DETAIL: usize = 200;

/// The index of `tree`, which was read from `text`.
pub(super) fn index(text: &str, tree: &SyntaxFile) -> SourceIndex {
    let mut indexer = Indexer::new(text);
    if let Some(model) = &tree.model {
        indexer.model(model);
    }
    if let Some(system) = &tree.system {
        indexer.system(system);
    }
    let mut index = indexer.index;
    index.occurrences.sort_by_key(|occurrence| occurrence.at);
    index.occurrences.dedup();
    index
}

/// The names of one model.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelNames {
    pub(super) values: FxHashMap<String, DefinitionId>,
    pub(super) types: FxHashMap<String, DefinitionId>,
    pub(super) functions: FxHashMap<String, DefinitionId>,
    pub(super) messages: FxHashMap<String, DefinitionId>,
    pub(super) states: FxHashMap<String, DefinitionId>,
    pub(super) labels: FxHashMap<String, DefinitionId>,
}

/// An index under construction.
pub(super) struct Indexer<'t> {
    text: &'t str,
    pub(super) index: SourceIndex,
    pub(super) names: ModelNames,
    /// Names in inner scopes, the innermost last.
    pub(super) locals: Vec<(String, DefinitionId)>,
    owner: Option<DefinitionId>,
}

impl<'t> Indexer<'t> {
    fn new(text: &'t str) -> Self {
        let (index, names) = (SourceIndex::default(), ModelNames::default());
        Self { text, index, names, locals: Vec::new(), owner: None }
    }

    /// The text at `span` in one line.
    pub(super) fn line(&self, span: Span) -> String {
        let text = self.text.get(span.range()).unwrap_or("");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(MAX_DETAIL) {
            Some((end, _)) => format!("{} ...", &text[..end]),
            None => text,
        }
    }

    /// The text of a declaration without its doc comment and attributes: it starts where its first word stands on
    /// the line of its name.
    fn declaration(&self, name: &Name, whole: Span) -> String {
        let start = name.span.start as usize;
        let line = self.text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let start = line.max(whole.start as usize).min(start);
        self.line(Span { start: u32::try_from(start).unwrap_or(0), ..whole })
    }

    pub(super) fn define(&mut self, name: &Name, kind: DefinitionKind, whole: Span) -> DefinitionId {
        let id = DefinitionId(self.index.definitions.len());
        self.index.definitions.push(Definition {
            name: name.text.clone(),
            kind,
            at: name.span.into(),
            whole: whole.into(),
            owner: self.owner,
            detail: self.declaration(name, whole),
            docs: String::new(),
            ty: None,
            parts: Vec::new(),
        });
        id
    }

    pub(super) fn of(&mut self, id: DefinitionId) -> &mut Definition {
        &mut self.index.definitions[id.0]
    }

    /// Adds the reference to `id` at `span`.
    pub(super) fn mention(&mut self, span: Span, id: DefinitionId) {
        self.occur(span, NameMeaning::Here(id), false);
    }

    pub(super) fn occur(&mut self, span: Span, meaning: NameMeaning, writes: bool) {
        self.index.occurrences.push(Occurrence { at: span.into(), meaning, writes });
    }

    fn mention_in(
        &mut self,
        name: &Name,
        table: fn(&ModelNames) -> &FxHashMap<String, DefinitionId>,
    ) -> Option<DefinitionId> {
        let id = table(&self.names).get(&name.text).copied()?;
        self.mention(name.span, id);
        Some(id)
    }

    /// Indexes a whole model, whose names are in scope from now on.
    pub(super) fn model(&mut self, model: &ModelDecl) -> DefinitionId {
        let id = self.define(&model.name, DefinitionKind::Model, model.span);
        self.of(id).docs = docs(&model.meta);
        self.of(id).detail = format!("model {}", model.name.text);
        self.names = ModelNames::default();
        self.owner = Some(id);
        for item in &model.items {
            self.declare(item);
        }
        for item in &model.items {
            self.resolve(item);
        }
        self.switches(model);
        self.owner = None;
        id
    }

    // What is declared.

    fn declare(&mut self, item: &ModelItem) {
        use DefinitionKind as Kind;
        let id = match &item.kind {
            ItemKind::Message(message) => {
                let id = self.define(&message.name, message_kind(message.direction), item.span);
                self.names.messages.entry(message.name.text.clone()).or_insert(id);
                self.fields(id, &message.fields, Kind::Field);
                id
            }
            ItemKind::Var(decl) => self.value(&decl.name, Kind::Variable, Some(&decl.ty), item.span),
            ItemKind::Clock(name) => {
                let id = self.value(name, Kind::Clock, None, item.span);
                self.of(id).ty = Some(ValueType::Real);
                id
            }
            ItemKind::Const(decl) => self.value(&decl.name, Kind::Constant, decl.ty.as_ref(), item.span),
            ItemKind::Type(decl) => self.type_name(&decl.name, Kind::TypeName, Some(&decl.ty), item.span),
            ItemKind::Record(decl) => {
                let id = self.type_name(&decl.name, Kind::Record, None, item.span);
                self.fields(id, &decl.fields, Kind::Field);
                id
            }
            ItemKind::Enum(decl) => {
                let id = self.type_name(&decl.name, Kind::Enum, None, item.span);
                let outer = self.owner.replace(id);
                for variant in &decl.variants {
                    let case = self.value(&variant.name, Kind::Variant, None, variant.name.span);
                    self.of(case).ty = Some(ValueType::Named(decl.name.text.clone()));
                    self.of(case).docs = variant.docs.join("\n");
                    self.fields(case, &variant.fields, Kind::Field);
                    self.of(id).parts.push(case);
                }
                self.owner = outer;
                id
            }
            ItemKind::Fn(decl) => {
                let id = self.define(&decl.name, Kind::Function, item.span);
                self.names.functions.entry(decl.name.text.clone()).or_insert(id);
                self.fields(id, &decl.params, Kind::Parameter);
                self.of(id).ty = value_type(&decl.result);
                id
            }
            ItemKind::State(state) => {
                let id = self.state(state, item.span);
                self.names.states.entry(state.name.text.clone()).or_insert(id);
                self.labels(&state.transitions, Some(id));
                id
            }
            ItemKind::Any(transitions) => return self.labels(transitions, None),
            ItemKind::Transition(transition) => {
                return self.labels(std::slice::from_ref(transition), None);
            }
            ItemKind::Purpose(purpose) => self.define(&purpose.name, Kind::Purpose, item.span),
            ItemKind::Property(property) => {
                let Some(label) = &property.label else { return };
                self.define(label, Kind::Property, item.span)
            }
            ItemKind::Test(test) => {
                let name = Name { text: test.name.clone(), span: test.name_span };
                self.define(&name, Kind::Test, item.span)
            }
        };
        self.of(id).docs = docs(&item.meta);
    }

    fn value(&mut self, name: &Name, kind: DefinitionKind, ty: Option<&Type>, whole: Span) -> DefinitionId {
        let id = self.define(name, kind, whole);
        self.of(id).ty = ty.and_then(value_type);
        self.names.values.entry(name.text.clone()).or_insert(id);
        id
    }

    fn type_name(
        &mut self,
        name: &Name,
        kind: DefinitionKind,
        ty: Option<&Type>,
        whole: Span,
    ) -> DefinitionId {
        let id = self.define(name, kind, whole);
        self.of(id).ty = ty.and_then(value_type);
        self.names.types.entry(name.text.clone()).or_insert(id);
        id
    }

    fn fields(&mut self, of: DefinitionId, fields: &[FieldDecl], kind: DefinitionKind) {
        let outer = self.owner.replace(of);
        for field in fields {
            let whole = field.name.span.to(field.ty.span);
            let id = self.define(&field.name, kind, whole);
            let detail = self.line(whole);
            let ty = value_type(&field.ty);
            let owner = self.index.get(of).name.clone();
            let definition = self.of(id);
            definition.ty = ty;
            definition.docs = field.docs.join("\n");
            definition.detail = format!("{} {detail} of {owner}", kind.word());
            self.of(of).parts.push(id);
        }
        self.owner = outer;
    }

    fn state(&mut self, state: &StateDecl, whole: Span) -> DefinitionId {
        let id = self.define(&state.name, DefinitionKind::State, whole);
        self.of(id).detail = format!("state {}", state.name.text);
        self.of(id).docs = docs(&state.meta);
        id
    }

    fn labels(&mut self, transitions: &[TransitionDecl], owner: Option<DefinitionId>) {
        let outer = self.owner;
        self.owner = owner.or(outer);
        for transition in transitions {
            let Some(label) = &transition.label else { continue };
            let id = self.define(label, DefinitionKind::Label, transition.span);
            self.of(id).docs = docs(&transition.meta);
            self.names.labels.entry(label.text.clone()).or_insert(id);
        }
        self.owner = outer;
    }

    // What is named.

    fn resolve(&mut self, item: &ModelItem) {
        match &item.kind {
            ItemKind::Message(message) => message.fields.iter().for_each(|field| self.ty(&field.ty)),
            ItemKind::Var(decl) => {
                self.ty(&decl.ty);
                decl.init.iter().for_each(|init| _ = self.expr(init));
            }
            ItemKind::Clock(_) => {}
            ItemKind::Const(decl) => {
                decl.ty.iter().for_each(|ty| self.ty(ty));
                let ty = self.expr(&decl.value);
                self.learn_type(&decl.name, ty);
            }
            ItemKind::Type(decl) => self.ty(&decl.ty),
            ItemKind::Record(decl) => decl.fields.iter().for_each(|field| self.ty(&field.ty)),
            ItemKind::Enum(decl) => {
                decl.variants.iter().flat_map(|variant| &variant.fields).for_each(|field| self.ty(&field.ty));
            }
            ItemKind::Fn(decl) => {
                decl.params.iter().for_each(|param| self.ty(&param.ty));
                self.ty(&decl.result);
                let id = self.names.functions.get(&decl.name.text).copied();
                self.within(id, |this| _ = this.expr(&decl.body));
            }
            ItemKind::State(state) => state.transitions.iter().for_each(|one| self.transition(one)),
            ItemKind::Any(transitions) => transitions.iter().for_each(|one| self.transition(one)),
            ItemKind::Transition(transition) => self.transition(transition),
            ItemKind::Purpose(purpose) => self.purpose(purpose),
            ItemKind::Property(property) => _ = self.expr(&property.condition),
            ItemKind::Test(test) => self.test(test),
        }
    }

    /// Gives a constant without a written type the type of its value.
    fn learn_type(&mut self, name: &Name, ty: Option<ValueType>) {
        let id = self.names.values.get(&name.text).copied();
        let Some(id) = id.filter(|id| self.index.get(*id).at == name.span.into()) else { return };
        let definition = self.of(id);
        definition.ty = definition.ty.take().or(ty);
    }

    /// Runs `inside` with the fields or parameters of `of` in scope.
    pub(super) fn within(&mut self, of: Option<DefinitionId>, inside: impl FnOnce(&mut Self)) {
        let before = self.locals.len();
        let parts = of.map(|of| self.index.get(of).parts.clone()).unwrap_or_default();
        for part in parts {
            let name = self.index.get(part).name.clone();
            self.locals.push((name, part));
        }
        inside(self);
        self.locals.truncate(before);
    }

    /// Indexes a transition of the model or of an observer, whose states are in scope.
    fn transition(&mut self, transition: &TransitionDecl) {
        let gate = transition.gate.as_ref().and_then(|gate| self.mention_in(gate, |names| &names.messages));
        self.within(gate, |this| {
            // What `let` names is known in the pins too, which stand before it.
            for one in &transition.lets {
                let ty = this.expr(&one.value);
                this.pattern(&one.pattern, ty.as_ref());
            }
            this.pins(&transition.pins, gate);
            transition.guard.iter().for_each(|guard| _ = this.expr(guard));
            for update in &transition.updates {
                match &update.kind {
                    UpdateKind::Assign(name, value) => {
                        this.assigned(name);
                        this.expr(value);
                    }
                    UpdateKind::Put(name, key, value) => {
                        this.assigned(name);
                        this.expr(key);
                        this.expr(value);
                    }
                    UpdateKind::Reset(name) => this.assigned(name),
                }
            }
        });
        if let Some(target) = &transition.target {
            self.mention_in(target, |names| &names.states);
        }
    }

    /// The variable that an update changes: never a field, even one of the same name.
    fn assigned(&mut self, name: &Name) {
        let is_variable = |id: &DefinitionId| {
            matches!(self.index.get(*id).kind, DefinitionKind::Variable | DefinitionKind::Clock)
        };
        let local = self.locals.iter().rev().filter(|(local, _)| *local == name.text).map(|(_, id)| *id);
        let found = local.chain(self.names.values.get(&name.text).copied()).find(is_variable);
        if let Some(id) = found {
            self.occur(name.span, NameMeaning::Here(id), true);
        }
    }

    pub(super) fn pins(&mut self, pins: &[PinDecl], of: Option<DefinitionId>) {
        for pin in pins {
            self.part_named(&pin.field, of);
            self.expr(&pin.value);
        }
    }

    /// Adds a reference to the field or parameter of `of` that is called `name`.
    pub(super) fn part_named(&mut self, name: &Name, of: Option<DefinitionId>) -> Option<DefinitionId> {
        let parts = &self.index.get(of?).parts;
        let part = parts.iter().copied().find(|part| self.index.get(*part).name == name.text)?;
        self.mention(name.span, part);
        Some(part)
    }

    fn purpose(&mut self, purpose: &PurposeDecl) {
        match &purpose.goal {
            PurposeGoal::Path(path) => {
                for label in path {
                    self.mention_in(label, |names| &names.labels);
                }
            }
            PurposeGoal::Reach { state, when } => {
                if let Some(state) = state {
                    self.mention_in(state, |names| &names.states);
                }
                when.iter().for_each(|when| _ = self.expr(when));
            }
            PurposeGoal::Observer(observer) => self.observer(purpose, observer),
        }
        self.goal(&purpose.name.text, false, purpose.name.span);
    }

    /// Indexes an observer, which has variables, clocks and states of its own.
    fn observer(&mut self, purpose: &PurposeDecl, observer: &ObserverDecl) {
        let owner = self.index.all().find(|(_, found)| found.at == purpose.name.span.into());
        let outer = (self.owner, std::mem::take(&mut self.names.states), self.locals.len());
        self.owner = owner.map(|(id, _)| id);
        for item in &observer.items {
            let (name, kind, ty) = match &item.kind {
                ItemKind::Var(decl) => (&decl.name, DefinitionKind::Variable, value_type(&decl.ty)),
                ItemKind::Clock(name) => (name, DefinitionKind::Clock, Some(ValueType::Real)),
                _ => continue,
            };
            let id = self.define(name, kind, item.span);
            self.of(id).ty = ty;
            self.of(id).docs = docs(&item.meta);
            self.locals.push((name.text.clone(), id));
            if let ItemKind::Var(decl) = &item.kind {
                self.ty(&decl.ty);
                decl.init.iter().for_each(|init| _ = self.expr(init));
            }
        }
        for state in &observer.states {
            let id = self.state(state, state.span);
            self.names.states.entry(state.name.text.clone()).or_insert(id);
        }
        for transition in observer.states.iter().flat_map(|state| &state.transitions) {
            self.transition(transition);
        }
        (self.owner, self.names.states) = (outer.0, outer.1);
        self.locals.truncate(outer.2);
    }

    fn test(&mut self, test: &TestDecl) {
        for step in &test.steps {
            match &step.kind {
                StepKind::Send(message) | StepKind::Expect(message) => self.message(message),
                StepKind::Quiet(time) => time.iter().for_each(|time| _ = self.expr(time)),
            }
        }
        self.goal(&test.name, true, test.name_span);
    }

    fn message(&mut self, message: &MessagePattern) {
        let gate = self.mention_in(&message.gate, |names| &names.messages);
        self.within(gate, |this| {
            this.pins(&message.pins, gate);
            message.guard.iter().for_each(|guard| _ = this.expr(guard));
        });
    }

    fn goal(&mut self, name: &str, is_test: bool, at: Span) {
        self.index.goals.push(GoalPlace { name: name.to_owned(), is_test, at: at.into() });
    }

    /// Indexes the names in a type.
    pub(super) fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Named(name) => {
                if let Some(id) = self.names.types.get(name).copied() {
                    self.mention(ty.span, id);
                }
            }
            TypeKind::Range(lo, hi) => {
                self.expr(lo);
                self.expr(hi);
            }
            TypeKind::Option(inner) => self.ty(inner),
            TypeKind::Collection(_, of) => of.iter().for_each(|ty| self.ty(ty)),
        }
    }

    // Transitions by the names they have in reports.

    fn switches(&mut self, model: &ModelDecl) {
        let states: Vec<&str> = model.items.iter().filter_map(state_name).collect();
        let (mut n_loose, mut n_any) = (0, 0);
        for item in &model.items {
            match &item.kind {
                ItemKind::State(state) => {
                    for (at, transition) in state.transitions.iter().enumerate() {
                        let label = own_label(transition, &state.name.text, at + 1);
                        self.switch(transition, vec![label]);
                    }
                }
                ItemKind::Transition(transition) => {
                    n_loose += 1;
                    self.switch(transition, vec![own_label(transition, &model.name.text, n_loose)]);
                }
                ItemKind::Any(transitions) => {
                    for transition in transitions {
                        n_any += 1;
                        let base =
                            transition.label.as_ref().map_or(format!("any#{n_any}"), |one| one.text.clone());
                        let copies = match states.as_slice() {
                            [] | [_] => vec![base],
                            many => many.iter().map(|state| format!("{base}@{state}")).collect(),
                        };
                        self.switch(transition, copies);
                    }
                }
                _ => {}
            }
        }
    }

    fn switch(&mut self, transition: &TransitionDecl, labels: Vec<String>) {
        let pins =
            transition.pins.iter().map(|pin| format!("{} == {}", pin.field.text, self.line(pin.value.span)));
        let lets = transition
            .lets
            .iter()
            .map(|one| format!("let {} = {}", self.line(one.pattern.span), self.line(one.value.span)));
        let guard = transition.guard.iter().map(|guard| self.line(guard.span));
        let condition: Vec<String> = pins.chain(lets).chain(guard).collect();
        let heading = transition.label.as_ref().map_or(transition.verb_span, |label| label.span);
        self.index.switches.push(SwitchPlace {
            labels,
            whole: transition.span.into(),
            heading: heading.into(),
            verb: transition.verb_span.into(),
            condition: condition.join(" && "),
        });
    }
}

fn state_name(item: &ModelItem) -> Option<&str> {
    match &item.kind {
        ItemKind::State(state) => Some(&state.name.text),
        _ => None,
    }
}

fn own_label(transition: &TransitionDecl, place: &str, number: usize) -> String {
    transition.label.as_ref().map_or_else(|| format!("{place}#{number}"), |label| label.text.clone())
}

fn message_kind(direction: ioxide_lang::ast::DirectionDecl) -> DefinitionKind {
    match direction {
        ioxide_lang::ast::DirectionDecl::Input => DefinitionKind::Input,
        ioxide_lang::ast::DirectionDecl::Observed => DefinitionKind::Observed,
        ioxide_lang::ast::DirectionDecl::Output => DefinitionKind::Output,
    }
}

pub(super) fn docs(meta: &DeclMeta) -> String {
    meta.docs.join("\n")
}

/// The type that is written, if it could be read.
pub(super) fn value_type(ty: &Type) -> Option<ValueType> {
    let inner = |ty: &Type| value_type(ty).map(Box::new);
    Some(match &ty.kind {
        TypeKind::Named(name) => match name.as_str() {
            "bool" => ValueType::Bool,
            "int" => ValueType::Int,
            "real" => ValueType::Real,
            "string" => ValueType::Text,
            _ => ValueType::Named(name.clone()),
        },
        TypeKind::Range(..) => ValueType::Int,
        TypeKind::Option(of) => ValueType::Option(inner(of)?),
        TypeKind::Collection(name, of) => match (name.text.as_str(), of.as_slice()) {
            ("list", [of]) => ValueType::List(inner(of)?),
            ("set", [of]) => ValueType::Set(inner(of)?),
            ("map", [key, value]) => ValueType::Map(inner(key)?, inner(value)?),
            _ => return None,
        },
    })
}

impl From<Bytes> for std::ops::Range<usize> {
    fn from(bytes: Bytes) -> Self {
        bytes.start..bytes.end
    }
}
