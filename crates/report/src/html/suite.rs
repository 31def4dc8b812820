//! A suite of a finite state machine as the page shows it: the machine, the tests, the failures.

use serde::Serialize;

use crate::graph::PictureGraph;
use crate::svg::{PictureUse, SvgConfig, draw_svg};

/// The number of tests listed. Chosen by feel: a longer list is slow in a browser.
pub const MAX_TESTS: usize = 20_000;

/// A suite and its machine.
pub struct SuitePage {
    /// The texts and figures of the suite.
    pub view: SuiteView,
    /// The machine, as SVG.
    pub picture: String,
}

/// The texts and figures of a suite.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SuiteView {
    /// The name of the machine.
    pub machine: String,
    /// The name of the method that generated the tests.
    pub method: String,
    /// The guarantee that passing all tests gives, in words.
    pub promise: String,
    /// The verdict; `None` if the tests were not carried out.
    pub verdict: Option<SuiteVerdict>,
    /// Figures by name, in order.
    pub figures: Vec<(String, u64)>,
    /// The tests, the first [`MAX_TESTS`].
    pub tests: Vec<String>,
    /// The number of tests that are not listed.
    pub unlisted: usize,
    /// The answers observed that the machine does not allow.
    pub failures: Vec<String>,
}

/// The verdict of a suite on a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum SuiteVerdict {
    /// All answers are allowed.
    Pass,
    /// Some answers are not allowed.
    Fail,
    /// Not all tests could be carried out.
    Unknown,
}

impl SuitePage {
    /// A suite of the machine that `graph` draws.
    #[must_use]
    pub fn new(graph: PictureGraph, view: SuiteView) -> Self {
        let picture =
            draw_svg(&graph.bundle_edges(), SvgConfig { direction: None, form: PictureUse::Inline });
        Self { view, picture }
    }

    /// Returns the name of the machine, and the verdict or the size of the suite.
    #[must_use]
    pub fn headline(&self) -> (String, String) {
        let what = match self.view.verdict {
            Some(SuiteVerdict::Pass) => "passed".to_owned(),
            Some(SuiteVerdict::Fail) => {
                format!("failed: {} answers that are not allowed", self.view.failures.len())
            }
            Some(SuiteVerdict::Unknown) => "unknown".to_owned(),
            None => format!("{}: {} tests", self.view.method, self.view.tests.len() + self.view.unlisted),
        };
        (self.view.machine.clone(), what)
    }
}
