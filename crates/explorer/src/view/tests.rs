//! The types of the views in TypeScript, compared with the generated files.

use ioxide_record::event::RunOutcome;

use super::ErrorView;
use super::edit::{EditView, RepairsView, SourceView};
use super::hypothesis::HypothesisView;
use super::learning::LearningView;
use super::live::LiveView;
use super::model::ModelView;
use super::run::{RecordsView, RunView};
use super::typescript_tests::TypeDeclarations;
use super::walk::WalkView;
use crate::routes::SutView;
use crate::routes::walk::ValuesView;

#[test]
fn typescript_of_the_explorer_is_that_of_its_views() {
    let head = "\nimport type { Outcome, StepKind } from \"../shared/words.js\";\n";
    TypeDeclarations::new(head)
        .knowing::<RunOutcome>()
        .with::<ModelView>()
        .with::<WalkView>()
        .with::<ValuesView>()
        .with::<RecordsView>()
        .with::<RunView>()
        .with::<LiveView>()
        .with::<SutView>()
        .with::<SourceView>()
        .with::<EditView<'_>>()
        .with::<RepairsView>()
        .with::<ErrorView>()
        .keep("explorer/views.ts");
}

#[test]
fn typescript_of_learning_is_that_of_its_views() {
    TypeDeclarations::new("").with::<LearningView>().with::<HypothesisView>().keep("learning/views.ts");
}
