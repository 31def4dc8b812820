//! The project file, which maps the messages of the model to requests and answers.

use crate::credential::{self, Credential, CredentialPlace};
use crate::document::OpenApiDocument;
use crate::translate::{BodyKind, FieldLocation};
use crate::translate::{DocumentedResponse, JsonWords, RequestOperation, Translator, WrongCredential};
use crate::{ServiceOptions, StateRules};

/// A pattern for the content types of JSON.
const JSON_TYPE: &str = "(?i)application/([a-z0-9.+-]+\\\\+)?json.*";

/// The time a service may take to start, in milliseconds. A minute, for services that start slowly on a busy machine;
/// chosen by feel.
const READY_TIMEOUT_MS: u32 = 60_000;

/// Returns the text of the project file.
pub(crate) fn write_project(
    document: &OpenApiDocument<'_>,
    translator: &Translator<'_>,
    options: &ServiceOptions,
) -> String {
    let mut text = format!(
        "# Made by `ioxide init --openapi` from {}.\n[sut.api]\nkind = \"http\"\n",
        options.source.replace('\n', " ")
    );
    let url = service_url(document, options);
    text.push_str(&format!("url = {}\n", toml_string(&url)));
    if let Some(start) = &options.start {
        text.push_str(&format!("start = {}\nready_ms = {READY_TIMEOUT_MS}\n", toml_string(start)));
    }
    text.push_str(reset_text(options));
    text.push_str(&credential::credential_lines(document, translator.credential.as_ref(), &url));
    text.push_str(&json_keys(&translator.form));
    text.push_str("\n[sut.api.inputs]\n");
    let credential = translator.credential.as_ref();
    let place = |at: usize| {
        let place =
            translator.operations.get(at).map(|operation| operation.place.as_str()).unwrap_or_default();
        format!("{}#{place}", options.source)
    };
    for (at, asked) in translator.asked.iter().enumerate() {
        text.push_str(&request_text(asked, credential, &place(at)));
    }
    for wrong in &translator.wrong {
        let place = place(wrong.of);
        // Other methods belong to the path, which is the step before the method.
        let path = place.rsplit_once('/').map_or(place.as_str(), |(path, _)| path);
        let place = if wrong.is_of_operation() { place.as_str() } else { path };
        text.push_str(&request_text(&wrong.request, credential, place));
    }
    text.push_str("\n[sut.api.outputs]\n");
    for (at, asked) in translator.asked.iter().enumerate() {
        let wrong = translator.wrong.iter().filter(|wrong| wrong.of == at && wrong.is_of_operation());
        let inputs: Vec<&str> = std::iter::once(asked.name.as_str())
            .chain(wrong.map(|wrong| wrong.request.name.as_str()))
            .collect();
        // Those of one request only stand first, since the first that fits is taken.
        for wrong in translator.wrong.iter().filter(|wrong| wrong.of == at) {
            let request = &wrong.request;
            let own = request.answers.iter();
            own.for_each(|answer| text.push_str(&response_text(request, &[&request.name], answer)));
        }
        asked.answers.iter().for_each(|answer| text.push_str(&response_text(asked, &inputs, answer)));
    }
    text
}

/// Returns how the service returns to its initial state.
fn reset_text(options: &ServiceOptions) -> &'static str {
    match (&options.rules, options.is_restarted) {
        (StateRules::Stateless, _) => {
            "# The model allows any answer in any state, so nothing has to be reset. Once it has states, write \
             how the\n# service returns to its initial state: \"restart\", reset_command = \"...\" or { method = \
             \"DELETE\", path = \"/all\" }.\nreset = \"none\"\n"
        }
        (_, true) => {
            "# Every run begins with a service that was just started. A request is faster, if there is one: reset = \
             { method = \"DELETE\", path = \"/all\" }.\nreset = \"restart\"\n"
        }
        (_, false) => {
            "# The service is not reset: a restart is slow, or no reset is known. So the model allows items that it \
             has not seen created.\n# If there is a request that empties it: \
             reset = { method = \"DELETE\", path = \"/all\" }.\nreset = \"none\"\n"
        }
    }
}

/// Returns the address of the service: the one given, or a port of this machine if the service is started with
/// `{port}`, or the one in the description.
pub(crate) fn service_url(document: &OpenApiDocument<'_>, options: &ServiceOptions) -> String {
    if let Some(url) = &options.url {
        return url.clone();
    }
    let server = document.server_address().unwrap_or_default();
    let is_whole = server.starts_with("http://") || server.starts_with("https://");
    let base = if is_whole {
        server.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default()
    } else {
        server.clone()
    };
    let base = base.trim_end_matches('/');
    match (is_whole, &options.start) {
        (_, Some(start)) if start.contains("{port}") => format!("http://127.0.0.1:{{port}}{base}"),
        (true, _) => server,
        (false, _) => {
            format!("{}{base}", source_origin(&options.source).unwrap_or("http://127.0.0.1:8000".into()))
        }
    }
}

/// Returns scheme and host of the address that the description was read from; `None` if it is not an address.
fn source_origin(source: &str) -> Option<String> {
    let is_address = source.starts_with("http://") || source.starts_with("https://");
    is_address.then(|| source.splitn(4, '/').take(3).collect::<Vec<_>>().join("/"))
}

fn json_keys(words: &JsonWords) -> String {
    let mut text = "\n[sut.api.json]\n\
                    open = true   # members that the schemas do not have are let through, except in:\n"
        .to_owned();
    let lists = [
        ("closed", &words.closed),
        ("untagged", &words.untagged),
        ("text", &words.text),
        ("absent", &words.absent),
        ("null", &words.null),
    ];
    for (key, names) in lists.iter().filter(|(key, names)| *key == "closed" || !names.is_empty()) {
        let names: Vec<String> = names.iter().map(|name| toml_string(name)).collect();
        text.push_str(&format!("{key} = [{}]\n", names.join(", ")));
    }
    for (key, pairs) in [("names", &words.names), ("cases", &words.cases)] {
        if pairs.is_empty() {
            continue;
        }
        text.push_str(&format!("\n[sut.api.json.{key}]\n"));
        for (name, written) in pairs {
            text.push_str(&format!("{} = {}\n", toml_string(name), toml_string(written)));
        }
    }
    text
}

fn request_text(operation: &RequestOperation, credential: Option<&Credential>, place: &str) -> String {
    let mut parts = vec![
        format!("method = {}", toml_string(&operation.method)),
        format!("path = {}", toml_string(&operation.path)),
    ];
    let credential_at = |at: FieldLocation| -> Option<String> {
        let place = match at {
            FieldLocation::Query => CredentialPlace::Query,
            FieldLocation::Header => CredentialPlace::Header,
            FieldLocation::Cookie => CredentialPlace::Cookie,
            FieldLocation::Path | FieldLocation::Body | FieldLocation::Method => return None,
        };
        match &operation.wrong_credential {
            Some(WrongCredential::Invalid(wrong)) if wrong.place == place => {
                Some(format!("{} = {}", toml_string(&wrong.name), toml_string(wrong.wrong_value())))
            }
            Some(_) => None,
            // Headers of all requests stand above; parameters and cookies with each of them.
            None => credential
                .filter(|credential| credential.place == place && place != CredentialPlace::Header)
                .map(|credential| {
                    format!("{} = {}", toml_string(&credential.name), toml_string(&credential.value()))
                }),
        }
    };
    let pairs_at = |at: FieldLocation| -> Vec<String> {
        let of = operation.fields.iter().filter(|field| field.place == at);
        let fields = of.map(|field| {
            format!("{} = {}", toml_string(&field.wire), toml_string(&format!("{{{}}}", field.name)))
        });
        fields.chain(credential_at(at)).collect()
    };
    let table = |at: FieldLocation, key: &str| {
        let pairs = pairs_at(at);
        (!pairs.is_empty()).then(|| format!("{key} = {{ {} }}", pairs.join(", ")))
    };
    parts.extend(table(FieldLocation::Query, "query"));
    let fixed = [
        operation.content.as_ref().map(|kind| format!("content-type = {}", toml_string(kind))),
        operation.accepts_json.then(|| "accept = \"application/json\"".to_owned()),
    ];
    let headers = fixed.into_iter().flatten().chain(pairs_at(FieldLocation::Header)).collect::<Vec<_>>();
    if !headers.is_empty() {
        parts.push(format!("headers = {{ {} }}", headers.join(", ")));
    }
    parts.extend(table(FieldLocation::Cookie, "cookies"));
    if let Some(body) = operation.fields.iter().find(|field| field.place == FieldLocation::Body) {
        parts.push(format!("body = {}", toml_string(&format!("{{{}}}", body.name))));
    }
    if !operation.files.is_empty() {
        let files = operation.files.iter();
        let files = files.map(|(name, kind)| format!("{} = {}", toml_string(name), toml_string(kind)));
        parts.push(format!("files = {{ {} }}", files.collect::<Vec<_>>().join(", ")));
    }
    parts.push(format!("operation = {}", toml_string(place)));
    format!("{} = {{ {} }}\n", operation.name, parts.join(", "))
}

/// A pattern for the header `Location`, whose last step is an id.
const LOCATION: &str = "(?:[^?#]*/)?(?P<location>[^/?#]+)/?(?:[?#].*)?";

fn response_text(operation: &RequestOperation, inputs: &[&str], answer: &DocumentedResponse) -> String {
    let inputs: Vec<String> = inputs.iter().map(|input| toml_string(input)).collect();
    let mut parts = vec![match &inputs[..] {
        [only] => format!("to = {only}"),
        several => format!("to = [{}]", several.join(", ")),
    }];
    parts.extend(response_statuses(operation, answer));
    let mut headers = Vec::new();
    let mut rest = None;
    match &answer.kind {
        BodyKind::Json => {
            headers.push(format!("content-type = \"{JSON_TYPE}\""));
            rest = Some("fields = { body = \"\" }");
        }
        BodyKind::JsonAs(kind) => {
            headers.push(format!(
                "content-type = {}",
                toml_string(&content_type_pattern(std::slice::from_ref(kind)))
            ));
            rest = Some("fields = { body = \"\" }");
        }
        BodyKind::Kinds(kinds) => {
            headers.push(format!("content-type = {}", toml_string(&content_type_pattern(kinds))));
        }
        BodyKind::Text => rest = Some("body = \"(?s)(?P<body>.*)\""),
        BodyKind::Unchecked => (),
    }
    headers.extend(
        answer
            .headers
            .iter()
            .map(|(name, pattern)| format!("{} = {}", toml_string(name), toml_string(pattern))),
    );
    headers.extend(answer.location.as_ref().map(|_| format!("location = {}", toml_string(LOCATION))));
    headers.extend(answer.has_allow.then(|| "allow = \"(?P<allow>.*)\"".to_owned()));
    if !headers.is_empty() {
        parts.push(format!("headers = {{ {} }}", headers.join(", ")));
    }
    parts.extend(rest.map(str::to_owned));
    format!("{} = {{ {} }}\n", answer.name, parts.join(", "))
}

/// Returns the statuses of a response; a wide one such as `4xx` or `default` excepts those documented on their own.
fn response_statuses(operation: &RequestOperation, answer: &DocumentedResponse) -> Vec<String> {
    let own = answer.status.to_ascii_lowercase();
    let is_wide = |status: &str| status.ends_with('x');
    let others = operation.answers.iter().map(|other| other.status.to_ascii_lowercase());
    let mut apart: Vec<String> = match own.as_str() {
        "default" => others.filter(|other| other != "default").map(|other| toml_string(&other)).collect(),
        wide if is_wide(wide) => {
            let within = others.filter(|other| !is_wide(other) && other.starts_with(&wide[..1]));
            within.map(|other| toml_string(&other)).collect()
        }
        _ => Vec::new(),
    };
    apart.dedup();
    let status = match own.as_str() {
        "default" => None,
        wide if is_wide(wide) => Some(format!("status = {}", toml_string(wide))),
        status => Some(format!("status = {status}")),
    };
    let except = (!apart.is_empty()).then(|| format!("except = [{}]", apart.join(", ")));
    status.into_iter().chain(except).collect()
}

/// Returns a pattern for these content types, in which `*` stands for anything.
fn content_type_pattern(kinds: &[String]) -> String {
    let pattern = |kind: &String| {
        let plain = kind.split(';').next().unwrap_or_default().trim();
        let letter = |c: char| match c {
            '*' => "[^;]*".to_owned(),
            '.' | '+' => format!("\\{c}"),
            other => other.to_string(),
        };
        plain.chars().map(letter).collect::<String>()
    };
    format!("(?i)({})( *;.*)?", kinds.iter().map(pattern).collect::<Vec<_>>().join("|"))
}

/// Returns `text` as a basic string of TOML.
#[must_use]
pub fn toml_string(text: &str) -> String {
    let mut shown = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            other if other.is_control() => shown.push_str(&format!("\\u{:04X}", u32::from(other))),
            other => shown.push(other),
        }
    }
    shown + "\""
}
