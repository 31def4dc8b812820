//! The inputs that were tried, as the checks of an adapter: a state and a note each.

use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_record::event::Explanation;
use ioxide_testgen::purpose::WhyUnreached;
use ioxide_wire::adapter::AdapterError;
use ioxide_wire::adapter::check::{CheckState, SelfTestCheck};

use super::{DifferingReplies, InputChecks, InputResult, SentCheck};

impl InputChecks {
    /// Returns a check for every input, one for all replies together, and one for the repetition.
    pub fn describe(&self, model: &Model) -> Vec<SelfTestCheck> {
        let mut checks: Vec<SelfTestCheck> = Vec::new();
        for one in &self.inputs {
            let name = format!("input {}", model.sts.gates[one.gate].name);
            let (state, note) = describe_result(model, &one.result);
            checks.push(SelfTestCheck::new(&name, state, note));
        }
        checks.extend(sum_up(self));
        checks.extend(compare_repetition(model, self));
        checks
    }
}

/// Returns the state of a check and its note. The adapter is at fault only if it did not deliver a message; the rest is
/// between the model and the system.
fn describe_result(model: &Model, result: &InputResult) -> (CheckState, String) {
    match result {
        InputResult::Sent(sent) => (CheckState::Ok, describe_sent(model, sent)),
        InputResult::NoPath(WhyUnreached::Never(_)) => {
            (CheckState::Odd, "not sent: no state of the model that can be reached accepts it".into())
        }
        InputResult::NoPath(why) => {
            (CheckState::Skipped, format!("no path leads to a state that accepts it: {why}"))
        }
        InputResult::NotReached(reason) => (CheckState::Odd, format!("not sent: {reason}")),
        InputResult::Forbidden(why) => (CheckState::Odd, describe_forbidden(why)),
        InputResult::Broken(_, reason) => (CheckState::Failed, reason.clone()),
        InputResult::Error(AdapterError::Refused(reason)) => (CheckState::Ok, format!("refused: {reason}")),
        InputResult::Error(error) => (CheckState::Failed, error.to_string()),
        InputResult::Interrupted => (CheckState::Skipped, "interrupted".into()),
    }
}

fn describe_sent(model: &Model, sent: &SentCheck) -> String {
    let input = sent.input.show(&model.pool, &model.sts);
    let after = match sent.inputs_before {
        0 => String::new(),
        1 => " after 1 other input".into(),
        n => format!(" after {n} other inputs"),
    };
    format!("{input}{after}: {}", describe_replies(model, &sent.replies))
}

fn describe_replies(model: &Model, replies: &[Label]) -> String {
    match replies {
        [] => "no reply".into(),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(", then {} more", rest.len()) };
            format!("{}{more}", first.show(&model.pool, &model.sts))
        }
    }
}

fn describe_forbidden(why: &Explanation) -> String {
    let allowed: Vec<&str> = why.allowed.iter().map(|one| one.label.as_str()).collect();
    let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(" or ") };
    format!("got {}, but the model allows {allowed}: one of the two is wrong", why.observed)
}

/// Returns the check whether any input has a reply, with the time of the slowest one.
fn sum_up(tried: &InputChecks) -> Option<SelfTestCheck> {
    let sent: Vec<&SentCheck> = tried
        .inputs
        .iter()
        .filter_map(|one| if let InputResult::Sent(sent) = &one.result { Some(sent) } else { None })
        .collect();
    if sent.is_empty() {
        return None;
    }
    let n_replied = sent.iter().filter(|one| !one.replies.is_empty()).count();
    if n_replied == 0 {
        let note = "no input has a reply: if one should have, check the end of the inputs (`input_end`), `framing` \
                    and `silence_ms`";
        return Some(SelfTestCheck::new("replies", CheckState::Odd, note.into()));
    }
    let slowest = sent.iter().filter_map(|one| one.slowest).max();
    let slowest = slowest.map_or_else(String::new, |time| format!(", the slowest after {}", show_time(time)));
    Some(SelfTestCheck::new(
        "replies",
        CheckState::Ok,
        format!("to {n_replied} of {} inputs{slowest}", sent.len()),
    ))
}

/// Returns the check whether all replies were the same the second time; `None` if no input was sent twice.
fn compare_repetition(model: &Model, tried: &InputChecks) -> Option<SelfTestCheck> {
    let name = "same again";
    if let Some(differing) = &tried.differing {
        return Some(SelfTestCheck::new(name, CheckState::Odd, describe_differing(model, differing)));
    }
    let is_repeated = tried.inputs.iter().any(|one| matches!(one.result, InputResult::Sent(_)));
    let is_complete = !tried.inputs.iter().any(|one| match &one.result {
        InputResult::Error(error) => !matches!(error, AdapterError::Refused(_)),
        result => matches!(result, InputResult::Interrupted),
    });
    (is_repeated && is_complete).then(|| {
        SelfTestCheck::new(name, CheckState::Ok, "after a reset every input has the same replies".into())
    })
}

fn describe_differing(model: &Model, differing: &DifferingReplies) -> String {
    let again = match &differing.again {
        InputResult::Sent(sent) => describe_replies(model, &sent.replies),
        other => describe_result(model, other).1,
    };
    format!(
        "{} got {}, and after a reset {again}: either the reset is incomplete, or the system is nondeterministic",
        differing.input.show(&model.pool, &model.sts),
        describe_replies(model, &differing.before),
    )
}

/// Returns a time as checks show it, such as `1.5 ms`.
pub fn show_time(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
