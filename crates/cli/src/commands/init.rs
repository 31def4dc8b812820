//! `ioxide init`: creates a working project, which users change step by step into their own.
//!
//! A model of a login, a small system of the kind that is asked for (or played models), the project file and a
//! workflow for continuous integration. In a terminal, the kind is asked for if no option names it. The first test
//! passes; the system named `buggy` has a planted bug and fails.
//!
//! *Promises.* No file is overwritten: either all files are new, or none is written.

#[doc(hidden)]
pub mod learning;
mod openapi;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use ioxide_args::{InitArgs, StubArg};
use ioxide_campaign::whole_file::write_new;

use crate::exit::{CliError, ExitStatus};

/// A file of a new project.
struct ProjectTemplate {
    /// The path of the file within the project.
    path: &'static str,
    /// The content of the file in a few words.
    about: &'static str,
    /// The text of the file; `@REPOSITORY@` stands for the repository of ioxide.
    text: &'static str,
}

const MODEL: ProjectTemplate = ProjectTemplate {
    path: "login.iox",
    about: "the model: a login that locks after three wrong PINs",
    text: include_str!("../../templates/login.iox"),
};

const WORKFLOW: ProjectTemplate = ProjectTemplate {
    path: ".github/workflows/ioxide.yml",
    about: "a CI workflow that tests on every push",
    text: include_str!("../../templates/ci.yml"),
};

const PYTHON: &[ProjectTemplate] = &[
    ProjectTemplate {
        path: "adapter.py",
        about: "the program to test: a small login, and its connection to ioxide",
        text: include_str!("../../templates/python/adapter.py"),
    },
    ProjectTemplate {
        path: "ioxide.toml",
        about: "how to start them: `login`, and `buggy` with a bug",
        text: include_str!("../../templates/python/ioxide.toml"),
    },
];

const RUST: &[ProjectTemplate] = &[
    ProjectTemplate {
        path: "adapter/Cargo.toml",
        about: "a package without dependencies",
        text: include_str!("../../templates/rust/Cargo.toml.in"),
    },
    ProjectTemplate {
        path: "adapter/src/main.rs",
        about: "the program to test: a small login, and its connection to ioxide",
        text: include_str!("../../templates/rust/main.rs"),
    },
    ProjectTemplate {
        path: "adapter/.gitignore",
        about: "keeps build results out of git",
        text: include_str!("../../templates/rust/gitignore"),
    },
    ProjectTemplate {
        path: "ioxide.toml",
        about: "how to start them: `login`, and `buggy` with a bug",
        text: include_str!("../../templates/rust/ioxide.toml"),
    },
];

const NONE: &[ProjectTemplate] = &[
    ProjectTemplate {
        path: "buggy.iox",
        about: "a model of a login with a bug",
        text: include_str!("../../templates/none/buggy.iox"),
    },
    ProjectTemplate {
        path: "ioxide.toml",
        about: "the systems `login` and `buggy`, both simulated from models",
        text: include_str!("../../templates/none/ioxide.toml"),
    },
];

const HTTP: &[ProjectTemplate] = &[
    ProjectTemplate {
        path: "server.py",
        about: "the service to test: a small login over HTTP",
        text: include_str!("../../templates/http/server.py"),
    },
    ProjectTemplate {
        path: "ioxide.toml",
        about: "how to start it, its requests and answers: `login`, and `buggy` with a bug",
        text: include_str!("../../templates/http/ioxide.toml"),
    },
];

const LINE: &[ProjectTemplate] = &[
    ProjectTemplate {
        path: "server.py",
        about: "the server to test: a small login, one line for each message",
        text: include_str!("../../templates/line/server.py"),
    },
    ProjectTemplate {
        path: "ioxide.toml",
        about: "how to start it, and its lines: `login`, and `buggy` with a bug",
        text: include_str!("../../templates/line/ioxide.toml"),
    },
];

const BINARY: &[ProjectTemplate] = &[
    ProjectTemplate {
        path: "server.py",
        about: "the server to test: a small login with binary messages",
        text: include_str!("../../templates/binary/server.py"),
    },
    ProjectTemplate {
        path: "ioxide.toml",
        about: "how to start it, and its messages: `login`, and `buggy` with a bug",
        text: include_str!("../../templates/binary/ioxide.toml"),
    },
];

const NODE: &[ProjectTemplate] = &[
    ProjectTemplate {
        path: "adapter.mjs",
        about: "the program to test: a small login, and its connection to ioxide",
        text: include_str!("../../templates/node/adapter.mjs"),
    },
    ProjectTemplate {
        path: "ioxide.toml",
        about: "how to start them: `login`, and `buggy` with a bug",
        text: include_str!("../../templates/node/ioxide.toml"),
    },
];

/// Writes the files and says what to do next.
pub fn run(args: &InitArgs) -> Result<ExitStatus, CliError> {
    if let Some(file) = &args.openapi {
        return openapi::init_from_openapi(args, file);
    }
    let folder = Path::new(&args.dir);
    let kind = match args.adapter {
        Some(kind) => kind,
        None if io::stdin().is_terminal() && io::stderr().is_terminal() => ask_for_kind()?,
        None => StubArg::default(),
    };
    let files = files(kind);
    let paths: Vec<&str> = files.iter().map(|file| file.path).collect();
    refuse_to_overwrite(folder, &paths)?;
    for file in &files {
        write_template(folder, file)?;
    }
    print_next_steps(args, kind, &files, &mut io::stdout().lock())?;
    Ok(ExitStatus::Success)
}

/// Asks for the kind of the system until an answer is one; the end of the input is the default.
fn ask_for_kind() -> Result<StubArg, CliError> {
    let kinds = StubArg::value_variants();
    eprintln!("What do you want to test?");
    for (at, kind) in kinds.iter().enumerate() {
        let value = kind.to_possible_value();
        let (name, help) = value.iter().map(|it| (it.get_name(), it.get_help())).next().unwrap_or_default();
        eprintln!("  {}  {name:<8} {}", at + 1, help.map(ToString::to_string).unwrap_or_default());
    }
    loop {
        eprint!("number or name [python]: ");
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        let answer = line.trim();
        if answer.is_empty() {
            return Ok(StubArg::default());
        }
        let by_number = answer.parse::<usize>().ok().and_then(|number| kinds.get(number.checked_sub(1)?));
        match by_number.copied().or_else(|| StubArg::from_str(answer, true).ok()) {
            Some(kind) => return Ok(kind),
            None => eprintln!("`{answer}` is none of them"),
        }
    }
}

/// All files of a project with a system of this kind.
fn files(kind: StubArg) -> Vec<&'static ProjectTemplate> {
    let rest = match kind {
        StubArg::Http => HTTP,
        StubArg::Line => LINE,
        StubArg::Binary => BINARY,
        StubArg::Node => NODE,
        StubArg::Python => PYTHON,
        StubArg::Rust => RUST,
        StubArg::None => NONE,
    };
    [&MODEL].into_iter().chain(rest).chain([&WORKFLOW]).collect()
}

/// An error that names the files that are there already.
fn refuse_to_overwrite(folder: &Path, files: &[&str]) -> Result<(), CliError> {
    let there: Vec<String> = files
        .iter()
        .map(|file| folder.join(file))
        .filter(|path| path.symlink_metadata().is_ok())
        .map(|path| format!("`{}`", path.display()))
        .collect();
    if there.is_empty() {
        return Ok(());
    }
    let verb = if there.len() == 1 { "exists" } else { "exist" };
    Err(CliError::usage(format!("{} {verb} already; nothing was written", there.join(", ")))
        .help("name another directory, as in `ioxide init my-tests`"))
}

fn write_error(path: &Path, error: &io::Error) -> CliError {
    CliError::usage(format!("cannot write `{}`: {error}", path.display()))
        .help("name a directory that you may write to")
}

/// Writes a file of the template; one that exists is never overwritten.
fn write_template(folder: &Path, file: &ProjectTemplate) -> Result<(), CliError> {
    let path = folder.join(file.path);
    let parent: PathBuf = path.parent().map(Path::to_path_buf).unwrap_or_default();
    fs::create_dir_all(&parent).map_err(|error| write_error(&parent, &error))?;
    let text = file.text.replace("@REPOSITORY@", env!("CARGO_PKG_REPOSITORY"));
    // A file that came to be since the look above is refused.
    write_new(&path, text.as_bytes()).map_err(|error| write_error(&path, &error))
}

fn print_next_steps(
    args: &InitArgs,
    kind: StubArg,
    files: &[&ProjectTemplate],
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "created in `{}`:", args.dir)?;
    let width = files.iter().map(|file| file.path.len()).max().unwrap_or(0);
    for file in files {
        writeln!(out, "  {:width$}  {}", file.path, file.about)?;
    }
    writeln!(out, "next:")?;
    if args.dir != "." {
        writeln!(out, "  cd {}", args.dir)?;
    }
    let (place, thing) = match kind {
        StubArg::Http | StubArg::Line | StubArg::Binary => ("`ioxide.toml`", "the server"),
        StubArg::Node => ("`adapter.mjs`", "the class `Login`"),
        StubArg::Python => ("`adapter.py`", "the class `Login`"),
        StubArg::Rust => ("`adapter/src/main.rs`", "the struct `Login`"),
        StubArg::None => ("`ioxide.toml`", "the simulated system"),
    };
    writeln!(out, "  ioxide step login.iox                # step through the model by hand")?;
    writeln!(out, "  ioxide test                          # passes")?;
    writeln!(out, "  ioxide test --sut buggy              # finds the bug")?;
    writeln!(out, "then change the model, and replace {thing} in {place} by your own program")
}
