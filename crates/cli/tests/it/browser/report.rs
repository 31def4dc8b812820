//! The HTML report, opened from disk: what it shows, what it refuses to become, how much it bears.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::browser::driver::{Browser, key};
use crate::program::expect;

/// Runs ioxide in the root of the repository; it ends with `code`.
#[track_caller]
/// A folder, and the report in it of runs against a faulty sender.
pub fn brp() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    let told = runs.to_string_lossy();
    let options = ["--tester", "random", "--runs", "12", "--seed", "1", "--keep-going", "--report", &told];
    let systems = ["test", "examples/brp/spec.iox", "--sut", "model:examples/brp/m6.iox"];
    expect(&[&systems[..], &options[..]].concat(), 1);
    let page = runs.join("report.html");
    (folder, page)
}

/// The page of a record that is written here, event by event.
pub fn page_of(folder: &TempDir, events: &[Json]) -> PathBuf {
    let record = folder.path().join("campaign.jsonl");
    let mut file = BufWriter::new(File::create(&record).expect("a file"));
    writeln!(file, "{}", json!({ "format": "ioxide-record", "version": 1 })).expect("a line");
    for (seq, event) in events.iter().enumerate() {
        let time_ns = 1_000 * seq as u64 * (1 + seq as u64 % 7);
        writeln!(file, "{}", json!({ "seq": seq, "time_ns": time_ns, "event": event })).expect("a line");
    }
    drop(file);
    let page = folder.path().join("page.html");
    expect(&["report", &record.to_string_lossy(), "--html", &page.to_string_lossy()], 0);
    page
}

fn started(model: &str) -> Json {
    json!({ "campaign_started": {
        "model": model, "switches": ["r0", "r1"], "tester": "random tester", "sut": "stdio:thing", "seed": 1,
        "runs": 1, "patience_ms": 100,
    }})
}

fn observation(step: usize, gate: &str, text: &str) -> Json {
    let label =
        json!({ "kind": "output", "label": gate, "args": { "v": text }, "text": format!("!{gate}({text})") });
    json!({ "observation": { "step": step, "label": label, "belief": 1, "switches": ["r0"] } })
}

fn finished(run: u64, outcome: &str, steps: usize) -> Json {
    json!({ "run_finished": { "run": run, "outcome": outcome, "steps": steps, "doubts": 0 } })
}

#[test]
fn it_opens_from_disk_and_every_part_is_calm() {
    let Some(browser) = Browser::open() else { return };
    let (_folder, page) = brp();
    browser.open_file(&page);
    assert!(browser.text(".verdict").contains("of 12 runs failed"), "{}", browser.text("body"));
    assert!(browser.text(".failure .got").contains("!OFRAME"));
    assert!(browser.text(".failure .expected").contains("!OFRAME"));
    assert!(browser.text(".copyable").contains("ioxide replay"));
    for (at, tab) in ["summary", "model", "runs", "values"].iter().enumerate() {
        browser.press(&(at + 1).to_string());
        browser.wait_for(&format!("document.querySelector('main').className === '{tab}'"));
        let current = browser.run("return document.querySelector('nav [aria-current]').dataset.tab;", &[]);
        assert_eq!(current, *tab);
    }
    browser.press("?");
    browser.wait_for("document.querySelector('dialog').open");
    browser.press(key::ESCAPE);
    let loaded = browser.run("return performance.getEntriesByType('resource').length;", &[]);
    assert_eq!(loaded, 0, "nothing is fetched");
    browser.is_calm();
}

#[test]
fn a_switch_shows_its_line_and_the_runs_that_took_it() {
    let Some(browser) = Browser::open() else { return };
    let (_folder, page) = brp();
    browser.open_file(&page);
    browser.click("nav [data-tab=model]");
    let marked = "document.querySelectorAll('.ioxide-graph .edge.taken').length > 5";
    browser.wait_for(marked);
    assert!(browser.count(".ioxide-graph .edge.never") > 0, "some switch was never taken");
    // The line of r7 in the picture.
    let switch = "[...document.querySelectorAll('.edge[data-switch]')]\
                  .find(it => it.textContent.includes('r7:'))";
    browser.run(
        &format!(
            "{switch}.querySelector('.label').dispatchEvent(new MouseEvent('click', {{bubbles: true}}));"
        ),
        &[],
    );
    browser.wait_for("document.querySelector('.switch-detail') !== null");
    let told = browser.text(".switch-detail");
    assert!(
        told.contains("examples/brp/spec.iox:") && told.contains("on ITIMEOUT when rn <= MAX_RN"),
        "{told}"
    );
    assert!(told.contains("passing runs") && told.contains("failing runs"), "{told}");
    assert!(browser.url().ends_with("#/model/r7"));
    assert_eq!(browser.count(".ioxide-graph .edge.chosen"), 1);
    browser.click(".switch-detail .runs a");
    browser.wait_for("document.querySelector('.run-header') !== null");
    browser.back();
    browser.wait_for("document.querySelector('.switch-detail h2')?.textContent.startsWith('r7') === true");
    // Found by name, by keyboard alone.
    browser.press("/");
    browser.press("OCONF");
    browser.wait_for("document.querySelectorAll('.side .list-row').length === 3");
    browser.is_calm();
}

#[test]
fn a_failing_run_is_charted_with_got_and_expected() {
    let Some(browser) = Browser::open() else { return };
    let (_folder, page) = brp();
    browser.open_file(&page);
    browser.press("f");
    // It opens on the smallest run.
    browser.wait_for("document.querySelectorAll('.charts .step').length > 1");
    assert_eq!(browser.count(".step.bad"), 1);
    assert!(browser.text(".step.bad").contains("!OFRAME") && browser.text(".step.bad").contains("got"));
    assert!(browser.text(".step.expected").contains("expected"));
    assert!(browser.count(".sequence-head text") >= 3, "a lane for every gate");
    let why = browser.text(".why-not");
    assert!(why.contains("does not hold"), "{why}");
    assert!(browser.text(".states").contains("rn ="));
    let before = browser.count(".step");
    browser.click(".charts .chip:first-child");
    browser.wait_for(&format!("document.querySelectorAll('.step').length > {before}"));
    assert_eq!(browser.count(".step.bad"), 1, "the run as it was found fails too");
    browser.click(".charts .chip:last-child");
    browser.wait_for(&format!("document.querySelectorAll('.step').length === {before}"));
    assert_eq!(browser.count(".step.bad"), 1, "the smaller run fails as well");
    browser.run("document.querySelector('.sequence .list').focus();", &[]);
    browser.press("\u{e011}");
    browser.wait_for("document.querySelector('.step-detail h2').textContent === 'Step 1'");
    browser.press(key::DOWN);
    browser.wait_for("document.querySelector('.step-detail h2').textContent === 'Step 2'");
    browser.is_calm();
}

/// A campaign of one run with so many questions and answers.
pub fn answers(n: usize) -> Vec<Json> {
    let ask = json!({ "kind": "input", "label": "ask", "text": "?ask" });
    let mut events = vec![started("Answers"), json!({ "run_started": { "run": 0, "seed": 1 } })];
    for at in 0..n {
        let step = json!({ "step": 2 * at + 1, "label": ask, "belief": 1, "switches": ["r1"] });
        events.push(json!({ "stimulus": step }));
        events.push(observation(2 * at + 2, "say", &at.to_string()));
    }
    events.push(json!({ "verdict": { "verdict": "pass", "reason": "done" } }));
    events.push(finished(0, "pass", 2 * n));
    events
}

/// A campaign whose failure was made smaller, with a script in which every text is `word`.
pub fn failure_with_script(word: &str) -> Vec<Json> {
    let explanation = json!({
        "observed": format!("!say({word})"), "n_states": 1, "states": [{ "location": "idle", "values": [] }],
        "allowed": [{ "label": "!say(2)", "switch": "r0",
            "differences": [{ "field": "v", "got": word, "expected": "2" }] }],
        "why_not": [{ "state": 0, "switch": "r0", "reason": "`v == 2` does not hold" }],
    });
    let reply = json!({ "shown": word, "form": { "status": ["200"] } });
    let headers = json!([["x-a", [{ "literal": word }]]]);
    let request = json!({ "method": "GET", "path": [{ "literal": "/x" }], "headers": headers });
    let script = json!({
        "endpoint": { "http": { "url": "http://127.0.0.1:1" } }, "start": word, "silence_ms": 500,
        "steps": [{ "send": { "shown": word, "message": { "request": request } } }, { "receive": { "reply": reply } }],
        "allowed": [reply],
    });
    let label =
        json!({ "kind": "output", "label": "say", "args": { "v": word }, "text": format!("!say({word})") });
    let input = json!({ "kind": "input", "label": "ask", "text": "?ask" });
    let mut events = vec![started("Script"), json!({ "run_started": { "run": 0, "seed": 1 } })];
    events.extend((1..=30).map(|step| observation(step, "say", word)));
    let verdict = json!({ "verdict": "fail", "reason": "no", "explanation": explanation, "signature": "s" });
    events.push(json!({ "verdict": verdict }));
    events.push(finished(0, "fail", 30));
    events.push(json!({ "shrunk": {
        "run": 0, "trace": [input, label], "from": 30, "attempts": 7, "minimal": true, "reproduced": 5, "of": 5,
        "references": ["step 1: id is id of !created at step 2"], "explanation": explanation, "script": script,
    }}));
    events
}

#[test]
fn the_summary_has_the_smallest_run_and_lines_to_copy() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let page = page_of(&folder, &failure_with_script("7"));
    for width in [1280, 390] {
        browser.resize(width, 900);
        browser.open_file(&page);
        browser.wait_for("document.querySelectorAll('.smallest .step').length === 3");
        assert!(browser.text(".smallest").contains("The smallest failing run: 2 steps"));
        assert!(browser.text(".smallest .step.bad").contains("got"));
        assert!(browser.text(".got").contains("!say(7)") && browser.text(".expected").contains("!say(2)"));
        assert!(browser.text(".difference").contains("v: got 7, expected 2"));
        assert!(browser.text(".why-not").contains("`v == 2` does not hold"));
        let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth;";
        assert_eq!(browser.run(overflow, &[]), 0, "nothing hangs over the edge at {width}");
        for (chip, says) in
            [(2, "ask \"$url\"/x"), (3, "reply = ask(\"GET\""), (4, "#[test]"), (1, "ioxide replay")]
        {
            browser.click(&format!(".reproduce .chip:nth-child({chip})"));
            let shown = browser.text(".reproduce");
            assert!(shown.contains(says), "{chip}: {shown}");
            browser.click(".reproduce button[aria-label^=copy]");
            browser.wait_for(
                "document.querySelector('.reproduce button[aria-label^=copy]').textContent === 'copied'",
            );
        }
    }
    browser.is_calm();
}

/// A failure that no program can repeat says why, and the possible states are shown by how they differ.
#[test]
fn the_summary_says_why_there_is_no_script_and_how_states_differ() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut events = failure_with_script("7");
    let shrunk = events.last_mut().and_then(|event| event["shrunk"].as_object_mut()).expect("a smaller run");
    shrunk.remove("script");
    shrunk.insert("no_script".into(), "a message is sent by another process".into());
    shrunk["explanation"]["n_states"] = 2.into();
    shrunk["explanation"]["states"] = json!([
        { "location": "idle", "values": ["n = 1", "m = 2"] }, { "location": "idle", "values": ["n = 1", "m = 3"] },
    ]);
    browser.open_file(&page_of(&folder, &events));
    browser.wait_for_element(".no-script");
    assert!(browser.text(".no-script").contains("a message is sent by another process"));
    let states = browser.text(".states");
    assert!(states.contains("n = 1, m = 2") && states.contains("m = 3"), "{states}");
    assert_eq!(states.matches("n = 1").count(), 1, "{states}");
    browser.is_calm();
}

#[test]
fn hostile_words_of_a_script_stay_text() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let word = "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>";
    let page = page_of(&folder, &failure_with_script(word));
    browser.open_file(&page);
    browser.wait_for_element(".script");
    for chip in 1..=4 {
        browser.click(&format!(".reproduce .chip:nth-child({chip})"));
        assert_eq!(browser.run("return window.owned ?? null;", &[]), Json::Null);
        assert_eq!((browser.count("script"), browser.count("img")), (2, 0));
    }
    browser.is_calm();
}

#[test]
fn hostile_words_stay_text() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let script = "<script>window.owned = 1</script><img src=x onerror='window.owned = 1'>";
    let end = "</script></template><svg onload='window.owned = 1'>";
    let turned = "pay \u{202e}001\u{202c} now\u{200b}\u{7}";
    let huge = "<b>x</b>".repeat(1 << 17);
    let words = [script, end, turned, &huge];
    let mut events = vec![started(script), json!({ "run_started": { "run": 0, "seed": 1, "goal": end } })];
    events.extend(words.iter().enumerate().map(|(at, text)| observation(at + 1, "say", text)));
    let explanation = json!({
        "observed": script, "allowed": [{ "label": end, "switch": script }], "n_states": 1,
        "states": [{ "location": script, "values": [end] }],
        "why_not": [{ "state": 0, "switch": end, "reason": script }],
    });
    let verdict =
        json!({ "verdict": "fail", "reason": script, "explanation": explanation, "signature": end });
    events.push(json!({ "verdict": verdict }));
    events.push(finished(0, "fail", words.len()));
    events.push(json!({ "run_started": { "run": 1, "seed": 2 } }));
    events.push(json!({ "trouble": { "error": end, "last_words": format!("{script}{turned}") } }));
    events.push(finished(1, "error", 0));
    let page = page_of(&folder, &events);

    browser.open_file(&page);
    for place in ["", "#/runs", "#/run/1", "#/run/2", "#/values", "#/timing", "#/model/%3Cscript%3E", "#/%zz"]
    {
        browser.run("location.hash = arguments[0];", &[json!(place)]);
        browser.wait_for("document.querySelector('main').childElementCount > 0");
        assert_eq!(browser.run("return window.owned ?? null;", &[]), Json::Null, "at {place}");
        assert_eq!(browser.count("script"), 2, "at {place}");
        assert_eq!(browser.count("img"), 0, "at {place}");
        assert_eq!(browser.count("main [onload], main [onerror]"), 0, "at {place}");
    }
    browser.run("location.hash = '#/run/1/3';", &[]);
    browser.wait_for("document.querySelector('.step-detail h2')?.textContent === 'Step 3'");
    let told = browser.text(".step-detail pre");
    assert!(told.contains("\\u{202e}001\\u{202c}") && told.contains("\\u{200b}\\u{7}"), "{told}");
    browser.press(key::DOWN);
    browser.run("location.hash = '#/run/1/4';", &[]);
    browser.wait_for("document.querySelector('.step-detail h2')?.textContent === 'Step 4'");
    let short = browser.text(".step-detail pre").len();
    assert!(short < 1000, "{short}");
    browser.click(".step-detail .link");
    let whole = browser.text(".step-detail pre").len();
    assert!((50_000..300_000).contains(&whole), "{whole}");
    browser.run("location.hash = '#/run/2';", &[]);
    browser
        .wait_for("document.querySelector('.trouble')?.innerText.includes('<script>window.owned') === true");
    browser.is_calm();
}

#[test]
fn a_hundred_thousand_steps_are_scrolled_through() {
    const STEPS: usize = 100_000;
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut events = vec![started("Long"), json!({ "run_started": { "run": 0, "seed": 1 } })];
    events.extend(
        (1..=STEPS).map(|step| observation(step, ["a", "b", "c"][step % 3], &(step % 97).to_string())),
    );
    events.push(json!({ "verdict": { "verdict": "pass", "reason": "done" } }));
    events.push(finished(0, "pass", STEPS));
    let page = page_of(&folder, &events);
    let size = fs::metadata(&page).expect("a page").len();

    browser.open_file(&page);
    browser.wait_for_element(".verdict");
    let paint = browser.run(
        "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now();",
        &[],
    );
    browser.run(COUNT_WRITTEN_NUMBERS, &[]);
    browser.run("location.hash = '#/run/1';", &[]);
    browser.wait_for("document.querySelectorAll('.step').length > 5");
    assert!(browser.count(".step") < 120, "only what is in sight is on the page");
    // Writing the numbers of all steps took seconds.
    let written = browser.run("return window.written;", &[]);
    assert!(written.as_u64().is_some_and(|n| (1..1_000).contains(&n)), "{written}");
    browser.run("document.querySelector('.sequence .list').focus();", &[]);
    browser.press(key::END);
    browser.wait_for("document.querySelector('.step-detail h2').textContent === 'Step 100,000'");
    assert!(browser.count(".step") < 120);
    // Frames while the whole list is run through, as the browser counts them.
    let frames = browser.run(SCROLL, &[]);
    eprintln!("100,000 steps: {size} bytes, first content after {paint} ms, frames of a scroll: {frames}");
    browser.is_calm();
}

/// Counts the numbers that the page writes out for people.
const COUNT_WRITTEN_NUMBERS: &str = "
    const write = Number.prototype.toLocaleString;
    window.written = 0;
    Number.prototype.toLocaleString = function (...args) { window.written += 1; return write.apply(this, args); };";

/// Scrolls from top to bottom in 60 frames; the longest and the mean frame in milliseconds.
const SCROLL: &str = "
    const list = document.querySelector('.sequence .list');
    const times = [];
    window.scrolled = new Promise((done) => {
        let n = 0, last = performance.now();
        const tick = (now) => {
            times.push(now - last); last = now; n += 1;
            list.scrollTop = list.scrollHeight * n / 60;
            if (n < 60) requestAnimationFrame(tick);
            else done({ longest: Math.max(...times.slice(1)), mean: times.slice(1).reduce((a, b) => a + b) / 59 });
        };
        requestAnimationFrame(tick);
    });
    return window.scrolled;";

const LAMP: &str = r#"model Lamp {
    input press
    output light(on: bool)
    var n: int = 0
    state off {
        @req("R-1")
        up: on press { n = 1 } -> lit
        @req("R-2")
        dead: on press when n > 5 -> lit
    }
    state lit {
        @req("R-1")
        shine: emit light(on: true) -> off
    }
}
"#;

/// The report of runs of a model with requirements.
pub fn lamp(folder: &Path) -> PathBuf {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (model, runs) = (path("lamp.iox"), path("lamp-runs"));
    fs::write(&model, LAMP).expect("a model");
    let sut = format!("model:{model}");
    let options = ["--tester", "random", "--runs", "2", "--seed", "1", "--report", &runs];
    expect(&[&["test", &model, "--sut", &sut][..], &options[..]].concat(), 0);
    folder.join("lamp-runs/report.html")
}

#[test]
fn requirements_have_verdicts_and_what_is_unreachable_a_reason() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    browser.open_file(&lamp(folder.path()));
    browser.click("nav [data-tab=requirements]");
    browser.wait_for_element(".requirements");
    let rows = browser
        .run("return [...document.querySelectorAll('.requirements tr')].map((it) => it.innerText);", &[]);
    let row = |name: &str| {
        let rows = rows.as_array().expect("rows").iter();
        rows.filter_map(Json::as_str).find(|row| row.starts_with(name)).expect("a row").to_owned()
    };
    assert!(row("R-1").contains("exercised") && row("R-1").contains("shine"), "{}", row("R-1"));
    assert!(row("R-2").contains("unreachable"), "{}", row("R-2"));
    browser.run("location.hash = '#/model/dead';", &[]);
    browser.wait_for_element(".switch-detail");
    let told = browser.text(".switch-detail");
    assert!(told.contains("proved unreachable") && told.contains("R-2"), "{told}");
    assert_eq!(browser.count(".ioxide-graph .edge.unreachable"), 1);
    browser.is_calm();
}

/// A model of 2,000 switches.
fn large_model() -> String {
    let mut text = "model Big {\n input go(k: int)\n output said(k: int)\n var n: int = 0\n".to_owned();
    for s in 0..500 {
        let [next, near, back] = [(s + 1) % 500, (s * 7 + 3) % 500, s / 2];
        text += &format!(
            "state S{s} {{\n a{s}: on go when k > {guard} {{ n = n + 1 }} -> S{next}\n \
             b{s}: on go when k <= {guard} -> S{back}\n c{s}: emit said(k: {s}) when n > 2 -> S{near}\n \
             d{s}: emit said(k: {next}) {{ n = 0 }} -> S{next}\n}}\n",
            guard = s % 7
        );
    }
    text + "}\n"
}

#[test]
fn two_thousand_switches_are_found_and_shown() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (model, runs) = (path("big.iox"), path("runs"));
    fs::write(&model, large_model()).expect("a model");
    let sut = format!("model:{model}");
    expect(
        &[
            "test", &model, "--sut", &sut, "--tester", "random", "--runs", "2", "--seed", "1", "--report",
            &runs,
        ],
        0,
    );
    let page = folder.path().join("runs/report.html");
    eprintln!("2,000 switches: {} bytes", fs::metadata(&page).expect("a page").len());
    browser.open_file(&page);
    browser.click("nav [data-tab=model]");
    browser.wait_for("document.querySelectorAll('.edge[data-switch]').length === 2000");
    assert!(browser.count(".side .list-row") < 60, "only what is in sight is on the page");
    browser.press("/");
    browser.press("a321 ");
    browser.wait_for("document.querySelectorAll('.side .list-row').length === 1");
    browser.click(".side .list-row");
    browser.wait_for("document.querySelector('.switch-detail h2')?.textContent.startsWith('a321') === true");
    let told = browser.text(".switch-detail");
    assert!(told.contains("a321: on go when k > 6"), "{told}");
    eprintln!("2,000 switches: a pan of 30 frames, then drawn again, in ms: {}", browser.run(PAN, &[]));
    browser.is_calm();
}

/// Drags the picture for 30 frames; the longest and the mean frame, and how long it takes to be drawn again.
const PAN: &str = "
    const svg = document.querySelector('.graph svg');
    const point = (type, n, target) =>
        target.dispatchEvent(new PointerEvent(type, { clientX: 300 + n, clientY: 300, button: 0, bubbles: true }));
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    return (async () => {
        point('pointerdown', 0, svg);
        const times = [];
        let last = await frame();
        for (let n = 1; n <= 30; n += 1) {
            point('pointermove', 10 * n, window);
            const now = await frame();
            times.push(now - last); last = now;
        }
        point('pointerup', 300, window);
        const before = svg.getAttribute('viewBox');
        const began = performance.now();
        while (svg.getAttribute('viewBox') === before && performance.now() - began < 10000) await frame();
        await frame(); await frame();
        const mean = times.reduce((a, b) => a + b) / times.length;
        return { longest: Math.max(...times), mean, drawn: performance.now() - began };
    })();";

#[test]
fn colours_follow_the_system_and_the_button() {
    let Some(browser) = Browser::open() else { return };
    let (_folder, page) = brp();
    let paper = "return getComputedStyle(document.documentElement).backgroundColor;";
    browser.prefer("light");
    browser.open_file(&page);
    let light = browser.run(paper, &[]);
    browser.prefer("dark");
    let dark = browser.run(paper, &[]);
    assert_ne!(light, dark);
    browser.click("button[aria-label='change to light colours']");
    assert_eq!(browser.run(paper, &[]), light);
    browser.is_calm();
}

#[test]
fn mutants_and_suites_have_pages() {
    let Some(browser) = Browser::open() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    expect(&["kill", "examples/adder.iox", "--html", &path("kill.html"), "--out", &path("adder.suite")], 0);
    browser.open_file(Path::new(&path("kill.html")));
    assert!(browser.text(".verdict").contains("100 %"), "{}", browser.text(".verdict"));
    browser.wait_for("document.querySelectorAll('.matrix-row').length > 0");
    browser.wait_for("document.querySelector('.detail .diff') !== null");
    expect(
        &[
            "score",
            "examples/adder.iox",
            "random",
            "--runs",
            "1",
            "--steps",
            "2",
            "--html",
            &path("score.html"),
        ],
        0,
    );
    browser.open_file(Path::new(&path("score.html")));
    browser.wait_for("document.querySelector('.detail h3')?.textContent === 'A trace to add to the suite'");
    expect(&["fsm", "examples/fsm/door.txt", "--suite", "s", "--html", &path("fsm.html")], 0);
    browser.open_file(Path::new(&path("fsm.html")));
    browser.wait_for("document.querySelectorAll('.tests .list-row').length > 0");
    assert!(browser.count(".ioxide-graph .node") > 1);
    browser.is_calm();
}
