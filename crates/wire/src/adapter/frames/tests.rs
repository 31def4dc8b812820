use std::collections::VecDeque;
use std::io;

use proptest::prelude::*;

use super::*;
use crate::adapter::AwaitedPart;
use crate::codec::layout::{Endian, NumberLayout};
use crate::codec::text::{AnnouncedFrame, CountedConfig, TextCodec, TextConfig};

/// A source that gives these chunks, then falls silent or ends.
struct Script {
    chunks: VecDeque<Vec<u8>>,
    ends: bool,
}

impl ByteSource for Script {
    fn read(&mut self, buffer: &mut Vec<u8>, wait: Duration) -> io::Result<ReadResult> {
        match self.chunks.pop_front() {
            Some(chunk) => {
                buffer.extend_from_slice(&chunk);
                Ok(ReadResult::Some(Instant::now()))
            }
            None if self.ends => Ok(ReadResult::End),
            None => {
                std::thread::sleep(wait);
                Ok(ReadResult::Nothing)
            }
        }
    }
}

/// Limits that no test reaches.
const GENEROUS: MessageLimits =
    MessageLimits { pause: Duration::from_secs(3600), total: Duration::from_secs(3600) };

fn frames(bytes: &[u8], framing: Framing, size: usize, ends: bool) -> Frames {
    frames_within(GENEROUS, bytes, framing, size, ends)
}

fn frames_within(limits: MessageLimits, bytes: &[u8], framing: Framing, size: usize, ends: bool) -> Frames {
    let chunks = bytes.chunks(size.max(1)).map(<[u8]>::to_vec).collect();
    Frames::new(Script { chunks, ends }, framing, limits, Interrupt::never())
}

/// All frames up to the first error, and that error.
fn all(mut frames: Frames) -> (Vec<String>, AdapterError) {
    let mut found = Vec::new();
    loop {
        match frames.next_message(Instant::now() + Duration::from_secs(5)) {
            Ok(Some(text)) => found.push(text),
            Ok(None) => panic!("this script ends"),
            Err(error) => return (found, error),
        }
    }
}

#[test]
fn frames_end_where_they_should() {
    for size in 1..10 {
        let check = |bytes: &[u8], framing: Framing, expected: &[&str], closed: bool| {
            let (found, error) = all(frames(bytes, framing, size, true));
            assert_eq!(found, expected);
            assert_eq!(matches!(error, AdapterError::Closed), closed, "{error}");
        };
        check(b"a\r\nb\n", Framing::Line, &["a", "b"], true);
        check(b"one\r\n\ntwo", Framing::Line, &["one", ""], false);
        check(b"a;b;;c;;", Framing::Delimiter(";;".into()), &["a;b", "c"], true);
        check(b"a;b;;c;", Framing::Delimiter(";;".into()), &["a;b"], false);
        check(b"\0\x02ab\0\x01c", Framing::Length(2), &["ab", "c"], true);
        check(b"\0\x02ab\0\x01", Framing::Length(2), &["ab"], false);
        check(b"\xff\xff\xff", Framing::Length(3), &[], false);
        check(b"a\xff\n", Framing::Line, &[], false);
        check(b"abcdef", Framing::Fixed(2), &["ab", "cd", "ef"], true);
        check(b"abcde", Framing::Fixed(2), &["ab", "cd"], false);
        let counted = |at, word, counts| {
            let number = NumberLayout::from_word(word, Endian::Big).unwrap();
            Framing::Counted(LengthField { at, number, counts })
        };
        check(b"a\x02bcd\0e", counted(1, "u8", LengthUnit::Rest), &["a\x02bc", "d\0"], false);
        check(b"\x03\0a\x02\0", counted(0, "u16le", LengthUnit::Message), &["\x03\0a", "\x02\0"], true);
        check(b"\x01\0a", counted(0, "u16le", LengthUnit::Message), &[], false);
        check(b"h\x01tai", counted(1, "u8", LengthUnit::After(3)), &["h\x01ta"], false);
        check(b"a\x01b", counted(1, "varint", LengthUnit::Rest), &["a\x01b"], true);
        check(&[0xff; 12], counted(0, "varint", LengthUnit::Rest), &[], false);
    }
    assert_eq!(write_frame(&Framing::Length(2), "ab"), Ok(b"\0\x02ab".to_vec()));
    assert!(write_frame(&Framing::Length(1), &"x".repeat(256)).is_err());
}

#[test]
fn half_a_frame_is_no_silence() {
    let soon = || Instant::now() + Duration::from_millis(20);
    let limits = MessageLimits { pause: Duration::from_millis(30), ..GENEROUS };
    let mut half = frames_within(limits, b"whole\nha", Framing::Line, 100, false);
    assert_eq!(half.next_message(soon()), Ok(Some("whole".into())));
    assert_eq!(half.next_message(Instant::now()), Ok(None), "a mere look");
    assert!(half.has_begun());
    let error = half.next_message(soon()).unwrap_err();
    let AdapterError::HalfMessage { line, cut: MessageCut::Stopped(_) } = &error else { panic!("{error}") };
    assert_eq!((line.as_str(), error.breakdown()), ("ha", None));
    assert!(error.to_string().contains("incomplete message: the rest of it did not come"), "{error}");
    assert_eq!(frames(b"", Framing::Line, 1, false).next_message(soon()), Ok(None));
}

/// Returns the error at the end of a stream that consists of these bytes.
fn at_the_end(bytes: &[u8], framing: Framing) -> String {
    all(frames(bytes, framing, 100, true)).1.to_string()
}

#[test]
fn a_line_cut_by_a_crash_is_half_a_message() {
    let (found, error) = all(frames(b"PONG 12\nPONG 1", Framing::Line, 100, true));
    assert_eq!(found, ["PONG 12"]);
    assert_eq!(error, AdapterError::HalfMessage { line: "PONG 1".into(), cut: MessageCut::Closed });
    assert!(
        error.to_string().starts_with("incomplete message: it closed the connection in the middle of it")
    );
    assert_eq!(at_the_end(b"PONG 13\n", Framing::Line), AdapterError::Closed.to_string());
    assert!(at_the_end(b"\x02a", Framing::Length(1)).contains("incomplete message"));
}

/// Frames of a message that goes on after every `more`.
fn joined(script: impl ByteSource + 'static, interrupt: Interrupt) -> Frames {
    let text = TextConfig { more: Some("more".into()), ..TextConfig::default() };
    let model = crate::samples::model("model M { state a {} }");
    let joining = TextCodec::new(&text, &model).unwrap().joining();
    let limits = MessageLimits { total: Duration::from_millis(30), ..GENEROUS };
    Frames::new(script, Framing::Line, limits, interrupt).with_joining(joining)
}

/// Says `more` every time, and nothing in between.
struct Drip(bool);

impl ByteSource for Drip {
    fn read(&mut self, buffer: &mut Vec<u8>, wait: Duration) -> io::Result<ReadResult> {
        self.0 = !self.0;
        if self.0 {
            std::thread::sleep(wait.min(Duration::from_millis(5)));
            return Ok(ReadResult::Nothing);
        }
        buffer.extend_from_slice(b"more\n");
        Ok(ReadResult::Some(Instant::now()))
    }
}

#[test]
fn continuation_frames_do_not_renew_the_deadline() {
    let far = Instant::now() + Duration::from_secs(3600);
    let error = joined(Drip(false), Interrupt::never()).next_message(far).unwrap_err().to_string();
    assert!(is_over(&error), "{error}");
    // Nor does one who only looks.
    let mut frames = joined(Drip(false), Interrupt::never());
    let error = loop {
        match frames.next_message(Instant::now()) {
            Ok(None) => std::thread::yield_now(),
            Ok(Some(text)) => panic!("{text}"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(is_over(&error), "{error}");
}

/// Returns whether the error is an exceeded time limit of a message that still comes.
fn is_over(error: &str) -> bool {
    error.contains("no `end of the message`")
}

/// A source that gives one byte at each read after nothing at the one before, all of them at these instants.
struct Slow {
    bytes: VecDeque<(Duration, u8)>,
    start: Instant,
    gives: bool,
}

impl ByteSource for Slow {
    fn read(&mut self, buffer: &mut Vec<u8>, _wait: Duration) -> io::Result<ReadResult> {
        self.gives = !self.gives;
        match self.bytes.pop_front().filter(|_| self.gives) {
            Some((at, byte)) => {
                buffer.push(byte);
                Ok(ReadResult::Some(self.start + at))
            }
            None => Ok(ReadResult::Nothing),
        }
    }
}

/// Defect: a message had one time limit, and was incomplete if its bytes took longer, however steadily they came.
#[test]
fn a_message_is_waited_for_while_its_bytes_come() {
    // The bytes have come in the past, so no time passes here.
    let start = Instant::now().checked_sub(Duration::from_secs(50)).expect("this machine runs for a minute");
    let bytes = b"PONG 7\n".iter().enumerate().map(|(n, byte)| (Duration::from_secs(n as u64 * 7), *byte));
    let script = || Slow {
        bytes: bytes.clone().flat_map(|one| [one, (Duration::ZERO, b'?')]).collect(),
        start,
        gives: false,
    };
    let limits = MessageLimits { pause: Duration::from_secs(3600), total: Duration::from_secs(3600) };
    let frames = |limits| Frames::new(script(), Framing::Line, limits, Interrupt::never());
    let mut patient = frames(limits);
    assert_eq!(patient.next_message(Instant::now() + Duration::from_millis(1)), Ok(Some("PONG 7".into())));
    assert_eq!(patient.begun_at(), start, "silence ended with its first byte");
    let hasty = MessageLimits { total: Duration::from_secs(40), ..limits };
    let error = frames(hasty).next_message(Instant::now() + Duration::from_millis(1)).unwrap_err();
    assert!(matches!(error, AdapterError::Late { awaited: AwaitedPart::MessageEnd, .. }), "{error}");
}

/// Drops of one byte, so fast that there is never nothing.
struct Drops;

impl ByteSource for Drops {
    fn read(&mut self, buffer: &mut Vec<u8>, _wait: Duration) -> io::Result<ReadResult> {
        std::thread::sleep(Duration::from_millis(1));
        buffer.push(b'x');
        Ok(ReadResult::Some(Instant::now()))
    }
}

/// Defect: the time of a message was looked at only while nothing came.
#[test]
fn a_message_that_comes_drop_by_drop_ends_with_its_time() {
    let far = Instant::now() + Duration::from_secs(3600);
    let error = joined(Drops, Interrupt::never()).next_message(far).unwrap_err();
    assert!(matches!(error, AdapterError::Late { awaited: AwaitedPart::MessageEnd, .. }), "{error}");
    assert_eq!(error.breakdown(), None, "no verdict");
}

/// Says `more` without end.
struct Flood;

impl ByteSource for Flood {
    fn read(&mut self, buffer: &mut Vec<u8>, _wait: Duration) -> io::Result<ReadResult> {
        buffer.extend_from_slice(&b"more\n".repeat(1000));
        Ok(ReadResult::Some(Instant::now()))
    }
}

#[test]
fn a_flood_of_continuation_frames_ends_at_a_bound_and_by_an_interrupt() {
    let far = Instant::now() + Duration::from_secs(3600);
    let error = joined(Flood, Interrupt::never()).next_message(far).unwrap_err();
    // Where the machine is slow, the time is over first.
    assert!(matches!(error, AdapterError::TooLarge { .. } | AdapterError::Late { .. }), "{error}");
    static FLAG: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
    assert_eq!(joined(Flood, Interrupt::from_flag(&FLAG)).next_message(far), Err(AdapterError::Interrupted));
}

#[test]
fn counted_bytes_may_hold_anything() {
    let then = AnnouncedFrame::Bytes { end: "\r\n".into() };
    let counted = vec![CountedConfig { frame: r"\$(?P<n>[0-9]+)".into(), then, more: false }];
    let text = TextConfig { counted, ..TextConfig::default() };
    let model = crate::samples::model("model M { state a {} }");
    let joining = TextCodec::new(&text, &model).unwrap().joining();
    for size in 1..9 {
        let read = |bytes: &[u8]| {
            let frames = frames(bytes, Framing::Line, size, true);
            all(frames.with_joining(joining.clone()))
        };
        let (found, error) = read(b"$4\r\na\r\nb\r\n+OK\r\n$0\r\n\r\n");
        assert_eq!(found, ["$4\na\r\nb", "+OK", "$0\n"]);
        assert!(matches!(error, AdapterError::Closed), "{error}");
        let (found, error) = read(b"$4\r\na\r\nbc\r\n");
        assert!(found.is_empty() && error.to_string().contains("not followed by"), "{error}");
        let (found, error) = read(b"$4\r\na\r\nb");
        assert!(found.is_empty() && error.to_string().contains("incomplete message"), "{error}");
    }
}

#[test]
fn a_frame_too_long_is_refused_before_it_ends() {
    let long = vec![b'x'; max_message() + 2];
    for framing in [Framing::Line, Framing::Delimiter(";;".into())] {
        let (found, error) = all(frames(&long, framing, 60_000, false));
        assert!(found.is_empty() && error.to_string().contains("too long"), "{error}");
    }
}

#[test]
fn an_interrupt_ends_a_wait() {
    static FLAG: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
    let mut silent = Frames::new(
        Script { chunks: VecDeque::new(), ends: false },
        Framing::Line,
        GENEROUS,
        Interrupt::from_flag(&FLAG),
    );
    let heard = silent.next_message(Instant::now() + Duration::from_secs(3600));
    assert_eq!(heard, Err(AdapterError::Interrupted));
}

proptest! {
    /// The second opinion: splitting the whole text at once.
    #[test]
    fn chunks_do_not_matter(text in "[ab;\n]{0,60}", size in 1usize..9) {
        let mut expected: Vec<&str> = text.split('\n').collect();
        expected.pop();
        prop_assert_eq!(all(frames(text.as_bytes(), Framing::Line, size, true)).0, expected);
        let mut expected: Vec<&str> = text.split(";;").collect();
        expected.pop();
        let found = all(frames(text.as_bytes(), Framing::Delimiter(";;".into()), size, true)).0;
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60), at in 0usize..4, size in 1usize..9) {
        let number = |word| NumberLayout::from_word(word, Endian::Little).unwrap();
        for framing in [
            Framing::Line,
            Framing::Length(2),
            Framing::Fixed(3),
            Framing::Counted(LengthField { at, number: number("u8"), counts: LengthUnit::Rest }),
            Framing::Counted(LengthField { at, number: number("varint"), counts: LengthUnit::Message }),
            Framing::Counted(LengthField { at, number: number("i16"), counts: LengthUnit::After(at) }),
        ] {
            let mut frames = frames(&bytes, framing, size, true);
            while let Ok(Some(_)) = frames.next_bytes(Instant::now() + Duration::from_secs(5)) {}
        }
    }
}

#[test]
fn inputs_get_the_mark_that_ends_a_message() {
    let mark = Framing::Delimiter("<>".into());
    assert_eq!(Framing::Line.append_end_mark("PING", None), "PING\n");
    for ended in ["PING\n", "PING\r\n", "a\nb\n"] {
        assert_eq!(Framing::Line.append_end_mark(ended, None), ended);
    }
    assert_eq!(Framing::Line.append_end_mark("PING", Some("\r\n")), "PING\r\n");
    assert_eq!(Framing::Line.append_end_mark("PING", Some("")), "PING");
    assert_eq!(
        (mark.append_end_mark("a", None), mark.append_end_mark("a<>", None)),
        ("a<>".into(), "a<>".into())
    );
    assert_eq!(Framing::Length(4).append_end_mark("PING", None), "PING");
}

#[test]
fn only_what_ends_a_message_breaks_its_framing() {
    let mark = Framing::Delimiter("<>".into());
    assert!(!Framing::Line.is_broken_by("a\tb\u{1}") && Framing::Line.is_broken_by("a\nb"));
    for broken in ["a<>b", "a<", ">b"] {
        assert!(mark.is_broken_by(broken), "{broken}");
    }
    assert!(!mark.is_broken_by("a\nb") && !Framing::Length(4).is_broken_by("<>\n"));
}
