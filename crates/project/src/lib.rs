//! The project file `ioxide.toml`: systems by name, and how they are started.
//!
//! It is looked for in the current directory, read once and parsed once: a [`Project`]. A [`SystemSource`] is one of
//! its systems, or one that was typed. [`SystemSource::describe`] gives its settings;
//! [`SystemSource::describe_instance`] is for starting it: `{port}` in a text stands for a port of this machine that is
//! free then, `{instance}` for the number of one of several systems side by side. Every instance has a port of its own.
//!
//! *Promises.* Every mistake is reported with file, line and key; an unknown key is one. Whoever reads a setting takes
//! no port and starts nothing.
//!
//! # Example
//!
//! ```
//! use ioxide_project::{Instances, Project, SystemSource};
//!
//! let text = "[sut.shop]\nkind = \"tcp\"\naddress = \"127.0.0.1:{port}\"\nstart = \"serve {port}\"\nlatency_ms = 20";
//! let project = Project::parse(text)?;
//! assert_eq!(project.names(), ["shop"]);
//! let shop = SystemSource::from_project(project.into(), "shop");
//! let latency = shop.describe(&Instances::default())?.latency;
//! assert_eq!(latency.map(|time| time.as_millis()), Some(20));
//! # Ok::<(), ioxide_project::ProjectError>(())
//! ```

mod clients;
pub mod connect;
mod connections;
mod error;
mod framing;
mod history;
pub mod identity;
mod played;
pub mod port;
mod protocol;
mod quiescence;
mod reset;
mod secrets;
mod suites;
mod system;
mod table;
mod tls;
mod token;
mod unsolicited;

use std::sync::Arc;
use std::{fs, io};

use ioxide_history::read::HistoryMapping;
use ioxide_wire::adapter::{BadSpec, SutSpec};

pub use self::connections::{ConnectedSystem, Instances, part_text};
pub use self::error::ProjectError;
pub use self::played::{PlayedName, SpecSource};
pub use self::protocol::ProtocolConfig;
pub use self::quiescence::{ModelTimes, QuiescenceTimes};
pub use self::suites::{SUITE_OPTIONS, TestSuite};
pub use self::system::{DescribedSystem, system_keys};
use self::system::{NO_PORT, Variables, describe_system, warnings};
use self::table::{ProjectNode, ProjectTable};

/// The name of the project file.
pub const FILE: &str = "ioxide.toml";

/// The variable in texts of the project file that stands for a free port.
const PORT: &str = "{port}";

/// A project file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    text: String,
    root: ProjectNode,
}

impl Project {
    /// Reads the project file of the current directory; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is no TOML.
    pub fn read() -> Result<Option<Self>, ProjectError> {
        match fs::read_to_string(FILE) {
            Ok(text) => Self::parse(text).map(Some),
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(reason) => Err(ProjectError::new(format!("cannot read `{FILE}`: {reason}"))),
        }
    }

    /// Parses the text of a project file.
    ///
    /// # Errors
    /// If it is no TOML.
    pub fn parse(text: impl Into<String>) -> Result<Self, ProjectError> {
        let text = text.into();
        let root = ProjectNode::parse(&text)?;
        Ok(Self { text, root })
    }

    /// Returns the names of the systems, in the order of the file; none if the file is not in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.systems().ok().flatten().map(|systems| systems.keys()).unwrap_or_default()
    }

    /// Returns the messages that operations in histories of other tools stand for, from the table `[history]`.
    ///
    /// # Errors
    /// If the table has a mistake.
    pub fn history_mapping(&self) -> Result<HistoryMapping, ProjectError> {
        history::read_mapping(&self.top()?)
    }

    /// Returns the campaigns of the tables `[project]` and `[suite.NAME]`.
    ///
    /// # Errors
    /// If a table has a mistake.
    pub fn suites(&self) -> Result<Vec<TestSuite>, ProjectError> {
        suites::read_suites(&self.top()?)
    }

    /// Checks the description of every system, the suites, and the table `[history]`.
    ///
    /// # Errors
    /// Returns the first mistake, with its place.
    pub fn check(&self) -> Result<(), ProjectError> {
        self.history_mapping()?;
        self.suites()?;
        let Some(systems) = self.systems()? else { return Ok(()) };
        for name in systems.keys() {
            if let Some(system) = systems.table(name)? {
                describe_system(&system, &Variables::unset(), &Instances::default())?;
            }
        }
        Ok(())
    }

    /// Returns the keys of the system called `name` with their values as texts; values of headers and variables that
    /// are secret are left out.
    ///
    /// # Errors
    /// If there is no such system.
    pub fn render_system(&self, name: &str) -> Result<Vec<(String, String)>, ProjectError> {
        let system = self.system(name)?;
        let named = system.words("secrets")?;
        let is_hidden = |key: &str| {
            ioxide_wire::codec::http::is_secret(key) || named.iter().any(|it| it.eq_ignore_ascii_case(key))
        };
        Ok(system.render_keys(&is_hidden))
    }

    /// Returns the table of all systems; `None` if there is none.
    fn systems(&self) -> Result<Option<ProjectTable<'_>>, ProjectError> {
        self.top()?.table("sut")
    }

    /// Returns the whole file as a table, whose keys are known.
    fn top(&self) -> Result<ProjectTable<'_>, ProjectError> {
        let top = ProjectTable::new(&self.text, &self.root);
        top.reject_unknown_keys(&["project", "suite", "sut", "history"])?;
        Ok(top)
    }

    /// Returns the table of the system called `name`.
    fn system(&self, name: &str) -> Result<ProjectTable<'_>, ProjectError> {
        let systems = self.systems()?;
        let names = systems.as_ref().map(ProjectTable::keys).unwrap_or_default();
        systems.as_ref().map_or(Ok(None), |systems| systems.table(name))?.ok_or_else(|| {
            let error = ProjectError::new(format!("`{FILE}` has no system `{name}`"));
            if names.is_empty() {
                error.with_help(format!("describe it in a table `[sut.{name}]`"))
            } else {
                error.with_nearest(name, &names)
            }
        })
    }
}

/// The source of the description of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemSource {
    /// The command line: `kind:...`.
    Typed(SutSpec),
    /// The project file.
    Project {
        /// The project file.
        project: Arc<Project>,
        /// The name of the system.
        name: String,
    },
}

impl SystemSource {
    /// Returns the system that `text` is: `kind:...`, or a name in the project file, which `open` gives if it is
    /// needed.
    ///
    /// # Errors
    /// If `text` is neither, or `open` fails.
    pub fn find<E: From<ProjectError>>(
        text: &str,
        open: impl FnOnce() -> Result<Option<Arc<Project>>, E>,
    ) -> Result<Self, E> {
        match text.parse() {
            Ok(spec) => Ok(Self::Typed(spec)),
            Err(error @ BadSpec::NoKind(_)) => match open()? {
                Some(project) => Ok(Self::from_project(project, text)),
                None => Err(ProjectError::new(format!("--sut: {error}"))
                    .with_help(format!(
                        "there is no `{FILE}` in this folder, which could give the system a name"
                    ))
                    .into()),
            },
            Err(error) => Err(ProjectError::new(format!("--sut: {error}")).into()),
        }
    }

    /// Returns the system called `name` in `project`.
    #[must_use]
    pub fn from_project(project: Arc<Project>, name: &str) -> Self {
        Self::Project { project, name: name.to_owned() }
    }

    /// Returns the description of the system, for its settings: no port is taken. `parts` are those of the model, for
    /// connections of parts.
    ///
    /// # Errors
    /// If the description has a mistake.
    pub fn describe(&self, parts: &Instances) -> Result<DescribedSystem, ProjectError> {
        self.describe_with(&Variables::unset(), parts)
    }

    /// Returns the description for starting one of several instances, with a port that no other one was given.
    ///
    /// # Errors
    /// If the description has a mistake, or there is no free port.
    pub fn describe_instance(
        &self,
        instance: usize,
        parts: &Instances,
    ) -> Result<DescribedSystem, ProjectError> {
        let port = match self {
            Self::Project { project, .. } if project.text.contains(PORT) => port::take()?,
            _ => NO_PORT,
        };
        self.describe_with(&Variables { port, instance }, parts)
    }

    fn describe_with(
        &self,
        variables: &Variables,
        parts: &Instances,
    ) -> Result<DescribedSystem, ProjectError> {
        match self {
            Self::Typed(spec) => Ok(DescribedSystem::from_typed(spec.clone())),
            Self::Project { project, name } => describe_system(&project.system(name)?, variables, parts),
        }
    }

    /// Returns remarks on the description that may point to mistakes.
    ///
    /// # Errors
    /// If the description has a mistake.
    pub fn warnings(&self) -> Result<Vec<String>, ProjectError> {
        match self {
            Self::Typed(_) => Ok(Vec::new()),
            Self::Project { project, name } => warnings(&project.system(name)?, &Variables::unset()),
        }
    }
}

#[cfg(test)]
mod tests;
