//! Descriptions become models: what is said of requests and answers, what is noted, what is refused.

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
            "take_back = { method = \"DELETE\", path = \"/books/{id}/loan\" }",
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
fn schemas_that_hold_themselves_are_types_that_do() {
    let tree = r##""Tree": {"type": "object", "required": ["v"], "properties": {"v": {"type": "integer", "minimum": 0},
        "kids": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}"##;
    let made = with_schema(r##"{"$ref": "#/components/schemas/Tree"}"##, tree);
    says(&made, &["record Tree { v: int, kids: list<Tree>? }", "x.v >= 0", "forall z in y: is_tree(z)"]);
    let pair = r##""A": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}, "b": {"$ref": "#/components/schemas/B"}}},
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

/// The model forbids nothing that the description allows: where two alternatives have one shape, only the shape is checked.
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
    assert!(bad("swagger: '2.0'").to_string().contains("Swagger 2.0"));
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
            "responses": {"200": {"description": "*/\u0085}"}, "2\n[": {"description": "x"}, "2{}": {"description": "x"}}}}}}"##;
    let made = made(text);
    assert_eq!(made.counts, (1, 1));
    assert!(!made.project.contains("${"), "{}", made.project);
    assert_eq!(made.project.lines().filter(|line| line.starts_with("[sut.")).count(), 4, "{}", made.project);
    assert!(made.model.lines().all(|line| !line.trim_start().starts_with("model X")), "{}", made.model);
    assert_eq!(made.notes.iter().filter(|note| note.text.contains("it is no status")).count(), 2);
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
