//! The sink of findings, with a limit, and the token that proves that an error was reported.
//!
//! A pass that cannot go on reports the reason to the sink and gets a [`Reported`]. So `Result<T, Reported>` reads: a
//! `T`, or the user knows already why there is none. Only the sink makes tokens, so no error is lost on the way, and
//! none is reported twice. An `Option` is used where there may be no `T` without an error.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use rustc_hash::FxHashMap;

/// The greatest number of errors kept; text that is no model at all could have millions. Chosen by feel: nobody reads
/// more.
const MAX_ERRORS: usize = 100;

/// Proof that an error has been reported: only a sink of findings hands it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reported(());

/// The findings of one run.
#[derive(Debug, Default)]
pub(crate) struct FindingSink {
    diagnostics: Vec<Diagnostic>,
    n_errors: usize,
    /// Names whose declarations have errors.
    broken: FxHashMap<String, Reported>,
}

impl FindingSink {
    /// Adds a finding that need not be an error; errors beyond the limit are only counted.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
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
    pub(crate) fn report(&mut self, error: Diagnostic) -> Reported {
        debug_assert!(error.is_error(), "no error, so no token: {error:?}");
        self.push(error);
        Reported(())
    }

    /// Adds the error that `make` returns; `make` is called only if the error is kept.
    pub(crate) fn error(&mut self, make: impl FnOnce() -> Diagnostic) -> Reported {
        if self.n_errors <= MAX_ERRORS {
            return self.report(make());
        }
        Reported(())
    }

    /// Returns the proof that an error was reported before; if there was none, reports that of `make`.
    ///
    /// For places that can only be reached after an error, but hold no token of it.
    pub(crate) fn reported_before(&mut self, make: impl FnOnce() -> Diagnostic) -> Reported {
        if self.has_errors() { Reported(()) } else { self.report(make()) }
    }

    /// Suppresses the report that `name` is missing: its declaration has the error `why`.
    pub(crate) fn excuse(&mut self, name: &str, why: Reported) {
        self.broken.insert(name.to_owned(), why);
    }

    /// Reports that `name` is missing, as [`error`](Self::error), unless [`excuse`](Self::excuse) suppressed it.
    pub(crate) fn missing(&mut self, name: &str, make: impl FnOnce() -> Diagnostic) -> Reported {
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
    pub(crate) fn check(&self) -> Result<(), Reported> {
        if self.has_errors() { Err(Reported(())) } else { Ok(()) }
    }

    /// Returns the findings in the order of the text; those of one place in the order they were found.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        let is_limit = |diagnostic: &Diagnostic| diagnostic.code == Code::TooManyErrors;
        self.diagnostics.sort_by_key(|diagnostic| (is_limit(diagnostic), diagnostic.span.start));
        self.diagnostics
    }
}

#[cfg(test)]
mod tests {
    use ioxide_model::index::Idx;
    use ioxide_model::source::{FileId, Span};

    use super::*;

    fn unknown(message: &str) -> Diagnostic {
        Diagnostic::new(Code::UnknownName, Span::new(FileId::new(0), 0, 0), message)
    }

    fn finding_messages(sink: FindingSink) -> Vec<String> {
        sink.finish().into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_missing_name_is_told_unless_its_declaration_was() {
        let mut sink = FindingSink::default();
        let why = sink.report(unknown("first"));
        sink.excuse("a", why);
        sink.missing("a", || unknown("second"));
        sink.missing("b", || unknown("third"));
        assert_eq!(finding_messages(sink), ["first", "third"]);
    }

    #[test]
    fn who_relies_on_an_error_before_tells_one_if_there_is_none() {
        let mut sink = FindingSink::default();
        assert_eq!(sink.check(), Ok(()));
        sink.reported_before(|| unknown("first"));
        assert!(sink.check().is_err());
        sink.reported_before(|| unknown("second"));
        assert_eq!(finding_messages(sink), ["first"]);
    }

    #[test]
    fn warnings_are_no_errors_and_beyond_the_limit_errors_are_counted() {
        let mut sink = FindingSink::default();
        sink.push(Diagnostic::new(Code::Shadowing, Span::new(FileId::new(0), 0, 0), "odd"));
        assert_eq!(sink.check(), Ok(()));
        (0..3 * MAX_ERRORS).for_each(|_| _ = sink.error(|| unknown("wrong")));
        assert_eq!(finding_messages(sink).len(), 1 + MAX_ERRORS + 1);
    }
}
