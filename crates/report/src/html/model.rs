//! The model as the page shows it: its picture, and every switch with its source.

use ioxide_model::index::IndexVec;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model, Switch, SwitchId};
use serde_json::{Value as Json, json};

use crate::control_characters::{excerpt, show_control_characters};
use crate::describe::{describe, kind_word};
use crate::graph::PictureGraph;
use crate::svg::{PictureUse, SvgConfig, svg};

/// Characters of a source text.
const MAX_SOURCE: usize = 2_000;
/// Above this many switches the lines of the picture have names only.
const MAX_DRAWN_IN_FULL: usize = 400;

/// Whether a switch can be taken at all: a priori coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchReach {
    /// A purpose takes it.
    Reached,
    /// It was proved that nothing takes it, for this reason.
    Never(String),
    /// It is not known, for this reason.
    Open(String),
}

/// A model as the page shows it.
pub struct ModelPart {
    /// Its name.
    pub name: String,
    /// Its picture, as SVG.
    pub picture: String,
    /// The document's part on it.
    pub json: Json,
}

impl ModelPart {
    /// `model`, written in `file` of `sources`; `reach` says what is known a priori.
    #[must_use]
    pub fn new(
        model: &Model,
        sources: &Sources,
        file: &str,
        reach: Option<&IndexVec<SwitchId, SwitchReach>>,
    ) -> Self {
        let sts = &model.sts;
        let switch = |(id, switch): (SwitchId, &Switch)| {
            switch_json(model, sources, switch, reach.and_then(|reach| reach.get(id)))
        };
        let location =
            |location: &ioxide_model::sts::Location| json!({ "name": *location.name, "doc": location.doc });
        let gates = sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal);
        let gate = |gate: &ioxide_model::sts::Gate| json!([*gate.name, kind_word(gate.kind), gate.doc]);
        let json = json!({
            "name": *sts.name, "doc": sts.doc, "file": file,
            "initial": sts.locations.get(sts.initial).map(|location| &*location.name),
            "is_timed": sts.is_timed(),
            "switches": sts.switches.iter_enumerated().map(switch).collect::<Vec<_>>(),
            "locations": sts.locations.iter().map(location).collect::<Vec<_>>(),
            "gates": gates.map(gate).collect::<Vec<_>>(),
        });
        Self { name: show_control_characters(&sts.name), picture: picture(model), json }
    }
}

/// The picture of a model; of a large one, with the names of switches instead of their texts.
#[must_use]
pub fn picture(model: &Model) -> String {
    let graph = PictureGraph::of(model);
    let graph = if graph.edges().len() > MAX_DRAWN_IN_FULL { graph.with_short_lines() } else { graph };
    svg(&graph, SvgConfig { direction: None, form: PictureUse::Inline })
}

fn switch_json(model: &Model, sources: &Sources, switch: &Switch, reach: Option<&SwitchReach>) -> Json {
    let sts = &model.sts;
    let text = describe(model, switch);
    let source = sources.slice(switch.span);
    let place = (!source.is_empty()).then(|| sources.line_column(switch.span));
    let (word, why) = match reach {
        Some(SwitchReach::Reached) => (Some("reached"), None),
        Some(SwitchReach::Never(why)) => (Some("never"), Some(why)),
        Some(SwitchReach::Open(why)) => (Some("open"), Some(why)),
        None => (None, None),
    };
    let updates: Vec<String> = text.updates.iter().map(|(var, value)| format!("{var} := {value}")).collect();
    json!({
        "label": *switch.label,
        "from": *sts.locations[switch.source].name, "to": *sts.locations[switch.target].name,
        "kind": kind_word(sts.kind_of(switch)), "message": text.message,
        "guard": text.guard, "range": text.range, "updates": updates, "resets": text.resets,
        "file": place.map(|_| sources.file(switch.span.file).name.as_str()),
        "line": place.map(|place| place.line),
        "source": shortened(source), "doc": switch.doc, "reqs": switch.reqs.iter().map(|req| &**req).collect::<Vec<_>>(),
        "reach": word, "why": why,
    })
}

/// A source text of bounded length, its lines kept.
fn shortened(source: &str) -> String {
    let lines: Vec<String> = source.lines().map(|line| excerpt(line, MAX_SOURCE)).collect();
    let text = lines.join("\n");
    match text.char_indices().nth(MAX_SOURCE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
