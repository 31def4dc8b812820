use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn layout(text: &str) -> MessageLayout {
    MessageLayout::parse(text, Endian::Big).unwrap_or_else(|bad| panic!("{bad}"))
}

fn number(n: i128) -> LayoutValue {
    LayoutValue::Number(n)
}

fn bytes(text: &str) -> LayoutValue {
    LayoutValue::Bytes(text.as_bytes().to_vec())
}

#[track_caller]
fn check(text: &str, fields: &[(&str, LayoutValue)], expected: &str) {
    let layout = layout(text);
    let written = layout.encode(fields).unwrap_or_else(|problem| panic!("{text}: {problem}"));
    assert_eq!(hex(&written), expected.replace(' ', ""), "{text}");
    assert_eq!(layout.decode(&written).as_deref(), Ok(fields), "{text}");
}

#[test]
fn messages_are_laid_out() {
    check(
        "0x01, u8 a, u16 b, u16le c",
        &[("a", number(2)), ("b", number(3)), ("c", number(4))],
        "01 02 0003 0400",
    );
    check(
        "i8 a, i24 b, i64le c",
        &[("a", number(-1)), ("b", number(-2)), ("c", number(-3))],
        "ff fffffe fdffffffffffffff",
    );
    check("'OK', u16 = 0x0102, skip(2)", &[], "4f4b 0102 0000");
    check("bits(3 mode, 1 on, 4 = 5)", &[("mode", number(6)), ("on", number(1))], "d5");
    check("bitsle(12 a, 4 b)", &[("a", number(0x123)), ("b", number(4))], "3412");
    check("u8 len(s), text s, u8 x", &[("s", bytes("tea")), ("x", number(7))], "03 746561 07");
    check("u8 len(message), u8 len(rest), text s", &[("s", bytes("ab"))], "04 02 6162");
    check(
        "u16le len(s) + 2, u8 len(t) - 1, text t, text s",
        &[("t", bytes("x")), ("s", bytes("ab"))],
        "0400 00 78 6162",
    );
    check(
        "text a until 0x00, text(4) b, hex c",
        &[("a", bytes("x")), ("b", bytes("yz")), ("c", bytes("!"))],
        "7800 797a0000 21",
    );
    check("hex k, crc16", &[("k", bytes("123456789"))], "313233343536373839 29b1");
    check("hex k, crc16modbusle", &[("k", bytes("123456789"))], "313233343536373839 374b");
    check("varint len(rest), varint n", &[("n", number(300))], "02 ac02");
    check("u8 colour(red = 1, blue = 0x10)", &[("colour", number(16))], "10");
}

#[test]
fn bytes_that_are_no_message_say_where_and_why() {
    for (text, bytes, says) in [
        ("0x01, u8 a", "02 05", "at byte 0: 0x01 is expected, not 0x02"),
        ("0x01, u8 a", "01", "at byte 1: the message ends inside a number"),
        ("0x01, u8 a", "01 02 03", "at byte 2: 1 bytes more than the layout has"),
        ("u8 = 3", "04", "the constant 3 is 3 here, not 4"),
        ("u8 len(s), text s", "05 61", "at byte 1: 5 bytes are needed, 1 are there"),
        ("u8 len(s) + 3, text s", "02", "the length of `s` cannot be 2"),
        ("u8 len(message), hex s", "05 61", "the length of the message is 2 here, not 5"),
        ("text s", "ff", "`s` is not UTF-8"),
        ("text s until 0x00", "61", "`s` does not end with 0x00"),
        ("hex k, sum8", "01 02 04", "at byte 2: the checksum is 0x3 here, not 0x4"),
        ("varint n", "ffffffffffffffffffffff", "more than 64 bits"),
        ("bits(4 a, 4 = 1)", "12", "the constant 1 is 1 here, not 2"),
    ] {
        let found = unhex(&bytes.replace(' ', "")).unwrap();
        let misfit = layout(text).decode(&found).unwrap_err().to_string();
        assert!(misfit.contains(says), "{text}: should say `{says}`: {misfit}");
    }
}

#[test]
fn values_that_do_not_fit_are_not_sent() {
    for (text, fields, says) in [
        ("u8 a", ("a", number(256)), "`a`: 256 does not fit: it is not in 0..255"),
        ("i8 a", ("a", number(128)), "not in -128..127"),
        ("bits(3 a, 5 = 0)", ("a", number(8)), "8 does not fit into 3 bits"),
        ("text(2) a", ("a", bytes("abc")), "`a` has 3 bytes, more than 2"),
        ("text(2) a", ("a", bytes("a\0")), "ends with a zero"),
        ("hex(2) a", ("a", bytes("a")), "`a` has 1 bytes, not 2"),
        ("text a until '::'", ("a", bytes("x:")), "`a` holds its own end mark"),
        ("u8 len(a), text a", ("a", bytes(&"x".repeat(256))), "the length of `a`: 256 does not fit"),
        ("u8 b", ("a", number(1)), "`b` has no value"),
    ] {
        let problem = layout(text).encode(&[fields]).unwrap_err().to_string();
        assert!(problem.contains(says), "{text}: should say `{says}`: {problem}");
    }
}

#[test]
fn mistakes_name_the_item() {
    for (text, says) in [
        ("u8 a, u17 b", "`u17 b` (item 2): there is no such item"),
        ("", "at least one item"),
        ("u8 a, , u8 b", "(item 2)"),
        ("u8", "a name is missing"),
        ("u8 a b", "`a b` is not a name"),
        ("u8 a, u8 a", "`a` occurs twice"),
        ("0x123", "an even number"),
        ("u8 = 256", "256 does not fit"),
        ("u8 a(x = 1, y = 1)", "not the only one"),
        ("u8 a(x = 300)", "300 does not fit"),
        ("bits(3 a, 4 b)", "these are 7 bits"),
        ("bits(3 a, 5 = 32)", "32 does not fit into 5 bits"),
        ("text a, text b", "the end of `a` is not known"),
        ("text a, u8 len(a)", "must come before it"),
        ("u8 len(b), text a", "there is no text or hex field `b`"),
        ("u8 len(a), u8 a", "it is a number"),
        ("u8 len(a), text(3) a", "given twice"),
        ("varint len(message), text a", "needs a fixed size"),
        ("skip", "write `skip(BYTES)`"),
        ("crc32 x", "a checksum has no name"),
        ("text a until 0x", "an even number"),
        ("skip(1048576), skip(1048576)", "too long"),
    ] {
        let bad = MessageLayout::parse(text, Endian::Big).unwrap_err().to_string();
        assert!(bad.contains(says), "{text}: should say `{says}`: {bad}");
    }
}

#[test]
fn layouts_that_cannot_be_told_apart_are_known() {
    for (first, second, is_ambiguous) in [
        ("0x01, u8 a", "0x02, u8 a", false),
        ("u8 a", "u16 b", false),
        ("u8 a, u8 b", "u16 c", true),
        ("0x01, u8 a", "u8 k, u8 a", false),
        ("u8 k, u8 a", "0x01, u8 a", true),
        ("bits(1 = 0, 7 a)", "bits(1 = 1, 7 b)", false),
        ("bits(1 = 0, 7 a)", "bits(7 b, 1 = 1)", true),
        ("0x01, text a", "0x01, hex b", true),
        ("u16 = 258", "0x0103", false),
    ] {
        assert_eq!(layout(first).is_ambiguous_before(&layout(second)), is_ambiguous, "{first} / {second}");
    }
}

/// An item with a field called `name`, and a value for it.
fn item(name: String) -> impl Strategy<Value = (String, Option<(String, LayoutValue)>)> {
    let numbers = (0usize..8, any::<bool>(), any::<bool>(), any::<u64>()).prop_map({
        let name = name.clone();
        move |(width, is_signed, is_little, value)| {
            let bits = 8 * (width + 1);
            let value = i128::from(value) & ((1 << bits) - 1);
            let value = if is_signed { value - (1 << (bits - 1)) } else { value };
            let (sign, order) = (if is_signed { 'i' } else { 'u' }, if is_little { "le" } else { "be" });
            (format!("{sign}{bits}{order} {name}"), Some((name.clone(), number(value))))
        }
    });
    let counted = ("[a-z\u{e0}-\u{ff}\0]{0,9}", prop_oneof!["u8", "u16le", "varint"], 0u8..9).prop_map({
        let name = name.clone();
        move |(text, size, plus)| {
            (format!("{size} len({name}) + {plus}, text {name}"), Some((name.clone(), bytes(&text))))
        }
    });
    let ended = "[a-z]{0,9}".prop_map({
        let name = name.clone();
        move |text| (format!("text {name} until 0x00"), Some((name.clone(), bytes(&text))))
    });
    let fixed = (vec(any::<u8>(), 1..5)).prop_map({
        let name = name.clone();
        move |value| (format!("hex({}) {name}", value.len()), Some((name.clone(), LayoutValue::Bytes(value))))
    });
    let bits = (1u32..16, any::<u16>(), any::<bool>()).prop_map({
        move |(count, value, is_little)| {
            let value = i128::from(value) & ((1 << count) - 1);
            let word = if is_little { "bitsle" } else { "bits" };
            (format!("{word}({count} {name}, {} = 1)", 16 - count), Some((name.clone(), number(value))))
        }
    });
    let bare = prop_oneof![
        "0x[0-9a-f]{2}",
        "'[a-z]{1,3}'",
        "u16 = [0-9]{1,4}",
        "skip\\([1-3]\\)",
        "crc32",
        "xor8",
        "u32 len\\(message\\)",
        "varint len\\(rest\\)"
    ];
    prop_oneof![numbers, counted, ended, fixed, bits, bare.prop_map(|text| (text, None))]
}

fn items() -> impl Strategy<Value = Vec<(String, Option<(String, LayoutValue)>)>> {
    (1usize..8).prop_flat_map(|n| (0..n).map(|n| item(format!("f{n}"))).collect::<Vec<_>>())
}

proptest! {
    /// The second opinion: what was written is read again, for any layout and any values; and one byte less,
    /// or more, is not a message of it.
    #[test]
    fn what_is_written_is_read_again(items in items()) {
        let text = items.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ");
        let layout = layout(&text);
        let named = items.iter().filter_map(|(_, field)| field.as_ref());
        let fields: Vec<(&str, LayoutValue)> = named.map(|(name, datum)| (name.as_str(), datum.clone())).collect();
        let written = layout.encode(&fields).unwrap();
        prop_assert_eq!(layout.decode(&written), Ok(fields));
        prop_assert!(layout.decode(&written[..written.len() - 1]).is_err());
        prop_assert!(layout.decode(&[&written[..], b"x"].concat()).is_err());
    }

    #[test]
    fn no_bytes_and_no_text_panic(
        items in items(), found in vec(any::<u8>(), 0..40), text in "[a-z0-9()=, '_+x-]{0,40}", other in ".{0,20}",
    ) {
        let good = items.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ");
        layout(&good).decode(&found).ok();
        for text in [text, other] {
            if let Ok(layout) = MessageLayout::parse(&text, Endian::Little) {
                layout.decode(&found).ok();
                layout.encode(&[]).ok();
                prop_assert!(layout.is_ambiguous_before(&layout));
            }
        }
    }

    /// A message read from any bytes is written as the same bytes, where nothing is skipped or filled up.
    #[test]
    fn what_is_read_is_written_again(found in vec(any::<u8>(), 0..12)) {
        for text in ["u8 a, u16le b, hex c", "i8 len(c) + 100, hex c", "bits(3 a, 13 b), hex c until 0x00, i24 d"] {
            let layout = layout(text);
            if let Ok(fields) = layout.decode(&found) {
                prop_assert_eq!(layout.encode(&fields), Ok(found.clone()));
            }
        }
    }
}
