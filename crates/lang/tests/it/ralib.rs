//! Register automata: the relations of guards, and what is said about those that cannot be read.

use crate::common::torxakis::label;
use crate::common::{load_text, render};
use ioxide_lang::LoadedText;
use ioxide_model::concrete;
use ioxide_model::source::Sources;

/// An automaton that keeps the first number as `last`, and answers a second number that satisfies `guard` by `Ok`.
fn automaton(guard: &str) -> (Sources, LoadedText) {
    let guard = guard.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let text = format!(
        r#"<register-automaton>
  <alphabet>
    <inputs><symbol name="Next"><param type="int" name="p"/></symbol></inputs>
    <outputs><symbol name="Ok"/></outputs>
  </alphabet>
  <globals><variable type="int" name="last">0</variable></globals>
  <locations><location name="a" initial="true"/><location name="b"/><location name="c"/></locations>
  <transitions>
    <transition from="a" to="b" symbol="Next" params="q">
      <assignments><assign to="last">q</assign></assignments>
    </transition>
    <transition from="b" to="c" symbol="Next" params="p"><guard>{guard}</guard></transition>
    <transition from="c" to="b" symbol="Ok"/>
  </transitions>
</register-automaton>"#
    );
    load_text("next.xml", &text)
}

/// The successor relation against its definition, for all pairs of small numbers.
#[test]
fn next_is_the_successor() {
    type Relation = fn(i64, i64) -> bool;
    let relations: [(&str, Relation); 7] = [
        ("last[next]p", |last, p| p == last + 1),
        ("last[!next]p", |last, p| p != last + 1),
        ("p [next] last", |last, p| last == p + 1),
        ("p[ ! next ]last || p == 2", |last, p| last != p + 1 || p == 2),
        ("p != 0 && last[next]p", |last, p| p != 0 && p == last + 1),
        ("last[next]p || p[next]last", |last, p| p == last + 1 || last == p + 1),
        ("(last[!next]p) && (p[!next]last)", |last, p| p != last + 1 && last != p + 1),
    ];
    for (guard, relation) in relations {
        let (sources, loaded) = automaton(guard);
        let model =
            loaded.model.unwrap_or_else(|| panic!("{guard}\n{}", render(&sources, &loaded.diagnostics)));
        let after = |state: &_, value| {
            let label = label(&model, &("Next".into(), vec![value]));
            concrete::successors(&model.pool, &model.sts, state, &label).expect("evaluates")
        };
        let start = concrete::initial_state(&model.pool, &model.sts).expect("known");
        for last in -3..=3 {
            let states = after(&start, last);
            for p in -4..=4 {
                assert_eq!(!after(&states[0].state, p).is_empty(), relation(last, p), "{guard}: {last}, {p}");
            }
        }
    }
}

#[test]
fn relations_without_a_meaning_are_refused() {
    let guards = [
        "last[in_win]p",
        "last[!in_win]p && last != p",
        "last[next]p[next]last",
        "p < last[next]p",
        "last[succ]p",
    ];
    let said = guards.map(|guard| {
        let (_, loaded) = automaton(guard);
        assert!(loaded.model.is_none(), "{guard}");
        let first = loaded.diagnostics.first().expect("a finding");
        format!("{}: {}\n  {}", first.code.id(), first.message, first.helps.join(" "))
    });
    insta::assert_snapshot!(said.join("\n"));
}

/// An assignment outside of `assignments`, as one public file has it, would have no effect.
#[test]
fn a_stray_assignment_is_not_ignored() {
    let text = r#"<register-automaton>
  <alphabet><inputs><symbol name="I"/></inputs></alphabet>
  <globals><variable type="int" name="r">0</variable></globals>
  <locations><location name="a" initial="true"/></locations>
  <transitions><transition from="a" to="a" symbol="I"><assign to="r">1</assign></transition></transitions>
</register-automaton>"#;
    let (_, loaded) = load_text("stray.xml", text);
    let said: Vec<&str> = loaded.diagnostics.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(said, ["`assign` must be in the element `assignments`"]);
}
