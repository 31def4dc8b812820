//! The project file of this command: read once, however many settings are asked for.

use std::sync::{Arc, Mutex, PoisonError};

use ioxide_project::{Project, ProjectError, SystemSource};

use crate::exit::CliError;

/// The project file, once it was read. A command is a process, so a file that is changed meanwhile is for the next one.
static PROJECT: Mutex<Option<Arc<Project>>> = Mutex::new(None);

/// Returns the project file of the current directory; `None` if there is none.
pub fn open_project() -> Result<Option<Arc<Project>>, ProjectError> {
    let mut known = PROJECT.lock().unwrap_or_else(PoisonError::into_inner);
    if known.is_none() {
        *known = Project::read()?.map(Arc::new);
    }
    Ok(known.clone())
}

/// Returns the system that `text` is: `kind:...`, or a name in the project file.
pub fn find_system(text: &str) -> Result<SystemSource, CliError> {
    Ok(SystemSource::find(text, open_project)?)
}
