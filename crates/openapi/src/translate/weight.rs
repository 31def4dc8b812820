//! The weights of requests: mostly about what exists, seldom what removes it, and now and then a wrong one.
//!
//! A service shows most of its faults in items that exist, and some only if there are several, on a later page, or
//! after one was deleted. So the request of an operation is several transitions, each with a weight: for what exists,
//! for what was deleted, for anything else; while there are few items, and later; for a page after the first.

use super::resource::{Resource, ResourceRole, path_fields, shape_of};
use super::rule::RuleMode;
use super::wrong::{WrongPart, WrongRequest};
use super::{RequestOperation, Translator};

/// The percentage of wrong requests. Chosen by feel: each kind of them needs only a few.
const WRONG_PERCENT: u32 = 12;
/// The same while the service is learned: every kind that it accepts must be seen.
const WRONG_PERCENT_IN_LEARNING: u32 = 25;
/// The number of items of a collection from which on few are added. Chosen by feel: faults of collections need three or
/// four, and requests for many items reach none of them twice.
const FEW_ITEMS: u32 = 5;

/// A request in one of its situations.
pub(super) struct RequestVariant {
    /// The end of the name of the transition.
    pub(super) suffix: &'static str,
    pub(super) weight: u32,
    /// The condition of the situation; `None` for any.
    pub(super) guard: Option<String>,
}

/// Returns the annotation of a transition.
pub(super) fn weight_text(weight: u32) -> String {
    if weight == 1 { String::new() } else { format!("@weight({weight})\n") }
}

/// Returns a variant of a request.
fn variant(suffix: &'static str, weight: u32, guard: impl Into<Option<String>>) -> RequestVariant {
    RequestVariant { suffix, weight, guard: guard.into() }
}

impl Translator<'_> {
    /// Returns the variants of the request of an operation.
    pub(super) fn request_variants(&self, at: usize) -> Vec<RequestVariant> {
        let known = self.known_guard(at, &self.asked[at], None);
        let of = self.resource_of(at);
        let (Some((resource, role)), Some(known)) = (of, &known) else {
            return self.collection_variants(at, of);
        };
        let other = format!("!{known}");
        let has_create = resource.roles.values().any(|role| *role == ResourceRole::Create);
        let exists = |weight: u32| variant("_that_exists", weight, known.clone());
        // Weights are chosen by feel, in relation to each other: reads and writes of what exists are most of a
        // campaign, lists and deletions are rarer, and what changes everything is the rarest.
        let weight = match role {
            ResourceRole::Create => {
                let few = self.few_items(at, resource);
                return vec![
                    variant("_while_few", 14, format!("{known} && {few}")),
                    variant("_that_exists", 3, format!("{known} && !({few})")),
                    variant("", 1, other),
                ];
            }
            ResourceRole::List => 5,
            ResourceRole::Get | ResourceRole::Put | ResourceRole::Patch => 12,
            ResourceRole::Act | ResourceRole::Below => 10,
            ResourceRole::Delete => 4,
            ResourceRole::Sweep => 1,
        };
        let mut variants = vec![exists(weight)];
        if role == ResourceRole::List {
            variants.extend(self.whole_list(at, Some(known)));
            variants.extend(self.later_page(at, resource, Some(known)));
        }
        let has_delete = resource.roles.values().any(|role| *role == ResourceRole::Delete);
        if let (Some(key), true) = (self.key_in_path(at, resource), has_delete && role != ResourceRole::List)
        {
            let weight = if role == ResourceRole::Put && !has_create { 6 } else { 1 };
            let deleted = format!("{}.has({key})", resource.deleted);
            variants.push(variant("_that_was_deleted", weight, format!("{deleted} && {other}")));
        }
        if role == ResourceRole::Put && !has_create {
            let few = self.few_items(at, resource);
            variants.push(variant("_while_few", 12, format!("{other} && {few}")));
            variants.push(variant("", 3, format!("{other} && !({few})")));
        } else {
            variants.push(variant("", 1, other));
        }
        variants
    }

    /// Returns the variants of a request that names no item.
    fn collection_variants(&self, at: usize, of: Option<(&Resource, ResourceRole)>) -> Vec<RequestVariant> {
        match of {
            Some((resource, ResourceRole::Create)) => {
                let few = self.few_items(at, resource);
                vec![variant("_while_few", 14, few.clone()), variant("", 3, format!("!({few})"))]
            }
            Some((resource, ResourceRole::List)) => {
                let page = self.later_page(at, resource, None);
                let whole = self.whole_list(at, None);
                whole.into_iter().chain(page).chain([variant("", 5, None)]).collect()
            }
            Some((_, ResourceRole::Sweep)) => vec![variant("", 1, None)],
            Some(_) => vec![variant("", 6, None)],
            None => match self.singleton_parent_guard(at) {
                Some(known) => {
                    let other = format!("!{known}");
                    vec![variant("_that_exists", 8, known), variant("", 1, other)]
                }
                None => vec![variant("", 4, None)],
            },
        }
    }

    /// Returns the condition that the item which contains a singleton is known to exist; `None` if there is none.
    fn singleton_parent_guard(&self, at: usize) -> Option<String> {
        if !self.is_of_singleton(at) {
            return None;
        }
        let path = shape_of(&self.asked[at].path);
        let contains = |resource: &&Resource| path.starts_with(&format!("{}/{{}}/", resource.path));
        let parent = self.resources.iter().filter(contains).max_by_key(|resource| resource.path.len())?;
        Some(format!("({})", parent.is_known(&self.key_in_path(at, parent)?)))
    }

    /// Returns the variant of a list for a page after the first that has items, if pages can be asked for.
    fn later_page(&self, at: usize, resource: &Resource, known: Option<&str>) -> Option<RequestVariant> {
        let list = self.list_requests(at).into_iter().next()?;
        if list.offset_value == "0" || list.limit.is_none() {
            return None;
        }
        let count = self.count_created(at, resource);
        let from = &list.offset_value;
        let conditions =
            [list.unfiltered_condition.clone(), format!("{from} > 0"), format!("{from} < {count}")];
        let guard: Vec<String> = known.map(str::to_owned).into_iter().chain(conditions).collect();
        Some(variant("_on_a_later_page", 6, guard.join(" && ")))
    }

    /// Returns the condition that few items were created in the collection that an operation names.
    fn few_items(&self, at: usize, resource: &Resource) -> String {
        format!("{} < {FEW_ITEMS}", self.count_created(at, resource))
    }

    /// Returns the number of items that were created in the collection that an operation names.
    fn count_created(&self, at: usize, resource: &Resource) -> String {
        let fields = path_fields(&self.asked[at]);
        let beside = resource.parents.iter().zip(&fields);
        let beside: Vec<String> =
            beside.map(|((name, _), field)| format!("k.{name} == {}", field.name)).collect();
        if beside.is_empty() {
            return format!("{}.size()", resource.created);
        }
        format!("{{k for k in {} if {}}}.size()", resource.created, beside.join(" && "))
    }

    /// Returns the variant of a list that asks for everything, if a query can ask for less.
    fn whole_list(&self, at: usize, known: Option<&str>) -> Option<RequestVariant> {
        let list = self.list_requests(at).into_iter().next()?;
        if list.plain_condition == "true" {
            return None;
        }
        let guard: Vec<String> = known.map(str::to_owned).into_iter().chain([list.plain_condition]).collect();
        Some(variant("_as_a_whole", 9, guard.join(" && ")))
    }

    /// Returns the variants of a wrong request: every mistake has its share, and one for what does not exist may be
    /// refused for that.
    pub(super) fn wrong_variants(&self, wrong_request: &WrongRequest) -> Vec<RequestVariant> {
        let cases = u32::try_from(wrong_request.case_count()).unwrap_or(1).max(1);
        if wrong_request.part == WrongPart::Content {
            // Without the item, the request would be refused for that.
            let known = self.known_guard(wrong_request.of, &wrong_request.request, None);
            return vec![variant("", 2, known)];
        }
        match self.known_guard(wrong_request.of, &wrong_request.request, wrong_request.value_field()) {
            Some(known) => {
                let other = format!("!{known}");
                vec![variant("_that_exists", cases + 1, known), variant("", 1, other)]
            }
            None => vec![variant("", cases, None)],
        }
    }

    /// Returns the factor of the weights of right requests, by which wrong ones get their share.
    pub(super) fn weight_factor(&self) -> u32 {
        let sum = |variants: Vec<RequestVariant>| variants.iter().map(|variant| variant.weight).sum::<u32>();
        let right: u32 = (0..self.asked.len()).map(|at| sum(self.request_variants(at))).sum();
        let wrong: u32 = self.wrong.iter().map(|wrong| sum(self.wrong_variants(wrong))).sum();
        let percent = match self.rules.mode {
            RuleMode::Learning => WRONG_PERCENT_IN_LEARNING,
            RuleMode::Stateless | RuleMode::Learned => WRONG_PERCENT,
        };
        // `right * factor : wrong` as `100 - percent : percent`, rounded in favour of right requests.
        (wrong * (100 - percent)).div_ceil((right * percent).max(1)).max(1)
    }

    /// Returns the resource that an operation is about, and its part in it.
    fn resource_of(&self, at: usize) -> Option<(&Resource, ResourceRole)> {
        let is_named = |role: &ResourceRole| *role != ResourceRole::Sweep;
        let of = |resource: &'_ Resource| resource.roles.get(&at).copied();
        let mut all = self.resources.iter().filter_map(|resource| Some((resource, of(resource)?)));
        // The item that the path names, rather than those inside it.
        let named = all.clone().filter(|(_, role)| is_named(role));
        named.min_by_key(|(resource, _)| resource.elsewhere.contains_key(&at)).or_else(|| all.next())
    }

    /// Returns the key of the item that the path of an operation names.
    fn key_in_path(&self, at: usize, resource: &Resource) -> Option<String> {
        let names: Vec<String> =
            path_fields(&self.asked[at]).iter().map(|field| field.name.clone()).collect();
        let count = resource.parents.len();
        Some(resource.key(names.get(..count)?, names.get(count)?))
    }

    /// Returns the condition that the item, or the collection, that a request names is known to exist; `None` if it
    /// names none, or with the wrong field.
    fn known_guard(&self, at: usize, operation: &RequestOperation, wrong: Option<&str>) -> Option<String> {
        let fields = path_fields(operation);
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        if wrong.is_some_and(|wrong| names.iter().any(|name| name == wrong)) {
            return None;
        }
        let (of, role) = self.resource_of(at)?;
        let count = of.parents.len();
        match role {
            ResourceRole::Sweep => None,
            ResourceRole::List | ResourceRole::Create => {
                let parent = &self.resources[of.parent?];
                let (id, before) = names.get(..count)?.split_last()?;
                Some(format!("({})", parent.is_known(&parent.key(before, id))))
            }
            _ => Some(format!("({})", of.is_known(&self.key_in_path(at, of)?))),
        }
    }
}
