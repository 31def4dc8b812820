//! Requests to end, of every kind and in every phase: what is known is written.

use super::*;

/// A counter whose answers stop at the seventh, so that every candidate costs a silence and shrinking takes long.
const COUNTER: &str = "while read w; do case $w in RESET) n=0; echo OK;; ping) n=$((n+1)); [ $n -lt 7 ] && \
                       echo PONG;; esac; done";

fn counter(silence_ms: u32) -> Folder {
    let system = format!(
        "kind = \"text\"\ncommand = \"sh counter.sh\"\nreset = \"RESET\"\nsilence_ms = {silence_ms}\n\
         [sut.s.inputs]\nping = \"ping\"\n[sut.s.outputs]\npong = \"PONG\""
    );
    let folder = Folder::new(&system);
    fs::write(folder.path().join("counter.sh"), COUNTER).expect("a script");
    folder
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(sent.expect("there is a `kill`").success());
}

/// Waits until the record has an event of this kind.
#[track_caller]
fn until_recorded(folder: &Folder, event: &str) {
    let deadline = Instant::now() + TOO_LONG;
    let record = folder.path().join("runs/campaign.jsonl");
    while !fs::read_to_string(&record).unwrap_or_default().contains(event) {
        assert!(Instant::now() < deadline, "never: {event}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The reports of a campaign are there, and the record is complete.
#[track_caller]
fn has_reports(folder: &Folder, text: &str) {
    for name in ["campaign.jsonl", "junit.xml", "summary.md", "report.html"] {
        assert!(folder.path().join("runs").join(name).exists(), "no {name}: {text}");
    }
    let record = fs::read_to_string(folder.path().join("runs/campaign.jsonl")).expect("a record");
    assert!(record.contains("campaign_finished"), "{text}");
}

/// The signals that ask a program to end; without SIGHUP where these tests ignore it, as below `nohup`, since programs
/// that they start ignore it too.
fn requests_to_end() -> Vec<&'static str> {
    const BIT_OF_SIGHUP: u64 = 1;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    if ignored & BIT_OF_SIGHUP == 0 { vec!["TERM", "HUP", "INT"] } else { vec!["TERM", "INT"] }
}

/// Defect: SIGTERM and SIGHUP ended the program at once, without a report.
#[test]
fn every_request_to_end_during_shrinking_writes_the_reports_and_the_failure() {
    for name in requests_to_end() {
        let folder = counter(400);
        let child = folder.start(&["--runs", "1", "--steps", "200", "--report", "runs"]);
        // The failure was repeated; what follows is shrinking.
        until_recorded(&folder, "\"replayed\"");
        signal(&child, name);
        let ended = ended(child);
        // A failure that was found is no less certain for the interruption.
        assert_eq!(ended.code, FAIL, "{name}: {}", ended.text);
        has_reports(&folder, &ended.text);
        let kept = fs::read_to_string(folder.path().join("runs/regressions.jsonl")).expect("failing runs");
        assert!(kept.contains("\"label\":\"ping\""), "{name}: {kept}");
    }
}

#[test]
fn every_request_to_end_while_runs_go_on_writes_the_reports() {
    for name in requests_to_end() {
        let folder = Folder::new(
            "kind = \"stdio\"\ncommand = \"exec IOXIDE sut echo.iox --solver none\"\nsilence_ms = 5",
        );
        let child = folder.start(&["--runs", "1", "--steps", "1000000", "--report", "runs"]);
        until_recorded(&folder, "\"observation\"");
        signal(&child, name);
        let ended = ended(child);
        assert_eq!(ended.code, 130, "{name}: {}", ended.text);
        has_reports(&folder, &ended.text);
    }
}

/// `nohup` lets a program go on when its terminal is closed.
#[test]
fn a_hangup_that_is_ignored_from_the_start_stays_ignored() {
    let folder =
        Folder::new("kind = \"stdio\"\ncommand = \"exec IOXIDE sut echo.iox --solver none\"\nsilence_ms = 5");
    let child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_ioxide")])
        .args(["test", "echo.iox", "--sut", "s", "--tester", "random", "--seed", "1", "--solver", "none"])
        .args(["--runs", "1", "--steps", "1000000", "--report", "runs"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    until_recorded(&folder, "\"observation\"");
    signal(&child, "HUP");
    let seen = || fs::metadata(folder.path().join("runs/campaign.jsonl")).map_or(0, |record| record.len());
    let (before, deadline) = (seen(), Instant::now() + TOO_LONG);
    while seen() <= before {
        assert!(Instant::now() < deadline, "it does not go on");
        std::thread::sleep(Duration::from_millis(10));
    }
    signal(&child, "TERM");
    assert_eq!(ended(child).code, 130);
}

/// Defect: `--for` ended the runs, and shrinking took two minutes more.
#[test]
fn the_time_of_a_campaign_bounds_repeating_and_shrinking_too() {
    let folder = counter(400);
    let ended = ended(folder.start(&["--for", "4s", "--steps", "200", "--report", "runs"]));
    assert_eq!(ended.code, FAIL, "{}", ended.text);
    has_reports(&folder, &ended.text);
    let record = fs::read_to_string(folder.path().join("runs/campaign.jsonl")).expect("a record");
    let says_so = record.contains("no time was left") || record.contains("the time limit was reached");
    assert!(says_so || record.contains("\"minimal\":true"), "{}", ended.text);
}

/// Defect: `--steps 20` made 324 steps.
#[test]
fn a_bound_of_steps_holds_for_every_tester() {
    let folder =
        Folder::new("kind = \"stdio\"\ncommand = \"exec IOXIDE sut echo.iox --solver none\"\nsilence_ms = 5");
    for (tester, runs) in
        [("hunt", None), ("hunt", Some(3)), ("random", Some(3)), ("cover", Some(3)), ("tour", Some(3))]
    {
        let n = runs.map(|n: u64| n.to_string());
        let mut args =
            vec!["--tester", tester, "--steps", "20", "--json", "--report", "runs", "--no-regressions"];
        args.extend(n.iter().flat_map(|n| ["--runs", n.as_str()]));
        let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(["test", "echo.iox", "--sut", "s", "--seed", "1", "--solver", "none"])
            .args(args)
            .current_dir(folder.path())
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let told: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("{tester}: {text}"));
        let steps = told["steps"].as_u64().expect("a number");
        assert!(steps <= 20 * runs.unwrap_or(1), "{tester}: {steps} steps\n{text}");
    }
}
