//! The pictures of the report in the book: taken by `./x pictures`, looked after here.
//!
//! `UPDATE_PICTURES=1` takes them again, in a window of one size and with fixed seeds. Otherwise it is only seen to
//! that they are there and small; what they show is a matter for people.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::browser::driver::Browser;
use crate::browser::explorer::root;
use crate::program::expect;

/// Bytes a picture may have.
const MOST: u64 = 150_000;
/// The pictures of the report in the book.
const SHOWN: [&str; 6] = [
    "report-summary.png",
    "report-model.png",
    "report-run.png",
    "report-redis.png",
    "report-mutants.png",
    "report-atm.png",
];

fn folder() -> PathBuf {
    root().join("docs/book/src/pictures")
}

fn is_updating() -> bool {
    std::env::var_os("UPDATE_PICTURES").is_some()
}

/// Takes a picture of a place in a page once `ready` is there.
fn take(browser: &Browser, page: &Path, place: &str, ready: &str, name: &str) {
    browser.open_file(page);
    browser.run("location.hash = arguments[0];", &[place.into()]);
    browser.wait_for_element(ready);
    shoot(browser, name);
}

/// Takes a picture of what is shown.
fn shoot(browser: &Browser, name: &str) {
    // What moves has come to rest.
    browser.run("return new Promise((done) => setTimeout(() => done(1), 400));", &[]);
    fs::create_dir_all(folder()).expect("the folder of the pictures");
    fs::write(folder().join(name), browser.screenshot()).expect("a picture");
}

#[test]
fn pictures_of_the_report_are_there_and_small() {
    if is_updating() {
        update();
    }
    for name in SHOWN {
        let size = fs::metadata(folder().join(name)).map(|it| it.len()).unwrap_or(0);
        assert!((1..MOST).contains(&size), "{name} has {size} bytes: take it again with `./x pictures`");
    }
}

fn update() {
    let Some(browser) = Browser::open() else { panic!("pictures need a browser") };
    // A place whose name is the same every time: it is seen in the pictures.
    let scratch = root().join("target/pictures");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).expect("a folder");
    browser.resize(1200, 900);
    browser.prefer("light");
    brp(&browser);
    mutants(&browser);
    redis(&browser, &scratch);
    atm(&browser);
}

/// Runs against a faulty sender.
fn brp(browser: &Browser) {
    let systems =
        ["test", "examples/brp/spec.iox", "--sut", "model:examples/brp/m6.iox", "--tester", "random"];
    let options = ["--runs", "12", "--seed", "1", "--keep-going", "--report", "target/pictures/brp"];
    expect(&[&systems[..], &options[..]].concat(), 1);
    let page = root().join("target/pictures/brp/report.html");
    take(browser, &page, "#/summary", ".verdict", "report-summary.png");
    take(browser, &page, "#/model/r7", ".edge.chosen", "report-model.png");
    browser.prefer("dark");
    browser.resize(1200, 1200);
    browser.press("f");
    browser.wait_for_element(".step.bad");
    shoot(browser, "report-run.png");
    browser.prefer("light");
    browser.resize(1200, 900);
}

/// Takes the picture of the mutants that a short random test misses.
fn mutants(browser: &Browser) {
    let page = "target/pictures/mutants.html";
    let score =
        ["score", "examples/brp/spec.iox", "random", "--runs", "1", "--steps", "30", "--sample", "120"];
    expect(&[&score[..], &["--html", page]].concat(), 0);
    take(browser, &root().join(page), "#/mutants", ".diff", "report-mutants.png");
}

/// A real server, with real times.
fn redis(browser: &Browser, scratch: &Path) {
    let runs = scratch.join("redis");
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "redis.iox", "--sut", "redis", "--tester", "random", "--seed", "1", "--runs", "3"])
        // Long enough for a machine that is busy.
        .args(["--steps", "80", "--silence-ms", "300", "--report"])
        .arg(&runs)
        .current_dir(root().join("examples/redis"))
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "is there a redis-server? {output:?}");
    take(browser, &runs.join("report.html"), "#/timing", ".latency", "report-redis.png");
}

/// A model with time, played as the system: the axis has the time of the model.
fn atm(browser: &Browser) {
    let systems =
        ["test", "examples/atm/atm.iox", "--sut", "model:examples/atm/atm.iox", "--tester", "random"];
    let options = ["--runs", "4", "--seed", "1", "--report", "target/pictures/atm"];
    expect(&[&systems[..], &options[..]].concat(), 0);
    let page = root().join("target/pictures/atm/report.html");
    take(browser, &page, "#/run/1/8", ".sequence.timed .step", "report-atm.png");
}
