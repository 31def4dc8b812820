//! Messages of several frames: the frames so far decide whether and how a message goes on.
//!
//! A frame may announce what belongs to it: a number of bytes or of frames, each of which may
//! announce more. A message of which nothing is owed any more is asked whether it is unfinished:
//! if `more` matches all of it, or its last frame alone, it goes on in the next frame; and it does after a frame
//! that announced something and says that more follows. Only what is
//! finished is held against the patterns of outputs, so no pattern can cut a message short.

use ioxide_record::limits::{Excess, max_message};
use ioxide_record::line::cut;
use regex::bytes::Regex;
use thiserror::Error;

use super::CountedConfig;
use crate::codec::Undecodable;

/// The reason why a description of joined frames cannot be used; its text begins with the key.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BadJoining {
    /// The pattern `more` is no regular expression.
    #[error("more: {0}")]
    More(regex::Error),
    /// The pattern of a frame that announces something is no regular expression.
    #[error("counted: {0}")]
    Counted(regex::Error),
    /// The pattern of a frame that announces something has not just the group `n`.
    #[error("counted: `{0}` needs one named group, `(?P<n>[0-9]+)`: how much follows")]
    NoCount(String),
}

/// The rules by which frames are joined to messages; by default every frame is a message.
#[derive(Clone, Debug, Default)]
pub struct FrameJoining {
    more: Option<Regex>,
    counted: Vec<CountedFrame>,
}

/// A frame that announces what follows it.
#[derive(Clone, Debug)]
struct CountedFrame {
    frame: Regex,
    then: AnnouncedFrame,
    /// True if the message goes on after the announced part.
    more: bool,
}

/// The unit of the number that a frame announces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnouncedFrame {
    /// Bytes, followed by this end mark.
    Bytes {
        /// The end mark, which may be empty.
        end: String,
    },
    /// Frames, each with what it announces itself.
    Frames,
    /// Pairs of frames.
    Pairs,
}

impl AnnouncedFrame {
    /// Returns the number of frames that follow where `count` was announced; 0 if it counts bytes.
    fn frames(&self, count: usize) -> usize {
        match self {
            Self::Bytes { .. } => 0,
            Self::Frames => count,
            Self::Pairs => 2 * count,
        }
    }
}

/// The part that a message needs next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FrameNeed {
    /// A frame.
    #[default]
    Frame,
    /// Bytes and an end mark.
    Bytes {
        /// The number of bytes.
        count: usize,
        /// The end mark.
        end: Vec<u8>,
    },
}

/// A message that is not finished.
#[derive(Debug, Default)]
pub struct UnfinishedMessage {
    bytes: Vec<u8>,
    parts: usize,
    need: FrameNeed,
    /// The numbers of frames that are still missing, innermost announcement last.
    owed: Vec<usize>,
    /// True if the message goes on after the missing frames.
    goes_on: bool,
}

impl FrameJoining {
    /// Reads the patterns.
    ///
    /// # Errors
    /// If one of them is wrong, with its key.
    pub(super) fn new(more: Option<&str>, counted: &[CountedConfig]) -> Result<Self, BadJoining> {
        let more = more.map(full_regex).transpose().map_err(BadJoining::More)?;
        let read = |config: &CountedConfig| {
            let frame = full_regex(&config.frame).map_err(BadJoining::Counted)?;
            match frame.capture_names().flatten().collect::<Vec<_>>()[..] {
                ["n"] => Ok(CountedFrame { frame, then: config.then.clone(), more: config.more }),
                _ => Err(BadJoining::NoCount(config.frame.clone())),
            }
        };
        Ok(Self { more, counted: counted.iter().map(read).collect::<Result<_, BadJoining>>()? })
    }

    /// Returns the rule that a frame matches and the number it announces; `None` if it announces nothing.
    fn announced_count(&self, frame: &[u8]) -> Result<Option<(&CountedFrame, usize)>, Undecodable> {
        let found = self.counted.iter().find_map(|counted| Some((counted, counted.frame.captures(frame)?)));
        let Some((counted, groups)) = found else { return Ok(None) };
        let text = groups.name("n").map_or(&b""[..], |group| group.as_bytes());
        let text = String::from_utf8_lossy(text);
        match text.parse::<usize>() {
            Ok(count) if count <= max_message() => Ok(Some((counted, count))),
            Err(_) if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Err(format!("`{}` is not a count", cut(&text, 20)).into())
            }
            Ok(_) | Err(_) => {
                Err(Undecodable::TooLarge(format!("it announces {}: {}", cut(&text, 20), Excess::bytes())))
            }
        }
    }

    fn is_continued(&self, bytes: &[u8]) -> bool {
        self.more.as_ref().is_some_and(|more| more.is_match(bytes))
    }
}

impl UnfinishedMessage {
    /// Returns the bytes so far, the parts joined by newlines.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the part that must arrive next.
    pub fn need(&self) -> &FrameNeed {
        &self.need
    }

    /// Returns all bytes of the message.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Adds the part that was needed; returns whether the message is now finished.
    ///
    /// # Errors
    /// If it announces nonsense.
    pub fn add(&mut self, joining: &FrameJoining, part: Vec<u8>) -> Result<bool, Undecodable> {
        if self.parts > 0 {
            self.bytes.push(b'\n');
        }
        self.parts += 1;
        let from = self.bytes.len();
        self.bytes.extend(part);
        let is_frame = std::mem::take(&mut self.need) == FrameNeed::Frame;
        if is_frame {
            let announced = joining.announced_count(&self.bytes[from..])?;
            // Only a frame that belongs to no other one decides whether the message goes on after it.
            if self.owed.is_empty() {
                self.goes_on = announced.is_some_and(|(counted, _)| counted.more);
            }
            match announced.map(|(counted, count)| (&counted.then, count)) {
                Some((AnnouncedFrame::Bytes { end }, count)) => {
                    self.need = FrameNeed::Bytes { count, end: end.as_bytes().to_vec() };
                    return Ok(false);
                }
                // The frames that follow are counted below this one, so the announcements form a stack.
                Some((then, count @ 1..)) => {
                    self.owed.push(then.frames(count));
                    return Ok(false);
                }
                Some((_, 0)) | None => (),
            }
        }
        if self.still_owes() {
            return Ok(false);
        }
        if self.goes_on {
            return Ok(false);
        }
        let last_goes_on = is_frame && joining.is_continued(&self.bytes[from..]);
        Ok(!last_goes_on && !joining.is_continued(&self.bytes))
    }

    /// Counts one frame that is complete with all it announced; returns whether further frames are missing.
    fn still_owes(&mut self) -> bool {
        while let Some(left) = self.owed.last_mut() {
            debug_assert!(*left > 0, "an announcement of no frames owes nothing");
            // The frame that is complete may have been the last of several announcements at once.
            *left -= 1;
            if *left > 0 {
                return true;
            }
            self.owed.pop();
        }
        false
    }
}

/// A pattern for all of a text.
fn full_regex(pattern: &str) -> Result<Regex, regex::Error> {
    Regex::new(&format!("\\A(?:{pattern})\\z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joining(more: Option<&str>, counted: &[(&str, AnnouncedFrame)]) -> FrameJoining {
        let config = |(frame, then): &(&str, AnnouncedFrame)| CountedConfig {
            frame: (*frame).into(),
            then: then.clone(),
            more: false,
        };
        FrameJoining::new(more, &counted.iter().map(config).collect::<Vec<_>>()).unwrap()
    }

    /// The messages that these parts are, and what is needed after the last.
    fn join_frames(joining: &FrameJoining, parts: &[&str]) -> (Vec<String>, FrameNeed) {
        let (mut messages, mut begun) = (Vec::new(), UnfinishedMessage::default());
        for part in parts {
            if begun.add(joining, part.as_bytes().to_vec()).unwrap() {
                messages.push(String::from_utf8(std::mem::take(&mut begun).into_bytes()).unwrap());
            }
        }
        (messages, begun.need().clone())
    }

    #[test]
    fn continuation_lines_of_smtp_do_not_break_at_the_second() {
        let smtp = joining(Some("[0-9]{3}-.*"), &[]);
        let lines = ["250-a", "250-SIZE 5", "250-b", "250 HELP", "354 go"];
        assert_eq!(join_frames(&smtp, &lines).0, ["250-a\n250-SIZE 5\n250-b\n250 HELP", "354 go"]);
    }

    #[test]
    fn all_that_came_may_say_that_it_goes_on() {
        let list = joining(Some(r"LIST(\n- .*)*"), &[]);
        assert_eq!(
            join_frames(&list, &["LIST", "- a", "- b", "END", "- c"]).0,
            ["LIST\n- a\n- b\nEND", "- c"]
        );
    }

    #[test]
    fn counted_parts_are_never_asked_what_they_look_like() {
        let bytes = AnnouncedFrame::Bytes { end: "\r\n".into() };
        let redis =
            joining(None, &[(r"\$(?P<n>[0-9]+)", bytes), (r"\*(?P<n>[0-9]+)", AnnouncedFrame::Frames)]);
        let parts = ["*2", "$2", "$5", "*1", ":7", "+OK", "*0", "$-1", "$3"];
        let (messages, need) = join_frames(&redis, &parts);
        assert_eq!(messages, ["*2\n$2\n$5\n*1\n:7", "+OK", "*0", "$-1"]);
        assert_eq!(need, FrameNeed::Bytes { count: 3, end: b"\r\n".to_vec() });
    }

    #[test]
    fn pairs_are_two_frames_each() {
        let map = joining(
            None,
            &[("%(?P<n>[0-9]+)", AnnouncedFrame::Pairs), (r"\*(?P<n>[0-9]+)", AnnouncedFrame::Frames)],
        );
        let parts = ["%2", "+a", ":1", "+b", "*1", "+c", "%0", "+OK"];
        assert_eq!(join_frames(&map, &parts).0, ["%2\n+a\n:1\n+b\n*1\n+c", "%0", "+OK"]);
    }

    /// Memcached: values one after the other, which may hold anything, until a line ends them.
    #[test]
    fn what_is_counted_may_go_on() {
        let frame = r"VALUE \S+ [0-9]+ (?P<n>[0-9]+)".into();
        let value = CountedConfig { frame, then: AnnouncedFrame::Bytes { end: "\r\n".into() }, more: true };
        let cache = FrameJoining::new(None, &[value]).unwrap();
        let parts = ["VALUE a 0 3", "END", "VALUE b 0 0", "", "END", "END", "STORED", "VALUE c 0 1", "x"];
        let (messages, need) = join_frames(&cache, &parts);
        assert_eq!(messages, ["VALUE a 0 3\nEND\nVALUE b 0 0\n\nEND", "END", "STORED"]);
        assert_eq!(need, FrameNeed::Frame);
    }

    #[test]
    fn nonsense_that_is_announced_is_told() {
        let wide = joining(None, &[(".(?P<n>.*)", AnnouncedFrame::Frames)]);
        for (text, says) in [
            ("$99999999", "too long"),
            ("$99999999999999999999999", "too long"),
            ("$x", "not a count"),
            ("$", "not a count"),
        ] {
            let problem = UnfinishedMessage::default().add(&wide, text.into()).unwrap_err();
            assert!(problem.to_string().contains(says), "{problem}");
        }
        let two =
            CountedConfig { frame: "(?P<a>.)(?P<n>.)".into(), then: AnnouncedFrame::Frames, more: false };
        assert!(FrameJoining::new(None, &[two]).unwrap_err().to_string().contains("one named group"));
        assert!(FrameJoining::new(Some("("), &[]).unwrap_err().to_string().starts_with("more: "));
    }
}
