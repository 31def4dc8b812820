//! The access token of a run: fetched at its start, before it expires, and after a 401.
//!
//! *Promises.* The secrets go to the address that the project file names and nowhere else. A token is replaced at most
//! once for each 401, so a service that refuses every token is not asked forever.

use std::time::{Duration, Instant};

use super::fetch::ask_once;
use crate::adapter::{AdapterError, AwaitedPart, Interrupt, TokenProblem};
use crate::codec::http::message::HttpResponse;
use crate::codec::http::token::{ClientPlace, OauthToken, TokenConfig, refusal_text};

/// The token that requests have now, and those they had.
pub(super) struct TokenStore {
    config: TokenConfig,
    limit: Duration,
    interrupt: Interrupt,
    current: Option<OauthToken>,
    /// The place of the client's secret, which is the body once a server has refused the header.
    client_place: ClientPlace,
    /// All tokens since the reset.
    past: Vec<String>,
}

impl TokenStore {
    pub(super) fn new(config: TokenConfig, limit: Duration, interrupt: Interrupt) -> Self {
        let client_place = ClientPlace::Header;
        Self { config, limit, interrupt, current: None, client_place, past: Vec::new() }
    }

    /// Forgets the tokens of the run before.
    pub(super) fn clear(&mut self) {
        (self.current, self.past) = (None, Vec::new());
    }

    /// Returns the token that requests have now; `None` before the first.
    pub(super) fn current(&self) -> Option<&str> {
        self.current.as_ref().map(|token| token.text.as_str())
    }

    /// Returns all tokens since the reset.
    pub(super) fn all(&self) -> &[String] {
        &self.past
    }

    /// Returns whether a new token is needed before the next request.
    pub(super) fn is_due(&self) -> bool {
        self.current.as_ref().is_none_or(|token| token.is_expiring(Instant::now()))
    }

    /// Fetches a new token: by the refresh token if there is one, and by the grant if there is none or it is refused.
    /// Returns the texts that must not be shown.
    pub(super) fn renew(&mut self) -> Result<Vec<String>, AdapterError> {
        let refresh = self.current.take().and_then(|token| token.refresh);
        let refreshed = match refresh.as_deref() {
            None => None,
            Some(refresh) => match self.fetch(Some(refresh)) {
                Ok(token) => Some(token),
                Err(AdapterError::Token { .. }) => None,
                Err(other) => return Err(other),
            },
        };
        let token = match refreshed {
            Some(token) => token,
            None => self.fetch(None)?,
        };
        let secrets = [Some(token.text.clone()), token.refresh.clone()].into_iter().flatten().collect();
        self.past.push(token.text.clone());
        self.current = Some(token);
        Ok(secrets)
    }

    /// Asks the server for a token; `refresh` is one that may be exchanged for it.
    fn fetch(&mut self, refresh: Option<&str>) -> Result<OauthToken, AdapterError> {
        let asked_at = Instant::now();
        let mut response = self.request_token(refresh)?;
        // Which place a server wants cannot be known; it says 401 or 400 for the other one (RFC 6749, 5.2).
        let is_refused = matches!(response.status, 400 | 401);
        if is_refused && self.config.client.is_some() && self.client_place == ClientPlace::Header {
            self.client_place = ClientPlace::Body;
            let other = self.request_token(refresh)?;
            if is_success(&other) {
                response = other;
            } else {
                self.client_place = ClientPlace::Header;
            }
        }
        let problem = if is_success(&response) {
            match OauthToken::parse(&response.body, asked_at, refresh) {
                Ok(token) => return Ok(token),
                Err(problem) => problem,
            }
        } else {
            TokenProblem::Refused { status: response.status, text: refusal_text(&response.body) }
        };
        Err(self.token_error(problem))
    }

    fn request_token(&self, refresh: Option<&str>) -> Result<HttpResponse, AdapterError> {
        let request = self.config.request(refresh, self.client_place);
        let TokenConfig { url, tls, .. } = &self.config;
        ask_once(url, request, tls, self.limit, self.interrupt).map_err(|error| match error {
            AdapterError::Late { awaited: AwaitedPart::Answer, limit } => {
                self.token_error(TokenProblem::Late(limit))
            }
            other => other,
        })
    }

    fn token_error(&self, problem: TokenProblem) -> AdapterError {
        AdapterError::Token { url: self.config.url.clone(), problem }
    }
}

fn is_success(response: &HttpResponse) -> bool {
    (200..=299).contains(&response.status)
}
