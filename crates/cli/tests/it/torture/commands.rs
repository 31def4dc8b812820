//! The commands that write, what they find, what they leave, and how one goes on after them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

pub use crate::program::{print, root};

const SPEC: &str = "examples/brp/spec.iox";
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
    /// The pages that tell of real time, and so differ from run to run: whole if they have their end.
    pub varying: &'static [&'static str],
    /// The files that are taken away before others take their place.
    pub going: &'static [&'static str],
    /// The exit codes of the command.
    pub ends: &'static [i32],
    /// The exit codes of the command where nothing can be written.
    pub ends_without_room: &'static [i32],
    /// The check of the folder after the command was struck.
    pub after: fn(&Path, &Files, &str),
}

/// Returns the output of `ioxide` and its exit code.
/// Replaces the digits of the time at which a session began: two runs of a command may begin in different minutes.
fn hide_start_time(bytes: &mut [u8]) {
    const FIELD: &[u8] = b"\"started\":\"";
    let Some(at) = bytes.windows(FIELD.len()).position(|window| window == FIELD) else { return };
    // The file may have been cut in the middle of the time.
    let time = bytes[at + FIELD.len()..].iter_mut().take_while(|byte| **byte != b'"');
    time.filter(|byte| byte.is_ascii_digit()).for_each(|digit| *digit = b'0');
}

/// Returns the files in `folder` and below; the time at which a session began is hidden.
pub fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for path in fs::read_dir(&next).expect("a folder").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path)
            } else {
                let name = path.strip_prefix(folder).expect("it is below").display().to_string();
                let mut bytes = fs::read(&path).expect("a file");
                hide_start_time(&mut bytes);
                found.insert(name, bytes);
            }
        }
    }
    found
}

/// A folder for what commands put aside.
fn scratch() -> &'static Path {
    static SCRATCH: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));
    SCRATCH.path()
}

impl WritingCommand {
    /// A command of these words that ends so, and leaves nothing to go on from.
    fn new(name: &'static str, words: &'static str, ends: &'static [i32]) -> Self {
        Self {
            name,
            args: words.split(' ').collect(),
            before: Vec::new(),
            growing: &[],
            varying: &[],
            going: &[],
            ends,
            ends_without_room: &[2],
            after: |_, _, _| (),
        }
    }

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
        // What it puts aside in the folder of the system for such things is nobody's result.
        command.env("TMPDIR", scratch());
        command
    }

    /// Returns the files that the command leaves when it is not struck.
    pub fn undisturbed(&self) -> Files {
        let place = self.place();
        let output = self.command(place.path()).output().expect("it runs");
        assert!(self.ends.contains(&output.status.code().unwrap_or(-1)), "{}: {output:?}", self.name);
        files(place.path())
    }

    /// Runs it once more in `place`.
    fn again(&self, place: &Path) -> (String, Option<i32>) {
        let output = self.command(place).output().expect("it runs");
        (String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(), output.status.code())
    }
}

/// All of them.
pub fn subjects() -> Vec<WritingCommand> {
    vec![
        suite(),
        reduction(),
        killing(),
        scoring(),
        testing(),
        shrinking(),
        reporting(),
        mutating(),
        formatting(),
        beginning(),
        learning(),
        recalling(),
        showing(),
        explaining(),
    ]
}

fn suite() -> WritingCommand {
    let words = "fsm examples/fsm/handshake-v1.dot --suite w --minimise --out suite --html page.html";
    WritingCommand {
        before: vec![("suite", "an old suite".into())],
        ..WritingCommand::new("fsm --out --html", words, &[0])
    }
}

fn reduction() -> WritingCommand {
    let words = "fsm examples/fsm/handshake-v1.dot --reduction --sut examples/fsm/handshake-v2.dot --bound 5 \
                 --html page.html";
    // What was found is the exit code, page or no page.
    WritingCommand { ends_without_room: &[1], ..WritingCommand::new("fsm --reduction --html", words, &[1]) }
}

fn killing() -> WritingCommand {
    let words =
        "kill examples/brp/spec.iox --ops delete --jobs 1 --record decided --out suite --html page.html";
    WritingCommand {
        growing: &["decided"],
        after: |place, whole, what| {
            // Going on from the record leads to the same suite.
            let (text, code) = killing().again(place);
            assert_eq!(code, Some(0), "{what}: {text}");
            let left = files(place);
            assert!(left.get("suite") == whole.get("suite"), "{what}: the suite is another one");
        },
        ..WritingCommand::new("kill --record --out --html", words, &[0])
    }
}

fn scoring() -> WritingCommand {
    let made = tempfile::tempdir().expect("a folder");
    let suite = made.path().join("suite").display().to_string();
    let (text, code) = print(&["kill", SPEC, "--ops", "delete", "--out", &suite]);
    assert_eq!(code, 0, "{text}");
    let words = "score examples/brp/spec.iox suite --ops delete --jobs 1 --record decided --html page.html";
    WritingCommand {
        before: vec![("suite", fs::read_to_string(suite).expect("a suite"))],
        growing: &["decided"],
        after: |place, whole, what| {
            let (text, code) = scoring().again(place);
            assert_eq!(code, Some(0), "{what}: {text}");
            assert!(files(place).get("page.html") == whole.get("page.html"), "{what}: another score");
        },
        ..WritingCommand::new("score --record --html", words, &[0])
    }
}

fn testing() -> WritingCommand {
    let words =
        "test examples/brp/spec.iox --sut model:examples/brp/m3.iox --tester random --seed 1 --report runs";
    WritingCommand {
        growing: &["runs/campaign.jsonl"],
        // A record that cannot even be begun is told before anything is tested.
        ends_without_room: &[1, 2],
        after: |place, whole, what| {
            let record = place.join("runs/campaign.jsonl");
            let begun = fs::read_to_string(&record).unwrap_or_default();
            if begun.lines().count() > 2 {
                let (text, code) = print(&["report", &record.display().to_string()]);
                assert_eq!(code, 0, "{what}: {text}");
            }
            // The next campaign finds what this one found, whatever was left.
            let (text, code) = testing().again(place);
            assert_eq!(code, Some(1), "{what}: {text}");
            let left = files(place);
            let kept = |files: &Files| files.get("runs/regressions.jsonl").cloned();
            assert!(kept(&left) == kept(whole), "{what}: other failing runs are kept");
            let junit = String::from_utf8(left["runs/junit.xml"].clone()).expect("text");
            assert!(roxmltree::Document::parse(&junit).is_ok(), "{what}: {junit}");
        },
        ..WritingCommand::new("test --report", words, &[1])
    }
}

/// The record of a campaign that fails.
fn recorded() -> String {
    let made = tempfile::tempdir().expect("a folder");
    let folder = made.path().display().to_string();
    let (text, code) = print(&["test", SPEC, "--sut", FAULTY, "--seed", "1", "--report", &folder]);
    assert_eq!(code, 1, "{text}");
    let record = fs::read_to_string(made.path().join("campaign.jsonl")).expect("a record");
    // It says where the model was, which is another folder than the one it is used in.
    record.replace(SPEC, &root().canonicalize().expect("the repository").join(SPEC).display().to_string())
}

fn shrinking() -> WritingCommand {
    let words = "shrink campaign.jsonl --sut model:examples/brp/m3.iox --report runs";
    WritingCommand {
        before: vec![("campaign.jsonl", recorded())],
        growing: &["runs/campaign.jsonl"],
        ends_without_room: &[1, 2],
        ..WritingCommand::new("shrink --report", words, &[1])
    }
}

fn reporting() -> WritingCommand {
    let words = "report campaign.jsonl --html page.html --junit junit.xml --markdown summary.md";
    WritingCommand {
        before: vec![("campaign.jsonl", recorded()), ("junit.xml", "<old/>".into())],
        ..WritingCommand::new("report --html --junit --markdown", words, &[0])
    }
}

fn mutating() -> WritingCommand {
    let words = "mutate examples/brp/spec.iox --ops delete --out mutants";
    WritingCommand {
        before: vec![("mutants/mutants.json", "{}".into())],
        ..WritingCommand::new("mutate --out", words, &[0])
    }
}

fn formatting() -> WritingCommand {
    WritingCommand {
        before: vec![("m.iox", UNTIDY.into()), ("n.iox", UNTIDY.into())],
        after: |place, whole, what| {
            let (text, code) = formatting().again(place);
            assert_eq!(code, Some(0), "{what}: {text}");
            let left = files(place);
            assert!(["m.iox", "n.iox"].iter().all(|name| left.get(*name) == whole.get(*name)), "{what}");
        },
        ..WritingCommand::new("fmt", "fmt m.iox n.iox", &[0])
    }
}

fn beginning() -> WritingCommand {
    WritingCommand::new("init", "init project --adapter python", &[0])
}

fn explaining() -> WritingCommand {
    WritingCommand {
        before: vec![("pages/ioxide.1", "an old page".into())],
        ..WritingCommand::new("man --out", "man --out pages", &[0])
    }
}

/// The record of a campaign on a machine, every message of it.
fn recorded_machine() -> String {
    let made = tempfile::tempdir().expect("a folder");
    let folder = made.path().display().to_string();
    let (meter, sut) = ("examples/fsm/meter.iox", "model:examples/fsm/meter.iox");
    let (text, code) =
        print(&["test", meter, "--sut", sut, "--seed", "1", "--steps", "300", "--report", &folder]);
    assert_eq!(code, 0, "{text}");
    fs::read_to_string(made.path().join("campaign.jsonl")).expect("a record")
}

fn recalling() -> WritingCommand {
    let words = "learn examples/fsm/meter.iox --traces campaign.jsonl --seed 1 --out learned.iox";
    WritingCommand {
        before: vec![("campaign.jsonl", recorded_machine()), ("learned.iox", "an old model".into())],
        ..WritingCommand::new("learn --traces --out", words, &[0])
    }
}

fn learning() -> WritingCommand {
    let words = "learn examples/fsm/meter.iox --sut model:examples/fsm/meter.iox --seed 1 --session asked \
                 --out learned.iox";
    WritingCommand {
        before: vec![("learned.iox", "an old model".into())],
        growing: &["asked"],
        after: |place, whole, what| {
            // Going on from the session leads to the same model.
            let (text, code) = learning().again(place);
            assert_eq!(code, Some(0), "{what}: {text}");
            let left = files(place);
            let model = |files: &Files| {
                let text = String::from_utf8(files["learned.iox"].clone()).expect("text");
                // How many messages it took may differ: what was cut off is asked again.
                text.lines().filter(|line| !line.starts_with("///")).map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(model(&left), model(whole), "{what}: another model");
        },
        ..WritingCommand::new("learn --session --out", words, &[0])
    }
}

fn showing() -> WritingCommand {
    WritingCommand {
        // The page is an extra of the demo.
        ends_without_room: &[0, 2],
        varying: &["page.html"],
        ..WritingCommand::new("demo --html", "demo --html page.html", &[0])
    }
}
