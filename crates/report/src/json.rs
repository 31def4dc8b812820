//! A model as versioned JSON, for programs.
//!
//! Terms and sorts are texts of the modelling language. Fields may be added within a
//! version; a field that changes its meaning or goes away makes a new one.

use ioxide_model::goal::{Goal, GoalKind};
use ioxide_model::sort::{DataKind, DataSort};
use ioxide_model::sts::{Gate, GateKind, Location, Model, StateVar, Switch};
use ioxide_model::term::Term;
use serde::Serialize;

/// The version written.
pub const VERSION: u32 = 1;

/// `model` as indented JSON with a line break at its end.
#[must_use]
pub fn model_json(model: &Model) -> String {
    // A view of strings and numbers has nothing that serialisation could refuse.
    let text = serde_json::to_string_pretty(&ModelJson::new(model)).unwrap_or_default();
    text + "\n"
}

#[derive(Serialize)]
struct ModelJson {
    version: u32,
    name: String,
    doc: String,
    types: Vec<TypeView>,
    gates: Vec<GateJson>,
    variables: Vec<VariableJson>,
    clocks: Vec<String>,
    initial: String,
    locations: Vec<LocationJson>,
    switches: Vec<SwitchJson>,
    goals: Vec<GoalView>,
}

/// A purpose, property or test written with the model.
#[derive(Serialize)]
struct GoalView {
    name: String,
    kind: &'static str,
    doc: String,
}

impl GoalView {
    /// Makes the view of a goal.
    fn new(goal: &Goal) -> Self {
        let kind = match goal.kind {
            GoalKind::Path(_) => "path",
            GoalKind::Reach { .. } => "reach",
            GoalKind::Observer(_) => "observer",
            GoalKind::Always(_) => "always",
            GoalKind::Sometimes(_) => "sometimes",
            GoalKind::Assume(_) => "assume",
            GoalKind::Response(_) => "response",
            GoalKind::Test(_) => "test",
        };
        Self { name: goal.name.to_string(), kind, doc: goal.doc.clone() }
    }
}

#[derive(Serialize)]
struct TypeView {
    name: String,
    kind: &'static str,
    constructors: Vec<ConstructorView>,
}

#[derive(Serialize)]
struct ConstructorView {
    name: String,
    fields: Vec<FieldJson>,
}

#[derive(Serialize)]
struct GateJson {
    name: String,
    kind: &'static str,
    fields: Vec<FieldJson>,
    doc: String,
}

#[derive(Serialize)]
struct FieldJson {
    name: String,
    sort: String,
}

#[derive(Serialize)]
struct VariableJson {
    name: String,
    sort: String,
    /// Null if the value at start is unknown.
    init: Option<String>,
}

#[derive(Serialize)]
struct LocationJson {
    name: String,
    doc: String,
}

#[derive(Serialize)]
struct SwitchJson {
    label: String,
    from: String,
    to: String,
    /// Null for an internal switch.
    gate: Option<String>,
    guard: String,
    update: Vec<UpdateView>,
    resets: Vec<String>,
    reqs: Vec<String>,
    weight: u32,
    doc: String,
}

#[derive(Serialize)]
struct UpdateView {
    var: String,
    value: String,
}

impl ModelJson {
    /// Makes the document of a model, without its internal gate.
    fn new(model: &Model) -> Self {
        let sts = &model.sts;
        let initial = sts.locations.get(sts.initial).map(|location| location.name.to_string());
        Self {
            version: VERSION,
            name: sts.name.to_string(),
            doc: sts.doc.clone(),
            types: model.pool.data_types().map(|(_, data)| TypeView::new(model, data)).collect(),
            gates: sts.gates.iter().skip(1).map(|gate| GateJson::new(model, gate)).collect(),
            variables: sts.vars.iter().map(|var| VariableJson::new(model, var)).collect(),
            clocks: sts.clocks.iter().map(|clock| model.pool.var_info(clock.var).name.to_string()).collect(),
            initial: initial.unwrap_or_default(),
            locations: sts.locations.iter().map(LocationJson::new).collect(),
            switches: sts.switches.iter().map(|switch| SwitchJson::new(model, switch)).collect(),
            goals: sts.goals.iter().map(GoalView::new).collect(),
        }
    }
}

impl TypeView {
    /// Makes the view of a data type of `model`.
    fn new(model: &Model, data: &DataSort) -> Self {
        let kind = match data.kind {
            DataKind::Enum => "enum",
            DataKind::Record => "record",
            DataKind::Option => "option",
        };
        let field = |name: &str, sort| FieldJson { name: name.to_owned(), sort: model.pool.show_sort(sort) };
        let constructors = data.ctors.iter().map(|ctor| ConstructorView {
            name: ctor.name.to_string(),
            fields: ctor.fields.iter().map(|it| field(&it.name, it.sort)).collect(),
        });
        Self { name: data.name.to_string(), kind, constructors: constructors.collect() }
    }
}

impl GateJson {
    /// Makes the view of a gate of `model`.
    fn new(model: &Model, gate: &Gate) -> Self {
        let kind = match gate.kind {
            GateKind::Internal => "internal",
            GateKind::Input => "input",
            GateKind::Observed => "observed",
            GateKind::Output => "output",
        };
        let field = |&var| FieldJson {
            name: model.pool.var_info(var).name.to_string(),
            sort: model.pool.show_sort(model.pool.var_info(var).sort),
        };
        let fields = gate.fields.iter().map(field).collect();
        Self { name: gate.name.to_string(), kind, fields, doc: gate.doc.clone() }
    }
}

impl VariableJson {
    /// Makes the view of a variable of `model`; it has no `init` if the initial value is unknown.
    fn new(model: &Model, var: &StateVar) -> Self {
        let info = model.pool.var_info(var.var);
        let init = var.init.map(|init| show_term(model, init));
        Self { name: info.name.to_string(), sort: model.pool.show_sort(info.sort), init }
    }
}

impl LocationJson {
    /// Makes the view of a location.
    fn new(location: &Location) -> Self {
        Self { name: location.name.to_string(), doc: location.doc.clone() }
    }
}

impl SwitchJson {
    /// Makes the view of a switch of `model`.
    fn new(model: &Model, switch: &Switch) -> Self {
        let sts = &model.sts;
        let gate = &sts.gates[switch.gate];
        let name = |var| model.pool.var_info(var).name.to_string();
        let update =
            |&(var, value): &(_, Term)| UpdateView { var: name(var), value: show_term(model, value) };
        Self {
            label: switch.label.to_string(),
            from: sts.locations[switch.source].name.to_string(),
            to: sts.locations[switch.target].name.to_string(),
            gate: (gate.kind != GateKind::Internal).then(|| gate.name.to_string()),
            guard: show_term(model, switch.guard),
            update: switch.update.iter().map(update).collect(),
            resets: switch.resets.iter().map(|&clock| name(clock)).collect(),
            reqs: switch.reqs.iter().map(ToString::to_string).collect(),
            weight: switch.weight,
            doc: switch.doc.clone(),
        }
    }
}

fn show_term(model: &Model, term: Term) -> String {
    model.pool.show(term).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn the_adder_as_json() {
        insta::assert_snapshot!(model_json(&samples::adder()), @r#"
        {
          "version": 1,
          "name": "Adder",
          "doc": "Adds the numbers it gets and returns the sum.",
          "types": [],
          "gates": [
            {
              "name": "inX",
              "kind": "input",
              "fields": [
                {
                  "name": "p",
                  "sort": "int"
                }
              ],
              "doc": ""
            },
            {
              "name": "outX",
              "kind": "output",
              "fields": [
                {
                  "name": "p",
                  "sort": "int"
                }
              ],
              "doc": ""
            },
            {
              "name": "done",
              "kind": "output",
              "fields": [],
              "doc": ""
            }
          ],
          "variables": [
            {
              "name": "x",
              "sort": "int",
              "init": "0"
            }
          ],
          "clocks": [],
          "initial": "idle",
          "locations": [
            {
              "name": "idle",
              "doc": ""
            },
            {
              "name": "busy",
              "doc": ""
            },
            {
              "name": "finished",
              "doc": ""
            }
          ],
          "switches": [
            {
              "label": "r0",
              "from": "idle",
              "to": "busy",
              "gate": "inX",
              "guard": "p >= 1 && p <= 10",
              "update": [
                {
                  "var": "x",
                  "value": "x + p"
                }
              ],
              "resets": [],
              "reqs": [
                "R-1"
              ],
              "weight": 1,
              "doc": "Adds one number."
            },
            {
              "label": "r2",
              "from": "idle",
              "to": "finished",
              "gate": "done",
              "guard": "x > 15",
              "update": [],
              "resets": [],
              "reqs": [],
              "weight": 1,
              "doc": ""
            },
            {
              "label": "r1",
              "from": "busy",
              "to": "idle",
              "gate": "outX",
              "guard": "x == p",
              "update": [],
              "resets": [],
              "reqs": [],
              "weight": 1,
              "doc": ""
            }
          ],
          "goals": []
        }
        "#);
    }

    #[test]
    fn the_door_as_json() {
        let value: serde_json::Value = serde_json::from_str(&model_json(&samples::door())).unwrap();
        assert_eq!(value["version"], 1);
        assert_eq!(value["initial"], "closed");
        assert_eq!(value["clocks"][0], "w");
        assert_eq!(value["variables"][0]["init"], serde_json::Value::Null);
        assert_eq!(value["types"][0]["constructors"][1]["name"], "Green");
        assert_eq!(value["gates"][1]["kind"], "observed");
        assert_eq!(value["switches"][4]["gate"], serde_json::Value::Null);
        assert_eq!(value["switches"][4]["resets"][0], "w");
        assert_eq!(value["switches"][2]["reqs"][0], "R-<2>");
        assert_eq!(value["locations"][3]["name"], "broken");
    }
}
