//! Tests of [`ioxide_model::suggest`].

use ioxide_model::suggest::nearest_name;

#[track_caller]
fn check(name: &str, candidates: &str, expected: Option<&str>) {
    assert_eq!(nearest_name(name, candidates.split(' ')), expected, "{name} among {candidates}");
}

#[test]
fn the_nearest_name_wins_if_it_is_near() {
    check("cuont", "amount count", Some("count"));
    check("integer", "int integer_", Some("integer_"));
    check("IDLE", "busy idle", Some("idle"));
    check("x", "y z", None);
    check("alpha", "omega beta", None);
    check("trys", "pin tries", Some("tries"));
    check("trys", "pays", None);
    check("ab", "abcd", None);
}
