//! Rules between items: numbers of what is inside, and values that only one item has.

use ioxide_openapi::{Observations, ObservedFact, ServiceOptions, StateRules, Translation, translate};

const ROOMS: &str = r##"{"openapi": "3.0.0", "info": {"title": "Rooms", "version": "1"}, "paths": {
    "/rooms": {"post": {"operationId": "add", "requestBody": {"required": true, "content": {"application/json":
            {"schema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}},
        "responses": {"201": {"description": "", "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/Room"}}}}, "409": {"description": ""}}}},
    "/rooms/{number}": {
        "parameters": [{"name": "number", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "get": {"operationId": "show", "responses": {"200": {"description": "", "content": {"application/json":
            {"schema": {"$ref": "#/components/schemas/Room"}}}}, "404": {"description": ""}}}},
    "/rooms/{number}/bookings": {
        "parameters": [{"name": "number", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "post": {"operationId": "book", "responses": {"201": {"description": "", "content": {"application/json":
            {"schema": {"$ref": "#/components/schemas/Booking"}}}}, "404": {"description": ""}}}},
    "/rooms/{number}/bookings/{id}": {
        "parameters": [{"name": "number", "in": "path", "required": true, "schema": {"type": "integer"}},
            {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "get": {"operationId": "booking", "responses": {"200": {"description": "", "content": {"application/json":
            {"schema": {"$ref": "#/components/schemas/Booking"}}}}, "404": {"description": ""}}},
        "delete": {"operationId": "cancel", "responses": {"204": {"description": ""}, "404": {"description": ""}}}}
    }, "components": {"schemas": {
        "Room": {"type": "object", "required": ["id", "name", "booked"], "properties": {
            "id": {"type": "integer"}, "name": {"type": "string"}, "booked": {"type": "integer"}}},
        "Booking": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}}}}"##;

fn translate_rooms(rules: StateRules, is_restarted: bool) -> Translation {
    let options = ServiceOptions { rules, is_restarted, ..ServiceOptions::default() };
    translate(ROOMS, &options).unwrap_or_else(|bad| panic!("{bad}"))
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Each of the rules is in the model if answers spoke for it and none against it.
#[test]
fn relations_between_items_need_support() {
    let rules = [
        (
            "show_200.inside.booked.bookings",
            "body.booked == {k for k in created_bookings if k.number == asked_room}.size()",
        ),
        ("add_409.taken.name", "created_rooms.subset_of(rooms.keys().to_set())"),
        ("room.unique.name", "some(sent) => !(exists k in rooms:"),
    ];
    let learning = translate_rooms(StateRules::Learning, true);
    for (rule, condition) in rules {
        let is_it = |fact: &ObservedFact| matches!(fact, ObservedFact::Supported { rule: of } if of == rule);
        assert!(learning.observables.iter().any(|observable| is_it(&observable.fact)), "{rule}");
        let has = |observations: Observations| {
            let made = translate_rooms(StateRules::Learned(observations), true);
            flat(&made.model).contains(condition)
        };
        let supported = Observations { supported: [rule.to_owned()].into(), ..Observations::default() };
        assert!(has(supported.clone()), "{rule}");
        assert!(!has(Observations::default()), "{rule}");
        assert!(!has(Observations { broken: [rule.to_owned()].into(), ..supported }), "{rule}");
    }
    // Items of other runs may have the value.
    let shared = translate_rooms(StateRules::Learning, false);
    assert!(!shared.model.contains("subset_of(rooms"), "{}", shared.model);
}
