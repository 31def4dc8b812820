//! The requirements that a model names, as a record has them.

use ioxide_model::goal::GoalKind;
use ioxide_model::sts::Sts;
use ioxide_record::event::RequirementNote;

/// Returns the requirements (`@req`) of a system with what traces to them, in the order in which it names them:
/// transitions first.
#[must_use]
pub fn requirement_notes(sts: &Sts) -> Vec<RequirementNote> {
    let mut notes: Vec<RequirementNote> = Vec::new();
    for switch in &sts.switches {
        for req in &switch.reqs {
            note_of(&mut notes, req).switches.push(switch.label.to_string());
        }
    }
    for goal in &sts.goals {
        for req in &goal.reqs {
            let note = note_of(&mut notes, req);
            match &goal.kind {
                GoalKind::Test(_) => note.goals.push(format!("test {}", goal.name)),
                GoalKind::Path(_) | GoalKind::Reach { .. } | GoalKind::Observer(_) => {
                    note.goals.push(format!("purpose {}", goal.name));
                }
                GoalKind::Always(_)
                | GoalKind::Sometimes(_)
                | GoalKind::Assume(_)
                | GoalKind::Response(_) => note.properties.push(goal.name.to_string()),
            }
        }
    }
    notes
}

fn note_of<'n>(notes: &'n mut Vec<RequirementNote>, name: &str) -> &'n mut RequirementNote {
    let at = notes.iter().position(|note| note.name == name).unwrap_or_else(|| {
        notes.push(RequirementNote { name: name.to_owned(), ..RequirementNote::default() });
        notes.len() - 1
    });
    &mut notes[at]
}
