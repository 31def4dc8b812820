//! Tables of the project file, read key by key; every mistake knows its line.

use toml::de::{DeTable, DeValue};

use crate::FILE;
use crate::error::ProjectError;

/// A table of the file: its keys in the order of the file, each with the byte at which it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectNode(Vec<ProjectEntry>);

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProjectEntry {
    key: String,
    at: usize,
    value: ProjectValue,
}

/// A value of the file, which borrows nothing from its text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProjectValue {
    Text(String),
    Integer {
        digits: String,
        radix: u32,
        shown: String,
    },
    /// A number with a fraction, or a date, as it is written.
    Other(String),
    Truth(bool),
    List(Vec<ProjectValue>),
    Table(ProjectNode),
}

impl ProjectNode {
    /// Parses a whole file.
    pub(crate) fn parse(text: &str) -> Result<Self, ProjectError> {
        let parsed = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            problem(text, at, error.message())
        })?;
        Ok(Self::from_toml(parsed.get_ref()))
    }

    fn from_toml(table: &DeTable<'_>) -> Self {
        let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            let value = ProjectValue::from_toml(value.get_ref());
            ProjectEntry { key: name.to_string(), at: key.span().start, value }
        };
        let mut entries: Vec<ProjectEntry> = table.iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.at);
        Self(entries)
    }
}

impl ProjectValue {
    fn from_toml(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Integer(number) => Self::Integer {
                digits: number.as_str().to_owned(),
                radix: number.radix(),
                shown: number.to_string(),
            },
            DeValue::Float(number) => Self::Other(number.to_string()),
            DeValue::Boolean(truth) => Self::Truth(*truth),
            DeValue::Datetime(time) => Self::Other(time.to_string()),
            DeValue::Array(items) => {
                Self::List(items.iter().map(|item| Self::from_toml(item.get_ref())).collect())
            }
            DeValue::Table(table) => Self::Table(ProjectNode::from_toml(table)),
        }
    }

    /// Returns the value as text, keys in order; values of keys for which `is_hidden` holds are left out.
    fn render(&self, is_hidden: &dyn Fn(&str) -> bool) -> String {
        match self {
            Self::Text(text) => format!("{text:?}"),
            Self::Integer { shown, .. } => shown.clone(),
            Self::Other(text) => text.clone(),
            Self::Truth(truth) => truth.to_string(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.render(is_hidden)).collect();
                format!("[{}]", items.join(","))
            }
            Self::Table(table) => {
                let entry = |entry: &ProjectEntry| {
                    let value =
                        if is_hidden(&entry.key) { String::new() } else { entry.value.render(is_hidden) };
                    format!("{:?}:{value}", entry.key)
                };
                let mut entries: Vec<String> = table.0.iter().map(entry).collect();
                entries.sort();
                format!("{{{}}}", entries.join(","))
            }
        }
    }
}

/// The rule for fields in a table that stands for JSON.
const FIELD_ALONE: &str = "in a table a field stands alone, as in `{ name = \"{name}\" }`; to put it into a text, \
                           write the whole body as a string, with `{{` and `}}` for the braces of JSON";

impl ProjectValue {
    /// Returns the value as a template of JSON, in which `"{field}"` stands for the value of a field; fails with the
    /// reason.
    fn json_template(&self) -> Result<String, &'static str> {
        match self {
            Self::Text(text) => match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some(field) if !field.is_empty() && !field.contains(['{', '}', '"']) => Ok(text.clone()),
                None if !text.contains(['{', '}']) => Ok(json_string(text)),
                _ => Err(FIELD_ALONE),
            },
            Self::Integer { shown, radix: 10, .. } => Ok(shown.replace(['_', '+'], "")),
            Self::Other(text) if text.parse::<f64>().is_ok_and(f64::is_finite) => {
                Ok(text.replace(['_', '+'], ""))
            }
            Self::Integer { .. } | Self::Other(_) => Err("JSON has no such number"),
            Self::Truth(truth) => Ok(truth.to_string()),
            Self::List(items) => {
                let items = items.iter().map(Self::json_template).collect::<Result<Vec<_>, _>>()?;
                Ok(format!("[{}]", items.join(", ")))
            }
            Self::Table(table) => {
                let entry = |entry: &ProjectEntry| {
                    let key = json_string(&entry.key).replace('{', "{{").replace('}', "}}");
                    Ok(format!("{key}: {}", entry.value.json_template()?))
                };
                let entries = table.0.iter().map(entry).collect::<Result<Vec<_>, &'static str>>()?;
                Ok(format!("{{{{{}}}}}", entries.join(", ")))
            }
        }
    }
}

/// Returns a text as a string of JSON.
fn json_string(text: &str) -> String {
    let mut shown = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            other if other.is_control() => shown.push_str(&format!("\\u{:04x}", u32::from(other))),
            other => shown.push(other),
        }
    }
    shown + "\""
}

/// Returns the mistake at a byte of the file.
fn problem(text: &str, at: usize, problem: &str) -> ProjectError {
    ProjectError::new(format!("{}: {problem}", place_of_byte(text, at)))
}

/// Returns the file and the line of a byte.
fn place_of_byte(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    format!("{FILE}:{}", 1 + before.matches('\n').count())
}

/// An item of a list in which texts and tables may stand side by side.
pub(crate) enum TableItem<'f> {
    /// A text, or a number as text.
    Text(String),
    /// A table.
    Table(ProjectTable<'f>),
}

/// A table and the keys that lead to it.
pub(crate) struct ProjectTable<'f> {
    /// The text of the whole file.
    text: &'f str,
    path: String,
    node: &'f ProjectNode,
    /// The value of `{index}` in its texts; `None` if it has none.
    index: Option<i64>,
}

impl<'f> ProjectTable<'f> {
    /// Returns the outermost table of a file.
    pub(crate) fn new(text: &'f str, node: &'f ProjectNode) -> Self {
        Self { text, path: String::new(), node, index: None }
    }

    /// Replaces `{index}` in all texts of the table.
    pub(crate) fn of_instance(self, index: Option<i64>) -> Self {
        Self { index, ..self }
    }

    /// Returns `text` with `{index}` replaced, and `{index:02x}` by two hexadecimal digits.
    pub(crate) fn fill_index(&self, text: &str) -> String {
        let filled =
            |at: i64| text.replace("{index}", &at.to_string()).replace("{index:02x}", &format!("{at:02x}"));
        self.index.map_or_else(|| text.to_owned(), filled)
    }

    /// The keys it has, in the order of the file.
    pub(crate) fn keys(&self) -> Vec<&'f str> {
        self.node.0.iter().map(|entry| entry.key.as_str()).collect()
    }

    /// Returns every key with its value as text, in one form however it is written; the values of keys inside tables
    /// for which `is_hidden` holds are left out.
    pub(crate) fn render_keys(&self, is_hidden: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
        self.node.0.iter().map(|entry| (entry.key.clone(), entry.value.render(is_hidden))).collect()
    }

    /// Returns whether there is a string at `key`.
    pub(crate) fn is_text(&self, key: &str) -> bool {
        matches!(self.value(key), Some(ProjectValue::Text(_)))
    }

    /// The text of the whole file.
    pub(crate) fn file_text(&self) -> &str {
        self.text
    }

    /// Returns whether the table has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Returns an error if there is a key that is not `known`.
    pub(crate) fn reject_unknown_keys(&self, known: &[&str]) -> Result<(), ProjectError> {
        self.check_keys(known, known)
    }

    /// Returns an error if there is a key that is not `known`; it proposes one of the `proposed` keys.
    pub(crate) fn check_keys(&self, known: &[&str], proposed: &[&str]) -> Result<(), ProjectError> {
        let Some(entry) = self.node.0.iter().find(|entry| !known.contains(&entry.key.as_str())) else {
            return Ok(());
        };
        let error = self.problem(entry.at, &format!("there is no key `{}`", self.full(&entry.key)));
        // A key that other tables have is not what was meant here.
        let others: Vec<&str> = proposed.iter().copied().filter(|name| *name != entry.key).collect();
        Err(error.with_nearest(&entry.key, &others))
    }

    /// The table at `key`.
    pub(crate) fn table(&self, key: &str) -> Result<Option<Self>, ProjectError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value {
            ProjectValue::Table(table) => Ok(Some(self.inner(key, table))),
            _ => Err(self.wrong_value(key, "expected a table")),
        }
    }

    /// Returns the view of a table inside this one.
    fn inner(&self, key: &str, node: &'f ProjectNode) -> Self {
        Self { text: self.text, path: self.full(key), node, index: self.index }
    }

    /// The table at `key`, or all of a list of them.
    pub(crate) fn tables(&self, key: &str) -> Result<Vec<Self>, ProjectError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let ProjectValue::List(items) = value else {
            return Ok(self.table(key)?.into_iter().collect());
        };
        let table = |item: &'f ProjectValue| match item {
            ProjectValue::Table(table) => Ok(self.inner(key, table)),
            _ => Err(self.wrong_value(key, "expected a list of tables")),
        };
        items.iter().map(table).collect()
    }

    /// The text or the table at `key`, or all of a list of them.
    pub(crate) fn items(&self, key: &str) -> Result<Vec<TableItem<'f>>, ProjectError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let item = |value: &'f ProjectValue| match value {
            ProjectValue::Text(text) => Ok(TableItem::Text(self.fill_index(text))),
            ProjectValue::Integer { digits, .. } => Ok(TableItem::Text(digits.clone())),
            ProjectValue::Table(table) => Ok(TableItem::Table(self.inner(key, table))),
            _ => Err(self.wrong_value(key, "expected a string, a table, or a list of them")),
        };
        match value {
            ProjectValue::List(items) => items.iter().map(item).collect(),
            one => Ok(vec![item(one)?]),
        }
    }

    /// Returns whether there is a table at `key`.
    pub(crate) fn is_table(&self, key: &str) -> bool {
        matches!(self.value(key), Some(ProjectValue::Table(_)))
    }

    /// The truth at `key`.
    pub(crate) fn truth(&self, key: &str) -> Result<Option<bool>, ProjectError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value {
            ProjectValue::Truth(truth) => Ok(Some(*truth)),
            _ => Err(self.wrong_value(key, "expected true or false")),
        }
    }

    /// The string at `key`.
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, ProjectError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value {
            ProjectValue::Text(text) => Ok(Some(self.fill_index(text))),
            _ => Err(self.wrong_value(key, "expected a string")),
        }
    }

    /// Returns the string at `key`, or the table or list there as a template of JSON.
    pub(crate) fn json_template(&self, key: &str) -> Result<Option<String>, ProjectError> {
        match self.value(key) {
            Some(value @ (ProjectValue::Table(_) | ProjectValue::List(_))) => {
                value.json_template().map(Some).map_err(|problem| self.wrong_value(key, problem))
            }
            _ => self.text(key),
        }
    }

    /// The strings of the table at `key`, by name.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<(String, String)>, ProjectError> {
        let Some(inner) = self.table(key)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for name in inner.keys() {
            found.extend(inner.text(name)?.map(|text| (name.to_owned(), text)));
        }
        Ok(found)
    }

    /// The whole numbers of the table at `key`, by name.
    pub(crate) fn numbers(&self, key: &str) -> Result<Vec<(String, u64)>, ProjectError> {
        let Some(inner) = self.table(key)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for name in inner.keys() {
            found.extend(inner.number(name)?.map(|number| (name.to_owned(), number)));
        }
        Ok(found)
    }

    /// The string or number at `key`, or a list of them.
    pub(crate) fn words(&self, key: &str) -> Result<Vec<String>, ProjectError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let word = |value: &ProjectValue| match value {
            ProjectValue::Text(text) => Ok(self.fill_index(text)),
            ProjectValue::Integer { digits, .. } => Ok(digits.clone()),
            _ => Err(self.wrong_value(key, "expected a number, a string, or a list of them")),
        };
        match value {
            ProjectValue::List(items) => items.iter().map(word).collect(),
            one => Ok(vec![word(one)?]),
        }
    }

    /// The whole number at `key`.
    pub(crate) fn number(&self, key: &str) -> Result<Option<u64>, ProjectError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number = match value {
            ProjectValue::Integer { digits, radix, .. } => u64::from_str_radix(digits, *radix).ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| self.wrong_value(key, "expected a whole number that is not negative"))
    }

    /// `value`, which must be there.
    pub(crate) fn require(&self, key: &str, value: Option<String>) -> Result<String, ProjectError> {
        value.ok_or_else(|| {
            let at = self.node.0.first().map_or(0, |first| first.at);
            self.problem(at, &format!("`{}` is missing", self.full(key)))
        })
    }

    /// Returns the error of a wrong value at `key`, with its place.
    pub(crate) fn wrong_value(&self, key: &str, problem: &str) -> ProjectError {
        let at = self.entry(key).map_or(0, |entry| entry.at);
        self.problem(at, &format!("`{}`: {problem}", self.full(key)))
    }

    /// The file and the line of `key`.
    pub(crate) fn place_of_key(&self, key: &str) -> String {
        place_of_byte(self.text, self.entry(key).map_or(0, |entry| entry.at))
    }

    /// Returns an error at an offset of the text.
    fn problem(&self, at: usize, what: &str) -> ProjectError {
        problem(self.text, at, what)
    }

    /// Returns the entry of a key, if the table has it.
    fn entry(&self, key: &str) -> Option<&'f ProjectEntry> {
        self.node.0.iter().find(|entry| entry.key == key)
    }

    /// Returns the value of a key, if the table has it.
    fn value(&self, key: &str) -> Option<&'f ProjectValue> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the full name of a key, as in `sut.shop.port`.
    fn full(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}
