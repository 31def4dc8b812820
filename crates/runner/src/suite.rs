//! Suites on disk: versioned JSON lines, one test a line.
//!
//! The first line says what the file is. A test is a *word*, an array with the names of
//! inputs to give one after the other, or a *trace*, an object with labels as `ioxide judge`
//! reads them: what to send, and what was seen or is expected in between. Suites can be
//! long, so they are read and written line by line.
//!
//! A suite that was made at once is *closed*: the first line says so, and the last one says how many tests there
//! are. One that was cut off is refused, since the rest of it would prove less than the whole. A suite that grows,
//! or was written by hand, is not closed and ends where it ends.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{Model, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;

use crate::codec::{CodecError, WireMessage, label_from_json, label_to_json, value_from_json, value_to_json};
use crate::json::{self, JsonError};
use crate::line::{LineRead, cut, next_line};

/// The version written here.
pub const VERSION: u32 = 1;
/// The name of the format.
pub const FORMAT: &str = "ioxide-suite";

/// The first line of a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteHeader {
    /// Always [`FORMAT`].
    pub format: String,
    /// Always [`VERSION`].
    pub version: u32,
    /// True if the last line is a [`SuiteEnd`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// The maker of the suite and its settings, for people.
    #[serde(flatten)]
    pub about: Map<String, Json>,
}

/// One test of a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SuiteTest {
    /// Inputs without fields, by name.
    Word(Vec<String>),
    /// Labels with values.
    Trace(TraceTest),
}

/// The last line of a closed suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteEnd {
    /// The number of tests.
    tests: usize,
}

/// A line after the first.
#[derive(Deserialize)]
#[serde(untagged)]
enum SuiteLine {
    Test(SuiteTest),
    End(SuiteEnd),
}

/// A test that says what is expected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceTest {
    /// Its purpose, for people; empty if it is not said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The labels sent and observed, in order.
    pub trace: Vec<SuiteLabel>,
}

/// A label of a test: a message, silence, or a wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteLabel {
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Json>,
    /// Silence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiescence: bool,
    /// Seconds that pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Json>,
}

/// The reason why a suite cannot be read.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// The file cannot be read.
    #[error("cannot read the suite: {0}")]
    Io(#[from] io::Error),
    /// The file is no suite.
    #[error("this is no suite of ioxide: it starts with {0}")]
    NotASuite(String),
    /// The file was written by another version.
    #[error("the suite has version {0}, this program reads version {VERSION}")]
    Version(u32),
    /// The end is missing; the number of tests read.
    #[error("the suite was cut off after {0} tests; make it again")]
    Torn(usize),
    /// A line is no test.
    #[error("line {line} of the suite: {reason}")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// The problem with the line.
        reason: String,
    },
}

impl SuiteLabel {
    /// Returns `label` as a suite writes it; every label can be written, so never `None`.
    #[must_use]
    pub fn new(pool: &TermPool, sts: &Sts, label: &Label) -> Option<Self> {
        match label {
            Label::Quiescence => Some(Self { quiescence: true, ..Self::default() }),
            Label::Delay(by) => {
                let after = Some(value_to_json(pool, &Value::Real(by.clone())));
                Some(Self { after, ..Self::default() })
            }
            Label::Input(..) | Label::Output(..) => label_to_json(pool, sts, label).map(|message| Self {
                label: Some(message.label),
                args: message.args,
                ..Self::default()
            }),
        }
    }

    /// Returns the label as `model` knows it; `None` if it is neither message, silence nor wait, or a negative wait.
    ///
    /// # Errors
    /// If the model does not know it.
    pub fn read(&self, model: &Model) -> Result<Option<Label>, CodecError> {
        match (&self.label, self.quiescence) {
            (None, true) => Ok(Some(Label::Quiescence)),
            (None, false) => {
                let Some(after) = &self.after else { return Ok(None) };
                let wait = value_from_json(&model.pool, Sort::Real, after)?;
                Ok(wait.as_real().filter(|wait| !wait.is_negative()).cloned().map(Label::Delay))
            }
            (Some(label), _) => {
                let message = WireMessage { label: label.clone(), args: self.args.clone() };
                label_from_json(model, &message, |_| true).map(Some)
            }
        }
    }
}

impl TraceTest {
    /// The test that goes along `trace`.
    #[must_use]
    pub fn new(pool: &TermPool, sts: &Sts, name: String, trace: &Trace) -> Self {
        let trace = trace.labels.iter().filter_map(|label| SuiteLabel::new(pool, sts, label)).collect();
        Self { name, trace }
    }

    /// Its labels as `model` knows them.
    ///
    /// # Errors
    /// If the model does not know one.
    pub fn trace(&self, model: &Model) -> Result<Trace, CodecError> {
        let labels = self.trace.iter().filter_map(|label| label.read(model).transpose());
        labels.collect()
    }
}

/// Writes a suite.
pub struct SuiteWriter<W: Write> {
    out: W,
    /// Tests so far, if the last line is to say how many.
    tests: Option<usize>,
}

impl<W: Write> SuiteWriter<W> {
    /// Begins a suite that is closed once it is finished.
    ///
    /// # Errors
    /// If the first line cannot be written.
    pub fn new(out: W, about: Map<String, Json>) -> io::Result<Self> {
        Self::begin(out, about, true)
    }

    /// Begins a suite that may grow.
    ///
    /// # Errors
    /// If the first line cannot be written.
    pub fn open_ended(out: W, about: Map<String, Json>) -> io::Result<Self> {
        Self::begin(out, about, false)
    }

    fn begin(mut out: W, about: Map<String, Json>, closed: bool) -> io::Result<Self> {
        let header = SuiteHeader { format: FORMAT.into(), version: VERSION, closed, about };
        writeln!(out, "{}", serde_json::to_string(&header)?)?;
        Ok(Self { out, tests: closed.then_some(0) })
    }

    /// Goes on with a suite that may grow: `out` is at its end.
    pub fn append(out: W) -> Self {
        Self { out, tests: None }
    }

    /// Adds a test.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, test: &SuiteTest) -> io::Result<()> {
        let mut line = serde_json::to_string(test)?;
        line.push('\n');
        self.tests = self.tests.map(|tests| tests + 1);
        self.out.write_all(line.as_bytes())
    }

    /// Closes it, if it is to be closed, and writes what is still held back.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(tests) = self.tests {
            writeln!(self.out, "{}", serde_json::to_string(&SuiteEnd { tests })?)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Reads a suite, test by test.
pub struct SuiteReader<R: BufRead> {
    header: SuiteHeader,
    reader: R,
    line: usize,
    /// Tests so far.
    tests: usize,
    /// The last line was read, or the end is known to be missing.
    is_over: bool,
}

impl<R: BufRead> SuiteReader<R> {
    /// Reads the first line.
    ///
    /// # Errors
    /// If it is no suite, or one of another version.
    pub fn new(mut reader: R) -> Result<Self, SuiteError> {
        let first = match next_line(&mut reader)? {
            Some(LineRead::Text(text)) => text,
            Some(LineRead::TooLong(shown) | LineRead::NotText(shown)) => {
                return Err(SuiteError::NotASuite(shown));
            }
            None => return Err(SuiteError::NotASuite("nothing".into())),
        };
        let not_a_suite = || SuiteError::NotASuite(cut(&first, 60));
        let header: SuiteHeader = json::read(&first).map_err(|_| not_a_suite())?;
        match (header.format.as_str(), header.version) {
            (FORMAT, VERSION) => Ok(Self { header, reader, line: 1, tests: 0, is_over: false }),
            (FORMAT, other) => Err(SuiteError::Version(other)),
            _ => Err(not_a_suite()),
        }
    }

    /// Returns the first line.
    pub fn header(&self) -> &SuiteHeader {
        &self.header
    }

    /// Returns the next line that is not empty; `None` at the end.
    fn next_text(&mut self) -> Result<Option<String>, SuiteError> {
        loop {
            self.line += 1;
            match next_line(&mut self.reader)? {
                Some(LineRead::Text(text)) if text.trim().is_empty() => (),
                Some(LineRead::Text(text)) => return Ok(Some(text)),
                Some(LineRead::TooLong(shown) | LineRead::NotText(shown)) => return Err(self.bad(shown)),
                None => return Ok(None),
            }
        }
    }

    fn bad(&self, reason: String) -> SuiteError {
        SuiteError::BadLine { line: self.line, reason }
    }

    /// Returns the next test; `None` at the end, which must be complete in a closed suite.
    fn next_test(&mut self) -> Result<Option<SuiteTest>, SuiteError> {
        let Some(text) = self.next_text()? else {
            return if self.header.closed && !self.is_over {
                Err(SuiteError::Torn(self.tests))
            } else {
                Ok(None)
            };
        };
        if self.is_over {
            return Err(self.bad("the suite has ended before".into()));
        }
        match json::read(&text) {
            Ok(SuiteLine::Test(test)) => {
                self.tests += 1;
                Ok(Some(test))
            }
            Ok(SuiteLine::End(end)) if self.header.closed && end.tests == self.tests => {
                self.is_over = true;
                self.next_test()
            }
            Ok(SuiteLine::End(end)) => {
                Err(self.bad(format!("there should be {} tests, here are {}", end.tests, self.tests)))
            }
            Err(known @ (JsonError::Twice(_) | JsonError::Excess(_))) => Err(self.bad(known.to_string())),
            Err(JsonError::Wrong(_)) => Err(self
                .bad(format!("neither a list of inputs nor an object with a `trace`: {}", cut(&text, 60)))),
        }
    }
}

impl<R: BufRead> Iterator for SuiteReader<R> {
    type Item = Result<SuiteTest, SuiteError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_test().transpose();
        if let Some(Err(SuiteError::Torn(_))) = next {
            // It is said once.
            self.is_over = true;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::plain_trace;
    use crate::samples::{VENDING, model};

    fn read(text: &str) -> Result<Vec<SuiteTest>, SuiteError> {
        SuiteReader::new(text.as_bytes())?.collect()
    }

    #[test]
    fn what_was_written_is_read_back() {
        let model = model(VENDING);
        let text = "{\"label\": \"coin\", \"args\": {\"n\": 5}}\n{\"label\": \"change\", \"args\": {\"n\": 3}}\n\
            {\"label\": \"tea\"}\n{\"quiescence\": true}";
        let trace = plain_trace(&model, text).unwrap();
        let test = TraceTest::new(&model.pool, &model.sts, "change".into(), &trace);
        assert_eq!(test.trace(&model).unwrap(), trace);
        let tests = vec![SuiteTest::Trace(test), SuiteTest::Word(vec!["a".into(), "b".into()])];
        let mut file = Vec::new();
        let mut writer = SuiteWriter::new(&mut file, Map::new()).unwrap();
        tests.iter().for_each(|test| writer.add(test).unwrap());
        writer.finish().unwrap();
        assert_eq!(read(std::str::from_utf8(&file).unwrap()).unwrap(), tests);
    }

    #[test]
    fn what_is_no_suite_is_named() {
        let problem = |text: &str| read(text).unwrap_err().to_string();
        insta::assert_snapshot!(problem(""), @"this is no suite of ioxide: it starts with nothing");
        insta::assert_snapshot!(problem("hello"), @"this is no suite of ioxide: it starts with hello");
        let head = |version| format!("{{\"format\":\"ioxide-suite\",\"version\":{version}}}\n");
        insta::assert_snapshot!(problem(&head(7)), @"the suite has version 7, this program reads version 1");
        insta::assert_snapshot!(problem(&(head(1) + "\n3\n")), @"line 3 of the suite: neither a list of inputs nor an object with a `trace`: 3");
        assert_eq!(read(&head(1)).unwrap(), []);
    }

    #[test]
    fn a_closed_suite_that_was_cut_off_anywhere_is_refused() {
        let mut file = Vec::new();
        let mut writer = SuiteWriter::new(&mut file, Map::new()).unwrap();
        for word in [["a", "b"], ["c", "d"]] {
            writer.add(&SuiteTest::Word(word.map(str::to_owned).to_vec())).unwrap();
        }
        writer.finish().unwrap();
        let text = String::from_utf8(file).unwrap();
        assert_eq!(read(&text).unwrap().len(), 2);
        // The last line may lack its end mark, nothing else may be missing.
        for end in 0..text.len() - 1 {
            assert!(read(&text[..end]).is_err(), "{}", &text[..end]);
        }
        let lines: Vec<&str> = text.lines().collect();
        let fewer = format!("{}\n{}\n{}\n", lines[0], lines[1], lines[3]);
        insta::assert_snapshot!(read(&fewer).unwrap_err(), @"line 3 of the suite: there should be 2 tests, here are 1");
        insta::assert_snapshot!(read(&lines[..3].join("\n")).unwrap_err(), @"the suite was cut off after 2 tests; make it again");
        insta::assert_snapshot!(read(&(text + "[]\n")).unwrap_err(), @"line 5 of the suite: the suite has ended before");
    }
}
