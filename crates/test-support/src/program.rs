//! Programs that tests need, and programs that tests make.
//!
//! A test without its program fails, unless `IOXIDE_SKIP` names the program: `./x test` installs what packages provide,
//! names what is missing, and says so.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns whether `program` is installed; if not, the test fails, unless `IOXIDE_SKIP` names it.
pub fn has_program(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok() || !is_skipped(program)
}

/// Returns true if `IOXIDE_SKIP` names what is missing, and fails the test otherwise.
///
/// # Panics
///
/// If `IOXIDE_SKIP` does not name `missing`.
#[track_caller]
pub fn is_skipped(missing: &str) -> bool {
    let skipped = env::var("IOXIDE_SKIP").unwrap_or_default();
    assert!(
        skipped.split(',').any(|it| it == missing),
        "there is no {missing}: install it, or name it in IOXIDE_SKIP to go without the tests that need it"
    );
    eprintln!("skipped: there is no {missing}");
    true
}

/// The environment in which tests start Python: it keeps compiled modules in the folder of cargo, not beside their
/// sources in the repository.
///
/// Tests start Python a thousand times. Without compiled modules each start translates the package of the adapters
/// again, and pytest rewrites all of Hypothesis, which takes a second.
pub fn python_cache() -> [(&'static str, OsString); 2] {
    // A test program is `target/debug/deps/NAME`.
    let program = env::current_exe().unwrap_or_default();
    let target = program.ancestors().nth(3).unwrap_or(Path::new("target"));
    // Python takes an empty variable for one that is not set.
    [("PYTHONPYCACHEPREFIX", target.join("pycache").into()), ("PYTHONDONTWRITEBYTECODE", OsString::new())]
}

/// Writes a program, a script or the bytes of one, that can be started at once.
///
/// Another process writes it. Had this process the file open for writing, a child that another test starts meanwhile
/// would have it open too until it is another program, and starting the file would fail (`ETXTBSY`).
///
/// # Panics
///
/// If it cannot be written.
pub fn write_program(path: &Path, bytes: impl AsRef<[u8]>) {
    let mut shell = Command::new("sh")
        .args(["-c", r#"cat >"$0" && chmod 755 "$0""#])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    shell.stdin.take().expect("a pipe").write_all(bytes.as_ref()).expect("the shell reads");
    assert!(shell.wait().expect("the shell ends").success(), "{} is not written", path.display());
}

/// Copies a program, so that the copy can be started at once; see [`write_program`].
///
/// # Panics
///
/// If it cannot be copied.
pub fn copy_program(from: &Path, to: &Path) {
    let status = Command::new("cp").arg(from).arg(to).status().expect("cp runs");
    assert!(status.success(), "{} is not copied", from.display());
}

#[cfg(all(test, unix))]
mod tests {
    use std::thread;

    use super::*;

    /// Defect: a program that a test had written was busy while another test started something.
    #[test]
    fn a_written_program_starts_while_others_start_programs() {
        let folder = env::temp_dir().join(format!("ioxide-programs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        thread::scope(|scope| {
            for thread in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for n in 0..25 {
                        let path = folder.join(format!("{thread}-{n}"));
                        write_program(&path, "#!/bin/sh\nexit 7\n");
                        let status = Command::new(&path).status().expect("it starts");
                        assert_eq!(status.code(), Some(7));
                    }
                });
            }
        });
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
