use proptest::prelude::*;

use super::*;

fn step(kind: LabelKind, text: &str) -> ChartStep {
    ChartStep { kind, text: excerpt(text, MAX_TEXT), part: None }
}

fn allowed(label: &str, switch: Option<&str>) -> Allowed {
    Allowed { label: label.into(), switch: switch.map(Into::into), differences: Vec::new() }
}

fn drawn(steps: &[ChartStep], before: usize, instead: Option<&[Allowed]>, width: usize) -> String {
    draw_chart(&SequenceChart {
        steps,
        before,
        note: instead.map_or(StepNote::Fine, |instead| StepNote::Instead(steps.len() - 1, instead)),
        width,
    })
    .join("\n")
}

#[test]
fn a_failing_run_shows_what_came_and_what_was_expected() {
    let steps = [
        step(LabelKind::Input, "?IREQ(m1: 1, m2: 2)"),
        step(LabelKind::Output, "!OFRAME(b: true)"),
        step(LabelKind::Quiescence, "δ"),
        step(LabelKind::Output, "!OCONF(c: 1)"),
    ];
    let instead = [allowed("!OCONF(c: 2)", Some("r12")), allowed("δ", None)];
    insta::assert_snapshot!(drawn(&steps, 7, Some(&instead), 80), @r"
            tester                system
            │     … 7 steps before     │
         8  │── ?IREQ(m1: 1, m2: 2) ──▶│
         9  │◀───── !OFRAME(b: true) ──│
        10  │········ silence ·········│
    ✗   11  │◀───────── !OCONF(c: 1) ──│ got
            │◀╌╌╌╌╌╌╌╌╌ !OCONF(c: 2) ╌╌│ expected [r12]
            │········ silence ·········│ expected
    ");
}

#[test]
fn a_run_without_end_has_no_mark() {
    let steps = [step(LabelKind::Input, "?A"), step(LabelKind::Delay, "3.5")];
    insta::assert_snapshot!(drawn(&steps, 0, None, 80), @r"
       tester        system
    1  │── ?A ───────────▶│
    2  │··· 3.5 passes ···│
    ");
}

#[test]
fn long_messages_are_wrapped_and_then_cut() {
    let long = format!("!SAY(text: \"{}\")", "word ".repeat(40));
    let steps = [step(LabelKind::Input, "?名前(値: \"日本語の文字列です\")"), step(LabelKind::Output, &long)];
    insta::assert_snapshot!(drawn(&steps, 0, Some(&[]), 60), @r#"
            tester                    system
         1  │   ?名前(値: "日本語の文字    │
            │── 列です") ─────────────────▶│
    ✗    2  │   !SAY(text: "word word w    │
            │   ord word word word word    │
            │◀──  word word word word w… ──│ got
            │   nothing is allowed here    │ expected
    "#);
}

#[test]
fn many_alternatives_are_counted() {
    let instead: Vec<Allowed> =
        (0..9).map(|n| allowed(&format!("!N(n: {n})"), Some("a_very_long_switch_name"))).collect();
    insta::assert_snapshot!(drawn(&[step(LabelKind::Quiescence, "δ")], 1, Some(&instead), 70), @r"
            tester        system
            │ … 1 step before  │
    ✗    2  │···· silence ·····│ got
            │◀╌╌╌╌╌ !N(n: 0) ╌╌│ expected [a_very…
            │◀╌╌╌╌╌ !N(n: 1) ╌╌│ expected [a_very…
            │◀╌╌╌╌╌ !N(n: 2) ╌╌│ expected [a_very…
            │ or one of 6 more │ expected
    ");
}

fn any_step() -> impl Strategy<Value = ChartStep> {
    let kind = prop_oneof![
        Just(LabelKind::Input),
        Just(LabelKind::Observed),
        Just(LabelKind::Output),
        Just(LabelKind::Quiescence),
        Just(LabelKind::Delay)
    ];
    (kind, any::<String>()).prop_map(|(kind, text)| step(kind, &text))
}

proptest! {
    #[test]
    fn no_text_leaves_its_lane(
        steps in prop::collection::vec(any_step(), 0..6),
        labels in prop::option::of(prop::collection::vec((any::<String>(), prop::option::of(any::<String>())), 0..5)),
        width in 0_usize..140,
        forbidden in 0_usize..7,
    ) {
        let allowed = |(label, switch)| Allowed { label, switch, differences: Vec::new() };
        let instead: Option<Vec<Allowed>> = labels.map(|all| all.into_iter().map(allowed).collect());
        let lines = draw_chart(&SequenceChart {
            steps: &steps, before: 3, width,
            note: instead.as_deref().map_or(StepNote::Forbidden(forbidden), |it| StepNote::Instead(forbidden, it)),
        });
        let lanes = |line: &str| {
            let bars: Vec<usize> =
                line.match_indices('│').map(|(at, _)| count_columns(&line[..at])).collect();
            (bars.first().copied(), bars.last().copied())
        };
        for line in &lines {
            prop_assert!(count_columns(line) <= width.max(MIN_WIDTH), "{line}");
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
        // A bar inside a text or a note does not count: those have none here.
        if !lines.iter().any(|line| line.matches('│').count() != 2) {
            for line in &lines[1..] {
                prop_assert_eq!(lanes(line), lanes(&lines[1]));
            }
        }
    }

    #[test]
    fn a_hostile_value_of_a_megabyte_takes_three_lines(c in any::<char>()) {
        let steps = [step(LabelKind::Output, &c.to_string().repeat(200_000))];
        let lines = draw_chart(&SequenceChart { steps: &steps, before: 0, note: StepNote::Fine, width: WIDTH });
        prop_assert!(lines.len() <= 4);
    }
}

#[test]
fn what_somebody_else_sends_is_no_arrow_of_the_tester() {
    let steps = [step(LabelKind::Input, "?ask"), step(LabelKind::Observed, "?bank(ok: true)")];
    insta::assert_snapshot!(drawn(&steps, 0, None, 80), @r"
       tester            system
    1  │── ?ask ─────────────▶│
    2  │╌╌ ?bank(ok: true) ╌╌╌│ from outside
    ");
}

/// A part has a lane of its own; what goes further passes the lanes before it.
#[test]
fn parts_have_lanes() {
    let of = |kind, text: &str, part: &str| ChartStep { part: Some(part.into()), ..step(kind, text) };
    let steps = [
        of(LabelKind::Input, "?client.say(i: 2)", "client[2]"),
        of(LabelKind::Output, "!client.show(i: 1)", "client[1]"),
        step(LabelKind::Quiescence, "silence"),
        of(LabelKind::Output, "!server.done", "server"),
    ];
    let lines = draw_chart(&SequenceChart {
        steps: &steps,
        before: 0,
        note: StepNote::Forbidden(steps.len() - 1),
        width: WIDTH,
    });
    insta::assert_snapshot!(lines.join("\n"), @r"
            tester                    client[1]  client[2]  server
         1  │── ?client.say(i: 2) ────┼─────────▶│          │
         2  │◀── !client.show(i: 1) ──│          │          │
         3  │········ silence ········│          │          │
    ✗    4  │◀──────── !server.done ──┼──────────┼──────────│
    ");
    let alone =
        draw_chart(&SequenceChart { steps: &steps[..1], before: 0, note: StepNote::Fine, width: WIDTH });
    assert!(alone[0].ends_with("system"), "{alone:?}");
}

#[test]
fn a_forbidden_step_is_marked_where_it_is_and_not_at_the_end() {
    let steps = [
        step(LabelKind::Input, "?ask_b"),
        step(LabelKind::Output, "!got_b(n: 102)"),
        step(LabelKind::Output, "!got_a(n: 1)"),
        step(LabelKind::Quiescence, "δ"),
    ];
    let instead = [allowed("!got_b(n: 2)", Some("b"))];
    let note = StepNote::Instead(1, &instead);
    let lines = draw_chart(&SequenceChart { steps: &steps, before: 0, note, width: 80 }).join("\n");
    insta::assert_snapshot!(lines, @r"
            tester           system
         1  │── ?ask_b ──────────▶│
    ✗    2  │◀── !got_b(n: 102) ──│ got
            │◀╌╌╌╌ !got_b(n: 2) ╌╌│ expected [b]
         3  │◀──── !got_a(n: 1) ──│
         4  │······ silence ······│
    ");
}
