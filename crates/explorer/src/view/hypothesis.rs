//! The picture of a hypothesis, with its differences from the one before.
//!
//! A state is new if no state before had its key. A move is new if before there was none with the same texts between
//! states with the same keys; so a move whose target has changed is new, and the old one is gone.

use std::collections::BTreeSet;

use ioxide_learn::drawing::{DrawnMove, DrawnState, HypothesisDrawing};
use ioxide_model::index::Idx;
use ioxide_report::graph::{EdgeLine, GraphEdge, GraphNode, GraphNodeId, LinePart, PictureGraph};
use ioxide_report::svg::{PictureUse, SvgConfig, draw_svg};
use serde::Serialize;

use super::{VERSION, bounded_text};

/// The greatest number of moves of a hypothesis that is drawn. Chosen by feel: a larger picture cannot be read.
const MAX_DRAWN: usize = 1_000;
/// The number of new moves that are listed. Chosen by feel, for one screen.
const MAX_LISTED: usize = 40;
/// The style class of new states and moves.
const NEW: &str = "new";

/// A hypothesis and its picture.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HypothesisView {
    version: u32,
    /// The number of the picture; 0 if there is none yet.
    picture: usize,
    /// The number of the hypothesis.
    hypothesis: usize,
    /// The number of the hypothesis it is compared with; `None` for the first.
    before: Option<usize>,
    svg: String,
    /// The reason why there is no picture; empty if there is one.
    missing: String,
    states: usize,
    moves: usize,
    /// The names of the new states.
    new_states: Vec<String>,
    n_new_moves: usize,
    new_moves: Vec<NewMoveView>,
    /// The number of moves of the hypothesis before that are gone.
    n_gone: usize,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct NewMoveView {
    from: String,
    to: String,
    text: String,
}

/// The key of a move: the key of its source, its text, guard and updates, and the key of its target.
type MoveKey<'d> = (&'d str, &'d str, &'d str, &'d str, &'d str);

impl HypothesisView {
    /// Returns the view before the first hypothesis.
    pub(crate) fn empty() -> Self {
        Self::new(0, &HypothesisDrawing::default(), None)
    }

    /// Returns picture number `picture`: `drawing`, compared with the hypothesis `before` it.
    pub(crate) fn new(
        picture: usize,
        drawing: &HypothesisDrawing,
        before: Option<&HypothesisDrawing>,
    ) -> Self {
        let known_states: BTreeSet<&str> =
            before.iter().flat_map(|it| &it.states).map(|it| &*it.key).collect();
        let known_moves = before.map(move_keys).unwrap_or_default();
        let is_new_state = |state: &DrawnState| before.is_some() && !known_states.contains(&*state.key);
        let is_new_move = |drawn: &DrawnMove| {
            before.is_some() && move_key(drawing, drawn).is_none_or(|key| !known_moves.contains(&key))
        };
        let new_moves: Vec<&DrawnMove> = drawing.moves.iter().filter(|it| is_new_move(it)).collect();
        let now_moves = move_keys(drawing);
        let missing = missing_text(picture, drawing);
        let drawn = if missing.is_empty() {
            draw_hypothesis(drawing, is_new_state, is_new_move)
        } else {
            String::new()
        };
        Self {
            version: VERSION,
            picture,
            hypothesis: drawing.number,
            before: before.map(|before| before.number),
            missing: if missing.is_empty() && drawn.is_empty() {
                "it cannot be drawn".into()
            } else {
                missing
            },
            svg: drawn,
            states: drawing.states.len(),
            moves: drawing.moves.len(),
            new_states: drawing
                .states
                .iter()
                .filter(|it| is_new_state(it))
                .map(|it| bounded_text(&it.name))
                .collect(),
            n_new_moves: new_moves.len(),
            new_moves: new_moves.iter().take(MAX_LISTED).map(|it| new_move_view(drawing, it)).collect(),
            n_gone: known_moves.iter().filter(|key| !now_moves.contains(*key)).count(),
        }
    }

    /// Returns the number of the picture.
    pub(crate) fn number(&self) -> usize {
        self.picture
    }
}

fn missing_text(picture: usize, drawing: &HypothesisDrawing) -> String {
    match drawing.moves.len() {
        _ if picture == 0 => "there is no hypothesis yet".into(),
        n if n > MAX_DRAWN => {
            format!("{} states and {n} moves are too many for a picture", drawing.states.len())
        }
        _ => String::new(),
    }
}

fn move_keys(drawing: &HypothesisDrawing) -> BTreeSet<MoveKey<'_>> {
    drawing.moves.iter().filter_map(|it| move_key(drawing, it)).collect()
}

fn move_key<'d>(drawing: &'d HypothesisDrawing, drawn: &'d DrawnMove) -> Option<MoveKey<'d>> {
    let (from, to) = (drawing.states.get(drawn.from)?, drawing.states.get(drawn.to)?);
    Some((&from.key, &drawn.text, &drawn.guard, &drawn.updates, &to.key))
}

fn new_move_view(drawing: &HypothesisDrawing, drawn: &DrawnMove) -> NewMoveView {
    let name = |at: usize| drawing.states.get(at).map_or_else(String::new, |state| bounded_text(&state.name));
    NewMoveView { from: name(drawn.from), to: name(drawn.to), text: bounded_text(&drawn.text) }
}

fn draw_hypothesis(
    drawing: &HypothesisDrawing,
    is_new_state: impl Fn(&DrawnState) -> bool,
    is_new_move: impl Fn(&DrawnMove) -> bool,
) -> String {
    let class = |is_new: bool| if is_new { NEW.to_owned() } else { String::new() };
    let node = |(at, state): (usize, &DrawnState)| {
        let mut name = bounded_text(&state.name);
        if !state.variables.is_empty() {
            name = format!("{name} ({})", bounded_text(&state.variables.join(", ")));
        }
        GraphNode { initial: at == 0, class: class(is_new_state(state)), ..GraphNode::new(&name) }
    };
    let edge = |drawn: &DrawnMove| {
        let is_new = is_new_move(drawn);
        let text = format!("{}{}", if is_new { "+ " } else { "" }, bounded_text(&drawn.text));
        let (from, to) = (GraphNodeId::new(drawn.from), GraphNodeId::new(drawn.to));
        let mut edge = GraphEdge { class: class(is_new), ..GraphEdge::with_text(from, to, &text) };
        for (part, text) in [(LinePart::Guard, &drawn.guard), (LinePart::Update, &drawn.updates)] {
            if !text.is_empty() {
                edge.lines.push(EdgeLine { part, text: bounded_text(text) });
            }
        }
        edge
    };
    let title = format!("hypothesis {}", drawing.number);
    let graph = PictureGraph::new(
        &title,
        drawing.states.iter().enumerate().map(node),
        drawing.moves.iter().map(edge),
    );
    let config = SvgConfig { form: PictureUse::Inline, ..SvgConfig::default() };
    graph.map_or_else(|_| String::new(), |graph| draw_svg(&graph.bundle_edges(), config))
}
