//! `ioxide mutate`: small changes of a model, each with a name and a diff.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use ioxide_args::{MutantArgs, MutateArgs};
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_model::sts::Model;
use ioxide_report::mutants::mutants_json;
use ioxide_testgen::mutate::{Mutant, MutantSelection, MutationOperator, Sample, mutated_system, select};
use serde_json::Value as Json;

use crate::exit::{CliError, ExitStatus};
use crate::limit;
use crate::load;

/// Makes the mutants and shows them.
pub fn run(args: &MutateArgs) -> Result<ExitStatus, CliError> {
    let (sources, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let halt = limit::halt(&args.limit);
    let _stage = limit::stage("making mutants");
    let mutants = limit::run_within(&halt, || select_mutants(&mut model, &args.mutants))?;
    let catalogue = || mutants_json(&sources, &model, &mutants);
    if let Some(folder) = &args.out {
        write_mutants(folder, &catalogue(), &model, &mutants)
            .map_err(|error| CliError::usage(format!("cannot write to `{folder}`: {error}")))?;
    }
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", catalogue())?;
        return Ok(ExitStatus::Success);
    }
    if args.out.is_none() {
        for mutant in &mutants {
            write!(out, "{}", mutant.show_diff(&model))?;
        }
    }
    let n = mutants.len();
    writeln!(out, "{n} mutant{}", if n == 1 { "" } else { "s" })?;
    Ok(ExitStatus::Success)
}

/// Returns the mutants the arguments ask for; none at all is an error.
pub fn select_mutants(model: &mut Model, args: &MutantArgs) -> Result<Vec<Mutant>, CliError> {
    let sample = |count| Sample { count, seed: args.seed };
    let selection = MutantSelection {
        operators: parse_operators(&args.ops)?,
        places: args.places.clone(),
        sample: args.sample.map(sample),
        second_order: args.second_order.map(sample),
    };
    let system = mutated_system(model);
    for place in &args.places {
        if system.switch_named(place).is_none() && system.location_named(place).is_none() {
            return Err(CliError::usage(format!("the model has no transition and no state `{place}`"))
                .help("`ioxide show FILE` lists them"));
        }
    }
    let mutants = select(model, &selection).map_err(|many| {
        CliError::usage(many.to_string()).help("take some of them: `--sample N`, `--at NAME`, fewer `--ops`")
    })?;
    if mutants.is_empty() {
        Err(CliError::new(ExitStatus::Nothing, "these operators change nothing here")
            .help("use more `--ops`, or fewer `--at`"))
    } else {
        Ok(mutants)
    }
}

fn parse_operators(text: &str) -> Result<Vec<MutationOperator>, CliError> {
    match text {
        "all" => return Ok(MutationOperator::ALL.to_vec()),
        "default" => return Ok(MutationOperator::DEFAULT.to_vec()),
        _ => (),
    }
    let parse = |name: &str| {
        name.trim().parse().map_err(|_| {
            let names: Vec<&str> = MutationOperator::ALL.iter().map(|it| it.name()).collect();
            CliError::usage(format!("there is no operator `{name}`"))
                .help(format!("there is {}", names.join(", ")))
        })
    };
    text.split(',').map(parse).collect()
}

/// Writes the list of mutants and their differences into `folder`.
fn write_mutants(folder: &str, catalogue: &Json, model: &Model, mutants: &[Mutant]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let folder = Path::new(folder);
    write_whole(&folder.join("mutants.json"), FileReaders::Usual, |out| writeln!(out, "{catalogue}"))?;
    let diffs: String = mutants.iter().map(|mutant| mutant.show_diff(model)).collect();
    write_whole(&folder.join("mutants.diff"), FileReaders::Usual, |out| out.write_all(diffs.as_bytes()))
}
