//! The stock of a warehouse: tiny_http, Swagger 2.0 written by hand, basic authentication for changes, ids chosen by
//! the client, numbered pages, totals computed from movements.
//!
//! `IOX_FAULT` selects one of [`FAULTS`]; `SERVICE_LOG` names a file that gets a line for every request.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Cursor, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tiny_http::{Header, Request, Response, Server};

/// The faults and what they do.
const FAULTS: &[(&str, &str)] = &[
    ("quantity-returns", "an item that is deleted and put again has its former quantity"),
    ("category-kept", "replacing an item does not change its category"),
    ("page-skips", "the second page misses its first item"),
    ("stats-keep-deleted", "the statistics still count a deleted item"),
    ("oversell", "a movement may take more than there is"),
    ("open-delete", "deleting needs no credentials"),
    ("ascii-only", "a name with a character outside of ASCII causes a 500"),
    ("no-total", "a filtered list has no X-Total-Count"),
];

const CATEGORIES: &[&str] = &["tool", "part", "paint"];
const MAX_ITEMS: usize = 100;
/// `Basic` with `stock:stock-secret`.
const CREDENTIALS: &str = "Basic c3RvY2s6c3RvY2stc2VjcmV0";

type Reply = Response<Cursor<Vec<u8>>>;

struct Item {
    name: String,
    category: String,
    reorder_at: Option<i64>,
    updated: u64,
    movements: Vec<i64>,
}

impl Item {
    fn quantity(&self) -> i64 {
        self.movements.iter().sum()
    }

    fn to_json(&self, sku: &str) -> Value {
        let mut members = Map::new();
        members.insert("sku".into(), json!(sku));
        members.insert("name".into(), json!(self.name));
        members.insert("category".into(), json!(self.category));
        if let Some(reorder_at) = self.reorder_at {
            members.insert("reorder_at".into(), json!(reorder_at));
            members.insert("reorder".into(), json!(self.quantity() <= reorder_at));
        }
        members.insert("quantity".into(), json!(self.quantity()));
        members.insert("updated".into(), json!(self.updated));
        Value::Object(members)
    }
}

struct Stock {
    fault: String,
    items: BTreeMap<String, Item>,
    /// The movements of deleted items, for the faults that remember them.
    deleted: BTreeMap<String, Vec<i64>>,
}

/// The parts of a request that the operations look at.
struct Call {
    method: String,
    path: Vec<String>,
    query: BTreeMap<String, String>,
    content_type: String,
    authorization: String,
    body: Vec<u8>,
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("names and values are ASCII")
}

fn reply(status: u16, body: &Value) -> Reply {
    Response::from_string(body.to_string())
        .with_status_code(status)
        .with_header(header("Content-Type", "application/json"))
}

fn refuse(status: u16, error: &str) -> Reply {
    reply(status, &json!({ "error": error }))
}

fn is_sku(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 7
        && bytes[..3].iter().all(u8::is_ascii_uppercase)
        && bytes[3] == b'-'
        && bytes[4..].iter().all(u8::is_ascii_digit)
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, code.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read_call(request: &mut Request) -> Call {
    let url = request.url().to_string();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let value = |name: &'static str| {
        let found = request.headers().iter().find(|header| header.field.equiv(name));
        found.map(|header| header.value.to_string()).unwrap_or_default()
    };
    let (content_type, authorization) = (value("Content-Type"), value("Authorization"));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let query = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query = query.map(|(name, value)| (decode(name), decode(value))).collect();
    let path = path.split('/').skip(1).map(decode).collect();
    let method = request.method().to_string();
    let mut body = Vec::new();
    // A body that ends early is an invalid body.
    let _ = request.as_reader().read_to_end(&mut body);
    Call { method, path, query, content_type, authorization, body }
}

/// Returns the number of a query parameter.
fn number(call: &Call, name: &str, default: usize, max: usize) -> Result<usize, Reply> {
    let Some(text) = call.query.get(name) else { return Ok(default) };
    let number = text.parse().ok().filter(|number| (1..=max).contains(number));
    number.ok_or_else(|| refuse(400, &format!("{name} must be a number from 1 to {max}")))
}

fn parse_body(call: &Call) -> Result<Map<String, Value>, Reply> {
    if !call.content_type.to_ascii_lowercase().starts_with("application/json") {
        return Err(refuse(415, "the body must be application/json"));
    }
    match serde_json::from_slice(&call.body) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(refuse(400, "the body must be an object")),
        Err(error) => Err(refuse(400, &format!("the body is not JSON: {error}"))),
    }
}

/// Returns the integer that a JSON number is; `5.0` is one too.
fn integer(value: &Value) -> Option<i64> {
    let whole = || value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
    value.as_i64().or_else(|| whole().map(|number| number as i64))
}

fn parse_item(members: &Map<String, Value>) -> Result<Item, Reply> {
    if let Some(name) =
        members.keys().find(|name| !["name", "category", "reorder_at"].contains(&name.as_str()))
    {
        return Err(refuse(400, &format!("unknown member {name}")));
    }
    let name = members.get("name").and_then(Value::as_str).filter(|name| name.chars().count() <= 50);
    let name = name.map(str::trim).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| refuse(400, "name must be a text of 1 to 50 characters"))?;
    let category = members.get("category").and_then(Value::as_str).filter(|text| CATEGORIES.contains(text));
    let category = category.ok_or_else(|| refuse(400, "category must be tool, part or paint"))?;
    let reorder_at = match members.get("reorder_at") {
        None => None,
        Some(value) => match integer(value).filter(|number| (0..=9999).contains(number)) {
            Some(number) => Some(number),
            None => return Err(refuse(400, "reorder_at must be a number from 0 to 9999")),
        },
    };
    let updated = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    Ok(Item { name: name.into(), category: category.into(), reorder_at, updated, movements: Vec::new() })
}

impl Stock {
    fn answer(&mut self, call: &Call) -> Result<Reply, Reply> {
        let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
        let allowed: &[&str] = match path[..] {
            ["swagger.json"] | ["api", "items" | "stats"] => &["GET"],
            ["api", "items", _] => &["GET", "PUT", "DELETE"],
            ["api", "items", _, "movements"] => &["GET", "POST"],
            _ => return Err(refuse(404, "no such path")),
        };
        if !allowed.contains(&call.method.as_str()) {
            return Err(refuse(405, "method not allowed").with_header(header("Allow", &allowed.join(", "))));
        }
        let is_open = call.method == "GET" || (self.fault == "open-delete" && call.method == "DELETE");
        if !is_open && call.authorization != CREDENTIALS {
            let challenge = header("WWW-Authenticate", "Basic realm=\"stock\"");
            return Err(refuse(401, "credentials are missing or wrong").with_header(challenge));
        }
        match (call.method.as_str(), &path[..]) {
            (_, ["swagger.json"]) => Ok(Response::from_string(include_str!("../swagger.json"))
                .with_header(header("Content-Type", "application/json"))),
            (_, ["api", "stats"]) => Ok(self.stats()),
            (_, ["api", "items"]) => self.list(call),
            ("PUT", ["api", "items", sku]) => self.put(sku, call),
            ("DELETE", ["api", "items", sku]) => self.delete(sku),
            (_, ["api", "items", sku]) => Ok(reply(200, &self.find(sku)?.to_json(sku))),
            ("POST", [_, _, sku, _]) => self.book(sku, call),
            (_, [_, _, sku, _]) => Ok(reply(200, &json!(self.find(sku)?.movements))),
            _ => Err(refuse(404, "no such path")),
        }
    }

    fn find(&mut self, sku: &str) -> Result<&mut Item, Reply> {
        self.items.get_mut(sku).ok_or_else(|| refuse(404, "no such item"))
    }

    fn stats(&self) -> Reply {
        let forgotten = if self.fault == "stats-keep-deleted" { self.deleted.len() } else { 0 };
        let quantity: i64 = self.items.values().map(Item::quantity).sum();
        reply(200, &json!({ "items": self.items.len() + forgotten, "quantity": quantity }))
    }

    fn list(&self, call: &Call) -> Result<Reply, Reply> {
        let per_page = number(call, "per_page", 10, 50)?;
        let page = number(call, "page", 1, 1000)?;
        let category = call.query.get("category");
        if category.is_some_and(|category| !CATEGORIES.contains(&category.as_str())) {
            return Err(refuse(400, "category must be tool, part or paint"));
        }
        let items = self.items.iter().filter(|(_, item)| category.is_none_or(|name| *name == item.category));
        let found: Vec<Value> = items.map(|(sku, item)| item.to_json(sku)).collect();
        let skipped = usize::from(self.fault == "page-skips" && page == 2);
        let shown: Vec<&Value> =
            found.iter().skip((page - 1) * per_page).take(per_page).skip(skipped).collect();
        let mut reply = reply(200, &json!(shown));
        if self.fault != "no-total" || category.is_none() {
            reply.add_header(header("X-Total-Count", &found.len().to_string()));
        }
        Ok(reply)
    }

    fn put(&mut self, sku: &str, call: &Call) -> Result<Reply, Reply> {
        if !is_sku(sku) {
            return Err(refuse(400, "a SKU is three capital letters, a dash and three digits"));
        }
        let mut item = parse_item(&parse_body(call)?)?;
        if self.fault == "ascii-only" && !item.name.is_ascii() {
            return Err(refuse(500, "cannot store the name"));
        }
        let is_full = self.items.len() >= MAX_ITEMS;
        let status = match self.items.get_mut(sku) {
            Some(former) => {
                item.movements = std::mem::take(&mut former.movements);
                if self.fault == "category-kept" {
                    item.category.clone_from(&former.category);
                }
                200
            }
            None if is_full => return Err(refuse(409, "the warehouse is full")),
            None => {
                if self.fault == "quantity-returns" {
                    item.movements = self.deleted.get(sku).cloned().unwrap_or_default();
                }
                201
            }
        };
        let shown = item.to_json(sku);
        self.items.insert(sku.into(), item);
        Ok(reply(status, &shown))
    }

    fn delete(&mut self, sku: &str) -> Result<Reply, Reply> {
        self.find(sku)?;
        if let Some(item) = self.items.remove(sku) {
            self.deleted.insert(sku.into(), item.movements);
        }
        Ok(Response::from_data(Vec::new()).with_status_code(204))
    }

    fn book(&mut self, sku: &str, call: &Call) -> Result<Reply, Reply> {
        let may_oversell = self.fault == "oversell";
        let item = self.find(sku)?;
        let members = parse_body(call)?;
        let delta = members.get("delta").and_then(integer).filter(|delta| (-1000..=1000).contains(delta));
        let delta = delta.ok_or_else(|| refuse(400, "delta must be a number from -1000 to 1000"))?;
        if item.quantity() + delta < 0 {
            if !may_oversell {
                return Err(refuse(409, "there is not enough in stock"));
            }
            item.movements.push(-item.quantity());
        } else {
            item.movements.push(delta);
        }
        Ok(reply(200, &item.to_json(sku)))
    }
}

fn write_log(call: &Call, status: u16) {
    let Ok(path) = std::env::var("SERVICE_LOG") else { return };
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    let line = format!("{time:.3} {} /{} {status}\n", call.method, call.path.join("/"));
    if let Ok(mut log) = OpenOptions::new().append(true).create(true).open(path) {
        // The log only helps to count; the service works without it.
        let _ = log.write_all(line.as_bytes());
    }
}

fn main() {
    let fault = std::env::var("IOX_FAULT").unwrap_or_default();
    let port = std::env::args().nth(1).unwrap_or_default();
    if !fault.is_empty() && !FAULTS.iter().any(|(name, _)| *name == fault) {
        eprintln!("unknown fault {fault}");
        std::process::exit(2);
    }
    let server = match Server::http(format!("127.0.0.1:{port}")) {
        Ok(server) => server,
        Err(error) => {
            eprintln!("cannot listen on port {port}: {error}");
            std::process::exit(2);
        }
    };
    let mut stock = Stock { fault, items: BTreeMap::new(), deleted: BTreeMap::new() };
    for mut request in server.incoming_requests() {
        let call = read_call(&mut request);
        let reply = stock.answer(&call).unwrap_or_else(|refusal| refusal);
        write_log(&call, reply.status_code().0);
        // The client may be gone.
        let _ = request.respond(reply);
    }
}
