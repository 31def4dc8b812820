use proptest::prelude::*;

use super::*;
use crate::codec::layout::Endian;
use crate::samples::model;

const LAMP: &str = "model Lamp {
    enum Colour { red, green, blue }
    input SET(lamp: 0..9, level: int, on: bool)
    input NAME(name: string, key: string)
    output STATE(lamp: int, colour: Colour, on: bool)
    output NAMED(name: string)
    state a { on SET on NAME emit STATE emit NAMED }
}";

fn layouts(all: &[(&str, &str)]) -> Vec<(String, MessageLayout)> {
    all.iter()
        .map(|(name, text)| ((*name).into(), MessageLayout::parse(text, Endian::Big).unwrap()))
        .collect()
}

const INPUTS: [(&str, &str); 2] =
    [("SET", "0x01, u8 lamp, i16 level, u8 on"), ("NAME", "0x02, u8 len(name), text name, hex key")];
const OUTPUTS: [(&str, &str); 2] = [
    ("STATE", "0x81, bits(4 lamp, 3 colour(red = 1, green = 2, blue = 4), 1 on)"),
    ("NAMED", "0x82, text name, xor8"),
];

fn config() -> BinaryConfig {
    BinaryConfig { inputs: layouts(&INPUTS), outputs: layouts(&OUTPUTS) }
}

#[test]
fn messages_become_bytes_and_back() {
    let model = model(LAMP);
    let codec = BinaryCodec::new(&config(), &model).unwrap();
    let input = |name: &str, values: Vec<Value>| {
        codec
            .encode(&model, &Label::Input(model.sts.gate_named(name).unwrap(), values))
            .map(|bytes| hex(&bytes))
    };
    assert_eq!(input("SET", vec![Value::int(3), Value::int(-2), Value::Bool(true)]), Ok("0103fffe01".into()));
    assert_eq!(input("NAME", vec![Value::str("ü"), Value::str("00Ff")]), Ok("0202c3bc00ff".into()));
    let odd = input("NAME", vec![Value::str(""), Value::str("0")]).unwrap_err();
    assert!(odd.to_string().contains("`key` is not an even number"), "{odd}");
    let huge = Value::Int("1".repeat(60).parse().unwrap());
    assert!(
        input("SET", vec![Value::int(3), huge, Value::Bool(true)])
            .unwrap_err()
            .to_string()
            .contains("too large")
    );
    let output =
        |bytes: &str| codec.decode(&model, &unhex(bytes).unwrap()).map(|l| l.show(&model.pool, &model.sts));
    assert_eq!(output("8139"), Ok("!STATE(lamp: 3, colour: blue, on: true)".into()));
    assert_eq!(output("82 41 c3".replace(' ', "").as_str()), Ok("!NAMED(name: \"A\")".into()));
    assert_eq!(output("8136").unwrap_err().to_string(), "`STATE.colour`: expected Colour, found 3");
    assert_eq!(
        output("8300").unwrap_err().to_string(),
        "no layout fits (`STATE` at byte 0: 0x81 is expected, not 0x83; `NAMED` at byte 0: 0x82 is expected, not 0x83)"
    );
}

#[test]
fn mistakes_are_named() {
    let model = model(LAMP);
    let problem = |inputs: &[(&str, &str)], outputs: &[(&str, &str)]| {
        let config = BinaryConfig { inputs: layouts(inputs), outputs: layouts(outputs) };
        BinaryCodec::new(&config, &model).unwrap_err().to_string()
    };
    let set = |layout| [("SET", layout), INPUTS[1]];
    let state = |layout| [("STATE", layout), OUTPUTS[1]];
    for (told, says) in [
        (problem(&INPUTS[..1], &OUTPUTS), "no layout for the input `NAME`"),
        (problem(&INPUTS, &OUTPUTS[..1]), "no layout for the output `NAMED`"),
        (problem(&[("GET", "0x01")], &OUTPUTS), "no input `GET`"),
        (problem(&set("u8 lamp, u8 on"), &OUTPUTS), "the place of the field `level` is not given"),
        (problem(&set("u8 lamp, u8 on, u8 level, u8 x"), &OUTPUTS), "no field `x`"),
        (problem(&set("text lamp, u8 on, u8 level"), &OUTPUTS), "field `lamp`: only a string"),
        (problem(&set("u8 lamp(a = 1), u8 on, u8 level"), &OUTPUTS), "only values of an enum have names"),
        (problem(&INPUTS, &state("u8 lamp, u8 colour(red = 1), u8 on")), "there is no number for `green`"),
        (problem(&INPUTS, &state("u8 lamp, u8 colour(pink = 1), u8 on")), "no value `pink`"),
        (problem(&INPUTS, &[OUTPUTS[0], ("NAMED", "u8 name")]), "written as `text` or `hex`"),
    ] {
        assert!(told.contains(says), "should say `{says}`: {told}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        let model = model(LAMP);
        let codec = BinaryCodec::new(&config(), &model).unwrap();
        codec.decode(&model, &bytes).ok();
    }
}
