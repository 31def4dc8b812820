//! Switch-coverage purposes of models with known answers, and against an explicit search.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ioxide_lang::{LoadOptions, load};
use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::goal::PathStep;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, LocId, Model, SwitchId};
use ioxide_model::value::Value;
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::halt::{AfterAsks, Halt, Halted};
use ioxide_smt::solver::NoSolver;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, ExploreLimits, StopReason};
use ioxide_testgen::purpose::{
    Criterion, NoPurpose, PurposeItem, PurposeSet, WhyUnreached, coverage, of_goal,
};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const LIMITS: ExploreLimits = ExploreLimits { max_states: 100_000, max_depth: u32::MAX };

fn read(path: &Path, set: &[(&str, &str)]) -> Model {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    named(&path.to_string_lossy(), &text, set)
}

fn named(name: &str, text: &str, set: &[(&str, &str)]) -> Model {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let overrides = set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let loaded = load(&sources, file, &LoadOptions::with_overrides(overrides));
    loaded.model.unwrap_or_else(|| panic!("{name}: {:?}\n{text}", loaded.diagnostics))
}

fn example(name: &str, set: &[(&str, &str)]) -> Model {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name), set)
}

fn covered(model: &mut Model, limits: ExploreLimits) -> PurposeSet {
    let mut solver = build_stack(&SolverConfig::default());
    coverage(&mut Ctx::new(model, &mut solver), Criterion::Switches, limits, &mut |_| {
        ControlFlow::Continue(())
    })
}

fn lengths(set: &PurposeSet) -> Vec<usize> {
    set.purposes.iter().map(|purpose| purpose.steps.len()).collect()
}

#[test]
fn brp_has_the_six_purposes_of_the_paper() {
    let mut model = example("brp/spec.iox", &[]);
    let set = covered(&mut model, LIMITS);
    assert_eq!(lengths(&set), [18, 14, 8, 4, 2, 1]);
    assert_eq!((set.covered_items().len(), set.total, set.unreached.len()), (16, 16, 0));
    assert!(set.purposes.iter().all(|purpose| purpose.doubt.is_none()));
}

#[test]
fn the_car_alarm_has_eleven_purposes() {
    let mut model = example("cas/cas.iox", &[]);
    let set = covered(&mut model, LIMITS);
    let lengths = lengths(&set);
    assert_eq!((lengths.len(), lengths.iter().sum::<usize>(), lengths[0]), (11, 64, 11), "{lengths:?}");
    assert_eq!((set.covered_items().len(), set.total), (26, 26));
}

#[test]
fn the_scaled_protocol_has_the_longest_purpose_of_the_formula() {
    for (chunks, max_rn) in [(3, 10), (8, 10), (16, 20)] {
        let mut model =
            example("brp/scaled.iox", &[("N", &chunks.to_string()), ("MAX_RN", &max_rn.to_string())]);
        let set = covered(&mut model, LIMITS);
        assert_eq!(lengths(&set)[0], 2 * chunks + 2 * max_rn + 2);
        assert_eq!(set.covered_items().len(), set.total);
    }
}

#[test]
fn an_endless_model_is_left_as_soon_as_everything_is_covered() {
    let mut model = example("adder.iox", &[]);
    let set = covered(&mut model, LIMITS);
    assert_eq!(set.covered_items().len(), set.total);
    assert!(set.stats.states < 100, "{:?}", set.stats);
}

/// The folder of public models, where it exists.
fn data() -> Option<PathBuf> {
    let data = PathBuf::from(std::env::var_os("IOXIDE_DATA")?);
    data.join("ralib").is_dir().then_some(data)
}

#[test]
fn register_automata_have_the_purposes_of_the_table() {
    let Some(data) = data() else { return };
    for (name, switches, purposes, longest) in [
        ("passport", 78, 44, 10),
        ("abp.output", 50, 21, 12),
        ("abp.receiver", 10, 4, 8),
        ("login", 20, 8, 6),
        ("login_ndet", 21, 9, 6),
        ("fifo2", 12, 4, 6),
        ("fifo5", 24, 7, 12),
        ("palindrome", 15, 10, 2),
    ] {
        let mut model = read(&data.join("ralib").join(format!("{name}.xml")), &[]);
        let set = covered(&mut model, LIMITS);
        let lengths = lengths(&set);
        let unreached: Vec<_> = set.unreached.iter().collect();
        assert_eq!((set.covered_items().len(), set.total), (switches, switches), "{name}: {unreached:?}");
        assert_eq!(lengths[0], longest, "{name}");
        assert!(lengths.len().abs_diff(purposes) <= 3, "{name}: {} purposes, not {purposes}", lengths.len());
    }
}

const GATES: &str = "input a(x: 0..2) input b output c(x: 0..2) output d";

/// A small model with finite data, as text.
fn random_model(seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = format!("model M {{ {GATES} var m: 0..2 = 0 var n: 0..2 = 1\n");
    for loc in 0..4 {
        text += &format!("state s{loc} {{\n");
        for k in 0..rng.random_range(1..4u32) {
            let gate = ["on a", "on b", "emit c", "emit d", "internal"][rng.random_range(0..5usize)];
            let operand = if gate.ends_with(['a', 'c']) { "x" } else { "n" };
            let (left, right) = (["m", "n", operand], [operand, "m", "0", "1", "2"]);
            let left = left[rng.random_range(0..3usize)];
            let op = ["==", "!=", "<", ">"][rng.random_range(0..4usize)];
            let right = right[rng.random_range(0..5usize)];
            let value = ["m", "n", operand, "0", "2"][rng.random_range(0..5usize)];
            let var = ["m", "n"][rng.random_range(0..2usize)];
            let to = rng.random_range(0..4u32);
            text +=
                &format!("  t{loc}_{k}: {gate} when {left} {op} {right} {{ {var} = {value} }} -> s{to}\n");
        }
        text += "}\n";
    }
    text + "}"
}

/// The length of a shortest path to every switch, found state by state.
fn explicit(model: &Model) -> BTreeMap<SwitchId, usize> {
    let start = concrete::initial_state(&model.pool, &model.sts).expect("all values are known");
    let (mut seen, mut level): (BTreeSet<ConcreteState>, Vec<ConcreteState>) =
        ([start.clone()].into(), vec![start]);
    let mut found = BTreeMap::new();
    for depth in 1.. {
        let mut next = Vec::new();
        for state in &level {
            for (id, switch) in model.sts.switches_from(state.loc) {
                let n_fields = model.sts.gates[switch.gate].fields.len();
                for x in 0..(if n_fields == 0 { 1 } else { 3 }) {
                    let values = vec![Value::int(x); n_fields];
                    if !concrete::is_enabled(&model.pool, &model.sts, state, switch, &values).unwrap() {
                        continue;
                    }
                    found.entry(id).or_insert(depth);
                    let to = concrete::successor(&model.pool, &model.sts, state, switch, &values).unwrap();
                    if seen.insert(to.clone()) {
                        next.push(to);
                    }
                }
            }
        }
        if next.is_empty() {
            return found;
        }
        level = next;
    }
    found
}

/// The length of a shortest path to every location in a quiescent state, found state by state.
fn explicit_silences(model: &Model) -> BTreeMap<LocId, usize> {
    let sts = &model.sts;
    let mut seen = BTreeSet::new();
    let mut level = vec![concrete::initial_state(&model.pool, sts).expect("all values are known")];
    let mut found = BTreeMap::new();
    for depth in 0.. {
        let mut next = Vec::new();
        for state in level {
            if !seen.insert(state.clone()) {
                continue;
            }
            let mut is_quiescent = true;
            for (_, switch) in sts.switches_from(state.loc) {
                let n_fields = sts.gates[switch.gate].fields.len();
                for x in 0..(if n_fields == 0 { 1 } else { 3 }) {
                    let values = vec![Value::int(x); n_fields];
                    if concrete::is_enabled(&model.pool, sts, &state, switch, &values).unwrap() {
                        is_quiescent &= sts.kind_of(switch) == GateKind::Input;
                        let to = concrete::successor(&model.pool, sts, &state, switch, &values);
                        next.push(to.unwrap());
                    }
                }
            }
            if is_quiescent {
                found.entry(state.loc).or_insert(depth);
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    found
}

#[test]
fn silences_agree_with_an_explicit_search() {
    let (mut n_silent, mut n_never, mut n_on_the_way) = (0, 0, 0);
    for seed in 0..150 {
        let text = random_model(seed);
        let mut model = named("random.iox", &text, &[]);
        let expected = explicit_silences(&model);
        let mut solver = BruteSolver::new();
        let cx = &mut Ctx::new(&mut model, &mut solver);
        let set = coverage(cx, Criterion::Silences, LIMITS, &mut |_| ControlFlow::Continue(()));
        let all: BTreeSet<PurposeItem> = expected.keys().map(|&loc| PurposeItem::Silence(loc)).collect();
        assert_eq!(set.covered_items(), all, "{text}");
        assert!(set.is_settled(), "{text}");
        for (purpose, items) in set.purposes.iter().zip(&set.items) {
            let end = purpose.switches().last().map_or(cx.sts.initial, |id| cx.sts.switches[id].target);
            assert_eq!(purpose.path().last(), Some(PathStep::Quiet));
            assert_eq!(purpose.switches().count(), expected[&end], "{text}");
            n_on_the_way += items.len() - 1;
            // Whoever executes it meets nothing impossible.
            assert_eq!(purpose.doubt, None);
        }
        n_silent += all.len();
        n_never += set.unreached.len();
    }
    assert!(n_silent > 100 && n_never > 100 && n_on_the_way > 20, "{n_silent} {n_never} {n_on_the_way}");
}

/// The labels of the purpose `name`; the reason if there is none.
fn steps_of(text: &str, name: &str) -> String {
    let mut model = named("quiet.iox", text, &[]);
    let goal = model.sts.goals.iter().find(|goal| &*goal.name == name).unwrap().clone();
    let mut solver = build_stack(&SolverConfig::default());
    match of_goal(&mut Ctx::new(&mut model, &mut solver), &goal, LIMITS) {
        Ok(purpose) => purpose.path().map(|step| step.name(&model.sts)).collect::<Vec<_>>().join(" "),
        Err(why) => why.to_string(),
    }
}

#[test]
fn silence_is_a_step_where_the_model_is_quiescent() {
    let text = "model M { input go(n: int) input more output r
        var left: 0..9 = 0
        state idle { go: on go when n > 0 && n < 9 { left = n } -> busy }
        state busy { r: emit r when left > 3 { left = left - 1 } -> busy  more: on more { left = left + 2 } -> busy }
        purpose late: go, r, quiet, more, r
        purpose never: go, quiet, r
        purpose start: quiet, go, quiet
        purpose silent { state a { quiet -> b  emit r -> c } state b { emit r -> hit } state c { quiet -> hit } }
        purpose only: quiet
    }";
    assert_eq!(steps_of(text, "late"), "go r quiet more r");
    assert!(!steps_of(text, "never").contains("go"), "{}", steps_of(text, "never"));
    assert_eq!(steps_of(text, "start"), "quiet go quiet");
    assert_eq!(steps_of(text, "silent"), "go r quiet");
    assert_eq!(steps_of(text, "only"), "quiet");
}

#[test]
fn silence_in_time_lasts_as_long_as_the_model_may_wait() {
    let text = "model M { input go input stop output r
        clock c
        state idle { go: on go { reset c } -> busy  off: on stop -> idle }
        state busy { r: emit r when c <= 10s -> done }
        state done { stop: on stop when c > 20s -> idle }
        purpose off: go, r, quiet, stop
        purpose never: go, quiet, r
        purpose short { clock w  state a { on go { reset w } -> b } state b { quiet when w >= 10s -> hit } }
        purpose long {
            clock w
            state a { on go { reset w } -> b }
            state b { quiet when w > 10s -> hit  emit r -> miss }
        }
    }";
    assert_eq!(steps_of(text, "off"), "go r quiet stop");
    assert!(steps_of(text, "never").starts_with("proved out of reach"), "{}", steps_of(text, "never"));
    assert_eq!(steps_of(text, "short"), "go quiet");
    // Time has no bound, so the search need not end; but it finds nothing.
    assert!(!steps_of(text, "long").contains("go"), "{}", steps_of(text, "long"));
}

/// The length of a shortest path to every item, from that to every switch.
fn by_item(
    model: &Model,
    criterion: Criterion,
    switches: &BTreeMap<SwitchId, usize>,
) -> BTreeMap<PurposeItem, usize> {
    let mut found = BTreeMap::new();
    for (&switch, &length) in switches {
        let item = criterion.covered_by(&model.sts, switch);
        let shortest = found.entry(item).or_insert(length);
        *shortest = length.min(*shortest);
    }
    found.retain(|item, _| criterion.items(&model.sts).contains(item));
    if criterion == Criterion::Locations {
        found.entry(PurposeItem::Location(model.sts.initial)).or_insert(0);
    }
    found
}

#[test]
fn random_models_agree_with_an_explicit_search() {
    let mut n_unreached = 0;
    for seed in 0..150 {
        let text = random_model(seed);
        let mut model = named("random.iox", &text, &[]);
        let switches = explicit(&model);
        for criterion in [Criterion::Switches, Criterion::Locations, Criterion::Gates] {
            let expected = by_item(&model, criterion, &switches);
            let mut solver = BruteSolver::new();
            let cx = &mut Ctx::new(&mut model, &mut solver);
            let set = coverage(cx, criterion, LIMITS, &mut |_| ControlFlow::Continue(()));
            assert_eq!(set.covered_items(), expected.keys().copied().collect(), "{criterion}: {text}");
            for purpose in &set.purposes {
                let last = purpose.switches().last().expect("no purpose is empty");
                let item = criterion.covered_by(&model.sts, last);
                assert_eq!(purpose.steps.len(), expected[&item], "{criterion}: {text}");
            }
            assert!(set.is_settled(), "{text}");
            n_unreached += set.unreached.len();
        }
    }
    assert!(n_unreached > 20, "the random models should have unreachable switches: {n_unreached}");
}

#[test]
fn the_protocol_has_few_purposes_for_locations_and_gates() {
    let mut model = example("brp/spec.iox", &[]);
    let mut solver = BruteSolver::new();
    let mut found = |criterion| {
        let cx = &mut Ctx::new(&mut model, &mut solver);
        let set = coverage(cx, criterion, LIMITS, &mut |_| ControlFlow::Continue(()));
        let lengths: Vec<usize> = set.purposes.iter().map(|purpose| purpose.steps.len()).collect();
        (set.covered_items().len(), set.total, lengths)
    };
    // NOK_WA after a second request, CONF after three acknowledged frames, NOK_INIT at once.
    assert_eq!(found(Criterion::Locations), (6, 6, vec![7, 3, 1]));
    // OCONF needs CONF; ONOK follows an acknowledgement nobody waits for; a time-out at once.
    assert_eq!(found(Criterion::Gates), (6, 6, vec![8, 2, 1]));
}

#[test]
fn purposes_with_much_that_is_new_for_their_length_come_early() {
    let mut model = example("brp/spec.iox", &[]);
    let set = covered(&mut model, LIMITS);
    let order = |order| {
        let mut tester = CoverTester::new(&set, CoverRounds::Bounded(1), order);
        let runs = (0..set.purposes.len()).map(|seed| {
            tester.start(seed as u64);
            tester.goal().unwrap_or_default()
        });
        runs.collect::<Vec<_>>().join(", ").replace("purpose ", "")
    };
    assert_eq!(order(PurposeOrder::LongestFirst), "r12, r11, r13, r10, r16, r15");
    // New switches per message: 2 of 2, 1 of 1, 2 of 4, 2 of 8, 1 of 14.
    assert_eq!(order(PurposeOrder::LongestThenNew), "r12, r16, r15, r10, r13, r11");
}

#[test]
fn a_limit_is_no_proof() {
    let mut model = example("brp/spec.iox", &[]);
    let set = covered(&mut model, ExploreLimits { max_states: 5, max_depth: u32::MAX });
    let r12 = model.sts.switch_named("r12").unwrap();
    let found = set.unreached.iter().find(|unreached| unreached.item == PurposeItem::Switch(r12)).unwrap();
    assert_eq!(found.why, WhyUnreached::Cut(StopReason::MaxStates));
    assert!(!set.is_settled());
}

#[test]
fn without_a_solver_paths_are_taken_in_doubt() {
    let text = "model M { input a(x: int) output b var n: int = 0
        state s { t: on a when x * x == 2 + x * n { n = x } -> u }
        state u { v: emit b -> s } }";
    let mut model = named("doubt.iox", text, &[]);
    let mut solver = NoSolver;
    let limits = ExploreLimits { max_states: 6, max_depth: u32::MAX };
    let cx = &mut Ctx::new(&mut model, &mut solver);
    let set = coverage(cx, Criterion::Switches, limits, &mut |_| ControlFlow::Continue(()));
    assert_eq!((set.covered_items().len(), set.aims().len()), (0, 2), "what is in doubt is not covered");
    assert!(set.purposes.iter().all(|purpose| purpose.doubt.is_some()));
    assert!(set.unreached.iter().all(|unreached| matches!(unreached.why, WhyUnreached::Doubt(_))));
    assert!(!set.is_settled());
}

#[test]
fn a_search_that_has_to_end_proves_nothing() {
    let mut model = example("brp/spec.iox", &[]);
    let halt = Halt::new(AfterAsks::new(40));
    let mut solver = build_stack(&SolverConfig { halt, ..SolverConfig::default() });
    let cx = &mut Ctx::new(&mut model, &mut solver);
    let set = coverage(cx, Criterion::Switches, LIMITS, &mut |_| ControlFlow::Continue(()));
    assert!(!set.is_settled() && set.covered_items().len() < set.total);
    assert!(set.unreached.iter().all(|unreached| !unreached.why.is_proof()));
    assert!(set.unreached.iter().any(|it| it.why == WhyUnreached::Cut(StopReason::Halted(Halted::Time))));
}

/// A chain of states, each with a side step to the first.
fn chain(n: usize) -> Model {
    let state = |at: usize| format!("state s{at} {{ on go -> s{} on stop -> s0 }}", (at + 1).min(n - 1));
    let states: Vec<String> = (0..n).map(state).collect();
    named("chain.iox", &format!("model Chain {{ input go input stop {} }}", states.join("\n")), &[])
}

/// Every side step needs a path of its own; the chain itself is walked along once.
#[test]
fn what_is_on_the_way_is_not_walked_again() {
    let set = covered(&mut chain(40), LIMITS);
    assert_eq!((set.covered_items().len(), set.total), (80, 80));
    // The longest goes to the end and stays there; a side step of every state but the first, which has no way.
    let expected: Vec<usize> = std::iter::once(40).chain((1..=40).rev()).collect();
    assert_eq!(lengths(&set), expected);
}

/// Defect: the paths to tens of thousands of switches were made whatever time it was.
#[test]
fn paths_are_made_only_as_long_as_there_is_time() {
    let mut model = chain(400);
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    // The search asks before every switch, and ends before the paths are made.
    let asks = 2 * 400 + 10;
    let set = cx.run_within(&Halt::new(AfterAsks::new(asks)), |cx| {
        coverage(cx, Criterion::Switches, LIMITS, &mut |_| ControlFlow::Continue(()))
    });
    assert!(!set.purposes.is_empty(), "what was found by then is told");
    assert!(set.covered_items().len() < set.total);
    assert!(set.unreached.iter().any(|it| it.why == WhyUnreached::Cut(StopReason::Halted(Halted::Time))));
    assert_eq!(cx.halt_reason(), None, "the signal counts for this search only");
}

const GOALS: &str = "model M { input add(x: 1..3) output sum(n: int) input stop
    var total: int = 0
    state s { more: on add when total < 9 { total = total + x } -> t  halt: on stop when total > 4 -> e }
    state t { say: emit sum(n: total) -> s }
    state e { over: on stop -> e }
    purpose inside: say, halt, over
    purpose big: reach t when total == 7
    purpose never: reach e when total > 20
    purpose three {
        state first { on add(x: 3) -> second }
        state second { on add(x: 1) -> miss  on add(x: 2) -> miss  on add -> third }
        state third { emit sum when n > 5 -> hit }
    }
}";

#[test]
fn goals_become_shortest_purposes() {
    let mut model = named("goals.iox", GOALS, &[]);
    let goals = model.sts.goals.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let found = |cx: &mut Ctx<'_>, name: &str| {
        let goal = goals.iter().find(|goal| &*goal.name == name).expect("written above");
        of_goal(cx, goal, LIMITS).map(|purpose| {
            let label = |id: SwitchId| cx.sts.switches[id].label.to_string();
            purpose.switches().map(label).collect::<Vec<_>>().join(" ")
        })
    };
    assert_eq!(found(&mut cx, "inside").unwrap(), "more say more say halt over");
    assert_eq!(found(&mut cx, "big").unwrap(), "more say more say more");
    assert_eq!(found(&mut cx, "never"), Err(NoPurpose::Unreachable));
    assert_eq!(found(&mut cx, "three").unwrap(), "more say more say");
}

/// Where many counters move independently, their states together are too many to look at; those of one are few.
#[test]
fn what_only_one_of_many_counters_enables_is_found_among_what_can_matter() {
    let each = |line: &dyn Fn(usize) -> String| (0..8).map(line).collect::<Vec<_>>().join("\n");
    let declared = each(&|at| format!("input up{at} input down{at} output full{at} var c{at}: 0..10 = 0"));
    let switches = each(&|at| {
        format!(
            "on up{at} when c{at} < 10 {{ c{at} = c{at} + 1 }} -> s
             on down{at} when c{at} > 0 {{ c{at} = c{at} - 1 }} -> s
             emit full{at} when c{at} == 10 -> s"
        )
    });
    let text = format!("model M {{ {declared} state s {{ {switches} }} }}");
    let mut model = named("counters.iox", &text, &[]);
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let limits = ExploreLimits { max_states: 20_000, max_depth: u32::MAX };
    let set = coverage(&mut cx, Criterion::Switches, limits, &mut |_| ControlFlow::Continue(()));
    assert_eq!((set.covered_items().len(), set.total), (24, 24), "{:?}", set.unreached);
    assert!(set.stats.states < 10_000, "the search went on to its end: {:?}", set.stats);
}

/// Defect: the switches that complete a model seen through a channel were counted, though nothing covers them.
#[test]
fn given_purposes_can_cover_everything() {
    let text = "model M { input ask output told state s { on ask -> t } state t { emit told -> s } }";
    let direct = named("direct.iox", text, &[]);
    let queue = ioxide_lang::channel("fifo(capacity: 1)").unwrap();
    let mut model = ioxide_lang::through(&direct, &queue).unwrap();
    let found = covered(&mut model, LIMITS);
    assert!(found.total < model.sts.switches.len(), "some switches are completions");
    let given = PurposeSet::from_purposes(&model.sts, found.purposes);
    assert_eq!(given.total, found.total);
    assert_eq!(given.covered_items().len(), found.total);
}
