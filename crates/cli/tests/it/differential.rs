//! A share of the differential suite: random models through the command line, against the checker in
//! `differential/checker.py`, which shares nothing with the engine. `cargo xtask differential` does more of it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn checker() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/differential/checker.py")
}

/// Returns the output of the checker on `ioxide` and its exit code; `None` where there is no Python.
fn checked(ioxide: &str, models: &str, seed: &str) -> Option<(String, Option<i32>)> {
    let mut command = Command::new("python3");
    let output = command.arg(checker()).args([ioxide, "--models", models, "--seed", seed]).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some((String::from_utf8_lossy(&text).into_owned(), output.status.code()))
}

#[test]
fn an_outside_checker_agrees() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let (text, code) = checked(env!("CARGO_BIN_EXE_ioxide"), "6", "1").expect("python3 runs");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("6 rounds") && text.contains(" 0 wrong"), "{text}");
}

/// The checker is no rubber stamp: an ioxide that lies is found out.
#[cfg(unix)]
#[test]
fn an_ioxide_that_lies_is_found_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let lies = [
        r#"s/"verdict":"pass"/"verdict":"fail"/"#,
        r#"s/"conforms":true/"conforms":false,"trace":[]/; t; s/"conforms":false/"conforms":true/"#,
        r#"s/"outcome":"killed"/"outcome":"equivalent"/"#,
        r#"s/"proof":true/"proof":true,"name":"t1"/"#,
    ];
    for (at, lie) in lies.iter().enumerate() {
        let liar = folder.path().join(format!("liar{at}"));
        let text = format!(
            "#!/bin/sh\n'{}' \"$@\" > '{path}.out'; code=$?\nsed '{lie}' '{path}.out'\nexit $code\n",
            env!("CARGO_BIN_EXE_ioxide"),
            path = liar.display()
        );
        ioxide_test_support::write_program(&liar, text);
        let Some((text, code)) = checked(&liar.display().to_string(), "3", "1") else { return };
        assert!(code == Some(1) && text.contains("DISAGREEMENT"), "{lie}: {text}");
    }
}
