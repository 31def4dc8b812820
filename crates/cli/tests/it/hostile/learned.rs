//! Systems that misbehave while they are learned: an end, a reason, and no machine that was never seen.

use super::*;

/// The system learned, within a short time.
fn learn(system: &str, more: &[&str]) -> Ended {
    learn_by(SPEECH, system, more)
}

fn learn_by(speech: &str, system: &str, more: &[&str]) -> Ended {
    let folder = Folder::new(&format!("{speech}command = '''\n{system}\n'''"));
    fs::write(folder.path().join("echo.iox"), MESSAGES).expect("a model");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
    command.args(["learn", "echo.iox", "--sut", "s", "--seed", "1", "--extra", "1", "--time-limit", "4s"]);
    command.args(more).current_dir(folder.path()).env("NO_COLOR", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ended(command.spawn().expect("the program runs"))
}

const MESSAGES: &str = "model Echo { input ping input pang output pong output pung(n: int)
    state idle { on ping -> busy  on pang -> other } state busy { emit pong -> idle } state other { emit pung \
                        -> idle } }
";

const SPEECH: &str = "kind = \"text\"\nsilence_ms = 60\nlimit_ms = 800\n\
    inputs = { ping = \"PING\", pang = \"PANG\" }\noutputs = { pong = \"PONG\", pung = \"PUNG (?P<n>-?[0-9]+)\" }\n";

#[track_caller]
fn check(system: &str, code: i32, says: &[&str]) {
    let ended = learn(system, &[]);
    assert_eq!(ended.code, code, "{system}\n{}", ended.text);
    for word in says {
        assert!(ended.text.contains(word), "should say `{word}`: {system}\n{}", ended.text);
    }
    assert!(ended.peak_kb < MAX_KB, "{} kB: {system}", ended.peak_kb);
}

#[test]
fn floods_before_and_after_an_input_end() {
    check("yes PONG", 5, &["outputs came without an input"]);
    check("read x; yes PONG", 5, &["outputs came without an input"]);
}

#[test]
fn garbage_and_halves_are_told() {
    check("while read x; do printf '\\377\\n'; done", TROUBLE, &["not UTF-8"]);
    check("read x; printf PON; sleep 60", TROUBLE, &["incomplete message"]);
    check("while read x; do echo PUNG 9999999999999999999x; done", TROUBLE, &["it wrote: PUNG 999"]);
}

#[test]
fn a_system_that_ends_is_told() {
    check("read x; echo PONG; read y; exit 3", TROUBLE, &["exit status: 3"]);
    check("exit 0", TROUBLE, &[]);
}

#[test]
fn a_system_that_lies_is_shown() {
    // Every process answers otherwise.
    check("while read x; do echo PUNG $$; done", 5, &["gives two different replies to the same inputs"]);
}

/// Defect: a system with endlessly many states, or one that never falls silent, was learned for ever in spite of
/// `--time-limit`.
#[test]
fn the_time_limit_ends_what_has_no_end() {
    let counter = "n=0; while read x; do n=$((n+1)); echo PUNG $n; done";
    let flood = "read x; while :; do echo PONG; sleep 0.02; done";
    // On a busy machine they take their time between two lines, and must not seem silent.
    for (system, quiescence) in [(counter, "silence_ms = 700"), (flood, "silence_ms = 3000")] {
        let ended = learn_by(&SPEECH.replace("silence_ms = 60", quiescence), system, &[]);
        assert_eq!(ended.code, 5, "{system}: {}", ended.text);
        assert!(ended.text.contains("no machine: the time limit was reached"), "{system}: {}", ended.text);
    }
}
