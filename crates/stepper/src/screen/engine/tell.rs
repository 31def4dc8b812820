//! The states of the walks, as the screen shows them.

use std::rc::Rc;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::sts::{LocId, SwitchId};
use ioxide_model::value::Value;
use ioxide_record::event::Explanation;
use ioxide_symex::{Belief, Ctx, SymState};

use super::super::scene::{SceneState, WalkScene, clip};
use super::super::state::{MoveReport, MoveTone};
use super::{MAX_PLACES, WalkEngine};

impl WalkEngine<'_> {
    /// Adds the belief of the monitor and the steps taken to the scene.
    pub(super) fn tell_walk(&self, scene: &mut WalkScene) {
        let (cx, after) = (&self.walk.cx, self.walk.monitor());
        scene.n_places = after.belief().count_states();
        scene.places = match after.belief() {
            Belief::Concrete(states) => {
                let value = |(var, value): (_, &Value)| {
                    format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show_value(value))
                };
                let place = |state: &ConcreteState| {
                    SceneState {
                        location: state.place_text(cx.sts),
                        values: state
                            .values
                            .iter()
                            .filter(|(var, _)| cx.sts.is_data(*var))
                            .map(value)
                            .map(clip)
                            .collect(),
                        facts: Vec::new(),
                        doc: doc(cx, state.loc),
                        parts: Vec::new(),
                    }
                    .by_part(cx)
                };
                states.iter().take(MAX_PLACES).map(place).collect()
            }
            Belief::Symbolic(states) => {
                states.iter().take(MAX_PLACES).map(|state| scene_state(cx, state)).collect()
            }
            Belief::Unspecified => Vec::new(),
        };
        (scene.steps, scene.now) = (self.steps.clone(), self.walk.steps().len());
        scene.run = self.run.clone();
        if after.count_doubts() > 0 {
            scene.doubts.push(format!(
                "the solver left {} queries unanswered; states that may be impossible are still listed",
                after.count_doubts()
            ));
        }
        if let Some(lost) = after.lost_states() {
            scene.doubts.push(format!("{lost}: so nothing is reported as forbidden"));
        }
    }

    /// Adds the symbolic state after the switches taken to the scene.
    pub(super) fn tell_along(&self, scene: &mut WalkScene) {
        let cx = &self.walk.cx;
        scene.n_places = Some(1);
        scene.places = vec![scene_state(cx, self.along.state())];
        let shown = |id: &SwitchId| {
            let switch = &cx.sts.switches[*id];
            format!("{} {}", switch.label, cx.sts.gates[switch.gate].name)
        };
        let steps = self.along.switches.iter().chain(self.undone.iter().rev()).map(shown).collect();
        (scene.steps, scene.now) = (Rc::new(steps), self.along.switches.len());
        if self.along.n_doubtful() > 0 {
            scene
                .doubts
                .push("the solver could not decide whether all of these transitions can be taken".into());
        }
    }
}

/// Returns the documentation of a location on one line.
fn doc(cx: &Ctx<'_>, loc: LocId) -> String {
    clip(cx.sts.locations[loc].doc.lines().collect::<Vec<_>>().join(" "))
}

/// A symbolic state.
fn scene_state(cx: &Ctx<'_>, state: &SymState) -> SceneState {
    let value = |(var, term)| format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show(term));
    SceneState {
        location: state.location_text(cx),
        values: state
            .store
            .iter(cx.sts)
            .filter(|(var, _)| cx.sts.is_data(*var))
            .map(value)
            .map(clip)
            .collect(),
        facts: state.path.facts().iter().map(|&fact| clip(cx.pool.show(fact).to_string())).collect(),
        doc: doc(cx, state.loc),
        parts: Vec::new(),
    }
    .by_part(cx)
}

impl SceneState {
    /// Adds one row for each part, if there are parts.
    fn by_part(mut self, cx: &Ctx<'_>) -> Self {
        let Some(composition) = &cx.sts.composition else { return self };
        for part in &composition.parts {
            let (place, own) = (format!("{}: ", part.name), format!("{}.", part.name));
            let here = self.location.split(", ").find(|text| text.starts_with(&place));
            let here = here.map_or_else(|| part.name.to_string(), str::to_owned);
            let values = self.values.iter().filter_map(|value| value.strip_prefix(&own)).map(str::to_owned);
            self.parts.push((here, values.collect()));
        }
        self
    }
}

/// Returns the report on a label that is not allowed.
pub fn report_forbidden(shown: &str, why: &Explanation) -> MoveReport {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = ioxide_report::terminal::write_explanation(why, &mut text);
    let mut lines = vec![format!("✗ {shown} is not allowed here")];
    lines.extend(String::from_utf8_lossy(&text).lines().map(|line| clip(line.trim_start_matches("    "))));
    MoveReport { tone: MoveTone::Bad, lines }
}
