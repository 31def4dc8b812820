//! The access token of an HTTP service, as the project file describes it:
//!
//! `token = { url = "/oauth/token", grant = "password", user = "${API_USER}", password = "${API_PASSWORD}" }`

use ioxide_wire::codec::http::Url;
use ioxide_wire::codec::http::token::{ACCESS_TOKEN, TokenConfig, TokenGrant};

use super::protocol::{read_variable, replace_variables};
use super::table::ProjectTable;
use super::tls;
use crate::error::ProjectError;

/// The key of the table.
const KEY: &str = "token";

/// Returns the access token of the requests to the service at `service`; `None` if none is fetched.
pub(super) fn read_token(
    system: &ProjectTable<'_>,
    service: &Url,
) -> Result<Option<TokenConfig>, ProjectError> {
    let Some(table) = system.table(KEY)? else { return Ok(None) };
    table.reject_unknown_keys(&["url", "grant", "user", "password", "client", "secret", "scope", "tls"])?;
    if system.table("captures")?.is_some_and(|captures| captures.has(ACCESS_TOKEN)) {
        return Err(system.wrong_value(KEY, "there is a capture `access_token` already; rename it"));
    }
    let text = |key: &str| -> Result<Option<String>, ProjectError> {
        let Some(text) = table.text(key)? else { return Ok(None) };
        replace_variables(&text, |variable| read_variable(&table, key, key, variable).map(Some)).map(Some)
    };
    let require = |key: &str| table.require(key, text(key)?);
    let grant = match table.require("grant", table.text("grant")?)?.as_str() {
        "password" => TokenGrant::Password { user: require("user")?, password: require("password")? },
        "client_credentials" => {
            if let Some(key) = ["user", "password"].into_iter().find(|key| table.has(key)) {
                return Err(table.wrong_value(key, "the grant `client_credentials` has no user"));
            }
            TokenGrant::ClientCredentials
        }
        _ => return Err(table.wrong_value("grant", "write \"password\" or \"client_credentials\"")),
    };
    let client = match (text("client")?, text("secret")?) {
        (Some(client), secret) => Some((client, secret.unwrap_or_default())),
        (None, Some(_)) => return Err(table.wrong_value("secret", "it needs its `client`")),
        (None, None) => None,
    };
    if client.is_none() && grant == TokenGrant::ClientCredentials {
        return Err(table.wrong_value("grant", "`client` and `secret` are missing"));
    }
    let url = require("url")?;
    let is_path = url.starts_with('/') && !url.starts_with("//");
    let url = if is_path { format!("{}{url}", service.origin()) } else { url };
    let place: Url = url.split('?').next().unwrap_or_default().parse().map_err(|_| {
        let problem =
            format!("`{url}` is not an address; write http://HOST:PORT/PATH, or a path of the service");
        table.wrong_value("url", &problem)
    })?;
    // A path belongs to the service, so the connection is encrypted as its others are.
    let own = if is_path { tls::read_tls(system)? } else { None };
    let tls = match tls::read_tls(&table)? {
        Some(_) if !place.is_encrypted => {
            return Err(table.wrong_value("tls", "the url does not begin with `https`"));
        }
        tls => tls.or(own).unwrap_or_default(),
    };
    Ok(Some(TokenConfig { url, tls, grant, client, scope: text("scope")? }))
}
