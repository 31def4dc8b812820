//! Histories as text.

use std::fs;

use super::models::{example, mapping, read, root};
use ioxide_history::write::{write_edn, write_lines};
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use serde_json::{Map, Value as Json};

fn sample(name: &str) -> String {
    fs::read_to_string(root().join("examples/histories").join(name)).unwrap()
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Int(n) => n.to_string().parse().unwrap(),
        Value::Str(text) => Json::String(text.to_string()),
        Value::Data(data) => data.args.first().map_or(Json::Null, json_of),
        other => panic!("{other:?}"),
    }
}

fn written(model: &Model, label: &Label) -> (String, Map<String, Json>) {
    let (Label::Input(gate, values) | Label::Output(gate, values)) = label else { panic!("a message") };
    let gate = &model.sts.gates[*gate];
    let fields = gate.fields.iter().map(|field| model.pool.var_info(*field).name.to_string());
    (gate.name.to_string(), fields.zip(values.iter().map(json_of)).collect())
}

#[test]
fn every_form_is_read_and_written_again() {
    for (name, file) in [("register.iox", "stale.edn"), ("store.iox", "store.jsonl")] {
        let model = example(name);
        let history = read(&model, &sample(file)).unwrap();
        let message = |label: &Label| written(&model, label);
        let lines = write_lines(&history, &message);
        assert_eq!(read(&model, &lines).unwrap(), history, "{lines}");
        let edn = write_edn(&history, &mapping(), &message);
        let again = read(&model, &edn).unwrap();
        assert_eq!(again.operations, history.operations, "{edn}");
    }
}

#[test]
fn exported_edn_is_what_jepsen_writes() {
    let model = example("register.iox");
    let history = read(&model, &sample("stale.edn")).unwrap();
    let edn = write_edn(&history, &mapping(), &|label| written(&model, label));
    // The open operation is left without its :info, which says nothing more.
    let expected: Vec<String> = sample("stale.edn").lines().take(9).map(str::to_owned).collect();
    assert_eq!(edn.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn log_lines_and_vectors_are_read() {
    let model = example("register.iox");
    let log = "INFO  jepsen.util - 0\t:invoke\t:write\t3\nINFO  jepsen.core - starting\n\
               INFO  jepsen.util - :nemesis\t:info\t:start\tnil\n\
        INFO  jepsen.util - 1\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:info\t:write\t:timed-out\n\
        INFO  jepsen.util - 1\t:fail\t:read\t:timed-out\n";
    let history = read(&model, log).unwrap();
    assert_eq!((history.operations.len(), history.count_open(), history.void), (1, 1, 1));
    let vector = "[{:process 0 :type :invoke :f :read :value nil :time 5} ; a comment\n \
                  #jepsen.history.Op{:process 0, :type :ok, :f :read, :value nil, :time 7}]";
    let history = read(&model, vector).unwrap();
    assert_eq!(history.operations[0].called_ns, Some(5));
}

#[test]
fn mistakes_have_their_line() {
    let model = example("register.iox");
    let problem = |text: &str| read(&model, text).unwrap_err().to_string();
    let start = "{\"ioxide-history\": 1}\n";
    for (text, expected) in [
        (
            format!("{start}{{\"client\": 1}}"),
            "line 2: a line has exactly one of `call`, `return`, `open` and `void`",
        ),
        (
            format!("{start}\n{{\"client\": 1, \"open\": true}}"),
            "line 3: client `1` has no operation that could return",
        ),
        ("{\"ioxide-history\": 2}".to_owned(), "line 1: format version 2 is not supported (supported: 1)"),
        ("{:process 0, :type :invoke}".to_owned(), "line 1: the event has no `:f`"),
        (
            "\n{:process 0, :type :invoke, :f :drop}".to_owned(),
            "line 2: operation `drop` is not in the table [history] of the project file",
        ),
        (
            "{:process 0, :type :invoke, :f :cas, :value 3}".to_owned(),
            "line 1: `value.0` of the event, for field `from` of `cas`, is not there",
        ),
        (
            "{:process 0, :type :start, :f :cas}".to_owned(),
            "line 1: `:start` is not a type of event; there is :invoke, :ok, :fail and :info",
        ),
        ("{:process 0".to_owned(), "line 1: the text ends within a value"),
        ("0 :ok".to_owned(), "line 1: the event has no `:f`"),
        ("0 :ok :read 1".to_owned(), "line 1: client `0` has no operation that could return"),
    ] {
        assert_eq!(problem(&text), expected, "{text}");
    }
    let after = "0 :invoke :write 1\n0 :info :write 1\n0 :invoke :read nil";
    assert!(problem(after).starts_with("line 3: client `0` calls again while an operation of it is open"));
}

#[test]
fn lines_need_no_first_line_and_no_instants() {
    let model = example("register.iox");
    let call = |client: &str, at: &str| {
        format!(r#"{{"client": {client}, "call": "write", "args": {{"v": 3}}{at}}}"#)
    };
    let answer = |client: &str, at: &str| format!(r#"{{"client": {client}, "return": "written"{at}}}"#);
    let text = [call("1", ""), answer("1", ""), call("2", ""), r#"{"client": 2, "open": true}"#.to_owned()];
    let history = read(&model, &text.join("\r\n")).unwrap();
    assert_eq!((history.operations.len(), history.count_open()), (2, 1));
    // A message may be written as in traces, and an instant as `ns`.
    let whole = r#"{"client": "1", "call": {"label": "write", "args": {"v": 3}}, "ns": 7}"#;
    let history = read(&model, &format!("\u{feff}{whole}\n{}", answer("1", ", \"at\": 9"))).unwrap();
    assert_eq!(history.operations[0].called_ns, Some(7));
    let problem = |lines: &[String]| read(&model, &lines.join("\n")).unwrap_err().to_string();
    assert_eq!(
        problem(&[call("1", ", \"at\": 9"), answer("1", ", \"at\": 8")]),
        "line 2: this instant, 8, is before an earlier one, 9; sort the lines by `at`"
    );
    assert!(problem(&[call("1", ", \"at\": -1")]).starts_with("line 1: invalid value: integer `-1`"));
    assert!(problem(&[call("1.5", "")]).contains("the name or the number of a client"));
    assert_eq!(problem(&[answer("1", "")]), "line 1: client `1` has no operation that could return");
    let twice = r#"{"client": 1, "call": {"label": "write"}, "args": {"v": 3}}"#.to_owned();
    assert_eq!(problem(&[twice]), "line 1: the fields of the message are given both in it and beside it");
    let unclear = r#"{"client": 1, "call": 3}"#.to_owned();
    assert!(problem(&[unclear]).contains("the name of a message"));
}

#[test]
fn odd_edn_is_read_as_edn_says() {
    let model = example("register.iox");
    let event = |rest: &str| format!("{{:process 0, :type :invoke, :f :write, {rest}}}");
    let written = |rest: &str| {
        let history = read(&model, &event(rest)).map_err(|error| error.to_string())?;
        let Label::Input(_, values) = &history.operations[0].input else { panic!("an input") };
        Ok::<_, String>(model.pool.show_value(&values[0]))
    };
    for (rest, expected) in [
        (":value 3 #_ :more", "3"),
        (":value #_ #_ 1 2 3", "3"),
        (":value +3 :other [\\a \\newline \\u0041 ##Inf #{1 2} #inst \"2026-11-18\"]", "3"),
        (":value 3N", "3"),
        (":value -12", "-12"),
        (":value 3 ; the end\n", "3"),
    ] {
        assert_eq!(written(rest), Ok(expected.to_owned()), "{rest}");
    }
    for (rest, problem) in [
        (":value 1/2", "line 1: this is not a number"),
        (":value 3, :value 4", "line 1: a map has a key twice"),
        (":value \\nonsense", "line 1: this character is not known"),
        (":value", "line 1: a map has a key without a value"),
        (":value 3 :process nil", "line 1: a process is a number, a text or a keyword"),
    ] {
        assert_eq!(written(rest), Err(problem.to_owned()), "{rest}");
    }
    assert!(
        written(":value 3.5").is_err()
            && written(":value 1e400").is_err()
            && written(":value ##NaN").is_err()
    );
    // A process that is a text is a client; the nemesis is a keyword.
    let texts = "{:process \"a\", :type :invoke, :f :read}\n{:process :nemesis, :type :info, :f :kill}";
    assert_eq!(read(&model, texts).unwrap().clients.len(), 1);
}

#[test]
fn whatever_stands_before_an_event_in_a_log_is_skipped() {
    let model = example("register.iox");
    let log = "2016-07-12 15:20:04,123 - INFO - jepsen.util - 0 :invoke :write 3\n\
        INFO [2021-03-01 12:00:00] jepsen worker 0 - jepsen.util 0 :ok :write 3\n\
        INFO jepsen.util - 1 :invoke :write 4\n\
        INFO jepsen.util - 1 :info :write #<SocketTimeoutException (java.net: \n\
        WARN jepsen.core - Analysis :ok\n";
    let history = read(&model, log).unwrap();
    assert_eq!((history.operations.len(), history.count_open()), (2, 1));
}

#[test]
fn clients_with_names_do_not_share_a_number_in_edn() {
    let model = example("register.iox");
    let text = r#"{"client": "ann", "call": "read"}
        {"client": "0", "call": "read"}"#;
    let history = read(&model, text).unwrap();
    let edn = write_edn(&history, &mapping(), &|label| written(&model, label));
    assert_eq!(read(&model, &edn).unwrap().clients.len(), 2, "{edn}");
}

#[test]
fn no_bytes_make_the_readers_panic() {
    let model = example("register.iox");
    let texts =
        [sample("stale.edn"), sample("store.jsonl"), "0 :invoke :write 3\n0 :ok :write 3\n".to_owned()];
    let signs = [
        "{", "}", "[", "]", "(", ")", "\"", "#", "#_", "\\u12", ";", ":", "-", "9", "é", "\n", "nil", "\u{0}",
    ];
    for text in &texts {
        for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
            let _ = read(&model, &text[..at]);
            let _ = read(&model, &text[at..]);
            let sign = signs[at % signs.len()];
            let _ = read(&model, &format!("{}{sign}{}", &text[..at], &text[at..]));
        }
    }
    let deep = "[".repeat(100_000);
    assert!(read(&model, &deep).is_err() && read(&model, &"#a".repeat(100_000)).is_err());
}
