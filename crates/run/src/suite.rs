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

pub mod regressions;
pub mod runnable;
pub mod whole_lines;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::sts::{Model, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_record::json::{self, JsonError};
use ioxide_record::line::{LineRead, cut, next_line};
use ioxide_record::value::{label_to_json, value_to_json};
use ioxide_testgen::tester::replay::{ReplyFlow, references_in};

use crate::judge::{TraceLineReader, UnreadableReason};

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
    /// True if the last line is a `SuiteEnd`.
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

/// A label of a test or of a trace file: a message or silence, with its time or without, or a wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteLabel {
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Json>,
    /// Silence.
    #[serde(default, alias = "silence", skip_serializing_if = "std::ops::Not::not")]
    pub quiescence: bool,
    /// Seconds since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Json>,
    /// Seconds since the label before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Json>,
    /// The fields whose values came from a reply, each with the reply: a replay gives them the value of that reply.
    /// For people; a reader of the test finds the references again from its values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub from: BTreeMap<String, String>,
}

/// The reason why a suite cannot be read.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// The file cannot be read.
    #[error("cannot read the suite: {0}")]
    Io(#[from] io::Error),
    /// The file is no suite.
    #[error("this is not an ioxide suite: it starts with {0}")]
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
}

impl TraceTest {
    /// The test that goes along `trace`.
    #[must_use]
    pub fn new(pool: &TermPool, sts: &Sts, name: String, trace: &Trace) -> Self {
        let trace = trace.labels.iter().filter_map(|label| SuiteLabel::new(pool, sts, label)).collect();
        Self { name, trace }
    }

    /// The test that goes along `trace`, and says which values of inputs came from replies.
    #[must_use]
    pub fn with_references(pool: &TermPool, sts: &Sts, name: String, trace: &Trace) -> Self {
        let mut test = Self::new(pool, sts, name, trace);
        for (step, input) in references_in(&ReplyFlow::new(pool, sts), sts, trace) {
            let (Label::Input(gate, _), Some(label)) = (&input.label, test.trace.get_mut(step)) else {
                continue;
            };
            label.from.extend(input.references.iter().map(|reference| {
                (reference.field_name(pool, sts, *gate).to_owned(), reference.show(pool, sts))
            }));
        }
        test
    }

    /// Its labels as `model` knows them.
    ///
    /// # Errors
    /// If the model does not know one, or one is neither message, silence nor wait.
    pub fn trace(&self, model: &Model) -> Result<Trace, UnreadableReason> {
        let mut reader = TraceLineReader::new(model);
        self.trace.iter().try_for_each(|label| reader.read_line(label.clone()))?;
        Ok(reader.into_trace())
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
    pub fn new(out: W, header_fields: Map<String, Json>) -> io::Result<Self> {
        Self::write_header(out, header_fields, true)
    }

    /// Begins a suite that may grow.
    ///
    /// # Errors
    /// If the first line cannot be written.
    pub fn open_ended(out: W, header_fields: Map<String, Json>) -> io::Result<Self> {
        Self::write_header(out, header_fields, false)
    }

    /// Writes the header of a suite and returns its writer.
    fn write_header(mut out: W, header_fields: Map<String, Json>, closed: bool) -> io::Result<Self> {
        let header = SuiteHeader { format: FORMAT.into(), version: VERSION, closed, about: header_fields };
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
        // Written in one piece, so that a line is there whole or not at all if the program ends.
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
            // The name of the format is ours, so only the version is to blame.
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

    /// Returns an error about the current line.
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
            // The number makes a suite whose middle is missing different from a whole one.
            Ok(SuiteLine::End(end)) if self.header.closed && end.tests == self.tests => {
                self.is_over = true;
                // Nothing may follow the end: the next line is read to find that out.
                self.next_test()
            }
            Ok(SuiteLine::End(end)) => {
                Err(self.bad(format!("there should be {} tests, here are {}", end.tests, self.tests)))
            }
            // These say what is wrong themselves; anything else is simply no test.
            Err(known @ (JsonError::Twice(_) | JsonError::Excess(_))) => Err(self.bad(known.to_string())),
            Err(JsonError::Wrong(_)) => Err(self
                .bad(format!("neither a list of inputs nor an object with a `trace`: {}", cut(&text, 60)))),
        }
    }

    /// Reads all tests and returns those that say what is expected.
    ///
    /// # Errors
    /// If a line is damaged.
    pub fn trace_tests(self) -> Result<Vec<TraceTest>, SuiteError> {
        let is_trace = |test| match test {
            Ok(SuiteTest::Trace(test)) => Some(Ok(test)),
            Ok(SuiteTest::Word(_)) => None,
            Err(error) => Some(Err(error)),
        };
        self.filter_map(is_trace).collect()
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
mod tests;
