//! Commands in Markdown that would run no test and report success.
//!
//! `cargo test -p CRATE --lib` runs the unit tests of a library. Where the manifest says `test = false` there are none:
//! cargo runs 0 tests, and the measurement that the page promises to repeat is not made.

use std::fs;
use std::path::Path;

/// Returns a complaint for every command that tests the library of a crate without unit tests.
pub(super) fn check(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    super::width::collect(root, root, &mut files);
    let pages = files.into_iter().filter(|file| file.extension().is_some_and(|it| it == "md"));
    pages
        .flat_map(|page| {
            let name = page.strip_prefix(root).unwrap_or(&page).display().to_string();
            let text = fs::read_to_string(&page).unwrap_or_default();
            let found = empty_commands(&text, |package| has_unit_tests(root, package));
            found.into_iter().map(move |package| {
                format!("{name}: `-p {package} --lib` runs no test, since its library has `test = false`")
            })
        })
        .collect()
}

/// Returns the packages of `text` whose libraries are tested by a command, and have no unit tests.
fn empty_commands(text: &str, has_unit_tests: impl Fn(&str) -> bool) -> Vec<String> {
    tested_libraries(text).filter(|package| !has_unit_tests(package)).map(str::to_owned).collect()
}

/// Returns the packages of the commands `cargo test -p PACKAGE --lib` of `text`.
fn tested_libraries(text: &str) -> impl Iterator<Item = &str> {
    text.split("cargo test -p ").skip(1).filter_map(|rest| {
        let mut words = rest.split_whitespace();
        let package = words.next()?;
        (words.next()?.trim_end_matches(['`', ',', '.']) == "--lib").then_some(package)
    })
}

/// Returns whether cargo runs unit tests in the library of `package`; true for packages that are not found here.
fn has_unit_tests(root: &Path, package: &str) -> bool {
    let folder = package.strip_prefix("ioxide-").unwrap_or(package);
    let manifest = fs::read_to_string(root.join("crates").join(folder).join("Cargo.toml")).ok();
    let manifest = manifest.and_then(|text| text.parse::<toml::Table>().ok());
    let of_library = manifest.as_ref().and_then(|table| table.get("lib")?.get("test")?.as_bool());
    of_library.unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_runs_no_test_is_found() {
        let page = "`cargo test -p ioxide-fsm --lib counting`, `cargo test -p ioxide-run --lib x`, or\n\
                    `cargo test -p ioxide-smt --lib`, not `cargo test -p ioxide-fsm --test it counting::`";
        assert_eq!(empty_commands(page, |package| package == "ioxide-run"), ["ioxide-fsm", "ioxide-smt"]);
    }

    #[test]
    fn the_manifests_of_this_repository_are_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let packages = ["ioxide-fsm", "ioxide-run", "some-other-crate"];
        assert_eq!(packages.map(|package| has_unit_tests(root, package)), [false, true, true]);
    }
}
