//! The commands that write, what they find, what they leave, and how one goes on after them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const SPEC: &str = "examples/brp/spec.iox";
const MACHINE: &str = "examples/fsm/handshake-v1.dot";
const FAULTY: &str = "model:examples/brp/m3.iox";
/// A model that is not laid out canonically.
const UNTIDY: &str = "model M { input a output b state s { on a emit b } }\n";

/// The files in a folder, by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A command that writes.
pub struct WritingCommand {
    /// Its name here.
    pub name: &'static str,
    /// Its arguments; `@` stands for the folder it works in.
    args: Vec<&'static str>,
    /// The files that are there before.
    pub before: Vec<(&'static str, String)>,
    /// The files that are written line by line: a beginning of them is in order.
    pub growing: &'static [&'static str],
    /// How it may end where there is no room.
    pub codes_without_room: &'static [i32],
    /// What must hold for whoever goes on in the folder.
    pub after: fn(&Path, &Files, &str),
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What `ioxide` prints, and its exit code.
pub fn ioxide(args: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
    let output = command.args(args).current_dir(root()).output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code())
}

/// The files in `folder` and below.
pub fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for path in fs::read_dir(&next).expect("a folder").flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).expect("it is below").display().to_string();
                    found.insert(name, fs::read(&path).expect("a file"));
                }
            }
        }
    }
    found
}

impl WritingCommand {
    /// A folder with what is there before.
    pub fn place(&self) -> TempDir {
        // Its name stands in reports: it is as long as any other, and cut out of them.
        let place = tempfile::tempdir().expect("a folder");
        for (name, text) in &self.before {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        place
    }

    /// The command in `place`, which is its current folder under a name of its own.
    pub fn command(&self, place: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
        let root = root().canonicalize().expect("the repository");
        let path = |text: &&str| match text.strip_prefix("model:") {
            Some(file) => format!("model:{}", root.join(file).display()),
            None if text.starts_with("examples/") => root.join(text).display().to_string(),
            None => (*text).to_owned(),
        };
        command.args(self.args.iter().map(path)).current_dir(place);
        command
    }

    /// What it leaves when nobody disturbs it.
    pub fn undisturbed(&self) -> Files {
        let place = self.place();
        let output = self.command(place.path()).output().expect("it runs");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {output:?}", self.name);
        files(place.path())
    }

    /// Runs it once more in `place`.
    fn again(&self, place: &Path) -> (String, Option<i32>) {
        let output = self.command(place).output().expect("it runs");
        (String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(), output.status.code())
    }
}

/// All of them; the one that takes longest comes last.
pub fn subjects() -> Vec<WritingCommand> {
    vec![suite(), testing(), reporting(), mutating(), formatting(), beginning(), killing()]
}

fn suite() -> WritingCommand {
    WritingCommand {
        name: "fsm --out",
        args: vec!["fsm", MACHINE, "--suite", "w", "--minimise", "--out", "suite", "--html", "page.html"],
        before: vec![("suite", "an old suite".into())],
        growing: &[],
        codes_without_room: &[2],
        after: |_, _, _| (),
    }
}

fn killing() -> WritingCommand {
    WritingCommand {
        name: "kill --record",
        args: vec![
            "kill",
            SPEC,
            "--ops",
            "delete,target",
            "--jobs",
            "1",
            "--record",
            "decided",
            "--out",
            "suite",
        ],
        before: Vec::new(),
        growing: &["decided"],
        codes_without_room: &[2],
        after: |place, whole, what| {
            // Going on from the record leads to the same suite.
            let (text, code) = killing().again(place);
            assert_eq!(code, Some(0), "{what}: {text}");
            let left = files(place);
            assert_eq!(left.get("suite"), whole.get("suite"), "{what}: the suite is another one");
        },
    }
}

fn testing() -> WritingCommand {
    let args =
        "test examples/brp/spec.iox --sut model:examples/brp/m3.iox --tester random --seed 1 --report runs";
    WritingCommand {
        name: "test --report",
        args: args.split(' ').collect(),
        before: Vec::new(),
        growing: &["runs/campaign.jsonl"],
        // A record that cannot even be begun is told before anything is tested.
        codes_without_room: &[1, 2],
        after: |place, whole, what| {
            let record = place.join("runs/campaign.jsonl");
            let begun = fs::read_to_string(&record).unwrap_or_default();
            if begun.lines().count() > 2 {
                let (text, code) = ioxide(&["report", &record.display().to_string()]);
                assert_eq!(code, Some(0), "{what}: {text}");
            }
            // The next campaign finds what this one found, whatever was left.
            let (text, code) = testing().again(place);
            assert_eq!(code, Some(1), "{what}: {text}");
            let left = files(place);
            let kept = |files: &Files| files.get("runs/regressions.jsonl").cloned();
            assert_eq!(kept(&left), kept(whole), "{what}: other failing runs are kept");
            let junit = String::from_utf8(left["runs/junit.xml"].clone()).expect("text");
            assert!(roxmltree::Document::parse(&junit).is_ok(), "{what}: {junit}");
        },
    }
}

fn reporting() -> WritingCommand {
    let made = tempfile::tempdir().expect("a folder");
    let folder = made.path().display().to_string();
    let (text, code) = ioxide(&["test", SPEC, "--sut", FAULTY, "--seed", "1", "--report", &folder]);
    assert_eq!(code, Some(1), "{text}");
    let record = fs::read_to_string(made.path().join("campaign.jsonl")).expect("a record");
    let args = "report campaign.jsonl --html page.html --junit junit.xml --markdown summary.md";
    WritingCommand {
        name: "report",
        args: args.split(' ').collect(),
        before: vec![("campaign.jsonl", record), ("junit.xml", "<old/>".into())],
        growing: &[],
        codes_without_room: &[2],
        after: |_, _, _| (),
    }
}

fn mutating() -> WritingCommand {
    WritingCommand {
        name: "mutate --out",
        args: vec!["mutate", SPEC, "--out", "mutants"],
        before: vec![("mutants/mutants.json", "{}".into())],
        growing: &[],
        codes_without_room: &[2],
        after: |_, _, _| (),
    }
}

fn formatting() -> WritingCommand {
    WritingCommand {
        name: "fmt",
        args: vec!["fmt", "m.iox"],
        before: vec![("m.iox", UNTIDY.into())],
        growing: &[],
        codes_without_room: &[2],
        after: |place, whole, what| {
            let (text, code) = formatting().again(place);
            assert_eq!(code, Some(0), "{what}: {text}");
            assert_eq!(files(place).get("m.iox"), whole.get("m.iox"), "{what}");
        },
    }
}

fn beginning() -> WritingCommand {
    WritingCommand {
        name: "init",
        args: vec!["init", ".", "--adapter", "none"],
        before: Vec::new(),
        growing: &[],
        codes_without_room: &[2],
        after: |_, _, _| (),
    }
}
