//! Declarations that several models share: in front of the models of a file, and taken from other files with `use`.

use crate::common::{load_text, render};
use ioxide_lang::{LoadOptions, LoadedText, format, gather, load};
use ioxide_model::source::Sources;

const TYPES: &str = "const MOST = 3

/// The look of a job.
enum Colour { red, green }
record Job { colour: Colour, n: 0..MOST }
fn next(n: int) -> int = (n + 1) % MOST
";

#[track_caller]
fn check_layout(text: &str) {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    let once = format(&sources, file).unwrap_or_else(|wrong| panic!("{}", render(&sources, &wrong)));
    assert_eq!(once, text, "the layout is not kept");
}

/// Loads `text` as `m.iox` next to other files.
fn load_files(text: &str, others: &[(&str, &str)]) -> (Sources, LoadedText) {
    let mut sources = Sources::new();
    let file = sources.add("dir/m.iox", text);
    gather(&mut sources, file, &mut |path| {
        let found = others.iter().find(|(name, _)| format!("dir/{name}") == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| format!("there is no {path}"))
    });
    let loaded = load(&sources, file, &LoadOptions::default());
    (sources, loaded)
}

#[test]
fn declarations_in_front_of_models_are_shared() {
    let text = format!(
        "{TYPES}
model A {{
    output give(job: Job)

    var k: int = 0

    state s {{
        emit give(job: Job(colour: red, n: k)) {{ k = next(k) }}
    }}
}}

model B {{
    input take(job: Job)
    output seen(c: Colour)

    var last: Colour = green

    state s {{
        on take {{ last = job.colour }} -> t
    }}

    state t {{
        emit seen(c: last) -> s
    }}
}}

system S {{
    a: A
    b: B

    a.give -> b.take
}}
"
    );
    check_layout(&text);
    let (sources, loaded) = load_text("m.iox", &text);
    let told = render(&sources, &loaded.diagnostics);
    assert!(loaded.model.is_some(), "{told}");
    assert!(!told.contains("never"), "a model need not use all of them: {told}");
    let one = format!("{TYPES}\nmodel M {{ input a(j: Job)\n state s {{ on a when j.n < MOST }} }}");
    let mut sources = Sources::new();
    let file = sources.add("m.iox", one.as_str());
    let options = LoadOptions::with_overrides(vec![("MOST".into(), "2".into())]);
    let model = load(&sources, file, &options).model.expect("a model");
    let switch = model.sts.switches.iter().next().expect("it is there");
    assert!(model.pool.show(switch.guard).to_string().contains("< 2"), "`--set` replaces a shared constant");
}

#[test]
fn mistakes_in_shared_declarations_are_told() {
    let rest = "\nmodel M { input x(r: R)\n state s { on x } }";
    let (sources, loaded) = load_text("m.iox", &format!("enum E {{ a, b }}\nrecord R {{ e: F }}{rest}"));
    let told = render(&sources, &loaded.diagnostics);
    assert_eq!(loaded.diagnostics.iter().filter(|it| it.is_error()).count(), 1, "{told}");
    for wrong in ["enum { a }", "const = 3", "record R { e: }", "use A B from \"x.iox\"", "type T"] {
        let (_, loaded) = load_text("m.iox", &format!("{wrong}\nrecord R {{ n: int }}{rest}"));
        assert!(loaded.has_errors(), "{wrong}");
    }
    let (sources, loaded) = load_text("types.iox", TYPES);
    assert!(render(&sources, &loaded.diagnostics).contains("there is no model in this text"));
}

#[test]
fn declarations_can_be_taken_from_another_file() {
    let text = "use Job, next from \"types.iox\"

model M {
    input a(job: Job)

    state s {
        on a when next(job.n) > 0 && job.colour is red
    }
}
";
    check_layout(text);
    let (sources, loaded) = load_files(text, &[("types.iox", TYPES)]);
    let told = render(&sources, &loaded.diagnostics);
    assert!(loaded.model.is_some() && !told.contains("never"), "{told}");
    // Through another file, and from a model.
    let through = [("types.iox", "use Job, next from \"deep.iox\"\nconst X = 1\n"), ("deep.iox", TYPES)];
    assert!(load_files(text, &through).1.model.is_some());
    let of_model = format!("model T {{ {TYPES}\n input i(j: Job)\n state s {{ on i when next(j.n) > 0 }} }}");
    assert!(load_files(text, &[("types.iox", &of_model)]).1.model.is_some());
    for (others, says) in [
        (vec![], "cannot be read"),
        (vec![("types.iox", "enum Job { a }")], "declares no type, constant or function `next`"),
        (vec![("types.iox", "use Job, next from \"m.iox\"")], "in a circle"),
        (vec![("types.iox", "enum Job {")], "has errors"),
    ] {
        let (sources, loaded) = load_files(text, &others);
        let told = render(&sources, &loaded.diagnostics);
        assert!(loaded.model.is_none() && told.contains(says), "{says}\n{told}");
    }
}
