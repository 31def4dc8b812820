//! Tables of the project file, read key by key; every mistake knows its line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::exit::CliError;

/// The text of a project file and its name.
pub struct ProjectFile<'t> {
    name: &'t str,
    text: &'t str,
}

impl<'t> ProjectFile<'t> {
    pub fn new(name: &'t str, text: &'t str) -> Self {
        Self { name, text }
    }

    /// The outermost table.
    pub fn parse(&self) -> Result<Spanned<DeTable<'t>>, CliError> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.problem(at, error.message())
        })
    }

    fn problem(&self, at: usize, problem: &str) -> CliError {
        CliError::usage(format!("{}: {problem}", self.place_of_byte(at)))
    }

    /// The file and the line of a byte.
    fn place_of_byte(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or(self.text);
        format!("{}:{}", self.name, 1 + before.matches('\n').count())
    }
}

/// An item of a list in which texts and tables may stand side by side.
pub enum TableItem<'f> {
    /// A text, or a number as text.
    Text(String),
    /// A table.
    Table(ProjectTable<'f>),
}

/// A table and the keys that lead to it.
pub struct ProjectTable<'f> {
    file: &'f ProjectFile<'f>,
    path: String,
    table: &'f DeTable<'f>,
    /// The value of `{index}` in its texts; `None` if it has none.
    index: Option<i64>,
}

impl<'f> ProjectTable<'f> {
    pub fn new(file: &'f ProjectFile<'f>, path: &str, table: &'f DeTable<'f>) -> Self {
        Self { file, path: path.to_owned(), table, index: None }
    }

    /// Replaces `{index}` in all texts of the table.
    pub fn of_instance(self, index: Option<i64>) -> Self {
        Self { index, ..self }
    }

    fn fill_index(&self, text: &str) -> String {
        self.index.map_or_else(|| text.to_owned(), |at| text.replace("{index}", &at.to_string()))
    }

    /// The keys it has, in the order of the file.
    pub fn keys(&self) -> Vec<&str> {
        let mut keys: Vec<_> = self.table.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        keys.into_iter().map(|key| &**key.get_ref()).collect()
    }

    /// Returns every key with its value as text, in one form however it is written; the values of keys inside tables
    /// for which `is_hidden` holds are left out.
    pub fn render_keys(&self, is_hidden: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let key: &std::borrow::Cow<'_, str> = key.get_ref();
            (key.to_string(), render_value(value.get_ref(), is_hidden))
        };
        self.table.iter().map(entry).collect()
    }

    /// Returns whether there is a string at `key`.
    pub fn is_text(&self, key: &str) -> bool {
        self.entry(key).is_some_and(|(_, value)| value.get_ref().is_str())
    }

    /// The text of the whole file.
    pub fn file_text(&self) -> &str {
        self.file.text
    }

    pub fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Returns an error if there is a key that is not `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), CliError> {
        let Some(key) = self.table.keys().find(|key| !known.contains(&&**key.get_ref())) else {
            return Ok(());
        };
        let name = key.get_ref();
        let stop = self.file.problem(key.span().start, &format!("there is no key `{}`", self.full(name)));
        Err(match ioxide_model::suggest::nearest_name(name, known.iter().copied()) {
            Some(near) => stop.help(format!("did you mean `{near}`?")),
            None => stop.help(format!("there is {}", known.join(", "))),
        })
    }

    /// The table at `key`.
    pub fn table(&self, key: &str) -> Result<Option<Self>, CliError> {
        let Some((_, value)) = self.entry(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(self.inner(key, table))),
            _ => Err(self.wrong_value(key, "expected a table")),
        }
    }

    fn inner(&self, key: &str, table: &'f DeTable<'f>) -> Self {
        Self { file: self.file, path: self.full(key), table, index: self.index }
    }

    /// The table at `key`, or all of a list of them.
    pub fn tables(&self, key: &str) -> Result<Vec<Self>, CliError> {
        let Some((_, value)) = self.entry(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.get_ref() else {
            return Ok(self.table(key)?.into_iter().collect());
        };
        let table = |item: &'f Spanned<DeValue<'f>>| match item.get_ref() {
            DeValue::Table(table) => Ok(self.inner(key, table)),
            _ => Err(self.wrong_value(key, "expected a list of tables")),
        };
        items.iter().map(table).collect()
    }

    /// The text or the table at `key`, or all of a list of them.
    pub fn items(&self, key: &str) -> Result<Vec<TableItem<'f>>, CliError> {
        let Some((_, value)) = self.entry(key) else { return Ok(Vec::new()) };
        let item = |value: &'f DeValue<'f>| match value {
            DeValue::String(text) => Ok(TableItem::Text(self.fill_index(text))),
            DeValue::Integer(number) => Ok(TableItem::Text(number.as_str().to_owned())),
            DeValue::Table(table) => Ok(TableItem::Table(self.inner(key, table))),
            _ => Err(self.wrong_value(key, "expected a string, a table, or a list of them")),
        };
        match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|one| item(one.get_ref())).collect(),
            one => Ok(vec![item(one)?]),
        }
    }

    /// Returns whether there is a table at `key`.
    pub fn is_table(&self, key: &str) -> bool {
        self.entry(key).is_some_and(|(_, value)| value.get_ref().is_table())
    }

    /// The truth at `key`.
    pub fn truth(&self, key: &str) -> Result<Option<bool>, CliError> {
        let Some((_, value)) = self.entry(key) else { return Ok(None) };
        match value.get_ref().as_bool() {
            Some(truth) => Ok(Some(truth)),
            None => Err(self.wrong_value(key, "expected true or false")),
        }
    }

    /// The string at `key`.
    pub fn text(&self, key: &str) -> Result<Option<String>, CliError> {
        let Some((_, value)) = self.entry(key) else { return Ok(None) };
        match value.get_ref().as_str() {
            Some(text) => Ok(Some(self.fill_index(text))),
            None => Err(self.wrong_value(key, "expected a string")),
        }
    }

    /// The strings of the table at `key`, by name.
    pub fn texts(&self, key: &str) -> Result<Vec<(String, String)>, CliError> {
        let Some(inner) = self.table(key)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for name in inner.keys() {
            found.extend(inner.text(name)?.map(|text| (name.to_owned(), text)));
        }
        Ok(found)
    }

    /// The whole numbers of the table at `key`, by name.
    pub fn numbers(&self, key: &str) -> Result<Vec<(String, u64)>, CliError> {
        let Some(inner) = self.table(key)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for name in inner.keys() {
            found.extend(inner.number(name)?.map(|number| (name.to_owned(), number)));
        }
        Ok(found)
    }

    /// The string or number at `key`, or a list of them.
    pub fn words(&self, key: &str) -> Result<Vec<String>, CliError> {
        let Some((_, value)) = self.entry(key) else { return Ok(Vec::new()) };
        let word = |value: &DeValue<'_>| match value {
            DeValue::String(text) => Ok(self.fill_index(text)),
            DeValue::Integer(number) => Ok(number.as_str().to_owned()),
            _ => Err(self.wrong_value(key, "expected a number, a string, or a list of them")),
        };
        match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| word(item.get_ref())).collect(),
            one => Ok(vec![word(one)?]),
        }
    }

    /// The whole number at `key`.
    pub fn number(&self, key: &str) -> Result<Option<u64>, CliError> {
        let Some((_, value)) = self.entry(key) else { return Ok(None) };
        let number = value.get_ref().as_integer();
        let number = number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        number.map(Some).ok_or_else(|| self.wrong_value(key, "expected a whole number that is not negative"))
    }

    /// `value`, which must be there.
    pub fn require(&self, key: &str, value: Option<String>) -> Result<String, CliError> {
        value.ok_or_else(|| {
            let at = self.table.keys().next().map_or(0, |first| first.span().start);
            self.file.problem(at, &format!("`{}` is missing", self.full(key)))
        })
    }

    /// Returns the error of a wrong value at `key`, with its place.
    pub fn wrong_value(&self, key: &str, problem: &str) -> CliError {
        let at = self.entry(key).map_or(0, |(key, _)| key.span().start);
        self.file.problem(at, &format!("`{}`: {problem}", self.full(key)))
    }

    /// The file and the line of `key`.
    pub fn place_of_key(&self, key: &str) -> String {
        self.file.place_of_byte(self.entry(key).map_or(0, |(key, _)| key.span().start))
    }

    fn entry(&self, key: &str) -> Option<(&'f Spanned<std::borrow::Cow<'f, str>>, &'f Spanned<DeValue<'f>>)> {
        self.table.iter().find(|(name, _)| name.get_ref() == key)
    }

    fn full(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// Returns a value as text, keys in order.
fn render_value(value: &DeValue<'_>, is_hidden: &dyn Fn(&str) -> bool) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| render_value(item.get_ref(), is_hidden)).collect();
            format!("[{}]", items.join(","))
        }
        DeValue::Table(table) => {
            let mut entries: Vec<String> = Vec::new();
            for (key, value) in table.iter() {
                let key: &str = key.get_ref();
                let value =
                    if is_hidden(key) { String::new() } else { render_value(value.get_ref(), is_hidden) };
                entries.push(format!("{key:?}:{value}"));
            }
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
    }
}
