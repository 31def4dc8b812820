//! The corpus of planted faults: one folder each.

use std::fs;
use std::path::{Path, PathBuf};

use ioxide_model::sts::Model;

use crate::exit::{ExitStatus, Stop};
use crate::load;
use crate::system::System;

/// Where the corpus is.
const FOLDER: &str = "examples/faults";
/// Where systems in Python find the library they use.
const LIBRARY: &str = "sdk/python";

/// A fault, and the same system without it.
pub struct Fault {
    pub name: String,
    /// What kind of fault it is, as its system says.
    pub kind: String,
    pub spec: Model,
    pub faulty: System,
    pub correct: System,
}

/// All faults, by name; with `only` those whose name holds it.
pub fn read(only: Option<&str>) -> Result<Vec<Fault>, Stop> {
    let missing = |error| {
        Stop::new(ExitStatus::Nothing, format!("cannot read `{FOLDER}`: {error}"))
            .help("run this measurement at the root of the repository")
    };
    let entries = fs::read_dir(FOLDER).map_err(missing)?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.join("model.iox").is_file()).collect();
    folders.sort();
    let is_wanted = |path: &&PathBuf| only.is_none_or(|only| path.to_string_lossy().contains(only));
    let faults: Vec<Fault> =
        folders.iter().filter(is_wanted).map(|folder| fault(folder)).collect::<Result<_, _>>()?;
    match faults.is_empty() {
        true => Err(Stop::new(ExitStatus::Nothing, format!("there is no such fault in `{FOLDER}`"))),
        false => Ok(faults),
    }
}

fn fault(folder: &Path) -> Result<Fault, Stop> {
    let (_, spec) = load::model(&folder.join("model.iox").to_string_lossy(), &[])?;
    Ok(Fault {
        name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        kind: kind(folder),
        spec,
        faulty: system(folder, "fault")?,
        correct: system(folder, "correct")?,
    })
}

/// `NAME.iox` played here, or `NAME.py` as a process.
fn system(folder: &Path, name: &str) -> Result<System, Stop> {
    let (model, program) = (folder.join(format!("{name}.iox")), folder.join(format!("{name}.py")));
    match (model.is_file(), program.is_file()) {
        (true, _) => System::named(&format!("model:{}", model.display())),
        (false, true) => {
            System::named(&format!("stdio:env PYTHONPATH={LIBRARY} python3 {}", program.display()))
        }
        (false, false) => {
            Err(Stop::usage(format!("`{}` has neither `{name}.iox` nor `{name}.py`", folder.display())))
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
