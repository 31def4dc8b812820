//! The values of a project file that must not be shown.
//!
//! The values of headers, parameters, cookies, members of bodies and variables whose names say so, those that `secrets`
//! names, what `${NAME}` brings in from the environment, and the values of fields that `secrets` names as
//! `MESSAGE.FIELD`. A program that is started has the environment of this one, so what is secret there by its name is
//! hidden too.

use ioxide_record::secrets::Secrets;
use ioxide_wire::adapter::http::HttpProtocol;
use ioxide_wire::codec::http::secrets::{add_request_secrets, member_names};
use ioxide_wire::codec::http::{RequestConfig, is_secret};

use super::protocol::{ProtocolConfig, variables_in};
use super::table::ProjectTable;
use crate::error::ProjectError;

/// The key that names them.
const KEY: &str = "secrets";

/// The length in bytes below which a value from the environment is a secret only by its name: it may be a port.
const MIN_UNNAMED_SECRET_BYTES: usize = 8;

/// Words in the names of variables that are secret in the environment of this process: fewer than for headers, since
/// `XDG_SESSION_TYPE` is no secret.
const INHERITED: [&str; 9] =
    ["token", "secret", "password", "passwd", "passphrase", "api_key", "apikey", "access_key", "private_key"];

/// The secrets of a system with these encodings of its connections.
pub(super) fn read_secrets<'s>(
    system: &ProjectTable<'_>,
    protocols: impl Iterator<Item = &'s ProtocolConfig>,
    environment: &[(String, String)],
) -> Result<Secrets, ProjectError> {
    let named = system.words(KEY)?;
    let is_one = |name: &str| is_secret(name) || named.iter().any(|it| it.eq_ignore_ascii_case(name));
    let mut secrets = inherited_secrets();
    let mut names: Vec<String> = environment.iter().map(|(name, _)| name.clone()).collect();
    environment.iter().filter(|(name, _)| is_one(name)).for_each(|(_, value)| secrets.add(value));
    for protocol in protocols {
        if let ProtocolConfig::Http(protocol) = protocol {
            add_request_secrets(&mut secrets, &protocol.http, &protocol.reset, &is_one);
            add_request_secrets(&mut secrets, &protocol.http, &protocol.on_connect, &is_one);
            names.extend(names_in(protocol));
        }
    }
    // Those of other systems too: every program that is started has the whole environment.
    for (name, value) in variables_in(system.file_text()) {
        if value.len() >= MIN_UNNAMED_SECRET_BYTES || is_one(&name) {
            secrets.add_header(&value);
        }
        names.push(name);
    }
    for name in &named {
        match name.split_once('.') {
            _ if names.iter().any(|other| other.eq_ignore_ascii_case(name)) => (),
            Some((message, field)) => secrets.add_field(message, field),
            None => {
                let problem = format!(
                    "there is no header, parameter, cookie or variable `{name}`; a field is MESSAGE.FIELD"
                );
                return Err(system.wrong_value(KEY, &problem));
            }
        }
    }
    Ok(secrets)
}

/// The secrets in the environment of this process, which every program that is started has too.
pub(super) fn inherited_secrets() -> Secrets {
    let mut secrets = Secrets::none();
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy().to_ascii_lowercase();
        if INHERITED.iter().any(|word| name.contains(word))
            && let Some(value) = value.to_str().filter(|value| value.len() >= MIN_UNNAMED_SECRET_BYTES)
        {
            secrets.add(value);
        }
    }
    secrets
}

/// The names of all that is sent with a name.
fn names_in(protocol: &HttpProtocol) -> Vec<String> {
    let resets = protocol.reset.iter().map(|step| &step.request);
    let requests = protocol.http.inputs.iter().map(|(_, request)| request).chain(resets);
    let named = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let of_request = |request: &RequestConfig| {
        let texts = [Some(&request.path), request.body.as_ref()].into_iter().flatten();
        let members = texts.flat_map(|text| member_names(text));
        let own = [named(&request.query), named(&request.headers), named(&request.cookies)].concat();
        own.into_iter().chain(members).collect::<Vec<_>>()
    };
    named(&protocol.http.headers).into_iter().chain(requests.flat_map(of_request)).collect()
}
