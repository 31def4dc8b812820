//! Lowering: syntax tree to transition system; each switch keeps its span.
//!
//! - The first state is the initial one. A model without states has one, called after the
//!   model. Transitions of `any` are copied to every state, behind the state's own.
//! - A switch is named by its label. A copy of an `any` transition is `label@state` (just
//!   `label` if there is one state). Without a label the name is made from the place:
//!   `state#2` is the second transition of `state`, `any#1@state` a copy.
//! - The guard of a switch is the written guard, the pins as equations, and the conditions
//!   that keep values in their ranges.

pub(crate) mod action;
mod define;
mod goal;
mod switch;

use std::rc::Rc;
use std::sync::Arc;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::index::{Idx, IndexVec};
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::sts::{LocId, Location, Model, Sts, SwitchId};
use ioxide_model::term::VarId;

use crate::ast::{AttrKind, DeclMeta, ItemKind, ModelDecl, ModelItem, Name};
use crate::lint;
use crate::sink::{FindingSink, Reported};
use crate::typeck::{Checker, DeclaredItem, GateItem, PartNames, ValueItem};
use crate::{LintLevel, LoadOptions};

/// The greatest number of switches, copies of `any` transitions included. Chosen by feel: it bounds the memory that a
/// short text can ask for.
const MAX_SWITCHES: usize = 1_000_000;

/// Returns the model that `decl` describes with the declarations that it shares with others; meaningful only if `sink`
/// has no errors.
pub(crate) fn lower_shared(
    decl: &ModelDecl,
    shared: &[ModelItem],
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Model {
    if shared.is_empty() {
        return lower(decl, options, options.lint_level(), sink);
    }
    let items = shared.iter().chain(&decl.items).cloned().collect();
    let whole = ModelDecl { items, ..decl.clone() };
    let mut findings = FindingSink::default();
    let model = lower(&whole, options, options.lint_level(), &mut findings);
    // What this model does not use, another one may.
    let is_shared = |finding: &Diagnostic| {
        let is_in = |item: &ModelItem| {
            let (whole, part) = (item.span, finding.span);
            whole.file == part.file && whole.start <= part.start && part.end <= whole.end
        };
        !finding.is_error() && shared.iter().any(is_in)
    };
    findings.finish().into_iter().filter(|it| !is_shared(it)).for_each(|finding| sink.push(finding));
    model
}

/// Returns the model that `decl` describes; meaningful only if `sink` has no errors.
pub(crate) fn lower(
    decl: &ModelDecl,
    options: &LoadOptions,
    lints: LintLevel,
    sink: &mut FindingSink,
) -> Model {
    let mut lowering = define_declarations(decl, options, sink);
    lowering.declare_states(&decl.items);
    lowering.lower_transitions(&decl.items);
    lowering.lower_goals(&decl.items);
    lowering.check_overrides(&decl.items, decl.name.span);
    if lints == LintLevel::On && !lowering.cx.sink.has_errors() {
        let findings = lint::check_model(decl, &lowering.sts, &lowering.cx);
        findings.into_iter().for_each(|finding| lowering.cx.sink.push(finding));
    }
    let Lowering { sts, cx, .. } = lowering;
    Model { pool: cx.pool, sts }
}

/// Defines the declarations of `decl` other than states and transitions.
fn define_declarations<'a, 's>(
    decl: &'a ModelDecl,
    options: &'a LoadOptions,
    sink: &'s mut FindingSink,
) -> Lowering<'a, 's> {
    let sts = Sts::new(&decl.name.text, &decl.name.text, decl.name.span);
    let mut lowering = Lowering::new(sts, Checker::new(sink), options);
    lowering.sts.doc = doc(&decl.meta);
    decl.broken.iter().for_each(|(name, why)| lowering.cx.sink.excuse(name, *why));
    lowering.define_all(&decl.items);
    lowering
}

/// The names that the goals of a system may use.
pub(crate) struct GoalNames<'a> {
    pub(crate) values: Vec<(&'a Name, ValueItem)>,
    pub(crate) types: Vec<(&'a Name, Sort)>,
    pub(crate) gates: Vec<(&'a Name, Rc<GateItem>)>,
    pub(crate) labels: Vec<(&'a Name, SwitchId)>,
    pub(crate) parts: Rc<[PartNames]>,
}

/// Adds the goals among `items` to `model`, a system made of parts.
pub(crate) fn with_goals<'a>(
    model: Model,
    names: GoalNames<'a>,
    items: &'a [ModelItem],
    sink: &mut FindingSink,
) -> Model {
    let options = LoadOptions::default();
    let mut lowering = Lowering::new(model.sts, Checker::new(sink), &options);
    let Lowering { cx, labels, .. } = &mut lowering;
    (cx.pool, cx.parts) = (model.pool, names.parts);
    names.values.into_iter().for_each(|(name, item)| cx.values.declare(cx.sink, name, item));
    names
        .types
        .into_iter()
        .for_each(|(name, sort)| cx.types.declare(cx.sink, name, DeclaredItem::Defined(sort)));
    names.gates.into_iter().for_each(|(name, gate)| cx.gates.declare(cx.sink, name, gate));
    names.labels.into_iter().for_each(|(name, switch)| labels.declare(cx.sink, name, Ok(switch)));
    lowering.lower_goals(items);
    let Lowering { sts, cx, .. } = lowering;
    Model { pool: cx.pool, sts }
}

/// A name in the body of an action.
struct LocalName {
    name: String,
    /// The variable; `None` if the name cannot be assigned.
    var: Option<VarId>,
}

/// A system under construction.
pub(crate) struct Lowering<'a, 's> {
    pub(crate) sts: Sts,
    pub(crate) cx: Checker<'a, 's>,
    options: &'a LoadOptions,
    /// The labels as written, with the switches they name.
    labels: crate::resolve::NameTable<'a, Result<SwitchId, Reported>>,
    /// The switches of labelled `any` transitions: the first copy of each.
    any_labels: rustc_hash::FxHashMap<&'a str, Vec<SwitchId>>,
    /// The names that the body of an action declares, the innermost last.
    locals: Vec<LocalName>,
    /// True for an action system, in which statements can follow each other.
    is_action_system: bool,
}

impl<'a, 's> Lowering<'a, 's> {
    /// Makes a system to which nothing is lowered yet; `sts` is empty but for what the caller put there.
    fn new(sts: Sts, cx: Checker<'a, 's>, options: &'a LoadOptions) -> Self {
        let (labels, any_labels) =
            (crate::resolve::NameTable::new("label"), rustc_hash::FxHashMap::default());
        Self { sts, cx, options, labels, any_labels, locals: Vec::new(), is_action_system: false }
    }

    /// Declares the states; a model without states keeps its implicit one.
    fn declare_states(&mut self, items: &'a [ModelItem]) {
        let mut locations: IndexVec<LocId, Location> = IndexVec::new();
        for item in items {
            let ItemKind::State(state) = &item.kind else { continue };
            let name = &state.name;
            let known = self.cx.states.get(&name.text).is_some();
            self.cx.states.declare(self.cx.sink, name, locations.next_id());
            if !known {
                locations.push(Location {
                    name: name.text.as_str().into(),
                    span: name.span,
                    doc: doc(&item.meta),
                });
            }
        }
        if !locations.is_empty() {
            self.sts.locations = locations;
        }
        self.sts.initial = LocId::new(0);
    }

    /// Reports overrides of constants that the model does not have.
    fn check_overrides(&mut self, items: &'a [ModelItem], span: Span) {
        let constants = || {
            items.iter().filter_map(|item| match &item.kind {
                ItemKind::Const(decl) => Some(decl.name.text.as_str()),
                _ => None,
            })
        };
        let given = self.options.part_constants.iter().map(|constant| &constant.name);
        for name in self.options.overrides.iter().map(|(name, _)| name).chain(given) {
            if !constants().any(|constant| constant == name) {
                self.cx.sink.error(|| unknown_constant(name, span, constants()));
            }
        }
    }

    /// Reports at `span` if the system cannot have `more` switches.
    fn room_for(&mut self, more: usize, span: Span) -> Result<(), Reported> {
        if self.sts.switches.len().saturating_add(more) <= MAX_SWITCHES {
            return Ok(());
        }
        Err(self.cx.sink.error(|| {
            let message = format!("the model has more than {MAX_SWITCHES} transitions");
            Diagnostic::new(Code::TooManySwitches, span, message)
                .note("transitions of `any` are copied to every state")
        }))
    }
}

/// The finding that there is no constant `name` to override.
pub(crate) fn unknown_constant<'n>(
    name: &str,
    span: Span,
    names: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::new(Code::UnknownConstant, span, format!("there is no constant `{name}` to set"));
    let names: Vec<&str> = names.collect();
    match ioxide_model::suggest::nearest_name(name, names.iter().copied()) {
        Some(best) => diagnostic.help(format!("did you mean `{best}`?")),
        None if names.is_empty() => diagnostic.help("this model has no constants"),
        None => diagnostic.help(format!("its constants are `{}`", names.join("`, `"))),
    }
}

/// The doc comment of `meta` as one text.
fn doc(meta: &DeclMeta) -> String {
    meta.docs.join("\n")
}

/// The requirements of `meta`.
fn reqs(meta: &DeclMeta) -> Vec<Arc<str>> {
    let texts = meta.attrs.iter().filter_map(|attr| match &attr.kind {
        AttrKind::Req(text) => Some(text.as_str().into()),
        AttrKind::Weight(_) => None,
    });
    texts.collect()
}
