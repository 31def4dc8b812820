//! The order of texts: evaluation, the layers and the solvers decide it alike.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::{Solver, SolverAnswer};
use ioxide_smt::stack::{BackendChoice, SolverConfig, build_stack};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TEXTS: [&str; 9] = ["", "a", "aa", "ab", "b", "ba", "Z", "é", "a\u{ffff}"];

/// A random formula over the order of three variables and constants.
fn formula(rng: &mut ChaCha8Rng, pool: &mut TermPool, vars: &[Term], depth: u32) -> Term {
    if depth == 0 {
        let mut side = |pool: &mut TermPool| match rng.random_range(0..4) {
            0 => pool.value(Value::str(TEXTS[rng.random_range(0..TEXTS.len())])),
            1 => {
                let tail = pool.value(Value::str("a"));
                pool.concat([vars[rng.random_range(0..vars.len())], tail])
            }
            _ => vars[rng.random_range(0..vars.len())],
        };
        let (a, b) = (side(pool), side(pool));
        return if rng.random_bool(0.5) { pool.text_le(a, b) } else { pool.text_lt(a, b) };
    }
    let parts: Vec<Term> = (0..rng.random_range(1..3)).map(|_| formula(rng, pool, vars, depth - 1)).collect();
    match rng.random_range(0..3) {
        0 => pool.or(parts),
        1 => {
            let all = pool.and(parts);
            pool.not(all)
        }
        _ => pool.and(parts),
    }
}

/// The number of random cases for each solver.
const N_CASES: u64 = 60;

fn solvers() -> Vec<(&'static str, Box<dyn Solver>)> {
    vec![
        ("stack", Box::new(build_stack(&SolverConfig::default()))),
        (
            "layers",
            Box::new(build_stack(&SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() })),
        ),
    ]
}

#[test]
fn solvers_agree_with_evaluation_on_the_order_of_texts() {
    for (name, mut solver) in solvers() {
        let mut n_open = 0;
        for seed in 0..N_CASES {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut pool = TermPool::new();
            let declared: Vec<_> = ["x", "y", "z"].map(|var| pool.declare_term(var, Sort::Str)).to_vec();
            let vars: Vec<Term> = declared.iter().map(|(_, term)| *term).collect();
            let mut facts: Vec<Term> = (0..3).map(|_| formula(&mut rng, &mut pool, &vars, 2)).collect();
            // With three values for each variable, enumeration decides.
            let choices: Vec<Vec<Value>> = vars
                .iter()
                .map(|_| (0..3).map(|_| Value::str(TEXTS[rng.random_range(0..TEXTS.len())])).collect())
                .collect();
            for (&var, values) in vars.iter().zip(&choices) {
                let equal: Vec<Term> = values
                    .iter()
                    .map(|value| {
                        let value = pool.value(value.clone());
                        pool.eq(var, value)
                    })
                    .collect();
                facts.push(pool.or(equal));
            }
            let mut truth = false;
            for case in 0..27usize {
                let at = [case % 3, case / 3 % 3, case / 9];
                let values: Valuation =
                    (0..3).map(|var| (declared[var].0, choices[var][at[var]].clone())).collect();
                truth |= facts.iter().all(|&fact| pool.holds(fact, &values) == Ok(true));
            }
            let shown: Vec<String> = facts.iter().map(|&fact| pool.show(fact).to_string()).collect();
            match solver.check(&mut pool, &facts) {
                SolverAnswer::Sat(found) => {
                    assert!(truth, "{name} {seed}: {shown:?}");
                    let mut complete = found.clone();
                    for (var, _) in &declared {
                        if complete.get(*var).is_none() {
                            complete.set(*var, Value::str(""));
                        }
                    }
                    assert!(
                        facts.iter().all(|&fact| pool.holds(fact, &complete) == Ok(true)),
                        "{name} {seed}: {shown:?} {found:?}"
                    );
                }
                SolverAnswer::Unsat => assert!(!truth, "{name} {seed}: {shown:?}"),
                // Nothing proves that no texts fit.
                SolverAnswer::Unknown(_) => n_open += u64::from(truth),
            }
        }
        assert!(
            name != "stack" || n_open == 0,
            "{n_open} of {N_CASES} cases have a solution that is not found"
        );
    }
}
