//! `ioxide mutate`: small changes of a model, each with a name and a diff.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_testgen::mutate::{
    Edit, Mutant, MutantSelection, MutationChange, MutationOperator, Sample, select,
};
use serde_json::{Value as Json, json};

use crate::args::{MutantArgs, MutateArgs};
use crate::exit::{CliError, ExitStatus};
use crate::limit;
use crate::load;

/// Makes the mutants and shows them.
pub fn run(args: &MutateArgs) -> Result<ExitStatus, CliError> {
    let (sources, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let halt = limit::halt(&args.limit);
    let _stage = limit::stage("making mutants");
    let mutants = limit::run_within(&halt, || select_mutants(&mut model, &args.mutants))?;
    let catalogue = || catalogue(&sources, &model, &mutants);
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
    for place in &args.places {
        if model.sts.switch_named(place).is_none() && model.sts.location_named(place).is_none() {
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

/// Returns the list of mutants, with the place of each change.
fn catalogue(sources: &Sources, model: &Model, mutants: &[Mutant]) -> Json {
    let edit = |edit: &Edit| {
        let switch = edit.switch().map(|(id, _)| model.sts.switches[id].label.to_string());
        let variable = match edit.change {
            MutationChange::Initial(var, _) => Some(model.pool.var_info(var).name.to_string()),
            MutationChange::Switch(..) => None,
        };
        json!({
            "switch": switch,
            "variable": variable,
            "operator": edit.operator.name(),
            "line": source_line(sources, model, edit),
            "before": edit.show_before(model),
            "after": (edit.operator != MutationOperator::Delete).then(|| edit.show_after(model)),
        })
    };
    let mutant = |mutant: &Mutant| {
        let edits: Vec<Json> = mutant.edits.iter().map(edit).collect();
        json!({ "id": mutant.id, "edits": edits })
    };
    json!({ "version": 1, "mutants": mutants.iter().map(mutant).collect::<Vec<_>>() })
}

/// Returns the line of the source where the changed switch or variable stands, 0 if it stands nowhere.
pub fn source_line(sources: &Sources, model: &Model, edit: &Edit) -> usize {
    let span = match edit.change {
        MutationChange::Switch(id, _) => Some(model.sts.switches[id].span),
        MutationChange::Initial(var, _) => model.sts.vars.iter().find(|it| it.var == var).map(|it| it.span),
    };
    let Some(span) = span else { return 0 };
    if sources.slice(span).is_empty() { 0 } else { sources.line_column(span).line }
}

/// Writes the list of mutants and their differences into `folder`.
fn write_mutants(folder: &str, catalogue: &Json, model: &Model, mutants: &[Mutant]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let folder = Path::new(folder);
    write_whole(&folder.join("mutants.json"), FileReaders::Usual, |out| writeln!(out, "{catalogue}"))?;
    let diffs: String = mutants.iter().map(|mutant| mutant.show_diff(model)).collect();
    write_whole(&folder.join("mutants.diff"), FileReaders::Usual, |out| out.write_all(diffs.as_bytes()))
}
