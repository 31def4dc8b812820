//! Facts about a running service, and what they say about the rules of its state.
//!
//! A campaign with the model for learning takes transitions, each of which shows a fact: a rule was broken or followed,
//! a status is not documented. From how often each was taken follows which rules the service keeps, and where it
//! contradicts its description or itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::{ObservableTransition, Observations, ObservedFact, RuleTopic, RuleWeight};

/// The number of answers that must speak for a rule that nothing else suggests. Chosen by feel.
const MIN_SUPPORT: u64 = 3;
/// The same for the states in which an operation is refused: other reasons refuse it too. Chosen by feel.
const MIN_SUPPORT_OF_WORKFLOWS: u64 = 6;
/// The number of answers that must have followed a rule before some that do not are a contradiction of the service with
/// itself, and how many times as many. Chosen by feel: a rule that is broken now and then is none.
const USUAL: (u64, u64) = (12, 5);

/// The facts that were seen of a service, in all campaigns together.
#[derive(Clone, Debug, Default)]
pub struct ServiceFacts {
    /// The rules that were broken and followed, and the statuses that are not documented.
    pub observations: Observations,
    /// The statuses that are not documented, for people.
    pub statuses: Vec<String>,
    /// True if the answers do not depend on the requests.
    pub is_mock: bool,
    /// The transitions of the model for learning that were taken, with how often they were.
    taken: BTreeMap<String, u64>,
}

/// A contradiction between a service and its description, or itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundContradiction {
    /// A sentence for people.
    pub about: String,
    /// The transition that shows it.
    pub transition: String,
}

impl ServiceFacts {
    /// Adds the transitions that a campaign took, with how often it did, and returns the contradictions they show.
    pub fn add(
        &mut self,
        observables: &[ObservableTransition],
        taken: &BTreeMap<String, u64>,
    ) -> Vec<FoundContradiction> {
        for (label, times) in taken {
            *self.taken.entry(label.clone()).or_default() += times;
        }
        let seen: Vec<&ObservableTransition> =
            observables.iter().filter(|observable| taken.contains_key(&observable.transition)).collect();
        // A mock gives the same answers whatever it is asked: it contradicts no state, it has none.
        let breaks = |wanted: RuleTopic| {
            let is_it =
                |fact: &ObservedFact| matches!(fact, ObservedFact::Broken { topic, .. } if *topic == wanted);
            seen.iter().any(|observable| is_it(&observable.fact))
        };
        let is_mock = breaks(RuleTopic::NewId) && breaks(RuleTopic::ShownId);
        let mut contradictions = Vec::new();
        let mut support: BTreeMap<&String, u64> = BTreeMap::new();
        let mut unlisted: BTreeSet<&String> = BTreeSet::new();
        for observable in seen {
            let transition = observable.transition.clone();
            match &observable.fact {
                ObservedFact::Broken { rule, about, weight, topic } => {
                    self.observations.broken.insert(rule.clone());
                    let is_excused = is_mock && *topic != RuleTopic::Refusal;
                    if self.contradicts(observables, rule, *weight, *topic) && !is_excused {
                        let about = format!("the rule \"{about}\" does not hold");
                        contradictions.push(FoundContradiction { about, transition });
                    }
                }
                ObservedFact::Supported { rule } => {
                    *support.entry(rule).or_default() += taken.get(&observable.transition).unwrap_or(&0);
                }
                // A status of 5xx stays a failure.
                ObservedFact::Status { status, about, .. } if status.starts_with('5') => {
                    contradictions.push(FoundContradiction { about: about.clone(), transition });
                }
                ObservedFact::Status { operation, status, about } => {
                    let known = (operation.clone(), status.clone());
                    if self.observations.statuses.insert(known) && !self.statuses.contains(about) {
                        self.statuses.push(about.clone());
                    }
                    unlisted.insert(status);
                }
            }
        }
        let of_workflows: BTreeSet<&String> = observables
            .iter()
            .filter_map(|observable| match &observable.fact {
                ObservedFact::Broken { rule, topic: RuleTopic::Workflow, .. } => Some(rule),
                _ => None,
            })
            .collect();
        let is_enough = |(rule, times): &(&String, u64)| {
            *times >= if of_workflows.contains(rule) { MIN_SUPPORT_OF_WORKFLOWS } else { MIN_SUPPORT }
        };
        self.observations
            .supported
            .extend(support.into_iter().filter(is_enough).map(|(rule, _)| rule.clone()));
        // A description that leaves out a status for one operation leaves it out for others too.
        for observable in observables {
            if let ObservedFact::Status { operation, status, .. } = &observable.fact
                && unlisted.contains(status)
            {
                self.observations.statuses.insert((operation.clone(), status.clone()));
            }
        }
        self.is_mock = self.is_mock || is_mock;
        contradictions
    }

    /// Returns whether a broken rule of this weight contradicts the description or other answers.
    fn contradicts(
        &self,
        observables: &[ObservableTransition],
        rule: &str,
        weight: RuleWeight,
        topic: RuleTopic,
    ) -> bool {
        match weight {
            RuleWeight::Contradiction => true,
            // A correct service may break what is only suggested by numbers or names.
            RuleWeight::Guess if matches!(topic, RuleTopic::Relation | RuleTopic::Workflow) => false,
            RuleWeight::Guess => {
                is_usual(rule, observables, &self.taken)
                    || differs_between_answers(rule, observables, &self.taken)
            }
        }
    }
}

/// Returns how many of `replies` had the status of a service that limits requests, and how many had not.
pub fn count_limited(
    observables: &[ObservableTransition],
    taken: &BTreeMap<String, u64>,
    replies: u64,
) -> (u64, u64) {
    let is_it = |fact: &ObservedFact| matches!(fact, ObservedFact::Status { status, .. } if status == "429");
    let telling = observables.iter().filter(|observable| is_it(&observable.fact));
    let limited = telling.filter_map(|observable| taken.get(&observable.transition)).sum();
    (limited, replies.saturating_sub(limited))
}

/// Returns the rules that are guesses, and that too few answers could have broken.
pub fn unseen_rules(observables: &[ObservableTransition], taken: &BTreeMap<String, u64>) -> BTreeSet<String> {
    let mut answers: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for observable in observables {
        if let ObservedFact::Broken { rule, weight: RuleWeight::Guess, topic, .. } = &observable.fact
            && *topic != RuleTopic::Refusal
        {
            answers.entry(rule).or_default().extend(&observable.answer);
        }
    }
    let count = |answers: &BTreeSet<&String>| -> u64 { answers.iter().filter_map(|it| taken.get(*it)).sum() };
    let unseen = answers.into_iter().filter(|(_, answers)| count(answers) < MIN_SUPPORT);
    unseen.map(|(rule, _)| rule.clone()).collect()
}

/// Returns whether answers followed a rule nearly always, of a kind that only answers suggest.
fn is_usual(rule: &str, observables: &[ObservableTransition], taken: &BTreeMap<String, u64>) -> bool {
    let count = |is_it: &dyn Fn(&ObservedFact) -> bool| -> u64 {
        let telling = observables.iter().filter(|observable| is_it(&observable.fact));
        telling.filter_map(|observable| taken.get(&observable.transition)).sum()
    };
    let followed = count(&|fact| matches!(fact, ObservedFact::Supported { rule: of } if of == rule));
    let broken = count(&|fact| matches!(fact, ObservedFact::Broken { rule: of, .. } if of == rule));
    followed >= USUAL.0 && followed >= USUAL.1 * broken
}

/// Returns whether some answers always followed a rule that others broke: the service contradicts itself, for instance
/// if it shows an item in a list otherwise than alone.
fn differs_between_answers(
    rule: &str,
    observables: &[ObservableTransition],
    taken: &BTreeMap<String, u64>,
) -> bool {
    let is_it = |fact: &ObservedFact| matches!(fact, ObservedFact::Broken { rule: of, .. } if of == rule);
    let telling = observables.iter().filter(|observable| is_it(&observable.fact));
    telling.filter(|observable| !taken.contains_key(&observable.transition)).any(|observable| {
        let times = observable.answer.as_ref().and_then(|answer| taken.get(answer));
        times.is_some_and(|times| *times >= USUAL.0)
    })
}
