//! The corpus: models that must load, and broken ones with the findings they must give.

use std::collections::BTreeSet;

use crate::common::{files, load_file, render};
use ioxide_model::code::Code;
use ioxide_model::diag::Severity;

#[test]
fn every_good_model_loads_without_findings() {
    for path in files("corpus/models/ok", &["iox", "as", "dot", "xml"]) {
        let (sources, loaded) = load_file(&path);
        assert!(loaded.model.is_some(), "{path:?}\n{}", render(&sources, &loaded.diagnostics));
        let is_clean = loaded.diagnostics.iter().all(|finding| finding.severity == Severity::Hint);
        assert!(is_clean, "{path:?}\n{}", render(&sources, &loaded.diagnostics));
    }
}

#[test]
fn every_broken_model_gives_its_findings() {
    let paths = files("corpus/models/err", &["iox", "as", "dot", "xml", "xlia", "txs", "model"]);
    assert!(paths.len() >= 40, "only {} broken models", paths.len());
    for path in paths {
        let (sources, loaded) = load_file(&path);
        let name = path.file_name().map(|name| name.to_string_lossy().replace('.', "_")).unwrap_or_default();
        assert!(!loaded.diagnostics.is_empty(), "{name} has no findings");
        assert_eq!(loaded.model.is_none(), loaded.has_errors(), "{name}");
        insta::assert_snapshot!(name, render(&sources, &loaded.diagnostics));
    }
}

#[test]
fn the_broken_models_show_every_code() {
    let mut shown = BTreeSet::new();
    for path in files("corpus/models/err", &["iox", "as", "dot", "xml", "xlia", "txs", "model"]) {
        let (_, loaded) = load_file(&path);
        shown.extend(loaded.diagnostics.iter().map(|diagnostic| diagnostic.code));
    }
    // Size limits have tests of their own; overrides come from the command line, W07 from the solver.
    let elsewhere = ["E0107", "E0114", "E0116", "E0212", "E0313", "E0409"];
    let missing: Vec<&str> = Code::ALL
        .iter()
        .filter(|code| !shown.contains(code) && !code.id().starts_with("W07"))
        .map(|code| code.id())
        .filter(|id| !elsewhere.contains(id))
        .collect();
    assert!(missing.is_empty(), "no broken model shows {missing:?}");
}
