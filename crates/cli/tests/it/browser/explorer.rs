//! The explorer in a real browser: walked by hand, linked to, watched live, and told hostile things.

mod edit;
mod pictures;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::driver::{Browser, key};

pub use crate::program::root;

const SPEC: &str = "examples/brp/spec.iox";

/// An explorer that is running; it ends with the test.
pub struct Explorer {
    program: Child,
    /// The address, with the token.
    pub url: String,
}

impl Explorer {
    pub fn start(args: &[&str]) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .arg("explore")
            .args(args)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        let mut url = String::new();
        BufReader::new(program.stdout.take().expect("stdout is piped"))
            .read_line(&mut url)
            .expect("an address");
        Self { program, url: url.trim().to_owned() }
    }

    /// The address of what stands behind the `#`.
    pub fn at(&self, hash: &str) -> String {
        format!("{}#/{hash}", self.url)
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Waits until the walk has this many steps.
#[track_caller]
fn steps(browser: &Browser, n: usize) {
    let title = match n {
        0 => "No step was taken yet".to_owned(),
        1 => "1 step so far".to_owned(),
        n => format!("{n} steps so far"),
    };
    browser.wait_for(&format!("document.querySelector('.history h2')?.textContent === '{title}'"));
}

/// The steps of the walk, the last one first.
fn past(browser: &Browser) -> Vec<String> {
    let script = "return [...document.querySelectorAll('.past code')].map((code) => code.textContent);";
    serde_json::from_value(browser.run(script, &[])).expect("texts")
}

/// Chooses the pace of a campaign: milliseconds between two steps.
pub fn pace(browser: &Browser, ms: u32) {
    let script = "const pace = document.querySelector('#pace'); pace.value = arguments[0]; \
        pace.dispatchEvent(new Event('change'));";
    browser.run(script, &[json!(ms.to_string())]);
}

fn here(browser: &Browser) -> String {
    browser.text(".belief .place strong")
}

#[test]
fn the_brp_is_walked_by_hand_to_a_forbidden_step_and_back() {
    let Some(browser) = Browser::open() else { return };
    browser.resize(1280, 720);
    let explorer = Explorer::start(&[SPEC]);
    browser.go(&explorer.url);
    steps(&browser, 0);
    assert_eq!((here(&browser).as_str(), browser.count(".edge.enabled")), ("INIT", 3));
    // The first choice wants values; the solver has some.
    browser.press("1");
    browser.wait_for_element(".values-form");
    browser.click(".solve");
    browser.click(".value-choice:nth-of-type(2)");
    steps(&browser, 1);
    assert_eq!((here(&browser).as_str(), browser.count(".node.here")), ("SF", 1));
    // The frame the model allows is the only choice, and its switch can be clicked in the picture.
    assert_eq!(browser.count(".choice"), 1);
    browser.click(".edge.enabled .label");
    steps(&browser, 2);
    assert_eq!(here(&browser), "WA");
    let frame = past(&browser)[0].clone();
    browser.run(
        "[...document.querySelectorAll('.choice')].find((b) => b.textContent.includes('ITIMEOUT')).click();",
        &[],
    );
    steps(&browser, 3);
    // What the third mutant does: the frame comes again with the other bit.
    browser.press("t");
    browser.press(&frame.replace("b3: 0", "b3: 1"));
    browser.press(key::ENTER);
    browser.wait_for_element(".forbidden");
    let told = browser.text(".forbidden");
    assert!(told.contains("toggle == b3") && told.contains(&frame), "{told}");
    assert_eq!(here(&browser), "SF", "the belief stays as it was");
    // The address is the walk: somebody else sees the same, and the back button goes back.
    let link = browser.url();
    browser.back();
    browser.wait_for("document.querySelector('.forbidden') === null");
    steps(&browser, 3);
    browser.back();
    steps(&browser, 2);
    browser.back();
    steps(&browser, 1);
    browser.press("u");
    steps(&browser, 0);
    browser.go("about:blank");
    browser.go(&link);
    browser.wait_for_element(".forbidden");
    assert_eq!(browser.text(".forbidden"), told);
    browser.press("u");
    browser.wait_for("document.querySelector('.forbidden') === null");
    browser.press("0");
    steps(&browser, 0);
    browser.is_calm();
}

#[test]
fn switches_are_walked_along_and_lead_to_a_trace() {
    let Some(browser) = Browser::open() else { return };
    let explorer = Explorer::start(&[SPEC]);
    browser.go(&explorer.at("symbolic/r1/r2"));
    steps(&browser, 2);
    assert!(browser.text(".condition").contains("d1@1 == d@2"), "{}", browser.text(".condition"));
    assert!(
        browser.text(".choices").contains("`n == 2` does not hold with n = 0"),
        "{}",
        browser.text(".choices")
    );
    browser.press("1");
    steps(&browser, 3);
    browser.press("v");
    browser.click(".witness .primary");
    browser.wait_for("location.hash.startsWith('#/walk/')");
    steps(&browser, 3);
    browser.go(&explorer.at("symbolic/r1/nonsense/r2"));
    browser.wait_for_element(".problem");
    steps(&browser, 1);
    browser.is_calm();
}

#[test]
fn coverage_fills_in_while_a_campaign_runs_and_a_failure_is_opened() {
    let Some(browser) = Browser::open() else { return };
    let explorer = Explorer::start(&[SPEC, "--sut", "model:examples/brp/m3.iox"]);
    browser.go(&explorer.at("live"));
    browser.wait_for_element("#tester");
    browser.wait_for("document.querySelectorAll('.edge.never').length === 16");
    browser.run("document.querySelector('#seed').value = '1';", &[]);
    // Slow enough to be held before it is over, however busy the machine is.
    pace(&browser, 1000);
    browser.press(key::ENTER);
    browser.wait_for("document.querySelectorAll('.edge.taken').length >= 1");
    // Halfway, it is held; what was taken stays, and nothing more comes.
    browser.press("p");
    browser.wait_for("document.querySelector('#phase')?.textContent.startsWith('Paused')");
    let halfway = browser.count(".edge.taken");
    assert!(halfway < 16 && browser.count(".edge.last") >= 1);
    pace(&browser, 0);
    browser.press("p");
    browser.wait_for(&format!("document.querySelectorAll('.edge.taken').length > {halfway}"));
    browser.wait_for("document.querySelector('#phase')?.textContent === 'Ended: failed'");
    browser.click(".failure");
    browser.wait_for_element(".one-run .forbidden");
    assert!(browser.text(".forbidden").contains("toggle == b3"), "{}", browser.text(".forbidden"));
    browser.wait_for("document.querySelectorAll('.edge.suspect').length > 0");
    browser.press("k");
    browser.wait_for("document.querySelector('.one-run .forbidden') === null");
    browser.press("g");
    browser.wait_for("location.hash.startsWith('#/walk/@0.0.')");
    browser.wait_for_element(".choices .choice");
    browser.is_calm();
}

#[test]
fn a_recorded_run_is_opened_at_a_step() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().to_string_lossy().into_owned();
    let test = [
        "test",
        SPEC,
        "--sut",
        "model:examples/brp/m5.iox",
        "--tester",
        "cover",
        "--seed",
        "3",
        "--report",
        &runs,
    ];
    let done =
        Command::new(env!("CARGO_BIN_EXE_ioxide")).args(test).current_dir(root()).output().expect("it runs");
    assert_eq!(done.status.code(), Some(1));
    let explorer = Explorer::start(&[SPEC, "--run", &runs]);
    browser.go(&explorer.at("runs"));
    browser.wait_for_element(".run-row");
    browser.run("document.querySelector('.list').focus();", &[]);
    browser.press(key::ENTER);
    browser.wait_for_element(".one-run .forbidden");
    let end = browser.url();
    assert!(end.ends_with("#/run/0/0/18"), "{end}");
    browser.go(&explorer.at("run/0/0/2"));
    browser.wait_for("document.querySelector('.belief .place strong')?.textContent === 'WA'");
    browser.press("k");
    browser.wait_for("document.querySelector('.belief .place strong')?.textContent === 'SF'");
    assert!(browser.url().ends_with("#/run/0/0/1"));
    browser.press("f");
    browser.wait_for_element(".one-run .forbidden");
    browser.go(&explorer.at("run/7/7/7"));
    browser.wait_for_element(".problem");
    assert!(browser.text(".problem").contains("there is no such run"));
    // The refusal is in the console as well: the browser notes every answer that is none.
    let complaints: Vec<_> =
        browser.console().into_iter().filter(|(_, text)| !text.contains("api/run/7/7")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}

#[test]
fn what_a_system_says_stays_text() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let model = write(
        "echo.iox",
        "model Echo { input ask output say(text: string) state s { a: on ask -> t } state t { b: emit \
         say(text: \"hi\") -> s } }",
    );
    let system = write(
        "echo.py",
        r#"
import json, sys
EVIL = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
EVIL += "\u202egnp.exe\u0000\u001b[31m" + "A" * 900000
def say(**message):
    print(json.dumps(message), flush=True)
say(type="hello", protocol=1, name="</title><script>document.title='owned'</script>", reset="message", labels=[])
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] in ("configure", "reset"):
        say(type="ready")
    elif asked["type"] == "input":
        say(type="sent", id=asked["id"])
        say(type="output", label="say", args={"text": EVIL})
    elif asked["type"] == "bye":
        break
"#,
    );
    let explorer = Explorer::start(&[&model, "--sut", &format!("stdio:python3 {system}")]);
    browser.go(&explorer.at("live"));
    browser.wait_for_element("#tester");
    browser.press(key::ENTER);
    browser.wait_for("document.querySelector('#phase')?.textContent === 'Ended: failed'");
    let unharmed = |what: &str| {
        let text = browser.text("body");
        assert!(text.contains("<script>document.title='owned'</script>"), "{what}: it is shown as text");
        // A value is written as a literal, an address is no literal.
        let shown = ["\\0", "\\u{0}"].map(|nul| format!("\\u{{202e}}gnp.exe{nul}\\u{{1b}}[31m"));
        assert!(
            shown.iter().any(|it| text.contains(it)) && !text.contains('\u{202e}'),
            "{what}: {text:.900}"
        );
        assert!(text.len() < 50_000, "{what}: {} characters", text.len());
        assert_eq!(browser.count("#app script, #app img"), 0, "{what}");
        assert_ne!(browser.run("return document.title;", &[]), json!("owned"), "{what}");
    };
    unharmed("live");
    browser.click(".failure");
    browser.wait_for_element(".one-run .forbidden");
    unharmed("run");
    browser.press("g");
    browser.wait_for_element(".history .bad");
    unharmed("walk");
    // What stands in the address is text as well.
    browser
        .go(&explorer
            .at("walk/%3Cscript%3Edocument.title='owned'%3C%2Fscript%3E%E2%80%AEgnp.exe%00%1B%5B31m"));
    browser.wait_for_element(".problem");
    unharmed("address");
    browser.is_calm();
}

#[test]
fn everything_has_a_name_and_fits_a_laptop_in_light_and_dark() {
    let Some(browser) = Browser::open() else { return };
    browser.resize(1280, 720);
    let explorer = Explorer::start(&[SPEC, "--sut", "model:examples/brp/m3.iox"]);
    for (hash, shown) in
        [("walk", ".choice"), ("symbolic/r1", ".choice"), ("runs", ".card"), ("live", "#tester")]
    {
        browser.go(&explorer.at(hash));
        browser.wait_for_element(shown);
        let nameless = "return [...document.querySelectorAll('button, a, input, select, [tabindex], [role=group]')]\
            .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')))\
            .map((e) => e.outerHTML);";
        assert_eq!(browser.run(nameless, &[]), json!([]), "{hash}");
        let wide = "return document.documentElement.scrollWidth > innerWidth || \
                    document.documentElement.scrollHeight > innerHeight;";
        assert_eq!(browser.run(wide, &[]), json!(false), "{hash}: only panels scroll");
        // Every screen says what its keys do.
        assert!(browser.count("footer .hint") >= 2, "{hash}");
    }
    let colour = "return getComputedStyle(document.documentElement).backgroundColor;";
    browser.prefer("light");
    let light = browser.run(colour, &[]);
    browser.prefer("dark");
    assert_ne!(browser.run(colour, &[]), light);
    browser.run("document.querySelector('header button').click();", &[]);
    assert_eq!(browser.run(colour, &[]), light, "a choice counts more than the system");
    browser.is_calm();
}
