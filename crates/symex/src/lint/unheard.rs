//! Lint for messages of a part that no other part ever takes: steps of a part that are in no step of the system.
//!
//! A message that is connected to another part happens only if both take part. If the other part has no transition for
//! it, the transition of the sender can never be taken, and nothing says so: there is no transition of the system that
//! could be reported as unreachable.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioxide_model::code::Code;
use ioxide_model::compose::PartId;
use ioxide_model::diag::Diagnostic;

use super::Findings;
use crate::cx::Ctx;

/// Reports transitions of parts that no step of the system contains.
pub(super) fn report_unheard_messages(cx: &Ctx<'_>, findings: &mut Findings) {
    let Some(composition) = &cx.sts.composition else { return };
    let steps = composition.moves.values().flatten();
    let taken: BTreeSet<(PartId, &Arc<str>)> = steps.map(|step| (step.part, &step.switch)).collect();
    let mut reported: BTreeSet<(&Arc<str>, &Arc<str>)> = BTreeSet::new();
    for (id, part) in composition.parts.iter_enumerated() {
        for offer in &part.offers {
            // Of the instances of an array, the first speaks for all.
            if taken.contains(&(id, &offer.switch)) || !reported.insert((&part.family, &offer.switch)) {
                continue;
            }
            let place = part.places.get(offer.place).map_or("its only state", |place| place);
            let (verb, nobody) = if offer.is_input { ("waits for", "sends") } else { ("offers", "receives") };
            let text = format!(
                "`{}` {verb} `{}` in `{place}`, but no other part ever {nobody} it",
                part.name, offer.message
            );
            let span = cx.sts.locations[cx.sts.initial].span;
            let finding = Diagnostic::new(Code::UnheardMessage, span, text)
                .label(offer.span, format!("`{}` can never be taken", offer.switch))
                .note("the message is connected, so it happens only if every part that it connects takes it")
                .help("add a transition for it to the other part, or remove the connection");
            findings.push(finding);
        }
    }
}
