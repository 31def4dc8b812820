//! Systems of parts: what is refused is told, what is accepted loses nothing, and names have no meaning of their own.

use std::time::Duration;

use crate::common::{load_text, render};
use ioxide_lang::{LoadOptions, channel, gather, load, through};
use ioxide_model::code::Code;
use ioxide_model::compose::Channel;
use ioxide_model::concrete::{initial_state, is_enabled};
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model, Switch};
use ioxide_model::value::Value;
use ioxide_test_support::WorkClock;

#[track_caller]
fn model(text: &str) -> Model {
    let (sources, loaded) = load_text("m.iox", text);
    loaded.model.unwrap_or_else(|| panic!("{text}\n{}", render(&sources, &loaded.diagnostics)))
}

/// The errors of `text`.
fn errors(name: &str, text: &str) -> Vec<Diagnostic> {
    let (_, loaded) = load_text(name, text);
    loaded.diagnostics.into_iter().filter(Diagnostic::is_error).collect()
}

fn channels() -> Vec<Channel> {
    ["fifo(capacity: 2)", "bag(capacity: 3)", "fifo(capacity: 1, may_lose: true, may_duplicate: true)"]
        .map(|text| channel(text).expect("a channel"))
        .to_vec()
}

/// The switches of `model` by which the message called `name` is seen and that complete nothing.
fn seen_by(model: &Model, name: &str) -> usize {
    let gate = model.sts.gate_named(name).unwrap_or_else(|| panic!("there is `{name}`"));
    let is_it = |switch: &&Switch| switch.gate == gate && !model.sts.is_completion(switch);
    model.sts.switches.iter().filter(is_it).count()
}

const ASKED: &str = "model A { input go output x state s { on go -> t } state t { emit x -> s } }";

#[test]
fn names_of_parts_mean_nothing_to_a_channel() {
    for channel in channels() {
        let mut sizes = Vec::new();
        for name in ["plain", "chaos", "model", "to", "from", "unspecified"] {
            let seen = through(&model(&format!("{ASKED}\n system S {{ {name}: A b: A }}")), &channel);
            let seen = seen.unwrap_or_else(|why| panic!("{name}: {why:?}"));
            let n_completing = seen.sts.switches.iter().filter(|it| seen.sts.is_completion(it)).count();
            assert!(n_completing > 0, "{name}");
            sizes.push((
                seen.sts.gates.len(),
                seen.sts.switches.len(),
                n_completing,
                seen_by(&seen, &format!("{name}.go")),
                seen_by(&seen, &format!("{name}.x")),
            ));
        }
        assert!(sizes[0].3 > 0 && sizes[0].4 > 0, "{sizes:?}");
        assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
    }
}

#[test]
fn names_of_states_and_labels_mean_nothing_to_a_channel() {
    let text = "def M { state { n: int } init { n := 0 } actions {
        ?unspecified() if True then { { n := 1 } [] slow: { n := 2 } }
        !v(y: int) if y == n then { } } }";
    let (sources, loaded) = load_text("m.as", text);
    let labelled = loaded.model.unwrap_or_else(|| panic!("{}", render(&sources, &loaded.diagnostics)));
    assert!(labelled.sts.switches.iter().any(|switch| switch.label.starts_with("unspecified-")));
    let named = model(
        "model A { input go output x
        state unspecified { on go -> t } state t { emit x -> unspecified } }",
    );
    for channel in channels() {
        let seen = through(&labelled, &channel).expect("it can be seen");
        let is_own = |switch: &&Switch| {
            let moves = seen.sts.composition.as_ref().and_then(|parts| parts.moves.get(&switch.label));
            moves.is_some_and(|moves| moves.iter().any(|step| &*step.switch == "unspecified-slow"))
        };
        let own: Vec<&Switch> = seen.sts.switches.iter().filter(is_own).collect();
        assert!(!own.is_empty() && own.iter().all(|switch| !seen.sts.is_completion(switch)));

        let seen = through(&named, &channel).expect("it can be seen");
        let start = initial_state(&seen.pool, &seen.sts).expect("initial values");
        assert!(!seen.sts.is_open(|var| start.values.get(var).cloned()), "nothing was sent yet");
    }
}

#[test]
fn a_model_that_only_sends_or_only_receives_is_seen_through_a_channel() {
    let timed = channel("fifo(capacity: 2, min_delay: 1s, max_delay: 2s)").expect("a channel");
    for (text, kind, name) in [
        (
            "model A { clock c output x state s { emit x when c >= 1 { reset c } -> s } }",
            GateKind::Output,
            "x",
        ),
        ("model A { clock c input x state s { on x when c >= 1 { reset c } -> s } }", GateKind::Input, "x"),
    ] {
        for channel in channels().into_iter().chain([timed.clone()]) {
            let seen = through(&model(text), &channel).expect("it can be seen");
            assert!(seen_by(&seen, name) > 0, "{text} {channel}");
            assert!(seen.sts.gates.iter().skip(1).all(|gate| gate.kind == kind), "{text} {channel}");
        }
    }
    let silent = through(&model("model A { clock c state s { } }"), &timed).expect("it can be seen");
    assert_eq!(silent.sts.gates.len(), 1);
}

#[test]
fn messages_of_one_name_have_the_same_fields() {
    let bool_field = "model A { output x(p: bool) state s { emit x(p: true) -> s } }";
    for (sender, why) in [
        ("model A { output x state s { emit x -> s } }", "no fields"),
        (bool_field, "`(p: bool)`"),
        ("model A { output x(p: 0..3) state s { emit x(p: 1) -> s } }", "`(p: 0..3)`"),
        ("model A { output x(a: bool) state s { emit x(a: true) -> s } }", "`(a: bool)`"),
    ] {
        let text = format!(
            "{sender}\n model B {{ output y(a: 0..3) state s {{ emit y(a: 1) -> s }} }}
             system S {{ a: A b: B expose a.x as m expose b.y as m }}"
        );
        let found = errors("m.iox", &text);
        let [only] = &found[..] else { panic!("{text}\n{found:?}") };
        assert_eq!((only.code, only.labels.len()), (Code::BadConnection, 1), "{only:?}");
        assert!(only.labels[0].text.contains(why) && only.caret.contains("`(a: 0..3)`"), "{only:?}");
        let at = |n: usize| text.match_indices("as m").nth(n).map(|(at, _)| at + 3);
        let places = [only.labels[0].span, only.span].map(|span| Some(span.start as usize));
        assert_eq!(places, [at(0), at(1)], "both places");
    }
    // With an index, and without one.
    let text = format!("{bool_field}\n system S {{ a: A b[i in 1..3]: A expose a.x as m expose b.x as m }}");
    let found = errors("m.iox", &text);
    assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), [Code::BadConnection], "{found:?}");
}

#[test]
fn messages_of_one_name_have_the_values_of_all() {
    let texts = [
        "model A { output x(v: 0..1) state s { emit x -> s } }\n model B { output x(v: 0..7) state s { emit x -> s } }
         system S { a: A b: B expose a.x as m expose b.x as m }",
        "model A { const N = 1 output x(v: 0..N) state s { emit x -> s } }
         system S { a[i in 1..3]: A(N: 3 * i - 2) expose a.x as m }",
    ];
    for text in texts {
        let Model { pool, sts } = &model(text);
        let gate = sts.gate_named("m").expect("it is exposed");
        let values = *sts.gates[gate].fields.last().expect("a field");
        assert_eq!(pool.var_info(values).sort, Sort::Range { lo: 0, hi: 7 }, "{text}");
        let state = initial_state(pool, sts).expect("initial values");
        let emits = |owner: i64, v: i64| {
            let all = if sts.gates[gate].fields.len() == 2 { vec![owner, v] } else { vec![v] };
            let all: Vec<Value> = all.into_iter().map(Value::int).collect();
            sts.switches.iter().filter(|it| is_enabled(pool, sts, &state, it, &all) == Ok(true)).count()
        };
        // The last part has the widest range; the others keep theirs.
        assert_eq!(emits(3, 7), 1, "{text}");
        assert!(emits(1, 1) >= 1, "{text}");
        assert!(sts.gates[gate].fields.len() < 2 || emits(1, 7) == 0, "{text}");
    }
}

#[test]
fn a_file_that_uses_itself_many_times_is_told_soon() {
    let uses: String = (0..8).map(|at| format!("use M{at} from \"m.iox\"\n")).collect();
    let mut sources = Sources::new();
    let file = sources.add("m.iox", format!("system M0 {{\n{uses} s: M0 }}"));
    gather(&mut sources, file, &mut |_| Err::<String, _>("there is none"));
    let start = WorkClock::start();
    let loaded = load(&sources, file, &LoadOptions::default());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let codes: Vec<Code> = loaded.diagnostics.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::BadImport], "{}", render(&sources, &loaded.diagnostics));
}

#[test]
fn files_that_many_others_use_are_not_too_deep() {
    // Every file uses the two behind it: few files, many ways.
    let mut sources = Sources::new();
    let text = |at: usize| match at {
        14 => "model M14 { output x state s { emit x -> s } }".to_owned(),
        13 => "system M13 { use M14 from \"m14.iox\" p: M14 }".to_owned(),
        _ => format!(
            "system M{at} {{ use M{0} from \"m{0}.iox\" use M{1} from \"m{1}.iox\" p: M{0} }}",
            at + 1,
            at + 2
        ),
    };
    let file = sources.add("m0.iox", text(0));
    gather(&mut sources, file, &mut |path| {
        let number = path.trim_start_matches('m').trim_end_matches(".iox").parse::<usize>();
        number.map(text).map_err(|_| "there is none".to_owned())
    });
    let start = WorkClock::start();
    let loaded = load(&sources, file, &LoadOptions::default());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(loaded.model.is_some(), "{}", render(&sources, &loaded.diagnostics));
}

#[test]
fn parts_beyond_the_limit_are_told() {
    let parts = "model A { input go state s { on go -> s } }\n model B { output x state s { emit x -> s } }";
    let text = |n: usize| format!("{parts}\n system S {{ a[i in 1..{n}]: A b: B c: B }}");
    let found = errors("m.iox", &text(10_000));
    let [only] = &found[..] else { panic!("{found:?}") };
    assert_eq!(only.code, Code::BadRange);
    assert!(only.message.contains("10000"), "{only:?}");
    assert_eq!(&text(10_000)[only.span.start as usize..only.span.end as usize], "b");
}

#[test]
fn constants_of_a_system_are_numbers_of_the_language_and_never_too_large_to_tell() {
    let parts = "model A { const N = 0 output x(v: int) state s { emit x(v: N) -> s } }";
    let least = "(0-9223372036854775807-1)*(9223372036854775807+1)*2";
    let greatest = format!("-({least}+1)");
    let array = |lo: &str, hi: &str| format!("{parts}\n system S {{ a[i in {lo}..{hi}]: A }}");
    for text in [
        format!("{parts}\n system S {{ const N = -({least}) a: A }}"),
        format!("{parts}\n system S {{ const N = 0-({least}) a: A }}"),
        format!("{parts}\n system S {{ const N = ({least})/(0-1) a: A }}"),
        format!("{parts}\n system S {{ const N = ({least})%(0-1) a: A }}"),
        array("0", &format!("({greatest})")),
        array(&format!("({least})"), &format!("({greatest})")),
        array("(9223372036854775807+1)", "(9223372036854775807+2)"),
        format!("{parts}\n system S {{ const N = 99999999999999999999 a: A }}"),
        format!("{parts}\n system S {{ const N = 1.5 a: A }}"),
    ] {
        let found = errors("m.iox", &text);
        let is_it = |it: &Diagnostic| matches!(it.code, Code::NotConstant | Code::BadRange);
        assert!(!found.is_empty() && found.iter().all(is_it), "{text}\n{found:?}");
    }
    let found = model(&format!("{parts}\n system S {{ const N = 1_000 a: A(N: N + 1_0) }}"));
    let Model { pool, sts } = &found;
    let state = initial_state(pool, sts).expect("initial values");
    let says = |n| is_enabled(pool, sts, &state, sts.switches.iter().next().expect("one"), &[Value::int(n)]);
    assert_eq!((says(1_010), says(1_000)), (Ok(true), Ok(false)));
}

#[test]
fn a_rest_of_all_items_is_no_part() {
    let with = |body: &str| {
        format!(
            "model M {{ fn f(xs: list<int>) -> int = {body}
             input go(xs: list<int>) state s {{ on go when f(xs) == 1 -> s }} }}"
        )
    };
    for endless in [
        "match xs { [] => 0, [..rest] => f(rest) + 1 }",
        "match xs { [] => 0, [..rest] => match rest { [] => 0, [..more] => f(more) + 1 } }",
        "match (xs) { [] => 0, [..rest] => f((rest)) + 1 }",
    ] {
        let found = errors("m.iox", &with(endless));
        assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), [Code::MayNotEnd], "{endless}");
    }
    for ending in [
        "match xs { [] => 0, [_, ..rest] => f(rest) + 1 }",
        "match xs { [] => 0, [_, ..rest] => match rest { [] => 0, [..more] => f(more) + 1 } }",
        "match xs { [] => 0, [..rest] => match rest { [] => 0, [_, ..more] => f(more) + 1 } }",
    ] {
        let found = errors("m.iox", &with(ending));
        assert!(found.is_empty(), "{ending}: {found:?}");
    }
}

/// A transition that is never taken has no value that somebody would have to say.
#[test]
fn a_pinned_field_whose_guard_is_constantly_false_is_no_open_field() {
    let text = "model Sender {
        const ON = false
        input go
        output post(c: int)
        var last: int = 0
        state s {
            go: on go { last = last + 1 } -> s
            never: emit post(c: last) when ON -> s
            late: emit post(c: 7) when last > 2 -> s
        }
    }
    model Receiver {
        input post(c: int)
        output got(c: int)
        var kept: int = 0
        state s { take: on post { kept = c } -> t }
        state t { got: emit got(c: kept) -> s }
    }
    system Both {
        a: Sender
        b: Receiver
        a.post -> b.post
        hide a.post
    }";
    let model = model(text);
    let labels: Vec<&str> = model.sts.switches.iter().map(|switch| &*switch.label).collect();
    assert!(labels.iter().any(|label| label.contains("late")), "{labels:?}");
    assert!(!labels.iter().any(|label| label.contains("never")), "{labels:?}");
    // One that may be taken must say its value.
    let open = errors("m.iox", &text.replace("emit post(c: last) when ON", "emit post when c > last"));
    assert_eq!(open.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::OpenHiddenField]);
}
