//! A description: its references, its operations, its server.

use crate::BadDescription;
use crate::node::{SpecNode, step};

/// The HTTP methods of operations.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/// The number of references followed in a row.
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
}

impl<'t> OpenApiDocument<'t> {
    /// Returns the description whose tree is `root`; fails for other versions.
    pub(crate) fn new(root: &'t SpecNode) -> Result<Self, BadDescription> {
        let version = root.get("openapi").map(SpecNode::json).unwrap_or_default();
        let version = version.trim_matches('"');
        if version.starts_with("3.0") || version.starts_with("3.1") {
            return Ok(Self { root });
        }
        Err(BadDescription::Version(match root.get("swagger") {
            Some(_) => "it is Swagger 2.0; convert it first, as with `npx swagger2openapi`".into(),
            None if version.is_empty() => "the key `openapi` is missing".into(),
            None => format!("`openapi` is {version}"),
        }))
    }

    /// Returns the node that `node` refers to, and its place; the node itself if it is no reference. `None` if the
    /// reference leads to another file, nowhere, or in a circle.
    pub(crate) fn resolved(&self, node: &'t SpecNode, place: &str) -> Option<(&'t SpecNode, String)> {
        let (mut node, mut place) = (node, place.to_owned());
        for _ in 0..MAX_HOPS {
            let Some(reference) = node.text_at("$ref") else { return Some((node, place)) };
            place = reference.strip_prefix('#')?.to_owned();
            node = self.root.at(&place)?;
        }
        None
    }

    /// Returns all operations, in the order of the file.
    pub(crate) fn operations(&self) -> Vec<Operation<'t>> {
        let mut found = Vec::new();
        for (path, item) in self.root.get("paths").map(SpecNode::members).unwrap_or_default() {
            let place = format!("/paths{}", step(path));
            let Some((item, place)) = self.resolved(item, &place) else { continue };
            let common = self.parameters(item, &place);
            for (method, node) in item.members().iter().filter(|(key, _)| METHODS.contains(&key.as_str())) {
                let place = format!("{place}/{method}");
                let mut parameters = self.parameters(node, &place);
                let key = |node: &SpecNode| {
                    (node.text_at("name").map(str::to_owned), node.text_at("in").map(str::to_owned))
                };
                let own: Vec<_> = parameters.iter().map(|(node, _)| key(node)).collect();
                parameters.extend(common.iter().filter(|(node, _)| !own.contains(&key(node))).cloned());
                found.push(Operation { method: method.to_ascii_uppercase(), path, node, place, parameters });
            }
        }
        found
    }

    /// Returns whether requests need credentials, by the `security` of the operation or else of the whole description.
    pub(crate) fn needs_credentials(&self, operation: &Operation<'t>) -> bool {
        let wanted = operation.node.get("security").or_else(|| self.root.get("security"));
        let ways = wanted.map(SpecNode::items).unwrap_or_default();
        !ways.is_empty() && ways.iter().all(|way| !way.members().is_empty())
    }

    fn parameters(&self, of: &'t SpecNode, place: &str) -> Vec<(&'t SpecNode, String)> {
        let all = of.get("parameters").map(SpecNode::items).unwrap_or_default();
        let resolve = |(at, node)| self.resolved(node, &format!("{place}/parameters/{at}"));
        all.iter().enumerate().filter_map(resolve).collect()
    }

    /// Returns the address of the first server that has one, its variables replaced by their defaults.
    pub(crate) fn server(&self) -> Option<String> {
        let servers = self.root.get("servers").map(SpecNode::items).unwrap_or_default();
        let server = servers.iter().find(|server| server.text_at("url").is_some())?;
        let mut url = server.text_at("url")?.to_owned();
        for (name, variable) in server.get("variables").map(SpecNode::members).unwrap_or_default() {
            url = url.replace(&format!("{{{name}}}"), variable.text_at("default").unwrap_or_default());
        }
        Some(url)
    }
}
