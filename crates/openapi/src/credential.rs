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
/// The variable with the address that gives tokens, where that is not the service itself: secrets go to another host
/// only if the user names it.
const TOKEN_URL: &str = "API_TOKEN_URL";

/// The variables of the environment that credentials come from.
pub const VARIABLES: [&str; 7] = [TOKEN, KEY, USER, PASSWORD, CLIENT_ID, CLIENT_SECRET, TOKEN_URL];

/// The name of a token that is fetched, in templates.
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
    /// The place at which a token is fetched; `None` if it is given.
    token: Option<TokenSource>,
}

/// The place at which a token is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TokenSource {
    /// A path of the service; `None` for the address in the variable of the environment.
    path: Option<String>,
    /// The scopes that the description lists.
    scopes: Vec<String>,
}

impl Credential {
    fn in_authorization(kind: CredentialKind) -> Self {
        Self { kind, place: CredentialPlace::Header, name: AUTHORIZATION.into(), token: None }
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
                let name = scheme.text_at("name")?.to_owned();
                Some(Self { kind: CredentialKind::Key, place, name, token: None })
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
        let is_set = |credential: &Self| credential.variables().all(|name| set.contains(name));
        let of_scheme =
            schemes_of(document).iter().filter_map(|(_, scheme)| Self::of_scheme(scheme)).find(is_set);
        let mut fetched =
            schemes_of(document).iter().flat_map(|(_, scheme)| Self::of_flows(document, scheme, url));
        let of_scheme = of_scheme.or_else(|| fetched.find(is_set));
        of_scheme.or_else(|| Self::of_parameter(document).into_iter().find(is_set))
    }

    /// Returns the tokens that a scheme of OAuth2 lets a client fetch by itself for the service at `url`.
    fn of_flows(document: &OpenApiDocument<'_>, scheme: &SpecNode, url: &str) -> Vec<Self> {
        if scheme.text_at("type") != Some("oauth2") {
            return Vec::new();
        }
        let grants = [
            (CredentialKind::PasswordGrant, "password", "password"),
            (CredentialKind::ClientGrant, "clientCredentials", "application"),
        ];
        let found = grants.into_iter().filter_map(|(kind, flow, flow_of_swagger)| {
            let of_flow = scheme.get("flows").and_then(|flows| flows.get(flow));
            let is_own = scheme.text_at("flow") == Some(flow_of_swagger);
            let flow = of_flow.or_else(|| Some(scheme).filter(|_| is_own))?;
            let scopes = flow.get("scopes").map(SpecNode::members).unwrap_or_default();
            let scopes = scopes.iter().map(|(name, _)| name.clone()).collect();
            let server = document.server_address().unwrap_or_default();
            let path = path_on_service(flow.text_at("tokenUrl")?, url, &server);
            Some(Self { token: Some(TokenSource { path, scopes }), ..Self::in_authorization(kind) })
        });
        found.collect()
    }

    /// Returns whether a token is fetched before every run.
    const fn is_fetched(&self) -> bool {
        matches!(self.kind, CredentialKind::PasswordGrant | CredentialKind::ClientGrant)
    }

    /// Returns the line of the project file by which a token is fetched; empty if none is fetched.
    fn token_line(&self) -> String {
        let Some(TokenSource { path, scopes }) = &self.token else { return String::new() };
        let url = path.clone().unwrap_or_else(|| format!("${{{TOKEN_URL}}}"));
        let grant = match self.kind {
            CredentialKind::PasswordGrant => {
                format!("grant = \"password\", user = \"${{{USER}}}\", password = \"${{{PASSWORD}}}\"")
            }
            _ => format!(
                "grant = \"client_credentials\", client = \"${{{CLIENT_ID}}}\", secret = \"${{{CLIENT_SECRET}}}\""
            ),
        };
        let scope = match &scopes[..] {
            [] => String::new(),
            scopes => format!(", scope = {}", toml_string(&scopes.join(" "))),
        };
        format!(
            "# Every run begins with a new token; it is replaced before it expires, and after a 401.\n\
             token = {{ url = {}, {grant}{scope} }}\n",
            toml_string(&url)
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
    fn variables(&self) -> impl Iterator<Item = &'static str> {
        let names: &[&str] = match self.kind {
            CredentialKind::Bearer => &[TOKEN],
            CredentialKind::Basic | CredentialKind::PasswordGrant => &[USER, PASSWORD],
            CredentialKind::ClientGrant => &[CLIENT_ID, CLIENT_SECRET],
            CredentialKind::Key => &[KEY],
        };
        let is_elsewhere = self.token.as_ref().is_some_and(|token| token.path.is_none());
        names.iter().copied().chain(is_elsewhere.then_some(TOKEN_URL))
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

/// Returns the path of the address that gives tokens if it is on the host of the service at `url`, which the
/// description calls `server`; `None` if it is on another host, or on one that is not known.
fn path_on_service(token_url: &str, url: &str, server: &str) -> Option<String> {
    let origin_end = |text: &str| {
        let host = text.find("://")? + 3;
        Some(text[host..].find('/').map_or(text.len(), |length| host + length))
    };
    let (origin, base) = url.split_at(origin_end(url)?);
    if token_url.starts_with("//") {
        return None;
    }
    match origin_end(token_url) {
        Some(end) => {
            // A service that is started elsewhere than the description says has its tokens with it.
            let is_servers =
                origin_end(server).is_some_and(|end_of_server| token_url[..end] == server[..end_of_server]);
            (token_url[..end] == *origin || is_servers).then(|| token_url[end..].to_owned())
        }
        None if token_url.starts_with('/') => Some(token_url.to_owned()),
        // Frameworks mean the address of the service, with or without a slash at its end.
        None => Some(format!("{}/{}", base.trim_end_matches('/'), token_url.trim_start_matches("./"))),
    }
}

fn schemes_of<'t>(document: &OpenApiDocument<'t>) -> &'t [(String, SpecNode)] {
    document.root.at_pointer("/components/securitySchemes").map(SpecNode::members).unwrap_or_default()
}

/// Returns the lines of the project file with the credential of all requests, or with those that could be given.
pub(crate) fn credential_lines(
    document: &OpenApiDocument<'_>,
    credential: Option<&Credential>,
    url: &str,
) -> String {
    let line = |credential: &Credential| {
        format!("headers = {{ {} = {} }}", toml_string(&credential.name), toml_string(&credential.value()))
    };
    if let Some(credential) = credential {
        return match credential.place {
            CredentialPlace::Header if credential.is_fetched() => {
                format!("{}\n{}", line(credential), credential.token_line())
            }
            CredentialPlace::Header => format!("{}   # a secret, from the environment\n", line(credential)),
            CredentialPlace::Query | CredentialPlace::Cookie => String::new(),
        };
    }
    let mut text = String::new();
    for (name, scheme) in schemes_of(document) {
        let Some(credential) = Credential::of_scheme(scheme) else { continue };
        let variables = credential.variables().collect::<Vec<_>>().join(" and ");
        text.push_str(&match credential.place {
            CredentialPlace::Header => {
                format!("# {}   # `{}`: set {variables}\n", line(&credential), name.replace('\n', " "))
            }
            CredentialPlace::Query | CredentialPlace::Cookie => {
                format!("# `{}`: set {variables} and generate this file again\n", name.replace('\n', " "))
            }
        });
        for fetched in Credential::of_flows(document, scheme, url) {
            let variables = fetched.variables().collect::<Vec<_>>().join(", ");
            text.push_str(&format!(
                "# `{}`: to have tokens fetched, set {variables} and generate this file again\n",
                name.replace('\n', " ")
            ));
        }
    }
    text
}
