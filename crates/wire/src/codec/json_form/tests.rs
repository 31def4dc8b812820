use ioxide_record::limits::Excess;
use ioxide_record::value::JsonProblem;

use super::*;
use crate::samples::model;

const PETS: &str = "model Pets {
    enum Kind { kind_cat, kind_big_dog, kind_2 }
    record Pet { name: string, kind_of: Kind, tag: string?, owner: string? }
    record Other { a: int }
    record AnyJson { text: string }
    enum Found { found_pet(value: Pet), found_count(value: int), found_nothing }
    enum Event { event_sold(pet: Pet, to: Kind?), event_fed }
    enum Size { size_small, size_large }
    input ask(found: Found, pets: list<Pet>, by: map<Kind, Other>, any: AnyJson,
        rows: map<int, Pet>, owners: map<Pet, Kind>, event: Event, deep: Kind??, size: Size)
    output told
    state s { on ask emit told }
}";

fn config() -> JsonFormConfig {
    let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let pairs = |all: &[(&str, &str)]| {
        all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
    };
    JsonFormConfig {
        open: true,
        closed: texts(&["Other"]),
        untagged: texts(&["Found"]),
        text: texts(&["AnyJson"]),
        absent: texts(&["Pet.tag"]),
        null: texts(&["Pet.owner"]),
        names: pairs(&[("Pet.kind_of", "kind-of")]),
        cases: pairs(&[
            ("kind_cat", "\"cat\""),
            ("kind_big_dog", "\"big dog\""),
            ("kind_2", "2"),
            ("found_nothing", "\"-\""),
            ("event_fed", "0"),
            ("size_small", "\"S\""),
        ]),
        ..JsonFormConfig::default()
    }
}

fn sort_of(model: &Model, field: &str) -> Sort {
    let gate = model.sts.gates.iter().find(|gate| *gate.name == *"ask").unwrap();
    let var = gate.fields.iter().find(|var| *model.pool.var_info(**var).name == *field).unwrap();
    model.pool.var_info(*var).sort
}

/// Reads `text` as a value of the field, and returns the text it is written as again.
fn again(field: &str, text: &str) -> Result<String, String> {
    let model = model(PETS);
    let form = JsonForm::new(&config(), &model).unwrap();
    let json: Json = serde_json::from_str(text).unwrap();
    let value =
        form.read_value(&model.pool, sort_of(&model, field), &json).map_err(|error| error.to_string())?;
    let written = form.write(&model.pool, &value);
    assert_eq!(form.read_value(&model.pool, sort_of(&model, field), &written), Ok(value), "{written}");
    Ok(written.to_string())
}

#[test]
fn values_are_read_and_written_in_the_words_of_the_system() {
    let same = |field, text: &str| assert_eq!(again(field, text).unwrap(), text);
    same("found", r#"{"kind-of":"big dog","name":"Rex","owner":null}"#);
    same("found", r#"{"kind-of":2,"name":"Rex","owner":"Ann","tag":"x"}"#);
    same("found", "7");
    same("found", r#""-""#);
    same("pets", r#"[{"kind-of":"cat","name":"","owner":null}]"#);
    same("by", r#"{"big dog":{"a":1},"cat":{"a":2}}"#);
    same("any", r#"{"x":[1,null]}"#);
    // More than the record has is let through, and numbers are what they are.
    let more = again("found", r#"{"kind-of":2.0,"name":"Rex","owner":null,"age":9}"#).unwrap();
    assert_eq!(more, r#"{"kind-of":2,"name":"Rex","owner":null}"#);
}

/// The form holds inside whatever else there is: pairs, cases with fields, options of options, keys.
#[test]
fn values_inside_others_have_the_same_form() {
    let same = |field, text: &str| assert_eq!(again(field, text).unwrap(), text);
    let rex = r#"{"kind-of":"big dog","name":"Rex","owner":null}"#;
    same("rows", &format!("[[1,{rex}],[7,{rex}]]"));
    same("owners", &format!("[[{rex},\"cat\"]]"));
    same("by", r#"{"2":{"a":1},"cat":{"a":2}}"#);
    same("event", &format!(r#"{{"event_sold":{{"pet":{rex},"to":"big dog"}}}}"#));
    same("event", &format!(r#"{{"event_sold":{{"pet":{rex}}}}}"#));
    same("event", "0");
    same("deep", r#"{"some":2}"#);
    same("deep", r#"{"some":null}"#);
    same("deep", "null");
    // A case without a notation of its own is written by its name.
    same("size", r#""size_large""#);
    same("size", r#""S""#);
    assert!(again("size", r#""size_small""#).unwrap_err().contains("there are `S`"));
    let place = again("rows", r#"[[1,{"kind-of":"cow","name":"","owner":null}]]"#).unwrap_err();
    assert!(place.contains("`0.kind-of`"), "{place}");
}

#[test]
fn what_has_another_shape_is_told_with_its_place() {
    let problem = |field, text: &str, says: &str| {
        let problem = again(field, text).unwrap_err();
        assert!(problem.contains(says), "{problem}");
    };
    problem("pets", r#"[{"kind-of":"cow","name":"","owner":null}]"#, "cow");
    problem("pets", r#"[{"kind-of":"cat","owner":null}]"#, "`name`");
    problem("pets", r#"[{"kind-of":"cat","name":""}]"#, "`owner`");
    problem("pets", r#"[{"kind-of":"cat","name":"","owner":null,"tag":null}]"#, "null");
    problem("by", r#"{"cat":{"a":2,"b":1}}"#, "`b`");
    problem("found", "true", "expected Found");
}

#[test]
fn names_are_those_of_the_model() {
    let model = model(PETS);
    let bad = |change: fn(&mut JsonFormConfig)| {
        let mut config = config();
        change(&mut config);
        JsonForm::new(&config, &model).unwrap_err().to_string()
    };
    assert!(bad(|config| config.closed.push("Nobody".into())).contains("no record, enum or case `Nobody`"));
    assert!(bad(|config| config.untagged.push("Pet".into())).contains("no enum `Pet`"));
    assert!(bad(|config| config.absent.push("Pet.age".into())).contains("`Pet.age`"));
    assert!(bad(|config| config.text.push("Other".into())).contains("one field, a string"));
    assert!(bad(|config| config.cases.push(("kind_cat".into(), "cat".into()))).contains("not JSON"));
    assert!(bad(|config| config.cases.push(("cow".into(), "1".into()))).contains("no case of an enum `cow`"));
}

const REVISIONS: &str = "model Revisions {
    record Note { by: string, text: string? }
    enum R { put(rev: int), del(rev: int, n: int?), noted(note: Note, more: list<Note>), both(inner: R2?) , \
                         none_at_all }
    enum R2 { old(rev: int, n: int?) }
    input ask(one: R, many: list<R>, by: map<string, R>, rows: map<int, R>, maybe: R?, keys: set<R2>)
    state s { on ask }
}";

/// Reads `text` as a value of the field of [`REVISIONS`], and returns it as the protocol writes it.
fn revision(config: &JsonFormConfig, field: &str, text: &str) -> Result<String, String> {
    let model = model(REVISIONS);
    let form = JsonForm::new(config, &model).unwrap();
    let (sort, json) = (sort_of(&model, field), serde_json::from_str(text).unwrap());
    let value = form.read_value(&model.pool, sort, &json).map_err(|error| error.to_string())?;
    assert_eq!(form.read_value(&model.pool, sort, &form.write(&model.pool, &value)), Ok(value.clone()));
    Ok(value_to_json(&model.pool, &value).to_string())
}

#[test]
fn an_open_form_holds_inside_cases_with_fields_at_every_depth() {
    let open = JsonFormConfig { open: true, ..JsonFormConfig::default() };
    let read = |field, text: &str| revision(&open, field, text).unwrap();
    let del = r#"{"del":{"n":null,"rev":1}}"#;
    assert_eq!(read("one", r#"{"del":{"rev":1}}"#), del, "an option that is missing");
    assert_eq!(read("one", r#"{"del":{"rev":1,"n":null,"at":"noon"}}"#), del, "a member that no case has");
    assert_eq!(read("one", r#"{"put":{"rev":1,"at":"noon"}}"#), r#"{"put":{"rev":1}}"#);
    assert_eq!(read("one", r#"{"none_at_all":{"at":"noon"}}"#), r#""none_at_all""#);
    assert_eq!(read("one", r#"{"del":{"rev":1},"at":"noon"}"#), del, "a member beside the case");
    assert_eq!(read("many", r#"[{"del":{"rev":1}},{"del":{"rev":1,"x":[]}}]"#), format!("[{del},{del}]"));
    assert_eq!(read("by", r#"{"k":{"del":{"rev":1}}}"#), format!(r#"{{"k":{del}}}"#));
    assert_eq!(read("rows", r#"[[7,{"del":{"rev":1}}]]"#), format!("[[7,{del}]]"));
    assert_eq!(read("keys", r#"[{"old":{"rev":1}}]"#), r#"[{"old":{"n":null,"rev":1}}]"#);
    assert_eq!(read("maybe", r#"{"del":{"rev":1}}"#), del);
    assert_eq!(read("maybe", "null"), "null");
    assert_eq!(
        read("one", r#"{"noted":{"note":{"by":"a","x":1},"more":[{"by":"b"}]}}"#),
        r#"{"noted":{"more":[{"by":"b","text":null}],"note":{"by":"a","text":null}}}"#
    );
    assert_eq!(read("one", r#"{"both":{}}"#), r#"{"both":{"inner":null}}"#);
    assert_eq!(
        read("one", r#"{"both":{"inner":{"old":{"rev":2,"y":0}}}}"#),
        r#"{"both":{"inner":{"old":{"n":null,"rev":2}}}}"#
    );
    let wrong = |text: &str| revision(&open, "one", text).unwrap_err();
    assert!(wrong(r#"{"del":{"n":1}}"#).contains("`rev`"), "what is no option must be there");
    wrong(r#"{"del":{"rev":1},"put":{"rev":1}}"#);
    wrong(r#"{"at":"noon","on":"monday"}"#);
}

#[test]
fn cases_are_closed_renamed_and_left_out_as_records_are() {
    let closed =
        |name: &str| JsonFormConfig { open: true, closed: vec![name.into()], ..JsonFormConfig::default() };
    for name in ["R", "del"] {
        let extra = revision(&closed(name), "one", r#"{"del":{"rev":1,"at":"noon"}}"#).unwrap_err();
        assert!(extra.contains("`at`"), "{extra}");
        revision(&closed(name), "one", r#"{"del":{"rev":1}}"#).unwrap();
    }
    revision(&closed("R"), "one", r#"{"del":{"rev":1},"at":"noon"}"#).unwrap_err();
    let strict = JsonFormConfig::default();
    revision(&strict, "one", r#"{"del":{"rev":1}}"#).unwrap_err();
    revision(&strict, "one", r#"{"del":{"rev":1,"n":null,"at":"noon"}}"#).unwrap_err();
    let named = JsonFormConfig {
        names: vec![("del.rev".into(), "Revision".into())],
        absent: vec!["del.n".into()],
        ..JsonFormConfig::default()
    };
    assert_eq!(
        revision(&named, "one", r#"{"del":{"Revision":1}}"#).unwrap(),
        r#"{"del":{"n":null,"rev":1}}"#
    );
    revision(&named, "one", r#"{"del":{"Revision":1,"n":null}}"#).unwrap_err();
    let null = JsonFormConfig { open: true, null: vec!["del.n".into()], ..JsonFormConfig::default() };
    revision(&null, "one", r#"{"del":{"rev":1}}"#).unwrap_err();
    revision(&null, "one", r#"{"del":{"rev":1,"n":null}}"#).unwrap();
}

/// Each level may be either of two cases: to try all of them would take longer than anybody lives.
#[test]
fn cases_inside_each_other_are_not_tried_for_ever() {
    let model = model(
        "model Terms { record And { all: list<Term> } record Or { all: list<Term> }
        enum Term { and(it: And), or(it: Or), leaf(n: int) }
        input ask(t: Term) state s { on ask } }",
    );
    let config = JsonFormConfig { untagged: vec!["Term".into()], ..JsonFormConfig::default() };
    let form = JsonForm::new(&config, &model).unwrap();
    let nested = |n: usize, leaf: &str| {
        let text = format!("{}{leaf}{}", "{\"all\":[".repeat(n), "]}".repeat(n));
        form.read_value(&model.pool, sort_of(&model, "t"), &serde_json::from_str(&text).unwrap())
    };
    assert!(nested(40, "1").is_ok());
    assert!(matches!(nested(3, "true").unwrap_err().problem, JsonProblem::Shape { .. }));
    assert!(matches!(nested(40, "true").unwrap_err().problem, JsonProblem::Excess(Excess::Tries { .. })));
    let long = "9".repeat(20_000);
    let number = nested(1, &long).unwrap_err().problem;
    assert!(matches!(number, JsonProblem::Excess(Excess::Digits { .. })), "no other case: {number:?}");
}

/// Defect: a price `"12.50"` was read as 12.5, so a reply of the wrong type passed.
#[test]
fn a_text_is_no_number_that_json_can_write() {
    let model = model("model M { input ask(price: real) output told state s { on ask emit told } }");
    let read = |config: JsonFormConfig, text: &str| {
        let form = JsonForm::new(&config, &model).unwrap();
        let json: Json = serde_json::from_str(text).unwrap();
        form.read_value(&model.pool, sort_of(&model, "price"), &json).is_ok()
    };
    for (text, is_number) in [("12.5", true), (r#""1/3""#, true), (r#""12.50""#, false), (r#""7""#, false)] {
        assert_eq!(read(JsonFormConfig::default(), text), is_number, "{text}");
    }
    let as_texts = JsonFormConfig { numbers_as_text: true, ..JsonFormConfig::default() };
    assert!(read(as_texts, r#""12.50""#));
}
