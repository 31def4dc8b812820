use proptest::prelude::*;

use super::*;
use crate::samples::{VENDING, message, model};

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn config(outputs: &[(&str, &str)]) -> TextConfig {
    let inputs = pairs(&[("coin", "PAY {{{n}}}\r\n")]);
    TextConfig { inputs, outputs: pairs(outputs), ..TextConfig::default() }
}

const OUTPUTS: [(&str, &str); 3] =
    [("tea", "TEA"), ("coffee", "COFFEE (?P<sugar>.*)"), ("change", r"CHANGE\n(?P<n>-?\d+)")];

/// A value that holds the end of a line.
fn is_broken(text: &str) -> bool {
    text.contains('\n')
}

#[test]
fn messages_become_text_and_back() {
    let model = model(VENDING);
    let codec = TextCodec::new(&config(&OUTPUTS), &model).unwrap();
    assert_eq!(codec.encode(&model, &message(&model, "coin", &[5]), is_broken), Ok("PAY {5}\r\n".into()));
    assert_eq!(codec.decode(&model, "TEA"), Ok(message(&model, "tea", &[])));
    assert_eq!(codec.decode(&model, "CHANGE\n3"), Ok(message(&model, "change", &[3])));
    assert_eq!(codec.decode(&model, "SOUP"), Err("no pattern matches".into()));
    let sweet = codec.decode(&model, "COFFEE much").unwrap_err();
    assert_eq!(sweet, "`coffee.sugar`: expected 0..3, found `much`");
}

#[test]
fn the_first_pattern_in_the_file_is_taken() {
    let model = model(VENDING);
    let other = ("tea", "(?s).*");
    let codec = |outputs: [(&str, &str); 3]| TextCodec::new(&config(&outputs), &model).unwrap();
    let last = codec([OUTPUTS[1], OUTPUTS[2], other]);
    assert_eq!(last.decode(&model, "CHANGE\n3"), Ok(message(&model, "change", &[3])));
    let first = codec([other, OUTPUTS[1], OUTPUTS[2]]);
    assert_eq!(first.decode(&model, "CHANGE\n3"), Ok(message(&model, "tea", &[])));
}

#[test]
fn mistakes_are_named() {
    let model = model(VENDING);
    let problem = |config: &TextConfig| TextCodec::new(config, &model).unwrap_err().to_string();
    assert!(problem(&config(&OUTPUTS[..2])).contains("for `change`"));
    assert!(problem(&config(&[("soup", "SOUP")])).contains("no output `soup`"));
    assert!(problem(&config(&[("tea", "(?P<n>x)")])).contains("no field `n`"));
    assert!(problem(&config(&[("tea", "(")])).contains("output `tea`"));
    for (template, says) in [
        ("PAY {n", "a brace alone"),
        ("PAY {len(n}", "no field `len(n`"),
        ("PAY {len(m)}", "no field `m`"),
        ("PAY {len()}", "`len()` needs a name"),
    ] {
        let mut wrong = config(&OUTPUTS);
        wrong.inputs[0].1 = template.into();
        assert!(problem(&wrong).contains(says), "{template}: {}", problem(&wrong));
    }
    for (part, text, says) in [("n", "x", "is a field"), ("p", "{", "part `p`"), ("a b", "", "no name")] {
        let wrong = TextConfig { parts: pairs(&[(part, text)]), ..config(&OUTPUTS) };
        assert!(problem(&wrong).contains(says), "{part}: {}", problem(&wrong));
    }
}

const STORE: &str = "model Store {
    input SET(key: string, value: string)
    output OK
    state a { on SET emit OK }
}";

#[test]
fn lengths_are_counted_in_bytes() {
    let model = model(STORE);
    let set = model.sts.gate_named("SET").unwrap();
    let label = Label::Input(
        set,
        vec!["k".into(), "ü\n".into()]
            .into_iter()
            .map(|t: String| ioxide_model::value::Value::str(&t))
            .collect(),
    );
    let encoded = |template: &str| {
        let parts = pairs(&[("pair", "{key}={value}"), ("body", "<{pair}>")]);
        let inputs = pairs(&[("SET", template)]);
        let config = TextConfig { parts, inputs, outputs: pairs(&[("OK", "OK")]), ..TextConfig::default() };
        TextCodec::new(&config, &model).unwrap().encode(&model, &label, is_broken)
    };
    let redis = "*3\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n${len(value)}\r\n{value}\r\n";
    assert_eq!(encoded(redis).unwrap(), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\nü\n\r\n");
    assert_eq!(encoded("Length: {len(body)}\n\n{body}").unwrap(), "Length: 7\n\n<k=ü\n>");
    assert!(encoded("SET {key} {value}").unwrap_err().contains("would break the framing"));
}

proptest! {
    #[test]
    fn no_template_or_pattern_panics(template in ".{0,40}", pattern in ".{0,40}", text in ".{0,40}") {
        let model = model(STORE);
        let config = TextConfig {
            parts: pairs(&[("p", &template)]),
            inputs: pairs(&[("SET", &template)]),
            outputs: pairs(&[("OK", &pattern)]),
            more: Some(pattern.clone()),
            ..TextConfig::default()
        };
        if let Ok(codec) = TextCodec::new(&config, &model) {
            codec.decode(&model, &text).ok();
        }
    }
}
