//! Pictures of the explorer at work, for its chapter of the book; taken again by `./x pictures`.

use std::env;
use std::fs;
use std::process::Command;

use serde_json::json;

use super::{Explorer, SPEC, pace, root};
use crate::browser::driver::{Browser, key};

#[test]
fn pictures() {
    if env::var_os("UPDATE_PICTURES").is_none() {
        return;
    }
    let Some(browser) = Browser::open() else { return };
    // The window of a laptop; the browser itself takes some of its height.
    browser.resize(1280, 863);
    browser.prefer("light");
    brp(&browser);
    atm(&browser);
    redis(&browser);
}

fn brp(browser: &Browser) {
    let explorer = Explorer::start(&[SPEC, "--sut", "model:examples/brp/m3.iox"]);
    let frame = |bit: u8| format!("!OFRAME(b1:1,b2:0,b3:{bit},d:7)");
    browser.go(&explorer.at(&format!("walk/?IREQ(d1:7,d2:8,d3:9)/{}/?ITIMEOUT/{}", frame(0), frame(1))));
    browser.wait_for_element(".forbidden");
    take(browser, "explorer-walk");
    browser.go(&explorer.at("edit"));
    browser.wait_for_element(".model-text");
    browser.run(MISSPELT, &[]);
    browser.wait_for_element(".finding");
    take(browser, "explorer-edit");
    // The text as it was: the page does not ask whether to leave.
    browser.run(&MISSPELT.replace("MAX_RN', 'MAX_RM'", "MAX_RM', 'MAX_RN'"), &[]);
    browser.wait_for("document.querySelector('#edit-status').textContent.endsWith('; saved.')");
    browser.go(&explorer.at("live"));
    browser.wait_for_element("#tester");
    browser.run("document.querySelector('#seed').value = '1';", &[]);
    pace(browser, 1000);
    browser.press(key::ENTER);
    browser.wait_for("document.querySelectorAll('.edge.taken').length >= 5");
    browser.press("p");
    browser.wait_for("document.querySelector('#phase')?.textContent.startsWith('Paused')");
    pace(browser, 50);
    take(browser, "explorer-live");
    browser.press("p");
    browser.wait_for("document.querySelector('#phase')?.textContent === 'Ended: failed'");
    browser.click(".failure");
    browser.wait_for_element(".one-run .forbidden");
    browser.prefer("dark");
    take(browser, "explorer-run");
    browser.prefer("light");
}

/// Misspells a name in the text, and shows the place.
const MISSPELT: &str = "
    const area = document.querySelector('.model-text'), guard = area.value.indexOf('when rn <=');
    area.value = area.value.slice(0, guard) + area.value.slice(guard).replace('MAX_RN', 'MAX_RM');
    area.dispatchEvent(new Event('input'));
    area.scrollTop = 20 * (area.value.slice(0, guard).split('\\n').length - 8);";

fn atm(browser: &Browser) {
    let explorer = Explorer::start(&["examples/atm/atm.iox"]);
    browser.go(&explorer.at("walk/?Transc(amt:50,tb:5)/+0.5s"));
    browser.wait_for("document.querySelector('.history h2')?.textContent === '2 steps so far'");
    take(browser, "explorer-time");
}

/// A recorded run against a real server.
fn redis(browser: &Browser) {
    if !ioxide_test_support::has_program("redis-server") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let ioxide = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(args)
            .current_dir(root().join("examples/redis"))
            .output();
        assert!(output.expect("the program runs").status.success());
    };
    let runs = folder.path().join("redis").to_string_lossy().into_owned();
    let test = ["test", "redis.iox", "--sut", "redis", "--tester", "random", "--seed", "1", "--runs", "3"];
    ioxide(&[&test[..], &["--steps", "80", "--report", &runs]].concat());
    let explorer = Explorer::start(&["examples/redis/redis.iox", "--run", &runs]);
    browser.go(&explorer.at("run/0/0/40"));
    browser.wait_for_element(".belief");
    take(browser, "explorer-redis");
}

/// Writes what is seen to a file of the book.
fn take(browser: &Browser, name: &str) {
    // What moves has come to rest, and nothing has the focus.
    browser.run("document.activeElement?.blur();", &[]);
    std::thread::sleep(std::time::Duration::from_millis(400));
    assert_eq!(browser.run("return document.fonts.status;", &[]), json!("loaded"));
    let path = root().join(format!("docs/book/src/pictures/{name}.png"));
    fs::write(&path, browser.screenshot()).expect("the picture is written");
}
