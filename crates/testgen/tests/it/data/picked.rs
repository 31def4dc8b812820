//! Tests of [`ioxide_testgen::data`].

use std::collections::BTreeSet;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_model::sts::{Gate, GateId, GateKind, Model, Sts, Switch};
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::trace::Trace;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::{DataValue, Value};
use ioxide_smt::stack::{BackendChoice, SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::data::{PickedValues, SeenValues, ValueRequest, pick, pick_uniform};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[test]
fn equations_decide_without_a_solver() {
    let mut world = World::new(&[Sort::Int, Sort::Int, Sort::Bool]);
    let guard = |pool: &mut TermPool, x: Term, fields: &[Term]| {
        let one = pool.int(1);
        let next = pool.add2(x, one);
        let (first, second) = (pool.eq(fields[0], next), pool.eq(fields[1], fields[0]));
        pool.and([first, second, fields[2]])
    };
    let expected = vec![Value::int(8), Value::int(8), Value::Bool(true)];
    assert_eq!(world.pick(7, guard, 0), PickedValues::Values(expected));
}

#[test]
fn a_contradiction_is_proven() {
    let mut world = World::new(&[Sort::Int]);
    let guard = |pool: &mut TermPool, x: Term, fields: &[Term]| {
        let (same, below) = (pool.eq(fields[0], x), pool.lt(fields[0], x));
        pool.and2(same, below)
    };
    assert_eq!(world.pick(7, guard, 0), PickedValues::Impossible);
    let mut world = World::new(&[Sort::Range { lo: 0, hi: 3 }]);
    assert_eq!(world.pick(7, |pool, x, fields| pool.eq(fields[0], x), 0), PickedValues::Impossible);
    assert_eq!(world.pick(7, |pool, x, fields| pool.lt(x, fields[0]), 0), PickedValues::Impossible);
}

#[test]
fn loose_fields_vary_and_always_satisfy_the_guard() {
    let mut world = World::new(&[Sort::Int]);
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let PickedValues::Values(values) = world.pick(3, |pool, x, fields| pool.lt(x, fields[0]), seed)
        else {
            panic!("there are values above 3")
        };
        assert!(values[0] > Value::int(3));
        seen.insert(values[0].clone());
    }
    assert!(seen.len() > 8, "{seen:?}");
    assert!(seen.contains(&Value::int(4)), "the boundary comes up");
}

#[test]
fn every_pattern_of_equal_fields_comes_up() {
    let mut world = World::new(&[Sort::Int; 3]);
    let mut patterns = BTreeSet::new();
    for seed in 0..100 {
        let PickedValues::Values(values) = world.pick(0, |pool, _, _| pool.tt(), seed) else {
            panic!("no guard")
        };
        let [a, b, c] = &values[..] else { panic!("three fields") };
        patterns.insert((a == b, b == c, a == c));
    }
    assert_eq!(patterns.len(), 5);
}

#[test]
fn values_too_rare_to_be_drawn_come_from_the_solver_and_vary() {
    let mut world = World::new(&[Sort::Range { lo: 0, hi: 1_000_000 }, Sort::Range { lo: 0, hi: 1_000_000 }]);
    let guard = |pool: &mut TermPool, _: Term, fields: &[Term]| {
        let (seven, total) = (pool.int(7), pool.int(700_000));
        let scaled = pool.mul2(seven, fields[0]);
        let sum = pool.add2(scaled, fields[1]);
        pool.eq(sum, total)
    };
    let mut seen = BTreeSet::new();
    for seed in 0..12 {
        match world.pick(0, guard, seed) {
            PickedValues::Values(values) => drop(seen.insert(values)),
            PickedValues::Impossible => panic!("there are such values"),
            PickedValues::Unknown(_) => (),
        }
    }
    assert!(seen.len() > 3, "{seen:?}");
    for values in &seen {
        let number = |i: usize| values[i].as_int().and_then(ioxide_model::number::Int::to_i64).unwrap();
        assert_eq!(7 * number(0) + number(1), 700_000);
    }
}

#[test]
fn the_same_seed_picks_the_same_values() {
    let mut world = World::new(&[Sort::Str, Sort::Real, Sort::Int]);
    for seed in 0..20 {
        let first = world.pick(3, |pool, _, _| pool.tt(), seed);
        assert_eq!(first, world.pick(3, |pool, _, _| pool.tt(), seed));
    }
}

#[test]
fn small_equivalence_classes_are_met() {
    // Another switch of the gate singles out 77: one of a thousand values.
    let mut world = World::new(&[Sort::Range { lo: 0, hi: 999 }]);
    let field = world.model.sts.gates[world.gate].fields[0];
    let special = {
        let pool = &mut world.model.pool;
        let (term, n) = (pool.var(field), pool.int(77));
        pool.eq(term, n)
    };
    let met = |world: &mut World| {
        let picks = (0..300).filter(|&seed| {
            let picked = world.pick(0, |pool, _, _| pool.tt(), seed);
            picked == PickedValues::Values(vec![Value::int(77)])
        });
        picks.count()
    };
    assert!(met(&mut world) < 5);
    let (initial, gate) = (world.model.sts.initial, world.gate);
    world.model.sts.switches.push(Switch {
        label: "special".into(),
        source: initial,
        gate,
        guard: special,
        update: Vec::new(),
        resets: Vec::new(),
        target: initial,
        weight: 1,
        span: Span::new(FileId::new(0), 0, 0),
        doc: String::new(),
        reqs: Vec::new(),
        range_check: None,
    });
    let met = met(&mut world);
    assert!((25..90).contains(&met), "one draw in six: {met} of 300");
}

#[test]
fn uniform_values_are_even_and_what_no_draw_gives_is_asked_for() {
    let mut world = World::new(&[Sort::Int]);
    let field = world.model.sts.gates[world.gate].fields[0];
    let (even, far) = {
        let pool = &mut world.model.pool;
        let (term, one, hundred) = (pool.var(field), pool.int(1), pool.int(100));
        (pool.le(one, term), pool.le(hundred, term))
    };
    let config = SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() };
    let mut solver = build_stack(&config);
    let mut cx = Ctx::new(&mut world.model, &mut solver);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut counts = [0; 6];
    for _ in 0..600 {
        let PickedValues::Values(values) = pick_uniform(&mut cx, &mut rng, &[field], &[even], 6) else {
            panic!()
        };
        let at = (0..6).position(|n| values[0] == Value::int(n)).expect("0 to 5");
        counts[at] += 1;
    }
    assert_eq!(counts[0], 0, "the fact excludes 0");
    assert!(counts[1..].iter().all(|&n| (80..160).contains(&n)), "{counts:?}");
    let PickedValues::Values(values) = pick_uniform(&mut cx, &mut rng, &[field], &[far], 6) else { panic!() };
    assert!(values[0] >= Value::int(100));
}

struct World {
    model: Model,
    gate: GateId,
    x: VarId,
}

impl World {
    fn new(sorts: &[Sort]) -> Self {
        let span = Span::new(FileId::new(0), 0, 0);
        let mut model = Model { pool: TermPool::new(), sts: Sts::new("m", "s", span) };
        let x = model.pool.declare("x", Sort::Int);
        let fields = sorts.iter().map(|&sort| model.pool.declare("f", sort)).collect();
        let gate = Gate { name: "g".into(), kind: GateKind::Input, fields, span, doc: String::new() };
        let gate = model.sts.gates.push(gate);
        Self { model, gate, x }
    }

    fn pick(
        &mut self,
        x: i64,
        guard: impl Fn(&mut TermPool, Term, &[Term]) -> Term,
        seed: u64,
    ) -> PickedValues {
        let fields = self.model.sts.gates[self.gate].fields.clone();
        let fields: Vec<Term> = fields.into_iter().map(|field| self.model.pool.var(field)).collect();
        let var = self.model.pool.var(self.x);
        let guard = guard(&mut self.model.pool, var, &fields);
        let config = SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() };
        let mut solver = build_stack(&config);
        let mut cx = Ctx::new(&mut self.model, &mut solver);
        let state: Valuation = [(self.x, Value::int(x))].into_iter().collect();
        let wish = ValueRequest { gate: self.gate, guard, state: &state };
        pick(&mut cx, &mut ChaCha8Rng::seed_from_u64(seed), &wish)
    }
}

/// A number that a system gives inside a record is a value to come back with.
#[test]
fn what_is_inside_a_value_is_seen_too() {
    let text = "model M {
        record Book { id: int, title: string }
        input add output added(body: Book)
        state s { on add emit added }
    }";
    let mut sources = Sources::default();
    let file = sources.add("m.iox", text);
    let model = load(&sources, file, &LoadOptions::default()).model.unwrap();
    let added = model.sts.gate_named("added").unwrap();
    let Sort::Data(data) = model.pool.var_info(model.sts.gates[added].fields[0]).sort else { panic!() };
    let args = [Value::int(4711), Value::str("Emma")].into();
    let book = Value::Data(DataValue { data, ctor: 0, args });
    let mut seen = SeenValues::default();
    seen.catch_up(&Trace { labels: vec![Label::Output(added, vec![book.clone()])], ..Trace::default() });
    assert!(
        seen.values().contains(&Value::int(4711)) && seen.values().contains(&book),
        "{:?}",
        seen.values()
    );
}

/// Several texts with patterns inside a record: without a solver, as one would be busy for long.
#[test]
fn texts_inside_records_match_their_patterns() {
    let day = "[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])";
    let text = format!(
        "model M {{ record Visit {{ from: string, till: string, note: string? }}
        input book(visit: Visit) state s {{ on book when visit.from.matches(\"{day}\") && visit.till.matches(\"{day}\")
        && (match visit.note {{ none => true, some(y) => y.matches(\"[A-Z]{{3}}-[0-9]{{9}}\") }}) }} }}"
    );
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let mut model = load(&sources, file, &LoadOptions::default()).model.unwrap();
    let mut solver = build_stack(&SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() });
    let mut cx = Ctx::new(&mut model, &mut solver);
    let switch = cx.sts.switches.iter().next().unwrap();
    let (gate, guard, state) = (switch.gate, switch.guard, Valuation::new());
    let mut with_note = 0;
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let PickedValues::Values(values) =
            pick(&mut cx, &mut rng, &ValueRequest { gate, guard, state: &state })
        else {
            panic!("seed {seed}: nothing was found")
        };
        let Value::Data(visit) = &values[0] else { panic!("{values:?}") };
        assert_eq!(visit.args[0].as_str().map(str::len), Some(10), "{values:?}");
        let Value::Data(note) = &visit.args[2] else { panic!("{values:?}") };
        with_note += note.args.len();
    }
    assert!(with_note > 0, "the note comes up");
}

/// Returns the values that are picked for the first input of a model in its initial state, without a solver.
fn pick_at_start(text: &str, seeds: u64) -> Vec<PickedValues> {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let mut model = load(&sources, file, &LoadOptions::default()).model.unwrap();
    let nothing = Valuation::new();
    let initial = |held: &ioxide_model::sts::StateVar| {
        (held.var, model.pool.eval(held.init.unwrap(), &nothing).unwrap())
    };
    let state: Valuation = model.sts.vars.iter().map(initial).collect();
    let mut solver = build_stack(&SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() });
    let mut cx = Ctx::new(&mut model, &mut solver);
    let switch = cx.sts.switches.iter().next().unwrap();
    let wish = ValueRequest { gate: switch.gate, guard: switch.guard, state: &state };
    (0..seeds).map(|seed| pick(&mut cx, &mut ChaCha8Rng::seed_from_u64(seed), &wish)).collect()
}

/// All fields of a key come from one member; draws of each field alone would hit none of these.
#[test]
fn a_key_of_several_fields_is_one_that_is_there() {
    let text = "model M { record Key { owner: int, id: int }
        var tasks: map<Key, bool> = {Key(owner: 70001, id: 90001): true, Key(owner: 70002, id: 90002): true}
        input get(owner: int, id: int)
        state s { on get when tasks.has(Key(owner: owner, id: id)) } }";
    let mut seen = BTreeSet::new();
    for picked in pick_at_start(text, 40) {
        let PickedValues::Values(values) = picked else { panic!("{picked:?}") };
        seen.insert(values);
    }
    let pair = |n: i64| vec![Value::int(70_000 + n), Value::int(90_000 + n)];
    assert_eq!(seen, BTreeSet::from([pair(1), pair(2)]));
}

#[test]
fn a_member_of_an_empty_collection_is_impossible() {
    let text = "model M { var books: map<int, bool> = {} var lent: set<int> = {}
        input get(id: int) state s { on get when books.has(id) || lent.has(id) } }";
    assert!(pick_at_start(text, 10).iter().all(|picked| *picked == PickedValues::Impossible));
}

/// The longest allowed text comes up, and so do those next to it.
#[test]
fn texts_are_as_long_as_is_just_allowed() {
    let text = "model M { record Note { title: string }
        input add(note: Note)
        state s { on add when note.title.length() >= 1 && note.title.length() <= 80 } }";
    let mut lengths = BTreeSet::new();
    for picked in pick_at_start(text, 300) {
        let PickedValues::Values(values) = picked else { panic!("{picked:?}") };
        let Value::Data(note) = &values[0] else { panic!("{values:?}") };
        lengths.insert(note.args[0].as_str().map_or(0, |text| text.chars().count()));
    }
    assert!([1, 79, 80].iter().all(|length| lengths.contains(length)), "{lengths:?}");
    assert!(lengths.iter().filter(|length| (40..79).contains(*length)).count() > 5, "{lengths:?}");
}
