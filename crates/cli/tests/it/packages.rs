//! Packages of the program, made by their scripts and used as installed.

use std::fs;
use std::process::Command;

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
