//! Random pairs of small models: the symbolic check against enumeration, both ways.
//!
//! `IOXIDE_PAIRS` sets the number of pairs, `IOXIDE_FIRST_PAIR` the first of them.

use std::ops::ControlFlow;

use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, LocId, Location, Model, Sts, Switch};
use ioxide_model::term::TermPool;
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::solver::Solver;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{AllowedLabel, Ctx, Monitor};
use ioxide_test_support::test_count;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, conforms, includes, ioco};
use ioxide_testgen::conform::{
    ConformAnswer, ConformOptions, ConformWitness, InputCompletion, InputRule, SearchEngine, conform,
    differences,
};

use crate::pairs::Pairs;

/// The relations and completions that are compared with enumeration.
const MEANINGS: [(ConformanceRelation, InputCompletion); 3] = [
    (ConformanceRelation::Ioco, InputCompletion::Angelic),
    (ConformanceRelation::Ioco, InputCompletion::None),
    (ConformanceRelation::Uioco, InputCompletion::Angelic),
];
const RESTRICTED: (ConformanceRelation, InputCompletion) =
    (ConformanceRelation::Ioco, InputCompletion::Restricted);

fn n_pairs() -> u64 {
    test_count("IOXIDE_PAIRS", 300, 10_000)
}

/// Returns the answer of the symbolic check of `imp` against the specification.
fn symbolic(
    spec: &Model,
    imp: &Sts,
    (relation, completion): (ConformanceRelation, InputCompletion),
    solver: &mut dyn Solver,
) -> ConformAnswer {
    let mut spec = spec.clone();
    let options =
        ConformOptions { relation, completion, engine: SearchEngine::Symbolic, ..ConformOptions::default() };
    let mut cx = Ctx::new(&mut spec, solver);
    let verdict = conform(&mut cx, imp, &options, &mut |_| ControlFlow::Continue(())).expect("same messages");
    if let ConformAnswer::Fails(witness) = &verdict.answer {
        assert_forbidden(&mut cx, witness);
    }
    verdict.answer
}

fn assert_forbidden(cx: &mut Ctx<'_>, witness: &ConformWitness) {
    let (last, before) = witness.trace.labels.split_last().expect("a witness has a label");
    let mut monitor = Monitor::new(cx);
    for label in before {
        assert_eq!(monitor.observe(cx, label).expect("allowed"), AllowedLabel::Allowed);
    }
    assert!(matches!(last, Label::Output(..) | Label::Quiescence));
    assert!(monitor.observe(cx, last).is_err());
}

#[test]
fn conform_agrees_with_enumeration_on_random_pairs() {
    let (mut conforming, mut failing) = (0, 0);
    let first = test_count("IOXIDE_FIRST_PAIR", 0, 0);
    for seed in first..first + n_pairs() {
        if seed % 100 == 0 {
            println!("pair {seed}");
        }
        let pair = Pairs::new(seed).pair();
        let mut brute = BruteSolver::new();
        let mut layers = build_stack(&SolverConfig::default());
        for (imp, spec) in [(&pair.one, &pair.other), (&pair.other, &pair.one)] {
            for meaning in MEANINGS {
                let (relation, completion) = meaning;
                let model = Model { pool: pair.pool.clone(), sts: spec.clone() };
                let expected =
                    conforms(&pair.pool, imp, spec, relation, completion, EnumerationBudget::default());
                let solver: &mut dyn Solver = if seed % 8 == 0 { &mut layers } else { &mut brute };
                let answer = symbolic(&model, imp, meaning, solver);
                match (&expected, &answer) {
                    (EnumerationResult::Conforms, ConformAnswer::Conforms(_)) => conforming += 1,
                    (EnumerationResult::Fails(trace), ConformAnswer::Fails(witness)) => {
                        failing += 1;
                        assert_eq!(trace.len(), witness.trace.len(), "seed {seed}: {trace:?} {witness:?}");
                    }
                    _ => panic!("seed {seed}, {meaning:?}: {expected:?} but {answer:?}"),
                }
            }
        }
    }
    assert!(
        n_pairs() < 100 || (conforming > n_pairs() / 8 && failing > n_pairs() / 8),
        "{conforming} {failing}"
    );
}

/// A specification with an unknown start value is in the states of all its values, as if it had chosen one unseen.
#[test]
fn unknown_start_values_agree_with_enumerated_choices_of_them() {
    let (mut conforming, mut failing, mut open) = (0, 0, 0);
    for seed in 0..n_pairs() {
        let mut pair = Pairs::new(seed).pair();
        let mut brute = BruteSolver::new();
        for (imp, spec) in [(&pair.one, &pair.other), (&pair.other, &pair.one)] {
            let choosing = choosing_start_value(&mut pair.pool, spec);
            let mut unknown = spec.clone();
            unknown.vars[0].init = None;
            let model = Model { pool: pair.pool.clone(), sts: unknown };
            for meaning in MEANINGS {
                let (relation, completion) = meaning;
                let budget = EnumerationBudget::default();
                let expected = conforms(&pair.pool, imp, &choosing, relation, completion, budget);
                let answer = symbolic(&model, imp, meaning, &mut brute);
                match (&expected, &answer) {
                    (EnumerationResult::Conforms, ConformAnswer::Conforms(_)) => conforming += 1,
                    (EnumerationResult::Fails(trace), ConformAnswer::Fails(witness)) => {
                        failing += 1;
                        assert_eq!(trace.len(), witness.trace.len(), "seed {seed}: {trace:?} {witness:?}");
                    }
                    (_, ConformAnswer::Unknown(_)) => open += 1,
                    _ => panic!("seed {seed}, {meaning:?}: {expected:?} but {answer:?}"),
                }
            }
        }
    }
    assert!(
        n_pairs() < 100 || (conforming > n_pairs() && failing > n_pairs() && open < n_pairs() / 10),
        "{conforming} {failing} {open}"
    );
}

/// Returns `sts` with internal steps before its start that choose the value of its first variable.
fn choosing_start_value(pool: &mut TermPool, sts: &Sts) -> Sts {
    let mut choosing = sts.clone();
    let var = sts.vars[0].var;
    let start = LocId::new(sts.locations.len());
    choosing.locations.push(Location { name: "start".into(), span: sts.vars[0].span, doc: String::new() });
    choosing.initial = start;
    for value in 0..3 {
        choosing.switches.push(Switch {
            label: format!("choose{value}").into(),
            source: start,
            gate: GateId::new(0),
            guard: pool.tt(),
            update: vec![(var, pool.int(value))],
            resets: Vec::new(),
            target: sts.initial,
            span: sts.vars[0].span,
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        });
    }
    choosing
}

#[test]
fn inclusion_of_traces_agrees_with_enumeration_on_random_pairs() {
    let (mut included, mut different) = (0, 0);
    for seed in 0..n_pairs() / 2 {
        let pair = Pairs::new(seed).pair();
        let mut brute = BruteSolver::new();
        for (imp, spec) in [(&pair.one, &pair.other), (&pair.other, &pair.one), (&pair.one, &pair.one)] {
            let expected = includes(&pair.pool, imp, spec, EnumerationBudget::default());
            let mut model = Model { pool: pair.pool.clone(), sts: spec.clone() };
            let options = ConformOptions {
                completion: InputCompletion::None,
                inputs: InputRule::Compared,
                engine: SearchEngine::Symbolic,
                ..ConformOptions::default()
            };
            let mut cx = Ctx::new(&mut model, &mut brute);
            let verdict = conform(&mut cx, imp, &options, &mut |_| ControlFlow::Continue(()));
            match (&expected, &verdict.expect("same messages").answer) {
                (EnumerationResult::Conforms, ConformAnswer::Conforms(_)) => included += 1,
                (EnumerationResult::Fails(trace), ConformAnswer::Fails(witness)) => {
                    different += 1;
                    assert_eq!(trace.len(), witness.trace.len(), "seed {seed}: {trace:?} {witness:?}");
                }
                (expected, answer) => panic!("seed {seed}: {expected:?} but {answer:?}"),
            }
        }
    }
    assert!(n_pairs() < 100 || (included > n_pairs() / 2 && different > n_pairs() / 8));
}

/// All places with a difference: none if and only if there is no first one, each of them forbidden, the shortest first.
#[test]
fn every_difference_is_one_and_the_first_is_the_shortest() {
    let mut several = 0;
    for seed in 0..n_pairs() / 2 {
        let pair = Pairs::new(seed).pair();
        let expected =
            ioco(&pair.pool, &pair.one, &pair.other, InputCompletion::Angelic, EnumerationBudget::default());
        let mut model = Model { pool: pair.pool.clone(), sts: pair.other.clone() };
        let mut brute = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut brute);
        let watch = &mut |_: &_| ControlFlow::Continue(());
        let found =
            differences(&mut cx, &pair.one, &ConformOptions::default(), 50, watch).expect("same messages");
        found.witnesses.iter().for_each(|witness| assert_forbidden(&mut cx, witness));
        match expected {
            EnumerationResult::Conforms => {
                assert!(found.witnesses.is_empty() && found.rest.is_none(), "seed {seed}")
            }
            EnumerationResult::Fails(trace) => {
                assert_eq!(found.witnesses[0].trace.len(), trace.len(), "seed {seed}")
            }
            EnumerationResult::GaveUp => panic!("seed {seed}"),
        }
        several += u64::from(found.witnesses.len() > 1);
    }
    assert!(n_pairs() < 100 || several > n_pairs() / 100, "{several}");
}

#[test]
fn a_restricted_completion_finds_nothing_that_the_full_one_does_not() {
    for seed in 0..n_pairs() / 4 {
        let pair = Pairs::new(seed).pair();
        let model = Model { pool: pair.pool.clone(), sts: pair.other.clone() };
        let mut brute = BruteSolver::new();
        let same = symbolic(&model, &pair.other, RESTRICTED, &mut brute);
        assert!(matches!(same, ConformAnswer::Conforms(_)), "seed {seed}: {same:?}");
        if matches!(symbolic(&model, &pair.one, RESTRICTED, &mut brute), ConformAnswer::Fails(_)) {
            let full = ioco(
                &pair.pool,
                &pair.one,
                &pair.other,
                InputCompletion::Angelic,
                EnumerationBudget::default(),
            );
            assert!(matches!(full, EnumerationResult::Fails(_)), "seed {seed}");
        }
    }
}

/// uioco asks less than ioco: what it refutes, ioco refutes by a trace that is no longer.
#[test]
fn uioco_refutes_nothing_that_ioco_allows() {
    let mut differ = 0;
    for seed in 0..n_pairs() {
        let pair = Pairs::new(seed).pair();
        let under = |relation| {
            conforms(
                &pair.pool,
                &pair.one,
                &pair.other,
                relation,
                InputCompletion::Angelic,
                EnumerationBudget::default(),
            )
        };
        match (under(ConformanceRelation::Ioco), under(ConformanceRelation::Uioco)) {
            (EnumerationResult::Conforms, uioco) => {
                assert_eq!(uioco, EnumerationResult::Conforms, "seed {seed}")
            }
            (EnumerationResult::Fails(_), EnumerationResult::Conforms) => differ += 1,
            (EnumerationResult::Fails(ioco), EnumerationResult::Fails(uioco)) => {
                assert!(ioco.len() <= uioco.len(), "seed {seed}")
            }
            other => panic!("seed {seed}: {other:?}"),
        }
    }
    assert!(n_pairs() < 100 || differ > 0, "the random models tell them apart");
}
