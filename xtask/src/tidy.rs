//! The house rules that a program can check: layers, features, effects at the rim, docs, length, width, names.

mod code;
mod commands;
mod docs;
mod features;
mod layers;
mod names;
mod rooms;
mod width;

use std::fs;
use std::path::{Path, PathBuf};

use self::code::shipped;
use self::names::NameRegister;

/// Ways to touch the world, allowed at the rim only.
const EFFECTS: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "Instant::now",
    "SystemTime",
    "println!",
    "eprintln!",
    "thread_rng",
    "rand::rng(",
];

/// Path prefixes of the code that may have effects: the rim, solver processes, the clock of `count.rs` that finds the
/// slowest query, and limits that are set in the environment.
const RIM: &[&str] = &[
    "crates/bench/",
    "crates/cli/",
    "crates/ioxide/",
    "crates/project/",
    "crates/run/",
    "crates/wire/",
    "crates/explorer/",
    "crates/stepper/",
    "crates/campaign/",
    "crates/test-support/",
    "crates/record/src/limits.rs",
    "crates/smt/src/z3",
    "crates/smt/src/smtlib/process",
    "crates/smt/src/layers/count.rs",
];

/// Crates of which no packages are made.
const NOT_PACKAGED: &[&str] = &["crates/bench/", "crates/test-support/", "xtask/"];

/// A file of source code is split before this many lines.
const MAX_LINES: usize = 1000;

/// Returns everything that is not in order, one line each.
pub fn check(root: &Path) -> Vec<String> {
    let mut complaints = layers::check(root);
    complaints.extend(features::check(root));
    complaints.extend(rooms::check(root));
    complaints.extend(width::check(root));
    complaints.extend(commands::check(root));
    let mut files = Vec::new();
    for folder in ["crates", "xtask"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let mut register = NameRegister::default();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        match fs::read_to_string(&file) {
            Ok(text) => {
                complaints.extend(source(&name, &text).into_iter().map(|c| format!("{name}: {c}")));
                if !is_test(&name) && !name.contains("/examples/") {
                    register.read(&name, &text);
                }
            }
            Err(error) => complaints.push(format!("{name}: cannot be read: {error}")),
        }
    }
    complaints.extend(names(root, &register));
    complaints
}

/// Returns the complaints about names: type names used twice, citations without a reference, glossary entries without a
/// type.
fn names(root: &Path, register: &NameRegister) -> Vec<String> {
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap_or_default();
    let mut complaints = register.doubles();
    complaints.extend(register.uncited(&read("docs/book/src/references.md")));
    complaints.extend(register.unknown_in_glossary(&read("ARCHITECTURE.md")));
    complaints
}

/// Returns whether a file holds tests or benchmarks only, judged by its path.
fn is_test(name: &str) -> bool {
    let folder = ["/tests/", "/benches/"].iter().any(|folder| name.contains(folder));
    folder || name.ends_with("tests.rs")
}

/// Returns the complaints about one file of source code.
fn source(name: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let is_test = is_test(name);
    if !is_test && !text.trim_start().starts_with("//!") {
        complaints
            .push("a module opens with `//!`: the thing, its definition, its source, its promise".into());
    }
    if is_test_program(name) {
        complaints.push("every crate has one test program: make it a module of `tests/it/main.rs`".into());
    }
    complaints.extend(docs::fragments(text));
    complaints.extend(docs::citations_read_as_links(text));
    let lines = text.lines().count();
    if lines > MAX_LINES {
        complaints.push(format!("{lines} lines: split it by idea"));
    }
    if !is_test && !NOT_PACKAGED.iter().any(|folder| name.starts_with(folder)) {
        let outside = shipped(text).map(|(_, line)| line).filter(|line| leaves_crate(name, line));
        complaints.extend(outside.map(|line| {
            format!("`{}` is outside of the crate, so a package of it does not build", line.trim())
        }));
    }
    if !is_test && !name.starts_with("xtask/") && !RIM.iter().any(|rim| name.starts_with(rim)) {
        let code: Vec<&str> =
            shipped(text).map(|(_, line)| line).filter(|line| !line.trim_start().starts_with("//")).collect();
        let found = EFFECTS.iter().filter(|effect| code.iter().any(|line| line.contains(**effect)));
        complaints.extend(
            found.map(|effect| format!("`{effect}` is for the rim only (cli, run, wire, solver processes)")),
        );
    }
    complaints
}

/// Returns whether cargo makes a test program of a file besides `tests/it`: each is linked with all of ioxide, which
/// takes seconds and a quarter of a gigabyte.
fn is_test_program(name: &str) -> bool {
    let folders: Vec<&str> = name.split('/').collect();
    match folders[..] {
        ["crates", _, "tests", _] => true,
        ["crates", _, "tests", folder, "main.rs"] => folder != "it",
        _ => false,
    }
}

/// Returns whether a line embeds a file by a path that leads out of the crate: more steps up than the file lies deep.
fn leaves_crate(name: &str, line: &str) -> bool {
    let embeds = ["include_str!", "include_bytes!", "concat!(\"../"].iter().any(|word| line.contains(word));
    // `crates/cli/src/main.rs` lies one folder deep in its crate.
    let depth = name.split('/').count().saturating_sub(3);
    embeds && line.matches("../").count() > depth
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let complaints = check(root);
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }

    /// Defect: `x` fetched any version of the solver wheel, unchecked, and wrote the library in place.
    #[test]
    fn the_solver_is_fetched_by_hash_and_renamed_into_place() {
        let door = include_str!("../../x");
        for kept in ["--require-hashes", "z3-solver==%s --hash=sha256:%s", "os.replace("] {
            assert!(door.contains(kept), "`x` has no `{kept}`");
        }
        assert_eq!(door.matches("pip download").count(), 1);
    }

    #[test]
    fn a_second_test_program_is_found() {
        let programs = ["crates/cli/tests/new.rs", "crates/cli/tests/new/main.rs"];
        assert!(programs.iter().all(|name| is_test_program(name)));
        let modules =
            ["crates/cli/tests/it/main.rs", "crates/cli/tests/it/new.rs", "crates/cli/src/tests.rs"];
        assert!(!modules.iter().any(|name| is_test_program(name)));
    }

    #[test]
    fn files_from_outside_a_crate_are_found() {
        let line = |up: &str| format!("//! Doc.\nconst A: &str = include_str!(\"{up}a.txt\");");
        assert_eq!(source("crates/cli/src/commands/x.rs", &line("../../")), Vec::<String>::new());
        assert_eq!(source("crates/cli/src/commands/x.rs", &line("../../../")).len(), 1);
    }

    #[test]
    fn effects_are_found_outside_the_rim_and_outside_tests() {
        let text = "//! Doc.\nfn f() { std::fs::read(\"x\"); }\n#[cfg(test)]\nmod tests { use std::env; }";
        assert_eq!(source("crates/symex/src/x.rs", text).len(), 1);
        assert_eq!(source("crates/cli/src/x.rs", text), Vec::<String>::new());
        assert_eq!(source("crates/symex/src/x.rs", "fn f() {}").len(), 1);
    }
}
