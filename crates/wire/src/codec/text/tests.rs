use proptest::prelude::*;

use super::*;
use crate::samples::{VENDING, message, model};

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn config(outputs: &[(&str, &str)]) -> TextConfig {
    let inputs = pairs(&[("coin", "PAY {{{n}}}\r\n")]);
    TextConfig { inputs, outputs: pairs(outputs), ..TextConfig::default() }
}

const OUTPUTS: [(&str, &str); 3] =
    [("tea", "TEA"), ("coffee", "COFFEE (?P<sugar>.*)"), ("change", r"CHANGE\n(?P<n>-?\d+)")];

/// A value that holds the end of a line.
fn is_broken(text: &str) -> bool {
    text.contains('\n')
}

#[test]
fn messages_become_text_and_back() {
    let model = model(VENDING);
    let codec = TextCodec::new(&config(&OUTPUTS), &model).unwrap();
    assert_eq!(codec.encode(&model, &message(&model, "coin", &[5]), is_broken), Ok("PAY {5}\r\n".into()));
    assert_eq!(codec.decode(&model, "TEA"), Ok(message(&model, "tea", &[])));
    assert_eq!(codec.decode(&model, "CHANGE\n3"), Ok(message(&model, "change", &[3])));
    assert_eq!(codec.decode(&model, "SOUP"), Err("no pattern matches".into()));
    let sweet = codec.decode(&model, "COFFEE much").unwrap_err();
    assert_eq!(sweet.to_string(), "`coffee.sugar`: expected 0..3, found `much`");
}

#[test]
fn the_first_pattern_in_the_file_is_taken() {
    let model = model(VENDING);
    let other = ("tea", "(?s).*");
    let codec = |outputs: [(&str, &str); 3]| TextCodec::new(&config(&outputs), &model).unwrap();
    let last = codec([OUTPUTS[1], OUTPUTS[2], other]);
    assert_eq!(last.decode(&model, "CHANGE\n3"), Ok(message(&model, "change", &[3])));
    let first = codec([other, OUTPUTS[1], OUTPUTS[2]]);
    assert_eq!(first.decode(&model, "CHANGE\n3"), Ok(message(&model, "tea", &[])));
}

#[test]
fn mistakes_are_named() {
    let model = model(VENDING);
    let problem = |config: &TextConfig| TextCodec::new(config, &model).unwrap_err().to_string();
    assert!(problem(&config(&OUTPUTS[..2])).contains("for `change`"));
    assert!(problem(&config(&[("soup", "SOUP")])).contains("no output `soup`"));
    assert!(problem(&config(&[("tea", "(?P<n>x)")])).contains("no field `n`"));
    assert!(problem(&config(&[("tea", "(")])).contains("output `tea`"));
    for (template, says) in [
        ("PAY {n", "a brace alone"),
        ("PAY {len(n}", "no field `len(n`"),
        ("PAY {len(m)}", "no field `m`"),
        ("PAY {len()}", "`len()` needs a name"),
    ] {
        let mut wrong = config(&OUTPUTS);
        wrong.inputs[0].1 = template.into();
        assert!(problem(&wrong).contains(says), "{template}: {}", problem(&wrong));
    }
    for (part, text, says) in [("n", "x", "is a field"), ("p", "{", "part `p`"), ("a b", "", "not a name")] {
        let wrong = TextConfig { parts: pairs(&[(part, text)]), ..config(&OUTPUTS) };
        assert!(problem(&wrong).contains(says), "{part}: {}", problem(&wrong));
    }
}

const STORE: &str = "model Store {
    input SET(key: string, value: string)
    output OK
    state a { on SET emit OK }
}";

#[test]
fn lengths_are_counted_in_bytes() {
    let model = model(STORE);
    let set = model.sts.gate_named("SET").unwrap();
    let label = Label::Input(
        set,
        vec!["k".into(), "ü\n".into()].into_iter().map(|t: String| Value::str(&t)).collect(),
    );
    let encoded = |template: &str| {
        let parts = pairs(&[("pair", "{key}={value}"), ("body", "<{pair}>")]);
        let inputs = pairs(&[("SET", template)]);
        let config = TextConfig { parts, inputs, outputs: pairs(&[("OK", "OK")]), ..TextConfig::default() };
        TextCodec::new(&config, &model).unwrap().encode(&model, &label, is_broken)
    };
    let redis = "*3\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n${len(value)}\r\n{value}\r\n";
    assert_eq!(encoded(redis).unwrap(), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\nü\n\r\n");
    assert_eq!(encoded("Length: {len(body)}\n\n{body}").unwrap(), "Length: 7\n\n<k=ü\n>");
    assert!(encoded("SET {key} {value}").unwrap_err().to_string().contains("would break the framing"));
}

proptest! {
    #[test]
    fn no_template_or_pattern_panics(template in ".{0,40}", pattern in ".{0,40}", text in ".{0,40}") {
        let model = model(STORE);
        let config = TextConfig {
            parts: pairs(&[("p", &template)]),
            inputs: pairs(&[("SET", &template)]),
            outputs: pairs(&[("OK", &pattern)]),
            more: Some(pattern.clone()),
            ..TextConfig::default()
        };
        if let Ok(codec) = TextCodec::new(&config, &model) {
            codec.decode(&model, &text).ok();
        }
    }
}

fn words(each: &str, pattern: &str) -> ItemWords {
    ItemWords { each: Some(each.into()), pattern: Some(pattern.into()) }
}

/// Messages with a list, a set, a map and a list of records.
fn collections() -> Model {
    let text = "model M { record Job { id: int, body: string }\n\
        input PUSH(xs: list<string>) input MARK(s: set<int>) input PUT(m: map<string, int>) input JOBS(jobs: \
        list<Job>)\n\
        output ALL(xs: list<string>) output MARKED(s: set<int>) output STORE(m: map<string, int>) output \
        TOLD(jobs: list<Job>)\n\
        state s { on PUSH on MARK on PUT on JOBS emit ALL emit MARKED emit STORE emit TOLD } }";
    let mut sources = ioxide_model::source::Sources::new();
    let file = sources.add("m.iox", text);
    let loaded = ioxide_lang::load(&sources, file, &ioxide_lang::LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

#[test]
fn items_are_written_and_read_one_by_one() {
    let model = collections();
    let items = vec![
        (
            "xs".to_owned(),
            ItemsConfig {
                between: String::new(),
                item: words("${len(item)}\r\n{item}\r\n", "\\$\\d+\r\n(?P<item>[^\r]*)\r\n"),
                cases: Vec::new(),
            },
        ),
        (
            "jobs".to_owned(),
            ItemsConfig {
                between: "; ".into(),
                item: words("{id}:{body}", "(?P<id>-?\\d+):(?P<body>[^;]*)"),
                cases: Vec::new(),
            },
        ),
    ];
    let config = TextConfig {
        inputs: pairs(&[
            ("PUSH", "*{count(xs)}\r\n{xs}"),
            ("MARK", "MARK {s}"),
            ("PUT", "PUT {m}"),
            ("JOBS", "JOBS {jobs}"),
        ]),
        outputs: pairs(&[
            ("ALL", "\\*\\d+\r\n(?P<xs>(?s:.*))"),
            ("MARKED", "MARK (?P<s>.*)"),
            ("STORE", "PUT (?P<m>.*)"),
            ("TOLD", "JOBS (?P<jobs>.*)"),
        ]),
        items,
        ..TextConfig::default()
    };
    let codec = TextCodec::new(&config, &model).expect("it fits the model");
    for (input, output, text) in [
        ("PUSH(xs: [\"ab\", \"\", \"c\"])", "ALL", "*3\r\n$2\r\nab\r\n$0\r\n\r\n$1\r\nc\r\n"),
        ("PUSH(xs: [])", "ALL", "*0\r\n"),
        ("MARK(s: {1, 2, 30})", "MARKED", "MARK 1,2,30"),
        ("PUT(m: {\"a\": 1, \"b\": 2})", "STORE", "PUT a=1,b=2"),
        ("JOBS(jobs: [Job(id: 1, body: \"x\"), Job(id: 2, body: \"\")])", "TOLD", "JOBS 1:x; 2:"),
    ] {
        let label = ioxide_record::typed::read_message(&model.pool, &model.sts, input).expect(input);
        let label = label.label(&model.sts).expect("all fields are given");
        assert_eq!(codec.encode(&model, &label, |_| false).expect(input), text);
        let back = codec.decode(&model, text).expect(text);
        let shown = back.show(&model.pool, &model.sts);
        let (_, fields) = input.split_once('(').expect("fields");
        assert_eq!(shown, format!("!{output}({fields}"));
    }
    for wrong in ["MARK 1,,2", "MARK 1,", "MARK 1,x", "PUT a", "JOBS 1:x;2:y", "MARK 1,1"] {
        assert!(codec.decode(&model, wrong).is_err(), "{wrong}");
    }
}

/// Messages with a list of cases, a codec for them, and what is wrong with one if it is.
fn replies(cases: &[(&str, &str, &str)]) -> (Model, Result<TextCodec, BadProtocol>) {
    let text = "model M { enum Reply { ok, number(n: int), bulk(text: string, tag: int?) }\n\
        input SAY(all: list<Reply>) output SAID(all: list<Reply>) state s { on SAY emit SAID } }";
    let model = model(text);
    let case = |(name, each, pattern): &(&str, &str, &str)| ((*name).to_owned(), words(each, pattern));
    let cases = cases.iter().map(case).collect();
    let config = TextConfig {
        inputs: pairs(&[("SAY", "{count(all) + 1};{all}")]),
        outputs: pairs(&[("SAID", "\\d+;(?P<all>(?s:.*))")]),
        items: vec![("all".into(), ItemsConfig { between: "\n".into(), cases, ..ItemsConfig::default() })],
        ..TextConfig::default()
    };
    let codec = TextCodec::new(&config, &model);
    (model, codec)
}

const CASES: [(&str, &str, &str); 3] = [
    ("ok", "+OK", "\\+OK"),
    ("number", ":{n}", ":(?P<n>-?[0-9]+)"),
    ("bulk", "${len(text)}({tag})\n{text}", "\\$(?P<len.text>[0-9]+)\\((?P<tag>[0-9]+)?\\)\n"),
];

#[test]
fn items_may_be_cases_and_tell_their_length() {
    let (model, codec) = replies(&CASES);
    let codec = codec.expect("it fits the model");
    for (input, text) in [
        ("SAY(all: [])", "1;"),
        ("SAY(all: [ok, number(n: -3), ok])", "4;+OK\n:-3\n+OK"),
        // A text that looks like other items, one of several bytes a character, and an empty one.
        (
            "SAY(all: [bulk(text: \"a\\n+OK\", tag: none), bulk(text: \"ü\", tag: some(7)), bulk(text: \"\", \
             tag: none)])",
            "4;$5()\na\n+OK\n$2(7)\nü\n$0()\n",
        ),
    ] {
        let label = ioxide_record::typed::read_message(&model.pool, &model.sts, input).expect(input);
        let label = label.label(&model.sts).expect("all fields are given");
        assert_eq!(codec.encode(&model, &label, |_| false).expect(input), text);
        let back = codec.decode(&model, text).expect(text);
        assert_eq!(back.show(&model.pool, &model.sts).replace("!SAID", "SAY"), input);
    }
    let said = |input: &str| {
        let label = ioxide_record::typed::read_message(&model.pool, &model.sts, input).expect(input);
        let label = label.label(&model.sts).expect("all fields are given");
        codec.encode(&model, &label, |text| text.contains(['\n', '7']))
    };
    // What the template itself says does not break the framing, nor does a text whose length is told.
    assert!(said("SAY(all: [bulk(text: \"\\n\", tag: none), ok])").is_ok());
    assert!(
        said("SAY(all: [ok, number(n: 7)])")
            .expect_err("it breaks")
            .to_string()
            .contains("break the framing")
    );
    for wrong in ["1;$9()\nab", "1;$1()\nü", "1;$99999999999999999999()\na", "2;+OK+OK", "1;+OKAY", "1;?"] {
        assert!(codec.decode(&model, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn cases_that_the_items_do_not_have_are_told() {
    let (_, codec) = replies(&[("nil", "_", "_")]);
    let bad = codec.expect_err("there is no such case");
    assert!(bad.to_string().contains("have no case `nil`"), "{}", bad.problem);
    let (_, codec) = replies(&[("bulk", "x", "(?P<len.text>.)(?P<len.tag>.)")]);
    assert!(codec.expect_err("two lengths").to_string().contains("only one part"));
}

const QUEUE: &str = "model Queue {
    enum List { Nil, Cons(head: int, tail: List) }
    enum Command { Deq, Enq(n: int), Name(text: string, on: bool) }
    record Point { x: int, y: int? }
    input Do(v: Command, b: bool)
    output Told(v: Command, all: List, at: Point, b: bool)
    state s { on Do  emit Told }
}";

/// Constructors with fields are written as TorXakis writes them, and read back.
#[test]
fn constructors_have_their_fields_in_order() {
    let model = model(QUEUE);
    let config = TextConfig {
        inputs: pairs(&[("Do", "{v} {b}")]),
        outputs: pairs(&[("Told", "(?P<v>.*);(?P<all>.*);(?P<at>.*);(?P<b>.*)")]),
        truth: Some(["True".into(), "False".into()]),
        ..TextConfig::default()
    };
    let codec = TextCodec::new(&config, &model).unwrap();
    let read = |text: &str| codec.decode(&model, text).map(|label| label.show(&model.pool, &model.sts));
    for (text, told) in [
        (
            "Enq(3);Cons(1,Cons(-2,Nil));Point(1,2);True",
            "!Told(v: Enq(n: 3), all: Cons(head: 1, tail: Cons(head: -2, tail: Nil)), at: Point(x: 1, y: some(2)), \
             b: true)",
        ),
        (
            "Name(\"a,(b)\", False);Nil;Point( 1 , none );False",
            "!Told(v: Name(text: \"a,(b)\", on: false), all: Nil, at: Point(x: 1, y: none), b: false)",
        ),
        ("Deq;Nil;Point(0,0);True", "!Told(v: Deq, all: Nil, at: Point(x: 0, y: some(0)), b: true)"),
    ] {
        let label = codec.decode(&model, text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(label.show(&model.pool, &model.sts), told);
        // What was read is written as the same value.
        let Label::Output(_, values) = &label else { panic!("an output") };
        let gate = model.sts.gate_named("Do").unwrap();
        let input = Label::Input(gate, vec![values[0].clone(), values[3].clone()]);
        let written = codec.encode(&model, &input, is_broken).unwrap();
        let again = format!(
            "{};Nil;Point(0,0);{}",
            written.rsplit_once(' ').unwrap().0,
            written.rsplit_once(' ').unwrap().1
        );
        let Label::Output(_, back) = codec.decode(&model, &again).unwrap() else { panic!("an output") };
        assert_eq!((&back[0], &back[3]), (&values[0], &values[3]), "{written}");
    }
    for wrong in [
        "Enq;Nil;Point(0,0);True",
        "Enq(3;Nil;Point(0,0);True",
        "Enq(3)x;Nil;Point(0,0);True",
        "Enq(3,4);Nil;Point(0,0);True",
        "Deq();Nil;Point(0,0);True",
        "Name(\"a);Nil;Point(0,0);True",
        "Deq;Nil;Point(0);True",
        "Deq;Nil;Point(0,0);true",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    // However deep, it is an answer and no overflow.
    let deep = format!("Deq;{}Nil{};Point(0,0);True", "Cons(1,".repeat(100_000), ")".repeat(100_000));
    assert!(read(&deep).is_err());
}

#[test]
fn fields_have_encodings() {
    let model =
        model("model M { input A(k: string, t: int) output B(k: string?, t: int) state s { on A emit B } }");
    let encodings = [("A.k", "base64"), ("A.t", "rfc3339"), ("B.k", "hex"), ("B.t", "duration")];
    let config = TextConfig {
        inputs: pairs(&[("A", "A {k} {t}")]),
        outputs: pairs(&[("B", "B (?P<t>\\S+)(?: (?P<k>\\S+))?")]),
        encodings: FieldEncodings::new(
            encodings.map(|(place, name)| (place.to_owned(), name.parse().unwrap())),
        ),
        ..TextConfig::default()
    };
    let codec = TextCodec::new(&config, &model).unwrap();
    let gate = model.sts.gate_named("A").unwrap();
    let label = Label::Input(gate, vec![Value::str("a b"), Value::int(60)]);
    assert_eq!(codec.encode(&model, &label, is_broken), Ok("A YSBi 1970-01-01T00:01:00Z".into()));
    let read = |text: &str| codec.decode(&model, text).map(|label| label.show(&model.pool, &model.sts));
    assert_eq!(read("B 1m30s 6162"), Ok("!B(k: some(\"ab\"), t: 90)".into()));
    assert_eq!(read("B 2s"), Ok("!B(k: none, t: 2)".into()));
    assert!(read("B 2").is_err() && read("B 2s xy").is_err());
    let wrong =
        TextConfig { encodings: FieldEncodings::new([("A.x".to_owned(), "hex".parse().unwrap())]), ..config };
    assert!(TextCodec::new(&wrong, &model).unwrap_err().to_string().contains("no field `A.x`"));
}
