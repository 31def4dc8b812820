//! Tests of [`ioxide_testgen::tester::replay`].

use ioxide_lang::{LoadOptions, load};
use ioxide_model::collection::CollectionValue;
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_testgen::tester::replay::{
    PlannedMove, ReplyFlow, ReplyOrder, bind_references, is_same_by_meaning, plan_by_meaning,
};

/// A shop whose ids, tokens and locations the system chooses.
const SHOP: &str = r#"
model Shop {
    input create(name: string, n: int)
    input get(id: string)
    input take(number: int)
    input open(path: string)
    output created(id: string)
    output placed(number: int)
    output moved(location: string)
    output found(id: string, n: int)
    output listed(ids: list<string>)
    var ids: set<string> = {}
    var numbers: set<int> = {}
    state idle {
        on create -> idle
        on get when ids.has(id) -> idle
        on take when numbers.has(number) -> idle
        on open -> idle
        emit created { ids = ids.with(id) } -> idle
        emit placed { numbers = numbers.with(number) } -> idle
        emit moved -> idle
        emit found -> idle
        emit listed -> idle
    }
}"#;

fn model(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

fn label(spec: &Model, gate: &str, values: &[Value]) -> Label {
    let gate = spec.sts.gate_named(gate).expect("a gate");
    Label::message(&spec.sts, gate, values.to_vec()).expect("a message")
}

fn trace(spec: &Model, labels: &[(&str, &[Value])]) -> Trace {
    labels.iter().map(|(gate, values)| label(spec, gate, values)).collect()
}

fn s(text: &str) -> Value {
    Value::str(text)
}

/// The references of all inputs of a trace, as text.
fn shown(spec: &Model, trace: &Trace) -> Vec<String> {
    let flow = ReplyFlow::new(&spec.pool, &spec.sts);
    let plan = plan_by_meaning(&flow, &spec.sts, trace);
    let inputs = plan.iter().filter_map(|planned| match planned {
        PlannedMove::Send(input) | PlannedMove::SendAfter(_, input) => Some(input),
        PlannedMove::Observe | PlannedMove::ObserveFor(_) => None,
    });
    inputs
        .flat_map(|input| input.references.iter().map(|reference| reference.show(&spec.pool, &spec.sts)))
        .collect()
}

/// The last input of `recorded`, after the other labels of `again` have been seen.
fn bound(spec: &Model, recorded: &Trace, again: &Trace) -> Option<Label> {
    let flow = ReplyFlow::new(&spec.pool, &spec.sts);
    let plan = plan_by_meaning(&flow, &spec.sts, recorded);
    let last = plan.iter().rev().find_map(|planned| match planned {
        PlannedMove::Send(input) => Some(input),
        _ => None,
    })?;
    let inputs = again.labels.iter().enumerate().filter(|(_, label)| matches!(label, Label::Input(..)));
    let given = inputs.enumerate().map(|(number, (at, _))| (number, at)).collect();
    bind_references(
        &spec.pool,
        &spec.sts,
        &last.label,
        &last.references,
        &given,
        again,
        ReplyOrder::AsRecorded,
    )
}

const UUID: &str = "0b8e3c5e-7a1c-4a53-9d0e-2f5f0d2f8a11";
const OTHER: &str = "d9428888-122b-11e1-b85c-61cd3cbb3210";

#[test]
fn an_id_that_the_system_made_up_is_taken_from_the_reply() {
    let spec = model(SHOP);
    let create = [s("a"), Value::int(1)];
    let recorded = trace(&spec, &[("create", &create), ("created", &[s(UUID)]), ("get", &[s(UUID)])]);
    assert_eq!(shown(&spec, &recorded), ["id of !created at step 2"]);
    let again = trace(&spec, &[("create", &create), ("created", &[s(OTHER)])]);
    assert_eq!(bound(&spec, &recorded, &again), Some(label(&spec, "get", &[s(OTHER)])));
    let silent = trace(&spec, &[("create", &create)]);
    assert_eq!(bound(&spec, &recorded, &silent), None);
}

#[test]
fn a_small_number_is_a_reference_only_if_the_model_compares_it() {
    let spec = model(SHOP);
    let placed = |n: i64| ("placed", [Value::int(n)]);
    let (gate, three) = placed(3);
    // `take.number` is looked up among the numbers that `placed` gave; `create.n` is compared with nothing.
    let recorded = trace(&spec, &[(gate, &three), ("create", &[s("a"), Value::int(3)]), ("take", &three)]);
    assert_eq!(shown(&spec, &recorded), ["number of !placed at step 1"]);
    let again = trace(&spec, &[(gate, &[Value::int(17)]), ("create", &[s("a"), Value::int(3)])]);
    assert_eq!(bound(&spec, &recorded, &again), Some(label(&spec, "take", &[Value::int(17)])));
}

#[test]
fn the_neighbour_of_a_number_goes_along_with_it() {
    let spec = model(SHOP);
    let recorded = trace(&spec, &[("placed", &[Value::int(90_001)]), ("take", &[Value::int(90_002)])]);
    assert_eq!(shown(&spec, &recorded), ["number + 1 of !placed at step 1"]);
    let again = trace(&spec, &[("placed", &[Value::int(123_456)])]);
    assert_eq!(bound(&spec, &recorded, &again), Some(label(&spec, "take", &[Value::int(123_457)])));
}

#[test]
fn a_part_of_a_text_is_found_both_ways() {
    let spec = model(SHOP);
    let location = |id: &str| s(&format!("http://host:80/orders/{id}"));
    let recorded = trace(&spec, &[("moved", &[location(UUID)]), ("get", &[s(UUID)])]);
    assert_eq!(shown(&spec, &recorded), ["location, word 5 of !moved at step 1"]);
    let again = trace(&spec, &[("moved", &[location(OTHER)])]);
    assert_eq!(bound(&spec, &recorded, &again), Some(label(&spec, "get", &[s(OTHER)])));

    let path = |id: &str| s(&format!("/orders/{id}/items?sort=1"));
    let recorded = trace(&spec, &[("created", &[s(UUID)]), ("open", &[path(UUID)])]);
    assert_eq!(shown(&spec, &recorded), ["id of !created at step 1"]);
    let again = trace(&spec, &[("created", &[s(OTHER)])]);
    assert_eq!(bound(&spec, &recorded, &again), Some(label(&spec, "open", &[path(OTHER)])));
}

#[test]
fn what_the_tester_chose_first_is_no_reference() {
    let spec = model(SHOP);
    let recorded = trace(
        &spec,
        &[("open", &[s("/a/long/path")]), ("moved", &[s("/a/long/path")]), ("open", &[s("/a/long/path")])],
    );
    assert_eq!(shown(&spec, &recorded), [""; 0]);
}

#[test]
fn the_reply_of_the_data_flow_is_preferred_to_a_later_one() {
    let spec = model(SHOP);
    let found = [s(UUID), Value::int(0)];
    let recorded = trace(&spec, &[("created", &[s(UUID)]), ("found", &found), ("get", &[s(UUID)])]);
    assert_eq!(shown(&spec, &recorded), ["id of !created at step 1"]);
}

/// Defect: of a service that is not reset, the next run has more items, so the same item of a list was another one.
#[test]
fn a_record_is_preferred_to_an_item_of_a_later_list() {
    let spec = model(SHOP);
    let listed = spec.sts.gate_named("listed").expect("a gate");
    let Sort::Collection(sort) = spec.pool.var_info(spec.sts.gates[listed].fields[0]).sort else {
        panic!("no list");
    };
    let list = Value::Collection(CollectionValue::list(sort, [s(OTHER), s(UUID)]));
    let listed = ("listed", std::slice::from_ref(&list));
    let recorded = trace(&spec, &[("created", &[s(UUID)]), listed, ("open", &[s(UUID)])]);
    assert_eq!(shown(&spec, &recorded), ["id of !created at step 1"]);
    let only_listed = trace(&spec, &[listed, ("open", &[s(UUID)])]);
    assert_eq!(shown(&spec, &only_listed).len(), 1);
}

#[test]
fn runs_with_other_names_are_the_same_and_runs_with_other_answers_are_not() {
    let spec = model(SHOP);
    let flow = ReplyFlow::new(&spec.pool, &spec.sts);
    let run = |id: &str, again: &str, n: i64| {
        trace(&spec, &[("created", &[s(id)]), ("get", &[s(id)]), ("found", &[s(again), Value::int(n)])])
    };
    let first = run(UUID, UUID, 1);
    assert!(is_same_by_meaning(&flow, &spec.sts, &first, &run(OTHER, OTHER, 1)));
    assert!(!is_same_by_meaning(&flow, &spec.sts, &first, &run(OTHER, OTHER, 2)), "another answer");
    assert!(!is_same_by_meaning(&flow, &spec.sts, &first, &run(OTHER, UUID, 1)), "another id");
}

/// Numbers that the system chose are kept in a set; one that says which of them to forget is none of them.
const QUEUE: &str = "
model Queue {
    input put
    input forget(bound: int)
    input look
    output placed(number: int)
    var numbers: set<int> = {}
    var last: int = 0
    state idle {
        on put -> idle
        on forget { numbers = {number for number in numbers if number > bound} } -> idle
        on look when numbers.has(last) -> idle
        emit placed { numbers = numbers.with(number), last = number } -> idle
    }
}";

#[test]
fn a_bound_of_a_selection_is_no_reference_to_what_is_selected() {
    let spec = model(QUEUE);
    let run = trace(&spec, &[("put", &[]), ("placed", &[Value::int(2)]), ("forget", &[Value::int(2)])]);
    assert_eq!(shown(&spec, &run), Vec::<String>::new());
}

#[test]
fn the_time_between_messages_is_not_compared() {
    let spec = model(SHOP);
    let flow = ReplyFlow::new(&spec.pool, &spec.sts);
    let create = label(&spec, "create", &[s("a"), Value::int(1)]);
    let created = |id: &str| label(&spec, "created", &[s(id)]);
    let delay = |n: i64| Label::Delay(Rational::from(n));
    let waiting =
        Trace { forbidden_at: Some(2), ..[delay(1), create.clone(), created(UUID)].into_iter().collect() };
    let other = Trace {
        forbidden_at: Some(3),
        ..[delay(2), create.clone(), delay(1), created(OTHER)].into_iter().collect()
    };
    assert!(is_same_by_meaning(&flow, &spec.sts, &waiting, &other));
    let early = Trace { forbidden_at: Some(0), ..[create, created(OTHER)].into_iter().collect() };
    assert!(!is_same_by_meaning(&flow, &spec.sts, &waiting, &early), "another label is forbidden");
}
