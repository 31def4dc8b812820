//! Tests of `complete`.

use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_fsm::complete::converge::certify_by_convergence;
use ioxide_fsm::complete::{CertificateRule, CompletenessAnswer, Judgement, certify, check_suite, judge};
use ioxide_fsm::mealy::{Mealy, SuiteModel};
use ioxide_fsm::product;
use ioxide_fsm::suite::SuiteMethod;
use ioxide_fsm::word::{Word, words_up_to};

fn toggle() -> SuiteModel {
    let table = [(1, 0), (0, 0), (0, 1), (1, 0)].map(Some);
    SuiteModel::check(&Mealy::from_table(2, 2, 2, &table).unwrap()).unwrap()
}

#[test]
fn a_method_is_complete_and_a_single_word_is_not() {
    let spec = toggle();
    let suite: Vec<Word> = SuiteMethod::W.suite(&spec, 0).collect();
    assert_eq!(check_suite(&spec, &suite, 2, 1_000_000), CompletenessAnswer::Complete);
    let CompletenessAnswer::Incomplete(machine) = check_suite(&spec, &suite[..1], 2, 1_000_000) else {
        unreachable!("one word cannot check two states")
    };
    assert!(product::passes(&spec.to_mealy(), &machine, &suite[0]));
    assert!(product::difference(&spec.to_mealy(), &machine).is_some());
}

#[test]
fn the_bound_counts_extra_states() {
    let spec = toggle();
    let suite: Vec<Word> = SuiteMethod::W.suite(&spec, 0).collect();
    assert!(matches!(check_suite(&spec, &suite, 3, 1_000_000), CompletenessAnswer::Incomplete(_)));
    let suite: Vec<Word> = SuiteMethod::W.suite(&spec, 1).collect();
    assert_eq!(check_suite(&spec, &suite, 3, 1_000_000), CompletenessAnswer::Complete);
}

#[test]
fn giving_up_is_no_proof() {
    let spec = toggle();
    let suite: Vec<Word> = words_up_to(2, 6).collect();
    assert!(matches!(check_suite(&spec, &suite, 4, 10), CompletenessAnswer::Unknown(_)));
}

/// Every machine with two states and two inputs, by enumeration.
#[test]
fn the_search_agrees_with_enumeration() {
    let spec = toggle();
    let words: Vec<Word> = words_up_to(2, 3).collect();
    for cut in 0..words.len() {
        let suite = &words[..cut];
        let passing =
            |machine: &Mealy| suite.iter().all(|word| product::passes(&spec.to_mealy(), machine, word));
        let complete = machines(2, 2, 3)
            .filter(passing)
            .all(|machine| product::difference(&spec.to_mealy(), &machine).is_none());
        let answer = check_suite(&spec, suite, 2, 1_000_000);
        assert_eq!(answer == CompletenessAnswer::Complete, complete, "{cut} words");
    }
}

fn machines(states: usize, inputs: usize, outputs: usize) -> impl Iterator<Item = Mealy> {
    let answers = states * outputs;
    let count = answers.pow(u32::try_from(states * inputs).unwrap());
    (0..count).filter_map(move |mut code| {
        let mut entry = || {
            let answer = code % answers;
            code /= answers;
            Some((answer % states, answer / states))
        };
        let table: Vec<_> = (0..states * inputs).map(|_| entry()).collect();
        Mealy::from_table(states, inputs, outputs, &table)
    })
}

/// Every system whose states are all reached by an access word and at most `extra` more symbols, or in which
/// two access words lead to equivalent states.
fn is_near(system: &Mealy, access: &[Word], extra: usize) -> bool {
    let reach = |word: &Word| word.iter().fold(system.initial(), |q, &x| system.edge(q, x).unwrap().next);
    let classes = ioxide_fsm::partition::equivalence_classes(system);
    let ends: Vec<_> = access.iter().map(reach).collect();
    let alike = |i: usize| ends[..i].iter().any(|&q| classes[q.index()] == classes[ends[i].index()]);
    if (0..ends.len()).any(alike) {
        return true;
    }
    let mut near = ends;
    for _ in 0..extra {
        let next: Vec<_> = near.iter().flat_map(|&q| system.inputs().map(move |x| (q, x))).collect();
        near.extend(next.into_iter().map(|(q, x)| system.edge(q, x).unwrap().next));
    }
    system.reachable_part().n_states() <= system.states().filter(|q| near.contains(q)).count()
}

#[test]
fn a_certificate_is_a_proof_and_holds_beyond_the_number_of_states() {
    let spec = toggle();
    for (method, extra) in
        [(SuiteMethod::W, 0), (SuiteMethod::Hsi, 0), (SuiteMethod::H, 0), (SuiteMethod::W, 1)]
    {
        let suite: Vec<Word> = method.suite(&spec, extra).collect();
        let certificate = certify(&spec, &suite, extra).expect("these methods meet the condition");
        assert_eq!(check_suite(&spec, &suite, 2 + extra, 1_000_000), CompletenessAnswer::Complete);
        assert!(method != SuiteMethod::W || certificate.is_k_a_complete());
        if !certificate.is_k_a_complete() {
            continue;
        }
        let model = spec.to_mealy();
        let mut large = 0;
        for system in machines(3, 2, 2).step_by(if extra == 0 { 1 } else { 5 }) {
            let passes = suite.iter().all(|word| product::passes(&model, &system, word));
            let is_wrong = product::difference(&model, &system).is_some();
            if is_near(&system, &certificate.access, extra) {
                assert!(!(passes && is_wrong), "k-A-completeness misses a system");
                large += usize::from(system.reachable_part().n_states() == 3);
            }
        }
        assert!(large > 0);
    }
}

#[test]
fn a_suite_without_one_of_its_words_is_never_certified_wrongly() {
    let spec = toggle();
    let whole: Vec<Word> = SuiteMethod::W.suite(&spec, 1).collect();
    let mut incomplete = 0;
    for cut in 0..whole.len() {
        let mut suite = whole.clone();
        suite.remove(cut);
        let exact = check_suite(&spec, &suite, 3, 10_000_000);
        match judge(&spec, &suite, 1, 10_000_000) {
            Judgement::Complete(_) => assert_eq!(exact, CompletenessAnswer::Complete),
            Judgement::Incomplete(machine) => {
                incomplete += 1;
                assert!(suite.iter().all(|word| product::passes(&spec.to_mealy(), &machine, word)));
                assert!(product::difference(&spec.to_mealy(), &machine).is_some());
                assert!(machine.n_states() <= 3);
            }
            Judgement::Unknown(_) => unreachable!("the machine is small"),
        }
    }
    assert!(incomplete > 0);
}

/// A random minimal machine, if the draw gives one.
fn random_spec(rng: &mut ChaCha8Rng, n: usize, inputs: usize) -> Option<SuiteModel> {
    let table: Vec<_> =
        (0..n * inputs).map(|_| Some((rng.random_range(0..n), rng.random_range(0..2)))).collect();
    let machine = Mealy::from_table(n, inputs, 2, &table)?;
    SuiteModel::from_reduced(&machine).ok().filter(|spec| spec.n_states() == n)
}

#[test]
fn suites_of_all_methods_are_certified() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let (mut certified, mut by_convergence) = (0, 0);
    let rounds = if ioxide_test_support::is_full_run() { 2_000 } else { 60 };
    for round in 0..rounds {
        let (n, inputs, extra) = (2 + round % 7, 2 + round % 2, round % 3);
        let Some(spec) = random_spec(&mut rng, n, inputs) else { continue };
        for method in SuiteMethod::ALL {
            let suite: Vec<Word> = method.suite(&spec, extra).collect();
            let judgement = judge(&spec, &suite, extra, 0);
            let Judgement::Complete(Some(certificate)) = judgement else {
                panic!(
                    "round {round}: no certificate for {method:?} with {extra} extra states: {judgement:?}"
                )
            };
            certified += 1;
            by_convergence += usize::from(certificate.rule == CertificateRule::Convergence);
        }
    }
    assert!(certified > rounds && by_convergence > rounds / 10, "{certified} {by_convergence}");
}

#[test]
fn convergence_is_a_proof() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let (mut proved, mut open) = (0, 0);
    let rounds = if ioxide_test_support::is_full_run() { 3_000 } else { 150 };
    for round in 0..rounds {
        let (n, extra) = (2 + round % 3, round % 2);
        let Some(spec) = random_spec(&mut rng, n, 2) else { continue };
        let method = [SuiteMethod::Spy, SuiteMethod::Spyh, SuiteMethod::S][round % 3];
        let mut suite: Vec<Word> = method.suite(&spec, extra).collect();
        // The whole suite in one round of four, else one with a word cut short or left out.
        if round % 4 > 0 {
            let at = rng.random_range(0..suite.len());
            suite[at].pop();
            if round % 4 == 3 {
                suite.swap_remove(rng.random_range(0..suite.len()));
            }
        }
        let exact = check_suite(&spec, &suite, n + extra, 3_000_000);
        match (certify_by_convergence(&spec, &suite, extra), exact) {
            (Some(_), CompletenessAnswer::Incomplete(machine)) => {
                panic!("round {round}: {suite:?} misses {machine:?}")
            }
            (Some(_), _) => proved += 1,
            (None, _) => open += 1,
        }
    }
    assert!(proved > rounds / 8 && open > rounds / 8, "{proved} {open}");
}

/// Words that all begin with the same input may lead back to the initial state, but say nothing of the answers
/// with which a system starts.
#[test]
fn a_certificate_needs_the_empty_access_word() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut certified = 0;
    for _ in 0..300 {
        let (n, inputs) = (rng.random_range(2..4), rng.random_range(1..4));
        let table: Vec<_> =
            (0..n * inputs).map(|_| Some((rng.random_range(0..n), rng.random_range(0..2)))).collect();
        let machine = Mealy::from_table(n, inputs, 2, &table).expect("the table is whole");
        let Ok(spec) = SuiteModel::from_reduced(&machine) else { continue };
        let first = rng.random_range(0..=inputs);
        let is_kept = |word: &Word| word.first().is_none_or(|x| first == inputs || x.index() == first);
        let suite: Vec<Word> = words_up_to(inputs, 5).filter(is_kept).collect();
        if certify(&spec, &suite, 0).is_some() {
            certified += 1;
            let answer = check_suite(&spec, &suite, spec.n_states(), 1_000_000);
            assert_eq!(answer, CompletenessAnswer::Complete, "{table:?}, input {first}");
        }
    }
    assert!(certified > 30, "{certified}");
}
