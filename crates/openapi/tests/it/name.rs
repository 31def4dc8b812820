//! Tests of `name`.

use ioxide_openapi::name::{TakenNames, field_name, pascal_case, snake_case};

#[test]
fn names_are_names_of_a_model() {
    assert_eq!(snake_case("listAllPets"), "list_all_pets");
    assert_eq!(snake_case("read_item_items__item_id__get"), "read_item_items_item_id_get");
    assert_eq!(
        (snake_case("404"), snake_case("in"), snake_case("ü")),
        ("x404".into(), "in_".into(), "x".into())
    );
    assert_eq!(
        (pascal_case("pet-store v2"), pascal_case("HTTPValidationError")),
        ("PetStoreV2".into(), "HTTPValidationError".into())
    );
    assert_eq!(
        (field_name("photoUrls"), field_name("x-rate"), field_name("match")),
        ("photoUrls".into(), "x_rate".into(), "match_".into())
    );
    let mut taken = TakenNames::default();
    assert_eq!([taken.fresh_name("a"), taken.fresh_name("a"), taken.fresh_name("a")], ["a", "a_2", "a_3"]);
}
