//! Swagger 2.0 as OpenAPI 3.0: the same description with the keys of the newer version.

use crate::node::SpecNode;

/// The places of shared definitions, in the old version and in the new one.
const MOVED: [(&str, &str); 4] = [
    ("#/definitions/", "#/components/schemas/"),
    ("#/parameters/", "#/components/parameters/"),
    ("#/responses/", "#/components/responses/"),
    ("#/securityDefinitions/", "#/components/securitySchemes/"),
];

/// Keys of a parameter that are not about its schema.
const OF_PARAMETER: [&str; 7] =
    ["name", "in", "description", "required", "allowEmptyValue", "collectionFormat", "schema"];

/// The content types of bodies, if none are named.
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

/// Returns whether a description is of version 2.0.
pub(crate) fn is_swagger(tree: &SpecNode) -> bool {
    let version = tree.get("swagger").map(SpecNode::to_json).unwrap_or_default();
    version.trim_matches('"').starts_with("2.0") || version == "2"
}

/// Returns the description in version 3.0.
pub(crate) fn convert(tree: &SpecNode) -> SpecNode {
    let consumes = texts_at(tree, "consumes");
    let produces = texts_at(tree, "produces");
    let mut made = vec![("openapi".to_owned(), SpecNode::Text("3.0.3".into()))];
    made.extend(tree.get("info").map(|info| ("info".to_owned(), info.clone())));
    made.push(("servers".into(), SpecNode::List(vec![map([("url", SpecNode::Text(server_url(tree)))])])));
    made.extend(tree.get("security").map(|security| ("security".to_owned(), security.clone())));
    let kinds = BodyKinds { consumes, produces, root: tree };
    let paths = tree.get("paths").map(SpecNode::members).unwrap_or_default();
    let paths = paths.iter().map(|(path, item)| (path.clone(), kinds.path_item(item)));
    made.push(("paths".into(), SpecNode::Map(paths.collect())));
    let section = |from: &str| tree.get(from).map(SpecNode::members).unwrap_or_default().iter();
    let schemas = section("definitions").map(|(name, node)| (name.clone(), convert_node(node)));
    let is_plain = |node: &SpecNode| !matches!(node.text_at("in"), Some("body" | "formData"));
    let parameters = section("parameters").filter(|(_, node)| is_plain(node));
    let parameters = parameters.map(|(name, node)| (name.clone(), parameter(node)));
    let responses =
        section("responses").map(|(name, node)| (name.clone(), kinds.response(node, &kinds.produces)));
    let schemes = section("securityDefinitions").map(|(name, node)| (name.clone(), node.clone()));
    let components = map([
        ("schemas", SpecNode::Map(schemas.collect())),
        ("parameters", SpecNode::Map(parameters.collect())),
        ("responses", SpecNode::Map(responses.collect())),
        ("securitySchemes", SpecNode::Map(schemes.collect())),
    ]);
    made.push(("components".into(), components));
    SpecNode::Map(made)
}

/// Returns the address of the service.
fn server_url(tree: &SpecNode) -> String {
    let base = tree.text_at("basePath").unwrap_or_default().trim_end_matches('/');
    let schemes = texts_at(tree, "schemes");
    let scheme = schemes.iter().find(|scheme| *scheme == "https").or(schemes.first());
    match tree.text_at("host") {
        Some(host) => format!("{}://{host}{base}", scheme.map_or("http", String::as_str)),
        None => base.to_owned(),
    }
}

/// The content types of bodies.
struct BodyKinds<'t> {
    consumes: Vec<String>,
    produces: Vec<String>,
    root: &'t SpecNode,
}

impl BodyKinds<'_> {
    fn path_item(&self, item: &SpecNode) -> SpecNode {
        // Bodies of the whole path belong to each of its operations.
        let common: Vec<&SpecNode> = self.parameters_of(item);
        let member = |(key, node): &(String, SpecNode)| match key.as_str() {
            "parameters" => (key.clone(), SpecNode::List(plain_parameters(&common))),
            "get" | "put" | "post" | "delete" | "options" | "head" | "patch" => {
                (key.clone(), self.operation(node, &common))
            }
            _ => (key.clone(), convert_node(node)),
        };
        SpecNode::Map(item.members().iter().map(member).collect())
    }

    /// Returns the parameters of a path or operation, with the shared ones in their places.
    fn parameters_of<'n>(&'n self, node: &'n SpecNode) -> Vec<&'n SpecNode> {
        let all = node.get("parameters").map(SpecNode::items).unwrap_or_default();
        all.iter().map(|parameter| self.follow_reference(parameter)).collect()
    }

    fn follow_reference<'n>(&'n self, node: &'n SpecNode) -> &'n SpecNode {
        let target =
            node.text_at("$ref").and_then(|reference| self.root.at_pointer(reference.strip_prefix('#')?));
        target.unwrap_or(node)
    }

    /// Returns an operation as OpenAPI 3 has it. Where it names no media types, those of the whole description count.
    fn operation(&self, node: &SpecNode, common: &[&SpecNode]) -> SpecNode {
        let own = self.parameters_of(node);
        let or_else = |own: Vec<String>, other: &[String]| if own.is_empty() { other.to_vec() } else { own };
        let consumes = or_else(texts_at(node, "consumes"), &self.consumes);
        let produces = or_else(texts_at(node, "produces"), &self.produces);
        let mut made = Vec::new();
        for (key, value) in node.members() {
            match key.as_str() {
                "parameters" => made.push((key.clone(), SpecNode::List(plain_parameters(&own)))),
                "responses" => {
                    let answers = value.members().iter();
                    let answers =
                        answers.map(|(status, answer)| (status.clone(), self.response(answer, &produces)));
                    made.push((key.clone(), SpecNode::Map(answers.collect())));
                }
                "consumes" | "produces" | "schemes" => (),
                _ => made.push((key.clone(), value.clone())),
            }
        }
        let all: Vec<&SpecNode> = own.iter().chain(common).copied().collect();
        made.extend(request_body(&all, &consumes).map(|body| ("requestBody".to_owned(), body)));
        SpecNode::Map(made)
    }

    /// Returns a response as OpenAPI 3 has it: its schema once for each media type.
    fn response(&self, node: &SpecNode, produces: &[String]) -> SpecNode {
        if node.get("$ref").is_some() {
            return convert_node(node);
        }
        let mut made = vec![(
            "description".to_owned(),
            SpecNode::Text(node.text_at("description").unwrap_or_default().into()),
        )];
        if let Some(headers) = node.get("headers") {
            let header =
                |(name, node): &(String, SpecNode)| (name.clone(), map([("schema", convert_node(node))]));
            made.push(("headers".into(), SpecNode::Map(headers.members().iter().map(header).collect())));
        }
        if let Some(schema) = node.get("schema") {
            let kinds = if produces.is_empty() { vec![JSON.to_owned()] } else { produces.to_vec() };
            let media = map([("schema", convert_node(schema))]);
            let content = kinds.into_iter().map(|kind| (kind, media.clone()));
            made.push(("content".into(), SpecNode::Map(content.collect())));
        }
        SpecNode::Map(made)
    }
}

/// Returns the body of a request: the parameter in `body`, or those in `formData` together.
fn request_body(parameters: &[&SpecNode], consumes: &[String]) -> Option<SpecNode> {
    let is_at = |node: &SpecNode, place: &str| node.text_at("in") == Some(place);
    if let Some(body) = parameters.iter().find(|node| is_at(node, "body")) {
        let kinds = if consumes.is_empty() { vec![JSON.to_owned()] } else { consumes.to_vec() };
        let media =
            map([("schema", body.get("schema").map(convert_node).unwrap_or(SpecNode::Map(Vec::new())))]);
        let content = SpecNode::Map(kinds.into_iter().map(|kind| (kind, media.clone())).collect());
        return Some(map([("required", SpecNode::Bool(body.is_true_at("required"))), ("content", content)]));
    }
    let fields: Vec<&&SpecNode> = parameters.iter().filter(|node| is_at(node, "formData")).collect();
    if fields.is_empty() {
        return None;
    }
    let name = |node: &SpecNode| node.text_at("name").unwrap_or_default().to_owned();
    let properties = fields.iter().map(|node| (name(node), schema_of(node)));
    let required = fields.iter().filter(|node| node.is_true_at("required"));
    let required: Vec<SpecNode> = required.map(|node| SpecNode::Text(name(node))).collect();
    let is_required = !required.is_empty();
    let has_file = fields.iter().any(|node| node.text_at("type") == Some("file"));
    let is_multipart = has_file
        || consumes.iter().any(|kind| kind == MULTIPART) && !consumes.iter().any(|kind| kind == FORM);
    let schema = map([
        ("type", SpecNode::Text("object".into())),
        ("properties", SpecNode::Map(properties.collect())),
        ("required", SpecNode::List(required)),
    ]);
    let kind = if is_multipart { MULTIPART } else { FORM };
    let content = map([(kind, map([("schema", schema)]))]);
    Some(map([("required", SpecNode::Bool(is_required)), ("content", content)]))
}

/// Returns the parameters that are no bodies.
fn plain_parameters(parameters: &[&SpecNode]) -> Vec<SpecNode> {
    let is_plain = |node: &&&SpecNode| !matches!(node.text_at("in"), Some("body" | "formData"));
    parameters.iter().filter(is_plain).map(|node| parameter(node)).collect()
}

/// Returns a parameter with its schema apart.
fn parameter(node: &SpecNode) -> SpecNode {
    let mut made: Vec<(String, SpecNode)> = node
        .members()
        .iter()
        .filter(|(key, _)| matches!(key.as_str(), "name" | "in" | "description" | "required" | "$ref"))
        .map(|(key, value)| (key.clone(), convert_node(value)))
        .collect();
    if node.get("$ref").is_none() {
        made.push(("schema".into(), schema_of(node)));
    }
    // Lists are written between commas, unless it says `multi`.
    if node.text_at("type") == Some("array") && node.text_at("collectionFormat") != Some("multi") {
        made.push(("explode".into(), SpecNode::Bool(false)));
    }
    SpecNode::Map(made)
}

/// Returns the schema of a parameter, which stands among its other keys.
fn schema_of(node: &SpecNode) -> SpecNode {
    let of_schema = node.members().iter().filter(|(key, _)| !OF_PARAMETER.contains(&key.as_str()));
    let key = |(key, value): &(String, SpecNode)| match (key.as_str(), value.as_text()) {
        ("type", Some("file")) => (key.clone(), SpecNode::Text("string".into())),
        _ => (key.clone(), convert_node(value)),
    };
    let mut schema: Vec<(String, SpecNode)> = of_schema.map(key).collect();
    if node.text_at("type") == Some("file") {
        schema.push(("format".into(), SpecNode::Text("binary".into())));
    }
    SpecNode::Map(schema)
}

/// Returns a part of a description with the references to their new places.
fn convert_node(node: &SpecNode) -> SpecNode {
    match node {
        SpecNode::List(items) => SpecNode::List(items.iter().map(convert_node).collect()),
        SpecNode::Map(members) => {
            let member = |(key, value): &(String, SpecNode)| match (key.as_str(), value) {
                ("$ref", SpecNode::Text(reference)) => {
                    (key.clone(), SpecNode::Text(convert_reference(reference)))
                }
                ("x-nullable", value) => ("nullable".to_owned(), value.clone()),
                // In version 2.0 the discriminator is a name.
                ("discriminator", SpecNode::Text(name)) => {
                    (key.clone(), map([("propertyName", SpecNode::Text(name.clone()))]))
                }
                (_, value) => (key.clone(), convert_node(value)),
            };
            SpecNode::Map(members.iter().map(member).collect())
        }
        plain => plain.clone(),
    }
}

fn convert_reference(reference: &str) -> String {
    let found = MOVED.iter().find_map(|(from, to)| Some(format!("{to}{}", reference.strip_prefix(from)?)));
    found.unwrap_or_else(|| reference.to_owned())
}

fn texts_at(node: &SpecNode, key: &str) -> Vec<String> {
    let items = node.get(key).map(SpecNode::items).unwrap_or_default();
    items.iter().filter_map(SpecNode::as_text).map(str::to_owned).collect()
}

/// Returns a map of these members, in order.
fn map<const N: usize>(members: [(&str, SpecNode); N]) -> SpecNode {
    SpecNode::Map(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
