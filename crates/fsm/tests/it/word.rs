//! Tests of `word`.

use ioxide_fsm::mealy::InputId;
use ioxide_fsm::word::{Word, compare_shortlex, without_prefixes, words_up_to};

#[test]
fn words_come_in_shortlex_order() {
    let words: Vec<Word> = words_up_to(2, 3).collect();
    assert_eq!(words.len(), 1 + 2 + 4 + 8);
    assert!(words.is_sorted_by(|a, b| compare_shortlex(a, b).is_lt()));
    assert_eq!(words_up_to(0, 3).count(), 1);
}

#[test]
fn prefixes_and_copies_are_dropped() {
    let word = |digits: &[u32]| digits.iter().map(|&d| InputId::from(d)).collect::<Word>();
    let kept = without_prefixes(vec![word(&[0]), word(&[0, 1]), word(&[1]), word(&[]), word(&[1])]);
    assert_eq!(kept, [word(&[0, 1]), word(&[1])]);
}
