//! State from a description: resources, the rules about them, and requests that must be refused.

use ioxide_openapi::{
    Observations, ObservedFact, RuleWeight, ServiceOptions, StateRules, Translation, translate,
};

const NOTES: &str = include_str!("../../../cli/tests/it/openapi/notes.yaml");

fn translate_text(text: &str, rules: StateRules) -> Translation {
    let options = ServiceOptions { rules, ..ServiceOptions::default() };
    translate(text, &options).unwrap_or_else(|bad| panic!("{bad}"))
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn says(made: &Translation, all: &[&str]) {
    let text = flat(&made.model) + " " + &flat(&made.project);
    for wanted in all {
        assert!(text.contains(&flat(wanted)), "`{wanted}` is not in\n{}\n{}", made.model, made.project);
    }
}

#[test]
fn a_resource_is_remembered() {
    let made = translate_text(NOTES, StateRules::Learned(Observations::default()));
    assert_eq!(made.resources, ["notes"]);
    says(
        &made,
        &[
            "var notes: map<int, Note> = {}",
            "notes[body.id] = body",
            "/// DELETE /notes/{id} removes the note.",
            "deleted_notes = deleted_notes.with(asked_note)",
            "when owed == owes_get_note && !(notes.has(asked_note))",
            "fn same_note(known: Note, told: Note) -> bool =",
            "input add_note_wrong_body(body: AddNoteWrongBody)",
            "to = [\"add_note\", \"add_note_wrong_body\"]",
        ],
    );
}

#[test]
fn a_broken_rule_is_left_out_with_a_note() {
    let broken = ["same_note.tag", "get_note_404.missing", "add_note_wrong_body.without title"];
    let observations = Observations { broken: broken.map(str::to_owned).into(), ..Observations::default() };
    let made = translate_text(NOTES, StateRules::Learned(observations));
    assert!(!made.model.contains("looks =="), "no request sets it: {}", made.model);
    says(
        &made,
        &[
            "/// Not compared, the service changes them: `tag`.",
            "/// Not checked, the service differs: GET /notes/{id} answers 404 only if the note does not exist.",
            "get_note_404: emit get_note_404 when owed == owes_get_note { owed = nothing }",
        ],
    );
    assert!(!made.model.contains("without_title"), "{}", made.model);
    assert!(made.loosened.iter().any(|text| text.contains("`title` is missing")), "{:?}", made.loosened);
}

#[test]
fn statuses_that_were_seen_are_allowed() {
    let seen = [("remove_note".to_owned(), "404".to_owned())];
    let observations = Observations { statuses: seen.into(), ..Observations::default() };
    let made = translate_text(NOTES, StateRules::Learned(observations));
    says(
        &made,
        &[
            "/// Not documented, but the service answers so. output remove_note_404",
            "remove_note_404: emit remove_note_404 when owed == owes_remove_note && !(notes.has(asked_note))",
        ],
    );
}

/// A model for learning forbids nothing that a rule forbids: each rule has a transition of its own.
#[test]
fn every_rule_can_be_seen_broken() {
    let made = translate_text(NOTES, StateRules::Learning);
    let is_weighty = |fact: &ObservedFact| {
        matches!(fact, ObservedFact::Broken { weight: RuleWeight::Contradiction, about, .. }
            if about == "GET /notes/{id} does not succeed for a note that was deleted")
    };
    assert!(made.observables.iter().any(|observable| is_weighty(&observable.fact)));
    for observable in &made.observables {
        let label = format!("{}: emit", observable.transition);
        assert!(flat(&made.model).contains(&label), "{label} is not in\n{}", made.model);
    }
}

#[test]
fn nothing_of_it_is_in_a_model_without_state() {
    let made = translate_text(NOTES, StateRules::Stateless);
    assert!(made.resources.is_empty() && made.wrong_requests == 0 && made.observables.is_empty());
    assert!(!made.model.contains("map<"), "{}", made.model);
}

/// A method that is not documented is refused; which header `Allow` the service sends is learned.
#[test]
fn methods_that_are_not_documented_are_refused() {
    let supported: std::collections::BTreeSet<String> = ["other_method_on_notes.allow".to_owned()].into();
    let seen = Observations { supported, ..Observations::default() };
    let made = translate_text(NOTES, StateRules::Learned(seen.clone()));
    says(
        &made,
        &[
            "enum OtherMethodOnNotes { put_on_notes, patch_on_notes, delete_on_notes }",
            "method = \"{method}\", path = \"/notes/{id}\"",
            "\"put_on_notes\" = \"\\\"PUT\\\"\"",
            "emit other_method_on_notes_405 when owed == owes_other_method_on_notes && \
             allow.matches(\"(.*[ ,])?GET([ ,].*)?\") && allow.matches(\"(.*[ ,])?POST([ ,].*)?\")",
            "(wrong_in_other_method_on_notes == some(put_on_notes) => !allow.matches(\"(.*[ ,])?PUT([ ,].*)?\"))",
            "other_method_on_notes_4xx = { to = \"other_method_on_notes\", status = \"4xx\", except = [\"405\"] }",
        ],
    );
    assert!(!made.model.contains("other_method_on_notes_2xx"), "{}", made.model);
    assert!(!made.model.contains("other_method_on_notes_405_headless"), "{}", made.model);
    let broken = ["other_method_on_notes.PUT.accepted", "other_method_on_notes.allow"];
    let broken = Observations { broken: broken.map(str::to_owned).into(), ..seen };
    let made = translate_text(NOTES, StateRules::Learned(broken));
    assert!(!made.model.contains("put_on_notes,"), "{}", made.model);
    assert!(
        !made.model.contains(
            "allow.matches(\"(.*[ ,])?GET([ ,].*)?\") && allow.matches(\"(.*[ ,])?POST([ ,].*)?\")"
        ),
        "{}",
        made.model
    );
    assert!(made.loosened.iter().any(|text| text.starts_with("PUT /notes, which")), "{:?}", made.loosened);
}

/// A body in another content type is sent only if the service was seen to refuse it.
#[test]
fn other_content_types_are_refused_if_the_service_does() {
    let unseen = translate_text(NOTES, StateRules::Learned(Observations::default()));
    assert!(!unseen.model.contains("other_content"), "{}", unseen.model);
    let rule = "add_note_as_other_content.refused".to_owned();
    let seen = Observations { supported: [rule].into(), ..Observations::default() };
    let made = translate_text(NOTES, StateRules::Learned(seen.clone()));
    says(
        &made,
        &[
            "input add_note_as_other_content(body: NewNote)",
            "headers = { content-type = \"text/plain\" }, body = \"{body}\"",
            "add_note_as_other_content_4xx: emit add_note_as_other_content_4xx",
        ],
    );
    let broken = ["add_note_as_other_content.accepted".to_owned()].into();
    let made = translate_text(NOTES, StateRules::Learned(Observations { broken, ..seen }));
    assert!(!made.model.contains("other_content"), "{}", made.model);
    assert!(made.loosened.iter().any(|text| text.contains("a body in text/plain")), "{:?}", made.loosened);
}

/// A form in parts has files, and wrong values as far as texts can be wrong.
#[test]
fn translates_bodies_in_parts() {
    let text = r##"{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/photos": {"post": {
        "operationId": "add", "requestBody": {"required": true, "content": {"multipart/form-data": {
            "schema": {"type": "object", "required": ["title", "photo"], "properties": {
                "title": {"type": "string", "minLength": 1, "maxLength": 20},
                "copies": {"type": "integer", "minimum": 1},
                "photo": {"type": "string", "format": "binary"},
                "notes": {"type": "array", "items": {"type": "string", "contentMediaType": "text/csv"}}}},
            "encoding": {"photo": {"contentType": "image/png, image/jpeg"}}}}},
        "responses": {"201": {"description": ""}, "422": {"description": ""}}}}}}"##;
    let made = translate_text(text, StateRules::Learned(Observations::default()));
    assert!(made.notes.is_empty(), "{:?}", made.notes);
    says(
        &made,
        &[
            "record AddBody { title: string, copies: int?, photo: string, notes: list<string>? }",
            "headers = { content-type = \"multipart/form-data\" }, body = \"{body}\", files = { \"photo\" = \
             \"image/png\", \"notes\" = \"text/csv\" }",
            "add_wrong_body_without_photo",
            r#""add_wrong_body_copies_type" = "{\"title\":\"abc\",\"photo\":\"abc\",\"copies\":\"not a number\"}""#,
        ],
    );
    for is_right in ["title_type", "too_short", "wrong_body_list"] {
        assert!(!made.model.contains(is_right), "{}", made.model);
    }
    let other = text.replace("\"contentType\": \"image/png, image/jpeg\"", "\"contentType\": \"image/*\"");
    let made = translate_text(&other, StateRules::Stateless);
    says(&made, &["\"photo\" = \"application/octet-stream\""]);
}

/// A path that is read and replaced is remembered without a collection, by the parameters before it.
#[test]
fn singletons_and_defaults_are_remembered() {
    let studio = include_str!("../../../cli/tests/it/openapi/studio.yaml");
    let made = translate_text(studio, StateRules::Learned(Observations::default()));
    assert_eq!(made.resources, ["photos", "/photos/{id}/frame", "/settings"]);
    says(
        &made,
        &[
            "var known_settings: map<int, Settings> = {}",
            "known_settings[asked_setting] = body",
            "fn same_setting(known: Settings, told: Settings) -> bool = known.theme == told.theme && known.size == \
             told.size",
            "fn keeps_change_of_settings(known: Settings, sent: Change, told: Settings) -> bool =",
            "var written_frame: map<int, Frame> = {}",
            "asked_frame = id",
            "(match written_frame.get(asked_frame) { none => true, some(sent) => shows_frame(sent, body) })",
            "fn has_defaults_of_new_photo(sent: NewPhoto, told: Photo) -> bool = (match sent.copies { none => 1 == \
             told.copies, some(_) => true })",
        ],
    );
    let broken = ["same_setting.theme", "same_setting.size", "has_defaults_of_new_photo.copies"];
    let broken = Observations { broken: broken.map(str::to_owned).into(), ..Observations::default() };
    let made = translate_text(studio, StateRules::Learned(broken));
    assert!(!made.model.contains("fn same_setting"), "{}", made.model);
    assert!(!made.model.contains("has_defaults_of"), "{}", made.model);
}

/// A nested collection, ids in `Location`, a page with a limit, a filter.
#[test]
fn collections_in_collections_have_keys_of_both() {
    let text = r##"{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {
        "/teams/{team}/members": {
            "parameters": [{"name": "team", "in": "path", "required": true, "schema": {"type": "string"}}],
            "get": {"operationId": "list", "parameters": [
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 20}},
                    {"name": "role", "in": "query", "schema": {"type": "string", "enum": ["chief", "other"]}}],
                "responses": {"200": {"description": "", "content": {"application/json": {"schema":
                    {"type": "object", "required": ["items"], "properties": {"items": {"type": "array",
                        "items": {"$ref": "#/components/schemas/Member"}}}}}}}}},
            "post": {"operationId": "add",
                "requestBody": {"required": true, "content": {"application/json": {"schema":
                    {"type": "object", "required": ["role"], "properties": {
                        "role": {"type": "string", "enum": ["chief", "other"]}}}}}},
                "responses": {"201": {"description": ""}, "400": {"description": ""}}}},
        "/teams/{team}/members/{id}": {
            "parameters": [{"name": "team", "in": "path", "required": true, "schema": {"type": "string"}},
                {"name": "id", "in": "path", "required": true, "schema": {"type": "string", "format": "uuid"}}],
            "get": {"operationId": "get", "responses": {"200": {"description": "", "content":
                {"application/json": {"schema": {"$ref": "#/components/schemas/Member"}}}},
                "404": {"description": ""}}}}
        }, "components": {"schemas": {"Member": {"type": "object", "required": ["id", "role"], "properties": {
            "id": {"type": "string", "format": "uuid"}, "role": {"type": "string", "enum": ["chief", "other"]}}}}}}"##;
    let made = translate_text(text, StateRules::Learned(Observations::default()));
    says(
        &made,
        &[
            "record MemberKey { team: string, id: string }",
            "output add_201(location: string)",
            "location = \"(?:[^?#]*/)?(?P<location>[^/?#]+)/?(?:[?#].*)?\"",
            "MemberKey(team: asked_member.team, id: location)",
            "list_at_most = (match limit { none => 20, some(most) => most })",
            "body.items.length() < list_at_most",
            "list_of_role = role",
        ],
    );
}

#[test]
fn swagger_2_is_translated() {
    let text = r##"{"swagger": "2.0", "info": {"title": "t", "version": "1"}, "host": "example.org", "basePath": "/v2",
        "schemes": ["https"], "consumes": ["application/json"], "produces": ["application/json"],
        "parameters": {"id": {"name": "id", "in": "path", "required": true, "type": "integer"}},
        "paths": {"/pets": {"post": {"operationId": "add", "parameters": [
                {"name": "pet", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}}],
                "responses": {"201": {"description": "", "schema": {"$ref": "#/definitions/Pet"}}}}},
            "/pets/{id}": {"parameters": [{"$ref": "#/parameters/id"}],
                "get": {"operationId": "get", "responses": {"200": {"description": "",
                    "schema": {"$ref": "#/definitions/Pet"}}}},
                "post": {"operationId": "rename", "parameters": [
                    {"name": "name", "in": "formData", "type": "string", "required": true}],
                    "responses": {"204": {"description": ""}}}}},
        "definitions": {"Pet": {"type": "object", "required": ["id", "name"],
            "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}}}"##;
    let made = translate_text(text, StateRules::Stateless);
    assert_eq!(made.counts, (3, 3));
    says(
        &made,
        &[
            "url = \"https://example.org/v2\"",
            "input add(body: Pet)",
            "input get(id: int)",
            "output get_200(body: Pet)",
            "input rename(id: int, body: RenameBody)",
            "content-type = \"application/x-www-form-urlencoded\"",
        ],
    );
}

/// Credentials come from the environment, and the project file has no secret in it.
#[test]
fn credentials_are_variables_of_the_environment() {
    let text = |scheme: &str| {
        format!(
            r#"{{"openapi": "3.0.0", "info": {{"title": "t", "version": "1"}}, "security": [{{"lock": []}}],
            "paths": {{"/x": {{"get": {{"operationId": "ask", "responses": {{"200": {{"description": ""}}}}}}}}}},
            "components": {{"securitySchemes": {{"lock": {scheme}}}}}}}"#
        )
    };
    let cases = [
        (
            r#"{"type": "http", "scheme": "bearer"}"#,
            "API_TOKEN",
            "headers = { \"Authorization\" = \"Bearer ${API_TOKEN}\" }",
        ),
        (
            r#"{"type": "apiKey", "in": "query", "name": "key"}"#,
            "API_KEY",
            "query = { \"key\" = \"${API_KEY}\" }",
        ),
        (
            r#"{"type": "apiKey", "in": "cookie", "name": "sid"}"#,
            "API_KEY",
            "cookies = { \"sid\" = \"${API_KEY}\" }",
        ),
    ];
    for (scheme, variable, wanted) in cases {
        let options = ServiceOptions {
            rules: StateRules::Learned(Observations::default()),
            variables: [variable.to_owned()].into(),
            ..ServiceOptions::default()
        };
        let made = translate(&text(scheme), &options).unwrap_or_else(|bad| panic!("{bad}"));
        says(&made, &[wanted, "input ask_unauthorised", "ask_unauthorised_401: emit ask_401"]);
        says(&made, &["input ask_unauthenticated", "ask_unauthenticated_401: emit ask_401"]);
        // Of a header that all requests have, only `none` leaves it out.
        let is_header = wanted.starts_with("headers");
        assert_eq!(made.project.contains("= \"{credentials}\""), is_header, "{}", made.project);
        assert_eq!(made.model.contains("credentials == none"), is_header, "{}", made.model);
        let unset = ServiceOptions { variables: [].into(), ..options };
        let made = translate(&text(scheme), &unset).unwrap_or_else(|bad| panic!("{bad}"));
        assert!(!made.project.contains(&format!("\n{wanted}")), "{}", made.project);
    }
}

/// Defect: the condition of a record that holds a map of itself called itself on values of the map.
#[test]
fn a_record_may_hold_a_map_of_itself() {
    let text = r##"{"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": {"/x": {"get": {
        "operationId": "ask", "responses": {"200": {"description": "", "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/P"}}}}}}}},
        "components": {"schemas": {"P": {"type": "object", "properties": {
            "name": {"type": "string", "maxLength": 5},
            "parts": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/P"}}}}}}}"##;
    let made = translate_text(text, StateRules::Stateless);
    assert!(made.notes.iter().any(|note| note.text.contains("hold each other")), "{:?}", made.notes);
}

const SHOP: &str = r##"{"openapi": "3.0.0", "info": {"title": "Shop", "version": "1"}, "paths": {
    "/stats": {"get": {"operationId": "stats", "responses": {"200": {"description": "", "content":
        {"application/json": {"schema": {"type": "object", "required": ["items"], "properties": {
            "items": {"type": "integer"}}}}}}}}},
    "/items": {
        "get": {"operationId": "list", "parameters": [
                {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 1}},
                {"name": "per_page", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 10}}],
            "responses": {"200": {"description": "", "content": {"application/json": {"schema":
                {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}}}}}},
        "post": {"operationId": "add", "requestBody": {"required": true, "content": {"application/json": {"schema":
                {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}},
            "responses": {"201": {"description": "", "content": {"application/json": {"schema":
                {"$ref": "#/components/schemas/Item"}}}}, "400": {"description": ""}}}},
    "/items/{id}": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "get": {"operationId": "show", "responses": {"200": {"description": "", "content":
            {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}}, "404": {"description": ""}}},
        "delete": {"operationId": "remove", "responses": {"204": {"description": ""}, "404": {"description": ""}}}},
    "/items/{id}/notes": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "get": {"operationId": "notes", "responses": {"200": {"description": "", "content": {"application/json":
            {"schema": {"type": "array", "items": {"type": "string"}}}}}, "404": {"description": ""}}},
        "post": {"operationId": "note", "responses": {"201": {"description": ""}, "404": {"description": ""}}}},
    "/items/{id}/move": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "post": {"operationId": "move", "requestBody": {"required": true, "content": {"application/json": {"schema":
                {"type": "object", "required": ["delta"], "properties": {"delta": {"type": "integer"}}}}}},
            "responses": {"200": {"description": "", "content": {"application/json": {"schema":
                {"$ref": "#/components/schemas/Item"}}}}, "404": {"description": ""}}}}
    }, "components": {"schemas": {"Item": {"type": "object", "required": ["id", "name", "quantity"], "properties": {
        "id": {"type": "integer"}, "name": {"type": "string"}, "quantity": {"type": "integer"}}}}}}"##;

fn translate_shop(rules: StateRules) -> Translation {
    let options = ServiceOptions { rules, is_restarted: true, ..ServiceOptions::default() };
    translate(SHOP, &options).unwrap_or_else(|bad| panic!("{bad}"))
}

/// Rules about numbers are in the model if answers spoke for them, and only then.
#[test]
fn a_rule_that_nothing_suggests_needs_support() {
    let numbers = [
        ("stats_200.counts.items.items", "body.items == created_items.size()"),
        ("list_200.page", "list_from > 0"),
        ("add_201.constant.quantity", "first.quantity == body.quantity"),
        ("notes_200.number", "some(n) => body.length() == n"),
        ("move_200.sum.quantity.delta", "body.quantity == known.quantity + sent.delta"),
    ];
    let learning = translate_shop(StateRules::Learning);
    for (rule, condition) in numbers {
        let is_it = |fact: &ObservedFact| matches!(fact, ObservedFact::Supported { rule: of } if of == rule);
        assert!(learning.observables.iter().any(|observable| is_it(&observable.fact)), "{rule}");
        says(&learning, &[condition]);
        let unsupported = translate_shop(StateRules::Learned(Observations::default()));
        assert!(!flat(&unsupported.model).contains(condition), "{}", unsupported.model);
        let supported = [rule.to_owned()].into();
        let observations = Observations { supported, ..Observations::default() };
        says(&translate_shop(StateRules::Learned(observations.clone())), &[condition]);
        let broken = Observations { broken: [rule.to_owned()].into(), ..observations };
        let broken = translate_shop(StateRules::Learned(broken));
        assert!(!flat(&broken.model).contains(condition), "{}", broken.model);
    }
}

/// Requests for what exists outweigh the others, deletes are rare, and wrong requests are a tenth.
#[test]
fn weights_favour_what_exists() {
    let made = translate_shop(StateRules::Learned(Observations::default()));
    let text = flat(&made.model);
    let weight = |label: &str| {
        let (before, _) = text.split_once(&format!(" {label}: on")).unwrap_or_else(|| panic!("{text}"));
        let last = before.rsplit(' ').next().unwrap_or_default();
        let number = last.strip_prefix("@weight(").and_then(|last| last.strip_suffix(')'));
        number.map_or(1, |number| number.parse::<u32>().unwrap_or(0))
    };
    assert!(weight("ask_show_that_exists") > 5 * weight("ask_show"), "{text}");
    assert!(weight("ask_remove_that_exists") * 3 < weight("ask_add_while_few"), "{text}");
    assert!(weight("ask_notes_that_exists") > weight("ask_notes"), "{text}");
    assert!(weight("ask_add_wrong_body") < weight("ask_add_while_few"), "{text}");
}
