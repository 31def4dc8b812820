//! `ioxide fsm --theory`, `--product` and `--reduced`: what the theory says about a machine, and machines made of it.

use std::io::{self, Write};
use std::path::Path;

use ioxide_args::FsmArgs;
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_fsm::mealy::{Mealy, StateId, SuiteModel};
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::{align_names, product};
use ioxide_fsm::table::write_table;
use ioxide_fsm::theory::{ChoiceTheory, DeterministicTheory, KnownExistence};
use ioxide_fsm::word::Word;
use serde_json::{Value as Json, json};

use super::reduction::{few_enough, observable};
use super::{refusal_error, suite};
use crate::counted::count_noun;
use crate::exit::{self, CliError, ExitStatus};
use crate::limit;
use crate::machine::NamedMachine;
use crate::solver::SolverRequest;
use crate::write;

/// Shows the theory of the machine: covers, identifiers, distinguishing words, lower bounds.
pub fn theory(args: &FsmArgs) -> Result<ExitStatus, CliError> {
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let _stage = limit::stage("analysing the machine");
    let machine = NamedMachine::load(&args.file, &args.set, &request)?;
    let told = match Mealy::from_listing(&machine.listing) {
        Ok(_) => {
            let spec = limit::run_within(&request.halt, || suite::spec(args, &machine))?;
            let theory = limit::run_within(&request.halt, || DeterministicTheory::compute(&spec));
            if args.json { deterministic_json(&spec, &theory).to_string() } else { theory.describe(&spec) }
        }
        Err(_) => {
            let model = observable(args, &args.file, &machine, Nfsm::from_listing(&machine.listing))?;
            few_enough(args, &model)?;
            let theory = limit::run_within(&request.halt, || ChoiceTheory::compute(&model));
            if args.json { choice_json(&model, &theory).to_string() } else { theory.describe(&model) }
        }
    };
    exit::status_after_output(ExitStatus::Success, writeln!(io::stdout().lock(), "{}", told.trim_end()))
}

/// Writes the product of the machine and another one, which fails where only the other one answers so.
pub fn with_other(args: &FsmArgs, other: &str) -> Result<ExitStatus, CliError> {
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let _stage = limit::stage("making the product");
    let first = NamedMachine::load(&args.file, &args.set, &request)?;
    let second = NamedMachine::load(other, &args.set, &request)?;
    let one = observable(args, &args.file, &first, Nfsm::from_listing(&first.listing))?;
    let two = align_names(one.names(), &Nfsm::from_listing(&second.listing));
    let two = two.map_err(|refusal| refusal_error(other, &refusal))?;
    let two = observable(args, other, &second, two)?;
    let made = limit::run_within(&request.halt, || product(&one, &two));
    save(args, made.as_nfsm())
}

/// Writes the machine connected, observable and minimal.
pub fn write_reduced(args: &FsmArgs) -> Result<ExitStatus, CliError> {
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let _stage = limit::stage("reducing the machine");
    let machine = NamedMachine::load(&args.file, &args.set, &request)?;
    let made = limit::run_within(&request.halt, || {
        Nfsm::from_listing(&machine.listing).reachable_part().determinise().merge_equivalent_states()
    });
    save(args, made.as_nfsm())
}

/// The machine as a table (state, input, output, next state), into the file or to stdout; the initial state first.
fn save(args: &FsmArgs, machine: &Nfsm) -> Result<ExitStatus, CliError> {
    let text = write_table(machine);
    match &args.out {
        None => {
            exit::status_after_output(ExitStatus::Success, io::stdout().lock().write_all(text.as_bytes()))
        }
        Some(path) => {
            let written =
                write_whole(Path::new(path), FileReaders::Usual, |out| out.write_all(text.as_bytes()));
            written.map_err(|error| write::write_error(path, &error))?;
            let told = writeln!(io::stdout().lock(), "{path}: {}", count_noun(machine.n_states(), "state"));
            exit::status_after_output(ExitStatus::Success, told)
        }
    }
}

fn deterministic_json(spec: &SuiteModel, theory: &DeterministicTheory) -> Json {
    let names = spec.names();
    let inputs = |it: &Word| it.iter().map(|&input| names.inputs[input].clone()).collect::<Vec<_>>();
    let all = |words: &[Word]| words.iter().map(inputs).collect::<Vec<_>>();
    let cover =
        theory.cover.iter().map(|(state, it)| json!({ "state": names.states[*state], "word": inputs(it) }));
    let identifiers = theory
        .identifiers
        .iter_enumerated()
        .map(|(state, it)| json!({ "state": names.states[state], "words": all(it) }));
    let preset = match &theory.preset {
        KnownExistence::Found(it) => json!(inputs(it)),
        KnownExistence::Nowhere => json!(false),
        KnownExistence::Unknown => json!("unknown"),
    };
    json!({
        "version": 1,
        "states": spec.n_states(),
        "deterministic": true,
        "state_cover": cover.collect::<Vec<_>>(),
        "characterising_set": all(&theory.characterising),
        "identifiers": identifiers.collect::<Vec<_>>(),
        "distinguishing_word": preset,
        "adaptive_distinguishing": theory.is_adaptively_distinguishable,
        "lower_bound": { "symbols": theory.fewest_symbols },
    })
}

fn choice_json(model: &Observable, theory: &ChoiceTheory) -> Json {
    let names = model.names();
    let state = |it: StateId| names.states[it].clone();
    let inputs = |it: &Word| it.iter().map(|&input| names.inputs[input].clone()).collect::<Vec<_>>();
    let cover = theory.cover.iter().map(|(it, word)| json!({ "state": state(*it), "word": inputs(word) }));
    let apart = theory.distinguishable.iter().map(|(a, b, steps)| json!([state(*a), state(*b), steps]));
    json!({
        "version": 1,
        "states": model.n_states(),
        "deterministic": false,
        "state_cover": cover.collect::<Vec<_>>(),
        "distinguishable": apart.collect::<Vec<_>>(),
        "pairs": theory.pairs,
        "characterising_set": theory.cases.iter().map(|case| case.show(names)).collect::<Vec<_>>(),
        "lower_bound": {
            "states": theory.lower_bound.len(),
            "set": theory.lower_bound.iter().map(|&it| state(it)).collect::<Vec<_>>(),
            "largest": theory.is_largest,
        },
    })
}
