//! Credentials: the security schemes of a description, and the variables of the environment that they come from.

use std::collections::BTreeSet;

use crate::document::OpenApiDocument;
use crate::node::SpecNode;
use crate::project::toml_string;

/// The variable with a token: bearer, OAuth2, OpenID Connect.
const TOKEN: &str = "API_TOKEN";
/// The variable with an API key.
const KEY: &str = "API_KEY";
/// The variables with the name and the password of a user.
const USER: &str = "API_USER";
const PASSWORD: &str = "API_PASSWORD";

/// The variables of the environment that credentials come from.
pub const VARIABLES: [&str; 4] = [TOKEN, KEY, USER, PASSWORD];

/// The header of bearer and basic authentication.
pub(crate) const AUTHORIZATION: &str = "Authorization";

/// The place of a credential in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialPlace {
    Header,
    Query,
    Cookie,
}

/// The kind of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CredentialKind {
    Bearer,
    Basic,
    Key,
}

/// A credential that requests have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credential {
    kind: CredentialKind,
    pub(crate) place: CredentialPlace,
    /// The name of the header, parameter or cookie.
    pub(crate) name: String,
}

impl Credential {
    /// Returns the credential of a scheme; `None` if it is of a kind that cannot be written.
    fn of_scheme(scheme: &SpecNode) -> Option<Self> {
        let authorization = |kind| Self { kind, place: CredentialPlace::Header, name: AUTHORIZATION.into() };
        match (scheme.text_at("type")?, scheme.text_at("scheme").map(str::to_ascii_lowercase).as_deref()) {
            ("apiKey", _) => {
                let place = match scheme.text_at("in")? {
                    "header" => CredentialPlace::Header,
                    "query" => CredentialPlace::Query,
                    "cookie" => CredentialPlace::Cookie,
                    _ => return None,
                };
                Some(Self { kind: CredentialKind::Key, place, name: scheme.text_at("name")?.to_owned() })
            }
            ("http", Some("basic")) | ("basic", _) => Some(authorization(CredentialKind::Basic)),
            ("http", Some("bearer")) | ("oauth2" | "openIdConnect", _) => {
                Some(authorization(CredentialKind::Bearer))
            }
            _ => None,
        }
    }

    /// Returns the first credential of the description whose variables are set.
    pub(crate) fn find(document: &OpenApiDocument<'_>, set: &BTreeSet<String>) -> Option<Self> {
        let is_set = |credential: &Self| credential.variables().iter().all(|name| set.contains(*name));
        let of_scheme =
            schemes_of(document).iter().filter_map(|(_, scheme)| Self::of_scheme(scheme)).find(is_set);
        of_scheme.or_else(|| Self::of_parameter(document).into_iter().find(is_set))
    }

    /// Returns the credentials that a header parameter `authorization` can hold, which some frameworks describe instead
    /// of a security scheme.
    fn of_parameter(document: &OpenApiDocument<'_>) -> Vec<Self> {
        let is_it = |node: &SpecNode| {
            node.text_at("in") == Some("header")
                && node.text_at("name").is_some_and(|name| name.eq_ignore_ascii_case(AUTHORIZATION))
        };
        let operations = document.operations().operations;
        if !operations.iter().any(|operation| operation.parameters.iter().any(|(node, _)| is_it(node))) {
            return Vec::new();
        }
        let kinds = [CredentialKind::Bearer, CredentialKind::Basic];
        kinds.map(|kind| Self { kind, place: CredentialPlace::Header, name: AUTHORIZATION.into() }).into()
    }

    /// Returns the variables that it comes from.
    fn variables(&self) -> &'static [&'static str] {
        match self.kind {
            CredentialKind::Bearer => &[TOKEN],
            CredentialKind::Basic => &[USER, PASSWORD],
            CredentialKind::Key => &[KEY],
        }
    }

    /// Returns its value in the project file, which has no secret in it.
    pub(crate) fn value(&self) -> String {
        match self.kind {
            CredentialKind::Bearer => format!("Bearer ${{{TOKEN}}}"),
            CredentialKind::Basic => format!("Basic ${{{USER}:{PASSWORD}}}"),
            CredentialKind::Key => format!("${{{KEY}}}"),
        }
    }

    /// Returns a value that no service accepts.
    pub(crate) fn wrong_value(&self) -> &'static str {
        match self.kind {
            CredentialKind::Bearer => "Bearer this-is-no-token",
            // `nobody:nothing`
            CredentialKind::Basic => "Basic bm9ib2R5Om5vdGhpbmc=",
            CredentialKind::Key => "this-is-no-key",
        }
    }
}

fn schemes_of<'t>(document: &OpenApiDocument<'t>) -> &'t [(String, SpecNode)] {
    document.root.at_pointer("/components/securitySchemes").map(SpecNode::members).unwrap_or_default()
}

/// Returns the lines of the project file with the credential of all requests, or with those that could be given.
pub(crate) fn credential_lines(document: &OpenApiDocument<'_>, credential: Option<&Credential>) -> String {
    let line = |credential: &Credential| {
        format!("headers = {{ {} = {} }}", toml_string(&credential.name), toml_string(&credential.value()))
    };
    if let Some(credential) = credential {
        return match credential.place {
            CredentialPlace::Header => format!("{}   # a secret, from the environment\n", line(credential)),
            CredentialPlace::Query | CredentialPlace::Cookie => String::new(),
        };
    }
    let mut text = String::new();
    for (name, scheme) in schemes_of(document) {
        let Some(credential) = Credential::of_scheme(scheme) else { continue };
        let variables = credential.variables().join(" and ");
        text.push_str(&match credential.place {
            CredentialPlace::Header => {
                format!("# {}   # `{}`: set {variables}\n", line(&credential), name.replace('\n', " "))
            }
            CredentialPlace::Query | CredentialPlace::Cookie => {
                format!("# `{}`: set {variables} and make this file anew\n", name.replace('\n', " "))
            }
        });
    }
    text
}
