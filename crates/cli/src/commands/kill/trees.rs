//! `kill --trees`: adaptive tests that kill mutants of models that may choose.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use ioxide_args::{CaseFormat, KillArgs};
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_model::sts::{Model, Sts};
use ioxide_report::killing_trees::{describe_trees, trees_json};
use ioxide_symex::Ctx;
use ioxide_testgen::case::of_adaptive_test;
use ioxide_testgen::kill::outcome::DecidedMutants;
use ioxide_testgen::kill::trees::{KillingTree, killing_trees};
use serde_json::Value as Json;

use super::workers;
use crate::commands::case::case_text;
use crate::exit::CliError;
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;

/// Adaptive tests and the mutants without one.
pub struct KillTrees {
    trees: Vec<KillingTree>,
    without: Vec<usize>,
    format: CaseFormat,
}

/// Makes and writes the tests, if that is asked for.
pub fn make_trees(
    model: &mut Model,
    decided: &DecidedMutants,
    args: &KillArgs,
    request: &SolverRequest<'_>,
) -> Result<Option<KillTrees>, CliError> {
    let Some(folder) = &args.trees else { return Ok(None) };
    let spec = model.sts.clone();
    let systems = decided.systems(&spec);
    let killed: Vec<(usize, &Sts)> =
        systems.iter().enumerate().filter_map(|(at, system)| Some((at, system.as_ref()?))).collect();
    let completion = workers::config(&args.decide)?.completion;
    let mut progress = ProgressLine::start();
    let (trees, without) = killing_trees(&model.pool, &spec, &killed, completion, &mut |done| {
        progress.tick(|| format!("adaptive tests for {done} of {} mutants", killed.len()));
        request.halt.halt_reason().is_some()
    });
    let trees = KillTrees { trees, without, format: args.tree_format };
    trees.write(folder, model, decided, request)?;
    Ok(Some(trees))
}

impl KillTrees {
    fn file_name(&self, at: usize) -> String {
        let name = if self.format == CaseFormat::Pytest { "test_tree" } else { "tree" };
        format!("{name}_{:03}.{}", at + 1, self.format.ending())
    }

    /// Writes every adaptive test to a file of its own in `folder`, and a list of them to `trees.json`.
    fn write(
        &self,
        folder: &str,
        model: &mut Model,
        decided: &DecidedMutants,
        request: &SolverRequest<'_>,
    ) -> Result<(), CliError> {
        let failed = |error: io::Error| CliError::usage(format!("cannot write to `{folder}`: {error}"));
        fs::create_dir_all(folder).map_err(failed)?;
        let folder = Path::new(folder);
        let file = |name: &str, text: &str| {
            write_whole(&folder.join(name), FileReaders::Usual, |out| out.write_all(text.as_bytes()))
                .map_err(failed)
        };
        for (at, tree) in self.trees.iter().enumerate() {
            let mut solver = request.make()?;
            let case = of_adaptive_test(&mut Ctx::new(model, &mut *solver), &tree.test);
            file(&self.file_name(at), &case_text(model, &case, self.format)?)?;
        }
        file("trees.json", &format!("{:#}\n", self.to_json(decided)))
    }

    /// Returns every test with the mutants it kills.
    pub fn to_json(&self, decided: &DecidedMutants) -> Json {
        trees_json(&self.trees, &self.without, &decided.mutants, |at| self.file_name(at))
    }

    /// Writes a line for each test, and one for all.
    pub fn show(&self, out: &mut impl Write) -> io::Result<()> {
        describe_trees(&self.trees, self.without.len()).iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}
