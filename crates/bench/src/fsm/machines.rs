//! The machines whose suites are measured: public ones, if they are there, and generated ones.

use std::fs;
use std::path::{Path, PathBuf};

use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_fsm::mealy::{Mealy, SuiteModel};
use ioxide_fsm::read;

/// States, inputs and outputs of the generated machines; chosen by feel.
const GENERATED: [(usize, usize, usize); 4] = [(30, 5, 3), (100, 10, 5), (300, 10, 3), (1_000, 10, 5)];

/// A machine, ready for the suite methods.
pub struct BenchMachine {
    pub name: String,
    pub spec: SuiteModel,
}

/// All machines, public ones first.
pub fn all_machines() -> Result<Vec<BenchMachine>, CliError> {
    let mut machines = public_ones()?;
    for (states, inputs, outputs) in GENERATED {
        let name = format!("generated_{states}_{inputs}_{outputs}");
        machines.extend(generate_machine(states, inputs, outputs).map(|spec| BenchMachine { name, spec }));
    }
    Ok(machines)
}

/// The public machines, if they are there.
pub fn public_ones() -> Result<Vec<BenchMachine>, CliError> {
    let paths = data().map(|data| files(&data.join("mealy"), "dot")).unwrap_or_default();
    paths.iter().map(|path| public(path)).collect()
}

/// Returns the folder of public machines, if `IOXIDE_DATA` names one.
pub fn data() -> Option<PathBuf> {
    std::env::var_os("IOXIDE_DATA").map(PathBuf::from)
}

/// The files below `folder` with this extension, in order.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path)
            } else {
                found.extend(Some(path).filter(|path| path.extension().is_some_and(|e| e == extension)))
            }
        }
    }
    found.sort();
    found
}

/// Reads a machine of the public collection.
fn public(path: &Path) -> Result<BenchMachine, CliError> {
    let wrong = |reason: String| CliError::new(ExitStatus::Model, format!("`{}`: {reason}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let listing = read::read_dot(&text).map_err(|error| wrong(error.to_string()))?;
    let spec = Mealy::from_listing(&listing).and_then(|machine| SuiteModel::from_reduced(&machine));
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("machine");
    Ok(BenchMachine { name: stem.to_owned(), spec: spec.map_err(|refusal| wrong(refusal.to_string()))? })
}

/// A random complete machine, connected by its first input, the same every time.
fn generate_machine(states: usize, inputs: usize, outputs: usize) -> Option<SuiteModel> {
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below
    };
    let mut table = Vec::new();
    for from in 0..states {
        for input in 0..inputs {
            let next = if input == 0 { (from + 1) % states } else { draw(states) };
            table.push(Some((next, draw(outputs))));
        }
    }
    SuiteModel::from_reduced(&Mealy::from_table(states, inputs, outputs, &table)?).ok()
}
