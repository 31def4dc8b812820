use super::*;
use crate::samples::model;
use ioxide_model::sort::Sort;
use ioxide_model::value::{DataValue, Value};

const KEYS: &str = "model Keys {
    enum Colour { red, green }
    input PUT(k: string, v: int)
    input PAINT(c: Colour)
    output OK
    output VALUE(v: int, by: string?)
    output MADE(id: int)
    state a { on PUT on PAINT emit OK emit VALUE emit MADE }
}";

fn request(method: &str, path: &str, body: Option<&str>) -> RequestConfig {
    RequestConfig {
        method: method.into(),
        path: path.into(),
        body: body.map(Into::into),
        ..RequestConfig::default()
    }
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

fn answer(status: &str) -> AnswerConfig {
    AnswerConfig { status: vec![status.into()], ..AnswerConfig::default() }
}

fn config() -> HttpConfig {
    let value = AnswerConfig { fields: pairs(&[("v", "/item/value"), ("by", "/item/by")]), ..answer("200") };
    let value = AnswerConfig { json: pairs(&[("/kind", "value")]), ..value };
    let made = AnswerConfig { headers: pairs(&[("Location", "/keys/(?P<id>[0-9]+)")]), ..answer("201") };
    HttpConfig {
        headers: pairs(&[("X-Token", "s3cret")]),
        inputs: vec![
            ("PUT".into(), request("PUT", "/keys/{k}?v={v}", Some("{{\"k\": {k}, \"v\": {v}}}"))),
            ("PAINT".into(), request("POST", "/paint/{c}", None)),
        ],
        outputs: vec![("VALUE".into(), value), ("MADE".into(), made), ("OK".into(), answer("2xx"))],
        ..HttpConfig::default()
    }
}

fn response(status: u16, body: &str) -> HttpResponse {
    HttpResponse { status, body: body.into(), ..HttpResponse::default() }
}

/// The request it is.
fn request_of(outgoing: Result<OutgoingRequest, UnwritableMessage>) -> HttpRequest {
    match outgoing {
        Ok(OutgoingRequest::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn inputs_become_requests() {
    let model = model(KEYS);
    let codec = HttpCodec::new(&config(), "/v1", &model).unwrap();
    let put = model.sts.gate_named("PUT").unwrap();
    let label = Label::Input(put, vec![Value::str("a/b \"ü\r\n"), Value::int(-3)]);
    let made = request_of(codec.encode(&model, &label, &CapturedValues::default()));
    assert_eq!(made.path, "/v1/keys/a%2Fb%20%22%C3%BC%0D%0A?v=-3");
    assert_eq!(made.body.as_deref(), Some(r#"{"k": "a/b \"ü\r\n", "v": -3}"#));
    let headers = pairs(&[("x-token", "s3cret"), ("content-type", "application/json")]);
    assert_eq!((made.method.as_str(), made.headers), ("PUT", headers));
}

#[test]
fn writes_a_method_from_a_field() {
    let model = model("model M { input ANY(m: string) output OK state a { on ANY emit OK } }");
    let any = model.sts.gate_named("ANY").unwrap();
    let config = HttpConfig {
        inputs: vec![("ANY".into(), request("{m}", "/", None))],
        outputs: vec![("OK".into(), answer("2xx"))],
        ..HttpConfig::default()
    };
    let codec = HttpCodec::new(&config, "", &model).unwrap();
    let send = |method: &str| {
        let label = Label::Input(any, vec![Value::str(method)]);
        codec.encode(&model, &label, &CapturedValues::default())
    };
    assert_eq!(request_of(send("PURGE")).method, "PURGE");
    for bad in ["", "get", "GET / HTTP/1.1\r\nx: y"] {
        assert_eq!(send(bad), Err(UnwritableMessage::Method(bad.into())));
    }
}

#[test]
fn answers_become_outputs() {
    let model = model(KEYS);
    let codec = HttpCodec::new(&config(), "", &model).unwrap();
    let shown = |response: &HttpResponse| {
        let label = codec.decode(&model, response, None).map_err(|bad| bad.to_string());
        label.map(|label| label.show(&model.pool, &model.sts))
    };
    let value = response(200, r#"{"kind": "value", "item": {"value": 7, "by": "me"}}"#);
    assert_eq!(shown(&value).unwrap(), "!VALUE(v: 7, by: some(\"me\"))");
    let anonymous = response(200, r#"{"kind": "value", "item": {"value": 7}}"#);
    assert_eq!(shown(&anonymous).unwrap(), "!VALUE(v: 7, by: none)");
    assert_eq!(shown(&response(200, r#"{"kind": "other"}"#)).unwrap(), "!OK");
    let made = HttpResponse { headers: pairs(&[("location", "/keys/12")]), ..response(201, "") };
    assert_eq!(shown(&made).unwrap(), "!MADE(id: 12)");
    assert_eq!(shown(&response(404, "")).unwrap_err().to_string(), "this reply matches no output");
    let missing = shown(&response(200, r#"{"kind": "value", "item": {}}"#)).unwrap_err();
    assert_eq!(missing.to_string(), "`VALUE.v`: expected int, found nothing");
    let shape = shown(&response(200, r#"{"kind": "value", "item": {"value": "7"}}"#)).unwrap_err();
    assert!(shape.to_string().contains("expected int, found \"7\""), "{shape}");
}

/// Nested data that an answer gave is sent back unchanged in a request.
#[test]
fn bodies_hold_lists_and_objects_inside_each_other() {
    let model = model(
        "model Shop { enum Paid { cash, card(digits: string), split(parts: list<Paid>) }
        record Line { sku: string, n: 1..9 }
        record Order { lines: list<Line>, notes: map<string, list<int>>, by: map<int, bool>, paid: Paid, \
         tags: set<string>, gift: string? }
        input place(order: Order) output order(id: int, order: Order)
        state s { on place emit order } }",
    );
    let fields = pairs(&[("id", "/data/0/id"), ("order", "/data/0/order")]);
    let config = HttpConfig {
        inputs: vec![("place".into(), request("POST", "/orders", Some("{{\"order\": {order}}}")))],
        outputs: vec![("order".into(), AnswerConfig { fields, ..answer("200") })],
        ..HttpConfig::default()
    };
    let codec = HttpCodec::new(&config, "", &model).unwrap();
    let order: serde_json::Value = serde_json::from_str(
        r#"{"lines": [{"sku": "a", "n": 2}, {"sku": "", "n": 9}], "notes": {"x": [], "y": [1, -2]}, "by": [[3, true]],
        "paid": {"split": {"parts": ["cash", {"card": {"digits": "12"}}]}}, "tags": ["p", "q"], "gift": null}"#,
    )
    .unwrap();
    let body = serde_json::json!({"data": [{"id": 4, "order": order}]}).to_string();
    let Ok(Label::Output(_, values)) = codec.decode(&model, &response(200, &body), None) else {
        panic!("it is an output")
    };
    let place = model.sts.gate_named("place").unwrap();
    let label = Label::Input(place, values[1..].to_vec());
    let made = request_of(codec.encode(&model, &label, &CapturedValues::default()));
    let sent: serde_json::Value = serde_json::from_str(&made.body.unwrap()).unwrap();
    assert_eq!(sent, serde_json::json!({ "order": order }));
    let wrong = body.replace("\"n\":9", "\"n\":\"9\"");
    assert!(codec.decode(&model, &response(200, &wrong), None).is_err());
}

#[test]
fn mistakes_are_named() {
    let model = model(KEYS);
    let problem = |change: &dyn Fn(&mut HttpConfig)| {
        let mut config = config();
        change(&mut config);
        HttpCodec::new(&config, "", &model).unwrap_err().to_string()
    };
    for (told, says) in [
        (problem(&|c| c.inputs[0].1.method = "put it".into()), "`put it` is not a method"),
        (problem(&|c| c.inputs[0].1.path = "keys".into()), "begins with `/`"),
        (problem(&|c| c.inputs[0].1.path = "/{x}".into()), "input `PUT` has no field `x`"),
        (problem(&|c| c.inputs[0].1.body = Some("{".into())), "a brace alone"),
        (problem(&|c| c.headers = pairs(&[("Host", "x")])), "set by ioxide"),
        (problem(&|c| c.headers = pairs(&[("a b", "x")])), "not a header name"),
        (problem(&|c| drop(c.inputs.remove(1))), "no request for `PAINT`"),
        (problem(&|c| drop(c.outputs.remove(2))), "there is no pattern for `OK`"),
        (problem(&|c| c.outputs[0].1.fields.clear()), "the place of the field `v` is not given"),
        (problem(&|c| c.outputs[0].1.fields[0].1 = "value".into()), "write `/value`"),
        (problem(&|c| c.outputs[0].1.status = vec!["6xx".into()]), "`6xx` is not a status"),
        (problem(&|c| c.outputs[2].1.body = Some("(".into())), "output `OK`"),
    ] {
        assert!(told.contains(says), "should say `{says}`: {told}");
    }
}

#[test]
fn addresses_are_read() {
    let url = |text: &str| text.parse::<Url>().map(|url| (url.address, url.base));
    assert_eq!(url("http://h:1"), Ok(("h:1".into(), String::new())));
    assert_eq!(url("http://h/a/"), Ok(("h:80".into(), "/a".into())));
    assert_eq!(url("http://[::1]:8080/a"), Ok(("[::1]:8080".into(), "/a".into())));
    assert_eq!(url("http://[::1]"), Ok(("[::1]:80".into(), String::new())));
    assert_eq!(url("https://h/a"), Ok(("h:443".into(), "/a".into())));
    assert!("https://h:1".parse::<Url>().is_ok_and(|url| url.is_encrypted));
    let socket: Url = "http://unix:/run/a.sock:/v1/".parse().unwrap();
    assert_eq!((socket.address.as_str(), socket.base.as_str()), ("localhost", "/v1"));
    assert_eq!(socket.socket.as_deref(), Some("/run/a.sock"));
    assert_eq!(socket.origin(), "http://unix:/run/a.sock:");
    assert_eq!(Url { base: String::new(), ..socket.clone() }, socket.origin().parse().unwrap());
    for wrong in ["http://unix:", "http://unix:/a:b", "http://unix:/a b", "http://unix:/a:/b?c"] {
        assert!(url(wrong).is_err(), "{wrong}");
    }
    for wrong in ["h:1", "http://", "http://h:x", "http://a@h", "http://h/ a", "ftp://h"] {
        assert!(url(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn names_of_secrets_are_known() {
    for name in ["Authorization", "Cookie", "X-Api-Key", "x-session", "CSRF-Token"] {
        assert!(is_secret(name), "{name}");
    }
    assert!(!is_secret("content-type"));
}

#[test]
fn a_wide_status_leaves_out_what_is_excepted() {
    let model = model("model M { input A output FOUND output REST state s { on A emit FOUND emit REST } }");
    let found = AnswerConfig { headers: pairs(&[("x", "1")]), ..answer("200") };
    let rest = AnswerConfig { except: vec!["200".into(), "5xx".into()], ..AnswerConfig::default() };
    let config = HttpConfig {
        inputs: vec![("A".into(), request("GET", "/", None))],
        outputs: vec![("FOUND".into(), found), ("REST".into(), rest)],
        ..HttpConfig::default()
    };
    let codec = HttpCodec::new(&config, "", &model).unwrap();
    let read = |status: u16| codec.decode(&model, &response(status, ""), Some("A"));
    assert!(read(201).is_ok() && read(404).is_ok());
    assert!(read(200).is_err() && read(503).is_err());
}

/// A service that numbers its items has no item `2.0`.
#[test]
fn whole_numbers_and_records_in_a_request() {
    let model = model(
        "model M { record Filter { limit: int } input A(n: real, f: Filter) output B state s { on A emit B } }",
    );
    let asked = RequestConfig { query: pairs(&[("filter", "{f}")]), ..request("GET", "/items/{n}", None) };
    let config = HttpConfig {
        inputs: vec![("A".into(), asked)],
        outputs: vec![("B".into(), AnswerConfig::default())],
        ..HttpConfig::default()
    };
    let codec = HttpCodec::new(&config, "", &model).unwrap();
    let gate = model.sts.gate_named("A").unwrap();
    let Sort::Data(data) = model.pool.var_info(model.sts.gates[gate].fields[1]).sort else {
        panic!("it is a record")
    };
    let filter = DataValue { data, ctor: 0, args: [Value::int(3)].into() };
    for (number, path) in [("2.0", "/items/2"), ("2.5", "/items/2.5"), ("-10.0", "/items/-10")] {
        let number = Value::Real(number.parse().unwrap());
        let label = Label::Input(gate, vec![number, Value::Data(filter.clone())]);
        let request = request_of(codec.encode(&model, &label, &CapturedValues::default()));
        assert_eq!(request.path, format!("{path}?filter=%7B%22limit%22%3A3%7D"));
    }
}

#[test]
fn a_status_is_named_once_however_many_outputs_have_it() {
    let model = model("model M { input A output X output Y output Z state s { on A emit X emit Y emit Z } }");
    let to_a = |status: &str| AnswerConfig { to: vec!["A".into()], ..answer(status) };
    let outputs = [("X", "200"), ("Y", "4xx"), ("Z", "200")];
    let config = HttpConfig {
        inputs: vec![("A".into(), request("GET", "/", None))],
        outputs: outputs.into_iter().map(|(name, status)| (name.to_owned(), to_a(status))).collect(),
        ..HttpConfig::default()
    };
    let codec = HttpCodec::new(&config, "", &model).unwrap();
    let told = codec.decode(&model, &response(503, ""), Some("A")).unwrap_err().to_string();
    assert_eq!(told, "this reply matches no output; to `A` the status is one of 200, 4xx");
}

const ORDERS: &str = "model Orders {
    record Item { id: int, note: string?, tags: list<string> }
    input PUT(key: string, item: Item, at: int)
    output GOT(item: Item, items: list<Item>, n: int, ok: bool)
    state s { on PUT emit GOT }
}";

fn orders(kind: &str, body: &str, fields: &[(&str, &str)], json: JsonFormConfig) -> HttpConfig {
    let put =
        RequestConfig { headers: pairs(&[("Content-Type", kind)]), ..request("PUT", "/{key}", Some(body)) };
    let got = AnswerConfig { fields: pairs(fields), ..answer("200") };
    HttpConfig {
        inputs: vec![("PUT".into(), put)],
        outputs: vec![("GOT".into(), got)],
        json,
        ..HttpConfig::default()
    }
}

fn put(model: &Model) -> Label {
    let Some(Sort::Data(item)) =
        model.sts.gates.iter().nth(1).map(|gate| model.pool.var_info(gate.fields[1]).sort)
    else {
        panic!("a record")
    };
    let fields = &model.pool.data(item).ctors[0].fields;
    let (Sort::Data(note), Sort::Collection(tags)) = (fields[1].sort, fields[2].sort) else {
        panic!("its fields")
    };
    let note = DataValue { data: note, ctor: 1, args: [Value::str("a<b")].into_iter().collect() };
    let tags = ioxide_model::collection::CollectionValue::list(tags, ["x", "y"].map(Value::str));
    let args = [Value::int(7), Value::Data(note), Value::Collection(tags)].into_iter().collect();
    let item = Value::Data(DataValue { data: item, ctor: 0, args });
    let gate = model.sts.gate_named("PUT").unwrap();
    Label::Input(gate, vec![Value::str("k/1"), item, Value::int(60)])
}

/// XML bodies have the same mapping as JSON; the types say what a text or one element is.
#[test]
fn bodies_may_be_xml() {
    let model = model(ORDERS);
    let fields = [("item", "/r/item"), ("items", "/r/all"), ("n", "/r/@n"), ("ok", "/r/ok")];
    let config = orders("application/xml", "<o>{item}<at>{at}</at></o>", &fields, JsonFormConfig::default());
    let codec = HttpCodec::new(&config, "", &model).unwrap();
    let made = request_of(codec.encode(&model, &put(&model), &CapturedValues::default()));
    let item = "<Item><id>7</id><note>a&lt;b</note><tags>x</tags><tags>y</tags></Item>";
    assert_eq!(made.body, Some(format!("<o>{item}<at>60</at></o>")));
    let answer = |body: &str| {
        let headers = pairs(&[("content-type", "text/xml; charset=utf-8")]);
        let response = HttpResponse { headers, ..response(200, body) };
        codec.decode(&model, &response, None).map(|label| label.show(&model.pool, &model.sts))
    };
    let told = answer(
        "<r n='3'><ok>true</ok><item><id>1</id><tags>a</tags></item>\
         <all><i><id>2</id><tags/></i><i><id>3</id><note>x</note></i></all></r>",
    );
    let one = "Item(id: 1, note: none, tags: [\"a\"])";
    let all = "[Item(id: 2, note: none, tags: []), Item(id: 3, note: some(\"x\"), tags: [])]";
    assert_eq!(told, Ok(format!("!GOT(item: {one}, items: {all}, n: 3, ok: true)")));
    let told = answer("<r n='3'><ok>0</ok><item><id>1</id></item></r>").unwrap();
    assert!(told.contains("items: [], n: 3, ok: false"), "{told}");
    for wrong in [
        "<r n='x'><ok>true</ok><item><id>1</id></item></r>",
        "<r n='3'><ok>true</ok><item><id>1</id><more/></item></r>",
        "<r n='3'><ok>true</ok></r>",
        "{}",
    ] {
        assert!(answer(wrong).is_err(), "{wrong}");
    }
}

/// As every gateway from gRPC to JSON writes them.
#[test]
fn numbers_may_be_texts_and_fields_encoded() {
    let model = model(ORDERS);
    let fields = [("item", "/item"), ("items", "/items"), ("n", "/n"), ("ok", "/ok")];
    let encodings = [("Item.note", "base64"), ("PUT.key", "hex"), ("PUT.at", "rfc3339"), ("GOT.ok", "text")];
    let json = JsonFormConfig {
        open: true,
        numbers_as_text: true,
        encodings: crate::codec::encoding::FieldEncodings::new(
            encodings.map(|(place, name)| (place.to_owned(), name.parse().unwrap())),
        ),
        ..JsonFormConfig::default()
    };
    let config = orders("application/json", "{{\"i\": {item}, \"at\": {at}}}", &fields, json);
    let codec = HttpCodec::new(&config, "", &model).unwrap();
    let made = request_of(codec.encode(&model, &put(&model), &CapturedValues::default()));
    assert_eq!(made.path, "/6b2f31");
    let body = r#"{"i": {"id":"7","note":"YTxi","tags":["x","y"]}, "at": "1970-01-01T00:01:00Z"}"#;
    assert_eq!(made.body.as_deref(), Some(body));
    let answer = |body: &str| {
        codec.decode(&model, &response(200, body), None).map(|label| label.show(&model.pool, &model.sts))
    };
    let told =
        answer(r#"{"item": {"id": "1", "note": "YQ==", "tags": []}, "items": [], "n": 12, "ok": "true"}"#);
    let one = "Item(id: 1, note: some(\"a\"), tags: [])";
    assert_eq!(told, Ok(format!("!GOT(item: {one}, items: [], n: 12, ok: true)")));
    for wrong in [
        r#"{"item": {"id": "1", "note": "YQ", "tags": 3}, "items": [], "n": "12", "ok": "true"}"#,
        r#"{"item": {"id": "1", "note": "a!", "tags": []}, "items": [], "n": "12", "ok": "true"}"#,
        r#"{"item": {"id": "one", "tags": []}, "items": [], "n": "12", "ok": "true"}"#,
        r#"{"item": {"id": "1", "tags": []}, "items": [], "n": "12", "ok": true}"#,
    ] {
        assert!(answer(wrong).is_err(), "{wrong}");
    }
}
