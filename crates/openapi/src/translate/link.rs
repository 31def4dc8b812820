//! Links of a description: where an answer says which value a parameter of another operation has.

use super::Translator;
use crate::node::SpecNode;

/// The beginning of an expression for a member of the body of an answer (OpenAPI, Runtime Expressions).
const OF_BODY: &str = "$response.body#/";

impl<'t> Translator<'t> {
    /// Returns the member of bodies that links give to the path parameter `parameter` of one of these operations.
    pub(super) fn linked_member(&self, of: &[usize], parameter: &str) -> Option<String> {
        let links = self.operations.iter().flat_map(|operation| self.links_of(operation.node));
        links.filter(|link| of.iter().any(|at| self.leads_to(link, *at))).find_map(|link| {
            let given = link.get("parameters")?;
            let value = given.text_at(parameter).or_else(|| given.text_at(&format!("path.{parameter}")))?;
            let pointer = value.strip_prefix(OF_BODY)?;
            let member = pointer.rsplit('/').next()?;
            Some(member.replace("~1", "/").replace("~0", "~"))
        })
    }

    /// Returns the links of all answers of an operation.
    fn links_of(&self, operation: &'t SpecNode) -> Vec<&'t SpecNode> {
        let resolve = |node: &'t SpecNode| self.document.resolve_reference(node, "").map(|(node, _)| node);
        let answers = operation.get("responses").map(SpecNode::members).unwrap_or_default();
        let answers = answers.iter().filter_map(|(_, answer)| resolve(answer));
        let links = answers.flat_map(|answer| answer.get("links").map(SpecNode::members).unwrap_or_default());
        links.filter_map(|(_, link)| resolve(link)).collect()
    }

    /// Returns whether a link leads to an operation, by its name or its place.
    fn leads_to(&self, link: &SpecNode, at: usize) -> bool {
        let operation = &self.operations[at];
        let name = operation.node.text_at("operationId");
        let is_named = name.is_some() && link.text_at("operationId") == name;
        let place = link.text_at("operationRef").and_then(|reference| reference.split_once('#'));
        is_named || place.is_some_and(|(_, place)| place == operation.place)
    }
}
