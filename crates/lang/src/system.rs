//! Systems made of parts: syntax tree to composition.
//!
//! Parts are instances of models, each with constants of its own. The messages of a part that no connection mentions
//! are messages of the system, called `part.message`; those of an array have the index as their first field. A
//! connection is a [meeting](ioxide_model::compose) of the sender and of every receiver connected to that message, seen
//! as an output of the system named after the sender, or internal if it is hidden. With a channel between them, sending
//! and receiving are two steps.

mod constant;
pub(crate) mod files;
mod goals;
mod parts;
pub(crate) mod shared;
mod through;
mod wires;

use ioxide_model::code::Code;
use ioxide_model::compose::{Composer, OpenField};
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_model::sts::Model;

use self::constant::Constants;
use self::parts::{Instance, SystemParts};
use crate::LoadOptions;
use crate::ast::{ModelItem, SystemDecl, SystemItemKind};
use crate::sink::{FindingSink, Reported};

pub use self::through::{NotAChannel, channel, through};

/// Builds the model of `system`.
pub(crate) fn load_system(
    sources: &Sources,
    file: FileId,
    (system, shared): (&SystemDecl, &[ModelItem]),
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Model, Reported> {
    let constants = system_constants(system, options, sink);
    let mut parts = SystemParts::new(sources, file, (system, shared), options, &constants);
    let instances = parts.instances(sink);
    parts.check_overrides(sink);
    sink.check()?;
    let mut composer = Composer::new(&system.name.text, system.name.span);
    let placed = add_instances(&mut composer, instances, sink)?;
    wires::connect(&mut composer, system, &placed, &constants, sink);
    sink.check()?;
    let mut model = composer.finish();
    model.sts.doc = system.meta.docs.join("\n");
    Ok(goals::add_goals(model, system, &constants, sink))
}

/// Returns the constants of the system, with overrides applied.
fn system_constants(system: &SystemDecl, options: &LoadOptions, sink: &mut FindingSink) -> Constants {
    let mut constants = Constants::default();
    for item in &system.items {
        let SystemItemKind::Const(decl) = &item.kind else { continue };
        let set = options.overrides.iter().rev().find(|(name, _)| *name == decl.name.text);
        let given = set.and_then(|(_, text)| text.parse::<i64>().ok()).map(ioxide_model::value::Value::int);
        match (given, set) {
            (Some(value), _) => constants.set(&decl.name.text, value),
            (None, Some((name, text))) => {
                _ = sink.error(|| {
                    let message = format!(
                        "`--set {name}={text}` does not fit: a constant of a system is a whole number"
                    );
                    Diagnostic::new(Code::BadOverride, decl.name.span, message)
                })
            }
            (None, None) => match constants.value(&decl.value) {
                Ok(value) => constants.set(&decl.name.text, value),
                Err(wrong) => _ = sink.report(*wrong),
            },
        }
    }
    constants
}

/// Adds the instances to the composition.
fn add_instances(
    composer: &mut Composer,
    instances: Vec<Instance>,
    sink: &mut FindingSink,
) -> Result<Vec<Instance>, Reported> {
    let mut placed = Vec::with_capacity(instances.len());
    for mut instance in instances {
        match composer.add_part(&instance.family, instance.index, &instance.model) {
            Ok(part) => {
                instance.part = Some(part);
                placed.push(instance);
            }
            Err(clash) => {
                return Err(sink.error(|| {
                    let message = format!("two parts have different types called `{}`", clash.0);
                    Diagnostic::new(Code::BadConnection, instance.span, message)
                        .help("rename one of them; parts that exchange values of a type declare it alike")
                }));
            }
        }
    }
    Ok(placed)
}

/// Returns the finding for a field of a hidden meeting that is not determined, or for a meeting that is too large.
fn open_field(open: OpenField, hidden: Span) -> Diagnostic {
    match open {
        OpenField::Unpinned { field, span } => {
            let message = format!("nothing determines the value of `{field}` in this hidden message");
            Diagnostic::new(Code::OpenHiddenField, span, message)
                .label(hidden, "hidden here, so the tester does not see it either")
                .note("a part stores the value, and it is neither equal to a term of the sender nor one of few values")
                .help("pin it where it is sent, as in `emit post(text: last)`, or do not hide the message")
        }
        OpenField::TooMany(limit) => {
            let message = format!("this connection would have more than {limit} transitions");
            Diagnostic::new(Code::BadConnection, hidden, message)
                .note("every choice of one transition of each part that meets is one")
        }
    }
}
