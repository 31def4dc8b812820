//! Tests of `yaml`.

use ioxide_openapi::node::SpecNode;
use ioxide_openapi::yaml::{BadTree, read_tree};

#[test]
fn yaml_and_json_are_the_same_tree() {
    let yaml =
        "a: 1\nb: [x, '1', null, true, 1.5e3]\nc:\n  - d: |\n      two\n      lines\n  - {}\n'404': 'yes'\n";
    let json =
        r#"{"a": 1, "b": ["x", "1", null, true, 1.5e3], "c": [{"d": "two\nlines\n"}, {}], "404": "yes"}"#;
    let (yaml, json) = (read_tree(yaml).unwrap(), read_tree(json).unwrap());
    // Readers of JSON may write a number otherwise.
    assert_eq!(
        yaml.to_json().replace("1.5e3", "1500"),
        json.to_json().replace("1.5e+3", "1500").replace("1.5e3", "1500")
    );
    assert_eq!(yaml.at_pointer("/c/0/d").and_then(SpecNode::as_text), Some("two\nlines\n"));
    assert_eq!(yaml.at_pointer("/b/0").and_then(SpecNode::as_text), Some("x"));
}

#[test]
fn aliases_are_expanded_but_not_for_ever() {
    let tree = read_tree("a: &x {n: 1}\nb: *x\nc:\n  <<: *x\n  m: 2\n").unwrap();
    assert_eq!(tree.to_json(), r#"{"a":{"n":1},"b":{"n":1},"c":{"n":1,"m":2}}"#);
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let alias = format!("*a{}, ", n - 1).repeat(10);
        bomb.push_str(&format!("a{n}: &a{n} [{}]\n", alias.trim_end_matches(", ")));
    }
    assert!(matches!(read_tree(&bomb), Err(BadTree::TooLarge(_))));
    assert!(read_tree(&format!("{}x", "[".repeat(10_000))).is_err());
    let blocks: String = (0..5_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert!(matches!(read_tree(&blocks), Err(BadTree::TooLarge(_))), "it is not read to its depths");
}

#[test]
fn what_is_no_tree_is_told() {
    for text in ["", "a: [", "{\"a\": }", "? [a]\n: b\n"] {
        assert!(read_tree(text).is_err(), "{text}");
    }
}
