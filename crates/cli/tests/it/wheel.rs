//! `x` takes the solver library from one wheel and no other, and puts it in place whole or not at all.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;
use std::path::Path;
use std::process::Command;

/// A `python3` whose `pip download` gives what lies at `$WHEEL`; everything else is done by the real one.
const PYTHON: &str = r#"#!/bin/sh
if [ "$1 $2 $3" = "-m pip download" ]; then
    while [ "$1" != -d ]; do shift; done
    exec cp "$WHEEL" "$2/z3_solver.whl"
fi
exec "$REAL" "$@"
"#;

/// The functions of `x` that fetch the library, with the hash `$HASH` if there is one.
const FETCH: &str = r#"
say() { :; }
eval "$(sed -n '/^z3_version=/,/^}/p; /^libz3_from_wheel() {/,/^}/p' "$X")"
[ -z "$HASH" ] || z3_hash() { echo "$HASH"; }
libz3_from_wheel
"#;

fn output(command: &mut Command) -> (String, Option<i32>) {
    let output = command.output().expect("it runs");
    (
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned(),
        output.status.code(),
    )
}

#[test]
fn only_the_pinned_wheel_is_taken() {
    let (real, _) = output(Command::new("sh").args(["-c", "command -v python3"]));
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("bin")).expect("a folder");
    fs::create_dir_all(at("cache/ioxide")).expect("a folder");
    ioxide_test_support::write_program(&at("bin/python3"), PYTHON);
    fs::write(at("cache/ioxide/libz3.so"), "the old library").expect("written");
    let made = "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr('z3/lib/libz3.so', 'the new library')";
    let (text, code) = output(Command::new(&real).args(["-c", made]).arg(at("wheel")));
    assert_eq!(code, Some(0), "{text}");
    let hash = "import sys, hashlib; print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())";
    let (hash, _) = output(Command::new(&real).args(["-c", hash]).arg(at("wheel")));
    let fetch = |hash: &str| {
        let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").expect("a path"));
        let x = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../x");
        let mut command = Command::new("sh");
        command.args(["-c", FETCH]).env("PATH", path).env("REAL", &real).env("X", x).env("HASH", hash);
        output(command.env("WHEEL", at("wheel")).env("XDG_CACHE_HOME", at("cache")))
    };
    let library = || fs::read_to_string(at("cache/ioxide/libz3.so")).expect("a library");
    let (text, code) = fetch("");
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("the wheel has the hash"), "{text}");
    assert_eq!(library(), "the old library");
    let (text, code) = fetch(&hash);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(library(), "the new library");
    let names = fs::read_dir(at("cache/ioxide")).expect("a folder").count();
    assert_eq!(names, 1, "something is left beside it");
}
