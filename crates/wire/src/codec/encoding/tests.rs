use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const MODEL: &str = "model M {
    record Item { price: int, code: string, at: real?, tags: map<string, string> }
    input PUT(key: string, item: Item, due: int, keys: list<string>)
    output GOT(key: string, n: int, ok: bool)
    state s { on PUT }
}";

fn model() -> Model {
    crate::samples::model(MODEL)
}

fn encodings(all: &[(&str, FieldEncoding)]) -> FieldEncodings {
    FieldEncodings::new(all.iter().map(|(place, encoding)| ((*place).to_owned(), *encoding)))
}

proptest! {
    /// Whatever a string is, its encodings are read back.
    #[test]
    fn strings_are_read_back(text: String) {
        let model = model();
        for encoding in [FieldEncoding::Base64, FieldEncoding::Base64Url, FieldEncoding::Hex, FieldEncoding::Percent] {
            let written = encoding.encode(&model.pool, &Value::str(&text)).unwrap();
            let written = json!(written.as_str().unwrap());
            prop_assert!(written.as_str().unwrap().is_ascii());
            prop_assert_eq!(encoding.decode(&model.pool, Sort::Str, &written), Ok(json!(text.clone())));
        }
    }

    #[test]
    fn seconds_are_read_back(whole in -62_167_219_200i64..253_402_300_799, thousandths in 0i64..1000) {
        let model = model();
        let n = &Rational::from(whole) + &Rational::new(thousandths.into(), 1000.into()).unwrap();
        let all = [
            FieldEncoding::Rfc3339,
            FieldEncoding::Milliseconds,
            FieldEncoding::Duration,
            FieldEncoding::IsoDuration,
            FieldEncoding::Text,
        ];
        for encoding in all {
            let written = encoding.encode(&model.pool, &Value::Real(n.clone())).unwrap();
            let json = match &written {
                Value::Str(text) => json!(&**text),
                number => json!(number.to_rational().unwrap().to_string().parse::<serde_json::Number>().unwrap()),
            };
            let read = encoding.decode(&model.pool, Sort::Real, &json).unwrap();
            prop_assert_eq!(read.to_string().parse::<Rational>().unwrap(), n.clone(), "{:?} {}", encoding, json);
            // An `int` has the whole seconds.
            if encoding != FieldEncoding::Text {
                let read = encoding.decode(&model.pool, Sort::Int, &json).unwrap();
                prop_assert_eq!(read.to_string().parse::<i64>().unwrap(), whole);
            }
        }
    }
}

#[test]
fn known_texts_have_these_encodings() {
    let model = model();
    for (encoding, text, written) in [
        (FieldEncoding::Base64, "foob", "Zm9vYg=="),
        (FieldEncoding::Base64, "~~?", "fn4/"),
        (FieldEncoding::Base64Url, "~~?", "fn4_"),
        (FieldEncoding::Base64Url, "foob", "Zm9vYg"),
        (FieldEncoding::Hex, "é1", "c3a931"),
        (FieldEncoding::Percent, "a b/é", "a%20b%2F%C3%A9"),
    ] {
        let found = encoding.encode(&model.pool, &Value::str(text)).unwrap();
        assert_eq!(found, Value::str(written));
        assert_eq!(encoding.decode(&model.pool, Sort::Str, &json!(written)), Ok(json!(text)));
    }
}

#[test]
fn a_text_without_the_encoding_is_refused() {
    let model = model();
    for (encoding, sort, wrong) in [
        (FieldEncoding::Base64, Sort::Str, json!("Zm9vYg=")),
        (FieldEncoding::Base64, Sort::Str, json!("Zm9v_g==")),
        (FieldEncoding::Base64, Sort::Str, json!("Zm9vYh==")),
        (FieldEncoding::Base64, Sort::Str, json!("/w==")),
        (FieldEncoding::Base64, Sort::Str, json!(7)),
        (FieldEncoding::Hex, Sort::Str, json!("abc")),
        (FieldEncoding::Hex, Sort::Str, json!("zz")),
        (FieldEncoding::Percent, Sort::Str, json!("%4")),
        (FieldEncoding::Text, Sort::Int, json!(7)),
        (FieldEncoding::Text, Sort::Int, json!("seven")),
        (FieldEncoding::Text, Sort::Bool, json!("yes")),
        (FieldEncoding::Rfc3339, Sort::Int, json!("yesterday")),
        (FieldEncoding::Milliseconds, Sort::Int, json!("5")),
    ] {
        assert!(encoding.decode(&model.pool, sort, &wrong).is_err(), "{encoding:?} {wrong}");
    }
}

#[test]
fn places_are_those_of_the_model() {
    let model = model();
    let good = [
        ("PUT.key", FieldEncoding::Base64),
        ("PUT.keys", FieldEncoding::Hex),
        ("PUT.due", FieldEncoding::Rfc3339),
        ("GOT.ok", FieldEncoding::Text),
        ("Item.price", FieldEncoding::Text),
        ("Item.at", FieldEncoding::Duration),
    ];
    assert_eq!(encodings(&good).check(&model), Ok(()));
    let wrong = encodings(&[("PUT.kye", FieldEncoding::Hex)]).check(&model);
    assert_eq!(wrong, Err(BadEncodingPlace::NoField("PUT.kye".into())));
    for bad in [
        ("PUT.key", FieldEncoding::Rfc3339),
        ("Item.price", FieldEncoding::Hex),
        ("PUT.item", FieldEncoding::Text),
        ("Item.tags", FieldEncoding::Hex),
    ] {
        assert!(matches!(encodings(&[bad]).check(&model), Err(BadEncodingPlace::Sort { .. })), "{bad:?}");
    }
    assert!("base46".parse::<FieldEncoding>().is_err());
}

#[test]
fn the_fields_of_a_message_are_encoded() {
    let model = model();
    let all = encodings(&[("PUT.key", FieldEncoding::Base64), ("PUT.due", FieldEncoding::Rfc3339)]);
    let gate = model.sts.gate_named("PUT").unwrap();
    let label = Label::Input(gate, vec![Value::str("a"), Value::int(1), Value::int(0), Value::int(2)]);
    let Label::Input(_, values) = all.encode_label(&model, &label).unwrap() else { panic!("an input") };
    assert_eq!(values[0], Value::str("YQ=="));
    assert_eq!(values[1], Value::int(1));
    assert_eq!(values[2], Value::str("1970-01-01T00:00:00Z"));
    let far = Label::Input(gate, vec![Value::str("a"), Value::int(1), Value::int(1 << 60), Value::int(2)]);
    assert!(all.encode_label(&model, &far).is_err(), "no date has this year");
}
