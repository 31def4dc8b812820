//! The search for `libz3`.

use std::env;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::api::Z3Library;

/// No `libz3` could be loaded.
#[derive(Debug, Error)]
#[error("no usable libz3 found ({})", failure_text(.tried))]
pub struct Z3NotFound {
    /// The candidates in the order tried, each with the reason why it cannot be used.
    pub tried: Vec<(PathBuf, libloading::Error)>,
}

fn failure_text(tried: &[(PathBuf, libloading::Error)]) -> String {
    let reason = |(path, error): &(PathBuf, libloading::Error)| format!("{}: {error}", path.display());
    tried.iter().map(reason).collect::<Vec<_>>().join("; ")
}

/// Returns the paths and names at which `libz3` is looked for, in order: next to the program, in the wheel `z3-solver`
/// of the Python environment of the program, in the cache of ioxide, then by the system. If `IOXIDE_Z3` is set, it is
/// the only candidate.
#[must_use]
pub fn library_candidates() -> Vec<PathBuf> {
    if let Some(chosen) = env::var_os("IOXIDE_Z3") {
        return vec![chosen.into()];
    }
    let beside = env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned));
    let wheels = beside.as_deref().map(wheel_folders).unwrap_or_default();
    let local = beside.into_iter().chain(wheels).chain(cache_dir());
    let local = local.map(|dir| dir.join(FILE)).filter(|path| path.exists());
    local.chain(SYSTEM.map(PathBuf::from)).collect()
}

/// Returns the folders in which the wheel `z3-solver` may have its library, if `bin` belongs to a Python environment.
pub fn wheel_folders(bin: &Path) -> Vec<PathBuf> {
    let Some(root) = bin.parent() else { return Vec::new() };
    let mut found = Vec::new();
    for lib in ["lib", "lib64", "Lib"].map(|name| root.join(name)) {
        let versions = lib.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        let is_python = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
        };
        let mut homes: Vec<PathBuf> = versions.filter(is_python).collect();
        homes.sort();
        homes.push(lib.clone());
        found.extend(homes.into_iter().flat_map(|home| {
            ["site-packages", "dist-packages"].map(|packages| home.join(packages).join("z3/lib"))
        }));
    }
    found
}

/// Loads the first candidate that works.
///
/// # Errors
/// If none does; the error names them with the reasons.
pub fn load_library() -> Result<Z3Library, Z3NotFound> {
    let mut tried = Vec::new();
    for path in library_candidates() {
        match Z3Library::open(&path) {
            Ok(library) => return Ok(library),
            Err(error) => tried.push((path, error)),
        }
    }
    Err(Z3NotFound { tried })
}

#[cfg(target_os = "macos")]
const FILE: &str = "libz3.dylib";
#[cfg(not(target_os = "macos"))]
const FILE: &str = "libz3.so";

#[cfg(target_os = "macos")]
const SYSTEM: [&str; 1] = ["libz3.dylib"];
#[cfg(not(target_os = "macos"))]
const SYSTEM: [&str; 2] = ["libz3.so.4", "libz3.so"];

/// `$XDG_CACHE_HOME/ioxide`, or `~/.cache/ioxide`.
fn cache_dir() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(base.join("ioxide"))
}
