//! A share of the fuzzing: the targets of `fuzz/` with seeds from the examples, mutated. `cargo fuzz` does more of it.

#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

/// Mutations of every seed.
const ROUNDS: usize = 8;
/// Longer seeds are left to the fuzzer.
const MAX_SEED: u64 = 20_000;

type Target = fn(&[u8]);

/// The files of the examples whose names end so.
fn seeds(endings: &[&str]) -> Vec<Vec<u8>> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            let is_wanted = path.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending));
            match path.is_dir() {
                true => folders.push(path),
                false if is_wanted && path.metadata().is_ok_and(|it| it.len() < MAX_SEED) => found.push(path),
                false => (),
            }
        }
    }
    found.sort();
    found.iter().map(|path| fs::read(path).expect("a file")).collect()
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

#[test]
fn models() {
    survives(targets::model, &seeds(&["iox", "as", "dot", "txt", "kiss2", "xlia", "xml", "txs"]), 8);
}

#[test]
fn records_suites_cases_and_traces() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let ioxide = |args: &[&str]| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ioxide"));
        command.args(args).current_dir(root).output().expect("it runs").stdout
    };
    let spec = "examples/brp/spec.iox";
    ioxide(&["test", spec, "--sut", "model:examples/brp/m3.iox", "--seed", "1", "--report", &path]);
    let case = ioxide(&["case", spec, "--path", "r1,r2", "--format", "json"]);
    let read = |name: &str| fs::read(folder.path().join(name)).expect("it was written");
    survives(targets::record, &[read("campaign.jsonl"), read("regressions.jsonl"), case], 4);
}

#[test]
fn lines_of_the_protocol() {
    let lines = [
        r#"{"type":"hello","version":1,"name":"x","inputs":{"a":{"n":"int"}},"outputs":{}}"#,
        r#"{"type":"input","id":1,"label":"coin","args":{"n":123456789012345678901234567890}}"#,
        r#"{"type":"output","label":"tea","args":{"s":["a",{"b":null}]},"time_ns":5}"#,
        r#"{"type":"error","kind":"refused","message":"no"}"#,
    ];
    let seeds: Vec<Vec<u8>> = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
    for _ in 0..30 {
        survives(|bytes| targets::protocol(&bytes[1.min(bytes.len())..]), &seeds, 1);
    }
}

#[test]
fn words_and_bytes_of_systems() {
    let seeds = [
        "TOLD 12 tea",
        "SUM -3",
        "\u{2}\u{7}\u{3}tea",
        "\u{3}\0\0\0\u{1}",
        "'L', 0x83, u16 len(rest), bits(1 on, 7 level), u8 mood(calm = 1, bright = 2), u8 len(name), text name, crc16",
    ];
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    survives(targets::codec, &seeds, 90);
}

#[test]
fn heads_of_http() {
    let answers = [
        "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{\"n\": 7, \"s\": [\"a\"]}",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\n42\r\n0\r\n\r\n",
        "HTTP/1.0 404 Not Found\r\nx: y\r\n\r\nrest",
    ];
    let seeds: Vec<Vec<u8>> = answers.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    survives(targets::http_answer, &seeds, 100);
    let request = "POST /t/api?n=3 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 2\r\n\r\n{}".as_bytes().to_vec();
    survives(|bytes| targets::http_request(&bytes[1.min(bytes.len())..]), &[request], 200);
}
