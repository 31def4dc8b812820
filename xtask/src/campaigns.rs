//! Suites that run for minutes or hours: torture, the differential checker, and the corpora of the fuzzers.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::{fs, io};

/// The error of a campaign that cannot be run.
pub type Problem = Box<dyn std::error::Error>;

/// The minutes of torture without `--minutes` or `--hours`.
const MINUTES: f64 = 5.0;

/// Lets every write of every command crash or meet a full disk, then kills commands at random moments.
pub fn torture(root: &Path, options: &[&str]) -> Result<ExitCode, Problem> {
    let minutes = match options {
        [] => MINUTES,
        ["--minutes", n] => n.parse()?,
        ["--hours", n] => 60.0 * n.parse::<f64>()?,
        _ => return Err("torture takes `--minutes N` or `--hours N`".into()),
    };
    let mut command = cargo(root);
    command.args(["test", "--package", "ioxide-cli", "--test", "it", "torture::", "--", "--nocapture"]);
    command.env("IOXIDE_TORTURE_MINUTES", minutes.to_string());
    status(&mut command)
}

/// Sends large values from hostile systems, and prints the memory each of them took.
pub fn hostile(root: &Path) -> Result<ExitCode, Problem> {
    let mut command = cargo(root);
    command.args(["test", "--package", "ioxide-cli", "--test", "it", "hostile::values::"]);
    command.args(["--", "--nocapture", "--test-threads", "1"]).env("IOXIDE_HOSTILE_LARGE", "1");
    status(&mut command)
}

/// Compares verdicts on random models with those of the checker in Python.
pub fn differential(root: &Path, options: &[&str]) -> Result<ExitCode, Problem> {
    let built = cargo(root).args(["build", "--package", "ioxide-cli"]).status()?;
    if !built.success() {
        return Ok(ExitCode::FAILURE);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let mut command = Command::new("python3");
    command.arg(root.join("crates/cli/tests/it/differential/checker.py")).arg(target.join("debug/ioxide"));
    status(command.args(options))
}

/// The forms of models, in the order of `fuzz/src/targets.rs`: the first byte of a seed names one.
const FORMS: [&str; 10] = ["iox", "as", "xml", "xlia", "dot", "kiss2", "txt", "fsm", "txs", "system"];

/// The number of forms the first byte of a seed chooses from, by fuzz target; 0 if it chooses none.
const CHOICES: [(&str, u8); 9] = [
    ("record", 4),
    ("codec", 4),
    ("http_answer", 4),
    ("stream", 3),
    ("openapi", 0),
    ("http_request", 0),
    ("protocol", 0),
    ("project", 0),
    ("through", 0),
];

/// Writes the initial corpora of the fuzzers to `fuzz/corpus/TARGET/NAME`: the seeds in `fuzz/seeds`, and for `model`
/// also the models of the examples, the corpus and the book.
pub fn corpora(root: &Path) -> Result<ExitCode, Problem> {
    for (target, choices) in CHOICES {
        seeds(root, target, choices)?;
    }
    let mut files = Vec::new();
    for folder in ["fuzz/seeds/model", "examples", "corpus", "docs/book/src"] {
        collect(&root.join(folder), &mut files)?;
    }
    let folder = root.join("fuzz/corpus/model");
    fs::create_dir_all(&folder)?;
    let mut n = 0;
    for file in files {
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let Some(form) = FORMS.iter().position(|form| *form == ending) else { continue };
        let name = file.strip_prefix(root)?.display().to_string().replace(['/', '\\'], "-");
        let seed = [&[u8::try_from(form)?], &fs::read(&file)?[..]].concat();
        fs::write(folder.join(name), seed)?;
        n += 1;
    }
    println!("{n} seeds in fuzz/corpus/model, and those of fuzz/seeds for the other targets");
    Ok(ExitCode::SUCCESS)
}

/// Writes the seeds of a fuzz target to its corpus, one file for each form that the first byte chooses.
fn seeds(root: &Path, target: &str, choices: u8) -> Result<(), Problem> {
    let folder = root.join("fuzz/corpus").join(target);
    fs::create_dir_all(&folder)?;
    let mut files = Vec::new();
    collect(&root.join("fuzz/seeds").join(target), &mut files)?;
    for file in files {
        let (name, bytes) =
            (file.file_name().unwrap_or_default().to_string_lossy().into_owned(), fs::read(&file)?);
        match choices {
            0 => fs::write(folder.join(name), bytes)?,
            _ => (0..choices).try_for_each(|choice| {
                fs::write(folder.join(format!("{name}-{choice}")), [&[choice], &bytes[..]].concat())
            })?,
        }
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// Cargo in the folder of the repository.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    // What this cargo says of `xtask` would make the other one build what is built.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

fn status(command: &mut Command) -> Result<ExitCode, Problem> {
    Ok(if command.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
