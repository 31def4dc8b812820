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

/// The variables with the name and the secret of a client of OAuth2.
const CLIENT_ID: &str = "API_CLIENT_ID";
const CLIENT_SECRET: &str = "API_CLIENT_SECRET";

/// The variables of the environment that credentials come from.
pub const VARIABLES: [&str; 6] = [TOKEN, KEY, USER, PASSWORD, CLIENT_ID, CLIENT_SECRET];

/// The capture with a token that was fetched.
const FETCHED: &str = "access_token";

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
    /// A token that is fetched with the name and password of a user (RFC 6749, 4.3).
    PasswordGrant,
    /// A token that is fetched with the secret of a client (RFC 6749, 4.4).
    ClientGrant,
}

/// A credential that requests have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credential {
    kind: CredentialKind,
    pub(crate) place: CredentialPlace,
    /// The name of the header, parameter or cookie.
    pub(crate) name: String,
    /// The path at which a token is fetched; empty if it is given.
    token_path: String,
}

impl Credential {
    fn in_authorization(kind: CredentialKind) -> Self {
        let token_path = String::new();
        Self { kind, place: CredentialPlace::Header, name: AUTHORIZATION.into(), token_path }
    }

    /// Returns the credential of a scheme; `None` if it is of a kind that cannot be written.
    fn of_scheme(scheme: &SpecNode) -> Option<Self> {
        match (scheme.text_at("type")?, scheme.text_at("scheme").map(str::to_ascii_lowercase).as_deref()) {
            ("apiKey", _) => {
                let place = match scheme.text_at("in")? {
                    "header" => CredentialPlace::Header,
                    "query" => CredentialPlace::Query,
                    "cookie" => CredentialPlace::Cookie,
                    _ => return None,
                };
                let (name, token_path) = (scheme.text_at("name")?.to_owned(), String::new());
                Some(Self { kind: CredentialKind::Key, place, name, token_path })
            }
            ("http", Some("basic")) | ("basic", _) => Some(Self::in_authorization(CredentialKind::Basic)),
            ("http", Some("bearer")) | ("oauth2" | "openIdConnect", _) => {
                Some(Self::in_authorization(CredentialKind::Bearer))
            }
            _ => None,
        }
    }

    /// Returns the first credential of the description whose variables are set.
    pub(crate) fn find(document: &OpenApiDocument<'_>, set: &BTreeSet<String>, url: &str) -> Option<Self> {
        let is_set = |credential: &Self| credential.variables().iter().all(|name| set.contains(*name));
        let of_scheme =
            schemes_of(document).iter().filter_map(|(_, scheme)| Self::of_scheme(scheme)).find(is_set);
        let mut fetched = schemes_of(document).iter().flat_map(|(_, scheme)| Self::of_flows(scheme, url));
        let of_scheme = of_scheme.or_else(|| fetched.find(is_set));
        of_scheme.or_else(|| Self::of_parameter(document).into_iter().find(is_set))
    }

    /// Returns the tokens that a scheme of OAuth2 lets a client fetch by itself from the service at `url`.
    fn of_flows(scheme: &SpecNode, url: &str) -> Vec<Self> {
        if scheme.text_at("type") != Some("oauth2") {
            return Vec::new();
        }
        let grants = [
            (CredentialKind::PasswordGrant, "password", "password"),
            (CredentialKind::ClientGrant, "clientCredentials", "application"),
        ];
        let found = grants.into_iter().filter_map(|(kind, flow, flow_of_swagger)| {
            let of_flow = scheme.get("flows").and_then(|flows| flows.get(flow)?.text_at("tokenUrl"));
            let is_own = scheme.text_at("flow") == Some(flow_of_swagger);
            let token_url = of_flow.or_else(|| scheme.text_at("tokenUrl").filter(|_| is_own))?;
            let token_path = path_below(token_url, url)?;
            Some(Self { token_path, ..Self::in_authorization(kind) })
        });
        found.collect()
    }

    /// Returns whether a token is fetched before every run.
    pub(crate) const fn is_fetched(&self) -> bool {
        matches!(self.kind, CredentialKind::PasswordGrant | CredentialKind::ClientGrant)
    }

    /// Returns the lines of the project file that fetch a token before every run; empty if none is fetched.
    pub(crate) fn fetch_lines(&self) -> String {
        let (grant, more) = match self.kind {
            CredentialKind::PasswordGrant => {
                let grant = format!("grant_type=password&username=${{{USER}}}&password=${{{PASSWORD}}}");
                (grant, String::new())
            }
            CredentialKind::ClientGrant => {
                let client = format!(", Authorization = \"Basic ${{{CLIENT_ID}:{CLIENT_SECRET}}}\"");
                ("grant_type=client_credentials".to_owned(), client)
            }
            CredentialKind::Bearer | CredentialKind::Basic | CredentialKind::Key => return String::new(),
        };
        let (path, grant) = (toml_string(&self.token_path), toml_string(&grant));
        format!(
            "# Every run begins with a new token. To empty the service too, write a list: reset = [{{ ... }}, {{ ... \
             }}].\nreset = {{ method = \"POST\", path = {path}, headers = {{ content-type = \
             \"application/x-www-form-urlencoded\"{more} }}, body = {grant} }}\n"
        )
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
        kinds.map(Self::in_authorization).into()
    }

    /// Returns the variables that it comes from.
    fn variables(&self) -> &'static [&'static str] {
        match self.kind {
            CredentialKind::Bearer => &[TOKEN],
            CredentialKind::Basic | CredentialKind::PasswordGrant => &[USER, PASSWORD],
            CredentialKind::ClientGrant => &[CLIENT_ID, CLIENT_SECRET],
            CredentialKind::Key => &[KEY],
        }
    }

    /// Returns its value in the project file, which has no secret in it.
    pub(crate) fn value(&self) -> String {
        match self.kind {
            CredentialKind::Bearer => format!("Bearer ${{{TOKEN}}}"),
            CredentialKind::Basic => format!("Basic ${{{USER}:{PASSWORD}}}"),
            CredentialKind::Key => format!("${{{KEY}}}"),
            CredentialKind::PasswordGrant | CredentialKind::ClientGrant => format!("Bearer {{{FETCHED}}}"),
        }
    }

    /// Returns a value that no service accepts.
    pub(crate) fn wrong_value(&self) -> &'static str {
        match self.kind {
            CredentialKind::Bearer | CredentialKind::PasswordGrant | CredentialKind::ClientGrant => {
                "Bearer this-is-no-token"
            }
            // `nobody:nothing`
            CredentialKind::Basic => "Basic bm9ib2R5Om5vdGhpbmc=",
            CredentialKind::Key => "this-is-no-key",
        }
    }
}

/// Returns the path of an address below that of the service; `None` if another service has it.
fn path_below(token_url: &str, url: &str) -> Option<String> {
    let origin_end = |text: &str| {
        let host = text.find("://")? + 3;
        Some(text[host..].find('/').map_or(text.len(), |length| host + length))
    };
    let (origin, base) = url.split_at(origin_end(url)?);
    let base = base.trim_end_matches('/');
    let path = match origin_end(token_url) {
        // The port is not known yet where the service is started.
        Some(end) if token_url[..end] == *origin || origin.contains("{port}") => &token_url[end..],
        Some(_) => return None,
        None if token_url.starts_with('/') => token_url,
        None => return Some(format!("/{}", token_url.trim_start_matches("./"))),
    };
    let below = path.strip_prefix(base)?;
    below.starts_with('/').then(|| below.to_owned())
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
            CredentialPlace::Header if credential.is_fetched() => {
                let capture = format!("captures = {{ {FETCHED} = {{ json = \"/{FETCHED}\" }} }}");
                format!("{}   # the token of this run\n{capture}\n", line(credential))
            }
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
