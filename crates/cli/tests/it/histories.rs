//! `ioxide judge --clients`: histories of concurrent clients, as a user judges them.

use std::fs;

use crate::program::{print_in, root};

/// Runs ioxide in `folder`; its output and its exit code.
fn judge(args: &[&str]) -> (String, i32) {
    let args = [&["judge"], args, &["--clients"]].concat();
    print_in(&root().join("examples/histories"), &args)
}

#[test]
fn a_stale_read_fails_with_its_core() {
    let (text, code) = judge(&["register.iox", "stale.edn"]);
    assert_eq!(code, 1, "{text}");
    for words in [
        "FAIL",
        "no order explains these 3 operations",
        "?write(v: 7)",
        "returned before #",
        "✗",
        "as a whole",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (text, code) = judge(&["register.iox", "stale.edn", "--consistency", "sequential"]);
    assert_eq!(code, 0, "{text}");
    let (text, code) = judge(&["register.iox", "stale.edn", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (code, json["verdict"].as_str(), json["core"].as_array().map(Vec::len)),
        (1, Some("fail"), Some(3))
    );
}

#[test]
fn keys_are_judged_apart() {
    let (text, code) = judge(&["store.iox", "store.jsonl"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("judged by the entry of `store` at `key`: 2 parts"), "{text}");
}

#[test]
fn limits_give_no_verdict() {
    let (text, code) = judge(&["register.iox", "stale.edn", "--max-configurations", "1"]);
    assert_eq!(code, 5, "{text}");
    assert!(text.contains("INCONCLUSIVE") && text.contains("--max-configurations"), "{text}");
}

#[test]
fn models_that_are_not_sequential_are_refused() {
    let (text, code) =
        print_in(&root(), &["judge", "examples/brp/spec.iox", "examples/histories/store.jsonl", "--clients"]);
    assert_ne!(code, 0, "{text}");
    let (text, code) = print_in(&root(), &["check", "examples/brp/spec.iox", "--sequential"]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("not sequential: transition `"), "{text}");
    let (text, code) = print_in(&root(), &["check", "examples/histories/store.iox", "--sequential"]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn edn_is_written_and_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("again.edn");
    let path = file.display().to_string();
    let (text, code) = judge(&["store.iox", "store.jsonl", "--edn", &path]);
    assert_eq!(code, 0, "{text}");
    let (again, code) = judge(&["store.iox", &path]);
    assert_eq!(code, 0, "{again}");
    assert!(again.contains("4 operations") && text.contains("4 operations"), "{text}{again}");
}

#[test]
fn mistakes_in_the_table_and_in_the_history_have_their_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    let model = fs::read_to_string(root().join("examples/histories/register.iox")).expect("a model");
    write("m.iox", &model);
    write(
        "h.edn",
        "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value \"x\"}\n",
    );
    let run = || print_in(folder.path(), &["judge", "m.iox", "h.edn", "--clients"]);
    let expect = |words: &str| {
        let (text, code) = run();
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(words), "{words}: {text}");
    };
    expect("there is no `ioxide.toml` here with a table [history]");
    write("ioxide.toml", "[sut.a]\n");
    expect("`ioxide.toml` has no table [history]");
    write("ioxide.toml", "[history.read]\ncall = { label = \"read\" }\n");
    expect("ioxide.toml:1: `history.read` has no `ok`");
    write(
        "ioxide.toml",
        "[history.read]\ncall = { label = \"read\" }\nok = { label = \"value\", args = { v = \"value..0\" } }\n",
    );
    expect("ioxide.toml:3: `value..0` is not a path");
    write(
        "ioxide.toml",
        "[history.read]\ncall = { label = \"read\" }\nok = { label = \"value\", args = { v = \"value\" } }\n",
    );
    expect("`h.edn`: line 2: ");
}

#[test]
fn the_json_has_the_names_that_scripts_rely_on() {
    let json = |args: &[&str]| {
        let (text, _) = judge(&[args, &["--json"]].concat());
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    let store = json(&["store.iox", "store.jsonl"]);
    assert_eq!((store["linearizable"].as_bool(), store["operations"].as_u64()), (Some(true), Some(4)));
    assert_eq!(store["partition"], "by the entry of `store` at `key`");
    assert_eq!(store["core"], serde_json::json!([]));
    let stale = json(&["register.iox", "stale.edn"]);
    assert_eq!(
        (stale["linearizable"].as_bool(), &stale["partition"]),
        (Some(false), &serde_json::Value::Null)
    );
    let unknown = json(&["register.iox", "stale.edn", "--max-configurations", "1"]);
    assert_eq!(unknown["linearizable"], "unknown");
    let sequential = json(&["register.iox", "stale.edn", "--consistency", "sequential"]);
    assert_eq!(
        (&sequential["sequential"], &sequential["linearizable"]),
        (&true.into(), &serde_json::Value::Null)
    );
}

/// The directory of a campaign with clients is judged like its history; a history alone names the missing option.
#[test]
fn the_directory_of_a_campaign_is_judged() {
    let folder = tempfile::tempdir().expect("it works");
    for (name, to) in [("store.iox", "store.iox"), ("store.jsonl", "runs/history.jsonl")] {
        let to = folder.path().join(to);
        fs::create_dir_all(to.parent().expect("it is in a folder")).expect("it works");
        fs::copy(root().join("examples/histories").join(name), to).expect("it works");
    }
    let (text, code) = print_in(folder.path(), &["judge", "store.iox", "runs", "--clients"]);
    assert_eq!(code, 0, "{text}");
    for path in ["runs", "runs/history.jsonl"] {
        let (text, code) = print_in(folder.path(), &["judge", "store.iox", path]);
        let says = text.contains("is a history of several clients") && text.contains("add `--clients`");
        assert!(code == 2 && says, "{text}");
    }
}
