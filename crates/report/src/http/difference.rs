//! The differences between the last answer of a run and what was sent and answered before, for people.
//!
//! Nothing here decides anything: which answers are right is up to the model. An item is recognised by a member with a
//! usual name, so an item with another one is not compared.

use ioxide_record::event::HttpExchange;
use serde_json::{Map, Value as Json};

use crate::control_characters::excerpt;

/// The usual names of the member that identifies an item.
const IDENTITIES: [&str; 9] = ["id", "_id", "uuid", "slug", "key", "code", "sku", "number", "name"];
/// The number of lines. Chosen by feel: more is not read.
const MAX_LINES: usize = 8;
/// The number of characters of a value. Chosen by feel, for one line.
const MAX_VALUE: usize = 100;
/// The depth up to which items are looked for: the answer, an envelope, a list in it, its items.
const MAX_DEPTH: usize = 4;

/// The member that identifies an item, with its value.
type Identity = (&'static str, Json);
/// An item of an answer.
type AnsweredItem<'j> = (Identity, &'j Map<String, Json>);

/// An item with the members known of it, and the request that showed each of them last.
struct KnownItem {
    identity: Identity,
    members: Vec<(String, Json, usize)>,
    /// The request that made it, with its path; `None` if another one showed it first.
    made: Option<(usize, String)>,
    is_deleted: bool,
}

/// Returns lines about the last answer; `exchanges` is the whole run.
pub(super) fn difference_lines(exchanges: &[HttpExchange]) -> Vec<String> {
    let Some((last, before)) = exchanges.split_last() else { return Vec::new() };
    let Some(response) = &last.response else { return Vec::new() };
    let known = find_known_items(before);
    let mut lines = Vec::new();
    let title = |at: usize| request_title(before, at);
    if response.status == 404 || response.status == 410 {
        let id = path_of(&last.request.url).rsplit('/').next().unwrap_or_default().to_owned();
        let made = known.iter().filter(|item| !item.is_deleted && plain_text(&item.identity.1) == id);
        lines.extend(made.filter_map(|item| {
            let (at, _) = item.made.as_ref()?;
            Some(format!("{} made the item {}", title(*at), excerpt(&id, MAX_VALUE)))
        }));
    }
    let answer = serde_json::from_str::<Json>(&response.body).unwrap_or_default();
    let mut items = Vec::new();
    find_items(&answer, MAX_DEPTH, &mut items);
    if (200..300).contains(&response.status) {
        if let (Some(Json::Object(sent)), [(_, item)]) = (sent_json(last), &items[..]) {
            for (name, value) in &sent {
                if let Some(other) = item.get(name).filter(|other| !is_alike(value, other)) {
                    lines.push(format!(
                        "`{name}`: sent {}, answered {}",
                        show_value(value),
                        show_value(other)
                    ));
                }
            }
        }
        for (identity, item) in &items {
            lines.extend(item_lines(&known, identity, item, &title));
        }
        lines.extend(missing_lines(&known, last, &answer, &items, &title));
    }
    lines.dedup();
    lines.truncate(MAX_LINES);
    lines
}

/// Returns the members of an item that were others before.
fn item_lines(
    known: &[KnownItem],
    identity: &Identity,
    item: &Map<String, Json>,
    title: &dyn Fn(usize) -> String,
) -> Vec<String> {
    let Some(known) = known.iter().find(|known| known.identity == *identity) else { return Vec::new() };
    let mut lines = Vec::new();
    let whose = format!("{} {}", identity.0, show_value(&identity.1));
    if known.is_deleted {
        lines.push(format!("{whose} was deleted before"));
    }
    for (name, before, at) in &known.members {
        match item.get(name) {
            Some(now) if !is_alike(before, now) => {
                let (before, now) = (show_value(before), show_value(now));
                lines.push(format!("`{name}` of {whose}: {before} in {}, now {now}", title(*at)));
            }
            _ => (),
        }
    }
    lines
}

/// Returns the items that were made by requests to the path of a list, and are not in it.
fn missing_lines(
    known: &[KnownItem],
    last: &HttpExchange,
    answer: &Json,
    items: &[AnsweredItem<'_>],
    title: &dyn Fn(usize) -> String,
) -> Vec<String> {
    let is_list = |json: &Json| json.is_array();
    let has_list = is_list(answer) || answer.as_object().is_some_and(|all| all.values().any(is_list));
    if last.request.method != "GET" || !has_list {
        return Vec::new();
    }
    let path = path_of(&last.request.url);
    let is_made_here = |item: &&KnownItem| item.made.as_ref().is_some_and(|(_, made)| *made == path);
    let is_missing =
        |item: &&KnownItem| !item.is_deleted && !items.iter().any(|(id, _)| *id == item.identity);
    let missing = known.iter().filter(is_made_here).filter(is_missing);
    missing
        .filter_map(|item| {
            let (at, _) = item.made.as_ref()?;
            Some(format!(
                "no item with {} {}, which {} made",
                item.identity.0,
                show_value(&item.identity.1),
                title(*at)
            ))
        })
        .collect()
}

/// Returns what the successful requests of a run sent and showed of items.
fn find_known_items(exchanges: &[HttpExchange]) -> Vec<KnownItem> {
    let mut known: Vec<KnownItem> = Vec::new();
    for (at, exchange) in exchanges.iter().enumerate() {
        let Some(response) = exchange.response.as_ref().filter(|it| (200..300).contains(&it.status)) else {
            continue;
        };
        let path = path_of(&exchange.request.url);
        let method = exchange.request.method.as_str();
        let target = path.rsplit('/').next().unwrap_or_default();
        let is_target = |item: &&mut KnownItem| plain_text(&item.identity.1) == target;
        if let Some(item) = known.iter_mut().find(is_target).filter(|_| method != "GET" && method != "POST") {
            item.is_deleted = method == "DELETE";
            if let Some(Json::Object(sent)) = sent_json(exchange) {
                sent.into_iter().for_each(|(name, value)| item.note_member(name, value, at));
            }
        }
        let answer = serde_json::from_str::<Json>(&response.body).unwrap_or_default();
        let mut items = Vec::new();
        find_items(&answer, MAX_DEPTH, &mut items);
        for (identity, members) in items {
            let at_known = known.iter().position(|item| item.identity == identity);
            let at_known = at_known.unwrap_or_else(|| {
                let made = (method == "POST").then(|| (at, path.clone()));
                known.push(KnownItem { identity, members: Vec::new(), made, is_deleted: false });
                known.len() - 1
            });
            let item = &mut known[at_known];
            members.iter().for_each(|(name, value)| item.note_member(name.clone(), value.clone(), at));
        }
    }
    known
}

impl KnownItem {
    fn note_member(&mut self, name: String, value: Json, at: usize) {
        match self.members.iter_mut().find(|(known, ..)| *known == name) {
            Some(member) => *member = (name, value, at),
            None => self.members.push((name, value, at)),
        }
    }
}

/// Adds the objects with an identity in `json`, outermost first; what is inside an item is a part of it.
fn find_items<'j>(json: &'j Json, depth: usize, found: &mut Vec<AnsweredItem<'j>>) {
    if depth == 0 {
        return;
    }
    match json {
        Json::Array(items) => items.iter().for_each(|item| find_items(item, depth - 1, found)),
        Json::Object(members) => {
            let identity = IDENTITIES.iter().find_map(|name| {
                let value = members.get(*name)?;
                (value.is_string() || value.is_number()).then(|| (*name, value.clone()))
            });
            match identity {
                Some(identity) => found.push((identity, members)),
                None => members.values().for_each(|member| find_items(member, depth - 1, found)),
            }
        }
        _ => (),
    }
}

/// Returns whether two values are the same for most services: numbers by their value.
fn is_alike(one: &Json, other: &Json) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() <= one.abs().max(other.abs()) * 1e-9,
        _ => one == other,
    }
}

fn sent_json(exchange: &HttpExchange) -> Option<Json> {
    serde_json::from_str(exchange.request.body.as_deref()?).ok()
}

/// Returns the number of a request, from 1, with its method and path.
fn request_title(exchanges: &[HttpExchange], at: usize) -> String {
    let request = &exchanges[at].request;
    format!("request {} ({} {})", at + 1, request.method, excerpt(&path_of(&request.url), MAX_VALUE))
}

/// Returns the path of an address, without query.
pub(super) fn path_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    path.split(['?', '#']).next().unwrap_or_default().to_owned()
}

fn plain_text(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

fn show_value(json: &Json) -> String {
    excerpt(&json.to_string(), MAX_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::story::samples::exchange;

    fn check(run: &[HttpExchange], expected: &[&str]) {
        assert_eq!(difference_lines(run), expected);
    }

    #[test]
    fn items_that_are_missing_changed_or_back_are_named() {
        let made =
            exchange("POST", "http://h/books", Some("{\"title\":\"a\"}"), 201, "{\"id\":7,\"title\":\"a\"}");
        let list = |body: &str| exchange("GET", "http://h/books?x=1", None, 200, body);
        check(&[made.clone(), list("[]")], &["no item with id 7, which request 1 (POST /books) made"]);
        check(&[made.clone(), list("[{\"id\":7,\"title\":\"a\"}]")], &[]);
        let got = |status, body: &str| exchange("GET", "http://h/books/7", None, status, body);
        check(&[made.clone(), got(404, "{}")], &["request 1 (POST /books) made the item 7"]);
        check(
            &[made.clone(), got(200, "{\"data\":{\"id\":7,\"title\":\"b\"}}")],
            &["`title` of id 7: \"a\" in request 1 (POST /books), now \"b\""],
        );
        let patched = exchange("PATCH", "http://h/books/7", Some("{\"title\":\"c\"}"), 204, "");
        check(
            &[made.clone(), patched, got(200, "{\"id\":7,\"title\":\"a\"}")],
            &["`title` of id 7: \"c\" in request 2 (PATCH /books/7), now \"a\""],
        );
        let deleted = exchange("DELETE", "http://h/books/7", None, 204, "");
        check(&[made.clone(), deleted.clone(), list("[]")], &[]);
        check(&[made.clone(), deleted, list("[{\"id\":7}]")], &["id 7 was deleted before"]);
        let wrong =
            exchange("POST", "http://h/books", Some("{\"title\":\"a\"}"), 201, "{\"id\":7,\"title\":\"b\"}");
        check(&[wrong], &["`title`: sent \"a\", answered \"b\""]);
    }

    #[test]
    fn answers_that_are_no_json_say_nothing() {
        check(&[exchange("GET", "http://h", None, 200, "<p>")], &[]);
        check(&[], &[]);
    }
}
