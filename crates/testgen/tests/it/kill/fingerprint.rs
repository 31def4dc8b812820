//! Tests of [`ioxide_testgen::kill::fingerprint`].

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_testgen::kill::fingerprint::fingerprint;

/// A journal of another version of the analysis, or of other settings, is another journal.
#[test]
fn the_version_of_the_analysis_is_in_the_fingerprint() {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", "model M { input a state s { on a } }");
    let model = load(&sources, file, &LoadOptions::default()).model.expect("a model");
    let print = |fixed: &[&str]| fingerprint(&model, &[], fixed);
    assert_eq!(print(&["ioco", "1"]), print(&["ioco", "1"]));
    assert_ne!(print(&["ioco", "1"]), print(&["ioco", "2"]));
    assert_ne!(print(&["ioco", "1"]), print(&["uioco", "1"]));
}
