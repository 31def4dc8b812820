//! Models and histories for the tests.

use ioxide_history::read::{
    FieldPath, HistoryMapping, HistoryMessageKind, HistoryReadError, MessageMapping, OperationMapping,
    read_history,
};
use ioxide_history::{
    History, HistoryBuilder, HistoryConfig, HistoryJudgement, NotSequential, judge_history, prove_sequential,
};
use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::term::TermPool;
use ioxide_model::value::{DataValue, Value};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use serde_json::{Map, Value as Json};

pub use ioxide_test_support::repository as root;

pub fn model(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("test.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

pub fn example(name: &str) -> Model {
    model(&std::fs::read_to_string(root().join("examples/histories").join(name)).unwrap())
}

/// Judges `history` by `model`, which is sequential.
pub fn judge(model: &Model, history: &History, config: &HistoryConfig) -> HistoryJudgement {
    let mut model = model.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let sequential = prove_sequential(&mut cx).unwrap_or_else(|why| panic!("{}", why.describe(&cx)));
    judge_history(&mut cx, &sequential, history, config)
}

/// Returns the reason why a model is not sequential, as text.
pub fn refusal(text: &str) -> Option<String> {
    let mut model = model(text);
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let proved: Result<_, NotSequential> = prove_sequential(&mut cx);
    proved.err().map(|why| why.describe(&cx))
}

/// A message by name, its fields in order.
pub fn label(model: &Model, name: &str, values: &[i64]) -> Label {
    let gate = model.sts.gate_named(name).unwrap_or_else(|| panic!("a message {name}"));
    let fields = &model.sts.gates[gate].fields;
    let sorts = fields.iter().map(|field| model.pool.var_info(*field).sort);
    let values = sorts.zip(values).map(|(sort, &n)| value_of(&model.pool, sort, &Json::from(n)).unwrap());
    Label::message(&model.sts, gate, values.collect()).unwrap()
}

/// A history of lines `client call|return|open|void message values...`.
pub fn history(model: &Model, lines: &str) -> History {
    let mut builder = HistoryBuilder::default();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let values = || words[3..].iter().map(|word| word.parse().unwrap()).collect::<Vec<i64>>();
        let done = match words[1] {
            "call" => builder.call(words[0], label(model, words[2], &values()), None),
            "return" => builder.answer(words[0], label(model, words[2], &values()), None),
            "open" => builder.leave_open(words[0]),
            _ => builder.void(words[0]),
        };
        done.unwrap();
    }
    builder.finish()
}

/// The value of a sort that `json` writes, for the sorts that these tests need.
fn value_of(pool: &TermPool, sort: Sort, json: &Json) -> Result<Value, String> {
    match (sort, json) {
        (Sort::Int | Sort::Range { .. }, Json::Number(n)) => Ok(Value::int(n.as_i64().ok_or("no int")?)),
        (Sort::Str, Json::String(text)) => Ok(Value::str(text)),
        (Sort::Data(data), _) if pool.data(data).kind == DataKind::Option => {
            let inner = pool.data(data).ctors[1].fields[0].sort;
            let (ctor, args) = match json {
                Json::Null => (0, Vec::new()),
                json => (1, vec![value_of(pool, inner, json)?]),
            };
            Ok(Value::Data(DataValue { data, ctor, args: args.into() }))
        }
        _ => Err(format!("{json} is not a value of the field")),
    }
}

fn make_label(
    model: &Model,
    name: &str,
    args: &Map<String, Json>,
    direction: HistoryMessageKind,
) -> Result<Label, String> {
    let gate = model.sts.gate_named(name).ok_or_else(|| format!("no message `{name}`"))?;
    let is_input = model.sts.gates[gate].kind.is_input();
    if is_input != (direction == HistoryMessageKind::Input) {
        return Err(format!("`{name}` has the other direction"));
    }
    let value = |field: &ioxide_model::term::VarId| {
        let info = model.pool.var_info(*field);
        let json = args.get(&*info.name).ok_or_else(|| format!("no field `{}`", info.name))?;
        value_of(&model.pool, info.sort, json)
    };
    let values = model.sts.gates[gate].fields.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    Label::message(&model.sts, gate, values).ok_or_else(|| "internal".to_owned())
}

fn message(label: &str, args: &[(&str, &str)]) -> MessageMapping {
    let path = |text: &str| text.parse::<FieldPath>().unwrap();
    let args = args.iter().map(|(field, text)| (field.to_string(), path(text))).collect();
    MessageMapping { label: label.to_owned(), args }
}

/// The mapping of `examples/histories/ioxide.toml`.
pub fn mapping() -> HistoryMapping {
    let operation = |call, ok, fail| OperationMapping { call, ok, fail };
    let entry = [("key", "key"), ("value", "value")];
    let operations = [
        ("read", operation(message("read", &[]), message("value", &[("v", "value")]), None)),
        ("write", operation(message("write", &[("v", "value")]), message("written", &[]), None)),
        (
            "cas",
            operation(
                message("cas", &[("from", "value.0"), ("to", "value.1")]),
                message("swapped", &[]),
                Some(message("refused", &[])),
            ),
        ),
        ("get", operation(message("get", &[("key", "key")]), message("value", &[("value", "value")]), None)),
        ("put", operation(message("put", &entry), message("stored", &[]), None)),
        ("append", operation(message("append", &entry), message("stored", &[]), None)),
    ];
    HistoryMapping { operations: operations.map(|(name, it)| (name.to_owned(), it)).into_iter().collect() }
}

pub fn read(model: &Model, text: &str) -> Result<History, HistoryReadError> {
    read_history(text, &mapping(), &|name, args, direction| make_label(model, name, args, direction))
}

pub const REGISTER: &str = "model R { input read input write(v: 0..3) input cas(from: 0..3, to: 0..3)
    output value(v: 0..3) output written output swapped output refused var held: 0..3 = 0
    state idle { on read -> reading on write { held = v } -> writing
        on cas when held == from { held = to } -> swapping on cas when held != from -> refusing }
    state reading { emit value(v: held) -> idle } state writing { emit written -> idle }
    state swapping { emit swapped -> idle } state refusing { emit refused -> idle } }";

/// Puts and takes in any order; a put may be lost without a trace.
/// Two keys whose writes overwrite, and may write one of two values: a write that is cut off writes 0.
pub const STORE: &str = "model S { input put(key: 0..1, v: 0..3) input drop(key: 0..1) input get(key: 0..1)
    output stored output dropped output value(v: 0..3)
    var entries: map<0..1, 0..3> = {} var wanted: 0..1 = 0
    state idle {
        on put { entries[key] = v } -> storing on put { entries[key] = 0 } -> storing
        on drop { entries = entries.without(key) } -> dropping
        on get { wanted = key } -> telling
    }
    state storing { emit stored -> idle } state dropping { emit dropped -> idle }
    state telling { emit value(v: if entries.has(wanted) then entries[wanted] else 0) -> idle } }";

pub const BAG: &str = "model B { input put(x: 0..2) input take output ok output got(x: 0..2) output empty
    var s: set<0..2> = {}
    state idle { on put { s = s + {x} } -> putting on put -> putting on take -> taking }
    state putting { emit ok -> idle }
    state taking { emit got when s.has(x) { s = s.without(x) } -> idle emit empty when s.is_empty() -> idle } }";
