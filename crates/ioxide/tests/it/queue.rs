//! A queue in this process: right, wrong in several ways, and the panic that tells it.

use std::fs;
use std::time::Duration;

use ioxide::{CheckFailure, GivenInput, InProcess, ModelFile, Outputs, TesterChoice, check, json};
use ioxide_lang::{LoadOptions, load};
use ioxide_model::goal::PathStep;
use ioxide_model::source::Sources;
use ioxide_report::case::CaseView;
use ioxide_report::case::json::{CaseSmt, case_json};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::case::{CaseConfig, generate};

const MODEL: &str = "model Queue {
    input push(n: 0..9, name: string?)
    input pop
    output ok
    output value(n: int, name: string?)
    output empty
    record Item { n: int, name: string? }
    var items: list<Item> = []
    state ready {
        push: on push when items.length() < 4 { items = items + [Item(n: n, name: name)] } -> pushed
        pop: on pop -> popped
    }
    state pushed { ok: emit ok -> ready }
    state popped {
        none_left: emit empty when items.is_empty() -> ready
        give: emit value(n: first.n, name: first.name)
            when let some(first) = items.first()
            { items = items.drop(1) }
            -> ready
    }
    purpose two: push, ok, push, ok, pop, give
    purpose asked: reach popped
    test \"first in, first out\" {
        send push(n: 1, name: none)
        expect ok
        send pop
        expect value(n: 1, name: none)
    }
}";

#[derive(Clone, Copy, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    NewestFirst,
    Panics,
    Silent,
    WrongShape,
}

#[derive(Default)]
struct Queue {
    fault: Fault,
    items: Vec<(i64, Option<String>)>,
}

impl InProcess for Queue {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        match input.name() {
            "push" => {
                self.items.push((input.int("n"), input.get("name")));
                outputs.emit("ok", ());
            }
            _ if self.items.is_empty() => outputs.emit("empty", ()),
            _ => {
                let (n, name) = match (self.fault, self.items.len()) {
                    (Fault::NewestFirst, _) => self.items.pop().unwrap_or_default(),
                    (Fault::Panics, 3..) => panic!("three is too many"),
                    (Fault::Silent, 2..) => return,
                    _ => self.items.remove(0),
                };
                match self.fault {
                    Fault::WrongShape => outputs.emit("value", json!({ "n": "seven", "name": name })),
                    _ => outputs.emit("value", json!({ "n": n, "name": name })),
                }
            }
        }
    }
}

fn with(fault: Fault) -> Result<(), CheckFailure> {
    let model = ModelFile::text(MODEL);
    check(&model, || Queue { fault, ..Queue::default() }).steps(2000).try_run().map(drop)
}

#[test]
fn a_right_queue_passes_and_everything_is_taken() {
    let model = ModelFile::text(MODEL);
    let passed = check(&model, Queue::default).steps(1000).run();
    assert!(passed.steps() >= 1000 && passed.never_taken().is_empty(), "{passed:?}");
    for tester in [
        TesterChoice::Random,
        TesterChoice::Purpose("two".into()),
        TesterChoice::Tests,
        TesterChoice::Test("first in, first out".into()),
        TesterChoice::Cover,
        TesterChoice::Tour,
        "force:asked".parse().expect("a tester"),
        "purpose:two".parse().expect("a tester"),
    ] {
        let passed = check(&model, Queue::default).tester(tester).runs(3).time(Duration::from_secs(60)).run();
        assert!(passed.runs() > 0 && passed.inconclusive() == 0, "{passed:?}");
    }
}

/// The files are those that `ioxide fsm --out` and `ioxide case --format json` write.
#[test]
fn tests_are_read_from_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = ModelFile::text(SMALL);
    for (file, text) in [("door.suite", SUITE), ("door.json", &door_case())] {
        fs::write(folder.path().join(file), text).expect("it is written");
    }
    let named = |kind: &str, file: &str| -> TesterChoice {
        format!("{kind}:{}", folder.path().join(file).display()).parse().expect("a tester")
    };
    let passed = check(&model, || Door(0)).tester(named("suite", "door.suite")).run();
    assert_eq!((passed.runs(), passed.inconclusive()), (2, 0), "each test once");
    let passed = check(&model, || Door(0)).tester(named("case", "door.json")).run();
    assert_eq!((passed.runs(), passed.inconclusive()), (10, 0));
    for tester in [named("suite", "door.suite"), named("case", "door.json")] {
        let failure = check(&model, || Door(1)).tester(tester).try_run();
        assert!(failure.expect_err("it opens too early").is_verdict);
    }
}

#[test]
fn files_that_are_no_tests_of_the_model_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = ModelFile::text(SMALL);
    let case = door_case();
    for (kind, text, reason) in [
        ("suite", "", "not an ioxide suite"),
        ("suite", &SUITE.replace("\"knock\"]\n[", "\"kick\"]\n["), "test 1: "),
        ("suite", "{\"format\":\"ioxide-suite\",\"version\":1}\n", "no tests"),
        ("case", "{}", "missing field"),
        ("case", &case.replace("\"Door\"", "\"Gate\""), "a case of the model `Gate`, not of `Door`"),
        ("case", &case.replace("\"arcs\": ", "\"arcs\": 7"), "arcs, the model gives"),
        ("case", &case.replace("\"soonest\"", "\"soon\""), "`soon` is neither"),
    ] {
        let file = folder.path().join("tests");
        fs::write(&file, text).expect("it is written");
        let tester = format!("{kind}:{}", file.display()).parse().expect("a tester");
        let failure = check(&small, || Door(0)).tester(tester).try_run().expect_err("it is refused");
        assert!(!failure.is_verdict && failure.story.contains(reason), "{failure}");
    }
    for tester in ["suite:nowhere", "case:nowhere"] {
        let tester = tester.parse().expect("a tester");
        let failure = check(&small, || Door(0)).tester(tester).try_run().expect_err("no file is read");
        assert!(!failure.is_verdict && failure.story.contains("`nowhere`: "), "{failure}");
    }
}

/// Two tests: the second knocks often enough that the door opens.
const SUITE: &str = r#"{"format":"ioxide-suite","version":1,"closed":true,"answers":"one"}
["knock","knock"]
["knock","knock","knock"]
{"tests":2}
"#;

/// Returns the test case along the path of a door that opens, as `ioxide case --format json` prints it.
fn door_case() -> String {
    let mut sources = Sources::new();
    let file = sources.add("door.iox", SMALL);
    let mut model = load(&sources, file, &LoadOptions::default()).model.expect("it loads");
    let names = ["knocked", "quiet", "knocked", "quiet", "third", "opened"];
    let step = |name: &&str| PathStep::Take(model.sts.switch_named(name).expect("it is there"));
    let path: Vec<PathStep> = names.iter().map(step).collect();
    let mut solver = build_stack(&SolverConfig::default());
    let case = generate(&mut Ctx::new(&mut model, &mut solver), &path, &CaseConfig::default());
    let case = case.expect("the path can be taken");
    case_json(&CaseView { case: &case, model: &model }, &CaseSmt::default())
}

/// The tester that kills mutants needs no file, and ends by itself.
#[test]
fn mutants_of_the_model_are_killed() {
    let model = ModelFile::text(SMALL);
    let kill = || "kill".parse().expect("a tester");
    let passed = check(&model, || Door(0)).tester(kill()).run();
    assert!(passed.runs() > 0 && passed.inconclusive() == 0, "{passed:?}");
    let failure =
        check(&model, || Door(1)).tester(kill()).try_run().expect_err("it opens one knock too early");
    assert!(failure.is_verdict, "{failure}");
}

const SMALL: &str = "model Door {
    input knock
    output opened
    output quiet
    var knocks: 0..3 = 0
    state closed {
        knocked: on knock when knocks < 2 { knocks = knocks + 1 } -> waiting
        third: on knock when knocks >= 2 { knocks = 0 } -> opening
    }
    state waiting { quiet: emit quiet -> closed }
    state opening { opened: emit opened -> closed }
}";

/// A door that opens at every third knock; the first time some knocks earlier.
struct Door(u8);

impl InProcess for Door {
    fn take(&mut self, _input: &GivenInput<'_>, outputs: &mut Outputs) {
        self.0 = (self.0 + 1) % 3;
        outputs.emit(if self.0 == 0 { "opened" } else { "quiet" }, ());
    }
}

#[test]
fn faults_are_found_and_told() {
    for (fault, says) in [
        (Fault::NewestFirst, "!value("),
        (Fault::Panics, "three is too many"),
        (Fault::Silent, "silence"),
        (Fault::WrongShape, "seven"),
    ] {
        let failure = with(fault).expect_err("it is found");
        assert!(failure.is_verdict && failure.story.contains(says), "{failure}");
        assert!(failure.to_string().contains("IOXIDE_SEED=1"), "{failure}");
    }
    let failure = with(Fault::NewestFirst).expect_err("it is found");
    assert!(failure.story.contains("minimal failing run") && failure.story.contains("tester"), "{failure}");
}

#[test]
#[should_panic(expected = "does not conform to its model")]
fn a_failure_is_a_panic() {
    let model = ModelFile::text(MODEL);
    check(&model, || Queue { fault: Fault::NewestFirst, ..Queue::default() }).run();
}

#[test]
fn the_same_seed_tells_the_same_story() {
    let once = || with(Fault::NewestFirst).expect_err("it is found").story;
    assert_eq!(once(), once());
}

#[test]
fn what_is_no_model_is_told_with_its_line() {
    let bad =
        ModelFile::named("x.iox", "model X {\n    input a\n    state s { on b }\n}").expect_err("no model");
    assert!(bad.to_string().starts_with("x.iox:3: error[E"), "{bad}");
    assert!(ModelFile::try_open("nowhere.iox").is_err());
    let model = ModelFile::text(MODEL);
    let failure = check(&model, Queue::default).tester(TesterChoice::Purpose("three".into())).try_run();
    assert!(failure.is_err_and(|failure| !failure.is_verdict));
}

/// Defect: a time beyond the range of the clock was a panic, and a check that had no time for a single step passed.
#[test]
fn any_time_is_a_limit_and_no_time_is_no_pass() {
    let model = ModelFile::text(MODEL);
    let passed = check(&model, Queue::default).runs(1).steps(20).time(Duration::MAX).run();
    assert!(passed.steps() >= 20, "{passed:?}");
    let failure = check(&model, Queue::default).time(Duration::ZERO).try_run().expect_err("nothing was run");
    assert!(!failure.is_verdict && failure.story.contains("nothing was run"), "{failure}");
}
