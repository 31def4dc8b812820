//! A command with one unit: `learn`.

use std::fs;

use super::driver::plan;
use super::{ioxide, path, read};

const LEARN: [&str; 8] = [
    "learn",
    "examples/fsm/handshake-v1.dot",
    "--sut",
    "model:examples/fsm/handshake-v2.dot",
    "--format",
    "dot",
    "--seed",
    "1",
];

#[test]
fn a_session_is_one_unit_and_its_model_is_the_same() {
    let dir = tempfile::tempdir().expect("a folder");
    let alone = dir.path().join("alone.dot");
    let whole = ioxide(&[&LEARN[..], &["--out", path(&alone)]].concat());
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    let planned = ioxide(&[&LEARN[..], &["--plan"]].concat());
    assert!(
        planned.out.contains("\"units\":[{\"name\":\"session\",\"seed\":1,\"unit\":1}]"),
        "{}",
        planned.out
    );
    let (_dir, file, out) = plan(&LEARN, "workers = 1\n");
    let told = ioxide(&["campaign", path(&file)]);
    assert_eq!((told.code, told.out), (Some(0), whole.out.clone()), "{}", told.err);
    assert_eq!(read(&out.join("merged/learned.dot")), read(&alone));
    // What a part leaves is its unit, and nothing besides.
    let names: Vec<String> = fs::read_dir(out.join("parts/000001"))
        .expect("a part")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let seedless = ioxide(&[&LEARN[..6], &["--plan"]].concat());
    assert_eq!(seedless.code, Some(2));
    assert!(seedless.err.contains("a plan needs a seed"), "{}", seedless.err);
}
