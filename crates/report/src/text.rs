//! A model as a listing for the terminal: its interface, its variables and its behaviour.
//!
//! Types, interface, variables, clocks, then each location with its switches in columns:
//! label, message, target, guard, updates. The words are those of the modelling language.

use std::fmt::Write as _;

use ioxide_model::goal::{Goal, GoalKind, ResponseGoal};
use ioxide_model::label::readable;
use ioxide_model::sort::{DataKind, DataSort};
use ioxide_model::sts::{Gate, GateId, LocId, Model, Switch};
use ioxide_model::term::Term;

use crate::control_characters::show_control_characters;
use crate::describe::{describe_switch, kind_word, term_text, var_name};
use crate::graph::PictureGraph;

/// The width of a column beyond which a cell widens only its own row. Chosen by eye.
const MAX_COLUMN: usize = 44;

/// `model` as a listing.
#[must_use]
pub fn model_text(model: &Model) -> String {
    let mut out = format!("model {}\n", show_control_characters(&model.sts.name));
    write_doc(&mut out, "  ", &model.sts.doc);
    write_section(&mut out, "types", type_lines(model));
    write_section(&mut out, "interface", interface_lines(model));
    write_section(&mut out, "variables", variable_lines(model));
    write_section(
        &mut out,
        "clocks",
        model.sts.clocks.iter().map(|clock| var_name(&model.pool, clock.var)).collect(),
    );
    if model.sts.composition.is_some() {
        write_parts(&mut out, model);
    } else {
        for loc in model.sts.locations.ids() {
            write_location(&mut out, model, loc);
        }
    }
    write_section(&mut out, "goals", model.sts.goals.iter().map(|goal| goal_line(model, goal)).collect());
    out
}

/// The parts of a system, place by place.
fn write_parts(out: &mut String, model: &Model) {
    let graph = PictureGraph::from_model(model);
    for (id, node) in graph.nodes().iter_enumerated() {
        let initial = if node.initial { " (initial)" } else { "" };
        let _ = writeln!(out, "\n{}{initial}", node.name);
        for edge in graph.edges().iter().filter(|edge| edge.from == id) {
            let _ = writeln!(out, "  {}  -> {}", edge.text(), graph.nodes()[edge.to].name);
        }
    }
}

fn write_section(out: &mut String, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

/// Each line of `doc` after `indent`.
fn write_doc(out: &mut String, indent: &str, doc: &str) {
    for line in doc.lines() {
        let _ = writeln!(out, "{indent}{}", show_control_characters(line).trim_end());
    }
}

/// The types of a model, each as the line that declares it.
pub(crate) fn type_lines(model: &Model) -> Vec<String> {
    // Types with a point in their name are those of places and packets, which the parts show.
    let is_written = |data: &DataSort| data.kind != DataKind::Option && !data.name.contains('.');
    let written = model.pool.data_types().filter(|(_, data)| is_written(data));
    written.map(|(_, data)| type_line(model, data)).collect()
}

fn type_line(model: &Model, data: &DataSort) -> String {
    let ctors = data.ctors.iter().map(|ctor| {
        let field = |(name, sort)| {
            format!(
                "{}: {}",
                show_control_characters(name),
                show_control_characters(&model.pool.show_sort(sort))
            )
        };
        let fields: Vec<String> = ctor.fields.iter().map(|f| field((&f.name, f.sort))).collect();
        (show_control_characters(&ctor.name), fields.join(", "))
    });
    let name = show_control_characters(&data.name);
    match data.kind {
        DataKind::Record => {
            let fields: Vec<String> = ctors.map(|(_, fields)| fields).collect();
            format!("record {name} {{ {} }}", fields.join(", "))
        }
        DataKind::Enum | DataKind::Option => {
            let one = |(name, fields): (String, String)| {
                if fields.is_empty() { name } else { format!("{name}({fields})") }
            };
            format!("enum {name} {{ {} }}", ctors.map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

fn interface_lines(model: &Model) -> Vec<String> {
    let visible_gates = model.sts.gates.iter().skip(1);
    let rows = visible_gates.map(|gate| {
        vec![kind_word(gate.kind).to_owned(), gate_signature(model, gate), doc_as_comment(&gate.doc)]
    });
    align_columns(rows.collect())
}

/// `inX(p: int)`.
fn gate_signature(model: &Model, gate: &Gate) -> String {
    let field = |&field| {
        let sort = model.pool.show_sort(model.field_sort(field));
        format!("{}: {}", var_name(&model.pool, field), show_control_characters(&sort))
    };
    let fields: Vec<String> = gate.fields.iter().map(field).collect();
    if fields.is_empty() {
        show_control_characters(&gate.name)
    } else {
        format!("{}({})", show_control_characters(&gate.name), fields.join(", "))
    }
}

/// The first line of a doc comment, as a comment.
fn doc_as_comment(doc: &str) -> String {
    doc.lines().next().map(|line| format!("// {}", show_control_characters(line))).unwrap_or_default()
}

fn variable_lines(model: &Model) -> Vec<String> {
    let data = model.sts.vars.iter().filter(|var| model.sts.is_data(var.var));
    let rows = data.map(|var| {
        let sort = model.pool.show_sort(model.pool.var_info(var.var).sort);
        let init = var
            .init
            .map_or_else(|| "unknown at start".into(), |init| format!("= {}", term_text(&model.pool, init)));
        vec![format!("{}: {}", var_name(&model.pool, var.var), show_control_characters(&sort)), init]
    });
    align_columns(rows.collect())
}

fn write_location(out: &mut String, model: &Model, loc: LocId) {
    let location = &model.sts.locations[loc];
    let mark = if loc == model.sts.initial { " (initial)" } else { "" };
    let _ = writeln!(out, "\nstate {}{mark}", show_control_characters(&location.name));
    write_doc(out, "  // ", &location.doc);
    let rows: Vec<Vec<String>> =
        model.sts.switches_from(loc).map(|(_, switch)| switch_row(model, switch)).collect();
    for line in align_columns(rows) {
        let _ = writeln!(out, "  {line}");
    }
}

/// Label, message, target, guard, updates and resets, requirements.
fn switch_row(model: &Model, switch: &Switch) -> Vec<String> {
    let text = describe_switch(model, switch);
    let guard: Vec<String> = text.guard.into_iter().chain(text.range).collect();
    let updates = text.updates.iter().map(|(var, value)| format!("{var} = {value}"));
    let resets = text.resets.iter().map(|clock| format!("reset {clock}"));
    let effects: Vec<String> = updates.chain(resets).collect();
    let reqs: Vec<String> = switch.reqs.iter().map(|req| show_control_characters(req)).collect();
    let unless_empty = |is_empty: bool, text: String| if is_empty { String::new() } else { text };
    vec![
        text.label,
        text.message,
        format!("-> {}", show_control_characters(&model.sts.locations[switch.target].name)),
        unless_empty(guard.is_empty(), format!("when {}", guard.join(" && "))),
        unless_empty(effects.is_empty(), format!("{{ {} }}", effects.join("; "))),
        unless_empty(reqs.is_empty(), format!("@req({})", reqs.join(", "))),
    ]
}

/// Returns `every A is followed by B` with the conditions on both messages.
fn response_text(model: &Model, response: &ResponseGoal) -> String {
    let message = |(gate, when): &(GateId, Term)| {
        let name = &model.sts.gates[*gate].name;
        let condition = term_text(&model.pool, *when);
        if condition == "true" { name.to_string() } else { format!("{name} when {condition}") }
    };
    let within =
        response.within.as_ref().map_or(String::new(), |time| format!(" within {}s", readable(time)));
    format!("every {} is followed by {}{within}", message(&response.trigger), message(&response.answer))
}

fn goal_line(model: &Model, goal: &Goal) -> String {
    let name = show_control_characters(&goal.name);
    match &goal.kind {
        GoalKind::Path(path) => {
            let labels: Vec<String> =
                path.iter().map(|step| show_control_characters(step.name(&model.sts))).collect();
            format!("purpose {name}: {}", labels.join(", "))
        }
        GoalKind::Reach { location, when } => {
            let place = location
                .map_or("any state".into(), |loc| show_control_characters(&model.sts.locations[loc].name));
            let when = if model.pool.is_true(*when) {
                String::new()
            } else {
                format!(" when {}", term_text(&model.pool, *when))
            };
            format!("purpose {name}: reach {place}{when}")
        }
        GoalKind::Observer(observer) => {
            format!("purpose {name}: observer with {} stages", observer.stages.len())
        }
        GoalKind::Always(term) => format!("always {}", term_text(&model.pool, *term)),
        GoalKind::Sometimes(term) => format!("sometimes {}", term_text(&model.pool, *term)),
        GoalKind::Assume(term) => format!("assume {}", term_text(&model.pool, *term)),
        GoalKind::Response(response) => response_text(model, response),
        GoalKind::Test(steps) => format!("test {name}: {} steps", steps.len()),
    }
}

/// Rows of cells with each column padded to its widest cell, and no space at line ends.
///
/// A column that no row uses takes no room, and a cell over [`MAX_COLUMN`] widens only its own row.
fn align_columns(rows: Vec<Vec<String>>) -> Vec<String> {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let used: Vec<usize> =
        (0..n_columns).filter(|&column| cells(column).any(|cell| !cell.is_empty())).collect();
    let width = |column: usize| {
        let widths = cells(column).map(|cell| cell.chars().count());
        widths.filter(|&width| width <= MAX_COLUMN).max().unwrap_or(0)
    };
    let widths: Vec<(usize, usize)> = used.into_iter().map(|column| (column, width(column))).collect();
    let line = |row: &Vec<String>| {
        let cell = |&(column, width): &(usize, usize)| {
            let cell = row.get(column).map_or("", String::as_str);
            format!("{cell:width$}")
        };
        widths.iter().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use ioxide_model::sort::Sort;
    use ioxide_model::sts::GateKind;

    use super::*;
    use crate::samples;

    #[test]
    fn the_adder_as_text() {
        insta::assert_snapshot!(model_text(&samples::adder()), @"
        model Adder
          Adds the numbers it gets and returns the sum.

        interface
          input   inX(p: int)
          output  outX(p: int)
          output  done

        variables
          x: int  = 0

        state idle (initial)
          r0  ?inX(p)  -> busy      when p >= 1 && p <= 10  { x = x + p }  @req(R-1)
          r2  !done    -> finished  when x > 15

        state busy
          r1  !outX(p: x)  -> idle

        state finished
        ");
    }

    #[test]
    fn the_door_as_text() {
        insta::assert_snapshot!(model_text(&samples::door()), @"
        model Door

        types
          enum Colour { Red, Green }

        interface
          input           open(code: 0..9999)
          observed input  wind
          output          lamp(colour: Colour, on: bool)

        variables
          secret: 0..9999  unknown at start

        clocks
          w

        state closed (initial)
          d1  ?open(code: secret)  -> opened                       { reset w }
          d2  ?open(code)          -> closed  when secret != code

        state opened
          d3  !lamp(colour: Green, on: true)  -> opened   when w <= 5.0               @req(R-<2>)
          d4  ?wind                           -> closing
          d5  τ                               -> closing  when w >= 5.0  { reset w }

        state closing
          d6  !lamp(colour: Red, on: false)  -> closed

        state broken
        ");
    }

    #[test]
    fn a_long_cell_does_not_push_the_others_away() {
        let long = "x".repeat(MAX_COLUMN + 1);
        let row = |a: &str, b: &str| vec![a.to_owned(), String::new(), b.to_owned()];
        let lines = align_columns(vec![row("a", "b"), row("ccc", "d"), row(&long, "e")]);
        assert_eq!(lines, ["a    b".to_owned(), "ccc  d".to_owned(), format!("{long}  e")]);
    }

    #[test]
    fn a_name_cannot_drive_the_terminal() {
        let mut b = samples::SampleModelBuilder::new("m\u{1b}[2J", "s");
        b.gate("g\u{202e}", GateKind::Input, &[("p\n", Sort::Int)]);
        let listing = model_text(&b.build());
        assert_eq!(
            listing,
            "model m\\u{1b}[2J\n\ninterface\n  input  g\\u{202e}(p : int)\n\nstate s (initial)\n"
        );
    }
}
