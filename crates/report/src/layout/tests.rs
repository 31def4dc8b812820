//! The promises of the layout, held against random graphs.

use ioxide_test_support::test_count;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::test_runner::TestCaseError;

use super::*;

/// Two boxes may share an edge, and numbers may be off by this much.
const SLACK: f64 = 0.01;

/// Source, target, and the size of the label.
type Ends = (usize, usize, Option<(f64, f64)>);

fn boxes(sizes: &[(f64, f64)], edges: &[Ends]) -> Boxes {
    let size = |(width, height): (f64, f64)| BoxSize { width, height };
    let edge = |&(from, to, label): &Ends| EdgeBox {
        from: GraphNodeId::new(from),
        to: GraphNodeId::new(to),
        label: label.map(size),
    };
    Boxes {
        nodes: sizes.iter().map(|&it| size(it)).collect(),
        edges: edges.iter().map(edge).collect(),
        roots: vec![GraphNodeId::new(0)],
    }
}

fn arb_boxes() -> impl Strategy<Value = Boxes> {
    let size = || (5.0..120.0_f64, 5.0..60.0_f64);
    (0_usize..14).prop_flat_map(move |n| {
        let label = prop_oneof![1 => Just(None), 4 => size().prop_map(Some)];
        let edge = (0..n.max(1), 0..n.max(1), label);
        let n_edges = if n == 0 { 0..1 } else { 0..30 };
        let nodes = prop::collection::vec(size(), n);
        (nodes, prop::collection::vec(edge, n_edges)).prop_map(|(nodes, edges)| boxes(&nodes, &edges))
    })
}

fn arb_direction() -> impl Strategy<Value = LayerDirection> {
    prop_oneof![Just(LayerDirection::Down), Just(LayerDirection::Right)]
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x + SLACK < b.right() && b.x + SLACK < a.right() && a.y + SLACK < b.bottom() && b.y + SLACK < a.bottom()
}

fn is_inside(point: Point, rect: &Rect, margin: f64) -> bool {
    point.x > rect.x + margin
        && point.x < rect.right() - margin
        && point.y > rect.y + margin
        && point.y < rect.bottom() - margin
}

/// Points all along a route.
fn samples(route: &EdgeRoute) -> Vec<Point> {
    let mut points = vec![route.start];
    let mut here = route.start;
    for step in &route.steps {
        let (a, b, to) = match *step {
            RouteStep::Line(to) => (here, to, to),
            RouteStep::Curve(a, b, to) => (a, b, to),
        };
        points.extend((1..=20).map(|n| cubic(here, a, b, to, f64::from(n) / 20.0)));
        here = to;
    }
    points
}

fn cubic(p: Point, a: Point, b: Point, q: Point, t: f64) -> Point {
    let s = 1.0 - t;
    let mix = |p: f64, a: f64, b: f64, q: f64| {
        s * s * s * p + 3.0 * s * s * t * a + 3.0 * s * t * t * b + t * t * t * q
    };
    Point { x: mix(p.x, a.x, b.x, q.x), y: mix(p.y, a.y, b.y, q.y) }
}

/// Returns whether `point` lies on the border of `rect`, up to [`SLACK`].
fn touches(point: Point, rect: &Rect) -> bool {
    let grown = Rect {
        x: rect.x - SLACK,
        y: rect.y - SLACK,
        width: rect.width + 2.0 * SLACK,
        height: rect.height + 2.0 * SLACK,
    };
    is_inside(point, &grown, -SLACK) && !is_inside(point, rect, SLACK)
}

fn keeps_its_promises(boxes: &Boxes, layout: &GraphLayout) -> Result<(), TestCaseError> {
    let page = Rect { x: 0.0, y: 0.0, width: layout.size.width, height: layout.size.height };
    let labels = layout.labels.iter().flatten();
    let all: Vec<Rect> = layout.nodes.iter().chain(labels).copied().collect();
    for (n, a) in all.iter().enumerate() {
        prop_assert!(a.x >= -SLACK && a.y >= -SLACK, "{a:?} outside");
        prop_assert!(
            a.right() <= page.right() + SLACK && a.bottom() <= page.bottom() + SLACK,
            "{a:?} outside"
        );
        prop_assert!(all[..n].iter().all(|b| !overlap(a, b)), "{a:?} overlaps");
    }
    for (id, edge) in boxes.edges.iter_enumerated() {
        let route = &layout.routes[id];
        prop_assert!(!route.steps.is_empty(), "{id:?} has no line");
        prop_assert!(touches(route.start, &layout.nodes[edge.from]), "{id:?} starts elsewhere");
        prop_assert!(touches(route.end_point(), &layout.nodes[edge.to]), "{id:?} ends elsewhere");
        prop_assert_eq!(layout.labels[id].is_some(), edge.label.is_some());
        passes_no_foreign_box(layout, id, route)?;
    }
    Ok(())
}

fn passes_no_foreign_box(layout: &GraphLayout, id: EdgeId, route: &EdgeRoute) -> Result<(), TestCaseError> {
    let foreign_labels = layout.labels.iter_enumerated().filter(|&(other, _)| other != id);
    let foreign: Vec<Rect> =
        layout.nodes.iter().copied().chain(foreign_labels.filter_map(|(_, label)| *label)).collect();
    for point in samples(route) {
        prop_assert!(foreign.iter().all(|rect| !is_inside(point, rect, 0.1)), "{id:?} runs through a box");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(test_count("IOXIDE_GRAPHS", 100, 400) as u32))]

    #[test]
    fn any_graph_is_drawn_as_promised(boxes in arb_boxes(), direction in arb_direction()) {
        let drawing = lay_out(&boxes, direction);
        keeps_its_promises(&boxes, &drawing)?;
        for (node, rect) in drawing.nodes.iter_enumerated() {
            prop_assert!(rect.width + SLACK >= boxes.nodes[node].width);
            prop_assert!(rect.height + SLACK >= boxes.nodes[node].height);
        }
        prop_assert_eq!(lay_out(&boxes, direction), drawing);
    }

    #[test]
    fn absurd_sizes_are_drawn_somehow(
        sides in prop::collection::vec(prop_oneof![
            Just(f64::NAN), Just(f64::INFINITY), Just(-3.0), Just(0.0), Just(1e300), Just(20.0),
        ], 12),
        direction in arb_direction(),
    ) {
        let size = |n: usize| (sides[n], sides[n + 1]);
        let boxes = boxes(
            &[size(0), size(2), size(4)],
            &[(0, 1, Some(size(6))), (1, 2, Some(size(8))), (2, 2, Some(size(10))), (2, 0, None)],
        );
        let drawing = lay_out(&boxes, direction);
        prop_assert!(drawing.size.width.is_finite() && drawing.size.height.is_finite());
        keeps_its_promises(&boxes, &drawing)?;
    }
}

#[test]
fn nothing_is_drawn_as_nothing() {
    assert_eq!(lay_out(&Boxes::default(), LayerDirection::Down), GraphLayout::default());
}

#[test]
fn an_edge_to_nowhere_has_an_empty_line() {
    let drawing =
        lay_out(&boxes(&[(10.0, 10.0)], &[(0, 7, None), (7, 0, Some((5.0, 5.0)))]), LayerDirection::Down);
    assert!(drawing.routes.iter().all(|route| route.steps.is_empty()));
    assert_eq!(drawing.nodes.len(), 1);
}

#[test]
fn the_root_comes_first_in_either_direction() {
    let ring: Vec<_> = (0..5).map(|n| (n, (n + 1) % 5, Some((30.0, 10.0)))).collect();
    let boxes = boxes(&[(20.0, 10.0); 5], &ring);
    let down = lay_out(&boxes, LayerDirection::Down);
    assert!(down.nodes.iter().all(|rect| rect.y >= down.nodes[GraphNodeId::new(0)].y));
    let right = lay_out(&boxes, LayerDirection::Right);
    assert!(right.nodes.iter().all(|rect| rect.x >= right.nodes[GraphNodeId::new(0)].x));
}

#[test]
fn parts_stand_side_by_side() {
    let drawing = lay_out(&boxes(&[(40.0, 20.0); 4], &[(0, 1, None), (2, 3, None)]), LayerDirection::Down);
    let [first, _, second, _] = drawing.nodes.as_slice() else { panic!("four nodes") };
    assert_eq!(first.y, second.y);
    assert!(second.x > first.right());
}

#[test]
fn the_ends_of_several_loops_keep_apart() {
    for (direction, n_loops) in [
        (LayerDirection::Down, 2),
        (LayerDirection::Down, 7),
        (LayerDirection::Right, 2),
        (LayerDirection::Right, 7),
    ] {
        let loops: Vec<_> = (0..n_loops).map(|_| (0, 0, Some((40.0, 30.0)))).collect();
        let drawing = lay_out(&boxes(&[(30.0, 20.0)], &loops), direction);
        let ends: Vec<Point> =
            drawing.routes.iter().flat_map(|route| [route.start, route.end_point()]).collect();
        for (i, a) in ends.iter().enumerate() {
            // Arrow heads are 7.6 wide.
            let is_apart = |b: &Point| (a.x - b.x).hypot(a.y - b.y) > 8.0;
            assert!(ends[..i].iter().all(is_apart), "{direction:?}, {n_loops} loops: {ends:?}");
        }
    }
}

#[test]
fn several_loops_do_not_cross() {
    for heights in
        [&[30.0, 30.0][..], &[20.0, 200.0, 20.0, 20.0], &[90.0, 60.0, 90.0, 150.0, 50.0, 40.0, 60.0, 60.0]]
    {
        let loops: Vec<_> = heights.iter().map(|&height| (0, 0, Some((40.0, height)))).collect();
        let drawing = lay_out(&boxes(&[(30.0, 20.0)], &loops), LayerDirection::Down);
        let lines: Vec<Vec<Point>> = drawing.routes.iter().map(samples).collect();
        for (i, a) in lines.iter().enumerate() {
            let meets = |b: &&Vec<Point>| a.windows(2).any(|p| b.windows(2).any(|q| is_crossing(p, q)));
            assert!(lines[..i].iter().find(meets).is_none(), "a loop crosses loop {i} of {heights:?}");
        }
    }
}

/// Returns whether two straight pieces cross in their inner parts.
fn is_crossing(p: &[Point], q: &[Point]) -> bool {
    let side =
        |a: Point, b: Point, c: Point| ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)).signum();
    side(p[0], p[1], q[0]) * side(p[0], p[1], q[1]) < 0.0
        && side(q[0], q[1], p[0]) * side(q[0], q[1], p[1]) < 0.0
}

#[test]
fn a_tree_has_no_crossing() {
    let edges: Vec<_> = (1..40).map(|n| ((n - 1) / 3, n, None)).collect();
    assert_eq!(crossings(40, &edges), 0);
}

#[test]
fn two_crossing_links_are_untangled() {
    assert_eq!(crossings(5, &[(0, 1, None), (0, 2, None), (1, 4, None), (2, 3, None)]), 0);
}

#[track_caller]
fn crossings(n_nodes: usize, edges: &[Ends]) -> usize {
    let boxes = boxes(&vec![(20.0, 10.0); n_nodes], edges);
    let components = connected_components(&boxes);
    let task =
        LayoutTask::new(&boxes, LayerDirection::Down, &components[0], &item_numbers(&boxes, &components));
    let mut layered = build_layers(&task.part, &rank::rank_nodes(&task.part));
    order::order_layers(&mut layered);
    order::count_crossings(&layered)
}

#[test]
fn large_graphs_need_neither_stack_nor_patience() {
    let label = Some((80.0, 20.0));
    let chain: Vec<_> = (1..10_000).map(|n| (n - 1, n, None)).collect();
    let star: Vec<_> = (1..10_000).map(|n| (0, n, None)).collect();
    // Every node also leads far back and far on, so that there would be millions of bends.
    let tangle = |n: usize| [(n, (n + 1) % 3_000, label), (n, (n * 7 + 13) % 3_000, label)];
    let tangle: Vec<_> = (0..3_000).flat_map(tangle).filter(|(a, b, _)| a != b).collect();
    for (n_nodes, edges) in [(10_000, chain), (10_000, star), (3_000, tangle), (10_000, Vec::new())] {
        let drawing = lay_out(&boxes(&vec![(20.0, 10.0); n_nodes], &edges), LayerDirection::Right);
        assert!(drawing.size.width.is_finite());
        assert!(drawing.routes.iter().all(|route| !route.steps.is_empty()));
    }
}
