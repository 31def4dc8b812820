//! Tests of `limit`.

use ioxide_cli::limit::StageStack;

/// Defect: a stage within another took the other's text away when it ended.
#[test]
fn a_stage_is_shown_again_after_one_within_it() {
    let mut stages = StageStack { begun: 0, open: Vec::new() };
    let outer = stages.begin_stage("outer");
    let inner = stages.begin_stage("inner");
    assert_eq!(stages.shown_stage().map(|stage| stage.what), Some("inner"));
    stages.end_stage(inner);
    assert_eq!(stages.shown_stage().map(|stage| stage.what), Some("outer"));
    let other = stages.begin_stage("other");
    stages.end_stage(outer);
    assert_eq!(stages.shown_stage().map(|stage| stage.what), Some("other"));
    stages.end_stage(other);
    assert!(stages.shown_stage().is_none());
}
