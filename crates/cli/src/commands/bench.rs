//! `ioxide bench`: starts the measurements, which are a separate program.
//!
//! `ioxide-bench` is `ioxide` with its measurements in it, so the door hands it the whole command line: `bench` itself,
//! and `merge` and `campaign` where they are of measurements.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::time::Duration;

use ioxide_args::{BenchArgs, MergeArgs};
use ioxide_campaign::gather::GatheredParts;

use crate::exit::{CliError, ExitStatus};

/// The program that measures.
const PROGRAM: &str = "ioxide-bench";
/// The lead of this program over [`PROGRAM`] in build time beyond which the user is warned. Chosen by feel: one build
/// of both takes less.
const SAME_BUILD: Duration = Duration::from_secs(15 * 60);

/// The measurements of the project.
pub trait Benches: std::panic::RefUnwindSafe {
    /// Takes the wanted measurement, or shows its plan, or does a part of it.
    fn run(&self, args: &BenchArgs) -> Result<ExitStatus, CliError>;

    /// Puts the rows of a measurement together.
    fn merge_rows(
        &self,
        args: &BenchArgs,
        parts: &mut GatheredParts,
        merge_args: &MergeArgs,
    ) -> Result<ExitStatus, CliError>;
}

/// The program in which measurements are taken.
pub enum BenchHost<'a> {
    /// In this program.
    Here(&'a dyn Benches),
    /// In a program of their own, beside this one or in a checkout of the project.
    External,
}

impl<'a> BenchHost<'a> {
    /// Returns the measurements of this program; if they are in another one, that takes over and this program ends.
    pub fn enter(&self) -> Result<&'a dyn Benches, CliError> {
        match self {
            Self::Here(benches) => Ok(*benches),
            Self::External => Err(exec(next_door()?)),
        }
    }
}

/// The command that takes over: the program next to this one, or cargo where the project is available.
fn next_door() -> Result<Process, CliError> {
    let own = env::current_exe()
        .map_err(|error| CliError::usage(format!("cannot find the program ioxide: {error}")))?;
    let beside = own.with_file_name(format!("{PROGRAM}{}", env::consts::EXE_SUFFIX));
    let mut process = if beside.is_file() {
        warn_if_old(&own, &beside);
        Process::new(beside)
    } else {
        let root = checkout().ok_or_else(|| {
            CliError::usage(format!(
                "the measurements need the program `{PROGRAM}`, which is not in the \
                 folder of ioxide"
            ))
            .help(
                "in a checkout of ioxide, `cargo install --path crates/bench` puts it there; or call \
                 `ioxide bench` within the checkout",
            )
        })?;
        with_cargo(&root, &own)
    };
    process.args(env::args_os().skip(1));
    Ok(process)
}

/// Warns if the program of the measurements is of an older build, since its figures are not those of this one.
fn warn_if_old(own: &Path, beside: &Path) {
    let built = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let (Some(own), Some(other)) = (built(own), built(beside)) else { return };
    if own.duration_since(other).is_ok_and(|age| age > SAME_BUILD) {
        eprintln!("warning: `{PROGRAM}` is older than `ioxide` and measures an older version");
        eprintln!("  help: build it again: `cargo build --release -p {PROGRAM}`");
    }
}

/// Returns the checkout of ioxide that the current folder is in, if it is in one.
fn checkout() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let mut folders = here.ancestors();
    folders.find(|folder| folder.join("crates/bench/src/dispatch.rs").is_file()).map(Path::to_path_buf)
}

/// Returns a command in which cargo builds and runs the program, optimised unless this program is not.
fn with_cargo(root: &Path, own: &Path) -> Process {
    eprintln!("building `{PROGRAM}`, which measures ...");
    let mut cargo = Process::new("cargo");
    cargo.args(["run", "--quiet", "--package", PROGRAM, "--manifest-path"]).arg(root.join("Cargo.toml"));
    let is_debug = own.parent().is_some_and(|folder| folder.ends_with("debug"));
    if !is_debug {
        cargo.arg("--release");
    }
    cargo.arg("--");
    cargo
}

/// Gives this process to `next`; comes back only where that fails.
#[cfg(unix)]
fn exec(mut next: Process) -> CliError {
    use std::os::unix::process::CommandExt as _;
    not_started(&next.exec())
}

/// Waits for `next` and ends as it does; comes back only where it cannot be started.
#[cfg(not(unix))]
fn exec(mut next: Process) -> CliError {
    match next.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(ExitStatus::Internal as i32)),
        Err(error) => not_started(&error),
    }
}

fn not_started(error: &std::io::Error) -> CliError {
    CliError::usage(format!("`{PROGRAM}` cannot be started: {error}"))
        .help(format!("is cargo in the search path? `cargo build --release -p {PROGRAM}` builds it"))
}
