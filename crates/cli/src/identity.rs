//! The identity of the system that a command names; see [`ioxide_project::identity`].

use ioxide_campaign::part::SystemFacts;
use ioxide_campaign::plan::fingerprint;
use ioxide_model::source::Sources;
use ioxide_project::identity::{IdentityError, find_system_facts};
use ioxide_project::{Instances, PlayedName};
use ioxide_wire::adapter::SutSpec;

use crate::exit::{CliError, ExitStatus};
use crate::load;
use crate::project_file;

/// Returns the facts about the system that `sut` names, with the constants in `settings`; `None` for a model that is
/// played in this process, whose text is part of what results depend on anyway.
pub fn facts(sut: &str, settings: &[String]) -> Result<Option<SystemFacts>, CliError> {
    let source = project_file::find_system(sut)?;
    let described = source.describe(&Instances::default())?;
    if matches!(described.spec, SutSpec::Model(_)) {
        return Ok(None);
    }
    Ok(Some(find_system_facts(&source, &described, settings)?))
}

/// Returns the facts about any system; those of a played model are the texts of its files.
pub fn all_facts(sut: &str, settings: &[String]) -> Result<SystemFacts, CliError> {
    let source = project_file::find_system(sut)?;
    let described = source.describe(&Instances::default())?;
    let mut facts = find_system_facts(&source, &described, settings)?;
    if let SutSpec::Model(path) = &described.spec {
        let file = PlayedName::parse(path).file;
        let mut sources = Sources::new();
        if load::add_source(&mut sources, file).is_ok() {
            let texts = sources.iter().map(|file| file.text.as_bytes().to_vec());
            facts.insert(format!("file {file}"), fingerprint(texts));
        }
    }
    Ok(facts)
}

impl From<IdentityError> for CliError {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::Project(error) => error.into(),
            IdentityError::Version { .. } => Self::new(ExitStatus::Infrastructure, error.to_string())
                .help("it must print the version of the system and end with exit code 0"),
        }
    }
}
