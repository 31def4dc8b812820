//! Rules that neither the description nor the paths suggest, but that many services follow: counters, pages, sums and
//! the values that every new item has.
//!
//! Each of them is kept only if the service was seen to follow it several times, and never to break it.

use super::listing::ListRequest;
use super::resource::{ItemView, Resource, ResourceRole, is_success, is_whole, shape_of};
use super::rule::{AnswerPlan, ResourceRule};
use super::{DocumentedResponse, FieldLocation, Translator};
use crate::name;
use crate::{RuleTopic, RuleWeight};

/// Names of members of a page that say how many items all pages have.
const TOTALS: [&str; 7] = ["total", "totalcount", "totalitems", "count", "totalresults", "size", "length"];
/// The number of items from which on a number that is equal to theirs counts. With fewer it is by chance.
pub(super) const MIN_COUNT: u32 = 2;

/// The size from which on a number that all new items have in common may be a time. Chosen by feel.
const MAX_CONSTANT: u32 = 1_000_000;

/// A list inside an item that has no paths for its own items.
pub(super) struct ItemContents {
    /// `events`.
    pub(super) word: String,
    /// The variable for their numbers, by item.
    pub(super) counts: String,
    /// The path with `{}` for parameters.
    shape: String,
}

/// A rule that needs support, without its weight and topic.
pub(super) struct GuessedRule {
    pub(super) id: String,
    pub(super) condition: String,
    pub(super) support: String,
    pub(super) about: String,
}

impl From<GuessedRule> for ResourceRule {
    fn from(guess: GuessedRule) -> Self {
        Self {
            id: guess.id,
            condition: guess.condition,
            about: guess.about,
            weight: RuleWeight::Guess,
            topic: RuleTopic::State,
            support: Some(guess.support),
        }
    }
}

impl Translator<'_> {
    /// Returns the lists inside the items of a resource.
    pub(super) fn contents_of(&self, resource: &Resource) -> Vec<ItemContents> {
        let below = resource.roles.iter().filter(|(_, role)| **role == ResourceRole::Below);
        let lists = below.filter(|(at, _)| self.contents_list(**at).is_some());
        lists
            .map(|(at, _)| {
                let shape = shape_of(&self.asked[*at].path);
                let word = name::snake_case(shape.rsplit('/').next().unwrap_or_default());
                let counts = format!("number_of_{word}_of_{}", resource.singular);
                ItemContents { word, counts, shape }
            })
            .collect()
    }

    /// Returns the list that the answers of an operation show as a whole; `None` if a query can ask for a part of it.
    fn contents_list(&self, at: usize) -> Option<String> {
        let asked = &self.asked[at];
        // A query may ask for a part, and the length of a part says nothing.
        if asked.method != "GET" || asked.fields.iter().any(|field| field.place == FieldLocation::Query) {
            return None;
        }
        asked.answers.iter().filter(|answer| is_success(answer)).find_map(|answer| self.list_place(answer))
    }

    /// Returns the place of the list in the body of an answer.
    fn list_place(&self, answer: &DocumentedResponse) -> Option<String> {
        let (sort, _) = answer.body.as_ref()?;
        if sort.starts_with("list<") {
            return Some("body".to_owned());
        }
        let members = self.records.get(sort.as_str())?;
        let lists: Vec<_> = members.iter().filter(|member| member.sort.starts_with("list<")).collect();
        match lists[..] {
            [list] => Some(format!("body.{}", list.name)),
            _ => None,
        }
    }

    /// A list inside an item: it has as many items as before, and one more for each that was added.
    pub(super) fn plan_below(
        &mut self,
        resource: &Resource,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let shape = shape_of(&self.asked[at].path);
        let contents = self.contents_of(resource);
        let Some(below) = contents.iter().find(|below| below.shape == shape) else { return };
        let (counts, key) = (&below.counts, &resource.asked);
        if self.asked[at].method != "GET" {
            plan.updates.push(format!(
                "{counts} = (match {counts}.get({key}) {{ none => {counts}, some(n) => {counts}.with({key}, n + 1) }})"
            ));
            return;
        }
        let Some(list) = self.list_place(answer) else { return };
        let holds = |else_: &str, condition: &str| {
            format!("(match {counts}.get({key}) {{ none => {else_}, some(n) => {condition} }})")
        };
        plan.rules.push(
            GuessedRule {
                id: format!("{}.number", plan.label),
                condition: holds("true", &format!("{list}.length() == n")),
                support: holds("false", &format!("n >= {MIN_COUNT}")),
                about: format!("{method} lists the {} that were there, and those added since", below.word),
            }
            .into(),
        );
        // What was shown last is believed, also if the rule was broken: one difference is reported once.
        plan.updates.push(format!("{counts}[{key}] = {list}.length()"));
    }

    /// Returns the condition under which the number of items of a collection is known, and that number.
    fn exact_count(&self, resource: &Resource) -> Option<(String, String)> {
        let (created, asked) = (&resource.created, &resource.asked);
        if resource.parents.is_empty() {
            // On a service that was not just started there may be items that nobody here created.
            return self.rules.is_restarted.then(|| ("true".to_owned(), format!("{created}.size()")));
        }
        let beside: Vec<String> =
            resource.parents.iter().map(|(name, _)| format!("k.{name} == {asked}.{name}")).collect();
        let count = format!("{{k for k in {created} if {}}}.size()", beside.join(" && "));
        let parent = self.resources.get(resource.parent?)?;
        let values: Vec<String> =
            resource.parents.iter().map(|(name, _)| format!("{asked}.{name}")).collect();
        let (id, before) = values.split_last()?;
        // Inside an item that was created here all items are known, whatever was there before.
        Some((format!("{}.has({})", parent.created, parent.key(before, id)), count))
    }

    /// Adds the rules about the numbers of items of a page, and of all pages.
    pub(super) fn add_page_rules(
        &self,
        resource: &Resource,
        answer: &DocumentedResponse,
        (list, place): (&ListRequest, &str),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let mut rules = PageRules { list, place, items: &resource.items, method, plan };
        if let Some((when, count)) = self.exact_count(resource) {
            rules.add_count_rules(&when, &count, &self.number_members(answer));
        }
        let is_total = |member: &String| TOTALS.contains(&member.replace('_', "").as_str());
        // Of a page of unknown length only the total can be compared.
        for total in self.number_members(answer).into_iter().filter(|it| !list.is_open_page && is_total(it)) {
            rules.add_total_rule(&format!("body.{total}"));
        }
    }

    /// Returns the member of the body of an answer that says how many items all pages have.
    pub(super) fn total_member(&self, answer: &DocumentedResponse) -> Option<String> {
        // A `count` may be that of the page.
        self.number_members(answer).into_iter().find(|member| member.replace('_', "").starts_with("total"))
    }

    /// Returns the members of the body of an answer that are whole numbers.
    fn number_members(&self, answer: &DocumentedResponse) -> Vec<String> {
        let Some((sort, _)) = &answer.body else { return Vec::new() };
        let members = self.records.get(sort.as_str()).map(Vec::as_slice).unwrap_or_default();
        members.iter().filter(|member| is_whole(&member.sort)).map(|member| member.name.clone()).collect()
    }

    /// Adds the rules that a number which an operation shows is that of the items of a resource, for a service that
    /// begins empty.
    pub(super) fn add_counter_rules(
        &self,
        at: usize,
        answer: &DocumentedResponse,
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        if self.asked[at].method != "GET" || !self.asked[at].fields.is_empty() {
            return;
        }
        for resource in self.resources.iter().filter(|resource| resource.parents.is_empty()) {
            let Some((_, count)) = self.exact_count(resource) else { continue };
            for member in self.number_members(answer) {
                let guess = GuessedRule {
                    id: format!("{}.counts.{member}.{}", plan.label, resource.items),
                    condition: format!("body.{member} == {count}"),
                    support: format!("{count} >= {MIN_COUNT}"),
                    about: format!("{method} shows the number of {} in `{member}`", resource.items),
                };
                plan.rules.push(guess.into());
            }
        }
    }

    /// Adds the rules that every new item has the same values in fields that no request sets.
    pub(super) fn add_constant_rules(
        &self,
        resource: &Resource,
        view: &ItemView,
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let Some(value) = self.known_value(resource, view) else { return };
        let (first, set) = (resource.first_created(), self.fields_set(resource));
        let known = self.records.get(&resource.known).map(Vec::as_slice).unwrap_or_default();
        let is_plain = |sort: &str| sort == "bool" || is_whole(sort) || self.enums.contains_key(sort);
        let mut is_read = false;
        for member in known {
            let sort = member.sort.trim_end_matches('?');
            let is_number_or_none = member.sort.ends_with('?') && is_whole(sort);
            // A field that requests set has their values; the id differs; other sorts may be times or texts made up
            // for each item.
            if set.contains(&member.name)
                || member.wire == view.id.wire
                || !is_plain(sort)
                || is_number_or_none
            {
                continue;
            }
            let shown = self.records.get(&view.record).into_iter().flatten();
            let Some(shown) = shown.into_iter().find(|other| other.wire == member.wire) else { continue };
            let same = format!("first.{} == {}.{}", member.name, view.place, shown.name);
            // A large number may be a time, which is the same for items that are created at once.
            let is_small = if is_whole(&member.sort) {
                format!("-{MAX_CONSTANT} < first.{} < {MAX_CONSTANT}", member.name)
            } else {
                "true".to_owned()
            };
            let guess = GuessedRule {
                id: format!("{}.constant.{}", plan.label, member.name),
                condition: format!(
                    "(match {first} {{ none => true, some(first) => ({is_small} => {same}) }})"
                ),
                support: format!("(match {first} {{ none => false, some(first) => {is_small} }})"),
                about: format!("{method} gives every new {} the same `{}`", resource.singular, member.wire),
            };
            is_read = is_read || self.rules.is_kept(&guess.id);
            plan.rules.push(guess.into());
        }
        if !is_read {
            return;
        }
        plan.updates
            .push(format!("{first} = (match {first} {{ none => some({value}), some(_) => {first} }})"));
    }

    /// Adds the rules that an operation adds a number that was sent to a number of the item, or subtracts it.
    pub(super) fn add_sum_rules(
        &self,
        resource: &Resource,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let Some((variable, record)) = self.sent_variable(at) else { return };
        let Some(view) = self.item_view(resource, answer) else { return };
        let members = |record: &str| self.records.get(record).cloned().unwrap_or_default();
        let known = members(&resource.known);
        let set = self.fields_set(resource);
        for sent in members(&record).iter().filter(|member| is_whole(&member.sort)) {
            for shown in members(&view.record).iter().filter(|member| is_whole(&member.sort)) {
                let Some(before) = known.iter().find(|member| member.wire == shown.wire) else { continue };
                if before.sort != shown.sort || shown.wire == view.id.wire || set.contains(&before.name) {
                    continue;
                }
                // Every pair of numbers and both signs: what the service does not follow is left out after
                // learning.
                for (sign, name) in [("+", "sum"), ("-", "difference")] {
                    let holds = |else_: &str, condition: &str| {
                        format!(
                            "(match {variable} {{ none => {else_}, some(sent) => (match {}.get({}) {{ none => {else_}, \
                             some(known) => {condition} }}) }})",
                            resource.items, resource.asked
                        )
                    };
                    let guess = GuessedRule {
                        id: format!("{}.{name}.{}.{}", plan.label, shown.name, sent.name),
                        condition: holds(
                            "true",
                            &format!(
                                "{}.{} == known.{} {sign} sent.{}",
                                view.place, shown.name, before.name, sent.name
                            ),
                        ),
                        support: holds("false", &format!("sent.{} != 0", sent.name)),
                        about: format!(
                            "{method} changes `{}` of the {} by `{}`",
                            shown.wire, resource.singular, sent.wire
                        ),
                    };
                    plan.rules.push(guess.into());
                }
            }
        }
    }
}

/// The rules about the lengths of the pages of one list.
struct PageRules<'r> {
    list: &'r ListRequest,
    /// The list in the answer.
    place: &'r str,
    items: &'r str,
    method: &'r str,
    plan: &'r mut AnswerPlan,
}

impl PageRules<'_> {
    /// Adds the rules of a list whose items are `count` where `when` holds; `members` are the numbers in the answer.
    fn add_count_rules(&mut self, when: &str, count: &str, members: &[String]) {
        let (from, method, items) = (&self.list.offset, self.method, self.items);
        let unfiltered = || vec![self.list.is_unfiltered.clone(), when.to_owned()];
        let all = unfiltered();
        let pages = |place: String| unfiltered().into_iter().chain([place]).collect::<Vec<_>>();
        let (first, later) = (pages(format!("{from} == 0")), pages(format!("{from} > 0")));
        let (enough, more) = (format!("{count} >= {MIN_COUNT}"), format!("{count} > {from}"));
        // Of a page of unknown length only the total can be compared.
        if !self.list.is_open_page {
            let about = format!("{method} lists as many {items} as there are");
            self.add("number", first, self.has_length(count), enough.clone(), about);
            let about = format!("{method} lists the rest of the {items} on later pages");
            self.add("page", later, self.has_length(count), more, about);
        }
        for total in members {
            let about = format!("{method} shows the number of {items} in `{total}`");
            let condition = format!("body.{total} == {count}");
            self.add(&format!("counts.{total}"), all.clone(), condition, enough.clone(), about);
        }
    }

    /// Adds the rule that the pages have as many items as the member `total` of the answer says.
    fn add_total_rule(&mut self, total: &str) {
        let from = &self.list.offset;
        let about = format!("{} lists as many {} as `{total}` and the page say", self.method, self.items);
        let support = format!("{total} > {from} && {total} >= {MIN_COUNT}");
        self.add("of_total", vec![format!("{from} >= 0")], self.has_length(total), support, about);
    }

    /// Returns the condition that the page has the length that follows from `all` items.
    fn has_length(&self, all: &str) -> String {
        let (from, most, place) = (&self.list.offset, &self.list.page, self.place);
        let rest = format!("{all} - {from}");
        let rest = match &self.list.limit {
            Some(_) => format!("(if {rest} < {most} then {rest} else {most})"),
            None => rest,
        };
        format!("{place}.length() == (if {all} <= {from} then 0 else {rest})")
    }

    fn add(&mut self, id: &str, when: Vec<String>, condition: String, support: String, about: String) {
        let is_bounded = self.list.limit.as_ref().map(|_| format!("{} > 0", self.list.page));
        let when = when.into_iter().chain(is_bounded).collect::<Vec<_>>().join(" && ");
        let guess = GuessedRule {
            id: format!("{}.{id}", self.plan.label),
            condition: format!("({when} => {condition})"),
            support: format!("{when} && {support}"),
            about,
        };
        self.plan.rules.push(guess.into());
    }
}
