//! The HTML page of a machine, its tests and what they found.

use std::collections::BTreeMap;

use ioxide_fsm::mealy::MachineListing;
use ioxide_model::index::Idx;
use ioxide_report::graph::{GraphEdge, GraphNode, GraphNodeId, PictureGraph};
use ioxide_report::html::ReportPage;
use ioxide_report::html::suite::{MAX_TESTS, SuitePage, SuiteView};

use crate::exit::CliError;
use crate::write;

/// Writes the page.
pub fn save(path: &str, file: &str, listing: &MachineListing, view: SuiteView) -> Result<(), CliError> {
    let view = SuiteView { machine: file.to_owned(), ..view };
    let page =
        ReportPage { suite: Some(SuitePage::new(graph(file, listing), view)), ..ReportPage::default() };
    write::write_named(path, |out| page.write(out))
}

/// Adds a test while there is room.
pub fn add_word(view: &mut SuiteView, word: impl FnOnce() -> String) {
    if view.tests.len() < MAX_TESTS { view.tests.push(word()) } else { view.unlisted += 1 }
}

/// The machine, its states in order of appearance.
fn graph(title: &str, listing: &MachineListing) -> PictureGraph {
    let mut ids: BTreeMap<&str, GraphNodeId> = BTreeMap::new();
    let mut nodes: Vec<GraphNode> = Vec::new();
    let ends = listing.rows.iter().flat_map(|row| [&row.from, &row.to]);
    for name in [&listing.initial].into_iter().chain(ends) {
        ids.entry(name).or_insert_with(|| {
            nodes.push(GraphNode { initial: *name == listing.initial, ..GraphNode::new(name) });
            GraphNodeId::new(nodes.len() - 1)
        });
    }
    let edges = listing.rows.iter().filter_map(|row| {
        let (from, to) = (ids.get(row.from.as_str())?, ids.get(row.to.as_str())?);
        Some(GraphEdge::with_text(*from, *to, &format!("{}/{}", row.input, row.output)))
    });
    PictureGraph::new(title, nodes, edges).expect("both ends of an edge are among the nodes")
}
