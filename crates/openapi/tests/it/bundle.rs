//! Tests of `bundle`.

use ioxide_openapi::node::SpecNode;
use ioxide_openapi::{bundle, yaml};

#[test]
fn files_become_parts_of_the_first() {
    let read = |path: &str| match path {
        "api/schemas/book.yaml" => {
            Some("type: object\nproperties: { author: { $ref: '../people.yaml#/Author' } }")
        }
        "api/people.yaml" => {
            Some("Author: { properties: { book: { $ref: 'schemas/book.yaml' }, me: { $ref: '#/Author' } } }")
        }
        _ => None,
    };
    let read = |path: &str| read(path).map(str::to_owned);
    let root =
        "openapi: 3.0.0\na: { $ref: './schemas/book.yaml' }\nb: { $ref: '#/a' }\nc: { $ref: 'lost.yaml' }";
    let made = bundle(root, "api/root.yaml", &read).unwrap();
    let tree = yaml::read_tree(&made).unwrap();
    let at = |pointer: &str| tree.at_pointer(pointer).and_then(SpecNode::as_text);
    assert_eq!(at("/a/$ref"), Some("#/x-files/book"));
    assert_eq!(at("/b/$ref"), Some("#/a"));
    assert_eq!(at("/x-files/book/properties/author/$ref"), Some("#/x-files/people/Author"));
    assert_eq!(at("/x-files/people/Author/properties/book/$ref"), Some("#/x-files/book"));
    assert_eq!(at("/x-files/people/Author/properties/me/$ref"), Some("#/x-files/people/Author"));
    assert_eq!(at("/c/$ref"), Some("#/x-files/lost"), "which is not there, and noted when it is used");
    assert_eq!(bundle("openapi: 3.0.0", "x.yaml", &read).unwrap(), "openapi: 3.0.0");
}
