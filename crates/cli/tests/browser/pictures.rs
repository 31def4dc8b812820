//! The pictures of the book: taken by `./x pictures`, looked after here.
//!
//! `UPDATE_PICTURES=1` takes them again, in a window of one size and with fixed seeds. Otherwise it is only seen to
//! that they are there and small; what they show is a matter for people.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::driver::Browser;
use crate::report::{brp, ioxide};

/// Bytes a picture may have.
const MOST: u64 = 150_000;
/// What the book shows of the report.
const SHOWN: [&str; 6] = [
    "report-summary.png",
    "report-model.png",
    "report-run.png",
    "report-redis.png",
    "report-mutants.png",
    "report-atm.png",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/pictures")
}

fn is_updating() -> bool {
    std::env::var_os("UPDATE_PICTURES").is_some()
}

/// Takes a picture of a place in a page once `ready` is there.
fn take(browser: &Browser, page: &Path, place: &str, ready: &str, name: &str) {
    browser.open_file(page);
    browser.run("location.hash = arguments[0];", &[place.into()]);
    browser.wait_for_element(ready);
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
    browser.resize(1200, 800);
    browser.prefer("light");
    let (_kept, page) = brp();
    take(&browser, &page, "#/summary", ".verdict", "report-summary.png");
    take(&browser, &page, "#/model/r7", ".edge.chosen", "report-model.png");
    let first = browser.run(
        "return JSON.parse(document.getElementById('data').textContent).campaign.figures.failures[0].first;",
        &[],
    );
    browser.prefer("dark");
    browser.resize(1200, 1100);
    take(&browser, &page, &format!("#/run/{first}"), ".step.bad", "report-run.png");
    browser.prefer("light");
    browser.resize(1200, 800);
    let scratch = tempfile::tempdir().expect("a folder");
    let mutants = scratch.path().join("mutants.html");
    let told = mutants.to_string_lossy();
    ioxide(
        &[
            "score",
            "examples/brp/spec.iox",
            "random",
            "--runs",
            "1",
            "--steps",
            "30",
            "--sample",
            "120",
            "--html",
            &told,
        ],
        0,
    );
    take(&browser, &mutants, "#/mutants", ".diff", "report-mutants.png");
    redis(&browser, scratch.path());
    atm(&browser, scratch.path());
}

/// A real server, with real times.
fn redis(browser: &Browser, scratch: &Path) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/redis");
    let runs = scratch.join("redis");
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "redis.iox", "--sut", "redis", "--tester", "random", "--seed", "1", "--runs", "8"])
        .args(["--steps", "120", "--report"])
        .arg(&runs)
        .current_dir(example)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "is there a redis-server? {output:?}");
    take(browser, &runs.join("report.html"), "#/timing", ".latency", "report-redis.png");
}

/// A model with clocks, played as the system.
fn atm(browser: &Browser, scratch: &Path) {
    let runs = scratch.join("atm");
    let told = runs.to_string_lossy();
    let options = ["--tester", "random", "--runs", "4", "--seed", "1", "--report", &told];
    let systems = ["test", "examples/atm/atm.iox", "--sut", "model:examples/atm/atm.iox"];
    ioxide(&[&systems[..], &options[..]].concat(), 0);
    take(browser, &runs.join("report.html"), "#/run/1", ".step", "report-atm.png");
}
