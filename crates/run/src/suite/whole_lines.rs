//! A suite that grows, as far as it was written: a process that was killed leaves half a line behind.

use std::path::Path;
use std::{fs, io};

use serde_json::Value as Json;

use super::FORMAT;

/// The lines of a suite that are whole.
#[derive(Clone, Debug)]
pub struct WholeLines {
    /// The lines.
    pub lines: Vec<u8>,
    /// True if a last line was cut off.
    pub is_cut: bool,
}

impl WholeLines {
    /// Reads the file at `path`; none is one without lines.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        match fs::read(path) {
            Ok(bytes) => Ok(Self::from_bytes(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::from_bytes(Vec::new())),
            Err(error) => Err(error),
        }
    }

    /// A last line without its end is whole if it is JSON, as after an edit by hand; of a first line only the
    /// beginning need be there.
    fn from_bytes(mut lines: Vec<u8>) -> Self {
        let start = lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let last = &lines[start..];
        let begun = format!("{{\"format\":\"{FORMAT}\"").into_bytes();
        let is_ours = start > 0 || last.starts_with(&begun) || begun.starts_with(last);
        let is_cut = is_ours && !last.is_empty() && serde_json::from_slice::<Json>(last).is_err();
        if is_cut {
            lines.truncate(start);
        } else if !last.is_empty() {
            lines.push(b'\n');
        }
        Self { lines, is_cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_last_line_that_was_cut_off_is_left_out() {
        let header = "{\"format\":\"ioxide-suite\",\"version\":1}\n";
        let kept = |text: String| {
            let WholeLines { lines, is_cut } = WholeLines::from_bytes(text.into_bytes());
            (String::from_utf8(lines).expect("text"), is_cut)
        };
        let whole = format!("{header}[\"a\"]\n");
        assert_eq!(kept(whole.clone()), (whole.clone(), false));
        assert_eq!(kept(format!("{header}[\"a\"]")), (whole.clone(), false), "edited by hand");
        assert_eq!(kept(format!("{whole}[\"b")), (whole, true));
        for cut in 1..header.len() - 2 {
            assert_eq!(kept(header[..cut].to_owned()), (String::new(), true), "{cut}");
        }
        assert_eq!(kept("nonsense".into()), ("nonsense\n".into(), false), "this is no file of ours");
    }
}
