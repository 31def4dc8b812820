//! The formatter: idempotent, and the formatted text has the same tree.

use std::fs;

use crate::common::{self, grammar};
use ioxide_lang::{format, parse};
use ioxide_model::source::Sources;
use ioxide_test_support::test_count;
use proptest::prelude::*;

/// The syntax tree of `text` without places, or `None` if it does not follow the grammar.
fn tree(text: &str) -> Option<String> {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    let (tree, findings) = parse(&sources, file);
    findings.is_empty().then(|| without_places(&format!("{:?}", tree.model)))
}

/// `debug` without the spans in it.
fn without_places(debug: &str) -> String {
    let mut pieces = debug.split("Span {");
    let first = pieces.next().unwrap_or("").to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('}').map_or("", |(_, rest)| rest))
}

fn formatted(text: &str) -> Option<String> {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    format(&sources, file).ok()
}

/// Checks `text` if it follows the grammar; says whether it does.
fn check(text: &str) -> bool {
    let Some(once) = formatted(text) else { return false };
    assert_eq!(formatted(&once).as_deref(), Some(once.as_str()), "formatting again changes\n{once}");
    assert_eq!(tree(text), tree(&once), "the tree of\n{text}\nis not that of\n{once}");
    let count = |text: &str| text.matches("// ").count();
    assert_eq!(count(text), count(&once), "comments are lost between\n{text}\nand\n{once}");
    true
}

#[test]
fn examples_are_in_canonical_layout() {
    for path in common::files("examples", &["iox"]) {
        let text = fs::read_to_string(&path).expect("an example");
        assert_eq!(formatted(&text).as_deref(), Some(text.as_str()), "{path:?}: run `ioxide fmt`");
        assert!(check(&text), "{path:?}");
    }
}

#[test]
fn corpus_models_keep_their_tree() {
    let checked = |folder| {
        common::files(folder, &["iox"])
            .iter()
            .filter(|path| check(&fs::read_to_string(path).expect("a model")))
            .count()
    };
    assert!(checked("corpus/models/ok") > 5);
    assert!(checked("corpus/models/err") > 20);
}

#[test]
fn layout_is_decided_by_the_formatter_and_comments_by_the_author() {
    let text = "
// about the file
///  a model
model   M{ // about the model
input a(x:int,y :bool) // trailing
  // own line


  // after a gap
output b
state s{r:on a(x:1)when x>0&&y{z=x+1,// inside
reset w}->s
  // last in state
}
clock w var z:int=0
state empty { }
state remark {
  // only this
}
test \"t\"{send a(x:1);expect b;quiet 1s;}
}
// behind";
    insta::assert_snapshot!(formatted(text).expect("well formed"));
    assert!(check(text));
}

#[test]
fn long_lines_are_broken_in_one_way() {
    let labels: Vec<String> = (0..30).map(|i| format!("label{i}")).collect();
    let operands: Vec<String> = (0..8).map(|i| format!("variable_{i} == {i}")).collect();
    let (path, guard, list) = (labels.join(", "), operands.join(" && "), labels.join(", "));
    let fields: Vec<String> = (0..8).map(|i| format!("variable_{i}: 0..100")).collect();
    let pins: Vec<String> = (0..8).map(|i| format!("variable_{i}: {i}00000")).collect();
    let updates: Vec<String> = (0..8).map(|i| format!("value_{i} = value_{i} + 1")).collect();
    let (fields, pins, updates) = (fields.join(", "), pins.join(", "), updates.join(", "));
    let arms: Vec<String> = labels.iter().map(|label| format!("{label} => 1")).collect();
    let arms = arms.join(", ");
    let text = format!(
        "model Wide {{
input wide({fields})
enum Many {{ {list} }}
record Big {{ {fields} }}
state s {{ r: on wide({pins}) when {guard} {{ {updates} }} -> s }}
purpose long: {path}
purpose far: reach s when {guard}
always {guard}
fn choose(m: Many) -> int = match m {{ {arms} }}
fn chain(m: int) -> int = if m == 100000000 then 100000000 else if m == 200000000 then 200000000 else 300000000
test \"t\" {{ send wide({pins}) expect wide when {guard} }}
}}"
    );
    insta::assert_snapshot!(formatted(&text).expect("well formed"));
    assert!(check(&text));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: test_count("IOXIDE_TEXTS", 100, 400) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_models_keep_their_tree(text in grammar::model()) {
        prop_assume!(check(&text));
    }

    #[test]
    fn random_words_keep_their_tree(text in grammar::soup()) {
        check(&format!("model M {{ {text} }}"));
    }
}

/// Cases of enums and fields of records and messages have doc comments of their own, each on its line.
#[test]
fn parts_of_declarations_keep_their_doc_comments() {
    let text = "model M {
/// Colours.
enum Colour { /// Like blood.
red,
/// Like grass,
///
/// of many shades.
green(shade: int), blue }
record Job { id: int,
/// The job to do.
body: string }
input paint(/// With this.
c: Colour)
state s { on paint }
}";
    let laid_out = formatted(text).expect("well formed");
    let wanted = "model M {
    /// Colours.
    enum Colour {
        /// Like blood.
        red,
        /// Like grass,
        ///
        /// of many shades.
        green(shade: int),
        blue,
    }
    record Job {
        id: int,
        /// The job to do.
        body: string,
    }
    input paint(
        /// With this.
        c: Colour,
    )
    state s {
        on paint
    }
}
";
    assert_eq!(laid_out, wanted);
    assert!(check(text));
}
