//! The encoding of messages of a system with a protocol of its own: text, binary or HTTP.

use std::convert::Infallible;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ioxide_record::secrets::percent_encode;
use ioxide_wire::adapter::http::HttpProtocol;
use ioxide_wire::adapter::text::{ConnectionInput, Disconnection, MessageFormat, TextProtocol};
use ioxide_wire::adapter::{Framing, ResetStep};
use ioxide_wire::codec::binary::BinaryConfig;
use ioxide_wire::codec::encoding::{FieldEncoding, FieldEncodings, UnknownEncoding};
use ioxide_wire::codec::http::answer::AnswerConfig;
use ioxide_wire::codec::http::capture::{CaptureConfig, CaptureFrom};
use ioxide_wire::codec::http::token::ACCESS_TOKEN;
use ioxide_wire::codec::http::{HttpConfig, RequestConfig, Url};
use ioxide_wire::codec::json_form::JsonFormConfig;
use ioxide_wire::codec::layout::{Endian, MessageLayout, hex, unhex};
use ioxide_wire::codec::text::{AnnouncedFrame, CountedConfig, ItemWords, ItemsConfig, TextConfig};

use super::framing;
use super::reset;
use super::system::AddressKind;
use super::table::ProjectTable;
use super::token;
use super::unsolicited;
use crate::error::ProjectError;

/// The encoding of the messages of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolConfig {
    /// The adapter protocol.
    Protocol,
    /// Messages of its own, by templates and patterns or by layouts.
    Own(Box<TextProtocol>),
    /// Requests and answers.
    Http(Box<HttpProtocol>),
}

/// The keys of a system that speaks text, in addition to those of every system.
pub(super) const TEXT: [&str; 15] = [
    "inputs",
    "outputs",
    "parts",
    "items",
    "more",
    "counted",
    "framing",
    "input_end",
    "tls",
    "ignore",
    "answer",
    "connected",
    "on_connect",
    "truth",
    "encodings",
];

/// The keys of a system with binary messages, in addition to those of every system.
pub(super) const BINARY: [&str; 9] =
    ["inputs", "outputs", "endian", "framing", "tls", "ignore", "answer", "connected", "on_connect"];

/// The keys of a system that is asked by HTTP, in addition to those of every system.
pub(super) const HTTP: [&str; 12] = [
    "inputs",
    "outputs",
    "headers",
    "tls",
    "json",
    "captures",
    "token",
    "cookies",
    "ignore",
    "answer",
    "encodings",
    "on_connect",
];

/// The text of a system.
pub(super) fn read_text_protocol(
    system: &ProjectTable<'_>,
    transport: AddressKind,
) -> Result<TextProtocol, ProjectError> {
    let text = TextConfig {
        parts: templates(system.texts("parts")?),
        inputs: templates(sent_texts(system)?),
        outputs: system.texts("outputs")?,
        more: system.text("more")?,
        counted: system.tables("counted")?.iter().map(counted_config).collect::<Result<_, _>>()?,
        items: item_configs(system)?,
        truth: truth_words(system)?,
        encodings: encodings(system)?,
    };
    text.check().map_err(|(key, name, problem)| match (system.table(key), name) {
        (Ok(Some(table)), Some(name)) => table.wrong_value(name, &problem.to_string()),
        _ => system.wrong_value(key, problem.to_string().trim_start_matches(&format!("{key}: "))),
    })?;
    let (framing, input_end) = (framing::of_text(system, transport)?, system.text("input_end")?);
    if framing == Framing::Datagram
        && let Some(key) = ["more", "counted"].into_iter().find(|key| system.has(key))
    {
        return Err(system.wrong_value(key, "a datagram is a whole message"));
    }
    if input_end.is_some() && matches!(framing, Framing::Length(_)) {
        return Err(system.wrong_value("input_end", "a message with a length before it needs no end"));
    }
    Ok(TextProtocol {
        words: MessageFormat::Text(text),
        framing,
        input_end,
        reset: reset::read_steps(system)?,
        on_connect: reset::on_connect(system)?,
        connection_inputs: connection_inputs(system)?,
        starts_disconnected: starts_disconnected(system)?,
        unsolicited: unsolicited::of_text(system)?,
    })
}

/// Returns the words for true and false.
fn truth_words(system: &ProjectTable<'_>) -> Result<Option<[String; 2]>, ProjectError> {
    if !system.has("truth") {
        return Ok(None);
    }
    match <[String; 2]>::try_from(system.words("truth")?) {
        Ok(words) if words[0] != words[1] => Ok(Some(words)),
        _ => Err(system.wrong_value("truth", "write two words, as in [\"True\", \"False\"]")),
    }
}

/// Returns the encodings of fields, by place.
fn encodings(system: &ProjectTable<'_>) -> Result<FieldEncodings, ProjectError> {
    let Some(table) = system.table("encodings")? else { return Ok(FieldEncodings::default()) };
    let encoding = |(place, name): (String, String)| match name.parse() {
        Ok(encoding) => Ok((place, encoding)),
        Err(unknown) => {
            let unknown: UnknownEncoding = unknown;
            Err(table.wrong_value(&place, &unknown.to_string()))
        }
    };
    let all: Result<Vec<(String, FieldEncoding)>, ProjectError> =
        system.texts("encodings")?.into_iter().map(encoding).collect();
    all.map(FieldEncodings::new)
}

/// Returns the encoding of the items of collections, by field.
fn item_configs(system: &ProjectTable<'_>) -> Result<Vec<(String, ItemsConfig)>, ProjectError> {
    let Some(table) = system.table("items")? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for field in table.keys() {
        let Some(described) = table.table(field)? else { continue };
        described.reject_unknown_keys(&["between", "each", "pattern", "cases"])?;
        let between = described.text("between")?.unwrap_or_else(|| ",".into());
        let items = ItemsConfig { between, item: item(&described)?, cases: cases(&described)? };
        found.push((field.to_owned(), items));
    }
    Ok(found)
}

/// Reads the notation of one item of a collection: the template it is written by, the pattern it is read by.
fn item(described: &ProjectTable<'_>) -> Result<ItemWords, ProjectError> {
    Ok(ItemWords { each: described.text("each")?, pattern: described.text("pattern")? })
}

/// Returns the encoding of items that are cases of an enum, by case.
fn cases(described: &ProjectTable<'_>) -> Result<Vec<(String, ItemWords)>, ProjectError> {
    let Some(table) = described.table("cases")? else { return Ok(Vec::new()) };
    if let Some(key) = ["each", "pattern"].into_iter().find(|key| described.has(key)) {
        return Err(described.wrong_value(key, "with `cases`, it belongs to each case"));
    }
    let mut found = Vec::new();
    for name in table.keys() {
        if let Some(case) = table.table(name)? {
            case.reject_unknown_keys(&["each", "pattern"])?;
            found.push((name.to_owned(), item(&case)?));
        }
    }
    Ok(found)
}

/// A frame that announces how much follows it.
fn counted_config(table: &ProjectTable<'_>) -> Result<CountedConfig, ProjectError> {
    table.reject_unknown_keys(&["frame", "then", "end", "more"])?;
    let then = table.require("then", table.text("then")?)?;
    let then = match (then.as_str(), table.text("end")?) {
        ("bytes", end) => AnnouncedFrame::Bytes { end: end.unwrap_or_default() },
        ("frames", None) => AnnouncedFrame::Frames,
        ("pairs", None) => AnnouncedFrame::Pairs,
        ("frames" | "pairs", Some(_)) => {
            return Err(table.wrong_value("end", "only bytes have an end mark of their own"));
        }
        _ => return Err(table.wrong_value("then", "write \"bytes\", \"frames\" or \"pairs\"")),
    };
    let more = table.truth("more")?.unwrap_or(false);
    Ok(CountedConfig { frame: table.require("frame", table.text("frame")?)?, then, more })
}

/// Reads the binary messages of a system, and its reset.
pub(super) fn binary(
    system: &ProjectTable<'_>,
    transport: AddressKind,
) -> Result<TextProtocol, ProjectError> {
    let endian = match system.text("endian")?.map(|text| text.parse()) {
        None => Endian::Big,
        Some(Ok(endian)) => endian,
        Some(Err(())) => return Err(system.wrong_value("endian", "write \"big\" or \"little\"")),
    };
    let binary = BinaryConfig {
        inputs: layouts(system, "inputs", sent_texts(system)?, endian)?,
        outputs: layouts(system, "outputs", system.texts("outputs")?, endian)?,
    };
    let steps = |key: &'static str, steps: Vec<ResetStep>| {
        let step = |step: ResetStep| binary_step(system, key, endian, step);
        steps.into_iter().map(step).collect::<Result<Vec<_>, _>>()
    };
    let reset = steps("reset", reset::read_steps(system)?)?;
    let on_connect = steps("on_connect", reset::on_connect(system)?)?;
    let framing = framing::of_binary(system, endian, transport)?;
    let unsolicited = unsolicited::of_binary(system, endian)?;
    Ok(TextProtocol {
        words: MessageFormat::Binary(binary),
        framing,
        input_end: None,
        reset,
        on_connect,
        connection_inputs: connection_inputs(system)?,
        starts_disconnected: starts_disconnected(system)?,
        unsolicited,
    })
}

/// Returns a step with the digits of its message, which is written as digits or as a layout without fields, and with a
/// pattern for the digits of its answer.
fn binary_step(
    system: &ProjectTable<'_>,
    key: &str,
    endian: Endian,
    step: ResetStep,
) -> Result<ResetStep, ProjectError> {
    let digits = |text: String| {
        let plain: Option<String> = text.strip_prefix("0x").map(|text| text.split_whitespace().collect());
        if let Some(plain) = plain.filter(|plain| !plain.is_empty() && unhex(plain).is_some()) {
            return Ok(plain);
        }
        let bytes = MessageLayout::parse(&text, endian).ok().and_then(|layout| layout.encode(&[]).ok());
        bytes.map(|bytes| hex(&bytes)).ok_or_else(|| {
            let words = if key == "reset" { "\"restart\", \"reconnect\", \"none\" or " } else { "" };
            let problem = format!(
                "write {words}bytes such as \"0x01 ff\" or a layout without fields such as \"u8 = 1, 'OK'\""
            );
            system.wrong_value(key, &problem)
        })
    };
    // The digits of an answer are lower case and without spaces, so those of its pattern are made so.
    let pattern =
        |text: String| -> String { text.strip_prefix("0x").unwrap_or(&text).split_whitespace().collect() };
    Ok(ResetStep { send: step.send.map(digits).transpose()?, expect: step.expect.map(pattern) })
}

/// Returns the templates or layouts of the inputs that send something.
fn sent_texts(system: &ProjectTable<'_>) -> Result<Vec<(String, String)>, ProjectError> {
    let Some(inputs) = system.table("inputs")? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for name in inputs.keys() {
        let text = if inputs.is_table(name) {
            inputs.table(name)?.map_or(Ok(None), |table| table.text("send"))?
        } else {
            inputs.text(name)?
        };
        found.extend(text.map(|text| (name.to_owned(), text)));
    }
    Ok(found)
}

/// Returns the inputs that open or close the connection.
fn connection_inputs(system: &ProjectTable<'_>) -> Result<Vec<ConnectionInput>, ProjectError> {
    let Some(inputs) = system.table("inputs")? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for name in inputs.keys().into_iter().filter(|name| inputs.is_table(name)) {
        let Some(table) = inputs.table(name)? else { continue };
        table.reject_unknown_keys(&["connect", "send", "disconnect"])?;
        let disconnects = match table.text("disconnect")?.as_deref() {
            None => None,
            Some("clean") => Some(Disconnection::Clean),
            Some("abrupt") => Some(Disconnection::Abrupt),
            Some(_) => return Err(table.wrong_value("disconnect", "write \"clean\" or \"abrupt\"")),
        };
        let connects = table.truth("connect")?.unwrap_or(false);
        if !connects && disconnects.is_none() {
            let problem = "write a text, or a table with `connect = true` or `disconnect = \"clean\"`";
            return Err(inputs.wrong_value(name, problem));
        }
        found.push(ConnectionInput {
            name: name.to_owned(),
            connects,
            sends: table.has("send"),
            disconnects,
        });
    }
    Ok(found)
}

/// Returns whether a run begins without a connection.
fn starts_disconnected(system: &ProjectTable<'_>) -> Result<bool, ProjectError> {
    let is_connected = system.truth("connected")?.unwrap_or(true);
    let has_connect = || connection_inputs(system).map(|inputs| inputs.iter().any(|input| input.connects));
    if !is_connected && !has_connect()? {
        return Err(
            system.wrong_value("connected", "no input has `connect = true`, so nothing could be sent")
        );
    }
    Ok(!is_connected)
}

/// Reads the layouts of the table `key` from `texts`, by the names of the messages.
fn layouts(
    system: &ProjectTable<'_>,
    key: &str,
    texts: Vec<(String, String)>,
    endian: Endian,
) -> Result<Vec<(String, MessageLayout)>, ProjectError> {
    let Some(table) = system.table(key)? else { return Ok(Vec::new()) };
    let layout = |(name, text): (String, String)| match MessageLayout::parse(&text, endian) {
        Ok(layout) => Ok((name, layout)),
        Err(bad) => Err(table.wrong_value(&name, &bad.to_string())),
    };
    texts.into_iter().map(layout).collect()
}

/// The requests and answers of a system.
pub(super) fn http(system: &ProjectTable<'_>, url: Url) -> Result<HttpProtocol, ProjectError> {
    let mut http = HttpConfig {
        headers: from_environment(system, system.texts("headers")?)?,
        json: json_form(system)?,
        captures: captures(system)?,
        token: token::read_token(system, &url)?,
        keeps_cookies: system.truth("cookies")?.unwrap_or(false),
        ignored_events: unsolicited::ignored_events(system)?,
        unsolicited: unsolicited::of_streams(system)?,
        variables: sent_variables(system.file_text()),
        ..HttpConfig::default()
    };
    if http.token.is_some() {
        let config = CaptureConfig { output: None, from: CaptureFrom::AccessToken };
        http.captures.push((ACCESS_TOKEN.to_owned(), config));
    }
    if let Some(inputs) = system.table("inputs")? {
        for name in inputs.keys() {
            if let Some(table) = inputs.table(name)? {
                http.inputs.push((name.to_owned(), request(&table, &[])?));
            }
        }
    }
    if let Some(outputs) = system.table("outputs")? {
        for name in outputs.keys() {
            if let Some(table) = outputs.table(name)? {
                http.outputs.push((name.to_owned(), read_answer(&table)?));
            }
        }
    }
    let (reset, on_connect) = (reset::http_steps(system)?, reset::http_on_connect(system)?);
    http.begins_with_websocket = on_connect.iter().any(|step| step.request.websocket);
    Ok(HttpProtocol { url, http, reset, on_connect })
}

/// Returns the conditions on the answer to a step of a reset.
pub(super) fn reset_answer(table: &ProjectTable<'_>) -> Result<AnswerConfig, ProjectError> {
    table.reject_unknown_keys(&["status", "except", "body", "headers", "json"])?;
    read_answer(table)
}

/// Returns the request that a table describes; `more` are keys that it may have besides.
pub(super) fn request(table: &ProjectTable<'_>, more: &[&str]) -> Result<RequestConfig, ProjectError> {
    let over = table.text("over")?;
    if over.is_some() {
        table.reject_unknown_keys(&["over", "body"])?;
        let body = Some(template(&table.require("body", table.text("body")?)?));
        return Ok(RequestConfig { body, over, ..RequestConfig::default() });
    }
    let own = [
        "method",
        "path",
        "query",
        "headers",
        "cookies",
        "body",
        "files",
        "chunked",
        "websocket",
        "operation",
    ];
    table.reject_unknown_keys(&[&own[..], more].concat())?;
    let headers = table.texts("headers")?;
    let is_form = headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("content-type") && value.contains("x-www-form-urlencoded")
    });
    let body = |text: String| if is_form { form_template(&text) } else { template(&text) };
    Ok(RequestConfig {
        method: table.text("method")?.unwrap_or_else(|| "GET".into()),
        path: template(&table.require("path", table.text("path")?)?),
        query: templates(table.texts("query")?),
        headers: from_environment(table, headers)?,
        cookies: templates(table.texts("cookies")?),
        body: table.json_template("body")?.map(body),
        files: table.texts("files")?,
        chunked: table.truth("chunked")?.unwrap_or(false),
        websocket: table.truth("websocket")?.unwrap_or(false),
        over,
        operation: table.text("operation")?,
    })
}

/// Headers with `${NAME}` replaced by that variable of the environment: secrets need not stand in the file.
fn from_environment(
    table: &ProjectTable<'_>,
    headers: Vec<(String, String)>,
) -> Result<Vec<(String, String)>, ProjectError> {
    let filled = |(name, text): (String, String)| {
        let read = |variable: &str| read_variable(table, "headers", &name, variable);
        // `${USER:PASSWORD}` is both of them as basic authentication has them (RFC 7617).
        let value = |variable: &str| match variable.split_once(':') {
            Some((user, password)) => {
                let both = format!("{}:{}", read(user)?, read(password)?);
                Ok(Some(BASE64.encode(both)))
            }
            None => Ok(Some(escape_template(&read(variable)?))),
        };
        let text = replace_variables(&text, value)?;
        Ok((name, text))
    };
    headers.into_iter().map(filled).collect()
}

/// Returns the variable of the environment that the text `name` at `key` needs.
pub(super) fn read_variable(
    table: &ProjectTable<'_>,
    key: &str,
    name: &str,
    variable: &str,
) -> Result<String, ProjectError> {
    std::env::var(variable).map_err(|_| {
        let problem =
            format!("`{name}` needs the variable `{variable}` of the environment, which is not set");
        table.wrong_value(key, &problem)
    })
}

/// Returns a value as a part of a template, of which it is none.
fn escape_template(value: &str) -> String {
    value.replace('{', "{{").replace('}', "}}")
}

/// Returns the variable of the environment that `${name}` in a text stands for, if it is set. Names are in capitals, so
/// that a field after a dollar stays one.
fn variable(name: &str) -> Option<String> {
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if is_name { std::env::var(name).ok() } else { None }
}

/// Returns `text` with `${NAME}` replaced by that variable of the environment, if it is set.
pub(super) fn with_variables(text: &str) -> String {
    replace_variables(text, |name| Ok::<_, Infallible>(variable(name))).unwrap_or_else(|never| match never {})
}

/// Returns a template with `${NAME}` replaced by that variable of the environment, if it is set.
pub(super) fn template(text: &str) -> String {
    let value = |name: &str| Ok::<_, Infallible>(variable(name).map(|value| escape_template(&value)));
    replace_variables(text, value).unwrap_or_else(|never| match never {})
}

/// Returns the template of a form: a variable of the environment is one value, whatever letters it has.
fn form_template(text: &str) -> String {
    let value = |name: &str| Ok::<_, Infallible>(variable(name).map(|value| percent_encode(&value)));
    replace_variables(text, value).unwrap_or_else(|never| match never {})
}

/// Returns templates with the variables of the environment in them.
fn templates(texts: Vec<(String, String)>) -> Vec<(String, String)> {
    texts.into_iter().map(|(name, text)| (name, template(&text))).collect()
}

/// Returns the variables of the environment that `${NAME}` in `text` stands for, with their values.
pub(super) fn variables_in(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let note = |name: &str| {
        let names = name.split(':');
        found.extend(names.filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?))));
        Ok::<_, Infallible>(None)
    };
    replace_variables(text, note).map(drop).unwrap_or_else(|never| match never {});
    found
}

/// Returns the texts that stand for `${NAME}` of `text` in requests, with what stands between the braces.
fn sent_variables(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let note = |name: &str| {
        let read = |name: &str| std::env::var(name).ok();
        let sent = match name.split_once(':') {
            Some((user, password)) => read(user)
                .zip(read(password))
                .map(|(user, password)| BASE64.encode(format!("{user}:{password}"))),
            None => variable(name),
        };
        let known = |sent: &String| found.iter().any(|(other, _)| other == sent);
        if let Some(sent) = sent.filter(|sent| !known(sent)) {
            found.push((sent, name.to_owned()));
        }
        Ok::<_, Infallible>(None)
    };
    replace_variables(text, note).map(drop).unwrap_or_else(|never| match never {});
    found
}

/// Returns `text` with every `${NAME}` replaced by what `value` says; `None` leaves it as it is.
pub(super) fn replace_variables<E>(
    text: &str,
    mut value: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<String, E> {
    let (mut made, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        made.push_str(before);
        match value(name)? {
            Some(value) => made.push_str(&value),
            None => made.push_str(&format!("${{{name}}}")),
        }
        rest = after;
    }
    Ok(made + rest)
}

/// Returns the values to take from answers for later requests, by name.
fn captures(system: &ProjectTable<'_>) -> Result<Vec<(String, CaptureConfig)>, ProjectError> {
    let Some(table) = system.table("captures")? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for name in table.keys() {
        let Some(described) = table.table(name)? else { continue };
        described.reject_unknown_keys(&["output", "header", "cookie", "json"])?;
        let (header, cookie, json) =
            (described.text("header")?, described.text("cookie")?, described.text("json")?);
        let from = match (header, cookie, json) {
            (Some(header), None, None) => CaptureFrom::Header(header.to_ascii_lowercase()),
            (None, Some(cookie), None) => CaptureFrom::Cookie(cookie),
            (None, None, Some(pointer)) if pointer.is_empty() || pointer.starts_with('/') => {
                CaptureFrom::Json(pointer)
            }
            (None, None, Some(_)) => {
                return Err(described.wrong_value("json", "write a JSON pointer, as in \"/token\""));
            }
            _ => return Err(table.wrong_value(name, "write one of `header`, `cookie` and `json`")),
        };
        found.push((name.to_owned(), CaptureConfig { output: described.text("output")?, from }));
    }
    Ok(found)
}

/// Returns the settings of the JSON encoding of values.
fn json_form(system: &ProjectTable<'_>) -> Result<JsonFormConfig, ProjectError> {
    let encodings = encodings(system)?;
    let Some(table) = system.table("json")? else {
        return Ok(JsonFormConfig { encodings, ..JsonFormConfig::default() });
    };
    table.reject_unknown_keys(&[
        "open", "closed", "untagged", "text", "absent", "null", "names", "cases", "numbers",
    ])?;
    let numbers_as_text = match table.text("numbers")?.as_deref() {
        None => false,
        Some("text") => true,
        Some(_) => return Err(table.wrong_value("numbers", "write \"text\" for numbers in quotes")),
    };
    Ok(JsonFormConfig {
        open: table.truth("open")?.unwrap_or(false),
        closed: table.words("closed")?,
        untagged: table.words("untagged")?,
        text: table.words("text")?,
        absent: table.words("absent")?,
        null: table.words("null")?,
        names: table.texts("names")?,
        cases: table.texts("cases")?,
        numbers_as_text,
        encodings,
    })
}

/// Returns the conditions on a message of a stream.
pub(super) fn event(table: &ProjectTable<'_>) -> Result<AnswerConfig, ProjectError> {
    table.reject_unknown_keys(&["event", "body", "json", "to"])?;
    read_answer(table)
}

/// Reads the description of one HTTP answer.
fn read_answer(table: &ProjectTable<'_>) -> Result<AnswerConfig, ProjectError> {
    table.reject_unknown_keys(&[
        "status", "except", "body", "headers", "json", "fields", "to", "event", "closed",
    ])?;
    if table.is_table("body") {
        return Err(table.wrong_value("body", "it is a pattern for the whole text of the body").with_help(
            "members of a JSON body are `fields = { NAME = \"/member\" }` for fields of the output, and `json = { \
             \"/member\" = \"text\" }` for conditions",
        ));
    }
    Ok(AnswerConfig {
        status: table.words("status")?,
        except: table.words("except")?,
        body: table.text("body")?,
        headers: table.texts("headers")?,
        json: table.texts("json")?,
        fields: table.texts("fields")?,
        to: table.words("to")?,
        event: table.text("event")?,
        closed: table.truth("closed")?.unwrap_or(false),
    })
}
