//! Names in systems made of parts: they refer to models of this text, or of other files.

use ioxide_lang::ast::{
    ItemKind, Name, PartDecl, PinDecl, PortDecl, Property, ResponseDecl, SystemDecl, SystemItem,
    SystemItemKind,
};
use ioxide_model::source::Span;
use rustc_hash::FxHashMap;

use super::build::{Indexer, ModelNames, doc_text};
use super::{DefinitionId, DefinitionKind, ForeignName, ForeignPath, NameMeaning, ValueType};

/// The model that a part is an instance of.
#[derive(Clone, Debug)]
enum PartModel {
    /// A model of this text.
    Here(ModelNames),
    /// The model of another file.
    There(String),
}

/// The names of a system.
#[derive(Default)]
struct SystemNames {
    models: FxHashMap<String, (DefinitionId, PartModel)>,
    parts: FxHashMap<String, (DefinitionId, Option<PartModel>)>,
}

impl Indexer<'_> {
    /// Indexes a system and the models next to it.
    pub(super) fn index_system(&mut self, system: &SystemDecl) {
        let mut names = SystemNames::default();
        for model in &system.models {
            let id = self.index_model(model);
            names.models.insert(model.name.text.clone(), (id, PartModel::Here(self.names.clone())));
        }
        self.names = ModelNames::default();
        let id = self.define(&system.name, DefinitionKind::System, system.span);
        self.definition_mut(id).docs = doc_text(&system.meta);
        self.definition_mut(id).detail = format!("system {}", system.name.text);
        for item in &system.items {
            self.declare_system(item, &mut names);
        }
        for item in &system.items {
            self.resolve_system(item, &names);
        }
    }

    fn declare_system(&mut self, item: &SystemItem, names: &mut SystemNames) {
        let id = match &item.kind {
            SystemItemKind::Use(used) => {
                let id = self.define(&used.model, DefinitionKind::UsedModel, item.span);
                self.index.files.insert(used.model.text.clone(), used.path.clone());
                self.add_foreign_name(used.path_span, &used.path, ForeignPath::Model);
                names.models.insert(used.model.text.clone(), (id, PartModel::There(used.path.clone())));
                id
            }
            SystemItemKind::Const(decl) => {
                let id = self.define(&decl.name, DefinitionKind::Constant, item.span);
                self.definition_mut(id).ty = Some(ValueType::Int);
                self.names.values.insert(decl.name.text.clone(), id);
                id
            }
            SystemItemKind::Part(part) => {
                let id = self.define(&part.name, DefinitionKind::Part, item.span);
                let model = names.models.get(&part.model.text).map(|(_, model)| model.clone());
                names.parts.insert(part.name.text.clone(), (id, model));
                id
            }
            SystemItemKind::Channel(channel) => {
                self.define(&channel.name, DefinitionKind::Channel, item.span)
            }
            SystemItemKind::Goal(goal) => match &goal.kind {
                ItemKind::Purpose(purpose) => self.define(&purpose.name, DefinitionKind::Purpose, item.span),
                ItemKind::Property(Property { label: Some(label), .. }) => {
                    self.define(label, DefinitionKind::Property, item.span)
                }
                ItemKind::Response(ResponseDecl { label: Some(label), .. }) => {
                    self.define(label, DefinitionKind::Property, item.span)
                }
                ItemKind::Test(test) => {
                    let name = Name { text: test.name.clone(), span: test.name_span };
                    self.define(&name, DefinitionKind::Test, item.span)
                }
                _ => return,
            },
            SystemItemKind::Connect(_) | SystemItemKind::Hide(_) | SystemItemKind::Expose(..) => return,
        };
        self.definition_mut(id).docs = doc_text(&item.meta);
    }

    fn resolve_system(&mut self, item: &SystemItem, names: &SystemNames) {
        match &item.kind {
            // Goals name parts by paths, which are not followed.
            SystemItemKind::Use(_) | SystemItemKind::Goal(_) => {}
            SystemItemKind::Const(decl) => _ = self.index_expr(&decl.value),
            SystemItemKind::Part(part) => self.index_part(part, names),
            SystemItemKind::Connect(connection) => {
                let before = self.locals.len();
                self.index_port(&connection.from, names);
                self.index_port(&connection.to, names);
                self.locals.truncate(before);
            }
            SystemItemKind::Channel(channel) => {
                self.index_part_name(&channel.between.0, names);
                self.index_part_name(&channel.between.1, names);
                channel.settings.iter().for_each(|setting| _ = self.index_expr(&setting.value));
            }
            SystemItemKind::Hide(port) | SystemItemKind::Expose(port, _) => {
                let before = self.locals.len();
                self.index_port(port, names);
                self.locals.truncate(before);
            }
        }
    }

    fn index_part(&mut self, part: &PartDecl, names: &SystemNames) {
        let model = names.models.get(&part.model.text);
        if let Some((id, _)) = model {
            self.add_reference(part.model.span, *id);
        }
        let model = model.map(|(_, model)| model);
        match &part.index {
            Some((index, lo, hi)) => {
                self.index_expr(lo);
                self.index_expr(hi);
                let ty = Some(ValueType::Int);
                self.with_name_in_scope(index, ty, |this| this.index_constants(&part.constants, model));
            }
            None => self.index_constants(&part.constants, model),
        }
    }

    fn index_constants(&mut self, constants: &[PinDecl], model: Option<&PartModel>) {
        for constant in constants {
            match model {
                Some(PartModel::Here(names)) => {
                    if let Some(id) = names.values.get(&constant.field.text) {
                        self.add_reference(constant.field.span, *id);
                    }
                }
                Some(PartModel::There(file)) => {
                    let path = ForeignPath::Constant(constant.field.text.clone());
                    self.add_foreign_name(constant.field.span, file, path);
                }
                None => {}
            }
            self.index_expr(&constant.value);
        }
    }

    fn index_part_name(&mut self, name: &Name, names: &SystemNames) -> Option<PartModel> {
        let (id, model) = names.parts.get(&name.text)?;
        self.add_reference(name.span, *id);
        model.clone()
    }

    /// Indexes `part[i].message(pins)`; an index that is an unknown name binds it for the rest of the connection.
    fn index_port(&mut self, port: &PortDecl, names: &SystemNames) {
        let model = self.index_part_name(&port.part, names);
        if let Some(index) = &port.index {
            self.index_name(index);
        }
        let message = match &model {
            Some(PartModel::Here(of)) => {
                let id = of.messages.get(&port.message.text).copied();
                if let Some(id) = id {
                    self.add_reference(port.message.span, id);
                }
                id
            }
            Some(PartModel::There(file)) => {
                let path = ForeignPath::Message(port.message.text.clone());
                self.add_foreign_name(port.message.span, file, path);
                None
            }
            None => None,
        };
        for pin in &port.pins {
            if let Some(PartModel::There(file)) = &model {
                let path = ForeignPath::Field(port.message.text.clone(), pin.field.text.clone());
                self.add_foreign_name(pin.field.span, file, path);
            }
            self.reference_part(&pin.field, message);
            self.index_expr(&pin.value);
        }
    }

    fn index_name(&mut self, index: &ioxide_lang::ast::Expr) {
        let ioxide_lang::ast::ExprKind::Name(text) = &index.kind else {
            self.index_expr(index);
            return;
        };
        let known =
            self.locals.iter().any(|(local, _)| local == text) || self.names.values.contains_key(text);
        if known {
            self.index_expr(index);
            return;
        }
        let name = Name { text: text.clone(), span: index.span };
        let id = self.define(&name, DefinitionKind::Bound, index.span);
        self.definition_mut(id).ty = Some(ValueType::Int);
        self.definition_mut(id).detail = text.clone();
        self.locals.push((text.clone(), id));
    }

    fn add_foreign_name(&mut self, span: Span, file: &str, path: ForeignPath) {
        let name = ForeignName { file: file.to_owned(), path };
        self.add_occurrence(span, NameMeaning::There(name), false);
    }
}
