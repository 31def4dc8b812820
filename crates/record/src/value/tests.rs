use ioxide_model::sort::{DataKind, DataSort};
use proptest::prelude::*;

use super::*;

#[test]
fn values_have_a_plain_form() {
    let mut world = World::new();
    let third = Rational::new(Int::from(1), Int::from(3)).unwrap();
    let maybe = world.pool.option_of(Sort::Int);
    let nested = world.pool.option_of(Sort::Data(maybe));
    let some = |data, value| data_value(data, 1, vec![value]);
    world.check(
        Sort::Int,
        Value::Int("123456789012345678901234567890".parse().unwrap()),
        "123456789012345678901234567890",
    );
    world.check(Sort::Real, Value::Real(third), "\"1/3\"");
    world.check(Sort::Real, Value::Real("-0.125".parse().unwrap()), "-0.125");
    world.check(Sort::Str, Value::str("a\"b"), r#""a\"b""#);
    world.check(Sort::Data(world.colour), data_value(world.colour, 1, vec![]), "\"Green\"");
    world.check(Sort::Data(world.point), world.point(1, false), r#"{"ok":false,"x":1}"#);
    world.check(Sort::Data(maybe), data_value(maybe, 0, vec![]), "null");
    world.check(Sort::Data(maybe), some(maybe, Value::int(3)), "3");
    world.check(Sort::Data(nested), some(nested, data_value(maybe, 0, vec![])), r#"{"some":null}"#);
    world.check(Sort::Data(nested), some(nested, some(maybe, Value::int(3))), r#"{"some":3}"#);
}

#[test]
fn errors_name_the_place() {
    let world = World::new();
    world.error(Sort::Int, "\"3\"", "expected int, found \"3\"");
    world.error(Sort::Int, "1.5", "expected int, found 1.5");
    world.error(Sort::Data(world.colour), "\"Blue\"", "no value is called `Blue`; there are `Red`, `Green`");
    world.error(Sort::Data(world.point), r#"{"x":1}"#, "field `ok` is missing");
    world.error(Sort::Data(world.point), r#"{"x":1,"ok":true,"y":2}"#, "there is no field `y`");
    world.error(Sort::Data(world.point), r#"{"x":true,"ok":true}"#, "`x`: expected int, found true");
}

#[test]
fn integers_may_be_written_as_decimals_and_ranges_are_not_checked() {
    let world = World::new();
    let read = |sort, text: &str| value_from_json(&world.pool, sort, &serde_json::from_str(text).unwrap());
    assert_eq!(read(Sort::Int, "3.0"), Ok(Value::int(3)));
    assert_eq!(read(Sort::Int, "2e3"), Ok(Value::int(2000)));
    assert_eq!(read(Sort::Range { lo: 0, hi: 2 }, "7"), Ok(Value::int(7)));
}

/// Numbers that are too long for us are no mistake of who sent them.
#[test]
fn long_numbers_are_more_than_is_read() {
    let world = World::new();
    let read = |sort, text: &str| value_from_json(&world.pool, sort, &serde_json::from_str(text).unwrap());
    let long = "9".repeat(max_digits() + 1);
    for sort in [Sort::Int, Sort::Real, Sort::Range { lo: 0, hi: 2 }] {
        for text in [&long, "1e99999", "1e-99999", "1e99999999999999", &format!("0.{long}")] {
            let problem = read(sort, text).unwrap_err().problem;
            assert_eq!(problem, JsonProblem::Excess(Excess::digits()), "{}", &text[..text.len().min(20)]);
        }
    }
    assert_eq!(
        read(Sort::Real, &format!("\"1/{long}\"")).unwrap_err().problem,
        JsonProblem::Excess(Excess::digits())
    );
    assert!(matches!(read(Sort::Real, "\"x\"").unwrap_err().problem, JsonProblem::Shape { .. }));
    assert!(read(Sort::Int, &long[1..]).is_ok());
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(n in any::<i64>(), d in 1i64..1000, x in any::<i64>(), text in ".*") {
        let world = World::new();
        let real = Value::Real(Rational::new(Int::from(n), Int::from(d)).unwrap());
        let point = (Sort::Data(world.point), world.point(x, true));
        for (sort, value) in [(Sort::Real, real), (Sort::Str, Value::str(&text)), point] {
            let line = value_to_json(&world.pool, &value).to_string();
            let json = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(value_from_json(&world.pool, sort, &json), Ok(value));
        }
    }
}

struct World {
    pool: TermPool,
    colour: DataId,
    point: DataId,
}

impl World {
    fn new() -> Self {
        let mut pool = TermPool::new();
        let plain = |name: &str| Constructor { name: name.into(), fields: vec![] };
        let field = |name: &str, sort| DataField { name: name.into(), sort };
        let data = |name: &str, kind, ctors| DataSort { name: name.into(), kind, ctors };
        let colour = pool.declare_data(data("Colour", DataKind::Enum, vec![plain("Red"), plain("Green")]));
        let ctor = Constructor {
            name: "Point".into(),
            fields: vec![field("x", Sort::Int), field("ok", Sort::Bool)],
        };
        let point = pool.declare_data(data("Point", DataKind::Record, vec![ctor]));
        Self { pool, colour, point }
    }

    fn point(&self, x: i64, ok: bool) -> Value {
        data_value(self.point, 0, vec![Value::int(x), Value::Bool(ok)])
    }

    #[track_caller]
    fn check(&self, sort: Sort, value: Value, text: &str) {
        let json = value_to_json(&self.pool, &value);
        assert_eq!(json.to_string(), text);
        assert_eq!(value_from_json(&self.pool, sort, &json), Ok(value));
    }

    #[track_caller]
    fn error(&self, sort: Sort, text: &str, message: &str) {
        let json = serde_json::from_str(text).unwrap();
        assert_eq!(value_from_json(&self.pool, sort, &json).unwrap_err().to_string(), message);
    }
}

fn data_value(data: DataId, ctor: u32, args: Vec<Value>) -> Value {
    Value::Data(DataValue { data, ctor, args: args.into() })
}

/// Collections that would fill the memory, or say two things at once, are refused.
#[test]
fn hostile_collections_are_refused_with_a_reason() {
    let mut pool = TermPool::new();
    let (list, set) = (pool.list_of(Sort::Int), pool.set_of(Sort::Int));
    let (by_name, by_number) = (pool.map_of(Sort::Str, Sort::Int), pool.map_of(Sort::Int, Sort::Int));
    let read = |sort, json: Json| {
        value_from_json(&pool, Sort::Collection(sort), &json).map_err(|error| error.to_string())
    };
    let long = Json::Array(vec![Json::from(1); 1_000_000]);
    let told = read(list, long).expect_err("it is too long");
    assert!(told.contains("1000000 items") && told.contains("IOXIDE_MAX_ITEMS"), "{told}");
    assert_eq!(read(set, serde_json::json!([1, 2, 1])), Err("an item of a set is there twice".into()));
    assert_eq!(
        read(by_number, serde_json::json!([[1, 2], [1, 3]])),
        Err("a key of a map is there twice".into())
    );
    assert!(read(by_name, serde_json::json!([["a", 1], ["b"]])).is_err());
    assert!(read(list, serde_json::json!({"0": 1})).is_err());
    let told = read(list, serde_json::json!([1, "x"])).expect_err("an item is not a number");
    assert!(told.starts_with("`1`: "), "{told}");
    let nested = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert!(crate::json::read::<Json>(&nested).is_err());
}
