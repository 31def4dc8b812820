//! The values of a project file that must not be shown.
//!
//! The values of headers and variables whose names say so, those that `secrets` names, and the values of fields that
//! it names as `MESSAGE.FIELD`.

use ioxide_runner::codec::http::is_secret;
use ioxide_runner::secrets::Secrets;

use super::speech::SpeechConfig;
use super::table::ProjectTable;
use crate::exit::EarlyStop;

/// The key that names them.
const KEY: &str = "secrets";

/// The secrets of a system.
pub(super) fn read(
    system: &ProjectTable<'_>,
    speech: &SpeechConfig,
    environment: &[(String, String)],
) -> Result<Secrets, EarlyStop> {
    let named = system.words(KEY)?;
    let headers = headers(speech);
    let mut secrets = Secrets::none();
    let is_one = |name: &str| is_secret(name) || named.iter().any(|it| it.eq_ignore_ascii_case(name));
    headers.iter().filter(|(name, _)| is_one(name)).for_each(|(_, value)| secrets.add_header(value));
    environment.iter().filter(|(name, _)| is_one(name)).for_each(|(_, value)| secrets.add(value));
    for name in &named {
        let is_there = headers.iter().chain(environment).any(|(other, _)| other.eq_ignore_ascii_case(name));
        match name.split_once('.') {
            _ if is_there => (),
            Some((message, field)) => secrets.add_field(message, field),
            None => {
                let problem = format!("there is no header or variable `{name}`; a field is MESSAGE.FIELD");
                return Err(system.wrong(KEY, &problem));
            }
        }
    }
    Ok(secrets)
}

/// All headers that are sent.
fn headers(speech: &SpeechConfig) -> Vec<(String, String)> {
    let SpeechConfig::Http(speech) = speech else { return Vec::new() };
    let requests = speech.http.inputs.iter().map(|(_, request)| request).chain(&speech.reset);
    speech.http.headers.iter().chain(requests.flat_map(|request| &request.headers)).cloned().collect()
}
