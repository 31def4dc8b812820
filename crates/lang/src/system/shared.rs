//! Declarations that several models share: those in front of the models of a file, and those that a file takes from
//! another with `use Colour, Job from "types.iox"`.
//!
//! A model has a copy of what it shares, so it has its meaning alone. Parts of a system that declare a type alike have
//! one type, as ever.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources};

use super::files::resolve_relative;
use crate::ast::{ItemKind, ModelItem, PreambleItem, SharedUse, SyntaxFile};
use crate::resolve::{declared_names, needed_items};
use crate::sink::FindingSink;
use crate::{extension, parser, suggest};

/// The depth of files that take declarations from each other. Chosen by feel; it bounds the recursion.
const MAX_DEPTH: usize = 16;

/// Returns the declarations in front of the models of `tree`, which is that of `file`, and those that it takes from
/// other files.
pub(crate) fn shared_items(
    sources: &Sources,
    file: FileId,
    tree: &SyntaxFile,
    sink: &mut FindingSink,
) -> Vec<ModelItem> {
    gather_items(sources, file, tree, &mut vec![file], sink)
}

fn gather_items(
    sources: &Sources,
    file: FileId,
    tree: &SyntaxFile,
    above: &mut Vec<FileId>,
    sink: &mut FindingSink,
) -> Vec<ModelItem> {
    let mut items: Vec<ModelItem> = Vec::new();
    for part in &tree.preamble {
        match part {
            PreambleItem::Item(item) => items.push((**item).clone()),
            PreambleItem::Use(used) => {
                for item in used_items(sources, file, used, above, sink) {
                    // Two files may take the same declaration from a third.
                    if !items.iter().any(|known| known.span == item.span) {
                        items.push(item);
                    }
                }
            }
        }
    }
    items
}

/// Returns the declarations that `used` names, and those they need.
fn used_items(
    sources: &Sources,
    file: FileId,
    used: &SharedUse,
    above: &mut Vec<FileId>,
    sink: &mut FindingSink,
) -> Vec<ModelItem> {
    let path = resolve_relative(&sources.file(file).name, &used.path);
    let refuse = |sink: &mut FindingSink, diagnostic: Diagnostic| {
        let why = sink.report(diagnostic);
        used.names.iter().for_each(|name| sink.excuse(&name.text, why));
        Vec::new()
    };
    let other = match sources.find(&path) {
        Ok(other) if extension(&path) == Some("iox") => other,
        Ok(_) => {
            let message = format!("`{path}` has no declarations that can be shared");
            let diagnostic = Diagnostic::new(Code::BadImport, used.path_span, message);
            return refuse(sink, diagnostic.help("types, constants and functions come from `.iox` files"));
        }
        Err(why) => {
            let message = format!("`{path}` cannot be read");
            let diagnostic = Diagnostic::new(Code::BadImport, used.path_span, message);
            return refuse(
                sink,
                match why {
                    Some(why) => diagnostic.note(why.to_owned()),
                    None => diagnostic.help("ioxide looks for the file next to this one"),
                },
            );
        }
    };
    if above.contains(&other) || above.len() > MAX_DEPTH {
        let message = format!("`{path}` takes declarations from this file, in a circle");
        return refuse(sink, Diagnostic::new(Code::BadImport, used.path_span, message));
    }
    let mut findings = FindingSink::default();
    let tree = parser::parse_text(&sources.file(other).text, other, &mut findings);
    if findings.has_errors() {
        let message = format!("`{path}` has errors");
        findings.finish().into_iter().for_each(|finding| sink.push(finding));
        return refuse(sink, Diagnostic::new(Code::BadImport, used.path_span, message));
    }
    above.push(other);
    let mut known = gather_items(sources, other, &tree, above, sink);
    above.pop();
    let models = tree.model.iter().chain(tree.system.iter().flat_map(|system| &system.models));
    known.extend(models.flat_map(|model| &model.items).filter(|item| can_be_shared(&item.kind)).cloned());
    for name in &used.names {
        if !declared_names(&known).any(|declared| declared == name.text) {
            let message = format!("`{path}` declares no type, constant or function `{}`", name.text);
            let diagnostic = Diagnostic::new(Code::UnknownType, name.span, message);
            let why = sink.report(suggest::suggest_nearest(diagnostic, name, declared_names(&known)));
            sink.excuse(&name.text, why);
        }
    }
    let wanted: Vec<&str> = used.names.iter().map(|name| name.text.as_str()).collect();
    needed_items(&known, &wanted).into_iter().map(|at| known[at].clone()).collect()
}

/// Returns whether a declaration can stand in front of models and be taken from them.
pub(crate) fn can_be_shared(kind: &ItemKind) -> bool {
    matches!(
        kind,
        ItemKind::Const(_) | ItemKind::Type(_) | ItemKind::Enum(_) | ItemKind::Record(_) | ItemKind::Fn(_)
    )
}
