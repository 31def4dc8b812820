//! Secrets that a system says again, in part or in another spelling, are shown nowhere.

mod echo;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;

const TOKEN: &str = "tk-9f8e7d6c5b4a/3210?";

/// Spellings of parts of the token that must not be seen.
const LEAKS: [&str; 5] = ["9f8e7d6c", "5b4a/3210", "dGstOWY4", "OWY4ZTdkNmM", "5b4a%2F3210"];

const MODEL: &str = "model Shop {
    input ASK
    input LOGIN(pin: 100000..999999)
    output SAID(s: string)
    output IN

    state open {
        ask: on ASK -> asked
        login: on LOGIN -> entering
    }

    state asked {
        said: emit SAID when s == \"ok\" -> open
    }

    state entering {
        entered: emit IN -> open
    }
}
";

fn project(port: u16) -> String {
    format!(
        "[sut.shop]
kind = \"http\"
url = \"http://127.0.0.1:{port}\"
reset = \"reconnect\"
headers = {{ Authorization = \"Bearer {TOKEN}\" }}
secrets = [\"LOGIN.pin\"]

[sut.shop.inputs]
ASK = {{ path = \"/ask\" }}
LOGIN = {{ path = \"/login/{{pin}}\" }}

[sut.shop.outputs]
IN = {{ status = 204 }}
SAID = {{ status = 200, body = \"(?P<s>.*)\" }}
"
    )
}

/// Answers `/ask` with `answer`, and `/login` with a success.
fn serve(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let talk = move |mut stream: TcpStream| {
        let (mut text, mut chunk) = (Vec::new(), [0; 1024]);
        while let Ok(n @ 1..) = stream.read(&mut chunk) {
            text.extend_from_slice(&chunk[..n]);
            if !text.ends_with(b"\r\n\r\n") {
                continue;
            }
            let said = if text.starts_with(b"GET /ask") {
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len())
            } else {
                "HTTP/1.1 204 No Content\r\n\r\n".to_owned()
            };
            if stream.write_all(said.as_bytes()).is_err() {
                return;
            }
            text.clear();
        }
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || talk(stream));
        }
    });
    port
}

/// Everything that is printed, and everything in the folder of the record.
fn seen(folder: &Path, args: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
    let output = command.args(args).current_dir(folder).output().expect("it runs");
    let mut seen = [output.stdout, output.stderr].concat();
    for entry in fs::read_dir(folder.join("runs")).into_iter().flatten().flatten() {
        seen.extend(fs::read(entry.path()).expect("a file"));
    }
    (String::from_utf8_lossy(&seen).into_owned(), output.status.code())
}

fn prepared(answer: &'static str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("shop.iox"), MODEL).expect("a model");
    fs::write(folder.path().join("ioxide.toml"), project(serve(answer))).expect("a project file");
    folder
}

const TEST: [&str; 9] = ["test", "shop.iox", "--sut", "shop", "--tester", "cover", "--seed", "1", "--report"];

#[test]
fn what_a_server_says_again_is_not_shown() {
    for answer in [
        "bad token tk-9f8e7d6c5b4a/3210?",
        "bad token 9f8e7d6c...",
        "dGstOWY4ZTdkNmM1YjRhLzMyMTA/",
        "dXNlcjp0ay05ZjhlN2Q2YzViNGEvMzIxMD8=",
        "see /login?t=tk-9f8e7d6c5b4a%2F3210%3F",
    ] {
        let folder = prepared(answer);
        for more in [&[][..], &["--json"]] {
            let (text, code) = seen(folder.path(), &[&TEST[..], &["runs"], more].concat());
            assert_eq!(code, Some(1), "{answer}: {text}");
            for leak in LEAKS {
                assert!(!text.contains(leak), "`{answer}` leaks `{leak}`");
            }
            assert!(text.contains("***"), "{text}");
        }
    }
}

#[test]
fn a_marked_field_is_not_recorded_and_its_record_is_not_judged() {
    let folder = prepared("ok");
    let (text, code) = seen(folder.path(), &[&TEST[..], &["runs"]].concat());
    assert_eq!(code, Some(0), "{text}");
    let record = fs::read_to_string(folder.path().join("runs/campaign.jsonl")).expect("a record");
    assert!(record.contains(r#""args":{"pin":{"secret":true}},"text":"?LOGIN(***)""#), "{record}");
    // A value that is not there is not taken for another one.
    let at = record.lines().filter(|line| line.contains("run_started")).count().to_string();
    let judged = (1..=at.parse().expect("a number")).map(|n: usize| {
        let (text, code) = seen(folder.path(), &["judge", "shop.iox", "runs", "--number", &n.to_string()]);
        (text.contains("does not fit the model"), code)
    });
    let judged: Vec<_> = judged.collect();
    assert!(judged.contains(&(true, Some(2))), "{judged:?}");
    assert!(judged.iter().all(|it| matches!(it, (true, Some(2)) | (false, Some(0)))), "{judged:?}");
}

#[test]
fn a_marked_field_that_is_none_is_refused() {
    let folder = prepared("ok");
    let file = folder.path().join("ioxide.toml");
    let text = fs::read_to_string(&file).expect("a file").replace("LOGIN.pin", "LOGIN.pni");
    fs::write(&file, text).expect("written");
    let (text, code) = seen(folder.path(), &TEST[..TEST.len() - 1]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the model has no field `LOGIN.pni`"), "{text}");
}
