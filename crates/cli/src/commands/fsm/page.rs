//! The HTML page of a machine, its tests and what they found.

use std::collections::BTreeMap;

use ioxide_fsm::mealy::Listing;
use ioxide_model::index::Idx;
use ioxide_report::graph::{Edge, Graph, Node, NodeId};
use ioxide_report::html::Page;
use ioxide_report::html::suite::{MAX_TESTS, Suite, SuiteTold};

use crate::exit::Stop;
use crate::write;

/// Writes the page.
pub fn save(path: &str, file: &str, listing: &Listing, told: SuiteTold) -> Result<(), Stop> {
    let told = SuiteTold { machine: file.to_owned(), ..told };
    let page = Page { suite: Some(Suite::new(graph(file, listing), told)), ..Page::default() };
    write::named(path, |out| page.write(out))
}

/// Adds a test while there is room.
pub fn add(told: &mut SuiteTold, word: impl FnOnce() -> String) {
    if told.tests.len() < MAX_TESTS { told.tests.push(word()) } else { told.unlisted += 1 }
}

/// The machine, its states in order of appearance.
fn graph(title: &str, listing: &Listing) -> Graph {
    let mut ids: BTreeMap<&str, NodeId> = BTreeMap::new();
    let mut nodes: Vec<Node> = Vec::new();
    let ends = listing.rows.iter().flat_map(|row| [&row.from, &row.to]);
    for name in [&listing.initial].into_iter().chain(ends) {
        ids.entry(name).or_insert_with(|| {
            nodes.push(Node { initial: *name == listing.initial, ..Node::named(name) });
            NodeId::new(nodes.len() - 1)
        });
    }
    let edges = listing.rows.iter().filter_map(|row| {
        let (from, to) = (ids.get(row.from.as_str())?, ids.get(row.to.as_str())?);
        Some(Edge::plain(*from, *to, &format!("{}/{}", row.input, row.output)))
    });
    Graph::new(title, nodes, edges).expect("both ends of an edge are among the nodes")
}
