//! The text of systems.

use super::Printer;
use super::expr::expr_text;
use super::item::pins_text;
use ioxide_model::term::string_literal;

use crate::ast::{ChannelDecl, PartDecl, PortDecl, SystemDecl, SystemItem, SystemItemKind};

impl Printer<'_> {
    /// Writes the models of a system and then the system itself.
    pub(super) fn write_system(&mut self, system: &SystemDecl) {
        system.models.iter().for_each(|model| self.write_model(model));
        let heading = format!("system {}", system.name.written());
        let first = system.items.first().map(|item| item.span);
        self.write_block(system.span, &system.meta, &heading, first, |printer| {
            for item in &system.items {
                match &item.kind {
                    SystemItemKind::Goal(goal) => printer.write_item(goal),
                    _ => printer.write_unit(item.span, &item.meta, |printer| printer.system_item(item)),
                }
            }
        });
    }

    fn system_item(&mut self, item: &SystemItem) {
        match &item.kind {
            SystemItemKind::Const(decl) => self.write_constant(decl),
            SystemItemKind::Use(decl) => {
                self.write_line(&format!("use {} from {}", decl.model.written(), string_literal(&decl.path)));
            }
            SystemItemKind::Part(decl) => self.write_line(&part_text(decl)),
            SystemItemKind::Channel(decl) => self.write_line(&channel_text(decl)),
            SystemItemKind::Connect(decl) => {
                self.write_line(&format!("{} -> {}", port_text(&decl.from), port_text(&decl.to)));
            }
            SystemItemKind::Hide(hidden) => self.write_line(&format!("hide {}", port_text(hidden))),
            SystemItemKind::Expose(exposed, name) => {
                self.write_line(&format!("expose {} as {}", port_text(exposed), name.written()));
            }
            SystemItemKind::Goal(goal) => self.write_item(goal),
        }
    }
}

fn part_text(decl: &PartDecl) -> String {
    let index = match &decl.index {
        Some((name, lo, hi)) => format!("[{} in {}..{}]", name.written(), expr_text(lo), expr_text(hi)),
        None => String::new(),
    };
    format!("{}{index}: {}{}", decl.name.written(), decl.model.written(), pins_text(&decl.constants))
}

/// Returns the declaration of a channel behind its word.
fn channel_text(decl: &ChannelDecl) -> String {
    let (one, other) = &decl.between;
    let settings = pins_text(&decl.settings);
    format!(
        "{}: {}{settings} between {} and {}",
        decl.name.written(),
        decl.kind.written(),
        one.written(),
        other.written()
    )
}

/// Returns a port as `part[index].message(pins)`.
fn port_text(port: &PortDecl) -> String {
    let index = port.index.as_ref().map_or(String::new(), |index| format!("[{}]", expr_text(index)));
    format!("{}{index}.{}{}", port.part.written(), port.message.written(), pins_text(&port.pins))
}
