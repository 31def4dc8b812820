//! Services that others wrote and published, unchanged: tested from their descriptions in two commands. Correct ones
//! pass, and a fault in one field, planted by a proxy, is found. With `IOXIDE_SERVICES=1`, since they are fetched from
//! PyPI and npm.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The source package of FastAPI has the services of its tutorial in it.
const FASTAPI: &str = "fastapi==0.115.12";
/// The libraries that the services need to run.
const LIBRARIES: [&str; 6] = [
    FASTAPI,
    "uvicorn==0.34.0",
    "starlette==0.46.1",
    "pydantic==2.11.1",
    "anyio==4.9.0",
    "email-validator==2.2.0",
];
/// A server that answers as a description says.
const PRISM: &str = "@stoplight/prism-cli@5.14.2";

/// Returns whether `IOXIDE_SERVICES` asks for the services to be fetched.
fn is_wanted() -> bool {
    let is_wanted = std::env::var_os("IOXIDE_SERVICES").is_some();
    if !is_wanted {
        eprintln!("skipped: IOXIDE_SERVICES is not set");
    }
    is_wanted
}

fn output(command: &mut Command) -> (String, Option<i32>) {
    let Output { stdout, stderr, status } = command.output().expect("the program runs");
    (String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr), status.code())
}

#[track_caller]
fn done(command: &mut Command) {
    let (text, code) = output(command);
    assert_eq!(code, Some(0), "{command:?}: {text}");
}

/// A folder that is kept between runs; `fill` makes what is in it, whole or not at all.
fn kept(name: &str, fill: impl FnOnce(&Path)) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if !place.join("complete").exists() {
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).expect("a folder");
        fill(&place);
        fs::write(place.join("complete"), "").expect("written");
    }
    place
}

/// The two commands, with `init` as it is given; what the second one says.
fn tested(init: &[&str], steps: &str) -> (String, Option<i32>) {
    let folder = TempDir::new().expect("a folder");
    let ioxide = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
        command.current_dir(folder.path()).env("NO_COLOR", "1").env("IOXIDE_PROGRESS", "off");
        command
    };
    done(ioxide().arg("init").args(init));
    done(ioxide().args(["check", "--deny-warnings", "api.iox"]));
    output(ioxide().args(["test", "api.iox", "--sut", "api", "--seed", "1", "--steps", steps]))
}

/// `command` behind a proxy that spoils a member of its answers.
fn spoiling(member: &str, command: &str) -> String {
    let proxy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/services/spoil.py");
    format!("exec python3 {} {{port}} {member} '{}'", proxy.display(), command.replace("{port}", "@PORT@"))
}

/// Returns the command that starts a service of FastAPI's tutorial.
fn tutorial(module: &str) -> String {
    let place = kept("services-pypi", |place| {
        let pip = place.join("venv/bin/pip");
        done(Command::new("python3").args(["-m", "venv"]).arg(place.join("venv")));
        done(Command::new(&pip).args(["install", "--quiet"]).args(LIBRARIES));
        let source = ["download", "--quiet", "--no-deps", "--no-binary", "fastapi", FASTAPI, "-d"];
        done(Command::new(&pip).args(source).arg(place));
        let unpack = "tar xzf fastapi-*.tar.gz --strip-components=1 --wildcards 'fastapi-*/docs_src'";
        done(Command::new("sh").args(["-c", unpack]).current_dir(place));
    });
    let (python, place) = (place.join("venv/bin/python"), place.display());
    format!(
        "{} -m uvicorn --app-dir {place} --host 127.0.0.1 --port {{port}} --log-level warning {module}:app",
        python.display()
    )
}

#[test]
fn services_from_pypi() {
    if !is_wanted() {
        return;
    }
    let description = "http://127.0.0.1:{port}/openapi.json";
    for (module, member) in [
        ("docs_src.response_model.tutorial001_py310", "price"),
        ("docs_src.dataclasses.tutorial003", "name"),
        ("docs_src.extra_models.tutorial001_py310", "username"),
    ] {
        let service = tutorial(module);
        let start = format!("exec {service}");
        let (text, code) = tested(&["--openapi", description, "--start", &start], "200");
        assert_eq!(code, Some(0), "{module}: {text}");
        let start = spoiling(member, &service);
        let (text, code) = tested(&["--openapi", description, "--start", &start], "200");
        assert_eq!(code, Some(1), "{module}: {text}");
        assert!(text.contains(member), "{module}: {text}");
    }
}

#[test]
fn a_service_from_npm() {
    if !is_wanted() {
        return;
    }
    let place = kept("services-npm", |place| {
        let install = ["install", "--no-audit", "--no-fund", "--silent", "--prefix", ".", PRISM];
        done(Command::new("npm").args(install).current_dir(place));
    });
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/openapi/library.yaml");
    let library = library.canonicalize().expect("the example").display().to_string();
    let program = place.join("node_modules/@stoplight/prism-cli/dist/index.js");
    let service = format!("node {} mock --dynamic --port {{port}} {library}", program.display());
    let test = |start: &str| {
        tested(&["--openapi", &library, "--url", "http://127.0.0.1:{port}", "--start", start], "200")
    };
    let (text, code) = test(&format!("exec {service}"));
    assert_eq!(code, Some(0), "{text}");
    let (text, code) = test(&spoiling("year", &service));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("year"), "{text}");
}
