use super::*;
use crate::judge::plain_trace;
use crate::samples::{VENDING, model};

fn read(text: &str) -> Result<Vec<SuiteTest>, SuiteError> {
    SuiteReader::new(text.as_bytes())?.collect()
}

#[test]
fn what_was_written_is_read_back() {
    let model = model(VENDING);
    let text = "{\"label\": \"coin\", \"args\": {\"n\": 5}}\n{\"label\": \"change\", \"args\": {\"n\": 3}}\n\
        {\"label\": \"tea\"}\n{\"quiescence\": true}";
    let trace = plain_trace(&model, text).unwrap();
    let test = TraceTest::new(&model.pool, &model.sts, "change".into(), &trace);
    assert_eq!(test.trace(&model).unwrap(), trace);
    let tests = vec![SuiteTest::Trace(test), SuiteTest::Word(vec!["a".into(), "b".into()])];
    let mut file = Vec::new();
    let mut writer = SuiteWriter::new(&mut file, Map::new()).unwrap();
    tests.iter().for_each(|test| writer.add(test).unwrap());
    writer.finish().unwrap();
    assert_eq!(read(std::str::from_utf8(&file).unwrap()).unwrap(), tests);
}

/// A test reads as the same lines do where they are judged, and is refused where they are.
#[test]
fn the_labels_of_a_test_are_read_as_they_are_judged() {
    const LAMP: &str = "model Lamp { input press(n: int) output off clock w
        state dark { on press { reset w } -> lit } state lit { emit off when w <= 3s -> dark } }";
    for text in [VENDING, LAMP] {
        let model = model(text);
        for lines in [
            vec![
                r#"{"label": "press", "args": {"n": 1}, "after": 0.5}"#,
                r#"{"label": "off", "after": "1/3"}"#,
            ],
            vec![r#"{"label": "press", "args": {"n": 1}, "time": 2}"#, r#"{"quiescence": true, "time": 7}"#],
            vec![r#"{"label": "coin", "args": {"n": 1}}"#, r#"{"quiescence": true, "after": 1}"#],
            vec![r#"{"after": 2}"#, r#"{"time": 3}"#, r#"{"after": 0}"#],
            vec![r#"{"label": "press", "args": {"n": 1}, "quiescence": true}"#],
            vec![r#"{"after": -1}"#],
            vec![r#"{"time": 1}"#, r#"{"label": "press", "args": {"n": 1}, "time": 0}"#],
            vec![r#"{"time": 1, "after": 1}"#],
            vec![r#"{"after": true}"#],
            vec![r#"{"args": {}}"#],
        ] {
            let judged = plain_trace(&model, &lines.join("\n")).map_err(|bad| bad.reason);
            let test: TraceTest = json::read(format!("{{\"trace\": [{}]}}", lines.join(", "))).unwrap();
            assert_eq!(test.trace(&model), judged, "{lines:?}");
        }
    }
    let wait = TraceTest {
        trace: vec![SuiteLabel { after: Some(Json::from(-1)), ..Default::default() }],
        ..Default::default()
    };
    let problem = wait.trace(&model(LAMP)).unwrap_err();
    assert_eq!(problem.to_string(), "a negative delay: `after` is -1");
}

/// Waits are kept as they are, also those of no finite decimals; a wait of no length is no label.
#[test]
fn waits_that_were_written_are_read_back() {
    let lamp = model("model Lamp { input press clock w state dark { on press when w >= 0s -> dark } }");
    let wait = |text: &str| Label::Delay(text.parse().unwrap());
    let press = crate::samples::message(&lamp, "press", &[]);
    let trace: Trace = [wait("1/3"), press, wait("2.5"), Label::Quiescence].into_iter().collect();
    let test = TraceTest::new(&lamp.pool, &lamp.sts, String::new(), &trace);
    assert_eq!(test.trace(&lamp).unwrap(), trace);
}

#[test]
fn what_is_no_suite_is_named() {
    let problem = |text: &str| read(text).unwrap_err().to_string();
    insta::assert_snapshot!(problem(""), @"this is not an ioxide suite: it starts with nothing");
    insta::assert_snapshot!(problem("hello"), @"this is not an ioxide suite: it starts with hello");
    let head = |version| format!("{{\"format\":\"ioxide-suite\",\"version\":{version}}}\n");
    insta::assert_snapshot!(problem(&head(7)), @"the suite has version 7, this program reads version 1");
    insta::assert_snapshot!(problem(&(head(1) + "\n3\n")), @"line 3 of the suite: neither a list of inputs \
        nor an object with a `trace`: 3");
    assert_eq!(read(&head(1)).unwrap(), []);
}

#[test]
fn a_closed_suite_that_was_cut_off_anywhere_is_refused() {
    let mut file = Vec::new();
    let mut writer = SuiteWriter::new(&mut file, Map::new()).unwrap();
    for word in [["a", "b"], ["c", "d"]] {
        writer.add(&SuiteTest::Word(word.map(str::to_owned).to_vec())).unwrap();
    }
    writer.finish().unwrap();
    let text = String::from_utf8(file).unwrap();
    assert_eq!(read(&text).unwrap().len(), 2);
    // The last line may lack its end mark, nothing else may be missing.
    for end in 0..text.len() - 1 {
        assert!(read(&text[..end]).is_err(), "{}", &text[..end]);
    }
    let lines: Vec<&str> = text.lines().collect();
    let fewer = format!("{}\n{}\n{}\n", lines[0], lines[1], lines[3]);
    insta::assert_snapshot!(read(&fewer).unwrap_err(), @"line 3 of the suite: there should be 2 tests, here are 1");
    insta::assert_snapshot!(read(&lines[..3].join("\n")).unwrap_err(), @"the suite was cut off after 2 tests; \
        make it again");
    insta::assert_snapshot!(read(&(text + "[]\n")).unwrap_err(), @"line 5 of the suite: the suite has ended before");
}
