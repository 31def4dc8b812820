//! Tests of [`ioxide_model::counted`].

use ioxide_model::counted::count_noun;

#[test]
fn a_number_and_its_noun_agree() {
    assert_eq!(count_noun(1u64, "state"), "1 state");
    assert_eq!(count_noun(0usize, "state"), "0 states");
    assert_eq!(
        (count_noun(1u32, "input class"), count_noun(2u32, "input class")),
        ("1 input class".into(), "2 input classes".into())
    );
    assert_eq!(
        (count_noun(1u32, "hypothesis"), count_noun(3u32, "hypothesis")),
        ("1 hypothesis".into(), "3 hypotheses".into())
    );
}
