//! The claim that a complete suite proves, in figures and in sentences.
//!
//! *Promises.* The sentences state the whole assumption: a fault that is not covered is not part of the fault domain
//! they describe.

/// The number of uncovered wrong updates that are listed one by one. Chosen by feel: the others are counted.
const SHOWN_UPDATES: usize = 5;
/// The number of answers to choices that are listed one by one. Chosen by feel: the others are counted.
const SHOWN_CHOICES: usize = 5;

/// The claim that a suite proves, with its assumptions and gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The number of states of the minimal machine: condition classes, those that no word distinguishes counted once.
    pub states: usize,
    /// The greatest number of states a system of the fault domain may have.
    pub bound: usize,
    /// The number of input classes.
    pub inputs: usize,
    /// The answers of the model by name: the wrong answers of the fault domain are among them, or arbitrary.
    pub answers: Vec<String>,
    /// The distance by which comparisons in the guards of a system may be off.
    pub boundary: u32,
    /// True if the abstraction is exact, not bounded.
    pub is_exact: bool,
    /// The number of pairs of condition class and input class that were left out.
    pub left_out: usize,
    /// The number of pairs that the model does not mention.
    pub unspecified: usize,
    /// The name of the method that made the words.
    pub method: &'static str,
    /// The requirements or switches whose answers alone matter; all answers if empty.
    pub only: Vec<String>,
    /// The answers that matter; empty if all do.
    pub critical: Vec<String>,
    /// The number of words of classes.
    pub words: usize,
    /// The number of words with values.
    pub tests: usize,
    /// The number of inputs in all tests.
    pub symbols: usize,
    /// The number of steps and surely different answers for which no values were found that distinguish them.
    pub missed: usize,
    /// The number of words that can be executed only after a detour back to the initial condition class.
    pub detours: usize,
    /// The number of words for which no values were found.
    pub infeasible: usize,
    /// The number of places where another answer of the model may have the values of the right one.
    pub fragile: usize,
    /// The number of those places where no test has values that distinguish the two.
    pub untold: usize,
    /// True if the model takes inputs while it still answers: the tests do not give them then.
    pub waits: bool,
    /// The wrong updates of the fault domain; `None` if it has none.
    pub updates: Option<UpdateClaim>,
    /// The runs that the claim is about.
    pub scope: ScopeClaim,
}

/// The runs that a claim is about, in names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeClaim {
    /// The number of elements that collections hold at most; without a limit if `None`.
    pub most_items: Option<usize>,
    /// The collections that are limited.
    pub collections: Vec<String>,
    /// The inputs that the tests send; all if `None`.
    pub inputs: Option<Vec<String>>,
    /// The messages that the system may answer in several ways, each with the answer that it is assumed to give.
    pub choices: Vec<String>,
}

impl ScopeClaim {
    /// Returns whether the claim is about all runs of the model.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.most_items.is_none() && self.inputs.is_none() && self.choices.is_empty()
    }

    /// Returns the limits of the claim in sentences.
    fn sentences(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(most) = self.most_items {
            let hold = if self.collections.len() == 1 { "holds" } else { "hold" };
            all.push(format!(
                "It is about runs in which {} {hold} at most {}.",
                list_names(&self.collections),
                count_text(most, "element", "elements")
            ));
        }
        if let Some(inputs) = &self.inputs {
            all.push(format!(
                "It is about runs with {} {} only.",
                if inputs.len() == 1 { "the input" } else { "the inputs" },
                list_names(inputs)
            ));
        }
        if !self.choices.is_empty() {
            let more = self.choices.len().saturating_sub(SHOWN_CHOICES);
            let mut shown = self.choices[..self.choices.len() - more].join(", ");
            if more > 0 {
                shown.push_str(&format!(", and {more} more"));
            }
            all.push(format!(
                "It is about systems that always answer {shown}, where the model leaves a choice; other answers \
                 that it allows are not tested."
            ));
        }
        all
    }
}

/// The wrong updates of a fault domain, by what is known of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateClaim {
    /// The number of all of them.
    pub total: usize,
    /// The number of those that a test finds.
    pub found: usize,
    /// The number of those that no test can find: a proof shows that they make no difference.
    pub unobservable: usize,
    /// The others in words, which are not part of the fault domain.
    pub uncovered: Vec<String>,
}

impl Claim {
    /// Returns whether the claim holds for the whole model: the abstraction is exact, nothing is left out, every word
    /// has values that show surely different answers, no detour precedes a word where a system may have extra states,
    /// and every wrong update is found or makes no difference.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        // A detour leads back to the initial condition class. Only a system with extra states can be elsewhere
        // then.
        let is_sure = self.detours == 0 || self.bound == self.states;
        let is_nothing_missing = self.left_out == 0
            && self.missed == 0
            && self.infeasible == 0
            && self.uncovered_updates().is_empty();
        self.scope.is_everything() && self.is_exact && is_nothing_missing && is_sure
    }

    /// The wrong updates that are not covered, in words.
    fn uncovered_updates(&self) -> &[String] {
        self.updates.as_ref().map_or(&[], |updates| &updates.uncovered)
    }

    /// The claim in sentences: the faults that are found, the assumptions, then the gaps.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![self.claim_text()];
        all.extend(self.scope.sentences());
        all.push(format!(
            "A system of this fault domain behaves like a machine with at most {} over the {}: \
             it treats inputs of one class alike.",
            count_text(self.bound, "state", "states"),
            count_text(self.inputs, "input class", "input classes")
        ));
        all.push(match self.boundary {
            0 => "Its guards use only conditions from the guards of the model.".into(),
            n => format!(
                "Its guards use the comparisons of the model's guards, with limits that are wrong by at most {n}."
            ),
        });
        all.push(format!(
            "It may give the {} of the model in the wrong place, or any other answer.",
            count_text(self.answers.len(), "answer", "answers")
        ));
        all.extend(self.about_updates());
        if self.waits {
            all.push(
                "The tests send an input only while the system is silent; the claim does not cover inputs sent earlier."
                    .into(),
            );
        }
        all.extend(self.gaps());
        all
    }

    /// The sentence about updates; `None` if the model has none.
    fn about_updates(&self) -> Option<String> {
        let Some(updates) = &self.updates else {
            return Some("It updates its variables as the model does.".into());
        };
        // Nothing is assigned anywhere, so a sentence about assignments would say nothing.
        if updates.total == 0 {
            return None;
        }
        let mut text = format!(
            "It updates its variables as the model does, or it has exactly one fault: one transition does not \
             assign to a variable, or assigns to it as another transition does. Of {}, the tests find {}; {} \
             no difference",
            count_text(updates.total, "such fault", "such faults"),
            updates.found,
            count_text(updates.unobservable, "makes", "make"),
        );
        text.push_str(&match updates.uncovered.len() {
            0 => ".".to_owned(),
            n => format!("; {n} {} not covered, and not part of the fault domain.", is_or_are(n)),
        });
        Some(text)
    }

    fn claim_text(&self) -> String {
        if !self.only.is_empty() {
            return format!(
                "A system of the fault domain fails a test if it gives an answer of {} where the model does not, \
                 or does not give it where the model does.",
                list_names(&self.only)
            );
        }
        // What the abstraction leaves out limits this sentence, and so do words without values: such a word may have
        // been the only one that shows some fault. Everything else that may be missed is in `gaps`.
        let unless = match self.infeasible {
            0 => "",
            _ => ", unless only a word for which no values were found would show it",
        };
        let is_whole = self.is_exact && self.left_out == 0;
        let place = match (self.scope.is_everything(), is_whole) {
            (true, true) => "",
            (true, false) => " where nothing is left out",
            (false, true) => " in a run that the claim is about",
            (false, false) => ", in a run that the claim is about and where nothing is left out,",
        };
        format!("Every system of the fault domain that gives a wrong answer{place} fails a test{unless}.")
    }

    /// Returns the gaps of the claim in sentences.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if !self.is_exact {
            gaps.push(
                "No finite abstraction was found: classes were split up to a bound, and tests whose result \
                 differs within a class are left out. The claim holds for the rest."
                    .into(),
            );
        }
        if self.left_out > 0 {
            let pairs = count_text(self.left_out, "pair", "pairs");
            gaps.push(format!(
                "{pairs} of a state and an input class {} left out.",
                is_or_are(self.left_out)
            ));
        }
        if self.unspecified > 0 {
            gaps.push(format!(
                "{} of a state and an input class {} not mentioned by the model, and not tested.",
                count_text(self.unspecified, "pair", "pairs"),
                is_or_are(self.unspecified)
            ));
        }
        if self.detours > 0 {
            gaps.push(format!(
                "{} can be executed only after inputs that lead back to the initial state; the claim assumes \
                 that a system with extra states is then in its initial state too.",
                count_text(self.detours, "word", "words")
            ));
        }
        if self.infeasible > 0 {
            let words = count_text(self.infeasible, "word", "words");
            let (they, show) =
                if self.infeasible == 1 { ("it is", "it shows") } else { ("they are", "they show") };
            gaps.push(format!(
                "For {words} no values were found: {they} left out; a fault that only {show} is not found."
            ));
        }
        if self.missed > 0 {
            gaps.push(format!(
                "At {} no values were found that distinguish the right answer from another answer of the model.",
                count_text(self.missed, "step", "steps")
            ));
        }
        if self.fragile > 0 {
            gaps.push(format!(
                "At {} another answer of the model may have the same values as the right one by chance; {} of \
                 them {} tested where they differ, and the machine does not rely on them.",
                count_text(self.fragile, "place", "places"),
                self.fragile - self.untold,
                is_or_are(self.fragile - self.untold)
            ));
        }
        let uncovered = self.uncovered_updates();
        gaps.extend(uncovered.iter().take(SHOWN_UPDATES).map(|fault| format!("Not covered: {fault}.")));
        if uncovered.len() > SHOWN_UPDATES {
            gaps.push(format!("Not covered: {} more wrong updates.", uncovered.len() - SHOWN_UPDATES));
        }
        gaps
    }
}

fn count_text(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

fn is_or_are(n: usize) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

fn list_names(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
