//! Failures around a solver, after each of which it must be usable.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool};
use ioxide_model::value::Value;
use ioxide_smt::backend::{Backend as _, IncrementalSolver};
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::layers::scalar::ScalarLayer;
use ioxide_smt::layers::validate::ValidateLayer;
use ioxide_smt::smtlib::process::{self, SolverProcess};
use ioxide_smt::smtlib::write;
use ioxide_smt::solver::{Solver, SolverAnswer, SolverDecision, SolverLimits, UnknownReason};
use ioxide_smt::stack::{BackendChoice, SolverConfig, build_stack};
use ioxide_smt::z3;

const DEEP: usize = 100_000;

fn quick(millis: u64) -> SolverLimits {
    SolverLimits { wall: Duration::from_millis(millis), steps: None }
}

/// `x > 2` in a pool of its own.
fn small_fact() -> (TermPool, Term) {
    let mut pool = TermPool::new();
    let (_, x) = pool.declare_term("x", Sort::Int);
    let two = pool.int(2);
    let fact = pool.lt(two, x);
    (pool, fact)
}

/// A formula nested `depth` times that is true if `b` is.
fn deep_bool(pool: &mut TermPool, depth: usize) -> Term {
    let (_, b) = pool.declare_term("b", Sort::Bool);
    let (_, c) = pool.declare_term("c", Sort::Bool);
    (0..depth / 2).fold(b, |deep, _| {
        let inner = pool.and2(c, deep);
        pool.or2(b, inner)
    })
}

/// A number nested `depth` times.
fn deep_int(pool: &mut TermPool, depth: usize) -> Term {
    let (_, b) = pool.declare_term("p", Sort::Bool);
    let (_, x) = pool.declare_term("x", Sort::Int);
    let one = pool.int(1);
    (0..depth / 2).fold(x, |deep, _| {
        let next = pool.add2(deep, one);
        pool.ite(b, next, x)
    })
}

/// `x³ + y³ + z³ = 42`, which no solver here decides soon.
fn hard(pool: &mut TermPool) -> Term {
    let cubes: Vec<Term> = ["x", "y", "z"]
        .map(|name| {
            let (_, x) = pool.declare_term(name, Sort::Int);
            pool.mul([x, x, x])
        })
        .into();
    let (sum, goal) = (pool.add(cubes), pool.int(42));
    pool.eq(sum, goal)
}

#[test]
fn deep_terms_are_written_and_read_without_recursion() {
    let mut pool = TermPool::new();
    let facts = [deep_bool(&mut pool, DEEP), {
        let (deep, zero) = (deep_int(&mut pool, DEEP), pool.int(0));
        pool.lt(zero, deep)
    }];
    let script = write::write_script(&pool, &facts).expect("no patterns");
    assert!(script.len() > DEEP);
}

#[test]
fn deep_terms_pass_all_layers() {
    for backend in [BackendChoice::None, BackendChoice::Z3] {
        let mut pool = TermPool::new();
        let deep = deep_bool(&mut pool, DEEP);
        let mut solver = build_stack(&SolverConfig {
            backend: backend.clone(),
            limits: quick(2000),
            ..SolverConfig::default()
        });
        assert_ne!(solver.decide(&mut pool, &[deep]), SolverDecision::Unsat, "{backend:?}");
        let (number, zero) = (deep_int(&mut pool, DEEP), pool.int(0));
        let above = pool.lt(zero, number);
        assert_ne!(solver.decide(&mut pool, &[above]), SolverDecision::Unsat, "{backend:?}");
        assert_ne!(solver.decide(&mut pool, &[deep, above]), SolverDecision::Unsat, "{backend:?}");
    }
}

#[test]
fn z3_alone_survives_deep_terms() {
    let Ok(mut solver) = z3::solver(quick(5000)) else { return };
    let mut pool = TermPool::new();
    let easy = deep_bool(&mut pool, 4_900);
    assert_eq!(solver.decide(&mut pool, &[easy]), SolverDecision::Sat);
    let (number, zero) = (deep_int(&mut pool, 4_900), pool.int(0));
    let above = pool.lt(zero, number);
    assert_ne!(solver.decide(&mut pool, &[easy, above]), SolverDecision::Unsat);
    let deep = deep_bool(&mut pool, DEEP);
    let answer = solver.decide(&mut pool, &[deep]);
    assert!(
        matches!(&answer, SolverDecision::Unknown(UnknownReason::Error(text)) if text.contains("too deep")),
        "{answer:?}"
    );
    assert_eq!(solver.decide(&mut pool, &[easy]), SolverDecision::Sat);
}

#[test]
fn a_hung_z3_is_interrupted_and_usable_afterwards() {
    let Ok(mut solver) = z3::solver(quick(100)) else { return };
    let (mut pool, easy) = small_fact();
    let hard = hard(&mut pool);
    for _ in 0..3 {
        let start = Instant::now();
        assert_eq!(solver.decide(&mut pool, &[hard]), SolverDecision::Unknown(UnknownReason::Time));
        assert!(start.elapsed() < Duration::from_secs(50));
        assert!(matches!(solver.check(&mut pool, &[easy]), SolverAnswer::Sat(_)));
    }
}

#[test]
fn a_stopped_z3_says_so() {
    let Ok(library) = z3::load_library() else { return };
    let mut solver = IncrementalSolver::new(z3::Z3::new(library), quick(20_000));
    let stop = solver.backend().stopper();
    let stopper = std::thread::spawn(move || {
        for _ in 0..50 {
            std::thread::sleep(Duration::from_millis(20));
            stop();
        }
    });
    let (mut pool, easy) = small_fact();
    let hard = hard(&mut pool);
    assert_eq!(solver.decide(&mut pool, &[hard]), SolverDecision::Unknown(UnknownReason::Interrupted));
    stopper.join().expect("no panic");
    assert!(matches!(solver.check(&mut pool, &[easy]), SolverAnswer::Sat(_)));
}

#[test]
fn strings_of_all_kinds_come_back_from_z3() {
    let Ok(mut solver) = z3::solver(SolverLimits::default()) else { return };
    let mut pool = TermPool::new();
    for text in ["", "plain", "a\"b\\c", "é€𝄞\u{0}\n", "(;|)"] {
        let (s, s_term) = pool.declare_term("s", Sort::Str);
        let value = pool.value(Value::str(text));
        let fact = pool.eq(s_term, value);
        let valuation = solver.check(&mut pool, &[fact]).valuation().expect("satisfiable");
        assert_eq!(valuation.get(s), Some(&Value::str(text)));
    }
}

#[test]
fn patterns_mean_the_same_to_z3() {
    for pattern in ["[a-c]{2,3}x?", "(ab|cd)+", "^[0-9]+-[^a-z]$", ".*é.*", "a{3}", "(a*b){2,}"] {
        let Ok(solver) = z3::solver(SolverLimits::default()) else { return };
        let mut pool = TermPool::new();
        let regex = pool.pattern(pattern).expect("a pattern");
        let (_, s) = pool.declare_term("s", Sort::Str);
        let (matches, length, three) = (pool.matches(s, regex), pool.length(s), pool.int(3));
        let long = pool.le(three, length);
        let answer = ValidateLayer::new(solver).check(&mut pool, &[matches, long]);
        assert!(matches!(answer, SolverAnswer::Sat(_)), "{pattern}: {answer:?}");
    }
}

#[test]
fn what_no_solver_can_say_is_an_error_and_harmless() {
    let Ok(mut solver) = z3::solver(SolverLimits::default()) else { return };
    let (mut pool, easy) = small_fact();
    let regex = pool.pattern(r"a\bb").expect("a pattern");
    let (_, s) = pool.declare_term("s", Sort::Str);
    let odd = pool.matches(s, regex);
    let answer = solver.check(&mut pool, &[easy, odd]);
    assert!(
        matches!(&answer, SolverAnswer::Unknown(UnknownReason::Error(text)) if text.contains("word boundary")),
        "{answer:?}"
    );
    assert!(matches!(solver.check(&mut pool, &[easy]), SolverAnswer::Sat(_)));
}

#[test]
fn a_text_of_characters_that_solvers_do_not_have_is_not_refuted() {
    let Ok(mut solver) = z3::solver(SolverLimits::default()) else { return };
    // Each list of patterns has a common text.
    for (patterns, text) in [
        (vec![r"[\x{30000}-\x{10FFFF}]+"], "\u{30000}"),
        (vec![".", r"[^\x{0}-\x{2FFFF}]"], "\u{10000F}"),
        (vec![r"[^\x{20001}-\x{2FFFF}]", r"[^\x{0}-\x{20000}]"], "\u{40000}"),
    ] {
        let mut pool = TermPool::new();
        let (_, s) = pool.declare_term("s", Sort::Str);
        let mut facts = Vec::new();
        for pattern in patterns {
            let regex = pool.pattern(pattern).expect("a pattern");
            assert!(pool.pattern_info(regex).matches(text), "{pattern}");
            facts.push(pool.matches(s, regex));
        }
        let answer = solver.check(&mut pool, &facts);
        assert!(!matches!(answer, SolverAnswer::Unsat), "{text:?}: {answer:?}");
    }
    // What has nothing to do with such characters is still refuted.
    let mut pool = TermPool::new();
    let (_, s) = pool.declare_term("s", Sort::Str);
    let facts = [r"\w+", "[^a-z].*", "[a-z].*"].map(|pattern| {
        let regex = pool.pattern(pattern).expect("a pattern");
        pool.matches(s, regex)
    });
    assert!(matches!(solver.check(&mut pool, &facts), SolverAnswer::Unsat));
}

/// An executable shell script that lives as long as the returned guard.
fn fake_solver(script: &str) -> (tempfile::TempDir, Vec<String>) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("solver.sh");
    let mut file = std::fs::File::create(&path).expect("a file");
    write!(file, "#!/bin/sh\n{script}\n").expect("written");
    file.set_permissions(std::fs::Permissions::from_mode(0o755)).expect("executable");
    drop(file);
    let command = vec!["/bin/sh".to_owned(), path.to_string_lossy().into_owned()];
    (dir, command)
}

#[test]
fn a_missing_solver_is_an_error_with_its_name() {
    let (mut pool, fact) = small_fact();
    let mut solver = process::solver(&["no-such-solver".to_owned()], quick(1000));
    for _ in 0..2 {
        let answer = solver.check(&mut pool, &[fact]);
        assert!(
            matches!(&answer, SolverAnswer::Unknown(UnknownReason::Error(text)) if text.contains("no-such-solver")),
            "{answer:?}"
        );
    }
    let mut nothing = process::solver(&[], quick(1000));
    assert!(matches!(nothing.check(&mut pool, &[fact]), SolverAnswer::Unknown(UnknownReason::Error(_))));
}

#[test]
fn a_solver_that_dies_is_started_again() {
    // Dies at its first check, answers when started again.
    let script = r#"
        mark="$0.mark"
        while read -r line; do
            case "$line" in
                *check-sat*) if [ -e "$mark" ]; then echo unsat; else touch "$mark"; kill -9 $$; fi ;;
            esac
        done"#;
    let (_dir, command) = fake_solver(script);
    let (mut pool, fact) = small_fact();
    let mut solver = process::solver(&command, quick(5000));
    let answer = solver.check(&mut pool, &[fact]);
    assert!(
        matches!(&answer, SolverAnswer::Unknown(UnknownReason::Error(text)) if text.contains("ended")),
        "{answer:?}"
    );
    assert_eq!(solver.check(&mut pool, &[fact]), SolverAnswer::Unsat);
}

#[test]
fn a_hung_solver_is_killed_at_the_deadline() {
    let (_dir, command) = fake_solver("exec sleep 60");
    let (mut pool, fact) = small_fact();
    let mut solver = process::solver(&command, quick(200));
    // More text than a pipe holds must not block either.
    let mut facts = vec![fact];
    for n in 0..5_000 {
        let (_, y) = pool.declare_term("a_rather_long_variable_name", Sort::Range { lo: 0, hi: n });
        let limit = pool.int(n);
        facts.push(pool.le(y, limit));
    }
    for _ in 0..2 {
        let start = Instant::now();
        assert_eq!(solver.check(&mut pool, &facts), SolverAnswer::Unknown(UnknownReason::Time));
        assert!(start.elapsed() < Duration::from_secs(50));
    }
}

#[test]
fn nonsense_answers_are_errors() {
    for answer in ["maybe", "(error \"line 1: no\")", "(((", "\"\"", "sat\\n(("] {
        let (_dir, command) = fake_solver(&format!(
            "while read -r line; do case \"$line\" in *check*|*get*) printf '{answer}\\n';; esac; done"
        ));
        let (mut pool, fact) = small_fact();
        let mut solver = process::solver(&command, quick(300));
        let got = solver.check(&mut pool, &[fact]);
        assert!(matches!(got, SolverAnswer::Unknown(_)), "{answer}: {got:?}");
    }
}

#[test]
fn a_stopped_process_says_so_and_the_next_question_works() {
    if !ioxide_test_support::has_program("z3") {
        return;
    }
    let command = ["z3", "-in"].map(str::to_owned);
    let mut solver = IncrementalSolver::new(SolverProcess::new(&command), quick(20_000));
    let stop = solver.backend().stopper();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        stop();
    });
    let (mut pool, easy) = small_fact();
    let hard = hard(&mut pool);
    assert_eq!(solver.decide(&mut pool, &[hard]), SolverDecision::Unknown(UnknownReason::Interrupted));
    stopper.join().expect("no panic");
    assert!(matches!(solver.check(&mut pool, &[easy]), SolverAnswer::Sat(_)));
}

#[test]
fn without_any_solver_the_layers_still_answer() {
    let config = SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() };
    let mut solver = build_stack(&config);
    let (mut pool, fact) = small_fact();
    let not = pool.not(fact);
    assert!(matches!(solver.check(&mut pool, &[fact]), SolverAnswer::Sat(_)));
    assert_eq!(solver.check(&mut pool, &[fact, not]), SolverAnswer::Unsat);
    let hard = hard(&mut pool);
    assert_eq!(solver.decide(&mut pool, &[hard]), SolverDecision::Unknown(UnknownReason::NoSolver));
}

#[test]
fn solvers_can_move_to_another_thread() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&build_stack(&SolverConfig::default()));
    is_send(&ScalarLayer::new(BruteSolver::new()));
}

#[test]
fn a_question_from_another_pool_is_not_answered_from_memory() {
    let mut solver = build_stack(&SolverConfig::default());
    let mut first = TermPool::new();
    let (_, x) = first.declare_term("x", Sort::Int);
    let one = first.int(1);
    let below = first.lt(x, one);
    assert_eq!(solver.decide(&mut first, &[below]), SolverDecision::Sat);
    // The same ids, another meaning: this x is never below 1.
    let mut second = TermPool::new();
    let (_, x) = second.declare_term("x", Sort::Range { lo: 5, hi: 9 });
    let one = second.int(1);
    assert_eq!(second.lt(x, one), below);
    assert_eq!(solver.decide(&mut second, &[below]), SolverDecision::Unsat);
    let mut clone = first.clone();
    let two = clone.int(2);
    let above = clone.lt(two, x);
    assert_eq!(solver.decide(&mut clone, &[below, above]), SolverDecision::Unsat);
    let mut tally = ioxide_smt::tally::SolverTally::default();
    solver.add_to_tally(&mut tally);
    assert_eq!(tally.questions, 3);
}
