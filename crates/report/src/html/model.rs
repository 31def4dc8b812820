//! The model as the page shows it: its picture, and every switch with its source.

use ioxide_model::index::IndexVec;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Location, Model, Sts, Switch, SwitchId};
use ioxide_testgen::purpose::{PurposeItem, PurposeSet};
use serde::Serialize;

use crate::control_characters::{excerpt, show_control_characters};
use crate::describe::{describe_switch, kind_word};
use crate::graph::PictureGraph;
use crate::svg::{PictureUse, SvgConfig, draw_svg};

/// The number of characters of a source text. Chosen by feel, for one screen.
const MAX_SOURCE: usize = 2_000;
/// The number of edges above which the picture shows only the names of switches. Chosen by eye: with labels in full a
/// larger picture becomes wider than it is readable.
const MAX_DRAWN_IN_FULL: usize = 400;

/// Reachability of a switch, known before any test: a priori coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchReach {
    /// Some test purpose takes the switch.
    Reached,
    /// It was proved that no trace takes the switch, for this reason.
    Never(String),
    /// Reachability is unknown, for this reason.
    Open(String),
}

impl SwitchReach {
    /// Returns the reachability of every switch, as far as the search for purposes of all switches knows.
    #[must_use]
    pub fn from_purposes(sts: &Sts, set: &PurposeSet) -> IndexVec<SwitchId, Self> {
        let covered = set.covered_items();
        let reach = |id: SwitchId| {
            let item = PurposeItem::Switch(id);
            if covered.contains(&item) {
                return Self::Reached;
            }
            match set.unreached.iter().find(|unreached| unreached.item == item) {
                None => Self::Open("it is on no purpose".into()),
                Some(unreached) if unreached.why.is_proof() => Self::Never(unreached.why.to_string()),
                Some(unreached) => Self::Open(unreached.why.to_string()),
            }
        };
        sts.switches.ids().map(reach).collect()
    }
}

/// A model as the page shows it.
pub struct ModelPart {
    /// Its name.
    pub name: String,
    /// Its picture, as SVG.
    pub picture: String,
    /// The model in the JSON document.
    pub(super) view: ModelShown,
}

impl ModelPart {
    /// Describes `model`, written in `file` of `sources`; `reach` holds its a priori coverage, if it was computed.
    #[must_use]
    pub fn new(
        model: &Model,
        sources: &Sources,
        file: &str,
        reach: Option<&IndexVec<SwitchId, SwitchReach>>,
    ) -> Self {
        let sts = &model.sts;
        let switch = |(id, switch): (SwitchId, &Switch)| {
            SwitchShown::new(model, sources, switch, reach.and_then(|reach| reach.get(id)))
        };
        let location = |location: &Location| LocationShown {
            name: location.name.to_string(),
            doc: location.doc.clone(),
        };
        let gates = sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal);
        let view = ModelShown {
            name: sts.name.to_string(),
            doc: sts.doc.clone(),
            file: file.to_owned(),
            initial: sts.locations.get(sts.initial).map(|location| location.name.to_string()),
            is_timed: sts.is_timed(),
            switches: sts.switches.iter_enumerated().map(switch).collect(),
            locations: sts.locations.iter().map(location).collect(),
            gates: gates
                .map(|gate| (gate.name.to_string(), kind_word(gate.kind), gate.doc.clone()))
                .collect(),
        };
        Self { name: show_control_characters(&sts.name), picture: draw_model(model), view }
    }
}

/// Returns the picture of a model; of a large one, with the names of switches instead of their texts.
#[must_use]
pub fn draw_model(model: &Model) -> String {
    let graph = PictureGraph::from_model(model);
    let graph = if graph.edges().len() > MAX_DRAWN_IN_FULL { graph.with_short_lines() } else { graph };
    draw_svg(&graph, SvgConfig { direction: None, form: PictureUse::Inline })
}

/// A model in the JSON document.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ModelShown {
    name: String,
    doc: String,
    file: String,
    initial: Option<String>,
    is_timed: bool,
    switches: Vec<SwitchShown>,
    locations: Vec<LocationShown>,
    /// The name of each message, its kind, and its doc comment.
    gates: Vec<(String, &'static str, String)>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct LocationShown {
    name: String,
    doc: String,
}

/// A switch with its source.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct SwitchShown {
    label: String,
    from: String,
    to: String,
    kind: &'static str,
    message: String,
    guard: Vec<String>,
    range: Vec<String>,
    updates: Vec<String>,
    resets: Vec<String>,
    file: Option<String>,
    line: Option<usize>,
    source: String,
    doc: String,
    reqs: Vec<String>,
    reach: Option<ReachWord>,
    /// The reason why the switch is unreachable, or its reachability unknown.
    why: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
enum ReachWord {
    Reached,
    Never,
    Open,
}

impl SwitchShown {
    /// Makes the view of a switch; `reach` says whether it can be taken at all, if that was analysed.
    fn new(model: &Model, sources: &Sources, switch: &Switch, reach: Option<&SwitchReach>) -> Self {
        let sts = &model.sts;
        let text = describe_switch(model, switch);
        let source = sources.slice(switch.span);
        let place = (!source.is_empty()).then(|| sources.line_column(switch.span));
        let (word, why) = match reach {
            Some(SwitchReach::Reached) => (Some(ReachWord::Reached), None),
            Some(SwitchReach::Never(why)) => (Some(ReachWord::Never), Some(why.clone())),
            Some(SwitchReach::Open(why)) => (Some(ReachWord::Open), Some(why.clone())),
            None => (None, None),
        };
        Self {
            label: switch.label.to_string(),
            from: sts.locations[switch.source].name.to_string(),
            to: sts.locations[switch.target].name.to_string(),
            kind: kind_word(sts.kind_of(switch)),
            message: text.message,
            guard: text.guard,
            range: text.range,
            updates: text.updates.iter().map(|(var, value)| format!("{var} := {value}")).collect(),
            resets: text.resets,
            file: place.map(|_| sources.file(switch.span.file).name.clone()),
            line: place.map(|place| place.line),
            source: shorten_source(source),
            doc: switch.doc.clone(),
            reqs: switch.reqs.iter().map(|req| req.to_string()).collect(),
            reach: word,
            why,
        }
    }
}

/// A source text of bounded length, its lines kept.
fn shorten_source(source: &str) -> String {
    let lines: Vec<String> = source.lines().map(|line| excerpt(line, MAX_SOURCE)).collect();
    let text = lines.join("\n");
    match text.char_indices().nth(MAX_SOURCE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
