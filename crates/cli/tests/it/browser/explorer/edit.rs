//! The text of a model, edited beside its picture.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;

use super::{Explorer, here, past, steps};
use crate::browser::driver::{Browser, key};

const LAMP: &str = "model Lamp {
    input press
    output light
    state off { up: on press -> lit }
    state lit { shine: emit light -> off }
}
";

/// A folder with the model, and its path.
fn lamp() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lamp.iox");
    fs::write(&path, LAMP).expect("a model");
    (folder, path)
}

/// Puts the cursor behind the first `place` in the text.
fn go_behind(browser: &Browser, place: &str) {
    let script = "const area = document.querySelector('.model-text'); area.focus();
        const at = area.value.indexOf(arguments[0]) + arguments[0].length; area.setSelectionRange(at, at);";
    browser.run(script, &[json!(place)]);
}

fn wait_for_status(browser: &Browser, part: &str) {
    browser
        .wait_for(&format!("document.querySelector('#edit-status')?.textContent.includes({})", json!(part)));
}

#[test]
fn the_text_is_typed_the_picture_follows_and_the_file_is_saved() {
    let Some(browser) = Browser::open() else { return };
    browser.resize(1280, 800);
    let (_folder, path) = lamp();
    let explorer = Explorer::start(&[&path.to_string_lossy()]);
    browser.go(&explorer.url);
    steps(&browser, 0);
    browser.press("e");
    wait_for_status(&browser, "No findings; saved.");
    assert_eq!(browser.count(".edge[data-switch]"), 2);
    // A line, indented like the one before it.
    go_behind(&browser, "output light");
    browser.press(&format!("{}input kick", key::ENTER));
    go_behind(&browser, "-> lit");
    browser.press(" brk: on kik -> off");
    wait_for_status(&browser, "1 error");
    assert!(browser.text(".finding").contains("kik"), "{}", browser.text(".finding"));
    assert_eq!(browser.run("return document.querySelector('.underlines .error').textContent;", &[]), "kik");
    assert_eq!(browser.count(".edge[data-switch]"), 2, "the picture is that of the last model");
    assert_eq!(browser.count(".picture.stale"), 1);
    // The finding leads to its place, where the name is typed again.
    browser.click(".finding button");
    browser.press("kick");
    wait_for_status(&browser, "No findings; not saved.");
    browser.wait_for("document.querySelectorAll('.edge[data-switch]').length === 3");
    let chosen = "return document.querySelector('.edge.chosen')?.textContent ?? '';";
    let edge_of_brk = "const edges = [...document.querySelectorAll('.edge')];
        return edges.find((it) => it.textContent.includes('brk')).textContent;";
    assert_eq!(browser.run(chosen, &[]), browser.run(edge_of_brk, &[]));
    assert_eq!(fs::read_to_string(&path).expect("the file"), LAMP, "nothing is saved before it is asked for");
    browser.press_with(key::CONTROL, "s");
    wait_for_status(&browser, "No findings; saved.");
    let saved = fs::read_to_string(&path).expect("the file");
    assert!(
        saved.contains("output light\n    input kick\n") && saved.contains("brk: on kick -> off"),
        "{saved}"
    );
    // One steps from the start in the changed model.
    browser.press(key::ESCAPE);
    browser.press("w");
    steps(&browser, 0);
    browser.press("t");
    browser.press(&format!("kick{}", key::ENTER));
    steps(&browser, 1);
    assert_eq!((here(&browser).as_str(), past(&browser)[0].as_str()), ("off", "?kick"));
    browser.is_calm();
}

/// The button that looks for changes of the model: one is shown with its diff, and taken into the text.
#[test]
fn a_change_that_explains_the_runs_is_found_and_tried() {
    let Some(browser) = Browser::open() else { return };
    browser.resize(1280, 800);
    let folder = crate::repair::folder();
    for seed in ["1", "2", "3"] {
        crate::repair::record(folder.path(), seed);
    }
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let records =
        ["campaign.jsonl", "campaign-2.jsonl", "campaign-3.jsonl"].map(|it| path(&format!("runs/{it}")));
    let model = path("model.iox");
    let args: Vec<&str> = [&*model].into_iter().chain(records.iter().flat_map(|it| ["--run", it])).collect();
    let explorer = Explorer::start(&args);
    browser.go(&explorer.at("edit"));
    wait_for_status(&browser, "No findings; saved.");
    browser.click(".repairing");
    browser.wait_for_element(".repairs .repair");
    let diff = browser.text(".repairs .repair");
    assert!(diff.contains("failed"), "{diff}");
    let wrong = fs::read_to_string(&model).expect("the model");
    browser.click(".repairs .repair button");
    wait_for_status(&browser, "No findings; not saved.");
    let text = browser.run("return document.querySelector('.model-text').value;", &[]);
    assert_ne!(text, json!(wrong), "the change is in the text");
    assert_eq!(fs::read_to_string(&model).expect("the model"), wrong, "and not yet in the file");
    browser.press_with(key::CONTROL, "s");
    wait_for_status(&browser, "No findings; saved.");
    for record in &records {
        crate::program::check_in(folder.path(), &["judge", "model.iox", record], 0, &["PASS"]);
    }
    browser.is_calm();
}

#[test]
fn what_others_have_changed_is_not_overwritten() {
    let Some(browser) = Browser::open() else { return };
    let (_folder, path) = lamp();
    let explorer = Explorer::start(&[&path.to_string_lossy()]);
    browser.go(&explorer.at("edit"));
    wait_for_status(&browser, "No findings; saved.");
    go_behind(&browser, "model Lamp {");
    browser.press(" // mine");
    wait_for_status(&browser, "No findings; not saved.");
    let theirs = LAMP.replace("up:", "theirs:");
    fs::write(&path, &theirs).expect("the file");
    browser.press_with(key::CONTROL, "s");
    browser.wait_for_element(".edit-problem .problem");
    let told = browser.text(".edit-problem");
    assert!(told.contains("changed by another program"), "{told}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), theirs);
    // The text outlives the page.
    browser.reload();
    wait_for_status(&browser, "No findings; not saved.");
    let text = "return document.querySelector('.model-text').value;";
    assert!(browser.run(text, &[]).as_str().is_some_and(|text| text.contains("// mine")));
    browser.click(".edit-problem button");
    wait_for_status(&browser, "No findings; saved.");
    assert_eq!(browser.run(text, &[]), json!(theirs));
    browser.wait_for("document.querySelector('.picture').textContent.includes('theirs')");
    // The refusal is in the console as well: the browser notes every answer that is none.
    let complaints: Vec<_> =
        browser.console().into_iter().filter(|(_, text)| !text.contains("api/source/save")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}
