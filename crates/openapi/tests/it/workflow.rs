//! Workflows: the states in which an operation succeeds, and where it leads.

use ioxide_openapi::{
    Observations, ObservedFact, RuleTopic, ServiceOptions, StateRules, Translation, translate,
};

const ORDERS: &str = r##"{"openapi": "3.0.0", "info": {"title": "Orders", "version": "1"}, "paths": {
    "/orders": {"post": {"operationId": "add", "requestBody": {"required": true, "content": {"application/json":
            {"schema": {"type": "object", "required": ["units"], "properties": {"units": {"type": "integer"}}}}}},
        "responses": {"201": {"description": "", "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/Order"}}}}}}},
    "/orders/{id}": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "get": {"operationId": "show", "responses": {"200": {"description": "", "content": {"application/json":
            {"schema": {"$ref": "#/components/schemas/Order"}}}}, "404": {"description": ""}}},
        "delete": {"operationId": "remove", "responses": {"204": {"description": ""}, "404": {"description": ""},
            "409": {"description": ""}}}},
    "/orders/{id}/ship": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "post": {"operationId": "ship", "responses": {"200": {"description": "", "content": {"application/json":
            {"schema": {"$ref": "#/components/schemas/Order"}}}}, "404": {"description": ""},
            "409": {"description": ""}}}}
    }, "components": {"schemas": {"Order": {"type": "object", "required": ["id", "units", "status"], "properties": {
        "id": {"type": "integer"}, "units": {"type": "integer"},
        "status": {"enum": ["draft", "confirmed", "shipped"]}}}}}}"##;

fn translate_orders(rules: StateRules) -> Translation {
    let options = ServiceOptions { rules, ..ServiceOptions::default() };
    translate(ORDERS, &options).unwrap_or_else(|bad| panic!("{bad}"))
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn learned(supported: &[&str]) -> String {
    let supported = supported.iter().map(|&rule| rule.to_owned()).collect();
    flat(&translate_orders(StateRules::Learned(Observations { supported, ..Observations::default() })).model)
}

/// A state in which an operation was refused is one in which it must be, if it succeeded in others.
#[test]
fn states_in_which_an_operation_is_refused_need_support() {
    let learning = translate_orders(StateRules::Learning);
    let rule_of = |wanted: &str| {
        let is_it = |fact: &ObservedFact| {
            let of_workflow = matches!(fact, ObservedFact::Broken { topic: RuleTopic::Workflow, .. });
            of_workflow && matches!(fact, ObservedFact::Broken { about, .. } if about == wanted)
        };
        let found = learning.observables.iter().find(|observable| is_it(&observable.fact));
        match found.map(|observable| &observable.fact) {
            Some(ObservedFact::Broken { rule, .. }) => rule.clone(),
            _ => panic!("`{wanted}` is no rule of\n{}", learning.model),
        }
    };
    let refused = rule_of("POST /orders/{id}/ship does not succeed while `status` of the order is \"draft\"");
    let supports = |fact: &ObservedFact| matches!(fact, ObservedFact::Supported { rule } if *rule == refused);
    assert!(
        learning.observables.iter().any(|it| supports(&it.fact) && it.transition.starts_with("ship_409"))
    );
    let text = "known.status != ";
    assert!(!learned(&[]).contains(text) && !learned(&[&refused]).contains(text), "it never succeeded");
    assert!(learned(&[&refused, "ship.succeeds"]).contains(text));
    rule_of("DELETE /orders/{id} does not succeed while `status` of the order is \"shipped\"");
    let leads = rule_of("POST /orders/{id}/ship makes `status` of the order \"shipped\"");
    assert!(!learned(&[]).contains("body.status == ") && learned(&[&leads]).contains("body.status == "));
}

/// An action leaves alone what requests set, also if it brings back what was deleted.
#[test]
fn actions_leave_alone_what_requests_set() {
    let text = learned(&[]);
    for wanted in [
        "fn is_left_alone_by_ship(known: Order, told: Order) -> bool = known.units == told.units",
        "if deleted_orders.has(asked_order) then removed_orders.get(asked_order) else orders.get(asked_order)",
        "removed_orders.with(asked_order, x)",
    ] {
        assert!(text.contains(wanted), "`{wanted}` is not in\n{text}");
    }
}
