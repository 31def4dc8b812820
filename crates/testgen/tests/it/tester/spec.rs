//! Tests of [`ioxide_testgen::tester::spec`].

use ioxide_testgen::tester::spec::TesterSpec;

/// A text for every form, and for every option of a complete suite.
const TEXTS: [&str; 16] = [
    "hunt",
    "cover",
    "tour",
    "purpose:cash",
    "purpose:cash,card",
    "force:cash",
    "tests",
    "test:two and two: four",
    "case:a/b.json",
    "case:",
    "suite:C:\\x.suite",
    "complete",
    "complete:extra=1,refine=2,values=3,bounded=4,method=spyh,only=r1,only=r2",
    "complete:refine=1,extra=1",
    "kill",
    "random",
];

#[test]
fn every_tester_is_printed_as_it_is_written() {
    for text in TEXTS {
        let spec: TesterSpec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spec.to_string(), text);
        assert_eq!(text.split(':').next(), Some(spec.name()));
    }
    let written: Vec<&str> = TEXTS.iter().map(|text| text.split(':').next().unwrap_or(text)).collect();
    for name in TesterSpec::names() {
        assert!(written.contains(&name), "`{name}` is not tried here");
    }
    assert_eq!(TesterSpec::names().first(), Some(&TesterSpec::default().name()));
}

#[test]
fn a_text_that_names_no_tester_is_told_what_was_meant() {
    let help = |text: &str| text.parse::<TesterSpec>().map_err(|error| (error.to_string(), error.help()));
    for (text, meant) in [
        ("hnut", Some("hunt")),
        ("Random", Some("random")),
        ("purpos:cash", Some("purpose:cash")),
        ("test", Some("tests")),
        ("tests:cash", Some("test:cash")),
        ("fastest", None),
        ("", None),
        ("completely", Some("complete")),
    ] {
        let (message, help) = help(text).expect_err("it is no tester");
        assert_eq!(message, format!("there is no tester `{text}`"));
        let expected = meant.map(|meant| format!("did you mean `{meant}`? there is `hunt`, `cover`"));
        assert!(help.starts_with(&expected.unwrap_or_else(|| "there is `hunt`, `cover`".into())), "{help}");
        assert!(help.ends_with("`kill` and `random`"), "{help}");
    }
    let wrong = help("complete:extra").expect_err("a number is missing");
    assert_eq!(wrong.0, "`extra` has no meaning for a complete suite");
    assert!(help("complete:extra=-1").is_err() && help("complete:colour=1").is_err());
    assert_eq!(help("complete:method=x").expect_err("no such method").0, "there is no method `x`");
}
