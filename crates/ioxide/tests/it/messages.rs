//! Messages as enums: read, sent, compared with the model, and written as a skeleton of it.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, PoisonError};

use ioxide::{
    CheckFailure, GivenInput, InProcess, IoxInput, IoxOutput, IoxValue, ModelFile, Outputs, TraceStepKind,
    check, model_skeleton,
};
use serde::{Deserialize, Serialize};

/// The buffer of `sdks.md` and of the README.
const MODEL: &str = "model Buffer {
    input put(n: 0..9)
    input get
    output ok
    output full
    output value(n: int)
    output empty
    var items: list<int> = []
    state ready {
        put: on put when items.length() < 3 { items = items + [n] } -> stored
        refuse: on put when items.length() == 3 -> refused
        get: on get -> asked
    }
    state stored { emit ok -> ready }
    state refused { emit full -> ready }
    state asked {
        emit empty when items.is_empty() -> ready
        give: emit value(n: first) when let some(first) = items.first() { items = items.drop(1) } -> ready
    }
}";

#[derive(Debug, IoxInput)]
enum Input {
    Put { n: i64 },
    Get,
}

#[derive(IoxOutput)]
enum Output {
    Ok,
    Full,
    Value { n: i64 },
    Empty,
}

#[derive(Default)]
struct Buffer {
    newest_first: bool,
    items: Vec<i64>,
}

impl InProcess for Buffer {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        outputs.send(match input.read() {
            Input::Put { n } if self.items.len() < 3 => {
                self.items.push(n);
                Output::Ok
            }
            Input::Put { .. } => Output::Full,
            Input::Get if self.items.is_empty() => Output::Empty,
            Input::Get if self.newest_first => Output::Value { n: self.items.pop().unwrap_or_default() },
            Input::Get => Output::Value { n: self.items.remove(0) },
        });
    }
}

#[test]
fn a_system_with_enums_passes() {
    let model = ModelFile::text(MODEL);
    let passed = check(&model, Buffer::default).messages::<Input, Output>().steps(500).run();
    assert!(passed.never_taken().is_empty(), "{passed:?}");
}

#[test]
fn a_failure_has_its_smallest_run_as_data() {
    let make = || Buffer { newest_first: true, ..Buffer::default() };
    let failure = check(&ModelFile::text(MODEL), make).try_run().expect_err("it is found");
    let kinds: Vec<(TraceStepKind, &str)> =
        failure.trace().iter().map(|step| (step.kind, &*step.name)).collect();
    let (i, o) = (TraceStepKind::Input, TraceStepKind::Output);
    assert_eq!(kinds, [(i, "put"), (o, "ok"), (i, "put"), (o, "ok"), (i, "get"), (o, "value")], "{failure}");
    assert_eq!(failure.forbidden(), Some(5));
    let (first, second) = (&failure.trace()[0].fields["n"], &failure.trace()[2].fields["n"]);
    assert_eq!(&failure.trace()[5].fields["n"], second);
    assert_eq!(failure.expected(), [format!("!value(n: {first})")]);
    assert!(!failure.why_not().is_empty() && failure.trace()[4].text == "?get", "{failure:?}");
    // Without a verdict there is no run.
    let unsent = check(&ModelFile::text(MODEL), make).steps(0).try_run().expect_err("nothing to run");
    assert!(!unsent.is_verdict && unsent.trace().is_empty());
}

/// Defect: the panic was told at a line of this crate.
#[test]
fn the_panic_of_a_failure_is_at_the_line_of_the_test() {
    static PLACES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let former = take_hook();
    set_hook(Box::new(move |info| {
        let place = info.location().map(|place| place.file().to_owned()).unwrap_or_default();
        PLACES.lock().unwrap_or_else(PoisonError::into_inner).push(place);
        former(info);
    }));
    let failed = catch_unwind(|| {
        check(&ModelFile::text(MODEL), || Buffer { newest_first: true, ..Buffer::default() }).run()
    });
    let unread = catch_unwind(|| ModelFile::text("model"));
    assert!(failed.is_err() && unread.is_err());
    let places = PLACES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert_eq!(places.iter().filter(|place| place.ends_with("messages.rs")).count(), 2, "{places:?}");
}

#[derive(IoxInput)]
enum OtherInput {
    #[expect(dead_code, reason = "no such input is sent")]
    Put {
        n: i64,
        name: String,
    },
    Peek,
}

#[test]
fn an_enum_that_does_not_fit_the_model_is_a_mistake_told_before_the_first_run() {
    let model = ModelFile::text(MODEL);
    let checked = check(&model, Buffer::default).messages::<OtherInput, Output>().try_run();
    let CheckFailure { story, is_verdict, .. } = checked.expect_err("it does not fit");
    assert!(!is_verdict);
    for part in [
        "the input `put` has the fields (n) in the model and (n, name) in the enum",
        "no variant for the input `get`",
        "the model has no input `peek`",
    ] {
        assert!(story.contains(part), "should say `{part}`: {story}");
    }
}

#[derive(Serialize, Deserialize, IoxValue)]
enum Colour {
    Red,
    Mixed { first: Box<Colour>, parts: u8 },
}

#[derive(Serialize, Deserialize, IoxValue)]
struct Item {
    colour: Colour,
    name: Option<String>,
    small: Option<i8>,
}

#[derive(IoxInput)]
#[iox(rename_all = "SCREAMING_SNAKE_CASE")]
enum RichInput {
    AddAll {
        items: Vec<Item>,
        index: BTreeMap<String, i64>,
    },
    #[iox(name = "CLEAR-ALL")]
    Clear,
    Find {
        #[iox(name = "key")]
        wanted: String,
    },
}

#[derive(IoxOutput)]
enum RichOutput {
    Found { item: Option<Item> },
    Done,
}

struct Rich;

impl InProcess for Rich {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        outputs.send(match input.read() {
            RichInput::AddAll { mut items, index } if index.len() < 4 => {
                RichOutput::Found { item: items.pop() }
            }
            RichInput::Find { wanted } if wanted.is_empty() => RichOutput::Found { item: None },
            RichInput::AddAll { .. } | RichInput::Clear | RichInput::Find { .. } => RichOutput::Done,
        });
    }
}

#[test]
fn a_skeleton_is_a_model_that_any_answer_fits() {
    let text = model_skeleton::<RichInput, RichOutput>("Shop");
    for part in [
        "enum Colour { Red, Mixed(first: Colour, parts: 0..255) }",
        "record Item { colour: Colour, name: string?, small: (-128..127)? }",
        "input ADD_ALL(items: list<Item>, index: map<string, int>)",
        "input `CLEAR-ALL`",
        "input FIND(key: string)",
        "output found(item: Item?)",
    ] {
        assert!(text.contains(part), "should have `{part}`:\n{text}");
    }
    let model = ModelFile::text(&text);
    let passed = check(&model, || Rich).messages::<RichInput, RichOutput>().steps(300).run();
    assert!(passed.steps() >= 300 && passed.never_taken().is_empty(), "{passed:?}");
}
