//! Every kind of breakdown, by data: found, made as small as can be, repeated, grouped, in every report, exit 1.

use std::fs;
use std::time::Duration;

use crate::truth::Folder;
use crate::truth::server::listen;

const STORE: &str = "model Store {
    input PUT(n: 0..99)
    output OK
    state idle { on PUT -> busy }
    state busy { emit OK -> idle }
}
";

/// The fault of a server at a number it does not like.
#[derive(Clone, Copy)]
enum Fault {
    /// It closes the connection.
    Close,
    /// It says nothing any more.
    Silence,
    /// It says something that is not a message.
    Garbage,
}

/// A server over TCP that does not like numbers above 41.
fn server(fault: Fault) -> Folder {
    let address = listen(Duration::ZERO, move |mut peer| {
        while let Some(line) = peer.hear() {
            let n: u32 = line.trim_start_matches("PUT ").parse().expect("a number");
            match fault {
                _ if n <= 41 => peer.say("OK"),
                Fault::Garbage => peer.say("?!"),
                Fault::Silence => (),
                Fault::Close => return peer.hang_up(),
            }
        }
    });
    Folder::new(STORE, &project(&format!("address = \"{address}\"\nreset = \"reconnect\"")))
}

fn project(way: &str) -> String {
    format!(
        "[sut.s]\nkind = \"text\"\n{way}\nsilence_ms = 30\nlimit_ms = 1000\n[sut.s.inputs]\nPUT = \"PUT {{n}}\"\n\
         [sut.s.outputs]\nOK = 'OK'\n"
    )
}

/// The failure is found, made as small as can be, done again, grouped, and told in every report.
#[track_caller]
fn is_understood(folder: &Folder, steps: usize, kind: &str, says: &[&str]) {
    let args = ["--runs", "4", "--steps", "12", "--seed", "3", "--keep-going", "--report", "r"];
    let found = folder.test(&args);
    let smallest = format!("minimal failing run: {steps} step");
    found.check(1, &[&["FAIL", "?PUT(n: 42)", "failed again 3 of 3 times", &smallest], says].concat());
    // Many runs fail, in one way.
    assert_eq!(found.text.matches("failing run: ").count(), 1, "{}", found.text);
    folder.ioxide(&["replay", "r", "--sut", "s", "--solver", "none"]).check(1, says);
    let record = fs::read_to_string(folder.path().join("r/campaign.jsonl")).expect("a record");
    assert!(record.contains(&format!("\"kind\":\"{kind}\"")), "{record}");
    for report in ["r/report.html", "r/junit.xml", "r/summary.md"] {
        let page = fs::read_to_string(folder.path().join(report)).expect("a report");
        for part in says {
            assert!(page.contains(part), "`{part}` is missing in {report}");
        }
    }
}

#[test]
fn a_process_that_dies_on_one_value_has_crashed() {
    let command = "while read x n; do [ $n -gt 41 ] && exit 9; echo OK; done";
    let folder = Folder::new(STORE, &project(&format!("command = \"{command}\"")));
    is_understood(&folder, 2, "crash", &["exit status: 9"]);
}

#[test]
fn a_server_that_hangs_up_on_one_value_has_crashed() {
    is_understood(&server(Fault::Close), 2, "crash", &["closed the connection"]);
}

#[test]
fn a_server_that_talks_nonsense_on_one_value_is_unreadable() {
    is_understood(&server(Fault::Garbage), 2, "unreadable", &["unreadable"]);
}

#[test]
fn a_server_that_falls_silent_on_one_value_fails() {
    is_understood(&server(Fault::Silence), 2, "forbidden", &["silence"]);
}

/// An adapter that confirms no number above 41.
const DEAF: &str = r#"
echo '{"type":"hello","protocol":1,"name":"deaf","reset":"message","labels":[]}'
while read -r line; do
    case "$line" in
    *'"configure"'* | *'"reset"'*) echo '{"type":"ready"}' ;;
    *'"input"'*)
        id=${line#*\"id\":} n=${line#*\"n\":}
        id=${id%%[,\}]*} n=${n%%[,\}]*}
        [ "$n" -gt 41 ] && continue
        echo "{\"type\":\"sent\",\"id\":$id}"
        echo '{"type":"output","label":"OK","args":{}}'
        ;;
    esac
done
"#;

#[test]
fn an_adapter_that_does_not_confirm_one_value_hangs() {
    let project =
        "[sut.s]\nkind = \"stdio\"\ncommand = \"exec sh deaf.sh\"\nlimit_ms = 400\nsilence_ms = 30\n";
    let folder = Folder::new(STORE, project);
    fs::write(folder.path().join("deaf.sh"), DEAF).expect("a file");
    is_understood(&folder, 2, "hang", &["no `sent` from the system"]);
}
