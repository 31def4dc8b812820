//! Public benchmark files, where they are available: sizes are those that others report.

use crate::common::{files_under, load_file, public_data, render};

#[test]
fn register_automata_have_the_known_sizes() {
    let Some(folder) = public_data() else { return };
    check(&folder, "passport", 35, 78);
    check(&folder, "abp.output", 30, 50);
    check(&folder, "abp.receiver", 6, 10);
    check(&folder, "login", 13, 20);
    check(&folder, "login_ndet", 13, 21);
    check(&folder, "fifo2", 9, 12);
    check(&folder, "fifo5", 18, 24);
    check(&folder, "palindrome", 6, 15);
}

#[track_caller]
fn check(folder: &std::path::Path, name: &str, n_locations: usize, n_switches: usize) {
    let (sources, loaded) = load_file(&folder.join(format!("ralib/{name}.xml")));
    let Some(model) = loaded.model else { panic!("{name}\n{}", render(&sources, &loaded.diagnostics)) };
    assert_eq!((model.sts.locations.len(), model.sts.switches.len()), (n_locations, n_switches), "{name}");
}

#[test]
fn all_public_files_load_without_findings() {
    let Some(folder) = public_data() else { return };
    for path in files_under(&folder, &["xml", "dot"]) {
        let (sources, loaded) = load_file(&path);
        assert!(loaded.model.is_some(), "{path:?}\n{}", render(&sources, &loaded.diagnostics));
        assert!(loaded.diagnostics.is_empty(), "{path:?}");
    }
}
