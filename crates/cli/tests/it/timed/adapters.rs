//! Adapters whose virtual time is wrong: an error with its reason, never a verdict.

use std::fs;

use super::{Ended, folder, ioxide_in, root};

/// Speaks the protocol; `$reply` says when time has passed, `$to` is where it was told to pass to.
const ADAPTER: &str = r#"
echo '{"type":"hello","protocol":1,"name":"odd","virtual_time":OFFER}'
while read -r line; do
    case "$line" in
        *'"configure"'* | *'"reset"'*) asked=0; echo '{"type":"ready"}' ;;
        *'"input"'*) echo "{\"type\":\"sent\",\"id\":$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')}" ;;
        *'"advance"'*)
            asked=$((asked + 1))
            to=$(echo "$line" | sed 's/.*"to_ns":\([0-9]*\).*/\1/')
            REPLY
            ;;
    esac
done
"#;

/// Tests such an adapter with a reply of its own.
fn adapter(offer: &str, reply: &str, more: &[&str]) -> Ended {
    let folder = folder();
    let script = ADAPTER.replace("OFFER", offer).replace("REPLY", reply);
    fs::write(folder.path().join("adapter.sh"), script).expect("an adapter");
    fs::copy(root().join(super::ATM), folder.path().join("atm.iox")).expect("the example");
    let project = "[sut.odd]\nkind = \"stdio\"\ncommand = \"sh adapter.sh\"\nlimit_ms = 1000\n";
    fs::write(folder.path().join("ioxide.toml"), project).expect("a project file");
    let args = ["test", "atm.iox", "--sut", "odd", "--seed", "1", "--tester", "random", "--runs", "4"];
    ioxide_in(folder.path(), &[&args[..], more].concat(), &[])
}

const ADVANCED: &str = r#"printf '{"type":"advanced","now_ns":%d}\n'"#;

#[test]
fn time_that_is_not_as_told_is_an_error() {
    let rows = [
        ("$((to + 1))", "its clock went further than it was asked to"),
        ("$((to > 0 ? to - 1 : 0))", "its clock stopped early, but it sent no message"),
        ("$((asked == 1 ? to : 0))", "its clock goes back"),
    ];
    for (now, says) in rows {
        let ended = adapter("true", &format!("{ADVANCED} \"{now}\""), &["--keep-going"]);
        ended.expect(6, &[says, "no verdict"]);
    }
}

#[test]
fn an_adapter_that_only_lets_time_pass_is_silent() {
    // The machine must decide within a second.
    let ended = adapter("true", &format!("{ADVANCED} \"$to\""), &["--no-shrink"]);
    ended.expect(1, &["FAIL_dur at q1", "`wclock <= 1.0`"]);
}

#[test]
fn an_adapter_that_never_says_that_time_has_passed_is_given_up() {
    adapter("true", ":", &[]).expect(6, &["advanced", "no verdict"]);
}

#[test]
fn an_answer_to_advance_that_is_none_is_an_error() {
    adapter("true", "echo '{\"type\":\"advanced\"}'", &[]).expect(6, &["now_ns"]);
    adapter("true", "echo '{\"type\":\"advanced\",\"now_ns\":-5}'", &[]).expect(6, &["now_ns"]);
    adapter("true", "echo '{\"type\":\"ready\"}'", &[]).expect(6, &["not expected here"]);
}

#[test]
fn an_adapter_without_virtual_time_cannot_have_it() {
    adapter("false", ":", &["--clock", "virtual"])
        .expect(6, &["virtual time was requested, but the system does not offer it"]);
}
