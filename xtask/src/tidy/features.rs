//! Tests of one crate are built with the same features of the same packages as the tests of all.
//!
//! Else Cargo builds these packages, and all that depend on them, a second time, which takes minutes.
//! `crates/test-support` asks for what a crate alone would not have.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::layers;

/// Returns the packages that some crate alone has with other features than the whole workspace; nothing where Cargo
/// cannot tell, as without its packages at hand.
pub(super) fn check(root: &Path) -> Vec<String> {
    let Some(all) = packages(root, &["--workspace"]) else { return Vec::new() };
    let compare = |name: String| {
        let alone = packages(root, &["-p", &name])?;
        let others: Vec<&str> = alone.difference(&all).map(String::as_str).collect();
        (!others.is_empty()).then(|| {
            let others = others.join("; ");
            format!("crates/test-support/Cargo.toml: the tests of {name} alone have other features: {others}")
        })
    };
    let name_of = |folder: String| if folder == "ioxide" { folder } else { format!("ioxide-{folder}") };
    let crates = layers::crate_folders(root).into_iter().map(name_of);
    crates.chain(["xtask".to_owned()]).filter_map(compare).collect()
}

/// Returns the packages that the tests of the selected crates need, each with its features.
fn packages(root: &Path, selection: &[&str]) -> Option<BTreeSet<String>> {
    let output = Command::new("cargo")
        .current_dir(root)
        .args(["tree", "--offline", "--locked", "--quiet", "--edges", "normal,build,dev", "--prefix", "none"])
        .args(["--format", "{p} [{f}]"])
        .args(selection)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect())
}
