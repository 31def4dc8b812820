//! The corpus of planted faults: one folder each.

use std::fs;
use std::path::{Path, PathBuf};

use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::load;
use ioxide_cli::system::SystemUnderTest;
use ioxide_model::sts::Model;
use ioxide_project::SpecSource;

/// The folders of the faults: those for tuning testers, those that need hundreds of equal steps, and those held out.
const FOLDERS: [(&str, FaultGroup); 3] = [
    ("examples/faults", FaultGroup::Corpus),
    ("examples/drift", FaultGroup::Drift),
    ("examples/held-out", FaultGroup::HeldOut),
];
/// The folder of the library that systems in Python use.
const LIBRARY: &str = "sdk/python";

/// The role of a fault in evaluating testers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultGroup {
    /// A fault to learn from: testers may have been improved with it in view.
    Corpus,
    /// A fault that shows only far from the start: a counter that overflows, a silence of minutes, a key used again.
    Drift,
    /// A held-out fault: it was not looked at while testers were changed.
    HeldOut,
}

impl FaultGroup {
    pub const ALL: [Self; 3] = [Self::Corpus, Self::Drift, Self::HeldOut];

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Corpus => "corpus",
            Self::Drift => "drift",
            Self::HeldOut => "held-out",
        }
    }
}

/// A fault, and the same system without it.
pub struct Fault {
    folder: PathBuf,
    pub name: String,
    pub group: FaultGroup,
    /// The kind of the fault, as its system describes it; may be empty.
    pub kind: String,
    pub spec: Model,
    pub faulty: SystemUnderTest,
    pub correct: SystemUnderTest,
}

impl Fault {
    /// Returns the paths of the files of the fault.
    pub fn files(&self) -> Vec<String> {
        let names = ["model.iox", "fault.iox", "fault.py", "correct.iox", "correct.py"];
        let paths = names.iter().map(|name| self.folder.join(name)).filter(|path| path.is_file());
        paths.map(|path| path.display().to_string()).collect()
    }
}

/// Returns all faults, by group and name; with `only` those whose path contains it.
pub fn read_faults(only: Option<&str>) -> Result<Vec<Fault>, CliError> {
    let mut faults = Vec::new();
    for (folder, group) in FOLDERS {
        for path in folders(folder)? {
            if only.is_none_or(|only| path.to_string_lossy().contains(only)) {
                faults.push(fault(&path, group)?);
            }
        }
    }
    if faults.is_empty() {
        Err(CliError::new(ExitStatus::Nothing, "there is no such fault"))
    } else {
        Ok(faults)
    }
}

/// Returns the folders below `folder` that hold a model.
fn folders(folder: &str) -> Result<Vec<PathBuf>, CliError> {
    let missing = |error| {
        CliError::new(ExitStatus::Nothing, format!("cannot read `{folder}`: {error}"))
            .help("run this measurement at the root of the repository")
    };
    let entries = fs::read_dir(folder).map_err(missing)?;
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.join("model.iox").is_file()).collect();
    found.sort();
    Ok(found)
}

/// Reads a fault from its folder: the model, the faulty system and its kind.
fn fault(folder: &Path, group: FaultGroup) -> Result<Fault, CliError> {
    let (_, spec) = load::load_model(&folder.join("model.iox").to_string_lossy(), &[])?;
    Ok(Fault {
        folder: folder.to_path_buf(),
        name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        group,
        kind: kind(folder),
        spec,
        faulty: system(folder, "fault")?,
        correct: system(folder, "correct")?,
    })
}

/// Returns `NAME.iox` as a system played here, or `NAME.py` as a process.
fn system(folder: &Path, name: &str) -> Result<SystemUnderTest, CliError> {
    let (model, program) = (folder.join(format!("{name}.iox")), folder.join(format!("{name}.py")));
    match (model.is_file(), program.is_file()) {
        (true, _) => SystemUnderTest::from_name(&format!("model:{}", model.display()), SpecSource::default()),
        (false, true) => SystemUnderTest::from_name(
            &format!("stdio:env PYTHONPATH={LIBRARY} python3 {}", program.display()),
            SpecSource::default(),
        ),
        (false, false) => {
            Err(CliError::usage(format!("`{}` has neither `{name}.iox` nor `{name}.py`", folder.display())))
        }
    }
}

/// Returns the text after "Kind of fault:" in the faulty system; empty if it has none.
fn kind(folder: &Path) -> String {
    let text = ["fault.iox", "fault.py"].iter().find_map(|name| fs::read_to_string(folder.join(name)).ok());
    let text = text.unwrap_or_default();
    let told = text.split("Kind of fault: ").nth(1).and_then(|rest| rest.lines().next());
    told.unwrap_or_default().trim_end_matches('.').to_owned()
}
