//! Where findings are gathered, up to a limit.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use rustc_hash::FxHashSet;

/// How many errors are kept; text that is no model at all could have millions.
const MAX_ERRORS: usize = 100;

/// The findings of one run.
#[derive(Debug, Default)]
pub(crate) struct FindingSink {
    diagnostics: Vec<Diagnostic>,
    n_errors: usize,
    broken: FxHashSet<String>,
}

impl FindingSink {
    /// Adds a finding; errors beyond the limit are only counted.
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

    /// Adds the finding that `make` makes, which it only does if the finding is kept.
    pub(crate) fn error(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.n_errors <= MAX_ERRORS {
            self.push(make());
        }
    }

    /// Reports nothing about `names` that are missing: their declarations have errors.
    pub(crate) fn excuse(&mut self, names: &[String]) {
        self.broken.extend(names.iter().cloned());
    }

    /// Like [`error`](Self::error), for the name `name` that is missing.
    pub(crate) fn missing(&mut self, name: &str, make: impl FnOnce() -> Diagnostic) {
        if !self.broken.contains(name) {
            self.error(make);
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

    /// The findings in the order of the text; of one place, in the order they were found.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        let is_limit = |diagnostic: &Diagnostic| diagnostic.code == Code::TooManyErrors;
        self.diagnostics.sort_by_key(|diagnostic| (is_limit(diagnostic), diagnostic.span.start));
        self.diagnostics
    }
}
