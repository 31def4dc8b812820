//! Reading through a form: the JSON of a system becomes that of the protocol.

use std::cell::Cell;
use std::collections::BTreeSet;

use ioxide_model::number::Rational;
use ioxide_model::sort::{CollectionKind, Constructor, DataId, DataKind, DataSort, Sort};
use ioxide_model::term::TermPool;
use ioxide_record::limits::Excess;
use ioxide_record::value::{
    CodecError, JsonProblem, check_digits, is_option, shorten_json, value_from_json, wrap_in_object,
};
use serde_json::{Map, Value as Json};

use super::{JsonForm, member_name, place_of};

/// The number of attempts to recognise untagged cases in one value. Chosen by feel: alternatives inside each other
/// multiply, and a reply must not keep a run busy.
const MAX_TRIES: usize = 100_000;

/// A value on its way through a form.
pub(super) struct FormReading<'f> {
    form: &'f JsonForm,
    /// The number of attempts to recognise an untagged case so far; cases may be nested, so attempts multiply.
    tries: Cell<usize>,
    /// True for XML, which has no numbers, truth values and lists of its own.
    is_xml: bool,
}

impl<'f> FormReading<'f> {
    /// Returns the reading of one value by `form`.
    pub(super) fn new(form: &'f JsonForm) -> Self {
        Self { form, tries: Cell::new(0), is_xml: false }
    }

    /// Returns the reading of one value that was XML.
    #[cfg(feature = "external")]
    pub(super) fn of_xml(form: &'f JsonForm) -> Self {
        Self { form, tries: Cell::new(0), is_xml: true }
    }

    /// Returns what XML wrote as the JSON of a value of `sort`: a text may be a number or a truth value, one element a
    /// list, and a text may have attributes beside it.
    fn typed_xml(&self, pool: &TermPool, sort: Sort, json: &Json) -> Result<Option<Json>, CodecError> {
        Ok(match (sort, json) {
            (Sort::Int | Sort::Range { .. } | Sort::Real, Json::String(text)) => {
                check_digits(text.trim())?.parse().ok().map(Json::Number)
            }
            (Sort::Bool, Json::String(text)) => match text.trim() {
                "true" | "1" => Some(Json::Bool(true)),
                "false" | "0" => Some(Json::Bool(false)),
                _ => None,
            },
            // An element with attributes became an object; its text is the value and its attributes do not matter.
            (Sort::Int | Sort::Range { .. } | Sort::Real | Sort::Bool | Sort::Str, Json::Object(members)) => {
                let text = members.get("#text").cloned().unwrap_or_else(|| Json::String(String::new()));
                if sort == Sort::Str { Some(text) } else { self.typed_xml(pool, sort, &text)? }
            }
            (Sort::Data(id), Json::String(text))
                if pool.data(id).kind == DataKind::Record && text.trim().is_empty() =>
            {
                // An empty element is a record all of whose members are missing, which may be right if they are
                // options.
                Some(Json::Object(Map::new()))
            }
            (Sort::Collection(id), _) if pool.collection(id).kind != CollectionKind::Map => {
                self.xml_items(pool, pool.collection(id).item, json)
            }
            _ => None,
        })
    }

    /// Returns the items of a list: several elements, one, or those of the only element around them.
    fn xml_items(&self, pool: &TermPool, item: Sort, json: &Json) -> Option<Json> {
        let has_field = |name: &str| match item {
            Sort::Data(id) => {
                let fields = pool.data(id).ctors.iter().flat_map(|ctor| &ctor.fields);
                fields.into_iter().any(|field| *field.name == *name)
            }
            _ => false,
        };
        match json {
            // Several elements of one name are an array already.
            Json::Array(_) => None,
            Json::Null => Some(Json::Array(Vec::new())),
            Json::String(text) if text.trim().is_empty() => Some(Json::Array(Vec::new())),
            _ => {
                // `<items><item/><item/></items>`: the only member is taken for the element around the items,
                // unless it is a field of the item or an attribute: then the object is itself the only item.
                match only_member(json).filter(|(name, _)| !name.starts_with(['@', '#']) && !has_field(name))
                {
                    Some((_, Json::Array(items))) => Some(Json::Array(items.clone())),
                    Some((_, only)) => Some(Json::Array(vec![only.clone()])),
                    None => Some(Json::Array(vec![json.clone()])),
                }
            }
        }
    }

    /// Returns `json` in the form of the protocol.
    pub(super) fn normal(&self, pool: &TermPool, sort: Sort, json: &Json) -> Result<Json, CodecError> {
        // The result is what `value_from_json` reads. A shape that this does not know is passed on as it is, so
        // that one place words the error.
        let typed = if self.is_xml { self.typed_xml(pool, sort, json)? } else { None };
        let json = typed.as_ref().unwrap_or(json);
        match (sort, json) {
            (Sort::Data(id), _) => self.normal_data(pool, id, json),
            (Sort::Collection(id), Json::Array(items)) if pool.collection(id).kind != CollectionKind::Map => {
                let item = |(at, item): (usize, &Json)| {
                    let item = self.normal(pool, pool.collection(id).item, item);
                    item.map_err(|error| error.with_place(&at.to_string()))
                };
                items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Json::Array)
            }
            (Sort::Collection(id), Json::Object(entries))
                if pool.collection(id).kind == CollectionKind::Map =>
            {
                let of = pool.collection(id);
                let entry = |(name, item): (&String, &Json)| {
                    let key = self.normal_key(pool, of.key, name)?;
                    Ok((key, self.normal(pool, of.item, item).map_err(|error| error.with_place(name))?))
                };
                entries.iter().map(entry).collect::<Result<_, CodecError>>().map(Json::Object)
            }
            // A map whose keys are no names of members is a list of pairs.
            (Sort::Collection(id), Json::Array(pairs)) => {
                let of = pool.collection(id);
                let pair = |(at, pair): (usize, &Json)| match pair.as_array().map(Vec::as_slice) {
                    Some([key, item]) => {
                        let inside = |error: CodecError| error.with_place(&at.to_string());
                        let key = self.normal(pool, of.key, key).map_err(inside)?;
                        Ok(Json::Array(vec![key, self.normal(pool, of.item, item).map_err(inside)?]))
                    }
                    _ => Ok(pair.clone()),
                };
                pairs.iter().enumerate().map(pair).collect::<Result<_, _>>().map(Json::Array)
            }
            (Sort::Int | Sort::Range { .. } | Sort::Real, Json::String(text))
                if self.form.numbers_as_text =>
            {
                let number = check_digits(text)?.parse::<serde_json::Number>();
                Ok(number.map_or_else(|_| json.clone(), Json::Number))
            }
            // A fraction that JSON cannot write may be a text, but not a number that it can.
            (Sort::Real, Json::String(text)) if text.parse::<serde_json::Number>().is_ok() => {
                let (expected, found) = (pool.show_sort(sort), shorten_json(json));
                Err(CodecError::new(JsonProblem::Shape { expected, found }))
            }
            _ => Ok(json.clone()),
        }
    }

    /// Returns the key of a map that is written `name`; a member has a text for its name, whatever its notation is.
    fn normal_key(&self, pool: &TermPool, sort: Sort, name: &str) -> Result<String, CodecError> {
        if let Sort::Data(id) = sort {
            // The notation of a case may be a number, which as the name of a member is the text of this number.
            let is_it = |ctor: &&Constructor| {
                self.form.cases.get(&*ctor.name).is_some_and(|written| member_name(written) == name)
            };
            if let Some(ctor) = pool.data(id).ctors.iter().find(is_it) {
                return Ok(ctor.name.to_string());
            }
        }
        Ok(member_name(&self.normal(pool, sort, &Json::String(name.to_owned()))?))
    }

    fn normal_data(&self, pool: &TermPool, id: DataId, json: &Json) -> Result<Json, CodecError> {
        let data = pool.data(id);
        let Some(first) = data.ctors.first() else { return Ok(json.clone()) };
        match (data.kind, json) {
            (DataKind::Option, Json::Null) => Ok(Json::Null),
            (DataKind::Option, _) => match data.ctors.get(1).and_then(|some| some.fields.first()) {
                // Anything but `null` is the value of `some`; nested options stand in an object, as `write_data`
                // puts them.
                Some(field) if !is_option(pool, field.sort) => self.normal(pool, field.sort, json),
                Some(field) => match only_member(json).filter(|(name, _)| *name == "some") {
                    Some((name, inner)) => {
                        let inner =
                            self.normal(pool, field.sort, inner).map_err(|error| error.with_place(name));
                        inner.map(|inner| wrap_in_object(name, inner))
                    }
                    None => Ok(json.clone()),
                },
                None => Ok(json.clone()),
            },
            (DataKind::Record, _) if self.form.text.contains(&*data.name) => {
                let name = first.fields.first().map(|field| field.name.to_string()).unwrap_or_default();
                Ok(Json::Object(Map::from_iter([(name, Json::String(json.to_string()))])))
            }
            (DataKind::Record, Json::Object(members)) => self.normal_members(pool, data, first, members),
            (DataKind::Record, _) => Ok(json.clone()),
            (DataKind::Enum, _) if self.form.untagged.contains(&*data.name) => {
                self.untagged_case(pool, id, json)
            }
            (DataKind::Enum, _) => self.named_case(pool, data, json),
        }
    }

    /// Returns the members of a record, or of a case of an enum, by the names of their fields.
    fn normal_members(
        &self,
        pool: &TermPool,
        data: &DataSort,
        ctor: &Constructor,
        members: &Map<String, Json>,
    ) -> Result<Json, CodecError> {
        let mut normal = Map::new();
        let mut known = BTreeSet::new();
        for field in &ctor.fields {
            let place = place_of(data, ctor, field);
            let name = self.form.names.get(&place).map_or(&*field.name, String::as_str);
            known.insert(name.to_owned());
            // A member that is missing is `none`: anywhere in an open form and in XML, else only where the place
            // allows it.
            let may_miss = is_option(pool, field.sort) && !self.form.null.contains(&place);
            let value = match members.get(name) {
                None if may_miss
                    && (self.form.is_open || self.is_xml || self.form.absent.contains(&place)) =>
                {
                    Json::Null
                }
                None if self.is_xml && matches!(field.sort, Sort::Collection(_)) => Json::Array(Vec::new()),
                None => return Err(CodecError::new(JsonProblem::MissingField(name.to_owned()))),
                // This place never has `null`, not even as `none`: a service that sends it breaks its own
                // description.
                Some(Json::Null) if self.form.absent.contains(&place) => {
                    let expected = pool.show_sort(field.sort).trim_end_matches('?').to_owned();
                    let problem = JsonProblem::Shape { expected, found: "null".into() };
                    return Err(CodecError::new(problem).with_place(name));
                }
                Some(found) => {
                    let found = self.form.encodings.decode(pool, &place, field.sort, found);
                    let found = found.map_err(|bad| {
                        let expected = format!("{}, {bad}", pool.show_sort(field.sort));
                        let found = shorten_json(members.get(name).unwrap_or(&Json::Null));
                        CodecError::new(JsonProblem::Shape { expected, found }).with_place(name)
                    })?;
                    self.normal(pool, field.sort, &found).map_err(|error| error.with_place(name))?
                }
            };
            normal.insert(field.name.to_string(), value);
        }
        let allows_more = self.allows_more(data) && !self.form.closed.contains(&*ctor.name);
        match members.keys().find(|key| !allows_more && !known.contains(*key)) {
            Some(extra) => Err(CodecError::new(JsonProblem::UnknownField(extra.clone()))),
            None => Ok(Json::Object(normal)),
        }
    }

    /// Returns whether objects that write values of this type may have members that the type does not have.
    fn allows_more(&self, data: &DataSort) -> bool {
        self.form.is_open && !self.form.closed.contains(&*data.name)
    }

    /// The first case that `json` has the shape of.
    fn untagged_case(&self, pool: &TermPool, id: DataId, json: &Json) -> Result<Json, CodecError> {
        let data = pool.data(id);
        self.tries.set(self.tries.get() + 1);
        if self.tries.get() > MAX_TRIES {
            return Err(CodecError::new(JsonProblem::Excess(Excess::Tries { limit: MAX_TRIES })));
        }
        // The cases in the order of their declaration; the first whose shape fits is the value. Shape means that
        // the value can be read, ranges are not looked at, so that a number out of range stays the case it was.
        for ctor in &data.ctors {
            let Some(field) = ctor.fields.first() else {
                let name = Json::String(ctor.name.to_string());
                if is_same(self.form.cases.get(&*ctor.name).unwrap_or(&name), json) {
                    return Ok(name);
                }
                continue;
            };
            let inner = self.normal(pool, field.sort, json);
            let inner = inner.and_then(|inner| value_from_json(pool, field.sort, &inner).map(|_| inner));
            match inner {
                Ok(inner) => {
                    let fields = Json::Object(Map::from_iter([(field.name.to_string(), inner)]));
                    return Ok(Json::Object(Map::from_iter([(ctor.name.to_string(), fields)])));
                }
                // It may be this case: what is not read is not another one.
                Err(excess @ CodecError { problem: JsonProblem::Excess(_), .. }) => return Err(excess),
                Err(_) => (),
            }
        }
        let problem =
            JsonProblem::Shape { expected: pool.show_sort(Sort::Data(id)), found: shorten_json(json) };
        Err(CodecError::new(problem))
    }

    /// Returns the case that is written `json`: by its notation if it has one, otherwise by its name, with its fields.
    fn named_case(&self, pool: &TermPool, data: &DataSort, json: &Json) -> Result<Json, CodecError> {
        let written =
            |ctor: &Constructor| self.form.cases.get(&*ctor.name).filter(|_| ctor.fields.is_empty());
        // A case that has a notation is known by this alone, no longer by its name.
        let is_it = |ctor: &&Constructor| written(ctor).is_some_and(|written| is_same(written, json));
        if let Some(ctor) = data.ctors.iter().find(is_it) {
            return Ok(Json::String(ctor.name.to_string()));
        }
        let named =
            |name: &str| data.ctors.iter().find(|ctor| *ctor.name == *name && written(ctor).is_none());
        if let Some((ctor, fields)) = self.find_tagged_case(data, json, named) {
            let fields = match fields {
                Json::Object(members) => self.normal_members(pool, data, ctor, members),
                other => Ok(other.clone()),
            };
            return fields
                .map(|fields| wrap_in_object(&ctor.name, fields))
                .map_err(|error| error.with_place(&ctor.name));
        }
        // Left as it is, for `value_from_json` to read or to refuse in its words. If some cases have notations, its
        // words would list names that the system does not use: then the error below does.
        if json.as_str().is_some_and(|name| named(name).is_some())
            || data.ctors.iter().all(|ctor| written(ctor).is_none())
        {
            return Ok(json.clone());
        }
        let names =
            data.ctors.iter().map(|ctor| written(ctor).map_or_else(|| ctor.name.to_string(), plain_text));
        Err(CodecError::new(JsonProblem::NoSuchName { found: plain_text(json), names: names.collect() }))
    }

    /// Returns the case that is the name of a member of the object `json`, with its fields: the only member, or the
    /// only one that names a case where other members may stand beside it.
    fn find_tagged_case<'d, 'j>(
        &self,
        data: &DataSort,
        json: &'j Json,
        named: impl Fn(&str) -> Option<&'d Constructor>,
    ) -> Option<(&'d Constructor, &'j Json)> {
        let members = json.as_object().filter(|members| members.len() == 1 || self.allows_more(data))?;
        let mut found = members.iter().filter_map(|(name, fields)| Some((named(name)?, fields)));
        // Two cases in one object say two things at once.
        found.next().filter(|_| found.next().is_none())
    }
}

/// Returns name and value of the only member of an object; `None` if `json` is anything else.
fn only_member(json: &Json) -> Option<(&String, &Json)> {
    json.as_object().filter(|members| members.len() == 1).and_then(|members| members.iter().next())
}

/// Text as it is, anything else as JSON.
fn plain_text(json: &Json) -> String {
    json.as_str().map_or_else(|| shorten_json(json), str::to_owned)
}

/// Returns whether two JSON values are equal; numbers are compared by value, not by notation.
fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            let number =
                |text: String| check_digits(&text).ok().and_then(|text| text.parse::<Rational>().ok());
            match (number(one.to_string()), number(other.to_string())) {
                (Some(one), Some(other)) => one == other,
                _ => one == other,
            }
        }
        _ => one == other,
    }
}
