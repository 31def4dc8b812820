//! Mistakes in a test are errors of the test: no verdict about the system follows from them.

use ioxide::{CheckFailure, GivenInput, InProcess, ModelFile, Outputs, TesterChoice, check, json};

const WIDE: &str = "9999999999999999999999";

/// A model that sends a number beyond 64 bits, and a list with one.
fn model() -> ModelFile {
    ModelFile::text(&format!(
        "model Wide {{
            input add(p: int)
            input many(all: list<int>)
            input name(s: string, yes: bool)
            output sum(p: int)
            var n: int = 0
            state s {{
                on add {{ n = n + p }} -> told
                on many -> told
                on name -> told
            }}
            state told {{ emit sum(p: n) -> s }}
            test \"wide\" {{ send add(p: {WIDE}) expect sum(p: {WIDE}) }}
            test \"list\" {{ send many(all: [{WIDE}]) expect sum(p: 0) }}
            test \"name\" {{ send name(s: \"x\", yes: true) expect sum(p: 0) }}
        }}"
    ))
}

/// A system whose handling of inputs is `take`.
struct Handler<F>(F);

impl<F: FnMut(&GivenInput<'_>, &mut Outputs)> InProcess for Handler<F> {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        (self.0)(input, outputs);
    }
}

/// Returns the failure of the check by the test called `test`, where the system handles inputs by `take`.
fn failure<F: FnMut(&GivenInput<'_>, &mut Outputs)>(test: &str, make: impl Fn() -> F) -> CheckFailure {
    let tester = TesterChoice::Test(test.into());
    check(&model(), || Handler(make())).tester(tester).try_run().expect_err("it must not pass")
}

/// Defect: the panic of `int()` counted as one of the system, so the system failed.
#[test]
fn a_number_beyond_the_type_that_reads_it_is_a_mistake_and_no_verdict() {
    let by_int = failure("wide", || {
        |input: &GivenInput<'_>, outputs: &mut Outputs| outputs.emit("sum", json!({ "p": input.int("p") }))
    });
    let by_get = failure("wide", || {
        |input: &GivenInput<'_>, outputs: &mut Outputs| {
            outputs.emit("sum", json!({ "p": input.get::<u8>("p") }))
        }
    });
    let in_a_list =
        failure("list", || |input: &GivenInput<'_>, _: &mut Outputs| drop(input.get::<Vec<i64>>("all")));
    for failure in [by_int, by_get, in_a_list] {
        assert!(!failure.is_verdict, "{failure}");
        let story = &failure.story;
        assert!(story.contains(WIDE) && story.contains("give the field a range"), "{failure}");
        assert!(story.contains("mistakes.rs"), "the place of the call is told: {failure}");
    }
}

#[test]
fn a_field_of_another_name_or_shape_is_a_mistake_and_no_verdict() {
    type Ask = fn(&GivenInput<'_>);
    let asks: [(Ask, &str); 5] = [
        (|input| _ = input.str("surname"), "no field `surname`"),
        (|input| _ = input.bool("s"), "not a truth value"),
        (|input| _ = input.str("yes"), "not a string"),
        (|input| _ = input.int("s"), "not an integer"),
        (|input| _ = input.get::<Vec<bool>>("yes"), "`name.yes` is true"),
    ];
    for (ask, says) in asks {
        let failure = failure("name", || move |input: &GivenInput<'_>, _: &mut Outputs| ask(input));
        assert!(!failure.is_verdict && failure.story.contains(says), "{failure}");
    }
}

#[test]
fn a_panic_of_the_system_is_still_its_failure() {
    let failure =
        failure("name", || |_: &GivenInput<'_>, _: &mut Outputs| panic!("the index is out of bounds"));
    assert!(failure.is_verdict && failure.story.contains("the index is out of bounds"), "{failure}");
    assert!(failure.story.contains("panicked at"), "{failure}");
    assert!(failure.story.contains("mistakes.rs:"), "the place of the panic is told: {failure}");
}

/// The second name is one too many, whatever came before it.
#[test]
fn a_panic_is_an_exception_that_is_repeated_and_shrunk() {
    let make = || {
        let (mut n_names, mut sum) = (0, 0);
        Handler(move |input: &GivenInput<'_>, outputs: &mut Outputs| {
            match input.name() {
                "add" => sum += input.int("p"),
                "name" => n_names += 1,
                _ => (),
            }
            assert!(n_names < 2, "no room for another name");
            outputs.emit("sum", json!({ "p": sum }));
        })
    };
    let text = "model Names {
        input add(p: 0..9) input name output sum(p: int) var n: int = 0
        state s { on add { n = n + p } -> told on name -> told }
        state told { emit sum(p: n) -> s }
    }";
    let failure = check(&ModelFile::text(text), make).seed(1).try_run().expect_err("it panics");
    assert!(failure.is_verdict, "{failure}");
    // Two names, the answer to the first, and the exception.
    for part in ["no room for another name", "mistakes.rs:", "minimal failing run: 4 steps", "3 of 3"] {
        assert!(failure.story.contains(part), "should say `{part}`: {failure}");
    }
}
