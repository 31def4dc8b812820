//! Tests of `sink`.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::index::Idx;
use ioxide_model::source::{FileId, Sources, Span};

use ioxide_lang::sink::{FindingSink, MAX_ERRORS};
use ioxide_lang::{LoadOptions, load};

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

#[test]
fn what_is_wrong_at_a_tentative_place_is_told_apart_and_the_rest_is_a_model() {
    let wrong = ["on a { n = true }", "on nobody", "on a -> nowhere"];
    let right = "on a { n = n + 2 } -> t";
    for one in wrong.into_iter().chain([right]) {
        let text = format!(
            "model M {{ input a output b var n: int = 0
            state s {{ on a {{ n = n + 1 }} -> t\n{one}\n }}\nstate t {{ emit b -> s }} }}"
        );
        let start = text.find(&format!("\n{one}\n")).expect("it is there");
        let mut sources = Sources::new();
        let file = sources.add("m.iox", text.as_str());
        let place = Span::new(file, start, start + one.len() + 2);
        let strict = load(&sources, file, &LoadOptions::default());
        assert_eq!(strict.model.is_some(), one == right, "{one}");
        let options = LoadOptions { tentative: vec![place], ..LoadOptions::default() };
        let loaded = load(&sources, file, &options);
        assert!(!loaded.has_errors(), "{one}: {:?}", loaded.diagnostics);
        assert_eq!(!loaded.wrong_places.is_empty(), one != right, "{one}: {:?}", loaded.wrong_places);
        let model = loaded.model.expect("the rest is a model");
        let is_outside = |span: Span| span.end as usize <= start || span.start as usize > start + one.len();
        let n_outside = model.sts.switches.iter().filter(|switch| is_outside(switch.span)).count();
        assert_eq!(n_outside, 2, "{one}");
        // An error elsewhere is one.
        let broken = LoadOptions { tentative: vec![Span::new(file, 0, 1)], ..LoadOptions::default() };
        assert_eq!(load(&sources, file, &broken).model.is_some(), one == right, "{one}");
    }
}
