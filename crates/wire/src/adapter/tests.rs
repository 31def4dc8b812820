use std::net::TcpListener;
use std::sync::Arc;
use std::time::Instant;

use ioxide_model::sts::Model;

use super::process::ProcessAdapter;
use super::tcp::TcpAdapter;
use super::*;
use crate::samples::{VENDING, message, model, new_solver};
use crate::serve::{NewSolver, serve_tcp};

const HELLO: &str = r#"echo '{"type":"hello","protocol":1}'; read x; echo '{"type":"ready"}'; "#;

fn quick() -> RemoteConnection {
    RemoteConnection { limit: Duration::from_millis(800), ..RemoteConnection::default() }
}

fn vending() -> Arc<Model> {
    Arc::new(model(VENDING))
}

fn start(script: &str) -> Result<ProcessAdapter, AdapterError> {
    ProcessAdapter::start(script, vending(), quick())
}

/// The error of the first input or observation after the greeting.
fn trouble(script: &str) -> AdapterError {
    let mut adapter = start(&format!("{HELLO}{script}")).unwrap();
    let coin = message(&vending(), "coin", &[5]);
    let sent = adapter.reset().and_then(|()| adapter.send(&coin));
    let seen = sent.and_then(|_| adapter.observe(Duration::from_millis(400)));
    seen.expect_err("this system is in trouble")
}

#[test]
fn a_well_behaved_process_is_heard() {
    let script = r#"read x; echo '{"type":"output","label":"tea","raw":"TEA"}'; echo '{"type":"sent","id":1}';
        echo '{"type":"output","label":"change","args":{"n":3}}'; read x"#;
    let mut adapter = start(&format!("{HELLO}{script}")).unwrap();
    let model = vending();
    adapter.reset().unwrap();
    let before = Instant::now();
    let sent = adapter.send(&message(&model, "coin", &[5])).unwrap();
    let [tea] = &sent.earlier[..] else { panic!("{:?}", sent.earlier) };
    assert_eq!((&tea.label, tea.raw.as_deref()), (&message(&model, "tea", &[]), Some("TEA")));
    assert!(tea.at.is_some_and(|at| at > before && at < Instant::now()), "it has its own instant");
    let change = message(&model, "change", &[3]);
    assert_eq!(adapter.observe(Duration::from_secs(5)).map(Observation::label), Ok(Some(change)));
    assert_eq!(adapter.observe(Duration::from_millis(30)), Ok(Observation::Quiet));
}

/// Nobody waits for a system that says how many outputs are to come: an hour of patience takes no time.
#[test]
fn a_system_that_says_when_it_is_silent_is_not_waited_for() {
    let script = r#"read x; echo '{"type":"sent","id":1,"outputs":1}'; echo '{"type":"output","label":"tea"}'
        read x; echo '{"type":"sent","id":2}'; read x"#;
    let hello = HELLO.replace("\"ready\"", "\"ready\",\"outputs\":0");
    let mut adapter = start(&format!("{hello}{script}")).unwrap();
    let (model, hour) = (vending(), Duration::from_secs(3_600));
    adapter.reset().unwrap();
    assert!(adapter.knows_silence() && !adapter.is_synchronous());
    assert_eq!(adapter.observe(hour), Ok(Observation::Quiet));
    adapter.send(&message(&model, "coin", &[5])).unwrap();
    assert!(!adapter.knows_silence(), "an output is to come");
    let tea = message(&model, "tea", &[]);
    assert_eq!(adapter.observe(hour).map(Observation::label), Ok(Some(tea)));
    assert!(adapter.knows_silence());
    assert_eq!(adapter.observe(hour), Ok(Observation::Quiet));
    adapter.send(&message(&model, "coin", &[5])).unwrap();
    assert!(!adapter.knows_silence(), "this time it did not say");
}

#[test]
fn an_output_of_a_system_that_said_it_was_silent_gives_no_verdict() {
    let script = r#"read x; echo '{"type":"sent","id":1,"outputs":0}'; echo '{"type":"output","label":"tea"}'; read x"#;
    let mut adapter = start(&format!("{HELLO}{script}")).unwrap();
    adapter.reset().unwrap();
    adapter.send(&message(&vending(), "coin", &[5])).unwrap();
    // It comes when it comes; silence until then is what the system said.
    let error = loop {
        match adapter.observe(Duration::from_secs(10)) {
            Ok(seen) => assert_eq!(seen, Observation::Quiet),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(error, AdapterError::Protocol { ref reason, .. } if reason.contains("synchronous")),
        "{error}"
    );
}

#[test]
fn a_dead_process_is_never_silent() {
    assert!(matches!(trouble("exit 3"), AdapterError::Ended { status } if status.contains('3')));
    let died_later = r#"read x; echo '{"type":"sent","id":1}'; echo oops >&2; exit 4"#;
    assert!(matches!(trouble(died_later), AdapterError::Ended { status } if status.contains('4')));
    let orphan = r#"read x; echo '{"type":"sent","id":1}'; sleep 5 & exit 5"#;
    assert!(matches!(trouble(orphan), AdapterError::Ended { status } if status.contains('5')));
}

#[test]
fn its_error_stream_is_kept() {
    let mut adapter = start(&format!("{HELLO} read x; echo 'cannot find the tea' >&2; exit 1")).unwrap();
    adapter.send(&message(&vending(), "coin", &[5])).unwrap_err();
    let deadline = Instant::now() + Duration::from_secs(5);
    while adapter.last_words().is_empty() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert_eq!(adapter.last_words(), "cannot find the tea\n");
}

#[test]
fn nonsense_is_shown_with_the_line() {
    let error = trouble("read x; echo 'tea is ready'");
    assert!(matches!(error, AdapterError::Protocol { line, .. } if line == "tea is ready"));
    let error = trouble(r#"read x; echo '{"type":"output","label":"soup"}'"#);
    assert!(matches!(error, AdapterError::Unreadable { reason, .. } if reason.contains("no output `soup`")));
    let error = trouble(r"read x; printf '\377\376\n'");
    assert!(matches!(error, AdapterError::Protocol { reason, .. } if reason.contains("UTF-8")));
    let error = trouble("read x; head -c 3000000 /dev/zero; echo; sleep 1");
    assert!(matches!(error, AdapterError::TooLarge { reason, .. } if reason.contains("too long")));
}

#[test]
fn a_process_that_hangs_is_late() {
    assert!(matches!(trouble("sleep 30"), AdapterError::Late { awaited: AwaitedPart::Sent, .. }));
    assert!(matches!(start("sleep 30").err(), Some(AdapterError::Late { awaited: AwaitedPart::Hello, .. })));
    let no_ready = r#"echo '{"type":"hello","protocol":1}'; sleep 30"#;
    assert!(matches!(start(no_ready).err(), Some(AdapterError::Late { awaited: AwaitedPart::Ready, .. })));
}

/// Defect: what an adapter wrote between `hello` and `ready` was dropped without a word.
#[test]
fn an_output_before_the_first_ready_is_told_and_after_a_reset_belongs_to_the_run_before() {
    let tea = r#"echo '{"type":"output","label":"tea"}'; "#;
    let hello = r#"echo '{"type":"hello","protocol":1}'; "#;
    let ready = r#"echo '{"type":"ready"}'; "#;
    for script in [format!("{hello}{tea}read x; {ready}read x"), format!("{hello}read x; {tea}{ready}read x")]
    {
        let error = start(&script).err();
        let Some(AdapterError::Protocol { line, reason }) = error else { panic!("{script}: {error:?}") };
        assert!(line.contains("tea") && reason.contains("after `ready`"), "{reason}: {line}");
    }
    let receipt = r#"read x; echo '{"type":"sent","id":1}'; "#;
    let script = format!("{hello}read x; {ready}{receipt}read x; {tea}{ready}{tea}read x");
    let mut adapter = start(&script).unwrap();
    adapter.reset().unwrap();
    adapter.send(&message(&vending(), "coin", &[5])).unwrap();
    adapter.reset().unwrap();
    let tea = message(&vending(), "tea", &[]);
    assert_eq!(adapter.observe(Duration::from_secs(5)).map(Observation::label), Ok(Some(tea)));
    assert_eq!(
        adapter.observe(Duration::from_millis(30)),
        Ok(Observation::Quiet),
        "one of two was of the run before"
    );
}

#[test]
fn a_process_that_does_not_read_blocks_nobody() {
    let text = "model M { input say(text: string) state a { on say } }";
    let model = Arc::new(model(text));
    let mut adapter =
        ProcessAdapter::start(&format!("{HELLO} sleep 30"), Arc::clone(&model), quick()).unwrap();
    let gate = model.sts.gate_named("say").unwrap();
    let long = Label::Input(gate, vec![ioxide_model::value::Value::str(&"x".repeat(500_000))]);
    for _ in 0..2 {
        assert!(matches!(adapter.send(&long), Err(AdapterError::Late { awaited: AwaitedPart::Sent, .. })));
    }
}

#[test]
fn refusals_keep_their_kind() {
    let says = |kind: &str| {
        trouble(&format!(r#"read x; echo '{{"type":"error","kind":"{kind}","text":"no cups"}}'; read x"#))
    };
    assert_eq!(says("refused"), AdapterError::Refused("no cups".into()));
    assert_eq!(says("unknown"), AdapterError::Unknown("no cups".into()));
    assert_eq!(says("broken"), AdapterError::Broken("no cups".into()));
}

#[test]
fn a_missing_command_and_a_wrong_version_are_told() {
    assert!(matches!(start("/no/such/program").err(), Some(AdapterError::Ended { .. })));
    let wrong = start(r#"echo '{"type":"hello","protocol":7}'; read x"#).err();
    assert!(matches!(wrong, Some(AdapterError::Protocol { reason, .. }) if reason.contains("version 7")));
}

#[test]
fn a_flood_of_outputs_is_no_silence_and_no_hang() {
    let script = r#"while :; do echo '{"type":"output","label":"tea"}'; done"#;
    let mut adapter = start(&format!("{HELLO}{script}")).unwrap();
    let tea = message(&vending(), "tea", &[]);
    for _ in 0..100 {
        assert_eq!(adapter.observe(Duration::from_secs(5)).map(Observation::label), Ok(Some(tea.clone())));
    }
    let error = adapter.send(&message(&vending(), "coin", &[5])).unwrap_err();
    assert!(matches!(error, AdapterError::Protocol { .. } | AdapterError::Late { .. }), "{error}");
}

#[test]
fn ending_an_adapter_ends_the_grandchildren() {
    let folder = std::env::temp_dir().join(format!("ioxide-group-{}", std::process::id()));
    let mark = folder.display();
    let script = format!("sh -c 'echo $$ > {mark}; exec sleep 60' & {HELLO} cat > /dev/null");
    let adapter = start(&script).unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    let pid = loop {
        let text = std::fs::read_to_string(&folder).unwrap_or_default();
        if let Ok(pid) = text.trim().parse::<u32>() {
            break pid;
        }
        assert!(Instant::now() < deadline, "the grandchild did not start");
    };
    drop(adapter);
    std::fs::remove_file(&folder).unwrap();
    let is_gone = || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        state.map_or(true, |stat| stat.contains(") Z "))
    };
    while !is_gone() {
        assert!(Instant::now() < deadline + Duration::from_secs(5), "the grandchild lives on");
    }
}

#[test]
fn a_played_model_is_reached_by_socket() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (served, solver): (_, Arc<NewSolver>) = (vending(), Arc::new(new_solver));
    std::thread::spawn(move || serve_tcp(&listener, &served, &solver, 1, |_| ()));
    let mut adapter = TcpAdapter::connect(&address, vending(), RemoteConnection::default()).unwrap();
    let model = vending();
    for _ in 0..3 {
        adapter.reset().unwrap();
        adapter.send(&message(&model, "coin", &[5])).unwrap();
        let change = message(&model, "change", &[3]);
        assert_eq!(adapter.observe(Duration::from_secs(5)).map(Observation::label), Ok(Some(change)));
        assert!(matches!(adapter.observe(Duration::from_secs(5)), Ok(Observation::Output(_))));
        assert_eq!(adapter.observe(Duration::from_millis(20)), Ok(Observation::Quiet));
    }
}

#[test]
fn nobody_at_the_address_is_told() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let error = TcpAdapter::connect(&free, vending(), quick()).err();
    assert!(matches!(error, Some(AdapterError::Start { what, .. }) if what == free));
}

#[test]
fn systems_are_named_by_kind() {
    check("model:a.iox", Ok(SutSpec::Model("a.iox".into())));
    check("stdio:python3 a.py --x:y", Ok(SutSpec::Stdio("python3 a.py --x:y".into())));
    check("tcp:localhost:80", Ok(SutSpec::Tcp("localhost:80".into())));
    check("tcp:localhost", Err(BadSpec::BadAddress("localhost".into())));
    check("tcp:", Err(BadSpec::Empty("tcp".into())));
    check("serial:com1", Err(BadSpec::UnknownKind("serial".into())));
    let message = |kind: &str| BadSpec::UnknownKind(kind.into()).to_string();
    assert_eq!(
        message("serial"),
        "there is no kind of system `serial`; there are `model`, `stdio`, `tcp`, `unix`"
    );
    assert_eq!(message("modle"), "there is no kind of system `modle`; did you mean `model`?");
    check("a.iox", Err(BadSpec::NoKind("a.iox".into())));
}

#[track_caller]
fn check(text: &str, expected: Result<SutSpec, BadSpec>) {
    assert_eq!(text.parse(), expected);
}

/// Waits until `is_so`, for a time that a busy machine does not need.
#[cfg(target_os = "linux")]
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Defect: what left the group of a process was out of reach.
#[cfg(target_os = "linux")]
#[test]
fn ending_an_adapter_ends_what_left_its_group() {
    let file = std::env::temp_dir().join(format!("ioxide-setsid-{}", std::process::id()));
    let script =
        format!("setsid sh -c 'echo $$ > {}; exec sleep 60' & {HELLO} cat > /dev/null", file.display());
    let adapter = start(&script).unwrap();
    let pid = || std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<u32>().ok());
    until("it has started", || pid().is_some());
    let stat = format!("/proc/{}/stat", pid().unwrap());
    drop(adapter);
    std::fs::remove_file(&file).unwrap();
    assert!(std::fs::read_to_string(stat).map_or(true, |stat| stat.contains(") Z ")), "it lives on");
}

/// Defect: a process that ended at every reset was silently started again.
#[test]
fn a_process_that_ends_at_every_reset_is_told_once_and_then_an_error() {
    let model = vending();
    let mut adapter =
        start(&format!("{HELLO} read x; echo '{{\"type\":\"sent\",\"id\":1}}'; read x; exit 3")).unwrap();
    let coin = message(&model, "coin", &[5]);
    adapter.reset().unwrap();
    adapter.send(&coin).unwrap();
    assert_eq!(adapter.ended_by_itself(), None);
    adapter.reset().unwrap();
    let told = adapter.ended_by_itself().expect("it ended");
    assert!(told.contains("at its reset") && told.contains("exit status: 3"), "{told}");
    adapter.send(&coin).unwrap();
    let error = adapter.reset().unwrap_err().to_string();
    assert!(error.contains("exit status: 3") && error.contains("restart"), "{error}");
    // A run that sees the end tells it itself.
    adapter.reset().unwrap();
    adapter.ended_by_itself();
    adapter.send(&coin).unwrap();
    adapter.send(&coin).unwrap_err();
    adapter.reset().unwrap();
    assert_eq!(adapter.ended_by_itself(), None);
}
