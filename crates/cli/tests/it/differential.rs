//! A share of the differential suite: random models through the command line, against the checker in
//! `differential/checker.py`, which shares nothing with the engine. `cargo xtask differential` does more of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use ioxide_test_support::test_count;

fn checker() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/differential/checker.py")
}

/// Returns the output of the checker on `ioxide`, called with `options`, and its exit code; `None` where there is no
/// Python.
fn run_checker(ioxide: &str, options: &[&str]) -> Option<(String, Option<i32>)> {
    let mut command = Command::new("python3");
    let output = command.arg(checker()).arg(ioxide).args(["--seed", "1"]).args(options).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some((String::from_utf8_lossy(&text).into_owned(), output.status.code()))
}

#[test]
fn an_outside_checker_agrees() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let n_models = test_count("IOXIDE_MODELS", 2, 30).to_string();
    let (text, code) =
        run_checker(env!("CARGO_BIN_EXE_ioxide"), &["--models", &n_models]).expect("python3 runs");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(&format!("{n_models} rounds")) && text.contains(" 0 wrong"), "{text}");
}

/// The checker is no rubber stamp: an ioxide that lies is found out.
#[cfg(unix)]
#[test]
fn an_ioxide_that_lies_is_found_out() {
    let folder = tempfile::tempdir().expect("a folder");
    // Each with a round that asks for what the lie is about.
    let lies = [
        ("judged", r#"s/"verdict":"pass"/"verdict":"fail"/"#),
        (
            "conformed",
            r#"s/"conforms":true/"conforms":false,"trace":[]/; t; s/"conforms":false/"conforms":true/"#,
        ),
        ("killed", r#"s/"outcome":"killed"/"outcome":"equivalent"/"#),
        ("purposed", r#"s/"proof":true/"proof":true,"name":"t1"/"#),
    ];
    for (round, lie) in lies {
        let liar = folder.path().join(format!("liar_{round}"));
        let text = format!(
            "#!/bin/sh\n'{}' \"$@\" > '{path}.out'; code=$?\nsed '{lie}' '{path}.out'\nexit $code\n",
            env!("CARGO_BIN_EXE_ioxide"),
            path = liar.display()
        );
        ioxide_test_support::write_program(&liar, text);
        let options = ["--models", "3", "--only", round];
        let Some((text, code)) = run_checker(&liar.display().to_string(), &options) else { return };
        assert!(code == Some(1) && text.contains("DISAGREEMENT"), "{lie}: {text}");
    }
}
