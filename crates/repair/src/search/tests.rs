//! Replays that are cut short against whole ones, on random runs of examples and all edits that are tried for them; and
//! which edits are tried.

use ioxide_lang::{LoadOptions, load};
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::sts::{GateId, GateKind};
use ioxide_model::value::Value;
use ioxide_record::event::{ConnectionRecord, RouteRecord};
use ioxide_run::judge::Inputs;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Monitor};

use super::*;
use crate::LoadedModel;
use crate::batch::{BatchedCandidate, CandidateBatch};
use crate::evaluate::judge_run;
use crate::runs::ReplayableRun;

const MODELS: [&str; 6] = [
    include_str!("../../../../examples/adder.iox"),
    include_str!("../../../../examples/brp/spec.iox"),
    include_str!("../../../../examples/fsm/meter.iox"),
    include_str!("../../../../examples/learn/login.iox"),
    include_str!("../../../../examples/faults/lock-not-reset/model.iox"),
    include_str!("../../../../examples/faults/one-above-capacity/model.iox"),
];
/// The number of runs of each model, and the number of edits of which one is tried.
const N_RUNS: usize = 10;
const STRIDE: usize = 7;

/// A small generator of numbers: the same ones every time.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % n
    }
}

fn compile(sources: &Sources) -> Option<Model> {
    compile_with(sources, &[]).map(|(model, _)| model)
}

/// Returns the model of a text that may have errors at some places.
fn compile_with(sources: &Sources, tentative: &[Span]) -> Option<LoadedModel> {
    let file = sources.ids().next()?;
    let options =
        LoadOptions { without_lints: true, tentative: tentative.to_vec(), ..LoadOptions::default() };
    let loaded = load(sources, file, &options);
    loaded.model.map(|model| (model, loaded.wrong_places))
}

/// Returns a run that the model mostly allows, as lines; the last label may be any.
fn random_run(model: &mut Model, solver: &mut dyn Solver, rng: &mut Lcg) -> Option<ReplayableRun> {
    let mut cx = Ctx::new(model, solver);
    let mut monitor = Monitor::new(&mut cx);
    let mut lines: Vec<String> = Vec::new();
    for _ in 0..12 {
        let found = (0..40).find_map(|_| {
            let label = random_label(&cx, rng)?;
            (monitor.accepts(&mut cx, &label) || rng.below(60) == 0).then_some(label)
        });
        let Some(label) = found else { break };
        lines.push(line(&cx, &label));
        if monitor.observe(&mut cx, &label).is_err() {
            break;
        }
    }
    (!lines.is_empty()).then(|| ReplayableRun::from_lines("a run", lines.join("\n")))
}

fn random_label(cx: &Ctx<'_>, rng: &mut Lcg) -> Option<Label> {
    let gates: Vec<_> =
        cx.sts.gates.ids().filter(|&gate| cx.sts.gates[gate].kind != GateKind::Internal).collect();
    let at = rng.below(gates.len() + 1);
    let Some(&gate) = gates.get(at) else { return Some(Label::Quiescence) };
    let small = [0, 1, 2, 3, 5, 9, 11, 4711];
    let values: Option<Vec<Value>> = cx.sts.gates[gate]
        .fields
        .iter()
        .map(|&field| match cx.pool.var_info(field).sort {
            Sort::Int | Sort::Range { .. } => Some(Value::Int(small[rng.below(small.len())].into())),
            Sort::Bool => Some(Value::Bool(rng.below(2) == 0)),
            _ => None,
        })
        .collect();
    let values = values?;
    let fits = cx.sts.gates[gate].fields.iter().zip(&values);
    if !fits.clone().all(|(&field, value)| cx.pool.has_sort(value, cx.pool.var_info(field).sort)) {
        return None;
    }
    Some(match cx.sts.gates[gate].kind {
        GateKind::Output => Label::Output(gate, values),
        _ => Label::Input(gate, values),
    })
}

fn line(cx: &Ctx<'_>, label: &Label) -> String {
    let (Label::Input(gate, values) | Label::Output(gate, values)) = label else {
        return "{\"silence\": true}".to_owned();
    };
    let gate = &cx.sts.gates[*gate];
    let fields = gate.fields.iter().zip(values);
    let fields: Vec<String> = fields
        .map(|(&field, value)| format!("\"{}\": {}", cx.pool.var_info(field).name, cx.pool.show_value(value)))
        .collect();
    format!("{{\"label\": \"{}\", \"args\": {{{}}}}}", gate.name, fields.join(", "))
}

/// Returns a run as one of a system that does not confirm its inputs, or that has two connections as well.
fn with_orders<'r>(run: DecodedRun<'r>, model: &Model, number: usize) -> DecodedRun<'r> {
    let connection_of = |gate: GateId| u32::from(gate.index() % 2 == 1);
    let way = |gate: GateId, is_output: bool| {
        let lane = connection_of(gate);
        RouteRecord { lane, connection: is_output.then_some(lane), ..RouteRecord::default() }
    };
    let messages_of = |connection: u32| -> Vec<String> {
        let gates = model.sts.gates.iter_enumerated();
        let own = gates.filter(|(gate, _)| connection_of(*gate) == connection);
        own.map(|(_, gate)| gate.name.to_string()).collect()
    };
    let connections = (0..2).map(|connection| ConnectionRecord {
        name: format!("c{connection}"),
        messages: messages_of(connection),
        index: None,
    });
    let ways = run.labels().iter().map(|label| match label {
        Label::Input(gate, _) => Some(way(*gate, false)),
        Label::Output(gate, _) => Some(way(*gate, true)),
        Label::Quiescence | Label::Delay(_) => None,
    });
    let ways: Vec<Option<RouteRecord>> = ways.collect();
    run.with_config(|config| {
        if !number.is_multiple_of(3) {
            config.inputs = Inputs::Sent;
        }
        if number % 3 > 1 {
            config.connections = connections.collect();
            config.ways = ways;
        }
    })
}

/// The places of a run that candidates are judged by.
fn outcome(judged: &RunJudgement) -> (Option<usize>, bool, Option<usize>) {
    (judged.forbidden_at, judged.is_unknown, judged.unspecified_at)
}

#[test]
fn short_replays_give_the_answers_of_whole_ones() {
    let mut solver = build_stack(&SolverConfig::default());
    let (mut n_compared, mut n_short, mut n_short_in_orders) = (0, 0, 0);
    let (mut n_labels, mut n_replayed, mut n_open) = (0, 0, 0);
    for (number, text) in MODELS.iter().enumerate() {
        let mut rng = Lcg(number as u64 + 1);
        let mut sources = Sources::new();
        sources.add("model.iox", *text);
        let mut model = compile(&sources).expect("the example is a model");
        let recorded: Vec<ReplayableRun> =
            (0..N_RUNS).filter_map(|_| random_run(&mut model, &mut solver, &mut rng)).collect();
        let known = Rc::new(model.clone());
        let decoded = recorded.iter().map(|run| DecodedRun::new(run, &known).expect("the run fits"));
        let runs: Vec<DecodedRun<'_>> =
            decoded.enumerate().map(|(at, run)| with_orders(run, &known, at)).collect();
        let node = EditSearchNode { sources: sources.clone(), ..EditSearchNode::default() };
        let (base, _) =
            SearchBase::new(node, &mut model, &mut solver, &runs, &Halt::default()).expect("the runs fit");
        let found = runs
            .iter()
            .filter_map(|run| failure_of(&mut model, &mut solver, run, &Halt::default()).expect("it fits"));
        let failures: Vec<FailurePoint> = found.take(2).collect();
        for candidate in candidates_of(&base, &failures).into_iter().step_by(STRIDE) {
            let edited = edited_sources(&sources, &candidate.edits);
            let Some(mut edited) = compile(&edited) else { continue };
            let changes = base.replays.changes(&mut edited, &candidate.edits);
            n_compared += 1;
            for (at, run) in runs.iter().enumerate() {
                let whole = judge_run(&mut edited, &mut solver, run, &Halt::default()).expect("it fits");
                let to_the_end = run.clone().with_config(|config| config.ends_when_open = false);
                let to_the_end =
                    judge_run(&mut edited, &mut solver, &to_the_end, &Halt::default()).expect("it fits");
                // What is open stays so: it only becomes less clear what happened.
                assert_eq!(whole.forbidden_at, to_the_end.forbidden_at, "{}", candidate.reason);
                n_open += usize::from(whole.replayed < to_the_end.replayed);
                let short = base.replays.judge_edited(
                    &mut edited,
                    &mut solver,
                    (at, run),
                    changes.as_deref(),
                    &Halt::default(),
                );
                let short = short.expect("it fits");
                assert_eq!(
                    outcome(&short),
                    outcome(&whole),
                    "{}: {} {}",
                    number,
                    candidate.reason,
                    run.run.name
                );
                n_short += usize::from(short.replayed < whole.replayed);
                n_short_in_orders += usize::from(!run.is_plain() && short.replayed < whole.replayed);
                if run.is_plain() {
                    n_labels += whole.replayed;
                    n_replayed += short.replayed;
                }
            }
        }
    }
    assert!(n_open > 100, "{n_open} judgements ended where everything is allowed");
    assert!(n_short_in_orders > 300, "{n_short_in_orders} shorter replays of runs with several orders");
    assert!(n_compared > 300 && n_short > 1_000, "{n_compared} edits, {n_short} replays that were shorter");
    assert!(n_replayed * 2 < n_labels, "{n_replayed} of {n_labels} labels were replayed");
}

/// Models with functions that call others, themselves, or are called like a field; with constants, patterns and labels;
/// and the inputs of a run after which each of them has to answer.
const BATCHED: [(&str, &str); 5] = [
    (include_str!("../../../../examples/redis/redis.iox"), r#"{"label": "INCR", "args": {"key": "k2"}}"#),
    (
        include_str!("../../../../examples/memcached/memcached.iox"),
        r#"{"label": "DELETE", "args": {"key": "k1"}}"#,
    ),
    (
        include_str!("../../../../examples/mqtt/mqtt.iox"),
        r#"{"label": "SUB_CONNECT", "args": {"clean": false}}"#,
    ),
    (include_str!("../../../../examples/nats/nats.iox"), r#"{"label": "JOIN_1"}"#),
    (
        include_str!("../../../../examples/beanstalkd/beanstalkd.iox"),
        r#"{"label": "PUT", "args": {"priority": 1, "body": "b"}}"#,
    ),
];

#[test]
fn a_model_of_a_batch_is_the_one_that_is_compiled_alone() {
    let mut solver = build_stack(&SolverConfig::default());
    let (mut n_alike, mut n_wrong, mut n_elsewhere, mut n_reordered) = (0, 0, 0, 0);
    for (text, input) in BATCHED {
        let mut sources = Sources::new();
        sources.add("model.iox", text);
        let mut model = compile(&sources).expect("the example is a model");
        let recorded = ReplayableRun::from_lines("a run", format!("{input}\n{{\"silence\": true}}"));
        let known = Rc::new(model.clone());
        let runs = [DecodedRun::new(&recorded, &known).expect("the run fits")];
        let failure = failure_of(&mut model, &mut solver, &runs[0], &Halt::default()).expect("it fits");
        let failure = failure.expect("there is an answer");
        let node = EditSearchNode { sources: sources.clone(), ..EditSearchNode::default() };
        let (base, _) =
            SearchBase::new(node, &mut model, &mut solver, &runs, &Halt::default()).expect("the run fits");
        let all: Vec<EditCandidate> = candidates_of(&base, &[failure]).into_iter().step_by(STRIDE).collect();
        let layout = base.layout.as_ref().expect("it is one model");
        for some in all.chunks(BATCH_SIZE) {
            let batch_of = |of_definitions: bool| {
                let edits = some.iter().map(|it| &it.edits[..]);
                let is_meant = |edits: &&[_]| layout.is_of_definition(edits) == of_definitions;
                let edits: Vec<_> = edits.map(|edits| Some(edits).filter(is_meant)).collect();
                let n_switches = base.replays.n_switches();
                CandidateBatch::new(&sources, layout, &edits, n_switches, &compile_with)
                    .expect("the base has no errors")
            };
            let mut batches = [false, true].map(batch_of);
            for (at, candidate) in some.iter().enumerate() {
                let alone = compile(&edited_sources(&sources, &candidate.edits));
                let is_of_definition = layout.is_of_definition(&candidate.edits);
                match batches[usize::from(is_of_definition)].candidate(at) {
                    BatchedCandidate::Elsewhere => n_elsewhere += 1,
                    BatchedCandidate::Wrong => {
                        assert!(alone.is_none(), "{}", candidate.reason);
                        n_wrong += 1;
                    }
                    BatchedCandidate::Model(of_batch, changes) => {
                        let mut alone = alone.unwrap_or_else(|| panic!("wrong alone: {}", candidate.reason));
                        let (of_batch, of_alone) = (shown(of_batch), shown(&mut alone));
                        // The order of conditions depends on the terms that were made before.
                        n_reordered += usize::from(of_batch != of_alone);
                        assert_eq!(words(&of_batch), words(&of_alone), "{}", candidate.reason);
                        let known = base.replays.changes(&mut alone, &candidate.edits).unwrap_or_default();
                        assert!(changes.is_some() || is_of_definition, "{}", candidate.reason);
                        let is_missing = |place: &&ChangedPlace| {
                            changes.as_ref().is_some_and(|changes| !changes.contains(place))
                        };
                        assert_eq!(known.iter().find(is_missing), None, "{}", candidate.reason);
                        n_alike += 1;
                    }
                }
            }
        }
    }
    assert!(n_alike > 500 && n_wrong > 20, "{n_alike} are alike, {n_wrong} wrong, {n_elsewhere} in no batch");
    assert!(n_alike - n_reordered > 200, "{n_reordered} of {n_alike} have their conditions in another order");
    assert!(n_elsewhere < n_alike / 5, "{n_elsewhere} of {n_alike} have to be compiled alone");
}

/// Returns the switches of a model as texts, in one order, without labels and the marks of copied functions.
fn shown(model: &mut Model) -> Vec<String> {
    let without_label = |text: &str| match text.splitn(3, ": ").collect::<Vec<_>>()[..] {
        [state, _, rest] => format!("{state}: {rest}"),
        _ => text.to_owned(),
    };
    let meaning = ModelMeaning::new(model);
    let mut texts: Vec<String> =
        meaning.switch_texts().map(|text| without_marks(&without_label(text))).collect();
    texts.sort_unstable();
    texts
}

/// Returns the words of all texts, in one order.
fn words(texts: &[String]) -> Vec<&str> {
    let words =
        texts.iter().flat_map(|text| text.split(|c: char| c.is_whitespace() || "(),[]{}".contains(c)));
    let mut words: Vec<&str> = words.collect();
    words.sort_unstable();
    words
}

fn without_marks(text: &str) -> String {
    let mut parts = text.split("__");
    let mut out = parts.next().unwrap_or("").to_owned();
    parts.for_each(|part| out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit())));
    out
}

/// The last item that was handed out is told, which this model forgets to note.
const STORE: &str = "model Store {
    input put(a: 0..9)
    input drop
    output gone
    input ask
    output told(a: int)
    record Item { a: int }
    var held: list<Item> = []
    var last: Item = Item(a: 0)
    state idle {
        put: on put { held = held + [Item(a: a)] }
        ask: on ask -> asked
        drop: on drop
        go: emit gone when let some(next) = held.first() { held = held.drop(1) }
    }
    state asked {
        tell: emit told(a: last.a) -> idle
    }
}
";

#[test]
fn updates_may_use_what_a_guard_binds_and_no_input_that_was_not_given_is_changed() {
    let mut solver = build_stack(&SolverConfig::default());
    let mut sources = Sources::new();
    sources.add("store.iox", STORE);
    let mut model = compile(&sources).expect("it is a model");
    let lines = ["put\", \"args\": {\"a\": 3}", "gone\"", "ask\"", "told\", \"args\": {\"a\": 3}"];
    let lines = lines.map(|line| format!("{{\"label\": \"{line}}}"));
    let recorded = [ReplayableRun::from_lines("the run", lines.join("\n"))];
    let known = Rc::new(model.clone());
    let runs = [DecodedRun::new(&recorded[0], &known).expect("the run fits")];
    let node = EditSearchNode { sources, ..EditSearchNode::default() };
    let (base, _) =
        SearchBase::new(node, &mut model, &mut solver, &runs, &Halt::default()).expect("the run fits");
    let failure = failure_of(&mut model, &mut solver, &runs[0], &Halt::default()).expect("it fits");
    let found = candidates_of(&base, &[failure.expect("it fails")]);
    assert!(found.iter().any(|it| it.reason == "`go`: also `last = next`"), "{found:#?}");
    assert!(found.iter().any(|it| it.reason.starts_with("`put`: ")), "{found:#?}");
    assert!(!found.iter().any(|it| it.reason.starts_with("`drop`: it leads to")), "{found:#?}");
}
