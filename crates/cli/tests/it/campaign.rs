//! Campaigns in parts: merged parts are the bytes of one machine, whatever happened to workers and drivers.

mod driver;
mod equal;
mod ray;
mod rounds;
mod slurm;
mod whole;
mod wrong;

use std::fs;
use std::path::Path;
use std::process::Output;

pub use crate::program::{command as program, root};

/// The output of a command.
pub struct Told {
    /// On stdout.
    pub out: String,
    /// On stderr.
    pub err: String,
    /// Its exit code.
    pub code: Option<i32>,
}

/// Runs the program.
pub fn ioxide(args: &[&str]) -> Told {
    let Output { stdout, stderr, status } = program(args).output().expect("the program runs");
    Told {
        out: String::from_utf8_lossy(&stdout).into_owned(),
        err: String::from_utf8_lossy(&stderr).into_owned(),
        code: status.code(),
    }
}

/// Does `args` in `n` parts below `dir`.
#[track_caller]
pub fn in_parts(args: &[&str], n: usize, dir: &Path) {
    for k in 1..=n {
        let (partition, part) = (format!("{k}/{n}"), dir.join(k.to_string()));
        let more = ["--partition", &partition, "--part", path(&part)];
        let told = ioxide(&[args, &more].concat());
        assert!(matches!(told.code, Some(0 | 1)), "{args:?} {k}/{n}: {:?} {}", told.code, told.err);
    }
}

/// Merges the parts in `dir`.
pub fn merge(dir: &Path, out: &Path, more: &[&str]) -> Told {
    ioxide(&[&["merge", path(dir), "--out", path(out)], more].concat())
}

/// A path as text.
pub fn path(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

/// The text of a file.
#[track_caller]
pub fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A campaign with failures of several kinds, on a system that chooses.
pub const CHOOSING: [&str; 11] = [
    "test",
    "examples/brp/spec.iox",
    "--sut",
    "model:examples/brp/m3.iox",
    "--tester",
    "random",
    "--runs",
    "20",
    "--seed",
    "1",
    "--keep-going",
];
