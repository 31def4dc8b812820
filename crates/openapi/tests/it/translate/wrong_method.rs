//! Tests of `translate::wrong_method`.

use ioxide_openapi::translate::wrong_method::may_overlap;

#[test]
fn finds_paths_that_the_same_address_fits() {
    for (one, other, expected) in [
        ("/books/mine", "/books/{}", true),
        ("/{}/x", "/books/{}", true),
        ("/books/{}.json", "/books/all", true),
        ("/books", "/books/{}", false),
        ("/books/a", "/books/b", false),
    ] {
        assert_eq!(may_overlap(one, other), expected, "{one} {other}");
        assert_eq!(may_overlap(other, one), expected, "{other} {one}");
    }
}
