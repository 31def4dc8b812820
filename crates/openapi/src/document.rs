//! A description: its references, its operations, its server.

use crate::BadDescription;
use crate::node::{SpecNode, pointer_step};

/// The HTTP methods of operations.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/// The number of references followed in a row. More is a circle; chosen by feel.
const MAX_HOPS: usize = 50;

/// An OpenAPI description of version 3.0 or 3.1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenApiDocument<'t> {
    pub(crate) root: &'t SpecNode,
}

/// One operation of a description.
#[derive(Clone, Debug)]
pub(crate) struct Operation<'t> {
    pub(crate) method: String,
    pub(crate) path: &'t str,
    pub(crate) node: &'t SpecNode,
    pub(crate) place: String,
    /// The parameters with their places; those of the operation replace those of its path.
    pub(crate) parameters: Vec<(&'t SpecNode, String)>,
    /// The places of parameters whose references do not resolve.
    pub(crate) lost: Vec<String>,
}

/// The operations of a description, and the places of path items whose references do not resolve.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundOperations<'t> {
    pub(crate) operations: Vec<Operation<'t>>,
    pub(crate) lost: Vec<String>,
}

/// The parameters of a path or operation, and the places of those whose references do not resolve.
type FoundParameters<'t> = (Vec<(&'t SpecNode, String)>, Vec<String>);

impl<'t> OpenApiDocument<'t> {
    /// Returns the description whose tree is `root`; fails for other versions.
    pub(crate) fn new(root: &'t SpecNode) -> Result<Self, BadDescription> {
        let version = root.get("openapi").map(SpecNode::to_json).unwrap_or_default();
        let version = version.trim_matches('"');
        if version.starts_with("3.0") || version.starts_with("3.1") {
            return Ok(Self { root });
        }
        Err(BadDescription::Version(match root.get("swagger") {
            Some(_) => "the only version of Swagger that is known is 2.0".into(),
            None if version.is_empty() => "the key `openapi` is missing".into(),
            None => format!("`openapi` is {version}"),
        }))
    }

    /// Returns the node that `node` refers to, and its place; the node itself if it is no reference. `None` if the
    /// reference leads to another file, nowhere, or in a circle.
    pub(crate) fn resolve_reference(
        &self,
        node: &'t SpecNode,
        place: &str,
    ) -> Option<(&'t SpecNode, String)> {
        let (mut node, mut place) = (node, place.to_owned());
        for _ in 0..MAX_HOPS {
            let Some(reference) = node.text_at("$ref") else { return Some((node, place)) };
            place = reference.strip_prefix('#')?.to_owned();
            node = self.root.at_pointer(&place)?;
        }
        None
    }

    /// Returns all operations, in the order of the file.
    pub(crate) fn operations(&self) -> FoundOperations<'t> {
        let mut found = FoundOperations::default();
        for (path, item) in self.root.get("paths").map(SpecNode::members).unwrap_or_default() {
            let place = format!("/paths{}", pointer_step(path));
            match self.resolve_reference(item, &place) {
                Some((item, place)) => found.operations.extend(self.path_operations(path, item, &place)),
                None => found.lost.push(place),
            }
        }
        found
    }

    fn path_operations(&self, path: &'t str, item: &'t SpecNode, place: &str) -> Vec<Operation<'t>> {
        let (common, lost_of_path) = self.collect_parameters(item, place);
        let key = |node: &SpecNode| {
            (node.text_at("name").map(str::to_owned), node.text_at("in").map(str::to_owned))
        };
        let operation = |(method, node): &'t (String, SpecNode)| {
            let place = format!("{place}/{method}");
            let (mut parameters, mut lost) = self.collect_parameters(node, &place);
            let own: Vec<_> = parameters.iter().map(|(node, _)| key(node)).collect();
            parameters.extend(common.iter().filter(|(node, _)| !own.contains(&key(node))).cloned());
            lost.extend(lost_of_path.iter().cloned());
            Operation { method: method.to_ascii_uppercase(), path, node, place, parameters, lost }
        };
        item.members().iter().filter(|(key, _)| METHODS.contains(&key.as_str())).map(operation).collect()
    }

    /// Returns whether requests need credentials, by the `security` of the operation or else of the whole description.
    pub(crate) fn needs_credentials(&self, operation: &Operation<'t>) -> bool {
        let wanted = operation.node.get("security").or_else(|| self.root.get("security"));
        let ways = wanted.map(SpecNode::items).unwrap_or_default();
        !ways.is_empty() && ways.iter().all(|way| !way.members().is_empty())
    }

    fn collect_parameters(&self, of: &'t SpecNode, place: &str) -> FoundParameters<'t> {
        let (mut found, mut lost) = (Vec::new(), Vec::new());
        let all = of.get("parameters").map(SpecNode::items).unwrap_or_default();
        for (at, node) in all.iter().enumerate() {
            let place = format!("{place}/parameters/{at}");
            match self.resolve_reference(node, &place) {
                Some(parameter) => found.push(parameter),
                None => lost.push(place),
            }
        }
        (found, lost)
    }

    /// Returns the address of the first server that has one, its variables replaced by their defaults.
    pub(crate) fn server_address(&self) -> Option<String> {
        let servers = self.root.get("servers").map(SpecNode::items).unwrap_or_default();
        let server = servers.iter().find(|server| server.text_at("url").is_some())?;
        let mut url = server.text_at("url")?.to_owned();
        for (name, variable) in server.get("variables").map(SpecNode::members).unwrap_or_default() {
            url = url.replace(&format!("{{{name}}}"), variable.text_at("default").unwrap_or_default());
        }
        Some(url)
    }
}
