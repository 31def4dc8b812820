//! Pictures are well-formed, complete and safe.

use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

use super::*;
use crate::graph::{EdgeLine, GraphEdge};
use crate::samples;

/// The picture as a tree, which fails if it is not well-formed.
fn check(picture: &str, look: impl FnOnce(&roxmltree::Document<'_>)) {
    look(&roxmltree::Document::parse(picture).unwrap());
}

fn groups<'a>(document: &'a roxmltree::Document<'_>, word: &'a str) -> Vec<roxmltree::Node<'a, 'a>> {
    let has_class = move |node: &roxmltree::Node<'_, '_>| {
        node.has_tag_name("g")
            && node.attribute("class").is_some_and(|class| class.split(' ').any(|it| it == word))
    };
    document.descendants().filter(has_class).collect()
}

fn texts(document: &roxmltree::Document<'_>) -> Vec<String> {
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or("").to_owned()).collect()
}

#[test]
fn every_location_and_switch_can_be_found() {
    let model = samples::brp();
    check(&draw_svg(&PictureGraph::from_model(&model), SvgConfig::default()), |document| {
        let switches: Vec<&str> =
            groups(document, "edge").iter().filter_map(|group| group.attribute("data-switch")).collect();
        assert_eq!(switches.len(), model.sts.switches.len());
        let locations: Vec<&str> =
            groups(document, "node").iter().filter_map(|group| group.attribute("data-location")).collect();
        assert_eq!(locations, ["INIT", "SF", "WA", "CONF", "NOK_WA", "NOK_INIT"]);
        assert_eq!(groups(document, "initial").len(), 1);
        assert_eq!(groups(document, "start").len(), 1);
        assert!(texts(document).contains(&"r9: ?IREQ(d1, d2, d3)".to_owned()));
    });
}

#[test]
fn the_car_alarm_is_whole() {
    check(&draw_svg(&PictureGraph::from_model(&samples::car_alarm()), SvgConfig::default()), |document| {
        assert_eq!(groups(document, "node").len(), 13);
        assert_eq!(groups(document, "label").len(), 26);
    });
}

#[test]
fn tooltips_tell_the_whole_text_and_the_comment() {
    check(&draw_svg(&PictureGraph::from_model(&samples::door()), SvgConfig::default()), |document| {
        let titles: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("title"))
            .filter_map(|node| node.text())
            .collect();
        let told =
            "d3: !lamp(colour: Green, on: true)\n[w <= 5.0]\nopened → opened\n\nShows <green> & \"on\".";
        assert!(titles.contains(&told), "{titles:?}");
    });
}

#[test]
fn the_legend_names_the_kinds_that_occur() {
    check(&draw_svg(&PictureGraph::from_model(&samples::adder()), SvgConfig::default()), |document| {
        let texts = texts(document);
        assert!(texts.contains(&"?input".to_owned()) && texts.contains(&"!output".to_owned()));
        assert!(!texts.contains(&"τ internal".to_owned()));
    });
}

#[test]
fn classes_reach_the_picture() {
    let graph = PictureGraph::from_model(&samples::adder())
        .with_classes(|_, _| "seen".into(), |_, _| "covered \"x".into());
    check(&draw_svg(&graph, SvgConfig::default()), |document| {
        assert_eq!(groups(document, "seen").len(), 3);
        assert_eq!(groups(document, "covered").len(), 3);
    });
}

#[test]
fn an_inline_picture_has_no_style_sheet() {
    let graph = PictureGraph::from_model(&samples::adder());
    let config = SvgConfig { form: PictureUse::Inline, ..SvgConfig::default() };
    assert!(!draw_svg(&graph, config).contains("<style>"));
    assert!(draw_svg(&graph, SvgConfig::default()).contains("<style>"));
}

#[test]
fn hostile_names_stay_text() {
    let hostile = "<script>alert('x')</script>\u{202e}&amp;]]>\"";
    let mut b = samples::SampleModelBuilder::new(hostile, hostile);
    let gate = b.gate(hostile, ioxide_model::sts::GateKind::Output, &[]);
    let tt = b.pool().tt();
    b.switch(hostile, hostile, gate, tt, "\u{0}\u{ffff}").doc(hostile, hostile);
    let picture = draw_svg(&PictureGraph::from_model(&b.build()), SvgConfig::default());
    assert!(!picture.contains("<script"));
    check(&picture, |document| {
        let names: Vec<&str> = document.descendants().map(|node| node.tag_name().name()).collect();
        assert!(!names.contains(&"script"));
        assert!(document.descendants().filter_map(|node| node.text()).all(|text| !text.contains('\u{202e}')));
    });
}

#[test]
fn nothing_is_a_picture_too() {
    check(&draw_svg(&PictureGraph::new("", [], []).unwrap(), SvgConfig::default()), |document| {
        assert_eq!(document.root_element().attribute("width"), Some("40"));
    });
}

#[test]
fn long_texts_are_broken_and_cut_in_the_picture_but_whole_in_the_tooltip() {
    let long = "x".repeat(5_000);
    let mut edge = GraphEdge::with_text(GraphNodeId::new(0), GraphNodeId::new(0), "");
    edge.lines = vec![EdgeLine { part: LinePart::Guard, text: format!("[{long}]") }];
    let picture =
        draw_svg(&PictureGraph::new("t", [GraphNode::new(&long)], [edge]).unwrap(), SvgConfig::default());
    check(&picture, |document| {
        assert!(texts(document).iter().all(|text| text.chars().count() < 50));
        assert!(document.descendants().any(|node| node.text().is_some_and(|text| text.contains(&long))));
    });
}

proptest! {
    #[test]
    fn any_text_gives_well_formed_xml(names in prop::collection::vec(any::<String>(), 1..4), text in any::<String>()) {
        let n_nodes = names.len();
        let node = |name: &String| GraphNode { doc: text.clone(), class: text.clone(), ..GraphNode::new(name) };
        let nodes = names.iter().map(node);
        let next = |n: usize| GraphNodeId::new((n + 1) % n_nodes);
        let edges = (0..n_nodes).map(|n| GraphEdge::with_text(GraphNodeId::new(n), next(n), &text));
        let picture = draw_svg(&PictureGraph::new(&text, nodes, edges).unwrap(), SvgConfig::default());
        let document = roxmltree::Document::parse(&picture);
        prop_assert!(document.is_ok(), "{:?}", document.err());
        let n_groups = document.map(|document| groups(&document, "node").len() + groups(&document, "edge").len());
        prop_assert_eq!(n_groups.unwrap_or(0), 2 * n_nodes);
    }
}
