//! Questions per second of the solvers and layers, side by side on the same workloads.
//!
//! `cargo bench -p ioxide-smt [-- <questions>]`. Two workloads, the same for every
//! solver and run: a depth-first search over integer facts that shares prefixes, and
//! quiescence questions with a `forall`. Times are CPU seconds of the whole process, so
//! that a busy machine does not spoil them; a child process is counted too.

use std::time::{Duration, Instant};

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_smt::diverse::{DiversePolicy, DiverseValuations};
use ioxide_smt::layers::forall::ForallLayer;
use ioxide_smt::layers::validate::ValidateLayer;
use ioxide_smt::layers::witness::WitnessLayer;
use ioxide_smt::smtlib::process;
use ioxide_smt::solver::{NoSolver, Solver, SolverAnswer, SolverDecision, SolverLimits};
use ioxide_smt::stack::{BackendChoice, SolverConfig, build_stack};
use ioxide_smt::tally::SolverTally;
use ioxide_smt::z3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() {
    let n = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(20_000);
    if z3::load_library().is_err() {
        println!("no libz3 found: only the layers alone are measured");
    }
    search(n);
    quiescence(n / 10);
    diversity(n / 20);
}

/// A workload: one pool, and lists of facts in the order they are asked.
struct Workload {
    pool: TermPool,
    questions: Vec<Vec<Term>>,
}

/// A solver with its name, and the kind of question it is asked.
type Contestant = (&'static str, Box<dyn Solver>, Ask);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    Check,
    Decide,
}

fn limits() -> SolverLimits {
    SolverLimits { wall: Duration::from_secs(2), steps: None }
}

fn search(n: usize) {
    let workload = depth_first(n);
    let n_facts: usize = workload.questions.iter().map(Vec::len).sum();
    println!("\nsearch: {n} questions, {:.1} facts each on average", n_facts as f64 / n as f64);
    let process = |command: &[&str]| {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        Box::new(process::solver(&command, limits())) as Box<dyn Solver>
    };
    let mut contestants: Vec<Contestant> = Vec::new();
    if z3::load_library().is_ok() {
        contestants.push(("z3, all facts again", Box::new(Forgetful { solver: bare_z3() }), Ask::Check));
        contestants.push(("z3, incremental", bare_z3(), Ask::Check));
        contestants.push(("z3, incremental, no values", bare_z3(), Ask::Decide));
        contestants.push((
            "witness and intervals, z3",
            Box::new(WitnessLayer::new(ValidateLayer::new(bare_z3()))),
            Ask::Check,
        ));
    }
    if installed("z3") {
        contestants.push(("z3 process", process(&["z3", "-in"]), Ask::Check));
    }
    contestants.push(("witness and intervals alone", Box::new(WitnessLayer::new(NoSolver)), Ask::Check));
    contestants.push((
        "whole stack",
        Box::new(build_stack(&SolverConfig { limits: limits(), ..SolverConfig::default() })),
        Ask::Check,
    ));
    contestants.push((
        "whole stack, no values",
        Box::new(build_stack(&SolverConfig { limits: limits(), ..SolverConfig::default() })),
        Ask::Decide,
    ));
    compare(&workload, contestants);
    println!("the same search a second time:");
    let twice = Workload {
        pool: workload.pool,
        questions: [workload.questions.clone(), workload.questions].concat(),
    };
    compare(
        &twice,
        vec![(
            "whole stack, twice",
            Box::new(build_stack(&SolverConfig { limits: limits(), ..SolverConfig::default() })),
            Ask::Check,
        )],
    );
}

fn quiescence(n: usize) {
    let workload = foralls(n);
    println!("\nquiescence: {n} questions with a forall over an int or a real");
    let mut contestants: Vec<Contestant> = Vec::new();
    if z3::load_library().is_ok() {
        contestants.push(("z3", bare_z3(), Ask::Decide));
        contestants.push(("elimination, z3", Box::new(ForallLayer::new(bare_z3())), Ask::Decide));
    }
    contestants.push((
        "whole stack",
        Box::new(build_stack(&SolverConfig { limits: limits(), ..SolverConfig::default() })),
        Ask::Decide,
    ));
    let none = SolverConfig { backend: BackendChoice::None, limits: limits(), ..SolverConfig::default() };
    contestants.push(("whole stack, no solver", Box::new(build_stack(&none)), Ask::Decide));
    compare(&workload, contestants);
}

/// Different valuations of one equation, one disequation and one disjunction over six numbers.
fn diversity(n: usize) {
    let mut pool = TermPool::new();
    let sort = Sort::Range { lo: 0, hi: 1000 };
    let vars: Vec<VarId> = (0..6).map(|at| pool.declare(&format!("x{at}"), sort)).collect();
    let x: Vec<Term> = vars.iter().map(|&var| pool.var(var)).collect();
    let (sum, total) = (pool.add([x[0], x[1], x[2]]), pool.int(1500));
    let (a, b) = (pool.lt(x[4], x[5]), pool.lt(x[5], x[0]));
    let facts = [pool.eq(sum, total), pool.ne(x[3], x[4]), pool.or2(a, b)];
    let mut solver = build_stack(&SolverConfig { limits: limits(), ..SolverConfig::default() });
    let mut source = DiverseValuations::new(&pool, &facts, &vars, DiversePolicy::Random, 1);
    let cpu = cpu_seconds();
    let found: Vec<Valuation> = (0..n).map_while(|_| source.next(&mut pool, &mut solver)).collect();
    let seconds = (cpu_seconds() - cpu).max(0.01);
    let entropy: f64 = vars.iter().map(|&var| flatness(&found, var)).sum::<f64>() / vars.len() as f64;
    println!("\ndiverse: {} different valuations of six numbers in {seconds:.2} CPU s", found.len());
    println!("entropy of their values in ten classes, 1 is flat: {entropy:.2}");
}

/// The entropy of the tenths of 0..=1000 that `var` falls into; 1 if all are equally frequent.
fn flatness(found: &[Valuation], var: VarId) -> f64 {
    let mut counts = [0u32; 10];
    for value in found.iter().filter_map(|valuation| valuation.get(var)?.as_int()?.to_i64()) {
        counts[usize::try_from(value / 101).unwrap_or(0).min(9)] += 1;
    }
    let share = |count: u32| f64::from(count) / found.len() as f64;
    counts.iter().filter(|&&count| count > 0).map(|&count| -share(count) * share(count).log10()).sum()
}

fn bare_z3() -> Box<dyn Solver> {
    match z3::solver(limits()) {
        Ok(solver) => Box::new(solver),
        Err(_) => Box::new(NoSolver),
    }
}

fn installed(program: &str) -> bool {
    std::process::Command::new(program).arg("--version").output().is_ok()
}

/// Puts a different true fact first each time, so that no prefix is shared.
struct Forgetful {
    solver: Box<dyn Solver>,
}

impl Solver for Forgetful {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        let (_, mark) = pool.declare_term("mark", Sort::Bool);
        self.solver.check(pool, &[&[mark][..], facts].concat())
    }
}

/// Runs every contestant and prints a row for each; the first is the unit of the ratio.
fn compare(workload: &Workload, contestants: Vec<Contestant>) {
    println!(
        "| solver | questions per CPU second | ratio | wall s | sat | unsat | unknown | without back-end |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut unit = None;
    let mut truth: Vec<SolverDecision> = Vec::new();
    for (name, mut solver, ask) in contestants {
        let mut pool = workload.pool.clone();
        let (wall, cpu) = (Instant::now(), cpu_seconds());
        let decisions: Vec<SolverDecision> =
            workload.questions.iter().map(|facts| answer(&mut *solver, &mut pool, facts, ask)).collect();
        let wall = wall.elapsed().as_secs_f64();
        let inside = without_backend(&*solver, decisions.len());
        drop(solver);
        let rate = decisions.len() as f64 / (cpu_seconds() - cpu).max(1e-9);
        let ratio = rate / *unit.get_or_insert(rate);
        let count = |wanted: fn(&SolverDecision) -> bool| decisions.iter().filter(|it| wanted(it)).count();
        println!(
            "| {name} | {rate:.0} | {ratio:.2} | {wall:.2} | {} | {} | {} | {inside} |",
            count(|it| *it == SolverDecision::Sat),
            count(|it| *it == SolverDecision::Unsat),
            count(|it| matches!(it, SolverDecision::Unknown(_))),
        );
        if truth.is_empty() {
            truth.clone_from(&decisions);
        }
        let contradicts = |(a, b): &(&SolverDecision, &SolverDecision)| {
            matches!(
                (a, b),
                (SolverDecision::Sat, SolverDecision::Unsat) | (SolverDecision::Unsat, SolverDecision::Sat)
            )
        };
        let n_wrong = decisions.iter().zip(&truth).filter(contradicts).count();
        assert_eq!(n_wrong, 0, "{name} contradicts the first solver");
    }
}

fn answer(solver: &mut dyn Solver, pool: &mut TermPool, facts: &[Term], ask: Ask) -> SolverDecision {
    match ask {
        Ask::Check => solver.check(pool, facts).decision(),
        Ask::Decide => solver.decide(pool, facts),
    }
}

fn without_backend(solver: &dyn Solver, n: usize) -> String {
    let mut tally = SolverTally::default();
    solver.add_to_tally(&mut tally);
    let behind = tally.answers_of("z3").total() + tally.answers_of("process").total();
    if tally.lines.len() < 2 {
        return "-".to_owned();
    }
    format!("{:.1} %", 100.0 * (n as u64).saturating_sub(behind) as f64 / n as f64)
}

/// CPU time of this process and its ended children, in seconds.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system time, own and of children, in hundredths of a second.
    let ticks: f64 = fields.skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// A depth-first search over paths of 5 to 40 facts about eight integers and two bools.
fn depth_first(n: usize) -> Workload {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut pool = TermPool::new();
    let mut vars: Vec<Term> = Vec::new();
    for at in 0..8 {
        let sort = if at % 2 == 0 { Sort::Int } else { Sort::Range { lo: 0, hi: 1000 } };
        vars.push(pool.declare_term(&format!("x{at}"), sort).1);
    }
    let flags = [pool.declare_term("b", Sort::Bool).1, pool.declare_term("c", Sort::Bool).1];
    let mut questions = Vec::with_capacity(n);
    let mut guide = WitnessLayer::new(bare_z3());
    let mut path: Vec<Term> = Vec::new();
    while questions.len() < n {
        while path.len() < 4 {
            path.push(fact(&mut pool, &mut rng, &vars, &flags));
        }
        let guard = fact(&mut pool, &mut rng, &vars, &flags);
        // Both sides of a guard are asked, as a search does that takes one of two switches.
        if rng.random_range(0..3) == 0 {
            let other = pool.not(guard);
            questions.push([&path[..], &[other]].concat());
        }
        path.push(guard);
        questions.push(path.clone());
        // A refuted branch is left; at depth 40, or now and then, the search goes back.
        if guide.decide(&mut pool, &path) == SolverDecision::Unsat {
            path.pop();
        } else if path.len() >= 40 || rng.random_range(0..40) == 0 {
            let keep = rng.random_range(4..=path.len());
            path.truncate(keep.min(path.len() - 1));
        }
    }
    questions.truncate(n);
    Workload { pool, questions }
}

/// A guard as models have them: a bound, a difference, a sum, an equation, an alternative.
fn fact(pool: &mut TermPool, rng: &mut ChaCha8Rng, vars: &[Term], flags: &[Term]) -> Term {
    let var = |rng: &mut ChaCha8Rng| vars[rng.random_range(0..vars.len())];
    let (x, y, z) = (var(rng), var(rng), var(rng));
    let n = pool.int(rng.random_range(-50..1000));
    let (two, three) = (pool.int(2), pool.int(3));
    match rng.random_range(0..12) {
        0 => pool.le(x, n),
        1 => pool.lt(n, x),
        2 | 3 => {
            let sum = pool.add2(x, n);
            pool.le(y, sum)
        }
        4 | 5 => {
            let sum = pool.add([x, y]);
            pool.le(n, sum)
        }
        6 => pool.ne(x, y),
        7 | 8 => {
            let (left, right) = (pool.mul2(two, x), pool.mul2(three, y));
            let (sum, right) = (pool.add2(left, z), pool.add2(right, n));
            pool.lt(sum, right)
        }
        9 => {
            let (sum, right) = (pool.add2(x, y), pool.add2(z, n));
            pool.eq(sum, right)
        }
        10 => {
            let (a, b) = (pool.lt(x, y), pool.le(n, z));
            pool.or2(a, b)
        }
        _ => {
            let flag = flags[rng.random_range(0..flags.len())];
            let bound = pool.le(x, y);
            pool.or2(flag, bound)
        }
    }
}

/// Paths of a few facts, and that no output value is allowed: `!∃o: l ≤ o ∧ o < u ∧ …`.
fn foralls(n: usize) -> Workload {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut pool = TermPool::new();
    let ints: Vec<Term> = (0..6).map(|at| pool.declare_term(&format!("x{at}"), Sort::Int).1).collect();
    let reals: Vec<Term> = (0..6).map(|at| pool.declare_term(&format!("r{at}"), Sort::Real).1).collect();
    let outputs = [pool.declare("o", Sort::Int), pool.declare("p", Sort::Real)];
    let mut questions = Vec::with_capacity(n);
    for _ in 0..n {
        let whole = rng.random_range(0..2) == 0;
        let (vars, output) = if whole { (&ints, outputs[0]) } else { (&reals, outputs[1]) };
        let mut facts: Vec<Term> = (0..6).map(|_| difference(&mut pool, &mut rng, vars)).collect();
        for _ in 0..3 {
            facts.push(quiet(&mut pool, &mut rng, vars, output));
        }
        questions.push(facts);
    }
    Workload { pool, questions }
}

fn difference(pool: &mut TermPool, rng: &mut ChaCha8Rng, vars: &[Term]) -> Term {
    let (x, y) = (vars[rng.random_range(0..vars.len())], vars[rng.random_range(0..vars.len())]);
    let n = offset(pool, rng, x);
    let sum = pool.add2(y, n);
    pool.le(x, sum)
}

fn offset(pool: &mut TermPool, rng: &mut ChaCha8Rng, like: Term) -> Term {
    let n = rng.random_range(-20..60);
    let sort = pool.sort(like).base();
    pool.number(n.into(), sort)
}

fn quiet(pool: &mut TermPool, rng: &mut ChaCha8Rng, vars: &[Term], output: VarId) -> Term {
    let o = pool.var(output);
    let mut guard = Vec::new();
    for at in 0..rng.random_range(2..5) {
        let x = vars[rng.random_range(0..vars.len())];
        let n = offset(pool, rng, x);
        let limit = pool.add2(x, n);
        guard.push(if at % 2 == 0 { pool.le(limit, o) } else { pool.lt(o, limit) });
    }
    let guard = pool.and(guard);
    let some = pool.exists(&[output], guard);
    pool.not(some)
}
