//! A campaign in which the system refused everything is inconclusive, and says so first.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;

use tempfile::TempDir;

/// Returns the address of a server that answers every request with `status`, and requests for `/open` with 200.
fn serving(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                let mut writer = stream.try_clone().expect("a stream");
                let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
                while let Some(first) = lines.next() {
                    lines.by_ref().find(String::is_empty);
                    let status = if first.contains(" /open ") { "200 OK" } else { status };
                    if write!(writer, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

const SHOP: &str = "model Shop { input look input buy output ok output denied
    state idle { a: on look -> deciding  b: on buy -> deciding }
    state deciding { yes: emit ok -> idle  no: emit denied -> idle } }";

/// Refusals are all there is.
const WALL: &str = "model Wall { input look input buy output ok output denied
    state idle { a: on look -> refusing  b: on buy -> refusing }
    state refusing { no: emit denied -> idle } }";

fn folder(model: &str, address: &str, look: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let project = format!(
        "[sut.shop]\nkind = \"http\"\nurl = \"http://{address}\"\nreset = \"none\"\nsilence_ms = 100\n\
         inputs = {{ look = {{ path = \"{look}\" }}, buy = {{ method = \"POST\", path = \"/buy\" }} }}\n\
         outputs = {{ ok = {{ status = \"2xx\" }}, denied = {{ status = [401, 403] }} }}\n"
    );
    fs::write(folder.path().join("shop.iox"), model).expect("it is written");
    fs::write(folder.path().join("ioxide.toml"), project).expect("it is written");
    folder
}

const TEST: [&str; 11] =
    ["test", "shop.iox", "--sut", "shop", "--tester", "random", "--runs", "2", "--steps", "8", "--seed"];

#[track_caller]
fn says(folder: &TempDir, args: &[&str], code: i32) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ioxide"));
    program.args(args).current_dir(folder.path()).env("IOXIDE_PROGRESS", "off").env("NO_COLOR", "1");
    let told = program.output().expect("the program runs");
    let (out, err) = (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert_eq!(told.status.code(), Some(code), "{args:?}\n{out}{err}");
    out.into_owned()
}

/// Defect: a campaign that saw nothing but 401 passed.
#[test]
fn a_campaign_that_saw_only_refusals_is_inconclusive_and_says_so_first() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let folder = folder(SHOP, &serving(status), "/look");
        let out = says(&folder, &[&TEST[..], &["1", "--report", "report"]].concat(), 5);
        let reason = "replies of the system were refusals";
        let last = out.find("INCONCLUSIVE: all ").expect("the reason");
        assert!(out.contains(reason) && last < out.find("2 runs:").expect("the figures"), "{out}");
        let text = |name: &str| fs::read_to_string(folder.path().join("report").join(name)).expect(name);
        let summary = text("summary.md");
        assert!(summary.lines().next().is_some_and(|line| line.contains(reason)), "{summary}");
        assert!(text("junit.xml").contains(reason), "{}", text("junit.xml"));
        let page = fs::read_dir(folder.path().join("report")).expect("a folder").flatten();
        let page =
            page.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|it| it == "html"));
        let page = fs::read_to_string(page.expect("a page")).expect("a text");
        assert!(page.contains(reason));
        let json: serde_json::Value =
            serde_json::from_str(says(&folder, &[&TEST[..], &["1", "--json"]].concat(), 5).trim())
                .expect("JSON");
        assert!(json["reason"].as_str().is_some_and(|why| why.contains(reason)), "{json}");
    }
}

#[test]
fn one_reply_that_is_no_refusal_is_enough() {
    let folder = folder(SHOP, &serving("401 Unauthorized"), "/open");
    let out = says(&folder, &[&TEST[..], &["1"]].concat(), 0);
    assert!(!out.contains("INCONCLUSIVE"), "{out}");
}

/// A model in which refusals are all there is passes: they are what is tested.
#[test]
fn refusals_pass_where_they_are_all_that_the_model_has() {
    let folder = folder(WALL, &serving("401 Unauthorized"), "/look");
    let out = says(&folder, &[&TEST[..], &["1"]].concat(), 0);
    assert!(!out.contains("INCONCLUSIVE"), "{out}");
}

/// Parts tell what the replies were, so the whole is inconclusive too.
#[test]
fn parts_that_saw_only_refusals_are_inconclusive_together() {
    let folder = folder(SHOP, &serving("401 Unauthorized"), "/look");
    for k in ["1", "2"] {
        let part = ["1", "--partition", &format!("{k}/2"), "--part", &format!("parts/{k}")];
        says(&folder, &[&TEST[..], &part].concat(), 0);
    }
    let out = says(&folder, &["merge", "parts", "--out", "whole"], 5);
    assert!(out.contains("INCONCLUSIVE: all "), "{out}");
}

/// Outputs of any kind of system can be named as refusals.
#[test]
#[cfg(unix)]
fn outputs_that_the_project_file_calls_refusals_count() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("shop.iox"), SHOP).expect("it is written");
    let project = "[sut.shop]\nkind = \"text\"\ncommand = \"while read -r line; do echo NOAUTH; done\"\n\
                   silence_ms = 500\ninputs = { look = \"LOOK\", buy = \"BUY\" }\n\
                   outputs = { ok = \"OK\", denied = \"NOAUTH\" }\n";
    fs::write(folder.path().join("ioxide.toml"), project).expect("it is written");
    says(&folder, &[&TEST[..], &["1"]].concat(), 0);
    let named = format!("{project}refusals = [\"denied\"]\n");
    fs::write(folder.path().join("ioxide.toml"), &named).expect("it is written");
    let out = says(&folder, &[&TEST[..], &["1"]].concat(), 5);
    assert!(out.contains("INCONCLUSIVE: all "), "{out}");
    fs::write(folder.path().join("ioxide.toml"), named.replace("[\"denied\"]", "[\"dneied\"]"))
        .expect("written");
    says(&folder, &[&TEST[..], &["1"]].concat(), 2);
}
