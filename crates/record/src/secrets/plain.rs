//! Texts without their escapes: percent-encoding and forms, JSON and other escapes with a backslash, entities of HTML
//! and XML, one inside the other, and lines that were wrapped.
//!
//! A secret in such a spelling has many forms, since everybody escapes other characters. So it is not the secret that
//! is spelled in all ways: the text is read as whoever wrote it meant it, and every byte knows where it came from.

/// The number of encodings inside each other that are undone. Chosen by feel: nobody wraps more, and each layer is
/// another pass.
const MAX_LAYERS: usize = 4;

/// A byte and the bytes of the text that it was read from.
#[derive(Clone, Copy)]
struct ReadByte {
    byte: u8,
    start: usize,
    end: usize,
}

/// A text without escapes.
pub(super) struct PlainText {
    /// The bytes that are meant.
    pub(super) bytes: Vec<u8>,
    /// The first byte of the text that each was read from, and the one after the last.
    pub(super) places: Vec<(usize, usize)>,
}

impl PlainText {
    /// Reads `text`; `None` if nothing in it can be an escape.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        if !text.iter().any(|byte| b"%\\&+\r\n".contains(byte)) {
            return None;
        }
        let mut read: Vec<ReadByte> =
            text.iter().enumerate().map(|(at, &byte)| ReadByte { byte, start: at, end: at + 1 }).collect();
        for _ in 0..MAX_LAYERS {
            let before = read.len();
            read = undone(&read);
            if read.len() == before {
                break;
            }
        }
        Some(Self {
            bytes: read.iter().map(|it| it.byte).collect(),
            places: read.iter().map(|it| (it.start, it.end)).collect(),
        })
    }
}

/// Undoes one layer of escapes. A `+` is a space, as in forms, and ends of lines are left out; both are so for secrets
/// too.
fn undone(text: &[ReadByte]) -> Vec<ReadByte> {
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&here) = text.get(at) {
        let escape = match here.byte {
            b'%' => hex(text, at + 1, 2).map(|code| (vec![code as u8], 3)),
            b'\\' => backslash(text, at),
            b'&' => entity(text, at),
            _ => None,
        };
        let (bytes, n) = escape.unwrap_or_else(|| (vec![here.byte], 1));
        let end = text[at + n - 1].end;
        for byte in bytes {
            match byte {
                b'\r' | b'\n' => (),
                b'+' => plain.push(ReadByte { byte: b' ', start: here.start, end }),
                byte => plain.push(ReadByte { byte, start: here.start, end }),
            }
        }
        at += n;
    }
    plain
}

/// Returns the number that `n` hexadecimal digits from `at` make; `None` if there are fewer.
fn hex(text: &[ReadByte], at: usize, n: usize) -> Option<u32> {
    let digits = text.get(at..at + n)?;
    digits.iter().try_fold(0_u32, |number, digit| {
        let digit = char::from(digit.byte).to_digit(16)?;
        number.checked_mul(16)?.checked_add(digit)
    })
}

/// Returns the bytes that an escape with a backslash at `at` means, and its length; `None` if it is no known escape.
fn backslash(text: &[ReadByte], at: usize) -> Option<(Vec<u8>, usize)> {
    let single = |byte: u8| Some((vec![byte], 2));
    match text.get(at + 1)?.byte {
        b'n' => single(b'\n'),
        b'r' => single(b'\r'),
        b't' => single(b'\t'),
        b'b' => single(8),
        b'f' => single(12),
        b'0' => single(0),
        byte @ (b'"' | b'\'' | b'\\' | b'/' | b'`') => single(byte),
        b'x' => hex(text, at + 2, 2).map(|code| (vec![code as u8], 4)),
        b'u' if text.get(at + 2)?.byte == b'{' => {
            let digits = text[at + 3..].iter().take(7).position(|it| it.byte == b'}')?;
            Some((utf8(hex(text, at + 3, digits)?)?, digits + 4))
        }
        b'u' => decode_unit(text, at),
        _ => None,
    }
}

/// Returns the bytes of `\uXXXX` at `at`, or of two that are one character together.
fn decode_unit(text: &[ReadByte], at: usize) -> Option<(Vec<u8>, usize)> {
    let first = hex(text, at + 2, 4)?;
    let has_second = text.get(at + 6).is_some_and(|it| it.byte == b'\\')
        && text.get(at + 7).is_some_and(|it| it.byte == b'u');
    if (0xd800..0xdc00).contains(&first) && has_second {
        let second = hex(text, at + 8, 4).filter(|second| (0xdc00..0xe000).contains(second))?;
        return Some((utf8(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))?, 12));
    }
    Some((utf8(first)?, 6))
}

/// Returns the bytes that an entity of HTML at `at` means, and its length; `None` if it is none.
fn entity(text: &[ReadByte], at: usize) -> Option<(Vec<u8>, usize)> {
    let name: Vec<u8> =
        text[at + 1..].iter().take(9).map(|it| it.byte).take_while(|&byte| byte != b';').collect();
    text.get(at + 1 + name.len()).filter(|it| it.byte == b';')?;
    let bytes = match &name[..] {
        b"amp" => b"&".to_vec(),
        b"lt" => b"<".to_vec(),
        b"gt" => b">".to_vec(),
        b"quot" => b"\"".to_vec(),
        b"apos" => b"'".to_vec(),
        [b'#', b'x' | b'X', digits @ ..] => utf8(parse_digits(digits, 16)?)?,
        [b'#', digits @ ..] => utf8(parse_digits(digits, 10)?)?,
        _ => return None,
    };
    Some((bytes, name.len() + 2))
}

fn parse_digits(digits: &[u8], base: u32) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, base).ok()
}

/// Returns the bytes of a character in UTF-8; `None` if `code` is no character.
fn utf8(code: u32) -> Option<Vec<u8>> {
    char::from_u32(code).map(|letter| letter.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        PlainText::parse(text.as_bytes())
            .map_or_else(|| text.to_owned(), |plain| String::from_utf8(plain.bytes).unwrap())
    }

    #[test]
    fn escapes_are_undone_one_inside_the_other() {
        for (text, meant) in [
            ("nothing", "nothing"),
            ("a%2Fb%2fc", "a/b/c"),
            ("a%252Fb", "a/b"),
            ("a+b", "a b"),
            (r#"say \"hi\" \\ \/ \u00e9 \u{e9} \xe"#, r#"say "hi" \ / é é \xe"#),
            (r"\ud83d\ude00", "😀"),
            ("&lt;&amp;&gt;&quot;&#39;&#x27;&apos;", "<&>\"'''"),
            (r"%5C%22", "\""),
            ("wrapped\r\nline", "wrappedline"),
            ("100% & more; \\q &nope;", "100% & more; \\q &nope;"),
        ] {
            assert_eq!(plain(text), meant, "{text}");
        }
    }

    #[test]
    fn every_byte_knows_where_it_came_from() {
        let text = "x%2Fy&amp;z";
        let plain = PlainText::parse(text.as_bytes()).unwrap();
        let from: Vec<&str> = plain.places.iter().map(|&(start, end)| &text[start..end]).collect();
        assert_eq!(from, ["x", "%2F", "y", "&amp;", "z"]);
    }
}
