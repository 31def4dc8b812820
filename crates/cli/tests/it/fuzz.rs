//! A share of the fuzzing: the targets of `fuzz/` with the seeds there, and models of the examples, mutated. `cargo
//! fuzz` does more of it.

#[path = "../../../../fuzz/src/targets.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ioxide_project::Project;
use targets::FORMS;

use crate::program::root;

/// Mutations of every seed.
const ROUNDS: usize = 8;
/// Longer seeds are left to the fuzzer.
const MAX_SEED: u64 = 20_000;

type Target = fn(&[u8]);

/// The files in a folder of the repository and below, in order.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.metadata().is_ok_and(|it| it.len() < MAX_SEED) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The seeds of a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    files(&format!("fuzz/seeds/{target}")).iter().map(|path| fs::read(path).expect("a file")).collect()
}

/// Words that readers look for.
const WORDS: [&[u8]; 10] =
    [b"\n", b"{", b"}", b"\"", b"99999999999999999999", b"\\u0000", b"\xff\xfe", b"->", b"\r\n\r\n", b"[[[["];

/// Lots, the same in every run (Knuth's multiplier).
struct Lots(u64);

impl Lots {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// `seed` with a few places changed.
fn mutated(seed: &[u8], lots: &mut Lots) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + lots.below(3) {
        let at = lots.below(bytes.len() + 1);
        let end = (at + lots.below(20)).min(bytes.len());
        let (part, word) = (bytes[at..end].to_vec(), WORDS[lots.below(WORDS.len())].to_vec());
        match lots.below(4) {
            0 => drop(bytes.splice(at..end, [])),
            1 => drop(bytes.splice(at..at, word)),
            2 => drop(bytes.splice(at..at, part)),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << lots.below(8)),
        }
    }
    bytes
}

#[track_caller]
fn survives(target: Target, seeds: &[Vec<u8>], choices: u8) {
    assert!(!seeds.is_empty());
    let mut lots = Lots(14);
    for seed in seeds {
        for choice in 0..choices {
            let whole: Vec<u8> = [&[choice], &seed[..]].concat();
            target(&whole);
            for _ in 0..ROUNDS {
                target(&mutated(&whole, &mut lots));
            }
        }
    }
}

/// The number of the form that a file called so has.
fn form(path: &Path) -> Option<u8> {
    let ending = path.extension()?.to_str()?;
    FORMS.iter().position(|form| *form == ending).and_then(|at| u8::try_from(at).ok())
}

/// Seeds of every form, read as what they are, whole and mutated; and as everything else.
#[test]
fn models() {
    let all: Vec<PathBuf> = ["fuzz/seeds/model", "examples"].into_iter().flat_map(files).collect();
    let mut met = [0_usize; FORMS.len()];
    let mut lots = Lots(15);
    for path in all {
        let Some(form) = form(&path) else { continue };
        met[usize::from(form)] += 1;
        let whole = [&[form], &fs::read(&path).expect("a file")[..]].concat();
        targets::model(&whole);
        for _ in 0..3 * ROUNDS {
            let mut bytes = mutated(&whole[1..], &mut lots);
            bytes.insert(0, form);
            targets::model(&bytes);
        }
    }
    assert!(met.iter().all(|&n| n > 0), "a form has no seed: {met:?}");
    let n_forms = u8::try_from(FORMS.len()).expect("few");
    survives(targets::model, &seeds("model"), n_forms);
}

/// Seeds of readers must be valid: those that are refused at once try nothing.
#[test]
fn seeds_are_in_order() {
    for path in files("fuzz/seeds/model") {
        let form = form(&path).unwrap_or_else(|| panic!("{}: no form", path.display()));
        let text = fs::read_to_string(&path).expect("text");
        assert!(targets::is_model(usize::from(form), &text), "{}", path.display());
    }
    let message = fs::read(root().join("fuzz/seeds/codec/json")).expect("a seed");
    assert!(targets::is_message(&message));
    for path in files("fuzz/seeds/openapi") {
        assert!(targets::is_description(&fs::read_to_string(&path).expect("text")), "{}", path.display());
    }
    for path in files("fuzz/seeds/project") {
        let project = Project::parse(fs::read_to_string(&path).expect("text")).expect("TOML");
        let checked = project.check();
        assert!(checked.is_ok() && !project.names().is_empty(), "{}: {checked:?}", path.display());
    }
}

#[test]
fn project_files() {
    for _ in 0..4 {
        survives(|bytes| targets::project(&bytes[1.min(bytes.len())..]), &seeds("project"), 8);
    }
}

#[test]
fn channels() {
    survives(|bytes| targets::through_channel(&bytes[1.min(bytes.len())..]), &seeds("through"), 40);
}

#[test]
fn records_suites_cases_and_traces() {
    survives(targets::record, &seeds("record"), 4);
}

#[test]
fn lines_of_the_protocol() {
    survives(|bytes| targets::protocol(&bytes[1.min(bytes.len())..]), &seeds("protocol"), 30);
}

#[test]
fn words_and_bytes_of_systems() {
    survives(targets::codec, &seeds("codec"), 90);
}

#[test]
fn messages_of_streams() {
    survives(targets::stream, &seeds("stream"), 90);
}

#[test]
fn descriptions_of_services() {
    survives(|bytes| targets::openapi(&bytes[1.min(bytes.len())..]), &seeds("openapi"), 20);
}

#[test]
fn heads_of_http() {
    survives(targets::http_answer, &seeds("http_answer"), 100);
    survives(|bytes| targets::http_request(&bytes[1.min(bytes.len())..]), &seeds("http_request"), 100);
}

/// `learn` and `kill` go on from the files they keep, or refuse them, whatever became of the files.
#[test]
fn sessions_and_decisions() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept").display().to_string();
    let learn = "learn examples/fsm/meter.iox --sut model:examples/fsm/meter.iox --seed 1 --extra 0 --out - --session";
    let kill = "kill examples/brp/spec.iox --ops delete --jobs 1 --solver none --record";
    let mut lots = Lots(16);
    for words in [learn, kill] {
        let run = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
            command.args(words.split(' ')).arg(&path).current_dir(root());
            command.output().expect("it runs")
        };
        let whole = {
            let _ = fs::remove_file(&path);
            run();
            fs::read(&path).expect("it is kept")
        };
        for _ in 0..12 {
            let bytes = mutated(&whole, &mut lots);
            fs::write(&path, &bytes).expect("written");
            let output = run();
            assert!(matches!(output.status.code(), Some(0 | 2 | 5)), "{words}: {output:?}");
        }
    }
}
