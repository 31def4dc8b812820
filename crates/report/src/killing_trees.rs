//! Adaptive tests that kill mutants: for programs, and a line each for people.

use ioxide_model::counted::count_noun;
use ioxide_testgen::kill::trees::{KillingTree, TreeKill};
use ioxide_testgen::mutate::Mutant;
use serde_json::{Value as Json, json};

/// The probability with which the repetitions of a test that forces nothing kill a mutant. Chosen by feel: a higher one
/// asks for more runs.
const KILL_PROBABILITY: f64 = 0.99;

/// Returns every test, in the file that `file_name` gives it, with the mutants it kills; `without` are the mutants that
/// have none.
#[must_use]
pub fn trees_json(
    trees: &[KillingTree],
    without: &[usize],
    mutants: &[Mutant],
    file_name: impl Fn(usize) -> String,
) -> Json {
    let id = |at: usize| mutants[at].id.as_str();
    let kill = |kill: &TreeKill| {
        json!({
            "mutant": id(kill.mutant), "forced": kill.is_forced, "chance": kill.chance,
            "repetitions": kill.repetitions(KILL_PROBABILITY),
        })
    };
    let tree = |(at, tree): (usize, &KillingTree)| {
        json!({
            "file": file_name(at),
            "states": tree.test.nodes.len(),
            "kills": tree.kills.iter().map(kill).collect::<Vec<_>>(),
        })
    };
    json!({
        "version": 1,
        "trees": trees.iter().enumerate().map(tree).collect::<Vec<_>>(),
        "without": without.iter().map(|&at| id(at)).collect::<Vec<_>>(),
    })
}

/// Returns a line for each test, and one for all; `n_without` mutants have no test.
#[must_use]
pub fn describe_trees(trees: &[KillingTree], n_without: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        let forced = tree.kills.iter().filter(|kill| kill.is_forced).count();
        let runs = tree.kills.iter().map(|kill| kill.repetitions(KILL_PROBABILITY)).max().unwrap_or(1);
        let again = match runs {
            1 => String::new(),
            runs => format!("; {runs} runs kill each with 99 % if choices are fair"),
        };
        let (states, kills) = (tree.test.nodes.len(), count_noun(tree.kills.len(), "mutant"));
        lines.push(format!(
            "tree {}: {states} states, kills {kills}, {forced} with any choice of the system{again}",
            at + 1
        ));
    }
    let all = || trees.iter().flat_map(|tree| &tree.kills);
    let (forced, kills) = (all().filter(|kill| kill.is_forced).count(), all().count());
    let without = match n_without {
        0 => String::new(),
        n => format!(", {n} without a tree: too large to enumerate"),
    };
    let by_chance = kills - forced;
    lines.push(format!(
        "trees: {}; {forced} mutants killed for sure, {by_chance} by chance{without}",
        trees.len()
    ));
    lines
}
