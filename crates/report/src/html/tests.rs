//! The page holds what it is given, as data.

use ioxide_record::event::{Event, EventKind, RunOutcome};
use ioxide_record::reporter::Reporter as _;
use serde_json::Value as Json;

use super::model::{ModelPart, SwitchReach};
use super::mutation::{MutantResult, MutantRow, MutationPage};
use super::*;
use crate::samples;
use crate::summary::samples as told;
use crate::typescript_tests::TypeDeclarations;
use ioxide_model::source::Sources;

/// The document inside a page, as a browser would read it.
fn document(page: &str) -> Json {
    let (_, rest) = page.split_once("id=\"data\">").expect("the page has data");
    let (data, _) = rest.split_once("</script>").expect("the data ends");
    assert!(!data.contains('<'), "nothing in the data is markup");
    serde_json::from_str(data).expect("JSON")
}

fn campaign(events: &[Event]) -> CampaignPage {
    let mut campaign = CampaignPage::default();
    for event in events {
        campaign.event(event).expect("a fold takes every event");
    }
    campaign
}

fn text(page: &ReportPage) -> String {
    let mut bytes = Vec::new();
    page.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_page_has_the_figures_of_the_campaign() {
    let page = ReportPage { campaign: Some(campaign(&told::failing())), ..ReportPage::default() };
    let json = document(&text(&page));
    assert_eq!((&json["format"], &json["version"]), (&"ioxide-report".into(), &VERSION.into()));
    let figures = page.campaign.as_ref().expect("it is there").summary.to_json();
    assert_eq!(json["campaign"]["figures"], figures);
    let listed = json["campaign"]["runs"]["listed"].as_array().expect("runs");
    assert_eq!(listed.len() as u64, figures["runs"]["finished"].as_u64().expect("a number"));
    let failing = listed.iter().find(|run| run[1] == "fail").expect("a failing run");
    let number = failing[0].to_string();
    let tape = &json["campaign"]["runs"]["tapes"][&number];
    assert_eq!(tape["label"].as_array().map(Vec::len), failing[2].as_u64().map(|n| n as usize));
    assert!(!json["campaign"]["runs"]["details"][&number]["explanation"].is_null());
}

#[test]
fn hostile_words_stay_data() {
    let hostile = "</script><script>alert(1)</script><!-- </template> \u{202e}";
    let mut events = told::failing();
    for event in &mut events {
        match &mut event.event {
            EventKind::CampaignStarted(told) => told.model = hostile.into(),
            EventKind::Stimulus(told) | EventKind::Observation(told) => told.label.text = hostile.into(),
            _ => (),
        }
    }
    let page =
        ReportPage { campaign: Some(campaign(&events)), record: hostile.into(), ..ReportPage::default() };
    let text = text(&page);
    assert_eq!(text.matches("<script").count(), 2, "only ours");
    assert_eq!(text.matches("</script>").count(), 2);
    assert!(!text.contains("alert(1)</"));
    let json = document(&text);
    assert_eq!(json["record"], hostile);
    assert_eq!(json["campaign"]["figures"]["campaign"]["model"], hostile);
}

#[test]
fn every_switch_has_its_place_and_what_is_known_of_it() {
    let model = samples::adder();
    let reach =
        [SwitchReach::Reached, SwitchReach::Never("no way".into()), SwitchReach::Open("too far".into())];
    let part = ModelPart::new(&model, &Sources::new(), "adder.iox", Some(&reach.into_iter().collect()));
    let view = serde_json::to_value(&part.view).expect("texts and numbers");
    let switches = view["switches"].as_array().expect("switches");
    assert_eq!(switches.len(), 3);
    let known: Vec<_> = switches.iter().map(|it| (&it["reach"], &it["why"])).collect();
    assert_eq!(known[0], (&"reached".into(), &Json::Null));
    assert_eq!(known[1], (&"never".into(), &"no way".into()));
    assert_eq!(known[2], (&"open".into(), &"too far".into()));
    assert!(part.picture.contains("data-switch=\"2\""));
}

#[test]
fn survivors_count_against_the_score() {
    let mutant = |outcome| MutantRow { outcome, ..MutantRow::default() };
    let mutants =
        [MutantResult::Killed, MutantResult::Survived, MutantResult::Equivalent, MutantResult::Killed]
            .map(mutant)
            .to_vec();
    let mutation = MutationPage { model: "M".into(), mutants, ..MutationPage::default() };
    assert_eq!(mutation.score(), (3, 2));
    let page = text(&ReportPage { mutation: Some(mutation), ..ReportPage::default() });
    assert!(page.contains("<h1>Mutants of M</h1><p>2 of 3 killable mutants killed</p>"));
    assert_eq!(document(&page)["mutation"]["mutants"][1]["outcome"], "survived");
}

#[test]
fn the_policy_allows_nothing_from_elsewhere() {
    let page = text(&ReportPage::default());
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    for word in ["unsafe-inline", "unsafe-eval", "http:", "https://cdn", " src=", "href=\"http", "@import"] {
        let head = page.split_once("<body>").expect("a body").0;
        assert!(!head.contains(word), "{word}");
    }
}

#[test]
fn numbers_are_counted_in_their_order_and_words_by_how_often() {
    let mut values = crate::values::SentValues::default();
    for (number, word) in [(10, "tea"), (9, "tea"), (9, "milk"), (-1, "cake")] {
        let mut label = told::label("m");
        label.kind = ioxide_record::event::LabelKind::Input;
        label.args.insert("n".into(), number.into());
        label.args.insert("w".into(), word.into());
        values.count_fields(&label);
    }
    let counts: Vec<_> = values.counts().collect();
    assert_eq!(counts[0].values, [("-1", 1), ("9", 2), ("10", 1)]);
    assert_eq!(counts[1].values, [("\"tea\"", 2), ("\"cake\"", 1), ("\"milk\"", 1)]);
    assert!(counts[0].are_numbers && !counts[1].are_numbers);
}

#[test]
fn a_large_graph_has_the_names_of_its_switches_only() {
    let graph = crate::graph::PictureGraph::from_model(&samples::brp()).with_short_lines();
    assert!(graph.edges().iter().all(|edge| edge.lines.len() == 1 && !edge.text().contains([':', ' '])));
}

#[test]
fn the_last_words_of_a_system_that_failed_are_kept() {
    let mut events = told::failing();
    for event in &mut events {
        if let EventKind::Verdict(told) = &mut event.event {
            told.last_words = format!("{}panic: out of tea\n", "x".repeat(10_000));
        }
    }
    let json = serde_json::to_value(campaign(&events).view()).unwrap();
    let details = json["runs"]["details"].as_object().expect("details");
    let words = details.values().next().expect("one")["last_words"].as_str().expect("text");
    assert!(words.ends_with("panic: out of tea") && words.len() < 5_000);
}

#[test]
fn typescript_of_a_report_is_that_of_its_document() {
    let head = "\nimport type { Outcome } from \"../shared/words.js\";\n";
    TypeDeclarations::new(head)
        .knowing::<RunOutcome>()
        .with::<DocumentView<'static>>()
        .keep("report/views.ts");
}

#[test]
fn the_page_marks_the_forbidden_step_and_not_the_last_one() {
    let page =
        ReportPage { campaign: Some(campaign(&told::failing_before_the_end())), ..ReportPage::default() };
    let json = document(&text(&page));
    assert_eq!(json["campaign"]["runs"]["details"]["1"]["forbidden"], 2);
    assert_eq!(json["campaign"]["smaller"][0][1]["forbidden"], 1);
}
