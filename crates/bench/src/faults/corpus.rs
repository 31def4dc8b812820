//! The corpus of planted faults: one folder each.

use std::fs;
use std::path::{Path, PathBuf};

use ioxide_cli::exit::{EarlyStop, ExitStatus};
use ioxide_cli::load;
use ioxide_cli::system::SystemUnderTest;
use ioxide_model::sts::Model;

/// Where the faults are, and those no tester was tuned with.
const FOLDERS: [(&str, FaultGroup); 2] =
    [("examples/faults", FaultGroup::Corpus), ("examples/held-out", FaultGroup::HeldOut)];
/// Where systems in Python find the library they use.
const LIBRARY: &str = "sdk/python";

/// What a fault is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultGroup {
    /// To learn from: testers may have been improved with it in view.
    Corpus,
    /// To check that: nobody looked at it while a tester was changed.
    HeldOut,
}

impl FaultGroup {
    pub const ALL: [Self; 2] = [Self::Corpus, Self::HeldOut];

    pub fn name(self) -> &'static str {
        match self {
            Self::Corpus => "corpus",
            Self::HeldOut => "held-out",
        }
    }
}

/// A fault, and the same system without it.
pub struct Fault {
    folder: PathBuf,
    pub name: String,
    pub group: FaultGroup,
    /// What kind of fault it is, as its system says.
    pub kind: String,
    pub spec: Model,
    pub faulty: SystemUnderTest,
    pub correct: SystemUnderTest,
}

impl Fault {
    /// The files it is made of.
    pub fn files(&self) -> Vec<String> {
        let names = ["model.iox", "fault.iox", "fault.py", "correct.iox", "correct.py"];
        let paths = names.iter().map(|name| self.folder.join(name)).filter(|path| path.is_file());
        paths.map(|path| path.display().to_string()).collect()
    }
}

/// All faults, by group and name; with `only` those whose name holds it.
pub fn read(only: Option<&str>) -> Result<Vec<Fault>, EarlyStop> {
    let mut faults = Vec::new();
    for (folder, group) in FOLDERS {
        for path in folders(folder)? {
            if only.is_none_or(|only| path.to_string_lossy().contains(only)) {
                faults.push(fault(&path, group)?);
            }
        }
    }
    if faults.is_empty() {
        Err(EarlyStop::new(ExitStatus::Nothing, "there is no such fault"))
    } else {
        Ok(faults)
    }
}

/// The folders below `folder` that hold a model.
fn folders(folder: &str) -> Result<Vec<PathBuf>, EarlyStop> {
    let missing = |error| {
        EarlyStop::new(ExitStatus::Nothing, format!("cannot read `{folder}`: {error}"))
            .help("run this measurement at the root of the repository")
    };
    let entries = fs::read_dir(folder).map_err(missing)?;
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.join("model.iox").is_file()).collect();
    found.sort();
    Ok(found)
}

fn fault(folder: &Path, group: FaultGroup) -> Result<Fault, EarlyStop> {
    let (_, spec) = load::model(&folder.join("model.iox").to_string_lossy(), &[])?;
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

/// `NAME.iox` played here, or `NAME.py` as a process.
fn system(folder: &Path, name: &str) -> Result<SystemUnderTest, EarlyStop> {
    let (model, program) = (folder.join(format!("{name}.iox")), folder.join(format!("{name}.py")));
    match (model.is_file(), program.is_file()) {
        (true, _) => SystemUnderTest::named(&format!("model:{}", model.display())),
        (false, true) => {
            SystemUnderTest::named(&format!("stdio:env PYTHONPATH={LIBRARY} python3 {}", program.display()))
        }
        (false, false) => {
            Err(EarlyStop::usage(format!("`{}` has neither `{name}.iox` nor `{name}.py`", folder.display())))
        }
    }
}

/// What stands after "Kind of fault:" in the faulty system.
fn kind(folder: &Path) -> String {
    let text = ["fault.iox", "fault.py"].iter().find_map(|name| fs::read_to_string(folder.join(name)).ok());
    let text = text.unwrap_or_default();
    let told = text.split("Kind of fault: ").nth(1).and_then(|rest| rest.lines().next());
    told.unwrap_or_default().trim_end_matches('.').to_owned()
}
