//! The text of systems.

use super::Printer;
use super::expr::expr;
use super::item::pins;
use ioxide_model::term::string_literal;

use crate::ast::{ChannelDecl, PartDecl, PortDecl, SystemDecl, SystemItem, SystemItemKind};

impl Printer<'_> {
    pub(super) fn system(&mut self, system: &SystemDecl) {
        system.models.iter().for_each(|model| self.model(model));
        let heading = format!("system {}", system.name.text);
        let first = system.items.first().map(|item| item.span);
        self.block(system.span, &system.meta, &heading, first, |printer| {
            for item in &system.items {
                match &item.kind {
                    SystemItemKind::Goal(goal) => printer.item(goal),
                    _ => printer.unit(item.span, &item.meta, |printer| printer.system_item(item)),
                }
            }
        });
    }

    fn system_item(&mut self, item: &SystemItem) {
        match &item.kind {
            SystemItemKind::Const(decl) => self.constant(decl),
            SystemItemKind::Use(decl) => {
                self.write_line(&format!("use {} from {}", decl.model.text, string_literal(&decl.path)));
            }
            SystemItemKind::Part(decl) => self.write_line(&part_text(decl)),
            SystemItemKind::Channel(decl) => self.write_line(&channel(decl)),
            SystemItemKind::Connect(decl) => {
                self.write_line(&format!("{} -> {}", port(&decl.from), port(&decl.to)));
            }
            SystemItemKind::Hide(hidden) => self.write_line(&format!("hide {}", port(hidden))),
            SystemItemKind::Expose(exposed, name) => {
                self.write_line(&format!("expose {} as {}", port(exposed), name.text));
            }
            SystemItemKind::Goal(goal) => self.item(goal),
        }
    }
}

fn part_text(decl: &PartDecl) -> String {
    let index = match &decl.index {
        Some((name, lo, hi)) => format!("[{} in {}..{}]", name.text, expr(lo), expr(hi)),
        None => String::new(),
    };
    format!("{}{index}: {}{}", decl.name.text, decl.model.text, pins(&decl.constants))
}

fn channel(decl: &ChannelDecl) -> String {
    let (one, other) = &decl.between;
    let settings = pins(&decl.settings);
    format!("{}: {}{settings} between {} and {}", decl.name.text, decl.kind.text, one.text, other.text)
}

fn port(port: &PortDecl) -> String {
    let index = port.index.as_ref().map_or(String::new(), |index| format!("[{}]", expr(index)));
    format!("{}{index}.{}{}", port.part.text, port.message.text, pins(&port.pins))
}
