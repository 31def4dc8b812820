//! Every kind of page is examined by axe-core: at two widths, in both colour schemes, without a single finding.
//!
//! axe-core is a development dependency of `web/`, which `./x test` installs. Rules that do not look at colours give
//! the same answer in both schemes, so they run in one of them.

use std::fs;
use std::path::Path;

use ioxide_test_support::is_skipped;
use serde_json::json;

use super::driver::{Browser, key};
use super::explorer::{Explorer, pace, root};
use super::learning::WatchedLearning;
use super::{report, timeline};
use crate::program::expect;

/// The widths of a phone and of a laptop, in pixels.
const WIDTHS: [u32; 2] = [390, 1280];

/// Runs the rules and returns, for each finding, the rule and the first elements with their summaries.
///
/// Pages are small, frames are not looked into, and the results hold findings only: what the driver has to carry stays
/// small.
const EXAMINE: &str = "
    const rules = arguments[0] === 'light'
        ? { type: 'tag', values: ['wcag2a', 'wcag2aa', 'best-practice'] }
        : { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
    return axe.run(document, { runOnly: rules, iframes: false, resultTypes: ['violations'] })
        .then(({ violations }) => violations.map(({ id, nodes }) =>
            [id, nodes.slice(0, 3).map(({ target, failureSummary }) => [target.join(' '), failureSummary])]));";

/// Waits until what was drawn last is seen, and nothing moves.
const REST: &str = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
    Promise.allSettled(document.getAnimations().map((it) => it.finished)).then(() => done(1)))));";

/// The browser that examines pages.
struct Examiner {
    browser: Browser,
    axe: String,
    findings: Vec<String>,
}

impl Examiner {
    /// Starts the browser; `None` if the tests go without it, or without axe-core.
    fn start() -> Option<Self> {
        let path = root().join("web/node_modules/axe-core/axe.min.js");
        let axe = match fs::read_to_string(&path) {
            Ok(axe) => axe,
            Err(error) => {
                eprintln!("{}: {error}; `./x web` installs it", path.display());
                is_skipped("axe-core");
                return None;
            }
        };
        Some(Self { browser: Browser::open()?, axe, findings: Vec::new() })
    }

    /// Opens an address, and examines the page once `ready` is there.
    fn examine(&mut self, name: &str, url: &str, ready: &str) {
        self.browser.go("about:blank");
        self.browser.go(url);
        self.browser.wait_for_element(ready);
        self.examine_page(name);
    }

    /// Examines the page that is open.
    fn examine_page(&mut self, name: &str) {
        self.browser.load_script(&self.axe);
        for width in WIDTHS {
            self.browser.set_view(width, 844);
            for scheme in ["light", "dark"] {
                self.browser.prefer(scheme);
                self.browser.run(REST, &[]);
                let found = self.browser.run(EXAMINE, &[json!(scheme)]);
                if found != json!([]) {
                    self.findings.push(format!("{name}, {width} px, {scheme}: {found:#}"));
                }
            }
            let beyond =
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth;";
            if self.browser.run(beyond, &[]) != json!(0) {
                self.findings.push(format!("{name}, {width} px: the page is wider than the window"));
            }
        }
    }

    fn end(self) {
        assert!(self.findings.is_empty(), "{}", self.findings.join("\n"));
    }
}

fn url_of(path: &Path) -> String {
    format!("file://{}", path.canonicalize().expect("the file is there").display())
}

/// Runs ioxide with a page as its last argument, and returns the address of the page.
fn page_of(folder: &Path, name: &str, args: &[&str]) -> String {
    let page = folder.join(name);
    expect(&[args, &[&page.to_string_lossy()]].concat(), 0);
    url_of(&page)
}

#[test]
fn pages_opened_from_disk_have_no_findings() {
    let Some(mut examiner) = Examiner::start() else { return };
    let (_runs, brp) = report::brp();
    let brp = url_of(&brp);
    for (place, ready) in [
        ("summary", ".verdict"),
        ("model/r7", ".switch-detail"),
        ("runs", ".list-row"),
        ("run/1", ".step.bad"),
        ("values", ".histogram"),
    ] {
        examiner.examine(&format!("report, {place}"), &format!("{brp}#/{place}"), ready);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let script = url_of(&report::page_of(&folder, &report::failure_with_script("7")));
    examiner.examine("report with a script", &format!("{script}#/summary"), ".script");
    examiner.browser.click(".reproduce .chip:nth-child(3)");
    examiner.examine_page("report, a test in Python");
    let timed = url_of(&report::page_of(&folder, &report::answers(5)));
    examiner.examine("report, timing", &format!("{timed}#/timing"), ".latency");
    let requirements = report::lamp(folder.path());
    examiner.examine(
        "report, requirements",
        &format!("{}#/requirements", url_of(&requirements)),
        ".requirements",
    );
    let score = [
        "score",
        "examples/brp/spec.iox",
        "random",
        "--runs",
        "1",
        "--steps",
        "30",
        "--sample",
        "10",
        "--html",
    ];
    examiner.examine("report, mutants", &page_of(folder.path(), "mutants.html", &score), ".diff");
    let suite = ["fsm", "examples/fsm/meter.iox", "--suite", "w", "--html"];
    examiner.examine("report, suite", &page_of(folder.path(), "suite.html", &suite), ".tests .list-row");
    let history = timeline::write_history(&folder, 4, "0");
    examiner.examine("timeline", &url_of(&timeline::page_of(&folder, &history, 1)), "#core .stuck");
    examiner.end();
}

#[test]
fn served_pages_have_no_findings() {
    let Some(mut examiner) = Examiner::start() else { return };
    let (runs, _) = report::brp();
    let runs = runs.path().join("runs");
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("brp.iox");
    let text = fs::read_to_string(root().join("examples/brp/spec.iox")).expect("the example is there");
    fs::write(&model, text).expect("the folder takes a file");
    let (model, runs) = (model.to_string_lossy(), runs.to_string_lossy());
    let explorer = Explorer::start(&[&model, "--sut", "model:examples/brp/m3.iox", "--run", &runs]);
    for (place, ready) in [
        ("walk", ".choice"),
        ("walk/?IREQ(d1:7,d2:8,d3:9)/!OFRAME(b1:1,b2:0,b3:1,d:7)", ".forbidden"),
        ("symbolic/r1", ".choice"),
        ("runs", ".run-row"),
        ("run/0/0/95", ".now .forbidden"),
        ("run/7/7/7", ".problem"),
    ] {
        examiner.examine(&format!("explorer, {place}"), &explorer.at(place), ready);
    }
    examiner.browser.go(&explorer.at("walk"));
    examiner.browser.wait_for_element(".choice");
    examiner.browser.press("1");
    examiner.browser.wait_for_element(".values-form");
    examiner.examine_page("explorer, values");
    let browser = &examiner.browser;
    browser.go(&explorer.at("live"));
    browser.wait_for_element("#tester");
    let testers =
        browser.run("return [...document.querySelector('#tester').options].map((it) => it.value);", &[]);
    assert_eq!(testers[0], "hunt", "the default tester of `test` comes first");
    pace(browser, 0);
    browser.press(key::ENTER);
    browser.wait_for("document.querySelector('#phase')?.textContent === 'Ended: failed'");
    examiner.examine_page("explorer, live");
    let browser = &examiner.browser;
    browser.go(&explorer.at("edit"));
    browser.wait_for_element(".model-text");
    browser.run(WRONG_TEXT, &[]);
    browser.wait_for_element(".finding");
    examiner.examine_page("explorer, edit");
    drop(explorer);
    let timed = Explorer::start(&["examples/atm/atm.iox"]);
    examiner.examine("explorer, a timed model", &timed.at("walk"), ".waiting");
    let stdin = Explorer::start(&["examples/fsm/meter.iox", "--listen", "0.0.0.0:0"]);
    examiner.examine(
        "explorer, no editor",
        &stdin.at("edit").replace("0.0.0.0", "127.0.0.1"),
        ".panel.edit .card",
    );
    let meter = "examples/fsm/meter.iox";
    let inputs = ["--input", "press", "--input", "coin(value: 1)"];
    let system = format!("model:{meter}");
    let learning =
        WatchedLearning::start(&[&[meter, "--sut", &system, "--seed", "1"][..], &inputs[..]].concat());
    examiner.examine("learning", &learning.url, "#result");
    examiner.end();
}

/// Writes a name that the model does not have.
const WRONG_TEXT: &str = "
    const area = document.querySelector('.model-text');
    area.value = area.value.replace('rn <= MAX_RN', 'rn <= MAX_RM');
    area.dispatchEvent(new Event('input'));";

/// A value of the driver that is no list, such as `null`, must not pass for an empty one.
#[test]
fn a_page_with_faults_has_findings() {
    let Some(mut examiner) = Examiner::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    let page = "<!doctype html><title>t</title><p style='color: #aaa; background: #fff'>pale</p><button></button>\
                <div style='width: 2000px'>wide</div>";
    fs::write(&file, page).expect("a file");
    examiner.examine("faults", &url_of(&file), "button");
    let told = examiner.findings.join("\n");
    for fault in
        ["color-contrast", "button-name", "html-has-lang", "page-has-heading-one", "wider than the window"]
    {
        assert!(told.contains(fault), "{fault}: {told}");
    }
    let dark: Vec<&String> = examiner.findings.iter().filter(|it| it.contains("dark")).collect();
    assert_eq!(dark.len(), WIDTHS.len(), "{dark:?}");
}
