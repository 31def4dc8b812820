//! Tests of [`ioxide_model::code`].

use ioxide_model::code::Code;
use ioxide_model::diag::Severity;

#[test]
fn numbers_are_unique_ordered_and_found_again() {
    let ids: Vec<_> = Code::ALL.iter().map(|code| &code.id()[1..]).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    for &code in Code::ALL {
        assert_eq!(Code::by_id(&code.id().to_lowercase()), Some(code));
    }
}

#[test]
fn the_first_letter_tells_the_severity() {
    for &code in Code::ALL {
        assert_eq!(code.id().starts_with('E'), code.severity() == Severity::Error, "{}", code.id());
    }
}

#[test]
fn every_explanation_is_headed_by_its_code() {
    for &code in Code::ALL {
        let heading = format!("# {}: {}\n", code.id(), code.title());
        assert!(code.explanation().starts_with(&heading), "{} should start with {heading:?}", code.id());
    }
}
