//! Tests over a folder of public machines, silent where it is absent.
//!
//! The folder is named by `IOXIDE_DATA`, else looked for beside the workspace.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::{Path, PathBuf};

use ioxide_fsm::mealy::{MachineNames, Mealy, SuiteModel};
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::{self, align_names};
use ioxide_fsm::read::{self, MachineFormat};
use ioxide_fsm::reduce::{
    CountingPlan, CountingVariant, PlayedMachine, ReductionVerdict, on_demand_counting, state_counting,
};
use ioxide_fsm::suite::SuiteMethod;
use ioxide_fsm::word::Word;
use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn folder(name: &str) -> Option<PathBuf> {
    let root = PathBuf::from(std::env::var_os("IOXIDE_DATA")?);
    Some(root.join(name)).filter(|path| path.is_dir())
}

/// All files below `folder` with their text, in order.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let text = |path: PathBuf| std::fs::read_to_string(&path).ok().map(|text| (path, text));
    let mut found: Vec<_> = files.into_iter().filter_map(text).collect();
    found.extend(folders.iter().flat_map(|folder| self::files(folder)));
    found
}

fn form(path: &Path) -> Option<MachineFormat> {
    MachineFormat::from_extension(path.extension()?.to_str()?)
}

fn specs() -> Vec<(String, SuiteModel)> {
    let Some(folder) = folder("mealy") else { return Vec::new() };
    let spec = |(path, text): (PathBuf, String)| {
        let machine = Mealy::from_listing(&read::read(form(&path)?, &text).unwrap()).unwrap();
        Some((path.display().to_string(), SuiteModel::from_reduced(&machine).unwrap()))
    };
    files(&folder).into_iter().filter_map(spec).collect()
}

#[test]
fn every_public_machine_is_read_and_minimised() {
    for (name, spec) in specs() {
        assert!(spec.n_states() > 1, "{name}");
        assert_eq!(product::difference(&spec.to_mealy(), &spec.to_mealy()), None);
    }
}

/// `spec` with one transition led elsewhere or one output changed.
fn mutant(rng: &mut ChaCha8Rng, spec: &SuiteModel) -> Mealy {
    let (n, k, outputs) = (spec.n_states(), spec.n_inputs(), spec.names().outputs.len());
    let entry = |state, input| (spec.next(state, input).index(), spec.output(state, input).index());
    let mut table: Vec<_> =
        spec.states().flat_map(|state| spec.inputs().map(move |input| Some(entry(state, input)))).collect();
    let slot = rng.random_range(0..n * k);
    let (next, output) = table[slot].unwrap();
    let led = rng.random_bool(0.8);
    table[slot] =
        Some(if led { (rng.random_range(0..n), output) } else { (next, rng.random_range(0..outputs)) });
    Mealy::from_table(n, k, outputs, &table).unwrap()
}

#[test]
fn suites_of_public_machines_kill_their_mutants() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let small = |spec: &SuiteModel| spec.n_states() * spec.n_inputs() <= 900;
    for (name, spec) in specs().into_iter().filter(|(_, spec)| small(spec)) {
        let initial_is_first = spec.initial().index() == 0;
        assert!(initial_is_first, "minimised machines start in their first state");
        let model = spec.to_mealy();
        let suites = SuiteMethod::ALL.map(|method| method.suite(&spec, 0).collect::<Vec<Word>>());
        for _ in 0..20 {
            let mutant = mutant(&mut rng, &spec);
            let wrong = product::difference(&model, &mutant).is_some();
            for (method, suite) in SuiteMethod::ALL.iter().zip(&suites) {
                let killed = suite.iter().any(|word| !product::passes(&model, &mutant, word));
                assert_eq!(killed, wrong, "{} on {name}", method.name());
            }
        }
    }
}

fn observable(folder: &Path, name: &str) -> Observable {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let listing = read::read(form(Path::new(name)).unwrap(), &text).unwrap();
    Observable::check(Nfsm::from_listing(&listing)).unwrap()
}

#[test]
fn the_three_forms_of_a_machine_agree() {
    let Some(folder) = folder("fsm") else { return };
    for name in ["MA", "MA_I", "ME", "MF", "MF_I"] {
        let table = observable(&folder, &format!("{name}.txt"));
        let dot = observable(&folder, &format!("{name}.dot"));
        let dot = Observable::check(align_names(table.names(), dot.as_nfsm()).unwrap()).unwrap();
        assert_eq!(product::reduction_witness(&table, &dot), None);
        assert_eq!(product::reduction_witness(&dot, &table), None);
        let numbers = observable(&folder, &format!("{name}.fsm"));
        let sizes = |names: &MachineNames| (names.states.len(), names.inputs.len());
        assert_eq!(sizes(numbers.names()), sizes(table.names()));
    }
}

#[test]
fn reductions_pass_and_mutants_fail() {
    let Some(folder) = folder("fsm") else { return };
    let names: Vec<String> = files(&folder)
        .iter()
        .filter_map(|(path, _)| Some(path.file_name()?.to_str()?.strip_suffix("_spec.fsm")?.to_owned()))
        .collect();
    for name in names {
        let model = observable(&folder, &format!("{name}_spec.fsm"));
        for (kind, expected) in [("red", ReductionVerdict::Pass), ("mut", ReductionVerdict::Fail)] {
            let system = observable(&folder, &format!("{name}_{kind}.fsm"));
            let system = Observable::check(align_names(model.names(), system.as_nfsm()).unwrap()).unwrap();
            let witness = product::reduction_witness(&model, &system);
            assert_eq!(witness.is_none(), expected == ReductionVerdict::Pass);
            for bound in [model.n_states(), model.n_states() + 1] {
                let plan = CountingPlan::new(&model, bound).unwrap();
                for variant in [CountingVariant::Refined, CountingVariant::PerResponse] {
                    let report = state_counting(&model, &mut PlayedMachine(&system), &plan, variant).unwrap();
                    assert_eq!(report.verdict(), expected, "{name} {kind} {bound}");
                }
                let report = on_demand_counting(&model, &mut PlayedMachine(&system), &plan).unwrap();
                assert_eq!(report.verdict(), expected, "{name} {kind} {bound} on demand");
            }
        }
    }
}
