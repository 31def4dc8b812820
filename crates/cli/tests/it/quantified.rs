//! Quantifiers over all values of a type: the solver decides them, and what it leaves open is unknown.

use std::fs;

use tempfile::TempDir;

use crate::program::{check_in, print_in};

/// A model that says whether a condition holds of what it is asked.
fn write_model(field: &str, condition: &str) -> String {
    format!(
        "model Asked {{
    input ask({field})
    output yes
    output no
    state idle {{ on ask when {condition} -> right  on ask when !({condition}) -> wrong }}
    state right {{ emit yes -> idle }}
    state wrong {{ emit no -> idle }}
}}
"
    )
}

fn folder(models: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in models {
        fs::write(folder.path().join(name), text).expect("it is written");
    }
    folder
}

/// Conditions with quantifiers, conditions without that say the same, and others that do not.
const ROWS: [(&str, &str, &str, &str); 5] = [
    ("n: int", "exists k in int: n == 3 * k", "n % 3 == 0", "n % 3 == 1"),
    ("n: int", "forall k in int: 2 * k != n", "n % 2 == 1", "n % 2 == 0"),
    ("n: int", "exists k in int: k > n && k < n + 2 && k >= 10", "n >= 9", "n >= 10"),
    ("x: real", "exists r in real: r + r == x && r > 1.0", "x > 2.0", "x >= 2.0"),
    ("b: bool, n: int", "exists c in bool: c != b && (c || n > 4)", "!b || n > 4", "!b || n > 5"),
];

#[test]
fn quantifiers_mean_what_conditions_without_them_mean() {
    for (field, quantified, plain, other) in ROWS {
        let models = [
            ("q.iox", write_model(field, quantified)),
            ("p.iox", write_model(field, plain)),
            ("o.iox", write_model(field, other)),
        ];
        let folder = folder(&models);
        let check = |args: &[&str], code, words: &[&str]| check_in(folder.path(), args, code, words);
        check(&["conform", "p.iox", "q.iox"], 0, &["CONFORMS"]);
        check(&["conform", "q.iox", "p.iox"], 0, &["CONFORMS"]);
        check(&["conform", "o.iox", "q.iox"], 1, &["FAILS"]);
        let test = |model: &str, sut: &str| {
            let sut = format!("model:{sut}");
            let args = ["test", model, "--sut", &sut, "--tester", "random", "--runs", "3", "--seed", "1"];
            print_in(folder.path(), &args)
        };
        for (model, sut) in [("q.iox", "p.iox"), ("p.iox", "q.iox")] {
            let (text, code) = test(model, sut);
            assert_eq!(code, 0, "{quantified}: {text}");
        }
        check(&["fmt", "q.iox"], 0, &[]);
        let formatted = fs::read_to_string(folder.path().join("q.iox")).expect("the model");
        assert!(formatted.contains(quantified), "{formatted}");
        check(&["purposes", "q.iox"], 0, &["4 of 4 transitions covered"]);
    }
}

#[test]
fn quantifiers_over_texts_are_decided() {
    let quantified = write_model("t: string", "exists s in string: t == \"a\" + s && s.length() == 2");
    let folder = folder(&[("q.iox", quantified)]);
    let judge = |text: &str, answer: &str| {
        let lines =
            format!("{{\"label\":\"ask\",\"args\":{{\"t\":\"{text}\"}}}}\n{{\"label\":\"{answer}\"}}\n");
        fs::write(folder.path().join("t.jsonl"), lines).expect("it is written");
        print_in(folder.path(), &["judge", "q.iox", "t.jsonl"])
    };
    for (text, right, wrong) in [("abc", "yes", "no"), ("bbc", "no", "yes"), ("abcd", "no", "yes")] {
        assert_eq!(judge(text, right).1, 0, "{text}");
        assert_eq!(judge(text, wrong).1, 1, "{text}");
    }
}

#[test]
fn what_the_solver_leaves_open_is_unknown() {
    // Whether 114 is a sum of three cubes is an open question; a guard that asks is neither true nor false.
    let cubes = "exists i in int: exists j in int: exists k in int: i * i * i + j * j * j + k * k * k == n";
    let folder = folder(&[("q.iox", write_model("n: int", cubes))]);
    let judge = |n: u32, answer: &str| {
        let lines = format!("{{\"label\":\"ask\",\"args\":{{\"n\":{n}}}}}\n{{\"label\":\"{answer}\"}}\n");
        fs::write(folder.path().join("t.jsonl"), lines).expect("it is written");
        print_in(folder.path(), &["judge", "q.iox", "t.jsonl", "--solver-timeout", "0.2"])
    };
    for answer in ["yes", "no"] {
        let (text, code) = judge(114, answer);
        assert!(
            code == 5 && text.contains("unknown from step 1 on"),
            "nothing is known, so nothing fails: {text}"
        );
    }
}

#[test]
fn types_are_quantified_over_only_where_no_value_has_their_name() {
    let hidden = "model M { input go output r var int: set<0..3> = {1}
        state s { on go when exists k in int: k == 2 -> t  on go -> s }
        state t { emit r -> s } }";
    let folder = folder(&[
        ("hidden.iox", hidden.to_owned()),
        ("count.iox", write_model("n: int", "(count k in int: k == n) > 0")),
    ]);
    let (text, code) = print_in(folder.path(), &["purposes", "hidden.iox"]);
    assert!(code == 0 && text.contains("proved unreachable"), "the set has no 2: {text}");
    check_in(folder.path(), &["check", "count.iox"], 3, &["there is no name `int`"]);
}
