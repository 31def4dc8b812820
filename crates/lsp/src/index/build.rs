//! Construction of an index from a syntax tree: first declarations, then references.

use ioxide_lang::ast::{
    DeclMeta, FieldDecl, ItemKind, MessagePattern, ModelDecl, ModelItem, Name, ObserverDecl, PinDecl,
    PreambleItem, PurposeDecl, PurposeGoal, StateDecl, StepKind, SyntaxFile, TestDecl, TransitionDecl, Type,
    TypeKind, UpdateKind,
};
use ioxide_model::source::Span;
use rustc_hash::FxHashMap;

use super::{
    Bytes, Definition, DefinitionId, DefinitionKind, GoalPlace, NameMeaning, Occurrence, SourceIndex,
    SwitchPlace, ValueType,
};

/// The number of characters of a declaration in one line; longer ones are cut. Chosen by eye.
const MAX_DETAIL_CHARS: usize = 200;

/// The index of `tree`, which was read from `text`.
pub(super) fn build_index(text: &str, tree: &SyntaxFile) -> SourceIndex {
    let mut indexer = Indexer::new(text);
    indexer.index_preamble(&tree.preamble);
    if let Some(model) = &tree.model {
        indexer.index_model(model);
    }
    if let Some(system) = &tree.system {
        indexer.index_system(system);
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
    /// The names that all models of the file share.
    shared: ModelNames,
    /// Names in inner scopes, the innermost last.
    pub(super) locals: Vec<(String, DefinitionId)>,
    owner: Option<DefinitionId>,
}

impl<'t> Indexer<'t> {
    /// Makes an empty index of `text`.
    fn new(text: &'t str) -> Self {
        let (index, names) = (SourceIndex::default(), ModelNames::default());
        Self { text, index, shared: names.clone(), names, locals: Vec::new(), owner: None }
    }

    /// The text at `span` in one line.
    pub(super) fn text_on_one_line(&self, span: Span) -> String {
        let text = self.text.get(span.range()).unwrap_or("");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(MAX_DETAIL_CHARS) {
            Some((end, _)) => format!("{} ...", &text[..end]),
            None => text,
        }
    }

    /// The text of a declaration without its doc comment and attributes: it starts where its first word stands on
    /// the line of its name.
    fn declaration_text(&self, name: &Name, span: Span) -> String {
        let start = name.span.start as usize;
        let line = self.text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let start = line.max(span.start as usize).min(start);
        self.text_on_one_line(Span { start: u32::try_from(start).unwrap_or(0), ..span })
    }

    /// Adds the definition of a name, inside the current owner, and returns its id.
    pub(super) fn define(&mut self, name: &Name, kind: DefinitionKind, span: Span) -> DefinitionId {
        let id = DefinitionId(self.index.definitions.len());
        self.index.definitions.push(Definition {
            name: name.text.clone(),
            kind,
            at: name.span.into(),
            whole: span.into(),
            owner: self.owner,
            detail: self.declaration_text(name, span),
            docs: String::new(),
            ty: None,
            parts: Vec::new(),
        });
        id
    }

    pub(super) fn definition_mut(&mut self, id: DefinitionId) -> &mut Definition {
        &mut self.index.definitions[id.0]
    }

    /// Adds the reference to `id` at `span`.
    pub(super) fn add_reference(&mut self, span: Span, id: DefinitionId) {
        self.add_occurrence(span, NameMeaning::Here(id), false);
    }

    pub(super) fn add_occurrence(&mut self, span: Span, meaning: NameMeaning, writes: bool) {
        self.index.occurrences.push(Occurrence { at: span.into(), meaning, writes });
    }

    fn add_reference_in(
        &mut self,
        name: &Name,
        table: fn(&ModelNames) -> &FxHashMap<String, DefinitionId>,
    ) -> Option<DefinitionId> {
        let id = table(&self.names).get(&name.text).copied()?;
        self.add_reference(name.span, id);
        Some(id)
    }

    /// Indexes the declarations in front of the models, whose names are in scope in all of them.
    fn index_preamble(&mut self, preamble: &[PreambleItem]) {
        let items = || {
            preamble.iter().filter_map(|item| match item {
                PreambleItem::Item(item) => Some(&**item),
                PreambleItem::Use(_) => None,
            })
        };
        items().for_each(|item| self.declare_item(item));
        items().for_each(|item| self.resolve_item(item));
        self.shared = self.names.clone();
    }

    /// Indexes a whole model, whose names are in scope from now on.
    pub(super) fn index_model(&mut self, model: &ModelDecl) -> DefinitionId {
        let id = self.define(&model.name, DefinitionKind::Model, model.span);
        self.definition_mut(id).docs = doc_text(&model.meta);
        self.definition_mut(id).detail = format!("model {}", model.name.text);
        self.names = self.shared.clone();
        self.owner = Some(id);
        for item in &model.items {
            self.declare_item(item);
        }
        for item in &model.items {
            self.resolve_item(item);
        }
        self.index_switches(model);
        self.owner = None;
        id
    }

    // What is declared.

    fn declare_item(&mut self, item: &ModelItem) {
        use DefinitionKind as Kind;
        let id = match &item.kind {
            ItemKind::Message(message) => {
                let id = self.define(&message.name, message_kind(message.direction), item.span);
                self.names.messages.entry(message.name.text.clone()).or_insert(id);
                self.define_fields(id, &message.fields, Kind::Field);
                id
            }
            ItemKind::Var(decl) => self.define_value(&decl.name, Kind::Variable, Some(&decl.ty), item.span),
            ItemKind::Clock(name) => {
                let id = self.define_value(name, Kind::Clock, None, item.span);
                self.definition_mut(id).ty = Some(ValueType::Real);
                id
            }
            ItemKind::Const(decl) => {
                self.define_value(&decl.name, Kind::Constant, decl.ty.as_ref(), item.span)
            }
            ItemKind::Type(decl) => self.define_type(&decl.name, Kind::TypeName, Some(&decl.ty), item.span),
            ItemKind::Record(decl) => {
                let id = self.define_type(&decl.name, Kind::Record, None, item.span);
                self.define_fields(id, &decl.fields, Kind::Field);
                id
            }
            ItemKind::Enum(decl) => {
                let id = self.define_type(&decl.name, Kind::Enum, None, item.span);
                let outer = self.owner.replace(id);
                for variant in &decl.variants {
                    let case = self.define_value(&variant.name, Kind::Variant, None, variant.name.span);
                    self.definition_mut(case).ty = Some(ValueType::Named(decl.name.text.clone()));
                    self.definition_mut(case).docs = variant.docs.join("\n");
                    self.define_fields(case, &variant.fields, Kind::Field);
                    self.definition_mut(id).parts.push(case);
                }
                self.owner = outer;
                id
            }
            ItemKind::Fn(decl) => {
                let id = self.define(&decl.name, Kind::Function, item.span);
                self.names.functions.entry(decl.name.text.clone()).or_insert(id);
                self.define_fields(id, &decl.params, Kind::Parameter);
                self.definition_mut(id).ty = value_type(&decl.result);
                id
            }
            ItemKind::State(state) => {
                let id = self.define_state(state, item.span);
                self.names.states.entry(state.name.text.clone()).or_insert(id);
                self.define_labels(&state.transitions, Some(id));
                id
            }
            ItemKind::Any(transitions) => return self.define_labels(transitions, None),
            ItemKind::Transition(transition) => {
                return self.define_labels(std::slice::from_ref(transition), None);
            }
            ItemKind::Purpose(purpose) => self.define(&purpose.name, Kind::Purpose, item.span),
            ItemKind::Property(property) => {
                let Some(label) = &property.label else { return };
                self.define(label, Kind::Property, item.span)
            }
            ItemKind::Response(response) => {
                let Some(label) = &response.label else { return };
                self.define(label, Kind::Property, item.span)
            }
            ItemKind::Test(test) => {
                let name = Name { text: test.name.clone(), span: test.name_span };
                self.define(&name, Kind::Test, item.span)
            }
        };
        self.definition_mut(id).docs = doc_text(&item.meta);
    }

    fn define_value(
        &mut self,
        name: &Name,
        kind: DefinitionKind,
        ty: Option<&Type>,
        span: Span,
    ) -> DefinitionId {
        let id = self.define(name, kind, span);
        self.definition_mut(id).ty = ty.and_then(value_type);
        self.names.values.entry(name.text.clone()).or_insert(id);
        id
    }

    fn define_type(
        &mut self,
        name: &Name,
        kind: DefinitionKind,
        ty: Option<&Type>,
        span: Span,
    ) -> DefinitionId {
        let id = self.define(name, kind, span);
        self.definition_mut(id).ty = ty.and_then(value_type);
        self.names.types.entry(name.text.clone()).or_insert(id);
        id
    }

    fn define_fields(&mut self, of: DefinitionId, fields: &[FieldDecl], kind: DefinitionKind) {
        let outer = self.owner.replace(of);
        for field in fields {
            let whole = field.name.span.to(field.ty.span);
            let id = self.define(&field.name, kind, whole);
            let detail = self.text_on_one_line(whole);
            let ty = value_type(&field.ty);
            let owner = self.index.get(of).name.clone();
            let definition = self.definition_mut(id);
            definition.ty = ty;
            definition.docs = field.docs.join("\n");
            definition.detail = format!("{} {detail} of {owner}", kind.word());
            self.definition_mut(of).parts.push(id);
        }
        self.owner = outer;
    }

    fn define_state(&mut self, state: &StateDecl, span: Span) -> DefinitionId {
        let id = self.define(&state.name, DefinitionKind::State, span);
        self.definition_mut(id).detail = format!("state {}", state.name.text);
        self.definition_mut(id).docs = doc_text(&state.meta);
        id
    }

    fn define_labels(&mut self, transitions: &[TransitionDecl], owner: Option<DefinitionId>) {
        let outer = self.owner;
        self.owner = owner.or(outer);
        for transition in transitions {
            let Some(label) = &transition.label else { continue };
            let id = self.define(label, DefinitionKind::Label, transition.span);
            self.definition_mut(id).docs = doc_text(&transition.meta);
            self.names.labels.entry(label.text.clone()).or_insert(id);
        }
        self.owner = outer;
    }

    // What is named.

    fn resolve_item(&mut self, item: &ModelItem) {
        match &item.kind {
            ItemKind::Message(message) => message.fields.iter().for_each(|field| self.index_type(&field.ty)),
            ItemKind::Var(decl) => {
                self.index_type(&decl.ty);
                decl.init.iter().for_each(|init| _ = self.index_expr(init));
            }
            ItemKind::Clock(_) => {}
            ItemKind::Const(decl) => {
                decl.ty.iter().for_each(|ty| self.index_type(ty));
                let ty = self.index_expr(&decl.value);
                self.set_type_of_constant(&decl.name, ty);
            }
            ItemKind::Type(decl) => self.index_type(&decl.ty),
            ItemKind::Record(decl) => decl.fields.iter().for_each(|field| self.index_type(&field.ty)),
            ItemKind::Enum(decl) => {
                decl.variants
                    .iter()
                    .flat_map(|variant| &variant.fields)
                    .for_each(|field| self.index_type(&field.ty));
            }
            ItemKind::Fn(decl) => {
                decl.params.iter().for_each(|param| self.index_type(&param.ty));
                self.index_type(&decl.result);
                let id = self.names.functions.get(&decl.name.text).copied();
                self.with_parts_in_scope(id, |this| _ = this.index_expr(&decl.body));
            }
            ItemKind::State(state) => state.transitions.iter().for_each(|one| self.index_transition(one)),
            ItemKind::Any(transitions) => transitions.iter().for_each(|one| self.index_transition(one)),
            ItemKind::Transition(transition) => self.index_transition(transition),
            ItemKind::Purpose(purpose) => self.index_purpose(purpose),
            ItemKind::Property(property) => _ = self.index_expr(&property.condition),
            ItemKind::Response(response) => {
                self.index_message(&response.trigger);
                self.index_message(&response.answer);
                response.within.iter().for_each(|time| _ = self.index_expr(time));
            }
            ItemKind::Test(test) => self.index_test(test),
        }
    }

    /// Gives a constant without a written type the type of its value.
    fn set_type_of_constant(&mut self, name: &Name, ty: Option<ValueType>) {
        let id = self.names.values.get(&name.text).copied();
        let Some(id) = id.filter(|id| self.index.get(*id).at == name.span.into()) else { return };
        let definition = self.definition_mut(id);
        definition.ty = definition.ty.take().or(ty);
    }

    /// Runs `inside` with the fields or parameters of `of` in scope.
    pub(super) fn with_parts_in_scope(&mut self, of: Option<DefinitionId>, inside: impl FnOnce(&mut Self)) {
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
    fn index_transition(&mut self, transition: &TransitionDecl) {
        let gate =
            transition.gate.as_ref().and_then(|gate| self.add_reference_in(gate, |names| &names.messages));
        self.with_parts_in_scope(gate, |this| {
            // What `let` names is known in the pins too, which stand before it.
            for one in &transition.lets {
                let ty = this.index_expr(&one.value);
                this.index_pattern(&one.pattern, ty.as_ref());
            }
            this.index_pins(&transition.pins, gate);
            transition.guard.iter().for_each(|guard| _ = this.index_expr(guard));
            for update in &transition.updates {
                match &update.kind {
                    UpdateKind::Assign(name, value) => {
                        this.index_assigned_variable(name);
                        this.index_expr(value);
                    }
                    UpdateKind::Put(name, key, value) => {
                        this.index_assigned_variable(name);
                        this.index_expr(key);
                        this.index_expr(value);
                    }
                    UpdateKind::Reset(name) => this.index_assigned_variable(name),
                }
            }
        });
        if let Some(target) = &transition.target {
            self.add_reference_in(target, |names| &names.states);
        }
    }

    /// The variable that an update changes: never a field, even one of the same name.
    fn index_assigned_variable(&mut self, name: &Name) {
        let is_variable = |id: &DefinitionId| {
            matches!(self.index.get(*id).kind, DefinitionKind::Variable | DefinitionKind::Clock)
        };
        let local = self.locals.iter().rev().filter(|(local, _)| *local == name.text).map(|(_, id)| *id);
        let found = local.chain(self.names.values.get(&name.text).copied()).find(is_variable);
        if let Some(id) = found {
            self.add_occurrence(name.span, NameMeaning::Here(id), true);
        }
    }

    pub(super) fn index_pins(&mut self, pins: &[PinDecl], of: Option<DefinitionId>) {
        for pin in pins {
            let field = self.reference_part(&pin.field, of);
            // On the right of `total: total`, the name means what is declared outside of the message.
            let is_declared_outside = self.names.values.contains_key(&pin.field.text);
            let at = self.locals.iter().rposition(|(_, local)| is_declared_outside && Some(*local) == field);
            let hidden = at.map(|at| (at, self.locals.remove(at)));
            self.index_expr(&pin.value);
            if let Some((at, local)) = hidden {
                self.locals.insert(at, local);
            }
        }
    }

    /// Adds a reference to the field or parameter of `of` that is called `name`.
    pub(super) fn reference_part(&mut self, name: &Name, of: Option<DefinitionId>) -> Option<DefinitionId> {
        let parts = &self.index.get(of?).parts;
        let part = parts.iter().copied().find(|part| self.index.get(*part).name == name.text)?;
        self.add_reference(name.span, part);
        Some(part)
    }

    fn index_purpose(&mut self, purpose: &PurposeDecl) {
        match &purpose.goal {
            PurposeGoal::Path(path) => {
                for label in path {
                    self.add_reference_in(label, |names| &names.labels);
                }
            }
            PurposeGoal::Reach { state, when } => {
                if let Some(state) = state {
                    self.add_reference_in(state, |names| &names.states);
                }
                when.iter().for_each(|when| _ = self.index_expr(when));
            }
            PurposeGoal::Observer(observer) => self.index_observer(purpose, observer),
        }
        self.add_goal(&purpose.name.text, false, purpose.name.span);
    }

    /// Indexes an observer, which has variables, clocks and states of its own.
    fn index_observer(&mut self, purpose: &PurposeDecl, observer: &ObserverDecl) {
        let owner = self.index.definitions().find(|(_, found)| found.at == purpose.name.span.into());
        let outer = (self.owner, std::mem::take(&mut self.names.states), self.locals.len());
        self.owner = owner.map(|(id, _)| id);
        for item in &observer.items {
            let (name, kind, ty) = match &item.kind {
                ItemKind::Var(decl) => (&decl.name, DefinitionKind::Variable, value_type(&decl.ty)),
                ItemKind::Clock(name) => (name, DefinitionKind::Clock, Some(ValueType::Real)),
                _ => continue,
            };
            let id = self.define(name, kind, item.span);
            self.definition_mut(id).ty = ty;
            self.definition_mut(id).docs = doc_text(&item.meta);
            self.locals.push((name.text.clone(), id));
            if let ItemKind::Var(decl) = &item.kind {
                self.index_type(&decl.ty);
                decl.init.iter().for_each(|init| _ = self.index_expr(init));
            }
        }
        for state in &observer.states {
            let id = self.define_state(state, state.span);
            self.names.states.entry(state.name.text.clone()).or_insert(id);
        }
        for transition in observer.states.iter().flat_map(|state| &state.transitions) {
            self.index_transition(transition);
        }
        (self.owner, self.names.states) = (outer.0, outer.1);
        self.locals.truncate(outer.2);
    }

    fn index_test(&mut self, test: &TestDecl) {
        for step in &test.steps {
            match &step.kind {
                StepKind::Send(message) | StepKind::Expect(message) => self.index_message(message),
                StepKind::Quiet(time) => time.iter().for_each(|time| _ = self.index_expr(time)),
            }
        }
        self.add_goal(&test.name, true, test.name_span);
    }

    fn index_message(&mut self, message: &MessagePattern) {
        let gate = self.add_reference_in(&message.gate, |names| &names.messages);
        self.with_parts_in_scope(gate, |this| {
            this.index_pins(&message.pins, gate);
            message.guard.iter().for_each(|guard| _ = this.index_expr(guard));
        });
    }

    fn add_goal(&mut self, name: &str, is_test: bool, at: Span) {
        self.index.goals.push(GoalPlace { name: name.to_owned(), is_test, at: at.into() });
    }

    /// Indexes the names in a type.
    pub(super) fn index_type(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Named(name) => {
                if let Some(id) = self.names.types.get(name).copied() {
                    self.add_reference(ty.span, id);
                }
            }
            TypeKind::Range(lo, hi) => {
                self.index_expr(lo);
                self.index_expr(hi);
            }
            TypeKind::Option(inner) | TypeKind::Paren(inner) => self.index_type(inner),
            TypeKind::Collection(_, of) => of.iter().for_each(|ty| self.index_type(ty)),
        }
    }

    // Transitions by the names they have in reports.

    fn index_switches(&mut self, model: &ModelDecl) {
        let states: Vec<&str> = model.items.iter().filter_map(state_name).collect();
        let (mut n_loose, mut n_any) = (0, 0);
        for item in &model.items {
            match &item.kind {
                ItemKind::State(state) => {
                    for (at, transition) in state.transitions.iter().enumerate() {
                        let label = own_label(transition, &state.name.text, at + 1);
                        self.add_switch(transition, vec![label]);
                    }
                }
                ItemKind::Transition(transition) => {
                    n_loose += 1;
                    self.add_switch(transition, vec![own_label(transition, &model.name.text, n_loose)]);
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
                        self.add_switch(transition, copies);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_switch(&mut self, transition: &TransitionDecl, labels: Vec<String>) {
        let pins = transition
            .pins
            .iter()
            .map(|pin| format!("{} == {}", pin.field.text, self.text_on_one_line(pin.value.span)));
        let lets = transition.lets.iter().map(|one| {
            format!(
                "let {} = {}",
                self.text_on_one_line(one.pattern.span),
                self.text_on_one_line(one.value.span)
            )
        });
        let guard = transition.guard.iter().map(|guard| self.text_on_one_line(guard.span));
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

pub(super) fn doc_text(meta: &DeclMeta) -> String {
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
        TypeKind::Paren(of) => *inner(of)?,
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
