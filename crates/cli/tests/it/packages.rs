//! Packages of the program, made by their scripts and used as installed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use ioxide_test_support::has_program;

use crate::program::{PROGRAM, root, text};

#[test]
fn the_debian_package_has_a_program_that_runs_and_its_pages() {
    if !has_program("dpkg-deb") || !has_program("objdump") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let made = Command::new("sh")
        .arg(root().join("ci/debian/package.sh"))
        .arg(PROGRAM)
        .arg(folder.path())
        .env("IOXIDE_DEB_COMPRESSION", "none")
        .output()
        .expect("a shell");
    assert!(made.status.success(), "{}", text(&made));
    let package = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    let about = Command::new("dpkg-deb").args(["--field", &package]).output().expect("dpkg-deb runs");
    assert!(
        text(&about).contains("Package: ioxide\n") && text(&about).contains("Depends: libc6 (>= "),
        "{about:?}"
    );
    let place = folder.path().join("installed");
    let unpacked =
        Command::new("dpkg-deb").args(["-x", &package]).arg(&place).output().expect("dpkg-deb runs");
    assert!(unpacked.status.success(), "{}", text(&unpacked));
    let version = Command::new(place.join("usr/bin/ioxide")).arg("--version").output().expect("it runs");
    assert!(text(&version).starts_with("ioxide "), "{version:?}");
    for file in ["man/man1/ioxide-test.1.gz", "bash-completion/completions/ioxide", "doc/ioxide/copyright"] {
        let size = fs::metadata(place.join("usr/share").join(file)).map(|it| it.len()).unwrap_or(0);
        assert!(size > 100, "{file} has {size} bytes");
    }
}

/// Runs a script of the repository.
fn run_script(script: &str, args: &[&str], root_of_release: Option<&Path>) -> Output {
    let mut command = Command::new("sh");
    command.arg(root().join(script)).args(args);
    root_of_release.map(|place| command.env("IOXIDE_RELEASE_ROOT", place));
    command.output().expect("a shell")
}

#[test]
fn the_checklist_finds_a_version_that_was_forgotten() {
    let real = run_script("ci/release/check.sh", &["versions"], None);
    assert!(real.status.success(), "{}", text(&real));
    let folder = tempfile::tempdir().expect("a folder");
    let named = [
        "Cargo.toml",
        "Cargo.lock",
        "CITATION.cff",
        "CHANGELOG.md",
        "sdk/python/pyproject.toml",
        "sdk/node/package.json",
        "web/package.json",
        "editors/vscode/package.json",
        "editors/tree-sitter-ioxide/package.json",
        "editors/tree-sitter-ioxide/tree-sitter.json",
    ];
    for file in named {
        let copy = folder.path().join(file);
        fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
        fs::copy(root().join(file), copy).expect("a copy");
    }
    let check = |step: &str| run_script("ci/release/check.sh", &[step], Some(folder.path()));
    let version = env!("CARGO_PKG_VERSION");
    for file in named.into_iter().filter(|file| *file != "CHANGELOG.md") {
        let kept = fs::read_to_string(folder.path().join(file)).expect("a file");
        fs::write(folder.path().join(file), kept.replacen(version, "9.9.9", 1)).expect("written");
        let found = check("versions");
        assert!(!found.status.success(), "{file}: {}", text(&found));
        // A new version in Cargo.toml is missing everywhere else.
        assert!(file == "Cargo.toml" || text(&found).contains(file), "{file}: {}", text(&found));
        fs::write(folder.path().join(file), kept).expect("written");
    }
    assert!(check("versions").status.success());
    assert!(!check("changelog").status.success(), "nothing is released yet");
    let released = format!("# Changelog\n\n## Unreleased\n\n## {version} - 2026-12-01\n\n- Everything.\n");
    fs::write(folder.path().join("CHANGELOG.md"), &released).expect("written");
    assert!(check("changelog").status.success());
    let more = released.replace("## Unreleased\n", "## Unreleased\n\n- More.\n");
    fs::write(folder.path().join("CHANGELOG.md"), more).expect("written");
    assert!(text(&check("changelog")).contains("unreleased changes"));
    assert!(text(&check("nothing")).contains("there is no step `nothing`"));
}

#[test]
fn the_formula_has_the_version_and_its_checksums() {
    let folder = tempfile::tempdir().expect("a folder");
    let sums = folder.path().join("SHA256SUMS");
    let line = |digit: &str, target: &str| format!("{}  ioxide-v1.2.3-{target}.tar.gz\n", digit.repeat(64));
    let all = [
        line("a", "x86_64-unknown-linux-gnu"),
        line("b", "aarch64-unknown-linux-gnu"),
        line("c", "aarch64-apple-darwin"),
    ];
    fs::write(&sums, all.concat()).expect("written");
    let write = || run_script("ci/homebrew/formula.sh", &["1.2.3", &sums.display().to_string()], None);
    let made = write();
    assert!(made.status.success(), "{}", text(&made));
    let formula = String::from_utf8_lossy(&made.stdout).into_owned();
    for digit in ["a", "b", "c"] {
        assert!(formula.contains(&format!("sha256 \"{}\"", digit.repeat(64))), "{formula}");
    }
    let url = "/releases/download/v1.2.3/ioxide-v1.2.3-aarch64-apple-darwin.tar.gz\"";
    assert!(formula.contains(url) && formula.contains("version \"1.2.3\""), "{formula}");
    let file = folder.path().join("ioxide.rb");
    fs::write(&file, &formula).expect("written");
    // Homebrew brings its own Ruby; elsewhere there may be none.
    if let Ok(checked) = Command::new("ruby").arg("-c").arg(&file).output() {
        assert!(checked.status.success(), "{}", text(&checked));
    }
    fs::write(&sums, all[..2].concat()).expect("written");
    let missing = write();
    assert!(
        !missing.status.success() && text(&missing).contains("aarch64-apple-darwin"),
        "{}",
        text(&missing)
    );
}

/// The program of the tests needs the C library, so it is not static.
#[test]
fn a_program_with_libraries_is_not_static() {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return;
    }
    let checked = run_script("ci/musl/check.sh", &[PROGRAM], None);
    assert!(!checked.status.success() && text(&checked).contains("libc.so"), "{}", text(&checked));
}

/// The commands of the README, each with the file that tries it, and how.
const WAYS_TO_INSTALL: [(&str, &str, &str); 6] = [
    ("cargo install --path crates/cli", ".github/workflows/ci.yml", "installed/bin/ioxide demo"),
    ("./x deb", "crates/cli/tests/it/packages.rs", "ci/debian/package.sh"),
    ("./x wheel", ".github/workflows/ci.yml", "sh sdk/wheel/check.sh"),
    ("./x musl", ".github/workflows/ci.yml", "sh ci/musl/check.sh"),
    ("docker build -t ioxide .", ".github/workflows/ci.yml", "docker run --rm ioxide doctor"),
    (
        "sh ci/homebrew/formula.sh VERSION SHA256SUMS",
        "crates/cli/tests/it/packages.rs",
        "ci/homebrew/formula.sh",
    ),
];

#[test]
fn every_way_to_install_is_tried() {
    let read = |file: &str| fs::read_to_string(root().join(file)).expect(file);
    let readme = read("README.md");
    let table = readme.split("| you want | command |").nth(1).and_then(|rest| rest.split("\n\n").next());
    let named: Vec<&str> =
        table.expect("a table").lines().filter_map(|line| line.rsplit('`').nth(1)).collect();
    assert_eq!(named, WAYS_TO_INSTALL.map(|(command, _, _)| command));
    for (command, file, part) in WAYS_TO_INSTALL {
        // The table above is in one of the files.
        let n_elsewhere = usize::from(file.ends_with("packages.rs"));
        assert!(read(file).matches(part).count() > n_elsewhere, "{file} does not try `{command}`");
    }
}
