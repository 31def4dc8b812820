//! Where `libz3` is looked for.

use std::env;
use std::path::{Path, PathBuf};

use super::api::Library;

/// The names a `libz3` may have, most wanted first: the environment's choice, beside the
/// program, the cache of ioxide, then whatever the system finds.
#[must_use]
pub fn candidates() -> Vec<PathBuf> {
    if let Some(chosen) = env::var_os("IOXIDE_Z3") {
        return vec![chosen.into()];
    }
    let beside = env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned));
    let local = beside.into_iter().chain(cache_dir()).map(|dir| dir.join(FILE)).filter(|path| path.exists());
    local.chain(SYSTEM.map(PathBuf::from)).collect()
}

/// Loads the first candidate that works.
///
/// # Errors
/// If none does; the text names them with the reasons.
pub fn load() -> Result<Library, String> {
    let mut reasons = Vec::new();
    for path in candidates() {
        match Library::open(&path) {
            Ok(library) => return Ok(library),
            Err(reason) => reasons.push(format!("{}: {reason}", path.display())),
        }
    }
    Err(format!("no usable libz3 found ({})", reasons.join("; ")))
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
