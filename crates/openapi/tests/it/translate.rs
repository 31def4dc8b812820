//! Descriptions become models: what is said of requests and answers, what is noted, what is refused.

mod pattern;
mod text;
mod wrong_method;

use ioxide_openapi::{BadDescription, ServiceOptions, Translation, translate};

const LIBRARY: &str = include_str!("library.yaml");

fn made(text: &str) -> Translation {
    translate(text, &ServiceOptions::default()).unwrap_or_else(|bad| panic!("{bad}"))
}

/// A description with one operation, whose answer has this schema, and these components.
fn with_schema(schema: &str, components: &str) -> Translation {
    made(&format!(
        r#"{{"openapi": "3.1.0", "info": {{"title": "t", "version": "1"}},
            "paths": {{"/x": {{"get": {{"operationId": "ask", "responses": {{"200": {{"description": "",
                "content": {{"application/json": {{"schema": {schema}}}}}}}}}}}}}}},
            "components": {{"schemas": {{{components}}}}}}}"#
    ))
}

#[track_caller]
fn says(made: &Translation, all: &[&str]) {
    // Layout is no matter here.
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = flat(&made.model) + " " + &flat(&made.project);
    for wanted in all {
        assert!(text.contains(&flat(wanted)), "`{wanted}` is not in\n{}\n{}", made.model, made.project);
    }
}

/// Tokens of OAuth2 are fetched before every run, from the service itself; a token that is given comes first.
#[test]
fn tokens_are_fetched_by_password_or_by_the_secret_of_a_client() {
    let text = |flow: &str, url: &str| {
        format!(
            "openapi: 3.1.0\ninfo: {{title: T, version: '1'}}\nservers: [{{url: 'http://h:1/v1'}}]\npaths:\n  /a:\n    \
             get: {{responses: {{'200': {{description: ok}}}}}}\ncomponents:\n  securitySchemes:\n    \
             o: {{type: oauth2, flows: {{{flow}: {{tokenUrl: '{url}', scopes: {{}}}}}}}}\n"
        )
    };
    let with = |text: &str, variables: &[&str]| {
        let variables = variables.iter().map(|&name| name.to_owned()).collect();
        let made = translate(text, &ServiceOptions { variables, ..ServiceOptions::default() });
        made.expect("it is a description")
    };
    let user = ["API_USER", "API_PASSWORD"];
    let by_password = "grant = \"password\", user = \"${API_USER}\", password = \"${API_PASSWORD}\"";
    let places = [
        ("/v1/token", "/v1/token"),
        ("token", "/v1/token"),
        ("http://h:1/v1/token", "/v1/token"),
        ("/oauth/token", "/oauth/token"),
    ];
    for (url, path) in places {
        let made = with(&text("password", url), &user);
        let token = format!("token = {{ url = \"{path}\", {by_password} }}");
        says(&made, &[&token, "headers = { \"Authorization\" = \"Bearer {access_token}\" }"]);
    }
    let client = with(&text("clientCredentials", "token"), &["API_CLIENT_ID", "API_CLIENT_SECRET"]);
    let by_client =
        "grant = \"client_credentials\", client = \"${API_CLIENT_ID}\", secret = \"${API_CLIENT_SECRET}\" }";
    says(&client, &[by_client]);
    let scoped = text("password", "token").replace("scopes: {}", "scopes: {read: r, write: w}");
    says(&with(&scoped, &user), &["scope = \"read write\""]);
    let given = with(&text("password", "token"), &["API_TOKEN", "API_USER", "API_PASSWORD"]);
    says(&given, &["Bearer ${API_TOKEN}"]);
    // Secrets go to another host only if the user names it.
    for elsewhere in ["https://login.example.org/token", "//login.example.org/token", "http://h:2/token"] {
        let made = with(&text("password", elsewhere), &user);
        assert!(!made.project.contains("token = {"), "{}", made.project);
        says(&made, &["# `o`: to have tokens fetched, set API_USER, API_PASSWORD, API_TOKEN_URL"]);
        let named = with(&text("password", elsewhere), &["API_USER", "API_PASSWORD", "API_TOKEN_URL"]);
        says(&named, &["token = { url = \"${API_TOKEN_URL}\""]);
    }
}

/// Defect: a header parameter `authorization` was left out without a word.
#[test]
fn a_parameter_with_the_authorization_is_the_credential_or_is_listed() {
    let text = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths:\n  /a:\n    get:\n      parameters:\n        \
                - {name: authorization, in: header, required: true, schema: {type: string}}\n        \
                - {name: Host, in: header, schema: {type: string}}\n      \
                responses: {'200': {description: ok}}\n";
    let notes =
        |made: &Translation| made.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let without = translate(text, &ServiceOptions::default()).expect("it is a description");
    assert!(notes(&without).contains("set API_TOKEN"), "{}", notes(&without));
    assert!(notes(&without).contains("the header `Host` is set by the HTTP layer"), "{}", notes(&without));
    let variables = std::iter::once("API_TOKEN".to_owned()).collect();
    let with = translate(text, &ServiceOptions { variables, ..ServiceOptions::default() });
    let with = with.expect("it is a description");
    says(&with, &["headers = { \"Authorization\" = \"Bearer ${API_TOKEN}\" }"]);
    assert!(!notes(&with).contains("API_TOKEN"), "{}", notes(&with));
}

#[test]
fn operations_are_inputs_and_responses_outputs() {
    let made = made(LIBRARY);
    assert_eq!(made.counts, (5, 10));
    says(
        &made,
        &[
            "input list_books(year: 1450..2100?)",
            "output list_books_200(body: list<Book>)",
            "input add_book(body: BookSent)",
            "record BookSent { title: string, year: 1450..2100, tags: list<string>? }",
            "input lend(id: -2147483648..2147483647, body: LendBody)",
            "x.reader.matches(\"[a-z]+\")",
            "output take_back_204",
            "state serving {",
            "purpose lend_200: ask_lend, lend_200",
            "take_back = { method = \"DELETE\", path = \"/books/{id}/loan\", operation = \
             \"#/paths/~1books~1{id}~1loan/delete\" }",
            "\"Book.lent_to\" = \"lent-to\"",
            "\"book_status_on_shelf\" = \"\\\"on shelf\\\"\"",
            "closed = [\"Problem\"]",
            "url = \"http://127.0.0.1:8000/v1\"",
        ],
    );
    assert!(made.notes.is_empty(), "{:?}", made.notes);
}

#[test]
fn schemas_are_sorts_with_conditions() {
    for (schema, wanted) in [
        (r#"{"type": "integer", "minimum": 1, "exclusiveMaximum": 10}"#, "(body: 1..9)"),
        (r#"{"type": "integer", "minimum": 1}"#, "body >= 1"),
        (r#"{"type": "number", "maximum": 2.5}"#, "body <= 2.5"),
        (r#"{"type": "integer", "multipleOf": 5}"#, "body % 5 == 0"),
        (r#"{"type": ["string", "null"]}"#, "(body: string?)"),
        (r#"{"type": "string", "format": "uuid"}"#, "body.matches(\"[0-9a-fA-F]{8}-"),
        (r#"{"type": "array", "items": {"type": "boolean"}, "minItems": 2}"#, "body.length() >= 2"),
        (r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#, "(body: map<string, int>)"),
        (r#"{"type": "object"}"#, "(body: AnyJson)"),
        (r#"{"enum": ["a b", 3]}"#, "enum Ask200Body { ask200_body_a_b, ask200_body_3 }"),
        (r#"{"const": "x"}"#, "enum Ask200Body { ask200_body_x }"),
        (r#"{"anyOf": [{"type": "string"}, {"type": "null"}]}"#, "(body: string?)"),
        (r#"{"anyOf": [{"type": "string"}, {"type": "integer"}]}"#, "ask200_body_int(value: int)"),
        (
            r#"{"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"required": ["a"]}]}"#,
            "{ a: int }",
        ),
        (
            r#"{"type": "object", "properties": {"in": {"type": "boolean"}}}"#,
            "record Ask200Body { in_: bool? }",
        ),
    ] {
        says(&with_schema(schema, ""), &[wanted]);
    }
}

#[test]
fn enums_with_the_same_values_are_one_type() {
    let made = with_schema(
        r##"{"type": "object", "required": ["a", "b", "c", "d"], "properties": {"a": {"enum": ["x", "y"]},
            "b": {"$ref": "#/components/schemas/Other"}, "c": {"enum": ["x", "z"]},
            "d": {"enum": ["x", "y", null]}}}"##,
        r#""Other": {"type": "string", "enum": ["y", "x"]}"#,
    );
    says(&made, &["{ a: Ask200BodyA, b: Ask200BodyA, c: Ask200BodyC, d: Ask200BodyA? }"]);
}

#[test]
fn schemas_that_hold_themselves_are_types_that_do() {
    let tree = r##""Tree": {"type": "object", "required": ["v"], "properties": {"v": {"type": "integer", "minimum": 0},
        "kids": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}"##;
    let made = with_schema(r##"{"$ref": "#/components/schemas/Tree"}"##, tree);
    says(&made, &["record Tree { v: int, kids: list<Tree>? }", "x.v >= 0", "forall z in y: is_tree(z)"]);
    let pair = r##""A": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0},
            "b": {"$ref": "#/components/schemas/B"}}},
        "B": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A"}}}"##;
    let made = with_schema(r##"{"$ref": "#/components/schemas/A"}"##, pair);
    assert!(made.notes.iter().any(|note| note.text.contains("hold each other")), "{:?}", made.notes);
}

#[test]
fn what_is_not_translated_is_noted_at_its_place() {
    for (schema, place) in [
        (r#"{"type": "string", "pattern": "(?=a)b"}"#, "/schema/pattern"),
        (r#"{"type": "integer", "not": {"const": 3}}"#, "/schema/not"),
        (r#"{"$ref": "other.yaml"}"#, "/schema"),
        (r#"{"properties": {"a": {"type": "integer"}}}"#, "/schema"),
        (r#"{"type": "array", "prefixItems": [{"type": "integer"}]}"#, "/schema/prefixItems"),
        (r#"{"anyOf": [{"type": "number", "minimum": 5}, {"type": "integer", "maximum": 2}]}"#, "/schema"),
        (r#"{"anyOf": [{"type": "string", "minLength": 5}, {"type": "string", "maxLength": 2}]}"#, "/schema"),
        (r#"{"type": "number", "multipleOf": 0.1}"#, "/schema/multipleOf"),
        (r#"{"type": "integer", "multipleOf": -2}"#, "/schema/multipleOf"),
        (r#"{"type": "integer", "minimum": "1"}"#, "/schema/minimum"),
        (r#"{"type": "string", "maxLength": 2.5}"#, "/schema/maxLength"),
        (r#"{"type": "string", "pattern": "a", "format": "uuid"}"#, "/schema/format"),
        (r#"{"type": "object", "minProperties": 1}"#, "/schema/minProperties"),
        (r#"{"type": "object", "additionalProperties": false}"#, "/schema/additionalProperties"),
        (r#"{"type": "object", "required": ["a"]}"#, "/schema/required"),
        (
            r#"{"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}}"#,
            "/schema/required",
        ),
        (
            r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "maxProperties": 1}"#,
            "/schema/maxProperties",
        ),
        (r#"{"maxProperties": 1}"#, "/schema/maxProperties"),
        (r#"{"type": ["object", "string"]}"#, "/schema/type"),
        (r#"{"type": "array", "items": false}"#, "/schema/items"),
        (
            r#"{"type": "array", "uniqueItems": true,
                "items": {"type": "array", "items": {"type": "integer", "format": "int32"}}}"#,
            "/schema/uniqueItems",
        ),
        (
            r#"{"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}}"#,
            "/schema/items",
        ),
        (r#"{"oneOf": [{"type": "string"}], "required": ["a"]}"#, "/schema/required"),
        (r#"{"oneOf": [{"type": "string"}], "type": "object"}"#, "/schema/type"),
        (r#"{"oneOf": [{"type": "string"}], "anyOf": [{"type": "string"}]}"#, "/schema/anyOf"),
        (r#"{"enum": ["a", "bc"], "maxLength": 1}"#, "/schema/maxLength"),
        (r#"{"$ref": "other.yaml", "minimum": 1, "maximum": 2}"#, "/schema"),
        (
            r#"{"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}},
                {"properties": {"a": {"enum": ["x"]}}}]}"#,
            "/allOf/1/properties/a",
        ),
        (r#"{"allOf": [{"type": "string"}, {"allOf": [{"$ref": "other.yaml"}]}]}"#, "/allOf/1/allOf/0"),
    ] {
        let made = with_schema(schema, "");
        let note = made.notes.iter().find(|note| note.place.ends_with(place));
        assert!(
            note.is_some_and(|note| note.place.starts_with("#/paths/~1x/get")),
            "{schema}: {:?}",
            made.notes
        );
    }
}

/// A keyword that excludes nothing is no reason for a note.
#[test]
fn what_excludes_nothing_is_not_noted() {
    for schema in [
        r#"{"type": "object", "minProperties": 0, "additionalProperties": true, "required": []}"#,
        r#"{"type": "string", "minLength": 0, "enum": ["a"]}"#,
        r#"{"type": "array", "items": {}, "uniqueItems": false}"#,
        r#"{"type": "object", "oneOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}]}"#,
    ] {
        let made = with_schema(schema, "");
        assert!(made.notes.is_empty(), "{schema}: {:?}", made.notes);
    }
}

#[test]
fn numbers_are_bounded_exactly() {
    for (schema, wanted) in [
        (r#"{"type": "integer", "minimum": 1.5, "maximum": 3.5}"#, "(body: 2..3)"),
        (r#"{"type": "integer", "minimum": -1.5, "maximum": -0.5}"#, "(body: -1..-1)"),
        (r#"{"type": "integer", "minimum": 5, "exclusiveMinimum": 2}"#, "body >= 5"),
        (r#"{"type": "integer", "minimum": 5, "exclusiveMinimum": 7, "maximum": 9}"#, "(body: 8..9)"),
        (r#"{"type": "integer", "minimum": 0.5}"#, "body >= 1"),
        (r#"{"type": "integer", "maximum": 10000000000000000000.5}"#, "body <= 10000000000000000000"),
        (r#"{"type": "integer", "multipleOf": 2.5}"#, "body % 5 == 0"),
        (r#"{"type": "number", "maximum": 9007199254740993e0}"#, "body <= 9007199254740993"),
        (r#"{"type": "number", "minimum": 5, "exclusiveMinimum": 2}"#, "body >= 5"),
        (r#"{"type": "number", "minimum": -25e-3}"#, "body >= -0.025"),
        (r#"{"type": "string", "minLength": 2.0}"#, "body.length() >= 2"),
    ] {
        let made = with_schema(schema, "");
        says(&made, &[wanted]);
        assert!(made.notes.is_empty(), "{schema}: {:?}", made.notes);
    }
    says(&with_schema(r#"{"type": "integer", "multipleOf": 0.5}"#, ""), &["when owed == owes_ask {"]);
}

/// A description with these members of its only path.
fn with_path(members: &str) -> Result<Translation, BadDescription> {
    let text = format!(
        r#"{{"openapi": "3.0.0", "info": {{"title": "t", "version": "1"}}, "paths": {{
            "/other": {{"get": {{"responses": {{"200": {{"description": ""}}}}}}}}, "/x": {{{members}}}}}}}"#
    );
    translate(&text, &ServiceOptions::default())
}

#[test]
fn references_that_lead_nowhere_are_noted_and_forbid_nothing() {
    let done = r#""responses": {"200": {"description": ""}}"#;
    let lost = r#""parameters": [{"$ref": "other.yaml#/p"}]"#;
    for (path, place) in [
        (r#""$ref": "other.yaml""#.to_owned(), "#/paths/~1x"),
        (format!(r#""get": {{{lost}, {done}}}"#), "#/paths/~1x/get/parameters/0"),
        (format!(r#"{lost}, "get": {{{done}}}"#), "#/paths/~1x/parameters/0"),
    ] {
        let made = with_path(&path).unwrap_or_else(|bad| panic!("{bad}"));
        assert_eq!(made.counts, (1, 1), "a request that may lack a required parameter is not sent");
        assert!(made.notes.iter().any(|note| note.place == place), "{place}: {:?}", made.notes);
    }
    let made =
        with_path(r#""get": {"responses": {"200": {"$ref": "other.yaml"}, "404": {"description": ""}}}"#);
    let made = made.unwrap_or_else(|bad| panic!("{bad}"));
    assert_eq!(made.counts, (2, 3), "the status is documented, so it is allowed");
    assert!(made.notes.iter().any(|note| note.place == "#/paths/~1x/get/responses/200"), "{:?}", made.notes);
}

#[test]
fn schemas_of_plain_text_are_noted_unless_they_say_nothing() {
    let with = |schema: &str| {
        let content = format!(r#""content": {{"text/plain": {{"schema": {schema}}}}}"#);
        let made = with_path(&format!(
            r#""post": {{"requestBody": {{{content}}}, "responses": {{"200": {{"description": "", {content}}}}}}}"#
        ));
        made.unwrap_or_else(|bad| panic!("{bad}")).notes.len()
    };
    assert_eq!((with(r#"{"type": "string"}"#), with(r#"{"type": "string", "maxLength": 3}"#)), (0, 2));
    assert_eq!(with(r##"{"$ref": "#/components/schemas/Name"}"##), 2);
}

/// A member that is only written is not asked for in answers, whichever part of the schema says so; nor is it
/// forbidden.
#[test]
fn members_that_are_only_written_are_neither_required_nor_forbidden_in_answers() {
    let parts = r#"{"allOf": [
        {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        {"properties": {"a": {"type": "string", "writeOnly": true}}}]}"#;
    says(&with_schema(parts, ""), &["record Ask200Body { b: string }"]);
    let closed = r#"{"type": "object", "additionalProperties": false,
        "properties": {"a": {"type": "string", "writeOnly": true}, "b": {"type": "string"}}}"#;
    let made = with_schema(closed, "");
    says(&made, &["closed = []"]);
    assert!(made.notes.iter().any(|note| note.place.ends_with("/additionalProperties")), "{:?}", made.notes);
}

/// The model forbids nothing that the description allows: where two alternatives have one shape, only the shape is
/// checked.
#[test]
fn alternatives_that_cannot_be_told_apart_are_not_checked() {
    let either = r#"{"anyOf": [{"type": "string", "maxLength": 2}, {"type": "string", "pattern": "^x+$"}]}"#;
    let made = with_schema(either, "");
    assert!(!made.model.contains("matches") && !made.model.contains("length"), "{}", made.model);
}

#[test]
fn what_is_no_description_is_refused() {
    let bad = |text: &str| translate(text, &ServiceOptions::default()).expect_err("it is refused");
    assert!(matches!(bad("a: ["), BadDescription::Unreadable(_)));
    assert!(matches!(bad("a: 1"), BadDescription::Version(_)));
    assert!(bad("swagger: '1.2'").to_string().contains("version of Swagger"));
    assert!(matches!(bad("openapi: 3.0.0\npaths: {}"), BadDescription::Empty));
}

/// No text makes it panic, and whatever comes out is a model: every prefix of a description, line by line, and the
/// description with every line left out.
#[test]
fn any_part_of_a_description_is_translated_or_refused() {
    let lines: Vec<&str> = LIBRARY.lines().collect();
    for at in 0..lines.len() {
        let prefix = lines[..at].join("\n");
        let without = [&lines[..at], &lines[at + 1..]].concat().join("\n");
        for text in [prefix, without] {
            if let Err(bad @ BadDescription::Model(_)) = translate(&text, &ServiceOptions::default()) {
                panic!("line {}: {bad}", at + 1);
            }
        }
    }
}

/// References in circles, types without end, schemas whose parts double at every level: each is a model all the same.
#[test]
fn descriptions_that_have_no_end_are_translated() {
    let of = |name: &str| format!(r##"{{"$ref": "#/components/schemas/{name}"}}"##);
    let a = of("A");
    let doubling = |keyword: &str| -> String {
        let level = |n: usize| {
            let next = of(&format!("A{}", n + 1));
            format!(r#""A{n}": {{"{keyword}": [{next}, {next}]}}, "#)
        };
        (0..40).map(level).collect::<String>() + r#""A40": {"type": "string"}"#
    };
    let chain: String = (0..60)
        .map(|n| {
            format!(
                r#""A{n}": {{"type": "object", "properties": {{"x": {}, "y": {0}}}}}, "#,
                of(&format!("A{}", n + 1))
            )
        })
        .collect();
    for (schema, components) in [
        (a.clone(), format!(r#""A": {a}"#)),
        (a.clone(), format!(r#""A": {}, "B": {a}"#, of("B"))),
        (a.clone(), format!(r#""A": {{"type": "object", "required": ["a"], "properties": {{"a": {a}}}}}"#)),
        (a.clone(), format!(r#""A": {{"allOf": [{a}, {{"type": "object"}}]}}"#)),
        (a.clone(), format!(r#""A": {{"oneOf": [{a}, {0}]}}, "B": {{"anyOf": [{a}, {0}]}}"#, of("B"))),
        (a.clone(), format!(r#""A": {{"type": "array", "items": {a}}}"#)),
        (a.clone(), format!(r#""A": {{"type": "object", "additionalProperties": {a}}}"#)),
        (of("A0"), doubling("allOf")),
        (of("A0"), doubling("oneOf")),
        (of("A0"), chain + r#""A60": {"type": "string"}"#),
    ] {
        let made = with_schema(&schema, &components);
        assert_eq!(made.counts, (1, 1), "{components:.80}");
    }
}

/// The words of a description stay text: it adds no line to the model, no system and no command to the project
/// file, and reads nothing of the environment.
#[test]
fn descriptions_do_not_write_the_project() {
    let text = r##"{"openapi": "3.0.0", "info": {"title": "t\u2028model X {\r}\u0001", "version": "1\n}"},
        "paths": {"/a\n[sut.x]\ncommand=\"c\"": {"post": {"operationId": "a\"; b", "summary": "s\rmodel Y {",
            "requestBody": {"required": true, "content": {"text/plain; x=${SECRET}": {"schema": {"type": "string"}}}},
            "responses": {"200": {"description": "*/\u0085}"},
                "2\n[": {"description": "x"}, "2{}": {"description": "x"}}}}}}"##;
    let made = made(text);
    assert_eq!(made.counts, (1, 1));
    assert!(!made.project.contains("${"), "{}", made.project);
    assert_eq!(made.project.lines().filter(|line| line.starts_with("[sut.")).count(), 4, "{}", made.project);
    assert!(made.model.lines().all(|line| !line.trim_start().starts_with("model X")), "{}", made.model);
    assert_eq!(made.notes.iter().filter(|note| note.text.contains("it is not a status")).count(), 2);
}

const KINDS: &str = r#"{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/x/{n}": {"get": {
    "operationId": "ask",
    "parameters": [
        {"name": "Host", "in": "header", "required": true, "schema": {"type": "string"}},
        {"name": "any", "in": "query", "schema": {"title": "Any"}},
        {"name": "n", "in": "path", "required": true, "schema": {"type": "number"}},
        {"name": "filter", "in": "query", "content": {"application/json": {"schema":
            {"type": "object", "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 9}}}}}}
    ],
    "responses": {
        "200": {"description": "", "content": {
            "application/json": {"schema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
            "text/turtle": {}, "application/ld+json": {}}},
        "4XX": {"description": "", "content": {"*/*": {"schema": {"type": "string"}}}},
        "404": {"description": ""}}}}}}"#;

#[test]
fn kinds_of_answers_and_parameters_in_json() {
    says(
        &made(KINDS),
        &[
            "input ask(any: string?, n: real, filter: AskFilter?)",
            "query = { \"any\" = \"{any}\", \"filter\" = \"{filter}\" }, headers = { accept = \"application/json\" }",
            "output ask_200(body: Ask200Body)",
            "output ask_200_other",
            "ask_200 = { to = \"ask\", status = 200, headers = { content-type = \"(?i)(application/json)( *;.*)?\" }",
            "(text/turtle|application/ld\\\\+json)",
            "ask_4xx_other = { to = \"ask\", status = \"4xx\", except = [\"404\"] }",
            "ask_404 = { to = \"ask\", status = 404 }",
        ],
    );
}

#[test]
fn what_is_allowed_besides_is_not_checked_and_never_replaces_what_is_documented() {
    let allow = vec!["404".to_owned(), "422".into(), "5xx".into()];
    let made = translate(KINDS, &ServiceOptions { allow, ..ServiceOptions::default() });
    let made = made.unwrap_or_else(|bad| panic!("{bad}"));
    says(&made, &["output ask_5xx", "ask_5xx = { to = \"ask\", status = \"5xx\" }"]);
    assert!(!made.model.contains("ask_422"), "4XX is documented: {}", made.model);
}

#[test]
fn a_description_from_an_address_is_of_the_service_there() {
    let url = |source: &str, servers: &str| {
        let text = KINDS.replacen("\"paths\"", &format!("{servers} \"paths\""), 1);
        let options = ServiceOptions { source: source.into(), ..ServiceOptions::default() };
        let made = translate(&text, &options).unwrap_or_else(|bad| panic!("{bad}"));
        let line = made.project.lines().find(|line| line.starts_with("url")).map(str::to_owned);
        line.unwrap_or_default()
    };
    assert_eq!(url("https://a.example/v3/openapi.json", ""), "url = \"https://a.example\"");
    let base = "\"servers\": [{\"url\": \"/api/\"}],";
    assert_eq!(url("http://a:81/openapi.json", base), "url = \"http://a:81/api\"");
    let other = "\"servers\": [{\"url\": \"http://b/api\"}],";
    assert_eq!(url("http://a:81/openapi.json", other), "url = \"http://b/api\"");
}

#[test]
fn whoever_has_no_credentials_may_be_turned_away() {
    let locked = |security: &str| {
        made(
            &KINDS
                .replacen("\"operationId\"", &format!("\"security\": {security}, \"operationId\""), 1)
                .replace("4XX", "409"),
        )
    };
    says(&locked("[{\"key\": []}]"), &["output ask_401", "output ask_403"]);
    for open in ["[]", "[{\"key\": []}, {}]"] {
        assert!(!locked(open).model.contains("ask_401"), "{open}");
    }
}
