//! Kinds of steps as pages know them: the words and numbers that `web/src` is generated from.

use ioxide_record::event::LabelKind;
use serde::Serialize;

/// The kind of a step, by the side that moved; all breakdowns are one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, ts(rename = "StepKind"))]
pub enum ShownStepKind {
    /// The tester gave an input.
    Input,
    /// The system sent an output.
    Output,
    /// The system was quiescent.
    Quiescence,
    /// Time passed.
    Delay,
    /// Another party gave an input.
    Observed,
    /// The system ended, closed the connection, hung, sent something unreadable or raised an exception.
    Breakdown,
}

impl ShownStepKind {
    /// All kinds; the codes of a tape are positions in this list.
    pub const ALL: [Self; 6] =
        [Self::Input, Self::Output, Self::Quiescence, Self::Delay, Self::Observed, Self::Breakdown];

    /// The kind of a label.
    #[must_use]
    pub fn from_label_kind(kind: LabelKind) -> Self {
        match kind {
            LabelKind::Input => Self::Input,
            LabelKind::Observed => Self::Observed,
            LabelKind::Output => Self::Output,
            LabelKind::Quiescence => Self::Quiescence,
            LabelKind::Delay => Self::Delay,
            LabelKind::Ended
            | LabelKind::Closed
            | LabelKind::Hung
            | LabelKind::Unreadable
            | LabelKind::Exception => Self::Breakdown,
        }
    }

    /// Returns the position of the kind in [`ALL`](Self::ALL).
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use ioxide_record::event::RunOutcome;

    use super::*;
    use crate::typescript_tests::TypeDeclarations;

    #[test]
    fn typescript_of_the_words_is_that_of_steps_and_outcomes() {
        let kinds: Vec<String> = ShownStepKind::ALL.iter().map(json).collect();
        let head = format!(
            "\n/** Kinds of steps, in the order of their numbers. */\nexport const STEP_KINDS: StepKind[] = [{}];\n",
            kinds.join(", ")
        );
        TypeDeclarations::new(&head).with::<ShownStepKind>().with::<RunOutcome>().keep("shared/words.ts");
    }

    #[test]
    fn a_code_is_a_position() {
        assert!(ShownStepKind::ALL.iter().enumerate().all(|(at, kind)| at == usize::from(kind.code())));
    }

    fn json(word: &impl Serialize) -> String {
        serde_json::to_string(word).expect("a word")
    }
}
