use std::time::Duration;

use ioxide_wire::adapter::managed::SystemRenewal;
use ioxide_wire::adapter::server::ServerReadiness;
use ioxide_wire::adapter::shared::FaultKind;
use ioxide_wire::adapter::text::MessageFormat;
use ioxide_wire::adapter::tls::{Roots, TlsConfig};
use ioxide_wire::adapter::{Framing, HttpResetStep, LengthUnit, ListenAddress, ResetStep};
use ioxide_wire::codec::layout::{Endian, NumberLayout};
use ioxide_wire::codec::text::AnnouncedFrame;

use super::*;
use crate::system::{REACH_MS, READY_MS, Variables};

/// The first instance, on port 7.
const FIRST: Variables = Variables { port: 7, instance: 0 };

/// The system `name` where nothing is known of a model.
fn read_system(content: &str, name: &str, variables: &Variables) -> Result<DescribedSystem, ProjectError> {
    describe_system(&Project::parse(content)?.system(name)?, variables, &Instances::default())
}

const CONTENT: &str = r#"
[sut.adder]
kind = "stdio"
command = "python3 adder.py --port {port}"
environment = { PYTHONPATH = "sdk" }
silence_ms = 250

[sut.server]
kind = "tcp"
address = "127.0.0.1:{port}"
start = "serve {port}"
ready = "tcp:127.0.0.1:{port}"
ready_ms = 500
stop = "unserve"
"#;

/// Returns the error of a system `x` with these lines, the first of which is line 2.
#[track_caller]
fn problem(lines: &str) -> String {
    format!("{:?}", read_system(&format!("[sut.x]\n{lines}\n"), "x", &FIRST).expect_err(lines))
}

#[track_caller]
fn check(lines: &str, says: &[&str]) {
    let told = problem(lines);
    for word in says {
        assert!(told.contains(word), "should say `{word}`: {told}");
    }
}

#[test]
fn systems_are_described() {
    let adder = read_system(CONTENT, "adder", &FIRST).expect("it is there");
    assert_eq!(adder.spec, SutSpec::Stdio("python3 adder.py --port 7".into()));
    assert_eq!(adder.environment, [("PYTHONPATH".to_owned(), "sdk".to_owned())]);
    assert_eq!((adder.server, adder.quiescence.default), (None, Some(250)));
    let server = read_system(CONTENT, "server", &FIRST).expect("it is there");
    assert_eq!(server.spec, SutSpec::Tcp("127.0.0.1:7".into()));
    let config = server.server.expect("it is started");
    assert_eq!((config.start.as_str(), config.stop.as_deref()), ("serve 7", Some("unserve")));
    assert_eq!(
        (config.ready, config.limit.as_millis()),
        (ServerReadiness::Port(ListenAddress::Tcp("127.0.0.1:7".into())), 500)
    );
}

#[test]
fn every_instance_has_its_own_port_and_number() {
    let content = "[sut.x]\nkind = \"stdio\"\ncommand = \"serve {port} {instance}\"\n\
                   environment = { N = \"{instance}\" }";
    let source = SystemSource::from_project(Arc::new(Project::parse(content).expect("TOML")), "x");
    let both = [0, 1].map(|n| source.describe_instance(n, &Instances::default()).expect("it is there"));
    assert_ne!(both[0].spec, both[1].spec);
    assert!(matches!(&both[1].spec, SutSpec::Stdio(command) if command.ends_with(" 1")));
    assert_eq!(both[1].environment, [("N".to_owned(), "1".to_owned())]);
}

#[test]
fn mistakes_have_a_line_a_key_and_a_guess() {
    check("kind = \"stdio\"\ncomand = \"x\"", &["ioxide.toml:3", "no key `sut.x.comand`", "mean `command`"]);
    check("kind = \"stdio\"\naddress = \"x\"", &["ioxide.toml:3", "no key `sut.x.address`"]);
    check("kind = \"stdoi\"", &["ioxide.toml:2", "`sut.x.kind`", "`stdoi`", "mean `stdio`"]);
    check("kind = \"text\"\ncomand = \"x\"", &["ioxide.toml:3", "no key `sut.x.comand`", "mean `command`"]);
    check("command = \"x\"", &["ioxide.toml:2", "`sut.x.kind` is missing"]);
    check("kind = \"tcp\"", &["`sut.x.address` is missing"]);
    check("kind = \"tcp\"\naddress = \"nowhere\"", &["ioxide.toml:3", "`sut.x.address`", "HOST:PORT"]);
    check("kind = \"model\"\nfile = \"a.iox\"\nstart = \"x\"", &["ioxide.toml:4", "no key `sut.x.start`"]);
    check("kind = 3", &["ioxide.toml:2", "expected a string"]);
    check("kind = \"stdio\"\ncommand = \"x\"\nsilence_ms = -1", &["ioxide.toml:4", "not negative"]);
    check("kind = \"stdio\"\ncommand = \"x\"\nready = \"line:x\"", &["ioxide.toml:4", "needs `start`"]);
    check(
        "kind = \"stdio\"\ncommand = \"x\"\nstart = \"y\"\nready = \"soon\"",
        &["ioxide.toml:5", "line:TEXT"],
    );
    check("kind = \"stdio\"\ncommand = \"x\"\nenvironment = { A = 1 }", &["`sut.x.environment.A`"]);
    check("kind = \"stdio", &["ioxide.toml:2"]);
}

#[test]
fn a_protocol_is_described() {
    let text = |framing: &str| {
        format!("[sut.x]\nkind = \"text\"\naddress = \"h:1\"\nreset = \"none\"\nframing = \"{framing}\"\n")
    };
    let framing = |text: &str| match read_system(text, "x", &FIRST).map(|x| x.protocol) {
        Ok(ProtocolConfig::Own(protocol)) => protocol.framing,
        other => panic!("{other:?}"),
    };
    assert_eq!(framing(&text("length:2")), Framing::Length(2));
    assert_eq!(framing(&text("delimiter:;")), Framing::Delimiter(";".into()));
    check("kind = \"text\"\naddress = \"h:1\"\nframing = \"length:9\"", &["ioxide.toml:4", "length:BYTES"]);
    check("kind = \"text\"\naddress = \"h:1\"\ninput = {}", &["ioxide.toml:4", "mean `inputs`"]);
    check("kind = \"text\"\naddress = \"h:1\"\noutputs = { A = 1 }", &["`sut.x.outputs.A`"]);
}

const BINARY: &str = "kind = \"binary\"\naddress = \"h:1\"\n";

#[test]
fn layouts_and_their_framing_are_described() {
    let own = |lines: &str| {
        let reset = if lines.contains("reset") { "" } else { "\nreset = \"reconnect\"" };
        let content = format!("[sut.x]\n{BINARY}{lines}{reset}");
        match read_system(&content, "x", &FIRST).map(|x| x.protocol) {
            Ok(ProtocolConfig::Own(own)) => own,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(own("framing = \"fixed:8\"\nreset = \"0x01 Ff\"").reset, [ResetStep::new_plain("01Ff")]);
    let expected =
        own("framing = \"fixed:8\"\nreset = { send = \"0x01 Ff\", expect = '0x81 (00|01) .*' }").reset;
    assert_eq!(expected, [ResetStep { send: Some("01Ff".into()), expect: Some("81(00|01).*".into()) }]);
    assert_eq!(own("framing = \"length:2\"").framing, Framing::Length(2));
    let length = "framing = { length = \"u16\", at = 3, head = 6 }\nendian = \"little\"";
    let Framing::Counted(field) = own(length).framing else { panic!("it is counted") };
    assert_eq!((field.at, field.counts), (3, LengthUnit::After(6)));
    assert_eq!(field.number, NumberLayout::from_word("u16le", Endian::Big).expect("a number"));
    let layouts = own("framing = \"fixed:2\"\ninputs = { A = \"u16 n\" }\noutputs = { B = \"u8 n, 0x00\" }");
    let MessageFormat::Binary(binary) = layouts.words else { panic!("it is binary") };
    assert_eq!((binary.inputs.len(), binary.outputs[0].0.as_str()), (1, "B"));
    for (lines, says) in [
        ("", "`framing` is missing: it defines where a message ends"),
        ("framing = \"line\"", "ioxide.toml:4: `sut.x.framing`: write `fixed:BYTES`"),
        ("framing = \"fixed:0\"", "ioxide.toml:4"),
        ("framing = { at = 1 }", "`sut.x.framing.length` is missing"),
        ("framing = { length = \"i8\" }", "`sut.x.framing.length`: write `u8`"),
        ("framing = { length = \"u8\", counts = \"all\" }", "`sut.x.framing.counts`"),
        (
            "framing = { length = \"u16\", at = 2, head = 3 }",
            "the head is shorter than its length field says",
        ),
        ("framing = \"fixed:2\"\nendian = \"middle\"", "ioxide.toml:5: `sut.x.endian`"),
        ("framing = \"fixed:2\"\nreset = \"wipe\"", "ioxide.toml:5: `sut.x.reset`"),
        (
            "framing = \"fixed:2\"\n[sut.x.inputs]\nA = \"u8 n\"\nB = \"u9 n\"",
            "ioxide.toml:7: `sut.x.inputs.B`: `u9 n` (item 1)",
        ),
    ] {
        check(&format!("{BINARY}{lines}"), &[says]);
    }
}

#[test]
fn texts_of_many_frames_are_described() {
    let text = "kind = \"text\"\naddress = \"h:1\"\n";
    let counted = "counted = [{ frame = '(?P<n>.)', then = \"bytes\", end = \";\" }, { frame = 'x(?P<n>.)', \
                   then = \"frames\" }]";
    let content = format!(
        "[sut.x]\n{text}reset = \"none\"\n{counted}\nparts = {{ a = \"1\" }}\ninputs = {{ I = \"{{len(a)}}{{a}}\" }}"
    );
    let ProtocolConfig::Own(own) = read_system(&content, "x", &FIRST).expect("it is there").protocol else {
        panic!("text")
    };
    let MessageFormat::Text(config) = own.words else { panic!("text") };
    assert_eq!(config.counted[0].then, AnnouncedFrame::Bytes { end: ";".into() });
    assert_eq!((config.counted[1].then.clone(), config.parts.len()), (AnnouncedFrame::Frames, 1));
    for (lines, says) in [
        ("counted = { frame = '(?P<n>.)' }", "`sut.x.counted.then` is missing"),
        ("counted = { frame = '(?P<n>.)', then = \"lines\" }", "write \\\"bytes\\\", "),
        (
            "counted = { frame = 'x', then = \"bytes\" }",
            "ioxide.toml:4: `sut.x.counted`: `x` needs one named group",
        ),
        ("counted = 3", "expected a table"),
        ("more = '('", "ioxide.toml:4: `sut.x.more`: regex parse error"),
        ("[sut.x.outputs]\nA = 'a'\nB = '('", "ioxide.toml:6: `sut.x.outputs.B`: regex parse error"),
        ("[sut.x.inputs]\nA = '{'", "ioxide.toml:5: `sut.x.inputs.A`: a brace alone"),
        ("[sut.x.parts]\nA = '{len()}'", "ioxide.toml:5: `sut.x.parts.A`"),
        ("counted = { frame = '(?P<n>.)', then = \"pairs\", end = \"x\" }", "only bytes have an end mark"),
        ("[sut.x.items.a]\npattern = 'x'\ncases = { b = { each = 'y' } }", "it belongs to each case"),
        ("[sut.x.items.a.cases]\nb = { patern = 'y' }", "mean `pattern`"),
        ("[sut.x.items.a.cases]\nb = { pattern = '(' }", "ioxide.toml:4: `sut.x.items.a`: regex parse error"),
        ("reset = [\"A\", \"none\"]", "are single words, not items of a list"),
        ("reset = []", "needs at least one"),
    ] {
        check(&format!("{text}{lines}"), &[says]);
    }
}

#[test]
fn a_reset_may_take_several_messages() {
    let content = "[sut.x]\nkind = \"text\"\naddress = \"h:1\"\nreset = [\"LOGIN\", \"CLEAR\"]";
    let found = read_system(content, "x", &FIRST).expect("it is there");
    let ProtocolConfig::Own(own) = found.protocol else { panic!("text") };
    assert_eq!(
        (own.reset, found.renewal),
        (vec![ResetStep::new_plain("LOGIN"), ResetStep::new_plain("CLEAR")], SystemRenewal::Own)
    );
}

#[test]
fn the_first_mistake_of_a_file_is_found_without_a_name() {
    let mistake = |content: &str| {
        Project::parse(content)
            .and_then(|project| project.check())
            .err()
            .map(|error| format!("{error}; {}", error.help().unwrap_or_default()))
    };
    assert_eq!(mistake(CONTENT), None);
    assert_eq!(mistake(""), None);
    assert!(mistake("[sut").is_some_and(|told| told.contains("ioxide.toml:1")));
    let typo = format!("{CONTENT}\n[sut.b]\nkind = \"text\"\naddress = \"h:1\"\nreset = {{ sned = \"X\" }}");
    assert!(mistake(&typo).is_some_and(|told| told.contains("`sut.b.reset.sned`")), "{:?}", mistake(&typo));
}

#[test]
fn a_reset_says_what_its_answer_must_be() {
    let steps = |reset: &str| {
        let content = format!("[sut.x]\nkind = \"text\"\naddress = \"h:1\"\nreset = {reset}");
        let found = read_system(&content, "x", &FIRST).expect(reset);
        assert_eq!(found.renewal, SystemRenewal::Own);
        let ProtocolConfig::Own(own) = found.protocol else { panic!("text") };
        own.reset
    };
    let step = |send: Option<&str>, expect: Option<&str>| ResetStep {
        send: send.map(str::to_owned),
        expect: expect.map(str::to_owned),
    };
    assert_eq!(steps("{ send = \"NICK a\", expect = '001 .*' }"), [step(Some("NICK a"), Some("001 .*"))]);
    assert_eq!(
        steps("[{ expect = '220 .*' }, \"RSET\", { send = \"X\" }]"),
        [step(None, Some("220 .*")), step(Some("RSET"), None), step(Some("X"), None)]
    );
    let text = "kind = \"text\"\naddress = \"h:1\"\n";
    check(&format!("{text}reset = {{ sned = \"X\" }}"), &["`sut.x.reset.sned`", "mean `send`"]);
    check(&format!("{text}reset = {{}}"), &["`sut.x.reset`", "`send`, `expect` or both"]);
    check(&format!("{text}reset = {{ send = \"X\", expect = '(' }}"), &["`sut.x.reset.expect`", "regex"]);
    check(&format!("{text}reset = [{{ send = \"X\" }}, \"restart\"]"), &["are single words"]);
    check(&format!("{text}reset = true"), &["expected a string, a table"]);
}

#[test]
fn a_reset_by_requests_says_what_their_answers_must_be() {
    let http = "kind = \"http\"\nurl = \"http://h:1\"\n";
    let steps = |reset: &str| {
        let found = read_system(&format!("[sut.x]\n{http}reset = {reset}"), "x", &FIRST).expect(reset);
        let ProtocolConfig::Http(protocol) = found.protocol else { panic!("HTTP") };
        protocol.reset
    };
    let all = steps(
        "[{ method = \"POST\", path = \"/login\", expect = { status = 201, json = { \"/ok\" = \"true\" } } }, \
         { path = \"/wipe\", expect = 'done' }, { path = \"/ws\", websocket = true, send = \"CLEAR\", expect = 'ok' }]",
    );
    let [login, wipe, socket] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&login.expect.status[..], login.expect.json.len()), (&["201".to_owned()][..], 1));
    assert_eq!(
        (&wipe.expect.status[..], wipe.expect.body.as_deref()),
        (&["2xx".to_owned()][..], Some("done"))
    );
    assert_eq!((&socket.expect.status[..], socket.send.as_deref()), (&["101".to_owned()][..], Some("CLEAR")));
    let wrong = |reset: &str, says: &[&str]| check(&format!("{http}reset = {reset}"), says);
    wrong("{ path = \"/\", expect = { stauts = 1 } }", &["`sut.x.reset.expect.stauts`", "mean `status`"]);
    wrong("{ path = \"/\", expect = { status = 9 } }", &["`sut.x.reset.expect`", "not a status"]);
    wrong("{ path = \"/\", expect = '(' }", &["`sut.x.reset.expect`", "regex"]);
    wrong("{ path = \"/\", send = \"X\" }", &["`sut.x.reset.send`", "websocket = true"]);
    wrong("{ over = \"OPEN\", body = \"X\" }", &["`sut.x.reset.over`", "WebSocket of its own"]);
    wrong("[\"X\"]", &["`sut.x.reset`", "a step is a request"]);
    wrong("[]", &["`sut.x.reset`", "needs at least one"]);
}

#[test]
fn encryption_is_described() {
    let tls =
        |lines: &str| read_system(&format!("[sut.x]\n{lines}"), "x", &FIRST).map(|x| x.tls).expect(lines);
    let tcp = "kind = \"tcp\"\naddress = \"h:1\"\n";
    assert_eq!(tls(tcp), None);
    assert_eq!(tls(&format!("{tcp}tls = false")), None);
    assert_eq!(tls(&format!("{tcp}tls = true")), Some(TlsConfig::default()));
    let some =
        tls(&format!("{tcp}tls = {{ ca = \"ca.pem\", name = \"n\", certificate = \"c\", key = \"k\" }}"));
    let identity = Some(("c".into(), "k".into()));
    assert_eq!(
        some,
        Some(TlsConfig { roots: Roots::File("ca.pem".into()), name: Some("n".into()), identity })
    );
    let https = "kind = \"http\"\nurl = \"https://h\"\nreset = \"none\"\n";
    assert_eq!(tls(https), Some(TlsConfig::default()));
    assert_eq!(
        tls(&format!("{https}tls = {{ insecure = true }}")).map(|tls| tls.roots),
        Some(Roots::Anybody)
    );
    for (lines, says) in [
        (format!("{tcp}tls = 1"), "ioxide.toml:4: `sut.x.tls`: expected true or false"),
        (format!("{tcp}tls = {{ cca = \"x\" }}"), "did you mean `ca`?"),
        (format!("{tcp}tls = {{ ca = \"x\", insecure = true }}"), "`sut.x.tls.insecure`"),
        (format!("{tcp}tls = {{ key = \"x\" }}"), "it needs its `certificate`"),
        (
            "kind = \"text\"\ncommand = \"x\"\ntls = true".to_owned(),
            "ioxide.toml:4: `sut.x.tls`: only a connection",
        ),
        ("kind = \"http\"\nurl = \"http://h\"\ntls = true".to_owned(), "does not begin with `https`"),
    ] {
        check(&lines, &[says]);
    }
}

#[test]
fn what_may_be_a_mistake_is_told_with_its_line() {
    let told = |lines: &str| {
        let source = SystemSource::from_project(
            Arc::new(Project::parse(format!("[sut.x]\n{lines}")).expect("TOML")),
            "x",
        );
        source.warnings().expect(lines).join("\n")
    };
    let text = "kind = \"text\"\ncommand = \"x\"\n";
    assert_eq!(told(&format!("{text}outputs = {{ A = 'a', REST = '.*' }}")), "");
    let shadowed = told(&format!("{text}[sut.x.outputs]\nREST = '.*'\nOK = 'ok'"));
    assert_eq!(
        shadowed,
        "ioxide.toml:6: `OK` never matches: `REST`, which comes first, takes every text that it would match"
    );
    let layouts = told(
        "kind = \"binary\"\ncommand = \"x\"\nframing = \"fixed:1\"\noutputs = { A = \"u8 n\", B = \"0x01\" }",
    );
    assert!(layouts.starts_with("ioxide.toml:5: no constant distinguishes `A` from `B`"), "{layouts}");
    let http = "kind = \"http\"\nurl = \"http://h\"\nreset = \"none\"\n[sut.x.outputs]\n";
    let same =
        told(&format!("{http}A = {{ status = 200 }}\nB = {{ status = 200, json = {{ \"/a\" = \"b\" }} }}"));
    assert_eq!(
        same,
        "ioxide.toml:7: `B` never matches: `A`, which comes first, takes every text that it would match"
    );
    assert_eq!(
        told(&format!("{http}B = {{ status = 200, json = {{ \"/a\" = \"b\" }} }}\nA = {{ status = 200 }}")),
        ""
    );
    assert_eq!(told(&format!("{http}A = {{ status = 200, to = \"X\" }}\nB = {{ status = 200 }}")), "");
    let insecure = told("kind = \"text\"\naddress = \"h:1\"\ntls = { insecure = true }\nreset = \"none\"");
    assert!(insecure.starts_with("ioxide.toml:4: `insecure`: the certificate"), "{insecure}");
}

#[test]
fn names_that_are_not_there_get_a_guess() {
    let told =
        |content: &str, name: &str| format!("{:?}", read_system(content, name, &FIRST).expect_err(name));
    assert!(told(CONTENT, "addder").contains("did you mean `adder`?"));
    assert!(told(CONTENT, "toaster").contains("adder, server"));
    assert!(told("", "toaster").contains("[sut.toaster]"));
    assert!(told("[suts.a]", "a").contains("no key `suts`"));
}

const HTTP: &str = r#"
[sut.x]
kind = "http"
url = "http://127.0.0.1:{port}/v1"
start = "serve {port}"
ready = "http://127.0.0.1:{port}/health"
reset = { method = "DELETE", path = "/keys" }
headers = { Authorization = "Bearer x" }
limit_ms = 700
message_ms = 9000

[sut.x.inputs]
PUT = { method = "PUT", path = "/keys/{k}", body = "{v}" }
GET = { path = "/keys/{k}" }

[sut.x.outputs]
VALUE = { status = 200, fields.v = "/value" }
OK = { status = ["204", 201] }
"#;

#[test]
fn requests_and_answers_are_described() {
    let x = read_system(HTTP, "x", &FIRST).expect("it is there");
    assert_eq!((&x.spec, x.limit), (&SutSpec::Tcp("127.0.0.1:7".into()), Some(Duration::from_millis(700))));
    assert_eq!(x.message_limit, Some(Duration::from_secs(9)));
    let ProtocolConfig::Http(protocol) = x.protocol else { panic!("it speaks HTTP") };
    assert_eq!(protocol.url.base, "/v1");
    let methods: Vec<&str> =
        protocol.http.inputs.iter().map(|(_, request)| request.method.as_str()).collect();
    assert_eq!(methods, ["PUT", "GET"]);
    // In the order of the file, not of the names.
    let outputs: Vec<&str> = protocol.http.outputs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(outputs, ["VALUE", "OK"]);
    assert_eq!(protocol.http.outputs[1].1.status, ["204", "201"]);
    assert_eq!(protocol.http.outputs[0].1.fields, [("v".to_owned(), "/value".to_owned())]);
    let [HttpResetStep { request, send: None, expect }] = &protocol.reset[..] else { panic!("{protocol:?}") };
    assert_eq!((request.method.as_str(), &expect.status), ("DELETE", &vec!["2xx".to_owned()]));
    let http = "kind = \"http\"\nurl = \"http://h:1\"\n";
    check(http, &["ioxide.toml:2", "initial state", "restart", "reset_command", "reconnect", "none"]);
    check(&format!("{http}reset = \"soon\""), &["ioxide.toml:4", "`sut.x.reset`", "none", "reconnect"]);
    check(&format!("{http}reset = {{ pth = \"/\" }}"), &["`sut.x.reset.pth`", "mean `path`"]);
    check("kind = \"http\"\nurl = \"ftp://h:1\"", &["ioxide.toml:3", "https://HOST:PORT"]);
}

#[test]
fn resets_are_described() {
    let stdio = "[sut.x]\nkind = \"stdio\"\ncommand = \"x\"\n";
    let renewal =
        |line: &str| read_system(&format!("{stdio}{line}"), "x", &FIRST).map(|x| x.renewal).expect(line);
    assert_eq!(renewal(""), SystemRenewal::Own);
    assert_eq!(renewal("reset = \"restart\""), SystemRenewal::Restart);
    assert_eq!(renewal("reset_command = \"wipe {port}\""), SystemRenewal::Command("wipe 7".into()));
    let stdio = "kind = \"stdio\"\ncommand = \"x\"\n";
    check(&format!("{stdio}reset = \"x\""), &["ioxide.toml:4", "restart"]);
    check(&format!("{stdio}reset = \"restart\"\nreset_command = \"x\""), &["ioxide.toml:5", "already"]);
}

/// Defect: without `reset` the state of a text server leaked into the second run.
#[test]
fn a_server_never_keeps_its_state_unasked() {
    let renewal = |lines: &str| {
        let content = format!("[sut.x]\nkind = \"text\"\naddress = \"127.0.0.1:{{port}}\"\n{lines}");
        read_system(&content, "x", &FIRST).map(|x| x.renewal).expect(lines)
    };
    assert_eq!(renewal("start = \"serve\""), SystemRenewal::Restart);
    assert_eq!(renewal("start = \"serve\"\nreset = \"CLEAR\""), SystemRenewal::Own);
    assert_eq!(renewal("reset = \"none\""), SystemRenewal::Own);
    assert_eq!(renewal("reset = \"reconnect\""), SystemRenewal::Own);
    assert_eq!(renewal("reset_command = \"wipe\""), SystemRenewal::Command("wipe".into()));
    let server = "kind = \"text\"\naddress = \"h:1\"\n";
    check(
        server,
        &["ioxide.toml:2", "initial state", "CLEAR", "`start`", "reset_command", "reconnect", "none"],
    );
    check(&format!("{server}reset = \"restart\""), &["ioxide.toml:4", "`start`"]);
    let http = read_system("[sut.x]\nkind = \"http\"\nurl = \"http://h:1\"\nstart = \"serve\"", "x", &FIRST);
    assert_eq!(http.expect("it is restarted").renewal, SystemRenewal::Restart);
    let child = "[sut.x]\nkind = \"text\"\ncommand = \"serve\"";
    assert_eq!(read_system(child, "x", &FIRST).expect("it is started").renewal, SystemRenewal::Own);
    check("kind = \"text\"\ncommand = \"x\"\nreset = \"none\"", &["ioxide.toml:4", "afresh"]);
    check("kind = \"tcp\"\naddress = \"h:1\"\nreset = \"restart\"", &["ioxide.toml:4", "`start`"]);
}

/// Defect: with `command` and `start` only the command was restarted, and the state of the server leaked into run 2.
#[test]
fn a_command_beside_a_server_is_restarted_with_it_unless_the_file_says_otherwise() {
    let renewal = |lines: &str| {
        let content = format!("[sut.x]\n{lines}");
        read_system(&content, "x", &FIRST).map(|x| x.renewal).expect(lines)
    };
    for kind in ["stdio", "text", "binary"] {
        let framing = if kind == "binary" { "framing = \"fixed:1\"\n" } else { "" };
        let system = format!("kind = \"{kind}\"\n{framing}command = \"client\"\n");
        let otherwise = if kind == "stdio" { "adapter" } else { "command" };
        assert_eq!(renewal(&system), SystemRenewal::Own, "{kind}");
        assert_eq!(renewal(&format!("{system}start = \"serve\"")), SystemRenewal::Restart, "{kind}");
        let said = format!("{system}start = \"serve\"\nreset = \"{otherwise}\"");
        assert_eq!(renewal(&said), SystemRenewal::Own, "{kind}");
        let command = format!("{system}start = \"serve\"\nreset_command = \"wipe\"");
        assert_eq!(renewal(&command), SystemRenewal::Command("wipe".into()), "{kind}");
    }
    let text = "kind = \"text\"\ncommand = \"client\"\nstart = \"serve\"\nreset = \"CLEAR\"";
    assert_eq!(renewal(text), SystemRenewal::Own, "a text that resets it is said");
    let several = "kind = \"text\"\nstart = \"serve\"\n[sut.x.connections.c]\ncommand = \"client\"\n\
        inputs = { GO = \"GO\" }";
    assert_eq!(renewal(several), SystemRenewal::Restart);
    // An adapter that was started itself knows how to reset the system, or says that it does not.
    let tcp = "kind = \"tcp\"\naddress = \"h:1\"\nstart = \"serve\"";
    assert_eq!(renewal(tcp), SystemRenewal::Own);
    check(
        "kind = \"text\"\naddress = \"h:1\"\nreset = \"command\"",
        &["ioxide.toml:4", "neither a `command`"],
    );
    check("kind = \"text\"\ncommand = \"x\"\nreset = \"adapter\"", &["ioxide.toml:4", "no adapter"]);
}

#[test]
fn a_server_has_time_to_listen() {
    let x = |lines: &str| {
        read_system(&format!("[sut.x]\nkind = \"tcp\"\naddress = \"h:1\"\n{lines}"), "x", &FIRST)
            .expect(lines)
    };
    assert_eq!(x("").reach, Duration::from_millis(REACH_MS));
    assert_eq!(x("ready_ms = 7").reach, Duration::from_millis(7));
    let started = x("start = \"serve\"");
    assert_eq!(started.reach, Duration::from_millis(READY_MS));
    let server = started.server.expect("it is started");
    let address = ListenAddress::Tcp("h:1".into());
    assert_eq!((server.ready, server.address), (ServerReadiness::Port(address.clone()), Some(address)));
    check("kind = \"tcp\"\naddress = \"h:1\"\nready = \"line:up\"", &["ioxide.toml:4", "`start`"]);
    check("kind = \"stdio\"\ncommand = \"x\"\nready_ms = 1", &["ioxide.toml:4", "`start`"]);
}

#[test]
fn quiescence_has_times_by_message_and_state() {
    let text = "model M { input ping output pong state WAITING { on ping emit pong } }";
    let mut sources = ioxide_model::source::Sources::new();
    let file = sources.add("m.iox", text);
    let model =
        ioxide_lang::load(&sources, file, &ioxide_lang::LoadOptions::default()).model.expect("a model");
    let times = |lines: &str| {
        let content = format!("[sut.x]\nkind = \"stdio\"\ncommand = \"x\"\n{lines}");
        read_system(&content, "x", &FIRST).expect(lines).quiescence
    };
    let ms = Duration::from_millis;
    let some = times("[sut.x.silence]\ndefault = 50\nafter.ping = 500\nin.WAITING = 2000");
    assert_eq!(some.default, Some(50));
    let resolved = some.resolve(&model).expect("known names");
    assert_eq!((resolved.after[0].1, resolved.within[0].1), (ms(500), ms(2000)));
    for (line, near) in [("after.pnig = 5", "ping"), ("in.WAITNG = 5", "WAITING")] {
        let wrong = times(&format!("[sut.x.silence]\n{line}")).resolve(&model).expect_err(line);
        assert!(format!("{wrong:?}").contains(&format!("did you mean `{near}`?")), "{wrong:?}");
    }
    let stdio = "kind = \"stdio\"\ncommand = \"x\"\n";
    check(&format!("{stdio}silence = {{ defualt = 1 }}"), &["`sut.x.silence.defualt`", "mean `default`"]);
    check(&format!("{stdio}silence_ms = 1\nsilence = {{}}"), &["ioxide.toml:5", "already"]);
    check(&format!("{stdio}quiescence_ms = 1\nsilence_ms = 1"), &["ioxide.toml:4", "already"]);
    // The old names.
    assert_eq!(times("quiescence_ms = 70").default, Some(70));
    assert_eq!(times("[sut.x.quiescence]\ndefault = 50\nafter.ping = 500\nin.WAITING = 2000"), some);
}

const SEVERAL: &str = r#"
[sut.board]
kind = "text"
reset = "reconnect"
[sut.board.connections.alice]
address = "127.0.0.1:{port}"
inputs = { POST = "POST" }
[sut.board.connections.bob]
kind = "tcp"
address = "127.0.0.1:9"
messages = ["NOTE"]
"#;

#[test]
fn a_system_may_have_several_connections() {
    let board = read_system(SEVERAL, "board", &FIRST).expect("it is there");
    let told: Vec<(&str, &SutSpec, &[String])> = board
        .connections
        .iter()
        .map(|connected| (connected.name.as_str(), &connected.spec, &connected.messages[..]))
        .collect();
    assert_eq!(
        told,
        [
            ("alice", &SutSpec::Tcp("127.0.0.1:7".into()), &["POST".to_owned()][..]),
            ("bob", &SutSpec::Tcp("127.0.0.1:9".into()), &["NOTE".to_owned()][..]),
        ]
    );
    assert_eq!(board.connections[1].protocol, ProtocolConfig::Protocol);
    assert_eq!(board.renewal, SystemRenewal::Own);
}

#[test]
fn mistakes_in_connections_are_told_with_their_place() {
    let wrong = |change: [&str; 2], says: &str| {
        let told = format!(
            "{:?}",
            read_system(&SEVERAL.replace(change[0], change[1]), "board", &FIRST).expect_err(says)
        );
        assert!(told.contains(says), "should say `{says}`: {told}");
    };
    wrong(["[\"NOTE\"]", "[\"POST\"]"], "`POST` travels by another connection already");
    wrong(["messages = [\"NOTE\"]", ""], "no message travels by it");
    wrong(["reset = \"reconnect\"", ""], "`reset` is missing");
    wrong(["reset = \"reconnect\"", "reset = \"CLEAR\""], "a reset by messages belongs to a connection");
    wrong(["messages =", "reset = \"restart\"\nmessages ="], "there is no key");
    wrong(["inputs =", "reset = \"restart\"\ninputs ="], "this is a setting of the whole system");
    wrong(["kind = \"text\"", "kind = \"text\"\naddress = \"127.0.0.1:1\""], "there is no key");
    wrong(["kind = \"tcp\"", "kind = \"model\""], "it has no connections");
}

/// Defect: the message that there is no key `command` listed `command` among the keys that there are.
#[test]
fn a_key_of_another_kind_is_told_without_itself() {
    let told = |lines: &str| {
        let error = read_system(&format!("[sut.x]\n{lines}"), "x", &FIRST).expect_err("a wrong key");
        (error.to_string(), error.help().unwrap_or_default().to_owned())
    };
    let (message, help) = told("kind = \"http\"\nurl = \"http://h:1\"\ncommand = \"serve\"");
    assert!(message.contains("has no `command`") && help.contains("`start = "), "{message} {help}");
    let (message, help) = told("kind = \"text\"\naddress = \"h:1\"\nbaud = 9600");
    assert!(message.contains("no key `sut.x.baud`") && !help.contains("baud"), "{message} {help}");
}

#[test]
fn secrets_are_found_by_name_and_named_ones_must_be_there() {
    let http = "kind = \"http\"\nurl = \"http://h:1\"\nreset = \"reconnect\"\n";
    let shown = |lines: &str, text: &str| {
        let content = format!("[sut.x]\n{http}{lines}");
        read_system(&content, "x", &FIRST).expect(lines).secrets.hide(text)
    };
    let headers = "headers = { Authorization = \"Bearer 0123456789\", X-Trace = \"abcdefghij\" }";
    assert_eq!(shown(headers, "0123456789 abcdefghij"), "*** abcdefghij");
    let marked = format!("{headers}\nsecrets = [\"x-trace\", \"login.pin\"]");
    assert_eq!(shown(&marked, "0123456789 abcdefghij"), "*** ***");
    assert_eq!(shown("environment = { DB_PASSWORD = \"hunter22\" }", "it is hunter22"), "it is ***");
    check(&format!("{http}secrets = [\"x-trace\"]"), &["ioxide.toml:5", "cookie or variable `x-trace`"]);
}

/// Project files that are broken anywhere give a message, never a panic.
#[test]
fn any_broken_project_file_gives_an_answer() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for system in ["http", "redis", "lamp", "atm"] {
        let text = fs::read_to_string(folder.join(system).join(FILE)).expect("a project file");
        let names: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("[sut.")?.split([']', '.']).next()).collect();
        assert!(!names.is_empty(), "{system}");
        let ends: Vec<usize> = (0..text.len()).filter(|&at| text.is_char_boundary(at)).step_by(7).collect();
        for (n, &at) in ends.iter().enumerate() {
            let later = ends.get(n + 1 + n % 5).copied().unwrap_or(text.len());
            for broken in [text[..at].to_owned(), format!("{}{}", &text[..at], &text[later..])] {
                let _ = read_system(&broken, names[n % names.len()], &FIRST);
            }
        }
    }
}

/// Defect: every setting that was asked for took a port.
#[test]
fn a_setting_takes_no_port_and_an_instance_takes_one() {
    let source = SystemSource::from_project(Arc::new(Project::parse(CONTENT).expect("TOML")), "server");
    let settings = source.describe(&Instances::default()).expect("it is there");
    assert_eq!(settings.spec, SutSpec::Tcp("127.0.0.1:0".into()), "nothing listens at port 0");
    assert_eq!(source.describe(&Instances::default()).expect("it is there"), settings);
    let started = source.describe_instance(0, &Instances::default()).expect("there is a port");
    assert_ne!(started.spec, settings.spec);
}

/// Defect: a misspelt `kind` was said to be missing.
#[test]
fn a_misspelt_kind_is_an_unknown_key() {
    check("knd = \"stdio\"\ncommand = \"x\"", &["ioxide.toml:2", "no key `sut.x.knd`", "mean `kind`"]);
    check("command = \"x\"\nkidn = \"stdio\"", &["ioxide.toml:3", "no key `sut.x.kidn`", "mean `kind`"]);
    let top = Project::parse("[stu.x]\nkind = \"stdio\"").and_then(|project| project.check());
    let error = top.expect_err("there is no such table");
    assert_eq!(
        (error.to_string().as_str(), error.help()),
        ("ioxide.toml:1: there is no key `stu`", Some("did you mean `sut`?"))
    );
}

#[test]
fn a_system_of_any_kind_but_a_model_may_be_synchronous() {
    let described = |text: &str| {
        let source = SystemSource::from_project(Project::parse(text).expect("a project").into(), "s");
        source.describe(&Instances::default()).map(|system| system.synchronous)
    };
    let stdio = "[sut.s]\nkind = \"stdio\"\ncommand = \"run\"\n";
    assert_eq!(described(stdio), Ok(false));
    assert_eq!(described(&format!("{stdio}synchronous = true")), Ok(true));
    let error = described(&format!("{stdio}synchronous = \"yes\"")).expect_err("it is refused").to_string();
    assert!(error.contains("synchronous") && error.contains("expected true or false"), "{error}");
    let model = "[sut.s]\nkind = \"model\"\nfile = \"m.iox\"\nsynchronous = true";
    assert!(described(model).is_err(), "the silence of a model that is played is known");
}

#[test]
fn the_body_of_a_request_may_be_a_table() {
    let http = "kind = \"http\"\nurl = \"http://h\"\nreset = \"none\"\n";
    let body = |body: &str| {
        let lines = format!("[sut.x]\n{http}inputs = {{ A = {{ path = \"/\", body = {body} }} }}");
        let found = read_system(&lines, "x", &FIRST).expect(body);
        let ProtocolConfig::Http(protocol) = found.protocol else { panic!("HTTP") };
        protocol.http.inputs[0].1.body.clone().expect(body)
    };
    assert_eq!(
        body("{ name = \"{name}\", count = 3, is = true, at = [1.5, \"a\\\"b\"], deep = { x = \"y\" } }"),
        r#"{{"name": {name}, "count": 3, "is": true, "at": [1.5, "a\"b"], "deep": {{"x": "y"}}}}"#
    );
    assert_eq!(body("'plain'"), "plain");
    let wrong = format!("{http}inputs = {{ A = {{ path = \"/\", body = {{ name = \"to {{name}}\" }} }} }}");
    check(&wrong, &["`sut.x.inputs.A.body`", "a field stands alone", "with `{{` and `}}` for the braces"]);
}

#[test]
fn basic_authentication_is_made_of_two_variables() {
    let http = "kind = \"http\"\nurl = \"http://h\"\nreset = \"none\"\n";
    let wrong = format!("{http}headers = {{ Authorization = \"Basic ${{NOT_SET_USER:NOT_SET_PASSWORD}}\" }}");
    check(&wrong, &["the variable `NOT_SET_USER` of the environment, which is not set"]);
}

#[test]
fn faults_are_read_and_several_clients_need_a_system_that_they_share() {
    let described = |text: &str| {
        let project = Arc::new(Project::parse(text).expect("it is in order"));
        SystemSource::from_project(project, "s").describe(&Instances::default())
    };
    let tcp =
        "[sut.s]\nkind = \"text\"\naddress = \"127.0.0.1:1\"\nreset = \"none\"\ninputs = { a = \"a\" }\n";
    let slow = described(&format!("{tcp}[sut.s.faults.slow]\nbegin = \"tc on\"\nend = \"tc off\""))
        .expect("it is in order");
    assert_eq!(slow.faults["slow"].end, "tc off");
    let error =
        |text: &str| described(&format!("{tcp}[sut.s.faults.{text}")).expect_err("it is refused").to_string();
    assert!(error("kill]\nbegin = \"a\"\nend = \"b\"").contains("built in"));
    assert!(error("slow]\nbegin = \"a\"").contains("end"));
    let wish = |names: &[&str]| {
        let faults: Vec<FaultKind> = names.iter().map(|name| FaultKind::from_name(name)).collect();
        clients::check_faults(&slow, &faults).map_err(|error| error.to_string())
    };
    assert_eq!(wish(&["slow", "delay", "drop", "cut"]), Ok(()));
    assert!(wish(&["kill"]).expect_err("it is refused").contains("does not start the system"));
    assert!(wish(&["slw"]).expect_err("it is refused").contains("no fault `slw`"));
    assert_eq!(clients::check_shareable(&slow), Ok(()));
    let alone = described("[sut.s]\nkind = \"stdio\"\ncommand = \"run\"").expect("it is in order");
    let refused = clients::check_shareable(&alone).expect_err("it is refused").to_string();
    assert!(refused.contains("its own system"), "{refused}");
    let opening = tcp.replace("a = \"a\"", "a = { connect = true, send = \"a\" }");
    let refused =
        clients::check_shareable(&described(&opening).expect("it is in order")).expect_err("refused");
    assert!(refused.to_string().contains("`a` opens or closes the connection"), "{refused}");
    let socket = "[sut.s]\nkind = \"http\"\nurl = \"http://h:1\"\nreset = \"none\"\n\
                  inputs = { open = { path = \"/\", websocket = true }, say = { over = \"open\", body = \"x\" } }";
    let refused = clients::check_shareable(&described(socket).expect("it is in order")).expect_err("refused");
    assert!(
        refused.to_string().contains("`say` needs the WebSocket that the input `open` opens"),
        "{refused}"
    );
    let common = "[sut.s]\nkind = \"http\"\nurl = \"http://h:1\"\nreset = \"none\"\n\
                  on_connect = { path = \"/\", websocket = true }\n\
                  inputs = { say = { over = \"on_connect\", body = \"x\" } }";
    let common = described(common).expect("it is in order");
    assert_eq!(clients::check_shareable(&common), Ok(()));
    let ProtocolConfig::Http(http) = &common.protocol else { panic!("{common:?}") };
    assert!(http.http.begins_with_websocket && http.on_connect.len() == 1);
    // With several connections, each of them must do for a fault of the network.
    let several = |address: &str| {
        let text = format!(
            "[sut.s]\nkind = \"text\"\nreset = \"none\"\n[sut.s.connections.one]\naddress = \"127.0.0.1:1\"\n\
             inputs = {{ a = \"a\" }}\n[sut.s.connections.other]\naddress = \"{address}\"\ninputs = {{ b = \"b\" }}"
        );
        let described = described(&text).expect("it is in order");
        assert_eq!(clients::check_shareable(&described), Ok(()));
        clients::check_faults(&described, &[FaultKind::Delay]).is_ok()
    };
    assert!(several("127.0.0.1:2") && !several("unix:/tmp/x"));
}

/// Defect: "expected a string", and an unknown key, with no way on.
#[test]
fn tables_for_bodies_and_messages_of_adapters_get_a_hint() {
    let http = "kind = \"http\"\nurl = \"http://h:1\"\nreset = \"none\"\n";
    check(
        &format!("{http}outputs.A = {{ status = 200, body = {{ id = \"{{id}}\" }} }}"),
        &["`sut.x.outputs.A.body`", "a pattern", "fields = { NAME"],
    );
    for key in ["inputs", "outputs"] {
        let text = format!("kind = \"tcp\"\naddress = \"h:1\"\n{key}.A = \"a\"");
        check(&text, &["`sut.x.kind`", "`tcp` is an adapter", "messages of its own"]);
    }
}

#[test]
fn access_tokens_come_from_the_service_or_from_the_host_that_is_named() {
    let token = |url: &str, more: &str| -> Result<String, String> {
        let text = format!(
            "[sut.s]\nkind = \"http\"\nurl = \"http://h:1/v1\"\nreset = \"none\"\n\
             token = {{ url = \"{url}\", {more} }}\n"
        );
        let described: DescribedSystem =
            read_system(&text, "s", &FIRST).map_err(|error| error.to_string())?;
        match described.protocol {
            ProtocolConfig::Http(http) => Ok(http.http.token.expect("it is described").url),
            other => panic!("{other:?}"),
        }
    };
    let user = "grant = \"password\", user = \"ann\", password = \"secret\"";
    assert_eq!(token("/oauth/token", user), Ok("http://h:1/oauth/token".to_owned()));
    assert_eq!(token("https://login.example.org/t/", user), Ok("https://login.example.org/t/".to_owned()));
    for (url, more, says) in [
        ("//other/t", user, "is not an address"),
        ("token", user, "is not an address"),
        ("/t", "grant = \"implicit\"", "write \"password\" or \"client_credentials\""),
        ("/t", "grant = \"client_credentials\"", "`client` and `secret` are missing"),
        ("/t", "grant = \"client_credentials\", user = \"a\"", "has no user"),
        (
            "/t",
            "grant = \"password\", user = \"${NO_SUCH_VARIABLE_HERE}\", password = \"p\"",
            "which is not set",
        ),
        (
            "/t",
            "grant = \"password\", user = \"a\", password = \"p\", tls = true",
            "does not begin with `https`",
        ),
    ] {
        let error = token(url, more).expect_err("it is refused");
        assert!(error.contains(says), "should say `{says}`: {error}");
    }
}
