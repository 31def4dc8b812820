//! Models with variables and guards from systems whose inputs carry values: what is learned is proven to be the system.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;

use crate::program::{command as ioxide, expect as says, expect_in as says_in, root};

const LOGIN: &str = "examples/learn/login.iox";
const AUCTION: &str = "examples/learn/auction.iox";

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

/// Returns whether `conform` checked everything, symbolically or with values that make no difference checked once.
fn is_complete_proof(text: &str) -> bool {
    text.contains("CONFORMS") && text.contains("every pair of states was checked")
}

/// Learns `model` played as a system and proves that the result is the same, both ways.
#[track_caller]
fn learned(folder: &TempDir, model: &str, more: &[&str]) -> String {
    let (out, sut) = (path(folder, "learned.iox"), format!("model:{model}"));
    let told =
        says(&[&["learn", model, "--sut", &sut, "--data", "--seed", "1", "--out", &out], more].concat(), 0);
    says(&["fmt", "--check", &out], 0);
    for (one, other) in [(&*out, model), (model, &*out)] {
        let proof = says(&["conform", one, other], 0);
        assert!(is_complete_proof(&proof), "{proof}");
    }
    told + &fs::read_to_string(&out).expect("a model")
}

#[test]
fn a_login_has_three_states_two_variables_and_one_guard() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = learned(&folder, LOGIN, &["--values", "2"]);
    assert!(text.contains("3 states with 2 variables"), "{text}");
    assert!(text.contains("compares values only by equality"), "{text}");
    assert!(text.contains("on login when name == kept_name && password == kept_password"), "{text}");
    assert!(text.contains("on register { kept_name = name, kept_password = password }"), "{text}");
}

/// Nobody says that bids are compared by size, or with 0.
#[test]
fn order_and_constants_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = learned(&folder, AUCTION, &[]);
    assert!(text.contains("learning again with order") && text.contains("it compares with 0"), "{text}");
    assert!(text.contains("on bid when amount > kept_amount { kept_amount = amount }"), "{text}");
    assert!(text.contains("2 states with 1 variable"), "{text}");
    let named = learned(&folder, AUCTION, &["--compare", "order", "--constant", "0"]);
    assert!(!named.contains("learned again") && !named.contains("learning again"), "{named}");
}

#[test]
fn texts_ranges_and_enums_have_their_own_ways() {
    let folder = tempfile::tempdir().expect("a folder");
    let locker = path(&folder, "locker.iox");
    fs::write(
        &locker,
        "model Locker {\n enum Size { small, large }\n input choose(size: Size, code: string)\n \
         input open(code: string)\n \
         output shut\n output opened(code: string)\n output wrong\n output master\n var kept: string = \"\"\n \
         state free {\n \
         on choose(size: small) { kept = code } -> shutting\n on choose(size: large) -> refusing\n \
         on open when code == \"0000\" -> mastering\n on open when code != \"0000\" -> refusing\n }\n \
         state shutting { emit shut -> locked }\n state refusing { emit wrong -> free }\n \
         state mastering { emit master -> free }\n \
         state locked {\n on open when code == kept -> opening\n on open when code != kept -> still\n \
         on choose -> still\n }\n \
         state still { emit wrong -> locked }\n state opening { emit opened(code: kept) -> free }\n}\n",
    )
    .expect("written");
    let text = learned(&folder, &locker, &["--constant", "0000", "--values", "2"]);
    assert!(
        text.contains("on open when code == \"0000\"") && text.contains("on choose(size: large)"),
        "{text}"
    );
    let told =
        says(&["learn", &locker, "--sut", &format!("model:{locker}"), "--data", "--compare", "order"], 2);
    assert!(told.contains("texts have no order"), "{told}");
    let thermostat = path(&folder, "thermostat.iox");
    fs::write(
        &thermostat,
        "model Thermostat {\n input wish(t: 0..50)\n input measure(t: 0..50)\n output set(t: 0..50)\n \
         output refused\n output heat\n \
         output rest\n var goal: int = 0\n state off {\n on wish when t >= 5 && t <= 30 { goal = t } -> telling\n \
         on wish when t < 5 || t > 30 -> no\n on measure -> nothing\n }\n \
         state telling { emit set(t: goal) -> warm }\n \
         state no { emit refused -> off }\n state nothing { emit rest -> off }\n state warm {\n \
         on measure when t < goal -> heating\n \
         on measure when t >= goal -> resting\n on wish -> no\n }\n state heating { emit heat -> warm }\n \
         state resting { emit rest -> warm }\n}\n",
    )
    .expect("written");
    let text = learned(&folder, &thermostat, &["--values", "2"]);
    assert!(text.contains("it compares with 30") && text.contains("2 states with 1 variable"), "{text}");
}

/// A system that calculates is no register automaton: the two runs are shown.
#[test]
fn what_is_no_register_automaton_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let adder = path(&folder, "adder.iox");
    fs::write(
        &adder,
        "model Parity {\n input put(n: int)\n output even\n output odd\n var last: int = 0\n state idle {\n \
         on put { last = n } -> busy\n }\n \
         state busy {\n emit even when last % 2 == 0 -> idle\n emit odd when last % 2 == 1 -> idle\n }\n}\n",
    )
    .expect("written");
    let told = says(&["learn", &adder, "--sut", &format!("model:{adder}"), "--data", "--seed", "1"], 5);
    assert!(
        told.contains("get two different replies")
            && told.contains("earlier:")
            && told.contains("--constant"),
        "{told}"
    );
    for (more, word) in [
        (&["--input", "soup"][..], "the name of an input message"),
        (&["--unstable", "draft"], "depends on values or on chance"),
        (&["--unstable", "majority", "--jobs", "2"], "by one copy"),
        (&["--made", "even.n"], "no output has a field"),
        (&["--constant", "tea"], "no field can hold that"),
    ] {
        let told =
            says(&[&["learn", &adder, "--sut", &format!("model:{adder}"), "--data"], more].concat(), 2);
        assert!(told.contains(word), "{told}");
    }
}

/// Killed and resumed: the same model, and what was asked before is not asked again.
#[test]
fn a_session_with_values_is_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (session, whole, resumed) =
        (path(&folder, "session"), path(&folder, "whole.iox"), path(&folder, "resumed.iox"));
    let sut = format!("model:{LOGIN}");
    let args = ["learn", LOGIN, "--sut", &sut, "--data", "--seed", "1", "--values", "2", "--out"];
    says(&[&args[..], &[&whole]].concat(), 0);
    let again = [&args[..], &[&resumed, "--session", &session]].concat();
    for pause in [60, 150, 300] {
        let mut child =
            ioxide(&again).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().expect("killed");
        child.wait().expect("gone");
    }
    says(&again, 0);
    let machine = |path: &str| {
        let text = fs::read_to_string(path).expect("a model");
        text.lines().filter(|line| !line.starts_with("///")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(machine(&resumed), machine(&whole));
    let before = fs::read(&session).expect("a session");
    says(&again, 0);
    assert!(fs::read(&session).expect("a session") == before, "something was asked again");
}

/// Somebody stops it while it tests: the last hypothesis is written, and said to be no more than that.
#[test]
fn a_model_is_written_when_the_time_is_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, sut) = (path(&folder, "learned.iox"), format!("model:{LOGIN}"));
    let args = ["learn", LOGIN, "--sut", &sut, "--data", "--seed", "1", "--extra", "2", "--walks", "1000000"];
    let told = says(&[&args[..], &["--time-limit", "8s", "--out", &out]].concat(), 5);
    assert!(told.contains("stopped before everything was tested"), "{told}");
    says(&["check", &out], 0);
}

/// Returns the report as JSON, and the lines of the model without its comments.
fn parts(told: &str) -> (serde_json::Value, Vec<String>) {
    let json: serde_json::Value =
        told.lines().find_map(|line| serde_json::from_str(line).ok()).expect("what was done");
    let text = fs::read_to_string(json["out"].as_str().expect("a path")).expect("a model");
    (json, text.lines().filter(|line| !line.starts_with("///")).map(str::to_owned).collect())
}

/// Copies, records and an earlier version: the same model, and no more to ask.
#[test]
fn copies_records_and_a_reference_give_the_same_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, again, runs) = (path(&folder, "a.iox"), path(&folder, "b.iox"), path(&folder, "runs"));
    let sut = format!("model:{AUCTION}");
    let learn = |out: &str, more: &[&str]| {
        let args = ["learn", AUCTION, "--sut", &sut, "--data", "--values", "2", "--seed", "1", "--json"];
        parts(&says(&[&args[..], &["--out", out], more].concat(), 0))
    };
    let (alone, model) = learn(&out, &[]);
    assert_eq!(learn(&again, &["--jobs", "3"]).1, model, "copies");
    let tester = ["--tester", "random", "--runs", "60", "--steps", "13", "--seed", "1", "--report", &runs];
    says(&[&["test", AUCTION, "--sut", &sut][..], &tester].concat(), 0);
    for (more, what) in [(["--from", &runs], "records"), (["--reference", &out], "a reference")] {
        let (json, same) = learn(&again, &more);
        assert_eq!(same, model, "{what}");
        assert!(json["resets"].as_u64() < alone["resets"].as_u64(), "{what}: {json} and {alone}");
    }
}

/// The server of the example, as somebody would write it who knows it.
const KNOWN: &str = "model Known {\n input login(user: string)\n input read(token: string)\n \
                     input logout(token: string)\n \
    output session(token: string)\n output page(user: string)\n output denied\n output bye\n var who: string = \"\"\n \
    var live: string = \"\"\n state out {\n on login { who = user } -> granting\n on read -> no\n \
    on logout -> no\n }\n \
    state granting { emit session { live = token } -> inside }\n state no { emit denied -> out }\n state inside {\n \
    on login -> still\n on read when token == live -> showing\n on read when token != live -> still\n \
    on logout when token == live -> leaving\n on logout when token != live -> still\n }\n \
    state showing { emit page(user: who) -> inside }\n state still { emit denied -> inside }\n \
    state leaving { emit bye -> out }\n}\n";

/// `ioxide learn` of the server with tokens.
#[track_caller]
fn tokens(flags: &str, more: &[&str], code: i32) -> String {
    let learn = ["learn", "tokens.iox", "--sut", "tokens", "--one-answer", "--data", "--seed", "1"];
    let mut command = ioxide(&[&learn[..], &["--values", "1", "--json"], more].concat());
    command.current_dir(root().join("examples/learn")).env("TOKENS_FLAGS", flags);
    let output = command.output().expect("the program runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{flags} {more:?}\n{text}");
    text
}

/// Tokens by chance, tokens that are numbers, a server that now and then is wrong: always the same model, and it is the
/// one that somebody wrote who knows the server.
#[test]
fn what_a_server_makes_up_is_stored_and_compared() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (out, other, known) = (path(&folder, "a.iox"), path(&folder, "b.iox"), path(&folder, "known.iox"));
    fs::write(&known, KNOWN).expect("written");
    let told = tokens("", &["--out", &out], 0);
    assert!(told.contains("the system creates `session.token`"), "{told}");
    for (one, other) in [(&*out, &*known), (&*known, &*out)] {
        let proof = says(&["conform", one, other], 0);
        assert!(is_complete_proof(&proof), "{proof}");
    }
    let (_, model) = parts(&told);
    assert_eq!(parts(&tokens("", &["--jobs", "3", "--out", &other], 0)).1, model, "copies");
    let session = path(&folder, "session");
    let numbers = ["--session", &session, "--out", &other];
    let told = tokens("--number", &numbers, 0);
    assert!(told.contains("back makes a difference"), "{told}");
    assert_eq!(parts(&told).1, model, "numbers");
    let before = fs::read(&session).expect("a session");
    assert_eq!(parts(&tokens("--number", &numbers, 0)).1, model, "once more");
    assert!(fs::read(&session).expect("a session") == before, "something was asked again");
    let told = tokens("--renew", &["--out", &other], 0);
    let text = fs::read_to_string(&other).expect("a model");
    assert!(text.contains("on read when token == kept_text_token -> owes_session_to"), "{told}{text}");
}

#[test]
fn a_server_that_is_wrong_now_and_then_is_noticed_or_asked_twice() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (out, other) = (path(&folder, "a.iox"), path(&folder, "b.iox"));
    let told = tokens("--flaky 300", &["--out", &out], 5);
    assert!(
        told.contains("two different replies to the same inputs with the same values")
            && told.contains("--unstable majority"),
        "{told}"
    );
    let told = tokens("--flaky 300", &["--unstable", "majority", "--out", &out], 0);
    let (json, model) = parts(&told);
    assert!(json["doubtful"].as_u64() > Some(0), "{json}");
    assert_eq!(parts(&tokens("", &["--out", &other], 0)).1, model);
}

/// A till: what it does with an amount is no comparison, and weights have limits.
const TILL: &str = r#"import socketserver, sys

class Session(socketserver.StreamRequestHandler):
    def handle(self):
        known = None
        for line in self.rfile:
            command, *values = line.decode().split()
            answer = "REFUSED"
            if command == "OPEN" and known is None:
                known, answer = values[0], "OK"
            elif command == "PAY" and values[0] == known:
                answer = "PAID" if int(values[1]) % 2 == 0 else "CHANGE"
            elif command == "WEIGH":
                grams = int(values[0])
                answer = "LIGHT" if grams < 250 else "NORMAL" if grams <= 4000 else "HEAVY"
            self.wfile.write((answer + chr(10)).encode())

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

with Server(("127.0.0.1", int(sys.argv[1])), Session) as server:
    server.serve_forever()
"#;

const TILL_PROJECT: &str = r#"[sut.till]
kind = "text"
address = "127.0.0.1:{port}"
start = "exec python3 till.py {port}"
ready = "tcp:127.0.0.1:{port}"
reset = "reconnect"
silence_ms = 2000
[sut.till.inputs]
open = "OPEN {id}"
pay = "PAY {id} {amount}"
weigh = "WEIGH {grams}"
[sut.till.outputs]
ok = 'OK'
paid = 'PAID'
change = 'CHANGE'
refused = 'REFUSED'
light = 'LIGHT'
normal = 'NORMAL'
heavy = 'HEAVY'
"#;

const TILL_MODEL: &str = "model Till {\n input open(id: int)\n input pay(id: int, amount: int)\n \
    input weigh(grams: int)\n output ok\n output paid\n output change\n output refused\n output light\n \
    output normal\n output heavy\n state any_state {\n }\n}\n";

/// Learns the till, and returns what is told and the draft.
#[track_caller]
fn learned_till(more: &[&str], code: i32) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("till.py", TILL), ("ioxide.toml", TILL_PROJECT), ("till.iox", TILL_MODEL)] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let learn =
        ["learn", "till.iox", "--sut", "till", "--one-answer", "--data", "--seed", "1", "--values", "2"];
    let told = says_in(folder.path(), &[&learn[..], more, &["--out", "learned.iox"]].concat(), code);
    let draft = fs::read_to_string(folder.path().join("learned.iox")).unwrap_or_default();
    if code == 0 {
        says_in(folder.path(), &["check", "learned.iox"], 0);
        let run = ["test", "learned.iox", "--sut", "till", "--seed", "1", "--runs", "1", "--steps", "40"];
        says_in(folder.path(), &run, 0);
    }
    told + &draft
}

/// One field of a live system is fixed, the other learned: how the till calculates with amounts does not matter then.
#[test]
fn one_field_is_fixed_and_the_others_are_learned() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let text = learned_till(&["--input", "open", "--input", "pay(amount: 4)"], 0);
    assert!(text.contains("2 states with 1 variable"), "{text}");
    assert!(text.contains("on pay(amount: 4) when id == kept_id -> owes_paid"), "{text}");
    assert!(!text.contains("owes_change"), "{text}");
    let two = ["--input", "open", "--input", "pay(amount: 4)", "--input", "pay(amount: 5)"];
    let text = learned_till(&two, 0);
    assert!(text.contains("on pay(amount: 5) when id == kept_id -> owes_change"), "{text}");
    for (inputs, why) in [
        (["pay", "pay(amount: 4)"], "have messages in common"),
        (["open", "pay(price: 4)"], "has no field `price`"),
        (["open", "pay(amount: much)"], "is not a value of type int"),
        (["open", "paid"], "is no input message"),
    ] {
        let told = learned_till(&["--input", inputs[0], "--input", inputs[1]], 2);
        assert!(told.contains(why), "{told}");
    }
}

/// Limits that are named or found by halving have names in the draft, and two of them are a chain.
#[test]
fn limits_of_a_live_system_have_names() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let text = learned_till(&["--input", "weigh", "--constant", "4000"], 0);
    for line in [
        "const GRAMS_LIMIT_1 = 250",
        "const GRAMS_LIMIT_2 = 4000",
        "on weigh when grams < GRAMS_LIMIT_1 -> owes_light",
        "on weigh when GRAMS_LIMIT_1 <= grams <= GRAMS_LIMIT_2 -> owes_normal",
        "on weigh when grams > GRAMS_LIMIT_2 -> owes_heavy",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// Two tokens at a time: a new one is none of those that are still good.
#[test]
fn a_new_token_differs_from_those_that_are_known() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = path(&folder, "learned.iox");
    let told =
        tokens("--many 2", &["--input", "login", "--input", "read", "--walks", "50", "--out", &out], 0);
    let text = fs::read_to_string(&out).expect("a model");
    assert!(text.contains("with 4 variables"), "{told}{text}");
    let emit = text.lines().find(|line| line.contains("emit session when")).expect("a guard");
    assert!(emit.contains("token != kept_text_token") && emit.contains("_token_2 = token"), "{text}");
    let told = says(&["check", "--deep", &out], 0);
    assert!(told.contains("ok"), "{told}");
}
