//! Random small timed models, as text.

#![allow(dead_code, reason = "not every test uses everything here")]

use ioxide_model::goal::PathStep;
use ioxide_model::sts::{GateKind, Model, SwitchId};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A model with one unknown and one known value, two clocks, three locations.
pub fn text(rng: &mut ChaCha8Rng) -> String {
    text_with(rng, &["on a", "on o", "emit y", "emit y", "emit z"])
}

/// A model as [`text`] makes it, with switches of these kinds.
pub fn text_with(rng: &mut ChaCha8Rng, verbs: &[&str]) -> String {
    let mut text = String::from(
        "model Random { type D = 0..2 input a(p: D) observed input o(p: D) output y(p: D) output z\n\
         var u: D var x: D = 0 clock c clock d\n",
    );
    for state in 0..3 {
        text += &format!("state s{state} {{\n");
        let n = if state == 0 { 2..4 } else { 2..5 };
        for switch in 0..rng.random_range(n) {
            text += &format!("  t{state}{switch}: {}\n", sentence(rng, verbs, state));
        }
        text += "}\n";
    }
    text + "}"
}

/// A model that one input takes to two places at once: the system has to speak in the first before a deadline, and may
/// be silent in the second unless chance has it otherwise. So a silence distinguishes them, and what an input does
/// after it.
pub fn forked(rng: &mut ChaCha8Rng) -> String {
    let mut text = String::from(
        "model Forked { type D = 0..2 input a(p: D) observed input o(p: D) output y(p: D) output z\n\
         var u: D var x: D = 0 clock c clock d\n",
    );
    text += "state s0 {\n  t00: on a { reset c } -> s1\n  t01: on a { reset c } -> s2\n";
    text += &format!("  t02: {}\n}}\n", sentence(rng, &["on a", "emit y", "emit z"], 0));
    let deadline = rng.random_range(0..3);
    let speaks = ["emit z", "emit y when p == x", "emit y when p == u"][rng.random_range(0..3)];
    let joined = if speaks.contains("when") { "&&" } else { "when" };
    text += &format!("state s1 {{\n  t10: {speaks} {joined} c <= {deadline} -> s0\n");
    text += &format!(
        "  t11: {}\n  t12: {}\n}}\n",
        sentence(rng, &["on a"], 1),
        sentence(rng, &["on a", "on o"], 1)
    );
    text += &format!("state s2 {{\n  t20: {}\n", sentence(rng, &["on a"], 2));
    if rng.random() {
        text += &format!("  t21: {}\n", sentence(rng, &["emit y", "emit z", "on o", "on a"], 2));
    }
    text + "}\n}"
}

/// One switch: message, guard, update, target.
///
/// Internal steps lead forwards, so that there are no loops of them.
fn sentence(rng: &mut ChaCha8Rng, verbs: &[&str], state: usize) -> String {
    let mut verb = verbs[rng.random_range(0..verbs.len())];
    if verb == "internal" && state == 2 {
        verb = "emit z";
    }
    let has_field = !matches!(verb, "emit z" | "internal");
    let mut guards = Vec::new();
    if rng.random_range(0..3) > 0 {
        let (clock, k) = (["c", "d"][rng.random_range(0..2)], rng.random_range(0..3));
        guards.push(format!("{clock} {} {k}", ["<=", "<=", ">=", "=="][rng.random_range(0..4)]));
    }
    if rng.random_range(0..3) == 0 {
        let k = rng.random_range(0..3);
        guards.push(format!(
            "{} {} {k}",
            ["u", "x"][rng.random_range(0..2)],
            ["<=", ">=", "=="][rng.random_range(0..3)]
        ));
    }
    if has_field && rng.random_range(0..4) > 0 {
        guards.push(["p == u", "p == x", "p >= u", "p <= x", "p == 1"][rng.random_range(0..5)].to_owned());
    }
    let when = if guards.is_empty() { String::new() } else { format!(" when {}", guards.join(" && ")) };
    let mut updates = Vec::new();
    if rng.random_range(0..3) == 0 {
        let values: &[&str] = if has_field { &["p", "u", "1"] } else { &["u", "2"] };
        updates.push(format!("x = {}", values[rng.random_range(0..values.len())]));
    }
    for clock in ["c", "d"] {
        if rng.random_range(0..2) == 0 {
            updates.push(format!("reset {clock}"));
        }
    }
    let updates = if updates.is_empty() { String::new() } else { format!(" {{ {} }}", updates.join(", ")) };
    let targets = if verb == "internal" { state + 1..3 } else { 0..3 };
    format!("{verb}{when}{updates} -> s{}", rng.random_range(targets))
}

/// A random walk in the graph of locations that ends with an output.
pub fn path(rng: &mut ChaCha8Rng, model: &Model) -> Option<Vec<SwitchId>> {
    let sts = &model.sts;
    let mut path = Vec::new();
    let mut loc = sts.initial;
    for _ in 0..rng.random_range(2..5) {
        let choices: Vec<SwitchId> = sts.switches_from(loc).map(|(id, _)| id).collect();
        let id = *choices.get(rng.random_range(0..choices.len().max(1)))?;
        path.push(id);
        loc = sts.switches[id].target;
    }
    while let Some(&last) = path.last() {
        if sts.kind_of(&sts.switches[last]) == GateKind::Output {
            return Some(path);
        }
        path.pop();
    }
    None
}

/// `path` with silences put in.
pub fn with_silences(rng: &mut ChaCha8Rng, path: &[SwitchId]) -> Vec<PathStep> {
    let mut steps = PathStep::taking(path);
    for _ in 0..rng.random_range(1..3) {
        steps.insert(rng.random_range(0..=steps.len()), PathStep::Quiet);
    }
    steps
}

/// A timing fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A deadline one second later.
    Later,
    /// A deadline one second earlier.
    Earlier,
    /// A clock that is not set back.
    NoReset,
    /// A condition on time that is not looked at.
    Relaxed,
}

/// All of them.
pub const FAULTS: [Fault; 4] = [Fault::Later, Fault::Earlier, Fault::NoReset, Fault::Relaxed];

/// `text` with the fault in the first switch on or beside `path` that can have it.
pub fn with_fault(text: &str, fault: Fault, model: &Model, path: &[SwitchId]) -> Option<String> {
    let sources: Vec<_> = path.iter().map(|&id| model.sts.switches[id].source).collect();
    let labels = model.sts.switches.iter().filter(|switch| sources.contains(&switch.source));
    let labels: Vec<String> = labels.map(|switch| format!("  {}:", switch.label)).collect();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let fits = |line: &String| labels.iter().any(|label| line.starts_with(label));
    let changed = lines.iter_mut().filter(|line| fits(line)).find_map(|line| {
        let faulty = faulty(line, fault)?;
        *line = faulty;
        Some(())
    });
    changed.map(|()| lines.join("\n"))
}

/// One line with the fault.
fn faulty(line: &str, fault: Fault) -> Option<String> {
    let replaced = |from: &str, to: &str| line.contains(from).then(|| line.replacen(from, to, 1));
    for clock in ["c", "d"] {
        for k in 0..3 {
            let deadline = format!("when {clock} <= {k}");
            let changed = match fault {
                Fault::Later => replaced(&deadline, &format!("when {clock} <= {}", k + 1)),
                Fault::Earlier if k > 0 => replaced(&deadline, &format!("when {clock} <= {}", k - 1)),
                Fault::Relaxed => replaced(&deadline, &format!("when {clock} >= 0")).or_else(|| {
                    replaced(&format!("when {clock} >= {k}"), &format!("when {clock} >= 0")).filter(|_| k > 0)
                }),
                Fault::NoReset => {
                    replaced(&format!("reset {clock}"), "x = x").filter(|_| !line.contains("x ="))
                }
                Fault::Earlier => None,
            };
            if changed.is_some() {
                return changed;
            }
        }
    }
    None
}
