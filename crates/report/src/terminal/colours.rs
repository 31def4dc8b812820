//! Colours for the results of campaigns: what failed is red, what was expected and what passed green.

use std::io::{self, Write};

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// A writer that colours whole lines.
pub struct ColourWriter<W: Write> {
    inner: W,
    line: Vec<u8>,
    is_on: bool,
}

impl<W: Write> ColourWriter<W> {
    /// Returns a writer to `inner`, which gets colours if `is_on`.
    pub fn new(inner: W, is_on: bool) -> Self {
        Self { inner, line: Vec::new(), is_on }
    }
}

impl<W: Write> Write for ColourWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_on {
            return self.inner.write(bytes);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.inner.write_all(colour_line(&String::from_utf8_lossy(&line)).as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.inner.write_all(&rest)?;
        self.inner.flush()
    }
}

/// Returns a line with its colour; the words that make it stand out are those of [`super`].
fn colour_line(line: &str) -> String {
    let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
    let is_failure = content.contains(": FAIL at step") || content.starts_with("  ✗");
    let is_expected = content.trim_start().starts_with("│◀╌") || content.contains("│ expected ");
    let colours = if is_failure {
        [RED, BOLD].concat()
    } else if is_expected {
        GREEN.to_owned()
    } else if content.contains(" runs: ") || content.contains(" run: ") {
        let colour =
            if content.contains(" failed") || content.contains(" without verdict") { RED } else { GREEN };
        [colour, BOLD].concat()
    } else {
        return line.to_owned();
    };
    format!("{colours}{content}{RESET}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_parts(is_on: bool, parts: &[&str]) -> String {
        let mut writer = ColourWriter::new(Vec::new(), is_on);
        parts.iter().for_each(|part| writer.write_all(part.as_bytes()).expect("a list of bytes"));
        writer.flush().expect("a list of bytes");
        String::from_utf8(writer.inner).expect("text")
    }

    #[test]
    fn lines_are_coloured_whole_however_they_are_written() {
        let parts = [
            "run 1: FAIL ",
            "at step 6\n  ✗    6  │◀── !b ──│ got\n",
            "3 runs: 3 passed; 9 steps\nplain",
            " line",
        ];
        let expected = format!(
            "{RED}{BOLD}run 1: FAIL at step 6{RESET}\n{RED}{BOLD}  ✗    6  │◀── !b ──│ got{RESET}\n\
             {GREEN}{BOLD}3 runs: 3 passed; 9 steps{RESET}\nplain line"
        );
        assert_eq!(write_parts(true, &parts), expected);
        assert_eq!(write_parts(false, &parts), parts.concat());
        assert!(write_parts(true, &["1 run: 1 failed; 6 steps\n"]).starts_with(RED));
    }
}
