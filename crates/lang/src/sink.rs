//! Where findings are gathered, up to a limit, and the token that says that one was.
//!
//! A pass that cannot go on tells the sink why and gets a [`Reported`]. `Result<T, Reported>` so reads: a `T`, or the
//! user knows already why there is none. Nobody can make the token but the sink, so no error is swallowed on the way,
//! and nobody reports it again. Where nothing is wrong and there just is no `T`, an `Option` says so.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use rustc_hash::FxHashMap;

/// How many errors are kept; text that is no model at all could have millions.
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

    /// Adds an error.
    pub(crate) fn report(&mut self, error: Diagnostic) -> Reported {
        debug_assert!(error.is_error(), "no error, so no token: {error:?}");
        self.push(error);
        Reported(())
    }

    /// Adds the error that `make` makes, which it only does if the error is kept.
    pub(crate) fn error(&mut self, make: impl FnOnce() -> Diagnostic) -> Reported {
        if self.n_errors <= MAX_ERRORS {
            return self.report(make());
        }
        Reported(())
    }

    /// Says that an error was reported before; should there be none, reports what `make` makes.
    ///
    /// It is for places that can only be reached behind an error, but hold no token that would show it.
    pub(crate) fn reported_before(&mut self, make: impl FnOnce() -> Diagnostic) -> Reported {
        if self.has_errors() { Reported(()) } else { self.report(make()) }
    }

    /// Reports nothing about `name` if it is missing: its declaration has the error `why`.
    pub(crate) fn excuse(&mut self, name: &str, why: Reported) {
        self.broken.insert(name.to_owned(), why);
    }

    /// Like [`error`](Self::error), for the name `name` that is missing.
    pub(crate) fn missing(&mut self, name: &str, make: impl FnOnce() -> Diagnostic) -> Reported {
        match self.broken.get(name) {
            Some(&why) => why,
            None => self.error(make),
        }
    }

    /// Forgets the proposed changes: the places are too coarse to put them in.
    pub(crate) fn drop_fixes(&mut self) {
        self.diagnostics.iter_mut().for_each(|diagnostic| diagnostic.fix = None);
    }

    /// How many errors there were.
    pub(crate) fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// Whether there was an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// Goes on only if there was no error.
    pub(crate) fn check(&self) -> Result<(), Reported> {
        if self.has_errors() { Err(Reported(())) } else { Ok(()) }
    }

    /// The findings in the order of the text; of one place, in the order they were found.
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

    fn told(sink: FindingSink) -> Vec<String> {
        sink.finish().into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_missing_name_is_told_unless_its_declaration_was() {
        let mut sink = FindingSink::default();
        let why = sink.report(unknown("first"));
        sink.excuse("a", why);
        sink.missing("a", || unknown("second"));
        sink.missing("b", || unknown("third"));
        assert_eq!(told(sink), ["first", "third"]);
    }

    #[test]
    fn who_relies_on_an_error_before_tells_one_if_there_is_none() {
        let mut sink = FindingSink::default();
        assert_eq!(sink.check(), Ok(()));
        sink.reported_before(|| unknown("first"));
        assert!(sink.check().is_err());
        sink.reported_before(|| unknown("second"));
        assert_eq!(told(sink), ["first"]);
    }

    #[test]
    fn warnings_are_no_errors_and_beyond_the_limit_errors_are_counted() {
        let mut sink = FindingSink::default();
        sink.push(Diagnostic::new(Code::Shadowing, Span::new(FileId::new(0), 0, 0), "odd"));
        assert_eq!(sink.check(), Ok(()));
        (0..3 * MAX_ERRORS).for_each(|_| _ = sink.error(|| unknown("wrong")));
        assert_eq!(told(sink).len(), 1 + MAX_ERRORS + 1);
    }
}
