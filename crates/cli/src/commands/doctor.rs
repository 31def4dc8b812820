//! `ioxide doctor`: checks the setup and suggests fixes.

use std::io::{self, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::{env, fs};

use ioxide_args::DoctorArgs;
use ioxide_project::{FILE, Instances, Project, SystemSource};
use ioxide_smt::stack::{BackendChoice, Backing, SolverConfig, build_stack};
use serde_json::{Value as Json, json};

use crate::exit::{CliError, ExitStatus};
use crate::{identity, project_file, redaction};

/// The condition of something that ioxide uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DoctorHealth {
    /// It is available.
    Good,
    /// It is not available, and only some commands use it.
    Missing,
    /// It keeps ioxide from doing its main job.
    Bad,
}

impl DoctorHealth {
    /// Returns the first word of the line.
    fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Missing => "missing",
            Self::Bad => "bad",
        }
    }
}

/// The finding of `doctor` about one thing that ioxide uses.
struct DoctorFinding {
    name: &'static str,
    health: DoctorHealth,
    /// The finding in words.
    found: String,
    /// The commands or features that use it.
    purpose: &'static str,
    /// The command that mends it.
    fix: Option<String>,
}

/// Checks everything that ioxide uses and shows the findings.
pub fn run(args: &DoctorArgs) -> Result<ExitStatus, CliError> {
    let findings = vec![
        solver(),
        check_program(
            "z3",
            &["z3"],
            "--version",
            "`--solver 'z3 -in'`, and as a second opinion",
            "apt-get install z3",
        ),
        check_program(
            "python",
            &["python3", "python"],
            "--version",
            "adapters in Python",
            "apt-get install python3",
        ),
        browser(),
        check_program(
            "git",
            &["git"],
            "--version",
            "a new project from `ioxide init`",
            "apt-get install git",
        ),
        loopback(),
        temporary(),
        project_file(),
        records(&args.report),
    ];
    let is_well = findings.iter().all(|finding| finding.health != DoctorHealth::Bad);
    let mut out = redaction::stdout();
    if args.json {
        let checks: Vec<Json> = findings.iter().map(finding_json).collect();
        writeln!(out, "{}", json!({ "version": 1, "ok": is_well, "checks": checks }))?;
    } else {
        for finding in &findings {
            show_finding(&mut out, finding)?;
        }
        let bad = findings.iter().filter(|finding| finding.health == DoctorHealth::Bad).count();
        match bad {
            0 => writeln!(out, "\nioxide is ready to use")?,
            n => writeln!(out, "\n{n} to fix before ioxide is ready to use")?,
        }
    }
    Ok(if is_well { ExitStatus::Success } else { ExitStatus::Usage })
}

/// Shows a finding; what is missing is shown with its use and its remedy.
fn show_finding(out: &mut impl Write, finding: &DoctorFinding) -> io::Result<()> {
    writeln!(out, "{:<8} {:<12} {}", finding.health.word(), finding.name, finding.found)?;
    if finding.health != DoctorHealth::Good {
        writeln!(out, "{:21} for {}", "", finding.purpose)?;
        if let Some(fix) = &finding.fix {
            writeln!(out, "{:21} fix: {fix}", "")?;
        }
    }
    Ok(())
}

fn finding_json(finding: &DoctorFinding) -> Json {
    json!({
        "name": finding.name, "state": finding.health.word(), "found": finding.found, "for": finding.purpose,
        "fix": finding.fix,
        // The name that scripts of earlier versions read.
        "mend": finding.fix,
    })
}

/// libz3, as every command looks for it.
fn solver() -> DoctorFinding {
    let purpose = "guards that need reasoning; without it many answers are `unknown`";
    let solver = build_stack(&SolverConfig { backend: BackendChoice::Auto, ..SolverConfig::default() });
    let (health, found) = match solver.backing() {
        Backing::Z3(version) => (DoctorHealth::Good, format!("libz3 {version}")),
        Backing::Process(command) => (DoctorHealth::Good, command.join(" ")),
        Backing::None(why) => (DoctorHealth::Bad, why.clone()),
    };
    let fix = "apt-get install libz3-4, or set IOXIDE_Z3 to a libz3.so".to_owned();
    DoctorFinding { name: "solver", health, found, purpose, fix: Some(fix) }
}

/// The first of `names` that can be asked for its version.
fn check_program(
    name: &'static str,
    names: &[&str],
    question: &str,
    purpose: &'static str,
    fix: &str,
) -> DoctorFinding {
    let version = names.iter().find_map(|program| {
        let output =
            Command::new(program).arg(question).output().ok().filter(|output| output.status.success())?;
        let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
        String::from_utf8_lossy(&text).lines().next().map(|line| format!("{program}: {}", line.trim()))
    });
    let health = if version.is_some() { DoctorHealth::Good } else { DoctorHealth::Missing };
    let found = version.unwrap_or_else(|| format!("no `{}` on the search path", names.join("` or `")));
    DoctorFinding { name, health, found, purpose, fix: Some(fix.to_owned()) }
}

/// A browser is looked for, not started.
fn browser() -> DoctorFinding {
    let names = ["chromium", "google-chrome", "chrome", "firefox", "safari", "msedge"];
    let there = names.iter().find(|name| on_path(name));
    let (health, found) = match there {
        Some(name) => (DoctorHealth::Good, (*name).to_owned()),
        None => (DoctorHealth::Missing, "no browser on the search path".to_owned()),
    };
    let purpose = "`ioxide explore` and the HTML reports, here or on another machine";
    DoctorFinding {
        name: "browser",
        health,
        found,
        purpose,
        fix: Some("apt-get install chromium".to_owned()),
    }
}

fn on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Returns whether a port of 127.0.0.1 can be listened at.
fn loopback() -> DoctorFinding {
    let (health, found) = match TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()) {
        Ok(_) => (DoctorHealth::Good, "ioxide can listen on ports of 127.0.0.1".to_owned()),
        Err(error) => (DoctorHealth::Bad, format!("ioxide cannot listen on any port of 127.0.0.1: {error}")),
    };
    let purpose = "systems that are reached over TCP, and the explorer";
    DoctorFinding { name: "ports", health, found, purpose, fix: None }
}

/// Checks that files can be made in the folder for temporary files.
fn temporary() -> DoctorFinding {
    let folder = env::temp_dir();
    let (health, found) = match tempfile::tempfile() {
        Ok(_) => (DoctorHealth::Good, format!("`{}` can be written to", folder.display())),
        Err(error) => (DoctorHealth::Bad, format!("`{}` cannot be written to: {error}", folder.display())),
    };
    let fix = "set TMPDIR to a folder of yours".to_owned();
    DoctorFinding { name: "temporary", health, found, purpose: "temporary files", fix: Some(fix) }
}

fn project_file() -> DoctorFinding {
    let (health, found) = match project_file::open_project() {
        Ok(Some(project)) => match project.check() {
            Ok(()) => match broken_version(&project) {
                None => (DoctorHealth::Good, readable_text(&project)),
                Some(why) => (DoctorHealth::Bad, why),
            },
            Err(mistake) => {
                let help = mistake.help().map_or_else(String::new, |help| format!("; {help}"));
                (DoctorHealth::Bad, format!("{mistake}{help}"))
            }
        },
        Ok(None) => (DoctorHealth::Missing, format!("no `{FILE}` in this folder")),
        Err(error) => (DoctorHealth::Bad, error.to_string()),
    };
    let fix = (health == DoctorHealth::Missing).then(|| "ioxide init".to_owned());
    DoctorFinding { name: "project", health, found, purpose: "`--sut NAME`", fix }
}

/// Says that the project file can be read, with the first warning about a system in it.
fn readable_text(project: &Arc<Project>) -> String {
    let warnings =
        |name: &str| SystemSource::from_project(Arc::clone(project), name).warnings().unwrap_or_default();
    let first = project.names().into_iter().flat_map(warnings).next();
    let first = first.map_or_else(String::new, |warning| format!("; warning: {warning}"));
    format!("`{FILE}` can be read{first}")
}

/// Returns the problem with the first system whose version cannot be asked; `None` if all can.
fn broken_version(project: &Arc<Project>) -> Option<String> {
    let has_version = |name: &&str| {
        let described = SystemSource::from_project(Arc::clone(project), name).describe(&Instances::default());
        described.is_ok_and(|described| described.version.is_some())
    };
    let mut named = project.names().into_iter().filter(has_version);
    named.find_map(|name| identity::facts(name, &[]).err().map(|stop| stop.message().to_owned()))
}

/// Returns whether campaigns can be recorded in `folder`, and whether others can read them.
fn records(folder: &str) -> DoctorFinding {
    let path = Path::new(folder);
    let purpose = "`ioxide test --report`";
    let finding = |health, found, fix| DoctorFinding { name: "records", health, found, purpose, fix };
    if !path.exists() {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return match tempfile::tempfile_in(parent) {
            Ok(_) => finding(DoctorHealth::Good, format!("`{folder}` can be created"), None),
            Err(error) => {
                let found = format!("`{folder}` cannot be made: {error}");
                finding(DoctorHealth::Bad, found, Some("work in a folder that is yours".to_owned()))
            }
        };
    }
    match tempfile::tempfile_in(path) {
        Err(error) => {
            let fix = Some(format!("chmod u+rwx {folder}"));
            finding(DoctorHealth::Bad, format!("`{folder}` cannot be written to: {error}"), fix)
        }
        Ok(_) if is_readable_by_others(path) => {
            let found = format!("other users can read `{folder}`; records may contain what a system sent");
            finding(DoctorHealth::Missing, found, Some(format!("chmod go-rwx {folder}")))
        }
        Ok(_) => finding(DoctorHealth::Good, format!("`{folder}` can be written to, by you alone"), None),
    }
}

#[cfg(unix)]
fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_: &Path) -> bool {
    false
}
