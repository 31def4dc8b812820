//! A suite of a finite state machine as the page shows it: the machine, the tests, what they found.

use serde::Serialize;

use crate::graph::PictureGraph;
use crate::svg::{PictureUse, SvgConfig, svg};

/// Tests listed.
pub const MAX_TESTS: usize = 20_000;

/// A suite and its machine.
pub struct SuitePage {
    /// What is told.
    pub told: SuiteTold,
    /// The machine, as SVG.
    pub picture: String,
}

/// What is told of a suite.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SuiteTold {
    /// The machine.
    pub machine: String,
    /// How the tests were made.
    pub method: String,
    /// What passing all of them proves, in words.
    pub promise: String,
    /// What they say, if they were carried out.
    pub verdict: Option<SuiteVerdict>,
    /// Figures by name, in order.
    pub figures: Vec<(String, u64)>,
    /// The tests, the first [`MAX_TESTS`].
    pub tests: Vec<String>,
    /// Tests that are not listed.
    pub unlisted: usize,
    /// What was seen and is not allowed.
    pub failures: Vec<String>,
}

/// What the tests of a suite say of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum SuiteVerdict {
    /// All answers are allowed.
    Pass,
    /// Some are not.
    Fail,
    /// Not all tests could be carried out.
    Unknown,
}

impl SuitePage {
    /// A suite of the machine that `graph` draws.
    #[must_use]
    pub fn new(graph: PictureGraph, told: SuiteTold) -> Self {
        let picture = svg(&graph.bundled(), SvgConfig { direction: None, form: PictureUse::Inline });
        Self { told, picture }
    }

    /// The machine, and what the suite is or found.
    #[must_use]
    pub fn headline(&self) -> (String, String) {
        let what = match self.told.verdict {
            Some(SuiteVerdict::Pass) => "passed".to_owned(),
            Some(SuiteVerdict::Fail) => {
                format!("failed: {} answers that are not allowed", self.told.failures.len())
            }
            Some(SuiteVerdict::Unknown) => "unknown".to_owned(),
            None => format!("{}: {} tests", self.told.method, self.told.tests.len() + self.told.unlisted),
        };
        (self.told.machine.clone(), what)
    }
}
