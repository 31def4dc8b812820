//! Tests of `unit_command`.

use std::fs;

use ioxide_cli::unit_command::depends_on;

/// Defect: a record in a folder, and a file that is no UTF-8, counted as empty; of a model only the file that is
/// named counted.
#[test]
fn a_plan_depends_on_what_its_files_hold() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).display().to_string();
    fs::create_dir_all(path("record")).expect("a folder");
    fs::create_dir_all(path("suite")).expect("a folder");
    let system = "system Both {\n    use Part from \"part.iox\"\n}\n";
    fs::write(path("both.iox"), system).expect("it is written");
    let mut known = std::collections::BTreeSet::new();
    let changes: [(&str, &str, &[u8]); 11] = [
        ("record", "record/campaign.jsonl", b"{}"),
        ("record", "record/campaign.jsonl", b"{ }"),
        ("record", "record/campaign-2.jsonl", b"{ }\n"),
        ("latin", "latin", b"caf\xe9"),
        ("latin", "latin", b"caf\xe8"),
        ("suite", "suite/a", b"a"),
        ("suite", "suite/b", b"a"),
        ("suite", "suite/b", b"b"),
        ("both.iox", "part.iox", b"model Part {\n}\n"),
        ("both.iox", "part.iox", b"model Part {\n\n}\n"),
        ("plain", "plain", b"text"),
    ];
    for (named, changed, bytes) in changes {
        fs::write(path(changed), bytes).expect("it is written");
        assert!(known.insert(depends_on(&[], &[&path(named)])), "{named} after {changed}");
    }
    // What is beside the newest record does not matter.
    fs::write(path("record/report.html"), "new").expect("it is written");
    assert!(!known.insert(depends_on(&[], &[&path("record")])));
}
