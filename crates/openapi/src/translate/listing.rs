//! Lists of items: what a request asks for, and the rules about the answer.

use super::compare::TypedText;
use super::lifetime::orphan_rule;
use super::operation::FieldOf;
use super::resource::{Resource, ResourceRole, is_success};
use super::rule::{AnswerPlan, ResourceRule, RuleMode};
use super::{DocumentedResponse, FieldLocation, Translator};
use crate::name;
use crate::{RuleTopic, RuleWeight};

/// Names of query parameters that say how many items a list has at most.
const LIMITS: [&str; 12] = [
    "limit",
    "size",
    "perpage",
    "pagesize",
    "count",
    "top",
    "first",
    "maxresults",
    "take",
    "max",
    "maxitems",
    "rows",
];
/// Names of query parameters that say where a list begins, or in which order it is.
const STARTS: [&str; 14] = [
    "offset",
    "skip",
    "page",
    "start",
    "cursor",
    "after",
    "before",
    "pagetoken",
    "from",
    "pagenumber",
    "sort",
    "order",
    "sortby",
    "orderby",
];

/// Names of query parameters that say which page a list shows.
const PAGES: [&str; 8] = ["offset", "skip", "page", "start", "cursor", "after", "pagetoken", "pagenumber"];

impl Translator<'_> {
    /// A list: every item in it is as it is known, none was deleted, and those that were asked for are there.
    pub(super) fn plan_list(
        &mut self,
        resource: &Resource,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let Some((place, view)) = self.list_view(resource, answer) else { return };
        let singular = resource.singular.clone();
        let key = resource.key_beside(&resource.id_of("x", &view.id));
        let label = plan.label.clone();
        let rule = |name: &str, condition: String, about: String, weight: RuleWeight| ResourceRule {
            id: format!("{label}.{name}"),
            condition,
            about,
            weight,
            topic: RuleTopic::State,
            support: None,
        };
        plan.rules.push(rule(
            "deleted",
            format!("(forall x in {place}: !{}.has({key}))", resource.deleted),
            format!("{method} lists no {singular} that was deleted"),
            RuleWeight::Contradiction,
        ));
        if self.rules.is_restarted {
            plan.rules.push(ResourceRule {
                id: self.created_rule(resource, at, ResourceRole::List),
                condition: format!("(forall x in {place}: {})", resource.was_created(&key)),
                about: format!("{method} lists only what was created"),
                weight: RuleWeight::Guess,
                topic: RuleTopic::Relation,
                support: Some(format!("!{place}.is_empty()")),
            });
        }
        if let Some(orphaned) = resource.may_be_orphaned(&key) {
            plan.rules.push(ResourceRule {
                id: orphan_rule(resource),
                condition: format!("(forall x in {place}: !{orphaned})"),
                about: format!("{method} lists no {singular} of something that was deleted since"),
                weight: RuleWeight::Guess,
                topic: RuleTopic::Relation,
                support: Some("false".into()),
            });
        }
        plan.rules.push(rule(
            "once",
            format!("{{{key} for x in {place}}}.size() == {place}.length()"),
            format!("{method} lists no {singular} twice"),
            RuleWeight::Contradiction,
        ));
        let mut wanted: Vec<String> = vec![format!("{}.keys().to_set()", resource.items)];
        wanted.extend(resource.written.iter().map(|(map, _)| format!("{map}.keys().to_set()")));
        let owner = resource.elsewhere.get(&at);
        // Only the items of the owner that the path names can be asked for.
        if let Some(owner) = owner {
            wanted.truncate(1);
            wanted = wanted.iter().filter_map(|keys| self.keys_in_owner(resource, owner, keys)).collect();
        } else if !resource.orphaned.is_empty() && resource.parents.is_empty() {
            wanted = wanted.iter().map(|keys| format!("({keys} - {})", resource.orphaned)).collect();
        } else if !resource.parents.is_empty() {
            let beside: Vec<String> = resource
                .parents
                .iter()
                .map(|(name, _)| format!("k.{name} == {}.{name}", resource.asked))
                .collect();
            wanted = wanted
                .iter()
                .map(|keys| {
                    let beside = beside.join(" && ");
                    format!("{{k for k in {keys} if {beside} && !{}.has(k)}}", resource.orphaned)
                })
                .collect();
        }
        for list in self.list_requests(at) {
            // A page that is not full is the last one, so all items are on it.
            let page = list.limit.is_some().then(|| format!(" && {place}.length() < {}", list.page));
            // The service decides how long a page is: a list is known to be complete only if it has the total.
            let total = self.total_member(answer).filter(|_| list.is_open_page);
            let page = page.or(total.map(|total| format!(" && {place}.length() >= body.{total}")));
            let can_be_whole = (!list.is_open_page || page.is_some()) && !wanted.is_empty();
            let all: Vec<String> =
                wanted.iter().map(|keys| format!("{keys}.subset_of({{{key} for x in {place}}})")).collect();
            if can_be_whole {
                plan.rules.push(rule(
                    "complete",
                    format!(
                        "({}{} => {})",
                        list.is_plain,
                        page.clone().unwrap_or_default(),
                        all.join(" && ")
                    ),
                    format!("{method} without filters lists every {singular}"),
                    if list.limit.is_some() { RuleWeight::Contradiction } else { RuleWeight::Guess },
                ));
            }
            // A page that is not full lists all items, and no page is shorter than this.
            if can_be_whole && page.is_none() && self.needs_short_lists(&label) {
                plan.rules.push(rule(
                    "complete_short",
                    format!("({} && {place}.length() < 10 => {})", list.is_plain, all.join(" && ")),
                    format!("{method} without filters lists every {singular} if it lists only a few"),
                    RuleWeight::Contradiction,
                ));
            }
            if list.limit.is_some() {
                plan.rules.push(rule(
                    "limit",
                    format!("({} > 0 => {place}.length() <= {})", list.page, list.page),
                    format!("{method} lists no more than was asked for"),
                    if list.is_plain_limit { RuleWeight::Contradiction } else { RuleWeight::Guess },
                ));
            }
            for filter in &list.filters {
                let Some(condition) = &filter.condition else { continue };
                plan.rules.push(rule(
                    &format!("filter.{}", filter.field),
                    format!(
                        "(match {} {{ none => true, some(wanted) => (forall x in {place}: {condition}) }})",
                        filter.variable
                    ),
                    format!("{method} with `{}` lists only what has it", filter.field),
                    if filter.is_exact { RuleWeight::Contradiction } else { RuleWeight::Guess },
                ));
            }
        }
        // The number of items in one that contains them is not known.
        for list in self.list_requests(at).into_iter().filter(|_| owner.is_none()) {
            self.add_page_rules(resource, answer, (&list, &place), plan, method);
        }
        let same = self.same_rules(resource, &view.record);
        let items = resource.items.clone();
        let wrap = |call: &str| {
            format!(
                "(forall x in {place}: (match {items}.get({key}) {{ none => true, some(known) => {call} }}))"
            )
        };
        self.add_field_rules(&same, &["known", "x"], &wrap, plan);
        for (map, sent) in &resource.written {
            let echo = self.echo_rules(resource, sent, &view.record);
            let wrap = |call: &str| {
                format!(
                    "(forall x in {place}: (match {map}.get({key}) {{ none => true, some(sent) => {call} }}))"
                )
            };
            self.add_field_rules(&echo, &["sent", "x"], &wrap, plan);
        }
        plan.origin
            .push(format!("{method} lists the {} as they were created or changed last.", resource.items));
    }

    /// Returns whether a request asks for a page.
    fn has_pages(&self, at: usize) -> bool {
        let is_page = |field: &FieldOf| {
            let wire = super::resource::plain_name(&field.wire);
            field.place == FieldLocation::Query && PAGES.contains(&wire.as_str())
        };
        self.asked[at].fields.iter().any(is_page)
    }

    /// Returns whether the rule about short lists is needed: it follows from the one about all lists.
    fn needs_short_lists(&self, label: &str) -> bool {
        self.rules.mode == RuleMode::Learning || self.rules.is_broken(&format!("{label}.complete"))
    }

    /// Returns what the request of a list says: whether it asks for all items, for how many, for which.
    pub(super) fn list_requests(&self, at: usize) -> Vec<ListRequest> {
        let of =
            self.resources.iter().filter(|resource| resource.roles.get(&at) == Some(&ResourceRole::List));
        of.take(1).filter_map(|resource| self.list_request(resource, at)).collect()
    }

    fn list_request(&self, resource: &Resource, at: usize) -> Option<ListRequest> {
        let asked = &self.asked[at];
        let view = asked.answers.iter().filter(|answer| is_success(answer));
        let (_, view) = view.clone().find_map(|answer| self.list_view(resource, answer))?;
        let members = self.records.get(&view.record).cloned().unwrap_or_default();
        let (mut plain, mut limit, mut filters, mut is_plain_limit) = (Vec::new(), None, Vec::new(), false);
        let (mut unfiltered, mut start) = (Vec::new(), None);
        let queries = asked.fields.iter().filter(|field| field.place == FieldLocation::Query);
        for field in queries {
            let wire: String = field
                .wire
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .collect::<String>()
                .to_ascii_lowercase();
            if LIMITS.contains(&wire.as_str()) && super::resource::is_whole(field.sort.trim_end_matches('?'))
            {
                is_plain_limit = matches!(wire.as_str(), "limit" | "perpage" | "pagesize");
                // Without the parameter the service uses its default; 0 stands for a limit that is not known.
                let usual = self.default_of(at, &field.wire).unwrap_or_else(|| "0".into());
                limit = Some(if field.sort.ends_with('?') {
                    format!("(match {} {{ none => {usual}, some(most) => most }})", field.name)
                } else {
                    field.name.clone()
                });
                continue;
            }
            let absent = match &field.sort {
                sort if sort.ends_with('?') => format!("{} == none", field.name),
                sort if sort.starts_with("list<") => format!("{}.is_empty()", field.name),
                _ => "false".to_owned(),
            };
            plain.push(absent.clone());
            // The first parameter that says where the page begins is followed; any other filters, as far as is
            // known.
            match PageStart::from_wire_name(&wire)
                .filter(|_| super::resource::is_whole(field.sort.trim_end_matches('?')))
            {
                Some(kind) if start.is_none() => start = Some((kind, field.clone())),
                _ => unfiltered.push(absent),
            }
            let member = members.iter().find(|member| member.wire == field.wire);
            let is_start = STARTS.contains(&wire.as_str());
            if let Some(member) = member.filter(|_| !is_start && !field.sort.starts_with("list<")) {
                let base = field.sort.trim_end_matches('?');
                let shown = format!("x.{}", member.name);
                let condition = self.equality(
                    TypedText { text: "wanted", sort: base },
                    TypedText { text: &shown, sort: &member.sort },
                );
                let value = if field.sort.ends_with('?') {
                    field.name.clone()
                } else {
                    format!("some({})", field.name)
                };
                filters.push(ListFilter {
                    field: field.wire.clone(),
                    variable: format!("{}_of_{}", asked.name, name::snake_case(&field.wire)),
                    sort: format!("{base}?"),
                    is_exact: base == "bool" || self.enums.contains_key(base),
                    value,
                    condition,
                });
            }
        }
        filters.retain(|filter| filter.condition.is_some());
        let all = |conditions: &[String]| {
            if conditions.is_empty() { "true".to_owned() } else { conditions.join(" && ") }
        };
        let plain_condition = all(&plain);
        Some(ListRequest {
            is_unfiltered: format!("{}_unfiltered", asked.name),
            unfiltered_condition: all(&unfiltered),
            offset: format!("{}_from", asked.name),
            offset_value: start.map_or("0".to_owned(), |(kind, field)| kind.offset(&field, limit.as_deref())),
            is_plain: format!("{}_of_all", asked.name),
            plain_condition,
            page: format!("{}_at_most", asked.name),
            is_open_page: limit.is_none() && self.has_pages(at),
            limit,
            is_plain_limit,
            filters,
        })
    }

    /// Returns the default of a parameter, if it is a whole number.
    fn default_of(&self, at: usize, wire: &str) -> Option<String> {
        let named =
            self.operations[at].parameters.iter().find(|(node, _)| node.text_at("name") == Some(wire));
        let (node, _) = named?;
        let (schema, _) = self.document.resolve_reference(node.get("schema")?, "")?;
        schema.count_at("default").map(|count| count.to_string())
    }
}

/// The meaning of a parameter that says where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageStart {
    /// The number of items before it.
    Offset,
    /// The number of the page, from 1.
    Page,
}

impl PageStart {
    /// Returns the meaning of a parameter by its name.
    fn from_wire_name(wire: &str) -> Option<Self> {
        match wire {
            "offset" | "skip" => Some(Self::Offset),
            "page" | "pagenumber" => Some(Self::Page),
            _ => None,
        }
    }

    /// Returns the number of items before the page, -1 if it is not known.
    fn offset(self, field: &FieldOf, limit: Option<&str>) -> String {
        let value = match (self, limit) {
            (Self::Offset, _) => "start".to_owned(),
            (Self::Page, Some(limit)) => format!("(start - 1) * {limit}"),
            // Only the first page begins at a place that is known without its length.
            (Self::Page, None) => "(if start == 1 then 0 else -1)".to_owned(),
        };
        if field.sort.ends_with('?') {
            format!("(match {} {{ none => 0, some(start) => {value} }})", field.name)
        } else {
            value.replace("start", &field.name)
        }
    }
}

/// The contents of the request of a list.
pub(super) struct ListRequest {
    /// The variable that says whether it asks for all items, and its value.
    pub(super) is_plain: String,
    pub(super) plain_condition: String,
    /// The variable for the number of items at most.
    pub(super) page: String,
    /// The value of that variable; `None` if no parameter limits the list.
    pub(super) limit: Option<String>,
    /// True if pages can be asked for, and nothing says how long one is.
    pub(super) is_open_page: bool,
    /// True if the parameter is called like nothing but a limit.
    pub(super) is_plain_limit: bool,
    pub(super) filters: Vec<ListFilter>,
    /// The variable that says whether nothing but the page is asked for, and its value.
    pub(super) is_unfiltered: String,
    pub(super) unfiltered_condition: String,
    /// The variable for the number of items before the page, -1 if it is not known, and its value.
    pub(super) offset: String,
    pub(super) offset_value: String,
}

/// A query parameter that is called like a field of the items.
pub(super) struct ListFilter {
    pub(super) field: String,
    pub(super) variable: String,
    /// The sort of the variable, an option.
    pub(super) sort: String,
    pub(super) value: String,
    /// True if the values are listed, so that only equal ones can be meant.
    pub(super) is_exact: bool,
    /// The condition on an item `x`, if the wanted value is `wanted`; `None` if they cannot be compared.
    pub(super) condition: Option<String>,
}
