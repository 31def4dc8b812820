//! A server with a text protocol, without code: Redis passes, a faulty one fails, nonsense is a failure too.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ioxide_test_support::{has_program, test_cases};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/redis")
}

fn test(folder: &Path) -> Output {
    let tester = ["--tester", "random", "--seed", "1", "--runs", "3", "--steps", "60"];
    tested(folder, "redis", "", &tester)
}

/// Tests the model `name` with the system of that name, with a fault or none, and returns the output.
fn tested(folder: &Path, name: &str, fault: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", &format!("{name}.iox"), "--sut", name, "--json"])
        .args(args)
        .env("REDIS_FAULT", fault)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

#[test]
fn a_real_server_passes() {
    if has_program("redis-server") {
        let output = test(&example());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

/// Strings, lists, hashes, sets, expiry, transactions and answers for the wrong kind, by the default tester.
#[test]
fn all_kinds_of_values_pass() {
    if has_program("redis-server") {
        for seed in ["1", "2"] {
            let output =
                tested(&example(), "store", "", &["--seed", seed, "--steps", "500", "--for", "1min"]);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
    }
}

#[test]
fn faults_of_all_kinds_are_found() {
    if !has_program("redis-server") {
        return;
    }
    let faults = [
        ("pops-the-tail", "4"),
        ("keeps-expiry", "4"),
        ("removes-two", "2"),
        ("drops-the-last", "4"),
        ("counts-duplicates", "4"),
        ("nil-for-wrong-type", "4"),
    ];
    for &(fault, seed) in test_cases(3, &faults) {
        let args = ["--seed", seed, "--steps", "20000", "--for", "3min", "--no-shrink"];
        let output = tested(&example(), "store", fault, &args);
        assert_eq!(output.status.code(), Some(1), "{fault}: {output:?}");
    }
}

/// A publisher and two subscribers at once; what subscribers miss or hear twice is found.
#[test]
fn several_clients_at_once() {
    if !has_program("redis-server") {
        return;
    }
    let output = tested(&example(), "pubsub", "", &["--seed", "1", "--steps", "300", "--for", "1min"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for fault in ["loses-long-lines", "repeats-short-lines"] {
        let args = ["--seed", "1", "--steps", "5000", "--for", "2min", "--no-shrink"];
        let output = tested(&example(), "pubsub", fault, &args);
        assert_eq!(output.status.code(), Some(1), "{fault}: {output:?}");
    }
}

/// The listings of the book are those of the model.
#[test]
fn the_book_shows_the_model() {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let model = plain(&fs::read_to_string(example().join("store.iox")).expect("the model"));
    let page = fs::read_to_string(example().join("../../docs/book/src/data.md")).expect("the page");
    let model = model + &plain(&fs::read_to_string(example().join("expiry.iox")).expect("the model"));
    let (_, section) = page.split_once("## A real server").expect("the section");
    let listings: Vec<&str> = section.split("```text\n").skip(1).collect();
    assert_eq!(listings.len(), 4);
    for listing in listings {
        let (listing, _) = listing.split_once("```").expect("it ends");
        for paragraph in listing.split("\n\n") {
            assert!(model.contains(&plain(paragraph)), "{paragraph}");
        }
    }
}

/// The exit code of testing expiry with a fault or none.
fn expiry(fault: &str, args: &[&str]) -> Option<i32> {
    tested(&example(), "expiry", fault, &[args, &["--seed", "1", "--no-shrink"]].concat()).status.code()
}

#[test]
fn keys_expire_on_the_clock_of_this_machine() {
    if has_program("redis-server") {
        assert_ne!(expiry("", &["--steps", "300", "--for", "6s"]), Some(1));
        assert_ne!(expiry("", &["--tester", "tests"]), Some(1));
    }
}

/// Every rule about expiry has a test beside the model, and a server that breaks it.
#[test]
fn faults_of_expiry_are_found() {
    if !has_program("redis-server") {
        return;
    }
    for fault in [
        "no-expiry",
        "keeps-expiry",
        "expires-late",
        "seconds-for-milliseconds",
        "append-persists",
        "persist-forgets",
        "ttl-rounds-down",
    ] {
        // Where the machine is too busy to keep the stated latency, a run is inconclusive.
        let is_found = (0..10).any(|_| expiry(fault, &["--tester", "tests"]) == Some(1));
        assert!(is_found, "{fault}");
    }
}

/// Tests a server that answers every line with `reply`.
fn against(reply: &'static str) -> Output {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut writer = stream.try_clone().expect("a stream");
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let answer = if line.starts_with("FLUSHALL") { "+OK\r\n" } else { reply };
                if writer.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(example().join("redis.iox"), folder.path().join("redis.iox")).expect("the model");
    let project = fs::read_to_string(example().join("ioxide.toml")).expect("the project file");
    let (project, _) = project.split_once("\n# Learned").expect("the first system stands alone");
    let kept = project.lines().filter(|line| !line.starts_with("start") && !line.starts_with("ready"));
    let project = kept.collect::<Vec<_>>().join("\n").replace("127.0.0.1:{port}", &address.to_string());
    // Half a message is waited for as long as a message may take.
    let project = project.replace("silence_ms", "limit_ms = 700\nsilence_ms");
    fs::write(folder.path().join("ioxide.toml"), project).expect("a file");
    test(folder.path())
}

#[test]
fn a_faulty_server_fails() {
    let output = against(":7\r\n");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn nonsense_and_half_messages_are_unreadable_and_fail() {
    for reply in ["-ERR tea\r\n", "$5\r\n"] {
        let output = against(reply);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let signature = "\"signature\":\"unreadable after ?SET in owes_ok\"";
        assert!(String::from_utf8_lossy(&output.stdout).contains(signature), "{output:?}");
    }
}
