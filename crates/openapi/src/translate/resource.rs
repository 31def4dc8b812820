//! Resources: a collection path and an item path, the operations on them, and the record that shows an item.

use std::collections::BTreeMap;

use super::operation::FieldOf;
use super::{BodyKind, DocumentedResponse, FieldLocation, RecordMember, RequestOperation, Translator};
use crate::name::{self, TakenNames};

/// Last steps of paths of operations that change everything.
pub(super) const SWEEPING: [&str; 13] = [
    "reset", "clear", "purge", "flush", "truncate", "all", "restart", "seed", "import", "restore", "wipe",
    "sync", "bulk",
];

/// The part that an operation has in the life of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceRole {
    /// Makes an item, in the collection.
    Create,
    /// Lists items.
    List,
    /// Shows an item.
    Get,
    /// Replaces an item.
    Put,
    /// Changes some fields of an item.
    Patch,
    /// Removes an item.
    Delete,
    /// Does something else with an item.
    Act,
    /// Lists what an item contains, or adds to it, where that has no paths of its own.
    Below,
    /// Changes items that it does not name.
    Sweep,
}

/// The place of an item in the body of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemView {
    /// The expression: `body`, `body.data`.
    pub(crate) place: String,
    /// The record.
    pub(crate) record: String,
    /// The field with the id.
    pub(crate) id: RecordMember,
}

/// A resource of the service.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resource {
    /// `book`.
    pub(crate) singular: String,
    /// The variable for the items that are known, by key.
    pub(crate) items: String,
    /// The variable for the keys of items that were created and not removed, even if no more is known of them.
    pub(crate) created: String,
    /// The variable for the keys of items that were removed.
    pub(crate) deleted: String,
    /// The variable for the keys of items that were there when what contains them was removed, and not created since;
    /// empty if nothing contains them.
    pub(crate) orphaned: String,
    /// The variable for what items were that were removed: another operation may bring them back.
    pub(crate) removed: String,
    /// The variable for the key in the open request.
    pub(crate) asked: String,
    /// The collection path with `{}` for every parameter.
    pub(super) path: String,
    /// The record for keys with parents.
    pub(super) key_record: String,
    /// The sort of ids: `int` or `string`.
    pub(crate) id_sort: &'static str,
    /// True if the description says that ids are UUIDs.
    pub(crate) has_uuids: bool,
    /// The fields of the key before the id, with their sorts.
    pub(crate) parents: Vec<(String, &'static str)>,
    /// The record that shows an item.
    pub(crate) known: String,
    pub(crate) roles: BTreeMap<usize, ResourceRole>,
    /// The variables for items that were written and not seen since, by the record that was sent.
    pub(crate) written: Vec<(String, String)>,
    /// The resource that contains the collection.
    pub(crate) parent: Option<usize>,
    /// The operations that make or list items in another item: `/beds/{bed}/plants`, where an item is `/plants/{id}`.
    pub(crate) elsewhere: BTreeMap<usize, ItemOwner>,
}

/// The items that contain those of a resource whose own path does not name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemOwner {
    /// The path of their collection; none if it is no resource with simple keys.
    pub(crate) path: Option<String>,
    /// The field of an item that says which of them contains it.
    pub(crate) member: Option<RecordMember>,
}

impl Resource {
    /// Returns the type of the key.
    pub(crate) fn key_sort(&self) -> String {
        if self.parents.is_empty() { self.id_sort.to_owned() } else { self.key_record.clone() }
    }

    /// Returns the key with these values of its fields.
    pub(crate) fn key(&self, parents: &[String], id: &str) -> String {
        if self.parents.is_empty() {
            return id.to_owned();
        }
        let fields = self.parents.iter().zip(parents).map(|((name, _), value)| format!("{name}: {value}"));
        format!("{}({}, id: {id})", self.key_sort(), fields.collect::<Vec<_>>().join(", "))
    }

    /// Returns the key of an item of the collection that the open request names.
    pub(crate) fn key_beside(&self, id: &str) -> String {
        let parents: Vec<String> =
            self.parents.iter().map(|(name, _)| format!("{}.{name}", self.asked)).collect();
        self.key(&parents, id)
    }

    /// Returns a key that no item has, as the first value of a variable.
    pub(crate) fn no_key(&self) -> String {
        let nothing = |sort: &str| if sort == "int" { "0".to_owned() } else { "\"\"".to_owned() };
        let parents: Vec<String> = self.parents.iter().map(|(_, sort)| nothing(sort)).collect();
        self.key(&parents, &nothing(self.id_sort))
    }

    /// Returns the variable for the item that the last request wrote.
    pub(crate) fn last_written(&self) -> String {
        format!("last_written_{}", self.singular)
    }

    /// Returns the variable for the first item that was created.
    pub(crate) fn first_created(&self) -> String {
        format!("first_created_{}", self.singular)
    }

    /// Returns the id of an item that an answer shows, as keys have it.
    pub(crate) fn id_of(&self, place: &str, id: &RecordMember) -> String {
        let value = format!("{place}.{}", id.name);
        let is_number = is_whole(id.sort.trim_end_matches('?'));
        let as_key = |value: &str| {
            if is_number && self.id_sort == "string" {
                format!("{value}.to_string()")
            } else {
                value.to_owned()
            }
        };
        if id.sort.ends_with('?') {
            // No item has this key: the answer does not say which one it is.
            let nothing = if self.id_sort == "int" { "-1" } else { "\"\"" };
            return format!("(match {value} {{ none => {nothing}, some(id) => {} }})", as_key("id"));
        }
        as_key(&value)
    }

    /// Returns whether something is known of the item with this key.
    pub(crate) fn is_known(&self, key: &str) -> String {
        // Also what was written and not shown since exists.
        let written = self.written.iter().map(|(map, _)| format!("{map}.has({key})"));
        std::iter::once(format!("{}.has({key})", self.items)).chain(written).collect::<Vec<_>>().join(" || ")
    }

    /// Returns the condition that the item with this key may have gone with what contained it.
    pub(super) fn may_be_orphaned(&self, key: &str) -> Option<String> {
        (!self.orphaned.is_empty()).then(|| format!("{}.has({key})", self.orphaned))
    }

    /// Returns the condition that an item with this key was created, as far as is known.
    pub(super) fn was_created(&self, key: &str) -> String {
        let created = format!("{}.has({key})", self.created);
        match self.may_be_orphaned(key) {
            Some(orphaned) => format!("({created} || {orphaned})"),
            None => created,
        }
    }

    /// Returns the sort of keys as a path parameter has it.
    fn takes(&self, field: &FieldOf) -> bool {
        key_sort_of(&field.sort) == Some(self.id_sort)
    }
}

/// Returns whether a sort is that of whole numbers.
pub(crate) fn is_whole(sort: &str) -> bool {
    sort == "int" || sort.contains("..")
}

/// Returns the sort of ids that a path parameter is; `None` if it is not a number and no text.
pub(super) fn key_sort_of(sort: &str) -> Option<&'static str> {
    if is_whole(sort) {
        Some("int")
    } else if sort == "string" {
        Some("string")
    } else {
        None
    }
}

/// Returns a path without its last slash and with `{}` for every parameter.
pub(super) fn shape_of(path: &str) -> String {
    let step =
        |step: &str| if step.starts_with('{') && step.ends_with('}') { "{}".into() } else { step.to_owned() };
    path.trim_end_matches('/').split('/').map(step).collect::<Vec<String>>().join("/")
}

/// Returns the fields of the path of an operation, in their order there.
pub(crate) fn path_fields(operation: &RequestOperation) -> Vec<&FieldOf> {
    let step = |step: &str| step.strip_prefix('{').and_then(|step| step.strip_suffix('}')).map(str::to_owned);
    let names = operation.path.split('/').filter_map(step);
    names.filter_map(|name| operation.fields.iter().find(|field| field.name == name)).collect()
}

/// Returns a word in its singular, as far as English endings tell.
pub(super) fn singular_of(word: &str) -> String {
    let word = name::snake_case(word);
    for (ending, instead) in [
        ("ies", "y"),
        ("sses", "ss"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("ss", "ss"),
        ("us", "us"),
        ("s", ""),
    ] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 1) {
            return format!("{stem}{instead}");
        }
    }
    word
}

/// Returns a name without case and separators, to compare `itemId` with `item_id`.
pub(super) fn plain_name(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Returns whether an answer says that the request was carried out.
pub(crate) fn is_success(answer: &DocumentedResponse) -> bool {
    answer.status.starts_with('2')
}

impl Translator<'_> {
    /// Finds the resources of the service, and the operations on them.
    pub(super) fn find_resources(&mut self) {
        // Names that the translation itself uses, and those of fields, which would hide variables.
        let mut taken = TakenNames::default();
        ["owed", "body", "known", "told", "sent", "id", "location"]
            .iter()
            .for_each(|name| drop(taken.fresh_name(name)));
        for field in self.asked.iter().flat_map(|asked| &asked.fields) {
            taken.fresh_name(&field.name);
        }
        let shapes: Vec<String> = self.asked.iter().map(|asked| shape_of(&asked.path)).collect();
        let mut collections: Vec<String> = Vec::new();
        for shape in &shapes {
            if let Some(collection) = shape.strip_suffix("/{}")
                && !collection.is_empty()
                && !collection.ends_with("{}")
                && !collections.iter().any(|other| other == collection)
            {
                collections.push(collection.to_owned());
            }
        }
        // Those that contain others first, so that a parent is known before its children.
        collections.sort_by_key(String::len);
        for collection in collections {
            if let Some(resource) = self.find_resource(&collection, &shapes, &mut taken) {
                self.resources.push(resource);
            }
        }
        for at in 0..self.resources.len() {
            let path = self.resources[at].path.clone();
            let contains = |other: &Resource| path.starts_with(&format!("{}/{{}}/", other.path));
            let parent = self.resources.iter().enumerate().filter(|(other, it)| *other != at && contains(it));
            // The nearest one: in `/a/{}/b/{}/c` the collection `c` is in an item of `b`.
            let parent = parent.max_by_key(|(_, it)| it.path.len()).map(|(other, _)| other);
            // The keys of the parent are those of the path before the collection.
            let fits = parent
                .filter(|&other| self.resources[other].parents.len() + 1 == self.resources[at].parents.len());
            self.resources[at].parent = fits;
        }
        self.keep_nearest_roles();
        self.find_roles_elsewhere(&shapes, &mut taken);
        self.add_written_maps(&mut taken);
        self.add_missing_answers();
        self.find_singletons(&shapes, &mut taken);
    }

    /// Removes the roles of operations that are about an item inside another one from the outer resource.
    fn keep_nearest_roles(&mut self) {
        for at in 0..self.asked.len() {
            let is_outer = |role: &ResourceRole| matches!(role, ResourceRole::Act | ResourceRole::Below);
            let of = |resource: &Resource| resource.roles.get(&at).map(|_| resource.path.len());
            // The longest path is the innermost resource.
            let nearest = self.resources.iter().filter_map(of).max();
            for resource in &mut self.resources {
                if Some(resource.path.len()) < nearest && resource.roles.get(&at).is_some_and(is_outer) {
                    resource.roles.remove(&at);
                }
            }
        }
    }

    fn find_resource(
        &mut self,
        collection: &str,
        shapes: &[String],
        taken: &mut TakenNames,
    ) -> Option<Resource> {
        let item = format!("{collection}/{{}}");
        let word = collection.rsplit('/').next().unwrap_or_default();
        let singular = singular_of(word);
        let on_item = |at: &usize| shapes[*at] == item;
        let of_item: Vec<usize> = (0..shapes.len()).filter(on_item).collect();
        let fields = path_fields(&self.asked[*of_item.first()?]);
        let (id, parents) = fields.split_last()?;
        let id_sort = key_sort_of(&id.sort)?;
        let parents: Vec<(String, &'static str)> = parents
            .iter()
            .map(|field| Some((field.name.clone(), key_sort_of(&field.sort)?)))
            .collect::<Option<_>>()?;
        let parameter = id.wire.clone();
        let shape_count = collection.matches("{}").count();
        // A parameter in the middle of a step, as in `/files/{name}.json`, is no key.
        if parents.len() != shape_count {
            return None;
        }
        // A field of the key must not be called like the id.
        let parents = parents
            .into_iter()
            .map(|(name, sort)| (if name == "id" { "parent_id".to_owned() } else { name }, sort))
            .collect();
        let path = collection.to_owned();
        let has_uuids = self.is_uuid(of_item[0], &parameter);
        // A link says which member has the id; otherwise the names do.
        let parameter = self.linked_member(&of_item, &parameter).unwrap_or(parameter);
        let mut resource = Resource { singular, path, id_sort, has_uuids, parents, ..Resource::default() };
        for (at, shape) in shapes.iter().enumerate() {
            if let Some(role) = self.role_of(&resource, (at, shape), shapes) {
                resource.roles.insert(at, role);
            }
        }
        resource.known = self.shown_record(&resource, &parameter)?;
        self.name_variables(&mut resource, &name::snake_case(word), taken);
        self.id_parameters.insert(resource.path.clone(), parameter);
        Some(resource)
    }

    /// Returns the role of the operation at position `at`, whose path has this shape; `None` if it has none.
    fn role_of(
        &self,
        resource: &Resource,
        (at, shape): (usize, &str),
        shapes: &[String],
    ) -> Option<ResourceRole> {
        let operation = &self.asked[at];
        let item = format!("{}/{{}}", resource.path);
        let (is_all, is_here) = (shape == resource.path, shape == item);
        let is_below = shape.starts_with(&format!("{item}/"));
        // The parameter must be a key of this resource; a path may have another one at the same place.
        let key = path_fields(operation).get(resource.parents.len()).copied();
        let names_item = key.is_some_and(|field| resource.takes(field));
        let is_nested = is_below && self.is_collection_below(shape, shapes);
        let last = shape.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        match operation.method.as_str() {
            "GET" if is_all => Some(ResourceRole::List),
            "POST" if is_all => Some(ResourceRole::Create),
            "DELETE" | "PUT" | "PATCH" if is_all => Some(ResourceRole::Sweep),
            "GET" if is_here && names_item => Some(ResourceRole::Get),
            "PUT" if is_here && names_item => Some(ResourceRole::Put),
            "PATCH" if is_here && names_item => Some(ResourceRole::Patch),
            "DELETE" if is_here && names_item => Some(ResourceRole::Delete),
            "POST" | "PUT" | "PATCH" | "DELETE" if is_below && names_item && !is_nested => {
                Some(ResourceRole::Act)
            }
            "GET" | "POST" if is_below && names_item && is_nested => Some(ResourceRole::Below),
            "POST" if is_here && names_item => Some(ResourceRole::Act),
            "POST" | "PUT" | "PATCH" | "DELETE" if SWEEPING.contains(&last.as_str()) => {
                Some(ResourceRole::Sweep)
            }
            _ => None,
        }
    }

    /// Names the variables and the function of a resource with the items `plural`.
    fn name_variables(&mut self, resource: &mut Resource, plural: &str, taken: &mut TakenNames) {
        let plural = if plural == resource.singular { format!("{plural}_items") } else { plural.to_owned() };
        resource.items = taken.fresh_name(&plural);
        resource.created = taken.fresh_name(&format!("created_{plural}"));
        resource.deleted = taken.fresh_name(&format!("deleted_{plural}"));
        resource.removed = taken.fresh_name(&format!("removed_{plural}"));
        if !resource.parents.is_empty() {
            resource.orphaned = taken.fresh_name(&format!("orphaned_{plural}"));
        }
        // Functions and variables of the resource are called after it.
        resource.singular = taken.fresh_name(&resource.singular);
        resource.key_record = self.types.fresh_name(&format!("{}Key", name::pascal_case(&resource.singular)));
        resource.asked = taken.fresh_name(&format!("asked_{}", resource.singular));
    }

    /// Returns whether the description says that a parameter is a UUID.
    fn is_uuid(&self, at: usize, parameter: &str) -> bool {
        let named =
            self.operations[at].parameters.iter().find(|(node, _)| node.text_at("name") == Some(parameter));
        let schema = named.and_then(|(node, _)| self.document.resolve_reference(node.get("schema")?, ""));
        schema.is_some_and(|(schema, _)| schema.text_at("format") == Some("uuid"))
    }

    /// Returns whether a path is that of another collection, or of its items.
    fn is_collection_below(&self, shape: &str, shapes: &[String]) -> bool {
        let collection = shape.strip_suffix("/{}").unwrap_or(shape);
        let has_items = shapes.iter().any(|other| other.strip_suffix("/{}") == Some(collection));
        // A collection whose items are only listed.
        let is_listed = shapes.iter().zip(&self.asked).any(|(other, asked)| {
            let mut answers = asked.answers.iter().filter(|answer| is_success(answer));
            other == shape && asked.method == "GET" && answers.any(|answer| self.is_list(answer))
        });
        has_items || is_listed
    }

    /// Returns whether the body of an answer is a list, or has one.
    fn is_list(&self, answer: &DocumentedResponse) -> bool {
        let Some((sort, _)) = &answer.body else { return false };
        let members = self.records.get(sort.as_str()).map(Vec::as_slice).unwrap_or_default();
        sort.starts_with("list<") || members.iter().any(|member| member.sort.starts_with("list<"))
    }

    /// Returns the record that the body of a request is.
    pub(super) fn sent_record(&self, at: usize) -> Option<String> {
        let body = self.asked[at].fields.iter().find(|field| field.place == FieldLocation::Body)?;
        let record = body.sort.trim_end_matches('?');
        self.records.contains_key(record).then(|| record.to_owned())
    }
}

pub(super) fn is_json_body(answer: &DocumentedResponse) -> bool {
    matches!(answer.kind, BodyKind::Json | BodyKind::JsonAs(_))
}
