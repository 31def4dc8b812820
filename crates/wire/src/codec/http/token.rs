//! Access tokens of OAuth 2.0 (RFC 6749) that are fetched for requests: by the password of a user, by the secret of a
//! client, and by refresh tokens.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ioxide_record::json;
use ioxide_record::secrets::percent_encode;
use serde_json::Value as Json;

use super::message::HttpRequest;
use crate::adapter::TokenProblem;
use crate::adapter::tls::TlsConfig;

/// The name by which templates insert the token.
pub const ACCESS_TOKEN: &str = "access_token";

/// The rest of its life at which a token is replaced: requests that take this long still arrive with a valid one.
/// Chosen by feel.
const EXPIRY_MARGIN: Duration = Duration::from_secs(5);

/// The address that gives tokens, and what is sent to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenConfig {
    /// The whole address. No other host gets the secrets below: redirections are not followed.
    pub url: String,
    /// The encryption of the connection, if the address begins with `https`.
    pub tls: TlsConfig,
    /// The grant.
    pub grant: TokenGrant,
    /// The name and the secret of the client; needed for the grant of a client.
    pub client: Option<(String, String)>,
    /// The scopes that are asked for, with spaces between them.
    pub scope: Option<String>,
}

/// The way in which a token is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenGrant {
    /// By the name and the password of a user (RFC 6749, 4.3).
    Password {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
    /// By the secret of the client (RFC 6749, 4.4).
    ClientCredentials,
}

/// The place of the name and the secret of the client in a request for a token (RFC 6749, 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientPlace {
    /// Basic authentication, which every server must support.
    Header,
    /// The body, which is all that some support.
    Body,
}

/// A token that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OauthToken {
    pub(crate) text: String,
    /// The token by which the next one is asked for; `None` if none was given.
    pub(crate) refresh: Option<String>,
    /// The instant at which it ends; `None` if that is not known.
    expires_at: Option<Instant>,
}

impl TokenConfig {
    /// Returns the request by which a token is asked for: by `refresh` if there is one, else by the grant.
    pub(crate) fn request(&self, refresh: Option<&str>, place: ClientPlace) -> HttpRequest {
        let mut pairs: Vec<(&str, &str)> = match (refresh, &self.grant) {
            (Some(refresh), _) => vec![("grant_type", "refresh_token"), ("refresh_token", refresh)],
            (None, TokenGrant::Password { user, password }) => {
                vec![("grant_type", "password"), ("username", user), ("password", password)]
            }
            (None, TokenGrant::ClientCredentials) => vec![("grant_type", "client_credentials")],
        };
        // A refreshed token has the scopes of the first (RFC 6749, 6).
        pairs.extend(self.scope.as_deref().filter(|_| refresh.is_none()).map(|scope| ("scope", scope)));
        let mut headers = vec![
            ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned()),
            ("accept".to_owned(), "application/json".to_owned()),
        ];
        match (&self.client, place) {
            (Some((client, secret)), ClientPlace::Header) => {
                let both = BASE64.encode(format!("{client}:{secret}"));
                headers.push(("authorization".to_owned(), format!("Basic {both}")));
            }
            (Some((client, secret)), ClientPlace::Body) => {
                pairs.extend([("client_id", client.as_str()), ("client_secret", secret.as_str())]);
            }
            (None, _) => (),
        }
        let form: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
        HttpRequest { method: "POST".into(), headers, body: Some(form.join("&")), ..HttpRequest::default() }
    }

    /// Returns the texts that must not be shown.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let password = match &self.grant {
            TokenGrant::Password { password, .. } => Some(password.as_str()),
            TokenGrant::ClientCredentials => None,
        };
        password.into_iter().chain(self.client.iter().map(|(_, secret)| secret.as_str()))
    }
}

impl OauthToken {
    /// Reads the answer to a request for a token that was asked for at `asked_at`, by the refresh token `used` if it is
    /// given.
    pub(crate) fn parse(body: &[u8], asked_at: Instant, used: Option<&str>) -> Result<Self, TokenProblem> {
        let answer: Json = json::read(body).map_err(|_| TokenProblem::NoToken)?;
        let text_at = |key: &str| answer.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
        let text = text_at("access_token").ok_or(TokenProblem::NoToken)?.to_owned();
        // A number by RFC 6749, 5.1; some servers write it as a text.
        let seconds = answer.get("expires_in").and_then(|life| match life {
            Json::String(text) => text.trim().parse::<f64>().ok(),
            other => other.as_f64(),
        });
        let life = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
        let expires_at = life.and_then(|life| asked_at.checked_add(life));
        // A refresh token is used again where the answer has no other (RFC 6749, 6).
        let refresh = text_at("refresh_token").or(used).map(str::to_owned);
        Ok(Self { text, refresh, expires_at })
    }

    /// Returns whether it ends so soon after `now` that a request may find it expired.
    pub(crate) fn is_expiring(&self, now: Instant) -> bool {
        self.expires_at.is_some_and(|end| end <= now + EXPIRY_MARGIN)
    }
}

/// Returns the error that the answer to a refused request names (RFC 6749, 5.2); empty if it names none.
pub(crate) fn refusal_text(body: &[u8]) -> String {
    let answer: Json = json::read(body).unwrap_or_default();
    let texts = ["error", "error_description"].map(|key| answer.get(key).and_then(Json::as_str));
    texts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(grant: TokenGrant) -> TokenConfig {
        TokenConfig {
            url: "http://h/token".into(),
            tls: TlsConfig::default(),
            grant,
            client: Some(("c".into(), "s&1".into())),
            scope: Some("read write".into()),
        }
    }

    /// The examples of RFC 6749, 4.3.2, 4.4.2 and 6, with the client in the header and in the body.
    #[test]
    fn writes_the_forms_of_the_standard() {
        let password = config(TokenGrant::Password { user: "ann".into(), password: "p w".into() });
        let body = |request: HttpRequest| request.body.unwrap_or_default();
        let sent = password.request(None, ClientPlace::Header);
        assert!(sent.headers.contains(&("authorization".into(), "Basic YzpzJjE=".into())), "{sent:?}");
        assert_eq!(body(sent), "grant_type=password&username=ann&password=p%20w&scope=read%20write");
        let client = config(TokenGrant::ClientCredentials);
        assert_eq!(
            body(client.request(None, ClientPlace::Body)),
            "grant_type=client_credentials&scope=read%20write&client_id=c&client_secret=s%261"
        );
        assert_eq!(
            body(client.request(Some("r"), ClientPlace::Header)),
            "grant_type=refresh_token&refresh_token=r"
        );
    }

    #[test]
    fn reads_lives_of_tokens_and_keeps_refresh_tokens() {
        let now = Instant::now();
        let read = |text: &str, used: Option<&str>| OauthToken::parse(text.as_bytes(), now, used);
        for (life, is_expiring) in [
            ("3600", false),
            ("\"3600\"", false),
            ("0", true),
            ("-1", true),
            ("null", false),
            ("1e300", false),
        ] {
            let token = read(&format!(r#"{{"access_token": "t", "expires_in": {life}}}"#), None).unwrap();
            assert_eq!(token.is_expiring(now), is_expiring, "{life}");
        }
        let kept = read(r#"{"access_token": "t"}"#, Some("old")).unwrap();
        assert_eq!(kept.refresh.as_deref(), Some("old"));
        let new = read(r#"{"access_token": "t", "refresh_token": "new"}"#, Some("old")).unwrap();
        assert_eq!(new.refresh.as_deref(), Some("new"));
        for bad in ["", "[]", "{}", r#"{"access_token": 1}"#, r#"{"access_token": ""}"#, "access_token=t"] {
            assert_eq!(read(bad, None), Err(TokenProblem::NoToken), "{bad}");
        }
        assert_eq!(refusal_text(br#"{"error": "invalid_grant"}"#), "invalid_grant");
        assert_eq!(refusal_text(b"<html>"), "");
    }
}
