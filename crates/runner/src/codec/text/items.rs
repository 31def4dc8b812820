//! Lists, sets and maps in texts: how one item is written, and what stands between two.
//!
//! An item is written by a template and read by a pattern. Their names are `item` for plain items,
//! the fields of the record for items that are records, `key` and `value` for maps.
//!
//! *Promises.* A text is read to its end or not at all: nothing between items is skipped.

use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::sort::{CollectionId, CollectionKind, CollectionSort, DataField, DataKind, Sort};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use regex::{Captures, Regex};
use serde_json::{Map, Value as Json};

use super::super::collection::is_name;
use super::super::template::{Template, plain_text};
use super::value_json;

/// How the items of a field are written, as people wrote it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemsConfig {
    /// What stands between two items.
    pub between: String,
    /// A template for one item.
    pub each: Option<String>,
    /// A pattern for one item.
    pub pattern: Option<String>,
}

impl Default for ItemsConfig {
    fn default() -> Self {
        Self { between: ",".into(), each: None, pattern: None }
    }
}

/// Reads and writes the items of one field.
#[derive(Clone, Debug)]
pub(super) struct ItemsCodec {
    between: String,
    each: Option<Template>,
    pattern: Option<Regex>,
}

impl ItemsCodec {
    /// # Errors
    /// If the template or the pattern cannot be read.
    pub(super) fn new(config: &ItemsConfig) -> Result<Self, String> {
        let each = config.each.as_deref().map(Template::new).transpose()?;
        let pattern = config.pattern.as_deref().map(|text| Regex::new(&format!("\\A(?:{text})")));
        let pattern = pattern.transpose().map_err(|error| error.to_string())?;
        Ok(Self { between: config.between.clone(), each, pattern })
    }

    /// The text of all items.
    pub(super) fn written(&self, pool: &TermPool, value: &CollectionValue) -> Result<String, String> {
        let each = |names: &dyn Fn(&str) -> Option<Value>| {
            let is_map = matches!(value.items, Items::Map(_));
            let plain = if is_map { "{key}={value}" } else { "{item}" };
            let template = match &self.each {
                Some(template) => template.clone(),
                None => Template::new(plain)?,
            };
            template.filled_by(&|name| match names(name) {
                Some(value) => plain_text(pool, &value),
                None => Err(format!("an item has no part `{name}`")),
            })
        };
        let texts: Result<Vec<String>, String> = match &value.items {
            Items::List(items) | Items::Set(items) => {
                items.iter().map(|item| each(&|name| part(pool, item, "item", name))).collect()
            }
            Items::Map(entries) => entries
                .iter()
                .map(|(key, item)| {
                    each(&|name| {
                        if name == "key" { Some(key.clone()) } else { part(pool, item, "value", name) }
                    })
                })
                .collect(),
        };
        Ok(texts?.join(&self.between))
    }

    /// The JSON of the items that `text` writes.
    pub(super) fn read(&self, pool: &TermPool, id: CollectionId, text: &str) -> Option<Json> {
        let of = pool.collection(id);
        let mut found: Vec<Json> = Vec::new();
        let mut rest = text;
        while !text.is_empty() {
            let (item, len) = self.next_item(pool, of, rest)?;
            found.push(item);
            rest = &rest[len..];
            if rest.is_empty() {
                break;
            }
            rest = rest.strip_prefix(self.between.as_str())?;
        }
        Some(as_json(pool, of.kind, of.key, found))
    }

    /// The item that `text` begins with, and how long it is.
    fn next_item(&self, pool: &TermPool, of: CollectionSort, text: &str) -> Option<(Json, usize)> {
        if let Some(pattern) = &self.pattern {
            let groups = pattern.captures(text)?;
            let len = groups.get(0)?.end();
            // Something without length would be found again and again.
            return (len > 0).then_some((self.matched(pool, of.kind, (of.key, of.item), &groups)?, len));
        }
        let len = match self.between.as_str() {
            "" => text.chars().next()?.len_utf8(),
            between => text.find(between).unwrap_or(text.len()),
        };
        Some((plain_item(pool, of.kind, (of.key, of.item), &text[..len])?, len))
    }

    fn matched(
        &self,
        pool: &TermPool,
        kind: CollectionKind,
        (key, item): (Sort, Sort),
        groups: &Captures<'_>,
    ) -> Option<Json> {
        let group = |name: &str| groups.name(name).map(|found| found.as_str());
        let value = |plain: &str| match record_fields(pool, item) {
            Some(fields) => {
                let field = |field: &DataField| {
                    Some((field.name.to_string(), value_json(pool, field.sort, group(&field.name))?))
                };
                fields.iter().map(field).collect::<Option<Map<String, Json>>>().map(Json::Object)
            }
            None => value_json(pool, item, group(plain).or_else(|| groups.get(0).map(|all| all.as_str()))),
        };
        match kind {
            CollectionKind::List | CollectionKind::Set => value("item"),
            CollectionKind::Map => {
                Some(Json::Array(vec![value_json(pool, key, group("key"))?, value("value")?]))
            }
        }
    }
}

/// The part of an item that a template calls `name`: the item itself, or a field of it.
fn part(pool: &TermPool, item: &Value, plain: &str, name: &str) -> Option<Value> {
    if let Value::Data(data) = item
        && let Some(fields) = record_fields(pool, Sort::Data(data.data))
    {
        let at = fields.iter().position(|field| *field.name == *name)?;
        return data.args.get(at).cloned();
    }
    (name == plain).then(|| item.clone())
}

fn record_fields(pool: &TermPool, sort: Sort) -> Option<&[DataField]> {
    match sort {
        Sort::Data(data) if pool.data(data).kind == DataKind::Record => {
            Some(&pool.data(data).ctors[0].fields)
        }
        _ => None,
    }
}

/// An item without pattern: the text itself, or `key=value`.
fn plain_item(pool: &TermPool, kind: CollectionKind, (key, item): (Sort, Sort), text: &str) -> Option<Json> {
    match kind {
        CollectionKind::List | CollectionKind::Set => value_json(pool, item, Some(text)),
        CollectionKind::Map => {
            let (name, value) = text.split_once('=')?;
            Some(Json::Array(vec![value_json(pool, key, Some(name))?, value_json(pool, item, Some(value))?]))
        }
    }
}

/// Items as the JSON of their collection: pairs of a map whose keys are texts become an object.
fn as_json(pool: &TermPool, kind: CollectionKind, key: Sort, found: Vec<Json>) -> Json {
    if kind != CollectionKind::Map || !is_name(pool, key) {
        return Json::Array(found);
    }
    let names: Vec<&Json> = found.iter().filter_map(|pair| pair.get(0)).collect();
    // The same key twice stays a list of pairs, which the reader of values refuses by name.
    if names.iter().enumerate().any(|(at, name)| names[..at].contains(name)) {
        return Json::Array(found);
    }
    let entry = |pair: Json| match pair {
        Json::Array(pair) => match <[Json; 2]>::try_from(pair) {
            Ok([Json::String(name), value]) => Some((name, value)),
            _ => None,
        },
        _ => None,
    };
    Json::Object(found.into_iter().filter_map(entry).collect())
}
