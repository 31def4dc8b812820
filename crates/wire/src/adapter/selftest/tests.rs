use super::*;
use crate::samples::{VENDING, model};

const HELLO: &str = concat!(
    r#"echo '{"type":"hello","protocol":1,"labels":["#,
    r#"{"label":"coin","direction":"input","fields":[{"name":"n","sort":"int"}]},"#,
    r#"{"label":"tea","direction":"output"}]}'; "#
);
const READY: &str = r#"read x; echo '{"type":"ready"}'; "#;
const SENT: &str = r#"read x; echo '{"type":"sent","id":1}'; "#;

fn run(script: &str, model: Option<&Model>) -> Vec<SelfTestCheck> {
    let connection = RemoteConnection { limit: Duration::from_millis(800), ..RemoteConnection::default() };
    selftest(&SutSpec::Stdio(script.into()), model, &connection).0
}

/// The name and the note of the first check that failed.
fn failure(script: &str) -> (String, String) {
    let failed = run(script, None).into_iter().find(|check| check.state == CheckState::Failed);
    failed.map(|check| (check.name, check.note)).expect("something fails")
}

#[test]
fn a_good_adapter_passes_every_check() {
    let checks = run(&format!("{HELLO}{READY}{SENT}{READY}{READY} read x"), None);
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["start", "hello", "ready", "input coin", "receipts", "reset", "reset again", "bye"]);
    assert!(checks.iter().all(|check| check.state == CheckState::Ok), "{checks:#?}");
}

#[test]
fn trouble_is_named_where_it_happens() {
    assert_eq!(failure("exit 3").0, "hello");
    assert_eq!(failure("echo hello; read x").0, "hello");
    assert_eq!(failure(&format!("{HELLO} sleep 30")).0, "ready");
    assert_eq!(failure(&format!("{HELLO}{READY} sleep 30")).0, "input coin");
    let broken = r#"read x; echo '{"type":"error","kind":"broken","text":"no cups"}'; "#;
    let (name, note) = failure(&format!("{HELLO}{READY}{broken} read x"));
    assert_eq!((name.as_str(), note.as_str()), ("input coin", "the system is broken: no cups"));
    assert_eq!(failure(&format!("{HELLO}{READY}{SENT}{READY} exit 0")).0, "reset again");
    assert_eq!(failure(&format!("{HELLO}{READY}{SENT}{READY}{READY} read x; exit 4")).0, "bye");
    assert_eq!(failure(&format!("{HELLO}{READY}{SENT}{READY}{READY} sleep 30")).0, "bye");
}

#[test]
fn a_refusal_is_an_answer() {
    let refused = r#"read x; echo '{"type":"error","kind":"refused","text":"no slot"}'; "#;
    let checks = run(&format!("{HELLO}{READY}{refused}{READY}{READY} read x"), None);
    assert!(checks.iter().all(|check| check.state != CheckState::Failed), "{checks:#?}");
    assert!(checks.iter().any(|check| check.note == "refused: no slot"), "{checks:#?}");
}

#[test]
fn messages_are_compared_with_the_model() {
    let checks = run(&format!("{HELLO}{READY}{READY}{READY} read x"), Some(&model(VENDING)));
    let labels = checks.iter().find(|check| check.name == "labels").expect("they are compared");
    assert_eq!(labels.state, CheckState::Failed);
    assert_eq!(labels.note, "not declared, or in another direction: `coffee`, `change`");
}

#[test]
fn nobody_at_the_address_fails_at_the_start() {
    let connection = RemoteConnection { limit: Duration::from_millis(800), ..RemoteConnection::default() };
    let (checks, _) = selftest(&SutSpec::Tcp("127.0.0.1:1".into()), None, &connection);
    assert_eq!((checks[0].name.as_str(), checks[0].state), ("start", CheckState::Failed));
}

/// A walk through the model finds out whether it accepts the inputs.
#[test]
fn no_input_is_sent_if_a_model_decides() {
    let checks = run(&format!("{HELLO}{READY}{READY}{READY} read x"), Some(&model(VENDING)));
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["start", "hello", "labels", "ready", "reset", "reset again", "bye"]);
}

#[test]
fn plain_inputs_have_plain_values() {
    let model = model(
        "model M { record R { n: 3..5, by: string } input pay(r: R, k: int?) output b state s { on pay } }",
    );
    let [pay] = &plain_inputs(&model)[..] else { panic!("one input") };
    assert_eq!(pay.show(&model.pool, &model.sts), "?pay(r: R(n: 3, by: \"a\"), k: none)");
}
