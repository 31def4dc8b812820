//! The model as the page sees it: its picture, and the details of every switch.

use ioxide_model::index::Idx;
use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateId, Model, Switch};
use ioxide_model::term::{TermPool, VarId};
use ioxide_report::describe::{describe_switch, kind_word};
use ioxide_report::graph::PictureGraph;
use ioxide_report::svg::{PictureUse, SvgConfig, draw_svg};
use serde::Serialize;

use super::{VERSION, bounded_text};

/// The greatest number of switches of a model that is drawn: a larger picture is unreadable and takes a minute to make.
const MAX_DRAWN: usize = 3_000;

/// A model.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelView {
    version: u32,
    /// The revision of the text that it is the model of; 0 for the model given at start.
    pub revision: u32,
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Its doc comment.
    pub doc: String,
    /// Its picture as SVG; empty if the model is too large.
    pub svg: String,
    /// True if the model has clocks.
    pub timed: bool,
    /// Its locations.
    pub locations: Vec<LocationView>,
    /// Its switches.
    pub switches: Vec<SwitchView>,
    /// Its messages.
    pub gates: Vec<GateView>,
}

/// A location.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LocationView {
    name: String,
    doc: String,
}

/// A switch.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SwitchView {
    label: String,
    from: usize,
    to: usize,
    kind: &'static str,
    message: String,
    guard: Vec<String>,
    updates: Vec<String>,
    doc: String,
    reqs: Vec<String>,
    /// The file of the switch: that of a part in a system.
    file: String,
    /// The line of the switch in its file, from 1.
    line: usize,
    /// The source text of the switch.
    source: String,
}

/// A message.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GateView {
    name: String,
    kind: &'static str,
    fields: Vec<FieldView>,
}

/// A field of a message, and the form in which its values are entered.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FieldView {
    name: String,
    sort: String,
    form: TypedForm,
    /// The values of an enum; empty for other sorts.
    options: Vec<String>,
}

/// The form in which a value is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum TypedForm {
    /// A check box.
    Bool,
    /// A whole number.
    Int,
    /// A decimal number or a fraction.
    Real,
    /// A text.
    String,
    /// A choice among names.
    Enum,
    /// A value in the notation of the modelling language.
    Data,
}

impl ModelView {
    /// Returns the view of `model`, which is that of a revision of the text.
    #[must_use]
    pub fn new(model: &Model, sources: &Sources, revision: u32) -> Self {
        let sts = &model.sts;
        let config = SvgConfig { form: PictureUse::Inline, ..SvgConfig::default() };
        let is_drawn = sts.switches.len() <= MAX_DRAWN;
        let location = |location: &ioxide_model::sts::Location| LocationView {
            // The page finds a location in the picture by its name as it is.
            name: location.name.to_string(),
            doc: bounded_text(&location.doc),
        };
        // The first text is the one the explorer was started on; the others are those it refers to.
        let file = sources.iter().next().map(|file| file.name.clone());
        Self {
            version: VERSION,
            revision,
            name: bounded_text(&sts.name),
            file: bounded_text(&file.unwrap_or_default()),
            doc: bounded_text(&sts.doc),
            svg: if is_drawn { draw_svg(&PictureGraph::from_model(model), config) } else { String::new() },
            timed: sts.is_timed(),
            locations: sts.locations.iter().map(location).collect(),
            switches: sts.switches.iter().map(|switch| switch_view(model, sources, switch)).collect(),
            gates: sts.gates.iter_enumerated().skip(1).map(|(id, _)| gate_view(model, id)).collect(),
        }
    }
}

fn switch_view(model: &Model, sources: &Sources, switch: &Switch) -> SwitchView {
    let text = describe_switch(model, switch);
    let updates = text.updates.iter().map(|(var, value)| format!("{var} := {value}"));
    let resets = text.resets.iter().map(|clock| format!("reset {clock}"));
    SwitchView {
        label: bounded_text(&text.label),
        from: switch.source.index(),
        to: switch.target.index(),
        kind: kind_word(model.sts.kind_of(switch)),
        message: bounded_text(&text.message),
        guard: text.guard.iter().map(|part| bounded_text(part)).collect(),
        updates: updates.chain(resets).map(|part| bounded_text(&part)).collect(),
        doc: bounded_text(&switch.doc),
        reqs: switch.reqs.iter().map(|req| bounded_text(req)).collect(),
        file: bounded_text(&sources.file(switch.span.file).name),
        line: sources.line_column(switch.span).line,
        source: bounded_text(sources.slice(switch.span)),
    }
}

fn gate_view(model: &Model, id: GateId) -> GateView {
    let gate = &model.sts.gates[id];
    GateView {
        name: bounded_text(&gate.name),
        kind: kind_word(gate.kind),
        fields: gate.fields.iter().map(|&field| FieldView::new(&model.pool, field)).collect(),
    }
}

impl FieldView {
    /// Returns the view of `field`.
    #[must_use]
    pub fn new(pool: &TermPool, field: VarId) -> Self {
        let info = pool.var_info(field);
        let (form, options) = typed_form(pool, info.sort);
        Self { name: bounded_text(&info.name), sort: bounded_text(&pool.show_sort(info.sort)), form, options }
    }
}

fn typed_form(pool: &TermPool, sort: Sort) -> (TypedForm, Vec<String>) {
    match sort {
        Sort::Bool => (TypedForm::Bool, Vec::new()),
        Sort::Int | Sort::Range { .. } => (TypedForm::Int, Vec::new()),
        Sort::Real => (TypedForm::Real, Vec::new()),
        Sort::Str => (TypedForm::String, Vec::new()),
        Sort::Collection(_) => (TypedForm::Data, Vec::new()),
        Sort::Data(data) => match pool.data(data) {
            data if data.kind == DataKind::Enum && data.is_enumeration() => {
                (TypedForm::Enum, data.ctors.iter().map(|ctor| ctor.name.to_string()).collect())
            }
            _ => (TypedForm::Data, Vec::new()),
        },
    }
}
