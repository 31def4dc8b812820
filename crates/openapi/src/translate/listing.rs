//! Lists of items: what a request asks for, and the rules about the answer.

use super::compare::TypedText;
use super::lifetime::orphan_rule;
use super::operation::FieldOf;
use super::resource::{Resource, ResourceRole, is_success, is_whole, plain_name};
use super::rule::{AnswerPlan, ResourceRule, RuleMode};
use super::{DocumentedResponse, FieldLocation, RecordMember, Translator};
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
        let key = resource.key_beside(&resource.id_of("x", &view.id));
        let listed = ListedAnswer { resource, answer, at, method, place, key, label: plan.label.clone() };
        self.add_item_rules(&listed, plan);
        let expected = self.expected_keys(&listed);
        for request in self.list_requests(at) {
            self.add_whole_list_rules(&listed, &request, &expected, plan);
            plan.rules.extend(listed.limit_rule(&request));
            plan.rules.extend(request.filters.iter().map(|filter| listed.filter_rule(filter)));
        }
        // The number of items in one that contains them is not known.
        if !resource.elsewhere.contains_key(&at) {
            for request in self.list_requests(at) {
                self.add_page_rules(resource, answer, (&request, &listed.place), plan, method);
            }
        }
        self.add_known_field_rules(&listed, &view.record, plan);
        plan.origin
            .push(format!("{method} lists the {} as they were created or changed last.", resource.items));
    }

    /// Adds the rules about each item of a list alone: it was created, is not deleted, and is listed once.
    fn add_item_rules(&self, listed: &ListedAnswer<'_>, plan: &mut AnswerPlan) {
        let ListedAnswer { resource, method, place, key, .. } = listed;
        let singular = &resource.singular;
        plan.rules.push(listed.rule(
            "deleted",
            format!("(forall x in {place}: !{}.has({key}))", resource.deleted),
            format!("{method} lists no {singular} that was deleted"),
            RuleWeight::Contradiction,
        ));
        if self.rules.is_restarted {
            plan.rules.push(ResourceRule {
                id: self.created_rule(resource, listed.at, ResourceRole::List),
                condition: format!("(forall x in {place}: {})", resource.was_created(key)),
                about: format!("{method} lists only what was created"),
                weight: RuleWeight::Guess,
                topic: RuleTopic::Relation,
                support: Some(format!("!{place}.is_empty()")),
            });
        }
        if let Some(orphaned) = resource.may_be_orphaned(key) {
            plan.rules.push(ResourceRule {
                id: orphan_rule(resource),
                condition: format!("(forall x in {place}: !{orphaned})"),
                about: format!("{method} lists no {singular} of something that was deleted since"),
                weight: RuleWeight::Guess,
                topic: RuleTopic::Relation,
                support: Some("false".into()),
            });
        }
        plan.rules.push(listed.rule(
            "once",
            format!("{{{key} for x in {place}}}.size() == {place}.length()"),
            format!("{method} lists no {singular} twice"),
            RuleWeight::Contradiction,
        ));
    }

    /// Returns sets of keys that a list of everything contains.
    fn expected_keys(&self, listed: &ListedAnswer<'_>) -> Vec<String> {
        let resource = listed.resource;
        let created = format!("{}.keys().to_set()", resource.items);
        // Only the items of the owner that the path names can be asked for.
        if let Some(owner) = resource.elsewhere.get(&listed.at) {
            return self.keys_in_owner(resource, owner, &created).into_iter().collect();
        }
        let written = resource.written.iter().map(|(map, _)| format!("{map}.keys().to_set()"));
        let keys = [created].into_iter().chain(written);
        if !resource.parents.is_empty() {
            let is_beside: Vec<String> = resource
                .parents
                .iter()
                .map(|(name, _)| format!("k.{name} == {}.{name}", resource.asked))
                .collect();
            let is_beside = is_beside.join(" && ");
            return keys
                .map(|keys| format!("{{k for k in {keys} if {is_beside} && !{}.has(k)}}", resource.orphaned))
                .collect();
        }
        if resource.orphaned.is_empty() {
            return keys.collect();
        }
        keys.map(|keys| format!("({keys} - {})", resource.orphaned)).collect()
    }

    /// Adds the rules that a request without filters lists everything, as far as its pages allow to say so.
    fn add_whole_list_rules(
        &self,
        listed: &ListedAnswer<'_>,
        request: &ListRequest,
        expected: &[String],
        plan: &mut AnswerPlan,
    ) {
        let ListedAnswer { method, place, key, .. } = listed;
        let singular = &listed.resource.singular;
        // A page that is not full is the last one, so all items are on it.
        let page = request.limit.is_some().then(|| format!(" && {place}.length() < {}", request.page));
        // The service decides how long a page is: a list is known to be complete only if it has the total.
        let total = self.total_member(listed.answer).filter(|_| request.is_open_page);
        let page = page.or(total.map(|total| format!(" && {place}.length() >= body.{total}")));
        if expected.is_empty() || (request.is_open_page && page.is_none()) {
            return;
        }
        let are_listed: Vec<String> =
            expected.iter().map(|keys| format!("{keys}.subset_of({{{key} for x in {place}}})")).collect();
        let are_listed = are_listed.join(" && ");
        plan.rules.push(listed.rule(
            "complete",
            format!("({}{} => {are_listed})", request.is_plain, page.as_deref().unwrap_or_default()),
            format!("{method} without filters lists every {singular}"),
            if request.limit.is_some() { RuleWeight::Contradiction } else { RuleWeight::Guess },
        ));
        // A page that is not full lists all items, and no page is shorter than this.
        if page.is_none() && self.needs_short_lists(&listed.label) {
            plan.rules.push(listed.rule(
                "complete_short",
                format!("({} && {place}.length() < 10 => {are_listed})", request.is_plain),
                format!("{method} without filters lists every {singular} if it lists only a few"),
                RuleWeight::Contradiction,
            ));
        }
    }

    /// Adds the rules that the fields of each item are those that were answered or sent last.
    fn add_known_field_rules(&mut self, listed: &ListedAnswer<'_>, record: &str, plan: &mut AnswerPlan) {
        let ListedAnswer { resource, place, key, .. } = listed;
        let for_each_in = |map: &str, known: &str, call: &str| {
            format!(
                "(forall x in {place}: (match {map}.get({key}) {{ none => true, some({known}) => {call} }}))"
            )
        };
        let same = self.same_rules(resource, record);
        let wrap = |call: &str| for_each_in(&resource.items, "known", call);
        self.add_field_rules(&same, &["known", "x"], &wrap, plan);
        for (map, sent) in &resource.written {
            let echo = self.echo_rules(resource, sent, record);
            let wrap = |call: &str| for_each_in(map, "sent", call);
            self.add_field_rules(&echo, &["sent", "x"], &wrap, plan);
        }
    }

    /// Returns whether a request asks for a page.
    fn has_pages(&self, at: usize) -> bool {
        let is_page = |field: &FieldOf| {
            let wire = plain_name(&field.wire);
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
        let (mut plain, mut unfiltered) = (Vec::new(), Vec::new());
        let (mut limit, mut is_plain_limit, mut start, mut filters) = (None, false, None, Vec::new());
        for field in asked.fields.iter().filter(|field| field.place == FieldLocation::Query) {
            let wire = plain_name(&field.wire);
            if LIMITS.contains(&wire.as_str()) && is_whole_number(field) {
                is_plain_limit = matches!(wire.as_str(), "limit" | "perpage" | "pagesize");
                limit = Some(self.limit_value(at, field));
                continue;
            }
            let absent = absence_condition(field);
            plain.push(absent.clone());
            // The first parameter that says where the page begins is followed; any other filters, as far as is
            // known.
            match PageStart::from_wire_name(&wire).filter(|_| is_whole_number(field)) {
                Some(kind) if start.is_none() => start = Some((kind, field.clone())),
                _ => unfiltered.push(absent),
            }
            let member = members.iter().find(|member| member.wire == field.wire);
            let member = member.filter(|_| !STARTS.contains(&wire.as_str()));
            filters.extend(member.and_then(|member| self.list_filter(&asked.name, field, member)));
        }
        Some(ListRequest {
            is_unfiltered: format!("{}_unfiltered", asked.name),
            unfiltered_condition: conjunction(&unfiltered),
            offset: format!("{}_from", asked.name),
            offset_value: start.map_or("0".to_owned(), |(kind, field)| kind.offset(&field, limit.as_deref())),
            is_plain: format!("{}_of_all", asked.name),
            plain_condition: conjunction(&plain),
            page: format!("{}_at_most", asked.name),
            is_open_page: limit.is_none() && self.has_pages(at),
            limit,
            is_plain_limit,
            filters,
        })
    }

    /// Returns the expression for the number of items that a parameter asks for at most.
    fn limit_value(&self, at: usize, field: &FieldOf) -> String {
        if !field.sort.ends_with('?') {
            return field.name.clone();
        }
        // Without the parameter the service uses its default; 0 stands for a limit that is not known.
        let usual = self.default_of(at, &field.wire).unwrap_or_else(|| "0".into());
        format!("(match {} {{ none => {usual}, some(most) => most }})", field.name)
    }

    /// Returns the filter of items by `member` that the parameter `field` is; `None` if they cannot be compared.
    fn list_filter(&self, operation: &str, field: &FieldOf, member: &RecordMember) -> Option<ListFilter> {
        if field.sort.starts_with("list<") {
            return None;
        }
        let base = field.sort.trim_end_matches('?');
        let shown = format!("x.{}", member.name);
        let condition = self.equality(
            TypedText { text: "wanted", sort: base },
            TypedText { text: &shown, sort: &member.sort },
        )?;
        let is_optional = field.sort.ends_with('?');
        Some(ListFilter {
            field: field.wire.clone(),
            variable: format!("{operation}_of_{}", name::snake_case(&field.wire)),
            sort: format!("{base}?"),
            is_exact: base == "bool" || self.enums.contains_key(base),
            value: if is_optional { field.name.clone() } else { format!("some({})", field.name) },
            condition,
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

/// An answer that lists items: what all rules about it have in common.
struct ListedAnswer<'a> {
    resource: &'a Resource,
    answer: &'a DocumentedResponse,
    /// The number of the operation.
    at: usize,
    method: &'a str,
    /// The list in the answer, as an expression.
    place: String,
    /// The key of an item `x` of the list, as an expression.
    key: String,
    /// The label of the answer: the names of its rules begin with it.
    label: String,
}

impl ListedAnswer<'_> {
    fn rule(&self, name: &str, condition: String, about: String, weight: RuleWeight) -> ResourceRule {
        ResourceRule {
            id: format!("{}.{name}", self.label),
            condition,
            about,
            weight,
            topic: RuleTopic::State,
            support: None,
        }
    }

    /// Returns the rule about the number of items, if a parameter limits it.
    fn limit_rule(&self, request: &ListRequest) -> Option<ResourceRule> {
        request.limit.as_ref()?;
        Some(self.rule(
            "limit",
            format!("({} > 0 => {}.length() <= {})", request.page, self.place, request.page),
            format!("{} lists no more than was asked for", self.method),
            if request.is_plain_limit { RuleWeight::Contradiction } else { RuleWeight::Guess },
        ))
    }

    /// Returns the rule that only those are listed that a filter lets through.
    fn filter_rule(&self, filter: &ListFilter) -> ResourceRule {
        self.rule(
            &format!("filter.{}", filter.field),
            format!(
                "(match {} {{ none => true, some(wanted) => (forall x in {}: {}) }})",
                filter.variable, self.place, filter.condition
            ),
            format!("{} with `{}` lists only what has it", self.method, filter.field),
            if filter.is_exact { RuleWeight::Contradiction } else { RuleWeight::Guess },
        )
    }
}

/// Returns whether the values of a field are whole numbers.
fn is_whole_number(field: &FieldOf) -> bool {
    is_whole(field.sort.trim_end_matches('?'))
}

/// Returns the condition that a request does not use a parameter.
fn absence_condition(field: &FieldOf) -> String {
    match &field.sort {
        sort if sort.ends_with('?') => format!("{} == none", field.name),
        sort if sort.starts_with("list<") => format!("{}.is_empty()", field.name),
        _ => "false".to_owned(),
    }
}

/// Returns the condition that all hold.
fn conjunction(conditions: &[String]) -> String {
    if conditions.is_empty() { "true".to_owned() } else { conditions.join(" && ") }
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
    /// The condition on an item `x`, if the wanted value is `wanted`.
    pub(super) condition: String,
}
