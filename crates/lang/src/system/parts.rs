//! The instances of a system: models with constants of their own.

use std::collections::BTreeMap;

use ioxide_model::code::Code;
use ioxide_model::compose::PartId;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_model::sts::Model;

use super::constant::{Constants, as_text};
use super::files::{resolve_relative, used_files};
use crate::ast::{ModelItem, Name, PartDecl, SystemDecl, SystemItemKind, UseDecl};
use crate::format::expr::expr_text;
use crate::resolve::NameTable;
use crate::sink::{FindingSink, Reported};
use crate::{LoadOptions, PartConstant, lower, suggest};

/// The greatest number of instances of all parts together. Chosen by feel: it bounds the memory that a short text can
/// ask for, as do the next two.
const MAX_INSTANCES: usize = 10_000;
/// The greatest number of messages of all parts together: systems of systems of systems grow fast.
const MAX_MESSAGES: usize = 10_000;
/// The greatest number of switches of all parts together. Chosen by feel: it bounds the memory.
const MAX_SWITCHES: usize = 200_000;
/// The greatest nesting depth of systems made of systems. Chosen by feel: systems are put together by recursion.
const MAX_DEPTH: usize = 16;

/// The name of a model, with the values of its constants as texts.
type Configured = (String, Vec<(String, String)>);

/// An instance of a model.
pub(super) struct Instance {
    pub(super) name: String,
    pub(super) family: String,
    pub(super) index: Option<i64>,
    pub(super) model: Model,
    pub(super) span: Span,
    /// Its id in the composition; `None` until it is placed.
    pub(super) part: Option<PartId>,
}

/// The models and parts that a system declares.
pub(super) struct SystemParts<'a> {
    sources: &'a Sources,
    file: FileId,
    system: &'a SystemDecl,
    /// The declarations that the models of the file share.
    shared: &'a [ModelItem],
    options: &'a LoadOptions,
    constants: &'a Constants,
    /// The loaded models, by name and constants.
    loaded: BTreeMap<Configured, Result<Model, Reported>>,
    /// The number of messages of the parts so far; those of an array count once.
    messages: usize,
    switches: usize,
    /// True once a part was refused because there are too many; those behind it are refused silently.
    is_full: bool,
}

impl<'a> SystemParts<'a> {
    /// Makes the collection for `system`, without models and parts.
    pub(super) fn new(
        sources: &'a Sources,
        file: FileId,
        (system, shared): (&'a SystemDecl, &'a [ModelItem]),
        options: &'a LoadOptions,
        constants: &'a Constants,
    ) -> Self {
        Self {
            sources,
            file,
            system,
            shared,
            options,
            constants,
            loaded: BTreeMap::new(),
            messages: 0,
            switches: 0,
            is_full: false,
        }
    }

    /// Returns every instance of every part.
    pub(super) fn instances(&mut self, sink: &mut FindingSink) -> Vec<Instance> {
        let mut names: NameTable<'_, ()> = NameTable::new("part");
        let mut all = Vec::new();
        let system = self.system;
        for item in &system.items {
            let SystemItemKind::Part(decl) = &item.kind else { continue };
            names.declare(sink, &decl.name, ());
            if !self.is_full {
                self.instances_of(decl, sink, &mut all);
            }
        }
        if all.is_empty() && !sink.has_errors() {
            let message = format!("the system `{}` has no parts", system.name.text);
            sink.push(Diagnostic::new(Code::UnknownPart, system.name.span, message).help(
                "a part is `server: Server`, where `Server` is a model of this file or `use`d from another",
            ));
        }
        all
    }

    fn instances_of(&mut self, decl: &PartDecl, sink: &mut FindingSink, all: &mut Vec<Instance>) {
        let Ok(indices) = self.indices(decl, sink) else { return };
        // Asked before any instance is made: the array itself is what could exhaust the memory.
        if all.len() + indices.len() > MAX_INSTANCES {
            self.is_full = true;
            let message = format!("the system has more than {MAX_INSTANCES} parts with this one");
            let diagnostic = Diagnostic::new(Code::BadRange, decl.name.span, message);
            return sink.push(diagnostic.note("every instance of an array counts"));
        }
        for index in indices {
            let constants = match (index, &decl.index) {
                (Some(at), Some((name, ..))) => self.constants.with_constant(&name.text, at),
                _ => self.constants.clone(),
            };
            let name = match index {
                Some(at) => format!("{}[{at}]", decl.name.text),
                None => decl.name.text.clone(),
            };
            let options = self.options_of(decl, &name, &constants);
            let Ok(model) = self.model_named(&decl.model, options, sink) else { return };
            // The instances of an array have their messages together.
            self.messages += if all.last().is_some_and(|last: &Instance| last.family == decl.name.text) {
                0
            } else {
                model.sts.gates.len()
            };
            self.switches += model.sts.switches.len();
            if self.messages > MAX_MESSAGES || self.switches > MAX_SWITCHES {
                let message = "the system is too large: parts of parts count too";
                let diagnostic = Diagnostic::new(Code::BadRange, decl.name.span, message);
                sink.push(diagnostic.note(format!(
                    "all parts together have at most {MAX_MESSAGES} messages and {MAX_SWITCHES} transitions"
                )));
                return;
            }
            let family = decl.name.text.clone();
            all.push(Instance { name, family, index, model, span: decl.name.span, part: None });
        }
    }

    /// Returns the indices of the instances of a part; one `None` if it is no array.
    fn indices(&self, decl: &PartDecl, sink: &mut FindingSink) -> Result<Vec<Option<i64>>, Reported> {
        let Some((_, lo, hi)) = &decl.index else { return Ok(vec![None]) };
        let (lo, hi) = match (self.constants.int(lo), self.constants.int(hi)) {
            (Ok(lo), Ok(hi)) => (lo, hi),
            (lo, hi) => {
                let wrong = [lo.err(), hi.err()].into_iter().flatten();
                return Err(wrong.map(|wrong| sink.report(*wrong)).last().expect("one of them is wrong"));
            }
        };
        let n = hi.checked_sub(lo).and_then(|n| n.checked_add(1)).unwrap_or(i128::MAX);
        if !(1..=MAX_INSTANCES as i128).contains(&n) {
            let message = format!("an array of {n} instances");
            let diagnostic = Diagnostic::new(Code::BadRange, decl.name.span, message);
            return Err(
                sink.report(diagnostic.note(format!("there are at least 1 and at most {MAX_INSTANCES}")))
            );
        }
        let (Ok(lo), Ok(hi)) = (i64::try_from(lo), i64::try_from(hi)) else {
            let message = format!("an index is from {} to {}", i64::MIN, i64::MAX);
            return Err(sink.report(Diagnostic::new(Code::BadRange, decl.name.span, message)));
        };
        Ok((lo..=hi).map(Some).collect())
    }

    /// Returns the constants of one instance, those of `--set part.NAME=value` last.
    fn options_of(&self, decl: &PartDecl, name: &str, constants: &Constants) -> LoadOptions {
        let (mut overrides, mut part_constants) = (Vec::new(), Vec::new());
        for pin in &decl.constants {
            let name = pin.field.text.clone();
            // Values that need no types go as texts, as `--set` gives them, so that both are read by the same
            // code.
            match constants.value(&pin.value) {
                Ok(value) => overrides.push((name, as_text(&value))),
                // The value may need the types of the model.
                Err(_) => {
                    let names = constants.mentioned_in(&pin.value);
                    part_constants.push(PartConstant { name, value: pin.value.clone(), names });
                }
            }
        }
        // Behind the constants of the declaration, because `--set` wins.
        for (set, value) in &self.options.overrides {
            let own = set.rsplit_once('.').filter(|(part, _)| *part == name || *part == decl.name.text);
            if let Some((_, constant)) = own {
                part_constants.retain(|known: &PartConstant| known.name != constant);
                overrides.push((constant.to_owned(), value.clone()));
            }
        }
        LoadOptions {
            overrides,
            part_constants,
            without_lints: self.options.without_lints,
            tentative: Vec::new(),
        }
    }

    /// Reports overrides that name no constant of the system and no part.
    pub(super) fn check_overrides(&self, sink: &mut FindingSink) {
        for (name, _) in &self.options.overrides {
            let fits = match name.rsplit_once('.') {
                Some((part, _)) => self.part_decls().any(|decl| {
                    decl.name.text == part
                        || part.strip_prefix(&decl.name.text).is_some_and(|rest| rest.starts_with('['))
                }),
                None => self.constants.get(name).is_some(),
            };
            if !fits {
                let help = "constants of a system are its own, or those of a part: `--set server.ROOM=3`";
                sink.error(|| {
                    let message = format!("there is no constant `{name}` to set");
                    Diagnostic::new(Code::UnknownConstant, self.system.name.span, message).help(help)
                });
            }
        }
    }

    fn part_decls(&self) -> impl Iterator<Item = &'a PartDecl> {
        self.system.items.iter().filter_map(|item| match &item.kind {
            SystemItemKind::Part(decl) => Some(decl),
            _ => None,
        })
    }

    /// Returns the `use` declarations of the system.
    fn use_decls(&self) -> impl Iterator<Item = &'a UseDecl> {
        self.system.items.iter().filter_map(|item| match &item.kind {
            SystemItemKind::Use(decl) => Some(decl),
            _ => None,
        })
    }

    /// Loads the model called `name` with these constants; its warnings are reported only the first time.
    fn model_named(
        &mut self,
        name: &Name,
        options: LoadOptions,
        sink: &mut FindingSink,
    ) -> Result<Model, Reported> {
        // Instances whose constants are the same share their model.
        let as_key = |constant: &PartConstant| {
            (constant.name.clone(), format!("{} {:?}", expr_text(&constant.value), constant.names))
        };
        let given = options.part_constants.iter().map(as_key);
        let key = (name.text.clone(), options.overrides.iter().cloned().chain(given).collect());
        // An error too: the instances of an array would report it once each.
        if let Some(known) = self.loaded.get(&key) {
            return known.clone();
        }
        let is_first = !self.loaded.keys().any(|(known, _)| *known == name.text);
        let mut found = FindingSink::default();
        let model = self.load_model(name, &options, &mut found);
        let model = model.and_then(|model| found.check().map(|()| model));
        for finding in found.finish() {
            // With other constants the same model gives the same warnings again, but it may have errors of
            // its own.
            let is_new = is_first || finding.is_error();
            if is_new {
                sink.push(at_instance(finding, name.span));
            }
        }
        self.loaded.insert(key, model.clone());
        model
    }

    /// Loads the model of this name: one of the same file, or the one that a `use` names.
    fn load_model(
        &self,
        name: &Name,
        options: &LoadOptions,
        sink: &mut FindingSink,
    ) -> Result<Model, Reported> {
        if let Some(local) = self.system.models.iter().find(|model| model.name.text == name.text) {
            return Ok(lower::lower_shared(local, self.shared, options, sink));
        }
        let Some(decl) = self.use_decls().find(|decl| decl.model.text == name.text) else {
            let here = self.system.models.iter().map(|model| model.name.text.as_str());
            let names: Vec<&str> =
                here.chain(self.use_decls().map(|decl| decl.model.text.as_str())).collect();
            let message = format!("there is no model `{}` here", name.text);
            let diagnostic = Diagnostic::new(Code::UnknownPart, name.span, message);
            let help =
                format!("name its file: `use {} from \"{}.iox\"`", name.text, name.text.to_lowercase());
            return Err(sink.report(suggest::suggest_nearest(diagnostic, name, names.into_iter()).help(help)));
        };
        self.import_model(decl, options, sink)
    }

    fn import_model(
        &self,
        decl: &UseDecl,
        options: &LoadOptions,
        sink: &mut FindingSink,
    ) -> Result<Model, Reported> {
        let own = &self.sources.file(self.file).name;
        let path = resolve_relative(own, &decl.path);
        let file = match self.sources.find(&path) {
            Ok(file) => file,
            Err(why) => {
                let message = format!("`{path}` cannot be read");
                let diagnostic = Diagnostic::new(Code::BadImport, decl.path_span, message);
                return Err(sink.report(match why {
                    Some(why) => diagnostic.note(why.to_owned()),
                    None => diagnostic.help("ioxide looks for the file next to this one"),
                }));
            }
        };
        // Before the file is loaded: systems are loaded by recursion, and one that uses itself would never
        // end.
        if depth_of(self.sources, file) > MAX_DEPTH {
            let message = format!("`{path}` is made of itself, or of too many systems in each other");
            return Err(sink.report(Diagnostic::new(Code::BadImport, decl.path_span, message)));
        }
        let mut findings = FindingSink::default();
        let model = crate::load_into(self.sources, file, options, &mut findings);
        findings.finish().into_iter().for_each(|finding| sink.push(finding));
        let model = model?;
        let found = model.sts.name.to_string();
        if found != decl.model.text {
            let message = format!("`{path}` holds `{found}`, not `{}`", decl.model.text);
            return Err(sink.report(
                Diagnostic::new(Code::BadImport, decl.model.span, message)
                    .help(format!("write `use {found} from \"{}\"`", decl.path))
                    .fix(decl.model.span, found),
            ));
        }
        Ok(model)
    }
}

/// Returns the nesting depth of systems below `file`; more than [`MAX_DEPTH`] if they use each other in a circle.
fn depth_of(sources: &Sources, file: FileId) -> usize {
    /// Every file is looked at once: `known` has the depths below it, `above` the files on the way to this one.
    fn depth_below(
        sources: &Sources,
        file: FileId,
        known: &mut BTreeMap<FileId, usize>,
        above: &mut Vec<FileId>,
    ) -> usize {
        if let Some(&depth) = known.get(&file) {
            return depth;
        }
        // A way that is too long makes the whole too deep, whatever is below its end.
        if above.contains(&file) || above.len() > MAX_DEPTH {
            return MAX_DEPTH + 1;
        }
        above.push(file);
        let mut depth = 0;
        for path in used_files(sources, file) {
            if let Ok(inner) = sources.find(&path) {
                depth = depth.max(1 + depth_below(sources, inner, known, above));
            }
        }
        above.pop();
        // Files at which the way was cut off are not remembered; then the whole is too deep anyway.
        known.insert(file, depth);
        depth
    }
    depth_below(sources, file, &mut BTreeMap::new(), &mut Vec::new())
}

/// Adds the place of the instance to a finding about the constants it sets.
fn at_instance(finding: Diagnostic, place: Span) -> Diagnostic {
    match finding.code {
        Code::UnknownConstant | Code::BadOverride => finding.label(place, "set for this part"),
        _ => finding,
    }
}
