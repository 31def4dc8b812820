//! Complete test suites for deterministic machines, one method per file.
//!
//! A suite is *complete* for a machine with `n` states and `extra` more if
//! every machine over the same inputs with at most `n + extra` states that is
//! not equivalent to it fails a word. Every suite here is complete, has no
//! word that is a prefix of another, and comes in a fixed order.
//!
//! [`W`](SuiteMethod::W), [`Wp`](SuiteMethod::Wp) and [`Hsi`](SuiteMethod::Hsi) are walked
//! lazily, in memory that does not grow with the suite. The others decide on a
//! test by what the suite holds already, so they keep a tree of it and yield
//! its paths.

mod arena;
#[doc(hidden)]
pub mod convergence;
#[doc(hidden)]
pub mod grow;
mod h;
mod hsi;
#[doc(hidden)]
pub mod identify;
mod offers;
mod paths;
mod s;
mod spy;
mod spyh;
mod traverse;
#[doc(hidden)]
pub mod visit;
mod w;
mod wp;

pub use h::h_suite;
pub use hsi::hsi_suite;
pub use s::s_suite;
pub use spy::spy_suite;
pub use spyh::spyh_suite;
pub use w::w_suite;
pub use wp::wp_suite;

use std::str::FromStr;

use crate::mealy::{InputId, SuiteModel};
use crate::word::Word;
use paths::WordPaths;
use traverse::Traversal;

/// A method that makes complete suites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SuiteMethod {
    /// The W-method: a characterising set after every transition.
    W,
    /// The partial W-method: state identifiers after the last transitions.
    Wp,
    /// Harmonised state identifiers.
    Hsi,
    /// The H-method: separating words only where none is there yet.
    H,
    /// Harmonised identifiers, spread over words known to converge.
    Spy,
    /// Separating words only where needed, spread over words known to converge.
    Spyh,
    /// As `Spyh`, continuing tests instead of starting new ones: the smallest suites.
    S,
}

impl SuiteMethod {
    /// All methods, oldest first.
    pub const ALL: [Self; 7] = [Self::W, Self::Wp, Self::Hsi, Self::H, Self::Spy, Self::Spyh, Self::S];

    /// The name of the method, lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::W => "w",
            Self::Wp => "wp",
            Self::Hsi => "hsi",
            Self::H => "h",
            Self::Spy => "spy",
            Self::Spyh => "spyh",
            Self::S => "s",
        }
    }

    /// The suite of this method for `spec` and `extra` more states.
    pub fn suite(self, spec: &SuiteModel, extra: usize) -> WordSuite<'_> {
        match self {
            Self::W => w_suite(spec, extra),
            Self::Wp => wp_suite(spec, extra),
            Self::Hsi => hsi_suite(spec, extra),
            Self::H => h_suite(spec, extra),
            Self::Spy => spy_suite(spec, extra),
            Self::Spyh => spyh_suite(spec, extra),
            Self::S => s_suite(spec, extra),
        }
    }
}

/// A name that is not a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMethod;

impl FromStr for SuiteMethod {
    type Err = UnknownMethod;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|method| method.name() == text).ok_or(UnknownMethod)
    }
}

/// The words of a suite, one after another.
#[must_use = "a suite is lazy: its words come by iteration"]
pub struct WordSuite<'s>(SuiteSource<'s>);

enum SuiteSource<'s> {
    Walked(Box<Traversal<'s>>),
    Kept(WordPaths),
}

impl WordSuite<'_> {
    /// Makes a suite of words that are known already.
    #[doc(hidden)]
    pub fn from_paths(paths: WordPaths) -> Self {
        Self(SuiteSource::Kept(paths))
    }

    /// The next word, in a buffer that the following call reuses.
    pub fn advance(&mut self) -> Option<&[InputId]> {
        match &mut self.0 {
            SuiteSource::Walked(traversal) => traversal.advance(),
            SuiteSource::Kept(paths) => paths.advance(),
        }
    }

    /// Returns the number of words and symbols in the rest of the suite, which it walks through.
    #[must_use]
    pub fn measure(mut self) -> SuiteSize {
        let mut size = SuiteSize::default();
        while let Some(word) = self.advance() {
            size.add_test(word);
        }
        size
    }

    /// Returns the cost of the rest of the suite; `None`, without walking on, as soon as it reaches `limit`.
    fn cost_below(mut self, limit: usize) -> Option<usize> {
        let mut size = SuiteSize::default();
        while let Some(word) = self.advance() {
            size.add_test(word);
            if size.cost() >= limit {
                return None;
            }
        }
        Some(size.cost())
    }
}

impl Iterator for WordSuite<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        self.advance().map(<[InputId]>::to_vec)
    }
}

/// The size of a suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuiteSize {
    /// The number of words; each needs a reset.
    pub tests: usize,
    /// The sum of their lengths.
    pub symbols: usize,
}

impl SuiteSize {
    fn add_test(&mut self, word: &[InputId]) {
        self.tests += 1;
        self.symbols += word.len();
    }

    /// Returns the cost by which suites are compared, in symbols: a reset takes longer than a step.
    fn cost(self) -> usize {
        self.symbols + RESET_COST * self.tests
    }
}

/// The cost of a reset, in symbols, when suites are compared. Chosen by feel.
pub const RESET_COST: usize = 4;
