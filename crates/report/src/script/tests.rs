//! Scripts are programs: what they hold stays data.

use ioxide_record::event::{
    KeptValue, ReplyForm, ScriptEndpoint, ScriptFraming, ScriptMessage, ScriptPart, ScriptPlace,
    ScriptRecord, ScriptReply, ScriptStep, ScriptValuePlace, UsedPart, UsedValue, ValueSpelling,
};

use super::*;

fn text(text: &str) -> Vec<ScriptPart> {
    vec![ScriptPart::Literal(text.to_owned())]
}

fn value(variable: &str, spelling: ValueSpelling) -> ScriptPart {
    ScriptPart::Value(UsedValue { variable: variable.into(), part: UsedPart::Whole, spelling })
}

fn reply(shown: &str, status: &str) -> ScriptReply {
    let form = ReplyForm { status: vec![status.into()], ..ReplyForm::default() };
    ScriptReply { shown: shown.into(), form, values: Vec::new(), is_exact: false }
}

/// A shop that gives ids: an item is made, changed and read.
fn shop() -> ScriptRecord {
    let id = |place: &str| (ScriptValuePlace::Json(place.into()), vec![value("id_2", ValueSpelling::Plain)]);
    let n = |n: &str| (ScriptValuePlace::Json("/n".into()), text(n));
    ScriptRecord {
        endpoint: ScriptEndpoint::Http { url: "http://127.0.0.1:4000".into(), cookies: false },
        start: Some("exec python3 shop.py 4000".into()),
        silence_ms: 500,
        steps: vec![
            ScriptStep::Send {
                shown: "?create(n: 1)".into(),
                message: ScriptMessage::Request {
                    method: "POST".into(),
                    path: text("/items"),
                    headers: vec![("content-type".into(), text("application/json"))],
                    body: Some(text("{\"n\": 1}")),
                },
            },
            ScriptStep::Receive {
                reply: reply("!created(id: \"a\")", "201"),
                keep: vec![KeptValue {
                    variable: "id_2".into(),
                    place: ScriptValuePlace::Json("/id".into()),
                    is_optional: false,
                }],
            },
            ScriptStep::Send {
                shown: "?get(id: \"a\")".into(),
                message: ScriptMessage::Request {
                    method: "GET".into(),
                    path: vec![ScriptPart::Literal("/items/".into()), value("id_2", ValueSpelling::Percent)],
                    headers: Vec::new(),
                    body: None,
                },
            },
            ScriptStep::Receive {
                reply: ScriptReply {
                    values: vec![id("/id"), n("2")],
                    is_exact: true,
                    ..reply("!item(id: \"a\", n: 2)", "200")
                },
                keep: Vec::new(),
            },
        ],
        allowed: vec![ScriptReply {
            values: vec![id("/id"), n("1")],
            is_exact: true,
            ..reply("!item(id: \"a\", n: 1)", "200")
        }],
        silence_allowed: false,
        notes: Vec::new(),
        connections: Vec::new(),
        routes: Vec::new(),
    }
}

#[test]
fn curl_takes_an_id_from_a_reply() {
    let script = write_script(&shop(), ScriptLanguage::Curl, "Shop").expect("HTTP");
    for line in [
        "#     exec python3 shop.py 4000",
        "url=${URL:-http://127.0.0.1:4000}",
        "ask -X POST \"$url\"/items -H 'content-type: application/json' --data-raw '{\"n\": 1}'",
        "id_2=$(printf '%s' \"$reply\" | jq -r .id)",
        "ask \"$url\"/items/\"$(percent \"$id_2\")\"",
        "# step 4: !item(id: \"a\", n: 2)",
    ] {
        assert!(script.lines().any(|other| other == line), "`{line}` in {script}");
    }
}

#[test]
fn python_compares_the_last_reply_with_what_is_allowed() {
    let script = write_script(&shop(), ScriptLanguage::Python, "The Shop!").expect("always");
    for line in [
        "def test_the_shop():",
        "    reply = ask(\"POST\", \"/items\", {\"content-type\": \"application/json\"}, \"{\\\"n\\\": 1}\")",
        "    check(2, reply, ([(201, 201)], None, []))",
        "    id_2 = reply.member(\"/id\")",
        "    reply = ask(\"GET\", \"/items/\" + percent(id_2), {}, None)",
        "], silence=False, forbidden=None)",
    ] {
        assert!(script.contains(line), "`{line}` in {script}");
    }
    assert!(script.contains("(lambda reply: reply.member(\"/id\"), id_2)"), "{script}");
}

/// Texts that would do harm, or break a line, if they were code.
const HOSTILE: [&str; 8] = [
    "'; touch x; '",
    "\"; touch x; \"",
    "$(touch x)",
    "`touch x`",
    "a\ntouch x\n",
    "\\",
    "a\r# \u{2028}touch x",
    "\"\"\"\nimport os\nos.system('touch x')\n\"\"\"",
];

/// A run over TCP and one over HTTP in which every text is `hostile`.
fn hostile_scripts(hostile: &str) -> [ScriptRecord; 2] {
    let mut shop = shop();
    shop.for_each_text(&mut |text| *text = hostile.to_owned());
    let mut stream = shop.clone();
    shop.endpoint = ScriptEndpoint::Http { url: "http://127.0.0.1:1".into(), cookies: false };
    stream.endpoint = ScriptEndpoint::Stream {
        place: ScriptPlace::Tcp("127.0.0.1:1".into()),
        framing: ScriptFraming::Mark("\n".into()),
        joined: false,
    };
    stream.steps = vec![
        ScriptStep::Send { shown: hostile.into(), message: ScriptMessage::Text(text(hostile)) },
        ScriptStep::Receive { reply: reply(hostile, "200"), keep: Vec::new() },
    ];
    stream.allowed = vec![reply(hostile, "201")];
    [shop, stream]
}

/// Every script is run by its interpreter, with commands that cannot reach anything: nothing may be made by it.
#[test]
fn no_text_breaks_out_of_its_quotes() {
    let folder = tempfile::tempdir().expect("a folder");
    for hostile in HOSTILE {
        for script in hostile_scripts(hostile) {
            for language in ScriptLanguage::ALL {
                let Some(text) = write_script(&script, language, hostile) else { continue };
                let (program, check) = match language {
                    ScriptLanguage::Python => ("python3", "-c"),
                    ScriptLanguage::Curl | ScriptLanguage::Netcat => ("bash", "-c"),
                    // A compiler reads nothing but literals, and running it would need a system.
                    ScriptLanguage::Rust => continue,
                };
                if !ioxide_test_support::has_program(program) {
                    return;
                }
                // Neither curl nor nc nor sleep is wanted here, only the reading of the words.
                let lead = if program == "bash" {
                    "curl() { :; }; nc() { cat >/dev/null; }; sleep() { :; }\n"
                } else {
                    ""
                };
                let output = std::process::Command::new(program)
                    .args([check, &format!("{lead}{text}")])
                    .current_dir(folder.path())
                    .output()
                    .expect("it starts");
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(!errors.contains("yntax"), "{text}\n{errors}");
                let made: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
                assert!(made.is_empty(), "{hostile:?} in {language:?} made {made:?}:\n{text}");
            }
        }
    }
}

#[test]
fn a_zero_byte_has_no_place_in_a_shell_and_one_in_python() {
    let [mut http, stream] = hostile_scripts("a\0b");
    http.start = None;
    assert_eq!(write_script(&http, ScriptLanguage::Curl, "M"), None);
    assert!(write_script(&http, ScriptLanguage::Python, "M").expect("always").contains("a\\U00000000b"));
    assert!(write_script(&stream, ScriptLanguage::Netcat, "M").expect("text").contains("printf 'a\\000b'"));
}

#[test]
fn what_netcat_cannot_say_is_left_to_python() {
    let [_, mut stream] = hostile_scripts("x");
    assert!(write_script(&stream, ScriptLanguage::Netcat, "M").is_some());
    stream.steps[0] = ScriptStep::Send {
        shown: "?x".into(),
        message: ScriptMessage::Text(vec![value("id_1", ValueSpelling::Plain)]),
    };
    assert_eq!(write_script(&stream, ScriptLanguage::Netcat, "M"), None);
    assert!(write_script(&stream, ScriptLanguage::Python, "M").is_some());
    assert_eq!(write_script(&shop(), ScriptLanguage::Netcat, "M"), None);
}

#[test]
fn the_rust_test_needs_no_regular_expressions() {
    let script = write_script(&shop(), ScriptLanguage::Rust, "Shop").expect("JSON");
    for line in [
        "let id_2 = reply.member(\"/id\").expect(\"the reply has it\");",
        "let reply = ask(\"GET\", &[\"/items/\".to_owned(), percent(&id_2.clone())].concat(), &[], None);",
    ] {
        assert!(script.contains(line), "`{line}` in {script}");
    }
    let mut patterned = shop();
    patterned.allowed[0].form.pattern = Some("OK [0-9]+".into());
    assert_eq!(write_script(&patterned, ScriptLanguage::Rust, "Shop"), None);
}
