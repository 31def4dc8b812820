//! The page of a history of concurrent clients, opened from disk.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::browser::driver::Browser;
use crate::program::expect;

/// Judges a history by the store of `examples/histories` and returns the page.
pub fn page_of(folder: &TempDir, history: &Path, code: i32) -> PathBuf {
    let page = folder.path().join("timeline.html");
    let (history, html) = (history.to_string_lossy(), page.to_string_lossy());
    expect(&["judge", "examples/histories/store.iox", &history, "--clients", "--html", &html], code);
    page
}

/// Writes a history: two clients put so many values into `x` while a fault is there, then a third reads `read`.
pub fn write_history(folder: &TempDir, puts: u64, read: &str) -> PathBuf {
    let call = |label: &str, args: Json| json!({ "label": label, "args": args });
    let mut lines =
        vec![json!({ "ioxide-history": 1 }), json!({ "fault": "kill<b>", "from_ns": 1_500, "to_ns": 3_500 })];
    for at in 0..puts {
        let client = format!("c{}", at % 2);
        let put = call("put", json!({ "key": "x", "value": at.to_string() }));
        lines.push(json!({ "client": client, "call": put, "ns": at * 1_000 }));
        lines.push(json!({ "client": client, "return": call("stored", json!({})), "ns": at * 1_000 + 900 }));
    }
    let get = call("get", json!({ "key": "x" }));
    lines.push(json!({ "client": "<i>reader", "call": get, "ns": puts * 1_000 }));
    let value = call("value", json!({ "value": read }));
    lines.push(json!({ "client": "<i>reader", "return": value, "ns": puts * 1_000 + 500 }));
    let text: Vec<String> = lines.iter().map(Json::to_string).collect();
    let path = folder.path().join("history.jsonl");
    fs::write(&path, text.join("\n")).expect("the folder takes a file");
    path
}

#[test]
fn a_failure_shows_its_core_the_order_and_the_operation_that_cannot_be_placed() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let page = page_of(&folder, &write_history(&folder, 4, "0"), 1);
    browser.open_file(&page);
    assert!(browser.text(".verdict.fail h1").contains("are not linearizable"));
    assert_eq!(browser.count("#core .lanes a.stuck"), 1);
    assert!(browser.count("#core .lanes a.core") >= 1);
    assert!(
        browser.text("#order .stuck").contains("#5 client <i>reader: ?get"),
        "{}",
        browser.text("#order")
    );
    assert!(browser.text("#allowed").contains("!value(value: \"3\")"), "{}", browser.text("#allowed"));
    // Three lanes, the fault as a band, and names that stay text.
    assert_eq!(browser.count("#history .lane"), 3);
    assert_eq!(browser.count("#history .fault-band"), 1);
    let name = browser.run("return document.querySelector('#history .fault-name').textContent;", &[]);
    assert_eq!(name, "kill<b>");
    assert_eq!(browser.count("i, b"), 0);
    browser.is_calm();
}

#[test]
fn the_order_that_was_found_is_numbered_and_its_points_never_go_back() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/histories/store.jsonl");
    let root = root.canonicalize().expect("the example is there");
    browser.open_file(&page_of(&folder, &root, 0));
    assert!(browser.text(".verdict.pass h1").contains("are linearizable"));
    assert_eq!(browser.count(".point"), 4, "every operation has a point");
    let inside = "return [...document.querySelectorAll('a.operation')].every(a => {
        const bar = a.querySelector('rect'), point = a.querySelector('circle');
        const from = +bar.getAttribute('x'), x = +point.getAttribute('cx');
        return from <= x && x <= from + +bar.getAttribute('width') + 0.1; });";
    assert_eq!(browser.run(inside, &[]), true);
    // Part `x`: put, append, get; the ranks follow each other from left to right.
    let ranks = "return [...document.querySelectorAll('a.operation')].slice(0, 3)
        .map(a => [+a.querySelector('circle').getAttribute('cx'), +a.querySelector('.rank').textContent])
        .sort((a, b) => a[1] - b[1]).every((point, at, all) => at === 0 || all[at - 1][0] <= point[0]);";
    assert_eq!(browser.run(ranks, &[]), true);
    browser.is_calm();
}

#[test]
fn it_can_be_read_with_the_keyboard_in_the_dark_and_on_a_narrow_screen() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let page = page_of(&folder, &write_history(&folder, 40, "0"), 1);
    browser.prefer("dark");
    browser.resize(360, 640);
    browser.open_file(&page);
    let colour = browser.run("return getComputedStyle(document.documentElement).backgroundColor;", &[]);
    assert_eq!(colour, "rgb(15, 20, 26)");
    let fits = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth;";
    assert_eq!(browser.run(fits, &[]), true, "only the lanes scroll sideways");
    let select = "const bar = document.querySelector('#history a.stuck'); bar.focus();
        return document.activeElement === bar && bar.getAttribute('href');";
    assert_eq!(browser.run(select, &[]), "#op41");
    assert_eq!(browser.count("#op41"), 1);
    browser.is_calm();
}

#[test]
fn a_history_of_ten_thousand_operations_opens_at_its_failure() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let page = page_of(&folder, &write_history(&folder, 10_000, "0"), 1);
    browser.open_file(&page);
    assert_eq!(browser.count("#history details[open]"), 1);
    assert_eq!(browser.count("#history details[open] a.stuck"), 1);
    assert!(browser.text("#history").contains("of 10001 are shown"), "{}", browser.text("#history > p"));
    browser.is_calm();
}
