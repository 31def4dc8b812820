//! Requests: templates for path, query, headers, cookies and body, filled with the values of an input.
//!
//! A parameter of the query, a header or a cookie that is just one field is left out where the field is `none`; a list
//! is repeated in a query and stands between commas elsewhere. What is captured from answers fills templates too; where
//! it is not there yet, headers, cookies and parameters are left out.

use ioxide_model::collection::Items;
use ioxide_model::label::Label;
use ioxide_model::sort::DataKind;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_record::secrets::percent_encode;
use serde_json::Value as Json;
use thiserror::Error;

use super::capture::{CapturedValues, text_of};
use super::message::HttpRequest;
use super::{multipart, xml};
use crate::codec::UnwritableMessage;
use crate::codec::json_form::JsonForm;
use crate::codec::template::{BadTemplate, TextTemplate, plain_text, value_of};

/// A request as people wrote it down, in templates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestConfig {
    /// Its method, or the field that has it.
    pub method: String,
    /// The path, with a query after a question mark.
    pub path: String,
    /// Parameters after the path, by name.
    pub query: Vec<(String, String)>,
    /// Its headers, in addition to those of every request.
    pub headers: Vec<(String, String)>,
    /// Its cookies, in addition to those that are kept.
    pub cookies: Vec<(String, String)>,
    /// Its body.
    pub body: Option<String>,
    /// The members of a body in parts that are files, with their content types.
    pub files: Vec<(String, String)>,
    /// True if the body is sent in chunks, without its length.
    pub chunked: bool,
    /// True if the request opens a WebSocket.
    pub websocket: bool,
    /// The input that opened the WebSocket its body is sent over; it is no request then.
    pub over: Option<String>,
    /// The place of its operation in the description of the service, for people; `None` if it is not known.
    pub operation: Option<String>,
}

/// The reason why a request cannot be used as configured.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadRequestConfig {
    /// The method is no HTTP token.
    #[error("`{0}` is not a method")]
    Method(String),
    /// The path is not valid.
    #[error("`{0}` is not a path; it begins with `/` and has no spaces")]
    Path(String),
    /// A header without name.
    #[error("a header has no name")]
    NamelessHeader,
    /// A header that the adapter writes itself: it delimits messages or names the connection.
    #[error("the header `{0}` is set by ioxide")]
    OwnHeader(String),
    /// A header with a name that no header can have.
    #[error("`{0}` is not a header name")]
    HeaderName(String),
    /// The request is to be sent over a WebSocket that no input opens.
    #[error("`{0}` opens no WebSocket")]
    NoWebSocket(String),
    /// A template cannot be read.
    #[error(transparent)]
    Template(#[from] BadTemplate),
}

/// The reason why a request cannot be sent without an input.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnplainRequest {
    /// The request cannot be used as configured.
    #[error(transparent)]
    Bad(#[from] BadRequestConfig),
    /// The request has a field that only an input can fill.
    #[error("there is no field `{0}` here; if these are braces of the text, write `{{{{` and `}}}}`")]
    Field(String),
    /// The request cannot be written.
    #[error(transparent)]
    Unwritable(#[from] UnwritableMessage),
}

/// A request whose templates are read.
#[derive(Debug)]
pub(super) struct PreparedRequest {
    config: RequestConfig,
    method: TextTemplate,
    path: TextTemplate,
    query: Vec<(String, TextTemplate)>,
    headers: Vec<(String, TextTemplate)>,
    cookies: Vec<(String, TextTemplate)>,
    body: Option<TextTemplate>,
    writing: BodyWriting,
}

/// The notation of values in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyWriting {
    Json,
    Form,
    Multipart,
    Xml,
    Plain,
}

/// The values that fill templates.
#[derive(Clone, Copy)]
pub(super) struct TemplateValues<'f> {
    pub(super) model: &'f Model,
    pub(super) label: &'f Label,
    pub(super) form: &'f JsonForm,
    pub(super) captured: &'f CapturedValues,
}

impl TemplateValues<'_> {
    /// Returns the value inside an option, or the value itself if it is no option; `None` for `none`.
    fn unwrap_option(self, value: &Value) -> Option<&Value> {
        match value {
            Value::Data(data) if self.model.pool.data(data.data).kind == DataKind::Option => {
                data.args.first()
            }
            other => Some(other),
        }
    }

    /// Returns the text of a template; `None` if a value it needs was not captured yet.
    fn fill_text(
        self,
        template: &TextTemplate,
        shown: &dyn Fn(&Value) -> Result<String, UnwritableMessage>,
        again: &dyn Fn(&Json) -> String,
    ) -> Result<Option<String>, UnwritableMessage> {
        // A name that is captured from answers but has no value yet: callers leave the text out or refuse.
        let is_missing = |name: &str| self.captured.knows(name) && self.captured.get(name).is_none();
        if template.fields().any(is_missing) {
            return Ok(None);
        }
        let known = |name: &str| self.captured.get(name).map(again);
        template.filled_with(self.model, self.label, &known, |_, value| shown(value)).map(Some)
    }

    /// Returns the texts of a template: for a single field none, one, or one for every item; otherwise its one text.
    fn fill_texts(self, template: &TextTemplate) -> Result<Vec<String>, UnwritableMessage> {
        let plain = |value: &Value| self.plain_text(value);
        // Only a template that is a single field can be left out or repeated; inside a longer text a value is text.
        let value = template.only_field().and_then(|field| value_of(self.model, self.label, field).ok());
        match value.map(|value| self.unwrap_option(value)) {
            Some(None) => Ok(Vec::new()),
            Some(Some(Value::Collection(items))) => match &items.items {
                Items::List(items) | Items::Set(items) => items.iter().map(plain).collect(),
                Items::Map(_) => Err(UnwritableMessage::Map),
            },
            _ => Ok(self.fill_text(template, &plain, &text_of)?.into_iter().collect()),
        }
    }

    /// Fails if a number in it has endless decimals: neither JSON nor text can write it.
    fn is_writable(value: &Value) -> Result<(), UnwritableMessage> {
        match value {
            Value::Real(number) if number.to_string().contains('/') => {
                Err(UnwritableMessage::EndlessDecimals(number.to_string()))
            }
            Value::Data(data) => data.args.iter().try_for_each(Self::is_writable),
            Value::Collection(items) => match &items.items {
                Items::List(items) | Items::Set(items) => items.iter().try_for_each(Self::is_writable),
                Items::Map(entries) => entries.iter().try_for_each(|(_, item)| Self::is_writable(item)),
            },
            _ => Ok(()),
        }
    }

    /// Returns a value as plain text: a case by its notation, a record as JSON.
    fn plain_text(self, value: &Value) -> Result<String, UnwritableMessage> {
        match value {
            Value::Data(data) if self.model.pool.data(data.data).kind == DataKind::Enum => {
                Ok(text_of(&self.form.write(&self.model.pool, value)))
            }
            Value::Data(data) if self.model.pool.data(data.data).kind == DataKind::Record => {
                Ok(self.form.write(&self.model.pool, value).to_string())
            }
            Value::Real(number) => Ok(whole_as_such(&number.to_string())),
            _ => match self.unwrap_option(value) {
                // The value inside an option is written by these rules again; the same value again would not end.
                Some(inner) if !std::ptr::eq(inner, value) => self.plain_text(inner),
                _ => plain_text(&self.model.pool, value),
            },
        }
    }

    /// Returns a value as form data: the members of a record, each with its name.
    fn form_text(self, value: &Value) -> Result<String, UnwritableMessage> {
        let Json::Object(members) = self.form.write(&self.model.pool, value) else {
            return self.plain_text(value).map(|text| percent_encode(&text));
        };
        let mut pairs = Vec::new();
        for (name, member) in &members {
            let all = member.as_array().cloned().unwrap_or_else(|| vec![member.clone()]);
            let shown = all.iter().filter(|one| !one.is_null());
            pairs.extend(
                shown.map(|one| format!("{}={}", percent_encode(name), percent_encode(&text_of(one)))),
            );
        }
        Ok(pairs.join("&"))
    }
}

impl TemplateValues<'_> {
    /// Returns a value in XML: a record as an element with the name of its type, a case as one with the name of the
    /// case, a list as its items, anything else as text.
    fn xml_text(self, value: &Value) -> Result<String, UnwritableMessage> {
        let mut text = String::new();
        match self.unwrap_option(value) {
            None => {}
            Some(Value::Collection(items)) => match &items.items {
                Items::List(items) | Items::Set(items) => {
                    for item in items.iter() {
                        text.push_str(&self.xml_text(item)?);
                    }
                }
                Items::Map(_) => return Err(UnwritableMessage::Map),
            },
            Some(Value::Data(data)) if !data.args.is_empty() => {
                let sort = self.model.pool.data(data.data);
                let json = self.form.write(&self.model.pool, &Value::Data(data.clone()));
                match (&json, sort.kind) {
                    (Json::Object(members), DataKind::Enum) => {
                        for (name, content) in members {
                            xml::write_element(name, content, &mut text)?;
                        }
                    }
                    _ => xml::write_element(&sort.name, &json, &mut text)?,
                }
            }
            Some(plain) => text.push_str(&xml::escape_text(&self.plain_text(plain)?)?),
        }
        Ok(text)
    }
}

impl PreparedRequest {
    /// Reads the templates of `config`; of the `common` headers, those that it sets itself are left out.
    pub(super) fn new(config: &RequestConfig, common: &[(String, String)]) -> Result<Self, BadRequestConfig> {
        if config.over.is_none() {
            check_start(config)?;
        }
        // A header of the request replaces the common one of its name: sent twice, servers disagree about which
        // counts.
        let is_own = |name: &str| config.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let common = common.iter().filter(|(name, _)| !is_own(name));
        let mut headers = Vec::new();
        for (name, text) in config.headers.iter().chain(common) {
            headers.push((header_name(name)?, TextTemplate::new(text)?));
        }
        let named = |all: &[(String, String)]| -> Result<Vec<_>, BadRequestConfig> {
            all.iter().map(|(name, text)| Ok((name.clone(), TextTemplate::new(text)?))).collect()
        };
        let kind = headers_kind(&config.headers);
        // `contains`, since types such as `application/problem+json` and parameters are common. JSON is the
        // default.
        let writing = match kind {
            None => BodyWriting::Json,
            Some(text) if text.contains("json") => BodyWriting::Json,
            Some(text) if text.contains("x-www-form-urlencoded") => BodyWriting::Form,
            Some(text) if text.starts_with(multipart::MULTIPART) => BodyWriting::Multipart,
            Some(text) if text.contains("xml") => BodyWriting::Xml,
            Some(_) => BodyWriting::Plain,
        };
        Ok(Self {
            method: TextTemplate::new(&config.method)?,
            path: TextTemplate::new(&config.path)?,
            query: named(&config.query)?,
            headers,
            cookies: named(&config.cookies)?,
            body: config.body.as_deref().map(TextTemplate::new).transpose()?,
            writing,
            config: config.clone(),
        })
    }

    /// Returns the input that opened the WebSocket over which it is sent; `None` for a request of its own.
    pub(super) fn over(&self) -> Option<&str> {
        self.config.over.as_deref()
    }

    /// Returns the fields that the templates of the request name.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        let named = self.headers.iter().chain(&self.query).chain(&self.cookies);
        let named = named.flat_map(|(_, text)| text.fields());
        let start = self.method.fields().chain(self.path.fields());
        start.chain(named).chain(self.body.iter().flat_map(TextTemplate::fields))
    }

    /// Returns the request with the values of the message put in.
    pub(super) fn fill(
        &self,
        base: &str,
        filling: TemplateValues<'_>,
    ) -> Result<HttpRequest, UnwritableMessage> {
        if let Label::Input(_, values) = filling.label {
            // Checked for all values at once, as the templates below write numbers in many ways and none can write
            // a third.
            values.iter().try_for_each(TemplateValues::is_writable)?;
        }
        // Encoded value by value: a slash in a value is part of a segment, one in the template separates two.
        let encoded = |value: &Value| filling.plain_text(value).map(|text| percent_encode(&text));
        let path = filling.fill_text(&self.path, &encoded, &|json| percent_encode(&text_of(json)))?;
        let path = path.ok_or(UnwritableMessage::Uncaptured("path"))?;
        let body = self.body(filling)?;
        let mut headers = Vec::new();
        for (name, text) in &self.headers {
            let values = filling.fill_texts(text)?;
            // A line end in a value would add a header or a second request, which the promise of this module
            // excludes.
            if let Some(bad) = values.iter().find(|value| value.chars().any(char::is_control)) {
                return Err(UnwritableMessage::Header(bad.clone()));
            }
            if !values.is_empty() {
                headers.push((name.clone(), values.join(",")));
            }
        }
        if let (BodyWriting::Multipart, Some(body)) = (self.writing, &body) {
            // The boundary depends on the body, so the type that was configured is completed here.
            headers.retain(|(name, _)| name != "content-type");
            headers.push(("content-type".into(), multipart::content_type(body)));
        }
        let path = format!("{base}{path}{}", self.query_text(&path, filling)?);
        // Cookies that were kept depend on the path, which is complete only now.
        headers.extend(self.cookie_header(&path, filling)?);
        if body.is_some() && !headers.iter().any(|(name, _)| name == "content-type") {
            headers.push(("content-type".into(), "application/json".into()));
        }
        let RequestConfig { chunked, websocket, .. } = &self.config;
        Ok(HttpRequest {
            method: self.method_text(filling)?,
            path,
            headers,
            body,
            is_chunked: *chunked,
            opens: *websocket,
        })
    }

    fn method_text(&self, filling: TemplateValues<'_>) -> Result<String, UnwritableMessage> {
        let plain = |value: &Value| filling.plain_text(value);
        let method = filling.fill_text(&self.method, &plain, &text_of)?;
        let method = method.ok_or(UnwritableMessage::Uncaptured("method"))?;
        // A message over a WebSocket has none.
        if self.over().is_none() && !is_method(&method) {
            return Err(UnwritableMessage::Method(method));
        }
        Ok(method)
    }

    /// Returns the body, `None` if there is none or its only field is `none`.
    fn body(&self, filling: TemplateValues<'_>) -> Result<Option<String>, UnwritableMessage> {
        let Some(body) = &self.body else { return Ok(None) };
        let only = body.only_field().and_then(|field| value_of(filling.model, filling.label, field).ok());
        // A request whose body is one optional field has no body at all where the field is `none`.
        if only.is_some_and(|value| filling.unwrap_option(value).is_none()) {
            return Ok(None);
        }
        let shown = |value: &Value| match self.writing {
            BodyWriting::Json => Ok(filling.form.write(&filling.model.pool, value).to_string()),
            BodyWriting::Form => filling.form_text(value),
            BodyWriting::Multipart => match filling.form.write(&filling.model.pool, value) {
                Json::Object(members) => Ok(multipart::write_form(&members, &self.config.files)),
                _ => filling.plain_text(value),
            },
            BodyWriting::Xml => filling.xml_text(value),
            BodyWriting::Plain => filling.plain_text(value),
        };
        // A captured text with a character that XML cannot hold is sent as it is, for the system to refuse.
        let again = |json: &Json| match self.writing {
            BodyWriting::Xml => xml::escape_text(&text_of(json)).unwrap_or_else(|_| text_of(json)),
            BodyWriting::Json => json.to_string(),
            BodyWriting::Form => percent_encode(&text_of(json)),
            BodyWriting::Plain | BodyWriting::Multipart => text_of(json),
        };
        let text = filling.fill_text(body, &shown, &again)?;
        text.map(Some).ok_or(UnwritableMessage::Uncaptured("body"))
    }

    fn query_text(&self, path: &str, filling: TemplateValues<'_>) -> Result<String, UnwritableMessage> {
        let mut query = String::new();
        for (name, text) in &self.query {
            for value in filling.fill_texts(text)? {
                // The path may have a query of its own, written into its template.
                let mark = if query.is_empty() && !path.contains('?') { '?' } else { '&' };
                query.push_str(&format!("{mark}{}={}", percent_encode(name), percent_encode(&value)));
            }
        }
        Ok(query)
    }

    fn cookie_header(
        &self,
        path: &str,
        filling: TemplateValues<'_>,
    ) -> Result<Option<(String, String)>, UnwritableMessage> {
        let mut cookies: Vec<String> =
            filling.captured.cookies(path).map(|(name, value)| format!("{name}={value}")).collect();
        for (name, text) in &self.cookies {
            for value in filling.fill_texts(text)? {
                // The characters that RFC 6265, 4.1.1, excludes from the value of a cookie.
                let is_odd =
                    |c: char| c.is_control() || matches!(c, ';' | ',' | ' ' | '"' | '\\') || !c.is_ascii();
                if value.contains(is_odd) {
                    return Err(UnwritableMessage::Cookie(value));
                }
                cookies.push(format!("{name}={value}"));
            }
        }
        Ok((!cookies.is_empty()).then(|| ("cookie".to_owned(), cookies.join("; "))))
    }
}

/// Returns a number without `.0` at its end: many services have no item `2.0`.
fn whole_as_such(number: &str) -> String {
    number.strip_suffix(".0").unwrap_or(number).to_owned()
}

/// Returns the content type among the headers.
fn headers_kind(headers: &[(String, String)]) -> Option<&str> {
    let kind = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    kind.map(|(_, text)| text.as_str())
}

fn is_method(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn check_start(config: &RequestConfig) -> Result<(), BadRequestConfig> {
    // Values in braces are checked when they are filled in.
    if !config.method.contains('{') && !is_method(&config.method) {
        return Err(BadRequestConfig::Method(config.method.clone()));
    }
    if !config.path.starts_with('/') || config.path.contains([' ', '\r', '\n']) {
        return Err(BadRequestConfig::Path(config.path.clone()));
    }
    Ok(())
}

/// Returns a header name in lower case; fails for those that delimit messages, which the adapter writes itself.
fn header_name(name: &str) -> Result<String, BadRequestConfig> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let lower = name.to_ascii_lowercase();
    match lower.as_str() {
        "" => Err(BadRequestConfig::NamelessHeader),
        "host" | "content-length" | "transfer-encoding" | "connection" => {
            Err(BadRequestConfig::OwnHeader(name.to_owned()))
        }
        _ if !name.bytes().all(is_token) => Err(BadRequestConfig::HeaderName(name.to_owned())),
        _ => Ok(lower),
    }
}
