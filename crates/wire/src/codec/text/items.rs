//! Lists, sets and maps in texts: the notation of an item, and the text between two.
//!
//! An item is written by a template and read by a pattern. Their names are `item` for plain items,
//! the fields of the record for items that are records, `key` and `value` for maps. Items that are
//! cases of an enum have a template and a pattern by case, whose names are the fields of the case.
//!
//! *Promises.* A text is read to its end or not at all: nothing between items is skipped.

use std::collections::BTreeSet;

use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::sort::{
    CollectionId, CollectionKind, CollectionSort, Constructor, DataField, DataKind, Sort,
};
use ioxide_model::sts::Model;
use ioxide_model::term::TermPool;
use ioxide_model::value::{DataValue, Value};
use ioxide_record::value::is_member_name;
use serde_json::{Map, Value as Json};
use thiserror::Error;

use super::super::UnwritableMessage;
use super::super::template::{BadTemplate, TextTemplate, plain_text};
use super::item_pattern::{FoundItem, ItemPattern};
use super::{unbroken, value_json};

/// The reason why a description of items cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BadItems {
    /// A template cannot be read.
    #[error(transparent)]
    Template(#[from] BadTemplate),
    /// A pattern is no regular expression.
    #[error(transparent)]
    Pattern(#[from] regex::Error),
    /// A pattern gives the lengths of several parts.
    #[error("only one part may follow the pattern of an item")]
    SeveralLengths,
    /// The items of the field are of a sort without this case.
    #[error("the items of `{field}: {sort}` have no case `{case}`")]
    NoCase {
        /// The field.
        field: String,
        /// Its sort.
        sort: String,
        /// The case.
        case: String,
    },
}

/// The notation of the items of a field, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemsConfig {
    /// The text between two items.
    pub between: String,
    /// The notation of an item, where no cases are given.
    pub item: ItemWords,
    /// The notation of items that are cases of an enum, by case; the first whose pattern fits is read.
    pub cases: Vec<(String, ItemWords)>,
}

/// The template and the pattern of an item, as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemWords {
    /// The template that writes it; `None` for its plain text.
    pub each: Option<String>,
    /// The pattern that reads it; `None` for its plain text.
    pub pattern: Option<String>,
}

impl Default for ItemsConfig {
    fn default() -> Self {
        Self { between: ",".into(), item: ItemWords::default(), cases: Vec::new() }
    }
}

/// Reads and writes the items of one field.
#[derive(Clone, Debug)]
pub(super) struct ItemsCodec {
    between: String,
    item: ItemCodec,
    cases: Vec<(String, ItemCodec)>,
}

/// Plain items with commas between them, as [`ItemsConfig::default`].
impl Default for ItemsCodec {
    fn default() -> Self {
        Self { between: ",".into(), item: ItemCodec::default(), cases: Vec::new() }
    }
}

/// Reads and writes one item.
#[derive(Clone, Debug, Default)]
struct ItemCodec {
    each: Option<TextTemplate>,
    pattern: Option<ItemPattern>,
}

impl ItemCodec {
    /// Reads the template and the pattern of an item.
    fn new(words: &ItemWords) -> Result<Self, BadItems> {
        let each = words.each.as_deref().map(TextTemplate::new).transpose()?;
        Ok(Self { each, pattern: words.pattern.as_deref().map(ItemPattern::new).transpose()? })
    }
}

impl ItemsCodec {
    /// # Errors
    /// If a template or a pattern cannot be read.
    pub(super) fn new(config: &ItemsConfig) -> Result<Self, BadItems> {
        let case = |(name, words): &(String, ItemWords)| Ok((name.clone(), ItemCodec::new(words)?));
        let cases = config.cases.iter().map(case).collect::<Result<_, BadItems>>()?;
        Ok(Self { between: config.between.clone(), item: ItemCodec::new(&config.item)?, cases })
    }

    /// Checks that the items of `field` in the model have these cases.
    ///
    /// # Errors
    /// The first case it does not have.
    pub(super) fn check(&self, model: &Model, field: &str) -> Result<(), BadItems> {
        let fields = model.sts.gates.iter().flat_map(|gate| &gate.fields);
        let named = fields.map(|&var| model.pool.var_info(var)).filter(|info| *info.name == *field);
        for info in named {
            let Some(of) = model.pool.collection_of(info.sort) else { continue };
            // Entries of a map are no cases: their template has `key` and `value`.
            let has =
                |name: &str| of.kind != CollectionKind::Map && case(&model.pool, of.item, name).is_some();
            if let Some((case, _)) = self.cases.iter().find(|(name, _)| !has(name)) {
                let (sort, case) = (model.pool.show_sort(info.sort), case.clone());
                return Err(BadItems::NoCase { field: field.to_owned(), sort, case });
            }
        }
        Ok(())
    }

    /// Returns the text of all items; a value whose length is not written must be allowed.
    pub(super) fn write_items(
        &self,
        pool: &TermPool,
        value: &CollectionValue,
        is_allowed: &dyn Fn(&str) -> bool,
    ) -> Result<String, UnwritableMessage> {
        let writer = ItemWriter { codec: self, pool, is_allowed };
        let texts: Result<Vec<String>, UnwritableMessage> = match &value.items {
            Items::List(items) | Items::Set(items) => items.iter().map(|item| writer.item(item)).collect(),
            // Sets and maps are kept in the order of their values, so equal collections have equal texts.
            Items::Map(entries) => entries.iter().map(|entry| writer.entry(entry)).collect(),
        };
        Ok(texts?.join(&self.between))
    }

    /// The JSON of the items that `text` writes.
    pub(super) fn read_items(&self, pool: &TermPool, id: CollectionId, text: &str) -> Option<Json> {
        let of = pool.collection(id);
        let mut found: Vec<Json> = Vec::new();
        let mut rest = text;
        // An empty text has no items. Otherwise there is an item before and behind every separator, so a separator
        // at the end is followed by an empty item, which few sorts have. The loop ends: every turn takes an
        // item that is not empty, or a separator, or the rest is empty.
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

    /// Returns the item that `text` begins with, and its length in bytes.
    fn next_item(&self, pool: &TermPool, of: CollectionSort, text: &str) -> Option<(Json, usize)> {
        if !self.cases.is_empty() {
            return self.next_case(pool, of.item, text);
        }
        if let Some(pattern) = &self.item.pattern {
            let found = pattern.find_item(text)?;
            return Some((item_json(pool, of.kind, (of.key, of.item), &found)?, found.len()));
        }
        // Without a pattern an item goes up to the next separator; without either it is one character.
        let len = match self.between.as_str() {
            "" => text.chars().next()?.len_utf8(),
            between => text.find(between).unwrap_or(text.len()),
        };
        Some((plain_item(pool, of.kind, (of.key, of.item), &text[..len])?, len))
    }

    /// Returns the case that `text` begins with, and its length in bytes.
    fn next_case(&self, pool: &TermPool, item: Sort, text: &str) -> Option<(Json, usize)> {
        let found = |(name, codec): &(String, ItemCodec)| {
            Some((name.clone(), codec.pattern.as_ref()?.find_item(text)?))
        };
        // The first case whose pattern fits, as with outputs: if its fields do not fit, no other case is tried.
        let (name, found) = self.cases.iter().find_map(found)?;
        let ctor = case(pool, item, &name)?;
        let fields = fields_json(pool, &ctor.fields, &found)?;
        // The notation of cases in the JSON of the protocol: the name alone, or an object from the name to the
        // fields.
        let json = if ctor.fields.is_empty() {
            Json::String(name)
        } else {
            Json::Object(Map::from_iter([(name, fields)]))
        };
        Some((json, found.len()))
    }
}

/// Writes the items of one collection.
struct ItemWriter<'a> {
    codec: &'a ItemsCodec,
    pool: &'a TermPool,
    is_allowed: &'a dyn Fn(&str) -> bool,
}

impl ItemWriter<'_> {
    /// Writes an item by the template of its case, or the one for all items.
    fn item(&self, item: &Value) -> Result<String, UnwritableMessage> {
        if let Value::Data(data) = item
            && let Some(ctor) = ctor_of(self.pool, data)
            && let Some((_, codec)) = self.codec.cases.iter().find(|(name, _)| *name == *ctor.name)
        {
            let nothing = || UnwritableMessage::UndescribedCase(ctor.name.to_string());
            let template = codec.each.as_ref().ok_or_else(nothing)?;
            return self.fill_template(template, &|name| field_of(&ctor.fields, data, name));
        }
        self.write_item(&["item"], &|name| item_part(self.pool, item, "item", name))
    }

    /// Writes an entry of a map.
    fn entry(&self, (key, item): &(Value, Value)) -> Result<String, UnwritableMessage> {
        self.write_item(&["key", "value"], &|name| match name {
            "key" => Some(key.clone()),
            _ => item_part(self.pool, item, "value", name),
        })
    }

    /// An item by its template, or its `plain` parts with `=` between them if it has none.
    fn write_item(
        &self,
        plain: &[&str],
        names: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<String, UnwritableMessage> {
        match &self.codec.item.each {
            Some(template) => self.fill_template(template, names),
            // The counterpart of `plain_item`, which reads what this writes.
            None => self.fill_template(&TextTemplate::of_fields(plain, "="), names),
        }
    }

    fn fill_template(
        &self,
        template: &TextTemplate,
        names: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<String, UnwritableMessage> {
        template.filled_by(&|name| {
            let value = names(name).ok_or_else(|| UnwritableMessage::NoPart(name.to_owned()))?;
            let is_free = template.counts(name);
            unbroken(plain_text(self.pool, &value)?, |text| is_free || (self.is_allowed)(text))
        })
    }
}

fn item_json(
    pool: &TermPool,
    kind: CollectionKind,
    (key, item): (Sort, Sort),
    found: &FoundItem<'_>,
) -> Option<Json> {
    let value = |plain: &str| match record_fields(pool, item) {
        Some(fields) => fields_json(pool, fields, found),
        // A pattern without a group for the item means the item by all that it matches.
        None => value_json(pool, item, found.part_named(plain).or_else(|| found.full_match())),
    };
    match kind {
        CollectionKind::List | CollectionKind::Set => value("item"),
        CollectionKind::Map => {
            Some(Json::Array(vec![value_json(pool, key, found.part_named("key"))?, value("value")?]))
        }
    }
}

/// The JSON of fields by the parts of their names.
fn fields_json(pool: &TermPool, fields: &[DataField], found: &FoundItem<'_>) -> Option<Json> {
    let field = |field: &DataField| {
        Some((field.name.to_string(), value_json(pool, field.sort, found.part_named(&field.name))?))
    };
    fields.iter().map(field).collect::<Option<Map<String, Json>>>().map(Json::Object)
}

/// The part of an item that a template calls `name`: the item itself, or a field of it.
fn item_part(pool: &TermPool, item: &Value, plain: &str, name: &str) -> Option<Value> {
    if let Value::Data(data) = item
        && let Some(fields) = record_fields(pool, Sort::Data(data.data))
    {
        return field_of(fields, data, name);
    }
    (name == plain).then(|| item.clone())
}

fn field_of(fields: &[DataField], data: &DataValue, name: &str) -> Option<Value> {
    let at = fields.iter().position(|field| *field.name == *name)?;
    data.args.get(at).cloned()
}

fn record_fields(pool: &TermPool, sort: Sort) -> Option<&[DataField]> {
    match sort {
        Sort::Data(data) if pool.data(data).kind == DataKind::Record => {
            Some(&pool.data(data).ctors[0].fields)
        }
        _ => None,
    }
}

/// The case of this name, if `sort` is an enum that has it.
fn case<'p>(pool: &'p TermPool, sort: Sort, name: &str) -> Option<&'p Constructor> {
    match sort {
        Sort::Data(data) if pool.data(data).kind == DataKind::Enum => {
            pool.data(data).ctors.iter().find(|ctor| *ctor.name == *name)
        }
        _ => None,
    }
}

fn ctor_of<'p>(pool: &'p TermPool, data: &DataValue) -> Option<&'p Constructor> {
    pool.data(data.data).ctors.get(data.ctor as usize)
}

/// An item without pattern: the text itself, or `key=value`.
fn plain_item(pool: &TermPool, kind: CollectionKind, (key, item): (Sort, Sort), text: &str) -> Option<Json> {
    match kind {
        CollectionKind::List | CollectionKind::Set => value_json(pool, item, Some(text)),
        CollectionKind::Map => {
            // At the first `=`: a value may contain more of them, a key cannot.
            let (name, value) = text.split_once('=')?;
            Some(Json::Array(vec![value_json(pool, key, Some(name))?, value_json(pool, item, Some(value))?]))
        }
    }
}

/// Items as the JSON of their collection: pairs of a map whose keys are texts become an object.
fn as_json(pool: &TermPool, kind: CollectionKind, key: Sort, found: Vec<Json>) -> Json {
    if kind != CollectionKind::Map || !is_member_name(pool, key) {
        return Json::Array(found);
    }
    let names: BTreeSet<&str> = found.iter().filter_map(|pair| pair.get(0)?.as_str()).collect();
    // The same key twice stays a list of pairs, which the reader of values refuses by name.
    if names.len() < found.len() {
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
