//! Items that are made and listed inside another item, and have a path of their own: `POST /beds/{bed}/plants` makes a
//! plant, and `GET /plants/{plant}` shows it.

use super::compare::TypedText;
use super::operation::FieldOf;
use super::resource::{
    ItemOwner, Resource, ResourceRole, is_success, path_fields, plain_name, shape_of, singular_of,
};
use super::{RecordMember, Translator};
use crate::name::{self, TakenNames};

impl Translator<'_> {
    /// Finds the operations that make or list items of a resource inside another item.
    pub(super) fn find_roles_elsewhere(&mut self, shapes: &[String], taken: &mut TakenNames) {
        for at in 0..self.resources.len() {
            let mut resource = self.resources[at].clone();
            if !resource.parents.is_empty() || !self.has_delete_or_get(&resource) {
                continue;
            }
            let word = last_word(&resource.path);
            for (operation, shape) in shapes.iter().enumerate() {
                let is_inside = shape.contains("{}") && !shape.ends_with("{}");
                let has_items = shapes.iter().any(|other| other.strip_suffix("/{}") == Some(shape));
                if !is_inside || has_items || last_word(shape) != word {
                    continue;
                }
                let answers = || self.asked[operation].answers.iter().filter(|answer| is_success(answer));
                let role = match self.asked[operation].method.as_str() {
                    "POST" if answers().any(|it| self.item_view(&resource, it).is_some()) => {
                        ResourceRole::Create
                    }
                    "GET" if answers().any(|it| self.list_view(&resource, it).is_some()) => {
                        ResourceRole::List
                    }
                    _ => continue,
                };
                resource.elsewhere.insert(operation, self.find_owner(&resource, operation));
                resource.roles.insert(operation, role);
            }
            if !resource.elsewhere.is_empty() {
                let plural = name::snake_case(resource.path.rsplit('/').next().unwrap_or_default());
                resource.orphaned = taken.fresh_name(&format!("orphaned_{plural}"));
            }
            self.resources[at] = resource;
        }
    }

    /// Returns whether an operation names the items of a resource by their ids.
    fn has_delete_or_get(&self, resource: &Resource) -> bool {
        resource.roles.values().any(|role| matches!(role, ResourceRole::Get | ResourceRole::Delete))
    }

    /// Returns what contains the items that an operation makes or lists.
    fn find_owner(&self, resource: &Resource, operation: usize) -> ItemOwner {
        let asked = &self.asked[operation];
        let shape = shape_of(&asked.path);
        let inside = shape.rsplit_once("/{}/").map(|(owner, _)| owner);
        let owner = inside.and_then(|path| {
            self.resources.iter().find(|other| other.path == path && other.parents.is_empty())
        });
        let field = path_fields(asked).into_iter().next_back();
        let member = owner.zip(field).and_then(|(owner, field)| self.owner_member(resource, owner, field));
        ItemOwner { path: owner.map(|owner| owner.path.clone()), member }
    }

    /// Returns the field of an item that has the id of what contains it, as far as names tell.
    fn owner_member(&self, resource: &Resource, owner: &Resource, field: &FieldOf) -> Option<RecordMember> {
        let word = plain_name(&last_word(&owner.path));
        let names = [plain_name(&field.wire), word.clone(), format!("{word}id"), format!("{word}uuid")];
        let members = self.records.get(&resource.known)?;
        let fits = |member: &&RecordMember| {
            super::resource::key_sort_of(member.sort.trim_end_matches('?')) == Some(owner.id_sort)
        };
        let named = |name: &String| {
            members.iter().filter(fits).find(|member| plain_name(&member.wire) == *name).cloned()
        };
        // `id` is the item's own.
        names.iter().filter(|name| *name != "id").find_map(named)
    }

    /// Returns the condition that the item with the key `k` is in the item `owner` with this key; `None` if nothing
    /// says so.
    pub(super) fn is_inside(
        &self,
        resource: &Resource,
        owner: &ItemOwner,
        (key, sort): (&str, &str),
    ) -> Option<String> {
        let member = owner.member.as_ref()?;
        let shown = format!("known.{}", member.name);
        let same =
            self.equality(TypedText { text: key, sort }, TypedText { text: &shown, sort: &member.sort })?;
        Some(format!("(match {}.get(k) {{ none => false, some(known) => {same} }})", resource.items))
    }

    /// Returns the keys of a map whose items an operation lists that shows those in another item; `None` if it is not
    /// known which those are.
    pub(super) fn keys_in_owner(&self, resource: &Resource, owner: &ItemOwner, keys: &str) -> Option<String> {
        let path = owner.path.as_ref()?;
        let outer = self.resources.iter().find(|other| other.path == *path)?;
        let inside = self.is_inside(resource, owner, (&outer.asked, outer.id_sort))?;
        Some(format!("{{k for k in {keys} if {inside} && !{}.has(k)}}", resource.orphaned))
    }

    /// Returns the updates after an item was removed, for the items that it contained and that have paths of their own:
    /// they may be gone too.
    pub(super) fn orphan_elsewhere_updates(&self, outer: &Resource) -> Vec<String> {
        let mut updates = Vec::new();
        for inner in self.resources.iter().filter(|inner| !inner.elsewhere.is_empty()) {
            let owners = inner.elsewhere.values().filter(|owner| owner.path.as_deref() == Some(&outer.path));
            let Some(owner) = owners.into_iter().next() else { continue };
            let keys = std::iter::once(&inner.items).chain(inner.written.iter().map(|(map, _)| map));
            let inside = self.is_inside(inner, owner, (&outer.asked, outer.id_sort));
            let gone = keys.map(|map| match inside.as_ref().filter(|_| *map == inner.items) {
                Some(inside) => format!("{{k for k in {map}.keys().to_set() if {inside}}}"),
                None => format!("{map}.keys().to_set()"),
            });
            let (orphaned, created) = (&inner.orphaned, &inner.created);
            updates.push(format!("{orphaned} = {orphaned} + {}", gone.collect::<Vec<_>>().join(" + ")));
            let left =
                inside.map_or("{}".to_owned(), |inside| format!("{{k for k in {created} if !{inside}}}"));
            updates.push(format!("{created} = {left}"));
        }
        updates
    }

    /// Returns the updates that forget how many items others contain, after one of a resource was changed or removed by
    /// a path that does not say which one contained it.
    pub(super) fn forget_counts_elsewhere(&self, resource: &Resource) -> Vec<String> {
        let outer = resource.elsewhere.values().filter_map(|owner| owner.path.as_deref());
        let outer = self.resources.iter().filter(|other| outer.clone().any(|path| path == other.path));
        let word = name::snake_case(resource.path.rsplit('/').next().unwrap_or_default());
        let counts = outer.flat_map(|outer| self.contents_of(outer)).filter(|below| below.word == word);
        counts.map(|below| format!("{} = {{}}", below.counts)).collect()
    }

    /// Returns whether another resource has the items that an operation makes.
    pub(super) fn makes_items_elsewhere(&self, at: usize) -> bool {
        self.resources.iter().any(|resource| resource.elsewhere.contains_key(&at))
    }
}

/// Returns the last word of a path, in its singular.
fn last_word(path: &str) -> String {
    singular_of(path.rsplit('/').next().unwrap_or_default())
}
