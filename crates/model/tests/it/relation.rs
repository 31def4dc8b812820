//! Tests of [`ioxide_model::relation`].

use ioxide_model::relation::ConformanceRelation;

#[test]
fn relations_are_read_by_their_words() {
    for relation in ConformanceRelation::ALL {
        assert_eq!(relation.word().parse(), Ok(relation));
    }
    let unknown = "tioco".parse::<ConformanceRelation>().expect_err("it is none of them");
    assert_eq!(unknown.to_string(), "unknown relation `tioco`; there are ioco, uioco");
    assert_eq!(ConformanceRelation::default(), ConformanceRelation::Ioco);
}
