use std::collections::VecDeque;
use std::io;

use proptest::prelude::*;

use super::*;

/// A source that gives these chunks, then falls silent or ends.
struct Script {
    chunks: VecDeque<Vec<u8>>,
    ends: bool,
}

impl Source for Script {
    fn read(&mut self, buffer: &mut Vec<u8>, wait: Duration) -> io::Result<Got> {
        match self.chunks.pop_front() {
            Some(chunk) => {
                buffer.extend_from_slice(&chunk);
                Ok(Got::Some(Instant::now()))
            }
            None if self.ends => Ok(Got::End),
            None => {
                std::thread::sleep(wait);
                Ok(Got::Nothing)
            }
        }
    }
}

fn frames(bytes: &[u8], framing: Framing, size: usize, ends: bool) -> Frames {
    let chunks = bytes.chunks(size.max(1)).map(<[u8]>::to_vec).collect();
    Frames::new(Script { chunks, ends }, framing, Interrupt::never())
}

/// All frames up to the first error, and that error.
fn all(mut frames: Frames) -> (Vec<String>, AdapterError) {
    let mut found = Vec::new();
    loop {
        match frames.next(Instant::now() + Duration::from_secs(5)) {
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
        check(b"one\r\n\ntwo", Framing::Line, &["one", "", "two"], true);
        check(b"a;b;;c;;", Framing::Delimiter(";;".into()), &["a;b", "c"], true);
        check(b"a;b;;c;", Framing::Delimiter(";;".into()), &["a;b"], false);
        check(b"\0\x02ab\0\x01c", Framing::Length(2), &["ab", "c"], true);
        check(b"\0\x02ab\0\x01", Framing::Length(2), &["ab"], false);
        check(b"\xff\xff\xff", Framing::Length(3), &[], false);
        check(b"a\xff\n", Framing::Line, &[], false);
    }
    assert_eq!(framed(&Framing::Length(2), "ab"), Ok(b"\0\x02ab".to_vec()));
    assert!(framed(&Framing::Length(1), &"x".repeat(256)).is_err());
}

#[test]
fn half_a_frame_is_no_silence() {
    let soon = || Instant::now() + Duration::from_millis(20);
    let mut half = frames(b"whole\nha", Framing::Line, 100, false);
    assert_eq!(half.next(soon()), Ok(Some("whole".into())));
    assert_eq!(half.next(Instant::now()), Ok(None), "a mere look");
    let error = half.next(soon()).unwrap_err().to_string();
    assert!(error.contains("half a message; it wrote: ha"), "{error}");
    assert_eq!(frames(b"", Framing::Line, 1, false).next(soon()), Ok(None));
}

#[test]
fn a_frame_too_long_is_refused_before_it_ends() {
    let long = vec![b'x'; MAX_LINE + 2];
    for framing in [Framing::Line, Framing::Delimiter(";;".into())] {
        let (found, error) = all(frames(&long, framing, 60_000, false));
        assert!(found.is_empty() && error.to_string().contains("too long"), "{error}");
    }
}

#[test]
fn an_interrupt_ends_a_wait() {
    static FLAG: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
    let mut silent =
        Frames::new(Script { chunks: VecDeque::new(), ends: false }, Framing::Line, Interrupt::by(&FLAG));
    let heard = silent.next(Instant::now() + Duration::from_secs(3600));
    assert_eq!(heard, Err(AdapterError::Interrupted));
}

proptest! {
    /// The second opinion: splitting the whole text at once.
    #[test]
    fn chunks_do_not_matter(text in "[ab;\n]{0,60}", size in 1usize..9) {
        let mut expected: Vec<&str> = text.split('\n').collect();
        if expected.last() == Some(&"") {
            expected.pop();
        }
        prop_assert_eq!(all(frames(text.as_bytes(), Framing::Line, size, true)).0, expected);
        let mut expected: Vec<&str> = text.split(";;").collect();
        expected.pop();
        let found = all(frames(text.as_bytes(), Framing::Delimiter(";;".into()), size, true)).0;
        prop_assert_eq!(found, expected);
    }
}
