//! The moves that are possible and those that are not, as rows of the screen.

use ioxide_explorer::walk::ModelWalk;
use ioxide_explorer::walk::choices::SwitchChoice;
use ioxide_explorer::walk::refused::refusal_reason;
use ioxide_explorer::walk::symbolic::{SwitchPath, SwitchPossibility};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_model::term::Term;
use ioxide_symex::{Belief, Ctx};

use super::scene::{MoveField, MoveKind, Readiness, SceneMove, clip};

/// The source of a row of moves.
#[derive(Clone, Debug)]
pub enum RowSource {
    /// A message that takes a switch.
    Choice(SwitchChoice),
    /// A switch, taken symbolically.
    Switch(SwitchId),
    /// Silence.
    Silence,
    /// No move: a row that only explains why something is not possible.
    Nothing,
}

/// The rows of a walk along messages.
pub fn concrete(walk: &mut ModelWalk<'_>) -> Vec<(RowSource, SceneMove)> {
    if matches!(walk.monitor().belief(), Belief::Unspecified) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for choice in walk.choices() {
        let now = if choice.is_doubtful { Readiness::Doubtful } else { Readiness::Possible };
        let row = move_row(&walk.cx, choice.switch, choice.field_condition(), now);
        rows.push((RowSource::Choice(choice), row));
    }
    rows.push((RowSource::Silence, silence_row(walk)));
    for refused in walk.refused_switches() {
        let row = move_row(&walk.cx, refused.switch, None, Readiness::Refused(clip(refused.why)));
        rows.push((RowSource::Nothing, row));
    }
    rows
}

/// The rows of a walk along switches.
pub fn symbolic_rows(cx: &mut Ctx<'_>, path: &SwitchPath) -> Vec<(RowSource, SceneMove)> {
    let mut rows = Vec::new();
    for (switch, possible) in path.open_switches(cx) {
        let (source, now) = match possible {
            SwitchPossibility::Yes => (RowSource::Switch(switch), Readiness::Possible),
            SwitchPossibility::Unknown(_) => (RowSource::Switch(switch), Readiness::Doubtful),
            SwitchPossibility::No => {
                let why = refusal_reason(cx, path.state(), switch);
                let why = why.unwrap_or_else(|| "its guard contradicts the path condition".into());
                (RowSource::Nothing, Readiness::Refused(clip(why)))
            }
        };
        let guard = cx.sts.switches[switch].guard;
        let row = move_row(cx, switch, Some(guard), now);
        rows.push((source, row));
    }
    rows.sort_by_key(|(_, row)| row.is_refused());
    rows
}

/// Returns the row of silence; if silence is not allowed, with the moves that the system has to make.
fn silence_row(walk: &mut ModelWalk<'_>) -> SceneMove {
    let now =
        if walk.may_be_silent() { Readiness::Possible } else { Readiness::Refused(active_reason(walk)) };
    SceneMove {
        kind: MoveKind::Silence,
        name: " silence".into(),
        fields: Vec::new(),
        when: None,
        leads: String::new(),
        about: Vec::new(),
        now,
    }
}

/// Returns the reason why the system may not stay silent now.
fn active_reason(walk: &mut ModelWalk<'_>) -> String {
    let belief = walk.monitor().belief().clone();
    let outputs = ioxide_explorer::walk::choices::possible_choices(&mut walk.cx, &belief);
    let is_output = |choice: &&SwitchChoice| walk.cx.sts.gates[choice.gate].kind == GateKind::Output;
    let names: Vec<&str> =
        outputs.iter().filter(is_output).map(|choice| &*walk.cx.sts.switches[choice.switch].label).collect();
    match (names.is_empty(), walk.cx.sts.is_timed()) {
        (false, _) => format!("the system has to move: {}", names.join(", ")),
        (true, true) => "the system will move as time passes".into(),
        (true, false) => "the system moves by itself".into(),
    }
}

/// The row of a switch.
fn move_row(cx: &Ctx<'_>, id: SwitchId, when: Option<Term>, now: Readiness) -> SceneMove {
    let switch = &cx.sts.switches[id];
    let gate = &cx.sts.gates[switch.gate];
    let fields: Vec<MoveField> = gate
        .fields
        .iter()
        .map(|&field| cx.pool.var_info(field))
        .map(|info| MoveField { name: info.name.to_string(), sort: cx.pool.show_sort(info.sort) })
        .collect();
    let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
    let name = match (gate.kind, names.is_empty()) {
        (GateKind::Internal, _) => "internal".to_owned(),
        (_, true) => gate.name.to_string(),
        (_, false) => format!("{}({})", gate.name, names.join(", ")),
    };
    let when = when.filter(|&when| !cx.pool.is_true(when)).map(|when| clip(cx.pool.show(when).to_string()));
    let leads = format!("{} → {}", switch.label, cx.sts.locations[switch.target].name);
    SceneMove { kind: move_kind(gate.kind), name, fields, when, leads, about: describe_switch(cx, id), now }
}

fn move_kind(kind: GateKind) -> MoveKind {
    match kind {
        GateKind::Internal => MoveKind::Internal,
        GateKind::Input => MoveKind::Input,
        GateKind::Observed => MoveKind::Observed,
        GateKind::Output => MoveKind::Output,
    }
}

/// Returns the changes of a switch, its documentation and its requirements.
fn describe_switch(cx: &Ctx<'_>, id: SwitchId) -> Vec<String> {
    let switch = &cx.sts.switches[id];
    let name = |var| &*cx.pool.var_info(var).name;
    let updates = switch.update.iter().map(|&(var, term)| format!("{} = {}", name(var), cx.pool.show(term)));
    let resets = switch.resets.iter().map(|&clock| format!("reset {}", name(clock)));
    let changes: Vec<String> = updates.chain(resets).collect();
    let mut about = Vec::new();
    if !changes.is_empty() {
        about.push(clip(format!("then   {}", changes.join(", "))));
    }
    let docs = [&switch.doc, &cx.sts.gates[switch.gate].doc];
    about.extend(
        docs.into_iter()
            .filter(|doc| !doc.is_empty())
            .map(|doc| clip(format!("// {}", doc.replace('\n', " ")))),
    );
    if !switch.reqs.is_empty() {
        about.push(format!("traces to {}", switch.reqs.join(", ")));
    }
    about
}

/// A label as a row of the history.
pub fn label_text(cx: &Ctx<'_>, label: &Label) -> String {
    match label {
        Label::Quiescence => "δ silence".into(),
        _ => clip(label.show(cx.pool, cx.sts)),
    }
}
