//! The HTML page of an analysis of mutants.

use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_report::html::ReportPage;
use ioxide_report::html::model::ModelPart;
use ioxide_report::html::mutation::{MutantResult, MutantRow, MutationPage, TestRow};
use ioxide_report::mutants::source_line;
use ioxide_testgen::kill::outcome::{DecidedMutants, MutantOutcome};
use ioxide_testgen::kill::suite::KillTest;
use ioxide_testgen::mutate::Mutant;

use super::super::conform::trace_lines;
use crate::exit::CliError;
use crate::html::a_priori;
use crate::solver::SolverRequest;
use crate::write;

/// A model that was mutated, and where it is written.
pub struct MutatedModel<'a> {
    /// The model.
    pub model: &'a Model,
    /// The text of the model.
    pub sources: &'a Sources,
    /// The file of the model.
    pub file: &'a str,
}

/// The tests of a suite made from the mutants.
pub fn tests(model: &Model, suite: &[KillTest]) -> Vec<TestRow> {
    let row = |test: &KillTest| TestRow {
        name: String::new(),
        steps: trace_lines(model, &test.trace),
        kills: test.kills.clone(),
    };
    suite.iter().map(row).collect()
}

/// A suite whose kills the page shows.
pub struct ShownSuite {
    /// The name of the suite that was measured; empty if the tests were made from the mutants.
    pub name: String,
    /// The tests of the suite.
    pub tests: Vec<TestRow>,
}

/// Writes the page of `suite` to `path`.
pub fn save(
    path: &str,
    mutated: &MutatedModel<'_>,
    decided: &DecidedMutants,
    suite: ShownSuite,
    request: &SolverRequest<'_>,
) -> Result<(), CliError> {
    let reach = a_priori(mutated.model, request)?;
    let page = ReportPage {
        model: Some(ModelPart::new(mutated.model, mutated.sources, mutated.file, Some(&reach))),
        mutation: Some(MutationPage {
            model: mutated.model.sts.name.to_string(),
            suite: suite.name,
            mutants: rows(mutated, decided, &suite.tests),
            tests: suite.tests,
        }),
        ..ReportPage::default()
    };
    write::write_named(path, |out| page.write(out))
}

/// Returns the rows of all mutants.
fn rows(mutated: &MutatedModel<'_>, decided: &DecidedMutants, tests: &[TestRow]) -> Vec<MutantRow> {
    let mut is_killed = vec![false; decided.mutants.len()];
    tests.iter().flat_map(|test| &test.kills).for_each(|&at| is_killed[at] = true);
    let all = decided.mutants.iter().zip(&decided.outcomes).zip(is_killed);
    all.map(|((mutant, outcome), is_killed)| row(mutated, mutant, outcome.as_ref(), is_killed)).collect()
}

/// Returns the row of a mutant: its outcome, the reason and the trace that shows it.
fn row(
    mutated: &MutatedModel<'_>,
    mutant: &Mutant,
    outcome: Option<&MutantOutcome>,
    is_killed: bool,
) -> MutantRow {
    let (word, reason, witness) = match outcome {
        Some(MutantOutcome::Killed(trace)) => {
            let word = if is_killed { MutantResult::Killed } else { MutantResult::Survived };
            (word, String::new(), trace_lines(mutated.model, trace))
        }
        Some(MutantOutcome::Equivalent(reason)) => (MutantResult::Equivalent, reason.clone(), Vec::new()),
        Some(outcome @ (MutantOutcome::Unknown(_) | MutantOutcome::OutOfTime)) => {
            (MutantResult::Unknown, outcome.reason().unwrap_or_default(), Vec::new())
        }
        None => (MutantResult::Unknown, "not decided".to_owned(), Vec::new()),
    };
    let operators: Vec<&str> = mutant.edits.iter().map(|edit| edit.operator.name()).collect();
    MutantRow {
        id: mutant.id.clone(),
        operators: operators.join("+"),
        line: mutant.edits.first().map_or(0, |edit| source_line(mutated.sources, mutated.model, edit)),
        diff: mutant.show_diff(mutated.model),
        outcome: word,
        reason,
        witness,
    }
}
