//! The program itself is stopped: by Ctrl-C, which acts at once, or by force, which loses nothing.

use super::*;

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &id]).status().expect("there is a `kill`");
    assert!(sent.success());
}

/// Waits until `is_so`.
#[track_caller]
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + TOO_LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The id that a script has written to the file `pid`.
pub fn pid(folder: &Folder) -> Option<u32> {
    fs::read_to_string(folder.path().join("pid")).ok()?.trim().parse().ok()
}

pub fn is_gone(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"));
    stat.map_or(true, |stat| stat.contains(") Z "))
}

/// A played model that writes down its process id.
const PLAYED: &str = "kind = \"stdio\"\ncommand = \"echo $$ > pid; exec IOXIDE sut echo.iox --solver none\"";

#[test]
fn ctrl_c_ends_a_long_wait() {
    let system = format!("{PLAYED}\nsilence_ms = 3600000");
    let folder = Folder::new(&system);
    let child = folder.start(&["--runs", "1", "--steps", "1000"]);
    until("it is started", || pid(&folder).is_some());
    // It soon waits for silence, for an hour.
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    let ended = ended(child);
    assert_eq!(ended.code, 130, "{}", ended.text);
    let sut = pid(&folder).expect("it was started");
    until("the system is ended", || is_gone(sut));
}

#[test]
fn ctrl_c_ends_the_wait_for_a_server() {
    let server = "kind = \"tcp\"\naddress = \"127.0.0.1:{port}\"\nstart = \"echo $$ > pid; exec sleep 3600\"\n\
        ready = \"tcp:127.0.0.1:{port}\"\nready_ms = 3600000";
    let folder = Folder::new(server);
    let child = folder.start(&[]);
    until("it is started", || pid(&folder).is_some());
    signal(&child, "INT");
    let ended = ended(child);
    assert_eq!(ended.code, 130, "{}", ended.text);
    let server = pid(&folder).expect("it was started");
    until("the server is ended", || is_gone(server));
}

#[test]
fn a_killed_program_loses_no_step_and_leaves_nobody_behind() {
    let folder = Folder::new(&format!("{PLAYED}\nsilence_ms = 5"));
    let mut child = folder.start(&["--runs", "1", "--steps", "1000000", "--report", "runs"]);
    let record = folder.path().join("runs/campaign.jsonl");
    until("there are steps", || fs::read_to_string(&record).unwrap_or_default().lines().count() > 50);
    signal(&child, "KILL");
    child.wait().expect("it ends");
    let sut = pid(&folder).expect("it was started");
    until("the system is ended", || is_gone(sut));
    let recorded = fs::read_to_string(&record).expect("a record");
    let steps = recorded.lines().filter(|line| line.ends_with('}')).count();
    assert!(steps > 50);
    let judged = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["judge", "echo.iox", "runs", "--solver", "none"])
        .current_dir(folder.path())
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&judged.stdout).into_owned();
    assert_eq!(judged.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&judged.stderr));
    assert!(text.starts_with("PASS: "), "{text}");
}

#[test]
fn a_killed_program_leaves_no_server_behind() {
    let server = "kind = \"text\"\naddress = \"127.0.0.1:{port}\"\nready = \"line:up\"\n\
        start = \"echo $$ > pid; echo up; sleep 3600 & sleep 3600\"\n\
        inputs = { ping = \"PING\" }\noutputs = { pong = \"PONG\" }\nlimit_ms = 1000";
    let folder = Folder::new(server);
    let mut child = folder.start(&[]);
    until("it is started", || pid(&folder).is_some());
    let server = pid(&folder).expect("it was started");
    signal(&child, "KILL");
    child.wait().expect("it ends");
    until("the server is ended", || is_gone(server));
}

/// Defect: what left its group lived on.
#[test]
fn a_killed_program_ends_what_left_its_group() {
    let folder = Folder::new(
        "kind = \"stdio\"\n\
         command = \"setsid sh -c 'echo $$ > pid; exec sleep 3600' & exec IOXIDE sut echo.iox --solver none\"",
    );
    let mut child = folder.start(&["--runs", "1", "--steps", "1000000"]);
    until("it is started", || pid(&folder).is_some());
    let daemon = pid(&folder).expect("it was started");
    signal(&child, "KILL");
    child.wait().expect("it ends");
    until("the daemon is ended", || is_gone(daemon));
}
