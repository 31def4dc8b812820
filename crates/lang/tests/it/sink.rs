//! Tests of `sink`.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::index::Idx;
use ioxide_model::source::{FileId, Span};

use ioxide_lang::sink::{FindingSink, MAX_ERRORS};

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
