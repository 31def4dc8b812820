//! The sink of findings, with a limit, and the token that proves that an error was reported.
//!
//! A pass that cannot go on reports the reason to the sink and gets a [`Reported`]. So `Result<T, Reported>` reads: a
//! `T`, or the user knows already why there is none. Only the sink makes tokens, so no error is lost on the way, and
//! none is reported twice. An `Option` is used where there may be no `T` without an error.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;
use rustc_hash::FxHashMap;

/// The greatest number of errors kept; text that is no model at all could have millions. Chosen by feel: nobody reads
/// more.
pub const MAX_ERRORS: usize = 100;

/// Proof that an error has been reported: only a sink of findings hands it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reported(());

/// The findings of one run.
#[derive(Debug, Default)]
pub struct FindingSink {
    diagnostics: Vec<Diagnostic>,
    n_errors: usize,
    /// Names whose declarations have errors.
    broken: FxHashMap<String, Reported>,
    /// The places where errors are no findings, in the order of the text.
    tentative: Vec<Span>,
    /// Those of them that have errors.
    wrong: Vec<Span>,
}

impl FindingSink {
    /// Makes a sink for a text of which some places, in the order of the text and apart from each other, may be wrong.
    pub(crate) fn with_tentative_places(tentative: Vec<Span>) -> Self {
        debug_assert!(tentative.windows(2).all(|two| two[0].end <= two[1].start), "in order and apart");
        Self { tentative, ..Self::default() }
    }

    /// Returns the place that may be wrong and that a finding lies at.
    fn tentative_place(&self, finding: &Diagnostic) -> Option<Span> {
        let span = finding.span;
        let next = self.tentative.partition_point(|place| place.end < span.end);
        let place = self.tentative.get(next).copied();
        place.filter(|place| place.file == span.file && place.start <= span.start)
    }

    /// Returns the places that may be wrong and are.
    pub(crate) fn take_wrong_places(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.wrong)
    }

    /// Adds a finding that need not be an error; errors beyond the limit are only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if let Some(place) = self.tentative_place(&diagnostic) {
            if diagnostic.is_error() {
                self.wrong.push(place);
            }
            return;
        }
        if diagnostic.is_error() {
            self.n_errors += 1;
            if self.n_errors == MAX_ERRORS + 1 {
                let message = format!("more than {MAX_ERRORS} errors; the rest is not shown");
                self.diagnostics.push(Diagnostic::new(Code::TooManyErrors, diagnostic.span, message));
            }
            if self.n_errors > MAX_ERRORS {
                return;
            }
        }
        self.diagnostics.push(diagnostic);
    }

    /// Adds an error and returns the proof.
    pub fn report(&mut self, error: Diagnostic) -> Reported {
        debug_assert!(error.is_error(), "no error, so no token: {error:?}");
        self.push(error);
        Reported(())
    }

    /// Adds the error that `make` returns; `make` is called only if the error is kept.
    pub fn error(&mut self, make: impl FnOnce() -> Diagnostic) -> Reported {
        if self.n_errors <= MAX_ERRORS {
            return self.report(make());
        }
        Reported(())
    }

    /// Returns the proof that an error was reported before; if there was none, reports that of `make`.
    ///
    /// For places that can only be reached after an error, but hold no token of it.
    pub fn reported_before(&mut self, make: impl FnOnce() -> Diagnostic) -> Reported {
        if self.has_errors() { Reported(()) } else { self.report(make()) }
    }

    /// Suppresses the report that `name` is missing: its declaration has the error `why`.
    pub fn excuse(&mut self, name: &str, why: Reported) {
        self.broken.insert(name.to_owned(), why);
    }

    /// Reports that `name` is missing, as [`error`](Self::error), unless [`excuse`](Self::excuse) suppressed it.
    pub fn missing(&mut self, name: &str, make: impl FnOnce() -> Diagnostic) -> Reported {
        match self.broken.get(name) {
            Some(&why) => why,
            None => self.error(make),
        }
    }

    /// Removes the proposed changes, for texts whose places are too coarse to apply them.
    pub(crate) fn drop_fixes(&mut self) {
        self.diagnostics.iter_mut().for_each(|diagnostic| diagnostic.fix = None);
    }

    /// Returns the number of errors, those beyond the limit included.
    pub(crate) fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// Returns whether there was an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// Returns the proof as an error if there was one.
    pub fn check(&self) -> Result<(), Reported> {
        if self.has_errors() { Err(Reported(())) } else { Ok(()) }
    }

    /// Returns the findings in the order of the text; those of one place in the order they were found.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        let is_limit = |diagnostic: &Diagnostic| diagnostic.code == Code::TooManyErrors;
        self.diagnostics.sort_by_key(|diagnostic| (is_limit(diagnostic), diagnostic.span.start));
        self.diagnostics
    }
}
