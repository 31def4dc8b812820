//! Path-guided test cases of models with known answers: the facts of \[BLLN23], its counts, its faults.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod corner;
mod sets;
mod small;

use std::collections::BTreeSet;

use crate::common::{atm_guarded, example, integers, named, path, seconds, solver};
use ioxide_model::goal::PathStep;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, Model};
use ioxide_model::value::Value;
use ioxide_smt::solver::{NoSolver, SolverDecision};
use ioxide_symex::{Ctx, SymState, quiescence_condition, successor};
use ioxide_testgen::case::{
    ArcTarget, CaseConfig, CaseError, CaseEvent, CaseExecution, CaseLint, CaseMoved, CaseRule, CaseState,
    CaseVerdict, PathError, Pruning, SendTime, TestCase, Timeout, complete, generate, naive, waypoints,
};

const TOOL: CaseConfig =
    CaseConfig { timeout: Timeout::Free, pruning: Pruning::Tool, sending: SendTime::Soonest };
const ATM_ID: i64 = 7;

fn case(model: &mut Model, labels: &str, config: &CaseConfig) -> TestCase {
    made(model, labels, config).unwrap()
}

fn made(model: &mut Model, labels: &str, config: &CaseConfig) -> Result<TestCase, CaseError> {
    let path = PathStep::taking(&path(&model.sts, labels));
    let mut solver = solver();
    generate(&mut Ctx::new(model, &mut solver), &path, config)
}

/// The path of the ATM of `size` steps.
fn cash(size: usize) -> String {
    ["tr1", "tr2", "tr3", "tr4"].iter().cycle().take(size).copied().collect::<Vec<_>>().join(",")
}

/// Arcs per state, those off the path apart.
fn per_state(case: &TestCase) -> Vec<usize> {
    let count = |state: &CaseState| state.arcs.iter().filter(|arc| arc.rule != CaseRule::R11).count();
    case.states.iter().map(count).collect()
}

/// Where the last of `events` leads: gate (silence is empty), values, delay in tenths of a second.
fn follow(model: &mut Model, case: &TestCase, events: &[(&str, Vec<Value>, i64)]) -> CaseMoved {
    let gate = |name: &str| model.sts.gate_named(name);
    let events: Vec<(Option<GateId>, Vec<Value>, i64)> =
        events.iter().map(|(name, values, tenths)| (gate(name), values.clone(), *tenths)).collect();
    let mut solver = solver();
    let mut cx = Ctx::new(model, &mut solver);
    let mut execution = CaseExecution::new(case, &seconds(10));
    let mut moved = CaseMoved::Nowhere;
    for (gate, values, tenths) in events {
        let event = gate.map_or(CaseEvent::Silence, |gate| CaseEvent::Message(gate, values));
        moved = execution.observe(&mut cx, &seconds(tenths), &event);
    }
    moved
}

fn verdict(moved: &CaseMoved) -> Option<CaseVerdict> {
    if let CaseMoved::Ended(verdict, _) = moved { Some(*verdict) } else { None }
}

fn transc(amount: i64, bound: i64) -> (&'static str, Vec<Value>, i64) {
    ("Transc", vec![Value::int(amount), Value::Real(seconds(bound * 10))], 0)
}

fn debit(request: i64, amount: i64, tenths: i64) -> (&'static str, Vec<Value>, i64) {
    ("Debit", integers(&[request, amount, ATM_ID]), tenths)
}

#[test]
fn the_atm_has_the_arcs_of_the_sound_reading() {
    let mut model = example("atm/atm.iox");
    let four = case(&mut model, &cash(4), &CaseConfig::default());
    assert_eq!(per_state(&four), [7, 9, 7, 9]);
    assert_eq!((four.n_arcs(), four.n_off_path()), (32, 1));
    for (size, arcs) in [(50, 388), (100, 776)] {
        assert_eq!(case(&mut model, &cash(size), &CaseConfig::default()).n_arcs(), arcs);
    }
}

#[test]
fn an_answer_in_time_only_makes_one_arc_more_a_round() {
    let mut model = atm_guarded();
    for (size, arcs) in [(4, 33), (50, 400), (100, 801)] {
        assert_eq!(case(&mut model, &cash(size), &CaseConfig::default()).n_arcs(), arcs);
    }
}

#[test]
fn the_published_generator_is_reproduced_on_demand() {
    let mut model = example("atm/atm.iox");
    assert_eq!(per_state(&case(&mut model, &cash(4), &TOOL)), [7, 9, 7, 8]);
    for (size, arcs) in [(4, 31), (8, 61), (12, 91)] {
        assert_eq!(case(&mut model, &cash(size), &TOOL).n_arcs(), arcs);
    }
    assert_eq!(case(&mut atm_guarded(), &cash(4), &TOOL).n_arcs(), 32);
    for (text, labels, arcs) in small::PUBLISHED {
        let case = case(&mut named("small.iox", text), labels, &TOOL);
        assert_eq!(per_state(&case), arcs, "{text}");
    }
}

/// The published counts on the published models themselves, where they are available.
#[test]
fn public_models_have_the_published_counts() {
    let Some(data) = std::env::var_os("IOXIDE_DATA") else { return };
    let folder = std::path::PathBuf::from(data).join("xlia");
    let files = [
        ("exemple01_basic_timed_system", &[3, 4][..]),
        ("exemple08_absolute_value", &[3, 4]),
        ("example03_atm", &[5, 6]),
        ("example04_beverage_machine", &[4, 4, 5]),
    ];
    for (name, arcs) in files {
        let Ok(text) = std::fs::read_to_string(folder.join(format!("{name}.xlia"))) else { return };
        let labels: Vec<String> = (1..=arcs.len()).map(|n| format!("tr{n}")).collect();
        let case = case(&mut named("public.xlia", &text), &labels.join(","), &TOOL);
        assert_eq!(per_state(&case), arcs, "{name}");
    }
}

#[test]
fn every_guard_is_free_of_quantifiers_and_of_values_at_start() {
    let mut model = example("atm/atm.iox");
    let case = case(&mut model, &cash(12), &CaseConfig::default());
    for arc in case.arcs() {
        assert!(!model.pool.has_quantifier(arc.guard), "{}", model.pool.show(arc.guard));
        let names =
            model.pool.free_vars(arc.guard).into_iter().map(|var| model.pool.var_info(var).name.clone());
        assert!(names.clone().all(|name| !name.ends_with("@0")), "{:?}", names.collect::<Vec<_>>());
    }
    assert_eq!(case.lints, []);
}

#[test]
fn three_outputs_may_answer_a_request_and_only_waiting_is_quiescent() {
    let mut model = example("atm/atm.iox");
    let case = case(&mut model, &cash(4), &CaseConfig::default());
    let outputs: BTreeSet<&str> = case.states[1]
        .arcs
        .iter()
        .filter(|arc| matches!(arc.rule, CaseRule::R2 | CaseRule::R4))
        .filter_map(|arc| Some(&*model.sts.switches[arc.switch?].label))
        .collect();
    assert_eq!(outputs, BTreeSet::from(["tr2", "tr10", "tr11"]));

    let path = path(&model.sts, &cash(4));
    let mut solver = solver();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let mut state = SymState::initial(&mut cx);
    let mut quiet = Vec::new();
    for &id in &path {
        let condition = quiescence_condition(&mut cx, state.loc);
        let store = state.store.substitution(cx.sts);
        let condition = cx.pool.substitute(condition, &store);
        let facts: Vec<_> = state.path.facts().iter().copied().chain([condition]).collect();
        quiet.push(cx.decide(&facts));
        let sts = cx.sts;
        state = successor(&mut cx, &state, &sts.switches[id]);
    }
    assert_eq!(
        quiet,
        [SolverDecision::Sat, SolverDecision::Unsat, SolverDecision::Unsat, SolverDecision::Unsat]
    );
}

#[test]
fn debits_are_judged_as_the_paper_says() {
    let mut model = example("atm/atm.iox");
    let case = case(&mut model, &cash(4), &CaseConfig::default());
    let mut after = |debit| follow(&mut model, &case, &[transc(50, 4), debit]);
    assert_eq!(after(debit(1, 51, 0)), CaseMoved::To(2));
    assert_eq!(verdict(&after(debit(1, 0, 0))), Some(CaseVerdict::FailOut));
    assert_eq!(verdict(&after(debit(1, 51, 20))), Some(CaseVerdict::FailOut));
    assert_eq!(verdict(&after(debit(1, 50, 0))), Some(CaseVerdict::IncOut));
    assert_eq!(verdict(&after(("", vec![], 60))), Some(CaseVerdict::FailDur));
}

#[test]
fn what_an_output_showed_is_known_from_then_on() {
    let mut model = example("atm/atm.iox");
    let case = case(&mut model, &cash(8), &CaseConfig::default());
    let feeless = |state: &CaseState| {
        state.arcs.iter().any(|arc| arc.switch.is_some_and(|id| &*model.sts.switches[id].label == "tr11"))
    };
    assert_eq!((feeless(&case.states[1]), feeless(&case.states[5])), (true, false));

    // The first request has any number, say 41; the fee is 2.
    let granted = |request| ("Auth", integers(&[request, 1, ATM_ID]), 5);
    let round = [transc(50, 4), debit(41, 52, 3), granted(41), ("Cash", integers(&[50]), 10), transc(30, 4)];
    let mut then = |debit| {
        let events: Vec<_> = round.iter().cloned().chain([debit]).collect();
        follow(&mut model, &case, &events)
    };
    assert_eq!(then(debit(42, 32, 0)), CaseMoved::To(6));
    assert_eq!(verdict(&then(debit(41, 32, 0))), Some(CaseVerdict::FailOut));
    assert_eq!(verdict(&then(debit(42, 33, 0))), Some(CaseVerdict::FailOut));
}

/// Fault A: silence before the earliest output is no failure, however short the time-out.
#[test]
fn silence_is_not_judged_too_early() {
    let mut model = named(
        "late.iox",
        "model Late { input In output Out clock c state a { i: on In { reset c } -> b }\n\
         state b { o: emit Out when 10 <= c && c <= 20 -> a } }",
    );
    let short = CaseConfig { timeout: Timeout::Fixed(seconds(50)), ..CaseConfig::default() };
    let hasty = case(&mut model, "i,o", &short);
    let silent = |tenths| [("In", vec![], 0), ("", vec![], tenths)];
    assert_eq!(verdict(&follow(&mut model, &hasty, &silent(50))), Some(CaseVerdict::IncDur));
    assert_eq!(verdict(&follow(&mut model, &hasty, &silent(201))), Some(CaseVerdict::FailDur));
    assert_eq!(hasty.lints, [CaseLint::TimeoutTooShort { state: 1, timeout: seconds(50) }]);

    let patient = case(&mut model, "i,o", &CaseConfig::default());
    assert_eq!(patient.timeout, Some(seconds(500)));
    assert_eq!(verdict(&follow(&mut model, &patient, &silent(500))), Some(CaseVerdict::FailDur));
    assert_eq!(patient.lints, []);
}

/// Fault B: nothing was received, so silence says nothing about received values.
#[test]
fn guards_of_silence_mention_no_payload() {
    for (text, labels, _) in small::PUBLISHED {
        let mut model = named("small.iox", text);
        let case = case(&mut model, labels, &CaseConfig::default());
        for (n, state) in case.states.iter().enumerate() {
            for arc in state.arcs.iter().filter(|arc| arc.gate.is_none()) {
                let step = format!("@{}", n + 1);
                let free = model.pool.free_vars(arc.guard);
                let now = free.into_iter().filter(|var| model.pool.var_info(*var).name.ends_with(&step));
                assert!(now.clone().all(|var| var == state.delay), "{}", model.pool.show(arc.guard));
            }
        }
        let missed = case.states.last().unwrap().arcs.iter().any(|arc| arc.rule == CaseRule::R10);
        assert!(missed, "an output that must come and does not is a failure: {text}");
    }
}

/// Fault C: a refusal by the bank is accepted, then the ATM aborts, as it must.
#[test]
fn pruning_makes_no_failure_of_what_was_accepted() {
    let refused = |request| ("Auth", integers(&[request, 0, ATM_ID]), 5);
    let events = [transc(50, 4), debit(1, 51, 0), refused(1)];
    let abort = ("Abort", integers(&[1]), 5);
    let mut model = example("atm/atm.iox");
    let sound = case(&mut model, &cash(4), &CaseConfig::default());
    assert_eq!(verdict(&follow(&mut model, &sound, &events)), Some(CaseVerdict::IncOffPath));

    let pruned = case(&mut model, &cash(4), &TOOL);
    let all: Vec<_> = events.iter().cloned().chain([abort]).collect();
    assert_eq!(verdict(&follow(&mut model, &pruned, &all)), Some(CaseVerdict::FailOut));
}

/// Fault E: the target has no arcs, and the first event counts.
#[test]
fn the_path_ends_with_pass_and_the_first_event_is_remembered() {
    let mut model = example("atm/atm.iox");
    let case = case(&mut model, &cash(4), &CaseConfig::default());
    assert_eq!(case.states.len(), 4);
    let passes: Vec<_> = case
        .arcs()
        .filter(|arc| arc.target == ArcTarget::Verdict(CaseVerdict::Pass))
        .map(|arc| arc.rule)
        .collect();
    assert_eq!(passes, [CaseRule::R3]);
    let granted = ("Auth", integers(&[1, 1, ATM_ID]), 0);
    let paid = |amount| ("Cash", integers(&[amount]), 0);
    let events = |amount| [transc(50, 4), debit(1, 51, 0), granted.clone(), paid(amount)];
    assert_eq!(verdict(&follow(&mut model, &case, &events(50))), Some(CaseVerdict::Pass));
    assert_eq!(verdict(&follow(&mut model, &case, &events(60))), Some(CaseVerdict::FailOut));
}

/// Fault F: what to send, and when, is there before the test starts.
#[test]
fn stimuli_are_chosen_ahead_and_fit() {
    let mut model = example("atm/atm.iox");
    let case = case(&mut model, &cash(8), &CaseConfig::default());
    let stimuli: Vec<_> =
        case.arcs().filter_map(|arc| Some((arc.rule, arc.witness.clone()?.always))).collect();
    assert_eq!(stimuli, [(CaseRule::R1, true), (CaseRule::R1, true)]);
}

#[test]
fn the_whole_path_condition_gives_the_same_arcs() {
    let texts =
        small::PUBLISHED.iter().map(|(text, labels, _)| (named("small.iox", text), (*labels).to_owned()));
    let atms = [example("atm/atm.iox"), atm_guarded()].map(|model| (model, cash(8)));
    for (mut model, labels) in texts.chain(atms) {
        let fast = case(&mut model, &labels, &CaseConfig::default());
        let path = path(&model.sts, &labels);
        let mut solver = solver();
        let mut cx = Ctx::new(&mut model, &mut solver);
        let slow: BTreeSet<_> =
            naive::arcs(&mut cx, &path, fast.timeout.as_ref().unwrap()).into_iter().collect();
        let mut arcs = BTreeSet::new();
        for (n, state) in fast.states.iter().enumerate() {
            let known = state.arcs.iter().filter(|arc| arc.rule != CaseRule::R11);
            arcs.extend(known.map(|arc| (n, arc.rule, arc.gate, arc.switch)));
        }
        assert_eq!(arcs, slow, "{labels}");
    }
}

#[test]
fn waypoints_are_completed_to_the_shortest_path() {
    let found = |model: &mut Model, list: &str| {
        let waypoints = waypoints(&model.sts, list.split(','))?;
        let mut solver = solver();
        let path = complete(&mut Ctx::new(model, &mut solver), &waypoints)?;
        Ok(path.into_iter().map(|step| step.name(&model.sts).to_owned()).collect::<Vec<_>>().join(","))
    };
    let mut atm = example("atm/atm.iox");
    for (list, path) in [
        ("tr1,tr2,tr3,tr4", "tr1,tr2,tr3,tr4"),
        ("Cash", "tr1,tr2,tr3,tr4"),
        ("..,tr4", "tr1,tr2,tr3,tr4"),
        ("q0, ?Transc, q2, !Abort", "tr1,tr2,tr6"),
        ("tr11,Cash", "tr1,tr11,tr3,tr4"),
        ("Cash,Cash", "tr1,tr2,tr3,tr4,tr1,tr2,tr3,tr4"),
        ("q4", "tr8,tr9"),
    ] {
        let paths: Result<String, PathError> = found(&mut atm, list);
        assert_eq!(paths.as_deref(), Ok(path), "{list}");
    }
    // Data counts: after a debit with a fee there is none without, however long the search.
    assert!(matches!(found(&mut atm, "tr2,Cash,tr11,.."), Err(PathError::NotFound { .. })));
    assert_eq!(found(&mut example("adder.iox"), "r2,r0,.."), Err(PathError::NoWay { met: 1 }));
    assert_eq!(
        found(&mut atm, "cash"),
        Err(PathError::Unknown { word: "cash".into(), near: Some("Cash".into()) })
    );
    assert_eq!(found(&mut atm, " , "), Err(PathError::Empty));
}

#[test]
fn what_is_no_purpose_is_refused_with_the_reason() {
    let refused = |text: &str, labels: &str| {
        let mut model = named("bad.iox", text);
        let path = PathStep::taking(&path(&model.sts, labels));
        let error = made(&mut model, labels, &CaseConfig::default()).expect_err(labels);
        format!("{}\n{}", error.show(&model.sts, &path), error.help(&model.pool, &model.sts))
    };
    let lift = "model Lift { input go(n: int) output at(n: int) output bell var want: int = 0 clock c\n\
        state here { g: on go when n > 3 { want = n, reset c } -> moving }\n\
        state moving { a: emit at(n: want) when want < 2 && c <= 1 -> here\n\
        b: emit at(n: want) when want >= 2 && c <= 1 -> here\n\
        d: emit at when n >= 5 && c <= 2 -> here t: emit bell -> here } }";
    insta::assert_snapshot!(refused(lift, "g,a"), @r"
    the path cannot be followed: after 1 steps, `a` (step 2) is impossible
    check the guards of the steps before it; `ioxide step` executes them by hand
    ");
    insta::assert_snapshot!(refused(lift, "a"), @r"
    there is no such path: the model starts at `here`, but `a` starts at `moving`
    name every transition, or write `..` where ioxide may search the way
    ");
    insta::assert_snapshot!(refused(lift, "g"), @r"
    the path ends with `g`, which the system does not answer
    add the output that answers it
    ");
    let both = refused(lift, "g,b");
    assert!(
        both.starts_with("the path is not trace-deterministic: at step 2, `b` and `d` can show the same\n"),
        "{both}"
    );
    let silent =
        "model M { input a output b state s { x: on a -> t } state t { n: internal -> s y: emit b -> s } }";
    insta::assert_snapshot!(refused(silent, "x,y"), @r"
    the model can take the internal step `n` at `t`, which no test can see
    give the step a message, or test with `ioxide test`, which follows internal steps
    ");
}

/// The trace named as common to two switches is one that both take.
#[test]
fn a_common_trace_takes_either_switch() {
    let text = "model Two { input a(p: int) output b(q: int) var fee: int clock c\n\
        state s { i: on a when p > 2 { fee = fee + p, reset c } -> t }\n\
        state t { x: emit b(q: fee) when c >= 2 -> s y: emit b when q > 7 && c <= 3 -> s } }";
    let mut model = named("two.iox", text);
    let error = made(&mut model, "i,x", &CaseConfig::default()).expect_err("it is not deterministic");
    let CaseError::NotDeterministic { step: 1, other, trace: Some(trace) } = error else {
        panic!("{error:?}")
    };
    assert_eq!(&*model.sts.switches[other].label, "y");
    let [Label::Delay(_), Label::Input(..), Label::Delay(waited), Label::Output(_, values)] =
        &trace.labels[..]
    else {
        panic!("{trace:?}")
    };
    assert!(*waited >= seconds(20) && *waited <= seconds(30));
    assert!(values[0].to_rational().unwrap() > seconds(70));
}

#[test]
fn a_value_no_output_shows_is_pointed_out() {
    let text = "model Shy { input a output b(q: int) var secret: int clock c\n\
        state s { i: on a { reset c } -> t } state t { x: emit b when q > secret && c <= 1 -> s } }";
    let mut model = named("shy.iox", text);
    let case = case(&mut model, "i,x,i,x", &CaseConfig::default());
    let lints: Vec<String> = case.lints.iter().map(|lint| lint.show(&model.pool)).collect();
    assert_eq!(lints.len(), 1);
    assert!(lints[0].starts_with("`secret` is unknown at start"), "{lints:?}");
}

#[test]
fn an_untimed_model_has_no_time_in_its_guards() {
    let mut model = example("adder.iox");
    let case = case(&mut model, "r0,r1", &CaseConfig::default());
    assert_eq!((case.is_timed, case.timeout.clone()), (false, None));
    assert_eq!(verdict(&follow(&mut model, &case, &[("", vec![], 0)])), Some(CaseVerdict::IncDur));
    let add = ("inX", integers(&[3]), 0);
    let sum = |n| ("outX", integers(&[n]), 0);
    assert_eq!(verdict(&follow(&mut model, &case, &[add.clone(), sum(3)])), Some(CaseVerdict::Pass));
    assert_eq!(verdict(&follow(&mut model, &case, &[add.clone(), sum(4)])), Some(CaseVerdict::FailOut));
    assert_eq!(verdict(&follow(&mut model, &case, &[add, ("", vec![], 0)])), Some(CaseVerdict::FailDur));
}

/// Without a solver nothing is pruned and nothing is claimed: every arc is there, in doubt where it could be.
#[test]
fn an_unknown_answer_prunes_nothing() {
    let mut model = example("atm/atm.iox");
    let path = PathStep::taking(&path(&model.sts, &cash(4)));
    let mut nobody = NoSolver;
    let config = CaseConfig { timeout: Timeout::Fixed(seconds(50)), ..CaseConfig::default() };
    let all = generate(&mut Ctx::new(&mut model, &mut nobody), &path, &config).unwrap();
    let known = case(&mut model, &cash(4), &config);
    let rules =
        |case: &TestCase| case.arcs().map(|arc| (arc.rule, arc.switch, arc.gate)).collect::<BTreeSet<_>>();
    assert!(rules(&all).is_superset(&rules(&known)) && all.arcs().count() > known.arcs().count());
    assert!(all.arcs().filter(|arc| arc.rule == CaseRule::R8).any(|arc| arc.doubt.is_some()));
    let unproved = all.lints.iter().filter(|lint| matches!(lint, CaseLint::Unproved { .. })).count();
    assert!(unproved > 0, "{:?}", all.lints);
}
