//! `ioxide watch`: checks models again whenever they are saved, and tests again if a system is named.
//!
//! Files are looked at five times a second: what they are made of (size and time of the last change) tells whether they
//! changed. That works on every file system, also those of containers and of other machines, and needs nothing
//! installed. A round that is overtaken by a change is ended, and the next begins.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, SystemTime};

use ioxide_args::WatchArgs;
use ioxide_model::source::Sources;

use crate::counted::count_noun;
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::{self, STOP};
use crate::load;

/// The interval at which files are looked at; files that are the same twice in a row are taken as saved. Chosen by
/// feel: below what a user notices, and rare enough to use no noticeable time.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The time of the last change of a file and its size in bytes; `None` if it is not there.
type FileStamp = Option<(SystemTime, u64)>;

/// Checks and tests until Ctrl-C, or for `--rounds` rounds.
pub fn run(args: &WatchArgs) -> Result<ExitStatus, CliError> {
    if args.rounds == Some(0) {
        return Err(CliError::new(ExitStatus::Nothing, "nothing to run: `--rounds` must be above 0"));
    }
    interrupt::catch_interrupts();
    // A file that cannot be read now is a mistake; one that goes away later may come back.
    let files = args.files.iter().flat_map(|file| load::files_of(file));
    files.into_iter().try_for_each(|file| load::read_model(file).map(drop))?;
    let program = std::env::current_exe()
        .map_err(|error| CliError::usage(format!("cannot find this program: {error}")))?;
    let mut watcher = FileWatcher { args, program, seen: BTreeMap::new() };
    watcher.seen = watcher.looks();
    let mut status = ExitStatus::Success;
    for round in 1.. {
        if let Some(ended) = watcher.round()? {
            status = ended;
        }
        if args.rounds.is_some_and(|rounds| round >= rounds) || is_interrupted() {
            break;
        }
        print_heading(&format!("watching {}; Ctrl-C ends", count_noun(watcher.seen.len(), "file")))?;
        let changed = watcher.wait_for_change();
        if is_interrupted() {
            break;
        }
        clear();
        print_heading(&format!("{} changed", changed.join(", ")))?;
    }
    Ok(status)
}

fn is_interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

fn print_heading(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "── {text}")?;
    out.flush()
}

/// Begins a clean screen where there is one.
fn clear() {
    if io::stdout().is_terminal() {
        let _ = write!(io::stdout(), "\x1b[2J\x1b[H");
    }
}

struct FileWatcher<'a> {
    args: &'a WatchArgs,
    program: PathBuf,
    seen: BTreeMap<PathBuf, FileStamp>,
}

impl FileWatcher<'_> {
    /// One round: checks, then tests if the models are good; `None` if a change overtook it.
    fn round(&mut self) -> Result<Option<ExitStatus>, CliError> {
        let deep = self.args.deep.then_some("--deep");
        let check = ["check"].into_iter().chain(deep).chain(self.args.files.iter().map(String::as_str));
        let mut status = self.run_program(check)?;
        let Some(sut) = self.args.sut.as_deref().filter(|_| status == Some(ExitStatus::Success)) else {
            return Ok(status);
        };
        for file in &self.args.files {
            let more = self.args.more.iter().map(String::as_str);
            match self.run_program(["test", file, "--sut", sut].into_iter().chain(more))? {
                Some(ExitStatus::Success) => {}
                other => status = other,
            }
            if status.is_none() || is_interrupted() {
                break;
            }
        }
        Ok(status)
    }

    /// Runs this program with `args`; `None` if a change overtook it.
    fn run_program<'s>(&self, args: impl Iterator<Item = &'s str>) -> Result<Option<ExitStatus>, CliError> {
        let args: Vec<&str> = args.collect();
        print_heading(&format!("ioxide {}", args.join(" ")))?;
        let started = Command::new(&self.program).args(&args).spawn();
        let mut child = started.map_err(|error| CliError::usage(format!("cannot start ioxide: {error}")))?;
        loop {
            if let Some(ended) = child.try_wait()? {
                return Ok(Some(status_of(ended.code())));
            }
            if interrupt::is_for_us_alone() {
                ask_to_end(&child);
                let ended = child.wait()?;
                return Ok(Some(status_of(ended.code())));
            }
            if self.looks() != self.seen {
                kill_child(&mut child)?;
                print_heading("ended: a file changed")?;
                return Ok(None);
            }
            thread::sleep(POLL_INTERVAL / 4);
        }
    }

    /// Waits for a change, and until nothing changes any more; returns the names of the files that changed.
    fn wait_for_change(&mut self) -> Vec<String> {
        let mut changed: Vec<String> = Vec::new();
        while !is_interrupted() {
            let now = self.looks();
            if now == self.seen && !changed.is_empty() {
                break;
            }
            for path in now.keys().chain(self.seen.keys()) {
                let name = path.display().to_string();
                if now.get(path) != self.seen.get(path) && !changed.contains(&name) {
                    changed.push(name);
                }
            }
            self.seen = now;
            thread::sleep(POLL_INTERVAL);
        }
        changed
    }

    /// Returns the stamps of all files that are watched.
    fn looks(&self) -> BTreeMap<PathBuf, FileStamp> {
        let mut found = BTreeMap::new();
        for file in self.args.files.iter().flat_map(|file| load::files_of(file)) {
            for path in made_of(file) {
                found.insert(path.clone(), file_stamp(&path));
            }
        }
        for path in self.args.also.iter().map(PathBuf::from).chain([PathBuf::from(ioxide_project::FILE)]) {
            collect(&path, &mut found);
        }
        found
    }
}

/// The file and those it uses.
fn made_of(file: &str) -> Vec<PathBuf> {
    let mut paths = vec![PathBuf::from(file)];
    let mut sources = Sources::new();
    let id = sources.add(file, fs::read_to_string(file).unwrap_or_default());
    ioxide_lang::gather(&mut sources, id, &mut |path| {
        paths.push(PathBuf::from(path));
        fs::read_to_string(path).map_err(|error| error.to_string())
    });
    paths
}

fn file_stamp(path: &Path) -> FileStamp {
    let about = fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

/// A file, or all files below a folder; hidden ones are left out.
fn collect(path: &Path, found: &mut BTreeMap<PathBuf, FileStamp>) {
    if !path.is_dir() {
        if path.exists() {
            found.insert(path.to_path_buf(), file_stamp(path));
        }
        return;
    }
    let Ok(entries) = fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with('.') {
            collect(&entry.path(), found);
        }
    }
}

/// Asks a child to end in good order; it writes what it has.
#[cfg(unix)]
fn ask_to_end(child: &Child) {
    let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(id) = id {
        // A child that has ended needs not to be asked.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
}

/// Where there are no signals a child hears of the request by itself.
#[cfg(not(unix))]
fn ask_to_end(_child: &Child) {}

fn kill_child(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

/// The status that an exit code stands for; one that is not known is a bug.
fn status_of(code: Option<i32>) -> ExitStatus {
    match code {
        Some(0) => ExitStatus::Success,
        Some(1) => ExitStatus::Failure,
        Some(2) => ExitStatus::Usage,
        Some(3) => ExitStatus::Model,
        Some(4) => ExitStatus::Nothing,
        Some(5) => ExitStatus::Inconclusive,
        Some(6) => ExitStatus::Infrastructure,
        Some(130) => ExitStatus::Interrupted,
        _ => ExitStatus::Internal,
    }
}
