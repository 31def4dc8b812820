use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn input(label: &str, args: Json) -> LabelRecord {
    let Json::Object(args) = args else { panic!("fields are an object") };
    LabelRecord {
        kind: LabelKind::Input,
        label: label.into(),
        args,
        text: String::new(),
        delay_ns: None,
        raw: None,
        way: None,
        part: None,
    }
}

fn told(labels: &[LabelRecord]) -> String {
    let mut values = SentValues::default();
    labels.iter().for_each(|label| values.count_fields(label));
    let line = |row: &ValueRow| {
        format!("{}: {} sent {} {}", row.name(), row.sent, row.distinct_text(), row.values_text())
    };
    values.rows().iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn numbers_have_a_range_and_others_their_most_frequent() {
    let text = told(&[
        input("REQ", json!({"n": 3, "who": "ann", "ok": true})),
        input("REQ", json!({"n": -1, "who": "bob", "ok": true})),
        input("REQ", json!({"n": 3, "who": "bob", "ok": true})),
        input("RESET", json!({})),
        LabelRecord {
            kind: LabelKind::Output,
            label: "NO".into(),
            args: serde_json::Map::new(),
            text: String::new(),
            delay_ns: None,
            raw: None,
            way: None,
            part: None,
        },
    ]);
    insta::assert_snapshot!(text, @r#"
    REQ.n: 3 sent 2 distinct -1 to 3
    REQ.ok: 3 sent 1 distinct always true
    REQ.who: 3 sent 2 distinct "bob" ×2, "ann" ×1
    RESET: 1 sent
    "#);
}

#[test]
fn numbers_that_are_not_all_numbers_have_no_range() {
    let text =
        told(&[input("A", json!({"x": 1})), input("A", json!({"x": null})), input("A", json!({"x": "1/3"}))]);
    insta::assert_snapshot!(text, @r#"A.x: 3 sent 3 distinct "1/3" ×1, 1 ×1, null ×1"#);
}

#[test]
fn what_is_too_much_is_counted_and_said() {
    let mut values = SentValues::default();
    for n in 0..2 * MAX_DISTINCT {
        values.count_fields(&input("A", json!({"x": n})));
    }
    let row = &values.rows()[0];
    assert_eq!((row.sent, row.distinct, row.is_more), (1000, MAX_DISTINCT, true));
    assert_eq!(row.range, Some(("0".into(), "999".into())));
    assert_eq!(row.distinct_text(), "more than 500 distinct");
    assert!(!values.is_full());
    for n in 0..2 * MAX_FIELDS {
        values.count_fields(&input(&format!("B{n}"), json!({"x": n, "y": n})));
    }
    assert!(values.is_full());
    assert!(values.rows().len() <= MAX_FIELDS);
}

#[test]
fn long_values_are_told_apart_and_shown_in_part() {
    let long = |end: &str| input("A", json!({"x": format!("{}{end}", "x".repeat(1 << 20))}));
    let mut values = SentValues::default();
    [long("1"), long("2"), long("1")].iter().for_each(|label| values.count_fields(label));
    let row = &values.rows()[0];
    assert_eq!(row.distinct, 2);
    assert!(row.values_text().len() < 200);
}

proptest! {
    /// A second opinion: all values kept, nothing bounded.
    #[test]
    fn few_values_are_counted_exactly(sent in prop::collection::vec(-20_i64..20, 1..80)) {
        let mut values = SentValues::default();
        sent.iter().for_each(|n| values.count_fields(&input("A", json!({"x": n}))));
        let row = values.rows().remove(0);
        let distinct: BTreeSet<i64> = sent.iter().copied().collect();
        prop_assert_eq!(row.sent, sent.len() as u64);
        prop_assert_eq!(row.distinct, distinct.len());
        prop_assert_eq!(row.range, Some((distinct.first().unwrap().to_string(), distinct.last().unwrap().to_string())));
        let most = distinct.iter().map(|n| sent.iter().filter(|m| *m == n).count() as u64).max();
        prop_assert_eq!(row.frequent.first().map(|(_, n)| *n), most);
    }
}

/// Collections are told by how many items they have, cases by their names, and long ones are folded.
#[test]
fn collections_and_cases_are_told_by_their_shape() {
    let long: Vec<u32> = (0..100).collect();
    let text = told(&[
        input("A", json!({"xs": [], "m": {}, "c": "point", "r": {"a": 1, "b": 2}})),
        input("A", json!({"xs": long, "m": {"k": 1}, "c": {"circle": {"r": 3}}, "r": {"a": 2, "b": 2}})),
        input(
            "A",
            json!({"xs": long, "m": {"k": 1, "l": 2}, "c": {"circle": {"r": 4}}, "r": {"a": 1, "b": 2}}),
        ),
    ]);
    insta::assert_snapshot!(text, @r#"
    A.c: 3 sent 3 distinct circle ×2, point ×1
    A.m: 3 sent 3 distinct 0 to 2 items; {"k":1,"l":2} ×1, {"k":1} ×1, {} ×1
    A.r: 3 sent 2 distinct {"a":1,"b":2} ×2, {"a":2,"b":2} ×1
    A.xs: 3 sent 2 distinct 0 to 100 items; [0, … 100 items] ×2, [] ×1
    "#);
}

#[test]
fn lengths_are_counted_in_classes() {
    let mut values = SentValues::default();
    for length in [0, 1, 2, 3, 4, 5, 8, 9, 1000] {
        values.count_fields(&input("A", json!({"xs": vec![0; length]})));
    }
    let shape = values.rows()[0].shape.clone().expect("they are lists");
    let classes = ["0", "1", "2", "3 to 4", "5 to 8", "9 to 16", "513 to 1024"];
    let counts = [1, 1, 1, 2, 2, 1, 1];
    let lengths = classes.iter().zip(counts).map(|(class, n)| ((*class).to_owned(), n)).collect();
    assert_eq!(shape, ShapeRecord::Lengths(0, 1000, lengths));
}

/// Words alone are no cases, and what is a list only now and then is none.
#[test]
fn what_has_no_shape_is_told_by_values() {
    let text = told(&[input("A", json!({"w": "a", "x": [1]})), input("A", json!({"w": "b", "x": null}))]);
    insta::assert_snapshot!(text, @r#"
    A.w: 2 sent 2 distinct "a" ×1, "b" ×1
    A.x: 2 sent 2 distinct [1] ×1, null ×1
    "#);
}
